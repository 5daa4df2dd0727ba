//! The content of an expression of sizes.

use crate::entities::{DimExpr, Ident};

/// The content of a [`DimExpr`]: a sum of terms, in canonical order; empty for 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Polynomial {
    pub(super) terms: Box<[Monomial]>,
}

/// A product of a number and atoms.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Monomial {
    /// The number; not 0.
    pub factor: i64,
    /// The atoms, sorted, each as often as its power; none for a constant.
    pub atoms: Box<[Atom]>,
}

/// A factor of a term.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Atom {
    /// A named size.
    Symbol(Ident),
    /// A quotient, rounded down; defined where the divisor is at least 1.
    FloorDiv {
        /// What is divided.
        dividend: DimExpr,
        /// By what.
        divisor: DimExpr,
    },
    /// The least of at least two.
    Min(Box<[DimExpr]>),
    /// The greatest of at least two.
    Max(Box<[DimExpr]>),
}

impl Polynomial {
    /// The terms; the constant, if it is not 0, is the last.
    pub fn terms(&self) -> &[Monomial] {
        &self.terms
    }

    /// The value, if there is no atom.
    pub fn constant(&self) -> Option<i64> {
        match &*self.terms {
            [] => Some(0),
            [term] if term.atoms.is_empty() => Some(term.factor),
            _ => None,
        }
    }

    /// The number that is added to the terms with atoms.
    pub(super) fn offset(&self) -> i64 {
        self.terms.last().filter(|term| term.atoms.is_empty()).map_or(0, |term| term.factor)
    }

    /// The atom, if there is nothing else.
    pub(super) fn atom(&self) -> Option<&Atom> {
        match &*self.terms {
            [Monomial { factor: 1, atoms }] if atoms.len() == 1 => atoms.first(),
            _ => None,
        }
    }
}
