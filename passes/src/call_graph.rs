//! The call graph, and an order of functions from callees to callers.

use ir::attrs::AttrData;
use ir::opdef::{AttrKind, Presence, RegionFlow};
use ir::{Body, Context, Kind, Op, Region, Traits};
use rustc_hash::FxHashMap;

use crate::symbols::{BodyIndex, ModuleSymbols};

/// A function with a body, and its calls.
#[derive(Clone, Debug)]
pub struct CallNode {
    /// Its body.
    pub scope: BodyIndex,
    /// The body that contains its symbol.
    pub around: BodyIndex,
    /// Its calls of functions of the graph, in text order, each with the called function's index.
    pub calls: Vec<(Op, usize)>,
    /// Its strongly connected component: the group of functions that call each other, directly or not.
    pub group: usize,
}

/// The functions of a module that have bodies, in text order.
pub struct CallGraph {
    /// The functions.
    pub nodes: Vec<CallNode>,
    /// The functions' indices, callees before callers except in recursion.
    pub callees_first: Vec<usize>,
}

impl CallGraph {
    /// The call graph of a module.
    pub fn of(ctx: &Context, symbols: &ModuleSymbols<'_>) -> CallGraph {
        let is_function = |scope: &BodyIndex| {
            let owner = symbols.around(*scope);
            let has_body =
                symbols.body(*scope).roots().iter().any(|root| symbols.body(*scope).entry(*root).is_some());
            let is_function = |(around, op)| symbols.body(around).at(ctx, op).has(Traits::FUNCTION);
            has_body && owner.is_some_and(is_function)
        };
        let scopes: Vec<BodyIndex> = symbols.scopes().filter(is_function).collect();
        let numbers: FxHashMap<BodyIndex, usize> =
            scopes.iter().enumerate().map(|(i, scope)| (*scope, i)).collect();
        let node = |scope: &BodyIndex| {
            let calls = calls(ctx, symbols, *scope).into_iter();
            let calls = calls.filter_map(|(op, callee)| Some((op, *numbers.get(&callee)?))).collect();
            let around = symbols.around(*scope).map_or(ModuleSymbols::TOP, |around| around.0);
            CallNode { scope: *scope, around, calls, group: 0 }
        };
        let mut graph = CallGraph { nodes: scopes.iter().map(node).collect(), callees_first: Vec::new() };
        Grouping::new(graph.nodes.len()).run(&mut graph);
        graph
    }
}

/// The calls of a function, with the bodies of the functions that they name.
fn calls(ctx: &Context, symbols: &ModuleSymbols<'_>, scope: BodyIndex) -> Vec<(Op, BodyIndex)> {
    let body = symbols.body(scope);
    let mut ops = Vec::new();
    body.roots().iter().for_each(|root| collect_calls(ctx, body, *root, &mut ops));
    let callee = |op: Op| {
        let path = callee_path(ctx, body, op)?;
        let &(around, callee) = symbols.resolve(scope, &path)?.last()?;
        Some((op, symbols.inside(around, callee)?))
    };
    ops.into_iter().filter_map(callee).collect()
}

fn collect_calls(ctx: &Context, body: &Body, region: Region, out: &mut Vec<Op>) {
    for op in body.blocks(region).iter().flat_map(|block| body.ops(*block)) {
        if let Kind::Region(RegionFlow::Call) = body.at(ctx, op).kind() {
            out.push(op);
        }
        body.regions(op).iter().for_each(|inner| collect_calls(ctx, body, *inner, out));
    }
}

/// The symbol that a call names by its required symbol attribute.
fn callee_path(ctx: &Context, body: &Body, op: Op) -> Option<Vec<ir::Ident>> {
    let op = body.at(ctx, op);
    let is_callee = |kind, presence| kind == AttrKind::Symbol && presence == Presence::Required;
    let attr = op.def()?.attrs.iter().find(|attr| is_callee(attr.kind, attr.presence))?;
    match ctx.attr_data(op.attr(attr.name)?) {
        AttrData::SymbolRef { root, nested } => {
            Some(std::iter::once(*root).chain(nested.iter().copied()).collect())
        }
        _ => None,
    }
}

/// Tarjan, "Depth-First Search and Linear Graph Algorithms" (1972), with an explicit stack.
struct Grouping {
    /// The time at which a function was entered, from 1; 0 for never.
    entered: Vec<usize>,
    /// The earliest function reachable from it through open functions.
    low: Vec<usize>,
    is_open: Vec<bool>,
    open: Vec<usize>,
    clock: usize,
    groups: usize,
}

impl Grouping {
    fn new(count: usize) -> Grouping {
        Grouping {
            entered: vec![0; count],
            low: vec![0; count],
            is_open: vec![false; count],
            open: Vec::new(),
            clock: 0,
            groups: 0,
        }
    }

    fn run(mut self, graph: &mut CallGraph) {
        for first in 0..graph.nodes.len() {
            if self.entered[first] > 0 {
                continue;
            }
            self.enter(first);
            let mut stack = vec![(first, 0)];
            while let Some((node, next)) = stack.last_mut() {
                let node = *node;
                let Some(&(_, callee)) = graph.nodes[node].calls.get(*next) else {
                    stack.pop();
                    self.leave(graph, node, stack.last().map(|caller| caller.0));
                    continue;
                };
                *next += 1;
                if self.entered[callee] == 0 {
                    self.enter(callee);
                    stack.push((callee, 0));
                } else if self.is_open[callee] {
                    self.low[node] = self.low[node].min(self.entered[callee]);
                }
            }
        }
    }

    fn enter(&mut self, node: usize) {
        self.clock += 1;
        (self.entered[node], self.low[node]) = (self.clock, self.clock);
        self.is_open[node] = true;
        self.open.push(node);
    }

    /// Finishes a function after all its calls; `caller` is the function to return to.
    fn leave(&mut self, graph: &mut CallGraph, node: usize, caller: Option<usize>) {
        if let Some(caller) = caller {
            self.low[caller] = self.low[caller].min(self.low[node]);
        }
        if self.low[node] < self.entered[node] {
            return;
        }
        while let Some(member) = self.open.pop() {
            self.is_open[member] = false;
            graph.nodes[member].group = self.groups;
            graph.callees_first.push(member);
            if member == node {
                break;
            }
        }
        self.groups += 1;
    }
}
