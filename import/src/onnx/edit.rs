//! Editing of model files: parts can be removed or changed, and the file written again.
//!
//! Anything not interpreted here (the value of an attribute, the data of a weight, fields of later versions
//! of the format) is written as it was read. Copies of a model share it, so a copy costs only its names.
//! Field numbers are those of [`super::model`].

use std::sync::Arc;

use hashbrown::HashSet;

use super::model::{AttributeValue, GraphProto, ModelProto, NodeProto};
use super::tensor::{Dimension, TensorProto, TypeProto, ValueInfoProto};
use super::wire::{Message, WireError, WireField, append_bytes, append_int};

/// Encoded fields.
type WrittenFields = Arc<[u8]>;

/// A model file that can be changed.
#[derive(Debug, Clone)]
pub struct ModelParts {
    /// All fields except the graph and functions.
    others: WrittenFields,
    /// The fields of the graph except the following.
    graph_others: WrittenFields,
    /// Names of weights that are not listed below: sparse ones.
    sparse: Vec<String>,
    /// The messages of functions that nodes may call.
    pub functions: Vec<WrittenFields>,
    /// The nodes, in topological order.
    pub nodes: Vec<NodeParts>,
    /// The weights.
    pub weights: Vec<WeightParts>,
    /// The inputs.
    pub inputs: Vec<ValueParts>,
    /// The outputs.
    pub outputs: Vec<ValueParts>,
    /// The declared types of intermediate values.
    pub declared: Vec<ValueParts>,
}

/// A node of a graph.
#[derive(Debug, Clone)]
pub struct NodeParts {
    /// Names of its operands; an empty one is an omitted operand.
    pub inputs: Vec<String>,
    /// Names of its results; an empty one is an omitted result.
    pub outputs: Vec<String>,
    /// Its attributes, each a message.
    pub attributes: Vec<WrittenFields>,
    /// Its other fields, such as operator and name.
    others: WrittenFields,
    /// The names that graphs in its attributes read from outside.
    captured: Arc<[String]>,
}

/// A weight.
#[derive(Debug, Clone)]
pub struct WeightParts {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: ValueType,
    /// The path of its data relative to the model's folder, if it is in another file.
    pub location: Option<String>,
    message: WrittenFields,
}

/// The name and type of a value.
#[derive(Debug, Clone)]
pub struct ValueParts {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: ValueType,
}

/// The type of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueType {
    /// A tensor.
    Tensor {
        /// `TensorProto.DataType`.
        element: i32,
        /// Its sizes.
        sizes: Vec<ValueSize>,
    },
    /// Another type, or none, as encoded fields.
    Other(WrittenFields),
}

/// A size of a tensor.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ValueSize {
    /// This number.
    Number(i64),
    /// The same size at each occurrence of the name.
    Named(String),
    /// Any.
    Open,
}

impl ModelParts {
    /// Parses a file.
    ///
    /// # Errors
    /// If it is malformed.
    pub fn read(file: &[u8]) -> Result<ModelParts, WireError> {
        let model = ModelProto::read(file)?;
        let mut graph = None;
        let (mut others, mut functions) = (Vec::new(), Vec::new());
        for field in Message::new(file).written_fields() {
            let (field, written) = field?;
            match field.number {
                7 => graph = Some(field.message("graph")?),
                25 => functions.push(field.bytes("functions")?.bytes.into()),
                _ => others.extend_from_slice(written),
            }
        }
        let graph = graph.ok_or_else(|| WireError::new(0, "a model without a graph"))?;
        let parts =
            ModelParts { others: others.into(), functions, ..ModelParts::of_graph(graph, &model.graph)? };
        Ok(parts)
    }

