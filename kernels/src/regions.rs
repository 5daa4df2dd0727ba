//! ROI align: for each bin of a box, the mean or the maximum of samples of an image.

use math::{BoxAxis, Coordinate};

use crate::abi::{Kernel, KernelBody, KernelFn, OperandTable, entry_of, piece};
use crate::along::NumberType;
use crate::isa::Isa;
use crate::simd::Simd;

/// The sizes of the operands.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RoiAlignShape {
    /// Images.
    pub batch: u64,
    /// Rows and columns of an image.
    pub size: [u64; 2],
    /// Channels.
    pub channels: u64,
    /// Boxes.
    pub count: u64,
    /// Rows and columns of bins.
    pub bins: [u64; 2],
    /// Samples along each axis of a bin; if 0, they follow from the box's size.
    pub samples: u64,
}

impl RoiAlignShape {
    /// A box along both axes, if its number of samples is valid.
    ///
    /// # Safety
    /// `boxes` is valid for `index + 1` boxes.
    #[inline(always)]
    unsafe fn axes<T: Coordinate>(&self, boxes: *const [T; 4], index: usize) -> Option<[BoxAxis<T>; 2]> {
        // SAFETY: the caller's promise.
        let [x, y, width, height] = unsafe { boxes.add(index).read_unaligned() };
        let down = BoxAxis::new([y, height], self.bins[0], self.samples, self.size[0])?;
        let across = BoxAxis::new([x, width], self.bins[1], self.samples, self.size[1])?;
        Some([down, across])
    }
}

/// Whether all boxes refer to existing images, with at most 2^20 samples along an axis of a bin. Operands:
/// `[truth, boxes, images]`: a byte 0 or 1, `count` boxes of four floats, and `count` indices of images,
/// `i64`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CheckBoxes {
    shape: RoiAlignShape,
    number: NumberType,
    isa: Isa,
}

impl CheckBoxes {
    /// The kernel for boxes of `f32` or `f64`.
    pub fn new(shape: RoiAlignShape, number: NumberType, isa: Isa) -> CheckBoxes {
        CheckBoxes { shape, number, isa }
    }

    #[inline(always)]
    unsafe fn check<T: Coordinate>(&self, operands: OperandTable) {
        // SAFETY: the operands have the extents that the descriptor was made for.
        unsafe {
            let boxes = operands.get::<[T; 4]>(1);
            let images = operands.get::<i64>(2);
            let is_valid = |index: usize| {
                let image = images.add(index).read_unaligned();
                (0..self.shape.batch.cast_signed()).contains(&image)
                    && self.shape.axes(boxes, index).is_some()
            };
            *operands.get::<u8>(0) = u8::from((0..self.shape.count as usize).all(is_valid));
        }
    }
}

// SAFETY: eight `u64` and two `u32`, without padding; `entry` reads this type.
unsafe impl Kernel for CheckBoxes {
    fn parts(&self) -> u32 {
        1
    }

    fn scratch_bytes(&self) -> usize {
        0
    }

    fn entry(&self) -> KernelFn {
        entry_of::<CheckBoxes>(self.isa)
    }
}

impl KernelBody for CheckBoxes {
    #[inline(always)]
    unsafe fn run<S: Simd>(&self, _simd: S, operands: OperandTable, _part: u32, _scratch: *mut u8) {
        // SAFETY: the caller's promise; boxes are of the type that the descriptor names.
        unsafe {
            match self.number {
                NumberType::F64 => self.check::<f64>(operands),
                _ => self.check::<f32>(operands),
            }
        }
    }
}

/// The reduction of a bin's samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum SampleFold {
    /// Their mean.
    Mean,
    /// The maximum over samples of each element times its weight.
    Max,
}

/// The bins of boxes. Operands: `[out, x, boxes, images]`: `[count, rows, columns, channels]` results, images
/// `[batch, rows, columns, channels]`, and boxes and indices of images accepted by [`CheckBoxes`].
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RoiAlign {
    shape: RoiAlignShape,
    number: NumberType,
    fold: SampleFold,
    parts: u32,
    isa: Isa,
}

impl RoiAlign {
    /// The kernel for images of `f32` or `f64`.
    pub fn new(
        shape: RoiAlignShape,
        number: NumberType,
        fold: SampleFold,
        isa: Isa,
        threads: usize,
    ) -> RoiAlign {
        let bins = (shape.count * shape.bins[0] * shape.bins[1]) as usize;
        let is_empty = bins == 0 || shape.channels == 0 || shape.batch == 0;
        let parts = if is_empty { 0 } else { bins.min(threads * 4) as u32 };
        RoiAlign { shape, number, fold, parts, isa }
    }

