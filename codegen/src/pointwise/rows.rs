//! The outer loops around a generated innermost loop, and how they are cut into parts.
//!
//! The descriptor is a list of 64-bit words: see [`DescriptorLayout`].

use std::ops::Range;

use super::nest::LoopNest;
use crate::cranelift::{Emitter, InstBuilder, PLAIN, Value, types};

/// The layout of a descriptor: which word holds which number.
#[derive(Clone, Copy)]
pub(crate) struct DescriptorLayout {
    /// The number of outer loops.
    pub(crate) outer: usize,
}

impl DescriptorLayout {
    /// Parts into which rows are cut.
    const ROW_PARTS: usize = 0;
    /// Parts into which the innermost loop is cut.
    const INNER_PARTS: usize = 1;
    /// Iterations of the innermost loop in a part.
    pub(crate) const CHUNK: usize = 2;
    /// Iterations of the innermost loop.
    const INNER: usize = 3;
    /// Product of the outer loops.
    const ROWS: usize = 4;

    /// Iterations of outer loop `axis`.
    fn size(self, axis: usize) -> usize {
        Self::ROWS + 1 + axis
    }

    /// Distance in bytes of operand `operand` along outer loop `axis`, or (`axis` = `outer`) the innermost.
    pub(crate) fn stride(self, operand: usize, axis: usize) -> usize {
        Self::ROWS + 1 + self.outer + operand * (self.outer + 1) + axis
    }

    /// The first word after those of `count` operands.
    pub(crate) fn end(self, count: usize) -> usize {
        self.stride(count, 0)
    }
}

/// How a step is cut into parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PartSplit {
    rows: u64,
    inner: u64,
}

/// A number of elements, rounded up to whole vectors.
pub(crate) fn vectors(elements: u64) -> u64 {
    elements.next_multiple_of(16)
}

/// The least cycles of a part, roughly.
const MIN_PART_CYCLES: u64 = 8192;

impl PartSplit {
    /// At most `threads` parts, each with enough work.
    pub(crate) fn choose(nest: &LoopNest, cost: u64, threads: usize) -> PartSplit {
        let (rows, inner) = (nest.rows(), nest.inner_size());
        if rows * inner == 0 {
            return PartSplit { rows: 0, inner: 0 };
        }
        let wanted = PartSplit::most(rows * inner, cost, threads);
        match rows >= wanted {
            true => PartSplit { rows: wanted, inner: 1 },
            false => PartSplit { rows: 1, inner: wanted.min(inner.div_ceil(64)) },
        }
    }

    /// The most parts of a step over `elements` elements in all, for any layout.
    pub(crate) fn most(elements: u64, cost: u64, threads: usize) -> u64 {
        (elements / 4 * cost / MIN_PART_CYCLES).clamp(1, threads as u64)
    }

    /// The number of parts.
    pub(crate) fn count(self) -> u32 {
        (self.rows * self.inner) as u32
    }

    /// Iterations of the innermost loop in a part: whole vectors. If a row is cut, these are whole cache
    /// lines of the narrowest elements, so that parts share none.
    pub(crate) fn chunk(self, nest: &LoopNest) -> u64 {
        let inner = nest.inner_size();
        if self.inner > 1 { inner.div_ceil(self.inner).next_multiple_of(64) } else { vectors(inner) }
    }
}

