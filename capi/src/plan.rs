//! Where every value of a program lies, and when.

use std::ffi::{CString, c_char};

use optc::Explained;
use serde_json::json;

use crate::handle::{OwnedText, borrowed, c_text, free, hand_over, listed, text};
use crate::program::ProgramHandle;
use crate::status::{Diagnostics, Status, ended};

/// A plan, which several threads may read at one time.
pub struct PlanHandle {
    explained: Explained,
    buffers: Vec<BufferTexts>,
}

struct BufferTexts {
    name: CString,
    buffer: CString,
    op: CString,
    node: CString,
    ty: CString,
    pool: CString,
    kind: CString,
}

/// A value with its place. All text lives as long as the plan.
#[repr(C)]
pub struct PlannedBuffer {
    /// As in the printed text.
    pub name: *const c_char,
    /// The value whose bytes it shares, or itself.
    pub buffer: *const c_char,
    /// What makes it.
    pub op: *const c_char,
    /// The model's name for that; may be empty.
    pub node: *const c_char,
    /// Its type; empty for scratch.
    pub type_name: *const c_char,
    /// Where it lies: `arena` or another pool; `input` or `output`: a buffer of the caller, whose number is
    /// `offset`.
    pub pool: *const c_char,
    /// `input`, `result`, `scratch` or `output`.
    pub kind: *const c_char,
    /// Its bytes.
    pub bytes: u64,
    /// Where in the pool it begins.
    pub offset: u64,
    /// The first step at which its bytes must be kept.
    pub first: usize,
    /// The last one.
    pub last: usize,
}

/// The plan of a program; at `count` sizes of these names, where sizes have names, the others being the
/// greatest.
///
/// # Safety
/// `program` is NULL or a handle; `names` and `sizes` have `count` elements; `plan` and `errors` are NULL or
/// places.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_program_plan(
    program: *const ProgramHandle,
    names: *const *const c_char,
    sizes: *const u64,
    count: usize,
    plan: *mut *mut PlanHandle,
    errors: *mut *mut Diagnostics,
) -> Status {
    // SAFETY: as the caller vouches.
    unsafe {
        ended(errors, || {
            let shared = &borrowed(program, "`program`")?.shared;
            let names = listed(names, count, "`names`")?;
            let sizes = listed(sizes, count, "`sizes`")?;
            let mut given = Vec::new();
            for (name, size) in names.iter().zip(sizes) {
                given.push((text(*name, "a name of a size")?.to_owned(), *size));
            }
            let mut explained = Explained::of(&shared.source, &shared.entry, &shared.options, &given)?;
            explained.report.weights_bytes = shared.program.weights_bytes() as u64;
            hand_over(PlanHandle::new(explained), plan)
        })
    }
}

/// Bytes of arena at the plan's sizes. 0 for NULL.
///
/// # Safety
/// `plan` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_plan_arena_bytes(plan: *const PlanHandle) -> u64 {
    // SAFETY: as the caller vouches.
    unsafe { plan.as_ref() }.map_or(0, |plan| plan.explained.memory.arena_bytes)
}

/// Bytes that no placement goes below, for this order and these kernels. 0 for NULL.
///
/// # Safety
/// `plan` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_plan_lower_bound_bytes(plan: *const PlanHandle) -> u64 {
    // SAFETY: as the caller vouches.
    let plan = unsafe { plan.as_ref() };
    let arena = plan.and_then(|plan| plan.explained.report.pools.first());
    arena.map_or(0, |arena| arena.lower_bound_bytes)
}

/// The step that the arena is as large as it is for. 0 for NULL.
///
/// # Safety
/// `plan` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_plan_peak(plan: *const PlanHandle) -> usize {
    // SAFETY: as the caller vouches.
    unsafe { plan.as_ref() }.map_or(0, |plan| plan.explained.memory.peak)
}

/// How many values have a place. 0 for NULL.
///
/// # Safety
/// `plan` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_plan_count(plan: *const PlanHandle) -> usize {
    // SAFETY: as the caller vouches.
    unsafe { plan.as_ref() }.map_or(0, |plan| plan.buffers.len())
}

/// Writes where a value lies to `*buffer`. OPTC_USAGE if there is no such one.
///
/// # Safety
/// `plan` is NULL or a handle; `buffer` is NULL or a place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_plan_buffer(
    plan: *const PlanHandle,
    index: usize,
    buffer: *mut PlannedBuffer,
) -> Status {
    // SAFETY: as the caller vouches.
    let (plan, place) = unsafe { (plan.as_ref(), buffer.as_mut()) };
    let (Some(plan), Some(place)) = (plan, place) else { return Status::OPTC_USAGE };
    let values = &plan.explained.report.values;
    let (Some(texts), Some(value)) = (plan.buffers.get(index), values.get(index)) else {
        return Status::OPTC_USAGE;
    };
    *place = PlannedBuffer {
        name: texts.name.as_ptr(),
        buffer: texts.buffer.as_ptr(),
        op: texts.op.as_ptr(),
        node: texts.node.as_ptr(),
        type_name: texts.ty.as_ptr(),
        pool: texts.pool.as_ptr(),
        kind: texts.kind.as_ptr(),
        bytes: value.size_bytes,
        offset: value.offset,
        first: value.first,
        last: value.last,
    };
    Status::OPTC_OK
}

/// All of the plan, as `optc plan --json` says it. The caller frees the text.
///
/// # Safety
/// `plan` is NULL or a handle; `written` and `errors` are NULL or places.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_plan_json(
    plan: *const PlanHandle,
    written: *mut *mut OwnedText,
    errors: *mut *mut Diagnostics,
) -> Status {
    // SAFETY: as the caller vouches.
    unsafe {
        ended(errors, || {
            let report = &borrowed(plan, "`plan`")?.explained.report;
            hand_over(OwnedText::new(&json!(report).to_string()), written)
        })
    }
}

/// A picture of the plan, as a page for a browser. The caller frees the text.
///
/// # Safety
/// `plan` is NULL or a handle; `title` is NULL or ends with 0; `written` and `errors` are NULL or places.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_plan_html(
    plan: *const PlanHandle,
    title: *const c_char,
    written: *mut *mut OwnedText,
    errors: *mut *mut Diagnostics,
) -> Status {
    // SAFETY: as the caller vouches.
    unsafe {
        ended(errors, || {
            let plan = borrowed(plan, "`plan`")?;
            let page = optc::view::page(text(title, "`title`")?, &plan.explained, &[]);
            hand_over(OwnedText::new(&page), written)
        })
    }
}

/// Frees a plan.
///
/// # Safety
/// `plan` is NULL or a handle, which is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_plan_free(plan: *mut PlanHandle) {
    // SAFETY: as the caller vouches.
    unsafe { free(plan) }
}

impl PlanHandle {
    fn new(explained: Explained) -> PlanHandle {
        let report = &explained.report;
        let texts = report.values.iter().map(|value| {
            let step = report.steps.iter().find(|step| step.index == value.step && value.kind != "input");
            BufferTexts {
                name: c_text(&value.name),
                buffer: c_text(&value.root),
                op: c_text(step.map_or("", |step| &step.op)),
                node: c_text(step.map_or("", |step| &step.name)),
                ty: c_text(value.ty.as_deref().unwrap_or("")),
                pool: c_text(&value.pool),
                kind: c_text(value.kind),
            }
        });
        PlanHandle { buffers: texts.collect(), explained }
    }
}
