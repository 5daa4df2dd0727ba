//! In-place updates: results that overwrite a dying operand.
//!
//! ```text
//! %2 = nn.add %0, %1    =>    %2 = nn.add %0, %1 {mem.tie = array<i64: 0>}
//! ```
//!
//! Ties are decided before placement, in text order, on alias roots. A result takes the bytes of an operand
//! if the pair is declared (see [`access`]), the operand's root has no later reader, no other operand reads
//! the same bytes (unless at the same index), the sizes are proved equal, and the root is neither a weight
//! nor an input that the caller keeps. Before that, operands of concatenations and paddings are put in place
//! ([`parts`](crate::parts)), and views are read in place (`views`). Each refusal of a declared pair is a
//! remark that names the obstacle.

use cranelift_entity::SecondaryMap;
use ir::alias::AliasSets;
use ir::memory_pools::wanted;
use ir::opdef::Access;
use ir::plan::attrs;
use ir::size::tensor_bytes;
use ir::weights::WeightSet;
use ir::{Attr, Body, Context, Diagnostic, Op, Target, Traits, Value};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use crate::access::access;
use crate::edit::{Setter, entry, kept_inputs};
use crate::liveness::{AliasClasses, Steps};
use crate::manager::Changes;
use crate::parts::{Overwritten, PlacedOperands, copied_parts, has_open_parts, place_parts};
use crate::place::{Step, lower_bound};
use crate::plan::{ArenaProblem, separate_outputs};
use crate::views::{Live, place_views, turned_views};

/// The results of the pass.
#[derive(Default)]
pub struct InplaceOutcome {
    /// The number of operations that overwrite an operand.
    pub ties: usize,
    /// The number of operands in place in a concatenation.
    pub parts: usize,
    /// The number of views read in place although they have gaps or permuted axes.
    pub views: usize,
    /// A remark for each declared pair that was refused, for each operand of a concatenation or padding that
    /// is copied, and for each view that is.
    pub remarks: Vec<Diagnostic>,
}

/// Puts operands of concatenations and paddings in place (`mem.parts`), marks views that need no copy
/// (`mem.view`), and ties the results of a function's operations to dying operands (`mem.tie`).
pub fn inplace(ctx: &Context, target: &dyn Target, body: &mut Body, changes: &Changes) -> InplaceOutcome {
    let placed =
        match changes.allow(|| "parts of concatenations and paddings are written in place".to_owned()) {
            true => place_all_parts(ctx, target, body),
            false => PlacedOperands::default(),
        };
    let PlacedOperands { parts, ties: placed_ties, mut remarks, .. } = placed;
    let mut views = 0;
    if changes.allow(|| "views are read where their operand lies".to_owned()) {
        let (placed, more) =
            place_views(ctx, target, body, &|trial, values| live(ctx, target, trial, values));
        views = placed;
        remarks.extend(more);
    }
    let (ties, more) = tie(ctx, target, body, changes);
    remarks.extend(more);
    InplaceOutcome { ties: ties + placed_ties, parts, views, remarks }
}

