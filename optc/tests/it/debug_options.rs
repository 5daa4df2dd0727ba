//! The verbs that compile show what is asked of their passes, and keep to limits.

use std::fmt::Write;
use std::process::{Command, Output};

use crate::scratch;

const TEXT: &str = "func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = nn.exp %x : tensor<64xf32>
  %1 = nn.cum_sum %0 {axis = 0} : tensor<64xf32>
  %2 = nn.softmax %1 {axis = 0} : tensor<64xf32>
  return %2 : tensor<64xf32>
}
";

/// The same at all sizes.
const NAMED: &str = "func.func @main(%x: tensor<?xf32, #optc.dims<N>>) -> tensor<?xf32, #optc.dims<N>> {
  %0 = nn.cum_sum %x {axis = 0} : tensor<?xf32, #optc.dims<N>>
  %1 = nn.softmax %0 {axis = 0} : tensor<?xf32, #optc.dims<N>>
  return %1 : tensor<?xf32, #optc.dims<N>>
}
";

fn optc(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_optc")).args(arguments).output().expect("the command starts")
}

/// What goes to standard error of a command that must succeed.
fn errors_of(arguments: &[&str]) -> String {
    let output = optc(arguments);
    let errors = String::from_utf8(output.stderr).expect("text is UTF-8");
    assert!(output.status.success(), "{arguments:?}: {errors}");
    errors
}

/// A file with a text.
fn file(name: &str, text: &str) -> String {
    let path = scratch::path(name);
    std::fs::write(&path, text).expect("the file can be written");
    path.to_str().expect("a path of text").to_owned()
}

#[test]
fn every_verb_that_compiles_shows_its_passes() {
    let file = file("shown.mlir", TEXT);
    let out = scratch::path("shown.optc");
    let out = out.to_str().expect("a path of text");
    for verb in [
        &["run", &file, "--random"][..],
        &["plan", &file],
        &["bench", &file, "--random", "--runs=1"],
        &["build", &file, "-o", out],
        &["explain", &file],
    ] {
        let quiet = errors_of(verb);
        assert_eq!(quiet, "", "{verb:?}");
        let shown = errors_of(&[verb, &["--print-after=fuse", "--timing", "--remarks"]].concat());
        assert_eq!(shown.matches("// ----- after fuse\n").count(), 1, "{verb:?}: {shown}");
        assert!(shown.contains(" ms 100.0 % total\n") && shown.contains("remark: "), "{verb:?}: {shown}");
        assert!(!shown.contains('\x1b'), "{verb:?}: {shown}");
        let none = errors_of(&[verb, &["--remarks=dce", "--statistics"]].concat());
        assert!(!none.contains("remark: ") && none.contains("verify "), "{verb:?}: {none}");
    }
}

#[test]
fn the_passes_of_the_verbs_are_those_of_the_pipeline_default() {
    for (name, text) in [("default.mlir", TEXT), ("default_named.mlir", NAMED)] {
        let file = file(name, text);
        for goal in ["memory", "balanced"] {
            let options = ["--threads=1", "--print-after=plan"];
            let planned =
                errors_of(&[&["plan", &file, &format!("--optimize={goal}")][..], &options].concat());
            let pipeline = format!("--passes=default{{optimize={goal}}}");
            let printed = optc(&[&pipeline, "--threads=1", &file]);
            let printed = String::from_utf8(printed.stdout).expect("text is UTF-8");
            let (_, after) = planned.split_once('\n').expect("a line says which pass ran");
            assert_eq!(printed, after, "{name} {goal}");
            assert!(printed.contains("optc.stage = \"plan\""), "{printed}");
        }
    }
}

#[test]
fn a_pass_that_does_not_exist_is_an_error_with_a_hint() {
    let file = file("hint.mlir", TEXT);
    for option in ["--print-after=fuze", "--remarks=fuze", "--print-before=fuze", "--stop-after=fuze:1"] {
        let output = optc(&["plan", &file, option]);
        let errors = String::from_utf8(output.stderr).expect("text is UTF-8");
        assert_eq!(output.status.code(), Some(1), "{option}: {errors}");
        assert!(
            errors.contains("there is no pass `fuze`") && errors.contains("`fuse`"),
            "{option}: {errors}"
        );
    }
}

