//! How a plan stands in the IR: the attributes by which passes, the command and code generation tell each
//! other what was decided.

pub mod attrs;
pub mod signature;
pub mod storage;
pub(crate) mod views;
