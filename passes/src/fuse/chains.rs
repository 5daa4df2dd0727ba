//! Chains: contractions and other kernels that run as one, with the operations between and around them.
//!
//! ```text
//! %3 = nn.matmul %1, %2                  %6 = optc.group(%a = %1, %b = %2, %c = %5) {
//! %4 = nn.softmax %3              =>       matmul, softmax, matmul }
//! %6 = nn.matmul %4, %5
//! ```
//!
//! A chain begins with a contraction, whose result goes through elementwise operations into a kernel, and
//! from that into another contraction. If the target runs it as one, it also takes views and elementwise
//! operations around it as long as the target accepts them: first those after it, then those before its
//! operands, the nearest first. Reshapes at its ends stay outside: they move no bytes. The values in between
//! are never stored, so each must have a single reader. Linear in the operations, times the length of a
//! chain.

use ir::alias::is_free_view;
use ir::opdef::View;
use ir::{Kind, Op, Value};

use super::FusionChooser;

impl FusionChooser<'_> {
    /// Forms a group of each chain of the block.
    pub(super) fn find_chains(&mut self) {
        for op in self.steps.clone() {
            if self.group_of.contains_key(&op) {
                continue;
            }
            let Some(core) = self.core(op).filter(|ops| self.runs_as_one(ops)) else { continue };
            let root = core[0];
            let ops = self.with_surroundings(core);
            self.add_group(ops, root);
        }
    }

    /// A chain that ends with the contraction `last`, from its last operation to its first.
    fn core(&self, last: Op) -> Option<Vec<Op>> {
        let is_contraction = |op: Op| matches!(self.body.at(self.ctx, op).kind(), Kind::Contract(_));
        let mut ops = vec![last];
        if !is_contraction(last) {
            return None;
        }
        let kernel = self.private_maker(self.body.operand(last, 0), last)?;
        if !matches!(self.body.at(self.ctx, kernel).kind(), Kind::Kernel(_)) {
            return None;
        }
        ops.push(kernel);
        let mut first = kernel;
        while !is_contraction(first) {
            let ty = self.body.ty(self.body.result(first, 0));
            let alike = self.body.operands(first).filter(|value| self.body.ty(*value) == ty);
            let mut makers = alike.filter_map(|value| self.private_maker(value, first));
            first = makers.find(|op| is_contraction(*op) || self.is_free_elementwise(*op))?;
            ops.push(first);
        }
        Some(ops)
    }

    /// The operation in this block that computes a value for `reader` alone, if it has no other result.
    fn private_maker(&self, value: Value, reader: Op) -> Option<Op> {
        let op = self.body.defining_op(value)?;
        let is_free = self.body.block_of(op) == self.block
            && self.body.result_count(op) == 1
            && !self.weights.contains(value)
            && !self.group_of.contains_key(&op);
        (is_free && self.only_user(value) == Some(reader)).then_some(op)
    }

    fn runs_as_one(&self, ops: &[Op]) -> bool {
        let ops: Vec<_> = ops.iter().map(|op| self.body.at(self.ctx, *op)).collect();
        ops.len() <= self.max_ops && self.target.runs_as_one(&ops)
    }

    /// A chain with the operations that it takes around it.
    fn with_surroundings(&self, core: Vec<Op>) -> Vec<Op> {
        let last = core[0];
        let mut ops = core;
        let mut end = last;
        while let Some(user) = self.only_user(self.body.result(end, 0)) {
            let can_join = self.body.block_of(user) == self.block && self.is_around(user);
            if !can_join || !self.try_to_add(&mut ops, user) {
                break;
            }
            end = user;
        }
        let inner = ops.clone();
        for op in inner {
            for value in self.body.operands(op) {
                self.add_makers(&mut ops, op, value);
            }
        }
        ops
    }

    /// Whether an operation is a view or elementwise, and in no group.
    fn is_around(&self, op: Op) -> bool {
        let is_view = matches!(self.body.at(self.ctx, op).kind(), Kind::View(View::OfOperand(_)));
        (is_view && !self.group_of.contains_key(&op)) || self.is_free_elementwise(op)
    }

    /// Adds the operation that computes `value` for `reader`, then that of its operand, and so on, as long as
    /// the target accepts them.
    fn add_makers(&self, ops: &mut Vec<Op>, reader: Op, value: Value) {
        let (mut reader, mut value) = (reader, value);
        let mut kept = ops.len();
        while let Some(op) = self.private_maker(value, reader).filter(|op| self.is_around(*op)) {
            if ops.contains(&op) || !self.try_to_add(ops, op) {
                break;
            }
            if !is_free_view(self.body.at(self.ctx, op)) {
                kept = ops.len();
            }
            let inner = self.body.operands(op).find(|value| !self.weights.contains(*value));
            let Some(inner) = inner else { break };
            (reader, value) = (op, inner);
        }
        ops.truncate(kept);
    }

    fn try_to_add(&self, ops: &mut Vec<Op>, op: Op) -> bool {
        ops.push(op);
        let is_taken = self.runs_as_one(ops);
        if !is_taken {
            ops.pop();
        }
        is_taken
    }
}
