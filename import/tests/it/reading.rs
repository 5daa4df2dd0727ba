//! That each field of a file is read as what the schema says, and that each malformed one is located.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use import::onnx::StrippedWeights;
use import::onnx::declared::{DeclaredSizes, Symbolized};
use import::onnx::edit::{ModelParts, ValueSize, ValueType};
use import::onnx::external::{ExternalFiles, read_file};
use import::onnx::model::{AttributeValue, GraphProto, ModelProto, NodeProto, Opset};
use import::onnx::numbers::{Encoding, NumberField};
use import::onnx::order::order;
use import::onnx::tensor::{TensorProto, ValueInfoProto};
use import::onnx::weights::{Keys, WeightFiles, tensor_of_file};
use import::onnx::wire::{Message as Wire, WireField, append_bytes, append_int};
use import::synth::Stripped;

use crate::fixture::{faults, import_sized};
use crate::values::compute_model;
use crate::writer::{
    Graph, Message, called, float, floats_tensor, function, model, packed_floats, property, value_info,
    with_functions,
};

/// A model of a graph with these fields.
fn model_of(graph: Message) -> Vec<u8> {
    Message::default().message(7, &graph).0
}

/// The fault of a model of a graph with these fields: its message, and the path to it.
fn fault(graph: Message) -> [String; 2] {
    let bytes = model_of(graph);
    let error = ModelProto::read(&bytes).unwrap_err();
    [error.message.clone(), error.path()]
}

