//! That a program runs machine code on what it is given, and refuses what does not fit before that.

use std::sync::Arc;

use runtime::{
    AlignedBuffer, Arena, ArenaError, CodeContext, ElementKind, EntryFn, InputBuffer, LoadedCode, Program,
    ProgramParts, RunError, Specialization, SpecializationParts, TensorDesc, TensorSide, ThreadPool, Weights,
    as_bytes, as_bytes_mut, optc_parallel,
};

/// What the code under test does.
#[derive(Clone, Copy)]
enum Body {
    /// `y[i] = x[i] + w` on 8 f32, a part of `optc_parallel` for each `i`; each part goes by way of its
    /// worker's scratch.
    AddWeight,
    /// Returns this status and writes nothing.
    Status(i64),
}

/// The kernel that `AddWeight` calls: pointers are x, w, y; scratch is one f32 for each worker.
unsafe extern "C" fn add_weight(_: *const u8, ptrs: *const *mut u8, part: u32, scratch: *mut u8) {
    // SAFETY: the code below passes these three pointers, to 8, 1 and 8 f32, and 64 bytes of scratch for each
    // worker.
    unsafe {
        let (x, w, y) = (*ptrs, *ptrs.add(1), *ptrs.add(2));
        *scratch.cast::<f32>() = *x.cast::<f32>().add(part as usize);
        *y.cast::<f32>().add(part as usize) = *scratch.cast::<f32>() + *w.cast::<f32>();
    }
}

/// The pointer table, then 64 bytes of scratch for each of two workers.
const ARENA_BYTES: usize = 64 + 2 * 64;

/// The entry for [`Body::AddWeight`].
unsafe extern "C" fn run_add_weight(
    ctx: *const CodeContext,
    arena: *mut u8,
    weights: *const u8,
    inputs: *const *const u8,
    outputs: *const *mut u8,
    _: *const i64,
) -> i32 {
    // SAFETY: the arena has room for the table and the scratch, inputs and outputs are one of 8 f32 each.
    unsafe {
        let table = arena.cast::<*mut u8>();
        let pointers = [(*inputs).cast_mut(), weights.cast_mut(), *outputs];
        pointers.into_iter().enumerate().for_each(|(slot, pointer)| *table.add(slot) = pointer);
        optc_parallel(ctx, add_weight, weights, table, 8, arena.add(64), 64);
    }
    0
}

/// The entry for [`Body::Status`].
unsafe extern "C" fn run_status(
    _: *const CodeContext,
    _: *mut u8,
    _: *const u8,
    _: *const *const u8,
    _: *const *mut u8,
    frame: *const i64,
) -> i32 {
    // SAFETY: the frame has the status.
    unsafe { *frame as i32 }
}

fn parts(body: Body) -> (ProgramParts, SpecializationParts) {
    let (entry, frame): (EntryFn, Vec<i64>) = match body {
        Body::AddWeight => (run_add_weight, Vec::new()),
        Body::Status(status) => (run_status, vec![status]),
    };
    let mut weights = AlignedBuffer::zeroed(4).expect("the test compiles");
    weights.as_mut_slice().copy_from_slice(as_bytes(&[100.0f32]));
    let tensor = |name: &str| TensorDesc::new(name, ElementKind::F32, vec![8], 32);
    let parts = ProgramParts { weights: Arc::new(Weights::buffer(weights)), threads: 2 };
    let only = SpecializationParts {
        // SAFETY: the code adds the weight to eight elements, within the buffers below, or only returns.
        code: unsafe { LoadedCode::from_entry(entry, Arc::new(())) },
        faults: Arc::new(["the index is out of range".to_owned()]),
        frame,
        arena_bytes: ARENA_BYTES,
        inputs: vec![tensor("x")],
        outputs: vec![tensor("y")],
        weights_bytes: 0,
        weights: Arc::new(()),
    };
    (parts, only)
}

fn program(body: Body) -> Arc<Program> {
    let (parts, only) = parts(body);
    // SAFETY: the code touches what `only` says.
    let only = unsafe { Specialization::new(only) };
    Arc::new(Program::new(parts, only))
}

const X: [f32; 8] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
const Y: [f32; 8] = [100.0, 101.0, 102.0, 103.0, 104.0, 105.0, 106.0, 107.0];

#[test]
fn machine_code_runs_its_kernels_on_every_number_of_threads() {
    let program = program(Body::AddWeight);
    for threads in [1, 2] {
        let mut context = program.context(threads).unwrap();
        for _ in 0..if cfg!(miri) { 5 } else { 100 } {
            let mut y = [0.0f32; 8];
            context.run(&[as_bytes(&X)], &mut [as_bytes_mut(&mut y)]).unwrap();
            assert_eq!(y, Y);
        }
        assert_eq!(context.arena_bytes(), ARENA_BYTES);
    }
}

#[test]
fn many_contexts_run_one_program_at_once() {
    let program = program(Body::AddWeight);
    let pool = Arc::new(ThreadPool::new(2));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut context = program.context_in(Arc::clone(&pool), Arena::owned()).unwrap();
                for _ in 0..if cfg!(miri) { 5 } else { 200 } {
                    let mut y = [0.0f32; 8];
                    context.run(&[as_bytes(&X)], &mut [as_bytes_mut(&mut y)]).unwrap();
                    assert_eq!(y, Y);
                }
            });
        }
    });
}

