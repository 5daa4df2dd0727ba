//! Constraints on named sizes, from operations that demand two equal sizes.
//!
//! ```text
//! min(seq, 1024) and seq    =>   seq <= 1024
//! max(N, 4) and N           =>   N >= 4
//! N * M and 768 * N         =>   M = 768
//! 2 * N + 1 and M           =>   M = 2 * N + 1
//! ```
//!
//! A requirement is never a guess. It holds in every run in which the operation is defined, so a run that
//! breaks it would fail without it too. It constrains named sizes, which are sizes of inputs, so it can be
//! checked before a run. There are two rules:
//!
//! - *Agreement* ([`to_agree`]): if the operation's definition demands equal sizes (the other axes of a
//!   concatenation, the summed axis of a matrix product, the parts of a split), the condition for their
//!   equality is required.
//! - *Stretching* ([`to_stretch`]): if a size of 1 would be broadcast to the other one, different sizes may
//!   both be right. Of `N` against `M` nothing is required, and the size stays unknown. The sizes must agree
//!   only if neither can be 1 without the other: both are at least 2, or one is the minimum of the other and
//!   of sizes of at least 2, like `min(seq, 1024)` of `seq`. A maximum (`max(N, 4)` of `N`) is no such case:
//!   at `N = 1`, `N` is broadcast.
//!
//! An unknown size has no expression, and never takes part.

use super::{
    Atom, Ranges, add, atom, constant, floor_div, mul, provably_at_most, provably_equal, sub, symbols,
};
use crate::context::Context;
use crate::entities::{DimExpr, Ident};

/// A condition on named sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Requirement {
    /// A named size lies in `low..=high`.
    Within {
        /// Its name.
        symbol: Ident,
        /// The least value.
        low: u64,
        /// The greatest value; `u64::MAX` for no limit.
        high: u64,
    },
    /// A named size is equal to an expression of others. The entries are equivalent; any one of them
    /// suffices.
    Equal(Vec<(Ident, DimExpr)>),
}

/// The condition under which two sizes that must agree are equal; none if they always are, or if no single
/// condition expresses it.
pub fn to_agree(ctx: &Context, a: DimExpr, b: DimExpr, ranges: &Ranges) -> Option<Requirement> {
    if provably_equal(ctx, a, b, ranges) {
        return None;
    }
    for (extreme, one) in [(a, b), (b, a)] {
        if let Some((others, is_least)) = others(ctx, extreme, one) {
            let pair = |other| if is_least { (one, other) } else { (other, one) };
            let mut open = others.into_iter().map(pair);
            let (low, high) = open.find(|(low, high)| !provably_at_most(ctx, *low, *high, ranges))?;
            return at_most(ctx, low, high);
        }
    }
    let solutions = solutions(ctx, sub(ctx, a, b)?, ranges)?;
    (!solutions.is_empty()).then_some(Requirement::Equal(solutions))
}

/// The condition under which two sizes agree where a size of 1 would be broadcast; none if different sizes
/// may be right.
pub fn to_stretch(ctx: &Context, a: DimExpr, b: DimExpr, ranges: &Ranges) -> Option<Requirement> {
    let is_above_1 = |size: &DimExpr| provably_at_most(ctx, constant(ctx, 2), *size, ranges);
    let is_1_with = |least: DimExpr, one: DimExpr| {
        others(ctx, least, one).is_some_and(|(others, is_least)| is_least && others.iter().all(is_above_1))
    };
    let must_agree = [a, b].iter().all(is_above_1) || is_1_with(a, b) || is_1_with(b, a);
    if must_agree { to_agree(ctx, a, b, ranges) } else { None }
}

/// The other operands of a minimum or maximum that has `one` among its operands, and whether it is a minimum.
fn others(ctx: &Context, extreme: DimExpr, one: DimExpr) -> Option<(Vec<DimExpr>, bool)> {
    let offset = constant(ctx, ctx.dim_expr(extreme).offset());
    let plain = sub(ctx, extreme, offset)?;
    let (operands, is_least) = match ctx.dim_expr(plain).atom()? {
        Atom::Min(operands) => (operands, true),
        Atom::Max(operands) => (operands, false),
        _ => return None,
    };
    let moved: Vec<DimExpr> =
        operands.iter().map(|operand| add(ctx, *operand, offset)).collect::<Option<_>>()?;
    let at = moved.iter().position(|operand| *operand == one)?;
    Some((
        moved.iter().enumerate().filter(|(index, _)| *index != at).map(|(_, size)| *size).collect(),
        is_least,
    ))
}

/// The condition on the symbol of `low <= high`; none unless it has exactly one symbol.
pub fn at_most(ctx: &Context, low: DimExpr, high: DimExpr) -> Option<Requirement> {
    let room = sub(ctx, high, low)?;
    let room = ctx.dim_expr(room);
    let [term, ..] = room.terms() else { return None };
    let ([Atom::Symbol(symbol)], true) =
        (&*term.atoms, room.terms().iter().skip(1).all(|term| term.atoms.is_empty()))
    else {
        return None;
    };
    let symbol = *symbol;
    let offset = i128::from(room.offset());
    let factor = i128::from(term.factor);
    let bound = |bound: i128| u64::try_from(bound.max(0)).ok();
    Some(if factor < 0 {
        Requirement::Within { symbol, low: 0, high: u64::try_from(offset.div_euclid(-factor)).ok()? }
    } else {
        Requirement::Within { symbol, low: bound(-(offset.div_euclid(factor)))?, high: u64::MAX }
    })
}

