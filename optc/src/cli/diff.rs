//! `optc diff`: the differences of two programs, or of two plans.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::output::{instead, json};
use super::summary::bytes;
use super::{CompareOutcome, write_output};
use crate::failure::Failure;
use crate::load::{LoadOptions, load};
use crate::module_diff::{FunctionDiff, ModuleDiff, OpChange, PlanDiff};
use crate::opt::Setup;
use import::onnx::StrippedWeights;

/// Show how two programs, or two plans, differ.
///
/// Operations are matched by what they compute and read, not by the names of values. A summary comes first,
/// then operations that were added, removed and changed; for plans also the arena, and values that moved,
/// live longer, or overwrite an operand. Exit status: 0 if the two are equal, 1 if they differ, 2 if one
/// can't be read.
///
/// Example:
///   optc diff before.mlir after.mlir
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(super) struct DiffArgs {
    /// IR text, a model, or an artifact (its plan).
    before: PathBuf,
    /// The program to compare it with: IR text, a model, or an artifact.
    after: PathBuf,
    /// Generate the missing weights of weight-stripped models from the recipe in their metadata.
    #[arg(long)]
    synthesize_weights: bool,
    /// Maximum number of lines of each kind.
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// Write the differences as JSON to a file; `-` prints them instead of the text.
    #[arg(long, value_name = "F.json")]
    json: Option<PathBuf>,
}

/// What `--json` writes.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct DiffReport<'a> {
    version: u32,
    differs: bool,
    #[serde(flatten)]
    diff: &'a ModuleDiff,
}

pub(super) fn run(setup: &Setup, args: &DiffArgs) -> Result<CompareOutcome, Failure> {
    let stripped =
        if args.synthesize_weights { StrippedWeights::Synthesize } else { StrippedWeights::Refuse };
    let options = LoadOptions { stripped, dialects: setup.dialects.clone(), ..LoadOptions::default() };
    // A file that can't be read is no difference: the exit status is that of wrong usage.
    let read = |path| load(path, &options).map_err(|failure| Failure::Usage(failure.to_string()));
    let diff = ModuleDiff::of(&read(&args.before)?, &read(&args.after)?);
    let report = DiffReport { version: 1, differs: !diff.is_empty(), diff: &diff };
    let text = if diff.is_empty() { "the two are the same\n".to_owned() } else { diff.text(args.top) };
    write_output(&instead(&args.json, || json(&report), text)?, None)?;
    Ok(if diff.is_empty() { CompareOutcome::Same } else { CompareOutcome::Different })
}

/// The first lines of one kind.
fn list(title: &str, lines: &[String], top: usize) -> String {
    let mut text: String = lines.iter().take(top).map(|line| format!("  {title} {line}\n")).collect();
    if lines.len() > top {
        text += &format!("  {title} ... and {} more\n", lines.len() - top);
    }
    text
}

fn changes(title: &str, changes: &[OpChange], top: usize) -> String {
    let line = |change: &OpChange| format!("{}: {}", change.op, change.changes.join(", "));
    list(title, &changes.iter().map(line).collect::<Vec<_>>(), top)
}

impl ModuleDiff {
    fn text(&self, top: usize) -> String {
        let functions = self.functions.iter().map(|function| function.text(top));
        list("function added", &self.added, top)
            + &list("function removed", &self.removed, top)
            + &functions.collect::<String>()
    }
}

impl FunctionDiff {
    fn text(&self, top: usize) -> String {
        let FunctionDiff { name, same, reordered, signature, added, removed, changed, plan } = self;
        let counts = [(changed.len(), "changed"), (added.len(), "added"), (removed.len(), "removed")];
        let counts: String = counts.iter().map(|(count, what)| format!(", {count} {what}")).collect();
        let mut text = format!("{name}: {same} operations are the same{counts}\n");
        if *reordered > 0 {
            text += &format!("  {reordered} operations stand in another order\n");
        }
        text += &list("function", signature, top);
        text +=
            &(changes("changed", changed, top) + &list("added", added, top) + &list("removed", removed, top));
        text + &plan.as_ref().map_or_else(String::new, |plan| plan.text(top))
    }
}

impl PlanDiff {
    fn text(&self, top: usize) -> String {
        let [before, after] = self.arena_bytes;
        let [bound_before, bound_after] = self.bound_bytes;
        let mut text = format!("  arena {} -> {}", bytes(before), bytes(after));
        text += &format!(" (bound {} -> {})\n", bytes(bound_before), bytes(bound_after));
        let [peak_before, peak_after] = &self.peaks;
        let [live_before, live_after] = self.peak_bytes.map(bytes);
        text += &format!("  peak at {peak_before}: {live_before} -> at {peak_after}: {live_after}\n");
        text += &list("tie gained", &self.ties_gained, top);
        text += &list("tie lost", &self.ties_lost, top);
        text += &list("lives longer", &self.longer, top);
        text += &list("lives shorter", &self.shorter, top);
        text += &list("moved", &self.moved, top);
        text + &changes("decided otherwise", &self.decisions, top)
    }
}
