//! That convolutions compute the results of plain loops, with the same bits on every instruction set and for
//! every division into parts.

use crate::common::{Rng, assert_same_bits, input, or_few, output, run, ways};
use kernels::{
    Activation, Conv2d, Conv2dShape, ConvPrologue, ConvStrides, ImageStrides, Kernel, WeightStrides,
};

/// The memory of the residual.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Residual {
    Absent,
    Apart,
    InOutput,
}

/// The amount of scratch given to the kernel.
#[derive(Clone, Copy, Debug)]
enum Scratch {
    Wished,
    Least,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) shape: Conv2dShape,
    pub(crate) strides: ConvStrides,
    pub(crate) prologue: ConvPrologue,
    pub(crate) activation: Activation,
    pub(crate) residual: Residual,
    pub(crate) has_bias: bool,
}

/// The memory of a case; `out` holds the residual if the residual is the output.
#[derive(Clone)]
pub(crate) struct Data {
    pub(crate) x: Vec<f32>,
    pub(crate) weights: Vec<f32>,
    pub(crate) bias: Vec<f32>,
    pub(crate) residual: Vec<f32>,
    pub(crate) scale: Vec<f32>,
    pub(crate) shift: Vec<f32>,
    pub(crate) out: Vec<f32>,
}

fn extent(strides: &ImageStrides, batch: usize, size: [usize; 2], channels: usize) -> usize {
    let last = |count: usize, stride: u64| (count.max(1) - 1) * stride as usize;
    last(batch, strides.n)
        + last(size[0], strides.h)
        + last(size[1], strides.w)
        + last(channels, strides.c)
        + 1
}

/// An image with NaN between the pixels, so that reads there show.
fn image(rng: &mut Rng, strides: &ImageStrides, batch: usize, size: [usize; 2], channels: usize) -> Vec<f32> {
    let mut values = vec![f32::NAN; extent(strides, batch, size, channels)];
    for at in offsets(strides, batch, size, channels) {
        values[at] = rng.float();
    }
    values
}

/// Every element's offset, in the order n, h, w, c.
fn offsets(
    strides: &ImageStrides,
    batch: usize,
    size: [usize; 2],
    channels: usize,
) -> impl Iterator<Item = usize> {
    let [n, h, w, c] = [strides.n, strides.h, strides.w, strides.c].map(|stride| stride as usize);
    (0..batch * size[0] * size[1] * channels).map(move |index| {
        let (pixel, channel) = (index / channels, index % channels);
        let (line, x) = (pixel / size[1], pixel % size[1]);
        line / size[0] * n + line % size[0] * h + x * w + channel * c
    })
}

pub(crate) fn data(rng: &mut Rng, case: &Case) -> Data {
    let Case { shape, strides, .. } = case;
    let taps = shape.kernel[0] * shape.kernel[1];
    let out = |rng: &mut Rng, strides| image(rng, strides, shape.batch, shape.output(), shape.out_channels);
    Data {
        x: image(rng, &strides.input, shape.batch, shape.input, shape.in_channels),
        weights: rng.floats(shape.out_channels * shape.in_channels / shape.groups * taps),
        bias: rng.floats(shape.out_channels),
        residual: out(rng, &strides.residual),
        scale: rng.floats(shape.in_channels),
        shift: rng.floats(shape.in_channels),
        out: out(rng, &strides.output),
    }
}

