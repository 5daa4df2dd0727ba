//! One program for all sizes against one program for each size: the same bits in the same memory.
//!
//! SqueezeNet is in the project. Others are in the folder that `OPTC_MODELS` names:
//! `OPTC_MODELS=/path/to/models cargo test -p optc-tests --test it any_size:: -- --nocapture`.

use std::path::Path;
use std::sync::Arc;

use import::onnx::declared::{DeclaredSizes, Symbolized};
use optc::{CompileOptions, LoadOptions, Model, StrippedWeights, load};
use runtime::{Program, RunContext, RunError, TensorDesc};
use tests::given::given;
use tests::workspace::root;

/// Sizes of batch, height and width.
type Size = [u64; 3];

const NAMES: [&str; 3] = ["N", "H", "W"];

const THREADS: usize = 2;

fn options(sizes: Option<Size>) -> LoadOptions {
    let axes = [0, 2, 3].into_iter().zip(NAMES);
    let symbolized =
        axes.map(|(axis, name)| Symbolized { input: "input".to_owned(), axis, size: name.to_owned() });
    let values = sizes.into_iter().flat_map(|sizes| NAMES.map(str::to_owned).into_iter().zip(sizes));
    let sizes =
        DeclaredSizes { values: values.collect(), symbolized: symbolized.collect(), ..DeclaredSizes::new() };
    LoadOptions { stripped: StrippedWeights::Synthesize, sizes, ..LoadOptions::default() }
}

fn compile_options() -> CompileOptions {
    CompileOptions { threads: THREADS, ..CompileOptions::default() }
}

fn program(path: &Path) -> Arc<Program> {
    let module = load(path, &options(None));
    let mut module = module.unwrap_or_else(|failure| panic!("{}: {failure}", path.display()));
    let program = optc::compile(&mut module, &compile_options());
    Arc::new(program.unwrap_or_else(|failure| panic!("{}: {failure}", path.display())))
}

/// Numbers between 0 and 1, consecutive ones different.
fn numbers(desc: &TensorDesc) -> Vec<u8> {
    let number = |index: usize| ((index * 7919) % 1009) as f32 / 1009.0;
    (0..desc.size_bytes / 4).flat_map(|index| number(index).to_le_bytes()).collect()
}

/// Runs both at a size; the program for all sizes may take 5 % more memory.
fn check_at(path: &Path, context: &mut RunContext<'_>, size: Size) {
    let mut module = load(path, &options(Some(size))).unwrap_or_else(|failure| panic!("{size:?}: {failure}"));
    let fixed = Model::compile(&mut module, &compile_options()).unwrap_or_else(|failure| panic!("{failure}"));
    let fixed = fixed.program().clone();
    let only = fixed.only().expect("its sizes are known");
    for desc in only.inputs() {
        context.set_shape(&desc.name, &desc.shape).expect("the program takes this shape");
    }
    let inputs: Vec<Vec<u8>> = only.inputs().iter().map(numbers).collect();
    let inputs: Vec<&[u8]> = inputs.iter().map(|input| &input[..]).collect();
    let empty = || only.outputs().iter().map(|desc| vec![0; desc.size_bytes]).collect::<Vec<_>>();
    let (mut expected, mut found) = (empty(), empty());
    let mut alone = fixed.context(THREADS).expect("it is planned for them");
    alone.run(&inputs, &mut views(&mut expected)).unwrap_or_else(|error| panic!("{size:?}: {error}"));
    let prepared = context.prepare().unwrap_or_else(|error| panic!("{size:?}: {error}"));
    let (arena, best) = (prepared.arena_bytes(), only.arena_bytes());
    assert!(20 * arena <= 21 * best, "{size:?}: {arena} bytes of arena, {best} if planned alone");
    context.run(&inputs, &mut views(&mut found)).unwrap_or_else(|error| panic!("{size:?}: {error}"));
    assert!(found == expected, "{size:?}: other bits than of the program for this size");
}

fn views(buffers: &mut [Vec<u8>]) -> Vec<&mut [u8]> {
    buffers.iter_mut().map(|buffer| &mut buffer[..]).collect()
}

/// A small size, several batches, odd sides, and sides at which the last windows cover only a corner.
const FEW: [Size; 4] = [[1, 64, 64], [3, 33, 50], [2, 41, 35], [1, 64, 64]];

#[test]
fn squeezenet_runs_at_sizes_that_it_was_not_compiled_for() {
    let path = root().join("examples/squeezenet1_1.onnx");
    let program = program(&path);
    let mut context = program.context(THREADS).expect("it is planned for them");
    FEW.into_iter().for_each(|size| check_at(&path, &mut context, size));
    assert_eq!(program.cached(), 4, "the sample, and sizes of which one comes again");
}

#[test]
fn a_size_that_a_window_does_not_fit_is_refused_and_the_next_one_runs() {
    let path = root().join("examples/squeezenet1_1.onnx");
    let program = program(&path);
    let mut context = program.context(THREADS).expect("it is planned for them");
    let name = program.inputs()[0].name.clone();
    context.set_shape(&name, &[1, 3, 2, 64]).expect("what a window needs is known when it is placed");
    let Err(refused) = context.prepare() else { panic!("the first window has three rows") };
    assert!(matches!(refused, RunError::Shape(_)), "{refused}");
    assert!(refused.to_string().contains("H = 2"), "{refused}");
    check_at(&path, &mut context, FEW[0]);
}

/// Twenty sizes.
fn many() -> impl Iterator<Item = Size> {
    let sides = [
        (224, 224),
        (192, 160),
        (97, 131),
        (64, 80),
        (65, 63),
        (128, 33),
        (50, 200),
        (161, 161),
        (96, 96),
        (40, 72),
    ];
    sides.into_iter().enumerate().flat_map(|(index, (height, width))| {
        [[1, height, width], [2 + index as u64 % 3, width / 2 + 32, height]]
    })
}

#[test]
#[cfg_attr(not(given = "OPTC_MODELS"), ignore = "needs OPTC_MODELS")]
fn networks_run_at_many_sizes() {
    let folder = given("OPTC_MODELS");
    for name in ["resnet50", "mobilenet_v2"] {
        let path = folder.join(format!("{name}.onnx"));
        let program = program(&path);
        let mut context = program.context(THREADS).expect("it is planned for them");
        many().for_each(|size| check_at(&path, &mut context, size));
    }
    // Concatenations, prologues, gates on channels, branches.
    for name in ["densenet121", "efficientnet_b0", "inception_v3", "se_resnext152_bn"] {
        let path = folder.join(format!("{name}.onnx"));
        let program = program(&path);
        let mut context = program.context(THREADS).expect("it is planned for them");
        [[1, 96, 96], [2, 80, 129]].into_iter().for_each(|size| check_at(&path, &mut context, size));
    }
}
