//! How attention is lowered to one call: `softmax(q k^T * factor + mask) v`, as a group with views and
//! factors on q, k and v, and transposes of the result.
//!
//! ```text
//! q: views and a factor  \
//! k: views and a factor  - product, times a number, plus a mask, softmax, product with v: views; transposes
//! ```
//! Everything except the two products and the softmax may be absent. Views only determine strides, and
//! factors are applied while matrices are packed, or to the scores.

use std::collections::BTreeSet;

use ir::body::{OpRef, ValueDef};
use ir::opdef::{Contract, Strided, View};
use ir::scalar::Binary;
use ir::window::Arrangement;
use ir::{Dim, FloatKind, Kind, Op, Scalar, Traits, Value};
use kernels::{Attention, AttentionNumbers, AttentionShape, HEAD_AXES, HeadMatrices, StoredFloat};

use crate::call::{Lowered, LoweredCall, Pointer};
use crate::group::{body_ops, converted, is_sum, stored};
use crate::pointwise::nest::{broadcast_strides, dense_strides};
use crate::refusal::CodeRefusal;
use crate::row::{KernelRow, Machine, Runs};
use crate::shape::{known_layout, known_shape};

/// Groups that match attention.
pub(crate) const ROW: KernelRow = KernelRow {
    name: "attention",
    doc: "Products of rows with keys, their softmax, and its product with values, block by block.",
    runs: Runs::Chain,
    reads: |_, _| Arrangement::Strides,
    reads_views: true,
    joins: Some(|_, _, _| false),
    runs_as_one: Some(|ops| AttentionForm::of(ops).is_ok()),
    lower,
    ..KernelRow::PLAIN
};

/// An operand of a product: a value, views of it, and a factor.
struct ProductOperand<'a> {
    value: Value,
    /// The first view is that of the value itself.
    views: Vec<OpRef<'a>>,
    factor: Option<Value>,
    /// The conversion from `bf16`, which operands may share.
    conversion: Option<OpRef<'a>>,
}

/// A match of attention.
struct AttentionForm<'a> {
    q: ProductOperand<'a>,
    k: ProductOperand<'a>,
    v: ProductOperand<'a>,
    factor: Option<Value>,
    mask: Option<Value>,
    scores: OpRef<'a>,
    /// Conversions that round the softmax's results to `bf16`: none, or there and back.
    roundings: usize,
    product: OpRef<'a>,
    /// Transposes of the product.
    after: Vec<OpRef<'a>>,
    /// Conversions of the result to `bf16`, at most one.
    conversions: usize,
}

