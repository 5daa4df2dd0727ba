//! Size arithmetic of type inference: on known, symbolic and unknown sizes.

use super::{Ranges, constant};
use crate::context::Context;
use crate::entities::DimExpr;
use crate::types::Dim;

/// An expression as a size: a number if it is constant, unknown if it is below 0.
pub fn size(ctx: &Context, expr: DimExpr) -> Dim {
    match ctx.dim_expr(expr).constant() {
        Some(value) => u64::try_from(value).map_or(Dim::Unknown, Dim::Known),
        None => Dim::Symbolic(expr),
    }
}

/// Arithmetic on sizes. A result that is unknown, or can't be expressed, is [`Dim::Unknown`].
#[derive(Clone, Copy)]
pub struct SizeArithmetic<'c>(pub &'c Context);

impl SizeArithmetic<'_> {
    /// The expression of a size, if it is not unknown.
    pub fn expr(self, dim: Dim) -> Option<DimExpr> {
        match dim {
            Dim::Known(size) => Some(constant(self.0, i64::try_from(size).ok()?)),
            Dim::Symbolic(expr) => Some(expr),
            Dim::Unknown => None,
        }
    }

    fn combine(self, a: Dim, b: Dim, of: fn(&Context, DimExpr, DimExpr) -> Option<DimExpr>) -> Dim {
        let found = || of(self.0, self.expr(a)?, self.expr(b)?);
        found().map_or(Dim::Unknown, |expr| size(self.0, expr))
    }

    /// The text of a size: a number, an expression, or `?`.
    pub fn text(self, dim: Dim) -> String {
        match dim {
            Dim::Known(size) => size.to_string(),
            Dim::Symbolic(expr) => super::print(self.0, expr),
            Dim::Unknown => "?".to_owned(),
        }
    }

    /// The text of sizes: `[N, 3, ?]`.
    pub fn list(self, dims: &[Dim]) -> String {
        let texts: Vec<String> = dims.iter().map(|dim| self.text(*dim)).collect();
        format!("[{}]", texts.join(", "))
    }

    /// `a + b`.
    pub fn add(self, a: Dim, b: Dim) -> Dim {
        self.combine(a, b, super::add)
    }

    /// `a - b`.
    pub fn sub(self, a: Dim, b: Dim) -> Dim {
        self.combine(a, b, super::sub)
    }

    /// `a * b`.
    pub fn mul(self, a: Dim, b: Dim) -> Dim {
        if let (Dim::Known(a), Dim::Known(b)) = (a, b) {
            // Like the numbers of an expression: signed, of 64 bits.
            let product =
                i64::try_from(a).ok().zip(i64::try_from(b).ok()).and_then(|(a, b)| a.checked_mul(b));
            return product.map_or(Dim::Unknown, |product| Dim::Known(product as u64));
        }
        self.combine(a, b, super::mul)
    }

    /// `a + offset`.
    pub fn offset(self, a: Dim, offset: i64) -> Dim {
        let found = || super::add(self.0, self.expr(a)?, constant(self.0, offset));
        found().map_or(Dim::Unknown, |expr| size(self.0, expr))
    }

    /// `a` over `b`, rounded down.
    pub fn floor_div(self, a: Dim, b: Dim) -> Dim {
        self.combine(a, b, super::floor_div)
    }

    /// The remainder of `a` divided by a number.
    pub fn modulo(self, a: Dim, by: u64) -> Dim {
        self.combine(a, Dim::Known(by), super::modulo)
    }

    /// The minimum of two sizes.
    pub fn min(self, a: Dim, b: Dim) -> Dim {
        self.combine(a, b, super::min)
    }

    /// The product of sizes.
    pub fn product(self, sizes: &[Dim]) -> Dim {
        sizes.iter().fold(Dim::Known(1), |product, size| self.mul(product, *size))
    }

    /// Whether two sizes are provably equal for all symbols. An unknown size is equal to nothing.
    pub fn are_equal(self, a: Dim, b: Dim) -> bool {
        if let (Dim::Known(a), Dim::Known(b)) = (a, b) {
            return a == b;
        }
        match (self.expr(a), self.expr(b)) {
            (Some(a), Some(b)) => super::provably_equal(self.0, a, b, &Ranges::LAWS),
            _ => false,
        }
    }

    /// Whether two sizes are provably different for all symbols. Nothing is known about unknown sizes.
    pub fn are_different(self, a: Dim, b: Dim) -> bool {
        match (a, b) {
            (Dim::Known(a), Dim::Known(b)) => a != b,
            _ => match (self.expr(a), self.expr(b)) {
                (Some(a), Some(b)) => super::provably_different(self.0, a, b, &Ranges::LAWS),
                _ => false,
            },
        }
    }

    /// Whether a size is at most `most` for all symbols.
    pub fn is_at_most(self, a: Dim, most: i64) -> bool {
        self.expr(a).is_some_and(|a| self.are_ordered(a, constant(self.0, most)))
    }

    /// Whether `a <= b` for all symbols.
    pub fn are_ordered(self, a: DimExpr, b: DimExpr) -> bool {
        super::provably_at_most(self.0, a, b, &Ranges::LAWS)
    }
}

#[cfg(test)]
#[path = "sizes_tests.rs"]
mod tests;
