//! `optc run`: compile a program and run it.

use ir::plan::attrs;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use import::onnx::declared::Sizes;
use ir::Module;
use ir::interp::{self, Tensor};
use passes::symbolic::is_symbolic;

use super::inputs::{InputArgs, describe};
use super::passes::replay;
use super::summary::{memory_line, top_results};
use super::{FileArgs, MemoryArgs, ThreadsArgs, write_output};
use crate::arrays::{Array, write_npz};
use crate::compile::{DeadMemory, entry, input_names};
use crate::expect;
use crate::failure::Failure;
use crate::load::load;
use crate::model::Model;
use crate::open::OpenOutputs;
use crate::opt::{OptArgs, Setup};
use crate::sizes;
use crate::symbolic::sizes_of;

/// Compile a program and run it.
#[derive(Args)]
pub(super) struct RunArgs {
    #[command(flatten)]
    file: Option<FileArgs>,
    /// Run the passes again that panicked: a file that `--reproducer` named.
    #[arg(long, value_name = "CRASH", conflicts_with = "file")]
    replay: Option<PathBuf>,
    #[command(flatten)]
    inputs: InputArgs,
    #[command(flatten)]
    threads: ThreadsArgs,
    #[command(flatten)]
    memory: MemoryArgs,
    /// Write the outputs to a `.npz` file.
    #[arg(long, value_name = "Y.npz")]
    out: Option<PathBuf>,
    /// Compare the outputs with expected ones: `.json` (samples) or `.npz`.
    #[arg(long, value_name = "EXPECTED")]
    check: Option<PathBuf>,
    /// How far off an output may be, as a share of its absolute maximum.
    #[arg(long, default_value_t = 1e-4)]
    tolerance: f64,
    /// The function that is the program; else the only public one, or `main`.
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// Run the reference interpreter in place of machine code.
    #[arg(long)]
    interpret: bool,
    /// Fill memory with NaN as soon as nothing reads it any more.
    #[arg(long)]
    poison: bool,
}

/// What a run says of itself.
struct Ran {
    outputs: Vec<Array>,
    /// How long it took.
    times: String,
    /// What it allocates.
    memory: String,
}

pub(super) fn run(args: &RunArgs) -> Result<(), Failure> {
    if let Some(crash) = &args.replay {
        return replay(&Setup::default(), &OptArgs::default(), crash, None);
    }
    let Ran { outputs, times, memory } = outputs(args)?;
    if let Some(path) = &args.out {
        write_npz(path, &outputs)?;
    }
    write_output(&(top_results(&outputs) + &times + &memory), None)?;
    if let Some(path) = &args.check {
        let lines = expect::check(&outputs, path, args.tolerance)?;
        write_output(&(lines.join("\n") + "\n"), None)?;
    }
    Ok(())
}

/// What is printed, but for times.
pub(super) fn text(args: &RunArgs) -> Result<String, Failure> {
    let Ran { outputs, memory, .. } = outputs(args)?;
    Ok(top_results(&outputs) + &memory)
}

fn outputs(args: &RunArgs) -> Result<Ran, Failure> {
    let Some(file) = &args.file else { return Err(Failure::Usage("a file is required".to_owned())) };
    let mut module = load(&file.file, &file.options()?)?;
    let entry = entry(&module, args.entry.as_deref())?;
    let given = args.inputs.given()?;
    take_sizes(&mut module, &entry, &given)?;
    let mut inputs = args.inputs.arrays(given, &describe(&module, &entry)?)?;
    match args.interpret {
        true => Ok(Ran {
            outputs: interpret(&module, &entry, &inputs)?,
            times: String::new(),
            memory: String::new(),
        }),
        false => compile_and_run(args, &mut module, &entry, &mut inputs),
    }
}