/// The symbols that are determined if a difference is 0, each with its solution. A common factor that cannot
/// be 0 is ignored.
fn solutions(ctx: &Context, difference: DimExpr, ranges: &Ranges) -> Option<Vec<(Ident, DimExpr)>> {
    let difference = without_common_factor(ctx, difference, ranges)?;
    let terms = ctx.dim_expr(difference).terms();
    let mut found = Vec::new();
    for term in terms {
        let [Atom::Symbol(symbol)] = *term.atoms else { continue };
        let own = mul(ctx, constant(ctx, term.factor), atom(ctx, Atom::Symbol(symbol)))?;
        let rest = sub(ctx, difference, own)?;
        let is_whole =
            ctx.dim_expr(rest).terms().iter().all(|other| other.factor.checked_rem(term.factor) == Some(0));
        if !is_whole || symbols(ctx, rest).contains(&symbol) {
            continue;
        }
        let positive = if term.factor > 0 { sub(ctx, constant(ctx, 0), rest)? } else { rest };
        found.push((symbol, floor_div(ctx, positive, constant(ctx, term.factor.checked_abs()?))?));
    }
    Some(found)
}

fn without_common_factor(ctx: &Context, difference: DimExpr, ranges: &Ranges) -> Option<DimExpr> {
    let mut left = difference;
    loop {
        let terms = ctx.dim_expr(left).terms();
        let Some(first) = terms.first() else { return Some(left) };
        let is_common = |atom: &&Atom| {
            terms.iter().all(|term| term.atoms.contains(atom))
                && provably_at_most(ctx, constant(ctx, 1), super::atom(ctx, (*atom).clone()), ranges)
        };
        let Some(common) = first.atoms.iter().find(is_common) else { return Some(left) };
        left = floor_div(ctx, left, atom(ctx, common.clone()))?;
    }
}

#[cfg(test)]
mod tests {
    use super::super::print;
    use super::*;
    use crate::text::parse_dim;

    fn text(ctx: &Context, requirement: Option<Requirement>) -> String {
        match requirement {
            None => "nothing".to_owned(),
            Some(Requirement::Within { symbol, low, high: u64::MAX }) => {
                format!("{} >= {low}", ctx.str(symbol))
            }
            Some(Requirement::Within { symbol, high, .. }) => format!("{} <= {high}", ctx.str(symbol)),
            Some(Requirement::Equal(all)) => {
                let all =
                    all.iter().map(|(symbol, expr)| format!("{} = {}", ctx.str(*symbol), print(ctx, *expr)));
                all.collect::<Vec<_>>().join(" or ")
            }
        }
    }

    /// Checks the conditions if two sizes must agree, and if a size of 1 is broadcast.
    #[track_caller]
    fn check(a: &str, b: &str, [agree, stretch]: [&str; 2]) {
        let ctx = Context::new();
        let read = |text| parse_dim(&ctx, text).unwrap_or_else(|faults| panic!("{}", faults[0].message));
        let first = read(a);
        let second = read(b);
        let ranges = Ranges::default();
        for (a, b) in [(first, second), (second, first)] {
            assert_eq!(text(&ctx, to_agree(&ctx, a, b, &ranges)), agree);
            assert_eq!(text(&ctx, to_stretch(&ctx, a, b, &ranges)), stretch);
        }
    }

    #[test]
    fn a_least_that_must_be_one_of_its_operands_limits_it() {
        check("min(seq, 1024)", "seq", ["seq <= 1024"; 2]);
        check("min(seq, 1024) + 1", "seq + 1", ["seq <= 1024"; 2]);
        check("min(2 * N + 1, 8)", "2 * N + 1", ["N <= 3"; 2]);
    }

    #[test]
    fn a_size_that_others_are_no_multiples_of_is_not_solved_for() {
        check("2 * N + 4 * M", "3 * K", ["nothing"; 2]);
        check("2 * N + 4 * M", "6 * K", ["N = 3 * K - 2 * M"; 2]);
        check("N + 4 * M", "3 * K", ["N = 3 * K - 4 * M"; 2]);
    }

    #[test]
    fn a_least_that_is_1_by_itself_may_stretch() {
        check("min(N, M)", "N", ["nothing"; 2]);
        check("min(N, 1)", "N", ["N <= 1", "nothing"]);
    }

    #[test]
    fn a_lower_bound_is_no_size() {
        check("max(N, 4)", "N", ["N >= 4", "nothing"]);
        check("max(3 * N, 7)", "3 * N", ["N >= 3"; 2]);
    }

    #[test]
    fn two_names_are_equal_only_where_nothing_stretches() {
        check("N", "M", ["M = N or N = M", "nothing"]);
        check("N + 1", "M + 1", ["M = N or N = M"; 2]);
        check("2 * N", "M", ["M = 2 * N", "nothing"]);
        check("N", "5", ["N = 5", "nothing"]);
    }

    #[test]
    fn factors_that_are_not_0_are_left_out() {
        check("N * M", "768 * N", ["M = 768", "nothing"]);
        check("B * N * K", "B * M * K", ["M = N or N = M", "nothing"]);
        check("B * N + K * M", "B * M", ["nothing"; 2]);
    }

    #[test]
    fn what_no_single_name_says_is_not_required() {
        check("2 * N", "3 * M", ["nothing"; 2]);
        check("N floordiv 2", "N - 1", ["nothing"; 2]);
        check("min(N + M, 8)", "N + M", ["nothing"; 2]);
    }
}
