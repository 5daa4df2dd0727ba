//! Floats of every format: parsing from decimal text, and printing as MLIR does.
//!
//! Both directions are exact: a decimal is rounded once, to nearest, ties to even; a value is expanded to all
//! of its decimal digits before it is cut. MLIR writes six significant digits if they read back as the same
//! value, else enough for any value of the format (2 + precision * 59 / 196), rounding halves up. Infinities
//! and NaN are written in hexadecimal (`APFloat::toString` and `printFloatValue`).

use super::big::Big;
use crate::types::FloatKind;

/// The sign of a number, zero included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FloatSign {
    Plus,
    Minus,
}

impl From<bool> for FloatSign {
    fn from(is_negative: bool) -> FloatSign {
        if is_negative { FloatSign::Minus } else { FloatSign::Plus }
    }
}

impl FloatSign {
    fn text(self) -> &'static str {
        match self {
            FloatSign::Plus => "",
            FloatSign::Minus => "-",
        }
    }
}

/// The meaning of a format's greatest exponent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Special {
    /// Infinities and NaN.
    Ieee,
    /// Numbers, except for all ones, which is NaN.
    AllOnes,
    /// Numbers; NaN replaces negative zero.
    NegativeZero,
    /// Numbers only.
    Finite,
    /// The format is only an exponent; all ones is NaN.
    ExponentOnly,
    /// Infinities and NaN, and the integer bit is stored.
    Extended,
}

/// A format: bits of exponent and fraction, bias, and special values.
struct FloatFormat {
    exponent: u32,
    fraction: u32,
    bias: i32,
    special: Special,
}

impl FloatFormat {
    fn of(kind: FloatKind) -> FloatFormat {
        use FloatKind::*;
        let (exponent, fraction, bias, special) = match kind {
            F4E2M1FN => (2, 1, 1, Special::Finite),
            F6E2M3FN => (2, 3, 1, Special::Finite),
            F6E3M2FN => (3, 2, 3, Special::Finite),
            F8E3M4 => (3, 4, 3, Special::Ieee),
            F8E4M3 => (4, 3, 7, Special::Ieee),
            F8E4M3FN => (4, 3, 7, Special::AllOnes),
            F8E4M3FNUZ => (4, 3, 8, Special::NegativeZero),
            F8E4M3B11FNUZ => (4, 3, 11, Special::NegativeZero),
            F8E5M2 => (5, 2, 15, Special::Ieee),
            F8E5M2FNUZ => (5, 2, 16, Special::NegativeZero),
            F8E8M0FNU => (8, 0, 127, Special::ExponentOnly),
            Bf16 => (8, 7, 127, Special::Ieee),
            F16 => (5, 10, 15, Special::Ieee),
            Tf32 => (8, 10, 127, Special::Ieee),
            F32 => (8, 23, 127, Special::Ieee),
            F64 => (11, 52, 1023, Special::Ieee),
            F80 => (15, 63, 16383, Special::Extended),
            F128 => (15, 112, 16383, Special::Ieee),
        };
        FloatFormat { exponent, fraction, bias, special }
    }

    /// Bits of the significand, the hidden one included.
    fn precision(&self) -> u32 {
        self.fraction + 1
    }

    fn exponent_mask(&self) -> u128 {
        (1 << self.exponent) - 1
    }

    fn stored_fraction(&self) -> u32 {
        self.fraction + u32::from(self.special == Special::Extended)
    }

    fn sign_mask(&self) -> u128 {
        match self.special {
            Special::ExponentOnly => 0,
            _ => 1 << (self.exponent + self.stored_fraction()),
        }
    }

    fn sign_bit(&self, sign: FloatSign) -> u128 {
        match sign {
            FloatSign::Plus => 0,
            FloatSign::Minus => self.sign_mask(),
        }
    }

    /// The greatest finite magnitude.
    fn largest(&self) -> u128 {
        let ones = self.exponent_mask() << self.stored_fraction() | ((1 << self.stored_fraction()) - 1);
        match self.special {
            Special::Ieee | Special::Extended => ones - (1 << self.stored_fraction()),
            Special::AllOnes | Special::ExponentOnly => ones - 1,
            Special::NegativeZero | Special::Finite => ones,
        }
    }

