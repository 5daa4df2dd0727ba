//! Laws of views, pads and means: merging them with each other, with their readers and with their producers.

use ir::TypeData;

use crate::reshapes::raised;
use crate::rewrite::{LawCondition, LawMatch, Matched, Rule, Term, Terms};

/// The laws.
#[rustfmt::skip]
pub(super) static LAWS: &[Rule] = &[
    Rule::computed("transpose-of-transpose", "(nn.transpose (nn.transpose ?x))",
        "one transpose", transpose_of_transpose),
    Rule::law("transpose-that-moves-nothing", "(nn.transpose ?x)", "?x").only(&[LawCondition {
        doc: "the order is the same", holds: moves_nothing,
    }]),
    Rule::computed("reshape-of-reshape", "(nn.reshape (nn.reshape ?x))",
        "the outer reshape of x", reshape_of_reshape),
    Rule::computed("reshape-of-transpose", "(nn.reshape (nn.transpose ?x))",
        "the transpose of a reshape of x", reshape_of_transpose).near(),
    Rule::law("reshape-to-same-shape", "(nn.reshape ?x)", "?x"),
    Rule::law("broadcast-to-same-shape", "(nn.broadcast ?x)", "?x"),
    Rule::law("cast-to-same-type", "(nn.cast ?x)", "?x"),
    Rule::law("concat-of-one", "(nn.concat ?x)", "?x"),
    Rule::law("slice-of-everything", "(nn.slice ?x)", "?x").only(&[LawCondition {
        doc: "no axis is turned round", holds: has_no_strides,
    }]),
    Rule::law("pad-by-nothing", "(nn.pad ?x)", "?x").only(&[LawCondition {
        doc: "no element is added", holds: adds_nothing,
    }]),
    Rule::computed("padded-conv", "(nn.conv2d (nn.pad ?x) ?w)",
        "a convolution with more padding", padded_conv).near().only(ZEROS_AROUND_IMAGES),
    Rule::computed("padded-conv-with-bias", "(nn.conv2d (nn.pad ?x) ?w ?b)",
        "a convolution with more padding", padded_conv).near().only(ZEROS_AROUND_IMAGES),
    Rule::computed("mean-of-mean", "(nn.reduce_mean (nn.reduce_mean ?x))",
        "one mean over the axes of both", mean_of_mean).near().only(&[
        LawCondition { doc: "the elements are floats", holds: is_of_floats },
        LawCondition { doc: "the first keeps its axes", holds: |terms, found| terms.input(&found.ops[1]).attr("keepdims").is_some() },
    ]),
    Rule::computed("matmul-of-transposed-left", "(nn.matmul (nn.transpose ?x) ?w)",
        "the product with its flag `transpose_a` turned", matmul_of_transposed_left).near().only(&[SWAPS_MATRIX]),
    Rule::computed("matmul-of-transposed-right", "(nn.matmul ?x (nn.transpose ?w))",
        "the product with its flag `transpose_b` turned", matmul_of_transposed_right).near().only(&[SWAPS_MATRIX]),
    Rule::computed("reshaped-matmul", "(nn.reshape (nn.matmul ?x ?w))",
        "the product of x reshaped", reshaped_matmul).near().only(&[ONE_MATRIX]),
    Rule::computed("reshaped-matmul-with-bias", "(nn.reshape (nn.matmul ?x ?w ?b))",
        "the product of x reshaped", reshaped_matmul).near().only(&[ONE_MATRIX]),
];

/// A convolution of a padded image can do the padding itself.
#[rustfmt::skip]
const ZEROS_AROUND_IMAGES: &[LawCondition] = &[
    LawCondition { doc: "nothing is cut off", holds: |terms, found| {
        pads(terms, &found.ops[1]).is_some_and(|(low, high)| low.iter().chain(&high).all(|size| *size >= 0))
    } },
    LawCondition { doc: "zeros are added", holds: |terms, found| {
        let value = terms.input(&found.ops[1]).attr("value").and_then(|value| terms.ctx().float_value(value));
        value.is_none_or(|value| value == 0.0)
    } },
];

/// A transpose of a product's operand can become a flag of the product.
const SWAPS_MATRIX: LawCondition =
    LawCondition { doc: "the last two axes change places and no other", holds: swaps_matrix };

/// A reshape of a product equals a product of a reshape, since each row meets the same matrix.
const ONE_MATRIX: LawCondition = LawCondition {
    doc: "w is one matrix",
    holds: |terms, found| terms.dims(found.vars[1]).is_some_and(|sizes| sizes.len() == 2),
};

/// Merges two transposes.
fn transpose_of_transpose(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    let outer = terms.input(&found.ops[0]).ints("permutation").ok()?;
    let inner = terms.input(&found.ops[1]).ints("permutation").ok()?;
    let joined: Vec<i64> = outer.iter().map(|axis| inner[*axis as usize]).collect();
    let joined = terms.ctx().ints_attr(&joined);
    terms.make("nn.transpose", &[found.vars[0]], &[("permutation", joined)])
}

/// Whether a transpose keeps the order of axes.
fn moves_nothing(terms: &dyn Terms<'_>, found: &LawMatch) -> bool {
    let permutation = terms.input(&found.ops[0]).ints("permutation");
    permutation.is_ok_and(|permutation| permutation.iter().copied().eq(0..permutation.len() as i64))
}

/// Merges two reshapes.
fn reshape_of_reshape(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    terms.make_like(&found.ops[0], &found.vars)
}

