//! The built-in dialects of the crate.

use crate::opdef::Dialect;

pub mod arith;
pub mod builtin;
pub mod cf;
pub mod func;
pub mod nn;
pub mod optc;
pub mod scf;

/// Every built-in dialect.
pub static ALL: &[&Dialect] = &[
    &arith::DIALECT,
    &builtin::DIALECT,
    &cf::DIALECT,
    &func::DIALECT,
    &nn::DIALECT,
    &optc::DIALECT,
    &scf::DIALECT,
];
