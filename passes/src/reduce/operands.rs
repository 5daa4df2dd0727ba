//! Operands: replaced by arguments, or removed.

use std::collections::BTreeSet;

use ir::opdef::{Arity, OperandDef};
use ir::{Module, Value};

use super::operations::{Arguments, from_outside};
use super::retype::infer_again;
use super::search::{Search, change_each};
use super::sites::{self, BodyPath, OpSite, body_at, body_at_mut};

/// Tries to remove operands, and to replace computed operands by arguments.
pub(super) fn run(search: &mut Search<'_>) {
    let may_lack = operands(&search.program, |module, site, _| {
        let body = body_at(module, &site.path).expect("the place was just found");
        let is_open = |operand: &OperandDef| operand.arity != Arity::One;
        body.is_plain(site.op)
            && body.at(&module.ctx, site.op).def().is_some_and(|def| def.operands.iter().any(is_open))
    });
    search.halve(may_lack, |module, found| {
        // The last ones are removed first, so that the others keep their indices.
        change_each(found.iter().rev(), |(site, index)| leave_out(module, site, *index))
    });
    let computed = operands(&search.program, |module, site, index| {
        let body = body_at(module, &site.path).expect("the place was just found");
        body.defining_op(body.operand(site.op, index)).is_some()
    });
    let open = sites::uncalled(&search.program);
    search.halve(computed, |module, found| {
        change_each(found.iter(), |(site, index)| cut(module, site, *index, &open))
    });
}

/// The operands of all operations that satisfy a condition.
fn operands(module: &Module, holds: impl Fn(&Module, &OpSite, usize) -> bool) -> Vec<(OpSite, usize)> {
    let mut found = Vec::new();
    for site in sites::sites(module) {
        let body = body_at(module, &site.path).expect("the place was just found");
        let indices = (0..body.operand_count(site.op)).filter(|index| holds(module, &site, *index));
        found.extend(indices.map(|index| (site.clone(), index)));
    }
    found
}

fn leave_out(module: &mut Module, site: &OpSite, index: usize) -> bool {
    let ctx = module.ctx.clone();
    let Some(body) = body_at_mut(module, &site.path) else { return false };
    if index >= body.operand_count(site.op) {
        return false;
    }
    let mut operands: Vec<Value> = body.operands(site.op).collect();
    operands.remove(index);
    body.set_operands(site.op, &operands);
    infer_again(&ctx, body).is_some()
}

/// Replaces an operand by a value that no operation computes.
fn cut(module: &mut Module, site: &OpSite, index: usize, open: &BTreeSet<BodyPath>) -> bool {
    let ctx = module.ctx.clone();
    let Some(body) = body_at_mut(module, &site.path) else { return false };
    let arguments = Arguments::of(open, &site.path);
    if arguments == Arguments::Given {
        return false;
    }
    let ty = body.ty(body.operand(site.op, index));
    let Some(value) = from_outside(&ctx, body, site.op, ty, arguments) else { return false };
    body.set_operand(site.op, index, value);
    true
}
