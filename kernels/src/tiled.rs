//! Convolutions and products by the machine's matrix tiles ([`crate::simd::amx`]): the loop over the tiles of
//! a part, for all types of numbers.

use crate::conv::Conv2d;
use crate::pack::PANEL;
use crate::segments::{RowsOfLine, SegmentedRows};
use crate::simd::Simd;
use crate::simd::amx::{self, Former, ROWS, SUM_COLUMNS, TileNumbers, TileProduct, TileSizes};

/// Bytes of a cache line.
const LINE: usize = 64;
/// Bytes of a pair or a quad.
const WORD: usize = 4;

/// The fewest outputs whose sums alternate between two places in scratch. With up to 300 channels, products
/// take 0.8 to 0.9 of the time with that, and 4 KiB more.
const LEAST_ALTERNATED: usize = 32 * 1024;

/// A block of rows for one panel of packed weights.
pub(crate) trait TiledBlock: Copy {
    /// The types of its numbers.
    fn numbers(&self) -> TileNumbers;

    /// The operands of its product.
    fn operands(&self) -> TiledOperands;

    /// Writes the outputs of a tile from its sums: `SUM_COLUMNS` in each row, beginning with the first row
    /// that is not done.
    ///
    /// # Safety
    /// The block and the panel are inside the images, and the sums are those of the product.
    unsafe fn finish<S: Simd>(&self, tile: &TileRows, sums: *mut f32);
}

/// The operands of a block's product.
#[derive(Clone, Copy)]
pub(crate) struct TiledOperands {
    /// The block's rows, and how many there are.
    pub(crate) from: SegmentedRows,
    pub(crate) rows: usize,
    /// The panel: its first row, and its columns.
    pub(crate) weights: *const i32,
    pub(crate) width: usize,
    /// Words (pairs or quads) of a segment and of a step, which divides them.
    pub(crate) words: usize,
    pub(crate) step: usize,
}

/// Rows that a tile multiplies.
#[derive(Clone, Copy)]
pub(crate) struct TileRows {
    start: *const u8,
    /// The first row, in the block.
    pub(crate) first: usize,
    pub(crate) count: usize,
    /// Rows that the tile before has finished: the last tile of a line may begin before the end of that.
    pub(crate) done: usize,
}

/// The rows of a line in tiles of equally many rows.
#[inline(always)]
fn tiles_of(line: RowsOfLine, stride: usize) -> impl Iterator<Item = TileRows> {
    let tiles = line.count.div_ceil(ROWS);
    let rows = line.count.div_ceil(tiles.max(1));
    (0..tiles).map(move |index| {
        let first = (index * rows).min(line.count - rows);
        TileRows {
            start: line.start.wrapping_add(first * stride),
            first: line.first + first,
            count: rows,
            done: index * rows - first,
        }
    })
}

/// The tiles of a part. Sums are finished after the next product has begun, if they alternate: the machine
/// then computes both at once, and stored tiles have arrived in the cache before they are loaded.
pub(crate) struct TiledPart<B> {
    sizes: TileSizes,
    /// The product to be finished.
    begun: Option<BegunProduct<B>>,
    /// Room for the sums of two products, of which one is begun; both are one if sums do not alternate.
    sums: [*mut f32; 2],
    ahead: FetchedAhead,
}

/// Tiles of rows that are multiplied together: they share the loads of weights.
pub(crate) const TILES_TOGETHER: usize = 2;

/// The weights of the next panel, which are fetched while this one's are multiplied.
struct FetchedAhead {
    next: *const u8,
    /// Cache lines that are left, and those of a step.
    left: usize,
    in_step: usize,
}

impl FetchedAhead {
    /// What the products of a block fetch.
    #[inline(always)]
    fn new(operands: &TiledOperands) -> FetchedAhead {
        let TiledOperands { from, rows, weights, width, words, step } = *operands;
        let left = (words * from.segments * width * WORD).div_ceil(LINE);
        let tiles: usize = from.lines(rows).map(|line| line.count.div_ceil(ROWS)).sum();
        let steps = words / step * from.segments * tiles.div_ceil(2);
        let next = weights.cast::<u8>().wrapping_add(left * LINE);
        FetchedAhead { next, left, in_step: left.div_ceil(steps.max(1)) }
    }

    /// What a product fetches in each of its steps: the first line, and how many.
    #[inline(always)]
    fn take(&mut self, steps: usize) -> (*const u8, usize) {
        let count = if self.left > 0 { self.in_step } else { 0 };
        let first = self.next;
        self.next = first.wrapping_add(count * steps * LINE);
        self.left = self.left.saturating_sub(count * steps);
        (first, count)
    }
}

/// A product whose sums are in scratch.
struct BegunProduct<B> {
    block: B,
    tiles: [TileRows; 2],
    count: usize,
    sums: *mut f32,
}

