//! Nested concatenations: one that begins with all operands of an earlier one reads that one's result
//! instead.
//!
//! ```text
//! %2 = nn.concat %0, %1                    %2 = nn.concat %0, %1
//! %4 = nn.concat %0, %1, %3         =>     %4 = nn.concat %2, %3
//! ```
//! Then each value is an operand in place of only one concatenation. The rows of every operand stay where
//! they are; this is checked.

use std::collections::HashMap;

use ir::alias::part_windows;
use ir::{Block, Body, Context, Op, Value};

/// A concatenation with its original operands.
type NestedConcat = (Op, Vec<Value>);

/// Nests concatenations, given in text order.
pub(super) fn nest(ctx: &Context, body: &mut Body, wholes: &[Op]) {
    // By block and first operand.
    let mut earlier: HashMap<(Option<Block>, Value), Vec<NestedConcat>> = HashMap::new();
    for &op in wholes {
        let operands: Vec<Value> = body.operands(op).collect();
        let [first, _, ..] = operands[..] else { continue };
        let known = earlier.entry((body.block_of(op), first)).or_default();
        // The longest of the shorter ones.
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

/// Whether the first `count` operands of `op` have the same places in its result as in that of `inner`, which
/// may have been nested itself.
fn begins_alike(ctx: &Context, body: &Body, op: Op, inner: Op, count: usize) -> bool {
    let (outer, inner) = (body.at(ctx, op), body.at(ctx, inner));
    if outer.name() != inner.name() || body.properties(outer.op) != body.properties(inner.op) {
        return false;
    }
    let windows = part_windows(outer);
    let bytes = ir::size::tensor_bytes(ctx, inner.result_type(0));
    let (Some(first), Some(next), Some(bytes)) = (windows[0], windows[count], bytes) else { return false };
    // The next operand begins where the inner result ends.
    first.first == 0 && next.first == bytes / next.rows.max(1)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// Concatenates two values, then the same two with a third. Returns the number of operands of the second
    /// concatenation after nesting. The types are those of the two values, of the third, and of both results.
    fn operands(first: &str, third: &str, two: &str, three: &str) -> usize {
        let text = format!(
            "
func.func @main(%a: tensor<{first}>, %b: tensor<{first}>, %c: tensor<{third}>)
    -> tensor<{three}> {{
  %0 = nn.concat %a, %b {{axis = 1 : i64}} : (tensor<{first}>, tensor<{first}>) -> tensor<{two}>
  %1 = nn.concat %a, %b, %c {{axis = 1 : i64}}
    : (tensor<{first}>, tensor<{first}>, tensor<{third}>) -> tensor<{three}>
  return %1 : tensor<{three}>
}}"
        );
        let ctx = Arc::new(Context::new());
        let module = ir::text::parse(&ctx, "nest.mlir", text);
        let module = module.unwrap_or_else(|faults| panic!("{}", faults[0].render(&ctx)));
        let mut body = module.function("main").expect("it is there").clone();
        let mut wholes = Vec::new();
        ir::flow::walk(&ctx, &body, |op| {
            wholes.extend((body.at(&ctx, op).name() == "nn.concat").then_some(op));
        });
        nest(&ctx, &mut body, &wholes);
        body.operand_count(wholes[1])
    }

    #[test]
    fn a_concatenation_is_made_of_an_earlier_one_if_its_rows_are_known_to_stay_where_they_are() {
        assert_eq!(operands("2x3xf32", "2x4xf32", "2x6xf32", "2x10xf32"), 2);
        assert_eq!(operands("2x4xi4", "2x4xi4", "2x8xi4", "2x12xi4"), 3, "half a byte");
        let rows = |columns: u64| format!("?x{columns}xf32, #optc.dims<N>");
        assert_eq!(operands(&rows(3), &rows(4), &rows(6), &rows(10)), 3, "rows of a named number");
        assert_eq!(operands("2x3xf32", "2x0xf32", "2x6xf32", "2x6xf32"), 3, "nothing follows");
    }
}
