//! The structure of a plan for all sizes: which values share bytes, decided once.
//!
//! ```text
//! %1 = nn.relu %0 {mem.tie = [0]}          both take 4 * N bytes, whatever N is
//! %2 = nn.slice %1 {mem.view}              read in place by all readers
//! %3 = nn.slice %1 {mem.copy}              a copy at some sizes, so a copy at all
//! %4 = nn.concat %1, %2 {mem.parts = [0]}  operand 0 is written in place: rows of the result
//! ```
//!
//! [`decide`] runs [`inplace`](crate::inplace) on the function at its greatest sizes (or nominal ones, if
//! some size has no greatest), and keeps the decisions that hold at all sizes. A tie needs a proof: operand,
//! result and the root that owns their bytes have equally many bytes. Decisions that depend on the layout of
//! elements are tried at *probes*: the least sizes, the greatest, and distinct prime numbers, for which no
//! two products of sizes are equal by chance, with each size in turn at its least. A view that needs a copy
//! at some probe is a copy at all sizes.
//!
//! At given sizes ([`at_sizes`]) the only open question is the pitch of rows of values in concatenations
//! (`mem.pitch`).

use std::collections::BTreeSet;

use cranelift_entity::EntityRef;
use ir::alias::{AliasSets, is_free, is_free_view, parts, pitch_in_whole, ties};
use ir::dims::{self, Bindings, Ranges, substitute_in};
use ir::opdef::{Access, Traits, View};
use ir::plan::attrs;
use ir::weights::WeightSet;
use ir::{Attr, Block, Body, Context, Diagnostic, Kind, Op, Target, Value, flow};

use super::bytes::are_as_large;
use crate::access::access;
use crate::inplace::{InplaceOutcome, inplace};
use crate::late_parts::copy_late_parts;
use crate::manager::Changes;
use crate::plan::separate_outputs;
use crate::select::select;

/// Decides the structure of a function with named sizes, and writes it into the IR (`mem.tie`, `mem.parts`,
/// `mem.view`, `mem.copy`, copies for outputs that have no bytes of their own). Returns the decisions like
/// [`inplace`].
pub fn decide(ctx: &Context, target: &dyn Target, body: &mut Body) -> InplaceOutcome {
    let probes = probes(ctx, body);
    let mut decided = body.clone();
    let mut outcome = InplaceOutcome::default();
    if let Some((_, choice)) = probes.first() {
        let mut at = choice.clone();
        select(ctx, target, &mut at, 1);
        let copies = copy_late_parts(ctx, target, &mut at);
        outcome = inplace(ctx, target, &mut at, &Changes::unlimited());
        outcome.remarks.extend(copies);
        decided = with_named_sizes(ctx, body, at);
    }
    let probes = if decided.value_capacity() == body.value_capacity() {
        probes
    } else {
        probes
            .into_iter()
            .filter_map(|(sizes, _)| Some((sizes.clone(), plain_at(ctx, &decided, &sizes)?)))
            .collect()
    };
    settle_views(ctx, &mut decided, &probes);
    outcome.ties = keep_proved_ties(ctx, target, &mut decided, &probes);
    if outcome.parts + outcome.views > 0 && !is_lowered_everywhere(ctx, target, &decided, &probes) {
        decided = body.clone();
        settle_views(ctx, &mut decided, &[]);
        outcome = InplaceOutcome { remarks: outcome.remarks, ..InplaceOutcome::default() };
    }
    separate_outputs(ctx, &mut decided);
    *body = decided;
    outcome
}

/// Settles the views that [`decide`] did not, as it may not have run: whether each needs a copy.
pub(crate) fn settle(ctx: &Context, body: &mut Body) {
    let probes = probes(ctx, body);
    settle_views(ctx, body, &probes);
}

/// The function with numbers for symbols, verified, with the row pitches of its structure at these sizes.
///
/// # Errors
/// If it can't have these sizes.
pub fn at_sizes(ctx: &Context, body: &Body, sizes: &Bindings) -> Result<Body, Vec<Diagnostic>> {
    let mut at = body.clone();
    substitute_in(ctx, &mut at, sizes)?;
    ir::verify::verify_body(ctx, &at)?;
    write_rows(ctx, &mut at);
    Ok(at)
}

