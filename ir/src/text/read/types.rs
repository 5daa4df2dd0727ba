//! Parser of types.

use super::{Alias, Read, TextReader};
use crate::attrs::AttrData;
use crate::diag::did_you_mean;
use crate::entities::{Attr, Type};
use crate::text::lexer::TokenKind;
use crate::types::{Dim, FloatKind, Signedness, TypeData, VectorDim};

/// The maximal width of an integer.
const MAX_WIDTH: u32 = (1 << 24) - 1;

/// One size in the text.
enum WrittenSize {
    Known(u64),
    Unknown,
    Scalable(u64),
}

impl<'c> TextReader<'c> {
    /// A type.
    pub(in crate::text) fn ty(&mut self) -> Read<Type> {
        match self.token.kind {
            TokenKind::Word => self.builtin_type(),
            TokenKind::Bang => self.nested(|reader| reader.dialect_type()),
            TokenKind::Byte(b'(') => self.nested(|reader| {
                let (inputs, results) = reader.function_type()?;
                Ok(reader.ctx.ty(TypeData::Function { inputs: inputs.into(), results: results.into() }))
            }),
            _ => Err(self.expected("a type")),
        }
    }

    /// `(types) -> types`.
    pub(super) fn function_type(&mut self) -> Read<(Vec<Type>, Vec<Type>)> {
        let inputs = self.type_list()?;
        self.expect_kind(TokenKind::Arrow, "`->`")?;
        let results = if self.is(b'(') { self.type_list()? } else { vec![self.ty()?] };
        Ok((inputs, results))
    }

    /// `(types)`.
    fn type_list(&mut self) -> Read<Vec<Type>> {
        let mut types = Vec::new();
        self.expect(b'(')?;
        self.list(b')', |reader| {
            types.push(reader.ty()?);
            Ok(())
        })?;
        Ok(types)
    }

    /// Whether the current token begins a builtin type.
    pub(super) fn is_builtin_type(&self) -> bool {
        const SHAPED: [&str; 7] = ["index", "none", "complex", "tuple", "vector", "tensor", "memref"];
        let word = self.spelling();
        self.token.kind == TokenKind::Word
            && (SHAPED.contains(&word) || float_kind(word).is_some() || integer_type(word).is_some())
    }

    fn builtin_type(&mut self) -> Read<Type> {
        let word = self.spelling();
        if let Some((signedness, digits)) = integer_type(word) {
            let Some(width) = digits.parse().ok().filter(|width| *width <= MAX_WIDTH) else {
                let at = self.token.start;
                let word = super::shortened(word);
                return Err(self.fault(at, format!("integers have at most {MAX_WIDTH} bits, found `{word}`")));
            };
            self.advance();
            return Ok(self.ctx.ty(TypeData::Integer { width, signedness }));
        }
        if let Some(kind) = float_kind(word) {
            self.advance();
            return Ok(self.ctx.float(kind));
        }
        match word {
            "index" => {
                self.advance();
                Ok(self.ctx.index())
            }
            "none" => {
                self.advance();
                Ok(self.ctx.ty(TypeData::None))
            }
            "complex" => self.nested(|reader| reader.complex()),
            "tuple" => self.nested(|reader| reader.tuple()),
            "vector" => self.nested(|reader| reader.vector()),
            "tensor" => self.nested(|reader| reader.tensor()),
            "memref" => self.nested(|reader| reader.memref()),
            _ => Err(self.unknown_type(word)),
        }
    }

    fn unknown_type(&mut self, word: &str) -> super::Failed {
        let words = ["index", "none", "complex", "tuple", "vector", "tensor", "memref", "i1", "i32", "i64"];
        let known = words.into_iter().chain(FloatKind::ALL.iter().map(|kind| kind.keyword()));
        let help = did_you_mean(word, known);
        let failed = self.expected("a type");
        if let Some(diagnostic) = self.diagnostics.last_mut() {
            diagnostic.help = help;
        }
        failed
    }

    fn complex(&mut self) -> Read<Type> {
        self.advance();
        self.expect(b'<')?;
        let at = self.token.start;
        let part = self.ty()?;
        if !matches!(self.ctx.type_data(part), TypeData::Integer { .. } | TypeData::Float(_)) {
            return Err(self.fault(at, "the parts of a complex number are integers or floats"));
        }
        self.expect(b'>')?;
        Ok(self.ctx.ty(TypeData::Complex(part)))
    }

