//! That operators of detection networks, and those that look for equal elements, compute what ONNX says.
//!
//! The oracle is the operator's text at onnx.ai/onnx/operators. Results whose size depends on data have zeros
//! after their elements; ONNX's own tests hold them to their sizes.

use import::onnx::StrippedWeights;

use crate::fixture::{faults, import_bytes, refuses};
use crate::values::{check, compute, one_node};
use crate::writer::{Graph, Message, float, floats, floats_tensor, int, ints, ints_tensor, model, string};

fn as_floats(graph: Graph, name: &str) -> Graph {
    graph.node("Cast", &[name], &["y"], &[int("to", 1)]).output("y")
}

/// Four boxes in two places, the second of each a little aside, with scores of two classes; `limits` are the
/// further inputs.
fn suppression(limits: &[Message], attributes: &[Message]) -> Graph {
    let boxes = [0.0, 0.0, 1.0, 1.0, 0.0, 0.1, 1.0, 1.1, 0.0, 10.0, 1.0, 11.0, 1.0, 10.9, 0.0, 9.9];
    let scores = [0.5, 0.75, 0.25, 0.25, 1.0, 0.125, 0.25, 0.5];
    let graph = Graph::default().weight(floats_tensor("boxes", &[1, 4, 4], &boxes));
    let graph = graph.weight(floats_tensor("scores", &[1, 2, 4], &scores));
    let names = ["boxes", "scores", "most", "overlap", "least"];
    let graph = limits.iter().cloned().fold(graph, Graph::weight);
    as_floats(graph.node("NonMaxSuppression", &names[..2 + limits.len()], &["i"], attributes), "i")
}

#[test]
fn boxes_that_overlap_better_ones_are_dropped() {
    let most = |count: i64| ints_tensor("most", &[count]);
    let number = |name: &str, number: f32| floats_tensor(name, &[1], &[number]);
    let rows = |rows: &[[f32; 3]], count: usize| {
        let mut all = rows.concat();
        all.resize(3 * count, 0.0);
        all
    };
    let limits = [most(3), number("overlap", 0.5)];
    let kept = rows(&[[0.0, 0.0, 1.0], [0.0, 0.0, 2.0], [0.0, 1.0, 0.0], [0.0, 1.0, 3.0]], 6);
    check(11, suppression(&limits, &[]), &[6, 3], &kept);
    let limits = [most(9), number("overlap", 0.5), number("least", 0.25)];
    let kept = rows(&[[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 1.0, 3.0]], 8);
    check(11, suppression(&limits, &[]), &[8, 3], &kept);
    check(10, suppression(&[most(1)], &[]), &[2, 3], &rows(&[[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]], 2));
    check(11, suppression(&[], &[]), &[0, 3], &[]);
    // As centres and sizes, the second box of each place has a width of 1.1, or below 0.
    let limits = [most(2), number("overlap", 0.01)];
    let kept = rows(&[[0.0, 0.0, 1.0], [0.0, 0.0, 2.0], [0.0, 1.0, 0.0], [0.0, 1.0, 3.0]], 4);
    check(11, suppression(&limits, &[int("center_point_box", 1)]), &[4, 3], &kept);
}

#[test]
fn boxes_whose_number_depends_on_data_are_no_more_than_they_are() {
    let graph = |condition: &[i64], both: &str| {
        let boxes = [0.0, 0.0, 1.0, 1.0, 0.0, 0.1, 1.0, 1.1, 0.0, 10.0, 1.0, 11.0, 0.0, 5.0, 1.0, 6.0];
        let graph = Graph::default().weight(floats_tensor("boxes", &[1, 4, 4], &boxes));
        let graph = graph.weight(floats_tensor("scores", &[1, 1, 4], &[0.5, 0.75, -0.25, 0.25]));
        let graph = graph.weight(ints_tensor("most", &[3])).weight(ints_tensor("c", condition));
        let graph = graph.node("Cast", &["c"], &["b"], &[int("to", 9)]).node("Not", &["b"], &["not"], &[]);
        let graph = graph.node("Compress", &["boxes", "b"], &["some"], &[int("axis", 1)]);
        let graph = graph.node("Compress", &["scores", both], &["own"], &[int("axis", 2)]);
        as_floats(graph.node("NonMaxSuppression", &["some", "own", "most"], &["i"], &[]), "i")
    };
    let kept = [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0; 3]].concat();
    check(11, graph(&[1, 0, 1, 0], "b"), &[3, 3], &kept);
    check(11, graph(&[0, 0, 0, 0], "b"), &[3, 3], &[0.0; 9]);
    let others = faults(&model(11, graph(&[1, 0, 1, 0], "not")));
    assert!(others[0].contains("depend on different data"), "{others:?}");
}

