//! Trade-offs of time for memory: which steps run in bands of rows (`mem.overlap`), and how much scratch each
//! gets (`mem.scratch`).
//!
//! Decided before placement, from the live bytes of each step. No arena is smaller than the step that needs
//! most with as little memory as the goal allows; that is the *target*. A step that fits the target with the
//! scratch that its kernel prefers and without overlap stays as it is. Only the others get less scratch, or
//! write their result over rows already read. After placement, bands are widened as far as the places allow,
//! and bands of pairs that share no byte are dropped.

use ir::plan::attrs;
use std::ops::Range;

use cranelift_entity::EntityRef;
use ir::alias::AliasSets;
use ir::target::Bands;
use ir::{Body, Context, Diagnostic, Op, Target};
use rustc_hash::FxHashMap;

use crate::overlap::{Banding, OperandRows, RowOrder};
use crate::place::checker::check_placement;
use crate::place::{self, Placement, Placer, Problem};
use crate::plan::{ALIGN_BYTES, ArenaProblem, BufferContent};

/// The goal of optimization.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Goal {
    /// The smallest arena.
    Memory,
    /// The smallest arena that costs next to no time.
    #[default]
    Balanced,
    /// The shortest time.
    Speed,
}

impl Goal {
    /// The names of all goals, as in options.
    pub const NAMES: &[&str] = &["memory", "balanced", "speed"];
    const ALL: [Goal; 3] = [Goal::Memory, Goal::Balanced, Goal::Speed];

    /// The widths of bands to try, until the placement of one meets its target.
    pub(crate) fn band_widths(self) -> &'static [BandWidth] {
        match self {
            Goal::Memory => BandWidth::OF_MEMORY,
            Goal::Balanced => BandWidth::BALANCED,
            Goal::Speed => &[],
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Goal::NAMES[self as usize]
    }

    /// The goal of a name of [`Goal::NAMES`].
    pub fn named(name: &str) -> Option<Goal> {
        Goal::ALL.into_iter().find(|goal| goal.name() == name)
    }
}

/// The width of bands before placement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BandWidth {
    /// Operand and result may be up to 1 / this of the larger tensor apart, which allows wider bands.
    share: u64,
    /// Whether bands are as wide as the target allows at their own step. Otherwise they have the least width,
    /// which leaves the placement more freedom. After the placement, bands are widened in any case.
    is_fitted: bool,
}

impl BandWidth {
    const OF_MEMORY: &[BandWidth] = &[BandWidth::fitted(256), BandWidth::fitted(128), BandWidth::fitted(64)];
    const BALANCED: &[BandWidth] = &[BandWidth::fitted(1), BandWidth { share: 1, is_fitted: false }];

    const fn fitted(share: u64) -> BandWidth {
        BandWidth { share, is_fitted: true }
    }
}

/// The share of the live tensors' bytes that a balanced plan grants to scratch before it saves any: 1 / this.
const SPARE: u64 = 200;

/// The memory needs of a step.
struct Need {
    op: Op,
    /// Bytes of the live tensors.
    live: u64,
    /// Bytes of scratch: preferred by its kernel, and the least that it can run with.
    preferred: u64,
    least: u64,
    overlap: Option<OverlapCandidate>,
}

/// An operand and a result that may share bytes.
#[derive(Clone, Copy)]
pub(crate) struct OverlapCandidate {
    rows: OperandRows,
    /// The kernel's support for bands.
    bands: Bands,
    /// The fewest rows of a band.
    band_rows: u64,
    /// Bytes of operand and result.
    sizes: [u64; 2],
}

impl OverlapCandidate {
    /// The pair of a step's operand and result, if bands of them share bytes.
    pub(crate) fn new(
        goal: Goal,
        rows: OperandRows,
        sizes: [u64; 2],
        bands: Bands,
        share: u64,
    ) -> Option<OverlapCandidate> {
        let largest = sizes[0].max(sizes[1]) / share;
        let multiple = bands.multiple;
        let narrowest = rows.distance(multiple, RowOrder::Down);
        let band_rows = match goal {
            Goal::Memory => rows.widest(narrowest + largest as i64, multiple, multiple, RowOrder::Down),
            _ => bands.free_rows,
        };
        let candidate = OverlapCandidate { rows, bands, band_rows, sizes };
        // One band for everything saves nothing.
        let is_divided = band_rows < rows.output || (band_rows == rows.output && rows.images > 1);
        (is_divided && candidate.saved() > 0).then_some(candidate)
    }

