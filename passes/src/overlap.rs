//! Overlap of a result with the operand whose rows it overwrites: the distance that they need.
//!
//! ```text
//! %1 = nn.max_pool2d %0  =>  %1 = nn.max_pool2d %0 {mem.overlap = array<i64: 0, 4>}
//! ```
//! The two numbers are the operand and the rows of a band of the result; with -4, bands of 4 rows are written
//! from the bottom up. A batch is written image by image, and no band has rows of two images. A band may read
//! its own operand rows while it writes, and later bands still read theirs. So while rows `a..b` are written
//! top down, the operand's rows from the first one that row `a` needs must be intact. The bytes written by
//! then end at `b * row`. The distance is the largest excess of such an end over the first byte that is still
//! needed. Bottom up it is the same with the ends exchanged.
//! This holds for a window over images whose rows follow each other. A result with smaller rows than the
//! operand's is placed at one end of it, one with wider rows beyond one end. Which order is better depends on
//! the other live values, so planners may choose.

use ir::body::OpRef;
use ir::dialects::nn::{SlidingWindow, window_of};
use ir::dims::{self, Ranges, SizeArithmetic};
use ir::plan::attrs;
use ir::size::static_extents;
use ir::window::layout;
use ir::{Body, Context, Dim, Kind, Op, Value, size};

/// The order in which the rows of a result are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowOrder {
    /// The first band first: the result begins below the operand.
    Down,
    /// The last band first: the result begins above the operand.
    Up,
}

/// How an operation runs in bands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Banding {
    /// The operand whose rows result 0 overwrites.
    pub operand: usize,
    /// The maximum number of rows of a band.
    pub rows: u64,
    /// The order of the bands.
    pub order: RowOrder,
}

impl Banding {
    /// Reads `mem.overlap`.
    pub fn of(op: OpRef<'_>) -> Option<Banding> {
        let (operand, rows) = match op.ctx.ints_value(op.attr(attrs::MEM_OVERLAP)?)?[..] {
            [operand, rows] if rows != 0 => (usize::try_from(operand).ok()?, rows),
            _ => return None,
        };
        let order = if rows > 0 { RowOrder::Down } else { RowOrder::Up };
        Some(Banding { operand, rows: rows.unsigned_abs(), order })
    }

    /// Writes `mem.overlap`.
    pub fn write(&self, ctx: &Context, body: &mut Body, op: Op) {
        let rows = match self.order {
            RowOrder::Down => self.rows as i64,
            RowOrder::Up => -(self.rows as i64),
        };
        body.set_attr(ctx, op, attrs::MEM_OVERLAP, ctx.ints_attr(&[self.operand as i64, rows]));
    }
}

/// The rows of an operand that each row of result 0 reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperandRows {
    /// Images of the operand and of the result.
    pub images: u64,
    /// Rows of an image of the operand.
    pub input: u64,
    /// Bytes of each.
    pub input_bytes: u64,
    /// Rows of an image of the result.
    pub output: u64,
    /// Bytes of each.
    pub output_bytes: u64,
    /// The height of the window in rows.
    pub extent: u64,
    /// The distance between the starts of consecutive windows, in rows.
    pub stride: u64,
    /// Rows of padding above the first row of an image.
    pub pad_top: u64,
}

impl OperandRows {
    /// How an operation reads an operand, if the operand is the image of a sliding window.
    pub fn of(ctx: &Context, body: &Body, op: Op, operand: usize) -> Option<OperandRows> {
        let whole = body.at(ctx, op);
        let window = window_in(whole)?;
        let image = whole.operand(operand);
        // The images, the rows of each, and the bytes of a row: in a wider image, these include the gap up to
        // the next row.
        let rows = |value| {
            let [images, rows, _, _] = static_extents(ctx, body.ty(value))?[..] else { return None };
            let [image, row, _, _] = layout(ctx, body, value)?.strides[..] else { return None };
            let distance = u64::try_from(row).ok()?;
            let follow_each_other = images == 1 || u64::try_from(image) == Ok(rows * distance);
            let bytes = size::storage_bytes(ctx, ctx.elem(body.ty(value)), distance)?;
            (images > 0 && rows > 0 && follow_each_other).then_some((images, rows, bytes))
        };
        let (images, input, input_bytes) = rows(image)?;
        let (_, output, output_bytes) = rows(whole.result(0))?;
        Some(OperandRows {
            images,
            input,
            input_bytes,
            output,
            output_bytes,
            extent: window.extent(),
            stride: window.strides[0],
            pad_top: window.pads[0],
        })
    }

