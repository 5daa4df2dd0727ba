//! Lowering of a model's graph to a function of the IR.
//!
//! The graph's inputs become the arguments of `@main`, its outputs the operands of its `return`, each with
//! its ONNX name as `optc.name`. Nodes are converted one by one in an execution order, by the rows of
//! [`super::rows`]. A weight is emitted when it is first read; unread weights are dropped. Types are inferred
//! by the rows of the IR; a type declared in the file is compared with the inferred one, and a contradiction
//! is an error.
//!
//! All faults that do not follow from others are reported together: faults of names and order and unknown
//! operators, before anything is converted; then all nodes that refuse, except readers of a refused node's
//! results; then violations of the IR's rules (a function of floats on integers, statistics of the wrong
//! size).

use std::cell::OnceCell;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use ir::builder::InsertPoint;
use ir::dims::{self, Requirement};
use ir::plan::attrs;
use ir::size::tensor_bytes;
use ir::strings::is_string;
use ir::verify::verify;
use ir::{
    Attr, Block, Body, Builder, Context, Diagnostic, Dim, Ident, Location, Module, Op, OpSpec, Traits, Type,
    TypeData, Value,
};

use super::call::{NodeConversion, Refusal, emit_constant};
use super::declared::{DeclaredInput, DeclaredSizes, check_declared, declared_input, misnamed};
use super::facts::{SizeFacts, requirements};
use super::model::{AttributeValue, GraphProto, NodeProto};
use super::open::OpenAxes;
use super::order::order;
use super::rewind::{NodeStep, Rewinding, after_others, lower_nodes};
use super::rows::{Convert, OperatorRow, OperatorSets, find_in};
use super::sequences::NamedItem;
use super::tensor::{TensorProto, TypeProto, ValueInfoProto};
use super::unsupported::unsupported;
use super::weights::{Weight, WeightFiles};

/// The input of a lowering.
pub(super) struct ModelSource<'m> {
    /// The main graph.
    pub(super) graph: &'m GraphProto<'m>,
    /// Versions of the operator sets.
    pub(super) sets: OperatorSets,
    /// Values of symbolic sizes.
    pub(super) sizes: &'m DeclaredSizes,
    /// Finds the elements of tensors.
    pub(super) weights: WeightFiles<'m>,
}

/// A module with the function `@main` that computes the graph.
///
/// # Errors
/// All faults of the graph; each has the name of its node as location.
pub(super) fn lower(ctx: &Arc<Context>, source: ModelSource<'_>) -> Result<Module, Vec<Diagnostic>> {
    let graph = source.graph;
    let node_rows: Vec<Option<&OperatorRow>> =
        graph.nodes.iter().map(|node| find_in(node.domain, node.op_type, source.sets)).collect();
    let mut diagnostics = unsupported(ctx, graph, source.sets.own, &node_rows);
    let order = order(graph).unwrap_or_else(|faults| {
        diagnostics.extend(faults.into_iter().map(|fault| fault.into_diagnostic(ctx, graph)));
        Vec::new()
    });
    if !diagnostics.is_empty() {
        return Err(diagnostics);
    }
    let faults = misnamed(ctx, source.sizes, &graph.inputs);
    if !faults.is_empty() {
        return Err(faults);
    }
    let row = |index: usize| node_rows[index].expect("`unsupported` told of every node without a row");
    let steps: Vec<NodeStep> = order.into_iter().map(|node| NodeStep { node, row: row(node) }).collect();
    let lowering = lower_nodes(ctx, source, &steps);
    let module = lowering.finish(ctx)?;
    verify(&module)?;
    Ok(module)
}

