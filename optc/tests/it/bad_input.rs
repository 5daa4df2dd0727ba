//! What the command says of wrong input: exit status 1 or 2, a message that says where, and never a panic.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::scratch::file;

fn model() -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/squeezenet1_1.onnx");
    fs::read(path).expect("the project carries the model")
}

fn optc(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_optc")).args(arguments).output().expect("the command starts")
}

/// Runs the command and expects this exit status, nothing on standard output, and all these words in the
/// message.
fn expect(status: i32, arguments: &[&str], words: &[&str]) {
    let output = optc(arguments);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {message}");
    assert!(!message.contains("panicked"), "{arguments:?}: {message}");
    assert!(output.stdout.is_empty(), "{arguments:?} prints {}", String::from_utf8_lossy(&output.stdout));
    for word in words {
        assert!(message.contains(word), "{arguments:?}: no `{word}` in: {message}");
    }
}

fn run_model(name: &str, content: &[u8], words: &[&str]) {
    let path = file(name, content);
    expect(1, &["run", path.to_str().expect("plain path"), "--synthesize-weights", "--random"], words);
}

/// The bytes with every occurrence of `from` replaced by as many other bytes.
fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len(), "lengths are kept, so that the file stays well-formed");
    let mut out = bytes.to_vec();
    let mut found = 0;
    for at in 0..out.len() - from.len() {
        if out[at..].starts_with(from) {
            out[at..at + to.len()].copy_from_slice(to);
            found += 1;
        }
    }
    assert!(found > 0, "the model has no {:?}", String::from_utf8_lossy(from));
    out
}

#[test]
fn files_that_are_no_models_are_refused() {
    run_model("empty.onnx", b"", &["error"]);
    let noise: Vec<u8> = (0..5000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    run_model("noise.onnx", &noise, &["error"]);
    expect(1, &["run", "/no/such/model.onnx", "--random"], &["/no/such/model.onnx"]);
}

#[test]
fn truncated_models_are_refused() {
    let model = model();
    for part in 1..24 {
        let length = model.len() * part / 24;
        let path = file(&format!("truncated{part}.onnx"), &model[..length]);
        let output = optc(&["run", path.to_str().expect("plain path"), "--synthesize-weights", "--random"]);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{length} bytes: {message}");
        assert!(message.starts_with("error") && !message.contains("panicked"), "{length} bytes: {message}");
    }
}

#[test]
fn unknown_operators_are_named_with_their_nodes() {
    let model = replaced(&model(), b"\x22\x07MaxPool", b"\x22\x07MaxPoll");
    run_model("operator.onnx", &model, &["MaxPoll", "3", "/features/features.2/MaxPool"]);
}

#[test]
fn a_node_that_reads_what_nobody_makes_is_named() {
    let model = replaced(&model(), b"\x0a\x05input\x0a\x11features.0", b"\x0a\x05inpot\x0a\x11features.0");
    run_model(
        "undefined.onnx",
        &model,
        &["/features/features.0/Conv", "`inpot` is not defined", "did you mean"],
    );
}

#[test]
fn a_stripped_model_needs_a_rule_for_its_weights() {
    let path = file("stripped.onnx", &model());
    expect(1, &["run", path.to_str().expect("plain path"), "--random"], &["--synthesize-weights"]);
}

#[test]
fn inputs_of_other_shapes_are_refused() {
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3, 2, 2), }";
    let mut npy = b"\x93NUMPY\x01\x00".to_vec();
    let padded = format!("{header:117}\n");
    npy.extend((padded.len() as u16).to_le_bytes());
    npy.extend(padded.as_bytes());
    npy.extend([0; 48]);
    let (model, array) = (file("shape.onnx", &model()), file("shape.npy", &npy));
    let (model, array) = (model.to_str().expect("plain path"), array.to_str().expect("plain path"));
    expect(
        1,
        &["run", model, "--synthesize-weights", "--input", "input", array],
        &["`input`", "[1, 3, 2, 2]", "224"],
    );
    let words = &["no input `imput`", "did you mean `input`?"];
    expect(1, &["run", model, "--synthesize-weights", "--input", "imput", array], words);
    expect(1, &["run", model, "--synthesize-weights"], &["input `input` is missing"]);
}

