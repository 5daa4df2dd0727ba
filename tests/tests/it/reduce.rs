//! That failing programs are reduced to small ones, for every failing operation.

use ir::{Body, Context, Module, Op, text};
use optc::{LoadOptions, parse};
use passes::reduce::{ReduceOptions, op_count, reduce};
use tests::examples::program;

/// Whether a body contains an operation of this name, at any depth.
fn holds(ctx: &Context, body: &Body, name: &str) -> bool {
    let is_it = |op: Op| ctx.op_name_str(body.name(op)) == name;
    body.all_blocks().flat_map(|block| body.ops(block)).any(is_it)
        || body.children().any(|(_, child)| holds(ctx, child, name))
}

/// The operations that an operation needs: the called function, the loop of a terminator.
const MOST_OPS: usize = 3;

#[test]
fn a_program_that_fails_on_an_operation_comes_down_to_it() {
    let ctx = Context::new();
    for def in ctx.dialects().flat_map(ir::Dialect::ops) {
        let module = parse(def.name, program(def.example), None, &LoadOptions::default());
        let module = module.unwrap_or_else(|failure| panic!("{}: {failure}", def.name));
        let mut fails = |module: &Module| holds(&module.ctx, &module.top, def.name);
        let reduced = reduce(module, &ReduceOptions::default(), &mut fails);
        let left = text::print(&reduced.program);
        assert!(fails(&reduced.program) && reduced.is_minimal, "{}", def.name);
        assert!(op_count(&reduced.program) <= MOST_OPS, "{}\n{left}", def.name);
        parse(def.name, left.clone(), None, &LoadOptions::default())
            .unwrap_or_else(|failure| panic!("{}: {failure}\n{left}", def.name));
    }
}
