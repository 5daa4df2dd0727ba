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

use std::ops::Range;

use crate::abi::{Kernel, KernelBody, KernelFn, OperandTable, entry_of, piece};
use crate::bf16::{Numbers, StoredFloat};
use crate::isa::Isa;
use crate::pack::PANEL;
use crate::product::PackedProduct;
use crate::simd::Simd;
use crate::soften::{BlockTurn, Rescale, SoftmaxState, divide_row, scale_row, soften};
use crate::tile::Start;

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
    reserved: u32,
}

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
}

/// The most rows of a block of scores, so that these stay in the first-level cache.
const BLOCK_ROWS: usize = 28;
/// The fewest rows of a part, roughly: each part packs keys and values again.
const LEAST_ROWS: usize = 56;
/// The most keys of a block.
const MOST_KEYS: usize = 256;
/// The most floats of a packed block of k or v, unless a single panel has more.
const PACKED: usize = 32 * 1024;
/// The most rows of a head in a part.
const PART_ROWS: usize = 1024;
/// Rows of k to prefetch ahead of the one being packed.
const KEYS_AHEAD: usize = 8;
/// The least work of a part, in multiplications.
const LEAST_PART: usize = 128 * 1024;

impl Attention {
    /// The attention of a shape, with numbers of `f32`.
    pub fn new(shape: &AttentionShape, isa: Isa, threads: usize) -> Attention {
        assert!(shape.out.column == 1 || shape.columns <= 1, "a row of the result lies without gaps");
        let f32 = StoredFloat::F32;
        let numbers = AttentionNumbers { q: f32, k: f32, v: f32, out: f32 };
        let mut attention = Attention { shape: *shape, row_parts: 0, parts: 0, isa, numbers, reserved: 0 };
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
        Attention { numbers, ..self }
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

    /// The stride of rows of q in scratch: an odd number of cache lines, so that successive rows fall in
    /// different sets of the cache.
    #[inline(always)]
    fn q_stride(&self) -> usize {
        ((self.shape.depth as usize).div_ceil(16) | 1) * 16
    }

    /// The stride of rows of results in scratch.
    #[inline(always)]
    fn result_stride(&self) -> usize {
        (self.shape.columns as usize).next_multiple_of(16)
    }

    /// Floats of each table in scratch: q, k, v, scores, the rows' two states, and the rows of the result if
    /// it is not `f32`. Each grows with the sizes.
    #[inline(always)]
    fn tables(&self) -> [usize; 7] {
        let AttentionShape { rows, keys, depth, columns, .. } = self.shape;
        let [rows, keys, depth, columns] = [rows, keys, depth, columns].map(|size| size as usize);
        let most_keys = keys.next_multiple_of(PANEL).min(MOST_KEYS);
        let columns = columns.next_multiple_of(PANEL);
        let packed = |width: usize| (most_keys * width).min(PACKED.max(PANEL * width));
        let block_rows = rows.min(BLOCK_ROWS);
        let states = rows.min(PART_ROWS).next_multiple_of(16);
        let results = match self.numbers.out {
            StoredFloat::F32 => 0,
            StoredFloat::Bf16 => rows.min(PART_ROWS) * self.result_stride(),
        };
        let scores = block_rows * most_keys;
        [block_rows * self.q_stride(), packed(depth), packed(columns), scores, states, states, results]
    }
}

// SAFETY: `u64`s, then eight fields of 4 bytes: no padding; `entry` reads this type.
unsafe impl Kernel for Attention {
    fn parts(&self) -> u32 {
        self.parts
    }

    fn scratch_bytes(&self) -> usize {
        self.tables().iter().sum::<usize>() * 4
    }

