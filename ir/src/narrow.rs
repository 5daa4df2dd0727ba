//! Rounding of `f64` numbers to 16-bit floats in one step.
//!
//! [`half`] truncates the lower half of an `f64` before it rounds, or rounds to `f32` first, so numbers just
//! above the midpoint of two neighbours become the lower one.

use half::{bf16, f16};

/// The nearest `f16`, ties to even.
pub fn nearest_f16(x: f64) -> f16 {
    f16::from_f32(rounded_to_odd(x))
}

/// The nearest `bf16`, ties to even.
pub fn nearest_bf16(x: f64) -> bf16 {
    bf16::from_f32(rounded_to_odd(x))
}

/// One of the two `f32` around a number that is not an `f32`: the one whose last bit is 1. Rounding it again,
/// to at least two bits fewer, gives the same result as rounding the number itself (Boldo and Melquiond,
/// "Emulation of a FMA and Correctly Rounded Sums: Proved Algorithms Using Rounding to Odd", 2008).
fn rounded_to_odd(x: f64) -> f32 {
    let nearest = x as f32;
    if f64::from(nearest) == x || x.is_nan() {
        return nearest;
    }
    let is_beyond = f64::from(nearest).abs() > x.abs();
    f32::from_bits((nearest.to_bits() - u32::from(is_beyond)) | 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The nearest finite number of a type, ties to even; numbers beyond the greatest are rounded as if there
    /// were one more.
    fn nearest<T: Copy>(x: f64, count: u16, value: impl Fn(u16) -> T, number: impl Fn(T) -> f64) -> f64 {
        // Positive numbers have the same order as their bits.
        let at = |bits: u16| number(value(bits));
        let magnitude = x.abs();
        let above = (0..count).collect::<Vec<u16>>().partition_point(|bits| at(*bits) <= magnitude) as u16;
        let below = above - 1;
        let next = if above < count { at(above) } else { 2.0 * at(below) - at(below - 1) };
        let down = magnitude - at(below);
        let up = next - magnitude;
        let is_up = up < down || up == down && below % 2 == 1;
        let found = match (is_up, above < count) {
            (true, true) => next,
            (true, false) => f64::INFINITY,
            (false, _) => at(below),
        };
        found.copysign(x)
    }

    #[test]
    fn each_number_is_rounded_once() {
        let f16_of = |x: f64| nearest(x, 0x7c00, f16::from_bits, f64::from);
        let bf16_of = |x: f64| nearest(x, 0x7f80, bf16::from_bits, f64::from);
        // Around the midpoint of two neighbours: the midpoint, and the nearest `f64` above and below it.
        for bits in (0..0x7f7f_u16).step_by(97) {
            let pairs = [
                (f64::from(f16::from_bits(bits)), f64::from(f16::from_bits(bits + 1))),
                (f64::from(bf16::from_bits(bits)), f64::from(bf16::from_bits(bits + 1))),
            ];
            for (below, above) in pairs.into_iter().filter(|(_, above)| above.is_finite()) {
                let middle = f64::midpoint(below, above);
                for x in [below, middle, middle.next_up(), middle.next_down(), -middle.next_up(), above] {
                    assert_eq!(f64::from(nearest_f16(x)), f16_of(x), "{x:e}");
                    assert_eq!(f64::from(nearest_bf16(x)), bf16_of(x), "{x:e}");
                }
            }
        }
        for x in [65519.999, 65520.0, 3.4e38, 3.3961775292304957e38, 1e300, f64::MIN_POSITIVE, 1e-45] {
            assert_eq!(f64::from(nearest_f16(x)), f16_of(x), "{x:e}");
            assert_eq!(f64::from(nearest_bf16(-x)), bf16_of(-x), "{x:e}");
        }
        assert!(nearest_f16(f64::NAN).is_nan() && nearest_bf16(f64::NAN).is_nan());
        assert!(nearest_bf16(f64::NEG_INFINITY) == bf16::NEG_INFINITY);
    }
}
