//! How a model's graph becomes a function of the IR.
//!
//! The graph's inputs become the arguments of `@main`, its outputs the operands of its `return`, each with
//! its ONNX name as `optc.name`; nodes are converted one by one, in an order in which they can run, by the
//! rows of [`super::rows`]. Weights appear where they are first read; those that nobody reads never do. Types
//! follow from the rows of the IR; what the file says of a value's type is held against it, and a
//! contradiction is an error.
//!
//! All faults that do not follow from others are told at once: those of names and order, and unknown
//! operators, before anything is converted; then all nodes that refuse, except those that read a result of
//! one that did; then what breaks a law of the IR (a function of floats on integers, statistics of the wrong
//! size).

use ir::plan::attrs;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ir::dims::{self, Requirement};
use ir::size::tensor_bytes;
use ir::strings::is_string;
use ir::verify::verify;
use ir::{
    Attr, Block, Body, Builder, Context, Diagnostic, Dim, Ident, Location, Module, Op, OpSpec, Traits, Type,
    TypeData, Value,
};

use super::call::{NodeConversion, Refusal, Results, emit_constant};
use super::declared::{DeclaredSizes, check_declared, declared_type, read_size};
use super::facts::{SizeFacts, requirements};
use super::model::{AttributeValue, GraphProto, NodeProto};
use super::open::OpenAxes;
use super::order::order;
use super::rows::{self, Convert, OperatorRow};
use super::sequences::NodeResults;
use super::tensor::{Dimension, TensorProto, TypeProto, ValueInfoProto};
use super::unsupported::unsupported;
use super::weights::WeightFiles;

/// What is lowered, and with what.
pub(super) struct ModelSource<'m> {
    /// The main graph.
    pub(super) graph: &'m GraphProto<'m>,
    /// Version of ONNX's operator set.
    pub(super) version: i64,
    /// Values of symbolic sizes.
    pub(super) sizes: &'m DeclaredSizes,
    /// What finds the elements of tensors.
    pub(super) weights: WeightFiles<'m>,
}

/// A module with the function `@main` that computes the graph.
///
/// # Errors
/// All faults of the graph; each has the name of its node as location.
pub(super) fn lower(ctx: &Arc<Context>, source: ModelSource<'_>) -> Result<Module, Vec<Diagnostic>> {
    let graph = source.graph;
    let node_rows: Vec<Option<&OperatorRow>> =
        graph.nodes.iter().map(|node| row_of(node, source.version)).collect();
    let mut diagnostics = unsupported(ctx, graph, source.version, &node_rows);
    let order = order(graph).unwrap_or_else(|faults| {
        diagnostics.extend(faults.into_iter().map(|fault| fault.into_diagnostic(ctx, graph)));
        Vec::new()
    });
    if !diagnostics.is_empty() {
        return Err(diagnostics);
    }
    let faults = misnamed(ctx, &source);
    if !faults.is_empty() {
        return Err(faults);
    }
    let lowering = lower_nodes(ctx, source, |lowering| {
        for index in &order {
            lowering.node(*index, node_rows[*index].expect("`unsupported` told of every node without a row"));
        }
    });
    let module = lowering.finish(ctx)?;
    verify(&module)?;
    Ok(module)
}

/// Lowers all nodes; again with what they need of named sizes, as long as more comes up.
fn lower_nodes<'m>(
    ctx: &'m Context,
    source: ModelSource<'m>,
    nodes: impl Fn(&mut GraphLowering<'m>),
) -> GraphLowering<'m> {
    let mut lowering = GraphLowering::new(ctx, SizeFacts::given(ctx, source.sizes, source.graph), source);
    loop {
        lowering.arguments();
        nodes(&mut lowering);
        let required = std::mem::take(&mut lowering.required);
        if !lowering.facts.learn(ctx, &lowering.symbols(), &required) {
            return lowering;
        }
        lowering.source.weights.keys.start_again();
        lowering = GraphLowering::new(ctx, lowering.facts, lowering.source);
    }
}

fn row_of(node: &NodeProto<'_>, version: i64) -> Option<&'static OperatorRow> {
    matches!(node.domain, "" | "ai.onnx").then(|| rows::find(node.op_type, version)).flatten()
}

pub(super) struct GraphLowering<'m> {
    ctx: &'m Context,
    source: ModelSource<'m>,
    initializers: HashMap<&'m str, &'m TensorProto<'m>>,
    declared: HashMap<&'m str, &'m ValueInfoProto<'m>>,
    /// The value that a name stands for; none where a fault was told that leaves the name without one.
    values: HashMap<&'m str, Option<Value>>,
    /// The names that stand for sequences.
    pub(super) sequences: HashMap<&'m str, Vec<Value>>,
    argument_names: Vec<&'m str>,
    body: Body,
    /// What is known of named sizes, and what the nodes need beside that.
    facts: SizeFacts<'m>,
    required: Vec<Requirement>,
    /// The names that outputs follow from: what other nodes need, no run needs.
    needed: HashSet<&'m str>,
    open: OpenAxes,
    diagnostics: Vec<Diagnostic>,
}

