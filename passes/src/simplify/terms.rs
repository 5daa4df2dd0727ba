//! The e-graph as laws see it: each class is a term, computed by all of its nodes.

use egg::Id;
use ir::builder::infer;
use ir::{Attr, Context, OpName, Type};
use smallvec::SmallVec;

use super::graph::{LawGraph, constant_node};
use super::nodes::{ENode, NodeHead, OpHead};
use crate::rewrite::{Matched, Term, Terms};

/// The class of a term.
pub(super) fn class(term: Term) -> Id {
    Id::from(term.0 as usize)
}

fn term(graph: &LawGraph<'_>, class: Id) -> Term {
    Term(usize::from(graph.find(class)) as u32)
}

/// The operation of a node, unless it is a leaf.
pub(super) fn matched(graph: &LawGraph<'_>, node: &ENode) -> Option<Matched> {
    let op = graph.analysis.op(node)?;
    let operands = node.children.iter().map(|child| term(graph, *child)).collect();
    Some(Matched { def: op.def, name: op.name, properties: op.properties, operands })
}

impl<'a> Terms<'a> for LawGraph<'a> {
    fn ctx(&self) -> &'a Context {
        self.analysis.ctx
    }

    fn ty(&self, term: Term) -> Type {
        self[class(term)].data.ty
    }

    fn constant(&self, term: Term) -> Option<Attr> {
        self[class(term)].data.constant
    }

    fn is_weight(&self, term: Term) -> bool {
        self[class(term)].data.is_weight
    }

    fn ops(&self, term: Term, name: &str) -> SmallVec<[Matched; 1]> {
        let class = &self[class(term)];
        // Nodes of a class with a known value add no information, and there are many.
        if class.data.constant.is_some() {
            return SmallVec::new();
        }
        let is_named = |node: &&ENode| self.analysis.op(node).is_some_and(|op| op.def.name == name);
        class.nodes.iter().filter(is_named).filter_map(|node| matched(self, node)).collect()
    }

    fn make_constant(&mut self, value: Attr, ty: Type) -> Option<Term> {
        let node = constant_node(self, value, ty)?;
        let made = self.add(node);
        Some(term(self, made))
    }

    fn make_op(&mut self, name: OpName, operands: &[Term], properties: Attr) -> Option<Term> {
        let ctx = self.analysis.ctx;
        let types: Vec<Type> = operands.iter().map(|operand| self.ty(*operand)).collect();
        let &[ty] = infer(ctx, name, &types, properties).ok()?.as_slice() else { return None };
        let head = OpHead { def: ctx.def(name)?, name, properties, attrs: Attr::EMPTY, ty };
        let head = self.analysis.number(NodeHead::Op(head));
        let made =
            self.add(ENode { head, children: operands.iter().map(|operand| class(*operand)).collect() });
        Some(term(self, made))
    }
}
