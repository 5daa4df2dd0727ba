//! Explanations of a plan's memory: live ranges of values, and their places.

use std::cmp::Reverse;
use std::collections::HashMap;

use cranelift_entity::EntityRef;
use ir::alias::AliasSets;
use ir::{Body, Context, Diagnostic, Location, Module, Op, Value};
use passes::manager::Remark;
use passes::place::{live_bytes, peak_of};
use passes::plan::peak::main_op;
use passes::plan::{ArenaProblem, BufferContent};
use serde::Serialize;

use crate::compile::{CompileOptions, plan_known_sizes};
use crate::failure::Failure;
#[cfg(feature = "cli")]
use crate::levers::{Advice, Change, levers};
use crate::plan_report::{PlanReport, StepReport, names, plan_report};
use crate::specialize::{AllSizes, has_named_sizes};

/// A planned program, ready to be explained.
///
/// ```
/// let text = "func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
///     %0 = nn.softmax %x {axis = 0} : tensor<8xf32>
///     %1 = nn.cum_sum %0 {axis = 0} : tensor<8xf32>
///     return %1 : tensor<8xf32>
/// }";
/// let module = optc::parse("sums.mlir", text.into(), None, &Default::default())?;
/// let explained = optc::Explained::of(&module, "main", &Default::default(), &[])?;
/// assert_eq!(explained.report.steps.len(), 2);
/// assert_eq!(explained.report.pools[0].size_bytes, explained.memory.arena_bytes);
/// # Ok::<(), optc::Failure>(())
/// ```
pub struct Explained {
    /// The program with its plan.
    pub planned: Module,
    /// The name of the entry function.
    pub entry: String,
    /// The sizes at which it is planned, for named sizes.
    pub sizes: Vec<(String, u64)>,
    /// Whether these are the greatest sizes.
    pub is_at_greatest: bool,
    /// The remarks of the passes.
    pub remarks: Vec<Remark>,
    /// Its memory, step by step.
    pub memory: ArenaOverTime,
    /// Its plan. The bytes of weights are 0, since they exist only in a compiled program.
    pub report: PlanReport,
}

impl Explained {
    /// Plans a program. Named sizes are as `given`; the others are the greatest possible ones, or the default
    /// ones if they have no upper bound.
    ///
    /// # Errors
    /// All errors of the first stage that finds any; names in `given` that are no sizes.
    ///
    /// # Panics
    /// If there is no such function.
    pub fn of(
        module: &Module,
        entry: &str,
        options: &CompileOptions,
        given: &[(String, u64)],
    ) -> Result<Explained, Failure> {
        let mut planned = module.clone();
        let body = planned.function(entry).expect("the entry has a body");
        if has_named_sizes(&planned.ctx, body) {
            let all = AllSizes::decide(&mut planned, options)?;
            let sizes = sizes_to_explain(&all, given);
            check_names(given, &sizes)?;
            let numbers: Vec<u64> = sizes.iter().map(|(_, size)| *size).collect();
            return Explained::at(&all, &numbers);
        }
        check_names(given, &[])?;
        let remarks = plan_known_sizes(&mut planned, entry, options)?;
        Explained::planned(planned, entry, Vec::new(), remarks)
    }

    /// A program planned for all sizes, at these sizes, in the order of its symbols.
    fn at(all: &AllSizes, numbers: &[u64]) -> Result<Explained, Failure> {
        let names = all.symbols().iter().map(|symbol| symbol.name.clone());
        let sizes = names.zip(numbers.iter().copied()).collect();
        let is_at_greatest = all.symbols().iter().zip(numbers).all(|(symbol, size)| symbol.most == *size);
        let explained = Explained::planned(all.at(numbers)?, all.entry(), sizes, all.remarks().to_vec())?;
        Ok(Explained { is_at_greatest, ..explained })
    }

