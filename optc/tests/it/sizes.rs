//! What the command does with named sizes: from a model, from its arguments, from its inputs.

use std::path::Path;
use std::process::{Command, Output};

use crate::scratch::file;

const PROGRAM: &str = "func.func @main(%x: tensor<?x2xf32, #optc.dims<N>> {optc.name = \"x\"}, \
                       %y: tensor<?xf32, #optc.dims<2 * N>> {optc.name = \"y\"}) -> tensor<?x2xf32, #optc.dims<N>> {
  %0 = nn.reshape %y {shape = #optc.dims<N, 2>} : (tensor<?xf32, #optc.dims<2 * N>>) -> tensor<?x2xf32, #optc.dims<N>>
  %1 = nn.add %x, %0 : tensor<?x2xf32, #optc.dims<N>>
  return %1 : tensor<?x2xf32, #optc.dims<N>>
}
";

/// A file of `f32`, numbered from 1.
fn array(name: &str, shape: &[usize]) -> String {
    let sizes: String = shape.iter().map(|size| format!("{size},")).collect();
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({sizes}), }}");
    let header = format!("{header:<117}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    let count: usize = shape.iter().product();
    bytes.extend((1..=count).flat_map(|number| (number as f32).to_le_bytes()));
    file(name, &bytes).display().to_string()
}

fn optc(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_optc")).args(arguments).output().expect("the command starts")
}

#[track_caller]
fn printed(arguments: &[&str]) -> String {
    let output = optc(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("what is printed is text")
}

/// What is said where the input is at fault.
#[track_caller]
fn refused(arguments: &[&str]) -> String {
    let output = optc(arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    String::from_utf8(output.stderr).expect("what is said is text")
}

#[test]
fn a_run_takes_its_sizes_from_its_inputs() {
    let program = file("program.mlir", PROGRAM.as_bytes()).display().to_string();
    let (x, y) = (array("x3.npy", &[3, 2]), array("y6.npy", &[6]));
    let arguments = ["run", &program, "--input", "x", &x, "--input", "y", &y];
    let expected =
        "output `result0` [3, 2]: top [5] 12.00000, [4] 10.00000, [3] 8.00000, [2] 6.00000, [1] 4.00000\n";
    assert!(printed(&arguments).starts_with(expected), "{}", printed(&arguments));
    let interpreted = printed(&[&arguments[..], &["--interpret"]].concat());
    assert_eq!(interpreted, expected);
}

#[test]
fn inputs_that_contradict_sizes_are_told_with_input_dimension_and_constraint() {
    let program = file("contradicted.mlir", PROGRAM.as_bytes()).display().to_string();
    let (x, y) = (array("x.npy", &[3, 2]), array("y.npy", &[8]));
    let of = |more: &[&'static str], y: &str| {
        let said = refused(&[&["run", &program, "--input", "x", &x, "--input", "y", y], more].concat());
        said.trim_end().to_owned()
    };
    let conflict = "error: dimension 0 of input `y`, number 1, is 8, expected 2 * N = 6 as follows from dimension 0 of \
                    input `x`, number 0";
    assert_eq!(of(&[], &y), conflict);
    let range = "error: dimension 0 of input `x`, number 0, is 3, expected 1 <= N <= 2";
    assert_eq!(of(&["--dim", "N<=2"], &y), range);
    let odd = array("y7.npy", &[7]);
    assert_eq!(of(&[], &odd), "error: dimension 0 of input `y`, number 1, is 7, expected 2 * N with N >= 1");
    let given = of(&["--dim", "N=4"], &y);
    assert!(given.contains("input `x` has shape [3, 2]") && given.contains("expected [4, 2]"), "{given}");
}

#[test]
fn a_model_is_planned_for_all_sizes_that_are_symbolized() {
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/squeezenet1_1.onnx");
    let model = model.display().to_string();
    let plan = file("plan.json", b"").display().to_string();
    let arguments = ["plan", &model, "--synthesize-weights", "--symbolize", "input:0=N", "--dim"];
    let all = printed(&[&arguments[..], &["N<=2", "--json", &plan]].concat());
    assert!(all.starts_with("sizes 1 <= N <= 2: offsets are found at each size"), "{all}");
    let arena = all.lines().last().and_then(|line| line.strip_prefix("at all sizes: arena "));
    let arena = arena.and_then(|rest| rest.strip_suffix(" bytes, the joint maximum"));
    let arena: u64 = arena.and_then(|bytes| bytes.parse().ok()).expect("the last line says the arena");
    let json = std::fs::read_to_string(&plan).expect("the plan is written");
    let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    assert_eq!(json["pools"][0]["size_bytes"], arena);
    assert_eq!(json["symbols"][0]["most"], 2);
    assert!(json["values"].as_array().is_some_and(|values| values.len() > 10), "{json}");
    let two = printed(&[&arguments[..], &["N=2"]].concat());
    assert!(two.starts_with(&format!("arena {arena} bytes")), "{two}");
}

/// `x: [N, M]` and `y: [N * M]`, and half of what is left of `z: [N floordiv 2]`.
const PRODUCT: &str = "func.func @main(%x: tensor<?x?xf32, #optc.dims<N, M>> {optc.name = \"x\"}, \
                       %y: tensor<?xf32, #optc.dims<N * M>> {optc.name = \"y\"}, \
                       %z: tensor<?xf32, #optc.dims<N floordiv 2>> {optc.name = \"z\"}) -> \
                       (tensor<?x?xf32, #optc.dims<N, M>>, tensor<?xf32, #optc.dims<N floordiv 2>>) {
  %0 = nn.reshape %y {shape = #optc.dims<N, M>} : (tensor<?xf32, #optc.dims<N * M>>) -> tensor<?x?xf32, #optc.dims<N, M>>
  %1 = nn.add %x, %0 : tensor<?x?xf32, #optc.dims<N, M>>
  %2 = nn.neg %z : tensor<?xf32, #optc.dims<N floordiv 2>>
  return %1, %2 : tensor<?x?xf32, #optc.dims<N, M>>, tensor<?xf32, #optc.dims<N floordiv 2>>
}
";

#[test]
fn products_and_quotients_of_sizes_are_held_to_the_others() {
    let program = file("product.mlir", PRODUCT.as_bytes()).display().to_string();
    let x = array("px.npy", &[3, 2]);
    let with = |y: &str, z: &str| {
        let arrays = ["--input", "x", &x, "--input", "y", y, "--input", "z", z];
        let arrays = arrays.map(str::to_owned);
        let arguments: Vec<String> = ["run".to_owned(), program.clone()].into_iter().chain(arrays).collect();
        arguments
    };
    let said = |y: &str, z: &str| {
        let arguments = with(y, z);
        refused(&arguments.iter().map(String::as_str).collect::<Vec<_>>()).trim_end().to_owned()
    };
    let (y, z) = (array("py6.npy", &[6]), array("pz1.npy", &[1]));
    let arguments = with(&y, &z);
    let text = printed(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    let expected =
        "output `result0` [3, 2]: top [5] 12.00000, [4] 10.00000, [3] 8.00000, [2] 6.00000, [1] 4.00000\n";
    assert!(text.starts_with(expected), "{text}");
    let place = "as follows from dimension 0 of input `x`, number 0";
    let product = format!("error: dimension 0 of input `y`, number 1, is 7, expected M * N = 6 {place}");
    assert_eq!(said(&array("py7.npy", &[7]), &z), product);
    let quotient =
        format!("error: dimension 0 of input `z`, number 2, is 2, expected N floordiv 2 = 1 {place}");
    assert_eq!(said(&y, &array("pz2.npy", &[2])), quotient);
}
