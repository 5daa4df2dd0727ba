//! Rewriting of functions by rules until none applies.
//!
//! A [`Rule`] matches one operation, its *root*, and replaces it by something simpler. Most rules are laws of
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
//! A law is *exact* if both sides are equal to the bit for all inputs; otherwise it is marked as
//! [`Rule::near`]. Our own laws are in one table ([`crate::laws`]), and other crates can add theirs
//! ([`Registry::register_rules`](crate::manager::Registry::register_rules)). The pass `canonicalize` applies
//! all exact laws and all rules in code, together with two general rules: pure operations on small constants
//! are folded, and dead operations are removed. The pass `simplify` applies all laws, exact or not, in an
//! e-graph. Both use the same matcher ([`Terms`]).
//!
//! The driver ([`Driver`]) keeps a queue of operations to visit: at first all, in text order; then those
//! affected by an application, such as its readers, its operands and the new operations. So nothing depends
//! on the order of handles. The number of applications is limited by the size of the function: the error for
//! rules that undo each other names them.
//!
//! This is MLIR's greedy driver with a queue instead of a stack: if rules form a cycle, everything else has
//! come to rest when the limit is reached, so that the last applied rules are those at fault.

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
