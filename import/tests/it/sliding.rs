//! That convolutions and pools compute the sums that the standard writes, over one, two, three and four axes.
//!
//! The oracle is the definition as plain loops over all elements; inputs count 1, 2, 3, ...

use crate::values::{check, compute, one_node, with_constants};
use crate::walks::{counted, indices, place, sizes};
use crate::writer::{Graph, Message, floats_tensor, int, ints, ints_tensor};

/// How a window lies over each axis.
#[derive(Clone, Copy, Debug)]
struct Windows<'w> {
    kernel: &'w [i64],
    strides: &'w [i64],
    dilations: &'w [i64],
    /// Before each axis, then after each.
    pads: &'w [i64],
}

impl Windows<'_> {
    fn attributes(&self) -> Vec<Message> {
        let lists = [("strides", self.strides), ("dilations", self.dilations), ("pads", self.pads)];
        lists.map(|(name, numbers)| ints(name, numbers)).to_vec()
    }

    fn reach(&self, axis: usize) -> i64 {
        (self.kernel[axis] - 1) * self.dilations[axis] + 1
    }

    /// How many windows lie over images of these sizes, if the last may hang over the end where `ceil` is 1.
    fn counts(&self, sizes: &[i64], ceil: i64) -> Vec<i64> {
        let rank = sizes.len();
        let count = |axis: usize| {
            let stride = self.strides[axis];
            let before = sizes[axis] + self.pads[axis];
            let room = before + self.pads[rank + axis] - self.reach(axis);
            let count = (room + ceil * (stride - 1)) / stride + 1;
            // No window begins in the padding at the end.
            if ceil == 1 && (count - 1) * stride >= before { count - 1 } else { count }
        };
        (0..rank).map(count).collect()
    }

    /// Where element `inside` of window `window` lies.
    fn at(&self, window: &[i64], inside: &[i64]) -> Vec<i64> {
        let along = |axis: usize| {
            window[axis] * self.strides[axis] + inside[axis] * self.dilations[axis] - self.pads[axis]
        };
        (0..window.len()).map(along).collect()
    }
}

/// Small whole numbers of both signs.
fn filter(shape: &[i64]) -> Vec<f32> {
    (0..shape.iter().product::<i64>()).map(|at| (at * 5 % 7 - 3) as f32).collect()
}

