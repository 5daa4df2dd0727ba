//! How test programs are run with one mutant, and what they say.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::tree::TestProgram;

/// A test that takes longer is tried after those of other programs that do not.
const LONG: Duration = Duration::from_secs(3);

/// A test program as it runs without a mutant.
pub struct Known {
    /// The program.
    pub program: TestProgram,
    /// Tests that fail there, as those of the tree's own text do.
    pub failing: BTreeSet<String>,
    /// For each mutant the tests that reach its place.
    pub reached: BTreeMap<u32, BTreeSet<String>>,
    /// How long each test takes.
    pub times: BTreeMap<String, Duration>,
    /// How many tests one run of it takes by name.
    at_once: usize,
}

/// How a test program ended.
#[derive(Debug)]
pub enum Outcome {
    /// All its tests passed.
    Passed,
    /// The first test that failed, or what else ended it.
    Failed(String),
}

fn start(program: &TestProgram, variables: &[(&str, String)], arguments: &[String]) -> Child {
    let mut command = Command::new(&program.path);
    command.args(arguments).envs(variables.iter().map(|(name, value)| (*name, value.as_str())));
    command.env("RUST_BACKTRACE", "0").current_dir(&program.folder);
    command.stdout(Stdio::piped()).stderr(Stdio::null()).stdin(Stdio::null());
    command.spawn().expect("a test program starts")
}

/// Runs each test of a program once, in a process of its own, and notes what fails and which places are
/// reached, on any thread.
pub fn know(program: TestProgram) -> Known {
    let log = std::env::temp_dir().join(format!("mutants-{}", std::process::id()));
    let variables = [("MUTANT_REACHED", log.display().to_string())];
    let mut failing = BTreeSet::new();
    let mut times = BTreeMap::new();
    let mut reached: BTreeMap<u32, BTreeSet<String>> = BTreeMap::new();
    for name in names(&program) {
        let _ = fs::remove_file(&log);
        let begun = Instant::now();
        let child = start(&program, &variables, &["--exact".to_owned(), name.clone()]);
        let output = child.wait_with_output().expect("a child ends");
        let text = String::from_utf8_lossy(&output.stdout);
        let Some((_, is_right)) = text.lines().filter_map(ended).find(|(ended, _)| *ended == name) else {
            continue;
        };
        times.insert(name.clone(), begun.elapsed());
        failing.extend((!is_right).then(|| name.clone()));
        for number in fs::read_to_string(&log).unwrap_or_default().lines() {
            let number = number.parse().expect("each line is a number");
            reached.entry(number).or_default().insert(name.clone());
        }
    }
    let at_once = if takes_names(&program) { usize::MAX } else { 1 };
    Known { program, failing, reached, times, at_once }
}

/// Whether a program takes the names of several tests; those that are no `libtest` may take one.
fn takes_names(program: &TestProgram) -> bool {
    let arguments = ["--list", "--exact", "one", "other"].map(str::to_owned);
    start(program, &[], &arguments).wait_with_output().expect("a child ends").status.success()
}

/// The names of a program's tests.
fn names(program: &TestProgram) -> Vec<String> {
    let output = start(program, &[], &["--list".to_owned()]).wait_with_output().expect("a child ends");
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().filter_map(|line| Some(line.strip_suffix(": test")?.to_owned())).collect()
}

/// The test that a line of a program's output says has ended, and whether it passed.
fn ended(line: &str) -> Option<(String, bool)> {
    let (name, result) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    (result != "ignored").then(|| (name.trim().to_owned(), result.starts_with("ok")))
}

/// What a program has to run for a mutant: nothing, or its arguments and how long they take without it.
pub struct Trial<'k> {
    known: &'k Known,
    arguments: Vec<String>,
    time: Duration,
}

/// The trials of a mutant: the quick tests of all programs, then the long ones.
pub fn trials(programs: &[Known], mutant: u32) -> Vec<Trial<'_>> {
    let mut found = Vec::new();
    for known in programs {
        let Some(tests) = known.reached.get(&mutant) else { continue };
        let (long, quick): (Vec<&String>, Vec<&String>) =
            tests.difference(&known.failing).partition(|name| known.times[*name] > LONG);
        for names in quick.chunks(known.at_once).chain(long.chunks(1)) {
            let time = names.iter().map(|name| known.times[*name]).sum();
            let names = names.iter().copied().cloned();
            let arguments = std::iter::once("--exact".to_owned()).chain(names).collect();
            found.push(Trial { known, arguments, time });
        }
    }
    found.sort_by_key(|trial| trial.time);
    found
}

impl Trial<'_> {
    /// What it is called.
    pub fn name(&self) -> &str {
        &self.known.program.name
    }

    /// How long its tests take without a mutant.
    pub fn time(&self) -> Duration {
        self.time
    }

    /// Runs its tests with a mutant until one fails.
    pub fn run(&self, mutant: u32, longest: Duration) -> Outcome {
        let mut child = start(&self.known.program, &[("MUTANT", mutant.to_string())], &self.arguments);
        let stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        let (send, receive) = channel();
        let reader = thread::spawn(move || {
            let ends = stdout.lines().map_while(Result::ok).filter_map(|line| ended(&line));
            ends.filter(|(_, is_right)| !is_right).for_each(|(name, _)| {
                let _ = send.send(name);
            });
        });
        let limit = (self.time * 5 + Duration::from_secs(20)).min(longest);
        let failed = match receive.recv_timeout(limit) {
            Ok(name) => Some(name),
            Err(RecvTimeoutError::Timeout) => Some("no end".into()),
            Err(RecvTimeoutError::Disconnected) => None,
        };
        if failed.is_some() {
            let _ = child.kill();
        }
        let status = child.wait().expect("a child ends");
        let _ = reader.join();
        match failed {
            Some(name) => Outcome::Failed(name),
            None if status.success() => Outcome::Passed,
            None => Outcome::Failed(format!("{status}")),
        }
    }
}
