//! Attention, `softmax(q k^T * scale + mask) v`, for many heads. Scores exist only as a block in scratch.
//!
//! A part is a range of rows of some heads. Keys are cut into blocks. A block of k and v is packed once and
//! used by all the part's rows, one block of rows at a time: scores, their powers of e, and the product of
//! these with v, which is added to the result's rows. Each row keeps a running maximum of its scores and sum
//! of its powers. When the maximum grows, earlier results are scaled down (Milakov and Gimelshein, "Online
//! normalizer calculation for softmax", 2018; Dao et al., "FlashAttention", 2022). In the end rows are
//! divided by their sums.
//!
//! The blocks of keys depend only on the sizes, and rows are independent. So the bits are the same for all
//! instruction sets and numbers of threads.
//!
//! If q, k and v are `bf16` and powers are rounded to it, machines with an instruction for pairs multiply
//! pairs ([`pairs`]), and other sums are added in another order there.

mod floats;
mod pairs;
mod products;

use std::ops::Range;

use crate::abi::{Kernel, KernelBody, KernelFn, OperandTable, entry_of, piece};
use crate::bf16::{Numbers, StoredFloat};
use crate::isa::Isa;
use crate::pack::PANEL;
use crate::pairs::PairUnit;
use crate::simd::Simd;
use crate::simd::amx::{ROWS, TileSizes, step_within};
use crate::soften::{BlockTurn, Rescale, SoftmaxState, divide_row, scale_row, soften};

/// Axes over which there are heads.
pub const HEAD_AXES: usize = 4;

/// The strides of an operand's matrices, in elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct HeadMatrices {
    /// Between neighbours along the axes of heads; 0 along axes whose heads share a matrix.
    pub heads: [u64; HEAD_AXES],
    /// Between rows.
    pub row: u64,
    /// Between columns.
    pub column: u64,
}

impl HeadMatrices {
    /// The first element of a head's matrix.
    #[inline(always)]
    fn at(&self, index: [usize; HEAD_AXES]) -> usize {
        (0..HEAD_AXES).map(|axis| index[axis] * self.heads[axis] as usize).sum()
    }
}

/// Sizes and strides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct AttentionShape {
    /// How many heads there are along each of their axes.
    pub heads: [u64; HEAD_AXES],
    /// Rows of q and of the result.
    pub rows: u64,
    /// Rows of k and of v.
    pub keys: u64,
    /// Columns of q and of k.
    pub depth: u64,
    /// Columns of v and of the result.
    pub columns: u64,
    /// `rows x depth`.
    pub q: HeadMatrices,
    /// `keys x depth`.
    pub k: HeadMatrices,
    /// `keys x columns`.
    pub v: HeadMatrices,
    /// `rows x keys`.
    pub mask: HeadMatrices,
    /// `rows x columns`, columns at a distance of 1.
    pub out: HeadMatrices,
}

/// Attention. Operands: `[out, q, k, v, mask, q factor, k factor, score factor]`.
///
/// Scores are multiplied before the mask is added; each factor is one number. Mask and factors may be null.
/// The result overlaps nothing.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Attention {
    shape: AttentionShape,
    /// Parts that the rows of each head are cut into.
    row_parts: u32,
    parts: u32,
    isa: Isa,
    numbers: AttentionNumbers,
    /// What multiplies pairs; numbers are widened unless all are `bf16`.
    unit: PairUnit,
    /// Always 0: fills what would be padding at the end.
    unused: u32,
}

/// Descriptors are embedded, compared and read as bytes, so there is no padding between fields.
const _: () = assert!(size_of::<Attention>() == size_of::<AttentionShape>() + 10 * size_of::<u32>());

/// The element types of attention's operands; mask and factors are `f32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct AttentionNumbers {
    /// The type of q.
    pub q: StoredFloat,
    /// The type of k.
    pub k: StoredFloat,
    /// The type of v.
    pub v: StoredFloat,
    /// The type of the result.
    pub out: StoredFloat,
    /// What powers of e are rounded to before they are multiplied by v.
    pub powers: StoredFloat,
}