    fn planned(
        planned: Module,
        entry: &str,
        sizes: Vec<(String, u64)>,
        remarks: Vec<Remark>,
    ) -> Result<Explained, Failure> {
        let body = planned.function(entry).expect("the entry was just planned");
        let memory = ArenaOverTime::of(&planned.ctx, body)?;
        let report = plan_report(&planned.ctx, body, 0)?;
        let is_at_greatest = false;
        Ok(Explained { planned, entry: entry.to_owned(), sizes, is_at_greatest, remarks, memory, report })
    }

    /// The changes that would make the arena smaller; `module` is the one that was planned.
    #[cfg(feature = "cli")]
    pub(crate) fn levers(&self, module: &Module, changes: Vec<Change>) -> Vec<Advice> {
        levers(module, &self.entry, changes, self.memory.arena_bytes)
    }

    /// The remarks on operations of the entry's outer block, in the order of steps. Operations with the same
    /// location share their remarks.
    pub(crate) fn remarks_by_op(&self) -> Vec<(Op, &Diagnostic)> {
        let body = self.body();
        let mut at: HashMap<Location, Vec<&Diagnostic>> = HashMap::new();
        let remarks = self.remarks.iter().map(|remark| &remark.diagnostic);
        for remark in remarks.filter(|remark| remark.location != Location::UNKNOWN) {
            let known = at.entry(remark.location).or_default();
            // A variant of a function may have the same remark.
            if !known.contains(&remark) {
                known.push(remark);
            }
        }
        let ops = body.entry(body.root()).into_iter().flat_map(|block| body.ops(block));
        let remarks_on =
            |op: Op| at.get(&body.location(op)).into_iter().flatten().map(move |found| (op, *found));
        ops.flat_map(remarks_on).collect()
    }

    /// The function.
    pub(crate) fn body(&self) -> &Body {
        self.planned.function(&self.entry).expect("the entry was planned")
    }
}

fn sizes_to_explain(all: &AllSizes, given: &[(String, u64)]) -> Vec<(String, u64)> {
    let is_bounded = all.bound().is_ok();
    let symbols = all.symbols().iter().zip(all.sample());
    let sizes = symbols.map(|(symbol, sample)| {
        let said = given.iter().find(|(name, _)| *name == symbol.name).map(|(_, size)| *size);
        let size = said.unwrap_or(if is_bounded { symbol.most } else { *sample });
        (symbol.name.clone(), size)
    });
    sizes.collect()
}

fn check_names(given: &[(String, u64)], sizes: &[(String, u64)]) -> Result<(), Failure> {
    let known = || sizes.iter().map(|(name, _)| name.as_str());
    let unknown = given.iter().filter(|(name, _)| known().all(|known| known != name));
    Failure::unless_none(unknown.map(|(name, _)| {
        let hint = ir::diag::did_you_mean_or_all(name, known());
        let hint = hint.map_or(String::new(), |hint| format!(" ({hint})"));
        format!("the program has no named size `{name}`{hint}")
    }))
}

/// The limit of plans in a grid.
const MOST_PLANS: usize = 36;

/// The limit of points of a named size.
const MOST_POINTS: usize = 12;

/// A named size, with the numbers for which there are plans.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SizePoints {
    /// Its name.
    pub name: String,
    /// The numbers, the least first.
    pub points: Vec<u64>,
    /// The index of the number that is explained by default.
    pub at: usize,
}

/// The plans of a program at many of its named sizes.
pub struct Grid {
    /// The named sizes.
    pub sizes: Vec<SizePoints>,
    /// The plan at each combination of points, those of the last size next to each other; none if the program
    /// does not allow these sizes.
    pub plans: Vec<Option<Explained>>,
}

impl Grid {
    /// Plans a program of named sizes: from the least of each size up to the greatest, or up to four times
    /// its default, in equal ratios.
    pub fn of(all: &AllSizes) -> Grid {
        let count = points_of_each(all.symbols().len());
        let explained = sizes_to_explain(all, &[]);
        let sizes =
            all.symbols().iter().zip(all.sample()).zip(explained).map(|((symbol, sample), (name, at))| {
                let most = if symbol.most == u64::MAX { sample.saturating_mul(4) } else { symbol.most };
                let points = points(symbol.least, most.max(at), at, count);
                let at = points.binary_search(&at).expect("the size that is explained is a point");
                SizePoints { name, points, at }
            });
        let sizes: Vec<SizePoints> = sizes.collect();
        let plans = combinations(&sizes).into_iter().map(|numbers| Explained::at(all, &numbers).ok());
        Grid { plans: plans.collect(), sizes }
    }

