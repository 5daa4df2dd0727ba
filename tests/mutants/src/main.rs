//! Which changes of the project's code do its tests see? Many mutants are compiled into one build, and a
//! variable says which is active.

mod find;
mod rewrite;
mod tree;
mod trial;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write};
use std::fs;
use std::path::Path;
use std::time::Duration;

use find::{Mutant, mutants};
use tree::Tree;
use trial::{Known, Outcome, know, trials};

/// The files and folders whose mutants are tried by default.
const FILES: &[&str] = &[
    "ir/src/alias.rs",
    "ir/src/dequantized.rs",
    "ir/src/dims",
    "ir/src/liveness",
    "ir/src/liveness.rs",
    "import/src/onnx",
    "kernels/src",
    "passes/src/check",
    "passes/src/check.rs",
    "passes/src/inplace.rs",
    "passes/src/integers",
    "passes/src/integers.rs",
    "passes/src/late_parts.rs",
    "passes/src/laws",
    "passes/src/lines.rs",
    "passes/src/memory",
    "passes/src/overlap.rs",
    "passes/src/parts",
    "passes/src/parts.rs",
    "passes/src/place",
    "passes/src/plan",
    "passes/src/plan.rs",
    "passes/src/views.rs",
];

/// Files that only tests read.
const TESTS: [&str; 11] = [
    "tests.rs",
    "_tests.rs",
    "testing.rs",
    "cases.rs",
    "families.rs",
    "/tests/",
    "place/laws.rs",
    "laws/conditions.rs",
    "laws/random.rs",
    "liveness/forest.rs",
    "liveness/worklist.rs",
];

/// A mutant of one file.
struct Candidate {
    path: String,
    mutant: Mutant,
}

fn number_of(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// The files of Rust in a folder, or the file itself.
fn sources(path: &Path, found: &mut BTreeSet<String>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).expect("a folder can be read") {
            sources(&entry.expect("a folder can be read").path(), found);
        }
    } else if path.extension().is_some_and(|extension| extension == "rs") {
        let path = path.display().to_string();
        if !TESTS.iter().any(|end| path.ends_with(end) || end.ends_with('/') && path.contains(end)) {
            found.insert(path);
        }
    }
}

/// All mutants of these files and folders.
fn candidates(paths: &[String]) -> Vec<Candidate> {
    let mut files = BTreeSet::new();
    paths.iter().for_each(|path| sources(Path::new(path), &mut files));
    let mut found = Vec::new();
    for path in files {
        let text = fs::read_to_string(&path).expect("a file can be read");
        let mutants = mutants(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
        found.extend(mutants.into_iter().map(|mutant| Candidate { path: path.clone(), mutant }));
    }
    found
}

/// A step of xorshift64*.
fn random(state: &mut u64) -> u64 {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    state.wrapping_mul(0x2545_F491_4F6C_DD1D)
}

/// As many of the mutants, drawn by the seed, in the order of drawing: the first ones are a sample too.
fn sample(mut all: Vec<Candidate>, count: usize, seed: u64) -> Vec<Candidate> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    for index in 0..count.min(all.len()) {
        let other = index + (random(&mut state) >> 16) as usize % (all.len() - index);
        all.swap(index, other);
    }
    all.truncate(count);
    all
}

/// The copy of the project with those of the mutants that compile, and their numbers.
fn compiled(drawn: &[Candidate]) -> (Tree, BTreeSet<u32>) {
    let mut numbers: BTreeSet<u32> = (1..=drawn.len() as u32).collect();
    loop {
        let mut files: BTreeMap<String, Vec<(u32, &Mutant)>> = BTreeMap::new();
        for number in &numbers {
            let candidate = &drawn[*number as usize - 1];
            files.entry(candidate.path.clone()).or_default().push((*number, &candidate.mutant));
        }
        let tree = Tree::write(&files);
        let faults = tree.faults();
        if faults.is_empty() {
            return (tree, numbers);
        }
        eprintln!("{} mutants do not compile", faults.len());
        faults.iter().for_each(|number| {
            numbers.remove(number);
        });
    }
}

