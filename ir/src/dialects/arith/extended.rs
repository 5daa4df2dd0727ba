//! Extended arithmetic of `arith`: sums and products with their overflowing bits.

use super::{INTS, truths};
use crate::body::OpRef;
use crate::interp::element::{Elem, Extension, IntElem, read_all};
use crate::interp::{EvalError, Tensor};
use crate::opdef::{Infer, InferError, InferInput, Kind, OpDef, OperandDef, Traits, TypeClass};
use crate::{Type, TypeData};

const HALVES: &[OperandDef] =
    &[OperandDef::one("low", TypeClass::IntLike), OperandDef::one("high", TypeClass::IntLike)];
const TRAITS: Traits = Traits::PURE.union(Traits::SAME_TYPE).union(Traits::COMMUTATIVE);

pub(super) static OPS: &[OpDef] = &[
    OpDef {
        name: "arith.addui_extended",
        doc: "The sum of unsigned integers, and whether it did not fit.",
        example: "func.func @f(%a: i32, %b: i32) -> (i32, i1) {\n  %0, %1 = arith.addui_extended %a, %b : i32, i1\n  return %0, %1 : i32, i1\n}",
        syntax: Some("$lhs, $rhs attr-dict : type($lhs, $rhs, $sum), type($overflow)"),
        operands: INTS,
        results: &[
            OperandDef::one("sum", TypeClass::IntLike),
            OperandDef::one("overflow", TypeClass::BoolLike),
        ],
        infer: Infer::Rule(sum_and_truth),
        traits: TRAITS,
        kind: Kind::Kernel("addui_extended"),
        eval: Some(add),
        ..OpDef::BLANK
    },
    OpDef {
        name: "arith.mulsi_extended",
        doc: "The product of signed integers: its lower and its upper half.",
        example: "%0, %1 = arith.mulsi_extended %a, %b : i32",
        syntax: Some("$lhs, $rhs attr-dict : type($lhs, $rhs, $low, $high)"),
        operands: INTS,
        results: HALVES,
        infer: Infer::Rule(twice),
        traits: TRAITS,
        kind: Kind::Kernel("mulsi_extended"),
        eval: Some(|op, operands| multiply(op, operands, Extension::Sign)),
        ..OpDef::BLANK
    },
    OpDef {
        name: "arith.mului_extended",
        doc: "The product of unsigned integers: its lower and its upper half.",
        example: "%0, %1 = arith.mului_extended %a, %b : i32",
        syntax: Some("$lhs, $rhs attr-dict : type($lhs, $rhs, $low, $high)"),
        operands: INTS,
        results: HALVES,
        infer: Infer::Rule(twice),
        traits: TRAITS,
        kind: Kind::Kernel("mului_extended"),
        eval: Some(|op, operands| multiply(op, operands, Extension::Zero)),
        ..OpDef::BLANK
    },
];

fn twice(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    let ty = *input.operands.first().ok_or("operand 0 is missing")?;
    Ok(vec![ty, ty])
}

fn sum_and_truth(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    let ty = *input.operands.first().ok_or("operand 0 is missing")?;
    Ok(vec![ty, truths(input)?[0]])
}

fn add(op: OpRef<'_>, operands: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let (int, pairs) = numbers(op, operands, Extension::Zero)?;
    let sums = || pairs.iter().map(|(a, b)| a + b);
    let sum = tensor(op, 0, &operands[0], int, sums())?;
    let truth = Elem::BOOL;
    let Elem::Int(truth) = truth else { return Err("`i1` is no integer".into()) };
    Ok(vec![sum, tensor(op, 1, &operands[0], truth, sums().map(|sum| sum >> int.width))?])
}

fn multiply(op: OpRef<'_>, operands: &[Tensor], extension: Extension) -> Result<Vec<Tensor>, EvalError> {
    let (int, pairs) = numbers(op, operands, extension)?;
    let products = || pairs.iter().map(|(a, b)| a.wrapping_mul(*b));
    let low = tensor(op, 0, &operands[0], int, products())?;
    Ok(vec![low, tensor(op, 1, &operands[0], int, products().map(|product| product >> int.width))?])
}

/// The pairs of elements of two operands, as numbers.
fn numbers(
    op: OpRef<'_>,
    operands: &[Tensor],
    extension: Extension,
) -> Result<(IntElem, Vec<(i128, i128)>), EvalError> {
    let Elem::Int(int) = Elem::of(op.ctx, operands[0].ty)? else {
        return Err("is computed on integers".into());
    };
    let int = IntElem { extension, ..int };
    let read = |value: &Tensor| read_all::<i64>(Elem::Int(int), &value.bytes);
    let pairs = read(&operands[0]).into_iter().zip(read(&operands[1]));
    Ok((int, pairs.map(|(a, b)| (int.number(a), int.number(b))).collect()))
}

/// Result `index`, from the lowest bits of these numbers.
fn tensor(
    op: OpRef<'_>,
    index: usize,
    like: &Tensor,
    int: IntElem,
    numbers: impl Iterator<Item = i128>,
) -> Result<Tensor, EvalError> {
    let zeros = IntElem { extension: Extension::Zero, ..int };
    let words = numbers.map(|number| zeros.wrap(number as i64).to_le_bytes());
    let bytes = words.flat_map(|word| word[..Elem::Int(int).bytes()].to_vec()).collect();
    let ty = op.result_type(index);
    match op.ctx.type_data(ty) {
        TypeData::Tensor { .. } => Tensor::of_shape(op.ctx, ty, &like.shape(op.ctx)?, bytes),
        _ => Ok(Tensor::new(op.ctx, ty, bytes)),
    }
}
