//! That the example files of passes have the same results, to the bit, before and after the passes.
//!
//! Each file of these folders with a terminating function `@main` is interpreted before and after its
//! pipeline, on the same inputs.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use ir::interp::{Tensor, run};
use ir::text::{ParseOptions, Unregistered};
use ir::{Context, Module};
use optc::lit::files;
use optc::opt::Setup;
use passes::manager::{Pipeline, RunOptions};
use passes::rewrite::Action;
use tests::programs::argument;
use tests::random::Random;

const FOLDERS: [&str; 5] = ["canonicalize", "cse", "dce", "inline", "symbol-dce"];
/// The number of runs of each program: with conditions that are true and false.
const CASES: u64 = 4;
/// If fewer programs than this can be run, the test itself is broken.
const LEAST: usize = 20;

#[test]
fn what_comes_out_computes_the_same() {
    let mut compared = 0;
    let mut faults = Vec::new();
    for folder in FOLDERS {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lit-tests").join(folder);
        for path in files(&root).unwrap() {
            let text = std::fs::read_to_string(&path).unwrap();
            match compare(&text) {
                Ok(true) => compared += 1,
                Ok(false) => {}
                Err(fault) => faults.push(format!("{}: {fault}", path.display())),
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(compared >= LEAST, "{compared} programs were compared");
}

#[test]
fn every_rule_that_is_no_law_applies_in_a_file() {
    let setup = Setup::default();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lit-tests/canonicalize");
    let mut applied = BTreeSet::new();
    for path in files(&root).unwrap() {
        let ctx = setup.context();
        let mut module = parse(&ctx, &std::fs::read_to_string(&path).unwrap());
        let pipeline = Pipeline::parse(&ctx, "canonicalize", &setup.registry).unwrap();
        let report = pipeline.run(&mut module, &RunOptions::new(&setup.cpu)).unwrap();
        applied.extend(report.statistics.iter().map(|line| line.name));
    }
    // Only rules implemented in code must have a file each.
    let rules = setup.registry.rules().iter().filter(|rule| !matches!(rule.action, Action::Law { .. }));
    let missing: Vec<&str> = rules.map(|rule| rule.name).filter(|rule| !applied.contains(rule)).collect();
    assert!(missing.is_empty(), "no file shows {missing:?}");
}

#[test]
fn a_pass_that_computes_something_else_is_found() {
    let text = "// RUN: optc --passes=dce\nfunc.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
        %0 = nn.exp %x : tensor<2xf32>
        return %0 : tensor<2xf32>
      }";
    assert_eq!(compare(text), Ok(true));
    let ctx = Arc::new(Context::new());
    let exp = parse(&ctx, text);
    let neg = parse(&ctx, &text.replace("exp", "neg"));
    assert!(results(&exp, 0).unwrap() != results(&neg, 0).unwrap());
}

/// Whether a program could be run, and the difference if its results changed.
fn compare(text: &str) -> Result<bool, String> {
    let setup = Setup::default();
    let ctx = setup.context();
    let before = parse(&ctx, text);
    if before.function("main").is_none() || results(&before, 0).is_err() {
        return Ok(false);
    }
    let pipeline = Pipeline::parse(&ctx, &passes(text), &setup.registry);
    let pipeline = pipeline.map_err(|faults| faults[0].render(&ctx))?;
    let mut after = before.clone();
    pipeline.run(&mut after, &RunOptions::new(&setup.cpu)).map_err(|faults| faults[0].render(&ctx))?;
    for case in 0..CASES {
        let (before, after) = (results(&before, case)?, results(&after, case)?);
        if before != after {
            return Err(format!("{before:?} became {after:?}"));
        }
    }
    Ok(true)
}

fn parse(ctx: &Arc<Context>, text: &str) -> Module {
    let input = text.split("// ----- output").next().unwrap_or(text).to_owned();
    let options = ParseOptions { unregistered: Unregistered::Allow };
    let module = ir::text::parse_with(ctx, "test", input, &options);
    module.unwrap_or_else(|faults| panic!("{}", faults[0].render(ctx)))
}

/// The pipeline in the first line.
fn passes(text: &str) -> String {
    let (_, rest) = text.split_once("--passes=").expect("the first line names passes");
    let end = |quote: Option<&str>| match quote {
        Some(rest) => rest.split('\'').next().map(str::to_owned),
        None => rest.split_whitespace().next().map(str::to_owned),
    };
    end(rest.strip_prefix('\'')).expect("a pipeline")
}

/// The bytes of what `@main` returns.
fn results(module: &Module, case: u64) -> Result<Vec<Vec<u8>>, String> {
    let ctx = &module.ctx;
    let body = module.function("main").expect("there is a main function");
    let entry = body.entry(body.root()).ok_or("`@main` has no body")?;
    let mut random = Random::new(case + 1);
    let args = body.args(entry).iter().enumerate();
    let inputs: Option<Vec<Tensor>> =
        args.map(|(index, arg)| argument(ctx, body.ty(*arg), case + index as u64, &mut random)).collect();
    let results = run(module, "main", &inputs.ok_or("an argument is of no known size")?);
    let results = results.map_err(|fault| fault.render(ctx))?;
    Ok(results.iter().map(|result| result.bytes.to_vec()).collect())
}
