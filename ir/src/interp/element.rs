//! Element types of the interpreter: how elements are read from memory into lanes, and written back.
//!
//! | element | lane |
//! |---|---|
//! | `f32`, `f16`, `bf16` | `f32`: narrow floats are rounded to nearest even when they are written |
//! | `f64` | `f64` |
//! | `i1` to `i64`, `index` | `i64`: sign-extended; unsigned integers and `i1` zero-extended |
//!
//! Integers wrap: a lane is truncated to the element's width when it is written. Packed formats (`i4`,
//! `f4E2M1FN`), 8-bit floats, complex numbers and integers above 64 bits are not supported.

use std::fmt;

use half::{bf16, f16};

use super::tensor::EvalError;
use crate::context::Context;
use crate::entities::Type;
use crate::text::type_text;
use crate::types::{FloatKind, Signedness, TypeData};

/// An element type that the interpreter supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elem {
    /// IEEE half.
    F16,
    /// The upper half of an `f32`.
    Bf16,
    /// IEEE single.
    F32,
    /// IEEE double.
    F64,
    /// An integer, boolean or `index`.
    Int(IntElem),
}

/// An integer type of at most 64 bits, stored in whole bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntElem {
    /// The width in bits.
    pub width: u32,
    /// How lanes are extended.
    pub extension: Extension,
}

/// The extension of an integer's bits to a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extension {
    /// With copies of its highest bit.
    Sign,
    /// With zeros.
    Zero,
}

/// The type of lane that an element is computed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneKind {
    /// `f32`.
    F32,
    /// `f64`.
    F64,
    /// `i64`.
    Int,
}

impl Elem {
    /// `i1`.
    pub const BOOL: Elem = Elem::Int(IntElem { width: 1, extension: Extension::Zero });

    /// The elements of a type: those of a tensor, or the type itself.
    ///
    /// # Errors
    /// If their type is not supported.
    pub fn of(ctx: &Context, ty: Type) -> Result<Elem, EvalError> {
        let elem = match ctx.type_data(ctx.elem(ty)) {
            TypeData::Float(FloatKind::F16) => Elem::F16,
            TypeData::Float(FloatKind::Bf16) => Elem::Bf16,
            TypeData::Float(FloatKind::F32) => Elem::F32,
            TypeData::Float(FloatKind::F64) => Elem::F64,
            TypeData::Index => Elem::Int(IntElem { width: 64, extension: Extension::Sign }),
            TypeData::Integer { width: 1, .. } => Elem::BOOL,
            TypeData::Integer { width: width @ 8..=64, signedness } => {
                let extension = match signedness {
                    Signedness::Unsigned => Extension::Zero,
                    Signedness::Signless | Signedness::Signed => Extension::Sign,
                };
                Elem::Int(IntElem { width: *width, extension })
            }
            _ => {
                let elem = type_text(ctx, ctx.elem(ty));
                return Err(format!("elements of type `{elem}` are not computed with").into());
            }
        };
        Ok(elem)
    }

    /// The same bits with another extension, if it is an integer.
    pub fn extended(self, extension: Extension) -> Elem {
        match self {
            Elem::Int(int) => Elem::Int(IntElem { extension, ..int }),
            float => float,
        }
    }

    /// Bytes of one element in memory.
    pub fn bytes(self) -> usize {
        match self {
            Elem::F16 | Elem::Bf16 => 2,
            Elem::F32 => 4,
            Elem::F64 => 8,
            Elem::Int(int) => int.width.div_ceil(8).next_power_of_two() as usize,
        }
    }

    /// The type of lane that it is computed in.
    pub fn lane(self) -> LaneKind {
        match self {
            Elem::F16 | Elem::Bf16 | Elem::F32 => LaneKind::F32,
            Elem::F64 => LaneKind::F64,
            Elem::Int(_) => LaneKind::Int,
        }
    }
}

/// The type as the IR prints it; a signed integer is printed as a signless one.
impl fmt::Display for Elem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Elem::F16 => f.write_str("f16"),
            Elem::Bf16 => f.write_str("bf16"),
            Elem::F32 => f.write_str("f32"),
            Elem::F64 => f.write_str("f64"),
            Elem::Int(IntElem { width: width @ 2.., extension: Extension::Zero }) => write!(f, "ui{width}"),
            Elem::Int(IntElem { width, .. }) => write!(f, "i{width}"),
        }
    }
}

