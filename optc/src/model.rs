//! A compiled program with its context: what runs.

use std::sync::Arc;

use ir::Module;
use runtime::{Program, RunContext, TensorDesc};

use crate::arrays::Array;
use crate::compile::{CompileOptions, compile};
use crate::failure::Failure;

/// A compiled program, ready to run with arrays.
pub struct Model {
    program: Arc<Program>,
    context: RunContext<'static>,
}

impl Model {
    /// Compiles a module; it is left planned.
    ///
    /// # Errors
    /// Every fault of the first stage that finds some.
    pub fn compile(module: &mut Module, options: &CompileOptions) -> Result<Model, Failure> {
        let program = Arc::new(compile(module, options)?);
        let context = program.context(options.threads).map_err(|error| Failure::input(error.to_string()))?;
        Ok(Model { program, context })
    }

    /// The compiled program; contexts of it may run side by side.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Empty arrays for the outputs, in order.
    pub fn outputs(&self) -> Vec<Array> {
        self.program.outputs().iter().map(empty).collect()
    }

    /// Runs the program; `inputs` are matched by name, or by position where names differ.
    ///
    /// # Errors
    /// If an input is missing, or of another shape or element type than the program takes.
    pub fn run(&mut self, inputs: &[Array]) -> Result<Vec<Array>, Failure> {
        let mut outputs = self.outputs();
        self.run_into(inputs, &mut outputs)?;
        Ok(outputs)
    }

    /// The same, into arrays that [`Model::outputs`] gave.
    ///
    /// # Errors
    /// As [`Model::run`].
    pub fn run_into(&mut self, inputs: &[Array], outputs: &mut [Array]) -> Result<(), Failure> {
        let ordered = self.bind(inputs)?;
        let mut views: Vec<&mut [u8]> = outputs.iter_mut().map(|output| &mut output.bytes[..]).collect();
        self.run_bytes(&ordered, &mut views)
    }

    /// The bytes of the arrays in the order of the program's inputs.
    ///
    /// # Errors
    /// As [`Model::run`].
    pub fn bind<'a>(&self, inputs: &'a [Array]) -> Result<Vec<&'a [u8]>, Failure> {
        order(self.program.inputs(), inputs)
    }

    /// Runs the program on bytes in the order of its inputs and outputs. Allocates nothing after the first run.
    ///
    /// # Errors
    /// If bytes are too few or too many.
    pub fn run_bytes(&mut self, inputs: &[&[u8]], outputs: &mut [&mut [u8]]) -> Result<(), Failure> {
        self.context.run(inputs, outputs).map_err(|error| Failure::input(error.to_string()))
    }
}

fn empty(desc: &TensorDesc) -> Array {
    Array {
        name: desc.name.clone(),
        element: desc.element,
        shape: desc.shape.clone(),
        bytes: vec![0; desc.size_bytes],
    }
}

/// The bytes of the arrays in the order of the program's inputs; every fault at once.
fn order<'a>(wanted: &[TensorDesc], inputs: &'a [Array]) -> Result<Vec<&'a [u8]>, Failure> {
    let mut faults = Vec::new();
    let mut ordered = Vec::new();
    for (index, desc) in wanted.iter().enumerate() {
        let by_name = inputs.iter().find(|array| array.name == desc.name);
        let positional = || inputs.get(index).filter(|_| inputs.len() == wanted.len());
        match by_name.or_else(positional) {
            None => faults.push(format!("error: input `{}` is missing", desc.name)),
            Some(array) if array.shape != desc.shape || array.element != desc.element => {
                faults.push(format!(
                    "error: input `{}` has shape {:?} of {:?}, expected {:?} of {:?}",
                    desc.name, array.shape, array.element, desc.shape, desc.element
                ))
            }
            Some(array) => ordered.push(&array.bytes[..]),
        }
    }
    if faults.is_empty() { Ok(ordered) } else { Err(Failure::Input(faults)) }
}
