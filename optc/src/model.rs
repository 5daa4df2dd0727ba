//! A compiled program with its context, ready to run.

use std::sync::Arc;

use ir::Module;
use runtime::{
    Arena, ElementKind, InputBuffer, Program, RunContext, RunError, RunObserver, Specialization, TensorDesc,
    TensorSpec, ThreadPool,
};

use crate::arrays::Array;
use crate::compile::{CompileOptions, compile, entry};
use crate::failure::Failure;
use crate::open::OpenOutputs;

/// A compiled program, ready to run with arrays.
///
/// Named sizes are taken from the arrays that it runs on:
///
/// ```
/// use optc::Array;
///
/// let text = "func.func @main(%x: tensor<?x2xf32, #optc.dims<N>>) -> tensor<?x2xf32, #optc.dims<N>> {
///     %0 = nn.relu %x : tensor<?x2xf32, #optc.dims<N>>
///     return %0 : tensor<?x2xf32, #optc.dims<N>>
/// }";
/// let mut module = optc::parse("relu.mlir", text.into(), None, &Default::default())?;
/// let mut model = optc::Model::compile(&mut module, &Default::default())?;
/// for rows in [1, 3] {
///     let outputs = model.run(&[Array::f32("x", &[rows, 2], &vec![-1.0; 2 * rows as usize])])?;
///     assert_eq!(outputs[0], Array::f32("result0", &[rows, 2], &vec![0.0; 2 * rows as usize]));
/// }
/// # Ok::<(), optc::Failure>(())
/// ```
///
/// They can also be set before a run: [`Model::set_shape`], [`Model::prepare`].
pub struct Model {
    program: Arc<Program>,
    context: RunContext<'static>,
    open: OpenOutputs,
}

impl Model {
    /// Compiles a module, which is planned afterwards.
    ///
    /// # Errors
    /// All errors of the first stage that finds any.
    pub fn compile(module: &mut Module, options: &CompileOptions) -> Result<Model, Failure> {
        Model::compile_for(module, options, options.threads)
    }

    /// Like [`Model::compile`], but run by fewer threads than it is compiled for.
    ///
    /// # Errors
    /// As [`Model::compile`].
    pub(crate) fn compile_for(
        module: &mut Module,
        options: &CompileOptions,
        threads: usize,
    ) -> Result<Model, Failure> {
        let open = OpenOutputs::of(module, &entry(module, options.entry.as_deref())?)?;
        let program = Arc::new(compile(module, options)?);
        let context = program.context(threads).map_err(failed)?;
        Ok(Model { program, context, open })
    }

    /// The model, if no input or output has strings: for callers with raw memory, in which strings are only
    /// digests.
    ///
    /// # Errors
    /// If it takes or returns strings.
    pub fn without_strings(self) -> Result<Model, Failure> {
        let tensors = self.inputs().iter().chain(self.outputs());
        refuse_strings(tensors.map(|tensor| (&*tensor.name, tensor.element)))?;
        Ok(self)
    }

    /// The same program in its own context, to run concurrently on these threads and in this arena. Other
    /// contexts may share the threads; while another context uses them, work runs in the caller's thread.
    ///
    /// # Errors
    /// If there are more threads than the program is planned for, or the arena does not suffice.
    pub fn beside(&self, threads: Arc<ThreadPool>, arena: Arena<'static>) -> Result<Model, Failure> {
        let context = self.program.context_in(threads, arena).map_err(failed)?;
        Ok(Model { program: self.program.clone(), context, open: self.open.clone() })
    }

    /// The threads that run the program.
    pub fn threads(&self) -> &Arc<ThreadPool> {
        self.context.pool()
    }

    /// Sets the observer of the following runs, which may stop them: an `Arc<AtomicBool>` cancels a run
    /// between two steps once it is true (see [`RunContext::watch`]).
    pub fn watch(&mut self, observer: Option<Arc<dyn RunObserver>>) {
        self.context.watch(observer);
    }

