//! Each operator at each version of its schema computes the expected numbers, also with attributes omitted.
//!
//! `tests/onnx/nodes` makes the models, with the results of onnx's reference and of onnxruntime. It also
//! makes the table of optional attributes, with the defaults of ONNX's schemas and the number of models for
//! each. `OPTC_NODES=Conv,Gemm` runs these operators alone; failures are printed by name.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use tests::workspace::root;

use crate::conformance::{Outcome, outcome};

/// A model of one node, and its arrays as messages, by file name.
struct Node {
    name: String,
    files: BTreeMap<String, Vec<u8>>,
}

/// A reader of length-prefixed data.
struct Blobs<'a>(&'a [u8]);

impl Blobs<'_> {
    fn number(&mut self) -> usize {
        let (number, rest) = self.0.split_first_chunk().expect("a number is there");
        self.0 = rest;
        u32::from_le_bytes(*number) as usize
    }

    fn blob(&mut self) -> Vec<u8> {
        let length = self.number();
        let (blob, rest) = self.0.split_at(length);
        self.0 = rest;
        blob.to_vec()
    }

    fn node(&mut self) -> Node {
        let name = String::from_utf8(self.blob()).expect("a name is text");
        let mut files = BTreeMap::from([("model.onnx".to_owned(), self.blob())]);
        for kind in ["input", "output"] {
            for index in 0..self.number() {
                files.insert(format!("test_data_set_0/{kind}_{index}.pb"), self.blob());
            }
        }
        Node { name, files }
    }
}

fn nodes() -> Vec<Node> {
    let arrays = optc::arrays::read_npz(&root().join("tests/data/onnx_nodes.npz"), &|_| None);
    let arrays = arrays.unwrap_or_else(|failure| panic!("{failure}"));
    let mut blobs = Blobs(&arrays[0].bytes);
    let mut nodes = Vec::new();
    while !blobs.0.is_empty() {
        nodes.push(blobs.node());
    }
    nodes
}

fn fault(node: &Node) -> Option<String> {
    let read = |file: &str| node.files.get(file).cloned();
    match outcome(Path::new(&node.name), &read).outcome {
        Outcome::Passed => None,
        Outcome::Refused(reason) => Some(format!("refused: {reason}")),
        Outcome::Wrong(difference) => Some(format!("wrong: {difference}")),
    }
}

/// The operator and the version of a model's name, `Conv 11 -pads by onnxruntime`.
fn operator_and_version(name: &str) -> (&str, i64) {
    let mut words = name.split(' ');
    let operator = words.next().expect("an operator stands first");
    (operator, words.next().and_then(|word| word.parse().ok()).expect("its version stands second"))
}

#[test]
fn nodes_of_each_version_compute_what_is_expected_without_their_attributes_too() {
    let only = std::env::var("OPTC_NODES").unwrap_or_default();
    let is_asked = |node: &Node| {
        only.is_empty() || only.split(',').any(|name| operator_and_version(&node.name).0 == name)
    };
    let nodes: Vec<Node> = nodes().into_iter().filter(is_asked).collect();
    let left = Mutex::new(nodes.iter().enumerate());
    let faults = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let Some((index, node)) = left.lock().expect("none panicked").next() else { return };
                    if let Some(fault) = fault(node) {
                        faults
                            .lock()
                            .expect("none panicked")
                            .insert(index, format!("{}: {fault}", node.name));
                    }
                }
            });
        }
    });
    let faults: Vec<String> = faults.into_inner().expect("none panicked").into_values().collect();
    assert!(faults.is_empty(), "{} of {} nodes:\n{}", faults.len(), nodes.len(), faults.join("\n"));
    assert!(nodes.len() > 2_000 || !only.is_empty(), "only {} nodes", nodes.len());
}

/// The lines of the table: operator, version, attribute, default, and number of models.
#[test]
fn attributes_that_may_be_left_out_are_shown_as_often_as_the_table_says() {
    let table = std::fs::read_to_string(root().join("tests/data/onnx_defaults.txt")).expect("it is read");
    let nodes = nodes();
    let mut shown = 0;
    for line in table.lines() {
        let [operator, version, attribute, _, count] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let begin = format!("{operator} {version} -{attribute}");
        let found = nodes.iter().map(|node| node.name.strip_suffix(" by onnxruntime").unwrap_or(&node.name));
        let found = found.filter(|name| **name == begin).count();
        assert_eq!(found.to_string(), count, "{line}");
        shown += usize::from(found > 0);
    }
    assert!(shown > 500, "only {shown} attributes are left out");
}
