//! What affine maps and integer sets are made of.
//!
//! Expressions are kept as MLIR prints them after its own simplification; `simplify` does what its builders do.

/// `(d0, d1)[s0] -> (d0 + s0, d1 floordiv 2)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AffineMap {
    /// How many `d`.
    pub dims: u32,
    /// How many `s`.
    pub symbols: u32,
    /// One expression for each result.
    pub results: Vec<AffineExpr>,
}

/// `(d0)[s0] : (d0 - s0 >= 0, d0 == 4)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IntegerSet {
    /// How many `d`.
    pub dims: u32,
    /// How many `s`.
    pub symbols: u32,
    /// Each expression with how it compares with zero.
    pub constraints: Vec<(AffineExpr, Constraint)>,
}

/// How a constraint's expression compares with zero.
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

/// What combines two affine expressions.
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
