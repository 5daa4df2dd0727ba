//! Rewinding: after a new requirement, conversion goes back to the nodes that it concerns, and to no others.
//!
//! A node's requirement of a named size (see [`super::facts`]) may change the conversion of earlier nodes,
//! but only of those that depend on an input with that size. The types of their operands show which one is
//! the first, so conversion is rewound to it: later operations are erased, later records are dropped, and the
//! inputs get their new types. If this would convert more nodes again than the graph has, requirements are
//! collected to its end, and then the whole graph is converted again.

use std::rc::Rc;

use hashbrown::{HashMap, HashSet};
use ir::dims;
use ir::{Context, Dim, Ident, Op, Type, Value};

use super::call::Refusal;
use super::declared::{DeclaredInput, declared_input};
use super::facts::SizeFacts;
use super::lower::{GraphLowering, ModelSource};
use super::model::{AttributeValue, NodeProto};
use super::open::OpenAxes;
use super::rows::OperatorRow;

/// The greatest number of values with open axes for which a copy is kept for each name.
const MOST_OPEN: usize = 1000;

/// The greatest number of reported faults of a file's nodes and values.
const MOST_FAULTS: usize = 1000;

/// The greatest number of inlined nodes of nested graphs, since loops may be nested.
const MOST_INNER: usize = 1 << 17;

/// The fault reported after this number of others; none if there are too many.
pub(super) fn after_others(faults: usize, refusal: Refusal) -> Option<Refusal> {
    match faults {
        ..MOST_FAULTS => Some(refusal),
        MOST_FAULTS => Some(format!("and more than {MOST_FAULTS} errors in all").into()),
        _ => None,
    }
}

/// A node with its conversion.
#[derive(Clone, Copy)]
pub(super) struct NodeStep {
    pub(super) node: usize,
    pub(super) row: &'static OperatorRow,
}

/// Lowers all nodes. When a node has a requirement of named sizes, the nodes from the first reader of one of
/// these on are converted again; or all nodes, if that is faster.
pub(super) fn lower_nodes<'m>(
    ctx: &'m Context,
    source: ModelSource<'m>,
    steps: &[NodeStep],
) -> GraphLowering<'m> {
    let mut lowering = GraphLowering::new(ctx, SizeFacts::given(ctx, source.sizes, source.graph), source);
    loop {
        lowering.arguments();
        if !lowering.nodes(steps) {
            return lowering;
        }
        lowering.source.weights.keys.rewind(0);
        let rewinding = lowering.rewinding.start_again();
        lowering = GraphLowering::new(ctx, lowering.facts, lowering.source);
        lowering.rewinding = rewinding;
    }
}

/// The records for rewinding.
#[derive(Default)]
pub(super) struct Rewinding<'m> {
    /// The names that were bound, in order.
    pub(super) bound: Vec<&'m str>,
    /// The number of conversions of nodes.
    pub(super) converted: usize,
    /// Whether sizes have names at all.
    pub(super) has_names: bool,
    /// The number of inlined nodes of nested graphs.
    inner: usize,
    /// The number of conversions of a node that had been converted before.
    again: usize,
    /// Whether nodes were converted with fewer facts than are known now, and requirements are collected.
    is_collecting: bool,
    /// The state before the current node.
    here: NodePlace,
    /// For each name, the state before the first node that reads a value with a size of that name.
    mentions: HashMap<Ident, Rc<Mark>>,
    /// Types whose names are all in that map.
    types: HashSet<Type>,
}

/// The state before a node.
#[derive(Clone, Copy, Default)]
struct NodePlace {
    step: usize,
    last: Option<Op>,
    bound: usize,
    diagnostics: usize,
    keys: usize,
}

/// A state that conversion can go back to.
struct Mark {
    place: NodePlace,
    /// The open axes there; none if there are too many to keep.
    open: Option<OpenAxes>,
}

impl<'m> Rewinding<'m> {
    /// The records for another conversion of all nodes.
    pub(super) fn start_again(&self) -> Rewinding<'m> {
        Rewinding { converted: self.converted, ..Rewinding::default() }
    }

    /// Counts the nodes of a nested graph before it is inlined.
    ///
    /// # Errors
    /// If there are too many.
    pub(super) fn write_down(&mut self, nodes: usize) -> Result<(), Refusal> {
        self.inner += nodes + 1;
        match self.inner {
            ..=MOST_INNER => Ok(()),
            _ => Err(format!("loops of more than {MOST_INNER} nodes over all iterations").into()),
        }
    }
}

impl<'m> GraphLowering<'m> {
    /// Converts all nodes; returns whether all must be converted again.
    pub(super) fn nodes(&mut self, steps: &[NodeStep]) -> bool {
        self.rewinding.has_names = !self.symbols().is_empty();
        let mut next = 0;
        while let Some(step) = steps.get(next) {
            self.rewinding.here = NodePlace {
                step: next,
                last: self.body.last_op(self.entry()),
                bound: self.rewinding.bound.len(),
                diagnostics: self.diagnostics.len(),
                keys: self.source.weights.keys.count(),
            };
            self.rewinding.converted += 1;
            self.node(*step);
            next += 1;
            if !self.rewinding.is_collecting && !self.required.is_empty() {
                next = self.go_back(next, steps.len());
            }
        }
        let symbols = self.symbols();
        let news = self.facts.learn(self.ctx, &symbols, &std::mem::take(&mut self.required));
        self.rewinding.is_collecting || !news.is_empty()
    }