    fn tuple(&mut self) -> Read<Type> {
        self.advance();
        self.expect(b'<')?;
        let mut types = Vec::new();
        self.list(b'>', |reader| {
            types.push(reader.ty()?);
            Ok(())
        })?;
        Ok(self.ctx.ty(TypeData::Tuple(types.into())))
    }

    fn vector(&mut self) -> Read<Type> {
        self.advance();
        self.expect(b'<')?;
        let at = self.token.start;
        let mut shape = Vec::new();
        for size in self.sizes()? {
            match size {
                WrittenSize::Known(size) if size > 0 => shape.push(VectorDim { size, scalable: false }),
                WrittenSize::Scalable(size) if size > 0 => shape.push(VectorDim { size, scalable: true }),
                _ => return Err(self.fault(at, "the sizes of a vector are positive numbers")),
            }
        }
        let elem = self.elem(ShapedKind::Vector)?;
        self.expect(b'>')?;
        Ok(self.ctx.ty(TypeData::Vector { shape: shape.into(), elem }))
    }

    fn tensor(&mut self) -> Read<Type> {
        self.advance();
        self.expect(b'<')?;
        if self.eat_unranked()? {
            let elem = self.elem(ShapedKind::Tensor)?;
            self.expect(b'>')?;
            return Ok(self.ctx.ty(TypeData::UnrankedTensor { elem }));
        }
        let shape = self.dims()?;
        let elem = self.elem(ShapedKind::Tensor)?;
        let (shape, encoding) = if self.eat(b',') { self.encoding(shape)? } else { (shape, None) };
        self.expect(b'>')?;
        Ok(self.ctx.ty(TypeData::Tensor { shape, elem, encoding }))
    }

    fn memref(&mut self) -> Read<Type> {
        self.advance();
        self.expect(b'<')?;
        if self.eat_unranked()? {
            let elem = self.elem(ShapedKind::MemRef)?;
            let space = if self.eat(b',') { self.memory_space()? } else { None };
            self.expect(b'>')?;
            return Ok(self.ctx.ty(TypeData::UnrankedMemRef { elem, space }));
        }
        let shape = self.dims()?;
        let elem = self.elem(ShapedKind::MemRef)?;
        let (mut layout, mut space) = (None, None);
        while self.eat(b',') {
            let at = self.token.start;
            let attr = self.attr()?;
            if self.is_layout(attr) && layout.is_none() && space.is_none() {
                layout = Some(attr);
            } else if space.is_none() {
                space = Some(attr);
            } else {
                return Err(
                    self.fault(at, "a memref has a layout and a memory space, found a third attribute")
                );
            }
        }
        self.expect(b'>')?;
        let layout = layout.filter(|layout| !self.is_identity(*layout, shape.len()));
        let space = self.non_default(space);
        Ok(self.ctx.ty(TypeData::MemRef { shape, elem, layout, space }))
    }

    /// The type of the elements of a shaped type.
    fn elem(&mut self, shaped: ShapedKind) -> Read<Type> {
        let at = self.token.start;
        let elem = self.ty()?;
        let is_possible = match self.ctx.type_data(elem) {
            TypeData::Integer { .. } | TypeData::Float(_) | TypeData::Index | TypeData::Opaque { .. } => true,
            TypeData::Complex(_) | TypeData::Vector { .. } => shaped != ShapedKind::Vector,
            TypeData::MemRef { .. } | TypeData::UnrankedMemRef { .. } => shaped == ShapedKind::MemRef,
            _ => false,
        };
        if is_possible {
            return Ok(elem);
        }
        let elem = crate::text::short_type(self.ctx, elem);
        Err(self.fault(at, format!("a {} has no elements of type `{elem}`", shaped.name())))
    }

    fn memory_space(&mut self) -> Read<Option<Attr>> {
        let space = self.attr()?;
        Ok(self.non_default(Some(space)))
    }

    /// Memory space 0 is the default, and equal to an absent one.
    fn non_default(&self, space: Option<Attr>) -> Option<Attr> {
        space.filter(|space| !matches!(self.ctx.attr_data(*space), AttrData::Integer { value: 0, ty } if *ty == self.ctx.int(64)))
    }

    /// Whether an attribute after a memref's element type is its layout. Maps and strides are layouts, and so
    /// are dialects' attributes with a name that says so.
    fn is_layout(&self, attr: Attr) -> bool {
        match self.ctx.attr_data(attr) {
            AttrData::AffineMap(_) | AttrData::Strided(_) => true,
            AttrData::Opaque { body, .. } => match body.first() {
                Some(crate::types::OpaquePiece::Text(text)) => text.contains("layout"),
                _ => false,
            },
            _ => false,
        }
    }

