//! That no file makes the importer panic, whatever stands in it.

use import::onnx::StrippedWeights;

use crate::fixture::import_bytes;
use crate::writer::{
    Graph, Message, float, floats_tensor, int, ints, ints_tensor, model, string, tensor, value_info,
};

/// Numbers of a linear congruential generator (Knuth's MMIX).
pub(crate) fn random_numbers(seed: u64) -> impl FnMut() -> usize {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    }
}

/// The bytes, with one to three of them changed.
pub(crate) fn flipped(bytes: &[u8], random: &mut impl FnMut() -> usize) -> Vec<u8> {
    let mut broken = bytes.to_vec();
    for _ in 0..=random() % 3 {
        let at = random() % broken.len();
        broken[at] = random() as u8;
    }
    broken
}

/// A model in which most converters have something to do.
fn busy() -> Message {
    let scalar = |value| tensor("value", &Message::default().int(2, 1).float(4, value));
    let norm = ["c", "n", "n", "n", "n"];
    let mut graph = Graph::default()
        .input("x", &[1, 4, 9, 9])
        .weight(floats_tensor("w", &[4, 2, 3, 3], &[0.5; 72]))
        .weight(floats_tensor("n", &[4], &[1.0; 4]))
        .weight(floats_tensor("m", &[6, 36], &[1.0; 216]))
        .weight(floats_tensor("b", &[1, 6], &[1.0; 6]))
        .weight(ints_tensor("s", &[0, -1, 36]))
        .weight(ints_tensor("axes", &[0]))
        .node("Constant", &[], &["lo"], &[scalar(0.0)])
        .node("Conv", &["x", "w", "n"], &["c"], &[int("group", 2), string("auto_pad", "SAME_UPPER")])
        .node("BatchNormalization", &norm, &["d"], &[float("epsilon", 0.1)])
        .node("Clip", &["d", "lo"], &["e"], &[])
        .node(
            "MaxPool",
            &["e"],
            &["f"],
            &[ints("kernel_shape", &[2, 2]), ints("strides", &[3, 3]), int("ceil_mode", 1)],
        )
        .node("AveragePool", &["e"], &["g"], &[ints("kernel_shape", &[3, 3]), ints("strides", &[3, 3])])
        .node("Concat", &["f", "g"], &["h"], &[int("axis", 1)])
        .node("Transpose", &["h"], &["i"], &[ints("perm", &[0, 2, 3, 1])])
        .node("Reshape", &["g", "s"], &["j"], &[])
        .node("Squeeze", &["j", "axes"], &["k"], &[])
        .node("Gemm", &["k", "m", "b"], &["l"], &[int("transB", 1), float("alpha", 2.0)])
        .node("Softmax", &["l"], &["y"], &[int("axis", -1)])
        .output("y")
        .output("i");
    graph.value_infos = vec![value_info("c", 1, &[1, 4, 9, 9]), value_info("g", 1, &[-1, 4, 3, 3])];
    model(17, graph)
}

fn import(bytes: &[u8]) -> Result<(), Vec<String>> {
    import_bytes(bytes, StrippedWeights::Synthesize, &[]).map(|_| ())
}

#[test]
fn flipped_bytes_are_imported_or_refused() {
    let bytes = busy().0;
    import(&bytes).unwrap();
    let mut random = random_numbers(2);
    let accepted = (0..4000).filter(|_| import(&flipped(&bytes, &mut random)).is_ok()).count();
    assert!((1..4000).contains(&accepted), "{accepted} accepted: the flips test nothing");
}

#[test]
fn truncated_files_are_imported_or_refused() {
    let bytes = busy().0;
    let accepted = (0..bytes.len()).filter(|&length| import(&bytes[..length]).is_ok()).count();
    assert_eq!(accepted, 0, "the operator set stands at the end: no part is a model");
}
