//! Views in place: views with gaps or permuted axes that are read in the operand's bytes, without a copy.
//!
//! ```text
//! %1 = nn.slice %0 [0, 4], [35, 3]       %1 = nn.slice %0 [0, 4], [35, 3] {mem.view}
//! %2 = nn.conv2d %1, %w            =>    %2 = nn.conv2d %1, %w       reads rows of 3 at a distance of 8
//! ```
//!
//! A slice of inner axes, a transpose or a broadcast needs no copy if all readers support its strides
//! ([`check_readers`]). But a view keeps its whole operand alive, whereas a copy is a value of its own and
//! may be overwritten. So trials choose ties and count live bytes, with views in place and without. Slices
//! with contiguous rows are read in place unless the peak rises; so are views in another order whose readers
//! would copy them anyway. Others in another order cost time, so they are read in place only if the peak
//! falls. Views of one root are treated together. Each refusal is a remark that names the use in the way. A
//! trial costs one `inplace` and one liveness analysis; functions without such views cost a walk.

use cranelift_entity::SecondaryMap;
use ir::alias::{AliasSets, is_free_view, ties};
use ir::memory_pools::wanted;
use ir::opdef::{Strided, View};
use ir::plan::attrs;
use ir::weights::WeightSet;
use ir::window::{Arrangement, ByteWindow, layout};
use ir::{Body, Context, Diagnostic, Kind, Op, Target, Value, flow};

use crate::readers::{MoveObstacle, check_readers, collect_readers, read_a_copy};

/// The operations visited in all trials of a function, and the number of trials, at most.
const TRIED_OPS: usize = 8_000;
const MOST_TRIALS: usize = 32;

/// The peak of live bytes in a function's arena.
pub(crate) struct Live {
    /// The live bytes at the peak.
    pub(crate) bytes: u64,
    /// For each of the values asked about, whether it is in the arena at a step of the peak.
    pub(crate) at_peak: Vec<bool>,
}

/// Computes the peak once results are tied to operands; none if a size is not known.
pub(crate) type LiveCount<'a> = &'a dyn Fn(&Body, &[Value]) -> Option<Live>;

/// Marks views to be read in place (`mem.view`). Returns how many, and a remark for each that is copied.
pub(crate) fn place_views(
    ctx: &Context,
    target: &dyn Target,
    body: &mut Body,
    count: LiveCount<'_>,
) -> (usize, Vec<Diagnostic>) {
    let (candidates, ops) = candidates(ctx, body);
    if candidates.is_empty() {
        return (0, Vec::new());
    }
    let given = body.clone();
    let (views, mut remarks) = mark_all(ctx, target, body, &candidates);
    let trials = (TRIED_OPS / ops).clamp(4, MOST_TRIALS);
    let mut search = ViewSearch { ctx, target, given: &given, count, trials };
    let (kept, dropped) = search.choose(&views);
    for (view, reason) in dropped {
        remarks.push(refusal(&given, view.op, &reason.into()));
    }
    if let Some(marked) = search.marked(&kept) {
        *body = marked;
    }
    (kept.len(), remarks)
}

/// The views that could be read in place, if reading any of them takes more time than reading a copy. Such
/// views stay copies unless the copies are in the arena at the peak.
pub(crate) fn turned_views(ctx: &Context, target: &dyn Target, body: &Body) -> Option<Vec<Value>> {
    let (candidates, _) = candidates(ctx, body);
    if candidates.is_empty() {
        return Some(Vec::new());
    }
    let (views, _) = mark_all(ctx, target, &mut body.clone(), &candidates);
    let are_slow = views.iter().all(|view| view.reading == Reading::Slower);
    are_slow.then(|| views.iter().map(|view| body.result(view.op, 0)).collect())
}

/// A view that can be read in place.
#[derive(Clone, Copy)]
struct Marked {
    op: Op,
    /// The value that owns its bytes.
    root: Value,
    reading: Reading,
}

/// The time that it takes to read a view in place instead of a copy.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// No more: it has contiguous rows, or is copied once more before it is used.
    AsFast,
    /// More: it is in another order than its operand.
    Slower,
}

/// The views that are copies so far, except of weights and operands in place in a concatenation; and the
/// number of operations.
fn candidates(ctx: &Context, body: &Body) -> (Vec<Op>, usize) {
    let mut found = Vec::new();
    let mut ops = 0;
    flow::walk(ctx, body, |op| {
        let op_ref = body.at(ctx, op);
        ops += 1;
        let is_copied = matches!(op_ref.kind(), Kind::View(View::OfOperand(_))) && !is_free_view(op_ref);
        if is_copied && op_ref.attr(attrs::MEM_PITCH).is_none() && ties(op_ref).next().is_none() {
            found.push(op);
        }
    });
    if !found.is_empty() {
        let weights = WeightSet::of(ctx, body);
        let aliases = AliasSets::of(ctx, body);
        let is_own = |op: &Op| aliases.root(body.result(*op, 0)) == body.result(*op, 0);
        found.retain(|op| !weights.is_weight_op(body, *op) && is_own(op));
    }
    (found, ops)
}

