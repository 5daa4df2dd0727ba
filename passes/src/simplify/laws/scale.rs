//! How factors and offsets per channel move into what makes the channels, and how clips join.

use egg::Id;
use ir::opdef::Presence;
use ir::{Attr, Context, Dim};

use super::super::fold;
use super::super::graph::{Graph, Node, add_constant, add_op, add_op_like, ask};
use super::super::matching::Match;

pub(super) fn shape(graph: &Graph<'_>, id: Id) -> Option<Vec<u64>> {
    graph.analysis.ctx.static_shape(graph[id].data.ty)
}

pub(super) fn dims(graph: &Graph<'_>, id: Id) -> Option<Vec<Dim>> {
    graph.analysis.ctx.type_data(graph[id].data.ty).tensor_shape().map(<[Dim]>::to_vec)
}

pub(super) fn reshaped(graph: &mut Graph<'_>, id: Id, sizes: &[u64]) -> Option<Id> {
    let sizes: Vec<Dim> = sizes.iter().map(|size| Dim::Known(*size)).collect();
    reshaped_to(graph, id, &sizes)
}

fn reshaped_to(graph: &mut Graph<'_>, id: Id, sizes: &[Dim]) -> Option<Id> {
    let sizes = graph.analysis.ctx.dims_attr(sizes);
    add_op(graph, "nn.reshape", &[id], &[("shape", sizes)])
}

/// `(x - mean) / sqrt(variance + epsilon) * scale + bias` as `x * k + c`, with `k` and `c` per channel.
pub(super) fn batch_norm(graph: &mut Graph<'_>, found: &Match) -> Option<Id> {
    let [x, scale, bias, mean, variance] = found.vars[..] else { return None };
    let node = &found.nodes[0];
    let ctx = graph.analysis.ctx;
    let axis = ask(graph, node, |input| input.int("axis"))? as usize;
    let epsilon = float(graph, node, "epsilon")?;
    let rank = ctx.type_data(graph[x].data.ty).tensor_shape()?.len();
    let (epsilon, ty) = fold::number(ctx, ctx.elem(graph[variance].data.ty), epsilon)?;
    let epsilon = add_constant(graph, epsilon, ty)?;
    let shifted = add_op(graph, "nn.add", &[variance, epsilon], &[])?;
    let deviation = add_op(graph, "nn.sqrt", &[shifted], &[])?;
    let k = add_op(graph, "nn.div", &[scale, deviation], &[])?;
    let centre = add_op(graph, "nn.mul", &[mean, k], &[])?;
    let c = add_op(graph, "nn.sub", &[bias, centre], &[])?;
    let mut sizes = vec![Dim::Known(1); rank.checked_sub(axis)?];
    *sizes.first_mut()? = *dims(graph, scale)?.first()?;
    let (k, c) = (reshaped_to(graph, k, &sizes)?, reshaped_to(graph, c, &sizes)?);
    let scaled = add_op(graph, "nn.mul", &[x, k], &[])?;
    add_op(graph, "nn.add", &[scaled, c], &[])
}

/// `k` as a vector of `channels` numbers, if it differs along the channel axis only; a single number as a tensor
/// without axes.
pub(super) fn per_channel(
    graph: &mut Graph<'_>,
    k: Id,
    channel_from_last: usize,
    channels: u64,
) -> Option<Id> {
    let sizes = shape(graph, k)?;
    if sizes.iter().all(|size| *size == 1) {
        return reshaped(graph, k, &[]);
    }
    let axis = sizes.len().checked_sub(channel_from_last)?;
    let is_right = |(other, size): (usize, &u64)| *size == if other == axis { channels } else { 1 };
    match sizes.iter().enumerate().all(is_right) {
        true => reshaped(graph, k, &[channels]),
        false => None,
    }
}

/// Which axis, counted from behind and from 1, a convolution's output channels are, and how many they are.
fn conv_channels(graph: &Graph<'_>, conv: &Node) -> Option<(usize, u64)> {
    let channels = shape(graph, conv.children[1])?[0];
    let from_last = ask(graph, conv, |input| input.text("layout").map(|layout| layout == "NHWC"))?;
    Some((if from_last { 1 } else { 3 }, channels))
}