/// Runs the kernel on a copy of the output.
fn kernel_result(case: &Case, data: &Data, isa: kernels::Isa, threads: usize, scratch: Scratch) -> Vec<f32> {
    let conv = Conv2d::new(&case.shape, &case.strides, case.prologue, case.activation, isa, threads);
    let conv = match scratch {
        Scratch::Wished => conv,
        Scratch::Least => conv.within(0, threads),
    };
    let mut packed = vec![f32::NAN; conv.packed_len()];
    let strides = WeightStrides::oihw(case.shape.in_channels / case.shape.groups, case.shape.kernel);
    conv.pack(&data.weights, strides, &mut packed);
    let mut out = data.out.clone();
    let out_data = output(&mut out);
    let residual = match case.residual {
        Residual::Absent => std::ptr::null_mut(),
        Residual::Apart => input(&data.residual),
        Residual::InOutput => out_data,
    };
    let bias = if case.has_bias { input(&data.bias) } else { std::ptr::null_mut() };
    let operands =
        [out_data, input(&data.x), input(&packed), bias, residual, input(&data.scale), input(&data.shift)];
    run(&conv, &operands);
    out
}

/// The exact sum before the activation, and the sum of magnitudes, of output element (n, y, x, o).
fn exact(case: &Case, data: &Data, at: [usize; 4], start: f64) -> (f64, f64) {
    let Case { shape, strides, .. } = case;
    let [n, y, x, o] = at;
    let (in_group, out_group) = (shape.in_channels / shape.groups, shape.out_channels / shape.groups);
    let mut sum = start;
    let mut size = start.abs();
    for ky in 0..shape.kernel[0] {
        for kx in 0..shape.kernel[1] {
            let iy = (y * shape.stride[0] + ky * shape.dilation[0]) as isize - shape.pads[0] as isize;
            let ix = (x * shape.stride[1] + kx * shape.dilation[1]) as isize - shape.pads[1] as isize;
            if iy < 0 || ix < 0 || iy >= shape.input[0] as isize || ix >= shape.input[1] as isize {
                continue;
            }
            for i in 0..in_group {
                let channel = o / out_group * in_group + i;
                let [sn, sh, sw, sc] =
                    [strides.input.n, strides.input.h, strides.input.w, strides.input.c].map(|s| s as usize);
                let value = data.x[n * sn + iy as usize * sh + ix as usize * sw + channel * sc];
                let moved = value.mul_add(data.scale[channel], data.shift[channel]);
                let value = match case.prologue {
                    ConvPrologue::None => value,
                    ConvPrologue::ScaleShift => moved,
                    ConvPrologue::ScaleShiftRelu => moved.max(0.0),
                };
                let weight = data.weights[((o * in_group + i) * shape.kernel[0] + ky) * shape.kernel[1] + kx];
                sum += f64::from(value) * f64::from(weight);
                size += (f64::from(value) * f64::from(weight)).abs();
            }
        }
    }
    (sum, size)
}

/// Compares one result with plain loops, and checks that nothing else was written. The result's error may
/// exceed that of a sum in order by `further`.
pub(crate) fn check_against_loops(case: &Case, data: &Data, found: &[f32], further: f64) {
    let Case { shape, strides, .. } = case;
    let size = shape.output();
    let mut untouched = vec![true; found.len()];
    let out: Vec<usize> = offsets(&strides.output, shape.batch, size, shape.out_channels).collect();
    let residual: Vec<usize> = offsets(&strides.residual, shape.batch, size, shape.out_channels).collect();
    for (index, &at) in out.iter().enumerate() {
        untouched[at] = false;
        // Miri checks few elements: it looks for memory errors, and these loops are slow.
        if index % or_few(1, 23) != 0 {
            continue;
        }
        let (pixel, o) = (index / shape.out_channels, index % shape.out_channels);
        let (line, x) = (pixel / size[1], pixel % size[1]);
        let bias = if case.has_bias { data.bias[o] } else { 0.0 };
        let start = f64::from(bias)
            + f64::from(match case.residual {
                Residual::Absent => 0.0,
                Residual::Apart => data.residual[residual[index]],
                Residual::InOutput => data.out[at],
            });
        let (sum, magnitude) = exact(case, data, [line / size[0], line % size[0], x, o], start);
        let products = shape.kernel[0] * shape.kernel[1] * shape.in_channels / shape.groups;
        let bound = (products + 3) as f64 * f64::from(f32::EPSILON) * magnitude + 1e-6 + further;
        let want = case.activation.apply(sum as f32);
        assert!(
            (f64::from(found[at]) - f64::from(want)).abs() <= bound,
            "{} for {want} at {index} of {case:?}",
            found[at]
        );
    }
    for (at, _) in untouched.iter().enumerate().filter(|(_, untouched)| **untouched) {
        assert!(found[at].is_nan(), "wrote element {at}, which is outside the output: {case:?}");
    }
}

