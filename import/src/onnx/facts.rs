//! What is known of a model's named sizes: what the user says, and what its nodes need.
//!
//! ```text
//! Where(mask[:, :, :seq, :seq] of 1024 x 1024, scores: [N, 12, seq, seq], ...)   =>   seq <= 1024
//! MatMul(x: [N, K], w: [J, 64])                                                  =>   J = K
//! Gather(table: [512, 768], Range(0, seq))                                       =>   seq <= 512
//! ```
//!
//! A node that is defined only at some sizes (see [`ir::dims::to_agree`] for the rules) limits the sizes
//! that the model can be run with. What nodes need is taken for granted, and those that read such a size
//! are converted again: a limit is an entry of the function's `optc.dims`, and a size that follows from
//! others is written as that wherever it occurs, in the inputs' types too. Both are checked at each run,
//! before anything is computed. What no single name says (`N * M = 12`) is found by whoever verifies the
//! function at the sizes of a run.

use std::collections::{BTreeMap, BTreeSet};

use ir::body::OpRef;
use ir::dims::{self, Ranges, Requirement};
use ir::opdef::{Contract, View};
use ir::{Attr, AttrData, Context, Dim, DimExpr, Ident, Kind, Traits, Value};

use super::declared::{DeclaredSizes, read_size};
use super::model::GraphProto;
use super::tensor::{Dimension, TypeProto};

/// What is known of named sizes.
pub(super) struct SizeFacts<'m> {
    /// What the user says.
    pub(super) given: &'m DeclaredSizes,
    /// Which numbers they may be.
    pub(super) ranges: Ranges,
    /// Those that follow from others; none of them occurs in what they are.
    equal: BTreeMap<Ident, DimExpr>,
    /// The symbols that some input has otherwise than in a quotient, so that its shape says what they are.
    plain: BTreeSet<Ident>,
    /// Those of which more is known since somebody asked.
    news: Vec<Ident>,
}

