//! Which sizes a dimension of an input stands for: a number, a symbol, or what follows from symbols.

use std::sync::Arc;

/// A dimension of an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Extent {
    /// Always of this size.
    Known(u64),
    /// The size of the symbol of this index.
    Symbol(usize),
    /// What follows from symbols' sizes.
    Sum(Arc<Sum>),
}

/// What follows from symbols' sizes: a sum of products.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sum {
    /// What is added.
    pub products: Vec<Product>,
    /// How it is written: `2 * N * M + 1`.
    pub text: String,
}

/// A number times factors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Product {
    /// The number.
    pub number: i64,
    /// The factors; none for the number alone.
    pub factors: Vec<Factor>,
}

/// What a product is made of; sums in it are lists of products.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Factor {
    /// The size of the symbol of this index.
    Symbol(usize),
    /// A quotient, rounded down; defined where the divisor is at least 1.
    FloorDiv {
        /// What is divided.
        dividend: Vec<Product>,
        /// By what.
        divisor: Vec<Product>,
    },
    /// The least of several.
    Min(Vec<Vec<Product>>),
    /// The greatest of several.
    Max(Vec<Vec<Product>>),
}

/// The one symbol of a dimension that is open, where the size depends on it as `offset + factor * symbol`, with a factor other than 0.
pub(crate) struct Line {
    pub(crate) symbol: usize,
    pub(crate) offset: i128,
    pub(crate) factor: i128,
}

impl Extent {
    /// Calls `visit` for each occurrence of a symbol.
    pub(crate) fn for_each_symbol(&self, visit: &mut dyn FnMut(usize)) {
        match self {
            Extent::Known(_) => {}
            Extent::Symbol(symbol) => visit(*symbol),
            Extent::Sum(sum) => each_symbol(&sum.products, visit),
        }
    }

    /// Whether a symbol occurs.
    pub(crate) fn has(&self, symbol: usize) -> bool {
        let mut is_there = false;
        self.for_each_symbol(&mut |found| is_there |= found == symbol);
        is_there
    }

    /// The symbols, each once, in the order in which they come up.
    pub(crate) fn symbols(&self) -> Vec<usize> {
        let mut symbols = Vec::new();
        self.for_each_symbol(&mut |symbol| {
            if !symbols.contains(&symbol) {
                symbols.push(symbol);
            }
        });
        symbols
    }

    /// The size where symbols have these; none where it is undefined or too large.
    pub(crate) fn value(&self, size_of: &dyn Fn(usize) -> u64) -> Option<i128> {
        match self {
            Extent::Known(size) => Some((*size).into()),
            Extent::Symbol(symbol) => Some(size_of(*symbol).into()),
            Extent::Sum(sum) => sum_of(&sum.products, size_of),
        }
    }

    /// How the size depends on the only symbol that is open; none if several are, or it is not a line. Allocates nothing.
    pub(crate) fn line(
        &self,
        is_open: &dyn Fn(usize) -> bool,
        size_of: &dyn Fn(usize) -> u64,
    ) -> Option<Line> {
        let (mut only, mut are_several) = (None, false);
        self.for_each_symbol(&mut |symbol| {
            are_several |= is_open(symbol) && only.is_some_and(|only| only != symbol);
            only = if is_open(symbol) { Some(symbol) } else { only };
        });
        let symbol = only.filter(|_| !are_several)?;
        if let Extent::Sum(sum) = self
            && !sum.products.iter().all(|product| is_straight(product, symbol))
        {
            return None;
        }
        let at = |size: u64| self.value(&|other| if other == symbol { size } else { size_of(other) });
        let (offset, next) = (at(0)?, at(1)?);
        Some(Line { symbol, offset, factor: next - offset }).filter(|line| line.factor != 0)
    }
}

/// Whether a symbol is at most one factor of a product, and occurs in no other.
fn is_straight(product: &Product, symbol: usize) -> bool {
    let mut uses = 0;
    product.factors.iter().all(|factor| match factor {
        Factor::Symbol(found) => {
            uses += usize::from(*found == symbol);
            uses <= 1
        }
        other => {
            let mut is_free = true;
            each_symbol_of(other, &mut |found| is_free &= found != symbol);
            is_free
        }
    })
}

fn each_symbol(products: &[Product], visit: &mut dyn FnMut(usize)) {
    products.iter().flat_map(|product| &product.factors).for_each(|factor| each_symbol_of(factor, visit));
}

fn each_symbol_of(factor: &Factor, visit: &mut dyn FnMut(usize)) {
    match factor {
        Factor::Symbol(symbol) => visit(*symbol),
        Factor::FloorDiv { dividend, divisor } => {
            each_symbol(dividend, visit);
            each_symbol(divisor, visit);
        }
        Factor::Min(all) | Factor::Max(all) => all.iter().for_each(|sum| each_symbol(sum, visit)),
    }
}

