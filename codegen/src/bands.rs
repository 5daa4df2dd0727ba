//! Overlap of a window's input and output: the kernel runs in bands of rows, one call for each band.
//!
//! ```text
//! conv2d of 112 rows {mem.overlap = array<i64: 0, 4>}   =>   28 calls of 4 rows each
//! ```
//! A call is the same kernel on the rows of the image that its band reads, with the padding next to them, so
//! that each element is the same sum in the same order. All threads synchronize after each call. So once a
//! band is written, nobody reads the rows that only it and earlier bands read; the plan has proved that it
//! overwrites no others.

use ir::body::OpRef;
use ir::plan::attrs;
use ir::target::Bands;
use kernels::ImageStrides;

use crate::call::{LoweredCall, Pointer};
use crate::refusal::CodeRefusal;

/// A window that slides over the rows of images.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slide {
    /// Images, one after the other.
    pub(crate) images: usize,
    /// Rows of an image.
    pub(crate) input: usize,
    /// Rows of an image of the result.
    pub(crate) output: usize,
    /// Rows of the window.
    pub(crate) kernel: usize,
    /// Distance between neighbouring rows of a window.
    pub(crate) dilation: usize,
    /// Distance between neighbouring windows.
    pub(crate) stride: usize,
    /// Rows of zeros above.
    pub(crate) pad_top: usize,
}

/// A range of the rows of an image of the result, and the rows that it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Band {
    /// The image of the batch.
    pub(crate) image: usize,
    /// First row written.
    pub(crate) first: usize,
    /// Rows written.
    pub(crate) rows: usize,
    /// First row read.
    pub(crate) first_input: usize,
    /// Rows read.
    pub(crate) inputs: usize,
    /// Rows of zeros above and below them.
    pub(crate) pads: [usize; 2],
}

impl Band {
    /// Whether another band has the same numbers of rows, so that the kernel is the same.
    pub(crate) fn is_like(&self, other: &Band) -> bool {
        [self.rows, self.inputs] == [other.rows, other.inputs] && self.pads == other.pads
    }

    /// The distance in elements from the beginning of a result with these strides to what it writes.
    pub(crate) fn written_from(&self, strides: ImageStrides) -> u64 {
        self.image as u64 * strides.n + self.first as u64 * strides.h
    }

    /// The distance in elements from the beginning of an operand with these strides to what it reads.
    pub(crate) fn read_from(&self, strides: ImageStrides) -> u64 {
        self.image as u64 * strides.n + self.first_input as u64 * strides.h
    }
}

/// A call for each band. `call` makes the first of successive equal bands; later ones reuse it with their own
/// `operands`.
///
/// # Errors
/// Those of `call`.
pub(crate) fn calls(
    bands: &[Band],
    operands: impl Fn(&Band) -> Vec<Pointer>,
    call: impl Fn(&Band) -> Result<LoweredCall, CodeRefusal>,
) -> Result<Vec<LoweredCall>, CodeRefusal> {
    let mut calls: Vec<LoweredCall> = Vec::with_capacity(bands.len());
    for (index, band) in bands.iter().enumerate() {
        let like = index.checked_sub(1).filter(|before| band.is_like(&bands[*before]));
        calls.push(match like {
            Some(before) => calls[before].on(operands(band)),
            None => call(band)?,
        });
    }
    Ok(calls)
}

impl Slide {
    /// Bands of `rows.abs()` rows, image by image; in the opposite order if `rows < 0`.
    ///
    /// # Errors
    /// If some window lies outside the image.
    pub(crate) fn bands(&self, rows: i64) -> Result<Vec<Band>, CodeRefusal> {
        let size = (rows.unsigned_abs() as usize).max(1);
        let firsts = (0..self.output).step_by(size);
        let of_image: Option<Vec<Band>> =
            firsts.map(|first| self.band(first, size.min(self.output - first))).collect();
        let of_image = of_image.ok_or_else(|| CodeRefusal::new("some of its windows lie in the padding"))?;
        let images =
            (0..self.images).flat_map(|image| of_image.iter().map(move |band| Band { image, ..*band }));
        let mut bands: Vec<Band> = images.collect();
        if rows < 0 {
            bands.reverse();
        }
        Ok(bands)
    }

