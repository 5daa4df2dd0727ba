//! The dialect and the pass, tested with optc's own harness.

use std::process::Command;

use my_opt::setup;
use optc::lit::{LitMode, check, run_folder};

#[test]
fn files_say_what_comes_out() {
    let mode = LitMode::from_environment().unwrap_or_else(|fault| panic!("{fault}"));
    run_folder(&setup(), "lit-tests".as_ref(), mode).unwrap_or_else(|fault| panic!("{fault}"));
}

#[test]
fn only_elementwise_operations_are_counted() {
    check(
        &setup(),
        "my-count",
        "func.func @f(%x: tensor<2x3xf32>) -> tensor<6xf32> {
           %0 = my.softsign %x : tensor<2x3xf32>
           %1 = nn.reshape %0 {shape = array<i64: 6>} : (tensor<2x3xf32>) -> tensor<6xf32>
           %2 = nn.neg %1 : tensor<6xf32>
           return %2 : tensor<6xf32>
         }",
        "module {
  func.func @f(%arg0: tensor<2x3xf32>) -> tensor<6xf32> attributes {my.count = 2 : i64} {
    %0 = my.softsign %arg0 : tensor<2x3xf32>
    %1 = nn.reshape %0 {shape = array<i64: 6>} : (tensor<2x3xf32>) -> tensor<6xf32>
    %2 = nn.neg %1 : tensor<6xf32>
    return %2 : tensor<6xf32>
  }
}",
    );
}

#[test]
fn the_interpreter_knows_the_operation_by_its_row() {
    let text = "func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
        %0 = my.softsign %x : tensor<2xf32>
        return %0 : tensor<2xf32>
    }";
    let module = optc::ir::text::parse(&setup().context(), "f.mlir", text.to_owned()).unwrap();
    let bytes = [1.0f32, -3.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    let x = optc::ir::interp::Tensor::new(&module.ctx, module.ctx.tensor(&[2], module.ctx.f32()), bytes);
    assert_eq!(optc::ir::interp::run(&module, "f", &[x]).unwrap()[0].to_f32(), [0.5, -0.75]);
}

#[test]
fn every_verb_knows_the_dialect_and_the_pass() {
    let text = "func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = my.softsign %x : tensor<8xf32>
  %1 = nn.cum_sum %0 {axis = 0} : tensor<8xf32>
  return %1 : tensor<8xf32>
}
";
    let program = std::env::temp_dir().join(format!("my_opt_{}.mlir", std::process::id()));
    std::fs::write(&program, text).unwrap();
    let path = program.display().to_string();
    let of_command = ["reduce", &path, "--", "grep", "-q", "my.softsign"];
    let runs: [(&[&str], &str); 9] = [
        (&["--passes=my-count", &path], "my.count = 1"),
        (&["run", &path, "--random", "--poison"], "output `result0` [8]: "),
        (&["bench", &path, "--random", "--runs=1"], "latency"),
        (&["plan", &path], "arena "),
        (&["explain", &path, "--measure=0"], "arena 0 bytes"),
        (&["bisect", &path, "--random", "--passes=my-count,default"], "nothing differs"),
        (&["diff", &path, &path], "the two are the same"),
        (&of_command, "my.softsign %arg0 : tensor<1xf32>"),
        (&["run", "--help"], "my-opt run model.onnx"),
    ];
    for (arguments, expected) in runs {
        let output = Command::new(env!("CARGO_BIN_EXE_my-opt")).args(arguments).output().unwrap();
        let [said, told] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        assert!(output.status.success() && said.contains(expected), "{arguments:?}: {said}{told}");
    }
    std::fs::remove_file(program).unwrap();
}

#[test]
fn the_example_is_short() {
    let lines = |text: &str| text.lines().count();
    assert!(lines(include_str!("../src/lib.rs")) + lines(include_str!("../src/main.rs")) <= 65);
}
