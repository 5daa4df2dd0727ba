//! Symbolic sizes: canonical expressions over named sizes.
//!
//! A [`DimExpr`] is an interned polynomial with whole coefficients in *atoms*: a symbol (`N`, `H`), a
//! quotient rounded down, a minimum or a maximum. Its form is canonical, so expressions that are equal by the
//! laws below have equal handles:
//!
//! ```text
//! (H + 2 - 3) floordiv 2 + 1   =>   (H + 1) floordiv 2     printed `H ceildiv 2`
//! ((H ceildiv 2) + 1) floordiv 2   =>   (H + 3) floordiv 4     printed `H ceildiv 4`
//! (2 * N) floordiv 2   =>   N
//! (N * H * W) floordiv (N * W)   =>   H
//! N mod 4   =>   N - 4 * (N floordiv 4)
//! ```
//!
//! - A polynomial's terms are sorted by degree, then by atoms, and like terms are merged, so sums and
//!   products that are equal as polynomials have equal handles.
//! - `(c*q + r) floordiv c` is `q + r floordiv c`: coefficients of a dividend lie in `[0, c)`. A common
//!   factor is cancelled, and a quotient of a quotient is one quotient.
//! - Rounding up and remainders are expressed by rounding down.
//! - `min` and `max` drop operands that another one always beats or equals; a summand of all operands moves
//!   outside.
//!
//! The laws hold for all whole sizes of at least 0. A quotient is defined if its divisor is at least 1; a
//! form may be defined where another, equal one is not. Numbers above 63 bits and expressions of more than
//! [`MOST_TERMS`] terms are not represented: the functions here return none, and the size is unknown. Further
//! knowledge of the symbols is in [`Ranges`]; [`provably_equal`] and [`provably_at_most`] use it, but it
//! never changes a form.
//!
//! Not every pair of equal expressions has equal handles (`N - N floordiv 2` and `N ceildiv 2` have two);
//! [`provably_equal`] finds more of them.

#[cfg(test)]
mod bounds_tests;
mod divide;
mod elements;
#[cfg(test)]
mod elements_tests;
mod evaluate;
mod extreme;
mod maximum;
mod polynomial;
mod print;
mod range;
mod require;
mod sizes;
mod substitute;
mod table;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;

use crate::context::Context;
use crate::entities::DimExpr;

pub use divide::{ceil_div, floor_div, modulo};
pub use elements::{elements, elements_given};
pub use evaluate::{evaluate, replace, symbols};
pub use extreme::{max, min};
pub use maximum::{Maximum, bounds, maximize, maximum};
pub use polynomial::{Atom, Monomial, Polynomial};
pub(crate) use print::RESERVED;
pub use print::print;
pub use range::{
    Interval, Ranges, following, interval, one_size, provably_at_most, provably_different, provably_equal,
};
pub use require::{Requirement, at_most, to_agree, to_stretch};
pub use sizes::{SizeArithmetic, size};
pub use substitute::{Bindings, greatest_in, nominal, substitute, substitute_in, symbols_in, symbols_of};
pub use table::{SizeId, SizeTable, SizeValues};

/// The largest number of terms of an expression.
pub const MOST_TERMS: usize = 64;

/// A named size.
pub fn symbol(ctx: &Context, name: &str) -> DimExpr {
    atom(ctx, Atom::Symbol(ctx.ident(name)))
}

/// A number.
pub fn constant(ctx: &Context, value: i64) -> DimExpr {
    let terms = if value == 0 { vec![] } else { vec![Monomial { factor: value, atoms: Box::default() }] };
    ctx.intern_dim_expr(Polynomial { terms: terms.into() })
}

/// `a + b`.
pub fn add(ctx: &Context, a: DimExpr, b: DimExpr) -> Option<DimExpr> {
    let terms = [ctx.dim_expr(a).terms(), ctx.dim_expr(b).terms()].concat();
    from_terms(ctx, terms)
}

/// `a - b`.
pub fn sub(ctx: &Context, a: DimExpr, b: DimExpr) -> Option<DimExpr> {
    add(ctx, a, scale(ctx, b, -1)?)
}

