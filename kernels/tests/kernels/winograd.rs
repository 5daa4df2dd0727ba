//! That Winograd convolutions compute the results of plain loops, with the same bits on every instruction
//! set, for every division into parts and with any scratch.

use crate::common::{Rng, assert_same_bits, input, or_few, output, run, ways};
use crate::conv::{Case, Data, Residual, check_against_loops, data, random_strides};
use kernels::{
    Activation, Conv2d, Conv2dShape, ConvPrologue, ConvStrides, ImageStrides, Isa, Kernel, WeightStrides,
    Winograd,
};

/// Runs the kernel on a copy of the output, with at most `scratch` bytes for each worker; if that is
/// [`LITTLE`], in at most two parts.
fn kernel_result(case: &Case, data: &Data, isa: Isa, threads: usize, scratch: usize) -> Vec<f32> {
    let Case { shape, strides, activation, .. } = case;
    let winograd = Winograd::new(shape, strides, *activation, isa);
    let winograd = winograd.expect("the shape is fit for it").within(scratch);
    let winograd = if scratch == LITTLE { winograd.in_parts(2) } else { winograd.on(threads) };
    assert!(scratch != LITTLE || winograd.parts() <= 2);
    assert!(winograd.scratch_bytes() <= scratch.max(winograd.least_scratch_bytes()));
    let conv = Conv2d::new(shape, strides, ConvPrologue::None, *activation, isa, threads);
    let mut packed = vec![f32::NAN; conv.packed_len()];
    conv.pack(
        &data.weights,
        WeightStrides::oihw(shape.in_channels / shape.groups, shape.kernel),
        &mut packed,
    );
    let mut out = data.out.clone();
    let out_data = output(&mut out);
    let residual = match case.residual {
        Residual::Absent => std::ptr::null_mut(),
        Residual::Apart => input(&data.residual),
        Residual::InOutput => out_data,
    };
    let bias = if case.has_bias { input(&data.bias) } else { std::ptr::null_mut() };
    run(&winograd, &[out_data, input(&data.x), input(&packed), bias, residual]);
    out
}

/// Bytes of scratch between the least and what is preferred.
const LITTLE: usize = 400_000;

/// Heights and widths of the filters with an algorithm.
pub(crate) const KERNELS: [[usize; 2]; 11] =
    [[2, 2], [1, 2], [2, 1], [3, 3], [5, 5], [1, 3], [3, 1], [1, 5], [5, 1], [1, 7], [7, 1]];

fn check(case: &Case, seed: u64) {
    let data = data(&mut Rng::new(seed), case);
    // Operands are at most 1 in magnitude: the errors of the algorithms grow with the root of the number of
    // products.
    let further = 2e-5 * (case.shape.in_channels as f64 * 9.0).sqrt();
    let mut first: Option<Vec<f32>> = None;
    for (isa, threads) in ways() {
        for scratch in [usize::MAX, 0, LITTLE] {
            let found = kernel_result(case, &data, isa, threads, scratch);
            match &first {
                Some(first) => assert_same_bits(first, &found, (isa, threads, scratch, case)),
                None => {
                    check_against_loops(case, &data, &found, further);
                    first = Some(found);
                }
            }
        }
    }
}

/// A convolution with a filter of 3x3.
fn shape(batch: usize, input: [usize; 2], channels: [usize; 2], pads: [usize; 4]) -> Conv2dShape {
    Conv2dShape {
        batch,
        input,
        in_channels: channels[0],
        out_channels: channels[1],
        kernel: [3, 3],
        stride: [1, 1],
        dilation: [1, 1],
        pads,
        groups: 1,
    }
}

