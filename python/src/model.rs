//! A compiled program: what it takes and returns, its plan, and how it runs on arrays.

use std::path::PathBuf;
use std::sync::Arc;

use optc::artifact::{Artifact, ArtifactCode, ArtifactOptions};
use optc::compile::entry;
use optc::ir::diag::did_you_mean;
use optc::ir::{Module, SharedBytes};
use optc::runtime::{Extent, InputBuffer, MappedFile, Program, Specialization, TensorDesc, TensorSpec};
use optc::{BufferUse, CompileOptions, Explained, Failure, Model, are_apart};
use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};

use crate::contexts::{Contexts, TakenContext};
use crate::element::ElementRow;
use crate::failure::raised;
use crate::memory::{ArrayMemory, buffer};
use crate::module::ParsedModule;
use crate::options::{CompileArguments, LoadArguments};
use crate::outputs::{OutputArray, by_name, check};
use crate::plan::ExplainedPlan;

/// A compiled program.
#[pyclass(frozen, subclass, module = "optc._native", name = "Model")]
pub(crate) struct CompiledModel {
    program: Arc<Program>,
    contexts: Contexts,
    /// Whether each output is one that the caller gets.
    is_visible: Vec<bool>,
    entry: String,
    origin: Origin,
}

/// Where a program comes from: what is read again by those who ask for its plan, or save it.
enum Origin {
    Compiled { source: Module, options: Box<CompileOptions> },
    Loaded { artifact: Artifact, bytes: SharedBytes },
}

