//! Overlap at all sizes: which results overwrite rows of operands, and a bound of the distance between the
//! two.
//!
//! ```text
//! %1 = nn.max_pool2d %0, 2 x 2 windows, bands of 4 rows   =>   %0 begins 4 * 112 * W bytes above %1, or less
//! ```
//!
//! The target promises ([`ir::target::Bands`]): an operation that can run in bands at some sizes can do so at
//! all sizes with more than one row to write, and no window wholly in the padding.

use ir::dims::{self, Ranges, SizeArithmetic};
use ir::target::Bands;
use ir::{Context, Dim, DimExpr, Ident, Op, Value};

use super::buffers::{BufferSize, Buffers};
use crate::overlap::{OperandRows, RowOrder, reaches_rows, window_in};
use crate::place::BufferId;
use crate::tradeoff::BandCandidate;

/// A result that overwrites rows of an operand, in bands of `band_rows` rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SharedRows {
    pub(crate) op: Op,
    pub(crate) operand: usize,
    pub(crate) band_rows: u64,
    pub(crate) order: RowOrder,
    /// The lower and the upper one of the two buffers.
    pub(crate) buffers: [BufferId; 2],
    sizes: RowSizes,
}

/// The rows of the images that a window slides over: see [`OperandRows`].
#[derive(Clone, Copy, Debug)]
struct RowSizes {
    images: DimExpr,
    input: DimExpr,
    input_bytes: DimExpr,
    output: DimExpr,
    output_bytes: DimExpr,
    extent: u64,
    stride: u64,
    pad_top: u64,
}

/// The most bands to evaluate, for the sake of time.
const MOST_BANDS: u64 = 4096;

/// A limit of rows and of bytes in a row, so that no product of two overflows.
const MOST: i128 = 1 << 31;

impl SharedRows {
    /// The overlap of a candidate, generalized to all sizes; `stacked` are its buffers, the lower one first.
    /// None if that is not proved.
    pub(crate) fn new(
        ctx: &Context,
        buffers: &Buffers,
        ranges: &Ranges,
        candidate: &BandCandidate,
        order: RowOrder,
        stacked: [BufferId; 2],
    ) -> Option<SharedRows> {
        let sizes = RowSizes::of(ctx, buffers, ranges, candidate)?;
        let &BandCandidate { op, operand, multiple, .. } = candidate;
        // All rows of an image may be no multiple; at another size, they may be more.
        let band_rows = candidate.band_rows.next_multiple_of(multiple);
        let shared = SharedRows { op, operand, band_rows, order, buffers: stacked, sizes };
        let image = buffers.body.operand(op, operand);
        reaches_rows(ctx, &buffers.body, ranges, op, image).then_some(shared)
    }

    /// Whether a kernel that runs in `bands` can write its result over these rows.
    pub(crate) fn is_of(&self, bands: Bands) -> bool {
        bands.operand == self.operand && self.band_rows.is_multiple_of(bands.multiple)
    }

    /// An upper bound of the distance of the two starts, for symbols in a part of their ranges; none if the
    /// buffers may have to be disjoint there.
    pub(crate) fn distance(&self, ctx: &Context, names: &[Ident], part: &[(u64, u64)]) -> Option<i128> {
        let bounds = |expr: DimExpr| dims::bounds(ctx, expr, names, part);
        let low = |expr: DimExpr| u64::try_from(bounds(expr).low).ok();
        let high = |expr: DimExpr| u64::try_from(Some(bounds(expr).high).filter(|high| *high < MOST)?).ok();
        let RowSizes { images, input, input_bytes, output, output_bytes, extent, stride, pad_top } =
            self.sizes;
        let is_single_row = low(images)? < 2 && low(output)? < 2;
        if is_single_row || high(output)? / self.band_rows > MOST_BANDS {
            return None;
        }
        // In an image, the distance grows with all numbers except one: the bytes in a row of the one that is
        // lower at its end.
        let is_down = self.order == RowOrder::Down;
        let in_image = OperandRows {
            images: 1,
            input: high(input)?,
            input_bytes: if is_down { low(input_bytes)? } else { high(input_bytes)? },
            output: high(output)?,
            output_bytes: if is_down { high(output_bytes)? } else { low(output_bytes)? },
            extent,
            stride,
            pad_top,
        };
        let of_image = i128::from(in_image.distance(self.band_rows, self.order));
        let others = high(images)?.saturating_sub(1);
        if others == 0 {
            return Some(of_image.max(0));
        }
        let growth = bounds(self.sizes.growth(ctx)?);
        let by_image = if is_down { growth.high } else { -growth.low };
        Some(of_image.checked_add(i128::from(others).checked_mul(by_image.max(0))?)?.max(0))
    }
}

