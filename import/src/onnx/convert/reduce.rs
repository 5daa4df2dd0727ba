//! Conversion of reductions, and of the normalizations that are made of them.

use ir::dims::SizeArithmetic;
use ir::{Attr, Dim, FloatKind, TypeData, Value};

use super::composed::numbered_type;
use super::opened::RangeEnd;
use crate::onnx::call::{NodeConversion, Refusal, Results};
use crate::onnx::open::OpenAxis;

/// The axes of a reduction, and whether they stay with size 1.
struct ReducedAxes {
    axes: Vec<i64>,
    keeps: bool,
}

impl ReducedAxes {
    /// The axes of a node: an attribute up to a version and an operand from then on. If there are none, they
    /// are all axes, or with `noop_with_empty_axes` none.
    fn of(call: &NodeConversion<'_, '_>, operand_from: i64) -> Result<ReducedAxes, Refusal> {
        let rank = call.rank(call.operand(0)?)?;
        let axes = if call.version >= operand_from {
            call.known_ints(1)?
        } else {
            call.node.ints("axes")?.map(<[i64]>::to_vec)
        };
        let keeps = call.node.truth("keepdims")?.unwrap_or(true);
        let axes = match axes.filter(|axes| !axes.is_empty()) {
            Some(axes) => axes,
            None if call.node.truth("noop_with_empty_axes")?.unwrap_or(false) => Vec::new(),
            None => (0..rank as i64).collect(),
        };
        let axes = axes.iter().map(|axis| Ok(call.axis(*axis, rank)? as i64));
        Ok(ReducedAxes { axes: axes.collect::<Result<_, Refusal>>()?, keeps })
    }

    /// Those axes, which stay.
    fn kept(axes: &[usize]) -> ReducedAxes {
        ReducedAxes { axes: axes.iter().map(|axis| *axis as i64).collect(), keeps: true }
    }

    /// `nn.reduce_NAME` of a value.
    fn emit(&self, call: &mut NodeConversion<'_, '_>, name: &str, x: Value) -> Result<Value, Refusal> {
        if self.axes.is_empty() {
            return Ok(x);
        }
        let open = call.open(x).filter(|open| self.axes.contains(&(open.axis as i64)));
        match (open, name) {
            (None, _) => call.emit(&format!("nn.reduce_{name}"), &[x], &self.attrs(call)),
            (Some(open), "mean") => self.mean_of_elements(call, x, open),
            (Some(open), _) => self.of_elements(call, name, x, open),
        }
    }

    fn attrs(&self, call: &NodeConversion<'_, '_>) -> Vec<(&'static str, Attr)> {
        let keeps = self.keeps.then(|| ("keepdims", call.ctx().unit_attr()));
        [("axes", call.ctx().ints_attr(&self.axes))].into_iter().chain(keeps).collect()
    }

    /// The same along an open axis: padding changes no result.
    fn of_elements(
        &self,
        call: &mut NodeConversion<'_, '_>,
        name: &str,
        x: Value,
        open: OpenAxis,
    ) -> Result<Value, Refusal> {
        let neutral = match name {
            "sum" => 0.0,
            "prod" => 1.0,
            "max" => call.extreme(x, RangeEnd::Least),
            "min" => call.extreme(x, RangeEnd::Greatest),
            other => return Err(format!("`nn.reduce_{other}` of a size that depends on data").into()),
        };
        let x = call.filled(x, open, neutral)?;
        call.emit_open(&format!("nn.reduce_{name}"), &[x], &self.attrs(call), None)
    }

    /// The mean of the elements; without any, it is 0 / 0. Sums have the accumulator type of a mean.
    fn mean_of_elements(
        &self,
        call: &mut NodeConversion<'_, '_>,
        x: Value,
        open: OpenAxis,
    ) -> Result<Value, Refusal> {
        let ctx = call.ctx();
        let elem = call.element(x);
        let shape = call.dims(x)?;
        let wide = match ctx.type_data(elem) {
            TypeData::Float(FloatKind::F16 | FloatKind::Bf16) => ctx.f32(),
            TypeData::Integer { .. } => ctx.int(64),
            _ => elem,
        };
        let wide_x = call.cast(x, wide)?;
        let sum = self.of_elements(call, "sum", wide_x, open)?;
        let others = self.axes.iter().map(|axis| *axis as usize).filter(|axis| *axis != open.axis);
        let others: Vec<Dim> = others.map(|axis| shape[axis]).collect();
        let count = call.folded_count(open, &others)?;
        let count = call.cast(count, wide)?;
        let mean = call.two("nn.div", sum, count)?;
        call.cast(mean, elem)
    }
}

/// The version from which the axes of all reductions except the sum are an operand.
const OPERAND_FROM: i64 = 18;

