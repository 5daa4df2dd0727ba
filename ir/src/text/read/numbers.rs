//! Parser of numbers into the bits of their type.

use super::{Failed, Read, TextReader};
use crate::attrs::AttrData;
use crate::entities::{Attr, Type};
use crate::text::big::Big;
use crate::text::float::{self, FloatSign};
use crate::text::lexer::TokenKind;
use crate::types::{FloatKind, Signedness, TypeData};

/// More digits than any integer in practice.
const MAX_DIGITS: usize = 10_000;

/// A number literal.
#[derive(Clone, Copy)]
pub(super) struct NumberLiteral<'c> {
    pub negative: bool,
    /// Digits, without the sign.
    pub text: &'c str,
    pub is_float: bool,
}

impl NumberLiteral<'_> {
    fn is_hex(&self) -> bool {
        !self.is_float && self.text.starts_with("0x")
    }

    /// The magnitude of an integer.
    fn magnitude(&self) -> Option<Big> {
        let digits = self.text.strip_prefix("0x").unwrap_or(self.text);
        if self.is_float || digits.len() > MAX_DIGITS {
            return None;
        }
        if !self.is_hex() {
            return Some(Big::from_decimal(digits.as_bytes()));
        }
        let mut big = Big::new(0);
        for digit in digits.chars() {
            big.mul_add(16, digit.to_digit(16)?);
        }
        Some(big)
    }

    /// The value, if it is an integer of 64 bits.
    pub(super) fn to_i64(self) -> Option<i64> {
        if self.is_float {
            return None;
        }
        let magnitude = match self.text.strip_prefix("0x") {
            Some(digits) => i128::from_str_radix(digits, 16).ok()?,
            None => self.text.parse::<i128>().ok()?,
        };
        i64::try_from(if self.negative { -magnitude } else { magnitude }).ok()
    }
}

/// The range of an integer type.
#[derive(Clone, Copy)]
struct Range {
    width: u32,
    signedness: Signedness,
}

impl Range {
    /// Two's complement of a number in the range, least significant word first, without top words that only
    /// repeat the sign: a number of a type of 2^24 bits takes no more words than it needs.
    fn words(self, sign: FloatSign, magnitude: &Big) -> Option<Vec<u64>> {
        let bits = magnitude.bits();
        let is_lowest = || sign == FloatSign::Minus && bits == self.width && magnitude.is_power_of_two();
        let fits = match (self.signedness, sign) {
            _ if magnitude.is_zero() => true,
            (Signedness::Signed, _) | (Signedness::Signless, FloatSign::Minus) => {
                bits < self.width || is_lowest()
            }
            (Signedness::Signless, FloatSign::Plus) | (Signedness::Unsigned, FloatSign::Plus) => {
                bits <= self.width
            }
            (Signedness::Unsigned, FloatSign::Minus) => false,
        };
        if !fits {
            return None;
        }
        let mut words = magnitude.words64();
        let whole = self.width.div_ceil(64).max(1) as usize;
        words.resize(whole.min(bits as usize / 64 + 1), 0);
        if sign == FloatSign::Minus {
            let mut carry = true;
            for word in &mut words {
                (*word, carry) = (!*word).overflowing_add(u64::from(carry));
            }
        }
        if words.len() == whole {
            self.extend(&mut words);
        }
        self.trim(&mut words);
        Some(words)
    }

    fn trim(self, words: &mut Vec<u64>) {
        let sign = |below: u64| if self.signedness == Signedness::Unsigned { 0 } else { fill(below) };
        while let [.., below, top] = words[..]
            && top == sign(below)
        {
            words.pop();
        }
    }

    /// Repeats the sign bit (or zero) above the width.
    fn extend(self, words: &mut [u64]) {
        let used = self.width % 64;
        let Some(last) = words.last_mut().filter(|_| used > 0) else { return };
        let is_negative = self.signedness != Signedness::Unsigned && *last >> (used - 1) & 1 == 1;
        let mask = u64::MAX << used;
        *last = if is_negative { *last | mask } else { *last & !mask };
    }
}