    #[inline(always)]
    unsafe fn part<T: Coordinate>(&self, operands: OperandTable, part: u32, least: T) {
        let shape = &self.shape;
        let [rows, columns] = shape.bins;
        let channels = shape.channels as usize;
        let image_size = (shape.size[0] * shape.size[1]) as usize * channels;
        let bins = (shape.count * rows * columns) as usize;
        for bin in piece(bins, self.parts as usize, part as usize) {
            let index = bin as u64 / (rows * columns);
            let bin_of_box = bin as u64 % (rows * columns);
            let place = [bin_of_box / columns, bin_of_box % columns];
            // SAFETY: the operands have the extents that the descriptor was made for, the image is one of
            // them, and each bin belongs to one part.
            unsafe {
                let result = operands.get::<T>(0).add(bin * channels);
                let result = std::slice::from_raw_parts_mut(result, channels);
                let image = operands.get::<i64>(3).add(index as usize).read_unaligned();
                let image = (image.max(0) as usize).min(shape.batch as usize - 1);
                let pixels = operands.get::<T>(1).add(image * image_size);
                let pixels = std::slice::from_raw_parts(pixels.cast_const(), image_size);
                match shape.axes(operands.get::<[T; 4]>(2), index as usize) {
                    Some(axes) if self.fold == SampleFold::Mean => self.mean(&axes, place, pixels, result),
                    Some(axes) => self.largest(&axes, place, pixels, result, least),
                    None => result.fill(T::of(0.0)),
                }
            }
        }
    }

    /// Calls `each` for every sample of a bin inside the image, with the weights of its four elements and
    /// their channels. Returns the number of samples.
    #[inline(always)]
    fn samples<'p, T: Coordinate>(
        &self,
        [down, across]: &[BoxAxis<T>; 2],
        [row, column]: [u64; 2],
        pixels: &'p [T],
        mut each: impl FnMut([T; 4], [&'p [T]; 4]),
    ) -> u64 {
        let (width, channels) = (self.shape.size[1] as usize, self.shape.channels as usize);
        let pixel = |y: usize, x: usize| &pixels[(y * width + x) * channels..][..channels];
        let mut count = 0;
        for y in down.near(row) {
            let Some(y) = down.sample(row, y) else { continue };
            for x in across.near(column) {
                let Some(x) = across.sample(column, x) else { continue };
                let ([top, bottom], [left, right]) = (y.weights, x.weights);
                let weights = [top * left, top * right, bottom * left, bottom * right];
                let ([above, below], [before, after]) = (y.elements, x.elements);
                each(
                    weights,
                    [pixel(above, before), pixel(above, after), pixel(below, before), pixel(below, after)],
                );
                count += 1;
            }
        }
        count
    }

    #[inline(always)]
    fn mean<T: Coordinate>(&self, axes: &[BoxAxis<T>; 2], bin: [u64; 2], pixels: &[T], result: &mut [T]) {
        result.fill(T::of(0.0));
        self.samples(axes, bin, pixels, |weights, elements| {
            let [a, b, c, d] = elements;
            for ((((sum, a), b), c), d) in result.iter_mut().zip(a).zip(b).zip(c).zip(d) {
                let terms = weights[0] * *a + weights[1] * *b + weights[2] * *c + weights[3] * *d;
                *sum = *sum + terms;
            }
        });
        let count = (axes[0].samples() * axes[1].samples()).max(1);
        let count = T::of(count as f64);
        result.iter_mut().for_each(|sum| *sum = *sum / count);
    }

    #[inline(always)]
    fn largest<T: Coordinate>(
        &self,
        axes: &[BoxAxis<T>; 2],
        bin: [u64; 2],
        pixels: &[T],
        result: &mut [T],
        least: T,
    ) {
        result.fill(least);
        let found = self.samples(axes, bin, pixels, |weights, elements| {
            for (weight, elements) in weights.into_iter().zip(elements) {
                for (most, element) in result.iter_mut().zip(elements) {
                    *most = larger(*most, weight * *element);
                }
            }
        });
        if found == 0 || found < axes[0].samples() * axes[1].samples() {
            result.iter_mut().for_each(|most| *most = larger(*most, T::of(0.0)));
        }
    }
}

/// The larger of two numbers; a NaN that was found first stays.
#[inline(always)]
fn larger<T: Coordinate>(most: T, other: T) -> T {
    let wide: f64 = other.into();
    if other > most || wide.is_nan() { other } else { most }
}

// SAFETY: eight `u64` and four `u32`, without padding; `entry` reads this type.
unsafe impl Kernel for RoiAlign {
    fn parts(&self) -> u32 {
        self.parts
    }

    fn scratch_bytes(&self) -> usize {
        0
    }

    fn entry(&self) -> KernelFn {
        entry_of::<RoiAlign>(self.isa)
    }
}

impl KernelBody for RoiAlign {
    #[inline(always)]
    unsafe fn run<S: Simd>(&self, _simd: S, operands: OperandTable, part: u32, _scratch: *mut u8) {
        // SAFETY: the caller's promise; images and boxes are of the type that the descriptor names.
        unsafe {
            match self.number {
                NumberType::F64 => self.part::<f64>(operands, part, f64::NEG_INFINITY),
                _ => self.part::<f32>(operands, part, f32::NEG_INFINITY),
            }
        }
    }
}
