//! Conversion of Resize, and of Upsample before it.
//!
//! Each axis is resized separately: an element of the result is a weighted sum of some elements of the
//! operand along the axis. They follow from the position of its centre in the operand, by the specification
//! of the coordinate modes. Sums of `f32` become `nn.resample`, unless a product with a matrix of weights
//! takes less time; of other floats, few weights become one gather each. If all pixels are repeated an
//! integer number of times, the conversion works at any size.

use ir::dims::{self, SizeArithmetic};
use ir::{Dim, DimExpr, TypeData, Value};

use crate::onnx::call::{MOST_WRITTEN, NodeConversion, Refusal, Results};

/// The attributes.
struct ResizeMode<'a> {
    interpolation: &'a str,
    transform: &'a str,
    nearest: NearestElement,
    cubic: f64,
    excludes_outside: bool,
    smooths: bool,
    outside: f64,
}

/// The choice between the two elements around a centre.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NearestElement {
    /// The nearer one; of two equally near ones the lower.
    RoundPreferFloor,
    /// The nearer one; of two equally near ones the upper.
    RoundPreferCeil,
    Floor,
    Ceil,
    /// Before version 11: the upper one when shrinking, the lower one when growing, as in onnxruntime and
    /// ONNX's own test `resize_downsample_nearest`.
    Old,
}

impl NearestElement {
    fn of(call: &NodeConversion<'_, '_>) -> Result<NearestElement, Refusal> {
        match call.node.text("nearest_mode")? {
            None if call.version < 11 => Ok(NearestElement::Old),
            None | Some("round_prefer_floor") => Ok(NearestElement::RoundPreferFloor),
            Some("round_prefer_ceil") => Ok(NearestElement::RoundPreferCeil),
            Some("floor") => Ok(NearestElement::Floor),
            Some("ceil") => Ok(NearestElement::Ceil),
            Some(other) => Err(format!("`nearest_mode` {other:?}").into()),
        }
    }
}

impl<'a> ResizeMode<'a> {
    fn of(call: &NodeConversion<'_, 'a>) -> Result<ResizeMode<'a>, Refusal> {
        let old = call.version < 11;
        let transform = call.node.text("coordinate_transformation_mode")?;
        Ok(ResizeMode {
            interpolation: call.node.text("mode")?.unwrap_or("nearest"),
            transform: transform.unwrap_or(if old { "asymmetric" } else { "half_pixel" }),
            nearest: NearestElement::of(call)?,
            cubic: call.number("cubic_coeff_a", -0.75)?,
            excludes_outside: call.node.truth("exclude_outside")?.unwrap_or(false),
            smooths: call.node.truth("antialias")?.unwrap_or(false),
            outside: call.number("extrapolation_value", 0.0)?,
        })
    }
}

/// Resize.
pub(crate) fn resize(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let shape = call.dims(x)?;
    let mode = ResizeMode::of(call)?;
    let all_axes = call.node.ints("axes")?.is_none();
    let keeps_ratio = call.node.text("keep_aspect_ratio_policy")?.is_some_and(|policy| policy != "stretch");
    if mode.interpolation == "nearest"
        && all_axes
        && !keeps_ratio
        && is_plain(&mode)
        && let Ok(times) = whole_factors(call, &shape)
    {
        let counts: Vec<i64> = times.iter().map(|times| times.cast_signed()).collect();
        let counts = [("counts", call.ctx().ints_attr(&counts))];
        return Ok(vec![call.emit("nn.repeat", &[x], &counts)?]);
    }
    if mode.interpolation != "nearest" && !matches!(call.ctx().type_data(call.element(x)), TypeData::Float(_))
    {
        return Err("interpolated integers, expected floats".into());
    }
    let mut lines = lines(call, x, &mode)?;
    // The axis that grows least first, so that there are fewer sums along the others. Sums along the last
    // axis are the slowest: of axes with equal factors it is the first if they grow, the last if they shrink.
    let order = |line: &AxisResize| if line.count < line.size { line.axis } else { usize::MAX - line.axis };
    lines.sort_by(|a, b| (a.count * b.size, order(a)).cmp(&(b.count * a.size, order(b))));
    let mut y = x;
    for line in lines {
        y = line.emit(call, y, &mode)?;
    }
    Ok(vec![y])
}

