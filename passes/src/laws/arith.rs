//! Laws of `arith`: integers wrap, floats round.

use crate::constants;
use crate::rewrite::{LawMatch, Rule, Term, Terms};

/// The laws.
#[rustfmt::skip]
pub(super) static LAWS: &[Rule] = &[
    Rule::law("addi-zero", "(arith.addi ?x 0)", "?x"),
    Rule::law("addi-of-constants", "(arith.addi (arith.addi ?x $a) $b)",
        "(arith.addi ?x (arith.addi $a $b))"),
    Rule::law("addi-of-subi", "(arith.addi (arith.subi ?x ?y) ?y)", "?x"),
    Rule::law("subi-zero", "(arith.subi ?x 0)", "?x"),
    Rule::law("subi-self", "(arith.subi ?x ?x)", "0"),
    Rule::law("subi-of-addi", "(arith.subi (arith.addi ?x ?y) ?y)", "?x"),
    Rule::law("muli-zero", "(arith.muli ?x 0)", "0"),
    Rule::law("muli-one", "(arith.muli ?x 1)", "?x"),
    Rule::law("muli-of-constants", "(arith.muli (arith.muli ?x $a) $b)",
        "(arith.muli ?x (arith.muli $a $b))"),
    Rule::law("divsi-one", "(arith.divsi ?x 1)", "?x"),
    Rule::law("divui-one", "(arith.divui ?x 1)", "?x"),
    Rule::law("remsi-one", "(arith.remsi ?x 1)", "0"),
    Rule::law("remui-one", "(arith.remui ?x 1)", "0"),
    Rule::law("andi-zero", "(arith.andi ?x 0)", "0"),
    Rule::law("andi-ones", "(arith.andi ?x -1)", "?x"),
    Rule::law("andi-self", "(arith.andi ?x ?x)", "?x"),
    Rule::law("ori-zero", "(arith.ori ?x 0)", "?x"),
    Rule::law("ori-ones", "(arith.ori ?x -1)", "-1"),
    Rule::law("ori-self", "(arith.ori ?x ?x)", "?x"),
    Rule::law("xori-zero", "(arith.xori ?x 0)", "?x"),
    Rule::law("xori-self", "(arith.xori ?x ?x)", "0"),
    Rule::law("xori-twice", "(arith.xori (arith.xori ?x ?y) ?y)", "?x"),
    Rule::law("shli-zero", "(arith.shli ?x 0)", "?x"),
    Rule::law("shrsi-zero", "(arith.shrsi ?x 0)", "?x"),
    Rule::law("shrui-zero", "(arith.shrui ?x 0)", "?x"),
    Rule::law("maxsi-self", "(arith.maxsi ?x ?x)", "?x"),
    Rule::law("maxui-self", "(arith.maxui ?x ?x)", "?x"),
    Rule::law("minsi-self", "(arith.minsi ?x ?x)", "?x"),
    Rule::law("minui-self", "(arith.minui ?x ?x)", "?x"),
    Rule::law("addf-minus-zero", "(arith.addf ?x -0.0)", "?x"),
    Rule::law("subf-zero", "(arith.subf ?x 0.0)", "?x"),
    Rule::law("mulf-one", "(arith.mulf ?x 1.0)", "?x"),
    Rule::law("divf-one", "(arith.divf ?x 1.0)", "?x"),
    Rule::law("negf-negf", "(arith.negf (arith.negf ?x))", "?x"),
    Rule::law("maximumf-self", "(arith.maximumf ?x ?x)", "?x"),
    Rule::law("minimumf-self", "(arith.minimumf ?x ?x)", "?x"),
    Rule::law("select-of-true", "(arith.select -1 ?x ?y)", "?x"),
    Rule::law("select-of-false", "(arith.select 0 ?x ?y)", "?y"),
    Rule::law("select-of-same", "(arith.select ?c ?x ?x)", "?x"),
    Rule::computed("cmpi-self", "(arith.cmpi ?x ?x)",
        "whether the predicate holds of equal numbers", cmpi_self),
];

/// The predicates of `arith.cmpi` that are true for equal numbers: eq, sle, sge, ule, uge.
const HOLD_OF_EQUALS: [i64; 5] = [0, 3, 5, 7, 9];

fn cmpi_self(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    let predicate = terms.input(&found.ops[0]).int("predicate")?;
    let holds = HOLD_OF_EQUALS.contains(&predicate);
    let value = constants::filled(terms.ctx(), found.ty, if holds { 1.0 } else { 0.0 })?;
    terms.make_constant(value, found.ty)
}