/// ReduceSum: its axes are an operand from version 13 on.
pub(crate) fn sum(call: &mut NodeConversion<'_, '_>) -> Results {
    let folding = ReducedAxes::of(call, 13)?;
    let x = call.operand(0)?;
    Ok(vec![folding.emit(call, "sum", x)?])
}

fn plain(call: &mut NodeConversion<'_, '_>, name: &str) -> Results {
    let folding = ReducedAxes::of(call, OPERAND_FROM)?;
    let x = call.operand(0)?;
    Ok(vec![folding.emit(call, name, x)?])
}

/// ReduceMean.
pub(crate) fn mean(call: &mut NodeConversion<'_, '_>) -> Results {
    plain(call, "mean")
}

/// ReduceMax.
pub(crate) fn max(call: &mut NodeConversion<'_, '_>) -> Results {
    plain(call, "max")
}

/// ReduceMin.
pub(crate) fn min(call: &mut NodeConversion<'_, '_>) -> Results {
    plain(call, "min")
}

/// ReduceProd.
pub(crate) fn prod(call: &mut NodeConversion<'_, '_>) -> Results {
    plain(call, "prod")
}

/// The sum of a function of the elements, and a function of that sum.
fn mapped(call: &mut NodeConversion<'_, '_>, inner: &str, outer: Option<&str>) -> Results {
    let folding = ReducedAxes::of(call, OPERAND_FROM)?;
    let x = call.operand(0)?;
    let x = call.emit(inner, &[x], &[])?;
    let sum = folding.emit(call, "sum", x)?;
    Ok(vec![outer.map_or(Ok(sum), |outer| call.emit(outer, &[sum], &[]))?])
}

/// ReduceSumSquare.
pub(crate) fn sum_square(call: &mut NodeConversion<'_, '_>) -> Results {
    mapped(call, "nn.square", None)
}

/// ReduceL1: the sum of sizes.
pub(crate) fn l1(call: &mut NodeConversion<'_, '_>) -> Results {
    mapped(call, "nn.abs", None)
}

/// ReduceL2: the root of the sum of squares.
pub(crate) fn l2(call: &mut NodeConversion<'_, '_>) -> Results {
    mapped(call, "nn.square", Some("nn.sqrt"))
}

/// ReduceLogSum.
pub(crate) fn log_sum(call: &mut NodeConversion<'_, '_>) -> Results {
    let sum = plain(call, "sum")?[0];
    Ok(vec![call.emit("nn.log", &[sum], &[])?])
}

/// ReduceLogSumExp: `max + log(sum(e^(x - max)))`; without `max` where that is infinite.
pub(crate) fn log_sum_exp(call: &mut NodeConversion<'_, '_>) -> Results {
    let folding = ReducedAxes::of(call, OPERAND_FROM)?;
    let x = call.operand(0)?;
    let max = ReducedAxes { keeps: true, axes: folding.axes.clone() }.emit(call, "max", x)?;
    let size = call.emit("nn.abs", &[max], &[])?;
    let is_finite = call.with_number("nn.lt", size, f64::INFINITY)?;
    let max = call.where_or(is_finite, max, 0.0)?;
    let centred = call.two("nn.sub", x, max)?;
    let powers = call.emit("nn.exp", &[centred], &[])?;
    let sum = folding.emit(call, "sum", powers)?;
    let log = call.emit("nn.log", &[sum], &[])?;
    let shape = call.dims(log)?;
    let max = call.reshape_to(max, &shape)?;
    Ok(vec![call.two("nn.add", log, max)?])
}

/// LogSoftmax: `x - max - log(sum(e^(x - max)))` along one axis from version 13 on; before, along all
/// dimensions from `axis` on.
pub(crate) fn log_softmax(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let rank = call.rank(x)?;
    let axes: Vec<usize> = match (call.version >= 13, call.node.int("axis")?) {
        (true, axis) => vec![call.axis(axis.unwrap_or(-1), rank)?],
        (false, axis) => (call.position(axis.unwrap_or(1), rank)?..rank).collect(),
    };
    Ok(vec![log_softmax_over(call, x, &axes)?])
}

/// The logarithm of the softmax over some axes.
pub(super) fn log_softmax_over(
    call: &mut NodeConversion<'_, '_>,
    x: Value,
    axes: &[usize],
) -> Result<Value, Refusal> {
    let folding = ReducedAxes::kept(axes);
    let max = folding.emit(call, "max", x)?;
    let centred = call.two("nn.sub", x, max)?;
    let powers = call.emit("nn.exp", &[centred], &[])?;
    let sum = folding.emit(call, "sum", powers)?;
    let log = call.emit("nn.log", &[sum], &[])?;
    call.two("nn.sub", centred, log)
}

