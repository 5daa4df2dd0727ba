//! That wrong plans, and operations without code, are reported with their location.

use ir::plan::attrs;
use ir::{Attr, Context, Module};

use crate::testing::Net;
use crate::{CodegenOptions, compile};

/// `relu(neg(x))` of 8 numbers, planned; `edit` changes attributes of the two operations.
fn edited(edit: impl Fn(&Context) -> [(usize, &'static str, Attr); 1]) -> Module {
    let mut net = Net::f32(&[&[8]]);
    let first = net.op("nn.neg", &[net.arg(0)], &[]);
    let second = net.op("nn.relu", &[first], &[]);
    let mut module = net.plan(&[second], 2);
    let ctx = module.ctx.clone();
    let func = module.functions().next().unwrap().0;
    let body = module.body_mut().child_mut(func).unwrap();
    let block = body.entry(body.root()).unwrap();
    for (number, name, value) in edit(&ctx) {
        let op = body.ops(block).nth(number).unwrap();
        body.set_attr(&ctx, op, name, value);
    }
    module
}

fn place(ctx: &Context, pool: &str, number: i64, bytes: i64) -> Attr {
    let entry = ctx.array_attr(&[ctx.str_attr(pool), ctx.int_attr(number), ctx.int_attr(bytes)]);
    ctx.array_attr(&[entry])
}

fn refuses(module: &Module, expected: &str) {
    let faults = compile(module, "main", &CodegenOptions::new(2)).expect_err(expected);
    let text: String = faults.iter().map(|fault| fault.render(&module.ctx)).collect();
    assert!(text.contains(expected), "{text}");
}

#[test]
fn a_place_that_elements_can_not_have_is_refused() {
    refuses(
        &edited(|ctx| [(0, attrs::MEM_PLACE, place(ctx, "arena", 1, 32))]),
        "which is no multiple of its element's size",
    );
}

#[test]
fn a_place_outside_the_arena_is_refused() {
    refuses(
        &edited(|ctx| [(0, attrs::MEM_PLACE, place(ctx, "arena", 64, 32))]),
        "puts 32 bytes at 64 of the pool `arena` of",
    );
}

#[test]
fn a_place_that_is_too_small_is_refused() {
    refuses(
        &edited(|ctx| [(0, attrs::MEM_PLACE, place(ctx, "arena", 0, 28))]),
        "gives result 0 28 bytes, expected 32",
    );
}

#[test]
fn an_unknown_pool_is_refused() {
    refuses(&edited(|ctx| [(0, attrs::MEM_PLACE, place(ctx, "heap", 0, 32))]), "names the pool `heap`");
}

#[test]
fn an_entry_that_is_no_place_is_refused() {
    refuses(
        &edited(|ctx| [(0, attrs::MEM_PLACE, ctx.array_attr(&[ctx.int_attr(3)]))]),
        "not [pool, offset, bytes]",
    );
}

#[test]
fn a_missing_place_is_refused() {
    refuses(&edited(|ctx| [(0, attrs::MEM_PLACE, ctx.array_attr(&[]))]), "lacks result 0");
}

#[test]
fn an_input_that_is_not_donated_is_not_overwritten() {
    refuses(
        &edited(|ctx| [(0, attrs::MEM_TIE, ctx.ints_attr(&[0]))]),
        "elsewhere than the operand that it is tied to",
    );
    refuses(&edited(|ctx| [(0, attrs::MEM_PLACE, place(ctx, "in", 0, 32))]), "not donated");
}

#[test]
fn a_result_must_be_placed_where_the_caller_looks() {
    let text = "returned value 0 is not placed in output 0";
    refuses(&edited(|ctx| [(1, attrs::MEM_PLACE, place(ctx, "arena", 0, 32))]), text);
}

#[test]
fn an_unknown_function_is_told() {
    let module = edited(|ctx| [(0, "mem.note", ctx.unit_attr())]);
    let faults = compile(&module, "mian", &CodegenOptions::new(2)).expect_err("there is no such function");
    assert!(faults[0].message.contains("`mian`"), "{}", faults[0].message);
}

#[test]
fn an_operation_without_code_is_named_with_its_types() {
    let ctx = std::sync::Arc::new(Context::new());
    let mut net = Net::new(&[(&[8, 4], ctx.float(ir::FloatKind::F16))], ctx.clone());
    let y = net.op("nn.cum_sum", &[net.arg(0)], &[("axis", ctx.int_attr(1))]);
    let module = net.plan(&[y], 2);
    refuses(&module, "no machine code for `nn.cum_sum` of (tensor<8x4xf16>)");
}
