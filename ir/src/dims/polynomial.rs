//! The polynomial that an expression of sizes consists of.

use crate::entities::{DimExpr, Ident};

/// The content of a [`DimExpr`]: a sum of terms, in canonical order; empty for 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Polynomial {
    pub(super) terms: Box<[Monomial]>,
}

/// A product of a number and atoms.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Monomial {
    /// The coefficient; not 0.
    pub factor: i64,
    /// The atoms, sorted and repeated according to their power; none for a constant.
    pub atoms: Box<[Atom]>,
}

/// A factor of a term.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Atom {
    /// A named size.
    Symbol(Ident),
    /// A quotient, rounded down; defined if the divisor is at least 1.
    FloorDiv {
        /// The dividend.
        dividend: DimExpr,
        /// The divisor.
        divisor: DimExpr,
    },
    /// The minimum of at least two expressions.
    Min(Box<[DimExpr]>),
    /// The maximum of at least two expressions.
    Max(Box<[DimExpr]>),
}

impl Polynomial {
    /// The terms; the constant, if it is not 0, is the last.
    pub fn terms(&self) -> &[Monomial] {
        &self.terms
    }

    /// The value, if there are no atoms.
    pub fn constant(&self) -> Option<i64> {
        match &*self.terms {
            [] => Some(0),
            [term] if term.atoms.is_empty() => Some(term.factor),
            _ => None,
        }
    }

    /// The constant term.
    pub(super) fn offset(&self) -> i64 {
        self.terms.last().filter(|term| term.atoms.is_empty()).map_or(0, |term| term.factor)
    }

    /// The atom, if the polynomial is a single atom.
    pub(super) fn atom(&self) -> Option<&Atom> {
        match &*self.terms {
            [Monomial { factor: 1, atoms }] if atoms.len() == 1 => atoms.first(),
            _ => None,
        }
    }
}
