//! The plan of a program with named sizes, as reported by `optc plan`: buffers with sizes as expressions, and
//! the arena that suffices at all sizes.

use std::cmp::Reverse;
use std::fmt::Write;

use cranelift_entity::SecondaryMap;
use ir::dims::{self, Ranges};
use ir::memory_pools::{ARENA, MemoryPool};
use ir::plan::attrs;
use ir::states::{STATE, states};
use ir::{Attr, AttrData, Body, Context, Ident, Op, Value, flow};
use serde::Serialize;

use super::summary::bytes;
use crate::explain::{node_text, said};
use crate::failure::Failure;
use crate::plan_report::names;
use crate::specialize::{AllSizes, Variant};

/// The limit of buffers in the text.
const MOST_BUFFERS: usize = 10;

/// The limit of named values per buffer.
const MOST_NAMES: usize = 4;

/// The content of `optc plan --json` for such a program.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct SymbolicReport {
    version: u32,
    symbols: Vec<SymbolReport>,
    pools: Vec<ArenaReport>,
    values: Vec<BufferReport>,
    /// Variants that replace the function at some sizes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    variants: Vec<VariantReport>,
    /// The arena at these sizes.
    nominal: NominalReport,
    /// Why no arena suffices at all sizes.
    #[serde(skip)]
    grows: Option<String>,
}

/// A named size.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SymbolReport {
    name: String,
    least: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    most: Option<u64>,
}

/// The arena, or another pool.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ArenaReport {
    name: String,
    /// The size that suffices at all sizes, which a run allocates; none if a run allocates what its sizes
    /// need.
    size_bytes: Option<u64>,
    /// Whether some sizes need that size, with buffers in this order.
    is_exact: bool,
    align: u64,
}

/// Values that share bytes.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct BufferReport {
    names: Vec<String>,
    /// The operation that makes the first value, or whose scratch it is; none for inputs and states.
    #[serde(skip_serializing_if = "String::is_empty")]
    op: String,
    /// The name of the model's node, if any.
    #[serde(skip_serializing_if = "String::is_empty")]
    node: String,
    /// An expression of the named sizes.
    size_bytes: String,
    first: i64,
    last: i64,
    pool: String,
    /// The bytes at the sizes of [`NominalReport`].
    #[serde(skip)]
    nominal_bytes: u64,
}

/// A function that replaces another at some sizes.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct VariantReport {
    name: String,
    /// The sizes at which it runs.
    guard: Vec<(String, u64)>,
    /// The number of operations that it runs.
    steps: usize,
    /// The number of operations that the original runs.
    of_steps: usize,
}

/// The plan for some sizes.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct NominalReport {
    sizes: Vec<(String, u64)>,
    arena_bytes: u64,
}

/// The plan of a function for all sizes.
pub(super) fn report(symbolic: &AllSizes) -> Result<SymbolicReport, Failure> {
    let planned = symbolic.planned()?;
    let ctx = planned.ctx.clone();
    let body = planned.function(symbolic.entry()).expect("the entry was decided");
    let ranges = Ranges::of_function(&ctx, body);
    let symbols = dims::symbols_in(&ctx, body).into_iter().map(|symbol| {
        let (least, most) = ranges.of(symbol);
        let most = Some(most).filter(|most| *most != u64::MAX);
        SymbolReport { name: ctx.str(symbol).to_owned(), least, most }
    });
    let bound = symbolic.bound();
    let nominal = nominal(symbolic)?;
    Ok(SymbolicReport {
        version: 1,
        symbols: symbols.collect(),
        pools: pool_reports(symbolic),
        values: buffers(&ctx, body, &nominal.sizes),
        variants: symbolic.variants().iter().map(|variant| variant_report(symbolic, variant)).collect(),
        nominal,
        grows: bound.err().map(str::to_owned),
    })
}

/// The arena, then all other pools.
fn pool_reports(symbolic: &AllSizes) -> Vec<ArenaReport> {
    let (buffers, bound) = (symbolic.buffers(), symbolic.bound().ok());
    let report = |pool: &MemoryPool, bound: Option<(u64, bool)>| ArenaReport {
        name: pool.name.clone(),
        size_bytes: bound.map(|bound| bound.0),
        is_exact: bound.is_some_and(|bound| bound.1),
        align: pool.align,
    };
    let arena = report(&buffers.pool, bound.map(|bound| (bound.arena_bytes(), bound.is_arena_exact())));
    let others = buffers.pools.iter().enumerate().map(|(number, buffers)| {
        let bound = bound.map(|bound| &bound.pools()[number]);
        report(&buffers.pool, bound.map(|bound| (bound.size_bytes(), bound.is_exact())))
    });
    std::iter::once(arena).chain(others).collect()
}

