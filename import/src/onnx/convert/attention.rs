//! Conversion of attention and of related operators in transformers: rotary embeddings, a causal convolution
//! with a state, and attention whose state is a matrix.

use ir::dims::SizeArithmetic;
use ir::{Dim, TypeData, Value};

use super::composed::numbered_type;
use super::linear::softmax_along;
use super::pick::number;
use crate::onnx::call::{NodeConversion, Refusal, Results};

/// A number of heads given by an attribute.
pub(super) fn heads(call: &NodeConversion<'_, '_>, name: &str) -> Result<u64, Refusal> {
    let count = call.node.int(name)?.and_then(|count| u64::try_from(count).ok()).filter(|count| *count > 0);
    count.ok_or_else(|| format!("`{name}` is left out or no number of heads").into())
}

/// `[batch, positions, heads * size]` as `[batch, heads, positions, size]`.
pub(super) fn by_heads(call: &mut NodeConversion<'_, '_>, x: Value, heads: u64) -> Result<Value, Refusal> {
    let [batch, positions, hidden] = call.dims(x)?[..] else {
        return Err("an input that is not [batch, positions, heads * size]".into());
    };
    let sizes = SizeArithmetic(call.ctx());
    if sizes.are_different(sizes.modulo(hidden, heads), Dim::Known(0)) {
        return Err(format!("`{}` numbers for {heads} heads", sizes.text(hidden)).into());
    }
    let size = sizes.floor_div(hidden, Dim::Known(heads));
    let apart = call.reshape_to(x, &[batch, positions, Dim::Known(heads), size])?;
    call.transposed(apart, &[0, 2, 1, 3])
}

/// `[batch, heads, positions, size]` as `[batch, positions, heads * size]`.
pub(super) fn of_heads(call: &mut NodeConversion<'_, '_>, x: Value) -> Result<Value, Refusal> {
    let turned = call.transposed(x, &[0, 2, 1, 3])?;
    let [batch, positions, heads, size] = call.dims(turned)?[..] else {
        return Err("heads of another rank".into());
    };
    let hidden = SizeArithmetic(call.ctx()).mul(heads, size);
    call.reshape_to(turned, &[batch, positions, hidden])
}

pub(in crate::onnx) fn four<T: Copy>(all: &[T]) -> Result<[T; 4], Refusal> {
    all.try_into().map_err(|_| format!("an input of {} axes, expected 4", all.len()).into())
}

/// Attention: `softmax(q k' * scale, capped, + bias) v` for each head; a row with all keys masked gives 0. If
/// several heads of queries share a head of keys, they are one factor of a product.
pub(crate) fn attention(call: &mut NodeConversion<'_, '_>) -> Results {
    let mut operands = [call.operand(0)?, call.operand(1)?, call.operand(2)?];
    let is_flat = call.rank(operands[0])? == 3;
    if is_flat {
        let (queries, keys) = (heads(call, "q_num_heads")?, heads(call, "kv_num_heads")?);
        for (operand, count) in operands.iter_mut().zip([queries, keys, keys]) {
            *operand = by_heads(call, *operand, count)?;
        }
    }
    let [q, mut k, mut v] = operands;
    let past = match (call.optional(4), call.optional(5)) {
        (Some(past_key), Some(past_value)) => {
            k = call.concatenated(&[past_key, k], 2)?;
            v = call.concatenated(&[past_value, v], 2)?;
            Some(four(&call.dims(past_key)?)?[2])
        }
        (None, None) => None,
        _ => return Err("keys or values of the past without the other".into()),
    };
    let scale = match call.node.float("scale")? {
        Some(scale) => f64::from(scale),
        None => match four(&call.dims(q)?)?[3] {
            Dim::Known(size) => 1.0 / (size as f64).sqrt(),
            _ => return Err("heads of a size that is not a number".into()),
        },
    };
    let turned = call.transposed(k, &[0, 1, 3, 2])?;
    let product = shared_product(call, q, turned)?;
    let scores = call.with_number("nn.mul", product, scale)?;
    let cap = call.number("softcap", 0.0)?;
    let capped = if cap > 0.0 { soft_capped(call, scores, cap)? } else { scores };
    let frame = QueryAndKey { q, k, past };
    let bias = frame.bias(call)?;
    let biased = bias.as_ref().map_or(Ok(capped), |bias| call.two("nn.add", capped, bias.value))?;
    let weights = attention_weights(call, biased, bias)?;
    let weights = call.cast(weights, call.element(q))?;
    let y = shared_product(call, weights, v)?;
    let y = if is_flat { of_heads(call, y)? } else { y };
    let shown = match call.node.int("qk_matmul_output_mode")?.unwrap_or(0) {
        0 => scores,
        1 => capped,
        2 => biased,
        3 => weights,
        other => return Err(format!("`qk_matmul_output_mode` {other}, expected 0 to 3").into()),
    };
    Ok(vec![y, k, v, shown])
}

