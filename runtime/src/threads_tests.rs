//! The thread pool does each part once, joins, wakes, survives panics, and does not block others.

use std::collections::HashSet;
use std::sync::atomic::AtomicU32;
use std::sync::mpsc;
use std::time::Duration;

use super::*;

/// `usual`, or `few` under Miri, which takes some ten thousand times as long.
fn or_few<T>(usual: T, few: T) -> T {
    if cfg!(miri) { few } else { usual }
}

/// Each of `parts` parts adds one to its own counter; panics unless each was done once.
fn check_each_part_once(pool: &ThreadPool, parts: u32) {
    let done: Vec<AtomicU32> = (0..parts).map(|_| AtomicU32::new(0)).collect();
    pool.for_each(parts, &|_, part| {
        done[part as usize].fetch_add(1, Relaxed);
    });
    for (part, times) in done.iter().enumerate() {
        assert_eq!(times.load(Relaxed), 1, "part {part} of {parts}");
    }
}

fn panic_message(outcome: thread::Result<()>) -> String {
    *outcome.expect_err("a part panicked").downcast::<String>().expect("a formatted message")
}

#[test]
fn each_part_is_done_once() {
    for threads in [1, 2, 3, 8] {
        let pool = ThreadPool::new(threads);
        for parts in [0, 1, 2, 3, 7, 64, or_few(1000, 65)] {
            check_each_part_once(&pool, parts);
        }
    }
}

/// The parts that each worker did, in its order.
fn order_of_parts(pool: &ThreadPool, parts: u32, order: PartOrder) -> Vec<Vec<u32>> {
    let lists: Vec<Mutex<Vec<u32>>> = (0..pool.threads()).map(|_| Mutex::default()).collect();
    pool.in_order(parts, order, &|worker, part| lock(&lists[worker]).push(part));
    lists.iter().map(|list| lock(list).clone()).collect()
}

#[test]
fn parts_of_a_share_are_taken_backward_as_well() {
    let alone = ThreadPool::new(1);
    assert_eq!(order_of_parts(&alone, 5, PartOrder::Forward), [[0, 1, 2, 3, 4]]);
    assert_eq!(order_of_parts(&alone, 5, PartOrder::Backward), [[4, 3, 2, 1, 0]]);
    for (threads, order) in
        [2, 3, 8].into_iter().flat_map(|n| [(n, PartOrder::Forward), (n, PartOrder::Backward)])
    {
        let pool = ThreadPool::new(threads);
        for parts in [1, 2, 3, 7, or_few(64, 20), or_few(1000, 21)] {
            let lists = order_of_parts(&pool, parts, order);
            let owner = |part: u32| {
                let has = |owner: &usize| pool.shared.share(parts.into(), *owner).contains(&part.into());
                (0..pool.shared.shares(parts.into())).find(has)
            };
            for pair in lists.iter().flat_map(|list| list.windows(2)) {
                let is_forward = pair[0] < pair[1];
                assert!(
                    owner(pair[0]) != owner(pair[1]) || is_forward == (order == PartOrder::Forward),
                    "{pair:?}"
                );
            }
            let mut done = lists.concat();
            done.sort_unstable();
            assert_eq!(done, (0..parts).collect::<Vec<u32>>(), "{threads} threads");
        }
    }
}

#[test]
fn every_other_run_of_a_kernel_goes_backward() {
    let pool = ThreadPool::new(1);
    let kernels = [[0u8; 64]; 2];
    let turns: Vec<PartOrder> = (0..4).map(|run| pool.turn(kernels[run / 2].as_ptr())).collect();
    assert_eq!(turns[0], PartOrder::Forward);
    assert_ne!(turns[0], turns[1]);
    assert_ne!(turns[2], turns[3]);
}

#[test]
fn many_short_jobs_in_a_row_lose_nothing() {
    let pool = ThreadPool::new(4);
    let sum = AtomicU64::new(0);
    let jobs = or_few(50_000u64, 100);
    for job in 0..jobs {
        pool.for_each(3, &|_, part| {
            sum.fetch_add(job * u64::from(part), Relaxed);
        });
    }
    assert_eq!(sum.into_inner(), (0..jobs).map(|job| 3 * job).sum());
}

