//! What fork and join cost: the time of an empty job, and of two parts of 20 us each, for 1 to 2 threads.

use std::hint::black_box;
use std::time::{Duration, Instant};

use runtime::ThreadPool;

/// The median of 51 means of `jobs` jobs each.
fn median_ns(jobs: u32, job: impl Fn()) -> f64 {
    let mut means: Vec<f64> = (0..51)
        .map(|_| {
            let start = Instant::now();
            (0..jobs).for_each(|_| job());
            start.elapsed().as_nanos() as f64 / f64::from(jobs)
        })
        .collect();
    means.sort_by(f64::total_cmp);
    means[means.len() / 2]
}

fn work(duration: Duration) {
    let start = Instant::now();
    while black_box(start).elapsed() < duration {}
}

fn main() {
    for threads in [1, 2] {
        let pool = ThreadPool::new(threads);
        let empty = median_ns(2000, || pool.for_each(2, &|_, _| ()));
        let full = median_ns(50, || pool.for_each(2, &|_, _| work(Duration::from_micros(20))));
        println!("{threads} threads: empty job {empty:.0} ns, 2 x 20 us {:.1} us", full / 1000.0);
    }
}
