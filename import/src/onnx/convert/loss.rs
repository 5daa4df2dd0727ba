//! Conversion of losses, and of masks given by indices: Trilu, EyeLike, OneHot.

use ir::{Dim, Value};

use super::composed::numbered_type;
use super::reduce::log_softmax_over;
use crate::onnx::call::{NodeConversion, Refusal, Results};

/// NegativeLogLikelihoodLoss.
pub(crate) fn negative_log_likelihood(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    Ok(vec![likelihood_loss(call, x)?])
}

/// SoftmaxCrossEntropyLoss: that of the logarithms of the softmax along axis 1, which are the second result.
pub(crate) fn softmax_cross_entropy(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let logarithms = log_softmax_over(call, x, &[1])?;
    Ok(vec![likelihood_loss(call, logarithms)?, logarithms])
}

/// The negated score of each target's class, times the class's weight, summed, or divided by the sum of the
/// weights. A target that is `ignore_index`, or no class, has weight 0.
fn likelihood_loss(call: &mut NodeConversion<'_, '_>, x: Value) -> Result<Value, Refusal> {
    let shape = call.dims(x)?;
    let [batch, classes, rest @ ..] = &shape[..] else {
        return Err("an input without classes".into());
    };
    let (batch, classes) = (*batch, *classes);
    let row = [&[batch, Dim::Known(1)], rest].concat();
    let targets_shape = [&[batch], rest].concat();
    let labels = call.operand(1)?;
    let wide_labels = call.cast(labels, call.ctx().int(64))?;
    let target = call.reshape_to(wide_labels, &row)?;
    let class = call.indices_along(classes, 1, shape.len())?;
    let mut holds = call.two("nn.eq", class, target)?;
    let ignored = call.node.int("ignore_index")?;
    let mut counts = None;
    if let Some(ignored) = ignored {
        let is_counted = call.with_number("nn.ne", target, ignored as f64)?;
        holds = call.two("nn.and", holds, is_counted)?;
        counts = Some(is_counted);
    }
    let weights = match call.optional(2) {
        Some(weights) => {
            let mut along = vec![Dim::Known(1); shape.len()];
            along[1] = classes;
            Some(call.reshape_to(weights, &along)?)
        }
        None => None,
    };
    let weighted = weights.map_or(Ok(x), |weights| call.two("nn.mul", x, weights))?;
    let chosen = call.where_or(holds, weighted, 0.0)?;
    let sum = call.folded("sum", chosen, &[1])?;
    let loss = call.one("nn.neg", sum)?;
    let all: Vec<i64> = (0..shape.len() as i64).collect();
    let loss = match call.node.text("reduction")?.unwrap_or("mean") {
        "none" => return call.reshape_to(loss, &targets_shape),
        "sum" => call.folded("sum", loss, &all)?,
        "mean" => {
            let weight = match (weights, counts) {
                (None, None) => None,
                (None, Some(counts)) => Some(call.cast(counts, call.element(x))?),
                (Some(weights), _) => {
                    let weight = call.where_or(holds, weights, 0.0)?;
                    Some(call.folded("sum", weight, &[1])?)
                }
            };
            match weight {
                None => call.folded("mean", loss, &all)?,
                Some(weight) => {
                    let (loss, weight) = (call.folded("sum", loss, &all)?, call.folded("sum", weight, &all)?);
                    call.two("nn.div", loss, weight)?
                }
            }
        }
        other => return Err(format!("`reduction` {other:?}, expected \"none\", \"sum\" or \"mean\"").into()),
    };
    call.reshape_to(loss, &[])
}

/// The distance of each element of a matrix from the diagonal: its column minus its row.
fn after_diagonal(call: &mut NodeConversion<'_, '_>, [rows, columns]: [Dim; 2]) -> Result<Value, Refusal> {
    let (row, column) = (call.indices_along(rows, 0, 2)?, call.indices_along(columns, 1, 2)?);
    call.two("nn.sub", column, row)
}

/// Trilu: the elements on and above a diagonal, or on and below it; 0 elsewhere.
pub(crate) fn trilu(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let shape = call.dims(x)?;
    let [.., rows, columns] = shape[..] else { return Err("an input that is no matrix".into()) };
    let comparison = if call.node.truth("upper")?.unwrap_or(true) { "nn.ge" } else { "nn.le" };
    let after = after_diagonal(call, [rows, columns])?;
    let kept = match call.optional(1) {
        Some(diagonal) => {
            let diagonal = call.reshape(diagonal, &[])?;
            call.two(comparison, after, diagonal)?
        }
        None => call.with_number(comparison, after, 0.0)?,
    };
    Ok(vec![call.where_or(kept, x, 0.0)?])
}

/// EyeLike: 1 on a diagonal, 0 elsewhere, in the input's shape.
pub(crate) fn eye_like(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let [rows, columns] = call.dims(x)?[..] else { return Err("an input that is no matrix".into()) };
    let elem = match call.node.int("dtype")? {
        Some(number) => numbered_type(call, "dtype", number)?,
        None => call.element(x),
    };
    let after = after_diagonal(call, [rows, columns])?;
    let diagonal = call.node.int("k")?.unwrap_or(0);
    let is_on = call.with_number("nn.eq", after, diagonal as f64)?;
    Ok(vec![call.cast(is_on, elem)?])
}

/// OneHot: along a new axis, one value at the index given by an element, counted from the end if it is
/// negative, and another value elsewhere.
pub(crate) fn one_hot(call: &mut NodeConversion<'_, '_>) -> Results {
    let (indices, values) = (call.operand(0)?, call.operand(2)?);
    let depth = call.known_number(1)?.filter(|depth| (1.0..=f64::from(u32::MAX)).contains(depth));
    let depth = depth.ok_or("a depth that is no size")?;
    let shape = call.dims(indices)?;
    let axis = call.axis(call.node.int("axis")?.unwrap_or(-1), shape.len() + 1)?;
    let int64 = call.ctx().int(64);
    let indices = call.cast(indices, int64)?;
    let apart = [&shape[..axis], &[Dim::Known(1)], &shape[axis..]].concat();
    let indices = call.reshape_to(indices, &apart)?;
    let is_below = call.with_number("nn.lt", indices, 0.0)?;
    let from_end = call.with_number("nn.add", indices, depth)?;
    let indices = call.select(is_below, from_end, indices)?;
    let along = call.indices_along(Dim::Known(depth as u64), axis, apart.len())?;
    let is_hot = call.two("nn.eq", indices, along)?;
    let off = call.part(values, 0, Dim::Known(0), Dim::Known(1))?;
    let on = call.part(values, 0, Dim::Known(1), Dim::Known(1))?;
    let (off, on) = (call.reshape(off, &[])?, call.reshape(on, &[])?);
    Ok(vec![call.select(is_hot, on, off)?])
}
