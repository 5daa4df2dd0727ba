//! The text of an expression of sizes.

use std::fmt::Write;

use super::{Atom, Monomial, Polynomial, constant, sub};
use crate::context::Context;
use crate::entities::DimExpr;
use crate::text::quote::push_name;

/// Keywords of expressions. A symbol with such a name is printed in quotes.
pub(crate) const RESERVED: [&str; 6] = ["floordiv", "ceildiv", "mod", "min", "max", "_"];

/// Prints an expression: `2 * N + H ceildiv 32 - 1`. As in MLIR, `*`, `floordiv`, `ceildiv` and `mod` have
/// the same precedence and associate to the left.
pub fn print(ctx: &Context, expr: DimExpr) -> String {
    let mut text = String::new();
    sum(ctx, ctx.dim_expr(expr), &mut text);
    text
}

fn sum(ctx: &Context, polynomial: &Polynomial, text: &mut String) {
    if polynomial.terms().is_empty() {
        text.push('0');
    }
    for (index, term) in polynomial.terms().iter().enumerate() {
        match (index, term.factor < 0) {
            (0, false) => {}
            (0, true) => text.push('-'),
            (_, false) => text.push_str(" + "),
            (_, true) => text.push_str(" - "),
        }
        product(ctx, term, text);
    }
}

/// A term without its sign.
fn product(ctx: &Context, Monomial { factor, atoms }: &Monomial, text: &mut String) {
    let is_alone = *factor == 1 && atoms.len() == 1;
    let factor = factor.unsigned_abs();
    if factor != 1 || atoms.is_empty() {
        write!(text, "{factor}").expect("writing to a string works");
        if !atoms.is_empty() {
            text.push_str(" * ");
        }
    }
    for (index, atom) in atoms.iter().enumerate() {
        if index > 0 {
            text.push_str(" * ");
        }
        match atom {
            Atom::FloorDiv { .. } if !is_alone => {
                text.push('(');
                self::atom(ctx, atom, text);
                text.push(')');
            }
            _ => self::atom(ctx, atom, text),
        }
    }
}

fn atom(ctx: &Context, atom: &Atom, text: &mut String) {
    match atom {
        Atom::Symbol(name) => push_name(text, ctx.str(*name), &RESERVED),
        Atom::FloorDiv { dividend, divisor } => quotient(ctx, *dividend, *divisor, text),
        Atom::Min(exprs) => call(ctx, "min", exprs, text),
        Atom::Max(exprs) => call(ctx, "max", exprs, text),
    }
}

/// A dividend that ends in a constant of one less than the divisor is printed with `ceildiv`.
fn quotient(ctx: &Context, dividend: DimExpr, divisor: DimExpr, text: &mut String) {
    let added = constant(ctx, ctx.dim_expr(dividend).offset());
    let by = ctx.dim_expr(divisor).constant();
    let rounded_up = by.is_some_and(|by| constant(ctx, by - 1) == added);
    let (dividend, word) = match sub(ctx, dividend, added) {
        Some(plain) if rounded_up => (plain, " ceildiv "),
        _ => (dividend, " floordiv "),
    };
    operand(ctx, dividend, text);
    text.push_str(word);
    operand(ctx, divisor, text);
}

fn operand(ctx: &Context, expr: DimExpr, text: &mut String) {
    let polynomial = ctx.dim_expr(expr);
    let is_plain = match (polynomial.constant(), polynomial.atom()) {
        (Some(value), _) => value >= 0,
        (None, Some(atom)) => !matches!(atom, Atom::FloorDiv { .. }),
        _ => false,
    };
    if is_plain {
        return sum(ctx, polynomial, text);
    }
    text.push('(');
    sum(ctx, polynomial, text);
    text.push(')');
}

fn call(ctx: &Context, word: &str, exprs: &[DimExpr], text: &mut String) {
    text.push_str(word);
    text.push('(');
    for (index, expr) in exprs.iter().enumerate() {
        if index > 0 {
            text.push_str(", ");
        }
        sum(ctx, ctx.dim_expr(*expr), text);
    }
    text.push(')');
}
