//! Rule sets, indexed by the operations that rules may match.

use ir::opdef::OpDef;
use ir::{Kind, Op};
use rustc_hash::FxHashMap;

use super::rule::{Action, Roots, Rule, RuleFn};
use super::{Applied, Law, Rewriter};

/// A set of rules, indexed by the operations that they match; rules for the same operation apply in the order
/// in which they were added.
#[derive(Clone, Default)]
pub struct RuleSet {
    rules: Vec<PreparedRule>,
    by_name: FxHashMap<&'static str, Vec<usize>>,
    general: Vec<usize>,
}

#[derive(Clone)]
enum PreparedRule {
    Law(Law),
    Code(&'static Rule, Roots, RuleFn),
}

impl RuleSet {
    /// Adds a rule. A duplicate name, or a law that can't be parsed, is a defect of the caller.
    pub fn add(&mut self, rule: &'static Rule) {
        assert!(self.iter().all(|known| known.name != rule.name), "two rules are named `{}`", rule.name);
        let index = self.rules.len();
        match rule.action {
            Action::Law { left, right, exact, conditions } => {
                let mut law = Law::read(rule, left, right);
                law.is_exact = exact;
                law.conditions = conditions.iter().collect();
                if exact {
                    self.by_name.entry(law.root()).or_default().push(index);
                }
                self.rules.push(PreparedRule::Law(law));
            }
            Action::Code { roots, apply, .. } => {
                match roots {
                    Roots::Op(name) => self.by_name.entry(name).or_default().push(index),
                    _ => self.general.push(index),
                }
                self.rules.push(PreparedRule::Code(rule, roots, apply));
            }
        }
    }

    /// All rules, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &'static Rule> + '_ {
        self.rules.iter().map(PreparedRule::rule)
    }

    /// All laws, exact or not, in the order in which they were added.
    pub fn laws(&self) -> impl Iterator<Item = &Law> {
        self.rules.iter().filter_map(|prepared| match prepared {
            PreparedRule::Law(law) => Some(law),
            PreparedRule::Code(..) => None,
        })
    }

    /// The indices of the rules that `canonicalize` tries for an `OpDef`: exact laws, and code.
    pub(super) fn of(&self, def: &'static OpDef) -> Vec<usize> {
        let named = self.by_name.get(def.name).into_iter().flatten().copied();
        let looks = |index: &&usize| match self.rules[**index] {
            PreparedRule::Code(_, Roots::Traits(traits), _) => def.traits.contains(traits),
            PreparedRule::Code(_, Roots::Flow(flow), _) => {
                matches!(def.kind, Kind::Region(kind) if kind == flow)
            }
            PreparedRule::Code(_, Roots::Branch, _) => matches!(def.kind, Kind::Branch(_)),
            PreparedRule::Code(_, Roots::Op(_), _) | PreparedRule::Law(_) => false,
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
            PreparedRule::Law(law) => law.apply(rewriter, op),
            PreparedRule::Code(_, _, apply) => apply(rewriter, op),
        }
    }
}

impl PreparedRule {
    fn rule(&self) -> &'static Rule {
        match self {
            PreparedRule::Law(law) => law.rule,
            PreparedRule::Code(rule, ..) => rule,
        }
    }
}
