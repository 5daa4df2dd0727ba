//! Inputs and outputs as ONNX ships those of its tests: a folder of numbered files.

use std::process::{Command, Output};

use optc::Array;
use optc::protobuf::{HeldArrays, append_bytes, file_of, held_in, read_folder, write_folder};

/// `y` is of 16 bits, of which numpy has no name.
const PROGRAM: &str =
    "func.func @main(%a: tensor<2xf32> {optc.name = \"a\"}, %b: tensor<2xf32> {optc.name = \"b\"})
    -> (tensor<2xf32> {optc.name = \"x\"}, tensor<2xbf16> {optc.name = \"y\"}) {
  %0 = arith.subf %a, %b : tensor<2xf32>
  %1 = arith.truncf %0 : tensor<2xf32> to tensor<2xbf16>
  return %0, %1 : tensor<2xf32>, tensor<2xbf16>
}
";

#[test]
fn inputs_and_outputs_are_read_and_written_in_order() {
    let folder = tempfile::tempdir().expect("a folder is made");
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("p.mlir"), PROGRAM).expect("it is written");
    let arrays = [Array::f32("", &[2], &[3.0, 5.5]), Array::f32("b", &[2], &[1.0, 1.0])];
    write_folder(folder.path(), "input", &arrays).expect("they are written");
    let run = |more: &[&str]| -> Output {
        let (program, inputs) = (path("p.mlir"), path(""));
        let args = [&["run", &program, "--inputs", &inputs], more].concat();
        Command::new(env!("CARGO_BIN_EXE_optc")).args(args).output().expect("the command runs")
    };
    let said =
        |output: Output| String::from_utf8([output.stdout, output.stderr].concat()).expect("it prints text");
    let written = run(&["--out", &path("new/")]);
    assert!(written.status.success(), "{}", said(written));
    let outputs = read_folder(&folder.path().join("new"), "output").expect("they are there");
    assert_eq!(outputs.iter().map(Array::to_f64).collect::<Vec<_>>(), [[2.0, 4.5], [2.0, 4.5]]);
    assert!(said(run(&["--check", &path("new")])).contains("output `y`: every element is as expected"));

    let archive = path("y.npz");
    assert!(run(&["--out", &archive]).status.success());
    assert!(said(run(&["--check", &archive])).contains("output `y`: within 0.0e0 of absmax 4.5"));

    write_folder(&folder.path().join("wrong"), "output", &[outputs[0].clone(), outputs[0].clone()])
        .expect("they are written");
    let wrong = run(&["--check", &path("wrong")]);
    assert_eq!(wrong.status.code(), Some(1));
    assert!(said(wrong).contains("error: output `y`: it is (BF16, [2]), expected (F32, [2])"));

    write_folder(folder.path(), "input", &[&arrays[..], &arrays[..]].concat()).expect("they are written");
    let many = said(run(&[]));
    assert!(many.contains("4 inputs, but the program has 2"), "{many}");
}

/// A message of fields that hold bytes.
fn message(fields: &[(u8, &[u8])]) -> Vec<u8> {
    let mut message = Vec::new();
    fields.iter().for_each(|(field, bytes)| append_bytes(&mut message, *field, bytes));
    message
}

/// A message with a number in its field 2.
fn with_number(number: u8, message: &[u8]) -> Vec<u8> {
    [&[2 << 3, number][..], message].concat()
}

#[test]
fn a_file_holds_a_tensor_a_sequence_or_an_optional() {
    let arrays = [Array::f32("", &[2], &[1.0, 2.0]), Array::f32("", &[1], &[3.0])];
    let [a, b] = arrays.clone().map(|array| file_of(&array));
    assert_eq!(held_in(a.clone()), Ok(HeldArrays::Tensor(arrays[0].clone())));
    let sequence = with_number(1, &message(&[(1, b"s"), (3, &a), (3, &b)]));
    assert_eq!(held_in(sequence.clone()), Ok(HeldArrays::Items(arrays.to_vec())));
    let optional = with_number(3, &message(&[(1, b"o"), (5, &sequence)]));
    assert_eq!(held_in(optional), Ok(HeldArrays::Items(arrays.to_vec())));
    assert_eq!(held_in(with_number(1, &message(&[(1, b"s")]))), Ok(HeldArrays::Items(vec![])));
    assert_eq!(held_in(with_number(0, &message(&[(1, b"o")]))), Ok(HeldArrays::Nothing));
    for cut in 0..sequence.len() {
        if let Ok(held) = held_in(sequence[..cut].to_vec()) {
            assert!(held.into_arrays().len() < 2, "cut at {cut}");
        }
    }
    assert!(held_in(Vec::new()).is_err());
    let nested = with_number(3, &message(&[(5, &sequence), (5, &sequence)]));
    assert!(held_in(nested).is_err(), "a sequence of sequences");
}

/// A model that gives back the sequence of tensors of `f32` that is its input `s`.
fn sequence_model() -> Vec<u8> {
    let tensor = message(&[(1, &[1 << 3, 1])]);
    let info = |name: &[u8]| message(&[(1, name), (2, &message(&[(4, &message(&[(1, &tensor)]))]))]);
    let node = message(&[(1, b"s"), (2, b"y"), (4, b"Identity")]);
    let graph = message(&[(1, &node), (11, &info(b"s")), (12, &info(b"y"))]);
    message(&[(7, &graph), (8, &with_number(17, &[]))])
}

#[test]
fn a_sequence_is_an_input_for_each_of_its_elements() {
    let folder = tempfile::tempdir().expect("a folder is made");
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("s.onnx"), sequence_model()).expect("it is written");
    let run = |more: &[&str]| {
        let model = path("s.onnx");
        let args = [&["run", &model], more].concat();
        let output = Command::new(env!("CARGO_BIN_EXE_optc")).args(args).output();
        let output = output.expect("the command runs");
        String::from_utf8([output.stdout, output.stderr].concat()).expect("it prints text")
    };
    let arrays = [Array::f32("s[0]", &[2], &[1.0, 2.0]), Array::f32("s[1]", &[1], &[3.0])];
    optc::arrays::write_npz(path("s.npz").as_ref(), &arrays).expect("it is written");
    let said = run(&["--inputs", &path("s.npz"), "--out", &path("y.npz")]);
    assert!(said.contains("output `y[0]` [2]: 1.00000, 2.00000"), "{said}");
    let [a, b] = arrays.map(|array| file_of(&array));
    let sequence = with_number(1, &message(&[(3, &a), (3, &b)]));
    std::fs::write(path("input_0.pb"), &sequence).expect("it is written");
    std::fs::write(path("output_0.pb"), &sequence).expect("it is written");
    let said = run(&["--inputs", &path(""), "--check", &path("")]);
    assert!(said.contains("output `y[1]`: every element is as expected"), "{said}");
    let unknown = run(&["--random"]);
    assert!(unknown.contains("a sequence whose shape is not known before arrays are given"), "{unknown}");
    assert!(unknown.contains("`optc run --inputs` takes it from the arrays"), "{unknown}");
}
