//! From a module to a program that runs.

use codegen::Cpu;
use ir::{Module, Traits};
use passes::manager::{Pipeline, Registry, Report, RunOptions, Stage};
use runtime::Program;

use crate::failure::Failure;

pub use codegen::DeadMemory;

/// How a module is compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileOptions {
    /// The most threads that will run the program; scratch is planned for as many.
    pub threads: usize,
    /// The function that is the program; none for the only public one, else `main`.
    pub entry: Option<String>,
    /// What happens to memory that no later step reads.
    pub dead: DeadMemory,
}

impl Default for CompileOptions {
    /// All processors, at most two; dead memory is left as it is.
    fn default() -> Self {
        CompileOptions { threads: runtime::available_threads().min(2), entry: None, dead: DeadMemory::Kept }
    }
}

/// Takes a module through the stages that it lacks, and makes machine code for this processor.
///
/// The module is left planned: what it prints as is what runs.
///
/// # Errors
/// Every fault of the first stage that finds some.
pub fn compile(module: &mut Module, options: &CompileOptions) -> Result<Program, Failure> {
    let entry = entry(module, options.entry.as_deref())?;
    complete(module, &entry, options.threads)?;
    let code_options = codegen::Options { dead: options.dead, ..codegen::Options::new(options.threads) };
    codegen::compile(module, &entry, &code_options)
        .map_err(|faults| Failure::diagnostics(&module.ctx, &faults))
}

/// Takes a module through the stages of the canonical pipeline that its entry lacks.
///
/// # Errors
/// Every fault of the first pass that finds some.
pub fn complete(module: &mut Module, entry: &str, threads: usize) -> Result<Report, Failure> {
    let ctx = module.ctx.clone();
    let reached = module.function(entry).and_then(|body| Stage::of(&ctx, body));
    let registry = Registry::new();
    let missing = Stage::ALL.into_iter().filter(|stage| Some(*stage) > reached);
    let names: Vec<&str> = missing.filter_map(|stage| Some(registry.of_stage(stage)?.name)).collect();
    run_pipeline(module, &names.join(","), &RunOptions { threads, ..RunOptions::new(&Cpu) })
}

/// Runs a textual pipeline.
///
/// # Errors
/// Faults of the pipeline's text, or every fault of the first pass that finds some.
pub fn run_pipeline(
    module: &mut Module,
    pipeline: &str,
    options: &RunOptions<'_>,
) -> Result<Report, Failure> {
    let ctx = module.ctx.clone();
    let parsed = Pipeline::parse(&ctx, pipeline, &Registry::new());
    let parsed = parsed.map_err(|faults| Failure::diagnostics(&ctx, &faults))?;
    parsed.run(module, options).map_err(|faults| Failure::diagnostics(&ctx, &faults))
}

/// The function that is the program: `name` if given, else the only public function, else `main`.
///
/// # Errors
/// If there is no such function.
pub fn entry(module: &Module, name: Option<&str>) -> Result<String, Failure> {
    let ctx = &module.ctx;
    let body = module.body();
    let defined = module.functions().filter(|(_, child)| child.entry(child.root()).is_some());
    let defined: Vec<(String, bool)> = defined
        .filter_map(|(op, child)| {
            let op = body.at(ctx, op);
            let is_public = op.has(Traits::FUNCTION) && op.text("sym_visibility") != Some("private");
            Some((child.symbol(ctx)?.to_owned(), is_public))
        })
        .collect();
    let wanted = match (name, &defined.iter().filter(|entry| entry.1).collect::<Vec<_>>()[..]) {
        (Some(name), _) => name,
        (None, [only]) => &only.0,
        (None, _) => "main",
    };
    if defined.iter().any(|entry| entry.0 == wanted) {
        return Ok(wanted.to_owned());
    }
    let hint = ir::diag::did_you_mean(wanted, defined.iter().map(|entry| entry.0.as_str()));
    let hint = hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
    Err(Failure::input(format!("the module has no function `{wanted}` with a body{hint}")))
}
