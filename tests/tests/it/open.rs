//! Results with data-dependent sizes, against onnxruntime: in machine code for known and for named sizes, and
//! in the interpreter; with exact shapes after the run, without a second copy in memory.
//!
//! `tests/data/open.txt` has graphs, inputs and onnxruntime's outputs; `tests/open/run` compares many more if
//! there is a Python with onnxruntime.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use import::onnx::declared::DeclaredSizes;
use ir::Module;
use ir::interp::{self, Tensor};
use optc::open::OpenOutputs;
use optc::{Array, CompileOptions, LoadOptions, Model, load, parse};
use runtime::{ElementKind, Program, RunContext, as_bytes, as_bytes_mut};

use crate::ALLOCATOR;

/// The results of a graph for some inputs.
enum Expected {
    Output(Array),
    /// All elements are this number.
    Each(f64),
    Fails,
}

struct Run {
    sizes: BTreeMap<String, u64>,
    inputs: Vec<Array>,
    expected: Expected,
}

struct Graph {
    name: String,
    model: PathBuf,
    runs: Vec<Run>,
}

/// The graphs; their models are written to a folder.
fn graphs(folder: &Path) -> Vec<Graph> {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/data/open.txt"));
    let text = text.expect("the file is beside the tests");
    let mut graphs: Vec<Graph> = Vec::new();
    for line in text.lines() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        if word == "graph" {
            let model = folder.join(format!("{rest}.onnx"));
            graphs.push(Graph { name: rest.to_owned(), model, runs: Vec::new() });
            continue;
        }
        let graph = graphs.last_mut().expect("a graph comes first");
        if word == "model" {
            std::fs::write(&graph.model, bytes(rest)).expect("there is room for a model");
            continue;
        }
        if word == "sizes" {
            let size = |size: &str| {
                size.split_once('=')
                    .map(|(name, size)| (name.to_owned(), size.parse().expect("the file is well-formed")))
            };
            let sizes = rest.split(' ').map(|text| size(text).expect("the file is well-formed")).collect();
            graph.runs.push(Run { sizes, inputs: Vec::new(), expected: Expected::Fails });
            continue;
        }
        let run = graph.runs.last_mut().expect("sizes come first");
        match word {
            "input" => run.inputs.push(
                rest.split_once(' ').map(|(name, rest)| array(name, rest)).expect("the file is well-formed"),
            ),
            "output" => run.expected = Expected::Output(array("y", rest)),
            "each" => run.expected = Expected::Each(rest.parse().expect("the file is well-formed")),
            other => assert_eq!(other, "fails"),
        }
    }
    graphs
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2)
        .map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("the file is well-formed"))
        .collect()
}

/// `f32 2,1 0.5 -1`.
fn array(name: &str, text: &str) -> Array {
    let mut words = text.split(' ');
    let (kind, shape) =
        (words.next().expect("the file is well-formed"), words.next().expect("the file is well-formed"));
    let shape: Vec<u64> = shape.split(',').filter_map(|size| size.parse().ok()).collect();
    let integer = |word: &str| word.parse::<i64>().expect("the file is well-formed");
    let (element, bytes): (_, Vec<u8>) = match kind {
        "f32" => (
            ElementKind::F32,
            words
                .flat_map(|word| word.parse::<f32>().expect("the file is well-formed").to_le_bytes())
                .collect(),
        ),
        "i64" => (ElementKind::I64, words.flat_map(|word| integer(word).to_le_bytes()).collect()),
        "i32" => (ElementKind::I32, words.flat_map(|word| (integer(word) as i32).to_le_bytes()).collect()),
        _ => (ElementKind::Bool, words.map(|word| integer(word) as u8).collect()),
    };
    Array { name: name.to_owned(), element, shape, bytes }
}

fn options() -> CompileOptions {
    CompileOptions { threads: 1, ..CompileOptions::default() }
}

fn at_sizes(graph: &Graph, run: &Run) -> Module {
    let sizes = DeclaredSizes::from(run.sizes.clone());
    load(&graph.model, &LoadOptions { sizes, ..LoadOptions::default() })
        .unwrap_or_else(|failure| panic!("{}: {failure}", graph.name))
}

fn compiled(graph: &Graph, run: &Run) -> Option<Array> {
    let mut module = at_sizes(graph, run);
    let model = Model::compile(&mut module, &options());
    let mut model = model.unwrap_or_else(|failure| panic!("{}: {failure}", graph.name));
    model.run(&run.inputs).ok().map(|mut outputs| outputs.remove(0))
}

