//! How views, pads and means join with each other, with what reads them and with what makes them.

use ir::{Dim, TypeData};

use crate::rewrite::{LawMatch, Matched, Rule, Term, Terms};

/// The laws.
#[rustfmt::skip]
pub(super) static LAWS: &[Rule] = &[
    Rule::computed("transpose-of-transpose", "(nn.transpose (nn.transpose ?x))",
        "one transpose", transpose_of_transpose),
    Rule::computed("transpose-that-moves-nothing", "(nn.transpose ?x)",
        "x, where the order is the same", transpose_that_moves_nothing),
    Rule::computed("reshape-of-reshape", "(nn.reshape (nn.reshape ?x))",
        "the outer reshape of x", reshape_of_reshape),
    Rule::law("reshape-to-same-shape", "(nn.reshape ?x)", "?x"),
    Rule::law("broadcast-to-same-shape", "(nn.broadcast ?x)", "?x"),
    Rule::law("cast-to-same-type", "(nn.cast ?x)", "?x"),
    Rule::law("concat-of-one", "(nn.concat ?x)", "?x"),
    Rule::computed("slice-of-everything", "(nn.slice ?x)",
        "x, where no element is left out and no axis turned round", slice_of_everything),
    Rule::computed("pad-by-nothing", "(nn.pad ?x)", "x, where no element is added", pad_by_nothing),
    Rule::computed("padded-conv", "(nn.conv2d (nn.pad ?x) ?w)",
        "a convolution with more padding, where zeros are put around images", padded_conv).near(),
    Rule::computed("padded-conv-with-bias", "(nn.conv2d (nn.pad ?x) ?w ?b)",
        "a convolution with more padding, where zeros are put around images", padded_conv).near(),
    Rule::computed("mean-of-mean", "(nn.reduce_mean (nn.reduce_mean ?x))",
        "one mean of floats over the axes of both, where the first keeps its axes", mean_of_mean).near(),
    Rule::computed("matmul-of-transposed-left", "(nn.matmul (nn.transpose ?x) ?w)",
        "the product with its flag `transpose_a` turned, where the last two axes change places", matmul_of_transposed_left).near(),
    Rule::computed("matmul-of-transposed-right", "(nn.matmul ?x (nn.transpose ?w))",
        "the product with its flag `transpose_b` turned, where the last two axes change places", matmul_of_transposed_right).near(),
    Rule::computed("reshaped-matmul", "(nn.reshape (nn.matmul ?x ?w))",
        "the product of x reshaped, where w is one matrix and columns stay columns", reshaped_matmul).near(),
    Rule::computed("reshaped-matmul-with-bias", "(nn.reshape (nn.matmul ?x ?w ?b))",
        "the product of x reshaped, where w is one matrix and columns stay columns", reshaped_matmul).near(),
];

/// Two transposes as one.
fn transpose_of_transpose(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    let outer = terms.input(&found.ops[0]).ints("permutation").ok()?;
    let inner = terms.input(&found.ops[1]).ints("permutation").ok()?;
    let joined: Vec<i64> = outer.iter().map(|axis| inner[*axis as usize]).collect();
    let joined = terms.ctx().ints_attr(&joined);
    terms.make("nn.transpose", &[found.vars[0]], &[("permutation", joined)])
}

/// The operand of a transpose to the same order.
fn transpose_that_moves_nothing(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    let permutation = terms.input(&found.ops[0]).ints("permutation").ok()?;
    permutation.iter().copied().eq(0..permutation.len() as i64).then_some(found.vars[0])
}

/// Two reshapes as one.
fn reshape_of_reshape(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    terms.make_like(&found.ops[0], &found.vars)
}

/// The operand of a slice without strides: it is everything if the type is the same.
fn slice_of_everything(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    let strides = terms.input(&found.ops[0]).ints("strides").unwrap_or_default();
    strides.iter().all(|stride| *stride == 1).then_some(found.vars[0])
}

/// The operand of a pad by no elements.
fn pad_by_nothing(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    let (low, high) =
        (terms.input(&found.ops[0]).ints("low").ok()?, terms.input(&found.ops[0]).ints("high").ok()?);
    low.iter().chain(&high).all(|size| *size == 0).then_some(found.vars[0])
}