#[test]
fn wrong_text_is_refused_with_line_and_column() {
    let cases = [
        (
            "operation.mlir",
            "func.func @main(%x: tensor<4xf32>) {\n  %0 = nn.rleu %x : tensor<4xf32>\n  return\n}\n",
            ":2:",
        ),
        ("type.mlir", "func.func @main(%x: tensor<4xf99>) {\n  return\n}\n", ":1:"),
        ("value.mlir", "func.func @main() -> tensor<4xf32> {\n  return %1 : tensor<4xf32>\n}\n", ":2:"),
        ("bracket.mlir", "func.func @main() {\n  return\n", ":"),
        ("string.mlir", "module attributes {a = \"x} {\n}\n", ":1:"),
        (
            "shape.mlir",
            "func.func @main(%x: tensor<4xf32>) -> tensor<5xf32> {\n  %0 = nn.relu %x : (tensor<4xf32>) -> tensor<5xf32>\n  return %0 : tensor<5xf32>\n}\n",
            ":2:",
        ),
    ];
    for (name, text, place) in cases {
        let path = file(name, text.as_bytes());
        let path = path.to_str().expect("plain path");
        expect(1, &[path], &["error", name, place]);
    }
    let path = file("bytes.mlir", b"module {\n  \xff\n}\n");
    expect(1, &[path.to_str().expect("plain path")], &["bytes.mlir:2:3", "UTF-8"]);
}

#[test]
fn wrong_usage_is_told_apart() {
    let path = file("right.mlir", b"func.func @f() {\n  return\n}\nfunc.func @g() {\n  return\n}\n");
    let path = path.to_str().expect("plain path");
    expect(1, &["--passes=fues", path], &["did you mean `fuse`?"]);
    expect(1, &["--passes=fuse{max-opps=3}", path], &["did you mean `max-ops`?"]);
    expect(1, &["--passes=fuse{max-ops=many}", path], &["max-ops"]);
    expect(1, &["--passes=plan{planner=protfolio}", path], &["portfolio"]);
    expect(2, &["--pases=fuse", path], &["--passes"]);
    expect(2, &["run"], &["FILE"]);
    expect(2, &["run", path, "--threads=none"], &["threads"]);
    expect(1, &["run", path, "--random"], &["main"]);
    expect(1, &["passes", "fues"], &["did you mean `fuse`?"]);
    expect(1, &["ops", "nn.rleu"], &["did you mean `nn.relu`?"]);
}

/// What a planned text says of its memory, and what is said of it.
const LIES: [(&str, &str, &str, &str); 5] = [
    ("tie", "", "mem.tie = array<i64: 99>", "`mem.tie` is a list"),
    ("place", "", "mem.place = [[\"arena\", 0]]", "`mem.place` is for each result"),
    ("scratch", "", "mem.scratch = -1 : i64", "`mem.scratch` is a number of bytes"),
    ("pool", "attributes {optc.pools = {a = 3 : i64}} ", "", "the pool `a` is no dictionary"),
    ("pools", "attributes {optc.pools = 3 : i64} ", "", "`optc.pools` is no dictionary"),
];

#[test]
fn plans_that_lie_are_refused() {
    for (name, of_function, of_operation, said) in LIES {
        let text = format!(
            "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {of_function}{{\n  %0 = nn.exp %x {{{of_operation}}} : \
             tensor<4xf32>\n  %1 = nn.softmax %0 {{axis = 0}} : tensor<4xf32>\n  return %1 : tensor<4xf32>\n}}\n"
        );
        let path = file(&format!("{name}.mlir"), text.as_bytes());
        let path = path.to_str().expect("plain path");
        expect(1, &["plan", path], &[said]);
        expect(1, &["run", path, "--random"], &[said]);
        expect(1, &["--passes=plan", path], &[said]);
    }
}

#[test]
fn a_word_that_is_no_verb_and_a_second_file_are_told_apart() {
    expect(2, &["rn", "model.onnx"], &["there is no verb `rn`", "did you mean `run`?"]);
    expect(2, &["a.mlir", "b.mlir"], &["one file at a time: `a.mlir` or `b.mlir`"]);
}

#[test]
fn what_is_expected_is_read_before_the_run() {
    let text = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  return %x : tensor<4xf32>\n}\n";
    let program = file("checked.mlir", text.as_bytes()).display().to_string();
    let damaged = file("damaged.json", b"{bad").display().to_string();
    let run = ["run", &*program, "--random"];
    expect(1, &[&run[..], &["--check", &damaged]].concat(), &["damaged.json: expected an object with shape"]);
    expect(1, &[&run[..], &["--check", "/no/such.npz"]].concat(), &["/no/such.npz: No such file"]);
    for tolerance in ["nan", "-1"] {
        let tolerance = format!("--tolerance={tolerance}");
        expect(2, &[&run[..], &["--check", &damaged, &tolerance]].concat(), &["a tolerance is 0 or more"]);
    }
}

#[test]
fn several_public_functions_are_listed() {
    let text = "func.func @f() {\n  return\n}\nfunc.func @g() {\n  return\n}\n";
    let path = file("several.mlir", text.as_bytes()).display().to_string();
    expect(1, &["plan", &path], &["no function `main`", "choose one of `f`, `g` with --entry"]);
    assert!(optc(&["plan", &path, "--entry=g"]).status.success());
}