pub(super) struct GraphLowering<'m> {
    pub(super) ctx: &'m Context,
    pub(super) source: ModelSource<'m>,
    pub(super) initializers: HashMap<&'m str, &'m TensorProto<'m>>,
    declared: HashMap<&'m str, &'m ValueInfoProto<'m>>,
    /// The value of each name; none if a reported fault leaves the name without one.
    pub(super) values: HashMap<&'m str, Option<Value>>,
    /// The names of sequences and of empty optionals.
    pub(super) items: HashMap<&'m str, NamedItem>,
    argument_names: Vec<String>,
    pub(super) body: Body,
    /// The known facts about named sizes, and the nodes' requirements.
    pub(super) facts: SizeFacts<'m>,
    pub(super) required: Vec<Requirement>,
    /// The names on which outputs depend: requirements of other nodes do not matter to a run. Computed when a
    /// node first has a requirement.
    needed: OnceCell<HashSet<&'m str>>,
    pub(super) open: OpenAxes,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) rewinding: Rewinding<'m>,
    /// The open operations with regions, each nested in the one before it, with the block that is being
    /// filled.
    pub(super) around: Vec<(Op, Block)>,
}

impl<'m> GraphLowering<'m> {
    pub(super) fn new(ctx: &'m Context, facts: SizeFacts<'m>, source: ModelSource<'m>) -> GraphLowering<'m> {
        let graph = source.graph;
        let mut body = Body::new(1);
        body.add_block(body.root());
        let declared = graph.value_infos.iter().chain(&graph.outputs);
        let declared = declared.filter(|info| info.ty != TypeProto::Unknown);
        GraphLowering {
            ctx,
            initializers: graph.initializers.iter().map(|tensor| (tensor.name, tensor)).collect(),
            declared: declared.map(|info| (info.name, info)).collect(),
            values: HashMap::new(),
            items: HashMap::new(),
            argument_names: Vec::new(),
            body,
            facts,
            required: Vec::new(),
            needed: OnceCell::new(),
            open: OpenAxes::default(),
            diagnostics: Vec::new(),
            rewinding: Rewinding::default(),
            around: Vec::new(),
            source,
        }
    }

    /// The function's block.
    pub(super) fn entry(&self) -> Block {
        self.body.entry(self.body.root()).expect("`Lowering::new` made a block")
    }

    /// The block at whose end operations are inserted.
    pub(super) fn block(&self) -> Block {
        self.around.last().map_or_else(|| self.entry(), |(_, block)| *block)
    }

    fn builder(&mut self, location: Location) -> Builder<'_> {
        let block = self.block();
        let mut builder = Builder::at_end(self.ctx, &mut self.body, block);
        builder.location = location;
        builder
    }

    fn refuse(&mut self, location: Location, refusal: Refusal) {
        let Some(refusal) = after_others(self.diagnostics.len(), refusal) else { return };
        let diagnostic = Diagnostic::error(location, refusal.message);
        self.diagnostics.push(Diagnostic { help: refusal.help, ..diagnostic });
    }

    /// Adds an argument for each input that is not also a weight.
    pub(super) fn arguments(&mut self) {
        let graph = self.source.graph;
        for input in &graph.inputs {
            if self.is_weight(input.name) {
                continue;
            }
            if let Some(weight) = self.facts.given.constants.get(input.name) {
                self.constant(input.name, Ok(weight.clone()));
                continue;
            }
            let item = match declared_input(self.ctx, input.name, &input.ty, &self.facts) {
                Ok(DeclaredInput::Tensor(ty)) => NamedItem::Tensor(self.argument(input.name.to_owned(), ty)),
                Ok(DeclaredInput::Sequence(types)) => {
                    let types = types.into_iter().enumerate();
                    let elements = types.map(|(at, ty)| self.argument(element_name(input.name, at), ty));
                    NamedItem::Sequence(elements.collect())
                }
                Ok(DeclaredInput::Nothing) => NamedItem::Nothing,
                Err(refusal) => {
                    self.refuse(self.ctx.name_location(input.name), refusal);
                    self.set_value(input.name, None);
                    continue;
                }
            };
            self.bind(input.name, item);
        }
    }

    /// Whether an input is also a weight.
    pub(super) fn is_weight(&self, input: &str) -> bool {
        self.initializers.contains_key(input)
    }

    fn argument(&mut self, name: String, ty: Type) -> Value {
        let block = self.entry();
        self.argument_names.push(name);
        self.body.add_arg(block, ty)
    }

