//! Numbers that are no tensors go in and out of the command, through loops and branches, compiled and
//! interpreted.

use std::process::Command;

use crate::scratch;

/// The greatest common divisor of two numbers, and a number that comes back.
const GCD: &str = "func.func @main(%a: i64, %b: i64, %n: index) -> (i64, index) {
  %c0 = arith.constant 0 : i64
  cf.br ^head(%a, %b : i64, i64)
^head(%x: i64, %y: i64):
  %z = arith.cmpi eq, %y, %c0 : i64
  cf.cond_br %z, ^done, ^body
^body:
  %r = arith.remsi %x, %y : i64
  cf.br ^head(%y, %r : i64, i64)
^done:
  return %x, %n : i64, index
}
";

fn run(arguments: &[&str]) -> String {
    let file = scratch::file("gcd.mlir", GCD.as_bytes());
    let mut command = Command::new(env!("CARGO_BIN_EXE_optc"));
    let done = command.arg("run").arg(&file).args(arguments).output().expect("the command starts");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let said = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    said.lines().filter(|line| line.starts_with("output")).collect::<Vec<_>>().join("\n")
}

#[test]
fn numbers_go_in_and_out_of_loops_of_blocks() {
    let compiled = run(&["--random=1"]);
    assert!(compiled.contains("`result0`") && compiled.contains("`result1`"), "{compiled}");
    assert_eq!(compiled, run(&["--random=1", "--interpret"]));
}
