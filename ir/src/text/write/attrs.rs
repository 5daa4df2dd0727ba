//! Printer of attributes.

use super::TextWriter;
use super::aliases::AliasSubject;
use crate::attrs::AttrData;
use crate::entities::{Attr, Ident, Type};
use crate::text::big::Big;
use crate::text::quote::write_quoted;
use crate::text::{float, lexer};
use crate::types::{FloatKind, Signedness, TypeData};

/// Whether the default type (`i64`, `f64`) is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Usual {
    /// It is written.
    Shown,
    /// It is omitted.
    Hidden,
}

impl TextWriter<'_> {
    /// An attribute.
    pub(in crate::text) fn attr(&mut self, attr: Attr) {
        if self.buffer.len() > self.limit {
            return;
        }
        if !self.alias(AliasSubject::Attr(attr)) {
            self.attr_with(attr, Usual::Shown);
        }
    }

    /// An attribute, in full even if it has a name.
    pub(super) fn attr_itself(&mut self, attr: Attr) {
        self.attr_with(attr, Usual::Shown);
    }

    /// An attribute in an array: the types `i64` and `f64` are omitted.
    pub(super) fn attr_in_list(&mut self, attr: Attr) {
        if self.buffer.len() > self.limit {
            return;
        }
        if !self.alias(AliasSubject::Attr(attr)) {
            self.attr_with(attr, Usual::Hidden);
        }
    }

    fn attr_with(&mut self, attr: Attr, usual: Usual) {
        match self.ctx.attr_data(attr) {
            AttrData::Dict(entries) => self.dict(entries),
            AttrData::Unit => self.buffer.push_str("unit"),
            AttrData::Bool(value) => self.put(format_args!("{value}")),
            AttrData::Integer { value, ty } => {
                self.integer(*value, *ty);
                if *ty != self.ctx.int(64) || usual == Usual::Shown {
                    self.type_suffix(*ty);
                }
            }
            AttrData::WideInteger { words, ty } => {
                self.wide_integer(words, *ty);
                self.type_suffix(*ty);
            }
            AttrData::Float { bits, ty } => {
                let is_hex = self.float(*bits, *ty);
                let is_usual = matches!(self.ctx.type_data(*ty), TypeData::Float(FloatKind::F64)) && !is_hex;
                if !is_usual || usual == Usual::Shown {
                    self.type_suffix(*ty);
                }
            }
            AttrData::String { bytes, ty } => {
                self.quoted(bytes);
                if let Some(ty) = ty {
                    self.type_suffix(*ty);
                }
            }
            AttrData::Type(ty) => self.ty(*ty),
            AttrData::Array(items) => {
                self.buffer.push('[');
                self.list(items, |writer, item| writer.attr_in_list(*item));
                self.buffer.push(']');
            }
            AttrData::SymbolRef { root, nested } => {
                self.symbol(*root);
                for symbol in nested {
                    self.buffer.push_str("::");
                    self.symbol(*symbol);
                }
            }
            AttrData::Opaque { dialect, body, ty } => {
                self.opaque('#', self.ctx.str(*dialect), body);
                if let Some(ty) = ty {
                    self.type_suffix(*ty);
                }
            }
            AttrData::Dims(dims) => self.sizes(dims),
            AttrData::Strided(layout) => self.strided(&layout.strides, layout.offset),
            AttrData::Distinct { inner, .. } => self.distinct(attr, *inner),
            AttrData::Location(location) => self.location_attr(*location),
            AttrData::AffineMap(map) => self.affine_map(map),
            AttrData::AffineSet(set) => self.integer_set(set),
            elements => self.elements(elements),
        }
    }

    /// ` : type`; nothing for type `none`.
    pub(super) fn type_suffix(&mut self, ty: Type) {
        if !matches!(self.ctx.type_data(ty), TypeData::None) {
            self.buffer.push_str(" : ");
            self.ty(ty);
        }
    }

    /// `{a = 1 : i32, b}`.
    pub(super) fn dict(&mut self, entries: &[(Ident, Attr)]) {
        self.buffer.push('{');
        self.list(entries, |writer, (name, value)| writer.named(*name, *value));
        self.buffer.push('}');
    }

    fn named(&mut self, name: Ident, value: Attr) {
        self.word(self.ctx.str(name));
        if !matches!(self.ctx.attr_data(value), AttrData::Unit) {
            self.buffer.push_str(" = ");
            self.attr(value);
        }
    }

    /// A name, in quotes if it is not a word.
    pub(super) fn word(&mut self, name: &str) {
        if lexer::is_bare_word(name.as_bytes()) {
            self.buffer.push_str(name)
        } else {
            self.quoted(name.as_bytes())
        }
    }

    /// `@name`.
    pub(super) fn symbol(&mut self, name: Ident) {
        self.buffer.push('@');
        self.word(self.ctx.str(name));
    }

    /// Bytes in quotes.
    pub(in crate::text) fn quoted(&mut self, bytes: &[u8]) {
        write_quoted(&mut self.buffer, bytes).expect("a buffer takes all text");
    }

    pub(super) fn integer(&mut self, value: i128, ty: Type) {
        match self.ctx.type_data(ty) {
            TypeData::Integer { signedness: Signedness::Unsigned, .. } => {
                self.put(format_args!("{}", value as u128))
            }
            _ => self.put(format_args!("{value}")),
        }
    }

    /// An integer of more than 128 bits.
    pub(super) fn wide_integer(&mut self, words: &[u64], ty: Type) {
        let is_unsigned =
            matches!(self.ctx.type_data(ty), TypeData::Integer { signedness: Signedness::Unsigned, .. });
        let negative = !is_unsigned && words.last().is_some_and(|last| *last >> 63 == 1);
        let mut carry = negative;
        let magnitude = words.iter().map(|word| {
            if negative {
                let (word, overflows) = (!word).overflowing_add(u64::from(carry));
                carry = overflows;
                word
            } else {
                *word
            }
        });
        let digits = Big::from_words64(magnitude).decimal();
        let digits =
            if digits.is_empty() { "0".to_owned() } else { String::from_utf8_lossy(&digits).into_owned() };
        self.put(format_args!("{}{digits}", if negative { "-" } else { "" }));
    }

    /// A float. Returns whether it is written in hexadecimal.
    pub(super) fn float(&mut self, bits: u128, ty: Type) -> bool {
        let TypeData::Float(kind) = self.ctx.type_data(ty) else {
            unreachable!("floats have float types");
        };
        let (text, is_hex) = float::text(*kind, bits);
        self.buffer.push_str(&text);
        is_hex
    }

    fn strided(&mut self, strides: &[Option<i64>], offset: Option<i64>) {
        let number = |writer: &mut Self, value: Option<i64>| match value {
            Some(value) => writer.put(format_args!("{value}")),
            None => writer.buffer.push('?'),
        };
        self.buffer.push_str("strided<[");
        self.list(strides, |writer, stride| number(writer, *stride));
        self.buffer.push(']');
        if offset != Some(0) {
            self.buffer.push_str(", offset: ");
            number(self, offset);
        }
        self.buffer.push('>');
    }

    fn distinct(&mut self, attr: Attr, inner: Attr) {
        let count = self.distinct.len();
        let number = *self.distinct.entry(attr).or_insert(count);
        self.put(format_args!("distinct[{number}]<"));
        if !matches!(self.ctx.attr_data(inner), AttrData::Unit) {
            self.attr(inner);
        }
        self.buffer.push('>');
    }
}