    /// The result for a magnitude beyond the greatest.
    fn overflow(&self, sign: FloatSign) -> u128 {
        let sign = self.sign_bit(sign);
        match self.special {
            Special::Ieee => sign | self.exponent_mask() << self.fraction,
            Special::Extended => sign | self.exponent_mask() << 64 | 1 << 63,
            Special::AllOnes => sign | (self.largest() + 1),
            Special::ExponentOnly => self.largest() + 1,
            Special::NegativeZero => self.sign_mask(),
            Special::Finite => sign | self.largest(),
        }
    }

    /// Sign, significand and binary exponent of a finite value; none for infinities and NaN.
    fn decode(&self, bits: u128) -> Option<(FloatSign, u128, i32)> {
        let sign = FloatSign::from(bits & self.sign_mask() != 0);
        let magnitude = bits & !self.sign_mask();
        let is_negative_zero = sign == FloatSign::Minus && magnitude == 0;
        if self.special == Special::NegativeZero && is_negative_zero || magnitude > self.largest() {
            return None;
        }
        let exponent = (magnitude >> self.stored_fraction()) as i32;
        let fraction = magnitude & ((1 << self.stored_fraction()) - 1);
        let hidden = match self.special {
            Special::Extended => 0,
            Special::ExponentOnly => 1,
            _ => u128::from(exponent > 0) << self.fraction,
        };
        let lowest = i32::from(self.special != Special::ExponentOnly);
        let scale = exponent.max(lowest) - self.bias - self.fraction as i32;
        Some((sign, fraction | hidden, scale))
    }

    /// The value nearest to `digits` times ten to the power `exponent`.
    fn encode(&self, sign: FloatSign, digits: &[u8], exponent: i32) -> u128 {
        let mut numerator = Big::from_decimal(digits);
        if numerator.is_zero() {
            return if self.special == Special::NegativeZero { 0 } else { self.sign_bit(sign) };
        }
        let mut divisor = Big::new(1);
        match exponent {
            0.. => numerator.mul_power(10, exponent.unsigned_abs()),
            _ => divisor.mul_power(10, exponent.unsigned_abs()),
        }
        // The quotient gets at least two bits more than the significand; the remainder becomes one sticky
        // bit.
        let shift = self.precision() as i32 + 3 + divisor.bits() as i32 - numerator.bits() as i32;
        match shift {
            0.. => numerator = numerator.shl(shift.unsigned_abs()),
            _ => divisor = divisor.shl(shift.unsigned_abs()),
        }
        let (quotient, has_rest) = numerator.div(&divisor);
        self.round(sign, quotient << 1 | u128::from(has_rest), -shift - 1)
    }

    /// Rounds `quotient * 2^scale` to nearest, ties to even. The last bit of `quotient` may be a sticky bit
    /// for all later ones, as there are at least three beyond the significand.
    fn round(&self, sign: FloatSign, quotient: u128, scale: i32) -> u128 {
        let top = 128 - quotient.leading_zeros() as i32 - 1 + scale;
        let lowest = i32::from(self.special != Special::ExponentOnly) - self.bias;
        let unit = top.max(lowest) - self.fraction as i32;
        let cut = (unit - scale).clamp(1, 127) as u32;
        let kept = quotient >> cut;
        let rest = quotient & ((1 << cut) - 1);
        let half = 1u128 << (cut - 1);
        let is_up = rest > half || rest == half && kept & 1 == 1;
        let significand = kept + u128::from(is_up);
        // A carry out of the fraction raises the exponent, since the two are adjacent in the encoding.
        let biased = (top.max(lowest) + self.bias) as u128;
        let magnitude = match self.special {
            Special::ExponentOnly => biased + (significand >> 1),
            Special::Extended => match significand >> 63 {
                0 => significand,
                1 => biased << 64 | significand,
                _ => (biased + 1) << 64 | significand >> 1,
            },
            _ => match significand >> self.fraction {
                0 => significand,
                _ => ((biased - 1) << self.fraction) + significand,
            },
        };
        if magnitude > self.largest() {
            return self.overflow(sign);
        }
        if magnitude == 0 && self.special == Special::NegativeZero {
            return 0;
        }
        magnitude | self.sign_bit(sign)
    }
}