fn random_case(rng: &mut Rng, shape: Conv2dShape) -> Case {
    let output = random_strides(rng, shape.output(), shape.out_channels);
    let apart = random_strides(rng, shape.output(), shape.out_channels);
    let residual = rng.pick(&[Residual::Absent, Residual::Apart, Residual::InOutput]);
    Case {
        shape,
        strides: ConvStrides {
            input: random_strides(rng, shape.input, shape.in_channels),
            output,
            residual: if residual == Residual::Apart { apart } else { output },
        },
        prologue: ConvPrologue::None,
        activation: rng.pick(&[
            Activation::None,
            Activation::Relu,
            Activation::Clip { lo: -0.5, hi: 0.5 },
            Activation::Silu,
        ]),
        residual,
        has_bias: rng.between(0, 3) > 0,
    }
}

#[test]
fn images_and_channels_of_all_sizes_agree() {
    let mut rng = Rng::new(21);
    for size in (1..=or_few(70, 36)).step_by(or_few(1, 14)) {
        for kernel in [[3, 3], KERNELS[size % KERNELS.len()]] {
            let [height, width] = kernel;
            let pads = [height, width, height, width].map(|side| rng.between(0, side - 1));
            let other = rng.between(7, or_few(12, 8));
            // The smallest image has one window.
            let image = if size % 2 == 0 { [size.max(7), other] } else { [other, size.max(7)] };
            let channels = [or_few(71 - size, size % 5 + 1), rng.between(1, or_few(70, 5))];
            let batch = rng.between(1, 2);
            let case = Conv2dShape { kernel, ..shape(batch, image, channels, pads) };
            check(&random_case(&mut rng, case), size as u64);
            let channels = [rng.between(1, or_few(20, 2)), size];
            let case = Conv2dShape { kernel, ..shape(1, [7, 5 + width / 7 * 2], channels, [1; 4]) };
            check(&random_case(&mut rng, case), size as u64);
        }
    }
}

#[test]
fn dilated_filters_agree() {
    let mut rng = Rng::new(26);
    for kernel in KERNELS {
        for size in (1..=or_few(34, 9)).step_by(or_few(3, 8)) {
            let dilation = [rng.between(1, 7), rng.between(1, or_few(7, 3))];
            let reach = [0, 1].map(|side| (kernel[side] - 1) * dilation[side] + 1);
            let image = [size, rng.between(1, or_few(29, 7))];
            let low = reach.map(|reach| rng.between(0, reach - 1));
            // There is padding enough for a window, and sometimes more.
            let high = [0, 1].map(|side| {
                let least = reach[side].saturating_sub(image[side] + low[side]);
                rng.between(least, least + 3)
            });
            let channels = [rng.between(1, or_few(40, 3)), rng.between(1, or_few(40, 3))];
            let pads = [low[0], low[1], high[0], high[1]];
            let case = Conv2dShape { kernel, dilation, ..shape(rng.between(1, 2), image, channels, pads) };
            check(&random_case(&mut rng, case), size as u64);
        }
    }
}

#[test]
fn images_smaller_than_the_filter_agree_where_padding_makes_up() {
    let mut rng = Rng::new(22);
    for kernel in KERNELS {
        let [height, width] = kernel.map(|side| side / 2);
        for image in [[1, 1], [1, 9], [2, 3], [6, 1]] {
            let case = shape(2, image, or_few([17, 18], [3, 2]), [height, width, height, width]);
            check(&random_case(&mut rng, Conv2dShape { kernel, ..case }), 1);
        }
    }
}

#[test]
fn several_blocks_of_tiles_and_of_channels_agree() {
    let mut rng = Rng::new(23);
    for kernel in KERNELS {
        let case = shape(1, or_few([41, 37], [13, 9]), or_few([130, 40], [34, 2]), [1; 4]);
        let case = random_case(&mut rng, Conv2dShape { kernel, ..case });
        let winograd = Winograd::new(&case.shape, &case.strides, case.activation, Isa::Scalar).unwrap().on(3);
        assert!(cfg!(miri) || winograd.parts() > 3);
        check(&case, 2);
    }
}

