//! That ONNX's own tests are read or refused without a panic if their shapes are changed or their nodes
//! incomplete.

use std::panic::{AssertUnwindSafe, catch_unwind};

use optc::LoadOptions;
use tests::given::given;

use crate::conformance::sample;
use crate::protobuf::{Field, content, fields, holding, joined};

/// The numbers of damaged models that are refused and that are read, and those that panic.
#[derive(Default)]
struct Told {
    counts: [usize; 2],
    panics: Vec<String>,
}

impl Told {
    fn read(&mut self, what: impl Fn() -> String, bytes: Vec<u8>) {
        let load = || optc::load_model_bytes("m.onnx", bytes, &LoadOptions::default()).is_ok();
        match catch_unwind(AssertUnwindSafe(load)) {
            Ok(is_read) => self.counts[usize::from(is_read)] += 1,
            Err(_) => self.panics.push(what()),
        }
    }

    fn assert(&self, least: usize) {
        let Told { counts, panics } = self;
        assert!(panics.is_empty(), "{} panics:\n{}", panics.len(), panics.join("\n"));
        assert!(counts.iter().all(|count| *count > least), "{counts:?} were refused and read");
    }
}

/// The models of the sample, by name.
fn models() -> impl Iterator<Item = (String, Vec<u8>)> {
    let models = sample().into_iter().filter(|file| file.name.ends_with("/model.onnx"));
    models.map(|file| (file.name, file.bytes))
}

/// The models of the folder `OPTC_ONNX_TESTS`.
fn given_models() -> impl Iterator<Item = (String, Vec<u8>)> {
    let folders = std::fs::read_dir(given("OPTC_ONNX_TESTS").join("node")).expect("the folder has tests");
    folders.filter_map(|folder| {
        let path = folder.expect("the folder can be read").path().join("model.onnx");
        Some((path.display().to_string(), std::fs::read(&path).ok()?))
    })
}

/// Reads models with one axis of an input or output removed or made empty.
fn read_with_other_shapes(models: impl Iterator<Item = (String, Vec<u8>)>) -> Told {
    // A dimension of a shape, followed by its number: an unknown field is skipped.
    const DIMENSION: [u8; 3] = [0x0a, 0x02, 0x08];
    const UNKNOWN: u8 = 0x7a;
    let mut told = Told::default();
    for (name, model) in models {
        let dimensions = model.windows(DIMENSION.len()).enumerate();
        let places = dimensions.filter(|(_, bytes)| *bytes == DIMENSION).map(|(place, _)| place);
        for (place, byte) in places.flat_map(|place| [(place, UNKNOWN), (place + DIMENSION.len(), 0)]) {
            let mut bytes = model.clone();
            bytes[place] = byte;
            told.read(|| format!("{name}: byte {place} as {byte}"), bytes);
        }
    }
    told
}

#[test]
fn values_of_another_rank_are_refused_or_read_but_no_panic() {
    read_with_other_shapes(models()).assert(100);
}

#[test]
#[cfg_attr(not(given = "OPTC_ONNX_TESTS"), ignore = "needs OPTC_ONNX_TESTS")]
fn no_operator_of_onnx_s_own_tests_panics_for_another_rank() {
    read_with_other_shapes(given_models()).assert(1000);
}

/// A node's fields with an operand omitted, with one operand less and one more, with all operands replaced by
/// the first, with an attribute less, and with a result more.
fn lacking(node: &[Field]) -> Vec<(String, Vec<Field>)> {
    const INPUT: u64 = 1;
    const ATTRIBUTE: u64 = 5;
    let mut all = Vec::new();
    let without = |at: usize| [&node[..at], &node[at + 1..]].concat();
    let with = |field: Field| [node, &[field]].concat();
    for (at, field) in node.iter().enumerate() {
        match field.0 {
            INPUT => {
                let mut left_out = node.to_vec();
                left_out[at] = holding(1, b"");
                all.push((format!("operand {at} left out"), left_out));
                all.push((format!("without operand {at}"), without(at)));
            }
            ATTRIBUTE => all.push((format!("without attribute {at}"), without(at))),
            _ => {}
        }
    }
    if let Some(first) = node.iter().find(|field| field.0 == INPUT) {
        let is_input = |field: &Field| if field.0 == INPUT { first.clone() } else { field.clone() };
        all.push(("one operand for all".to_owned(), node.iter().map(is_input).collect()));
        all.push(("an operand more".to_owned(), with(first.clone())));
    }
    all.push(("a result more".to_owned(), with(holding(2, b"one more"))));
    all
}

/// Reads models with one incomplete node.
fn read_with_lacking_nodes(models: impl Iterator<Item = (String, Vec<u8>)>) -> Told {
    let mut told = Told::default();
    for (name, model) in models {
        let mut top = fields(&model);
        let place = top.iter().position(|field| field.0 == 7).expect("a model has a graph");
        let graph = fields(content(&top[place]));
        for (at, field) in graph.iter().enumerate().filter(|(_, field)| field.0 == 1) {
            for (what, node) in lacking(&fields(content(field))) {
                let mut graph = graph.clone();
                graph[at] = holding(1, &joined(&node));
                top[place] = holding(7, &joined(&graph));
                told.read(|| format!("{name}, node {at}: {what}"), joined(&top));
            }
        }
    }
    told
}

#[test]
fn nodes_that_lack_an_operand_or_an_attribute_are_refused_or_read_but_no_panic() {
    read_with_lacking_nodes(models()).assert(300);
}

#[test]
#[cfg_attr(not(given = "OPTC_ONNX_TESTS"), ignore = "needs OPTC_ONNX_TESTS")]
fn no_operator_of_onnx_s_own_tests_panics_for_an_operand_that_is_missing() {
    read_with_lacking_nodes(given_models()).assert(1000);
}