/// Whether the attributes choose repeated pixels if the factors are integers.
fn is_plain(mode: &ResizeMode<'_>) -> bool {
    let rounds = matches!(mode.nearest, NearestElement::RoundPreferFloor | NearestElement::RoundPreferCeil);
    match mode.transform {
        "asymmetric" => matches!(mode.nearest, NearestElement::Floor | NearestElement::Old),
        "half_pixel" | "half_pixel_symmetric" | "pytorch_half_pixel" => rounds,
        _ => false,
    }
}

fn scales(call: &NodeConversion<'_, '_>) -> Result<Option<Vec<f32>>, Refusal> {
    let scales = match call.version {
        ..9 => call.node.floats("scales")?.map(<[f32]>::to_vec),
        9 | 10 => call.known_floats(1)?,
        _ => call.known_floats(2)?,
    };
    Ok(scales.filter(|scales| !scales.is_empty()))
}

/// The integer factor of each axis.
fn whole_factors(call: &NodeConversion<'_, '_>, shape: &[Dim]) -> Result<Vec<u64>, Refusal> {
    if let Some(scales) = scales(call)? {
        let whole =
            |scale: &f32| (scale.fract() == 0.0 && (1.0..65536.0).contains(scale)).then_some(*scale as u64);
        let times: Option<Vec<u64>> = scales.iter().map(whole).collect();
        return times
            .filter(|times| times.len() == shape.len())
            .ok_or_else(|| format!("scales {scales:?}, expected a whole number for each axis").into());
    }
    let ctx = call.ctx();
    let sizes = call.known_sizes(3)?.ok_or("scales and sizes are left out")?;
    let times = sizes.iter().zip(shape).map(|(size, own)| {
        let own = SizeArithmetic(ctx).expr(*own)?;
        let times = ctx.dim_expr(dims::floor_div(ctx, *size, own)?).constant().filter(|times| *times > 0)?;
        let is_whole = dims::mul(ctx, own, dims::constant(ctx, times))? == *size;
        is_whole.then_some(times.unsigned_abs())
    });
    let times: Option<Vec<u64>> = times.collect();
    times.filter(|_| sizes.len() == shape.len()).ok_or_else(|| {
        let sizes: Vec<Dim> = sizes.iter().map(|size| dims::size(ctx, *size)).collect();
        let (sizes, own) = (SizeArithmetic(ctx).list(&sizes), SizeArithmetic(ctx).list(shape));
        format!("sizes {sizes}, expected multiples of {own}").into()
    })
}

/// The resizing of an axis.
struct AxisResize {
    axis: usize,
    size: u64,
    scale: f64,
    count: u64,
    /// The start and end of the region, from 0 to 1.
    region: [f64; 2],
}

/// Products with a matrix that are computed while a sum of elements along an axis adds one: 2 to 3 along the
/// last axis, 4 to 16 along others (AMD EPYC, Zen 3).
const PRODUCT_SPEED: usize = 8;
/// The greatest number of elements of a result along an axis.
const MOST: f64 = 1e6;