/// RoiAlign of the numbers from 1 to 16 on boxes.
fn regions(boxes: &[f32], attributes: &[Message]) -> Graph {
    let count = (boxes.len() / 4) as i64;
    let graph = one_node("RoiAlign", &[1, 1, 4, 4], &["x", "boxes", "images"], attributes);
    let graph = graph.weight(floats_tensor("boxes", &[count, 4], boxes));
    graph.weight(ints_tensor("images", &vec![0; count as usize]))
}

#[test]
fn regions_are_means_or_maxima_of_samples() {
    let size = |rows, columns, samples| {
        [int("output_height", rows), int("output_width", columns), int("sampling_ratio", samples)]
    };
    // A sample in the middle of the box, of the box less half an element, and one a way beyond.
    let boxes = [0.0, 0.0, 2.0, 2.0, 7.0, 7.0, 9.0, 9.0];
    check(10, regions(&boxes, &size(1, 1, 1)), &[2, 1, 1, 1], &[6.0, 0.0]);
    check(15, regions(&boxes, &size(1, 1, 1)), &[2, 1, 1, 1], &[6.0, 0.0]);
    check(16, regions(&boxes, &size(1, 1, 1)), &[2, 1, 1, 1], &[3.5, 0.0]);
    // Two samples in each direction, at 0.5 and 1.5.
    check(10, regions(&boxes[..4], &size(1, 1, 2)), &[1, 1, 1, 1], &[6.0]);
    check(10, regions(&boxes[..4], &size(2, 1, 1)), &[1, 1, 2, 1], &[4.0, 8.0]);
    let maximum = [&size(1, 1, 1)[..], &[string("mode", "max")]].concat();
    check(10, regions(&[0.5, 1.0, 1.5, 2.0], &maximum), &[1, 1, 1, 1], &[5.0]);
    let scaled = [&size(1, 1, 1)[..], &[float("spatial_scale", 0.5)]].concat();
    check(10, regions(&[0.0, 0.0, 4.0, 4.0], &scaled), &[1, 1, 1, 1], &[6.0]);
    let graph = regions(&boxes, &[int("sampling_ratio", 1 << 20)]);
    assert!(faults(&model(16, graph))[0].contains("`sampling_ratio` 1048576, expected 0 to 4096"));
}

#[test]
fn images_of_boxes_are_read_where_there_are_boxes() {
    // The images are -5 + 5. After the boxes, whose number depends on data, stand zeros: no image is 0 + 5.
    let attributes = [int("output_height", 1), int("output_width", 1), int("sampling_ratio", 1)];
    let boxes = [0.0, 0.0, 2.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 3.0, 3.0];
    let graph = one_node("RoiAlign", &[1, 1, 4, 4], &["x", "some", "images"], &attributes);
    let graph = graph.weight(floats_tensor("boxes", &[3, 4], &boxes)).weight(ints_tensor("c", &[1, 0, 1]));
    let graph = graph.weight(ints_tensor("less", &[-5; 3])).weight(ints_tensor("five", &[5]));
    let graph = graph.node("Cast", &["c"], &["b"], &[int("to", 9)]);
    let graph = graph.node("Compress", &["boxes", "b"], &["some"], &[int("axis", 0)]);
    let graph = graph.node("Compress", &["less", "b"], &["those"], &[int("axis", 0)]);
    let (shape, found) = compute(10, graph.node("Add", &["those", "five"], &["images"], &[]));
    assert_eq!((&shape[..], &found[..2]), (&[3, 1, 1, 1][..], &[6.0, 11.0][..]));
}