#[test]
fn a_compilation_beyond_its_limits_ends_with_an_error() {
    let mut text = "func.func @main(%0: tensor<8x8xf32>) -> tensor<8x8xf32> {\n".to_owned();
    for step in 1..40_000 {
        let before = step - 1;
        writeln!(text, "  %{step} = nn.matmul %{before}, %{before} : tensor<8x8xf32>")
            .expect("writing to a string");
    }
    text += "  return %39999 : tensor<8x8xf32>\n}\n";
    let long = file("long.mlir", &text);
    for (limit, told) in [
        ("--time-limit=0.02", "compilation takes longer than the --time-limit of 0.02 s"),
        ("--memory-limit=20MB", "compilation takes more memory than the --memory-limit of 20000000 bytes"),
    ] {
        for arguments in [&["plan", &long, limit][..], &["--passes=default", &long, limit]] {
            let output = optc(arguments);
            let errors = String::from_utf8(output.stderr).expect("text is UTF-8");
            assert_eq!(output.status.code(), Some(1), "{arguments:?}: {errors}");
            assert!(errors.contains(told), "{arguments:?}: {errors}");
            assert_eq!(output.stdout, b"", "{arguments:?}");
        }
    }
    let short = file("short.mlir", TEXT);
    errors_of(&["run", &short, "--random", "--time-limit=600", "--memory-limit=1GiB"]);
}

#[test]
fn faults_have_colours_where_they_are_wanted() {
    let file = file("color.mlir", "func.func @main() {\n  nn.nothing\n}\n");
    for (option, is_coloured) in [("--color=always", true), ("--color=never", false), ("--color=auto", false)]
    {
        let output = optc(&["plan", &file, option]);
        let errors = String::from_utf8(output.stderr).expect("text is UTF-8");
        assert_eq!(errors.contains("\x1b[1m\x1b[91merror\x1b[0m"), is_coloured, "{option}: {errors:?}");
        assert_eq!(errors.contains('\x1b'), is_coloured, "{option}: {errors:?}");
    }
}

#[test]
fn where_nothing_can_be_written_nothing_is_run() {
    let file = file("unwritten.mlir", TEXT);
    let there = scratch::path("").join("no folder/out");
    let there = there.to_str().expect("a path of text");
    for arguments in [
        &["run", &file, "--random", "--out", there][..],
        &["run", &file, "--random", "--json", there],
        &["bench", &file, "--random", "--json", there],
        &["plan", &file, "--html", there],
        &["explain", &file, "-o", there],
    ] {
        let output = optc(arguments);
        let errors = String::from_utf8(output.stderr).expect("text is UTF-8");
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {errors}");
        assert!(errors.starts_with(&format!("error: {there}: No such file")), "{arguments:?}: {errors}");
        assert_eq!(output.stdout, b"", "{arguments:?}");
    }
}

#[test]
fn a_run_is_described_as_json() {
    let file = file("described.mlir", NAMED);
    let printed = optc(&["run", &file, "--random", "--dim", "N=8", "--json=-"]).stdout;
    let report: serde_json::Value = serde_json::from_slice(&printed).expect("it is JSON alone");
    assert_eq!(report["version"], 1);
    let run = &report["runs"][0];
    assert_eq!(run["outputs"][0]["shape"], serde_json::json!([8]));
    assert_eq!(run["outputs"][0]["element"], "f32");
    assert!(run["run_ms"].as_f64().is_some_and(|ms| ms > 0.0), "{report}");
    let interpreted = optc(&["run", &file, "--random", "--dim", "N=8", "--interpret", "--json=-"]).stdout;
    let report: serde_json::Value = serde_json::from_slice(&interpreted).expect("it is JSON alone");
    assert_eq!(report["runs"][0]["run_ms"], serde_json::Value::Null);
}
