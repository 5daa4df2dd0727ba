//! The inverse cosine transform in integers, from coefficients to samples of a block.
//!
//! The factorization is that of C. Loeffler, A. Ligtenberg and G. Moschytz, "Practical fast 1-D DCT
//! algorithms with 11 multiplications" (ICASSP 1989), over columns and then over rows, like libjpeg's
//! accurate method: factors of 13 bits, two more bits between the two passes, and a rounding after each.

use super::frame::{CoefficientBlock, EDGE};
use super::segments::Quantization;
use crate::onnx::images::{ImageFault, refused};

/// Fractional bits of the factors.
const FACTOR_BITS: u32 = 13;
/// Fractional bits between the passes.
const PASS_BITS: u32 = 2;
/// Both passes multiply by the square root of 8.
const SCALE_BITS: u32 = 3;
/// The greatest magnitude before a pass for 8-bit samples. Above it, the vector code of libjpeg-turbo, which
/// computes in 16 and 32 bits, differs from its portable code.
const MOST: i32 = 8191;

/// A factor in fixed point.
const fn factor(number: f64) -> i32 {
    (number * (1 << FACTOR_BITS) as f64 + 0.5) as i32
}

const A: i32 = factor(0.541_196_100);
const B: i32 = factor(0.765_366_865);
const C: i32 = factor(1.847_759_065);
const D: i32 = factor(1.175_875_602);
const E: [i32; 4] =
    [factor(0.298_631_336), factor(2.053_119_869), factor(3.072_711_026), factor(1.501_321_110)];
const F: [i32; 4] =
    [factor(0.899_976_223), factor(2.562_915_447), factor(1.961_570_560), factor(0.390_180_644)];

/// The samples of a block, row by row.
pub(super) fn samples(block: &CoefficientBlock, quantization: &Quantization) -> Result<[u8; 64], ImageFault> {
    let mut numbers = [0; 64];
    for (number, (coefficient, divisor)) in numbers.iter_mut().zip(block.iter().zip(quantization)) {
        *number = i32::from(*coefficient) * i32::from(*divisor);
    }
    check(&numbers)?;
    for column in 0..EDGE {
        let pass = transform(std::array::from_fn(|row| numbers[row * EDGE + column]));
        for (row, number) in pass.into_iter().enumerate() {
            numbers[row * EDGE + column] = rounded(number, FACTOR_BITS - PASS_BITS);
        }
    }
    check(&numbers)?;
    let mut samples = [0; 64];
    for (row, samples) in numbers.as_chunks::<EDGE>().0.iter().zip(samples.as_chunks_mut::<EDGE>().0) {
        *samples = transform(*row).map(|number| {
            let sample = rounded(number, FACTOR_BITS + PASS_BITS + SCALE_BITS) + 128;
            sample.clamp(0, 255) as u8
        });
    }
    Ok(samples)
}

fn check(numbers: &[i32; 64]) -> Result<(), ImageFault> {
    if numbers.iter().all(|number| (-MOST..=MOST).contains(number)) {
        return Ok(());
    }
    Err(refused("coefficients of JPEG that no samples of 8 bits have"))
}

/// A number without its low bits, rounded to the nearest, halves up.
fn rounded(number: i32, bits: u32) -> i32 {
    (number + (1 << (bits - 1))) >> bits
}

/// The inverse transform of eight numbers, times the square root of 8, with [`FACTOR_BITS`] fractional bits.
fn transform(x: [i32; EDGE]) -> [i32; EDGE] {
    let turned = (x[2] + x[6]) * A;
    let low = turned - x[6] * C;
    let high = turned + x[2] * B;
    let sum = (x[0] + x[4]) << FACTOR_BITS;
    let difference = (x[0] - x[4]) << FACTOR_BITS;
    let even = [sum + high, difference + low, difference - low, sum - high];

    let all = (x[7] + x[3] + x[5] + x[1]) * D;
    let outer = -(x[7] + x[1]) * F[0];
    let inner = -(x[5] + x[3]) * F[1];
    let threes = all - (x[7] + x[3]) * F[2];
    let ones = all - (x[5] + x[1]) * F[3];
    let odd = [
        x[1] * E[3] + outer + ones,
        x[3] * E[2] + inner + threes,
        x[5] * E[1] + inner + ones,
        x[7] * E[0] + outer + threes,
    ];
    std::array::from_fn(|at| if at < 4 { even[at] + odd[at] } else { even[7 - at] - odd[7 - at] })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The transform by its definition.
    fn defined(block: &CoefficientBlock, row: usize, column: usize) -> f64 {
        let cosine = |at: usize, frequency: usize| {
            let scale = if frequency == 0 { 0.125_f64.sqrt() } else { 0.5 };
            scale * (std::f64::consts::PI * (2 * at + 1) as f64 * frequency as f64 / 16.0).cos()
        };
        let terms = block.iter().enumerate();
        let terms = terms.map(|(at, c)| f64::from(*c) * cosine(row, at / 8) * cosine(column, at % 8));
        terms.sum::<f64>() + 128.0
    }

    #[test]
    fn samples_are_near_those_of_the_definition() {
        for seed in 0..50_i32 {
            let block = std::array::from_fn(|at| {
                let number = (seed * 31 + at as i32 * 77) * 7919 % 301;
                if at as i32 % 3 == seed % 3 { (number / 3) as i16 } else { 0 }
            });
            let found = samples(&block, &[1; 64]).unwrap();
            for (at, sample) in found.iter().enumerate() {
                let expected = defined(&block, at / 8, at % 8).clamp(0.0, 255.0);
                assert!((f64::from(*sample) - expected).abs() < 0.6, "{seed} {at}: {sample}, {expected}");
            }
        }
    }

    #[test]
    fn what_no_samples_have_is_refused() {
        let mut block = [0; 64];
        block[0] = 8192;
        assert!(matches!(samples(&block, &[1; 64]), Err(ImageFault::Refused(_))));
        block[0] = 1024;
        assert_eq!(samples(&block, &[1; 64]).unwrap(), [255; 64]);
    }
}
