//! The steps of a function, and the live ranges of alias roots in steps.
//!
//! The steps of a function are the points of its [`FlowGraph`]: its operations in text order through all
//! blocks and regions, and the parallel copies between them. Weights (evaluated at load) and views that need
//! no copy are not steps. Live ranges belong to alias roots: a reader of a view keeps the view's root alive.
//! A returned value is live up to its return.
//!
//! Roots that are to share bytes are joined to a [class](AliasClasses) if they are never live at the same
//! moment. The planner uses the hull of a class's spans as its live range.

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityRef, SecondaryMap};
use ir::alias::AliasSets;
use ir::flow::{Act, Event, FlowGraph, Point};
use ir::liveness::{LiveSpan, Liveness, Moment, normalise};
use ir::weights::WeightSet;
use ir::{Body, Context, Op, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::place::Step;

/// The steps of a function.
pub struct Steps {
    graph: FlowGraph,
}

impl Steps {
    /// The steps of a function, in text order.
    pub fn of(ctx: &Context, body: &Body, weights: &WeightSet) -> Steps {
        Steps { graph: FlowGraph::of(ctx, body, weights) }
    }

    /// The control-flow graph whose points are the steps.
    pub fn graph(&self) -> &FlowGraph {
        &self.graph
    }

    /// The operations that compute something, each with its step.
    pub fn iter(&self) -> impl Iterator<Item = (Step, Op)> + '_ {
        self.events().filter(|(_, event)| event.act == Act::Run).map(|(step, event)| (step, event.op))
    }

    /// The event of each step.
    pub fn events(&self) -> impl Iterator<Item = (Step, Event)> + '_ {
        self.graph.events().map(|(point, event)| (Step::new(point.index()), event))
    }

    /// The last step: in a function with one block, the return.
    pub fn end(&self) -> Step {
        Step::new(self.graph.point_count().saturating_sub(1))
    }
}

/// A live range in steps, from the first to the last, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveRange {
    /// The first step that writes it.
    pub first: Step,
    /// The last step that reads it, or the last that writes it if nothing reads it.
    pub last: Step,
}

/// The alias roots of a function, joined to classes with shared bytes.
pub struct AliasClasses<'a> {
    aliases: &'a AliasSets,
    liveness: Liveness,
    /// The class that a root was joined to; none if it is the class's own name.
    joined: SecondaryMap<Value, PackedOption<Value>>,
    /// The spans of classes of more than one root.
    merged: FxHashMap<Value, Vec<LiveSpan>>,
    /// For each class, its last reader in text order, with the step.
    last_reader: SecondaryMap<Value, Option<(Step, Op)>>,
}

impl<'a> AliasClasses<'a> {
    /// A class for each root that is no weight, with its live range.
    pub fn of(
        ctx: &Context,
        body: &Body,
        steps: &Steps,
        weights: &WeightSet,
        aliases: &'a AliasSets,
    ) -> AliasClasses<'a> {
        let root = |value| (!weights.contains(value)).then(|| aliases.root(value));
        let liveness =
            Liveness::of_parts(ctx, body, steps.graph(), root, |value| aliases.is_later_part(value));
        let mut last_reader = SecondaryMap::new();
        for (step, event) in steps.events() {
            event.reads(body).for_each(|value| last_reader[aliases.root(value)] = Some((step, event.op)));
        }
        let joined = SecondaryMap::new();
        let merged = FxHashMap::default();
        AliasClasses { aliases, liveness, joined, merged, last_reader }
    }

    /// The roots with a live range, in order of their first steps.
    pub fn roots(&self) -> &[Value] {
        self.liveness.variables()
    }

    /// The class of a value, named by one of its roots.
    pub fn class(&self, value: Value) -> Value {
        let mut class = self.aliases.root(value);
        while let Some(next) = self.joined[class].expand() {
            class = next;
        }
        class
    }

    /// The live range of a class, as moments.
    pub fn spans(&self, class: Value) -> &[LiveSpan] {
        self.merged.get(&class).map_or(self.liveness.spans(class), Vec::as_slice)
    }

    /// The first and last step of a class; none for weights.
    pub fn live_range(&self, class: Value) -> Option<LiveRange> {
        let spans = self.spans(class);
        let step = |moment: Moment| Step::new(moment.point().index());
        Some(LiveRange { first: step(spans.first()?.first), last: step(spans.last()?.last) })
    }

    /// The last reader of a class in text order, with its step.
    pub fn last_reader(&self, class: Value) -> Option<(Step, Op)> {
        self.last_reader[class]
    }

    /// Whether two classes are ever live at the same moment.
    pub fn conflict(&self, a: Value, b: Value) -> bool {
        let overlap = |a: &LiveSpan, b: &LiveSpan| a.first <= b.last && b.first <= a.last;
        meet(self.spans(a), self.spans(b), overlap)
    }

    /// Whether two classes are ever needed by the same step. A parallel copy does not count, since it reads
    /// everything before it writes.
    pub fn conflict_in_steps(&self, steps: &Steps, a: Value, b: Value) -> bool {
        let is_run = |point: Point| steps.graph().event(point).act == Act::Run;
        let touch = |end: Moment, start: Moment| {
            !end.is_write() && start.is_write() && end.point() == start.point() && is_run(end.point())
        };
        let overlap = |a: &LiveSpan, b: &LiveSpan| {
            (a.first <= b.last && b.first <= a.last) || touch(a.last, b.first) || touch(b.last, a.first)
        };
        meet(self.spans(a), self.spans(b), overlap)
    }

    /// Joins class `b` to class `a`.
    pub fn join(&mut self, a: Value, b: Value) {
        let more: SmallVec<[LiveSpan; 4]> = self.spans(b).into();
        self.merged.remove(&b);
        let spans = self.merged.entry(a).or_insert_with(|| self.liveness.spans(a).to_vec());
        spans.extend(more);
        normalise(spans);
        self.joined[b] = a.into();
        let readers = [self.last_reader[a], self.last_reader[b]];
        self.last_reader[a] = readers.into_iter().flatten().max_by_key(|(step, _)| *step);
    }
}

/// Whether two sorted lists of spans have a pair that meets; for spans that only touch, `overlap` decides.
fn meet(a: &[LiveSpan], b: &[LiveSpan], overlap: impl Fn(&LiveSpan, &LiveSpan) -> bool) -> bool {
    let (mut i, mut j) = (0, 0);
    while let (Some(left), Some(right)) = (a.get(i), b.get(j)) {
        if overlap(left, right) {
            return true;
        }
        if left.last < right.last {
            i += 1;
        } else {
            j += 1;
        }
    }
    false
}