fn kind(value: &AttributeValue<'_>) -> &'static str {
    match value {
        AttributeValue::Float(_) => "float",
        AttributeValue::Int(_) => "int",
        AttributeValue::String(_) => "string",
        AttributeValue::Tensor(_) => "tensor",
        AttributeValue::Graph(_) => "graph",
        AttributeValue::Floats(_) => "floats",
        AttributeValue::Ints(_) => "ints",
        AttributeValue::Strings(_) => "strings",
        AttributeValue::Tensors(_) => "tensors",
        AttributeValue::Graphs(_) => "graphs",
        AttributeValue::Type(_) => "type",
        AttributeValue::Types(_) => "types",
        AttributeValue::Sparse => "sparse",
        AttributeValue::Reference(_) => "reference",
    }
}

/// The kind of an attribute `a` with these fields, or its fault.
fn attribute(fields: &Message) -> String {
    let node = Message::default().message(5, &fields.clone().bytes(1, "a"));
    let bytes = model_of(Message::default().message(1, &node));
    match ModelProto::read(&bytes) {
        Ok(model) => kind(&model.graph.nodes[0].attributes[0].value).to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn an_attribute_is_of_the_kind_of_its_field_or_of_the_kind_that_it_says() {
    let none = Message::default;
    let fields = [
        (none().float(2, 0.5), "float", 1),
        (none().int(3, 5), "int", 2),
        (none().bytes(4, "s"), "string", 3),
        (none().message(5, &none()), "tensor", 4),
        (none().message(6, &none()), "graph", 5),
        (none().message(7, &packed_floats(&[0.5])), "floats", 6),
        (none().packed(8, &[5]), "ints", 7),
        (none().bytes(9, "s"), "strings", 8),
        (none().message(10, &none()), "tensors", 9),
        (none().message(11, &none()), "graphs", 10),
        (none().message(22, &none()), "sparse", 11),
        (none().message(23, &none()), "sparse", 12),
        (none().message(14, &none()), "type", 13),
        (none().message(15, &none()), "types", 14),
    ];
    let without_value = ["tensor", "graph", "type"];
    for (field, expected, number) in fields {
        assert_eq!(attribute(&field), expected);
        assert_eq!(attribute(&field.clone().int(20, number)), expected);
        assert_eq!(attribute(&field.bytes(21, "b")), "reference");
        let alone = attribute(&none().int(20, number));
        let ending = "attribute `a` has no value (in graph.node[0].attribute[0])";
        assert!(alone == expected || without_value.contains(&expected) && alone.ends_with(ending), "{alone}");
    }
    assert_eq!(attribute(&none().int(3, 5).int(20, 1)), "float");
    for number in [-1, 0, 15] {
        let found = attribute(&none().int(20, number));
        assert!(found.contains("attribute `a` has no value"), "{found}");
    }
}

#[test]
fn names_of_a_model_are_in_their_fields() {
    let opset = |domain: &str, version: i64| Message::default().bytes(1, domain).int(2, version);
    let node = Message::default().strings(1, &["p", ""]).strings(2, &["q"]).bytes(3, "n").bytes(4, "Op");
    let node = node.bytes(7, "my").bytes(8, "over");
    let function = Message::default().bytes(1, "F").strings(4, &["a", "b"]).strings(5, &["c"]);
    let function = function.strings(6, &["d"]).message(7, &node).message(9, &opset("my", 4)).bytes(10, "of");
    let function = function.message(11, &float("e", 0.5)).bytes(13, "one");
    let named = |name: &str| Message::default().bytes(1, name);
    let tensor = |name: &str| Message::default().bytes(8, name);
    let graph = Message::default().message(1, &node).message(1, &Message::default().bytes(4, "Relu"));
    let graph = graph.bytes(2, "g").message(5, &tensor("w")).message(11, &named("x"));
    let graph = graph.message(12, &named("y")).message(13, &named("v")).message(15, &Message::default());
    let graph = graph.message(15, &Message::default().message(1, &tensor("s")));
    let model = Message::default().int(1, 9).bytes(2, "maker").message(7, &graph);
    let model = model.message(8, &opset("", 17)).message(8, &opset("my", 3));
    let model = model.message(14, &property("k", "1")).message(14, &property("l", "2"));
    let bytes = model.message(25, &function).0;
    let model = ModelProto::read(&bytes).unwrap();
    assert_eq!((model.ir_version, model.producer), (9, "maker"));
    assert_eq!(model.opsets[1], Opset { domain: "my", version: 3 });
    assert_eq!([model.property("k"), model.property("l"), model.property("m")], [Some("1"), Some("2"), None]);
    let graph = &model.graph;
    assert_eq!(
        [graph.name, graph.initializers[0].name, graph.inputs[0].name, graph.outputs[0].name],
        ["g", "w", "x", "y"]
    );
    assert_eq!((graph.value_infos[0].name, &graph.sparse_initializers[..]), ("v", &["", "s"][..]));
    assert_eq!([graph.node_name(0), graph.node_name(1)], ["n", "Relu_1"]);
    let function = &model.functions[0];
    for node in [&graph.nodes[0], &function.nodes[0]] {
        assert_eq!((&node.inputs[..], &node.outputs[..]), (&["p", ""][..], &["q"][..]));
        assert_eq!([node.name, node.op_type, node.domain, node.overload], ["n", "Op", "my", "over"]);
    }
    assert_eq!([function.name, function.domain, function.overload], ["F", "of", "one"]);
    assert_eq!((&function.inputs[..], &function.outputs[..]), (&["a", "b"][..], &["c"][..]));
    assert_eq!((&function.attributes[..], function.defaults[0].name), (&["d"][..], "e"));
    assert_eq!(function.opsets, [Opset { domain: "my", version: 4 }]);
}

#[test]
fn what_is_there_once_is_not_there_twice() {
    let error = ModelProto::read(b"\x3A\0\x3A\0").unwrap_err();
    assert_eq!(error.to_string(), "byte 2: a second one, expected one at most (in graph)");
    let twice = |field: u64| Message::default().message(field, &Message::default()).bytes(field, "");
    let within = |fields: &[u64], message: Message| {
        fields.iter().fold(message, |message, field| Message::default().message(*field, &message))
    };
    let check = |graph: Message, path: &str| {
        assert_eq!(fault(graph), ["a second one, expected one at most", path]);
    };
    check(within(&[11], twice(2)), "graph.input[0].type");
    check(within(&[2, 12], twice(1)), "graph.output[0].type.tensor_type");
    check(within(&[1, 2, 13], twice(2)), "graph.value_info[0].type.tensor_type.shape");
    check(within(&[15], twice(1)), "graph.sparse_initializer[0].values");
    for (field, name) in [(5, "t"), (6, "g"), (14, "tp")] {
        check(within(&[5, 1], twice(field)), &format!("graph.node[0].attribute[0].{name}"));
    }
    let second = Message::default().message(1, &Message::default());
    let second = second.message(1, &Message::default().bytes(1, ""));
    let found = fault(within(&[2, 1, 2, 11], second));
    let path = "graph.input[0].type.tensor_type.shape.dim[1].dim_value";
    assert_eq!(found, ["length-delimited bytes, expected a varint", path]);
}

fn fields(bytes: &[u8]) -> Vec<WireField<'_>> {
    Wire::new(bytes).fields().map(Result::unwrap).collect()
}

#[test]
fn a_field_has_a_number_a_form_and_a_length() {
    let refused = |bytes: &[u8]| Wire::new(bytes).fields().find_map(Result::err).unwrap().to_string();
    assert_eq!(fields(b"\xF8\xFF\xFF\xFF\x0F\x05")[0].number, 536_870_911);
    let number = "byte 0: field number 536870912, expected 1 to 536870911";
    assert_eq!(refused(b"\x80\x80\x80\x80\x10\x05"), number);
    assert_eq!(refused(b"\x0C"), "byte 0: wire type 4, expected 0, 1, 2 or 5");
    assert_eq!(refused(b"\x09\0\0\0\0\0\0\0"), "byte 1: 8 bytes expected, 7 left");
    assert_eq!(refused(b"\x0D\0\0\0"), "byte 1: 4 bytes expected, 3 left");
    let all = fields(b"\x09\0\0\0\0\0\0\0\0\x15\0\0\0\x3F\x18\x07\x22\0");
    assert_eq!(all.iter().map(WireField::offset).collect::<Vec<_>>(), [0, 9, 14, 16]);
    let said = |index: usize| {
        let field = &all[index];
        [
            field.int("a").map_err(|error| error.to_string()).err(),
            field.float("a").map_err(|error| error.to_string()).err(),
            field.bytes("a").map_err(|error| error.to_string()).err(),
        ]
    };
    let of = |at: usize, found: &str, expected: &str| {
        Some(format!("byte {at}: {found}, expected {expected} (in a)"))
    };
    let [int, float, bytes] = ["a varint", "4 fixed bytes", "length-delimited bytes"];
    let eight = "8 fixed bytes";
    assert_eq!(said(0), [of(0, eight, int), of(0, eight, float), of(0, eight, bytes)]);
    assert_eq!(said(1), [of(9, float, int), None, of(9, float, bytes)]);
    assert_eq!(said(2), [None, of(14, int, float), of(14, int, bytes)]);
    assert_eq!(said(3), [of(16, bytes, int), of(16, bytes, float), None]);
    for (number, fits) in [
        (i64::from(i32::MAX), true),
        (i64::from(i32::MIN), true),
        (i64::from(i32::MAX) + 1, false),
        (i64::from(i32::MIN) - 1, false),
    ] {
        let mut message = Vec::new();
        append_int(&mut message, 1, number);
        let found = fields(&message)[0].int32("a").map(i64::from).map_err(|error| error.to_string());
        let fault = format!("byte 0: {number}, expected 32 bits (in a)");
        assert_eq!(found, if fits { Ok(number) } else { Err(fault) });
    }
}

#[test]
fn numbers_are_written_seven_bits_a_byte() {
    let int = |number: i64| {
        let mut message = Vec::new();
        append_int(&mut message, 1, number);
        message
    };
    assert_eq!(int(127), [8, 127]);
    assert_eq!(int(128), [8, 0x80, 1]);
    assert_eq!(int(16384), [8, 0x80, 0x80, 1]);
    let mut message = vec![7];
    append_bytes(&mut message, 16, &[5; 128]);
    assert_eq!((&message[..5], message.len()), (&[7, 0x82, 1, 0x80, 1][..], 133));
}

/// The numbers of the fields of a message, or the fault of one.
fn numbers(bytes: &[u8], encoding: Encoding) -> Result<NumberField<'_>, String> {
    let mut numbers = NumberField::default();
    for field in fields(bytes) {
        numbers.append(field, "d", encoding).map_err(|error| error.to_string())?;
    }
    Ok(numbers)
}

#[test]
fn numbers_lie_in_the_pieces_of_their_writer() {
    let three = [&b"\x09"[..], &[1; 8], b"\x0A\x10", &[2; 16]].concat();
    let three = numbers(&three, Encoding::Fixed64).unwrap();
    assert_eq!((three.len(), three.is_empty(), three.contiguous()), (3, false, None));
    assert_eq!(three.bytes().collect::<Vec<_>>(), [vec![1; 8], vec![2; 16]].concat());
    let one = numbers(b"\x0A\0\x0D\0\0\x80\x3F\x0A\0", Encoding::Fixed32).unwrap();
    assert_eq!((one.len(), one.contiguous().unwrap().offset), (1, 3));
    let none = numbers(b"\x0A\0", Encoding::Varint).unwrap();
    assert_eq!((none.len(), none.is_empty(), none.contiguous().unwrap().bytes.len()), (0, true, 0));
    let said = |bytes: &[u8], encoding: Encoding| numbers(bytes, encoding).map(|_| ()).unwrap_err();
    let nine = [&b"\x0A\x09"[..], &[0; 9]].concat();
    assert_eq!(said(&nine, Encoding::Fixed64), "byte 2: 9 bytes, expected elements of 8 bytes (in d)");
    assert_eq!(said(b"\x0A\x02\x05\x80", Encoding::Varint), "byte 3: a varint that does not end (in d)");
    let four = b"\x0D\0\0\0\0";
    assert_eq!(said(four, Encoding::Varint), "byte 0: 4 fixed bytes, expected varints (in d)");
    assert_eq!(said(four, Encoding::Fixed64), "byte 0: 4 fixed bytes, expected elements of 8 bytes (in d)");
    assert_eq!(said(b"\x08\0", Encoding::Fixed32), "byte 0: a varint, expected elements of 4 bytes (in d)");
}

/// The type of an input, as it is read.
fn type_text(ty: &Message) -> String {
    let input = Message::default().bytes(1, "x").message(2, ty);
    let bytes = model_of(Message::default().message(11, &input));
    format!("{:?}", ModelProto::read(&bytes).unwrap().graph.inputs[0].ty)
}

#[test]
fn types_nest_four_times() {
    let none = Message::default;
    let holding = |field: u64, held: &Message| none().message(field, &none().message(1, held));
    let tensor = none().message(1, &none().int(1, 1));
    let sequences = |count: usize| (0..count).fold(tensor.clone(), |held, _| holding(4, &held));
    let of = |count: usize, last: &str| format!("{}{last}{}", "Sequence(".repeat(count), ")".repeat(count));
    let inner = "Tensor { element: 1, shape: None }";
    for count in [0, 1, 4] {
        assert_eq!(type_text(&sequences(count)), of(count, inner));
    }
    assert_eq!(type_text(&sequences(5)), of(5, "Other(\"a value of many parts\")"));
    assert_eq!(type_text(&holding(9, &sequences(1))), format!("Optional(Sequence({inner}))"));
    assert_eq!(type_text(&holding(4, &none())), "Sequence(Unknown)");
    for (field, other) in [(5, "a map"), (7, "an opaque value"), (8, "a sparse tensor")] {
        assert_eq!(type_text(&none().message(field, &none())), format!("Other({other:?})"));
    }
    assert_eq!(type_text(&none()), "Unknown");
    let number = |number: i64| none().int(1, number);
    let name = |name: &str| none().bytes(2, name);
    let dims = [none(), number(-1), number(0), number(-2), name("n"), name("?"), name("")];
    let shaped = none().message(1, &none().message(2, &none().messages(1, &dims)));
    let expected = "[Unknown, Unknown, Value(0), Value(-2), Symbol(\"n\"), Unknown, Unknown]";
    assert_eq!(type_text(&shaped), format!("Tensor {{ element: 0, shape: Some({expected}) }}"));
}

/// The bytes of a tensor in a file, or what is wrong with it.
fn stored(element: i64, dims: &[i64], data: impl Fn(Message) -> Message) -> Result<Vec<u8>, String> {
    let tensor = data(Message::default().packed(1, dims).int(2, element));
    tensor_of_file(Arc::new(tensor.0)).map(|weight| weight.blob.to_vec())
}

#[test]
fn elements_of_each_type_are_in_the_field_of_that_type() {
    let ints = |element: i64, field: u64, number: i64| {
        stored(element, &[1], |tensor| tensor.packed(field, &[number])).unwrap()
    };
    for element in [2, 3, 17, 18, 19, 20, 24] {
        assert_eq!(ints(element, 5, 0xFE), [0xFE], "{element}");
    }
    for element in [4, 5, 10, 16] {
        assert_eq!(ints(element, 5, 0xABCD), [0xCD, 0xAB], "{element}");
    }
    assert_eq!(ints(3, 5, -2), [0xFE]);
    assert_eq!(ints(6, 5, -2), (-2_i32).to_le_bytes());
    assert_eq!(ints(7, 7, -2), (-2_i64).to_le_bytes());
    assert_eq!(ints(12, 11, 0x8000_0001), [1, 0, 0, 0x80]);
    assert_eq!(ints(13, 11, -1), [0xFF; 8]);
    let nibbles = stored(22, &[3], |tensor| tensor.packed(5, &[0x21, 3]));
    assert_eq!(nibbles.unwrap(), [0x21, 3]);
    let doubles = [1.5_f64, -2.5].map(f64::to_le_bytes).concat();
    assert_eq!(stored(11, &[2], |tensor| tensor.bytes(10, &doubles)).unwrap(), doubles);
    assert_eq!(stored(15, &[1], |tensor| tensor.bytes(10, &doubles)).unwrap(), doubles);
    let floats = packed_floats(&[1.0, 2.0]);
    assert_eq!(stored(14, &[1], |tensor| tensor.message(4, &floats)).unwrap(), floats.0);
    assert_eq!(stored(1, &[2], |tensor| tensor.float(4, 1.0).float(4, 2.0)).unwrap(), floats.0);
    assert_eq!(stored(1, &[0], |tensor| tensor).unwrap(), [0_u8; 0]);
    assert_eq!(stored(9, &[2], |tensor| tensor.packed(5, &[0, 1])).unwrap(), [0, 1]);
}

#[test]
fn a_tensor_has_elements_that_fit() {
    let said = |element: i64, dims: &[i64], raw: &[u8]| {
        stored(element, dims, |tensor| tensor.bytes(9, raw)).unwrap_err()
    };
    assert_eq!(said(9, &[2], &[1, 2]), "a truth value other than 0 and 1");
    for element in [0, 27] {
        let expected = format!("element type {element}, expected one of TensorProto.DataType");
        assert_eq!(said(element, &[1], &[0; 4]), expected);
    }
    assert_eq!(said(1, &[2, -3], &[]), "size -3, expected 0 or more");
    assert_eq!(said(1, &[1], &[0; 3]), "3 bytes of data, expected 4 by type and shape");
    assert_eq!(said(1, &[0], &[0; 4]), "4 bytes of data, expected 0 by type and shape");
    assert_eq!(said(1, &[1], &[]), "no data, expected 4 bytes by type and shape");
    let large = said(1, &[1 << 61, 2], &[]);
    assert_eq!(large, "shape [2305843009213693952, 2] has more elements than memory holds");
    let elsewhere = |place: i64| stored(1, &[1], |tensor| tensor.bytes(9, [0_u8; 4]).int(14, place));
    assert_eq!(elsewhere(1).unwrap_err(), "external data without a location");
    assert_eq!([elsewhere(0).unwrap(), elsewhere(2).unwrap()], [vec![0; 4], vec![0; 4]]);
}

/// The bytes of a float of this name with this data, where a rule makes 3 for `w`.
fn ruled(name: &str, data: impl Fn(Message) -> Message) -> Result<Vec<u8>, String> {
    let tensor = data(Message::default().packed(1, &[1]).int(2, 1));
    let bytes = model_of(Message::default().message(5, &tensor));
    let model = ModelProto::read(&bytes).unwrap();
    let mut files = WeightFiles {
        model_bytes: Arc::new(bytes.clone()),
        external: ExternalFiles::beside(Path::new("m.onnx"), &read_file),
        stripped: Stripped::parse(r#"{"w": {"dtype": 1, "shape": [1], "fill": 3}}"#).unwrap(),
        keys: Keys::default(),
    };
    files.read(&model.graph.initializers[0], name).map(|weight| weight.blob.to_vec())
}

#[test]
fn a_rule_makes_elements_only_where_the_file_has_none() {
    let three = 3_f32.to_le_bytes().to_vec();
    assert_eq!(ruled("w", |tensor| tensor), Ok(three.clone()));
    assert_eq!(ruled("w", |tensor| tensor.bytes(9, "")), Ok(three));
    let none = Err("no data, expected 4 bytes by type and shape".to_owned());
    assert_eq!(ruled("v", |tensor| tensor), none);
    for field in [5, 7, 11] {
        assert_eq!(ruled("w", |tensor| tensor.packed(field, &[1])), none, "field {field}");
    }
    assert_eq!(ruled("w", |tensor| tensor.bytes(10, [0_u8; 8])), none);
    assert_eq!(ruled("w", |tensor| tensor.bytes(6, "s")), none);
    let one = 1_f32.to_le_bytes();
    assert_eq!(ruled("w", |tensor| tensor.float(4, 1.0)), Ok(one.to_vec()));
    assert_eq!(ruled("w", |tensor| tensor.bytes(9, one)), Ok(one.to_vec()));
    let external = Err("external data without a location".to_owned());
    assert_eq!(ruled("w", |tensor| tensor.int(14, 1)), external);
}

#[test]
fn external_data_goes_up_to_the_end_of_its_file() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::write(folder.path().join("w.bin"), [1_u8, 2, 3, 4, 5, 6]).unwrap();
    let path = folder.path().join("m.onnx");
    let read = |entries: &[(&str, &str)], bytes: usize| {
        let entries = [&[("checksum", "0"), ("location", "w.bin")][..], entries].concat();
        ExternalFiles::beside(&path, &read_file).blob(&entries, bytes).map(|blob| blob.to_vec())
    };
    assert_eq!(read(&[], 6).unwrap(), [1, 2, 3, 4, 5, 6]);
    assert_eq!(read(&[("offset", "2")], 4).unwrap(), [3, 4, 5, 6]);
    assert_eq!(read(&[("offset", "6"), ("length", "0")], 0).unwrap(), [0_u8; 0]);
    let beyond = read(&[("offset", "7")], 0).unwrap_err();
    assert_eq!(beyond, "external data `w.bin`: 0 bytes at offset 7, the file has 6");
    let length = read(&[("length", "two")], 2).unwrap_err();
    assert_eq!(length, "external data: length `two`, expected a number of bytes");
}

/// A graph of nodes from lines such as `y = x, w`, with the input `x`.
fn graph_of<'a>(lines: &[&'a str]) -> GraphProto<'a> {
    let node = |line: &&'a str| {
        let (outputs, inputs) = line.split_once(" = ").unwrap();
        let [inputs, outputs] = [inputs, outputs].map(|names| names.split(", ").collect());
        NodeProto { inputs, outputs, op_type: "Add", ..NodeProto::default() }
    };
    let inputs = vec![ValueInfoProto { name: "x", ..ValueInfoProto::default() }];
    GraphProto { nodes: lines.iter().map(node).collect(), inputs, ..GraphProto::default() }
}

