//! The text of modules: printer and parser.
//!
//! There are two forms, which may be mixed in one file. The *generic* form is MLIR's, byte for byte the
//! output of `mlir-opt --mlir-print-op-generic`, for every dialect, registered or not:
//!
//! ```text
//! %0 = "nn.relu"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
//! ```
//!
//! The *pretty* form is derived from an operation's row, so registering a row is enough to have it:
//!
//! ```text
//! module {
//!   func.func @main(%arg0: tensor<4xf32> {optc.name = "x"}) -> tensor<4xf32> {
//!     %0 = nn.constant dense<1.000000e+00> : tensor<4xf32>
//!     %1 = nn.add %arg0, %0 : tensor<4xf32>
//!     %2 = nn.reshape %1 {shape = array<i64: 2, 2>} : (tensor<4xf32>) -> tensor<2x2xf32>
//!     %3 = optc.group(%arg1 = %1) : (tensor<4xf32>) -> tensor<4xf32> {
//!       %4 = nn.relu %arg1 : tensor<4xf32>
//!       optc.yield %4 : tensor<4xf32>
//!     }
//!     return %3 : tensor<4xf32>
//!   }
//! }
//! ```
//!
//! The operations of `builtin`, `func`, `arith`, `cf` and `scf` are written as MLIR writes them. A row may
//! give its text itself ([`OpDef::syntax`](crate::OpDef)), in a notation like MLIR's:
//!
//! | piece | stands for |
//! |---|---|
//! | `$name` | the operands of this name, or the attribute: its word, its flags, its text |
//! | `attr-dict` | all attributes that are shown nowhere else |
//! | `type($a, $b)` | the one type of the operands and results of these names, or of a run of them |
//! | `type-unless-i1($a)` | the type and a comma, unless it is `i1` |
//! | `call-type($f)` | the type of a function, with the operation's own inputs and results |
//! | `block(0)`, `cases` | a successor with its operands; the successors of a switch |
//! | `[...]` | nothing, if its contents are absent |
//! | other words and bytes | themselves |
//!
//! ```text
//! syntax: Some("$lhs, $rhs $overflowFlags attr-dict : type($lhs, $rhs, $result)")
//! %0 = arith.addi %a, %b overflow<nsw> {tag} : i32
//! ```
//!
//! In the form of all other rows, a single type after the colon is that of all operands and results. Inherent
//! and other attributes share one pair of braces; the row tells them apart. An operation without a pretty
//! form is written in generic form. Types and attributes of unregistered dialects are kept as their text. The
//! bytes of big constants are at the end, in `{-# dialect_resources ... #-}`, or are found through `{-#
//! external_resources: {optc: ...} #-}` (see [`Context::set_reference`]).

use std::fmt;
use std::sync::Arc;

use crate::body::Body;
use crate::context::Context;
use crate::diag::Diagnostic;
use crate::entities::{Attr, DimExpr, Type};
use crate::module::Module;

mod big;
mod edited;
mod float;
mod form;
pub mod index;
mod lexer;
mod mentions;
pub(crate) mod quote;
mod read;
mod round_trip;
mod write;

pub use edited::EditedText;
pub use form::op_of_word;
pub use round_trip::check_round_trip;

#[cfg(test)]
mod tests;

/// Options for reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParseOptions {
    /// The treatment of unregistered operations.
    pub unregistered: Unregistered,
}

/// The treatment of unregistered operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unregistered {
    /// They are an error.
    #[default]
    Refuse,
    /// They are kept, in generic form.
    Allow,
}

/// Options for printing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrintOptions {
    /// The form of operations.
    pub form: PrintForm,
    /// Whether locations are printed.
    pub locations: Locations,
    /// Whether the bytes of resources, or references to them, are printed.
    pub resources: ResourceText,
}

/// Whether the bytes of resources, or references to them, are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResourceText {
    /// They are printed.
    #[default]
    Kept,
    /// They are omitted: the reader of the text knows the meaning of each name.
    Omitted,
}

/// The form in which operations are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PrintForm {
    /// By their rows, if these have a pretty form.
    #[default]
    Pretty,
    /// All in one form: `"name"(operands) <{properties}> (regions) {attributes} : (types) -> types`.
    Generic,
}