pub(crate) fn check(case: &Case, seed: u64) {
    let mut rng = Rng::new(seed);
    let data = data(&mut rng, case);
    let mut first: Option<Vec<f32>> = None;
    for (isa, threads) in ways() {
        for scratch in [Scratch::Wished, Scratch::Least] {
            let found = kernel_result(case, &data, isa, threads, scratch);
            match &first {
                Some(first) => assert_same_bits(first, &found, (isa, threads, scratch, case)),
                None => {
                    check_against_loops(case, &data, &found, 0.0);
                    first = Some(found);
                }
            }
        }
    }
}

/// An image's strides: dense, a slice of a wider tensor, or with pitched rows.
pub(crate) fn random_strides(rng: &mut Rng, size: [usize; 2], channels: usize) -> ImageStrides {
    match rng.between(0, 3) {
        0 => ImageStrides::nhwc(size, channels + rng.between(1, 40)),
        1 => {
            let dense = ImageStrides::nhwc(size, channels);
            let h = dense.h + 5;
            ImageStrides { n: h * size[0] as u64 + 7, h, ..dense }
        }
        _ => ImageStrides::nhwc(size, channels),
    }
}

fn random_case(rng: &mut Rng, groups: usize, in_group: usize, out_group: usize) -> Case {
    let kernel = [rng.between(1, 4), rng.between(1, 4)];
    let shape = Conv2dShape {
        batch: rng.between(1, 2),
        input: or_few([12, 19], [5, 6]).map(|most| rng.between(4, most)),
        in_channels: groups * in_group,
        out_channels: groups * out_group,
        kernel,
        stride: [rng.between(1, 2), rng.between(1, 3)],
        dilation: [rng.between(1, 2), rng.between(1, 2)],
        pads: [0; 4].map(|_: usize| rng.between(0, 2)),
        groups,
    };
    case_of_shape(rng, shape)
}

pub(crate) fn case_of_shape(rng: &mut Rng, shape: Conv2dShape) -> Case {
    let output = random_strides(rng, shape.output(), shape.out_channels);
    let residual = rng.pick(&[Residual::Absent, Residual::Apart, Residual::InOutput]);
    let apart = random_strides(rng, shape.output(), shape.out_channels);
    let strides = ConvStrides {
        input: random_strides(rng, shape.input, shape.in_channels),
        output,
        residual: if residual == Residual::Apart { apart } else { output },
    };
    let activation = rng.pick(&[
        Activation::None,
        Activation::Relu,
        Activation::Clip { lo: -0.5, hi: 0.5 },
        Activation::Silu,
    ]);
    Case {
        shape,
        strides,
        prologue: ConvPrologue::None,
        activation,
        residual,
        has_bias: rng.between(0, 3) > 0,
    }
}

#[test]
fn random_dense_convolutions_agree() {
    let mut rng = Rng::new(1);
    for seed in 0..or_few(40, 3) {
        let (inputs, outputs) = (rng.between(1, or_few(40, 3)), rng.between(1, or_few(70, 34)));
        let mut case = random_case(&mut rng, 1, inputs, outputs);
        case.prologue = rng.pick(&[
            ConvPrologue::None,
            ConvPrologue::None,
            ConvPrologue::ScaleShift,
            ConvPrologue::ScaleShiftRelu,
        ]);
        check(&case, seed);
    }
}