/// The most rows of a block of scores, so that these stay in the first-level cache.
const BLOCK_ROWS: usize = 28;
/// The fewest rows of a part, roughly: each part packs keys and values again.
const LEAST_ROWS: usize = 56;
/// The most keys of a block.
const MOST_KEYS: usize = 256;
/// The most floats of a packed block of k or v, unless a single panel has more.
const PACKED: usize = 32 * 1024;
/// Rows and columns of a square that is transposed in registers.
const SQUARE: usize = 8;
/// The most rows of a head in a part.
const PART_ROWS: usize = 1024;
/// The least work of a part, in multiplications.
const LEAST_PART: usize = 128 * 1024;

impl Attention {
    /// The attention of a shape, with numbers of `f32`.
    pub fn new(shape: &AttentionShape, isa: Isa, threads: usize) -> Attention {
        assert!(shape.out.column == 1 || shape.columns <= 1, "a row of the result lies without gaps");
        let f32 = StoredFloat::F32;
        let numbers = AttentionNumbers { q: f32, k: f32, v: f32, out: f32, powers: f32 };
        let mut attention = Attention {
            shape: *shape,
            row_parts: 0,
            parts: 0,
            isa,
            numbers,
            unit: PairUnit::Widened,
            unused: 0,
        };
        let heads = attention.heads();
        let rows = shape.rows as usize;
        if heads * rows * shape.columns as usize == 0 {
            return attention;
        }
        // A few parts for each thread, so that the last one to finish matters little.
        let wanted = if threads > 1 { (4 * threads).div_ceil(heads) } else { 1 };
        let row_parts = wanted.min(rows.div_ceil(LEAST_ROWS)).max(rows.div_ceil(PART_ROWS));
        let work = heads * rows * shape.keys as usize * (shape.depth + shape.columns) as usize;
        attention.row_parts = row_parts as u32;
        attention.parts = (heads * row_parts).min((work / LEAST_PART).max(1)) as u32;
        attention
    }

    /// The same attention over operands of other element types.
    pub fn stored(self, numbers: AttentionNumbers) -> Attention {
        let AttentionNumbers { q, k, v, powers, .. } = numbers;
        let are_bf16 = [q, k, v, powers].iter().all(|stored| *stored == StoredFloat::Bf16);
        let unit = if are_bf16 { PairUnit::fastest(self.isa) } else { PairUnit::Widened };
        Attention { numbers, ..self }.on(unit)
    }

    /// The same attention of `bf16` numbers with a unit of this machine. Tiles multiply at least one pair.
    pub fn on(self, unit: PairUnit) -> Attention {
        let is_empty = self.shape.depth == 0 && unit == PairUnit::Tiles;
        Attention { unit: if is_empty { PairUnit::Vectors } else { unit }, ..self }
    }

    fn heads(&self) -> usize {
        self.shape.heads.iter().product::<u64>() as usize
    }

    /// The index of head `number`.
    #[inline(always)]
    fn head(&self, number: usize) -> [usize; HEAD_AXES] {
        let mut rest = number;
        let mut index = [0; HEAD_AXES];
        for axis in (0..HEAD_AXES).rev() {
            let size = self.shape.heads[axis] as usize;
            index[axis] = rest % size;
            rest /= size;
        }
        index
    }

    /// Keys of a block.
    #[inline(always)]
    fn block_keys(&self) -> usize {
        let columns = (self.shape.columns as usize).next_multiple_of(PANEL);
        let widest = columns.max(self.shape.depth as usize).max(1);
        let keys = (PACKED / widest / PANEL * PANEL).clamp(PANEL, MOST_KEYS);
        keys.min((self.shape.keys.max(1) as usize).next_multiple_of(PANEL))
    }

    /// The stride of rows of q in scratch, in floats, if a packed row has `depth_floats`: an odd number of
    /// cache lines, so that successive rows fall in different sets of the cache.
    #[inline(always)]
    fn q_stride(depth_floats: usize) -> usize {
        (depth_floats.div_ceil(16) | 1) * 16
    }

    /// Floats of scratch that a packed row of q or k takes: one for each number, or pair in whole steps.
    #[inline(always)]
    fn depth_floats(&self) -> usize {
        let depth = self.shape.depth as usize;
        let pairs = depth.div_ceil(2);
        match self.unit {
            PairUnit::Widened => depth,
            PairUnit::Vectors => pairs,
            PairUnit::Tiles if step_within(pairs).is_some() => pairs,
            PairUnit::Tiles => pairs.next_multiple_of(ROWS),
        }
    }

