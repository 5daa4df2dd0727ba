//! Types of values: MLIR's builtin types, and any other dialect's kept as text.

use crate::entities::{Attr, DimExpr, Ident, Type};

/// The content of a [`Type`] handle.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TypeData {
    /// `i32`, `si8`, `ui64`: an integer of `width` bits (0 to 2^24 - 1).
    Integer {
        /// Bits.
        width: u32,
        /// The meaning of the bits.
        signedness: Signedness,
    },
    /// `f32` and its like.
    Float(FloatKind),
    /// `index`.
    Index,
    /// `none`.
    None,
    /// `complex<f32>`.
    Complex(Type),
    /// `tuple<i32, f32>`.
    Tuple(Box<[Type]>),
    /// `vector<4x[8]xf32>`; each dimension with whether it is scalable.
    Vector {
        /// Sizes, outermost first.
        shape: Box<[VectorDim]>,
        /// Type of an element.
        elem: Type,
    },
    /// `tensor<1x?xf32, #encoding>`, `tensor<?x3xf32, #optc.dims<N>>`.
    Tensor {
        /// Sizes, outermost first.
        shape: Box<[Dim]>,
        /// Type of an element.
        elem: Type,
        /// A dialect's encoding after the element type; none for expressions of sizes.
        encoding: Option<Attr>,
    },
    /// `tensor<*xf32>`.
    UnrankedTensor {
        /// Type of an element.
        elem: Type,
    },
    /// `memref<2x?xf32, layout, space>`.
    MemRef {
        /// Sizes, outermost first.
        shape: Box<[Dim]>,
        /// Type of an element.
        elem: Type,
        /// An affine map or strided layout; none stands for the identity.
        layout: Option<Attr>,
        /// Memory space.
        space: Option<Attr>,
    },
    /// `memref<*xf32, space>`.
    UnrankedMemRef {
        /// Type of an element.
        elem: Type,
        /// Memory space.
        space: Option<Attr>,
    },
    /// `(i32, f32) -> f32`.
    Function {
        /// Types of the arguments.
        inputs: Box<[Type]>,
        /// Types of the results.
        results: Box<[Type]>,
    },
    /// `!dialect.body`: a type of an unregistered dialect, kept as its text.
    Opaque {
        /// The dialect's name.
        dialect: Ident,
        /// The text after the dot, or in the angle brackets of `!dialect<...>`.
        body: Box<[OpaquePiece]>,
    },
}

/// A part of the text of an opaque type or attribute. A part that is a type, an attribute or an affine map is
/// a handle, so the content is the same whether it was read through an alias or not.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum OpaquePiece {
    /// Text, with each run of white space replaced by one blank.
    Text(Box<str>),
    /// An attribute.
    Attr(Attr),
    /// A type.
    Type(Type),
}

/// The signedness of an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Signedness {
    /// `i8`: the operation decides.
    Signless,
    /// `si8`.
    Signed,
    /// `ui8`.
    Unsigned,
}

/// One size of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VectorDim {
    /// Number of elements (a multiple of it, if scalable).
    pub size: u64,
    /// `[4]`: a multiple, known at run time, of `size`.
    pub scalable: bool,
}

/// One size of a tensor or memref.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dim {
    /// A known number of elements.
    Known(u64),
    /// `?` with an expression beside it: a size computed from named sizes, without a number yet (see
    /// [`crate::dims`]). Equal expressions have equal handles, and stand for equal sizes.
    Symbolic(DimExpr),
    /// `?`. Two unknown sizes are never assumed to be equal.
    Unknown,
}

impl Dim {
    /// The number of elements, if known.
    pub fn known(self) -> Option<u64> {
        match self {
            Dim::Known(size) => Some(size),
            Dim::Symbolic(_) | Dim::Unknown => None,
        }
    }
}

macro_rules! float_kinds {
    ($($name:ident $text:literal $bits:literal;)*) => {
        /// The format of a float type.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum FloatKind {
            $(#[doc = concat!("`", $text, "`.")] $name,)*
        }

        impl FloatKind {
            /// Every format.
            pub const ALL: &'static [FloatKind] = &[$(FloatKind::$name),*];

            /// The keyword of the type in text.
            pub fn keyword(self) -> &'static str {
                match self { $(FloatKind::$name => $text,)* }
            }

            /// Bits of storage.
            pub fn bits(self) -> u32 {
                match self { $(FloatKind::$name => $bits,)* }
            }
        }
    };
}

float_kinds! {
    F4E2M1FN "f4E2M1FN" 4;
    F6E2M3FN "f6E2M3FN" 6;
    F6E3M2FN "f6E3M2FN" 6;
    F8E3M4 "f8E3M4" 8;
    F8E4M3 "f8E4M3" 8;
    F8E4M3FN "f8E4M3FN" 8;
    F8E4M3FNUZ "f8E4M3FNUZ" 8;
    F8E4M3B11FNUZ "f8E4M3B11FNUZ" 8;
    F8E5M2 "f8E5M2" 8;
    F8E5M2FNUZ "f8E5M2FNUZ" 8;
    F8E8M0FNU "f8E8M0FNU" 8;
    Bf16 "bf16" 16;
    F16 "f16" 16;
    Tf32 "tf32" 19;
    F32 "f32" 32;
    F64 "f64" 64;
    F80 "f80" 80;
    F128 "f128" 128;
}

impl TypeData {
    /// The sizes of a ranked tensor, if this is one.
    pub fn tensor_shape(&self) -> Option<&[Dim]> {
        match self {
            TypeData::Tensor { shape, .. } => Some(shape),
            _ => None,
        }
    }

    /// The type of an element of a shaped type.
    pub fn elem(&self) -> Option<Type> {
        match self {
            TypeData::Vector { elem, .. }
            | TypeData::Tensor { elem, .. }
            | TypeData::UnrankedTensor { elem }
            | TypeData::MemRef { elem, .. }
            | TypeData::UnrankedMemRef { elem, .. } => Some(*elem),
            _ => None,
        }
    }
}
