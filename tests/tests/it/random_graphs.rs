//! For random graphs, passes and machine code compute the interpreter's results.

use ir::Module;
use ir::plan::attrs;
use optc::{Array, CompileOptions, DeadMemory};
use passes::manager::RunOptions;
use tests::graphs::graph;
use tests::programs::{execute, floats, interpret};

/// Whether two results agree up to the rounding of reordered sums.
fn agree(found: &[Array], expected: &[Array]) -> Result<(), String> {
    for (found, expected) in found.iter().zip(expected) {
        if found.shape != expected.shape {
            return Err(format!("shape {:?}, expected {:?}", found.shape, expected.shape));
        }
        let (found, expected) = (floats(found), floats(expected));
        let scale = expected.iter().fold(1e-3f32, |max, x| max.max(x.abs()));
        let mut off = found.iter().zip(&expected).map(|(a, b)| (a - b).abs());
        if let Some(off) = off.find(|off| off.is_nan() || *off > 2e-5 * scale) {
            return Err(format!("off by {off:e} of {scale}"));
        }
    }
    Ok(())
}

fn check(seed: u64) {
    let (module, inputs) = graph(seed);
    let expected = interpret(&module, &inputs);
    for (threads, dead) in [(1, DeadMemory::Kept), (2, DeadMemory::Poisoned)] {
        let options = CompileOptions { threads, dead, ..CompileOptions::default() };
        let found = execute(&mut module.clone(), &inputs, &options);
        let found = found.unwrap_or_else(|failure| panic!("seed {seed}: {failure}"));
        agree(&found, &expected).unwrap_or_else(|why| panic!("seed {seed}, {threads} threads: {why}"));
    }
    for pipeline in ["canonicalize", "simplify", "layout", "fuse", "cse,dce,simplify,layout,fuse"] {
        let mut changed = module.clone();
        let done = optc::run_pipeline(&mut changed, pipeline, &RunOptions::new(codegen::Cpu::native()));
        done.unwrap_or_else(|failure| panic!("seed {seed}, {pipeline}: {failure}"));
        agree(&interpret(&changed, &inputs), &expected)
            .unwrap_or_else(|why| panic!("seed {seed}, interpreted after {pipeline}: {why}"));
    }
    bare_plan(seed, &module, &inputs, &expected);
}

/// The bytes of the arena after a pipeline, and the results of machine code.
fn planned(seed: u64, pipeline: &str) -> (u64, Vec<Array>) {
    let (mut module, inputs) = graph(seed);
    let done = optc::run_pipeline(&mut module, pipeline, &RunOptions::new(codegen::Cpu::native()));
    done.unwrap_or_else(|failure| panic!("seed {seed}, {pipeline}: {failure}"));
    let options = CompileOptions { threads: 1, dead: DeadMemory::Poisoned, ..CompileOptions::default() };
    let found = execute(&mut module, &inputs, &options);
    let found = found.unwrap_or_else(|failure| panic!("seed {seed}, {pipeline}: {failure}"));
    let bytes = module.body().children().find_map(|(_, func)| attrs::arena_bytes(&module.ctx, func));
    (bytes.expect("the program is planned"), found)
}

/// Without the optional passes, machine code computes the same.
fn bare_plan(seed: u64, module: &Module, inputs: &[Array], expected: &[Array]) {
    let mut bare = module.clone();
    let done = optc::run_pipeline(&mut bare, "plan", &RunOptions::new(codegen::Cpu::native()));
    done.unwrap_or_else(|failure| panic!("seed {seed}, plan alone: {failure}"));
    let options = CompileOptions { threads: 1, ..CompileOptions::default() };
    let found = execute(&mut bare, inputs, &options);
    let found = found.unwrap_or_else(|failure| panic!("seed {seed}, plan alone: {failure}"));
    agree(&found, expected).unwrap_or_else(|why| panic!("seed {seed}, plan alone: {why}"));
}

#[test]
fn passes_and_machine_code_keep_the_meaning_of_any_graph() {
    (0..60).for_each(check);
}

#[test]
fn another_order_computes_the_same_bits_in_no_more_memory() {
    let mut better = 0;
    for seed in 0..100 {
        let (given_bytes, expected) = planned(seed, "simplify,layout,fuse,select,inplace,plan");
        let (bytes, found) = planned(seed, "simplify,layout,fuse,select,schedule,inplace,plan");
        assert!(bytes <= given_bytes, "seed {seed}: {bytes} bytes, {given_bytes} in the given order");
        assert_eq!(found, expected, "seed {seed}");
        better += usize::from(bytes < given_bytes);
    }
    assert!(better > 2, "only {better} programs got better: the graphs are too easy");
}