#[test]
fn sleeping_workers_are_woken() {
    let pool = ThreadPool::new(2);
    for _ in 0..or_few(20, 5) {
        while pool.shared.gate.0.load(Relaxed) & ASLEEP_FIELD == 0 {
            thread::yield_now();
        }
        let (send, receive) = mpsc::sync_channel::<()>(1);
        let receive = Mutex::new(receive);
        // One part sends and the other receives, so the job ends only if both threads take part in it.
        pool.for_each(2, &|_, part| match part {
            0 => lock(&receive).recv_timeout(Duration::from_secs(60)).expect("the worker woke up"),
            _ => send.send(()).expect("the channel is open"),
        });
    }
}

#[test]
fn a_caller_that_slept_is_woken() {
    let pool = ThreadPool::new(2);
    let caller = thread::current().id();
    for _ in 0..5 {
        pool.for_each(2, &|_, _| {
            if thread::current().id() == caller {
                // The caller continues once the worker has the other part.
                spin_until(|| pool.shared.next[1].0.load(Relaxed) >= 2);
            } else {
                spin_until(|| pool.shared.gate.0.load(Relaxed) & CALLER_ASLEEP != 0);
            }
        });
        assert_eq!(pool.shared.gate.0.load(Relaxed) & CALLER_ASLEEP, 0);
    }
}

#[test]
fn each_worker_begins_with_its_share() {
    let pool = ThreadPool::new(3);
    for parts in [3, 8, 100] {
        let firsts: Vec<AtomicU32> = (0..3).map(|_| AtomicU32::new(u32::MAX)).collect();
        pool.for_each(parts, &|worker, part| {
            let is_first = firsts[worker].compare_exchange(u32::MAX, part, Relaxed, Relaxed).is_ok();
            if is_first {
                // Waits until all have begun, so that nobody can take another's share.
                spin_until(|| firsts.iter().all(|first| first.load(Relaxed) != u32::MAX));
            }
        });
        let firsts: Vec<u32> = firsts.into_iter().map(AtomicU32::into_inner).collect();
        assert_eq!(firsts, [0, parts / 3, parts * 2 / 3]);
    }
}

fn spin_until(condition: impl Fn() -> bool) {
    while !condition() {
        thread::yield_now();
    }
}

#[test]
fn no_worker_runs_two_parts_at_once() {
    let pool = ThreadPool::new(4);
    let inside: Vec<AtomicU32> = (0..4).map(|_| AtomicU32::new(0)).collect();
    for _ in 0..or_few(500, 10) {
        pool.for_each(32, &|worker, _| {
            assert_eq!(inside[worker].fetch_add(1, AcqRel), 0);
            inside[worker].fetch_sub(1, AcqRel);
        });
    }
}

#[test]
fn a_panic_reaches_the_caller_after_the_join_and_the_pool_goes_on() {
    let pool = ThreadPool::new(3);
    for bad_part in [0, 5, 99] {
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            pool.for_each(100, &|_, part| assert!(part != bad_part, "part {part} is bad"));
        }));
        assert_eq!(panic_message(outcome), format!("part {bad_part} is bad"));
        check_each_part_once(&pool, 100);
    }
}

#[test]
fn a_panic_of_every_part_is_one_panic() {
    let pool = ThreadPool::new(4);
    for _ in 0..or_few(200, 3) {
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            pool.for_each(16, &|_, part| panic!("part {part}"));
        }));
        assert!(panic_message(outcome).starts_with("part "));
    }
}

#[test]
fn a_call_from_within_a_part_runs_inline() {
    let pool = ThreadPool::new(2);
    let count = AtomicU32::new(0);
    pool.for_each(4, &|_, _| {
        let outer = thread::current().id();
        pool.for_each(5, &|worker, _| {
            assert_eq!((worker, thread::current().id()), (0, outer));
            count.fetch_add(1, Relaxed);
        });
    });
    assert_eq!(count.into_inner(), 20);
}

#[test]
fn two_callers_at_once_both_get_their_parts_done() {
    let pool = ThreadPool::new(2);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| (0..or_few(2000, 20)).for_each(|_| check_each_part_once(&pool, 5)));
        }
    });
}

