//! Functions for C: the part of an object file besides generated code and kernels.
//!
//! This crate is compiled once, with `kernels`, to machine code that `optc` embeds; an object file gets the
//! parts that a program reaches. So nothing here allocates, keeps state, starts threads, or calls the system.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use kernels::KernelFn;

mod cpu;
pub mod sized;

use sized::Sizes;

/// The entry of generated code, as in `runtime`.
type EntryFn = unsafe extern "C" fn(
    threads: *const Threads,
    arena: *mut u8,
    weights: *const u8,
    inputs: *const *const u8,
    outputs: *const *mut u8,
    frame: *const i64,
) -> i32;

/// A program, described by its object file; the crate `aot` writes it.
#[repr(C)]
pub struct Program {
    entry: EntryFn,
    frame: *const i64,
    /// The weights, if they are in the object file.
    weights: *const u8,
    /// One for each input, then one for each output.
    buffers: *const Buffer,
    inputs: u64,
    outputs: u64,
    /// The most threads that scratch is planned for.
    threads: u64,
    /// The messages of the program's statuses 1, 2, ...
    messages: *const *const c_char,
    faults: u64,
    /// The number of the instruction set in [`kernels::Isa::ALL`].
    isa: u64,
    /// The frames of named sizes, if there are any; then the entry and the frame above are null.
    sizes: *const Sizes,
    /// The functions that frames of named sizes call.
    callees: *const u64,
}

/// An input or output.
#[repr(C)]
struct Buffer {
    bytes: u64,
    align: u64,
}

unsafe extern "C" {
    /// The program of the object file.
    static optc_program: Program;
}

/// A caller's threads.
#[repr(C)]
pub struct Threads {
    /// Calls `task(job, index)` for each index below `count`, at the same time if it can, and returns when
    /// all have returned.
    parallel_for: Option<ParallelFor>,
    context: *mut c_void,
    /// The largest number of tasks.
    count: u32,
}

type ParallelFor = unsafe extern "C" fn(context: *mut c_void, count: u32, task: Task, job: *mut c_void);

type Task = unsafe extern "C" fn(job: *mut c_void, index: u32);

/// The statuses of a run with bad arguments; positive numbers are the program's own.
const BAD_ARENA: c_int = -1;
const BAD_WEIGHTS: c_int = -2;
const BAD_INPUT: c_int = -3;
const BAD_OUTPUT: c_int = -4;
const BAD_THREADS: c_int = -5;
const BAD_SIZES: c_int = -6;
const BAD_FRAME: c_int = -7;

/// `M_run` of a program whose weights are in a file.
///
/// # Safety
/// The arena, the weights and the buffers match the header file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_standalone_run(
    arena: *mut u8,
    weights: *const u8,
    inputs: *const *const u8,
    outputs: *const *mut u8,
) -> c_int {
    // SAFETY: passed on.
    unsafe { run(arena, weights, inputs, outputs, std::ptr::null()) }
}

/// `M_run_threads` of a program whose weights are in a file.
///
/// # Safety
/// As for [`optc_standalone_run`]; `threads` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_standalone_run_threads(
    arena: *mut u8,
    weights: *const u8,
    inputs: *const *const u8,
    outputs: *const *mut u8,
    threads: *const Threads,
) -> c_int {
    // SAFETY: passed on.
    unsafe { run(arena, weights, inputs, outputs, threads) }
}

/// `M_run` of a program whose weights are in the object file.
///
/// # Safety
/// As for [`optc_standalone_run`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_standalone_run_embedded(
    arena: *mut u8,
    inputs: *const *const u8,
    outputs: *const *mut u8,
) -> c_int {
    // SAFETY: passed on; the program is constant.
    unsafe { run(arena, optc_program.weights, inputs, outputs, std::ptr::null()) }
}

/// `M_run_threads` of a program whose weights are in the object file.
///
/// # Safety
/// As for [`optc_standalone_run_threads`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_standalone_run_threads_embedded(
    arena: *mut u8,
    inputs: *const *const u8,
    outputs: *const *mut u8,
    threads: *const Threads,
) -> c_int {
    // SAFETY: passed on; the program is constant.
    unsafe { run(arena, optc_program.weights, inputs, outputs, threads) }
}

/// # Safety
/// As for [`optc_standalone_run_threads`].
#[inline(always)]
unsafe fn run(
    arena: *mut u8,
    weights: *const u8,
    inputs: *const *const u8,
    outputs: *const *mut u8,
    threads: *const Threads,
) -> c_int {
    // SAFETY: by the caller's contract; the program's table has an entry for each buffer.
    unsafe {
        let Program { entry, frame, buffers, .. } = &optc_program;
        let bytes = |index: usize| (*buffers.add(index)).bytes;
        match check(arena, weights, [inputs.cast(), outputs.cast()], threads, bytes) {
            0 => entry(threads, arena, weights, inputs, outputs, *frame),
            status => status,
        }
    }
}

