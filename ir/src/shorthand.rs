//! Constructors and accessors of common types and attributes.

use crate::attrs::AttrData;
use crate::blob::Blob;
use crate::context::Context;
use crate::entities::{Attr, Ident, Type};
use crate::opdef::Dialect;
use crate::types::{Dim, FloatKind, Signedness, TypeData};
use std::collections::BTreeSet;

/// Shorthands that make and read the most common types.
impl Context {
    /// A signless integer type.
    pub fn int(&self, width: u32) -> Type {
        match width {
            64 => self.common().i64,
            _ => self.ty(TypeData::Integer { width, signedness: Signedness::Signless }),
        }
    }

    /// A float type.
    pub fn float(&self, kind: FloatKind) -> Type {
        self.ty(TypeData::Float(kind))
    }

    /// `f32`.
    pub fn f32(&self) -> Type {
        self.common().f32
    }

    /// `index`.
    pub fn index(&self) -> Type {
        self.ty(TypeData::Index)
    }

    /// A tensor of known sizes.
    pub fn tensor(&self, shape: &[u64], elem: Type) -> Type {
        let shape = shape.iter().map(|&size| Dim::Known(size)).collect();
        self.ty(TypeData::Tensor { shape, elem, encoding: None })
    }

    /// The sizes of a type, if it is a tensor and all are known.
    pub fn static_shape(&self, ty: Type) -> Option<Vec<u64>> {
        self.type_data(ty).tensor_shape()?.iter().map(|dim| dim.known()).collect()
    }

    /// The element type of a shaped type; any other type is its own element.
    pub fn elem(&self, ty: Type) -> Type {
        self.type_data(ty).elem().unwrap_or(ty)
    }

    /// A vector or tensor type with its element type replaced by `elem`; of any other type, `elem` itself.
    pub fn with_elem(&self, ty: Type, elem: Type) -> Type {
        match self.type_data(ty).clone() {
            TypeData::Vector { shape, .. } => self.ty(TypeData::Vector { shape, elem }),
            TypeData::Tensor { shape, encoding, .. } => self.ty(TypeData::Tensor { shape, elem, encoding }),
            TypeData::UnrankedTensor { .. } => self.ty(TypeData::UnrankedTensor { elem }),
            _ => elem,
        }
    }
}

/// Shorthands that make and read the most common attributes.
impl Context {
    /// A dictionary, sorted by name. A duplicate name is a defect.
    pub fn dict(&self, mut entries: Vec<(Ident, Attr)>) -> Attr {
        entries.sort_by(|a, b| self.str(a.0).cmp(self.str(b.0)));
        let twice = entries.windows(2).find(|pair| pair[0].0 == pair[1].0);
        assert!(twice.is_none(), "a dictionary names each entry once");
        self.attr(AttrData::Dict(entries.into()))
    }

    /// The entry of a dictionary.
    pub fn dict_get(&self, dict: Attr, name: Ident) -> Option<Attr> {
        self.entry(dict, |key| key == name)
    }

    /// The entry of a dictionary, by the text of its name: takes no lock.
    pub fn dict_find(&self, dict: Attr, name: &str) -> Option<Attr> {
        match self.decision(name) {
            Some(ident) => self.dict_get(dict, ident),
            None => self.entry(dict, |key| self.str(key) == name),
        }
    }

    fn entry(&self, dict: Attr, is_wanted: impl Fn(Ident) -> bool) -> Option<Attr> {
        let AttrData::Dict(entries) = self.attr_data(dict) else { return None };
        entries.iter().find(|entry| is_wanted(entry.0)).map(|entry| entry.1)
    }

    /// The dictionary with this entry set.
    pub fn dict_set(&self, dict: Attr, name: Ident, value: Attr) -> Attr {
        let known = self.dict_entries(dict);
        let mut entries = Vec::with_capacity(known.len() + 1);
        entries.extend_from_slice(known);
        match entries.binary_search_by(|entry| self.str(entry.0).cmp(self.str(name))) {
            Ok(index) => entries[index].1 = value,
            Err(index) => entries.insert(index, (name, value)),
        }
        self.attr(AttrData::Dict(entries.into()))
    }

    /// The dictionary without this entry.
    pub fn dict_remove(&self, dict: Attr, name: Ident) -> Attr {
        let mut entries = self.dict_entries(dict).to_vec();
        entries.retain(|entry| entry.0 != name);
        self.attr(AttrData::Dict(entries.into()))
    }

    /// The entries of a dictionary, sorted by name.
    pub fn dict_entries(&self, dict: Attr) -> &[(Ident, Attr)] {
        match self.attr_data(dict) {
            AttrData::Dict(entries) => entries,
            other => panic!("not a dictionary: {other:?}"),
        }
    }

    /// An `i64`.
    pub fn int_attr(&self, value: i64) -> Attr {
        self.attr(AttrData::Integer { value: value.into(), ty: self.int(64) })
    }

    /// An `f32`.
    pub fn f32_attr(&self, value: f32) -> Attr {
        self.attr(AttrData::Float { bits: value.to_bits().into(), ty: self.f32() })
    }

