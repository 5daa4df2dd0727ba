//! The messages of an ONNX file, as typed views of its bytes.
//!
//! Each struct mirrors a message of `onnx.proto` (github.com/onnx/onnx, IR version 13) and borrows names and
//! data from the buffer; each field number occurs once, in `read`. Unknown fields are skipped, as protobuf
//! requires. Nothing is interpreted here: the users of a tensor check whether its element type exists and its
//! shape fits.
//!
//! Graphs nest (an attribute may hold one): deeper than [`MAX_DEPTH`] is an error, so that no file can
//! exhaust the stack.

use super::numbers::{Encoding, NumberField};
use super::tensor::{TensorProto, TypeProto, ValueInfoProto, read_sparse_name};
use super::wire::{ByteSpan, Message, WireError, WireField};

/// The maximum depth of nested graphs, including the outermost.
pub const MAX_DEPTH: usize = 32;

/// `ModelProto`: a file.
#[derive(Debug, Clone, Default)]
pub struct ModelProto<'a> {
    /// Version of the file format.
    pub ir_version: i64,
    /// The program that wrote the file; may be empty.
    pub producer: &'a str,
    /// The main graph.
    pub graph: GraphProto<'a>,
    /// The operator sets in use.
    pub opsets: Vec<Opset<'a>>,
    /// Free properties, in the order of the file.
    pub metadata: Vec<(&'a str, &'a str)>,
    /// Functions that nodes may call by (domain, name).
    pub functions: Vec<FunctionProto<'a>>,
}

/// `OperatorSetIdProto`: a version of an operator set. The domain of ONNX's own operators is empty.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Opset<'a> {
    /// The domain of the operators.
    pub domain: &'a str,
    /// The version of the operator set.
    pub version: i64,
}

/// `GraphProto`: nodes in topological order.
#[derive(Debug, Clone, Default)]
pub struct GraphProto<'a> {
    /// The graph's name; may be empty.
    pub name: &'a str,
    /// The nodes, in execution order.
    pub nodes: Vec<NodeProto<'a>>,
    /// Weights, by name.
    pub initializers: Vec<TensorProto<'a>>,
    /// Names of the sparse weights (whose data is not read).
    pub sparse_initializers: Vec<&'a str>,
    /// Inputs. Up to IR version 3 the weights are listed here too.
    pub inputs: Vec<ValueInfoProto<'a>>,
    /// Outputs.
    pub outputs: Vec<ValueInfoProto<'a>>,
    /// Declared types of intermediate values.
    pub value_infos: Vec<ValueInfoProto<'a>>,
}

/// `NodeProto`: one operation.
#[derive(Debug, Clone, Default)]
pub struct NodeProto<'a> {
    /// Names of the operands; an empty one is an optional operand left out.
    pub inputs: Vec<&'a str>,
    /// Names of the results; an empty one is an optional result left out.
    pub outputs: Vec<&'a str>,
    /// The node's own name; may be empty.
    pub name: &'a str,
    /// The operator.
    pub op_type: &'a str,
    /// The operator's set; empty for ONNX's own.
    pub domain: &'a str,
    /// Distinguishes functions with the same name; mostly empty.
    pub overload: &'a str,
    /// The attributes, in the order of the file.
    pub attributes: Vec<AttributeProto<'a>>,
    /// Offset of the node in the file, in bytes.
    pub offset: usize,
}

/// `AttributeProto`: a named compile-time value.
#[derive(Debug, Clone)]
pub struct AttributeProto<'a> {
    /// The attribute's name.
    pub name: &'a str,
    /// Its value.
    pub value: AttributeValue<'a>,
    /// Offset of the attribute in the file, in bytes.
    pub offset: usize,
}

