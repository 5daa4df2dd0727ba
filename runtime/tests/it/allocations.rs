//! That a run at sizes that were run before allocates nothing, with named sizes or without; and that the
//! counts which say so are right.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::thread;

use runtime::{
    AlignedBuffer, Arena, ArenaError, CodeContext, CountingAllocator, ElementKind, Extent, LoadedCode,
    NamedSizes, Program, ProgramParts, RunContext, RunError, Specialization, SpecializationParts, Specialize,
    Symbol, TensorDesc, TensorSpec, ThreadPool, Weights,
};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::new();

const ARENA_BYTES: usize = 100_000;

/// Doubles each of as many bytes as its frame says.
unsafe extern "C" fn double(
    _: *const CodeContext,
    _: *mut u8,
    _: *const u8,
    inputs: *const *const u8,
    outputs: *const *mut u8,
    frame: *const i64,
) -> i32 {
    // SAFETY: each specialization below has one number in its frame, and that many bytes on both sides.
    unsafe {
        for index in 0..*frame as usize {
            *(*outputs).add(index) = 2 * *(*inputs).add(index);
        }
    }
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

/// The sizes at which each program below runs.
const SIZE: usize = 8;

fn parts() -> ProgramParts {
    ProgramParts { weights: Arc::new(Weights::none()), threads: 2 }
}

fn specialization(size: usize) -> Specialization {
    let desc = |name: &str| TensorDesc::new(name, ElementKind::U8, vec![size as u64], size);
    let parts = SpecializationParts {
        // SAFETY: `double` is a function, which touches what its frame says.
        code: unsafe { LoadedCode::from_entry(double, Arc::new(())) },
        faults: Arc::new([]),
        frame: vec![size as i64],
        arena_bytes: ARENA_BYTES * size / SIZE,
        inputs: vec![desc("x")],
        outputs: vec![desc("y")],
        weights_bytes: 0,
        weights: Arc::new(()),
    };
    // SAFETY: the code writes as many bytes as the frame and the descriptors say.
    unsafe { Specialization::new(parts) }
}

fn without_named_sizes() -> Arc<Program> {
    Arc::new(Program::new(parts(), specialization(SIZE)))
}

struct Sizes;

impl Specialize for Sizes {
    fn specialize(&self, sizes: &[u64]) -> Result<Specialization, String> {
        if sizes[0] == 13 { Err("13 is refused".to_owned()) } else { Ok(specialization(sizes[0] as usize)) }
    }

    fn weights_bytes(&self) -> usize {
        0
    }
}

/// `x: [N]`, where `N` is 8 unless it is set. `bound_bytes` are enough at all sizes.
fn with_named_sizes(bound_bytes: Option<usize>) -> Arc<Program> {
    let spec = |name: &str| TensorSpec {
        name: name.to_owned(),
        element: ElementKind::U8,
        extents: vec![Extent::Symbol(0)],
    };
    let symbol = Symbol { name: "N".to_owned(), least: 1, most: 64, default: Some(SIZE as u64) };
    let sizes = NamedSizes {
        symbols: vec![symbol],
        inputs: vec![spec("x")],
        outputs: vec![spec("y")],
        specialize: Box::new(Sizes),
        cached: 4,
        bound_bytes,
    };
    let program = Program::with_sizes(parts(), sizes);
    program.at(&[SIZE as u64]).expect("8 is a size");
    Arc::new(program)
}

/// Checks a program without named sizes, and some with them: one that needs more than any machine has at all
/// sizes is run in what it needs at each.
fn for_both(check: impl Fn(&Arc<Program>)) {
    check(&without_named_sizes());
    check(&with_named_sizes(None));
    check(&with_named_sizes(Some(usize::MAX >> 10)));
}

/// Bytes at an address that suits every element type.
#[repr(align(64))]
struct Bytes<const N: usize>([u8; N]);

/// Runs a context on as many bytes as both sides have.
fn run<const N: usize>(context: &mut RunContext<'_>) -> Result<(), RunError> {
    let (x, mut y) = (Bytes([3; N]), Bytes([0; N]));
    context.run(&[&x.0], &mut [&mut y.0])?;
    assert_eq!(y.0, [6; N]);
    Ok(())
}

#[test]
fn the_first_run_allocates_the_arena_and_the_next_nothing() {
    for_both(|program| {
        let mut context = program.context(2).expect("two threads were planned");
        let (result, first) = ALLOCATOR.measure(|| run::<SIZE>(&mut context));
        result.expect("the buffers fit");
        assert_eq!(first.count, 1, "{first:?}");
        let page = 4096;
        assert!((ARENA_BYTES as i64..=(ARENA_BYTES + page) as i64).contains(&first.remaining_bytes));
        let ((), later) = ALLOCATOR.measure(|| {
            for _ in 0..if cfg!(miri) { 3 } else { 100 } {
                context.set_shape("x", &[SIZE as u64]).expect("it is the shape");
                context.prepare().expect("it is prepared already");
                run::<SIZE>(&mut context).expect("the buffers fit");
            }
        });
        assert_eq!((later.count, later.remaining_bytes), (0, 0));
    });
}

#[test]
fn a_size_that_fails_leaves_the_context_as_it_was() {
    for_both(|program| {
        let mut context = program.context(1).expect("one thread is fewer than were planned");
        run::<SIZE>(&mut context).expect("the buffers fit");
        let refused = context.set_shape("x", &[65]).expect_err("no program takes it").to_string();
        assert!(refused.starts_with("axis 0 of input `x` is 65, expected "), "{refused}");
        run::<SIZE>(&mut context).expect("the shape is as before");
        // A program without named sizes refuses this at once, the other when it specializes.
        let refused = context.set_shape("x", &[13]).map_err(RunError::Shape).and_then(|()| context.prepare());
        assert!(matches!(refused, Err(RunError::Shape(_))), "{refused:?}");
        context.reset_shapes();
        run::<SIZE>(&mut context).expect("the shape is the one that it has by itself");
        assert!(matches!(run::<7>(&mut context), Err(RunError::Size { .. })));
        run::<SIZE>(&mut context).expect("other buffers are no fault of the context");
    });
}

#[test]
fn a_given_arena_is_enough_or_refused() {
    for_both(|program| {
        let mut memory = AlignedBuffer::zeroed(ARENA_BYTES).expect("there is memory");
        let pool = Arc::new(ThreadPool::new(1));
        let given = Arena::given(memory.as_mut_slice());
        let mut context = program.context_in(pool.clone(), given).expect("it is large enough");
        let (result, counted) = ALLOCATOR.measure(|| run::<SIZE>(&mut context));
        assert_eq!((result, counted.count), (Ok(()), 0));
        drop(context);
        let short = Arena::given(&mut memory.as_mut_slice()[..ARENA_BYTES - 1]);
        let refused =
            program.context_in(pool.clone(), short).and_then(|mut context| run::<SIZE>(&mut context));
        let expected = ArenaError::TooSmall { needed: ARENA_BYTES, found: ARENA_BYTES - 1 };
        assert_eq!(refused, Err(RunError::Arena(expected)));
    });
}

#[test]
fn a_new_size_is_specialized_once() {
    let program = with_named_sizes(None);
    let mut context = program.context(1).expect("one thread is fewer than were planned");
    let mut pass = || {
        for size in [4, 16, 4, 8] {
            context.set_shape("x", &[size]).expect("it is a size");
            let prepared = context.prepare().expect("it can be run");
            assert_eq!(prepared.arena_bytes(), ARENA_BYTES * size as usize / SIZE);
        }
        run::<SIZE>(&mut context).expect("it is the last size");
    };
    pass();
    assert_eq!((program.specialized(), program.cached()), (3, 3));
    let ((), again) = ALLOCATOR.measure(pass);
    assert_eq!((again.count, program.specialized()), (0, 3), "a size that comes again costs nothing");
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
    let pool = ThreadPool::new(2);
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
