//! How a test writes an ONNX file: protobuf messages by field number, and models by what they contain.

/// The bytes of a message under construction.
#[derive(Clone, Default)]
pub(crate) struct Message(pub(crate) Vec<u8>);

impl Message {
    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    pub(crate) fn int(mut self, field: u64, number: i64) -> Message {
        self.varint(field << 3);
        self.varint(number.cast_unsigned());
        self
    }

    pub(crate) fn float(mut self, field: u64, number: f32) -> Message {
        self.varint(field << 3 | 5);
        self.0.extend(number.to_le_bytes());
        self
    }

    pub(crate) fn bytes(mut self, field: u64, bytes: impl AsRef<[u8]>) -> Message {
        self.varint(field << 3 | 2);
        self.varint(bytes.as_ref().len() as u64);
        self.0.extend(bytes.as_ref());
        self
    }

    pub(crate) fn message(self, field: u64, message: &Message) -> Message {
        self.bytes(field, &message.0)
    }

    pub(crate) fn messages(self, field: u64, messages: &[Message]) -> Message {
        messages.iter().fold(self, |message, part| message.message(field, part))
    }

    pub(crate) fn strings(self, field: u64, strings: &[&str]) -> Message {
        strings.iter().fold(self, |message, text| message.bytes(field, text))
    }

    pub(crate) fn packed(self, field: u64, numbers: &[i64]) -> Message {
        let mut packed = Message::default();
        for number in numbers {
            packed.varint(number.cast_unsigned());
        }
        self.bytes(field, packed.0)
    }
}

/// The content of a packed field of floats.
pub(crate) fn packed_floats(values: &[f32]) -> Message {
    Message(values.iter().flat_map(|value| value.to_le_bytes()).collect())
}

pub(crate) const FLOAT: i32 = 1;
pub(crate) const INT64: i32 = 7;

/// `ModelProto` around the graph, with opset `version` of ONNX's own operators.
pub(crate) fn model(version: i64, graph: Graph) -> Message {
    let opset = Message::default().bytes(1, "").int(2, version);
    Message::default().int(1, 8).message(7, &graph.message()).message(8, &opset)
}

/// A metadata property of a model.
pub(crate) fn property(key: &str, value: &str) -> Message {
    Message::default().bytes(1, key).bytes(2, value)
}

/// `GraphProto` under construction.
#[derive(Clone, Default)]
pub(crate) struct Graph {
    pub(crate) inputs: Vec<Message>,
    pub(crate) outputs: Vec<Message>,
    pub(crate) initializers: Vec<Message>,
    pub(crate) sparse_initializers: Vec<Message>,
    pub(crate) nodes: Vec<Message>,
    pub(crate) value_infos: Vec<Message>,
}

impl Graph {
    pub(crate) fn input(mut self, name: &str, dims: &[i64]) -> Graph {
        self.inputs.push(value_info(name, FLOAT, dims));
        self
    }

    /// An output whose shape the file does not give.
    pub(crate) fn output(mut self, name: &str) -> Graph {
        self.outputs.push(Message::default().bytes(1, name));
        self
    }

    pub(crate) fn weight(mut self, tensor: Message) -> Graph {
        self.initializers.push(tensor);
        self
    }

    /// A weight of which only the values that are not zero are stored.
    pub(crate) fn sparse_weight(mut self, values: Message) -> Graph {
        let places = ints_tensor("", &[0]);
        self.sparse_initializers.push(Message::default().message(1, &values).message(2, &places));
        self
    }

    /// A node named after its first output.
    pub(crate) fn node(
        mut self,
        op: &str,
        inputs: &[&str],
        outputs: &[&str],
        attributes: &[Message],
    ) -> Graph {
        let node = Message::default().strings(1, inputs).strings(2, outputs).bytes(4, op);
        let node = node.bytes(3, format!("{op}_{}", outputs.first().unwrap_or(&"")));
        self.nodes.push(node.messages(5, attributes));
        self
    }

