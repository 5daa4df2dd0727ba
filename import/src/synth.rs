//! Synthetic weights and inputs: generated numbers in place of elements that a file lacks.
//!
//! A weight-stripped model keeps, in its metadata property `stripped_weights` (JSON: tensor name -> entry), a
//! rule in place of each large tensor's data. An entry has `dtype` (ONNX's number), `shape`, and one of
//!
//! ```text
//! "fill": x                     => every element is x
//! "z": "eJx..."                 => the exact bytes, little-endian, zlib-compressed, base64
//! "mean": m, "std": s           => element i is m + s * sqrt(3) * u(i), in f32
//! "mean", "std", "min": a       => the same, then max(|element|, a)
//! ```
//!
//! `u(i)` for the tensor `name`: with h = FNV-1a-64 of the name's UTF-8 bytes (Fowler, Noll, Vo 1991), x is
//! the finalizer of splitmix64 (Steele, Lea, Flood 2014) on h + i * 0x9E3779B97F4A7C15, and u(i) = (x >>
//! 40) * 2^-23 - 1, in [-1, 1), exact in f32. The two f32 roundings that follow are
//! `(u * f32(s * sqrt(3))) + f32(m)`, so any program in any language gets the same bits. The data of a
//! `Constant` node is named `const:` plus its first output.
//!
//! An element depends only on its index: any part of a tensor can be generated on demand, in any order, by
//! any thread.

use std::collections::HashMap;
use std::sync::Arc;

use base64::Engine;
use half::{bf16, f16};
use ir::{Blob, ConstantSource};
use serde::Deserialize;

use crate::onnx::element::Element;

/// The metadata property that holds the rules.
pub const PROPERTY: &str = "stripped_weights";

/// The rules of a weight-stripped model, by tensor name.
#[derive(Debug, Default)]
pub struct Stripped(HashMap<String, SynthTensor>);

/// The rule for one tensor.
#[derive(Debug, Deserialize)]
pub struct SynthTensor {
    dtype: i32,
    shape: Vec<u64>,
    fill: Option<serde_json::Number>,
    z: Option<String>,
    mean: Option<f64>,
    std: Option<f64>,
    min: Option<f64>,
}

impl Stripped {
    /// Reads the property's JSON text. The error says what is malformed, and where in the text.
    pub fn parse(json: &str) -> Result<Stripped, String> {
        serde_json::from_str(json).map(Stripped).map_err(|error| format!("{PROPERTY}: {error}"))
    }

    /// The number of tensors with rules.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The rule for the tensor `name`; for a `Constant` node, the name is `const:` plus its output's name.
    pub fn get(&self, name: &str) -> Option<&SynthTensor> {
        self.0.get(name)
    }
}

impl SynthTensor {
    /// The tensor of the rule with the key `name`. `element` and `dims` are from the file, and must agree
    /// with the rule.
    pub fn blob(&self, name: &str, element: Element, dims: &[u64]) -> Result<Blob, String> {
        if self.dtype != element.number() || self.shape != dims {
            return Err(format!(
                "{PROPERTY}: `{name}` has type {} and shape {:?}, the tensor {} and {dims:?}",
                self.dtype,
                self.shape,
                element.number()
            ));
        }
        let len_bytes =
            element.storage_bytes(dims).ok_or_else(|| format!("`{name}` has too many elements"))?;
        if let Some(text) = &self.z {
            return unpack(text, len_bytes)
                .map(Blob::from_bytes)
                .map_err(|what| format!("{PROPERTY}: `{name}`: {what}"));
        }
        let rule = self
            .rule(name)
            .ok_or_else(|| format!("{PROPERTY}: `{name}` has no `fill`, `z` or `mean` and `std`"))?;
        Synthetic::new(rule, element, len_bytes).map(Synthetic::into_blob)
    }

