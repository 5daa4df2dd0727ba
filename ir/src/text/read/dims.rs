//! Parser of symbolic sizes.

use super::{Failed, Read, TextReader};
use crate::attrs::AttrData;
use crate::dims::{self, RESERVED};
use crate::entities::{Attr, DimExpr};
use crate::text::lexer::TokenKind;
use crate::types::Dim;

/// A function that combines two expressions.
type Combine = fn(&crate::Context, DimExpr, DimExpr) -> Option<DimExpr>;

impl TextReader<'_> {
    /// Whether `#optc.dims<` is at the current place.
    pub(super) fn is_dims(&self) -> bool {
        self.spelling() == "#optc.dims" && self.bytes().get(self.token.end) == Some(&b'<')
    }

    /// `#optc.dims<N, 3, H floordiv 2, _>`.
    pub(super) fn dims_attr(&mut self) -> Read<Attr> {
        let mut sizes = Vec::new();
        self.advance();
        self.expect(b'<')?;
        self.list(b'>', |reader| {
            sizes.push(reader.size_entry()?);
            Ok(())
        })?;
        Ok(self.ctx.attr(AttrData::Dims(sizes.into())))
    }

    fn size_entry(&mut self) -> Read<Dim> {
        if self.eat_word("_") {
            return Ok(Dim::Unknown);
        }
        let at = self.token.start;
        let expr = self.dim_expr()?;
        match dims::size(self.ctx, expr) {
            Dim::Unknown => Err(self.fault(at, "a size is at least 0")),
            size => Ok(size),
        }
    }

    /// The text after the element type of a tensor: names for its `?`, or another dialect's encoding.
    pub(super) fn encoding(&mut self, mut shape: Box<[Dim]>) -> Read<(Box<[Dim]>, Option<Attr>)> {
        let at = self.token.start;
        let attr = self.attr()?;
        let AttrData::Dims(sizes) = self.ctx.attr_data(attr) else { return Ok((shape, Some(attr))) };
        let open = shape.iter_mut().filter(|dim| **dim == Dim::Unknown);
        let count = open.count();
        if count != sizes.len() {
            let message = format!("the shape has {count} `?`, found {} sizes for them", sizes.len());
            return Err(self.fault(at, message));
        }
        if let Some(size) = sizes.iter().find_map(|size| size.known()) {
            return Err(self.fault(at, format!("a `?` that is {size} is written as {size}")));
        }
        for (dim, size) in shape.iter_mut().filter(|dim| **dim == Dim::Unknown).zip(sizes) {
            *dim = *size;
        }
        Ok((shape, None))
    }

    /// `N * 2 + max(H - 1, 0)`.
    pub(in crate::text) fn dim_expr(&mut self) -> Read<DimExpr> {
        self.nested(|reader| {
            let mut sum = reader.dim_product()?;
            loop {
                let at = reader.token.start;
                let of: Combine = match reader.token.kind {
                    TokenKind::Byte(b'+') => dims::add,
                    TokenKind::Byte(b'-') => dims::sub,
                    _ => return Ok(sum),
                };
                reader.advance();
                let term = reader.dim_product()?;
                sum = reader.combined(at, of(reader.ctx, sum, term))?;
            }
        })
    }

    fn dim_product(&mut self) -> Read<DimExpr> {
        let mut product = self.dim_operand()?;
        loop {
            let at = self.token.start;
            let of: Combine = match (self.token.kind, self.spelling()) {
                (TokenKind::Byte(b'*'), _) => dims::mul,
                (TokenKind::Word, "floordiv") => dims::floor_div,
                (TokenKind::Word, "ceildiv") => dims::ceil_div,
                (TokenKind::Word, "mod") => dims::modulo,
                _ => return Ok(product),
            };
            self.advance();
            let operand = self.dim_operand()?;
            product = self.combined(at, of(self.ctx, product, operand))?;
        }
    }

    fn combined(&mut self, at: usize, found: Option<DimExpr>) -> Read<DimExpr> {
        let why = "a size that can't be computed: a divisor below 1, too large a number, or too many terms";
        found.ok_or_else(|| self.fault(at, why))
    }

    fn dim_operand(&mut self) -> Read<DimExpr> {
        let at = self.token.start;
        match (self.token.kind, self.spelling()) {
            (TokenKind::Byte(b'-'), _) => {
                self.advance();
                let operand = self.nested(|reader| reader.dim_operand())?;
                let zero = dims::constant(self.ctx, 0);
                self.combined(at, dims::sub(self.ctx, zero, operand))
            }
            (TokenKind::Byte(b'('), _) => {
                self.advance();
                let sum = self.dim_expr()?;
                self.expect(b')')?;
                Ok(sum)
            }
            (TokenKind::Integer, _) => {
                let literal = self.literal()?;
                let value = literal.to_i64().ok_or_else(|| self.fault(at, "numbers have at most 64 bits"))?;
                Ok(dims::constant(self.ctx, value))
            }
            (TokenKind::Word, "min") => self.dim_extreme(dims::min),
            (TokenKind::Word, "max") => self.dim_extreme(dims::max),
            (TokenKind::Word, word) if !RESERVED.contains(&word) => {
                self.advance();
                Ok(dims::symbol(self.ctx, word))
            }
            (TokenKind::Text, _) => {
                let name = self.string()?;
                let name = String::from_utf8(name);
                let name = name.map_err(|_| self.fault(at, "the name of a size is not UTF-8"))?;
                Ok(dims::symbol(self.ctx, &name))
            }
            _ => Err(self.expected("a size: a name, a number, or an expression of them")),
        }
    }

    /// `min(a, b)`.
    fn dim_extreme(&mut self, of: Combine) -> Read<DimExpr> {
        let at = self.token.start;
        let mut found: Option<DimExpr> = None;
        self.advance();
        self.expect(b'(')?;
        self.list(b')', |reader| {
            let next = reader.dim_expr()?;
            found = Some(match found {
                Some(found) => reader.combined(at, of(reader.ctx, found, next))?,
                None => next,
            });
            Ok(())
        })?;
        found.ok_or_else(|| -> Failed { self.fault(at, "the least or greatest of nothing") })
    }
}
