//! Conversion of FlexAttention: attention whose scores, and whose weights after the softmax, are mapped by
//! graphs of the node.
//!
//! ```text
//! scores = (q sqrt(scale)) (k sqrt(scale))'   =>   score_mod   =>   softmax   =>   prob_mod   =>   weights v
//! ```
//!
//! The graphs are inlined. They compute in the softmax's type, which is `f32` for narrower floats unless the
//! node names another type, and keep the type and the sizes of their input.

use ir::{Dim, FloatKind, Location, Type, TypeData, Value};

use super::call::{NodeConversion, Refusal};
use super::convert::attention::{four, shared_product};
use super::convert::composed::numbered_type;
use super::convert::linear::softmax_along;
use super::flow::{given, graph};
use super::lower::GraphLowering;
use super::model::NodeProto;
use super::sequences::{NamedItem, tensors};

impl<'m> GraphLowering<'m> {
    /// The result of a FlexAttention.
    pub(super) fn flex_attention(
        &mut self,
        node: &'m NodeProto<'m>,
        operands: &[Option<Value>],
        at: Location,
    ) -> Result<Vec<NamedItem>, Refusal> {
        let [q, k, v] = [given(operands, 0)?, given(operands, 1)?, given(operands, 2)?];
        let precise = self.call(node, vec![], at, |call| softmax_type(call, q))?;
        let scores = self.call(node, vec![], at, |call| {
            let scores = scaled_product(call, q, k)?;
            call.cast(scores, precise)
        })?;
        let scores = self.modified(node, "score_mod", scores, at)?;
        let weights = self.call(node, vec![], at, |call| softmax_along(call, scores, 3))?;
        let weights = self.modified(node, "prob_mod", weights, at)?;
        let y = self.call(node, vec![], at, |call| {
            let wide = call.cast(v, precise)?;
            let narrow = call.element(v);
            let y = shared_product(call, weights, wide)?;
            call.cast(y, narrow)
        })?;
        Ok(vec![NamedItem::Tensor(y)])
    }

    /// The result of the graph with that name for a value; the value itself, if the node has no such graph.
    fn modified(
        &mut self,
        node: &'m NodeProto<'m>,
        name: &str,
        x: Value,
        at: Location,
    ) -> Result<Value, Refusal> {
        if node.attribute(name).is_none() {
            return Ok(x);
        }
        let made = tensors(self.inline(graph(node, name)?, &[NamedItem::Tensor(x)], at)?)?;
        let &[made] = &made[..] else { return Err(format!("`{name}` makes {} results", made.len()).into()) };
        let [before, after] = [x, made].map(|value| self.body.ty(value));
        if before != after {
            let [before, after] = [before, after].map(|ty| ir::text::type_text(self.ctx, ty));
            return Err(format!("`{name}` makes `{after}` of `{before}`").into());
        }
        Ok(made)
    }
}

/// The type of the softmax.
fn softmax_type(call: &mut NodeConversion<'_, '_>, q: Value) -> Result<Type, Refusal> {
    if let Some(number) = call.node.int("softmax_precision")? {
        let ty = numbered_type(call, "softmax_precision", number)?;
        let is_float = matches!(
            call.ctx().type_data(ty),
            TypeData::Float(FloatKind::F16 | FloatKind::Bf16 | FloatKind::F32 | FloatKind::F64)
        );
        return if is_float { Ok(ty) } else { Err("`softmax_precision` is no type of floats".into()) };
    }
    Ok(match call.ctx().type_data(call.element(q)) {
        TypeData::Float(FloatKind::F64) => call.element(q),
        _ => call.ctx().f32(),
    })
}

/// Queries times keys, each times the root of the scale, which is rounded to `f32`.
fn scaled_product(call: &mut NodeConversion<'_, '_>, q: Value, k: Value) -> Result<Value, Refusal> {
    let [_, _, _, size] = four(&call.dims(q)?)?;
    let scale = match (call.node.float("scale")?, size) {
        (Some(scale), _) => scale,
        (None, Dim::Known(size)) => 1.0 / (size as f32).sqrt(),
        _ => return Err("heads of a size that is not a number".into()),
    };
    let root = f64::from(scale.sqrt());
    let (q, k) = (call.with_number("nn.mul", q, root)?, call.with_number("nn.mul", k, root)?);
    let turned = call.transposed(k, &[0, 1, 3, 2])?;
    shared_product(call, q, turned)
}
