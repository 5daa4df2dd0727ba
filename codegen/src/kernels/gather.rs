//! Gather: a check of the computed indices, which may stop the program, then copies of slices.

use ir::body::OpRef;
use ir::size::storage_bits;
use kernels::{CheckIndices, Indices, Take};

use crate::call::{Condition, Lowered, LoweredCall, Pointer};
use crate::elem::ElemType;
use crate::refusal::CodeRefusal;
use crate::row::{KernelRow, Machine, Runs};
use crate::shape::known_shape;

/// `nn.gather`.
pub(crate) const ROW: KernelRow = KernelRow {
    name: "take",
    doc: "Slices along an axis, picked by indices that are checked first.",
    runs: Runs::Kernel("gather"),
    stops: true,
    lower,
    ..KernelRow::PLAIN
};

/// Bytes of scratch for the result of the check.
pub(super) const TRUTH_BYTES: u64 = 64;

fn lower(op: OpRef<'_>, machine: &Machine) -> Result<Lowered, CodeRefusal> {
    let (shape, picked) = (known_shape(op, op.operand(0))?, known_shape(op, op.operand(1))?);
    let axis = op.int("axis").and_then(|axis| usize::try_from(axis).ok()).filter(|axis| *axis < shape.len());
    let axis = axis.ok_or_else(|| CodeRefusal::new("`axis` is not one of the operand's"))?;
    let bits = storage_bits(op.ctx, op.ctx.elem(op.operand_type(0))).filter(|bits| bits % 8 == 0);
    let bits = bits.ok_or_else(|| CodeRefusal::new("elements of less than a byte are not moved"))?;
    let Some(ElemType::Int { bits: index_bits, signed }) = ElemType::of(op.ctx, op.operand_type(1)) else {
        return Err(CodeRefusal::new("its indices are no integers"));
    };
    let indices = Indices {
        count: picked.iter().product(),
        size: shape[axis],
        bytes: u32::from(index_bits) / 8,
        signed: u32::from(signed),
    };
    let count = |sizes: &[u64]| sizes.iter().product::<u64>() as usize;
    let slice_bytes = count(&shape[axis + 1..]) * bits as usize / 8;
    let check = CheckIndices::new(indices, machine.isa);
    let take = Take::new(indices, count(&shape[..axis]), slice_bytes, machine.isa, machine.threads);
    let truth = Pointer::Shared(0);
    let calls = vec![
        LoweredCall::kernel(&check, vec![truth.clone(), Pointer::Operand(1, 0)]),
        LoweredCall::kernel(
            &take,
            vec![Pointer::Result(0, 0), Pointer::Operand(0, 0), Pointer::Operand(1, 0)],
        ),
    ];
    let condition = Some(inside_or_stop(op, truth, axis));
    Ok(Lowered { shared_bytes: TRUTH_BYTES, condition, ..Lowered::new("take", calls) })
}

/// The condition that a check has found no index outside an axis; otherwise the run stops.
pub(super) fn inside_or_stop(op: OpRef<'_>, truth: Pointer, axis: usize) -> Condition {
    let place = ir::diag::describe(op.ctx, op.body.location(op.op)).unwrap_or_else(|| op.name().to_owned());
    // The message names no size, as code for all sizes has one message.
    let message = format!("{place}: an index is outside axis {axis}");
    Condition { truth, message }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ir::{Context, Signedness, TypeData, Value};
    use runtime::{AlignedBuffer, RunError};

    use crate::testing::{Net, THREADS, aligned, check_bytes};
    use crate::{CodegenOptions, compile};

    /// Slices of two bytes' numbers along axis 1 of three.
    fn gather(shape: &[u64], width: u32, signedness: Signedness, count: u64) -> (Net, Value) {
        let ctx = Arc::new(Context::new());
        let elem = ctx.int(16);
        let index = ctx.ty(TypeData::Integer { width, signedness });
        let mut net = Net::new(&[(shape, elem), (&[count], index)], ctx.clone());
        let y = net.op("nn.gather", &[net.arg(0), net.arg(1)], &[("axis", ctx.int_attr(1))]);
        (net, y)
    }

    fn numbers(shape: &[u64]) -> Vec<u8> {
        (0..shape.iter().product::<u64>() as u16).flat_map(u16::to_le_bytes).collect()
    }

    #[test]
    fn slices_are_picked_by_indices_of_every_width() {
        let shape = [2, 7, 3];
        let indices = [0i64, 6, 3, 3, 1];
        for width in [8, 16, 32, 64] {
            for signedness in [Signedness::Signless, Signedness::Unsigned] {
                let (net, y) = gather(&shape, width, signedness, 5);
                let bytes: Vec<u8> = indices
                    .iter()
                    .flat_map(|index| index.to_le_bytes()[..width as usize / 8].to_vec())
                    .collect();
                check_bytes(net, &[y], &[&numbers(&shape), &bytes]);
            }
        }
    }

    #[test]
    fn a_negative_index_counts_from_the_end() {
        let shape = [2, 7, 3];
        let (net, y) = gather(&shape, 64, Signedness::Signless, 3);
        let indices: Vec<u8> = [-1i64, -7, 2].iter().flat_map(|index| index.to_le_bytes()).collect();
        check_bytes(net, &[y], &[&numbers(&shape), &indices]);
    }

    #[test]
    fn an_index_outside_stops_the_run_and_the_next_run_is_well() {
        let shape = [2, 7, 3];
        let (net, y) = gather(&shape, 32, Signedness::Signless, 2);
        let module = net.plan(&[y], THREADS);
        let program =
            compile(&module, "main", &CodegenOptions::new(THREADS)).unwrap_or_else(|_| panic!("it compiles"));
        let mut context = Arc::new(program).context(1).unwrap();
        let x = aligned(&numbers(&shape));
        let mut run = |indices: [i32; 2]| {
            let indices = aligned(&indices.map(i32::to_le_bytes).concat());
            let mut out = AlignedBuffer::zeroed(2 * 2 * 3 * 2).unwrap();
            context.run(&[x.as_slice(), indices.as_slice()], &mut [out.as_mut_slice()])
        };
        for bad in [7, -8, i32::MIN] {
            let error = run([0, bad]).unwrap_err();
            let RunError::Fault { message, .. } = error else { panic!("{error}") };
            assert_eq!(message, "nn.gather: an index is outside axis 1");
            assert_eq!(run([6, -7]), Ok(()));
        }
    }
}