impl<'c> TextReader<'c> {
    /// An integer or float literal, with its sign.
    pub(super) fn literal(&mut self) -> Read<NumberLiteral<'c>> {
        let negative = self.eat(b'-');
        let is_float = self.token.kind == TokenKind::Float;
        if !is_float && self.token.kind != TokenKind::Integer {
            return Err(self.expected("a number"));
        }
        Ok(NumberLiteral { negative, text: self.advance(), is_float })
    }

    /// The attribute of an integer literal.
    pub(super) fn integer_attr(&mut self, at: usize, literal: &NumberLiteral<'_>, ty: Type) -> Read<Attr> {
        let words = self.integer_words(at, literal, ty)?;
        let data = match self.ctx.type_data(ty) {
            TypeData::Integer { width: 1, signedness: Signedness::Signless } => AttrData::Bool(words[0] != 0),
            TypeData::Integer { width, .. } if *width > 128 => {
                AttrData::WideInteger { words: words.into(), ty }
            }
            TypeData::Integer { signedness, .. } => {
                AttrData::Integer { value: extended(&words, *signedness), ty }
            }
            _ => AttrData::Integer { value: extended(&words, Signedness::Signless), ty },
        };
        Ok(self.ctx.attr(data))
    }

    /// Appends the bytes of an integer literal, extended to the width of an integer or index type.
    pub(super) fn push_integer(
        &mut self,
        at: usize,
        ty: Type,
        width_bytes: usize,
        bytes: &mut Vec<u8>,
    ) -> Read<()> {
        let literal = self.literal()?;
        let words = self.integer_words(at, &literal, ty)?;
        let is_unsigned =
            matches!(self.ctx.type_data(ty), TypeData::Integer { signedness: Signedness::Unsigned, .. });
        let above = words.last().filter(|_| !is_unsigned).map_or(0, |last| fill(*last) as u8);
        let own = words.iter().flat_map(|word| word.to_le_bytes());
        bytes.extend(own.chain(std::iter::repeat(above)).take(width_bytes));
        Ok(())
    }

    /// The words of an integer literal of an integer or index type.
    pub(super) fn integer_words(
        &mut self,
        at: usize,
        literal: &NumberLiteral<'_>,
        ty: Type,
    ) -> Read<Vec<u64>> {
        let range = match self.ctx.type_data(ty) {
            TypeData::Integer { width, signedness } => Range { width: *width, signedness: *signedness },
            _ => Range { width: 64, signedness: Signedness::Signless },
        };
        let words =
            literal.magnitude().and_then(|magnitude| range.words(literal.negative.into(), &magnitude));
        words.ok_or_else(|| {
            let ty = crate::text::short_type(self.ctx, ty);
            self.fault(at, format!("this integer does not fit `{ty}`"))
        })
    }

    /// The bits of a float literal of a format.
    pub(super) fn float_bits(
        &mut self,
        at: usize,
        literal: &NumberLiteral<'_>,
        kind: FloatKind,
    ) -> Read<u128> {
        if literal.is_float {
            return Ok(float::parse(kind, literal.negative.into(), literal.text));
        }
        if !literal.is_hex() || literal.negative {
            return Err(self.not_a_float(at, literal));
        }
        let bits = u128::from_str_radix(&literal.text[2..], 16).ok();
        let bits = bits.filter(|bits| kind.bits() == 128 || bits >> kind.bits() == 0);
        bits.ok_or_else(|| self.fault(at, format!("these bits do not fit `{}`", kind.keyword())))
    }

    fn not_a_float(&mut self, at: usize, literal: &NumberLiteral<'_>) -> Failed {
        let failed = self.fault(at, "expected a float, found an integer");
        let number = super::shortened(literal.text);
        if let Some(diagnostic) = self.diagnostics.last_mut() {
            diagnostic.help = Some(format!("write `{number}.0`, or all bits in hexadecimal"));
        }
        failed
    }
}

/// A word of sign bits.
fn fill(word: u64) -> u64 {
    ((word as i64) >> 63) as u64
}

/// At most two words as one number.
fn extended(words: &[u64], signedness: Signedness) -> i128 {
    match words {
        [low] if signedness == Signedness::Unsigned => i128::from(*low),
        [low] => i128::from(*low as i64),
        [low, high, ..] => (u128::from(*low) | u128::from(*high) << 64) as i128,
        [] => 0,
    }
}
