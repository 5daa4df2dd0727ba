//! Type inference: the input of inference rules, and their errors.

use std::fmt;

use crate::context::Context;
use crate::dims::SizeArithmetic;
use crate::entities::{Attr, Type};
use crate::opdef::{OpDef, Presence};
use crate::types::{Dim, TypeData};

/// The input of an inference rule.
pub struct InferInput<'a> {
    /// The context of all handles.
    pub ctx: &'a Context,
    /// The operation's registry row.
    pub def: &'static OpDef,
    /// Types of the operands.
    pub operands: &'a [Type],
    /// The inherent attributes (a dictionary).
    pub properties: Attr,
}

impl<'a> InferInput<'a> {
    /// The sizes of operand `index`.
    ///
    /// # Errors
    /// If there is no such operand, or it is not a ranked tensor.
    pub fn shape(&self, index: usize) -> Result<&'a [Dim], InferError> {
        let ty = *self.operands.get(index).ok_or_else(|| format!("operand {index} is missing"))?;
        let shape = self.ctx.type_data(ty).tensor_shape();
        shape.ok_or_else(|| InferError(format!("operand {index} is not a ranked tensor")))
    }

    /// The element type of operand `index`.
    ///
    /// # Errors
    /// If there is no such operand.
    pub fn elem(&self, index: usize) -> Result<Type, InferError> {
        let ty = *self.operands.get(index).ok_or_else(|| format!("operand {index} is missing"))?;
        Ok(self.ctx.elem(ty))
    }

    /// An inherent attribute.
    pub fn attr(&self, name: &str) -> Option<Attr> {
        self.ctx.dict_find(self.properties, name)
    }

    /// An integer attribute, or the row's default for it.
    pub fn int(&self, name: &str) -> Option<i64> {
        let given = self.attr(name).and_then(|attr| self.ctx.int_value(attr));
        given.or_else(|| match self.def.attr(name)?.presence {
            Presence::DefaultInt(value) => Some(value),
            _ => None,
        })
    }

    /// A float attribute, or the row's default for it.
    pub fn float(&self, name: &str) -> Option<f64> {
        let given = self.attr(name).and_then(|attr| self.ctx.float_value(attr));
        given.or_else(|| match self.def.attr(name)?.presence {
            Presence::DefaultFloat(value) => Some(value),
            _ => None,
        })
    }

    /// An `array<i64>` attribute, or the row's default for it.
    ///
    /// # Errors
    /// If it is missing, or has another form.
    pub fn ints(&self, name: &str) -> Result<Vec<i64>, InferError> {
        let given = self.attr(name).and_then(|attr| self.ctx.ints_value(attr));
        let default = || match self.def.attr(name)?.presence {
            Presence::DefaultInts(values) => Some(values.to_vec()),
            _ => None,
        };
        given.or_else(default).ok_or_else(|| InferError(format!("`{name}` is not an `array<i64>`")))
    }

    /// A list of sizes: an `array<i64>`, in which -1 stands for a size that is not given, or
    /// `#optc.dims<...>`.
    ///
    /// # Errors
    /// If it is missing, has another form, or has a number below -1.
    pub fn dims(&self, name: &str) -> Result<Vec<Dim>, InferError> {
        if let Some(crate::AttrData::Dims(dims)) = self.attr(name).map(|attr| self.ctx.attr_data(attr)) {
            return Ok(dims.to_vec());
        }
        let ints = self.ints(name)?;
        let dim = |size: &i64| match size {
            -1 => Ok(Dim::Unknown),
            _ => u64::try_from(*size).map(Dim::Known),
        };
        let dims: Result<Vec<Dim>, _> = ints.iter().map(dim).collect();
        dims.map_err(|_| InferError(format!("`{name}` is {ints:?}, with a size below 0")))
    }

    /// Arithmetic on sizes.
    pub fn sizes(&self) -> SizeArithmetic<'a> {
        SizeArithmetic(self.ctx)
    }

    /// A string attribute, or the row's default for it.
    pub fn text(&self, name: &str) -> Option<&'a str> {
        let given = self.attr(name).and_then(|attr| self.ctx.str_value(attr));
        given.or_else(|| match self.def.attr(name)?.presence {
            Presence::DefaultText(text) => Some(text),
            _ => None,
        })
    }

    /// A tensor type of these sizes.
    pub fn tensor(&self, shape: Vec<Dim>, elem: Type) -> Type {
        self.ctx.ty(TypeData::Tensor { shape: shape.into(), elem, encoding: None })
    }
}

/// Why result types can't be inferred: a phrase in lower case, with what was found and what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InferError(pub String);

impl fmt::Display for InferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InferError {}

impl<S: Into<String>> From<S> for InferError {
    fn from(text: S) -> Self {
        InferError(text.into())
    }
}
