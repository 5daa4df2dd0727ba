//! How a model is read and compiled, as C says it.

use std::ffi::c_char;

use optc::codegen::Cpu;
use optc::compile::check_threads;
use optc::import::onnx::StrippedWeights;
use optc::import::onnx::declared::Symbolized;
use optc::ir::memory_pools::MemoryPool;
use optc::passes::tradeoff::Goal;
use optc::sizes::{self, DimArg};
use optc::{CompileOptions, DeadMemory, Failure, LoadOptions, Precision};

use crate::handle::{changed, free, hand_over, text};
use crate::progress::Progress;
use crate::status::{Diagnostics, Refusal, Status, ended};

/// How a model is read and compiled: as the command does it without options, until others are set.
#[derive(Clone, Default)]
pub struct Options {
    pub(crate) read: LoadOptions,
    pub(crate) compile: CompileOptions,
    pub(crate) progress: Option<Progress>,
    dims: Vec<DimArg>,
    symbolized: Vec<Vec<Symbolized>>,
}

/// Options without any set.
///
/// # Safety
/// `options` is NULL or a place, and so is `errors`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_options_new(
    options: *mut *mut Options,
    errors: *mut *mut Diagnostics,
) -> Status {
    // SAFETY: as the caller vouches.
    unsafe { ended(errors, || hand_over(Options::default(), options)) }
}

/// Sets an option by its name on the command line, without `--`:
///
/// `threads` (a number), `optimize` (`memory`, `balanced`, `speed`), `precision` (`f32`, `bf16`), `budget`
/// (`4MB`), `target-cpu`, `donate` (an input's name), `pool` (`name:align=..,pitch=..,capacity=..`), `entry`,
/// `dim` (`N=4`, `N<=512`), `symbolize` (`input:0=N,2=H`), `synthesize-weights` and `poison` (`true` or
/// `false`). `donate`, `pool`, `dim` and `symbolize` add to what was set before.
///
/// # Safety
/// `options` is NULL or a handle; the texts are NULL or end with 0; `errors` is NULL or a place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_options_set(
    options: *mut Options,
    name: *const c_char,
    value: *const c_char,
    errors: *mut *mut Diagnostics,
) -> Status {
    // SAFETY: as the caller vouches.
    unsafe {
        ended(errors, || {
            let options = changed(options, "`options`")?;
            options.set(text(name, "`name`")?, text(value, "`value`")?)
        })
    }
}

/// Frees options.
///
/// # Safety
/// `options` is NULL or a handle, which is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_options_free(options: *mut Options) {
    // SAFETY: as the caller vouches.
    unsafe { free(options) }
}

/// What [`Options::set`] sets.
const NAMES: [&str; 12] = [
    "threads",
    "optimize",
    "precision",
    "budget",
    "target-cpu",
    "donate",
    "pool",
    "entry",
    "dim",
    "symbolize",
    "synthesize-weights",
    "poison",
];

impl Options {
    fn set(&mut self, name: &str, value: &str) -> Result<(), Refusal> {
        let Options { read, compile, dims, symbolized, progress: _ } = self;
        match name {
            "threads" => {
                let count = value.parse().map_err(|_| format!("`{value}` is not a number of threads"));
                compile.threads = count.and_then(check_threads).map_err(Failure::input)?;
            }
            "optimize" => {
                let unknown = || {
                    Failure::input(format!("there is no goal `{value}`, expected one of {:?}", Goal::NAMES))
                };
                compile.goal = Goal::named(value).ok_or_else(unknown)?;
            }
            "precision" => {
                let known = Precision::NAMES;
                let unknown =
                    || Failure::input(format!("there is no precision `{value}`, expected one of {known:?}"));
                compile.precision = Precision::named(value).ok_or_else(unknown)?;
            }
            "budget" => {
                let bytes = optc::ir::memory_pools::parse_bytes(value);
                compile.budget_bytes = Some(bytes.map_err(Failure::input)?);
            }
            "target-cpu" => {
                let named = Cpu::named(value).map_err(Failure::input)?;
                compile.cpu = compile.cpu.with_isa(named.isa());
            }
            "donate" => compile.donated.push(value.to_owned()),
            "pool" => compile.pools.push(MemoryPool::parse(value).map_err(Failure::input)?),
            "entry" => compile.entry = Some(value.to_owned()),
            "dim" => {
                dims.push(sizes::parse_dim(value).map_err(Failure::input)?);
                read.sizes = sizes::gather(symbolized, dims)?;
            }
            "symbolize" => {
                symbolized.push(sizes::parse_symbolize(value).map_err(Failure::input)?);
                read.sizes = sizes::gather(symbolized, dims)?;
            }
            "synthesize-weights" => {
                let made = if truth(value)? { StrippedWeights::Synthesize } else { StrippedWeights::Refuse };
                read.stripped = made;
            }
            "poison" => compile.dead = if truth(value)? { DeadMemory::Poisoned } else { DeadMemory::Kept },
            _ => return Err(unknown(name).into()),
        }
        Ok(())
    }
}

fn unknown(name: &str) -> Failure {
    let hint = optc::ir::diag::did_you_mean(name, NAMES).map_or(String::new(), |hint| format!(" ({hint})"));
    Failure::input(format!("there is no option `{name}`{hint}"))
}

fn truth(value: &str) -> Result<bool, Failure> {
    value.parse().map_err(|_| Failure::input(format!("`{value}` is neither `true` nor `false`")))
}
