//! Compilation: from a module to a program that runs.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::Arc;

use codegen::{Cpu, Isa};
use ir::memory_pools::{MemoryPool, add_pools};
use ir::plan::attrs;
use ir::plan::signature::Signature;
use ir::{Body, Context, Module, Target, Traits};
use passes::manager::{
    PassDebug, PassObserver, Registry, Remark, Report, RunOptions, Selection, Stage, default_pipeline,
};
use runtime::Program;

use crate::budget;
use crate::failure::{Failure, FaultCode};
use crate::pipeline::run_passes;
use crate::specialize::{self, AllSizes, has_named_sizes};

pub use codegen::{DeadMemory, Prepared, StepTimes};
pub use passes::precision::Precision;
pub use passes::tradeoff::Goal;

/// The valid numbers of threads.
const THREADS: RangeInclusive<usize> = 1..=256;

/// Checks a number of threads (1 to 256); returns it if it is valid.
///
/// # Errors
/// A message with the valid numbers.
pub fn check_threads(count: usize) -> Result<usize, String> {
    match THREADS.contains(&count) {
        true => Ok(count),
        false => Err(format!("{count} threads, expected {} to {}", THREADS.start(), THREADS.end())),
    }
}

/// Options of compilation.
#[derive(Clone)]
pub struct CompileOptions {
    /// The processor to compile for, with an embedder's own kernels. A partly planned function keeps the
    /// instruction set of its plan (`optc.target`).
    pub cpu: Cpu,
    /// The target for passes; none for the processor itself. Wherever code depends on the answer (kernels,
    /// scratch, name), it must answer like the processor, because code is generated for that.
    pub target: Option<Arc<dyn Target + Send>>,
    /// The registry of passes and rules; none for the built-in ones. Passes inserted into `default`
    /// ([`Registry::extend_default`]) run on the way to the plan.
    pub registry: Option<Arc<Registry>>,
    /// The maximum number of threads that will run the program (1 to 256), which scratch is planned for.
    pub threads: usize,
    /// The entry function; none for the only public one, or else `main`.
    pub entry: Option<String>,
    /// What happens to memory that no later step reads.
    pub dead: DeadMemory,
    /// Whether runs can be timed step by step.
    pub steps: StepTimes,
    /// Names of inputs whose memory the program may use for other values once it has read them.
    pub donated: Vec<String>,
    /// The goal of the plan.
    pub goal: Goal,
    /// The type of numbers in products and of stored values; a partly planned function keeps its own.
    pub precision: Precision,
    /// The maximum size of the arena in bytes, if there is a limit.
    pub budget_bytes: Option<u64>,
    /// Pools in addition to those of the program; `arena` is the arena itself.
    pub pools: Vec<MemoryPool>,
    /// Checks and output for each pass.
    pub debug: PassDebug,
    /// The observer of the passes and the later steps of compilation; it may cancel them.
    pub observer: Option<Arc<dyn PassObserver + Send + Sync>>,
    /// Options about named sizes.
    pub sizes: SizeOptions,
    /// Code and weights made before, which are reused; new ones are added to them.
    pub prepared: Option<Arc<Prepared>>,
}

/// Options for compiling a program of named sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeOptions {
    /// Sample sizes, by name: code is generated for them first, so it is fastest at sizes with similar loops.
    /// Inputs have these sizes until shapes are set. For a size without a sample, code is generated for its
    /// nominal number (see [`ir::dims::nominal`]), and the size must be set.
    pub sample: Vec<(String, u64)>,
    /// The ranges of named sizes, in addition to those of the function. If every size has an upper bound, the
    /// arena is allocated at once for all sizes.
    pub ranges: BTreeMap<String, (u64, u64)>,
    /// The maximum number of specializations that are kept.
    pub cached: usize,
}

impl Default for SizeOptions {
    /// No sample, no ranges; 64 specializations are kept.
    fn default() -> Self {
        SizeOptions { sample: Vec::new(), ranges: BTreeMap::new(), cached: 64 }
    }
}