    fn rule(&self, name: &str) -> Option<FillRule> {
        if let Some(fill) = &self.fill {
            return Some(match fill.as_i64() {
                Some(number) => FillRule::FillInteger(number),
                None => FillRule::Fill(fill.as_f64()?),
            });
        }
        let scale = (self.std? * 3f64.sqrt()) as f32;
        let uniform = Uniform { seed: fnv1a(name.as_bytes()), scale, mean: self.mean? as f32 };
        Some(match self.min {
            Some(min) => FillRule::AtLeast(uniform, min as f32),
            None => FillRule::Uniform(uniform),
        })
    }
}

fn unpack(text: &str, len_bytes: usize) -> Result<Vec<u8>, String> {
    let packed =
        base64::engine::general_purpose::STANDARD.decode(text).map_err(|error| format!("base64: {error}"))?;
    let bytes = miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(&packed, len_bytes)
        .map_err(|error| format!("zlib: {error}"))?;
    if bytes.len() == len_bytes {
        Ok(bytes)
    } else {
        Err(format!("{} bytes, expected {len_bytes}", bytes.len()))
    }
}

/// Numbers for the model input `name` (the rule's `input:NAME`, with a seed `input:NAME:SEED`): floats are
/// u(i), integers (x >> 33) mod 1000, truth values (x >> 33) mod 2. `dims` are the sizes.
pub fn input(name: &str, seed: Option<u64>, element: Element, dims: &[u64]) -> Result<Blob, String> {
    let key = match seed {
        Some(seed) => format!("input:{name}:{seed}"),
        None => format!("input:{name}"),
    };
    let len_bytes = element.storage_bytes(dims).ok_or_else(|| format!("`{name}` has too many elements"))?;
    let seed = fnv1a(key.as_bytes());
    let rule = match element {
        Element::Bool => FillRule::Index { seed, modulus: 2 },
        _ if element.is_float() => FillRule::Uniform(Uniform { seed, scale: 1.0, mean: 0.0 }),
        _ => FillRule::Index { seed, modulus: 1000 },
    };
    Synthetic::new(rule, element, len_bytes).map(Synthetic::into_blob)
}

/// A generated tensor: a rule, and the element type in which its numbers are stored.
#[derive(Debug)]
struct Synthetic {
    rule: FillRule,
    element: Element,
    len_bytes: usize,
}

#[derive(Debug, Clone, Copy)]
enum FillRule {
    Fill(f64),
    FillInteger(i64),
    Uniform(Uniform),
    AtLeast(Uniform, f32),
    Index { seed: u64, modulus: u64 },
}

#[derive(Debug, Clone, Copy)]
struct Uniform {
    seed: u64,
    scale: f32,
    mean: f32,
}

impl Uniform {
    fn at(self, i: u64) -> f32 {
        let unit = (hash(self.seed, i) >> 40) as f32 * (1.0 / 8_388_608.0) - 1.0;
        unit * self.scale + self.mean
    }
}

/// FNV-1a, 64 bits.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xCBF2_9CE4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}

