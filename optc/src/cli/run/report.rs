//! What `optc run --json` writes.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Ran, RanOnce};
use crate::arrays::Array;

/// A report of runs, version 1.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::cli) struct RunReport {
    version: u32,
    /// The time of compiling, or of loading a compiled program; null for the interpreter.
    compile_ms: Option<f64>,
    /// One for each `--inputs`.
    runs: Vec<RunOnceReport>,
}

/// A report of one run.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct RunOnceReport {
    /// The named sizes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    sizes: BTreeMap<String, u64>,
    /// The memory of the run; null for the interpreter.
    arena_bytes: Option<usize>,
    /// The time to place buffers at these sizes; none if they were used before, or no size has a name.
    #[serde(skip_serializing_if = "Option::is_none")]
    specialize_us: Option<f64>,
    /// The time of the run; null for the interpreter.
    run_ms: Option<f64>,
    /// The outputs, and the states after the run.
    outputs: Vec<OutputReport>,
}

/// An output array.
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