pub(super) fn like(graph: &mut Graph<'_>, node: &Node, children: &[Id]) -> Option<Id> {
    let op = *graph.analysis.op(node)?;
    add_op_like(graph, op.name, children, op.properties)
}

/// `conv(x, w, b) * k` as `conv(x, w * k, b * k)`.
pub(super) fn scaled_conv(graph: &mut Graph<'_>, found: &Match) -> Option<Id> {
    let conv = &found.nodes[1];
    let (from_last, channels) = conv_channels(graph, conv)?;
    let k = per_channel(graph, *found.vars.last()?, from_last, channels)?;
    let filter_k = match shape(graph, k)?.is_empty() {
        true => k,
        false => reshaped(graph, k, &[channels, 1, 1, 1])?,
    };
    let mut children = conv.children.clone();
    children[1] = add_op(graph, "nn.mul", &[children[1], filter_k], &[])?;
    if let Some(bias) = children.get_mut(2) {
        *bias = add_op(graph, "nn.mul", &[*bias, k], &[])?;
    }
    like(graph, conv, &children)
}

/// `conv(x, w, b) + k` as `conv(x, w, b + k)`.
pub(super) fn biased_conv(graph: &mut Graph<'_>, found: &Match) -> Option<Id> {
    let conv = &found.nodes[1];
    let (from_last, channels) = conv_channels(graph, conv)?;
    biased(graph, conv, *found.vars.last()?, from_last, channels)
}

/// `a b * k` as `a (b * k)`, with a bias likewise.
pub(super) fn scaled_matmul(graph: &mut Graph<'_>, found: &Match) -> Option<Id> {
    let matmul = &found.nodes[1];
    let columns = matmul_columns(graph, matmul)?;
    let k = per_channel(graph, *found.vars.last()?, 1, columns)?;
    let is_transposed = ask(graph, matmul, |input| input.attr("transpose_b")).is_some();
    let matrix_k = match shape(graph, k)?.is_empty() || !is_transposed {
        true => k,
        false => reshaped(graph, k, &[columns, 1])?,
    };
    let mut children = matmul.children.clone();
    children[1] = add_op(graph, "nn.mul", &[children[1], matrix_k], &[])?;
    if let Some(bias) = children.get_mut(2) {
        *bias = add_op(graph, "nn.mul", &[*bias, k], &[])?;
    }
    like(graph, matmul, &children)
}

/// `a b + k` as a product with a bias.
pub(super) fn biased_matmul(graph: &mut Graph<'_>, found: &Match) -> Option<Id> {
    let matmul = &found.nodes[1];
    let columns = matmul_columns(graph, matmul)?;
    biased(graph, matmul, *found.vars.last()?, 1, columns)
}

/// The columns of the right matrix, which must have exactly two axes.
fn matmul_columns(graph: &Graph<'_>, matmul: &Node) -> Option<u64> {
    let &[rows, columns] = shape(graph, matmul.children[1])?.as_slice() else { return None };
    let is_transposed = ask(graph, matmul, |input| input.attr("transpose_b")).is_some();
    Some(if is_transposed { rows } else { columns })
}

fn biased(graph: &mut Graph<'_>, node: &Node, k: Id, from_last: usize, channels: u64) -> Option<Id> {
    let mut k = per_channel(graph, k, from_last, channels)?;
    if let Some(bias) = node.children.get(2) {
        k = add_op(graph, "nn.add", &[*bias, k], &[])?;
    } else if shape(graph, k)?.is_empty() {
        let sizes = graph.analysis.ctx.ints_attr(&[channels as i64]);
        k = add_op(graph, "nn.broadcast", &[k], &[("shape", sizes)])?;
    }
    like(graph, node, &[node.children[0], node.children[1], k])
}

/// A float attribute, or the row's default for it.
fn float(graph: &Graph<'_>, node: &Node, name: &str) -> Option<f64> {
    let given = ask(graph, node, |input| input.attr(name));
    let given = given.and_then(|attr| graph.analysis.ctx.float_value(attr));
    given.or_else(|| match graph.analysis.op(node)?.def.attr(name)?.presence {
        Presence::DefaultFloat(value) => Some(value),
        _ => None,
    })
}

