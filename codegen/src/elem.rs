//! Which element types generated code computes with, and what they are to Cranelift.

use ir::{Context, FloatKind, Signedness, Type, TypeData};

use crate::cranelift::{Clif, types};

/// The type of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Elem {
    /// A truth value, a byte 0 or 1 in memory.
    Bool,
    /// An integer.
    Int {
        /// 8, 16, 32 or 64.
        bits: u8,
        /// Whether a comparison or division takes it as signed; signless ones are.
        signed: bool,
    },
    /// `f32`.
    F32,
    /// `f64`.
    F64,
    /// `f16`, which is only stored: what is computed with it is computed with `f32`, and rounded.
    F16,
    /// `bf16`, of which the same holds.
    Bf16,
}

impl Elem {
    /// The element type of a tensor type (or the type itself), if generated code can compute with it.
    pub(crate) fn of(ctx: &Context, ty: Type) -> Option<Elem> {
        match ctx.type_data(ctx.elem(ty)) {
            TypeData::Integer { width: 1, .. } => Some(Elem::Bool),
            TypeData::Integer { width: width @ (8 | 16 | 32 | 64), signedness } => {
                Some(Elem::Int { bits: *width as u8, signed: *signedness != Signedness::Unsigned })
            }
            TypeData::Index => Some(Elem::Int { bits: 64, signed: true }),
            TypeData::Float(FloatKind::F32) => Some(Elem::F32),
            TypeData::Float(FloatKind::F64) => Some(Elem::F64),
            _ => None,
        }
    }

    /// The same of elements that are stored too: floats of 16 bits.
    pub(crate) fn stored(ctx: &Context, ty: Type) -> Option<Elem> {
        match ctx.type_data(ctx.elem(ty)) {
            TypeData::Float(FloatKind::F16) => Some(Elem::F16),
            TypeData::Float(FloatKind::Bf16) => Some(Elem::Bf16),
            _ => Elem::of(ctx, ty),
        }
    }

    /// The type in which is computed what is stored in this one.
    pub(crate) fn computed(self) -> Elem {
        match self {
            Elem::F16 | Elem::Bf16 => Elem::F32,
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
            Elem::Bool | Elem::Int { bits: 8, .. } => types::I8,
            Elem::Int { bits: 16, .. } | Elem::F16 | Elem::Bf16 => types::I16,
            Elem::Int { bits: 32, .. } => types::I32,
            Elem::Int { .. } => types::I64,
            Elem::F32 => types::F32,
            Elem::F64 => types::F64,
        }
    }

    /// Whether it is a float.
    pub(crate) fn is_float(self) -> bool {
        matches!(self, Elem::F32 | Elem::F64)
    }

    /// Whether comparisons and divisions take it as signed.
    pub(crate) fn is_signed(self) -> bool {
        matches!(self, Elem::Int { signed: true, .. })
    }

    /// The same bits as an integer that is signed, or not; floats and truth values have no other.
    pub(crate) fn with_sign(self, sign: Signedness) -> Elem {
        match self {
            Elem::Int { bits, .. } => Elem::Int { bits, signed: sign != Signedness::Unsigned },
            other => other,
        }
    }

    /// The least and the greatest number of an integer type, as bits of an `i64`; 0 and 1 of truth values.
    pub(crate) fn range(self) -> Option<(i64, i64)> {
        match self {
            Elem::Bool => Some((0, 1)),
            Elem::Int { bits, signed: true } => Some((i64::MIN >> (64 - bits), i64::MAX >> (64 - bits))),
            Elem::Int { bits, signed: false } => Some((0, (u64::MAX >> (64 - bits)).cast_signed())),
            Elem::F32 | Elem::F64 | Elem::F16 | Elem::Bf16 => None,
        }
    }

    /// A number rounded to this type, as its bits.
    pub(crate) fn constant_bits(self, value: f64) -> u64 {
        match self {
            Elem::Bool => u64::from(value != 0.0),
            Elem::Int { signed: true, .. } => (value as i64) as u64,
            Elem::Int { .. } => value as u64,
            Elem::F32 => u64::from((value as f32).to_bits()),
            Elem::F64 => value.to_bits(),
            Elem::F16 => half::f16::from_f64(value).to_bits().into(),
            Elem::Bf16 => half::bf16::from_f64(value).to_bits().into(),
        }
    }
}
