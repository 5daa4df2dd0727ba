//! That convolutions of `bf16` compute the bits of a plain loop over pairs, for all storage types.

use crate::common::{Rng, input, or_few, output, run, ways_of_pairs};
use kernels::{
    Activation, Conv2d, Conv2dShape, ConvNumbers, ConvPrologue, ConvStrides, GemmShape, ImageStrides, Kernel,
    PairConv2d, PairUnit, StoredFloat, WeightStrides, nearest_bf16, wide_bf16 as wide,
};
use std::collections::BTreeMap;

/// An image in memory, in whole words, so that it is aligned.
#[derive(Clone)]
pub(crate) struct Stored {
    kind: StoredFloat,
    pub(crate) words: Vec<u64>,
    bytes: usize,
}

impl Stored {
    /// `count` elements, all NaN.
    pub(crate) fn new(kind: StoredFloat, count: usize) -> Stored {
        let bytes = count * kind.bytes();
        Stored { kind, words: vec![u64::MAX; bytes.div_ceil(8)], bytes }
    }

    /// The word and the bit offset of element `index`.
    fn place(&self, index: usize) -> (usize, u32) {
        let at = index * self.kind.bytes();
        assert!(at < self.bytes);
        (at / 8, at as u32 % 8 * 8)
    }

    pub(crate) fn set(&mut self, index: usize, value: f32) {
        let (word, shift) = self.place(index);
        let (bits, mask) = match self.kind {
            StoredFloat::F32 => (u64::from(value.to_bits()), u64::from(u32::MAX)),
            StoredFloat::Bf16 => (u64::from(nearest_bf16(value)), u64::from(u16::MAX)),
        };
        self.words[word] = self.words[word] & !(mask << shift) | bits << shift;
    }

    pub(crate) fn get(&self, index: usize) -> f32 {
        let (word, shift) = self.place(index);
        let bits = self.words[word] >> shift;
        match self.kind {
            StoredFloat::F32 => f32::from_bits(bits as u32),
            StoredFloat::Bf16 => wide(bits as u16),
        }
    }
}

fn rounded(x: f32) -> f32 {
    wide(nearest_bf16(x))
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) shape: Conv2dShape,
    pub(crate) strides: ConvStrides,
    pub(crate) numbers: ConvNumbers,
    pub(crate) prologue: ConvPrologue,
    pub(crate) activation: Activation,
    pub(crate) has_residual: bool,
    pub(crate) has_bias: bool,
}

/// Offsets of all elements (n, y, x, c), and the number of elements that the image spans in memory.
pub(crate) fn offsets(
    strides: &ImageStrides,
    batch: usize,
    size: [usize; 2],
    channels: usize,
) -> (Vec<[usize; 5]>, usize) {
    let [sn, sh, sw, sc] = [strides.n, strides.h, strides.w, strides.c].map(|stride| stride as usize);
    let mut all = Vec::new();
    for index in 0..batch * size[0] * size[1] * channels {
        let (pixel, c) = (index / channels, index % channels);
        let (line, x) = (pixel / size[1], pixel % size[1]);
        let (n, y) = (line / size[0], line % size[0]);
        all.push([n * sn + y * sh + x * sw + c * sc, n, y, x, c]);
    }
    let extent = all.iter().map(|element| element[0] + 1).max().unwrap_or(0);
    (all, extent)
}

pub(crate) struct Data {
    pub(crate) x: Stored,
    pub(crate) weights: Vec<f32>,
    pub(crate) bias: Vec<f32>,
    pub(crate) residual: Stored,
    scale: Vec<f32>,
    shift: Vec<f32>,
}

fn image(
    rng: &mut Rng,
    kind: StoredFloat,
    strides: &ImageStrides,
    batch: usize,
    size: [usize; 2],
    channels: usize,
) -> Stored {
    let (all, extent) = offsets(strides, batch, size, channels);
    let mut image = Stored::new(kind, extent);
    all.iter().for_each(|element| image.set(element[0], rng.float()));
    image
}