#[test]
fn groups_of_whole_vectors_of_input_channels_agree() {
    let mut rng = Rng::new(25);
    for (index, kernel) in KERNELS.into_iter().enumerate() {
        for _ in 0..or_few(4, 1) {
            let groups = rng.between(2, or_few(4, 2));
            // With 80 and 144 channels, the last block has fewer channels than, or as many as, the others.
            let inputs = 16 * rng.pick(or_few(&[1, 2, 3, 5, 9], &[1]));
            let outputs = rng.between(1, or_few(40, 3));
            let case = shape(1, [9, 10], [groups * inputs, groups * outputs], [1; 4]);
            check(&random_case(&mut rng, Conv2dShape { kernel, groups, ..case }), index as u64);
        }
    }
}

/// An output's rows have the same bits if the output is computed in bands.
#[test]
fn bands_of_whole_strips_of_tiles_change_no_bit() {
    let mut rng = Rng::new(24);
    for (kernel, dilation) in KERNELS.into_iter().flat_map(|kernel| [(kernel, [1, 1]), (kernel, [3, 1])]) {
        let height = 23 * dilation[0];
        let channels = or_few([19, 33], [2, 3]);
        let whole = Conv2dShape { kernel, dilation, ..shape(1, [height, 9], channels, [0; 4]) };
        let case = random_case(&mut rng, whole);
        let case = Case { residual: Residual::Absent, strides: ConvStrides::dense(&whole), ..case };
        let data = data(&mut rng, &case);
        let expected = kernel_result(&case, &data, Isa::detect(), 1, usize::MAX);
        let winograd = Winograd::new(&whole, &case.strides, case.activation, Isa::detect()).unwrap();
        let [rows, _] = whole.output();
        let band = 2 * winograd.strip_rows();
        let row = |shape: Conv2dShape| shape.output()[1] * shape.out_channels;
        for first in (0..rows).step_by(band) {
            let count = band.min(rows - first);
            let part = Conv2dShape { input: [count + (kernel[0] - 1) * dilation[0], 9], ..whole };
            let case = Case { shape: part, strides: ConvStrides::dense(&part), ..case };
            let mut part_data = data.clone();
            part_data.x.drain(..first * 9 * whole.in_channels);
            part_data.out.truncate(count * row(part));
            let found = kernel_result(&case, &part_data, Isa::detect(), 1, usize::MAX);
            let expected = &expected[first * row(whole)..][..found.len()];
            assert_same_bits(expected, &found, (kernel, dilation, first));
        }
    }
}

#[test]
fn only_some_filters_at_stride_1_in_wide_groups_have_it() {
    let fit = shape(1, [9, 9], [8, 8], [1; 4]);
    let is_had = |shape: &Conv2dShape, strides: &ConvStrides| {
        Winograd::new(shape, strides, Activation::None, Isa::Scalar).is_some()
    };
    for kernel in KERNELS {
        let fit = Conv2dShape { kernel, ..fit };
        assert!(is_had(&fit, &ConvStrides::dense(&fit)), "{kernel:?}");
    }
    let grouped = Conv2dShape { groups: 2, in_channels: 96, ..fit };
    assert!(is_had(&grouped, &ConvStrides::dense(&grouped)), "groups of whole vectors of input channels");
    for other in [
        Conv2dShape { kernel: [3, 5], ..fit },
        Conv2dShape { kernel: [1, 1], ..fit },
        Conv2dShape { kernel: [7, 7], ..fit },
        Conv2dShape { kernel: [4, 4], ..fit },
        Conv2dShape { stride: [1, 2], ..fit },
        Conv2dShape { groups: 2, ..fit },
        Conv2dShape { groups: 2, in_channels: 48, ..fit },
        Conv2dShape { batch: 0, ..fit },
    ] {
        assert!(!is_had(&other, &ConvStrides::dense(&other)), "{other:?}");
    }
    let input = ImageStrides::nchw(fit.input, fit.in_channels);
    assert!(!is_had(&fit, &ConvStrides { input, ..ConvStrides::dense(&fit) }));
}
