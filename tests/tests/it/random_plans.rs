//! For random programs, every plan is right. A program planned for any goal, with donated inputs, states,
//! pools, pitches and budgets, is accepted by the checker, computes the interpreter's results in the bytes of
//! [`tests::arena`] and in machine code, and is never refused.
//!
//! `OPTC_SEEDS=1000..3000 cargo test --release -p optc-tests --test it random_plans` tries more programs.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use ir::Module;
use ir::interp::{self, Tensor};
use ir::memory_pools::MemoryPool;
use ir::plan::attrs;
use optc::{Array, CompileOptions, DeadMemory, Goal, Model};
use tests::arena;
use tests::permuted::permuted;
use tests::plan_programs::{PlanProgram, plan_program};
use tests::programs::array;

use crate::memory_pools::Pooled;

const GOALS: [Goal; 3] = [Goal::Speed, Goal::Balanced, Goal::Memory];

/// The outcomes for all programs.
#[derive(Default)]
struct Count {
    plans: usize,
    budgets: usize,
    /// The number of times that each decision was made.
    decisions: BTreeMap<&'static str, usize>,
}

impl Count {
    fn add(&mut self, planned: &Module) {
        let text = ir::text::print(planned);
        self.plans += 1;
        let decisions =
            [attrs::MEM_TIE, attrs::MEM_PARTS, attrs::MEM_VIEW, attrs::MEM_OVERLAP, attrs::MEM_LINES];
        for name in decisions {
            *self.decisions.entry(name).or_default() += usize::from(text.contains(name));
        }
    }
}

fn options(seed: u64, goal: Goal, program: &PlanProgram) -> CompileOptions {
    let threads = 1 + seed as usize % 2;
    let mut options = CompileOptions { threads, goal, dead: DeadMemory::Poisoned, ..Default::default() };
    if seed % 3 == 1 {
        options.donated = program.given.iter().map(|index| format!("arg{index}")).collect();
    }
    if seed % 5 == 2 {
        options.target = Some(Arc::new(Pooled));
    }
    if seed % 5 == 4 {
        options.pools = MemoryPool::parse_all("arena:pitch=64").expect("a pool");
    }
    options
}

fn arena_bytes(planned: &Module) -> u64 {
    let body = planned.function("main").expect("it is called so");
    attrs::arena_bytes(&planned.ctx, body).expect("it is planned")
}

/// Whether numbers agree; with other algorithms, up to a thousandth of the largest.
fn near(found: &[f32], expected: &[f32]) -> Result<(), String> {
    let scale = expected.iter().fold(1f32, |most, x| most.max(x.abs()));
    let mut pairs = found.iter().zip(expected);
    match pairs.find(|(a, b)| (*a - *b).abs().is_nan() || (*a - *b).abs() > 1e-3 * scale) {
        Some((a, b)) => Err(format!("{a}, expected {b}")),
        None if found.len() == expected.len() => Ok(()),
        None => Err("another number of elements".to_owned()),
    }
}

/// Plans a program and compares the plan's results with the interpreter's.
fn check_plan(
    program: &PlanProgram,
    options: &CompileOptions,
    expected: &[Tensor],
) -> Result<Module, String> {
    let mut planned = program.module.clone();
    let mut model = Model::compile(&mut planned, options).map_err(|failure| format!("refused: {failure}"))?;
    let faulty = |why: String| format!("{why}\n{}", ir::text::print(&planned));
    let body = planned.function("main").expect("it is called so");
    let faults = passes::check::check(&planned.ctx, body);
    if let Some(fault) = faults.first() {
        return Err(faulty(format!("the checker: {}", fault.message)));
    }
    let said = interp::run(&planned, "main", &program.inputs).map_err(|fault| faulty(fault.message))?;
    for (said, expected) in said.iter().zip(expected) {
        near(&said.to_f32(), &expected.to_f32()).map_err(|why| faulty(format!("interpreted: {why}")))?;
    }
    let found = arena::run(&planned.ctx, body, options.target(), &program.inputs).map_err(faulty)?;
    if found.iter().zip(&said).any(|(found, said)| *found != *said.bytes) {
        return Err(faulty("other numbers in the bytes of the plan".to_owned()));
    }
    let run = run(&mut model, program).map_err(faulty)?;
    let next: Vec<usize> = program.next.iter().map(|next| next.1).collect();
    let outputs = (0..expected.len()).filter(|index| !next.contains(index));
    for (found, index) in run.iter().zip(outputs.chain(next.iter().copied())) {
        near(found, &expected[index].to_f32())
            .map_err(|why| faulty(format!("result {index} of machine code: {why}")))?;
    }
    if run.len() != expected.len() {
        return Err(faulty(format!("{} results, expected {}", run.len(), expected.len())));
    }
    Ok(planned)
}

