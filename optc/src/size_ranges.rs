//! The ranges of named sizes, as functions declare them.

use std::collections::BTreeMap;

use ir::dims::{self, Ranges};
use ir::plan::attrs;
use ir::{Attr, Body, Diagnostic, Ident, Location, Module, flow};
use passes::manager::Stage;
use passes::symbolic::is_symbolic;

use crate::failure::Failure;

/// Resets functions with named sizes to the state before decisions about sizes: kernels, order, ties and
/// places may differ once sizes are numbers. Functions beside them are reset too, since passes run on all.
pub(crate) fn forget_decisions(module: &mut Module) {
    let ctx = module.ctx.clone();
    let is_late = |body: &Body| Stage::of(&ctx, body) > Some(Stage::Fuse);
    if !module.functions().any(|(_, body)| is_late(body) && is_symbolic(&ctx, body)) {
        return;
    }
    let late = module.functions().filter(|(_, body)| is_late(body));
    let names: Vec<String> = late.filter_map(|(_, body)| body.symbol(&ctx)).map(str::to_owned).collect();
    for name in names {
        let body = module.function_mut(&name).expect("the function was just found");
        let mut ops = Vec::new();
        flow::walk(&ctx, body, |op| ops.push(op));
        for op in ops {
            for decision in DECISIONS {
                if body.at(&ctx, op).attr(decision).is_some() {
                    body.remove_attr(&ctx, op, decision);
                }
            }
        }
        for decision in [attrs::OPTC_BUFFERS, attrs::MEM_ARGS] {
            body.attrs = ctx.dict_remove(body.attrs, ctx.ident(decision));
        }
        Stage::Fuse.mark(&ctx, body);
    }
}

/// The decisions of passes after `fuse` about an operation.
const DECISIONS: [&str; 7] = [
    attrs::MEM_KERNEL,
    attrs::MEM_SCRATCH,
    attrs::MEM_TIE,
    attrs::MEM_PARTS,
    attrs::MEM_VIEW,
    attrs::MEM_COPY,
    attrs::MEM_BUFFER,
];

/// The range that a function declares for a name, if this number is outside of it.
pub(crate) fn range_without(module: &Module, name: &str, number: u64) -> Option<(u64, u64)> {
    let ctx = &module.ctx;
    let name = ctx.ident(name);
    let declared = module.functions().flat_map(|(_, body)| {
        let all = Ranges::of_function(ctx, body);
        all.declared().filter(|(own, _)| *own == name).map(|(_, range)| range).collect::<Vec<_>>()
    });
    declared.into_iter().find(|(low, high)| !(low..=high).contains(&&number))
}

/// A range as a condition on a name.
pub(crate) fn range_text(name: &str, (low, high): (u64, u64)) -> String {
    match high {
        u64::MAX => format!("{name} >= {low}"),
        _ => format!("{low} <= {name} <= {high}"),
    }
}

/// Adds ranges of symbols to the attributes of functions, besides those declared already.
///
/// # Errors
/// Every unknown symbol, and every range that has no number in common with one declared by a function.
pub(crate) fn declare(module: &mut Module, ranges: &BTreeMap<String, (u64, u64)>) -> Result<(), Failure> {
    if ranges.is_empty() {
        return Ok(());
    }
    let ctx = module.ctx.clone();
    let known = dims::symbols_of(module);
    let unknown = ranges.keys().filter(|name| known.iter().all(|symbol| ctx.str(*symbol) != **name));
    let faults: Vec<Diagnostic> = unknown
        .map(|name| {
            let what = format!("the program has no named size `{name}`");
            let help = ir::diag::did_you_mean_or_all(name, known.iter().map(|symbol| ctx.str(*symbol)));
            Diagnostic { help, ..Diagnostic::error(Location::UNKNOWN, what) }
        })
        .collect();
    if !faults.is_empty() {
        return Err(Failure::diagnostics(&ctx, &faults));
    }
    let number = |number: u64| ctx.int_attr(i64::try_from(number).unwrap_or(i64::MAX));
    let names: Vec<String> =
        module.functions().filter_map(|(_, body)| body.symbol(&ctx)).map(str::to_owned).collect();
    for name in names {
        let body = module.function_mut(&name).expect("the function was just found");
        let mut all = Ranges::of_function(&ctx, body);
        for (name, (low, high)) in ranges {
            let declared = all.of(ctx.ident(name));
            if *low > declared.1 || *high < declared.0 {
                let asked = range_text(name, (*low, *high));
                return Err(Failure::Usage(format!("`{asked}`, expected {}", range_text(name, declared))));
            }
        }
        ranges.iter().for_each(|(name, (low, high))| all.declare(ctx.ident(name), *low, *high));
        let entries =
            all.declared().map(|(name, (low, high))| (name, ctx.array_attr(&[number(low), number(high)])));
        let mut entries: Vec<(Ident, Attr)> = entries.collect();
        let following = dims::following(&ctx, body).into_iter();
        entries.extend(following.map(|(name, size)| (name, ctx.dims_attr(&[size]))));
        let entries = ctx.dict(entries);
        body.set_own_attr(&ctx, attrs::OPTC_DIMS, entries);
    }
    Ok(())
}
