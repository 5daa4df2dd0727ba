//! How long does it take to read, verify and write a module of many operations, and how much memory does it
//! hold?
//!
//! `cargo run --release -p optc-ir --example text_speed -- FILE`: one thread; times are this thread's on the
//! processor, per operation; memory is what the process holds more than before reading, the text apart.

use std::sync::Arc;
use std::time::Duration;

use ir::text::{ParseOptions, PrintForm, PrintOptions, Unregistered, parse_with, write};
use ir::{Body, Context};

fn main() {
    let path = std::env::args().nth(1).expect("usage: text_speed FILE");
    let text = std::fs::read_to_string(&path).expect("the file can be read");
    let before = resident_bytes();
    let ctx = Arc::new(Context::new());
    let options = ParseOptions { unregistered: Unregistered::Allow };
    let (parse, module) = timed(|| parse_with(&ctx, &path, text, &options));
    let module = match module {
        Ok(module) => module,
        Err(errors) => return errors.iter().for_each(|error| eprintln!("{}", error.render(&ctx))),
    };
    let held = resident_bytes().saturating_sub(before);
    let (verify, verified) = timed(|| ir::verify::verify(&module));
    let options = PrintOptions { form: PrintForm::Generic, ..PrintOptions::default() };
    let mut printed = Counter(0);
    let (print, _) = timed(|| write(&module, &options, &mut printed));
    let ops = count(&module.top);
    let per_op = |time: Duration| time.as_nanos() as f64 / ops as f64;
    println!(
        "{ops} operations, {} breaches, {} bytes of text",
        verified.err().map_or(0, |e| e.len()),
        printed.0
    );
    println!("parse  {:7.1} ns an operation", per_op(parse));
    println!("verify {:7.1} ns an operation", per_op(verify));
    println!("print  {:7.1} ns an operation", per_op(print));
    println!("all    {:7.1} ns an operation", per_op(parse + verify + print));
    println!("memory {:7.1} bytes an operation", held as f64 / ops as f64);
}

/// Counts the bytes of a text that is written piece by piece.
struct Counter(usize);

impl std::fmt::Write for Counter {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0 += text.len();
        Ok(())
    }
}

fn timed<T>(run: impl FnOnce() -> T) -> (Duration, T) {
    let start = processor_time();
    let result = run();
    (processor_time() - start, result)
}

/// What this thread had of a processor so far, from `/proc/thread-self/schedstat`.
fn processor_time() -> Duration {
    let stat =
        std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux says how long a thread ran");
    let nanoseconds = stat.split(' ').next().and_then(|number| number.parse().ok());
    Duration::from_nanos(nanoseconds.expect("the first number is the time"))
}

fn count(body: &Body) -> usize {
    body.op_capacity() + body.children().map(|(_, child)| count(child)).sum::<usize>()
}

/// Bytes that the process holds in memory, from `/proc/self/statm`; 0 where that is not.
fn resident_bytes() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: Option<usize> = statm.split(' ').nth(1).and_then(|pages| pages.parse().ok());
    pages.unwrap_or(0) * 4096
}