impl<'a> AttentionForm<'a> {
    /// Matches attention against all of some operations; values that none of them computes are inputs.
    ///
    /// # Errors
    /// If they do not match.
    fn of(ops: &[OpRef<'a>]) -> Result<AttentionForm<'a>, CodeRefusal> {
        let reader = AttentionReader { ops };
        let softmax = ops.iter().find(|op| matches!(op.kind(), Kind::Kernel("softmax"))).ok_or_else(form)?;
        let axes = rank(*softmax, softmax.result(0)).ok_or_else(form)?;
        if softmax.int("axis") != Some(axes as i64 - 1) || !(2..=2 + HEAD_AXES).contains(&axes) {
            return Err(form());
        }
        let (scores, factor, mask) = reader.scores(*softmax)?;
        let (weights, roundings) = reader.rounded(*softmax);
        let product = reader.user(weights).filter(|op| is_product_of_matrices(*op));
        let product = product.filter(|op| op.operand(0) == weights).ok_or_else(form)?;
        let [q, k] = [0, 1].map(|index| reader.source(scores.operand(index)));
        let (q, k, v) = (q?, k?, reader.source(product.operand(1))?);
        if rank(product, product.result(0)).is_none_or(|axes| axes > 2 + HEAD_AXES) {
            return Err(form());
        }
        let (after, conversions) = reader.transposes(product)?;
        let added = usize::from(factor.is_some()) + usize::from(mask.is_some());
        let sources = [&q, &k, &v].iter().map(|source| source.own_len()).sum::<usize>();
        let converted: BTreeSet<Op> =
            [&q, &k, &v].iter().filter_map(|source| source.conversion).map(|op| op.op).collect();
        let count = sources + converted.len() + added + roundings + after.len() + conversions + 3;
        let is_f32 = softmax.ctx.elem(softmax.result_type(0)) == softmax.ctx.f32();
        if v.factor.is_some() || count != ops.len() || !is_f32 {
            return Err(form());
        }
        Ok(AttentionForm { q, k, v, factor, mask, scores, roundings, product, after, conversions })
    }
}

fn form() -> CodeRefusal {
    CodeRefusal::new("its body is not attention in the form that the kernel has")
}

fn rank(op: OpRef<'_>, value: Value) -> Option<usize> {
    Some(op.ctx.type_data(op.body.ty(value)).tensor_shape()?.len())
}

/// Whether an operation is a matrix product without transposed left matrices and without a bias.
fn is_product_of_matrices(op: OpRef<'_>) -> bool {
    let is_plain = op.operand_count() == 2 && op.attr("transpose_a").is_none();
    let is_matrix = |index| rank(op, op.operand(index)).is_some_and(|rank| rank >= 2);
    matches!(op.kind(), Kind::Contract(Contract::Matmul)) && is_plain && (0..2).all(is_matrix)
}

/// Whether a value is one number.
fn is_number(op: OpRef<'_>, value: Value) -> bool {
    op.ctx.static_shape(op.body.ty(value)).is_some_and(|shape| shape.iter().all(|size| *size == 1))
}

/// The matcher, over the operations of a group.
struct AttentionReader<'a, 'o> {
    ops: &'o [OpRef<'a>],
}

impl<'a> AttentionReader<'a, '_> {
    fn maker(&self, value: Value) -> Option<OpRef<'a>> {
        self.ops.iter().copied().find(|op| op.result(0) == value)
    }

    fn user(&self, value: Value) -> Option<OpRef<'a>> {
        self.ops.iter().copied().find(|op| op.body.operands(op.op).any(|operand| operand == value))
    }

    /// The product that computes the scores, and the scores' factor and mask.
    fn scores(&self, softmax: OpRef<'a>) -> Result<(OpRef<'a>, Option<Value>, Option<Value>), CodeRefusal> {
        let (mut factor, mut mask) = (None, None);
        let mut value = softmax.operand(0);
        loop {
            let op = self.maker(value).ok_or_else(form)?;
            if is_product_of_matrices(op) {
                return Ok((op, factor, mask));
            }
            let inner = if let Some((inner, number)) = self.multiplied(op).filter(|_| factor.is_none()) {
                factor = Some(number);
                inner
            } else if is_sum(op) && factor.is_none() && mask.is_none() {
                let inner = (0..2).find(|index| self.maker(op.operand(*index)).is_some()).ok_or_else(form)?;
                mask = Some(op.operand(1 - inner));
                op.operand(inner)
            } else {
                return Err(form());
            };
            if op.body.ty(inner) != op.result_type(0) {
                return Err(form());
            }
            value = inner;
        }
    }

    /// The operand of a multiplication by one number, and the number.
    fn multiplied(&self, op: OpRef<'a>) -> Option<(Value, Value)> {
        let Kind::Elementwise(Scalar::Binary(Binary::Mul, Scalar::Arg(0), Scalar::Arg(1))) = op.kind() else {
            return None;
        };
        let number = [1, 0].into_iter().find(|index| is_number(op, op.operand(*index)))?;
        let (inner, number) = (op.operand(1 - number), op.operand(number));
        let is_given = self.maker(number).is_none();
        (is_given && op.body.ty(inner) == op.result_type(0)).then_some((inner, number))
    }

    /// Matches an operand of a product: a value through views, a factor and a conversion.
    fn source(&self, operand: Value) -> Result<ProductOperand<'a>, CodeRefusal> {
        let mut source = ProductOperand { value: operand, views: Vec::new(), factor: None, conversion: None };
        while let Some(op) = self.maker(source.value) {
            let (bf16, f32) = (op.ctx.float(FloatKind::Bf16), op.ctx.f32());
            if let Some(stored) = converted(op, bf16, f32).filter(|stored| self.maker(*stored).is_none()) {
                source.conversion = Some(op);
                source.value = stored;
            } else if let Some((inner, number)) = self.multiplied(op) {
                if source.factor.replace(number).is_some() {
                    return Err(form());
                }
                source.value = inner;
            } else if keeps_distances(op) {
                source.views.insert(0, op);
                source.value = op.operand(0);
            } else {
                return Err(form());
            }
        }
        Ok(source)
    }

    /// A softmax's results, rounded to `bf16` if they are, and how many conversions that takes.
    fn rounded(&self, softmax: OpRef<'a>) -> (Value, usize) {
        let (bf16, f32) = (softmax.ctx.float(FloatKind::Bf16), softmax.ctx.f32());
        let there = self.user(softmax.result(0)).filter(|op| converted(*op, f32, bf16).is_some());
        let back = there.and_then(|there| self.user(there.result(0)));
        match back.filter(|op| converted(*op, bf16, f32).is_some()) {
            Some(back) => (back.result(0), 2),
            None => (softmax.result(0), 0),
        }
    }

    /// The operations after the product, which must permute axes and keep the last one, and the number of
    /// conversions to `bf16` at the end.
    fn transposes(&self, product: OpRef<'a>) -> Result<(Vec<OpRef<'a>>, usize), CodeRefusal> {
        let mut after = Vec::new();
        let mut conversions = 0;
        let mut value = product.result(0);
        while let Some(op) = self.user(value) {
            let (bf16, f32) = (op.ctx.float(FloatKind::Bf16), op.ctx.f32());
            if converted(op, f32, bf16).is_some() && self.user(op.result(0)).is_none() {
                conversions = 1;
                break;
            }
            if op.has(Traits::SAME_ORDER) || !keeps_distances(op) {
                return Err(form());
            }
            after.push(op);
            value = op.result(0);
        }
        let rank = rank(product, product.result(0)).ok_or_else(form)?;
        let axes = axes_after(product, &after).filter(|axes| axes.last() == Some(&(rank - 1)));
        let mut sorted = axes.ok_or_else(form)?;
        sorted.sort_unstable();
        if sorted.into_iter().eq(0..rank) { Ok((after, conversions)) } else { Err(form()) }
    }
}