/// The axes that are resized.
fn lines(call: &NodeConversion<'_, '_>, x: Value, mode: &ResizeMode<'_>) -> Result<Vec<AxisResize>, Refusal> {
    let dims = call.dims(x)?;
    // An axis of unknown size counts as 1 here, and must keep its size.
    let shape: Vec<u64> = dims.iter().map(|dim| dim.known().unwrap_or(1)).collect();
    let axes = match call.node.ints("axes")? {
        Some(axes) => axes.iter().map(|axis| call.axis(*axis, shape.len())).collect::<Result<_, _>>()?,
        None => (0..shape.len()).collect::<Vec<_>>(),
    };
    let region = if mode.transform == "tf_crop_and_resize" { call.known_floats(1)? } else { None };
    let region = region.unwrap_or_else(|| [vec![0.0; axes.len()], vec![1.0; axes.len()]].concat());
    if region.len() != 2 * axes.len() {
        return Err("a region that is not two numbers for each axis".into());
    }
    let (factors, counts): (Vec<f64>, Vec<f64>) = match scales(call)? {
        Some(scales) if scales.len() == axes.len() => {
            // Rounded to `f32` as ONNX's shape inference does: 10 elements at a scale of 0.7 are 7.
            let count = |(scale, axis): (&f32, &usize)| f64::from((scale * shape[*axis] as f32).floor());
            let counts: Vec<f64> = scales.iter().zip(&axes).map(count).collect();
            // The standard multiplies by the region's length, its shape inference does not.
            let shortened = |index: usize| {
                let length = region[axes.len() + index] - region[index];
                (scales[index] * shape[axes[index]] as f32 * length).floor()
            };
            if let Some(index) = (0..axes.len()).find(|index| f64::from(shortened(*index)) != counts[*index])
            {
                return Err(format!("scales beside a region of axis {}, expected sizes", axes[index]).into());
            }
            (scales.into_iter().map(f64::from).collect(), counts)
        }
        Some(scales) => return Err(format!("{} scales for {} axes", scales.len(), axes.len()).into()),
        None => by_sizes(call, &axes.iter().map(|axis| dims[*axis]).collect::<Vec<_>>())?,
    };
    let mut lines = Vec::new();
    for (index, &axis) in axes.iter().enumerate() {
        let (scale, count) = (factors[index], counts[index]);
        if dims[axis].known().is_none() && (scale != 1.0 || mode.transform == "tf_crop_and_resize") {
            let size = SizeArithmetic(call.ctx()).text(dims[axis]);
            return Err(format!("axis {axis} of size {size} is resized, expected a known size").into());
        }
        let refused = || Refusal::from(format!("{count} elements along axis {axis}"));
        if !(1.0..f64::INFINITY).contains(&count) || !scale.is_finite() || shape[axis] == 0 {
            return Err(refused());
        }
        let is_resized = scale != 1.0 || count != shape[axis] as f64;
        if !is_resized && mode.transform != "tf_crop_and_resize" {
            continue;
        }
        if count >= MOST {
            return Err(refused());
        }
        if shape[axis] as f64 > MOST {
            return Err(format!("axis {axis} of {} elements is resized", shape[axis]).into());
        }
        let region = [region[index].into(), region[axes.len() + index].into()];
        lines.push(AxisResize { axis, size: shape[axis], scale, count: count as u64, region });
    }
    Ok(lines)
}

/// Scales and sizes from requested sizes.
fn by_sizes(call: &NodeConversion<'_, '_>, own: &[Dim]) -> Result<(Vec<f64>, Vec<f64>), Refusal> {
    let given = call.known_sizes(3)?.ok_or("scales and sizes are left out")?;
    if given.len() != own.len() {
        return Err(format!("{} sizes for {} axes", given.len(), own.len()).into());
    }
    let sizes = SizeArithmetic(call.ctx());
    let number = |(given, own): (&DimExpr, &Dim)| match call.ctx().dim_expr(*given).constant() {
        Some(number) if own.known().is_some() => Ok(number as f64),
        None if sizes.are_equal(dims::size(call.ctx(), *given), *own) && own.known().is_none() => Ok(1.0),
        _ => Err(Refusal::from("sizes that are not known, expected known ones, or those of the input")),
    };
    let wanted: Vec<f64> = given.iter().zip(own).map(number).collect::<Result<_, _>>()?;
    let own: Vec<f64> = own.iter().map(|dim| dim.known().unwrap_or(1) as f64).collect();
    let scales: Vec<f64> = wanted.iter().zip(&own).map(|(wanted, own)| *wanted / own).collect();
    let one = match call.node.text("keep_aspect_ratio_policy")?.unwrap_or("stretch") {
        "stretch" => return Ok((scales, wanted)),
        "not_larger" => scales.iter().copied().fold(f64::INFINITY, f64::min),
        "not_smaller" => scales.iter().copied().fold(0.0, f64::max),
        other => return Err(format!("`keep_aspect_ratio_policy` {other:?}").into()),
    };
    Ok((vec![one; own.len()], own.iter().map(|own| (one * own + 0.5).floor()).collect()))
}

/// The elements of the operand in the sum for an element of the result, with their weights.
type Taps = Vec<(u64, f64)>;

