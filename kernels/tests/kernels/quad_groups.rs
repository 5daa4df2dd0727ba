//! That convolutions of bytes whose groups have 4, 8 or 16 channels, or whose images have 2 to 4, compute the
//! bits of a plain loop.

use crate::common::{Rng, or_few};
use crate::quad_depthwise::random_depthwise;
use crate::quads::{Case, SIGNS, STORED, ZEROS, check, random_steps};
use kernels::{Conv2dShape, ConvStrides, ImageStrides, Isa, Kernel, QuadConv2d, QuadNumbers, QuadUnit};

/// Groups of whole quads, with gaps between lines and images.
fn random_blocks(rng: &mut Rng) -> Case {
    let in_group = rng.pick(&[4, 8, 16]);
    let groups = rng.between(if in_group == 16 { 1 } else { 2 }, or_few(36, 8) / (in_group / 4));
    let mut case = random_depthwise(rng, groups * in_group);
    case.shape.groups = groups;
    case
}

#[test]
fn groups_of_whole_quads_are_the_plain_loop_to_the_bit() {
    let mut rng = Rng::new(9);
    for seed in 0..or_few(200, 4) {
        check(&random_blocks(&mut rng), seed);
    }
}

#[test]
fn signs_zero_points_and_residuals_of_groups_are_the_plain_ones_to_the_bit() {
    check_all_numbers(&mut Rng::new(10), random_blocks);
}

/// Checks a random case for all signs, zero points and stored types.
fn check_all_numbers(rng: &mut Rng, random: fn(&mut Rng) -> Case) {
    let signs = SIGNS.into_iter().flat_map(|sign| SIGNS.map(|other| (sign, other)));
    for (seed, (image, weights)) in signs.take(or_few(4, 1)).enumerate() {
        let others = ZEROS.into_iter().flat_map(|zero| STORED.map(|stored| (zero, stored)));
        for (zero, output) in others.take(or_few(12, 1)) {
            let mut case = random(rng);
            case.bytes = QuadNumbers { image, weights, zero, output };
            case.steps = random_steps(rng, output);
            check(&case, seed as u64);
        }
    }
}

#[test]
fn large_images_of_groups_are_cut_into_strips() {
    let mut rng = Rng::new(11);
    for (seed, input) in [[60, 30], [5, 400], [1, 1200], [35, 35]].into_iter().take(or_few(4, 0)).enumerate()
    {
        let mut case = random_blocks(&mut rng);
        case.shape.input = input;
        case.strides = ConvStrides::dense(&case.shape);
        check(&case, seed as u64);
    }
}

#[test]
fn smaller_images_of_groups_take_no_more_than_the_most_scratch() {
    let mut rng = Rng::new(12);
    for _ in 0..or_few(20, 1) {
        let mut case = random_blocks(&mut rng);
        let mut all = 0;
        for size in 1..or_few(150, 20) {
            case.shape.input = [size, 2 * size].map(|size| size + 8);
            let strides = ConvStrides::dense(&case.shape);
            let kernel = QuadConv2d::new(&case.shape, &strides, &case.bytes, &[], Isa::Scalar, 2).unwrap();
            all = all.max(kernel.scratch_bytes());
            assert!(all <= kernel.most_scratch_bytes(), "at {size}: {case:?}");
        }
    }
}

/// An image of few channels, with gaps between lines and images, and with its axes in any order.
fn random_pixels(rng: &mut Rng) -> Case {
    let mut case = random_depthwise(rng, 2);
    let in_channels = rng.between(2, 4);
    let shape = &mut case.shape;
    *shape = Conv2dShape {
        in_channels,
        out_channels: rng.between(1, or_few(70, 34)),
        kernel: [rng.between(1, 5), rng.between(1, 7)],
        dilation: rng.pick(&[[1, 1], [1, 1], [1, 1], [1, 2]]),
        groups: 1,
        ..*shape
    };
    let input = match rng.between(0, 4) {
        0 => ImageStrides::nchw(shape.input, in_channels),
        1 => ImageStrides::nhwc(shape.input, in_channels),
        2 => ImageStrides::nhwc([shape.input[0], shape.input[1] + 2], in_channels + 3),
        3 => ImageStrides::nchw([shape.input[0] + 1, shape.input[1] + 2], in_channels),
        // Columns are farther apart than lines.
        _ => {
            let [h, w] = shape.input.map(|size| size as u64);
            let c = in_channels as u64;
            ImageStrides { n: h * w * c, h: c, w: c * h, c: 1 }
        }
    };
    let mut apart = || {
        let [h, w] = shape.output();
        ImageStrides::nhwc(
            [h + rng.pick(&[0, 2]), w + rng.pick(&[0, 3])],
            shape.out_channels + rng.pick(&[0, 0, 5]),
        )
    };
    case.strides = ConvStrides { input, output: apart(), residual: apart() };
    case
}

#[test]
fn images_of_few_channels_are_the_plain_loop_to_the_bit() {
    let mut rng = Rng::new(13);
    for seed in 0..or_few(300, 4) {
        check(&random_pixels(&mut rng), seed);
    }
}