/// The `i`th number of splitmix64 from `seed`.
fn hash(seed: u64, i: u64) -> u64 {
    let mut z = seed.wrapping_add(i.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl Synthetic {
    fn new(rule: FillRule, element: Element, len_bytes: usize) -> Result<Synthetic, String> {
        if store_of(element).is_none() {
            return Err(format!("no rule makes numbers of type {}", element.name()));
        }
        Ok(Synthetic { rule, element, len_bytes })
    }

    fn into_blob(self) -> Blob {
        Blob::Lazy(Arc::new(self))
    }
}

impl ConstantSource for Synthetic {
    fn len_bytes(&self) -> usize {
        self.len_bytes
    }

    fn read(&self, start_byte: usize, out: &mut [u8]) {
        let store = store_of(self.element).expect("`Synthetic::new` refused other types");
        store(self.rule, start_byte, out);
    }
}

type Store = fn(FillRule, usize, &mut [u8]);

/// The function that stores numbers as `element`s.
fn store_of(element: Element) -> Option<Store> {
    Some(match element {
        Element::Float => store::<f32, 4>,
        Element::Double => store::<f64, 8>,
        Element::Float16 => store::<f16, 2>,
        Element::Bfloat16 => store::<bf16, 2>,
        Element::Int8 => store::<i8, 1>,
        Element::Int16 => store::<i16, 2>,
        Element::Int32 => store::<i32, 4>,
        Element::Int64 => store::<i64, 8>,
        Element::Uint8 => store::<u8, 1>,
        Element::Uint16 => store::<u16, 2>,
        Element::Uint32 => store::<u32, 4>,
        Element::Uint64 => store::<u64, 8>,
        Element::Bool => store::<Truth, 1>,
        _ => return None,
    })
}

/// Writes the elements from byte `start_byte` on. Each rule has a loop of its own, so the rule is not tested
/// for each element.
fn store<N: SynthElement<WIDTH>, const WIDTH: usize>(rule: FillRule, start_byte: usize, out: &mut [u8]) {
    let first = (start_byte / WIDTH) as u64;
    match rule {
        FillRule::Fill(x) => each(out, first, |_| N::from_f64(x).bytes()),
        FillRule::FillInteger(x) => each(out, first, |_| N::from_i64(x).bytes()),
        FillRule::Uniform(uniform) => each(out, first, |i| N::from_f32(uniform.at(i)).bytes()),
        FillRule::AtLeast(uniform, min) => {
            each(out, first, |i| N::from_f32(uniform.at(i).abs().max(min)).bytes())
        }
        FillRule::Index { seed, modulus } => {
            each(out, first, |i| N::from_i64(((hash(seed, i) >> 33) % modulus).cast_signed()).bytes())
        }
    }
}

fn each<const WIDTH: usize>(out: &mut [u8], first: u64, element: impl Fn(u64) -> [u8; WIDTH]) {
    let (slots, rest) = out.as_chunks_mut::<WIDTH>();
    assert!(rest.is_empty(), "a range of whole elements");
    for (slot, i) in slots.iter_mut().zip(first..) {
        *slot = element(i);
    }
}

/// An element type: conversions as numpy's `astype`, and the little-endian bytes.
trait SynthElement<const WIDTH: usize> {
    fn from_f32(x: f32) -> Self;
    fn from_f64(x: f64) -> Self;
    fn from_i64(x: i64) -> Self;
    fn bytes(self) -> [u8; WIDTH];
}

macro_rules! native_numbers {
    ($($ty:ident $width:literal)*) => {
        $(impl SynthElement<$width> for $ty {
            fn from_f32(x: f32) -> $ty { x as $ty }
            fn from_f64(x: f64) -> $ty { x as $ty }
            fn from_i64(x: i64) -> $ty { x as $ty }
            fn bytes(self) -> [u8; $width] { self.to_le_bytes() }
        })*
    };
}

native_numbers! { f32 4 f64 8 i8 1 i16 2 i32 4 i64 8 u8 1 u16 2 u32 4 u64 8 }

macro_rules! half_numbers {
    ($($ty:ident)*) => {
        $(impl SynthElement<2> for $ty {
            fn from_f32(x: f32) -> $ty { $ty::from_f32(x) }
            // The plain conversion may use an f32 conversion of the hardware and round twice.
            fn from_f64(x: f64) -> $ty { $ty::from_f64_const(x) }
            fn from_i64(x: i64) -> $ty { $ty::from_f64_const(x as f64) }
            fn bytes(self) -> [u8; 2] { self.to_le_bytes() }
        })*
    };
}

half_numbers! { f16 bf16 }

/// A truth value: one byte, 0 or 1.
struct Truth(bool);

impl SynthElement<1> for Truth {
    fn from_f32(x: f32) -> Truth {
        Truth(x != 0.0)
    }

    fn from_f64(x: f64) -> Truth {
        Truth(x != 0.0)
    }

    fn from_i64(x: i64) -> Truth {
        Truth(x != 0)
    }

    fn bytes(self) -> [u8; 1] {
        [u8::from(self.0)]
    }
}
