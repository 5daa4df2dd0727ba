//! What `optc run --json` writes.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Ran, RanOnce};
use crate::arrays::Array;

/// What the runs say of themselves, version 1.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::cli) struct RunReport {
    version: u32,
    /// How long compiling, or loading what was compiled, took; null for the interpreter.
    compile_ms: Option<f64>,
    /// One for each `--inputs`.
    runs: Vec<RunOnceReport>,
}

/// What a run says of itself.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct RunOnceReport {
    /// The named sizes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    sizes: BTreeMap<String, u64>,
    /// What the run needs; null for the interpreter.
    arena_bytes: Option<usize>,
    /// What it took to place buffers at these sizes; none if that was done before, or no size has a name.
    #[serde(skip_serializing_if = "Option::is_none")]
    specialize_us: Option<f64>,
    /// How long the run took; null for the interpreter.
    run_ms: Option<f64>,
    /// The outputs, and the states after the run.
    outputs: Vec<OutputReport>,
}

/// An array that came out.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct OutputReport {
    name: String,
    /// The type of its elements: `f32`, `i64`, ...
    element: String,
    shape: Vec<u64>,
}

impl RunReport {
    pub(super) fn of(ran: &Ran) -> RunReport {
        RunReport {
            version: 1,
            compile_ms: ran.compiled.map(|(_, took)| took.as_secs_f64() * 1e3),
            runs: ran.runs.iter().map(RunOnceReport::of).collect(),
        }
    }
}

impl RunOnceReport {
    fn of(run: &RanOnce) -> RunOnceReport {
        let (specialized, took) = run.machine.as_ref().map(|(specialized, took)| (specialized, took)).unzip();
        let sizes = specialized.map_or(&[][..], |specialized| specialized.sizes());
        let cost = specialized.and_then(|specialized| specialized.cost_us());
        RunOnceReport {
            sizes: sizes.iter().cloned().collect(),
            arena_bytes: specialized.map(|specialized| specialized.arena_bytes()),
            specialize_us: cost.filter(|_| !sizes.is_empty()),
            run_ms: took.map(|took| took.as_secs_f64() * 1e3),
            outputs: run.outputs.iter().map(output).collect(),
        }
    }
}

fn output(array: &Array) -> OutputReport {
    OutputReport {
        name: array.name.clone(),
        element: format!("{:?}", array.element).to_lowercase(),
        shape: array.shape.clone(),
    }
}
