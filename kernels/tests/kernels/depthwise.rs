//! That tiles of depthwise convolutions compute the results of plain loops, and that images stored as `bf16`
//! give the bits of `f32` images, rounded.

use crate::common::{Rng, assert_same_bits, input, or_few, output, run, ways};
use crate::conv::{self, case_of_shape};
use crate::pairs::{Stored, offsets};
use kernels::{
    Activation, Conv2d, Conv2dShape, ConvNumbers, ConvPrologue, ConvStrides, DepthwiseConv2d, ImageStrides,
    Isa, StoredFloat, WeightStrides,
};

/// A shape that has tiles: any lines, padding wider than the kernel, and strips that are not full.
fn random_shape(rng: &mut Rng, channels: usize) -> Conv2dShape {
    loop {
        let columns = rng.pick(&[3, 3, 5, 5, 7]);
        let step = if columns == 7 { 1 } else { rng.between(1, 2) };
        let most = rng.pick(&[3, 3, 3, 9]);
        let pads = [0; 4].map(|_: usize| rng.between(0, most));
        let shape = Conv2dShape {
            batch: rng.between(1, 2),
            input: or_few([9, 31], [5, 12]).map(|most| rng.between(1, most)),
            in_channels: channels,
            out_channels: channels,
            kernel: [rng.between(1, 7), columns],
            stride: [rng.between(1, 3), step],
            dilation: [rng.pick(&[1, 1, 1, 2, 3]), 1],
            pads,
            groups: channels,
        };
        if !shape.output().contains(&0) {
            return shape;
        }
    }
}

#[test]
fn tiles_of_depthwise_convolutions_agree_with_plain_loops() {
    let mut rng = Rng::new(1);
    for seed in 0..or_few(150, 4) {
        let channels = rng.between(2, or_few(70, 19));
        let shape = random_shape(&mut rng, channels);
        conv::check(&case_of_shape(&mut rng, shape), seed);
    }
}

/// Zeros of both signs and infinite weights show whether padding is multiplied.
#[test]
fn edges_have_the_same_bits_on_every_instruction_set() {
    let mut rng = Rng::new(4);
    for _ in 0..or_few(60, 2) {
        let channels = rng.between(2, or_few(40, 9));
        let shape = random_shape(&mut rng, channels);
        let pick = |rng: &mut Rng, count: usize, choices: &[f32]| -> Vec<f32> {
            (0..count).map(|_| rng.pick(choices)).collect()
        };
        let x = pick(&mut rng, shape.batch * shape.input[0] * shape.input[1] * channels, &[0.0, -0.0]);
        let weights =
            pick(&mut rng, channels * shape.kernel[0] * shape.kernel[1], &[1.0, -1.0, -0.5, f32::INFINITY]);
        let bias = vec![-0.0; channels];
        let mut first: Option<Vec<f32>> = None;
        for (isa, threads) in ways() {
            let strides = ConvStrides::dense(&shape);
            let kernel = Conv2d::new(&shape, &strides, ConvPrologue::None, Activation::None, isa, threads);
            let mut packed = vec![f32::NAN; kernel.packed_len()];
            kernel.pack(&weights, WeightStrides::oihw(1, shape.kernel), &mut packed);
            let [height, width] = shape.output();
            let mut found = vec![1.0; shape.batch * height * width * channels];
            let null = std::ptr::null_mut();
            let operands = [input(&x), input(&packed), input(&bias), null, null, null];
            run(&kernel, &[&[output(&mut found)], &operands[..]].concat());
            match &first {
                Some(first) => assert_same_bits(first, &found, (isa, threads, shape)),
                None => first = Some(found),
            }
        }
    }
}

/// A convolution whose images are stored somehow.
#[derive(Debug)]
struct Case {
    shape: Conv2dShape,
    strides: ConvStrides,
    numbers: ConvNumbers,
    activation: Activation,
    has_residual: bool,
    /// Whether the residual is the output; then their types and strides are the same.
    is_in_place: bool,
}

fn random_case(rng: &mut Rng, channels: usize) -> Case {
    let shape = random_shape(rng, channels);
    let wider = |rng: &mut Rng, size| ImageStrides::nhwc(size, channels + rng.pick(&[0, 0, 1, 24]));
    let stored = |rng: &mut Rng| rng.pick(&[StoredFloat::Bf16, StoredFloat::Bf16, StoredFloat::F32]);
    let mut strides = ConvStrides {
        input: wider(rng, shape.input),
        output: wider(rng, shape.output()),
        residual: wider(rng, shape.output()),
    };
    let mut numbers = ConvNumbers { input: stored(rng), residual: stored(rng), output: stored(rng) };
    let is_in_place = rng.between(0, 2) == 0;
    if is_in_place {
        (strides.residual, numbers.residual) = (strides.output, numbers.output);
    }
    let clip = Activation::Clip { lo: -0.5, hi: 0.5 };
    let activation = rng.pick(&[Activation::None, Activation::Relu, clip, Activation::Silu]);
    Case {
        shape,
        strides,
        numbers,
        activation,
        has_residual: is_in_place || rng.between(0, 1) == 1,
        is_in_place,
    }
}