/// Does the same as [`inplace`] on a copy, and calls `look` with the arena that `plan` would then place; none
/// if a size is not known.
pub(crate) fn in_trial<R>(
    ctx: &Context,
    target: &dyn Target,
    body: &Body,
    look: impl FnOnce(&Body, &ArenaProblem<'_>) -> R,
) -> Option<R> {
    let mut trial = body.clone();
    place_all_parts(ctx, target, &mut trial);
    if let Some(views) = turned_views(ctx, target, &trial) {
        let (tied, aliases) = tied(ctx, target, &trial);
        let arena = ArenaProblem::of(ctx, &tied, &aliases).ok()?;
        if !arena.are_at_peak(&views).contains(&true) {
            return Some(look(&tied, &arena));
        }
    }
    place_views(ctx, target, &mut trial, &|trial, values| live(ctx, target, trial, values));
    let (tied, aliases) = tied(ctx, target, &trial);
    Some(look(&tied, &ArenaProblem::of(ctx, &tied, &aliases).ok()?))
}

/// A copy with results tied to operands and outputs separated.
fn tied(ctx: &Context, target: &dyn Target, body: &Body) -> (Body, AliasSets) {
    let mut trial = body.clone();
    tie(ctx, target, &mut trial, &Changes::unlimited());
    let aliases = separate_outputs(ctx, &mut trial);
    (trial, aliases)
}

/// Puts operands of concatenations in place, with the values that their producers overwrite, unless the peak
/// is lower with one of two alternatives: the overwritten values have bytes of their own, or all operands are
/// copied. (A copy can be better if the result is returned, because its buffer could hold another value
/// before.)
fn place_all_parts(ctx: &Context, target: &dyn Target, body: &mut Body) -> PlacedOperands {
    if !has_open_parts(ctx, body) {
        return PlacedOperands::default();
    }
    let given = body.clone();
    let mut placed = place_parts(ctx, target, body, Overwritten::InPlace);
    // At most the outputs' bytes can be saved by values that use their buffers before.
    let may_lend = output_bytes(ctx, body) >= placed.whole_bytes / LEAST_SHARE;
    if placed.parts == 0 || (placed.ties == 0 && !may_lend) {
        return placed;
    }
    let bytes = |body: &Body| live(ctx, target, body, &[]).map_or(u64::MAX, |live| live.bytes);
    let mut fewest = bytes(body);
    if placed.ties > 0 {
        let mut trial = given.clone();
        let beside = place_parts(ctx, target, &mut trial, Overwritten::Beside);
        let beside_bytes = bytes(&trial);
        if beside_bytes < fewest {
            (*body, placed, fewest) = (trial, beside, beside_bytes);
        }
    }
    if bytes(&given) < fewest {
        placed = PlacedOperands { remarks: placed.remarks, ..PlacedOperands::default() };
        placed.remarks.extend(copied_parts(ctx, body));
        *body = given;
    }
    placed
}

/// Outputs smaller than 1 / `LEAST_SHARE` of the largest result are no reason to copy operands.
const LEAST_SHARE: u64 = 100;

/// The bytes of all outputs of a function.
fn output_bytes(ctx: &Context, body: &Body) -> u64 {
    let ends = body.blocks(body.root()).iter().filter_map(|block| body.last_op(*block));
    let ends = ends.filter(|op| body.at(ctx, *op).has(Traits::RETURN));
    let values = ends.flat_map(|end| body.operands(end));
    values.filter_map(|value| tensor_bytes(ctx, body.ty(value))).sum()
}

/// Ties results to dying operands. Returns the number of operations with ties, and a remark for each refused
/// pair.
fn tie(ctx: &Context, target: &dyn Target, body: &mut Body, changes: &Changes) -> (usize, Vec<Diagnostic>) {
    let kept = kept_inputs(ctx, body);
    let mut chosen = TieChooser::choose(ctx, target, body, kept.clone());
    if !chosen.donated.is_empty() {
        let mut fewest = bytes_with(ctx, body, &chosen.ties);
        for spared in [chosen.returned.clone(), chosen.donated.clone()] {
            let mut more_kept = kept.clone();
            spared.iter().for_each(|input| more_kept[*input] = true);
            let other = TieChooser::choose(ctx, target, body, more_kept);
            let bytes = bytes_with(ctx, body, &other.ties);
            let saves_copies = other.returned.len() < chosen.returned.len();
            if bytes < fewest || (bytes == fewest && saves_copies) {
                chosen = other;
                fewest = bytes;
            }
        }
    }
    // Each tie was chosen with the earlier ones in place, and is independent of the later ones.
    chosen.ties.retain(|(op, _)| {
        changes.allow(|| format!("{} overwrites an operand", body.at(ctx, *op).describe()))
    });
    write_ties(ctx, body, &chosen.ties);
    (chosen.ties.len(), chosen.remarks)
}

fn write_ties(ctx: &Context, body: &mut Body, ties: &Ties) {
    let mut setter = Setter::new(ctx, attrs::MEM_TIE);
    ties.iter().for_each(|(op, operands)| setter.set(body, *op, *operands));
}

/// The peak of live bytes in the arena with these ties.
fn bytes_with(ctx: &Context, body: &Body, ties: &Ties) -> u64 {
    let mut trial = body.clone();
    write_ties(ctx, &mut trial, ties);
    let aliases = separate_outputs(ctx, &mut trial);
    ArenaProblem::of(ctx, &trial, &aliases).map_or(u64::MAX, |arena| lower_bound(&arena.problem))
}

/// The peak of live bytes in the arena once results are tied to operands, and which of `values` are live at
/// it; none if a size is not known.
fn live(ctx: &Context, target: &dyn Target, body: &Body, values: &[Value]) -> Option<Live> {
    let (tied, aliases) = tied(ctx, target, body);
    let arena = ArenaProblem::of(ctx, &tied, &aliases).ok()?;
    Some(Live { bytes: lower_bound(&arena.problem), at_peak: arena.are_at_peak(values) })
}

/// For each result of an operation, the operand that it overwrites, or -1.
type TiedOperands = SmallVec<[i64; 4]>;

/// Operations with their `mem.tie`.
type Ties = Vec<(Op, Attr)>;

/// The chosen ties.
struct Chosen {
    ties: Ties,
    /// Inputs that are donated, without states.
    donated: Vec<Value>,
    /// Those of them whose bytes hold a result of the function at its end, so that it must be copied to the
    /// caller's output.
    returned: Vec<Value>,
    remarks: Vec<Diagnostic>,
}

struct TieChooser<'a> {
    ctx: &'a Context,
    target: &'a dyn Target,
    body: &'a Body,
    weights: WeightSet,
    aliases: &'a AliasSets,
    /// The values that share bytes, with the ties chosen so far.
    classes: AliasClasses<'a>,
    /// Whether a value is an input that the caller keeps.
    kept: SecondaryMap<Value, bool>,
    /// The attributes made for ties, cached.
    made: FxHashMap<TiedOperands, Attr>,
    remarks: Vec<Diagnostic>,
}

