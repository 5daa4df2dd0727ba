//! Where the left side of a law occurs in an e-graph, and how its right side is made there.
//!
//! A number of a law matches to 6 digits.

use egg::Id;
use ir::Traits;
use smallvec::SmallVec;

use super::fold;
use super::graph::{Graph, Node, OpHead, add_constant, add_op};
use crate::pattern::Pattern;

/// A law matches in at most so many ways at one node.
const MOST_MATCHES: usize = 1024;

/// What a left side found.
#[derive(Clone, Debug, Default)]
pub(super) struct Match {
    /// The nodes of its operations, in the order in which they are written.
    pub(super) nodes: SmallVec<[Node; 4]>,
    /// The classes of its variables, in the order of their first appearance.
    pub(super) vars: SmallVec<[Id; 4]>,
}

impl Pattern {
    /// All ways in which the pattern matches with `node` as its outermost operation.
    pub(super) fn matches(&self, graph: &Graph<'_>, node: &Node) -> Vec<Match> {
        let Pattern::Op(_, children) = self else { return Vec::new() };
        let mut search = Search { graph, goals: Vec::new(), found: Match::default(), out: Vec::new() };
        search.node(children, node);
        search.out
    }

    /// Makes the pattern with these variables, numbers in the element type `elem`'s; none if a row refuses its operands.
    pub(super) fn build(&self, graph: &mut Graph<'_>, found: &Match) -> Option<Id> {
        match self {
            Pattern::Var(index) | Pattern::Weight(index) => Some(found.vars[*index]),
            Pattern::Number(value) => {
                let elem = graph.analysis.ctx.elem(graph[found.vars[0]].data.ty);
                let (value, ty) = fold::number(graph.analysis.ctx, elem, *value)?;
                add_constant(graph, value, ty)
            }
            Pattern::Op(name, children) => {
                let mut operands: SmallVec<[Id; 4]> = SmallVec::new();
                for child in children {
                    operands.push(child.build(graph, found)?);
                }
                add_op(graph, name, &operands, &[])
            }
        }
    }
}

/// A depth-first search: what is yet to match, and what has matched so far.
struct Search<'g, 'a, 'p> {
    graph: &'g Graph<'a>,
    goals: Vec<(&'p Pattern, Id)>,
    found: Match,
    out: Vec<Match>,
}

impl<'p> Search<'_, '_, 'p> {
    fn step(&mut self) {
        if self.out.len() == MOST_MATCHES {
            return;
        }
        let Some((pattern, id)) = self.goals.pop() else {
            self.out.push(self.found.clone());
            return;
        };
        match pattern {
            Pattern::Var(index) => self.variable(*index, id),
            Pattern::Weight(index) if self.graph[id].data.is_weight => self.variable(*index, id),
            Pattern::Weight(_) => {}
            Pattern::Number(wanted) => self.number(*wanted, id),
            Pattern::Op(name, children) => {
                let graph = self.graph;
                let is_named = |node: &&Node| graph.analysis.op(node).is_some_and(|op| op.def.name == *name);
                graph[id].nodes.iter().filter(is_named).for_each(|node| self.node(children, node));
            }
        }
        self.goals.push((pattern, id));
    }

    fn node(&mut self, children: &'p [Pattern], node: &Node) {
        if node.children.len() != children.len() {
            return;
        }
        self.found.nodes.push(node.clone());
        self.operands(children, &node.children);
        let is_commutative = |op: &OpHead| op.def.traits.contains(Traits::COMMUTATIVE);
        if let [a, b] = node.children[..]
            && a != b
            && self.graph.analysis.op(node).is_some_and(is_commutative)
        {
            self.operands(children, &[b, a]);
        }
        self.found.nodes.pop();
    }

    fn operands(&mut self, patterns: &'p [Pattern], ids: &[Id]) {
        let depth = self.goals.len();
        self.goals.extend(patterns.iter().zip(ids.iter().copied()).rev());
        self.step();
        self.goals.truncate(depth);
    }

    fn number(&mut self, wanted: f64, id: Id) {
        let constant = self.graph[id].data.constant;
        let found = constant.and_then(|value| fold::splat(self.graph.analysis.ctx, value));
        let is_close = |found: f64| found == wanted || (found - wanted).abs() <= 1e-6 * wanted.abs();
        if found.is_some_and(is_close) {
            self.step();
        }
    }

    fn variable(&mut self, index: usize, id: Id) {
        let id = self.graph.find(id);
        match self.found.vars.get(index) {
            Some(bound) if *bound == id => self.step(),
            Some(_) => {}
            None => {
                assert_eq!(index, self.found.vars.len(), "variables are numbered as they appear");
                self.found.vars.push(id);
                self.step();
                self.found.vars.pop();
            }
        }
    }
}
