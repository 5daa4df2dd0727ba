//! What a rule is.

use ir::opdef::RegionFlow;
use ir::{Op, Traits};

use super::terms::{LawMatch, Term, Terms};
use super::{Applied, Rewriter};

/// A rule that makes a program simpler.
#[derive(Clone, Copy)]
pub struct Rule {
    /// Its name in statistics, and where rules do not come to an end.
    pub name: &'static str,
    /// What it does.
    pub action: Action,
}

/// Which operations a rule looks at.
#[derive(Clone, Copy, Debug)]
pub enum Roots {
    /// Those of this name.
    Op(&'static str),
    /// Those of all these traits.
    Traits(Traits),
    /// Control flow of this kind through regions.
    Flow(RegionFlow),
    /// All that end a block and go on in another.
    Branch,
}

/// What a rule does.
#[derive(Clone, Copy)]
pub enum Action {
    /// Two sides that compute the same.
    Law {
        /// The pattern that is looked for: see [`Rule::law`].
        left: &'static str,
        /// What may stand in its place, if it has the same type.
        right: Right,
        /// Whether both sides are equal to the bit for all inputs, infinities and zeros of either sign
        /// included, and NaN on the same ones.
        exact: bool,
        /// What must hold beside for the law to apply.
        conditions: &'static [LawCondition],
    },
    /// What a function does to an operation where it stands; only `canonicalize` applies it.
    Code {
        /// What it does, in a sentence.
        doc: &'static str,
        /// Which operations it looks at.
        roots: Roots,
        /// What does it.
        apply: RuleFn,
    },
}

/// The right side of a law.
#[derive(Clone, Copy)]
pub enum Right {
    /// A pattern.
    Pattern(&'static str),
    /// What a function makes, and in a sentence what that is and where.
    Computed(&'static str, Compute),
}

/// What must hold of what the left side of a law found. Without it, the sides of the law differ somewhere.
#[derive(Clone, Copy)]
pub struct LawCondition {
    /// What it asks, as the end of a sentence that begins with "where".
    pub doc: &'static str,
    /// Whether it holds.
    pub holds: fn(&dyn Terms<'_>, &LawMatch) -> bool,
}

/// Makes the right side of a law; none where there is none.
pub type Compute = fn(&mut dyn Terms<'_>, &LawMatch) -> Option<Term>;

/// Applies a rule to its root; none, and nothing changed, if it does not apply.
pub type RuleFn = fn(&mut Rewriter<'_>, Op) -> Option<Applied>;

impl Rule {
    /// An exact law: wherever the left side stands, the right side computes the same, to the bit.
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

    /// An exact law whose right side depends on attributes and sizes; `doc` says what it is.
    pub const fn computed(
        name: &'static str,
        left: &'static str,
        doc: &'static str,
        compute: Compute,
    ) -> Rule {
        let right = Right::Computed(doc, compute);
        Rule { name, action: Action::Law { left, right, exact: true, conditions: &[] } }
    }

    /// The law as one that applies where all these conditions hold.
    pub const fn only(self, conditions: &'static [LawCondition]) -> Rule {
        match self.action {
            Action::Law { left, right, exact, .. } => {
                Rule { name: self.name, action: Action::Law { left, right, exact, conditions } }
            }
            Action::Code { .. } => panic!("only laws have conditions"),
        }
    }

    /// The law as one that holds for numbers as they round, not to the bit: only `simplify` applies it.
    pub const fn near(self) -> Rule {
        match self.action {
            Action::Law { left, right, conditions, .. } => {
                Rule { name: self.name, action: Action::Law { left, right, exact: false, conditions } }
            }
            Action::Code { .. } => panic!("only laws are near"),
        }
    }

    /// A rule that a function applies; `doc` says in a sentence what it does.
    pub const fn code(name: &'static str, doc: &'static str, roots: Roots, apply: RuleFn) -> Rule {
        Rule { name, action: Action::Code { doc, roots, apply } }
    }

    /// What it does: the law, or a sentence.
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
