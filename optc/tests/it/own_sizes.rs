//! Models that can't be had with named sizes, but for those of their inputs.

use std::path::Path;
use std::process::{Command, Output};

use optc::Array;
use optc::protobuf::{append_bytes, read_folder, write_folder};

/// A message of fields that hold bytes.
pub(crate) fn message(fields: &[(u8, &[u8])]) -> Vec<u8> {
    let mut message = Vec::new();
    fields.iter().for_each(|(field, bytes)| append_bytes(&mut message, *field, bytes));
    message
}

/// An input or output with an element type, and sizes that are names or, if they are digits, numbers.
pub(crate) fn info(name: &[u8], element: u8, sizes: &[&str]) -> Vec<u8> {
    let dim = |size: &&str| match size.parse::<u8>() {
        Ok(number) => vec![1 << 3, number],
        Err(_) => message(&[(2, size.as_bytes())]),
    };
    let dims: Vec<Vec<u8>> = sizes.iter().map(dim).collect();
    let shape = message(&dims.iter().map(|dim| (1, &dim[..])).collect::<Vec<_>>());
    let tensor = [&[1 << 3, element][..], &message(&[(2, &shape)])].concat();
    message(&[(1, name), (2, &message(&[(1, &tensor)]))])
}

/// A model of these nodes, of version 17 of the operator set.
fn model(nodes: &[&[u8]], inputs: &[Vec<u8>]) -> Vec<u8> {
    let output = message(&[(1, b"y")]);
    let inputs = inputs.iter().map(|input| (11, &input[..]));
    let nodes = nodes.iter().map(|node| (1, *node));
    let fields: Vec<(u8, &[u8])> = nodes.chain([(12, &output[..])]).chain(inputs).collect();
    let opset = [2 << 3, 17];
    [&[1 << 3, 8][..], &message(&[(7, &message(&fields)), (8, &opset)])].concat()
}

fn run(folder: &Path, model: &[u8], runs: &[&[Array]], more: &[&str]) -> Output {
    let path = folder.join("m.onnx");
    std::fs::write(&path, model).expect("it is written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_optc"));
    command.arg("run").arg(path).args(more);
    for (index, arrays) in runs.iter().enumerate() {
        let inputs = folder.join(index.to_string());
        write_folder(&inputs, "input", arrays).expect("they are written");
        command.arg("--inputs").arg(&inputs).arg("--out").arg(folder.join(format!("out{index}/")));
    }
    command.output().expect("the command runs")
}

fn outputs(folder: &Path, index: usize) -> Vec<f64> {
    let found = read_folder(&folder.join(format!("out{index}")), "output").expect("they are there");
    found[0].to_f64()
}

#[test]
fn a_model_that_needs_numbers_for_its_sizes_takes_those_of_each_run() {
    let folder = tempfile::tempdir().expect("a folder is made");
    // `Einsum` with the equation `ii->i`: a diagonal is a slice whose stride is a number.
    let string = [0xA0, 0x01, 3];
    let equation = [&message(&[(1, b"equation"), (4, b"ii->i")])[..], &string].concat();
    let node = message(&[(1, b"x"), (2, b"y"), (4, b"Einsum"), (5, &equation)]);
    let model = model(&[&node], &[info(b"x", 1, &["N", "N"])]);
    let square = |size: u64| {
        let numbers: Vec<f32> = (0..size * size).map(|number| number as f32).collect();
        Array::f32("x", &[size, size], &numbers)
    };
    let done = run(folder.path(), &model, &[&[square(2)], &[square(3)]], &[]);
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{said}");
    assert!(said.contains("note: compiled for the sizes of its inputs alone"), "{said}");
    assert_eq!(outputs(folder.path(), 0), [0.0, 3.0]);
    assert_eq!(outputs(folder.path(), 1), [0.0, 4.0, 8.0]);
    // A limit of memory is for all sizes, so there it is refused.
    let held = run(folder.path(), &model, &[&[square(2)]], &["--budget", "1MB"]);
    assert_eq!(held.status.code(), Some(1));
    // And where no inputs say what the sizes are.
    assert_eq!(run(folder.path(), &model, &[], &["--random"]).status.code(), Some(1));
}

#[test]
fn a_model_that_needs_numbers_in_its_inputs_takes_them() {
    let folder = tempfile::tempdir().expect("a folder is made");
    let keeps = [&message(&[(1, b"keepdims")])[..], &[3 << 3, 0, 0xA0, 0x01, 2]].concat();
    let node = message(&[(1, b"x"), (1, b"axes"), (2, b"y"), (4, b"ReduceSum"), (5, &keeps)]);
    let model = model(&[&node], &[info(b"x", 1, &["N", "3"]), info(b"axes", 7, &["1"])]);
    let x = Array::f32("x", &[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let axis = |axis: i64| Array {
        name: "axes".to_owned(),
        element: optc::runtime::ElementKind::I64,
        shape: vec![1],
        bytes: axis.to_le_bytes().to_vec(),
    };
    let done = run(folder.path(), &model, &[&[x.clone(), axis(0)], &[x, axis(1)]], &[]);
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{said}");
    assert!(said.contains("the numbers in small inputs of integers, of its inputs alone"), "{said}");
    assert_eq!(outputs(folder.path(), 0), [5.0, 7.0, 9.0]);
    assert_eq!(outputs(folder.path(), 1), [6.0, 15.0]);
}

#[test]
fn a_model_that_is_compiled_for_known_sizes_only_takes_those_of_each_run() {
    let folder = tempfile::tempdir().expect("a folder is made");
    // Each second element twice, and the elements: as many only where their number is even.
    let ints = |name: &[u8]| [&message(&[(1, name)])[..], &[8 << 3, 2, 0xA0, 0x01, 7]].concat();
    let axis = [&message(&[(1, b"axis")])[..], &[3 << 3, 2, 0xA0, 0x01, 2]].concat();
    let pool = message(&[
        (1, b"x"),
        (2, b"p"),
        (4, b"MaxPool"),
        (5, &ints(b"kernel_shape")),
        (5, &ints(b"strides")),
    ]);
    let twice = message(&[(1, b"p"), (1, b"p"), (2, b"c"), (4, b"Concat"), (5, &axis)]);
    let sum = message(&[(1, b"c"), (1, b"x"), (2, b"y"), (4, b"Add")]);
    let model = model(&[&pool, &twice, &sum], &[info(b"x", 1, &["1", "1", "N"])]);
    let line = |size: u64| Array::f32("x", &[1, 1, size], &vec![1.0; size as usize]);
    let done = run(folder.path(), &model, &[&[line(2)], &[line(4)]], &[]);
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{said}");
    assert!(said.contains("note: compiled for the sizes of its inputs alone"), "{said}");
    assert_eq!(outputs(folder.path(), 1), [2.0; 4]);
    let odd = run(folder.path(), &model, &[&[line(3)]], &[]);
    assert_eq!(odd.status.code(), Some(1));
}

#[test]
fn an_input_without_elements_is_taken_where_its_size_has_a_name() {
    let folder = tempfile::tempdir().expect("a folder is made");
    let node = message(&[(1, b"x"), (2, b"y"), (4, b"Shape")]);
    let model = model(&[&node], &[info(b"x", 1, &["N", "3"])]);
    let done = run(folder.path(), &model, &[&[Array::f32("x", &[0, 3], &[])]], &[]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(outputs(folder.path(), 0), [0.0, 3.0]);
    // A size that the model has not is no matter of names.
    let wide = run(folder.path(), &model, &[&[Array::f32("x", &[0, 2], &[])]], &[]);
    assert_eq!(wide.status.code(), Some(1));
}