#[test]
fn a_program_runs_in_the_embedders_arena() {
    let program = program(Body::AddWeight);
    let mut memory = AlignedBuffer::zeroed(ARENA_BYTES).unwrap();
    let pool = Arc::new(ThreadPool::new(1));
    let arena = Arena::given(memory.as_mut_slice());
    let mut context = program.context_in(Arc::clone(&pool), arena).unwrap();
    let mut y = [0.0f32; 8];
    context.run(&[as_bytes(&X)], &mut [as_bytes_mut(&mut y)]).unwrap();
    assert_eq!(y, Y);
    drop(context);
    assert_eq!(memory.as_slice()[64..68], as_bytes(&[7.0f32])[..], "scratch of worker 0");

    let too_small = Arena::given(&mut memory.as_mut_slice()[..ARENA_BYTES - 1]);
    let error = program.context_in(pool, too_small).err().unwrap();
    let expected = ArenaError::TooSmall { needed: ARENA_BYTES, found: ARENA_BYTES - 1 };
    assert_eq!(error, RunError::Arena(expected));
}

/// Runs `AddWeight` on `inputs` and outputs of `output_bytes`, and compares the message.
fn check_refused(inputs: &[&[u8]], output_bytes: &[usize], message: &str) {
    let mut context = program(Body::AddWeight).context(1).expect("the buffers fit");
    let mut outputs: Vec<Vec<u8>> = output_bytes.iter().map(|&bytes| vec![0; bytes]).collect();
    let mut outputs: Vec<&mut [u8]> = outputs.iter_mut().map(Vec::as_mut_slice).collect();
    let error = context.run(inputs, &mut outputs).expect_err("the buffers do not fit");
    assert_eq!(error.to_string(), message);

    let mut y = [0.0f32; 8];
    context.run(&[as_bytes(&X)], &mut [as_bytes_mut(&mut y)]).expect("the buffers fit");
    assert_eq!(y, Y, "the context stays usable");
}

#[test]
fn buffers_that_do_not_fit_are_refused() {
    let x = as_bytes(&X);
    check_refused(&[], &[32], "0 input buffers were given, and the program has 1 inputs");
    check_refused(&[x], &[32, 1], "2 output buffers were given, and the program has 1 outputs");
    let short = "input `x` of shape [8] has 32 bytes, and the buffer given has 31";
    check_refused(&[&x[1..]], &[32], short);
    let long = "output `y` of shape [8] has 32 bytes, and the buffer given has 33";
    check_refused(&[x], &[33], long);
    let odd = "the buffer given for input `x` must begin at a multiple of 4 bytes";
    check_refused(&[&as_bytes(&[0u64; 6])[1..33]], &[32], odd);
}

#[test]
fn a_status_becomes_the_fault_that_the_compiler_named() {
    for (status, expected) in [
        (1, "the index is out of range"),
        (2, "a fault that the compiler did not name"),
        (-1, "a fault that the compiler did not name"),
    ] {
        let mut context = program(Body::Status(status)).context(1).unwrap();
        let mut y = [0.0f32; 8];
        let error = context.run(&[as_bytes(&X)], &mut [as_bytes_mut(&mut y)]).unwrap_err();
        let message = expected.to_owned();
        assert_eq!(error, RunError::Fault { status: status as i32, message });
    }
}

#[test]
fn an_overwritten_input_must_be_donated() {
    let (parts, mut only) = parts(Body::AddWeight);
    only.inputs[0].overwritten = true;
    // SAFETY: the code touches what `only` says.
    let only = unsafe { Specialization::new(only) };
    let mut context = Arc::new(Program::new(parts, only)).context(1).unwrap();
    let (mut x, mut y) = (X, [0.0f32; 8]);
    let refused = RunError::NotDonated { name: "x".to_owned() };
    let result = context.run(&[as_bytes(&x)], &mut [as_bytes_mut(&mut y)]);
    assert_eq!(result, Err(refused.clone()));
    let mut shared = [InputBuffer::Shared(as_bytes(&X))];
    let result = context.run_donating(&mut shared, &mut [as_bytes_mut(&mut y)]);
    assert_eq!(result, Err(refused));
    let mut donated = [InputBuffer::Donated(as_bytes_mut(&mut x))];
    context.run_donating(&mut donated, &mut [as_bytes_mut(&mut y)]).unwrap();
    assert_eq!(y, Y);
    let mut short = [InputBuffer::Donated(&mut as_bytes_mut(&mut x)[4..])];
    let result = context.run_donating(&mut short, &mut [as_bytes_mut(&mut y)]);
    assert!(matches!(result, Err(RunError::Size { side: TensorSide::Input, expected: 32, found: 28, .. })));
}

#[test]
fn threads_beyond_the_planned_scratch_are_refused() {
    let program = program(Body::AddWeight);
    for found in [0, 3] {
        assert_eq!(program.context(found).err(), Some(RunError::Threads { most: 2, found }));
    }
    let error = program.context_in(Arc::new(ThreadPool::new(3)), Arena::owned()).err();
    assert_eq!(error, Some(RunError::Threads { most: 2, found: 3 }));
}
