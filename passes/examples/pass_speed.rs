//! How long do passes take?
//!
//! `cargo run --release -p optc-passes --example pass_speed FILE PIPELINE [THREADS...]` runs the pipeline
//! over the text in FILE, once for each number of threads and then once more, and prints the best time of
//! each pass, for all and for one operation. All runs must print the same. Beside that it prints the time
//! that all threads computed, and the main thread alone: on several threads, that is what is done one after
//! the other.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ir::{Body, Context, Module, Region};
use passes::manager::{PassDebug, Pipeline, PlainTarget, Registry, RunOptions, Timing, Verify};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, pipeline, threads @ ..] = &arguments[..] else {
        panic!("expected a file and a pipeline");
    };
    let threads: Vec<usize> =
        threads.iter().map(|count| count.parse().expect("a number of threads")).collect();
    let threads = if threads.is_empty() { vec![1] } else { threads };
    let ctx = Arc::new(Context::new());
    let text = std::fs::read_to_string(path).expect("the file can be read");
    let mut module = ir::text::parse(&ctx, path, text).expect("the text is a program");
    ir::verify::verify_touched(&mut module).expect("the program keeps the laws");
    let ops = count(&module.top);
    println!("{ops} operations");
    let mut printed: Option<String> = None;
    for threads in threads.iter().chain(&threads) {
        for verify in [Verify::Never, Verify::AfterEach] {
            let (times, after) = run(&module, pipeline, *threads, verify);
            println!("{threads} threads, verify {verify:?}:");
            times.iter().for_each(|(name, time)| {
                let each = time.as_secs_f64() * 1e6 / ops as f64;
                println!("  {:9.3} ms {each:8.4} us an operation  {name}", time.as_secs_f64() * 1e3);
            });
            let text = ir::text::print(&after);
            assert!(printed.get_or_insert_with(|| text.clone()) == &text, "runs print different programs");
        }
    }
}

/// Runs the pipeline three times; gives the best time of each part and what came out.
fn run(module: &Module, text: &str, threads: usize, verify: Verify) -> (Vec<(String, Duration)>, Module) {
    let pipeline = Pipeline::parse(&module.ctx, text, &Registry::new()).expect("a pipeline");
    let debug = PassDebug { verify, ..PassDebug::default() };
    let options = RunOptions { threads, debug, ..RunOptions::new(&PlainTarget) };
    let mut best: Vec<(String, Duration)> = Vec::new();
    let mut after = module.clone();
    for _ in 0..3 {
        after = module.clone();
        let start = Instant::now();
        let all = process_time();
        let main = thread_time();
        let report = pipeline.run(&mut after, &options).expect("the passes succeed");
        let mut times = vec![("total".to_owned(), start.elapsed())];
        times.push(("computed by all threads".to_owned(), process_time() - all));
        times.push(("computed by the main thread".to_owned(), thread_time() - main));
        flatten(&report.timing, &mut times);
        if best.is_empty() {
            best = times
        } else {
            best.iter_mut().zip(times).for_each(|(best, time)| best.1 = best.1.min(time.1))
        }
    }
    (best, after)
}

/// What this thread has computed.
fn thread_time() -> Duration {
    let text =
        std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells the time of a thread");
    let nanoseconds = text.split_whitespace().next().and_then(|word| word.parse().ok());
    Duration::from_nanos(nanoseconds.expect("the first number is the time"))
}

/// What all threads have computed, those that have ended too, in steps of 10 ms.
fn process_time() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").expect("Linux tells the time of a process");
    let fields = text.rsplit(')').next().expect("the name stands in parentheses").split_whitespace();
    let ticks: u64 = fields.skip(11).take(2).map(|word| word.parse::<u64>().expect("a number")).sum();
    Duration::from_millis(10 * ticks)
}

fn flatten(timing: &Timing, out: &mut Vec<(String, Duration)>) {
    for child in &timing.children {
        out.push((child.name.clone(), child.time));
        flatten(child, out);
    }
}

/// How many operations a body and the bodies in it hold.
fn count(body: &Body) -> usize {
    let own: usize = body.roots().iter().map(|root| count_in(body, *root)).sum();
    own + body.children().map(|(_, child)| count(child)).sum::<usize>()
}

fn count_in(body: &Body, region: Region) -> usize {
    let ops = body.blocks(region).iter().flat_map(|block| body.ops(*block));
    ops.map(|op| 1 + body.regions(op).iter().map(|inner| count_in(body, *inner)).sum::<usize>()).sum()
}