impl<'m> GraphLowering<'m> {
    fn new(ctx: &'m Context, facts: SizeFacts<'m>, source: ModelSource<'m>) -> GraphLowering<'m> {
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
            sequences: HashMap::new(),
            argument_names: Vec::new(),
            body,
            facts,
            required: Vec::new(),
            needed: needed(graph),
            open: OpenAxes::default(),
            diagnostics: Vec::new(),
            source,
        }
    }

    fn block(&self) -> Block {
        self.body.entry(self.body.root()).expect("`Lowering::new` made a block")
    }

    fn builder(&mut self, location: Location) -> Builder<'_> {
        let block = self.block();
        let mut builder = Builder::at_end(self.ctx, &mut self.body, block);
        builder.location = location;
        builder
    }

    fn refuse(&mut self, location: Location, refusal: Refusal) {
        let diagnostic = Diagnostic::error(location, refusal.message);
        self.diagnostics.push(Diagnostic { help: refusal.help, ..diagnostic });
    }

    /// An argument for each input that is not a weight too.
    fn arguments(&mut self) {
        let graph = self.source.graph;
        for input in &graph.inputs {
            if self.initializers.contains_key(input.name) {
                continue;
            }
            let value = match declared_type(self.ctx, input.name, &input.ty, &self.facts) {
                Ok(ty) => {
                    let block = self.block();
                    self.argument_names.push(input.name);
                    Some(self.body.add_arg(block, ty))
                }
                Err(refusal) => {
                    self.refuse(self.ctx.name_location(input.name), refusal);
                    None
                }
            };
            self.values.insert(input.name, value);
        }
    }

    /// The value called `name`; a weight is made when it is first asked for.
    fn value(&mut self, name: &'m str) -> Option<Value> {
        if let Some(value) = self.values.get(name) {
            return *value;
        }
        let location = self.ctx.name_location(name);
        if self.sequences.contains_key(name) {
            self.refuse(location, "a sequence, expected a tensor".into());
            return None;
        }
        let weight = match self.initializers.get(name) {
            Some(tensor) => self.source.weights.read(tensor, name),
            None => Err("its data is sparse, expected a dense tensor".to_owned()),
        };
        let block = self.block();
        let mut builder = Builder::at_end(self.ctx, &mut self.body, block);
        builder.location = location;
        let keys = &mut self.source.weights.keys;
        let value = weight.and_then(|weight| emit_constant(&mut builder, keys, weight, name));
        let value = value.map_err(|message| self.refuse(location, message.into())).ok();
        self.values.insert(name, value);
        value
    }

    fn node(&mut self, index: usize, row: &'static OperatorRow) {
        let node = &self.source.graph.nodes[index];
        let location = self.ctx.name_location(&self.source.graph.node_name(index));
        let is_tensor = |name: &str, all: &Self| !name.is_empty() && !all.sequences.contains_key(name);
        let value = |name: &&'m str| if is_tensor(name, self) { self.value(name) } else { None };
        let operands: Vec<Option<Value>> = node.inputs.iter().map(value).collect();
        let lacks = |(name, value): (&&str, &Option<Value>)| value.is_none() && is_tensor(name, self);
        if node.inputs.iter().zip(&operands).any(lacks) {
            return self.abandon(node);
        }
        let known = self.required.len();
        if let Err(refusal) = self.convert(node, row, operands, location) {
            self.refuse(location, refusal);
            self.abandon(node);
        }
        if !node.outputs.iter().any(|name| self.needed.contains(name)) {
            self.required.truncate(known);
        }
    }

    /// Leaves the results of a node without a value.
    fn abandon(&mut self, node: &NodeProto<'m>) {
        self.values.extend(node.outputs.iter().map(|name| (*name, None)));
    }

    fn convert(
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
        let results = match row.convert {
            Convert::Sequences(operator) => self.sequence(operator, node, operands, location)?,
            _ if row.op == "Identity" && self.sequences.contains_key(node.inputs[0]) => {
                NodeResults::Sequences(vec![self.sequences[node.inputs[0]].clone()])
            }
            _ if node.inputs.iter().any(|name| self.sequences.contains_key(name)) => {
                return Err("an input is a sequence, expected a tensor".into());
            }
            Convert::Graphs(flow) => NodeResults::Tensors(self.flow(flow, node, operands, location)?),
            convert => NodeResults::Tensors(self.call(node, operands, location, |call| convert.run(call))?),
        };
        let (results, sequences) = match results {
            NodeResults::Tensors(results) => (results, None),
            NodeResults::Sequences(sequences) => (sequences.concat(), Some(sequences)),
        };
        let first = match before {
            Some(before) => self.body.next_op(before),
            None => self.body.ops(block).next(),
        };
        let ops: Vec<Op> = std::iter::successors(first, |op| self.body.next_op(*op)).collect();
        self.open.follow_node(self.ctx, &self.body, &ops, [&read, &results])?;
        self.require(&ops);
        if let Some(sequences) = sequences {
            self.sequences.extend(node.outputs.iter().copied().zip(sequences));
            return Ok(());
        }
        for (index, &name) in node.outputs.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
            let value =
                *results.get(index).ok_or_else(|| format!("result {index}, `{name}`, is not supported"))?;
            check_fits_memory(self.ctx, self.body.ty(value))?;
            if let Some(info) = self.declared.get(name) {
                let open = self.open.of(value).map(|open| open.axis);
                check_declared(self.ctx, self.body.ty(value), info, self.source.sizes, open)?;
            }
            self.values.insert(name, Some(value));
        }
        Ok(())
    }

    /// The values that a node reads, those in sequences too.
    fn read(&self, node: &NodeProto<'m>, operands: &[Option<Value>]) -> Vec<Value> {
        let sequences = node.inputs.iter().filter_map(|name| self.sequences.get(name)).flatten();
        operands.iter().flatten().chain(sequences).copied().collect()
    }

    /// What is done with a call of a node.
    pub(super) fn call<T>(
        &mut self,
        node: &'m NodeProto<'m>,
        operands: Vec<Option<Value>>,
        location: Location,
        make: impl FnOnce(&mut NodeConversion<'_, 'm>) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let block = self.block();
        let mut builder = Builder::at_end(self.ctx, &mut self.body, block);
        builder.location = location;
        make(&mut NodeConversion {
            node,
            version: self.source.version,
            builder,
            operands,
            weights: &mut self.source.weights,
            ranges: &self.facts.ranges,
            open: &mut self.open,
            required: &mut self.required,
        })
    }

    /// The outputs of a graph that is written down here, with these values as its inputs.
    pub(super) fn inline(
        &mut self,
        graph: &'m GraphProto<'m>,
        arguments: &[Value],
        location: Location,
    ) -> Results {
        if arguments.len() != graph.inputs.len() {
            return Err(
                format!("a graph of {} inputs, expected {}", graph.inputs.len(), arguments.len()).into()
            );
        }
        for (input, value) in graph.inputs.iter().zip(arguments) {
            self.values.insert(input.name, Some(*value));
        }
        self.initializers.extend(graph.initializers.iter().map(|tensor| (tensor.name, tensor)));
        for node in &graph.nodes {
            let row = row_of(node, self.source.version);
            let row = row.ok_or_else(|| format!("operator `{}` is not supported", node.op_type))?;
            let operands: Vec<Option<Value>> = node.inputs.iter().map(|name| self.named(name)).collect();
            let lacks = node.inputs.iter().zip(&operands).find(|(name, value)| {
                value.is_none() && !name.is_empty() && !self.sequences.contains_key(*name)
            });
            if let Some((name, _)) = lacks {
                return Err(format!("`{name}` is not defined").into());
            }
            self.convert(node, row, operands, location)?;
        }
        let results =
            graph.outputs.iter().map(|output| self.named(output.name)).collect::<Option<Vec<Value>>>();
        for name in graph.nodes.iter().flat_map(|node| &node.outputs) {
            self.values.remove(name);
            self.sequences.remove(name);
        }
        for tensor in &graph.initializers {
            self.values.remove(tensor.name);
        }
        results.ok_or_else(|| "a graph's output that is not defined".into())
    }

    /// The value that a name in a graph stands for, if there is one.
    fn named(&mut self, name: &'m str) -> Option<Value> {
        let is_known = self.values.contains_key(name) || self.initializers.contains_key(name);
        if is_known && !name.is_empty() { self.value(name) } else { None }
    }

    /// What operations need of named sizes. A bound of a size that depends on data needs nothing: it is no
    /// size.
    fn require(&mut self, ops: &[Op]) {
        for op in ops {
            if self.body.operands(*op).all(|operand| self.open.of(operand).is_none()) {
                let op = self.body.at(self.ctx, *op);
                self.required.extend(requirements(op, &self.facts.ranges));
            }
        }
    }

    /// The named sizes of the inputs, in the order in which they come up.
    fn symbols(&self) -> Vec<Ident> {
        let args = self.body.args(self.block()).iter();
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
        let names: Vec<&str> = self.source.graph.outputs.iter().map(|output| output.name).collect();
        let results: Vec<Option<Value>> = names.iter().map(|name| self.value(name)).collect();
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

    /// Removes the constants that have become attributes: bounds, shapes, axes.
    fn drop_unread_constants(&mut self) {
        let ops: Vec<Op> = self.body.ops(self.block()).collect();
        for op in ops {
            let at = self.body.at(self.ctx, op);
            if at.has(Traits::CONSTANT) && !self.body.is_used(at.result(0)) {
                self.body.erase(op);
            }
        }
    }

    /// The inherent attributes of the function: its symbol, its type, and the ONNX names of arguments and
    /// results.
    fn signature(&self, results: &[Value], result_names: &[&str]) -> Attr {
        let ctx = self.ctx;
        let block = self.block();
        let types =
            |values: &[Value]| values.iter().map(|&value| self.body.ty(value)).collect::<Box<[Type]>>();
        let inputs = types(self.body.args(block));
        let function_type = ctx.ty(TypeData::Function { inputs, results: types(results) });
        let names = |names: &[&str]| {
            let name = |name: &&str| ctx.dict(vec![(ctx.ident(attrs::OPTC_NAME), ctx.str_attr(name))]);
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
    /// The names of a function's results; of those with an open axis that, with the number of the result that
    /// says its size.
    fn result_attrs(&self, results: &[Value], names: &[&str]) -> Attr {
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

/// The names that a graph's outputs follow from.
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

/// The names that a node reads, and its graphs.
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

/// Inputs that are symbolized but not there, and values for symbols that no input has.
fn misnamed(ctx: &Context, source: &ModelSource<'_>) -> Vec<Diagnostic> {
    let (sizes, inputs) = (source.sizes, &source.graph.inputs);
    let mut symbols: Vec<String> = sizes.symbolized.iter().map(|entry| entry.size.clone()).collect();
    for input in inputs {
        let TypeProto::Tensor { shape: Some(shape), .. } = &input.ty else { continue };
        symbols.extend(shape.iter().enumerate().filter_map(|(axis, dimension)| match dimension {
            Dimension::Symbol(name) => Some((*name).to_owned()),
            Dimension::Unknown => Some(format!("{}_{axis}", input.name)),
            Dimension::Value(_) => None,
        }));
    }
    let names = symbols.iter().flat_map(|size| dims::symbols(ctx, read_size(ctx, size)));
    let names = names.map(|name| ctx.str(name).to_owned());
    let names: Vec<String> = names.chain(symbols.iter().cloned()).collect();
    let fault = |what: String, name: &str, known: Vec<&str>| {
        let fault = Diagnostic::error(Location::UNKNOWN, what);
        match ir::diag::did_you_mean(name, known) {
            Some(help) => fault.with_help(help),
            None => fault,
        }
    };
    let given = sizes.values.keys().chain(sizes.ranges.keys());
    let mut faults: Vec<Diagnostic> = given
        .filter(|name| !names.contains(name))
        .map(|name| {
            let what = format!("no size of an input is called `{name}`");
            fault(what, name, names.iter().map(String::as_str).collect())
        })
        .collect();
    for entry in &sizes.symbolized {
        if inputs.iter().all(|input| input.name != entry.input) {
            let what = format!("the model has no input `{}`", entry.input);
            faults.push(fault(what, &entry.input, inputs.iter().map(|input| input.name).collect()));
        }
    }
    faults
}

/// Refuses a type that no memory holds; what converters multiply later is thus in range. Sizes that are no
/// numbers yet are checked when they are.
fn check_fits_memory(ctx: &Context, ty: Type) -> Result<(), Refusal> {
    let is_open =
        ctx.type_data(ty).tensor_shape().is_some_and(|dims| dims.iter().any(|dim| dim.known().is_none()));
    match tensor_bytes(ctx, ty) {
        None if is_open => Ok(()),
        Some(bytes) if bytes <= isize::MAX as u64 => Ok(()),
        _ => Err("a result of more elements than memory holds".into()),
    }
}

/// Whether a node has as many inputs as its row allows, and no attribute that it does not know.
fn check_form(node: &NodeProto<'_>, row: &OperatorRow) -> Result<(), Refusal> {
    let count = node.inputs.len();
    let allowed = &row.inputs;
    if !allowed.contains(&count) {
        let least = allowed.start();
        let most = allowed.end();
        let expected = if least == most { least.to_string() } else { format!("{least} to {most}") };
        return Err(format!("{count} inputs, expected {expected}").into());
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