/// Where the sums of products are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum SumPlaces {
    /// Each product overwrites those of the one before.
    One,
    /// Two in turn.
    Alternating,
}

impl SumPlaces {
    /// Those for a convolution: if it has many outputs, sums are finished beside the next product.
    #[inline(always)]
    pub(crate) fn for_outputs(conv: &Conv2d) -> SumPlaces {
        let channels = conv.out_group as usize * conv.groups as usize;
        if conv.rows() * channels >= LEAST_ALTERNATED { SumPlaces::Alternating } else { SumPlaces::One }
    }

    /// Floats of scratch.
    pub(crate) const fn floats(self) -> usize {
        match self {
            SumPlaces::One => amx::SUMS,
            SumPlaces::Alternating => 2 * amx::SUMS,
        }
    }
}

impl<B: TiledBlock> TiledPart<B> {
    /// Nothing yet; `scratch` has room for the sums.
    #[inline(always)]
    pub(crate) fn new(places: SumPlaces, scratch: *mut f32) -> TiledPart<B> {
        let second = match places {
            SumPlaces::One => scratch,
            SumPlaces::Alternating => scratch.wrapping_add(amx::SUMS),
        };
        let ahead = FetchedAhead { next: std::ptr::null(), left: 0, in_step: 0 };
        TiledPart { sizes: TileSizes::new(), begun: None, sums: [scratch, second], ahead }
    }

    /// Computes a block for one panel, two tiles of rows together; [`TiledPart::finish`] must follow.
    ///
    /// # Safety
    /// The machine has tiles for these numbers; the block and the panel are inside the images, and remain
    /// valid; the sums have room.
    #[inline(always)]
    pub(crate) unsafe fn add<S: Simd>(&mut self, block: B) {
        let operands = block.operands();
        let TiledOperands { from, rows, .. } = operands;
        self.ahead = FetchedAhead::new(&operands);
        let tiles = from.lines(rows).flat_map(move |line| tiles_of(line, from.stride));
        let mut waiting: Option<TileRows> = None;
        for tile in tiles {
            let Some(first) = waiting.take() else {
                waiting = Some(tile);
                continue;
            };
            // SAFETY: passed on.
            unsafe {
                if first.count == tile.count {
                    self.product::<S>(block, [first, tile], 2);
                } else {
                    self.product::<S>(block, [first, first], 1);
                    waiting = Some(tile);
                }
            }
        }
        if let Some(last) = waiting {
            // SAFETY: passed on.
            unsafe { self.product::<S>(block, [last, last], 1) };
        }
    }

    /// Multiplies the first `count` tiles of rows, and writes the outputs of the product before.
    #[inline(always)]
    unsafe fn product<S: Simd>(&mut self, block: B, tiles: [TileRows; 2], count: usize) {
        let TiledOperands { from, weights, width, words, step, .. } = block.operands();
        let steps = words / step;
        let [sums, other] = self.sums;
        let (ahead, ahead_lines) = self.ahead.take(steps * from.segments);
        let product = TileProduct {
            a: tiles.map(|tile| tile.start),
            a_stride: from.stride,
            a_step: step * WORD,
            a_jump: from.jump.wrapping_sub(steps * step * WORD),
            b: weights.cast(),
            b_stride: width * WORD,
            b_step: step * width * WORD,
            steps,
            segments: from.segments,
            sums: [0, ROWS * SUM_COLUMNS].map(|first| sums.wrapping_add(first).cast()),
            sums_stride: SUM_COLUMNS * size_of::<f32>(),
            former: Former::Overwritten,
            ahead,
            ahead_lines,
        };
        // SAFETY: the caller's promise; the sums have room for four tiles.
        unsafe {
            self.sizes.set(tiles[0].count, step);
            if sums == other {
                self.finish::<S>();
            }
            amx::multiply(block.numbers(), &product, [count, width.div_ceil(ROWS)]);
            self.finish::<S>();
        }
        self.begun = Some(BegunProduct { block, tiles, count, sums });
        self.sums = [other, sums];
    }

    /// Writes the outputs of the last product.
    ///
    /// # Safety
    /// That of [`TiledPart::add`].
    #[inline(always)]
    pub(crate) unsafe fn finish<S: Simd>(&mut self) {
        if let Some(BegunProduct { block, tiles, count, sums }) = self.begun.take() {
            for (index, tile) in tiles.iter().enumerate().take(count) {
                // SAFETY: the caller's promise; the sums are those of the product.
                unsafe { block.finish::<S>(tile, sums.add((index * ROWS + tile.done) * SUM_COLUMNS)) };
            }
        }
    }
}

/// Rows of sums are as long as a panel.
const _: () = assert!(SUM_COLUMNS == PANEL);