impl ProductOperand<'_> {
    /// How many operations it has, apart from the conversion.
    fn own_len(&self) -> usize {
        self.views.len() + usize::from(self.factor.is_some())
    }
}

/// Whether an operation is a view whose axes are axes of its operand (with the same stride), broadcast, or of
/// size 1, at all sizes.
fn keeps_distances(op: OpRef<'_>) -> bool {
    let Kind::View(View::OfOperand(map)) = op.kind() else { return false };
    if op.ctx.elem(op.operand_type(0)) != op.ctx.elem(op.result_type(0)) {
        return false;
    }
    if op.has(Traits::SAME_ORDER) {
        let longer = |ty| {
            let shape = op.ctx.type_data(ty).tensor_shape()?;
            Some(shape.iter().filter(|size| **size != Dim::Known(1)).collect::<Vec<_>>())
        };
        let [from, to] = [op.operand_type(0), op.result_type(0)].map(longer);
        return from.is_some() && from == to && !to.is_some_and(|to| to.contains(&&Dim::Unknown));
    }
    let probe = probe(op, op.operand(0));
    let mapped = probe.as_ref().and_then(|probe| map(op, 0, probe));
    let is_kept = |probe: &Strided, stride: &i64| *stride == 0 || probe.strides.contains(stride);
    probe.zip(mapped).is_some_and(|(probe, view)| view.strides.iter().all(|stride| is_kept(&probe, stride)))
}

/// A layout for tracing axes through views: axis `n` has the stride `PROBE + n`.
fn probe(op: OpRef<'_>, value: Value) -> Option<Strided> {
    let shape = op.ctx.type_data(op.body.ty(value)).tensor_shape()?;
    let strides = (0..shape.len() as i64).map(|axis| PROBE + axis).collect();
    Some(Strided { offset: 0, shape: shape.iter().map(|size| size.known().unwrap_or(2)).collect(), strides })
}

const PROBE: i64 = 1 << 32;

/// For each axis of the last view, the axis of the product.
fn axes_after(product: OpRef<'_>, after: &[OpRef<'_>]) -> Option<Vec<usize>> {
    let mut layout = probe(product, product.result(0))?;
    for op in after {
        let Kind::View(View::OfOperand(map)) = op.kind() else { return None };
        let next = map(*op, 0, &layout)?;
        let [from, to] =
            [op.operand_type(0), op.result_type(0)].map(|ty| op.ctx.type_data(ty).tensor_shape());
        // A slice has fewer elements along an axis.
        let is_whole = |(stride, size): (&i64, &Dim)| {
            let axis = layout.strides.iter().position(|other| other == stride);
            axis.is_some_and(|axis| from.is_some_and(|from| from[axis] == *size && *size != Dim::Unknown))
        };
        if next.offset != 0 || !next.strides.iter().zip(to?).all(is_whole) {
            return None;
        }
        layout = next;
    }
    layout.strides.iter().map(|stride| usize::try_from(stride - PROBE).ok()).collect()
}

