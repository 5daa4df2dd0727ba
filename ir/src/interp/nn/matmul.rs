//! Matrix products.
//!
//! Each sum starts at the bias (or 0) and takes one fused multiply-add per term, in the order of the shared
//! axis.

use super::tile::{COLUMNS, ROWS, RowTile, multiply_add, swap_last_axes};
use super::{Operand, by_lane};
use crate::body::OpRef;
use crate::interp::element::{Elem, Lane, read_all, write_all};
use crate::interp::tensor::{EvalError, Tensor};
use crate::interp::vector::vectorised;

/// The product of the matrices in the last two axes of operands 0 and 1, plus operand 2 for each column.
/// Attributes `transpose_a` and `transpose_b` transpose the operands. Other axes broadcast. An operand of one
/// axis is a row (left) or a column (right), and this axis is not in the result.
///
/// # Errors
/// If sizes do not fit.
pub fn matmul(op: OpRef<'_>, operands: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let a = MatmulOperand::of(op, Operand::of(op, operands, 0)?, Side::Left)?;
    let b = MatmulOperand::of(op, Operand::of(op, operands, 1)?, Side::Right)?;
    if a.columns != b.rows || a.elem != b.elem {
        return Err(format!("{} columns do not meet {} rows", a.columns, b.rows).into());
    }
    let bias = (operands.len() > 2).then(|| Operand::like(op, operands, 2, a.elem)).transpose()?;
    if bias.as_ref().is_some_and(|bias| bias.shape != [b.columns]) {
        return Err("the bias has not one number for each column".into());
    }
    let batch = broadcast_batch(&a.batch, &b.batch)?;
    let bytes = by_lane!(a.elem, run(&a, &b, bias.as_ref(), &batch));
    Ok(vec![Tensor::of_shape(op.ctx, op.result_type(0), &result_shape(&a, &b, batch), bytes)?])
}

/// The product of the integer matrices in operands 0 and 1, minus the zero points in operands 2 and 3.
///
/// # Errors
/// If sizes do not fit.
pub fn quantized_matmul(op: OpRef<'_>, operands: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let a = MatmulOperand::of(op, Operand::of(op, operands, 0)?, Side::Left)?;
    let b = MatmulOperand::of(op, Operand::of(op, operands, 1)?, Side::Right)?;
    if a.columns != b.rows {
        return Err(format!("{} columns do not meet {} rows", a.columns, b.rows).into());
    }
    let batch = broadcast_batch(&a.batch, &b.batch)?;
    let (mut left, mut right) = (a.read::<i64>(), b.read::<i64>());
    less(&mut left, &zeros(op, operands, 2, 1)?);
    less(&mut right, &zeros(op, operands, 3, b.columns)?);
    let out = products(&a, &b, [&left, &right], &vec![0; b.columns], &batch);
    let bytes = write_all(Elem::of(op.ctx, op.result_type(0))?, &out);
    Ok(vec![Tensor::of_shape(op.ctx, op.result_type(0), &result_shape(&a, &b, batch), bytes)?])
}

/// The zero points in an operand, of which there are one or `count`.
pub(super) fn zeros(
    op: OpRef<'_>,
    operands: &[Tensor],
    index: usize,
    count: usize,
) -> Result<Vec<i64>, EvalError> {
    let zero = Operand::of(op, operands, index)?;
    let zeros = read_all(zero.elem, zero.bytes);
    match zeros.len() == 1 || zeros.len() == count {
        true => Ok(zeros),
        false => Err(format!("operand {index} has not one zero point, or {count}").into()),
    }
}

/// Subtracts the zero points from each row of the same length, or a single one from all numbers.
pub(super) fn less(numbers: &mut [i64], zeros: &[i64]) {
    for row in numbers.chunks_mut(zeros.len().max(1)) {
        row.iter_mut().zip(zeros).for_each(|(number, zero)| *number -= zero);
    }
}

/// The sizes of a product's result, given all but the last two.
fn result_shape(a: &MatmulOperand<'_>, b: &MatmulOperand<'_>, mut batch: Vec<usize>) -> Vec<usize> {
    batch.extend((!a.is_vector).then_some(a.rows));
    batch.extend((!b.is_vector).then_some(b.columns));
    batch
}

/// The side of an operand of a product.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// The first one; without a second axis it is a row.
    Left,
    /// The second one; without a second axis it is a column.
    Right,
}

struct MatmulOperand<'a> {
    elem: Elem,
    bytes: &'a [u8],
    batch: Vec<usize>,
    rows: usize,
    columns: usize,
    is_transposed: bool,
    is_vector: bool,
}