/// A function at given sizes without its structure; none if it can't have these sizes.
fn plain_at(ctx: &Context, body: &Body, sizes: &Bindings) -> Option<Body> {
    let mut plain = body.clone();
    let mut ops = Vec::new();
    flow::walk(ctx, &plain, |op| ops.push(op));
    for op in ops {
        for name in [attrs::MEM_TIE, attrs::MEM_PARTS, attrs::MEM_VIEW] {
            if plain.at(ctx, op).attr(name).is_some() {
                plain.remove_attr(ctx, op, name);
            }
        }
    }
    at_sizes(ctx, &plain, sizes).ok()
}

/// Writes the pitch of rows of values in concatenations (`mem.pitch`), in a function of known sizes.
pub(crate) fn write_rows(ctx: &Context, body: &mut Body) {
    if wholes(ctx, body).is_empty() {
        return;
    }
    let aliases = AliasSets::of(ctx, body);
    let mut pitched = Vec::new();
    flow::walk(ctx, body, |op| {
        pitched.extend(pitch_in_whole(ctx, body, &aliases, op).map(|pitch| (op, pitch)));
    });
    for (op, [row, pitch]) in pitched {
        body.set_attr(ctx, op, attrs::MEM_PITCH, ctx.ints_attr(&[row as i64, pitch as i64]));
    }
}

/// The sizes for which the structure of a function is chosen; none if it can't have any candidate.
pub(crate) fn choice(ctx: &Context, body: &Body) -> Option<Bindings> {
    candidates(ctx, body).into_iter().find(|sizes| at_sizes(ctx, body, sizes).is_ok())
}

/// Whether every named size of a function has an upper bound.
pub(crate) fn has_greatest(ctx: &Context, body: &Body) -> bool {
    let ranges = Ranges::of_function(ctx, body);
    dims::symbols_in(ctx, body).iter().all(|symbol| ranges.of(*symbol).1 != u64::MAX)
}

/// The sizes at which the structure is tried, each with the function; the structure is chosen at the first.
pub(crate) fn probes(ctx: &Context, body: &Body) -> Vec<(Bindings, Body)> {
    let at = |sizes: Bindings| at_sizes(ctx, body, &sizes).ok().map(|at| (sizes, at));
    candidates(ctx, body).into_iter().filter_map(at).collect()
}

/// The candidates for probes, without duplicates, in order; some may not be valid sizes of the function.
fn candidates(ctx: &Context, body: &Body) -> Vec<Bindings> {
    let ranges = Ranges::of_function(ctx, body);
    let symbols = dims::symbols_in(ctx, body);
    let of = |number: &dyn Fn(usize, (u64, u64)) -> u64| -> Bindings {
        let numbers = symbols.iter().enumerate();
        numbers.map(|(index, symbol)| (*symbol, number(index, ranges.of(*symbol)))).collect()
    };
    let greatest = if has_greatest(ctx, body) { of(&|_, (_, high)| high) } else { dims::nominal(ctx, body) };
    let primes = of(&|index, (low, high)| PRIMES[index % PRIMES.len()].clamp(low, high));
    let candidates = [greatest, dims::nominal(ctx, body), primes.clone(), of(&|_, (low, _)| low)];
    let one_least = symbols.iter().filter(|_| symbols.len() > 1).map(|symbol| {
        let least = ranges.of(*symbol).0;
        Bindings::from_iter(
            primes.iter().map(|(name, size)| (*name, if name == symbol { least } else { *size })),
        )
    });
    let mut seen = BTreeSet::new();
    candidates.into_iter().chain(one_least).filter(|sizes| seen.insert(sizes.clone())).collect()
}

/// Distinct primes: no two products of them are equal by chance.
const PRIMES: [u64; 8] = [11, 23, 29, 13, 31, 17, 37, 19];

