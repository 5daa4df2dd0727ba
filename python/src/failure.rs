//! How faults become exceptions: `optc.Error`, with a diagnostic for each.

use optc::ir::Severity;
use optc::ir::diag::MessagePlace;
use optc::{Failure, Fault};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyTuple};

/// The exception `optc.Error` with the faults.
pub(crate) fn raised(py: Python<'_>, failure: &Failure) -> PyErr {
    let faults: &[Fault] = match failure {
        Failure::Input(faults) => faults,
        Failure::Usage(message) => &[Fault::new(message.as_str())],
    };
    let text: Vec<String> = faults.iter().map(ToString::to_string).collect();
    let made = diagnostics(py, faults).and_then(|list| class(py, "Error")?.call1((text.join("\n"), list)));
    match made {
        Ok(error) => PyErr::from_value(error),
        Err(fault) => fault,
    }
}

/// `optc.Diagnostic`s.
pub(crate) fn diagnostics<'py>(py: Python<'py>, faults: &[Fault]) -> PyResult<Bound<'py, PyList>> {
    let class = class(py, "Diagnostic")?;
    let made = faults.iter().map(|fault| class.call1(fields(py, fault)?));
    PyList::new(py, made.collect::<PyResult<Vec<_>>>()?)
}

/// In the order of the dataclass's fields.
fn fields<'py>(py: Python<'py>, fault: &Fault) -> PyResult<Bound<'py, PyTuple>> {
    let severity = match fault.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Remark => "remark",
    };
    let (mut file, mut line, mut column, mut name) = (None, None, None, None);
    match &fault.place {
        Some(MessagePlace::Text { file: text, line: at_line, column: at_column }) => {
            file = Some(text);
            line = Some(at_line);
            column = Some(at_column);
        }
        Some(MessagePlace::Named(named)) => name = Some(named),
        None => {}
    }
    let notes = PyTuple::new(py, &fault.notes)?;
    let help = PyTuple::new(py, &fault.help)?;
    (severity, &fault.message, file, line, column, name, notes, help, fault.to_string()).into_pyobject(py)
}

fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    static MODULE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let module =
        MODULE.get_or_try_init(py, || Ok::<_, PyErr>(py.import("optc._diagnostics")?.into_any().unbind()));
    module?.bind(py).getattr(name)
}
