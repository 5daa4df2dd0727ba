//! That weights of a model's file are read from it, and not kept in memory beside the packed ones.

use std::path::Path;

use optc::{CompileOptions, LoadOptions, Model, load};
use tests::programs::{array, floats};

use crate::writer::{self, Graph, Message, floats_tensor};

/// Rows of a table, and columns of a matrix.
const MANY: usize = 1 << 14;
/// Columns of the table, and rows of the matrix.
const DEPTH: usize = 64;
const WEIGHT_BYTES: usize = MANY * DEPTH * 4;

/// Small integers, so that no sum of products is rounded.
fn numbers(modulus: usize) -> Vec<f32> {
    (0..MANY * DEPTH).map(|at| (at * 7 % modulus) as f32 - 2.0).collect()
}

/// `y = MatMul(x, matrix)` and `z = Add(x, table)`: one weight is packed, the other read as it is.
fn model() -> Message {
    let [many, depth] = [MANY, DEPTH].map(|size| size as i64);
    let graph = Graph::default()
        .input("x", &[1, depth])
        .output("y")
        .output("z")
        .weight(floats_tensor("matrix", &[depth, many], &numbers(11)))
        .weight(floats_tensor("table", &[many, depth], &numbers(5)))
        .node("MatMul", &["x", "matrix"], &["y"], &[])
        .node("Add", &["x", "table"], &["z"], &[]);
    writer::model(17, graph)
}

/// The bytes of a file's mappings that are in memory.
fn resident_bytes(path: &Path) -> usize {
    let maps = std::fs::read_to_string("/proc/self/smaps").expect("Linux lists the mappings");
    let file = path.to_str().expect("a path of text");
    let mut is_of_file = false;
    let mut kib = 0;
    for line in maps.lines() {
        match line.strip_prefix("Rss:") {
            Some(rss) if is_of_file => {
                kib += rss.trim_end_matches("kB").trim().parse::<usize>().expect("a number of KiB");
            }
            // The first line of a mapping begins with its addresses, and ends with its file.
            _ if line.starts_with(|first: char| first.is_ascii_digit() || first.is_ascii_lowercase()) => {
                is_of_file = line.ends_with(file);
            }
            _ => {}
        }
    }
    kib * 1024
}

#[test]
fn weights_of_a_file_are_not_kept_in_memory_beside_the_packed_ones() {
    let path = std::env::temp_dir().join(format!("optc-{}-weight-files.onnx", std::process::id()));
    std::fs::write(&path, model().0).expect("the folder for temporary files can be written");
    // Otherwise nothing here would notice if the system said nothing of a mapping.
    let mapped = runtime::MappedFile::open(&path).expect("it is there");
    assert!(mapped.bytes().iter().any(|byte| *byte != 0) && resident_bytes(&path) > 0);
    drop(mapped);

    let module = load(&path, &LoadOptions::default());
    let mut module = module.unwrap_or_else(|failure| panic!("{failure}"));
    let options = CompileOptions { threads: 1, ..CompileOptions::default() };
    let mut model = Model::compile(&mut module, &options).unwrap_or_else(|failure| panic!("{failure}"));
    let resident = resident_bytes(&path);
    assert!(resident < WEIGHT_BYTES / 4, "{resident} bytes of two weights of {WEIGHT_BYTES}");
    std::fs::remove_file(&path).expect("it is there");

    let x: Vec<f32> = (0..DEPTH).map(|at| at as f32 - 30.0).collect();
    let found =
        model.run(&[array("x", &[1, DEPTH as u64], &x)]).unwrap_or_else(|failure| panic!("{failure}"));
    let [y, z] = &found[..] else { panic!("{} outputs", found.len()) };
    let (matrix, table) = (numbers(11), numbers(5));
    let product = |column| (0..DEPTH).map(|at| x[at] * matrix[at * MANY + column]).sum::<f32>();
    assert!(floats(y) == (0..MANY).map(product).collect::<Vec<_>>());
    let sum = |at: usize| x[at % DEPTH] + table[at];
    assert!(floats(z) == (0..MANY * DEPTH).map(sum).collect::<Vec<_>>());
}
