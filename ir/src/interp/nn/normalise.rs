//! Softmax and normalisation of channels.

use super::reduce::{ACCUMULATORS, Accumulators};
use super::{Operand, axis_below};
use crate::body::OpRef;
use crate::interp::element::{Lane, LaneKind, read_all, write_all};
use crate::interp::tensor::{EvalError, Tensor};
use crate::interp::vector::vectorised;
use crate::opdef::Reduce;
use ::math;

/// Lanes of real numbers.
trait Real: Lane {
    fn exp(self) -> Self;
    fn sqrt(self) -> Self;
    fn minus(self, b: Self) -> Self;
    fn divided(self, b: Self) -> Self;
    fn to_f64(self) -> f64;
}

impl Real for f32 {
    #[inline(always)]
    fn exp(self) -> f32 {
        math::exp(self)
    }
    fn sqrt(self) -> f32 {
        f32::sqrt(self)
    }
    #[inline(always)]
    fn minus(self, b: f32) -> f32 {
        self - b
    }
    #[inline(always)]
    fn divided(self, b: f32) -> f32 {
        self / b
    }
    fn to_f64(self) -> f64 {
        self.into()
    }
}

impl Real for f64 {
    #[inline(always)]
    fn exp(self) -> f64 {
        libm::exp(self)
    }
    fn sqrt(self) -> f64 {
        f64::sqrt(self)
    }
    #[inline(always)]
    fn minus(self, b: f64) -> f64 {
        self - b
    }
    #[inline(always)]
    fn divided(self, b: f64) -> f64 {
        self / b
    }
    fn to_f64(self) -> f64 {
        self
    }
}

/// Softmax along attribute `axis`: `e^(x - max)` divided by the sum of these. The maximum and the sum are
/// folded in the order of [`reduce`](super::reduce()).
///
/// # Errors
/// If the operand has no such axis, or its elements are not floats.
pub fn softmax(op: OpRef<'_>, operands: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let operand = Operand::of(op, operands, 0)?;
    let axis = axis_below(op, operand.shape.len())?;
    let bytes = match operand.elem.lane() {
        LaneKind::F32 => softmax_lanes::<f32>(&operand, axis),
        LaneKind::F64 => softmax_lanes::<f64>(&operand, axis),
        LaneKind::Int => return Err("softmax is not defined on integers".into()),
    };
    Ok(vec![Tensor::of_shape(op.ctx, op.result_type(0), &operand.shape, bytes)?])
}

fn softmax_lanes<L: Real>(operand: &Operand<'_>, axis: usize) -> Vec<u8> {
    let mut lanes = read_all::<L>(operand.elem, operand.bytes);
    let size = operand.shape[axis];
    let inner: usize = operand.shape[axis + 1..].iter().product();
    let accumulators = if inner == 1 { ACCUMULATORS } else { 1 };
    let mut row = vec![L::default(); size];
    for first in 0..lanes.len().checked_div(size).unwrap_or(0) {
        let start = first / inner * size * inner + first % inner;
        (0..size).for_each(|i| row[i] = lanes[start + i * inner]);
        softmax_row(&mut row, accumulators);
        (0..size).for_each(|i| lanes[start + i * inner] = row[i]);
    }
    write_all(operand.elem, &lanes)
}

fn softmax_row<L: Real>(row: &mut [L], accumulators: usize) {
    let fold = |kind: Reduce, row: &[L]| {
        let mut folded = Accumulators::new(kind, accumulators);
        row.iter().for_each(|x| folded.take(*x));
        folded.finish()
    };
    let largest = fold(Reduce::Max, row);
    vectorised(
        #[inline(always)]
        || row.iter_mut().for_each(|x| *x = x.minus(largest).exp()),
    );
    let sum = fold(Reduce::Sum, row);
    row.iter_mut().for_each(|x| *x = x.divided(sum));
}

/// Per channel (attribute `axis`): `(x - mean) * (scale / sqrt(variance + epsilon)) + bias`, the last two
/// steps one fused multiply-add. Operands: x, scale, bias, mean, variance.
///
/// # Errors
/// If an operand does not have one number for each channel, or the elements are not floats.
pub fn batch_norm(op: OpRef<'_>, operands: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let x = Operand::of(op, operands, 0)?;
    let axis = axis_below(op, x.shape.len())?;
    let epsilon = op.float("epsilon").ok_or("lacks `epsilon`")?;
    let mut channels = Vec::new();
    for index in 1..5 {
        let operand = Operand::like(op, operands, index, x.elem)?;
        if operand.shape != [x.shape[axis]] {
            return Err(format!("operand {index} has not one number for each channel").into());
        }
        channels.push(operand);
    }
    let bytes = match x.elem.lane() {
        LaneKind::F32 => batch_norm_lanes::<f32>(&x, &channels, axis, epsilon),
        LaneKind::F64 => batch_norm_lanes::<f64>(&x, &channels, axis, epsilon),
        LaneKind::Int => return Err("batch_norm is not defined on integers".into()),
    };
    Ok(vec![Tensor::of_shape(op.ctx, op.result_type(0), &x.shape, bytes)?])
}