/// The value of `kind` nearest to a decimal number (`12`, `1.5e-3`) of this sign.
pub(super) fn parse(kind: FloatKind, sign: FloatSign, text: &str) -> u128 {
    /// A bound beyond every format, in digits and in powers of ten.
    const LIMIT: i32 = 20_000;
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let is_tiny = exponent.starts_with('-');
    let exponent: i32 = exponent.parse().unwrap_or(if is_tiny { -LIMIT } else { LIMIT });
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).skip_while(|digit| *digit == b'0').collect();
    let exponent = exponent.saturating_sub(fraction.len() as i32);
    // Digits beyond the limit can only break a tie: one digit represents all of them.
    let excess = digits.len().saturating_sub(LIMIT as usize);
    let mut kept = digits[..digits.len() - excess].to_vec();
    if digits[digits.len() - excess..].iter().any(|digit| *digit != b'0') {
        kept.pop();
        kept.push(b'1');
    }
    let exponent = exponent.saturating_add(excess as i32).clamp(-2 * LIMIT, LIMIT);
    FloatFormat::of(kind).encode(sign, &kept, exponent)
}

/// The text of a value, and whether it is in hexadecimal.
pub(super) fn text(kind: FloatKind, bits: u128) -> (String, bool) {
    let format = FloatFormat::of(kind);
    let Some((sign, significand, scale)) = format.decode(bits) else {
        return (format!("0x{bits:X}"), true);
    };
    let short = rounded(sign, significand, scale, 6);
    let short = if significand == 0 { scientific_zero(sign) } else { short.scientific() };
    if significand == 0 || parse(kind, sign, short.trim_start_matches('-')) == bits {
        return (short, false);
    }
    let precision = 2 + format.precision() as usize * 59 / 196;
    let long = rounded(sign, significand, scale, precision).plain(precision);
    if long.contains('.') { (long, false) } else { (format!("0x{bits:X}"), true) }
}

fn scientific_zero(sign: FloatSign) -> String {
    format!("{}0.000000e+00", sign.text())
}

/// Decimal digits without trailing zeros, and the power of ten of the last.
struct Decimal {
    sign: FloatSign,
    digits: Vec<u8>,
    exponent: i32,
}

/// `significand * 2^scale` to at most `precision` digits, with halves rounded up (like `APFloat::toString`).
fn rounded(sign: FloatSign, significand: u128, scale: i32, precision: usize) -> Decimal {
    let mut big = Big::new(significand);
    let mut exponent = 0;
    match scale {
        0.. => big = big.shl(scale.unsigned_abs()),
        _ => {
            let spare = significand.trailing_zeros().min(scale.unsigned_abs());
            big = Big::new(significand >> (spare % 128));
            exponent = scale + spare as i32;
            big.mul_power(5, exponent.unsigned_abs());
        }
    }
    // Digits far beyond the precision are cut before the rounding. Sometimes all digits that would round up
    // are cut, and so 0.7 as `f32` has no six digits that read back: MLIR's text depends on it.
    let required = (precision as u32 * 196).div_ceil(59);
    let spare_tens = big.bits().saturating_sub(required) * 59 / 196;
    big.div_power_of_ten(spare_tens);
    exponent += spare_tens as i32;
    let mut digits = big.decimal();
    if digits.len() > precision {
        exponent += (digits.len() - precision) as i32;
        let is_up = digits[precision] >= b'5';
        digits.truncate(precision);
        if is_up {
            while digits.last() == Some(&b'9') {
                digits.pop();
                exponent += 1;
            }
            match digits.last_mut() {
                Some(last) => *last += 1,
                None => digits.push(b'1'),
            }
        }
    }
    while digits.len() > 1 && digits.last() == Some(&b'0') {
        digits.pop();
        exponent += 1;
    }
    Decimal { sign, digits, exponent }
}

impl Decimal {
    /// `1.500000e+00`: six digits after the point.
    fn scientific(&self) -> String {
        let digits = String::from_utf8_lossy(&self.digits);
        let (first, rest) = digits.split_at(1);
        let exponent = self.exponent + self.digits.len() as i32 - 1;
        let exponent_sign = if exponent < 0 { '-' } else { '+' };
        format!("{}{first}.{rest:0<6}e{exponent_sign}{:02}", self.sign.text(), exponent.unsigned_abs())
    }