/// What a model is made of: a program to be compiled, or an artifact in memory or in a file.
#[derive(FromPyObject)]
enum ModelArgument<'py> {
    Module(Bound<'py, ParsedModule>),
    Bytes(Bound<'py, PyBytes>),
    File(PathBuf),
}

/// A dimension: a number, or an expression of named sizes.
#[derive(IntoPyObject)]
enum DimText {
    Number(u64),
    Text(String),
}

#[pymethods]
impl CompiledModel {
    #[new]
    fn new(
        py: Python<'_>,
        source: ModelArgument<'_>,
        arguments: &Bound<'_, PyAny>,
    ) -> PyResult<CompiledModel> {
        let made = match source {
            ModelArgument::Module(module) => {
                let module = module.get();
                let arguments: CompileArguments = arguments.extract()?;
                py.detach(|| CompiledModel::compile(module.copied(), arguments.options()?))
            }
            ModelArgument::Bytes(bytes) => {
                let options = arguments.extract::<LoadArguments>()?.options();
                let mut copy = buffer(bytes.as_bytes().len())?;
                copy.as_mut_slice().copy_from_slice(bytes.as_bytes());
                py.detach(|| CompiledModel::load("<bytes>", Arc::new(copy), &options))
            }
            ModelArgument::File(path) => {
                let options = arguments.extract::<LoadArguments>()?.options();
                py.detach(|| {
                    let name = path.display().to_string();
                    let mapped = MappedFile::open(&path);
                    let mapped = mapped.map_err(|error| Failure::input(format!("{name}: {error}")))?;
                    CompiledModel::load(&name, mapped.into_shared(), &options)
                })
            }
        };
        made.map_err(|failure| raised(py, &failure))
    }

    /// The program as an artifact, with its machine code and packed weights.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let (source, options) = match &self.origin {
            Origin::Loaded { bytes, .. } => return Ok(PyBytes::new(py, (**bytes).as_ref())),
            Origin::Compiled { source, options } => (source, options),
        };
        let done = py.detach(|| {
            let mut bytes = Vec::new();
            let written = Artifact::build(source, options)?.write_to(&mut bytes);
            written.map_err(|error| Failure::input(error.to_string())).map(|()| bytes)
        });
        Ok(PyBytes::new(py, &done.map_err(|failure: Failure| raised(py, &failure))?))
    }

    /// Writes the same to a file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let done = py.detach(|| match &self.origin {
            Origin::Loaded { bytes, .. } => {
                let written = std::fs::write(&path, (**bytes).as_ref());
                written.map_err(|error| Failure::input(format!("{}: {error}", path.display())))
            }
            Origin::Compiled { source, options } => Artifact::build(source, options)?.write(&path),
        });
        done.map_err(|failure| raised(py, &failure))
    }

    /// Runs the program.
    #[pyo3(signature = (*arrays, out = None, **named))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        arrays: &Bound<'py, PyTuple>,
        out: Option<&Bound<'py, PyAny>>,
        named: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let mut inputs = self.inputs_of(arrays, named)?;
        let mut context = self.context(py)?;
        let specialization = self.specialization(py, &mut context, &inputs)?;
        for (input, desc) in inputs.iter_mut().zip(specialization.inputs()) {
            check(input, desc, "input")?;
        }
        let inputs = inputs.into_iter().zip(specialization.inputs());
        let mut inputs: Vec<ArrayMemory> =
            inputs.map(|(input, desc)| ready(input, desc)).collect::<PyResult<_>>()?;
        let mut outputs = self.outputs_of(py, specialization.outputs(), out)?;
        check_apart(&inputs, specialization.inputs(), &outputs)?;
        let mut buffers: Vec<InputBuffer<'_>> = Vec::with_capacity(inputs.len());
        for (input, desc) in inputs.iter_mut().zip(specialization.inputs()) {
            buffers.push(match desc.overwritten {
                true => InputBuffer::Donated(input.bytes_mut()),
                false => InputBuffer::Shared(input.bytes()),
            });
        }
        let mut views: Vec<&mut [u8]> = outputs.iter_mut().map(|output| output.memory.bytes_mut()).collect();
        let done = py.detach(|| context.run_buffers(&mut buffers, &mut views));
        done.map_err(|failure| raised(py, &failure))?;
        let results = PyList::empty(py);
        for (index, output) in outputs.into_iter().enumerate() {
            if let Some(result) = output.result(context.context().exact_shape(index))? {
                results.append(result)?;
            }
        }
        Ok(results)
    }

    /// Name, shape and element type of each input.
    fn input_specs(&self) -> Vec<(String, Vec<DimText>, &'static str)> {
        self.specs(self.program.inputs().iter())
    }

    /// Name, shape and element type of each output.
    fn output_specs(&self) -> Vec<(String, Vec<DimText>, &'static str)> {
        self.specs(self.visible(self.program.outputs()))
    }

    /// Each named size with the least and the greatest number that it can be.
    fn sizes(&self) -> Vec<(String, u64, Option<u64>)> {
        let symbols = self.program.symbols().iter();
        let most = |most: u64| Some(most).filter(|most| *most < i64::MAX as u64);
        symbols.map(|symbol| (symbol.name.clone(), symbol.least, most(symbol.most))).collect()
    }

    /// Bytes of arena of each call at one time, where they are known before sizes are.
    #[getter]
    fn arena_bytes(&self) -> Option<usize> {
        self.program.bound_bytes()
    }

    #[getter]
    fn weights_bytes(&self) -> usize {
        self.program.weights_bytes()
    }

    #[getter]
    fn threads(&self) -> usize {
        self.program.threads()
    }

    /// Makes all ready for arrays of these shapes, by name; gives the bytes of arena that a run then takes.
    fn prepare(&self, py: Python<'_>, shapes: Vec<(String, Vec<u64>)>) -> PyResult<usize> {
        let done = py.detach(|| {
            let mut context = self.contexts.take()?;
            context.reset_shapes();
            shapes.iter().try_for_each(|(name, shape)| context.set_shape(name, shape))?;
            Ok(context.prepare()?.arena_bytes())
        });
        done.map_err(|failure: Failure| raised(py, &failure))
    }

    /// The plan; of a program with named sizes that at these, the others being the greatest.
    fn explain(&self, py: Python<'_>, sizes: Vec<(String, u64)>) -> PyResult<ExplainedPlan> {
        let explained = py.detach(|| match &self.origin {
            Origin::Compiled { source, options } => Explained::of(source, &self.entry, options, &sizes),
            Origin::Loaded { artifact, .. } => {
                let (planned, options) = artifact.program(&ArtifactOptions::default())?;
                Explained::of(&planned, &self.entry, &options, &sizes)
            }
        });
        let mut explained = explained.map_err(|failure| raised(py, &failure))?;
        explained.report.weights_bytes = self.program.weights_bytes() as u64;
        Ok(ExplainedPlan { explained, bound_bytes: self.program.bound_bytes() })
    }
}

