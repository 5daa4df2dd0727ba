//! Conversions of `nn` between tensors of one element and numbers, for conditions and loops of `scf`.

use crate::body::OpRef;
use crate::entities::Type;
use crate::interp::nn;
use crate::opdef::{
    Infer, InferError, InferInput, Kind, OpDef, OperandDef, Strided, Traits, TypeClass, View,
};
use crate::types::{Signedness, TypeData};

pub(super) static OPS: &[OpDef] = &[
    OpDef {
        name: "nn.to_scalar",
        doc: "The element of a tensor without axes, as a number.",
        example: "%1 = nn.to_scalar %0 : (tensor<i64>) -> i64",
        operands: &[OperandDef::one("x", TypeClass::Tensor)],
        results: &[OperandDef::one("number", TypeClass::NumberLike)],
        infer: Infer::Rule(infer_to_scalar),
        traits: Traits::PURE.union(Traits::SAME_ORDER),
        kind: Kind::View(View::OfOperand(same_layout)),
        eval: Some(nn::same_bytes),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.from_scalar",
        doc: "A number as a tensor without axes.",
        example: "%1 = nn.from_scalar %0 : (i64) -> tensor<i64>",
        operands: &[OperandDef::one("number", TypeClass::NumberLike)],
        results: &[OperandDef::one("result", TypeClass::Tensor)],
        infer: Infer::Rule(infer_from_scalar),
        traits: Traits::PURE.union(Traits::SAME_ORDER),
        kind: Kind::View(View::OfOperand(same_layout)),
        eval: Some(nn::same_bytes),
        ..OpDef::BLANK
    },
];

fn infer_to_scalar(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    if !input.shape(0)?.is_empty() {
        return Err("the operand has axes".into());
    }
    let elem = input.elem(0)?;
    if !is_number(input, elem) {
        return Err("the operand's element is no integer without a sign and no float".into());
    }
    Ok(vec![elem])
}

fn infer_from_scalar(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    let number = *input.operands.first().ok_or("operand 0 is missing")?;
    if !is_number(input, number) {
        return Err("the operand is no integer without a sign and no float".into());
    }
    Ok(vec![input.tensor(Vec::new(), number)])
}

/// Whether a type is a scalar number of at least a byte, or a truth value.
fn is_number(input: &InferInput<'_>, ty: Type) -> bool {
    match input.ctx.type_data(ty) {
        TypeData::Float(_) => true,
        TypeData::Integer { width, signedness } => {
            *signedness == Signedness::Signless && (*width == 1 || *width >= 8)
        }
        _ => false,
    }
}

fn same_layout(_: OpRef<'_>, _: usize, layout: &Strided) -> Option<Strided> {
    Some(layout.clone())
}
