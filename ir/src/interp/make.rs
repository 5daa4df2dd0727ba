//! Interpreter values: made from types and bytes, with their sizes.

use std::sync::Arc;

use super::tensor::{EvalError, Tensor};
use crate::context::Context;
use crate::entities::Type;
use crate::size::tensor_bytes;
use crate::types::{Dim, TypeData};

impl Tensor {
    /// A value of type `ty`, whose size must be that of `bytes`.
    pub fn new(ctx: &Context, ty: Type, bytes: Vec<u8>) -> Tensor {
        assert_eq!(tensor_bytes(ctx, ty), Some(bytes.len() as u64), "a value's bytes fit its type");
        Tensor { ty, bytes: Arc::new(bytes) }
    }

    /// A value of a type whose unknown sizes are taken from `shape`.
    ///
    /// # Errors
    /// If `shape` contradicts the type's known sizes.
    pub fn of_shape(ctx: &Context, ty: Type, shape: &[usize], bytes: Vec<u8>) -> Result<Tensor, EvalError> {
        let TypeData::Tensor { shape: declared, elem, encoding } = ctx.type_data(ty) else {
            return Ok(Tensor::new(ctx, ty, bytes));
        };
        let fits = declared.len() == shape.len()
            && declared
                .iter()
                .zip(shape)
                .all(|(dim, size)| dim.known().is_none_or(|dim| dim == *size as u64));
        if !fits {
            return Err(format!("the result has sizes {shape:?}, its type says {declared:?}").into());
        }
        let sizes = shape.iter().map(|size| Dim::Known(*size as u64)).collect();
        let ty = ctx.ty(TypeData::Tensor { shape: sizes, elem: *elem, encoding: *encoding });
        Ok(Tensor::new(ctx, ty, bytes))
    }

    /// A tensor of `f32`.
    pub fn from_f32(ctx: &Context, shape: &[u64], values: &[f32]) -> Tensor {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Tensor::new(ctx, ctx.tensor(shape, ctx.f32()), bytes)
    }

    /// The elements of a value of `f32`.
    pub fn to_f32(&self) -> Vec<f32> {
        let words = self.bytes.chunks_exact(4);
        words.map(|word| f32::from_le_bytes(word.try_into().expect("four bytes"))).collect()
    }

    /// The sizes, outermost first; none for a scalar.
    ///
    /// # Errors
    /// If the type leaves a size unknown.
    pub fn shape(&self, ctx: &Context) -> Result<Vec<usize>, EvalError> {
        if let TypeData::Vector { shape, .. } = ctx.type_data(self.ty) {
            return Ok(shape.iter().map(|dim| dim.size as usize).collect());
        }
        let Some(dims) = ctx.type_data(self.ty).tensor_shape() else { return Ok(Vec::new()) };
        let sizes = dims.iter().map(|dim| Some(dim.known()? as usize));
        sizes.collect::<Option<_>>().ok_or_else(|| "the sizes of an operand are not known".into())
    }
}