    /// The bytes that both share with the narrowest bands, in the better order.
    pub(crate) fn saved(&self) -> u64 {
        self.saved_by(self.band_rows)
    }

    /// The bytes that both share with bands of this many rows, in the better order.
    fn saved_by(&self, band_rows: u64) -> u64 {
        let distance =
            |order| self.rows.distance(band_rows, order).max(0).unsigned_abs().next_multiple_of(ALIGN_BYTES);
        let [input, output] = self.sizes;
        let extent =
            output.max(input + distance(RowOrder::Down)).min(input.max(output + distance(RowOrder::Up)));
        (input + output).saturating_sub(extent)
    }
}

impl Need {
    /// The least bytes that the step can run in.
    fn least_bytes(&self) -> u64 {
        self.live + self.least - self.overlap.map_or(0, |overlap| overlap.saved())
    }

    /// The savings by which the step takes at most `target` bytes, or as few as possible: an overlap, and the
    /// bytes of scratch.
    fn savings(&self, target: u64, width: BandWidth) -> (Option<BandCandidate>, u64) {
        let scratch = |live: u64| target.saturating_sub(live) / ALIGN_BYTES * ALIGN_BYTES;
        match self.overlap {
            Some(overlap) if self.live + self.least > target => {
                let fits = |rows: &u64| {
                    width.is_fitted && self.live - overlap.saved_by(*rows) + self.preferred <= target
                };
                let OverlapCandidate { rows, bands: Bands { operand, multiple, .. }, .. } = overlap;
                let wider = rows.wider(overlap.band_rows, multiple).take_while(fits).last();
                let band_rows = wider.unwrap_or(overlap.band_rows);
                let bytes =
                    scratch(self.live - overlap.saved_by(band_rows)).clamp(self.least, self.preferred);
                (Some(BandCandidate { op: self.op, operand, band_rows, multiple, rows }), bytes)
            }
            _ => (None, scratch(self.live).clamp(self.least, self.preferred)),
        }
    }
}

/// An operation that may overwrite an operand in bands of at least this many rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BandCandidate {
    pub(crate) op: Op,
    pub(crate) operand: usize,
    pub(crate) band_rows: u64,
    /// The rows of a band are a multiple of this.
    pub(crate) multiple: u64,
    /// The rows of operand and result.
    pub(crate) rows: OperandRows,
}

/// A trade-off: what to overlap and which scratch to cut.
pub(crate) struct TradeOff {
    /// Overlaps that planners may use, in either order of rows.
    pub(crate) candidates: Vec<BandCandidate>,
    /// The scratch of the steps that get less than they prefer.
    pub(crate) scratch: Vec<(Op, u64)>,
    /// The target: the bytes that no step should exceed.
    pub(crate) target_bytes: u64,
}

/// A step, with the bytes of live tensors and of the scratch that its kernel prefers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunningStep {
    pub(crate) op: Op,
    pub(crate) live: u64,
    pub(crate) preferred: u64,
}

/// The queries that a trade-off makes about a function.
pub(crate) trait Question {
    /// The goal of the plan.
    fn goal(&self) -> Goal;
    /// All steps.
    fn steps(&self) -> Vec<RunningStep>;
    /// The least scratch that a step can run with, and how it may run in bands.
    fn scratch(&self, op: Op, preferred: u64) -> (u64, Option<Bands>);
    /// The rows and bytes of an operand and of result 0 of a step, if both are buffers of their own.
    fn rows(&self, op: Op, operand: usize) -> Option<(OperandRows, [u64; 2])>;

    /// The operand and result of a step that may overlap in a plan for `goal`; `share` is that of
    /// [`BandWidth`].
    fn candidate(&self, goal: Goal, op: Op, bands: Bands, share: u64) -> Option<OverlapCandidate> {
        let (rows, sizes) = self.rows(op, bands.operand)?;
        OverlapCandidate::new(goal, rows, sizes, bands, share)
    }
}

