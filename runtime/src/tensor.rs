//! Descriptors of a caller's tensors: name, elements, shape, bytes.

use crate::extent::Extent;

/// The type of a tensor's elements. The runtime does not know their size; see [`TensorDesc::size_bytes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are the types")]
pub enum ElementKind {
    /// A byte 0 or 1.
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
    /// 64 bits that represent a string (`ir::strings`).
    String,
}

/// One input or output of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorDesc {
    /// The name in the model.
    pub name: String,
    /// The kind of its elements.
    pub element: ElementKind,
    /// The sizes, outermost first; elements have no gaps.
    pub shape: Vec<u64>,
    /// The exact size of the caller's buffer in bytes.
    pub size_bytes: usize,
    /// The alignment of the buffer: a power of two.
    pub align: usize,
    /// Whether the program overwrites it: only for donated inputs.
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

/// An input or output of a program, at any sizes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorSpec {
    /// The name in the model.
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
    /// The tensor; its value is set by its name.
    pub tensor: TensorDesc,
    /// The name of its next value, if runs change it.
    pub result: Option<String>,
}
