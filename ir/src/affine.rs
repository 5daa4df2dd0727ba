//! Affine maps and integer sets: the content of these attributes.
//!
//! Expressions are stored as MLIR prints them after its own simplification; `simplify` applies the rules of
//! MLIR's builders.

use std::ops::{Add, Sub};

/// `(d0, d1)[s0] -> (d0 + s0, d1 floordiv 2)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AffineMap {
    /// The number of dimensions `d`.
    pub dims: u32,
    /// The number of symbols `s`.
    pub symbols: u32,
    /// One expression for each result.
    pub results: Vec<AffineExpr>,
}

/// `(d0)[s0] : (d0 - s0 >= 0, d0 == 4)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IntegerSet {
    /// The number of dimensions `d`.
    pub dims: u32,
    /// The number of symbols `s`.
    pub symbols: u32,
    /// Each expression with its comparison with zero.
    pub constraints: Vec<(AffineExpr, Constraint)>,
}

/// The comparison of a constraint's expression with zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Constraint {
    /// `expr == 0`.
    Equal,
    /// `expr >= 0`.
    AtLeast,
}

/// An affine expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AffineExpr {
    /// `d3`.
    Dim(u32),
    /// `s2`.
    Symbol(u32),
    /// `-7`.
    Constant(i64),
    /// `lhs op rhs`.
    Binary(AffineOp, Box<AffineExpr>, Box<AffineExpr>),
}

/// An operator that combines two affine expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AffineOp {
    /// `+`.
    Add,
    /// `*`.
    Mul,
    /// `mod`.
    Mod,
    /// `floordiv`.
    FloorDiv,
    /// `ceildiv`.
    CeilDiv,
}

impl AffineMap {
    /// Whether each result is the dimension with the result's own number.
    pub fn is_identity(&self) -> bool {
        self.results.len() == self.dims as usize
            && self.results.iter().enumerate().all(|(i, expr)| *expr == AffineExpr::Dim(i as u32))
    }
}

impl AffineExpr {
    /// Whether the expression uses no dimension.
    pub fn is_symbolic(&self) -> bool {
        match self {
            AffineExpr::Dim(_) => false,
            AffineExpr::Symbol(_) | AffineExpr::Constant(_) => true,
            AffineExpr::Binary(_, lhs, rhs) => lhs.is_symbolic() && rhs.is_symbolic(),
        }
    }

    /// The value, if it is a constant.
    pub fn constant(&self) -> Option<i64> {
        match self {
            AffineExpr::Constant(value) => Some(*value),
            _ => None,
        }
    }

    /// `lhs op rhs`, simplified as MLIR's builders do (`AffineExpr.cpp`): constants are folded and moved to
    /// the right, symbolic operands are right of the others, and neutral elements are removed.
    pub fn binary(op: AffineOp, lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr {
        let simpler = match op {
            AffineOp::Add => simplify::add(&lhs, &rhs),
            AffineOp::Mul => simplify::mul(&lhs, &rhs),
            AffineOp::Mod => simplify::modulo(&lhs, &rhs),
            AffineOp::FloorDiv => simplify::floor_div(&lhs, &rhs),
            AffineOp::CeilDiv => simplify::ceil_div(&lhs, &rhs),
        };
        simpler.unwrap_or_else(|| AffineExpr::Binary(op, Box::new(lhs), Box::new(rhs)))
    }

    /// The greatest number known to divide every value of the expression.
    fn largest_divisor(&self) -> u64 {
        match self {
            AffineExpr::Dim(_) | AffineExpr::Symbol(_) => 1,
            AffineExpr::Constant(value) => value.unsigned_abs(),
            AffineExpr::Binary(AffineOp::Mul, lhs, rhs) => {
                lhs.largest_divisor().saturating_mul(rhs.largest_divisor())
            }
            AffineExpr::Binary(AffineOp::Add | AffineOp::Mod, lhs, rhs) => {
                gcd(lhs.largest_divisor(), rhs.largest_divisor())
            }
            AffineExpr::Binary(_, lhs, rhs) => match rhs.constant() {
                Some(divisor)
                    if divisor != 0 && lhs.largest_divisor().is_multiple_of(divisor.unsigned_abs()) =>
                {
                    lhs.largest_divisor() / divisor.unsigned_abs()
                }
                _ => 1,
            },
        }
    }
}

/// `lhs + rhs`, simplified.
impl Add for AffineExpr {
    type Output = AffineExpr;