/// The error in the arguments of a run, or 0. Inputs, then outputs have the given numbers of bytes.
///
/// # Safety
/// There is a pointer for each input and output of the program, or the table of pointers is null.
#[inline(always)]
unsafe fn check(
    arena: *const u8,
    weights: *const u8,
    [inputs, outputs]: [*const *const u8; 2],
    threads: *const Threads,
    bytes: impl Fn(usize) -> u64,
) -> c_int {
    // SAFETY: the program's tables have the entries that it declares, and so have the caller's.
    unsafe {
        let Program { buffers, inputs: input_count, outputs: output_count, .. } = &optc_program;
        let input_count = *input_count as usize;
        if arena.is_null() || !is_aligned(arena, 64) {
            return BAD_ARENA;
        }
        if weights.is_null() || !is_aligned(weights, 64) {
            return BAD_WEIGHTS;
        }
        if !fit(inputs, *buffers, 0..input_count, &bytes) {
            return BAD_INPUT;
        }
        if !fit(outputs, *buffers, input_count..input_count + *output_count as usize, &bytes) {
            return BAD_OUTPUT;
        }
        if let Some(threads) = threads.as_ref()
            && (threads.count == 0 || u64::from(threads.count) > optc_program.threads)
        {
            return BAD_THREADS;
        }
        0
    }
}

/// Whether the pointers to these buffers are not null and aligned; those of empty buffers are not checked.
///
/// # Safety
/// There are this many buffers, and pointers unless the table is null.
#[inline(always)]
unsafe fn fit(
    pointers: *const *const u8,
    buffers: *const Buffer,
    which: Range<usize>,
    bytes: &impl Fn(usize) -> u64,
) -> bool {
    if pointers.is_null() {
        return which.is_empty();
    }
    let first = which.start;
    for index in which {
        // SAFETY: by the caller's contract.
        let (pointer, align) = unsafe { (*pointers.add(index - first), (*buffers.add(index)).align) };
        if bytes(index) > 0 && (pointer.is_null() || !is_aligned(pointer, align)) {
            return false;
        }
    }
    true
}

#[inline(always)]
fn is_aligned(pointer: *const u8, align: u64) -> bool {
    pointer as u64 & (align - 1) == 0
}

/// `M_message`: the meaning of a status.
///
/// # Safety
/// None: any number is valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_standalone_message(status: c_int) -> *const c_char {
    let text: &CStr = match status {
        0 => c"done",
        BAD_ARENA => c"the arena is null or not aligned to 64",
        BAD_WEIGHTS => c"the weights are null or not aligned to 64",
        BAD_INPUT => c"an input is null or not aligned to its elements",
        BAD_OUTPUT => c"an output is null or not aligned to its elements",
        BAD_THREADS => c"no threads, or more than scratch is planned for",
        BAD_SIZES => c"the program can't have these sizes",
        BAD_FRAME => c"the frame is null, not aligned to 8, or bound by no call of this program",
        // SAFETY: the table has as many messages as the program has faults.
        _ => unsafe {
            let Program { messages, faults, .. } = &optc_program;
            if status > 0 && status as u64 <= *faults {
                return *messages.add(status as usize - 1);
            }
            c"a number that is no status"
        },
    };
    text.as_ptr()
}

/// `M_supported`: 1 if this machine has the instructions that the program needs, else 0.
///
/// # Safety
/// None: it reads nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_standalone_supported() -> c_int {
    // SAFETY: the program is constant.
    c_int::from(cpu::has(unsafe { optc_program.isa }))
}

/// The state of a kernel's parts while threads take them.
struct Job {
    kernel: KernelFn,
    desc: *const u8,
    ptrs: *const *mut u8,
    parts: u32,
    scratch: *mut u8,
    scratch_stride: u64,
    next: AtomicU32,
}

/// Runs all parts of a kernel, on the caller's threads if there are any; generated code calls it.
///
/// # Safety
/// `threads` is null or valid; the rest as for [`KernelFn`], with scratch for each thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_parallel(
    threads: *const Threads,
    kernel: KernelFn,
    desc: *const u8,
    ptrs: *const *mut u8,
    parts: u32,
    scratch: *mut u8,
    scratch_stride: u64,
) {
    let mut job = Job { kernel, desc, ptrs, parts, scratch, scratch_stride, next: AtomicU32::new(0) };
    // SAFETY: by the caller's contract. The job lives until all tasks have returned.
    unsafe {
        match threads.as_ref() {
            Some(Threads { parallel_for: Some(parallel_for), context, count }) => {
                parallel_for(*context, parts.min(*count), take_parts, (&raw mut job).cast());
            }
            _ => take_parts((&raw mut job).cast(), 0),
        }
    }
}

/// Runs parts until none is left.
///
/// # Safety
/// `job` is a [`Job`], and no other task has this index.
unsafe extern "C" fn take_parts(job: *mut c_void, index: u32) {
    // SAFETY: `optc_parallel` made the job, and waits for this call.
    unsafe {
        let job = &*job.cast::<Job>();
        let scratch = job.scratch.wrapping_add((u64::from(index) * job.scratch_stride) as usize);
        loop {
            let part = job.next.fetch_add(1, Relaxed);
            if part >= job.parts {
                return;
            }
            (job.kernel)(job.desc, job.ptrs, part, scratch);
        }
    }
}

/// Ends the process instead of a Rust panic: an object file has nowhere to report it.
#[unsafe(no_mangle)]
pub extern "C" fn optc_standalone_trap() -> ! {
    // SAFETY: the instruction only ends the process.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        std::arch::asm!("ud2", options(noreturn, nomem, nostack));
        #[cfg(target_arch = "aarch64")]
        std::arch::asm!("brk #1", options(noreturn, nomem, nostack));
    }
}
