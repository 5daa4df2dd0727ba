//! Does machine code compute of a model what the interpreter does, or is the model refused with a reason?
//!
//! `fuzz/run import_run 600` runs it for ten minutes. Programs of more than some operations or bytes, or of
//! sizes that are not known, are left out. Floats agree to a hundredth of the largest beside them, since laws
//! and kernels round in other orders; where there are none, results are equal to the bit.

#![no_main]

use libfuzzer_sys::fuzz_target;
use optc::expect::first_difference;
use optc::interpret::interpret;
use optc::ir::size::tensor_bytes;
use optc::ir::{Body, Module, TypeData, Value};
use optc::load::load_model_bytes;
use optc::runtime::{ElementKind, Extent, TensorSpec};
use optc::{Array, CompileOptions, Model};

/// Bytes of all values together, and operations, at most.
const MOST_BYTES: u64 = 1 << 20;
const MOST_OPERATIONS: usize = 500;

/// All values of a function that operations make or take.
fn values(body: &Body) -> impl Iterator<Item = Value> {
    let ops = body.all_blocks().flat_map(|block| body.ops(block));
    ops.flat_map(|op| body.results(op).chain(body.operands(op)))
}

/// Whether a program is small, and of known sizes.
fn is_small(module: &Module, body: &Body) -> bool {
    let sizes = values(body).map(|value| tensor_bytes(&module.ctx, body.ty(value)));
    let count = body.all_blocks().flat_map(|block| body.ops(block)).count();
    count <= MOST_OPERATIONS && sizes.sum::<Option<u64>>().is_some_and(|bytes| bytes <= MOST_BYTES)
}

/// Numbers from -1 to 1, or 0, 1, 2; none for elements of other types.
fn input(spec: &TensorSpec) -> Option<Array> {
    let known = |extent: &Extent| if let Extent::Known(size) = extent { Some(*size) } else { None };
    let shape = spec.extents.iter().map(known).collect::<Option<Vec<u64>>>()?;
    let count = shape.iter().product::<u64>();
    let floats = || (0..count).map(|index| (index * 7 % 17) as f32 / 8.0 - 1.0);
    let numbers = || (0..count).map(|index| index % 3);
    let bytes: Vec<u8> = match spec.element {
        ElementKind::F32 => floats().flat_map(f32::to_le_bytes).collect(),
        ElementKind::F64 => floats().flat_map(|number| f64::from(number).to_le_bytes()).collect(),
        ElementKind::I64 | ElementKind::U64 => numbers().flat_map(u64::to_le_bytes).collect(),
        ElementKind::I32 | ElementKind::U32 => {
            numbers().flat_map(|number| (number as u32).to_le_bytes()).collect()
        }
        ElementKind::I8 | ElementKind::U8 => numbers().map(|number| number as u8).collect(),
        ElementKind::Bool => numbers().map(|number| number as u8 % 2).collect(),
        _ => return None,
    };
    Some(Array { name: spec.name.clone(), element: spec.element, shape, bytes })
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(module) = load_model_bytes("m.onnx", bytes.to_vec(), &Default::default()) else { return };
    let body = module.function("main").expect("a model becomes the function `main`");
    if !is_small(&module, body) {
        return;
    }
    let Ok(mut model) = Model::compile(&mut module.clone(), &CompileOptions::default()) else { return };
    let Some(inputs) = model.inputs().iter().map(input).collect::<Option<Vec<Array>>>() else { return };
    // What the interpreter refuses has no meaning, such as an index outside its axis.
    let Ok(expected) = interpret(&module, "main", &inputs) else { return };
    let found = model.run(&inputs).unwrap_or_else(|failure| panic!("the interpreter runs it: {failure}"));
    let is_float = |value| matches!(module.ctx.type_data(module.ctx.elem(body.ty(value))), TypeData::Float(_));
    let tolerance = if values(body).any(is_float) { 0.01 } else { 0.0 };
    if let Some(difference) = first_difference(&found, &expected, tolerance) {
        panic!("{difference}");
    }
});
