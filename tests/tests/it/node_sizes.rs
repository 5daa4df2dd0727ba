//! Single operators with named sizes against the same operators at those sizes: every size of ONNX's node
//! tests is a symbol once.
//!
//! The tests are in the folder named by `OPTC_ONNX_TESTS` (`node/NAME/model.onnx`):
//! `OPTC_ONNX_TESTS=/path/to/tests cargo test -p optc-tests --test it node_sizes:: -- --nocapture`. Refused
//! operators are counted by their reason, and printed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use import::onnx::declared::{DeclaredSizes, Symbolized};
use ir::interp::{self, Tensor};
use ir::{Dim, Kind, Module};
use optc::{CompileOptions, LoadOptions, Model, SizeOptions, load};
use runtime::{ElementKind, Program, RunContext, TensorDesc};
use tests::given::given;

/// The outcome for one operator with one size as a symbol.
enum Outcome {
    /// It ran at this number of sizes, with the results of the program for each.
    Same(usize),
    Refused(String),
}

/// How the results agree.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Exactly {
    ToTheBit,
    UpToRounding,
}

fn options(axes: &[(String, usize)], value: Option<u64>) -> LoadOptions {
    let symbolized = axes
        .iter()
        .map(|(input, axis)| Symbolized { input: input.clone(), axis: *axis, size: "A".to_owned() })
        .collect();
    let values = value.map(|value| ("A".to_owned(), value)).into_iter().collect();
    LoadOptions {
        sizes: DeclaredSizes { values, symbolized, ..DeclaredSizes::new() },
        ..LoadOptions::default()
    }
}

fn compile_options() -> CompileOptions {
    CompileOptions { threads: 1, ..CompileOptions::default() }
}

fn fixed(path: &Path, options: &LoadOptions) -> Option<Arc<Program>> {
    let mut module = load(path, options).ok()?;
    Some(optc::Model::compile(&mut module, &compile_options()).ok()?.program().clone())
}

/// Floats between 0 and 1, and small integers, none of which is 0.
fn numbers(desc: &TensorDesc) -> Vec<u8> {
    let count = desc.shape.iter().product::<u64>() as usize;
    let width = desc.size_bytes.checked_div(count).unwrap_or(0);
    let element = |index: usize| match desc.element {
        ElementKind::F32 => (((index * 7919) % 1009) as f32 / 1009.0).to_le_bytes().to_vec(),
        ElementKind::F64 => (((index * 7919) % 1009) as f64 / 1009.0).to_le_bytes().to_vec(),
        _ => ((index % 2 + 1) as u64).to_le_bytes()[..width].to_vec(),
    };
    let mut bytes: Vec<u8> = (0..count).flat_map(element).collect();
    bytes.resize(desc.size_bytes, 0);
    if desc.element == ElementKind::Bool {
        bytes.iter_mut().for_each(|byte| *byte -= 1);
    }
    bytes
}

/// Whether an operation broadcasts an operand at one size but not at another: a named size against a number.
/// An operation that is right for both is not fused, so its sums are rounded in another way than in the
/// program for one size.
fn stretches_at_some_sizes(module: &Module) -> bool {
    let ctx = &module.ctx;
    let body = module.function("main").expect("a model is a function `main`");
    let shape = |value| ctx.type_data(body.ty(value)).tensor_shape().unwrap_or(&[]);
    let mut ops = body.all_blocks().flat_map(|block| body.ops(block));
    ops.any(|op| {
        let is_open = |(from, to): (&Dim, &Dim)| from.known().is_none() && to.known().is_some();
        matches!(body.at(ctx, op).kind(), Kind::Elementwise(_))
            && body.operands(op).any(|operand| {
                shape(operand).iter().rev().zip(shape(body.result(op, 0)).iter().rev()).any(is_open)
            })
    })
}