fn interpreted(graph: &Graph, run: &Run) -> Option<Array> {
    let module = at_sizes(graph, run);
    let body = module.function("main").expect("it is what models become");
    let args = body.args(body.entry(body.root()).expect("it has a body"));
    let tensor =
        |(arg, input): (&ir::Value, &Array)| Tensor::new(&module.ctx, body.ty(*arg), input.bytes.clone());
    let tensors: Vec<Tensor> = args.iter().zip(&run.inputs).map(tensor).collect();
    let outputs = interp::run(&module, "main", &tensors).ok()?;
    let mut model = Model::compile(&mut module.clone(), &options()).ok()?.empty_outputs().ok()?;
    for (array, tensor) in model.iter_mut().zip(outputs) {
        array.bytes = tensor.bytes.to_vec();
    }
    let open = OpenOutputs::of(&module, "main").expect("the import says it rightly");
    open.cut(&mut model);
    Some(open.exact(model).remove(0))
}

/// Runs a program for all sizes, and cuts its first output to the shape that the context reports.
fn of_all_sizes(context: &mut RunContext<'_>, run: &Run) -> Option<Array> {
    for input in &run.inputs {
        context.set_shape(&input.name, &input.shape).unwrap_or_else(|error| panic!("{error}"));
    }
    let descs = context.prepare().ok()?.outputs().to_vec();
    let inputs: Vec<&[u8]> = run.inputs.iter().map(|input| &input.bytes[..]).collect();
    let mut outputs: Vec<Vec<u8>> = descs.iter().map(|desc| vec![0xee; desc.size_bytes]).collect();
    let mut views: Vec<&mut [u8]> = outputs.iter_mut().map(|output| &mut output[..]).collect();
    context.run(&inputs, &mut views).ok()?;
    let shape = context.exact_shape(0).unwrap_or(&descs[0].shape).to_vec();
    let mut bytes = outputs.swap_remove(0);
    let width = bytes.len().checked_div(descs[0].shape.iter().product::<u64>() as usize).unwrap_or(0);
    bytes.truncate(shape.iter().product::<u64>() as usize * width);
    Some(Array { name: "y".to_owned(), element: descs[0].element, shape, bytes })
}

fn is_same(found: Option<&Array>, expected: &Expected) -> bool {
    let near =
        |a: f64, b: f64| a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-5 + 1e-5 * b.abs();
    match (found, expected) {
        (None, Expected::Fails) => true,
        (Some(found), Expected::Each(number)) => found.to_f64().iter().all(|x| near(*x, *number)),
        (Some(found), Expected::Output(output)) => {
            (found.element, &found.shape) == (output.element, &output.shape)
                && found.to_f64().iter().zip(output.to_f64()).all(|(x, y)| near(*x, y))
        }
        _ => false,
    }
}

