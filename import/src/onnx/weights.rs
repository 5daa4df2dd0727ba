//! The elements of weights: in the model's own bytes, in another file, or made by a rule.
//!
//! Elements stay where they are: raw data and packed floats are shared with the mapped file, external data
//! with its own, stripped weights are recipes. Only the encodings of small tensors (variable-length integers,
//! floats in several pieces) are decoded into memory.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use ir::strings::{digests, string_type};
use ir::{Blob, Context, FloatKind, SharedBytes, Signedness, Type, TypeData};

use super::element::Element;
use super::external::ExternalFiles;
use super::numbers::NumberField;
use super::tensor::TensorProto;
use super::wire::{ByteSpan, Message};
use crate::synth::Stripped;

/// A tensor of the model: its type, and its elements as little-endian bytes in row-major order.
#[derive(Debug, Clone)]
pub struct Weight {
    /// Type of the elements; those of less than a byte are packed.
    pub element: Element,
    /// Sizes, outermost first.
    pub dims: Vec<u64>,
    /// The elements.
    pub blob: Blob,
}

/// Finds the elements of a model's tensors.
pub struct WeightFiles<'a> {
    /// The model's own bytes, which contain its tensors.
    pub model_bytes: SharedBytes,
    /// Other files that the model refers to.
    pub external: ExternalFiles<'a>,
    /// Rules for tensors without data, by name; empty if the model has none, or they are not used.
    pub stripped: Stripped,
    /// The names of constants whose bytes are kept outside the text.
    pub keys: Keys,
}

/// The names under which constants of one model are kept.
#[derive(Debug, Default)]
pub struct Keys {
    /// Those of the attempts before, which may be taken again.
    before: BTreeSet<String>,
    now: BTreeSet<String>,
    /// Those of now, in the order in which they were taken.
    taken: Vec<String>,
}

impl Keys {
    /// A name for a constant: `key`, with `#1`, `#2` ... after it where that is taken.
    pub(super) fn take(&mut self, ctx: &Context, key: &str) -> String {
        let is_free = |key: &String| {
            !self.now.contains(key) && (self.before.contains(key) || ctx.blob(ctx.ident(key)).is_none())
        };
        let mut keys = std::iter::once(key.to_owned()).chain((1..).map(|n| format!("{key}#{n}")));
        let free = keys.find(is_free).expect("there is no end of numbers");
        self.now.insert(free.clone());
        self.taken.push(free.clone());
        free
    }

    /// How many were taken.
    pub(super) fn count(&self) -> usize {
        self.taken.len()
    }

    /// What was made since there were `count` is made again.
    pub(super) fn rewind(&mut self, count: usize) {
        for key in self.taken.drain(count..) {
            self.now.remove(&key);
            self.before.insert(key);
        }
    }
}

impl WeightFiles<'_> {
    /// The elements of `tensor`. `key` is its name among the rules. The error says what is wrong with the
    /// tensor.
    pub fn read(&mut self, tensor: &TensorProto<'_>, key: &str) -> Result<Weight, String> {
        let element = element_of(tensor.data_type)?;
        let dims = sizes(&tensor.dims)?;
        let len_bytes = element
            .storage_bytes(&dims)
            .ok_or_else(|| format!("shape {dims:?} has more elements than memory holds"))?;
        let blob = match self.stripped.get(key) {
            Some(entry) if has_no_data(tensor) => entry.blob(key, element, &dims)?,
            _ if tensor.is_external => self.external.blob(&tensor.external_data, len_bytes)?,
            _ => self.stored(tensor, element, len_bytes)?,
        };
        if element == Element::Bool && blob.as_bytes().is_some_and(|bytes| bytes.iter().any(|&byte| byte > 1))
        {
            return Err("a truth value other than 0 and 1".to_owned());
        }
        Ok(Weight { element, dims, blob })
    }

    fn stored(&self, tensor: &TensorProto<'_>, element: Element, len_bytes: usize) -> Result<Blob, String> {
        let blob = match tensor.raw_data {
            _ if element == Element::String => {
                Blob::from_bytes(digests(tensor.string_data.iter().map(|string| string.bytes))?)
            }
            Some(raw) => self.share(raw),
            None => self.typed(tensor, element),
        };
        match blob.len_bytes() {
            found if found == len_bytes => Ok(blob),
            0 => Err(format!("no data, expected {len_bytes} bytes by type and shape")),
            found => Err(format!("{found} bytes of data, expected {len_bytes} by type and shape")),
        }
    }

    fn typed(&self, tensor: &TensorProto<'_>, element: Element) -> Blob {
        match element {
            Element::Float | Element::Complex64 => self.fixed(&tensor.float_data),
            Element::Double | Element::Complex128 => self.fixed(&tensor.double_data),
            Element::Int64 => narrow::<8>(&tensor.int64_data),
            Element::Uint32 => narrow::<4>(&tensor.uint64_data),
            Element::Uint64 => narrow::<8>(&tensor.uint64_data),
            Element::Int32 => narrow::<4>(&tensor.int32_data),
            _ if element.bits() == 16 => narrow::<2>(&tensor.int32_data),
            _ => narrow::<1>(&tensor.int32_data),
        }
    }

    fn fixed(&self, numbers: &NumberField<'_>) -> Blob {
        match numbers.contiguous() {
            Some(span) => self.share(span),
            None => Blob::from_bytes(numbers.bytes().collect()),
        }
    }

    fn share(&self, span: ByteSpan<'_>) -> Blob {
        let range = span.offset..span.offset + span.bytes.len();
        Blob::Shared { owner: Arc::clone(&self.model_bytes), range }
    }
}

