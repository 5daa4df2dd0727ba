//! `optc reduce` finds the small program in a large one, and says why there is none.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use optc::import::onnx::model::ModelProto;
use optc::import::onnx::tensor::{Dimension, TypeProto};

use crate::own_sizes::{info, message};
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

/// A node of a model; its operands and its result are letters.
fn node(op: &str, inputs: &str, output: &[u8]) -> Vec<u8> {
    let inputs: Vec<&[u8]> = inputs.as_bytes().chunks(1).collect();
    let fields = inputs.into_iter().map(|input| (1, input)).chain([(2, output), (4, op.as_bytes())]);
    message(&fields.collect::<Vec<_>>())
}

/// A model of these nodes with the input `x` and the output `y`.
fn model(nodes: &[Vec<u8>], others: &[(u8, Vec<u8>)]) -> Vec<u8> {
    let ends = [(11, info(b"x", 1, &["4", "64"])), (12, info(b"y", 1, &["4", "64"]))];
    let nodes = nodes.iter().map(|node| (1, &node[..]));
    let fields = nodes.chain(ends.iter().chain(others).map(|(field, bytes)| (*field, &bytes[..])));
    let graph = message(&fields.collect::<Vec<_>>());
    [&[1 << 3, 8][..], &message(&[(7, &graph), (8, &[2 << 3, 17])])].concat()
}

/// What `optc reduce` leaves of a model in a folder, on which this script runs.
fn reduced_model(folder: &Path, model: &[u8], options: &[&str], script: &str) -> (Vec<u8>, String) {
    let (large, small) = (folder.join("large.onnx"), folder.join("small.onnx"));
    fs::write(&large, model).expect("it is written");
    let [large, small_path] = [&large, &small].map(|path| path.display().to_string());
    let command = ["--", "sh", "-c", script];
    let output = optc(&[&["reduce", &*large, "-o", &small_path], options, &command].concat());
    let said = String::from_utf8(output.stderr).expect("text is said");
    assert!(output.status.success(), "{said}");
    (fs::read(small).expect("it was written"), said)
}

#[test]
fn a_model_is_reduced_to_a_model_and_every_candidate_is_one() {
    let folder = tempfile::tempdir().expect("a folder is made");
    let weight = [&[1 << 3, 64, 2 << 3, 1][..], &message(&[(8, b"w"), (9, &[0; 256])])].concat();
    let nodes = [
        node("Mul", "xw", b"a"),
        node("Softmax", "a", b"b"),
        node("Relu", "x", b"c"),
        node("Tanh", "b", b"d"),
        node("Add", "dc", b"y"),
    ];
    let bad = folder.path().join("bad").display().to_string();
    let own = env!("CARGO_BIN_EXE_optc");
    let script = format!("'{own}' plan {{}} >/dev/null || touch '{bad}'; grep -q Softmax {{}}");
    let model = model(&nodes, &[(5, weight), (12, info(b"c", 1, &["4", "64"]))]);
    let (file, said) = reduced_model(folder.path(), &model, &[], &script);
    assert!(said.contains("5 -> 1 nodes, "), "{said}");
    let small = ModelProto::read(&file).expect("it is a model");
    let graph = &small.graph;
    assert_eq!((graph.nodes[0].op_type, &graph.nodes[0].inputs[..]), ("Softmax", &["a"][..]));
    assert!(graph.initializers.is_empty() && graph.nodes.len() == 1);
    let shape = Some(vec![Dimension::Value(1); 2]);
    for (values, name) in [(&graph.inputs, "a"), (&graph.outputs, "b")] {
        let [value] = &values[..] else { panic!("{values:?}") };
        let ty = TypeProto::Tensor { element: 1, shape: shape.clone() };
        assert_eq!((value.name, &value.ty), (name, &ty));
    }
    assert!(!fs::exists(&bad).expect("the folder can be read"), "a candidate was no model");
    let text = program().display().to_string();
    let output = folder.path().join("none.onnx").display().to_string();
    assert_eq!(optc(&["reduce", &text, "-o", &output, "--", "true"]).status.code(), Some(2));
}

/// No types are known of what an unknown operator computes.
#[test]
fn a_model_that_is_not_imported_is_reduced_by_its_names() {
    let folder = tempfile::tempdir().expect("a folder is made");
    let nodes = [
        node("Relu", "x", b"a"),
        node("Nonsense", "a", b"b"),
        node("Tanh", "b", b"c"),
        node("Neg", "c", b"y"),
    ];
    let script = format!("'{}' plan {{}}", env!("CARGO_BIN_EXE_optc"));
    let (file, said) = reduced_model(folder.path(), &model(&nodes, &[]), &["--stderr=Nonsense"], &script);
    assert!(said.contains("4 -> 1 nodes, "), "{said}");
    let small = ModelProto::read(&file).expect("it is a model");
    assert_eq!((small.graph.nodes[0].op_type, &small.graph.nodes[0].inputs[..]), ("Nonsense", &["x"][..]));
}

#[test]
fn a_candidate_finds_the_files_of_the_model() {
    let folder = tempfile::tempdir().expect("a folder is made");
    let shape: Vec<u8> = [4i64, 64].iter().flat_map(|size| size.to_le_bytes()).collect();
    fs::write(folder.path().join("shape.bin"), shape).expect("it is written");
    let place = message(&[(1, b"location"), (2, b"shape.bin")]);
    let numbers = [&[1 << 3, 2, 2 << 3, 7][..], &message(&[(8, b"s"), (13, &place)]), &[14 << 3, 1]].concat();
    let nodes = [node("Relu", "x", b"a"), node("Reshape", "as", b"b"), node("Tanh", "b", b"y")];
    let model = model(&nodes, &[(5, numbers)]);
    let script = format!("'{}' plan {{}} && grep -q Reshape {{}}", env!("CARGO_BIN_EXE_optc"));
    let (file, said) = reduced_model(folder.path(), &model, &["--status=0"], &script);
    assert!(said.contains("3 -> 1 nodes, "), "{said}");
    assert_eq!(ModelProto::read(&file).expect("it is a model").graph.initializers.len(), 1);
    let mut names: Vec<_> = fs::read_dir(folder.path())
        .expect("it is there")
        .map(|entry| entry.expect("it can be read").file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["large.onnx", "shape.bin", "small.onnx"]);
}
