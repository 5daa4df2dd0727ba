//! Running a function in the reference interpreter.

use ir::interp::{self, Tensor};
use ir::plan::signature::{Returned, Signature};
use ir::size::static_extents;
use ir::{Diagnostic, Module};

use crate::arrays::Array;
use crate::compile::signature;
use crate::failure::Failure;
use crate::open::OpenOutputs;

/// The outputs of a function of known sizes, then the next values of its states, like those of a compiled
/// program.
///
/// # Errors
/// If an array does not have the shape of its argument, or an operation can't be evaluated.
pub fn interpret(module: &Module, entry: &str, inputs: &[Array]) -> Result<Vec<Array>, Failure> {
    let ctx = &module.ctx;
    let Signature { args, results, states } = signature(module, entry)?;
    let mut tensors = Vec::new();
    for (arg, input) in args.iter().zip(inputs) {
        if static_extents(ctx, arg.ty).as_deref() != Some(&input.shape) {
            let expected =
                ir::dims::SizeArithmetic(ctx).list(ctx.type_data(arg.ty).tensor_shape().unwrap_or(&[]));
            return Err(Failure::input(format!(
                "input `{}` has shape {:?}, expected {expected}",
                input.name, input.shape
            )));
        }
        tensors.push(Tensor::new(ctx, arg.ty, input.bytes.clone()));
    }
    let fail = |fault: Diagnostic| Failure::diagnostics(ctx, &[fault]);
    let found = interp::run(module, entry, &tensors).map_err(fail)?;
    let array = |index: usize| {
        let Returned { name, ty, .. } = &results[index];
        let element = codegen::element_kind(ctx, *ty);
        let element = element
            .ok_or_else(|| Failure::input(format!("output `{name}` has elements of no numeric type")))?;
        let shape = ctx.static_shape(found[index].ty).unwrap_or_default();
        Ok::<Array, Failure>(Array { name: name.clone(), element, shape, bytes: found[index].bytes.to_vec() })
    };
    let outputs = (0..results.len()).filter(|index| results[*index].output.is_some()).map(array);
    let (open, mut outputs) = (OpenOutputs::of(module, entry)?, outputs.collect::<Result<Vec<Array>, _>>()?);
    open.cut(&mut outputs);
    let mut outputs = open.exact(outputs);
    for state in states.iter().filter_map(|state| state.result) {
        outputs.push(array(state)?);
    }
    Ok(outputs)
}