#[test]
fn random_convolutions_with_few_outputs_agree() {
    let mut rng = Rng::new(12);
    for seed in 0..or_few(48, 2) {
        let outputs = seed as usize % 8 + 1;
        let kernel = [rng.between(1, or_few(5, 2)), rng.between(1, or_few(9, 3))];
        let taps = kernel[0] * kernel[1];
        let inputs = 64_usize.div_ceil(taps) + rng.between(0, or_few(20, 1));
        let mut case = random_case(&mut rng, 1, inputs, outputs);
        let dilation = [1, rng.between(1, 3)];
        let pads = [0, 1, 2, 3].map(|side| rng.between(0, kernel[side % 2] * dilation[side % 2]));
        // A line has from one vector on, with the largest blocks and beyond.
        let width = or_few(rng.between(16, 150), 19) + (kernel[1] - 1) * dilation[1];
        let width = width.saturating_sub(pads[1] + pads[3]).max(1);
        let input = [kernel[0] + rng.between(0, or_few(6, 1)), width];
        let stride = [rng.between(1, 3), 1];
        case = case_of_shape(&mut rng, Conv2dShape { input, kernel, stride, dilation, pads, ..case.shape });
        check(&case, seed);
    }
}

#[test]
fn random_pointwise_convolutions_agree() {
    let mut rng = Rng::new(2);
    for seed in 0..or_few(40, 3) {
        let (inputs, outputs) = (rng.between(1, or_few(400, 9)), rng.between(1, or_few(70, 34)));
        let mut case = random_case(&mut rng, 1, inputs, outputs);
        case.shape = Conv2dShape { kernel: [1, 1], stride: [1, 1], pads: [0; 4], ..case.shape };
        let size = case.shape.output();
        case.strides.output = random_strides(&mut rng, size, outputs);
        case.strides.residual = case.strides.output;
        case.prologue = rng.pick(&[ConvPrologue::None, ConvPrologue::None, ConvPrologue::ScaleShiftRelu]);
        case.residual = rng.pick(&[Residual::Absent, Residual::InOutput]);
        check(&case, seed);
    }
}

#[test]
fn random_depthwise_convolutions_agree() {
    let mut rng = Rng::new(3);
    for seed in 0..or_few(40, 3) {
        let channels = rng.between(2, 70);
        check(&random_case(&mut rng, channels, 1, 1), seed);
    }
}

#[test]
fn random_grouped_convolutions_agree() {
    let mut rng = Rng::new(4);
    for seed in 0..or_few(60, 3) {
        let width = rng.pick(or_few(&[2, 3, 4, 8, 16, 32], &[2, 3, 4, 8]));
        let groups = rng.between(2, or_few(9, 2));
        let out_width = rng.pick(&[width, width, width, 1, 5, or_few(33, 9)]);
        let mut case = random_case(&mut rng, groups, width, out_width);
        case.prologue = rng.pick(&[
            ConvPrologue::None,
            ConvPrologue::None,
            ConvPrologue::None,
            ConvPrologue::ScaleShiftRelu,
        ]);
        check(&case, seed);
    }
}

#[test]
fn one_input_channel_for_several_output_channels_agrees() {
    let mut rng = Rng::new(14);
    for seed in 0..or_few(60, 3) {
        let outputs = rng.between(2, or_few(33, 5));
        let groups = rng.between(2, or_few(21, 3));
        let case = random_case(&mut rng, groups, 1, outputs);
        check(&case, seed);
    }
}

