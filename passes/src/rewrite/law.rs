//! Where a law's left side stands in a body, and how its right side is made there.

use ir::{Op, Traits, Value};

use super::{Applied, Rewriter};
use crate::constants;
use crate::pattern::{Pattern, Reader};

/// A law, ready to be applied.
#[derive(Clone)]
pub(super) struct Law {
    left: Pattern,
    right: Pattern,
}

/// What the variables stand for, in the order of their first appearance.
type Bindings = Vec<Value>;

impl Law {
    pub(super) fn read(left: &'static str, right: &'static str) -> Law {
        let mut reader = Reader::default();
        Law { left: reader.read(left), right: reader.read(right) }
    }

    /// The name of the operations that it looks at.
    pub(super) fn root(&self) -> &'static str {
        self.left.root()
    }

    pub(super) fn apply(&self, rewriter: &mut Rewriter<'_>, op: Op) -> Option<Applied> {
        let Pattern::Op(_, children) = &self.left else { return None };
        if rewriter.body().result_count(op) != 1 {
            return None;
        }
        let found = match_op(rewriter, children, op, Bindings::new(), Vec::new())?;
        let ty = rewriter.body().ty(rewriter.body().result(op, 0));
        let right = match &self.right {
            Pattern::Number(number) => {
                let value = constants::filled(rewriter.ctx(), ty, *number)?;
                rewriter.constant_before(op, value, ty)?
            }
            right => build(rewriter, right, op, &found)?,
        };
        (rewriter.body().ty(right) == ty).then(|| rewriter.replace(op, &[right]))
    }
}

/// Matches an operation's operands, and then what is left to match; the first way in which all of it holds.
fn match_op(
    rewriter: &Rewriter<'_>,
    patterns: &[Pattern],
    op: Op,
    found: Bindings,
    rest: Vec<(&Pattern, Value)>,
) -> Option<Bindings> {
    let operands: Vec<Value> = rewriter.body().operands(op).collect();
    if operands.len() != patterns.len() {
        return None;
    }
    let with = |operands: &[Value]| {
        let goals = patterns.iter().zip(operands.iter().copied()).rev();
        match_all(rewriter, rest.iter().copied().chain(goals).collect(), found.clone())
    };
    let found_straight = with(&operands);
    match operands[..] {
        [a, b] if found_straight.is_none() && rewriter.at(op).has(Traits::COMMUTATIVE) => with(&[b, a]),
        _ => found_straight,
    }
}

/// Matches all goals, the last first.
fn match_all(
    rewriter: &Rewriter<'_>,
    mut goals: Vec<(&Pattern, Value)>,
    mut found: Bindings,
) -> Option<Bindings> {
    let Some((pattern, value)) = goals.pop() else { return Some(found) };
    let (ctx, body) = (rewriter.ctx(), rewriter.body());
    let holds = match pattern {
        Pattern::Weight(_) if constants::of_value(ctx, body, value).is_none() => false,
        Pattern::Var(index) | Pattern::Weight(index) => match found.get(*index) {
            Some(bound) => *bound == value,
            None => {
                found.push(value);
                true
            }
        },
        Pattern::Number(number) => constants::tensor(ctx, body, value)
            .is_some_and(|value| constants::is_filled(&value, ctx, *number)),
        Pattern::Op(name, children) => {
            let op = body.defining_op(value)?;
            let is_named = rewriter.at(op).name() == *name && body.result_count(op) == 1;
            return is_named.then(|| match_op(rewriter, children, op, found, goals))?;
        }
    };
    holds.then(|| match_all(rewriter, goals, found))?
}

/// Makes a right side before `op`; none if a row refuses its operands.
fn build(rewriter: &mut Rewriter<'_>, pattern: &Pattern, op: Op, found: &Bindings) -> Option<Value> {
    match pattern {
        Pattern::Var(index) | Pattern::Weight(index) => Some(found[*index]),
        Pattern::Number(number) => {
            let ty = rewriter.body().ty(*found.first()?);
            let value = constants::filled(rewriter.ctx(), ty, *number)?;
            rewriter.constant_before(op, value, ty)
        }
        Pattern::Op(name, children) => {
            let mut operands = Vec::with_capacity(children.len());
            for child in children {
                operands.push(build(rewriter, child, op, found)?);
            }
            rewriter.value_before(op, name, &operands, &[])
        }
    }
}
