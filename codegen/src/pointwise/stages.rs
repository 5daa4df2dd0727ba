//! Strip-mining: a pointwise step is cut into stages, so that transcendental functions are calls on strips.
//!
//! A call of a precompiled vector function costs about a nanosecond, so it is made on a strip of elements
//! that stay in the first-level cache. `x * sigmoid(x + b)` => stage 0: `t = x + b`, call `t = sigmoid(t)`;
//! stage 1: `y = x * t`. A node that a later stage reads is kept in a strip of scratch. Inputs are simply
//! loaded again, as nothing is overwritten before the last stage.
//!
//! Operations without a vector form and operands with a stride along the innermost loop are handled element
//! by element between vectors. If vectors would gain too little, all elements are computed one by one in a
//! single stage.

use super::expr::{Expr, ExprNode, NodeData, NodeOp};
use super::lanes::{has_vector_form, name};
use super::nest::Inner;
use super::rows::vectors;
use super::words::has_lanes;
use crate::elem::ElemType;
use crate::functions;

/// Elements of a strip: 4 KiB of `f32`.
pub(crate) const STRIP: i64 = 1024;

/// Everything that determines the code of a pointwise step; steps of equal form share one function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PointwiseForm {
    /// The expression to compute.
    pub(crate) expr: Expr,
    /// The nodes that are stored, one for each result.
    pub(crate) outputs: Vec<ExprNode>,
    /// The types of the inputs' elements.
    pub(crate) inputs: Vec<ElemType>,
    /// Loops around the innermost.
    pub(crate) outer: usize,
    /// How each operand (results first) advances along the innermost loop.
    pub(crate) inner: Vec<Inner>,
}

/// How the innermost loop runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LoopSchedule {
    /// Element by element.
    Scalar,
    /// Four elements at a time, in stages with calls between; without calls there is one stage.
    Vector(Plan),
}

/// Stages over strips.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// The stages in order.
    pub(crate) stages: Vec<StripStage>,
    /// Strips of scratch.
    pub(crate) strips: usize,
    /// For each node, where it can be read instead of computed.
    pub(crate) kept: Vec<Option<ReadableNode>>,
}

/// Where a node can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadableNode {
    /// In this strip,
    pub(crate) strip: usize,
    /// in stages after this one.
    pub(crate) after: usize,
}

/// A loop over a strip, then calls on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StripStage {
    /// The nodes that the loop stores.
    pub(crate) sinks: Vec<(ExprNode, StripStorage)>,
    /// The calls after the loop.
    pub(crate) calls: Vec<VectorCall>,
}

/// Where the elements of a strip lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StripStorage {
    /// In strip `n` of scratch.
    Strip(usize),
    /// In input `n`.
    Input(usize),
    /// In result `n`.
    Output(usize),
}

/// A vector function on a strip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VectorCall {
    /// The function's symbol.
    pub(crate) function: &'static str,
    /// Its arguments; the same twice for a function of one number.
    pub(crate) from: [StripStorage; 2],
    /// Its values; may be a strip of arguments.
    pub(crate) to: StripStorage,
}

impl PointwiseForm {
    /// How an input advances along the innermost loop.
    pub(crate) fn input_inner(&self, input: usize) -> Inner {
        self.inner[self.outputs.len() + input]
    }

    /// The strip function that computes the node, and its arguments: the same twice for a function of one
    /// number.
    fn call_of(&self, node: ExprNode) -> Option<(&'static str, [ExprNode; 2])> {
        match self.expr.node(node) {
            NodeData { elem: ElemType::F32, op: NodeOp::Unary(function, a) } => {
                Some((functions::unary_strip(function)?, [a, a]))
            }
            NodeData { elem: ElemType::F32, op: NodeOp::Binary(function, a, b) } => {
                Some((functions::binary_strip(function)?, [a, b]))
            }
            _ => None,
        }
    }

    /// The number of operations computed on vectors, without calls.
    fn together(&self) -> usize {
        self.operations().filter(|(_, data)| has_vector_form(&self.expr, *data)).count()
    }