/// The results of machine code: the outputs, then the states that have a next value.
fn run(model: &mut Model, program: &PlanProgram) -> Result<Vec<Vec<f32>>, String> {
    let array_of = |index: usize| {
        let input = &program.inputs[index];
        let shape = program.module.ctx.static_shape(input.ty).expect("its sizes are known");
        array(&format!("arg{index}"), &shape, &input.to_f32())
    };
    let states: Vec<usize> =
        (0..program.inputs.len()).filter(|index| !program.given.contains(index)).collect();
    if !states.is_empty() {
        let arrays: Vec<Array> = states.iter().map(|index| array_of(*index)).collect();
        model.set_states(&arrays).map_err(|failure| failure.to_string())?;
    }
    let mut inputs: Vec<Array> = program.given.iter().map(|index| array_of(*index)).collect();
    let only = model.program().only().ok_or("its sizes are known")?;
    let output = |desc: &runtime::TensorDesc| Array {
        name: desc.name.clone(),
        element: desc.element,
        shape: desc.shape.clone(),
        bytes: vec![0; desc.size_bytes],
    };
    let mut outputs: Vec<Array> = only.outputs().iter().map(output).collect();
    model.run_donating(&mut inputs, &mut outputs).map_err(|failure| failure.to_string())?;
    let mut found: Vec<Vec<f32>> = outputs.iter().map(tests::programs::floats).collect();
    if !program.next.is_empty() {
        // In the order of the arguments, as `next` is; states without a next value are not among them.
        let kept = model.states().map_err(|failure| failure.to_string())?;
        assert_eq!(kept.len(), program.next.len(), "states that a run changes");
        found.extend(kept.iter().map(tests::programs::floats));
    }
    Ok(found)
}

fn check(seed: u64, count: &mut Count) -> Result<(), String> {
    let program = plan_program(seed);
    let expected = interp::run(&program.module, "main", &program.inputs).map_err(|fault| fault.message)?;
    let mut arenas = Vec::new();
    for goal in GOALS {
        let options = options(seed, goal, &program);
        let planned = check_plan(&program, &options, &expected)
            .map_err(|why| format!("{} on {} threads: {why}", goal.name(), options.threads))?;
        count.add(&planned);
        arenas.push(arena_bytes(&planned));
    }
    let [speed, balanced, memory] = arenas[..] else { return Err("three goals".to_owned()) };
    if memory > speed || memory > balanced {
        return Err(format!("{memory} bytes for memory, {balanced} balanced, {speed} for speed"));
    }
    if memory < balanced {
        for budget in [memory, (memory + balanced) / 2] {
            let mut options = options(seed, Goal::Balanced, &program);
            options.budget_bytes = Some(budget);
            let planned =
                check_plan(&program, &options, &expected).map_err(|why| format!("budget {budget}: {why}"))?;
            if arena_bytes(&planned) > budget {
                return Err(format!("{} bytes with a budget of {budget}", arena_bytes(&planned)));
            }
            count.budgets += 1;
        }
    }
    Ok(())
}

fn seeds(standard: std::ops::Range<u64>) -> std::ops::Range<u64> {
    let said = std::env::var("OPTC_SEEDS").unwrap_or_default();
    let ends = said.split_once("..").and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
    ends.unwrap_or(standard)
}

