//! That the documents describe operations and attributes like their rows.

use optc::lit::LitMode;
use passes::manager::unified_diff;
use tests::builders::{is_elementwise, module};
use tests::public_api::public_items;
use tests::reference::{with_attributes, with_operations};
use tests::workspace::{files, root};

/// Requires a document to equal the result of `corrected` on it.
#[track_caller]
fn check(path: &str, corrected: impl Fn(&str) -> Result<String, String>) {
    let file = root().join(path);
    let document = std::fs::read_to_string(&file).expect("the document is read");
    let expected = corrected(&document).unwrap_or_else(|fault| panic!("{fault}"));
    match LitMode::from_environment().unwrap_or_else(|fault| panic!("{fault}")) {
        _ if document == expected => {}
        LitMode::Bless => std::fs::write(&file, expected).expect("the document can be written"),
        LitMode::Check => {
            panic!("{path} is old; OPTC_BLESS=1 rewrites it:\n{}", unified_diff(&document, &expected))
        }
    }
}

#[test]
fn the_reference_of_operations_is_what_the_rows_say() {
    check("docs/IR.md", |document| with_operations(document, &ir::Context::new()));
}

#[test]
fn the_reference_of_attributes_is_what_the_rows_say() {
    check("docs/book/attributes.md", with_attributes);
}

#[test]
fn the_builders_are_what_the_rows_say() {
    let ctx = ir::Context::new();
    let rows = |dialect: &str| ctx.dialect(dialect).expect("it is there").ops().collect::<Vec<_>>();
    let (elementwise, others) = rows("nn").into_iter().partition(|def| is_elementwise(def));
    let with = "pub use super::nn_elementwise::*;\n\n";
    for (file, doc, uses, rows) in [
        ("nn_elementwise", "Builders of what `nn` computes for each element.", "", elementwise),
        ("nn", "Builders of `nn`: operations on tensors, as neural networks have them.", with, others),
        ("arith", "Builders of `arith`: arithmetic on numbers, vectors and tensors.", "", rows("arith")),
    ] {
        check(&format!("optc/src/ops/{file}.rs"), |_| Ok(module(doc, uses, &rows)));
    }
}

#[test]
fn the_public_items_are_those_that_are_listed() {
    // The modules of the command are no library, and the builders are the rows'.
    let is_library = |path: &str| {
        let inside = path.strip_prefix("optc/src/").unwrap_or("main.rs");
        !["main.rs", "cli/", "ops/"].iter().any(|start| inside.starts_with(start))
    };
    let mut sources = files(&["rs"]);
    sources.retain(|file| is_library(&file.path));
    check("docs/API.txt", |_| Ok(public_items(&sources)));
}

#[test]
fn every_program_of_the_reference_is_read_and_verified() {
    let text = std::fs::read_to_string(root().join("docs/IR.md")).unwrap();
    let programs: Vec<&str> =
        text.split("```mlir\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(programs.len() >= 2, "docs/IR.md shows programs");
    for program in programs {
        optc::parse("docs/IR.md", program.to_owned(), None, &optc::LoadOptions::default())
            .unwrap_or_else(|failure| panic!("{failure}\n{program}"));
    }
}
