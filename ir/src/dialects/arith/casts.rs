//! Casts of `arith`: numbers in another type.

use super::{OPTIONAL_FASTMATH, OVERFLOW, ROUNDING, widths};
use crate::body::OpRef;
use crate::interp::{EvalError, Tensor};
use crate::opdef::{AttrDef, Kind, OpDef, OperandDef, Strided, Traits, TypeClass, View};
use crate::scalar::Scalar;
use crate::types::TypeData;

const X: &Scalar = &Scalar::Arg(0);

type CastLaw = fn(OpRef<'_>) -> Result<(), String>;

const fn row(
    name: &'static str,
    doc: &'static str,
    example: &'static str,
    types: [&'static [OperandDef]; 2],
    verify: Option<CastLaw>,
    tree: &'static Scalar,
) -> OpDef {
    OpDef {
        name,
        doc,
        example,
        syntax: Some("$in attr-dict : type($in) to type($out)"),
        operands: types[0],
        results: types[1],
        verify,
        traits: Traits::PURE.union(Traits::SAME_SHAPE).union(Traits::CAST),
        kind: Kind::Elementwise(tree),
        ..OpDef::BLANK
    }
}

const INT_TO_INT: [&[OperandDef]; 2] = [INT_IN, INT_OUT];
const INDEX_TO_INT: [&[OperandDef]; 2] = [INDEX_IN, INDEX_OUT];
const FLOAT_TO_FLOAT: [&[OperandDef]; 2] = [FLOAT_IN, FLOAT_OUT];
const INT_TO_FLOAT: [&[OperandDef]; 2] = [INT_IN, FLOAT_OUT];
const FLOAT_TO_INT: [&[OperandDef]; 2] = [FLOAT_IN, INT_OUT];
const INT_IN: &[OperandDef] = &[OperandDef::one("in", TypeClass::FixedIntLike)];
const INT_OUT: &[OperandDef] = &[OperandDef::one("out", TypeClass::FixedIntLike)];
const INDEX_IN: &[OperandDef] = &[OperandDef::one("in", TypeClass::IntLike)];
const INDEX_OUT: &[OperandDef] = &[OperandDef::one("out", TypeClass::IntLike)];
const FLOAT_IN: &[OperandDef] = &[OperandDef::one("in", TypeClass::FloatLike)];
const FLOAT_OUT: &[OperandDef] = &[OperandDef::one("out", TypeClass::FloatLike)];

pub(super) static OPS: &[OpDef] = &[
    row(
        "arith.extsi",
        "The signed integer in a wider type.",
        "%0 = arith.extsi %a : i32 to i64",
        INT_TO_INT,
        Some(widens),
        &Scalar::Resize(&Scalar::Signed(X)),
    ),
    row(
        "arith.extui",
        "The unsigned integer in a wider type.",
        "%0 = arith.extui %a : i1 to i32",
        INT_TO_INT,
        Some(widens),
        &Scalar::Resize(&Scalar::Unsigned(X)),
    ),
    OpDef {
        syntax: Some("$in $overflowFlags attr-dict : type($in) to type($out)"),
        attrs: {
            const ATTRS: &[AttrDef] = &[OVERFLOW];
            ATTRS
        },
        ..row(
            "arith.trunci",
            "The lowest bits.",
            "%0 = arith.trunci %a : i32 to i8",
            INT_TO_INT,
            Some(narrows),
            &Scalar::Resize(X),
        )
    },
    OpDef {
        syntax: Some("$in $fastmath attr-dict : type($in) to type($out)"),
        attrs: {
            const ATTRS: &[AttrDef] = &[OPTIONAL_FASTMATH];
            ATTRS
        },
        ..row(
            "arith.extf",
            "The float in a wider type.",
            "%0 = arith.extf %a : f32 to f64",
            FLOAT_TO_FLOAT,
            Some(widens),
            &Scalar::Convert(X),
        )
    },
    OpDef {
        syntax: Some("$in $roundingmode $fastmath attr-dict : type($in) to type($out)"),
        attrs: {
            const ATTRS: &[AttrDef] = &[ROUNDING, OPTIONAL_FASTMATH];
            ATTRS
        },
        ..row(
            "arith.truncf",
            "The nearest float of a narrower type.",
            "%0 = arith.truncf %a : f64 to f32",
            FLOAT_TO_FLOAT,
            Some(narrows),
            {
                const NEAREST: &[Scalar] = &[Scalar::Convert(X)];
                &Scalar::Choose("roundingmode", NEAREST)
            },
        )
    },
    row(
        "arith.sitofp",
        "The signed integer as a float.",
        "%0 = arith.sitofp %a : i32 to f32",
        INT_TO_FLOAT,
        None,
        &Scalar::Convert(&Scalar::Signed(X)),
    ),
    row(
        "arith.uitofp",
        "The unsigned integer as a float.",
        "%0 = arith.uitofp %a : i32 to f32",
        INT_TO_FLOAT,
        None,
        &Scalar::Convert(&Scalar::Unsigned(X)),
    ),
    row(
        "arith.fptosi",
        "The float cut to a signed integer; the nearest that there is, and 0 for NaN.",
        "%0 = arith.fptosi %a : f32 to i32",
        FLOAT_TO_INT,
        None,
        &Scalar::Convert(X),
    ),
    row(
        "arith.fptoui",
        "The float cut to an unsigned integer; the nearest that there is, and 0 for NaN.",
        "%0 = arith.fptoui %a : f32 to i32",
        FLOAT_TO_INT,
        None,
        &Scalar::Resize(&Scalar::ConvertUnsigned(X)),
    ),
    row(
        "arith.index_cast",
        "The signed integer as an `index`, or the other way.",
        "%0 = arith.index_cast %a : i32 to index",
        INDEX_TO_INT,
        Some(has_one_index),
        &Scalar::Resize(&Scalar::Signed(X)),
    ),
    row(
        "arith.index_castui",
        "The unsigned integer as an `index`, or the other way.",
        "%0 = arith.index_castui %a : i32 to index",
        INDEX_TO_INT,
        Some(has_one_index),
        &Scalar::Resize(&Scalar::Unsigned(X)),
    ),
    OpDef {
        name: "arith.bitcast",
        doc: "The same bits as numbers of another type of the same width.",
        example: "%0 = arith.bitcast %a : i32 to f32",
        syntax: Some("$in attr-dict : type($in) to type($out)"),
        operands: &[OperandDef::one("in", TypeClass::NumberLike)],
        results: &[OperandDef::one("out", TypeClass::NumberLike)],
        verify: Some(keeps_width),
        traits: Traits::PURE.union(Traits::SAME_SHAPE).union(Traits::SAME_ORDER),
        kind: Kind::View(View::OfOperand(same_layout)),
        eval: Some(bitcast),
        ..OpDef::BLANK
    },
];

fn widens(op: OpRef<'_>) -> Result<(), String> {
    match widths(op) {
        Some((from, to)) if from >= to => Err(format!("{to} bits are not more than {from}")),
        _ => Ok(()),
    }
}

fn narrows(op: OpRef<'_>) -> Result<(), String> {
    match widths(op) {
        Some((from, to)) if from <= to => Err(format!("{to} bits are not fewer than {from}")),
        _ => Ok(()),
    }
}

fn keeps_width(op: OpRef<'_>) -> Result<(), String> {
    match widths(op) {
        Some((from, to)) if from != to => Err(format!("{to} bits can't be those of {from}")),
        _ => Ok(()),
    }
}

fn has_one_index(op: OpRef<'_>) -> Result<(), String> {
    let is_index = |ty| matches!(op.ctx.type_data(op.ctx.elem(ty)), TypeData::Index);
    if is_index(op.operand_type(0)) != is_index(op.result_type(0)) {
        Ok(())
    } else {
        Err("one of the types is `index`, and the other is not".to_owned())
    }
}

fn same_layout(_: OpRef<'_>, _: usize, layout: &Strided) -> Option<Strided> {
    Some(layout.clone())
}

fn bitcast(op: OpRef<'_>, operands: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let shape = operands[0].shape(op.ctx)?;
    Ok(vec![Tensor::of_shape(op.ctx, op.result_type(0), &shape, operands[0].bytes.to_vec())?])
}
