//! From which step to which the bytes of each value must be kept.
//!
//! The steps of a function are its operations in text order, without weights (evaluated when the program is loaded),
//! views that need no copy, and the terminator. Lives belong to alias roots: the reader of a view keeps the
//! view's root alive. A returned value lives to the step behind the last one. One walk; linear in operands.

use cranelift_entity::{EntityRef, SecondaryMap};
use ir::alias::{AliasSets, ties, view_offset_bytes};
use ir::weights::WeightSet;
use ir::{Block, Body, Context, Op, Traits, Value};

use crate::place::Step;

/// The steps of a function.
pub struct Steps {
    ops: Vec<Op>,
}

impl Steps {
    /// The steps of a block: what runs, in order.
    pub fn of(ctx: &Context, body: &Body, block: Block, weights: &WeightSet) -> Steps {
        let runs = |op: &Op| {
            let op_ref = body.at(ctx, *op);
            let is_silent = weights.is_weight_op(body, *op) || op_ref.has(Traits::TERMINATOR);
            !is_silent && (view_offset_bytes(op_ref).is_none() || !ties(op_ref).is_empty())
        };
        Steps { ops: body.ops(block).filter(runs).collect() }
    }

    /// The operations, each with its step.
    pub fn iter(&self) -> impl Iterator<Item = (Step, Op)> + '_ {
        self.ops.iter().enumerate().map(|(index, op)| (Step::new(index), *op))
    }

    /// The step behind the last one: when results are handed over.
    pub fn end(&self) -> Step {
        Step::new(self.ops.len())
    }
}

/// From which step to which, both included, something is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Life {
    /// The step that writes it first.
    pub first: Step,
    /// The last step that reads it, or that writes it where nothing reads it.
    pub last: Step,
}

/// The lives of a function's alias roots.
pub struct Liveness<'a> {
    aliases: &'a AliasSets,
    lives: SecondaryMap<Value, Option<Life>>,
    last_reader: SecondaryMap<Value, Option<Op>>,
    roots: Vec<Value>,
}

impl<'a> Liveness<'a> {
    /// Computes the lives of what the steps of `block` make, and of its arguments (from step 0 on).
    pub fn of(
        ctx: &Context,
        body: &Body,
        block: Block,
        steps: &Steps,
        aliases: &'a AliasSets,
    ) -> Liveness<'a> {
        let (lives, last_reader) = (SecondaryMap::new(), SecondaryMap::new());
        let mut liveness = Liveness { aliases, lives, last_reader, roots: Vec::new() };
        for &arg in body.args(block) {
            liveness.begin(arg, Step::new(0));
        }
        for (step, op) in steps.iter() {
            body.operands(op).for_each(|operand| liveness.read(operand, step, op));
            body.results(op).for_each(|result| liveness.begin(result, step));
        }
        if let Some(end) = body.last_op(block).filter(|op| body.at(ctx, *op).has(Traits::TERMINATOR)) {
            body.operands(end).for_each(|operand| liveness.read(operand, steps.end(), end));
        }
        liveness
    }

    /// When the bytes of an alias root are kept; none for weights.
    pub fn life(&self, root: Value) -> Option<Life> {
        self.lives[root]
    }

    /// The operation that reads the bytes of a root last, if any does.
    pub fn last_reader(&self, root: Value) -> Option<Op> {
        self.last_reader[root]
    }

    /// The roots with a life, in the order in which they begin.
    pub fn roots(&self) -> &[Value] {
        &self.roots
    }

    fn begin(&mut self, value: Value, step: Step) {
        let root = self.aliases.root(value);
        match &mut self.lives[root] {
            Some(life) => life.last = step,
            none => {
                *none = Some(Life { first: step, last: step });
                self.roots.push(root);
            }
        }
    }

    fn read(&mut self, value: Value, step: Step, op: Op) {
        let root = self.aliases.root(value);
        if let Some(life) = &mut self.lives[root] {
            life.last = step;
            self.last_reader[root] = Some(op);
        }
    }
}
