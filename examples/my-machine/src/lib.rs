//! Extensions of the machine in a crate of their own: a kernel, and a target.

pub mod kernel;
pub mod target;