    /// The operations computed element by element even if the others use vectors.
    fn operations_apart(&self) -> impl Iterator<Item = (ExprNode, NodeData)> + '_ {
        let is_apart = |(node, data): &(ExprNode, NodeData)| {
            !has_vector_form(&self.expr, *data) && self.call_of(*node).is_none()
        };
        self.operations().filter(is_apart)
    }

    fn apart(&self) -> usize {
        self.operations_apart().count()
    }

    fn calls(&self) -> usize {
        self.operations().filter(|(node, _)| self.call_of(*node).is_some()).count()
    }

    fn operations(&self) -> impl Iterator<Item = (ExprNode, NodeData)> + '_ {
        self.expr.nodes().filter(|(_, data)| !matches!(data.op, NodeOp::Input(_) | NodeOp::Const(_)))
    }

    /// The number of operands with a stride along the innermost loop.
    fn distant(&self) -> usize {
        self.inner.iter().filter(|inner| **inner == Inner::Strided).count()
    }

    /// Whether loops over vectors handle any element by itself.
    pub(crate) fn takes_apart(&self) -> bool {
        self.apart() + self.distant() > 0 || !self.inputs.iter().all(|elem| has_lanes(*elem))
    }

    /// Whether vectors are worthwhile although some elements are handled one by one: if they replace calls on
    /// single elements, or if more operations use vectors than not.
    fn is_vector(&self) -> bool {
        self.stores_vectors()
            && (self.calls() > 0 || self.together() > self.apart() + self.distant() || !self.takes_apart())
    }

    /// Whether every result is contiguous along the innermost loop.
    fn stores_vectors(&self) -> bool {
        self.inner[..self.outputs.len()].iter().all(|inner| *inner == Inner::Contiguous)
    }

    /// Why elements are computed one by one, if they are.
    pub(crate) fn slow(&self) -> Option<String> {
        let reason = if self.is_vector() {
            return None;
        } else if !self.stores_vectors() {
            "neighbours of the innermost loop are no neighbours in a result".to_owned()
        } else if let Some((_, data)) = self.operations_apart().next() {
            let from =
                data.op.operands().map(|operand| self.expr.node(operand).elem).find(|elem| !has_lanes(*elem));
            format!("vectors have no form for {} of `{}`", name(data.op), from.unwrap_or(data.elem))
        } else {
            "an operand lies at a distance along the innermost loop, or has 64 bits".to_owned()
        };
        Some(format!("its elements are computed one by one: {reason}"))
    }

    /// How the innermost loop runs.
    pub(crate) fn schedule(&self) -> LoopSchedule {
        if !self.is_vector() {
            return LoopSchedule::Scalar;
        }
        LoopSchedule::Vector(StagePlanner::new(self).plan())
    }

    /// Bytes of scratch that each worker needs if its part of a row has at most `chunk` elements.
    pub(crate) fn scratch_bytes(&self, chunk: u64) -> u64 {
        match self.schedule() {
            LoopSchedule::Scalar => 0,
            LoopSchedule::Vector(plan) => plan.strips as u64 * strip_bytes(chunk),
        }
    }

    /// The same for any layout of the operands: an upper bound, with a strip for each operand that a call
    /// reads.
    pub(crate) fn most_scratch_bytes(&self, chunk: u64) -> u64 {
        let form = PointwiseForm { inner: vec![Inner::Strided; self.inner.len()], ..self.clone() };
        StagePlanner::new(&form).plan().strips as u64 * strip_bytes(chunk)
    }

    /// Cycles, about, for four elements, from which the number of parts is chosen.
    pub(crate) fn cost(&self) -> u64 {
        let nodes = self.expr.nodes().count() as u64;
        match self.schedule() {
            LoopSchedule::Scalar => nodes * 8,
            LoopSchedule::Vector(_) => nodes + self.apart() as u64 * 8 + self.calls() as u64 * 16,
        }
    }
}

/// Bytes of one strip, where a worker's part of a row has at most `chunk` elements; a multiple of 64.
fn strip_bytes(chunk: u64) -> u64 {
    vectors(chunk).min(STRIP as u64) * 4
}

/// Finds stages and strips.
struct StagePlanner<'f> {
    form: &'f PointwiseForm,
    /// For each node, the stage in whose loop it is computed; for a call, the first stage that can read it.
    stage: Vec<usize>,
    plan: Plan,
}