/// The operations and the structure of `at`, which is `body` at some sizes, with the named sizes of `body`.
fn with_named_sizes(ctx: &Context, body: &Body, at: Body) -> Body {
    let mut lifted = at;
    (lifted.properties, lifted.attrs) = (body.properties, body.attrs);
    let blocks: Vec<Block> = lifted.all_blocks().collect();
    for block in blocks {
        lifted.args(block).to_vec().into_iter().for_each(|arg| lifted.set_ty(arg, body.ty(arg)));
        for op in lifted.ops(block).collect::<Vec<_>>() {
            let results: Vec<Value> = lifted.results(op).collect();
            if results.iter().any(|result| result.index() >= body.value_capacity()) {
                // Only copies are new.
                let ty = lifted.ty(lifted.operand(op, 0));
                results.into_iter().for_each(|result| lifted.set_ty(result, ty));
                lifted.set_attrs(op, Attr::EMPTY);
                continue;
            }
            results.into_iter().for_each(|result| lifted.set_ty(result, body.ty(result)));
            let decided = [attrs::MEM_TIE, attrs::MEM_PARTS, attrs::MEM_VIEW]
                .map(|name| Some((name, lifted.at(ctx, op).attr(name)?)));
            lifted.set_name(op, body.name(op));
            lifted.set_properties(op, body.properties(op));
            lifted.set_attrs(op, body.attrs(op));
            for (name, attr) in decided.into_iter().flatten() {
                lifted.set_attr(ctx, op, name, attr);
            }
        }
    }
    lifted
}

/// Decides each view that is not marked yet: in place (`mem.view`) if it needs no copy at any probe,
/// otherwise a copy (`mem.copy`).
fn settle_views(ctx: &Context, body: &mut Body, probes: &[(Bindings, Body)]) {
    let weights = WeightSet::of(ctx, body);
    let mut open = Vec::new();
    flow::walk(ctx, body, |op| {
        let at = body.at(ctx, op);
        let is_open = matches!(at.kind(), Kind::View(View::OfOperand(_)))
            && !at.has(Traits::SAME_ORDER)
            && at.attr(attrs::MEM_VIEW).is_none()
            && !weights.is_weight_op(body, op);
        open.extend(is_open.then_some(op));
    });
    for op in open {
        let is_free = !probes.is_empty() && probes.iter().all(|(_, at)| is_free_view(at.at(ctx, op)));
        let name = if is_free { attrs::MEM_VIEW } else { attrs::MEM_COPY };
        body.set_attr(ctx, op, name, ctx.unit_attr());
    }
}

/// Drops ties that are not proved for all sizes, or that the target refuses at a probe; returns the number of
/// operations with ties left.
fn keep_proved_ties(
    ctx: &Context,
    target: &dyn Target,
    body: &mut Body,
    probes: &[(Bindings, Body)],
) -> usize {
    let ranges = Ranges::of_function(ctx, body);
    // A value in a concatenation owns its rows there.
    let mut apart = body.clone();
    wholes(ctx, body).into_iter().for_each(|op| apart.remove_attr(ctx, op, attrs::MEM_PARTS));
    let aliases = AliasSets::of(ctx, &apart);
    let mut count = 0;
    for op in tied(ctx, body) {
        let mut operands = vec![-1; body.result_count(op)];
        for (result, operand) in ties(body.at(ctx, op)) {
            let (to, from) = (body.result(op, result), body.operand(op, operand));
            let is_as_large = are_as_large(ctx, body, to, from, &ranges)
                && are_as_large(ctx, body, to, aliases.root(to), &ranges);
            let may = |at: &Body| access(ctx, target, at, op, result, operand) != Access::Never;
            if is_as_large && probes.iter().all(|(_, at)| may(at)) {
                operands[result] = operand as i64;
            }
        }
        if operands.iter().any(|operand| *operand >= 0) {
            body.set_attr(ctx, op, attrs::MEM_TIE, ctx.ints_attr(&operands));
            count += 1;
        } else {
            body.remove_attr(ctx, op, attrs::MEM_TIE);
        }
    }
    count
}

/// The operations that overwrite operands.
pub(crate) fn tied(ctx: &Context, body: &Body) -> Vec<Op> {
    let mut tied = Vec::new();
    flow::walk(ctx, body, |op| tied.extend(body.at(ctx, op).attr(attrs::MEM_TIE).map(|_| op)));
    tied
}

/// Whether, at each probe, the target has a kernel for each operation with the structure, if it has one
/// without.
fn is_lowered_everywhere(
    ctx: &Context,
    target: &dyn Target,
    body: &Body,
    probes: &[(Bindings, Body)],
) -> bool {
    probes.iter().all(|(sizes, plain)| {
        let Ok(at) = at_sizes(ctx, body, sizes) else { return false };
        let aliases = AliasSets::of(ctx, &at);
        let mut is_lowered = true;
        flow::walk(ctx, &at, |op| {
            let known =
                at.results(op).all(|value| aliases.root(value) == value || aliases.window(value).is_some());
            let runs = !is_free(at.at(ctx, op));
            let has = |body: &Body| target.select(body.at(ctx, op), 1).is_some();
            is_lowered &= known && (!runs || has(&at) || !has(plain));
        });
        is_lowered
    })
}

