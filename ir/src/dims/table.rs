//! A table of symbolic sizes: each distinct expression of a function is evaluated once for given symbols.
//!
//! ```text
//! N, 4 * N, H ceildiv 2   at N = 3, H = 5   =>   3, 12, 3
//! ```

use rustc_hash::FxHashMap;

use super::evaluate;
use crate::context::Context;
use crate::entities::{DimExpr, Ident};

/// A size of a [`SizeTable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SizeId(u32);

/// A set of expressions, each stored once.
#[derive(Clone, Debug)]
pub struct SizeTable {
    symbols: Vec<Ident>,
    exprs: Vec<DimExpr>,
    known: FxHashMap<DimExpr, SizeId>,
}

/// The values of a [`SizeTable`]'s expressions.
#[derive(Clone, Debug, Default)]
pub struct SizeValues(Vec<u64>);

impl SizeTable {
    /// An empty table. The symbols get their numbers in this order.
    pub fn new(symbols: Vec<Ident>) -> SizeTable {
        SizeTable { symbols, exprs: Vec::new(), known: FxHashMap::default() }
    }

    /// The index of an expression.
    pub fn add(&mut self, expr: DimExpr) -> SizeId {
        let next = SizeId(self.exprs.len() as u32);
        let id = *self.known.entry(expr).or_insert(next);
        if id == next {
            self.exprs.push(expr);
        }
        id
    }

    /// The number of distinct expressions.
    pub fn len(&self) -> usize {
        self.exprs.len()
    }

    /// Whether there are no expressions.
    pub fn is_empty(&self) -> bool {
        self.exprs.is_empty()
    }

    /// Evaluates all expressions for these values of the symbols; none if one is below 0, undefined, or
    /// exceeds 63 bits.
    pub fn evaluate(&self, ctx: &Context, numbers: &[u64], values: &mut SizeValues) -> Option<()> {
        let number = |name: Ident| {
            let index = self.symbols.iter().position(|symbol| *symbol == name)?;
            i64::try_from(*numbers.get(index)?).ok()
        };
        values.0.clear();
        for expr in &self.exprs {
            let value = evaluate(ctx, *expr, &number).filter(|value| *value >= 0)?;
            values.0.push(value as u64);
        }
        Some(())
    }
}

impl SizeValues {
    /// Whether some expression is 0.
    pub fn has_zero(&self) -> bool {
        self.0.contains(&0)
    }

    /// The value of an expression.
    pub fn get(&self, id: SizeId) -> u64 {
        self.0[id.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ceil_div, constant, mul, sub, symbol};
    use super::*;

    #[test]
    fn equal_expressions_are_one_and_all_are_numbers_at_once() {
        let ctx = Context::new();
        let (n, h) = (symbol(&ctx, "N"), symbol(&ctx, "H"));
        let mut table = SizeTable::new(vec![ctx.ident("N"), ctx.ident("H")]);
        let bytes = table.add(mul(&ctx, constant(&ctx, 4), n).unwrap());
        let half = table.add(ceil_div(&ctx, h, constant(&ctx, 2)).unwrap());
        assert_eq!(table.add(mul(&ctx, n, constant(&ctx, 4)).unwrap()), bytes);
        assert_eq!(table.len(), 2);
        let mut values = SizeValues::default();
        table.evaluate(&ctx, &[3, 5], &mut values).unwrap();
        assert_eq!([values.get(bytes), values.get(half)], [12, 3]);
    }

    #[test]
    fn what_is_no_size_has_no_numbers() {
        let ctx = Context::new();
        let mut table = SizeTable::new(vec![ctx.ident("N")]);
        table.add(sub(&ctx, symbol(&ctx, "N"), constant(&ctx, 2)).unwrap());
        let mut values = SizeValues::default();
        assert!(table.evaluate(&ctx, &[3], &mut values).is_some());
        assert!(table.evaluate(&ctx, &[2], &mut values).is_some(), "an empty axis");
        for numbers in [&[1][..], &[0], &[u64::MAX], &[]] {
            assert!(table.evaluate(&ctx, numbers, &mut values).is_none(), "{numbers:?}");
        }
    }
}
