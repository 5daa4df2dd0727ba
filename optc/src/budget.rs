//! How a program is made to fit an arena of a given size, and what is said where it can't be.
//!
//! The ways are tried in the order of what they cost at run time: operations in another order, and what the goal allows (always);
//! results written over rows of their operands (`--optimize=memory`); values computed again (the pass `recompute`). Where none
//! suffices, the failure names the smallest arena that was reached, what makes up its fullest step, and what would save how much: tried,
//! not estimated.

use std::cmp::Reverse;

use cranelift_entity::EntityRef;
use ir::alias::AliasSets;
use ir::{Body, Context, Diagnostic, Location, Module, Op};
use passes::place::{Step, live_bytes};
use passes::plan::{Arena, Content};

use crate::compile::{CompileOptions, Goal, Steps, complete_with, donate, input_names};
use crate::failure::Failure;
use crate::plan_report::main_op;

/// The most values of the fullest step that are named.
const MOST_VALUES: usize = 8;
/// The most inputs whose donation is tried for advice.
const MOST_DONATIONS: usize = 8;

/// Takes a module through the stages that its entry lacks, such that its arena has at most `budget_bytes`.
///
/// # Errors
/// Every fault of the first pass that finds some; else, if no way that was tried leads below the budget, what stands there.
pub fn meet(
    module: &mut Module,
    entry: &str,
    options: &CompileOptions,
    budget_bytes: u64,
) -> Result<(), Failure> {
    let mut ways = vec![Way { goal: options.goal, steps: Steps::Canonical }];
    ways.push(Way { goal: Goal::Memory, steps: Steps::Canonical });
    ways.push(Way { goal: Goal::Memory, steps: Steps::Recompute { budget_bytes } });
    let mut best: Option<(u64, Module)> = None;
    for way in ways {
        let (arena_bytes, trial) = way.try_on(module, entry, options.threads)?;
        if arena_bytes <= budget_bytes {
            *module = trial;
            return Ok(());
        }
        if best.as_ref().is_none_or(|(least, _)| arena_bytes < *least) {
            best = Some((arena_bytes, trial));
        }
    }
    let (least_bytes, planned) = best.expect("some way was tried");
    let fault = explain(&planned, entry, budget_bytes, least_bytes)?;
    let advice = advice(module, entry, options, least_bytes);
    Err(Failure::Input(vec![fault.render(&module.ctx) + &advice]))
}

/// A way to lower the arena.
struct Way {
    goal: Goal,
    steps: Steps,
}

impl Way {
    /// The size of the arena, and the planned module.
    fn try_on(&self, module: &Module, entry: &str, threads: usize) -> Result<(u64, Module), Failure> {
        let mut trial = module.clone();
        complete_with(&mut trial, entry, threads, self.goal, self.steps)?;
        let body = trial.function(entry).expect("the entry was just planned");
        let arena = body.own_attr(&trial.ctx, trial.ctx.ident("optc.arena"));
        let bytes = arena.and_then(|attr| trial.ctx.int_value(attr)).unwrap_or(0);
        Ok((bytes.unsigned_abs(), trial))
    }
}

/// The fault: what the smallest arena is, and what its fullest step holds.
fn explain(
    planned: &Module,
    entry: &str,
    budget_bytes: u64,
    least_bytes: u64,
) -> Result<Diagnostic, Failure> {
    let ctx = &planned.ctx;
    let body = planned.function(entry).expect("the entry was just planned");
    let aliases = AliasSets::of(ctx, body);
    let arena = Arena::of(ctx, body, &aliases).map_err(|faults| Failure::diagnostics(ctx, &faults))?;
    let message = format!(
        "the arena does not fit the budget of {budget_bytes} bytes: the smallest that was found has {least_bytes}"
    );
    let Some((step, op)) = fullest(&arena) else {
        return Ok(Diagnostic::error(Location::UNKNOWN, message));
    };
    let mut fault = Diagnostic::error(body.location(op), message);
    let mut live: Vec<(u64, Content)> = Vec::new();
    for (id, buffer) in &arena.problem.buffers {
        if buffer.first <= step && step <= buffer.last {
            live.push((buffer.size_bytes, arena.contents[id]));
        }
    }
    live.sort_by_key(|(bytes, _)| Reverse(*bytes));
    let all: u64 = live.iter().map(|(bytes, _)| bytes).sum();
    let header = format!("{all} bytes are live at the fullest step, {}:", describe(ctx, body, op));
    fault = fault.with_note(body.location(op), header);
    for (bytes, content) in live.iter().take(MOST_VALUES) {
        let (location, what) = match content {
            Content::Scratch(op) => {
                (body.location(*op), "scratch of ".to_owned() + &describe(ctx, body, *op))
            }
            Content::Root(value) => match body.defining_op(*value) {
                Some(op) => (body.location(op), describe(ctx, body, op)),
                None => (Location::UNKNOWN, "an argument of a block".to_owned()),
            },
        };
        fault = fault.with_note(location, format!("{bytes} bytes: {what}"));
    }
    Ok(fault)
}

/// The first step at which most bytes are live, with what runs there.
fn fullest(arena: &Arena<'_>) -> Option<(Step, Op)> {
    let live = live_bytes(&arena.problem);
    let most = live.iter().max()?;
    let fullest = Step::new(live.iter().position(|bytes| bytes == most)?);
    arena.steps().events().find(|(step, _)| *step == fullest).map(|(step, event)| (step, event.op))
}

/// The operation's name (of a group, of what it is built around), and the name of the model's node.
fn describe(ctx: &Context, body: &Body, op: Op) -> String {
    let main = main_op(ctx, body, op);
    let name = ctx.op_name_str(body.name(main));
    match ctx.location_name(body.location(op)) {
        Some(node) => format!("`{name}` ({node})"),
        None => format!("`{name}`"),
    }
}

/// What else would save memory, the most first.
fn advice(module: &Module, entry: &str, options: &CompileOptions, least_bytes: u64) -> String {
    let body = module.function(entry).expect("the entry was just planned");
    let names = input_names(&module.ctx, body).into_iter().filter(|name| !options.donated.contains(name));
    let donations =
        names.take(MOST_DONATIONS).map(|name| (format!("--donate={name}"), Some(name), options.threads));
    let single = (options.threads > 1).then(|| ("--threads=1".to_owned(), None, 1));
    let mut savings: Vec<(u64, String)> = Vec::new();
    for (flag, donated, threads) in donations.chain(single) {
        let mut trial = module.clone();
        let way = Way { goal: Goal::Memory, steps: Steps::Recompute { budget_bytes: 0 } };
        let done = donate(&mut trial, entry, donated.as_slice());
        let tried = done.and_then(|()| way.try_on(&trial, entry, threads));
        let saved = tried.map_or(0, |(bytes, _)| least_bytes.saturating_sub(bytes));
        savings.extend((saved > 0).then_some((saved, flag)));
    }
    savings.sort_by_key(|(saved, _)| Reverse(*saved));
    savings.iter().map(|(saved, flag)| format!("  = help: {flag} saves {saved} bytes\n")).collect()
}
