//! Tests of arithmetic between quantizations, against the plain meaning of each step.

use super::*;
use crate::quads::ByteSign;
use crate::scalar;

/// A pseudo-random number generator.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

const FUNCTIONS: [StepFunction; 8] = [
    StepFunction::Add,
    StepFunction::Sub,
    StepFunction::SubFrom,
    StepFunction::Mul,
    StepFunction::Div,
    StepFunction::DivInto,
    StepFunction::Max,
    StepFunction::Min,
];
const NUMBERS: [StepNumber; 3] = [StepNumber::F32, StepNumber::U8, StepNumber::I8];
const FLOATS: [f32; 12] =
    [0.0, -0.0, 0.5, -1.5, 2.5, 127.5, -128.5, 300.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e-40];

fn cut(sign: ByteSign, x: f32) -> f32 {
    match sign {
        ByteSign::Unsigned => f32::from(x as u8),
        ByteSign::Signed => f32::from(x as i8),
    }
}

/// The value after all steps, from the elements of the operands.
fn computed(steps: &[RequantizeStep], elements: &[f32]) -> f32 {
    let mut value = 0.0;
    let mut aside = 0.0;
    for step in steps {
        let number = |source: StepSource| match source {
            StepSource::Operand(operand) => elements[operand as usize],
            StepSource::Number(number) => number,
            StepSource::Aside => aside,
        };
        value = match *step {
            RequantizeStep::Load(source) => number(source),
            RequantizeStep::SetAside => {
                aside = value;
                value
            }
            RequantizeStep::Round => value.round_ties_even(),
            RequantizeStep::Byte(sign) => cut(sign, value),
            RequantizeStep::Apply(function, source) => {
                let other = number(source);
                match function {
                    StepFunction::Add => value + other,
                    StepFunction::Sub => value - other,
                    StepFunction::SubFrom => other - value,
                    StepFunction::Mul => value * other,
                    StepFunction::Div => value / other,
                    StepFunction::DivInto => other / value,
                    StepFunction::Max => scalar::max(other, value),
                    StepFunction::Min => scalar::min(other, value),
                }
            }
        };
    }
    value
}

/// Random steps on a number of operands.
fn random_steps(chance: &mut Chance, operands: usize, count: usize) -> Vec<RequantizeStep> {
    let mut steps = Vec::new();
    let source = |chance: &mut Chance| match chance.below(4) {
        0 => StepSource::Number(chance.of(&FLOATS)),
        1 => StepSource::Aside,
        _ => StepSource::Operand(chance.below(operands) as u32),
    };
    for at in 0..count {
        steps.push(match if at == 0 { 0 } else { chance.below(9) } {
            0 => RequantizeStep::Load(StepSource::Operand(chance.below(operands) as u32)),
            1 => RequantizeStep::SetAside,
            2 => RequantizeStep::Round,
            3 => RequantizeStep::Byte(chance.of(&[ByteSign::Unsigned, ByteSign::Signed])),
            _ => RequantizeStep::Apply(chance.of(&FUNCTIONS), source(chance)),
        });
    }
    steps
}

/// Whether elements may be repeated along axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repeats {
    Nothing,
    Elements,
}

/// A tensor's memory, with room around it, and the layout of a box in it.
struct Layout {
    /// Aligned as elements have to be.
    words: Vec<u32>,
    /// Of the first element, in elements.
    start: i64,
    strides: Vec<i64>,
}