    /// The context of the program, for callers with memory of their own.
    pub fn context(&mut self) -> &mut RunContext<'static> {
        &mut self.context
    }

    /// The outputs whose size depends on data.
    pub fn open(&self) -> &OpenOutputs {
        &self.open
    }

    /// The compiled program; several contexts may run it at once.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// The inputs, in order.
    pub fn inputs(&self) -> &[TensorSpec] {
        self.program.inputs()
    }

    /// The outputs, in order. An output whose size depends on data has its greatest size, and is followed by
    /// an output with the actual size.
    pub fn outputs(&self) -> &[TensorSpec] {
        self.program.outputs()
    }

    /// Sets the shape of an input for the following runs.
    ///
    /// # Errors
    /// If there is no such input, or it can't have that shape; its shape is then what it was before.
    pub fn set_shape(&mut self, input: &str, shape: &[u64]) -> Result<(), Failure> {
        self.context.set_shape(input, shape).map_err(|error| RunError::Shape(error).into())
    }

    /// Resets all shapes that were set.
    pub fn reset_shapes(&mut self) {
        self.context.reset_shapes();
    }

    /// Prepares runs with the current shapes, and returns inputs and outputs at these sizes. Otherwise the
    /// next run does so.
    ///
    /// # Errors
    /// If the shapes contradict each other, the program can't be run with them, or there is no memory.
    pub fn prepare(&mut self) -> Result<Arc<Specialization>, Failure> {
        self.context.prepare().map_err(failed)
    }

    /// The named sizes of the last preparation, in the order of the program's symbols.
    pub fn sizes(&self) -> &[u64] {
        self.context.sizes()
    }

    /// Like [`Model::prepare`], with the shapes of arrays, which are matched as by [`Model::run`].
    ///
    /// # Errors
    /// As [`Model::prepare`], and if an array is of another type than its input.
    pub fn prepare_for(&mut self, inputs: &[Array]) -> Result<Arc<Specialization>, Failure> {
        if !self.program.symbols().is_empty() {
            for (index, spec) in self.program.inputs().iter().enumerate() {
                let array = find(&spec.name, index, self.program.inputs().len(), inputs);
                if let Some(index) = array {
                    let shape = &inputs[index].shape;
                    let set = self.context.set_shape(&spec.name, shape);
                    set.map_err(|error| failed(RunError::Shape(error)))?;
                }
            }
        }
        self.prepare()
    }

    /// Sets those states of the program that are among the arrays, by name, for the next run.
    ///
    /// # Errors
    /// If an array has another shape or element type, or there is no memory.
    pub fn set_states(&mut self, arrays: &[Array]) -> Result<(), Failure> {
        for (index, state) in self.program.states().iter().enumerate() {
            let desc = &state.tensor;
            let Some(array) = arrays.iter().find(|array| array.name == desc.name) else { continue };
            if array.shape != desc.shape || array.element != desc.element {
                return Err(Failure::input(unlike("state", array, desc)));
            }
            self.context.state(index).map_err(failed)?.copy_from_slice(&array.bytes);
        }
        Ok(())
    }

    /// The states that runs change, with their values after the last run, under the names of their next
    /// values.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn states(&mut self) -> Result<Vec<Array>, Failure> {
        let mut arrays = Vec::new();
        for (index, state) in self.program.states().iter().enumerate() {
            let Some(name) = state.result.clone() else { continue };
            let mut array = empty(&state.tensor)?;
            array.bytes.copy_from_slice(self.context.state(index).map_err(failed)?);
            arrays.push(Array { name, ..array });
        }
        Ok(arrays)
    }

    /// The actual outputs after a run that wrote these: outputs whose size depends on data get their actual
    /// shape.
    pub fn exact(&self, outputs: Vec<Array>) -> Vec<Array> {
        self.open.exact(outputs)
    }

    /// Empty arrays for the outputs at the current shapes. An output whose size depends on data has its
    /// greatest size, and is followed by the actual size (see [`Model::exact`]).
    ///
    /// # Errors
    /// As [`Model::prepare`].
    pub fn empty_outputs(&mut self) -> Result<Vec<Array>, Failure> {
        let specialization = self.context.specialization().map_err(failed)?;
        specialization.outputs().iter().map(empty).collect()
    }

    /// Runs the program; `inputs` are matched by name, or by position if names differ. Named sizes are taken
    /// from the arrays.
    ///
    /// # Errors
    /// If an input is missing, or of another shape or element type than the program takes, or has a truth
    /// value other than 0 and 1.
    pub fn run(&mut self, inputs: &[Array]) -> Result<Vec<Array>, Failure> {
        self.prepare_for(inputs)?;
        let mut outputs = self.empty_outputs()?;
        self.run_into(inputs, &mut outputs)?;
        Ok(self.exact(outputs))
    }

    /// Runs the program at the current shapes, into arrays from [`Model::empty_outputs`].
    ///
    /// # Errors
    /// As [`Model::run`].
    pub fn run_into(&mut self, inputs: &[Array], outputs: &mut [Array]) -> Result<(), Failure> {
        let order = order(self.context.specialization().map_err(failed)?.inputs(), inputs)?;
        let ordered: Vec<&[u8]> = order.into_iter().map(|index| &inputs[index].bytes[..]).collect();
        let mut views: Vec<&mut [u8]> = outputs.iter_mut().map(|output| &mut output.bytes[..]).collect();
        self.context.run(&ordered, &mut views).map_err(failed)
    }

    /// Like [`Model::run_into`], for a program that overwrites inputs: a donated input has arbitrary contents
    /// afterwards.
    ///
    /// # Errors
    /// As [`Model::run`].
    pub fn run_donating(&mut self, inputs: &mut [Array], outputs: &mut [Array]) -> Result<(), Failure> {
        let mut buffers = self.bind_donating(inputs)?;
        let mut views: Vec<&mut [u8]> = outputs.iter_mut().map(|output| &mut output.bytes[..]).collect();
        self.run_buffers(&mut buffers, &mut views)
    }

    /// The buffers of donated arrays in the order of the program's inputs, at the current shapes.
    ///
    /// # Errors
    /// As [`Model::run`], and if one array is given for two inputs.
    pub fn bind_donating<'b>(&mut self, inputs: &'b mut [Array]) -> Result<Vec<InputBuffer<'b>>, Failure> {
        let order = order(self.context.specialization().map_err(failed)?.inputs(), inputs)?;
        let mut slots: Vec<Option<&mut [u8]>> =
            inputs.iter_mut().map(|array| Some(&mut array.bytes[..])).collect();
        let buffers = order.into_iter().map(|index| slots[index].take().map(InputBuffer::Donated));
        let buffers: Option<Vec<InputBuffer<'_>>> = buffers.collect();
        buffers.ok_or_else(|| Failure::input("one array can't be given away for two inputs"))
    }

    /// Runs the program on buffers from [`Model::bind_donating`]. Allocates nothing at sizes that were run
    /// before.
    ///
    /// # Errors
    /// If bytes are too few or too many.
    pub fn run_buffers(
        &mut self,
        inputs: &mut [InputBuffer<'_>],
        outputs: &mut [&mut [u8]],
    ) -> Result<(), Failure> {
        self.context.run_donating(inputs, outputs).map_err(failed)
    }
}

