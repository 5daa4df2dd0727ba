//! That convolutions of bytes compute the bits of a plain loop, for all storage types and steps after the
//! sums.

use crate::common::{CANARY, Rng, input, or_few, output, run, ways_of_quads};
use crate::pairs::offsets;
use kernels::{
    Activation, ByteSign, Conv2dShape, ConvStrides, GemmShape, ImageStrides, Isa, Kernel, QuadConv2d,
    QuadNumbers, QuadUnit, StepOperand, StoredSum, SumStep, WeightStrides, WeightZero,
};

pub(crate) const SIGNS: [ByteSign; 2] = [ByteSign::Unsigned, ByteSign::Signed];
pub(crate) const ZEROS: [WeightZero; 3] = [WeightZero::None, WeightZero::One, WeightZero::Channel];
pub(crate) const STORED: [StoredSum; 4] = [StoredSum::I32, StoredSum::F32, StoredSum::U8, StoredSum::I8];

#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) shape: Conv2dShape,
    pub(crate) strides: ConvStrides,
    pub(crate) bytes: QuadNumbers,
    pub(crate) steps: Vec<SumStep>,
    /// Whether the image has a zero point that is not 0.
    has_zero: bool,
}

struct Data {
    x: Vec<u8>,
    /// The integers, as floats.
    weights: Vec<f32>,
    x_zero: u8,
    weight_zeros: Vec<u8>,
    residual: Vec<f32>,
    byte_residual: Vec<u8>,
    /// The operands of each step.
    numbers: Vec<Vec<f32>>,
}

fn number(sign: ByteSign, byte: u8) -> i32 {
    match sign {
        ByteSign::Unsigned => i32::from(byte),
        ByteSign::Signed => i32::from(byte as i8),
    }
}

/// A random byte, often one at an end of the range.
fn byte(rng: &mut Rng) -> u8 {
    match rng.between(0, 3) {
        0 => rng.pick(&[0, 1, 255, 128, 127]),
        _ => rng.between(0, 255) as u8,
    }
}

fn data(rng: &mut Rng, case: &Case) -> Data {
    let Case { shape, strides, bytes, steps, .. } = case;
    let (_, extent) = offsets(&strides.input, shape.batch, shape.input, shape.in_channels);
    let (_, residuals) = offsets(&strides.residual, shape.batch, shape.output(), shape.out_channels);
    let taps = shape.kernel[0] * shape.kernel[1];
    // All at the ends of their range, so that the sums are the largest possible, or random.
    let is_extreme = rng.between(0, 3) == 0;
    let most_zero = rng.pick(&[1, 255, 255, 255]);
    let [first, second] = [byte(rng), rng.pick(&[0, 255, 128, 127])];
    let any = |rng: &mut Rng, end: u8| if is_extreme { end } else { byte(rng) };
    let x = (0..extent).map(|_| any(rng, second)).collect();
    let count = shape.out_channels * shape.in_channels / shape.groups * taps;
    let weights = (0..count).map(|_| number(bytes.weights, any(rng, first)) as f32).collect();
    let mut numbers_of = |operand: StepOperand, least: f32| {
        let count = if operand == StepOperand::One { 1 } else { shape.out_channels };
        let is_whole = rng.between(0, 1) == 0 && least > 1.0;
        let any =
            (0..count).map(|_| (least + 9.0 * least * rng.float().abs()) * rng.pick(&[-1.0, 1.0, 0.01]));
        any.map(|x| if is_whole { x.trunc() } else { x }).collect::<Vec<f32>>()
    };
    let numbers = steps.iter().map(|step| match *step {
        SumStep::Mul(operand) | SumStep::Div(operand) => numbers_of(operand, 0.001),
        SumStep::Add(operand) | SumStep::Sub(operand) => numbers_of(operand, 30.0),
        SumStep::ByteResidual(_) => [30.0, 0.001].map(|least| numbers_of(StepOperand::One, least)).concat(),
        _ => Vec::new(),
    });
    Data {
        x,
        weights,
        numbers: numbers.collect(),
        x_zero: if case.has_zero { byte(rng) } else { 0 },
        weight_zeros: (0..shape.out_channels).map(|_| byte(rng).min(most_zero)).collect(),
        residual: rng.floats(residuals),
        byte_residual: (0..residuals).map(|_| byte(rng)).collect(),
    }
}