impl AxisResize {
    /// The position in the operand of the centre of a result's element.
    fn centre(&self, mode: &ResizeMode<'_>, index: u64) -> Result<f64, Refusal> {
        let (x, size) = (index as f64, self.size as f64);
        let length = self.scale * size;
        // The scale may be a third, rounded to `f32`.
        let is_one = length as f32 == 1.0;
        let half_pixel = (x + 0.5) / self.scale - 0.5;
        Ok(match mode.transform {
            "align_corners" if is_one => 0.0,
            "align_corners" => x * (size - 1.0) / (length - 1.0),
            // As it was computed in those versions.
            "asymmetric" if mode.nearest == NearestElement::Old => f64::from(x as f32 / self.scale as f32),
            "asymmetric" => x / self.scale,
            "tf_crop_and_resize" => {
                let [start, end] = self.region;
                let inside = if is_one {
                    (end - start) * (size - 1.0) / 2.0
                } else {
                    x * (end - start) * (size - 1.0) / (length - 1.0)
                };
                inside + start * (size - 1.0)
            }
            "pytorch_half_pixel" if is_one => 0.0,
            "half_pixel" | "pytorch_half_pixel" => half_pixel,
            "half_pixel_symmetric" => size / 2.0 * (1.0 - self.count as f64 / length) + half_pixel,
            other => return Err(format!("`coordinate_transformation_mode` {other:?}").into()),
        })
    }

    fn taps(&self, mode: &ResizeMode<'_>, centre: f64) -> Result<Taps, Refusal> {
        let below = centre.floor();
        let ratio = centre - below;
        let width = if mode.smooths { self.scale.min(1.0) } else { 1.0 };
        let (reach, weight): (f64, &dyn Fn(f64) -> f64) = match mode.interpolation {
            "nearest" => {
                let up = match mode.nearest {
                    NearestElement::RoundPreferFloor => ratio > 0.5,
                    NearestElement::RoundPreferCeil => ratio >= 0.5,
                    NearestElement::Floor => false,
                    NearestElement::Ceil => ratio > 0.0,
                    NearestElement::Old => self.scale < 1.0 && ratio > 0.0,
                };
                return Ok(vec![(self.inside(below + f64::from(u8::from(up))), 1.0)]);
            }
            "linear" => (1.0, &|x: f64| (1.0 - x.abs()).max(0.0)),
            "cubic" => (2.0, &|x: f64| cubic(x.abs(), mode.cubic)),
            other => return Err(format!("`mode` {other:?}, expected nearest, linear or cubic").into()),
        };
        let reach = (reach / width).ceil() as i64;
        let positions = (-reach..=reach).map(|step| below + step as f64);
        let mut all: Vec<(f64, f64)> = positions.map(|at| (at, weight((at - centre) * width))).collect();
        if mode.excludes_outside {
            all.retain(|(at, _)| (0.0..self.size as f64).contains(at));
        }
        let sum: f64 = all.iter().map(|(_, weight)| weight).sum();
        let mut taps = Taps::new();
        for (at, weight) in all.into_iter().filter(|(_, weight)| *weight != 0.0) {
            let at = self.inside(at);
            match taps.iter_mut().find(|tap| tap.0 == at) {
                Some(tap) => tap.1 += weight / sum,
                None => taps.push((at, weight / sum)),
            }
        }
        // With a region, elements outside of the image are overwritten.
        match (taps.is_empty(), mode.transform) {
            (false, _) => Ok(taps),
            (true, "tf_crop_and_resize") => Ok(vec![(self.inside(below), 1.0)]),
            _ => Err("an element of nothing, as `exclude_outside` leaves none around it".into()),
        }
    }

    /// The element at a position, or the nearest one.
    fn inside(&self, at: f64) -> u64 {
        at.clamp(0.0, (self.size - 1) as f64) as u64
    }

    fn emit(
        &self,
        call: &mut NodeConversion<'_, '_>,
        x: Value,
        mode: &ResizeMode<'_>,
    ) -> Result<Value, Refusal> {
        let centres = (0..self.count).map(|index| self.centre(mode, index)).collect::<Result<Vec<_>, _>>()?;
        let taps = centres.iter().map(|centre| self.taps(mode, *centre)).collect::<Result<Vec<_>, _>>()?;
        let most = most_taps(&taps);
        let is_f32 = call.element(x) == call.ctx().f32();
        let y = if is_f32 && (most <= 4 || (most * PRODUCT_SPEED) as u64 <= self.size) {
            self.resampled(call, x, &taps)?
        } else if most <= 4 {
            self.gathered(call, x, &taps)?
        } else {
            self.product(call, x, &taps)?
        };
        if mode.transform != "tf_crop_and_resize" {
            return Ok(y);
        }
        let is_inside = |centre: &f64| f64::from(u8::from((0.0..=(self.size - 1) as f64).contains(centre)));
        let flags: Vec<f64> = centres.iter().map(is_inside).collect();
        let along = self.along(call, &flags, y)?;
        let inside = call.with_number("nn.ne", along, 0.0)?;
        call.where_or(inside, y, mode.outside)
    }

