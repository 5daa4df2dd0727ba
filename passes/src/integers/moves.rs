//! Gathers, max pools, reshapes, transposes and concatenations between dequantization and quantization are
//! moved onto the bytes.
//!
//! An operation that only selects or rearranges elements, such as a gather of words, a max pool or a
//! transpose, does so with bytes, and its result is dequantized. A concatenation of dequantized numbers that
//! is quantized afterwards becomes one of bytes: each operand is quantized by itself, which is a function of
//! single bytes.

use ir::body::OpRef;
use ir::builder::InsertPoint;
use ir::dequantized::Dequantized;
use ir::dialects::nn::{SlidingWindow, window_of};
use ir::opdef::View;
use ir::weights::WeightSet;
use ir::{Body, Context, Dim, Kind, Op, Traits, Type, Value, size};

use super::{is_byte, is_usual, lies_along, only_user, zero_bytes};
use crate::constants;
use crate::edit::rebuild;
use crate::manager::Changes;

/// The most operations of a quantization.
const MOST_STEPS: usize = 16;

/// Moves a selection or a rearrangement before the dequantization of its operand: it selects bytes, and the
/// result is dequantized. Returns whether the operation was rewritten.
pub(super) fn select_bytes(
    ctx: &Context,
    body: &mut Body,
    weights: &WeightSet,
    op: Op,
    changes: &Changes,
) -> bool {
    let at = body.at(ctx, op);
    if !(at.has(Traits::SELECTS) || rearranges(at)) || weights.contains(at.result(0)) {
        return false;
    }
    let operands: Vec<Value> = body.operands(op).collect();
    let Some(made) = Dequantized::of(ctx, body, operands[0]) else { return false };
    // Floats with another reader exist anyway. Moving the selection into a loop would repeat the
    // dequantization there in each iteration.
    let is_alone = only_user(body, operands[0]) == Some(op);
    let is_wanted = is_alone && body.def_block(operands[0]) == body.block_of(op);
    // A zero point or scale of higher rank would raise the rank of the result.
    let rank = |value: Value| ctx.type_data(body.ty(value)).tensor_shape().map_or(0, <[Dim]>::len);
    let is_one = |value: Value| lies_along(ctx, body, value, None) && rank(value) <= rank(at.result(0));
    let fits = (weights.contains(operands[0]) || is_wanted)
        && (!at.has(Traits::WINDOW) || has_elements(at) && rises(ctx, body, &made))
        && is_one(made.scale)
        && made.zero.is_none_or(is_one);
    if !fits {
        return false;
    }
    if !changes.allow(|| format!("{} selects bytes", at.describe())) {
        return false;
    }
    let selected = [&[made.bytes], &operands[1..]].concat();
    let mut known = (made.bytes, again(ctx, body, op, &selected, op));
    for step in made.ops.into_iter().rev() {
        known = (body.result(step, 0), after(ctx, body, step, known, op));
    }
    body.replace_uses(body.result(op, 0), known.1);
    true
}

/// Whether an operation's result has its operand's elements in another order or shape.
fn rearranges(op: OpRef<'_>) -> bool {
    if !matches!(op.kind(), Kind::View(View::OfOperand(_))) {
        return false;
    }
    let count = |ty: Type| {
        let sizes = op.ctx.static_shape(ty)?;
        sizes.iter().try_fold(1u64, |count, size| count.checked_mul(*size))
    };
    let [from, to] = [op.operand_type(0), op.result_type(0)];
    let are_tensors = [from, to].iter().all(|ty| op.ctx.type_data(*ty).tensor_shape().is_some());
    // A view of the same shape, such as a bitcast, reads the bits of numbers. Elements of a broadcast would
    // have to be dequantized several times.
    let is_one_to_one = op.has(Traits::SAME_ORDER) || count(from).is_some() && count(from) == count(to);
    are_tensors && !op.has(Traits::SAME_SHAPE) && op.ctx.elem(from) == op.ctx.elem(to) && is_one_to_one
}

