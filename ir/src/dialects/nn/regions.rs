//! `nn`'s row that reads regions of images.

use super::attr;
use crate::body::OpRef;
use crate::dims::SizeArithmetic;
use crate::entities::Type;
use crate::interp::nn;
use crate::opdef::{
    AttrKind, Infer, InferError, InferInput, Kind, OpDef, OperandDef, Presence, Traits, TypeClass,
};
use crate::types::{Dim, FloatKind, TypeData};

/// The largest number of samples of a bin along an axis that an attribute may give.
const MOST_GIVEN_SAMPLES: i64 = 1 << 12;

pub(super) static OPS: &[OpDef] = &[OpDef {
    name: "nn.roi_align",
    doc: "Each box divided into bins, and for each bin the mean, or the largest, of samples of one of the \
          images, which are channels last. A box is its least corner and its size, x before y, in elements \
          of the image. A sample is read from the four elements around it, and is 0 if it is more than an \
          element outside. The run stops for the number of an image that does not exist, and for more than \
          2^20 samples along an axis of a bin.",
    example: "%1 = nn.roi_align %x, %b, %i {bins = array<i64: 2, 2>} : (tensor<1x9x9x4xf32>, \
              tensor<3x4xf32>, tensor<3xi64>) -> tensor<3x2x2x4xf32>",
    operands: &[
        OperandDef::one("x", TypeClass::FloatTensor),
        OperandDef::one("boxes", TypeClass::FloatTensor),
        OperandDef::one("images", TypeClass::IntTensor),
    ],
    results: &[OperandDef::one("result", TypeClass::FloatTensor)],
    attrs: &[
        attr("bins", AttrKind::Sizes, Presence::Required, "The rows and columns of bins."),
        attr(
            "samples",
            AttrKind::Int,
            Presence::DefaultInt(0),
            "Samples along each axis of a bin; at 0 the length of the bin, rounded up.",
        ),
        attr(
            "mode",
            AttrKind::OneOf(&["mean", "max"]),
            Presence::DefaultText("mean"),
            "What is made of the samples; the largest is that of what the four elements add.",
        ),
    ],
    infer: Infer::Rule(infer),
    verify: Some(verify),
    traits: Traits::PURE,
    kind: Kind::Kernel("roi_align"),
    eval: Some(nn::roi_align),
    ..OpDef::BLANK
}];

fn infer(input: &InferInput<'_>) -> Result<Vec<Type>, InferError> {
    let ([.., channels], [count, _], [rows, columns]) =
        (input.shape(0)?, input.shape(1)?, &input.dims("bins")?[..])
    else {
        return Err("the boxes have not two axes, or `bins` is not two sizes".into());
    };
    Ok(vec![input.tensor(vec![*count, *rows, *columns, *channels], input.elem(0)?)])
}

fn verify(op: OpRef<'_>) -> Result<(), String> {
    let shape = |index: usize| op.ctx.type_data(op.operand_type(index)).tensor_shape().unwrap_or(&[]);
    let elem = |index: usize| op.ctx.elem(op.operand_type(index));
    let sizes = SizeArithmetic(op.ctx);
    let (&[_, _, _, _], &[count, corners], &[images]) = (shape(0), shape(1), shape(2)) else {
        return Err("the images have not four axes, the boxes two, and their images' numbers one".to_owned());
    };
    if sizes.are_different(corners, Dim::Known(4)) || sizes.are_different(images, count) {
        let (boxes, images) = (sizes.list(shape(1)), sizes.list(shape(2)));
        return Err(format!("boxes of sizes {boxes}, and numbers of images of {images}"));
    }
    let is_computed = matches!(op.ctx.type_data(elem(0)), TypeData::Float(FloatKind::F32 | FloatKind::F64));
    if !is_computed || elem(0) != elem(1) || elem(2) != op.ctx.int(64) {
        return Err(
            "images and boxes are not both of f32 or f64, or the images' numbers not of i64".to_owned()
        );
    }
    match op.int("samples").unwrap_or(0) {
        0..=MOST_GIVEN_SAMPLES => Ok(()),
        other => Err(format!("`samples` is {other}, expected 0 to {MOST_GIVEN_SAMPLES}")),
    }
}