#[test]
fn a_name_is_defined_once() {
    let weight = |name: &'static str| TensorProto { name, ..TensorProto::default() };
    let texts = |graph: &GraphProto<'_>| match order(graph) {
        Ok(_) => Vec::new(),
        Err(faults) => faults.into_iter().map(|fault| (fault.node, fault.message)).collect::<Vec<_>>(),
    };
    let twice = |node: Option<usize>, name: &str| vec![(node, format!("`{name}` is defined twice"))];
    // A weight may be an input, too.
    let mut graph = graph_of(&["y = w", "u = , x"]);
    graph.initializers = vec![weight("x"), weight("w")];
    graph.nodes[0].outputs = vec!["y", "", "z", ""];
    assert!(texts(&graph).is_empty());
    let mut other = graph.clone();
    other.sparse_initializers = vec!["w"];
    assert_eq!(texts(&other), twice(None, "w"));
    other = graph.clone();
    other.inputs.push(ValueInfoProto { name: "x", ..ValueInfoProto::default() });
    assert_eq!(texts(&other), twice(None, "x"));
    other = graph.clone();
    other.nodes[1].outputs.push("w");
    assert_eq!(texts(&other), twice(Some(1), "w"));
    graph.outputs.push(ValueInfoProto::default());
    assert_eq!(texts(&graph), [(None, "the graph's output `` is not defined".to_owned())]);
}