/// The sum of output (n, y, x, o), as a loop over K.
fn expected_sum(case: &Case, data: &Data, [n, y, x, o]: [usize; 4]) -> i32 {
    let Case { shape, strides, bytes, .. } = case;
    let (in_group, out_group) = (shape.in_channels / shape.groups, shape.out_channels / shape.groups);
    let [sn, sh, sw, sc] =
        [strides.input.n, strides.input.h, strides.input.w, strides.input.c].map(|stride| stride as usize);
    let x_zero = number(bytes.image, data.x_zero);
    let zero = match bytes.zero {
        WeightZero::None => 0,
        WeightZero::One => number(bytes.weights, data.weight_zeros[0]),
        WeightZero::Channel => number(bytes.weights, data.weight_zeros[o]),
    };
    let mut sum = 0i32;
    for tap in 0..shape.kernel[0] * shape.kernel[1] {
        let (ky, kx) = (tap / shape.kernel[1], tap % shape.kernel[1]);
        let iy = (y * shape.stride[0] + ky * shape.dilation[0]).wrapping_sub(shape.pads[0]);
        let ix = (x * shape.stride[1] + kx * shape.dilation[1]).wrapping_sub(shape.pads[1]);
        if iy >= shape.input[0] || ix >= shape.input[1] {
            continue;
        }
        for i in 0..in_group {
            let channel = o / out_group * in_group + i;
            let weight = data.weights[((o * in_group + i) * shape.kernel[0] + ky) * shape.kernel[1] + kx];
            let value = number(bytes.image, data.x[n * sn + iy * sh + ix * sw + channel * sc]);
            sum = sum.wrapping_add((value - x_zero) * (weight as i32 - zero));
        }
    }
    sum
}

/// The stored bytes of a sum of output channel `o`; `residual` is the index of its residual.
fn expected(case: &Case, data: &Data, sum: i32, o: usize, residual: usize) -> Vec<u8> {
    if case.bytes.output == StoredSum::I32 {
        return sum.to_ne_bytes().to_vec();
    }
    let mut value = sum as f32;
    for (step, numbers) in case.steps.iter().zip(&data.numbers) {
        value = match *step {
            SumStep::Residual => value + data.residual[residual],
            SumStep::ByteResidual(sign) => {
                value + (number(sign, data.byte_residual[residual]) as f32 - numbers[0]) * numbers[1]
            }
            step => after(step, numbers, o, value),
        };
    }
    match case.bytes.output {
        StoredSum::U8 => vec![value as u8],
        StoredSum::I8 => vec![value as i8 as u8],
        _ if value.is_nan() => f32::NAN.to_ne_bytes().to_vec(),
        _ => value.to_ne_bytes().to_vec(),
    }
}

/// A number of output channel `o` after a step that adds no residual.
pub(crate) fn after(step: SumStep, numbers: &[f32], o: usize, value: f32) -> f32 {
    let of = |operand: StepOperand| if operand == StepOperand::One { numbers[0] } else { numbers[o] };
    match step {
        SumStep::Mul(operand) => value * of(operand),
        SumStep::Add(operand) => value + of(operand),
        SumStep::Sub(operand) => value - of(operand),
        SumStep::Div(operand) => value / of(operand),
        SumStep::Byte(ByteSign::Unsigned) => f32::from(value as u8),
        SumStep::Byte(ByteSign::Signed) => f32::from(value as i8),
        SumStep::Function(function) => function.apply(value),
        SumStep::Round => value.round_ties_even(),
        SumStep::Residual | SumStep::ByteResidual(_) => unreachable!("{step:?} adds a residual"),
    }
}

/// Canary bytes in whole words, so that `f32` are aligned.
fn canaries(bytes: usize) -> Vec<u64> {
    vec![u64::from_ne_bytes([CANARY; 8]); bytes.div_ceil(8)]
}

