//! How clips join, with each other and with relu, and which of them are gates.

use ir::{Attr, Context};

use crate::rewrite::{LawMatch, Matched, Rule, Term, Terms};

/// The laws.
#[rustfmt::skip]
pub(super) static LAWS: &[Rule] = &[
    Rule::computed("clip-without-top", "(nn.clip ?x)",
        "relu, where the bounds are 0 and infinity", clip_is_relu),
    Rule::computed("clip-of-clip", "(nn.clip (nn.clip ?x))",
        "one clip; the outer bounds hold where they cross", clip_of_clip).near(),
    Rule::computed("clip-of-relu", "(nn.clip (nn.relu ?x))",
        "one clip from at least 0, unless the upper bound is below it", clip_of_relu).near(),
    Rule::computed("relu-of-clip", "(nn.relu (nn.clip ?x))",
        "one clip from at least 0, unless the upper bound is below it", relu_of_clip).near(),
    Rule::computed("hard-sigmoid", "(nn.div (nn.clip (nn.add ?x 3)) 6)",
        "hard_sigmoid of slope 1/6 and offset 1/2, where the bounds are 0 and 6", hard_sigmoid).near(),
    Rule::computed("hard-swish", "(nn.mul ?x (nn.hard_sigmoid ?x))",
        "hard_swish, where the slope is 1/6 and the offset 1/2", hard_swish).near(),
    Rule::computed("hard-swish-as-quotient", "(nn.div (nn.mul ?x (nn.clip (nn.add ?x 3))) 6)",
        "hard_swish, where the bounds are 0 and 6", hard_swish_as_quotient).near(),
];

/// The bounds of a clip.
fn bounds(terms: &dyn Terms<'_>, clip: &Matched) -> (f64, f64) {
    let bound = |name: &str| terms.input(clip).float(name).expect("a clip has bounds");
    (bound("lo"), bound("hi"))
}

fn clip(terms: &mut dyn Terms<'_>, x: Term, lo: f64, hi: f64) -> Option<Term> {
    let ctx: &Context = terms.ctx();
    let bounds: [(&str, Attr); 2] = [("lo", ctx.f32_attr(lo as f32)), ("hi", ctx.f32_attr(hi as f32))];
    terms.make("nn.clip", &[x], &bounds)
}

/// `clip(x, 0, infinity)` as `relu(x)`.
fn clip_is_relu(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    let (lo, hi) = bounds(terms, &found.ops[0]);
    let is_relu = lo == 0.0 && lo.is_sign_positive() && hi == f64::INFINITY;
    is_relu.then(|| terms.make("nn.relu", &[found.vars[0]], &[])).flatten()
}

/// A clip to `outer` of a clip to `inner` as one clip; the outer one's bounds hold where they cross.
fn clip_of_clip(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    let (outer, inner) = (bounds(terms, &found.ops[0]), bounds(terms, &found.ops[1]));
    if !(outer.0 <= outer.1 && inner.0 <= inner.1) {
        return None;
    }
    let inside = |bound: f64| bound.clamp(outer.0, outer.1);
    clip(terms, found.vars[0], inside(inner.0), inside(inner.1))
}

/// `clip(relu(x), lo, hi)` as one clip, where it does not cut below zero only.
fn clip_of_relu(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    let (lo, hi) = bounds(terms, &found.ops[0]);
    match lo <= hi && hi >= 0.0 {
        true => clip(terms, found.vars[0], lo.max(0.0), hi),
        false => None,
    }
}

/// `relu(clip(x, lo, hi))` as one clip.
fn relu_of_clip(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    let (lo, hi) = bounds(terms, &found.ops[1]);
    match lo <= hi && hi >= 0.0 {
        true => clip(terms, found.vars[0], lo.max(0.0), hi),
        false => None,
    }
}

/// `clip(x + 3, 0, 6) / 6` as `hard_sigmoid(x)` with slope 1/6 and offset 1/2.
fn hard_sigmoid(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    if bounds(terms, &found.ops[1]) != (0.0, 6.0) {
        return None;
    }
    let ctx = terms.ctx();
    let attrs = [("alpha", ctx.f32_attr(1.0 / 6.0)), ("beta", ctx.f32_attr(0.5))];
    terms.make("nn.hard_sigmoid", &[found.vars[0]], &attrs)
}

/// `x * hard_sigmoid(x)` as `hard_swish(x)`, where the slope is 1/6 and the offset 1/2.
fn hard_swish(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    let gate = &found.ops[1];
    let (slope, offset) = (terms.input(gate).float("alpha")?, terms.input(gate).float("beta")?);
    match (slope * 6.0 - 1.0).abs() < 1e-6 && offset == 0.5 {
        true => terms.make("nn.hard_swish", &[found.vars[0]], &[]),
        false => None,
    }
}

/// `x * clip(x + 3, 0, 6) / 6` as `hard_swish(x)`.
fn hard_swish_as_quotient(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    match bounds(terms, &found.ops[2]) == (0.0, 6.0) {
        true => terms.make("nn.hard_swish", &[found.vars[0]], &[]),
        false => None,
    }
}