#[test]
fn ready_nodes_come_in_the_order_of_the_file_and_ten_names_get_hints() {
    assert_eq!(order(&graph_of(&["d = c", "c = b", "a = x", "b = x"])).unwrap(), [2, 3, 1, 0]);
    assert_eq!(order(&graph_of(&["c = b, b", "a = x", "b = a, a"])).unwrap(), [1, 2, 0]);
    let misspelt = "a = valu, valu, valu, valu, valu, valu, valu, valu, valu, valu, valu";
    let faults = order(&graph_of(&["value = x", misspelt])).unwrap_err();
    let hints: Vec<Option<&str>> = faults.iter().map(|fault| fault.help.as_deref()).collect();
    assert_eq!(hints[..10], [Some("did you mean `value`?"); 10]);
    assert_eq!(hints[10..], [None]);
}

#[test]
fn an_input_has_a_type_that_a_tensor_can_have() {
    let said = |ty: &Message| {
        let input = Message::default().bytes(1, "x").message(2, ty);
        let graph = Graph { inputs: vec![input], ..Graph::default() };
        faults(&model(17, graph.node("Relu", &["x"], &["y"], &[]).output("y"))).join("\n")
    };
    let none = Message::default;
    let check = |ty: &Message, expected: &str| {
        let found = said(ty);
        assert!(found.contains(expected), "no `{expected}` in: {found}");
    };
    let shaped = |element: i64, size: i64| {
        let shape = none().message(1, &none().int(1, size));
        none().message(1, &none().int(1, element).message(2, &shape))
    };
    check(&none(), "an input without a type");
    check(&none().message(5, &none()), "a map, expected a tensor");
    check(&none().message(1, &none().int(1, 1)), "a tensor of unknown rank whose shape is not known");
    check(&shaped(1, -2), "size -2 of dimension 0, expected 0 or more");
    check(&shaped(0, 2), "element type 0, expected numbers");
}

