//! Runs a pipeline over a module.

use std::collections::BTreeSet;
use std::ops::{ControlFlow, Range};
use std::time::Instant;

use ir::verify::{Verification, VerifyScope, mark_verified};
use ir::{Body, Context, Diagnostic, Location, Module};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::context::Notes;
use super::trace::Trace;
use super::{
    Changes, FunctionPass, Invocation, ModulePass, Origin, PassChanges, PassContext, PassRun, Pipeline,
    PipelineItem, Remark, Report, RunOptions, Stage, StageRule, Statistic, Timing, Verify, crash,
};

/// The name of verification in times and statistics.
const VERIFY: &str = "verify";
/// The number of parts that verification is split into, per thread.
const PARTS_PER_THREAD: usize = 4;

impl Pipeline {
    /// Runs the passes, one after the other. If one has errors in some functions, later function passes still
    /// run on the others, so that the errors of all functions are found.
    ///
    /// # Errors
    /// For each function, all errors of the first pass that has some there, in the order of the passes, and
    /// then of the text; errors of the verifier, with a note that names the pass before; or the observer's
    /// reason to end the work. The module is then in no defined state.
    ///
    /// # Panics
    /// If a pass panics; then the file of [`PassDebug::reproducer`](super::PassDebug::reproducer) contains
    /// its input.
    pub fn run(&self, module: &mut Module, options: &RunOptions<'_>) -> Result<Report, Vec<Diagnostic>> {
        let start = Instant::now();
        let mut execution = Execution {
            options,
            pipeline: self,
            pool: None,
            trace: Trace::new(options),
            statistics: Vec::new(),
            remarks: Vec::new(),
            changes: Vec::new(),
            failed: BTreeSet::new(),
            errors: Vec::new(),
        };
        let done = execution.items(self.items(), module);
        let mut errors = std::mem::take(&mut execution.errors);
        let children = match done {
            Ok(children) if errors.is_empty() => children,
            Ok(_) => return Err(errors),
            Err(more) => {
                errors.extend(more);
                return Err(errors);
            }
        };
        let timing = Timing { name: "total".to_owned(), time: start.elapsed(), children };
        let Execution { statistics, remarks, changes, .. } = execution;
        let report = Report { timing, statistics, remarks, changes };
        options.observer.ends(&module.ctx, &report);
        Ok(report)
    }
}

struct Execution<'a> {
    options: &'a RunOptions<'a>,
    pipeline: &'a Pipeline,
    pool: Option<ThreadPool>,
    trace: Trace<'a>,
    statistics: Vec<Statistic>,
    remarks: Vec<Remark>,
    changes: Vec<PassChanges>,
    /// The functions in which a pass had errors, by their positions in text order. They are not processed any
    /// further.
    failed: BTreeSet<usize>,
    /// These errors.
    errors: Vec<Diagnostic>,
}