    /// A string.
    pub fn str_attr(&self, text: &str) -> Attr {
        self.attr(AttrData::String { bytes: text.as_bytes().into(), ty: None })
    }

    /// `unit`.
    pub fn unit_attr(&self) -> Attr {
        self.attr(AttrData::Unit)
    }

    /// A type as an attribute.
    pub fn type_attr(&self, ty: Type) -> Attr {
        self.attr(AttrData::Type(ty))
    }

    /// An array of attributes.
    pub fn array_attr(&self, items: &[Attr]) -> Attr {
        self.attr(AttrData::Array(items.into()))
    }

    /// `array<i64: ...>`.
    pub fn ints_attr(&self, values: &[i64]) -> Attr {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.attr(AttrData::DenseArray { elem: self.int(64), bytes })
    }

    /// Sizes: `array<i64: ...>` if none is symbolic, with -1 for unknown ones, else `#optc.dims<...>`.
    pub fn dims_attr(&self, dims: &[Dim]) -> Attr {
        let number = |dim: &Dim| match dim {
            Dim::Known(size) => i64::try_from(*size).ok(),
            Dim::Symbolic(_) => None,
            Dim::Unknown => Some(-1),
        };
        match dims.iter().map(number).collect::<Option<Vec<i64>>>() {
            Some(numbers) => self.ints_attr(&numbers),
            None => self.attr(AttrData::Dims(dims.into())),
        }
    }

    /// `dense_resource<key> : ty`, with `blob` kept under `key`.
    pub fn resource_attr(&self, key: &str, ty: Type, blob: Blob) -> Attr {
        let key = self.ident(key);
        self.set_blob(key, blob);
        self.attr(AttrData::Resource { ty, key })
    }

    /// The value of an integer attribute (or of a boolean: 0 or 1).
    pub fn int_value(&self, attr: Attr) -> Option<i64> {
        match self.attr_data(attr) {
            AttrData::Integer { value, .. } => i64::try_from(*value).ok(),
            AttrData::Bool(value) => Some((*value).into()),
            _ => None,
        }
    }

    /// The value of an `f32` or `f64` attribute.
    pub fn float_value(&self, attr: Attr) -> Option<f64> {
        let AttrData::Float { bits, ty } = self.attr_data(attr) else {
            return None;
        };
        match self.type_data(*ty) {
            TypeData::Float(FloatKind::F32) => Some(f32::from_bits(*bits as u32).into()),
            TypeData::Float(FloatKind::F64) => Some(f64::from_bits(*bits as u64)),
            _ => None,
        }
    }

    /// The text of a string attribute.
    pub fn str_value(&self, attr: Attr) -> Option<&str> {
        match self.attr_data(attr) {
            AttrData::String { bytes, .. } => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
    }

    /// The values of an `array<i64: ...>`.
    pub fn ints_value(&self, attr: Attr) -> Option<Vec<i64>> {
        self.ints_in(attr).map(Iterator::collect)
    }

    /// The values of an `array<i64: ...>`, one by one.
    pub fn ints_in(&self, attr: Attr) -> Option<impl Iterator<Item = i64>> {
        match self.attr_data(attr) {
            AttrData::DenseArray { elem, bytes } if *elem == self.int(64) => {
                let words = bytes.chunks_exact(8);
                Some(words.map(|word| i64::from_le_bytes(word.try_into().expect("eight bytes"))))
            }
            _ => None,
        }
    }

    /// The items of an array.
    pub fn array_value(&self, attr: Attr) -> Option<&[Attr]> {
        match self.attr_data(attr) {
            AttrData::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The type of an attribute, if it has one: that of a number, of elements, or of a string.
    pub fn attr_type(&self, attr: Attr) -> Option<Type> {
        match self.attr_data(attr) {
            AttrData::Bool(_) => Some(self.int(1)),
            AttrData::Integer { ty, .. }
            | AttrData::WideInteger { ty, .. }
            | AttrData::Float { ty, .. }
            | AttrData::Dense { ty, .. }
            | AttrData::Sparse { ty, .. }
            | AttrData::Resource { ty, .. } => Some(*ty),
            AttrData::String { ty, .. } | AttrData::Opaque { ty, .. } => *ty,
            _ => None,
        }
    }

    /// The registered operation whose name is nearest to `name`, if one is near, for "did you mean". Names
    /// that differ only in their dialect (`conv2d`, `linalg.matmul`) come first.
    pub fn similar_op(&self, name: &str) -> Option<&'static str> {
        let known: BTreeSet<&'static str> =
            self.dialects().flat_map(Dialect::ops).map(|def| def.name).collect();
        let short_name = name.split_once('.').map_or(name, |(_, short)| short);
        let is_short = |op: &&str| op.split_once('.').is_some_and(|(_, short)| short == short_name);
        let same_short_name = known.iter().copied().find(is_short);
        same_short_name.or_else(|| crate::diag::nearest(name, known).first().copied())
    }
}