    /// Rows of a block of scores.
    #[inline(always)]
    fn block_rows(&self) -> usize {
        if self.unit == PairUnit::Tiles { 2 * ROWS } else { BLOCK_ROWS }
    }

    /// Whether rows of results are accumulated in scratch. Tiles write whole vectors.
    #[inline(always)]
    fn has_results(&self) -> bool {
        self.numbers.out == StoredFloat::Bf16 || self.unit == PairUnit::Tiles
    }

    /// The stride of rows of results in scratch.
    #[inline(always)]
    fn result_stride(&self) -> usize {
        (self.shape.columns as usize).next_multiple_of(16)
    }

    /// Floats of each table in scratch: q, k, v, scores, the rows' two states, and the rows of the result if
    /// they are accumulated there.
    #[inline(always)]
    fn tables(&self) -> [usize; 7] {
        self.tables_for(self.depth_floats())
    }

    /// The same if packed rows of q and k have `depth_floats`. Each grows with the other sizes.
    #[inline(always)]
    fn tables_for(&self, depth_floats: usize) -> [usize; 7] {
        let AttentionShape { rows, keys, columns, .. } = self.shape;
        let [rows, keys, columns] = [rows, keys, columns].map(|size| size as usize);
        let most_keys = keys.next_multiple_of(PANEL).min(MOST_KEYS);
        let columns = columns.next_multiple_of(PANEL);
        let packed = |width: usize| (most_keys * width).min(PACKED.max(PANEL * width));
        let block_rows = rows.min(self.block_rows());
        let states = rows.min(PART_ROWS).next_multiple_of(16);
        let results = match self.has_results() {
            false => 0,
            true => rows.min(PART_ROWS) * self.result_stride(),
        };
        let scores = block_rows * most_keys;
        // Blocks have whole panels of keys, and so whole steps.
        let v = packed(columns).div_ceil(if self.unit == PairUnit::Widened { 1 } else { 2 });
        let k = packed(depth_floats);
        [block_rows * Attention::q_stride(depth_floats), k, v, scores, states, states, results]
    }
}

// SAFETY: `u64`s, then ten fields of 4 bytes: no padding; `entry` reads this type.
unsafe impl Kernel for Attention {
    fn parts(&self) -> u32 {
        self.parts
    }

    fn scratch_bytes(&self) -> usize {
        self.tables().iter().sum::<usize>() * 4
    }

    /// Steps of tiles may divide a depth that is larger than one that must be padded.
    fn most_scratch_bytes(&self) -> usize {
        let most = match self.unit {
            PairUnit::Tiles => self.shape.depth.div_ceil(2).next_multiple_of(ROWS as u64) as usize,
            PairUnit::Widened | PairUnit::Vectors => self.depth_floats(),
        };
        self.tables_for(most).iter().sum::<usize>() * 4
    }

    fn entry(&self) -> KernelFn {
        entry_of::<Attention>(self.isa)
    }
}

impl KernelBody for Attention {
    #[inline(always)]
    unsafe fn run<S: Simd>(&self, s: S, operands: OperandTable, part: u32, scratch: *mut u8) {
        // Object files do not use tiles. Vectors need less scratch.
        let of_vectors = self.on(PairUnit::Vectors);
        let this = if cfg!(optc_object) && self.unit == PairUnit::Tiles { &of_vectors } else { self };
        let row_parts = this.row_parts as usize;
        let tiles = (this.unit == PairUnit::Tiles).then(TileSizes::new);
        for task in piece(this.heads() * row_parts, this.parts as usize, part as usize) {
            let rows = piece(this.shape.rows as usize, row_parts, task % row_parts);
            // SAFETY: the operands are those that `Attention` documents, and scratch has its tables.
            unsafe {
                let head = AttentionHead::new(this, operands, task / row_parts, tiles.as_ref());
                head.run(s, rows, ScratchTables::new(this, scratch.cast()));
            }
        }
    }
}

/// The tables of scratch.
#[derive(Clone, Copy)]
struct ScratchTables {
    q: *mut f32,
    k: *mut f32,
    v: *mut f32,
    scores: *mut f32,
    state: SoftmaxState,
    results: *mut f32,
}