    fn entry(&self) -> KernelFn {
        entry_of::<Attention>(self.isa)
    }
}

impl KernelBody for Attention {
    #[inline(always)]
    unsafe fn run<S: Simd>(&self, s: S, operands: OperandTable, part: u32, scratch: *mut u8) {
        let row_parts = self.row_parts as usize;
        for task in piece(self.heads() * row_parts, self.parts as usize, part as usize) {
            let rows = piece(self.shape.rows as usize, row_parts, task % row_parts);
            // SAFETY: the operands are those that `Attention` documents, and scratch has its tables.
            unsafe {
                let head = AttentionHead::new(self, operands, task / row_parts);
                head.run(s, rows, ScratchTables::new(self, scratch.cast()));
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
    block_keys: usize,
    q_stride: usize,
    result_stride: usize,
    out: Numbers,
    q: Numbers,
    k: Numbers,
    v: Numbers,
    /// May be null.
    mask: *const f32,
    q_factor: f32,
    k_factor: f32,
    factor: f32,
}

impl<'a> AttentionHead<'a> {
    /// # Safety
    /// The table has the operands of [`Attention`].
    #[inline(always)]
    unsafe fn new(attention: &'a Attention, operands: OperandTable, number: usize) -> AttentionHead<'a> {
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
            let AttentionNumbers { q, k, v, out } = attention.numbers;
            AttentionHead {
                shape,
                block_keys: attention.block_keys(),
                q_stride: attention.q_stride(),
                result_stride: attention.result_stride(),
                out: numbers(0, out, &shape.out),
                q: numbers(1, q, &shape.q),
                k: numbers(2, k, &shape.k),
                v: numbers(3, v, &shape.v),
                mask: optional(4, shape.mask.at(index)),
                q_factor: factor(5),
                k_factor: factor(6),
                factor: factor(7),
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
        let block_rows = BLOCK_ROWS / S::TILE_ROWS * S::TILE_ROWS;
        // SAFETY: the caller's promise; blocks lie within rows and keys.
        unsafe {
            for first in (0..keys).step_by(self.block_keys) {
                let block = first..keys.min(first + self.block_keys);
                self.pack_keys(s, &block, tables.k);
                self.pack_values(s, &block, tables.v);
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
                if self.out.stored == StoredFloat::Bf16 {
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
        match self.out.stored {
            StoredFloat::F32 => self.out.floats(row * self.shape.out.row as usize),
            StoredFloat::Bf16 => tables.results.wrapping_add(index * self.result_stride),
        }
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
            self.copy_queries(s, &rows, tables.q);
            let scores = PackedProduct {
                rows: rows.len(),
                columns: keys.len(),
                depth: self.shape.depth as usize,
                a: tables.q,
                a_stride: self.q_stride,
                b: tables.k,
                c: tables.scores,
                c_stride: stride,
            };
            scores.run::<S>(FRESH);
            for (index, row) in rows.clone().enumerate() {
                let scores = tables.scores.add(index * stride);
                self.weigh(s, scores, row, keys);
                // Prefetch the next block of rows, one row for each of this block.
                let next = row + rows.len();
                self.q.fetch(next * self.shape.q.row as usize, self.shape.depth as usize);
                self.out.fetch(next * self.shape.out.row as usize, columns);
                let rescale = soften(s, scores, keys.len(), turn, tables.state, state + index);
                if let Rescale::By(factor) = rescale {
                    scale_row(s, self.result_row(row, state + index, tables), columns, factor);
                }
            }
            let weighted = PackedProduct {
                rows: rows.len(),
                columns,
                depth: keys.len(),
                a: tables.scores,
                a_stride: stride,
                b: tables.v,
                c: self.result_row(rows.start, state, tables),
                c_stride: match self.out.stored {
                    StoredFloat::F32 => self.shape.out.row as usize,
                    StoredFloat::Bf16 => self.result_stride,
                },
            };
            weighted.run::<S>(if turn == BlockTurn::First { FRESH } else { Start::Resume });
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

    /// Copies rows of q, multiplied by the factor.
    #[inline(always)]
    unsafe fn copy_queries<S: Simd>(&self, s: S, rows: &Range<usize>, to: *mut f32) {
        let (depth, column) = (self.shape.depth as usize, self.shape.q.column as usize);
        let factor = s.splat(self.q_factor);
        for (index, row) in rows.clone().enumerate() {
            // SAFETY: the row is one of q's, and the table has rows of at least `depth`.
            unsafe {
                let from = self.q.from(row * self.shape.q.row as usize);
                let to = to.add(index * self.q_stride);
                if column == 1 {
                    for at in (0..depth).step_by(S::LANES) {
                        let x = from.load(s, at, depth - at);
                        s.store_first(to.add(at), depth - at, s.mul(x, factor));
                    }
                } else {
                    for at in 0..depth {
                        *to.add(at) = from.one(at * column) * self.q_factor;
                    }
                }
            }
        }
    }

    /// Packs a block of k, multiplied by its factor, into panels of 32 keys. A panel has the whole depth;
    /// each of its rows has one number of each key. Lanes after the last key are zero.
    #[inline(always)]
    unsafe fn pack_keys<S: Simd>(&self, s: S, keys: &Range<usize>, to: *mut f32) {
        let depth = self.shape.depth as usize;
        let (row, column) = (self.shape.k.row as usize, self.shape.k.column as usize);
        for first in (0..keys.len()).step_by(PANEL) {
            let count = PANEL.min(keys.len() - first);
            // SAFETY: these keys are k's, and the table has whole panels.
            unsafe {
                let from = self.k.from((keys.start + first) * row);
                let to = to.add(first * depth);
                if row == 1 {
                    copy_rows(s, from, to, [depth, count], column, self.k_factor);
                    continue;
                }
                for lane in 0..PANEL {
                    from.fetch((lane + KEYS_AHEAD) * row, depth);
                    for at in 0..depth {
                        let x = if lane < count { from.one(lane * row + at * column) } else { 0.0 };
                        *to.add(at * PANEL + lane) = x * self.k_factor;
                    }
                }
            }
        }
    }

    /// Packs a block of v into panels of 32 columns, each with all of the block's keys. Lanes after the last
    /// column are zero.
    #[inline(always)]
    unsafe fn pack_values<S: Simd>(&self, s: S, keys: &Range<usize>, to: *mut f32) {
        let columns = self.shape.columns as usize;
        let (row, column) = (self.shape.v.row as usize, self.shape.v.column as usize);
        for first in (0..columns).step_by(PANEL) {
            let count = PANEL.min(columns - first);
            // SAFETY: these columns are v's, and the table has whole panels.
            unsafe {
                let from = self.v.from(keys.start * row + first * column);
                let to = to.add(first * keys.len());
                if column == 1 {
                    copy_rows(s, from, to, [keys.len(), count], row, 1.0);
                    continue;
                }
                for key in 0..keys.len() {
                    for lane in 0..PANEL {
                        let x = if lane < count { from.one(key * row + lane * column) } else { 0.0 };
                        *to.add(key * PANEL + lane) = x;
                    }
                }
            }
        }
    }
}

/// The initial sum zero.
const FRESH: Start = Start::Fresh { bias: std::ptr::null(), residual: std::ptr::null(), residual_stride: 0 };

/// Copies `rows` rows of `count` numbers, multiplied by a factor, into rows of a panel.
///
/// # Safety
/// `from` is valid for these rows at a distance of `stride`, `to` for as many rows of a panel.
#[inline(always)]
unsafe fn copy_rows<S: Simd>(
    s: S,
    from: Numbers,
    to: *mut f32,
    [rows, count]: [usize; 2],
    stride: usize,
    factor: f32,
) {
    let factor = s.splat(factor);
    for row in 0..rows {
        for lane in (0..PANEL).step_by(S::LANES) {
            // SAFETY: the caller's promise; lanes from `count` on are not read.
            unsafe {
                let x =
                    if lane < count { from.load(s, row * stride + lane, count - lane) } else { s.splat(0.0) };
                s.store(to.add(row * PANEL + lane), s.mul(x, factor));
            }
        }
    }
}