/// The bytes of memory.
fn bytes_of(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

pub(crate) fn check(case: &Case, seed: u64) {
    check_ways(case, seed, ways_of_quads());
}

/// The operands of a kernel after the output.
fn inputs(case: &Case, data: &Data, packed: &[f32]) -> Vec<*mut u8> {
    let none = std::ptr::null_mut();
    let x_zero = if case.has_zero { input(std::slice::from_ref(&data.x_zero)) } else { none };
    let weight_zeros = if case.bytes.zero == WeightZero::None { none } else { input(&data.weight_zeros) };
    let residual = match case.steps.iter().find(|step| is_residual(step)) {
        Some(SumStep::Residual) => input(&data.residual),
        Some(_) => input(&data.byte_residual),
        None => none,
    };
    let mut operands = vec![input(&data.x), input(packed), x_zero, weight_zeros, residual];
    for (step, numbers) in case.steps.iter().zip(&data.numbers) {
        match step {
            SumStep::ByteResidual(_) => {
                operands.extend(numbers.iter().map(|number| input(std::slice::from_ref(number))));
            }
            _ if numbers.is_empty() => {}
            _ => operands.push(input(numbers)),
        }
    }
    operands
}

/// Checks a case with these instruction sets, numbers of threads and units.
pub(crate) fn check_ways(case: &Case, seed: u64, ways: Vec<(Isa, usize, QuadUnit)>) {
    let rng = &mut Rng::new(seed);
    let Case { shape, strides, bytes, steps, .. } = case;
    let (outputs, extent) = offsets(&strides.output, shape.batch, shape.output(), shape.out_channels);
    let (residuals, _) = offsets(&strides.residual, shape.batch, shape.output(), shape.out_channels);
    let data = data(rng, case);
    let size = bytes.output.bytes();
    let mut want = bytes_of(&canaries(extent * size));
    // Miri checks few elements: it looks for memory errors, and the loop is slow.
    let step = or_few(1, 23);
    for (element, residual) in outputs.iter().zip(&residuals).step_by(step) {
        let [at, n, y, x, o] = *element;
        let sum = expected_sum(case, &data, [n, y, x, o]);
        let stored = expected(case, &data, sum, o, residual[0]);
        want[at * size..][..size].copy_from_slice(&stored);
    }
    let order = WeightStrides::oihw(shape.in_channels / shape.groups, shape.kernel);
    for way in ways {
        let (isa, threads, unit) = way;
        let kernel =
            QuadConv2d::on(unit, shape, strides, bytes, steps, (isa, threads)).expect("it can be done");
        let mut packed = vec![f32::NAN; kernel.packed_len()];
        kernel.pack(&data.weights, order, &mut packed);
        let least = kernel.within(0, threads);
        assert_eq!(least.scratch_bytes(), kernel.least_scratch_bytes());
        for kernel in [kernel, least, kernel.within(kernel.scratch_bytes() / 2, threads)] {
            assert!(kernel.scratch_bytes() <= kernel.most_scratch_bytes());
            let mut found = canaries(extent * size);
            let mut operands = vec![output(&mut found)];
            operands.extend(inputs(case, &data, &packed));
            run(&kernel, &operands);
            let mut found = bytes_of(&found);
            for element in outputs.iter().step_by(step) {
                let found = &mut found[element[0] * size..][..size];
                let want = &want[element[0] * size..][..size];
                let is_same = is_same(bytes.output, found, want);
                assert!(is_same, "{found:?}, not {want:?} at {element:?} {way:?}: {case:?}");
                // All NaNs are equal.
                found.copy_from_slice(want);
            }
            assert!(cfg!(miri) || found == want, "beside the output {way:?}: {case:?}");
        }
    }
}

/// Whether a step adds the residual.
fn is_residual(step: &SumStep) -> bool {
    matches!(step, SumStep::Residual | SumStep::ByteResidual(_))
}

/// Whether two stored numbers have the same bits, or are both NaN.
pub(crate) fn is_same(stored: StoredSum, found: &[u8], want: &[u8]) -> bool {
    let is_nan = |bytes: &[u8]| {
        let bytes = bytes.first_chunk().expect("a number of four bytes");
        f32::from_ne_bytes(*bytes).is_nan()
    };
    found == want || stored == StoredSum::F32 && is_nan(found) && is_nan(want)
}

fn random_step(rng: &mut Rng) -> SumStep {
    let operand = rng.pick(&[StepOperand::One, StepOperand::Channel]);
    let clip = Activation::Clip { lo: -3.5, hi: 200.0 };
    rng.pick(&[
        SumStep::Mul(operand),
        SumStep::Add(operand),
        SumStep::Sub(operand),
        SumStep::Div(operand),
        SumStep::Round,
        SumStep::Function(Activation::Relu),
        SumStep::Function(clip),
        SumStep::Function(Activation::Gelu),
        SumStep::Function(Activation::None),
        SumStep::Byte(ByteSign::Unsigned),
        SumStep::Byte(ByteSign::Signed),
    ])
}

pub(crate) fn random_steps(rng: &mut Rng, output: StoredSum) -> Vec<SumStep> {
    if output == StoredSum::I32 {
        return Vec::new();
    }
    let mut steps: Vec<SumStep> = (0..rng.between(0, 11)).map(|_| random_step(rng)).collect();
    if rng.between(0, 2) == 0 {
        let at = rng.between(0, steps.len());
        let bytes = SIGNS.map(SumStep::ByteResidual);
        steps.insert(at, rng.pick(&[SumStep::Residual, bytes[0], bytes[1]]));
    }
    // The usual steps of a quantization.
    if rng.between(0, 2) == 0 && steps.len() < 14 {
        steps.extend([SumStep::Round, SumStep::Add(rng.pick(&[StepOperand::One, StepOperand::Channel]))]);
        let [lo, hi] =
            rng.pick(&[[0.0, 255.0], [-128.0, 127.0], [3.0, 90.0], [0.5, f32::INFINITY], [-7.0, 50.5]]);
        steps.push(SumStep::Function(Activation::Clip { lo, hi }));
    }
    // Small numbers, so that not all results are at the ends of the bytes' range.
    if rng.between(0, 1) == 0 && steps.len() < 16 {
        steps.insert(0, SumStep::Mul(StepOperand::Channel));
    }
    steps
}

fn random_numbers(rng: &mut Rng) -> QuadNumbers {
    QuadNumbers {
        image: rng.pick(&SIGNS),
        weights: rng.pick(&SIGNS),
        zero: rng.pick(&ZEROS),
        output: rng.pick(&STORED),
    }
}

pub(crate) fn random_case(rng: &mut Rng, groups: usize, in_group: usize, out_group: usize) -> Case {
    let shape = Conv2dShape {
        batch: rng.between(1, 2),
        input: or_few([9, 15], [5, 6]).map(|most| rng.between(4, most)),
        in_channels: groups * in_group,
        out_channels: groups * out_group,
        kernel: [rng.between(1, 4), rng.between(1, 4)],
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
    let bytes = random_numbers(rng);
    let steps = random_steps(rng, bytes.output);
    Case { shape, strides, bytes, steps, has_zero: rng.between(0, 2) > 0 }
}

fn pointwise(case: Case) -> Case {
    let shape = Conv2dShape { kernel: [1, 1], stride: [1, 1], pads: [0; 4], ..case.shape };
    Case { strides: ConvStrides::dense(&shape), shape, ..case }
}

#[test]
fn random_convolutions_of_bytes_are_the_plain_loop_to_the_bit() {
    let mut rng = Rng::new(1);
    for seed in 0..or_few(60, 3) {
        let (inputs, outputs) = (rng.between(1, or_few(70, 3)), rng.between(1, or_few(70, 34)));
        check(&random_case(&mut rng, 1, inputs, outputs), seed);
    }
}

#[test]
fn pointwise_convolutions_of_bytes_are_the_plain_loop_to_the_bit() {
    let mut rng = Rng::new(2);
    for seed in 0..or_few(60, 3) {
        let (inputs, outputs) = (rng.between(1, or_few(300, 9)), rng.between(1, or_few(70, 34)));
        let inputs = if rng.between(0, 1) == 0 { inputs } else { inputs.next_multiple_of(4) };
        let mut case = pointwise(random_case(&mut rng, 1, inputs, outputs));
        if rng.between(0, 2) == 0 {
            let channels = inputs + rng.pick(&[1, 4, 30]);
            case.strides.input = ImageStrides::nhwc(case.shape.input, channels);
        }
        check(&case, seed);
    }
}

#[test]
fn all_signs_and_zero_points_are_the_plain_loop_to_the_bit() {
    let mut rng = Rng::new(3);
    let mut seed = 0;
    for (image, weights) in SIGNS.into_iter().flat_map(|sign| SIGNS.map(|other| (sign, other))) {
        for (zero, stored) in ZEROS.into_iter().flat_map(|zero| STORED.map(|stored| (zero, stored))) {
            let (inputs, outputs) = (rng.between(1, or_few(40, 5)), rng.between(1, or_few(40, 3)));
            let mut case = random_case(&mut rng, 1, inputs, outputs);
            case.bytes = QuadNumbers { image, weights, zero, output: stored };
            case.steps = random_steps(&mut rng, stored);
            check(&if seed % 2 == 0 { pointwise(case) } else { case }, seed);
            seed += 1;
        }
    }
}

#[test]
fn each_step_alone_is_the_plain_one_to_the_bit() {
    let mut rng = Rng::new(4);
    let few = [StepOperand::One, StepOperand::Channel];
    let of = |operand| {
        [SumStep::Mul(operand), SumStep::Add(operand), SumStep::Sub(operand), SumStep::Div(operand)]
    };
    let functions = [
        Activation::None,
        Activation::Relu,
        Activation::Clip { lo: -1.5, hi: 2.5 },
        Activation::Sigmoid,
        Activation::Gelu,
        // NaN for negative numbers.
        Activation::Sqrt,
    ];
    let mut steps: Vec<SumStep> = few.into_iter().flat_map(of).collect();
    steps.extend(functions.map(SumStep::Function));
    steps.extend([SumStep::Residual, SumStep::Round]);
    steps.extend(SIGNS.map(SumStep::ByteResidual));
    steps.extend(SIGNS.map(SumStep::Byte));
    for (seed, step) in steps.into_iter().enumerate() {
        for stored in [StoredSum::F32, StoredSum::U8, StoredSum::I8] {
            let mut case = random_case(&mut rng, 1, rng_width(seed as u64), or_few(40, 3));
            case.bytes.output = stored;
            case.steps = vec![step];
            check(&case, seed as u64);
            case.steps = vec![SumStep::Mul(StepOperand::One), step, SumStep::Round];
            check(&case, seed as u64);
        }
    }
}

fn rng_width(seed: u64) -> usize {
    seed as usize % 5 + 1
}

#[test]
fn groups_and_channels_first_images_of_bytes_are_the_plain_loop_to_the_bit() {
    let mut rng = Rng::new(5);
    for seed in 0..or_few(40, 2) {
        let groups = rng.between(2, or_few(9, 2));
        let width = rng.pick(or_few(&[1, 2, 3, 4, 5, 8, 16, 31], &[1, 4]));
        let outputs = rng.between(1, or_few(40, 9));
        let outputs = rng.pick(&[1, width, outputs]);
        check(&random_case(&mut rng, groups, width, outputs), seed);
        let mut case = random_case(&mut rng, rng_width(seed + 1).min(2), seed as usize % 6, outputs);
        case.strides.input = ImageStrides::nchw(case.shape.input, case.shape.in_channels);
        check(&case, seed);
        case.shape.dilation = [1, 1];
        case.shape.kernel[1] = rng.between(2, 7);
        case.shape.input[1] = rng.between(7, or_few(40, 20));
        case.strides = ConvStrides::dense(&case.shape);
        case.strides.input = ImageStrides::nchw(case.shape.input, case.shape.in_channels);
        check(&case, seed);
    }
}

#[test]
fn deep_sums_of_bytes_at_their_ends_are_exact() {
    let mut rng = Rng::new(6);
    for depth in [511, 1024, 4096, 4608].into_iter().take(or_few(4, 1)) {
        let mut case = pointwise(random_case(&mut rng, 1, depth, or_few(37, 1)));
        case.shape = Conv2dShape { batch: 1, input: or_few([4, 9], [1, 2]), ..case.shape };
        case.strides = ConvStrides::dense(&case.shape);
        (0..or_few(4, 1)).for_each(|seed| check(&case, seed));
    }
}

#[test]
fn the_product_of_matrices_of_bytes_is_a_convolution_of_a_line() {
    let bytes = QuadNumbers {
        image: ByteSign::Unsigned,
        weights: ByteSign::Unsigned,
        zero: WeightZero::None,
        output: StoredSum::I32,
    };
    let product = QuadConv2d::product(&GemmShape::dense(3, 2, 5), &bytes, &[], Isa::Scalar, 1).unwrap();
    let a: Vec<u8> = (0..15).collect();
    let b: Vec<f32> = (0..10).map(|i| i as f32).collect();
    let mut packed = vec![0.0; product.packed_len()];
    product.pack(&b, WeightStrides { o: 1, i: 2, h: 0, w: 0 }, &mut packed);
    let mut c = [0i32; 6];
    let none = std::ptr::null_mut();
    run(&product, &[output(&mut c), input(&a), input(&packed), none, none, none]);
    assert_eq!(c, [60, 70, 160, 195, 260, 320]);
}

#[test]
fn what_can_not_be_done_is_refused() {
    let shape = GemmShape::dense(3, 2, 5);
    let made = |output: StoredSum, steps: &[SumStep]| {
        let [image, weights] = SIGNS;
        let bytes = QuadNumbers { image, weights, zero: WeightZero::None, output };
        QuadConv2d::product(&shape, &bytes, steps, Isa::Scalar, 1).is_some()
    };
    assert!(made(StoredSum::I32, &[]));
    assert!(!made(StoredSum::I32, &[SumStep::Round]));
    assert!(made(StoredSum::F32, &[SumStep::Round; QuadConv2d::MOST_STEPS]));
    assert!(!made(StoredSum::F32, &[SumStep::Round; QuadConv2d::MOST_STEPS + 1]));
    assert!(made(StoredSum::U8, &[SumStep::Residual, SumStep::Round]));
    assert!(!made(StoredSum::U8, &[SumStep::Residual, SumStep::Residual]));
}
