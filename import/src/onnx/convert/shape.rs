//! What the operators become that move elements but compute none, and constants.

use ir::{Blob, Value};

use crate::onnx::call::{Call, Refusal};
use crate::onnx::element::Element;
use crate::onnx::model::AttributeValue;
use crate::onnx::weights::Weight;

/// Flatten: a matrix, of the dimensions before `axis` and those from it on.
pub(crate) fn flatten(call: &mut Call<'_, '_>) -> Result<Vec<Value>, Refusal> {
    let x = call.operand(0)?;
    let shape = call.shape(x)?;
    let axis = call.position(call.node.int("axis")?.unwrap_or(1), shape.len())?;
    let matrix = [shape[..axis].iter().product(), shape[axis..].iter().product()];
    Ok(vec![call.reshape(x, &matrix)?])
}

/// Reshape: in the new shape, -1 is what remains, and 0 keeps the old size unless `allowzero`.
pub(crate) fn reshape(call: &mut Call<'_, '_>) -> Result<Vec<Value>, Refusal> {
    let x = call.operand(0)?;
    let wanted = match call.version {
        ..5 => call.node.ints("shape")?.map(<[i64]>::to_vec),
        _ => call.known_ints(1)?,
    };
    let wanted = wanted.ok_or("the new shape is left out")?;
    let keeps_zero = call.node.truth("allowzero")?.unwrap_or(false);
    let old = call.shape(x)?;
    let sizes = if keeps_zero { Some(wanted.clone()) } else { with_old_sizes(&old, &wanted) };
    let shape = sizes.and_then(|sizes| new_shape(&old, &sizes)).ok_or_else(|| {
        format!("the new shape {wanted:?} does not have as many elements as the input's {old:?}")
    })?;
    Ok(vec![call.reshape(x, &shape)?])
}

/// `wanted` with the old size in place of each 0; `None` where there is no such old size.
fn with_old_sizes(old: &[u64], wanted: &[i64]) -> Option<Vec<i64>> {
    let sizes = wanted.iter().enumerate().map(|(i, &size)| match size {
        0 => i64::try_from(*old.get(i)?).ok(),
        size => Some(size),
    });
    sizes.collect()
}

fn new_shape(old: &[u64], wanted: &[i64]) -> Option<Vec<u64>> {
    let count: u64 = old.iter().product();
    let mut shape = Vec::new();
    let mut rest = None;
    for (i, &size) in wanted.iter().enumerate() {
        shape.push(match size {
            -1 if rest.is_none() => {
                rest = Some(i);
                1
            }
            size => u64::try_from(size).ok()?,
        });
    }
    let known = shape.iter().try_fold(1u64, |product, &size| product.checked_mul(size))?;
    if let Some(rest) = rest {
        shape[rest] = count.checked_div(known)?;
        return (shape[rest] * known == count).then_some(shape);
    }
    (known == count).then_some(shape)
}

/// Transpose: without `perm`, the dimensions in reverse.
pub(crate) fn transpose(call: &mut Call<'_, '_>) -> Result<Vec<Value>, Refusal> {
    let x = call.operand(0)?;
    let rank = call.shape(x)?.len() as i64;
    let permutation = call.node.ints("perm")?.map_or_else(|| (0..rank).rev().collect(), <[i64]>::to_vec);
    let permutation = call.ctx().ints_attr(&permutation);
    Ok(vec![call.emit("nn.transpose", &[x], &[("permutation", permutation)])?])
}

/// Concat. `axis` has a default in version 1 only.
pub(crate) fn concat(call: &mut Call<'_, '_>) -> Result<Vec<Value>, Refusal> {
    let operands = (0..call.operand_count()).map(|index| call.operand(index));
    let operands = operands.collect::<Result<Vec<Value>, Refusal>>()?;
    let rank = call.shape(call.operand(0)?)?.len();
    let axis = match call.node.int("axis")? {
        Some(axis) => axis,
        None if call.version < 4 => 1,
        None => return Err("`axis` is left out".into()),
    };
    let axis = call.axis(axis, rank)?;
    let axis = call.ctx().int_attr(axis as i64);
    Ok(vec![call.emit("nn.concat", &operands, &[("axis", axis)])?])
}

