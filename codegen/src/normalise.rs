//! How normalisations that nothing was folded into are computed.

use ir::body::OpRef;
use ir::opdef::{Access, Reduce};
use ir::scalar::{Binary, Unary};

use crate::elem::Elem;
use crate::lower::{Lowered, Machine, Pointer};
use crate::pointwise::expr::{ExprBuilder, Node, NodeOp};
use crate::pointwise::nest::dense_strides;
use crate::pointwise::{Window, call, known_shape};
use crate::reduce::Folding;
use crate::refusal::Refusal;

/// `(x - mean) * (scale / sqrt(variance + epsilon)) + bias` for each channel, the last two steps rounded once.
pub(crate) fn lower_batch_norm(op: OpRef<'_>, machine: &Machine) -> Result<Lowered, Refusal> {
    let shape = known_shape(op, op.operand(0))?;
    let elem = Elem::of(op.ctx, op.operand_type(0)).filter(|elem| elem.is_float());
    let elem = elem.ok_or_else(|| Refusal::new("generated code does not compute with this element type"))?;
    let axis = op.int("axis").and_then(|axis| usize::try_from(axis).ok()).filter(|axis| *axis < shape.len());
    let axis = axis.ok_or_else(|| Refusal::new("`axis` is not one of the operand's"))?;
    let mut per_channel = vec![0; shape.len()];
    per_channel[axis] = 1;
    let window =
        |index: usize, strides: Vec<i64>| Window { place: Pointer::Operand(index, 0), elem, strides };
    let mut inputs = vec![window(0, dense_strides(&shape))];
    inputs.extend((1..5).map(|index| window(index, per_channel.clone())));
    let mut builder = ExprBuilder::default();
    let [x, scale, bias, mean, variance] = [0, 1, 2, 3, 4].map(|n| builder.add(elem, NodeOp::Input(n)));
    let epsilon = op.float("epsilon").unwrap_or(0.0);
    let epsilon = builder.add(elem, NodeOp::Const(elem.constant_bits(epsilon)));
    let mut binary = |function, a: Node, b: Node| builder.add(elem, NodeOp::Binary(function, a, b));
    let centred = binary(Binary::Sub, x, mean);
    let sum = binary(Binary::Add, variance, epsilon);
    let deviation = builder.add(elem, NodeOp::Unary(Unary::Sqrt, sum));
    let factor = builder.add(elem, NodeOp::Binary(Binary::Div, scale, deviation));
    let node = builder.add(elem, NodeOp::Fma(centred, factor, bias));
    let result = Window { place: Pointer::Result(0, 0), elem, strides: dense_strides(&shape) };
    let call = call(&shape, builder.finish(), vec![(node, result)], inputs, machine)?;
    let overwrites = vec![(0, Access::SameIndex)];
    Ok(Lowered { overwrites, ..Lowered::new("pointwise", vec![call]) })
}

/// `e^(x - max) / sum of e^(x - max)` along an axis, in four calls: the largest elements go to scratch, the powers to the result,
/// their sums to scratch, the quotients over the powers.
pub(crate) fn lower_softmax(op: OpRef<'_>, machine: &Machine) -> Result<Lowered, Refusal> {
    let shape = known_shape(op, op.operand(0))?;
    let elem = Elem::of(op.ctx, op.operand_type(0)).filter(|elem| elem.is_float());
    let elem = elem.ok_or_else(|| Refusal::new("generated code does not compute with this element type"))?;
    let axis = op.int("axis").and_then(|axis| usize::try_from(axis).ok()).filter(|axis| *axis < shape.len());
    let axis = axis.ok_or_else(|| Refusal::new("`axis` is not one of the operand's"))?;
    let mut folded = shape.clone();
    folded[axis] = 1;
    let mut strides = dense_strides(&folded);
    strides[axis] = 0;
    let fold = |reduce, from: Pointer| {
        let folding = Folding { reduce, elem, shape: &shape, axes: &[axis as i64] };
        folding.call(Pointer::Shared(0), from, machine)
    };
    let combine = |from: Pointer, function, then: Option<Unary>| {
        let mut builder = ExprBuilder::default();
        let [x, folded] = [0, 1].map(|n| builder.add(elem, NodeOp::Input(n)));
        let node = builder.add(elem, NodeOp::Binary(function, x, folded));
        let node = then.map_or(node, |then| builder.add(elem, NodeOp::Unary(then, node)));
        let dense = |place| Window { place, elem, strides: dense_strides(&shape) };
        let inputs = vec![dense(from), Window { place: Pointer::Shared(0), elem, strides: strides.clone() }];
        call(&shape, builder.finish(), vec![(node, dense(Pointer::Result(0, 0)))], inputs, machine)
    };
    let (x, powers) = (Pointer::Operand(0, 0), Pointer::Result(0, 0));
    let calls = vec![
        fold(Reduce::Max, x.clone()),
        combine(x, Binary::Sub, Some(Unary::Exp))?,
        fold(Reduce::Sum, powers.clone()),
        combine(powers, Binary::Div, None)?,
    ];
    let count: u64 = folded.iter().product();
    let shared_bytes = (count * u64::from(elem.bytes())).next_multiple_of(64);
    Ok(Lowered { overwrites: vec![(0, Access::RowWise)], shared_bytes, ..Lowered::new("softmax", calls) })
}
