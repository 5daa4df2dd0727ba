//! What the typed views say of well-formed and malformed files.

use import::onnx::model::{AttributeValue, MAX_DEPTH, ModelProto};
use import::onnx::tensor::{Dimension, TypeProto};

use crate::fuzz::{flipped, random_numbers};
use crate::writer::{
    self, Graph, Message, float, floats_tensor, graph, int, ints, ints_tensor, property, string, tensor,
};

/// A file in which everything occurs: an attribute of each kind, weights in each encoding, a nested graph.
fn everything() -> Vec<u8> {
    let inner = Graph::default().node("Relu", &["x"], &["z"], &[]).output("z");
    let function =
        Message::default().bytes(1, "Twice").strings(4, &["a"]).strings(5, &["b"]).bytes(10, "mine");
    let unpacked = Message::default().int(1, 2).int(2, 7).int(7, 5).int(7, -6).bytes(8, "unpacked");
    let external = property("location", "w.bin").0;
    let outside =
        Message::default().packed(1, &[4]).int(2, 1).bytes(8, "outside").bytes(13, external).int(14, 1);
    let graph = Graph::default()
        .input("x", &[1, -1, 8, 8])
        .weight(floats_tensor("w", &[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
        .weight(unpacked)
        .weight(outside)
        .node(
            "Conv",
            &["x", "w", ""],
            &["y"],
            &[ints("pads", &[0, 1, 0, 1]), int("group", -1), string("auto_pad", "VALID")],
        )
        .node(
            "If",
            &["y"],
            &["z"],
            &[graph("then_branch", inner), float("f", 0.5), tensor("t", &ints_tensor("", &[3, 4]))],
        )
        .output("z");
    let model = writer::model(17, graph).message(14, &property("key", "value")).message(25, &function);
    model.bytes(999, "a field of the future").0
}

#[test]
fn a_file_is_read_as_it_was_written() {
    let bytes = everything();
    let model = ModelProto::read(&bytes).unwrap();
    assert_eq!((model.ir_version, model.opsets[0].version, model.property("key")), (8, 17, Some("value")));
    assert_eq!((model.functions[0].name, model.functions[0].domain), ("Twice", "mine"));
    let conv = &model.graph.nodes[0];
    assert_eq!((conv.op_type, conv.name, &conv.inputs[..]), ("Conv", "Conv_y", &["x", "w", ""][..]));
    let AttributeValue::Ints(pads) = &conv.attribute("pads").unwrap().value else { panic!("pads") };
    assert_eq!(pads, &[0, 1, 0, 1]);
    assert!(matches!(conv.attribute("group").unwrap().value, AttributeValue::Int(-1)));
    let AttributeValue::String(text) = conv.attribute("auto_pad").unwrap().value else { panic!("auto_pad") };
    assert_eq!(text.bytes, b"VALID");
    let AttributeValue::Graph(inner) = &model.graph.nodes[1].attribute("then_branch").unwrap().value else {
        panic!("g")
    };
    assert_eq!(inner.nodes[0].op_type, "Relu");
    let dims = vec![Dimension::Value(1), Dimension::Unknown, Dimension::Value(8), Dimension::Value(8)];
    assert_eq!(model.graph.inputs[0].ty, TypeProto::Tensor { element: 1, shape: Some(dims) });
}

#[test]
fn raw_data_is_the_file_itself() {
    let bytes = everything();
    let model = ModelProto::read(&bytes).unwrap();
    let raw = model.graph.initializers[0].raw_data.unwrap();
    assert_eq!(raw.bytes.as_ptr(), bytes[raw.offset..].as_ptr());
    assert_eq!(raw.bytes.len(), 24);
}

#[test]
fn weights_keep_their_encoding() {
    let bytes = everything();
    let model = ModelProto::read(&bytes).unwrap();
    let [_, unpacked, outside] = &model.graph.initializers[..] else { panic!("three weights") };
    assert_eq!(unpacked.int64_data.varints().collect::<Vec<_>>(), [5, -6]);
    assert!(outside.is_external && outside.raw_data.is_none());
    assert_eq!(outside.external_data, [("location", "w.bin")]);
}

#[test]
fn an_error_names_byte_and_fields() {
    let bad_node = Message::default().int(4, 7);
    let graph = Message::default().messages(1, &[Message::default(), bad_node]);
    let error = ModelProto::read(&Message::default().message(7, &graph).0).unwrap_err();
    assert_eq!(
        error.to_string(),
        "byte 6: a varint, expected length-delimited bytes (in graph.node[1].op_type)"
    );
}

#[test]
fn a_file_without_a_graph_is_refused() {
    assert_eq!(ModelProto::read(b"").unwrap_err().message, "an empty file, expected an ONNX model");
    assert_eq!(ModelProto::read(b"\x08\x08").unwrap_err().message, "a model without a graph");
}

#[test]
fn graphs_nest_only_so_deep() {
    let nest = |depth| {
        (1..depth)
            .fold(Graph::default(), |inner, _| Graph::default().node("If", &[], &[], &[graph("g", inner)]))
    };
    assert!(ModelProto::read(&writer::model(17, nest(MAX_DEPTH)).0).is_ok());
    let error = ModelProto::read(&writer::model(17, nest(MAX_DEPTH + 1)).0).unwrap_err();
    assert_eq!(error.message, format!("graphs nested deeper than {MAX_DEPTH}"));
    let graphs = |inner: Graph| Message::default().bytes(1, "g").message(11, &inner.message()).int(20, 10);
    let nest = |depth| {
        (1..depth).fold(Graph::default(), |inner, _| Graph::default().node("If", &[], &[], &[graphs(inner)]))
    };
    assert!(ModelProto::read(&writer::model(17, nest(MAX_DEPTH)).0).is_ok());
    let error = ModelProto::read(&writer::model(17, nest(MAX_DEPTH + 1)).0).unwrap_err();
    assert_eq!(error.message, format!("graphs nested deeper than {MAX_DEPTH}"));
}

#[test]
fn an_attribute_without_a_type_has_that_of_its_value() {
    let read = |attribute: Message| {
        let graph = Graph::default().node("Cast", &[], &[], &[attribute.bytes(1, "a")]);
        ModelProto::read(&writer::model(17, graph).0).map(|_| ()).map_err(|error| error.message)
    };
    assert_eq!(read(Message::default().int(3, 5)), Ok(()));
    assert_eq!(read(Message::default().int(12, 5)), Err("attribute `a` has no value".to_owned()));
}

#[test]
fn a_truncated_file_is_an_error_at_every_length_inside_the_graph() {
    let bytes = everything();
    let graph_end = bytes.windows(4).position(|window| window == b"\x42\x04\x0a\x00").unwrap();
    for length in 0..bytes.len() {
        let result = ModelProto::read(&bytes[..length]);
        assert!(result.is_err() || length >= graph_end, "{length} bytes of {}", bytes.len());
    }
}

#[test]
fn flipped_bytes_never_panic() {
    let bytes = everything();
    let mut random = random_numbers(1);
    let mut accepted = 0;
    for _ in 0..20_000 {
        let broken = flipped(&bytes, &mut random);
        accepted += usize::from(ModelProto::read(&broken).is_ok());
    }
    assert!((1..20_000).contains(&accepted), "{accepted} accepted: the flips test nothing");
}
