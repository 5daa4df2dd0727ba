//! `-` is standard input or output for each verb that reads or writes a file, and never a file of that name.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::scratch::{file, path};

const PROGRAM: &str = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.exp %x : tensor<4xf32>
  %1 = nn.softmax %0 {axis = 0} : tensor<4xf32>
  return %1 : tensor<4xf32>
}
";

/// Runs the command in a folder, with a file as its standard input.
fn optc(folder: &Path, input: &Path, arguments: &[&str]) -> Output {
    let input = File::open(input).expect("the input is there");
    let mut command = Command::new(env!("CARGO_BIN_EXE_optc"));
    command.args(arguments).current_dir(folder).stdin(Stdio::from(input));
    command.output().expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn every_verb_reads_standard_input_whatever_file_has_its_name() {
    let program = file("stdin.mlir", PROGRAM.as_bytes());
    let folder = program.parent().expect("the file is in a folder");
    let artifact = optc(folder, &program, &["build", "-", "-o", "-"]);
    let said = text(&artifact.stderr);
    assert!(artifact.status.success() && said.starts_with("-: for "), "{said}");
    assert!(!folder.join("-").exists());
    let written = path("stdin.optc");
    let built = optc(folder, &program, &["build", "-", "-o", &written.display().to_string()]);
    assert!(built.status.success(), "{}", text(&built.stderr));
    assert!(fs::read(&written).expect("it was written") == artifact.stdout);

    // An artifact of that name is not what `-` means.
    let other = PROGRAM.replace("nn.exp", "nn.tanh").replace('4', "64");
    fs::write(folder.join("other.mlir"), other).expect("it can be written");
    let built = optc(folder, &program, &["build", "other.mlir", "-o", "./-"]);
    assert!(built.status.success() && folder.join("-").exists(), "{}", text(&built.stderr));
    let cases: [(&[&str], &str); 8] = [
        (&["-"], "nn.exp %arg0 : tensor<4xf32>"),
        (&["plan", "-"], "inputs 16 bytes"),
        (&["explain", "-"], "arena "),
        (&["run", "-", "--random"], "output `result0` [4]: "),
        (&["bench", "-", "--random", "--runs=1"], "latency "),
        (&["bisect", "-", "--random"], "nothing differs"),
        (&["diff", "-", "stdin.mlir"], "the same"),
        (&["reduce", "-", "-o", "-", "--", "sh", "-c", "grep -q nn.softmax {}"], "nn.softmax"),
    ];
    for (arguments, expected) in cases {
        let output = optc(folder, &program, arguments);
        let said = text(&output.stdout);
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        assert!(said.contains(expected) && !said.contains("nn.tanh"), "{arguments:?}: {said}");
    }
}

#[test]
fn models_and_tests_are_read_from_standard_input_and_artifacts_are_refused() {
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/squeezenet1_1.onnx");
    let program = file("dashes.mlir", PROGRAM.as_bytes());
    let folder = program.parent().expect("the file is in a folder");
    let planned = optc(folder, &model, &["plan", "-", "--optimize=memory"]);
    let by_name = optc(folder, &model, &["plan", &model.display().to_string(), "--optimize=memory"]);
    assert!(planned.status.success(), "{}", text(&planned.stderr));
    assert_eq!(text(&planned.stdout), text(&by_name.stdout));

    let test = file("test.mlir", format!("// RUN: optc plan\n// CHECK: arena 0 bytes\n{PROGRAM}").as_bytes());
    let ran = optc(folder, &test, &["lit", "-"]);
    assert!(ran.status.success(), "{}{}", text(&ran.stdout), text(&ran.stderr));
    let wrong = file("wrong.mlir", format!("// RUN: optc plan\n// CHECK: nothing\n{PROGRAM}").as_bytes());
    let ran = optc(folder, &wrong, &["lit", "-"]);
    assert_eq!(ran.status.code(), Some(1));
    assert!(text(&ran.stderr).contains("<stdin>: "), "{}", text(&ran.stderr));
    assert_eq!(optc(folder, &test, &["lit", "-", "--bless"]).status.code(), Some(2));

    let artifact = path("dashes.optc");
    let built = optc(folder, &program, &["build", "-", "-o", &artifact.display().to_string()]);
    assert!(built.status.success(), "{}", text(&built.stderr));
    let refused = optc(folder, &artifact, &["run", "-", "--random"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("can't be read from standard input"), "{}", text(&refused.stderr));
    for arguments in [&["build", "-", "-o", "-", "--emit=obj"][..], &["build", "-", "-o", "-", "--json=-"]] {
        assert_eq!(optc(folder, &program, arguments).status.code(), Some(2), "{arguments:?}");
    }
    assert!(!folder.join("-").exists());
}
