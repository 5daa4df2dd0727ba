//! Reductions, and the order in which they fold elements.
//!
//! A result folds its elements in row-major order of the folded axes. If these include the operand's last
//! axis (of more than one element), element `k` goes to accumulator `k mod 16`. In the end accumulators `i`
//! and `i + 8` are folded, then `i + 4`, `i + 2`, `i + 1`: vector registers can follow this order without
//! changing a bit. Otherwise vectors run across results, and one accumulator takes every element. A maximum
//! is computed as `x > acc ? x : acc`, so NaN never wins. A mean is the sum divided by the count; a sum of
//! squares takes one fused multiply-add per element.

use super::{Operand, by_lane, row_major};
use crate::body::OpRef;
use crate::interp::element::{Elem, Extension, IntElem, Lane, read_all, write_all};
use crate::interp::tensor::{EvalError, Tensor};
use crate::opdef::{Kind, Reduce};

/// Accumulators of a fold along the last axis.
pub(super) const ACCUMULATORS: usize = 16;

/// Folds the axes in attribute `axes` by the function of the operation's kind; with `keepdims`, they stay
/// with size 1.
///
/// # Errors
/// If an axis is not one of the operand's.
pub fn reduce(op: OpRef<'_>, operands: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let Kind::Reduce(kind) = op.kind() else { return Err("is no reduction".into()) };
    let operand = Operand::of(op, operands, 0)?;
    let rank = operand.shape.len();
    let axes = op.ints("axes").ok_or("lacks `axes`")?;
    if axes.iter().any(|axis| !(0..rank as i64).contains(axis)) {
        return Err(format!("`axes` are {axes:?}, not below {rank}").into());
    }
    let fold = FoldedAxes::of(kind, &operand.shape, &axes);
    let is_long = matches!(operand.elem, Elem::Int(IntElem { width: 64, extension: Extension::Zero }));
    let bytes = match kind {
        Reduce::Mean if is_long => return Err("is no mean of 64-bit unsigned integers".into()),
        Reduce::Max | Reduce::Min if is_long => {
            let elem = operand.elem.extended(Extension::Sign);
            let bytes = ordered(operand.bytes);
            ordered(&run::<i64>(&fold, &Operand { elem, shape: operand.shape.clone(), bytes: &bytes }))
        }
        _ => by_lane!(operand.elem, run(&fold, &operand)),
    };
    let keeps = op.attr("keepdims").is_some();
    let sizes = operand.shape.iter().enumerate().filter_map(|(axis, &size)| {
        let is_folded = axes.contains(&(axis as i64));
        if is_folded { keeps.then_some(1) } else { Some(size) }
    });
    let shape: Vec<usize> = sizes.collect();
    Ok(vec![Tensor::of_shape(op.ctx, op.result_type(0), &shape, bytes)?])
}

/// 64-bit integers with their highest bits flipped: unsigned ones are then ordered like signed ones, and vice
/// versa.
pub(super) fn ordered(bytes: &[u8]) -> Vec<u8> {
    let flip = |(at, byte): (usize, &u8)| if at % 8 == 7 { byte ^ 0x80 } else { *byte };
    bytes.iter().enumerate().map(flip).collect()
}

/// The sizes and strides of the remaining axes and of the folded ones.
struct FoldedAxes {
    kind: Reduce,
    kept: Vec<(usize, usize)>,
    folded: Vec<(usize, usize)>,
    accumulators: usize,
}

impl FoldedAxes {
    fn of(kind: Reduce, shape: &[usize], axes: &[i64]) -> FoldedAxes {
        let strides = row_major(shape);
        let is_folded = |axis: usize| axes.contains(&(axis as i64));
        let pick = |wanted: bool| {
            let picked = (0..shape.len()).filter(move |axis| is_folded(*axis) == wanted);
            picked.map(|axis| (shape[axis], strides[axis] as usize)).collect::<Vec<_>>()
        };
        let last = (0..shape.len()).rev().find(|axis| shape[*axis] != 1);
        let accumulators = if last.is_some_and(is_folded) { ACCUMULATORS } else { 1 };
        FoldedAxes { kind, kept: pick(false), folded: pick(true), accumulators }
    }
}