/// The savings of the steps at the peak, with bands of this width; none if nothing is saved.
pub(crate) fn trade_off(question: &impl Question, width: BandWidth) -> Option<TradeOff> {
    let needs = needs_near_peak(question, width.share);
    let target_bytes = target_bytes(&needs, question.goal());
    let (mut candidates, mut scratch) = (Vec::new(), Vec::new());
    for need in needs.iter().filter(|need| need.live + need.preferred > target_bytes) {
        let (candidate, bytes) = need.savings(target_bytes, width);
        candidates.extend(candidate);
        scratch.extend((bytes < need.preferred).then_some((need.op, bytes)));
    }
    let saves = !candidates.is_empty() || !scratch.is_empty();
    saves.then_some(TradeOff { candidates, scratch, target_bytes })
}

/// The needs of the steps near the peak: all that, without savings, exceed the least need of another step.
fn needs_near_peak(question: &impl Question, share: u64) -> Vec<Need> {
    let mut steps = question.steps();
    steps.sort_by_key(|step| std::cmp::Reverse(step.live + step.preferred));
    let (mut needs, mut least) = (Vec::new(), 0);
    for RunningStep { op, live, preferred } in steps {
        if live + preferred <= least {
            break;
        }
        let (scratch, bands) = question.scratch(op, preferred);
        let overlap = bands.and_then(|bands| question.candidate(question.goal(), op, bands, share));
        let need = Need { op, live, preferred, least: scratch.min(preferred), overlap };
        least = least.max(need.least_bytes());
        needs.push(need);
    }
    needs
}

/// Places the values of a function with the best trade-off that the goal allows; `arena` is the problem
/// without any. Writes `mem.overlap` and `mem.scratch`. Returns the resulting problem and its placement.
///
/// # Errors
/// If a size is not known.
pub(crate) fn place<'a>(
    ctx: &Context,
    target: &dyn Target,
    body: &mut Body,
    mut arena: ArenaProblem<'a>,
    aliases: &'a AliasSets,
    goal: Goal,
    placer: Placer,
) -> Result<(ArenaProblem<'a>, Placement), Vec<Diagnostic>> {
    let query = ArenaQuery::new(ctx, target, body, &arena, goal);
    let mut best: Option<(Placement, Problem, TradeOff)> = None;
    for width in goal.band_widths() {
        let Some(trade_off) = trade_off(&query, *width) else { break };
        let problem = query.problem(&trade_off);
        let placement = placer.sketch(&problem);
        let is_met = placement.size_bytes <= trade_off.target_bytes;
        if best.as_ref().is_none_or(|best| placement.size_bytes < best.0.size_bytes) {
            best = Some((placement, problem, trade_off));
        }
        if is_met {
            break;
        }
    }
    // No placement without savings is below their lower bound.
    let bound = place::lower_bound(&arena.problem);
    if best.as_ref().is_none_or(|best| best.0.size_bytes > bound) {
        let whole = placer.sketch(&arena.problem);
        if best.as_ref().is_none_or(|best| best.0.size_bytes >= whole.size_bytes) {
            let whole = placer.finish(&arena.problem, whole);
            return Ok((arena, whole));
        }
    }
    let (placement, problem, trade_off) = best.expect("what saves nothing would have been placed whole");
    arena.problem = problem;
    for (op, bytes) in &trade_off.scratch {
        body.set_attr(ctx, *op, attrs::MEM_SCRATCH, ctx.int_attr(*bytes as i64));
    }
    settle(ctx, body, &arena, &placement, &trade_off.candidates);
    refine(ctx, body, (arena, placement), &trade_off.candidates, aliases, placer)
}

/// The most times that a placement may change the problem.
const MOST_ROUNDS: usize = 4;

/// Solves the problem again after its overlaps are settled. It is stricter than the problem that the
/// trade-off was decided by: some bands are wider, and pairs that share no byte may not overlap any more. The
/// new placement may settle more.
fn refine<'a>(
    ctx: &Context,
    body: &mut Body,
    decided: (ArenaProblem<'a>, Placement),
    candidates: &[BandCandidate],
    aliases: &'a AliasSets,
    placer: Placer,
) -> Result<(ArenaProblem<'a>, Placement), Vec<Diagnostic>> {
    let mut best = decided;
    for _ in 0..MOST_ROUNDS {
        let arena = ArenaProblem::of(ctx, body, aliases)?;
        let found = placer.place(&arena.problem);
        if found.size_bytes < best.1.size_bytes {
            best = (arena, found);
        } else if check_placement(&arena.problem, &best.1).is_empty() {
            best.0 = arena;
        } else {
            break;
        }
        let candidates = settled_candidates(ctx, body, candidates);
        if !settle(ctx, body, &best.0, &best.1, &candidates) {
            break;
        }
    }
    Ok(best)
}

