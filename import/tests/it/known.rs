//! That numbers which a node must know while a model is read are known of constants and of what is computed
//! of them, in each type that they may have, and no others.

use import::onnx::StrippedWeights;

use crate::fixture::{import_bytes, refuses};
use crate::values::{check, compute, with_constants};
use crate::writer::{
    FLOAT, Graph, INT64, Message, floats_tensor, int, ints_tensor, model, raw_tensor, tensor, value_info,
};

/// The text of the module that a graph becomes.
fn text(version: i64, graph: Graph) -> String {
    let module = import_bytes(&model(version, graph).0, StrippedWeights::Refuse, &[]);
    ir::text::print(&module.unwrap_or_else(|faults| panic!("{faults:?}")))
}

#[test]
fn a_number_of_picked_elements_is_not_what_was_picked() {
    // Of the one element 7 is picked: one element, not seven.
    let picked = Graph::default().weight(ints_tensor("seven", &[7])).weight(raw_tensor("c", 9, &[1], &[1]));
    let picked = picked.node("Compress", &["seven", "c"], &["p"], &[int("axis", 0)]);
    let sizes = picked.clone().node("Shape", &["p"], &["s"], &[]);
    let one = tensor("value", &floats_tensor("", &[1], &[1.0]));
    check(13, sizes.node("ConstantOfShape", &["s"], &["y"], &[one]).output("y"), &[1], &[1.0]);
    let numbers = Graph { nodes: picked.nodes, initializers: picked.initializers, ..Graph::default() };
    let numbers = numbers.input("x", &[7]).node("Reshape", &["x", "p"], &["y"], &[]).output("y");
    refuses(13, numbers, "input 1 is computed, expected a constant");
}

#[test]
fn what_follows_from_constants_in_31_steps_is_known() {
    let range = |steps: usize| {
        let number = |name: &str, number: f32| floats_tensor(name, &[], &[number]);
        let graph = Graph::default().weight(number("n0", 0.5)).weight(number("limit", 2.0));
        let negated = |graph: Graph, step: usize| {
            graph.node("Neg", &[&format!("n{step}")], &[&format!("n{}", step + 1)], &[])
        };
        let graph = (0..steps).fold(graph.weight(number("one", 1.0)), negated);
        graph.node("Range", &[&format!("n{steps}"), "limit", "one"], &["y"], &[]).output("y")
    };
    check(13, range(0), &[2], &[0.5, 1.5]);
    check(13, range(30), &[2], &[0.5, 1.5]);
    check(13, range(31), &[3], &[-0.5, 0.5, 1.5]);
    refuses(13, range(32), "a start, limit or step that is computed, expected constants");
}

#[test]
fn constants_of_64_kibibytes_are_read_as_numbers_and_no_larger_ones() {
    let tile = |count: usize| {
        let times = ints_tensor("w0", &vec![1; count]);
        with_constants("Tile", &[2], std::slice::from_ref(&times), &[])
    };
    refuses(13, tile(1 << 13), "repeats that are not one for each axis");
    refuses(13, tile((1 << 13) + 1), "input 1 has 65544 bytes");
}

#[test]
fn a_number_is_read_in_the_type_that_it_has() {
    let hot = |element: i32, depth: &[u8]| {
        let graph = Graph::default().weight(ints_tensor("indices", &[0, -1, 1]));
        let graph = graph.weight(raw_tensor("depth", element, &[], depth));
        let graph = graph.weight(floats_tensor("values", &[2], &[5.0, 9.0]));
        graph.node("OneHot", &["indices", "depth", "values"], &["y"], &[]).output("y")
    };
    let three: [(i32, &[u8]); 10] = [
        (1, &3f32.to_le_bytes()),
        (2, &[3]),
        (3, &[3]),
        (4, &[3, 0]),
        (5, &[3, 0]),
        (6, &[3, 0, 0, 0]),
        (7, &[3, 0, 0, 0, 0, 0, 0, 0]),
        (10, &0x4200u16.to_le_bytes()),
        (11, &3f64.to_le_bytes()),
        (16, &0x4040u16.to_le_bytes()),
    ];
    let rows = [[9.0, 5.0, 5.0], [5.0, 5.0, 9.0], [5.0, 9.0, 5.0]];
    for (element, depth) in three {
        check(11, hot(element, depth), &[3, 3], &rows.concat());
    }
    // As numbers with a sign these are -3.
    assert_eq!(compute(11, hot(2, &[0xfd])).0, [3, 0xfd]);
    assert_eq!(compute(11, hot(4, &[0xfd, 0xff])).0, [3, 0xfffd]);
    for (element, depth) in [(3, &[0xfd][..]), (5, &[0xfd, 0xff]), (6, &[0xfd, 0xff, 0xff, 0xff])] {
        refuses(11, hot(element, depth), "a depth that is no size");
    }
}