    /// Binds a name from here on.
    pub(super) fn bind(&mut self, name: &'m str, item: NamedItem) {
        match item {
            NamedItem::Tensor(value) => {
                self.items.remove(name);
                self.set_value(name, Some(value));
            }
            item => {
                self.rewinding.bound.push(name);
                self.values.remove(name);
                self.items.insert(name, item);
            }
        }
    }

    fn set_value(&mut self, name: &'m str, value: Option<Value>) {
        self.rewinding.bound.push(name);
        self.values.insert(name, value);
    }

    /// The meaning of a name, if it is defined.
    pub(super) fn item(&mut self, name: &'m str) -> Option<NamedItem> {
        self.items.get(name).cloned().or_else(|| self.named(name).map(NamedItem::Tensor))
    }

    /// The value called `name`; a weight is emitted when it is first read.
    pub(super) fn value(&mut self, name: &'m str) -> Option<Value> {
        if let Some(value) = self.values.get(name) {
            return *value;
        }
        let weight = match self.initializers.get(name) {
            Some(tensor) => self.source.weights.read(tensor, name),
            None => Err("its data is sparse, expected a dense tensor".to_owned()),
        };
        self.constant(name, weight)
    }

    /// Binds a name to a constant, or to none if the constant is faulty. It is placed outside of all regions,
    /// since later nodes there may read it too.
    fn constant(&mut self, name: &'m str, weight: Result<Weight, String>) -> Option<Value> {
        let location = self.ctx.name_location(name);
        let block = self.entry();
        let mut builder = match self.around.first() {
            Some((op, _)) => Builder::before(self.ctx, &mut self.body, *op),
            None => Builder::at_end(self.ctx, &mut self.body, block),
        };
        builder.location = location;
        let keys = &mut self.source.weights.keys;
        let value = weight.and_then(|weight| emit_constant(&mut builder, keys, weight, name));
        let value = value.map_err(|message| self.refuse(location, message.into())).ok();
        self.set_value(name, value);
        value
    }

    pub(super) fn node(&mut self, NodeStep { node: index, row }: NodeStep) {
        let node = &self.source.graph.nodes[index];
        let location = self.ctx.name_location(&self.source.graph.node_name(index));
        let is_tensor = |name: &str, all: &Self| !name.is_empty() && !all.items.contains_key(name);
        let value = |name: &&'m str| if is_tensor(name, self) { self.value(name) } else { None };
        let operands: Vec<Option<Value>> = node.inputs.iter().map(value).collect();
        let lacks = |(name, value): (&&str, &Option<Value>)| value.is_none() && is_tensor(name, self);
        if node.inputs.iter().zip(&operands).any(lacks) {
            return self.abandon(node);
        }
        if self.rewinding.has_names {
            self.mention(node, &operands);
        }
        let known = self.required.len();
        if let Err(refusal) = self.convert(node, row, operands, location) {
            self.refuse(location, refusal);
            self.abandon(node);
        }
        if self.required.len() > known && !self.is_needed(node) {
            self.required.truncate(known);
        }
    }

    fn is_needed(&self, node: &NodeProto<'m>) -> bool {
        let needed = self.needed.get_or_init(|| needed(self.source.graph));
        node.outputs.iter().any(|name| needed.contains(name))
    }

    /// Marks the results of a node as without a value.
    fn abandon(&mut self, node: &NodeProto<'m>) {
        node.outputs.iter().for_each(|name| self.set_value(name, None));
    }

