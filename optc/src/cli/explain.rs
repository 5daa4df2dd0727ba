//! `optc explain`: the peak of an arena, options that would lower it, and the place of a value.

use std::cmp::Reverse;
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use ir::dims::Ranges;
use ir::plan::signature::Signature;
use ir::{Diagnostic, Module};
use serde::Serialize;

use super::compiled::CompileArgs;
use super::fewer_samples::fewer_samples;
use super::inputs::InputArgs;
use super::output::{check_writable, instead, json};
use super::summary::{arena_text, bytes, counted};
use super::{FileArgs, progress, write_output};
use crate::compile::{CompileOptions, DeadMemory, entry};
use crate::explain::{ArenaOverTime, Explained, LiveBuffer, node_text, said};
use crate::failure::Failure;
use crate::levers::{Advice, Lever, SizeToHalve, all_changes, changes_at_named_sizes, levers_at_named_sizes};
use crate::measure::{MeasureLimit, RunsInTurn};
use crate::opt::Setup;
use crate::plan_report::{StepReport, ValueReport};
use crate::step_work::StepWork;

/// The limit of columns in a line of bars.
pub(super) const COLUMNS: usize = 64;

/// Explain the peak of the arena and what would lower it, or the place of one value.
#[derive(Args)]
pub(super) struct ExplainArgs {
    #[command(flatten)]
    file: FileArgs,
    /// What to explain: `peak`, the number of a step, the name of a value in the printed plan (`%12`), or of
    /// a model's node, input or output.
    #[arg(value_name = "WHAT", default_value = "peak")]
    what: String,
    #[command(flatten)]
    compile: CompileArgs,
    /// Number of timed runs with each suggested option, on pseudo-random inputs, alternating with runs
    /// without it: the slowdown is the ratio of the medians. `--measure=0` times none [default: 5 if a run
    /// takes less than a second, within about 5 seconds in total].
    #[arg(long, value_name = "RUNS", num_args = 0..=1, require_equals = true, default_missing_value = "9")]
    measure: Option<u16>,
    /// Maximum number of listed buffers of a step, or of values that use a value's bytes at other times.
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// Write the explanation as JSON to a file; `-` prints it instead of the text.
    #[arg(long, value_name = "F.json")]
    json: Option<PathBuf>,
    /// Write the explanation to a file.
    #[arg(short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// The time limit of measurements that were not requested.
const LIMIT: MeasureLimit = MeasureLimit { run: Duration::from_secs(1), all: Duration::from_secs(5) };

/// The limit of work of a program that is run without a request: about a second on one core, and weights that
/// fit into memory twice.
const MOST_WORK: StepWork = StepWork { bytes: 2 << 30, flops: 100_000_000_000 };

/// The default number of timed runs.
const RUNS: u16 = 5;

pub(super) fn run(setup: &Setup, args: &ExplainArgs) -> Result<(), Failure> {
    write_output(&explained(setup, args, args.measure.unwrap_or(RUNS))?, args.output.as_ref())
}

/// The printed text without times.
pub(super) fn text(setup: &Setup, args: &ExplainArgs) -> Result<String, Failure> {
    explained(setup, args, 0)
}

/// The printed text with this number of timed runs.
fn explained(setup: &Setup, args: &ExplainArgs, runs: u16) -> Result<String, Failure> {
    check_writable(args.json.iter().chain(&args.output))?;
    let limits = args.compile.limits.hold()?;
    progress::say("loading");
    let module = args.compile.load(&args.file.file, &args.file.plan_options(setup)?)?;
    let entry = entry(&module, args.compile.entry.as_deref())?;
    let options = args.compile.options(setup, &entry, DeadMemory::Kept)?;
    let explained = Explained::of(&module, &entry, &options, &[])?;
    if args.what == "peak" {
        let mut found = if explained.sizes.is_empty() {
            explained.levers(&module, all_changes(&module, &explained.entry, &options))
        } else {
            let sizes = sizes_to_halve(&module, &explained);
            let changes = changes_at_named_sizes(&module, &explained.entry, &options, &sizes);
            levers_at_named_sizes(&module, &options, changes)
        };
        drop(limits);
        if runs > 0 {
            measure(&mut found, &module, &explained, &options, (runs, args.measure.is_some()))?;
        }
        let mut found: Vec<Lever> = found.into_iter().map(|advice| advice.lever).collect();
        if explained.sizes.is_empty() {
            let arena_bytes = explained.memory.arena_bytes;
            found.extend(fewer_samples(
                (setup, &args.file),
                &module,
                &explained.entry,
                &options,
                arena_bytes,
            ));
        }
        found.sort_by_key(|lever| Reverse(lever.saved_bytes));
        return explained.peak(&found, runs, args);
    }
    if let Ok(step) = args.what.parse::<usize>() {
        return explained.step(step, args);
    }
    explained.value(args)
}

/// The named sizes at which a program is explained, with the least value of each.
fn sizes_to_halve(module: &Module, explained: &Explained) -> Vec<SizeToHalve> {
    let body = module.function(&explained.entry).expect("the entry was planned");
    let ranges = Ranges::of_function(&module.ctx, body);
    let size = |(name, planned): &(String, u64)| SizeToHalve {
        name: name.clone(),
        least: ranges.of(module.ctx.ident(name)).0,
        planned: *planned,
    };
    explained.sizes.iter().map(size).collect()
}

/// Measures the slowdown of each piece of advice with this number of runs. Of those that save equally much,
/// the fastest then comes first. Without a request, measurements that are impossible or slow are skipped.
fn measure(
    found: &mut [Advice],
    module: &Module,
    explained: &Explained,
    options: &CompileOptions,
    (runs, is_asked): (u16, bool),
) -> Result<(), Failure> {
    let StepWork { bytes, flops } = explained.work();
    if !is_asked && (bytes > MOST_WORK.bytes || flops > MOST_WORK.flops) {
        return Ok(());
    }
    progress::say("measuring");
    let sizes = explained.sizes.iter().cloned().collect();
    let others: Vec<&CompileOptions> = found.iter().map(|advice| &advice.options).collect();
    let limit = (!is_asked).then_some(LIMIT);
    let inputs = InputArgs::random_arrays(module, &explained.entry, &sizes);
    let ratios = inputs.and_then(|inputs| {
        let sizes = &explained.sizes[..];
        RunsInTurn { module, inputs: &inputs, sizes, runs: runs.into(), limit }.ratios(options, &others)
    });
    let ratios = match ratios {
        Err(_) if !is_asked => return Ok(()),
        ratios => ratios?,
    };
    found.iter_mut().zip(ratios).for_each(|(advice, ratio)| advice.lever.run_ratio = ratio);
    let ratio = |advice: &Advice| advice.lever.run_ratio.unwrap_or(f64::INFINITY);
    found.sort_by(|a, b| {
        let more_bytes = b.lever.saved_bytes.cmp(&a.lever.saved_bytes);
        more_bytes.then(ratio(a).total_cmp(&ratio(b)))
    });
    Ok(())
}

impl Explained {
    /// The work of all steps.
    fn work(&self) -> StepWork {
        let (ctx, body) = (&self.planned.ctx, self.body());
        let ops = body.entry(body.root()).into_iter().flat_map(|block| body.ops(block));
        ops.map(|op| StepWork::of(ctx, body, op)).fold(StepWork::default(), |all, step| StepWork {
            bytes: all.bytes.saturating_add(step.bytes),
            flops: all.flops.saturating_add(step.flops),
        })
    }

