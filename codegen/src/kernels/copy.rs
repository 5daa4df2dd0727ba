//! How copies are lowered: views that are not strided, paddings, repetitions, insertions of slices, and
//! fills.

use ir::Kind;
use ir::alias::{parts, ties};
use ir::body::OpRef;
use ir::opdef::{Strided, View};
use ir::size::storage_bits;
use ir::window::Arrangement;

use crate::call::{Lowered, LoweredCall, Pointer};
use crate::elem::ElemType;
use crate::pointwise::expr::{ExprBuilder, NodeOp};
use crate::pointwise::nest::{LoopNest, dense_strides};
use crate::pointwise::{ElementWindow, call};
use crate::refusal::CodeRefusal;
use crate::row::{KernelRow, Machine, Runs};
use crate::shape::{known_layout, known_shape};

/// Views that are not strided.
pub(crate) const VIEW: KernelRow = KernelRow {
    name: "copy",
    doc: "Copies windows of strided elements.",
    runs: Runs::View,
    reads: |op, _| match op.kind() {
        Kind::View(View::OfOperand(_)) if !keeps_strides(op) => Arrangement::Plain,
        _ => Arrangement::Strides,
    },
    writes: Arrangement::Strides,
    lower: |op, machine| match op.kind() {
        Kind::View(view) => lower_view(op, view, machine),
        _ => Err(CodeRefusal::new("it is no view")),
    },
    ..KernelRow::PLAIN
};

/// `nn.pad`.
pub(crate) const PAD: KernelRow = KernelRow {
    name: "pad",
    doc: "Fills what is around an operand, and copies it into the middle.",
    runs: Runs::Kernel("pad"),
    reads: |_, _| Arrangement::Strides,
    writes: Arrangement::Rows,
    lower: lower_pad,
    ..KernelRow::PLAIN
};

/// `optc.fill`.
pub(crate) const FILL: KernelRow = KernelRow {
    name: "fill",
    doc: "Writes one number to all elements.",
    runs: Runs::Kernel("fill"),
    lower: |op, machine| {
        let whole = known_layout(op, op.result(0))?;
        Ok(Lowered::new("fill", vec![fill(op, &whole, machine)?]))
    },
    ..KernelRow::PLAIN
};

/// `nn.repeat`.
pub(crate) const REPEAT: KernelRow = KernelRow {
    name: "repeat",
    doc: "Copies an operand several times along each axis.",
    runs: Runs::Kernel("repeat"),
    lower: lower_repeat,
    ..KernelRow::PLAIN
};

/// `nn.insert_slice`.
pub(crate) const INSERT_SLICE: KernelRow = KernelRow {
    name: "insert_slice",
    doc: "Copies a tensor, unless it is overwritten, and another into a window of it.",
    runs: Runs::Kernel("insert_slice"),
    lower: lower_insert_slice,
    ..KernelRow::PLAIN
};

/// The copies of a view: one for each operand that is not computed in place.
fn lower_view(op: OpRef<'_>, view: View, machine: &Machine) -> Result<Lowered, CodeRefusal> {
    let mut calls = Vec::new();
    match view {
        View::OfOperand(map) => {
            let operand = known_layout(op, op.operand(0))?;
            let from = map(op, 0, &operand).ok_or_else(|| CodeRefusal::new("it is no strided window"))?;
            calls.push(copy(op, 0, &from, &known_layout(op, op.result(0))?, machine)?);
        }
        View::OfResult(map) => {
            let whole = known_layout(op, op.result(0))?;
            let layouts = map(op, &whole);
            let mut is_copied = vec![true; op.operand_count()];
            parts(op).into_iter().for_each(|index| is_copied[index] = false);
            for index in (0..op.operand_count()).filter(|index| is_copied[*index]) {
                let to = layouts.get(index).and_then(Option::as_ref);
                let to = to.ok_or_else(|| CodeRefusal::new("it is no strided window"))?;
                let from = known_layout(op, op.operand(index))?;
                calls.push(copy(op, index, &from, to, machine)?);
            }
        }
    }
    Ok(Lowered::new("copy", calls))
}

/// Whether a view is strided for any layout of its operand.
fn keeps_strides(op: OpRef<'_>) -> bool {
    let (Kind::View(View::OfOperand(map)), Some(shape)) = (op.kind(), op.operand_shape(0)) else {
        return false;
    };
    let strides = Strided::row_major(0, shape.iter().map(|size| size + 1).collect()).strides;
    map(op, 0, &Strided { offset: 0, shape, strides }).is_some()
}

/// A padding: fills the borders, and copies the operand into the middle unless it is in place.
fn lower_pad(op: OpRef<'_>, machine: &Machine) -> Result<Lowered, CodeRefusal> {
    let (mut to, mut from) = (known_layout(op, op.result(0))?, known_layout(op, op.operand(0))?);
    let low = op.ints("low").ok_or_else(|| CodeRefusal::new("`low` is missing"))?;
    let whole = to.clone();
    // A negative padding crops: the operand is read from the first element that is kept.
    for (axis, low) in low.iter().enumerate() {
        let cut = (-low).max(0);
        let first = *low.max(&0);
        let size = (from.shape[axis] as i64 - cut).min(to.shape[axis] as i64 - first).max(0);
        (to.offset, from.offset) =
            (to.offset + first * to.strides[axis], from.offset + cut * from.strides[axis]);
        (to.shape[axis], from.shape[axis]) = (size as u64, size as u64);
    }
    let mut calls = Vec::new();
    for border in borders(&whole, &to.shape, &low) {
        calls.push(fill(op, &border, machine)?);
    }
    if parts(op).is_empty() {
        calls.push(copy(op, 0, &from, &to, machine)?);
    }
    Ok(Lowered::new("pad", calls))
}

