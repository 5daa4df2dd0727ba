//! The thread pool: spreads the parts of one kernel over threads and joins them again.
//!
//! This is a fork-join pool. The caller is worker 0 and works too. Each worker has a share of the parts, the
//! same range of them in each job. So data written by one job is mostly still in the caches of the core that
//! reads it in the next one. A worker that has finished its own share takes parts of the others', so a slow
//! thread does fewer. Threads spin for a bounded time and then sleep (see `wait`).
//!
//! # The gate
//!
//! All agreement goes through one atomic word, the *gate*: the number of workers inside the job, the number
//! of sleepers, whether the job is open, and the job's number. Every change of it is a read-modify-write, so
//! all changes have one order, and each continues the release sequence of those before. The other code relies
//! on three laws that follow from this:
//!
//! 1. *A job is read only while it is valid.* The caller writes the job while the gate is closed and nobody
//!    is inside, then opens the gate (release). A worker enters by exchanging an open gate for the same gate
//!    with one more inside (acquire): it sees the job, and the gate can't be drained before it leaves. A
//!    worker that comes late finds the gate closed.
//! 2. *All parts are done when `for_each` returns.* The caller leaves when all shares are used up, closes the
//!    gate (nobody enters any more) and waits until nobody is inside; each leaving is a release, the last
//!    look of the caller an acquire. The caller does not wait for workers that never came, so a core held by
//!    another process costs its share and no more.
//! 3. *No wake-up is lost.* A worker holds the lock from before it counts itself asleep until it waits. An
//!    opening comes either before the counting or after it. In the first case the worker sees it in the gate
//!    and does not wait. In the second case the opener sees a sleeper in the word that it changes, and takes
//!    the lock, so the notification comes after the beginning of the wait. The same holds for the caller's
//!    sleep, with the roles exchanged.
//!
//! A panic in a part is caught there, the parts not yet begun are dropped, and the caller panics with the
//! first payload after the join. (Kernels can't unwind: an `extern "C"` function aborts the process instead.)
//!
//! The pool does not nest: a call that finds it busy, from within a part or from another thread, runs its
//! parts in its own thread.

use std::any::Any;
use std::io;
use std::mem;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{self, AtomicBool, AtomicUsize};
use std::sync::{Arc, PoisonError};
use std::thread::{self, JoinHandle};

use crate::abi::KernelFn;
use crate::allocations::Measured;
use crate::backoff::WorkerBackoff;
use crate::sync::{AtomicU64, Condvar, Mutex, MutexGuard, SharedCell};
use crate::wait::spin_for;

/// Threads of another program, which run the parts of kernels instead of a [`ThreadPool`]'s own workers.
///
/// # Safety
/// [`ParallelFor::for_each`] calls its body once for each part, and returns when all calls have returned. At
/// any time no two of its calls run with the same worker, which is below both `threads` and `parts`.
pub unsafe trait ParallelFor: Send + Sync {
    /// The number of threads, the caller's included; always the same.
    fn threads(&self) -> usize;

    /// Calls `body(worker, part)` for each part below `parts`. Several threads may call it at once.
    fn for_each(&self, parts: u32, body: &(dyn Fn(usize, u32) + Sync));
}

/// A fork-join pool of a fixed number of threads, the caller's included.
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
/// let pool = runtime::ThreadPool::new(2);
/// let sum = AtomicU32::new(0);
/// pool.for_each(10, &|_worker, part| {
///     sum.fetch_add(part, Relaxed);
/// });
/// assert_eq!(sum.into_inner(), 45);
/// ```
pub struct ThreadPool {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    /// True while a call uses the workers; a second call meanwhile runs in its own thread.
    busy: AtomicBool,
    /// The threads that work instead of the workers, if any.
    others: Option<Box<dyn ParallelFor>>,
    /// Whether the last run of a kernel went forward, by a hash of its descriptor.
    turns: atomic::AtomicU64,
    pub(crate) backoff: WorkerBackoff,
    /// The process that started the workers: a forked child has none of them.
    process: u32,
}

