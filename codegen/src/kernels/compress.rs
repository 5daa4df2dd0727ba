//! Compaction: slices selected by a computed condition.

use ir::body::OpRef;
use ir::size::storage_bits;
use kernels::Compress;

use crate::call::{Lowered, LoweredCall, Pointer};
use crate::refusal::CodeRefusal;
use crate::row::{KernelRow, Machine, Runs};
use crate::shape::known_shape;

/// `nn.compress`.
pub(crate) const ROW: KernelRow = KernelRow {
    name: "compress",
    doc: "The slices along an axis whose condition holds, and how many they are.",
    runs: Runs::Kernel("compress"),
    lower,
    ..KernelRow::PLAIN
};

fn lower(op: OpRef<'_>, machine: &Machine) -> Result<Lowered, CodeRefusal> {
    let shape = known_shape(op, op.operand(0))?;
    let kept = known_shape(op, op.result(0))?;
    let axis = usize::try_from(op.int("axis").unwrap_or(0)).ok().filter(|axis| *axis < shape.len());
    let axis = axis.ok_or_else(|| CodeRefusal::new("`axis` is not one of the operand's"))?;
    let bits = storage_bits(op.ctx, op.ctx.elem(op.operand_type(0))).filter(|bits| bits % 8 == 0);
    let bits = bits.ok_or_else(|| CodeRefusal::new("elements of less than a byte are not moved"))?;
    let count = |sizes: &[u64]| sizes.iter().product::<u64>() as usize;
    let slice_bytes = count(&shape[axis + 1..]) * bits as usize / 8;
    let (size, kept) = (shape[axis] as usize, kept[axis] as usize);
    let kernel = Compress::new(count(&shape[..axis]), size, kept, slice_bytes, machine.isa);
    let operands =
        vec![Pointer::Result(0, 0), Pointer::Result(1, 0), Pointer::Operand(0, 0), Pointer::Operand(1, 0)];
    Ok(Lowered::new("compress", vec![LoweredCall::kernel(&kernel, operands)]))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ir::Context;

    use crate::testing::{Net, check_bytes};

    #[test]
    fn slices_are_picked_by_a_condition() {
        let conditions: [&[u8]; 4] = [&[0, 1, 1, 0, 1], &[0; 5], &[1; 5], &[0, 1]];
        for (axis, shape) in [(1, [2u64, 5, 3]), (0, [5, 1, 2]), (2, [3, 2, 7])] {
            for condition in conditions {
                let ctx = Arc::new(Context::new());
                let inputs = [(&shape[..], ctx.int(16)), (&[condition.len() as u64][..], ctx.int(1))];
                let mut net = Net::new(&inputs, ctx.clone());
                let y = net.op("nn.compress", &[net.arg(0), net.arg(1)], &[("axis", ctx.int_attr(axis))]);
                let x: Vec<u8> =
                    (1..=shape.iter().product::<u64>() as u16).flat_map(u16::to_le_bytes).collect();
                check_bytes(net, &[y], &[&x, condition]);
            }
        }
    }
}
