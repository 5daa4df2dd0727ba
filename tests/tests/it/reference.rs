//! Whether the documents say of operations and attributes what their rows say.

use optc::lit::LitMode;
use passes::manager::unified_diff;
use tests::reference::{with_attributes, with_operations};
use tests::workspace::root;

/// Demands that a document is what `corrected` makes of it.
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
