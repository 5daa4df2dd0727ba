//! A pass that panics leaves a file, from which one flag runs it again.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::Command;

use ir::{Body, Diagnostic};
use optc::opt::{OptArgs, Setup, Source};
use passes::manager::{Example, PassContext, PassDef, PassRun, StageRule};

use crate::scratch;

/// A pass that can't stand a function called `bad`.
static TOUCHY: PassDef = PassDef {
    name: "touchy",
    doc: "Panics.",
    options: &[],
    example: Example { before: "", after: "" },
    stage: StageRule::Any,
    run: PassRun::Function(touchy),
};

fn touchy(cx: &PassContext<'_>, func: &mut Body) -> Result<(), Vec<Diagnostic>> {
    assert_ne!(func.symbol(cx.ctx), Some("bad"), "can't stand it");
    Ok(())
}

const TEXT: &str = "func.func @bad(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.exp %x : tensor<4xf32>
  %1 = nn.exp %x : tensor<4xf32>
  %2 = nn.add %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
";

fn setup() -> Setup {
    let mut setup = Setup::default();
    setup.registry.register(&TOUCHY);
    setup
}

/// Writes a reproducer by a panic; gives what was said on the way.
fn crash(path: &Path) -> String {
    let reproducer = format!("--reproducer={}", path.display());
    let args = OptArgs::parse(&["--passes=cse,touchy,dce", "--threads=2", &reproducer]).expect("arguments");
    let said = RefCell::new(String::new());
    let say = |text: &str| said.borrow_mut().push_str(text);
    let panic = catch_unwind(AssertUnwindSafe(|| setup().opt_text(&args, Source::new("t", TEXT), &say)));
    assert!(panic.is_err(), "the pass panics");
    said.into_inner()
}

#[test]
fn a_reproducer_panics_again_with_one_flag() {
    let path = scratch::path("again.mlir");
    assert!(crash(&path).starts_with("pass `touchy` panicked; its input program is in `"));
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("// optc crash: --threads=2 --passes='touchy'\n"), "{text}");
    let replayed = catch_unwind(AssertUnwindSafe(|| {
        setup().replay(&OptArgs::default(), Source::new("again", &text), &|_| {}, &mut String::new())
    }));
    assert!(replayed.is_err(), "the pass panics again");
}

#[test]
fn a_reproducer_of_what_was_mended_prints_the_program() {
    let path = scratch::path("mended.mlir");
    crash(&path);
    let text = std::fs::read_to_string(&path).unwrap().replace("touchy", "dce");
    std::fs::write(&path, text).unwrap();
    let replay = format!("--replay={}", path.display());
    for arguments in [vec![replay.as_str()], vec!["run", replay.as_str()]] {
        let output = Command::new(env!("CARGO_BIN_EXE_optc")).args(&arguments).output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(printed.matches("nn.exp").count(), 1, "`cse` had run already: {printed}");
    }
}

#[test]
fn without_a_file_for_it_the_flag_is_named() {
    let args = OptArgs::parse(&["--passes=touchy"]).unwrap();
    let said = RefCell::new(String::new());
    let say = |text: &str| said.borrow_mut().push_str(text);
    let panic = catch_unwind(AssertUnwindSafe(|| setup().opt_text(&args, Source::new("t", TEXT), &say)));
    assert!(panic.is_err());
    assert_eq!(said.into_inner(), "pass `touchy` panicked; `--reproducer=FILE` writes its input program\n");
}

#[test]
fn what_is_no_reproducer_is_refused() {
    let path = scratch::file("other.mlir", TEXT.as_bytes());
    let replay = format!("--replay={}", path.display());
    let output = Command::new(env!("CARGO_BIN_EXE_optc")).arg(replay).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("is no reproducer"));
}

#[test]
fn times_are_printed_as_json() {
    let path = scratch::file("times.mlir", TEXT.as_bytes());
    let arguments = ["--passes=cse,func(dce)", "--timing=json", path.to_str().unwrap()];
    let output = Command::new(env!("CARGO_BIN_EXE_optc")).args(arguments).output().unwrap();
    let times: serde_json::Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!(times["name"], "total");
    assert_eq!(times["children"][0]["name"], "cse");
    assert_eq!(times["children"][1]["children"][0]["name"], "dce");
}
