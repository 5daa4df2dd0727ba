//! Printer of constants' elements.

use super::TextWriter;
use crate::attrs::{AttrData, DenseData, Splat};
use crate::entities::{Attr, Type};
use crate::text::read::element_bytes;
use crate::types::{Dim, Signedness, TypeData};

/// More elements than this are written in hexadecimal.
const MAX_PLAIN: usize = 100;

/// Whether many elements are written in hexadecimal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hex {
    /// They are.
    Allowed,
    /// They are written in decimal.
    Never,
}

impl TextWriter<'_> {
    /// `dense`, `sparse`, `dense_resource`, `array`.
    pub(super) fn elements(&mut self, attr: &AttrData) {
        match attr {
            AttrData::Dense { ty, data } => {
                self.buffer.push_str("dense<");
                self.dense_data(*ty, data, Hex::Allowed);
                self.buffer.push('>');
                self.type_suffix(*ty);
            }
            AttrData::Sparse { ty, indices, values } => {
                self.buffer.push_str("sparse<");
                if !self.is_empty(*indices) {
                    self.dense_inside(*indices, Hex::Never);
                    self.buffer.push_str(", ");
                    self.dense_inside(*values, Hex::Allowed);
                }
                self.buffer.push('>');
                self.type_suffix(*ty);
            }
            AttrData::Resource { ty, key } => {
                self.buffer.push_str("dense_resource<");
                self.word(self.ctx.str(*key));
                self.buffer.push('>');
                self.type_suffix(*ty);
            }
            AttrData::DenseArray { elem, bytes } => self.dense_array(*elem, bytes),
            other => unreachable!("not elements: {other:?}"),
        }
    }

    fn is_empty(&self, attr: Attr) -> bool {
        match self.ctx.attr_data(attr) {
            AttrData::Dense { ty, .. } => self.extents(*ty).contains(&0),
            _ => true,
        }
    }

    fn dense_inside(&mut self, attr: Attr, hex: Hex) {
        if let AttrData::Dense { ty, data } = self.ctx.attr_data(attr) {
            self.dense_data(*ty, data, hex);
        }
    }

    fn extents(&self, ty: Type) -> Vec<usize> {
        match self.ctx.type_data(ty) {
            TypeData::Tensor { shape, .. } => {
                shape.iter().map(|dim| if let Dim::Known(size) = dim { *size as usize } else { 0 }).collect()
            }
            TypeData::Vector { shape, .. } => shape.iter().map(|dim| dim.size as usize).collect(),
            _ => Vec::new(),
        }
    }

    fn dense_data(&mut self, ty: Type, data: &DenseData, hex: Hex) {
        let elem = self.ctx.elem(ty);
        let sizes = self.extents(ty);
        match data {
            DenseData::Strings(strings) if strings.len() == 1 => self.quoted(&strings[0]),
            DenseData::Strings(strings) => {
                let count = strings.len();
                self.nested_elements(&sizes, count, |writer, i| writer.quoted(&strings[i]));
            }
            DenseData::Bytes { splat: Splat::One, bytes } => self.element(elem, bytes),
            DenseData::Bytes { bytes, .. } => {
                let width = element_bytes(self.ctx.type_data(elem), |part| self.ctx.type_data(part));
                let width = width.expect("elements have a number format");
                let count = bytes.len() / width;
                if count > MAX_PLAIN && hex == Hex::Allowed {
                    return self.hex_elements(elem, bytes);
                }
                self.nested_elements(&sizes, count, |writer, i| {
                    writer.element(elem, &bytes[i * width..(i + 1) * width]);
                });
            }
        }
    }

    /// Elements, nested in one pair of brackets for each size.
    fn nested_elements(&mut self, sizes: &[usize], count: usize, mut element: impl FnMut(&mut Self, usize)) {
        for i in 0..count {
            if self.buffer.len() > self.limit {
                return;
            }
            // The number of innermost sizes that begin (end) a row with this element.
            let rows = |at: usize| {
                let mut size = 1;
                sizes
                    .iter()
                    .rev()
                    .take_while(|row| {
                        size *= **row;
                        at.is_multiple_of(size)
                    })
                    .count()
            };
            if i > 0 {
                self.buffer.push_str(", ");
            }
            (0..rows(i)).for_each(|_| self.buffer.push('['));
            element(self, i);
            (0..rows(i + 1)).for_each(|_| self.buffer.push(']'));
        }
    }

    /// One element, from its bytes.
    fn element(&mut self, elem: Type, bytes: &[u8]) {
        match self.ctx.type_data(elem) {
            TypeData::Integer { width: 1, .. } => self.put(format_args!("{}", bytes[0] != 0)),
            TypeData::Complex(part) => {
                let (real, imaginary) = bytes.split_at(bytes.len() / 2);
                self.buffer.push('(');
                self.element(*part, real);
                self.buffer.push(',');
                self.element(*part, imaginary);
                self.buffer.push(')');
            }
            TypeData::Float(_) => {
                self.float(unsigned(bytes), elem);
            }
            TypeData::Integer { width, signedness } if *width > 128 => {
                let is_negative =
                    *signedness != Signedness::Unsigned && bytes.last().is_some_and(|b| *b >> 7 == 1);
                let fill = if is_negative { 0xFF } else { 0 };
                let words = bytes.chunks(8).map(|chunk| {
                    let mut word = [fill; 8];
                    word[..chunk.len()].copy_from_slice(chunk);
                    u64::from_le_bytes(word)
                });
                let words: Vec<u64> = words.collect();
                self.wide_integer(&words, elem);
            }
            TypeData::Integer { signedness: Signedness::Unsigned, .. } => {
                self.put(format_args!("{}", unsigned(bytes)));
            }
            _ => {
                let unused = 128 - 8 * bytes.len() as u32;
                let value = (unsigned(bytes) << unused) as i128 >> unused;
                self.put(format_args!("{value}"));
            }
        }
    }

    fn hex_elements(&mut self, elem: Type, bytes: &[u8]) {
        let is_bool = matches!(self.ctx.type_data(elem), TypeData::Integer { width: 1, .. });
        self.buffer.push_str("\"0x");
        if is_bool {
            bytes.chunks(8).for_each(|bits| {
                let byte = bits.iter().rev().fold(0, |byte, bit| byte << 1 | bit);
                self.hex_byte(byte);
            })
        } else {
            bytes.iter().for_each(|byte| self.hex_byte(*byte))
        }
        self.buffer.push('"');
    }

    pub(super) fn hex_byte(&mut self, byte: u8) {
        const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
        self.buffer.push(DIGITS[usize::from(byte >> 4)] as char);
        self.buffer.push(DIGITS[usize::from(byte & 15)] as char);
    }

    fn dense_array(&mut self, elem: Type, bytes: &[u8]) {
        self.buffer.push_str("array<");
        self.ty(elem);
        let width = element_bytes(self.ctx.type_data(elem), |part| self.ctx.type_data(part));
        let width = width.expect("the elements of an array have a number format");
        if !bytes.is_empty() {
            self.buffer.push_str(": ");
            self.list(bytes.chunks_exact(width), |writer, element| writer.element(elem, element));
        }
        self.buffer.push('>');
    }
}

/// At most 16 little-endian bytes.
fn unsigned(bytes: &[u8]) -> u128 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u128::from(*byte))
}
