//! The element types of ONNX tensors.

macro_rules! elements {
    ($($variant:ident $number:literal $name:literal $bits:literal;)*) => {
        /// `TensorProto.DataType`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Element {
            $(#[doc = concat!("`", $name, "`, ", stringify!($bits), " bits.")] $variant,)*
        }

        impl Element {
            /// Every element type.
            pub const ALL: &'static [Element] = &[$(Element::$variant),*];

            /// The type with this number in files.
            pub fn from_number(number: i32) -> Option<Element> {
                match number { $($number => Some(Element::$variant),)* _ => None }
            }

            /// The number in files.
            pub fn number(self) -> i32 {
                match self { $(Element::$variant => $number,)* }
            }

            /// The name in ONNX.
            pub fn name(self) -> &'static str {
                match self { $(Element::$variant => $name,)* }
            }

            /// Bits of an element in raw data. Types narrower than a byte are packed, the first element in
            /// the low bits. A string is its digest ([`ir::strings`]).
            pub fn bits(self) -> u64 {
                match self { $(Element::$variant => $bits,)* }
            }
        }
    };
}

elements! {
    Float 1 "float" 32;
    Uint8 2 "uint8" 8;
    Int8 3 "int8" 8;
    Uint16 4 "uint16" 16;
    Int16 5 "int16" 16;
    Int32 6 "int32" 32;
    Int64 7 "int64" 64;
    String 8 "string" 64;
    Bool 9 "bool" 8;
    Float16 10 "float16" 16;
    Double 11 "double" 64;
    Uint32 12 "uint32" 32;
    Uint64 13 "uint64" 64;
    Complex64 14 "complex64" 64;
    Complex128 15 "complex128" 128;
    Bfloat16 16 "bfloat16" 16;
    Float8E4m3fn 17 "float8e4m3fn" 8;
    Float8E4m3fnuz 18 "float8e4m3fnuz" 8;
    Float8E5m2 19 "float8e5m2" 8;
    Float8E5m2fnuz 20 "float8e5m2fnuz" 8;
    Uint4 21 "uint4" 4;
    Int4 22 "int4" 4;
    Float4E2m1 23 "float4e2m1" 4;
    Float8E8m0 24 "float8e8m0" 8;
    Uint2 25 "uint2" 2;
    Int2 26 "int2" 2;
}

impl Element {
    /// Whether it is a real floating-point type.
    pub fn is_float(self) -> bool {
        matches!(self, Element::Float | Element::Double | Element::Float16 | Element::Bfloat16)
    }

    /// Bytes of raw data for a tensor of sizes `dims`; none if they exceed the address space.
    pub fn storage_bytes(self, dims: &[u64]) -> Option<usize> {
        let count = dims.iter().try_fold(1u64, |count, &size| count.checked_mul(size))?;
        let bits = count.checked_mul(self.bits())?;
        usize::try_from(bits.div_ceil(8)).ok().filter(|&bytes| bytes <= isize::MAX as usize)
    }
}