/// The function of a part; its arguments are the worker's number (below the pool's threads) and the part's.
type PartFn<'a> = dyn Fn(usize, u32) + Sync + 'a;

/// A job as the workers see it. The borrow's lifetime is erased; law 1 keeps it alive while it is read.
#[derive(Clone, Copy)]
struct Job {
    body: *const PartFn<'static>,
    parts: u32,
    order: PartOrder,
    /// Whether the caller's allocations are measured, and so those of workers for it.
    measured: Measured,
}

/// The order in which a worker takes the parts of a share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PartOrder {
    /// From the first part on.
    Forward,
    /// From the last part on.
    Backward,
}

/// Keeps a word alone in its cache lines (two, since processors fetch lines in pairs).
#[repr(align(128))]
struct Alone<T>(T);

struct Shared {
    gate: Alone<AtomicU64>,
    /// The first part of each worker's share that nobody has taken; 64 bits, so that overshooting a `u32`
    /// can't wrap.
    next: Box<[Alone<AtomicU64>]>,
    job: SharedCell<Option<Job>>,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    lock: Mutex<()>,
    opened: Condvar,
    drained: Condvar,
}

// SAFETY: all fields but `job` are `Send` and `Sync`. `job` is written by the one caller that holds `busy`,
// while the gate is closed and drained, and read by workers between entering and leaving (law 1); its pointee
// is `Sync`.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

/// One worker inside the job; the field holds up to 65,535.
const INSIDE: u64 = 1;
const INSIDE_FIELD: u64 = 0xffff;
/// One worker asleep.
const ASLEEP: u64 = 1 << 16;
const ASLEEP_FIELD: u64 = 0xffff << 16;
/// The job may be entered.
const OPEN: u64 = 1 << 32;
/// The pool is being dropped.
const STOP: u64 = 1 << 33;
/// The caller sleeps until nobody is inside.
const CALLER_ASLEEP: u64 = 1 << 34;
/// One more job. The number only keeps a worker from entering a job twice; if it wraps, the worker at most
/// misses a job.
const NUMBER: u64 = 1 << 35;

/// The most threads a pool has, by the width of the gate's fields.
const MOST_THREADS: usize = 1024;

impl ThreadPool {
    /// A pool of `threads` threads including the caller's: `threads - 1` are started here.
    /// `ThreadPool::new(1)` starts none and runs everything in the caller's thread.
    ///
    /// # Panics
    /// If `threads` is 0 or above 1024, or the system refuses to start a thread.
    pub fn new(threads: usize) -> ThreadPool {
        ThreadPool::try_new(threads).expect("the system starts a thread")
    }

    /// Like `new`, but returns an error if the system can't start a thread; threads already started end.
    ///
    /// # Errors
    /// The system's error.
    ///
    /// # Panics
    /// If `threads` is 0 or above 1024.
    pub fn try_new(threads: usize) -> io::Result<ThreadPool> {
        assert!(
            (1..=MOST_THREADS).contains(&threads),
            "a pool has 1 to {MOST_THREADS} threads, not {threads}"
        );
        let mut pool = ThreadPool {
            shared: Arc::new(Shared::new(threads)),
            workers: Vec::with_capacity(threads - 1),
            busy: AtomicBool::new(false),
            others: None,
            turns: atomic::AtomicU64::new(0),
            backoff: WorkerBackoff::new(threads),
            process: std::process::id(),
        };
        let started = Arc::new(AtomicUsize::new(0));
        for worker in 1..threads {
            pool.workers.push(start(worker, Arc::clone(&pool.shared), Arc::clone(&started))?);
        }
        while started.load(Acquire) < threads - 1 {
            thread::yield_now();
        }
        Ok(pool)
    }

