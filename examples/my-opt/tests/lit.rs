//! The dialect and the pass, tested with optc's own harness.

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
fn the_example_is_short() {
    let lines = |text: &str| text.lines().count();
    assert!(lines(include_str!("../src/lib.rs")) + lines(include_str!("../src/main.rs")) <= 65);
}
