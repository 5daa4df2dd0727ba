//! What a program takes for fewer samples at once: it is read again, with a smaller number in the place of a
//! size.

use import::onnx::declared::Symbolized;
use ir::plan::signature::Signature;
use ir::{Context, Module};

use super::FileArgs;
use crate::compile::{CompileOptions, plan_known_sizes, signature};
use crate::levers::{Lever, planned_cost};
use crate::load::load;
use crate::opt::Setup;
use crate::sizes::DimArg;

/// What the batch is called of a model that has a number for it.
const BATCH: &str = "N";

/// The arguments that read a program with a smaller number in the place of a size.
struct SmallerSize {
    file: FileArgs,
    /// What is added to the command line.
    flags: String,
    /// What it stands for.
    replaces: Option<String>,
    /// Into how many parts the size is divided.
    parts: u64,
}

/// What makes the arena of a planned program of known sizes, which takes `arena_bytes`, smaller: each size
/// that `--dim` gives divided by its least divisor, and the same for the batch of a model whose inputs and
/// outputs all begin with it.
pub(super) fn fewer_samples(
    (setup, file): (&Setup, &FileArgs),
    module: &Module,
    entry: &str,
    options: &CompileOptions,
    arena_bytes: u64,
) -> Vec<Lever> {
    let batch_of = |module: &Module| batch(&module.ctx, &signature(module, entry).ok()?);
    let whole = batch_of(module);
    let lever = |smaller: SmallerSize| {
        let SmallerSize { file, flags, replaces, parts } = smaller;
        let mut module = load(&file.file, &file.plan_options(setup).ok()?).ok()?;
        let is_batch = whole.is_some() && whole == batch_of(&module).map(|size| size * parts);
        let options = CompileOptions { budget_bytes: None, ..options.unobserved() };
        plan_known_sizes(&mut module, entry, &options).ok()?;
        let lever = Lever::new(flags, arena_bytes, planned_cost(&module, entry))?;
        Some(Lever { runs: if is_batch { parts as usize } else { 1 }, replaces, ..lever })
    };
    let given = (0..file.dim.len()).filter_map(|index| smaller_given(file, index));
    let names = signature(module, entry).into_iter().flat_map(|signature| signature.args);
    let names = names.filter(|arg| arg.input.is_some()).map(|arg| arg.name).collect();
    let batch = whole.filter(|_| file.dim.is_empty()).and_then(|size| smaller_batch(file, names, size));
    given.chain(batch).filter_map(lever).collect()
}

/// The size that all inputs and outputs begin with, if that is one.
fn batch(ctx: &Context, signature: &Signature) -> Option<u64> {
    let inputs = signature.args.iter().map(|arg| arg.ty);
    let mut firsts = inputs
        .chain(signature.results.iter().map(|result| result.ty))
        .map(|ty| ctx.type_data(ty).tensor_shape().and_then(|shape| shape.first()?.known()));
    let first = firsts.next()??;
    firsts.all(|other| other == Some(first)).then_some(first)
}

/// The file with a smaller number for the size that its `index`th `--dim` gives.
fn smaller_given(file: &FileArgs, index: usize) -> Option<SmallerSize> {
    let given = &file.dim[index];
    let size = given.number()?;
    let parts = least_divisor(size)?;
    let mut file = file.clone();
    file.dim[index] = DimArg::of(given.name(), size / parts);
    let flag = |size: u64| format!("--dim={}={size}", given.name());
    Some(SmallerSize { file, flags: flag(size / parts), replaces: Some(flag(size)), parts })
}

/// The file with fewer samples in each of its inputs.
fn smaller_batch(file: &FileArgs, inputs: Vec<String>, size: u64) -> Option<SmallerSize> {
    let is_plain = |name: &String| !name.contains([' ', '\'', '"', '$', '\\']);
    let is_model = file.file.extension().is_some_and(|extension| extension == "onnx");
    if !is_model || !inputs.iter().all(is_plain) {
        return None;
    }
    let parts = least_divisor(size)?;
    let mut flags: Vec<String> =
        inputs.iter().map(|input| format!("--symbolize={input}:0={BATCH}")).collect();
    flags.push(format!("--dim={BATCH}={}", size / parts));
    let symbolized = |input| Symbolized { input, axis: 0, size: BATCH.to_owned() };
    let mut file = file.clone();
    file.symbolize.push(inputs.into_iter().map(symbolized).collect());
    file.dim.push(DimArg::of(BATCH, size / parts));
    Some(SmallerSize { file, flags: flags.join(" "), replaces: None, parts })
}

/// The least number above 1 that divides this one.
fn least_divisor(size: u64) -> Option<u64> {
    let mut to_root = (2..).take_while(|divisor: &u64| divisor.saturating_mul(*divisor) <= size);
    let prime = (size > 1).then_some(size);
    to_root.find(|divisor| size.is_multiple_of(*divisor)).or(prime)
}