    /// The plan that is shown first.
    pub fn first(&self) -> Option<&Explained> {
        let number = self.sizes.iter().fold(0, |number, size| number * size.points.len() + size.at);
        self.plans.get(number)?.as_ref()
    }
}

/// The number of points for each of `sizes` sizes, so that there are at most [`MOST_PLANS`] plans.
fn points_of_each(sizes: usize) -> usize {
    let is_enough = |points: &usize| points.checked_pow(sizes as u32).is_some_and(|all| all <= MOST_PLANS);
    (1..=MOST_POINTS).take_while(is_enough).last().unwrap_or(1)
}

/// At most `count` numbers from `least` to `most` in equal ratios, in order, `kept` among them.
fn points(least: u64, most: u64, kept: u64, count: usize) -> Vec<u64> {
    let ratio = most as f64 / least.max(1) as f64;
    let others = count.saturating_sub(1);
    let point = |index: usize| {
        let share = index as f64 / others.max(2).saturating_sub(1) as f64;
        ((least.max(1) as f64 * ratio.powf(share)).round() as u64).clamp(least, most)
    };
    let mut points: Vec<u64> = (0..others).map(point).chain([kept]).collect();
    points.sort_unstable();
    points.dedup();
    points
}

/// Every combination of the sizes' points, those of the last next to each other.
fn combinations(sizes: &[SizePoints]) -> Vec<Vec<u64>> {
    sizes.iter().fold(vec![Vec::new()], |found, size| {
        let longer = |start: &Vec<u64>| {
            let start = start.clone();
            size.points.iter().map(move |point| [&start[..], &[*point]].concat()).collect::<Vec<_>>()
        };
        found.iter().flat_map(longer).collect()
    })
}

/// A buffer of the arena, with what it holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LiveBuffer {
    /// The first value in the buffer, as in the printed text; none for scratch and in nested blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The type of that value; none for scratch.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub ty: Option<String>,
    /// The operation that makes the value, or whose scratch it is.
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ArenaOverTime {
    /// Bytes of the arena.
    pub arena_bytes: u64,
    /// Bytes that are live at each step.
    pub live_bytes: Vec<u64>,
    /// The step with the most live bytes.
    pub peak: usize,
    /// The steps that run.
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

    /// The buffers that are live at a step, the largest first.
    pub fn live_at(&self, step: usize) -> impl Iterator<Item = &LiveBuffer> {
        let is_live = move |buffer: &&LiveBuffer| (buffer.first..=buffer.last).contains(&step);
        self.buffers.iter().filter(|buffer| buffer.size_bytes > 0).filter(is_live)
    }

    /// The operation of a step, in words.
    pub fn step_text(&self, step: usize) -> String {
        match self.steps.iter().find(|known| known.index == step) {
            Some(StepReport { op, name, .. }) => format!("step {step}, {}", node_text(op, name)),
            None => format!("step {step}"),
        }
    }

    /// The live bytes of all steps as one line of at most `columns` bars; the height of each is the maximum
    /// over its steps.
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

/// The name of an operation (for a group, that of its main operation), and the name of the model's node.
pub(crate) fn said(ctx: &Context, body: &Body, op: Op) -> (String, String) {
    let name = body.at(ctx, main_op(ctx, body, op)).name().to_owned();
    (name, ctx.location_name(body.location(op)).unwrap_or("").to_owned())
}

/// An operation in words: with its node's name, if it has one.
pub fn node_text(op: &str, node: &str) -> String {
    if node.is_empty() { format!("`{op}`") } else { format!("`{op}` ({node})") }
}
