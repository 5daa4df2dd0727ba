//! A compiled program with its context: what runs.

use std::sync::Arc;

use ir::Module;
use runtime::{InputBuffer, Program, RunContext, TensorDesc};

use crate::arrays::Array;
use crate::compile::{CompileOptions, compile, entry};
use crate::failure::Failure;
use crate::open::OpenOutputs;

/// A compiled program, ready to run with arrays.
pub struct Model {
    program: Arc<Program>,
    context: RunContext<'static>,
    open: OpenOutputs,
}

impl Model {
    /// Compiles a module; it is left planned.
    ///
    /// # Errors
    /// Every fault of the first stage that finds some.
    pub fn compile(module: &mut Module, options: &CompileOptions) -> Result<Model, Failure> {
        let open = OpenOutputs::of(module, &entry(module, options.entry.as_deref())?)?;
        let program = Arc::new(compile(module, options)?);
        let context = program.context(options.threads).map_err(|error| Failure::input(error.to_string()))?;
        Ok(Model { program, context, open })
    }

    /// The compiled program; contexts of it may run side by side.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Gives the states of the program that are among the arrays, by name, their value for the next run.
    ///
    /// # Errors
    /// If an array has another shape or element type, or there is no memory.
    pub fn set_states(&mut self, arrays: &[Array]) -> Result<(), Failure> {
        let program = Arc::clone(&self.program);
        for (index, state) in program.states().iter().enumerate() {
            let desc = &state.tensor;
            let Some(array) = arrays.iter().find(|array| array.name == desc.name) else { continue };
            if array.shape != desc.shape || array.element != desc.element {
                return Err(Failure::input(unlike("state", array, desc)));
            }
            let bytes = self.context.state(index).map_err(|error| Failure::input(error.to_string()))?;
            bytes.copy_from_slice(&array.bytes);
        }
        Ok(())
    }

    /// The states that runs change, as the last one left them, each by the name of its next value.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn states(&mut self) -> Result<Vec<Array>, Failure> {
        let program = Arc::clone(&self.program);
        let mut arrays = Vec::new();
        for (index, state) in program.states().iter().enumerate() {
            let Some(name) = state.result.clone() else { continue };
            let bytes = self.context.state(index).map_err(|error| Failure::input(error.to_string()))?;
            arrays.push(Array { name, bytes: bytes.to_vec(), ..empty(&state.tensor) });
        }
        Ok(arrays)
    }

    /// Outputs as they are, behind a run that wrote them: those whose size depends on data have the shape of its upper bound until then.
    pub fn exact(&self, outputs: Vec<Array>) -> Vec<Array> {
        self.open.exact(outputs)
    }

    /// Empty arrays for the outputs, in order; of one whose size depends on data, as large as it can be, with that size as a further
    /// output (see [`Model::exact`]).
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
        Ok(self.exact(outputs))
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

    /// As [`Model::run_into`], for a program that overwrites inputs: what a donated input holds afterwards is garbage.
    ///
    /// # Errors
    /// As [`Model::run`].
    pub fn run_donating(&mut self, inputs: &mut [Array], outputs: &mut [Array]) -> Result<(), Failure> {
        let mut buffers = self.bind_donating(inputs)?;
        let mut views: Vec<&mut [u8]> = outputs.iter_mut().map(|output| &mut output.bytes[..]).collect();
        self.run_buffers(&mut buffers, &mut views)
    }

    /// The bytes of the arrays in the order of the program's inputs, given away.
    ///
    /// # Errors
    /// As [`Model::run`], and if one array is given for two inputs.
    pub fn bind_donating<'a>(&self, inputs: &'a mut [Array]) -> Result<Vec<InputBuffer<'a>>, Failure> {
        let order = order(self.program.inputs(), inputs)?;
        let mut slots: Vec<Option<&mut [u8]>> =
            inputs.iter_mut().map(|array| Some(&mut array.bytes[..])).collect();
        let buffers = order.into_iter().map(|index| slots[index].take().map(InputBuffer::Donated));
        let buffers: Option<Vec<InputBuffer<'_>>> = buffers.collect();
        buffers.ok_or_else(|| Failure::input("one array can't be given away for two inputs"))
    }

    /// As [`Model::run_bytes`], for a program that overwrites inputs.
    ///
    /// # Errors
    /// If bytes are too few or too many.
    pub fn run_buffers(
        &mut self,
        inputs: &mut [InputBuffer<'_>],
        outputs: &mut [&mut [u8]],
    ) -> Result<(), Failure> {
        self.context.run_donating(inputs, outputs).map_err(|error| Failure::input(error.to_string()))
    }

    /// The bytes of the arrays in the order of the program's inputs.
    ///
    /// # Errors
    /// As [`Model::run`].
    pub fn bind<'a>(&self, inputs: &'a [Array]) -> Result<Vec<&'a [u8]>, Failure> {
        Ok(order(self.program.inputs(), inputs)?.into_iter().map(|index| &inputs[index].bytes[..]).collect())
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

fn unlike(what: &str, array: &Array, desc: &TensorDesc) -> String {
    format!(
        "{what} `{}` has shape {:?} of {:?}, expected {:?} of {:?}",
        desc.name, array.shape, array.element, desc.shape, desc.element
    )
}

/// Which array is each of the program's inputs; every fault at once.
fn order(wanted: &[TensorDesc], inputs: &[Array]) -> Result<Vec<usize>, Failure> {
    let mut faults = Vec::new();
    let mut ordered = Vec::new();
    for (index, desc) in wanted.iter().enumerate() {
        let by_name = inputs.iter().position(|array| array.name == desc.name);
        let positional = || Some(index).filter(|_| inputs.len() == wanted.len());
        match by_name.or_else(positional).map(|index| (index, &inputs[index])) {
            None => faults.push(format!("error: input `{}` is missing", desc.name)),
            Some((_, array)) if array.shape != desc.shape || array.element != desc.element => {
                faults.push(format!("error: {}", unlike("input", array, desc)))
            }
            Some((index, _)) => ordered.push(index),
        }
    }
    if faults.is_empty() { Ok(ordered) } else { Err(Failure::Input(faults)) }
}