/// Whether dequantization is monotonic and never gives -0.0.
fn rises(ctx: &Context, body: &Body, made: &Dequantized) -> bool {
    let is_above_zero = constants::tensor(ctx, body, made.scale)
        .is_some_and(|scale| matches!(scale.to_f32()[..], [scale] if scale > 0.0));
    is_above_zero
        && is_usual(ctx, body, made.scale)
        && made.zero.is_none_or(|zero| zero_bytes(ctx, body, zero).is_some())
}

/// Whether each window has elements in the image: a window wholly in padding gives the least number of the
/// type, which differs between bytes and floats.
fn has_elements(op: OpRef<'_>) -> bool {
    let image = op.ctx.type_data(op.operand_type(0)).tensor_shape();
    let is_empty = image.is_none_or(|sizes| sizes.contains(&Dim::Known(0)));
    let is_narrow = |window: SlidingWindow| {
        let [top, left, bottom, right] = window.pads;
        let [rows, columns] = window.kernel;
        window.pads == [0; 4]
            || window.dilations == [1, 1] && top.max(bottom) < rows && left.max(right) < columns
    };
    !is_empty && window_of(op).is_some_and(is_narrow)
}

/// Quantizes each operand of a concatenation by itself, if all operands are dequantized and the result is
/// quantized. Returns whether the operation was rewritten.
pub(super) fn concatenate_bytes(
    ctx: &Context,
    body: &mut Body,
    weights: &WeightSet,
    op: Op,
    changes: &Changes,
) -> bool {
    let at = body.at(ctx, op);
    if !matches!(at.kind(), Kind::View(View::OfResult(_))) {
        return false;
    }
    // With known scales, the quantizations become tables.
    let is_one = |value: Value| weights.contains(value) && lies_along(ctx, body, value, None);
    let parts: Vec<Value> = body.operands(op).collect();
    let are_bytes = parts.iter().all(|part| {
        Dequantized::of(ctx, body, *part)
            .is_some_and(|made| is_one(made.scale) && made.zero.is_none_or(is_one))
    });
    let Some(steps) = quantization(ctx, body, weights, at.result(0)).filter(|_| are_bytes) else {
        return false;
    };
    if !changes.allow(|| format!("{} concatenates bytes", at.describe())) {
        return false;
    }
    let last = *steps.last().expect("a quantization converts numbers");
    let mut bytes = Vec::new();
    for part in parts {
        let mut known = (body.result(op, 0), part);
        for &step in &steps {
            known = (body.result(step, 0), after(ctx, body, step, known, last));
        }
        bytes.push(known.1);
    }
    let whole = again(ctx, body, op, &bytes, last);
    body.replace_uses(body.result(last, 0), whole);
    true
}

/// The elementwise operations that quantize a value to bytes, if each is the only use of the one before.
fn quantization(ctx: &Context, body: &Body, weights: &WeightSet, whole: Value) -> Option<Vec<Op>> {
    let mut steps = Vec::new();
    let mut value = whole;
    while steps.len() < MOST_STEPS {
        let op = only_user(body, value)?;
        let at = body.at(ctx, op);
        let is_number =
            |other: Value| weights.contains(other) && constants::elements(ctx, body.ty(other)) == Some(1);
        let is_step = matches!(at.kind(), Kind::Elementwise(_))
            && body.block_of(op) == body.def_block(whole)
            && body.operands(op).all(|operand| operand == value || is_number(operand))
            && size::have_equal_sizes(ctx, at.result_type(0), body.ty(whole));
        if !is_step {
            return None;
        }
        steps.push(op);
        value = at.result(0);
        if at.has(Traits::CAST) && is_byte(ctx, body, value) {
            return Some(steps);
        }
    }
    None
}

/// Rebuilds a step with one operand replaced: `(old, new)`.
fn after(ctx: &Context, body: &mut Body, step: Op, (old, new): (Value, Value), before: Op) -> Value {
    let operands = body.operands(step).map(|operand| if operand == old { new } else { operand });
    let operands: Vec<Value> = operands.collect();
    again(ctx, body, step, &operands, before)
}

/// Rebuilds an operation with other operands.
fn again(ctx: &Context, body: &mut Body, op: Op, operands: &[Value], before: Op) -> Value {
    let copy = rebuild(ctx, body, op, operands, body.properties(op), InsertPoint::Before(before));
    body.result(copy.expect("its operands have the sizes of those that they replace"), 0)
}
