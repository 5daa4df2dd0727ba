//! The interface between compiled code and this crate: entry, kernels and imported symbols.
//!
//! All functions use the C calling convention with pointers and integers, so the same code serves the JIT and
//! object files.

use std::cell::Cell;
use std::mem::offset_of;
use std::ops::ControlFlow;

use crate::buffer::poison;
use crate::observer::RunObserver;
use crate::stamps::optc_stamp;
use crate::threads::ThreadPool;

/// A kernel, as compiled code passes it to [`optc_parallel`]. Its arguments are a descriptor of sizes (with a
/// layout private to code and kernel), a table of operand and result pointers, the number of the part to
/// compute, and this worker's scratch.
pub type KernelFn = unsafe extern "C" fn(desc: *const u8, ptrs: *const *mut u8, part: u32, scratch: *mut u8);

/// The entry of compiled code. It returns 0, or `k > 0` for the program's fault number `k` (see
/// [`crate::SpecializationParts::faults`]).
///
/// - `arena`: the program's `arena_bytes`, aligned to 64, containing garbage;
/// - `weights`: the program's weights, aligned to 64;
/// - `inputs`, `outputs`: one pointer for each descriptor, in order, to the descriptor's number of bytes;
/// - `frame`: the numbers that depend on sizes, for code compiled for all sizes; other code does not read it.
pub type EntryFn = unsafe extern "C" fn(
    ctx: *const CodeContext,
    arena: *mut u8,
    weights: *const u8,
    inputs: *const *const u8,
    outputs: *const *mut u8,
    frame: *const i64,
) -> i32;

/// The first argument of compiled code, which passes it on to [`optc_parallel`] and [`optc_step`]. Code reads
/// [`CodeContext::WATCHED`] itself.
#[repr(C)]
pub struct CodeContext {
    pool: *const ThreadPool,
    /// 1 if the run has an observer, else 0.
    watched: u64,
    observer: Option<*const dyn RunObserver>,
    /// The number of steps that have begun.
    steps: Cell<u64>,
}

impl CodeContext {
    /// Offset of the 64-bit number that tells whether the code must call [`optc_step`] before each step.
    pub const WATCHED: usize = offset_of!(CodeContext, watched);

    /// A context for code that runs while `pool` and the observer are borrowed. The pointers are only
    /// followed during the run.
    pub(crate) fn new(pool: &ThreadPool, observer: Option<&(dyn RunObserver + 'static)>) -> CodeContext {
        let observer = observer.map(|observer| &raw const *observer);
        CodeContext { pool, watched: observer.is_some().into(), observer, steps: Cell::new(0) }
    }
}

/// The entry's status after an observer ended the run.
pub(crate) const STOPPED: i32 = i32::MIN;

/// Asks the observer whether the next step may begin. Returns 0 if it may, else the status that the entry
/// must return.
///
/// # Safety
/// `ctx` must be what the entry received.
pub unsafe extern "C" fn optc_step(ctx: *const CodeContext) -> i32 {
    // SAFETY: the entry's context lives during the run, in the thread that entered the code.
    let ctx = unsafe { &*ctx };
    let step = ctx.steps.replace(ctx.steps.get() + 1);
    // SAFETY: the observer is borrowed during the run.
    match ctx.observer.map(|observer| unsafe { &*observer }.begins(step)) {
        Some(ControlFlow::Break(())) => STOPPED,
        _ => 0,
    }
}

/// Runs all parts of a kernel on the context's threads and returns when they are done. A kernel that panics
/// ends the process with its message: it can't unwind out of `extern "C"`, and so not into machine code.
///
/// # Safety
/// `ctx` must be what the entry received; the rest as for [`ThreadPool::run`].
pub unsafe extern "C" fn optc_parallel(
    ctx: *const CodeContext,
    kernel: KernelFn,
    desc: *const u8,
    ptrs: *const *mut u8,
    parts: u32,
    scratch: *mut u8,
    scratch_stride: u64,
) {
    // SAFETY: the entry's context lives during the run, and the pool after it too (`RunContext` borrows
    // both).
    let pool = unsafe { &*(*ctx).pool };
    // SAFETY: by our caller's contract.
    unsafe { pool.run(kernel, desc, ptrs, parts, scratch, scratch_stride as usize) }
}

/// Fills dead memory with [`crate::POISON`], which reads as NaN. Code compiled for a debug run calls it at
/// the end of a value's live range.
///
/// # Safety
/// `ptr` must be valid for writing `bytes` bytes.
pub unsafe extern "C" fn optc_poison(ptr: *mut u8, bytes: u64) {
    if bytes > 0 {
        // SAFETY: by our caller's contract; all memory of a run is initialised.
        poison(unsafe { std::slice::from_raw_parts_mut(ptr, bytes as usize) });
    }
}

/// The symbols that compiled code may import from this crate, for the JIT.
pub fn symbols() -> [(&'static str, *const u8); 4] {
    [
        ("optc_parallel", optc_parallel as *const u8),
        ("optc_poison", optc_poison as *const u8),
        ("optc_step", optc_step as *const u8),
        ("optc_stamp", optc_stamp as *const u8),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parallel_reaches_the_contexts_pool() {
        unsafe extern "C" fn store_part(_: *const u8, ptrs: *const *mut u8, part: u32, _: *mut u8) {
            // SAFETY: one byte for each part.
            unsafe { *(*ptrs).add(part as usize) = part as u8 + 1 };
        }
        let pool = ThreadPool::new(2);
        let mut out = [0u8; 9];
        let ptrs = [out.as_mut_ptr()];
        let ctx = CodeContext::new(&pool, None);
        // SAFETY: nine bytes for nine parts, no descriptor and no scratch used.
        unsafe { optc_parallel(&ctx, store_part, [].as_ptr(), ptrs.as_ptr(), 9, std::ptr::null_mut(), 0) };
        assert_eq!(out, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    }

    #[test]
    fn poison_writes_its_range_only() {
        let mut words = [0u32; 4];
        // SAFETY: the middle two words.
        unsafe { optc_poison(words.as_mut_ptr().add(1).cast(), 8) };
        // SAFETY: nothing is written.
        unsafe { optc_poison(std::ptr::null_mut(), 0) };
        assert!(f32::from_bits(words[1]).is_nan() && f32::from_bits(words[2]).is_nan());
        assert_eq!((words[0], words[3]), (0, 0));
    }
}
