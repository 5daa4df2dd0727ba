//! Bisection: which pass, and which change of it, first makes a program compute something else?
//!
//! The interpreter computes the expected results. If the interpreted results differ after some pass,
//! bisection finds the first such pass. Then its changes are limited to the first, the first two, ... (see
//! [`passes::manager::Changes`]), and bisection finds the wrong one. The interpreter ignores memory. If the
//! interpreted results stay the same after all passes, but machine code differs or the checker refuses the
//! plan, all passes are run, with the changes of the passes from some point on disabled. Bisection finds the
//! pass whose changes, enabled along with those of all earlier passes, make the result wrong. If the result
//! is wrong without any optional change, code generation or kernels are at fault.
//!
//! This takes about `log2(passes) + log2(changes)` runs, and finds one of several faults.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ir::Module;
use passes::manager::{ChangeLimit, Invocation, PassDebug, Pipeline, PipelineItem, Registry, RunOptions};
use serde::Serialize;

use crate::arrays::Array;
use crate::compile::{CompileOptions, DeadMemory};
use crate::expect::{Difference, first_difference};
use crate::failure::Failure;
use crate::intermediates;
use crate::interpret::interpret;
use crate::model::Model;

/// Options of a bisection.
pub struct BisectOptions<'a> {
    /// The available passes and rules.
    pub registry: &'a Registry,
    /// The pipeline.
    pub passes: &'a str,
    /// The options for compiling and running the program; dead memory is poisoned.
    pub compile: CompileOptions,
    /// The tolerance for outputs, as a share of their absolute maximum.
    pub tolerance: f64,
}

/// How a program is wrong after some passes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Trouble {
    /// It computes something else.
    Differs(Difference),
    /// A pass, the checker of plans, or the compiler refuses it, or panics.
    Fails(String),
}

/// The result of a bisection.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Bisected {
    /// The pass at fault; none if the machine code is wrong without any optional change.
    pub pass: Option<String>,
    /// The change at fault, where the pass counts its changes.
    pub change: Option<FaultyChange>,
    /// Whether the interpreter shows the difference; otherwise only a real run does.
    pub is_interpreted: bool,
    /// The difference.
    pub trouble: Trouble,
    /// The first value of the original program that differs, if it still differs when a run shows it.
    pub value: Option<FaultyValue>,
}

/// The change that makes a program wrong.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FaultyChange {
    /// Its number among the changes of the pass, from 1; `--stop-after=PASS:K` stops after it.
    pub number: u64,
    /// The number of changes of the pass.
    pub count: u64,
    /// A description of the change.
    pub what: String,
}

/// An intermediate value that is wrong.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FaultyValue {
    /// The operation of the original program that makes it.
    pub op: String,
    /// How it differs.
    pub difference: Difference,
}

/// Finds the pass that makes a program wrong on these inputs; none if it is right. `expected` contains the
/// correct outputs, by default those of the interpreter.
///
/// # Errors
/// If the pipeline is invalid, or the interpreter can't run the program.
pub fn bisect(
    module: &Module,
    entry: &str,
    inputs: &[Array],
    expected: Option<&[Array]>,
    options: &BisectOptions<'_>,
) -> Result<Option<Bisected>, Failure> {
    let computed = match expected {
        Some(_) => Vec::new(),
        None => interpret(module, entry, inputs)?,
    };
    let expected = expected.unwrap_or(&computed);
    let passes = options.invocations(module)?;
    let mut trial = Trial { module, entry, inputs, expected, options, passes, is_interpreted: true };
    let all = trial.passes.len();
    if let Some(trouble) = trial.trouble(all, &[]).trouble {
        let first = least(0, all, |count| trial.trouble(count, &[]).trouble.is_some());
        trial.passes.truncate(first);
        return Ok(Some(match trouble {
            Trouble::Differs(_) => trial.change_of(first - 1),
            Trouble::Fails(_) => trial.pass_at_fault(),
        }));
    }
    trial.is_interpreted = false;
    Ok(trial.trouble(all, &[]).trouble.map(|_| trial.pass_at_fault()))
}

/// How a program is wrong after all passes, in the interpreter, or else in a real run.
///
/// # Errors
/// As of [`bisect`].
pub fn trouble(
    module: &Module,
    entry: &str,
    inputs: &[Array],
    options: &BisectOptions<'_>,
) -> Result<Option<Trouble>, Failure> {
    let expected = &interpret(module, entry, inputs)?;
    let passes = options.invocations(module)?;
    let all = passes.len();
    let trial = Trial { module, entry, inputs, expected, options, passes, is_interpreted: true };
    let found = trial.trouble(all, &[]).trouble;
    Ok(found.or_else(|| Trial { is_interpreted: false, ..trial }.trouble(all, &[]).trouble))
}