/// A reshape of a transpose as a transpose of a reshape, if the transpose keeps together and in order what
/// the reshape splits or joins.
fn reshape_of_transpose(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    let ctx = terms.ctx();
    let permutation = terms.input(&found.ops[1]).ints("permutation").ok()?;
    let permutation: Vec<usize> = permutation.iter().map(|axis| *axis as usize).collect();
    let from = terms.dims(found.vars[0])?;
    let (sizes, order) = raised(ctx, from, &permutation, ctx.type_data(found.ty).tensor_shape()?)?;
    let reshaped = terms.make("nn.reshape", &[found.vars[0]], &[("shape", ctx.dims_attr(&sizes))])?;
    let order: Vec<i64> = order.iter().map(|axis| *axis as i64).collect();
    terms.make("nn.transpose", &[reshaped], &[("permutation", ctx.ints_attr(&order))])
}

/// Whether a slice takes consecutive elements.
fn has_no_strides(terms: &dyn Terms<'_>, found: &LawMatch) -> bool {
    let strides = terms.input(&found.ops[0]).ints("strides").unwrap_or_default();
    strides.iter().all(|stride| *stride == 1)
}

/// The elements that a pad adds before and after each axis.
fn pads(terms: &dyn Terms<'_>, pad: &Matched) -> Option<(Vec<i64>, Vec<i64>)> {
    Some((terms.input(pad).ints("low").ok()?, terms.input(pad).ints("high").ok()?))
}

/// Whether a pad neither adds nor removes elements.
fn adds_nothing(terms: &dyn Terms<'_>, found: &LawMatch) -> bool {
    pads(terms, &found.ops[0]).is_some_and(|(low, high)| low.iter().chain(&high).all(|size| *size == 0))
}

/// Whether the result's elements are floats: a mean of integers is truncated.
fn is_of_floats(terms: &dyn Terms<'_>, found: &LawMatch) -> bool {
    let ctx = terms.ctx();
    matches!(ctx.type_data(ctx.elem(found.ty)), TypeData::Float(_))
}

/// A mean of a mean as one mean over the axes of both, if the inner one keeps its axes.
fn mean_of_mean(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    let [outer, inner] = &found.ops[..] else { return None };
    let ctx = terms.ctx();
    let keepdims = terms.input(outer).attr("keepdims");
    let mut axes = terms.input(outer).ints("axes").ok()?;
    axes.extend(terms.input(inner).ints("axes").ok()?);
    axes.sort_unstable();
    axes.dedup();
    let mut attrs = vec![("axes", ctx.ints_attr(&axes))];
    attrs.extend(keepdims.map(|unit| ("keepdims", unit)));
    terms.make("nn.reduce_mean", &[found.vars[0]], &attrs)
}

/// The axis of the rows in a convolution's images; the columns are next.
fn first_image_axis(terms: &dyn Terms<'_>, conv: &Matched) -> usize {
    if terms.input(conv).text("layout") == Some("NHWC") { 1 } else { 2 }
}

/// A convolution of a zero-padded image as a convolution with more padding.
fn padded_conv(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    let [conv, pad] = &found.ops[..] else { return None };
    let ctx = terms.ctx();
    let (low, high) = pads(terms, pad)?;
    let rows = first_image_axis(terms, conv);
    let mut pads = terms.input(conv).ints("pads").ok()?;
    let more = [low[rows], low[rows + 1], high[rows], high[rows + 1]];
    pads.iter_mut().zip(more).for_each(|(pad, more)| *pad += more);
    let properties = ctx.dict_set(conv.properties, ctx.ident("pads"), ctx.ints_attr(&pads));
    let mut operands = conv.operands.clone();
    operands[0] = found.vars[0];
    terms.make_op(conv.name, &operands, properties)
}

/// Whether the transpose below a product swaps the last two axes and moves no other.
fn swaps_matrix(terms: &dyn Terms<'_>, found: &LawMatch) -> bool {
    let mut permutation = terms.input(&found.ops[1]).ints("permutation").unwrap_or_default();
    let rank = permutation.len();
    if rank < 2 {
        return false;
    }
    permutation.swap(rank - 2, rank - 1);
    permutation.iter().copied().eq(0..rank as i64)
}

/// The product without its transpose, with a flag toggled instead.
fn turned(terms: &mut dyn Terms<'_>, found: &LawMatch, flag: &str) -> Option<Term> {
    let (ctx, matmul) = (terms.ctx(), &found.ops[0]);
    let properties = match terms.input(matmul).attr(flag) {
        Some(_) => ctx.dict_remove(matmul.properties, ctx.ident(flag)),
        None => ctx.dict_set(matmul.properties, ctx.ident(flag), ctx.unit_attr()),
    };
    terms.make_op(matmul.name, &found.vars, properties)
}

/// A product with a transposed left matrix, through the product's own flag.
fn matmul_of_transposed_left(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    turned(terms, found, "transpose_a")
}

/// A product with a transposed right matrix, through the product's own flag.
fn matmul_of_transposed_right(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    turned(terms, found, "transpose_b")
}

/// A reshape of a product's rows as the product of its reshaped left operand.
fn reshaped_matmul(terms: &mut dyn Terms<'_>, found: &LawMatch) -> Option<Term> {
    let [_, matmul] = &found.ops[..] else { return None };
    let ctx = terms.ctx();
    let (depth, others) = terms.dims(found.vars[0])?.split_last()?;
    let (_, rows) = ctx.type_data(found.ty).tensor_shape()?.split_last()?;
    // A product with a vector is another operation than one with a matrix.
    if others.is_empty() || rows.is_empty() {
        return None;
    }
    let sizes = ctx.dims_attr(&[rows, &[*depth]].concat());
    let mut operands = found.vars.clone();
    operands[0] = terms.make("nn.reshape", &[found.vars[0]], &[("shape", sizes)])?;
    terms.make_like(matmul, &operands)
}