impl Layout {
    /// A random layout of a box: axes in some order, with gaps, reversed, or, if it may be, broadcast.
    fn random(chance: &mut Chance, sizes: &[usize], number: usize, repeats: Repeats) -> Layout {
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        if chance.below(3) == 0 {
            order.rotate_left(chance.below(sizes.len()));
        }
        let mut strides = vec![0; sizes.len()];
        let mut extent = 1 + chance.below(2) as i64 * chance.below(3) as i64;
        let mut start = 0;
        for axis in order.into_iter().rev() {
            if repeats == Repeats::Elements && chance.below(3) == 0 {
                continue;
            }
            strides[axis] = extent;
            extent = extent * sizes[axis].max(1) as i64 + chance.below(3) as i64;
            if chance.below(6) == 0 {
                start += strides[axis] * (sizes[axis].max(1) as i64 - 1);
                strides[axis] = -strides[axis];
            }
        }
        Layout { words: vec![0; ((extent as usize + 1) * number).div_ceil(4)], start, strides }
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: words are plain bytes.
        unsafe { std::slice::from_raw_parts(self.words.as_ptr().cast(), 4 * self.words.len()) }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: words are plain bytes.
        unsafe { std::slice::from_raw_parts_mut(self.words.as_mut_ptr().cast(), 4 * self.words.len()) }
    }

    fn place(&self, index: &[usize]) -> usize {
        let offset = index.iter().zip(&self.strides).map(|(index, stride)| *index as i64 * stride);
        (self.start + offset.sum::<i64>()) as usize
    }
}

/// Each index of a box.
fn indices(sizes: &[usize]) -> Vec<Vec<usize>> {
    let index = |at: usize| {
        let mut rest = at;
        let mut index = vec![0; sizes.len()];
        for axis in (0..sizes.len()).rev() {
            index[axis] = rest % sizes[axis];
            rest /= sizes[axis];
        }
        index
    };
    (0..sizes.iter().product()).map(index).collect()
}

/// Stores a value as the kernel says.
fn stored(output: StepNumber, value: f32) -> Vec<u8> {
    match output {
        StepNumber::U8 => vec![value as u8],
        StepNumber::I8 => vec![(value as i8).cast_unsigned()],
        _ => value.to_le_bytes().to_vec(),
    }
}

/// Fills a tensor with bytes, or with floats among which the unusual ones are frequent.
fn fill(chance: &mut Chance, layout: &mut Layout, number: StepNumber) {
    match number {
        StepNumber::F32 => {
            for element in layout.bytes_mut().chunks_exact_mut(4) {
                let usual = (chance.below(2000) as f32 - 1000.0) / 7.0;
                let float = if chance.below(4) == 0 { chance.of(&FLOATS) } else { usual };
                element.copy_from_slice(&float.to_le_bytes());
            }
        }
        _ => layout.bytes_mut().iter_mut().for_each(|byte| *byte = chance.below(256) as u8),
    }
}

fn same(output: StepNumber, found: &[u8], expected: &[u8]) -> bool {
    let is_nan = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().unwrap()).is_nan();
    found == expected || output == StepNumber::F32 && is_nan(found) && is_nan(expected)
}

/// The memory of the result after a run.
fn expected_bytes(
    sizes: &[usize],
    steps: &[RequantizeStep],
    out: &Layout,
    output: StepNumber,
    operands: &[StepNumber],
    layouts: &[Layout],
) -> Vec<u8> {
    let mut expected = out.bytes().to_vec();
    for index in indices(sizes) {
        let of_operand = |(number, layout): (&StepNumber, &Layout)| {
            let at = layout.place(&index) * number.bytes();
            // SAFETY: the layout has this element.
            unsafe { element(*number, layout.bytes().as_ptr().add(at)) }
        };
        let elements: Vec<f32> = operands.iter().zip(layouts).map(of_operand).collect();
        let at = out.place(&index) * output.bytes();
        expected[at..at + output.bytes()].copy_from_slice(&stored(output, computed(steps, &elements)));
    }
    expected
}

