//! The plan in the IR: attributes in which passes record decisions, for later passes, the command line and
//! code generation.

pub mod attrs;
pub mod signature;
pub mod storage;
pub(crate) mod views;
