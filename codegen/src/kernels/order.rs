//! How scatters and sorts are lowered: a scatter checks its computed indices, which may stop the program, and
//! then writes slices.

use ir::body::OpRef;
use kernels::{ArgSort, CheckIndices, Direction, Indices, Join, Put};

use super::along::{lines, number};
use super::gather::{TRUTH_BYTES, inside_or_stop};
use crate::call::{Lowered, LoweredCall, Pointer};
use crate::elem::ElemType;
use crate::refusal::CodeRefusal;
use crate::row::{KernelRow, Machine, Runs};
use crate::shape::known_shape;

/// `nn.scatter`.
pub(crate) const SCATTER: KernelRow = KernelRow {
    name: "put",
    doc: "Slices along the first axis, written by indices that are checked first.",
    runs: Runs::Kernel("scatter"),
    stops: true,
    lower: lower_scatter,
    ..KernelRow::PLAIN
};

/// `nn.arg_sort`.
pub(crate) const ARG_SORT: KernelRow = KernelRow {
    name: "arg_sort",
    doc: "The indices of elements along an axis in their order.",
    runs: Runs::Kernel("arg_sort"),
    lower: lower_sort,
    ..KernelRow::PLAIN
};

fn lower_scatter(op: OpRef<'_>, machine: &Machine) -> Result<Lowered, CodeRefusal> {
    let (shape, count) = (known_shape(op, op.operand(0))?, known_shape(op, op.operand(1))?);
    let [size, slice @ ..] = &shape[..] else { return Err(CodeRefusal::new("a number has no slices")) };
    let Some(ElemType::Int { bits, signed }) = ElemType::of(op.ctx, op.operand_type(1)) else {
        return Err(CodeRefusal::new("its indices are no integers"));
    };
    let join = match op.text("join").unwrap_or("none") {
        "add" => Join::Add,
        "mul" => Join::Multiply,
        "max" => Join::Max,
        "min" => Join::Min,
        _ => Join::Replace,
    };
    let elem = ElemType::stored(op.ctx, op.operand_type(0));
    let number = match elem {
        // 16-bit floats and truth values can only be moved.
        Some(ElemType::F16 | ElemType::Bf16) if join == Join::Replace => kernels::NumberType::U16,
        Some(ElemType::F16 | ElemType::Bf16 | ElemType::Bool) if join != Join::Replace => {
            return Err(CodeRefusal::new("elements of this type are not joined"));
        }
        Some(elem) => number(elem),
        None => return Err(CodeRefusal::new("no kernel computes with this element type")),
    };
    let indices = Indices {
        count: count.iter().product(),
        size: *size,
        bytes: u32::from(bits) / 8,
        signed: u32::from(signed),
    };
    let check = CheckIndices::new(indices, machine.isa);
    let put = Put::new(indices, slice.iter().product::<u64>() as usize, number, join, machine.isa);
    let truth = Pointer::Shared(0);
    let operands = [0, 1, 2].map(|operand| Pointer::Operand(operand, 0));
    let calls = vec![
        LoweredCall::kernel(&check, vec![truth.clone(), operands[1].clone()]),
        LoweredCall::kernel(&put, [&[Pointer::Result(0, 0)], &operands[..]].concat()),
    ];
    let condition = Some(inside_or_stop(op, truth, 0));
    Ok(Lowered { shared_bytes: TRUTH_BYTES, condition, ..Lowered::new("put", calls) })
}

fn lower_sort(op: OpRef<'_>, machine: &Machine) -> Result<Lowered, CodeRefusal> {
    let direction = if op.attr("descending").is_some() { Direction::Backward } else { Direction::Forward };
    let (lines, number) = lines(op)?;
    let kernel = ArgSort::new(lines, number, direction, machine.isa, machine.threads);
    let operands = vec![Pointer::Result(0, 0), Pointer::Operand(0, 0)];
    Ok(Lowered::new("arg_sort", vec![LoweredCall::kernel(&kernel, operands)]))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ir::{Context, Signedness, TypeData};

    use crate::testing::{Net, check_bytes};

    #[test]
    fn slices_are_written_as_the_interpreter_says() {
        for join in ["none", "add", "mul", "max", "min"] {
            for (width, signedness) in
                [(8, Signedness::Unsigned), (16, Signedness::Signless), (64, Signedness::Unsigned)]
            {
                let ctx = Arc::new(Context::new());
                let elem = ctx.ty(TypeData::Integer { width, signedness });
                let inputs = [(&[5u64, 3][..], elem), (&[4][..], ctx.int(64)), (&[4, 3][..], elem)];
                let mut net = Net::new(&inputs, ctx.clone());
                let operands = [net.arg(0), net.arg(1), net.arg(2)];
                let y = net.op("nn.scatter", &operands, &[("join", ctx.str_attr(join))]);
                let bytes = |count: usize, factor: usize| -> Vec<u8> {
                    (0..count * width as usize / 8).map(|i| (i * factor % 251) as u8).collect()
                };
                let indices: Vec<u8> =
                    [3i64, -5, 3, 1].iter().flat_map(|index| index.to_le_bytes()).collect();
                check_bytes(net, &[y], &[&bytes(15, 97), &indices, &bytes(12, 61)]);
            }
        }
    }

    #[test]
    fn elements_are_sorted_as_the_interpreter_says() {
        let mut x: Vec<f32> = (0..90).map(|i| ((i * 37) % 11) as f32 * 0.25 - 1.0).collect();
        (x[7], x[30], x[31]) = (f32::NAN, f32::INFINITY, -0.0);
        for axis in 0..3 {
            for descending in [None, Some("descending")] {
                let ctx = Arc::new(Context::new());
                let mut net = Net::new(&[(&[3, 6, 5], ctx.f32())], ctx.clone());
                let mut attrs = vec![("axis", ctx.int_attr(axis))];
                attrs.extend(descending.map(|flag| (flag, ctx.unit_attr())));
                let y = net.op("nn.arg_sort", &[net.arg(0)], &attrs);
                let bytes: Vec<u8> = x.iter().flat_map(|x| x.to_le_bytes()).collect();
                check_bytes(net, &[y], &[&bytes]);
            }
        }
    }
}
