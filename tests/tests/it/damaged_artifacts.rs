//! That a damaged artifact of a real network never crashes and never computes other results. Bytes are
//! changed at random. A child process with little memory opens the artifact and, unless it is refused, runs
//! it.
//!
//! ```sh
//! OPTC_DAMAGES=0..50000 cargo test --release -p optc-tests --test it -- random_damages --nocapture
//! ```

use std::ops::Range;
use std::process::Command;
use std::sync::Arc;

use optc::StrippedWeights;
use optc::artifact::ArtifactOptions;
use optc::{Array, Artifact, CompileOptions, Failure, LoadOptions};
use runtime::AlignedBuffer;
use tests::random::Random;

/// The variable with the seeds of damages.
const DAMAGES: &str = "OPTC_DAMAGES";

/// The variable with the child's artifact.
const FILE: &str = "OPTC_DAMAGED_FILE";

/// The address space of a child in KiB: a damaged length must not take all memory.
const MOST_KIB: u64 = 1 << 20;

/// The number of seeds for each child.
const STEP: u64 = 500;

#[test]
fn random_damages_of_a_large_artifact_are_refused_or_harmless() {
    let folder = tempfile::tempdir().expect("there is a folder for files");
    let path = folder.path().join("m.optc");
    let options = LoadOptions { stripped: StrippedWeights::Synthesize, ..LoadOptions::default() };
    let model = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/squeezenet1_1.onnx");
    let module = optc::load(&model, &options).unwrap_or_else(|failure| panic!("{failure}"));
    let one = CompileOptions { threads: 1, ..CompileOptions::default() };
    let built = Artifact::build(&module, &one).unwrap_or_else(|failure| panic!("{failure}"));
    built.write(&path).unwrap_or_else(|failure| panic!("{failure}"));
    let seeds = std::env::var(DAMAGES).map_or(0..60, |text| seeds(&text));
    let mut start = seeds.start;
    while start < seeds.end {
        let end = seeds.end.min(start + STEP);
        let this = std::env::current_exe().expect("a test is a file");
        let child = Command::new("sh")
            .args(["-c", &format!("ulimit -v {MOST_KIB}; exec \"$0\" \"$@\"")])
            .arg(this)
            .args(["--exact", "damaged_artifacts::a_child_that_reads_damaged_artifacts", "--nocapture"])
            .env(FILE, &path)
            .env(DAMAGES, format!("{start}..{end}"))
            .output();
        let child = child.expect("the test starts");
        let [out, err] = [child.stdout, child.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        assert!(child.status.success(), "{start}..{end}: {}\n{out}\n{err}", child.status);
        println!("{start}..{end}: {}", out.lines().find(|line| line.contains("refused")).expect("it counts"));
        start = end;
    }
}

fn seeds(text: &str) -> Range<u64> {
    let ends = text.split_once("..").and_then(|(start, end)| Some((start.parse().ok()?, end.parse().ok()?)));
    let (start, end) = ends.expect("seeds are START..END");
    start..end
}

/// The work of a child; in a run of all tests, nothing.
#[test]
fn a_child_that_reads_damaged_artifacts() {
    let Ok(path) = std::env::var(FILE) else { return };
    let good = std::fs::read(path).expect("the parent wrote it");
    let expected = run(&good).unwrap_or_else(|failure| panic!("{failure}"));
    let (mut refused, mut harmless) = (0, 0);
    for seed in seeds(&std::env::var(DAMAGES).expect("the parent says which")) {
        let mut bad = good.clone();
        damage(&mut bad, seed);
        match run(&bad) {
            Ok(found) => {
                assert!(found == expected, "seed {seed} computes something else");
                harmless += 1;
            }
            Err(_) => refused += 1,
        }
    }
    println!("{refused} refused, {harmless} harmless");
}

/// The results of a network for an input of ones, from the bytes of its artifact.
fn run(bytes: &[u8]) -> Result<Vec<Array>, Failure> {
    let mut buffer = AlignedBuffer::zeroed(bytes.len()).expect("there is memory");
    buffer.as_mut_slice().copy_from_slice(bytes);
    let mut model = Artifact::from_bytes("damaged", Arc::new(buffer))?.model(&ArtifactOptions::default())?;
    let ones = vec![1.0; 3 * 224 * 224];
    model.run(&[Array::f32("input", &[1, 3, 224, 224], &ones)])
}

/// Changes bytes: a few of them, or a run; or cuts off the end.
fn damage(bytes: &mut Vec<u8>, seed: u64) {
    let mut random = Random::new(seed);
    // Half of the damages are in the header, the plan and the machine code.
    let end = if random.below(2) == 0 { bytes.len() } else { bytes.len().min(1 << 18) };
    let at = random.below(end);
    match random.below(8) {
        0 => bytes.truncate(at),
        1 => {
            let count = (1usize << random.below(13)).min(bytes.len() - at);
            bytes[at..at + count].fill(random.below(256) as u8);
        }
        2 => {
            let count = (1usize << random.below(13)).min(bytes.len() - at);
            let from = random.below(bytes.len() - count + 1);
            bytes.copy_within(from..from + count, at);
        }
        _ => {
            for _ in 0..=random.below(8) {
                let at = random.below(end);
                bytes[at] ^= 1 << random.below(8);
            }
        }
    }
}
