//! Lowering: each operation becomes calls of kernels and of generated functions.
//!
//! The pass `select` (for kernels and scratch) and the emission of code use the same answer, so they cannot
//! disagree. Nothing here knows the addresses of operands.

use ir::Kind;
use ir::body::OpRef;
use ir::opdef::RegionFlow;
use ir::size::{fits_memory, static_extents};

use crate::call::Lowered;
use crate::kernels::row_of;
use crate::refusal::CodeRefusal;
use crate::row::{FasterInRoom, Machine};
use crate::{arrangement, bands, lines};

/// Lowers an operation.
///
/// # Errors
/// If there is no code for it, with the reason.
pub(crate) fn lower(op: OpRef<'_>, machine: &Machine) -> Result<Lowered, CodeRefusal> {
    arrangement::check(op, machine.own)?;
    let lowered = lower_plain(op, machine)?;
    bands::band_rows(op, lowered.bands)?;
    Ok(lowered)
}

/// Lowers an operation in a function whose values are all contiguous.
///
/// # Errors
/// As for [`lower`].
pub(crate) fn lower_plain(op: OpRef<'_>, machine: &Machine) -> Result<Lowered, CodeRefusal> {
    let mut results = op.body.results(op.op);
    if results.any(|result| !fits_memory(op.ctx, op.body.ty(result))) {
        return Err(CodeRefusal::new("its result has more elements than memory holds"));
    }
    let row = row_of(op, machine.own);
    if writes_nothing(op) && !row.is_some_and(|row| row.stops) {
        return Ok(Lowered::new("nothing", Vec::new()));
    }
    if lines::is_lines(op) {
        return lines::lower(op, machine);
    }
    row.ok_or_else(|| no_row(op))?.lower(op, machine)
}

fn no_row(op: OpRef<'_>) -> CodeRefusal {
    match op.kind() {
        Kind::Kernel(name) => CodeRefusal::new(format!("the kernel `{name}` does not exist")),
        Kind::Region(RegionFlow::Call) => CodeRefusal::new(
            "calls are not compiled: the pass `inline` replaces them, unless the called function has no body, is \
                 recursive, or is marked `no_inline`",
        ),
        _ => CodeRefusal::new("operations of its kind have no lowering"),
    }
}

/// Whether an operation computes, and none of its results has elements: then kernels need not handle operands
/// without elements.
fn writes_nothing(op: OpRef<'_>) -> bool {
    let mut results = op.body.results(op.op).map(|result| static_extents(op.ctx, op.body.ty(result)));
    let is_empty = |shape: Option<Vec<u64>>| shape.is_some_and(|shape| shape.contains(&0));
    op.body.result_count(op.op) > 0 && !matches!(op.kind(), Kind::Region(_)) && results.all(is_empty)
}

/// The faster algorithm of an operation, or of a group around one, if it has one.
pub(crate) fn faster(op: OpRef<'_>, machine: &Machine) -> Option<FasterInRoom> {
    let faster = row_of(op, machine.own)?.faster?;
    arrangement::check(op, machine.own).ok()?;
    faster(op, machine)
}