    pub(super) fn convert(
        &mut self,
        node: &'m NodeProto<'m>,
        row: &OperatorRow,
        operands: Vec<Option<Value>>,
        location: Location,
    ) -> Result<(), Refusal> {
        check_form(node, row)?;
        let strings =
            operands.iter().flatten().find(|value| is_string(self.ctx, self.ctx.elem(self.body.ty(**value))));
        if strings.is_some() && !row.takes_strings() {
            return Err(format!("an input of strings, which {} does not take", row.op).into());
        }
        let block = self.block();
        let before = self.body.last_op(block);
        let read = self.read(node, &operands);
        let items = match row.convert {
            Convert::Sequences(operator) => self.sequence(operator, node, operands, location)?,
            Convert::Graphs(flow) => self.flow(flow, node, operands, location)?,
            _ if row.op == "Identity" && self.items.contains_key(node.inputs[0]) => {
                vec![self.items[node.inputs[0]].clone()]
            }
            _ if node.inputs.iter().any(|name| self.items.contains_key(name)) => {
                return Err("an input is a sequence or an empty optional, expected a tensor".into());
            }
            convert => {
                let results = self.call(node, operands, location, |call| convert.run(call))?;
                results.into_iter().map(NamedItem::Tensor).collect()
            }
        };
        let results: Vec<Value> = items.iter().flat_map(NamedItem::values).copied().collect();
        let first = match before {
            Some(before) => self.body.next_op(before),
            None => self.body.ops(block).next(),
        };
        let ops: Vec<Op> = std::iter::successors(first, |op| self.body.next_op(*op)).collect();
        self.open.follow_node(self.ctx, &self.body, &ops, [&read, &results])?;
        self.require(&ops);
        let mut items = items.into_iter();
        for (index, &name) in node.outputs.iter().enumerate() {
            let item = items.next();
            if name.is_empty() {
                continue;
            }
            let item = item.ok_or_else(|| format!("result {index}, `{name}`, is not supported"))?;
            if let NamedItem::Tensor(value) = item {
                self.check_result(name, value)?;
            }
            self.bind(name, item);
        }
        Ok(())
    }

    /// Refuses a result that is too large for memory, or that contradicts the type in the file.
    fn check_result(&self, name: &str, value: Value) -> Result<(), Refusal> {
        check_fits_memory(self.ctx, self.body.ty(value))?;
        let Some(info) = self.declared.get(name) else { return Ok(()) };
        let open = self.open.of(value).map(|open| open.axis);
        check_declared(self.ctx, self.body.ty(value), info, self.source.sizes, open)
    }

    /// The values that a node reads, including those in sequences.
    pub(super) fn read(&self, node: &NodeProto<'m>, operands: &[Option<Value>]) -> Vec<Value> {
        let items = node.inputs.iter().filter_map(|name| self.items.get(name)).flat_map(NamedItem::values);
        operands.iter().flatten().chain(items).copied().collect()
    }

    /// Runs a function on the conversion interface of a node.
    pub(super) fn call<T>(
        &mut self,
        node: &'m NodeProto<'m>,
        operands: Vec<Option<Value>>,
        location: Location,
        make: impl FnOnce(&mut NodeConversion<'_, 'm>) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let end = InsertPoint::End(self.block());
        self.call_at(end, node, operands, location, make)
    }

    /// The same, with another insertion point.
    pub(super) fn call_at<T>(
        &mut self,
        place: InsertPoint,
        node: &'m NodeProto<'m>,
        operands: Vec<Option<Value>>,
        location: Location,
        make: impl FnOnce(&mut NodeConversion<'_, 'm>) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let builder = Builder { ctx: self.ctx, body: &mut self.body, at: place, location };
        make(&mut NodeConversion {
            node,
            version: self.source.sets.own,
            builder,
            operands,
            weights: &mut self.source.weights,
            ranges: &self.facts.ranges,
            open: &mut self.open,
            required: &mut self.required,
        })
    }

    /// Records the operations' requirements of named sizes. The bound of a data-dependent size requires
    /// nothing: it is no size.
    fn require(&mut self, ops: &[Op]) {
        for op in ops {
            if self.body.operands(*op).all(|operand| self.open.of(operand).is_none()) {
                let op = self.body.at(self.ctx, *op);
                self.required.extend(requirements(op, &self.facts.ranges));
            }
        }
    }

    /// The named sizes of the inputs, in the order of their first occurrence.
    pub(super) fn symbols(&self) -> Vec<Ident> {
        let args = self.body.args(self.entry()).iter();
        let shapes = args.filter_map(|arg| self.ctx.type_data(self.body.ty(*arg)).tensor_shape());
        let mut found = Vec::new();
        for dim in shapes.flatten() {
            let Dim::Symbolic(expr) = dim else { continue };
            for name in dims::symbols(self.ctx, *expr) {
                if !found.contains(&name) {
                    found.push(name);
                }
            }
        }
        found
    }