/// Windows over one to four axes, with the sizes of images that they lie over.
const WINDOWS: [(&[i64], Windows<'static>); 6] = [
    (&[7], Windows { kernel: &[3], strides: &[2], dilations: &[2], pads: &[1, 3] }),
    (&[5], Windows { kernel: &[2], strides: &[3], dilations: &[1], pads: &[0, 1] }),
    (&[5, 4], Windows { kernel: &[2, 3], strides: &[2, 1], dilations: &[1, 2], pads: &[1, 0, 0, 3] }),
    (
        &[4, 3, 5],
        Windows { kernel: &[2, 2, 3], strides: &[2, 1, 2], dilations: &[1, 2, 1], pads: &[1, 0, 2, 0, 1, 1] },
    ),
    // Between two windows there is a gap.
    (
        &[4, 4, 3],
        Windows { kernel: &[2, 2, 1], strides: &[3, 1, 2], dilations: &[1, 1, 1], pads: &[1, 0, 0, 0, 0, 0] },
    ),
    (
        &[3, 2, 3, 2],
        Windows {
            kernel: &[2, 1, 2, 2],
            strides: &[1, 1, 2, 1],
            dilations: &[2, 1, 1, 1],
            pads: &[0, 0, 1, 0, 1, 0, 0, 1],
        },
    ),
];

#[test]
fn a_convolution_is_the_sum_over_channels_and_elements_of_its_filter() {
    for (image, windows) in WINDOWS {
        for [channels, outputs, groups] in [[2, 3, 1], [4, 2, 2], [3, 3, 3]] {
            let shape = [&[2, channels], image].concat();
            let filter_shape = [&[outputs, channels / groups], windows.kernel].concat();
            let result = [&[2, outputs], &windows.counts(image, 0)[..]].concat();
            let [x, w] = [counted(&shape), filter(&filter_shape)];
            let element = |index: &Vec<i64>| {
                let first = index[1] / (outputs / groups) * (channels / groups);
                let terms = indices(&filter_shape[1..]).into_iter().filter_map(|tap| {
                    let at = [&[index[0], first + tap[0]], &windows.at(&index[2..], &tap[1..])[..]].concat();
                    let weight = place(&filter_shape, &[&[index[1]], &tap[..]].concat())?;
                    Some(w[weight] * x[place(&shape, &at)?])
                });
                0.5 + terms.sum::<f32>()
            };
            let expected: Vec<f32> = indices(&result).iter().map(element).collect();
            let bias = floats_tensor("w1", &[outputs], &vec![0.5; outputs as usize]);
            let weights = [floats_tensor("w0", &filter_shape, &w), bias];
            let attributes = [&windows.attributes()[..], &[int("group", groups)]].concat();
            let graph = with_constants("Conv", &shape, &weights, &attributes);
            assert_eq!(compute(22, graph), (sizes(&result), expected), "{image:?} {windows:?} {groups}");
        }
    }
}

#[test]
fn a_transposed_convolution_adds_its_filter_at_each_element() {
    for (image, windows) in WINDOWS {
        for [channels, each, groups] in [[2, 3, 1], [4, 1, 2]] {
            let rank = image.len();
            let more: Vec<i64> = windows.strides.iter().map(|stride| stride - 1).collect();
            let size = |axis: usize| {
                let covered = windows.strides[axis] * (image[axis] - 1) + windows.reach(axis) + more[axis];
                covered - windows.pads[axis] - windows.pads[rank + axis]
            };
            let shape = [&[2, channels], image].concat();
            let filter_shape = [&[channels, each], windows.kernel].concat();
            let outer = [2, each * groups];
            let result = [&outer[..], &(0..rank).map(size).collect::<Vec<_>>()].concat();
            let [x, w] = [counted(&shape), filter(&filter_shape)];
            let biases: Vec<f32> = (0..each * groups).map(|output| output as f32 + 0.5).collect();
            let mut expected: Vec<f32> =
                indices(&result).iter().map(|index| biases[index[1] as usize]).collect();
            for (at, index) in indices(&shape).iter().enumerate() {
                for tap in indices(&filter_shape[1..]) {
                    let weight = place(&filter_shape, &[&[index[1]], &tap[..]].concat());
                    let output = index[1] / (channels / groups) * each + tap[0];
                    let to = [&[index[0], output], &windows.at(&index[2..], &tap[1..])[..]].concat();
                    if let (Some(weight), Some(to)) = (weight, place(&result, &to)) {
                        expected[to] += x[at] * w[weight];
                    }
                }
            }
            let more = [int("group", groups), ints("output_padding", &more)];
            let attributes = [&windows.attributes()[..], &more].concat();
            let bias = floats_tensor("w1", &[each * groups], &biases);
            let weights = [floats_tensor("w0", &filter_shape, &w), bias];
            let graph = with_constants("ConvTranspose", &shape, &weights, &attributes);
            assert_eq!(compute(22, graph), (sizes(&result), expected), "{image:?} {windows:?} {groups}");
        }
    }
}

#[test]
fn columns_are_added_up_over_any_number_of_axes() {
    for (image, windows) in WINDOWS {
        let counts = windows.counts(image, 0);
        let elements = indices(windows.kernel);
        let shape = [2, 3 * elements.len() as i64, counts.iter().product()];
        let result = [&[2, 3], image].concat();
        let x = counted(&shape);
        let mut expected = vec![0.0; result.iter().product::<i64>() as usize];
        for [batch, channel] in [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]] {
            for (row, inside) in elements.iter().enumerate() {
                for (column, window) in indices(&counts).iter().enumerate() {
                    let from = [batch, channel * elements.len() as i64 + row as i64, column as i64];
                    let to = [&[batch, channel], &windows.at(window, inside)[..]].concat();
                    if let (Some(from), Some(to)) = (place(&shape, &from), place(&result, &to)) {
                        expected[to] += x[from];
                    }
                }
            }
        }
        let weights = [ints_tensor("w0", image), ints_tensor("w1", windows.kernel)];
        let graph = with_constants("Col2Im", &shape, &weights, &windows.attributes());
        check(22, graph, &sizes(&result), &expected);
    }
}

/// What a window of a pool covers.
struct CoveredPlaces {
    /// Elements of the image, by their numbers among all.
    inside: Vec<usize>,
    /// How many places in the image and its padding.
    count: usize,
}

/// The sizes of a pool's result over `[2, 2, image]`, and all of its windows.
fn pooled(image: &[i64], windows: Windows<'_>, ceil: i64) -> (Vec<u64>, Vec<CoveredPlaces>) {
    let shape = [&[2, 2], image].concat();
    let result = [&[2, 2], &windows.counts(image, ceil)[..]].concat();
    let rank = image.len();
    let of_window = |index: &Vec<i64>| {
        let places: Vec<Vec<i64>> =
            indices(windows.kernel).iter().map(|inside| windows.at(&index[2..], inside)).collect();
        let is_padded = |at: &&Vec<i64>| {
            let range = |axis: usize| -windows.pads[axis]..image[axis] + windows.pads[rank + axis];
            (0..rank).all(|axis| range(axis).contains(&at[axis]))
        };
        let count = places.iter().filter(is_padded).count();
        let inside = places.iter().filter_map(|at| place(&shape, &[&index[..2], at].concat()));
        CoveredPlaces { inside: inside.collect(), count }
    };
    (sizes(&result), indices(&result).iter().map(of_window).collect())
}

