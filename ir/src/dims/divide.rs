//! Division of symbolic sizes: the quotient of two expressions, in canonical form.

use super::{Atom, MOST_TERMS, Monomial, Polynomial, add, atom, constant, from_terms, mul, scale, sub};
use crate::context::Context;
use crate::entities::DimExpr;

/// `a` over `b`, rounded down; none if `b` is a number below 1.
pub fn floor_div(ctx: &Context, a: DimExpr, b: DimExpr) -> Option<DimExpr> {
    if let Some(divisor) = ctx.dim_expr(b).constant() {
        return floor_div_by(ctx, a, divisor);
    }
    let (whole, rest) = divide(ctx, ctx.dim_expr(a), ctx.dim_expr(b))?;
    if ctx.dim_expr(rest).terms().is_empty() {
        return Some(whole);
    }
    // If the divisor is a sum, the rest of the dividend would be no simpler.
    let is_sum = ctx.dim_expr(b).terms().len() > 1;
    let (whole, rest) = if is_sum { (constant(ctx, 0), a) } else { (whole, rest) };
    let (dividend, divisor) = cancel(ctx, rest, b)?;
    let quotient = match ctx.dim_expr(divisor).constant() {
        Some(divisor) => floor_div_by(ctx, dividend, divisor)?,
        None => atom(ctx, Atom::FloorDiv { dividend, divisor }),
    };
    add(ctx, whole, quotient)
}

/// `a` over `b`, rounded up; none if `b` is a number below 1.
pub fn ceil_div(ctx: &Context, a: DimExpr, b: DimExpr) -> Option<DimExpr> {
    let sum = add(ctx, a, sub(ctx, b, constant(ctx, 1))?)?;
    floor_div(ctx, sum, b)
}

/// The remainder of `a` divided by `b`; none if `b` is a number below 1.
pub fn modulo(ctx: &Context, a: DimExpr, b: DimExpr) -> Option<DimExpr> {
    let whole = mul(ctx, floor_div(ctx, a, b)?, b)?;
    sub(ctx, a, whole)
}

/// `a` divided by a number, rounded down.
fn floor_div_by(ctx: &Context, a: DimExpr, divisor: i64) -> Option<DimExpr> {
    if divisor <= 1 {
        return (divisor == 1).then_some(a);
    }
    let part = |of: fn(i64, i64) -> i64| {
        let terms = ctx.dim_expr(a).terms().iter();
        let terms =
            terms.map(|term| Monomial { factor: of(term.factor, divisor), atoms: term.atoms.clone() });
        from_terms(ctx, terms.filter(|term| term.factor != 0).collect())
    };
    let (whole, rest) = (part(i64::div_euclid)?, part(i64::rem_euclid)?);
    let rest = match ctx.dim_expr(rest).constant() {
        // The constant is below the divisor.
        Some(_) => return Some(whole),
        None => rest,
    };
    let quotient = match nested(ctx, rest) {
        Some((index, inner)) => flatten(ctx, rest, index, inner, divisor)?,
        None => reduced(ctx, rest, divisor)?,
    };
    add(ctx, whole, quotient)
}

/// The term of a polynomial that is a quotient by a number, with factor 1: its index, dividend and divisor.
/// None unless there is exactly one.
fn nested(ctx: &Context, expr: DimExpr) -> Option<(usize, (DimExpr, i64))> {
    let mut found = None;
    for (index, term) in ctx.dim_expr(expr).terms().iter().enumerate() {
        let (1, [Atom::FloorDiv { dividend, divisor }]) = (term.factor, &*term.atoms) else { continue };
        let Some(divisor) = ctx.dim_expr(*divisor).constant() else { continue };
        if found.replace((index, (*dividend, divisor))).is_some() {
            return None;
        }
    }
    found
}

/// `(p floordiv d + q) floordiv c` is `(p + d * q) floordiv (c * d)`, because `q` is a whole number.
fn flatten(
    ctx: &Context,
    rest: DimExpr,
    index: usize,
    (inner, by): (DimExpr, i64),
    divisor: i64,
) -> Option<DimExpr> {
    let mut others = ctx.dim_expr(rest).terms().to_vec();
    others.remove(index);
    let others = scale(ctx, from_terms(ctx, others)?, by)?;
    floor_div_by(ctx, add(ctx, inner, others)?, divisor.checked_mul(by)?)
}

