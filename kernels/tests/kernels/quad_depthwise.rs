//! That depthwise convolutions of bytes compute the bits of a plain loop.

use crate::common::{Rng, or_few};
use crate::quads::{Case, SIGNS, STORED, ZEROS, check, check_ways, random_case};
use kernels::{
    Conv2dShape, ConvStrides, ImageStrides, Isa, Kernel, QuadConv2d, QuadNumbers, QuadUnit, StepOperand,
    StoredSum, SumStep,
};

/// One channel a group, with gaps between lines and images.
pub(crate) fn random_depthwise(rng: &mut Rng, channels: usize) -> Case {
    let mut case = random_case(rng, channels, 1, 1);
    let shape = &mut case.shape;
    *shape = Conv2dShape {
        input: or_few([9, 40], [5, 6]).map(|most| rng.between(3, most)),
        kernel: [rng.between(1, 5), rng.between(1, 5)],
        stride: [rng.between(1, 3), rng.between(1, 3)],
        dilation: [rng.between(1, 3), rng.between(1, 3)],
        pads: [0; 4].map(|_: usize| rng.pick(&[0, 0, 1, 2, 7])),
        ..*shape
    };
    let mut apart = |size: [usize; 2]| {
        let pixels = [size[0] + rng.pick(&[0, 2]), size[1] + rng.pick(&[0, 3])];
        ImageStrides::nhwc(pixels, shape.in_channels + rng.pick(&[0, 0, 1, 24]))
    };
    case.strides = ConvStrides {
        input: apart(shape.input),
        output: apart(shape.output()),
        residual: apart(shape.output()),
    };
    case
}

#[test]
fn depthwise_convolutions_of_bytes_are_the_plain_loop_to_the_bit() {
    let mut rng = Rng::new(7);
    for seed in 0..or_few(200, 4) {
        let channels = rng.between(1, or_few(70, 18));
        let mut case = random_depthwise(&mut rng, channels);
        if rng.between(0, 4) == 0 {
            case.shape.kernel = [rng.between(6, 9), rng.between(1, 9)];
            case.strides = ConvStrides::dense(&case.shape);
        }
        check(&case, seed);
    }
}

#[test]
fn depthwise_signs_zero_points_and_residuals_are_the_plain_ones_to_the_bit() {
    let mut rng = Rng::new(8);
    let mut seed = 0;
    for (image, weights) in SIGNS.into_iter().flat_map(|sign| SIGNS.map(|other| (sign, other))) {
        for (zero, output) in ZEROS.into_iter().flat_map(|zero| STORED.map(|stored| (zero, stored))) {
            let bytes = SIGNS.map(SumStep::ByteResidual);
            for residual in [SumStep::Residual, bytes[0], bytes[1]].into_iter().take(or_few(3, 1)) {
                let channels = rng.between(2, or_few(70, 18));
                let mut case = random_depthwise(&mut rng, channels);
                case.bytes = QuadNumbers { image, weights, zero, output };
                case.steps = match output {
                    StoredSum::I32 => Vec::new(),
                    _ => vec![SumStep::Mul(StepOperand::Channel), residual, SumStep::Round],
                };
                let sets = Isa::available();
                let set = |index: usize| sets[(seed as usize + index) % sets.len()];
                let ways = (1..=or_few(4, 1)).map(|threads| (set(threads), threads, QuadUnit::Vectors));
                check_ways(&case, seed, ways.collect());
                seed += 1;
            }
        }
    }
}

/// A line of several strips, and one with more pixels than the largest tile in each strip.
#[test]
fn long_depthwise_lines_are_cut_into_strips() {
    let mut rng = Rng::new(9);
    for (width, kernel, stride) in
        [(700, [3, 3], 1), (300, [5, 5], 2), (61, [2, 4], 3)].into_iter().take(or_few(3, 0))
    {
        let mut case = random_depthwise(&mut rng, 19);
        case.shape = Conv2dShape { batch: 1, input: [4, width], kernel, stride: [1, stride], ..case.shape };
        case.shape.pads = [2, 1, 2, 3];
        case.strides = ConvStrides::dense(&case.shape);
        (0..3).for_each(|seed| check(&case, seed));
    }
}

#[test]
fn shorter_depthwise_lines_take_no_more_than_the_most_scratch() {
    let mut case = random_depthwise(&mut Rng::new(11), 19);
    for (unit, side) in
        [QuadUnit::Vectors, QuadUnit::Tiles].into_iter().flat_map(|unit| [(unit, 5), (unit, 9)])
    {
        case.shape = Conv2dShape {
            kernel: [side; 2],
            stride: [1, 1],
            dilation: [1, 1],
            pads: [side / 2; 4],
            ..case.shape
        };
        let mut all = 0;
        for width in 1..260 {
            case.shape.input[1] = width;
            let strides = ConvStrides::dense(&case.shape);
            let set = (Isa::Scalar, 2);
            let kernel = QuadConv2d::on(unit, &case.shape, &strides, &case.bytes, &[], set).unwrap();
            all = all.max(kernel.scratch_bytes());
            assert!(all <= kernel.most_scratch_bytes(), "{unit:?} at {width}");
        }
    }
}
