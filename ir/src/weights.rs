//! Weights: values that are known before the program runs.
//!
//! A *weight* is a constant, or a source of named sizes, or the result of a pure operation without regions
//! that reads only weights.
//! Arithmetic on weights stays in the IR (folding a batch norm into a filter is a multiplication, not a copy
//! of the filter). It is not a step of the program and has no place in the arena, but is evaluated once, when
//! the program is loaded.

use cranelift_entity::{EntitySet, SecondaryMap};

use crate::attrs::AttrData;
use crate::blob::Blob;
use crate::body::Body;
use crate::context::Context;
use crate::diag::Diagnostic;
use crate::entities::{Op, Value};
use crate::interp::nn::intact_blob;
use crate::interp::{EvalError, Tensor, eval_op};
use crate::opdef::{Kind, Traits};
use crate::size::tensor_bytes;
use crate::types::TypeData;
use crate::walk::walk;

/// The weights of a body.
pub struct WeightSet {
    values: EntitySet<Value>,
}

impl WeightSet {
    /// Finds the weights, in one walk over the operations in text order.
    pub fn of(ctx: &Context, body: &Body) -> WeightSet {
        let mut set = WeightSet { values: EntitySet::with_capacity(body.value_capacity()) };
        walk(ctx, body, |op| {
            if set.makes_weights(ctx, body, op) {
                set.values.extend(body.results(op));
            }
        });
        set
    }

    /// Whether a value is a weight.
    pub fn contains(&self, value: Value) -> bool {
        self.values.contains(value)
    }

    /// Whether all results of an operation are weights. If so, it is not a step of the program.
    pub fn is_weight_op(&self, body: &Body, op: Op) -> bool {
        body.result_count(op) > 0 && body.results(op).all(|result| self.contains(result))
    }

    /// Computes a weight from its constants, with each operation on the way once. Intermediate tensors are
    /// dropped after their last reader, so at most a few are in memory at a time.
    ///
    /// # Errors
    /// If an operation has no result (see [`eval_op`]); the diagnostic names it.
    pub fn evaluate(&self, ctx: &Context, body: &Body, weight: Value) -> Result<Tensor, Diagnostic> {
        self.evaluate_from(ctx, body, weight, &|_| None)
    }

    /// Like [`WeightSet::evaluate`], with some intermediate values given.
    ///
    /// # Errors
    /// As for [`WeightSet::evaluate`].
    pub fn evaluate_from(
        &self,
        ctx: &Context,
        body: &Body,
        weight: Value,
        known: &dyn Fn(Value) -> Option<Tensor>,
    ) -> Result<Tensor, Diagnostic> {
        assert!(self.contains(weight), "{weight} is not known before the program runs");
        if let Some(known) = known(weight) {
            return Ok(known);
        }
        let ops = computing_ops(body, weight, &|value| known(value).is_some());
        let mut readers: SecondaryMap<Value, usize> = SecondaryMap::new();
        for value in ops.iter().flat_map(|op| body.operands(*op)) {
            readers[value] += 1;
        }
        readers[weight] += 1;
        let mut values: SecondaryMap<Value, Option<Tensor>> = SecondaryMap::new();
        for op in ops {
            let operands = body.operands(op).map(|value| values[value].clone().or_else(|| known(value)));
            let operands: Option<Vec<Tensor>> = operands.collect();
            for value in body.operands(op) {
                readers[value] -= 1;
                if readers[value] == 0 {
                    values[value] = None;
                }
            }
            let results = eval_op(body.at(ctx, op), &operands.expect("operands are computed first"));
            let results = results.map_err(|error| no_result(ctx, body, op, &error))?;
            for (result, value) in body.results(op).zip(results) {
                values[result] = (readers[result] > 0).then_some(value);
            }
        }
        Ok(values[weight].take().expect("the last operation defines the weight"))
    }

