//! What is known of a tensor that a caller passes: its name, its elements, its shape, its bytes.

use crate::extent::Extent;

/// What the elements of an input or output are. How many bits they take is the compiler's knowledge; here it
/// comes as [`TensorDesc::size_bytes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are the types")]
pub enum ElementKind {
    Bool,
    I2,
    U2,
    I4,
    U4,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F4E2M1FN,
    F8E4M3FN,
    F8E4M3FNUZ,
    F8E5M2,
    F8E5M2FNUZ,
    F8E8M0FNU,
    F16,
    BF16,
    F32,
    F64,
    /// 64 bits that stand for a string (`ir::strings`).
    String,
}

/// One input or output of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorDesc {
    /// The name by which the model knows it.
    pub name: String,
    /// The kind of its elements.
    pub element: ElementKind,
    /// Its dimensions, outermost first; rows are dense.
    pub shape: Vec<u64>,
    /// The bytes that the caller's buffer must have, exactly.
    pub size_bytes: usize,
    /// What the buffer's address must be a multiple of: a power of two.
    pub align: usize,
    /// Whether the program overwrites it: true only of an input that the compiler was told is donated.
    pub overwritten: bool,
}

impl TensorDesc {
    /// A tensor that is only read (or, as an output, only written), aligned to 4 bytes.
    pub fn new(
        name: impl Into<String>,
        element: ElementKind,
        shape: Vec<u64>,
        size_bytes: usize,
    ) -> TensorDesc {
        TensorDesc { name: name.into(), element, shape, size_bytes, align: 4, overwritten: false }
    }
}

/// An input or output of a program at any sizes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorSpec {
    /// The name by which the model knows it.
    pub name: String,
    /// The kind of its elements.
    pub element: ElementKind,
    /// Its dimensions, outermost first.
    pub extents: Vec<Extent>,
}

impl From<&TensorDesc> for TensorSpec {
    fn from(desc: &TensorDesc) -> TensorSpec {
        let extents = desc.shape.iter().map(|size| Extent::Known(*size)).collect();
        TensorSpec { name: desc.name.clone(), element: desc.element, extents }
    }
}

/// A tensor that a context keeps from run to run, in its arena.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateDesc {
    /// What it is; its name is that by which it is set.
    pub tensor: TensorDesc,
    /// The name of its next value, if runs change it.
    pub result: Option<String>,
}
