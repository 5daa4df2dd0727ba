//! For random control flow, passes and machine code compute the interpreter's results.

use std::sync::Arc;

use ir::interp::{self, Tensor};
use ir::{Context, Module};
use optc::{Array, CompileOptions, DeadMemory};
use runtime::ElementKind;
use tests::flows::{SHAPE, function};
use tests::programs::{array, execute, floats};
use tests::random::Random;

fn parse(text: &str) -> Module {
    let ctx = Arc::new(Context::new());
    let module = ir::text::parse(&ctx, "flow.mlir", text.to_owned());
    module.unwrap_or_else(|faults| panic!("{}\n{text}", faults[0].render(&ctx)))
}

fn scalar(name: &str, element: ElementKind, bytes: &[u8]) -> Array {
    Array { name: name.to_owned(), element, shape: Vec::new(), bytes: bytes.to_vec() }
}

/// Arguments for a function of [`function`].
fn inputs(random: &mut Random, truth: u8, rounds: i64) -> Vec<Array> {
    vec![
        array("x", &SHAPE, &random.floats(24)),
        array("y", &SHAPE, &random.floats(24)),
        scalar("c", ElementKind::Bool, &[truth]),
        scalar("n", ElementKind::I64, &rounds.to_le_bytes()),
        scalar("limit", ElementKind::F32, &(rounds as f32).to_le_bytes()),
    ]
}

fn interpret(module: &Module, inputs: &[Array]) -> Vec<Vec<f32>> {
    let ctx = &module.ctx;
    let body = module.function("main").expect("it was written");
    let args = body.args(body.entry(body.root()).expect("it has a body"));
    let tensors: Vec<Tensor> = args
        .iter()
        .zip(inputs)
        .map(|(arg, input)| Tensor::new(ctx, body.ty(*arg), input.bytes.clone()))
        .collect();
    let outputs = interp::run(module, "main", &tensors);
    let outputs = outputs.unwrap_or_else(|fault| panic!("{}", fault.render(ctx)));
    outputs.iter().map(|output| output.to_f32()).collect()
}

fn check(seed: u64) {
    let text = function(seed);
    let module = parse(&text);
    let mut random = Random::new(seed);
    for (truth, rounds) in [(1, 0), (0, 1), (1, 3)] {
        let inputs = inputs(&mut random, truth, rounds);
        let expected = interpret(&module, &inputs);
        for (threads, dead) in [(1, DeadMemory::Kept), (2, DeadMemory::Poisoned)] {
            let options = CompileOptions { threads, dead, ..CompileOptions::default() };
            let mut planned = module.clone();
            let found = execute(&mut planned, &inputs, &options);
            let found = found.unwrap_or_else(|failure| panic!("seed {seed}: {failure}\n{text}"));
            for (found, expected) in found.iter().map(floats).zip(&expected) {
                let worst = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                assert!(
                    worst <= 1e-5 && found.iter().all(|x| !x.is_nan()),
                    "seed {seed}, {threads} threads, {truth} {rounds}: off by {worst}\n{}",
                    ir::text::print(&planned)
                );
            }
        }
    }
}

#[test]
fn passes_and_machine_code_keep_the_meaning_of_branches_and_loops() {
    (0..60).for_each(check);
}

/// A planned program with one place moved to that of another value.
fn mutate(random: &mut Random, planned: &str) -> Option<String> {
    const POOL: &str = "[\"arena\", ";
    let places: Vec<usize> = planned.match_indices(POOL).map(|(at, _)| at + POOL.len()).collect();
    let offset = |at: usize| planned[at..].split(',').next().expect("a number ends with a comma");
    let place = *places.get(random.below(places.len().max(1)))?;
    let other = random.pick(&places);
    let (old, new) = (offset(place), offset(other));
    (old != new).then(|| format!("{}{new}{}", &planned[..place], &planned[place + old.len()..]))
}

/// A damaged plan is refused, or right by chance: then machine code still computes the same.
fn damage(seed: u64) -> (usize, usize) {
    let module = parse(&function(seed));
    let mut random = Random::new(seed);
    let inputs = inputs(&mut random, 1, 2);
    let expected = interpret(&module, &inputs);
    let options = CompileOptions { threads: 1, dead: DeadMemory::Poisoned, ..CompileOptions::default() };
    let mut planned = module.clone();
    execute(&mut planned, &inputs, &options).unwrap_or_else(|failure| panic!("seed {seed}: {failure}"));
    let planned = ir::text::print(&planned);
    let (mut refused, mut accepted) = (0, 0);
    for _ in 0..12 {
        let Some(text) = mutate(&mut random, &planned) else { continue };
        let mut damaged = parse(&text);
        let ctx = damaged.ctx.clone();
        let faults = passes::check::check(&ctx, damaged.function("main").expect("it was written"));
        if !faults.is_empty() {
            refused += 1;
            continue;
        }
        let Ok(found) = execute(&mut damaged, &inputs, &options) else { continue };
        accepted += 1;
        for (found, expected) in found.iter().map(floats).zip(&expected) {
            let same = found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= 1e-5);
            assert!(same, "seed {seed}: the checker accepts a wrong plan\n{text}");
        }
    }
    (refused, accepted)
}

#[test]
fn a_damaged_plan_is_refused_or_still_right() {
    let counts = (0..60).map(damage);
    let (refused, accepted) = counts.fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1));
    assert!(refused > 100 && accepted > 10, "{refused} refused, {accepted} right by chance");
}