    /// The bytes of a weight, if they are a constant's as they are: then it need not be evaluated.
    ///
    /// # Errors
    /// If they are missing or not intact.
    pub fn blob(&self, ctx: &Context, body: &Body, weight: Value) -> Result<Option<Blob>, Diagnostic> {
        let Some(op) = body.defining_op(weight) else { return Ok(None) };
        let value = body.at(ctx, op).attr("value").map(|value| ctx.attr_data(value));
        let Some(AttrData::Resource { key, .. }) = value else { return Ok(None) };
        let is_source = matches!(body.at(ctx, op).kind(), Kind::Source);
        let elem = ctx.type_data(ctx.elem(body.ty(weight)));
        // Bits are not stored as they stand in a file.
        if !is_source || matches!(elem, TypeData::Integer { width: 1, .. }) {
            return Ok(None);
        }
        let blob = intact_blob(ctx, *key).map_err(|error| no_result(ctx, body, op, &error))?;
        let has_size = tensor_bytes(ctx, body.ty(weight)) == Some(blob.len_bytes() as u64);
        Ok(has_size.then_some(blob))
    }

    fn makes_weights(&self, ctx: &Context, body: &Body, op: Op) -> bool {
        let op_ref = body.at(ctx, op);
        let is_pure = op_ref.has(Traits::PURE) && body.regions(op).is_empty();
        let is_source = body.operand_count(op) > 0 || matches!(op_ref.kind(), Kind::Source);
        is_pure && is_source && body.operands(op).all(|operand| self.contains(operand))
    }
}

fn no_result(ctx: &Context, body: &Body, op: Op, error: &EvalError) -> Diagnostic {
    Diagnostic::error(body.location(op), format!("`{}`: {}", body.at(ctx, op).name(), error.0))
}

/// The operations that `weight` is computed from, operands first; known values are not computed.
fn computing_ops(body: &Body, weight: Value, is_known: &dyn Fn(Value) -> bool) -> Vec<Op> {
    let define = |value: Value| body.defining_op(value).expect("weights are results");
    let mut ops = Vec::new();
    let mut known = EntitySet::new();
    // Each operation leaves the stack twice: first its operands are pushed, and after them it is listed.
    let mut stack = vec![define(weight)];
    let mut open = EntitySet::new();
    while let Some(op) = stack.pop() {
        if known.contains(op) {
            continue;
        }
        if open.insert(op) {
            stack.push(op);
            let unknown = body.operands(op).filter(|value| !is_known(*value));
            stack.extend(unknown.map(define).filter(|op| !known.contains(*op)));
        } else {
            known.insert(op);
            ops.push(op);
        }
    }
    ops
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

    #[test]
    fn a_weight_is_computed_from_its_constants_through_every_path() {
        let ctx = Context::new();
        let ty = ctx.tensor(&[2], ctx.f32());
        let mut body = Body::new(1);
        let block = body.add_block(body.root());
        let bytes = [1.5f32, -2.0].map(f32::to_le_bytes).concat();
        let value = ctx.resource_attr("w", ty, crate::Blob::from_bytes(bytes));
        let mut builder = Builder::at_end(&ctx, &mut body, block);
        let constant = builder.constant(value, ty);
        let mut sum = constant;
        for _ in 0..60 {
            let half = builder.value("nn.sub", &[sum, constant], &[]).unwrap();
            let whole = builder.value("nn.add", &[half, constant], &[]).unwrap();
            sum = builder.value("nn.max", &[whole, sum], &[]).unwrap();
        }
        let double = builder.value("nn.add", &[sum, sum], &[]).unwrap();
        let set = WeightSet::of(&ctx, &body);
        assert_eq!(set.evaluate(&ctx, &body, double).unwrap().to_f32(), [3.0, -4.0]);
        assert_eq!(set.evaluate(&ctx, &body, constant).unwrap().to_f32(), [1.5, -2.0]);
    }
}