impl<'f> StagePlanner<'f> {
    fn new(form: &'f PointwiseForm) -> StagePlanner<'f> {
        let mut stage: Vec<usize> = Vec::new();
        for (node, data) in form.expr.nodes() {
            let latest = data.op.operands().map(|operand| stage[operand.0 as usize]).max().unwrap_or(0);
            stage.push(latest + usize::from(form.call_of(node).is_some()));
        }
        let count = stage.iter().max().map_or(1, |last| last + 1);
        let plan =
            Plan { stages: vec![StripStage::default(); count], strips: 0, kept: vec![None; stage.len()] };
        StagePlanner { form, stage, plan }
    }

    fn plan(mut self) -> Plan {
        self.keep_what_later_stages_read();
        for (node, _) in self.form.expr.nodes() {
            if let Some((function, arguments)) = self.form.call_of(node) {
                self.place_call(node, function, arguments);
            }
        }
        let last = self.plan.stages.len() - 1;
        for (index, output) in self.form.outputs.iter().enumerate() {
            self.plan.stages[last].sinks.push((*output, StripStorage::Output(index)));
        }
        self.write_lone_call_to_result();
        self.plan
    }

    /// Keeps nodes in strips if they are computed in one stage's loop and read in a later stage. Only `f32`
    /// nodes: the others are computed again, from operands that are kept.
    fn keep_what_later_stages_read(&mut self) {
        let mut latest_read = self.stage.clone();
        let last = self.plan.stages.len() - 1;
        self.form.outputs.iter().for_each(|output| latest_read[output.0 as usize] = last);
        for (node, data) in self.form.expr.nodes().rev() {
            let index = node.0 as usize;
            let is_call = self.form.call_of(node).is_some();
            let is_free = matches!(data.op, NodeOp::Input(_) | NodeOp::Const(_));
            let keeps =
                data.elem == ElemType::F32 && !is_call && !is_free && latest_read[index] > self.stage[index];
            if keeps {
                let strip = self.new_strip(node, self.stage[index]);
                self.plan.stages[self.stage[index]].sinks.push((node, StripStorage::Strip(strip)));
            }
            let read_at = match (is_call, keeps) {
                (true, _) => self.stage[index] - 1,
                (false, true) => self.stage[index],
                (false, false) => latest_read[index],
            };
            for operand in data.op.operands() {
                let read = &mut latest_read[operand.0 as usize];
                *read = read_at.max(*read);
            }
        }
    }

    /// Keeps a node in a strip of its own, where stages after `stage` find it.
    fn new_strip(&mut self, node: ExprNode, stage: usize) -> usize {
        let strip = self.plan.strips;
        self.plan.strips += 1;
        self.plan.kept[node.0 as usize] = Some(ReadableNode { strip, after: stage });
        strip
    }

    fn place_call(&mut self, node: ExprNode, function: &'static str, [a, b]: [ExprNode; 2]) {
        let stage = self.stage[node.0 as usize] - 1;
        let value = self.new_strip(node, stage);
        let from = if a == b {
            [self.place_argument(a, stage, Some(value)); 2]
        } else {
            // Not into the value's strip: the value may be written over an operand that the other argument is
            // read from.
            [a, b].map(|argument| self.place_argument(argument, stage, None))
        };
        self.plan.stages[stage].calls.push(VectorCall { function, from, to: StripStorage::Strip(value) });
    }

    /// Where a call of this stage reads an argument. An argument that is neither kept nor a contiguous input
    /// is computed into `strip` or a new one.
    fn place_argument(&mut self, argument: ExprNode, stage: usize, strip: Option<usize>) -> StripStorage {
        match (self.plan.kept[argument.0 as usize], self.form.expr.node(argument).op) {
            (Some(kept), _) => return StripStorage::Strip(kept.strip),
            (None, NodeOp::Input(n)) if self.form.input_inner(n as usize) == Inner::Contiguous => {
                return StripStorage::Input(n as usize);
            }
            _ => {}
        }
        let strip = strip.unwrap_or(self.plan.strips);
        self.plan.strips = self.plan.strips.max(strip + 1);
        self.plan.stages[stage].sinks.push((argument, StripStorage::Strip(strip)));
        StripStorage::Strip(strip)
    }

    /// If a result is just a call's value, the call writes it directly; an argument computed by the loop
    /// before it goes there too. Then neither takes a strip.
    fn write_lone_call_to_result(&mut self) {
        let last = self.plan.stages.len() - 1;
        let [(node, StripStorage::Output(_))] = self.plan.stages[last].sinks[..] else {
            return;
        };
        let Some(kept) = self.plan.kept[node.0 as usize].filter(|_| self.form.call_of(node).is_some()) else {
            return;
        };
        self.plan.stages.pop();
        self.plan.kept[node.0 as usize] = None;
        self.plan.replace_strip(kept.strip, StripStorage::Output(0));
    }
}

impl Plan {
    /// Whether any stage makes calls.
    pub(crate) fn has_calls(&self) -> bool {
        self.stages.iter().any(|stage| !stage.calls.is_empty())
    }

    /// Moves the contents of a strip elsewhere, and renumbers the other strips.
    fn replace_strip(&mut self, strip: usize, by: StripStorage) {
        let renumber = |slot: &mut StripStorage| match slot {
            StripStorage::Strip(other) if *other == strip => *slot = by,
            StripStorage::Strip(other) if *other > strip => *other -= 1,
            _ => {}
        };
        for stage in &mut self.stages {
            stage.sinks.iter_mut().for_each(|(_, slot)| renumber(slot));
            stage.calls.iter_mut().for_each(|call| {
                call.from.iter_mut().chain([&mut call.to]).for_each(renumber);
            });
        }
        let later = self.kept.iter_mut().flatten().filter(|kept| kept.strip > strip);
        later.for_each(|kept| kept.strip -= 1);
        self.strips -= 1;
    }
}