fn sum_of(products: &[Product], size_of: &dyn Fn(usize) -> u64) -> Option<i128> {
    products.iter().try_fold(0i128, |sum, product| {
        let mut factors = product.factors.iter();
        let value = factors.try_fold(i128::from(product.number), |value, factor| {
            value.checked_mul(factor_of(factor, size_of)?)
        });
        sum.checked_add(value?)
    })
}

fn factor_of(factor: &Factor, size_of: &dyn Fn(usize) -> u64) -> Option<i128> {
    let extreme = |all: &[Vec<Product>], of: fn(i128, i128) -> i128| {
        let (first, rest) = all.split_first()?;
        rest.iter().try_fold(sum_of(first, size_of)?, |found, next| Some(of(found, sum_of(next, size_of)?)))
    };
    match factor {
        Factor::Symbol(symbol) => Some(size_of(*symbol).into()),
        Factor::FloorDiv { dividend, divisor } => {
            let divisor = sum_of(divisor, size_of).filter(|divisor| *divisor >= 1)?;
            Some(sum_of(dividend, size_of)?.div_euclid(divisor))
        }
        Factor::Min(all) => extreme(all, i128::min),
        Factor::Max(all) => extreme(all, i128::max),
    }
}

/// The first symbol whose size does not follow from the sizes of all dimensions, whatever these are.
pub(crate) fn undetermined(symbols: usize, extents: &[&Extent]) -> Option<usize> {
    let mut is_known = vec![false; symbols];
    loop {
        // A factor may be 0 at small sizes: `N floordiv 2048` is.
        let line = |extent: &&Extent| {
            let at = |size: u64| extent.line(&|symbol| !is_known[symbol], &move |_| size);
            [1009, 65_537, 1 << 24].into_iter().find_map(at)
        };
        let Some(found) = extents.iter().find_map(line) else { break };
        is_known[found.symbol] = true;
    }
    is_known.iter().position(|is_known| !is_known)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(number: i64, factors: Vec<Factor>) -> Product {
        Product { number, factors }
    }

    fn sum(products: Vec<Product>) -> Extent {
        Extent::Sum(Arc::new(Sum { products, text: String::new() }))
    }

    /// `2 * N * M + 3`, and `N floordiv 2`.
    fn extents() -> [Extent; 2] {
        let [n, m] = [0, 1].map(Factor::Symbol);
        let half = Factor::FloorDiv {
            dividend: vec![product(1, vec![n.clone()])],
            divisor: vec![product(2, Vec::new())],
        };
        [sum(vec![product(2, vec![n, m]), product(3, Vec::new())]), sum(vec![product(1, vec![half])])]
    }

    /// `N * M floordiv 2048` says `M`, though small `N` make it 0.
    #[test]
    fn a_factor_that_is_0_at_small_sizes_hides_nothing() {
        let [n, m] = [0, 1].map(Factor::Symbol);
        let few = Factor::FloorDiv {
            dividend: vec![product(1, vec![n.clone()])],
            divisor: vec![product(2048, Vec::new())],
        };
        let extents = [sum(vec![product(1, vec![n])]), sum(vec![product(1, vec![few, m])])];
        assert_eq!(undetermined(2, &extents.iter().collect::<Vec<_>>()), None);
    }

    #[test]
    fn a_product_is_solved_for_its_last_open_factor() {
        let [area, half] = extents();
        let sizes = |symbol: usize| [5, 7][symbol];
        assert_eq!((area.value(&sizes), half.value(&sizes)), (Some(73), Some(2)));
        let line = area.line(&|symbol| symbol == 1, &sizes).expect("`N` is known");
        assert_eq!((line.symbol, line.offset, line.factor), (1, 3, 10));
        assert!(area.line(&|_| true, &sizes).is_none(), "both are open");
        assert!(half.line(&|_| true, &sizes).is_none(), "a quotient does not say what was divided");
        // Nothing follows of what is multiplied by 0.
        assert!(area.line(&|symbol| symbol == 1, &|_| 0).is_none());
    }

    #[test]
    fn extremes_are_those_of_their_operands() {
        let [n, m] = [0, 1].map(|symbol| vec![product(1, vec![Factor::Symbol(symbol)])]);
        let both =
            [Factor::Min, Factor::Max].map(|of| sum(vec![product(1, vec![of(vec![n.clone(), m.clone()])])]));
        assert_eq!(both.map(|extent| extent.value(&|symbol| [5, 7][symbol])), [Some(5), Some(7)]);
    }

    #[test]
    fn a_symbol_that_no_dimension_says_is_found() {
        let ([area, half], n) = (extents(), Extent::Symbol(0));
        assert_eq!(undetermined(2, &[&area, &n]), None);
        assert_eq!(undetermined(2, &[&area]), Some(0));
        assert_eq!(undetermined(1, &[&half]), Some(0));
        assert_eq!(undetermined(1, &[&half, &n]), None);
    }
}