/// The candidates that run in bands now, with their current width.
fn settled_candidates(ctx: &Context, body: &Body, candidates: &[BandCandidate]) -> Vec<BandCandidate> {
    let settled = |candidate: &BandCandidate| {
        let banding = Banding::of(body.at(ctx, candidate.op))?;
        Some(BandCandidate { band_rows: banding.rows, ..*candidate })
    };
    candidates.iter().filter_map(settled).collect()
}

/// The least bytes that any arena needs, with each step as economical as possible, and the steps that need
/// them.
pub(crate) fn at_peak(
    ctx: &Context,
    target: &dyn Target,
    body: &Body,
    arena: &ArenaProblem<'_>,
) -> Option<(u64, Vec<Op>)> {
    let BandWidth { share, .. } = *Goal::Memory.band_widths().first()?;
    let needs = needs_near_peak(&ArenaQuery::new(ctx, target, body, arena, Goal::Memory), share);
    let bytes = needs.iter().map(Need::least_bytes).max()?;
    let at_peak = needs.iter().filter(|need| need.least_bytes() == bytes);
    Some((bytes, at_peak.map(|need| need.op).collect()))
}

/// The peak of live tensors if results overwrite operands wherever possible: no arena is smaller, for any
/// number of threads. `question` has the goal of the smallest arena.
pub(crate) fn peak_of_tensors(question: &impl Question) -> u64 {
    let BandWidth { share, .. } = *Goal::Memory.band_widths().last().expect("it has some");
    let mut steps = question.steps();
    steps.sort_by_key(|step| std::cmp::Reverse(step.live));
    let mut peak = 0;
    for RunningStep { op, live, preferred } in steps {
        if live <= peak {
            break;
        }
        let bands = question.scratch(op, preferred).1;
        let overlap = bands.and_then(|bands| question.candidate(Goal::Memory, op, bands, share));
        peak = peak.max(live - overlap.map_or(0, |overlap| overlap.saved()));
    }
    peak
}

/// The target of a trade-off: bytes that no step should exceed.
fn target_bytes(needs: &[Need], goal: Goal) -> u64 {
    let least = needs.iter().map(Need::least_bytes).max().unwrap_or(0);
    let tensors = needs.iter().map(|need| need.least_bytes() - need.least).max().unwrap_or(0);
    match goal {
        Goal::Balanced => least.max(tensors + tensors / SPARE),
        _ => least,
    }
}

/// The queries about a function of known sizes.
pub(crate) struct ArenaQuery<'a> {
    ctx: &'a Context,
    target: &'a dyn Target,
    body: &'a Body,
    arena: &'a ArenaProblem<'a>,
    goal: Goal,
    threads: usize,
}

impl<'a> ArenaQuery<'a> {
    pub(crate) fn new(
        ctx: &'a Context,
        target: &'a dyn Target,
        body: &'a Body,
        arena: &'a ArenaProblem<'a>,
        goal: Goal,
    ) -> ArenaQuery<'a> {
        let threads = attrs::threads(ctx, body).unwrap_or(1);
        ArenaQuery { ctx, target, body, arena, goal, threads }
    }

    /// The placement problem of a trade-off.
    fn problem(&self, trade_off: &TradeOff) -> Problem {
        let mut problem = self.arena.problem.clone();
        let less: FxHashMap<Op, u64> = trade_off.scratch.iter().copied().collect();
        for (id, content) in self.arena.contents.iter() {
            if let BufferContent::Scratch(op) = content
                && let Some(bytes) = less.get(op)
            {
                problem.buffers[id].size_bytes = *bytes;
            }
        }
        for BandCandidate { op, operand, band_rows: rows, .. } in trade_off.candidates.iter().copied() {
            let bandings = [RowOrder::Down, RowOrder::Up].map(|order| Banding { operand, rows, order });
            let overlap = |banding| self.arena.overlap(self.ctx, self.body, op, banding);
            problem.overlaps.extend(bandings.into_iter().filter_map(overlap));
        }
        problem
    }
}

