//! `optc lit` and `optc new-dialect`.

use std::fs;
use std::process::{Command, Output};

use crate::scratch::{file, path};

fn optc(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_optc")).args(arguments).output().expect("the command starts")
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

const DEAD: &str = "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.exp %x : tensor<4xf32>
  return %x : tensor<4xf32>
}
";

#[test]
fn tests_that_differ_fail_until_they_are_blessed() {
    let whole = file("whole.mlir", format!("// RUN: optc --passes=dce\n{DEAD}").as_bytes());
    let checks = "// CHECK: func.func @f\n// CHECK-NOT: nn.exp\n";
    let parts = file("parts.mlir", format!("// RUN: optc --passes=dce\n{DEAD}{checks}").as_bytes());
    let folder = whole.parent().and_then(|folder| folder.to_str()).expect("a plain path");
    let failed = optc(&["lit", folder]);
    assert_eq!(failed.status.code(), Some(1));
    let said = printed(&failed);
    assert!(said.contains("2 tests, 1 failed") && said.contains("+//   func.func @f"), "{said}");
    let blessed = optc(&["lit", folder, "--bless"]);
    assert!(printed(&blessed).contains("2 tests, 1 rewritten"), "{}", printed(&blessed));
    assert!(optc(&["lit", folder]).status.success());
    assert!(fs::read_to_string(&whole).expect("it is read").contains("// ----- output\n// module {"));
    // A check that does not hold is nothing to bless.
    fs::write(&parts, format!("// RUN: optc --passes=dce\n{DEAD}// CHECK: nn.exp\n")).expect("it is written");
    let failed = optc(&["lit", folder, "--bless", "--filter", "parts"]);
    assert_eq!(failed.status.code(), Some(1));
    assert!(printed(&failed).contains("`CHECK: nn.exp` is not in the output"), "{}", printed(&failed));
    assert_eq!(optc(&["lit", folder, "--filter", "nothing"]).status.code(), Some(1));
}

#[test]
fn a_new_dialect_is_the_example_with_its_name() {
    let folder = path("dsp");
    let folder = folder.to_str().expect("a plain path");
    let made = optc(&["new-dialect", "dsp", "-o", folder]);
    assert!(made.status.success(), "{}", printed(&made));
    let read = |path: &str| fs::read_to_string(format!("{folder}/{path}")).expect("it was written");
    assert!(read("Cargo.toml").contains("name = \"dsp-opt\""));
    assert!(read("src/lib.rs").contains("name: \"dsp.softsign\""));
    assert!(read("lit-tests/our_law_is_applied_by_canonicalize.mlir").starts_with("// RUN: dsp-opt "));
    let again = optc(&["new-dialect", "dsp", "-o", folder]);
    assert!(printed(&again).contains("is there already"), "{}", printed(&again));
    assert_eq!(optc(&["new-dialect", "Dsp"]).status.code(), Some(2));
}
