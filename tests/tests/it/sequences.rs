//! Transformers with named batch and sequence sizes, against a program for each choice of sizes; and the
//! sizes that they refuse.
//!
//! Both have the same bits. BERT adds embeddings of position and segment to each token: these are weights,
//! for names and for numbers, and are added first.
//!
//! They are in the folder that `OPTC_MODELS` names:
//! `OPTC_MODELS=/path/to/models cargo test -p optc-tests --test it sequences:: -- --nocapture`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use import::onnx::declared::DeclaredSizes;
use optc::{CompileOptions, LoadOptions, Model, StrippedWeights, load};
use runtime::{Program, RunContext, TensorDesc};
use tests::given::given;

const THREADS: usize = 2;

fn options(values: &[(&str, u64)]) -> LoadOptions {
    let values: BTreeMap<String, u64> =
        values.iter().map(|(name, size)| ((*name).to_owned(), *size)).collect();
    LoadOptions {
        stripped: StrippedWeights::Synthesize,
        sizes: DeclaredSizes { values, ..DeclaredSizes::new() },
        ..LoadOptions::default()
    }
}

fn compile_options() -> CompileOptions {
    CompileOptions { threads: THREADS, ..CompileOptions::default() }
}

fn model(name: &str) -> PathBuf {
    given("OPTC_MODELS").join(name)
}

fn program(path: &Path) -> Arc<Program> {
    let module = load(path, &options(&[]));
    let mut module = module.unwrap_or_else(|failure| panic!("{}: {failure}", path.display()));
    let program = optc::compile(&mut module, &compile_options());
    Arc::new(program.unwrap_or_else(|failure| panic!("{}: {failure}", path.display())))
}

/// Tokens from 1 on, so that a mask computed from numbers above 0 hides none.
fn tokens(desc: &TensorDesc) -> Vec<u8> {
    let count = desc.shape.iter().product::<u64>();
    (0..count).flat_map(|index| (index * 7919 % 1009 + 1).to_le_bytes()).collect()
}

fn views(buffers: &mut [Vec<u8>]) -> Vec<&mut [u8]> {
    buffers.iter_mut().map(|buffer| &mut buffer[..]).collect()
}

fn check_at(path: &Path, context: &mut RunContext<'_>, [batch, seq]: [u64; 2]) {
    let sizes = options(&[("batch", batch), ("seq", seq)]);
    let mut module = load(path, &sizes).unwrap_or_else(|failure| panic!("{batch} x {seq}: {failure}"));
    let fixed = Model::compile(&mut module, &compile_options()).unwrap_or_else(|failure| panic!("{failure}"));
    let fixed = fixed.program().clone();
    let only = fixed.only().expect("its sizes are known");
    for desc in only.inputs() {
        context.set_shape(&desc.name, &desc.shape).expect("the program takes this shape");
    }
    let inputs: Vec<Vec<u8>> = only.inputs().iter().map(tokens).collect();
    let inputs: Vec<&[u8]> = inputs.iter().map(|input| &input[..]).collect();
    let empty = || only.outputs().iter().map(|desc| vec![0; desc.size_bytes]).collect::<Vec<_>>();
    let (mut expected, mut found) = (empty(), empty());
    let mut alone = fixed.context(THREADS).expect("it is planned for them");
    alone.run(&inputs, &mut views(&mut expected)).unwrap_or_else(|error| panic!("{batch} x {seq}: {error}"));
    context.run(&inputs, &mut views(&mut found)).unwrap_or_else(|error| panic!("{batch} x {seq}: {error}"));
    assert!(found == expected, "{batch} x {seq}: other bits");
}

#[test]
#[cfg_attr(not(given = "OPTC_MODELS"), ignore = "needs OPTC_MODELS")]
fn gpt2_takes_sequences_as_long_as_its_mask() {
    let path = model("gpt2_dyn.onnx");
    let program = program(&path);
    let mut context = program.context(THREADS).expect("it is planned for them");
    for size in [[1, 1], [1, 7], [2, 16], [1, 64], [3, 5]] {
        check_at(&path, &mut context, size);
    }
    let error = context.set_shape("input_ids", &[1, 2000]).expect_err("the mask is of 1024");
    let expected = "axis 1 of input `input_ids` is 2000, expected 1 <= seq <= 1024";
    assert_eq!(error.to_string(), expected);
    check_at(&path, &mut context, [1, 7]);
}

#[test]
#[cfg_attr(not(given = "OPTC_MODELS"), ignore = "needs OPTC_MODELS")]
fn bert_takes_any_sequence_that_it_has_places_for() {
    let path = model("bert_base_dyn.onnx");
    let program = program(&path);
    let mut context = program.context(THREADS).expect("it is planned for them");
    for size in [[1, 9], [2, 16], [1, 40], [1, 2], [3, 1], [1, 1]] {
        check_at(&path, &mut context, size);
    }
}