/// The mean of a mean as a mean over the axes of both, where the first keeps its axes; a mean of integers is
/// cut to one.
fn mean_of_mean(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    let [outer, inner] = &found.ops[..] else { return None };
    let ctx = terms.ctx();
    if !matches!(ctx.type_data(ctx.elem(found.ty)), TypeData::Float(_)) {
        return None;
    }
    let keeps = |node: &Matched| terms.input(node).attr("keepdims");
    keeps(inner)?;
    let keepdims = keeps(outer);
    let mut axes = terms.input(outer).ints("axes").ok()?;
    axes.extend(terms.input(inner).ints("axes").ok()?);
    axes.sort_unstable();
    axes.dedup();
    let mut attrs = vec![("axes", ctx.ints_attr(&axes))];
    attrs.extend(keepdims.map(|unit| ("keepdims", unit)));
    terms.make("nn.reduce_mean", &[found.vars[0]], &attrs)
}

/// A convolution of an image that is padded with zeros as a convolution with more padding.
fn padded_conv(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    let [conv, pad] = &found.ops[..] else { return None };
    let ctx = terms.ctx();
    let value = terms.input(pad).attr("value").and_then(|value| ctx.float_value(value));
    let (low, high) = (terms.input(pad).ints("low").ok()?, terms.input(pad).ints("high").ok()?);
    let first = terms.input(conv).text("layout")? == "NHWC";
    let first = if first { 1 } else { 2 };
    let is_image = |axis: usize| axis == first || axis == first + 1;
    let others = (0..low.len()).filter(|axis| !is_image(*axis));
    let is_only_image = others.clone().all(|axis| low[axis] == 0 && high[axis] == 0);
    let is_outwards = low.iter().chain(&high).all(|size| *size >= 0);
    if low.len() != 4 || !is_only_image || !is_outwards || value.is_some_and(|value| value != 0.0) {
        return None;
    }
    let mut pads = terms.input(conv).ints("pads").ok()?;
    let more = [low[first], low[first + 1], high[first], high[first + 1]];
    pads.iter_mut().zip(more).for_each(|(pad, more)| *pad += more);
    let properties = ctx.dict_set(conv.properties, ctx.ident("pads"), ctx.ints_attr(&pads));
    let mut operands = conv.operands.clone();
    operands[0] = found.vars[0];
    terms.make_op(conv.name, &operands, properties)
}

/// Whether a transpose swaps the last two axes and moves no other.
fn swaps_matrix(terms: &dyn Terms<'_>, transpose: &Matched) -> Option<()> {
    let mut permutation = terms.input(transpose).ints("permutation").ok()?;
    let rank = permutation.len();
    permutation.swap(rank.checked_sub(2)?, rank - 1);
    permutation.iter().copied().eq(0..rank as i64).then_some(())
}

/// The product without its transpose, with a flag turned instead.
fn turned(terms: &mut dyn Terms<'_>, found: &LawMatch, flag: &str) -> Option<Term> {
    swaps_matrix(terms, &found.ops[1])?;
    let (ctx, matmul) = (terms.ctx(), &found.ops[0]);
    let properties = match terms.input(matmul).attr(flag) {
        Some(_) => ctx.dict_remove(matmul.properties, ctx.ident(flag)),
        None => ctx.dict_set(matmul.properties, ctx.ident(flag), ctx.unit_attr()),
    };
    terms.make_op(matmul.name, &found.vars, properties)
}

/// A product of a transposed left matrix, by the product's own flag.
fn matmul_of_transposed_left(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    turned(terms, found, "transpose_a")
}

/// A product with a transposed right matrix, by the product's own flag.
fn matmul_of_transposed_right(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    turned(terms, found, "transpose_b")
}

/// A product whose rows are put into another shape, as the product of its left operand in that shape.
fn reshaped_matmul(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    let [_, matmul] = &found.ops[..] else { return None };
    let ctx = terms.ctx();
    let shape = ctx.type_data(found.ty).tensor_shape()?;
    let &[k, n] = terms.shape(found.vars[1])?.as_slice() else { return None };
    let is_transposed = terms.input(matmul).attr("transpose_b").is_some();
    let (depth, columns) = if is_transposed { (n, k) } else { (k, n) };
    let is_plain = terms.input(matmul).attr("transpose_a").is_none() && terms.dims(found.vars[0])?.len() > 1;
    let (last, rows) = shape.split_last()?;
    if !is_plain || rows.is_empty() || columns == 0 || *last != Dim::Known(columns) {
        return None;
    }
    let sizes = ctx.dims_attr(&[rows, &[Dim::Known(depth)]].concat());
    let mut operands = found.vars.clone();
    operands[0] = terms.make("nn.reshape", &[found.vars[0]], &[("shape", sizes)])?;
    terms.make_like(matmul, &operands)
}