#[test]
fn a_size_of_an_input_becomes_a_symbol_if_it_is_there() {
    let graph = Graph::default().input("x", &[2, 3]).node("Relu", &["x"], &["y"], &[]).output("y");
    let bytes = model(17, graph).0;
    let import = |input: &str, axis: usize| {
        let entry = Symbolized { input: input.to_owned(), axis, size: "N".to_owned() };
        let sizes = DeclaredSizes { symbolized: vec![entry], ..DeclaredSizes::new() };
        let module = import_sized(&bytes, StrippedWeights::Refuse, sizes)?;
        let body = module.function("main").unwrap();
        let arg = body.args(body.entry(body.root()).unwrap())[0];
        Ok::<String, Vec<String>>(ir::text::type_text(&module.ctx, body.ty(arg)))
    };
    assert_eq!(import("x", 0).unwrap(), "tensor<?x3xf32, #optc.dims<N>>");
    assert_eq!(import("x", 1).unwrap(), "tensor<2x?xf32, #optc.dims<N>>");
    let axis = import("x", 2).unwrap_err().join("\n");
    assert!(axis.contains("axis 2 is not one of its 2"), "{axis}");
    let input = import("z", 0).unwrap_err().join("\n");
    assert!(input.contains("the model has no input `z`"), "{input}");
}