impl Question for ArenaQuery<'_> {
    fn goal(&self) -> Goal {
        self.goal
    }

    fn steps(&self) -> Vec<RunningStep> {
        let live = live_bytes(self.arena);
        let runs = self.arena.steps().iter();
        let steps = runs.map(|(step, op)| {
            let preferred = attrs::scratch_bytes(self.body.at(self.ctx, op)).unwrap_or(0);
            RunningStep { op, live: live[step.index()], preferred }
        });
        steps.collect()
    }

    fn scratch(&self, op: Op, preferred: u64) -> (u64, Option<Bands>) {
        let choice = self.target.select(self.body.at(self.ctx, op), self.threads);
        choice.map_or((preferred, None), |choice| (choice.least_scratch_bytes, choice.bands))
    }

    fn rows(&self, op: Op, operand: usize) -> Option<(OperandRows, [u64; 2])> {
        let pair = self.arena.pair(self.body, op, operand)?;
        let rows = OperandRows::of(self.ctx, self.body, op, operand)?;
        Some((rows, [pair.0, pair.1].map(|id| self.arena.problem.buffers[id].size_bytes)))
    }
}

/// The bytes of live tensors at each step, each rounded up to the alignment.
fn live_bytes(arena: &ArenaProblem<'_>) -> Vec<u64> {
    let mut changes = vec![0i64; arena.steps().end().index() + 2];
    for (id, content) in arena.contents.iter() {
        if let BufferContent::Root(_) = content {
            let buffer = arena.problem.buffers[id];
            let bytes = buffer.size_bytes.next_multiple_of(ALIGN_BYTES) as i64;
            changes[buffer.first.index()] += bytes;
            changes[buffer.last.index() + 1] -= bytes;
        }
    }
    let sums = changes.iter().scan(0, |sum, change| {
        *sum += change;
        Some(*sum as u64)
    });
    sums.collect()
}

/// Writes the overlaps that a placement uses (`mem.overlap`), with bands as wide as the places allow; returns
/// whether that changed anything.
fn settle(
    ctx: &Context,
    body: &mut Body,
    arena: &ArenaProblem<'_>,
    placement: &Placement,
    candidates: &[BandCandidate],
) -> bool {
    let mut is_news = false;
    for candidate in candidates {
        let BandCandidate { op, operand, .. } = *candidate;
        let Some(pair) = arena.pair(body, op, operand) else { continue };
        let places = [pair.0, pair.1].map(|id| {
            let start = placement.offsets[id];
            start..start + arena.problem.buffers[id].size_bytes
        });
        let before = Banding::of(body.at(ctx, op));
        match settled(candidate, places) {
            Some((rows, order)) => Banding { operand, rows, order }.write(ctx, body, op),
            None => body.remove_attr(ctx, op, attrs::MEM_OVERLAP),
        }
        is_news |= before != Banding::of(body.at(ctx, op));
    }
    is_news
}

/// The widest bands for the places of an operand and a result, and their order; none if the two share no
/// byte.
pub(crate) fn settled(
    candidate: &BandCandidate,
    [input, output]: [Range<u64>; 2],
) -> Option<(u64, RowOrder)> {
    let BandCandidate { rows, band_rows, multiple, .. } = *candidate;
    if input.end <= output.start || output.end <= input.start {
        return None;
    }
    let below = input.start as i64 - output.start as i64;
    let order = if rows.distance(band_rows, RowOrder::Down) <= below { RowOrder::Down } else { RowOrder::Up };
    let distance = if order == RowOrder::Down { below } else { -below };
    Some((rows.widest(distance, band_rows, multiple, order), order))
}

/// Removes the savings of an earlier plan.
pub(crate) fn forget(ctx: &Context, body: &mut Body) {
    let mut overlapping = Vec::new();
    ir::flow::walk(ctx, body, |op| {
        overlapping.extend(body.at(ctx, op).attr(attrs::MEM_OVERLAP).map(|_| op));
    });
    overlapping.into_iter().for_each(|op| body.remove_attr(ctx, op, attrs::MEM_OVERLAP));
}
