//! Memory decisions for random programs in a table, so that no decision changes unnoticed.
//!
//! A correct plan may still be worse: a tie is refused, an operand is copied, an arena grows. For each
//! program and goal, the table `tests/data/plans.txt` has the bytes of the arena and the number of
//! operations, ties, in-place operands, views, bands, streamed groups and faster methods, on a processor with
//! AVX2 and two threads. It also has the example of each operation, which shows the scratch of its kernel.
//! After a change of a decision, write it anew with `OPTC_BLESS=1` and read the difference: a larger arena
//! needs a reason.

use std::fmt::Write;
use std::sync::Arc;

use codegen::{Cpu, Isa};
use ir::plan::attrs;
use ir::{Context, Dialect, Module};
use optc::{Goal, LoadOptions};
use passes::manager::{Registry, RunOptions, default_pipeline};
use passes::precision::Precision;
use tests::examples::program;
use tests::flows::function;
use tests::graphs::graph;
use tests::permuted::permuted;
use tests::plan_programs::plan_program;
use tests::workspace::root;

use crate::every_row::returning;

const TABLE: &str = "tests/data/plans.txt";
const HEAD: &str =
    "program seed goal: arena bytes, operations, ties, parts, views, bands, lines, methods, scratch bytes\n";
const DECISIONS: [&str; 6] = [
    attrs::MEM_TIE,
    attrs::MEM_PARTS,
    attrs::MEM_VIEW,
    attrs::MEM_OVERLAP,
    attrs::MEM_LINES,
    attrs::MEM_METHOD,
];

fn parse(text: String) -> Module {
    let ctx = Arc::new(Context::new());
    let module = ir::text::parse(&ctx, "table.mlir", text);
    module.unwrap_or_else(|faults| panic!("{}", faults[0].render(&ctx)))
}

/// The numbers of a program's plan.
fn line(module: &Module, goal: Goal) -> Result<String, String> {
    let mut planned = module.clone();
    let options = RunOptions { threads: 2, ..RunOptions::new(Cpu::level(Isa::Avx2)) };
    let pipeline = default_pipeline(&Registry::new(), None, goal, None, Precision::default());
    optc::run_pipeline(&mut planned, &pipeline, &options).map_err(|failure| failure.to_string())?;
    let body = planned.function("main").ok_or("it is called so")?;
    let arena = attrs::arena_bytes(&planned.ctx, body).ok_or("it is planned")?;
    let mut ops = 0;
    let mut scratch = 0;
    let mut counts = [0; DECISIONS.len()];
    ir::flow::walk(&planned.ctx, body, |op| {
        let op = body.at(&planned.ctx, op);
        ops += 1;
        scratch += attrs::scratch_bytes(op).unwrap_or(0);
        for (count, name) in counts.iter_mut().zip(DECISIONS) {
            *count += usize::from(op.attr(name).is_some());
        }
    });
    let counts: Vec<String> = counts.iter().map(usize::to_string).collect();
    Ok(format!("{arena}, {ops}, {}, {scratch}", counts.join(", ")))
}

/// The example of each operation of each dialect; all results of the last operation are returned.
fn examples() -> Vec<(&'static str, Module)> {
    let ctx = Context::new();
    let examples = ctx.dialects().flat_map(Dialect::ops).filter_map(|def| {
        let module = optc::parse(def.name, program(def.example), None, &LoadOptions::default()).ok()?;
        let module = returning(&module.ctx, module.function("g")?.clone())?;
        Some((def.name, module))
    });
    examples.collect()
}

#[test]
fn what_is_decided_about_memory_is_what_the_table_says() {
    let mut table = HEAD.to_owned();
    type Make = fn(u64) -> Module;
    let programs: [(&str, u64, Make); 4] = [
        ("rare", 50, |seed| plan_program(seed).module),
        ("graph", 30, |seed| graph(seed).0),
        ("flow", 20, |seed| parse(function(seed))),
        ("permuted", 12, |seed| parse(permuted(seed))),
    ];
    for (name, seeds, make) in programs {
        for seed in 0..seeds {
            let module = make(seed);
            for goal in [Goal::Speed, Goal::Balanced, Goal::Memory] {
                let line =
                    line(&module, goal).unwrap_or_else(|why| panic!("{name} {seed} {}: {why}", goal.name()));
                writeln!(table, "{name} {seed} {}: {line}", goal.name()).expect("a string takes all");
            }
        }
    }
    for (name, module) in examples() {
        let line = line(&module, Goal::Balanced).unwrap_or_else(|_| "refused".to_owned());
        writeln!(table, "row {name} balanced: {line}").expect("a string takes all");
    }
    let path = root().join(TABLE);
    if std::env::var_os("OPTC_BLESS").is_some() {
        std::fs::write(&path, &table).expect("the table can be written");
    }
    let known = std::fs::read_to_string(&path).expect("there is a table");
    let differ = known.lines().zip(table.lines()).filter(|(known, found)| known != found);
    let differ: Vec<String> = differ.map(|(known, found)| format!("-{known}\n+{found}")).collect();
    assert!(
        known == table,
        "{} plans are others (OPTC_BLESS=1 writes {TABLE}):\n{}",
        differ.len(),
        differ.join("\n")
    );
}
