//! That Resize computes what the text of its specification says, of one axis in each mode.

use std::ops::Range;

use crate::fixture::faults;
use crate::values::{compute, one_node};
use crate::writer::{Graph, Message, float, floats_tensor, int, ints_tensor, model, string};

const REGION: [f32; 2] = [0.25, 1.25];
const OUTSIDE: f64 = 9.0;

/// `x_original` of the specification.
fn original(transform: &str, x: f64, length_original: f64, length_resized: f64) -> f64 {
    let scale = length_resized / length_original;
    let [start_x, end_x] = REGION.map(f64::from);
    match transform {
        "half_pixel" | "half_pixel_symmetric" => (x + 0.5) / scale - 0.5,
        "pytorch_half_pixel" if length_resized > 1.0 => (x + 0.5) / scale - 0.5,
        "pytorch_half_pixel" => 0.0,
        "align_corners" if length_resized > 1.0 => x * (length_original - 1.0) / (length_resized - 1.0),
        "align_corners" => 0.0,
        "asymmetric" => x / scale,
        "tf_crop_and_resize" if length_resized > 1.0 => {
            let step = (end_x - start_x) * (length_original - 1.0) / (length_resized - 1.0);
            start_x * (length_original - 1.0) + x * step
        }
        "tf_crop_and_resize" => 0.5 * (start_x + end_x) * (length_original - 1.0),
        other => panic!("{other}"),
    }
}

/// Keys' weights of an element at a distance.
fn cubic(distance: f64, a: f64) -> f64 {
    let t = distance.abs();
    if t <= 1.0 {
        ((a + 2.0) * t - (a + 3.0)) * t * t + 1.0
    } else if t < 2.0 {
        ((a * t - 5.0 * a) * t + 8.0 * a) * t - 4.0 * a
    } else {
        0.0
    }
}

/// The mean of `x` around a place, with the weights of a mode, of the elements that are counted.
fn interpolated(x: &[f64], place: f64, weight: &dyn Fn(f64) -> f64, counted: &Range<i64>) -> f64 {
    let [mut sum, mut weights] = [0.0; 2];
    for at in place.floor() as i64 - 20..place.floor() as i64 + 20 {
        if counted.contains(&at) {
            let weight = weight(at as f64 - place);
            sum += weight * x[at.clamp(0, x.len() as i64 - 1) as usize];
            weights += weight;
        }
    }
    sum / weights
}

fn nearest(rounding: &str, place: f64) -> f64 {
    match rounding {
        "round_prefer_floor" => (place - 0.5).ceil(),
        "round_prefer_ceil" => (place + 0.5).floor(),
        "floor" => place.floor(),
        "ceil" => place.ceil(),
        other => panic!("{other}"),
    }
}

/// Resizes the squares of 1, 2, 3, ....
fn resized(length: i64, operand: &str, weights: &[Message], attributes: &[Message]) -> Vec<f32> {
    let graph = one_node("Mul", &[length], &["x", "x"], &[]);
    let operands = ["y", "region", "scales", "sizes"]
        .map(|name| if ["scales", "sizes"].contains(&name) && name != operand { "" } else { name });
    let region = floats_tensor("region", &[2], &REGION);
    let graph =
        weights.iter().cloned().fold(Graph { outputs: vec![], ..graph }.weight(region), Graph::weight);
    compute(19, graph.node("Resize", &operands, &["z"], attributes).output("z")).1
}