/// Marks each candidate that all its readers can read in place, in text order; a remark for each of the
/// others.
fn mark_all(
    ctx: &Context,
    target: &dyn Target,
    body: &mut Body,
    candidates: &[Op],
) -> (Vec<Marked>, Vec<Diagnostic>) {
    let (mut taken, mut remarks) = (Vec::new(), Vec::new());
    for &op in candidates {
        match lying(ctx, target, body, op) {
            Ok(layout) => {
                body.set_attr(ctx, op, attrs::MEM_VIEW, ctx.unit_attr());
                taken.push((op, layout));
            }
            Err(obstacle) => remarks.push(refusal(body, op, &obstacle)),
        }
    }
    let mut views = Vec::new();
    let aliases = AliasSets::of(ctx, body);
    let overwritten = overwritten(ctx, body);
    for (op, layout) in taken {
        let result = body.result(op, 0);
        let is_turned = Arrangement::of(&layout) == Arrangement::Strides;
        let reading = match is_turned && !read_a_copy(ctx, target, body, result) {
            true => Reading::Slower,
            false => Reading::AsFast,
        };
        if !are_known(ctx, body, &aliases, result) {
            remarks.push(refusal(body, op, &UNKNOWN.into()))
        } else if is_overwritten(ctx, body, &overwritten, result) {
            remarks.push(refusal(body, op, &OVERWRITTEN.into()))
        } else {
            views.push(Marked { op, root: aliases.root(result), reading })
        }
    }
    (views, remarks)
}

/// The value whose elements a view shows, through views that need no copy.
fn viewed(ctx: &Context, body: &Body, mut value: Value) -> Value {
    while let Some(view) = body.defining_op(value).filter(|op| is_free_view(body.at(ctx, *op))) {
        value = body.operand(view, 0);
    }
    value
}

/// The operations that overwrite an operand in place in a concatenation, each with that operand.
fn overwritten(ctx: &Context, body: &Body) -> Vec<(Op, Value)> {
    let mut found = Vec::new();
    flow::walk(ctx, body, |op| {
        let operands = ties(body.at(ctx, op)).map(|(_, operand)| body.operand(op, operand));
        found.extend(operands.map(|operand| (op, viewed(ctx, body, operand))));
    });
    found
}

/// Whether a view's elements are overwritten before all its readers have run.
fn is_overwritten(ctx: &Context, body: &Body, overwritten: &[(Op, Value)], view: Value) -> bool {
    let whole = viewed(ctx, body, view);
    let mut readers = Vec::new();
    collect_readers(ctx, body, view, &mut readers);
    overwritten.iter().filter(|(_, value)| *value == whole).any(|(writer, _)| {
        let block = body.block_of(*writer);
        let is_before = |op: &Op| body.block_of(*op) == block && body.is_before(*op, *writer);
        !readers.iter().all(is_before)
    })
}

/// Whether the bytes of a value and of all views of it are known.
fn are_known(ctx: &Context, body: &Body, aliases: &AliasSets, value: Value) -> bool {
    let mut views = body.uses(value).filter(|used| is_free_view(body.at(ctx, used.op)));
    aliases.window(value).is_some()
        && views.all(|used| are_known(ctx, body, aliases, body.result(used.op, 0)))
}

/// The layout of a view in place, if all its readers support it.
fn lying(ctx: &Context, target: &dyn Target, body: &Body, op: Op) -> Result<Strided, MoveObstacle> {
    let op_ref = body.at(ctx, op);
    let Kind::View(View::OfOperand(map)) = op_ref.kind() else { return Err("it is no view".into()) };
    let whole = viewed(ctx, body, op_ref.operand(0));
    if wanted(ctx, body, whole) != wanted(ctx, body, op_ref.result(0)) {
        return Err("it must be in another pool".into());
    }
    let unknown = || MoveObstacle::from(UNKNOWN);
    let from = layout(ctx, body, op_ref.operand(0)).ok_or_else(unknown)?;
    let lies = map(op_ref, 0, &from).ok_or_else(unknown)?;
    let bits = ir::size::storage_bits(ctx, ctx.elem(op_ref.result_type(0)));
    let window = bits.and_then(|bits| ByteWindow::covering(&lies, bits));
    window.ok_or_else(|| MoveObstacle::from("it is read backwards, or its elements are no whole bytes"))?;
    check_readers(ctx, target, body, op_ref.result(0), &lies, None)?;
    Ok(lies)
}

fn refusal(body: &Body, op: Op, obstacle: &MoveObstacle) -> Diagnostic {
    let message = format!("this view is copied: {}", obstacle.reason);
    let remark = Diagnostic::remark(body.location(op), message);
    match obstacle.user {
        Some(user) => remark.with_note(body.location(user), "it is read here"),
        None => remark,
    }
}

