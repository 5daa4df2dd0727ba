//! Where the left side of a law occurs, and how its right side is made.
//!
//! ```text
//! (nn.mul ?x (nn.sigmoid ?x))   an operation with its operands; the same variable stands for equal values
//! $w                            a variable that takes only what is known before the program runs
//! 0.5                           a constant all of whose elements are this number (to 6 digits)
//! ```
//!
//! The operands of a commutative operation match in either order. Attributes of a matched operation are ignored, unless
//! the law's right side asks for them; an operation of a right side has none.

use egg::Id;
use ir::Traits;
use smallvec::SmallVec;

use super::fold;
use super::graph::{Graph, Node, OpHead, add_constant, add_op};

/// One side of a law.
#[derive(Debug, PartialEq)]
pub(super) enum Pattern {
    /// A variable with its number.
    Var(usize),
    /// A variable that takes weights only.
    Weight(usize),
    /// A constant of equal elements.
    Number(f64),
    /// An operation.
    Op(&'static str, Vec<Pattern>),
}

/// What a left side found.
#[derive(Clone, Debug, Default)]
pub(super) struct Match {
    /// The nodes of its operations, in the order in which they are written.
    pub(super) nodes: SmallVec<[Node; 4]>,
    /// The classes of its variables, in the order of their first appearance.
    pub(super) vars: SmallVec<[Id; 4]>,
}

/// Reads patterns that share variables: the two sides of a law.
#[derive(Default)]
pub(super) struct Reader {
    names: Vec<&'static str>,
}

impl Reader {
    /// Reads a side. The tables of laws are ours, so that a fault in one is a defect.
    pub(super) fn read(&mut self, text: &'static str) -> Pattern {
        let mut rest = text;
        let pattern = self.pattern(&mut rest);
        assert!(rest.trim().is_empty(), "`{rest}` stands behind the pattern `{text}`");
        pattern
    }

    fn pattern(&mut self, rest: &mut &'static str) -> Pattern {
        *rest = rest.trim_start();
        if let Some(inner) = rest.strip_prefix('(') {
            *rest = inner;
            return self.operation(rest);
        }
        let word = word(rest);
        match word.chars().next() {
            Some('?') => Pattern::Var(self.variable(&word[1..])),
            Some('$') => Pattern::Weight(self.variable(&word[1..])),
            _ => Pattern::Number(word.parse().expect("a pattern holds variables, numbers and operations")),
        }
    }

    fn operation(&mut self, rest: &mut &'static str) -> Pattern {
        let name = word(rest);
        let mut children = Vec::new();
        loop {
            *rest = rest.trim_start();
            if let Some(behind) = rest.strip_prefix(')') {
                *rest = behind;
                return Pattern::Op(name, children);
            }
            children.push(self.pattern(rest));
        }
    }

    fn variable(&mut self, name: &'static str) -> usize {
        let known = self.names.iter().position(|known| *known == name);
        known.unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        })
    }
}

fn word(rest: &mut &'static str) -> &'static str {
    let end = rest.find(|c: char| c.is_whitespace() || c == '(' || c == ')').unwrap_or(rest.len());
    assert!(end > 0, "a word is missing at `{rest}`");
    let word = &rest[..end];
    *rest = &rest[end..];
    word
}

impl Pattern {
    /// The name of the outermost operation.
    pub(super) fn root(&self) -> &'static str {
        match self {
            Pattern::Op(name, _) => name,
            _ => panic!("the left side of a law is an operation"),
        }
    }

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