fn variant_report(symbolic: &AllSizes, Variant { guard, all }: &Variant) -> VariantReport {
    let guard = guard.equal.iter().map(|(symbol, size)| (symbolic.symbols()[*symbol].name.clone(), *size));
    VariantReport {
        name: all.entry().to_owned(),
        guard: guard.collect(),
        steps: all.steps(),
        of_steps: symbolic.steps(),
    }
}

fn nominal(symbolic: &AllSizes) -> Result<NominalReport, Failure> {
    let at = symbolic.at(symbolic.sample())?;
    let body = at.function(symbolic.entry()).expect("the entry was decided");
    let arena_bytes = attrs::arena_bytes(&at.ctx, body).unwrap_or(0);
    let sizes = symbolic.symbols().iter().zip(symbolic.sample());
    let sizes = sizes.map(|(symbol, size)| (symbol.name.clone(), *size)).collect();
    Ok(NominalReport { sizes, arena_bytes })
}

fn buffers(ctx: &Context, body: &Body, sizes: &[(String, u64)]) -> Vec<BufferReport> {
    let buffers = body.own_attr(ctx, ctx.ident(attrs::OPTC_BUFFERS));
    let buffers = buffers.and_then(|buffers| ctx.array_value(buffers)).unwrap_or(&[]);
    let names = body.entry(body.root()).map(|block| names(body, block)).unwrap_or_default();
    let mut holders = holders(ctx, body, &names, buffers.len());
    // States have a pool of their own, in the order of the arguments.
    let pool = |buffer: &Attr| ctx.str_value(*ctx.array_value(*buffer)?.get(3)?);
    let in_state = holders.iter_mut().zip(buffers).filter(|(_, buffer)| pool(buffer) == Some(STATE));
    for ((holder, _), state) in in_state.zip(states(ctx, body).unwrap_or_default()) {
        holder.insert(0, names[state.value].clone());
    }
    let makers = makers(ctx, body, buffers.len());
    let reports = buffers.iter().zip(holders).zip(makers).map(|((buffer, names), maker)| {
        let maker = maker.filter(|_| pool(buffer) != Some(STATE));
        let said = maker.map_or_else(Default::default, |op| said(ctx, body, op));
        buffer_report(ctx, *buffer, names, said, sizes)
    });
    reports.collect()
}

fn buffer_report(
    ctx: &Context,
    buffer: Attr,
    names: Vec<String>,
    (op, node): (String, String),
    sizes: &[(String, u64)],
) -> BufferReport {
    let entry = ctx.array_value(buffer).unwrap_or(&[]);
    let step = |index: usize| entry.get(index).and_then(|step| ctx.int_value(*step)).unwrap_or(0);
    let bytes = entry.get(2).copied().unwrap_or(Attr::EMPTY);
    let arithmetic = dims::SizeArithmetic(ctx);
    let size_of = |name: Ident| Some(sizes.iter().find(|(known, _)| known == ctx.str(name))?.1 as i64);
    let (size_bytes, nominal) =
        match (ctx.attr_data(bytes), ctx.ints_in(bytes).and_then(|mut bytes| bytes.next())) {
            (AttrData::Dims(bytes), _) => {
                let expr = arithmetic.expr(bytes[0]);
                let nominal = expr.and_then(|expr| dims::evaluate(ctx, expr, &size_of));
                (arithmetic.text(bytes[0]), nominal)
            }
            (_, Some(bytes)) => (bytes.to_string(), Some(bytes)),
            _ => ("?".to_owned(), None),
        };
    let nominal_bytes = nominal.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0);
    let pool = entry.get(3).and_then(|name| ctx.str_value(*name)).unwrap_or(ARENA).to_owned();
    BufferReport { names, op, node, size_bytes, first: step(0), last: step(1), pool, nominal_bytes }
}

/// The first operation that writes each buffer.
fn makers(ctx: &Context, body: &Body, buffers: usize) -> Vec<Option<Op>> {
    let mut makers = vec![None; buffers];
    flow::walk(ctx, body, |op| {
        let numbers = body.at(ctx, op).attr(attrs::MEM_BUFFER).and_then(|numbers| ctx.array_value(numbers));
        for number in numbers.unwrap_or(&[]) {
            let number = ctx.int_value(*number).and_then(|number| usize::try_from(number).ok());
            if let Some(maker) = number.and_then(|number| makers.get_mut(number)) {
                maker.get_or_insert(op);
            }
        }
    });
    makers
}