/// `a b` for each head, where consecutive heads of `a` share a head of `b`.
pub(in crate::onnx) fn shared_product(
    call: &mut NodeConversion<'_, '_>,
    a: Value,
    b: Value,
) -> Result<Value, Refusal> {
    let [batch, heads, rows, inner] = four(&call.dims(a)?)?;
    let [_, shared, _, columns] = four(&call.dims(b)?)?;
    if heads == shared {
        return call.two("nn.matmul", a, b);
    }
    let sizes = SizeArithmetic(call.ctx());
    let group = sizes.floor_div(heads, shared);
    if !sizes.are_equal(sizes.mul(group, shared), heads) {
        let (heads, shared) = (sizes.text(heads), sizes.text(shared));
        return Err(format!("`{heads}` heads of queries that share `{shared}` heads of keys").into());
    }
    let stacked = sizes.mul(group, rows);
    let a = call.reshape_to(a, &[batch, shared, stacked, inner])?;
    let product = call.two("nn.matmul", a, b)?;
    call.reshape_to(product, &[batch, heads, rows, columns])
}

fn soft_capped(call: &mut NodeConversion<'_, '_>, x: Value, cap: f64) -> Result<Value, Refusal> {
    let scaled = call.with_number("nn.div", x, cap)?;
    let bent = call.one("nn.tanh", scaled)?;
    call.with_number("nn.mul", bent, cap)
}

/// The softmax of each row, and 0 where the bias masks all of a row.
fn attention_weights(
    call: &mut NodeConversion<'_, '_>,
    x: Value,
    bias: Option<Bias>,
) -> Result<Value, Refusal> {
    let precise = match call.node.int("softmax_precision")?.filter(|number| *number != 0) {
        Some(number) => {
            let to = numbered_type(call, "softmax_precision", number)?;
            call.cast(x, to)?
        }
        None => x,
    };
    let weights = softmax_along(call, precise, 3)?;
    let Some(bias) = bias.filter(|bias| bias.may_mask_all) else { return Ok(weights) };
    let last = call.rank(bias.value)? as i64 - 1;
    let most = call.folded("max", bias.value, &[last])?;
    let is_masked = call.with_number("nn.eq", most, f64::NEG_INFINITY)?;
    let zero = call.scalar_like(0.0, weights)?;
    call.select(is_masked, zero, weights)
}

/// The bias added to scores: 0, or minus infinity if a query does not see a key.
struct Bias {
    value: Value,
    /// Whether a query may see no key.
    may_mask_all: bool,
}

/// Queries and keys of an attention.
struct QueryAndKey {
    q: Value,
    k: Value,
    past: Option<Dim>,
}