/// The offset of element `number` of the axes.
fn offset(axes: &[(usize, usize)], mut number: usize) -> usize {
    let mut offset = 0;
    for (size, stride) in axes.iter().rev() {
        offset += number % size * stride;
        number /= size;
    }
    offset
}

fn run<L: Lane>(fold: &FoldedAxes, operand: &Operand<'_>) -> Vec<u8> {
    let lanes = read_all::<L>(operand.elem, operand.bytes);
    let size = |axes: &[(usize, usize)]| axes.iter().map(|axis| axis.0).product::<usize>();
    let count = size(&fold.folded);
    let (outer, inner) = match fold.folded.split_last() {
        Some((inner, outer)) => (outer, *inner),
        None => (&fold.folded[..], (1, 1)),
    };
    let mut out = Vec::with_capacity(size(&fold.kept));
    for number in 0..size(&fold.kept) {
        let start = offset(&fold.kept, number);
        let mut sums = Accumulators::new(fold.kind, fold.accumulators);
        for run in 0..if count == 0 { 0 } else { size(outer) } {
            let start = start + offset(outer, run);
            (0..inner.0).for_each(|i| sums.take(lanes[start + i * inner.1]));
        }
        let sum = sums.finish();
        out.push(match (fold.kind, operand.elem) {
            (Reduce::Mean, _) => sum.over(count),
            // The maximum of no elements is the least number of the type, and vice versa.
            (Reduce::Max, Elem::Int(int)) if count == 0 => L::from_int(int.range().0),
            (Reduce::Min, Elem::Int(int)) if count == 0 => L::from_int(int.range().1),
            _ => sum,
        });
    }
    write_all(operand.elem, &out)
}

/// A fold in progress.
pub(super) struct Accumulators<L> {
    kind: Reduce,
    sums: [L; ACCUMULATORS],
    count: usize,
    next: usize,
}

/// Whether a number is NaN.
fn is_nan<L: Lane>(x: L) -> bool {
    x.partial_cmp(&x).is_none()
}

/// The larger of a number and the largest so far; NaN after the first NaN.
pub(super) fn larger<L: Lane>(x: L, largest: L) -> L {
    if x > largest || is_nan(x) { x } else { largest }
}

impl<L: Lane> Accumulators<L> {
    pub(super) fn new(kind: Reduce, count: usize) -> Accumulators<L> {
        let start = match kind {
            Reduce::Sum | Reduce::Mean | Reduce::SumSquare => L::default(),
            Reduce::Prod => L::from_f64(1.0),
            Reduce::Max => L::extremes().0,
            Reduce::Min => L::extremes().1,
        };
        Accumulators { kind, sums: [start; ACCUMULATORS], count, next: 0 }
    }

    pub(super) fn take(&mut self, x: L) {
        let sum = self.sums[self.next];
        self.sums[self.next] = if self.kind == Reduce::SumSquare { x.fma(x, sum) } else { self.join(x, sum) };
        self.next = (self.next + 1) % self.count;
    }

    fn join(&self, x: L, sum: L) -> L {
        match self.kind {
            Reduce::Sum | Reduce::Mean | Reduce::SumSquare => sum.plus(x),
            Reduce::Prod => sum.times(x),
            Reduce::Max => larger(x, sum),
            Reduce::Min if x < sum || is_nan(x) => x,
            Reduce::Min => sum,
        }
    }

    pub(super) fn finish(mut self) -> L {
        let mut half = self.count / 2;
        while half > 0 {
            for i in 0..half {
                self.sums[i] = self.join(self.sums[i + half], self.sums[i]);
            }
            half /= 2;
        }
        self.sums[0]
    }
}