impl RowSizes {
    /// The rows of a candidate's operand and result, if at all sizes they are exactly those of their buffers.
    fn of(ctx: &Context, buffers: &Buffers, ranges: &Ranges, candidate: &BandCandidate) -> Option<RowSizes> {
        let body = &buffers.body;
        let sizes = SizeArithmetic(ctx);
        let [read, written] = buffers.pair(candidate.op, candidate.operand)?;
        let rows_of = |value: Value, buffer: BufferId, greatest_bytes: u64| {
            let [images, rows, columns, _] = *ctx.type_data(body.ty(value)).tensor_shape()? else {
                return None;
            };
            let BufferSize::Bytes(all) = buffers.sizes[buffer] else { return None };
            let most = dims::maximum(ctx, sizes.expr(columns)?, ranges)?.value;
            // The bytes of a column are a constant, if the rows with it are the whole buffer.
            let column_bytes = greatest_bytes.checked_div(u64::try_from(most).ok()?)?;
            let row_bytes = sizes.mul(columns, Dim::Known(column_bytes));
            let is_all = sizes.expr(sizes.product(&[images, rows, row_bytes])) == Some(all);
            let exprs = [sizes.expr(images)?, sizes.expr(rows)?, sizes.expr(row_bytes)?];
            is_all.then_some(exprs)
        };
        let OperandRows { input_bytes, output_bytes, extent, stride, pad_top, .. } = candidate.rows;
        let [images, input, input_bytes] =
            rows_of(body.operand(candidate.op, candidate.operand), read, input_bytes)?;
        let [_, output, output_bytes] = rows_of(body.results(candidate.op).next()?, written, output_bytes)?;
        let window = window_in(body.at(ctx, candidate.op))?;
        let is_same = [window.extent(), window.strides[0], window.pads[0]] == [extent, stride, pad_top];
        is_same.then_some(RowSizes {
            images,
            input,
            input_bytes,
            output,
            output_bytes,
            extent,
            stride,
            pad_top,
        })
    }

    /// Bytes of an image of the result minus those of an image of the operand.
    fn growth(&self, ctx: &Context) -> Option<DimExpr> {
        let written = dims::mul(ctx, self.output, self.output_bytes)?;
        dims::sub(ctx, written, dims::mul(ctx, self.input, self.input_bytes)?)
    }
}