    /// The least distance between the first bytes of the two for bands of `band_rows` rows. Top down (`Down`)
    /// it is measured from the result up to the operand, bottom up from the operand up to the result.
    pub fn distance(&self, band_rows: u64, order: RowOrder) -> i64 {
        let bands = (0..self.output).step_by(band_rows.max(1) as usize);
        let excess = bands.map(|first| {
            let end = (first + band_rows).min(self.output);
            match order {
                RowOrder::Down => {
                    let needed = (first * self.stride).saturating_sub(self.pad_top);
                    (end * self.output_bytes) as i64 - (needed * self.input_bytes) as i64
                }
                RowOrder::Up => {
                    let needed = ((end - 1) * self.stride + self.extent).saturating_sub(self.pad_top);
                    (needed.min(self.input) * self.input_bytes) as i64 - (first * self.output_bytes) as i64
                }
            }
        });
        excess.max().unwrap_or(0) + (self.images as i64 - 1) * self.excess_of_image(order).max(0)
    }

    /// The number of bytes by which the distance that a band needs exceeds that of the same band an image
    /// before.
    fn excess_of_image(&self, order: RowOrder) -> i64 {
        let written = (self.output * self.output_bytes) as i64 - (self.input * self.input_bytes) as i64;
        match order {
            RowOrder::Down => written,
            RowOrder::Up => -written,
        }
    }

    /// The largest number of rows of a band, at least `at_least`, that a distance allows. It is a multiple of
    /// `multiple`, or all rows of an image.
    pub fn widest(&self, distance: i64, at_least: u64, multiple: u64, order: RowOrder) -> u64 {
        let fits = |rows: &u64| self.distance(*rows, order) <= distance;
        self.wider(at_least + 1, multiple).rev().find(fits).unwrap_or(at_least)
    }

    /// The possible rows of a band from `at_least` on: multiples of `multiple`, then all rows of an image.
    pub(crate) fn wider(&self, at_least: u64, multiple: u64) -> impl DoubleEndedIterator<Item = u64> {
        let output = self.output;
        let multiples = (at_least.div_ceil(multiple)..=output.saturating_sub(1) / multiple)
            .map(move |count| count * multiple);
        multiples.chain((at_least <= output).then_some(output))
    }
}

/// Whether each window of an operation reaches into `image`, which it reads, at all sizes.
pub(crate) fn reaches_rows(ctx: &Context, body: &Body, ranges: &Ranges, op: Op, image: Value) -> bool {
    let Some(window) = window_in(body.at(ctx, op)) else { return false };
    let has_rows = || {
        let rows = *ctx.type_data(body.ty(image)).tensor_shape()?.get(1)?;
        let lacks_rows = SizeArithmetic(ctx).expr(SizeArithmetic(ctx).sub(Dim::Known(1), rows))?;
        Some(dims::maximum(ctx, lacks_rows, ranges)?.value <= 0)
    };
    window.reaches_rows() && (window.needs_rows() || has_rows() == Some(true))
}

