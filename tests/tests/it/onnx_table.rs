//! Whether `docs/ONNX.md` has the operators that are imported: `OPTC_BLESS=1` writes it anew from the rows.
//! And whether operators take the element types that it says.

use std::fmt::Write;

use import::onnx::element::Element;
use import::onnx::rows::{Coverage, NEWEST, NEWEST_LEARNED, coverage, find};
use optc::protobuf::append_bytes;
use optc::{CompileOptions, LoadOptions, load_model_bytes};
use tests::workspace::root;

const BEGIN: &str = "<!-- from the rows: OPTC_BLESS=1 cargo test -p optc-tests --test it onnx_table -->\n";
const END: &str = "<!-- end of the rows -->\n";

/// A line for each operator: its versions, the element types that it takes, and the attributes that a node
/// may have.
fn table() -> String {
    let mut table =
        "| operator | versions | element types | attributes in the newest |\n|---|---|---|---|\n".to_owned();
    for Coverage { op, versions, attributes, element_types } in coverage() {
        let attributes: Vec<String> = attributes.iter().map(|name| format!("`{name}`")).collect();
        let versions = format!("{} to {}", versions.start(), versions.end());
        writeln!(table, "| {op} | {versions} | {element_types} | {} |", attributes.join(", "))
            .expect("it is a text");
    }
    table
}

#[test]
fn the_document_has_the_operators_that_are_imported() {
    let path = root().join("docs/ONNX.md");
    let document = std::fs::read_to_string(&path).expect("it is read");
    let (before, rest) = document.split_once(BEGIN).expect("it has the beginning of the rows");
    let (_, after) = rest.split_once(END).expect("it has the end of the rows");
    let expected = format!("{before}{BEGIN}\n{}\n{END}{after}", table());
    if document != expected && std::env::var_os("OPTC_BLESS").is_some() {
        std::fs::write(&path, expected).expect("it is written");
    } else {
        assert_eq!(document, expected, "docs/ONNX.md is old; OPTC_BLESS=1 writes it anew");
    }
}

/// A field of a message that holds a number.
fn append_int(message: &mut Vec<u8>, field: u8, mut number: u64) {
    message.push(field << 3);
    while number >= 128 {
        message.push(number as u8 | 128);
        number >>= 7;
    }
    message.push(number as u8);
}

/// A message of fields that hold bytes.
fn message(fields: &[(u8, &[u8])]) -> Vec<u8> {
    let mut message = Vec::new();
    fields.iter().for_each(|(field, bytes)| append_bytes(&mut message, *field, bytes));
    message
}

/// A model of one node without attributes, whose inputs all have this type and the shape `[2, 3]`.
fn plain_model(op: &str, inputs: usize, element: Element) -> Vec<u8> {
    let size = |size: u64| {
        let mut dim = Vec::new();
        append_int(&mut dim, 1, size);
        dim
    };
    let mut tensor = Vec::new();
    append_int(&mut tensor, 1, element.number() as u64);
    append_bytes(&mut tensor, 2, &message(&[(1, &size(2)), (1, &size(3))]));
    let names: Vec<String> = (0..inputs).map(|index| format!("x{index}")).collect();
    let (domain, op) = op.rsplit_once('.').unwrap_or(("", op));
    let mut node: Vec<(u8, &[u8])> = names.iter().map(|name| (1, name.as_bytes())).collect();
    node.extend([(2, &b"y"[..]), (4, op.as_bytes()), (7, domain.as_bytes())]);
    let infos = names.iter().map(|name| message(&[(1, name.as_bytes()), (2, &message(&[(1, &tensor)]))]));
    let infos: Vec<Vec<u8>> = infos.collect();
    let mut graph: Vec<(u8, Vec<u8>)> = vec![(1, message(&node)), (12, message(&[(1, b"y")]))];
    graph.extend(infos.into_iter().map(|info| (11, info)));
    let graph: Vec<(u8, &[u8])> = graph.iter().map(|(field, bytes)| (*field, &bytes[..])).collect();
    let set = |domain: &str, version: i64| {
        let mut set = message(&[(1, domain.as_bytes())]);
        append_int(&mut set, 2, version.cast_unsigned());
        set
    };
    let sets = [set("", NEWEST), set("ai.onnx.ml", NEWEST_LEARNED)];
    message(&[(7, &message(&graph)), (8, &sets[0]), (8, &sets[1])])
}

/// Whether there is machine code for a model.
fn compiles(model: Vec<u8>) -> bool {
    let Ok(mut module) = load_model_bytes("m.onnx", model, &LoadOptions::default()) else { return false };
    optc::compile(&mut module, &CompileOptions::default()).is_ok()
}

/// Operators whose inputs have several types: those of the document are not those of all of them.
const OF_SEVERAL_TYPES: [&str; 5] =
    ["CastLike", "Gather", "GatherElements", "Where", "ai.onnx.ml.ArrayFeatureExtractor"];

/// Operators that are compiled in a model of one node without attributes are tried with every element type
/// that the document says. They may take more than the standard allows, which the document does not say.
#[test]
fn operators_take_the_element_types_that_the_document_says() {
    let mut faults = Vec::new();
    let mut tried = 0;
    for known in coverage() {
        let inputs = find(known.op, *known.versions.end()).map_or(0, |row| *row.inputs.start());
        let is_newest = *known.versions.end() >= NEWEST || known.op.contains('.');
        if inputs == 0 || !is_newest || OF_SEVERAL_TYPES.contains(&known.op) {
            continue;
        }
        let says = known.elements();
        let taken = says.iter().map(|element| compiles(plain_model(known.op, inputs, *element)));
        let taken: Vec<bool> = taken.collect();
        if taken.iter().any(|taken| *taken) {
            tried += 1;
            let refused = says.iter().zip(taken).filter(|(_, taken)| !taken);
            faults.extend(refused.map(|(element, _)| format!("{} of {}", known.op, element.name())));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(tried > 80, "only {tried} operators are tried");
}
