//! The values of the interpreter.

use std::sync::Arc;

use crate::entities::Type;

/// A value: a tensor or vector of known sizes, or a scalar (with a type that is neither).
///
/// Elements are packed row-major in little-endian bytes, as in memory. The bytes of a function are its
/// symbol.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// The type, with all sizes known.
    pub ty: Type,
    /// The elements.
    pub bytes: Arc<Vec<u8>>,
}

/// Why an operation has no result: a phrase in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvalError(pub String);

impl<S: Into<String>> From<S> for EvalError {
    fn from(text: S) -> Self {
        EvalError(text.into())
    }
}
