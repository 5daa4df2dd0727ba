//! Typed access to a node's attributes.
//!
//! Each getter's error has the found and the expected; an omitted attribute is `None`.

use super::model::{AttributeValue, NodeProto};
use super::tensor::TensorProto;
use super::wire::ByteSpan;

impl<'a> NodeProto<'a> {
    /// An integer.
    pub fn int(&self, name: &str) -> Result<Option<i64>, String> {
        match self.value(name) {
            None => Ok(None),
            Some(AttributeValue::Int(number)) => Ok(Some(*number)),
            Some(other) => Err(mismatch(name, other, "an integer")),
        }
    }

    /// A truth value: an integer, 0 or not.
    pub fn truth(&self, name: &str) -> Result<Option<bool>, String> {
        Ok(self.int(name)?.map(|number| number != 0))
    }

    /// A float.
    pub fn float(&self, name: &str) -> Result<Option<f32>, String> {
        match self.value(name) {
            None => Ok(None),
            Some(AttributeValue::Float(number)) => Ok(Some(*number)),
            Some(other) => Err(mismatch(name, other, "a float")),
        }
    }

    /// A list of integers.
    pub fn ints(&self, name: &str) -> Result<Option<&[i64]>, String> {
        match self.value(name) {
            None => Ok(None),
            Some(AttributeValue::Ints(numbers)) => Ok(Some(numbers)),
            Some(other) => Err(mismatch(name, other, "integers")),
        }
    }

    /// A list of floats.
    pub fn floats(&self, name: &str) -> Result<Option<&[f32]>, String> {
        match self.value(name) {
            None => Ok(None),
            Some(AttributeValue::Floats(numbers)) => Ok(Some(numbers)),
            Some(other) => Err(mismatch(name, other, "floats")),
        }
    }

    /// A string.
    pub fn text(&self, name: &str) -> Result<Option<&'a str>, String> {
        match self.value(name) {
            None => Ok(None),
            Some(AttributeValue::String(span)) => utf8(name, *span).map(Some),
            Some(other) => Err(mismatch(name, other, "a string")),
        }
    }

    /// A list of strings.
    pub fn strings(&self, name: &str) -> Result<Option<Vec<&'a str>>, String> {
        match self.value(name) {
            None => Ok(None),
            Some(AttributeValue::Strings(all)) => {
                all.iter().map(|span| utf8(name, *span)).collect::<Result<_, _>>().map(Some)
            }
            Some(other) => Err(mismatch(name, other, "strings")),
        }
    }

    /// A tensor.
    pub fn tensor(&self, name: &str) -> Result<Option<&TensorProto<'a>>, String> {
        match self.value(name) {
            None => Ok(None),
            Some(AttributeValue::Tensor(tensor)) => Ok(Some(tensor)),
            Some(other) => Err(mismatch(name, other, "a tensor")),
        }
    }

    fn value(&self, name: &str) -> Option<&AttributeValue<'a>> {
        self.attribute(name).map(|attribute| &attribute.value)
    }
}

fn utf8<'a>(name: &str, span: ByteSpan<'a>) -> Result<&'a str, String> {
    str::from_utf8(span.bytes).map_err(|_| format!("attribute `{name}` is not UTF-8"))
}

fn mismatch(name: &str, found: &AttributeValue<'_>, expected: &str) -> String {
    format!("attribute `{name}` is {}, expected {expected}", found.describe())
}

impl AttributeValue<'_> {
    /// The kind of value, with an article, for messages.
    pub fn describe(&self) -> &'static str {
        match self {
            AttributeValue::Float(_) => "a float",
            AttributeValue::Int(_) => "an integer",
            AttributeValue::String(_) => "a string",
            AttributeValue::Tensor(_) => "a tensor",
            AttributeValue::Graph(_) => "a graph",
            AttributeValue::Floats(_) => "floats",
            AttributeValue::Ints(_) => "integers",
            AttributeValue::Strings(_) => "strings",
            AttributeValue::Tensors(_) => "tensors",
            AttributeValue::Graphs(_) => "graphs",
            AttributeValue::Type(_) => "a type",
            AttributeValue::Types(_) => "types",
            AttributeValue::Sparse => "sparse",
            AttributeValue::Reference(_) => "a reference to a function's attribute",
        }
    }
}