/// The tensor in a file, as in the data of ONNX's tests (`input_0.pb`).
///
/// # Errors
/// If the file is damaged, or its elements are of a type that is not read.
pub fn tensor_of_file(bytes: SharedBytes) -> Result<Weight, String> {
    let tensor = TensorProto::read(Message::new((*bytes).as_ref())).map_err(|error| error.to_string())?;
    let external = ExternalFiles::beside(Path::new(""), &|_| Err(std::io::ErrorKind::Unsupported.into()));
    let model_bytes = Arc::clone(&bytes);
    let mut weights =
        WeightFiles { model_bytes, external, stripped: Stripped::default(), keys: Keys::default() };
    weights.read(&tensor, tensor.name)
}

/// The low `WIDTH` bytes of each number.
fn narrow<const WIDTH: usize>(numbers: &NumberField<'_>) -> Blob {
    let bytes = numbers.varints().flat_map(|number| number.to_le_bytes().into_iter().take(WIDTH));
    Blob::from_bytes(bytes.collect())
}

/// Whether the file gives no elements at all.
fn has_no_data(tensor: &TensorProto<'_>) -> bool {
    let numbers = [
        &tensor.float_data,
        &tensor.int32_data,
        &tensor.int64_data,
        &tensor.double_data,
        &tensor.uint64_data,
    ];
    tensor.raw_data.is_none_or(|raw| raw.bytes.is_empty())
        && numbers.iter().all(|numbers| numbers.is_empty())
        && tensor.string_data.is_empty()
        && !tensor.is_external
}

fn element_of(number: i32) -> Result<Element, String> {
    match Element::from_number(number) {
        Some(element) => Ok(element),
        None => Err(format!("element type {number}, expected one of TensorProto.DataType")),
    }
}

/// Sizes from a file; a negative one is an error.
pub fn sizes(dims: &[i64]) -> Result<Vec<u64>, String> {
    let size = |&size: &i64| u64::try_from(size).map_err(|_| format!("size {size}, expected 0 or more"));
    dims.iter().map(size).collect()
}

/// The IR's type for elements of type `element`. Signed integers are signless there.
pub fn element_type(ctx: &Context, element: Element) -> Result<Type, String> {
    let unsigned = |width| ctx.ty(TypeData::Integer { width, signedness: Signedness::Unsigned });
    Ok(match element {
        Element::Float => ctx.f32(),
        Element::Double => ctx.float(FloatKind::F64),
        Element::Float16 => ctx.float(FloatKind::F16),
        Element::Bfloat16 => ctx.float(FloatKind::Bf16),
        Element::Float8E4m3fn => ctx.float(FloatKind::F8E4M3FN),
        Element::Float8E4m3fnuz => ctx.float(FloatKind::F8E4M3FNUZ),
        Element::Float8E5m2 => ctx.float(FloatKind::F8E5M2),
        Element::Float8E5m2fnuz => ctx.float(FloatKind::F8E5M2FNUZ),
        Element::Float8E8m0 => ctx.float(FloatKind::F8E8M0FNU),
        Element::Bool => ctx.int(1),
        Element::String => string_type(ctx),
        Element::Float4E2m1 => ctx.float(FloatKind::F4E2M1FN),
        Element::Int2 => ctx.int(2),
        Element::Int4 => ctx.int(4),
        Element::Uint2 => unsigned(2),
        Element::Uint4 => unsigned(4),
        Element::Int8 => ctx.int(8),
        Element::Int16 => ctx.int(16),
        Element::Int32 => ctx.int(32),
        Element::Int64 => ctx.int(64),
        Element::Uint8 => unsigned(8),
        Element::Uint16 => unsigned(16),
        Element::Uint32 => unsigned(32),
        Element::Uint64 => unsigned(64),
        _ => return Err(format!("elements of type {} are not supported", element.name())),
    })
}
