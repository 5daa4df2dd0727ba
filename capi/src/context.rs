//! What runs a program: in an arena and on threads that are the library's or the caller's.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use optc::compile::check_threads;
use optc::runtime::{Arena, InputBuffer, ParallelFor, Specialization, TensorDesc, ThreadPool};
use optc::{BufferUse, Failure, Model, are_apart};

use crate::handle::{borrowed, changed, free, hand_over, listed, text};
use crate::program::{ProgramHandle, SharedProgram};
use crate::status::{Diagnostics, Refusal, Status, ended};

/// Threads that contexts run on. Several contexts may have them: they serve one at a time, and another one
/// meanwhile works in its caller's thread.
pub struct Threads {
    pool: Arc<ThreadPool>,
}

/// A part of a kernel's work: `worker` is below the number of threads and of parts, and no two calls that run
/// at one time have the same; each part is done once.
pub type WorkFn = Option<unsafe extern "C" fn(work: *mut c_void, worker: usize, part: u32)>;

/// Does all parts below `parts` of `work` by `run`, in any order and on any threads, and returns when all are
/// done; `data` is what was given with it.
pub type ParallelForFn =
    Option<unsafe extern "C" fn(data: *mut c_void, parts: u32, run: WorkFn, work: *mut c_void)>;

/// What runs a program: memory, threads, the shapes of inputs. One thread may use it at a time.
pub struct ContextHandle {
    pub(crate) model: Model,
    /// Keeps the program.
    _shared: Arc<SharedProgram>,
}

/// Threads of the library: `count` with the caller's, which is one of them.
///
/// # Safety
/// `threads` and `errors` are NULL or places.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_threads_new(
    count: usize,
    threads: *mut *mut Threads,
    errors: *mut *mut Diagnostics,
) -> Status {
    // SAFETY: as the caller vouches.
    unsafe {
        ended(errors, || {
            check_threads(count).map_err(Refusal::OutOfRange)?;
            let pool = ThreadPool::try_new(count);
            let pool = pool.map_err(|error| Refusal::Input(Failure::input(error.to_string())))?;
            hand_over(Threads { pool: Arc::new(pool) }, threads)
        })
    }
}

/// Threads of the caller: `count` of them, which `parallel_for` uses. It may be called by any thread that
/// runs a context, by several at one time, until the last context and the handle are freed.
///
/// # Safety
/// `parallel_for` does what its type says, for `data`; `threads` and `errors` are NULL or places.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_threads_of(
    count: usize,
    parallel_for: ParallelForFn,
    data: *mut c_void,
    threads: *mut *mut Threads,
    errors: *mut *mut Diagnostics,
) -> Status {
    // SAFETY: as the caller vouches.
    unsafe {
        ended(errors, || {
            check_threads(count).map_err(Refusal::OutOfRange)?;
            let parallel_for = parallel_for.ok_or(Refusal::Null("`parallel_for`"))?;
            let callers = CallersThreads { count, parallel_for, data };
            hand_over(Threads { pool: Arc::new(ThreadPool::of(Box::new(callers))) }, threads)
        })
    }
}

/// Frees threads; those of contexts stay.
///
/// # Safety
/// `threads` is NULL or a handle, which is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_threads_free(threads: *mut Threads) {
    // SAFETY: as the caller vouches.
    unsafe { free(threads) }
}

/// What runs a program on `threads` (NULL: its own) in an arena of `arena_bytes` at a multiple of 64 (NULL:
/// its own). The arena is used until the context is freed, and holds garbage then.
///
/// # Safety
/// `program` is NULL or a handle, and so is `threads`; `arena` is NULL or has `arena_bytes` that nobody else
/// uses until the context is freed; `context` and `errors` are NULL or places.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_context_new(
    program: *const ProgramHandle,
    threads: *const Threads,
    arena: *mut c_void,
    arena_bytes: usize,
    context: *mut *mut ContextHandle,
    errors: *mut *mut Diagnostics,
) -> Status {
    // SAFETY: as the caller vouches.
    unsafe {
        ended(errors, || {
            let shared = borrowed(program, "`program`")?.shared.clone();
            let pool = match threads.as_ref() {
                Some(threads) => threads.pool.clone(),
                None => Arc::new(ThreadPool::new(shared.program.threads())),
            };
            let arena = match arena.is_null() {
                true => Arena::owned(),
                false => Arena::given(std::slice::from_raw_parts_mut(arena.cast(), arena_bytes)),
            };
            let model = shared.with_seed(|seed| Ok(seed.beside(pool, arena)?))?;
            hand_over(ContextHandle { model, _shared: shared }, context)
        })
    }
}

