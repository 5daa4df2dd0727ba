//! Bounds of an expression from the ranges of its symbols.
//!
//! A lower bound is the greatest of several, each sound by itself:
//!
//! - the sum of the bounds of the terms;
//! - the same after every atom with a least value is written as this value plus a rest (`H*W - H - W + 1`
//!   with `H, W >= 1` is then `H'*W'`);
//! - the same after a quotient is replaced by its bounds (`(p - c + 1) / c <= p floordiv c <= p / c`), or a
//!   minimum or maximum by its operands.
//!
//! The upper bound is the negated lower bound of the negated expression.

use crate::plan::attrs;
use std::collections::BTreeMap;

use super::{Atom, Monomial, add, constant, from_terms, mul, scale, sub};
use crate::attrs::AttrData;
use crate::body::Body;
use crate::context::Context;
use crate::entities::{Attr, DimExpr, Ident};
use crate::types::Dim;

/// An interval from the least to the greatest value; `i128::MIN` and `i128::MAX` mean unbounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The value is at least this.
    pub low: i128,
    /// The value is at most this.
    pub high: i128,
}

/// The ranges of symbols.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranges {
    declared: BTreeMap<Ident, (u64, u64)>,
    least: u64,
}

impl Default for Ranges {
    /// Nothing declared: each symbol is at least 1.
    fn default() -> Self {
        Ranges { declared: BTreeMap::new(), least: 1 }
    }
}

impl Ranges {
    /// The ranges that hold without any declaration: each symbol is at least 0.
    pub const LAWS: Ranges = Ranges { declared: BTreeMap::new(), least: 0 };

    /// The ranges that a function declares: `optc.dims = {N = [1, 512]}`. Entries of another form are
    /// ignored.
    pub fn of_function(ctx: &Context, body: &Body) -> Ranges {
        let mut ranges = Ranges::default();
        let declared = body.own_attr(ctx, ctx.ident(attrs::OPTC_DIMS)).map(|attr| ctx.attr_data(attr));
        let Some(AttrData::Dict(entries)) = declared else { return ranges };
        for (symbol, range) in entries {
            let bounds = ctx.array_value(*range).unwrap_or_default().iter();
            let bounds: Vec<Option<u64>> =
                bounds.map(|bound| u64::try_from(ctx.int_value(*bound)?).ok()).collect();
            if let [Some(low), Some(high)] = bounds[..] {
                // An attribute holds no larger number.
                let high = if high == i64::MAX.unsigned_abs() { u64::MAX } else { high };
                ranges.declare(*symbol, low, high);
            }
        }
        ranges
    }

    /// Restricts a symbol to `low..=high`, in addition to earlier declarations.
    pub fn declare(&mut self, symbol: Ident, low: u64, high: u64) {
        let entry = self.declared.entry(symbol).or_insert((low, high));
        *entry = (entry.0.max(low), entry.1.min(high));
    }

    /// The least and the greatest value of a symbol; `u64::MAX` if unbounded.
    pub fn of(&self, symbol: Ident) -> (u64, u64) {
        self.declared.get(&symbol).copied().unwrap_or((self.least, u64::MAX))
    }

    /// The symbols with declared ranges, in the order of their handles.
    pub fn declared(&self) -> impl Iterator<Item = (Ident, (u64, u64))> + '_ {
        self.declared.iter().map(|(symbol, range)| (*symbol, *range))
    }
}

/// The single size in an attribute, `#optc.dims<2 * N>` or `array<i64: 4>`; none if it is no list of one
/// size.
pub fn one_size(ctx: &Context, attr: Attr) -> Option<Dim> {
    match ctx.attr_data(attr) {
        AttrData::Dims(sizes) => sizes.as_array().map(|[size]| *size).filter(|size| *size != Dim::Unknown),
        _ => match ctx.ints_value(attr)?[..] {
            [size] => u64::try_from(size).ok().map(Dim::Known),
            _ => None,
        },
    }
}

