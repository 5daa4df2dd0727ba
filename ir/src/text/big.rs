//! Big natural numbers: the arithmetic that exact decimal text needs.

use std::cmp::Ordering;

/// A natural number: words, least significant first, the last not zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Big(Vec<u32>);

impl Big {
    /// The number `value`.
    pub(super) fn new(value: u128) -> Big {
        let words = (0..4).map(|i| (value >> (32 * i)) as u32).collect();
        Big(words).trimmed()
    }

    /// The number with these decimal digits.
    pub(super) fn from_decimal(digits: &[u8]) -> Big {
        let mut big = Big(Vec::new());
        for chunk in digits.chunks(9) {
            let value = chunk.iter().fold(0, |value, digit| value * 10 + u32::from(digit - b'0'));
            big.mul_add(10u32.pow(chunk.len() as u32), value);
        }
        big
    }

    /// The number of these 64-bit words, least significant first.
    pub(super) fn from_words64(words: impl Iterator<Item = u64>) -> Big {
        Big(words.flat_map(|word| [word as u32, (word >> 32) as u32]).collect()).trimmed()
    }

    /// Whether it is zero.
    pub(super) fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether exactly one bit is set.
    pub(super) fn is_power_of_two(&self) -> bool {
        self.0.iter().map(|word| word.count_ones()).sum::<u32>() == 1
    }

    /// The number of bits.
    pub(super) fn bits(&self) -> u32 {
        match self.0.last() {
            Some(last) => self.0.len() as u32 * 32 - last.leading_zeros(),
            None => 0,
        }
    }

    /// The low 64-bit words, up to the highest one that is not zero.
    pub(super) fn words64(&self) -> Vec<u64> {
        self.0
            .chunks(2)
            .map(|pair| u64::from(pair[0]) | u64::from(*pair.get(1).unwrap_or(&0)) << 32)
            .collect()
    }

    /// Multiplies by `factor` and adds `value`.
    pub(super) fn mul_add(&mut self, factor: u32, value: u32) {
        let mut carry = u64::from(value);
        for word in &mut self.0 {
            let product = u64::from(*word) * u64::from(factor) + carry;
            *word = product as u32;
            carry = product >> 32;
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
    }

    /// Multiplies by `base` to the power `exponent`.
    pub(super) fn mul_power(&mut self, base: u32, mut exponent: u32) {
        let step = if base == 5 { 13 } else { 9 };
        while exponent > 0 {
            let count = exponent.min(step);
            self.mul_add(base.pow(count), 0);
            exponent -= count;
        }
    }

    /// Divides by `divisor`, and returns the remainder.
    pub(super) fn div_small(&mut self, divisor: u32) -> u32 {
        let mut remainder = 0u64;
        for word in self.0.iter_mut().rev() {
            let value = remainder << 32 | u64::from(*word);
            *word = (value / u64::from(divisor)) as u32;
            remainder = value % u64::from(divisor);
        }
        self.trim();
        remainder as u32
    }

    /// Divides by ten to the power `exponent`, and drops the remainder.
    pub(super) fn div_power_of_ten(&mut self, mut exponent: u32) {
        while exponent > 0 {
            let count = exponent.min(9);
            self.div_small(10u32.pow(count));
            exponent -= count;
        }
    }

    /// The number times two to the power `count`.
    pub(super) fn shl(&self, count: u32) -> Big {
        let words = (count / 32) as usize;
        let bits = count % 32;
        let mut shifted = vec![0; words];
        let mut carry = 0;
        for &word in &self.0 {
            let value = u64::from(word) << bits | carry;
            shifted.push(value as u32);
            carry = value >> 32;
        }
        shifted.push(carry as u32);
        Big(shifted).trimmed()
    }

    /// The quotient, and whether there is a remainder. The quotient must be less than 2^128.
    ///
    /// Shift and subtract: time is the quotient's bits times the numbers' words.
    pub(super) fn div(&self, divisor: &Big) -> (u128, bool) {
        let mut rest = self.clone();
        let mut quotient = 0;
        let top = self.bits().saturating_sub(divisor.bits());
        for bit in (0..=top).rev() {
            quotient <<= 1;
            let shifted = divisor.shl(bit);
            if rest.compare(&shifted) != Ordering::Less {
                rest.subtract(&shifted);
                quotient |= 1;
            }
        }
        (quotient, !rest.is_zero())
    }

    /// Decimal digits, most significant first; none for zero.
    pub(super) fn decimal(mut self) -> Vec<u8> {
        let mut digits = Vec::new();
        while !self.is_zero() {
            let mut chunk = self.div_small(1_000_000_000);
            for _ in 0..9 {
                digits.push(b'0' + (chunk % 10) as u8);
                chunk /= 10;
            }
        }
        while digits.last() == Some(&b'0') {
            digits.pop();
        }
        digits.reverse();
        digits
    }

    fn compare(&self, other: &Big) -> Ordering {
        let by_length = self.0.len().cmp(&other.0.len());
        by_length.then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }

    /// Subtracts a number that is at most this one.
    fn subtract(&mut self, other: &Big) {
        let mut borrow = 0i64;
        for (i, word) in self.0.iter_mut().enumerate() {
            let difference = i64::from(*word) - i64::from(*other.0.get(i).unwrap_or(&0)) - borrow;
            *word = difference as u32;
            borrow = i64::from(difference < 0);
        }
        self.trim();
    }

    fn trim(&mut self) {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }

    fn trimmed(mut self) -> Big {
        self.trim();
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_digits_come_back() {
        for digits in ["1", "4294967296", "340282366920938463463374607431768211456000000000000001"] {
            assert_eq!(Big::from_decimal(digits.as_bytes()).decimal(), digits.as_bytes());
        }
    }

    #[test]
    fn quotients_are_exact() {
        let (quotient, rest) =
            Big::from_decimal(b"1000000000000000000000000000001").div(&Big::new(1_000_000_000_000_000));
        assert_eq!((quotient, rest), (1_000_000_000_000_000, true));
        assert_eq!(Big::new(12).shl(100).div(&Big::new(3).shl(98)), (16, false));
    }
}