#[test]
fn lines_of_a_dilated_kernel_that_meet_only_padding_add_nothing() {
    let mut rng = Rng::new(15);
    let mut tried = 0;
    while tried < or_few(120, 4) {
        let in_channels = rng.pick(or_few(&[1, 3, 16, 40, 130], &[1, 3]));
        let shape = Conv2dShape {
            batch: rng.between(1, 3),
            input: [rng.between(1, 12), rng.between(1, 12)],
            in_channels,
            out_channels: rng.between(1, or_few(70, 3)),
            kernel: [rng.between(1, 5), rng.between(1, 3)],
            stride: [rng.between(1, 3), rng.between(1, 2)],
            dilation: [rng.between(2, 7), rng.between(1, 4)],
            pads: [0; 4].map(|_: usize| rng.between(0, 14)),
            groups: 1,
        };
        if shape.output().contains(&0) {
            continue;
        }
        let mut case = case_of_shape(&mut rng, shape);
        case.prologue = rng.pick(&[ConvPrologue::None, ConvPrologue::ScaleShift]);
        check(&case, tried);
        tried += 1;
    }
}

/// Lines of the image are copied where there are few channels and output lines have at least 14 pixels.
#[test]
fn kernels_that_overlap_themselves_agree() {
    let mut rng = Rng::new(16);
    let mut tried = 0;
    while tried < or_few(80, 6) {
        let in_channels = rng.pick(or_few(&[1, 2, 3, 3, 4, 5, 11, 16], &[1, 3]));
        let kernel = [rng.between(2, 5), rng.between(1, 7)];
        let width = rng.pick(or_few(&[18, 33, 70, 400, 1500], &[33]));
        let shape = Conv2dShape {
            batch: rng.between(1, 2),
            input: [rng.between(1, or_few(600 / width + 1, 5)), rng.between(14, width)],
            in_channels,
            out_channels: rng.between(1, or_few(40, 3)),
            kernel,
            stride: kernel.map(|size| rng.between(1, size)),
            dilation: [1, 1],
            pads: [0; 4].map(|_: usize| rng.between(0, 9)),
            groups: 1,
        };
        if shape.output()[0] == 0 || shape.output()[1] < 14 {
            continue;
        }
        let mut case = case_of_shape(&mut rng, shape);
        if rng.between(0, 1) == 1 {
            case.strides.input = ImageStrides::nchw(shape.input, in_channels);
        }
        check(&case, tried);
        tried += 1;
    }
}

#[test]
fn channels_first_inputs_agree() {
    let mut rng = Rng::new(5);
    for seed in 0..or_few(40, 3) {
        let groups = rng.pick(&[1, 1, 1, 2, 3]);
        let inputs = rng.pick(or_few(&[1, 2, 3, 5, 18, 70, 300], &[1, 3, 5]));
        let mut case = random_case(&mut rng, groups, inputs, or_few(20, 9));
        case.strides.input = ImageStrides::nchw(case.shape.input, groups * inputs);
        case.prologue = rng.pick(&[ConvPrologue::None, ConvPrologue::None, ConvPrologue::ScaleShift]);
        check(&case, seed);
    }
}

#[test]
fn a_deep_sum_over_several_blocks_of_k_agrees() {
    let mut rng = Rng::new(6);
    for (seed, kernel) in [[1, 1], [3, 3]].into_iter().enumerate() {
        let inputs = if cfg!(miri) && kernel[0] == 3 { 33 } else { 300 };
        let mut case = random_case(&mut rng, 1, inputs, or_few(48, 3));
        case.shape = Conv2dShape {
            batch: 1,
            input: or_few([7, 7], [1, 2]),
            kernel,
            stride: [1, 1],
            dilation: [1, 1],
            pads: [kernel[0] / 2; 4],
            ..case.shape
        };
        case.strides = ConvStrides::dense(&case.shape);
        case.residual = Residual::InOutput;
        case.activation = Activation::Relu;
        check(&case, seed as u64);
    }
}

#[test]
fn rows_a_page_apart_agree() {
    let mut rng = Rng::new(7);
    let mut case = random_case(&mut rng, 1, 1024, or_few(40, 2));
    let input = or_few([5, 6], [2, 1]);
    case.shape = Conv2dShape { batch: 1, input, kernel: [1, 1], stride: [1, 1], pads: [0; 4], ..case.shape };
    case.strides = ConvStrides::dense(&case.shape);
    case.residual = Residual::Absent;
    check(&case, 0);
}

