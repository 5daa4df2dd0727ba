//! Why a plan takes the memory that it does: what is live when, and where a value is.

use std::cmp::Reverse;

use cranelift_entity::EntityRef;
use ir::alias::AliasSets;
use ir::{Body, Context, Op, Value};
use passes::place::{live_bytes, peak_of};
use passes::plan::peak::main_op;
use passes::plan::{ArenaProblem, BufferContent};
use serde::Serialize;

use crate::failure::Failure;
use crate::plan_report::{StepReport, names};

/// A buffer of the arena, with what it holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LiveBuffer {
    /// The first value that it holds, as in the printed text; none for scratch and in nested blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The type of that value; none for scratch.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub ty: Option<String>,
    /// The operation that makes it, or whose scratch it is.
    pub op: String,
    /// The name of the model's node, if any.
    pub node: String,
    /// Its bytes.
    pub size_bytes: u64,
    /// The first step at which it is kept.
    pub first: usize,
    /// The last one.
    pub last: usize,
}

/// The memory of a planned function, step by step. Steps without a run (a branch, a return) are between
/// those of the [report](crate::plan_report::PlanReport).
#[derive(Clone, Debug, Serialize)]
pub struct ArenaOverTime {
    /// Bytes of the arena.
    pub arena_bytes: u64,
    /// Bytes that are live at each step.
    pub live_bytes: Vec<u64>,
    /// The step at which most are.
    pub peak: usize,
    /// What runs.
    pub steps: Vec<StepReport>,
    /// All buffers, the largest first.
    pub buffers: Vec<LiveBuffer>,
}

impl ArenaOverTime {
    /// Reads the plan of a planned function.
    ///
    /// # Errors
    /// If a size is not known.
    pub fn of(ctx: &Context, body: &Body) -> Result<ArenaOverTime, Failure> {
        let aliases = AliasSets::of(ctx, body);
        let arena = ArenaProblem::of(ctx, body, &aliases);
        let arena = arena.map_err(|faults| Failure::diagnostics(ctx, &faults))?;
        let names = body.entry(body.root()).map(|block| names(body, block)).unwrap_or_default();
        let mut buffers: Vec<LiveBuffer> = Vec::new();
        for (id, buffer) in arena.problem.buffers.iter() {
            let (value, op) = match arena.contents[id] {
                BufferContent::Root(value) => (Some(value), body.defining_op(value)),
                BufferContent::Scratch(op) => (None, Some(op)),
            };
            let (op, node) =
                op.map_or_else(|| ("an argument".to_owned(), String::new()), |op| said(ctx, body, op));
            let named = |value: Value| Some(names[value].clone()).filter(|name| !name.is_empty());
            buffers.push(LiveBuffer {
                value: value.and_then(named),
                ty: value.map(|value| ir::text::type_text(ctx, body.ty(value))),
                op,
                node,
                size_bytes: buffer.size_bytes,
                first: buffer.first.index(),
                last: buffer.last.index(),
            });
        }
        buffers.sort_by_key(|buffer| (Reverse(buffer.size_bytes), buffer.first));
        let step = |(step, op): (passes::place::Step, Op)| {
            let (op, name) = said(ctx, body, op);
            StepReport { index: step.index(), op, name }
        };
        Ok(ArenaOverTime {
            arena_bytes: ir::plan::attrs::arena_bytes(ctx, body).unwrap_or(0),
            live_bytes: live_bytes(&arena.problem),
            peak: peak_of(&arena.problem).map_or(0, |(step, _)| step.index()),
            steps: arena.steps().iter().map(step).collect(),
            buffers,
        })
    }

    /// What is live at a step, the largest first.
    pub fn live_at(&self, step: usize) -> impl Iterator<Item = &LiveBuffer> {
        let is_live = move |buffer: &&LiveBuffer| (buffer.first..=buffer.last).contains(&step);
        self.buffers.iter().filter(|buffer| buffer.size_bytes > 0).filter(is_live)
    }

    /// What runs at a step, in words.
    pub fn step_text(&self, step: usize) -> String {
        match self.steps.iter().find(|known| known.index == step) {
            Some(StepReport { op, name, .. }) => format!("step {step}, {}", node_text(op, name)),
            None => format!("step {step}"),
        }
    }

    /// The live bytes of all steps as one line of at most `columns` bars, each as high as the most bytes of
    /// its steps.
    pub fn bars(&self, columns: usize) -> String {
        const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
        let most = self.live_bytes.iter().copied().max().unwrap_or(0).max(1);
        let each = self.live_bytes.len().div_ceil(columns).max(1);
        let bar = |steps: &[u64]| {
            let bytes = steps.iter().copied().max().unwrap_or(0);
            let eighths = (u128::from(bytes) * 8).div_ceil(u128::from(most));
            BARS[eighths as usize]
        };
        self.live_bytes.chunks(each).map(bar).collect()
    }
}

/// The operation's name (of a group, of what it is built around), and the name of the model's node.
fn said(ctx: &Context, body: &Body, op: Op) -> (String, String) {
    let name = body.at(ctx, main_op(ctx, body, op)).name().to_owned();
    (name, ctx.location_name(body.location(op)).unwrap_or("").to_owned())
}

/// An operation in words: with its node's name, if it has one.
pub fn node_text(op: &str, node: &str) -> String {
    if node.is_empty() { format!("`{op}`") } else { format!("`{op}` ({node})") }
}