/// What became of a mutant.
enum Verdict {
    /// A test failed.
    Killed(String),
    /// All tests passed that reach its place.
    Survives,
    /// No test reaches its place.
    Unreached,
    /// All tests passed that there was time for.
    Undecided,
}

impl Verdict {
    fn is_killed(&self) -> bool {
        matches!(self, Verdict::Killed(_))
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Killed(test) => write!(f, "killed by {test}"),
            Verdict::Survives => f.write_str("SURVIVES"),
            Verdict::Unreached => f.write_str("SURVIVES: no test reaches it"),
            Verdict::Undecided => f.write_str("undecided: longer tests were not run"),
        }
    }
}

/// Tries a mutant on tests that take as long as `most` without it.
fn tried(programs: &[Known], mutant: u32, longest: Duration, most: Duration) -> Verdict {
    let trials = trials(programs, mutant);
    if trials.is_empty() {
        return Verdict::Unreached;
    }
    let mut spent = Duration::ZERO;
    for trial in &trials {
        spent += trial.time();
        if spent > most {
            return Verdict::Undecided;
        }
        if let Outcome::Failed(test) = trial.run(mutant, longest) {
            return Verdict::Killed(format!("{} {test}", trial.name()));
        }
    }
    Verdict::Survives
}

fn describe(number: u32, candidate: &Candidate) -> String {
    format!("{number} {}:{} {}", candidate.path, candidate.mutant.line, candidate.mutant.what)
}

/// A line for each file, and one for all: how many were tried, and how many were killed.
fn score(results: &[(&str, bool)]) -> String {
    let mut files: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (path, is_killed) in results {
        for name in [*path, "all"] {
            let entry = files.entry(name).or_default();
            entry.0 += 1;
            entry.1 += usize::from(*is_killed);
        }
    }
    files.iter().fold(String::new(), |mut text, (path, (tried, killed))| {
        let _ = writeln!(text, "{killed:5} of {tried:5} killed, {:3} %: {path}", killed * 100 / tried);
        text
    })
}

fn main() {
    let mut paths: Vec<String> = std::env::args().skip(1).collect();
    if paths.is_empty() {
        paths = FILES.iter().map(|path| (*path).to_owned()).collect();
    }
    let all = candidates(&paths);
    let count = all.len();
    let drawn = sample(all, number_of("SAMPLE", 400) as usize, number_of("SEED", 1));
    println!("{} of {count} mutants are drawn", drawn.len());
    if number_of("LIST", 0) == 1 {
        for (index, candidate) in drawn.iter().enumerate() {
            println!("{}", describe(index as u32 + 1, candidate));
        }
        return;
    }
    let (tree, mut numbers) = compiled(&drawn);
    println!("{} of them compile", numbers.len());
    let programs: Vec<Known> = tree.tests().into_iter().map(know).collect();
    for known in &programs {
        let name = &known.program.name;
        let seconds = known.times.values().sum::<Duration>().as_secs_f32();
        println!("{name}: {seconds:.1} s, reaches {}, skips {:?}", known.reached.len(), known.failing);
    }
    if let Ok(only) = std::env::var("ONLY") {
        numbers = only.split(',').filter_map(|number| number.parse().ok()).collect();
    }
    let longest = Duration::from_secs(number_of("TIMEOUT", 900));
    let most = Duration::from_secs(number_of("MOST", u64::MAX));
    let mut results = Vec::new();
    for number in numbers {
        let candidate = &drawn[number as usize - 1];
        let verdict = tried(&programs, number, longest, most);
        println!("{} : {verdict}", describe(number, candidate));
        results.push((candidate.path.as_str(), verdict.is_killed()));
    }
    print!("{}", score(&results));
}