/// The bounds of a clip.
fn bounds(graph: &Graph<'_>, clip: &Node) -> (f64, f64) {
    let bound = |name: &str| float(graph, clip, name).expect("a clip has bounds");
    (bound("lo"), bound("hi"))
}

fn clip(graph: &mut Graph<'_>, x: Id, lo: f64, hi: f64) -> Option<Id> {
    let ctx: &Context = graph.analysis.ctx;
    let bounds: [(&str, Attr); 2] = [("lo", ctx.f32_attr(lo as f32)), ("hi", ctx.f32_attr(hi as f32))];
    add_op(graph, "nn.clip", &[x], &bounds)
}

/// `clip(x, 0, infinity)` as `relu(x)`.
pub(super) fn clip_is_relu(graph: &mut Graph<'_>, found: &Match) -> Option<Id> {
    match bounds(graph, &found.nodes[0]) == (0.0, f64::INFINITY) {
        true => add_op(graph, "nn.relu", &[found.vars[0]], &[]),
        false => None,
    }
}

/// A clip to `outer` of a clip to `inner` as one clip; the outer one's bounds hold where they cross.
pub(super) fn clip_of_clip(graph: &mut Graph<'_>, found: &Match) -> Option<Id> {
    let (outer, inner) = (bounds(graph, &found.nodes[0]), bounds(graph, &found.nodes[1]));
    if outer.0 > outer.1 || inner.0 > inner.1 {
        return None;
    }
    let inside = |bound: f64| bound.clamp(outer.0, outer.1);
    clip(graph, found.vars[0], inside(inner.0), inside(inner.1))
}

/// `clip(relu(x), lo, hi)` as one clip, where it does not cut below zero only.
pub(super) fn clip_of_relu(graph: &mut Graph<'_>, found: &Match) -> Option<Id> {
    let (lo, hi) = bounds(graph, &found.nodes[0]);
    match lo <= hi && hi >= 0.0 {
        true => clip(graph, found.vars[0], lo.max(0.0), hi),
        false => None,
    }
}

/// `relu(clip(x, lo, hi))` as one clip.
pub(super) fn relu_of_clip(graph: &mut Graph<'_>, found: &Match) -> Option<Id> {
    let (lo, hi) = bounds(graph, &found.nodes[1]);
    match lo <= hi && hi >= 0.0 {
        true => clip(graph, found.vars[0], lo.max(0.0), hi),
        false => None,
    }
}

/// `clip(x + 3, 0, 6) / 6` as `hard_sigmoid(x)` with slope 1/6 and offset 1/2.
pub(super) fn hard_sigmoid(graph: &mut Graph<'_>, found: &Match) -> Option<Id> {
    if bounds(graph, &found.nodes[1]) != (0.0, 6.0) {
        return None;
    }
    let ctx = graph.analysis.ctx;
    let attrs = [("alpha", ctx.f32_attr(1.0 / 6.0)), ("beta", ctx.f32_attr(0.5))];
    add_op(graph, "nn.hard_sigmoid", &[found.vars[0]], &attrs)
}

/// `x * hard_sigmoid(x)` as `hard_swish(x)`, where the slope is 1/6 and the offset 1/2.
pub(super) fn hard_swish(graph: &mut Graph<'_>, found: &Match) -> Option<Id> {
    let gate = &found.nodes[1];
    let (slope, offset) = (float(graph, gate, "alpha")?, float(graph, gate, "beta")?);
    match (slope * 6.0 - 1.0).abs() < 1e-6 && offset == 0.5 {
        true => add_op(graph, "nn.hard_swish", &[found.vars[0]], &[]),
        false => None,
    }
}

/// `x * clip(x + 3, 0, 6) / 6` as `hard_swish(x)`.
pub(super) fn hard_swish_as_quotient(graph: &mut Graph<'_>, found: &Match) -> Option<Id> {
    match bounds(graph, &found.nodes[2]) == (0.0, 6.0) {
        true => add_op(graph, "nn.hard_swish", &[found.vars[0]], &[]),
        false => None,
    }
}
