//! Conversion of constants, and of operators that move elements but compute none (Reshape, Transpose, ...).

use ir::dims::{self, SizeArithmetic};
use ir::strings::digests;
use ir::{Blob, Dim, Value};

use super::counted::reshape_counted;
use crate::onnx::call::{NodeConversion, Refusal, Results};
use crate::onnx::element::Element;
use crate::onnx::model::AttributeValue;
use crate::onnx::weights::Weight;
use crate::onnx::wire::ByteSpan;

/// Flatten: a matrix, of the dimensions before `axis` and those from it on.
pub(crate) fn flatten(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let shape = call.dims(x)?;
    let axis = call.position(call.node.int("axis")?.unwrap_or(1), shape.len())?;
    let sizes = SizeArithmetic(call.ctx());
    let matrix = [sizes.product(&shape[..axis]), sizes.product(&shape[axis..])];
    if let Some(open) = call.open(x) {
        return Ok(vec![call.reshape_open(x, open, &matrix, usize::from(open.axis >= axis))?]);
    }
    Ok(vec![call.reshape_to(x, &matrix)?])
}

/// Reshape: in the new shape, -1 is what remains, and 0 keeps the old size unless `allowzero`.
pub(crate) fn reshape(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let wanted = match call.version {
        ..5 => call
            .node
            .ints("shape")?
            .map(|sizes| sizes.iter().map(|size| dims::constant(call.ctx(), *size)).collect::<Vec<_>>()),
        _ => call.counted_sizes(1)?,
    };
    let wanted = wanted.ok_or("the new shape is left out")?;
    let keeps_zero = call.node.truth("allowzero")?.unwrap_or(false);
    if let Some(at) = wanted.iter().position(|size| call.open.has_symbols(call.ctx(), *size)) {
        return Ok(vec![reshape_counted(call, x, &wanted, at)?]);
    }
    let old = call.dims(x)?;
    let sizes = SizeArithmetic(call.ctx());
    let ctx = call.ctx();
    let new = wanted.iter().enumerate().map(|(axis, size)| match ctx.dim_expr(*size).constant() {
        Some(0) if !keeps_zero => Some(Some(*old.get(axis)?)),
        Some(-1) => Some(None),
        _ => Some(Some(Some(dims::size(ctx, *size)).filter(|size| *size != Dim::Unknown)?)),
    });
    let new = new.collect::<Option<Vec<Option<Dim>>>>();
    let shape = new.and_then(|new| new_shape(sizes, &old, new)).ok_or_else(|| {
        let wanted: Vec<String> = wanted.iter().map(|size| dims::print(ctx, *size)).collect();
        let wanted = wanted.join(", ");
        let old = sizes.list(&old);
        format!("the new shape [{wanted}] does not have as many elements as the input's {old}")
    })?;
    if let Some(open) = call.open(x) {
        let is = |axis: usize, size: i64| {
            wanted.get(axis).is_some_and(|wanted| ctx.dim_expr(*wanted).constant() == Some(size))
        };
        let kept = Some(open.axis).filter(|axis| !keeps_zero && is(*axis, 0));
        let at = kept.or_else(|| (0..shape.len()).find(|axis| is(*axis, -1)));
        let at = at.ok_or("a new shape that says a size that depends on data")?;
        return Ok(vec![call.reshape_open(x, open, &shape, at)?]);
    }
    Ok(vec![call.reshape_to(x, &shape)?])
}

/// A new shape with the missing size filled in; `None` if several are missing, or the number of elements
/// differs.
fn new_shape(sizes: SizeArithmetic<'_>, old: &[Dim], wanted: Vec<Option<Dim>>) -> Option<Vec<Dim>> {
    let rest = wanted.iter().position(Option::is_none);
    let mut shape: Vec<Dim> = wanted.iter().map(|size| size.unwrap_or(Dim::Known(1))).collect();
    if wanted.iter().filter(|size| size.is_none()).count() > 1 {
        return None;
    }
    let (count, known) = (sizes.product(old), sizes.product(&shape));
    if let Some(rest) = rest {
        shape[rest] = sizes.floor_div(count, known);
        let is_rounded = sizes.are_different(sizes.mul(shape[rest], known), count);
        return (shape[rest] != Dim::Unknown && !is_rounded).then_some(shape);
    }
    (!sizes.are_different(known, count)).then_some(shape)
}
/// Transpose: without `perm`, the dimensions in reverse.
pub(crate) fn transpose(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let rank = call.rank(x)? as i64;
    let permutation = call.node.ints("perm")?.map_or_else(|| (0..rank).rev().collect(), <[i64]>::to_vec);
    let permutation = call.ctx().ints_attr(&permutation);
    Ok(vec![call.emit("nn.transpose", &[x], &[("permutation", permutation)])?])
}

