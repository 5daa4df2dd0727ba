//! Layout of images: channels first or last, as the target prefers.
//!
//! ```text
//! %1 = nn.conv2d %0, %w : NCHW          %a = nn.transpose %0 [0, 2, 3, 1]
//! %2 = nn.relu %1                  =>   %b = nn.conv2d %a, %w {layout = "NHWC"}
//! return %2                             %c = nn.relu %b
//!                                       %2 = nn.transpose %c [0, 3, 1, 2]
//! ```
//!
//! One walk in text order. An operation with a choice of layout is put between two transposes. A transpose of
//! an operand moves after its reader if that supports permuted axes and more than half of the bytes it reads
//! are transposed (at nominal sizes for named ones; either choice is correct). Transposes of transposes are
//! merged, and removed if they cancel. So in a convolutional network two transposes are left: at the input
//! and at the output. A transpose that only moves axes of size 1 becomes a reshape, which is free. Those made
//! by this pass become reshapes at the end, because few operations can move before a reshape.
//!
//! A reshape moves before a transpose that keeps together what it splits or joins, and after an elementwise
//! operation, so that neither separates a convolution from the operations around it: an image may be made
//! of a sequence, or of rows with axes of size 1.

use ir::body::OpRef;
use ir::builder::InsertPoint;
use ir::dims::{self, Bindings};
use ir::opdef::View;
use ir::weights::WeightSet;
use ir::{
    Attr, AttrData, AttrKind, Body, Builder, Context, Diagnostic, Dim, DimExpr, InferError, Kind, Op, Target,
    Traits, Value, size,
};

use crate::dce::remove_dead;
use crate::edit::{blocks, inverse, permutation, rebuild, reshape};
use crate::manager::Changes;
use crate::reshapes;

/// Axis `i` of an NHWC image is axis `TO_NHWC[i]` of the NCHW one.
const TO_NHWC: [usize; 4] = [0, 2, 3, 1];

/// Changes the operations of a function to the target's layouts.
///
/// # Errors
/// If an operation can't be rebuilt in another layout, which means that its `OpDef` is wrong.
pub fn layout(
    ctx: &Context,
    target: &dyn Target,
    body: &mut Body,
    changes: &Changes,
) -> Result<(), Vec<Diagnostic>> {
    let ops: Vec<Op> = blocks(ctx, body).into_iter().flat_map(|block| body.ops(block)).collect();
    let weights = WeightSet::of(ctx, body);
    let nominal = dims::nominal(ctx, body);
    let mut pass = LayoutChooser { ctx, target, weights, nominal, body, changes };
    let mut faults = Vec::new();
    for op in ops {
        if let Err(InferError(reason)) = pass.visit(op) {
            faults.push(Diagnostic::error(pass.body.location(op), format!("in another layout: {reason}")));
        }
    }
    remove_dead(ctx, body);
    reshape_ones(ctx, body);
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

/// Replaces each transpose that only moves axes of size 1 by a reshape.
fn reshape_ones(ctx: &Context, body: &mut Body) {
    let ops: Vec<Op> = blocks(ctx, body).into_iter().flat_map(|block| body.ops(block)).collect();
    for op in ops {
        let Some(permutation) = permutation(ctx, body, op) else { continue };
        if let Some(new) = reshaped_ones(ctx, body, op, &permutation) {
            body.replace_uses(body.result(op, 0), new);
            body.erase(op);
        }
    }
}

/// The result of a transpose as a reshape of its operand, inserted before it, if it only moves axes of size
/// 1.
fn reshaped_ones(ctx: &Context, body: &mut Body, op: Op, permutation: &[usize]) -> Option<Value> {
    let source = body.operand(op, 0);
    let shape = ctx.type_data(body.ty(source)).tensor_shape()?.to_vec();
    let is_free = moves_only_ones(&shape, permutation) && !shape.contains(&Dim::Unknown);
    let moved: Vec<Dim> = permutation.iter().map(|axis| shape[*axis]).collect();
    is_free.then(|| reshape(ctx, body, source, &moved, op))
}

struct LayoutChooser<'a> {
    ctx: &'a Context,
    target: &'a dyn Target,
    weights: WeightSet,
    nominal: Bindings,
    body: &'a mut Body,
    changes: &'a Changes,
}