    fn of_graph(message: Message<'_>, graph: &GraphProto<'_>) -> Result<ModelParts, WireError> {
        let mut nodes = graph.nodes.iter();
        let mut weights = graph.initializers.iter();
        let (mut messages, mut others) = (Vec::new(), Vec::new());
        let mut parts = ModelParts {
            others: Arc::default(),
            graph_others: Arc::default(),
            sparse: graph.sparse_initializers.iter().map(|name| (*name).to_owned()).collect(),
            functions: Vec::new(),
            nodes: Vec::with_capacity(graph.nodes.len()),
            weights: Vec::with_capacity(graph.initializers.len()),
            inputs: Vec::new(),
            outputs: Vec::new(),
            declared: Vec::new(),
        };
        for field in message.written_fields() {
            let (field, written) = field?;
            match field.number {
                1 => messages.push(field.message("node")?),
                5 => {
                    let weight = weights.next().expect("each was read once");
                    parts.weights.push(WeightParts::of(weight, field.bytes("initializer")?.bytes));
                }
                11 => parts.inputs.push(ValueParts::read(field)?),
                12 => parts.outputs.push(ValueParts::read(field)?),
                13 => parts.declared.push(ValueParts::read(field)?),
                _ => others.extend_from_slice(written),
            }
        }
        for message in messages {
            parts.nodes.push(NodeParts::read(message, nodes.next().expect("each was read once"))?);
        }
        Ok(ModelParts { graph_others: others.into(), ..parts })
    }

    /// The bytes of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut graph = self.graph_others.to_vec();
        self.nodes.iter().for_each(|node| append_bytes(&mut graph, 1, &node.to_bytes()));
        self.weights.iter().for_each(|weight| append_bytes(&mut graph, 5, &weight.message));
        for (field, values) in [(11, &self.inputs), (12, &self.outputs), (13, &self.declared)] {
            values.iter().for_each(|value| append_bytes(&mut graph, field, &value.to_bytes()));
        }
        let mut file = self.others.to_vec();
        append_bytes(&mut file, 7, &graph);
        self.functions.iter().for_each(|function| append_bytes(&mut file, 25, function));
        file
    }

    /// The same model without functions, nodes, weights, inputs, outputs, and declared types.
    pub fn emptied(&self) -> ModelParts {
        ModelParts {
            functions: Vec::new(),
            nodes: Vec::new(),
            weights: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            declared: Vec::new(),
            ..self.clone()
        }
    }

    /// Whether there are outputs, each name is defined before it is read, and no node defines a name again.
    pub fn is_well_formed(&self) -> bool {
        let mut defined: HashSet<&str> = self.sparse.iter().map(String::as_str).collect();
        // Files of old versions list weights among the inputs, too.
        defined.extend(self.inputs.iter().map(|input| input.name.as_str()));
        defined.extend(self.weights.iter().map(|weight| weight.name.as_str()));
        for node in &self.nodes {
            let is_known = node.reads().all(|name| defined.contains(name));
            if !is_known || !node.results().all(|name| defined.insert(name)) {
                return false;
            }
        }
        !self.outputs.is_empty() && self.outputs.iter().all(|output| defined.contains(output.name.as_str()))
    }
}

impl NodeParts {
    fn read(message: Message<'_>, node: &NodeProto<'_>) -> Result<NodeParts, WireError> {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let (mut attributes, mut others) = (Vec::new(), Vec::new());
        for field in message.written_fields() {
            let (field, written) = field?;
            match field.number {
                1 | 2 => {}
                5 => attributes.push(field.bytes("attribute")?.bytes.into()),
                _ => others.extend_from_slice(written),
            }
        }
        let mut captured = Vec::new();
        captured_by(node, &HashSet::new(), &mut captured);
        Ok(NodeParts {
            inputs: owned(&node.inputs),
            outputs: owned(&node.outputs),
            attributes,
            others: others.into(),
            captured: captured.into(),
        })
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut node = Vec::new();
        self.inputs.iter().for_each(|name| append_bytes(&mut node, 1, name.as_bytes()));
        self.outputs.iter().for_each(|name| append_bytes(&mut node, 2, name.as_bytes()));
        self.attributes.iter().for_each(|attribute| append_bytes(&mut node, 5, attribute));
        [&node[..], &self.others].concat()
    }

    /// All names that the node reads, also in its nested graphs.
    pub fn reads(&self) -> impl Iterator<Item = &str> {
        let names = self.inputs.iter().chain(self.captured.iter());
        names.map(String::as_str).filter(|name| !name.is_empty())
    }

