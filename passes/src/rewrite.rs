//! How a function is rewritten by rules until none applies.
//!
//! A [`Rule`] looks at one operation, its *root*, and puts something simpler in its place. Most are laws of
//! one line; those that need attributes, regions or blocks are functions:
//!
//! ```
//! use passes::rewrite::{Applied, Roots, Rewriter, Rule};
//!
//! static RULES: &[Rule] = &[
//!     Rule::law("my-neg-neg", "(my.neg (my.neg ?x))", "?x"),
//!     Rule::code("empty-loop", "A loop that does nothing is gone.", Roots::Op("my.loop"), empty_loop),
//! ];
//!
//! fn empty_loop(rewriter: &mut Rewriter<'_>, op: ir::Op) -> Option<Applied> {
//!     let body = rewriter.body();
//!     let is_empty = body.regions(op).iter().all(|region| body.blocks(*region).is_empty());
//!     is_empty.then(|| rewriter.replace(op, &[]))
//! }
//! # let mut registry = passes::manager::Registry::new();
//! registry.register_rules(RULES);
//! ```
//!
//! A law is *exact* if both sides are equal to the bit for all inputs; one that is not is said to be
//! [`Rule::near`]. Our own laws stand in one table ([`crate::laws`]), and those of other crates join them
//! ([`Registry::register_rules`](crate::manager::Registry::register_rules)). The pass `canonicalize` applies
//! all exact laws and all rules that are code, together with two rules that hold of every row: pure
//! operations on small constants become constants, and what nobody reads goes. The pass `simplify` applies
//! all laws, exact or not, in an e-graph. Both match them by the same code ([`Terms`]).
//!
//! The driver ([`Driver`]) keeps a queue of operations to look at: at first all, in text order; then whatever
//! an application may have brought nearer to another one: the operation's readers, what it read, and what was
//! made. So nothing depends on the order of handles. How often rules may apply is bounded by the size of the
//! function: rules that undo each other are told by name.
//!
//! This is the greedy driver of LLVM's MLIR with a queue in place of a stack: where rules go in a circle,
//! everything else has come to rest when the bound is met, so that the last rules to apply are those at
//! fault.

mod driver;
mod fold;
mod law;
pub(crate) mod pattern;
mod rewriter;
mod rule;
mod rule_set;
mod site;
mod terms;

#[cfg(test)]
mod tests;

pub use driver::{Driver, RewriteLimits, RewriteOutcome};
pub use law::Law;
pub use rewriter::{Applied, Rewriter};
pub use rule::{Action, Compute, LawCondition, Right, Roots, Rule, RuleFn};
pub use rule_set::RuleSet;
pub use terms::{LawMatch, Matched, Term, TermList, Terms};