/// How a program is wrong after all passes in the interpreter.
///
/// # Errors
/// As of [`bisect`].
pub fn interpreted_trouble(
    module: &Module,
    entry: &str,
    inputs: &[Array],
    options: &BisectOptions<'_>,
) -> Result<Option<Trouble>, Failure> {
    let expected = &interpret(module, entry, inputs)?;
    let passes = options.invocations(module)?;
    let all = passes.len();
    let trial = Trial { module, entry, inputs, expected, options, passes, is_interpreted: true };
    Ok(trial.trouble(all, &[]).trouble)
}

impl BisectOptions<'_> {
    /// The passes, in order.
    fn invocations(&self, module: &Module) -> Result<Vec<Invocation>, Failure> {
        let ctx = &module.ctx;
        let pipeline = Pipeline::parse(ctx, self.passes, self.registry);
        let pipeline = pipeline.map_err(|faults| Failure::diagnostics(ctx, &faults))?;
        Ok(pipeline.passes().into_iter().cloned().collect())
    }
}

/// The least number above `right` and up to `wrong` that satisfies `holds`. `wrong` must satisfy it, and so
/// must all numbers above the least one.
fn least(right: usize, wrong: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut right, mut wrong) = (right, wrong);
    while wrong - right > 1 {
        let middle = right + (wrong - right) / 2;
        if holds(middle) {
            wrong = middle;
        } else {
            right = middle;
        }
    }
    wrong
}

/// A program to be run through passes repeatedly.
struct Trial<'a> {
    module: &'a Module,
    entry: &'a str,
    inputs: &'a [Array],
    expected: &'a [Array],
    options: &'a BisectOptions<'a>,
    passes: Vec<Invocation>,
    /// Whether the interpreter runs the result; otherwise machine code does.
    is_interpreted: bool,
}

/// The result of a trial.
struct Tried {
    trouble: Option<Trouble>,
    /// The number of changes of each pass, and the last change if the pass was limited.
    changes: Vec<(u64, Option<String>)>,
}