/// The window of an operation, or of the main operation of a group; only with channels last, so that rows are
/// contiguous.
pub(crate) fn window_in(whole: OpRef<'_>) -> Option<SlidingWindow> {
    let window = |op: OpRef<'_>| {
        let reads_windows = matches!(op.kind(), Kind::Contract(_) | Kind::Kernel(_));
        if reads_windows && op.text("layout") == Some("NHWC") { window_of(op) } else { None }
    };
    let Kind::Group = whole.kind() else { return window(whole) };
    let block = whole.body.entry(*whole.body.regions(whole.op).first()?)?;
    let mut inner = whole.body.ops(block).map(|op| whole.body.at(whole.ctx, op));
    inner.find_map(window)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// 8 rows of 100 bytes, a window of 3 rows with a row of padding.
    fn rows(output_bytes: u64, stride: u64) -> OperandRows {
        OperandRows {
            images: 1,
            input: 8,
            input_bytes: 100,
            output: 8 / stride,
            output_bytes,
            extent: 3,
            stride,
            pad_top: 1,
        }
    }

    /// A window of two rows over `H - 1` rows; with two rows of padding, one fits an image without rows.
    #[test]
    fn a_window_that_fits_into_the_padding_reaches_rows_if_there_are_some_at_all_sizes() {
        let reaches = |pads: &str, result: &str, least: u64| {
            let text = "func.func @main(%x: tensor<1x?x4x4xf32, #optc.dims<H - 1>>) -> T {
  %0 = nn.max_pool2d %x {kernel = array<i64: 2, 2>, layout = \"NHWC\", pads = array<i64: PADS>}
    : (tensor<1x?x4x4xf32, #optc.dims<H - 1>>) -> T
  return %0 : T
}";
            let ty = format!("tensor<1x?x3x4xf32, #optc.dims<{result}>>");
            let ctx = Arc::new(Context::new());
            let text = text
                .replace("-> T", &format!("-> {ty}"))
                .replace(": T\n", &format!(": {ty}\n"))
                .replace("PADS", pads);
            let module = ir::text::parse(&ctx, "pool.mlir", text);
            let module = module.unwrap_or_else(|faults| panic!("{}", faults[0].render(&ctx)));
            let body = module.function("main").expect("it is there");
            let block = body.entry(body.root()).expect("it has a body");
            let mut ranges = Ranges::default();
            ranges.declare(ctx.ident("H"), least, 9);
            reaches_rows(&ctx, body, &ranges, body.first_op(block).expect("a pool"), body.args(block)[0])
        };
        assert!(reaches("1, 0, 0, 0", "H - 1", 1), "no window fits into a row of padding");
        assert!(reaches("1, 0, 1, 0", "H", 2));
        assert!(!reaches("1, 0, 1, 0", "H", 1));
        assert!(!reaches("2, 0, 0, 0", "H", 2), "the first window lies in the padding");
    }

    #[test]
    fn a_window_at_stride_1_needs_a_band_and_the_row_above_it() {
        assert_eq!(rows(100, 1).distance(1, RowOrder::Down), 200);
        assert_eq!(rows(100, 1).distance(3, RowOrder::Down), 400);
        assert_eq!(rows(100, 1).distance(1, RowOrder::Up), 200);
        assert_eq!(rows(100, 1).distance(3, RowOrder::Up), 400);
    }

    #[test]
    fn a_result_with_other_rows_is_farthest_ahead_at_one_end() {
        assert_eq!(rows(150, 1).distance(1, RowOrder::Down), 8 * 150 - 600, "the last row");
        assert_eq!(rows(150, 1).distance(1, RowOrder::Up), 200, "the first row");
        assert_eq!(rows(100, 2).distance(1, RowOrder::Down), 100, "the first row");
        assert_eq!(rows(100, 2).distance(1, RowOrder::Up), 800 - 300, "the last row");
    }

    /// The least distance at which no band overwrites a row that it or a later one reads, found row by row.
    fn needed(rows: &OperandRows, band_rows: u64, order: RowOrder) -> Option<i64> {
        let starts = (0..rows.images)
            .flat_map(|image| (0..rows.output).step_by(band_rows as usize).map(move |first| (image, first)));
        let mut bands: Vec<(u64, u64)> = starts.collect();
        if order == RowOrder::Up {
            bands.reverse();
        }
        let (mut distance, mut read) = (None, Vec::new());
        for (image, first) in bands.into_iter().rev() {
            let end = (first + band_rows).min(rows.output);
            for row in first..end {
                let taps = (row * rows.stride..row * rows.stride + rows.extent)
                    .filter_map(|tap| tap.checked_sub(rows.pad_top));
                read.extend(taps.filter(|tap| *tap < rows.input).map(|tap| image * rows.input + tap));
            }
            let written = [first, end].map(|row| (image * rows.output + row) * rows.output_bytes);
            let excess = match order {
                RowOrder::Down => written[1] as i64 - (read.iter().min()? * rows.input_bytes) as i64,
                RowOrder::Up => ((read.iter().max()? + 1) * rows.input_bytes) as i64 - written[0] as i64,
            };
            distance = Some(distance.unwrap_or(excess).max(excess));
        }
        distance
    }

    #[test]
    fn a_distance_is_what_the_rows_need_row_by_row_for_every_number_of_images() {
        let shapes = [(8, 1, 3, 1), (8, 2, 3, 1), (7, 2, 2, 0), (6, 1, 1, 0), (5, 3, 3, 0), (4, 1, 4, 2)];
        for (input, stride, extent, pad_top) in shapes {
            let output = (input + 2 * pad_top - extent) / stride + 1;
            let bytes = [(100, 100), (100, 160), (100, 40), (64, 300)];
            for ((input_bytes, output_bytes), images) in
                bytes.into_iter().flat_map(|bytes| [(bytes, 1), (bytes, 2), (bytes, 5)])
            {
                let rows =
                    OperandRows { images, input, input_bytes, output, output_bytes, extent, stride, pad_top };
                for (band_rows, order) in
                    (1..=output).flat_map(|rows| [(rows, RowOrder::Down), (rows, RowOrder::Up)])
                {
                    let needed = needed(&rows, band_rows, order).expect("some rows are read");
                    let distance = rows.distance(band_rows, order);
                    assert_eq!(distance, needed, "{rows:?} in bands of {band_rows}, {order:?}");
                }
            }
        }
    }

    /// Rows 2 to 5 of each of `images` images of 8 rows, as a convolution reads them.
    fn of_slice(images: u64) -> Option<OperandRows> {
        let ctx = Arc::new(Context::new());
        let text = r#"func.func @main(%x: tensor<Nx8x4x4xf32>, %w: FILTER) -> tensor<Nx4x4x4xf32> {
  %0 = nn.slice %x {mem.view, starts = array<i64: 0, 2, 0, 0>, sizes = array<i64: N, 4, 4, 4>}
    : (tensor<Nx8x4x4xf32>) -> tensor<Nx4x4x4xf32>
  %1 = nn.conv2d %0, %w {layout = "NHWC"} : (tensor<Nx4x4x4xf32>, FILTER) -> tensor<Nx4x4x4xf32>
  return %1 : tensor<Nx4x4x4xf32>
}"#;
        let text = text.replace("FILTER", "tensor<4x4x1x1xf32>");
        let text = text.replace("Nx", &format!("{images}x")).replace("N,", &format!("{images},"));
        let module = ir::text::parse(&ctx, "slice.mlir", text);
        let module = module.unwrap_or_else(|faults| panic!("{}", faults[0].render(&ctx)));
        let (_, body) = module.functions().next().expect("there is a function");
        let block = body.entry(body.root()).expect("it has a body");
        let mut convs = body.ops(block).filter(|op| body.at(&ctx, *op).name() == "nn.conv2d");
        OperandRows::of(&ctx, body, convs.next().expect("there is a convolution"), 0)
    }

    #[test]
    fn images_with_other_rows_between_them_do_not_follow_each_other() {
        assert_eq!(of_slice(1).map(|rows| [rows.images, rows.input, rows.input_bytes]), Some([1, 4, 64]));
        assert_eq!(of_slice(2), None);
    }

    #[test]
    fn bands_grow_as_far_as_the_distance_allows() {
        assert_eq!(rows(100, 1).widest(400, 1, 1, RowOrder::Down), 3);
        assert_eq!(rows(100, 1).widest(0, 1, 1, RowOrder::Down), 1);
        assert_eq!(rows(100, 1).widest(i64::MAX, 1, 1, RowOrder::Up), 8);
        assert_eq!(rows(100, 1).widest(400, 2, 2, RowOrder::Down), 2, "a multiple of 2");
        assert_eq!(rows(100, 1).widest(700, 2, 2, RowOrder::Down), 6);
        assert_eq!(rows(100, 1).widest(i64::MAX, 3, 3, RowOrder::Up), 8, "all rows are no multiple of 3");
    }
}
