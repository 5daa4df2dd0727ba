//! Differences of two programs, or of two plans.
//!
//! Operations are matched by their computations, not by the names of values, in this order: those that are
//! equal, including everything that they depend on; those with corresponding operands (so that a changed
//! attribute is one change, without changes of everything after it); going back from the results, those with
//! corresponding readers (so that an operation inserted between two is one operation added); those of the
//! same node of a model; and those of the same name and types, in text order. A group is transparent: its
//! readers count as readers of the values it yields, so that fusion adds groups and changes nothing else.
//!
//! After Falleri et al., "Fine-grained and Accurate Source Code Differencing" (2014): equal subtrees first,
//! then their containers. O(operations + operands), plus ties between equal candidates.

mod matching;
mod nodes;

use std::collections::BTreeMap;

use ir::plan::attrs;
use ir::{Body, Context, Module};
use serde::Serialize;

use crate::explain::ArenaOverTime;
use crate::failure::Failure;
use crate::plan_report::{PlanReport, ValueReport, plan_report};
use matching::Matching;
use nodes::{FunctionNodes, Node};

/// The differences of two programs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ModuleDiff {
    /// Functions of the second program only.
    pub added: Vec<String>,
    /// Functions of the first program only.
    pub removed: Vec<String>,
    /// Functions of both programs, in the order of the first.
    pub functions: Vec<FunctionDiff>,
}

/// The differences of two functions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FunctionDiff {
    /// The name in the first; in the second, if that is another, after an arrow.
    pub name: String,
    /// The number of equal operations.
    pub same: usize,
    /// The number of operations of both functions that run in another order.
    pub reordered: usize,
    /// Changes of the function's attributes.
    pub signature: Vec<String>,
    /// Operations of the second function only.
    pub added: Vec<String>,
    /// Operations of the first function only.
    pub removed: Vec<String>,
    /// Operations of both functions with changes.
    pub changed: Vec<OpChange>,
    /// The differences of the plans, if both are planned.
    pub plan: Option<PlanDiff>,
}

/// An operation with its changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OpChange {
    /// The operation, for messages.
    pub op: String,
    /// The changes.
    pub changes: Vec<String>,
}

/// The differences of two plans.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlanDiff {
    /// Bytes of the arena, before and after.
    pub arena_bytes: [u64; 2],
    /// Lower bounds of the arena, before and after.
    pub bound_bytes: [u64; 2],
    /// The peaks of live bytes, before and after.
    pub peak_bytes: [u64; 2],
    /// The steps at the peaks, in words.
    pub peaks: [String; 2],
    /// Results that overwrite an operand only in the second.
    pub ties_gained: Vec<String>,
    /// Results that overwrite an operand only in the first.
    pub ties_lost: Vec<String>,
    /// Other decisions: kernels, scratch, views, parts.
    pub decisions: Vec<OpChange>,
    /// Values with another place.
    pub moved: Vec<String>,
    /// Values that are live for more steps.
    pub longer: Vec<String>,
    /// Values that are live for fewer steps.
    pub shorter: Vec<String>,
    /// The values that both plans have.
    #[serde(skip)]
    pub values: Vec<ValueMatch>,
}

/// A value of one plan, with the corresponding one of the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ValueMatch {
    /// Its name in the first.
    pub before: String,
    /// Its name in the second.
    pub after: String,
    /// `longer`, `shorter`, `moved`, as far as they hold, in this order.
    pub changes: Vec<&'static str>,
}

impl ModuleDiff {
    /// Compares two programs.
    pub fn of(before: &Module, after: &Module) -> ModuleDiff {
        let [before_names, after_names] = [before, after].map(function_names);
        let mut diff = ModuleDiff {
            added: after_names.iter().filter(|name| !before_names.contains(name)).cloned().collect(),
            removed: before_names.iter().filter(|name| !after_names.contains(name)).cloned().collect(),
            functions: Vec::new(),
        };
        let both = before_names.iter().filter(|name| after_names.contains(name));
        let mut pairs: Vec<(String, String)> = both.map(|name| (name.clone(), name.clone())).collect();
        // A single function left on both sides was renamed.
        if let ([old], [new]) = (&diff.removed[..], &diff.added[..]) {
            pairs.push((old.clone(), new.clone()));
            diff.removed = Vec::new();
            diff.added = Vec::new();
        }
        for (old, new) in pairs {
            let name = if old == new { format!("@{old}") } else { format!("@{old} -> @{new}") };
            if let (Some(a), Some(b)) = (before.function(&old), after.function(&new)) {
                diff.functions.push(FunctionDiff::of(name, (&before.ctx, a), (&after.ctx, b)));
            }
        }
        diff
    }

    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.functions.iter().all(FunctionDiff::is_empty)
    }
}

