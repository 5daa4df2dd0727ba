//! That the README's examples are true.
//!
//! A block after `<!-- file: PATH -->` is that file; a block after `<!-- passes: PIPELINE PATH -->` is what
//! `optc --passes=PIPELINE PATH` prints. `OPTC_BLESS=1` writes both anew, and refuses where `CI` is set.

use std::fs;
use std::path::Path;

use optc::{LoadOptions, load, run_pipeline};
use passes::manager::RunOptions;
use tests::workspace::root;

/// The required content of the block after a marker; none for other lines.
fn wanted(marker: &str, root: &Path) -> Option<String> {
    let marker = marker.strip_prefix("<!-- ")?.strip_suffix(" -->")?;
    if let Some(path) = marker.strip_prefix("file: ") {
        return Some(fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}")));
    }
    let (pipeline, path) = marker.strip_prefix("passes: ")?.split_once(' ')?;
    let mut module =
        load(&root.join(path), &LoadOptions::default()).unwrap_or_else(|failure| panic!("{path}: {failure}"));
    let options = RunOptions { threads: 2, ..RunOptions::new(codegen::Cpu::level(codegen::Isa::Avx2)) };
    run_pipeline(&mut module, pipeline, &options).unwrap_or_else(|failure| panic!("{path}: {failure}"));
    Some(ir::text::print(&module))
}

/// The text with every marked block corrected.
fn corrected(text: &str, root: &Path) -> String {
    let mut out = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        out += &format!("{line}\n");
        let Some(block) = wanted(line, root) else { continue };
        let fence = lines.next().expect("a block after the marker");
        assert!(fence.starts_with("```"), "no block after {line}");
        lines.by_ref().find(|line| line.starts_with("```")).expect("the block's end");
        out += &format!("{fence}\n{}\n```\n", block.trim_end());
    }
    out
}

#[test]
fn the_readme_shows_what_happens() {
    let path = root().join("README.md");
    let text = fs::read_to_string(&path).expect("the README");
    let corrected = corrected(&text, &root());
    assert!(corrected.contains(ir::plan::attrs::MEM_PLACE), "the README has no worked example");
    if text != corrected && std::env::var_os("OPTC_BLESS").is_some() {
        assert!(std::env::var_os("CI").is_none(), "nothing is blessed under CI");
        fs::write(&path, &corrected).expect("the README can be written");
        return;
    }
    for (found, wanted) in text.lines().zip(corrected.lines()) {
        assert_eq!(found, wanted, "the README is not what happens (OPTC_BLESS=1 writes it anew)");
    }
    assert_eq!(text.lines().count(), corrected.lines().count());
}