    /// A pool that uses threads of another program.
    pub fn of(threads: Box<dyn ParallelFor>) -> ThreadPool {
        let mut pool = ThreadPool::new(1);
        pool.others = Some(threads);
        pool
    }

    /// The number of threads, the caller's included.
    pub fn threads(&self) -> usize {
        self.others.as_ref().map_or(self.workers.len() + 1, |others| others.threads())
    }

    /// Calls `body(worker, part)` once for each part below `parts`, and returns when all calls have returned.
    /// At any time no two calls run with the same `worker`, which is below both [`ThreadPool::threads`] and
    /// `parts`. Which worker gets which part is not determined.
    ///
    /// # Panics
    /// With the payload of the first panic in `body`; parts not begun by then are dropped. The pool stays
    /// usable.
    pub fn for_each(&self, parts: u32, body: &PartFn<'_>) {
        self.in_order(parts, PartOrder::Forward, body);
    }

    fn in_order(&self, parts: u32, order: PartOrder, body: &PartFn<'_>) {
        if let Some(others) = self.others.as_ref().filter(|_| parts > 1) {
            let most = others.threads().min(parts as usize);
            return others.for_each(parts, &|worker, part| {
                assert!(
                    worker < most && part < parts,
                    "worker {worker} of {most} has part {part} of {parts}"
                );
                body(worker, part);
            });
        }
        let is_alone = parts <= 1 || self.workers.is_empty() || self.backoff.is_on();
        if is_alone || self.busy.swap(true, Acquire) {
            match order {
                PartOrder::Forward => (0..parts).for_each(|part| body(0, part)),
                PartOrder::Backward => (0..parts).rev().for_each(|part| body(0, part)),
            }
            return;
        }
        self.shared.open(parts, order, body);
        self.shared.take_parts(0);
        let panic = self.shared.close();
        self.busy.store(false, Release);
        if let Some(payload) = panic {
            resume_unwind(payload);
        }
    }

    /// Calls `kernel(desc, ptrs, part, scratch + worker * scratch_stride)` for each part below `parts`, as
    /// [`ThreadPool::for_each`] does. `scratch_stride` is in bytes; `scratch` may be null if the kernel uses
    /// none.
    ///
    /// # Safety
    /// `kernel` must be sound for `desc` and `ptrs` with each part, on any thread, with all parts at once;
    /// and `scratch` must have `threads().min(parts) * scratch_stride` bytes that nothing else uses
    /// meanwhile.
    pub unsafe fn run(
        &self,
        kernel: KernelFn,
        desc: *const u8,
        ptrs: *const *mut u8,
        parts: u32,
        scratch: *mut u8,
        scratch_stride: usize,
    ) {
        let call = KernelCall { kernel, desc, ptrs, scratch, scratch_stride };
        let order = if parts > 1 { self.turn(desc) } else { PartOrder::Forward };
        // SAFETY: the caller of `run` guarantees this for the kernel on these arguments. `for_each` calls
        // each part once, never the same worker in two calls at a time, and no worker without a place in
        // scratch.
        self.in_order(parts, order, &|worker, part| unsafe { call.part(worker, part) });
    }

    /// The order of a kernel's parts: every other run goes backward, so it begins with the weights that it
    /// read last. If weights do not fit into a cache, the steps of a recurrent network then find as many as
    /// fit; always reading them from the first on would find none.
    fn turn(&self, desc: *const u8) -> PartOrder {
        let bit = 1 << ((desc as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58);
        match self.turns.fetch_xor(bit, Relaxed) & bit {
            0 => PartOrder::Forward,
            _ => PartOrder::Backward,
        }
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            self.workers.drain(..).for_each(mem::forget);
            return;
        }
        self.shared.gate.0.fetch_or(STOP, AcqRel);
        self.shared.notify(&self.shared.opened);
        for worker in self.workers.drain(..) {
            worker.join().expect("workers catch every panic");
        }
    }
}

