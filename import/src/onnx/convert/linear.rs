//! Conversion of matrix products, normalizations and softmax.

use ir::dims::SizeArithmetic;
use ir::{Attr, Dim, FloatKind, Type, TypeData, Value};

use crate::onnx::call::{NodeConversion, Refusal, Results};

/// MatMul.
pub(crate) fn matmul(call: &mut NodeConversion<'_, '_>) -> Results {
    let (a, b) = (call.operand(0)?, call.operand(1)?);
    Ok(vec![multiply(call, &[a, b], &[])?])
}

/// `nn.matmul`. Along a summed data-dependent axis, padding is zeroed, so it adds nothing to the sums.
fn multiply(
    call: &mut NodeConversion<'_, '_>,
    operands: &[Value],
    attrs: &[(&str, Attr)],
) -> Result<Value, Refusal> {
    let is_turned = |side: &str| attrs.iter().any(|(name, _)| *name == side);
    let outer = [!is_turned("transpose_a"), is_turned("transpose_b")];
    let mut terms = [None; 2];
    for side in 0..2 {
        let rank = call.rank(operands[side])?;
        let axis = rank.saturating_sub(if outer[side] { 1 } else { 2 });
        terms[side] = call.open_along(operands[side], axis);
    }
    match terms {
        [Some(a), Some(b)] if a.count == b.count => {
            let mut filled = operands.to_vec();
            filled[0] = call.filled(operands[0], a, 0.0)?;
            filled[1] = call.filled(operands[1], b, 0.0)?;
            call.emit_open("nn.matmul", &filled, attrs, None)
        }
        _ => call.emit("nn.matmul", operands, attrs),
    }
}

/// Whether there is a kernel for products of this element type.
pub(in crate::onnx) fn has_kernel(call: &NodeConversion<'_, '_>, x: Value) -> bool {
    match call.ctx().type_data(call.element(x)) {
        TypeData::Float(kind) => *kind != FloatKind::F64,
        TypeData::Integer { width, .. } => *width < 32,
        _ => true,
    }
}

/// The products of matrices, multiplied element by element, with the shapes of `nn.matmul`.
pub(in crate::onnx) fn multiply_elements(
    call: &mut NodeConversion<'_, '_>,
    operands: &[Value],
    turned: [bool; 2],
) -> Result<Value, Refusal> {
    let one = Dim::Known(1);
    let mut sides = [operands[0], operands[1]];
    let is_line = [call.rank(sides[0])? == 1, call.rank(sides[1])? == 1];
    let mut terms = [one; 2];
    for side in 0..2 {
        // The summed axis is the last of both, after the rows of one and the columns of the other.
        let rank = call.rank(sides[side])?;
        if rank >= 2 && turned[side] == (side == 0) {
            let mut order: Vec<i64> = (0..rank as i64).collect();
            order.swap(rank - 2, rank - 1);
            sides[side] = call.transposed(sides[side], &order)?;
        }
        let shape = call.dims(sides[side])?;
        let (last, outer) = shape.split_last().ok_or("a number, expected a vector or matrices")?;
        terms[side] = *last;
        let apart = match (outer.split_last(), side) {
            (None, _) => vec![one, one, *last],
            (Some((rows, batches)), 0) => [batches, &[*rows, one, *last]].concat(),
            (Some((columns, batches)), _) => [batches, &[one, *columns, *last]].concat(),
        };
        sides[side] = call.reshape_to(sides[side], &apart)?;
    }
    if let [Dim::Known(a), Dim::Known(b)] = terms
        && a != b
    {
        return Err(format!("sums of {a} and of {b} products").into());
    }
    call.require_equal(terms[0], terms[1]);
    let products = call.two("nn.mul", sides[0], sides[1])?;
    let axes = call.ctx().ints_attr(&[call.rank(products)? as i64 - 1]);
    let sums = call.emit("nn.reduce_sum", &[products], &[("axes", axes)])?;
    let mut shape = call.dims(sums)?;
    let columns = shape.pop().filter(|_| !is_line[1]);
    let rows = shape.pop().filter(|_| !is_line[0]);
    let sums = call.reshape_to(sums, &shape.into_iter().chain(rows).chain(columns).collect::<Vec<_>>())?;
    match operands.get(2) {
        Some(bias) => call.two("nn.add", sums, *bias),
        None => Ok(sums),
    }
}