/// The call that runs attention.
fn lower(whole: OpRef<'_>, machine: &Machine) -> Result<Lowered, CodeRefusal> {
    let ops = body_ops(whole)?;
    let form = AttentionForm::of(&ops)?;
    check_ends(whole, &ops, &form)?;
    let operands = GroupOperands { whole };
    let numbers = operands.numbers(&form)?;
    let scores = known_shape(form.scores, form.scores.result(0))?;
    let result = known_shape(form.product, form.product.result(0))?;
    let (heads, sizes) = result.split_at(result.len() - 2);
    let (q, q_at) = operands.matrices(&form.q, heads)?;
    let (mut k, k_at) = operands.matrices(&form.k, heads)?;
    let (mut v, v_at) = operands.matrices(&form.v, heads)?;
    let depth = *known_shape(form.scores, form.scores.operand(0))?.last().ok_or_else(self::form)?;
    // Without `transpose_b`, k is given as its transpose, so its rows and columns are swapped.
    if form.scores.attr("transpose_b").is_none() {
        (k.row, k.column) = (k.column, k.row);
    }
    if form.product.attr("transpose_b").is_some() {
        (v.row, v.column) = (v.column, v.row);
    }
    let (mask, mask_at) = match form.mask {
        Some(mask) => operands.mask(mask, heads, &scores)?,
        None => (HeadMatrices::default(), Pointer::Absent),
    };
    let shape = AttentionShape {
        heads: padded(heads, 1),
        rows: sizes[0],
        keys: *scores.last().ok_or_else(self::form)?,
        depth,
        columns: sizes[1],
        q,
        k,
        v,
        mask,
        out: out(&form)?,
    };
    let kernel = Attention::new(&shape, machine.isa, machine.threads).stored(numbers);
    let number = |value: Option<Value>| match value {
        Some(value) => Ok(Pointer::Operand(operands.index(value)?, 0)),
        None => Ok(Pointer::Absent),
    };
    let factors = [number(form.q.factor)?, number(form.k.factor)?, number(form.factor)?];
    let pointers = [Pointer::Result(0, 0), q_at, k_at, v_at, mask_at].into_iter().chain(factors);
    Ok(Lowered::new("attention", vec![LoweredCall::kernel(&kernel, pointers.collect())]))
}

/// Checks that the last value is the group's only result, and that intermediate values other than converted
/// operands have no other reader.
fn check_ends(whole: OpRef<'_>, ops: &[OpRef<'_>], form: &AttentionForm<'_>) -> Result<(), CodeRefusal> {
    let sources = [&form.q, &form.k, &form.v];
    let is_conversion = |op: &OpRef<'_>| {
        sources.iter().any(|source| source.conversion.is_some_and(|other| other.op == op.op))
    };
    let has_one_user = |op: &OpRef<'_>| is_conversion(op) || whole.body.uses(op.result(0)).count() == 1;
    if whole.body.result_count(whole.op) != 1 || !ops.iter().all(has_one_user) {
        return Err(self::form());
    }
    let mut last = form.after.last().unwrap_or(&form.product).result(0);
    if form.conversions == 1 {
        let reader = AttentionReader { ops };
        last = reader.user(last).ok_or_else(self::form)?.result(0);
    }
    let is_yielded = |op: ir::Op| whole.body.at(whole.ctx, op).has(Traits::YIELD);
    match whole.body.uses(last).all(|used| is_yielded(used.op)) {
        true => Ok(()),
        false => Err(self::form()),
    }
}

/// The strides of the product's elements in the group's result.
fn out(form: &AttentionForm<'_>) -> Result<HeadMatrices, CodeRefusal> {
    let last = form.after.last().unwrap_or(&form.product);
    let dense = dense_strides(&known_shape(*last, last.result(0))?);
    let axes = axes_after(form.product, &form.after).ok_or_else(self::form)?;
    let mut strides = vec![0; dense.len()];
    for (axis, stride) in axes.into_iter().zip(dense) {
        strides[axis] = stride;
    }
    matrices(&strides)
}