/// `(x - mean) / sqrt(variance + epsilon)` over some axes, with the mean and the divisor's reciprocal.
fn normalised(
    call: &mut NodeConversion<'_, '_>,
    x: Value,
    axes: &[usize],
    epsilon: f64,
) -> Result<[Value; 3], Refusal> {
    let folding = ReducedAxes::kept(axes);
    let mean = folding.emit(call, "mean", x)?;
    let centred = call.two("nn.sub", x, mean)?;
    let square = call.emit("nn.square", &[centred], &[])?;
    let variance = folding.emit(call, "mean", square)?;
    let variance = call.with_number("nn.add", variance, epsilon)?;
    let deviation = call.emit("nn.sqrt", &[variance], &[])?;
    let factor = call.emit("nn.reciprocal", &[deviation], &[])?;
    Ok([call.two("nn.mul", centred, factor)?, mean, factor])
}

/// LayerNormalization over the axes from `axis` on, times the second operand, plus the third; then the mean
/// and the reciprocal of the deviation.
pub(crate) fn layer_normalization(call: &mut NodeConversion<'_, '_>) -> Results {
    let (x, scale) = (call.operand(0)?, call.operand(1)?);
    let rank = call.rank(x)?;
    let axis = call.axis(call.node.int("axis")?.unwrap_or(-1), rank)?;
    let epsilon = call.node.float("epsilon")?.unwrap_or(1e-5);
    let [y, mean, factor] = normalised(call, x, &(axis..rank).collect::<Vec<_>>(), epsilon.into())?;
    let mut y = call.two("nn.mul", y, scale)?;
    if let Some(bias) = call.optional(2) {
        y = call.two("nn.add", y, bias)?;
    }
    let stashed = numbered_type(call, "stash_type", call.node.int("stash_type")?.unwrap_or(1))?;
    Ok(vec![y, call.cast(mean, stashed)?, call.cast(factor, stashed)?])
}

/// InstanceNormalization: each channel of each image by itself, times the second operand, plus the third.
pub(crate) fn instance_normalization(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let rank = call.rank(x)?;
    if rank < 3 {
        return Err(format!("an input of {rank} dimensions, expected 3 or more").into());
    }
    let epsilon = call.node.float("epsilon")?.unwrap_or(1e-5);
    if is_f32(call, x) {
        let (scale, bias) = (call.operand(1)?, call.operand(2)?);
        // For an unknown number of channels, 0 means one group for each.
        let groups = channels(call, x)?.known().unwrap_or(0);
        return Ok(vec![grouped(call, [x, scale, bias], groups, epsilon)?]);
    }
    let [y, ..] = normalised(call, x, &(2..rank).collect::<Vec<_>>(), epsilon.into())?;
    Ok(vec![scaled_channels(call, y)?])
}

fn is_f32(call: &NodeConversion<'_, '_>, x: Value) -> bool {
    call.element(x) == call.ctx().f32()
}

/// The size of axis 1.
fn channels(call: &NodeConversion<'_, '_>, x: Value) -> Result<Dim, Refusal> {
    Ok(*call.dims(x)?.get(1).ok_or("an input without channels")?)
}

/// `nn.group_norm` of x, scale and bias, with channels at axis 1.
fn grouped(
    call: &mut NodeConversion<'_, '_>,
    operands: [Value; 3],
    groups: u64,
    epsilon: f32,
) -> Result<Value, Refusal> {
    let axes: Vec<i64> = (2..call.rank(operands[0])? as i64).collect();
    let attrs = [
        ("axis", call.ctx().int_attr(1)),
        ("axes", call.ctx().ints_attr(&axes)),
        ("groups", call.ctx().int_attr(groups as i64)),
        ("epsilon", call.ctx().f32_attr(epsilon)),
    ];
    call.emit("nn.group_norm", &operands, &attrs)
}

/// An operand with a number for each group, expanded to each of its channels.
fn for_each_channel(
    call: &mut NodeConversion<'_, '_>,
    operand: usize,
    groups: u64,
    channels: Dim,
) -> Result<Value, Refusal> {
    let value = call.operand(operand)?;
    if call.version >= 21 {
        return Ok(value);
    }
    let column = call.reshape(value, &[groups, 1])?;
    let in_group = SizeArithmetic(call.ctx()).floor_div(channels, Dim::Known(groups));
    let sizes = call.ctx().dims_attr(&[Dim::Known(groups), in_group]);
    let table = call.emit("nn.broadcast", &[column], &[("shape", sizes)])?;
    call.reshape_to(table, &[channels])
}