impl LayoutChooser<'_> {
    fn visit(&mut self, op: Op) -> Result<(), InferError> {
        let op_ref = self.body.at(self.ctx, op);
        if self.body.results(op).any(|result| self.weights.contains(result)) {
            return Ok(());
        }
        if op_ref.def().is_some_and(|def| def.attr("layout").is_some()) {
            return match (op_ref.text("layout"), self.target.layout(op_ref)) {
                // The target's choice is fixed: no other layout has code.
                (Some("NCHW"), Some("NHWC")) => self.turn_to_nhwc(op),
                _ => Ok(()),
            };
        }
        if let Some(permutation) = permutation(self.ctx, self.body, op) {
            return match self.may(op, "is joined with the transpose before it") {
                true => self.shorten_transpose(op, &permutation),
                false => Ok(()),
            };
        }
        if let Some(shape) = self.reshape_to(op) {
            return self.raise_reshape(op, &shape);
        }
        match self.profitable_permutation(op) {
            Some(permutation) if self.may(op, "stands before the transpose that it read") => {
                self.sink_transpose(op, &permutation)
            }
            _ if self.body.result_count(op) == 1 => {
                let new = self.before_reshape(op)?;
                if new != self.body.result(op, 0) {
                    self.replace(op, new);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Whether an operation may be changed, and how.
    fn may(&self, op: Op, how: &str) -> bool {
        self.changes.allow(|| format!("{} {how}", self.body.at(self.ctx, op).describe()))
    }

    /// Merges a transpose with one before it. A transpose of the program itself that only moves axes of size
    /// 1 becomes a reshape.
    fn shorten_transpose(&mut self, op: Op, permutation: &[usize]) -> Result<(), InferError> {
        let operand = self.body.operand(op, 0);
        let (source, _) = self.through_transpose(operand, permutation);
        if source != operand {
            let new = self.transposed(operand, permutation, op)?;
            self.replace(op, new);
        } else if let Some(new) = reshaped_ones(self.ctx, self.body, op, permutation) {
            self.replace(op, new);
        }
        Ok(())
    }

    /// The result shape of an operation that only changes the shape.
    fn reshape_to(&self, op: Op) -> Option<Vec<Dim>> {
        self.body.at(self.ctx, op).has(Traits::SAME_ORDER).then_some(())?;
        let ends = [self.body.operand(op, 0), self.body.result(op, 0)];
        let [from, to] = ends.map(|value| self.dims(value));
        let [read, made] = ends.map(|value| self.ctx.type_data(self.body.ty(value)).elem());
        let is_known = !from.contains(&Dim::Unknown) && !to.contains(&Dim::Unknown);
        (is_known && read.is_some() && read == made).then_some(to)
    }

    /// Rewrites the `reshape(transpose(x))` as `transpose(reshape(x))`, if the transpose keeps together and
    /// in order what the reshape splits or joins.
    fn raise_reshape(&mut self, op: Op, shape: &[Dim]) -> Result<(), InferError> {
        let transpose = self.body.defining_op(self.body.operand(op, 0));
        let found = transpose.and_then(|op| Some((op, permutation(self.ctx, self.body, op)?)));
        let Some((transpose, permutation)) = found else { return Ok(()) };
        let source = self.body.operand(transpose, 0);
        let Some((raised, order)) = reshapes::raised(self.ctx, &self.dims(source), &permutation, shape)
        else {
            return Ok(());
        };
        if !self.may(op, "stands before the transpose that it read") {
            return Ok(());
        }
        let reshaped = self.reshaped(source, &raised, op);
        let new = self.transposed(reshaped, &order, op)?;
        self.replace(op, new);
        Ok(())
    }

    /// `value` in another shape, skipping reshapes that it came from; inserted before `at`.
    fn reshaped(&mut self, value: Value, shape: &[Dim], at: Op) -> Value {
        let mut source = value;
        while let Some(op) = self.body.defining_op(source).filter(|op| self.reshape_to(*op).is_some()) {
            source = self.body.operand(op, 0);
        }
        if self.dims(source) == shape { source } else { reshape(self.ctx, self.body, source, shape, at) }
    }

    /// The result of an operation. If it is elementwise with one operand, a reshape that separates it from
    /// what it could be fused with, the operation is copied before the reshape.
    fn before_reshape(&mut self, op: Op) -> Result<Value, InferError> {
        let result = self.body.result(op, 0);
        let is_unary = matches!(self.body.at(self.ctx, op).kind(), Kind::Elementwise(_))
            && self.body.operand_count(op) == 1;
        let operand = is_unary.then(|| self.body.operand(op, 0));
        let reshape = operand.and_then(|operand| self.body.defining_op(operand));
        let Some(reshape) = reshape.filter(|reshape| self.separates(*reshape)) else { return Ok(result) };
        if !self.may(op, "stands before the reshape that it read") {
            return Ok(result);
        }
        let source = self.body.operand(reshape, 0);
        let properties = self.body.properties(op);
        let copy = rebuild(self.ctx, self.body, op, &[source], properties, InsertPoint::Before(op))?;
        Ok(self.reshaped(self.body.result(copy, 0), &self.dims(result), op))
    }

    /// Whether an operation is a reshape of a sum of products, or one that only adds or drops axes of size 1.
    fn separates(&self, op: Op) -> bool {
        let Some(to) = self.reshape_to(op) else { return false };
        let source = self.body.operand(op, 0);
        let maker = self.body.defining_op(source).map(|maker| self.body.at(self.ctx, maker).kind());
        matches!(maker, Some(Kind::Contract(_))) || without_ones(&self.dims(source)).eq(without_ones(&to))
    }

    fn turn_to_nhwc(&mut self, op: Op) -> Result<(), InferError> {
        let mut operands: Vec<Value> = self.body.operands(op).collect();
        operands[0] = self.transposed(operands[0], &TO_NHWC, op)?;
        let key = self.ctx.ident("layout");
        let properties = self.ctx.dict_set(self.body.properties(op), key, self.ctx.str_attr("NHWC"));
        let copy = rebuild(self.ctx, self.body, op, &operands, properties, InsertPoint::Before(op))?;
        let new = self.transposed(self.body.result(copy, 0), &inverse(&TO_NHWC), op)?;
        self.replace(op, new);
        Ok(())
    }

    fn replace(&mut self, op: Op, new: Value) {
        let old = self.body.result(op, 0);
        self.body.replace_uses(old, new);
    }

    /// `value` with permuted axes, skipping transposes that it came from; inserted before `at`.
    fn transposed(&mut self, value: Value, permutation: &[usize], at: Op) -> Result<Value, InferError> {
        let (source, permutation) = self.through_transpose(value, permutation);
        if permutation.iter().copied().eq(0..permutation.len()) {
            return Ok(source);
        }
        let axes: Vec<i64> = permutation.iter().map(|axis| *axis as i64).collect();
        let attrs = [("permutation", self.ctx.ints_attr(&axes))];
        Builder::before(self.ctx, self.body, at).value("nn.transpose", &[source], &attrs)
    }

    /// The operand of the transpose that computes `value`, and that permutation composed with `outer`.
    fn through_transpose(&self, value: Value, outer: &[usize]) -> (Value, Vec<usize>) {
        let Some(op) = self.body.defining_op(value) else { return (value, outer.to_vec()) };
        match permutation(self.ctx, self.body, op) {
            Some(inner) => (self.body.operand(op, 0), outer.iter().map(|axis| inner[*axis]).collect()),
            None => (value, outer.to_vec()),
        }
    }

    /// The permutation that should move after `op`: more than half of the bytes that `op` reads come through
    /// it, and they do not grow before they are returned.
    fn profitable_permutation(&self, op: Op) -> Option<Vec<usize>> {
        let op_ref = self.body.at(self.ctx, op);
        let is_elementwise = matches!(op_ref.kind(), Kind::Elementwise(_));
        if !is_elementwise && !is_permutable(op_ref) {
            return None;
        }
        let rank = self.ctx.type_data(op_ref.result_type(0)).tensor_shape()?.len();
        let source = |value: Value| {
            let permutation = permutation(self.ctx, self.body, self.body.defining_op(value)?)?;
            (!is_elementwise || permutation.len() == rank).then_some(permutation)
        };
        let wanted = self.body.operands(op).find_map(source)?;
        let nothing = dims::constant(self.ctx, 0);
        let (mut with, mut without) = (nothing, nothing);
        for value in self.body.operands(op).take(self.permuted_operands(op)) {
            let bytes = size::bytes_expr(self.ctx, self.body.ty(value))?;
            match source(value) {
                Some(permutation) if permutation == wanted => with = dims::add(self.ctx, with, bytes)?,
                _ if self.weights.contains(value) => {}
                _ => without = dims::add(self.ctx, without, bytes)?,
            }
        }
        let (with, without) = (self.nominal(with)?, self.nominal(without)?);
        let result = self.body.result(op, 0);
        let made = self.nominal(size::bytes_expr(self.ctx, self.body.ty(result))?)?;
        let is_larger_at_end = made > with + without && self.is_for_the_caller(result);
        (with > without && !is_larger_at_end).then_some(wanted)
    }

    /// Whether a value is only returned, itself or what is computed from it by operations through which
    /// transposes move. A transpose would then move to the end and stay there.
    fn is_for_the_caller(&self, value: Value) -> bool {
        let mut value = value;
        loop {
            let mut uses = self.body.uses(value);
            let (Some(used), None) = (uses.next(), uses.next()) else { return false };
            let reader = self.body.at(self.ctx, used.op);
            if reader.has(Traits::RETURN) {
                return true;
            }
            let is_elementwise = matches!(reader.kind(), Kind::Elementwise(_));
            if self.body.result_count(used.op) != 1 || !is_elementwise && !is_permutable(reader) {
                return false;
            }
            value = self.body.result(used.op, 0);
        }
    }

    /// The value of an expression at nominal sizes.
    fn nominal(&self, expr: DimExpr) -> Option<i64> {
        dims::evaluate(self.ctx, expr, &|name| {
            self.nominal.get(&name).and_then(|size| i64::try_from(*size).ok())
        })
    }

    /// The sizes of a value; empty unless it is a ranked tensor.
    fn dims(&self, value: Value) -> Vec<Dim> {
        self.ctx.type_data(self.body.ty(value)).tensor_shape().unwrap_or_default().to_vec()
    }

    /// The number of leading operands whose axes are permuted with the result's.
    fn permuted_operands(&self, op: Op) -> usize {
        match self.body.at(self.ctx, op).kind() {
            Kind::Elementwise(_) | Kind::View(View::OfResult(_)) => self.body.operand_count(op),
            _ => 1,
        }
    }

    /// Rewrites `op(transpose(x))` as `transpose(op(x))`.
    fn sink_transpose(&mut self, op: Op, permutation: &[usize]) -> Result<(), InferError> {
        let undo = inverse(permutation);
        let mut operands: Vec<Value> = self.body.operands(op).collect();
        for value in operands.iter_mut().take(self.permuted_operands(op)) {
            let full = self.with_rank(*value, permutation.len(), op);
            *value = self.transposed(full, &undo, op)?;
        }
        let properties = self.permuted_attrs(op, permutation);
        let copy = rebuild(self.ctx, self.body, op, &operands, properties, InsertPoint::Before(op))?;
        let result = self.before_reshape(copy)?;
        let rank = self.ctx.type_data(self.body.ty(result)).tensor_shape().map_or(0, <[_]>::len);
        let back = if rank == permutation.len() {
            permutation.to_vec()
        } else {
            self.remaining_permutation(op, permutation)
        };
        let new = self.transposed(result, &back, op)?;
        self.replace(op, new);
        Ok(())
    }

    /// The value with leading axes of size 1 up to `rank` axes.
    fn with_rank(&mut self, value: Value, rank: usize, at: Op) -> Value {
        let shape = self.dims(value);
        if shape.len() >= rank {
            return value;
        }
        let full = [vec![Dim::Known(1); rank - shape.len()], shape].concat();
        reshape(self.ctx, self.body, value, &full, at)
    }

    /// The inherent attributes of `op`, with axes renumbered to those of the transpose's operand.
    fn permuted_attrs(&self, op: Op, permutation: &[usize]) -> Attr {
        let ctx = self.ctx;
        let op_ref = self.body.at(ctx, op);
        let mut properties = self.body.properties(op);
        for attr in op_ref.def().map_or(&[][..], |def| def.attrs) {
            let new = match attr.kind {
                AttrKind::Axis => {
                    op_ref.int(attr.name).map(|axis| ctx.int_attr(permutation[axis as usize] as i64))
                }
                AttrKind::Axes => op_ref.ints(attr.name).map(|mut axes| {
                    axes.iter_mut().for_each(|axis| *axis = permutation[*axis as usize] as i64);
                    axes.sort_unstable();
                    ctx.ints_attr(&axes)
                }),
                AttrKind::PerAxis => match op_ref.attr(attr.name).map(|attr| ctx.attr_data(attr)) {
                    Some(AttrData::Dims(sizes)) => {
                        let moved: Vec<Dim> = inverse(permutation).iter().map(|axis| sizes[*axis]).collect();
                        Some(ctx.dims_attr(&moved))
                    }
                    _ => op_ref.ints(attr.name).map(|values| {
                        let moved: Vec<i64> = inverse(permutation).iter().map(|axis| values[*axis]).collect();
                        ctx.ints_attr(&moved)
                    }),
                },
                _ => None,
            };
            if let Some(new) = new {
                properties = ctx.dict_set(properties, ctx.ident(attr.name), new);
            }
        }
        properties
    }

    /// The permutation of the axes left by `op` once `permutation` is no longer before it.
    fn remaining_permutation(&self, op: Op, permutation: &[usize]) -> Vec<usize> {
        let dropped = self.body.at(self.ctx, op).ints("axes").unwrap_or_default();
        let kept = (0..permutation.len()).filter(|axis| !dropped.contains(&(*axis as i64)));
        let kept: Vec<usize> = kept.map(|axis| permutation[axis]).collect();
        let mut sorted = kept.clone();
        sorted.sort_unstable();
        kept.iter().map(|axis| sorted.binary_search(axis).expect("a kept axis")).collect()
    }
}

/// Whether the axes of the result may be permuted with those of operand 0.
fn is_permutable(op: OpRef<'_>) -> bool {
    let rank = |ty| op.ctx.type_data(ty).tensor_shape().map(<[_]>::len);
    let names_one_axis =
        || op.def().is_some_and(|def| def.attrs.iter().any(|attr| attr.kind == AttrKind::Axis));
    op.has(Traits::PERMUTABLE) && (!names_one_axis() || rank(op.operand_type(0)) == rank(op.result_type(0)))
}

/// The axes of sizes other than 1.
fn without_ones(shape: &[Dim]) -> impl Iterator<Item = &Dim> {
    shape.iter().filter(|dim| **dim != Dim::Known(1))
}

/// Whether all axes of more than one element keep their order.
fn moves_only_ones(shape: &[Dim], permutation: &[usize]) -> bool {
    let is_one = |axis: &usize| shape.get(*axis) == Some(&Dim::Known(1));
    let moved: Vec<usize> = permutation.iter().copied().filter(|axis| !is_one(axis)).collect();
    moved.is_sorted()
}
