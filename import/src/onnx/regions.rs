//! How a graph within a node is written down: in the place of the node, or as a region of an operation that
//! decides at run time whether and how often it is run.
//!
//! An operation with regions has the types of its results from what its regions make, so it is *opened*
//! first, without results; the regions are filled; and then it is *closed*: made with its results, with the
//! blocks that were filled. Constants stand before the outermost open operation, so that whatever reads them
//! later may do so. What a region makes has a name in it only.

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

/// How much there was before something was tried.
pub(super) struct GraphCheckpoint {
    last: Option<Op>,
    required: usize,
    around: usize,
    open: OpenAxes,
}

/// What a name stood for around a graph that gives it another meaning.
struct HiddenName<'m> {
    name: &'m str,
    value: Option<Option<Value>>,
    item: Option<NamedItem>,
    initializer: Option<&'m TensorProto<'m>>,
}

impl<'m> GraphLowering<'m> {
    /// The outputs of a graph that is written down here, with these values as its inputs.
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

    /// Takes away what the names that a graph defines stand for around it.
    fn hide(&mut self, graph: &'m GraphProto<'m>) -> Vec<HiddenName<'m>> {
        let inputs = graph.inputs.iter().map(|input| input.name);
        let made = graph.nodes.iter().flat_map(|node| &node.outputs).copied();
        let names = inputs.chain(made).chain(graph.initializers.iter().map(|tensor| tensor.name));
        let mut hidden = Vec::new();
        let mut seen = HashSet::new();
        // An input may have a weight of its name, which is its default.
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

    /// The value that a name in a graph stands for, if there is one.
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

    /// Fills the block of an open operation. What is found out of sizes there is not known outside.
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

    /// What there is before something is tried.
    pub(super) fn attempt(&self) -> GraphCheckpoint {
        let last = self.body.last_op(self.block());
        GraphCheckpoint {
            last,
            required: self.required.len(),
            around: self.around.len(),
            open: self.open.clone(),
        }
    }

    /// Takes back what was made since. Constants stay: names stand for them.
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