/// The names that a function declares as equal to an expression of others:
/// `optc.dims = {M = #optc.dims<2 * N>}`.
pub fn following(ctx: &Context, body: &Body) -> Vec<(Ident, Dim)> {
    let declared = body.own_attr(ctx, ctx.ident(attrs::OPTC_DIMS)).map(|attr| ctx.attr_data(attr));
    let Some(AttrData::Dict(entries)) = declared else { return Vec::new() };
    entries.iter().filter_map(|(name, attr)| Some((*name, one_size(ctx, *attr)?))).collect()
}

/// Whether two expressions are provably equal for all symbols in their ranges.
pub fn provably_equal(ctx: &Context, a: DimExpr, b: DimExpr, ranges: &Ranges) -> bool {
    a == b
        || sub(ctx, a, b)
            .is_some_and(|difference| interval(ctx, difference, ranges) == Interval { low: 0, high: 0 })
}

/// Whether `a <= b` is proved for all symbols in their ranges.
pub fn provably_at_most(ctx: &Context, a: DimExpr, b: DimExpr, ranges: &Ranges) -> bool {
    a == b || sub(ctx, b, a).is_some_and(|difference| low(ctx, difference, ranges, DEPTH) >= 0)
}

/// Whether two expressions are provably different for all symbols in their ranges.
pub fn provably_different(ctx: &Context, a: DimExpr, b: DimExpr, ranges: &Ranges) -> bool {
    let Some(difference) = sub(ctx, a, b) else { return false };
    let Interval { low, high } = interval(ctx, difference, ranges);
    low > 0 || high < 0
}

/// An interval that contains the value of an expression for all symbols in their ranges.
pub fn interval(ctx: &Context, expr: DimExpr, ranges: &Ranges) -> Interval {
    interval_to(ctx, expr, ranges, DEPTH)
}

/// The number of nested quotients and extremes that are replaced.
const DEPTH: u32 = 4;
const INFINITY: i128 = i128::MAX;
const MINUS_INFINITY: i128 = i128::MIN;

fn interval_to(ctx: &Context, expr: DimExpr, ranges: &Ranges, depth: u32) -> Interval {
    let negated = scale(ctx, expr, -1);
    let high = negated.map_or(INFINITY, |negated| negate(low(ctx, negated, ranges, depth)));
    Interval { low: low(ctx, expr, ranges, depth), high }
}

/// A lower bound.
fn low(ctx: &Context, expr: DimExpr, ranges: &Ranges, depth: u32) -> i128 {
    let terms = ctx.dim_expr(expr).terms();
    let plain = sum_of_lows(terms.iter().map(|term| {
        term.atoms.iter().fold(point(term.factor.into()), |product, atom| {
            times(product, atom_interval(ctx, atom, ranges, depth))
        })
    }));
    let best = plain.max(shifted(ctx, terms, ranges, depth).unwrap_or(MINUS_INFINITY));
    let composite = terms.iter().flat_map(|term| &term.atoms).find(|atom| !matches!(atom, Atom::Symbol(_)));
    match composite {
        Some(atom) if depth > 0 => {
            best.max(relaxed(ctx, expr, atom, ranges, depth - 1).unwrap_or(MINUS_INFINITY))
        }
        _ => best,
    }
}

fn atom_interval(ctx: &Context, atom: &Atom, ranges: &Ranges, depth: u32) -> Interval {
    let depth = depth.saturating_sub(1);
    let all = |exprs: &[DimExpr]| -> Vec<Interval> {
        exprs.iter().map(|expr| interval_to(ctx, *expr, ranges, depth)).collect()
    };
    match atom {
        Atom::Symbol(symbol) => {
            let (low, high) = ranges.of(*symbol);
            Interval { low: low.into(), high: if high == u64::MAX { INFINITY } else { high.into() } }
        }
        Atom::FloorDiv { dividend, divisor } => {
            let by = interval_to(ctx, *divisor, ranges, depth);
            quotient(interval_to(ctx, *dividend, ranges, depth), by)
        }
        Atom::Min(exprs) => extreme(all(exprs), i128::min),
        Atom::Max(exprs) => extreme(all(exprs), i128::max),
    }
}