/// Runs random steps on operands with random layouts, and compares each byte of the result's memory. If it is
/// `tied`, the result is the first operand.
fn check(chance: &mut Chance, sizes: &[usize], isa: Isa, tied: Tied) {
    let operands: Vec<StepNumber> = (0..=chance.below(4)).map(|_| chance.of(&NUMBERS)).collect();
    let count = 1 + chance.below(14);
    let steps = random_steps(chance, operands.len(), count);
    let output = match (tied, operands[0]) {
        (Tied::No, _) => chance.of(&NUMBERS),
        (Tied::ToFirst, StepNumber::F32) => StepNumber::F32,
        (Tied::ToFirst, _) => chance.of(&[StepNumber::U8, StepNumber::I8]),
    };
    let mut out = Layout::random(chance, sizes, output.bytes(), Repeats::Nothing);
    out.bytes_mut().fill(0xa5);
    let mut layouts = Vec::new();
    for (at, number) in operands.iter().enumerate() {
        let mut layout = match tied {
            Tied::ToFirst if at == 0 => {
                Layout { words: out.words.clone(), start: out.start, strides: out.strides.clone() }
            }
            _ => Layout::random(chance, sizes, number.bytes(), Repeats::Elements),
        };
        fill(chance, &mut layout, *number);
        layouts.push(layout);
    }
    if tied == Tied::ToFirst {
        out.words.clone_from(&layouts[0].words);
    }
    let width = output.bytes();
    let expected = expected_bytes(sizes, &steps, &out, output, &operands, &layouts);
    let strides: Vec<Vec<i64>> =
        std::iter::once(&out).chain(&layouts).map(|layout| layout.strides.clone()).collect();
    let what = Requantization { steps: &steps, operands: &operands, output };
    let mut kernel = Requantize::new(&what, sizes, &strides, isa, 2);
    // Small boxes in parts too.
    kernel.parts = kernel.parts.min(1) * (1 + chance.below(3)) as u32;
    let mut table = vec![out.bytes_mut().as_mut_ptr().wrapping_add(out.start as usize * width)];
    for (number, layout) in operands.iter().zip(&mut layouts) {
        table.push(layout.bytes_mut().as_mut_ptr().wrapping_add(layout.start as usize * number.bytes()));
    }
    if tied == Tied::ToFirst {
        table[1] = table[0];
    }
    // The last part first, so that writes past a part's end are seen.
    for part in (0..kernel.parts()).rev() {
        // SAFETY: the operands have the extents of their layouts; no scratch is used.
        unsafe { kernel.entry()(kernel.as_bytes().as_ptr(), table.as_ptr(), part, std::ptr::null_mut()) }
    }
    let pairs = out.bytes().chunks_exact(width).zip(expected.chunks_exact(width));
    for (at, (found, expected)) in pairs.enumerate() {
        let what = format!("{isa:?}, {sizes:?}, {steps:?} of {operands:?}, {output:?} {at}");
        assert!(same(output, found, expected), "{what}: {found:?}, not {expected:?}");
    }
}

/// Whether the result is the first operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tied {
    No,
    ToFirst,
}

#[test]
fn random_steps_on_random_layouts_mean_what_each_step_says() {
    let mut chance = Chance(5);
    for round in 0..if cfg!(miri) { 4 } else { 1000 } {
        let most = if cfg!(miri) { 3 } else { 9 };
        let mut sizes: Vec<usize> =
            (0..1 + chance.below(Requantize::MOST_AXES)).map(|_| chance.below(most).max(1)).collect();
        // Rows about as long as the vectors of a chunk; sometimes there is nothing.
        if let Some(last) = sizes.last_mut() {
            *last =
                if chance.below(30) == 0 { 0 } else { chance.of(&[1, 3, 16, 31, 32, 33, 63, 64, 65, 130]) };
        }
        while sizes.len() > 1 && sizes.iter().product::<usize>() > if cfg!(miri) { 100 } else { 4000 } {
            sizes.remove(0);
        }
        let tied = if round % 3 == 0 { Tied::ToFirst } else { Tied::No };
        for isa in Isa::available() {
            check(&mut chance, &sizes, isa, tied);
        }
    }
}

#[test]
#[should_panic(expected = "an operand of")]
fn a_step_reads_an_operand_that_exists() {
    let steps = [RequantizeStep::Load(StepSource::Operand(1))];
    let what = Requantization { steps: &steps, operands: &[StepNumber::U8], output: StepNumber::F32 };
    Requantize::new(&what, &[4], &[vec![1], vec![1]], Isa::detect(), 1);
}
