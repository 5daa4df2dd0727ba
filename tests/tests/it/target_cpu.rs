//! That a plan for one CPU is run by that CPU's kernels, and refused on machines that lack them.

use std::sync::Arc;

use codegen::{Cpu, Isa};
use ir::{Context, Module};
use optc::{Array, CompileOptions, Failure, Model};
use passes::manager::RunOptions;

const PROGRAM: &str = "func.func @main(%x: tensor<1x9x9x5xf32>) -> tensor<1x9x9x20xf32> {
  %w = nn.constant dense<0.125> : tensor<20x5x3x3xf32>
  %0 = nn.tanh %x : tensor<1x9x9x5xf32>
  %1 = nn.conv2d %0, %w {layout = \"NHWC\", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x9x9x5xf32>, tensor<20x5x3x3xf32>) -> tensor<1x9x9x20xf32>
  %2 = nn.exp %1 : tensor<1x9x9x20xf32>
  return %2 : tensor<1x9x9x20xf32>
}";

fn planned_for(isa: Isa) -> Module {
    let mut module =
        ir::text::parse(&Arc::new(Context::new()), "t", PROGRAM.to_owned()).expect("it has no faults");
    let options = RunOptions { threads: 2, ..RunOptions::new(Cpu::level(isa)) };
    optc::run_pipeline(&mut module, "fuse,inplace,plan", &options)
        .unwrap_or_else(|failure| panic!("{failure}"));
    module
}

fn run(module: &mut Module) -> Result<Vec<u8>, Failure> {
    let options = CompileOptions { threads: 2, ..CompileOptions::default() };
    let mut model = Model::compile(module, &options)?;
    let x: Vec<f32> = (0..405).map(|i| (i % 23) as f32 / 8.0 - 1.0).collect();
    Ok(model.run(&[Array::f32("x", &[1, 9, 9, 5], &x)])?.remove(0).bytes)
}

#[test]
fn a_plan_names_its_cpu_and_runs_where_that_is_or_more() {
    let mut results = Vec::new();
    for isa in Isa::ALL {
        let mut module = planned_for(isa);
        let text = ir::text::print(&module);
        assert!(text.contains(&format!("optc.target = \"{}\"", isa.name())), "{text}");
        match (isa.missing(), run(&mut module)) {
            (None, found) => results.push(found.unwrap_or_else(|failure| panic!("{failure}"))),
            (Some(feature), Err(refused)) => {
                let said = format!("the plan is for `{}`, and this machine lacks {feature}", isa.name());
                assert!(refused.to_string().contains(&said), "{refused}");
            }
            (Some(feature), Ok(_)) => panic!("a plan for {isa:?} ran without {feature}"),
        }
    }
    assert!(results.iter().all(|result| *result == results[0]), "the kernels' bits are the same on all CPUs");
}

#[test]
fn what_is_planned_in_part_stays_with_its_cpu() {
    let mut module =
        ir::text::parse(&Arc::new(Context::new()), "t", PROGRAM.to_owned()).expect("it has no faults");
    let options = RunOptions { threads: 2, ..RunOptions::new(Cpu::level(Isa::Scalar)) };
    optc::run_pipeline(&mut module, "fuse,select", &options).unwrap_or_else(|failure| panic!("{failure}"));
    run(&mut module).unwrap_or_else(|failure| panic!("{failure}"));
    let [found, whole] = [module, planned_for(Isa::Scalar)].map(|module| ir::text::print(&module));
    assert_eq!(found.matches("optc.target = \"portable\"").count(), 1, "{found}");
    let scratch = |text: &str| {
        text.split("mem.scratch = ").skip(1).map(|rest| rest[..6].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(scratch(&found), scratch(&whole));
}

#[test]
fn a_plan_for_another_kind_of_machine_is_refused() {
    let text = ir::text::print(&planned_for(Isa::Scalar)).replace("\"portable\"", "\"tensor-unit\"");
    let mut module = ir::text::parse(&Arc::new(Context::new()), "t", text).expect("it has no faults");
    let refused = run(&mut module).map(drop).unwrap_err().to_string();
    assert!(refused.contains("the plan is for `tensor-unit`"), "{refused}");
    assert!(refused.contains("portable, x86-64-v3, x86-64-v4"), "{refused}");
}

#[test]
fn a_cpu_that_is_misspelt_is_told() {
    let told = Cpu::named("x86-64-v33").map(drop).unwrap_err();
    assert!(told.contains("did you mean `x86-64-v3`?"), "{told}");
}

#[test]
fn a_level_without_kernels_of_its_own_is_told_what_runs_on_it() {
    for level in ["x86-64", "x86-64-v2"] {
        let told = Cpu::named(level).map(drop).unwrap_err();
        let expected =
            format!("there is no CPU `{level}` (`portable` runs on it), expected one of native, portable");
        assert!(told.starts_with(&expected), "{told}");
    }
}