#[test]
fn a_model_under_another_name_is_known_as_one() {
    let path = file("model.bin", &model()).display().to_string();
    expect(1, &["plan", &path], &["not UTF-8 (an ONNX model is a file whose name ends in `.onnx`)"]);
}

#[test]
fn a_size_has_forms_that_a_shell_leaves_alone() {
    let text = "func.func @main(%x: tensor<?xf32, #optc.dims<N>>) -> tensor<?xf32, #optc.dims<N>> {
  %0 = nn.exp %x : tensor<?xf32, #optc.dims<N>>
  return %0 : tensor<?xf32, #optc.dims<N>>
}
";
    let path = file("named.mlir", text.as_bytes()).display().to_string();
    let [with_dots, with_sign] = ["N..8", "N<=8"].map(|dim| optc(&["plan", &path, "--dim", dim]).stdout);
    assert!(!with_dots.is_empty() && with_dots == with_sign);
    expect(2, &["plan", &path, "--dim", "N>=4"], &["NAME=NUMBER, NAME<=NUMBER or NAME..NUMBER"]);
}

#[test]
fn names_that_are_far_from_all_are_answered_with_those_that_there_are() {
    let text = "func.func @main(%x: tensor<?x?xf32, #optc.dims<batch, seq>>) -> tensor<?x?xf32, #optc.dims<batch, seq>> {
  %0 = nn.exp %x : tensor<?x?xf32, #optc.dims<batch, seq>>
  %1 = nn.tanh %0 : tensor<?x?xf32, #optc.dims<batch, seq>>
  return %1 : tensor<?x?xf32, #optc.dims<batch, seq>>
}
";
    let path = file("sizes.mlir", text.as_bytes()).display().to_string();
    for arguments in
        [["plan", "--dim=positions=4"], ["plan", "--dim=positions..4"], ["explain", "--dim=positions=4"]]
    {
        let arguments = [arguments[0], &path, arguments[1]];
        expect(1, &arguments, &["no named size `positions`", "there are `batch`, `seq`"]);
    }
    expect(1, &["plan", &path, "--dim=sek=4"], &["did you mean `seq`?"]);
    let shown = ["run", &path, "--dim=batch=2", "--dim=seq=2", "--random", "--debug-tensors=conv"];
    expect(1, &shown, &["no intermediate value is called `conv`", "there is only `%0`"]);
}

#[test]
fn a_check_that_compares_nothing_is_refused() {
    let text = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  return %x : tensor<4xf32>\n}\n";
    let program = file("unchecked.mlir", text.as_bytes()).display().to_string();
    let empty = file("empty.json", b"{}").display().to_string();
    let output = optc(&["run", &program, "--random", "--check", &empty]);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("empty.json: there is no output to compare with"), "{message}");
}

#[test]
fn a_call_that_is_left_says_why() {
    let text = "func.func private @k(tensor<4xf32>) -> tensor<4xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
";
    let path = file("declared.mlir", text.as_bytes()).display().to_string();
    expect(1, &["run", &path, "--random"], &["declared.mlir:3:", "unless the called function has no body"]);
}

#[test]
fn an_announcement_that_is_misspelt_is_told_with_its_file() {
    let text = "func.func @main() {\n  // expected-eror@+1 {{x}}\n  return\n}\n";
    let path = file("announced.mlir", text.as_bytes()).display().to_string();
    expect(1, &[&path, "--verify-diagnostics"], &["announced.mlir:2: `expected-` is not followed by"]);
}

#[test]
fn an_operation_of_a_foreign_dialect_is_allowed_in_generic_form_only() {
    let text = "func.func @main(%x: tensor<4xf32>) {\n  linalg.fill %x : tensor<4xf32>\n  return\n}\n";
    let path = file("foreign.mlir", text.as_bytes()).display().to_string();
    let words = ["foreign.mlir:2:3", "in generic form only: `\"linalg.fill\"(...) : ...`"];
    expect(1, &[&path, "--allow-unregistered"], &words);
    let generic = text
        .replace("linalg.fill %x :", "\"linalg.fill\"(%x) :")
        .replace(": tensor<4xf32>\n", ": (tensor<4xf32>) -> ()\n");
    let path = file("generic.mlir", generic.as_bytes()).display().to_string();
    let output = optc(&[&path, "--allow-unregistered"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[cfg(unix)]
#[test]
fn a_file_of_an_input_may_have_any_name() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let text = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  return %x : tensor<4xf32>\n}\n";
    let program = file("any_name.mlir", text.as_bytes());
    let missing = OsStr::from_bytes(b"\xff.npy");
    let mut command = Command::new(env!("CARGO_BIN_EXE_optc"));
    let output = command.arg("run").arg(program).args(["--input", "x"]).arg(missing).output();
    let output = output.expect("the command starts");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains(".npy: No such file"), "{message}");
}
