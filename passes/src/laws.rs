//! The table of laws: algebraic identities between programs.
//!
//! A law is a row of one file of this folder: its name, the pattern of its left side, and a right side. The
//! right side is a pattern too or, if it depends on attributes and sizes, a function with a sentence that
//! describes its result and conditions ([`Rule::computed`]). A right side is used only if its type is the
//! left side's, so laws need not check how sizes broadcast.
//!
//! ```text
//! neg-neg  exact  (nn.neg (nn.neg ?x)) => ?x
//! silu     near   (nn.mul ?x (nn.sigmoid ?x)) => (nn.silu ?x)
//! ```
//!
//! *Exact* laws hold to the bit on all inputs, including rounding, infinities and the sign of zero; both
//! sides are NaN on the same inputs. *Near* laws hold up to rounding: the two sides may differ in the last
//! bits and in the sign of a zero, and an intermediate product of weights may overflow although the program's
//! own did not. A law is near if it changes the order of a sum, or the number of roundings. `canonicalize`
//! applies the exact laws, greedily; `simplify` applies all, by cost. So laws do not weigh costs, but each
//! exact law must make progress: it leaves fewer or cheaper operations.

mod arith;
mod clip;
mod nn;
mod norm;
mod phases;
mod scale;
mod taps;
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
pub static LAWS: &[&[Rule]] =
    &[arith::LAWS, nn::LAWS, scale::LAWS, norm::LAWS, clip::LAWS, taps::LAWS, phases::LAWS, views::LAWS];

/// A reshape to known sizes.
fn reshaped(terms: &mut dyn Terms<'_>, x: Term, sizes: &[u64]) -> Option<Term> {
    let sizes: Vec<Dim> = sizes.iter().map(|size| Dim::Known(*size)).collect();
    let sizes = terms.ctx().dims_attr(&sizes);
    terms.make("nn.reshape", &[x], &[("shape", sizes)])
}