impl<'a> TieChooser<'a> {
    /// Chooses ties that overwrite no `kept` input.
    fn choose(
        ctx: &'a Context,
        target: &'a dyn Target,
        body: &'a Body,
        kept: SecondaryMap<Value, bool>,
    ) -> Chosen {
        let aliases = AliasSets::of(ctx, body);
        let weights = WeightSet::of(ctx, body);
        let steps = Steps::of(ctx, body, &weights);
        let classes = AliasClasses::of(ctx, body, &steps, &weights, &aliases);
        let mut chooser = TieChooser {
            ctx,
            target,
            body,
            weights,
            aliases: &aliases,
            classes,
            kept,
            made: FxHashMap::default(),
            remarks: Vec::new(),
        };
        let ties = steps.iter().filter_map(|(step, op)| chooser.tie(step, op)).collect();
        let donated = chooser.donated();
        let returned = chooser.returned(&donated);
        Chosen { ties, donated, returned, remarks: chooser.remarks }
    }

    /// The donated inputs, without states.
    fn donated(&self) -> Vec<Value> {
        let states = ir::states::states(self.ctx, self.body).unwrap_or_default();
        let is_donated = |input: &Value| !self.kept[*input] && states.iter().all(|s| s.value != *input);
        let inputs = entry(self.body).map_or(&[][..], |block| self.body.args(block));
        inputs.iter().copied().filter(is_donated).collect()
    }

    /// The donated inputs whose bytes hold another value when that is returned.
    fn returned(&self, donated: &[Value]) -> Vec<Value> {
        if donated.is_empty() {
            return Vec::new();
        }
        let ends = self.body.blocks(self.body.root()).iter().filter_map(|block| self.body.last_op(*block));
        let ends = ends.filter(|op| self.body.at(self.ctx, *op).has(Traits::RETURN));
        let values: Vec<Value> = ends.flat_map(|end| self.body.operands(end)).collect();
        let holds = |input: &Value| {
            let is_in = |value: &Value| {
                self.classes.class(*value) == self.classes.class(*input)
                    && self.aliases.root(*value) != *input
            };
            values.iter().any(is_in)
        };
        donated.iter().copied().filter(holds).collect()
    }

