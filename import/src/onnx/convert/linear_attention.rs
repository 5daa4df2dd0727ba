//! Conversion of LinearAttention: attention whose state is a matrix, unrolled step by step.

use ir::{Dim, Value};

use super::attention::{by_heads, four, heads, of_heads, shared_product};
use crate::onnx::call::{NodeConversion, Refusal, Results};

/// The greatest number of steps of a sequence.
const MOST_STEPS: u64 = 1024;

fn check_steps(steps: u64) -> Result<u64, Refusal> {
    if (1..=MOST_STEPS).contains(&steps) {
        return Ok(steps);
    }
    Err(format!("a sequence of {steps} steps, expected 1 to {MOST_STEPS}").into())
}

/// LinearAttention: a matrix state `S` for each head. Each step adds the product of its key and value (for
/// the delta rules, minus the state's value for that key), and its query reads the state.
pub(crate) fn linear_attention(call: &mut NodeConversion<'_, '_>) -> Results {
    let (queries, keys) = (heads(call, "q_num_heads")?, heads(call, "kv_num_heads")?);
    let rule = call.node.text("update_rule")?.unwrap_or("gated_delta");
    let (is_gated, corrects) = match rule {
        "linear" => (false, false),
        "gated" => (true, false),
        "delta" => (false, true),
        "gated_delta" => (true, true),
        other => return Err(format!("`update_rule` {other:?}").into()),
    };
    if is_gated != call.optional(4).is_some() || corrects != call.optional(5).is_some() {
        return Err(format!("`update_rule` {rule:?} with other operands than it takes").into());
    }
    let elem = call.element(call.operand(0)?);
    let f32 = call.ctx().f32();
    let mut parts = Vec::new();
    for (operand, count) in [(0, queries), (1, keys), (2, keys)] {
        let x = call.operand(operand)?;
        let x = call.cast(x, f32)?;
        parts.push(by_heads(call, x, count)?);
    }
    let [batch, _, steps, key_size] = four(&call.shape(parts[1])?)?;
    let value_size = call.shape(parts[2])?[3];
    check_steps(steps)?;
    for operand in [4, 5] {
        let Some(x) = call.optional(operand) else { continue };
        let x = call.cast(x, f32)?;
        let count = if call.shape(x)?.last() == Some(&1) { 1 } else { keys };
        parts.push(by_heads(call, x, count)?);
    }
    let scale = match call.number("scale", 0.0)? {
        0.0 => 1.0 / (key_size as f64).sqrt(),
        scale => scale,
    };
    let past = call.optional(3);
    let state_elem = past.map_or(elem, |past| call.element(past));
    let mut state = match past {
        Some(past) => call.cast(past, f32)?,
        None => call.filler(0.0, parts[0], &[batch, keys, key_size, value_size].map(Dim::Known))?,
    };
    let mut outputs = Vec::new();
    for step in 0..steps {
        let (output, new) = linear_step(call, &parts, state, step, (is_gated, corrects))?;
        outputs.push(output);
        state = new;
    }
    let steps = call.concatenated(&outputs, 2)?;
    let scaled = call.with_number("nn.mul", steps, scale)?;
    let joined = of_heads(call, scaled)?;
    Ok(vec![call.cast(joined, elem)?, call.cast(state, state_elem)?])
}

/// The output of a step's query, and the state after it. `parts` are queries, keys, values, decays and rates.
fn linear_step(
    call: &mut NodeConversion<'_, '_>,
    parts: &[Value],
    mut state: Value,
    step: u64,
    (is_gated, corrects): (bool, bool),
) -> Result<(Value, Value), Refusal> {
    let mut now = Vec::new();
    for part in parts {
        now.push(call.part(*part, 2, Dim::Known(step), Dim::Known(1))?);
    }
    let key = call.transposed(now[1], &[0, 1, 3, 2])?;
    if is_gated {
        let decay = call.transposed(now[3], &[0, 1, 3, 2])?;
        let factor = call.one("nn.exp", decay)?;
        state = call.two("nn.mul", state, factor)?;
    }
    let mut value = now[2];
    if corrects {
        let known = call.two("nn.matmul", now[1], state)?;
        let change = call.two("nn.sub", value, known)?;
        value = call.two("nn.mul", now[now.len() - 1], change)?;
    }
    let added = call.two("nn.mul", key, value)?;
    let state = call.two("nn.add", state, added)?;
    Ok((shared_product(call, now[0], state)?, state))
}
