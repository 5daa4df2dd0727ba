//! Quantized contractions of `nn`: on 8-bit integers, as in quantized networks.
//!
//! Each integer represents its distance from a zero point. Products are summed as 32-bit integers, which
//! wrap: the sums are exact for fewer than 2^15 products.

use super::LAYOUT;
use super::contract::{GROUPS, TRANSPOSE_B, conv2d_shape, expect_equal, matmul_shape};
use super::window::{DILATIONS, PADS, STRIDES};
use crate::entities::Type;
use crate::interp::nn;
use crate::opdef::{Contract, Infer, InferError, InferInput, Kind, OpDef, OperandDef, Traits, TypeClass};
use crate::types::{Dim, TypeData};

pub(super) static OPS: &[OpDef] = &[
    OpDef {
        name: "nn.quantized_matmul",
        doc: "The product of matrices of 8-bit integers less their zero points, as 32-bit integers; other \
              axes broadcast. `a` has one zero point, `b` one or one per column.",
        example: "%1 = nn.quantized_matmul %a, %b, %az, %bz : (tensor<2x3xui8>, tensor<3x4xi8>, tensor<ui8>, tensor<i8>) -> tensor<2x4xi32>",
        operands: &[
            OperandDef::one("a", TypeClass::IntTensor),
            OperandDef::one("b", TypeClass::IntTensor),
            OperandDef::one("a_zero", TypeClass::IntTensor),
            OperandDef::one("b_zero", TypeClass::IntTensor),
        ],
        results: &[OperandDef::one("result", TypeClass::IntTensor)],
        attrs: &[TRANSPOSE_B],
        infer: Infer::Rule(infer_matmul),
        traits: Traits::PURE,
        kind: Kind::Contract(Contract::QuantizedMatmul),
        eval: Some(nn::quantized_matmul),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.quantized_conv2d",
        doc: "Two-dimensional convolution of 8-bit integers less their zero points, as 32-bit integers; \
              nothing is added for the padding. The input has one zero point, the filter one or one per \
              output channel.",
        example: "%1 = nn.quantized_conv2d %x, %w, %xz, %wz {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x3x8x8xui8>, tensor<4x3x3x3xi8>, tensor<ui8>, tensor<i8>) -> tensor<1x4x8x8xi32>",
        operands: &[
            OperandDef::one("input", TypeClass::IntTensor),
            OperandDef::one("filter", TypeClass::IntTensor),
            OperandDef::one("input_zero", TypeClass::IntTensor),
            OperandDef::one("filter_zero", TypeClass::IntTensor),
        ],
        results: &[OperandDef::one("result", TypeClass::IntTensor)],
        attrs: &[STRIDES, PADS, DILATIONS, GROUPS, LAYOUT],
        infer: Infer::Rule(infer_conv2d),
        traits: Traits::PURE.union(Traits::WINDOW),
        kind: Kind::Contract(Contract::QuantizedConv2d),
        eval: Some(nn::quantized_conv2d),
        ..OpDef::BLANK
    },
];

/// Rejects operands that are not 8-bit integers, and zero points of another type or number.
fn expect_zeros(input: &InferInput<'_>, channels: Dim) -> Result<(), InferError> {
    for (operand, zero) in [(0, 2), (1, 3)] {
        let elem = input.elem(operand)?;
        if !matches!(input.ctx.type_data(elem), TypeData::Integer { width: 8, .. }) {
            return Err("an operand is not of integers of 8 bits".into());
        }
        if input.elem(zero)? != elem {
            return Err("a zero point has another type than what it is of".into());
        }
    }
    if !input.shape(2)?.is_empty() {
        return Err("the first operand has not one zero point".into());
    }
    match *input.shape(3)? {
        [] => Ok(()),
        [size] => {
            expect_equal(input.sizes(), "zero points and channels of the second operand", size, channels)
        }
        _ => Err("the zero points of the second operand are not a tensor of at most one axis".into()),
    }
}

fn infer_matmul(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    let (shape, columns) = matmul_shape(input)?;
    expect_zeros(input, columns)?;
    Ok(vec![input.tensor(shape, input.ctx.int(32))])
}

fn infer_conv2d(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    let (shape, channels) = conv2d_shape(input)?;
    expect_zeros(input, channels)?;
    Ok(vec![input.tensor(shape, input.ctx.int(32))])
}
