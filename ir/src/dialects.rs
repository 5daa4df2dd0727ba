//! Which dialects come with the crate.

use crate::opdef::Dialect;

pub mod builtin;
pub mod func;
pub mod nn;
pub mod optc;

/// Every built-in dialect.
pub static ALL: &[&Dialect] = &[&builtin::DIALECT, &func::DIALECT, &nn::DIALECT, &optc::DIALECT];
