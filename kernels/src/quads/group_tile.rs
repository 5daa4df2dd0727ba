//! The microkernel of grouped convolution: a register tile of up to 14 pixels of a line, each with the sums
//! of a block of channels.

use super::groups::BLOCK;
use super::tile::add_quads;
use crate::pack::PANEL;
use crate::simd::{Simd, Task, opaque, written_out};

/// Sums of neighbouring pixels.
#[derive(Clone, Copy)]
pub(super) struct GroupTile<'t> {
    /// The first tap of the first pixel, 16 bytes.
    pub(super) from: *const u8,
    /// Bytes between pixels.
    pub(super) step: usize,
    /// Bytes between taps of a kernel row.
    pub(super) tap_step: usize,
    /// Bytes between kernel rows.
    pub(super) row_step: usize,
    /// Height and width of the kernel.
    pub(super) kernel: [usize; 2],
    /// The weights: for each tap the vectors of a group's quads.
    pub(super) weights: *const i32,
    /// Quads between vectors of weights.
    pub(super) weight_step: usize,
    /// The initial sums of the channels; none for zeros.
    pub(super) begin: Option<&'t [i32; BLOCK]>,
    /// Where the sums are stored, in the order of the channels; those of a pixel are `PANEL` apart.
    pub(super) to: *mut i32,
}