/// Reasons for copying views that all readers could read in place.
const UNKNOWN: &str = "its place in its operand is not known";
const OVERWRITTEN: &str = "its bytes are overwritten before it is read";
const RAISES: &str = "otherwise more bytes would be live at the peak";
const SAVES_NOTHING: &str = "reading it in another order would save no byte";

/// The search for views that lower the peak.
struct ViewSearch<'a> {
    ctx: &'a Context,
    target: &'a dyn Target,
    /// The function without marks.
    given: &'a Body,
    count: LiveCount<'a>,
    /// The trials that are left.
    trials: usize,
}

impl ViewSearch<'_> {
    /// The views to read in place, and the others, each with the reason.
    fn choose(&mut self, views: &[Marked]) -> (Vec<Marked>, Vec<(Marked, &'static str)>) {
        let (fast, turned): (Vec<Marked>, Vec<Marked>) =
            views.iter().partition(|view| view.reading == Reading::AsFast);
        let (given, mut at_peak) = self.look(&[], &turned);
        let (mut kept, mut most) = self.keep_fast(fast.clone(), given);
        let mut dropped: Vec<(Marked, &str)> = Vec::new();
        let is_kept = |kept: &[Marked], view: &Marked| kept.iter().any(|other| other.op == view.op);
        dropped.extend(fast.iter().filter(|view| !is_kept(&kept, view)).map(|view| (*view, RAISES)));
        if !kept.is_empty() && !turned.is_empty() {
            at_peak = self.look(&kept, &turned).1;
        }
        for group in by_root(&turned) {
            let is_at_peak = |view: &Marked| at_peak.contains(&view.op);
            let with: Vec<Marked> = kept.iter().chain(&group).copied().collect();
            let bytes = if group.iter().any(is_at_peak) { self.bytes(&with) } else { most };
            if bytes < most {
                (kept, most) = (with, bytes)
            } else {
                dropped.extend(group.into_iter().map(|view| (view, SAVES_NOTHING)))
            }
        }
        (kept, dropped)
    }

    /// Drops the views of a root if the peak is lower without them, until it is at most `given`. Returns the
    /// remaining views and the peak.
    fn keep_fast(&mut self, mut kept: Vec<Marked>, given: u64) -> (Vec<Marked>, u64) {
        if kept.is_empty() {
            return (kept, given);
        }
        let mut most = self.bytes(&kept);
        for group in by_root(&kept) {
            if most <= given {
                return (kept, most);
            }
            let mut without = kept.clone();
            without.retain(|view| view.root != group[0].root);
            let bytes = self.bytes(&without);
            if bytes < most {
                (kept, most) = (without, bytes);
            }
        }
        if most <= given { (kept, most) } else { (Vec::new(), given) }
    }

    /// The peak with these marks; `u64::MAX` if a size is not known or no trials are left.
    fn bytes(&mut self, views: &[Marked]) -> u64 {
        self.look(views, &[]).0
    }

    /// The peak, and those of some other views whose copies are in the arena at the peak.
    fn look(&mut self, views: &[Marked], others: &[Marked]) -> (u64, Vec<Op>) {
        if self.trials == 0 {
            return (u64::MAX, Vec::new());
        }
        self.trials -= 1;
        let values: Vec<Value> = others.iter().map(|view| self.given.result(view.op, 0)).collect();
        match self.marked(views).and_then(|body| (self.count)(&body, &values)) {
            Some(live) => {
                let at_peak = others.iter().zip(live.at_peak).filter(|(_, at_peak)| *at_peak);
                (live.bytes, at_peak.map(|(view, _)| view.op).collect())
            }
            None => (u64::MAX, Vec::new()),
        }
    }

    /// The function with these marks, and with kernels selected for them; none if some view can no longer be
    /// read in place because a view that it is based on is copied.
    fn marked(&self, views: &[Marked]) -> Option<Body> {
        let mut body = self.given.clone();
        let mut touched: Vec<Op> = Vec::new();
        for view in views {
            body.set_attr(self.ctx, view.op, attrs::MEM_VIEW, self.ctx.unit_attr());
        }
        for view in views {
            touched.push(view.op);
            collect_readers(self.ctx, &body, body.result(view.op, 0), &mut touched);
        }
        touched.sort_unstable();
        touched.dedup();
        touched.into_iter().for_each(|op| crate::select::select_again(self.ctx, self.target, &mut body, op));
        let can_be_read = |view: &Marked| lying(self.ctx, self.target, &body, view.op).is_ok();
        views.iter().all(can_be_read).then_some(body)
    }
}

/// Groups views by root, in text order of the first view of each.
fn by_root(views: &[Marked]) -> Vec<Vec<Marked>> {
    let mut group_of: SecondaryMap<Value, Option<usize>> = SecondaryMap::new();
    let mut groups: Vec<Vec<Marked>> = Vec::new();
    for view in views {
        let index = *group_of[view.root].get_or_insert(groups.len());
        if index == groups.len() {
            groups.push(Vec::new());
        }
        groups[index].push(*view);
    }
    groups
}

#[cfg(test)]
#[path = "views_tests.rs"]
mod tests;
