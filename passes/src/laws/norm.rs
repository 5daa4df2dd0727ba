//! How factors, offsets and reshapes move into the normalisation of groups of channels.

use ir::Dim;

use super::reshaped;
use super::scale::per_channel;
use crate::rewrite::{LawMatch, Matched, Rule, Term, Terms};

/// The laws.
#[rustfmt::skip]
pub(super) static LAWS: &[Rule] = &[
    Rule::computed("scaled-group-norm", "(nn.mul (nn.group_norm ?x $s $b) $k)",
        "the norm with s * k and b * k, where k differs along the channels only", scaled).near(),
    Rule::computed("group-norm-plus-bias", "(nn.add (nn.group_norm ?x $s $b) $k)",
        "the norm with b + k, where k differs along the channels only", biased).near(),
    Rule::computed("group-norm-of-reshape", "(nn.reshape (nn.group_norm (nn.reshape ?x) $s $b))",
        "one norm of x, where the inner reshape joins each group's channels with the pixels", of_reshape).near(),
];

/// Which axis, counted from the last one, which is 1, the channels are, and how many they are.
fn channels(terms: &dyn Terms<'_>, norm: &Matched) -> Option<(usize, u64)> {
    let sizes = terms.dims(norm.operands[0])?;
    let axis = terms.input(norm).int("axis")? as usize;
    Some((sizes.len().checked_sub(axis)?, sizes.get(axis)?.known()?))
}

/// `norm(x, s, b) * k` as `norm(x, s * k, b * k)`.
fn scaled(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    let norm = &found.ops[1];
    let (from_last, channels) = channels(terms, norm)?;
    let k = per_channel(terms, *found.vars.last()?, from_last, channels)?;
    let scale = terms.make("nn.mul", &[norm.operands[1], k], &[])?;
    let bias = terms.make("nn.mul", &[norm.operands[2], k], &[])?;
    terms.make_like(norm, &[norm.operands[0], scale, bias])
}

/// `norm(x, s, b) + k` as `norm(x, s, b + k)`.
fn biased(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    let norm = &found.ops[1];
    let (from_last, channels) = channels(terms, norm)?;
    let k = per_channel(terms, *found.vars.last()?, from_last, channels)?;
    let bias = terms.make("nn.add", &[norm.operands[2], k], &[])?;
    terms.make_like(norm, &[norm.operands[0], norm.operands[1], bias])
}

/// A reshape of the norm of a reshape that joins each group's channels with the pixels, as one norm of what
/// comes first.
///
/// ```text
/// norm(reshape(x : NxCxHxW) : NxGxK, s, b) : G groups => norm(x, s for each channel, b likewise) : G groups
/// ```
fn of_reshape(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    let (outer, norm) = (&found.ops[0], &found.ops[1]);
    let &[x, scale, bias] = &found.vars[..] else { return None };
    let (sizes, joined) = (terms.dims(x)?, terms.dims(norm.operands[0])?);
    let axis = terms.input(norm).int("axis")?;
    let axes = terms.input(norm).ints("axes").ok()?;
    let is_plain = axis == 1 && axes.iter().copied().eq(2..joined.len() as i64);
    let (&[n, Dim::Known(channels), ..], &[joined_n, Dim::Known(runs), ..]) = (sizes, joined) else {
        return None;
    };
    if !is_plain || n != joined_n || n == Dim::Unknown || runs == 0 || channels % runs != 0 {
        return None;
    }
    let groups = terms.input(norm).int("groups")?;
    let groups = if groups == 0 { i64::try_from(runs).ok()? } else { groups };
    let epsilon = terms.input(norm).attr("epsilon");
    let (scale, bias) = (repeated(terms, scale, channels)?, repeated(terms, bias, channels)?);
    let ctx = terms.ctx();
    let axes: Vec<i64> = (2..sizes.len() as i64).collect();
    let mut attrs =
        vec![("axis", ctx.int_attr(1)), ("axes", ctx.ints_attr(&axes)), ("groups", ctx.int_attr(groups))];
    attrs.extend(epsilon.map(|epsilon| ("epsilon", epsilon)));
    let norm = terms.make("nn.group_norm", &[x, scale, bias], &attrs)?;
    terms.make_like(outer, &[norm])
}

/// A vector with each number as often as makes `count` of them.
fn repeated(terms: &mut dyn Terms<'_>, vector: Term, count: u64) -> Option<Term> {
    let size = *terms.shape(vector)?.first()?;
    let column = reshaped(terms, vector, &[size, 1])?;
    let sizes = terms.ctx().ints_attr(&[size as i64, (count / size) as i64]);
    let table = terms.make("nn.broadcast", &[column], &[("shape", sizes)])?;
    reshaped(terms, table, &[count])
}