/// Output (n, y, x, o), as a loop over the pairs of K: (ky, kx, channel), or as matrix tiles add up steps of
/// some pairs.
pub(crate) fn expected(
    case: &Case,
    data: &Data,
    [n, y, x, o]: [usize; 4],
    residual: f32,
    step: usize,
) -> f32 {
    let products = products_of(case, data, [n, y, x, o]);
    let mut sum = if case.has_bias { data.bias[o] } else { 0.0 };
    if case.has_residual {
        sum += residual;
    }
    if step > 0 {
        return case.activation.apply(sum + sum_of_steps(&products, step));
    }
    for pair in products.chunks(2) {
        if let [_, (value, weight)] = pair {
            sum = value.mul_add(*weight, sum);
        }
        sum = pair[0].0.mul_add(pair[0].1, sum);
    }
    case.activation.apply(sum)
}

/// The sum of products as matrix tiles add them: in each step of `step` pairs, the first numbers and the
/// second ones separately.
fn sum_of_steps(products: &[(f32, f32)], step: usize) -> f32 {
    let of_step = |products: &[(f32, f32)]| {
        let sum = |first: usize| {
            products.iter().skip(first).step_by(2).fold(0.0f32, |sum, (x, weight)| x.mul_add(*weight, sum))
        };
        sum(0) + sum(1)
    };
    products.chunks(2 * step).fold(0.0, |sum, products| sum + of_step(products))
}

/// The rounded factors of the products that an output adds, in their order.
fn products_of(case: &Case, data: &Data, [n, y, x, o]: [usize; 4]) -> Vec<(f32, f32)> {
    let Case { shape, strides, .. } = case;
    let (in_group, out_group) = (shape.in_channels / shape.groups, shape.out_channels / shape.groups);
    let [sn, sh, sw, sc] =
        [strides.input.n, strides.input.h, strides.input.w, strides.input.c].map(|stride| stride as usize);
    let mut products = Vec::new();
    for tap in 0..shape.kernel[0] * shape.kernel[1] {
        let (ky, kx) = (tap / shape.kernel[1], tap % shape.kernel[1]);
        let iy = (y * shape.stride[0] + ky * shape.dilation[0]).wrapping_sub(shape.pads[0]);
        let ix = (x * shape.stride[1] + kx * shape.dilation[1]).wrapping_sub(shape.pads[1]);
        for i in 0..in_group {
            let channel = o / out_group * in_group + i;
            let weight = data.weights[((o * in_group + i) * shape.kernel[0] + ky) * shape.kernel[1] + kx];
            let value = if iy < shape.input[0] && ix < shape.input[1] {
                let value = data.x.get(n * sn + iy * sh + ix * sw + channel * sc);
                let moved = value.mul_add(data.scale[channel], data.shift[channel]);
                match case.prologue {
                    ConvPrologue::None => value,
                    ConvPrologue::ScaleShift => moved,
                    ConvPrologue::ScaleShiftRelu => moved.max(0.0),
                }
            } else {
                0.0
            };
            products.push((rounded(value), rounded(weight)));
        }
        // In copied lines, a pixel has whole pairs.
        if case.prologue == ConvPrologue::None && shape.widens_to_pairs() && in_group % 2 == 1 {
            products.push((0.0, 0.0));
        }
    }
    products
}

/// Random operands.
pub(crate) fn data(rng: &mut Rng, case: &Case) -> Data {
    let Case { shape, strides, numbers, .. } = case;
    let taps = shape.kernel[0] * shape.kernel[1];
    let channels = shape.in_channels;
    Data {
        x: image(rng, numbers.input, &strides.input, shape.batch, shape.input, channels),
        weights: rng.floats(shape.out_channels * channels / shape.groups * taps),
        bias: rng.floats(shape.out_channels),
        residual: image(
            rng,
            numbers.residual,
            &strides.residual,
            shape.batch,
            shape.output(),
            shape.out_channels,
        ),
        scale: rng.floats(channels),
        shift: rng.floats(channels),
    }
}