/// Refuses to pass strings, whose memory contains digests instead of text.
pub(crate) fn refuse_strings<'a>(
    mut tensors: impl Iterator<Item = (&'a str, ElementKind)>,
) -> Result<(), Failure> {
    match tensors.find(|(_, element)| *element == ElementKind::String) {
        Some((name, _)) => Err(Failure::input(format!("`{name}` holds strings, which are not passed here"))),
        None => Ok(()),
    }
}

fn failed(error: RunError) -> Failure {
    error.into()
}

fn empty(desc: &TensorDesc) -> Result<Array, Failure> {
    let TensorDesc { name, element, shape, size_bytes, .. } = desc;
    let bytes = runtime::zeros(*size_bytes).map_err(|error| Failure::input(format!("`{name}`: {error}")))?;
    Ok(Array { name: name.clone(), element: *element, shape: shape.clone(), bytes })
}

fn unlike(what: &str, array: &Array, desc: &TensorDesc) -> String {
    format!(
        "{what} `{}` has shape {:?} of {:?}, expected {:?} of {:?}",
        desc.name, array.shape, array.element, desc.shape, desc.element
    )
}

/// The index of the array for input `index` of `count`: by name, or by position if there is one array per
/// input.
fn find(name: &str, index: usize, count: usize, inputs: &[Array]) -> Option<usize> {
    let by_name = inputs.iter().position(|array| array.name == name);
    by_name.or_else(|| Some(index).filter(|_| inputs.len() == count))
}

/// For each of the program's inputs, the index of its array; all errors at once.
fn order(wanted: &[TensorDesc], inputs: &[Array]) -> Result<Vec<usize>, Failure> {
    let mut faults = Vec::new();
    let mut ordered = Vec::new();
    for (index, desc) in wanted.iter().enumerate() {
        let found = find(&desc.name, index, wanted.len(), inputs);
        match found.map(|index| (index, &inputs[index])) {
            None => faults.push(format!("input `{}` is missing", desc.name)),
            Some((_, array)) if array.shape != desc.shape || array.element != desc.element => {
                faults.push(unlike("input", array, desc))
            }
            Some((_, array))
                if array.element == ElementKind::Bool && array.bytes.iter().any(|byte| *byte > 1) =>
            {
                faults.push(format!("input `{}` has a truth value other than 0 and 1", desc.name))
            }
            Some((index, _)) => ordered.push(index),
        }
    }
    Failure::unless_none(faults)?;
    Ok(ordered)
}
