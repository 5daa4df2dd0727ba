//! How a function with named sizes is decided once, and placed at sizes.
//!
//! Ties are chosen on the function as it is at nominal sizes, and kept only where operand, result and the root that owns their bytes are
//! proved to take equally many bytes whatever the sizes are; liveness and access orders do not depend on sizes. The plan is a *recipe*:
//!
//! ```text
//! func.func @main(%arg0: ...) attributes {optc.buffers = [[0, 1, #optc.dims<4 * N * H>], [1, 2, #optc.dims<4 * N>]]} {
//!   %0 = nn.exp %arg0 {mem.buffer = [0]} : ...         buffer 0 is kept from step 0 to step 1, and takes 4 * N * H bytes
//! ```
//!
//! Where the function runs straight through, that is a [`recipe::Recipe`], which places its buffers at sizes without making IR. [`place_at`] takes
//! any function to its plan at given sizes: numbers in the place of symbols, kernels and scratch as the target says for these sizes, places, and
//! the checker's judgement. Where parts or views are in place at nominal sizes, or the target or the checker refuses a tie at some sizes, ties are
//! chosen anew for those sizes.

use cranelift_entity::EntityRef;
use ir::alias::{AliasSets, is_free, ties};
use ir::dims::{self, Bindings, Ranges, substitute_in};
use ir::flow::walk;
use ir::opdef::{Access, View};
use ir::plan::attrs;
use ir::size::{bytes_expr, static_extents, tensor_bytes};
use ir::weights::WeightSet;
use ir::{Attr, Body, Context, Diagnostic, Dim, Kind, Location, Op, Target, Traits, Type, Value};
use rustc_hash::FxHashMap;

use crate::access::access;
use crate::edit::{blocks, entry};
use crate::fit::Goal;
use crate::inplace::{Outcome, inplace};
use crate::late_parts::copy_late_parts;
use crate::liveness::{Classes, Steps};
use crate::manager::Stage;
use crate::plan::{plan, separate_outputs};
use crate::select::select;

pub mod again;
pub mod recipe;

/// Whether sizes of a function's values are symbols.
pub fn is_symbolic(ctx: &Context, body: &Body) -> bool {
    let has_symbols = |ty: Type| {
        let shape = ctx.type_data(ty).tensor_shape().unwrap_or(&[]);
        shape.iter().any(|dim| matches!(dim, Dim::Symbolic(_)))
    };
    // Most values have the type of the one before.
    let mut plain = None;
    let mut is_symbol = |value: &Value| {
        let ty = body.ty(*value);
        let is_known = plain == Some(ty);
        plain = Some(ty);
        !is_known && has_symbols(ty)
    };
    body.all_blocks().any(|block| {
        let mut results = body.ops(block).flat_map(|op| body.results(op));
        body.args(block).iter().any(&mut is_symbol) || results.any(|result| is_symbol(&result))
    })
}

/// Ties results to operands where that is right at all sizes; as [`inplace`] otherwise. Parts of concatenations are left to
/// each size, and so is all where the function can't have its nominal sizes.
pub fn tie(ctx: &Context, target: &dyn Target, body: &mut Body) -> Outcome {
    let Ok(mut at) = at_sizes(ctx, body, &dims::nominal(ctx, body)) else {
        body.set_own_attr(ctx, attrs::OPTC_TIES_PER_SIZE, ctx.unit_attr());
        return Outcome::default();
    };
    select(ctx, target, &mut at, 1);
    let copies = copy_late_parts(ctx, target, &mut at.clone());
    let outcome = inplace(ctx, target, &mut at);
    if outcome.parts + outcome.views > 0 || !copies.is_empty() {
        body.set_own_attr(ctx, attrs::OPTC_TIES_PER_SIZE, ctx.unit_attr());
        return Outcome::default();
    }
    let proved = proved_ties(ctx, body, &at);
    proved.iter().for_each(|(op, tie)| body.set_attr(ctx, *op, attrs::MEM_TIE, *tie));
    Outcome { ties: proved.len(), ..outcome }
}

/// The ties of the function at nominal sizes, less those that are not proved for all sizes of `body`.
fn proved_ties(ctx: &Context, body: &Body, at: &Body) -> Vec<(Op, Attr)> {
    let aliases = AliasSets::of(ctx, at);
    let mut proved = Vec::new();
    for op in tied(ctx, at) {
        let mut operands = vec![-1; at.result_count(op)];
        for (result, operand) in ties(at.at(ctx, op)) {
            let (to, from) = (body.result(op, result), body.operand(op, operand));
            if is_as_large(ctx, body, to, from) && is_as_large(ctx, body, to, aliases.root(from)) {
                operands[result] = operand as i64;
            }
        }
        if operands.iter().any(|operand| *operand >= 0) {
            proved.push((op, ctx.ints_attr(&operands)));
        }
    }
    proved
}

/// Whether two values take equally many bytes, whatever the sizes are.
fn is_as_large(ctx: &Context, body: &Body, a: Value, b: Value) -> bool {
    are_as_large(ctx, body, a, b, &Ranges::LAWS)
}

/// Whether two values take equally many bytes at all sizes in their ranges.
pub(crate) fn are_as_large(ctx: &Context, body: &Body, a: Value, b: Value, ranges: &Ranges) -> bool {
    let bytes = |value: Value| bytes_expr(ctx, body.ty(value));
    bytes(a).zip(bytes(b)).is_some_and(|(a, b)| dims::provably_equal(ctx, a, b, ranges))
}

/// The operations that overwrite operands.
fn tied(ctx: &Context, body: &Body) -> Vec<Op> {
    let ops = blocks(ctx, body).into_iter().flat_map(|block| body.ops(block));
    ops.filter(|op| body.at(ctx, *op).attr(attrs::MEM_TIE).is_some()).collect()
}

