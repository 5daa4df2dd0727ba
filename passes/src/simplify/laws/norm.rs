//! How factors, offsets and reshapes move into the normalisation of groups of channels.

use egg::Id;
use ir::Dim;

use super::super::graph::{Graph, Node, add_op, ask};
use super::super::matching::Match;
use super::scale::{dims, like, per_channel, reshaped, shape};

/// Which axis, counted from behind and from 1, the channels are, and how many they are.
fn channels(graph: &Graph<'_>, norm: &Node) -> Option<(usize, u64)> {
    let sizes = dims(graph, norm.children[0])?;
    let axis = ask(graph, norm, |input| input.int("axis"))? as usize;
    Some((sizes.len().checked_sub(axis)?, sizes.get(axis)?.known()?))
}

/// `norm(x, s, b) * k` as `norm(x, s * k, b * k)`.
pub(super) fn scaled(graph: &mut Graph<'_>, found: &Match) -> Option<Id> {
    let norm = &found.nodes[1];
    let (from_last, channels) = channels(graph, norm)?;
    let k = per_channel(graph, *found.vars.last()?, from_last, channels)?;
    let scale = add_op(graph, "nn.mul", &[norm.children[1], k], &[])?;
    let bias = add_op(graph, "nn.mul", &[norm.children[2], k], &[])?;
    like(graph, norm, &[norm.children[0], scale, bias])
}

/// `norm(x, s, b) + k` as `norm(x, s, b + k)`.
pub(super) fn biased(graph: &mut Graph<'_>, found: &Match) -> Option<Id> {
    let norm = &found.nodes[1];
    let (from_last, channels) = channels(graph, norm)?;
    let k = per_channel(graph, *found.vars.last()?, from_last, channels)?;
    let bias = add_op(graph, "nn.add", &[norm.children[2], k], &[])?;
    like(graph, norm, &[norm.children[0], norm.children[1], bias])
}

/// A reshape of the norm of a reshape that joins each group's channels with the pixels, as one norm of what comes first.
///
/// ```text
/// norm(reshape(x : NxCxHxW) : NxGxK, s, b) : G groups  =>  norm(x, s for each channel, b likewise) : G groups
/// ```
pub(super) fn of_reshape(graph: &mut Graph<'_>, found: &Match) -> Option<Id> {
    let (outer, norm) = (&found.nodes[0], &found.nodes[1]);
    let &[x, scale, bias] = &found.vars[..] else { return None };
    let (sizes, joined) = (dims(graph, x)?, dims(graph, norm.children[0])?);
    let axis = ask(graph, norm, |input| input.int("axis"))?;
    let axes = ask(graph, norm, |input| input.ints("axes").ok())?;
    let is_plain = axis == 1 && axes.iter().copied().eq(2..joined.len() as i64);
    let (&[n, Dim::Known(channels), ..], &[joined_n, Dim::Known(runs), ..]) = (&sizes[..], &joined[..])
    else {
        return None;
    };
    if !is_plain || n != joined_n || n == Dim::Unknown || runs == 0 || channels % runs != 0 {
        return None;
    }
    let groups = ask(graph, norm, |input| input.int("groups"))?;
    let groups = if groups == 0 { i64::try_from(runs).ok()? } else { groups };
    let epsilon = ask(graph, norm, |input| input.attr("epsilon"));
    let (scale, bias) = (repeated(graph, scale, channels)?, repeated(graph, bias, channels)?);
    let ctx = graph.analysis.ctx;
    let axes: Vec<i64> = (2..sizes.len() as i64).collect();
    let mut attrs =
        vec![("axis", ctx.int_attr(1)), ("axes", ctx.ints_attr(&axes)), ("groups", ctx.int_attr(groups))];
    attrs.extend(epsilon.map(|epsilon| ("epsilon", epsilon)));
    let norm = add_op(graph, "nn.group_norm", &[x, scale, bias], &attrs)?;
    like(graph, outer, &[norm])
}

/// A vector with each number as often as makes `count` of them.
fn repeated(graph: &mut Graph<'_>, vector: Id, count: u64) -> Option<Id> {
    let size = *shape(graph, vector)?.first()?;
    let column = reshaped(graph, vector, &[size, 1])?;
    let sizes = graph.analysis.ctx.ints_attr(&[size as i64, (count / size) as i64]);
    let table = add_op(graph, "nn.broadcast", &[column], &[("shape", sizes)])?;
    reshaped(graph, table, &[count])
}