    fn add(self, rhs: AffineExpr) -> AffineExpr {
        AffineExpr::binary(AffineOp::Add, self, rhs)
    }
}

/// `lhs - rhs`, simplified.
impl Sub for AffineExpr {
    type Output = AffineExpr;

    fn sub(self, rhs: AffineExpr) -> AffineExpr {
        self + AffineExpr::binary(AffineOp::Mul, rhs, AffineExpr::Constant(-1))
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The rules that MLIR's builders apply to each operator; none if the expression stays unchanged.
mod simplify {
    use super::{AffineExpr, AffineOp};
    use AffineExpr::{Binary, Constant};

    /// The parts of `expr op constant`.
    fn with_constant(expr: &AffineExpr, op: AffineOp) -> Option<(&AffineExpr, i64)> {
        match expr {
            Binary(found, lhs, rhs) if *found == op => Some((lhs, rhs.constant()?)),
            _ => None,
        }
    }

    pub(super) fn add(lhs: &AffineExpr, rhs: &AffineExpr) -> Option<AffineExpr> {
        if let (Constant(a), Constant(b)) = (lhs, rhs) {
            return a.checked_add(*b).map(Constant);
        }
        let is_misplaced = lhs.constant().is_some() || lhs.is_symbolic() && !rhs.is_symbolic();
        if is_misplaced {
            return Some(rhs.clone() + lhs.clone());
        }
        if rhs.constant() == Some(0) {
            return Some(lhs.clone());
        }
        if let (Some((expr, a)), Some(b)) = (with_constant(lhs, AffineOp::Add), rhs.constant()) {
            return Some(expr.clone() + Constant(a.checked_add(b)?));
        }
        if let Some(merged) = add_multiples(lhs, rhs) {
            return Some(merged);
        }
        if let Some((expr, constant)) = with_constant(lhs, AffineOp::Add) {
            // A constant added earlier moves to the end.
            return Some(expr.clone() + rhs.clone() + Constant(constant));
        }
        difference_is_modulo(lhs, rhs)
    }

    /// `x * a + x * b` is `x * (a + b)`.
    fn add_multiples(lhs: &AffineExpr, rhs: &AffineExpr) -> Option<AffineExpr> {
        let multiple = |expr: &AffineExpr| match with_constant(expr, AffineOp::Mul) {
            Some((base, factor)) => (base.clone(), factor),
            None => (expr.clone(), 1),
        };
        let ((left, a), (right, b)) = (multiple(lhs), multiple(rhs));
        let is_same = left == right && left.constant().is_none();
        is_same.then(|| Some(AffineExpr::binary(AffineOp::Mul, left, Constant(a.checked_add(b)?))))?
    }

    /// `e - e floordiv c * c` is `e mod c`.
    fn difference_is_modulo(lhs: &AffineExpr, rhs: &AffineExpr) -> Option<AffineExpr> {
        let Binary(AffineOp::Mul, left, right) = rhs else { return None };
        let (quotient, divisor) = match (&**left, right.constant()) {
            (Binary(AffineOp::Mul, quotient, divisor), Some(-1)) => (&**quotient, (**divisor).clone()),
            (quotient, Some(factor)) if factor < 0 => (quotient, Constant(factor.checked_neg()?)),
            _ => return None,
        };
        match quotient {
            Binary(AffineOp::FloorDiv, dividend, by) if **dividend == *lhs && **by == divisor => {
                Some(AffineExpr::binary(AffineOp::Mod, lhs.clone(), divisor))
            }
            _ => None,
        }
    }

    pub(super) fn mul(lhs: &AffineExpr, rhs: &AffineExpr) -> Option<AffineExpr> {
        if let (Constant(a), Constant(b)) = (lhs, rhs) {
            return a.checked_mul(*b).map(Constant);
        }
        let is_misplaced = !rhs.is_symbolic() || lhs.constant().is_some();
        if is_misplaced && lhs.is_symbolic() {
            return Some(AffineExpr::binary(AffineOp::Mul, rhs.clone(), lhs.clone()));
        }
        match rhs.constant() {
            Some(1) => return Some(lhs.clone()),
            Some(0) => return Some(Constant(0)),
            _ => {}
        }
        let (expr, factor) = with_constant(lhs, AffineOp::Mul)?;
        let by = match rhs.constant() {
            Some(constant) => Constant(factor.checked_mul(constant)?),
            // A constant factor moves to the end.
            None => {
                let product = AffineExpr::binary(AffineOp::Mul, expr.clone(), rhs.clone());
                return Some(AffineExpr::binary(AffineOp::Mul, product, Constant(factor)));
            }
        };
        Some(AffineExpr::binary(AffineOp::Mul, expr.clone(), by))
    }

    pub(super) fn modulo(lhs: &AffineExpr, rhs: &AffineExpr) -> Option<AffineExpr> {
        let by = rhs.constant().filter(|by| *by >= 1)?;
        if let Constant(value) = lhs {
            return Some(Constant(value.rem_euclid(by)));
        }
        if lhs.largest_divisor().is_multiple_of(by.unsigned_abs()) {
            return Some(Constant(0));
        }
        match lhs {
            Binary(AffineOp::Add, a, b) => {
                let divides = |expr: &AffineExpr| expr.largest_divisor().is_multiple_of(by.unsigned_abs());
                match (divides(a), divides(b)) {
                    (true, _) => Some(AffineExpr::binary(AffineOp::Mod, (**b).clone(), rhs.clone())),
                    (_, true) => Some(AffineExpr::binary(AffineOp::Mod, (**a).clone(), rhs.clone())),
                    _ => None,
                }
            }
            Binary(AffineOp::Mod, inner, other) => {
                let other = other.constant().filter(|other| *other >= 1 && other % by == 0)?;
                (other >= 1).then(|| AffineExpr::binary(AffineOp::Mod, (**inner).clone(), rhs.clone()))
            }
            _ => None,
        }
    }

    pub(super) fn floor_div(lhs: &AffineExpr, rhs: &AffineExpr) -> Option<AffineExpr> {
        let by = rhs.constant().filter(|by| *by >= 1)?;
        if let Constant(value) = lhs {
            return Some(Constant(value.div_euclid(by)));
        }
        if by == 1 {
            return Some(lhs.clone());
        }
        if let Some((expr, factor)) = with_constant(lhs, AffineOp::Mul).filter(|found| found.1 % by == 0) {
            return Some(AffineExpr::binary(AffineOp::Mul, expr.clone(), Constant(factor / by)));
        }
        let Binary(AffineOp::Add, a, b) = lhs else { return None };
        let divides = |expr: &AffineExpr| expr.largest_divisor().is_multiple_of(by.unsigned_abs());
        (divides(a) || divides(b)).then(|| {
            let part = |expr: &AffineExpr| AffineExpr::binary(AffineOp::FloorDiv, expr.clone(), rhs.clone());
            part(a) + part(b)
        })
    }

    pub(super) fn ceil_div(lhs: &AffineExpr, rhs: &AffineExpr) -> Option<AffineExpr> {
        let by = rhs.constant().filter(|by| *by >= 1)?;
        if let Constant(value) = lhs {
            return Some(Constant(-(value.checked_neg()?.div_euclid(by))));
        }
        if by == 1 {
            return Some(lhs.clone());
        }
        let (expr, factor) = with_constant(lhs, AffineOp::Mul).filter(|found| found.1 % by == 0)?;
        Some(AffineExpr::binary(AffineOp::Mul, expr.clone(), Constant(factor / by)))
    }
}