/// Writes the recipe of a function's plan: what is kept from which step to which, and how many bytes it takes. Offsets, and the
/// scratch of kernels, are another question at each size.
///
/// # Errors
/// Every result whose size no symbol says.
pub fn write_recipe(ctx: &Context, body: &mut Body) -> Result<(), Vec<Diagnostic>> {
    let aliases = separate_outputs(ctx, body);
    let weights = WeightSet::of(ctx, body);
    let steps = Steps::of(ctx, body, &weights);
    let classes = Classes::of(ctx, body, &steps, &weights, &aliases);
    let outside = outside(ctx, body, &aliases);
    let (mut numbers, mut buffers, mut faults) = (FxHashMap::default(), Vec::new(), Vec::new());
    for &root in classes.roots().iter().filter(|root| !outside.contains(root)) {
        let number = || i64::try_from(tensor_bytes(ctx, body.ty(root))?).ok();
        let bytes = bytes_expr(ctx, body.ty(root)).or_else(|| Some(dims::constant(ctx, number()?)));
        let (Some(life), Some(bytes)) = (classes.life(root), bytes) else {
            let location = body.defining_op(root).map_or(Location::UNKNOWN, |op| body.location(op));
            faults.push(Diagnostic::error(location, "the size of a result is not known"));
            continue;
        };
        let bytes = ctx.dims_attr(&[dims::size(ctx, bytes)]);
        let step = |step: crate::place::Step| ctx.int_attr(step.index() as i64);
        numbers.insert(root, buffers.len());
        buffers.push(ctx.array_attr(&[step(life.first), step(life.last), bytes]));
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let number = |value: Value| {
        let number = numbers.get(&aliases.root(value));
        number.map_or_else(|| ctx.str_attr("out"), |number| ctx.int_attr(*number as i64))
    };
    let ops: Vec<Op> = steps.iter().map(|(_, op)| op).collect();
    for op in ops {
        let entries: Vec<Attr> = body.results(op).map(number).collect();
        body.set_attr(ctx, op, attrs::MEM_BUFFER, ctx.array_attr(&entries));
    }
    body.set_own_attr(ctx, attrs::OPTC_BUFFERS, ctx.array_attr(&buffers));
    Ok(())
}

/// The roots that are the caller's.
pub(crate) fn outside(ctx: &Context, body: &Body, aliases: &AliasSets) -> Vec<Value> {
    let args = entry(body).map_or(&[][..], |block| body.args(block));
    let ends = body.blocks(body.root()).iter().filter_map(|block| body.last_op(*block));
    let returns = ends.filter(|op| body.at(ctx, *op).has(Traits::RETURN));
    let returned = returns.flat_map(|op| body.operands(op)).map(|value| aliases.root(value));
    args.iter().copied().chain(returned).collect()
}

/// The function planned at some sizes. What was decided for all sizes stays.
///
/// # Errors
/// If it can't have these sizes, or the plan's (see [`plan`]).
pub fn place_at(
    ctx: &Context,
    target: &dyn Target,
    body: &Body,
    sizes: &Bindings,
    threads: usize,
    goal: Goal,
) -> Result<Body, Vec<Diagnostic>> {
    let mut at = at_sizes(ctx, body, sizes)?;
    select(ctx, target, &mut at, threads);
    let plan = |mut at: Body| {
        plan(ctx, target, &mut at, "portfolio", goal)?;
        Stage::Plan.mark(ctx, &mut at);
        Ok(at)
    };
    if at.own_attr(ctx, ctx.ident(attrs::OPTC_TIES_PER_SIZE)).is_none() && allows_ties(ctx, target, &at) {
        // Where a view lies in its operand that was a copy at nominal sizes, bytes may be read later than it seemed there: the judge says so.
        match open_views(ctx, body).is_empty() {
            true => return plan(at),
            false if let Ok(planned) = plan(at.clone()) => return Ok(planned),
            false => {}
        }
    }
    for op in tied(ctx, &at) {
        at.remove_attr(ctx, op, attrs::MEM_TIE);
    }
    copy_late_parts(ctx, target, &mut at);
    inplace(ctx, target, &mut at);
    plan(at)
}

/// The views that may lie in their operand at some sizes of a function, and be copies at others.
pub(crate) fn open_views(ctx: &Context, body: &Body) -> Vec<Op> {
    let (weights, mut open) = (WeightSet::of(ctx, body), Vec::new());
    let is_symbolic = |value: Value| static_extents(ctx, body.ty(value)).is_none();
    walk(ctx, body, |op| {
        let at = body.at(ctx, op);
        let is_view = matches!(at.kind(), Kind::View(View::OfOperand(_))) && !is_free(at);
        let is_open = is_view && (is_symbolic(at.operand(0)) || is_symbolic(at.result(0)));
        open.extend((is_open && !weights.is_weight_op(body, op)).then_some(op));
    });
    open
}

/// The function with numbers in the place of symbols, verified.
pub(crate) fn at_sizes(ctx: &Context, body: &Body, sizes: &Bindings) -> Result<Body, Vec<Diagnostic>> {
    let mut at = body.clone();
    substitute_in(ctx, &mut at, sizes)?;
    ir::verify::verify_body(ctx, &at)?;
    Ok(at)
}

/// Whether the target allows each tie at the sizes that the function has.
pub(crate) fn allows_ties(ctx: &Context, target: &dyn Target, body: &Body) -> bool {
    tied(ctx, body).into_iter().all(|op| {
        let mut pairs = ties(body.at(ctx, op));
        pairs.all(|(result, operand)| access(ctx, target, body, op, result, operand) != Access::Never)
    })
}
