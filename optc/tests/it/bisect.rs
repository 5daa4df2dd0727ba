//! `optc bisect` names the pass and its change, and `optc run --debug-tensors` shows what is computed on the
//! way.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

use crate::scratch;

/// `x^3` is computed as `x^2 * x`, which rounds otherwise.
fn program() -> PathBuf {
    let text = r#"func.func @main(%x: tensor<4x8xf32> {optc.name = "x"}) -> tensor<4x8xf32> {
  %three = nn.constant dense<3.0> : tensor<f32>
  %0 = nn.tanh %x : tensor<4x8xf32> loc("Tanh_1")
  %1 = nn.pow %0, %three : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32> loc("Pow_2")
  %2 = nn.neg %1 : tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}
"#;
    scratch::file("powers.mlir", text.as_bytes())
}

fn optc(arguments: &[&str]) -> (Option<i32>, String, String) {
    let path = program().display().to_string();
    let (verb, rest) = arguments.split_first().expect("a verb");
    let output = Command::new(env!("CARGO_BIN_EXE_optc")).args([verb, &*path]).args(rest).output();
    let Output { status, stdout, stderr } = output.expect("the command starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text is printed");
    (status.code(), text(stdout), text(stderr))
}

#[test]
fn the_pass_and_its_change_are_named() {
    let (status, said, _) = optc(&["bisect", "--random", "--tolerance=0"]);
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("pass `simplify` makes the program wrong, as the interpreter runs it\n"), "{said}");
    assert!(said.contains(": law `pow-three`\n"), "{said}");
    assert!(said.contains("output `result0` is ") && said.contains("--stop-after=simplify:"), "{said}");
    let (_, json, _) = optc(&["bisect", "--random", "--tolerance=0", "--json=-"]);
    let json: Value = serde_json::from_str(&json).expect("JSON is printed");
    assert_eq!((&json["differs"], &json["pass"]), (&true.into(), &"simplify".into()), "{json}");
    assert_eq!(json["change"]["what"], "law `pow-three`");
    let number = json["change"]["number"].as_u64().expect("a number");
    let (_, before, _) = stopped(number - 1);
    let (_, after, _) = stopped(number);
    assert!(!before.contains("nn.square") && after.contains("nn.square"), "{before}{after}");
}

fn stopped(changes: u64) -> (Option<i32>, String, String) {
    let path = program().display().to_string();
    let limit = format!("--stop-after=simplify:{changes}");
    let output = Command::new(env!("CARGO_BIN_EXE_optc")).args(["--passes=simplify", &limit, &path]).output();
    let output = output.expect("the command starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_right_program_has_no_fault() {
    let (status, said, _) = optc(&["bisect", "--random"]);
    assert_eq!(
        (status, &*said),
        (Some(0), "nothing differs: the interpreter and a real run compute the same\n")
    );
}

#[test]
fn values_on_the_way_are_shown_and_compared() {
    let (status, said, _) = optc(&["run", "--random", "--debug-tensors=all"]);
    assert_eq!((status, &*said), (Some(0), "`Tanh_1`: as expected\n`Pow_2`: as expected\n"));
    let path = scratch::path("values.npz").display().to_string();
    let (status, said, _) = optc(&["run", "--random", "--debug-tensors=Pow_2", "--debug-out", &path]);
    assert_eq!((status, &*said), (Some(0), "`Pow_2`: as expected\n"));
    let (status, said, told) =
        optc(&["run", "--random=5", "--debug-tensors=Tanh_1,Pow_2", "--debug-check", &path]);
    assert_eq!((status, &*said), (Some(1), "`Tanh_1`: nothing is expected of it\n"));
    assert!(told.contains("`Pow_2` is ") && told.contains("; `nn.pow` (`Pow_2`) makes it"), "{told}");
    let (status, _, told) = optc(&["run", "--random", "--debug-tensors=Pow2"]);
    assert_eq!(status, Some(1));
    assert!(told.contains("called `Pow2` (did you mean `Pow_2`?)"), "{told}");
}