    fn tie(&mut self, step: Step, op: Op) -> Option<(Op, Attr)> {
        let mut ties: TiedOperands = smallvec![-1; self.body.result_count(op)];
        for (result, tie) in ties.iter_mut().enumerate() {
            let mut candidates = 0..self.body.operand_count(op);
            let Some(operand) = candidates.find(|operand| self.may_tie(step, op, result, *operand)) else {
                continue;
            };
            *tie = operand as i64;
            let owner = self.classes.class(self.body.operand(op, operand));
            let value = self.classes.class(self.body.result(op, result));
            self.classes.join(owner, value);
        }
        if ties.iter().all(|tie| *tie < 0) {
            return None;
        }
        let make = |ties: &TiedOperands| self.ctx.ints_attr(ties);
        Some((op, *self.made.entry(ties).or_insert_with_key(make)))
    }

    fn may_tie(&mut self, step: Step, op: Op, result: usize, operand: usize) -> bool {
        let access = access(self.ctx, self.target, self.body, op, result, operand);
        // For an operand in place, the tie was chosen or refused with its concatenation.
        let new = self.body.result(op, result);
        if access == Access::Never || self.aliases.root(new) != new {
            return false;
        }
        match self.obstacle(step, op, result, operand) {
            None => true,
            Some(obstacle) => {
                let message =
                    format!("result {result} does not overwrite operand {operand}: {}", obstacle.reason);
                let mut remark = Diagnostic::remark(self.body.location(op), message);
                if let Some(user) = obstacle.user {
                    remark = remark.with_note(self.body.location(user), "it is read here");
                }
                self.remarks.push(remark);
                false
            }
        }
    }

    /// The obstacle to `result` overwriting `operand`, a declared pair.
    fn obstacle(&self, step: Step, op: Op, result: usize, operand: usize) -> Option<TieObstacle> {
        let value = self.body.operand(op, operand);
        if self.weights.contains(value) {
            return Some(TieObstacle::new("it is a weight"));
        }
        let owner = self.classes.class(value);
        if self.kept[owner] {
            return Some(TieObstacle::new("it is an input that the caller keeps"));
        }
        let new = self.body.result(op, result);
        if self.classes.conflict(owner, self.classes.class(new)) {
            return Some(self.later_read(step, owner));
        }
        if wanted(self.ctx, self.body, new) != wanted(self.ctx, self.body, owner) {
            return Some(TieObstacle::new("its bytes are in another pool"));
        }
        let sizes = [new, value, owner].map(|value| self.aliases.size_bytes(value));
        if sizes[0].is_none() || sizes[0] != sizes[1] || sizes[1] != sizes[2] {
            return Some(TieObstacle::new("its size is not proved to equal the result's"));
        }
        if !self.aliases.is_in_order(value) {
            return Some(TieObstacle::new("it is not read in the order of its bytes"));
        }
        let mut others = (0..self.body.operand_count(op)).filter(|other| *other != operand);
        let clashes = |other: &usize| {
            let shares = self.classes.class(self.body.operand(op, *other)) == owner;
            shares && access(self.ctx, self.target, self.body, op, result, *other) != Access::SameIndex
        };
        others
            .find(clashes)
            .map(|_| TieObstacle::new("another operand reads the same bytes in another order"))
    }

    /// The obstacle: the bytes of a class are read after a step.
    fn later_read(&self, step: Step, class: Value) -> TieObstacle {
        match self.classes.last_reader(class) {
            Some((last, user)) if last > step => {
                TieObstacle { reason: "its bytes are read later", user: Some(user) }
            }
            _ => TieObstacle::new("its bytes are read again in the next iteration"),
        }
    }
}

/// The reason why a declared pair is refused.
struct TieObstacle {
    reason: &'static str,
    user: Option<Op>,
}

impl TieObstacle {
    fn new(reason: &'static str) -> TieObstacle {
        TieObstacle { reason, user: None }
    }
}
