//! Laws of arithmetic on tensors, and the functions that are spelt out in it.

use crate::rewrite::Rule;

/// The laws.
#[rustfmt::skip]
pub(super) static LAWS: &[Rule] = &[
    Rule::law("add-zero", "(nn.add ?x 0)", "?x").near(),
    Rule::law("sub-zero", "(nn.sub ?x 0)", "?x"),
    Rule::law("mul-one", "(nn.mul ?x 1)", "?x"),
    Rule::law("div-one", "(nn.div ?x 1)", "?x"),
    Rule::law("pow-one", "(nn.pow ?x 1)", "?x").near(),
    Rule::law("pow-two", "(nn.pow ?x 2)", "(nn.square ?x)").near(),
    Rule::law("pow-three", "(nn.pow ?x 3)", "(nn.mul (nn.square ?x) ?x)").near(),
    Rule::law("pow-four", "(nn.pow ?x 4)", "(nn.square (nn.square ?x))").near(),
    Rule::law("mul-self", "(nn.mul ?x ?x)", "(nn.square ?x)"),
    Rule::law("one-over", "(nn.div 1 ?x)", "(nn.reciprocal ?x)"),
    Rule::law("neg-neg", "(nn.neg (nn.neg ?x))", "?x"),
    Rule::law("add-neg", "(nn.add ?x (nn.neg ?y))", "(nn.sub ?x ?y)"),
    Rule::law("sub-neg", "(nn.sub ?x (nn.neg ?y))", "(nn.add ?x ?y)"),
    Rule::law("max-zero", "(nn.max ?x 0)", "(nn.relu ?x)"),
    Rule::law("relu-relu", "(nn.relu (nn.relu ?x))", "(nn.relu ?x)"),
    Rule::law("abs-abs", "(nn.abs (nn.abs ?x))", "(nn.abs ?x)"),
    Rule::law("add-add", "(nn.add (nn.add ?x $a) $b)", "(nn.add ?x (nn.add $a $b))").near(),
    Rule::law("mul-mul", "(nn.mul (nn.mul ?x $a) $b)", "(nn.mul ?x (nn.mul $a $b))").near(),
    Rule::law("sigmoid-spelt-out", "(nn.reciprocal (nn.add (nn.exp (nn.neg ?x)) 1))",
        "(nn.sigmoid ?x)").near(),
    Rule::law("silu", "(nn.mul ?x (nn.sigmoid ?x))", "(nn.silu ?x)").near(),
    Rule::law("gelu-half-x", "(nn.mul (nn.mul ?x 0.5) (nn.add (nn.erf (nn.div ?x 1.41421356)) 1))",
        "(nn.gelu ?x)").near(),
    Rule::law("gelu-half-product", "(nn.mul (nn.mul ?x (nn.add (nn.erf (nn.div ?x 1.41421356)) 1)) 0.5)",
        "(nn.gelu ?x)").near(),
    Rule::law("gelu-half-sum", "(nn.mul ?x (nn.mul (nn.add (nn.erf (nn.div ?x 1.41421356)) 1) 0.5))",
        "(nn.gelu ?x)").near(),
    Rule::law("gelu-times-root", "(nn.mul (nn.mul ?x 0.5) (nn.add (nn.erf (nn.mul ?x 0.70710678)) 1))",
        "(nn.gelu ?x)").near(),
];
