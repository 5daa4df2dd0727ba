//! Model check of the pool: the gate's laws hold in every order of the threads' steps (`tests/loom/run`).
//!
//! The data written by a part is not atomic. So `loom` fails if a part runs twice, if it runs beside the
//! caller after the join, or if the caller does not see its data after the join. A lost wake-up is a
//! deadlock, which `loom` detects as well.

use loom::cell::UnsafeCell;
use loom::model::Builder;
use loom::thread;

use super::*;

/// A kernel, which no model runs.
pub(crate) type KernelFn = unsafe extern "C" fn(*const u8, *const *mut u8, u32, *mut u8);

/// The message of a panicking part.
pub(crate) const ON_PURPOSE: &str = "on purpose";

/// Runs jobs on `threads` threads in all orders, or in those in which threads are interrupted at most
/// `interruptions` times; prints the number of orders.
fn check(what: &str, threads: usize, interruptions: Option<usize>, jobs: fn(&Shared)) {
    let orders = Arc::new(atomic::AtomicU64::new(0));
    let count = orders.clone();
    let mut model = Builder::new();
    model.preemption_bound = interruptions;
    model.max_branches = 20_000;
    model.check(move || {
        count.fetch_add(1, Relaxed);
        let shared = Arc::new(Shared::new(threads));
        let start = |worker| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.work(worker))
        };
        let workers: Vec<_> = (1..threads).map(start).collect();
        jobs(&shared);
        shared.gate.0.fetch_or(STOP, AcqRel);
        shared.notify(&shared.opened);
        workers.into_iter().for_each(|worker| worker.join().expect("workers catch every panic"));
    });
    println!("{what}: {threads} threads, {} orders", orders.load(Relaxed));
}

/// A job of `parts` parts, each of which is done once.
fn job(shared: &Shared, parts: u32, order: PartOrder) {
    let done: Vec<UnsafeCell<u32>> = (0..parts).map(|_| UnsafeCell::new(0)).collect();
    let done = Cells(done);
    // SAFETY: `loom` fails if a part uses the cell of another, or of the caller.
    let body = |_: usize, part: u32| done.at(part).with_mut(|times| unsafe { *times += 1 });
    shared.open(parts, order, &body);
    shared.take_parts(0);
    assert!(shared.close().is_none());
    for part in 0..parts {
        // SAFETY: as above.
        assert_eq!(done.at(part).with(|times| unsafe { *times }), 1, "part {part}");
    }
}

struct Cells(Vec<UnsafeCell<u32>>);

// SAFETY: `loom` checks whether two threads use a cell at once.
unsafe impl Sync for Cells {}

impl Cells {
    fn at(&self, part: u32) -> &UnsafeCell<u32> {
        &self.0[part as usize]
    }
}

/// A job of two parts, one of which panics, then another job.
fn panicking(shared: &Shared) {
    for bad in 0..2 {
        let body = |_: usize, part: u32| assert!(part != bad, "{ON_PURPOSE}");
        shared.open(2, PartOrder::Forward, &body);
        shared.take_parts(0);
        let payload = shared.close().expect("a part panics");
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        assert_eq!(text.or(payload.downcast_ref::<String>().cloned()).as_deref(), Some(ON_PURPOSE));
    }
    job(shared, 2, PartOrder::Forward);
}

/// All models.
pub(crate) fn run() {
    check("no job", 2, None, |_| {});
    check("one job", 2, None, |shared| job(shared, 2, PartOrder::Forward));
    check("one job of one part each way", 2, Some(4), |shared| {
        job(shared, 3, PartOrder::Backward);
        job(shared, 2, PartOrder::Forward);
    });
    check("a part that panics", 2, Some(3), panicking);
    check("one job", 3, Some(2), |shared| job(shared, 3, PartOrder::Forward));
    check("two jobs", 3, Some(2), |shared| {
        job(shared, 2, PartOrder::Forward);
        job(shared, 3, PartOrder::Backward);
    });
}
