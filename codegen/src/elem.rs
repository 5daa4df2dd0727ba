//! The element types of generated code, and their Cranelift types.

use std::fmt;

use ir::narrow::{nearest_bf16, nearest_f16};
use ir::size::storage_bits;
use ir::{Context, FloatKind, Signedness, Type, TypeData};
use kernels::ByteSign;

use crate::cranelift::{Clif, types};

/// The type of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ElemType {
    /// A truth value, a byte 0 or 1 in memory.
    Bool,
    /// An integer.
    Int {
        /// 8, 16, 32 or 64.
        bits: u8,
        /// Whether comparisons and divisions take it as signed; signless integers count as signed.
        signed: bool,
    },
    /// `f32`.
    F32,
    /// `f64`.
    F64,
    /// `f16`, only in memory: it is computed with as `f32`, then rounded.
    F16,
    /// `bf16`, only in memory too.
    Bf16,
}

/// As in the IR's text.
impl fmt::Display for ElemType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ElemType::Bool => f.write_str("i1"),
            ElemType::Int { bits, signed: true } => write!(f, "i{bits}"),
            ElemType::Int { bits, signed: false } => write!(f, "ui{bits}"),
            ElemType::F32 => f.write_str("f32"),
            ElemType::F64 => f.write_str("f64"),
            ElemType::F16 => f.write_str("f16"),
            ElemType::Bf16 => f.write_str("bf16"),
        }
    }
}

impl ElemType {
    /// The sign of 8-bit integers.
    pub(crate) fn byte_sign(self) -> Option<ByteSign> {
        match self {
            ElemType::Int { bits: 8, signed: true } => Some(ByteSign::Signed),
            ElemType::Int { bits: 8, signed: false } => Some(ByteSign::Unsigned),
            _ => None,
        }
    }

    /// The element type of a tensor type (or the type itself), if generated code can compute with it.
    pub(crate) fn of(ctx: &Context, ty: Type) -> Option<ElemType> {
        match ctx.type_data(ctx.elem(ty)) {
            TypeData::Integer { width: 1, .. } => Some(ElemType::Bool),
            TypeData::Integer { width: width @ (8 | 16 | 32 | 64), signedness } => {
                Some(ElemType::Int { bits: *width as u8, signed: *signedness != Signedness::Unsigned })
            }
            TypeData::Index => Some(ElemType::Int { bits: 64, signed: true }),
            TypeData::Float(FloatKind::F32) => Some(ElemType::F32),
            TypeData::Float(FloatKind::F64) => Some(ElemType::F64),
            _ => None,
        }
    }

    /// Like [`ElemType::of`], with the types that are only stored: floats of 16 bits.
    pub(crate) fn stored(ctx: &Context, ty: Type) -> Option<ElemType> {
        match ctx.type_data(ctx.elem(ty)) {
            TypeData::Float(FloatKind::F16) => Some(ElemType::F16),
            TypeData::Float(FloatKind::Bf16) => Some(ElemType::Bf16),
            _ => ElemType::of(ctx, ty),
        }
    }

    /// Like [`ElemType::of`], for elements that are only moved: any type of whole bytes, as an integer of its
    /// size.
    pub(crate) fn moved(ctx: &Context, ty: Type) -> Option<ElemType> {
        ElemType::stored(ctx, ty).or_else(|| {
            let bits = storage_bits(ctx, ctx.elem(ty)).filter(|bits| matches!(bits, 8 | 16 | 32 | 64))?;
            Some(ElemType::Int { bits: bits as u8, signed: false })
        })
    }

    /// The type in which elements stored in this type are computed.
    pub(crate) fn computed(self) -> ElemType {
        match self {
            ElemType::F16 | ElemType::Bf16 => ElemType::F32,
            other => other,
        }
    }

    /// Bytes in memory.
    pub(crate) fn bytes(self) -> u32 {
        self.clif().bytes()
    }

    /// The type of one element in a register.
    pub(crate) fn clif(self) -> Clif {
        match self {
            ElemType::Bool | ElemType::Int { bits: 8, .. } => types::I8,
            ElemType::Int { bits: 16, .. } | ElemType::F16 | ElemType::Bf16 => types::I16,
            ElemType::Int { bits: 32, .. } => types::I32,
            ElemType::Int { .. } => types::I64,
            ElemType::F32 => types::F32,
            ElemType::F64 => types::F64,
        }
    }

    /// Whether it is a float.
    pub(crate) fn is_float(self) -> bool {
        matches!(self, ElemType::F32 | ElemType::F64)
    }

    /// Whether comparisons and divisions take it as signed.
    pub(crate) fn is_signed(self) -> bool {
        matches!(self, ElemType::Int { signed: true, .. })
    }

    /// The integer type of the same size with this sign; floats and booleans stay as they are.
    pub(crate) fn with_sign(self, sign: Signedness) -> ElemType {
        match self {
            ElemType::Int { bits, .. } => ElemType::Int { bits, signed: sign != Signedness::Unsigned },
            other => other,
        }
    }

    /// The least and the greatest number of an integer type, as bits of an `i64`; for booleans, 0 and 1.
    pub(crate) fn range(self) -> Option<(i64, i64)> {
        match self {
            ElemType::Bool => Some((0, 1)),
            ElemType::Int { bits, signed: true } => Some((i64::MIN >> (64 - bits), i64::MAX >> (64 - bits))),
            ElemType::Int { bits, signed: false } => Some((0, (u64::MAX >> (64 - bits)).cast_signed())),
            ElemType::F32 | ElemType::F64 | ElemType::F16 | ElemType::Bf16 => None,
        }
    }

    /// A number rounded to this type, as its bits.
    pub(crate) fn constant_bits(self, value: f64) -> u64 {
        match self {
            ElemType::Bool => u64::from(value != 0.0),
            ElemType::Int { signed: true, .. } => (value as i64) as u64,
            ElemType::Int { .. } => value as u64,
            ElemType::F32 => u64::from((value as f32).to_bits()),
            ElemType::F64 => value.to_bits(),
            ElemType::F16 => nearest_f16(value).to_bits().into(),
            ElemType::Bf16 => nearest_bf16(value).to_bits().into(),
        }
    }
}