    /// Records the names of sizes that a node is the first to read. (Nested graphs read more values than the
    /// node names.)
    pub(super) fn mention(&mut self, node: &'m NodeProto<'m>, operands: &[Option<Value>]) {
        let ctx = self.ctx;
        let has_graphs = node.attributes.iter().any(|held| matches!(held.value, AttributeValue::Graph(_)));
        let values = match has_graphs {
            true => self.body.args(self.entry()).to_vec(),
            false => self.read(node, operands),
        };
        let mut mark = None;
        for ty in values.iter().map(|value| self.body.ty(*value)) {
            let dims = ctx.type_data(ty).tensor_shape().unwrap_or(&[]);
            let is_named = |dim: &Dim| matches!(dim, Dim::Symbolic(_));
            if !dims.iter().any(is_named) || !self.rewinding.types.insert(ty) {
                continue;
            }
            for dim in dims {
                let Dim::Symbolic(expr) = dim else { continue };
                for name in dims::symbols(ctx, *expr) {
                    if self.rewinding.mentions.contains_key(&name) {
                        continue;
                    }
                    let open = (self.open.count() <= MOST_OPEN).then_some(&self.open);
                    let place = self.rewinding.here;
                    let mark = mark.get_or_insert_with(|| Rc::new(Mark { place, open: open.cloned() }));
                    self.rewinding.mentions.insert(name, Rc::clone(mark));
                }
            }
        }
    }

    /// Learns the requirements, and goes back to the first node that they concern. Returns the next step, of
    /// `steps`.
    fn go_back(&mut self, next: usize, steps: usize) -> usize {
        let symbols = self.symbols();
        let news = self.facts.learn(self.ctx, &symbols, &std::mem::take(&mut self.required));
        if news.is_empty() {
            return next;
        }
        let marks = news.iter().filter_map(|name| self.rewinding.mentions.get(name));
        let first = marks.min_by_key(|mark| mark.place.step).cloned();
        let again = |mark: &Mark| self.rewinding.again + next - mark.place.step;
        let Some(first) = first.filter(|mark| mark.open.is_some() && again(mark) <= steps) else {
            self.rewinding.is_collecting = true;
            return next;
        };
        self.rewinding.again = again(&first);
        self.forget(first.place);
        self.open = first.open.clone().unwrap_or_default();
        self.retype_arguments();
        first.place.step
    }

    /// Erases the operations and records since a state.
    fn forget(&mut self, place: NodePlace) {
        let block = self.entry();
        while let Some(op) = self.body.last_op(block).filter(|op| Some(*op) != place.last) {
            self.body.erase(op);
        }
        for name in self.rewinding.bound.drain(place.bound..) {
            self.values.remove(name);
            self.items.remove(name);
        }
        self.diagnostics.truncate(place.diagnostics);
        self.source.weights.keys.rewind(place.keys);
        self.rewinding.mentions.retain(|_, mark| mark.place.step < place.step);
        self.rewinding.types.clear();
    }

    /// Gives the arguments the types that follow from the known facts.
    fn retype_arguments(&mut self) {
        let graph = self.source.graph;
        let constants = &self.facts.given.constants;
        let is_argument = |name: &str| !self.is_weight(name) && !constants.contains_key(name);
        let inputs = graph.inputs.iter().filter(|input| is_argument(input.name));
        let types =
            inputs.flat_map(|input| match declared_input(self.ctx, input.name, &input.ty, &self.facts) {
                Ok(DeclaredInput::Tensor(ty)) => vec![ty],
                Ok(DeclaredInput::Sequence(types)) => types,
                Ok(DeclaredInput::Nothing) | Err(_) => Vec::new(),
            });
        let types: Vec<Type> = types.collect();
        let arguments = self.body.args(self.entry()).to_vec();
        for (argument, ty) in arguments.into_iter().zip(types) {
            self.body.set_ty(argument, ty);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use ir::Context;

    use super::super::declared::DeclaredSizes;
    use super::super::external::{ExternalFiles, read_file};
    use super::super::lower::ModelSource;
    use super::super::model::{GraphProto, NodeProto};
    use super::super::rows::{OperatorSets, find_in};
    use super::super::tensor::{Dimension, TypeProto, ValueInfoProto};
    use super::super::weights::{Keys, WeightFiles};
    use super::{NodeStep, lower_nodes};

    /// A graph from lines such as `y = Add x, z`, with inputs such as `x N 4` of f32.
    fn graph<'a>(inputs: &'a [String], lines: &'a [String]) -> GraphProto<'a> {
        let dimension =
            |word: &'a str| word.parse().map_or(Dimension::Symbol(word), |size: i64| Dimension::Value(size));
        let input = |line: &'a String| {
            let mut words = line.split(' ');
            let name = words.next().expect("an input has a name");
            let shape = Some(words.map(dimension).collect());
            ValueInfoProto { name, ty: TypeProto::Tensor { element: 1, shape } }
        };
        let node = |line: &'a String| {
            let (output, call) = line.split_once(" = ").expect("a line is `output = operator inputs`");
            let (op_type, inputs) = call.split_once(' ').expect("a node has inputs");
            let inputs = inputs.split(", ").collect();
            NodeProto { inputs, outputs: vec![output], op_type, ..NodeProto::default() }
        };
        let output = ValueInfoProto { name: "y", ..ValueInfoProto::default() };
        GraphProto {
            nodes: lines.iter().map(node).collect(),
            inputs: inputs.iter().map(input).collect(),
            outputs: vec![output],
            ..GraphProto::default()
        }
    }

