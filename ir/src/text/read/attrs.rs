//! Parser of attributes.

use std::sync::Arc;

use super::{Alias, Failed, Read, TextReader};
use crate::attrs::{AttrData, Layout};
use crate::diag::did_you_mean;
use crate::entities::{Attr, Ident, Type};
use crate::text::lexer::TokenKind;
use crate::types::{FloatKind, TypeData};

/// Whether the `: type` after an attribute is parsed with it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Suffix {
    /// It is parsed.
    Read,
    /// It is left to the caller.
    Leave,
}

impl<'c> TextReader<'c> {
    /// Parses an attribute.
    pub(in crate::text) fn attr(&mut self) -> Read<Attr> {
        match self.token.kind {
            TokenKind::Text => {
                let bytes = self.string()?;
                let ty = self.type_suffix(Suffix::Read)?;
                Ok(self.ctx.attr(AttrData::String { bytes: bytes.into(), ty }))
            }
            TokenKind::Integer | TokenKind::Float | TokenKind::Byte(b'-') => self.number_attr(),
            TokenKind::At => self.symbol_attr(),
            TokenKind::Hash => self.nested(|reader| reader.hash_attr(Suffix::Read)),
            TokenKind::Byte(b'{') => self.dict(),
            TokenKind::Byte(b'[') => self.nested(|reader| {
                let mut items = Vec::new();
                reader.advance();
                reader.list(b']', |reader| {
                    items.push(reader.attr()?);
                    Ok(())
                })?;
                Ok(reader.ctx.attr(AttrData::Array(items.into())))
            }),
            TokenKind::Byte(b'(') | TokenKind::Bang => self.type_attr(),
            TokenKind::Word => self.nested(|reader| reader.word_attr(Suffix::Read)),
            _ => Err(self.expected("an attribute")),
        }
    }

    fn type_attr(&mut self) -> Read<Attr> {
        let ty = self.ty()?;
        Ok(self.ctx.type_attr(ty))
    }

    /// An attribute that begins with a word.
    pub(super) fn word_attr(&mut self, suffix: Suffix) -> Read<Attr> {
        match self.spelling() {
            "true" | "false" => {
                let value = self.advance() == "true";
                if self.is(b':') && suffix == Suffix::Read {
                    self.type_suffix(suffix)?;
                }
                Ok(self.ctx.attr(AttrData::Bool(value)))
            }
            "unit" => {
                self.advance();
                Ok(self.ctx.unit_attr())
            }
            "dense" => self.dense(),
            "sparse" => self.sparse(),
            "array" => self.dense_array(),
            "dense_resource" => self.resource(),
            "affine_map" => self.affine_map(),
            "affine_set" => self.integer_set(),
            "strided" => self.strided(),
            "distinct" => self.distinct(),
            "loc" => {
                let location = self.attr_location()?;
                Ok(self.ctx.attr(AttrData::Location(location)))
            }
            _ if self.is_builtin_type() => self.type_attr(),
            word => {
                let words =
                    ["true", "false", "unit", "dense", "sparse", "array", "dense_resource", "affine_map"];
                let words = words.into_iter().chain(["affine_set", "strided", "distinct", "loc"]);
                let help = did_you_mean(word, words);
                let failed = self.expected("an attribute");
                if let Some(diagnostic) = self.diagnostics.last_mut() {
                    diagnostic.help = help;
                }
                Err(failed)
            }
        }
    }

    /// `: type`, if it is present and requested.
    fn type_suffix(&mut self, suffix: Suffix) -> Read<Option<Type>> {
        if suffix == Suffix::Read && self.eat(b':') { self.ty().map(Some) } else { Ok(None) }
    }

    /// `#alias`, `#dialect.body`, `#dialect<body>`.
    pub(super) fn hash_attr(&mut self, suffix: Suffix) -> Read<Attr> {
        let name = self.spelling();
        if self.is_dims() {
            return self.dims_attr();
        }
        let Some((dialect, body)) = self.dialect_symbol()? else {
            return match self.attr_aliases.get(&name[1..]) {
                Some(&Alias { value, height }) => {
                    self.reach(height)?;
                    self.advance();
                    Ok(value)
                }
                None => Err(self.unknown_alias(name)),
            };
        };
        let ty = self.type_suffix(suffix)?;
        Ok(self.ctx.attr(AttrData::Opaque { dialect, body, ty }))
    }

