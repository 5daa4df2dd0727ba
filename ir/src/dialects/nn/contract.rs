//! `nn`'s contractions: convolution and matrix product.

use super::window::{DILATIONS, PADS, STRIDES, infer_window, slide};
use super::{LAYOUT, attr};
use crate::dims::SizeArithmetic;
use crate::entities::Type;
use crate::interp::nn::{self, Side};
use crate::opdef::{
    AttrDef, AttrKind, Contract, Infer, InferError, InferInput, Kind, OpDef, OperandDef, Presence, Traits,
    TypeClass,
};
use crate::types::Dim;

pub(super) const GROUPS: AttrDef =
    attr("groups", AttrKind::Int, Presence::DefaultInt(1), "Into how many groups the channels fall.");
const TRANSPOSE_A: AttrDef =
    attr("transpose_a", AttrKind::Unit, Presence::Optional, "If there, `a`'s last two axes are swapped.");
pub(super) const TRANSPOSE_B: AttrDef =
    attr("transpose_b", AttrKind::Unit, Presence::Optional, "If there, `b`'s last two axes are swapped.");

pub(super) static OPS: &[OpDef] = &[
    OpDef {
        name: "nn.conv2d",
        doc: "Two-dimensional convolution: sums over a window and the channels of a group, plus a bias per channel. \
              The filter's axes are output channel, input channel of the group, row, column, whatever `layout` says.",
        example: "%1 = nn.conv2d %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32>",
        operands: &[
            OperandDef::one("input", TypeClass::FloatTensor),
            OperandDef::one("filter", TypeClass::FloatTensor),
            OperandDef::optional("bias", TypeClass::FloatTensor),
        ],
        results: &[OperandDef::one("result", TypeClass::FloatTensor)],
        attrs: &[STRIDES, PADS, DILATIONS, GROUPS, LAYOUT],
        infer: Infer::Rule(infer_conv2d),
        traits: Traits::PURE.union(Traits::WINDOW),
        kind: Kind::Contract(Contract::Conv2d),
        eval: Some(nn::conv2d),
        ..OpDef::BLANK
    },
    OpDef {
        name: "nn.matmul",
        doc: "The product of matrices in the last two axes, plus a bias per column; other axes broadcast. \
              An operand of one axis is a row (left) or a column (right).",
        example: "%1 = nn.matmul %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>",
        operands: &[
            OperandDef::one("a", TypeClass::Tensor),
            OperandDef::one("b", TypeClass::Tensor),
            OperandDef::optional("bias", TypeClass::Tensor),
        ],
        results: &[OperandDef::one("result", TypeClass::Tensor)],
        attrs: &[TRANSPOSE_A, TRANSPOSE_B],
        infer: Infer::Rule(infer_matmul),
        traits: Traits::PURE,
        kind: Kind::Contract(Contract::Matmul),
        eval: Some(nn::matmul),
        ..OpDef::BLANK
    },
];

/// Rejects two sizes that are known to differ.
pub(super) fn expect_equal(sizes: SizeArithmetic<'_>, what: &str, a: Dim, b: Dim) -> Result<(), InferError> {
    if sizes.are_different(a, b) {
        Err(format!("{what}: {} and {} differ", sizes.text(a), sizes.text(b)).into())
    } else {
        Ok(())
    }
}

fn expect_bias(input: &InferInput<'_>, channels: Dim) -> Result<(), InferError> {
    if input.operands.len() < 3 {
        return Ok(());
    }
    if input.elem(2)? != input.elem(0)? {
        return Err("the bias differs in element type from the other operands".into());
    }
    let &[size] = input.shape(2)? else { return Err("the bias is not a tensor of one axis".into()) };
    expect_equal(input.sizes(), "sizes of bias and result channels", size, channels)
}

fn infer_conv2d(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    let (shape, out_channels) = conv2d_shape(input)?;
    if input.elem(0)? != input.elem(1)? {
        return Err("input and filter differ in element type".into());
    }
    expect_bias(input, out_channels)?;
    Ok(vec![input.tensor(shape, input.elem(0)?)])
}

/// The sizes of a convolution's result, and the number of its channels.
pub(super) fn conv2d_shape(input: &InferInput<'_>) -> Result<(Vec<Dim>, Dim), InferError> {
    let &[out_channels, group_channels, kernel_height, kernel_width] = input.shape(1)? else {
        return Err("the filter has not 4 axes".into());
    };
    let (Dim::Known(height), Dim::Known(width)) = (kernel_height, kernel_width) else {
        return Err("the filter's rows and columns are not known".into());
    };
    let window = infer_window(input, &[height as i64, width as i64])?;
    let groups = input.int("groups").unwrap_or(1);
    let groups = u64::try_from(groups).ok().filter(|groups| *groups > 0);
    let groups = groups.ok_or("`groups` is not a positive number")?;
    let image = input.shape(0)?;
    let channel_axis = if input.text("layout") == Some("NHWC") { 3 } else { 1 };
    let channels = *image.get(channel_axis).ok_or("the input has not 4 axes")?;
    if let Dim::Known(group_channels) = group_channels {
        expect_equal(
            input.sizes(),
            "channels of input and filter",
            channels,
            Dim::Known(group_channels.saturating_mul(groups)),
        )?;
    }
    if out_channels.known().is_some_and(|count| count % groups != 0) {
        return Err(format!("{groups} groups do not divide the filter's output channels").into());
    }
    Ok((slide(input, &window, out_channels)?, out_channels))
}

fn infer_matmul(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    if input.elem(0)? != input.elem(1)? {
        return Err("the operands differ in element type".into());
    }
    let (shape, columns) = matmul_shape(input)?;
    expect_bias(input, columns)?;
    Ok(vec![input.tensor(shape, input.elem(0)?)])
}

/// The sizes of a product's result, and the number of its columns.
pub(super) fn matmul_shape(input: &InferInput<'_>) -> Result<(Vec<Dim>, Dim), InferError> {
    let (a, b) = (input.shape(0)?, input.shape(1)?);
    if a.is_empty() || b.is_empty() {
        return Err("a tensor without axes is no matrix".into());
    }
    let (a_matrix, a_batch) = matrix(a, Side::Left, input.attr("transpose_a").is_some().into());
    let (b_matrix, b_batch) = matrix(b, Side::Right, input.attr("transpose_b").is_some().into());
    expect_equal(
        input.sizes(),
        "columns of the left matrix and rows of the right",
        a_matrix[1],
        b_matrix[0],
    )?;
    let mut shape = super::broadcast::broadcast_shapes(input.sizes(), &[a_batch, b_batch])?;
    shape.extend((a.len() > 1).then_some(a_matrix[0]));
    shape.extend((b.len() > 1).then_some(b_matrix[1]));
    Ok((shape, b_matrix[1]))
}

#[derive(PartialEq)]
enum Transposed {
    No,
    Yes,
}

impl From<bool> for Transposed {
    fn from(yes: bool) -> Self {
        if yes { Transposed::Yes } else { Transposed::No }
    }
}

/// Rows and columns of an operand, and its leading axes.
fn matrix(shape: &[Dim], side: Side, transposed: Transposed) -> ([Dim; 2], &[Dim]) {
    let one = Dim::Known(1);
    match (shape, side) {
        (&[size], Side::Left) => ([one, size], &[]),
        (&[size], Side::Right) => ([size, one], &[]),
        (shape, _) => {
            let (batch, matrix) = shape.split_at(shape.len() - 2);
            match transposed {
                Transposed::No => ([matrix[0], matrix[1]], batch),
                Transposed::Yes => ([matrix[1], matrix[0]], batch),
            }
        }
    }
}