fn check(case: &Case, seed: u64) {
    let rng = &mut Rng::new(seed);
    let Case { shape, strides, numbers, prologue, activation, .. } = case;
    let (outputs, extent) = offsets(&strides.output, shape.batch, shape.output(), shape.out_channels);
    let (residuals, _) = offsets(&strides.residual, shape.batch, shape.output(), shape.out_channels);
    let data = data(rng, case);
    // Miri checks few elements: it looks for memory errors, and the loop is slow.
    let few = or_few(1, 23);
    let wanted = |step: usize| {
        let mut want = Stored::new(numbers.output, extent);
        for (element, residual) in outputs.iter().zip(&residuals).step_by(few) {
            let [at, n, y, x, o] = *element;
            want.set(at, expected(case, &data, [n, y, x, o], data.residual.get(residual[0]), step));
        }
        want
    };
    let mut all_wanted = BTreeMap::new();
    let order = WeightStrides::oihw(shape.in_channels / shape.groups, shape.kernel);
    for (isa, threads, unit) in ways_of_pairs() {
        let conv = Conv2d::new(shape, strides, *prologue, *activation, isa, threads);
        let kernel = PairConv2d::on(unit, conv, shape, *numbers, threads).expect("its groups are wide");
        let want = all_wanted.entry(kernel.step()).or_insert_with(|| wanted(kernel.step()));
        let mut packed = vec![f32::NAN; kernel.packed_len()];
        kernel.pack(&data.weights, order, &mut packed);
        for kernel in [kernel, kernel.within(0, threads)] {
            let mut found = Stored::new(numbers.output, extent);
            let bias = if case.has_bias { input(&data.bias) } else { std::ptr::null_mut() };
            let residual = if case.has_residual { input(&data.residual.words) } else { std::ptr::null_mut() };
            let out = output(&mut found.words);
            let [x, packed] = [input(&data.x.words), input(&packed)];
            run(&kernel, &[out, x, packed, bias, residual, input(&data.scale), input(&data.shift)]);
            for element in outputs.iter().step_by(few) {
                let [found, want] = [found.get(element[0]), want.get(element[0])];
                assert_eq!(found, want, "at {element:?} on {isa:?}, {unit:?} x {threads}: {case:?}");
            }
            let is_same = cfg!(miri) || found.words == want.words;
            assert!(is_same, "beside the output on {isa:?}, {unit:?} x {threads}: {case:?}");
        }
    }
}

pub(crate) fn random_case(rng: &mut Rng, groups: usize, in_group: usize, out_group: usize) -> Case {
    let kernel = [rng.between(1, 4), rng.between(1, 4)];
    let shape = Conv2dShape {
        batch: rng.between(1, 2),
        input: or_few([9, 15], [5, 6]).map(|most| rng.between(4, most)),
        in_channels: groups * in_group,
        out_channels: groups * out_group,
        kernel,
        stride: [rng.between(1, 2), rng.between(1, 3)],
        dilation: [rng.between(1, 2), rng.between(1, 2)],
        pads: [0; 4].map(|_: usize| rng.between(0, 2)),
        groups,
    };
    let wider = |rng: &mut Rng, size, channels| ImageStrides::nhwc(size, channels + rng.pick(&[0, 0, 1, 24]));
    let strides = ConvStrides {
        input: wider(rng, shape.input, shape.in_channels),
        output: wider(rng, shape.output(), shape.out_channels),
        residual: wider(rng, shape.output(), shape.out_channels),
    };
    let stored = |rng: &mut Rng| rng.pick(&[StoredFloat::Bf16, StoredFloat::F32]);
    let numbers = ConvNumbers { input: stored(rng), residual: stored(rng), output: stored(rng) };
    let clip = Activation::Clip { lo: -0.5, hi: 0.5 };
    Case {
        shape,
        strides,
        numbers,
        prologue: rng.pick(&[ConvPrologue::None, ConvPrologue::ScaleShift, ConvPrologue::ScaleShiftRelu]),
        activation: rng.pick(&[Activation::None, Activation::Relu, clip, Activation::Silu]),
        has_residual: rng.between(0, 1) == 1,
        has_bias: rng.between(0, 3) > 0,
    }
}