    /// The line with the sizes of the plan; empty without named sizes.
    fn sizes_text(&self) -> String {
        if self.sizes.is_empty() {
            return String::new();
        }
        let sizes: Vec<String> = self.sizes.iter().map(|(name, size)| format!("{name} = {size}")).collect();
        format!("at {}:\n", sizes.join(", "))
    }

    fn peak(&self, levers: &[Lever], runs: u16, args: &ExplainArgs) -> Result<String, Failure> {
        let report = PeakJson { version: 1, sizes: &self.sizes, memory: &self.memory, levers };
        let mut text = self.sizes_text() + &arena_text(&self.report) + &peak_text(&self.memory, args.top);
        text += &levers_text(if self.is_at_greatest { "at all sizes" } else { "" }, levers);
        if runs > 0 && levers.iter().any(|lever| lever.run_ratio.is_none()) {
            text += "options without a time were not measured (--measure measures all)\n";
        }
        instead(&args.json, || json(&report), text)
    }

    fn step(&self, step: usize, args: &ExplainArgs) -> Result<String, Failure> {
        // If nothing is ever live, no step has live bytes.
        let last = self.memory.live_bytes.len().max(self.memory.steps.len()).checked_sub(1);
        if last.is_none_or(|last| step > last) {
            let why = last.map_or("it has none".to_owned(), |last| format!("the last one is {last}"));
            return Err(Failure::input(format!("there is no step {step}: {why}")));
        }
        let live_bytes = self.memory.live_bytes.get(step).copied().unwrap_or(0);
        let live: Vec<&LiveBuffer> = self.memory.live_at(step).collect();
        let report = StepJson { version: 1, sizes: &self.sizes, step, live_bytes, live };
        let header = format!("{}: {} are live\n", self.memory.step_text(step), bytes(live_bytes));
        let text = self.sizes_text() + &header + &buffers_text(&self.memory, step, args.top);
        instead(&args.json, || json(&report), text)
    }