impl<'a> MatmulOperand<'a> {
    fn of(op: OpRef<'_>, from: Operand<'a>, side: Side) -> Result<MatmulOperand<'a>, EvalError> {
        let is_transposed = match side {
            Side::Left => op.attr("transpose_a").is_some(),
            Side::Right => op.attr("transpose_b").is_some(),
        };
        let (batch, rows, columns, is_transposed) = match (from.shape.as_slice(), side) {
            ([], _) => return Err("a tensor without axes is no matrix".into()),
            (&[size], Side::Left) => (Vec::new(), 1, size, false),
            (&[size], Side::Right) => (Vec::new(), size, 1, false),
            ([batch @ .., columns, rows], _) if is_transposed => (batch.to_vec(), *rows, *columns, true),
            ([batch @ .., rows, columns], _) => (batch.to_vec(), *rows, *columns, false),
        };
        let is_vector = from.shape.len() == 1;
        Ok(MatmulOperand {
            elem: from.elem,
            bytes: from.bytes,
            batch,
            rows,
            columns,
            is_transposed,
            is_vector,
        })
    }

    fn read<L: Lane>(&self) -> Vec<L> {
        let lanes = read_all(self.elem, self.bytes);
        if self.is_transposed { swap_last_axes(&lanes, self.columns, self.rows) } else { lanes }
    }

    /// The index of the operand's matrix for matrix `index` of the result.
    fn matrix_at(&self, index: usize, batch: &[usize]) -> usize {
        let mut rest = index;
        let mut number = 0;
        let mut stride = 1;
        for (axis, size) in batch.iter().enumerate().rev() {
            let position = rest % size;
            rest /= size;
            let Some(own) = (axis + self.batch.len()).checked_sub(batch.len()) else { continue };
            number += if self.batch[own] == 1 { 0 } else { position * stride };
            stride *= self.batch[own];
        }
        number
    }
}

fn broadcast_batch(a: &[usize], b: &[usize]) -> Result<Vec<usize>, EvalError> {
    let rank = a.len().max(b.len());
    let size =
        |shape: &[usize], axis: usize| (axis + shape.len()).checked_sub(rank).map_or(1, |axis| shape[axis]);
    let sizes = (0..rank).map(|axis| match (size(a, axis), size(b, axis)) {
        (a, b) if a == b || b == 1 => Ok(a),
        (1, b) => Ok(b),
        (a, b) => Err(EvalError(format!("batch sizes {a} and {b} do not broadcast"))),
    });
    sizes.collect()
}

fn run<L: Lane>(
    a: &MatmulOperand<'_>,
    b: &MatmulOperand<'_>,
    bias: Option<&Operand<'_>>,
    batch: &[usize],
) -> Vec<u8> {
    let (left, right) = (a.read::<L>(), b.read::<L>());
    let row = match bias {
        Some(bias) => read_all(bias.elem, bias.bytes),
        None => vec![L::default(); b.columns],
    };
    write_all(a.elem, &products(a, b, [&left, &right], &row, batch))
}

/// The products of matrices with these elements; each row's sums begin with `row`.
fn products<L: Lane>(
    a: &MatmulOperand<'_>,
    b: &MatmulOperand<'_>,
    [left, right]: [&[L]; 2],
    row: &[L],
    batch: &[usize],
) -> Vec<L> {
    let count: usize = batch.iter().product();
    let mut out = row.repeat(count * a.rows);
    let (left_size, right_size, out_size) = (a.rows * a.columns, b.rows * b.columns, a.rows * b.columns);
    for index in 0..count {
        let left = &left[a.matrix_at(index, batch) * left_size..][..left_size];
        let right = &right[b.matrix_at(index, batch) * right_size..][..right_size];
        let out = &mut out[index * out_size..][..out_size];
        vectorised(
            #[inline(always)]
            || accumulate([a.rows, a.columns, b.columns], left, right, out),
        );
    }
    out
}

#[inline(always)]
fn accumulate<L: Lane>([rows, depth, columns]: [usize; 3], a: &[L], b: &[L], out: &mut [L]) {
    for column in (0..columns).step_by(COLUMNS) {
        for first in (0..rows).step_by(ROWS) {
            let mut starts = [(0, 0); ROWS];
            let count = ROWS.min(rows - first);
            for (i, start) in starts[..count].iter_mut().enumerate() {
                *start = ((first + i) * depth, (first + i) * columns + column);
            }
            let width = COLUMNS.min(columns - column);
            let tile = RowTile { rows: &starts[..count], depth, block: (column, columns), width };
            multiply_add(&tile, a, b, out);
        }
    }
}