/// Whether two buffers of floats differ by no more than the rounding of numbers of at most 1.
fn is_close(a: &[u8], b: &[u8]) -> bool {
    let floats = |bytes: &[u8]| -> Vec<f32> {
        bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
    };
    let is_near = |(a, b): (f32, f32)| a.to_bits() == b.to_bits() || (a - b).abs() <= 1e-6 * a.abs().max(1.0);
    floats(a).into_iter().zip(floats(b)).all(is_near)
}

/// Runs both at a size; returns whether they agree, also in failing.
fn agree(context: &mut RunContext<'_>, fixed: &Arc<Program>, exactly: Exactly) -> Result<(), String> {
    let only = fixed.only().expect("its sizes are known");
    for desc in only.inputs() {
        context.set_shape(&desc.name, &desc.shape).map_err(|error| error.to_string())?;
    }
    let inputs: Vec<Vec<u8>> = only.inputs().iter().map(numbers).collect();
    let inputs: Vec<&[u8]> = inputs.iter().map(|input| &input[..]).collect();
    let empty = || only.outputs().iter().map(|desc| vec![0; desc.size_bytes]).collect::<Vec<_>>();
    let (mut expected, mut found) = (empty(), empty());
    let mut alone = fixed.context(1).expect("it is planned for one thread");
    let is_done = alone.run(&inputs, &mut views(&mut expected)).is_ok();
    match context.run(&inputs, &mut views(&mut found)) {
        Ok(()) if is_done && found == expected => Ok(()),
        Ok(())
            if is_done
                && exactly == Exactly::UpToRounding
                && found.iter().zip(&expected).all(|(found, expected)| is_close(found, expected)) =>
        {
            Ok(())
        }
        Ok(()) if is_done => Err("other bits".to_owned()),
        Ok(()) => Err("it runs where the program for the size does not".to_owned()),
        Err(error) if is_done => Err(error.to_string()),
        Err(_) => Ok(()),
    }
}

/// Whether machine code and the interpreter agree on tensors without elements.
fn agree_on_nothing(path: &Path, axes: &[(String, usize)]) -> Result<(), String> {
    let Ok(module) = load(path, &options(axes, Some(0))) else { return Ok(()) };
    let Ok(model) = Model::compile(&mut module.clone(), &compile_options()) else { return Ok(()) };
    let program = model.program().clone();
    let only = program.only().ok_or("its sizes are known")?;
    let inputs: Vec<Vec<u8>> = only.inputs().iter().map(numbers).collect();
    let ctx = &module.ctx;
    let args = only.inputs().iter().zip(&inputs);
    let body = module.function("main").ok_or("there is no `main`")?;
    let types = body.args(body.entry(body.root()).ok_or("`main` is declared only")?);
    let tensors = args.zip(types).map(|((_, bytes), arg)| Tensor::new(ctx, body.ty(*arg), bytes.clone()));
    let expected = interp::run(&module, "main", &tensors.collect::<Vec<_>>());
    let inputs: Vec<&[u8]> = inputs.iter().map(|input| &input[..]).collect();
    let mut found: Vec<Vec<u8>> = only.outputs().iter().map(|desc| vec![0; desc.size_bytes]).collect();
    let mut context = program.context(1).map_err(|error| error.to_string())?;
    let done = context.run(&inputs, &mut views(&mut found));
    match (expected, done) {
        (Ok(expected), Ok(())) => {
            let is_same =
                expected.iter().zip(&found).all(|(expected, found)| expected.bytes[..] == found[..]);
            if is_same { Ok(()) } else { Err("other bits than interpreted".to_owned()) }
        }
        (Err(_), Err(_)) => Ok(()),
        // Indices are checked, though they select nothing.
        (Ok(_), Err(error)) if error.to_string().contains("an index is outside") => Ok(()),
        (Ok(_), Err(error)) => Err(error.to_string()),
        (Err(fault), Ok(())) => Err(format!("it runs, but is not interpreted: {}", fault.render(ctx))),
    }
}

