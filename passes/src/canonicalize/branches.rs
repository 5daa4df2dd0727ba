//! Rules for branches with a known target.

use ir::opdef::Branch;
use ir::{Kind, Op, branch};

use crate::branches::{go_to, handed, targets};
use crate::rewrite::{Applied, Rewriter, Roots, Rule};

/// The rules.
pub(super) static RULES: &[Rule] = &[
    Rule::code(
        "branch-of-constant",
        "A branch on a constant becomes unconditional.",
        Roots::Branch,
        branch_of_constant,
    ),
    Rule::code(
        "branch-to-one-block",
        "A branch whose successors are all equal becomes unconditional.",
        Roots::Branch,
        branch_to_one_block,
    ),
];

fn branch_of_constant(rewriter: &mut Rewriter<'_>, op: Op) -> Option<Applied> {
    if let Kind::Branch(Branch::Always) = rewriter.at(op).kind() {
        return None;
    }
    let flag = rewriter.constant(rewriter.body().operand(op, 0))?;
    let taken = branch::taken(rewriter.at(op), Some(&flag)).ok()?;
    let block = rewriter.body().successors(op)[taken].block;
    let args = handed(rewriter.body(), op, taken);
    Some(rewriter.update(op, |ctx, body| go_to(ctx, body, op, block, &args)))
}

fn branch_to_one_block(rewriter: &mut Rewriter<'_>, op: Op) -> Option<Applied> {
    let targets = targets(rewriter.body(), op);
    let (block, args) = targets.first()?;
    let is_one = targets.iter().all(|target| (&target.0, &target.1) == (block, args));
    let is_always = matches!(rewriter.at(op).kind(), Kind::Branch(Branch::Always));
    (is_one && !is_always).then(|| rewriter.update(op, |ctx, body| go_to(ctx, body, op, *block, args)))
}
