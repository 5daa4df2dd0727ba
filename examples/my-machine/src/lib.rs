//! What a crate of its own adds to the machine that is compiled for: a kernel, and a target.

pub mod kernel;
pub mod target;