#[test]
fn a_stream_is_one_row_of_bytes() {
    let decoded = |element: i32, shape: &[i64], bytes: &[u8]| {
        let graph = Graph::default().weight(raw_tensor("x", element, shape, bytes));
        graph.node("ImageDecoder", &["x"], &["y"], &[]).output("y")
    };
    let ppm = b"P6 1 1 255 abc";
    let graph = decoded(2, &[14], ppm).node("Cast", &["y"], &["n"], &[int("to", FLOAT.into())]);
    check(20, Graph { outputs: vec![], ..graph }.output("n"), &[1, 1, 3], &[97.0, 98.0, 99.0]);
    let other = "input 0 is not one sequence of `uint8`";
    refuses(20, decoded(3, &[14], ppm), other);
    refuses(20, decoded(2, &[1, 14], ppm), other);
    refuses(20, decoded(4, &[7], ppm), other);
}

#[test]
fn constants_of_eight_elements_are_written_down_and_others_are_kept_outside() {
    let sum = |count: usize| {
        let numbers: Vec<f32> = (0..count).map(|x| x as f32).collect();
        let graph = Graph::default().input("x", &[count as i64]);
        let graph = graph.weight(floats_tensor("w", &[count as i64], &numbers));
        text(17, graph.node("Add", &["x", "w"], &["y"], &[]).output("y"))
    };
    let [few, more] = [8, 9].map(sum);
    assert!(few.contains("dense<[0.0") && !few.contains("dense_resource"), "{few}");
    assert!(more.contains("dense_resource<w>"), "{more}");
    // Elements of less than a byte have no text.
    let packed = Graph::default().weight(raw_tensor("w", 22, &[2], &[0x21]));
    let packed = packed.node("Cast", &["w"], &["y"], &[int("to", FLOAT.into())]).output("y");
    let packed = text(21, packed);
    assert!(packed.contains("dense_resource<w>"), "{packed}");
}

#[test]
fn results_are_of_sizes_that_memory_holds() {
    let wide = |sizes: &[i64]| {
        let graph = Graph::default().weight(raw_tensor("one", 3, &[], &[1])).weight(ints_tensor("s", sizes));
        graph.node("Expand", &["one", "s"], &["y"], &[]).output("y")
    };
    let import = |graph: Graph| import_bytes(&model(13, graph).0, StrippedWeights::Refuse, &[]);
    // Their bits are counted by numbers of 64 bits.
    assert!(import(wide(&[(1 << 61) - 1])).is_ok());
    refuses(13, wide(&[1 << 61]), "a result of more elements than memory holds");
    refuses(13, wide(&[1 << 31, 1 << 31]), "a result of more elements than memory holds");
    // What is not known yet is asked at the run.
    let named = Graph { inputs: vec![value_info("x", INT64, &[-1])], ..Graph::default() };
    let named = named.node("Shape", &["x"], &["n"], &[]).weight(raw_tensor("one", 3, &[], &[1]));
    let named = named.node("Concat", &["n", "n"], &["s"], &[int("axis", 0)]);
    assert!(import(named.node("Expand", &["one", "s"], &["y"], &[]).output("y")).is_ok());
}

/// A matrix of weights of bands, of as many rows as a transform of this length has frequencies.
fn mel(bands: i64, length: i64) -> Graph {
    let size = |name: &str, number: i64| raw_tensor(name, INT64, &[], &number.to_le_bytes());
    let bound = |name: &str, number: f32| floats_tensor(name, &[], &[number]);
    let all: [Message; 5] =
        [size("b", bands), size("l", length), size("r", 8192), bound("lo", 0.0), bound("hi", 4096.0)];
    let graph = all.into_iter().fold(Graph::default(), Graph::weight);
    graph.node("MelWeightMatrix", &["b", "l", "r", "lo", "hi"], &["y"], &[]).output("y")
}

#[test]
fn a_table_has_as_many_elements_as_the_limit() {
    let most = mel(1 << 12, (1 << 13) - 2);
    assert!(import_bytes(&model(17, most).0, StrippedWeights::Refuse, &[]).is_ok());
    refuses(17, mel(1 << 12, 1 << 13), "4097 by 4096 weights");
    refuses(17, mel(0, 16), "input 0 is no size");
    refuses(17, mel(8, 1 << 24), "input 1 is no size");
}
