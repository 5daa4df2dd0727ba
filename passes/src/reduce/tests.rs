//! Tests that reduced programs are small and still fail.

use std::sync::Arc;
use std::time::Instant;

use ir::{Context, Module, text};

use super::{ReduceOptions, Reduced, op_count, reduce};

fn parse(program: &str) -> Module {
    let ctx = Arc::new(Context::new());
    let parsed = text::parse(&ctx, "test.mlir", program.to_owned());
    let module = parsed.unwrap_or_else(|faults| panic!("{}", faults[0].render(&ctx)));
    ir::verify::verify(&module).unwrap_or_else(|faults| panic!("{}", faults[0].render(&ctx)));
    module
}

/// The result of reducing a program that fails if its text contains all these words.
fn kept(program: &str, words: &[&str]) -> Reduced {
    let mut fails = |module: &Module| {
        let text = text::print(module);
        words.iter().all(|word| text.contains(word))
    };
    reduce(parse(program), &ReduceOptions::default(), &mut fails)
}

fn check(program: &str, words: &[&str], expected: &str) {
    let reduced = kept(program, words);
    assert!(reduced.is_minimal);
    assert_eq!(text::print(&reduced.program), expected);
}

#[test]
fn constants_attributes_and_sizes_become_small() {
    check(
        r#"func.func @main(%x: tensor<1x8x16x16xf32> {optc.name = "image"}) -> tensor<1x4x8x8xf32> {
  %w = nn.constant dense<0.5> : tensor<4x8x3x3xf32>
  %b = nn.constant dense<[0.1, 0.2, 0.3, 0.4]> : tensor<4xf32>
  %0 = nn.conv2d %x, %w, %b {pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x8x16x16xf32>, tensor<4x8x3x3xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
  %1 = nn.relu %0 : tensor<1x4x8x8xf32>
  return %1 : tensor<1x4x8x8xf32>
}"#,
        &["nn.conv2d", "strides"],
        r#"module {
  func.func @main(%arg0: tensor<1x1x1x1xf32>) {
    %0 = nn.conv2d %arg0, %arg0 {strides = array<i64: 1, 1>} : tensor<1x1x1x1xf32>
    return
  }
}
"#,
    );
}

#[test]
fn an_operation_comes_out_of_regions_and_groups() {
    check(
        r#"func.func @main(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = scf.if %c -> (tensor<4xf32>) {
    %0 = nn.exp %x : tensor<4xf32>
    scf.yield %0 : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}"#,
        &["nn.exp"],
        r#"module {
  func.func @main(%arg0: tensor<1xf32>) {
    %0 = nn.exp %arg0 : tensor<1xf32>
    return
  }
}
"#,
    );
    check(
        r#"func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = optc.group(%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %1 = nn.neg %a : tensor<4xf32>
    %2 = nn.tanh %1 : tensor<4xf32>
    %3 = nn.exp %2 : tensor<4xf32>
    optc.yield %3 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}"#,
        &["nn.tanh", "optc.group"],
        r#"module {
  func.func @main(%arg0: tensor<1xf32>) {
    %0 = optc.group(%arg1 = %arg0) : (tensor<1xf32>) -> tensor<1xf32> {
      %1 = nn.tanh %arg1 : tensor<1xf32>
      optc.yield %arg1 : tensor<1xf32>
    }
    return
  }
}
"#,
    );
}

#[test]
fn branches_and_calls_go() {
    check(
        r#"func.func @main(%c: i1, %x: i32) -> i32 {
  cf.cond_br %c, ^a(%x : i32), ^b
^a(%y: i32):
  %0 = arith.muli %y, %y : i32
  cf.br ^c(%0 : i32)
^b:
  cf.br ^c(%x : i32)
^c(%z: i32):
  return %z : i32
}"#,
        &["arith.muli"],
        r#"module {
  func.func @main(%arg0: i32) {
    %0 = arith.muli %arg0, %arg0 : i32
    return
  }
}
"#,
    );
    check(
        r#"func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.neg %x : tensor<4xf32>
  %1 = call @f(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}"#,
        &["call @f"],
        r#"module {
  func.func @f(%arg0: tensor<1xf32>) -> tensor<1xf32> {
    return %arg0 : tensor<1xf32>
  }
  func.func @main(%arg0: tensor<1xf32>) {
    %0 = call @f(%arg0) : (tensor<1xf32>) -> tensor<1xf32>
    return
  }
}
"#,
    );
}

#[test]
fn named_sizes_and_element_types_become_plain() {
    check(
        r#"func.func @main(%x: tensor<?x4xf64, #optc.dims<N>>) -> tensor<?x4xf64, #optc.dims<N>> {
  %0 = nn.exp %x : tensor<?x4xf64, #optc.dims<N>>
  return %0 : tensor<?x4xf64, #optc.dims<N>>
}"#,
        &["nn.exp"],
        r#"module {
  func.func @main(%arg0: tensor<1x1xf32>) {
    %0 = nn.exp %arg0 : tensor<1x1xf32>
    return
  }
}
"#,
    );
}

/// A chain of this many operations, two of which matter.
fn chain(ops: usize) -> String {
    let mut body = String::from("%0 = nn.abs %x : tensor<4x8xf32>\n");
    for op in 1..ops {
        let name = match op {
            _ if op == ops / 3 => "nn.softplus",
            _ if op == ops / 2 => "nn.sigmoid",
            _ => ["nn.relu", "nn.neg", "nn.tanh"][op % 3],
        };
        body += &format!("%{op} = {name} %{} : tensor<4x8xf32>\n", op - 1);
    }
    let last = ops - 1;
    let head = "func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {";
    format!("{head}\n{body}return %{last} : tensor<4x8xf32>\n}}")
}

#[test]
fn few_candidates_find_two_operations_among_ten_thousand() {
    let reduced = kept(&chain(10_000), &["nn.softplus", "nn.sigmoid"]);
    assert_eq!(op_count(&reduced.program), 2);
    assert!(reduced.tried < 150, "{} candidates", reduced.tried);
}

#[test]
fn the_same_program_is_reduced_to_the_same() {
    let text = || text::print(&kept(&chain(100), &["nn.softplus", "nn.sigmoid"]).program);
    assert_eq!(text(), text());
}

#[test]
fn at_the_deadline_the_smallest_so_far_is_given() {
    let options = ReduceOptions { deadline: Some(Instant::now()), ..ReduceOptions::default() };
    let reduced = reduce(parse(&chain(10)), &options, &mut |_| true);
    assert!(!reduced.is_minimal);
    assert_eq!(op_count(&reduced.program), 10);
}