    /// Numbers for each element along the axis.
    fn along(
        &self,
        call: &mut NodeConversion<'_, '_>,
        numbers: &[f64],
        like: Value,
    ) -> Result<Value, Refusal> {
        let mut shape = vec![1; call.rank(like)?];
        shape[self.axis] = self.count;
        call.numbers_like(numbers, &shape, like)
    }

    fn resampled(
        &self,
        call: &mut NodeConversion<'_, '_>,
        x: Value,
        taps: &[Taps],
    ) -> Result<Value, Refusal> {
        let most = most_taps(taps);
        let all: Vec<(u64, f64)> =
            (0..most).flat_map(|number| taps.iter().map(move |taps| tap(taps, number))).collect();
        let places: Vec<i64> = all.iter().map(|(place, _)| place.cast_signed()).collect();
        let weights: Vec<f64> = all.iter().map(|(_, weight)| *weight).collect();
        let places = call.int64_constant(&places, &[most as u64, self.count])?;
        let weights = call.numbers_like(&weights, &[most as u64, self.count], x)?;
        let axis = [("axis", call.ctx().int_attr(self.axis as i64))];
        call.emit("nn.resample", &[x, places, weights], &axis)
    }

    fn gathered(&self, call: &mut NodeConversion<'_, '_>, x: Value, taps: &[Taps]) -> Result<Value, Refusal> {
        let mut sum = None;
        for number in 0..most_taps(taps) {
            let places: Vec<i64> = taps.iter().map(|taps| tap(taps, number).0.cast_signed()).collect();
            let weights: Vec<f64> = taps.iter().map(|taps| tap(taps, number).1).collect();
            let places = call.int64_constant(&places, &[self.count])?;
            let mut term = call.picked(x, places, self.axis)?;
            if weights.iter().any(|weight| *weight != 1.0) {
                let weights = self.along(call, &weights, term)?;
                term = call.two("nn.mul", term, weights)?;
            }
            sum = Some(sum.map_or(Ok(term), |sum| call.two("nn.add", sum, term))?);
        }
        sum.ok_or_else(|| "an element without any that it is made of".into())
    }

    fn product(&self, call: &mut NodeConversion<'_, '_>, x: Value, taps: &[Taps]) -> Result<Value, Refusal> {
        let shape = call.dims(x)?;
        if self.count.saturating_mul(self.size) > MOST_WRITTEN {
            return Err(format!("{} by {} weights of a sum", self.count, self.size).into());
        }
        let mut weights = vec![0.0; (self.count * self.size) as usize];
        for (row, taps) in taps.iter().enumerate() {
            for (at, weight) in taps {
                weights[row * self.size as usize + *at as usize] = *weight;
            }
        }
        let weights = call.numbers_like(&weights, &[self.count, self.size], x)?;
        let (outer, inner) = (&shape[..self.axis], &shape[self.axis + 1..]);
        let sizes = SizeArithmetic(call.ctx());
        let lines = [sizes.product(outer), Dim::Known(self.size), sizes.product(inner)];
        let lines = call.reshape_to(x, &lines)?;
        let product = call.two("nn.matmul", weights, lines)?;
        call.reshape_to(product, &[outer, &[Dim::Known(self.count)], inner].concat())
    }
}

/// The number of elements of the longest sum.
fn most_taps(taps: &[Taps]) -> usize {
    taps.iter().map(Vec::len).max().unwrap_or(0)
}

/// An element of a sum; where there are fewer, the first with a weight of 0.
fn tap(taps: &Taps, number: usize) -> (u64, f64) {
    taps.get(number).copied().unwrap_or((taps[0].0, 0.0))
}

/// The kernel of Keys (1981) with the coefficient `a`, at a distance.
fn cubic(x: f64, a: f64) -> f64 {
    match x {
        ..=1.0 => ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0,
        ..2.0 => ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a,
        _ => 0.0,
    }
}