#[test]
fn random_convolutions_of_pairs_are_the_plain_loop_to_the_bit() {
    let mut rng = Rng::new(1);
    for seed in 0..or_few(30, 3) {
        let (inputs, outputs) = (rng.between(1, or_few(40, 3)), rng.between(1, or_few(70, 34)));
        check(&random_case(&mut rng, 1, inputs, outputs), seed);
    }
}

#[test]
fn pointwise_convolutions_of_pairs_are_the_plain_loop_to_the_bit() {
    let mut rng = Rng::new(2);
    for seed in 0..or_few(30, 3) {
        let (inputs, outputs) = (rng.between(1, or_few(300, 9)), rng.between(1, or_few(70, 34)));
        let mut case = random_case(&mut rng, 1, inputs, outputs);
        case.shape = Conv2dShape { kernel: [1, 1], stride: [1, 1], pads: [0; 4], ..case.shape };
        case.strides = ConvStrides::dense(&case.shape);
        case.prologue = rng.pick(&[ConvPrologue::None, ConvPrologue::None, case.prologue]);
        check(&case, seed);
    }
}

#[test]
fn grouped_convolutions_and_channels_first_images_of_pairs_are_the_plain_loop_to_the_bit() {
    let mut rng = Rng::new(3);
    for seed in 0..or_few(20, 2) {
        let groups = rng.between(2, or_few(5, 2));
        let width = rng.pick(or_few(&[3, 5, 16, 31], &[3, 5]));
        let outputs = rng.between(1, or_few(40, 9));
        check(&random_case(&mut rng, groups, width, outputs), seed);
        let mut case = random_case(&mut rng, 1, rng_width(seed), outputs);
        case.strides.input = ImageStrides::nchw(case.shape.input, case.shape.in_channels);
        check(&case, seed);
    }
}

/// Lines of such images are prepared once for all their readers.
#[test]
fn lines_of_channels_first_images_are_read_right() {
    let mut rng = Rng::new(5);
    for seed in 0..or_few(40, 3) {
        let groups = rng.pick(&[1, 1, 2, 3]);
        // Of the widest, the columns that no window reads are more numbers than the room after a line.
        let width = if seed % 4 == 3 { 70 } else { rng.between(1, or_few(5, 2)) };
        let outputs = rng.between(1, or_few(40, 9));
        let mut case = random_case(&mut rng, groups, width, outputs);
        case.shape.kernel[1] = rng.between(2, 7);
        case.shape.input = [rng.between(7, or_few(12, 7)), rng.between(7, or_few(40, 20))];
        case.shape = Conv2dShape { dilation: [1, 1], ..case.shape };
        case.strides = ConvStrides::dense(&case.shape);
        case.strides.input = ImageStrides::nchw(case.shape.input, case.shape.in_channels);
        case.prologue = ConvPrologue::None;
        check(&case, seed);
    }
}

