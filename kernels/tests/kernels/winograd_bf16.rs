//! That Winograd convolutions of `bf16` compute the results of plain loops over the rounded numbers, with the
//! same bits on every instruction set, for every division into parts and with any scratch.

use crate::common::{Rng, input, or_few, output, run, ways};
use crate::pairs::{Case, Data, Stored, data, expected, offsets, random_case};
use crate::winograd::KERNELS;
use kernels::{
    Activation, Conv2d, Conv2dShape, ConvNumbers, ConvPrologue, ConvStrides, Isa, Kernel, PairConv2d,
    PairUnit, StoredFloat, WeightStrides, Winograd,
};

/// The fastest unit without matrix tiles.
fn unit(isa: Isa) -> PairUnit {
    let mut units = PairUnit::available(isa);
    units.retain(|unit| *unit != PairUnit::Tiles);
    *units.last().expect("numbers can be widened everywhere")
}

fn kernel(case: &Case, isa: Isa) -> Option<Winograd> {
    Winograd::new(&case.shape, &case.strides, case.activation, isa)?.of_bf16(case.numbers, unit(isa))
}

/// Runs the kernel on an output of NaNs, with at most `scratch` bytes for each worker.
fn kernel_result(case: &Case, data: &Data, (isa, threads): (Isa, usize), scratch: usize) -> Stored {
    let Case { shape, strides, numbers, activation, .. } = case;
    let winograd = kernel(case, isa).expect("the shape is fit for it").within(scratch).on(threads);
    let conv = Conv2d::new(shape, strides, ConvPrologue::None, *activation, isa, threads);
    let usual = PairConv2d::on(unit(isa), conv, shape, *numbers, threads);
    let usual = usual.expect("its groups are wide");
    let mut packed = vec![f32::NAN; usual.packed_len()];
    usual.pack(
        &data.weights,
        WeightStrides::oihw(shape.in_channels / shape.groups, shape.kernel),
        &mut packed,
    );
    let (_, extent) = offsets(&strides.output, shape.batch, shape.output(), shape.out_channels);
    let mut out = Stored::new(numbers.output, extent);
    let bias = if case.has_bias { input(&data.bias) } else { std::ptr::null_mut() };
    let residual = if case.has_residual { input(&data.residual.words) } else { std::ptr::null_mut() };
    run(&winograd, &[output(&mut out.words), input(&data.x.words), input(&packed), bias, residual]);
    out
}

fn check(case: &Case, seed: u64) {
    let Case { shape, strides, numbers, .. } = case;
    let data = data(&mut Rng::new(seed), case);
    let ways: Vec<_> =
        ways().into_iter().flat_map(|way| [usize::MAX, 0].map(|scratch| (way, scratch))).collect();
    let results = ways.iter().map(|(way, scratch)| kernel_result(case, &data, *way, *scratch));
    let results: Vec<Stored> = results.collect();
    for (found, way) in results.iter().zip(&ways) {
        assert!(found.words == results[0].words, "{way:?}: {case:?}");
    }
    // Operands are at most 1 in magnitude: the errors of the algorithms grow with the root of the number of
    // products.
    let further = 2e-5 * (shape.in_channels as f32 * 9.0).sqrt();
    let rounding = if numbers.output == StoredFloat::Bf16 { 1.0 / 256.0 } else { 0.0 };
    let of = |strides| offsets(strides, shape.batch, shape.output(), shape.out_channels);
    let (outputs, extent) = of(&strides.output);
    let mut written = vec![false; extent];
    for (element, residual) in outputs.iter().zip(&of(&strides.residual).0) {
        let [at, n, y, x, o] = *element;
        written[at] = true;
        if cfg!(miri) && at % 23 > 0 {
            continue;
        }
        let want = expected(case, &data, [n, y, x, o], data.residual.get(residual[0]), 0);
        let found = results[0].get(at);
        let most = further + rounding * want.abs();
        assert!((found - want).abs() <= most, "{found} for {want} at {element:?}: {case:?}");
    }
    let beside = written.iter().enumerate().filter(|(_, written)| !**written);
    for (at, _) in beside {
        assert!(results[0].get(at).is_nan(), "element {at} beside the output was written: {case:?}");
    }
}

/// A convolution that the algorithm computes, with random strides, numbers and activation.
fn case(rng: &mut Rng, kernel: [usize; 2], channels: [usize; 2]) -> Case {
    case_of_groups(rng, 1, kernel, channels)
}

