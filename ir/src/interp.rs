//! What programs mean: a plain interpreter, the oracle of every pass and of machine code.

mod tensor;

pub use tensor::{EvalError, Tensor};
