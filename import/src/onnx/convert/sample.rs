//! Conversion of GridSample and AffineGrid: images sampled at computed positions.

use ir::{Dim, Value};

use super::pick::broadcast;
use crate::onnx::call::{NodeConversion, Refusal, Results};

/// The padding mode: the values beyond the border of an image.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BorderMode {
    Zeros,
    Border,
    Reflection,
}

/// The weight of each element that is read along an axis, and its index.
pub(super) struct Tap {
    /// The index, of 64 bits and in range.
    pub(super) index: Value,
    /// The weight; none for 1.
    pub(super) weight: Option<Value>,
    /// Whether the element exists; none if it always does.
    pub(super) exists: Option<Value>,
}

impl Tap {
    /// The slices of `pixels` at the index, weighted; zeros for missing elements.
    pub(super) fn read(&self, call: &mut NodeConversion<'_, '_>, pixels: Value) -> Result<Value, Refusal> {
        let mut term = call.picked(pixels, self.index, 0)?;
        let shape = call.dims(self.index)?;
        let each = [&shape[..], &[Dim::Known(1)]].concat();
        if let Some(exists) = self.exists {
            let exists = broadcast(call, exists, &shape)?;
            let exists = call.reshape_to(exists, &each)?;
            term = call.where_or(exists, term, 0.0)?;
        }
        if let Some(weight) = self.weight {
            let for_all = broadcast(call, weight, &shape)?;
            let for_channels = call.reshape_to(for_all, &each)?;
            let factor = call.cast(for_channels, call.element(pixels))?;
            term = call.two("nn.mul", term, factor)?;
        }
        Ok(term)
    }
}

/// An axis of an image.
pub(super) struct ImageAxis {
    size: u64,
    beyond: BorderMode,
    aligns_corners: bool,
}

impl ImageAxis {
    /// An axis with positions in elements, and zeros beyond the border.
    pub(super) fn of_pixels(size: u64) -> ImageAxis {
        ImageAxis { size, beyond: BorderMode::Zeros, aligns_corners: true }
    }

    /// Coordinates from -1 to 1 in elements.
    fn in_elements(&self, call: &mut NodeConversion<'_, '_>, x: Value) -> Result<Value, Refusal> {
        let size = self.size as f64;
        let moved = call.with_number("nn.add", x, 1.0)?;
        if self.aligns_corners {
            let half = call.with_number("nn.div", moved, 2.0)?;
            return call.with_number("nn.mul", half, size - 1.0);
        }
        let scaled = call.with_number("nn.mul", moved, size)?;
        let scaled = call.with_number("nn.sub", scaled, 1.0)?;
        call.with_number("nn.div", scaled, 2.0)
    }

    /// The position that replaces one beyond the border. (Zeros are handled when elements are read.)
    fn brought_inside(&self, call: &mut NodeConversion<'_, '_>, x: Value) -> Result<Value, Refusal> {
        let last = self.size as f64 - 1.0;
        match self.beyond {
            BorderMode::Zeros => Ok(x),
            BorderMode::Border => {
                let least = if self.aligns_corners { 0.0 } else { -0.5 };
                let after = call.with_number("nn.ge", x, least)?;
                let before = call.with_number("nn.le", x, last - least)?;
                let is_inside = call.two("nn.and", after, before)?;
                let below = call.with_number("nn.max", x, 0.0)?;
                let cut = call.with_number("nn.min", below, last)?;
                call.select(is_inside, x, cut)
            }
            BorderMode::Reflection => {
                let least = if self.aligns_corners { 0.0 } else { -0.5 };
                let range = last - 2.0 * least;
                if range == 0.0 {
                    return call.with_number("nn.mul", x, 0.0);
                }
                let from_least = call.with_number("nn.sub", x, least)?;
                let distance = call.one("nn.abs", from_least)?;
                let periods = call.with_number("nn.div", distance, 2.0 * range)?;
                let periods = call.one("nn.floor", periods)?;
                let whole = call.with_number("nn.mul", periods, 2.0 * range)?;
                let rest = call.two("nn.sub", distance, whole)?;
                let there = call.scalar_like(2.0 * range, rest)?;
                let back = call.two("nn.sub", there, rest)?;
                let inside = call.two("nn.min", rest, back)?;
                call.with_number("nn.add", inside, least)
            }
        }
    }

