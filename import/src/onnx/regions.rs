//! Graphs within nodes: inlined in place of the node, or as a region of an operation that decides at run time
//! whether and how often it runs.
//!
//! An operation with regions has the result types of its regions, so it is *opened* first, without results.
//! Then its regions are filled, and finally it is *closed*: made with its results and the filled blocks.
//! Constants are inserted before the outermost open operation, so that all later readers can use them. The
//! names of a region's values are visible only in it.

use hashbrown::HashSet;
use ir::{Block, Builder, Location, Op, OpSpec, Traits, Type, Value};

use super::call::Refusal;
use super::lower::GraphLowering;
use super::model::GraphProto;
use super::open::OpenAxes;
use super::order::defined_twice;
use super::rows::find_in;
use super::sequences::NamedItem;
use super::tensor::TensorProto;

/// The state of a function before an attempt.
pub(super) struct GraphCheckpoint {
    last: Option<Op>,
    required: usize,
    around: usize,
    open: OpenAxes,
}

/// The outer meaning of a name that a graph shadows.
struct HiddenName<'m> {
    name: &'m str,
    value: Option<Option<Value>>,
    item: Option<NamedItem>,
    initializer: Option<&'m TensorProto<'m>>,
}

impl<'m> GraphLowering<'m> {
    /// The outputs of a graph that is inlined here, with these values as its inputs.
    pub(super) fn inline(
        &mut self,
        graph: &'m GraphProto<'m>,
        arguments: &[NamedItem],
        location: Location,
    ) -> Result<Vec<NamedItem>, Refusal> {
        if arguments.len() != graph.inputs.len() {
            return Err(
                format!("a graph of {} inputs, expected {}", graph.inputs.len(), arguments.len()).into()
            );
        }
        if let Some(fault) = defined_twice(graph) {
            return Err(fault.message.into());
        }
        self.rewinding.write_down(graph.nodes.len())?;
        let bound = self.rewinding.bound.len();
        let hidden = self.hide(graph);
        let results = self.inline_named(graph, arguments, location);
        let names: HashSet<&str> = hidden.iter().map(|hidden| hidden.name).collect();
        let news = self.rewinding.bound.split_off(bound);
        self.rewinding.bound.extend(news.into_iter().filter(|name| !names.contains(name)));
        hidden.into_iter().for_each(|hidden| self.uncover(hidden));
        results
    }

    /// Hides the outer meanings of the names that a graph defines.
    fn hide(&mut self, graph: &'m GraphProto<'m>) -> Vec<HiddenName<'m>> {
        let inputs = graph.inputs.iter().map(|input| input.name);
        let made = graph.nodes.iter().flat_map(|node| &node.outputs).copied();
        let names = inputs.chain(made).chain(graph.initializers.iter().map(|tensor| tensor.name));
        let mut hidden = Vec::new();
        let mut seen = HashSet::new();
        // An input may have a weight of the same name as its default.
        for name in names.filter(|name| !name.is_empty() && seen.insert(*name)) {
            let value = self.values.remove(name);
            let item = self.items.remove(name);
            hidden.push(HiddenName { name, value, item, initializer: self.initializers.remove(name) });
        }
        hidden
    }

    fn uncover(&mut self, HiddenName { name, value, item, initializer }: HiddenName<'m>) {
        self.values.remove(name);
        self.items.remove(name);
        self.initializers.remove(name);
        value.map(|value| self.values.insert(name, value));
        item.map(|item| self.items.insert(name, item));
        initializer.map(|tensor| self.initializers.insert(name, tensor));
    }

    fn inline_named(
        &mut self,
        graph: &'m GraphProto<'m>,
        arguments: &[NamedItem],
        location: Location,
    ) -> Result<Vec<NamedItem>, Refusal> {
        for (input, item) in graph.inputs.iter().zip(arguments) {
            self.bind(input.name, item.clone());
        }
        self.initializers.extend(graph.initializers.iter().map(|tensor| (tensor.name, tensor)));
        for node in &graph.nodes {
            let row = find_in(node.domain, node.op_type, self.source.sets);
            let row = row.ok_or_else(|| format!("operator `{}` is not supported", node.op_type))?;
            let operands: Vec<Option<Value>> = node.inputs.iter().map(|name| self.named(name)).collect();
            let lacks =
                node.inputs.iter().zip(&operands).find(|(name, value)| {
                    value.is_none() && !name.is_empty() && !self.items.contains_key(*name)
                });
            if let Some((name, _)) = lacks {
                return Err(format!("`{name}` is not defined").into());
            }
            self.convert(node, row, operands, location)?;
        }
        let results = graph.outputs.iter().map(|output| self.item(output.name));
        let results = results.collect::<Option<Vec<NamedItem>>>();
        results.ok_or_else(|| "a graph's output that is not defined".into())
    }

    /// The value of a name in a graph, if there is one.
    pub(super) fn named(&mut self, name: &'m str) -> Option<Value> {
        let is_known = self.values.contains_key(name) || self.initializers.contains_key(name);
        if is_known && !name.is_empty() { self.value(name) } else { None }
    }

    /// Opens an operation with some regions, each with an empty block.
    pub(super) fn open_op(&mut self, name: &str, regions: usize, at: Location) -> (Op, Vec<Block>) {
        let block = self.block();
        let op = self.body.make_op(self.ctx.op_name(name), &[], &[], at);
        self.body.append(op, block);
        let block = |body: &mut ir::Body| {
            let region = body.add_op_region(op);
            body.add_block(region)
        };
        (op, (0..regions).map(|_| block(&mut self.body)).collect())
    }

    /// Fills the block of an open operation. Facts about sizes found there are not visible outside.
    pub(super) fn fill<T>(
        &mut self,
        (op, block): (Op, Block),
        fill: impl FnOnce(&mut Self) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let open = self.open.clone();
        self.around.push((op, block));
        let made = fill(self);
        self.around.pop();
        self.open = open;
        made
    }

    /// Closes an operation: gives it operands and results.
    pub(super) fn close_op(&mut self, open: Op, operands: &[Value], results: &[Type]) -> Result<Op, Refusal> {
        let name = self.ctx.op_name_str(self.body.name(open));
        let spec = OpSpec { operands, results: Some(results), ..OpSpec::default() };
        let mut builder = Builder::before(self.ctx, &mut self.body, open);
        let op = builder.build(name, spec)?;
        for region in self.body.regions(open).to_vec() {
            let to = self.body.add_op_region(op);
            for block in self.body.blocks(region).to_vec() {
                self.body.detach_block(block);
                self.body.attach_block(to, block);
            }
        }
        self.body.erase(open);
        Ok(op)
    }

    /// Records the state before an attempt.
    pub(super) fn attempt(&self) -> GraphCheckpoint {
        let last = self.body.last_op(self.block());
        GraphCheckpoint {
            last,
            required: self.required.len(),
            around: self.around.len(),
            open: self.open.clone(),
        }
    }

    /// Undoes an attempt. Constants stay, since names refer to them.
    pub(super) fn take_back(&mut self, attempt: GraphCheckpoint) {
        self.around.truncate(attempt.around);
        let block = self.block();
        let mut next = self.body.last_op(block);
        while let Some(op) = next.filter(|op| Some(*op) != attempt.last) {
            next = self.body.prev_op(op);
            if !self.body.at(self.ctx, op).has(Traits::CONSTANT) {
                self.body.erase(op);
            }
        }
        self.required.truncate(attempt.required);
        self.open = attempt.open;
    }
}
