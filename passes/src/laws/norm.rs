//! Laws of normalisations: recognising those along an axis, and moving factors, offsets and reshapes into
//! those of groups.

use ir::{Context, Dim};

use super::reshaped;
use super::scale::{is_along, per_channel};
use crate::constants;
use crate::rewrite::{LawCondition, LawMatch, Matched, Rule, Term, Terms};

/// The laws.
#[rustfmt::skip]
pub(super) static LAWS: &[Rule] = &[
    Rule::computed("scaled-group-norm", "(nn.mul (nn.group_norm ?x $s $b) $k)",
        "the norm with s * k and b * k", scaled).near().only(&[ALONG_CHANNELS]),
    Rule::computed("group-norm-plus-bias", "(nn.add (nn.group_norm ?x $s $b) $k)",
        "the norm with b + k", biased).near().only(&[ALONG_CHANNELS]),
    Rule::computed("group-norm-of-reshape", "(nn.reshape (nn.group_norm (nn.reshape ?x) $s $b))",
        "one norm of x", of_reshape).near().only(&[
        LawCondition { doc: "the channels come second", holds: |terms, found| terms.input(&found.ops[1]).int("axis") == Some(1) },
        LawCondition { doc: "the norm is of all axes after them", holds: |terms, found| {
            let rank = terms.dims(found.ops[1].operands[0]).map_or(0, <[Dim]>::len);
            terms.input(&found.ops[1]).ints("axes").is_ok_and(|axes| axes.into_iter().eq(2..rank as i64))
        } },
        LawCondition { doc: "the inner reshape joins each group's channels with the pixels", holds: joins_channels },
    ]),
    Rule::computed("rms-norm-by-reciprocal",
        "(nn.mul ?x (nn.reciprocal (nn.sqrt (nn.add (nn.reduce_mean (nn.square ?x)) $e))))",
        "the norm of x about zero", by_root).near().only(&[MEAN_OF_ONE_AXIS]),
    Rule::computed("rms-norm-by-quotient", "(nn.div ?x (nn.sqrt (nn.add (nn.reduce_mean (nn.square ?x)) $e)))",
        "the norm of x about zero", by_root).near().only(&[MEAN_OF_ONE_AXIS]),
    Rule::computed("norm-of-centred", "(nn.group_norm (nn.sub ?x (nn.reduce_mean ?x)) ?s ?b)",
        "the norm of x about its mean", of_centred).near().only(&[
        MEAN_OF_ONE_AXIS,
        LawCondition { doc: "it is that of the norm's channels", holds: |terms, found| {
            terms.input(&found.ops[0]).int("axis") == mean_axis(terms, found)
        } },
        LawCondition { doc: "they are one group", holds: |terms, found| terms.input(&found.ops[0]).int("groups") == Some(1) },
        LawCondition { doc: "it is of no other axis", holds: |terms, found| {
            terms.input(&found.ops[0]).ints("axes").is_ok_and(|axes| axes.is_empty())
        } },
    ]),
];

/// A factor or offset per channel can become one of the norm's.
const ALONG_CHANNELS: LawCondition = LawCondition {
    doc: "k differs along the channels only",
    holds: |terms, found| {
        channels(terms, &found.ops[1]).is_some_and(|(axis, count)| is_along(terms, found, axis, count))
    },
};

/// A mean that is broadcast along the axis that it is of.
const MEAN_OF_ONE_AXIS: LawCondition = LawCondition {
    doc: "the mean is that of one axis alone, which it keeps",
    holds: |terms, found| {
        mean_of(found).is_some_and(|mean| {
            let axes = terms.input(mean).ints("axes").unwrap_or_default();
            axes.len() == 1 && terms.input(mean).attr("keepdims").is_some()
        })
    },
};

/// The mean in a match.
fn mean_of(found: &LawMatch) -> Option<&Matched> {
    found.ops.iter().find(|op| op.def.name == "nn.reduce_mean")
}

/// The first axis that the mean in a match is of.
fn mean_axis(terms: &dyn Terms<'_>, found: &LawMatch) -> Option<i64> {
    terms.input(mean_of(found)?).ints("axes").ok()?.first().copied()
}

/// The axis of the channels, counted from the last one as 1, and the number of channels.
fn channels(terms: &dyn Terms<'_>, norm: &Matched) -> Option<(usize, u64)> {
    let sizes = terms.dims(norm.operands[0])?;
    let axis = terms.input(norm).int("axis")? as usize;
    Some((sizes.len().checked_sub(axis)?, sizes.get(axis)?.known()?))
}

