//! How packing and unpacking of elements narrower than a byte are lowered.

use ir::body::OpRef;
use ir::size::storage_bits;
use ir::{Signedness, TypeData};
use kernels::{BitPacking, Bits};

use crate::call::{Lowered, LoweredCall, Pointer};
use crate::refusal::CodeRefusal;
use crate::row::{KernelRow, Machine, Runs};
use crate::shape::known_shape;

/// `nn.unpack`.
pub(crate) const UNPACK: KernelRow = KernelRow {
    name: "unpack",
    doc: "Elements of less than a byte, one to a byte.",
    runs: Runs::Kernel("unpack"),
    lower: |op, machine| {
        let elem = op.ctx.elem(op.operand_type(0));
        let is_signed = match op.ctx.type_data(elem) {
            TypeData::Integer { signedness, .. } => *signedness != Signedness::Unsigned,
            _ => false,
        };
        let packing = if is_signed { BitPacking::UnpackSigned } else { BitPacking::Unpack };
        lower(op, machine, "unpack", storage_bits(op.ctx, elem), packing)
    },
    ..KernelRow::PLAIN
};

/// `nn.pack`.
pub(crate) const PACK: KernelRow = KernelRow {
    name: "pack",
    doc: "The low bits of bytes, several in a byte.",
    runs: Runs::Kernel("pack"),
    lower: |op, machine| {
        let bits = storage_bits(op.ctx, op.ctx.elem(op.result_type(0)));
        lower(op, machine, "pack", bits, BitPacking::Pack)
    },
    ..KernelRow::PLAIN
};

fn lower(
    op: OpRef<'_>,
    machine: &Machine,
    name: &'static str,
    bits: Option<u64>,
    packing: BitPacking,
) -> Result<Lowered, CodeRefusal> {
    let bits = bits.filter(|bits| [1, 2, 4].contains(bits));
    let bits = bits.ok_or_else(|| CodeRefusal::new("its elements are not packed"))?;
    let count = known_shape(op, op.operand(0))?.iter().product();
    let kernel = Bits::new(count, bits as u32, packing, machine.isa, machine.threads);
    let operands = vec![Pointer::Result(0, 0), Pointer::Operand(0, 0)];
    Ok(Lowered::new(name, vec![LoweredCall::kernel(&kernel, operands)]))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ir::{Context, Signedness, TypeData};

    use crate::testing::{Net, check_bytes};

    #[test]
    fn elements_are_packed_and_unpacked_as_the_interpreter_says() {
        for width in [2, 4] {
            for signedness in [Signedness::Signless, Signedness::Unsigned] {
                let ctx = Arc::new(Context::new());
                let elem = ctx.ty(TypeData::Integer { width, signedness });
                let byte = ctx.ty(TypeData::Integer { width: 8, signedness });
                let mut net = Net::new(&[(&[3, 7], byte)], ctx.clone());
                let packed = net.op("nn.pack", &[net.arg(0)], &[("to", ctx.type_attr(elem))]);
                let y = net.op("nn.unpack", &[packed], &[]);
                let bytes: Vec<u8> = (0..21).map(|i| (i * 37) as u8).collect();
                check_bytes(net, &[packed, y], &[&bytes]);
            }
        }
    }
}