    /// The band of `rows` rows of the first image from `first` on; none if some window lies outside it.
    pub(crate) fn band(&self, first: usize, rows: usize) -> Option<Band> {
        let (start, extent) = (first * self.stride, (self.kernel - 1) * self.dilation + 1);
        let end = start + (rows - 1) * self.stride + extent;
        let first_input = start.saturating_sub(self.pad_top);
        let last_input = end.checked_sub(self.pad_top)?.min(self.input);
        let inputs = last_input.checked_sub(first_input).filter(|inputs| *inputs > 0)?;
        let pads = [self.pad_top.saturating_sub(start), end.saturating_sub(self.pad_top + self.input)];
        Some(Band { image: 0, first, rows, first_input, inputs, pads })
    }

    /// Whether there are rows to write, and no window lies wholly in the padding.
    pub(crate) fn has_windows_inside(&self) -> bool {
        // If some window does, the first or the last does.
        let is_inside = |row: usize| self.band(row, 1).is_some();
        self.images * self.output > 0 && is_inside(0) && is_inside(self.output - 1)
    }

    /// Whether the rows can be written in several bands.
    pub(crate) fn is_divisible(&self) -> bool {
        self.images * self.output > 1 && self.has_windows_inside()
    }
}

/// A kernel that can run on any rows of its result.
pub(crate) struct Rowwise {
    /// The rows of the image that it reads.
    pub(crate) slide: Slide,
    /// The operand that is the image.
    pub(crate) image: usize,
    /// The distance of rows in bytes, of the image and of the result.
    pub(crate) row_bytes: [u64; 2],
    /// The distance of the batch's images in bytes, of the image and of the result.
    pub(crate) image_bytes: [u64; 2],
    /// The cost of a row.
    pub(crate) work: RowWork,
    /// Makes the call for a band, with at most this many bytes of scratch for each worker if there is a
    /// limit.
    pub(crate) call: Box<dyn Fn(Band, Option<usize>) -> LoweredCall>,
}

/// The work of a call for each row of the result, and its overhead.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowWork {
    /// Multiplications, or comparisons, of a row.
    pub(crate) products: usize,
    /// Bytes of a row read and written.
    pub(crate) bytes: usize,
    /// Bytes of weights that every call reads.
    pub(crate) weight_bytes: usize,
}

/// The overhead of a call in cycles: dispatching it, and waiting for the slowest thread.
pub(crate) const CALL_CYCLES: usize = 3000;
/// The acceptable overhead of a call, as a share of its band's work: 1 / this.
pub(crate) const FREE: usize = 50;

impl RowWork {
    /// The fewest rows of a band with acceptable overhead on this number of threads.
    pub(crate) fn free_rows(&self, threads: usize) -> u64 {
        (self.call_cycles() * FREE).div_ceil(self.row_cycles(threads)) as u64
    }

    /// Cycles, about, of a row.
    pub(crate) fn row_cycles(&self, threads: usize) -> usize {
        (self.products / (25 * threads)).max(self.bytes / (8 * threads)).max(1)
    }

    /// Cycles, about, of the overhead of a call.
    pub(crate) fn call_cycles(&self) -> usize {
        CALL_CYCLES + self.weight_bytes / 32
    }
}

