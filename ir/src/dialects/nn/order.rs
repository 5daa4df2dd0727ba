//! `nn`'s rows that write slices by index, and sort.

use super::attr;
use crate::body::OpRef;
use crate::dims::SizeArithmetic;
use crate::entities::Type;
use crate::interp::nn;
use crate::opdef::{
    Access, AttrKind, Infer, InferError, InferInput, Kind, OpDef, OperandDef, Presence, Reuse, Traits,
    TypeClass,
};

const JOINS: &[&str] = &["none", "add", "mul", "max", "min"];

pub(super) static OPS: &[OpDef] = &[
    OpDef {
        name: "nn.scatter",
        doc: "x with slices along its first axis, numbered by the indices, joined with updates, one after the other; a negative index counts \
              from the end.",
        example: "%1 = nn.scatter %x, %i, %u : (tensor<8x4xf32>, tensor<2xi64>, tensor<2x4xf32>) -> tensor<8x4xf32>",
        operands: &[
            OperandDef::one("x", TypeClass::Tensor),
            OperandDef::one("indices", TypeClass::IntTensor),
            OperandDef::one("updates", TypeClass::Tensor),
        ],
        results: &[OperandDef::one("result", TypeClass::Tensor)],
        attrs: &[attr(
            "join",
            AttrKind::OneOf(JOINS),
            Presence::DefaultText("none"),
            "What becomes of the old and the new element: the new one, or their sum, product, maximum or minimum.",
        )],
        infer: Infer::SameAs(0),
        verify: Some(verify_scatter),
        traits: Traits::PURE,
        kind: Kind::Kernel("scatter"),
        reuse: &[Reuse { result: 0, operand: 0, access: Access::SameIndex }],
        eval: Some(nn::scatter),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.arg_sort",
        doc: "The indices of the elements along an axis in the order of the elements: equal ones as they stand, NaN as the largest.",
        example: "%1 = nn.arg_sort %0 {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xi64>",
        operands: &[OperandDef::one("x", TypeClass::Tensor)],
        results: &[OperandDef::one("result", TypeClass::IntTensor)],
        attrs: &[
            attr("axis", AttrKind::Axis, Presence::Required, "The axis, from 0."),
            attr(
                "descending",
                AttrKind::Unit,
                Presence::Optional,
                "If there, the largest element comes first.",
            ),
        ],
        infer: Infer::Rule(infer_sort),
        traits: Traits::PURE,
        kind: Kind::Kernel("arg_sort"),
        eval: Some(nn::arg_sort),
        ..OpDef::BLANK
    },
];

fn verify_scatter(op: OpRef<'_>) -> Result<(), String> {
    let shape = |index: usize| op.ctx.type_data(op.operand_type(index)).tensor_shape().unwrap_or(&[]);
    let (Some(_), [count], Some(_)) = (shape(0).first(), shape(1), shape(2).first()) else {
        return Err("the operands are not slices, a list of indices, and slices".to_owned());
    };
    if op.ctx.elem(op.operand_type(0)) != op.ctx.elem(op.operand_type(2)) {
        return Err("the updates are of another type than what they are written to".to_owned());
    }
    let sizes = SizeArithmetic(op.ctx);
    let wanted = [&[*count], &shape(0)[1..]].concat();
    let differ = wanted.len() != shape(2).len()
        || wanted.iter().zip(shape(2)).any(|(wanted, own)| sizes.are_different(*wanted, *own));
    if differ { Err(format!("the updates are not of sizes {}", sizes.list(&wanted))) } else { Ok(()) }
}

fn infer_sort(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    let shape = input.shape(0)?;
    let axis = input.int("axis").and_then(|axis| usize::try_from(axis).ok());
    axis.filter(|axis| *axis < shape.len()).ok_or("`axis` is not one of the operand's axes")?;
    Ok(vec![input.tensor(shape.to_vec(), input.ctx.int(64))])
}