    /// The element at an integer position.
    fn element(
        &self,
        call: &mut NodeConversion<'_, '_>,
        place: Value,
        weight: Option<Value>,
    ) -> Result<Tap, Refusal> {
        let last = self.size as f64 - 1.0;
        let inside = self.brought_inside(call, place)?;
        let exists = if self.beyond == BorderMode::Zeros {
            let after = call.with_number("nn.ge", inside, 0.0)?;
            let before = call.with_number("nn.le", inside, last)?;
            Some(call.two("nn.and", after, before)?)
        } else {
            None
        };
        let least = call.with_number("nn.max", inside, 0.0)?;
        let cut = call.with_number("nn.min", least, last)?;
        let int64 = call.ctx().int(64);
        let index = call.cast(cut, int64)?;
        Ok(Tap { index, weight, exists })
    }

    /// The taps of an axis at coordinates from -1 to 1.
    fn taps(&self, call: &mut NodeConversion<'_, '_>, x: Value, mode: &str) -> Result<Vec<Tap>, Refusal> {
        let place = self.in_elements(call, x)?;
        self.taps_at(call, place, mode)
    }

    /// The taps at positions in elements.
    pub(super) fn taps_at(
        &self,
        call: &mut NodeConversion<'_, '_>,
        mut place: Value,
        mode: &str,
    ) -> Result<Vec<Tap>, Refusal> {
        if mode == "nearest" {
            place = call.one("nn.round", place)?;
        }
        let place = self.brought_inside(call, place)?;
        if mode == "nearest" {
            return Ok(vec![self.element(call, place, None)?]);
        }
        let below = call.one("nn.floor", place)?;
        let ratio = call.two("nn.sub", place, below)?;
        let steps = if mode == "cubic" { -1..=2 } else { 0..=1 };
        let mut taps = Vec::new();
        for step in steps {
            let at = call.with_number("nn.add", below, f64::from(step))?;
            let step = call.scalar_like(f64::from(step), ratio)?;
            let distance = call.two("nn.sub", ratio, step)?;
            let distance = call.one("nn.abs", distance)?;
            let weight = if mode == "cubic" { cubic(call, distance)? } else { falling(call, distance)? };
            taps.push(self.element(call, at, Some(weight))?);
        }
        Ok(taps)
    }
}

/// `1 - x`.
fn falling(call: &mut NodeConversion<'_, '_>, x: Value) -> Result<Value, Refusal> {
    let one = call.scalar_like(1.0, x)?;
    call.two("nn.sub", one, x)
}

/// A polynomial, its highest coefficient first.
fn polynomial(call: &mut NodeConversion<'_, '_>, x: Value, coefficients: &[f64]) -> Result<Value, Refusal> {
    let mut sum = call.scalar_like(coefficients[0], x)?;
    for coefficient in &coefficients[1..] {
        sum = call.two("nn.mul", sum, x)?;
        sum = call.with_number("nn.add", sum, *coefficient)?;
    }
    Ok(sum)
}

/// The kernel of Keys (1981) with the coefficient -0.75, at distances up to 2.
fn cubic(call: &mut NodeConversion<'_, '_>, x: Value) -> Result<Value, Refusal> {
    let a = -0.75;
    let near = polynomial(call, x, &[a + 2.0, -(a + 3.0), 0.0, 1.0])?;
    let far = polynomial(call, x, &[a, -5.0 * a, 8.0 * a, -4.0 * a])?;
    let is_near = call.with_number("nn.le", x, 1.0)?;
    call.select(is_near, near, far)
}

