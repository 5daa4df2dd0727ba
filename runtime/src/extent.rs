//! The size of a dimension: a number, a named size, or an expression of named sizes. Expressions are
//! evaluated, or solved for one unknown size.
//!
//! An expression is a list of steps in prefix order:
//!
//! ```text
//! 2 * N + 1   =>   add, multiply, 2, N, 1
//! ```
//!
//! It is evaluated over linear forms `offset + factor * N` in at most one unknown size. So one walk gives the
//! value if all sizes are known, and the equation for the missing size if one is not. A quotient, minimum or
//! maximum of an unknown size is not linear.

use std::slice::Iter;
use std::sync::Arc;

/// The size of a dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Extent {
    /// Always this number.
    Known(u64),
    /// The named size of this index.
    Symbol(usize),
    /// An expression of named sizes.
    Expr(Arc<SizeExpr>),
}

/// An expression of named sizes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SizeExpr {
    /// Its steps in prefix order, each before its operands.
    pub steps: Vec<SizeStep>,
    /// Its text: `2 * N * M + 1`.
    pub text: String,
}

/// A step of a [`SizeExpr`]: an operand, or an operator on the two that follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeStep {
    /// A number.
    Number(i64),
    /// The named size of this index.
    Symbol(usize),
    /// The sum.
    Add,
    /// The product.
    Multiply,
    /// The quotient, rounded down; defined if the divisor is at least 1.
    FloorDivide,
    /// The smaller one.
    Min,
    /// The greater one.
    Max,
}

/// `offset + factor * symbol`, or the offset alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LinearExtent {
    pub(crate) offset: i128,
    /// The symbol with its factor, which is not 0.
    pub(crate) unknown: Option<(usize, i128)>,
}

impl LinearExtent {
    fn number(offset: i128) -> LinearExtent {
        LinearExtent { offset, unknown: None }
    }

    /// The number, if no symbol is unknown.
    fn known(self) -> Option<i128> {
        self.unknown.is_none().then_some(self.offset)
    }

    fn plus(self, other: LinearExtent) -> Option<LinearExtent> {
        let unknown = match (self.unknown, other.unknown) {
            (unknown, None) | (None, unknown) => unknown,
            (Some((symbol, a)), Some((other, b))) if symbol == other => Some((symbol, a.checked_add(b)?)),
            _ => return None,
        };
        let unknown = unknown.filter(|(_, factor)| *factor != 0);
        Some(LinearExtent { offset: self.offset.checked_add(other.offset)?, unknown })
    }

    fn times(self, other: LinearExtent) -> Option<LinearExtent> {
        let (line, number) = match (self.known(), other.known()) {
            (_, Some(number)) => (self, number),
            (Some(number), _) => (other, number),
            _ => return None,
        };
        let unknown = match line.unknown {
            Some((symbol, factor)) => Some((symbol, factor.checked_mul(number)?)),
            None => None,
        };
        let unknown = unknown.filter(|(_, factor)| *factor != 0);
        Some(LinearExtent { offset: line.offset.checked_mul(number)?, unknown })
    }
}

impl Extent {
    /// Whether a symbol occurs.
    pub(crate) fn has(&self, symbol: usize) -> bool {
        self.symbols().contains(&symbol)
    }

    /// The symbols, each once, in the order of their first occurrence.
    pub(crate) fn symbols(&self) -> Vec<usize> {
        let steps = match self {
            Extent::Known(_) => return Vec::new(),
            Extent::Symbol(symbol) => return vec![*symbol],
            Extent::Expr(expr) => &expr.steps,
        };
        let mut symbols = Vec::new();
        for step in steps {
            if let SizeStep::Symbol(symbol) = step
                && !symbols.contains(symbol)
            {
                symbols.push(*symbol);
            }
        }
        symbols
    }

    /// The size for these sizes of the symbols; none if it is undefined or too large.
    pub(crate) fn value(&self, size_of: &dyn Fn(usize) -> u64) -> Option<i128> {
        self.line(&|symbol| Some(size_of(symbol)))?.known()
    }

    /// The size as a linear form in the symbols without a size. None if it is undefined, or not linear in one
    /// of them. Allocates nothing.
    pub(crate) fn line(&self, size_of: &dyn Fn(usize) -> Option<u64>) -> Option<LinearExtent> {
        let symbol = |symbol: usize| match size_of(symbol) {
            Some(size) => LinearExtent::number(size.into()),
            None => LinearExtent { offset: 0, unknown: Some((symbol, 1)) },
        };
        match self {
            Extent::Known(size) => Some(LinearExtent::number((*size).into())),
            Extent::Symbol(index) => Some(symbol(*index)),
            Extent::Expr(expr) => evaluate(&mut expr.steps.iter(), &symbol),
        }
    }
}

