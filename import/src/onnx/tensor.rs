//! The messages of an ONNX file about tensors, values and their types, as typed views of its bytes.
//!
//! In the style of [`super::model`], which has the messages above them: nodes, graphs, models.

use super::model::{push, read_pair, set_once};
use super::numbers::{Encoding, NumberField};
use super::wire::{ByteSpan, Message, WireError};

/// `TensorProto`: elements of one type, in row-major order, in one of several encodings.
#[derive(Debug, Clone, Default)]
pub struct TensorProto<'a> {
    /// The tensor's name; may be empty in an attribute.
    pub name: &'a str,
    /// Sizes of the dimensions; none for a scalar.
    pub dims: Vec<i64>,
    /// `TensorProto.DataType`.
    pub data_type: i32,
    /// Elements as little-endian bytes.
    pub raw_data: Option<ByteSpan<'a>>,
    /// Elements of FLOAT and COMPLEX64.
    pub float_data: NumberField<'a>,
    /// Elements of INT32 and everything narrower, of BOOL, and the bits of FLOAT16 and BFLOAT16.
    pub int32_data: NumberField<'a>,
    /// Elements of INT64.
    pub int64_data: NumberField<'a>,
    /// Elements of DOUBLE and COMPLEX128.
    pub double_data: NumberField<'a>,
    /// Elements of UINT32 and UINT64.
    pub uint64_data: NumberField<'a>,
    /// Elements of STRING.
    pub string_data: Vec<ByteSpan<'a>>,
    /// Keys and values that locate the data, if it is in another file.
    pub external_data: Vec<(&'a str, &'a str)>,
    /// Whether `data_location` says EXTERNAL.
    pub is_external: bool,
    /// Offset of the tensor in the file, in bytes.
    pub offset: usize,
}

/// `ValueInfoProto`: a value's name and type.
#[derive(Debug, Clone, Default)]
pub struct ValueInfoProto<'a> {
    /// The value's name.
    pub name: &'a str,
    /// Its type, if the file gives one.
    pub ty: TypeProto<'a>,
}

