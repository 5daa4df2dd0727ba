//! Exponential backoff from worker threads while another process keeps their cores busy.
//!
//! If another process keeps a core busy, there are fewer cores than threads of a run. The caller then loses
//! its core to a worker, or waits for a worker that lost its own in the middle of a part, each time for some
//! milliseconds. If that takes more of a run than workers save, the caller alone is faster: it backs off, and
//! works alone for a while. Then it tries the workers again. Each backoff is twice as long as the one before,
//! up to a limit; once workers help, the next one is as short as the first.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// The length of a trial: runs with workers, before it is decided whether these help.
const TRIAL: Duration = Duration::from_millis(40);
/// The first backoff, and the longest.
const BACKOFF: [Duration; 2] = [Duration::from_millis(80), Duration::from_secs(2)];

/// Whether and for how long a caller works without its workers. Durations are in nanoseconds; points in time
/// count from `begin`.
pub(crate) struct WorkerBackoff {
    begin: Instant,
    /// The largest loss of a trial, in percent, with which workers still help.
    most_percent: u64,
    /// The duration of the runs in the current trial.
    ran: AtomicU64,
    /// The time that the caller had no core during them.
    lost: AtomicU64,
    /// The end of the last backoff; 0 after it has ended.
    backoff_end: AtomicU64,
    /// The length of the next backoff.
    next_backoff: AtomicU64,
}

/// The start of a run, and its thread's core time before that.
pub(crate) struct RunBegin {
    wall: u64,
    core: u64,
}

impl WorkerBackoff {
    /// The state for a pool of `threads` threads, including the caller's.
    pub(crate) fn new(threads: usize) -> WorkerBackoff {
        WorkerBackoff {
            begin: Instant::now(),
            // With n threads a run takes a little more than 1/n of the time.
            most_percent: 85 * (threads as u64 - 1) / threads as u64,
            ran: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            backoff_end: AtomicU64::new(0),
            next_backoff: AtomicU64::new(BACKOFF[0].as_nanos() as u64),
        }
    }

    /// Whether the caller works alone.
    pub(crate) fn is_on(&self) -> bool {
        self.backoff_end.load(Relaxed) != 0 && self.is_on_at(self.now())
    }

    /// Begins a run; `None` if it has no workers.
    pub(crate) fn run_begins(&self) -> Option<RunBegin> {
        if self.most_percent == 0 || self.is_on() {
            return None;
        }
        Some(RunBegin { wall: self.now(), core: core_time()? })
    }

    /// Ends the run.
    pub(crate) fn run_ends(&self, begin: &RunBegin) {
        let now = self.now();
        let Some(core) = core_time() else { return };
        let ran = now - begin.wall;
        self.note(now, ran, ran.saturating_sub(core - begin.core));
    }

    fn now(&self) -> u64 {
        self.begin.elapsed().as_nanos() as u64
    }

    fn is_on_at(&self, now: u64) -> bool {
        if now < self.backoff_end.load(Relaxed) {
            return true;
        }
        self.backoff_end.store(0, Relaxed);
        false
    }

    fn note(&self, now: u64, ran: u64, lost: u64) {
        let ran = self.ran.fetch_add(ran, Relaxed) + ran;
        let lost = self.lost.fetch_add(lost, Relaxed) + lost;
        if ran < TRIAL.as_nanos() as u64 {
            return;
        }
        let [first, longest] = BACKOFF.map(|backoff| backoff.as_nanos() as u64);
        if lost * 100 > ran * self.most_percent {
            let backoff = self.next_backoff.load(Relaxed);
            self.backoff_end.store(now + backoff, Relaxed);
            self.next_backoff.store((2 * backoff).min(longest), Relaxed);
        } else {
            self.next_backoff.store(first, Relaxed);
        }
        self.ran.store(0, Relaxed);
        self.lost.store(0, Relaxed);
    }
}

/// The core time of this thread, if the system reports it.
fn core_time() -> Option<u64> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes the time to the given variable, which is ours.
    let done = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    (done == 0).then_some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Runs of 5 ms, of which `lost` ms are lost, until a backoff begins, or after a second.
    fn tried(workers: &WorkerBackoff, from: u64, lost: u64) -> Option<u64> {
        let times = (from..from + 1000).step_by(5).skip(1);
        times.into_iter().find(|time| {
            workers.note(time * MS, 5 * MS, lost * MS);
            workers.backoff_end.load(Relaxed) != 0
        })
    }

    #[test]
    fn each_backoff_is_twice_as_long_up_to_a_limit() {
        let workers = WorkerBackoff::new(2);
        let mut now = 0;
        for backoff in [80, 160, 320, 640, 1280, 2000, 2000] {
            let begin = tried(&workers, now, 3).expect("3 of 5 ms are lost");
            assert_eq!(begin, now + 40);
            assert!(workers.is_on_at((begin + backoff) * MS - 1), "{backoff}");
            now = begin + backoff;
            assert!(!workers.is_on_at(now * MS), "{backoff}");
        }
    }

    #[test]
    fn there_is_no_backoff_where_less_is_lost_than_workers_save() {
        assert_eq!(tried(&WorkerBackoff::new(2), 0, 2), None);
        assert_eq!(tried(&WorkerBackoff::new(4), 0, 3), None);
        assert!(tried(&WorkerBackoff::new(4), 0, 4).is_some());
    }

    #[test]
    fn once_workers_help_the_next_backoff_is_the_first() {
        let workers = WorkerBackoff::new(2);
        let begin = tried(&workers, 0, 3).expect("3 of 5 ms are lost");
        assert!(!workers.is_on_at((begin + 80) * MS));
        assert_eq!(tried(&workers, begin + 80, 1), None);
        let begin = tried(&workers, 3000, 4).expect("4 of 5 ms are lost");
        assert!(!workers.is_on_at((begin + 80) * MS), "as short as the first");
    }

    #[test]
    fn one_loss_in_a_long_trial_is_no_reason_and_one_thread_has_no_workers() {
        let workers = WorkerBackoff::new(2);
        workers.note(900 * MS, 50 * MS, 20 * MS);
        assert!(!workers.is_on());
        assert!(WorkerBackoff::new(1).run_begins().is_none());
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no clock of the time that a thread had a core")]
    fn a_thread_that_sleeps_has_no_core() {
        let workers = WorkerBackoff::new(2);
        let begin = workers.run_begins().expect("it has a worker");
        std::thread::sleep(Duration::from_millis(60));
        workers.run_ends(&begin);
        assert!(workers.is_on());
    }
}
