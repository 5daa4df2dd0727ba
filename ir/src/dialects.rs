//! Which dialects come with the crate.

use crate::opdef::Dialect;

pub mod builtin;
pub mod func;

/// Every built-in dialect.
pub static ALL: &[&Dialect] = &[&builtin::DIALECT, &func::DIALECT];