#[test]
fn results_have_the_values_and_sizes_that_onnxruntime_gives_them() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder for the models");
    let graphs = graphs(folder.path());
    let mut faults = Vec::new();
    let mut runs = 0;
    for graph in &graphs {
        let module = load(&graph.model, &LoadOptions::default());
        let mut module = module.unwrap_or_else(|failure| panic!("{}: {failure}", graph.name));
        let program = optc::compile(&mut module, &options());
        let program = program.unwrap_or_else(|failure| panic!("{}: {failure}", graph.name));
        let mut context = Arc::new(program).context(1).expect("it is planned for one thread");
        for run in &graph.runs {
            let ways = [
                ("compiled", compiled(graph, run)),
                ("interpreted", interpreted(graph, run)),
                ("for all sizes", of_all_sizes(&mut context, run)),
            ];
            runs += 1;
            for (way, found) in ways {
                if !is_same(found.as_ref(), &run.expected) {
                    faults.push(format!("{} {way} at {:?}: {found:?}", graph.name, run.sizes));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{} differ:\n{}", faults.len(), faults.join("\n"));
    assert!(graphs.len() > 50 && runs == 4 * graphs.len(), "{} graphs, {runs} runs", graphs.len());
}

/// The columns of %x selected by %c, doubled: open along the inner axis, so that rows move together after the
/// run.
const COLUMNS: &str = "func.func @main(%x: tensor<?x?xf32, #optc.dims<N, M>> {optc.name = \"x\"}, %c: tensor<?xi1, #optc.dims<M>> {optc.name = \"c\"}) -> (tensor<?x?xf32, #optc.dims<N, M>> {optc.open = array<i64: 1, 1>}, tensor<i64> {optc.count}) {
  %0, %1 = nn.compress %x, %c {axis = 1 : i64} : (tensor<?x?xf32, #optc.dims<N, M>>, tensor<?xi1, #optc.dims<M>>) -> (tensor<?x?xf32, #optc.dims<N, M>>, tensor<i64>)
  %2 = nn.add %0, %0 : tensor<?x?xf32, #optc.dims<N, M>>
  return %2, %1 : tensor<?x?xf32, #optc.dims<N, M>>, tensor<i64>
}";

fn columns() -> Arc<Program> {
    let module = parse("columns.mlir", COLUMNS.to_owned(), None, &LoadOptions::default());
    let mut module = module.unwrap_or_else(|failure| panic!("{failure}"));
    let program = optc::compile(&mut module, &options());
    Arc::new(program.unwrap_or_else(|failure| panic!("{failure}")))
}

/// Runs at a size; column `i` is kept if `holds(i)`.
fn run_columns(
    context: &mut RunContext<'_>,
    [n, m]: [usize; 2],
    holds: fn(usize) -> bool,
    buffers: &mut Buffers,
) {
    context.set_shape("x", &[n as u64, m as u64]).expect("any size will do");
    context.set_shape("c", &[m as u64]).expect("any size will do");
    let Buffers { x, condition, y, count } = buffers;
    (0..n * m).for_each(|at| x[at] = at as f32);
    (0..m).for_each(|at| condition[at] = u8::from(holds(at)));
    y[..n * m].fill(-1.0);
    let (y, count) = (as_bytes_mut(&mut y[..n * m]), as_bytes_mut(count));
    context
        .run(&[as_bytes(&x[..n * m]), &condition[..m]], &mut [y, count])
        .expect("the buffers are of these sizes");
}

struct Buffers {
    x: [f32; 64],
    condition: [u8; 64],
    y: [f32; 64],
    count: [i64; 1],
}

const NOTHING: Buffers = Buffers { x: [0.0; 64], condition: [0; 64], y: [0.0; 64], count: [0] };

#[test]
fn an_output_says_its_shape_behind_a_run_and_is_dense() {
    let program = columns();
    let mut context = program.context(1).expect("it is planned for one thread");
    assert_eq!(context.exact_shape(0), None, "nothing was run");
    let mut buffers = NOTHING;
    let conditions: [fn(usize) -> bool; 4] = [|_| false, |_| true, |at| at % 2 == 1, |at| at == 0];
    for sizes @ [n, m] in [[1, 1], [3, 5], [4, 16], [1, 64], [64, 1]] {
        for holds in conditions {
            run_columns(&mut context, sizes, holds, &mut buffers);
            let kept: Vec<usize> = (0..m).filter(|at| holds(*at)).collect();
            let expected: Vec<f32> =
                (0..n).flat_map(|row| kept.iter().map(move |at| 2.0 * (row * m + at) as f32)).collect();
            assert_eq!(context.exact_shape(0), Some(&[n as u64, kept.len() as u64][..]));
            assert_eq!(buffers.y[..expected.len()], expected);
            assert_eq!((context.exact_shape(1), buffers.count[0]), (None, kept.len() as i64));
        }
    }
    let run = context.run(&[], &mut []);
    assert!(run.is_err() && context.exact_shape(0).is_none(), "a run that fails has no shapes");
}

#[test]
fn a_cut_allocates_nothing() {
    let program = columns();
    let sizes = [[3, 5], [4, 16], [2, 2]];
    let conditions: [fn(usize) -> bool; 2] = [|at| at % 2 == 1, |_| false];
    let mut buffers = NOTHING;
    let mut pass = |context: &mut RunContext<'_>| {
        for (sizes, holds) in sizes.into_iter().flat_map(|sizes| conditions.map(|holds| (sizes, holds))) {
            run_columns(context, sizes, holds, &mut buffers);
        }
    };
    pass(&mut program.context(1).expect("it is planned for one thread"));
    let mut context = program.context(1).expect("it is planned for one thread");
    pass(&mut context);
    let ((), again) = ALLOCATOR.measure(|| pass(&mut context));
    assert_eq!(again.count, 0);
}
