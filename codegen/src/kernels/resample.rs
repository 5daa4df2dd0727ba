//! How weighted sums along an axis are lowered.

use ir::body::OpRef;
use ir::window::{Arrangement, pitch};
use kernels::Resample;

use crate::call::{Lowered, LoweredCall, Pointer};
use crate::refusal::CodeRefusal;
use crate::row::{KernelRow, Machine, Runs};
use crate::shape::known_shape;

/// `nn.resample`.
pub(crate) const ROW: KernelRow = KernelRow {
    name: "resample",
    doc: "Weighted sums of elements along an axis.",
    runs: Runs::Kernel("resample"),
    writes: Arrangement::Rows,
    lower,
    ..KernelRow::PLAIN
};

fn lower(op: OpRef<'_>, machine: &Machine) -> Result<Lowered, CodeRefusal> {
    let (shape, table) = (known_shape(op, op.operand(0))?, known_shape(op, op.operand(1))?);
    let axis = op.int("axis").and_then(|axis| usize::try_from(axis).ok()).filter(|axis| *axis < shape.len());
    let axis = axis.ok_or_else(|| CodeRefusal::new("`axis` is not one of the operand's"))?;
    let &[taps, count] = &table[..] else { return Err(CodeRefusal::new("its places have not two axes")) };
    if taps == 0 {
        return Err(CodeRefusal::new("its sums have no elements"));
    }
    let product = |sizes: &[u64]| sizes.iter().product::<u64>() as usize;
    let sizes = [shape[axis] as usize, count as usize];
    let (outer, inner) = (product(&shape[..axis]), product(&shape[axis + 1..]));
    let kernel = Resample::new(outer, sizes, inner, taps as usize, machine.isa, machine.threads);
    let kernel = match pitch(op.ctx, op.body, op.result(0)) {
        Some((row, pitch)) => kernel.in_rows(row as usize / 4, pitch as usize / 4),
        None => kernel,
    };
    let operands = [0, 1, 2].map(|operand| Pointer::Operand(operand, 0));
    let operands = [&[Pointer::Result(0, 0)][..], &operands].concat();
    Ok(Lowered::new("resample", vec![LoweredCall::kernel(&kernel, operands)]))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ir::Context;

    use crate::testing::{Net, check_bytes};

    #[test]
    fn sums_are_those_of_the_interpreter() {
        for (shape, axis) in
            [([2, 5, 3], 0), ([2, 5, 3], 1), ([4, 40, 97], 2), ([1, 1, 1], 1), ([0, 2, 2], 1)]
        {
            for taps in [1, 2, 3] {
                let ctx = Arc::new(Context::new());
                let (count, elements) = (300, shape.iter().product::<u64>());
                let table = [taps, count];
                let inputs = [(&shape[..], ctx.f32()), (&table, ctx.int(64)), (&table, ctx.f32())];
                let mut net = Net::new(&inputs, ctx.clone());
                let operands = [0, 1, 2].map(|index| net.arg(index));
                let y = net.op("nn.resample", &operands, &[("axis", ctx.int_attr(axis))]);
                let floats = |count: u64| -> Vec<u8> {
                    (0..count).flat_map(|i| ((i * 37 % 101) as f32 / 7.0 - 5.0).to_le_bytes()).collect()
                };
                let places: Vec<u8> =
                    (0..taps * count).flat_map(|i| ((i * 7 % 11) as i64 - 2).to_le_bytes()).collect();
                check_bytes(net, &[y], &[&floats(elements), &places, &floats(taps * count)]);
            }
        }
    }
}