/// Sets the shape of an input, from which named sizes follow, for the runs that follow.
///
/// # Safety
/// `context` is NULL or a handle; `input` is NULL or ends with 0; `sizes` has `rank` elements; `errors` is
/// NULL or a place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_context_set_shape(
    context: *mut ContextHandle,
    input: *const c_char,
    sizes: *const u64,
    rank: usize,
    errors: *mut *mut Diagnostics,
) -> Status {
    // SAFETY: as the caller vouches.
    unsafe {
        ended(errors, || {
            let shape = listed(sizes, rank, "`sizes`")?;
            Ok(changed(context, "`context`")?.model.set_shape(text(input, "`input`")?, shape)?)
        })
    }
}

/// Makes all ready for runs with the shapes as they are set, which a run else does. Unless `arena_bytes` is
/// NULL, `*arena_bytes` is then what a run takes.
///
/// # Safety
/// `context` is NULL or a handle; `arena_bytes` and `errors` are NULL or places.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_context_prepare(
    context: *mut ContextHandle,
    arena_bytes: *mut usize,
    errors: *mut *mut Diagnostics,
) -> Status {
    // SAFETY: as the caller vouches.
    unsafe {
        ended(errors, || {
            let specialization = changed(context, "`context`")?.model.prepare()?;
            if let Some(place) = arena_bytes.as_mut() {
                *place = specialization.arena_bytes();
            }
            Ok(())
        })
    }
}

/// Writes to `*bytes` what the buffer of an input (`is_output` 0) or output has, with the shapes as they are
/// set.
///
/// # Safety
/// `context` is NULL or a handle; `bytes` and `errors` are NULL or places.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_context_bytes(
    context: *mut ContextHandle,
    is_output: i32,
    index: usize,
    bytes: *mut usize,
    errors: *mut *mut Diagnostics,
) -> Status {
    // SAFETY: as the caller vouches.
    unsafe {
        ended(errors, || {
            let specialization = changed(context, "`context`")?.model.context().specialization()?;
            let desc = desc(&specialization, is_output, index)?;
            *changed(bytes, "`bytes`")? = desc.size_bytes;
            Ok(())
        })
    }
}

/// Runs the program on buffers in the order of its inputs and outputs, each of exactly the bytes that
/// `optc_context_bytes` says, rows first and without gaps, at a multiple of 4. Inputs that were donated when
/// the program was compiled are overwritten; else an output that shares bytes with another buffer is refused.
/// A truth value (`bool`) is a byte 0 or 1, which is not checked: what is computed from another byte is
/// arbitrary.
///
/// # Safety
/// `context` is NULL or a handle; `inputs` and `input_bytes` have `input_count` elements, and outputs
/// likewise; each buffer has its bytes; `errors` is NULL or a place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_context_run(
    context: *mut ContextHandle,
    inputs: *const *const c_void,
    input_bytes: *const usize,
    input_count: usize,
    outputs: *const *mut c_void,
    output_bytes: *const usize,
    output_count: usize,
    errors: *mut *mut Diagnostics,
) -> Status {
    // SAFETY: as the caller vouches.
    unsafe {
        ended(errors, || {
            let model = &mut changed(context, "`context`")?.model;
            let specialization = model.context().specialization()?;
            let inputs = listed(inputs, input_count, "`inputs`")?;
            let input_bytes = listed(input_bytes, input_count, "`input_bytes`")?;
            let outputs = listed(outputs, output_count, "`outputs`")?;
            let output_bytes = listed(output_bytes, output_count, "`output_bytes`")?;
            let overwritten = |index: usize| {
                specialization.inputs().get(index).is_some_and(|desc: &TensorDesc| desc.overwritten)
            };
            let mut uses = Vec::with_capacity(inputs.len() + outputs.len());
            for (index, (start, bytes)) in inputs.iter().zip(input_bytes).enumerate() {
                check_buffer(*start, *bytes)?;
                let range = start.addr()..start.addr() + bytes;
                uses.push(if overwritten(index) {
                    BufferUse::Written(range)
                } else {
                    BufferUse::Read(range)
                });
            }
            for (start, bytes) in outputs.iter().zip(output_bytes) {
                check_buffer(*start, *bytes)?;
                uses.push(BufferUse::Written(start.addr()..start.addr() + bytes));
            }
            if !are_apart(uses) {
                return Err(Failure::input("a buffer that is written shares bytes with another one").into());
            }
            let mut bound = Vec::with_capacity(inputs.len());
            for (index, (start, bytes)) in inputs.iter().zip(input_bytes).enumerate() {
                bound.push(match overwritten(index) {
                    true => InputBuffer::Donated(writable(start.cast_mut().cast(), *bytes)),
                    false => InputBuffer::Shared(listed(start.cast(), *bytes, "an input")?),
                });
            }
            let mut views: Vec<&mut [u8]> = Vec::with_capacity(outputs.len());
            for (start, bytes) in outputs.iter().zip(output_bytes) {
                views.push(writable(start.cast(), *bytes));
            }
            Ok(model.run_buffers(&mut bound, &mut views)?)
        })
    }
}