/// Concat. `axis` has a default in version 1 only.
pub(crate) fn concat(call: &mut NodeConversion<'_, '_>) -> Results {
    let operands = (0..call.operand_count()).map(|index| call.operand(index));
    let operands = operands.collect::<Result<Vec<Value>, Refusal>>()?;
    let rank = call.rank(call.operand(0)?)?;
    let axis = match call.node.int("axis")? {
        Some(axis) => axis,
        None if call.version < 4 => 1,
        None => return Err("`axis` is left out".into()),
    };
    let axis = call.axis(axis, rank)?;
    if operands.iter().any(|part| call.open_along(*part, axis).is_some()) {
        return Ok(vec![call.joined(&operands, axis)?]);
    }
    let axis = call.ctx().int_attr(axis as i64);
    Ok(vec![call.emit("nn.concat", &operands, &[("axis", axis)])?])
}

/// Squeeze: without the given dimensions of size 1, or without all of that size.
pub(crate) fn squeeze(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let shape = call.dims(x)?;
    let sizes = SizeArithmetic(call.ctx());
    let open = call.open(x);
    let axes = match axes(call, shape.len())? {
        Some(axes) if open.is_some_and(|open| axes.contains(&open.axis)) => {
            return Err("an axis whose size depends on data, expected one of size 1".into());
        }
        Some(axes) => axes,
        None if open.is_some() => return Err("axes by their sizes, one of which depends on data".into()),
        None => {
            let may_be_one =
                |size: &Dim| size.known().is_none() && !sizes.are_different(*size, Dim::Known(1));
            if let Some(size) = shape.iter().find(|size| may_be_one(size)) {
                let size = sizes.text(*size);
                return Err(format!("no `axes`, and {size} may be 1 or not: give it a number").into());
            }
            (0..shape.len()).filter(|&axis| shape[axis] == Dim::Known(1)).collect()
        }
    };
    if let Some(&axis) = axes.iter().find(|&&axis| sizes.are_different(shape[axis], Dim::Known(1))) {
        return Err(format!("axis {axis} has size {}, expected 1", sizes.text(shape[axis])).into());
    }
    let kept: Vec<Dim> =
        (0..shape.len()).filter(|axis| !axes.contains(axis)).map(|axis| shape[axis]).collect();
    if let Some(open) = open {
        let gone = axes.iter().filter(|axis| **axis < open.axis).count();
        return Ok(vec![call.reshape_open(x, open, &kept, open.axis - gone)?]);
    }
    Ok(vec![call.reshape_to(x, &kept)?])
}

/// Unsqueeze: with dimensions of size 1 at the given places of the result.
pub(crate) fn unsqueeze(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let shape = call.dims(x)?;
    let added = match call.version {
        ..13 => call.node.ints("axes")?.map(<[i64]>::to_vec),
        _ => call.known_ints(1)?,
    };
    let added = added.ok_or("the axes are left out")?;
    let rank = shape.len() + added.len();
    let added = distinct(call, &added, rank)?;
    let mut sizes = shape.into_iter();
    let new = (0..rank).map(|axis| if added.contains(&axis) { Some(Dim::Known(1)) } else { sizes.next() });
    let new: Vec<Dim> = new.map(|size| size.expect("distinct axes leave a place for each size")).collect();
    if let Some(open) = call.open(x) {
        let at = (0..rank).filter(|axis| !added.contains(axis)).nth(open.axis).expect("as many axes stay");
        return Ok(vec![call.reshape_open(x, open, &new, at)?]);
    }
    Ok(vec![call.reshape_to(x, &new)?])
}

