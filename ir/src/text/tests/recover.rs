//! Recovery: a faulty text reports all its errors, and none that only follow from them.

use std::sync::Arc;

use crate::context::Context;
use crate::diag::{self, MessagePlace};
use crate::text::parse;

/// The errors of a text as `line:column message`.
fn faults(text: &str) -> Vec<String> {
    let ctx = Arc::new(Context::new());
    let faults = parse(&ctx, "t", text.to_owned()).map(|_| ()).expect_err("the text is at fault");
    let said = faults.iter().map(|fault| match diag::place(&ctx, fault.location) {
        Some(MessagePlace::Text { line, column, .. }) => format!("{line}:{column} {}", fault.message),
        _ => fault.message.clone(),
    });
    said.collect()
}

#[test]
fn reading_goes_on_with_the_next_operation() {
    let text = "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.relu %x : tensor<4xf3>
  %1 = nn.relu %0 {axis = : tensor<4xf32>
  %2 = nn.tanh %x, : tensor<4xf32>
  %3 = nn.add %1, %2 : tensor<4xf32>
  %4 = nn.add %3, %y : tensor<4xf32>
  return %4 : tensor<4xf32>
}
";
    let found = faults(text);
    assert_eq!(found.len(), 4, "{found:#?}");
    for (fault, start) in found.iter().zip(["2:30 ", "3:27 ", "4:20", "6:19 `%y` is not defined"]) {
        assert!(fault.starts_with(start), "{fault}, not {start}: {found:#?}");
    }
}

#[test]
fn the_body_of_an_operation_whose_head_is_at_fault_is_passed_over() {
    let text = "func.func @f(%x: tensor<4xf32) -> tensor<4xf32> {
  %0 = nn.relu %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = optc.group(%a = %x {mem.kernel = \"k\"} : (tensor<4xf32>) -> tensor<4xf32> {
    %9 = nn.relu %a : tensor<4xf32>
    optc.yield %9 : tensor<4xf32>
  }
  return %0 : tensor<4xf32
}
";
    let found = faults(text);
    let lines: Vec<&str> = found.iter().filter_map(|fault| fault.split(':').next()).collect();
    assert_eq!(lines, ["1", "6", "11"], "{found:#?}");
}

#[test]
fn functions_that_are_read_are_verified_beside_one_that_is_not() {
    let text = "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.relu %x : tensor<5xf32>
  return %0 : tensor<5xf32>
}
func.func @g(%x: tensor<4xf32>, %y: tensor<5xf32>) -> tensor<4xf32> {
  return %y : tensor<5xf32>
}
func.func @h( {
  return
}
";
    let found = faults(text);
    let lines: Vec<&str> = found.iter().filter_map(|fault| fault.split(':').next()).collect();
    assert_eq!(lines, ["2", "6", "8"], "{found:#?}");
}

#[test]
fn a_text_that_ends_too_early_has_one_fault() {
    let text = "module {
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = scf.if %x -> (tensor<4xf32>) {
      %1 = nn.relu %x : tensor<4xf32>";
    let found = faults(text);
    assert_eq!(found, ["4:38 expected an operation, found the end of the text"]);
}

#[test]
fn who_reads_a_result_of_what_is_at_fault_is_not() {
    let text = "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  ?%0 = nn.relu %x : tensor<4xf32>
  %1 = optc.group(%a = %0) : (tensor<4xf32>) -> tensor<4xf32> {
    %7 = nn.relu %a tensor<4xf32>
    optc.yield %7 : tensor<4xf32>
  }
  %2 = optc.group(%a = %1) : (tensor<4xf32>) -> tensor<4xf32> {
    %7 = nn.relu %a : tensor<4xf32>
    optc.yield %7 : tensor<4xf32>
  }
  return %2 : tensor<4xf32>
}
";
    let found = faults(text);
    let lines: Vec<&str> = found.iter().filter_map(|fault| fault.split(':').next()).collect();
    assert_eq!(lines, ["2", "4"], "{found:#?}");
}