impl IntElem {
    /// The lane that holds the lowest `width` bits of `value`.
    #[inline(always)]
    pub fn wrap(self, value: i64) -> i64 {
        let unused = 64 - self.width;
        match self.extension {
            Extension::Sign => (value << unused) >> unused,
            Extension::Zero => (((value as u64) << unused) >> unused) as i64,
        }
    }

    /// The smallest and the largest value.
    pub fn range(self) -> (i128, i128) {
        match self.extension {
            Extension::Sign => (-(1 << (self.width - 1)), (1 << (self.width - 1)) - 1),
            Extension::Zero => (0, (1 << self.width) - 1),
        }
    }

    /// The number that a lane represents.
    #[inline(always)]
    pub fn number(self, lane: i64) -> i128 {
        match self.extension {
            Extension::Sign => lane.into(),
            Extension::Zero => (lane as u64).into(),
        }
    }
}

/// The representation of elements during computation.
pub trait Lane: Copy + Default + PartialEq + PartialOrd + Send + Sync + 'static {
    /// Reads elements from the start of `bytes` until `lanes` is full.
    fn read(elem: Elem, bytes: &[u8], lanes: &mut [Self]);

    /// Writes the lanes, rounded or truncated to the element type, to the start of `bytes`.
    fn write(elem: Elem, lanes: &[Self], bytes: &mut [u8]);

    /// The lane of a number, rounded.
    fn from_f64(value: f64) -> Self;

    /// The lane with the lowest bits of an integer.
    fn from_int(value: i128) -> Self;

    /// `self * b + c`: floats round once, integers wrap.
    fn fma(self, b: Self, c: Self) -> Self;

    /// The sum; integers wrap.
    fn plus(self, b: Self) -> Self;

    /// The product; integers wrap.
    fn times(self, b: Self) -> Self;

    /// The quotient by a count; integers truncate.
    fn over(self, count: usize) -> Self;

    /// The values below (`-inf`) and above (`inf`) every number.
    fn extremes() -> (Self, Self);
}

/// All elements of a value.
pub(crate) fn read_all<L: Lane>(elem: Elem, bytes: &[u8]) -> Vec<L> {
    let mut lanes = vec![L::default(); bytes.len() / elem.bytes()];
    L::read(elem, bytes, &mut lanes);
    lanes
}

/// The bytes of a value's elements.
pub(super) fn write_all<L: Lane>(elem: Elem, lanes: &[L]) -> Vec<u8> {
    let mut bytes = vec![0; lanes.len() * elem.bytes()];
    L::write(elem, lanes, &mut bytes);
    bytes
}

fn read_words<const N: usize, L>(bytes: &[u8], lanes: &mut [L], read: impl Fn([u8; N]) -> L) {
    let (words, _) = bytes.as_chunks::<N>();
    for (lane, word) in lanes.iter_mut().zip(words) {
        *lane = read(*word);
    }
}

fn write_words<const N: usize, L: Copy>(lanes: &[L], bytes: &mut [u8], write: impl Fn(L) -> [u8; N]) {
    let (words, _) = bytes.as_chunks_mut::<N>();
    for (word, lane) in words.iter_mut().zip(lanes) {
        *word = write(*lane);
    }
}

impl Lane for f32 {
    fn read(elem: Elem, bytes: &[u8], lanes: &mut [f32]) {
        match elem {
            Elem::F16 => read_words(bytes, lanes, |word| f16::from_le_bytes(word).to_f32()),
            Elem::Bf16 => read_words(bytes, lanes, |word| bf16::from_le_bytes(word).to_f32()),
            Elem::F32 => read_words(bytes, lanes, f32::from_le_bytes),
            Elem::F64 | Elem::Int(_) => unreachable!("{elem:?} does not compute in f32"),
        }
    }

    fn write(elem: Elem, lanes: &[f32], bytes: &mut [u8]) {
        match elem {
            Elem::F16 => write_words(lanes, bytes, |lane| f16::from_f32(lane).to_le_bytes()),
            Elem::Bf16 => write_words(lanes, bytes, |lane| bf16::from_f32(lane).to_le_bytes()),
            Elem::F32 => write_words(lanes, bytes, f32::to_le_bytes),
            Elem::F64 | Elem::Int(_) => unreachable!("{elem:?} does not compute in f32"),
        }
    }