#[test]
fn signs_and_zero_points_of_few_channels_are_the_plain_ones_to_the_bit() {
    check_all_numbers(&mut Rng::new(14), random_pixels);
}

#[test]
fn wide_images_of_few_channels_are_cut_into_blocks() {
    let mut rng = Rng::new(15);
    for (seed, input) in [[9, 230], [5, 900], [40, 61], [2, 2500]].into_iter().take(or_few(4, 0)).enumerate()
    {
        let mut case = random_pixels(&mut rng);
        case.shape.input = input;
        case.strides = ConvStrides::dense(&case.shape);
        check(&case, seed as u64);
    }
}

/// Kernels whose lines are copied for matrix tiles, some with steps of odd lengths and some with none.
#[test]
fn images_of_whole_quads_are_the_plain_loop_to_the_bit() {
    let mut rng = Rng::new(19);
    for seed in 0..or_few(80, 3) {
        let groups = rng.pick(&[1, 1, 2, 3]);
        let [inputs, outputs] = [0; 2].map(|_: usize| rng.pick(&[8, 12, 20, 32, 36, 44, 68, 76, 100]));
        let mut case = random_blocks(&mut rng);
        case.shape = Conv2dShape {
            in_channels: groups * inputs,
            out_channels: groups * outputs,
            kernel: [rng.between(1, 4), rng.between(1, 5)],
            stride: [rng.between(1, 2), rng.between(1, 2)],
            dilation: [1, 1],
            pads: [0; 4].map(|_: usize| rng.between(0, 3)),
            groups,
            ..case.shape
        };
        case.strides = ConvStrides::dense(&case.shape);
        if rng.between(0, 2) == 0 {
            let channels = groups * inputs + rng.pick(&[1, 4, 30]);
            case.strides.input = ImageStrides::nhwc(case.shape.input, channels);
        }
        check(&case, seed);
    }
}

#[test]
fn narrower_images_of_few_channels_take_no_more_than_the_most_scratch() {
    let mut rng = Rng::new(16);
    for _ in 0..or_few(20, 1) {
        let mut case = random_pixels(&mut rng);
        let mut all = 0;
        for width in 8..or_few(900, 40) {
            case.shape.input[1] = width;
            let strides = ConvStrides::dense(&case.shape);
            let kernel = QuadConv2d::new(&case.shape, &strides, &case.bytes, &[], Isa::Scalar, 2).unwrap();
            all = all.max(kernel.scratch_bytes());
            assert!(all <= kernel.most_scratch_bytes(), "at {width}: {case:?}");
        }
    }
}

/// Weights of named sizes may have fewer channels.
#[test]
fn smaller_convolutions_of_fewer_channels_take_no_more_than_the_most_scratch() {
    let mut rng = Rng::new(17);
    for _ in 0..or_few(3000, 3) {
        let groups = rng.between(1, 3);
        let channels = |rng: &mut Rng| groups * rng.pick(&[1, 2, 3, 4, 5, 8, 12, 16, 20, 33, 64, 260]);
        let [inputs, outputs] = [channels(&mut rng), channels(&mut rng)];
        let outputs = if rng.between(0, 1) == 0 { inputs } else { outputs };
        let large = Conv2dShape {
            batch: 2,
            input: [0; 2].map(|_: usize| rng.between(5, 60)),
            in_channels: inputs,
            out_channels: outputs,
            kernel: [rng.between(1, 5), rng.between(1, 5)],
            stride: [rng.between(1, 3), rng.between(1, 3)],
            dilation: [1, 1],
            pads: [2; 4],
            groups,
        };
        let less = |rng: &mut Rng, most: usize| rng.between(1, most / groups) * groups;
        let small = Conv2dShape {
            batch: rng.between(1, 2),
            input: large.input.map(|most| rng.pick(&[1, most / 2, most])),
            in_channels: less(&mut rng, inputs),
            out_channels: less(&mut rng, outputs),
            ..large
        };
        let numbers = random_pixels(&mut rng).bytes;
        let is_apart = rng.between(0, 2) == 0;
        let unit = rng.pick(&[QuadUnit::Vectors, QuadUnit::Tiles]);
        let [most, taken] = [large, small].map(|shape| {
            let mut strides = ConvStrides::dense(&shape);
            if is_apart {
                strides.input = ImageStrides::nchw(shape.input, shape.in_channels);
            }
            QuadConv2d::on(unit, &shape, &strides, &numbers, &[], (Isa::Scalar, 1)).unwrap()
        });
        let [taken_bytes, most_bytes] = [taken.scratch_bytes(), most.most_scratch_bytes()];
        assert!(taken_bytes <= most_bytes, "{taken_bytes} and {most_bytes}: {small:?}, {large:?}, {unit:?}");
        for limit in [1000, 4000, 10_000, 18_000].into_iter().chain([taken_bytes / 2]) {
            let within = taken.within(limit, 1).scratch_bytes();
            assert!(within <= limit.max(taken.least_scratch_bytes()), "{within} and {limit}: {small:?}");
        }
    }
}