    /// Whether a nested graph of the node reads this name.
    pub fn captures(&self, name: &str) -> bool {
        self.captured.iter().any(|captured| captured == name)
    }

    /// The names that it defines.
    pub fn results(&self) -> impl Iterator<Item = &str> {
        self.outputs.iter().map(String::as_str).filter(|name| !name.is_empty())
    }
}

/// Adds the names that graphs in a node's attributes read and that are not `defined`.
fn captured_by(node: &NodeProto<'_>, defined: &HashSet<&str>, captured: &mut Vec<String>) {
    for attribute in &node.attributes {
        match &attribute.value {
            AttributeValue::Graph(graph) => captured_in(graph, defined, captured),
            AttributeValue::Graphs(graphs) => {
                graphs.iter().for_each(|graph| captured_in(graph, defined, captured));
            }
            _ => {}
        }
    }
}

fn captured_in(graph: &GraphProto<'_>, around: &HashSet<&str>, captured: &mut Vec<String>) {
    let mut defined = around.clone();
    defined.extend(graph.inputs.iter().map(|input| input.name));
    defined.extend(graph.initializers.iter().map(|weight| weight.name));
    defined.extend(&graph.sparse_initializers);
    for node in &graph.nodes {
        let read = node.inputs.iter().filter(|name| !name.is_empty() && !defined.contains(**name));
        captured.extend(read.map(|name| (*name).to_owned()));
        captured_by(node, &defined, captured);
        defined.extend(&node.outputs);
    }
    let read = graph.outputs.iter().filter(|output| !defined.contains(output.name));
    captured.extend(read.map(|output| output.name.to_owned()));
}

impl WeightParts {
    fn of(tensor: &TensorProto<'_>, message: &[u8]) -> WeightParts {
        let sizes = tensor.dims.iter().map(|size| ValueSize::Number(*size)).collect();
        let place = tensor.external_data.iter().find(|(key, _)| *key == "location");
        WeightParts {
            name: tensor.name.to_owned(),
            ty: ValueType::Tensor { element: tensor.data_type, sizes },
            location: place.filter(|_| tensor.is_external).map(|(_, path)| (*path).to_owned()),
            message: message.into(),
        }
    }
}

impl ValueParts {
    fn read(field: WireField<'_>) -> Result<ValueParts, WireError> {
        let message = field.message("value")?;
        let info = ValueInfoProto::read(message)?;
        let size = |size: &Dimension<'_>| match size {
            Dimension::Value(number) => ValueSize::Number(*number),
            Dimension::Symbol(name) => ValueSize::Named((*name).to_owned()),
            Dimension::Unknown => ValueSize::Open,
        };
        let ty = match info.ty {
            TypeProto::Tensor { element, shape: Some(shape) } => {
                ValueType::Tensor { element, sizes: shape.iter().map(size).collect() }
            }
            _ => {
                let mut others = Vec::new();
                for field in message.written_fields() {
                    let (field, written) = field?;
                    if field.number != 1 {
                        others.extend_from_slice(written);
                    }
                }
                ValueType::Other(others.into())
            }
        };
        Ok(ValueParts { name: info.name.to_owned(), ty })
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut value = Vec::new();
        append_bytes(&mut value, 1, self.name.as_bytes());
        match &self.ty {
            ValueType::Other(fields) => value.extend_from_slice(fields),
            ValueType::Tensor { element, sizes } => {
                let mut shape = Vec::new();
                for size in sizes {
                    append_bytes(&mut shape, 1, &size.to_bytes());
                }
                let (mut tensor, mut ty) = (Vec::new(), Vec::new());
                append_int(&mut tensor, 1, i64::from(*element));
                append_bytes(&mut tensor, 2, &shape);
                append_bytes(&mut ty, 1, &tensor);
                append_bytes(&mut value, 2, &ty);
            }
        }
        value
    }
}

impl ValueType {
    /// An unknown type.
    pub fn unknown() -> ValueType {
        ValueType::Other(Arc::default())
    }
}