/// The descriptor of a step; strides in bytes are the nest's times the operand's element size.
pub(crate) fn descriptor(nest: &LoopNest, elem_bytes: &[u32], parts: PartSplit) -> Vec<u8> {
    let inner = nest.inner_size();
    let chunk = parts.chunk(nest);
    let mut words: Vec<i64> =
        [parts.rows, parts.inner, chunk, inner, nest.rows()].iter().map(|word| *word as i64).collect();
    words.extend(nest.sizes[..nest.outer()].iter().map(|size| *size as i64));
    for (strides, bytes) in nest.strides.iter().zip(elem_bytes) {
        words.extend(strides.iter().map(|stride| stride * i64::from(*bytes)));
    }
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Adapts a descriptor of `count` operands to a function with more outer loops: the added outermost loops run
/// once. Words after those of the loops are unchanged.
pub(crate) fn widen(
    descriptor: &[u8],
    count: usize,
    from: DescriptorLayout,
    to: DescriptorLayout,
) -> Vec<u8> {
    let words = |range: Range<usize>| &descriptor[8 * range.start..8 * range.end];
    let added = to.outer - from.outer;
    let mut wide = words(0..from.size(0)).to_vec();
    wide.extend(1i64.to_le_bytes().repeat(added));
    wide.extend(words(from.size(0)..from.stride(0, 0)));
    for operand in 0..count {
        wide.extend(0i64.to_le_bytes().repeat(added));
        wide.extend(words(from.stride(operand, 0)..from.stride(operand + 1, 0)));
    }
    wide.extend(words(from.end(count)..descriptor.len() / 8));
    wide
}

/// The outer loops over `count` operands.
#[derive(Clone, Copy)]
pub(crate) struct OuterLoops {
    /// The layout of the descriptor.
    pub(crate) layout: DescriptorLayout,
    /// The number of operands.
    pub(crate) count: usize,
}

impl OuterLoops {
    /// Emits the loops; `inside` gets the start of each operand's row, and the range of the innermost loop.
    pub(crate) fn emit(
        self,
        e: &mut Emitter<'_>,
        mut inside: impl FnMut(&mut Emitter<'_>, Vec<Value>, Value, Value),
    ) {
        let part = e.param(2);
        let part = e.ins.ins().uextend(types::I64, part);
        let [row_parts, inner_parts, chunk, inner, rows] = [
            DescriptorLayout::ROW_PARTS,
            DescriptorLayout::INNER_PARTS,
            DescriptorLayout::CHUNK,
            DescriptorLayout::INNER,
            DescriptorLayout::ROWS,
        ]
        .map(|index| word(e, index));
        let row_part = e.ins.ins().udiv(part, inner_parts);
        let inner_part = e.ins.ins().urem(part, inner_parts);
        let start = e.ins.ins().imul(inner_part, chunk);
        let end = e.ins.ins().iadd(start, chunk);
        let (start, end) = (e.ins.ins().smin(start, inner), e.ins.ins().smin(end, inner));
        let first = self.piece(e, rows, row_part, row_parts);
        let next = e.ins.ins().iadd_imm_s(row_part, 1);
        let last = self.piece(e, rows, next, row_parts);
        let operands = self.operands(e);
        e.count(first, last, 1, |e, row| {
            let bases = self.row_bases(e, &operands, row);
            inside(e, bases, start, end);
        });
    }

    /// `rows * index / parts`.
    fn piece(self, e: &mut Emitter<'_>, rows: Value, index: Value, parts: Value) -> Value {
        let product = e.ins.ins().imul(rows, index);
        e.ins.ins().udiv(product, parts)
    }

    fn operands(self, e: &mut Emitter<'_>) -> Vec<Value> {
        let table = e.param(1);
        (0..self.count).map(|index| e.ins.ins().load(types::I64, PLAIN, table, 8 * index as i32)).collect()
    }

    /// The start of each operand's row.
    fn row_bases(self, e: &mut Emitter<'_>, operands: &[Value], row: Value) -> Vec<Value> {
        let mut bases = operands.to_vec();
        let mut rest = row;
        for axis in (0..self.layout.outer).rev() {
            let index = if axis == 0 {
                rest
            } else {
                let size = word(e, self.layout.size(axis));
                let index = e.ins.ins().urem(rest, size);
                rest = e.ins.ins().udiv(rest, size);
                index
            };
            for (operand, base) in bases.iter_mut().enumerate() {
                let stride = word(e, self.layout.stride(operand, axis));
                let distance = e.ins.ins().imul(index, stride);
                *base = e.ins.ins().iadd(*base, distance);
            }
        }
        bases
    }
}

/// Word `index` of the descriptor.
pub(crate) fn word(e: &mut Emitter<'_>, index: usize) -> Value {
    let descriptor = e.param(0);
    e.ins.ins().load(types::I64, PLAIN, descriptor, 8 * index as i32)
}
