//! Control-flow graphs of small functions, written as text: values are numbered in the order of the text.

use std::sync::Arc;

use super::*;
use crate::text::parse;

/// One line for each basic block: its points with their reads, writes and moves, and its successors.
fn graph_text(text: &str) -> String {
    let ctx = Arc::new(Context::new());
    let module = parse(&ctx, "test.mlir", text.to_owned()).unwrap();
    let (_, body) = module.functions().next().unwrap();
    let graph = FlowGraph::of(&ctx, body, &WeightSet::of(&ctx, body));
    let values = |values: Vec<Value>| {
        values.iter().map(|value| value.as_u32().to_string()).collect::<Vec<_>>().join(" ")
    };
    let number = |basic_block: &BasicBlock| {
        graph.basic_blocks().iter().position(|other| other == basic_block).unwrap()
    };
    let mut lines = Vec::new();
    for basic_block in graph.basic_blocks() {
        let points = graph.points(*basic_block).map(|point| {
            let event = graph.event(Point::from_u32(point));
            let moves = event.moves(&ctx, body);
            let writes = values(event.writes(&ctx, body).to_vec());
            let sources = values(moves.iter().map(|pair| pair.from).collect());
            let reads = values(event.reads(body).collect());
            format!("{:?}({reads}; {sources} -> {writes})", event.act).to_lowercase()
        });
        let points = points.collect::<Vec<_>>().join(", ");
        let next = graph.next(*basic_block).iter().map(|next| number(next).to_string()).collect::<Vec<_>>();
        let line = format!("{}: {points} => {}", number(basic_block), next.join(" "));
        lines.push(line.trim_end().to_owned());
    }
    lines.join("\n")
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let expected: Vec<&str> = expected.trim().lines().map(str::trim).collect();
    assert_eq!(graph_text(text), expected.join("\n"));
}

#[test]
fn a_counting_loop_tests_before_each_round_and_hands_on_behind_it() {
    check(
        r#"func.func @f(%n: index, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = "scf.for"(%n, %n, %n, %x) ({
  ^bb0(%i: index, %y: tensor<4xf32>):
    %z = nn.relu %y : tensor<4xf32>
    "scf.yield"(%z) : (tensor<4xf32>) -> ()
  }) : (index, index, index, tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}"#,
        "0: enter(0 0 0 1; 1 -> 3) => 1
         1: test(;  -> ) => 2 3
         2: iterate(;  -> 2), run(3;  -> 4), hand(4; 4 -> 3) => 1
         3: leave(;  -> ), return(5;  -> ) =>",
    );
}

#[test]
fn a_loop_hands_its_values_from_region_to_region() {
    check(
        r#"func.func @f(%c: i1, %x: f32) -> f32 {
  %r = "scf.while"(%x) ({
  ^bb0(%y: f32):
    "scf.condition"(%c, %y) : (i1, f32) -> ()
  }, {
  ^bb0(%z: f32):
    "scf.yield"(%z) : (f32) -> ()
  }) : (f32) -> f32
  return %r : f32
}"#,
        "0: enter(1; 1 -> 2) => 1
         1: hand(0 2; 2 -> 3) => 2 3
         2: hand(3; 3 -> 2) => 1
         3: leave(;  -> ), return(4;  -> ) =>",
    );
}

#[test]
fn both_ways_of_an_if_hand_over_to_its_results() {
    check(
        r#"func.func @f(%c: i1, %x: f32, %y: f32) -> f32 {
  %r = "scf.if"(%c) ({
    "scf.yield"(%x) : (f32) -> ()
  }, {
    "scf.yield"(%y) : (f32) -> ()
  }) : (i1) -> f32
  "scf.if"(%c) ({
    "scf.yield"() : () -> ()
  }, {
  }) : (i1) -> ()
  return %r : f32
}"#,
        "0: enter(0;  -> ) => 1 2
         1: hand(1; 1 -> 3) => 3
         2: hand(2; 2 -> 3) => 3
         3: leave(;  -> ), enter(0;  -> ) => 4 5
         4: hand(;  -> ) => 5
         5: leave(;  -> ), return(3;  -> ) =>",
    );
}

#[test]
fn a_branch_with_arguments_hands_them_over_on_its_own_way_only() {
    check(
        r#"func.func @f(%c: i1, %x: f32) -> f32 {
  "cf.cond_br"(%c, %x)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (i1, f32) -> ()
^bb1(%y: f32):
  "cf.br"(%y)[^bb1] : (f32) -> ()
^bb2:
  return %x : f32
^bb3:
  "cf.br"()[^bb2] : () -> ()
}"#,
        "0: choose(0;  -> ) => 1 3
         1: edge(0)(1; 1 -> 2) => 2
         2: hand(2; 2 -> 2) => 2
         3: return(1;  -> ) =>",
    );
}

#[test]
fn weights_and_views_have_no_point() {
    check(
        r#"func.func @f(%x: tensor<4xf32>) -> tensor<2x2xf32> {
  %w = nn.constant dense<1.0> : tensor<2x2xf32>
  %v = nn.reshape %x {shape = array<i64: 2, 2>} : (tensor<4xf32>) -> tensor<2x2xf32>
  %s = nn.add %v, %w : tensor<2x2xf32>
  return %s : tensor<2x2xf32>
}"#,
        "0: run(2 1;  -> 3), return(3;  -> ) =>",
    );
}