fn function_names(module: &Module) -> Vec<String> {
    module.functions().filter_map(|(_, body)| body.symbol(&module.ctx)).map(str::to_owned).collect()
}

impl FunctionDiff {
    /// Compares two functions, under a name for both.
    pub(crate) fn of(
        name: String,
        (ctx_a, a): (&Context, &Body),
        (ctx_b, b): (&Context, &Body),
    ) -> FunctionDiff {
        let nodes = [FunctionNodes::of(ctx_a, a), FunctionNodes::of(ctx_b, b)];
        let matching = Matching::of(&nodes[0], &nodes[1]);
        let mut diff = FunctionDiff {
            name,
            reordered: matching.reordered(),
            signature: changed_entries(&nodes[0].own, &nodes[1].own),
            ..FunctionDiff::default()
        };
        for (node, found) in nodes[0].nodes.iter().zip(&matching.to_second) {
            let Some(found) = found else {
                diff.removed.push(node.text());
                continue;
            };
            let other = &nodes[1].nodes[*found];
            let changes = op_changes(node, other, &matching, &nodes);
            if changes.is_empty() {
                diff.same += 1;
            } else {
                diff.changed.push(OpChange { op: node.text(), changes });
            }
        }
        let is_new = |index: &usize| matching.to_first[*index].is_none();
        let new = (0..nodes[1].nodes.len()).filter(is_new);
        diff.added = new.map(|index| nodes[1].nodes[index].text()).collect();
        if let [Ok(old), Ok(new)] = [PlannedFunction::of(ctx_a, a), PlannedFunction::of(ctx_b, b)] {
            diff.plan = Some(PlanDiff::of([&old, &new], &nodes, &matching));
        }
        diff
    }

    fn is_empty(&self) -> bool {
        let is_same = self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty();
        let plan = self.plan.as_ref().is_none_or(PlanDiff::is_empty);
        is_same && self.reordered == 0 && self.signature.is_empty() && plan && !self.name.contains(" -> ")
    }
}

/// The changes between two corresponding operations, except decisions about memory.
fn op_changes(a: &Node, b: &Node, matching: &Matching, nodes: &[FunctionNodes; 2]) -> Vec<String> {
    let mut changes = changed_entries(&a.attrs, &b.attrs);
    if a.types != b.types {
        changes.push(format!("type {} -> {}", a.types.join(", "), b.types.join(", ")));
    }
    if a.operands.len() != b.operands.len() {
        changes.push(format!("{} operands -> {}", a.operands.len(), b.operands.len()));
    }
    for (index, (old, new)) in a.operands.iter().zip(&b.operands).enumerate() {
        if !matching.corresponds(old, new) {
            let [old, new] = [nodes[0].source_text(old), nodes[1].source_text(new)];
            changes.push(format!("operand {index}: {old} -> {new}"));
        }
    }
    changes
}

/// The entries that differ between two dictionaries.
fn changed_entries(a: &BTreeMap<String, String>, b: &BTreeMap<String, String>) -> Vec<String> {
    let mut changes = Vec::new();
    for (name, old) in a {
        match b.get(name) {
            None => changes.push(format!("`{name}` was {old}")),
            Some(new) if new != old => changes.push(format!("`{name}` {old} -> {new}")),
            Some(_) => {}
        }
    }
    let new = b.iter().filter(|(name, _)| !a.contains_key(*name));
    changes.extend(new.map(|(name, new)| format!("`{name}` is {new}")));
    changes
}

/// The plan of a function, for comparison.
struct PlannedFunction {
    report: PlanReport,
    memory: ArenaOverTime,
}

impl PlannedFunction {
    fn of(ctx: &Context, body: &Body) -> Result<PlannedFunction, Failure> {
        Ok(PlannedFunction { report: plan_report(ctx, body, 0)?, memory: ArenaOverTime::of(ctx, body)? })
    }

    fn values(&self) -> BTreeMap<&str, &ValueReport> {
        self.report.values.iter().map(|value| (value.name.as_str(), value)).collect()
    }

    /// The scratch of each step.
    fn scratch(&self) -> BTreeMap<usize, &ValueReport> {
        let scratch = self.report.values.iter().filter(|value| value.kind == "scratch");
        scratch.map(|value| (value.step, value)).collect()
    }
}