impl<'m> SizeFacts<'m> {
    /// What the user says.
    pub(super) fn given(ctx: &Context, given: &'m DeclaredSizes, graph: &GraphProto<'_>) -> SizeFacts<'m> {
        let mut ranges = Ranges::default();
        for (name, (low, high)) in &given.ranges {
            ranges.declare(ctx.ident(name), *low, *high);
        }
        let shapes = graph.inputs.iter().filter_map(|input| match &input.ty {
            TypeProto::Tensor { shape, .. } => shape.as_deref(),
            _ => None,
        });
        let names = shapes.flatten().filter_map(|dimension| match dimension {
            Dimension::Symbol(name) => Some(*name),
            _ => None,
        });
        let names = names.chain(given.symbolized.iter().map(|entry| &*entry.size));
        let plain = names.filter(|name| !name.contains('/'));
        let plain = plain.flat_map(|name| dims::symbols(ctx, read_size(ctx, name))).collect();
        SizeFacts { given, ranges, equal: BTreeMap::new(), plain, news: Vec::new() }
    }

    /// What a size reads as. A quotient of what no shape says is a name: from it, that could not be found.
    pub(super) fn read(&self, ctx: &Context, name: &str) -> DimExpr {
        let expr = read_size(ctx, name);
        let is_said =
            |symbol: &Ident| self.plain.contains(symbol) || self.given.values.contains_key(ctx.str(*symbol));
        if name.contains('/') && !dims::symbols(ctx, expr).iter().all(is_said) {
            dims::symbol(ctx, name)
        } else {
            expr
        }
    }

    /// What a named size is, if it follows from others.
    pub(super) fn equal(&self, symbol: Ident) -> Option<DimExpr> {
        self.equal.get(&symbol).copied()
    }

    /// Takes for granted what is required of the inputs' sizes, which are given in the order in which they
    /// come up; returns those of which more is known than before. Of two names for one size the first stays.
    pub(super) fn learn(&mut self, ctx: &Context, symbols: &[Ident], required: &[Requirement]) -> Vec<Ident> {
        for requirement in required {
            match requirement {
                Requirement::Within { symbol, low, high } => {
                    self.limit(*symbol, *low, *high);
                }
                Requirement::Equal(all) => {
                    let mut all: Vec<_> = all.iter().collect();
                    all.sort_by_key(|(symbol, _)| {
                        std::cmp::Reverse(symbols.iter().position(|known| known == symbol))
                    });
                    all.into_iter().any(|(symbol, expr)| self.set(ctx, *symbol, *expr));
                }
            }
        }
        std::mem::take(&mut self.news)
    }

    /// Limits a size. A size that none can be is left to what refuses it.
    fn limit(&mut self, symbol: Ident, low: u64, high: u64) {
        let (least, most) = self.ranges.of(symbol);
        let is_new = !self.equal.contains_key(&symbol) && (low > least || high < most);
        let is_possible = low.max(least) <= high.min(most);
        if is_new && is_possible {
            self.ranges.declare(symbol, low.max(least), high);
            self.news.push(symbol);
        }
    }

    /// Says what a size is; says whether that is news. What was known of its range must then hold of what it
    /// is.
    fn set(&mut self, ctx: &Context, symbol: Ident, expr: DimExpr) -> bool {
        let Some(expr) = dims::replace(ctx, expr, &|name| self.equal(name)) else { return false };
        if self.equal.contains_key(&symbol) || dims::symbols(ctx, expr).contains(&symbol) {
            return false;
        }
        let (least, most) = self.ranges.of(symbol);
        let number = |number: u64| i64::try_from(number).ok().map(|number| dims::constant(ctx, number));
        let bounds = [number(least).map(|least| (least, expr)), number(most).map(|most| (expr, most))];
        let mut limits = Vec::new();
        for (low, high) in bounds.into_iter().flatten() {
            if dims::provably_at_most(ctx, low, high, &self.ranges) {
                continue;
            }
            let Some(Requirement::Within { symbol, low, high }) = dims::at_most(ctx, low, high) else {
                return false;
            };
            limits.push((symbol, low, high));
        }
        for (symbol, low, high) in limits {
            self.limit(symbol, low, high);
        }
        let put = |name: Ident| (name == symbol).then_some(expr);
        for known in self.equal.values_mut() {
            *known = dims::replace(ctx, *known, &put).unwrap_or(*known);
        }
        self.equal.insert(symbol, expr);
        self.news.push(symbol);
        true
    }

    /// All of it as a function's `optc.dims`; none if there is nothing to say.
    pub(super) fn attr(&self, ctx: &Context) -> Option<Attr> {
        let number = |number: u64| ctx.int_attr(i64::try_from(number).unwrap_or(i64::MAX));
        let range = |(low, high): (u64, u64)| ctx.array_attr(&[number(low), number(high)]);
        let ranges = self.ranges.declared().filter(|(symbol, _)| !self.equal.contains_key(symbol));
        let mut entries: Vec<(Ident, Attr)> = ranges.map(|(symbol, ends)| (symbol, range(ends))).collect();
        for (symbol, expr) in &self.equal {
            entries.push((*symbol, ctx.dims_attr(&[dims::size(ctx, *expr)])));
        }
        (!entries.is_empty()).then(|| ctx.dict(entries))
    }
}