impl Execution<'_> {
    fn items(&mut self, items: &[PipelineItem], module: &mut Module) -> Result<Vec<Timing>, Vec<Diagnostic>> {
        let mut timings = Vec::with_capacity(items.len());
        for item in items {
            let start = Instant::now();
            let (name, children) = match item {
                PipelineItem::Pass(pass) => (pass.to_string(), self.pass(pass, module)?),
                PipelineItem::Nest(anchor, items) => (anchor.name().to_owned(), self.items(items, module)?),
            };
            timings.push(Timing { name, time: start.elapsed(), children });
        }
        Ok(timings)
    }

    fn pass(&mut self, pass: &Invocation, module: &mut Module) -> Result<Vec<Timing>, Vec<Diagnostic>> {
        if let ControlFlow::Break(why) = self.options.observer.begins(&pass.to_string()) {
            return Err(vec![Diagnostic::error(
                Location::UNKNOWN,
                format!("{why}, before the pass `{pass}`"),
            )]);
        }
        if self.errors.is_empty() {
            self.trace.before(pass, module);
        }
        let notes = crash::guard(self.options, pass, module, |module| match &pass.def.run {
            PassRun::Function(run) => Ok(self.on_functions(pass, module, run)),
            PassRun::SharedFunction(run) => Ok(self.on_functions(pass, module, &**run)),
            PassRun::Module(run) => self.on_module(pass, module, run),
            PassRun::SharedModule(run) => self.on_module(pass, module, &**run),
        })?;
        self.changes.push(changes_of(pass, &notes));
        notes.into_iter().for_each(|notes| self.keep(pass, notes));
        if !self.errors.is_empty() {
            return Ok(Vec::new());
        }
        self.trace.after(pass, module)?;
        match self.options.debug.verify {
            Verify::AfterEach => self.verify(pass, module),
            Verify::Never => Ok(Vec::new()),
        }
    }

    fn on_module(
        &mut self,
        pass: &Invocation,
        module: &mut Module,
        run: &ModulePass,
    ) -> Result<Vec<Notes>, Vec<Diagnostic>> {
        if !self.errors.is_empty() {
            return Err(Vec::new());
        }
        let ctx = module.ctx.clone();
        let funcs = functions(&ctx, module);
        let errors: Vec<Diagnostic> = funcs.iter().filter_map(|func| stage_error(&ctx, pass, func)).collect();
        if !errors.is_empty() {
            return Err(errors);
        }
        if !funcs.is_empty() && funcs.iter().all(|func| is_done(&ctx, pass, func.body)) {
            return Ok(Vec::new());
        }
        let RunOptions { target, threads, .. } = *self.options;
        let changes = self.allowed(pass);
        let given = changes.is_spent().then(|| module.clone());
        let context =
            PassContext::new(&ctx, target, threads, &pass.options, self.pipeline.rules()).limited(changes);
        run(&context, module)?;
        settle(pass, &context, given, module);
        functions(&ctx, module).into_iter().for_each(|func| mark(&ctx, pass, func.body));
        Ok(vec![context.into_notes()])
    }

    fn on_functions(&mut self, pass: &Invocation, module: &mut Module, run: &FunctionPass) -> Vec<Notes> {
        let ctx = module.ctx.clone();
        let funcs = functions(&ctx, module).into_iter().enumerate();
        let funcs: Vec<_> = funcs.filter(|(place, _)| !self.failed.contains(place)).collect();
        let (target, threads, rules) = (self.options.target, self.options.threads, self.pipeline.rules());
        let places: Vec<usize> = funcs.iter().map(|(place, _)| *place).collect();
        let funcs = funcs.into_iter().map(|(_, func)| func);
        let one = |func: DefinedFunction<'_>, changes: Changes| {
            if let Some(error) = stage_error(&ctx, pass, &func) {
                return Err(vec![error]);
            }
            let context = PassContext::new(&ctx, target, threads, &pass.options, rules).limited(changes);
            if !is_done(&ctx, pass, func.body) {
                let given = context.changes.is_spent().then(|| func.body.clone());
                run(&context, func.body)?;
                settle(pass, &context, given, func.body);
                mark(&ctx, pass, func.body);
            }
            Ok(context.into_notes())
        };
        let results: Vec<Result<Notes, Vec<Diagnostic>>> = match (self.left(pass), places.len(), threads) {
            (Some(mut left), ..) => {
                let limited = |func| {
                    let notes = one(func, Changes::at_most(left))?;
                    left -= notes.changes.0;
                    Ok(notes)
                };
                funcs.map(limited).collect()
            }
            (None, 0 | 1, _) | (None, _, 0 | 1) => {
                funcs.map(|func| one(func, Changes::unlimited())).collect()
            }
            _ => {
                let funcs: Vec<_> = funcs.collect();
                let one = |func| one(func, Changes::unlimited());
                self.pool().install(|| funcs.into_par_iter().map(one).collect())
            }
        };
        self.in_order(&places, results)
    }

    /// The notes of the functions at these positions; their errors are recorded.
    fn in_order(&mut self, places: &[usize], results: Vec<Result<Notes, Vec<Diagnostic>>>) -> Vec<Notes> {
        let mut notes = Vec::with_capacity(results.len());
        for (place, result) in places.iter().zip(results) {
            match result {
                Ok(note) => notes.push(note),
                Err(more) => {
                    self.failed.insert(*place);
                    self.errors.extend(more);
                }
            }
        }
        notes
    }

    /// Verifies the changed parts; the last pass is at fault for any error. Returns the time.
    fn verify(&mut self, pass: &Invocation, module: &mut Module) -> Result<Vec<Timing>, Vec<Diagnostic>> {
        let start = Instant::now();
        let threads = self.options.threads;
        let work = Verification::of(module, VerifyScope::Touched);
        let parts = work.len().div_ceil(threads * PARTS_PER_THREAD).max(1);
        let ranges: Vec<Range<usize>> =
            (0..work.len()).step_by(parts).map(|first| first..(first + parts).min(work.len())).collect();
        let check = |range| work.check(range);
        // Only a thread pool started by a pass is used: starting one takes 0.3 ms, verifying an operation 11
        // ns.
        let breaches: Vec<Vec<Diagnostic>> = match &self.pool {
            Some(pool) => pool.install(|| ranges.into_par_iter().map(check).collect()),
            None => ranges.into_iter().map(check).collect(),
        };
        let bodies = work.body_count() as u64;
        if breaches.iter().any(|some| !some.is_empty()) {
            let note = format!("found after the pass `{pass}`, which caused it");
            let named = |breach: Diagnostic| breach.with_note(Location::UNKNOWN, note.as_str());
            return Err(breaches.into_iter().flatten().map(named).collect());
        }
        if bodies > 0 {
            mark_verified(module);
        }
        self.count(VERIFY, "bodies", bodies);
        Ok(vec![Timing { name: VERIFY.to_owned(), time: start.elapsed(), children: Vec::new() }])
    }

    /// The number of changes that a pass may still make, if there is a limit.
    fn left(&self, pass: &Invocation) -> Option<u64> {
        let name = pass.def.name;
        let limit = self.options.debug.limits.iter().find(|limit| limit.pass == name)?;
        let made: u64 = self.changes.iter().filter(|run| run.pass == name).map(|run| run.count).sum();
        Some(limit.changes.saturating_sub(made))
    }

    fn allowed(&self, pass: &Invocation) -> Changes {
        self.left(pass).map_or_else(Changes::unlimited, Changes::at_most)
    }

    fn pool(&mut self) -> &ThreadPool {
        let threads = self.options.threads;
        self.pool.get_or_insert_with(|| {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build();
            pool.expect("the system gives as many threads as were asked for")
        })
    }

    fn count(&mut self, pass: &'static str, name: &'static str, count: u64) {
        let known = self.statistics.iter_mut().find(|line| (line.pass, line.name) == (pass, name));
        match known {
            Some(line) => line.count += count,
            None => self.statistics.push(Statistic { pass, name, count }),
        }
    }

    fn keep(&mut self, pass: &Invocation, notes: Notes) {
        let name = pass.def.name;
        notes.counts.into_iter().for_each(|(what, count)| self.count(name, what, count));
        if self.options.remarks.contains(name) {
            let remarks = notes.remarks.into_iter();
            self.remarks.extend(remarks.map(|diagnostic| Remark { pass: name, diagnostic }));
        }
    }
}