/// Rows of products are read from copied lines of the image.
#[test]
fn copied_lines_of_whole_pairs_are_read_right() {
    let mut rng = Rng::new(8);
    for seed in 0..or_few(80, 4) {
        let channels = rng.pick(or_few(&[2, 3, 3, 4, 6, 8, 18, 32, 128], &[2, 3, 4, 6]));
        let outputs = rng.between(1, or_few(70, 9));
        // Narrow groups of a few channels are not multiplied in pairs.
        let groups = if channels > 4 || channels == 3 { rng.pick(&[1, 1, 2, 3]) } else { 1 };
        let outputs = if groups > 1 { outputs.max(9) } else { outputs };
        let mut case = random_case(&mut rng, groups, channels, outputs);
        // The lines of a tile are short enough.
        let most = if channels > 18 { 2 } else { 3 };
        let stride = [rng.between(1, most), rng.between(1, most)];
        let kernel = stride.map(|stride| rng.between(stride.max(2), stride + most - 1));
        let out_w = rng.between(14, or_few(60, 15));
        let pads = [0; 4].map(|_: usize| rng.between(0, 3));
        let wide = (out_w - 1) * stride[1] + kernel[1] + rng.between(0, stride[1] - 1);
        let input = [rng.between(5, or_few(20, 5)), wide.saturating_sub(pads[1] + pads[3]).max(kernel[1])];
        case.shape = Conv2dShape { input, kernel, stride, pads, dilation: [1, 1], ..case.shape };
        assert!(case.shape.widens_to_pairs(), "{case:?}");
        let dense = ConvStrides::dense(&case.shape);
        let wider = ImageStrides::nhwc(input, groups * channels + rng.pick(&[1, 5]));
        let planes = ImageStrides::nchw(input, groups * channels);
        case.strides = ConvStrides { input: rng.pick(&[dense.input, wider, planes]), ..dense };
        case.prologue = ConvPrologue::None;
        check(&case, seed);
    }
}

/// What one pixel of the image is reaches the outputs that read it, and no other, though they are multiplied
/// together, and an odd channel with a neighbour.
#[test]
fn a_pixel_that_is_not_a_number_reaches_only_its_readers() {
    let mut rng = Rng::new(9);
    for (seed, channels) in or_few(&[3, 3, 3, 4, 5, 18][..], &[3]).iter().copied().enumerate() {
        let mut case = random_case(&mut rng, 1, channels, 5);
        let shape = Conv2dShape { batch: 1, input: [6, 35], kernel: [3, 3], pads: [1; 4], ..case.shape };
        case.shape = Conv2dShape { stride: [1, 2], dilation: [1, 1], ..shape };
        case.strides = ConvStrides::dense(&case.shape);
        if seed % 3 == 1 {
            case.strides.input = ImageStrides::nchw(case.shape.input, channels);
        }
        case.numbers.output = StoredFloat::F32;
        let Case { shape, strides, numbers, .. } = &case;
        let mut data = data(&mut rng, &case);
        let (pixels, _) = offsets(&strides.input, 1, shape.input, channels);
        // The pixel at line 2, column 12.
        for [at, _, y, x, _] in pixels {
            if [y, x] == [2, 12] {
                data.x.set(at, f32::NAN);
            }
        }
        let (outputs, extent) = offsets(&strides.output, 1, shape.output(), shape.out_channels);
        for (isa, threads, unit) in ways_of_pairs() {
            let conv = Conv2d::new(shape, strides, ConvPrologue::None, Activation::None, isa, threads);
            let kernel = PairConv2d::on(unit, conv, shape, *numbers, threads).expect("it has one group");
            let mut packed = vec![f32::NAN; kernel.packed_len()];
            kernel.pack(&data.weights, WeightStrides::oihw(channels, shape.kernel), &mut packed);
            let mut found = Stored::new(StoredFloat::F32, extent);
            let null = std::ptr::null_mut();
            run(&kernel, &[output(&mut found.words), input(&data.x.words), input(&packed), null, null]);
            for [at, _, y, x, _] in &outputs {
                let reads = (1..=3).contains(y) && (2 * x).abs_diff(12) <= 1;
                assert_eq!(found.get(*at).is_nan(), reads, "line {y}, column {x} on {isa:?}: {case:?}");
            }
        }
    }
}

/// With a prologue or dilation, lines are not prepared: each tap is gathered from its channel's plane.
#[test]
fn images_whose_channels_lie_apart_are_gathered_right() {
    let mut rng = Rng::new(7);
    for seed in 0..or_few(30, 3) {
        let groups = rng.pick(&[1, 1, 2]);
        let (width, outputs) = (rng.between(1, or_few(7, 2)), rng.between(1, or_few(40, 9)));
        let mut case = random_case(&mut rng, groups, width, outputs);
        case.shape.kernel = [rng.between(1, 3), rng.between(1, 5)];
        case.shape.input = [rng.between(7, or_few(12, 7)), rng.between(11, or_few(40, 20))];
        case.shape.dilation = [rng.between(1, 2), 2];
        case.strides = ConvStrides::dense(&case.shape);
        case.strides.input = ImageStrides::nchw(case.shape.input, case.shape.in_channels);
        case.prologue = rng.pick(&[ConvPrologue::None, ConvPrologue::None, ConvPrologue::ScaleShiftRelu]);
        check(&case, seed);
    }
}

