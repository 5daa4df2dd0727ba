//! Known placement problems of others, which have solutions of known sizes. Only sizes are asserted, never
//! times.
//!
//! `tests/data/placements` has one of google/minimalloc's benchmarks (Apache-2.0) and its example.
//! `OPTC_DATA` names a folder with the others, `minimalloc/*.CAPACITY.csv`, and with those of
//! cappadokes/idealloc, `large/*.csv`.

use std::path::Path;

use passes::place::checker::check_placement;
use passes::place::{Placement, PlannerOptions, Problem, csv, place};
use tests::given::given;
use tests::workspace::root;

fn read(path: &Path) -> Problem {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    csv::read(&text).unwrap_or_else(|errors| panic!("{}: {:?}", path.display(), errors)).problem
}

fn place_judged(problem: &Problem) -> Placement {
    let placement = place(problem, &PlannerOptions { max_nodes: 1_000_000, threads: 2 });
    assert_eq!(check_placement(problem, &placement), []);
    placement
}

#[test]
#[cfg_attr(not(given = "OPTC_DATA"), ignore = "needs OPTC_DATA")]
fn each_problem_of_minimalloc_fits_its_capacity() {
    let folder = given("OPTC_DATA");
    for name in ["A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K"] {
        let mut problem = read(&folder.join(format!("minimalloc/{name}.1048576.csv")));
        problem.capacity = Some(1_048_576);
        assert!(place_judged(&problem).size_bytes <= 1_048_576, "{name}");
    }
}

#[test]
fn c_fits_its_largest_live_bytes() {
    let placement = place_judged(&read(&root().join("tests/data/placements/C.1048576.csv")));
    assert_eq!((placement.size_bytes, placement.gap_bytes()), (1_039_360, 0));
}

#[test]
fn minimallocs_example_fits_its_capacity() {
    let mut problem = read(&root().join("tests/data/placements/input.12.csv"));
    problem.capacity = Some(12);
    assert!(place_judged(&problem).size_bytes <= 12);
}

#[test]
#[cfg_attr(not(given = "OPTC_DATA"), ignore = "needs OPTC_DATA")]
fn each_large_problem_meets_its_bound() {
    let folder = given("OPTC_DATA");
    for name in ["resnet50", "G_1", "pangu_2.6B", "S_1", "Y_1"] {
        let placement = place_judged(&read(&folder.join(format!("large/{name}.csv"))));
        assert_eq!(placement.gap_bytes(), 0, "{name}");
    }
}
