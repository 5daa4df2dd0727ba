//! What a rule is, and which rules look at an operation.

use ir::opdef::{Flow, OpDef};
use ir::{Kind, Op, Traits};
use rustc_hash::FxHashMap;

use super::terms::{Found, Term, Terms};
use super::{Applied, Law, Rewriter};

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
    Flow(Flow),
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
    },
    /// What a function does to an operation where it stands; only `canonicalize` applies it.
    Code {
        /// What it does, in a sentence.
        doc: &'static str,
        /// Which operations it looks at.
        roots: Roots,
        /// What does it.
        apply: Apply,
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

/// Makes the right side of a law; none where it does not apply.
pub type Compute = fn(&mut dyn Terms<'_>, &Found) -> Option<Term>;

/// Applies a rule to its root; none, and nothing changed, if it does not apply.
pub type Apply = fn(&mut Rewriter<'_>, Op) -> Option<Applied>;

impl Rule {
    /// An exact law: wherever the left side stands, the right side computes the same, to the bit.
    ///
    /// ```text
    /// (nn.mul ?x (nn.sigmoid ?x))   an operation with its operands; the same variable stands for the same value
    /// $w                            a variable that takes only what is known before the program runs
    /// 0.5                           a constant all of whose elements are this number
    /// ```
    ///
    /// The operands of a commutative operation match in either order. Attributes of the left side's
    /// operations are ignored, those of the right side have none.
    pub const fn law(name: &'static str, left: &'static str, right: &'static str) -> Rule {
        Rule { name, action: Action::Law { left, right: Right::Pattern(right), exact: true } }
    }

    /// An exact law whose right side, and where it applies, depends on attributes and sizes; `doc` says how
    /// in a sentence.
    pub const fn computed(
        name: &'static str,
        left: &'static str,
        doc: &'static str,
        compute: Compute,
    ) -> Rule {
        Rule { name, action: Action::Law { left, right: Right::Computed(doc, compute), exact: true } }
    }

    /// The law as one that holds for numbers as they round, not to the bit: only `simplify` applies it.
    pub const fn near(self) -> Rule {
        match self.action {
            Action::Law { left, right, .. } => {
                Rule { name: self.name, action: Action::Law { left, right, exact: false } }
            }
            Action::Code { .. } => panic!("only laws are near"),
        }
    }

    /// A rule that a function applies; `doc` says in a sentence what it does.
    pub const fn code(name: &'static str, doc: &'static str, roots: Roots, apply: Apply) -> Rule {
        Rule { name, action: Action::Code { doc, roots, apply } }
    }

    /// What it does: the law, or a sentence.
    pub fn doc(&self) -> String {
        match self.action {
            Action::Law { left, right: Right::Pattern(right), .. } => format!("{left} => {right}"),
            Action::Law { left, right: Right::Computed(doc, _), .. } => format!("{left}: {doc}"),
            Action::Code { doc, .. } => doc.to_owned(),
        }
    }
}

/// Rules, ready to be applied: those of one operation, in the order in which they were added.
#[derive(Clone, Default)]
pub struct RuleSet {
    rules: Vec<Prepared>,
    by_name: FxHashMap<&'static str, Vec<usize>>,
    general: Vec<usize>,
}

#[derive(Clone)]
enum Prepared {
    Law(Law),
    Code(&'static Rule, Roots, Apply),
}

impl RuleSet {
    /// Adds a rule. A name that is taken, and a law that can't be read, are defects of whoever adds it.
    pub fn add(&mut self, rule: &'static Rule) {
        assert!(self.iter().all(|known| known.name != rule.name), "two rules are named `{}`", rule.name);
        let index = self.rules.len();
        match rule.action {
            Action::Law { left, right, exact } => {
                let mut law = Law::read(rule, left, right);
                law.is_exact = exact;
                if exact {
                    self.by_name.entry(law.root()).or_default().push(index);
                }
                self.rules.push(Prepared::Law(law));
            }
            Action::Code { roots, apply, .. } => {
                match roots {
                    Roots::Op(name) => self.by_name.entry(name).or_default().push(index),
                    _ => self.general.push(index),
                }
                self.rules.push(Prepared::Code(rule, roots, apply));
            }
        }
    }

    /// All rules, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &'static Rule> + '_ {
        self.rules.iter().map(Prepared::rule)
    }

    /// All laws, exact or not, in the order in which they were added.
    pub fn laws(&self) -> impl Iterator<Item = &Law> {
        self.rules.iter().filter_map(|prepared| match prepared {
            Prepared::Law(law) => Some(law),
            Prepared::Code(..) => None,
        })
    }

    /// The numbers of the rules that `canonicalize` tries at operations of a row: exact laws, and code.
    pub(super) fn of(&self, def: &'static OpDef) -> Vec<usize> {
        let named = self.by_name.get(def.name).into_iter().flatten().copied();
        let looks = |index: &&usize| match self.rules[**index] {
            Prepared::Code(_, Roots::Traits(traits), _) => def.traits.contains(traits),
            Prepared::Code(_, Roots::Flow(flow), _) => matches!(def.kind, Kind::Region(kind) if kind == flow),
            Prepared::Code(_, Roots::Branch, _) => matches!(def.kind, Kind::Branch(_)),
            Prepared::Code(_, Roots::Op(_), _) | Prepared::Law(_) => false,
        };
        let mut rules: Vec<usize> = named.chain(self.general.iter().filter(looks).copied()).collect();
        rules.sort_unstable();
        rules
    }

    /// The name of a rule.
    pub(super) fn name(&self, rule: usize) -> &'static str {
        self.rules[rule].rule().name
    }

    /// Applies a rule to an operation.
    pub(super) fn apply(&self, rule: usize, rewriter: &mut Rewriter<'_>, op: Op) -> Option<Applied> {
        match &self.rules[rule] {
            Prepared::Law(law) => rewriter.apply(law, op),
            Prepared::Code(_, _, apply) => apply(rewriter, op),
        }
    }
}

impl Prepared {
    fn rule(&self) -> &'static Rule {
        match self {
            Prepared::Law(law) => law.rule,
            Prepared::Code(rule, ..) => rule,
        }
    }
}
