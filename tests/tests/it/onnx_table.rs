//! That `docs/ONNX.md` lists the supported operators: `OPTC_BLESS=1` writes it anew from the rows.

use std::fmt::Write;

use import::onnx::rows::{Coverage, coverage};
use tests::workspace::root;

const BEGIN: &str = "<!-- from the rows: OPTC_BLESS=1 cargo test -p optc-tests --test it onnx_table -->\n";
const END: &str = "<!-- end of the rows -->\n";

/// A line for each operator: its versions, its element types, and the attributes that a node may have.
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
