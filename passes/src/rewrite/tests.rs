//! Tests that rules apply where they should, and terminate.

use std::sync::Arc;

use ir::{Context, Module, Op};

use super::{Applied, Rewriter, Roots, Rule};
use crate::manager::{Pipeline, PlainTarget, Registry, RunOptions};

/// Checks the result of `canonicalize` on the lines of a function with these additional rules, or its error.
fn check(rules: &'static [Rule], lines: &str, expected: &str) {
    let mut registry = Registry::new();
    registry.register_rules(rules);
    let ctx = Arc::new(Context::new());
    let head = "func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {";
    let mut module = ir::text::parse(&ctx, "test", format!("{head}\n{lines}\n}}\n")).unwrap();
    let found = match canonicalize(&mut module, &registry) {
        Ok(()) => ir::text::print(&module),
        Err(message) => message,
    };
    let lines: Vec<&str> = found.lines().map(str::trim).collect();
    let inner = if lines.len() > 2 { &lines[2..lines.len() - 2] } else { &lines[..] };
    assert_eq!(inner.join("\n"), expected);
}

fn canonicalize(module: &mut Module, registry: &Registry) -> Result<(), String> {
    let pipeline = Pipeline::parse(&module.ctx, "canonicalize", registry).unwrap();
    let report = pipeline.run(module, &RunOptions::new(&PlainTarget));
    report.map(|_| ()).map_err(|errors| errors[0].message.clone())
}

static UNDO: [Rule; 2] = [
    Rule::law("to-floor", "(nn.ceil ?x)", "(nn.floor ?x)"),
    Rule::law("to-ceil", "(nn.floor ?x)", "(nn.ceil ?x)"),
];

static GROW: [Rule; 1] = [Rule::law("grow", "(nn.exp ?x)", "(nn.sqrt (nn.exp ?x))")];

static SWAP: [Rule; 1] =
    [Rule::code("swap", "The operands change places for ever.", Roots::Op("nn.sub"), swap)];

fn swap(rewriter: &mut Rewriter<'_>, op: Op) -> Option<Applied> {
    let (a, b) = (rewriter.body().operand(op, 0), rewriter.body().operand(op, 1));
    Some(rewriter.update(op, |_, body| body.set_operands(op, &[b, a])))
}

static NEAR: [Rule; 2] = [
    Rule::law("sub-of-neg", "(nn.sub ?x (nn.neg ?y))", "(nn.add ?x ?y)"),
    Rule::law("mul-of-add", "(nn.mul (nn.add ?x ?y) ?x)", "(nn.sub ?x ?y)"),
];

#[test]
fn a_law_puts_its_right_side_in_place_of_its_left_one() {
    check(
        &NEAR,
        "%0 = nn.neg %y : tensor<4xf32>\n%1 = nn.sub %x, %0 : tensor<4xf32>\nreturn %1 : tensor<4xf32>",
        "%0 = nn.add %arg0, %arg1 : tensor<4xf32>\nreturn %0 : tensor<4xf32>",
    );
}

#[test]
fn operands_of_commutative_operations_match_in_either_order() {
    check(
        &NEAR,
        "%0 = nn.add %y, %x : tensor<4xf32>\n%1 = nn.mul %x, %0 : tensor<4xf32>\nreturn %1 : tensor<4xf32>",
        "%0 = nn.sub %arg0, %arg1 : tensor<4xf32>\nreturn %0 : tensor<4xf32>",
    );
}

#[test]
fn a_variable_stands_for_one_value() {
    check(
        &NEAR,
        "%0 = nn.add %y, %y : tensor<4xf32>\n%1 = nn.mul %0, %x : tensor<4xf32>\nreturn %1 : tensor<4xf32>",
        "%0 = nn.add %arg1, %arg1 : tensor<4xf32>\n%1 = nn.mul %0, %arg0 : tensor<4xf32>\nreturn %1 : tensor<4xf32>",
    );
}

#[test]
fn rules_that_undo_each_other_are_named() {
    check(
        &UNDO,
        "%0 = nn.ceil %x : tensor<4xf32>\n%1 = nn.neg %y : tensor<4xf32>\n%2 = nn.neg %1 : tensor<4xf32>\n\
         %3 = nn.add %0, %2 : tensor<4xf32>\nreturn %3 : tensor<4xf32>",
        "rewriting does not come to an end; the rules that applied last: `to-ceil`, `to-floor`",
    );
    check(
        &SWAP,
        "%0 = nn.sub %x, %y : tensor<4xf32>\nreturn %0 : tensor<4xf32>",
        "rewriting does not come to an end; the rules that applied last: `swap`",
    );
}

#[test]
fn a_rule_that_makes_what_it_looks_for_is_named() {
    check(
        &GROW,
        "%0 = nn.exp %x : tensor<4xf32>\nreturn %0 : tensor<4xf32>",
        "rewriting does not come to an end; the rules that applied last: `grow`",
    );
}

#[test]
fn what_only_a_removed_operation_read_is_removed() {
    check(
        &[],
        "%0 = nn.exp %x : tensor<4xf32>\n%1 = nn.exp %0 : tensor<4xf32>\nreturn %x : tensor<4xf32>",
        "return %arg0 : tensor<4xf32>",
    );
}

#[test]
fn constants_are_folded_through_several_operations() {
    check(
        &[],
        "%0 = nn.constant dense<2.0> : tensor<4xf32>\n%1 = nn.add %0, %0 : tensor<4xf32>\n\
         %2 = nn.mul %1, %0 : tensor<4xf32>\n%3 = nn.add %2, %x : tensor<4xf32>\nreturn %3 : tensor<4xf32>",
        "%0 = nn.constant dense<8.000000e+00> : tensor<4xf32>\n%1 = nn.add %arg0, %0 : tensor<4xf32>\n\
         return %1 : tensor<4xf32>",
    );
}

#[test]
#[should_panic(expected = "two rules are named `subi-zero`")]
fn a_rule_has_a_name_of_its_own() {
    static TWICE: [Rule; 1] = [Rule::law("subi-zero", "(nn.sub ?x 0)", "?x")];
    let mut registry = Registry::new();
    registry.register_rules(&TWICE);
    registry.rules();
}

#[test]
fn every_rule_of_ours_says_what_it_does() {
    for rule in Registry::new().rules().iter() {
        assert!(!rule.doc().is_empty() && !rule.name.contains(' '), "{}", rule.name);
    }
}
