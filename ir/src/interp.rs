//! The interpreter: defines what programs mean, as the oracle of every pass and of machine code.

pub mod element;
mod elementwise;
mod flow;
mod lanes;
mod make;
pub mod nn;
mod program;
mod registers;
mod run;
mod tensor;
mod vector;

#[cfg(test)]
mod tests;

pub use elementwise::elementwise;
pub use nn::constant_value;
pub use run::{eval_op, run};
pub use tensor::{EvalError, Tensor};
