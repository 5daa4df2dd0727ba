//! The integration tests: laws, models, damage, random programs and the house rules. They are one test
//! program, since linking the compiler takes seconds: `cargo test -p optc-tests --test it NAME` runs the
//! tests of a file. The lit files have a program of their own.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use runtime::CountingAllocator;

mod aarch64;
mod any_size;
mod artifacts;
mod bad_text;
mod bound;
mod checker_rules;
mod conformance;
mod control_flow;
#[cfg(test)]
mod corpus;
mod damaged_artifacts;
mod damaged_models;
mod damaged_plans;
mod dims_laws;
mod every_row;
mod examples;
mod faster_methods;
mod group_forms;
mod hostile_models;
mod imported_models;
mod integers;
mod kernel_layouts;
mod kernel_rows;
mod kernel_sizes;
mod known_failures;
mod laws;
mod lines;
mod long_programs;
mod memory;
mod memory_pools;
mod models;
mod node_sizes;
mod object_files;
mod object_sizes;
mod onnx_nodes;
mod onnx_table;
mod onnx_types;
mod open;
mod open_views;
mod overlap;
mod parts;
mod pipelines;
mod placements;
mod plan_and_place;
mod plan_table;
mod planted_faults;
mod precision;
mod protobuf;
mod random_flow;
mod random_graphs;
mod random_modules;
mod random_plans;
mod random_sizes;
mod readme;
mod reduce;
mod reference;
mod required_sizes;
mod resources;
mod same_results;
mod scalar;
mod security;
mod sequences;
mod shapes;
mod states;
mod strings;
mod symbolic;
mod target_cpu;
mod tidy;
mod verifier;
mod views;
mod weight_files;
// The writer of ONNX files, shared by the importer's tests and these.
#[path = "../../../import/tests/it/writer.rs"]
mod writer;

/// Counts the allocations of a test on request; see [`CountingAllocator::measure`].
#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::new();

/// The CPU time of this thread; if the system does not report it, the elapsed time.
fn cpu_time() -> Duration {
    static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    let said = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = said.and_then(|said| said.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| BEGIN.elapsed(), Duration::from_nanos)
}

/// What the first of five tries finds slow, if all of them find something: on a busy machine, some may.
fn slow_in_each(slow_try: impl Fn() -> Option<String>) -> Option<String> {
    const TRIES: usize = 5;
    let tries: Option<Vec<String>> = (0..TRIES).map(|_| slow_try()).collect();
    tries.and_then(|tries| tries.into_iter().next())
}