pub(super) fn extreme(all: Vec<Interval>, of: fn(i128, i128) -> i128) -> Interval {
    let both = |a: Interval, b: Interval| Interval { low: of(a.low, b.low), high: of(a.high, b.high) };
    all.into_iter().reduce(both).expect("an extreme has operands")
}

/// The interval of a quotient; its divisor is at least 1 wherever it is defined.
pub(super) fn quotient(dividend: Interval, divisor: Interval) -> Interval {
    let (least, most) = (divisor.low.max(1), divisor.high.max(1));
    let over = |value: i128, by: i128| match value {
        INFINITY | MINUS_INFINITY => value,
        _ => value.div_euclid(by),
    };
    let low = if dividend.low < 0 { over(dividend.low, least) } else { over(dividend.low, most) };
    let high = if dividend.high < 0 { over(dividend.high, most) } else { over(dividend.high, least) };
    Interval { low: if dividend.low == INFINITY { 0 } else { low }, high }
}

fn point(value: i128) -> Interval {
    Interval { low: value, high: value }
}

fn negate(value: i128) -> i128 {
    match value {
        MINUS_INFINITY => INFINITY,
        INFINITY => MINUS_INFINITY,
        _ => -value,
    }
}

/// 0 times infinity is 0: the bound is never reached.
pub(super) fn times(a: Interval, b: Interval) -> Interval {
    let is_finite = |value: i128| !matches!(value, INFINITY | MINUS_INFINITY);
    let product = |a: i128, b: i128| match a.signum() * b.signum() {
        0 => 0,
        _ if is_finite(a) && is_finite(b) => a.saturating_mul(b),
        1 => INFINITY,
        _ => MINUS_INFINITY,
    };
    let products = [a.low, a.high].into_iter().flat_map(|a| [b.low, b.high].map(|b| product(a, b)));
    let both = |(low, high): (i128, i128), next: i128| (low.min(next), high.max(next));
    let (low, high) = products.fold((INFINITY, MINUS_INFINITY), both);
    Interval { low, high }
}

pub(super) fn sum_of_lows(intervals: impl Iterator<Item = Interval>) -> i128 {
    intervals.fold(0, |sum, next| match (sum, next.low) {
        (MINUS_INFINITY, _) | (_, MINUS_INFINITY) => MINUS_INFINITY,
        (sum, low) => sum.saturating_add(low),
    })
}

/// The lower bound after each atom with a least value is written as this value plus a rest of at least 0.
fn shifted(ctx: &Context, terms: &[Monomial], ranges: &Ranges, depth: u32) -> Option<i128> {
    const MOST_FACTORS: usize = 8;
    let mut expanded: Vec<Monomial> = Vec::new();
    for term in terms {
        if term.atoms.len() > MOST_FACTORS {
            return None;
        }
        let mut products = vec![Monomial { factor: term.factor, atoms: Box::default() }];
        for atom in &term.atoms {
            let least = atom_interval(ctx, atom, ranges, depth).low;
            let least = i64::try_from(least).ok().filter(|least| *least != 0);
            let mut more = Vec::new();
            for product in &mut products {
                if let Some(least) = least {
                    let factor = product.factor.checked_mul(least)?;
                    more.push(Monomial { factor, atoms: product.atoms.clone() });
                }
                product.atoms = [&*product.atoms, std::slice::from_ref(atom)].concat().into();
            }
            products.append(&mut more);
        }
        expanded.append(&mut products);
    }
    // The atoms of this polynomial stand for their excess over their least values.
    let expanded = from_terms(ctx, expanded)?;
    Some(sum_of_lows(ctx.dim_expr(expanded).terms().iter().map(|term| {
        term.atoms.iter().fold(point(term.factor.into()), |product, atom| {
            let interval = atom_interval(ctx, atom, ranges, depth);
            let above = match i64::try_from(interval.low) {
                Ok(_) if interval.high == INFINITY => Interval { low: 0, high: INFINITY },
                Ok(low) => Interval { low: 0, high: interval.high.saturating_sub(low.into()) },
                Err(_) => interval,
            };
            times(product, above)
        })
    })))
}

