//! Rewrite rules.

use ir::opdef::RegionFlow;
use ir::{Op, Traits};

use super::terms::{LawMatch, Term, Terms};
use super::{Applied, Rewriter};

/// A rule that simplifies a program.
#[derive(Clone, Copy)]
pub struct Rule {
    /// Its name in statistics, and in errors about rules that never stop applying.
    pub name: &'static str,
    /// Its action.
    pub action: Action,
}

/// The operations that a rule may match.
#[derive(Clone, Copy, Debug)]
pub enum Roots {
    /// Those of this name.
    Op(&'static str),
    /// Those with all these traits.
    Traits(Traits),
    /// Control flow of this kind through regions.
    Flow(RegionFlow),
    /// All branches to other blocks.
    Branch,
}

/// The action of a rule.
#[derive(Clone, Copy)]
pub enum Action {
    /// Two sides that compute the same.
    Law {
        /// The pattern to match: see [`Rule::law`].
        left: &'static str,
        /// Its replacement, used if it has the same type.
        right: Right,
        /// Whether both sides are equal to the bit for all inputs, including infinities and zeros of either
        /// sign, and are NaN on the same inputs.
        exact: bool,
        /// Further conditions for the law to apply.
        conditions: &'static [LawCondition],
    },
    /// A function that changes an operation in place; only `canonicalize` applies it.
    Code {
        /// Its effect, in a sentence.
        doc: &'static str,
        /// The operations that it may match.
        roots: Roots,
        /// The function.
        apply: RuleFn,
    },
}

/// The right side of a law.
#[derive(Clone, Copy)]
pub enum Right {
    /// A pattern.
    Pattern(&'static str),
    /// A function that builds it, with a sentence that describes its result and conditions.
    Computed(&'static str, Compute),
}

/// A condition on the match of a law's left side. Without it, the two sides differ for some program.
#[derive(Clone, Copy)]
pub struct LawCondition {
    /// The condition, as the end of a sentence that begins with "where".
    pub doc: &'static str,
    /// Whether it holds.
    pub holds: fn(&dyn Terms<'_>, &LawMatch) -> bool,
}

/// Builds the right side of a law; none if there is none for this match.
pub type Compute = fn(&mut dyn Terms<'_>, &LawMatch) -> Option<Term>;

/// Applies a rule to its root; returns none, and changes nothing, if it does not apply.
pub type RuleFn = fn(&mut Rewriter<'_>, Op) -> Option<Applied>;

impl Rule {
    /// An exact law: the right side computes the same as the left side, to the bit.
    ///
    /// ```text
    /// (nn.mul ?x (nn.sigmoid ?x))   an operation with its operands; a variable stands for one value
    /// $w                            a variable that takes only what is known before the program runs
    /// 0.5                           a constant all of whose elements are this number
    /// ```
    ///
    /// The operands of a commutative operation match in either order. Attributes of the left side's
    /// operations are ignored, those of the right side have none.
    pub const fn law(name: &'static str, left: &'static str, right: &'static str) -> Rule {
        Rule {
            name,
            action: Action::Law { left, right: Right::Pattern(right), exact: true, conditions: &[] },
        }
    }

    /// An exact law whose right side depends on attributes and sizes; `doc` describes it.
    pub const fn computed(
        name: &'static str,
        left: &'static str,
        doc: &'static str,
        compute: Compute,
    ) -> Rule {
        let right = Right::Computed(doc, compute);
        Rule { name, action: Action::Law { left, right, exact: true, conditions: &[] } }
    }

    /// The same law, restricted to matches for which all these conditions hold.
    pub const fn only(self, conditions: &'static [LawCondition]) -> Rule {
        match self.action {
            Action::Law { left, right, exact, .. } => {
                Rule { name: self.name, action: Action::Law { left, right, exact, conditions } }
            }
            Action::Code { .. } => panic!("only laws have conditions"),
        }
    }

    /// The same law, marked as exact only up to rounding: `canonicalize` does not apply it.
    pub const fn near(self) -> Rule {
        match self.action {
            Action::Law { left, right, conditions, .. } => {
                Rule { name: self.name, action: Action::Law { left, right, exact: false, conditions } }
            }
            Action::Code { .. } => panic!("only laws are near"),
        }
    }

    /// A rule in code; `doc` describes it in a sentence.
    pub const fn code(name: &'static str, doc: &'static str, roots: Roots, apply: RuleFn) -> Rule {
        Rule { name, action: Action::Code { doc, roots, apply } }
    }

    /// The law as text, or the description.
    pub fn doc(&self) -> String {
        let (what, conditions) = match self.action {
            Action::Law { left, right: Right::Pattern(right), conditions, .. } => {
                (format!("{left} => {right}"), conditions)
            }
            Action::Law { left, right: Right::Computed(doc, _), conditions, .. } => {
                (format!("{left}: {doc}"), conditions)
            }
            Action::Code { doc, .. } => return doc.to_owned(),
        };
        let conditions: Vec<&str> = conditions.iter().map(|condition| condition.doc).collect();
        match conditions.is_empty() {
            true => what,
            false => format!("{what}, where {}", conditions.join(" and ")),
        }
    }
}