/// GridSample.
pub(crate) fn grid_sample(call: &mut NodeConversion<'_, '_>) -> Results {
    let (x, grid) = (call.operand(0)?, call.operand(1)?);
    let (shape, places) = (call.shape(x)?, call.shape(grid)?);
    let rank = shape.len().saturating_sub(2);
    if rank == 0 || places.len() != shape.len() || places[rank + 1] != rank as u64 || shape.contains(&0) {
        return Err(format!("an image {shape:?} and a grid {places:?}").into());
    }
    let (batch, channels, spatial) = (shape[0], shape[1], &shape[2..]);
    let mode = match call.node.text("mode")?.unwrap_or("linear") {
        "nearest" => "nearest",
        "linear" | "bilinear" => "linear",
        "cubic" | "bicubic" => "cubic",
        other => return Err(format!("`mode` {other:?}, expected nearest, linear or cubic").into()),
    };
    let beyond = match call.node.text("padding_mode")?.unwrap_or("zeros") {
        "zeros" => BorderMode::Zeros,
        "border" => BorderMode::Border,
        "reflection" => BorderMode::Reflection,
        other => return Err(format!("`padding_mode` {other:?}").into()),
    };
    let aligns_corners = call.node.truth("align_corners")?.unwrap_or(false);
    let count: u64 = places[1..=rank].iter().product();
    let area: u64 = spatial.iter().product();
    let points = call.reshape(grid, &[batch, count, rank as u64])?;
    let line = call.indices_along(Dim::Known(batch), 0, 2)?;
    let first = call.with_number("nn.mul", line, area as f64)?;
    let mut taps = vec![Tap { index: first, weight: None, exists: None }];
    let mut inside = area;
    for (number, size) in spatial.iter().enumerate() {
        let axis = ImageAxis { size: *size, beyond, aligns_corners };
        inside /= size;
        let along = call.part(points, 2, Dim::Known((rank - 1 - number) as u64), Dim::Known(1))?;
        let along = call.reshape(along, &[batch, count])?;
        let own = axis.taps(call, along, mode)?;
        taps = crossed(call, &taps, &own, inside)?;
    }
    let last_first: Vec<i64> = [0].into_iter().chain(2..2 + rank as i64).chain([1]).collect();
    let pixels = call.transposed(x, &last_first)?;
    let pixels = call.reshape(pixels, &[batch * area, channels])?;
    let mut sum = None;
    for tap in taps {
        let term = tap.read(call, pixels)?;
        sum = Some(sum.map_or(Ok(term), |sum| call.two("nn.add", sum, term))?);
    }
    let sum = sum.ok_or("nothing is read")?;
    let turned = call.transposed(sum, &[0, 2, 1])?;
    Ok(vec![call.reshape(turned, &[&[batch, channels], &places[1..=rank]].concat())?])
}

/// The taps of an image: for all taps of its outer axes, all taps of the next.
pub(super) fn crossed(
    call: &mut NodeConversion<'_, '_>,
    outer: &[Tap],
    own: &[Tap],
    inside: u64,
) -> Result<Vec<Tap>, Refusal> {
    let mut taps = Vec::new();
    for a in outer {
        for b in own {
            let distance = call.with_number("nn.mul", b.index, inside as f64)?;
            let index = call.two("nn.add", a.index, distance)?;
            let mut both = |name: &str, a: Option<Value>, b: Option<Value>| match (a, b) {
                (Some(a), Some(b)) => call.two(name, a, b).map(Some),
                (one, other) => Ok(one.or(other)),
            };
            let weight = both("nn.mul", a.weight, b.weight)?;
            let exists = both("nn.and", a.exists, b.exists)?;
            taps.push(Tap { index, weight, exists });
        }
    }
    Ok(taps)
}

/// AffineGrid: for each element of an image, where a matrix sends it, from -1 to 1.
pub(crate) fn affine_grid(call: &mut NodeConversion<'_, '_>) -> Results {
    let theta = call.operand(0)?;
    let sizes = call.known_ints(1)?.ok_or("the size is left out")?;
    let sizes: Option<Vec<u64>> = sizes
        .iter()
        .map(|size| u64::try_from(*size).ok().filter(|size| (1..1 << 20).contains(size)))
        .collect();
    let sizes = sizes.filter(|sizes| (4..=5).contains(&sizes.len())).ok_or("sizes of no image")?;
    let spatial = &sizes[2..];
    let rank = spatial.len();
    let count: u64 = spatial.iter().product();
    if count > 1 << 24 || call.shape(theta)? != [sizes[0], rank as u64, rank as u64 + 1] {
        return Err("a matrix that is not one for each image".into());
    }
    let aligns_corners = call.node.truth("align_corners")?.unwrap_or(false);
    let coordinate = |index: u64, size: u64| match (aligns_corners, size) {
        (true, 1) => 0.0,
        (true, size) => 2.0 * index as f64 / (size - 1) as f64 - 1.0,
        (false, size) => (2 * index + 1) as f64 / size as f64 - 1.0,
    };
    let mut points = Vec::new();
    for at in 0..count {
        let mut rest = at;
        for size in spatial.iter().rev() {
            points.push(coordinate(rest % size, *size));
            rest /= size;
        }
        points.push(1.0);
    }
    let points = call.numbers_like(&points, &[count, rank as u64 + 1], theta)?;
    let turned = call.transposed(theta, &[0, 2, 1])?;
    let grid = call.two("nn.matmul", points, turned)?;
    Ok(vec![call.reshape(grid, &[&[sizes[0]], spatial, &[rank as u64]].concat())?])
}