/// The value of an attribute, by `AttributeProto.type`.
#[derive(Debug, Clone)]
pub enum AttributeValue<'a> {
    /// One float.
    Float(f32),
    /// One integer.
    Int(i64),
    /// One string, which need not be UTF-8.
    String(ByteSpan<'a>),
    /// A dense tensor.
    Tensor(Box<TensorProto<'a>>),
    /// A graph, which may read values of the graphs around it.
    Graph(Box<GraphProto<'a>>),
    /// Floats.
    Floats(Vec<f32>),
    /// Integers.
    Ints(Vec<i64>),
    /// Strings.
    Strings(Vec<ByteSpan<'a>>),
    /// Dense tensors.
    Tensors(Vec<TensorProto<'a>>),
    /// Graphs.
    Graphs(Vec<GraphProto<'a>>),
    /// A type.
    Type(TypeProto<'a>),
    /// Types.
    Types(Vec<TypeProto<'a>>),
    /// A sparse tensor or several; not read.
    Sparse,
    /// In a function's body: the attribute of this name of the calling node.
    Reference(&'a str),
}

/// `FunctionProto`: an operator defined by nodes.
#[derive(Debug, Clone, Default)]
pub struct FunctionProto<'a> {
    /// The operator's name.
    pub name: &'a str,
    /// The operator's set.
    pub domain: &'a str,
    /// Distinguishes functions with the same name; mostly empty.
    pub overload: &'a str,
    /// Names of the operands.
    pub inputs: Vec<&'a str>,
    /// Names of the results.
    pub outputs: Vec<&'a str>,
    /// Attributes that a call must give.
    pub attributes: Vec<&'a str>,
    /// Attributes that a call may give, with their defaults.
    pub defaults: Vec<AttributeProto<'a>>,
    /// The body.
    pub nodes: Vec<NodeProto<'a>>,
    /// The operator sets that the body uses.
    pub opsets: Vec<Opset<'a>>,
}

impl<'a> ModelProto<'a> {
    /// Reads a whole file. An empty one, or one without a graph, is an error.
    pub fn read(buffer: &'a [u8]) -> Result<ModelProto<'a>, WireError> {
        if buffer.is_empty() {
            return Err(WireError::new(0, "an empty file, expected an ONNX model"));
        }
        let mut model = ModelProto::default();
        let mut graph = None;
        for field in Message::new(buffer).fields() {
            let field = field?;
            match field.number {
                1 => model.ir_version = field.int("ir_version")?,
                2 => model.producer = field.string("producer_name")?,
                7 => set_once(&mut graph, field, "graph", |message| GraphProto::read(message, 1))?,
                8 => push(&mut model.opsets, field, "opset_import", Opset::read)?,
                14 => push(&mut model.metadata, field, "metadata_props", read_pair)?,
                25 => push(&mut model.functions, field, "functions", FunctionProto::read)?,
                _ => {}
            }
        }
        model.graph = graph.ok_or_else(|| WireError::new(0, "a model without a graph"))?;
        Ok(model)
    }

    /// The value of the property `key`, if the file has it.
    pub fn property(&self, key: &str) -> Option<&'a str> {
        self.metadata.iter().find(|(name, _)| *name == key).map(|&(_, value)| value)
    }
}

impl<'a> Opset<'a> {
    fn read(message: Message<'a>) -> Result<Opset<'a>, WireError> {
        let mut opset = Opset::default();
        for field in message.fields() {
            let field = field?;
            match field.number {
                1 => opset.domain = field.string("domain")?,
                2 => opset.version = field.int("version")?,
                _ => {}
            }
        }
        Ok(opset)
    }
}

impl<'a> GraphProto<'a> {
    fn read(message: Message<'a>, depth: usize) -> Result<GraphProto<'a>, WireError> {
        if depth > MAX_DEPTH {
            return Err(WireError::new(message.offset(), format!("graphs nested deeper than {MAX_DEPTH}")));
        }
        let mut graph = GraphProto::default();
        for field in message.fields() {
            let field = field?;
            match field.number {
                1 => push(&mut graph.nodes, field, "node", |message| NodeProto::read(message, depth))?,
                2 => graph.name = field.string("name")?,
                5 => push(&mut graph.initializers, field, "initializer", TensorProto::read)?,
                11 => push(&mut graph.inputs, field, "input", ValueInfoProto::read)?,
                12 => push(&mut graph.outputs, field, "output", ValueInfoProto::read)?,
                13 => push(&mut graph.value_infos, field, "value_info", ValueInfoProto::read)?,
                15 => push(&mut graph.sparse_initializers, field, "sparse_initializer", read_sparse_name)?,
                _ => {}
            }
        }
        Ok(graph)
    }
}

impl GraphProto<'_> {
    /// A node's name for messages: its own, or otherwise its operator and index, such as `Conv_5`.
    pub fn node_name(&self, index: usize) -> String {
        let node = &self.nodes[index];
        match node.name {
            "" => format!("{}_{index}", node.op_type),
            name => name.to_owned(),
        }
    }
}

impl<'a> NodeProto<'a> {
    fn read(message: Message<'a>, depth: usize) -> Result<NodeProto<'a>, WireError> {
        let mut node = NodeProto { offset: message.offset(), ..NodeProto::default() };
        for field in message.fields() {
            let field = field?;
            match field.number {
                1 => node.inputs.push(field.string("input")?),
                2 => node.outputs.push(field.string("output")?),
                3 => node.name = field.string("name")?,
                4 => node.op_type = field.string("op_type")?,
                5 => push(&mut node.attributes, field, "attribute", |message| {
                    AttributeProto::read(message, depth)
                })?,
                7 => node.domain = field.string("domain")?,
                8 => node.overload = field.string("overload")?,
                _ => {}
            }
        }
        Ok(node)
    }

    /// The attribute called `name`, if the node has it.
    pub fn attribute(&self, name: &str) -> Option<&AttributeProto<'a>> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }
}

/// Every value field of an `AttributeProto`, before `type` selects one of them.
#[derive(Default)]
struct AttributeFields<'a> {
    name: &'a str,
    kind: i32,
    reference: &'a str,
    float: f32,
    int: i64,
    string: ByteSpan<'a>,
    tensor: Option<TensorProto<'a>>,
    graph: Option<GraphProto<'a>>,
    floats: NumberField<'a>,
    ints: NumberField<'a>,
    strings: Vec<ByteSpan<'a>>,
    tensors: Vec<TensorProto<'a>>,
    graphs: Vec<GraphProto<'a>>,
    ty: Option<TypeProto<'a>>,
    types: Vec<TypeProto<'a>>,
}

impl<'a> AttributeProto<'a> {
    fn read(message: Message<'a>, depth: usize) -> Result<AttributeProto<'a>, WireError> {
        let mut fields = AttributeFields::default();
        // Files of the first format have no `type`: there the field of the value determines it.
        let mut guess = 0;
        for field in message.fields() {
            let field = field?;
            match field.number {
                1 => fields.name = field.string("name")?,
                20 => fields.kind = field.int32("type")?,
                21 => fields.reference = field.string("ref_attr_name")?,
                number => {
                    fields.read_value(field, depth)?;
                    guess = guess.max(kind_of_field(number));
                }
            }
        }
        if fields.kind == 0 {
            fields.kind = guess;
        }
        let name = fields.name;
        let offset = message.offset();
        let value = fields
            .value()
            .ok_or_else(|| WireError::new(offset, format!("attribute `{name}` has no value")))?;
        Ok(AttributeProto { name, value, offset })
    }
}

/// `AttributeProto.type` of an attribute whose value is in field `number`.
fn kind_of_field(number: u64) -> i32 {
    match number {
        2..=10 => number as i32 - 1,
        11 => 10,
        14 => 13,
        15 => 14,
        22 | 23 => 11,
        _ => 0,
    }
}

impl<'a> AttributeFields<'a> {
    fn read_value(&mut self, field: WireField<'a>, depth: usize) -> Result<(), WireError> {
        match field.number {
            2 => self.float = field.float("f")?,
            3 => self.int = field.int("i")?,
            4 => self.string = field.bytes("s")?,
            5 => set_once(&mut self.tensor, field, "t", TensorProto::read)?,
            6 => set_once(&mut self.graph, field, "g", |message| GraphProto::read(message, depth + 1))?,
            7 => self.floats.append(field, "floats", Encoding::Fixed32)?,
            8 => self.ints.append(field, "ints", Encoding::Varint)?,
            9 => self.strings.push(field.bytes("strings")?),
            10 => push(&mut self.tensors, field, "tensors", TensorProto::read)?,
            11 => push(&mut self.graphs, field, "graphs", |message| GraphProto::read(message, depth + 1))?,
            14 => set_once(&mut self.ty, field, "tp", TypeProto::read)?,
            15 => push(&mut self.types, field, "type_protos", TypeProto::read)?,
            _ => {}
        }
        Ok(())
    }

    fn value(self) -> Option<AttributeValue<'a>> {
        if !self.reference.is_empty() {
            return Some(AttributeValue::Reference(self.reference));
        }
        Some(match self.kind {
            1 => AttributeValue::Float(self.float),
            2 => AttributeValue::Int(self.int),
            3 => AttributeValue::String(self.string),
            4 => AttributeValue::Tensor(Box::new(self.tensor?)),
            5 => AttributeValue::Graph(Box::new(self.graph?)),
            6 => AttributeValue::Floats(self.floats.floats().collect()),
            7 => AttributeValue::Ints(self.ints.varints().collect()),
            8 => AttributeValue::Strings(self.strings),
            9 => AttributeValue::Tensors(self.tensors),
            10 => AttributeValue::Graphs(self.graphs),
            11 | 12 => AttributeValue::Sparse,
            13 => AttributeValue::Type(self.ty?),
            14 => AttributeValue::Types(self.types),
            _ => return None,
        })
    }
}

impl<'a> FunctionProto<'a> {
    fn read(message: Message<'a>) -> Result<FunctionProto<'a>, WireError> {
        let mut function = FunctionProto::default();
        for field in message.fields() {
            let field = field?;
            match field.number {
                1 => function.name = field.string("name")?,
                4 => function.inputs.push(field.string("input")?),
                5 => function.outputs.push(field.string("output")?),
                6 => function.attributes.push(field.string("attribute")?),
                7 => push(&mut function.nodes, field, "node", |message| NodeProto::read(message, 1))?,
                9 => push(&mut function.opsets, field, "opset_import", Opset::read)?,
                10 => function.domain = field.string("domain")?,
                13 => function.overload = field.string("overload")?,
                11 => {
                    push(&mut function.defaults, field, "attribute_proto", |message| {
                        AttributeProto::read(message, 1)
                    })?;
                }
                _ => {}
            }
        }
        Ok(function)
    }
}

/// `StringStringEntryProto`.
pub(super) fn read_pair<'a>(message: Message<'a>) -> Result<(&'a str, &'a str), WireError> {
    let (mut key, mut value) = ("", "");
    for field in message.fields() {
        let field = field?;
        match field.number {
            1 => key = field.string("key")?,
            2 => value = field.string("value")?,
            _ => {}
        }
    }
    Ok((key, value))
}

/// Reads an element of the repeated message field `name`.
pub(super) fn push<'a, T>(
    items: &mut Vec<T>,
    field: WireField<'a>,
    name: &str,
    read: impl FnOnce(Message<'a>) -> Result<T, WireError>,
) -> Result<(), WireError> {
    let index = items.len();
    items.push(read(field.message(name)?).map_err(|error| error.inside_item(name, index))?);
    Ok(())
}

/// Reads the singular message field `name`. Protobuf would merge a second one into the first; no writer
/// produces that.
pub(super) fn set_once<'a, T>(
    slot: &mut Option<T>,
    field: WireField<'a>,
    name: &str,
    read: impl FnOnce(Message<'a>) -> Result<T, WireError>,
) -> Result<(), WireError> {
    if slot.is_some() {
        return Err(WireError::new(field.offset(), "a second one, expected one at most").inside(name));
    }
    *slot = Some(read(field.message(name)?).map_err(|error| error.inside(name))?);
    Ok(())
}
