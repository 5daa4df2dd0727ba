//! Known problems of others, where a folder of them is at hand.
//!
//! `OPTC_DATA` names a folder with `minimalloc/*.CAPACITY.csv` (google/minimalloc's benchmarks) and
//! `large/*.csv` (cappadokes/idealloc's). Without it these tests say so and pass. What is asserted is sizes,
//! never times.

use super::judge::judge;
use super::{Options, Placement, Problem, csv, place};
use std::path::{Path, PathBuf};

fn data() -> Option<PathBuf> {
    let folder = std::env::var_os("OPTC_DATA").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: OPTC_DATA names no folder of placement problems");
    }
    folder
}

fn read(path: &Path) -> Problem {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    csv::read(&text).unwrap_or_else(|errors| panic!("{}: {:?}", path.display(), errors)).problem
}

fn place_judged(problem: &Problem) -> Placement {
    let placement = place(problem, &Options { max_nodes: 1_000_000, threads: 2 });
    assert_eq!(judge(problem, &placement), []);
    placement
}

#[test]
fn each_problem_of_minimalloc_fits_its_capacity() {
    let Some(folder) = data() else { return };
    for name in ["A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K"] {
        let mut problem = read(&folder.join(format!("minimalloc/{name}.1048576.csv")));
        problem.capacity = Some(1_048_576);
        assert!(place_judged(&problem).size_bytes <= 1_048_576, "{name}");
    }
}

#[test]
fn c_fits_its_largest_live_bytes() {
    let Some(folder) = data() else { return };
    let placement = place_judged(&read(&folder.join("minimalloc/C.1048576.csv")));
    assert_eq!((placement.size_bytes, placement.gap_bytes()), (1_039_360, 0));
}

#[test]
fn each_large_problem_meets_its_bound() {
    let Some(folder) = data() else { return };
    for name in ["resnet50", "G_1", "pangu_2.6B", "S_1", "Y_1"] {
        let placement = place_judged(&read(&folder.join(format!("large/{name}.csv"))));
        assert_eq!(placement.gap_bytes(), 0, "{name}");
    }
}
