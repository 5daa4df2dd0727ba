//! Constant folding of operations on small constants.

use ir::interp::eval_op;
use ir::{Op, Value};

use super::{Applied, Rewriter};
use crate::constants::{self, RESULT_LIMIT};
use crate::effects::is_pure;

/// The name of the rule.
pub(super) const FOLD: &str = "fold";

/// Replaces a pure operation on small constants by constants.
pub(super) fn fold(rewriter: &mut Rewriter<'_>, op: Op) -> Option<Applied> {
    let ctx = rewriter.ctx();
    let body = rewriter.body();
    let results: Vec<Value> = body.results(op).collect();
    let is_small =
        |value: &Value| constants::elements(ctx, body.ty(*value)).is_some_and(|n| n <= RESULT_LIMIT);
    if body.operand_count(op) == 0 || !body.regions(op).is_empty() || !is_pure(ctx, body, op) {
        return None;
    }
    if results.is_empty() || !results.iter().all(is_small) {
        return None;
    }
    let operands = body.operands(op).map(|value| rewriter.constant(value)).collect::<Option<Vec<_>>>()?;
    let computed = eval_op(rewriter.at(op), &operands).ok()?;
    let types: Vec<_> = results.iter().map(|result| body.ty(*result)).collect();
    let mut values = Vec::with_capacity(types.len());
    for (value, ty) in computed.iter().zip(types) {
        if value.ty != ty {
            return None;
        }
        values.push(rewriter.constant_before(op, constants::attr(ctx, ty, &value.bytes), ty)?);
    }
    Some(rewriter.replace(op, &values))
}
