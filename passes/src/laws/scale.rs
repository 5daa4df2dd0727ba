//! Laws that fold factors and offsets per channel into the convolution or product that computes the channels.

use ir::Dim;

use super::reshaped;
use crate::constants::dense;
use crate::rewrite::{LawCondition, LawMatch, Matched, Rule, Term, Terms};

/// The laws.
#[rustfmt::skip]
pub(super) static LAWS: &[Rule] = &[
    Rule::computed("batch-norm", "(nn.batch_norm ?x ?scale ?bias ?mean ?variance)",
        "x * k + c, with k = scale / sqrt(variance + epsilon) and c = bias - mean * k for each channel", batch_norm).near(),
    Rule::computed("scaled-conv", "(nn.mul (nn.conv2d ?x $w) $k)",
        "a convolution by w * k", scaled_conv).near().only(&[ALONG_FILTERS]),
    Rule::computed("scaled-conv-with-bias", "(nn.mul (nn.conv2d ?x $w $b) $k)",
        "a convolution by w * k with the bias b * k", scaled_conv).near().only(&[ALONG_FILTERS]),
    Rule::computed("conv-plus-bias", "(nn.add (nn.conv2d ?x $w) $k)",
        "a convolution with the bias k", biased_conv).near().only(&[ALONG_FILTERS]),
    Rule::computed("conv-plus-second-bias", "(nn.add (nn.conv2d ?x $w $b) $k)",
        "a convolution with the bias b + k", biased_conv).near().only(&[ALONG_FILTERS]),
    Rule::computed("scaled-matmul", "(nn.mul (nn.matmul ?x $w) $k)",
        "a product with w * k, where w is one matrix", scaled_matmul).near().only(&[ALONG_COLUMNS]),
    Rule::computed("scaled-matmul-with-bias", "(nn.mul (nn.matmul ?x $w $b) $k)",
        "a product with w * k and the bias b * k, where w is one matrix", scaled_matmul).near().only(&[ALONG_COLUMNS]),
    Rule::computed("matmul-plus-bias", "(nn.add (nn.matmul ?x ?w) $k)",
        "a product with the bias k, where w is one matrix", biased_matmul).near().only(&[ALONG_COLUMNS]),
    Rule::computed("matmul-plus-second-bias", "(nn.add (nn.matmul ?x ?w $b) $k)",
        "a product with the bias b + k, where w is one matrix", biased_matmul).near().only(&[ALONG_COLUMNS]),
];

/// A reshape to these sizes.
fn reshaped_to(terms: &mut dyn Terms<'_>, x: Term, sizes: &[Dim]) -> Option<Term> {
    let sizes = terms.ctx().dims_attr(sizes);
    terms.make("nn.reshape", &[x], &[("shape", sizes)])
}

/// `(x - mean) / sqrt(variance + epsilon) * scale + bias` as `x * k + c`, with `k` and `c` per channel.
fn batch_norm(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    let [x, scale, bias, mean, variance] = found.vars[..] else { return None };
    let op = &found.ops[0];
    let ctx = terms.ctx();
    let axis = terms.input(op).int("axis")? as usize;
    let epsilon = terms.input(op).float("epsilon")?;
    let rank = terms.dims(x)?.len();
    let elem = ctx.elem(terms.ty(variance));
    if elem != ctx.f32() {
        return None;
    }
    let ty = ctx.tensor(&[], elem);
    let epsilon = terms.make_constant(dense(ctx, ty, &(epsilon as f32).to_le_bytes()), ty)?;
    let shifted = terms.make("nn.add", &[variance, epsilon], &[])?;
    let deviation = terms.make("nn.sqrt", &[shifted], &[])?;
    let k = terms.make("nn.div", &[scale, deviation], &[])?;
    let centre = terms.make("nn.mul", &[mean, k], &[])?;
    let c = terms.make("nn.sub", &[bias, centre], &[])?;
    let mut sizes = vec![Dim::Known(1); rank.checked_sub(axis)?];
    *sizes.first_mut()? = *terms.dims(scale)?.first()?;
    let (k, c) = (reshaped_to(terms, k, &sizes)?, reshaped_to(terms, c, &sizes)?);
    let scaled = terms.make("nn.mul", &[x, k], &[])?;
    terms.make("nn.add", &[scaled, c], &[])
}

/// Whether `k`, the last variable, differs along at most one axis, of this size; the axis is counted from the
/// last one as 1. A single number differs along no axis.
pub(super) fn is_along(
    terms: &dyn Terms<'_>,
    found: &LawMatch,
    channel_from_last: usize,
    channels: u64,
) -> bool {
    let Some(sizes) = found.vars.last().and_then(|k| terms.shape(*k)) else { return false };
    let axis = sizes.len().checked_sub(channel_from_last);
    let is_right = |(other, size): (usize, &u64)| *size == if Some(other) == axis { channels } else { 1 };
    sizes.iter().all(|size| *size == 1) || sizes.iter().enumerate().all(is_right)
}

