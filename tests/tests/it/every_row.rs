//! That for each operation of each dialect on tensors, at sizes of any kind, machine code computes the
//! interpreter's results, or the operation is refused.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use ir::interp;
use ir::opdef::OpDef;
use ir::{Body, Context, Dialect, Dim, Module, Traits, Type, Value};
use optc::{CompileOptions, DeadMemory, Goal, LoadOptions, parse};
use tests::examples::{program, resized};
use tests::layouts::Content;
use tests::programs::module_of;
use tests::random::Random;

use crate::kernel_layouts::{compare, execute, inputs};

/// The number of trials of each row with other sizes.
const ROUNDS: u64 = 3;

/// The outcome for a row.
#[derive(Default)]
struct Count {
    agree: BTreeSet<&'static str>,
    refused: BTreeSet<&'static str>,
}

/// The function of an example as a program that returns all results of its last operation.
pub(crate) fn returning(ctx: &Arc<Context>, mut body: Body) -> Option<Module> {
    let block = body.entry(body.root())?;
    let end = body.last_op(block)?;
    let last = body.ops(block).filter(|op| *op != end && body.result_count(*op) > 0).last()?;
    if !body.at(ctx, end).has(Traits::RETURN) {
        return None;
    }
    let outputs: Vec<Value> = body.results(last).collect();
    body.set_operands(end, &outputs);
    let types: Vec<Type> = body.args(block).iter().map(|arg| body.ty(*arg)).collect();
    let module = module_of(ctx, body, &types, &outputs);
    ir::verify::verify(&module).is_ok().then_some(module)
}

fn check(def: &'static OpDef, round: u64, count: &mut Count) -> Result<(), String> {
    let Ok(module) = parse(def.name, program(def.example), None, &LoadOptions::default()) else {
        return Ok(());
    };
    let ctx = module.ctx.clone();
    let Some(body) = module.function("g") else { return Ok(()) };
    let mut random = Random::new(round);
    let sizes: Vec<u64> = (0..64).map(|_| 1 + random.below(19) as u64).collect();
    let sized =
        |size: u64| Dim::Known(if random_keeps(round, size) { size } else { sizes[size as usize % 64] });
    let Some(body) = resized(&ctx, body, &sized) else { return Ok(()) };
    let Some(module) = returning(&ctx, body) else { return Ok(()) };
    let main = module.function("main").expect("it was just made");
    let args = main.args(main.entry(main.root()).expect("it has a body"));
    if args.iter().any(|arg| ctx.static_shape(main.ty(*arg)).is_none()) {
        return Ok(());
    }
    let contents = vec![Content::Numbers; args.len()];
    let inputs = inputs(&module, &contents, round);
    let expected = interp::run(&module, "main", &inputs);
    let goal = [Goal::Balanced, Goal::Memory, Goal::Speed][round as usize % 3];
    let dead = DeadMemory::Poisoned;
    let options = CompileOptions { threads: 1 + round as usize % 2, goal, dead, ..CompileOptions::default() };
    let text = || ir::text::print(&module);
    match (execute(&module, &inputs, &options), expected) {
        (Ok(found), Ok(expected)) => {
            compare(&found, &expected, &ctx).map_err(|why| format!("{why}\n{}", text()))?;
            count.agree.insert(def.name);
            Ok(())
        }
        (Ok(_), Err(fault)) => Err(format!("it runs, but {}\n{}", fault.message, text())),
        (Err(why), Ok(_)) if why.contains("outside") => Err(format!("{why}\n{}", text())),
        (Err(_), _) => {
            count.refused.insert(def.name);
            Ok(())
        }
    }
}

/// Whether a size is kept in a round, since an attribute may need it.
fn random_keeps(round: u64, size: u64) -> bool {
    round == 0 || (size + round).is_multiple_of(3)
}

#[test]
fn each_row_is_computed_as_it_is_interpreted_at_any_size() {
    let ctx = Context::new();
    let mut count = Count::default();
    let mut faults = Vec::new();
    for def in ctx.dialects().flat_map(Dialect::ops) {
        for round in 0..ROUNDS {
            match catch_unwind(AssertUnwindSafe(|| check(def, round, &mut count))) {
                Ok(Ok(())) => {}
                Ok(Err(why)) => faults.push(format!("{}, round {round}: {why}", def.name)),
                Err(_) => faults.push(format!("{}, round {round}: it panics", def.name)),
            }
        }
    }
    let refused: Vec<&str> = count.refused.difference(&count.agree).copied().collect();
    println!("{} rows agree; refused: {}", count.agree.len(), refused.join(", "));
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    assert!(count.agree.len() >= 92, "only {} rows agree", count.agree.len());
}
