//! Four elements in four scalar registers instead of one vector: if an operation has no vector instruction,
//! for elements of 64 bits, and for operands with a stride. The operations around them use vectors of four
//! lanes.

use super::halves;
use super::words::{cast, has_float_lanes};
use crate::cranelift::{Emitter, InstBuilder, Value, types};
use crate::elem::ElemType;

/// A node's value in the code for one element or for four.
#[derive(Clone, Copy, Debug)]
pub(super) enum NodeValue {
    /// One register.
    Register(Value),
    /// The four elements, in a register each.
    Apart([Value; 4]),
}

impl NodeValue {
    /// All elements in one vector register.
    pub(super) fn together(self, e: &mut Emitter<'_>, elem: ElemType) -> Value {
        match self {
            NodeValue::Register(register) => register,
            NodeValue::Apart(elements) => gathered(e, elem, elements),
        }
    }

    /// Each of four elements in a register of its own.
    pub(super) fn apart(self, e: &mut Emitter<'_>, elem: ElemType) -> [Value; 4] {
        match self {
            NodeValue::Register(register) => [0, 1, 2, 3].map(|lane| taken(e, elem, register, lane)),
            NodeValue::Apart(elements) => elements,
        }
    }
}

/// One element, repeated in four lanes.
pub(super) fn repeat(e: &mut Emitter<'_>, elem: ElemType, element: Value) -> Value {
    let lane = lane(e, elem, element);
    let ty = if has_float_lanes(elem) { types::F32X4 } else { types::I32X4 };
    e.ins.ins().splat(ty, lane)
}

fn gathered(e: &mut Emitter<'_>, elem: ElemType, elements: [Value; 4]) -> Value {
    let [first, others @ ..] = elements.map(|element| lane(e, elem, element));
    let ty = if has_float_lanes(elem) { types::F32X4 } else { types::I32X4 };
    let mut register = e.ins.ins().scalar_to_vector(ty, first);
    for (index, other) in others.into_iter().enumerate() {
        register = e.ins.ins().insertlane(register, other, index as u8 + 1);
    }
    register
}

/// Converts an element to the form of a lane.
fn lane(e: &mut Emitter<'_>, elem: ElemType, element: Value) -> Value {
    match elem {
        ElemType::F32 | ElemType::Int { bits: 32, .. } => element,
        ElemType::Bf16 => halves::wide_bf16(e, element),
        ElemType::Bool => {
            let word = e.ins.ins().uextend(types::I32, element);
            e.ins.ins().ineg(word)
        }
        _ if elem.is_signed() => e.ins.ins().sextend(types::I32, element),
        _ => e.ins.ins().uextend(types::I32, element),
    }
}

/// Converts a lane to the form of an element.
fn taken(e: &mut Emitter<'_>, elem: ElemType, register: Value, lane: u8) -> Value {
    match elem {
        ElemType::F32 | ElemType::Int { bits: 32, .. } => e.ins.ins().extractlane(register, lane),
        ElemType::Bf16 => {
            let words = cast(e, types::I32X4, register);
            let word = e.ins.ins().extractlane(words, lane);
            let upper = e.ins.ins().ushr_imm_u(word, 16);
            e.ins.ins().ireduce(types::I16, upper)
        }
        _ => {
            let word = e.ins.ins().extractlane(register, lane);
            let element = e.ins.ins().ireduce(elem.clif(), word);
            if elem == ElemType::Bool { e.ins.ins().band_imm_u(element, 1) } else { element }
        }
    }
}
