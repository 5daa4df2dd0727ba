//! The user's declarations about sizes: symbols, numbers and ranges.
//!
//! ```text
//! --symbolize x:0=N,2=H      sizes 0 and 2 of input `x` are the symbols `N` and `H`
//! --dim N=4                  `N` is 4
//! --dim 'N<=512'             `N` is at most 512
//! --dim N..512               the same, without a character that a shell takes for itself
//! ```

use std::collections::BTreeMap;

use import::onnx::declared::{DeclaredSizes, Symbolized, read_size};
use ir::dims::{self, Bindings};
use ir::{Context, Dim, Module};

use crate::failure::Failure;
use crate::size_ranges::{declare, forget_decisions, range_text, range_without};

/// Parses `INPUT:AXIS=SIZE,...`.
///
/// # Errors
/// The part that does not have this form.
pub fn parse_symbolize(text: &str) -> Result<Vec<Symbolized>, String> {
    let form = "expected INPUT:AXIS=NAME,...";
    // The name of an input may contain colons, but sizes can't.
    let (input, entries) = text.rsplit_once(':').ok_or(form)?;
    let entry = |entry: &str| {
        let (axis, size) = entry.split_once('=').ok_or(form)?;
        let axis = axis.trim().parse().map_err(|_| format!("`{axis}` is no axis, {form}"))?;
        let size = size.trim().to_owned();
        if size.is_empty() {
            return Err(format!("axis {axis} has no name, {form}"));
        }
        Ok(Symbolized { input: input.to_owned(), axis, size })
    };
    entries.split(',').map(entry).collect()
}

/// A declaration of `--dim`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DimArg {
    name: String,
    low: u64,
    high: u64,
}

impl DimArg {
    /// A symbol with a fixed number.
    pub fn of(name: &str, number: u64) -> DimArg {
        DimArg { name: name.to_owned(), low: number, high: number }
    }

    /// The symbol.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its number, if it is fixed.
    pub fn number(&self) -> Option<u64> {
        (self.low == self.high).then_some(self.high)
    }
}

/// Parses `N=4`, `N<=512` or `N..512`.
///
/// # Errors
/// The text, if it does not have this form.
pub fn parse_dim(text: &str) -> Result<DimArg, String> {
    let form = "expected NAME=NUMBER, NAME<=NUMBER or NAME..NUMBER";
    let bound = || text.rsplit_once("..").map(|(name, number)| (format!("{name}<"), number));
    let equal = text.rsplit_once('=').map(|(name, number)| (name.to_owned(), number));
    let (name, number) = equal.or_else(bound).ok_or(form)?;
    if name.ends_with('>') {
        return Err(format!("the least size must be 1, {form}"));
    }
    let high: u64 = number.trim().parse().map_err(|_| format!("`{number}` is no number, {form}"))?;
    let (name, low) = match name.strip_suffix('<') {
        Some(name) => (name, 1),
        None => (name.as_str(), high),
    };
    match name.trim() {
        "" => Err(form.to_owned()),
        _ if high == 0 && low == 1 => Err("an upper bound must be at least 1".to_owned()),
        name => Ok(DimArg { name: name.to_owned(), low, high }),
    }
}

/// Combines all declarations.
///
/// # Errors
/// A symbol with two different numbers.
pub fn gather(symbolized: &[Vec<Symbolized>], args: &[DimArg]) -> Result<DeclaredSizes, Failure> {
    let mut sizes = DeclaredSizes { symbolized: symbolized.concat(), ..DeclaredSizes::new() };
    for DimArg { name, low, high } in args {
        if low == high {
            if sizes.values.insert(name.clone(), *high).is_some_and(|before| before != *high) {
                return Err(Failure::Usage(format!("`{name}` is two numbers")));
            }
            continue;
        }
        let range = sizes.ranges.entry(name.clone()).or_insert((*low, *high));
        *range = (range.0.max(*low), range.1.min(*high));
    }
    for (name, value) in &sizes.values {
        let range = sizes.ranges.get(name).filter(|(low, high)| value < low || value > high);
        if let Some(range) = range {
            return Err(Failure::Usage(format!("`{name}` = {value}, expected {}", range_text(name, *range))));
        }
    }
    Ok(sizes)
}