    /// Without an exponent if at most three zeros have to be filled in; else `1.5E+30`.
    fn plain(&self, precision: usize) -> String {
        const MAX_PADDING: i32 = 3;
        let digits = String::from_utf8_lossy(&self.digits);
        let count = self.digits.len() as i32;
        let leading = self.exponent + count - 1;
        let is_scientific = match self.exponent {
            0.. => self.exponent > MAX_PADDING || (count + self.exponent) as usize > precision,
            _ => leading < 0 && -leading > MAX_PADDING,
        };
        if is_scientific {
            let (first, rest) = digits.split_at(1);
            let rest = if rest.is_empty() { "0" } else { rest };
            return format!("{}{first}.{rest}E{leading:+}", self.sign.text());
        }
        let whole = count + self.exponent;
        match (self.exponent, whole) {
            (0.., _) => format!("{}{digits}{}", self.sign.text(), "0".repeat(self.exponent as usize)),
            (_, 1..) => {
                let (whole, fraction) = digits.split_at(whole as usize);
                format!("{}{whole}.{fraction}", self.sign.text())
            }
            _ => format!("{}0.{}{digits}", self.sign.text(), "0".repeat(whole.unsigned_abs() as usize)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: FloatKind, bits: u128, expected: &str) {
        assert_eq!(text(kind, bits).0, expected);
    }

    #[test]
    fn six_digits_are_written_where_they_suffice() {
        check(FloatKind::F32, 1.0f32.to_bits().into(), "1.000000e+00");
        check(FloatKind::F32, (-0.1f32).to_bits().into(), "-1.000000e-01");
        check(FloatKind::F64, 1.5e300f64.to_bits().into(), "1.500000e+300");
        check(FloatKind::F64, (-0.0f64).to_bits().into(), "-0.000000e+00");
    }

    #[test]
    fn six_digits_are_cut_before_they_are_rounded() {
        check(FloatKind::F32, 0.7f32.to_bits().into(), "0.699999988");
        check(FloatKind::F32, 1e-8f32.to_bits().into(), "9.99999993E-9");
        check(FloatKind::F32, 0.6f32.to_bits().into(), "6.000000e-01");
    }

    #[test]
    fn other_values_get_all_their_digits() {
        check(FloatKind::F32, 0.123_456_79f32.to_bits().into(), "0.123456791");
        check(FloatKind::F64, std::f64::consts::PI.to_bits().into(), "3.1415926535897931");
        check(FloatKind::F32, 16_777_215f32.to_bits().into(), "0x4B7FFFFF");
    }

    #[test]
    fn what_is_not_finite_is_hexadecimal() {
        check(FloatKind::F32, f32::INFINITY.to_bits().into(), "0x7F800000");
        check(FloatKind::F8E4M3FN, 0x7F, "0x7F");
        check(FloatKind::F8E4M3FNUZ, 0x80, "0x80");
    }

    #[test]
    fn every_small_float_reads_back_from_its_text() {
        for kind in FloatKind::ALL.iter().copied().filter(|kind| kind.bits() <= 16) {
            for bits in 0..1u128 << kind.bits() {
                let (text, is_hex) = text(kind, bits);
                let sign = FloatSign::from(text.starts_with('-'));
                let found = if is_hex { bits } else { parse(kind, sign, text.trim_start_matches('-')) };
                assert_eq!(found, bits, "{kind:?} {text}");
            }
        }
    }

    #[test]
    fn decimals_are_rounded_as_the_standard_library_rounds_them() {
        for text in
            ["0.1", "3.4028236e38", "1e-45", "7e-46", "8388608.5", "16777217", "1.17549429e-38", "0.3e-400"]
        {
            assert_eq!(
                parse(FloatKind::F32, FloatSign::Plus, text),
                text.parse::<f32>().unwrap().to_bits().into(),
                "{text}"
            );
            assert_eq!(
                parse(FloatKind::F64, FloatSign::Minus, text),
                (-text.parse::<f64>().unwrap()).to_bits().into(),
                "{text}"
            );
        }
    }
}
