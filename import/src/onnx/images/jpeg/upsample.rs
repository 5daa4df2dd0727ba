//! Upsampling of components with fewer samples than the image has pixels.
//!
//! Halved samples are centred between their pixels, so a pixel is a quarter of the way towards the
//! neighbouring sample: along an axis it is `(3 * near + far) / 4`. To avoid a bias, pixels alternately round
//! halves down and up. A component halved along both axes is interpolated along both, and rounded once. The
//! first and the last sample are repeated beyond the ends. Other factors repeat samples. libjpeg-turbo calls
//! this fancy upsampling, and the standard of ImageDecoder requires it; it applies to three columns or more.

use crate::onnx::images::{ImageFault, damaged};

/// The samples of a component.
pub(super) struct Plane {
    /// The columns that belong to the image.
    pub(super) width: usize,
    pub(super) height: usize,
    /// The distance between rows.
    pub(super) stride: usize,
    pub(super) samples: Vec<u8>,
}

/// Pixels for each sample, along an axis.
#[derive(Clone, Copy)]
struct Factors {
    across: usize,
    down: usize,
}

impl Plane {
    fn row(&self, row: usize) -> &[u8] {
        &self.samples[row * self.stride..][..self.width]
    }

    /// The row nearest to a pixel's row, other than its own.
    fn neighbour(&self, pixel_row: usize) -> &[u8] {
        let row = pixel_row / 2;
        self.row(if pixel_row.is_multiple_of(2) {
            row.saturating_sub(1)
        } else {
            (row + 1).min(self.height - 1)
        })
    }

    /// The samples at each pixel, row by row. The component's and the greatest factors are `(across, down)`.
    pub(super) fn at_pixels(
        self,
        (width, height): (usize, usize),
        own: (usize, usize),
        most: (usize, usize),
    ) -> Result<Vec<u8>, ImageFault> {
        if !most.0.is_multiple_of(own.0) || !most.1.is_multiple_of(own.1) {
            return Err(damaged("factors of samples of which one is no multiple of the other"));
        }
        let factors = Factors { across: most.0 / own.0, down: most.1 / own.1 };
        let mut pixels = Vec::with_capacity(width * height);
        let mut row = Vec::with_capacity((self.width + 1) * factors.across);
        for pixel_row in 0..height {
            row.clear();
            self.extend_row(&mut row, pixel_row, factors);
            pixels.extend_from_slice(&row[..width]);
        }
        Ok(pixels)
    }

    fn extend_row(&self, out: &mut Vec<u8>, pixel_row: usize, Factors { across, down }: Factors) {
        let is_wide = self.width > 2;
        let near = self.row(pixel_row / down);
        match (across, down) {
            (2, 1) if is_wide => {
                let sums: Vec<u16> = near.iter().map(|near| u16::from(*near)).collect();
                extend_halved(out, &sums, 2, (1, 2));
            }
            (2, 2) if is_wide => {
                extend_halved(out, &vertical_sums(near, self.neighbour(pixel_row)), 4, (8, 7));
            }
            (1, 2) => {
                let half = if pixel_row.is_multiple_of(2) { 1 } else { 2 };
                let sums = vertical_sums(near, self.neighbour(pixel_row));
                out.extend(sums.iter().map(|sum| ((sum + half) >> 2) as u8));
            }
            _ => out.extend(near.iter().flat_map(|near| std::iter::repeat_n(*near, across))),
        }
    }
}

fn vertical_sums(near: &[u8], far: &[u8]) -> Vec<u16> {
    near.iter().zip(far).map(|(near, far)| 3 * u16::from(*near) + u16::from(*far)).collect()
}

/// Two pixels for each sum of samples: three quarters of it and one quarter of the neighbour's. The arguments
/// at the end are the roundings of the left and the right pixel, added before the low `bits` are cut off.
fn extend_halved(out: &mut Vec<u8>, sums: &[u16], bits: u32, (left_half, right_half): (u16, u16)) {
    for (at, near) in sums.iter().enumerate() {
        let left = sums[at.saturating_sub(1)];
        let right = sums[(at + 1).min(sums.len() - 1)];
        out.push(((3 * near + left + left_half) >> bits) as u8);
        out.push(((3 * near + right + right_half) >> bits) as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(samples: &[&[u8]], factors: (usize, usize), expected: &[&[u8]]) {
        let width = samples[0].len();
        let plane = Plane { width, height: samples.len(), stride: width, samples: samples.concat() };
        let size = (expected[0].len(), expected.len());
        assert_eq!(plane.at_pixels(size, (1, 1), factors).unwrap(), expected.concat());
    }

    #[test]
    fn halved_columns_are_interpolated_and_halves_alternate() {
        // 1.5 is rounded down in a left pixel and up in a right one; 0.25 and 2.75 are rounded to the
        // nearest.
        check(&[&[0, 2, 4]], (2, 1), &[&[0, 1, 1, 3, 3, 4]]);
        check(&[&[0, 1, 0]], (2, 1), &[&[0, 0, 1, 1, 0, 0]]);
        check(&[&[9, 1, 9]], (2, 1), &[&[9, 7, 3, 3, 7]]);
    }

    #[test]
    fn halved_rows_are_interpolated() {
        check(&[&[0], &[2]], (1, 2), &[&[0], &[1], &[1], &[2]]);
        check(&[&[0], &[2]], (1, 2), &[&[0], &[1], &[1]]);
    }

    #[test]
    fn what_is_halved_along_both_axes_is_rounded_once() {
        check(
            &[&[0, 16, 32], &[64, 64, 65]],
            (2, 2),
            &[
                &[0, 4, 12, 20, 28, 32],
                &[16, 19, 25, 31, 37, 40],
                &[48, 49, 51, 53, 56, 57],
                &[64, 64, 64, 64, 65, 65],
            ],
        );
    }

    #[test]
    fn two_columns_and_other_factors_are_repeated() {
        check(&[&[0, 8]], (2, 1), &[&[0, 0, 8, 8]]);
        check(&[&[0, 8], &[1, 9]], (2, 2), &[&[0, 0, 8], &[0, 0, 8], &[1, 1, 9]]);
        check(&[&[0, 8, 16]], (4, 1), &[&[0, 0, 0, 0, 8, 8, 8, 8, 16]]);
        check(&[&[0, 8, 16]], (2, 4), &[&[0, 0, 8, 8, 16, 16][..]; 4]);
    }

    #[test]
    fn factors_that_do_not_divide_are_damaged() {
        let plane = Plane { width: 2, height: 1, stride: 2, samples: vec![0; 2] };
        assert!(matches!(plane.at_pixels((3, 1), (2, 1), (3, 1)), Err(ImageFault::Damaged(_))));
    }
}
