//! Regions of an image: the samples of a box's bins along an axis.
//!
//! ```text
//! bin = length / bins,   samples = ceil(bin) unless their number is given
//! place = start + index * bin + (sample + 0.5) * bin / samples
//! ```
//!
//! A place between two elements is interpolated from both, weighted by its distance. A place at most one
//! element beyond the border takes the border's element, and one further away is not in the image. Source: He
//! et al., Mask R-CNN (2017), in the definition of ONNX's RoiAlign. Arithmetic is that of the boxes' type,
//! step by step, since the number of samples jumps.

use std::ops::{Add, Div, Mul, Range, Sub};

/// The most samples of a bin along an axis. Up to here their places are distinct, and a walk over those near
/// the image is as short as the image.
pub const MOST_SAMPLES: u64 = 1 << 20;

/// A float type of boxes.
pub trait Coordinate:
    Copy
    + Into<f64>
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
{
    /// The nearest float to a number.
    fn of(number: f64) -> Self;
}

impl Coordinate for f32 {
    #[inline(always)]
    fn of(number: f64) -> f32 {
        number as f32
    }
}

impl Coordinate for f64 {
    #[inline(always)]
    fn of(number: f64) -> f64 {
        number
    }
}

/// A box along an axis of an image.
#[derive(Clone, Copy, Debug)]
pub struct BoxAxis<T> {
    start: T,
    bin: T,
    samples: u64,
    size: u64,
}

/// The two elements that a sample interpolates, with their weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoxSample<T> {
    /// The indices of the elements, equal at the border.
    pub elements: [usize; 2],
    /// The weight of each element.
    pub weights: [T; 2],
}

impl<T: Coordinate> BoxAxis<T> {
    /// A box from `start` on, with this number of bins, each with the given number of samples, or with one
    /// for each element of its length if that number is 0, on an axis of `size` elements. None if the number
    /// of samples is NaN, or above [`MOST_SAMPLES`].
    #[inline(always)]
    pub fn new([start, length]: [T; 2], bins: u64, samples: u64, size: u64) -> Option<BoxAxis<T>> {
        let bin = length / T::of(bins as f64);
        if samples > 0 {
            return Some(BoxAxis { start, bin, samples, size });
        }
        let wanted: f64 = bin.into();
        let is_possible = wanted <= MOST_SAMPLES as f64;
        // A negative length has no samples.
        is_possible.then(|| BoxAxis { start, bin, samples: wanted.ceil() as u64, size })
    }

    /// The number of samples of a bin, including those beyond the image.
    #[inline(always)]
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// The samples of a bin that may be in the image; all others are outside.
    #[inline(always)]
    pub fn near(&self, bin: u64) -> Range<u64> {
        let (start, length): (f64, f64) = (self.start.into(), self.bin.into());
        // All samples of a bin of length 0 have the same place.
        if self.samples <= 2 * self.size + 16 || length <= 0.0 {
            return 0..self.samples;
        }
        let from = start + bin as f64 * length;
        let step = length / self.samples as f64;
        // Rounding moves the places of samples by less than their number times a few ulps.
        let sample = |place: f64, room: f64| (((place - from) / step - 0.5 + room) as u64).min(self.samples);
        sample(-1.0, -4.0)..sample(self.size as f64, 5.0)
    }

    /// The elements and weights of a sample of a bin; none if it lies beyond the image.
    #[inline(always)]
    pub fn sample(&self, bin: u64, sample: u64) -> Option<BoxSample<T>> {
        let inside = T::of(sample as f64 + 0.5) * self.bin / T::of(self.samples as f64);
        let place = self.start + T::of(bin as f64) * self.bin + inside;
        let wide: f64 = place.into();
        if !(-1.0..=self.size as f64).contains(&wide) || self.size == 0 {
            return None;
        }
        let element = wide.max(0.0) as usize;
        let last = self.size as usize - 1;
        if element >= last {
            return Some(BoxSample { elements: [last; 2], weights: [T::of(1.0), T::of(0.0)] });
        }
        let beyond = if wide > 0.0 { place - T::of(element as f64) } else { T::of(0.0) };
        let weights = [T::of(1.0) - beyond, beyond];
        Some(BoxSample { elements: [element, element + 1], weights })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bin_has_a_sample_for_each_element_that_it_is_long() {
        let samples = |length: f32, bins| BoxAxis::new([0.0, length], bins, 0, 9).map(|axis| axis.samples());
        assert_eq!([9.0, 9.5, 8.0, 0.1, 0.0, -3.0].map(|length| samples(length, 2)), {
            [Some(5), Some(5), Some(4), Some(1), Some(0), Some(0)]
        });
        assert_eq!(samples(1e6, 1), Some(1_000_000));
        assert_eq!([1e7, f32::INFINITY, f32::NAN].map(|length| samples(length, 1)), [None; 3]);
        assert_eq!(BoxAxis::new([0.0, f32::NAN], 1, 3, 9).map(|axis| axis.samples()), Some(3));
    }

    #[test]
    fn a_place_is_read_from_its_neighbours_and_beyond_the_border_from_it() {
        let at = |place: f64| {
            let axis = BoxAxis::new([place - 0.5, 1.0], 1, 0, 4).expect("it has one sample");
            axis.sample(0, 0).map(|sample| (sample.elements, sample.weights))
        };
        assert_eq!(at(1.25), Some(([1, 2], [0.75, 0.25])));
        assert_eq!(at(-0.75), Some(([0, 1], [1.0, 0.0])));
        assert_eq!(at(3.5), Some(([3, 3], [1.0, 0.0])));
        assert_eq!([-1.0, 4.0].map(|place| at(place).is_some()), [true; 2]);
        assert_eq!([-1.25, 4.25].map(at), [None; 2]);
        assert_eq!(BoxAxis::new([0.0, 1.0], 1, 1, 0).map(|axis| axis.sample(0, 0)), Some(None));
    }

    #[test]
    fn no_sample_in_the_image_is_missed() {
        for (start, length) in [
            (-9e5f32, 1e6),
            (-0.5, 999_999.0),
            (-1000.25, 1234.5),
            (900.0, 300.0),
            (5.0, 0.0),
            (-1.0, 0.0),
            (3.0, -9.0),
        ] {
            for (bins, samples, size) in [(1, 0, 7), (3, 0, 20), (7, 100, 5), (2, 4000, 3), (1, 0, 1)] {
                let axis = BoxAxis::new([start, length], bins, samples, size).expect("they are few enough");
                for bin in 0..bins {
                    let inside: Vec<u64> =
                        (0..axis.samples()).filter(|sample| axis.sample(bin, *sample).is_some()).collect();
                    let near = axis.near(bin);
                    assert!(inside.iter().all(|sample| near.contains(sample)), "{axis:?} {bin} {near:?}");
                    assert!(samples > 0 || near.end - near.start <= 2 * size + 16, "{axis:?} {near:?}");
                }
            }
        }
    }
}