#[cfg(test)]
impl SharedRows {
    /// Rows of an operand that a result overwrites in bands; all sizes are 1.
    pub(crate) fn of_bands(ctx: &Context, operand: usize, band_rows: u64) -> SharedRows {
        let one = dims::constant(ctx, 1);
        let sizes = RowSizes {
            images: one,
            input: one,
            input_bytes: one,
            output: one,
            output_bytes: one,
            extent: 1,
            stride: 1,
            pad_top: 0,
        };
        let buffers = [0, 1].map(BufferId::from_u32);
        SharedRows { op: Op::from_u32(0), operand, band_rows, order: RowOrder::Down, buffers, sizes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One image of `H` rows, with a result of `output(H)` rows.
    fn rows(ctx: &Context, output: impl Fn(&Context, DimExpr) -> Option<DimExpr>) -> RowSizes {
        let height = dims::symbol(ctx, "H");
        let [one, row] = [1, 12].map(|number| dims::constant(ctx, number));
        let output = output(ctx, height).expect("it is a size");
        RowSizes {
            images: one,
            input: height,
            input_bytes: row,
            output,
            output_bytes: row,
            extent: 3,
            stride: 1,
            pad_top: 1,
        }
    }

    /// `H` rows plus this many.
    fn longer(more: i64) -> impl Fn(&Context, DimExpr) -> Option<DimExpr> {
        move |ctx, height| dims::add(ctx, height, dims::constant(ctx, more))
    }

    #[test]
    fn a_distance_at_all_sizes_is_none_of_theirs_exceeded() {
        let ctx = Context::new();
        let names = [ctx.ident("H")];
        let halves = |ctx: &Context, height| dims::floor_div(ctx, height, dims::constant(ctx, 2));
        for (order, band_rows) in [(RowOrder::Up, 2), (RowOrder::Up, 3), (RowOrder::Down, 4)] {
            for sizes in [rows(&ctx, longer(0)), RowSizes { stride: 2, ..rows(&ctx, halves) }] {
                let shared = SharedRows { sizes, order, ..SharedRows::of_bands(&ctx, 0, band_rows) };
                let distance = |low, high| shared.distance(&ctx, &names, &[(low, high)]);
                let all = distance(4, 40).expect("they may be in bands");
                assert!((4..=40).all(|height| distance(height, height).expect("so here") <= all));
                assert_eq!(distance(4, 1 << 31), None, "numbers that may overflow");
                assert_eq!(distance(1, 40), None, "a single row");
            }
        }
    }

    #[test]
    fn a_distance_for_all_numbers_of_images_is_none_of_theirs_exceeded() {
        let ctx = Context::new();
        let names = ["H", "N"].map(|name| ctx.ident(name));
        let halves = |ctx: &Context, height| dims::floor_div(ctx, height, dims::constant(ctx, 2));
        let wider = RowSizes { output_bytes: dims::constant(&ctx, 15), ..rows(&ctx, longer(0)) };
        let cases = [rows(&ctx, longer(0)), RowSizes { stride: 2, ..rows(&ctx, halves) }, wider];
        for (sizes, order) in
            cases.into_iter().flat_map(|case| [(case, RowOrder::Up), (case, RowOrder::Down)])
        {
            let sizes = RowSizes { images: dims::symbol(&ctx, "N"), ..sizes };
            let shared = SharedRows { sizes, order, ..SharedRows::of_bands(&ctx, 0, 2) };
            let distance = |height, images| shared.distance(&ctx, &names, &[height, images]);
            let all = distance((4, 40), (1, 5)).expect("they may be in bands");
            for (height, images) in (4..=40).flat_map(|height| (1..=5).map(move |images| (height, images))) {
                let at = |expr| {
                    let bounds = dims::bounds(&ctx, expr, &names, &[(height, height), (images, images)]);
                    u64::try_from(bounds.high).expect("it is a size")
                };
                let RowSizes { input_bytes, output, output_bytes, extent, stride, pad_top, .. } = sizes;
                let rows = OperandRows {
                    images,
                    input: height,
                    input_bytes: at(input_bytes),
                    output: at(output),
                    output_bytes: at(output_bytes),
                    extent,
                    stride,
                    pad_top,
                };
                let here = distance((height, height), (images, images)).expect("so here");
                assert_eq!(here, i128::from(rows.distance(2, order).max(0)));
                assert!(here <= all, "{height} rows of {images} images");
            }
            assert_eq!(distance((1, 40), (1, 5)), None, "a single row of a single image");
            assert!(distance((1, 40), (2, 5)).is_some());
        }
    }
}
