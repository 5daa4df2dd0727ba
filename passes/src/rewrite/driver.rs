//! The rewrite driver: the order of visits, and the limit of applications.

use std::collections::VecDeque;

use ir::diag::describe_op;
use ir::{Body, Context, Diagnostic, OpName, Region};
use rustc_hash::FxHashMap;

use super::fold::{FOLD, fold};
use super::{Applied, Rewriter, RuleSet};
use crate::effects::is_pure;
use crate::manager::Changes;

/// The name under which removals of dead operations are counted.
const DEAD: &str = "dead";
/// The number of last applications that the error for non-terminating rules names.
const LAST: usize = 64;

/// Limits on the number of rule applications.
#[derive(Clone, Copy, Debug)]
pub struct RewriteLimits {
    /// Applications for each operation of the original function.
    pub per_op: usize,
}

impl RewriteLimits {
    /// The base limit, for small functions.
    const LEAST: usize = 1024;

    /// The limit for a function of this number of operations.
    fn total(self, ops: usize) -> usize {
        self.per_op.saturating_mul(ops).saturating_add(Self::LEAST)
    }
}

/// Rewrites a body by rules.
pub struct Driver<'r> {
    rules: &'r RuleSet,
    /// The rules for operations of each name.
    by_name: FxHashMap<OpName, Vec<usize>>,
    counts: Vec<u64>,
    folded: u64,
    dead: u64,
    left: usize,
    last: VecDeque<&'static str>,
}

impl<'r> Driver<'r> {
    /// A driver for a body of this number of operations.
    pub fn new(rules: &'r RuleSet, limits: RewriteLimits, ops: usize) -> Driver<'r> {
        Driver {
            rules,
            by_name: FxHashMap::default(),
            counts: vec![0; rules.iter().count()],
            folded: 0,
            dead: 0,
            left: limits.total(ops),
            last: VecDeque::with_capacity(LAST),
        }
    }

    /// Applies rules until none applies, or no more changes are allowed; returns whether any did.
    ///
    /// # Errors
    /// If the limit of applications is reached: names the rules that applied last.
    pub fn run(
        &mut self,
        ctx: &Context,
        body: &mut Body,
        changes: &Changes,
    ) -> Result<RewriteOutcome, Diagnostic> {
        let roots = body.roots().to_vec();
        let mut rewriter = Rewriter::new(ctx, body);
        roots.iter().for_each(|root| look_at_all(&mut rewriter, *root));
        let before = self.left;
        while let Some(op) = rewriter.next() {
            if changes.is_spent() {
                break;
            }
            let name_before = rewriter.body().name(op);
            let location = rewriter.body().location(op);
            let Some((Applied { .. }, name)) = self.visit(&mut rewriter, op) else { continue };
            changes.allow(|| format!("rule `{name}` at {}", describe_op(ctx, name_before, location)));
            if self.last.len() == LAST {
                self.last.pop_front();
            }
            self.last.push_back(name);
            if self.left == 0 {
                return Err(self.endless(rewriter.body()));
            }
            self.left -= 1;
            // An operation changed in place may be the root of another rule.
            rewriter.look_at(op);
        }
        Ok(if self.left < before { RewriteOutcome::Changed } else { RewriteOutcome::Unchanged })
    }

    /// The number of applications of each rule, in the order of the rules, without zeros.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        let rules = self.rules.iter().map(|rule| rule.name).zip(self.counts.iter().copied());
        let all = [(DEAD, self.dead), (FOLD, self.folded)].into_iter().chain(rules);
        all.filter(|count| count.1 > 0)
    }

    fn visit(&mut self, rewriter: &mut Rewriter<'_>, op: ir::Op) -> Option<(Applied, &'static str)> {
        let ctx = rewriter.ctx();
        let body = rewriter.body();
        let def = ctx.def(body.name(op))?;
        if !body.results(op).any(|result| body.is_used(result)) && is_pure(ctx, body, op) {
            self.dead += 1;
            return Some((rewriter.erase(op), DEAD));
        }
        if let Some(applied) = fold(rewriter, op) {
            self.folded += 1;
            return Some((applied, FOLD));
        }
        let name = rewriter.body().name(op);
        let rules = self.by_name.entry(name).or_insert_with(|| self.rules.of(def));
        for &rule in rules.iter() {
            if let Some(applied) = self.rules.apply(rule, rewriter, op) {
                self.counts[rule] += 1;
                return Some((applied, self.rules.name(rule)));
            }
        }
        None
    }

    fn endless(&self, body: &Body) -> Diagnostic {
        let mut names: Vec<&str> = Vec::new();
        for name in &self.last {
            if !names.contains(name) {
                names.push(name);
            }
        }
        names.sort_unstable();
        let rules = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let location = body
            .entry(body.root())
            .and_then(|block| body.first_op(block))
            .map_or(ir::Location::UNKNOWN, |op| body.location(op));
        let message = format!("rewriting does not come to an end; the rules that applied last: {rules}");
        Diagnostic::error(location, message)
            .with_help("one of them undoes the others, or makes what it looks for")
    }
}

/// Whether a rewrite changed anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RewriteOutcome {
    /// Something was.
    Changed,
    /// Nothing was.
    Unchanged,
}

/// Queues all operations of a region, in text order.
fn look_at_all(rewriter: &mut Rewriter<'_>, region: Region) {
    for block in rewriter.body().blocks(region).to_vec() {
        let mut next = rewriter.body().first_op(block);
        while let Some(op) = next {
            rewriter.look_at(op);
            rewriter.body().regions(op).to_vec().into_iter().for_each(|inner| look_at_all(rewriter, inner));
            next = rewriter.body().next_op(op);
        }
    }
}