/// The quotient of a polynomial with factors in `[0, divisor)`. A common factor of the terms with atoms is
/// cancelled; the offset is divided by it and rounded down.
fn reduced(ctx: &Context, rest: DimExpr, divisor: i64) -> Option<DimExpr> {
    let terms = ctx.dim_expr(rest).terms();
    let with_atoms = terms.iter().filter(|term| !term.atoms.is_empty());
    let common = with_atoms.fold(divisor, |common, term| gcd(common, term.factor));
    if common == 1 {
        return Some(atom(ctx, Atom::FloorDiv { dividend: rest, divisor: constant(ctx, divisor) }));
    }
    let terms = terms.iter().map(|term| Monomial { factor: term.factor / common, atoms: term.atoms.clone() });
    let rest = from_terms(ctx, terms.filter(|term| term.factor != 0).collect())?;
    floor_div_by(ctx, rest, divisor / common)
}

/// Quotient and rest of polynomials: `a` is `quotient * b + rest`. The rest consists of the terms that the
/// first term of `b` does not divide.
fn divide(ctx: &Context, a: &Polynomial, b: &Polynomial) -> Option<(DimExpr, DimExpr)> {
    let by = b.terms().first()?;
    let divisor = ctx.intern_dim_expr(b.clone());
    let mut left = ctx.intern_dim_expr(a.clone());
    let (mut quotient, mut rest) = (Vec::new(), Vec::new());
    for _ in 0..4 * MOST_TERMS {
        let Some(first) = ctx.dim_expr(left).terms().first() else {
            return Some((from_terms(ctx, quotient)?, from_terms(ctx, rest)?));
        };
        let taken = match quotient_of_terms(first, by) {
            Some(term) => {
                let product = mul(ctx, from_terms(ctx, vec![term.clone()])?, divisor)?;
                quotient.push(term);
                product
            }
            None => {
                rest.push(first.clone());
                from_terms(ctx, vec![first.clone()])?
            }
        };
        left = sub(ctx, left, taken)?;
    }
    None
}

fn quotient_of_terms(a: &Monomial, b: &Monomial) -> Option<Monomial> {
    let factor = a.factor.checked_div(b.factor).filter(|_| a.factor.checked_rem(b.factor) == Some(0))?;
    Some(Monomial { factor, atoms: without(&a.atoms, &b.atoms)? })
}

/// `atoms` without those of `other`, if it has all of them.
fn without(atoms: &[Atom], other: &[Atom]) -> Option<Box<[Atom]>> {
    let mut left = atoms.to_vec();
    for atom in other {
        left.remove(left.iter().position(|found| found == atom)?);
    }
    Some(left.into())
}

/// Dividend and divisor after cancelling the number and the atoms that are factors of all their terms.
fn cancel(ctx: &Context, a: DimExpr, b: DimExpr) -> Option<(DimExpr, DimExpr)> {
    let terms = || ctx.dim_expr(a).terms().iter().chain(ctx.dim_expr(b).terms());
    let mut common = terms().next()?.clone();
    common.factor = terms().fold(0, |common, term| gcd(common, term.factor));
    for term in terms() {
        let mut left = term.atoms.to_vec();
        let mut kept = common.atoms.to_vec();
        kept.retain(|atom| match left.iter().position(|found| found == atom) {
            Some(index) => {
                left.remove(index);
                true
            }
            None => false,
        });
        common.atoms = kept.into();
    }
    let over = |expr: DimExpr| {
        let terms = ctx.dim_expr(expr).terms().iter();
        from_terms(ctx, terms.map(|term| quotient_of_terms(term, &common)).collect::<Option<_>>()?)
    };
    Some((over(a)?, over(b)?))
}

/// The greatest common divisor, at least 0.
fn gcd(a: i64, b: i64) -> i64 {
    match b {
        0 => a.checked_abs().unwrap_or(1),
        _ => gcd(b, a.checked_rem(b).unwrap_or(0)),
    }
}