    fn finish(mut self, ctx: &Arc<Context>) -> Result<Module, Vec<Diagnostic>> {
        let (names, results) = self.outputs();
        if !self.diagnostics.is_empty() {
            return Err(self.diagnostics);
        }
        let mut results: Vec<Value> = results.into_iter().flatten().collect();
        let counts: Vec<Value> =
            results.iter().filter_map(|value| Some(self.open.of(*value)?.count)).collect();
        results.extend(counts);
        let spec = OpSpec { operands: &results, ..OpSpec::default() };
        self.builder(Location::UNKNOWN).build("func.return", spec).expect("a return has no results");
        self.drop_unread_constants();
        let signature = self.signature(&results, &names);
        let facts = self.facts.attr(ctx);
        let mut module = Module::new(Arc::clone(ctx));
        let block = module.block();
        let name = self.source.graph.name;
        let location = if name.is_empty() { Location::UNKNOWN } else { ctx.name_location(name) };
        let top = module.body_mut();
        let func = top.make_op(ctx.op_name("func.func"), &[], &[], location);
        top.set_properties(func, signature);
        top.set_child(func, self.body);
        top.append(func, block);
        if let Some(facts) = facts {
            top.child_mut(func).expect("it was just given").set_own_attr(ctx, attrs::OPTC_DIMS, facts);
        }
        Ok(module)
    }

    /// The names of the function's results, and their values; a sequence has one for each of its elements.
    fn outputs(&mut self) -> (Vec<String>, Vec<Option<Value>>) {
        let graph = self.source.graph;
        let mut outputs = Vec::new();
        for name in graph.outputs.iter().map(|output| output.name) {
            match self.items.get(name) {
                Some(NamedItem::Sequence(elements)) => {
                    let elements = elements.iter().enumerate();
                    outputs.extend(elements.map(|(at, value)| (element_name(name, at), Some(*value))));
                }
                Some(NamedItem::Counted(_, refusal)) => {
                    let refusal = refusal.clone();
                    self.refuse(self.ctx.name_location(name), refusal);
                }
                Some(_) => {}
                None => outputs.push((name.to_owned(), self.value(name))),
            }
        }
        outputs.into_iter().unzip()
    }

    /// Removes the constants that have become attributes: bounds, shapes, axes.
    fn drop_unread_constants(&mut self) {
        let ops: Vec<Op> = self.body.ops(self.entry()).collect();
        for op in ops {
            let at = self.body.at(self.ctx, op);
            if at.has(Traits::CONSTANT) && !self.body.is_used(at.result(0)) {
                self.body.erase(op);
            }
        }
    }

    /// The inherent attributes of the function: its symbol, its type, and the ONNX names of arguments and
    /// results.
    fn signature(&self, results: &[Value], result_names: &[String]) -> Attr {
        let ctx = self.ctx;
        let block = self.entry();
        let types =
            |values: &[Value]| values.iter().map(|&value| self.body.ty(value)).collect::<Box<[Type]>>();
        let inputs = types(self.body.args(block));
        let function_type = ctx.ty(TypeData::Function { inputs, results: types(results) });
        let names = |names: &[String]| {
            let name = |name: &String| ctx.dict(vec![(ctx.ident(attrs::OPTC_NAME), ctx.str_attr(name))]);
            ctx.array_attr(&names.iter().map(name).collect::<Vec<_>>())
        };
        ctx.dict(vec![
            (ctx.ident("sym_name"), ctx.str_attr("main")),
            (ctx.ident("function_type"), ctx.type_attr(function_type)),
            (ctx.ident("arg_attrs"), names(&self.argument_names)),
            (ctx.ident("res_attrs"), self.result_attrs(results, result_names)),
        ])
    }
}

