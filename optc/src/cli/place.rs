//! `optc place`: offsets for a placement problem from a CSV file.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use ir::memory_pools::parse_bytes;
use passes::place::{self, PlannerOptions, checker, csv};

use super::output::is_stdout;
use super::write_output;
use crate::failure::{Failure, Fault};
use crate::load::read_text;

/// Solve a placement problem from a CSV file.
#[derive(Args)]
pub(super) struct PlaceArgs {
    /// The problem, a file or `-` for standard input: columns id, lower, upper, size; half-open lifetimes.
    problem: PathBuf,
    /// Bytes that the placement must fit into, also as `512KiB` or `4.9M`; exit status 1 where none is found
    /// that does.
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    capacity: Option<u64>,
    /// Search for as many seconds, or until a placement is optimal; else as long as `optc plan` does.
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<f64>,
    /// Write the problem with a column `offset` to a file, or `-`: to standard output, in place of the
    /// summary.
    #[arg(long, value_name = "S.csv")]
    out: Option<PathBuf>,
}

/// Nodes that the search may look at to meet a capacity: seconds at the most.
const MAX_NODES: u64 = 1_000_000;

pub(super) fn run(args: &PlaceArgs) -> Result<(), Failure> {
    let (name, text) = read_text(&args.problem)?;
    let mut table = csv::read(&text).map_err(|faults| {
        let fault = |fault: &csv::CsvError| {
            Fault::new(format!("{name}:{}:{}: {}", fault.line, fault.column, fault.message))
        };
        Failure::Input(faults.iter().map(fault).collect())
    })?;
    table.problem.capacity = args.capacity;
    let start = Instant::now();
    let limit = args.timeout.map(Duration::try_from_secs_f64).transpose();
    let limit = limit.map_err(|_| Failure::Usage("--timeout takes a number of seconds".to_owned()))?;
    let options = PlannerOptions { threads: runtime::available_threads(), ..PlannerOptions::default() };
    let placement = match limit {
        Some(limit) => {
            let options = PlannerOptions { max_nodes: u64::MAX, ..options };
            place::place_until(&table.problem, &options, &|| start.elapsed() >= limit)
        }
        None if args.capacity.is_some() => {
            place::place(&table.problem, &PlannerOptions { max_nodes: MAX_NODES, ..options })
        }
        None => place::place(&table.problem, &options),
    };
    if let Some(path) = &args.out {
        write_output(&csv::write(&table.problem, &table.names, Some(&placement)), Some(path))?;
    }
    let proved = if placement.proved_best { ", optimal for these lifetimes" } else { "" };
    let report = format!(
        "size {} bytes, bound {} bytes, gap {:.3} %{proved}, planner {}, {:.3} s\n",
        placement.size_bytes,
        placement.lower_bound_bytes,
        100.0 * placement.gap(),
        placement.planner,
        start.elapsed().as_secs_f64(),
    );
    if args.out.as_ref().is_none_or(|path| !is_stdout(path)) {
        write_output(&report, None)?;
    }
    let faults = checker::check_placement(&table.problem, &placement);
    Failure::unless_none(faults.iter().map(ToString::to_string))
}