/// The names of the values in each buffer, or of the operation whose scratch it is.
fn holders(
    ctx: &Context,
    body: &Body,
    names: &SecondaryMap<Value, String>,
    buffers: usize,
) -> Vec<Vec<String>> {
    let mut holders = vec![Vec::new(); buffers];
    flow::walk(ctx, body, |op| {
        let op_ref = body.at(ctx, op);
        let numbers = op_ref.attr(attrs::MEM_BUFFER).and_then(|numbers| ctx.array_value(numbers));
        let scratch = format!("scratch of `{}`", op_ref.name());
        let held = body.results(op).map(|result| names[result].clone()).chain([scratch]);
        for (name, number) in held.zip(numbers.unwrap_or(&[])) {
            let number = ctx.int_value(*number).and_then(|number| usize::try_from(number).ok());
            if let Some(holder) = number.and_then(|number| holders.get_mut(number)) {
                holder.push(name);
            }
        }
    });
    holders
}

/// `N = 4, M = 2`.
fn equations(sizes: &[(String, u64)]) -> String {
    sizes.iter().map(|(name, size)| format!("{name} = {size}")).collect::<Vec<_>>().join(", ")
}

impl BufferReport {
    /// The first named values, the number of others, and the operation that computes the first.
    fn names_text(&self) -> String {
        let BufferReport { names, op, node, .. } = self;
        let names: Vec<&str> = names.iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
        let mut text = match names.is_empty() {
            true => "values without names".to_owned(),
            false => names[..names.len().min(MOST_NAMES)].join(" "),
        };
        if names.len() > MOST_NAMES {
            write!(text, " and {} more", names.len() - MOST_NAMES).expect("text is written to memory");
        }
        let is_value = names.first().is_none_or(|name| name.starts_with('%'));
        match (is_value, op.is_empty(), node.is_empty()) {
            (true, false, _) => text + " of " + &node_text(op, node),
            (false, _, false) => format!("{text} ({node})"),
            _ => text,
        }
    }
}

impl SymbolicReport {
    /// A line for the symbols, one for each of the largest buffers and each variant, one for the arena at
    /// nominal sizes, and one for the arena at all sizes.
    pub(super) fn text(&self) -> String {
        let symbols = self.symbols.iter().map(|SymbolReport { name, least, most }| match most {
            None => format!("{name} >= {least}"),
            Some(most) => format!("{least} <= {name} <= {most}"),
        });
        let symbols = symbols.collect::<Vec<_>>().join(", ");
        let first = self.symbols.first().map_or("N", |symbol| &symbol.name);
        let mut text =
            format!("sizes {symbols}: offsets are computed for each size; `--dim {first}=4` plans for one\n");
        let mut ranked: Vec<(usize, &BufferReport)> = self.values.iter().enumerate().collect();
        ranked.sort_by_key(|(_, buffer)| Reverse(buffer.nominal_bytes));
        for (index, buffer) in ranked.iter().take(MOST_BUFFERS) {
            let BufferReport { size_bytes, first, last, pool, .. } = buffer;
            let names = buffer.names_text();
            let place = if pool == ARENA { String::new() } else { format!(" in `{pool}`") };
            writeln!(text, "buffer {index}: {size_bytes} bytes{place}, steps {first} to {last}; {names}")
                .expect("text is written to memory");
        }
        let (shown, all) = (MOST_BUFFERS.min(ranked.len()), ranked.len());
        if shown < all {
            let rest: u64 = ranked[shown..].iter().map(|(_, buffer)| buffer.nominal_bytes).sum();
            let at = equations(&self.nominal.sizes);
            writeln!(
                text,
                "and {} smaller buffers, of {} at {at}; `--json=-` has all",
                all - shown,
                bytes(rest)
            )
            .expect("text is written to memory");
        }
        for VariantReport { name, guard, steps, of_steps } in &self.variants {
            writeln!(text, "where {}: `{name}` runs, {steps} steps in place of {of_steps}", equations(guard))
                .expect("text is written to memory");
        }
        let NominalReport { sizes, arena_bytes } = &self.nominal;
        let what = if self.pools.len() == 1 { "arena" } else { "arena and pools" };
        writeln!(text, "at {}: {what} {}", equations(sizes), bytes(*arena_bytes))
            .expect("text is written to memory");
        text + &self.arena()
    }

    fn arena(&self) -> String {
        if let Some(why) = &self.grows {
            return format!("the arena grows with the sizes: {why}\n");
        }
        let pools = self.pools.iter().filter_map(|ArenaReport { name, size_bytes, is_exact, .. }| {
            let bytes = bytes((*size_bytes)?);
            let verdict = if *is_exact { "the joint maximum" } else { "an upper bound" };
            let name = if name == ARENA { name.clone() } else { format!("pool `{name}`") };
            Some(format!("at all sizes: {name} {bytes}, {verdict}\n"))
        });
        pools.collect()
    }
}