/// The operations with operands written in place.
pub(crate) fn wholes(ctx: &Context, body: &Body) -> Vec<Op> {
    let mut wholes = Vec::new();
    flow::walk(ctx, body, |op| wholes.extend((!parts(body.at(ctx, op)).is_empty()).then_some(op)));
    wholes
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ir::body::OpRef;
    use ir::target::{GroupPosition, KernelChoice};

    use super::*;

    /// A target without kernels for concatenations with operands in place.
    struct PartlessTarget;

    impl Target for PartlessTarget {
        fn name(&self) -> &str {
            "partless"
        }

        fn layout(&self, _op: OpRef<'_>) -> Option<&'static str> {
            None
        }

        fn fuses(&self, _root: OpRef<'_>, _op: OpRef<'_>, _place: GroupPosition) -> bool {
            false
        }

        fn select(&self, op: OpRef<'_>, _threads: usize) -> Option<KernelChoice> {
            parts(op).is_empty().then(|| KernelChoice {
                kernel: "any".to_owned(),
                scratch_bytes: 0,
                least_scratch_bytes: 0,
                most_scratch_bytes: 0,
                enough_scratch_bytes: 0,
                packed_bytes: 0,
                bands: None,
                slow: None,
            })
        }
    }

    /// A slice that is copied, and a concatenation of which one operand can be computed in place.
    const TEXT: &str = "
func.func @main(%x: tensor<8x64xf32>, %y: tensor<8x1024xf32>, %n: tensor<?xf32, #optc.dims<N>>)
    -> (tensor<1x64xf32>, tensor<?xf32, #optc.dims<2 * N>>) {
  %0 = nn.exp %x : tensor<8x64xf32>
  %1 = nn.slice %0 {sizes = array<i64: 1, 64>, starts = array<i64: 2, 0>}
    : (tensor<8x64xf32>) -> tensor<1x64xf32>
  %2 = nn.reduce_max %0 {axes = array<i64: 1>, keepdims} : (tensor<8x64xf32>) -> tensor<8x1xf32>
  %3 = nn.add %2, %y : (tensor<8x1xf32>, tensor<8x1024xf32>) -> tensor<8x1024xf32>
  %4 = nn.reduce_max %3 {axes = array<i64: 0, 1>, keepdims} : (tensor<8x1024xf32>) -> tensor<1x1xf32>
  %5 = nn.mul %4, %1 : (tensor<1x1xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %6 = nn.exp %n : tensor<?xf32, #optc.dims<N>>
  %7 = nn.concat %6, %n {axis = 0 : i64}
    : (tensor<?xf32, #optc.dims<N>>, tensor<?xf32, #optc.dims<N>>) -> tensor<?xf32, #optc.dims<2 * N>>
  %8 = nn.neg %7 : tensor<?xf32, #optc.dims<2 * N>>
  return %5, %8 : tensor<1x64xf32>, tensor<?xf32, #optc.dims<2 * N>>
}";

    #[test]
    fn a_structure_without_kernels_is_dropped_with_its_copies() {
        let ctx = Arc::new(Context::new());
        let module = ir::text::parse(&ctx, "structure.mlir", TEXT.to_owned());
        let module = module.unwrap_or_else(|faults| panic!("{}", faults[0].render(&ctx)));
        let decided = |target: &dyn Target| {
            let mut body = module.function("main").expect("it is there").clone();
            let outcome = decide(&ctx, target, &mut body);
            let is_copied =
                outcome.remarks.iter().any(|remark| remark.message.contains("this part is copied"));
            assert!(is_copied, "the copy is part of the structure");
            (outcome.parts, wholes(&ctx, &body).len(), body.value_capacity())
        };
        let (parts, in_place, values) = decided(&crate::manager::PlainTarget);
        assert_eq!((parts, in_place), (1, 1));
        let given = module.function("main").expect("it is there").value_capacity();
        assert!(values > given, "a copy is a new value");
        assert_eq!(decided(&PartlessTarget), (0, 0, given));
    }
}