/// If tiles fill the output's lines, kernel rows outside the image are skipped.
#[test]
fn kernel_rows_beside_the_image_are_left_out_right() {
    let mut rng = Rng::new(6);
    for seed in 0..or_few(30, 2) {
        let (width, outputs) = (rng.between(1, or_few(20, 2)), rng.between(1, or_few(70, 3)));
        let mut case = random_case(&mut rng, 1, width, outputs);
        let kernel = [rng.between(2, 5), rng.between(1, 4)];
        let dilation = [rng.between(1, 2), rng.between(1, 2)];
        let pads = [rng.between(0, 6), rng.between(0, 2), rng.between(0, 6), rng.between(0, 2)];
        let out_w = rng.pick(or_few(&[14, 14, 28, 42], &[14]));
        let stride = [rng.between(1, 3), rng.between(1, 2)];
        let wide = (out_w - 1) * stride[1] + (kernel[1] - 1) * dilation[1] + 1;
        let input = [rng.between(5, 12), wide - pads[1] - pads[3]];
        case.shape = Conv2dShape { batch: 2, input, kernel, stride, dilation, pads, ..case.shape };
        assert_eq!(case.shape.output()[1], out_w);
        case.strides = ConvStrides::dense(&case.shape);
        if rng.between(0, 2) == 0 {
            case.strides.input = ImageStrides::nchw(case.shape.input, case.shape.in_channels);
        }
        check(&case, seed);
    }
}

fn rng_width(seed: u64) -> usize {
    seed as usize % 5 + 1
}

#[test]
fn a_deep_sum_and_a_product_are_the_plain_loop_to_the_bit() {
    let mut rng = Rng::new(4);
    for depth in [511, 1024, 2305].into_iter().take(or_few(3, 1)) {
        let mut case = random_case(&mut rng, 1, depth, or_few(37, 1));
        case.shape = Conv2dShape { kernel: [1, 1], stride: [1, 1], pads: [0; 4], ..case.shape };
        if cfg!(miri) {
            case.shape = Conv2dShape { batch: 1, input: [1, 2], ..case.shape };
        }
        case.strides = ConvStrides::dense(&case.shape);
        check(&case, depth as u64);
    }
}

#[test]
fn the_product_of_matrices_is_a_convolution_of_a_line() {
    let stored = StoredFloat::Bf16;
    let numbers = ConvNumbers { input: stored, residual: stored, output: stored };
    let isa = kernels::Isa::Scalar;
    let product = PairConv2d::product(&GemmShape::dense(3, 2, 5), numbers, Activation::None, isa, 1).unwrap();
    let [a, b]: [Vec<f32>; 2] = [(0..15).map(|i| i as f32).collect(), (0..10).map(|i| i as f32).collect()];
    let mut packed = vec![0.0; product.packed_len()];
    product.pack(&b, WeightStrides { o: 1, i: 2, h: 0, w: 0 }, &mut packed);
    let a: Vec<u16> = a.into_iter().map(nearest_bf16).collect();
    let mut c = [0u16; 6];
    let none = std::ptr::null_mut();
    run(&product, &[c.as_mut_ptr().cast(), input(&a), input(&packed), none, none]);
    assert_eq!(c.map(wide), [60.0, 70.0, 160.0, 195.0, 260.0, 320.0].map(rounded));
}