/// GroupNormalization: the channels of each of `num_groups` groups together; the factors are those of groups
/// up to version 20, of channels from 21 on.
pub(crate) fn group_normalization(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let shape = call.dims(x)?;
    let channels = channels(call, x)?;
    let groups = call.node.int("num_groups")?.ok_or("`num_groups` is left out")?;
    let groups = u64::try_from(groups).ok().filter(|groups| *groups > 0);
    let sizes = SizeArithmetic(call.ctx());
    let is_divisor = |groups: &u64| !sizes.are_different(sizes.modulo(channels, *groups), Dim::Known(0));
    let groups = groups
        .filter(is_divisor)
        .ok_or_else(|| format!("`num_groups` does not divide {} channels", sizes.text(channels)))?;
    let in_group = sizes.floor_div(channels, Dim::Known(groups));
    let split = [&[shape[0], Dim::Known(groups), in_group], &shape[2..]].concat();
    let epsilon = call.node.float("epsilon")?.unwrap_or(1e-5);
    if is_f32(call, x) {
        let scale = for_each_channel(call, 1, groups, channels)?;
        let bias = for_each_channel(call, 2, groups, channels)?;
        return Ok(vec![grouped(call, [x, scale, bias], groups, epsilon)?]);
    }
    let x = call.reshape_to(x, &split)?;
    let [y, ..] = normalised(call, x, &(2..split.len()).collect::<Vec<_>>(), epsilon.into())?;
    if call.version < 21 {
        let y = scaled_channels(call, y)?;
        return Ok(vec![call.reshape_to(y, &shape)?]);
    }
    let y = call.reshape_to(y, &shape)?;
    Ok(vec![scaled_channels(call, y)?])
}

/// A value times the second operand, plus the third, which have a number for each index of axis 1.
fn scaled_channels(call: &mut NodeConversion<'_, '_>, y: Value) -> Result<Value, Refusal> {
    let shape = call.dims(y)?;
    let mut per_channel = vec![Dim::Known(1); shape.len() - 1];
    per_channel[0] = shape[1];
    let (scale, bias) = (call.operand(1)?, call.operand(2)?);
    let (scale, bias) = (call.reshape_to(scale, &per_channel)?, call.reshape_to(bias, &per_channel)?);
    let y = call.two("nn.mul", y, scale)?;
    call.two("nn.add", y, bias)
}

/// MeanVarianceNormalization over `axes`.
pub(crate) fn mean_variance_normalization(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let rank = call.rank(x)?;
    let axes = call.node.ints("axes")?.unwrap_or(&[0, 2, 3]);
    let axes = axes.iter().map(|axis| call.axis(*axis, rank)).collect::<Result<Vec<_>, _>>()?;
    let folding = ReducedAxes::kept(&axes);
    let mean = folding.emit(call, "mean", x)?;
    let centred = call.two("nn.sub", x, mean)?;
    let square = call.emit("nn.square", &[centred], &[])?;
    let variance = folding.emit(call, "mean", square)?;
    let deviation = call.emit("nn.sqrt", &[variance], &[])?;
    // It is added to the deviation, whereas other normalizations add it to the variance.
    let deviation = call.with_number("nn.add", deviation, 1e-9)?;
    Ok(vec![call.two("nn.div", centred, deviation)?])
}

/// RMSNormalization over the axes from `axis` on, times the second operand.
pub(crate) fn rms_normalization(call: &mut NodeConversion<'_, '_>) -> Results {
    let (x, scale) = (call.operand(0)?, call.operand(1)?);
    let rank = call.rank(x)?;
    let axis = call.axis(call.node.int("axis")?.unwrap_or(-1), rank)?;
    let epsilon = call.node.float("epsilon")?.unwrap_or(1e-5);
    let square = call.emit("nn.square", &[x], &[])?;
    let mean = ReducedAxes::kept(&(axis..rank).collect::<Vec<_>>()).emit(call, "mean", square)?;
    let moved = call.with_number("nn.add", mean, epsilon.into())?;
    let root = call.emit("nn.sqrt", &[moved], &[])?;
    let y = call.two("nn.div", x, root)?;
    Ok(vec![call.two("nn.mul", y, scale)?])
}

/// LpNormalization along an axis, for p = 1 and 2; what has no length stays.
pub(crate) fn lp_normalization(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let rank = call.rank(x)?;
    let axis = call.axis(call.node.int("axis")?.unwrap_or(-1), rank)?;
    let folding = ReducedAxes::kept(&[axis]);
    let norm = match call.node.int("p")?.unwrap_or(2) {
        1 => {
            let sizes = call.emit("nn.abs", &[x], &[])?;
            folding.emit(call, "sum", sizes)?
        }
        2 => {
            let squares = call.emit("nn.square", &[x], &[])?;
            let sum = folding.emit(call, "sum", squares)?;
            call.emit("nn.sqrt", &[sum], &[])?
        }
        p => return Err(format!("`p` {p}, expected 1 or 2").into()),
    };
    let is_zero = call.with_number("nn.eq", norm, 0.0)?;
    let one = call.scalar_like(1.0, norm)?;
    let norm = call.emit("nn.select", &[is_zero, one, norm], &[])?;
    Ok(vec![call.two("nn.div", x, norm)?])
}
