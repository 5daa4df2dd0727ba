//! Group normalization against its definition in `f64`.

use super::*;
use crate::map::ScalarFunction;

fn run(kernel: &GroupNorm, operands: &[*mut f32]) {
    // Scratch full of NaNs.
    let mut scratch = vec![u8::MAX; kernel.scratch_bytes() + 64];
    let start = scratch.as_ptr().align_offset(64);
    let scratch = scratch[start..].as_mut_ptr();
    let ptrs: Vec<*mut u8> = operands.iter().map(|operand| operand.cast()).collect();
    for part in 0..kernel.parts() {
        // SAFETY: the operands have the extents that the test made the descriptor for, and scratch has the
        // kernel's size.
        unsafe {
            kernel.entry()(kernel.as_bytes().as_ptr(), ptrs.as_ptr(), part, scratch);
        }
    }
}

/// Runs all steps on `x`, in place.
fn normalise(
    shape: &GroupNormShape,
    centre: Centre,
    x: &mut [f32],
    scale: &mut [f32],
    bias: &mut [f32],
    isa: Isa,
    threads: usize,
) {
    let mut moments = vec![f32::NAN; shape.moments_len()];
    let mut factors = vec![f32::NAN; shape.factors_len()];
    let step = |step| GroupNorm::new(shape, step, centre, 1e-5, ScalarFunction::Silu, isa, threads);
    let (moments, factors) = (moments.as_mut_ptr(), factors.as_mut_ptr());
    let x = x.as_mut_ptr();
    run(&step(GroupNormStep::Moments), &[moments, x]);
    run(&step(GroupNormStep::Factors), &[factors, moments, scale.as_mut_ptr(), bias.as_mut_ptr()]);
    run(&step(GroupNormStep::Apply), &[x, x, factors, bias.as_mut_ptr()]);
}

fn expected(shape: &GroupNormShape, centre: Centre, [x, scale, bias]: [&[f32]; 3]) -> Vec<f32> {
    let size = shape.channels / shape.groups;
    // What lies between the channels stays.
    let mut out = x.to_vec();
    for (n, group) in (0..shape.batch).flat_map(|n| (0..shape.groups).map(move |group| (n, group))) {
        let pixels = 0..shape.pixels;
        let at: Vec<(usize, usize)> = pixels
            .flat_map(|pixel| (group * size..(group + 1) * size).map(move |channel| (pixel, channel)))
            .map(|(pixel, channel)| {
                (
                    n * shape.image_stride + pixel * shape.pixel_stride + channel * shape.channel_stride,
                    channel,
                )
            })
            .collect();
        let mean = match centre {
            Centre::Mean => at.iter().map(|(at, _)| f64::from(x[*at])).sum::<f64>() / at.len() as f64,
            Centre::Zero => 0.0,
        };
        let square = |(at, _): &(usize, usize)| (f64::from(x[*at]) - mean).powi(2);
        let deviation = (at.iter().map(square).sum::<f64>() / at.len() as f64 + 1e-5).sqrt();
        for (at, channel) in at {
            let y =
                (f64::from(x[at]) - mean) / deviation * f64::from(scale[channel]) + f64::from(bias[channel]);
            out[at] = (y / (1.0 + (-y).exp())) as f32;
        }
    }
    out
}

fn shape(batch: usize, pixels: usize, channels: usize, groups: usize) -> GroupNormShape {
    let image_stride = pixels * channels;
    GroupNormShape {
        batch,
        pixels,
        channels,
        groups,
        image_stride,
        pixel_stride: channels,
        channel_stride: 1,
    }
}

/// Values around `centre`.
fn values(count: usize, centre: f32) -> Vec<f32> {
    (0..count).map(|i| ((i * 7919) % 1013) as f32 / 500.0 - 1.0 + centre).collect()
}

