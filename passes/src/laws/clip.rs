//! Laws of clips: merging with each other and with relu, and recognising gates.

use ir::{Attr, Context};

use crate::rewrite::{LawCondition, LawMatch, Matched, Rule, Term, Terms};

/// The laws.
#[rustfmt::skip]
pub(super) static LAWS: &[Rule] = &[
    Rule::computed("clip-without-top", "(nn.clip ?x)", "relu", relu).only(&[
        LawCondition { doc: "the lower bound is 0", holds: |terms, found| is_zero(bounds(terms, &found.ops[0]).0) },
        LawCondition { doc: "there is no upper bound", holds: |terms, found| bounds(terms, &found.ops[0]).1 == f64::INFINITY },
    ]),
    Rule::computed("clip-of-clip", "(nn.clip (nn.clip ?x))", "one clip, by the outer bounds where they cross the inner ones", clip_of_clip).near().only(&[
        LawCondition { doc: "the inner bounds do not cross", holds: |terms, found| in_order(terms, &found.ops[1]) },
    ]),
    Rule::computed("clip-of-relu", "(nn.clip (nn.relu ?x))", "one clip from at least 0", clip_of_relu).near(),
    Rule::computed("relu-of-clip", "(nn.relu (nn.clip ?x))", "one clip from at least 0", relu_of_clip).near().only(&[
        LawCondition { doc: "the upper bound is at least 0", holds: |terms, found| bounds(terms, &found.ops[1]).1 >= 0.0 },
    ]),
    Rule::computed("hard-sigmoid", "(nn.div (nn.clip (nn.add ?x 3)) 6)", "hard_sigmoid of slope 1/6 and offset 1/2", hard_sigmoid).near().only(&[
        LawCondition { doc: "the lower bound is 0", holds: |terms, found| bounds(terms, &found.ops[1]).0 == 0.0 },
        LawCondition { doc: "the upper bound is 6", holds: |terms, found| bounds(terms, &found.ops[1]).1 == 6.0 },
    ]),
    Rule::computed("hard-swish", "(nn.mul ?x (nn.hard_sigmoid ?x))", "hard_swish", hard_swish).near().only(&[
        LawCondition { doc: "the slope is 1/6", holds: |terms, found| {
            terms.input(&found.ops[1]).float("alpha").is_some_and(|slope| (slope * 6.0 - 1.0).abs() < 1e-6)
        } },
        LawCondition { doc: "the offset is 1/2", holds: |terms, found| terms.input(&found.ops[1]).float("beta") == Some(0.5) },
    ]),
    Rule::computed("hard-swish-as-quotient", "(nn.div (nn.mul ?x (nn.clip (nn.add ?x 3))) 6)", "hard_swish", hard_swish).near().only(&[
        LawCondition { doc: "the lower bound is 0", holds: |terms, found| bounds(terms, &found.ops[2]).0 == 0.0 },
        LawCondition { doc: "the upper bound is 6", holds: |terms, found| bounds(terms, &found.ops[2]).1 == 6.0 },
    ]),
];

/// Whether a number is 0, not -0.
fn is_zero(number: f64) -> bool {
    number == 0.0 && number.is_sign_positive()
}

/// Whether the bounds of a clip are numbers that do not cross.
fn in_order(terms: &dyn Terms<'_>, clip: &Matched) -> bool {
    let (lo, hi) = bounds(terms, clip);
    lo <= hi
}

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

/// The operand as `relu(x)`.
fn relu(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    terms.make("nn.relu", &[found.vars[0]], &[])
}

/// A clip to `outer` of a clip to `inner` as one clip; if the bounds cross, those of the outer one win.
fn clip_of_clip(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    let outer = bounds(terms, &found.ops[0]);
    let inner = bounds(terms, &found.ops[1]);
    let inside = |bound: f64| bound.max(outer.0).min(outer.1);
    clip(terms, found.vars[0], inside(inner.0), inside(inner.1))
}

/// `clip(relu(x), lo, hi)` as one clip.
fn clip_of_relu(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    let (lo, hi) = bounds(terms, &found.ops[0]);
    clip(terms, found.vars[0], lo.max(0.0), hi)
}

/// `relu(clip(x, lo, hi))` as one clip.
fn relu_of_clip(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    let (lo, hi) = bounds(terms, &found.ops[1]);
    clip(terms, found.vars[0], lo.max(0.0), hi)
}

/// The operand as `hard_sigmoid(x)` with slope 1/6 and offset 1/2.
fn hard_sigmoid(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    let ctx = terms.ctx();
    let attrs = [("alpha", ctx.f32_attr(1.0 / 6.0)), ("beta", ctx.f32_attr(0.5))];
    terms.make("nn.hard_sigmoid", &[found.vars[0]], &attrs)
}

/// The operand as `hard_swish(x)`.
fn hard_swish(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    terms.make("nn.hard_swish", &[found.vars[0]], &[])
}
