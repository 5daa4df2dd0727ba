//! That an ImageDecoder whose stream is known becomes a constant, and any other is refused.
//!
//! What the pixels of each format are is tested beside the decoders.

use import::onnx::StrippedWeights;
use ir::interp::run;

use crate::fixture::{faults, import_bytes};
use crate::writer::{Graph, Message, model, string, value_info};

const UINT8: i32 = 2;

/// Two rows of a red and a green pixel.
const PPM: &[u8] = b"P6 2 2 255 \xFF\0\0\0\xFF\0\xFF\0\0\0\xFF\0";

fn stream(bytes: &[u8]) -> Message {
    Message::default().packed(1, &[bytes.len() as i64]).int(2, UINT8.into()).bytes(9, bytes).bytes(8, "x")
}

fn decoder(bytes: &[u8], attributes: &[Message]) -> Graph {
    Graph::default().weight(stream(bytes)).node("ImageDecoder", &["x"], &["y"], attributes).output("y")
}

fn check(bytes: &[u8], format: &str, shape: &[u64], expected: &[u8]) {
    let graph = decoder(bytes, &[string("pixel_format", format)]);
    let module = import_bytes(&model(20, graph).0, StrippedWeights::Refuse, &[]).unwrap();
    let result = run(&module, "main", &[]).unwrap().remove(0);
    assert_eq!(module.ctx.static_shape(result.ty).unwrap(), shape);
    assert_eq!(&result.bytes[..], expected);
}

#[test]
fn a_known_stream_becomes_an_image() {
    check(PPM, "RGB", &[2, 2, 3], &PPM[11..]);
    check(PPM, "BGR", &[2, 2, 3], &[0, 0, 255, 0, 255, 0, 0, 0, 255, 0, 255, 0]);
    check(PPM, "Grayscale", &[2, 2, 1], &[76, 150, 76, 150]);
}

#[test]
fn a_stream_that_is_computed_of_constants_is_known() {
    let graph = Graph::default().weight(stream(PPM));
    let graph = graph.node("Identity", &["x"], &["z"], &[]);
    let graph = graph.node("ImageDecoder", &["z"], &["y"], &[]).output("y");
    let module = import_bytes(&model(20, graph).0, StrippedWeights::Refuse, &[]).unwrap();
    assert_eq!(&run(&module, "main", &[]).unwrap()[0].bytes[..], &PPM[11..]);
}

#[test]
fn a_damaged_stream_becomes_an_image_without_pixels() {
    check(&PPM[..PPM.len() - 1], "RGB", &[0, 0, 3], &[]);
    check(b"text", "BGR", &[0, 0, 3], &[]);
    check(b"", "Grayscale", &[0, 0, 1], &[]);
}

#[test]
fn what_is_not_known_or_not_exact_is_refused() {
    let check = |graph: Graph, expected: &str| {
        let found = faults(&model(20, graph)).join("\n");
        assert!(found.contains(expected), "no `{expected}` in: {found}");
    };
    let mut graph = Graph::default();
    graph.inputs.push(value_info("x", UINT8, &[9]));
    let graph = graph.node("ImageDecoder", &["x"], &["y"], &[]).output("y");
    check(graph, "the sizes of the image are in its stream (make the stream a constant of the model)");
    check(decoder(PPM, &[string("pixel_format", "HSV")]), "`pixel_format` \"HSV\"");
    check(decoder(b"P5 1 1 65535 \0\0", &[]), "the image is not decoded: gray samples of more than 8 bits");
    check(decoder(b"P5 65535 65535 255 ", &[]), "the image is not decoded: 65535 rows of 65535 pixels");
}