    /// Records that nothing is called `name`.
    pub(super) fn unknown_alias(&mut self, name: &str) -> Failed {
        let start = self.token.start;
        let mut known: Vec<&str> = if name.starts_with('!') {
            self.aliases.types.values().map(|ident| self.ctx.str(*ident)).collect()
        } else {
            self.aliases.attrs.values().map(|ident| self.ctx.str(*ident)).collect()
        };
        known.truncate(1000);
        let help = did_you_mean(&name[1..], known)
            .map(|text| text.replacen('`', &name[..1].replace(['#', '!'], "`"), 1));
        let failed = self.fault(start, format!("nothing is called `{}`", super::shortened(name)));
        if let Some(diagnostic) = self.diagnostics.last_mut() {
            diagnostic.help = help;
        }
        failed
    }

    /// Parses a dictionary; the same text is not parsed twice.
    pub(super) fn dict(&mut self) -> Read<Attr> {
        let start = self.token.start;
        let rest = &self.text[start..];
        if let Some((length, attr, height)) = self.memo.dicts.find(rest) {
            self.reach(height)?;
            self.resume(start + length);
            return Ok(attr);
        }
        let outside = std::mem::replace(&mut self.deepest, self.depth);
        let entries = self.nested(|reader| reader.dict_entries())?;
        let attr = self.ctx.dict(entries);
        self.memo.dicts.remember(rest, self.passed - start, attr, self.deepest - self.depth);
        self.deepest = self.deepest.max(outside);
        Ok(attr)
    }

