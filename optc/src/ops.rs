//! Builders of operations: required operands and attributes are parameters, optional ones are methods.
//!
//! ```
//! use std::sync::Arc;
//! use optc::prelude::*;
//!
//! let ctx = Arc::new(Context::new());
//! let mut module = Module::new(ctx.clone());
//! let matrix = ctx.tensor(&[4, 8], ctx.f32());
//! let mut main = FunctionBuilder::new(&mut module, "main", &[("q", matrix), ("k", matrix)]);
//! let (q, k) = (main.input(0), main.input(1));
//! let scores = nn::matmul(&mut main, q, k).transpose_b().build()?;
//! let shares = nn::softmax(&mut main, scores, 1).build()?;
//! let most = nn::reduce_max(&mut main, shares, &[1]).keepdims().build()?;
//! assert_eq!(main.ty(most), ctx.tensor(&[4, 1], ctx.f32()));
//! main.finish(&[("most", most)])?;
//! # Ok::<(), optc::Failure>(())
//! ```
//!
//! The modules are written from the rows by a test, so an operation that is added has its builder. Operations
//! with regions, and those of other dialects, are built by name ([`FunctionBuilder::op`]); constants by
//! [`FunctionBuilder::constant`] and [`FunctionBuilder::splat`].

use ir::opdef::AttrKind;
use ir::{Attr, Context, Dim, FunctionBuilder, Type, TypeData, dims};

pub mod arith;
pub mod nn;
mod nn_elementwise;

/// A size of a tensor: a number or a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size<'a> {
    /// A number.
    Known(u64),
    /// A name, whose number is known at run time.
    Named(&'a str),
}

/// A tensor type, some of whose sizes may be names.
///
/// ```
/// use optc::ir::Context;
/// use optc::ops::{Size, tensor};
///
/// let ctx = Context::new();
/// let ty = tensor(&ctx, &[Size::Named("N"), Size::Known(4)], ctx.f32());
/// assert_eq!(optc::ir::text::type_text(&ctx, ty), "tensor<?x4xf32, #optc.dims<N>>");
/// ```
pub fn tensor(ctx: &Context, sizes: &[Size<'_>], elem: Type) -> Type {
    let dim = |size: &Size<'_>| match size {
        Size::Known(number) => Dim::Known(*number),
        Size::Named(name) => Dim::Symbolic(dims::symbol(ctx, name)),
    };
    ctx.ty(TypeData::Tensor { shape: sizes.iter().map(dim).collect(), elem, encoding: None })
}

/// The attribute for one of the words that an `OpDef` lists. An unknown word is left to the verifier.
fn word(function: &FunctionBuilder<'_>, op: &str, attr: &str, word: &str) -> Attr {
    let ctx: &Context = function.ctx();
    let kind = ctx.def(ctx.op_name(op)).and_then(|def| Some(def.attr(attr)?.kind));
    let number = match kind {
        Some(AttrKind::Word(words)) => words.attr(ctx, word),
        _ => None,
    };
    number.unwrap_or_else(|| ctx.str_attr(word))
}

