//! Minimum and maximum of two expressions, in canonical form.

use super::{Atom, Ranges, add, atom, compare_exprs, constant, provably_at_most, sub};
use crate::context::Context;
use crate::entities::DimExpr;

/// Minimum or maximum.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LeastOrGreatest {
    Least,
    Greatest,
}

/// The minimum of two expressions.
pub fn min(ctx: &Context, a: DimExpr, b: DimExpr) -> Option<DimExpr> {
    extreme(ctx, LeastOrGreatest::Least, a, b)
}

/// The maximum of two expressions.
pub fn max(ctx: &Context, a: DimExpr, b: DimExpr) -> Option<DimExpr> {
    extreme(ctx, LeastOrGreatest::Greatest, a, b)
}

/// The largest number of operands; with more, the size is unknown.
const MOST_OPERANDS: usize = 8;

fn extreme(ctx: &Context, which: LeastOrGreatest, a: DimExpr, b: DimExpr) -> Option<DimExpr> {
    let mut all = operands(ctx, which, a)?;
    all.extend(operands(ctx, which, b)?);
    let mut kept: Vec<DimExpr> = Vec::new();
    for new in all {
        let makes_up_for = |better: DimExpr, worse: DimExpr| match which {
            LeastOrGreatest::Least => provably_at_most(ctx, better, worse, &Ranges::LAWS),
            LeastOrGreatest::Greatest => provably_at_most(ctx, worse, better, &Ranges::LAWS),
        };
        if kept.iter().any(|old| makes_up_for(*old, new)) {
            continue;
        }
        kept.retain(|old| !makes_up_for(new, *old));
        kept.push(new);
    }
    match kept[..] {
        [only] => return Some(only),
        _ if kept.len() > MOST_OPERANDS => return None,
        _ => {}
    }
    let offset = kept.iter().map(|expr| ctx.dim_expr(*expr).offset()).min().unwrap_or(0);
    let offset = constant(ctx, offset);
    let shifted: Option<Vec<DimExpr>> = kept.iter().map(|expr| sub(ctx, *expr, offset)).collect();
    let mut shifted = shifted?;
    shifted.sort_by(|a, b| compare_exprs(ctx, *a, *b));
    let shifted = shifted.into();
    let found = match which {
        LeastOrGreatest::Least => Atom::Min(shifted),
        LeastOrGreatest::Greatest => Atom::Max(shifted),
    };
    add(ctx, atom(ctx, found), offset)
}

/// The operands of a minimum or maximum of the same kind, each plus the offset that is added to it; any other
/// expression is one operand.
fn operands(ctx: &Context, which: LeastOrGreatest, expr: DimExpr) -> Option<Vec<DimExpr>> {
    let offset = constant(ctx, ctx.dim_expr(expr).offset());
    let plain = sub(ctx, expr, offset)?;
    match (ctx.dim_expr(plain).atom(), which) {
        (Some(Atom::Min(inner)), LeastOrGreatest::Least)
        | (Some(Atom::Max(inner)), LeastOrGreatest::Greatest) => {
            inner.iter().map(|inner| add(ctx, *inner, offset)).collect()
        }
        _ => Some(vec![expr]),
    }
}
