//! Fuzzing of imported models: machine code computes the interpreter's results, for any file.
//!
//! `fuzz/run import_run 600` runs it for ten minutes. Programs with many elements or named sizes are skipped;
//! refusals by the compiler or the interpreter are no faults. Sums are rounded in another order, so floats
//! agree to a thousandth of the largest one, and outputs with infinities and NaN only in type and shape.

#![no_main]

use libfuzzer_sys::fuzz_target;
use optc::interpret::interpret;
use optc::{Array, CompileOptions, DeadMemory, LoadOptions, Model, load_model_bytes};

/// The greatest number of elements of all values together, since the interpreter is slow.
const MOST_ELEMENTS: u64 = 100_000;

/// Elements of a program's values; none if a size is no number.
fn elements(module: &ir::Module) -> Option<u64> {
    let mut sum = 0u64;
    for (_, body) in module.functions() {
        let args = body.all_blocks().flat_map(|block| body.args(block)).copied();
        let results = body.all_blocks().flat_map(|block| body.ops(block)).flat_map(|op| body.results(op));
        for value in args.chain(results) {
            let shape = module.ctx.static_shape(body.ty(value))?;
            let count = shape.iter().try_fold(1u64, |count, size| count.checked_mul(*size))?;
            sum = sum.checked_add(count)?;
        }
    }
    Some(sum)
}

/// Small numbers of each type, by the rule of `optc run --random`.
fn inputs(model: &Model) -> Option<Vec<Array>> {
    let only = model.program().only()?;
    let inputs = only.inputs().iter().map(|desc| {
        let element = import::onnx::element::Element::from_number(number_of(desc.element)?)?;
        let blob = import::synth::input(&desc.name, None, element, &desc.shape).ok()?;
        Some(Array {
            name: desc.name.clone(),
            element: desc.element,
            shape: desc.shape.clone(),
            bytes: blob.to_vec(),
        })
    });
    inputs.collect()
}

/// ONNX's number for an element type; none for types without random numbers.
fn number_of(element: optc::runtime::ElementKind) -> Option<i32> {
    use optc::runtime::ElementKind;
    Some(match element {
        ElementKind::F32 => 1,
        ElementKind::U8 => 2,
        ElementKind::I8 => 3,
        ElementKind::I32 => 6,
        ElementKind::I64 => 7,
        ElementKind::Bool => 9,
        ElementKind::F16 => 10,
        ElementKind::F64 => 11,
        _ => return None,
    })
}

/// Whether two outputs agree, as far as that can be decided.
fn agree(expected: &Array, found: &Array) -> bool {
    if (expected.element, &expected.shape) != (found.element, &found.shape) {
        return false;
    }
    let (a, b) = (expected.to_f64(), found.to_f64());
    let largest = a.iter().chain(&b).fold(1.0f64, |largest, x| largest.max(x.abs()));
    let is_wild = a.iter().chain(&b).any(|x| !x.is_finite()) || largest > 1e30;
    is_wild || a.iter().zip(&b).all(|(a, b)| (a - b).abs() <= 1e-3 * largest)
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(mut module) = load_model_bytes("m.onnx", bytes.to_vec(), &LoadOptions::default()) else { return };
    if elements(&module).is_none_or(|count| count > MOST_ELEMENTS) {
        return;
    }
    let source = module.clone();
    let options = CompileOptions { dead: DeadMemory::Poisoned, ..CompileOptions::default() };
    let Ok(mut model) = Model::compile(&mut module, &options) else { return };
    let Some(inputs) = inputs(&model) else { return };
    let Ok(expected) = interpret(&source, "main", &inputs) else { return };
    let found = model.run(&inputs).unwrap_or_else(|failure| panic!("the interpreter runs, but: {failure}"));
    assert_eq!(expected.len(), found.len());
    for (expected, found) in expected.iter().zip(&found) {
        let name = &expected.name;
        assert!(agree(expected, found), "{name}: {:?}, expected {:?}", found.to_f64(), expected.to_f64());
    }
});