#[test]
fn sums_of_no_products_are_the_bias() {
    let stored = StoredFloat::F32;
    let numbers = ConvNumbers { input: stored, residual: stored, output: stored };
    let bias = [1.5f32, -2.0];
    let none = std::ptr::null_mut();
    for isa in kernels::Isa::available() {
        let shape = GemmShape::dense(3, 2, 0);
        let product = PairConv2d::product(&shape, numbers, Activation::None, isa, 1).expect("it can be done");
        let packed = vec![f32::NAN; product.packed_len()];
        let mut c = [f32::NAN; 6];
        run(&product, &[c.as_mut_ptr().cast(), none, input(&packed), input(&bias), none]);
        assert_eq!(c, [1.5, -2.0, 1.5, -2.0, 1.5, -2.0], "{isa:?}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "it compares sizes, and runs no kernel")]
fn no_smaller_convolution_of_bf16_takes_more_scratch() {
    let mut rng = Rng::new(12);
    let numbers =
        ConvNumbers { input: StoredFloat::Bf16, residual: StoredFloat::Bf16, output: StoredFloat::Bf16 };
    let mut copied = 0;
    for _ in 0..400 {
        let channels = rng.pick(&[2, 16, 30, 64, 288, 300, 1024]);
        let kernel = rng.pick(&[[1, 1], [3, 3]]);
        let is_nhwc = rng.between(0, 3) > 0;
        let size = |rng: &mut Rng| (rng.between(1, 2), [rng.between(3, 40), rng.between(3, 40)]);
        let of = |(batch, input): (usize, [usize; 2])| {
            let shape = Conv2dShape {
                batch,
                input,
                in_channels: channels,
                out_channels: 8,
                kernel,
                stride: [1, 1],
                dilation: [1, 1],
                pads: [0; 4],
                groups: 1,
            };
            let output = ImageStrides::nhwc(shape.output(), 8);
            let read = if is_nhwc {
                ImageStrides::nhwc(input, channels)
            } else {
                ImageStrides::nchw(input, channels)
            };
            let strides = ConvStrides { input: read, output, residual: output };
            let isa = kernels::Isa::detect();
            PairConv2d::new(&shape, &strides, numbers, ConvPrologue::None, Activation::None, isa, 2)
                .expect("its groups are wide")
        };
        let large = size(&mut rng);
        let small = (rng.between(1, large.0), large.1.map(|size| rng.between(3, size)));
        let all = of(large);
        let conv = of(small);
        let most = kernels::Kernel::most_scratch_bytes(&all);
        let found = kernels::Kernel::scratch_bytes(&conv);
        copied += usize::from(found > 0);
        assert!(found <= most, "{found} bytes at {small:?}, {most} at {large:?}, {channels} channels");
        let least = conv.least_scratch_bytes();
        let enough = kernels::Kernel::enough_scratch_bytes(&all);
        assert!(least <= enough, "{least} bytes at {small:?}, {enough} at {large:?}, {channels} channels");
    }
    assert!(copied > 100);
}

/// Rows 4096 bytes apart share a set of the first-level cache: vectors copy some of them, tiles none.
#[test]
fn products_copy_few_rows_and_tiles_none() {
    let bf16 = StoredFloat::Bf16;
    let numbers = ConvNumbers { input: bf16, residual: bf16, output: bf16 };
    for depth in [1000, 1024, 2048, 3072] {
        let shape = Conv2dShape {
            batch: 1,
            input: [1, 197],
            in_channels: depth,
            out_channels: 64,
            kernel: [1, 1],
            stride: [1, 1],
            dilation: [1, 1],
            pads: [0; 4],
            groups: 1,
        };
        let strides = ConvStrides::dense(&shape);
        for (isa, threads, unit) in ways_of_pairs() {
            let conv = Conv2d::new(&shape, &strides, ConvPrologue::None, Activation::None, isa, threads);
            let kernel = PairConv2d::on(unit, conv, &shape, numbers, threads).expect("it has one group");
            let most = if unit == PairUnit::Tiles { 8 * 1024 } else { 96 * 1024 };
            let found = kernel.scratch_bytes();
            assert!(found <= most, "{found} bytes for a depth of {depth} on {unit:?}");
        }
    }
}
