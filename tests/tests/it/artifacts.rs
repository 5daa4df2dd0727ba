//! That a program loaded from an artifact has the bits of a compiled one, and that loading compiles and packs
//! nothing.

use codegen::PreparedMisses;
use optc::artifact::ArtifactOptions;
use optc::{Array, Artifact, CompileOptions, Failure, Goal, Model, SizeOptions};
use tests::graphs::graph;
use tests::sized_graphs::{NAMES, sized_chain, sized_graph};

fn options() -> CompileOptions {
    CompileOptions { threads: 2, ..CompileOptions::default() }
}

/// The program of a module, written to a file and loaded from it, without compiling or packing anything
/// again.
fn loaded(module: &ir::Module) -> Result<Model, Failure> {
    loaded_with(module, &options())
}

/// The same, with other options.
fn loaded_with(module: &ir::Module, options: &CompileOptions) -> Result<Model, Failure> {
    let folder = tempfile::tempdir().expect("there is a folder for files");
    let path = folder.path().join("m.optc");
    Artifact::build(module, options)?.write(&path)?;
    let (mut module, options) = Artifact::open(&path)?.program(&ArtifactOptions::default())?;
    let model = Model::compile(&mut module, &options)?;
    let prepared = options.prepared.expect("an artifact has code and weights");
    assert_eq!(prepared.missed(), PreparedMisses::default());
    Ok(model)
}

#[test]
fn random_graphs_give_the_same_bits() -> Result<(), Failure> {
    for seed in 0..24 {
        let (module, inputs) = graph(seed);
        let mut compiled = Model::compile(&mut module.clone(), &options())?;
        let mut loaded = loaded(&module)?;
        assert_eq!(loaded.run(&inputs)?, compiled.run(&inputs)?, "seed {seed}");
        let arena = |model: &Model| model.program().only().map(|only| only.arena_bytes());
        assert_eq!(arena(&loaded), arena(&compiled), "seed {seed}");
    }
    Ok(())
}

#[test]
fn graphs_of_named_sizes_give_the_same_bits_at_each_size() -> Result<(), Failure> {
    let mut ran = 0;
    for seed in 0..8 {
        let module = sized_graph(seed);
        let mut compiled = Model::compile(&mut module.clone(), &options())?;
        let mut loaded = loaded(&module)?;
        assert_eq!(loaded.program().bound_bytes(), compiled.program().bound_bytes(), "seed {seed}");
        let least: Vec<u64> = compiled.program().symbols().iter().map(|symbol| symbol.least).collect();
        for add in [0, 1, 5] {
            let sizes: Vec<u64> = least.iter().map(|size| size + add).collect();
            let Ok(specialization) = compiled.program().at(&sizes) else { continue };
            let inputs: Vec<Array> = specialization.inputs().iter().map(ones).collect();
            assert_eq!(loaded.run(&inputs)?, compiled.run(&inputs)?, "seed {seed} at {sizes:?}");
            let own = loaded.program().at(&sizes).map(|own| own.arena_bytes());
            assert_eq!(own, Ok(specialization.arena_bytes()), "seed {seed} at {sizes:?}");
            ran += 1;
        }
    }
    assert!(ran > 12, "{ran} sizes ran");
    Ok(())
}

/// With a budget, the rows of some chains stream, and steps get little scratch, as for the smallest arena.
#[test]
fn a_budget_for_all_sizes_holds_for_the_artifact() -> Result<(), Failure> {
    let mut saved = 0;
    for seed in 0..6 {
        let module = sized_chain(seed);
        let bound = |goal, budget_bytes| -> Result<usize, Failure> {
            let ranges = NAMES.iter().map(|name| ((*name).to_owned(), (1, 40))).collect();
            let sizes = SizeOptions { ranges, ..SizeOptions::default() };
            let options = CompileOptions { goal, budget_bytes, sizes, ..options() };
            let compiled = Model::compile(&mut module.clone(), &options)?.program().bound_bytes();
            let loaded = loaded_with(&module, &options)?.program().bound_bytes();
            assert_eq!(loaded, compiled, "seed {seed}");
            Ok(compiled.expect("all sizes have ranges"))
        };
        let least = bound(Goal::Memory, None)?;
        let balanced = bound(Goal::Balanced, None)?;
        assert_eq!(bound(Goal::Balanced, Some(least as u64))?, least, "seed {seed}");
        saved += usize::from(least < balanced);
    }
    assert!(saved > 3, "{saved} arenas are smaller than the balanced ones");
    Ok(())
}

/// An input of ones, if its type has a one of four bytes.
fn ones(desc: &runtime::TensorDesc) -> Array {
    let mut bytes = vec![0; desc.size_bytes];
    bytes.chunks_exact_mut(4).for_each(|word| word.copy_from_slice(&1f32.to_le_bytes()));
    Array { name: desc.name.clone(), element: desc.element, shape: desc.shape.clone(), bytes }
}