impl ValueSize {
    fn to_bytes(&self) -> Vec<u8> {
        let mut size = Vec::new();
        match self {
            ValueSize::Number(number) => append_int(&mut size, 1, *number),
            ValueSize::Named(name) => append_bytes(&mut size, 2, name.as_bytes()),
            ValueSize::Open => {}
        }
        size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message of fields that hold bytes.
    fn message(fields: &[(u8, &[u8])]) -> Vec<u8> {
        let mut message = Vec::new();
        fields.iter().for_each(|(field, bytes)| append_bytes(&mut message, *field, bytes));
        message
    }

    /// `y = Relu(x)`, and an `If` whose branch reads `y` and `w` from outside.
    fn model() -> Vec<u8> {
        let inner = message(&[(1, b"y"), (1, b"w"), (2, b"z"), (4, b"Add")]);
        let branch = message(&[(1, &inner), (12, &message(&[(1, b"z")]))]);
        let attribute = [&message(&[(1, b"then_branch"), (6, &branch)])[..], &[0xA0, 1, 5]].concat();
        let nodes = [
            message(&[(1, b"x"), (2, b"y"), (3, b"the relu"), (4, b"Relu")]),
            message(&[(1, b"c"), (2, b"out"), (4, b"If"), (5, &attribute)]),
        ];
        let value = |name: &[u8], size: ValueSize| {
            let ty = ValueType::Tensor { element: 1, sizes: vec![size, ValueSize::Open] };
            ValueParts { name: String::from_utf8(name.to_vec()).unwrap(), ty }.to_bytes()
        };
        let inputs = [value(b"x", ValueSize::Named("N".to_owned())), value(b"c", ValueSize::Number(300))];
        let weight = [&[1 << 3, 2, 2 << 3, 1][..], &message(&[(8, b"w"), (9, &[0; 8])])].concat();
        let graph = message(&[
            (1, &nodes[0]),
            (1, &nodes[1]),
            (2, b"graph"),
            (5, &weight),
            (11, &inputs[0]),
            (11, &inputs[1]),
            (12, &message(&[(1, b"out")])),
        ]);
        [&[1 << 3, 8][..], &message(&[(7, &graph), (8, &[2 << 3, 17])])].concat()
    }

    #[test]
    fn what_is_read_is_written_again() {
        let parts = ModelParts::read(&model()).unwrap();
        let again = parts.to_bytes();
        let [first, second] = [&model(), &again].map(|file| format!("{:?}", ModelProto::read(file).unwrap()));
        let without_offsets = |text: &str| {
            let pieces: Vec<&str> = text.split("offset: ").collect();
            let rest = |piece: &&str| piece.trim_start_matches(|c: char| c.is_ascii_digit()).to_owned();
            pieces.iter().map(rest).collect::<String>()
        };
        assert_eq!(without_offsets(&first), without_offsets(&second));
        assert_eq!(ModelParts::read(&again).unwrap().to_bytes(), again);
    }

    #[test]
    fn a_graph_in_a_node_reads_what_is_around_it() {
        let parts = ModelParts::read(&model()).unwrap();
        assert_eq!(parts.nodes[1].reads().collect::<Vec<_>>(), ["c", "y", "w"]);
        assert!(parts.is_well_formed());
        let mut without = parts.clone();
        without.weights.clear();
        assert!(!without.is_well_formed(), "the branch reads the weight");
        let mut turned = parts.clone();
        turned.nodes.reverse();
        assert!(!turned.is_well_formed(), "the branch is before what it reads");
        assert!(!parts.emptied().is_well_formed(), "nothing is computed");
    }

    #[test]
    fn no_damaged_file_is_a_panic() {
        let file = model();
        for at in 0..file.len() {
            for bit in 0..8 {
                let mut damaged = file.clone();
                damaged[at] ^= 1 << bit;
                if let Ok(parts) = ModelParts::read(&damaged) {
                    let _ = (parts.is_well_formed(), parts.to_bytes());
                }
            }
            let _ = ModelParts::read(&file[..at]);
        }
    }
}
