//! When a convolution may be computed by Winograd's algorithm, and what call that is.
//!
//! The algorithm reads the weights as the usual kernel packs them, and runs in no bands of rows: its tiles
//! are counted from the corner of the image, and would be others in each band.

use ir::body::OpRef;
use ir::plan::attrs;
use ir::target::FasterMethod;
use kernels::{ConvPrologue, Kernel, Winograd};

use super::{Call2d, Convolution};
use crate::call::{Lowered, LoweredCall};
use crate::group::Fused;
use crate::refusal::CodeRefusal;
use crate::row::Machine;

/// Its name: `mem.method`.
const NAME: &str = "winograd";

/// It must be this many times as fast, or what it takes is not worth it.
const LEAST_SPEEDUP: f64 = 1.15;

/// Workers whose scratch must fit into the room that there is, however many there are: if more, each gets a
/// share of the room, or the least that it can do with.
const WORKERS: u64 = 4;

/// Winograd's algorithm, where it is faster.
pub(super) fn faster(whole: OpRef<'_>, machine: &Machine, room_bytes: u64) -> Option<FasterMethod> {
    let fused = Fused::of(whole).ok()?;
    of_call(&Call2d::new(whole, &fused, machine).ok()?, machine, room_bytes)
}

/// The same of a convolution that is read.
pub(super) fn of_call(call: &Call2d, machine: &Machine, room_bytes: u64) -> Option<FasterMethod> {
    // Results do not depend on the number of threads, so neither does the choice.
    let alone = self::kernel(call, &Machine { threads: 1, ..*machine })?;
    let share = |workers: u64| (room_bytes / workers / 64 * 64) as usize;
    let alone = alone.within(share(WORKERS), 1);
    let speedup = alone.speedup(1);
    let kernel = kernel(call, machine)?.within(share(WORKERS.max(machine.threads as u64)), machine.threads);
    (speedup >= LEAST_SPEEDUP).then(|| FasterMethod {
        name: NAME,
        speedup,
        error: kernel.sample_error(),
        scratch_bytes: of_all_workers(kernel.scratch_bytes(), machine),
        least_room_bytes: alone.least_scratch_bytes().next_multiple_of(64) as u64 * WORKERS,
    })
}

/// The call of a convolution whose `mem.method` says so, with the scratch that its attributes say.
pub(super) fn lower(whole: OpRef<'_>, call: Call2d, machine: &Machine) -> Result<Lowered, CodeRefusal> {
    if whole.text(attrs::MEM_METHOD) != Some(NAME) {
        return Err(CodeRefusal::new(format!("its `mem.method` is not `{NAME}`")));
    }
    let kernel = kernel(&call, machine)
        .ok_or_else(|| CodeRefusal::new("Winograd's algorithm does not compute this convolution"))?;
    let limit = attrs::scratch_bytes(whole).map(|bytes| bytes as usize / machine.threads / 64 * 64);
    let within = limit.map_or(kernel, |bytes| kernel.within(bytes, machine.threads));
    Ok(Lowered {
        least_scratch_bytes: Some(of_all_workers(kernel.least_scratch_bytes(), machine)),
        ..Lowered::new(NAME, vec![LoweredCall::kernel(&within, call.operands)])
    })
}

/// The algorithm's kernel, with the scratch that it prefers.
fn kernel(call: &Call2d, machine: &Machine) -> Option<Winograd> {
    let Convolution { shape, strides, prologue, activation, numbers } = call.conv;
    if prologue != ConvPrologue::None || !call.packs.is_empty() || numbers.is_some() {
        return None;
    }
    Winograd::new(&shape, &strides, activation, machine.isa, machine.threads)
}

/// Each worker's piece is a multiple of 64.
fn of_all_workers(bytes: usize, machine: &Machine) -> u64 {
    (bytes.next_multiple_of(64) * machine.threads) as u64
}