#[test]
fn more_threads_than_cores_still_finish() {
    let hog = AtomicBool::new(true);
    thread::scope(|scope| {
        for _ in 0..2 * thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while hog.load(Relaxed) {
                    std::hint::spin_loop()
                }
            });
        }
        let pool = ThreadPool::new(8);
        (0..or_few(50, 3)).for_each(|_| check_each_part_once(&pool, or_few(40, 10)));
        hog.store(false, Relaxed);
    });
}

#[test]
fn a_pool_can_be_dropped_unused_and_asleep() {
    (0..or_few(50, 5)).for_each(|_| drop(ThreadPool::new(3)));
    let pool = ThreadPool::new(3);
    spin_until(|| pool.shared.gate.0.load(Relaxed) & ASLEEP_FIELD == 2 * ASLEEP);
    drop(pool);
}

#[test]
fn kernels_get_their_part_and_their_workers_scratch() {
    unsafe extern "C" fn mark(desc: *const u8, ptrs: *const *mut u8, part: u32, scratch: *mut u8) {
        // SAFETY: the test gives one byte per part, one byte of descriptor, and 16 bytes of scratch per
        // worker.
        unsafe {
            *(*ptrs).add(part as usize) = part as u8 + *desc;
            *scratch.add(15) = 1;
        }
    }
    let pool = ThreadPool::new(2);
    let (mut out, mut scratch) = ([0u8; 100], [0u8; 32]);
    let ptrs = [out.as_mut_ptr()];
    // SAFETY: the sizes are those that `mark` requires.
    unsafe { pool.run(mark, [7u8].as_ptr(), ptrs.as_ptr(), 100, scratch.as_mut_ptr(), 16) };
    assert!((0..100).all(|part| out[part] == part as u8 + 7));
    let touched: HashSet<usize> = (0..32).filter(|&i| scratch[i] != 0).collect();
    assert!(!touched.is_empty() && touched.is_subset(&HashSet::from([15, 31])), "{touched:?}");
}

#[test]
#[should_panic(expected = "a pool has 1 to 1024 threads, not 0")]
fn a_pool_without_threads_is_refused() {
    let _ = ThreadPool::new(0);
}

/// Starts threads for each job.
struct Started(usize);

// SAFETY: each thread has a number of its own, takes parts from one counter, and ends within the scope.
unsafe impl ParallelFor for Started {
    fn threads(&self) -> usize {
        self.0
    }

    fn for_each(&self, parts: u32, body: &(dyn Fn(usize, u32) + Sync)) {
        let next = AtomicU32::new(0);
        thread::scope(|scope| {
            for worker in 0..self.0.min(parts as usize) {
                let next = &next;
                scope.spawn(move || {
                    while let Some(part) = Some(next.fetch_add(1, Relaxed)).filter(|part| *part < parts) {
                        body(worker, part);
                    }
                });
            }
        });
    }
}

#[test]
fn threads_of_another_program_do_each_part_once() {
    let pool = ThreadPool::of(Box::new(Started(3)));
    assert_eq!(pool.threads(), 3);
    for parts in [0, 1, 2, 100] {
        let done: Vec<AtomicU32> = (0..parts).map(|_| AtomicU32::new(0)).collect();
        pool.for_each(parts, &|worker, part| {
            assert!(worker < 3.min(parts as usize));
            done[part as usize].fetch_add(1, Relaxed);
        });
        assert!(done.into_iter().all(|times| times.into_inner() == 1));
    }
}

#[test]
#[should_panic(expected = "worker 2 of 2 has part 0 of 2")]
fn a_worker_without_scratch_does_nothing() {
    struct Wrong;
    // SAFETY: its violation of the contract is detected before anything is touched.
    unsafe impl ParallelFor for Wrong {
        fn threads(&self) -> usize {
            3
        }

        fn for_each(&self, _: u32, body: &(dyn Fn(usize, u32) + Sync)) {
            body(2, 0);
        }
    }
    ThreadPool::of(Box::new(Wrong)).for_each(2, &|_, _| {});
}