/// What an operation needs of the named sizes of its operands to be defined.
pub(super) fn requirements(op: OpRef<'_>, ranges: &Ranges) -> Vec<Requirement> {
    let ctx = op.ctx;
    let shapes: Vec<&[Dim]> = (0..op.operand_count())
        .map(|index| ctx.type_data(op.operand_type(index)).tensor_shape().unwrap_or(&[]))
        .collect();
    if shapes.iter().all(|shape| !shape.iter().any(|dim| matches!(dim, Dim::Symbolic(_)))) {
        return Vec::new();
    }
    let expr = |dim: Dim| dims::SizeArithmetic(ctx).expr(dim);
    let agree = |(a, b): (Dim, Dim)| dims::to_agree(ctx, expr(a)?, expr(b)?, ranges);
    let stretch = |(a, b): (Dim, Dim)| dims::to_stretch(ctx, expr(a)?, expr(b)?, ranges);
    match (op.kind(), &shapes[..]) {
        (Kind::Elementwise(_), _) => stretched(&shapes).into_iter().filter_map(stretch).collect(),
        (Kind::Contract(Contract::Matmul | Contract::QuantizedMatmul), [a, b, ..]) => {
            let (summed, others) = multiplied(op, a, b);
            summed.into_iter().filter_map(agree).chain(others.into_iter().filter_map(stretch)).collect()
        }
        (Kind::View(View::OfResult(_)), _) => {
            let axis = op.int("axis").and_then(|axis| usize::try_from(axis).ok());
            let pairs = shapes[1..].iter().flat_map(|shape| shapes[0].iter().zip(*shape).enumerate());
            let pairs = pairs.filter(|(index, _)| Some(*index) != axis);
            pairs.filter_map(|(_, (a, b))| agree((*a, *b))).collect()
        }
        (Kind::Kernel("gather"), [x, ..]) => {
            let axis = op.int("axis").and_then(|axis| usize::try_from(axis).ok()).unwrap_or(0);
            let count = greatest(op, 1).and_then(|index| dims::add(ctx, index, dims::constant(ctx, 1)));
            let size = x.get(axis).and_then(|size| expr(*size));
            let (Some(count), Some(size)) = (count, size) else { return Vec::new() };
            let is_inside = dims::provably_at_most(ctx, count, size, ranges);
            (!is_inside).then(|| dims::at_most(ctx, count, size)).flatten().into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// The greatest element of an operand that holds the numbers from 0 on, each once, in any order and shape.
fn greatest(op: OpRef<'_>, operand: usize) -> Option<DimExpr> {
    let ctx = op.ctx;
    let sizes = dims::SizeArithmetic(ctx);
    let value = op.operand(operand);
    let maker = op.body.at(ctx, op.body.defining_op(value)?);
    let shape = |value: Value| ctx.type_data(op.body.ty(value)).tensor_shape();
    match maker.kind() {
        Kind::Source => match ctx.attr_data(maker.attr("size")?) {
            AttrData::Dims(count) => dims::sub(ctx, sizes.expr(*count.first()?)?, dims::constant(ctx, 1)),
            _ => None,
        },
        Kind::View(View::OfOperand(_)) => {
            let counts = [maker.operand(0), value].map(|value| shape(value).map(|dims| sizes.product(dims)));
            let [Some(from), Some(to)] = counts else { return None };
            sizes.are_equal(from, to).then(|| greatest(maker, 0)).flatten()
        }
        Kind::Elementwise(_) if maker.has(Traits::CAST) => greatest(maker, 0),
        _ => None,
    }
}

/// The sizes that meet where operands are broadcast, aligned at the last axis.
fn stretched(shapes: &[&[Dim]]) -> Vec<(Dim, Dim)> {
    let mut pairs = Vec::new();
    for (index, shape) in shapes.iter().enumerate() {
        for other in &shapes[index + 1..] {
            pairs.extend(shape.iter().rev().zip(other.iter().rev()).map(|(a, b)| (*a, *b)));
        }
    }
    pairs
}

type Pairs = Vec<(Dim, Dim)>;

/// The sizes that a product of matrices sums over, and those of the axes that are broadcast.
fn multiplied(op: OpRef<'_>, a: &[Dim], b: &[Dim]) -> (Pairs, Pairs) {
    let last = |shape: &[Dim], from_end: usize| shape.len().checked_sub(from_end).map(|axis| shape[axis]);
    let is_there = |name: &str| op.attr(name).is_some();
    let of_a = last(a, if is_there("transpose_a") && a.len() > 1 { 2 } else { 1 });
    let of_b = last(b, if is_there("transpose_b") || b.len() < 2 { 1 } else { 2 });
    let outer = |shape: &'_ [Dim]| shape[..shape.len().saturating_sub(2)].to_vec();
    (of_a.zip(of_b).into_iter().collect(), stretched(&[&outer(a), &outer(b)]))
}