    fn is_identity(&self, layout: Attr, rank: usize) -> bool {
        match self.ctx.attr_data(layout) {
            AttrData::AffineMap(map) => map.is_identity() && map.dims as usize == rank,
            _ => false,
        }
    }

    /// `*x`, if present.
    fn eat_unranked(&mut self) -> Read<bool> {
        if !self.is(b'*') {
            return Ok(false);
        }
        let at = self.token.end;
        if self.bytes().get(at) != Some(&b'x') {
            self.advance();
            return Err(self.expected("`x` after `*`"));
        }
        self.resume(at + 1);
        Ok(true)
    }

    /// The sizes of a tensor or memref.
    fn dims(&mut self) -> Read<Box<[Dim]>> {
        let at = self.token.start;
        let sizes = self.sizes()?;
        let dims = sizes.into_iter().map(|size| match size {
            WrittenSize::Known(size) => Some(Dim::Known(size)),
            WrittenSize::Unknown => Some(Dim::Unknown),
            WrittenSize::Scalable(_) => None,
        });
        let dims: Option<Box<[Dim]>> = dims.collect();
        dims.ok_or_else(|| self.fault(at, "only vectors have scalable sizes"))
    }

    /// Sizes, each followed by an `x`: `4x?x[8]x`. They are parsed byte by byte, because `x8xf32` would be
    /// one token.
    fn sizes(&mut self) -> Read<Vec<WrittenSize>> {
        let mut sizes = Vec::new();
        loop {
            let start = self.token.start;
            let bytes = self.bytes();
            let open = usize::from(bytes.get(start) == Some(&b'['));
            let digits =
                bytes[(start + open).min(bytes.len())..].iter().take_while(|b| b.is_ascii_digit()).count();
            let end = start + open + digits;
            let (size, end) = match (open, bytes.get(start)) {
                (0, Some(b'?')) => (WrittenSize::Unknown, start + 1),
                (0, Some(b'0'..=b'9')) => (WrittenSize::Known(self.size(start, end)?), end),
                (1, _) if digits > 0 && bytes.get(end) == Some(&b']') => {
                    (WrittenSize::Scalable(self.size(start + 1, end)?), end + 1)
                }
                (1, _) => return Err(self.expected("a size")),
                _ => return Ok(sizes),
            };
            if bytes.get(end) != Some(&b'x') {
                self.resume(end);
                return Err(self.expected("`x` after a size"));
            }
            if sizes.len() == MOST_SIZES {
                return Err(self.fault(start, format!("a shape has at most {MOST_SIZES} sizes")));
            }
            sizes.push(size);
            self.resume(end + 1);
        }
    }

    fn size(&mut self, start: usize, end: usize) -> Read<u64> {
        match self.text[start..end].parse::<i64>() {
            Ok(size) => Ok(size as u64),
            Err(_) => Err(self.fault(start, "a size is at most 2^63 - 1")),
        }
    }

    fn dialect_type(&mut self) -> Read<Type> {
        let name = self.spelling();
        let Some((dialect, body)) = self.dialect_symbol()? else {
            return match self.type_aliases.get(&name[1..]) {
                Some(&Alias { value, height }) => {
                    self.reach(height)?;
                    self.advance();
                    Ok(value)
                }
                None => Err(self.unknown_alias(name)),
            };
        };
        Ok(self.ctx.ty(TypeData::Opaque { dialect, body }))
    }
}

/// More sizes than any shape has in practice.
const MOST_SIZES: usize = 1 << 12;

/// The kind of a shaped type.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ShapedKind {
    Vector,
    Tensor,
    MemRef,
}

impl ShapedKind {
    fn name(self) -> &'static str {
        match self {
            ShapedKind::Vector => "vector",
            ShapedKind::Tensor => "tensor",
            ShapedKind::MemRef => "memref",
        }
    }
}

/// The signedness and the digits of `i32`, `si8`, `ui64`.
fn integer_type(word: &str) -> Option<(Signedness, &str)> {
    let (signedness, digits) = match word.as_bytes() {
        [b'i', ..] => (Signedness::Signless, &word[1..]),
        [b's', b'i', ..] => (Signedness::Signed, &word[2..]),
        [b'u', b'i', ..] => (Signedness::Unsigned, &word[2..]),
        _ => return None,
    };
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some((signedness, digits))
}

fn float_kind(word: &str) -> Option<FloatKind> {
    FloatKind::ALL.iter().copied().find(|kind| kind.keyword() == word)
}
