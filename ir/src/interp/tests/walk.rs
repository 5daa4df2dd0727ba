//! Interpreted functions, calls and groups.

use std::sync::Arc;

use super::*;
use crate::attrs::AttrData;
use crate::entities::{Block, Location, Op};
use crate::interp::run;
use crate::module::Module;

/// Adds a function with `arg_count` numbers as arguments, whose body `fill` writes.
fn add_function(
    module: &mut Module,
    name: &str,
    arg_count: usize,
    fill: impl FnOnce(&Context, &mut Body, Block),
) {
    let ctx = module.ctx.clone();
    let mut body = Body::new(1);
    let block = body.add_block(body.root());
    for _ in 0..arg_count {
        body.add_arg(block, ctx.f32());
    }
    fill(&ctx, &mut body, block);
    let place = module.block();
    let top = module.body_mut();
    let op = top.make_op(ctx.op_name("func.func"), &[], &[], Location::UNKNOWN);
    top.append(op, place);
    top.set_child(op, body);
    top.set_attr(&ctx, op, "sym_name", ctx.str_attr(name));
}

fn append(
    ctx: &Context,
    body: &mut Body,
    block: Block,
    name: &str,
    operands: &[Value],
    results: usize,
) -> Op {
    let op = body.make_op(ctx.op_name(name), operands, &vec![ctx.f32(); results], ctx.name_location("here"));
    body.append(op, block);
    op
}

fn call(ctx: &Context, body: &mut Body, block: Block, callee: &str, operands: &[Value]) -> Value {
    let op = append(ctx, body, block, "func.call", operands, 1);
    let callee = AttrData::SymbolRef { root: ctx.ident(callee), nested: Box::default() };
    body.set_attr(ctx, op, "callee", ctx.attr(callee));
    body.result(op, 0)
}

fn number(ctx: &Context, value: f32) -> Tensor {
    Tensor::new(ctx, ctx.f32(), value.to_le_bytes().to_vec())
}

#[test]
fn a_call_runs_the_function_it_names() {
    let mut module = Module::new(Arc::new(Context::new()));
    add_function(&mut module, "square", 1, |ctx, body, block| {
        let x = body.args(block)[0];
        let op = append(ctx, body, block, "nn.mul", &[x, x], 1);
        append(ctx, body, block, "func.return", &[body.result(op, 0)], 0);
    });
    add_function(&mut module, "main", 2, |ctx, body, block| {
        let [x, y] = [body.args(block)[0], body.args(block)[1]];
        let squared = call(ctx, body, block, "square", &[x]);
        let op = append(ctx, body, block, "nn.sub", &[squared, y], 1);
        append(ctx, body, block, "func.return", &[body.result(op, 0), x], 0);
    });
    let results = run(&module, "main", &[number(&module.ctx, 3.0), number(&module.ctx, 2.0)]).unwrap();
    assert_eq!(results.iter().map(text).collect::<Vec<_>>(), ["7", "3"]);
}

#[test]
fn endless_calls_and_unknown_names_are_told() {
    let mut module = Module::new(Arc::new(Context::new()));
    add_function(&mut module, "main", 1, |ctx, body, block| {
        let x = body.args(block)[0];
        let result = call(ctx, body, block, "main", &[x]);
        append(ctx, body, block, "func.return", &[result], 0);
    });
    let x = number(&module.ctx, 1.0);
    let error = run(&module, "main", std::slice::from_ref(&x)).unwrap_err();
    assert_eq!(error.message, "calls nest deeper than 256");
    assert_eq!(error.location, module.ctx.name_location("here"));
    let error = run(&module, "mein", &[x]).unwrap_err();
    assert_eq!(error.message, "no function is called `@mein`");
    assert_eq!(error.help.as_deref(), Some("did you mean `main`?"));
    let error = run(&module, "main", &[]).unwrap_err();
    assert_eq!(error.message, "the function takes 1 arguments, 0 were given");
}

#[test]
fn an_operation_that_nobody_defines_is_told_with_its_place() {
    let mut module = Module::new(Arc::new(Context::new()));
    add_function(&mut module, "main", 0, |ctx, body, block| {
        let op = append(ctx, body, block, "other.thing", &[], 1);
        append(ctx, body, block, "func.return", &[body.result(op, 0)], 0);
    });
    let error = run(&module, "main", &[]).unwrap_err();
    assert_eq!(error.message, "`other.thing`: is not registered, so nothing says what it computes");
    assert!(error.render(&module.ctx).contains("`here`"), "{}", error.render(&module.ctx));
}

#[test]
fn a_group_computes_what_its_body_yields() {
    let ctx = Context::new();
    let mut body = Body::new(1);
    let block = body.add_block(body.root());
    let x = body.add_arg(block, ctx.f32());
    let group = append(&ctx, &mut body, block, "optc.group", &[x, x], 1);
    let region = body.add_op_region(group);
    let inside = body.add_block(region);
    let (a, b) = (body.add_arg(inside, ctx.f32()), body.add_arg(inside, ctx.f32()));
    let sum = append(&ctx, &mut body, inside, "nn.add", &[a, b], 1);
    let sum = body.result(sum, 0);
    let square = append(&ctx, &mut body, inside, "nn.square", &[sum], 1);
    let square = body.result(square, 0);
    append(&ctx, &mut body, inside, "optc.yield", &[square], 0);
    let results = eval_op(body.at(&ctx, group), &[number(&ctx, 1.5), number(&ctx, 2.0)]).unwrap();
    assert_eq!(text(&results[0]), "12.25");
}
