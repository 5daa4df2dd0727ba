//! How normalisations that nothing was folded into are computed.

use ir::body::OpRef;
use ir::opdef::Access;
use ir::scalar::{Binary, Unary};

use crate::elem::Elem;
use crate::lower::{Lowered, Machine, Pointer};
use crate::pointwise::expr::{ExprBuilder, Node, NodeOp};
use crate::pointwise::nest::dense_strides;
use crate::pointwise::{Window, call, known_shape};
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
    Ok(Lowered { kernel: "pointwise", calls: vec![call], overwrites: vec![(0, Access::SameIndex)] })
}