impl QueryAndKey {
    fn bias(&self, call: &mut NodeConversion<'_, '_>) -> Result<Option<Bias>, Refusal> {
        let mut terms = Vec::new();
        if let Some(mask) = call.optional(3) {
            terms.push(self.mask(call, mask)?);
        }
        let valid = match call.optional(6) {
            Some(valid) => {
                let [batch] = call.dims(valid)?[..] else {
                    return Err("lengths that are not one for each batch".into());
                };
                let int64 = call.ctx().int(64);
                let valid = call.cast(valid, int64)?;
                Some(call.reshape_to(valid, &[batch, Dim::Known(1), Dim::Known(1), Dim::Known(1)])?)
            }
            None => None,
        };
        let is_causal = call.node.truth("is_causal")?.unwrap_or(false);
        let left = call.node.int("left_window_size")?.filter(|size| *size >= 0);
        let right = call.node.int("right_window_size")?.filter(|size| *size >= 0);
        let may_mask_all = !terms.is_empty() || valid.is_some() || left.is_some();
        if is_causal || left.is_some() || right.is_some() {
            let ahead = self.distance(call, valid)?;
            let right = if is_causal { Some(0) } else { right };
            let bounds = [(left, "nn.le", 1), (right, "nn.ge", -1)];
            for (size, comparison, sign) in bounds {
                let Some(size) = size else { continue };
                let allowed = call.with_number(comparison, ahead, (sign * size) as f64)?;
                terms.push(self.zero_where(call, allowed)?);
            }
        }
        if let Some(valid) = valid {
            let [_, _, keys, _] = four(&call.dims(self.k)?)?;
            let indices = call.indices_along(keys, 3, 4)?;
            let allowed = call.two("nn.lt", indices, valid)?;
            terms.push(self.zero_where(call, allowed)?);
        }
        let mut terms = terms.into_iter();
        let Some(mut value) = terms.next() else { return Ok(None) };
        for term in terms {
            value = call.two("nn.add", value, term)?;
        }
        Ok(Some(Bias { value, may_mask_all }))
    }

    fn zero_where(&self, call: &mut NodeConversion<'_, '_>, allowed: Value) -> Result<Value, Refusal> {
        let zero = call.scalar_like(0.0, self.q)?;
        call.where_or(allowed, zero, f64::NEG_INFINITY)
    }

    /// A mask as numbers, with a column for each key.
    fn mask(&self, call: &mut NodeConversion<'_, '_>, mask: Value) -> Result<Value, Refusal> {
        let mut bias = match call.ctx().type_data(call.element(mask)) {
            TypeData::Integer { width: 1, .. } => self.zero_where(call, mask)?,
            _ => mask,
        };
        let axis = call.rank(bias)?.checked_sub(1).ok_or("a mask that is one number")?;
        let [_, _, keys, _] = four(&call.dims(self.k)?)?;
        if let (Dim::Known(own), Dim::Known(keys)) = (call.dims(bias)?[axis], keys)
            && own < keys
        {
            bias = call.padded(bias, axis, [0, (keys - own).cast_signed()], f64::NEG_INFINITY)?;
        }
        Ok(bias)
    }

    /// The distance of each query from each key: `offset + query - key`; the offset is the number of keys
    /// before the first query.
    fn distance(&self, call: &mut NodeConversion<'_, '_>, valid: Option<Value>) -> Result<Value, Refusal> {
        let [_, _, queries, _] = four(&call.dims(self.q)?)?;
        let [_, _, keys, _] = four(&call.dims(self.k)?)?;
        let query = call.indices_along(queries, 0, 2)?;
        let key = call.indices_along(keys, 1, 2)?;
        let ahead = call.two("nn.sub", query, key)?;
        match (self.past, valid) {
            (Some(past), _) => {
                let past = number(call, past)?;
                call.two("nn.add", ahead, past)
            }
            (None, Some(valid)) => {
                let queries = number(call, queries)?;
                let before = call.two("nn.sub", valid, queries)?;
                call.two("nn.add", ahead, before)
            }
            (None, None) => Ok(ahead),
        }
    }
}

