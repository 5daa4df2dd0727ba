//! The shape of an operand or result that is being lowered: sizes, layout and element type.

use ir::body::OpRef;
use ir::opdef::Strided;
use ir::size::static_extents;
use ir::window::layout;
use ir::{Kind, Scalar, Value};

use crate::elem::ElemType;
use crate::refusal::CodeRefusal;

/// The sizes of an operand or result.
pub(crate) fn known_shape(op: OpRef<'_>, value: Value) -> Result<Vec<u64>, CodeRefusal> {
    let shape = static_extents(op.ctx, op.body.ty(value));
    shape.ok_or_else(|| CodeRefusal::new("a size is not known"))
}

/// The layout of an operand or result. The stride of an axis of one element is not below 0: a view turns such
/// an axis round without moving an element, and kernels count in unsigned numbers.
pub(crate) fn known_layout(op: OpRef<'_>, value: Value) -> Result<Strided, CodeRefusal> {
    match layout(op.ctx, op.body, value) {
        Some(mut layout) => {
            for (size, stride) in layout.shape.iter().zip(&mut layout.strides) {
                *stride = if *size == 1 { stride.abs() } else { *stride };
            }
            Ok(layout)
        }
        None => {
            known_shape(op, value)?;
            Err(CodeRefusal::new("the rows of its operands or result end inside an axis"))
        }
    }
}

/// The element type of a value, if generated code computes with it or stores it, or if the operation is a
/// copy.
pub(crate) fn elem_of(op: OpRef<'_>, value: Value) -> Result<ElemType, CodeRefusal> {
    let ty = op.body.ty(value);
    let elem = match op.kind() {
        Kind::Elementwise(Scalar::Arg(_)) => ElemType::moved(op.ctx, ty),
        _ => ElemType::stored(op.ctx, ty),
    };
    elem.ok_or_else(|| CodeRefusal::new("generated code does not compute with this element type"))
}

/// The element type of a value that is only moved.
pub(crate) fn moved_elem(op: OpRef<'_>, value: Value) -> Result<ElemType, CodeRefusal> {
    let elem = ElemType::moved(op.ctx, op.body.ty(value));
    elem.ok_or_else(|| CodeRefusal::new("generated code does not move this element type"))
}

/// Refuses operands that are not `f32`.
pub(crate) fn check_f32(op: OpRef<'_>) -> Result<(), CodeRefusal> {
    let f32 = op.ctx.f32();
    let all = op.body.operands(op.op).all(|operand| op.ctx.elem(op.body.ty(operand)) == f32);
    if all { Ok(()) } else { Err(CodeRefusal::new("its kernel computes with f32 only")) }
}

#[cfg(test)]
mod tests {
    use ir::plan::attrs;

    use super::known_layout;
    use crate::testing::Net;

    #[test]
    fn an_axis_of_one_element_is_never_read_backwards() {
        let mut net = Net::f32(&[&[4, 3, 5]]);
        let ctx = net.ctx.clone();
        let turned = [
            ("starts", ctx.ints_attr(&[3, 2, 4])),
            ("sizes", ctx.ints_attr(&[1, 2, 1])),
            ("strides", ctx.ints_attr(&[-2, -1, -3])),
            (attrs::MEM_VIEW, ctx.unit_attr()),
        ];
        let view = net.op("nn.slice", &[net.arg(0)], &turned);
        let op = net.body.defining_op(view).expect("it is a slice");
        let layout = known_layout(net.body.at(&ctx, op), view).expect("its sizes are known");
        assert_eq!((layout.shape, layout.strides), (vec![1, 2, 1], vec![30, -5, 1]));
    }
}