#[test]
fn every_channel_is_normalised_with_its_group() {
    let mut channels_last =
        [shape(1, 49, 8, 2), shape(2, 300, 37, 37), shape(1, 1000, 64, 32), shape(3, 1, 6, 1)];
    if cfg!(miri) {
        channels_last = [shape(1, 3, 8, 2), shape(1, 2, 17, 17), shape(1, 3, 18, 2), shape(2, 1, 6, 1)];
    }
    let first =
        |shape: &GroupNormShape| GroupNormShape { pixel_stride: 1, channel_stride: shape.pixels, ..*shape };
    let apart = |shape: &GroupNormShape| {
        let channel_stride = 2 * shape.pixels;
        let image_stride = channel_stride * shape.channels;
        GroupNormShape { pixel_stride: 2, channel_stride, image_stride, ..*shape }
    };
    for shape in channels_last.iter().flat_map(|shape| [*shape, first(shape), apart(shape)]) {
        let cases = [(0.0, Centre::Mean), (30.0, Centre::Mean), (0.5, Centre::Zero)];
        for (about, centre) in cases {
            let x = values(shape.batch * shape.image_stride, about);
            let (mut scale, mut bias) = (values(shape.channels, 1.0), values(shape.channels, 0.5));
            let wanted = expected(&shape, centre, [&x, &scale, &bias]);
            for isa in Isa::available() {
                let mut y = x.clone();
                normalise(&shape, centre, &mut y, &mut scale, &mut bias, isa, 2);
                for (index, (y, wanted)) in y.iter().zip(&wanted).enumerate() {
                    assert!(
                        (y - wanted).abs() < 2e-5 + 1e-6 * about,
                        "{shape:?} {isa:?} at {index}: {y}, expected {wanted}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_bits_depend_on_no_instruction_set_and_no_number_of_threads() {
    let shape = shape(1, if cfg!(miri) { 5 } else { 5000 }, 20, 4);
    let x = values(shape.pixels * 20, 0.3);
    let (mut scale, mut bias) = (values(20, 1.0), values(20, 0.5));
    let mut one = x.clone();
    normalise(&shape, Centre::Mean, &mut one, &mut scale, &mut bias, Isa::Scalar, 1);
    for isa in Isa::available() {
        let mut other = x.clone();
        normalise(&shape, Centre::Mean, &mut other, &mut scale, &mut bias, isa, 3);
        assert!(one.iter().zip(&other).all(|(a, b)| a.to_bits() == b.to_bits()), "{isa:?}");
    }
}

/// The nearest `bf16` numbers, as stored.
fn halves(x: &[f32]) -> Vec<u16> {
    x.iter().map(|x| crate::bf16::nearest_bf16(*x)).collect()
}

#[test]
fn what_is_stored_as_bf16_is_that_of_f32_rounded_once() {
    use crate::bf16::wide_bf16;
    let channels_last = shape(2, if cfg!(miri) { 3 } else { 700 }, 37, 37);
    let first = GroupNormShape { pixel_stride: 1, channel_stride: channels_last.pixels, ..channels_last };
    for shape in [channels_last, first] {
        let stored = halves(&values(shape.batch * shape.pixels * shape.channels, 0.4));
        let (mut scale, mut bias) = (values(shape.channels, 1.0), values(shape.channels, 0.5));
        let (scale, bias) = (scale.as_mut_ptr(), bias.as_mut_ptr());
        for (isa, function) in Isa::available()
            .into_iter()
            .flat_map(|isa| [ScalarFunction::Silu, Activation::Relu, Activation::None].map(|f| (isa, f)))
        {
            let step = |step| GroupNorm::new(&shape, step, Centre::Mean, 1e-5, function, isa, 2);
            let mut results = Vec::new();
            for (input, output) in [StoredFloat::F32, StoredFloat::Bf16]
                .into_iter()
                .flat_map(|input| [StoredFloat::F32, StoredFloat::Bf16].map(|output| (input, output)))
            {
                let step = |number| step(number).stored(input, output);
                let mut wide: Vec<f32> = stored.iter().map(|x| wide_bf16(*x)).collect();
                let mut narrow = stored.clone();
                let x =
                    if input == StoredFloat::F32 { wide.as_mut_ptr() } else { narrow.as_mut_ptr().cast() };
                let mut floats = vec![f32::NAN; wide.len()];
                // More than a vector beside the result, which nothing writes.
                let mut rounded = vec![0x7fc0; wide.len() + 20];
                // In place, if input and output are stored alike.
                let out = match () {
                    () if input == output => x,
                    () if output == StoredFloat::F32 => floats.as_mut_ptr(),
                    () => rounded.as_mut_ptr().cast(),
                };
                let mut moments = vec![f32::NAN; shape.moments_len()];
                let mut factors = vec![f32::NAN; shape.factors_len()];
                let (moments, factors) = (moments.as_mut_ptr(), factors.as_mut_ptr());
                run(&step(GroupNormStep::Moments), &[moments, x]);
                run(&step(GroupNormStep::Factors), &[factors, moments, scale, bias]);
                run(&step(GroupNormStep::Apply), &[out, x, factors, bias]);
                assert_eq!(rounded.split_off(wide.len()), [0x7fc0; 20], "{shape:?} {isa:?} {function:?}");
                results.push(match (input, output) {
                    (StoredFloat::F32, StoredFloat::F32) => halves(&wide),
                    (StoredFloat::Bf16, StoredFloat::Bf16) => narrow,
                    (StoredFloat::Bf16, StoredFloat::F32) => halves(&floats),
                    (StoredFloat::F32, StoredFloat::Bf16) => rounded,
                });
            }
            assert!(results.iter().all(|found| *found == results[0]), "{shape:?} {isa:?} {function:?}");
        }
    }
}
