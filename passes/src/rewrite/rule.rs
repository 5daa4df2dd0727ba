//! What a rule is, and which rules look at an operation.

use ir::opdef::{Flow, OpDef};
use ir::{Kind, Op, Traits};
use rustc_hash::FxHashMap;

use super::law::Law;
use super::{Applied, Rewriter};

/// A rule that makes a program simpler.
pub struct Rule {
    /// Its name in statistics, and where rules do not come to an end.
    pub name: &'static str,
    /// Which operations it looks at.
    pub roots: Roots,
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
    /// All that are registered.
    All,
}

/// What a rule does.
#[derive(Clone, Copy)]
pub enum Action {
    /// Puts the second pattern in the place of the first, if it has the same type: see [`Rule::law`].
    Law(&'static str, &'static str),
    /// What the text says; none if it does not apply.
    Code(&'static str, Apply),
}

/// Applies a rule to its root; none, and nothing changed, if it does not apply.
pub type Apply = fn(&mut Rewriter<'_>, Op) -> Option<Applied>;

impl Rule {
    /// A law: wherever the left side stands, the right side computes the same.
    ///
    /// ```text
    /// (nn.mul ?x (nn.sigmoid ?x))   an operation with its operands; the same variable stands for the same value
    /// $w                            a variable that takes only constants
    /// 0.5                           a constant all of whose elements are exactly this number
    /// ```
    ///
    /// The operands of a commutative operation match in either order. Attributes of the left side's operations are ignored,
    /// those of the right side have none.
    pub const fn law(name: &'static str, left: &'static str, right: &'static str) -> Rule {
        Rule { name, roots: Roots::All, action: Action::Law(left, right) }
    }

    /// A rule that a function applies; `doc` says in a sentence what it does.
    pub const fn code(name: &'static str, doc: &'static str, roots: Roots, apply: Apply) -> Rule {
        Rule { name, roots, action: Action::Code(doc, apply) }
    }

    /// What it does: the law, or a sentence.
    pub fn doc(&self) -> String {
        match self.action {
            Action::Law(left, right) => format!("{left} => {right}"),
            Action::Code(doc, _) => doc.to_owned(),
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
struct Prepared {
    rule: &'static Rule,
    law: Option<Law>,
}

impl RuleSet {
    /// Adds a rule. A name that is taken, and a law that can't be read, are defects of whoever adds it.
    pub fn add(&mut self, rule: &'static Rule) {
        assert!(self.iter().all(|known| known.name != rule.name), "two rules are named `{}`", rule.name);
        let law = match rule.action {
            Action::Law(left, right) => Some(Law::read(left, right)),
            Action::Code(..) => None,
        };
        let name = match (&law, rule.roots) {
            (Some(law), _) => Some(law.root()),
            (None, Roots::Op(name)) => Some(name),
            (None, _) => None,
        };
        let index = self.rules.len();
        match name {
            Some(name) => self.by_name.entry(name).or_default().push(index),
            None => self.general.push(index),
        }
        self.rules.push(Prepared { rule, law });
    }

    /// All rules, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &'static Rule> + '_ {
        self.rules.iter().map(|prepared| prepared.rule)
    }

    /// The numbers of the rules that look at operations of a row.
    pub(super) fn of(&self, def: &'static OpDef) -> Vec<usize> {
        let named = self.by_name.get(def.name).into_iter().flatten().copied();
        let looks = |index: &&usize| match self.rules[**index].rule.roots {
            Roots::Traits(traits) => def.traits.contains(traits),
            Roots::Flow(flow) => matches!(def.kind, Kind::Region(kind) if kind == flow),
            Roots::Branch => matches!(def.kind, Kind::Branch(_)),
            Roots::All | Roots::Op(_) => true,
        };
        let mut rules: Vec<usize> = named.chain(self.general.iter().filter(looks).copied()).collect();
        rules.sort_unstable();
        rules
    }

    /// The name of a rule.
    pub(super) fn name(&self, rule: usize) -> &'static str {
        self.rules[rule].rule.name
    }

    /// Applies a rule to an operation.
    pub(super) fn apply(&self, rule: usize, rewriter: &mut Rewriter<'_>, op: Op) -> Option<Applied> {
        match (&self.rules[rule].law, self.rules[rule].rule.action) {
            (Some(law), _) => law.apply(rewriter, op),
            (None, Action::Code(_, apply)) => apply(rewriter, op),
            (None, Action::Law(..)) => unreachable!("a law was read when it was added"),
        }
    }
}