    /// The number of conversions of a graph's nodes, and the known facts about its sizes then.
    fn conversions(inputs: &[String], lines: &[String]) -> (usize, String) {
        let graph = graph(inputs, lines);
        let sets = OperatorSets { own: 17, learned: None, preview: None };
        let sizes = DeclaredSizes::default();
        let weights = WeightFiles {
            model_bytes: Arc::new(Vec::new()),
            external: ExternalFiles::beside(Path::new("m.onnx"), &read_file),
            stripped: Default::default(),
            keys: Keys::default(),
        };
        let row = |node: &NodeProto<'_>| find_in("", node.op_type, sets).expect("the operator has a row");
        let rows = graph.nodes.iter().map(row).enumerate();
        let steps: Vec<NodeStep> = rows.map(|(node, row)| NodeStep { node, row }).collect();
        let ctx = Context::new();
        let source = ModelSource { graph: &graph, sets, sizes: &sizes, weights };
        let lowering = lower_nodes(&ctx, source, &steps);
        assert!(lowering.diagnostics.is_empty(), "{:?}", lowering.diagnostics);
        let facts = lowering.facts.attr(&ctx).map(|attr| ir::text::attr_text(&ctx, attr));
        (lowering.rewinding.converted, facts.unwrap_or_default())
    }

    /// `count` nodes from the value `from` to the value `to`.
    fn chain(from: &str, to: &str, count: usize) -> Vec<String> {
        let name = |at: usize| match at {
            0 => from.to_owned(),
            _ if at == count => to.to_owned(),
            _ => format!("{to}_{at}"),
        };
        (0..count).map(|at| format!("{} = Neg {}", name(at + 1), name(at))).collect()
    }

    #[test]
    fn nodes_that_require_nothing_are_converted_once() {
        assert_eq!(conversions(&["x N 4".to_owned()], &chain("x", "y", 1000)), (1000, String::new()));
    }

    #[test]
    fn a_requirement_is_learned_where_it_comes_up() {
        // Layers, each with a product that equates two names: only its own nodes are converted again.
        let mut inputs = vec!["x N 4".to_owned()];
        let mut lines = chain("x", "a0", 100);
        for layer in 0..20 {
            inputs.push(format!("k{layer} 4 K{layer}"));
            inputs.push(format!("v{layer} J{layer} 4"));
            lines.push(format!("s{layer} = MatMul a{layer}, k{layer}"));
            lines.push(format!("o{layer} = MatMul s{layer}, v{layer}"));
            lines.extend(chain(&format!("o{layer}"), &format!("a{}", layer + 1), 100));
        }
        lines.push("y = Neg a20".to_owned());
        let (converted, facts) = conversions(&inputs, &lines);
        assert_eq!(lines.len(), 2141);
        assert_eq!(converted, lines.len() + 20);
        assert_eq!(facts.matches("#optc.dims").count(), 20, "{facts}");
    }

    #[test]
    fn however_requirements_come_up_no_node_is_converted_often() {
        // All sizes are read in the first nodes, and their facts follow at the end, one by one.
        let mut inputs = vec!["x N 4".to_owned()];
        let mut lines = Vec::new();
        for at in 0..50 {
            inputs.push(format!("k{at} 4 K{at}"));
            inputs.push(format!("v{at} J{at} 4"));
            lines.push(format!("kk{at} = Neg k{at}"));
            lines.push(format!("vv{at} = Neg v{at}"));
        }
        lines.extend(chain("x", "a0", 500));
        for at in 0..50 {
            lines.push(format!("s{at} = MatMul a{at}, kk{at}"));
            lines.push(format!("a{} = MatMul s{at}, vv{at}", at + 1));
        }
        lines.push("y = Neg a50".to_owned());
        let (converted, facts) = conversions(&inputs, &lines);
        assert_eq!(facts.matches("#optc.dims").count(), 50, "{facts}");
        assert!(converted <= 3 * lines.len(), "{converted} of {}", lines.len());
    }
}
