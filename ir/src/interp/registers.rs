//! Registers: the lanes of one node of a scalar tree.

use super::element::{Elem, Lane, LaneKind};

/// The number of elements computed in one step.
pub(super) const CHUNK: usize = 1024;

/// A register: the lanes of one node.
#[derive(Debug)]
pub(super) enum LaneValues {
    F32(Vec<f32>),
    F64(Vec<f64>),
    Int(Vec<i64>),
}

/// A lane type with its register.
pub(super) trait Register: Lane {
    fn of(lanes: &LaneValues) -> &[Self];
    fn of_mut(lanes: &mut LaneValues) -> &mut [Self];
}

macro_rules! registers {
    ($($lane:ty => $variant:ident;)*) => {$(
        impl Register for $lane {
            fn of(lanes: &LaneValues) -> &[Self] {
                match lanes { LaneValues::$variant(lanes) => lanes, other => unreachable!("lanes of {other:?}") }
            }
            fn of_mut(lanes: &mut LaneValues) -> &mut [Self] {
                match lanes { LaneValues::$variant(lanes) => lanes, other => unreachable!("lanes of {other:?}") }
            }
        }
    )*};
}
registers! { f32 => F32; f64 => F64; i64 => Int; }

impl LaneValues {
    /// A register for elements of this type, all lanes zero.
    pub(super) fn new(elem: Elem) -> LaneValues {
        match elem.lane() {
            LaneKind::F32 => LaneValues::F32(vec![0.0; CHUNK]),
            LaneKind::F64 => LaneValues::F64(vec![0.0; CHUNK]),
            LaneKind::Int => LaneValues::Int(vec![0; CHUNK]),
        }
    }

    /// A register for elements of this type, all lanes the same.
    pub(super) fn fill(elem: Elem, value: f64) -> LaneValues {
        match elem {
            Elem::F16 | Elem::Bf16 | Elem::F32 => LaneValues::F32(vec![value as f32; CHUNK]),
            Elem::F64 => LaneValues::F64(vec![value; CHUNK]),
            Elem::Int(int) => LaneValues::Int(vec![int.wrap(value as i64); CHUNK]),
        }
    }
}