/// The arguments that all parts of a kernel share.
struct KernelCall {
    kernel: KernelFn,
    desc: *const u8,
    ptrs: *const *mut u8,
    scratch: *mut u8,
    scratch_stride: usize,
}

// SAFETY: shared between workers only to call `part`; the caller of `ThreadPool::run` guarantees its safety
// on any thread.
unsafe impl Sync for KernelCall {}

impl KernelCall {
    /// # Safety
    /// As for [`ThreadPool::run`], with `worker` below the pool's threads and used by one call at a time.
    unsafe fn part(&self, worker: usize, part: u32) {
        let scratch = self.scratch.wrapping_add(worker * self.scratch_stride);
        // SAFETY: by the caller's contract.
        unsafe { (self.kernel)(self.desc, self.ptrs, part, scratch) }
    }
}

/// Starts a worker. Its thread allocates during its start; `started` counts the started ones, so that later
/// runs allocate nothing.
fn start(worker: usize, shared: Arc<Shared>, started: Arc<AtomicUsize>) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().name(format!("optc-{worker}")).spawn(move || {
        started.fetch_add(1, Release);
        drop(started);
        shared.work(worker);
    })
}

impl Shared {
    fn new(threads: usize) -> Shared {
        Shared {
            gate: Alone(AtomicU64::new(0)),
            next: (0..threads).map(|_| Alone(AtomicU64::new(0))).collect(),
            job: SharedCell::new(None),
            panic: Mutex::new(None),
            lock: Mutex::new(()),
            opened: Condvar::new(),
            drained: Condvar::new(),
        }
    }

    /// The caller's first half: publishes the job and wakes the sleepers.
    fn open(&self, parts: u32, order: PartOrder, body: &PartFn<'_>) {
        let body = &raw const *body;
        // SAFETY: only the lifetime changes. Law 2: `close` returns before the borrow ends, and nobody reads
        // the job after that.
        let body = unsafe { mem::transmute::<*const PartFn<'_>, *const PartFn<'static>>(body) };
        // SAFETY: the gate is closed and drained (law 1), and `busy` keeps other callers out.
        unsafe { self.job.set(Some(Job { body, parts, order, measured: Measured::here() })) };
        for owner in 0..self.shares(parts.into()) {
            self.next[owner].0.store(self.share(parts.into(), owner).start, Relaxed);
        }
        let before = self.gate.0.fetch_add(NUMBER | OPEN, AcqRel);
        if before & ASLEEP_FIELD != 0 {
            self.notify(&self.opened);
        }
    }

    /// The caller's second half: lets nobody in any more, waits for those inside, and returns the first
    /// panic.
    fn close(&self) -> Option<Box<dyn Any + Send>> {
        self.gate.0.fetch_and(!OPEN, AcqRel);
        let drained = || (self.gate.0.load(Acquire) & INSIDE_FIELD == 0).then_some(());
        if spin_for(drained).is_none() {
            self.sleep_until_drained();
        }
        // A worker's store to `panic` comes before its leaving, so without a panic this look is one
        // uncontended lock.
        lock(&self.panic).take()
    }