/// The windows on a result around its middle, which has these sizes: for each axis one before and one after,
/// without the elements that earlier axes cover.
fn borders(whole: &Strided, middle: &[u64], low: &[i64]) -> Vec<Strided> {
    let mut borders = Vec::new();
    let mut rest = whole.clone();
    for axis in 0..middle.len() {
        let before = low[axis].max(0) as u64;
        let after = rest.shape[axis] - before - middle[axis];
        for (first, size) in
            [(0, before), (before + middle[axis], after)].into_iter().filter(|range| range.1 > 0)
        {
            let mut border = rest.clone();
            border.offset += first as i64 * rest.strides[axis];
            border.shape[axis] = size;
            borders.push(border);
        }
        rest.offset += before as i64 * rest.strides[axis];
        rest.shape[axis] = middle[axis];
    }
    borders.retain(|border| !border.shape.contains(&0));
    borders
}

/// Writes the number `value` of a padding or a filling to a window on the result.
fn fill(op: OpRef<'_>, to: &Strided, machine: &Machine) -> Result<LoweredCall, CodeRefusal> {
    let elem = ElemType::stored(op.ctx, op.result_type(0))
        .ok_or_else(|| CodeRefusal::new("generated code does not compute with this element type"))?;
    let mut builder = ExprBuilder::default();
    let node = builder.add(elem, NodeOp::Const(elem.constant_bits(op.float("value").unwrap_or(0.0))));
    let place = Pointer::Result(0, to.offset as u64 * u64::from(elem.bytes()));
    let window = ElementWindow { place, elem, strides: to.strides.clone() };
    call(&to.shape, builder.finish(), vec![(node, window)], vec![], machine)
}

/// A repetition: one copy, with a broadcast axis after each axis of the operand.
fn lower_repeat(op: OpRef<'_>, machine: &Machine) -> Result<Lowered, CodeRefusal> {
    let shape = known_shape(op, op.operand(0))?;
    let counts = op.ints("counts").filter(|counts| counts.len() == shape.len());
    let counts = counts.ok_or_else(|| CodeRefusal::new("`counts` has not one number for each axis"))?;
    let apart = |of: &dyn Fn(usize) -> [i64; 2]| (0..shape.len()).flat_map(of).collect::<Vec<i64>>();
    let strides = dense_strides(&shape);
    let sizes =
        apart(&|axis| [shape[axis] as i64, counts[axis]]).into_iter().map(|size| size as u64).collect();
    let from = Strided { offset: 0, strides: apart(&|axis| [strides[axis], 0]), shape: sizes };
    let to = Strided::row_major(0, from.shape.clone());
    Ok(Lowered::new("repeat", vec![copy(op, 0, &from, &to, machine)?]))
}

/// An insertion of a slice: the result is a copy of the second operand, unless it overwrites that; then the
/// first operand is copied into the window.
fn lower_insert_slice(op: OpRef<'_>, machine: &Machine) -> Result<Lowered, CodeRefusal> {
    let (source, whole) = (known_shape(op, op.operand(0))?, known_shape(op, op.result(0))?);
    let starts = op.ints("starts").ok_or_else(|| CodeRefusal::new("`starts` is missing"))?;
    let steps = op.ints("strides").unwrap_or_else(|| vec![1; starts.len()]);
    let whole = Strided::row_major(0, whole);
    let window = Strided {
        offset: starts.iter().zip(&whole.strides).map(|(start, stride)| start * stride).sum(),
        strides: whole.strides.iter().zip(&steps).map(|(stride, step)| stride * step).collect(),
        shape: source.clone(),
    };
    let mut calls = Vec::new();
    if !ties(op).any(|tie| tie == (0, 1)) {
        calls.push(copy(op, 1, &whole, &whole, machine)?);
    }
    calls.push(copy(op, 0, &Strided::row_major(0, source), &window, machine)?);
    Ok(Lowered::new("insert_slice", calls))
}

/// Copies the elements of a window on operand `index` to a window of equal shape on the result.
fn copy(
    op: OpRef<'_>,
    index: usize,
    from: &Strided,
    to: &Strided,
    machine: &Machine,
) -> Result<LoweredCall, CodeRefusal> {
    let bits = storage_bits(op.ctx, op.ctx.elem(op.operand_type(index)));
    let bits = bits.filter(|bits| [8, 16, 32, 64].contains(bits));
    let bytes = bits.ok_or_else(|| CodeRefusal::new("elements of its type are not copied"))? / 8;
    let nest = LoopNest::collapse(&from.shape, &[from.strides.clone(), to.strides.clone()]);
    if nest.sizes.len() > MOST_AXES {
        return Err(CodeRefusal::new(format!("it takes more than {MOST_AXES} loops")));
    }
    let sizes: Vec<usize> = nest.sizes.iter().map(|size| *size as usize).collect();
    let [reads, writes] = [&nest.strides[0], &nest.strides[1]];
    let kernel = kernels::Copy::new(&sizes, reads, writes, bytes as usize, machine.isa, machine.threads);
    let start = |window: &Strided| window.offset as u64 * bytes;
    let operands = vec![Pointer::Result(0, start(to)), Pointer::Operand(index, start(from))];
    Ok(LoweredCall::kernel(&kernel, operands))
}

/// The most axes of the copying kernel.
const MOST_AXES: usize = 8;

#[cfg(test)]
#[path = "copy_tests.rs"]
mod tests;