/// A tile function.
pub(super) type GroupTileFn = unsafe fn(&GroupTile<'_>);

/// Pixels that share a base address: x86 addresses the offsets of 0, 1 and 2 steps in one operand.
const PIXEL_GROUP: usize = 3;
/// Groups that the largest tile has.
const PIXEL_GROUPS: usize = 5;

/// The tile function for a line of which `left` pixels are left, and how many it computes. A group has
/// `quads` quads.
#[inline(always)]
pub(super) fn tile_function<S: Simd>(left: usize, quads: usize, at_once: u32) -> (GroupTileFn, usize) {
    match (at_once, quads, left) {
        (1, 1, 14..) => (tile::<S, 14, 1, 1>, 14),
        (1, 1, 7..) => (tile::<S, 7, 1, 1>, 7),
        (1, 1, 4..) => (tile::<S, 4, 1, 1>, 4),
        (1, 1, _) => (tile::<S, 1, 1, 1>, 1),
        (1, 2, 14..) => (tile::<S, 14, 2, 1>, 14),
        (1, 2, 7..) => (tile::<S, 7, 2, 1>, 7),
        (1, 2, 4..) => (tile::<S, 4, 2, 1>, 4),
        (1, 2, _) => (tile::<S, 1, 2, 1>, 1),
        // 8 and 14 pixels leave no single ones if they end with 4.
        (1, _, 6..) if left != 8 => (tile::<S, 6, 4, 1>, 6),
        (1, _, 4..) => (tile::<S, 4, 4, 1>, 4),
        (1, ..) => (tile::<S, 1, 4, 1>, 1),
        (_, 1, 4..) => (tile::<S, 4, 1, 0>, 4),
        (_, 1, _) => (tile::<S, 1, 1, 0>, 1),
        (_, 2, 4..) => (tile::<S, 4, 2, 0>, 4),
        (_, 2, _) => (tile::<S, 1, 2, 0>, 1),
        (_, _, 2..) => (tile::<S, 2, 4, 0>, 2),
        _ => (tile::<S, 1, 4, 0>, 1),
    }
}

/// Computes `P` pixels whose groups have `QUADS` quads. It is not inlined, so that its sums get all
/// registers.
///
/// # Safety
/// The machine has `S`, and where `AT_ONCE` is 1 its instruction for quads; the tile's operands are valid for
/// `P` pixels.
#[inline(never)]
unsafe fn tile<S: Simd, const P: usize, const QUADS: usize, const AT_ONCE: u32>(tile: &GroupTile<'_>) {
    let is_there = const { AT_ONCE == 0 || S::MAY_QUAD };
    if !is_there {
        unreachable!("the caller keeps to instructions that there are");
    }
    let task = GroupTileTask::<P, QUADS, AT_ONCE>(tile);
    // SAFETY: the caller's promise.
    unsafe { if AT_ONCE == 1 { S::vectorize_quads(task) } else { S::vectorize(task) } }
}

struct GroupTileTask<'t, const P: usize, const QUADS: usize, const AT_ONCE: u32>(&'t GroupTile<'t>);

impl<S: Simd, const P: usize, const QUADS: usize, const AT_ONCE: u32> Task<S>
    for GroupTileTask<'_, P, QUADS, AT_ONCE>
{
    #[inline(always)]
    unsafe fn run(self, s: S) {
        let tile = self.0;
        let order: [i32; BLOCK] = const { channel_order(QUADS) };
        let mut found = [[0i32; BLOCK]; P];
        for first in (0..BLOCK).step_by(S::LANES) {
            let mut sums = [[s.splat_int(0); QUADS]; P];
            // SAFETY: the tile's promise.
            unsafe {
                match tile.step {
                    // Distances known at compile time need no registers.
                    BLOCK => self.add_taps::<S>(s, BLOCK, first, &mut sums),
                    step => self.add_taps::<S>(s, step, first, &mut sums),
                }
                written_out!(p in P => {
                    let sum = neighbours::<S, QUADS>(s, sums[p]);
                    if S::LANES == BLOCK {
                        let ordered = s.bits(s.permute(s.float(sum), s.load_int(order.as_ptr())));
                        let ordered = match tile.begin {
                            Some(begin) => s.add_int(ordered, s.load_int(begin.as_ptr())),
                            None => ordered,
                        };
                        s.store(tile.to.add(p * PANEL).cast(), s.float(ordered));
                    } else {
                        s.store(found[p].as_mut_ptr().add(first).cast(), s.float(sum));
                    }
                });
            }
        }
        if S::LANES < BLOCK {
            for (p, found) in found.iter().enumerate() {
                for (channel, lane) in order.iter().enumerate() {
                    let begin = tile.begin.map_or(0, |begin| begin[channel]);
                    // SAFETY: the tile's promise.
                    unsafe { *tile.to.add(p * PANEL + channel) = found[*lane as usize].wrapping_add(begin) }
                }
            }
        }
    }
}

impl<const P: usize, const QUADS: usize, const AT_ONCE: u32> GroupTileTask<'_, P, QUADS, AT_ONCE> {
    /// Adds the products of all taps, for the block's lanes from `first` on.
    #[inline(always)]
    unsafe fn add_taps<S: Simd>(&self, s: S, step: usize, first: usize, sums: &mut [[S::I; QUADS]; P]) {
        let GroupTile { tap_step, row_step, kernel, weight_step, .. } = *self.0;
        let mut weights = self.0.weights.wrapping_add(first);
        for row in 0..kernel[0] {
            let row = self.0.from.wrapping_add(row * row_step);
            let mut from = [row; PIXEL_GROUPS];
            for (group, from) in from.iter_mut().enumerate() {
                *from = opaque(row.wrapping_add(group * PIXEL_GROUP * step).cast()).cast();
            }
            for _ in 0..kernel[1] {
                // SAFETY: the tile's promise.
                unsafe {
                    let mut vectors = [s.splat_int(0); QUADS];
                    written_out!(a in QUADS, at most 5 => {
                        vectors[a] = s.load_int(weights.add(a * weight_step));
                    });
                    written_out!(p in P => {
                        let bytes = s.load_repeated(from[p / PIXEL_GROUP].add(p % PIXEL_GROUP * step));
                        for (sum, vector) in sums[p].iter_mut().zip(vectors) {
                            *sum = add_quads::<S, AT_ONCE, 0>(s, bytes, vector, *sum);
                        }
                    });
                }
                // After the last tap these pointers are out of bounds, but not read.
                weights = weights.wrapping_add(QUADS * weight_step);
                for from in &mut from {
                    *from = from.wrapping_add(tap_step);
                }
            }
        }
    }
}

/// The sums of the lanes that belong to one channel.
#[inline(always)]
fn neighbours<S: Simd, const QUADS: usize>(s: S, sums: [S::I; QUADS]) -> S::I {
    match sums[..] {
        [a, b] => s.add_neighbours(a, b),
        [a, b, c, d] => s.add_neighbours(s.add_neighbours(a, b), s.add_neighbours(c, d)),
        _ => sums[0],
    }
}

/// The lane of each channel of a block after neighbours were added.
const fn channel_order(quads: usize) -> [i32; BLOCK] {
    let mut order = [0; BLOCK];
    let mut channel = 0;
    while channel < BLOCK {
        let (of_four, row) = (channel / 4, channel % 4);
        // With two quads, lanes alternate between the two groups.
        let place = if quads == 2 { of_four % 2 * 2 + of_four / 2 } else { of_four };
        order[channel] = (4 * row + place) as i32;
        channel += 1;
    }
    order
}
