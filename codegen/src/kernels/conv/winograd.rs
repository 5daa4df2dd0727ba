//! Winograd's algorithm for convolutions: when it is offered, and its call.
//!
//! The algorithm reads weights in the packing of the usual kernel. Its tiles are counted from the corner of
//! the image; bands are whole strips of tiles, so the tiles of a band are those of the image.

use ir::body::OpRef;
use ir::plan::attrs;
use ir::target::{Bands, FasterMethod};
use kernels::{ConvPrologue, Kernel, PairUnit, Winograd};

use super::{Call2d, ConvTypes, Convolution};
use crate::bands::{self, Band, band_rows};
use crate::call::{Lowered, LoweredCall, Pointer};
use crate::group::Fused;
use crate::refusal::CodeRefusal;
use crate::row::{FasterInRoom, Machine};

/// The value of `mem.method`.
const NAME: &str = "winograd";

/// The least speedup that is worth its scratch.
const LEAST_SPEEDUP: f64 = 1.15;

/// The number of workers whose scratch must fit the room, however many there are. Each gets its share of the
/// room, or the least that it can do with.
const WORKERS: u64 = 2;

/// Winograd's algorithm, if it computes the convolution.
pub(super) fn faster(whole: OpRef<'_>, machine: &Machine) -> Option<FasterInRoom> {
    let fused = Fused::of_stored(whole).ok()?;
    let call = Call2d::new(whole, &fused, machine).ok()?;
    if call.packs.is_empty() { of_convolution(&call.conv, call.image, machine) } else { None }
}

/// The same for a translated convolution, whose filter is a weight.
pub(super) fn of_convolution(
    conv: &Convolution,
    image: Option<usize>,
    machine: &Machine,
) -> Option<FasterInRoom> {
    let kernel = kernel(conv, machine)?;
    let machine = *machine;
    let bands = bands(&kernel, image);
    Some(Box::new(move |room_bytes| in_room(kernel, bands, &machine, room_bytes)))
}

/// How it runs in bands, if `image` is an operand that can be overwritten row by row.
fn bands(kernel: &Winograd, image: Option<usize>) -> Option<Bands> {
    let [strips, tiles] = kernel.tile_grid();
    // Each band transforms the filters again: with this many tiles that takes a tenth of the time.
    let rows = kernel.most_tiles().div_ceil(tiles).min(strips) * kernel.strip_rows();
    let multiple = kernel.strip_rows() as u64;
    image.map(|operand| Bands { operand, free_rows: rows as u64, multiple })
}

/// The algorithm with this room for scratch, if it is faster.
fn in_room(
    kernel: Winograd,
    bands: Option<Bands>,
    machine: &Machine,
    room_bytes: u64,
) -> Option<FasterMethod> {
    let share = |workers: u64| (room_bytes / workers / 64 * 64) as usize;
    // Results do not depend on the number of threads, so neither does the choice.
    let asked = kernel.within(share(WORKERS));
    let speedup = asked.speedup();
    if speedup < LEAST_SPEEDUP {
        return None;
    }
    let threads = machine.threads as u64;
    let within = if threads == WORKERS { asked } else { kernel.within(share(threads)) };
    Some(FasterMethod {
        name: NAME,
        speedup,
        error: kernel.sample_error(),
        scratch_bytes: of_all_workers(within.scratch_bytes(), machine),
        least_scratch_bytes: of_all_workers(kernel.least_scratch_bytes(), machine),
        least_room_bytes: kernel.least_scratch_bytes().next_multiple_of(64) as u64 * WORKERS,
        bands,
    })
}

/// The call of a convolution with this `mem.method`, with the scratch of its attributes; `image` is the
/// operand that may be read row by row.
pub(super) fn lower(
    whole: OpRef<'_>,
    conv: &Convolution,
    operands: Vec<Pointer>,
    image: Option<usize>,
    machine: &Machine,
) -> Result<Lowered, CodeRefusal> {
    if whole.text(attrs::MEM_METHOD) != Some(NAME) {
        return Err(CodeRefusal::new(format!("its `mem.method` is not `{NAME}`")));
    }
    let kernel = kernel(conv, machine)
        .ok_or_else(|| CodeRefusal::new("Winograd's algorithm does not compute this convolution"))?;
    let limit = attrs::scratch_bytes(whole);
    let workers = limit.map_or(machine.threads, |bytes| workers_within(&kernel, bytes, machine));
    let each = limit.map(|bytes| bytes as usize / workers / 64 * 64);
    let cut = |kernel: Winograd| {
        let within = each.map_or(kernel, |bytes| kernel.within(bytes));
        if workers < machine.threads { within.in_parts(workers) } else { within.on(workers) }
    };
    let bands = bands(&kernel, image);
    let calls = match band_rows(whole, bands)? {
        None => vec![LoweredCall::kernel(&cut(kernel), operands)],
        Some(rows) => {
            let of_band = |band: &Band| {
                let kernel = self::kernel(&conv.part(band), machine).expect("a part is as wide as the whole");
                Ok(LoweredCall::kernel(&cut(kernel), conv.part_operands(&operands, band)))
            };
            bands::calls(&conv.slide().bands(rows)?, |band| conv.part_operands(&operands, band), of_band)?
        }
    };
    Ok(Lowered {
        least_scratch_bytes: Some(of_all_workers(kernel.least_scratch_bytes(), machine)),
        most_workers: Some(workers),
        bands,
        ..Lowered::new(NAME, calls)
    })
}

/// The algorithm's kernel with the scratch that it prefers.
fn kernel(conv: &Convolution, machine: &Machine) -> Option<Winograd> {
    let Convolution { shape, strides, prologue, activation, numbers } = *conv;
    if prologue != ConvPrologue::None {
        return None;
    }
    let kernel = Winograd::new(&shape, &strides, activation, machine.isa)?;
    if numbers.multiplies_bf16 {
        return kernel.of_bf16(numbers.stored, PairUnit::fastest(machine.isa));
    }
    (numbers == ConvTypes::F32).then_some(kernel)
}

/// The number of workers for whom these bytes of scratch are enough: all, if possible.
fn workers_within(kernel: &Winograd, scratch_bytes: u64, machine: &Machine) -> usize {
    let least = kernel.least_scratch_bytes().next_multiple_of(64) as u64;
    (scratch_bytes / least).clamp(1, machine.threads as u64) as usize
}

/// The scratch of all workers; each worker's is a multiple of 64 bytes.
fn of_all_workers(bytes: usize, machine: &Machine) -> u64 {
    (bytes.next_multiple_of(64) * machine.threads) as u64
}
