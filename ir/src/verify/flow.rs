//! Control flow: whether conditions and loops pass values between their regions with the right types.
//!
//! | operation | a region takes | and ends with |
//! |---|---|---|
//! | if | nothing | a yield of the results |
//! | for | the counter and the carried values | a yield of the carried values |
//! | while: first | the carried values | a condition, and the results |
//! | while: second | the results | a yield of the carried values |

use super::Checker;
use crate::body::OpRef;
use crate::entities::{Block, Region, Type, Value};
use crate::opdef::{Kind, OpDef, RegionFlow, Traits};

impl<'m> Checker<'m> {
    /// Checks the regions of a condition or a loop.
    pub(super) fn flow(&mut self, op: OpRef<'m>, flow: RegionFlow) {
        let body = op.body;
        let operands: Vec<Type> = body.operands(op.op).map(|value| body.ty(value)).collect();
        let results: Vec<Type> = body.results(op.op).map(|value| body.ty(value)).collect();
        match (flow, body.regions(op.op)) {
            (RegionFlow::If, &[then, otherwise]) => {
                self.run(op, then, &[], Traits::YIELD, &results);
                if !results.is_empty() || !body.blocks(otherwise).is_empty() {
                    self.run(op, otherwise, &[], Traits::YIELD, &results);
                }
            }
            (RegionFlow::For, &[region]) if operands.len() >= 3 => {
                let initial: Vec<Value> = body.operands(op.op).skip(3).collect();
                self.handed(op, "initial value", &results, &initial);
                let args = [&operands[..1], &results].concat();
                self.run(op, region, &args, Traits::YIELD, &results);
            }
            (RegionFlow::While, &[before, after]) => {
                self.run(op, before, &operands, Traits::CONDITION, &results);
                self.run(op, after, &results, Traits::YIELD, &operands);
            }
            _ => {}
        }
    }

    /// Checks a region that takes arguments of the types `args`, and ends with an operation of trait `end`
    /// that passes on values of the types `out`.
    fn run(&mut self, op: OpRef<'m>, region: Region, args: &[Type], end: Traits, out: &[Type]) {
        let body = op.body;
        let Some(block) = body.entry(region) else {
            let message = format!("a region of `{}` has no block", op.name());
            return self.breach(body, op.op, message);
        };
        self.handed(op, "region argument", args, body.args(block));
        let Some(last) = self.end(op, block) else { return };
        if !last.has(end) {
            let wanted = if end == Traits::CONDITION { "a condition" } else { "a yield" };
            let message = format!("a region of `{}` ends with {wanted}, found `{}`", op.name(), last.name());
            return self.breach(body, last.op, message);
        }
        let decides = usize::from(end == Traits::CONDITION);
        let values: Vec<Value> = body.operands(last.op).skip(decides).collect();
        self.handed(last, "yielded value", out, &values);
    }

    /// The terminator of a block; none if it is unknown, or its errors are reported elsewhere.
    fn end(&self, op: OpRef<'m>, block: Block) -> Option<OpRef<'m>> {
        let last = OpRef::new(self.ctx, op.body, op.body.last_op(block)?);
        last.has(Traits::TERMINATOR).then_some(last)
    }

    /// A yield is inside an operation with regions, and a condition inside a loop.
    pub(super) fn place_of_end(&mut self, op: OpRef<'m>, def: &OpDef) {
        if !def.traits.intersects(Traits::YIELD.union(Traits::CONDITION)) {
            return;
        }
        let around = op.body.parent_op(op.op).map(|parent| OpRef::new(self.ctx, op.body, parent));
        let is_loop = |around: OpRef<'_>| {
            around.def().is_none_or(|def| matches!(def.kind, Kind::Region(RegionFlow::While)))
        };
        if def.traits.contains(Traits::YIELD) && around.is_none() {
            let message = format!("`{}` must be in an operation that takes the yielded values", def.name);
            self.breach(op.body, op.op, message);
        }
        if def.traits.contains(Traits::CONDITION) && !around.is_some_and(is_loop) {
            self.breach(op.body, op.op, format!("`{}` must be in a conditional loop", def.name));
        }
    }
}