/// The products of matrices `[batch, rows, terms]` and `[batch, terms, columns]` of any element type; without
/// a kernel, they are multiplied element by element.
pub(super) fn product(call: &mut NodeConversion<'_, '_>, a: Value, b: Value) -> Result<Value, Refusal> {
    if matches!(
        call.ctx().type_data(call.element(a)),
        TypeData::Float(FloatKind::F32 | FloatKind::F16 | FloatKind::Bf16)
    ) {
        return call.two("nn.matmul", a, b);
    }
    let [batch, rows, terms] = call.dims(a)?[..] else { return Err("no matrices".into()) };
    let columns = *call.dims(b)?.last().ok_or("no matrices")?;
    let turned = call.transposed(b, &[0, 2, 1])?;
    let one = Dim::Known(1);
    let a = call.reshape_to(a, &[batch, rows, one, terms])?;
    let b = call.reshape_to(turned, &[batch, one, columns, terms])?;
    let products = call.two("nn.mul", a, b)?;
    let axes = call.ctx().ints_attr(&[3]);
    call.emit("nn.reduce_sum", &[products], &[("axes", axes)])
}

/// Gemm: `alpha * A' * B' + beta * C`, where `'` transposes on request and C broadcasts.
pub(crate) fn gemm(call: &mut NodeConversion<'_, '_>) -> Results {
    let (a, b) = (call.operand(0)?, call.operand(1)?);
    let alpha = call.node.float("alpha")?.unwrap_or(1.0);
    let beta = call.node.float("beta")?.unwrap_or(1.0);
    let mut attrs = Vec::new();
    for (theirs, ours) in [("transA", "transpose_a"), ("transB", "transpose_b")] {
        if call.node.truth(theirs)?.unwrap_or(false) {
            attrs.push((ours, call.ctx().unit_attr()));
        }
    }
    let Some(c) = call.optional(2).filter(|_| beta != 0.0) else {
        let product = multiply(call, &[a, b], &attrs)?;
        return Ok(vec![scaled(call, product, alpha)?]);
    };
    let transposed = attrs.iter().any(|(name, _)| *name == "transpose_b");
    let columns = matrix_size(call, b, if transposed { 0 } else { 1 })?;
    if alpha == 1.0 && beta == 1.0 && is_row(&call.dims(c)?, columns) {
        let bias = call.reshape_to(c, &[columns])?;
        return Ok(vec![multiply(call, &[a, b, bias], &attrs)?]);
    }
    let product = multiply(call, &[a, b], &attrs)?;
    let product = scaled(call, product, alpha)?;
    let c = scaled(call, c, beta)?;
    Ok(vec![call.emit("nn.add", &[product, c], &[])?])
}

fn scaled(call: &mut NodeConversion<'_, '_>, value: Value, factor: f32) -> Result<Value, Refusal> {
    if factor == 1.0 {
        return Ok(value);
    }
    let factor = call.scalar_like(factor.into(), value)?;
    call.emit("nn.mul", &[value, factor], &[])
}

fn matrix_size(call: &NodeConversion<'_, '_>, b: Value, axis: usize) -> Result<Dim, Refusal> {
    match call.dims(b)?[..].as_ref() {
        shape @ [_, _] => Ok(shape[axis]),
        shape => {
            let shape = SizeArithmetic(call.ctx()).list(shape);
            Err(format!("input 1 has shape {shape}, expected a matrix").into())
        }
    }
}

fn is_row(shape: &[Dim], columns: Dim) -> bool {
    columns != Dim::Unknown && (shape == [columns] || shape == [Dim::Known(1), columns])
}

/// BatchNormalization with the trained statistics, which has only the first result. In training mode it uses
/// the statistics of the operand, which also update the running ones.
pub(crate) fn batch_normalization(call: &mut NodeConversion<'_, '_>) -> Results {
    if call.node.truth("training_mode")?.unwrap_or(false) {
        return batch_normalization_in_training(call);
    }
    if !call.node.truth("spatial")?.unwrap_or(true) {
        return Err("`spatial` 0: statistics of each element, expected those of each channel".into());
    }
    let elem = call.element(call.operand(0)?);
    let wide = widest_statistics(call)?;
    let mut operands = Vec::new();
    for index in 0..5 {
        let operand = call.operand(index)?;
        operands.push(call.cast(operand, wide)?);
    }
    let epsilon = call.node.float("epsilon")?.unwrap_or(1e-5);
    let attrs = [("epsilon", call.ctx().f32_attr(epsilon)), ("axis", call.ctx().int_attr(1))];
    let normal = call.emit("nn.batch_norm", &operands, &attrs)?;
    Ok(vec![call.cast(normal, elem)?])
}

