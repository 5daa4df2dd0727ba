//! `optc build`, and what the other verbs do with its file; a cache that many processes use, some of which
//! are killed.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use crate::scratch;

const PROGRAM: &str = "func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %w = nn.constant dense<0.25> : tensor<64x64xf32>
  %0 = nn.matmul %x, %w : tensor<64x64xf32>
  %1 = nn.softmax %0 {axis = 1} : tensor<64x64xf32>
  %2 = nn.matmul %1, %w : tensor<64x64xf32>
  return %2 : tensor<64x64xf32>
}
";

fn optc(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_optc"));
    command.env_remove("OPTC_CACHE").args(arguments).output().expect("the command starts")
}

/// What a command prints that must succeed.
fn said(arguments: &[&str]) -> String {
    let output = optc(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text is printed")
}

/// The first line of what a command says that must fail, with its exit status.
fn refusal(arguments: &[&str]) -> (Option<i32>, String) {
    let output = optc(arguments);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), said.lines().next().unwrap_or_default().to_owned())
}

/// The first line that a run prints: the output.
fn output(text: &str) -> &str {
    text.lines().next().expect("a run prints its outputs")
}

#[test]
fn every_verb_takes_an_artifact() {
    let program = scratch::file("built.mlir", PROGRAM.as_bytes()).display().to_string();
    let artifact = program.replace(".mlir", ".optc");
    let built = said(&["build", &program, "-o", &artifact, "--threads=1"]);
    assert!(built.contains("1 thread; machine code ") && built.contains("packed weights 16384"), "{built}");
    let compiled = said(&["run", &program, "--random", "--threads=1"]);
    let loaded = said(&["run", &artifact, "--random"]);
    assert_eq!(output(&loaded), output(&compiled));
    assert!(loaded.contains("\nloaded in "), "{loaded}");
    let again = said(&["run", &artifact, "--random", "--recompile"]);
    assert_eq!(output(&again), output(&compiled));
    assert!(again.contains("\ncompiled in "), "{again}");
    assert_eq!(output(&said(&["run", &artifact, "--random", "--poison"])), output(&compiled));
    assert_eq!(output(&said(&["run", &artifact, "--random", "--interpret"])), output(&compiled));
    let arena = |text: String| text.lines().find(|line| line.starts_with("arena")).map(str::to_owned);
    let plan = said(&["plan", &artifact]);
    assert!(plan.contains(" on 1 thread; "), "{plan}");
    assert_eq!(arena(plan), arena(said(&["plan", &program, "--threads=1"])));
    assert!(said(&["bench", &artifact, "--random", "--runs=2"]).contains(", 1 thread\n"));
    assert!(said(&["explain", &artifact]).contains("peak"));
    assert!(said(&[&artifact]).contains("optc.stage = \"plan\""));
}

#[test]
fn the_inputs_of_an_artifact_are_called_as_those_of_the_text() {
    let program = scratch::file("named.mlir", PROGRAM.as_bytes()).display().to_string();
    let artifact = program.replace(".mlir", ".optc");
    said(&["build", &program, "-o", &artifact]);
    for recompiled in [&[][..], &["--recompile"]] {
        let (status, line) = refusal(&[&["run", &artifact], recompiled].concat());
        assert_eq!((status, &*line), (Some(1), "error: input `x` is missing (see --inputs, --random)"));
    }
    assert!(said(&["explain", &artifact, "0"]).contains("`nn.matmul`"));
}

#[test]
fn what_an_artifact_has_decided_is_not_decided_again() {
    let program = scratch::file("decided.mlir", PROGRAM.as_bytes()).display().to_string();
    let artifact = program.replace(".mlir", ".optc");
    said(&["build", &program, "-o", &artifact]);
    let expected =
        "error: an artifact has the function, sizes, memory, goal, precision and CPU that it was built with";
    let others = [
        "--donate=x",
        "--pool=tcm:align=64",
        "--entry=other",
        "--optimize=memory",
        "--precision=bf16",
        "--target-cpu=portable",
    ];
    let runs = [&["run", &artifact, "--random"][..], &["bench", &artifact, "--random"]];
    let object = [&["build", &artifact, "--emit=obj", "-o", "/nonexistent"][..]];
    let plans =
        [&["plan", &artifact][..], &["explain", &artifact], &["build", &artifact, "-o", "/nonexistent/m"]];
    for verb in runs.iter().chain(&plans).chain(&object) {
        for option in others {
            let (status, text) = refusal(&[verb, &[option][..]].concat());
            assert_eq!((status, text.as_str()), (Some(2), expected), "{verb:?} {option}");
        }
    }
    for option in ["--budget=1MB", "--dim=N=4"] {
        let (status, text) = refusal(&["run", &artifact, "--random", option]);
        assert_eq!((status, text.as_str()), (Some(2), expected), "{option}");
    }
    // What says the same is no other decision.
    said(&["run", &artifact, "--random", "--optimize=balanced", "--precision=f32", "--target-cpu=native"]);
    let (status, text) = refusal(&["run", &artifact, "--random", "--recompile", "--optimize=memory"]);
    assert_eq!((status, text.as_str()), (Some(2), expected));
    // It is compiled again for the processor that is named.
    said(&["run", &artifact, "--random", "--recompile", "--target-cpu=portable"]);
    let (status, text) = refusal(&["run", &program, "--random", "--recompile"]);
    let expected = "error: --recompile is for artifacts, which `optc build` writes";
    assert_eq!((status, text.as_str()), (Some(2), expected));
    let (status, text) = refusal(&["build", &program, "-o", "/nonexistent/m.optc"]);
    assert_eq!(status, Some(1), "{text}");
}

/// The programs that a cache holds.
fn kept(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).expect("the cache is there").filter_map(Result::ok);
    entries.filter(|entry| entry.path().extension().is_some_and(|suffix| suffix == "optc")).count()
}

#[test]
fn a_cache_survives_processes_that_are_killed() {
    let program = scratch::file("cached.mlir", PROGRAM.as_bytes()).display().to_string();
    let folder = scratch::path("cache");
    let cache = format!("--cache={}", folder.display());
    let expected = said(&["run", &program, "--random"]);
    for round in 0..8u64 {
        let start = |_| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_optc"));
            command.args(["run", &program, "--random", &cache]).stdout(Stdio::null());
            command.spawn().expect("the command starts")
        };
        let mut running: Vec<_> = (0..16).map(start).collect();
        std::thread::sleep(Duration::from_millis(4 + 7 * round));
        for child in running.iter_mut().step_by(2) {
            child.kill().expect("the command can be killed");
        }
        for (number, mut child) in running.into_iter().enumerate() {
            let status = child.wait().expect("the command ends");
            assert!(number % 2 == 0 || status.success(), "round {round}, process {number}");
        }
    }
    assert_eq!(kept(&folder), 1, "one program was compiled, by whoever came first");
    let loaded = said(&["run", &program, "--random", &cache]);
    assert_eq!(output(&loaded), output(&expected));
    assert!(loaded.contains("\nloaded in "), "{loaded}");
    std::fs::remove_dir_all(&folder).expect("the cache can be removed");
}