    fn value(&self, args: &ExplainArgs) -> Result<String, Failure> {
        let value = self.find(&args.what)?;
        let shares: Vec<&ValueReport> =
            self.values().filter(|other| other.root == value.root && other.name != value.name).collect();
        let is_elsewhen = |other: &&ValueReport| {
            let is_apart = other.last < value.first || value.last < other.first;
            let ends = [value, other].map(|value| value.offset + value.size_bytes);
            let meets = match value.is_with_caller() {
                true => value.offset == other.offset,
                false => value.offset < ends[1] && other.offset < ends[0],
            };
            is_apart && meets && other.pool == value.pool && other.root != value.root
        };
        let same_bytes: Vec<&ValueReport> = self.values().filter(is_elsewhen).collect();
        let remarks = self.remarks_on(value);
        let maker = self.memory.steps.iter().find(|step| step.index == value.step);
        let (op, node) = maker.map_or(("", ""), |step| (&*step.op, &*step.name));
        let found =
            ValueJson { version: 1, sizes: &self.sizes, value, op, node, shares, same_bytes, remarks };
        let text = self.sizes_text() + &self.value_text(&found, args.top);
        instead(&args.json, || json(&found), text)
    }

    fn values(&self) -> impl Iterator<Item = &ValueReport> {
        self.report.values.iter()
    }

    /// Finds a value by its name in the plan, with or without `%`, or by the name of the model's node, of a
    /// value in the source text, or of the function's argument or result.
    fn find(&self, what: &str) -> Result<&ValueReport, Failure> {
        let name = format!("%{}", what.trim_start_matches('%'));
        let bare = &name[1..];
        let is_named = |step: &&StepReport| step.name == what || bare == step.name;
        // Steps that prepare an operand of a node also have its name; the last one computes the node's
        // result.
        let node = self.memory.steps.iter().filter(|step| !step.name.is_empty()).rfind(is_named);
        let made = |value: &&ValueReport| node.is_some_and(|node| value.step == node.index);
        let by_name = |name: &str| self.values().find(|value| value.name == name);
        let signature = self.named_in_signature()?;
        let named = || signature.iter().find(|(known, _)| known == what || known == bare);
        let found = by_name(&name).or_else(|| by_name(what));
        let found = found.or_else(|| self.values().filter(|value| value.kind != "input").find(made));
        found.or_else(|| by_name(&named()?.1)).ok_or_else(|| {
            let names = self.values().map(|value| value.name.as_str());
            let nodes = self.memory.steps.iter().map(|step| step.name.as_str());
            let others = signature.iter().map(|(name, _)| name.as_str());
            let known = names.chain(nodes).chain(others).filter(|name| !name.is_empty());
            let hint = ir::diag::did_you_mean(what, known);
            let hint = hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
            Failure::input(format!("the plan has no value or node `{what}`{hint}"))
        })
    }