impl Trial<'_> {
    /// The fault after the first `count` passes within some limits.
    fn trouble(&self, count: usize, limits: &[ChangeLimit]) -> Tried {
        let mut changes = Vec::new();
        let outputs = self.outputs(self.module, count, limits, &mut changes);
        let trouble = match outputs {
            Ok(outputs) => {
                first_difference(&outputs, self.expected, self.options.tolerance).map(Trouble::Differs)
            }
            Err(message) => Some(Trouble::Fails(message)),
        };
        Tried { trouble, changes }
    }

    /// The outputs after the first `count` passes.
    fn outputs(
        &self,
        module: &Module,
        count: usize,
        limits: &[ChangeLimit],
        changes: &mut Vec<(u64, Option<String>)>,
    ) -> Result<Vec<Array>, String> {
        let run = || self.run(&mut module.clone(), count, limits);
        let done = match catch_unwind(AssertUnwindSafe(run)) {
            Ok(done) => done.map_err(|failure| failure.to_string()),
            Err(panic) => Err(panic_text(&*panic)),
        };
        let (outputs, made) = done?;
        *changes = made;
        Ok(outputs)
    }

    #[expect(clippy::type_complexity, reason = "the pair is taken apart by its only caller")]
    fn run(
        &self,
        module: &mut Module,
        count: usize,
        limits: &[ChangeLimit],
    ) -> Result<(Vec<Array>, Vec<(u64, Option<String>)>), Failure> {
        let ctx = module.ctx.clone();
        let fail = |faults: Vec<ir::Diagnostic>| Failure::diagnostics(&ctx, &faults);
        let how = if self.is_interpreted { "interpreting" } else { "running" };
        let last = self.passes[..count].last().map(|pass| format!(" after {}", pass.def.name));
        self.options.compile.begins(&format!("{how}{}", last.unwrap_or_default()))?;
        let items = self.passes[..count].iter().cloned().map(PipelineItem::Pass).collect();
        let pipeline = Pipeline::new(items, self.options.registry).map_err(fail)?;
        let compile = CompileOptions {
            dead: DeadMemory::Poisoned,
            entry: Some(self.entry.to_owned()),
            ..self.options.compile.clone()
        };
        let debug = PassDebug { limits: limits.to_vec(), ..compile.debug.clone() };
        let options = RunOptions { threads: compile.threads, debug, ..RunOptions::new(compile.target()) };
        let report = pipeline.run(module, &options).map_err(fail)?;
        let outputs = match self.is_interpreted {
            true => interpret(module, self.entry, self.inputs)?,
            false => Model::compile(module, &compile)?.run(self.inputs)?,
        };
        Ok((outputs, report.changes.into_iter().map(|pass| (pass.count, pass.last)).collect()))
    }

    /// Limits that forbid all changes from one pass on.
    fn without(&self, first: usize) -> Vec<ChangeLimit> {
        let is_before = |name: &str| self.passes[..first].iter().any(|pass| pass.def.name == name);
        let later = self.passes[first..].iter().map(|pass| pass.def.name).filter(|name| !is_before(name));
        later.map(|name| ChangeLimit { pass: name.to_owned(), changes: 0 }).collect()
    }

    /// The pass at fault: the result is right without its changes and those of all later passes.
    fn pass_at_fault(&self) -> Bisected {
        let all = self.passes.len();
        let is_wrong = |first: usize| self.trouble(all, &self.without(first)).trouble.is_some();
        if is_wrong(0) {
            let failing = self.trouble(all, &self.without(0));
            let trouble = failing.trouble.expect("it was just seen");
            // If the passes fail, the last one is at fault.
            let pass = match (&trouble, self.is_interpreted) {
                (Trouble::Fails(_), true) => self.passes.last().map(|pass| pass.def.name.to_owned()),
                _ => None,
            };
            let value = self.value(all, &self.without(0));
            return Bisected { pass, change: None, is_interpreted: self.is_interpreted, trouble, value };
        }
        self.change_of(least(0, all, is_wrong) - 1)
    }

    /// The change at fault in a pass. Without its changes and those of later passes, the result is right.
    fn change_of(&self, pass: usize) -> Bisected {
        let all = self.passes.len();
        let name = self.passes[pass].def.name;
        let mut limits = self.without(pass + 1);
        let whole = self.trouble(all, &limits);
        let trouble = whole.trouble.expect("the pass was found at fault");
        let before: u64 = self.passes[..pass]
            .iter()
            .zip(&whole.changes)
            .filter(|(other, _)| other.def.name == name)
            .map(|(_, changes)| changes.0)
            .sum();
        let count = whole.changes.get(pass).map(|changes| changes.0);
        let limited = |number: usize| {
            let limit = ChangeLimit { pass: name.to_owned(), changes: before + number as u64 };
            [&limits[..], &[limit]].concat()
        };
        let is_wrong = |number: usize| self.trouble(all, &limited(number)).trouble.is_some();
        // A failed pass has not reported its number of changes.
        let count = count.unwrap_or_else(|| enough(&is_wrong));
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let mut change = None;
        if count > 0 && is_wrong(count) && !is_wrong(0) {
            let number = least(0, count, is_wrong);
            let what =
                self.trouble(all, &limited(number)).changes.get(pass).and_then(|changes| changes.1.clone());
            let what = what.or_else(|| self.described(pass, &limited(number)));
            change = Some(FaultyChange {
                number: number as u64,
                count: count as u64,
                what: what.unwrap_or_else(|| "all that the pass does".to_owned()),
            });
            limits = limited(number);
        }
        let value = self.value(all, &limits);
        let pass = Some(name.to_owned());
        Bisected { pass, change, is_interpreted: self.is_interpreted, trouble, value }
    }

    /// The description of a pass's last allowed change, if a later pass fails.
    fn described(&self, pass: usize, limits: &[ChangeLimit]) -> Option<String> {
        let prefix = Trial { passes: self.passes[..=pass].to_vec(), is_interpreted: true, ..*self };
        prefix.trouble(pass + 1, limits).changes.get(pass)?.1.clone()
    }

    /// The first value of the original program that differs when all values are outputs too.
    fn value(&self, count: usize, limits: &[ChangeLimit]) -> Option<FaultyValue> {
        let mut module = self.module.clone();
        let shown = intermediates::show(&mut module, self.entry, None).ok()?;
        let expected = interpret(&module, self.entry, self.inputs).ok()?;
        let found = self.outputs(&module, count, limits, &mut Vec::new()).ok()?;
        let first = expected.len().checked_sub(shown.len())?;
        let pairs = shown.into_iter().zip(found.get(first..)?.iter().zip(&expected[first..]));
        pairs.into_iter().find_map(|(value, (found, expected))| {
            let difference = crate::expect::difference(found, expected, self.options.tolerance)?;
            Some(FaultyValue { op: value.op, difference })
        })
    }
}

/// A number of changes, a power of two, for which the result is wrong.
fn enough(is_wrong: &dyn Fn(usize) -> bool) -> u64 {
    (0..24).map(|power| 1u64 << power).find(|count| is_wrong(*count as usize)).unwrap_or(0)
}

/// The message of a panic.
fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().map(str::to_owned);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    format!("a panic: {}", text.unwrap_or_default())
}
