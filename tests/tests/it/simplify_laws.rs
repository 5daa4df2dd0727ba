//! Do the laws of `simplify` hold in numbers?
//!
//! Each law is shown by the lit test of its name. It must apply there, and what comes out must compute the
//! same, by the interpreter, on random inputs.

use std::path::Path;

use ir::Module;
use ir::interp::{Tensor, run};
use optc::opt::Setup;
use passes::manager::{Pipeline, RunOptions};
use passes::rewrite::Law;

/// A law's two sides may differ in the last bits of what they sum up.
const TOLERANCE: f32 = 1e-5;

#[test]
fn every_law_holds_in_numbers() {
    let setup = Setup::default();
    let shown: Vec<&str> =
        setup.registry.rules().laws().map(Law::name).filter(|law| file(law).exists()).collect();
    assert!(shown.len() >= 50, "{} laws have a file", shown.len());
    let faults: Vec<String> = shown.into_iter().filter_map(|law| check(law).err()).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_gate_of_another_slope_is_no_hard_swish() {
    let law = "hard-swish";
    let path = file(law);
    let text = std::fs::read_to_string(path).unwrap().replace("alpha = 0.166666672 : f32, ", "");
    let fault = check_text(law, text).unwrap_err();
    assert_eq!(fault, "hard-swish: does not apply to the test of its name");
}

fn file(law: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../lit-tests/simplify/{law}.mlir"))
}

fn check(law: &str) -> Result<(), String> {
    let text = std::fs::read_to_string(file(law));
    check_text(law, text.map_err(|error| format!("{law}: {}: {error}", file(law).display()))?)
}

fn check_text(law: &str, text: String) -> Result<(), String> {
    let setup = Setup::default();
    let ctx = setup.context();
    let before = ir::text::parse(&ctx, law, text).map_err(|faults| faults[0].render(&ctx))?;
    let mut after = before.clone();
    let pipeline = Pipeline::parse(&ctx, &format!("simplify{{laws={law}}}"), &setup.registry)
        .map_err(|faults| faults[0].render(&ctx))?;
    let report = pipeline.run(&mut after, &RunOptions::new(setup.target));
    let report = report.map_err(|faults| faults[0].render(&ctx))?;
    if !report.statistics.iter().any(|line| line.name == law) {
        return Err(format!("{law}: does not apply to the test of its name"));
    }
    let inputs = inputs(&before);
    let (before, after) = (results(&before, &inputs)?, results(&after, &inputs)?);
    let differs = |(a, b): (&f32, &f32)| (a - b).abs() > TOLERANCE * a.abs().max(1.0);
    match before.iter().zip(&after).find(|pair| differs((pair.0, pair.1))) {
        Some((before, after)) => Err(format!("{law}: {before} became {after}")),
        None => Ok(()),
    }
}

fn results(module: &Module, inputs: &[Tensor]) -> Result<Vec<f32>, String> {
    let results = run(module, "main", inputs).map_err(|fault| fault.render(&module.ctx))?;
    Ok(results.iter().flat_map(Tensor::to_f32).collect())
}

/// Numbers between -4 and 4 for each argument, by a linear congruence.
fn inputs(module: &Module) -> Vec<Tensor> {
    let body = module.function("main").expect("the test has a function `main`");
    let entry = body.entry(body.root()).expect("`main` has a body");
    let mut seed = 1u32;
    let mut next = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as f32 / (1 << 21) as f32 - 4.0
    };
    let shape = |value: &ir::Value| module.ctx.static_shape(body.ty(*value)).expect("the sizes are known");
    let tensor = |shape: Vec<u64>| {
        let numbers: Vec<f32> = (0..shape.iter().product::<u64>()).map(|_| next()).collect();
        Tensor::from_f32(&module.ctx, &shape, &numbers)
    };
    body.args(entry).iter().map(shape).map(tensor).collect()
}
