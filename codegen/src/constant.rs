//! Whether a single value is a weight, decided without visiting the whole function.

use std::collections::HashSet;

use ir::window::outside;
use ir::{Body, Context, Kind, Traits, Value};

/// Whether a value is a weight: the answer of [`ir::weights::WeightSet`] for one value.
///
/// Linear in the operations that the value is computed from.
pub(crate) fn is_weight(ctx: &Context, body: &Body, value: Value) -> bool {
    let mut seen = MetValues { few: vec![value], many: HashSet::new() };
    let mut waiting = vec![value];
    while let Some(value) = waiting.pop() {
        let value = outside(ctx, body, value);
        let Some(op) = body.defining_op(value) else { return false };
        let op_ref = body.at(ctx, op);
        let is_pure = op_ref.has(Traits::PURE) && body.regions(op).is_empty();
        if !is_pure || (body.operand_count(op) == 0 && !matches!(op_ref.kind(), Kind::Source)) {
            return false;
        }
        waiting.extend(body.operands(op).filter(|operand| seen.insert(*operand)));
    }
    true
}

/// Visited values: the first few in a list, since most weights are computed from fewer than ten others.
struct MetValues {
    few: Vec<Value>,
    many: HashSet<Value>,
}

/// The longest list; more values go into a set.
const FEW: usize = 32;

impl MetValues {
    /// Whether a value was not visited before.
    fn insert(&mut self, value: Value) -> bool {
        if self.few.contains(&value) {
            return false;
        }
        if self.few.len() < FEW {
            self.few.push(value);
            return true;
        }
        self.many.insert(value)
    }
}