/// Writes the shape of an output to `sizes`, which has room for its rank: where data decide a size, that of
/// the last run, whose elements come first in the buffer, and else the shape that follows from those of
/// inputs.
///
/// # Safety
/// `context` is NULL or a handle; `sizes` has room for `room` numbers; `errors` is NULL or a place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_context_output_shape(
    context: *mut ContextHandle,
    index: usize,
    sizes: *mut u64,
    room: usize,
    errors: *mut *mut Diagnostics,
) -> Status {
    // SAFETY: as the caller vouches.
    unsafe {
        ended(errors, || {
            let context = changed(context, "`context`")?.model.context();
            let specialization = context.specialization()?;
            let known = &desc(&specialization, 1, index)?.shape;
            let shape = context.exact_shape(index).unwrap_or(known);
            if shape.len() > room {
                return Err(Refusal::OutOfRange(format!("room for {room} sizes, expected {}", shape.len())));
            }
            if !shape.is_empty() {
                let first: *mut u64 = changed(sizes, "`sizes`")?;
                std::ptr::copy_nonoverlapping(shape.as_ptr(), first, shape.len());
            }
            Ok(())
        })
    }
}

/// Writes to `*bytes` and `*length` where the state of this name lies, which runs keep and change; zeros at
/// first. It may be written before the next use of the context, which moves it.
///
/// # Safety
/// `context` is NULL or a handle; `name` is NULL or ends with 0; `bytes`, `length` and `errors` are NULL or
/// places.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_context_state(
    context: *mut ContextHandle,
    name: *const c_char,
    bytes: *mut *mut c_void,
    length: *mut usize,
    errors: *mut *mut Diagnostics,
) -> Status {
    // SAFETY: as the caller vouches.
    unsafe {
        ended(errors, || {
            let context = changed(context, "`context`")?.model.context();
            let name = text(name, "`name`")?;
            let states = context.program().states();
            let index = states.iter().position(|state| state.tensor.name == name);
            let index = index.ok_or_else(|| Failure::input(format!("the program has no state `{name}`")))?;
            let state = context.state(index)?;
            *changed(bytes, "`bytes`")? = state.as_mut_ptr().cast();
            *changed(length, "`length`")? = state.len();
            Ok(())
        })
    }
}

/// Frees a context.
///
/// # Safety
/// `context` is NULL or a handle, which is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_context_free(context: *mut ContextHandle) {
    // SAFETY: as the caller vouches.
    unsafe { free(context) }
}

fn check_buffer<T>(start: *const T, bytes: usize) -> Result<(), Refusal> {
    if start.is_null() && bytes > 0 {
        return Err(Refusal::Null("a buffer"));
    }
    match start.addr().checked_add(bytes) {
        Some(_) if isize::try_from(bytes).is_ok() => Ok(()),
        _ => Err(Refusal::OutOfRange(format!("a buffer of {bytes} bytes, more than memory has"))),
    }
}

/// A buffer to be written; an empty one may be null.
///
/// # Safety
/// It has these bytes, which nobody else uses meanwhile.
unsafe fn writable<'a>(start: *mut u8, bytes: usize) -> &'a mut [u8] {
    if bytes == 0 {
        return &mut [];
    }
    // SAFETY: as the caller vouches.
    unsafe { std::slice::from_raw_parts_mut(start, bytes) }
}

fn desc(specialization: &Specialization, is_output: i32, index: usize) -> Result<&TensorDesc, Refusal> {
    let descs = if is_output == 0 { specialization.inputs() } else { specialization.outputs() };
    let count = descs.len();
    descs.get(index).ok_or_else(|| Refusal::OutOfRange(format!("number {index} of {count}")))
}

/// Threads of the caller.
struct CallersThreads {
    count: usize,
    parallel_for: unsafe extern "C" fn(*mut c_void, u32, WorkFn, *mut c_void),
    data: *mut c_void,
}

// SAFETY: `optc_threads_of` asks that its function may be called with its data by any thread.
unsafe impl Send for CallersThreads {}
// SAFETY: as above, by several at one time.
unsafe impl Sync for CallersThreads {}

/// What a caller's threads run, as `work`.
type PartFn<'a> = dyn Fn(usize, u32) + Sync + 'a;

// SAFETY: `optc_threads_of` asks of its function what the trait asks: each part once, at one time no worker
// twice, and all done at the end.
unsafe impl ParallelFor for CallersThreads {
    fn threads(&self) -> usize {
        self.count
    }

    fn for_each(&self, parts: u32, body: &PartFn<'_>) {
        let mut body = body;
        let work = (&raw mut body).cast();
        // SAFETY: `work` is what `run_part` takes, and lives until the function returns, which is after the
        // last part.
        unsafe { (self.parallel_for)(self.data, parts, Some(run_part), work) };
    }
}

/// # Safety
/// `work` is that of [`CallersThreads::for_each`], before its end.
unsafe extern "C" fn run_part(work: *mut c_void, worker: usize, part: u32) {
    // SAFETY: as the caller vouches.
    let body = unsafe { *work.cast::<&PartFn<'_>>() };
    body(worker, part);
}
