//! Whether workers help a run, or only take its core because another process has the others.
//!
//! Where another process keeps a core busy, the system gives the threads of a run fewer cores than there are
//! threads: the caller then loses its core to a worker, or waits for a worker that lost its own in the middle
//! of a part, each time for some milliseconds. Where that takes more of a run than workers save, the caller
//! alone is faster. So it rests from its workers then, and tries them again: each time after a rest twice as
//! long, and after the first rest again once they help.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// How long runs with workers are before it is decided whether these help.
const TRIAL: Duration = Duration::from_millis(40);
/// The first rest, and the longest.
const REST: [Duration; 2] = [Duration::from_millis(80), Duration::from_secs(2)];

/// What a caller knows of its workers. Times are nanoseconds, points in time since `begin`.
pub(crate) struct Patience {
    begin: Instant,
    /// More than this share of a trial, in percent, is not lost where workers help.
    most_percent: u64,
    /// How long the runs of the trial took that is going on.
    ran: AtomicU64,
    /// For how long the caller did not run in them.
    lost: AtomicU64,
    /// When the last rest ends; 0 where that is over.
    rest_end: AtomicU64,
    /// How long the next rest is.
    next_rest: AtomicU64,
}

/// When a run began, and for how long its thread had a core before that.
pub(crate) struct RunBegin {
    wall: u64,
    core: u64,
}

impl Patience {
    /// With so many threads, the caller's among them.
    pub(crate) fn new(threads: usize) -> Patience {
        Patience {
            begin: Instant::now(),
            // With n threads a run takes a little more than an n-th of the time.
            most_percent: 85 * (threads as u64 - 1) / threads as u64,
            ran: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            rest_end: AtomicU64::new(0),
            next_rest: AtomicU64::new(REST[0].as_nanos() as u64),
        }
    }

    /// Whether the caller is to do its work alone.
    pub(crate) fn rests(&self) -> bool {
        self.rest_end.load(Relaxed) != 0 && self.rests_at(self.now())
    }

    /// A run begins; none if it goes without workers.
    pub(crate) fn run_begins(&self) -> Option<RunBegin> {
        if self.most_percent == 0 || self.rests() {
            return None;
        }
        Some(RunBegin { wall: self.now(), core: core_time()? })
    }

    /// That run ends.
    pub(crate) fn run_ends(&self, begin: &RunBegin) {
        let now = self.now();
        let Some(core) = core_time() else { return };
        let ran = now - begin.wall;
        self.note(now, ran, ran.saturating_sub(core - begin.core));
    }

    fn now(&self) -> u64 {
        self.begin.elapsed().as_nanos() as u64
    }

    fn rests_at(&self, now: u64) -> bool {
        if now < self.rest_end.load(Relaxed) {
            return true;
        }
        self.rest_end.store(0, Relaxed);
        false
    }

    fn note(&self, now: u64, ran: u64, lost: u64) {
        let ran = self.ran.fetch_add(ran, Relaxed) + ran;
        let lost = self.lost.fetch_add(lost, Relaxed) + lost;
        if ran < TRIAL.as_nanos() as u64 {
            return;
        }
        let [first, longest] = REST.map(|rest| rest.as_nanos() as u64);
        if lost * 100 > ran * self.most_percent {
            let rest = self.next_rest.load(Relaxed);
            self.rest_end.store(now + rest, Relaxed);
            self.next_rest.store((2 * rest).min(longest), Relaxed);
        } else {
            self.next_rest.store(first, Relaxed);
        }
        self.ran.store(0, Relaxed);
        self.lost.store(0, Relaxed);
    }
}

/// For how long this thread had a core, if the system says it.
fn core_time() -> Option<u64> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes the time to where it is told, which is ours.
    let done = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    (done == 0).then_some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Runs of 5 ms, of which so many are lost, until a rest begins, or a second is over.
    fn tried(patience: &Patience, from: u64, lost: u64) -> Option<u64> {
        let times = (from..from + 1000).step_by(5).skip(1);
        times.into_iter().find(|time| {
            patience.note(time * MS, 5 * MS, lost * MS);
            patience.rest_end.load(Relaxed) != 0
        })
    }

    #[test]
    fn who_loses_most_of_the_time_rests_ever_longer() {
        let patience = Patience::new(2);
        let mut now = 0;
        for rest in [80, 160, 320, 640, 1280, 2000, 2000] {
            let begin = tried(&patience, now, 3).expect("3 of 5 ms are lost");
            assert_eq!(begin, now + 40);
            assert!(patience.rests_at((begin + rest) * MS - 1), "{rest}");
            now = begin + rest;
            assert!(!patience.rests_at(now * MS), "{rest}");
        }
    }

    #[test]
    fn who_loses_less_than_workers_save_does_not_rest() {
        assert_eq!(tried(&Patience::new(2), 0, 2), None);
        assert_eq!(tried(&Patience::new(4), 0, 3), None);
        assert!(tried(&Patience::new(4), 0, 4).is_some());
    }

    #[test]
    fn workers_that_help_again_are_forgiven() {
        let patience = Patience::new(2);
        let begin = tried(&patience, 0, 3).expect("3 of 5 ms are lost");
        assert!(!patience.rests_at((begin + 80) * MS));
        assert_eq!(tried(&patience, begin + 80, 1), None);
        let begin = tried(&patience, 3000, 4).expect("4 of 5 ms are lost");
        assert!(!patience.rests_at((begin + 80) * MS), "the first rest again");
    }

    #[test]
    fn one_loss_in_a_long_trial_is_no_reason_and_one_thread_has_no_workers() {
        let patience = Patience::new(2);
        patience.note(900 * MS, 50 * MS, 20 * MS);
        assert!(!patience.rests());
        assert!(Patience::new(1).run_begins().is_none());
    }

    #[test]
    fn a_thread_that_sleeps_has_no_core() {
        let patience = Patience::new(2);
        let begin = patience.run_begins().expect("it has a worker");
        std::thread::sleep(Duration::from_millis(60));
        patience.run_ends(&begin);
        assert!(patience.rests());
    }
}