/// Windows of which each has an element of its image, with the sizes of these.
const POOLS: [(&[i64], Windows<'static>); 4] = [
    (&[7], Windows { kernel: &[3], strides: &[2], dilations: &[2], pads: &[1, 2] }),
    (&[5, 4], Windows { kernel: &[2, 3], strides: &[2, 1], dilations: &[2, 1], pads: &[1, 2, 0, 1] }),
    (
        &[4, 3, 5],
        Windows { kernel: &[2, 2, 3], strides: &[3, 1, 2], dilations: &[1, 1, 1], pads: &[1, 0, 2, 0, 1, 1] },
    ),
    (
        &[5, 3, 4],
        Windows { kernel: &[2, 2, 2], strides: &[2, 2, 1], dilations: &[2, 1, 2], pads: &[1, 1, 0, 0, 0, 1] },
    ),
];

#[track_caller]
fn check_close(graph: Graph, shape: &[u64], expected: &[f64]) {
    let (found_shape, found) = compute(22, graph);
    assert_eq!(found_shape, shape);
    let is_close = |(found, expected): (&f32, &f64)| {
        (f64::from(*found) - expected).abs() <= 1e-5 * expected.abs().max(1.0)
    };
    assert!(found.iter().zip(expected).all(is_close), "{found:?}, expected {expected:?}");
}

/// The element at a place.
fn number(at: usize) -> f64 {
    (at + 1) as f64
}

#[test]
fn pools_take_the_mean_the_norm_and_the_largest_of_each_window() {
    for ((image, windows), ceil) in POOLS.into_iter().flat_map(|pool| [0, 1].map(|ceil| (pool, ceil))) {
        let shape = [&[2, 2], image].concat();
        let (result, all) = pooled(image, windows, ceil);
        let own = [ints("kernel_shape", windows.kernel), int("ceil_mode", ceil)];
        let attributes = |more: &[Message]| [&windows.attributes()[..], &own, more].concat();
        let sum = |window: &CoveredPlaces| window.inside.iter().map(|at| number(*at)).sum::<f64>();
        let sums: Vec<f64> = all.iter().map(sum).collect();
        let of_elements = all.iter().map(|window| sum(window) / window.inside.len() as f64);
        let of_padding = all.iter().map(|window| sum(window) / window.count as f64);
        let means: [Vec<f64>; 2] = [of_elements.collect(), of_padding.collect()];
        for (counts_padding, means) in [0, 1].into_iter().zip(means) {
            assert!(means.iter().all(|mean| mean.is_finite()), "each window has elements");
            let attributes = attributes(&[int("count_include_pad", counts_padding)]);
            check_close(one_node("AveragePool", &shape, &["x"], &attributes), &result, &means);
        }
        check_close(one_node("LpPool", &shape, &["x"], &attributes(&[int("p", 1)])), &result, &sums);
        let squares =
            |window: &CoveredPlaces| window.inside.iter().map(|at| number(*at).powi(2)).sum::<f64>();
        let norms: Vec<f64> = all.iter().map(|window| squares(window).sqrt()).collect();
        check_close(one_node("LpPool", &shape, &["x"], &attributes(&[])), &result, &norms);
        // The numbers are below 0, so that no zero of the padding would be less.
        let largest: Vec<f64> = all.iter().map(|window| -number(window.inside[0])).collect();
        let below = Graph::default().input("x", &shape).node("Neg", &["x"], &["n"], &[]);
        let below = below.node("MaxPool", &["n"], &["y"], &attributes(&[])).output("y");
        check_close(below, &result, &largest);
    }
}

#[test]
fn places_of_the_largest_are_counted_along_the_last_axis_or_the_first() {
    for ((image, windows), order) in POOLS.into_iter().flat_map(|pool| [0, 1].map(|order| (pool, order))) {
        let shape = [&[2, 2], image].concat();
        let (result, all) = pooled(image, windows, 0);
        let elements = indices(image);
        let turned = |at: usize| {
            let index = &elements[at % elements.len()];
            let place = index.iter().zip(image).rev().fold(0, |place, (at, size)| place * size + at);
            at - at % elements.len() + place as usize
        };
        let largest = all.iter().map(|window| window.inside[window.inside.len() - 1]);
        let places = largest.map(|at| if order == 0 { at } else { turned(at) });
        let expected: Vec<f64> = places.map(|at| at as f64).collect();
        let more = [ints("kernel_shape", windows.kernel), int("storage_order", order)];
        let attributes = [&windows.attributes()[..], &more].concat();
        let graph = Graph::default().input("x", &shape).node("MaxPool", &["x"], &["m", "i"], &attributes);
        check_close(graph.node("Cast", &["i"], &["y"], &[int("to", 1)]).output("y"), &result, &expected);
    }
}
