//! Evaluation of symbolic sizes: the value of an expression for given values of its symbols.

use super::{Atom, Monomial, add, constant, floor_div, max, min, mul};
use crate::context::Context;
use crate::entities::{DimExpr, Ident};

/// The value, with the values of symbols from `value_of`; none if a symbol has no value, a divisor is below
/// 1, or a number exceeds 63 bits.
pub fn evaluate(ctx: &Context, expr: DimExpr, value_of: &dyn Fn(Ident) -> Option<i64>) -> Option<i64> {
    let mut sum = 0i64;
    for Monomial { factor, atoms } in ctx.dim_expr(expr).terms() {
        let mut product = *factor;
        for atom in atoms {
            product = product.checked_mul(evaluate_atom(ctx, atom, value_of)?)?;
        }
        sum = sum.checked_add(product)?;
    }
    Some(sum)
}

fn evaluate_atom(ctx: &Context, atom: &Atom, value_of: &dyn Fn(Ident) -> Option<i64>) -> Option<i64> {
    let all = |exprs: &[DimExpr]| -> Option<Vec<i64>> {
        exprs.iter().map(|expr| evaluate(ctx, *expr, value_of)).collect()
    };
    match atom {
        Atom::Symbol(name) => value_of(*name),
        Atom::FloorDiv { dividend, divisor } => {
            let divisor = evaluate(ctx, *divisor, value_of).filter(|divisor| *divisor >= 1)?;
            Some(evaluate(ctx, *dividend, value_of)?.div_euclid(divisor))
        }
        Atom::Min(exprs) => all(exprs)?.into_iter().min(),
        Atom::Max(exprs) => all(exprs)?.into_iter().max(),
    }
}

/// Substitutes expressions for symbols; a symbol without a substitute stays.
pub fn replace(
    ctx: &Context,
    expr: DimExpr,
    replacement: &dyn Fn(Ident) -> Option<DimExpr>,
) -> Option<DimExpr> {
    let mut sum = constant(ctx, 0);
    for Monomial { factor, atoms } in ctx.dim_expr(expr).terms() {
        let mut product = constant(ctx, *factor);
        for atom in atoms {
            product = mul(ctx, product, replace_atom(ctx, atom, replacement)?)?;
        }
        sum = add(ctx, sum, product)?;
    }
    Some(sum)
}

fn replace_atom(
    ctx: &Context,
    atom: &Atom,
    replacement: &dyn Fn(Ident) -> Option<DimExpr>,
) -> Option<DimExpr> {
    let fold = |exprs: &[DimExpr], of: fn(&Context, DimExpr, DimExpr) -> Option<DimExpr>| {
        let mut exprs = exprs.iter().map(|expr| replace(ctx, *expr, replacement));
        let first = exprs.next()??;
        exprs.try_fold(first, |found, next| of(ctx, found, next?))
    };
    match atom {
        Atom::Symbol(name) => {
            Some(replacement(*name).unwrap_or_else(|| super::atom(ctx, Atom::Symbol(*name))))
        }
        Atom::FloorDiv { dividend, divisor } => {
            let divisor = replace(ctx, *divisor, replacement)?;
            floor_div(ctx, replace(ctx, *dividend, replacement)?, divisor)
        }
        Atom::Min(exprs) => fold(exprs, min),
        Atom::Max(exprs) => fold(exprs, max),
    }
}

/// The symbols of an expression, each once, sorted by name.
pub fn symbols(ctx: &Context, expr: DimExpr) -> Vec<Ident> {
    let mut found = Vec::new();
    collect(ctx, expr, &mut found);
    found.sort_by(|a, b| ctx.str(*a).cmp(ctx.str(*b)));
    found.dedup();
    found
}

fn collect(ctx: &Context, expr: DimExpr, found: &mut Vec<Ident>) {
    for atom in ctx.dim_expr(expr).terms().iter().flat_map(|term| &term.atoms) {
        match atom {
            Atom::Symbol(name) => found.push(*name),
            Atom::FloorDiv { dividend, divisor } => {
                collect(ctx, *dividend, found);
                collect(ctx, *divisor, found);
            }
            Atom::Min(exprs) | Atom::Max(exprs) => {
                exprs.iter().for_each(|expr| collect(ctx, *expr, found));
            }
        }
    }
}