/// `k` as a vector of `channels` numbers, or one number as a tensor without axes.
pub(super) fn per_channel(terms: &mut dyn Terms<'_>, found: &LawMatch, channels: u64) -> Option<Term> {
    let k = *found.vars.last()?;
    let is_one = terms.shape(k)?.iter().all(|size| *size == 1);
    reshaped(terms, k, &[channels][usize::from(is_one)..])
}

/// A factor or offset per output channel can become one per filter.
const ALONG_FILTERS: LawCondition = LawCondition {
    doc: "k differs along the output channels only",
    holds: |terms, found| {
        conv_channels(terms, &found.ops[1]).is_some_and(|(axis, count)| is_along(terms, found, axis, count))
    },
};

/// A factor or offset per column can become one per column of the right matrix.
const ALONG_COLUMNS: LawCondition = LawCondition {
    doc: "k differs along the columns only",
    holds: |terms, found| {
        matmul_columns(terms, &found.ops[1]).is_some_and(|count| is_along(terms, found, 1, count))
    },
};

/// The axis of a convolution's output channels, counted from the last one as 1, and the number of channels.
fn conv_channels(terms: &dyn Terms<'_>, conv: &Matched) -> Option<(usize, u64)> {
    let channels = terms.shape(conv.operands[1])?[0];
    let from_last = terms.input(conv).text("layout")? == "NHWC";
    Some((if from_last { 1 } else { 3 }, channels))
}

/// `conv(x, w, b) * k` as `conv(x, w * k, b * k)`.
fn scaled_conv(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    let conv = &found.ops[1];
    let (_, channels) = conv_channels(terms, conv)?;
    let k = per_channel(terms, found, channels)?;
    let filter_k = match terms.shape(k)?.is_empty() {
        true => k,
        false => reshaped(terms, k, &[channels, 1, 1, 1])?,
    };
    let mut operands = conv.operands.clone();
    operands[1] = terms.make("nn.mul", &[operands[1], filter_k], &[])?;
    if let Some(bias) = operands.get_mut(2) {
        *bias = terms.make("nn.mul", &[*bias, k], &[])?;
    }
    terms.make_like(conv, &operands)
}

/// `conv(x, w, b) + k` as `conv(x, w, b + k)`.
fn biased_conv(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    let (_, channels) = conv_channels(terms, &found.ops[1])?;
    biased(terms, found, channels)
}

/// `a b * k` as `a (b * k)`, with a bias likewise.
fn scaled_matmul(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    let matmul = &found.ops[1];
    let columns = matmul_columns(terms, matmul)?;
    let k = per_channel(terms, found, columns)?;
    let is_transposed = terms.input(matmul).attr("transpose_b").is_some();
    let matrix_k = match terms.shape(k)?.is_empty() || !is_transposed {
        true => k,
        false => reshaped(terms, k, &[columns, 1])?,
    };
    let mut operands = matmul.operands.clone();
    operands[1] = terms.make("nn.mul", &[operands[1], matrix_k], &[])?;
    if let Some(bias) = operands.get_mut(2) {
        *bias = terms.make("nn.mul", &[*bias, k], &[])?;
    }
    terms.make_like(matmul, &operands)
}

/// `a b + k` as a product with a bias.
fn biased_matmul(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    let columns = matmul_columns(terms, &found.ops[1])?;
    biased(terms, found, columns)
}

/// The columns of the right matrix, which must have exactly two axes.
fn matmul_columns(terms: &dyn Terms<'_>, matmul: &Matched) -> Option<u64> {
    let &[rows, columns] = terms.shape(matmul.operands[1])?.as_slice() else { return None };
    let is_transposed = terms.input(matmul).attr("transpose_b").is_some();
    Some(if is_transposed { rows } else { columns })
}

fn biased(terms: &mut dyn Terms<'_>, found: &LawMatch, channels: u64) -> Option<Term> {
    let op = &found.ops[1];
    let mut k = per_channel(terms, found, channels)?;
    if let Some(bias) = op.operands.get(2) {
        k = terms.make("nn.add", &[*bias, k], &[])?;
    } else if terms.shape(k)?.is_empty() {
        let sizes = terms.ctx().ints_attr(&[channels as i64]);
        k = terms.make("nn.broadcast", &[k], &[("shape", sizes)])?;
    }
    terms.make_like(op, &[op.operands[0], op.operands[1], k])
}