/// The axes of Squeeze: an attribute up to version 12, then an operand.
fn axes(call: &NodeConversion<'_, '_>, rank: usize) -> Result<Option<Vec<usize>>, Refusal> {
    let axes = match call.version {
        ..13 => call.node.ints("axes")?.map(<[i64]>::to_vec),
        _ => call.known_ints(1)?,
    };
    axes.map(|axes| distinct(call, &axes, rank)).transpose()
}

fn distinct(call: &NodeConversion<'_, '_>, axes: &[i64], rank: usize) -> Result<Vec<usize>, Refusal> {
    let mut found = Vec::new();
    for &axis in axes {
        let axis = call.axis(axis, rank)?;
        if found.contains(&axis) {
            return Err(format!("axis {axis} occurs twice in {axes:?}").into());
        }
        found.push(axis);
    }
    Ok(found)
}

/// Shape: the sizes from `start` to `end`, a constant if all are known.
pub(crate) fn shape(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let shape = call.dims(x)?;
    let rank = shape.len() as i64;
    let bound =
        |bound: i64| (if bound < 0 { bound.saturating_add(rank) } else { bound }).clamp(0, rank) as usize;
    let start = bound(call.node.int("start")?.unwrap_or(0));
    let end = bound(call.node.int("end")?.unwrap_or(rank)).max(start);
    if call.open(x).is_some_and(|open| (start..end).contains(&open.axis)) {
        return Ok(vec![call.open_shape(x, start..end)?]);
    }
    let shape = &shape[start..end];
    if shape.contains(&Dim::Unknown) {
        return Err(call.lost_size(x));
    }
    let numbers = shape.iter().map(|size| size.known().map(u64::cast_signed)).collect::<Option<Vec<i64>>>();
    Ok(vec![match numbers {
        Some(numbers) => call.int64_constant(&numbers, &[shape.len() as u64])?,
        None => {
            let sizes = call.ctx().dims_attr(shape);
            call.emit("nn.sizes", &[], &[("value", sizes)])?
        }
    }])
}

/// OptionalHasElement of an operand with a known number of values, one or none.
pub(crate) fn has_element(call: &mut NodeConversion<'_, '_>, held: i64) -> Result<Value, Refusal> {
    if let Some(x) = call.optional(0) {
        call.open(x);
    }
    let is_there = call.int(held)?;
    let truth = call.ctx().int(1);
    call.cast(is_there, truth)
}

/// Constant: one attribute holds the value.
pub(crate) fn constant(call: &mut NodeConversion<'_, '_>) -> Results {
    let [attribute] = &call.node.attributes[..] else {
        return Err(format!("{} attributes, expected one value", call.node.attributes.len()).into());
    };
    let name = call.node.outputs[0];
    let bytes_of = |numbers: &[f32]| numbers.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    let words_of = |numbers: &[i64]| numbers.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    let digests_of = |texts: &[ByteSpan<'_>]| digests(texts.iter().map(|text| text.bytes));
    let (element, dims, bytes) = match &attribute.value {
        AttributeValue::Tensor(tensor) => {
            let weight = call.read_tensor(tensor, &format!("const:{name}"))?;
            return Ok(vec![call.constant(weight, name)?]);
        }
        AttributeValue::Float(x) => (Element::Float, vec![], bytes_of(&[*x])),
        AttributeValue::Floats(xs) => (Element::Float, vec![xs.len() as u64], bytes_of(xs)),
        AttributeValue::Int(x) => (Element::Int64, vec![], words_of(&[*x])),
        AttributeValue::Ints(xs) => (Element::Int64, vec![xs.len() as u64], words_of(xs)),
        AttributeValue::String(text) => (Element::String, vec![], digests_of(&[*text])?),
        AttributeValue::Strings(texts) => (Element::String, vec![texts.len() as u64], digests_of(texts)?),
        other => {
            return Err(format!("a value that is {}, expected numbers or strings", other.describe()).into());
        }
    };
    let weight = Weight { element, dims, blob: Blob::from_bytes(bytes) };
    Ok(vec![call.constant(weight, name)?])
}