/// Tries each seed; returns the faults of all, including panics.
fn faults_of(seeds: std::ops::Range<u64>, mut check: impl FnMut(u64) -> Result<(), String>) -> Vec<String> {
    let mut faults = Vec::new();
    for seed in seeds {
        match catch_unwind(AssertUnwindSafe(|| check(seed))) {
            Ok(Ok(())) => {}
            Ok(Err(why)) => faults.push(format!("seed {seed}: {why}")),
            Err(_) => faults.push(format!("seed {seed}: it panics")),
        }
    }
    faults
}

#[test]
fn plans_of_what_is_rare_are_accepted_and_right() {
    let mut count = Count::default();
    let faults = faults_of(seeds(0..120), |seed| check(seed, &mut count));
    println!("{} plans, {} with budgets: {:?}", count.plans, count.budgets, count.decisions);
    assert!(faults.is_empty(), "{} programs:\n{}", faults.len(), faults.join("\n"));
    assert!(count.decisions.values().all(|plans| *plans > 5), "{:?}", count.decisions);
    assert!(count.budgets > 5, "only {} budgets", count.budgets);
}

/// Permutations of values of several sizes on both edges of branches and in loops.
fn check_permuted(seed: u64) -> Result<(), String> {
    let text = permuted(seed);
    let ctx = Arc::new(ir::Context::new());
    let module = ir::text::parse(&ctx, "permuted.mlir", text.clone())
        .map_err(|faults| format!("{}\n{text}", faults[0].render(&ctx)))?;
    for (truth, rounds) in [(1, 0), (0, 1), (1, 2), (0, 3)] {
        let inputs = permuted_inputs(&module, truth, rounds);
        let expected = interp::run(&module, "main", &inputs).map_err(|fault| fault.message)?;
        for goal in GOALS {
            let options =
                CompileOptions { threads: 1, goal, dead: DeadMemory::Poisoned, ..CompileOptions::default() };
            let mut planned = module.clone();
            let mut model =
                Model::compile(&mut planned, &options).map_err(|failure| format!("refused: {failure}"))?;
            let faulty =
                |why: String| format!("{} {rounds}: {why}\n{}", goal.name(), ir::text::print(&planned));
            let body = planned.function("main").expect("it is called so");
            let found = arena::run(&ctx, body, codegen::Cpu::native(), &inputs).map_err(faulty)?;
            let only = model.program().only().expect("its sizes are known");
            let arrays = only.inputs().iter().zip(&inputs).map(|(desc, input)| Array {
                name: desc.name.clone(),
                element: desc.element,
                shape: desc.shape.clone(),
                bytes: input.bytes.to_vec(),
            });
            let arrays: Vec<Array> = arrays.collect();
            let run = model.run(&arrays).map_err(|failure| faulty(failure.to_string()))?;
            for (index, expected) in expected.iter().enumerate() {
                if found[index] != *expected.bytes || run[index].bytes != *expected.bytes {
                    return Err(faulty(format!("result {index} is another")));
                }
            }
        }
    }
    Ok(())
}

/// Tensors, a boolean, and the number of iterations.
fn permuted_inputs(module: &Module, truth: u8, rounds: i64) -> Vec<Tensor> {
    let ctx = &module.ctx;
    let body = module.function("main").expect("it was written");
    let args = body.args(body.entry(body.root()).expect("it has a body"));
    let tensor = |(index, arg): (usize, &ir::Value)| {
        let ty = body.ty(*arg);
        let bytes = match ctx.type_data(ty) {
            ir::TypeData::Tensor { .. } => {
                let count = ctx.static_shape(ty).expect("known sizes").iter().product::<u64>() as usize;
                (0..count).flat_map(|at| ((100 * index + at) as f32).to_le_bytes()).collect()
            }
            ir::TypeData::Index => rounds.to_le_bytes().to_vec(),
            ir::TypeData::Float(_) => (rounds as f32).to_le_bytes().to_vec(),
            _ => vec![truth],
        };
        Tensor::new(ctx, ty, bytes)
    };
    args.iter().enumerate().map(tensor).collect()
}

#[test]
fn values_of_several_sizes_change_places_on_all_edges() {
    let faults = faults_of(seeds(0..24), check_permuted);
    assert!(faults.is_empty(), "{} programs:\n{}", faults.len(), faults.join("\n"));
}