impl ScratchTables {
    /// # Safety
    /// Scratch has as many floats as [`Attention::tables`] says.
    #[inline(always)]
    unsafe fn new(attention: &Attention, scratch: *mut f32) -> ScratchTables {
        let [q, k, v, scores, largest, sums, _] = attention.tables();
        // SAFETY: the caller's promise.
        unsafe {
            ScratchTables {
                q: scratch,
                k: scratch.add(q),
                v: scratch.add(q + k),
                scores: scratch.add(q + k + v),
                state: SoftmaxState {
                    largest: scratch.add(q + k + v + scores),
                    sums: scratch.add(q + k + v + scores + largest),
                },
                results: scratch.add(q + k + v + scores + largest + sums),
            }
        }
    }
}

/// The matrices of one head.
struct AttentionHead<'a> {
    shape: &'a AttentionShape,
    block_rows: usize,
    block_keys: usize,
    /// Pairs of a packed row of q or k.
    depth_pairs: usize,
    q_stride: usize,
    result_stride: usize,
    has_results: bool,
    out: Numbers,
    q: Numbers,
    k: Numbers,
    v: Numbers,
    /// Whether powers of e are rounded.
    powers: StoredFloat,
    unit: PairUnit,
    /// Set if the unit is tiles.
    tiles: Option<&'a TileSizes>,
    /// May be null.
    mask: *const f32,
    /// Applied to q and k before they are multiplied; pairs have these factors in `factor`.
    q_factor: f32,
    k_factor: f32,
    factor: f32,
}

