//! Pools of a target's own, and rows with a pitch: machine code computes the same, and damage is refused.

use ir::body::OpRef;
use ir::interp::{self, Tensor};
use ir::memory_pools::{MemoryPool, pools};
use ir::opdef::Access;
use ir::target::{GroupPosition, KernelChoice};
use ir::{Kind, Module, Target};
use optc::{CompileOptions, DeadMemory};
use passes::check::check;
use passes::manager::RunOptions;
use tests::damage::damages;
use tests::graphs::graph;
use tests::programs::{execute, floats, interpret};

/// The CPU, with one pool of its own for the results of elementwise operations and groups, and another for
/// those of convolutions.
pub(crate) struct Pooled;

impl Target for Pooled {
    fn name(&self) -> &str {
        codegen::Cpu::native().name()
    }

    fn layout(&self, op: OpRef<'_>) -> Option<&'static str> {
        codegen::Cpu::native().layout(op)
    }

    fn fuses(&self, root: OpRef<'_>, op: OpRef<'_>, place: GroupPosition) -> bool {
        codegen::Cpu::native().fuses(root, op, place)
    }

    fn select(&self, op: OpRef<'_>, threads: usize) -> Option<KernelChoice> {
        codegen::Cpu::native().select(op, threads)
    }

    fn access(&self, op: OpRef<'_>, operand: usize) -> Access {
        codegen::Cpu::native().access(op, operand)
    }

    fn writes_rows(&self, op: OpRef<'_>) -> bool {
        codegen::Cpu::native().writes_rows(op)
    }

    fn reads_rows(&self, op: OpRef<'_>, operand: usize) -> bool {
        codegen::Cpu::native().reads_rows(op, operand)
    }

    fn pools(&self) -> Vec<MemoryPool> {
        MemoryPool::parse_all("bank:align=1024; image").expect("two pools")
    }

    fn pool(&self, op: OpRef<'_>, _result: usize) -> Option<&str> {
        match op.kind() {
            Kind::Elementwise(_) | Kind::Group => Some("image"),
            Kind::Contract(_) => Some("bank"),
            _ => None,
        }
    }
}

fn planned(module: &Module, pipeline: &str, target: &dyn Target) -> Module {
    let mut planned = module.clone();
    let done = optc::run_pipeline(&mut planned, pipeline, &RunOptions::new(target));
    done.unwrap_or_else(|failure| panic!("{failure}"));
    planned
}

#[test]
fn machine_code_computes_the_same_in_several_pools() {
    let mut used = 0;
    for seed in 0..12 {
        let (module, inputs) = graph(seed);
        let expected = interpret(&module, &inputs);
        let mut planned = planned(&module, "fuse,inplace,plan", &Pooled);
        let body = planned.function("main").expect("it was planned");
        let pools = pools(&module.ctx, body).expect("the planner wrote them");
        used += pools.iter().skip(1).filter(|pool| pool.size_bytes > 0).count();
        let options = CompileOptions { threads: 1, dead: DeadMemory::Poisoned, ..CompileOptions::default() };
        let found = execute(&mut planned, &inputs, &options);
        let found = found.unwrap_or_else(|failure| panic!("seed {seed}: {failure}"));
        for (found, expected) in found.iter().map(floats).zip(expected.iter().map(floats)) {
            let is_near = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-4 * b.abs().max(1.0);
            assert!(found.iter().zip(&expected).all(is_near), "seed {seed}");
        }
    }
    assert!(used > 12, "only {used} pools were used");
}

/// Each row of an image begins at a multiple of 64.
const PITCHED: &str = "fuse,inplace,plan{pools=arena:pitch=64}";

#[test]
fn images_in_rows_at_a_pitch_have_the_same_bits() {
    let mut pitched = 0;
    for seed in 0..24 {
        let (module, inputs) = graph(seed);
        let run = |pipeline: &str, threads: usize| {
            let mut planned = planned(&module, pipeline, codegen::Cpu::native());
            let options = CompileOptions { threads, dead: DeadMemory::Poisoned, ..CompileOptions::default() };
            let found = execute(&mut planned, &inputs, &options);
            let found = found.unwrap_or_else(|failure| panic!("seed {seed}: {failure}"));
            let bytes: Vec<Vec<u8>> = found.into_iter().map(|array| array.bytes).collect();
            (bytes, ir::text::print(&planned).matches("mem.pitch = ").count())
        };
        let (flat, parts) = run("fuse,inplace,plan", 1);
        let (found, rows) = run(PITCHED, 1);
        assert_eq!(found, flat, "seed {seed}");
        pitched += rows - parts.min(rows);
    }
    assert!(pitched > 60, "only {pitched} images have rows at a pitch");
}

#[test]
fn damaged_plans_of_several_pools_are_refused_or_right() {
    let (refused, accepted) = try_damages("fuse,inplace,plan", &Pooled);
    assert!(refused > 500 && accepted > 50, "{refused} refused, {accepted} accepted");
}

#[test]
fn damaged_plans_of_pitched_images_are_refused_or_right() {
    let (refused, accepted) = try_damages(PITCHED, codegen::Cpu::native());
    assert!(refused > 500 && accepted > 50, "{refused} refused, {accepted} accepted");
}

/// Damages the plans of some graphs; returns how many the checker refused and how many it accepted. Accepted
/// ones compute the same.
fn try_damages(pipeline: &str, target: &dyn Target) -> (usize, usize) {
    let (mut refused, mut accepted) = (0, 0);
    for seed in 0..6 {
        let (module, inputs) = graph(seed);
        let planned = planned(&module, pipeline, target);
        let ctx = &planned.ctx;
        let inputs = inputs
            .iter()
            .map(|input| Tensor::new(ctx, ctx.tensor(&input.shape, ctx.f32()), input.bytes.clone()));
        let inputs: Vec<Tensor> = inputs.collect();
        for damage in damages(ctx, planned.function("main").expect("it was planned")).iter().step_by(3) {
            let mut damaged = planned.clone();
            let body = damaged.function_mut("main").expect("it was planned");
            damage.apply(ctx, body);
            if !check(ctx, body).is_empty() {
                refused += 1;
                continue;
            }
            accepted += 1;
            let found = tests::arena::run(ctx, body, codegen::Cpu::native(), &inputs);
            let expected = interp::run(&damaged, "main", &inputs).expect("it ends");
            let expected: Vec<Vec<u8>> = expected.iter().map(|tensor| tensor.bytes.to_vec()).collect();
            assert_eq!(
                found.as_ref(),
                Ok(&expected),
                "seed {seed}: {damage:?}\n{}",
                ir::text::print(&damaged)
            );
        }
    }
    (refused, accepted)
}
