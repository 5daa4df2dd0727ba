//! How views, pads and reductions join with each other and with what reads them.

use egg::Id;
use ir::Attr;
use ir::opdef::InferInput;

use super::super::graph::{Graph, Node, add_op, add_op_like, ask};
use super::super::matching::Match;

fn ints(graph: &Graph<'_>, node: &Node, name: &str) -> Option<Vec<i64>> {
    ask(graph, node, |input| input.ints(name).ok())
}

/// The operand itself: for operations that then change nothing but the type.
pub(super) fn operand(_: &mut Graph<'_>, found: &Match) -> Option<Id> {
    Some(found.vars[0])
}

/// Two transposes as one.
pub(super) fn transpose_of_transpose(graph: &mut Graph<'_>, found: &Match) -> Option<Id> {
    let outer = ints(graph, &found.nodes[0], "permutation")?;
    let inner = ints(graph, &found.nodes[1], "permutation")?;
    let joined: Vec<i64> = outer.iter().map(|axis| inner[*axis as usize]).collect();
    let joined = graph.analysis.ctx.ints_attr(&joined);
    add_op(graph, "nn.transpose", &[found.vars[0]], &[("permutation", joined)])
}

/// The operand of a transpose to the same order.
pub(super) fn transpose_that_moves_nothing(graph: &mut Graph<'_>, found: &Match) -> Option<Id> {
    let permutation = ints(graph, &found.nodes[0], "permutation")?;
    permutation.iter().copied().eq(0..permutation.len() as i64).then_some(found.vars[0])
}

/// Two reshapes as one.
pub(super) fn reshape_of_reshape(graph: &mut Graph<'_>, found: &Match) -> Option<Id> {
    let op = *graph.analysis.op(&found.nodes[0])?;
    add_op_like(graph, op.name, &[found.vars[0]], op.properties)
}

/// The operand of a slice without strides: it is everything if the type is the same.
pub(super) fn slice_of_everything(graph: &mut Graph<'_>, found: &Match) -> Option<Id> {
    let strides = ints(graph, &found.nodes[0], "strides").unwrap_or_default();
    strides.iter().all(|stride| *stride == 1).then_some(found.vars[0])
}

/// The operand of a pad by no elements.
pub(super) fn pad_by_nothing(graph: &mut Graph<'_>, found: &Match) -> Option<Id> {
    let (low, high) = (ints(graph, &found.nodes[0], "low")?, ints(graph, &found.nodes[0], "high")?);
    low.iter().chain(&high).all(|size| *size == 0).then_some(found.vars[0])
}

/// The mean of a mean as a mean over the axes of both, where the first keeps its axes.
pub(super) fn mean_of_mean(graph: &mut Graph<'_>, found: &Match) -> Option<Id> {
    let [outer, inner] = &found.nodes[..] else { return None };
    let keeps = |node: &Node| ask(graph, node, |input| input.attr("keepdims"));
    keeps(inner)?;
    let keepdims = keeps(outer);
    let mut axes = ints(graph, outer, "axes")?;
    axes.extend(ints(graph, inner, "axes")?);
    axes.sort_unstable();
    axes.dedup();
    let mut attrs = vec![("axes", graph.analysis.ctx.ints_attr(&axes))];
    attrs.extend(keepdims.map(|unit| ("keepdims", unit)));
    add_op(graph, "nn.reduce_mean", &[found.vars[0]], &attrs)
}

/// A convolution of an image that is padded with zeros as a convolution with more padding.
pub(super) fn padded_conv(graph: &mut Graph<'_>, found: &Match) -> Option<Id> {
    let [conv, pad] = &found.nodes[..] else { return None };
    let ctx = graph.analysis.ctx;
    let value = ask(graph, pad, |input| input.attr("value")).and_then(|value| ctx.float_value(value));
    let (low, high) = (ints(graph, pad, "low")?, ints(graph, pad, "high")?);
    let first = ask(graph, conv, |input| input.text("layout").map(|layout| layout == "NHWC"))?;
    let first = if first { 1 } else { 2 };
    let is_image = |axis: usize| axis == first || axis == first + 1;
    let others = (0..low.len()).filter(|axis| !is_image(*axis));
    let is_only_image = others.clone().all(|axis| low[axis] == 0 && high[axis] == 0);
    let is_outwards = low.iter().chain(&high).all(|size| *size >= 0);
    if low.len() != 4 || !is_only_image || !is_outwards || value.is_some_and(|value| value != 0.0) {
        return None;
    }
    let mut pads = ints(graph, conv, "pads")?;
    let more = [low[first], low[first + 1], high[first], high[first + 1]];
    pads.iter_mut().zip(more).for_each(|(pad, more)| *pad += more);
    let op = *graph.analysis.op(conv)?;
    let properties = ctx.dict_set(op.properties, ctx.ident("pads"), ctx.ints_attr(&pads));
    let mut children = conv.children.clone();
    children[0] = found.vars[0];
    add_op_like(graph, op.name, &children, properties)
}

/// Whether a transpose swaps the last two axes and moves no other.
fn swaps_matrix(graph: &Graph<'_>, transpose: &Node) -> Option<()> {
    let mut permutation = ints(graph, transpose, "permutation")?;
    let rank = permutation.len();
    permutation.swap(rank.checked_sub(2)?, rank - 1);
    permutation.iter().copied().eq(0..rank as i64).then_some(())
}

/// The attributes of a product with one of its flags turned.
fn turned(input: &InferInput<'_>, flag: &str) -> Attr {
    let ctx = input.ctx;
    match input.attr(flag) {
        Some(_) => ctx.dict_remove(input.properties, ctx.ident(flag)),
        None => ctx.dict_set(input.properties, ctx.ident(flag), ctx.unit_attr()),
    }
}

/// A product of a transposed left matrix, by the product's own flag.
pub(super) fn matmul_of_transposed_left(graph: &mut Graph<'_>, found: &Match) -> Option<Id> {
    swaps_matrix(graph, &found.nodes[1])?;
    let name = graph.analysis.op(&found.nodes[0])?.name;
    let properties = ask(graph, &found.nodes[0], |input| Some(turned(input, "transpose_a")))?;
    add_op_like(graph, name, &found.vars, properties)
}

/// A product with a transposed right matrix, by the product's own flag.
pub(super) fn matmul_of_transposed_right(graph: &mut Graph<'_>, found: &Match) -> Option<Id> {
    swaps_matrix(graph, &found.nodes[1])?;
    let name = graph.analysis.op(&found.nodes[0])?.name;
    let properties = ask(graph, &found.nodes[0], |input| Some(turned(input, "transpose_b")))?;
    add_op_like(graph, name, &found.vars, properties)
}
