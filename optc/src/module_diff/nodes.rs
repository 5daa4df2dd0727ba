//! Operations as nodes, for the comparison of two programs.

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;
use ir::plan::attrs;
use ir::text::{attr_text, type_text};
use ir::{Attr, Body, Context, Ident, Kind, Op, Region, Traits, Value};

use crate::plan_report::names;

/// The operations of a function.
pub(super) struct FunctionNodes {
    /// The nodes in text order; the contents of an operation come before it.
    pub(super) nodes: Vec<Node>,
    /// Attributes of the function itself, except for the places of a plan.
    pub(super) own: BTreeMap<String, String>,
}

/// An operation.
pub(super) struct Node {
    pub(super) name: String,
    /// Its name for people.
    describe: String,
    /// The node of a model that it comes from.
    pub(super) location: Option<String>,
    /// The names of its results in the printed text; for a value that a group yields, that of the group's
    /// result.
    pub(super) results: Vec<String>,
    pub(super) operands: Vec<OperandSource>,
    pub(super) attrs: BTreeMap<String, String>,
    /// The decisions of passes about its memory.
    pub(super) decisions: BTreeMap<String, String>,
    pub(super) types: Vec<String>,
    /// The nodes in its regions.
    pub(super) inner: Vec<usize>,
}

/// Where an operand comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum OperandSource {
    /// A result of a node.
    Result(usize, usize),
    /// An argument of a block: of the function, or of what owns it.
    Arg(String),
}

impl Node {
    pub(super) fn text(&self) -> String {
        match &self.types[..] {
            [] => self.describe.clone(),
            types => format!("{} : {}", self.describe, types.join(", ")),
        }
    }
}

impl FunctionNodes {
    pub(super) fn of(ctx: &Context, body: &Body) -> FunctionNodes {
        let printed = body.entry(body.root()).map(|block| names(body, block));
        let sources = SecondaryMap::new();
        let mut reader = Reader { ctx, body, printed, sources, nodes: Vec::new() };
        for (index, region) in body.roots().iter().enumerate() {
            reader.region(*region, &format!("argument of region {index}"), &[]);
        }
        // Dictionaries are sorted by themselves; stage and arena belong to the plan.
        let plans = [attrs::OPTC_ARENA, attrs::OPTC_STAGE, attrs::MEM_ARGS, attrs::OPTC_BUFFERS];
        let mut own = entries(ctx, body.properties, |_| true);
        own.extend(entries(ctx, body.attrs, |name| !plans.contains(&name)));
        own.remove("sym_name");
        FunctionNodes { nodes: reader.nodes, own }
    }

    pub(super) fn source_text(&self, source: &OperandSource) -> String {
        match source {
            OperandSource::Result(node, 0) => self.nodes[*node].describe.clone(),
            OperandSource::Result(node, index) => format!("{}#{index}", self.nodes[*node].describe),
            OperandSource::Arg(name) => name.clone(),
        }
    }
}

fn entries(ctx: &Context, dict: Attr, holds: impl Fn(&str) -> bool) -> BTreeMap<String, String> {
    let entry = |(name, attr): &(Ident, Attr)| (ctx.str(*name).to_owned(), attr_text(ctx, *attr));
    ctx.dict_entries(dict).iter().map(entry).filter(|(name, _)| holds(name)).collect()
}

struct Reader<'a> {
    ctx: &'a Context,
    body: &'a Body,
    printed: Option<SecondaryMap<Value, String>>,
    sources: SecondaryMap<Value, Option<OperandSource>>,
    nodes: Vec<Node>,
}

impl Reader<'_> {
    /// Reads a region, whose first block's arguments are `given` as far as they are known; returns its nodes.
    fn region(&mut self, region: Region, owner: &str, given: &[OperandSource]) -> Vec<usize> {
        let body = self.body;
        let mut found = Vec::new();
        for (number, block) in body.blocks(region).iter().enumerate() {
            for (index, arg) in body.args(*block).iter().enumerate() {
                let known = given.get(index).filter(|_| number == 0).cloned();
                let own = || OperandSource::Arg(format!("{owner}, block {number}, {index}"));
                self.sources[*arg] = Some(known.unwrap_or_else(own));
            }
        }
        for op in body.blocks(region).iter().flat_map(|block| body.ops(*block)) {
            found.extend(self.op(op));
        }
        found
    }

    fn source(&self, value: Value) -> OperandSource {
        self.sources[value]
            .clone()
            .unwrap_or_else(|| OperandSource::Arg("a value of a later block".to_owned()))
    }

    /// Reads an operation after its contents; returns its index, unless it only yields the values of a group.
    fn op(&mut self, op: Op) -> Option<usize> {
        let (ctx, body) = (self.ctx, self.body);
        let at = body.at(ctx, op);
        let operands: Vec<OperandSource> = body.operands(op).map(|operand| self.source(operand)).collect();
        let is_group = matches!(at.kind(), Kind::Group);
        let mut inner = Vec::new();
        for (index, region) in body.regions(op).iter().enumerate() {
            let given = if is_group { &operands[..] } else { &[] };
            inner.extend(self.region(*region, &format!("argument of {}, region {index}", at.name()), given));
        }
        let in_group =
            body.parent_op(op).is_some_and(|owner| matches!(body.at(ctx, owner).kind(), Kind::Group));
        if at.has(Traits::YIELD) && in_group {
            return None;
        }
        let number = self.nodes.len();
        for (index, result) in body.results(op).enumerate() {
            self.sources[result] = Some(OperandSource::Result(number, index));
        }
        if is_group {
            self.pass_through(op);
        }
        let results = body.results(op).enumerate().map(|(index, result)| {
            let is_own = self.sources[result] == Some(OperandSource::Result(number, index));
            if is_own { self.printed(result) } else { String::new() }
        });
        let results = results.collect();
        let is_decision = |name: &str| name.starts_with("mem.");
        let mut all = entries(ctx, body.properties(op), |_| true);
        all.extend(entries(ctx, body.attrs(op), |name| !is_decision(name)));
        self.nodes.push(Node {
            name: at.name().to_owned(),
            describe: at.describe(),
            location: ctx.location_name(body.location(op)).map(str::to_owned),
            results,
            operands,
            attrs: all,
            decisions: entries(ctx, body.attrs(op), is_decision),
            types: body.results(op).map(|value| type_text(ctx, body.ty(value))).collect(),
            inner,
        });
        Some(number)
    }

    /// The name of a value in the printed text; none in nested blocks.
    fn printed(&self, value: Value) -> String {
        self.printed.as_ref().map_or_else(String::new, |names| names[value].clone())
    }

    /// Makes the readers of a group read the values that it yields, which get the names of its results.
    fn pass_through(&mut self, group: Op) {
        let body = self.body;
        let block = body.regions(group).first().and_then(|region| body.entry(*region));
        let Some(end) = block.and_then(|block| body.last_op(block)) else { return };
        for (result, yielded) in body.results(group).zip(body.operands(end)) {
            let source = self.source(yielded);
            if let OperandSource::Result(node, index) = source
                && self.nodes[node].results[index].is_empty()
            {
                self.nodes[node].results[index] = self.printed(result);
            }
            self.sources[result] = Some(source);
        }
    }
}