fn views(buffers: &mut [Vec<u8>]) -> Vec<&mut [u8]> {
    buffers.iter_mut().map(|buffer| &mut buffer[..]).collect()
}

/// One operator with all sizes equal to `size` as one symbol, at one, at that size and the two above.
fn check(path: &Path, program: &Program, size: u64) -> Result<Outcome, String> {
    let only = program.only().ok_or("its sizes are known")?;
    let sizes = only.inputs().iter().flat_map(|desc| {
        let axes = desc.shape.iter().enumerate().filter(|axis| *axis.1 == size);
        axes.map(|(axis, _)| (desc.name.clone(), axis))
    });
    let axes: Vec<(String, usize)> = sizes.collect();
    let refused = |failure: optc::Failure| {
        let text = failure.to_string();
        Ok(Outcome::Refused(text.lines().find(|line| line.contains("error")).unwrap_or(&text).to_owned()))
    };
    let mut module = match load(path, &options(&axes, None)) {
        Ok(module) => module,
        Err(failure) => return refused(failure),
    };
    let exactly = match stretches_at_some_sizes(&module) {
        true => Exactly::UpToRounding,
        false => Exactly::ToTheBit,
    };
    let sizes = SizeOptions { sample: vec![("A".to_owned(), size)], ..SizeOptions::default() };
    let all = match optc::compile(&mut module, &CompileOptions { sizes, ..compile_options() }) {
        Ok(all) => Arc::new(all),
        Err(failure) => return refused(failure),
    };
    let mut context = all.context(1).map_err(|error| error.to_string())?;
    let mut ran = 0;
    agree_on_nothing(path, &axes).map_err(|reason| format!("A = 0: {reason}"))?;
    for value in [1].into_iter().chain(size..size + 3) {
        let Some(fixed) = fixed(path, &options(&axes, Some(value))) else { continue };
        // An operand that is broadcast only from 1 is fused in another way there.
        let exactly = if value == 1 { Exactly::UpToRounding } else { exactly };
        agree(&mut context, &fixed, exactly).map_err(|reason| format!("A = {value}: {reason}"))?;
        ran += 1;
    }
    Ok(Outcome::Same(ran))
}

#[test]
#[cfg_attr(not(given = "OPTC_ONNX_TESTS/node"), ignore = "needs OPTC_ONNX_TESTS/node")]
fn operators_with_named_sizes_compute_what_they_do_at_each_size() {
    let folder = given("OPTC_ONNX_TESTS").join("node");
    let entries = std::fs::read_dir(&folder).expect("it is a folder");
    let mut names: Vec<PathBuf> = entries.map(|entry| entry.expect("it is read").path()).collect();
    names.sort();
    let (mut operators, mut runs) = (0, 0);
    let mut faults = Vec::new();
    let mut refusals: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for folder in names {
        let path = folder.join("model.onnx");
        let Some(program) = fixed(&path, &LoadOptions::default()) else { continue };
        let only = program.only().expect("its sizes are known");
        let sizes: BTreeSet<u64> =
            only.inputs().iter().flat_map(|desc| desc.shape.clone()).filter(|size| *size > 1).collect();
        for size in sizes {
            let name = format!("{} {size}", folder.file_name().expect("it has one").display());
            match check(&path, &program, size) {
                Ok(Outcome::Same(ran)) => {
                    operators += 1;
                    runs += ran;
                }
                Ok(Outcome::Refused(reason)) => drop(refusals.entry(reason).or_default().insert(name)),
                Err(reason) => faults.push(format!("{name}: {reason}")),
            }
        }
    }
    println!("{operators} operators with a size as a symbol, {runs} runs");
    for (reason, names) in &refusals {
        println!("refused {} times, {}: {reason}", names.len(), names.first().map_or("", String::as_str));
    }
    assert!(faults.is_empty(), "{} differ:\n{}", faults.len(), faults.join("\n"));
    assert!(operators > 1000, "only {operators} operators were found in the folder");
}
