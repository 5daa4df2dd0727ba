//! `optc reduce` finds the small program in a large one, and says why there is none.

use std::path::PathBuf;
use std::process::{Command, Output};

use crate::scratch;

/// A program of several operations, one of which is `nn.softmax`.
fn program() -> PathBuf {
    let text = r#"func.func @main(%x: tensor<4x64xf32> {optc.name = "x"}) -> tensor<4x64xf32> {
  %w = nn.constant dense<0.5> : tensor<64xf32>
  %0 = nn.mul %x, %w : (tensor<4x64xf32>, tensor<64xf32>) -> tensor<4x64xf32>
  %1 = nn.softmax %0 {axis = 1 : i64} : tensor<4x64xf32>
  %2 = nn.tanh %1 : tensor<4x64xf32>
  return %2 : tensor<4x64xf32>
}
"#;
    scratch::file("large.mlir", text.as_bytes())
}

/// What is left of it if only `nn.softmax` matters.
const SMALL: &str = "module {
  func.func @main(%arg0: tensor<1x1xf32>) {
    %0 = nn.softmax %arg0 {axis = 0 : i64} : tensor<1x1xf32>
    return
  }
}
";

fn optc(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_optc")).args(arguments).output().expect("the command starts")
}

fn reduced(options: &[&str], command: &[&str]) -> String {
    let path = program().display().to_string();
    let output = optc(&[&["reduce", &path], options, &["--"], command].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("4 -> 1 operations, "), "{said}");
    String::from_utf8(output.stdout).expect("IR is text")
}

fn refused(options: &[&str]) -> (Option<i32>, String) {
    let path = program().display().to_string();
    let output = optc(&[&["reduce", &path], options].concat());
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_command_that_fails_on_a_program_still_does_on_the_reduced_one() {
    assert_eq!(reduced(&[], &["sh", "-c", "! grep -q nn.softmax {}"]), SMALL);
    assert_eq!(reduced(&[], &["grep", "-q", "nn.softmax"]), SMALL);
    assert_eq!(reduced(&[], &["sh", "-c", "if grep -q nn.softmax {}; then kill -SEGV $$; fi"]), SMALL);
    let slow = "if grep -q nn.softmax {}; then exec sleep 60; fi";
    assert_eq!(reduced(&["--timeout=0.2"], &["sh", "-c", slow]), SMALL);
}

#[test]
fn what_it_says_and_where_it_panics_is_part_of_a_failure() {
    let says = "if grep -q nn.softmax {}; then echo soft >&2; fi; exit 3";
    assert_eq!(reduced(&["--stderr=soft"], &["sh", "-c", says]), SMALL);
    // Without the operation, it panics elsewhere.
    let panics = "if grep -q nn.softmax {}; then place=a; else place=b; fi
echo thread \"'main'\" panicked at $place.rs:1:2: >&2; exit 101";
    assert_eq!(reduced(&[], &["sh", "-c", panics]), SMALL);
}

#[test]
fn a_pass_that_rounds_otherwise_is_found_on_a_small_program() {
    let text = "func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %three = nn.constant dense<3.0> : tensor<f32>
  %0 = nn.tanh %x : tensor<4x8xf32>
  %1 = nn.pow %0, %three : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %2 = nn.tanh %1 : tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}
";
    let path = scratch::file("rounds.mlir", text.as_bytes()).display().to_string();
    let output = optc(&["reduce", &path, "--differs=simplify", "--tolerance=0"]);
    let left = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(left.contains("nn.pow") && !left.contains("nn.tanh"), "{left}");
    let output = optc(&["reduce", &path, "--differs=dce"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("computes the same before and after `dce`"));
}

#[test]
fn what_does_not_fail_is_refused() {
    let (status, said) = refused(&["--crash=fuse,plan"]);
    assert!(status == Some(1) && said.contains("neither panic"), "{said}");
    let (status, said) = refused(&["--crash"]);
    assert!(status == Some(1) && said.contains("--crash=PIPELINE"), "{said}");
    let (status, said) = refused(&["--crash=fuze"]);
    assert!(status == Some(1) && said.contains("did you mean"), "{said}");
    let (status, said) = refused(&["--stderr=x", "--", "false"]);
    assert!(status == Some(1) && said.contains("does not write to standard error: x"), "{said}");
    let (status, said) = refused(&["--status=2", "--", "false"]);
    assert!(status == Some(1) && said.contains("exit status 1, not 2"), "{said}");
    let (status, said) = refused(&["--", "/no/such/command"]);
    assert!(status == Some(1) && said.contains("can't run `/no/such/command`"), "{said}");
    let (status, said) = refused(&["--", "sh", "-c", "no_such_command {}"]);
    assert!(
        status == Some(1) && said.contains("exit status 127 says that a command was not found"),
        "{said}"
    );
    assert!(said.contains("no_such_command: "), "{said}");
    let (status, said) = refused(&["--", "sh", "-c", "/ {}"]);
    assert!(status == Some(1) && said.contains("exit status 126 says that a command can't be"), "{said}");
    let (status, said) = refused(&["--", env!("CARGO_BIN_EXE_optc"), "--passes=fuze"]);
    assert!(status == Some(1) && said.contains("exit status 1 on an empty program too"), "{said}");
    assert!(said.contains("there is no pass `fuze`"), "{said}");
    assert_eq!(refused(&[]).0, Some(2));
    assert_eq!(refused(&["--crash=dce", "--differs=dce"]).0, Some(2));
}