/// `norm(x, s, b) * k` as `norm(x, s * k, b * k)`.
fn scaled(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    let norm = &found.ops[1];
    let (_, channels) = channels(terms, norm)?;
    let k = per_channel(terms, found, channels)?;
    let scale = terms.make("nn.mul", &[norm.operands[1], k], &[])?;
    let bias = terms.make("nn.mul", &[norm.operands[2], k], &[])?;
    terms.make_like(norm, &[norm.operands[0], scale, bias])
}

/// `norm(x, s, b) + k` as `norm(x, s, b + k)`.
fn biased(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    let norm = &found.ops[1];
    let (_, channels) = channels(terms, norm)?;
    let k = per_channel(terms, found, channels)?;
    let bias = terms.make("nn.add", &[norm.operands[2], k], &[])?;
    terms.make_like(norm, &[norm.operands[0], norm.operands[1], bias])
}

/// Whether a reshape keeps the first axis and turns each group's channels and pixels into one or several
/// rows.
fn joins_channels(terms: &dyn Terms<'_>, found: &LawMatch) -> bool {
    match [found.vars[0], found.ops[1].operands[0]].map(|term| terms.dims(term)) {
        [Some(&[n, Dim::Known(channels), ..]), Some(&[joined_n, Dim::Known(runs), ..])] => {
            n == joined_n && n != Dim::Unknown && runs != 0 && channels % runs == 0
        }
        _ => false,
    }
}

/// Rewrites the reshape of a norm of a reshape that joins each group's channels with the pixels as one norm
/// of the original operand.
///
/// ```text
/// norm(reshape(x : NxCxHxW) : NxGxK, s, b) : G groups => norm(x, s for each channel, b likewise) : G groups
/// ```
fn of_reshape(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    let (outer, norm) = (&found.ops[0], &found.ops[1]);
    let &[x, scale, bias] = &found.vars[..] else { return None };
    let sizes = terms.dims(x)?;
    let channels = sizes.get(1)?.known()?;
    let runs = terms.dims(norm.operands[0])?.get(1)?.known()?;
    let groups = terms.input(norm).int("groups")?;
    let groups = if groups == 0 { i64::try_from(runs).ok()? } else { groups };
    let others = ["epsilon", "about_zero"].map(|name| (name, terms.input(norm).attr(name)));
    let (scale, bias) = (repeated(terms, scale, channels)?, repeated(terms, bias, channels)?);
    let ctx = terms.ctx();
    let axes: Vec<i64> = (2..sizes.len() as i64).collect();
    let mut attrs =
        vec![("axis", ctx.int_attr(1)), ("axes", ctx.ints_attr(&axes)), ("groups", ctx.int_attr(groups))];
    attrs.extend(others.into_iter().filter_map(|(name, attr)| Some((name, attr?))));
    let norm = terms.make("nn.group_norm", &[x, scale, bias], &attrs)?;
    terms.make_like(outer, &[norm])
}

/// A vector with each element repeated equally often, `count` elements in all.
fn repeated(terms: &mut dyn Terms<'_>, vector: Term, count: u64) -> Option<Term> {
    let size = *terms.shape(vector)?.first()?;
    let column = reshaped(terms, vector, &[size, 1])?;
    let sizes = terms.ctx().ints_attr(&[size as i64, (count / size) as i64]);
    let table = terms.make("nn.broadcast", &[column], &[("shape", sizes)])?;
    reshaped(terms, table, &[count])
}

/// The quotient of x and its root mean square along an axis, as a norm about zero.
fn by_root(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    let &[x, epsilon] = &found.vars[..] else { return None };
    let ctx: &Context = terms.ctx();
    let axis = mean_axis(terms, found)?;
    let &Dim::Known(channels) = terms.dims(x)?.get(usize::try_from(axis).ok()?)? else { return None };
    // The norm's vectors are `f32`.
    if ctx.elem(found.ty) != ctx.f32() {
        return None;
    }
    let epsilon = constants::splat(ctx, terms.constant(epsilon)?, terms.ty(epsilon))?;
    let attrs = [
        ("axis", ctx.int_attr(axis)),
        ("axes", ctx.ints_attr(&[])),
        ("groups", ctx.int_attr(1)),
        ("epsilon", ctx.f32_attr(*epsilon.to_f32().first()?)),
        ("about_zero", ctx.unit_attr()),
    ];
    let ty = ctx.tensor(&[channels], ctx.f32());
    let scale = terms.make_constant(constants::filled(ctx, ty, 1.0)?, ty)?;
    let bias = terms.make_constant(constants::filled(ctx, ty, 0.0)?, ty)?;
    terms.make("nn.group_norm", &[x, scale, bias], &attrs)
}

/// A norm, about zero or its mean, of `x` minus its mean, as the norm about the mean.
fn of_centred(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    let norm = &found.ops[0];
    let ctx = terms.ctx();
    let properties = ctx.dict_remove(norm.properties, ctx.ident("about_zero"));
    terms.make_op(norm.name, &found.vars, properties)
}
