//! The steps after a product of bytes, on numbers where they could go wrong.

use crate::common::{Rng, input, output, run, ways};
use crate::quads::{SIGNS, STORED, after, is_same};
use kernels::{
    Activation, GemmShape, Isa, QuadConv2d, QuadNumbers, StepOperand, StoredSum, SumStep, WeightStrides,
    WeightZero,
};

const ONE: StepOperand = StepOperand::One;
const CHANNEL: StepOperand = StepOperand::Channel;

/// Numbers next to the ends of the bytes' range, ties, numbers far away, infinities and NaN.
fn numbers() -> Vec<f32> {
    let ends =
        [0.0, -0.0, 0.5, 1.5, -0.5, -1.0, 127.0, 127.5, 128.5, -127.5, -128.0, -128.5, -129.0, 254.5, 255.0];
    let far = [255.5, 256.0, 1e9, -1e9, 2147483520.0, -2147483648.0, 2147483648.0, 4294967296.0, -1e30, 1e30];
    let no = [f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 16777217.0, -300.5, 300.5];
    let near = [-0.3, 0.3, 382.5, 383.5, -382.5, 510.5, -510.5, 0.49999997, 8388607.5, 8388609.0];
    ends.into_iter().chain(far).chain(no).chain(near).collect()
}

/// Checks steps that are applied to the number 1 in each output channel: the first multiplies it by the
/// numbers above. The others have these operands.
fn check(steps: &[SumStep], operands: &[&[f32]], stored: StoredSum, isa: Isa) {
    let factors = numbers();
    let mut rest = operands.iter();
    let mut want: Vec<f32> = factors.clone();
    for step in &steps[1..] {
        let numbers = match step {
            SumStep::Mul(_) | SumStep::Add(_) | SumStep::Sub(_) | SumStep::Div(_) => {
                *rest.next().expect("each has an operand")
            }
            _ => &[],
        };
        want.iter_mut().enumerate().for_each(|(o, value)| *value = after(*step, numbers, o, *value));
    }
    let [image, weights] = SIGNS;
    let bytes = QuadNumbers { image, weights, zero: WeightZero::None, output: stored };
    let shape = GemmShape::dense(3, factors.len(), 1);
    let kernel = QuadConv2d::product(&shape, &bytes, steps, isa, 1).expect("it can be done");
    let mut packed = vec![f32::NAN; kernel.packed_len()];
    kernel.pack(&vec![1.0; factors.len()], WeightStrides { o: 1, i: 0, h: 0, w: 0 }, &mut packed);
    let mut found = vec![0f32; 3 * factors.len()];
    let none = std::ptr::null_mut();
    let mut all =
        vec![output(&mut found), input(&[1u8; 3]), input(&packed), none, none, none, input(&factors)];
    all.extend(operands.iter().map(|numbers| input(numbers)));
    run(&kernel, &all);
    let found: Vec<u8> = found.iter().flat_map(|word| word.to_ne_bytes()).collect();
    for (at, (want, factor)) in want.iter().zip(&factors).cycle().take(3 * factors.len()).enumerate() {
        let want = match stored {
            StoredSum::U8 => vec![*want as u8],
            StoredSum::I8 => vec![*want as i8 as u8],
            _ if want.is_nan() => f32::NAN.to_ne_bytes().to_vec(),
            _ => want.to_ne_bytes().to_vec(),
        };
        let found = &found[at * want.len()..][..want.len()];
        let is_right = is_same(stored, found, &want);
        assert!(
            is_right,
            "{found:?}, not {want:?}: {factor} as {stored:?} on {isa:?}: {steps:?}, {operands:?}"
        );
    }
}

#[test]
fn numbers_at_the_ends_of_bytes_are_stored_as_the_plain_ones() {
    let added = [0.0, 128.0, 3.0, -7.0, 255.0, -255.0, 256.0, 0.5, f32::NAN, 1e10];
    // Ends that are integers, and ends that are not.
    let ends = [[3.0, 90.0], [2.75, 90.0], [3.0, 89.5], [-900.0, 90.0]];
    for (added, [lo, hi]) in added.into_iter().flat_map(|added| ends.map(|ends| (added, ends))) {
        for (isa, stored) in ways().into_iter().flat_map(|way| STORED.map(|stored| (way.0, stored))) {
            let clip = SumStep::Function(Activation::Clip { lo, hi });
            let rounded = [SumStep::Mul(CHANNEL), SumStep::Round, SumStep::Add(ONE), clip];
            let cut = SIGNS.map(|sign| [SumStep::Mul(CHANNEL), SumStep::Byte(sign)]);
            let all = [&rounded[..1], &rounded[..2], &rounded[..3], &rounded, &cut[0], &cut[1]];
            for steps in all.into_iter().filter(|_| stored.bytes() == 1) {
                let operands: &[&[f32]] = if steps.len() > 2 { &[&[added]] } else { &[] };
                check(steps, operands, stored, isa);
            }
        }
    }
}

/// Quantizations whose bytes are dequantized, with equal and unequal zero points, some of which are none.
#[test]
fn bytes_between_steps_are_the_plain_ones() {
    let rng = &mut Rng::new(12);
    let zeros = [0.0, 128.0, 3.0, -7.0, 255.0, -255.0, -0.0, 256.0, 0.5, f32::NAN];
    let ends = [[0.0, 255.0], [-128.0, 127.0], [-255.0, 255.0], [3.0, 90.0], [0.0, 254.0], [0.5, 255.0]];
    let isas = ways().into_iter().map(|(isa, ..)| isa);
    for (isa, sign) in isas.flat_map(|isa| SIGNS.map(|sign| (isa, sign))) {
        for zero in zeros.into_iter().flat_map(|zero| [zero; 8]) {
            let other = rng.pick(&zeros);
            let mut steps = vec![SumStep::Mul(CHANNEL), SumStep::Round];
            let mut operands: Vec<Vec<f32>> = Vec::new();
            if rng.between(0, 3) > 0 {
                steps.push(SumStep::Add(ONE));
                operands.push(vec![zero]);
            }
            if rng.between(0, 1) == 0 {
                let [lo, hi] = rng.pick(&ends);
                steps.push(SumStep::Function(Activation::Clip { lo, hi }));
            }
            steps.push(SumStep::Byte(sign));
            if rng.between(0, 3) > 0 {
                let operand = rng.pick(&[ONE, ONE, ONE, CHANNEL]);
                let taken = rng.pick(&[zero, zero, other]);
                steps.push(SumStep::Sub(operand));
                operands.push(vec![taken; if operand == ONE { 1 } else { numbers().len() }]);
            }
            // Steps after it still have their own operands.
            steps.extend([SumStep::Mul(CHANNEL), SumStep::Sub(ONE)]);
            operands.push(rng.floats(numbers().len()));
            operands.push(vec![0.25]);
            let rest = rng.between(0, 2);
            steps.truncate(steps.len() - rest);
            operands.truncate(operands.len() - rest);
            let operands: Vec<&[f32]> = operands.iter().map(Vec::as_slice).collect();
            check(&steps, &operands, StoredSum::F32, isa);
        }
    }
}