impl Default for CompileOptions {
    /// All processors, at most two; dead memory is left unchanged.
    fn default() -> Self {
        let threads = runtime::available_threads().min(2);
        CompileOptions {
            cpu: Cpu::default(),
            target: None,
            registry: None,
            threads,
            entry: None,
            dead: DeadMemory::Kept,
            steps: StepTimes::Unknown,
            donated: Vec::new(),
            goal: Goal::default(),
            precision: Precision::default(),
            budget_bytes: None,
            pools: Vec::new(),
            debug: PassDebug::default(),
            observer: None,
            sizes: SizeOptions::default(),
            prepared: None,
        }
    }
}

impl CompileOptions {
    /// The target for passes.
    pub fn target(&self) -> &dyn Target {
        self.target.as_deref().unwrap_or(&self.cpu)
    }

    /// The passes and rules.
    pub(crate) fn passes(&self) -> Arc<Registry> {
        self.registry.clone().unwrap_or_default()
    }

    /// The same options without output and observer, for plans that are only compared.
    pub(crate) fn unobserved(&self) -> CompileOptions {
        CompileOptions { debug: PassDebug::default(), observer: None, ..self.clone() }
    }

    /// Tells the observer that a step other than a pass begins.
    ///
    /// # Errors
    /// The reason of the observer to end the work.
    pub(crate) fn begins(&self, step: &str) -> Result<(), Failure> {
        match self.observer.as_ref().map(|observer| observer.begins(step)) {
            Some(ControlFlow::Break(why)) => {
                Err(Failure::input(format!("{why}, before {step}")).coded(FaultCode::Cancelled))
            }
            _ => Ok(()),
        }
    }

    /// Runs passes with these options, and keeps all remarks.
    ///
    /// # Errors
    /// As [`run_pipeline`].
    pub(crate) fn run_passes(&self, module: &mut Module, pipeline: &str) -> Result<Report, Failure> {
        let plain = RunOptions::new(self.target());
        let observer = self.observer.as_deref().map_or(plain.observer, |observer| observer);
        let (threads, debug) = (self.threads, self.debug.clone());
        let options = RunOptions { threads, remarks: Selection::All, debug, observer, ..plain };
        run_passes(module, pipeline, &self.passes(), &options)
    }

    /// The options for code generation.
    pub(crate) fn code(&self) -> codegen::CodegenOptions {
        codegen::CodegenOptions {
            threads: self.threads,
            cpu: self.cpu,
            dead: self.dead,
            steps: self.steps,
            prepared: self.prepared.clone(),
        }
    }

    /// The options with the processor of a partial plan, if the plan names one.
    pub(crate) fn planned(&self, ctx: &Context, body: &Body) -> CompileOptions {
        let named = body.own_attr(ctx, ctx.ident(attrs::OPTC_TARGET)).and_then(|attr| ctx.str_value(attr));
        let isa = named.and_then(Isa::named).unwrap_or(self.cpu.isa());
        CompileOptions { cpu: self.cpu.with_isa(isa), ..self.clone() }
    }
}

/// The name of the step after the passes.
pub(crate) const MACHINE_CODE: &str = "machine code";

/// Runs the stages that a module lacks, and generates machine code for this processor.
///
/// The module is planned afterwards, and prints as the program that runs. If its entry has named sizes, all
/// size-independent decisions are made here, and the program plans the rest for each combination of sizes.
///
/// # Errors
/// All errors of the first stage that finds any.
pub fn compile(module: &mut Module, options: &CompileOptions) -> Result<Program, Failure> {
    let entry = entry(module, options.entry.as_deref())?;
    let body = module.function(&entry).expect("the entry was just found");
    let options = &options.planned(&module.ctx, body);
    if has_named_sizes(&module.ctx, body) {
        return specialize::compile(AllSizes::decide(module, options)?, options);
    }
    plan_known_sizes(module, &entry, options)?;
    options.begins(MACHINE_CODE)?;
    codegen::compile(module, &entry, &options.code())
        .map_err(|faults| Failure::diagnostics(&module.ctx, &faults).coded(FaultCode::MachineCode))
}

