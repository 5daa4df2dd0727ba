//! Whether one value is known before the program runs, without a walk over the whole function.

use ir::{Body, Context, Traits, Value};
use std::collections::HashSet;

/// Whether a value is a weight, as [`ir::weights::WeightSet`] says it for all values at once.
///
/// Linear in the operations that the value is computed from.
pub(crate) fn is_weight(ctx: &Context, body: &Body, value: Value) -> bool {
    let mut seen = HashSet::from([value]);
    let mut waiting = vec![value];
    while let Some(value) = waiting.pop() {
        let Some(op) = body.defining_op(value) else { return false };
        let op_ref = body.at(ctx, op);
        let is_pure = op_ref.has(Traits::PURE) && body.regions(op).is_empty();
        if !is_pure || (body.operand_count(op) == 0 && !op_ref.has(Traits::CONSTANT)) {
            return false;
        }
        waiting.extend(body.operands(op).filter(|operand| seen.insert(*operand)));
    }
    true
}
