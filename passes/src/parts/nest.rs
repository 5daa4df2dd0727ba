//! Concatenations that begin with all that an earlier one has, made of that one.
//!
//! ```text
//! %2 = nn.concat %0, %1                    %2 = nn.concat %0, %1
//! %4 = nn.concat %0, %1, %3         =>     %4 = nn.concat %2, %3
//! ```
//! Then each value is a part of one whole. The rows of every operand stay where they are, which is checked.

use std::collections::HashMap;

use ir::alias::part_window;
use ir::{Block, Body, Context, Op, Value};

/// A concatenation with the operands that it had at first.
type NestedConcat = (Op, Vec<Value>);

/// Nests concatenations, given in text order.
pub(super) fn nest(ctx: &Context, body: &mut Body, wholes: &[Op]) {
    // By block and first operand.
    let mut earlier: HashMap<(Option<Block>, Value), Vec<NestedConcat>> = HashMap::new();
    for &op in wholes {
        let operands: Vec<Value> = body.operands(op).collect();
        let [first, _, ..] = operands[..] else { continue };
        let known = earlier.entry((body.block_of(op), first)).or_default();
        // The longest of those that are shorter.
        let found = known
            .iter()
            .filter(|(_, prefix)| prefix.len() < operands.len() && operands.starts_with(prefix))
            .max_by_key(|(_, prefix)| prefix.len())
            .filter(|(inner, prefix)| begins_alike(ctx, body, op, *inner, prefix.len()));
        if let Some((inner, prefix)) = found {
            let mut nested = vec![body.result(*inner, 0)];
            nested.extend_from_slice(&operands[prefix.len()..]);
            body.set_operands(op, &nested);
        }
        known.push((op, operands));
    }
}

/// Whether the first `count` operands of `op` lie in its result as they lie in that of `inner`, which was
/// nested or not.
fn begins_alike(ctx: &Context, body: &Body, op: Op, inner: Op, count: usize) -> bool {
    let (outer, inner) = (body.at(ctx, op), body.at(ctx, inner));
    if outer.name() != inner.name() || body.properties(outer.op) != body.properties(inner.op) {
        return false;
    }
    let rows = |op, index| part_window(op, index).map(|window| (window.first, window.row, window.rows));
    let next = rows(outer, count);
    let (Some(first), Some(next), Some(bytes)) =
        (rows(outer, 0), next, ir::size::tensor_bytes(ctx, inner.result_type(0)))
    else {
        return false;
    };
    // The operands after begin where the inner result ends.
    first.0 == 0 && next.0 == bytes / next.2.max(1)
}
