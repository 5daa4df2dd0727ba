//! What Python says of a compilation, as the library takes it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use optc::artifact::{ArtifactCode, ArtifactOptions};
use optc::codegen::Cpu;
use optc::compile::check_threads;
use optc::import::onnx::StrippedWeights;
use optc::import::onnx::declared::{DeclaredSizes, Symbolized};
use optc::ir::memory_pools::{MemoryPool, parse_bytes};
use optc::passes::manager::PassDebug;
use optc::passes::tradeoff::Goal;
use optc::{CompileOptions, DeadMemory, Failure, LoadOptions, Precision, SizeOptions};
use pyo3::prelude::*;

/// `dims`: a number, or the least and the greatest one.
#[derive(FromPyObject)]
pub(crate) enum DimArgument {
    Number(u64),
    Range((u64, u64)),
}

/// How a model is read.
#[derive(FromPyObject)]
pub(crate) struct ReadArguments {
    #[pyo3(item)]
    dims: BTreeMap<String, DimArgument>,
    #[pyo3(item)]
    symbolize: BTreeMap<String, BTreeMap<usize, String>>,
    #[pyo3(item)]
    synthesize_weights: bool,
}

impl ReadArguments {
    pub(crate) fn sizes(&self) -> DeclaredSizes {
        let mut sizes = DeclaredSizes::new();
        for (name, dim) in &self.dims {
            match dim {
                DimArgument::Number(number) => _ = sizes.values.insert(name.clone(), *number),
                DimArgument::Range(range) => _ = sizes.ranges.insert(name.clone(), *range),
            }
        }
        for (input, axes) in &self.symbolize {
            for (axis, size) in axes {
                sizes.symbolized.push(Symbolized { input: input.clone(), axis: *axis, size: size.clone() });
            }
        }
        sizes
    }

    pub(crate) fn options(&self) -> LoadOptions {
        let stripped = match self.synthesize_weights {
            true => StrippedWeights::Synthesize,
            false => StrippedWeights::Refuse,
        };
        LoadOptions { stripped, sizes: self.sizes(), ..LoadOptions::default() }
    }
}

/// A number of bytes, or its text (`4MB`).
#[derive(FromPyObject)]
pub(crate) enum BytesArgument {
    Number(u64),
    Text(String),
}

/// How a program is compiled.
#[derive(FromPyObject)]
pub(crate) struct CompileArguments {
    #[pyo3(item)]
    optimize: String,
    #[pyo3(item)]
    precision: String,
    #[pyo3(item)]
    threads: Option<usize>,
    #[pyo3(item)]
    target_cpu: String,
    #[pyo3(item)]
    donate: Vec<String>,
    #[pyo3(item)]
    budget: Option<BytesArgument>,
    #[pyo3(item)]
    pools: Vec<String>,
    #[pyo3(item)]
    entry: Option<String>,
    #[pyo3(item)]
    sample: BTreeMap<String, u64>,
    #[pyo3(item)]
    poison: bool,
    #[pyo3(item)]
    reproducer: Option<PathBuf>,
}

impl CompileArguments {
    pub(crate) fn options(self) -> Result<CompileOptions, Failure> {
        let defaults = CompileOptions::default();
        let goal = Goal::named(&self.optimize).ok_or_else(|| {
            let known = Goal::NAMES.join("`, `");
            Failure::input(format!("there is no goal `{}`, expected one of `{known}`", self.optimize))
        })?;
        let precision = Precision::named(&self.precision).ok_or_else(|| {
            let known = Precision::NAMES.join("`, `");
            Failure::input(format!("there is no precision `{}`, expected one of `{known}`", self.precision))
        })?;
        let budget_bytes = match self.budget {
            Some(BytesArgument::Text(text)) => Some(parse_bytes(&text).map_err(Failure::input)?),
            Some(BytesArgument::Number(number)) => Some(number),
            None => None,
        };
        let pools = self.pools.iter().map(|pool| MemoryPool::parse(pool).map_err(Failure::input));
        let threads = check_threads(self.threads.unwrap_or(defaults.threads)).map_err(Failure::input)?;
        Ok(CompileOptions {
            cpu: *cpu(&self.target_cpu)?,
            threads,
            entry: self.entry,
            dead: if self.poison { DeadMemory::Poisoned } else { DeadMemory::Kept },
            donated: self.donate,
            goal,
            precision,
            budget_bytes,
            pools: pools.collect::<Result<_, _>>()?,
            debug: PassDebug { reproducer: self.reproducer, ..PassDebug::default() },
            sizes: SizeOptions { sample: self.sample.into_iter().collect(), ..SizeOptions::default() },
            ..defaults
        })
    }
}

/// How an artifact is loaded.
#[derive(FromPyObject)]
pub(crate) struct LoadArguments {
    #[pyo3(item)]
    threads: Option<usize>,
    #[pyo3(item)]
    recompile: bool,
}

impl LoadArguments {
    pub(crate) fn options(self) -> ArtifactOptions {
        let code = if self.recompile { ArtifactCode::Recompiled } else { ArtifactCode::Stored };
        ArtifactOptions { threads: self.threads, code, ..ArtifactOptions::default() }
    }
}

pub(crate) fn cpu(name: &str) -> Result<&'static Cpu, Failure> {
    Cpu::named(name).map_err(Failure::input)
}