#[test]
fn scarce_scratch_holds_a_tile_of_rows_at_most_256_deep() {
    let mut rng = Rng::new(9);
    let case = random_case(&mut rng, 1, 128, 128);
    let shape = Conv2dShape {
        batch: 1,
        input: [56, 56],
        kernel: [3, 3],
        stride: [2, 2],
        dilation: [1, 1],
        pads: [1; 4],
        ..case.shape
    };
    let isa = kernels::Isa::Scalar;
    let conv = Conv2d::new(&shape, &ConvStrides::dense(&shape), ConvPrologue::None, Activation::None, isa, 2);
    let least = conv.least_scratch_bytes();
    assert!(least <= (14 * 272 + 16) * 4, "{least} bytes");
    let scratch = |bytes| kernels::Kernel::scratch_bytes(&conv.within(bytes, 2));
    assert_eq!([scratch(0), scratch(least), scratch(usize::MAX)], [least, least, scratch(usize::MAX)]);
    assert!((least + 1..=2 * least).contains(&scratch(2 * least)), "more room is used");
}

#[test]
fn a_kernel_larger_than_the_image_has_no_output() {
    let mut rng = Rng::new(8);
    let mut case = random_case(&mut rng, 1, 3, 4);
    case.shape = Conv2dShape { input: [2, 2], kernel: [5, 5], dilation: [1, 1], pads: [0; 4], ..case.shape };
    assert_eq!(case.shape.output(), [0, 0]);
    let conv = Conv2d::new(
        &case.shape,
        &ConvStrides::dense(&case.shape),
        ConvPrologue::None,
        Activation::None,
        kernels::Isa::Scalar,
        2,
    );
    assert_eq!(kernels::Kernel::parts(&conv), 0);
}

#[test]
#[cfg_attr(miri, ignore = "it compares sizes, and runs no kernel")]
fn no_smaller_convolution_takes_more_scratch() {
    let mut rng = Rng::new(11);
    let mut copied = 0;
    for _ in 0..400 {
        let channels = rng.pick(&[1, 3, 16, 31, 64, 288, 300, 1024, 1152]);
        let kernel = rng.pick(&[[1, 1], [3, 3]]);
        let stride = [rng.between(1, kernel[0]), rng.between(1, kernel[1])];
        let size = |rng: &mut Rng| (rng.between(1, 2), [rng.between(3, 40), rng.between(3, 40)]);
        let of = |(batch, input): (usize, [usize; 2]), in_channels: usize| {
            let shape = Conv2dShape {
                batch,
                input,
                in_channels,
                out_channels: 8,
                kernel,
                stride,
                dilation: [1, 1],
                pads: [0; 4],
                groups: 1,
            };
            let output = ImageStrides::nhwc(shape.output(), 8);
            let strides =
                ConvStrides { input: ImageStrides::nhwc(input, in_channels), output, residual: output };
            Conv2d::new(&shape, &strides, ConvPrologue::None, Activation::None, kernels::Isa::detect(), 2)
        };
        let large = size(&mut rng);
        let small = (rng.between(1, large.0), large.1.map(|size| rng.between(3, size)));
        let all = of(large, channels);
        let conv = of(small, rng.between(1, channels));
        let found = conv.scratch_bytes();
        let most = all.most_scratch_bytes();
        copied += usize::from(found > 0);
        assert!(found <= most, "{found} bytes at {small:?}, {most} at {large:?}, {channels} channels");
        let least = conv.least_scratch_bytes();
        let enough = all.enough_scratch_bytes();
        assert!(least <= enough, "{least} bytes at {small:?}, {enough} at {large:?}, {channels} channels");
    }
    assert!(copied > 100);
}