/// How an expression depends on an atom that occurs at most once in every term, beside factors of at least 0.
#[derive(PartialEq)]
enum Slope {
    Rising,
    Falling,
    Other,
}

fn slope(ctx: &Context, terms: &[Monomial], atom: &Atom, ranges: &Ranges, depth: u32) -> Slope {
    let mut signs = Vec::new();
    for term in terms.iter().filter(|term| term.atoms.contains(atom)) {
        let mut others = term.atoms.iter().filter(|other| *other != atom);
        let is_once = term.atoms.iter().filter(|other| *other == atom).count() == 1;
        if !is_once || others.any(|other| atom_interval(ctx, other, ranges, depth).low < 0) {
            return Slope::Other;
        }
        signs.push(term.factor > 0);
    }
    match (signs.contains(&true), signs.contains(&false)) {
        (true, false) => Slope::Rising,
        (false, true) => Slope::Falling,
        _ => Slope::Other,
    }
}

/// The lower bound after an atom is replaced by its bounds.
fn relaxed(ctx: &Context, expr: DimExpr, atom: &Atom, ranges: &Ranges, depth: u32) -> Option<i128> {
    let terms = ctx.dim_expr(expr).terms();
    let slope = slope(ctx, terms, atom, ranges, depth);
    let with = |by: DimExpr| {
        let replaced = replace_top(ctx, terms, atom, by, 1)?;
        Some(low(ctx, replaced, ranges, depth))
    };
    match atom {
        Atom::Symbol(_) => None,
        Atom::Min(exprs) | Atom::Max(exprs) => {
            let bounds: Vec<i128> = exprs.iter().map(|expr| with(*expr)).collect::<Option<_>>()?;
            let any_holds =
                matches!((atom, slope), (Atom::Max(_), Slope::Rising) | (Atom::Min(_), Slope::Falling));
            if any_holds { bounds.into_iter().max() } else { bounds.into_iter().min() }
        }
        Atom::FloorDiv { dividend, divisor } => {
            let divisor = ctx.dim_expr(*divisor).constant()?;
            let by = match slope {
                Slope::Rising => sub(ctx, *dividend, constant(ctx, divisor - 1))?,
                Slope::Falling => *dividend,
                Slope::Other => return None,
            };
            let scaled = low(ctx, replace_top(ctx, terms, atom, by, divisor)?, ranges, depth);
            match scaled {
                INFINITY | MINUS_INFINITY => Some(scaled),
                // A whole number is at least its bound, rounded up.
                _ => Some(-(-scaled).div_euclid(divisor.into())),
            }
        }
    }
}

/// `scale` times a sum of terms, in which `by` replaces `scale` times an atom.
fn replace_top(ctx: &Context, terms: &[Monomial], atom: &Atom, by: DimExpr, scale: i64) -> Option<DimExpr> {
    let mut sum = constant(ctx, 0);
    for term in terms {
        let mut atoms = term.atoms.to_vec();
        let mut product = constant(ctx, scale);
        while let Some(index) = atoms.iter().position(|other| other == atom) {
            atoms.remove(index);
            product = if scale == 1 { mul(ctx, product, by)? } else { by };
        }
        let others = from_terms(ctx, vec![Monomial { factor: term.factor, atoms: atoms.into() }])?;
        sum = add(ctx, sum, mul(ctx, product, others)?)?;
    }
    Some(sum)
}