/// Puts the sizes of arrays in the place of the symbols that a program's inputs have.
fn take_sizes(module: &mut Module, entry: &str, given: &[Array]) -> Result<(), Failure> {
    let ctx = module.ctx.clone();
    let body = module.function(entry).expect("the entry was just found");
    let names = input_names(&ctx, body);
    let known = given.iter().filter(|array| names.contains(&array.name));
    let shapes: Vec<(&str, &[u64])> = known.map(|array| (&*array.name, &*array.shape)).collect();
    if shapes.is_empty() || !is_symbolic(&ctx, body) {
        return Ok(());
    }
    let values = sizes_of(&ctx, body, &shapes)?;
    let sizes = Sizes { values, ..Sizes::new() };
    sizes::apply(module, &sizes)
}

fn compile_and_run(
    args: &RunArgs,
    module: &mut Module,
    entry: &str,
    inputs: &mut [Array],
) -> Result<Ran, Failure> {
    let dead = if args.poison { DeadMemory::Poisoned } else { DeadMemory::Kept };
    let options = args.memory.options(args.threads.threads, entry, dead);
    let start = Instant::now();
    let mut model = Model::compile(module, &options)?;
    let compile_ms = start.elapsed().as_secs_f64() * 1e3;
    model.set_states(inputs)?;
    let mut outputs = model.outputs();
    let start = Instant::now();
    model.run_donating(inputs, &mut outputs)?;
    let run_ms = start.elapsed().as_secs_f64() * 1e3;
    let mut outputs = model.exact(outputs);
    outputs.extend(model.states()?);
    let times = format!("compiled in {compile_ms:.0} ms, first run in {run_ms:.2} ms\n");
    Ok(Ran { outputs, times, memory: memory_line(module, entry, model.program())? })
}

/// Runs the reference interpreter.
fn interpret(module: &Module, entry: &str, inputs: &[Array]) -> Result<Vec<Array>, Failure> {
    let ctx = &module.ctx;
    let body = module.function(entry).expect("the entry was just found");
    let block = body.entry(body.root()).expect("the entry has a body");
    let mut tensors = Vec::new();
    for (arg, input) in body.args(block).iter().zip(inputs) {
        let ty = body.ty(*arg);
        if ir::size::static_extents(ctx, ty).as_deref() != Some(&input.shape) {
            let expected = ir::dims::Sizes(ctx).list(ctx.type_data(ty).tensor_shape().unwrap_or(&[]));
            return Err(Failure::input(format!(
                "input `{}` has shape {:?}, expected {expected}",
                input.name, input.shape
            )));
        }
        tensors.push(Tensor::new(ctx, ty, input.bytes.clone()));
    }
    let outputs =
        interp::run(module, entry, &tensors).map_err(|fault| Failure::diagnostics(ctx, &[fault]))?;
    let names = output_descs(module, entry);
    let arrays = outputs.iter().zip(names).map(|(tensor, (name, element))| Array {
        name,
        element,
        shape: ctx.static_shape(tensor.ty).unwrap_or_default(),
        bytes: tensor.bytes.to_vec(),
    });
    let (open, mut arrays) = (OpenOutputs::of(module, entry)?, arrays.collect::<Vec<Array>>());
    open.cut(&mut arrays);
    Ok(open.exact(arrays))
}

/// Name and element format of each output of a function.
fn output_descs(module: &Module, entry: &str) -> Vec<(String, runtime::ElementKind)> {
    let ctx = &module.ctx;
    let body = module.function(entry).expect("the entry was just found");
    let attrs = body.own_attr(ctx, ctx.ident("res_attrs")).and_then(|attrs| ctx.array_value(attrs));
    let results = match body.own_attr(ctx, ctx.ident("function_type")).map(|attr| ctx.attr_data(attr)) {
        Some(ir::AttrData::Type(ty)) => match ctx.type_data(*ty) {
            ir::TypeData::Function { results, .. } => &results[..],
            _ => &[],
        },
        _ => &[],
    };
    let describe = |(index, ty): (usize, &ir::Type)| {
        let name = attrs.and_then(|attrs| ctx.dict_get(*attrs.get(index)?, ctx.ident(attrs::OPTC_NAME)));
        let name = name.and_then(|name| ctx.str_value(name)).map_or(format!("result{index}"), str::to_owned);
        let element = super::inputs::element_kind(ctx, ctx.elem(*ty));
        (name, element.unwrap_or(runtime::ElementKind::U8))
    };
    results.iter().enumerate().map(describe).collect()
}