/// RotaryEmbedding: pairs of numbers turned by an angle that depends on their position.
pub(crate) fn rotary_embedding(call: &mut NodeConversion<'_, '_>) -> Results {
    let mut x = call.operand(0)?;
    let is_flat = call.rank(x)? == 3;
    if is_flat {
        let count = heads(call, "num_heads")?;
        x = by_heads(call, x, count)?;
    }
    let [batch, count, positions, size] = four(&call.dims(x)?)?;
    let turning = match call.node.int("rotary_embedding_dim")?.unwrap_or(0) {
        0 => size.known().ok_or("heads of a size that is not a number")?,
        turning => u64::try_from(turning).map_err(|_| "a negative `rotary_embedding_dim`")?,
    };
    let rest = size.known().and_then(|size| size.checked_sub(turning));
    let rest = rest.filter(|_| turning % 2 == 0).ok_or("`rotary_embedding_dim` is no even part of a head")?;
    let half = Dim::Known(turning / 2);
    let mut angles = [call.operand(1)?, call.operand(2)?];
    for angle in &mut angles {
        if let Some(ids) = call.optional(3) {
            *angle = call.picked(*angle, ids, 0)?;
        }
        let [batch, positions, width] = call.dims(*angle)?[..] else {
            return Err("caches of another rank than [batch, positions, half]".into());
        };
        if SizeArithmetic(call.ctx()).are_different(width, half) {
            return Err("caches of another width than half of `rotary_embedding_dim`".into());
        }
        *angle = call.reshape_to(*angle, &[batch, Dim::Known(1), positions, half])?;
    }
    let [cos, sin] = angles;
    let is_interleaved = call.node.truth("interleaved")?.unwrap_or(false);
    let turned = call.part(x, 3, Dim::Known(0), Dim::Known(turning))?;
    let (pairs, axis) = match is_interleaved {
        true => ([batch, count, positions, half, Dim::Known(2)], 4),
        false => ([batch, count, positions, Dim::Known(2), half], 3),
    };
    let turned = call.reshape_to(turned, &pairs)?;
    let mut sides = [turned; 2];
    for (index, side) in sides.iter_mut().enumerate() {
        let part = call.part(turned, axis, Dim::Known(index as u64), Dim::Known(1))?;
        *side = call.reshape_to(part, &[batch, count, positions, half])?;
    }
    let mut products = Vec::new();
    for (angle, side) in [(cos, 0), (sin, 1), (sin, 0), (cos, 1)] {
        products.push(call.two("nn.mul", angle, sides[side])?);
    }
    let real = call.two("nn.sub", products[0], products[1])?;
    let imaginary = call.two("nn.add", products[2], products[3])?;
    let mut apart = pairs;
    apart[axis] = Dim::Known(1);
    let (real, imaginary) = (call.reshape_to(real, &apart)?, call.reshape_to(imaginary, &apart)?);
    let joined = call.concatenated(&[real, imaginary], axis)?;
    let mut y = call.reshape_to(joined, &[batch, count, positions, Dim::Known(turning)])?;
    if rest > 0 {
        let rest = call.part(x, 3, Dim::Known(turning), Dim::Known(rest))?;
        y = call.concatenated(&[y, rest], 3)?;
    }
    Ok(vec![if is_flat { of_heads(call, y)? } else { y }])
}

/// CausalConvWithState: a convolution of each channel over what came before, and the last inputs of it.
pub(crate) fn causal_convolution(call: &mut NodeConversion<'_, '_>) -> Results {
    let (x, filter) = (call.operand(0)?, call.operand(1)?);
    let [batch, channels, _] = call.dims(x)?[..] else {
        return Err("an input that is not [batch, channels, length]".into());
    };
    let [groups, 1, kernel] = call.shape(filter)?[..] else {
        return Err("weights that are not [channels, 1, length]".into());
    };
    let before = kernel.checked_sub(1).ok_or("a kernel without elements")?;
    let padded = match call.optional(3) {
        Some(state) => call.concatenated(&[state, x], 2)?,
        None => call.padded(x, 2, [before.cast_signed(), 0], 0.0)?,
    };
    let length = call.dims(padded)?[2];
    let row = call.reshape_to(padded, &[batch, channels, Dim::Known(1), length])?;
    let filter = call.reshape(filter, &[groups, 1, 1, kernel])?;
    let mut operands = vec![row, filter];
    operands.extend(call.optional(2));
    let groups = call.ctx().int_attr(groups.cast_signed());
    let rows = call.emit("nn.conv2d", &operands, &[("groups", groups)])?;
    let convolved = call.reshape_to(rows, &call.dims(x)?)?;
    let y = match call.node.text("activation")?.unwrap_or("none") {
        "none" => convolved,
        "silu" | "swish" => call.one("nn.silu", convolved)?,
        other => {
            return Err(format!("`activation` {other:?}, expected \"none\", \"silu\" or \"swish\"").into());
        }
    };
    let start = SizeArithmetic(call.ctx()).offset(length, -before.cast_signed());
    let state = call.part(padded, 2, start, Dim::Known(before))?;
    Ok(vec![y, state])
}
