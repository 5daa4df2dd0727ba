//! Parser of affine maps and integer sets.

use rustc_hash::FxHashMap;

use super::{Read, TextReader};
use crate::affine::{AffineExpr, AffineMap, AffineOp, Constraint, IntegerSet};
use crate::text::lexer::TokenKind;

/// Names of dimensions and symbols.
type AffineNames<'c> = FxHashMap<&'c str, AffineExpr>;

impl<'c> TextReader<'c> {
    /// `(d0)[s0] -> (d0 + s0)`.
    pub(super) fn affine_map_body(&mut self) -> Read<AffineMap> {
        let (dims, symbols, names) = self.affine_names()?;
        self.expect_kind(TokenKind::Arrow, "`->`")?;
        self.expect(b'(')?;
        let mut results = Vec::new();
        self.list(b')', |reader| {
            results.push(reader.affine_sum(&names)?);
            Ok(())
        })?;
        Ok(AffineMap { dims, symbols, results })
    }

    /// `(d0)[s0] : (d0 - s0 >= 0)`.
    pub(super) fn integer_set_body(&mut self) -> Read<IntegerSet> {
        let (dims, symbols, names) = self.affine_names()?;
        self.expect(b':')?;
        self.expect(b'(')?;
        let mut constraints = Vec::new();
        self.list(b')', |reader| {
            let lhs = reader.affine_sum(&names)?;
            let constraint = match reader.token.kind {
                TokenKind::AtLeast => Constraint::AtLeast,
                TokenKind::Equals => Constraint::Equal,
                _ => return Err(reader.expected("`>=` or `==`")),
            };
            reader.advance();
            let rhs = reader.affine_sum(&names)?;
            constraints.push((lhs - rhs, constraint));
            Ok(())
        })?;
        Ok(IntegerSet { dims, symbols, constraints })
    }

    fn affine_names(&mut self) -> Read<(u32, u32, AffineNames<'c>)> {
        let mut names = AffineNames::default();
        self.expect(b'(')?;
        let dims = self.affine_name_list(b')', AffineExpr::Dim, &mut names)?;
        let mut symbols = 0;
        if self.eat(b'[') {
            symbols = self.affine_name_list(b']', AffineExpr::Symbol, &mut names)?;
        }
        Ok((dims, symbols, names))
    }

    fn affine_name_list(
        &mut self,
        close: u8,
        make: fn(u32) -> AffineExpr,
        names: &mut AffineNames<'c>,
    ) -> Read<u32> {
        let mut count = 0;
        self.list(close, |reader| {
            let at = reader.token.start;
            let name = reader.expect_kind(TokenKind::Word, "a name")?;
            if names.insert(name, make(count)).is_some() {
                return Err(reader.fault(at, format!("`{}` is named twice", super::shortened(name))));
            }
            count += 1;
            Ok(())
        })?;
        Ok(count)
    }

    fn affine_sum(&mut self, names: &AffineNames<'c>) -> Read<AffineExpr> {
        self.nested(|reader| {
            let mut sum = reader.affine_product(names)?;
            let mut terms = 0;
            loop {
                let is_minus = reader.is(b'-');
                if !is_minus && !reader.is(b'+') {
                    return Ok(sum);
                }
                terms += 1;
                reader.reach(terms)?;
                reader.advance();
                let term = reader.affine_product(names)?;
                sum = if is_minus { sum - term } else { sum + term };
            }
        })
    }

    fn affine_product(&mut self, names: &AffineNames<'c>) -> Read<AffineExpr> {
        let mut product = self.affine_operand(names)?;
        let mut factors = 0;
        loop {
            let op = match (self.token.kind, self.spelling()) {
                (TokenKind::Byte(b'*'), _) => AffineOp::Mul,
                (TokenKind::Word, "mod") => AffineOp::Mod,
                (TokenKind::Word, "floordiv") => AffineOp::FloorDiv,
                (TokenKind::Word, "ceildiv") => AffineOp::CeilDiv,
                _ => return Ok(product),
            };
            factors += 1;
            self.reach(factors)?;
            let at = self.token.start;
            self.advance();
            let rhs = self.affine_operand(names)?;
            product = self.affine_binary(at, op, product, rhs)?;
        }
    }

    fn affine_binary(
        &mut self,
        at: usize,
        op: AffineOp,
        lhs: AffineExpr,
        rhs: AffineExpr,
    ) -> Read<AffineExpr> {
        let is_affine = match op {
            AffineOp::Add => true,
            AffineOp::Mul => lhs.is_symbolic() || rhs.is_symbolic(),
            _ => rhs.is_symbolic(),
        };
        if !is_affine {
            return Err(self.fault(at, "not affine: one side must be free of dimensions"));
        }
        Ok(AffineExpr::binary(op, lhs, rhs))
    }

    fn affine_operand(&mut self, names: &AffineNames<'c>) -> Read<AffineExpr> {
        let at = self.token.start;
        match self.token.kind {
            TokenKind::Byte(b'-') => {
                self.advance();
                let operand = self.nested(|reader| reader.affine_operand(names))?;
                Ok(AffineExpr::binary(AffineOp::Mul, operand, AffineExpr::Constant(-1)))
            }
            TokenKind::Byte(b'(') => {
                self.advance();
                let sum = self.affine_sum(names)?;
                self.expect(b')')?;
                Ok(sum)
            }
            TokenKind::Integer => {
                let literal = self.literal()?;
                let value =
                    literal.to_i64().ok_or_else(|| self.fault(at, "constants have at most 64 bits"))?;
                Ok(AffineExpr::Constant(value))
            }
            TokenKind::Word => {
                let name = self.advance();
                match names.get(name) {
                    Some(expr) => Ok(expr.clone()),
                    None => Err(self
                        .fault(at, format!("no dimension or symbol is called `{}`", super::shortened(name)))),
                }
            }
            _ => Err(self.expected("an affine expression")),
        }
    }
}