/// The strides of heads, rows and columns.
fn matrices(strides: &[i64]) -> Result<HeadMatrices, CodeRefusal> {
    let strides: Result<Vec<u64>, _> = strides.iter().map(|stride| u64::try_from(*stride)).collect();
    let strides = strides.map_err(|_| CodeRefusal::new("an operand is read backwards"))?;
    let (heads, inner) = strides.split_at(strides.len() - 2);
    Ok(HeadMatrices { heads: padded(heads, 0), row: inner[0], column: inner[1] })
}

/// Numbers padded at the front to the number of head axes.
fn padded(numbers: &[u64], first: u64) -> [u64; HEAD_AXES] {
    let mut padded = [first; HEAD_AXES];
    padded[HEAD_AXES - numbers.len()..].copy_from_slice(numbers);
    padded
}

/// The operands of a group.
struct GroupOperands<'a> {
    whole: OpRef<'a>,
}

impl GroupOperands<'_> {
    /// The index of the group's operand that a value of the body is.
    fn index(&self, value: Value) -> Result<usize, CodeRefusal> {
        match self.whole.body.def(value) {
            ValueDef::Arg(_, index) => Ok(index),
            ValueDef::Result(..) => Err(form()),
        }
    }

    /// The element types of all operands.
    fn numbers(&self, form: &AttentionForm<'_>) -> Result<AttentionNumbers, CodeRefusal> {
        let of = |source: &ProductOperand<'_>| {
            let found = stored(self.whole, self.whole.operand(self.index(source.value)?))?;
            match (found, source.conversion) {
                (StoredFloat::F32, None) | (StoredFloat::Bf16, Some(_)) => Ok(found),
                _ => Err(self::form()),
            }
        };
        let out = stored(self.whole, self.whole.result(0))?;
        if (out == StoredFloat::Bf16) != (form.conversions == 1) {
            return Err(self::form());
        }
        let others = [form.mask, form.factor, form.q.factor, form.k.factor].into_iter().flatten();
        for other in others {
            if stored(self.whole, self.whole.operand(self.index(other)?))? != StoredFloat::F32 {
                return Err(CodeRefusal::new("its mask and factors are stored as f32 only"));
            }
        }
        let [q, k, v] = [of(&form.q)?, of(&form.k)?, of(&form.v)?];
        let powers = if form.roundings == 0 { StoredFloat::F32 } else { StoredFloat::Bf16 };
        if powers == StoredFloat::Bf16 && [q, k, v] != [StoredFloat::Bf16; 3] {
            return Err(CodeRefusal::new("its softmax is rounded only if all matrices are stored as bf16"));
        }
        Ok(AttentionNumbers { q, k, v, out, powers })
    }

    /// The strides of an operand's matrices, for all heads.
    fn matrices(
        &self,
        source: &ProductOperand<'_>,
        heads: &[u64],
    ) -> Result<(HeadMatrices, Pointer), CodeRefusal> {
        let index = self.index(source.value)?;
        let mut layout = known_layout(self.whole, self.whole.operand(index))?;
        for op in &source.views {
            let Kind::View(View::OfOperand(map)) = op.kind() else { return Err(form()) };
            layout = map(*op, 0, &layout).ok_or_else(form)?;
        }
        let own = layout.shape.len() - 2;
        let all: Vec<u64> = heads.iter().chain(&layout.shape[own..]).copied().collect();
        self.broadcast(index, &layout, &all)
    }

    fn mask(
        &self,
        value: Value,
        heads: &[u64],
        scores: &[u64],
    ) -> Result<(HeadMatrices, Pointer), CodeRefusal> {
        let index = self.index(value)?;
        let layout = known_layout(self.whole, self.whole.operand(index))?;
        let all: Vec<u64> = heads.iter().chain(&scores[scores.len() - 2..]).copied().collect();
        self.broadcast(index, &layout, &all)
    }

    fn broadcast(
        &self,
        index: usize,
        layout: &Strided,
        to: &[u64],
    ) -> Result<(HeadMatrices, Pointer), CodeRefusal> {
        let strides = broadcast_strides(&layout.shape, &layout.strides, to);
        let strides = strides.ok_or_else(|| CodeRefusal::new("an operand does not broadcast to it"))?;
        let offset = u64::try_from(layout.offset).map_err(|_| form())?;
        let bytes = stored(self.whole, self.whole.operand(index))?.bytes() as u64;
        Ok((matrices(&strides)?, Pointer::Operand(index, offset * bytes)))
    }
}

#[cfg(test)]
#[path = "attention_tests.rs"]
mod tests;
