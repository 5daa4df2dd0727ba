//! The plan in the IR: the attributes in which passes record decisions for later passes, the command and code
//! generation.

pub mod attrs;
pub mod signature;
pub mod storage;
pub(crate) mod views;
