//! Facts about a model's named sizes: the user's declarations, and the nodes' requirements.
//!
//! ```text
//! Where(mask[:, :, :seq, :seq] of 1024 x 1024, scores: [N, 12, seq, seq], ...)   =>   seq <= 1024
//! MatMul(x: [N, K], w: [J, 64])                                                  =>   J = K
//! Gather(table: [512, 768], Range(0, seq))                                       =>   seq <= 512
//! ```
//!
//! A node that is defined only at some sizes (see [`ir::dims::to_agree`] for the rules) limits the sizes of
//! the model. The nodes' requirements are assumed to hold, and nodes that read such a size are converted
//! again. A limit becomes an entry of the function's `optc.dims`. A size that follows from others is replaced
//! by its expression everywhere, in the inputs' types too. Both are checked at each run, before anything is
//! computed. A requirement that no single name can express (`N * M = 12`) is checked when the function is
//! verified at the sizes of a run.

use std::collections::{BTreeMap, BTreeSet};

use ir::body::OpRef;
use ir::dims::{self, Ranges, Requirement};
use ir::opdef::{Contract, View};
use ir::{Attr, AttrData, Context, Dim, DimExpr, Ident, Kind, Traits, Value};

use super::declared::{DeclaredSizes, read_size};
use super::model::GraphProto;
use super::tensor::{Dimension, TypeProto};

/// The known facts about named sizes.
pub(super) struct SizeFacts<'m> {
    /// The user's declarations.
    pub(super) given: &'m DeclaredSizes,
    /// Their ranges.
    pub(super) ranges: Ranges,
    /// Sizes that follow from others; none of them occurs in an expression here.
    equal: BTreeMap<Ident, DimExpr>,
    /// The symbols that occur in some input's shape outside a quotient, so that the shape determines them.
    plain: BTreeSet<Ident>,
    /// The symbols with new facts since the last query.
    news: Vec<Ident>,
}

impl<'m> SizeFacts<'m> {
    /// The facts declared by the user.
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

    /// The expression for a size's name. If no shape determines the operands of a quotient, the quotient is
    /// one symbol, since its operands could not be computed from it.
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

    /// The expression of a named size, if it follows from others.
    pub(super) fn equal(&self, symbol: Ident) -> Option<DimExpr> {
        self.equal.get(&symbol).copied()
    }

    /// Assumes the requirements on the inputs' sizes, given in the order of their first occurrence. Returns
    /// the sizes with new facts. Of two names for one size the first is kept.
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

    /// Limits a size. An empty range is not recorded: the node that it comes from is refused later.
    fn limit(&mut self, symbol: Ident, low: u64, high: u64) {
        let (least, most) = self.ranges.of(symbol);
        let is_new = !self.equal.contains_key(&symbol) && (low > least || high < most);
        let is_possible = low.max(least) <= high.min(most);
        if is_new && is_possible {
            self.ranges.declare(symbol, low.max(least), high);
            self.news.push(symbol);
        }
    }

    /// Sets the expression of a size; returns whether that is new. The range of the size must then hold for
    /// the expression.
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

    /// All facts as a function's `optc.dims`; none if there are none.
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

/// The requirements of an operation on the named sizes of its operands.
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

/// The greatest element of an operand with the numbers from 0 on, each once, in any order and shape.
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

/// The pairs of sizes that must agree for broadcasting, aligned at the last axis.
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

/// The pairs of sizes that a matrix product sums over, and the pairs of its broadcast axes.
fn multiplied(op: OpRef<'_>, a: &[Dim], b: &[Dim]) -> (Pairs, Pairs) {
    let last = |shape: &[Dim], from_end: usize| shape.len().checked_sub(from_end).map(|axis| shape[axis]);
    let is_there = |name: &str| op.attr(name).is_some();
    let of_a = last(a, if is_there("transpose_a") && a.len() > 1 { 2 } else { 1 });
    let of_b = last(b, if is_there("transpose_b") || b.len() < 2 { 1 } else { 2 });
    let outer = |shape: &'_ [Dim]| shape[..shape.len().saturating_sub(2)].to_vec();
    (of_a.zip(of_b).into_iter().collect(), stretched(&[&outer(a), &outer(b)]))
}