fn batch_norm_lanes<L: Real>(
    x: &Operand<'_>,
    channels: &[Operand<'_>],
    axis: usize,
    epsilon: f64,
) -> Vec<u8> {
    let mut lanes = read_all::<L>(x.elem, x.bytes);
    let numbers: Vec<Vec<L>> = channels.iter().map(|channel| read_all(channel.elem, channel.bytes)).collect();
    let [scale, bias, mean, variance] = [0, 1, 2, 3].map(|index| &numbers[index]);
    let run: usize = x.shape[axis + 1..].iter().product();
    for (number, run) in lanes.chunks_exact_mut(run.max(1)).enumerate() {
        let channel = number % x.shape[axis];
        let deviation = variance[channel].plus(L::from_f64(epsilon)).sqrt();
        let factor = scale[channel].divided(deviation);
        vectorised(
            #[inline(always)]
            || run.iter_mut().for_each(|x| *x = x.minus(mean[channel]).fma(factor, bias[channel])),
        );
    }
    write_all(x.elem, &lanes)
}

/// Per channel (attribute `axis`): `(x - mean) * (scale / sqrt(variance + epsilon)) + bias`, the last two
/// steps one fused multiply-add. Mean and variance are taken over the elements that differ only in `axes` and
/// in the channels of one of `groups` groups, summed in `f64`; with `about_zero` the mean is 0. Operands: x,
/// scale, bias.
///
/// # Errors
/// If an operand does not have one number for each channel, or the elements are not floats.
pub fn group_norm(op: OpRef<'_>, operands: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let x = Operand::of(op, operands, 0)?;
    let axis = axis_below(op, x.shape.len())?;
    let axes = op.ints("axes").ok_or("lacks `axes`")?;
    let groups = op.int("groups").and_then(|groups| usize::try_from(groups).ok());
    let channels = x.shape[axis];
    let size = channels.checked_div(groups.ok_or("`groups` is not at least 0")?).unwrap_or(1);
    let mut numbers = Vec::new();
    for index in 1..3 {
        let operand = Operand::like(op, operands, index, x.elem)?;
        if operand.shape != [channels] {
            return Err(format!("operand {index} has not one number for each channel").into());
        }
        numbers.push(operand);
    }
    let folded = (0..x.shape.len()).map(|axis| axes.contains(&(axis as i64))).collect();
    let is_about_zero = op.attr("about_zero").is_some();
    let groups = Groups { shape: x.shape.to_vec(), axis, folded, size: size.max(1), is_about_zero };
    let epsilon = op.float("epsilon").ok_or("lacks `epsilon`")?;
    let bytes = match x.elem.lane() {
        LaneKind::F32 => group_norm_lanes::<f32>(&x, &numbers, &groups, epsilon),
        LaneKind::F64 => group_norm_lanes::<f64>(&x, &numbers, &groups, epsilon),
        LaneKind::Int => return Err("group_norm is not defined on integers".into()),
    };
    Ok(vec![Tensor::of_shape(op.ctx, op.result_type(0), &x.shape, bytes)?])
}

/// The groups of elements that share a mean and a variance.
struct Groups {
    shape: Vec<usize>,
    /// The channel axis.
    axis: usize,
    /// Whether elements that differ in an axis belong to the same group.
    folded: Vec<bool>,
    /// Channels of a group.
    size: usize,
    /// Whether no mean is subtracted.
    is_about_zero: bool,
}

impl Groups {
    /// The group and the channel of an element.
    fn of(&self, index: usize) -> (usize, usize) {
        let mut rest = index;
        let mut group = 0;
        let mut scale = 1;
        let mut channel = 0;
        for axis in (0..self.shape.len()).rev() {
            let (at, size) = (rest % self.shape[axis], self.shape[axis]);
            rest /= size;
            if axis == self.axis {
                channel = at;
                group += at / self.size * scale;
                scale *= size / self.size;
            } else if !self.folded[axis] {
                group += at * scale;
                scale *= size;
            }
        }
        (group, channel)
    }
}

fn group_norm_lanes<L: Real>(
    x: &Operand<'_>,
    numbers: &[Operand<'_>],
    groups: &Groups,
    epsilon: f64,
) -> Vec<u8> {
    let mut lanes = read_all::<L>(x.elem, x.bytes);
    let [scale, bias] = [0, 1].map(|index| read_all::<L>(numbers[index].elem, numbers[index].bytes));
    // Groups are numbered from 0, so there are at most as many as elements.
    let mut means = vec![(0.0, 0usize); lanes.len()];
    for (index, x) in lanes.iter().enumerate() {
        let (sum, count) = &mut means[groups.of(index).0];
        (*sum, *count) = (*sum + x.to_f64(), *count + 1);
    }
    means.iter_mut().for_each(|(sum, count)| *sum /= *count as f64);
    if groups.is_about_zero {
        means.iter_mut().for_each(|(mean, _)| *mean = 0.0);
    }
    let mut squares = vec![0.0; lanes.len()];
    for (index, x) in lanes.iter().enumerate() {
        let group = groups.of(index).0;
        squares[group] += (x.to_f64() - means[group].0).powi(2);
    }
    for (index, x) in lanes.iter_mut().enumerate() {
        let (group, channel) = groups.of(index);
        let (mean, count) = means[group];
        let factor = scale[channel].to_f64() / (squares[group] / count as f64 + epsilon).sqrt();
        *x = x.minus(L::from_f64(mean)).fma(L::from_f64(factor), bias[channel]);
    }
    write_all(x.elem, &lanes)
}
