//! Runs: the operations of a block that are simplified together.
//!
//! A run is a sequence of at most [`LENGTH`] consecutive operations. Its pure operations with one result and
//! no regions become nodes; all other values that they read are leaves. Values of nodes that are read by
//! other operations must be kept.

use egg::Id;
use ir::{Block, Body, Context, Op, Traits, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::graph::LawGraph;
use super::nodes::{ENode, NodeHead, OpHead};

/// The limit of operations of a run.
const LENGTH: usize = 4096;

/// A run of a block, and its classes in the e-graph.
pub(super) struct BlockRun {
    /// Its operations, in text order.
    pub(super) ops: Vec<Op>,
    /// The first operation of each node of the original program.
    pub(super) originals: FxHashMap<ENode, Op>,
    /// The first text position of each class of the original program: 0 for those defined before the run.
    pub(super) places: FxHashMap<Id, u32>,
    first_ops: FxHashMap<Id, Op>,
    classes: FxHashMap<Value, Id>,
}

/// Cuts a block into runs.
pub(super) fn runs(body: &Body, block: Block) -> Vec<Vec<Op>> {
    let ops: Vec<Op> = body.ops(block).collect();
    ops.chunks(LENGTH).map(<[Op]>::to_vec).collect()
}

impl BlockRun {
    /// The run of a saturated e-graph, with the current names of classes and nodes.
    pub(super) fn settle(graph: &LawGraph<'_>, entries: GraphEntries) -> BlockRun {
        let GraphEntries { ops, leaves, nodes, mut classes } = entries;
        let mut run = BlockRun {
            ops,
            originals: FxHashMap::default(),
            places: FxHashMap::default(),
            first_ops: FxHashMap::default(),
            classes: FxHashMap::default(),
        };
        for (class, place) in leaves {
            run.place(graph.find(class), place);
        }
        for (class, place, mut node, op) in nodes {
            let class = graph.find(class);
            run.place(class, place);
            run.first_ops.entry(class).or_insert(op);
            node.children.iter_mut().for_each(|child| *child = graph.find(*child));
            run.originals.entry(node).or_insert(op);
        }
        classes.values_mut().for_each(|class| *class = graph.find(*class));
        run.classes = classes;
        run
    }

    fn place(&mut self, class: Id, place: u32) {
        let known = self.places.entry(class).or_insert(place);
        *known = place.min(*known);
    }

    /// The class of a value that the run defines or reads.
    pub(super) fn class_of_value(&self, value: Value) -> Option<Id> {
        self.classes.get(&value).copied()
    }

    /// The class of an operation that is a node.
    pub(super) fn class_of(&self, ctx: &Context, body: &Body, op: Op) -> Option<Id> {
        if is_node(ctx, body, op) { self.class_of_value(body.result(op, 0)) } else { None }
    }

    /// The first operation in the text that computed a class.
    pub(super) fn first_op(&self, class: Id) -> Option<Op> {
        self.first_ops.get(&class).copied()
    }

    /// The classes that are read by anything but nodes of the run.
    pub(super) fn roots(&self, ctx: &Context, body: &Body) -> Vec<Id> {
        let inside: FxHashSet<Op> = self.ops.iter().copied().collect();
        let mut roots = Vec::new();
        for &op in &self.ops {
            match self.class_of(ctx, body, op) {
                None => roots.extend(body.operands(op).filter_map(|value| self.class_of_value(value))),
                Some(class) => {
                    let mut uses = body.uses(body.result(op, 0));
                    roots.extend(uses.any(|read| !inside.contains(&read.op)).then_some(class));
                }
            }
        }
        roots
    }
}

/// The entries added to an e-graph, by their names at that time.
pub(super) struct GraphEntries {
    ops: Vec<Op>,
    leaves: Vec<(Id, u32)>,
    nodes: Vec<(Id, u32, ENode, Op)>,
    classes: FxHashMap<Value, Id>,
}

impl GraphEntries {
    /// Adds operations to an empty e-graph.
    pub(super) fn new(graph: &mut LawGraph<'_>, body: &Body, ops: Vec<Op>) -> GraphEntries {
        let mut entries = GraphEntries {
            ops: Vec::new(),
            leaves: Vec::new(),
            nodes: Vec::new(),
            classes: FxHashMap::default(),
        };
        for (place, &op) in ops.iter().enumerate() {
            let place = place as u32 + 1;
            if is_node(graph.analysis.ctx, body, op) {
                entries.add_node(graph, body, op, place);
            } else {
                body.operands(op).for_each(|value| {
                    entries.class(graph, body, value);
                });
                body.results(op).for_each(|value| {
                    entries.add_leaf(graph, body, value, place);
                });
            }
        }
        entries.ops = ops;
        entries
    }

    fn add_node(&mut self, graph: &mut LawGraph<'_>, body: &Body, op: Op, place: u32) {
        let operands: Vec<Value> = body.operands(op).collect();
        let children: SmallVec<[Id; 4]> =
            operands.into_iter().map(|value| self.class(graph, body, value)).collect();
        let name = body.name(op);
        let result = body.result(op, 0);
        let head = OpHead {
            def: graph.analysis.ctx.def(name).expect("unregistered operations are no nodes"),
            name,
            properties: body.properties(op),
            attrs: body.attrs(op),
            ty: body.ty(result),
        };
        let node = ENode { head: graph.analysis.number(NodeHead::Op(head)), children };
        let class = graph.add(node.clone());
        self.nodes.push((class, place, node, op));
        self.classes.insert(result, class);
    }

    /// The class of an operand; a value from outside the run becomes a leaf at its beginning.
    fn class(&mut self, graph: &mut LawGraph<'_>, body: &Body, value: Value) -> Id {
        match self.classes.get(&value) {
            Some(class) => *class,
            None => self.add_leaf(graph, body, value, 0),
        }
    }

    fn add_leaf(&mut self, graph: &mut LawGraph<'_>, body: &Body, value: Value, place: u32) -> Id {
        let head = graph.analysis.number(NodeHead::Leaf(value, body.ty(value)));
        let class = graph.add(ENode { head, children: SmallVec::new() });
        self.leaves.push((class, place));
        self.classes.insert(value, class);
        class
    }
}

/// Whether an operation becomes a node.
fn is_node(ctx: &Context, body: &Body, op: Op) -> bool {
    body.result_count(op) == 1
        && body.regions(op).is_empty()
        && body.child(op).is_none()
        && body.at(ctx, op).has(Traits::PURE)
}