    /// The names of the function's arguments and results, with the names of their values in the plan.
    fn named_in_signature(&self) -> Result<Vec<(String, String)>, Failure> {
        let (ctx, body) = (&self.planned.ctx, self.body());
        let Some(block) = body.entry(body.root()) else { return Ok(Vec::new()) };
        let names = crate::plan_report::names(body, block);
        let signature = Signature::of(ctx, body).map_err(Failure::input)?;
        let returned = body.last_op(block).into_iter().flat_map(|op| body.operands(op));
        let args = signature.args.into_iter().map(|arg| arg.name);
        let args = args.zip(body.args(block).iter().copied());
        let results = signature.results.into_iter().map(|result| result.name).zip(returned);
        Ok(args.chain(results).map(|(name, value)| (name, names[value].clone())).collect())
    }

    /// The remarks of passes on the operation that computes a value and on its readers; each remark with the
    /// first of these operations that it belongs to.
    fn remarks_on(&self, value: &ValueReport) -> Vec<RemarkJson> {
        let (ctx, body) = (&self.planned.ctx, self.body());
        let Some(block) = body.entry(body.root()) else { return Vec::new() };
        let names = crate::plan_report::names(body, block);
        let mut told: Vec<&Diagnostic> = Vec::new();
        let mut remarks = Vec::new();
        for (op, remark) in self.remarks_by_op() {
            let mut values = body.results(op).chain(body.operands(op));
            if !values.any(|known| names[known] == value.name) || told.contains(&remark) {
                continue;
            }
            told.push(remark);
            let makes = body.results(op).next().map(|result| names[result].clone());
            let (op, node) = said(ctx, body, op);
            let message = remark.message.clone();
            remarks.push(RemarkJson { op, node, makes, message, notes: remark.note_texts(ctx) });
        }
        remarks
    }

