//! Whether `docs/IR.md` says of the operations what their rows say.

use optc::lit::LitMode;
use passes::manager::unified_diff;
use tests::reference::with_tables;
use tests::workspace::root;

#[test]
fn the_reference_of_operations_is_what_the_rows_say() {
    let path = root().join("docs/IR.md");
    let document = std::fs::read_to_string(&path).unwrap();
    let expected = with_tables(&document, &ir::Context::new()).unwrap_or_else(|fault| panic!("{fault}"));
    match LitMode::from_environment().unwrap_or_else(|fault| panic!("{fault}")) {
        _ if document == expected => {}
        LitMode::Bless => std::fs::write(&path, expected).unwrap(),
        LitMode::Check => {
            panic!("docs/IR.md is old; OPTC_BLESS=1 rewrites it:\n{}", unified_diff(&document, &expected))
        }
    }
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
