//! Which programs are equal.
//!
//! A law is one line: its name, the left side, and the right side, which is a pattern or, where attributes and sizes must be
//! computed, a function. A right side counts only if its type is the left side's, so that laws need not check how sizes
//! broadcast. Laws hold for numbers as they round: two sides may differ in the last bits and in the sign of a zero, and an
//! intermediate product of weights may overflow where the program's own did not; on NaN and infinities they agree.

use std::sync::LazyLock;

use egg::Id;

use super::graph::Graph;
use super::matching::Match;
use crate::pattern::{Pattern, Reader};

mod norm;
mod scale;
mod views;

/// A law, ready to be applied.
pub(super) struct Law {
    /// Its name: of its line, and of the lit test that shows it.
    pub(super) name: &'static str,
    pub(super) left: Pattern,
    right: Right,
}

enum Right {
    Pattern(Pattern),
    Build(Build),
}

/// Makes the right side of a law; none where it does not apply.
type Build = fn(&mut Graph<'_>, &Match) -> Option<Id>;

impl Law {
    /// Makes the right side; none where the law does not apply.
    pub(super) fn build(&self, graph: &mut Graph<'_>, found: &Match) -> Option<Id> {
        match &self.right {
            Right::Pattern(pattern) => pattern.build(graph, found),
            Right::Build(build) => build(graph, found),
        }
    }
}

/// All laws.
pub(super) static LAWS: LazyLock<Vec<Law>> = LazyLock::new(|| {
    let equal = EQUAL.iter().map(|&(name, left, right)| {
        let mut reader = Reader::default();
        let left = reader.read(left);
        Law { name, left, right: Right::Pattern(reader.read(right)) }
    });
    let built = BUILT.iter().map(|&(name, left, build)| {
        let left = Reader::default().read(left);
        Law { name, left, right: Right::Build(build) }
    });
    equal.chain(built).collect()
});

#[rustfmt::skip]
const EQUAL: &[(&str, &str, &str)] = &[
    ("add-zero", "(nn.add ?x 0)", "?x"),
    ("sub-zero", "(nn.sub ?x 0)", "?x"),
    ("mul-one", "(nn.mul ?x 1)", "?x"),
    ("div-one", "(nn.div ?x 1)", "?x"),
    ("pow-one", "(nn.pow ?x 1)", "?x"),
    ("pow-two", "(nn.pow ?x 2)", "(nn.square ?x)"),
    ("mul-self", "(nn.mul ?x ?x)", "(nn.square ?x)"),
    ("one-over", "(nn.div 1 ?x)", "(nn.reciprocal ?x)"),
    ("neg-neg", "(nn.neg (nn.neg ?x))", "?x"),
    ("add-neg", "(nn.add ?x (nn.neg ?y))", "(nn.sub ?x ?y)"),
    ("sub-neg", "(nn.sub ?x (nn.neg ?y))", "(nn.add ?x ?y)"),
    ("max-zero", "(nn.max ?x 0)", "(nn.relu ?x)"),
    ("relu-relu", "(nn.relu (nn.relu ?x))", "(nn.relu ?x)"),
    ("abs-abs", "(nn.abs (nn.abs ?x))", "(nn.abs ?x)"),
    ("add-add", "(nn.add (nn.add ?x $a) $b)", "(nn.add ?x (nn.add $a $b))"),
    ("mul-mul", "(nn.mul (nn.mul ?x $a) $b)", "(nn.mul ?x (nn.mul $a $b))"),
    ("sigmoid-spelt-out", "(nn.reciprocal (nn.add (nn.exp (nn.neg ?x)) 1))", "(nn.sigmoid ?x)"),
    ("silu", "(nn.mul ?x (nn.sigmoid ?x))", "(nn.silu ?x)"),
    ("gelu-half-x", "(nn.mul (nn.mul ?x 0.5) (nn.add (nn.erf (nn.div ?x 1.41421356)) 1))", "(nn.gelu ?x)"),
    ("gelu-half-product", "(nn.mul (nn.mul ?x (nn.add (nn.erf (nn.div ?x 1.41421356)) 1)) 0.5)", "(nn.gelu ?x)"),
    ("gelu-half-sum", "(nn.mul ?x (nn.mul (nn.add (nn.erf (nn.div ?x 1.41421356)) 1) 0.5))", "(nn.gelu ?x)"),
    ("gelu-times-root", "(nn.mul (nn.mul ?x 0.5) (nn.add (nn.erf (nn.mul ?x 0.70710678)) 1))", "(nn.gelu ?x)"),
];

#[rustfmt::skip]
const BUILT: &[(&str, &str, Build)] = &[
    ("batch-norm", "(nn.batch_norm ?x ?scale ?bias ?mean ?variance)", scale::batch_norm),
    ("scaled-conv", "(nn.mul (nn.conv2d ?x $w) $k)", scale::scaled_conv),
    ("scaled-conv-with-bias", "(nn.mul (nn.conv2d ?x $w $b) $k)", scale::scaled_conv),
    ("conv-plus-bias", "(nn.add (nn.conv2d ?x $w) $k)", scale::biased_conv),
    ("conv-plus-second-bias", "(nn.add (nn.conv2d ?x $w $b) $k)", scale::biased_conv),
    ("scaled-matmul", "(nn.mul (nn.matmul ?x $w) $k)", scale::scaled_matmul),
    ("scaled-matmul-with-bias", "(nn.mul (nn.matmul ?x $w $b) $k)", scale::scaled_matmul),
    ("matmul-plus-bias", "(nn.add (nn.matmul ?x ?w) $k)", scale::biased_matmul),
    ("matmul-plus-second-bias", "(nn.add (nn.matmul ?x ?w $b) $k)", scale::biased_matmul),
    ("scaled-group-norm", "(nn.mul (nn.group_norm ?x $s $b) $k)", norm::scaled),
    ("group-norm-plus-bias", "(nn.add (nn.group_norm ?x $s $b) $k)", norm::biased),
    ("group-norm-of-reshape", "(nn.reshape (nn.group_norm (nn.reshape ?x) $s $b))", norm::of_reshape),
    ("clip-without-top", "(nn.clip ?x)", scale::clip_is_relu),
    ("clip-of-clip", "(nn.clip (nn.clip ?x))", scale::clip_of_clip),
    ("clip-of-relu", "(nn.clip (nn.relu ?x))", scale::clip_of_relu),
    ("relu-of-clip", "(nn.relu (nn.clip ?x))", scale::relu_of_clip),
    ("hard-swish", "(nn.mul ?x (nn.hard_sigmoid ?x))", scale::hard_swish),
    ("hard-sigmoid", "(nn.div (nn.clip (nn.add ?x 3)) 6)", scale::hard_sigmoid),
    ("hard-swish-as-quotient", "(nn.div (nn.mul ?x (nn.clip (nn.add ?x 3))) 6)", scale::hard_swish_as_quotient),
    ("transpose-of-transpose", "(nn.transpose (nn.transpose ?x))", views::transpose_of_transpose),
    ("transpose-that-moves-nothing", "(nn.transpose ?x)", views::transpose_that_moves_nothing),
    ("reshape-of-reshape", "(nn.reshape (nn.reshape ?x))", views::reshape_of_reshape),
    ("reshape-to-same-shape", "(nn.reshape ?x)", views::operand),
    ("broadcast-to-same-shape", "(nn.broadcast ?x)", views::operand),
    ("cast-to-same-type", "(nn.cast ?x)", views::operand),
    ("slice-of-everything", "(nn.slice ?x)", views::slice_of_everything),
    ("concat-of-one", "(nn.concat ?x)", views::operand),
    ("pad-by-nothing", "(nn.pad ?x)", views::pad_by_nothing),
    ("padded-conv", "(nn.conv2d (nn.pad ?x) ?w)", views::padded_conv),
    ("padded-conv-with-bias", "(nn.conv2d (nn.pad ?x) ?w ?b)", views::padded_conv),
    ("mean-of-mean", "(nn.reduce_mean (nn.reduce_mean ?x))", views::mean_of_mean),
    ("matmul-of-transposed-left", "(nn.matmul (nn.transpose ?x) ?w)", views::matmul_of_transposed_left),
    ("matmul-of-transposed-right", "(nn.matmul ?x (nn.transpose ?w))", views::matmul_of_transposed_right),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_law_has_a_name_of_its_own() {
        let mut names: Vec<&str> = LAWS.iter().map(|law| law.name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
