//! That runs after the first allocate nothing, and that the counts which say so are right.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::thread;

use runtime::{
    AlignedBuffer, Context, CountingAllocator, ElementKind, JitCode, Pool, Program, ProgramParts, TensorDesc,
    Weights,
};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::new();

const ARENA_BYTES: usize = 100_000;

unsafe extern "C" fn nothing(
    _: *const Context,
    _: *mut u8,
    _: *const u8,
    _: *const *const u8,
    _: *const *mut u8,
    _: *const i64,
) -> i32 {
    0
}

#[test]
fn what_is_allocated_is_counted() {
    let (kept, counted) = ALLOCATOR.measure(|| {
        drop(vec![0u8; 1000]);
        let mut kept = Vec::<u8>::with_capacity(10);
        kept.reserve_exact(300);
        kept
    });
    assert_eq!((counted.count, counted.bytes), (3, 1310));
    assert_eq!((counted.peak_bytes, counted.remaining_bytes), (1000, 300));
    let ((), counted) = ALLOCATOR.measure(|| drop(kept));
    assert_eq!((counted.count, counted.peak_bytes, counted.remaining_bytes), (0, 0, -300));

    let (buffer, counted) = ALLOCATOR.measure(|| AlignedBuffer::zeroed(1000));
    assert!((1000..=1064).contains(&counted.remaining_bytes), "{counted:?}");
    drop(buffer);
}

#[test]
fn the_first_run_allocates_the_arena_and_the_next_nothing() {
    let desc = |name: &str| TensorDesc::new(name, ElementKind::U8, vec![8], 8);
    // SAFETY: `nothing` is a function, which touches nothing.
    let code = unsafe { JitCode::from_entry(nothing, Arc::new(())) };
    let program = Arc::new(Program::new(ProgramParts {
        code,
        weights: Arc::new(Weights::none()),
        arena_bytes: ARENA_BYTES,
        threads: 2,
        inputs: vec![desc("a"), desc("b")],
        outputs: vec![desc("c")],
        faults: Vec::new(),
    }));
    let mut context = program.context(2).expect("two threads were planned");
    let (a, b, mut c) = ([0u64], [0u64], [0u64]);
    let inputs = [runtime::as_bytes(&a), runtime::as_bytes(&b)];
    let mut outputs = [runtime::as_bytes_mut(&mut c)];
    let (result, first) = ALLOCATOR.measure(|| context.run(&inputs, &mut outputs));
    result.expect("the buffers fit");
    assert_eq!(first.count, 1, "{first:?}");
    let page = 4096;
    assert!((ARENA_BYTES as i64..=(ARENA_BYTES + page) as i64).contains(&first.remaining_bytes));
    let ((), later) = ALLOCATOR.measure(|| {
        for _ in 0..100 {
            context.run(&inputs, &mut outputs).expect("the buffers fit");
        }
    });
    assert_eq!((later.count, later.remaining_bytes), (0, 0));
}

#[test]
fn what_other_threads_allocate_meanwhile_is_not_counted() {
    let (stop, rounds) = (AtomicBool::new(false), AtomicU32::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Relaxed) {
                drop(vec![0u8; 1000]);
                rounds.fetch_add(1, Relaxed);
            }
        });
        let wait_for_rounds = || {
            let before = rounds.load(Relaxed);
            while rounds.load(Relaxed) < before + 10 {
                thread::yield_now();
            }
        };
        let (kept, counted) = ALLOCATOR.measure(|| {
            wait_for_rounds();
            vec![0u8; 300]
        });
        stop.store(true, Relaxed);
        assert_eq!((counted.count, counted.bytes, counted.remaining_bytes), (1, 300, 300));
        drop(kept);
    });
}

/// Two parts that wait for each other are on two threads, each with an allocation.
#[test]
fn what_a_pools_threads_allocate_for_the_caller_is_counted() {
    let pool = Pool::new(2);
    let here = AtomicU32::new(0);
    let both = |allocated: usize| {
        here.store(0, Relaxed);
        pool.for_each(2, &|_, _| {
            here.fetch_add(1, Relaxed);
            while here.load(Relaxed) < 2 {
                thread::yield_now();
            }
            drop(vec![0u8; allocated]);
        });
    };
    both(100);
    let ((), counted) = ALLOCATOR.measure(|| both(100));
    assert_eq!((counted.count, counted.bytes, counted.remaining_bytes), (2, 200, 0));
    let ((), counted) = ALLOCATOR.measure(|| ());
    assert_eq!(counted.count, 0);
}