    fn value_text(&self, found: &ValueJson<'_>, top: usize) -> String {
        let ValueReport { name, pool, offset, size_bytes, first, last, kind, .. } = found.value;
        let maker = if found.op.is_empty() {
            String::new()
        } else {
            format!(", of {}", node_text(found.op, found.node))
        };
        let mut text = format!("{name}: {kind}{maker}, {}\n", bytes(*size_bytes));
        let until = self.memory.step_text(*last);
        say(&mut text, &format!("live from step {first} to its last reader, {until}"));
        match found.value.is_with_caller() {
            true => say(&mut text, &format!("is in the caller's {pool} {offset}")),
            false => say(&mut text, &format!("is in `{pool}`, bytes {offset} to {}", offset + size_bytes)),
        }
        if !found.shares.is_empty() {
            let names: Vec<&str> = found.shares.iter().map(|value| value.name.as_str()).collect();
            say(&mut text, &format!("shares a buffer with {} (overwritten, or views)", names.join(", ")));
        }
        let (mut before, mut after): (Vec<&ValueReport>, Vec<&ValueReport>) =
            found.same_bytes.iter().partition(|other| other.last < *first);
        // The nearest in time come first.
        before.sort_by_key(|other| Reverse(other.last));
        after.sort_by_key(|other| other.first);
        for (when, others) in [("before", before), ("after", after)] {
            for ValueReport { name, first, last, .. } in others.iter().take(top) {
                say(&mut text, &format!("{when} it, in the same bytes: {name}, steps {first} to {last}"));
            }
            if others.len() > top {
                say(&mut text, &format!("{when} it, in the same bytes: {} more", others.len() - top));
            }
        }
        for RemarkJson { op, node, makes, message, notes } in &found.remarks {
            let makes = makes.as_ref().map_or(String::new(), |name| format!(", which makes {name}"));
            say(&mut text, &format!("remark on {}{makes}: {message}", node_text(op, node)));
            notes.iter().for_each(|note| say(&mut text, &format!("  {note}")));
        }
        text
    }
}

fn say(text: &mut String, line: &str) {
    writeln!(text, "  {line}").expect("text is written to memory");
}

/// The live bytes of all steps, and the buffers live at the peak.
pub(super) fn peak_text(memory: &ArenaOverTime, top: usize) -> String {
    let Some(live_bytes) = memory.live_bytes.get(memory.peak) else { return String::new() };
    let bars = format!("live bytes, step 0 to {}: |{}|\n", memory.live_bytes.len() - 1, memory.bars(COLUMNS));
    let shared = match live_bytes.saturating_sub(memory.arena_bytes) {
        0 => String::new(),
        _ => ", some overlapping others".to_owned(),
    };
    let at = memory.step_text(memory.peak);
    let header = format!("peak at {at}: {} are live{shared}\n", bytes(*live_bytes));
    bars + &header + &buffers_text(memory, memory.peak, top)
}

fn buffers_text(memory: &ArenaOverTime, step: usize, top: usize) -> String {
    let mut text = String::new();
    for buffer in memory.live_at(step).take(top) {
        let LiveBuffer { value, ty, op, node, size_bytes, first, last } = buffer;
        let made = node_text(op, node);
        let what = match (ty, value) {
            (None, _) => format!("scratch of {made}"),
            (Some(ty), Some(value)) => format!("{value}: {ty} of {made}, steps {first} to {last}"),
            (Some(ty), None) => format!("{ty} of {made}, steps {first} to {last}"),
        };
        writeln!(text, "{size_bytes:>12} bytes  {what}").expect("text is written to memory");
    }
    let all = memory.live_at(step).count();
    if all > top {
        let rest: u64 = memory.live_at(step).skip(top).map(|buffer| buffer.size_bytes).sum();
        writeln!(text, "{rest:>12} bytes  in {} more", all - top).expect("text is written to memory");
    }
    text
}

/// What would lower the arena, a line for each; `at` says at which sizes, if that is not said before.
pub(super) fn levers_text(at: &str, levers: &[Lever]) -> String {
    if levers.is_empty() {
        return String::new();
    }
    let at = if at.is_empty() { String::new() } else { format!(" {at}") };
    let mut text = format!("options for a smaller arena{at}, each tried by planning again:\n");
    for Lever { flags, replaces, runs, arena_bytes, saved_bytes, steps, run_ratio } in levers {
        let place = replaces.as_ref().map_or(String::new(), |flag| format!(" in place of {flag}"));
        let steps = counted(*steps, "step");
        let time = run_ratio.map_or(String::new(), |ratio| format!("; a run takes {ratio:.2} times as long"));
        let runs = if *runs == 1 { String::new() } else { format!("; {runs} runs for the same samples") };
        let arena = bytes(*arena_bytes);
        let line = format!("  {flags}{place}: {arena}, {saved_bytes} bytes fewer; {steps}{time}{runs}");
        writeln!(text, "{line}").expect("text is written to memory");
    }
    text
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct PeakJson<'a> {
    version: u32,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    sizes: &'a [(String, u64)],
    #[serde(flatten)]
    memory: &'a ArenaOverTime,
    levers: &'a [Lever],
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct StepJson<'a> {
    version: u32,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    sizes: &'a [(String, u64)],
    step: usize,
    live_bytes: u64,
    live: Vec<&'a LiveBuffer>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ValueJson<'a> {
    version: u32,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    sizes: &'a [(String, u64)],
    value: &'a ValueReport,
    op: &'a str,
    node: &'a str,
    /// The values that have the same buffer.
    shares: Vec<&'a ValueReport>,
    /// The values that have some of its bytes at other times.
    same_bytes: Vec<&'a ValueReport>,
    /// What passes remarked about the operations that make and read it.
    remarks: Vec<RemarkJson>,
}

/// What a pass remarked about an operation.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct RemarkJson {
    op: String,
    /// The name of the model's node, if any.
    node: String,
    /// The first value that it makes.
    #[serde(skip_serializing_if = "Option::is_none")]
    makes: Option<String>,
    message: String,
    /// What else there is to see, each with its place.
    notes: Vec<String>,
}