/// Functions that begin operations, and their builders.
macro_rules! builders {
    ($($(#[$doc:meta])+ $op:literal $name:ident $params:tt $(-> $builder:ident $optional:tt)?;)+) => {
        $($crate::ops::builder! { [$(#[$doc])+] $op $name $params $($builder $optional)? })+
    };
}

/// A function that begins an operation, with its builder.
macro_rules! builder {
    ([$(#[$doc:meta])+] $op:literal $name:ident ($($param:ident: $kind:ident),*)) => {
        $(#[$doc])+
        pub fn $name<'b>(
            function: &'b mut ir::FunctionBuilder<'_>,
            $($param: $crate::ops::parameter!($kind),)*
        ) -> ir::OpBuilder<'b> {
            $(let $param = $crate::ops::prepared!($kind function $op $param);)*
            let op = function.op($op);
            $(let op = $crate::ops::given!($kind op $param);)*
            op
        }
    };
    (
        [$(#[$doc:meta])+] $op:literal $name:ident ($($param:ident: $kind:ident),*)
        $builder:ident { $($(#[$about:meta])+ $optional:ident: $optional_kind:ident,)+ }
    ) => {
        $(#[$doc])+
        pub fn $name<'b>(
            function: &'b mut ir::FunctionBuilder<'_>,
            $($param: $crate::ops::parameter!($kind),)*
        ) -> $builder<'b> {
            $(let $param = $crate::ops::prepared!($kind function $op $param);)*
            let op = function.op($op);
            $(let op = $crate::ops::given!($kind op $param);)*
            $builder(op)
        }

        #[doc = concat!("`", $op, "`, which is not made yet.")]
        #[must_use = "an operation is appended when it is built"]
        pub struct $builder<'b>(ir::OpBuilder<'b>);

        impl $builder<'_> {
            $($crate::ops::setter! { [$(#[$about])+] $optional $optional_kind })+

            /// Sets any other attribute.
            pub fn attr(self, name: &str, value: ir::Attr) -> Self {
                Self(self.0.attr(name, value))
            }

            /// Appends the operation, and returns its first result.
            ///
            /// # Errors
            /// As for [`ir::OpBuilder::build`].
            pub fn build(self) -> Result<ir::Value, ir::InferError> {
                self.0.build()
            }

            /// Appends the operation, and returns all its results.
            ///
            /// # Errors
            /// As for [`ir::OpBuilder::build`].
            pub fn build_all(self) -> Result<Vec<ir::Value>, ir::InferError> {
                self.0.build_all()
            }
        }
    };
}

/// The type of a parameter.
macro_rules! parameter {
    (value) => {
        ir::Value
    };
    (values) => {
        &[ir::Value]
    };
    (int) => {
        i64
    };
    (ints) => {
        &[i64]
    };
    (float) => {
        f32
    };
    (text) => {
        &str
    };
    (word) => {
        &str
    };
    (ty) => {
        ir::Type
    };
    (result) => {
        ir::Type
    };
}

/// The conversion of a parameter before the operation begins.
macro_rules! prepared {
    (ty $function:ident $op:literal $param:ident) => {
        $function.ctx().type_attr($param)
    };
    (word $function:ident $op:literal $param:ident) => {
        $crate::ops::word($function, $op, stringify!($param), $param)
    };
    ($kind:ident $function:ident $op:literal $param:ident) => {
        $param
    };
}

/// An operation with a parameter.
macro_rules! given {
    (value $to:ident $param:ident) => {
        $to.operands(&[$param])
    };
    (values $to:ident $param:ident) => {
        $to.operands($param)
    };
    (int $to:ident $param:ident) => {
        $to.int(stringify!($param), $param)
    };
    (ints $to:ident $param:ident) => {
        $to.ints(stringify!($param), $param)
    };
    (float $to:ident $param:ident) => {
        $to.float(stringify!($param), $param)
    };
    (text $to:ident $param:ident) => {
        $to.word(stringify!($param), $param)
    };
    (word $to:ident $param:ident) => {
        $to.attr(stringify!($param), $param)
    };
    (ty $to:ident $param:ident) => {
        $to.attr(stringify!($param), $param)
    };
    (result $to:ident $param:ident) => {
        $to.results(&[$param])
    };
}

/// A method for an optional operand or attribute.
macro_rules! setter {
    ([$($doc:tt)+] $name:ident operand) => {
        $($doc)+
        pub fn $name(self, value: ir::Value) -> Self {
            Self(self.0.operands(&[value]))
        }
    };
    ([$($doc:tt)+] $name:ident flag) => {
        $($doc)+
        pub fn $name(self) -> Self {
            Self(self.0.flag(stringify!($name)))
        }
    };
    ([$($doc:tt)+] $name:ident int) => {
        $($doc)+
        pub fn $name(self, value: i64) -> Self {
            Self(self.0.int(stringify!($name), value))
        }
    };
    ([$($doc:tt)+] $name:ident ints) => {
        $($doc)+
        pub fn $name(self, values: &[i64]) -> Self {
            Self(self.0.ints(stringify!($name), values))
        }
    };
    ([$($doc:tt)+] $name:ident float) => {
        $($doc)+
        pub fn $name(self, value: f32) -> Self {
            Self(self.0.float(stringify!($name), value))
        }
    };
    ([$($doc:tt)+] $name:ident text) => {
        $($doc)+
        pub fn $name(self, value: &str) -> Self {
            Self(self.0.word(stringify!($name), value))
        }
    };
}

use {builder, builders, given, parameter, prepared, setter};
