//! Printer of affine maps and integer sets: with as few parentheses and as many minus signs as MLIR.

use super::TextWriter;
use crate::affine::{AffineExpr, AffineMap, AffineOp, Constraint, IntegerSet};

/// Whether a sum or product needs parentheses in its context.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Precedence {
    /// It needs none.
    Weak,
    /// It needs parentheses.
    Strong,
}

impl TextWriter<'_> {
    /// `affine_map<(d0)[s0] -> (d0 + s0)>`.
    pub(super) fn affine_map(&mut self, map: &AffineMap) {
        self.buffer.push_str("affine_map<");
        self.affine_names(map.dims, map.symbols);
        self.buffer.push_str(" -> (");
        self.list(&map.results, |writer, expr| writer.affine(expr, Precedence::Weak));
        self.buffer.push_str(")>");
    }

    /// `affine_set<(d0)[s0] : (d0 - s0 >= 0)>`.
    pub(super) fn integer_set(&mut self, set: &IntegerSet) {
        self.buffer.push_str("affine_set<");
        self.affine_names(set.dims, set.symbols);
        self.buffer.push_str(" : (");
        self.list(&set.constraints, |writer, (expr, constraint)| {
            writer.affine(expr, Precedence::Weak);
            writer.buffer.push_str(match constraint {
                Constraint::Equal => " == 0",
                Constraint::AtLeast => " >= 0",
            });
        });
        self.buffer.push_str(")>");
    }

    fn affine_names(&mut self, dims: u32, symbols: u32) {
        self.buffer.push('(');
        self.list(0..dims, |writer, i| writer.put(format_args!("d{i}")));
        self.buffer.push(')');
        if symbols > 0 {
            self.buffer.push('[');
            self.list(0..symbols, |writer, i| writer.put(format_args!("s{i}")));
            self.buffer.push(']');
        }
    }

    fn affine(&mut self, expr: &AffineExpr, around: Precedence) {
        match expr {
            AffineExpr::Dim(i) => self.put(format_args!("d{i}")),
            AffineExpr::Symbol(i) => self.put(format_args!("s{i}")),
            AffineExpr::Constant(value) => self.put(format_args!("{value}")),
            AffineExpr::Binary(op, lhs, rhs) => {
                if around == Precedence::Strong {
                    self.buffer.push('(');
                }
                match op {
                    AffineOp::Add => self.affine_sum(lhs, rhs),
                    _ => self.affine_product(*op, lhs, rhs),
                }
                if around == Precedence::Strong {
                    self.buffer.push(')');
                }
            }
        }
    }

    fn affine_product(&mut self, op: AffineOp, lhs: &AffineExpr, rhs: &AffineExpr) {
        if op == AffineOp::Mul && rhs.constant() == Some(-1) {
            self.buffer.push('-');
            return self.affine(lhs, Precedence::Strong);
        }
        self.affine(lhs, Precedence::Strong);
        self.buffer.push_str(match op {
            AffineOp::Add => " + ",
            AffineOp::Mul => " * ",
            AffineOp::Mod => " mod ",
            AffineOp::FloorDiv => " floordiv ",
            AffineOp::CeilDiv => " ceildiv ",
        });
        self.affine(rhs, Precedence::Strong);
    }

    /// `a + b`; the addition of a negative number or multiple is a subtraction.
    fn affine_sum(&mut self, lhs: &AffineExpr, rhs: &AffineExpr) {
        self.affine(lhs, Precedence::Weak);
        let multiple = match rhs {
            AffineExpr::Binary(AffineOp::Mul, base, factor) => {
                factor.constant().map(|factor| (&**base, factor))
            }
            _ => None,
        };
        match (multiple, rhs.constant()) {
            (Some((base, -1)), _) => {
                self.buffer.push_str(" - ");
                let is_sum = matches!(base, AffineExpr::Binary(AffineOp::Add, ..));
                self.affine(base, if is_sum { Precedence::Strong } else { Precedence::Weak });
            }
            (Some((base, factor)), _) if factor < -1 => {
                self.buffer.push_str(" - ");
                self.affine(base, Precedence::Strong);
                self.put(format_args!(" * {}", factor.unsigned_abs()));
            }
            (_, Some(value)) if value < 0 => self.put(format_args!(" - {}", value.unsigned_abs())),
            _ => {
                self.buffer.push_str(" + ");
                self.affine(rhs, Precedence::Weak);
            }
        }
    }
}
