//! Matching of a law's left side, and construction of its right side.
//!
//! A depth-first search over [`Terms`], independent of bodies and e-graphs. Both orders of the operands of a
//! commutative operation are tried. A number in an exact law matches exactly that number, including a zero's
//! sign. In a near law, a zero matches either sign, and a number that is no `f32`, such as 1.41421356,
//! matches any number equal to 6 digits.

use ir::{Traits, Type};

use super::pattern::{Pattern, PatternReader};
use super::rule::{Compute, LawCondition, Right, Rule};
use super::terms::{LawMatch, Matched, Term, TermList, Terms};
use crate::constants;

/// The limit of matches of a law at one operation.
const MOST_MATCHES: usize = 1024;
/// The limit of comparisons for the matches at one operation. If a result equals an operand, as in a product
/// with 1, classes of an e-graph contain themselves, and a deep left side has exponentially many paths
/// through them.
const MOST_STEPS: usize = 8192;

/// A law, ready to be applied.
#[derive(Clone)]
pub struct Law {
    /// The rule that it was read from.
    pub rule: &'static Rule,
    left: Pattern,
    right: Made,
    /// The conditions besides the left side.
    pub(super) conditions: Vec<&'static LawCondition>,
    /// Whether both sides are equal to the bit for all inputs.
    pub(super) is_exact: bool,
}

/// The construction of a right side.
#[derive(Clone)]
enum Made {
    Pattern(Pattern),
    Computed(Compute),
}

impl Law {
    /// Parses an exact law's sides. An error in one is a defect of its author.
    pub(super) fn read(rule: &'static Rule, left: &'static str, right: Right) -> Law {
        let mut reader = PatternReader::default();
        let left = reader.read(left);
        let right = match right {
            Right::Pattern(text) => Made::Pattern(reader.read(text)),
            Right::Computed(_, compute) => Made::Computed(compute),
        };
        Law { rule, left, right, conditions: Vec::new(), is_exact: true }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.rule.name
    }

    /// Whether both sides are equal to the bit for all inputs.
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// Its left side.
    #[cfg(test)]
    pub(crate) fn left(&self) -> &Pattern {
        &self.left
    }

    /// How many conditions it has.
    #[cfg(test)]
    pub(crate) fn conditions(&self) -> &[&'static LawCondition] {
        &self.conditions
    }

    /// The law without one of its conditions, so that it may be wrong.
    #[cfg(test)]
    pub(crate) fn without(&self, condition: usize) -> Law {
        let mut law = self.clone();
        law.conditions.remove(condition);
        law
    }

    /// The name of the operations at the root of its left side.
    pub(crate) fn root(&self) -> &'static str {
        self.left.root()
    }

    /// All matches of the left side at an operation with a result of this type.
    pub(crate) fn matches<'c>(&self, terms: &impl Terms<'c>, op: Matched, ty: Type) -> Vec<LawMatch> {
        let Pattern::Op(_, children) = &self.left else { return Vec::new() };
        let found = LawMatch { ops: Default::default(), vars: Default::default(), ty };
        let mut search =
            MatchSearch { terms, law: self, goals: Vec::new(), found, steps: 0, out: Vec::new() };
        search.op(children, op);
        search.out
    }

    /// Builds the right side; none if the law does not apply, or the type would differ.
    pub(crate) fn build<'c>(&self, terms: &mut impl Terms<'c>, found: &LawMatch) -> Option<Term> {
        if !self.conditions.iter().all(|condition| (condition.holds)(terms, found)) {
            return None;
        }
        let right = match &self.right {
            Made::Computed(compute) => compute(terms, found)?,
            Made::Pattern(Pattern::Number(number)) => number_of(terms, *number, found.ty)?,
            Made::Pattern(pattern) => make(terms, pattern, found)?,
        };
        (terms.ty(right) == found.ty).then_some(right)
    }
}

/// Builds a pattern with the terms of its variables.
fn make<'c>(terms: &mut impl Terms<'c>, pattern: &Pattern, found: &LawMatch) -> Option<Term> {
    match pattern {
        Pattern::Var(index) | Pattern::Weight(index) => Some(found.vars[*index]),
        Pattern::Number(number) => {
            let ty = terms.ty(*found.vars.first()?);
            number_of(terms, *number, ty)
        }
        Pattern::Op(name, children) => {
            let mut operands = TermList::new();
            for child in children {
                operands.push(make(terms, child, found)?);
            }
            terms.make(name, &operands, &[])
        }
    }
}

fn number_of<'c>(terms: &mut impl Terms<'c>, number: f64, ty: Type) -> Option<Term> {
    let value = constants::filled(terms.ctx(), ty, number)?;
    terms.make_constant(value, ty)
}

/// A match in progress: the remaining goals, and the matches found so far.
struct MatchSearch<'s, T> {
    terms: &'s T,
    law: &'s Law,
    goals: Vec<(&'s Pattern, Term)>,
    found: LawMatch,
    /// The number of comparisons.
    steps: usize,
    out: Vec<LawMatch>,
}

impl<'s, 'c, T: Terms<'c>> MatchSearch<'s, T> {
    fn step(&mut self) {
        if self.out.len() == MOST_MATCHES || self.steps == MOST_STEPS {
            return;
        }
        self.steps += 1;
        let Some((pattern, term)) = self.goals.pop() else {
            self.out.push(self.found.clone());
            return;
        };
        match pattern {
            Pattern::Var(index) => self.variable(*index, term),
            Pattern::Weight(index) if self.terms.is_weight(term) => self.variable(*index, term),
            Pattern::Weight(_) => {}
            Pattern::Number(number) if self.is_number(term, *number) => self.step(),
            Pattern::Number(_) => {}
            Pattern::Op(name, children) => {
                self.terms.ops(term, name).into_iter().for_each(|op| self.op(children, op));
            }
        }
        self.goals.push((pattern, term));
    }

    fn op(&mut self, children: &'s [Pattern], op: Matched) {
        if op.operands.len() != children.len() {
            return;
        }
        let (operands, traits) = (op.operands.clone(), op.def.traits);
        self.found.ops.push(op);
        self.operands(children, &operands);
        if let [a, b] = operands[..]
            && a != b
            && traits.contains(Traits::COMMUTATIVE)
        {
            self.operands(children, &[b, a]);
        }
        self.found.ops.pop();
    }

    fn operands(&mut self, patterns: &'s [Pattern], operands: &[Term]) {
        let depth = self.goals.len();
        self.goals.extend(patterns.iter().zip(operands.iter().copied()).rev());
        self.step();
        self.goals.truncate(depth);
    }

    fn is_number(&self, term: Term, number: f64) -> bool {
        let Some(value) = self.terms.constant(term) else { return false };
        let Some(element) = constants::splat(self.terms.ctx(), value, self.terms.ty(term)) else {
            return false;
        };
        match self.law.is_exact {
            true => constants::is_filled(&element, self.terms.ctx(), number),
            false => constants::is_near(&element, self.terms.ctx(), number),
        }
    }

    fn variable(&mut self, index: usize, term: Term) {
        match self.found.vars.get(index) {
            Some(bound) if *bound == term => self.step(),
            Some(_) => {}
            None => {
                assert_eq!(index, self.found.vars.len(), "variables are numbered as they appear");
                self.found.vars.push(term);
                self.step();
                self.found.vars.pop();
            }
        }
    }
}
