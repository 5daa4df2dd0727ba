//! Operations that a plan makes free of copies: views, concatenations in place, and ties.
//!
//! These facts depend only on one operation's registry row, types and attributes. The alias analysis, the
//! control-flow graph and the windows use them.

use super::attrs;
use crate::body::OpRef;
use crate::opdef::{Kind, Strided, Traits, View};
use crate::size::storage_bytes;

/// Whether `op` is marked as a view that is read where its operand is: `mem.view`.
pub fn is_marked_view(op: OpRef<'_>) -> bool {
    matches!(op.kind(), Kind::View(View::OfOperand(_))) && op.attr(attrs::MEM_VIEW).is_some()
}

/// Whether `op` is a view of its operand that needs no copy.
pub fn is_free_view(op: OpRef<'_>) -> bool {
    is_marked_view(op) || view_offset_bytes(op).is_some()
}

/// The offset of the result's bytes in those of operand 0, if `op` is a view without gaps, and so never a
/// copy.
pub fn view_offset_bytes(op: OpRef<'_>) -> Option<u64> {
    let Kind::View(View::OfOperand(map)) = op.kind() else { return None };
    if is_reshape(op) {
        return Some(0);
    }
    if op.attr(attrs::MEM_COPY).is_some() {
        return None;
    }
    let layout = map(op, 0, &Strided::row_major(0, op.operand_shape(0)?))?;
    // An empty view may begin anywhere, and after the last element there may be no byte.
    let offset = if layout.shape.contains(&0) { 0 } else { u64::try_from(layout.offset).ok()? };
    let is_dense = layout.is_row_major() && op.result_shape(0)? == layout.shape;
    let elem = op.ctx.elem(op.operand_type(0));
    is_dense.then(|| storage_bytes(op.ctx, elem, offset)).flatten()
}

/// The operands that are in place in the result of a concatenation or a padding: `mem.parts`.
pub fn parts(op: OpRef<'_>) -> Vec<usize> {
    if !has_parts(op) {
        return Vec::new();
    }
    let parts = op.attr(attrs::MEM_PARTS).and_then(|parts| op.ctx.ints_in(parts)).into_iter().flatten();
    parts.filter_map(|part| usize::try_from(part).ok().filter(|part| *part < op.operand_count())).collect()
}

/// Whether operands of `op` may be in place in its result: it is a concatenation, or pads an operand.
pub fn has_parts(op: OpRef<'_>) -> bool {
    op.def().is_some_and(|def| matches!(def.kind, Kind::View(View::OfResult(_))) || def.frame.is_some())
}

/// Whether `op` moves no bytes: a view that needs no copy, or a concatenation whose operands are all in
/// place.
pub fn is_free(op: OpRef<'_>) -> bool {
    match op.kind() {
        Kind::View(View::OfResult(_)) => {
            let mut parts = parts(op);
            parts.sort_unstable();
            parts.dedup();
            !parts.is_empty() && parts.len() == op.operand_count()
        }
        Kind::View(_) => is_free_view(op),
        _ => false,
    }
}

/// Whether, for all sizes, the result has the operand's elements in the same order, according to the registry
/// row.
fn is_reshape(op: OpRef<'_>) -> bool {
    op.has(Traits::SAME_ORDER)
}

/// The ties of an operation: pairs of a result and the operand that it overwrites (`mem.tie`).
pub fn ties(op: OpRef<'_>) -> impl Iterator<Item = (usize, usize)> {
    let ties = op.attr(attrs::MEM_TIE).and_then(|attr| op.ctx.ints_in(attr));
    let pairs = ties.into_iter().flatten().enumerate().take(op.body.result_count(op.op));
    pairs.filter_map(|(result, operand)| Some((result, usize::try_from(operand).ok()?)))
}