    fn sleep_until_drained(&self) {
        let mut guard = lock(&self.lock);
        self.gate.0.fetch_or(CALLER_ASLEEP, AcqRel);
        while self.gate.0.load(Acquire) & INSIDE_FIELD != 0 {
            guard = self.drained.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        self.gate.0.fetch_and(!CALLER_ASLEEP, AcqRel);
    }

    /// The main loop of a worker.
    fn work(&self, worker: usize) {
        let mut done = 0;
        loop {
            let gate = self.wait_for_news(done);
            if gate & STOP != 0 {
                return;
            }
            if self.gate.0.compare_exchange(gate, gate + INSIDE, Acquire, Relaxed).is_ok() {
                self.take_parts(worker);
                self.leave();
                done = number(gate);
            }
        }
    }

    /// The gate at a moment when it was open for a job other than number `done`, or when the pool stops.
    fn wait_for_news(&self, done: u64) -> u64 {
        loop {
            let news = || Some(self.gate.0.load(Relaxed)).filter(|&gate| is_news(gate, done));
            if let Some(gate) = spin_for(news) {
                return gate;
            }
            self.sleep(done);
        }
    }

    /// Sleeps until the next opening, or any earlier moment. An awakened worker looks again by spinning,
    /// since the job that woke it is often over before it is up, and the next one near.
    fn sleep(&self, done: u64) {
        let guard = lock(&self.lock);
        let before = self.gate.0.fetch_add(ASLEEP, AcqRel);
        if !is_news(before, done) {
            drop(self.opened.wait(guard).unwrap_or_else(PoisonError::into_inner));
        }
        self.gate.0.fetch_sub(ASLEEP, AcqRel);
    }

    fn leave(&self) {
        let before = self.gate.0.fetch_sub(INSIDE, AcqRel);
        if before & CALLER_ASLEEP != 0 && before & INSIDE_FIELD == INSIDE {
            self.notify(&self.drained);
        }
    }

    /// The number of workers with a share of a job: all, if there are enough parts.
    fn shares(&self, parts: u64) -> usize {
        self.next.len().min(parts as usize)
    }

    /// The parts that worker `owner` takes first.
    fn share(&self, parts: u64, owner: usize) -> Range<u64> {
        let begin = |owner: usize| parts * owner as u64 / self.shares(parts) as u64;
        begin(owner)..begin(owner + 1)
    }

    /// Runs parts until none is left. Never unwinds.
    fn take_parts(&self, worker: usize) {
        // SAFETY: a worker is inside (law 1), or this is the caller, who wrote the job itself and has not
        // closed it.
        let job = unsafe { self.job.get() }.expect("an open gate has a job");
        // SAFETY: the borrow that the pointer was made from lasts until `close` returns, and that waits for
        // all workers inside (law 2).
        let body = unsafe { &*job.body };
        let parts = u64::from(job.parts);
        if worker as u64 >= parts {
            return;
        }
        let measured_before = job.measured.replace();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let shares = self.shares(parts);
            for owner in (worker..shares).chain(0..worker) {
                let Range { start, end } = self.share(parts, owner);
                let take = || Some(self.next[owner].0.fetch_add(1, Relaxed)).filter(|&part| part < end);
                while let Some(part) = take() {
                    let part = match job.order {
                        PartOrder::Forward => part,
                        PartOrder::Backward => start + (end - 1 - part),
                    };
                    body(worker, part as u32);
                }
            }
        }));
        measured_before.replace();
        if let Err(payload) = outcome {
            self.next.iter().for_each(|next| next.0.store(parts, Relaxed));
            self.keep_first(payload);
        }
    }

    /// Keeps the payload if it is the job's first, else drops it. The drop may itself panic; the payload of
    /// that panic is leaked.
    fn keep_first(&self, payload: Box<dyn Any + Send>) {
        let mut first = lock(&self.panic);
        if first.is_none() {
            *first = Some(payload);
            return;
        }
        drop(first);
        if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            mem::forget(another);
        }
    }

    /// Wakes all threads that wait for `event`. Law 3 requires taking the lock first.
    fn notify(&self, event: &Condvar) {
        drop(lock(&self.lock));
        event.notify_all();
    }
}

fn number(gate: u64) -> u64 {
    gate / NUMBER
}

fn is_news(gate: u64, done: u64) -> bool {
    gate & STOP != 0 || (gate & OPEN != 0 && number(gate) != done)
}

/// Locks a mutex. A holder's panic does not matter, since it leaves no state half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "threads_tests.rs"]
mod tests;

#[cfg(loom)]
#[path = "threads_loom.rs"]
pub(crate) mod models;