    pub(crate) fn message(self) -> Message {
        let graph = Message::default().messages(1, &self.nodes).bytes(2, "g").messages(5, &self.initializers);
        let graph = graph.messages(15, &self.sparse_initializers);
        graph.messages(11, &self.inputs).messages(12, &self.outputs).messages(13, &self.value_infos)
    }
}

/// `ValueInfoProto` of a tensor; a negative size stands for an unknown one.
pub(crate) fn value_info(name: &str, element: i32, dims: &[i64]) -> Message {
    let dim = |&size: &i64| match size {
        ..0 => Message::default(),
        size => Message::default().int(1, size),
    };
    let shape = Message::default().messages(1, &dims.iter().map(dim).collect::<Vec<_>>());
    let tensor = Message::default().int(1, element.into()).message(2, &shape);
    Message::default().bytes(1, name).message(2, &Message::default().message(1, &tensor))
}

/// `TensorProto` with raw data.
pub(crate) fn raw_tensor(name: &str, element: i32, dims: &[i64], raw: &[u8]) -> Message {
    Message::default().packed(1, dims).int(2, element.into()).bytes(8, name).bytes(9, raw)
}

/// A tensor of f32.
pub(crate) fn floats_tensor(name: &str, dims: &[i64], values: &[f32]) -> Message {
    let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    raw_tensor(name, FLOAT, dims, &raw)
}

/// A tensor of i64, of rank 1.
pub(crate) fn ints_tensor(name: &str, values: &[i64]) -> Message {
    let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    raw_tensor(name, INT64, &[values.len() as i64], &raw)
}

/// An attribute of kind INT.
pub(crate) fn int(name: &str, value: i64) -> Message {
    Message::default().bytes(1, name).int(3, value).int(20, 2)
}

/// An attribute of kind FLOAT.
pub(crate) fn float(name: &str, value: f32) -> Message {
    Message::default().bytes(1, name).float(2, value).int(20, 1)
}

/// An attribute of kind FLOATS.
pub(crate) fn floats(name: &str, values: &[f32]) -> Message {
    Message::default().bytes(1, name).message(7, &packed_floats(values)).int(20, 6)
}

/// An attribute of kind STRING.
pub(crate) fn string(name: &str, value: &str) -> Message {
    Message::default().bytes(1, name).bytes(4, value).int(20, 3)
}

/// An attribute of kind INTS.
pub(crate) fn ints(name: &str, values: &[i64]) -> Message {
    Message::default().bytes(1, name).packed(8, values).int(20, 7)
}

/// An attribute of kind TENSOR.
pub(crate) fn tensor(name: &str, value: &Message) -> Message {
    Message::default().bytes(1, name).message(5, value).int(20, 4)
}

/// An attribute of kind GRAPH.
pub(crate) fn graph(name: &str, value: Graph) -> Message {
    Message::default().bytes(1, name).message(6, &value.message()).int(20, 5)
}

/// `FunctionProto` of the domain `my`: its inputs, outputs, attributes, and the nodes of a graph.
pub(crate) fn function(
    name: &str,
    inputs: &[&str],
    outputs: &[&str],
    attributes: &[&str],
    body: Graph,
) -> Message {
    let opset = Message::default().bytes(1, "").int(2, 17);
    let function = Message::default().bytes(1, name).strings(4, inputs).strings(5, outputs);
    function.strings(6, attributes).messages(7, &body.nodes).message(9, &opset).bytes(10, "my")
}

/// A call: a node of the domain `my`.
pub(crate) fn called(
    mut graph: Graph,
    name: &str,
    inputs: &[&str],
    outputs: &[&str],
    attributes: &[Message],
) -> Graph {
    let node = Message::default().strings(1, inputs).strings(2, outputs).bytes(4, name).bytes(7, "my");
    graph.nodes.push(node.messages(5, attributes));
    graph
}

/// A model with functions of its own.
pub(crate) fn with_functions(graph: Graph, functions: &[Message]) -> Message {
    model(17, graph).messages(25, functions)
}
