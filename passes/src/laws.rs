//! Which programs are equal: the table of laws.
//!
//! A law is a row of one file of this folder: its name, the pattern of its left side, and a right side, which
//! is a pattern too or, where attributes and sizes decide, a function with a sentence on what it makes and
//! where ([`Rule::computed`]). A right side counts only if its type is the left side's, so laws need not
//! check how sizes broadcast.
//!
//! ```text
//! neg-neg  exact  (nn.neg (nn.neg ?x)) => ?x
//! silu     near   (nn.mul ?x (nn.sigmoid ?x)) => (nn.silu ?x)
//! ```
//!
//! *Exact* laws hold to the bit on all inputs: rounding, infinities and the sign of zero included, and one
//! side is NaN where the other is. *Near* laws hold for numbers as they round: two sides may differ in the
//! last bits and in the sign of a zero, and an intermediate product of weights may overflow where the
//! program's own did not. A law is near if it sums in another order, or rounds once more or less.
//! `canonicalize` applies the exact laws, greedily; `simplify` applies all, by cost. So no law weighs
//! whether it pays, but each exact law must come nearer to an end: it makes fewer or cheaper operations.

mod arith;
mod clip;
mod nn;
mod norm;
mod scale;
mod views;

#[cfg(test)]
mod cases;
#[cfg(test)]
mod conditions;
#[cfg(test)]
mod random;
#[cfg(test)]
mod tests;

use ir::Dim;

use crate::rewrite::{Rule, Term, Terms};

/// The built-in laws by subject.
pub static LAWS: &[&[Rule]] = &[arith::LAWS, nn::LAWS, scale::LAWS, norm::LAWS, clip::LAWS, views::LAWS];

/// A reshape to sizes that are numbers.
fn reshaped(terms: &mut dyn Terms<'_>, x: Term, sizes: &[u64]) -> Option<Term> {
    let sizes: Vec<Dim> = sizes.iter().map(|size| Dim::Known(*size)).collect();
    let sizes = terms.ctx().dims_attr(&sizes);
    terms.make("nn.reshape", &[x], &[("shape", sizes)])
}