/// Plans a module: runs the stages that it lacks, without machine code, so any target will do. A function
/// with named sizes is planned for all sizes.
///
/// ```
/// use optc::prelude::*;
///
/// let text = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
///     %0 = nn.softmax %x {axis = 0} : tensor<4xf32>
///     return %0 : tensor<4xf32>
/// }";
/// let mut module = optc::parse("softmax.mlir", text.into(), None, &Default::default())?;
/// optc::plan(&mut module, &CompileOptions::default())?;
/// let main = module.function("main").expect("it was just planned");
/// assert!(optc::codegen::ReadPlan::of(&module.ctx, main).is_ok());
/// # Ok::<(), Failure>(())
/// ```
///
/// # Errors
/// All errors of the first stage that finds any; an error if a budget can't be met.
pub fn plan(module: &mut Module, options: &CompileOptions) -> Result<(), Failure> {
    let entry = entry(module, options.entry.as_deref())?;
    let body = module.function(&entry).expect("the entry was just found");
    if has_named_sizes(&module.ctx, body) {
        let options = options.planned(&module.ctx, body);
        *module = AllSizes::decide(module, &options)?.planned()?;
        return Ok(());
    }
    plan_known_sizes(module, &entry, options).map(drop)
}

/// Runs the stages that a function of known sizes lacks, up to its plan. Returns the remarks of the passes if
/// there is no budget: to meet a budget, several routes are tried.
///
/// # Errors
/// All errors of the first stage that finds any; an error if the budget can't be met.
pub(crate) fn plan_known_sizes(
    module: &mut Module,
    entry: &str,
    options: &CompileOptions,
) -> Result<Vec<Remark>, Failure> {
    let body = module.function(entry).expect("the entry was just found");
    let options = &options.planned(&module.ctx, body);
    donate(module, entry, &options.donated)?;
    let ctx = module.ctx.clone();
    let body = module.function_mut(entry).expect("the entry was just found");
    add_pools(&ctx, body, &options.pools).map_err(Failure::input)?;
    match options.budget_bytes {
        Some(budget_bytes) => budget::meet(module, entry, options, budget_bytes).map(|()| Vec::new()),
        None => Ok(complete_with(module, entry, PlanRoute::of(options))?.remarks),
    }
}

/// The signature of a module's entry.
///
/// # Errors
/// A message about what is wrong with it.
///
/// # Panics
/// If there is no such function.
pub fn signature(module: &Module, entry: &str) -> Result<Signature, Failure> {
    let body = module.function(entry).expect("the module has the function");
    Signature::of(&module.ctx, body).map_err(Failure::input)
}

/// Marks inputs of the entry as donated.
pub(crate) fn donate(module: &mut Module, entry: &str, names: &[String]) -> Result<(), Failure> {
    if names.is_empty() {
        return Ok(());
    }
    let known = signature(module, entry)?.args;
    let ctx = module.ctx.clone();
    let body = module.function_mut(entry).expect("the entry was just found");
    let mut faults = Vec::new();
    for name in names {
        match known.iter().position(|arg| arg.name == *name) {
            Some(index) => ir::plan::signature::donate(&ctx, body, index),
            None => {
                faults.push(no_input(name, " to donate", known.iter().map(|arg| arg.name.as_str())));
            }
        }
    }
    Failure::unless_none(faults)
}

/// A message: a program has no input of this name, for some purpose.
pub(crate) fn no_input<'a>(
    name: &str,
    purpose: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> String {
    match ir::diag::did_you_mean(name, known.clone()) {
        Some(hint) => format!("the program has no input `{name}`{purpose} ({hint})"),
        None => {
            let known: Vec<String> = known.map(|name| format!("`{name}`")).collect();
            format!("the program has no input `{name}`{purpose} (it has {})", known.join(", "))
        }
    }
}

/// Runs the stages of the canonical pipeline that a module's entry lacks. If it has reached none, calls are
/// inlined first, so that one arena serves the whole call tree.
///
/// # Errors
/// For each function, all errors of the first pass that finds any there.
pub fn complete(module: &mut Module, entry: &str, threads: usize, goal: Goal) -> Result<Report, Failure> {
    let options = CompileOptions { threads, goal, ..CompileOptions::default() };
    let body = module.function(entry).expect("the entry has a body");
    let options = options.planned(&module.ctx, body);
    complete_with(module, entry, PlanRoute::of(&options))
}

/// The route of a function to its plan.
#[derive(Clone, Copy)]
pub(crate) struct PlanRoute<'a> {
    pub options: &'a CompileOptions,
    pub goal: Goal,
    pub steps: PassSequence,
}

