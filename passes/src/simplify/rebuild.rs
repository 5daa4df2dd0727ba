//! Rebuilds the function from the chosen nodes.
//!
//! The old operations are walked in text order. Each is replaced by the choice for its class: the operation
//! itself if its node was chosen, another operation of the same node moved here, or a new one, with new
//! operands before it. This keeps the text order as far as possible. A new operation takes the location of
//! the old one. If it also replaces a dead operand (a convolution that absorbed its batch norm), it takes
//! both locations, the operand's first.

use egg::Id;
use ir::{Body, Builder, Location, LocationData, Op, Value};
use rustc_hash::FxHashMap;

use super::extract::Choice;
use super::graph::LawGraph;
use super::nodes::{ENode, NodeHead};
use super::run::BlockRun;

/// Writes the choice into the body; returns the number of new operations.
pub(super) fn rebuild(graph: &LawGraph<'_>, body: &mut Body, run: &BlockRun, choice: &Choice) -> u64 {
    let mut rebuilding = Rebuilding { graph, run, choice, body, values: FxHashMap::default(), made: 0 };
    for &op in &run.ops {
        match run.class_of(graph.analysis.ctx, rebuilding.body, op) {
            None => {
                for operand in rebuilding.body.operands(op).collect::<Vec<_>>() {
                    rebuilding.put_value(operand, op);
                }
            }
            Some(class) if choice.is_used(class) => {
                rebuilding.put(class, op);
            }
            Some(_) => {}
        }
    }
    rebuilding.replace();
    rebuilding.made
}

struct Rebuilding<'r, 'a> {
    graph: &'r LawGraph<'a>,
    run: &'r BlockRun,
    choice: &'r Choice,
    body: &'r mut Body,
    /// The values of the classes that have been written.
    values: FxHashMap<Id, Value>,
    made: u64,
}

/// A task for a class.
enum RebuildStep {
    /// Write its operands, then the class itself.
    Open(Id),
    /// Write the class itself: its operands are written.
    Close(Id),
}

impl Rebuilding<'_, '_> {
    fn put_value(&mut self, value: Value, before: Op) {
        if let Some(class) = self.run.class_of_value(value) {
            self.put(class, before);
        }
    }

    /// Writes a class and its operands before an operation, unless it is already written.
    fn put(&mut self, class: Id, before: Op) {
        let mut open = vec![RebuildStep::Open(class)];
        while let Some(step) = open.pop() {
            match step {
                RebuildStep::Open(class) if self.values.contains_key(&class) => {}
                RebuildStep::Open(class) => {
                    let node = self.choice.node(class);
                    if let NodeHead::Leaf(value, _) = self.graph.analysis.heads[node.head as usize] {
                        self.values.insert(class, value);
                        continue;
                    }
                    open.push(RebuildStep::Close(class));
                    let children = node.children.iter().rev();
                    open.extend(children.map(|child| RebuildStep::Open(self.graph.find(*child))));
                }
                RebuildStep::Close(class) if self.values.contains_key(&class) => {}
                RebuildStep::Close(class) => {
                    let value = self.put_one(class, before);
                    self.values.insert(class, value);
                }
            }
        }
    }

    /// Writes the operation of a class whose operands are written.
    fn put_one(&mut self, class: Id, before: Op) -> Value {
        let node = self.choice.node(class);
        let operands: Vec<Value> =
            node.children.iter().map(|child| self.values[&self.graph.find(*child)]).collect();
        let op = match self.run.originals.get(node) {
            Some(&op) => {
                if op != before {
                    self.body.detach(op);
                    self.body.insert_before(op, before);
                }
                if !self.body.operands(op).eq(operands.iter().copied()) {
                    self.body.set_operands(op, &operands);
                }
                op
            }
            None => self.make(class, node, &operands, before),
        };
        self.body.result(op, 0)
    }

    fn make(&mut self, class: Id, node: &ENode, operands: &[Value], before: Op) -> Op {
        let head = *self.graph.analysis.op(node).expect("leaves are values already");
        let replaced = self.run.first_op(class).unwrap_or(before);
        let location = self.location(replaced, head.name);
        let op = self.body.make_op(head.name, operands, &[head.ty], location);
        self.body.set_properties(op, head.properties);
        self.body.set_attrs(op, head.attrs);
        Builder::before(self.graph.analysis.ctx, self.body, before).insert(op);
        self.made += 1;
        op
    }

    /// The location of a new operation called `name` that replaces `replaced`.
    fn location(&self, replaced: Op, name: ir::OpName) -> Location {
        let ctx = self.graph.analysis.ctx;
        let own = self.body.location(replaced);
        let absorbed = self.body.operands(replaced).find_map(|operand| {
            let class = self.run.class_of_value(operand)?;
            let op = self.body.defining_op(operand)?;
            (!self.choice.is_used(class) && self.body.name(op) == name).then(|| self.body.location(op))
        });
        match absorbed {
            Some(first) if first.source_offset().is_none() && own.source_offset().is_none() => {
                ctx.location(LocationData::Fused { metadata: None, parts: [first, own].into() })
            }
            Some(first) => first,
            None => own,
        }
    }

    /// Replaces all uses of old values by the new ones.
    fn replace(&mut self) {
        for &op in &self.run.ops {
            let Some(class) = self.run.class_of(self.graph.analysis.ctx, self.body, op) else { continue };
            if let Some(&new) = self.values.get(&class) {
                self.body.replace_uses(self.body.result(op, 0), new);
            }
        }
    }
}