#[test]
fn regions_have_a_sample_for_each_element_that_their_bins_are_long() {
    let size = |rows, columns| [int("output_height", rows), int("output_width", columns)];
    // At 0.5 and 1.5 down, and at 0.25, 0.75 + 0.5 across.
    check(10, regions(&[0.0, 0.0, 1.0, 2.0], &size(1, 1)), &[1, 1, 1, 1], &[5.5]);
    check(10, regions(&[0.0, 0.0, 1.5, 2.0], &size(1, 1)), &[1, 1, 1, 1], &[5.75]);
    check(10, regions(&[0.0, 0.0, 3.0, 1.0], &size(1, 2)), &[1, 1, 1, 2], &[3.75, 5.25]);
    // One at 0.5, or none.
    check(16, regions(&[0.5, 0.5, 1.5, 1.5], &size(1, 1)), &[1, 1, 1, 1], &[3.5]);
    check(16, regions(&[1.5, 0.5, 1.0, 1.5], &size(1, 1)), &[1, 1, 1, 1], &[0.0]);
    check(10, regions(&[1.5, 0.5, 1.0, 1.5], &size(1, 1)), &[1, 1, 1, 1], &[7.0]);
    // 20 samples down, from -8.5 on: the five inside are at rows 0, 0.5, 1.5, 2.5 and 3.
    let maximum = [&size(1, 1)[..], &[string("mode", "max")]].concat();
    check(10, regions(&[0.0, -9.0, 1.0, 11.0], &size(1, 1)), &[1, 1, 1, 1], &[37.5 / 20.0]);
    check(10, regions(&[0.0, -9.0, 1.0, 11.0], &maximum), &[1, 1, 1, 1], &[7.0]);
    check(10, regions(&[9.0, 9.0, 10.0, 10.0], &maximum), &[1, 1, 1, 1], &[0.0]);
}

#[test]
fn filters_read_at_moved_places() {
    let graph = |offsets: &[f32], attributes: &[Message], more: &[(&str, Message)]| {
        let names = ["x", "w", "o"].into_iter().chain(more.iter().map(|(name, _)| *name));
        let graph = one_node("DeformConv", &[1, 1, 3, 3], &names.collect::<Vec<_>>(), attributes);
        let windows = (offsets.len() / 2) as i64;
        let graph = graph.weight(floats_tensor("w", &[1, 1, 1, 1], &[2.0]));
        let graph = graph.weight(floats_tensor("o", &[1, 2, 1, windows], offsets));
        more.iter()
            .filter(|(name, _)| !name.is_empty())
            .fold(graph, |graph, more| graph.weight(more.1.clone()))
    };
    // One window a stride of 3 rows apart: the columns 0 and 2 of the first row, moved.
    let strides = [ints("strides", &[3, 2])];
    check(19, graph(&[0.0, 0.0, 0.0, 0.0], &strides, &[]), &[1, 1, 1, 2], &[2.0, 6.0]);
    check(19, graph(&[1.0, 0.5, 1.0, 0.0], &strides, &[]), &[1, 1, 1, 2], &[10.0, 9.0]);
    check(19, graph(&[0.0, 0.0, 0.0, 0.5], &strides, &[]), &[1, 1, 1, 2], &[2.0, 3.0]);
    check(19, graph(&[-2.0, 0.0, 0.0, 9.0], &strides, &[]), &[1, 1, 1, 2], &[0.0, 0.0]);
    let bias = ("b", floats_tensor("b", &[1], &[0.5]));
    let mask = ("m", floats_tensor("m", &[1, 1, 1, 2], &[0.5, 2.0]));
    check(19, graph(&[0.0; 4], &strides, &[bias, mask.clone()]), &[1, 1, 1, 2], &[1.5, 12.5]);
    check(22, graph(&[0.0; 4], &strides, &[("", mask.1.clone()), mask]), &[1, 1, 1, 2], &[1.0, 12.0]);
    let other = graph(&[0.0; 6], &strides, &[]);
    assert!(faults(&model(19, other))[0].contains("offsets that do not agree"));
    for (name, count, numbers) in [
        ("strides", 2, vec![1, -2]),
        ("strides", 2, vec![1 << 20, 1]),
        ("dilations", 2, vec![-1, 1]),
        ("dilations", 2, vec![1, i64::MAX]),
        ("dilations", 2, vec![1]),
        ("pads", 4, vec![0, 0, 0, -1]),
        ("pads", 4, vec![i64::MAX, 0, i64::MAX, 0]),
        ("pads", 4, vec![0, 0]),
    ] {
        let said = faults(&model(19, graph(&[0.0; 18], &[ints(name, &numbers)], &[]))).join(" ");
        assert!(said.contains(&format!("`{name}` is not {count} sizes")), "{name} {numbers:?}: {said}");
    }
}

