//! The arena of a program with fewer samples at once: the program is loaded again, with a smaller number for
//! a size.

use import::onnx::declared::Symbolized;
use ir::plan::signature::Signature;
use ir::{Context, Module};

use super::FileArgs;
use crate::compile::{CompileOptions, plan_known_sizes, signature};
use crate::levers::{Lever, planned_cost};
use crate::load::load;
use crate::opt::Setup;
use crate::sizes::DimArg;

/// The name of the batch in a model with a number for it.
const BATCH: &str = "N";

/// The arguments to load a program with a smaller number for a size.
struct SmallerSize {
    file: FileArgs,
    /// The flags to add to the command line.
    flags: String,
    /// The flags that they replace.
    replaces: Option<String>,
    /// The divisor of the size.
    parts: u64,
}

/// The changes that make the arena of a planned program of known sizes smaller than `arena_bytes`: each size
/// given by `--dim` divided by its least divisor, and likewise the batch of a model, if all inputs and
/// outputs begin with it.
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

/// The first size of all inputs and outputs, if they agree.
fn batch(ctx: &Context, signature: &Signature) -> Option<u64> {
    let inputs = signature.args.iter().map(|arg| arg.ty);
    let mut firsts = inputs
        .chain(signature.results.iter().map(|result| result.ty))
        .map(|ty| ctx.type_data(ty).tensor_shape().and_then(|shape| shape.first()?.known()));
    let first = firsts.next()??;
    firsts.all(|other| other == Some(first)).then_some(first)
}

/// The file with a smaller number for the size of its `--dim` number `index`.
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

/// The least divisor above 1.
fn least_divisor(size: u64) -> Option<u64> {
    let mut to_root = (2..).take_while(|divisor: &u64| divisor.saturating_mul(*divisor) <= size);
    let prime = (size > 1).then_some(size);
    to_root.find(|divisor| size.is_multiple_of(*divisor)).or(prime)
}
