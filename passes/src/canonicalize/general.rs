//! Rules for all operations with certain traits.

use ir::{Op, Traits};

use crate::rewrite::{Applied, Rewriter, Roots, Rule};

/// The rules.
pub(super) static RULES: &[Rule] = &[
    Rule::code(
        "constant-last",
        "The constant operand of a commutative operation comes last.",
        Roots::Traits(Traits::COMMUTATIVE),
        constant_last,
    ),
    Rule::code(
        "idempotent",
        "An idempotent operation is not applied to its own result.",
        Roots::Traits(Traits::IDEMPOTENT),
        idempotent,
    ),
];

fn constant_last(rewriter: &mut Rewriter<'_>, op: Op) -> Option<Applied> {
    let body = rewriter.body();
    let is_constant =
        |value: ir::Value| body.defining_op(value).is_some_and(|op| rewriter.at(op).has(Traits::CONSTANT));
    let (a, b) = (body.operand(op, 0), body.operand(op, 1));
    (is_constant(a) && !is_constant(b)).then(|| {
        rewriter.update(op, |_, body| {
            body.set_operand(op, 0, b);
            body.set_operand(op, 1, a);
        })
    })
}

fn idempotent(rewriter: &mut Rewriter<'_>, op: Op) -> Option<Applied> {
    let body = rewriter.body();
    let inner = body.operand(op, 0);
    let made_by = body.defining_op(inner)?;
    let is_same = body.name(made_by) == body.name(op)
        && body.properties(made_by) == body.properties(op)
        && body.operand_count(op) == 1
        && body.ty(inner) == body.ty(body.result(op, 0));
    is_same.then(|| rewriter.replace(op, &[inner]))
}