    /// The entries of a dictionary, each name once.
    fn dict_entries(&mut self) -> Read<Vec<(Ident, Attr)>> {
        self.expect(b'{')?;
        let mut entries: Vec<(Ident, Attr, usize)> = Vec::new();
        self.list(b'}', |reader| {
            let at = reader.token.start;
            let name = reader.attr_name()?;
            let value = if reader.eat(b'=') { reader.attr()? } else { reader.ctx.unit_attr() };
            entries.push((name, value, at));
            Ok(())
        })?;
        entries.sort_by_key(|entry| entry.0);
        if let Some(pair) = entries.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let name = self.ctx.str(pair[1].0);
            return Err(
                self.fault(pair[1].2, format!("attribute `{}` is given twice", super::shortened(name)))
            );
        }
        Ok(entries.into_iter().map(|(name, value, _)| (name, value)).collect())
    }

    fn attr_name(&mut self) -> Read<Ident> {
        match self.token.kind {
            TokenKind::Word => {
                let name = self.advance();
                Ok(self.ctx.ident(name))
            }
            TokenKind::Text => self.text_ident(),
            _ => Err(self.expected("the name of an attribute")),
        }
    }

    /// A string that must be UTF-8.
    pub(super) fn text_ident(&mut self) -> Read<Ident> {
        let at = self.token.start;
        let bytes = self.string()?;
        match String::from_utf8(bytes) {
            Ok(text) => Ok(self.ctx.ident(&text)),
            Err(_) => Err(self.fault(at, "a name must be UTF-8")),
        }
    }

    /// A string, with its escapes resolved.
    pub(super) fn string(&mut self) -> Read<Vec<u8>> {
        let at = self.token.start;
        let token = self.expect_kind(TokenKind::Text, "a string")?;
        self.unescape(at + 1, &token[1..token.len() - 1])
    }

    /// The bytes of a string's text that begins at byte `at`, with its escapes resolved.
    pub(super) fn unescape(&mut self, at: usize, text: &str) -> Read<Vec<u8>> {
        let mut bytes = Vec::with_capacity(text.len());
        let mut rest = text.as_bytes();
        while let Some((&byte, tail)) = rest.split_first() {
            rest = tail;
            if byte != b'\\' {
                bytes.push(byte);
                continue;
            }
            let hex = rest.get(..2).and_then(|pair| std::str::from_utf8(pair).ok());
            let code = hex.filter(|pair| pair.bytes().all(|b| b.is_ascii_hexdigit()));
            let (found, length) = match (rest.first(), code) {
                (Some(b'n'), _) => (b'\n', 1),
                (Some(b't'), _) => (b'\t', 1),
                (Some(&escaped @ (b'"' | b'\\')), _) => (escaped, 1),
                (_, Some(pair)) => (u8::from_str_radix(pair, 16).expect("two hexadecimal digits"), 2),
                _ => {
                    let at = at + text.len() - rest.len();
                    return Err(
                        self.fault(at, "expected `n`, `t`, `\"`, `\\` or two hexadecimal digits after `\\`")
                    );
                }
            };
            bytes.push(found);
            rest = &rest[length..];
        }
        Ok(bytes)
    }

    /// The symbol after `@`.
    pub(super) fn symbol(&mut self) -> Read<Ident> {
        let at = self.token.start;
        let token = self.expect_kind(TokenKind::At, "a symbol")?;
        let name = &token[1..];
        if !name.starts_with('"') {
            return Ok(self.ctx.ident(name));
        }
        let bytes = self.unescape(at + 2, &name[1..name.len() - 1])?;
        match String::from_utf8(bytes) {
            Ok(name) if !name.is_empty() => Ok(self.ctx.ident(&name)),
            _ => Err(self.fault(at, "the name of a symbol must be UTF-8 and not empty")),
        }
    }

    fn symbol_attr(&mut self) -> Read<Attr> {
        let root = self.symbol()?;
        let mut nested = Vec::new();
        while self.token.kind == TokenKind::DoubleColon {
            self.advance();
            nested.push(self.symbol()?);
        }
        Ok(self.ctx.attr(AttrData::SymbolRef { root, nested: nested.into() }))
    }

    /// An integer or float with its type.
    fn number_attr(&mut self) -> Read<Attr> {
        let at = self.token.start;
        let literal = self.literal()?;
        let given = self.type_suffix(Suffix::Read)?;
        let ty = given.unwrap_or_else(|| {
            if literal.is_float { self.ctx.float(FloatKind::F64) } else { self.ctx.int(64) }
        });
        match self.ctx.type_data(ty) {
            TypeData::Float(kind) => {
                let bits = self.float_bits(at, &literal, *kind)?;
                Ok(self.ctx.attr(AttrData::Float { bits, ty }))
            }
            TypeData::Integer { .. } | TypeData::Index if !literal.is_float => {
                self.integer_attr(at, &literal, ty)
            }
            _ => Err(self.fault(at, "the type of a number is an integer, index or float type")),
        }
    }

    fn resource(&mut self) -> Read<Attr> {
        self.advance();
        self.expect(b'<')?;
        let key = self.resource_key()?;
        self.expect(b'>')?;
        self.expect(b':')?;
        let ty = self.ty()?;
        Ok(self.ctx.attr(AttrData::Resource { ty, key }))
    }

    /// The name of a resource: a word or a string.
    pub(super) fn resource_key(&mut self) -> Read<Ident> {
        match self.token.kind {
            TokenKind::Word => {
                let name = self.advance();
                Ok(self.ctx.ident(name))
            }
            TokenKind::Text => self.text_ident(),
            _ => Err(self.expected("the name of a resource")),
        }
    }

    fn strided(&mut self) -> Read<Attr> {
        self.advance();
        self.expect(b'<')?;
        self.expect(b'[')?;
        let mut strides = Vec::new();
        self.list(b']', |reader| {
            strides.push(reader.stride()?);
            Ok(())
        })?;
        let mut offset = Some(0);
        if self.eat(b',') {
            self.expect_word("offset")?;
            self.expect(b':')?;
            offset = self.stride()?;
        }
        self.expect(b'>')?;
        Ok(self.ctx.attr(AttrData::Strided(Box::new(Layout { strides: strides.into(), offset }))))
    }

    /// A number, or none for `?`.
    fn stride(&mut self) -> Read<Option<i64>> {
        if self.eat(b'?') {
            return Ok(None);
        }
        let at = self.token.start;
        let literal = self.literal()?;
        match literal.to_i64() {
            Some(value) => Ok(Some(value)),
            None => Err(self.fault(at, "expected `?` or an integer of 64 bits")),
        }
    }

    fn distinct(&mut self) -> Read<Attr> {
        self.advance();
        self.expect(b'[')?;
        let at = self.token.start;
        let digits = self.expect_kind(TokenKind::Integer, "a number")?;
        let Ok(number) = digits.parse::<u64>() else {
            return Err(self.fault(at, "the number of a distinct attribute has at most 64 bits"));
        };
        self.expect(b']')?;
        self.expect(b'<')?;
        let inner = if self.is(b'>') { self.ctx.unit_attr() } else { self.attr()? };
        self.expect(b'>')?;
        if let Some(&known) = self.distinct.get(&number) {
            let same = matches!(self.ctx.attr_data(known), AttrData::Distinct { inner: other, .. } if *other == inner);
            return if same {
                Ok(known)
            } else {
                Err(self.fault(at, "this number wraps another attribute elsewhere"))
            };
        }
        let attr = self.ctx.attr(AttrData::Distinct { id: self.ctx.fresh_distinct(), inner });
        self.distinct.insert(number, attr);
        Ok(attr)
    }

    fn affine_map(&mut self) -> Read<Attr> {
        self.advance();
        self.expect(b'<')?;
        let map = self.affine_map_body()?;
        self.expect(b'>')?;
        Ok(self.ctx.attr(AttrData::AffineMap(Arc::new(map))))
    }

    fn integer_set(&mut self) -> Read<Attr> {
        self.advance();
        self.expect(b'<')?;
        let set = self.integer_set_body()?;
        self.expect(b'>')?;
        Ok(self.ctx.attr(AttrData::AffineSet(Arc::new(set))))
    }
}