impl CompiledModel {
    fn compile(source: Module, options: CompileOptions) -> Result<CompiledModel, Failure> {
        let entry = entry(&source, options.entry.as_deref())?;
        let model = Model::compile(&mut source.clone(), &options)?;
        CompiledModel::of(model, entry, Origin::Compiled { source, options: Box::new(options) })
    }

    fn load(name: &str, bytes: SharedBytes, options: &ArtifactOptions) -> Result<CompiledModel, Failure> {
        let artifact = Artifact::from_bytes(name, bytes.clone())?;
        let entry = artifact.entry().to_owned();
        if options.code == ArtifactCode::Recompiled {
            let (source, compile) = artifact.program(options)?;
            return CompiledModel::compile(source, compile);
        }
        CompiledModel::of(artifact.model(options)?, entry, Origin::Loaded { artifact, bytes })
    }

    fn of(model: Model, entry: String, origin: Origin) -> Result<CompiledModel, Failure> {
        let model = model.without_strings()?;
        let program = model.program().clone();
        let is_visible = (0..program.outputs().len()).map(|output| !model.open().is_count(output)).collect();
        Ok(CompiledModel { program, contexts: Contexts::new(model)?, is_visible, entry, origin })
    }

    /// A context for a call. Only one of a model with states may have to be waited for.
    fn context(&self, py: Python<'_>) -> PyResult<TakenContext<'_>> {
        let taken = match self.contexts.try_take() {
            Ok(Some(taken)) => return Ok(taken),
            Ok(None) => py.detach(|| self.contexts.take()),
            Err(failure) => Err(failure),
        };
        taken.map_err(|failure| raised(py, &failure))
    }

    /// What the program is at the sizes of the arrays.
    fn specialization(
        &self,
        py: Python<'_>,
        context: &mut TakenContext<'_>,
        inputs: &[ArrayMemory],
    ) -> PyResult<Arc<Specialization>> {
        if let Some(only) = self.program.only() {
            return Ok(only);
        }
        let shapes: Vec<&[u64]> = inputs.iter().map(|input| &input.shape[..]).collect();
        let done = py.detach(|| {
            for (spec, shape) in self.program.inputs().iter().zip(shapes) {
                context.set_shape(&spec.name, shape)?;
            }
            context.prepare()
        });
        done.map_err(|failure| raised(py, &failure))
    }

    /// The elements of the arrays in the order of the program's inputs: some by position, the others by name.
    fn inputs_of(
        &self,
        arrays: &Bound<'_, PyTuple>,
        named: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Vec<ArrayMemory>> {
        let specs = self.program.inputs();
        if arrays.len() > specs.len() {
            let message =
                format!("{} arrays are given, and the program has {} inputs", arrays.len(), specs.len());
            return Err(PyTypeError::new_err(message));
        }
        let mut taken = 0;
        let mut inputs = Vec::with_capacity(specs.len());
        for (index, spec) in specs.iter().enumerate() {
            let by_name = named.map(|named| named.get_item(&spec.name)).transpose()?.flatten();
            taken += usize::from(by_name.is_some());
            let array = match (arrays.get_borrowed_item(index).ok(), &by_name) {
                (Some(array), None) => array,
                (None, Some(array)) => array.as_borrowed(),
                (None, None) => return Err(self.missing_input(&spec.name, named)),
                (Some(_), Some(_)) => {
                    return Err(PyTypeError::new_err(format!("input `{}` is given twice", spec.name)));
                }
            };
            inputs.push(ArrayMemory::to_read(&array, ElementRow::of(spec.element))?);
        }
        match named.filter(|named| named.len() > taken) {
            Some(named) => Err(self.unknown_input(named)),
            None => Ok(inputs),
        }
    }

    /// What is wrong where an input is missing: it may have been given by a wrong name.
    fn missing_input(&self, missing: &str, named: Option<&Bound<'_, PyDict>>) -> PyErr {
        let is_known = |name: String| self.program.inputs().iter().any(|spec| spec.name == name);
        let has_unknown =
            |named: &&Bound<'_, PyDict>| !named.keys().iter().all(|key| is_known(key.to_string()));
        match named.filter(has_unknown) {
            Some(named) => self.unknown_input(named),
            None => PyTypeError::new_err(format!("input `{missing}` is missing")),
        }
    }

    fn unknown_input(&self, named: &Bound<'_, PyDict>) -> PyErr {
        let known = || self.program.inputs().iter().map(|spec| spec.name.as_str());
        let given = named.keys().iter().map(|key| key.to_string());
        let unknown = given.into_iter().find(|key| known().all(|name| name != key)).unwrap_or_default();
        let hint = did_you_mean(&unknown, known()).map_or(String::new(), |hint| format!(" ({hint})"));
        PyTypeError::new_err(format!("the program has no input `{unknown}`{hint}"))
    }

    fn outputs_of<'py>(
        &self,
        py: Python<'py>,
        descs: &[TensorDesc],
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Vec<OutputArray<'py>>> {
        let names: Vec<&str> = self.visible(descs).map(|desc| desc.name.as_str()).collect();
        let given = out.map(|out| by_name(out, &names)).transpose()?;
        let mut given = given.unwrap_or_default().into_iter();
        let outputs = descs.iter().zip(&self.is_visible).map(|(desc, is_visible)| match is_visible {
            false => OutputArray::hidden(desc),
            true => match given.next().flatten() {
                Some(array) => OutputArray::given(array, desc),
                None => OutputArray::fresh(py, desc),
            },
        });
        outputs.collect()
    }

    fn visible<'a, T>(&'a self, outputs: &'a [T]) -> impl Iterator<Item = &'a T> {
        outputs.iter().zip(&self.is_visible).filter(|(_, is_visible)| **is_visible).map(|(output, _)| output)
    }

    fn specs<'a>(
        &self,
        specs: impl Iterator<Item = &'a TensorSpec>,
    ) -> Vec<(String, Vec<DimText>, &'static str)> {
        let symbols = self.program.symbols();
        let dim = |extent: &Extent| match extent {
            Extent::Known(size) => DimText::Number(*size),
            Extent::Symbol(symbol) => DimText::Text(symbols[*symbol].name.clone()),
            Extent::Expr(expr) => DimText::Text(expr.text.clone()),
        };
        let spec = |spec: &TensorSpec| {
            let shape = spec.extents.iter().map(dim).collect();
            (spec.name.clone(), shape, ElementRow::of(spec.element).name)
        };
        specs.map(spec).collect()
    }
}

/// An input as the program takes it: at an aligned address, and writable if it is overwritten.
fn ready(input: ArrayMemory, desc: &TensorDesc) -> PyResult<ArrayMemory> {
    if desc.overwritten && !input.is_writable() {
        let message = format!("input `{}` is donated, and the array is read-only", desc.name);
        return Err(PyBufferError::new_err(message));
    }
    input.aligned(desc.align)
}

/// That what is written shares no bytes with anything else.
fn check_apart(inputs: &[ArrayMemory], descs: &[TensorDesc], outputs: &[OutputArray<'_>]) -> PyResult<()> {
    let inputs = inputs.iter().zip(descs).map(|(input, desc)| match desc.overwritten {
        true => BufferUse::Written(input.addresses()),
        false => BufferUse::Read(input.addresses()),
    });
    let outputs = outputs.iter().map(|output| BufferUse::Written(output.memory.addresses()));
    match are_apart(inputs.chain(outputs).collect()) {
        true => Ok(()),
        false => Err(PyValueError::new_err("an array that is written shares memory with another one")),
    }
}
