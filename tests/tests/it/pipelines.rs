//! Snapshots of the canonical pipeline: a residual block after each of its stages.
//!
//! `INSTA_UPDATE=always cargo test -p optc-tests --test it pipelines` writes them anew; under CI a difference
//! is a failure.

use optc::{LoadOptions, load, run_pipeline};
use passes::manager::RunOptions;
use tests::workspace::root;

/// The example after the passes of a pipeline, one after the other.
fn after(pipeline: &str) -> String {
    let path = root().join("examples/residual.mlir");
    let mut module = load(&path, &LoadOptions::default()).unwrap_or_else(|failure| panic!("{failure}"));
    let done = run_pipeline(&mut module, pipeline, &RunOptions::new(codegen::Cpu::level(codegen::Isa::Avx2)));
    done.unwrap_or_else(|failure| panic!("{pipeline}: {failure}"));
    ir::text::print(&module)
}

#[test]
fn a_residual_block_after_each_stage() {
    for pipeline in [
        "simplify",
        "simplify,layout",
        "simplify,layout,fuse",
        "simplify,layout,fuse,select",
        "simplify,layout,fuse,select,inplace",
        "simplify,layout,fuse,select,inplace,plan",
    ] {
        insta::assert_snapshot!(pipeline.replace(',', "_"), after(pipeline), pipeline);
    }
}
