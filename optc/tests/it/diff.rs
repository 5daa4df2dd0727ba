//! `optc diff` says what differs as a person means it.

use std::process::{Command, Output};

use serde_json::Value;

use crate::scratch;

const BEFORE: &str = r#"func.func @main(%x: tensor<64xf64>, %y: tensor<64xf64>) -> tensor<64xf64> {
  %0 = nn.exp %x : tensor<64xf64>
  %1 = nn.softmax %0 {axis = 0 : i64} : tensor<64xf64> loc("Softmax_1")
  %2 = nn.clip %1 {lo = 0.0 : f32, hi = 1.0 : f32} : tensor<64xf64>
  %3 = nn.add %2, %y : tensor<64xf64>
  %4 = nn.neg %3 : tensor<64xf64>
  return %4 : tensor<64xf64>
}
"#;

fn diff(after: &str, options: &[&str]) -> (Option<i32>, String) {
    compare(BEFORE, after, options)
}

fn compare(before: &str, after: &str, options: &[&str]) -> (Option<i32>, String) {
    let before = scratch::file("before.mlir", before.as_bytes());
    let after = scratch::file("after.mlir", after.as_bytes());
    let output =
        Command::new(env!("CARGO_BIN_EXE_optc")).arg("diff").args([before, after]).args(options).output();
    let Output { status, stdout, .. } = output.expect("the command starts");
    (status.code(), String::from_utf8(stdout).expect("text is printed"))
}

/// The text after a pipeline.
fn after(program: &str, passes: &str) -> String {
    let file = scratch::file("program.mlir", program.as_bytes());
    let passes = format!("--passes={passes}");
    let output = Command::new(env!("CARGO_BIN_EXE_optc")).arg(passes).arg(file).output();
    String::from_utf8(output.expect("the command starts").stdout).expect("IR is text")
}

#[test]
fn other_names_are_no_difference() {
    let renamed = BEFORE.replace('%', "%value_").replace("value_x", "image");
    assert_eq!(diff(&renamed, &[]), (Some(0), "the two are the same\n".to_owned()));
}

#[test]
fn an_attribute_is_one_change_and_an_operation_between_two_is_one_addition() {
    let changed = BEFORE.replace("hi = 1.0", "hi = 2.0");
    let (status, said) = diff(&changed, &[]);
    assert_eq!(status, Some(1));
    assert!(said.starts_with("@main: 5 operations are the same, 1 changed, 0 added, 0 removed\n"), "{said}");
    assert!(said.contains("`hi` 1.000000e+00 : f32 -> 2.000000e+00 : f32"), "{said}");
    let longer = BEFORE.replace("%3 = nn.add %2,", "%n = nn.tanh %2 : tensor<64xf64>\n  %3 = nn.add %n,");
    let (_, said) = diff(&longer, &[]);
    assert!(said.starts_with("@main: 5 operations are the same, 1 changed, 1 added, 0 removed\n"), "{said}");
    assert!(said.contains("added `nn.tanh`") && said.contains("operand 0: `nn.clip`"), "{said}");
}

#[test]
fn fusion_adds_a_group_and_changes_nothing_else() {
    let (_, said) = diff(&after(BEFORE, "layout,fuse"), &["--json=-"]);
    let json: Value = serde_json::from_str(&said).expect("JSON is printed");
    let main = &json["functions"][0];
    assert_eq!(
        (&json["differs"], &main["same"], &main["removed"]),
        (&true.into(), &6.into(), &Value::Array(vec![]))
    );
    assert_eq!(main["added"].as_array().map(Vec::len), Some(1), "{said}");
    assert!(main["changed"].as_array().is_some_and(Vec::is_empty), "{said}");
}

/// The peak of a plan, as `optc explain` says it.
fn peak(plan: &str) -> String {
    let file = scratch::file("planned.mlir", plan.as_bytes());
    let output = Command::new(env!("CARGO_BIN_EXE_optc")).arg("explain").arg(file).output();
    let said = String::from_utf8(output.expect("the command starts").stdout).expect("text is printed");
    let line = said.lines().find_map(|line| line.strip_prefix("peak at ")).expect("a peak");
    line.split_once(" are live").expect("bytes that are live").0.to_owned()
}

#[test]
fn plans_differ_in_ties_and_bytes() {
    let [tied, apart] = ["inplace,plan", "plan"].map(|passes| after(BEFORE, passes));
    let (status, said) = compare(&tied, &apart, &[]);
    assert_eq!(status, Some(1));
    assert!(said.starts_with("@main: 6 operations are the same, 0 changed, 0 added, 0 removed\n"), "{said}");
    assert!(said.contains("  arena ") && said.contains("  tie lost `nn.softmax` ("), "{said}");
    let [before, after] = [&tied, &apart].map(|plan| peak(plan));
    assert!(said.contains(&format!("  peak at {before} -> at {after}\n")), "{said}");
    assert_eq!(compare(&tied, &tied, &[]).0, Some(0));
}

#[test]
fn what_can_t_be_read_is_no_difference() {
    assert_eq!(diff("func.func @main(", &[]).0, Some(2));
}
