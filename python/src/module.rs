//! A program in the IR: read, transformed by passes, printed.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use optc::ir::Module;
use optc::ir::text::{Locations, PrintForm, PrintOptions, Unregistered};
use optc::passes::manager::{PassDebug, RunOptions, Selection, Verify};
use optc::{Fault, LoadOptions};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::failure::{diagnostics, raised};
use crate::options::{ReadArguments, cpu};

/// A program in the IR.
#[pyclass(frozen, module = "optc._native", name = "Module")]
pub(crate) struct ParsedModule {
    module: Mutex<Module>,
}

impl ParsedModule {
    pub(crate) fn new(module: Module) -> ParsedModule {
        ParsedModule { module: Mutex::new(module) }
    }

    /// A copy of the program; its constants are shared.
    pub(crate) fn copied(&self) -> Module {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Module> {
        self.module.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl ParsedModule {
    #[staticmethod]
    fn parse(py: Python<'_>, text: String, name: &str, allow_unregistered: bool) -> PyResult<ParsedModule> {
        let unregistered = if allow_unregistered { Unregistered::Allow } else { Unregistered::Refuse };
        let options = LoadOptions { unregistered, ..LoadOptions::default() };
        let module = py.detach(|| optc::parse(name, text, None, &options));
        module.map(ParsedModule::new).map_err(|failure| raised(py, &failure))
    }

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf, arguments: ReadArguments) -> PyResult<ParsedModule> {
        let module = py.detach(|| optc::load(&path, &arguments.options()));
        module.map(ParsedModule::new).map_err(|failure| raised(py, &failure))
    }

    #[staticmethod]
    fn from_onnx(py: Python<'_>, model: Vec<u8>, arguments: ReadArguments) -> PyResult<ParsedModule> {
        let module = py.detach(|| optc::load_model_bytes("<bytes>", model, &arguments.options()));
        module.map(ParsedModule::new).map_err(|failure| raised(py, &failure))
    }

    /// A copy of which is said what `load` says of a file's sizes.
    fn with_sizes(&self, py: Python<'_>, arguments: ReadArguments) -> PyResult<ParsedModule> {
        let done = py.detach(|| {
            let mut module = self.copied();
            optc::sizes::apply(&mut module, &arguments.sizes()).map(|()| module)
        });
        done.map(ParsedModule::new).map_err(|failure| raised(py, &failure))
    }

    fn run_pipeline<'py>(
        &self,
        py: Python<'py>,
        pipeline: &str,
        threads: usize,
        target_cpu: &str,
        verify: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let done = py.detach(|| {
            let verify = if verify { Verify::AfterEach } else { Verify::Never };
            let debug = PassDebug { verify, ..PassDebug::default() };
            let remarks = Selection::All;
            let options = RunOptions { threads, remarks, debug, ..RunOptions::new(cpu(target_cpu)?) };
            let mut module = self.lock();
            let mut trial = module.clone();
            let report = optc::run_pipeline(&mut trial, pipeline, &options)?;
            *module = trial;
            let remarks = report.remarks.iter();
            Ok(remarks.map(|remark| Fault::of(&module.ctx, &remark.diagnostic)).collect::<Vec<_>>())
        });
        diagnostics(py, &done.map_err(|failure| raised(py, &failure))?)
    }

    fn to_text(&self, py: Python<'_>, generic: bool, locations: bool) -> String {
        py.detach(|| {
            let form = if generic { PrintForm::Generic } else { PrintForm::Pretty };
            let locations = if locations { Locations::Shown } else { Locations::Hidden };
            optc::ir::text::print_with(
                &self.lock(),
                &PrintOptions { form, locations, ..PrintOptions::default() },
            )
        })
    }
}
