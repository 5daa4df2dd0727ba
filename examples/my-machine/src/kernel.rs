//! An operation with a kernel of this crate: planned with its scratch, in place, on all threads.

use std::slice;

use codegen::{Cpu, KernelRow, KernelWork};
use ir::body::OpRef;
use ir::interp::{EvalError, Tensor};
use ir::opdef::{Access, Reuse, TypeClass::FloatTensor};
use ir::{Dialect, Infer, Kind, OpDef, OperandDef, Traits};

/// The dialect, for the interpreter, the passes and the text.
pub static MY: Dialect = Dialect { name: "my", doc: "Filters.", tables: &[&[FIR]] };
const FIR: OpDef = OpDef {
    name: "my.fir",
    doc: "Each row of x filtered: `taps[0] * x[i] + taps[1] * x[i - 1] + ...`, with zeros before the row.",
    operands: &[OperandDef::one("x", FloatTensor), OperandDef::one("taps", FloatTensor)],
    results: &[OperandDef::one("result", FloatTensor)],
    infer: Infer::SameAs(0),
    traits: Traits::PURE,
    kind: Kind::Kernel("my_fir"),
    // The kernel copies a row of x before it writes that row, so the result may overwrite x.
    reuse: &[Reuse { result: 0, operand: 0, access: Access::RowWise }],
    eval: Some(eval),
    ..OpDef::BLANK
};

/// The operation's meaning in the interpreter, which the kernel is tested against.
fn eval(op: OpRef<'_>, operands: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let [x, taps] = [operands[0].to_f32(), operands[1].to_f32()];
    let row = op.operand_shape(0).and_then(|shape| shape.last().copied()).ok_or("it has no rows")? as usize;
    let mut y = vec![0.0; x.len()];
    x.chunks(row).zip(y.chunks_mut(row)).for_each(|(x, y)| filter(x, &taps, y));
    let bytes: Vec<u8> = y.into_iter().flat_map(f32::to_le_bytes).collect();
    Ok(vec![Tensor::new(op.ctx, op.result_type(0), bytes)])
}

fn filter(x: &[f32], taps: &[f32], y: &mut [f32]) {
    for (i, y) in y.iter_mut().enumerate() {
        *y = taps.iter().zip(x[..=i].iter().rev()).fold(0.0, |sum, (tap, x)| tap * x + sum);
    }
}

/// Filters row `part`.
///
/// # Safety
/// That of [`codegen::KernelFn`], as [`describe`] says: the descriptor is the elements of a row and the
/// number of taps; the table is result, x, taps; scratch holds a row.
unsafe extern "C" fn fir(desc: *const u8, table: *const *mut u8, part: u32, scratch: *mut u8) {
    // SAFETY: the descriptor and the table are as `describe` and the operation's row say.
    let ([row, taps], [y, x, w]) = unsafe { (*desc.cast::<[usize; 2]>(), *table.cast::<[*mut f32; 3]>()) };
    let first = part as usize * row;
    // SAFETY: there are `part` rows before this one, and more in all; no other part uses the scratch.
    let kept = unsafe {
        x.add(first).copy_to_nonoverlapping(scratch.cast(), row);
        slice::from_raw_parts(scratch.cast::<f32>(), row)
    };
    // SAFETY: as above; y may overwrite x, but x is not read any more.
    unsafe { filter(kept, slice::from_raw_parts(w, taps), slice::from_raw_parts_mut(y.add(first), row)) }
}

/// The call of [`fir`] for an operation.
fn describe(op: OpRef<'_>, _threads: usize) -> Result<KernelWork, String> {
    let shapes = op.operand_shape(0).zip(op.operand_shape(1)).ok_or("a size is not known")?;
    let is_f32 = [0, 1].iter().all(|index| op.ctx.elem(op.operand_type(*index)) == op.ctx.f32());
    let (Some(row), [taps], true) = (shapes.0.last(), &shapes.1[..], is_f32) else {
        return Err("it filters rows of f32 by one row of taps".to_owned());
    };
    let parts = shapes.0.iter().product::<u64>().checked_div(*row).unwrap_or(0) as u32;
    let descriptor = [row, taps].map(|n| n.to_le_bytes()).concat();
    Ok(KernelWork { descriptor, parts, scratch_bytes: row * 4 })
}

// SAFETY: `fir` stays within the rows, taps and scratch that `describe` says; rows are disjoint.
static KERNELS: [KernelRow; 1] = [unsafe { KernelRow::new("my_fir", fir, describe) }];

/// The processor that this process runs on, with this kernel.
pub fn cpu() -> Cpu {
    Cpu::default().with_kernels(&KERNELS)
}
