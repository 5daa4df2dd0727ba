//! Inputs and outputs as ONNX ships those of its tests: a folder of numbered files.

use std::process::{Command, Output};

use optc::Array;
use optc::protobuf::{read_folder, write_folder};

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
