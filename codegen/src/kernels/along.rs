//! How scans along one axis are lowered: indices of extreme elements, cumulative sums and products.

use ir::body::OpRef;
use kernels::{Accumulation, ArgExtreme, Cumulate, Direction, Extreme, NumberType, OwnElement};

use crate::call::{Lowered, LoweredCall, Pointer};
use crate::elem::ElemType;
use crate::refusal::CodeRefusal;
use crate::row::{KernelRow, Machine, Runs};
use crate::shape::known_shape;

/// `nn.arg_max`.
pub(crate) const ARG_MAX: KernelRow = KernelRow {
    name: "arg_extreme",
    doc: "Where along an axis the largest element is.",
    runs: Runs::Kernel("arg_max"),
    lower: |op, machine| lower_arg(op, [Extreme::FirstMax, Extreme::LastMax], machine),
    ..KernelRow::PLAIN
};

/// `nn.arg_min`.
pub(crate) const ARG_MIN: KernelRow = KernelRow {
    name: "arg_extreme",
    doc: "Where along an axis the least element is.",
    runs: Runs::Kernel("arg_min"),
    lower: |op, machine| lower_arg(op, [Extreme::FirstMin, Extreme::LastMin], machine),
    ..KernelRow::PLAIN
};

/// `nn.cum_sum`.
pub(crate) const CUM_SUM: KernelRow = KernelRow {
    name: "cumulate",
    doc: "Running sums along an axis.",
    runs: Runs::Kernel("cum_sum"),
    lower: |op, machine| lower_running(op, Accumulation::Sum, machine),
    ..KernelRow::PLAIN
};

/// `nn.cum_prod`.
pub(crate) const CUM_PROD: KernelRow = KernelRow {
    name: "cumulate",
    doc: "Running products along an axis.",
    runs: Runs::Kernel("cum_prod"),
    lower: |op, machine| lower_running(op, Accumulation::Product, machine),
    ..KernelRow::PLAIN
};

fn lower_arg(op: OpRef<'_>, [first, last]: [Extreme; 2], machine: &Machine) -> Result<Lowered, CodeRefusal> {
    let extreme = if op.attr("last").is_some() { last } else { first };
    let (lines, number) = lines(op)?;
    if lines[1] == 0 {
        return Err(CodeRefusal::new("there is no element along `axis`"));
    }
    let kernel = ArgExtreme::new(lines, number, extreme, machine.isa, machine.threads);
    let operands = vec![Pointer::Result(0, 0), Pointer::Operand(0, 0)];
    Ok(Lowered::new("arg_extreme", vec![LoweredCall::kernel(&kernel, operands)]))
}

fn lower_running(op: OpRef<'_>, running: Accumulation, machine: &Machine) -> Result<Lowered, CodeRefusal> {
    let own = if op.attr("exclusive").is_some() { OwnElement::Excluded } else { OwnElement::Included };
    let direction = if op.attr("reverse").is_some() { Direction::Backward } else { Direction::Forward };
    let (lines, number) = lines(op)?;
    if ElemType::of(op.ctx, op.operand_type(0)) == Some(ElemType::Bool) {
        return Err(CodeRefusal::new("truth values are not added up"));
    }
    let kernel = Cumulate::new(lines, number, (running, own, direction), machine.isa, machine.threads);
    let operands = vec![Pointer::Result(0, 0), Pointer::Operand(0, 0)];
    let calls = vec![LoweredCall::kernel(&kernel, operands)];
    Ok(Lowered::new("cumulate", calls))
}

