//! ROI align: reads regions of images.

use math::{BoxAxis, BoxSample, Coordinate};

use super::Operand;
use crate::body::OpRef;
use crate::interp::element::{Elem, Lane, read_all, write_all};
use crate::interp::tensor::{EvalError, Tensor};

/// For each bin of each box, the mean or the maximum of its samples of an image.
///
/// # Errors
/// If sizes do not agree, elements have other types, an image does not exist, or a box takes too many
/// samples.
pub fn roi_align(op: OpRef<'_>, operands: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let x = Operand::of(op, operands, 0)?;
    let boxes = Operand::like(op, operands, 1, x.elem)?;
    let images = read_all::<i64>(Elem::of(op.ctx, op.operand_type(2))?, &operands[2].bytes);
    let (&[batch, height, width, channels], &[count, 4]) = (&x.shape[..], &boxes.shape[..]) else {
        return Err("the images or the boxes have other sizes".into());
    };
    let shape = op.result_shape(0).ok_or("has a size that is not known")?;
    let &[_, rows, columns, _] = &shape[..] else { return Err("its result has not four axes".into()) };
    let is_inside = |image: &i64| usize::try_from(*image).is_ok_and(|image| image < batch);
    if images.len() != count || !images.iter().all(is_inside) {
        return Err("there is a box of an image that is not there".into());
    }
    let samples = op.int("samples").and_then(|samples| u64::try_from(samples).ok()).unwrap_or(0);
    let regions = Regions {
        images,
        sizes: [height, width].map(|size| size as u64),
        bins: [rows, columns],
        channels,
        samples,
        is_max: op.text("mode") == Some("max"),
    };
    let bytes = match x.elem {
        Elem::F32 => regions.bytes::<f32>(&x, &boxes)?,
        Elem::F64 => regions.bytes::<f64>(&x, &boxes)?,
        other => return Err(format!("images of `{other}` are not read").into()),
    };
    let shape = [count, rows as usize, columns as usize, channels];
    Ok(vec![Tensor::of_shape(op.ctx, op.result_type(0), &shape, bytes)?])
}

struct Regions {
    images: Vec<i64>,
    sizes: [u64; 2],
    bins: [u64; 2],
    channels: usize,
    samples: u64,
    is_max: bool,
}

/// The samples of a bin that lie in the image.
fn inside<T: Coordinate>(axis: &BoxAxis<T>, bin: u64) -> Vec<BoxSample<T>> {
    (0..axis.samples()).filter_map(|sample| axis.sample(bin, sample)).collect()
}

impl Regions {
    fn bytes<T: Lane + Coordinate>(
        &self,
        x: &Operand<'_>,
        boxes: &Operand<'_>,
    ) -> Result<Vec<u8>, EvalError> {
        let results = self.read::<T>(&read_all(x.elem, x.bytes), &read_all(x.elem, boxes.bytes))?;
        Ok(write_all(x.elem, &results))
    }

    /// The results of all boxes, each `x, y, width, height`.
    fn read<T: Lane + Coordinate>(&self, pixels: &[T], boxes: &[T]) -> Result<Vec<T>, EvalError> {
        let mut results = Vec::new();
        for (corner, image) in boxes.as_chunks::<4>().0.iter().zip(&self.images) {
            let axis = |axis: usize| {
                let along = [corner[1 - axis], corner[3 - axis]];
                BoxAxis::new(along, self.bins[axis], self.samples, self.sizes[axis])
            };
            let (Some(down), Some(across)) = (axis(0), axis(1)) else {
                return Err("there is a box of too many samples".into());
            };
            let bytes = self.sizes.iter().product::<u64>() as usize * self.channels;
            let pixels = &pixels[*image as usize * bytes..][..bytes];
            let samples = (down.samples() * across.samples()) as f64;
            for ys in (0..self.bins[0]).map(|row| inside(&down, row)) {
                for xs in (0..self.bins[1]).map(|column| inside(&across, column)) {
                    for channel in 0..self.channels {
                        results.push(self.bin([&ys, &xs], samples, pixels, channel));
                    }
                }
            }
        }
        Ok(results)
    }

    /// The result of a bin in a channel, from its samples in the image along both axes, and the number of all
    /// samples.
    fn bin<T: Lane + Coordinate>(
        &self,
        [ys, xs]: [&[BoxSample<T>]; 2],
        samples: f64,
        pixels: &[T],
        channel: usize,
    ) -> T {
        let mut terms: Vec<[T; 4]> = Vec::new();
        for y in ys {
            for x in xs {
                let at =
                    |y: usize, x: usize| pixels[(y * self.sizes[1] as usize + x) * self.channels + channel];
                let term =
                    |i: usize, j: usize| y.weights[i] * x.weights[j] * at(y.elements[i], x.elements[j]);
                terms.push([term(0, 0), term(0, 1), term(1, 0), term(1, 1)]);
            }
        }
        if !self.is_max {
            let sum = terms.iter().fold(T::of(0.0), |sum, [a, b, c, d]| sum + (*a + *b + *c + *d));
            return sum / T::of(samples.max(1.0));
        }
        let beyond = ((terms.len() as f64) < samples || terms.is_empty()).then_some(T::of(0.0));
        let all = terms.iter().flatten().copied().chain(beyond);
        all.reduce(|most, term| {
            let wide: f64 = term.into();
            if term > most || wide.is_nan() { term } else { most }
        })
        .expect("0 is one")
    }
}
