//! Pools against their definition, to the bit.

use super::*;
use crate::bf16::{nearest_bf16, wide_bf16};

/// Windows that reach into padding on all sides.
const PADDED: Pool2dShape = Pool2dShape {
    batch: 1,
    input: [7, 9],
    channels: 21,
    kernel: [3, 3],
    stride: [2, 2],
    dilation: [1, 1],
    pads: [1, 1, 1, 1],
    output: [4, 5],
};

fn run<T>(kernel: &impl Kernel, out: &mut [T], x: &[T]) {
    let ptrs: [*mut u8; 2] = [out.as_mut_ptr().cast(), x.as_ptr().cast_mut().cast()];
    for part in 0..kernel.parts() {
        // SAFETY: the operands have the extents that the test made the descriptor for; no scratch is
        // used.
        unsafe { kernel.entry()(kernel.as_bytes().as_ptr(), ptrs.as_ptr(), part, std::ptr::null_mut()) }
    }
}

/// The definition, one element at a time.
fn expected(shape: &Pool2dShape, kind: PoolKind, x: &[f32], [y, column, channel]: [usize; 3]) -> f32 {
    let mut sum = 0.0f32;
    let mut max = f32::NEG_INFINITY;
    let mut inside = 0;
    let mut padded = 0;
    for ky in 0..shape.kernel[0] {
        for kx in 0..shape.kernel[1] {
            let at = [
                y * shape.stride[0] + ky * shape.dilation[0],
                column * shape.stride[1] + kx * shape.dilation[1],
            ];
            let end = |axis: usize| shape.input[axis] + shape.pads[axis] + shape.pads[axis + 2];
            padded += usize::from(at[0] < end(0) && at[1] < end(1));
            let is_inside =
                |axis: usize| (shape.pads[axis]..shape.pads[axis] + shape.input[axis]).contains(&at[axis]);
            if is_inside(0) && is_inside(1) {
                let (row, col) = (at[0] - shape.pads[0], at[1] - shape.pads[1]);
                let value = x[(row * shape.input[1] + col) * shape.channels + channel];
                sum += value;
                max = if value > max || value.is_nan() { value } else { max };
                inside += 1;
            }
        }
    }
    match kind {
        PoolKind::Max => max,
        PoolKind::Average => sum / inside as f32,
        PoolKind::AverageWithPads => sum / padded as f32,
    }
}

/// The definition of all elements.
fn all_expected(shape: &Pool2dShape, kind: PoolKind, x: &[f32]) -> Vec<f32> {
    let [rows, columns] = shape.output;
    let at = |index: usize| {
        let (pixel, channel) = (index / shape.channels, index % shape.channels);
        expected(shape, kind, x, [pixel / columns, pixel % columns, channel])
    };
    (0..rows * columns * shape.channels).map(at).collect()
}

fn values(count: usize) -> Vec<f32> {
    (0..count).map(|i| ((i * 7919) % 1013) as f32 / 100.0 - 5.0).collect()
}

#[test]
fn every_pool_is_its_definition_to_the_bit() {
    let base = Pool2dShape {
        batch: 1,
        input: [9, 7],
        channels: if cfg!(miri) { 9 } else { 37 },
        kernel: [3, 3],
        stride: [2, 2],
        dilation: [1, 1],
        pads: [1, 1, 1, 1],
        output: [5, 4],
    };
    let shapes = [
        base,
        Pool2dShape { pads: [0; 4], output: [4, 3], ..base },
        Pool2dShape { pads: [0; 4], output: [5, 4], input: [10, 8], ..base },
        Pool2dShape { dilation: [2, 2], stride: [1, 1], output: [7, 5], ..base },
        Pool2dShape { kernel: [2, 5], stride: [1, 3], channels: 3, output: [10, 2], ..base },
    ];
    for (shape, kind) in shapes
        .iter()
        .flat_map(|s| [PoolKind::Max, PoolKind::Average, PoolKind::AverageWithPads].map(|k| (s, k)))
    {
        let x = values(shape.input[0] * shape.input[1] * shape.channels);
        let wanted = all_expected(shape, kind, &x);
        for isa in Isa::available() {
            let (from, to) = (shape.input, shape.output);
            let strides = [from, to].map(|size| ImageStrides::nhwc(size, shape.channels));
            let pool = Pool2d::new(shape, strides[0], strides[1], kind, isa, 2);
            let mut out = vec![f32::NAN; to[0] * to[1] * shape.channels];
            run(&pool, &mut out, &x);
            for (index, (found, wanted)) in out.iter().zip(&wanted).enumerate() {
                assert_eq!(found.to_bits(), wanted.to_bits(), "{shape:?} {kind:?} {isa:?} at {index}");
            }
        }
    }
}

#[test]
fn a_window_with_nan_has_nan_for_its_largest_element() {
    let shape = Pool2dShape {
        batch: 1,
        input: [6, 6],
        channels: 19,
        kernel: [3, 2],
        stride: [1, 1],
        dilation: [1, 1],
        pads: [1, 1, 0, 0],
        output: [5, 6],
    };
    for at in (0..36 * 19).step_by(if cfg!(miri) { 400 } else { 1 }) {
        let mut x = values(36 * 19);
        x[at] = f32::NAN;
        x[(at + 40) % (36 * 19)] = f32::INFINITY;
        let wanted = all_expected(&shape, PoolKind::Max, &x);
        for isa in Isa::available() {
            let strides = [shape.input, shape.output].map(|size| ImageStrides::nhwc(size, shape.channels));
            let pool = Pool2d::new(&shape, strides[0], strides[1], PoolKind::Max, isa, 1);
            let mut out = vec![0.0; 30 * 19];
            run(&pool, &mut out, &x);
            for (index, (found, wanted)) in out.iter().zip(&wanted).enumerate() {
                assert!(found == wanted || found.is_nan() && wanted.is_nan(), "{isa:?} {at} at {index}");
            }
        }
    }
}