#[test]
fn a_result_is_what_the_file_says_of_it() {
    let said = |output: Message| {
        let graph = Graph::default().input("x", &[2]).node("Relu", &["x"], &["y"], &[]);
        faults(&model(17, Graph { outputs: vec![output], ..graph })).join("\n")
    };
    let rank = said(value_info("y", 1, &[2, -1]));
    assert!(rank.contains("`y` is float [2], but the file says float [2, ?]"), "{rank}");
    let tensor = Message::default().message(1, &Message::default().int(1, 7));
    let element = said(Message::default().bytes(1, "y").message(2, &tensor));
    assert!(element.contains("`y` is float [2], but the file says int64 of unknown rank"), "{element}");
}

#[test]
fn a_function_is_called_with_what_it_needs() {
    let x = || Graph::default().input("x", &[3]);
    let result =
        |main: Graph, functions: &[Message]| compute_model(&with_functions(main.output("y"), functions)).1;
    let slope = Message::default().bytes(1, "alpha").bytes(21, "slope").int(20, 1);
    let body = Graph::default().node("Neg", &["a"], &["t"], &[]).node("LeakyRelu", &["t"], &["b"], &[slope]);
    let leaky = [function("Leaky", &["a"], &["b"], &[], body).message(11, &float("slope", 0.25))];
    assert_eq!(result(called(x(), "Leaky", &["x"], &["y"], &[]), &leaky), [-0.25, -0.5, -0.75]);
    let given = called(x(), "Leaky", &["x"], &["y"], &[float("slope", 0.5)]);
    assert_eq!(result(given, &leaky), [-0.5, -1.0, -1.5]);
    let body = Graph::default().node("Clip", &["a", "least"], &["b"], &[]);
    let clip = [function("Cut", &["a", "least"], &["b"], &[], body)];
    assert_eq!(result(called(x(), "Cut", &["x"], &["y"], &[]), &clip), [1.0, 2.0, 3.0]);
    let least = x().weight(floats_tensor("l", &[], &[2.5]));
    assert_eq!(result(called(least, "Cut", &["x", "l"], &["y"], &[]), &clip), [2.5, 2.5, 3.0]);
    let one = |op: &str| function("F", &["a"], &["b"], &[], Graph::default().node(op, &["a"], &["b"], &[]));
    let overloads = [one("Neg"), one("Relu").bytes(13, "o")];
    assert_eq!(result(called(x(), "F", &["x"], &["y"], &[]), &overloads), [-1.0, -2.0, -3.0]);
    let mut other = called(x(), "F", &["x"], &["y"], &[]);
    other.nodes = vec![other.nodes[0].clone().bytes(8, "o")];
    assert_eq!(result(other, &overloads), [1.0, 2.0, 3.0]);
}