/// Removes and returns the numbers of symbolized symbols: the model does not have them, so they are bound
/// after the import.
pub(crate) fn take_symbolized(ctx: &Context, sizes: &mut DeclaredSizes) -> BTreeMap<String, u64> {
    let exprs = sizes.symbolized.iter().map(|entry| read_size(ctx, &entry.size));
    let names: Vec<&str> =
        exprs.flat_map(|expr| dims::symbols(ctx, expr)).map(|name| ctx.str(name)).collect();
    let (later, now) =
        std::mem::take(&mut sizes.values).into_iter().partition(|(name, _)| names.contains(&&**name));
    sizes.values = now;
    later
}

/// Replaces symbols by numbers, and verifies the resulting program. A number for a derived symbol must equal
/// the derived value.
///
/// # Errors
/// An unknown symbol, a number outside of the range that a function declares, one that differs from the
/// derived value, and any inconsistency.
pub(crate) fn bind(module: &mut Module, values: &BTreeMap<String, u64>) -> Result<(), Failure> {
    if values.is_empty() {
        return Ok(());
    }
    let ctx = module.ctx.clone();
    for (name, value) in values {
        if let Some(range) = range_without(module, name, *value) {
            return Err(Failure::Usage(format!("`{name}` = {value}, expected {}", range_text(name, range))));
        }
    }
    let following = |module: &Module, name: &str| {
        let mut all = module.functions().flat_map(|(_, body)| dims::following(&ctx, body));
        all.find(|(known, _)| ctx.str(*known) == name).map(|(_, size)| size)
    };
    let (own, others): (BTreeMap<&String, _>, BTreeMap<&String, _>) =
        values.iter().partition(|(name, _)| following(module, name).is_none());
    let bindings: Bindings = own.into_iter().map(|(name, value)| (ctx.ident(name), *value)).collect();
    let expected: Vec<_> =
        others.into_iter().map(|(name, value)| (name, value, following(module, name))).collect();
    let done =
        dims::substitute(module, &bindings).and_then(|()| ir::verify::verify_touched(module).map(drop));
    done.map_err(|faults| Failure::diagnostics(&ctx, &faults))?;
    for (name, value, before) in expected {
        let found = following(module, name);
        let text =
            |size: Option<Dim>| size.map_or(String::new(), |size| dims::SizeArithmetic(&ctx).text(size));
        let (expr, known) = (text(before), found.and_then(Dim::known));
        if found.is_some() && known.is_none() {
            return Err(Failure::Usage(format!("`{name}` is {expr}: give the sizes in that expression")));
        }
        if known.is_some_and(|found| found != *value) {
            let found = text(found);
            return Err(Failure::Usage(format!("`{name}` = {value}, expected {name} = {expr} = {found}")));
        }
    }
    Ok(())
}

/// Applies declarations to a program in text, as the import does to a model.
///
/// # Errors
/// An unknown symbol, a number or range outside of the one that a function declares, a number that differs
/// from the derived value, any inconsistency, and inputs to symbolize, since their operations may depend on
/// the sizes that they had.
pub fn apply(module: &mut Module, sizes: &DeclaredSizes) -> Result<(), Failure> {
    if !sizes.symbolized.is_empty() {
        return Err(Failure::input(
            "`--symbolize` is for models; in IR text, write a named size as `tensor<?x4xf32, #optc.dims<N>>`",
        ));
    }
    declare(module, &sizes.ranges)?;
    if !sizes.values.is_empty() {
        forget_decisions(module);
    }
    bind(module, &sizes.values)
}