impl<'a> AttentionHead<'a> {
    /// # Safety
    /// The table has the operands of [`Attention`].
    #[inline(always)]
    unsafe fn new(
        attention: &'a Attention,
        operands: OperandTable,
        number: usize,
        tiles: Option<&'a TileSizes>,
    ) -> AttentionHead<'a> {
        let shape = &attention.shape;
        let index = attention.head(number);
        // SAFETY: the caller's promise; where there is a mask or a factor, it has its elements.
        unsafe {
            let optional = |operand: usize, offset: usize| {
                let start = operands.get::<f32>(operand).cast_const();
                if start.is_null() { start } else { start.add(offset) }
            };
            let factor = |operand: usize| {
                let at = optional(operand, 0);
                if at.is_null() { 1.0 } else { *at }
            };
            let numbers = |operand: usize, stored: StoredFloat, matrices: &HeadMatrices| Numbers {
                start: operands.get::<u8>(operand),
                stored,
                first: matrices.at(index),
            };
            let AttentionNumbers { q, k, v, out, powers } = attention.numbers;
            let factors = [factor(5), factor(6), factor(7)];
            let [q_factor, k_factor, factor] = match attention.unit {
                PairUnit::Widened => factors,
                PairUnit::Vectors | PairUnit::Tiles => [1.0, 1.0, factors.iter().product()],
            };
            AttentionHead {
                shape,
                block_rows: attention.block_rows(),
                block_keys: attention.block_keys(),
                depth_pairs: attention.depth_floats(),
                q_stride: Attention::q_stride(attention.depth_floats()),
                result_stride: attention.result_stride(),
                has_results: attention.has_results(),
                out: numbers(0, out, &shape.out),
                q: numbers(1, q, &shape.q),
                k: numbers(2, k, &shape.k),
                v: numbers(3, v, &shape.v),
                powers,
                unit: attention.unit,
                tiles,
                mask: optional(4, shape.mask.at(index)),
                q_factor,
                k_factor,
                factor,
            }
        }
    }

    /// Computes some rows of the result.
    ///
    /// # Safety
    /// The operands are valid for the head's matrices, and nobody else writes these rows.
    #[inline(always)]
    unsafe fn run<S: Simd>(&self, s: S, rows: Range<usize>, tables: ScratchTables) {
        let keys = self.shape.keys as usize;
        let block_rows = match self.unit {
            PairUnit::Tiles => self.block_rows,
            PairUnit::Vectors | PairUnit::Widened => self.block_rows / S::TILE_ROWS * S::TILE_ROWS,
        };
        // SAFETY: the caller's promise; blocks lie within rows and keys.
        unsafe {
            for first in (0..keys).step_by(self.block_keys) {
                let block = first..keys.min(first + self.block_keys);
                if self.is_in_pairs() {
                    self.pack_pairs_of_keys(s, &block, tables.k.cast());
                    self.pack_pairs_of_values(s, &block, tables.v.cast());
                } else {
                    self.pack_keys(s, &block, tables.k);
                    self.pack_values(s, &block, tables.v);
                }
                let mut row = rows.start;
                while row < rows.end {
                    let end = rows.end.min(row + block_rows);
                    self.add_block(s, row..end, row - rows.start, &block, tables);
                    row = end;
                }
            }
            let columns = self.shape.columns as usize;
            for (index, row) in rows.enumerate() {
                let sum = if keys == 0 { None } else { Some(*tables.state.sums.add(index)) };
                let result = self.result_row(row, index, tables);
                divide_row(s, result, columns, sum);
                if self.has_results {
                    let to = self.out.from(row * self.shape.out.row as usize);
                    for at in (0..columns).step_by(S::LANES) {
                        let left = columns - at;
                        to.store(s, at, left, s.load_first(result.add(at), left));
                    }
                }
            }
        }
    }

    /// Where row `row` of the result, the part's row `index`, is accumulated.
    #[inline(always)]
    fn result_row(&self, row: usize, index: usize, tables: ScratchTables) -> *mut f32 {
        match self.has_results {
            false => self.out.floats(row * self.shape.out.row as usize),
            true => tables.results.wrapping_add(index * self.result_stride),
        }
    }

    /// Whether q, k, v and powers are packed in pairs.
    #[inline(always)]
    fn is_in_pairs(&self) -> bool {
        self.unit != PairUnit::Widened
    }

    /// Pairs of a block of keys, in whole steps.
    #[inline(always)]
    fn key_pairs(&self, keys: usize) -> usize {
        let pairs = keys.div_ceil(2);
        if self.unit == PairUnit::Tiles { pairs.next_multiple_of(ROWS) } else { pairs }
    }

    /// Adds the contribution of a block of keys to a block of rows, whose first row has state `state`.
    #[inline(always)]
    unsafe fn add_block<S: Simd>(
        &self,
        s: S,
        rows: Range<usize>,
        state: usize,
        keys: &Range<usize>,
        tables: ScratchTables,
    ) {
        let stride = keys.len().next_multiple_of(16);
        let turn = if keys.start == 0 { BlockTurn::First } else { BlockTurn::Later };
        let columns = self.shape.columns as usize;
        // SAFETY: the tables have the blocks' sizes; operands are valid for these rows and keys.
        unsafe {
            self.scores(s, &rows, keys, stride, tables);
            for (index, row) in rows.clone().enumerate() {
                let scores = tables.scores.add(index * stride);
                self.weigh(s, scores, row, keys);
                // Prefetch the next block of rows, one row for each of this block.
                let next = row + rows.len();
                self.q.fetch(next * self.shape.q.row as usize, self.shape.depth as usize);
                self.out.fetch(next * self.shape.out.row as usize, columns);
                let rescale = soften(s, scores, keys.len(), turn, tables.state, state + index);
                if self.powers == StoredFloat::Bf16 {
                    self.round_powers(s, scores, keys.len());
                }
                if let Rescale::By(factor) = rescale {
                    scale_row(s, self.result_row(row, state + index, tables), columns, factor);
                }
            }
            let c = self.result_row(rows.start, state, tables);
            self.add_weighted::<S>([rows.len(), keys.len()], stride, turn, c, tables);
        }
    }

    /// Multiplies a row of scores and adds the mask.
    #[inline(always)]
    unsafe fn weigh<S: Simd>(&self, s: S, scores: *mut f32, row: usize, keys: &Range<usize>) {
        if self.factor == 1.0 && self.mask.is_null() {
            return;
        }
        let count = keys.len();
        let factor = s.splat(self.factor);
        let step = self.shape.mask.column as usize;
        let mask = self.mask.wrapping_add(row * self.shape.mask.row as usize + keys.start * step);
        // SAFETY: a row has `count` scores, and as many elements of the mask if there is one.
        unsafe {
            for at in (0..count).step_by(S::LANES) {
                let left = count - at;
                let mut score = s.mul(s.load_first(scores.add(at), left), factor);
                if !self.mask.is_null() && step == 1 {
                    score = s.add(score, s.load_first(mask.add(at), left));
                }
                s.store_first(scores.add(at), left, score);
            }
            if !self.mask.is_null() && step != 1 {
                for at in 0..count {
                    *scores.add(at) += *mask.add(at * step);
                }
            }
        }
    }
}
