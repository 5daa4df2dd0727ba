//! Errors that list the live values at a pool's peak.

use std::cmp::Reverse;

use cranelift_entity::PrimaryMap;
use ir::{Body, Context, Diagnostic, Kind, Location, Op};

use super::BufferContent;
use crate::liveness::Steps;
use crate::place::{BufferId, Problem, peak_of};

/// The most values that the error names.
const MOST_VALUES: usize = 8;

/// An error at the peak of a problem, with notes on its live buffers, the largest first.
pub fn explain(
    ctx: &Context,
    body: &Body,
    steps: &Steps,
    problem: &Problem,
    contents: &PrimaryMap<BufferId, BufferContent>,
    message: String,
) -> Diagnostic {
    let at_peak = peak_of(problem).and_then(|(peak, bytes)| {
        let (step, event) = steps.events().find(|(step, _)| *step == peak)?;
        Some((step, event.op, bytes))
    });
    let Some((step, op, bytes)) = at_peak else {
        return Diagnostic::error(Location::UNKNOWN, message);
    };
    let fault = Diagnostic::error(body.location(op), message);
    let live = problem.buffers.iter().filter(|(_, buffer)| buffer.first <= step && step <= buffer.last);
    let mut live: Vec<(u64, BufferContent)> =
        live.map(|(id, buffer)| (buffer.size_bytes, contents[id])).collect();
    live.sort_by_key(|(bytes, _)| Reverse(*bytes));
    let all: u64 = live.iter().map(|(bytes, _)| bytes).sum();
    let shared = if bytes < all { format!(" ({} of them share places)", all - bytes) } else { String::new() };
    let header = format!("{all} bytes{shared} are live at the peak, {}:", describe(ctx, body, op));
    let fault = fault.with_note(body.location(op), header);
    live.iter().take(MOST_VALUES).fold(fault, |fault, (bytes, content)| {
        let (location, what) = match content {
            BufferContent::Scratch(op) => {
                (body.location(*op), "scratch of ".to_owned() + &describe(ctx, body, *op))
            }
            BufferContent::Root(value) => match body.defining_op(*value) {
                Some(op) => (body.location(op), describe(ctx, body, op)),
                None => (Location::UNKNOWN, "an argument of a block".to_owned()),
            },
        };
        fault.with_note(location, format!("{bytes} bytes: {what}"))
    })
}

/// The operation's name (for a group, that of its main operation) and the model node's name.
fn describe(ctx: &Context, body: &Body, op: Op) -> String {
    let main = main_op(ctx, body, op);
    let name = ctx.op_name_str(body.name(main));
    match ctx.location_name(body.location(op)) {
        Some(node) => format!("`{name}` ({node})"),
        None => format!("`{name}`"),
    }
}

/// The main operation of a group: its contraction, otherwise its last operation.
pub fn main_op(ctx: &Context, body: &Body, op: Op) -> Op {
    let Kind::Group = body.at(ctx, op).kind() else { return op };
    let blocks = body.regions(op).iter().flat_map(|region| body.blocks(*region));
    let inner: Vec<Op> = blocks.flat_map(|block| body.ops(*block)).collect();
    let is_root = |op: &Op| matches!(body.at(ctx, *op).kind(), Kind::Contract(_) | Kind::Kernel(_));
    let before_yield = inner.len().checked_sub(2).map(|index| inner[index]);
    let main = inner.iter().copied().find(is_root).or(before_yield);
    main.map_or(op, |inner| main_op(ctx, body, inner))
}