/// Evaluates one operand, and consumes all its steps.
fn evaluate(steps: &mut Iter<'_, SizeStep>, symbol: &dyn Fn(usize) -> LinearExtent) -> Option<LinearExtent> {
    let step = steps.next()?;
    match step {
        SizeStep::Number(number) => return Some(LinearExtent::number((*number).into())),
        SizeStep::Symbol(index) => return Some(symbol(*index)),
        _ => {}
    }
    let first = evaluate(steps, symbol)?;
    let second = evaluate(steps, symbol)?;
    match step {
        SizeStep::Add => first.plus(second),
        SizeStep::Multiply => first.times(second),
        SizeStep::FloorDivide => {
            let divisor = second.known().filter(|divisor| *divisor >= 1)?;
            Some(LinearExtent::number(first.known()?.div_euclid(divisor)))
        }
        SizeStep::Min => Some(LinearExtent::number(first.known()?.min(second.known()?))),
        SizeStep::Max => Some(LinearExtent::number(first.known()?.max(second.known()?))),
        SizeStep::Number(_) | SizeStep::Symbol(_) => unreachable!("operands were returned above"),
    }
}

/// The first symbol whose size does not follow from the sizes of all dimensions, for any values of these.
pub(crate) fn undetermined(symbols: usize, extents: &[&Extent]) -> Option<usize> {
    let mut is_known = vec![false; symbols];
    loop {
        // A factor may be 0 at small sizes, like `N floordiv 2048`.
        let unknown = |extent: &&Extent| {
            let at = |size: u64| extent.line(&|symbol| is_known[symbol].then_some(size))?.unknown;
            [1009, 65_537, 1 << 24].into_iter().find_map(at)
        };
        let Some((found, _)) = extents.iter().find_map(unknown) else { break };
        is_known[found] = true;
    }
    is_known.iter().position(|is_known| !is_known)
}

#[cfg(test)]
mod tests {
    use SizeStep::{Add, FloorDivide, Max, Min, Multiply, Number, Symbol};

    use super::*;

    const N: SizeStep = Symbol(0);
    const M: SizeStep = Symbol(1);

    fn expr(steps: &[SizeStep]) -> Extent {
        Extent::Expr(Arc::new(SizeExpr { steps: steps.to_vec(), text: String::new() }))
    }

    /// `2 * N * M + 3`, and `N floordiv 2`.
    fn extents() -> [Extent; 2] {
        [expr(&[Add, Multiply, Number(2), Multiply, N, M, Number(3)]), expr(&[FloorDivide, N, Number(2)])]
    }

    #[test]
    fn a_product_is_solved_for_its_last_unknown_factor() {
        let [area, half] = extents();
        let sizes = |symbol: usize| [5, 7][symbol];
        assert_eq!((area.value(&sizes), half.value(&sizes)), (Some(73), Some(2)));
        let n_is = |size: u64| move |symbol: usize| [Some(size), None][symbol];
        assert_eq!(area.line(&n_is(5)), Some(LinearExtent { offset: 3, unknown: Some((1, 10)) }));
        assert_eq!(area.line(&|_| None), None, "both are unknown");
        assert_eq!(half.line(&|_| None), None, "a quotient does not say what was divided");
        assert_eq!(
            area.line(&n_is(0)),
            Some(LinearExtent::number(3)),
            "nothing follows of what is multiplied by 0"
        );
    }

    #[test]
    fn what_is_too_large_or_undefined_has_no_size() {
        let cube = expr(&[Multiply, N, Multiply, N, N]);
        assert_eq!(cube.value(&|_| u64::MAX), None);
        assert_eq!(expr(&[FloorDivide, N, M]).value(&|symbol| [5, 0][symbol]), None);
    }

    #[test]
    fn extremes_are_those_of_their_operands() {
        let both = [Min, Max].map(|of| expr(&[of, N, M]));
        assert_eq!(both.map(|extent| extent.value(&|symbol| [5, 7][symbol])), [Some(5), Some(7)]);
    }

    #[test]
    fn what_cancels_is_not_unknown() {
        let same = expr(&[Add, N, Multiply, Number(-1), N]);
        assert_eq!(same.line(&|_| None), Some(LinearExtent::number(0)));
    }

    #[test]
    fn a_symbol_that_no_dimension_says_is_found() {
        let ([area, half], n) = (extents(), Extent::Symbol(0));
        assert_eq!(undetermined(2, &[&area, &n]), None);
        assert_eq!(undetermined(2, &[&area]), Some(0));
        assert_eq!(undetermined(1, &[&half]), Some(0));
        assert_eq!(undetermined(1, &[&half, &n]), None);
    }

    /// `(N floordiv 2048) * M` determines `M`, although small `N` make it 0.
    #[test]
    fn a_factor_that_is_0_at_small_sizes_hides_nothing() {
        let extents = [expr(&[N]), expr(&[Multiply, FloorDivide, N, Number(2048), M])];
        assert_eq!(undetermined(2, &extents.iter().collect::<Vec<_>>()), None);
    }
}