#[test]
fn calls_nest_as_deep_as_graphs() {
    let chain = |count: usize| {
        let link = |index: usize| {
            let next = called(Graph::default(), &format!("F{}", index + 1), &["a"], &["b"], &[]);
            let last = Graph::default().node("Neg", &["a"], &["b"], &[]);
            function(&format!("F{index}"), &["a"], &["b"], &[], if index + 1 < count { next } else { last })
        };
        let functions: Vec<Message> = (0..count).map(link).collect();
        let main = called(Graph::default().input("x", &[3]), "F0", &["x"], &["y"], &[]).output("y");
        with_functions(main, &functions)
    };
    assert_eq!(compute_model(&chain(32)).1, [-1.0, -2.0, -3.0]);
    let said = faults(&chain(33)).join("\n");
    assert!(said.contains("calls of functions nested deeper than 32, the last of `F32`"), "{said}");
}

#[test]
fn parts_of_a_model_say_where_data_is_and_what_graphs_read() {
    let none = Message::default;
    let weight = |place: i64| {
        let weight = none().packed(1, &[4, 0]).int(2, 7).bytes(8, "w").int(14, place);
        let weight = weight.message(13, &property("location", "f"));
        let parts = ModelParts::read(&model_of(none().message(5, &weight))).unwrap();
        let sizes = vec![ValueSize::Number(4), ValueSize::Number(0)];
        assert_eq!(parts.weights[0].ty, ValueType::Tensor { element: 7, sizes });
        parts.weights[0].location.clone()
    };
    assert_eq!([weight(1).as_deref(), weight(0).as_deref()], [Some("f"), None]);
    let node = |inputs: &[&str], outputs: &[&str]| {
        let node = none().strings(1, inputs).strings(2, outputs);
        node.bytes(4, "Add")
    };
    let named = |field: u64, name: &str| none().bytes(field, name);
    let inner = none().message(11, &named(1, "i")).message(5, &named(8, "k"));
    let inner = inner.message(15, &none().message(1, &named(8, "s")));
    let inner = inner.message(1, &node(&["i", "k", "s", "", "a"], &["t"]));
    let inner = inner.message(1, &node(&["t", "b"], &["u"]));
    let inner = inner.message(12, &named(1, "u")).message(12, &named(1, "c"));
    for (field, kind) in [(6, 5), (11, 10)] {
        let attribute = none().bytes(1, "g").message(field, &inner).int(20, kind);
        let outer = node(&["p", ""], &["q", ""]).message(5, &attribute);
        let parts = ModelParts::read(&model_of(none().message(1, &outer))).unwrap();
        let found = &parts.nodes[0];
        assert_eq!(found.reads().collect::<Vec<_>>(), ["p", "a", "b", "c"]);
        assert_eq!(found.results().collect::<Vec<_>>(), ["q"]);
        assert!(found.captures("a") && !found.captures("p") && !found.captures("t"));
    }
}