impl<'a> PlanRoute<'a> {
    /// The canonical route with these options.
    pub(crate) fn of(options: &'a CompileOptions) -> PlanRoute<'a> {
        PlanRoute { options, goal: options.goal, steps: PassSequence::Canonical }
    }
}

/// The passes from a function to its plan.
#[derive(Clone, Copy)]
pub(crate) enum PassSequence {
    /// Those of the canonical pipeline.
    Canonical,
    /// The canonical pipeline, with recomputation until the budget suffices.
    Recompute { budget_bytes: u64 },
}

/// Like [`complete`], by this route. An existing plan, from a text or a file, is checked like a new one.
pub(crate) fn complete_with(module: &mut Module, entry: &str, way: PlanRoute<'_>) -> Result<Report, Failure> {
    let body = module.function(entry).filter(|body| Stage::of(&module.ctx, body) == Some(Stage::Plan));
    let faults = body.map_or_else(Vec::new, |body| passes::check::check(&module.ctx, body));
    if !faults.is_empty() {
        return Err(Failure::diagnostics(&module.ctx, &faults));
    }
    let passes = missing_passes(module, entry, way);
    way.options.run_passes(module, &passes)
}

/// The pipeline that takes a function from its present stage to its plan.
///
/// # Panics
/// If there is no such function.
pub fn passes_to_plan(module: &Module, entry: &str, options: &CompileOptions) -> String {
    assert!(module.function(entry).is_some(), "the module has the function");
    missing_passes(module, entry, PlanRoute::of(options))
}

fn missing_passes(module: &Module, entry: &str, way: PlanRoute<'_>) -> String {
    let reached = module.function(entry).and_then(|body| Stage::of(&module.ctx, body));
    let budget_bytes = match way.steps {
        PassSequence::Canonical => None,
        PassSequence::Recompute { budget_bytes } => Some(budget_bytes),
    };
    default_pipeline(&way.options.passes(), reached, way.goal, budget_bytes, way.options.precision)
}

/// The name of the entry: `name` if given, else the only public function, else `main`.
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
    let public: Vec<String> =
        defined.iter().filter(|entry| entry.1).map(|entry| format!("`{}`", entry.0)).collect();
    let several = match name {
        None if public.len() > 1 => format!("; choose one of {} with --entry", public.join(", ")),
        _ => String::new(),
    };
    Err(Failure::input(format!("the module has no function `{wanted}` with a body{hint}{several}")))
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use ir::Context;
    use ir::body::OpRef;
    use ir::target::{GroupPosition, KernelChoice};
    use passes::manager::Reproducer;

    use super::*;

    /// A target on which the pass `select` panics.
    struct Panicking;

    impl Target for Panicking {
        fn name(&self) -> &str {
            "panicking"
        }

        fn layout(&self, _: OpRef<'_>) -> Option<&'static str> {
            None
        }

        fn fuses(&self, _: OpRef<'_>, _: OpRef<'_>, _: GroupPosition) -> bool {
            false
        }

        fn select(&self, _: OpRef<'_>, _: usize) -> Option<KernelChoice> {
            panic!("nothing can be selected")
        }
    }

    #[test]
    fn what_a_pass_panics_on_while_a_program_is_compiled_is_kept() {
        let text = "func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {\n  %0 = nn.matmul %x, %x : tensor<4x4xf32>\n  return %0 : tensor<4x4xf32>\n}\n";
        let ctx = std::sync::Arc::new(Context::new());
        let mut module = ir::text::parse(&ctx, "t", text.to_owned()).expect("the text has no faults");
        let path = std::env::temp_dir().join(format!("optc_reproducer_{}", std::process::id()));
        let debug = PassDebug { reproducer: Some(path.clone()), ..PassDebug::default() };
        let target = Some(Arc::new(Panicking) as Arc<dyn Target + Send>);
        let options = CompileOptions { threads: 1, target, debug, ..Default::default() };
        let way = PlanRoute::of(&options);
        let done = catch_unwind(AssertUnwindSafe(|| complete_with(&mut module, "main", way).map(drop)));
        assert!(done.is_err(), "the target panics");
        let kept = std::fs::read_to_string(&path).expect("the reproducer was written");
        std::fs::remove_file(&path).expect("the reproducer can be removed");
        let reproducer = Reproducer::of(&kept).expect("its first line says what ran");
        assert_eq!(reproducer.threads, 1);
        assert!(reproducer.pipeline.starts_with("select") && kept.contains("nn.matmul"), "{kept}");
    }
}