/// Counts one change for a pass that counts none. If it may make none, its work is undone, unless later
/// passes need it.
fn settle<T>(pass: &Invocation, context: &PassContext<'_>, given: Option<T>, work: &mut T) {
    if context.changes.made() > 0 {
        return;
    }
    let is_optional = pass.def.stage.stage().is_none_or(|stage| !stage.is_mandatory());
    match given {
        Some(given) if is_optional => *work = given,
        Some(_) => {}
        None => {
            context.changes.allow(|| "all that the pass does".to_owned());
        }
    }
}

/// The changes of a pass over all functions.
fn changes_of(pass: &Invocation, notes: &[Notes]) -> PassChanges {
    let count = notes.iter().map(|notes| notes.changes.0).sum();
    let last = notes.iter().find_map(|notes| notes.changes.1.clone());
    PassChanges { pass: pass.def.name, count, last }
}

/// A function that has a body.
struct DefinedFunction<'m> {
    body: &'m mut Body,
    location: Location,
}

/// All functions with bodies, also in nested modules, in text order.
fn functions<'m>(ctx: &Context, module: &'m mut Module) -> Vec<DefinedFunction<'m>> {
    let mut out = Vec::new();
    collect_functions(ctx, &mut module.top, &mut out);
    out
}

fn collect_functions<'m>(ctx: &Context, body: &'m mut Body, out: &mut Vec<DefinedFunction<'m>>) {
    use ir::Traits;
    let mut places = Vec::new();
    for (op, child) in body.children() {
        let index = body.child_index(op).expect("the operation has a child");
        let is_function = body.at(ctx, op).has(Traits::FUNCTION);
        let has_body = child.roots().iter().any(|root| child.entry(*root).is_some());
        places.push((index, places.len(), is_function, has_body, body.location(op)));
    }
    places.sort_unstable();
    let mut children = Vec::with_capacity(places.len());
    for (index, child) in body.children_mut() {
        if let Ok(place) = places.binary_search_by_key(&index, |place| place.0) {
            children.push((places[place], child));
        }
    }
    children.sort_by_key(|child| child.0.1);
    for ((_, _, is_function, has_body, location), child) in children {
        match (is_function, has_body) {
            (true, true) => out.push(DefinedFunction { body: child, location }),
            (true, false) => {}
            (false, _) => collect_functions(ctx, child, out),
        }
    }
}

fn stage_error(ctx: &Context, pass: &Invocation, func: &DefinedFunction<'_>) -> Option<Diagnostic> {
    let reached = Stage::of(ctx, func.body);
    if pass.def.stage.allows(reached) || is_done(ctx, pass, func.body) {
        return None;
    }
    let name = func.body.symbol(ctx).unwrap_or("?");
    let stage = reached?.name();
    let message = format!("pass `{}` can't run on `@{name}`, which is at stage `{stage}`", pass.def.name);
    let help = "start from the program as it was before that stage";
    Some(Diagnostic::error(func.location, message).with_help(help))
}

/// Whether a function has already reached the stage of an inserted pass.
fn is_done(ctx: &Context, pass: &Invocation, func: &Body) -> bool {
    let stage = pass.def.stage.stage();
    pass.origin == Origin::Inserted && stage.is_some() && Stage::of(ctx, func) >= stage
}

fn mark(ctx: &Context, pass: &Invocation, func: &mut Body) {
    if let StageRule::Is(stage) = pass.def.stage
        && Stage::of(ctx, func) < Some(stage)
    {
        stage.mark(ctx, func);
    }
}