/// The rows of a band, if `mem.overlap` makes an operation run in bands: `[operand, rows]`, with negative
/// rows for bands from the bottom up.
///
/// # Errors
/// If it is malformed or its operand is not the one that the kernel reads row by row.
pub(crate) fn band_rows(op: OpRef<'_>, bands: Option<Bands>) -> Result<Option<i64>, CodeRefusal> {
    if op.attr(attrs::MEM_OVERLAP).is_none() {
        return Ok(None);
    }
    let malformed = || CodeRefusal::new("its `mem.overlap` is not [operand, rows]");
    let list = op.ints(attrs::MEM_OVERLAP).ok_or_else(malformed)?;
    let [operand, rows] = list[..] else { return Err(malformed()) };
    if rows == 0 {
        return Err(malformed());
    }
    match bands {
        Some(bands) if i64::try_from(bands.operand) == Ok(operand) => {
            let all = op.result_shape(0).and_then(|shape| shape.get(1).copied());
            let is_whole = rows.unsigned_abs().is_multiple_of(bands.multiple)
                || all.is_some_and(|all| rows.unsigned_abs() >= all);
            let multiple = bands.multiple;
            let message =
                || format!("its kernel runs in bands of multiples of {multiple} rows, and not of {rows}");
            is_whole.then_some(Some(rows)).ok_or_else(|| CodeRefusal::new(message()))
        }
        _ => Err(CodeRefusal::new(format!("its kernel does not read operand {operand} row by row"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::KernelCode;

    #[test]
    fn bands_read_what_their_windows_cover_and_keep_the_padding_at_the_ends() {
        let slide = Slide { images: 1, input: 7, output: 4, kernel: 3, dilation: 1, stride: 2, pad_top: 1 };
        let band = |first, rows, first_input, inputs, pads| Band {
            image: 0,
            first,
            rows,
            first_input,
            inputs,
            pads,
        };
        assert_eq!(slide.bands(3).unwrap(), [band(0, 3, 0, 6, [1, 0]), band(3, 1, 5, 2, [0, 1])]);
        assert_eq!(slide.bands(9).unwrap(), [band(0, 4, 0, 7, [1, 1])]);
        let mut upwards = slide.bands(-3).unwrap();
        upwards.reverse();
        assert_eq!(upwards, slide.bands(3).unwrap());
    }

    #[test]
    fn images_are_written_one_after_the_other() {
        let slide = Slide { images: 3, input: 7, output: 4, kernel: 3, dilation: 1, stride: 2, pad_top: 1 };
        let alone = Slide { images: 1, ..slide };
        let of = |image: usize| {
            alone.bands(3).unwrap().into_iter().map(move |band| Band { image, ..band }).collect::<Vec<Band>>()
        };
        assert_eq!(slide.bands(3).unwrap(), [of(0), of(1), of(2)].concat());
        let mut upwards = slide.bands(-3).unwrap();
        upwards.reverse();
        assert_eq!(upwards, slide.bands(3).unwrap());
        let strides = ImageStrides { n: 1000, h: 100, w: 10, c: 1 };
        let last = of(2)[1];
        assert_eq!([last.written_from(strides), last.read_from(strides)], [2300, 2500]);
        let single_row = Slide { output: 1, ..slide };
        assert!(single_row.is_divisible() && !Slide { images: 1, ..single_row }.is_divisible());
    }

    #[test]
    fn a_window_in_the_padding_alone_makes_no_bands() {
        let slide = Slide { images: 1, input: 4, output: 6, kernel: 1, dilation: 1, stride: 1, pad_top: 1 };
        assert!(slide.bands(1).is_err());
        assert!(!slide.is_divisible());
    }

    extern "C" fn nothing(_: *const u8, _: *const *mut u8, _: u32, _: *mut u8) {}

    #[test]
    fn a_kernel_is_made_for_each_run_of_bands_that_are_alike() {
        let slide = Slide { images: 1, input: 14, output: 14, kernel: 3, dilation: 1, stride: 1, pad_top: 1 };
        let bands = slide.bands(4).unwrap();
        let first_row = |band: &Band| vec![Pointer::Result(0, band.first as u64)];
        // The descriptor records the band that it was made for.
        let of_band = |band: &Band| {
            Ok(LoweredCall {
                code: KernelCode::Kernel(nothing),
                descriptor: vec![band.first as u8],
                parts: 1,
                scratch_bytes: 0,
                most_scratch_bytes: 0,
                enough_scratch_bytes: 0,
                operands: first_row(band),
            })
        };
        let calls = calls(&bands, first_row, of_band).unwrap();
        let made: Vec<u8> = calls.iter().map(|call| call.descriptor[0]).collect();
        assert_eq!(made, [0, 4, 4, 12]);
        let rows = calls.iter().map(|call| match call.operands[..] {
            [Pointer::Result(0, row)] => row,
            _ => panic!("a call has the operands of its band"),
        });
        assert_eq!(rows.collect::<Vec<u64>>(), [0, 4, 8, 12]);
        // Equal numbers of rows, but at opposite ends of the image.
        let halves = slide.bands(7).unwrap();
        assert!(!halves[0].is_like(&halves[1]));
    }

    #[test]
    fn many_weights_or_little_work_need_many_rows() {
        let work = RowWork { products: 2_700_000, bytes: 56_000, weight_bytes: 73_728 };
        assert!(work.free_rows(2) < 6);
        assert!(RowWork { weight_bytes: 2_000_000, ..work }.free_rows(2) > 50);
        assert!(RowWork { products: 50_000, ..work }.free_rows(2) > 20);
    }
}