/// The same convolution with `of_group` input and output channels in each group.
fn case_of_groups(rng: &mut Rng, groups: usize, kernel: [usize; 2], of_group: [usize; 2]) -> Case {
    let [inputs, outputs] = of_group.map(|channels| groups * channels);
    let case = random_case(rng, groups, of_group[0], of_group[1]);
    let pads = [0; 4].map(|_: usize| rng.between(0, 2));
    let dilation = rng.pick(&[[1, 1], [1, 1], [2, 3]]);
    let input = [0, 1].map(|side| rng.between(7, or_few(12, 8)) * dilation[side] + side);
    let shape = Conv2dShape { kernel, stride: [1, 1], dilation, pads, input, ..case.shape };
    let dense = ConvStrides::dense(&shape);
    let wider = |rng: &mut Rng, strides: kernels::ImageStrides, [h, w]: [usize; 2], channels: usize| {
        let apart = rng.pick(&[0, 0, 3, 24]);
        if apart > 0 { kernels::ImageStrides::nhwc([h, w], channels + apart) } else { strides }
    };
    let strides = ConvStrides {
        input: wider(rng, dense.input, input, inputs),
        output: wider(rng, dense.output, shape.output(), outputs),
        residual: wider(rng, dense.residual, shape.output(), outputs),
    };
    Case { shape, strides, prologue: ConvPrologue::None, ..case }
}

#[test]
fn rounded_images_of_all_filters_and_channels_agree() {
    let mut rng = Rng::new(61);
    for seed in 0..or_few(48, 3) {
        let kernel = KERNELS[seed as usize % KERNELS.len()];
        let kernel = rng.pick(&[kernel, [3, 3]]);
        let channels = [2 * rng.between(1, or_few(40, 2)), rng.between(1, or_few(70, 5))];
        check(&case(&mut rng, kernel, channels), seed);
    }
}

#[test]
fn several_blocks_of_rounded_channels_agree() {
    let mut rng = Rng::new(62);
    for (seed, kernel) in KERNELS.into_iter().enumerate() {
        let case = case(&mut rng, kernel, or_few([130, 40], [34, 2]));
        check(&Case { activation: Activation::Silu, ..case }, seed as u64);
    }
}

#[test]
fn groups_of_rounded_channels_agree() {
    let mut rng = Rng::new(65);
    for seed in 0..or_few(16, 1) {
        let kernel = KERNELS[seed as usize % KERNELS.len()];
        let of_group = [16 * rng.between(1, or_few(5, 1)), rng.between(1, or_few(40, 3))];
        let groups = rng.between(2, 3);
        check(&case_of_groups(&mut rng, groups, kernel, of_group), seed);
    }
}

/// A pair of weights would have channels of two taps.
#[test]
fn an_odd_number_of_rounded_channels_has_no_such_algorithm() {
    let mut rng = Rng::new(63);
    let numbers =
        ConvNumbers { input: StoredFloat::Bf16, residual: StoredFloat::Bf16, output: StoredFloat::Bf16 };
    for (inputs, has) in [(16, true), (17, false), (2, true), (1, false)] {
        let case = Case { numbers, ..case(&mut rng, [3, 3], [inputs, 8]) };
        assert_eq!(kernel(&case, Isa::Scalar).is_some(), has, "{inputs} channels");
        let whole = Winograd::new(&case.shape, &case.strides, case.activation, Isa::Avx512);
        let tiled = whole.and_then(|kernel| kernel.of_bf16(numbers, PairUnit::Tiles));
        assert!(tiled.is_none(), "weights that are packed for tiles are not read");
    }
}

/// AVX2 splits pairs, which is slower than products of `f32`.
#[test]
fn where_pairs_are_taken_apart_the_algorithm_is_expected_to_gain_more() {
    let mut rng = Rng::new(64);
    let case = case(&mut rng, [3, 3], [64, 64]);
    let whole = Winograd::new(&case.shape, &case.strides, case.activation, Isa::Avx2).expect("it is fit");
    let half = kernel(&case, Isa::Avx2).expect("it is fit");
    assert!(half.speedup() > whole.speedup(), "{} and {}", half.speedup(), whole.speedup());
    assert_eq!(half.scratch_bytes(), whole.scratch_bytes(), "transforms are of f32 all the same");
}
