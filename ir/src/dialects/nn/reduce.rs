//! `nn`'s reductions: rows that fold axes away.

use super::attr;
use crate::entities::Type;
use crate::interp::nn;
use crate::opdef::{
    AttrDef, AttrKind, Infer, InferError, InferInput, Kind, OpDef, OperandDef, Presence, Reduce, Traits,
    TypeClass,
};
use crate::types::Dim;

const ATTRS: &[AttrDef] = &[
    attr("axes", AttrKind::Axes, Presence::Required, "Which axes are folded, each from 0."),
    attr("keepdims", AttrKind::Unit, Presence::Optional, "If there, folded axes stay, with size 1."),
];

macro_rules! row {
    ($name:literal, $doc:literal, $reduce:ident) => {
        OpDef {
            name: concat!("nn.", $name),
            doc: $doc,
            example: concat!(
                "%1 = nn.",
                $name,
                " %0 {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>"
            ),
            operands: &[OperandDef::one("x", TypeClass::Tensor)],
            results: &[OperandDef::one("result", TypeClass::Tensor)],
            attrs: ATTRS,
            infer: Infer::Rule(infer_reduce),
            traits: Traits::PURE.union(Traits::PERMUTABLE),
            kind: Kind::Reduce(Reduce::$reduce),
            eval: Some(nn::reduce),
            ..OpDef::BLANK
        }
    };
}

pub(super) static OPS: &[OpDef] = &[
    row!("reduce_sum", "The sum over `axes`.", Sum),
    row!("reduce_mean", "The mean over `axes`.", Mean),
    row!("reduce_prod", "The product over `axes`.", Prod),
    row!("reduce_max", "The largest element over `axes`; NaN if one is.", Max),
    row!("reduce_min", "The smallest element over `axes`; NaN if one is.", Min),
    row!("reduce_sum_square", "The sum of squares over `axes`.", SumSquare),
];

fn infer_reduce(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    let shape = input.shape(0)?;
    let axes = input.ints("axes")?;
    if let Some(axis) = axes.iter().find(|axis| !(0..shape.len() as i64).contains(*axis)) {
        return Err(format!("axis {axis} is not one of the operand's {}", shape.len()).into());
    }
    let keeps = input.attr("keepdims").is_some();
    let sizes = shape.iter().enumerate().filter_map(|(axis, &size)| {
        if axes.contains(&(axis as i64)) { keeps.then_some(Dim::Known(1)) } else { Some(size) }
    });
    Ok(vec![input.tensor(sizes.collect(), input.elem(0)?)])
}