impl GraphLowering<'_> {
    /// The attributes of a function's results: their names; for a data-dependent axis also the axis and the
    /// number of the result with its size.
    fn result_attrs(&self, results: &[Value], names: &[String]) -> Attr {
        let ctx = self.ctx;
        let (mut dicts, mut counts) = (Vec::new(), Vec::new());
        for (value, name) in results.iter().zip(names) {
            let mut entries = vec![(ctx.ident(attrs::OPTC_NAME), ctx.str_attr(name))];
            if let Some(open) = self.open.of(*value) {
                let number = names.len() + counts.len();
                entries
                    .push((ctx.ident(attrs::OPTC_OPEN), ctx.ints_attr(&[open.axis as i64, number as i64])));
                let name = ctx.str_attr(&format!("{name}.size{}", open.axis));
                let entries = vec![
                    (ctx.ident(attrs::OPTC_NAME), name),
                    (ctx.ident(attrs::OPTC_COUNT), ctx.unit_attr()),
                ];
                counts.push(ctx.dict(entries));
            }
            dicts.push(ctx.dict(entries));
        }
        dicts.append(&mut counts);
        ctx.array_attr(&dicts)
    }
}

/// The name of a sequence's element among the arguments and results of a function.
pub(super) fn element_name(sequence: &str, at: usize) -> String {
    format!("{sequence}[{at}]")
}

/// The names on which a graph's outputs depend.
fn needed<'m>(graph: &'m GraphProto<'m>) -> HashSet<&'m str> {
    let nodes = graph.nodes.iter();
    let makers: HashMap<&str, &NodeProto<'m>> =
        nodes.flat_map(|node| node.outputs.iter().map(move |name| (*name, node))).collect();
    let mut left: Vec<&str> = graph.outputs.iter().map(|info| info.name).collect();
    let mut needed = HashSet::new();
    while let Some(name) = left.pop() {
        if needed.insert(name) {
            left.extend(makers.get(name).into_iter().flat_map(|node| reads(node)));
        }
    }
    needed
}

/// The names read by a node and its graphs.
fn reads<'m>(node: &'m NodeProto<'m>) -> Vec<&'m str> {
    let mut names = node.inputs.clone();
    for attribute in &node.attributes {
        if let AttributeValue::Graph(graph) = &attribute.value {
            names.extend(graph.nodes.iter().flat_map(|node| reads(node)));
            names.extend(graph.outputs.iter().map(|output| output.name));
        }
    }
    names
}

/// Refuses a type that is too large for memory, so that later products of sizes in converters are in range.
/// Symbolic sizes are checked when they become numbers.
fn check_fits_memory(ctx: &Context, ty: Type) -> Result<(), Refusal> {
    let is_open =
        ctx.type_data(ty).tensor_shape().is_some_and(|dims| dims.iter().any(|dim| dim.known().is_none()));
    match tensor_bytes(ctx, ty) {
        None if is_open => Ok(()),
        Some(bytes) if bytes <= isize::MAX as u64 => Ok(()),
        _ => Err("a result of more elements than memory holds".into()),
    }
}

/// Checks that a node has as many inputs as its row allows, and no unknown attribute.
fn check_form(node: &NodeProto<'_>, row: &OperatorRow) -> Result<(), Refusal> {
    let count = node.inputs.len();
    let allowed = &row.inputs;
    if !allowed.contains(&count) {
        let least = allowed.start();
        let most = allowed.end();
        let expected = if least == most { least.to_string() } else { format!("{least} to {most}") };
        return Err(format!("{count} inputs, expected {expected}").into());
    }
    // The standard has no operator without results, and conversions name operations after the first result.
    if node.outputs.is_empty() {
        return Err("no results, expected at least one".into());
    }
    let unknown = node.attributes.iter().find(|attribute| !row.attributes.contains(&attribute.name));
    match unknown {
        Some(attribute) => Err(Refusal {
            message: format!("unknown attribute `{}` of {}", attribute.name, row.op),
            help: ir::diag::did_you_mean(attribute.name, row.attributes.iter().copied()),
        }),
        None => Ok(()),
    }
}

#[cfg(test)]
#[path = "lower_tests.rs"]
mod tests;