/// Result `index` of Unique of some numbers in a row.
fn unique(numbers: &[f32], attributes: &[Message], index: usize) -> (Vec<u64>, Vec<f32>) {
    let names = ["u", "first", "inverse", "counts"];
    let graph = Graph::default().weight(floats_tensor("w", &[numbers.len() as i64], numbers));
    compute(11, as_floats(graph.node("Unique", &["w"], &names, attributes), names[index]))
}

#[test]
fn equal_numbers_are_found_in_their_order_or_as_they_appear() {
    let numbers = [2.0, f32::NAN, 1.0, 2.0, -0.0, 0.0, f32::NAN];
    let results = |attributes: &[Message]| [0, 1, 2, 3].map(|index| unique(&numbers, attributes, index).1);
    let [values, firsts, inverse, counts] = results(&[]);
    assert_eq!(values[..3], [0.0, 1.0, 2.0]);
    assert!(values[3].is_nan());
    assert_eq!(firsts, [4.0, 2.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!(inverse, [2.0, 3.0, 1.0, 2.0, 0.0, 0.0, 3.0]);
    assert_eq!(counts, [2.0, 1.0, 2.0, 2.0, 0.0, 0.0, 0.0]);
    let [values, firsts, inverse, counts] = results(&[int("sorted", 0)]);
    assert_eq!((values[0], values[2], values[3]), (2.0, 1.0, 0.0));
    assert_eq!(firsts, [0.0, 1.0, 2.0, 4.0, 0.0, 0.0, 0.0]);
    assert_eq!(inverse, [0.0, 1.0, 2.0, 0.0, 3.0, 3.0, 1.0]);
    assert_eq!(counts, [2.0, 2.0, 1.0, 2.0, 0.0, 0.0, 0.0]);
}

#[test]
fn equal_slices_are_found_by_all_their_numbers() {
    let numbers = [1.0, 2.0, 1.0, 1.0, 1.0, 2.0];
    let graph = |attributes: &[Message], name: &str| {
        let graph = Graph::default().weight(floats_tensor("w", &[3, 2], &numbers));
        as_floats(graph.node("Unique", &["w"], &["u", "first", "inverse"], attributes), name)
    };
    check(11, graph(&[int("axis", 0)], "u"), &[3, 2], &[1.0, 1.0, 1.0, 2.0, 0.0, 0.0]);
    check(11, graph(&[int("axis", 0)], "first"), &[3], &[1.0, 0.0, 0.0]);
    check(11, graph(&[int("axis", 0), int("sorted", 0)], "u"), &[3, 2], &[1.0, 2.0, 1.0, 1.0, 0.0, 0.0]);
    check(11, graph(&[int("axis", 0), int("sorted", 0)], "inverse"), &[3], &[0.0, 1.0, 0.0]);
    check(11, graph(&[int("axis", -1)], "u"), &[3, 2], &[1.0, 2.0, 1.0, 1.0, 1.0, 2.0]);
    // Slices [[0, 1], [1, 0]] and [[0, 0], [2, 0]]: the second is less, as its second number is.
    let cube = floats_tensor("w", &[2, 2, 2], &[0.0, 0.0, 1.0, 0.0, 1.0, 2.0, 0.0, 0.0]);
    let graph = Graph::default().weight(cube).node("Unique", &["w"], &["u"], &[int("axis", 2)]);
    check(11, as_floats(graph, "u"), &[2, 2, 2], &[0.0, 0.0, 0.0, 1.0, 2.0, 1.0, 0.0, 0.0]);
}

#[test]
fn sequences_of_numbers_are_counted_and_weighed() {
    let counted = |counts: &[i64], mode: &str, most: i64, skips: i64, places: &[i64]| {
        let attributes = [
            string("mode", mode),
            int("min_gram_length", 1),
            int("max_gram_length", most),
            int("max_skip_count", skips),
            ints("pool_int64s", &[1, 7, 1, 2, 3, 1]),
            ints("ngram_counts", counts),
            ints("ngram_indexes", places),
            floats("weights", &[0.5, 2.0, 3.0, 4.0]),
        ];
        let graph = Graph::default().weight(ints_tensor("w", &[1, 2, 3, 2, 1, 2]));
        graph.node("TfIdfVectorizer", &["w"], &["y"], &attributes).output("y")
    };
    let graph =
        |mode: &str, most: i64, skips: i64, places: &[i64]| counted(&[0, 2], mode, most, skips, places);
    let in_order = [0, 1, 2, 3];
    check(9, graph("TF", 2, 0, &in_order), &[4], &[2.0, 0.0, 2.0, 0.0]);
    check(9, graph("TF", 1, 0, &in_order), &[4], &[2.0, 0.0, 0.0, 0.0]);
    // One number between: 1 3, 2 2, 3 1, 2 2. Two: 1 2, 2 1, 3 2.
    check(9, graph("TF", 2, 2, &in_order), &[4], &[2.0, 0.0, 3.0, 1.0]);
    check(9, graph("TF", 2, 0, &[5, 0, 3, 1]), &[6], &[0.0, 0.0, 0.0, 2.0, 0.0, 2.0]);
    check(9, graph("IDF", 2, 0, &in_order), &[4], &[0.5, 0.0, 3.0, 0.0]);
    check(9, graph("TFIDF", 2, 0, &in_order), &[4], &[1.0, 0.0, 6.0, 0.0]);
    let twice = model(9, graph("TF", 2, 0, &[0, 1, 1, 3]));
    assert!(faults(&twice)[0].contains("a place twice"));
    let turned = model(9, graph("IDF", 2, 0, &[1, 0, 2, 3]));
    assert!(faults(&turned)[0].contains("whose places are not in their order"));
    // Beyond the pool of six numbers, before it, backwards, and with half a pair.
    for counts in [[0, 8], [-1, 2], [4, 2], [0, 3]] {
        let wrong = faults(&model(9, counted(&counts, "TF", 2, 0, &in_order)));
        assert!(
            wrong[0].contains("does not say where sequences of each length begin"),
            "{counts:?}: {wrong:?}"
        );
    }
}

#[test]
fn a_size_reaches_half_as_far_to_each_side_of_a_centre() {
    let kept = |boxes: &[f32]| {
        let graph = Graph::default().weight(floats_tensor("boxes", &[1, 2, 4], boxes));
        let graph = graph.weight(floats_tensor("scores", &[1, 1, 2], &[0.75, 0.5]));
        let graph = graph.weight(ints_tensor("most", &[2])).weight(floats_tensor("overlap", &[1], &[0.0]));
        let operands = ["boxes", "scores", "most", "overlap"];
        let graph = graph.node("NonMaxSuppression", &operands, &["i"], &[int("center_point_box", 1)]);
        compute(11, as_floats(graph, "i"))
    };
    let apart = (vec![2, 3], vec![0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    let beside = |distance: f32, size: f32| kept(&[0.0, 0.0, size, size, distance, 0.0, size, size]);
    assert_eq!(beside(0.7, 0.5), apart);
    assert_eq!(beside(1.1, 1.0), apart);
    assert_eq!(beside(0.9, 1.0), (vec![2, 3], vec![0.0; 6]));
}

#[test]
fn boxes_are_of_f32_and_no_fewer_than_none_are_picked() {
    check(11, suppression(&[ints_tensor("most", &[-1])], &[]), &[0, 3], &[]);
    let double = Graph::default().input("x", &[1, 2, 4]).node("Cast", &["x"], &["d"], &[int("to", 11)]);
    let double = double.weight(floats_tensor("s", &[1, 1, 2], &[0.0; 2]));
    let double = double.node("NonMaxSuppression", &["d", "s"], &["y"], &[]).output("y");
    refuses(11, double, "boxes that are not of f32");
}

#[test]
fn regions_are_of_images_and_have_up_to_65535_bins_along_an_axis() {
    let region = |image: &[i64], attributes: &[Message]| {
        let graph = one_node("RoiAlign", image, &["x", "b", "i"], attributes);
        graph.weight(floats_tensor("b", &[1, 4], &[0.0; 4])).weight(ints_tensor("i", &[0]))
    };
    refuses(16, region(&[1, 4, 4], &[]), "an image of other than four axes");
    for name in ["output_height", "output_width"] {
        let most = model(16, region(&[1, 1, 4, 4], &[int(name, 65_535)]));
        assert!(import_bytes(&most.0, StrippedWeights::Refuse, &[]).is_ok(), "{name}");
    }
}

/// DeformConv of inputs of these shapes: an image, a filter, and offsets.
fn moved([image, filter, offsets]: [&[i64]; 3], attributes: &[Message]) -> Graph {
    let graph = Graph::default().input("x", image).input("w", filter).input("o", offsets);
    graph.node("DeformConv", &["x", "w", "o"], &["y"], attributes).output("y")
}

#[test]
fn a_moved_filter_has_a_limit_and_so_have_its_windows() {
    let places = "a filter or a result of more than 16777216 places";
    let agree = "channels, groups and offsets that do not agree";
    let one: &[i64] = &[1, 1, 1, 1];
    let of_rows = |rows: i64| [1, 1, rows, 4096];
    refuses(22, moved([&of_rows(4097), one, one], &[]), places);
    refuses(22, moved([&of_rows(4096), one, one], &[]), agree);
    refuses(22, moved([&of_rows(4097), &of_rows(4097), one], &[]), places);
    refuses(22, moved([&of_rows(4096), &of_rows(4096), one], &[]), agree);
    let none = "an image or a filter without elements";
    refuses(22, moved([&[0, 1, 3, 3], one, one], &[]), none);
    refuses(22, moved([&[1, 1, 3, 3], &[0, 1, 1, 1], one], &[]), none);
    let flat = "an image or a filter of other than four axes";
    refuses(22, moved([&[1, 1, 3], one, one], &[]), flat);
    refuses(22, moved([&[1, 1, 3, 3], &[1, 1, 1], one], &[]), flat);
}

#[test]
fn channels_of_a_moved_filter_are_those_of_its_groups() {
    let agree = "channels, groups and offsets that do not agree";
    let of = |filter: &[i64], fields: i64, attributes: &[Message]| {
        moved([&[1, 4, 2, 2], filter, &[1, 2 * fields, 2, 2]], attributes)
    };
    let count = |name: &str, count: i64| int(name, count);
    let two = [count("group", 2)];
    let imports = |graph: Graph| import_bytes(&model(22, graph).0, StrippedWeights::Refuse, &[]).is_ok();
    assert!(imports(of(&[4, 2, 1, 1], 1, &two)));
    assert!(imports(of(&[3, 4, 1, 1], 4, &[count("offset_group", 4)])));
    refuses(22, of(&[3, 2, 1, 1], 1, &two), agree);
    refuses(22, of(&[4, 3, 1, 1], 1, &two), agree);
    refuses(22, of(&[2, 3, 1, 1], 1, &[]), agree);
    refuses(22, of(&[2, 4, 1, 1], 3, &[count("offset_group", 3)]), agree);
    refuses(22, of(&[2, 4, 1, 1], 3, &[]), agree);
}

#[test]
fn a_moved_filter_may_be_as_large_as_its_image_and_steps_are_at_least_1() {
    let constant = |filter: &[i64], offsets: &[i64], attributes: &[Message]| {
        let zeros = |name: &str, dims: &[i64], number: f32| {
            floats_tensor(name, dims, &vec![number; dims.iter().product::<i64>() as usize])
        };
        let graph = one_node("DeformConv", &[1, 1, 3, 3], &["x", "w", "o"], attributes);
        graph.weight(zeros("w", filter, 1.0)).weight(zeros("o", offsets, 0.0))
    };
    check(22, constant(&[1, 1, 3, 3], &[1, 18, 1, 1], &[]), &[1, 1, 1, 1], &[45.0]);
    let large = "a filter larger than the image";
    refuses(22, constant(&[1, 1, 4, 3], &[1, 24, 1, 1], &[]), large);
    refuses(22, constant(&[1, 1, 3, 4], &[1, 24, 1, 1], &[]), large);
    for steps in [[0, 1], [1, 0]] {
        refuses(22, constant(&[1, 1, 1, 1], &[1, 2, 1, 1], &[ints("strides", &steps)]), large);
    }
    let wide = [ints("strides", &[(1 << 20) - 1, 2])];
    check(22, constant(&[1, 1, 1, 1], &[1, 2, 1, 2], &wide), &[1, 1, 1, 2], &[1.0, 3.0]);
}