/// The operand as `[outer, count, inner]` around the axis, and the type of its elements.
pub(super) fn lines(op: OpRef<'_>) -> Result<([usize; 3], NumberType), CodeRefusal> {
    let shape = known_shape(op, op.operand(0))?;
    let axis = op.int("axis").and_then(|axis| usize::try_from(axis).ok()).filter(|axis| *axis < shape.len());
    let axis = axis.ok_or_else(|| CodeRefusal::new("`axis` is not one of the operand's"))?;
    let number = ElemType::of(op.ctx, op.operand_type(0)).map(number);
    let number = number.ok_or_else(|| CodeRefusal::new("no kernel computes with this element type"))?;
    let count = |sizes: &[u64]| sizes.iter().product::<u64>() as usize;
    Ok(([count(&shape[..axis]), shape[axis] as usize, count(&shape[axis + 1..])], number))
}

pub(super) fn number(elem: ElemType) -> NumberType {
    match elem {
        ElemType::F32 | ElemType::F16 | ElemType::Bf16 => NumberType::F32,
        ElemType::F64 => NumberType::F64,
        ElemType::Bool | ElemType::Int { bits: 8, signed: false } => NumberType::U8,
        ElemType::Int { bits: 8, signed: true } => NumberType::I8,
        ElemType::Int { bits: 16, signed: true } => NumberType::I16,
        ElemType::Int { bits: 16, signed: false } => NumberType::U16,
        ElemType::Int { bits: 32, signed: true } => NumberType::I32,
        ElemType::Int { bits: 32, signed: false } => NumberType::U32,
        ElemType::Int { signed: true, .. } => NumberType::I64,
        ElemType::Int { signed: false, .. } => NumberType::U64,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ir::{Attr, Context, Signedness, TypeData};

    use crate::testing::{Net, check, check_bytes};

    const SHAPE: [u64; 3] = [3, 6, 5];
    const NAMES: [&str; 4] = ["nn.arg_max", "nn.arg_min", "nn.cum_sum", "nn.cum_prod"];

    /// Every operation along every axis, with each of its flags and without.
    fn each(run: impl Fn(&str, i64, Option<&str>)) {
        for (name, axis) in NAMES.into_iter().flat_map(|name| [0, 1, 2].map(|axis| (name, axis))) {
            let flags =
                if name.starts_with("nn.arg") { ["keepdims", "last"] } else { ["exclusive", "reverse"] };
            run(name, axis, None);
            flags.into_iter().for_each(|flag| run(name, axis, Some(flag)));
        }
    }

    fn attrs<'a>(ctx: &Context, axis: i64, flag: Option<&'a str>) -> Vec<(&'a str, Attr)> {
        let mut attrs = vec![("axis", ctx.int_attr(axis))];
        attrs.extend(flag.map(|flag| (flag, ctx.unit_attr())));
        attrs
    }

    #[test]
    fn integers_are_what_the_interpreter_says() {
        for (width, signedness) in [
            (8, Signedness::Signless),
            (16, Signedness::Unsigned),
            (32, Signedness::Signless),
            (64, Signedness::Signless),
            (64, Signedness::Unsigned),
        ] {
            let count = 90 * width as usize / 8;
            let bytes: Vec<u8> = (0..count).map(|i| (i * 7919 % 1013) as u8).collect();
            each(|name, axis, flag| {
                let ctx = Arc::new(Context::new());
                let elem = ctx.ty(TypeData::Integer { width, signedness });
                let mut net = Net::new(&[(&SHAPE, elem)], ctx.clone());
                let y = net.op(name, &[net.arg(0)], &attrs(&ctx, axis, flag));
                check_bytes(net, &[y], &[&bytes]);
            });
        }
    }

    #[test]
    fn floats_are_what_the_interpreter_says() {
        let mut x: Vec<f32> = (0..90).map(|i| ((i * 37) % 11) as f32 * 0.25 - 1.0).collect();
        (x[7], x[30]) = (f32::NAN, f32::INFINITY);
        each(|name, axis, flag| {
            let mut net = Net::f32(&[&SHAPE]);
            let ctx = net.ctx.clone();
            let y = net.op(name, &[net.arg(0)], &attrs(&ctx, axis, flag));
            // Indices are compared as bit patterns, none of which is a NaN.
            check(net, &[y], &[&x]);
        });
    }
}