/// The type for the normalization of a batch: the most precise of those of elements, factors and statistics.
fn widest_statistics(call: &NodeConversion<'_, '_>) -> Result<Type, Refusal> {
    let mut wide = call.ctx().f32();
    for index in 0..5 {
        let elem = call.element(call.operand(index)?);
        if matches!(call.ctx().type_data(elem), TypeData::Float(FloatKind::F64)) {
            wide = elem;
        }
    }
    Ok(wide)
}

fn batch_normalization_in_training(call: &mut NodeConversion<'_, '_>) -> Results {
    let elem = call.element(call.operand(0)?);
    let of_statistics = call.element(call.operand(3)?);
    let wide = widest_statistics(call)?;
    let x = call.operand(0)?;
    let x = call.cast(x, wide)?;
    let shape = call.dims(x)?;
    let axes: Vec<i64> = (0..shape.len() as i64).filter(|axis| *axis != 1).collect();
    let mean = call.folded("mean", x, &axes)?;
    let centred = call.two("nn.sub", x, mean)?;
    let square = call.one("nn.square", centred)?;
    let variance = call.folded("mean", square, &axes)?;
    let mut channels = vec![Dim::Known(1); shape.len()];
    channels[1] = *shape.get(1).ok_or("an input without channels")?;
    let by_channel = |call: &mut NodeConversion<'_, '_>, index: usize| {
        let value = call.operand(index)?;
        let value = call.cast(value, wide)?;
        call.reshape_to(value, &channels)
    };
    let (scale, bias) = (by_channel(call, 1)?, by_channel(call, 2)?);
    let moved = call.with_number("nn.add", variance, call.node.float("epsilon")?.unwrap_or(1e-5).into())?;
    let root = call.one("nn.sqrt", moved)?;
    let normal = call.two("nn.div", centred, root)?;
    let scaled = call.two("nn.mul", normal, scale)?;
    let normal = call.two("nn.add", scaled, bias)?;
    let mut results = vec![call.cast(normal, elem)?];
    let momentum = call.node.float("momentum")?.unwrap_or(0.9).into();
    for (index, current) in [(3, mean), (4, variance)] {
        let before = call.operand(index)?;
        let before = call.cast(before, wide)?;
        let current = call.reshape_to(current, &channels[1..2])?;
        let kept = call.with_number("nn.mul", before, momentum)?;
        let added = call.with_number("nn.mul", current, 1.0 - momentum)?;
        let moved = call.two("nn.add", kept, added)?;
        results.push(call.cast(moved, of_statistics)?);
    }
    Ok(results)
}

/// Softmax: along one axis from version 13 on; before, along all dimensions from `axis` on, taken as one.
pub(crate) fn softmax(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let shape = call.dims(x)?;
    if call.version >= 13 {
        let axis = call.axis(call.node.int("axis")?.unwrap_or(-1), shape.len())?;
        return Ok(vec![softmax_along(call, x, axis)?]);
    }
    let axis = call.position(call.node.int("axis")?.unwrap_or(1), shape.len())?;
    let sizes = SizeArithmetic(call.ctx());
    let matrix = [sizes.product(&shape[..axis]), sizes.product(&shape[axis..])];
    let x = call.reshape_to(x, &matrix)?;
    let y = softmax_along(call, x, 1)?;
    Ok(vec![call.reshape_to(y, &shape)?])
}

pub(in crate::onnx) fn softmax_along(
    call: &mut NodeConversion<'_, '_>,
    x: Value,
    axis: usize,
) -> Result<Value, Refusal> {
    let attrs = [("axis", call.ctx().int_attr(axis as i64))];
    let Some(open) = call.open_along(x, axis) else { return call.emit("nn.softmax", &[x], &attrs) };
    let x = call.filled(x, open, f64::NEG_INFINITY)?;
    call.emit_open("nn.softmax", &[x], &attrs, Some(open))
}