#[test]
fn a_pool_of_bf16_is_that_of_the_same_numbers() {
    let shape = PADDED;
    let halves: Vec<u16> = values(63 * 21).into_iter().map(nearest_bf16).collect();
    let x: Vec<f32> = halves.iter().map(|half| wide_bf16(*half)).collect();
    for isa in Isa::available() {
        let strides = [shape.input, shape.output].map(|size| ImageStrides::nhwc(size, shape.channels));
        let pool = Pool2d::new(&shape, strides[0], strides[1], PoolKind::Max, isa, 2);
        let mut wanted = vec![f32::NAN; 20 * 21];
        run(&pool, &mut wanted, &x);
        let mut found = vec![7u16; 20 * 21 + 1];
        run(&pool.stored(PooledNumber::Bf16), &mut found, &halves);
        let wanted: Vec<u16> = wanted.into_iter().map(nearest_bf16).chain([7]).collect();
        assert_eq!(found, wanted, "{isa:?}");
    }
}

#[test]
fn a_global_mean_adds_pixels_in_order() {
    for channels in [1, 16, 37, 130, 300] {
        let batch = 2;
        let pixels = if cfg!(miri) { 2 } else { 49 };
        let x = values(batch * pixels * channels);
        for isa in Isa::available() {
            let pool = GlobalAveragePool::new(batch, pixels, channels, channels, pixels * channels, isa, 2);
            let mut out = vec![f32::NAN; batch * channels];
            run(&pool, &mut out, &x);
            for (index, found) in out.iter().enumerate() {
                let (n, channel) = (index / channels, index % channels);
                let sum = (0..pixels).fold(0.0, |sum, p| sum + x[(n * pixels + p) * channels + channel]);
                assert_eq!(*found, sum / pixels as f32, "{isa:?} {channels} at {index}");
            }
        }
    }
}

#[test]
fn means_of_bf16_are_summed_in_f32_and_rounded_once() {
    for (batch, pixels, channels) in [(1, 1, 1), (2, 49, 24), (1, 9, 130), (2, 3, 300)] {
        let halves: Vec<u16> = values(batch * pixels * channels).into_iter().map(nearest_bf16).collect();
        let x: Vec<f32> = halves.iter().copied().map(wide_bf16).collect();
        for isa in Isa::available() {
            let pool = GlobalAveragePool::new(batch, pixels, channels, channels, pixels * channels, isa, 2);
            let mut means = vec![f32::NAN; batch * channels];
            run(&pool, &mut means, &x);
            let mut out = vec![u16::MAX; batch * channels + 1];
            run(&pool.stored(StoredFloat::Bf16), &mut out, &halves);
            let mut wanted: Vec<u16> = means.into_iter().map(nearest_bf16).collect();
            wanted.push(u16::MAX);
            assert_eq!(out, wanted, "{isa:?}: {batch}, {pixels}, {channels}");
        }
    }
}

#[test]
fn a_pool_writes_into_a_wider_image_and_nothing_beside() {
    let shape = Pool2dShape {
        batch: 1,
        input: [4, 4],
        channels: 5,
        kernel: [2, 2],
        stride: [2, 2],
        dilation: [1, 1],
        pads: [0; 4],
        output: [2, 2],
    };
    let x = values(80);
    let to = ImageStrides::nhwc([2, 2], 9);
    let pool = Pool2d::new(&shape, ImageStrides::nhwc([4, 4], 5), to, PoolKind::Max, Isa::detect(), 1);
    let mut out = vec![777.0; 36];
    run(&pool, &mut out, &x);
    for (index, value) in out.iter().enumerate() {
        assert_eq!(*value == 777.0, index % 9 >= 5, "element {index}");
    }
}

#[test]
fn a_pool_of_bytes_is_that_of_the_same_numbers() {
    let base = PADDED;
    let shapes = [
        base,
        Pool2dShape { channels: 64, ..base },
        Pool2dShape { channels: 200, kernel: [1, 2], pads: [0; 4], output: [4, 4], ..base },
        // Windows entirely in the padding.
        Pool2dShape { channels: 5, pads: [4, 4, 4, 4], output: [7, 8], ..base },
    ];
    for (shape, isa) in
        shapes.iter().flat_map(|shape| Isa::available().into_iter().map(move |isa| (shape, isa)))
    {
        let [from, to] = [shape.input, shape.output].map(|size| ImageStrides::nhwc(size, shape.channels));
        let count = shape.output[0] * shape.output[1] * shape.channels;
        let x: Vec<u8> = (0..shape.input[0] * shape.input[1] * shape.channels)
            .map(|i| ((i * 7919) % 1013) as u8)
            .collect();
        for (sign, least) in [(ByteSign::Unsigned, 0.0), (ByteSign::Signed, -128.0)] {
            let numbers: Vec<f32> = x.iter().map(|byte| sign.number(*byte) as f32).collect();
            let wanted = all_expected(shape, PoolKind::Max, &numbers);
            let wanted = wanted.iter().map(|number| number.max(least) as i32 as u8).chain([7]);
            let pool = Pool2d::new(shape, from, to, PoolKind::Max, isa, 2).stored(sign.into());
            let mut found = vec![7u8; count + 1];
            run(&pool, &mut found, &x);
            assert!(found.iter().copied().eq(wanted), "{shape:?} {isa:?} {sign:?}");
        }
    }
}
