//! That GridSample reads an image at each place of its grid, in each mode, beyond the border too.
//!
//! The oracle is the operator's text, one axis after the other; the image counts 1, 2, 3, ...

use crate::values::{compute, one_node};
use crate::writer::{floats_tensor, int, string};

/// An axis of an image, and what lies beyond its ends.
#[derive(Clone, Copy)]
struct SampledAxis<'a> {
    size: i64,
    beyond: &'a str,
    /// The attribute `align_corners`.
    aligned: i64,
}

/// The weights of the cubic kernel at a distance up to 2, with the standard's coefficient.
fn cubic(distance: f64) -> f64 {
    let a = -0.75;
    match distance.abs() {
        t @ ..=1.0 => ((a + 2.0) * t - (a + 3.0)) * t * t + 1.0,
        t => ((a * t - 5.0 * a) * t + 8.0 * a) * t - 4.0 * a,
    }
}

impl SampledAxis<'_> {
    /// The borders between which places lie.
    fn borders(&self) -> [f64; 2] {
        let last = (self.size - 1) as f64;
        if self.aligned == 1 { [0.0, last] } else { [-0.5, last + 0.5] }
    }

    /// A place mirrored at the borders as often as it takes.
    fn reflected(&self, mut place: f64) -> f64 {
        let [least, most] = self.borders();
        while !(least..=most).contains(&place) {
            place = if place < least { 2.0 * least - place } else { 2.0 * most - place };
        }
        place
    }

    /// The elements that are read at a coordinate, each with its weight; none is read where there is none.
    fn taps(&self, coordinate: f64, mode: &str) -> Vec<(Option<i64>, f64)> {
        let size = self.size as f64;
        let mut place = match self.aligned {
            1 => (coordinate + 1.0) / 2.0 * (size - 1.0),
            _ => ((coordinate + 1.0) * size - 1.0) / 2.0,
        };
        if mode == "nearest" {
            place = place.round_ties_even();
        }
        let [least, most] = self.borders();
        if !(least..=most).contains(&place) {
            match self.beyond {
                "border" => place = place.clamp(0.0, size - 1.0),
                "reflection" => place = self.reflected(place),
                _ => {}
            }
        }
        let ratio = place - place.floor();
        let tap = |step: i64, weight: f64| (self.element(place.floor() as i64 + step), weight);
        match mode {
            "nearest" => vec![tap(0, 1.0)],
            "linear" => vec![tap(0, 1.0 - ratio), tap(1, ratio)],
            _ => (-1..=2).map(|step| tap(step, cubic(ratio - step as f64))).collect(),
        }
    }

    /// The element that stands for one at this place.
    fn element(&self, at: i64) -> Option<i64> {
        match self.beyond {
            "border" => Some(at.clamp(0, self.size - 1)),
            "reflection" => Some(self.reflected(at as f64) as i64),
            _ => Some(at).filter(|at| (0..self.size).contains(at)),
        }
    }
}

/// Coordinates inside of an image and beyond both of its ends, none of them in the middle of two elements.
fn coordinates() -> Vec<f32> {
    (0..23).map(|at| -2.37 + 0.213 * at as f32).collect()
}

const MODES: [(&str, &str); 3] = [("nearest", "nearest"), ("linear", "linear"), ("cubic", "cubic")];
const OLD_MODES: [(&str, &str); 3] = [("nearest", "nearest"), ("bilinear", "linear"), ("bicubic", "cubic")];

#[test]
fn an_image_is_read_at_each_place_in_each_mode() {
    let [rows, columns] = [3, 4];
    let x = coordinates();
    let count = x.len();
    // Each column with another row.
    let places: Vec<[f32; 2]> = (0..count).map(|at| [x[at], x[at * 7 % count]]).collect();
    for (version, (name, mode)) in
        MODES.map(|mode| (20, mode)).into_iter().chain(OLD_MODES.map(|mode| (16, mode)))
    {
        for (beyond, aligned) in
            ["zeros", "border", "reflection"].into_iter().flat_map(|beyond| [(beyond, 0), (beyond, 1)])
        {
            let axis = |size: i64| SampledAxis { size, beyond, aligned };
            let read = |[x, y]: &[f32; 2]| {
                let mut sum = 0.0;
                for (row, by_row) in axis(rows).taps(f64::from(*y), mode) {
                    for (column, by_column) in axis(columns).taps(f64::from(*x), mode) {
                        let pixel = row.zip(column).map_or(0, |(row, column)| row * columns + column + 1);
                        sum += by_row * by_column * pixel as f64;
                    }
                }
                sum
            };
            let expected: Vec<f64> = places.iter().map(read).collect();
            let attributes =
                [string("mode", name), string("padding_mode", beyond), int("align_corners", aligned)];
            let graph = one_node("GridSample", &[1, 1, rows, columns], &["x", "grid"], &attributes);
            let grid = floats_tensor("grid", &[1, 1, count as i64, 2], &places.concat());
            let (shape, found) = compute(version, graph.weight(grid));
            assert_eq!(shape, [1, 1, 1, count as u64]);
            let is_close = |(found, expected): (&f32, &f64)| (f64::from(*found) - expected).abs() < 1e-3;
            assert!(
                found.iter().zip(&expected).all(is_close),
                "{name} {beyond} {aligned}: {found:?}, expected {expected:?}"
            );
        }
    }
}