    fn from_f64(value: f64) -> f32 {
        value as f32
    }

    fn from_int(value: i128) -> f32 {
        value as f32
    }

    #[inline(always)]
    fn fma(self, b: f32, c: f32) -> f32 {
        self.mul_add(b, c)
    }

    #[inline(always)]
    fn plus(self, b: f32) -> f32 {
        self + b
    }

    #[inline(always)]
    fn times(self, b: f32) -> f32 {
        self * b
    }

    fn over(self, count: usize) -> f32 {
        self / count as f32
    }

    fn extremes() -> (f32, f32) {
        (f32::NEG_INFINITY, f32::INFINITY)
    }
}

impl Lane for f64 {
    fn read(elem: Elem, bytes: &[u8], lanes: &mut [f64]) {
        assert_eq!(elem, Elem::F64, "only f64 computes in f64");
        read_words(bytes, lanes, f64::from_le_bytes);
    }

    fn write(elem: Elem, lanes: &[f64], bytes: &mut [u8]) {
        assert_eq!(elem, Elem::F64, "only f64 computes in f64");
        write_words(lanes, bytes, f64::to_le_bytes);
    }

    fn from_f64(value: f64) -> f64 {
        value
    }

    fn from_int(value: i128) -> f64 {
        value as f64
    }

    #[inline(always)]
    fn fma(self, b: f64, c: f64) -> f64 {
        self.mul_add(b, c)
    }

    #[inline(always)]
    fn plus(self, b: f64) -> f64 {
        self + b
    }

    #[inline(always)]
    fn times(self, b: f64) -> f64 {
        self * b
    }

    fn over(self, count: usize) -> f64 {
        self / count as f64
    }

    fn extremes() -> (f64, f64) {
        (f64::NEG_INFINITY, f64::INFINITY)
    }
}

/// Unsigned 64-bit integers above 2^63 are ordered wrongly in a bare `i64` lane. Elementwise operations know
/// the element type and order them right.
impl Lane for i64 {
    fn read(elem: Elem, bytes: &[u8], lanes: &mut [i64]) {
        let Elem::Int(int) = elem else { unreachable!("{elem:?} does not compute in integers") };
        match elem.bytes() {
            1 => read_words(bytes, lanes, |[byte]: [u8; 1]| int.wrap(byte.into())),
            2 => read_words(bytes, lanes, |word| int.wrap(u16::from_le_bytes(word).into())),
            4 => read_words(bytes, lanes, |word| int.wrap(u32::from_le_bytes(word).into())),
            _ => read_words(bytes, lanes, |word| int.wrap(i64::from_le_bytes(word))),
        }
    }

    fn write(elem: Elem, lanes: &[i64], bytes: &mut [u8]) {
        let Elem::Int(int) = elem else { unreachable!("{elem:?} does not compute in integers") };
        match elem.bytes() {
            1 => write_words(lanes, bytes, |lane| [int.wrap(lane) as u8]),
            2 => write_words(lanes, bytes, |lane| (int.wrap(lane) as u16).to_le_bytes()),
            4 => write_words(lanes, bytes, |lane| (int.wrap(lane) as u32).to_le_bytes()),
            _ => write_words(lanes, bytes, |lane| int.wrap(lane).to_le_bytes()),
        }
    }

    fn from_f64(value: f64) -> i64 {
        value as i64
    }

    fn from_int(value: i128) -> i64 {
        value as i64
    }

    #[inline(always)]
    fn fma(self, b: i64, c: i64) -> i64 {
        self.wrapping_mul(b).wrapping_add(c)
    }

    #[inline(always)]
    fn plus(self, b: i64) -> i64 {
        self.wrapping_add(b)
    }

    #[inline(always)]
    fn times(self, b: i64) -> i64 {
        self.wrapping_mul(b)
    }

    fn over(self, count: usize) -> i64 {
        self / count.max(1) as i64
    }

    fn extremes() -> (i64, i64) {
        (i64::MIN, i64::MAX)
    }
}