/// `TypeProto`: the type of a value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum TypeProto<'a> {
    /// Missing in the file.
    #[default]
    Unknown,
    /// A dense tensor.
    Tensor {
        /// `TensorProto.DataType`; 0 if missing.
        element: i32,
        /// The dimensions; `None` if not even the rank is given.
        shape: Option<Vec<Dimension<'a>>>,
    },
    /// A sequence of such elements.
    Sequence(Box<TypeProto<'a>>),
    /// Such a value, or nothing.
    Optional(Box<TypeProto<'a>>),
    /// A map, a sparse tensor, or a type that nests too deep, with its article; not read further.
    Other(&'static str),
}

/// `TensorShapeProto.Dimension`: one size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Dimension<'a> {
    /// Any size.
    #[default]
    Unknown,
    /// This size. The file may hold an invalid one, such as a negative number.
    Value(i64),
    /// The same size at each occurrence of the name.
    Symbol(&'a str),
}

impl<'a> TensorProto<'a> {
    pub(super) fn read(message: Message<'a>) -> Result<TensorProto<'a>, WireError> {
        let mut tensor = TensorProto { offset: message.offset(), ..TensorProto::default() };
        let mut dims = NumberField::default();
        for field in message.fields() {
            let field = field?;
            match field.number {
                1 => dims.append(field, "dims", Encoding::Varint)?,
                2 => tensor.data_type = field.int32("data_type")?,
                4 => tensor.float_data.append(field, "float_data", Encoding::Fixed32)?,
                5 => tensor.int32_data.append(field, "int32_data", Encoding::Varint)?,
                6 => tensor.string_data.push(field.bytes("string_data")?),
                7 => tensor.int64_data.append(field, "int64_data", Encoding::Varint)?,
                8 => tensor.name = field.string("name")?,
                9 => tensor.raw_data = Some(field.bytes("raw_data")?),
                10 => tensor.double_data.append(field, "double_data", Encoding::Fixed64)?,
                11 => tensor.uint64_data.append(field, "uint64_data", Encoding::Varint)?,
                13 => push(&mut tensor.external_data, field, "external_data", read_pair)?,
                14 => tensor.is_external = field.int32("data_location")? == 1,
                _ => {}
            }
        }
        tensor.dims = dims.varints().collect();
        Ok(tensor)
    }
}

impl<'a> ValueInfoProto<'a> {
    pub(super) fn read(message: Message<'a>) -> Result<ValueInfoProto<'a>, WireError> {
        let mut info = ValueInfoProto::default();
        let mut ty = None;
        for field in message.fields() {
            let field = field?;
            match field.number {
                1 => info.name = field.string("name")?,
                2 => set_once(&mut ty, field, "type", TypeProto::read)?,
                _ => {}
            }
        }
        info.ty = ty.unwrap_or_default();
        Ok(info)
    }
}

/// The greatest nesting of types: an optional sequence of tensors has two.
const MAX_TYPE_DEPTH: usize = 4;

impl<'a> TypeProto<'a> {
    pub(super) fn read(message: Message<'a>) -> Result<TypeProto<'a>, WireError> {
        TypeProto::read_nested(message, 0)
    }

    fn read_nested(message: Message<'a>, depth: usize) -> Result<TypeProto<'a>, WireError> {
        if depth > MAX_TYPE_DEPTH {
            return Ok(TypeProto::Other("a value of many parts"));
        }
        let mut ty = None;
        for field in message.fields() {
            let field = field?;
            match field.number {
                1 => set_once(&mut ty, field, "tensor_type", read_tensor_type)?,
                4 => {
                    let element = read_element_type(field.message("sequence_type")?, depth)?;
                    ty = Some(TypeProto::Sequence(Box::new(element)));
                }
                5 => ty = Some(TypeProto::Other("a map")),
                7 => ty = Some(TypeProto::Other("an opaque value")),
                8 => ty = Some(TypeProto::Other("a sparse tensor")),
                9 => {
                    let element = read_element_type(field.message("optional_type")?, depth)?;
                    ty = Some(TypeProto::Optional(Box::new(element)));
                }
                _ => {}
            }
        }
        Ok(ty.unwrap_or_default())
    }
}

/// `TypeProto.Sequence` and `TypeProto.Optional`: the type of the content.
fn read_element_type(message: Message<'_>, depth: usize) -> Result<TypeProto<'_>, WireError> {
    let mut element = TypeProto::Unknown;
    for field in message.fields() {
        let field = field?;
        if field.number == 1 {
            element = TypeProto::read_nested(field.message("elem_type")?, depth + 1)?;
        }
    }
    Ok(element)
}

fn read_tensor_type<'a>(message: Message<'a>) -> Result<TypeProto<'a>, WireError> {
    let mut element = 0;
    let mut shape = None;
    for field in message.fields() {
        let field = field?;
        match field.number {
            1 => element = field.int32("elem_type")?,
            2 => set_once(&mut shape, field, "shape", read_shape)?,
            _ => {}
        }
    }
    Ok(TypeProto::Tensor { element, shape })
}

fn read_shape<'a>(message: Message<'a>) -> Result<Vec<Dimension<'a>>, WireError> {
    let mut shape = Vec::new();
    for field in message.fields() {
        let field = field?;
        if field.number == 1 {
            push(&mut shape, field, "dim", Dimension::read)?;
        }
    }
    Ok(shape)
}

impl<'a> Dimension<'a> {
    pub(super) fn read(message: Message<'a>) -> Result<Dimension<'a>, WireError> {
        let mut dimension = Dimension::Unknown;
        for field in message.fields() {
            let field = field?;
            match field.number {
                // Exporters without names for sizes write -1.
                1 => {
                    dimension = match field.int("dim_value")? {
                        -1 => Dimension::Unknown,
                        size => Dimension::Value(size),
                    }
                }
                2 => dimension = symbol(field.string("dim_param")?),
                _ => {}
            }
        }
        Ok(dimension)
    }
}

/// Some exporters write `?` for every unknown size.
fn symbol(name: &str) -> Dimension<'_> {
    if matches!(name, "" | "?") { Dimension::Unknown } else { Dimension::Symbol(name) }
}

/// `SparseTensorProto`: the name is that of its values.
pub(super) fn read_sparse_name<'a>(message: Message<'a>) -> Result<&'a str, WireError> {
    let mut values = None;
    for field in message.fields() {
        let field = field?;
        if field.number == 1 {
            set_once(&mut values, field, "values", TensorProto::read)?;
        }
    }
    Ok(values.map_or("", |tensor| tensor.name))
}
