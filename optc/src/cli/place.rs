//! `optc place`: offsets for a placement problem from a CSV file.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use ir::memory_pools::parse_bytes;
use passes::place::{self, PlannerOptions, checker, csv};
use serde::Serialize;

use super::limits::parse_seconds;
use super::output::{check_writable, instead, is_stdout, json};
use super::{progress, write_output};
use crate::failure::{Failure, Fault};
use crate::load::read_text;

/// Solve a placement problem from a CSV file.
#[derive(Args)]
pub(super) struct PlaceArgs {
    /// The problem: a CSV file, or `-` for standard input, with columns id, lower, upper, size; the live
    /// ranges `[lower, upper)` are half-open.
    problem: PathBuf,
    /// Bytes that the placement must fit into, also as `512KiB` or `4.9M`; exit status 1 if no such placement
    /// is found.
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    capacity: Option<u64>,
    /// Search for this many seconds, or until a placement is optimal [default: as long as `optc plan` does].
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    timeout: Option<Duration>,
    /// Write the problem with a column `offset` to a file; `-` prints it instead of the summary.
    #[arg(long, value_name = "S.csv")]
    out: Option<PathBuf>,
    /// Write the summary as JSON to a file; `-` prints it instead of the text.
    #[arg(long, value_name = "F.json")]
    json: Option<PathBuf>,
}

/// What `--json` writes.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct PlaceReport {
    version: u32,
    /// The size of the placement in bytes.
    size_bytes: u64,
    /// A lower bound of all placements.
    lower_bound_bytes: u64,
    /// Whether no placement takes fewer bytes than this one.
    proved_best: bool,
    /// The planner that found it.
    planner: &'static str,
    seconds: f64,
}

/// The limit of nodes of the search for a capacity: a few seconds at most.
const MAX_NODES: u64 = 1_000_000;

pub(super) fn run(args: &PlaceArgs) -> Result<(), Failure> {
    if [&args.out, &args.json].iter().all(|path| path.as_ref().is_some_and(|path| is_stdout(path))) {
        return Err(Failure::Usage("--out and --json can't both go to standard output".to_owned()));
    }
    check_writable(args.out.iter().chain(&args.json))?;
    let (name, text) = read_text(&args.problem)?;
    let mut table = csv::read(&text).map_err(|faults| {
        let fault = |fault: &csv::CsvError| {
            Fault::new(format!("{name}:{}:{}: {}", fault.line, fault.column, fault.message))
        };
        Failure::Input(faults.iter().map(fault).collect())
    })?;
    table.problem.capacity = args.capacity;
    let start = Instant::now();
    let options = PlannerOptions { threads: runtime::available_threads(), ..PlannerOptions::default() };
    let max_nodes = match args.timeout {
        Some(_) => u64::MAX,
        None if args.capacity.is_some() => MAX_NODES,
        None => options.max_nodes,
    };
    let is_over = || args.timeout.is_some_and(|limit| start.elapsed() >= limit);
    let watch = |size_bytes: u64, bound_bytes: u64| {
        let gap = 100.0 * (size_bytes as f64 / bound_bytes.max(1) as f64 - 1.0);
        progress::say(&format!("placing: {size_bytes} bytes, bound {bound_bytes} bytes, gap {gap:.3} %"));
    };
    let options = PlannerOptions { max_nodes, ..options };
    let placement = place::place_watched(&table.problem, &options, &is_over, Arc::new(watch));
    if let Some(path) = &args.out {
        write_output(&csv::write(&table.problem, &table.names, Some(&placement)), Some(path))?;
    }
    let report = PlaceReport {
        version: 1,
        size_bytes: placement.size_bytes,
        lower_bound_bytes: placement.lower_bound_bytes,
        proved_best: placement.proved_best,
        planner: placement.planner,
        seconds: start.elapsed().as_secs_f64(),
    };
    let printed = match &args.out {
        Some(path) if is_stdout(path) => String::new(),
        _ => report.text(100.0 * placement.gap()),
    };
    write_output(&instead(&args.json, || json(&report), printed)?, None)?;
    let faults = checker::check_placement(&table.problem, &placement);
    Failure::unless_none(faults.iter().map(ToString::to_string))
}

impl PlaceReport {
    fn text(&self, gap_percent: f64) -> String {
        let PlaceReport { size_bytes, lower_bound_bytes, planner, seconds, .. } = self;
        let proved = if self.proved_best { ", optimal for these lifetimes" } else { "" };
        format!(
            "size {size_bytes} bytes, bound {lower_bound_bytes} bytes, gap {gap_percent:.3} %{proved}, \
             planner {planner}, {seconds:.3} s\n"
        )
    }
}
