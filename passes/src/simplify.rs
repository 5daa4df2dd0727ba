//! How a function's algebra is made simpler.

mod cse;
mod dce;

pub use cse::CSE;
pub use dce::{DCE, remove_dead};