/// Whether locations are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Locations {
    /// They are omitted.
    #[default]
    Hidden,
    /// After each operation: `loc(...)`.
    Shown,
    /// Like `Shown`, with the names of values: a value called `%x` in a text has the location
    /// `loc("x"("net.mlir":1:17))`. So the names survive when the text is parsed again.
    Named,
}

/// Reads a module of registered operations.
///
/// # Errors
/// All errors found, in text order: of syntax, names, and types of values. After a syntax error, parsing
/// continues with the next operation. [`crate::verify`] checks the rules of rows; if the text has errors, the
/// functions without errors are verified here. Parsing ends after a thousand errors, so that bad text does
/// not need a multiple of its memory. It also ends after a thousand duplicate symbols, or a thousand
/// violations by small isolated operations.
pub fn parse(ctx: &Arc<Context>, name: &str, text: String) -> Result<Module, Vec<Diagnostic>> {
    parse_with(ctx, name, text, &ParseOptions::default())
}

/// Reads a module.
///
/// # Errors
/// Like [`parse`].
pub fn parse_with(
    ctx: &Arc<Context>,
    name: &str,
    text: String,
    options: &ParseOptions,
) -> Result<Module, Vec<Diagnostic>> {
    read::module(ctx, name, text, options)
}

/// The result of reading a text for an editor.
pub struct IndexedText {
    /// The module, or all errors of the text.
    pub module: Result<Module, Vec<Diagnostic>>,
    /// The places of names and operations, as far as they could be parsed.
    pub index: index::TextIndex,
}

/// Reads a module like [`parse_with`], and also returns the places of names and operations, whether or not
/// there are errors.
pub fn parse_indexed(ctx: &Arc<Context>, name: &str, text: String, options: &ParseOptions) -> IndexedText {
    read::indexed(ctx, name, text, options)
}

/// Reads a type.
///
/// # Errors
/// The first syntax error.
pub fn parse_type(ctx: &Context, text: &str) -> Result<Type, Vec<Diagnostic>> {
    read::whole(ctx, text, |reader| reader.ty())
}

/// Reads an attribute.
///
/// # Errors
/// The first syntax error.
pub fn parse_attr(ctx: &Context, text: &str) -> Result<Attr, Vec<Diagnostic>> {
    read::whole(ctx, text, |reader| reader.attr())
}

/// Reads an expression of named sizes: `N floordiv 2 + 1`.
///
/// # Errors
/// If the text is not an expression, or its canonical form can't be represented.
pub fn parse_dim(ctx: &Context, text: &str) -> Result<DimExpr, Vec<Diagnostic>> {
    read::whole(ctx, text, |reader| reader.dim_expr())
}

/// The pretty text of a module.
pub fn print(module: &Module) -> String {
    print_with(module, &PrintOptions::default())
}

/// The text of a module.
pub fn print_with(module: &Module, options: &PrintOptions) -> String {
    let mut text = String::new();
    write(module, options, &mut text).expect("a string takes all text");
    text
}

/// Writes the text of a module in pieces.
///
/// # Errors
/// The errors of `out`.
pub fn write(module: &Module, options: &PrintOptions, out: &mut dyn fmt::Write) -> fmt::Result {
    write::module(module, options, out)
}

/// The pretty text of an isolated operation's contents: its regions, without the operation.
pub fn print_body(ctx: &Context, body: &Body) -> String {
    write::body(ctx, body)
}

/// The text of a type.
pub fn type_text(ctx: &Context, ty: Type) -> String {
    write::whole(ctx, usize::MAX, |writer| writer.ty(ty))
}

/// The text of an attribute.
pub fn attr_text(ctx: &Context, attr: Attr) -> String {
    write::whole(ctx, usize::MAX, |writer| writer.attr(attr))
}

/// The text of a type for a message: a long one is truncated.
pub(crate) fn short_type(ctx: &Context, ty: Type) -> String {
    write::whole(ctx, write::SHORT, |writer| writer.ty(ty))
}

/// The text of an attribute for a message: a long one is truncated.
pub(crate) fn short_attr(ctx: &Context, attr: Attr) -> String {
    write::whole(ctx, write::SHORT, |writer| writer.attr(attr))
}