impl PlanDiff {
    fn of(plans: [&PlannedFunction; 2], nodes: &[FunctionNodes; 2], matching: &Matching) -> PlanDiff {
        let memories = plans.map(|plan| &plan.memory);
        let mut diff = PlanDiff {
            arena_bytes: memories.map(|memory| memory.arena_bytes),
            bound_bytes: plans.map(|plan| plan.report.pools[0].lower_bound_bytes),
            peak_bytes: memories.map(|memory| memory.live_bytes.get(memory.peak).copied().unwrap_or(0)),
            peaks: memories.map(|memory| memory.step_text(memory.peak)),
            ..PlanDiff::default()
        };
        let values = plans.map(PlannedFunction::values);
        for (a, found) in nodes[0].nodes.iter().zip(&matching.to_second) {
            let Some(found) = found else { continue };
            let b = &nodes[1].nodes[*found];
            diff.compare(a, b);
            for (old, new) in a.results.iter().zip(&b.results) {
                if let (Some(old), Some(new)) = (values[0].get(&**old), values[1].get(&**new)) {
                    diff.compare_values(a, old, new);
                }
            }
        }
        diff.match_others(plans, &values);
        diff
    }

    /// Records the changes of a value of both plans.
    fn compare_values(&mut self, op: &Node, old: &ValueReport, new: &ValueReport) {
        let mut changes = Vec::new();
        let [before, after] = [old, new].map(|value| value.last - value.first + 1);
        let text = || format!("{}: {before} -> {after} steps", op.text());
        if before < after {
            self.longer.push(text());
            changes.push("longer");
        }
        if after < before {
            self.shorter.push(text());
            changes.push("shorter");
        }
        self.match_values(old, new, changes);
    }

    fn match_values(&mut self, old: &ValueReport, new: &ValueReport, mut changes: Vec<&'static str>) {
        if (&old.pool, old.offset) != (&new.pool, new.offset) {
            changes.push("moved");
        }
        self.values.push(ValueMatch { before: old.name.clone(), after: new.name.clone(), changes });
    }

    /// Matches values without a defining operation: inputs by index, scratch by matching steps.
    fn match_others(&mut self, plans: [&PlannedFunction; 2], values: &[BTreeMap<&str, &ValueReport>; 2]) {
        let steps = self.values.iter().map(|ValueMatch { before, after, .. }| {
            (values[0][before.as_str()].step, values[1][after.as_str()].step)
        });
        let steps: BTreeMap<usize, usize> = steps.collect();
        let scratch = plans.map(PlannedFunction::scratch);
        for (old, new) in steps {
            if let (Some(old), Some(new)) = (scratch[0].get(&old), scratch[1].get(&new)) {
                self.match_values(old, new, Vec::new());
            }
        }
        for old in values[0].values().filter(|value| value.kind == "input") {
            if let Some(new) = values[1].get(old.name.as_str()) {
                self.match_values(old, new, Vec::new());
            }
        }
    }

    /// Records differences in the decisions about an operation.
    fn compare(&mut self, a: &Node, b: &Node) {
        let place = |node: &Node| node.decisions.get(attrs::MEM_PLACE).cloned();
        if let (Some(old), Some(new)) = (place(a), place(b))
            && old != new
        {
            self.moved.push(format!("{}: {old} -> {new}", a.text()));
        }
        let tie = |node: &Node| node.decisions.get(attrs::MEM_TIE).cloned();
        match (tie(a), tie(b)) {
            (None, Some(new)) => self.ties_gained.push(format!("{}: {new}", b.text())),
            (Some(old), None) => self.ties_lost.push(format!("{}: {old}", a.text())),
            _ => {}
        }
        let others = |node: &Node| {
            let mut decisions = node.decisions.clone();
            decisions.remove(attrs::MEM_PLACE);
            if tie(a).is_some() != tie(b).is_some() {
                decisions.remove(attrs::MEM_TIE);
            }
            decisions
        };
        let changes = changed_entries(&others(a), &others(b));
        if !changes.is_empty() {
            self.decisions.push(OpChange { op: a.text(), changes });
        }
    }

    fn is_empty(&self) -> bool {
        let lists = [&self.ties_gained, &self.ties_lost, &self.moved, &self.longer, &self.shorter];
        let is_same = self.arena_bytes[0] == self.arena_bytes[1];
        is_same && self.decisions.is_empty() && lists.iter().all(|list| list.is_empty())
    }
}