/// `a * b`.
pub fn mul(ctx: &Context, a: DimExpr, b: DimExpr) -> Option<DimExpr> {
    let (a, b) = (ctx.dim_expr(a).terms(), ctx.dim_expr(b).terms());
    if a.len() * b.len() > MOST_TERMS * MOST_TERMS {
        return None;
    }
    let products = a.iter().flat_map(|a| b.iter().map(move |b| product(ctx, a, b)));
    from_terms(ctx, products.collect::<Option<_>>()?)
}

/// `a * factor`.
fn scale(ctx: &Context, a: DimExpr, factor: i64) -> Option<DimExpr> {
    mul(ctx, a, constant(ctx, factor))
}

fn atom(ctx: &Context, atom: Atom) -> DimExpr {
    let term = Monomial { factor: 1, atoms: Box::new([atom]) };
    ctx.intern_dim_expr(Polynomial { terms: Box::new([term]) })
}

fn product(ctx: &Context, a: &Monomial, b: &Monomial) -> Option<Monomial> {
    let mut atoms = [&*a.atoms, &*b.atoms].concat();
    atoms.sort_by(|a, b| compare_atoms(ctx, a, b));
    Some(Monomial { factor: a.factor.checked_mul(b.factor)?, atoms: atoms.into() })
}

/// The sum of terms in any order.
fn from_terms(ctx: &Context, mut terms: Vec<Monomial>) -> Option<DimExpr> {
    terms.sort_by(|a, b| compare_monomials(ctx, &a.atoms, &b.atoms));
    let mut merged: Vec<Monomial> = Vec::with_capacity(terms.len());
    for term in terms {
        match merged.last_mut() {
            Some(last) if last.atoms == term.atoms => last.factor = last.factor.checked_add(term.factor)?,
            _ => merged.push(term),
        }
    }
    merged.retain(|term| term.factor != 0);
    (merged.len() <= MOST_TERMS).then(|| ctx.intern_dim_expr(Polynomial { terms: merged.into() }))
}

/// The order of products: the higher degree first, then by atoms. It does not depend on the order of
/// interning. Multiplying both sides keeps it, as polynomial division requires.
fn compare_monomials(ctx: &Context, a: &[Atom], b: &[Atom]) -> Ordering {
    let by_degree = b.len().cmp(&a.len());
    by_degree.then_with(|| compare_lists(a, b, |a, b| compare_atoms(ctx, a, b)))
}

fn compare_lists<T>(a: &[T], b: &[T], compare: impl Fn(&T, &T) -> Ordering) -> Ordering {
    let differing = a.iter().zip(b).map(|(a, b)| compare(a, b)).find(|order| order.is_ne());
    differing.unwrap_or_else(|| a.len().cmp(&b.len()))
}

fn compare_atoms(ctx: &Context, a: &Atom, b: &Atom) -> Ordering {
    let rank = |atom: &Atom| match atom {
        Atom::Symbol(_) => 0,
        Atom::FloorDiv { .. } => 1,
        Atom::Min(_) => 2,
        Atom::Max(_) => 3,
    };
    match (a, b) {
        (Atom::Symbol(a), Atom::Symbol(b)) => ctx.str(*a).cmp(ctx.str(*b)),
        (Atom::FloorDiv { dividend: a, divisor: by_a }, Atom::FloorDiv { dividend: b, divisor: by_b }) => {
            compare_exprs(ctx, *a, *b).then_with(|| compare_exprs(ctx, *by_a, *by_b))
        }
        (Atom::Min(a), Atom::Min(b)) | (Atom::Max(a), Atom::Max(b)) => {
            compare_lists(a, b, |a, b| compare_exprs(ctx, *a, *b))
        }
        _ => rank(a).cmp(&rank(b)),
    }
}

fn compare_exprs(ctx: &Context, a: DimExpr, b: DimExpr) -> Ordering {
    if a == b {
        return Ordering::Equal;
    }
    compare_lists(ctx.dim_expr(a).terms(), ctx.dim_expr(b).terms(), |a, b| {
        compare_monomials(ctx, &a.atoms, &b.atoms).then_with(|| a.factor.cmp(&b.factor))
    })
}
