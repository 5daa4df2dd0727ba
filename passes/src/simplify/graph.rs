//! The e-graph of a run of pure operations.
//!
//! A node is a *head* (an `OpDef` with attributes and result type, or a value from outside) with child
//! classes. Heads are numbered in the order of their appearance, so that nothing depends on how the context
//! numbers its handles. Each class has its type, whether it is a weight, and its constant value if that is
//! small. A pure operation on such constants joins the class of its value.

use egg::{Analysis, DidMerge, EGraph, Id};
use indexmap::IndexSet;
use ir::{Attr, Context, Traits, Type};
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use super::fold;
use super::nodes::{ENode, NodeHead, OpHead};

/// The e-graph of one run of operations.
pub(super) type LawGraph<'a> = EGraph<ENode, GraphFacts<'a>>;

/// The data shared by all classes.
pub(super) struct GraphFacts<'a> {
    pub(super) ctx: &'a Context,
    pub(super) heads: IndexSet<NodeHead, FxBuildHasher>,
}

/// The analysis data of a class.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fact {
    /// Its type.
    pub(super) ty: Type,
    /// Whether it is known before the program runs.
    pub(super) is_weight: bool,
    /// Its elements, if they are few and part of the program.
    pub(super) constant: Option<Attr>,
}

impl<'a> GraphFacts<'a> {
    pub(super) fn new(ctx: &'a Context) -> GraphFacts<'a> {
        GraphFacts { ctx, heads: IndexSet::default() }
    }

    /// The head's number.
    pub(super) fn number(&mut self, head: NodeHead) -> u32 {
        self.heads.insert_full(head).0 as u32
    }

    /// The operation of a node, unless it is a leaf.
    pub(super) fn op(&self, node: &ENode) -> Option<&OpHead> {
        match &self.heads[node.head as usize] {
            NodeHead::Leaf(..) => None,
            NodeHead::Op(op) => Some(op),
        }
    }
}

impl Analysis<ENode> for GraphFacts<'_> {
    type Data = Fact;

    fn make(graph: &mut LawGraph<'_>, node: &ENode, _: Id) -> Fact {
        let facts = &graph.analysis;
        let ty = facts.heads[node.head as usize].ty();
        let Some(op) = facts.op(node) else {
            return Fact { ty, is_weight: false, constant: None };
        };
        let is_source = op.def.traits.contains(Traits::CONSTANT);
        let is_weight = match node.children.is_empty() {
            true => is_source,
            false => node.children.iter().all(|child| graph[*child].data.is_weight),
        };
        let constant = match (is_weight, is_source) {
            (false, _) => None,
            (true, true) => fold::written_value(facts.ctx, op),
            (true, false) => {
                let operand = |child: &Id| {
                    let Fact { ty, constant, .. } = graph[*child].data;
                    Some((constant?, ty))
                };
                fold::fold(facts.ctx, op, node.children.iter().map(operand))
            }
        };
        Fact { ty, is_weight, constant }
    }

    fn merge(&mut self, a: &mut Fact, b: Fact) -> DidMerge {
        assert_eq!(a.ty, b.ty, "only values of one type are equal");
        let before = (a.is_weight, a.constant);
        a.is_weight |= b.is_weight;
        a.constant = a.constant.or(b.constant);
        let after = (a.is_weight, a.constant);
        DidMerge(after != before, after != (b.is_weight, b.constant))
    }

    fn modify(graph: &mut LawGraph<'_>, id: Id) {
        let Fact { ty, constant: Some(value), .. } = graph[id].data else { return };
        if let Some(node) = constant_node(graph, value, ty) {
            let constant = graph.add(node);
            graph.union(id, constant);
        }
    }
}

/// The node of a constant.
pub(super) fn constant_node(graph: &mut LawGraph<'_>, value: Attr, ty: Type) -> Option<ENode> {
    let ctx = graph.analysis.ctx;
    let is_tensor = ctx.type_data(ty).tensor_shape().is_some();
    let name = ctx.op_name(if is_tensor { "nn.constant" } else { "arith.constant" });
    let properties = ctx.dict(vec![(ctx.ident("value"), value)]);
    let head = OpHead { def: ctx.def(name)?, name, properties, attrs: Attr::EMPTY, ty };
    Some(ENode { head: graph.analysis.number(NodeHead::Op(head)), children: SmallVec::new() })
}