/// An image of random numbers, and the same numbers as dense `f32`.
fn image(
    rng: &mut Rng,
    stored: StoredFloat,
    strides: &ImageStrides,
    [batch, height, width, channels]: [usize; 4],
) -> (Stored, Vec<f32>) {
    let (all, extent) = offsets(strides, batch, [height, width], channels);
    let mut image = Stored::new(stored, extent);
    let floats = all.iter().map(|element| {
        image.set(element[0], rng.float());
        image.get(element[0])
    });
    let floats = floats.collect();
    (image, floats)
}

/// Compares the kernel with that of `f32`; returns whether there is one.
fn check(case: &Case, seed: u64, (isa, threads): (Isa, usize)) -> bool {
    let rng = &mut Rng::new(seed);
    let Case { shape, strides, numbers, activation, .. } = case;
    let kernel = DepthwiseConv2d::new(shape, strides, *numbers, *activation, isa, threads);
    let Some(kernel) = kernel else { return false };
    let [height, width] = shape.output();
    let channels = shape.out_channels;
    let sizes = [shape.batch, height, width, channels];
    let image_sizes = [shape.batch, shape.input[0], shape.input[1], channels];
    let (x, x_floats) = image(rng, numbers.input, &strides.input, image_sizes);
    let (residual, residual_floats) = image(rng, numbers.residual, &strides.residual, sizes);
    let (weights, bias) = (rng.floats(channels * shape.kernel[0] * shape.kernel[1]), rng.floats(channels));
    let order = WeightStrides::oihw(1, shape.kernel);
    let mut packed = vec![f32::NAN; kernel.packed_len()];
    kernel.pack(&weights, order, &mut packed);
    let dense = ConvStrides::dense(shape);
    let plain = Conv2d::new(shape, &dense, ConvPrologue::None, *activation, isa, threads);
    let mut floats = vec![f32::NAN; shape.batch * height * width * channels];
    let of = |residual: *mut u8| if case.has_residual { residual } else { std::ptr::null_mut() };
    let null = std::ptr::null_mut();
    let out = output(&mut floats);
    let operands = [input(&x_floats), input(&packed), input(&bias), of(input(&residual_floats)), null, null];
    run(&plain, &[&[out], &operands[..]].concat());

    let (outputs, extent) = offsets(&strides.output, shape.batch, [height, width], channels);
    let mut want = Stored::new(numbers.output, extent);
    outputs.iter().zip(&floats).for_each(|(element, sum)| want.set(element[0], *sum));
    let mut found = if case.is_in_place { residual.clone() } else { Stored::new(numbers.output, extent) };
    let out = output(&mut found.words);
    let residual = if case.is_in_place { out } else { input(&residual.words) };
    let operands = [out, input(&x.words), input(&packed), input(&bias), of(residual), null, null];
    run(&kernel, &operands);
    for element in &outputs {
        let [found, want] = [&found, &want].map(|image| image.get(element[0]));
        assert_eq!(found.to_bits(), want.to_bits(), "{element:?} on {isa:?} x {threads}: {case:?}");
    }
    assert!(found.words == want.words, "beside the output on {isa:?} x {threads}: {case:?}");
    true
}

#[test]
fn stored_images_of_depthwise_convolutions_give_the_rounded_bits() {
    let mut rng = Rng::new(2);
    let mut checked = 0;
    for seed in 0..or_few(120, 4) {
        let channels = if seed % 2 == 0 { rng.between(2, or_few(70, 19)) } else { 8 * rng.between(1, 6) };
        let case = random_case(&mut rng, channels);
        checked += ways().into_iter().filter(|way| check(&case, seed, *way)).count();
    }
    assert!(checked > 0 || Isa::available() == [Isa::Scalar], "no convolution has tiles");
}

#[test]
fn other_columns_have_no_tiles() {
    let mut rng = Rng::new(3);
    let shape =
        Conv2dShape { kernel: [3, 3], stride: [1, 1], dilation: [1, 1], ..random_shape(&mut rng, 32) };
    let f32 = StoredFloat::F32;
    let numbers = ConvNumbers { input: f32, residual: f32, output: f32 };
    let has_tiles = |shape: Conv2dShape, isa| {
        let shape = Conv2dShape { input: [20, 20], ..shape };
        let strides = ConvStrides::dense(&shape);
        DepthwiseConv2d::new(&shape, &strides, numbers, Activation::None, isa, 1).is_some()
    };
    for isa in [Isa::Avx2, Isa::Avx512] {
        assert!(has_tiles(shape, isa));
        assert!(has_tiles(Conv2dShape { dilation: [2, 1], ..shape }, isa));
        assert!(!has_tiles(Conv2dShape { dilation: [1, 2], ..shape }, isa));
        assert!(!has_tiles(Conv2dShape { stride: [1, 3], ..shape }, isa));
        assert!(!has_tiles(Conv2dShape { kernel: [3, 4], ..shape }, isa));
        assert!(!has_tiles(Conv2dShape { kernel: [7, 7], stride: [2, 2], ..shape }, isa));
        assert!(!has_tiles(Conv2dShape { groups: 8, ..shape }, isa));
        assert!(!has_tiles(Conv2dShape { out_channels: 64, ..shape }, isa));
        let odd = Conv2dShape { in_channels: 30, out_channels: 30, groups: 30, ..shape };
        assert_eq!(has_tiles(odd, isa), isa == Isa::Avx512);
    }
    assert!(!has_tiles(shape, Isa::Scalar));
}
