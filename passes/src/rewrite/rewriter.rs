//! The interface by which rules change a body.
//!
//! Every change queues the affected operations for another visit, so rules must change the body only through
//! this interface.

use std::collections::VecDeque;

use cranelift_entity::EntitySet;
use ir::body::OpRef;
use ir::builder::infer;
use ir::interp::Tensor;
use ir::{Attr, Block, Body, Builder, Context, Op, OpName, OpSpec, Traits, Type, Value};

use crate::constants;

/// Proof that a rule was applied: only changes of a [`Rewriter`] return it.
#[derive(Debug)]
pub struct Applied(());

/// A body that is being rewritten.
pub struct Rewriter<'r> {
    ctx: &'r Context,
    body: &'r mut Body,
    queue: VecDeque<Op>,
    queued: EntitySet<Op>,
}

impl<'r> Rewriter<'r> {
    /// A body with an empty queue.
    pub(crate) fn new(ctx: &'r Context, body: &'r mut Body) -> Rewriter<'r> {
        Rewriter { ctx, body, queue: VecDeque::new(), queued: EntitySet::new() }
    }

    /// The context of all handles.
    pub fn ctx(&self) -> &'r Context {
        self.ctx
    }

    /// The body as it is.
    pub fn body(&self) -> &Body {
        self.body
    }

    /// An operation together with its body and context.
    pub fn at(&self, op: Op) -> OpRef<'_> {
        self.body.at(self.ctx, op)
    }

    /// The elements of a constant, if they are few and part of the program.
    pub fn constant(&self, value: Value) -> Option<Tensor> {
        constants::tensor(self.ctx, self.body, value)
    }

    /// The value of a constant that is a single integer (a boolean is 0 or 1).
    pub fn integer(&self, value: Value) -> Option<i128> {
        constants::integer(self.ctx, &self.constant(value)?)
    }

    /// Inserts an operation before another, with its location; none if result types are not given and can't
    /// be inferred.
    pub fn build_before(&mut self, before: Op, name: &str, spec: OpSpec<'_>) -> Option<Op> {
        let op = Builder::before(self.ctx, self.body, before).build(name, spec).ok()?;
        self.look_at(op);
        Some(op)
    }

    /// Inserts an operation with one result before another, with these inherent attributes; none if its
    /// `OpDef` refuses the operands.
    pub fn value_before(
        &mut self,
        before: Op,
        name: OpName,
        operands: &[Value],
        properties: Attr,
    ) -> Option<Value> {
        let types: Vec<Type> = operands.iter().map(|operand| self.body.ty(*operand)).collect();
        let results = infer(self.ctx, name, &types, properties).ok()?;
        let op = self.body.make_op(name, operands, &results, self.body.location(before));
        self.body.set_properties(op, properties);
        self.body.insert_before(op, before);
        self.look_at(op);
        (results.len() == 1).then(|| self.body.result(op, 0))
    }

    /// Inserts a constant before an operation. Uses the same kind of operation as a constant operand of it,
    /// if both are tensors or neither is; otherwise `nn.constant` for a tensor, and `arith.constant` for
    /// other types.
    pub fn constant_before(&mut self, before: Op, value: Attr, ty: Type) -> Option<Value> {
        let name = self.constant_name(before, ty);
        let spec = OpSpec { attrs: &[("value", value)], results: Some(&[ty]), ..OpSpec::default() };
        let op = self.build_before(before, name, spec)?;
        Some(self.body.result(op, 0))
    }

    fn constant_name(&self, before: Op, ty: Type) -> &'static str {
        let is_tensor = self.ctx.type_data(ty).tensor_shape().is_some();
        let constants = self.body.operands(before).filter_map(|value| self.body.defining_op(value));
        let mut like = constants.map(|op| self.at(op)).filter(|op| op.has(Traits::CONSTANT));
        let like = like.find(|op| {
            let is_like = self.ctx.type_data(op.result_type(0)).tensor_shape().is_some() == is_tensor;
            is_like && op.def().is_some()
        });
        match like.and_then(|op| op.def()) {
            Some(def) => def.name,
            None if is_tensor => "nn.constant",
            None => "arith.constant",
        }
    }

    /// Replaces an operation's results by values, and removes it with its regions.
    pub fn replace(&mut self, op: Op, values: &[Value]) -> Applied {
        assert_eq!(values.len(), self.body.result_count(op), "every result has a value in its place");
        let results: Vec<Value> = self.body.results(op).collect();
        for (result, value) in results.into_iter().zip(values) {
            self.forward(result, *value);
        }
        self.erase(op)
    }

    /// Replaces all uses of a value by another.
    pub fn forward(&mut self, old: Value, new: Value) -> Applied {
        let readers: Vec<Op> = self.body.uses(old).map(|read| read.op).collect();
        readers.into_iter().for_each(|reader| self.look_at(reader));
        self.body.replace_uses(old, new);
        Applied(())
    }

    /// Removes an operation whose results are not read, with its regions.
    pub fn erase(&mut self, op: Op) -> Applied {
        self.look_at_operands(op);
        self.look_at_captured(op);
        self.body.erase(op);
        Applied(())
    }

    /// Changes an operation in place: its operands, attributes, successors or name.
    pub fn update(&mut self, op: Op, change: impl FnOnce(&Context, &mut Body)) -> Applied {
        self.look_at_operands(op);
        change(self.ctx, self.body);
        self.look_at_readers(op);
        self.look_at(op);
        Applied(())
    }

    /// Moves the operations of a block before an operation, with these values for the block's arguments;
    /// returns the operands of its terminator. The block is then empty.
    pub fn inline_block(&mut self, block: Block, before: Op, args: &[Value]) -> Vec<Value> {
        let params = self.body.args(block).to_vec();
        assert_eq!(params.len(), args.len(), "every argument of the block is given");
        for (param, arg) in params.into_iter().zip(args) {
            self.forward(param, *arg);
        }
        let end = self.body.last_op(block).expect("a block has a terminator");
        let handed: Vec<Value> = self.body.operands(end).collect();
        self.erase(end);
        for op in self.body.ops(block).collect::<Vec<_>>() {
            self.body.detach(op);
            self.body.insert_before(op, before);
            self.look_at(op);
        }
        handed
    }

    /// Replaces an operation by one without some operands and results, which nothing reads; its regions move
    /// to the new operation.
    pub fn rebuild_without(&mut self, op: Op, operands: &[usize], results: &[usize]) -> Op {
        let body = &mut *self.body;
        assert!(body.child(op).is_none(), "{op} is isolated");
        let kept = |left_out: &[usize], index: usize| !left_out.contains(&index);
        let (_, values): (Vec<usize>, Vec<Value>) =
            body.operands(op).enumerate().filter(|(index, _)| kept(operands, *index)).unzip();
        let old: Vec<Value> =
            body.results(op).enumerate().filter(|(index, _)| kept(results, *index)).map(|r| r.1).collect();
        let types: Vec<Type> = old.iter().map(|result| body.ty(*result)).collect();
        let new = body.make_op(body.name(op), &values, &types, body.location(op));
        body.set_properties(new, body.properties(op));
        body.set_attrs(new, body.attrs(op));
        body.insert_before(new, op);
        for region in body.regions(op).to_vec() {
            let to = body.add_op_region(new);
            for block in body.blocks(region).to_vec() {
                body.detach_block(block);
                body.attach_block(to, block);
            }
        }
        for (old, new) in old.into_iter().zip(self.body.results(new)) {
            self.forward(old, new);
        }
        self.erase(op);
        self.look_at(new);
        new
    }

    /// Queues an operation for a visit.
    pub(super) fn look_at(&mut self, op: Op) {
        if self.queued.insert(op) {
            self.queue.push_back(op);
        }
    }

    /// The next operation to look at.
    pub(super) fn next(&mut self) -> Option<Op> {
        while let Some(op) = self.queue.pop_front() {
            self.queued.remove(op);
            if self.body.block_of(op).is_some() {
                return Some(op);
            }
        }
        None
    }

    fn look_at_readers(&mut self, op: Op) {
        let results = self.body.results(op);
        let readers: Vec<Op> =
            results.flat_map(|result| self.body.uses(result)).map(|read| read.op).collect();
        readers.into_iter().for_each(|reader| self.look_at(reader));
    }

    /// Queues the operands of an operation, which may be dead once it is removed.
    fn look_at_operands(&mut self, op: Op) {
        let operands: Vec<Op> =
            self.body.operands(op).filter_map(|value| self.body.defining_op(value)).collect();
        operands.into_iter().for_each(|operand| self.look_at(operand));
    }

    /// Queues the operands of the operations in its regions likewise.
    fn look_at_captured(&mut self, op: Op) {
        for region in self.body.regions(op).to_vec() {
            for block in self.body.blocks(region).to_vec() {
                for inner in self.body.ops(block).collect::<Vec<_>>() {
                    self.look_at_operands(inner);
                    self.look_at_captured(inner);
                }
            }
        }
    }
}
