//! Arguments and results of functions: removed.

use ir::{Attr, Body, Context, Module, Op, Type, Value};

use super::search::{Search, change_each};
use super::sites::{self, BodyPath, body_at, body_at_mut};
use crate::edit::{returns, write_function_type};

/// Tries to remove results of functions.
pub(super) fn results(search: &mut Search<'_>) {
    let mut found = Vec::new();
    for path in sites::uncalled(&search.program) {
        found.extend((0..result_count(&search.program, &path)).map(|index| (path.clone(), index)));
    }
    search.halve(found, |module, found| {
        // The last ones are removed first, so that the others keep their indices.
        change_each(found.iter().rev(), |(path, index)| remove_result(module, path, *index))
    });
}

fn result_count(module: &Module, path: &[Op]) -> usize {
    let body = body_at(module, path);
    body.and_then(|body| Some(body.operand_count(*returns(&module.ctx, body).first()?))).unwrap_or(0)
}

fn remove_result(module: &mut Module, path: &[Op], index: usize) -> bool {
    let ctx = module.ctx.clone();
    let Some(body) = body_at_mut(module, path) else { return false };
    let returns = returns(&ctx, body);
    if returns.iter().any(|op| body.operand_count(*op) <= index) {
        return false;
    }
    for op in returns {
        let mut operands: Vec<Value> = body.operands(op).collect();
        operands.remove(index);
        body.set_operands(op, &operands);
    }
    edit_dicts(&ctx, body, "res_attrs", |dicts| {
        dicts.remove(index);
    });
    write_function_type(&ctx, body);
    true
}

/// Tries to remove unused arguments of functions, and to merge arguments of the same type.
pub(super) fn arguments(search: &mut Search<'_>) {
    let module = &search.program;
    let mut found: Vec<(BodyPath, Value)> = Vec::new();
    for path in sites::uncalled(module) {
        let body = body_at(module, &path).expect("the place was just found");
        let args = body.entry(body.root()).map_or(&[][..], |entry| body.args(entry));
        found.extend(args.iter().map(|arg| (path.clone(), *arg)));
    }
    search.halve(found, |module, found| {
        change_each(found.iter().rev(), |(path, arg)| remove_argument(module, path, *arg))
    });
}

fn remove_argument(module: &mut Module, path: &[Op], arg: Value) -> bool {
    let ctx = module.ctx.clone();
    let Some(body) = body_at_mut(module, path) else { return false };
    let Some(entry) = body.entry(body.root()) else { return false };
    let args = body.args(entry).to_vec();
    let Some(index) = args.iter().position(|other| *other == arg) else { return false };
    if let Some(same) = args[..index].iter().find(|other| body.ty(**other) == body.ty(arg)) {
        body.replace_uses(arg, *same);
    }
    if body.is_used(arg) {
        return false;
    }
    body.remove_arg(entry, index);
    edit_dicts(&ctx, body, "arg_attrs", |dicts| {
        dicts.remove(index);
    });
    write_function_type(&ctx, body);
    true
}

/// Adds an argument to a function.
pub(super) fn add_argument(ctx: &Context, body: &mut Body, ty: Type) -> Option<Value> {
    let entry = body.entry(body.root())?;
    let arg = body.add_arg(entry, ty);
    edit_dicts(ctx, body, "arg_attrs", |dicts| dicts.push(Attr::EMPTY));
    write_function_type(ctx, body);
    Some(arg)
}

/// Changes the dictionaries of a function's arguments or results, if it has some.
fn edit_dicts(ctx: &Context, body: &mut Body, key: &str, edit: impl FnOnce(&mut Vec<Attr>)) {
    let key = ctx.ident(key);
    let dicts = ctx.dict_get(body.properties, key).and_then(|attr| ctx.array_value(attr));
    if let Some(dicts) = dicts {
        let mut dicts = dicts.to_vec();
        edit(&mut dicts);
        body.properties = ctx.dict_set(body.properties, key, ctx.array_attr(&dicts));
    }
}