#[test]
fn each_mode_computes_what_its_text_says_also_for_results_of_one_element() {
    let transforms =
        ["half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"];
    let roundings = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"];
    let mut modes: Vec<(&str, &str, bool)> = roundings.map(|rounding| ("nearest", rounding, false)).to_vec();
    modes.extend([("linear", "", false), ("linear", "", true), ("cubic", "", false), ("cubic", "", true)]);
    for transform in transforms.into_iter().chain(["tf_crop_and_resize"]) {
        for (mode, rounding, excludes_outside) in &modes {
            for (length, count) in [(2, 1), (5, 1), (1, 3), (4, 3), (3, 4), (6, 2), (3, 6), (4, 4)] {
                let counted = if *excludes_outside { 0..length } else { i64::MIN..i64::MAX };
                let x: Vec<f64> = (1..=length).map(|x| (x * x) as f64).collect();
                let expected: Vec<f64> = (0..count)
                    .map(|index| {
                        let place = original(transform, index as f64, length as f64, count as f64);
                        if transform == "tf_crop_and_resize" && !(0.0..=length as f64 - 1.0).contains(&place)
                        {
                            return OUTSIDE;
                        }
                        match *mode {
                            "nearest" => x[nearest(rounding, place).clamp(0.0, length as f64 - 1.0) as usize],
                            "linear" => interpolated(&x, place, &|t| (1.0 - t.abs()).max(0.0), &counted),
                            _ => interpolated(&x, place, &|t| cubic(t, -0.5), &counted),
                        }
                    })
                    .collect();
                let mut attributes = vec![
                    string("mode", mode),
                    string("coordinate_transformation_mode", transform),
                    float("cubic_coeff_a", -0.5),
                    float("extrapolation_value", OUTSIDE as f32),
                    int("exclude_outside", i64::from(*excludes_outside)),
                ];
                if *mode == "nearest" {
                    attributes.push(string("nearest_mode", rounding));
                }
                let found = resized(length, "sizes", &[ints_tensor("sizes", &[count])], &attributes);
                let is_close = |(found, expected): (&f32, &f64)| (f64::from(*found) - expected).abs() < 1e-4;
                assert!(
                    found.len() == expected.len() && found.iter().zip(&expected).all(is_close),
                    "{transform} {mode} {rounding} {excludes_outside} {length} to {count}: \
                     {found:?}, expected {expected:?}"
                );
            }
        }
    }
}

#[test]
fn a_smaller_image_is_a_mean_of_as_many_more_elements_if_it_is_smoothed() {
    for (length, count) in [(5, 3), (6, 2), (8, 3), (7, 6), (9, 1), (3, 5), (4, 4)] {
        for (mode, transform) in ["linear", "cubic"]
            .into_iter()
            .flat_map(|mode| ["half_pixel", "asymmetric", "align_corners"].map(|name| (mode, name)))
        {
            for excludes_outside in [0, 1] {
                let width = (count as f64 / length as f64).min(1.0);
                let weight = |t: f64| match mode {
                    "linear" => (1.0 - (t * width).abs()).max(0.0),
                    _ => cubic(t * width, -0.5),
                };
                let counted = if excludes_outside == 1 { 0..length } else { i64::MIN..i64::MAX };
                let x: Vec<f64> = (1..=length).map(|x| (x * x) as f64).collect();
                let element = |index: i64| {
                    let place = original(transform, index as f64, length as f64, count as f64);
                    interpolated(&x, place, &weight, &counted)
                };
                let expected: Vec<f64> = (0..count).map(element).collect();
                let attributes = [
                    string("mode", mode),
                    string("coordinate_transformation_mode", transform),
                    float("cubic_coeff_a", -0.5),
                    int("antialias", 1),
                    int("exclude_outside", excludes_outside),
                ];
                let found = resized(length, "sizes", &[ints_tensor("sizes", &[count])], &attributes);
                let is_close = |(found, expected): (&f32, &f64)| (f64::from(*found) - expected).abs() < 1e-3;
                assert!(
                    found.len() == expected.len() && found.iter().zip(&expected).all(is_close),
                    "{transform} {mode} {excludes_outside} {length} to {count}: \
                     {found:?}, expected {expected:?}"
                );
            }
        }
    }
}

#[test]
fn a_size_is_the_product_with_its_scale_in_32_bits() {
    for (length, scale, count) in
        [(10, 0.7f32, 7), (3, 1.0 / 3.0, 1), (10, 1.1, 11), (5, 0.7, 3), (100, 0.29, 29)]
    {
        let scales = floats_tensor("scales", &[1], &[scale]);
        assert_eq!(resized(length, "scales", &[scales], &[string("mode", "linear")]).len(), count, "{scale}");
    }
}

#[test]
fn a_third_of_three_elements_is_one() {
    let scales = floats_tensor("scales", &[1], &[1.0 / 3.0]);
    let attributes =
        [string("mode", "cubic"), string("coordinate_transformation_mode", "pytorch_half_pixel")];
    assert_eq!(resized(3, "scales", &[scales], &attributes), [1.0]);
}

#[test]
fn scales_are_refused_beside_a_region_that_would_shorten_the_result() {
    let attributes = [string("coordinate_transformation_mode", "tf_crop_and_resize")];
    let graph = one_node("Resize", &[4], &["x", "region", "scales"], &attributes);
    let with = |region: [f32; 2]| {
        let scales = floats_tensor("scales", &[1], &[2.0]);
        graph.clone().weight(floats_tensor("region", &[2], &region)).weight(scales)
    };
    let faults = faults(&model(19, with([0.25, 0.75])));
    assert!(faults[0].contains("scales beside a region of axis 0, expected sizes"), "{faults:?}");
    assert_eq!(compute(19, with([0.25, 1.25])).1.len(), 8);
}