/// Squeeze: without the given dimensions of size 1, or without all of that size.
pub(crate) fn squeeze(call: &mut Call<'_, '_>) -> Result<Vec<Value>, Refusal> {
    let x = call.operand(0)?;
    let shape = call.shape(x)?;
    let axes = match axes(call, shape.len())? {
        Some(axes) => axes,
        None => (0..shape.len()).filter(|&axis| shape[axis] == 1).collect(),
    };
    if let Some(&axis) = axes.iter().find(|&&axis| shape[axis] != 1) {
        return Err(format!("axis {axis} has size {}, expected 1", shape[axis]).into());
    }
    let kept: Vec<u64> =
        (0..shape.len()).filter(|axis| !axes.contains(axis)).map(|axis| shape[axis]).collect();
    Ok(vec![call.reshape(x, &kept)?])
}

/// Unsqueeze: with dimensions of size 1 at the given places of the result.
pub(crate) fn unsqueeze(call: &mut Call<'_, '_>) -> Result<Vec<Value>, Refusal> {
    let x = call.operand(0)?;
    let shape = call.shape(x)?;
    let added = match call.version {
        ..13 => call.node.ints("axes")?.map(<[i64]>::to_vec),
        _ => call.known_ints(1)?,
    };
    let added = added.ok_or("the axes are left out")?;
    let rank = shape.len() + added.len();
    let added = distinct(call, &added, rank)?;
    let mut sizes = shape.into_iter();
    let new = (0..rank).map(|axis| if added.contains(&axis) { Some(1) } else { sizes.next() });
    let new: Vec<u64> = new.map(|size| size.expect("distinct axes leave a place for each size")).collect();
    Ok(vec![call.reshape(x, &new)?])
}

/// The axes of Squeeze: an attribute up to version 12, then an operand.
fn axes(call: &Call<'_, '_>, rank: usize) -> Result<Option<Vec<usize>>, Refusal> {
    let axes = match call.version {
        ..13 => call.node.ints("axes")?.map(<[i64]>::to_vec),
        _ => call.known_ints(1)?,
    };
    axes.map(|axes| distinct(call, &axes, rank)).transpose()
}

fn distinct(call: &Call<'_, '_>, axes: &[i64], rank: usize) -> Result<Vec<usize>, Refusal> {
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

/// Shape: the sizes from `start` to `end`, a constant.
pub(crate) fn shape(call: &mut Call<'_, '_>) -> Result<Vec<Value>, Refusal> {
    let shape = call.shape(call.operand(0)?)?;
    let rank = shape.len() as i64;
    let bound =
        |bound: i64| (if bound < 0 { bound.saturating_add(rank) } else { bound }).clamp(0, rank) as usize;
    let start = bound(call.node.int("start")?.unwrap_or(0));
    let end = bound(call.node.int("end")?.unwrap_or(rank)).max(start);
    let sizes: Vec<i64> = shape[start..end].iter().map(|size| size.cast_signed()).collect();
    Ok(vec![call.int64_constant(&sizes, &[(end - start) as u64])?])
}

/// Constant: one attribute holds the value.
pub(crate) fn constant(call: &mut Call<'_, '_>) -> Result<Vec<Value>, Refusal> {
    let [attribute] = &call.node.attributes[..] else {
        return Err(format!("{} attributes, expected one value", call.node.attributes.len()).into());
    };
    let name = call.node.outputs[0];
    let bytes_of = |numbers: &[f32]| numbers.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    let words_of = |numbers: &[i64]| numbers.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    let (element, dims, bytes) = match &attribute.value {
        AttributeValue::Tensor(tensor) => {
            let weight = call.read_tensor(tensor, &format!("const:{name}"))?;
            return Ok(vec![call.constant(weight, name)?]);
        }
        AttributeValue::Float(x) => (Element::Float, vec![], bytes_of(&[*x])),
        AttributeValue::Floats(xs) => (Element::Float, vec![xs.len() as u64], bytes_of(xs)),
        AttributeValue::Int(x) => (Element::Int64, vec![], words_of(&[*x])),
        AttributeValue::Ints(xs) => (Element::Int64, vec![xs.len() as u64], words_of(xs)),
        other => return Err(format!("a value that is {}, expected numbers", other.describe()).into()),
    };
    let weight = Weight { element, dims, blob: Blob::from_bytes(bytes) };
    Ok(vec![call.constant(weight, name)?])
}
