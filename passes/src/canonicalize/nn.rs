//! Laws of `nn` that hold to the bit.

use crate::rewrite::Rule;

/// The laws.
#[rustfmt::skip]
pub(super) static RULES: &[Rule] = &[
    Rule::law("nn-sub-zero", "(nn.sub ?x 0)", "?x"),
    Rule::law("nn-mul-one", "(nn.mul ?x 1)", "?x"),
    Rule::law("nn-div-one", "(nn.div ?x 1)", "?x"),
    Rule::law("nn-neg-neg", "(nn.neg (nn.neg ?x))", "?x"),
    Rule::law("nn-reshape-back", "(nn.reshape (nn.reshape ?x))", "?x"),
    Rule::law("nn-reshape-to-same-shape", "(nn.reshape ?x)", "?x"),
    Rule::law("nn-broadcast-to-same-shape", "(nn.broadcast ?x)", "?x"),
    Rule::law("nn-cast-to-same-type", "(nn.cast ?x)", "?x"),
    Rule::law("nn-concat-of-one", "(nn.concat ?x)", "?x"),
];
