//! Elementwise operations on whole tensors.
//!
//! Operands broadcast as in numpy: axes are aligned at the last one, and size 1 stretches. The scalar tree of
//! the operation's row runs over [`CHUNK`] elements at a time, so that intermediate results stay in the
//! cache.

use super::element::{Elem, Lane};
use super::program::ScalarProgram;
use super::registers::{CHUNK, LaneValues, Register};
use super::tensor::{EvalError, Tensor};
use crate::body::OpRef;
use crate::scalar::Scalar;

/// The result of an operation that computes `tree` for each element. A value whose type is not a tensor is
/// one element.
///
/// # Errors
/// If the operands do not broadcast to the result's sizes, or the tree is not defined on their elements.
pub fn elementwise(op: OpRef<'_>, tree: &Scalar, operands: &[Tensor]) -> Result<Tensor, EvalError> {
    let ty = op.result_type(0);
    let shape = broadcast_shape(op, operands)?;
    let elems: Vec<Elem> =
        operands.iter().map(|value| Elem::of(op.ctx, value.ty)).collect::<Result<_, _>>()?;
    let result = Elem::of(op.ctx, ty)?;
    let mut program = ScalarProgram::of(op, tree, &elems, result)?;
    let mut readers = Vec::new();
    for (value, elem) in operands.iter().zip(&elems) {
        readers.push(OperandReader::new(*elem, value, &value.shape(op.ctx)?, &shape)?);
    }
    let count: usize = shape.iter().product();
    let mut bytes = vec![0; count * result.bytes()];
    for start in (0..count).step_by(CHUNK) {
        let n = CHUNK.min(count - start);
        for (index, reader) in readers.iter().enumerate() {
            reader.read(start, n, program.arg(index));
        }
        let out = &mut bytes[start * result.bytes()..(start + n) * result.bytes()];
        match program.run(n) {
            LaneValues::F32(lanes) => f32::write(result, &lanes[..n], out),
            LaneValues::F64(lanes) => f64::write(result, &lanes[..n], out),
            LaneValues::Int(lanes) => i64::write(result, &lanes[..n], out),
        }
    }
    Tensor::of_shape(op.ctx, ty, &shape, bytes)
}

/// The sizes that the operands broadcast to.
fn broadcast_shape(op: OpRef<'_>, operands: &[Tensor]) -> Result<Vec<usize>, EvalError> {
    let mut shape: Vec<usize> = Vec::new();
    for value in operands {
        let sizes = value.shape(op.ctx)?;
        if sizes.len() > shape.len() {
            shape.splice(0..0, std::iter::repeat_n(1, sizes.len() - shape.len()));
        }
        let first = shape.len() - sizes.len();
        for (known, size) in shape[first..].iter_mut().zip(sizes) {
            match (*known, size) {
                (_, 1) => {}
                (1, _) => *known = size,
                (a, b) if a == b => {}
                (a, b) => return Err(format!("sizes {a} and {b} do not broadcast").into()),
            }
        }
    }
    Ok(shape)
}

/// Reads an operand in the order of the result's elements.
struct OperandReader<'a> {
    elem: Elem,
    bytes: &'a [u8],
    /// Axes of the result, with the operand's stride in elements; adjacent axes that form one run are merged.
    axes: Vec<(usize, usize)>,
}

impl<'a> OperandReader<'a> {
    fn new(
        elem: Elem,
        value: &'a Tensor,
        from: &[usize],
        to: &[usize],
    ) -> Result<OperandReader<'a>, EvalError> {
        let mut axes: Vec<(usize, usize)> = Vec::new();
        let mut stride = from.iter().product::<usize>();
        for (axis, &size) in to.iter().enumerate() {
            let own = (axis + from.len()).checked_sub(to.len()).map_or(1, |axis| from[axis]);
            stride /= own.max(1);
            if size == 1 {
                continue;
            }
            let step = if own == 1 { 0 } else { stride };
            match axes.last_mut() {
                Some(last) if last.1 == step * size => *last = (last.0 * size, step),
                _ => axes.push((size, step)),
            }
        }
        if axes.is_empty() {
            axes.push((1, 0));
        }
        Ok(OperandReader { elem, bytes: &value.bytes, axes })
    }

    /// Fills the first `count` lanes with the elements from `start` on.
    fn read(&self, start: usize, count: usize, lanes: &mut LaneValues) {
        match lanes {
            LaneValues::F32(lanes) => self.read_lanes(start, &mut lanes[..count]),
            LaneValues::F64(lanes) => self.read_lanes(start, &mut lanes[..count]),
            LaneValues::Int(lanes) => self.read_lanes(start, &mut lanes[..count]),
        }
    }

    fn read_lanes<L: Register>(&self, mut start: usize, mut lanes: &mut [L]) {
        let (inner, step) = *self.axes.last().expect("there is at least one axis");
        let size = self.elem.bytes();
        while !lanes.is_empty() {
            let within = start % inner;
            let run = lanes.len().min(inner - within);
            let (now, later) = lanes.split_at_mut(run);
            let first = (self.offset(start / inner) + within * step) * size;
            if step == 0 {
                L::read(self.elem, &self.bytes[first..], &mut now[..1]);
                now.fill(now[0]);
            } else {
                L::read(self.elem, &self.bytes[first..], now);
            }
            lanes = later;
            start += run;
        }
    }

    /// The offset of run number `run`: the contribution of all axes but the last.
    fn offset(&self, mut run: usize) -> usize {
        let outer = &self.axes[..self.axes.len() - 1];
        let mut offset = 0;
        for (size, step) in outer.iter().rev() {
            offset += run % size * step;
            run /= size;
        }
        offset
    }
}
