//! Which values are known before the program runs.
//!
//! A *weight* is a constant, or the result of a pure operation without regions that reads weights only. Arithmetic on weights
//! stays in the IR (folding a batch norm into a filter is a multiplication, not a copy of the filter): it is no step of
//! the program and has no place in the arena, but is evaluated once, when the program is loaded.

use cranelift_entity::EntitySet;

use crate::body::Body;
use crate::context::Context;
use crate::entities::{Op, Value};
use crate::opdef::Traits;

/// The weights of a body.
pub struct WeightSet {
    values: EntitySet<Value>,
}

impl WeightSet {
    /// Finds the weights, in one walk over the operations in text order.
    pub fn of(ctx: &Context, body: &Body) -> WeightSet {
        let mut set = WeightSet { values: EntitySet::with_capacity(body.value_capacity()) };
        let blocks = body.roots().iter().flat_map(|region| body.blocks(*region));
        for op in blocks.flat_map(|block| body.ops(*block)) {
            if set.makes_weights(ctx, body, op) {
                set.values.extend(body.results(op));
            }
        }
        set
    }

    /// Whether a value is a weight.
    pub fn contains(&self, value: Value) -> bool {
        self.values.contains(value)
    }

    /// Whether all results of an operation are weights: it is no step of the program.
    pub fn is_weight_op(&self, body: &Body, op: Op) -> bool {
        body.result_count(op) > 0 && body.results(op).all(|result| self.contains(result))
    }

    fn makes_weights(&self, ctx: &Context, body: &Body, op: Op) -> bool {
        let op_ref = body.at(ctx, op);
        let is_pure = op_ref.has(Traits::PURE) && body.regions(op).is_empty();
        let is_source = body.operand_count(op) > 0 || op_ref.has(Traits::CONSTANT);
        is_pure && is_source && body.operands(op).all(|operand| self.contains(operand))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::Builder;

    #[test]
    fn arithmetic_on_constants_alone_makes_weights() {
        let ctx = Context::new();
        let ty = ctx.tensor(&[2], ctx.f32());
        let mut body = Body::new(1);
        let block = body.add_block(body.root());
        let arg = body.add_arg(block, ty);
        let value = ctx.resource_attr("w", ty, crate::Blob::from_bytes(vec![0; 8]));
        let mut builder = Builder::at_end(&ctx, &mut body, block);
        let constant = builder.constant(value, ty);
        let product = builder.value("nn.mul", &[constant, constant], &[]).unwrap();
        let sum = builder.value("nn.add", &[product, arg], &[]).unwrap();
        let set = WeightSet::of(&ctx, &body);
        assert!(set.contains(constant) && set.contains(product));
        assert!(!set.contains(sum) && !set.contains(arg));
    }
}
