//! Modules: a whole program, as a `builtin.module` and its contents.

use std::sync::Arc;

use crate::body::{Body, OpRef};
use crate::context::Context;
use crate::entities::{Attr, Block, Ident, Location, Op, Type};
use crate::opdef::Traits;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// A program with the context of its handles.
///
/// The outermost operation, nearly always a `builtin.module`, is the only one of the body `top`.
#[derive(Clone)]
pub struct Module {
    /// The context of all handles.
    pub ctx: Arc<Context>,
    /// The body that contains the outermost operation.
    pub top: Body,
    /// The names that the module's text gave to attributes and types.
    pub aliases: Aliases,
    /// The text's resources of dialects other than `builtin`, in order.
    pub resources: Vec<Resource>,
}

/// An entry of `dialect_resources` of a dialect other than `builtin`, kept unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// The dialect.
    pub dialect: Ident,
    /// The resource's name.
    pub key: Ident,
    /// `"..."`, `true` or `false`.
    pub value: Box<str>,
}

/// Names of attributes and types in a module's text, in the order of their definition.
#[derive(Clone, Debug, Default)]
pub struct Aliases {
    /// Names after `#`.
    pub attrs: IndexMap<Attr, Ident, FxBuildHasher>,
    /// Names after `!`.
    pub types: IndexMap<Type, Ident, FxBuildHasher>,
}

impl Module {
    /// An empty `builtin.module`.
    pub fn new(ctx: Arc<Context>) -> Module {
        let mut top = Body::new(1);
        let block = top.add_block(top.root());
        let op = top.make_op(ctx.op_name("builtin.module"), &[], &[], Location::UNKNOWN);
        let mut child = Body::new(1);
        child.add_block(child.root());
        top.set_child(op, child);
        top.append(op, block);
        Module { ctx, top, aliases: Aliases::default(), resources: Vec::new() }
    }

    /// The module whose outermost operation is in a body.
    pub(crate) fn of_body(ctx: Arc<Context>, top: Body) -> Module {
        Module { ctx, top, aliases: Aliases::default(), resources: Vec::new() }
    }

    /// The outermost operation.
    pub fn op(&self) -> Op {
        let block = self.top.entry(self.top.root()).expect("a module has its outermost operation");
        self.top.first_op(block).expect("a module has its outermost operation")
    }

    /// The contents of the outermost operation.
    pub fn body(&self) -> &Body {
        self.top.child(self.op()).unwrap_or(&self.top)
    }

    /// The contents of the outermost operation.
    pub fn body_mut(&mut self) -> &mut Body {
        let op = self.op();
        match self.top.child_index(op) {
            Some(_) => self.top.child_mut(op).expect("the child was just found"),
            None => &mut self.top,
        }
    }

    /// The block that contains the module's functions.
    pub fn block(&self) -> Block {
        let body = self.body();
        body.entry(body.root()).expect("a module has a block")
    }

    /// The functions directly in the module (declarations too), in text order: the operation in
    /// [`Module::body`] and its own body.
    pub fn functions(&self) -> impl Iterator<Item = (Op, &Body)> + '_ {
        let body = self.body();
        body.children().filter(move |(op, _)| OpRef::new(&self.ctx, body, *op).has(Traits::FUNCTION))
    }

    /// The body of the function called `name`.
    pub fn function(&self, name: &str) -> Option<&Body> {
        self.functions().map(|(_, body)| body).find(|body| body.symbol(&self.ctx) == Some(name))
    }

    /// The body of the function called `name`.
    pub fn function_mut(&mut self, name: &str) -> Option<&mut Body> {
        let op = self.functions().find(|(_, body)| body.symbol(&self.ctx) == Some(name))?.0;
        self.body_mut().child_mut(op)
    }
}

impl Body {
    /// The symbol that the isolated operation itself defines (`sym_name`).
    pub fn symbol<'c>(&self, ctx: &'c Context) -> Option<&'c str> {
        ctx.str_value(self.own_attr(ctx, ctx.ident("sym_name"))?)
    }

    /// An attribute of the isolated operation itself, inherent or not.
    pub fn own_attr(&self, ctx: &Context, name: Ident) -> Option<Attr> {
        ctx.dict_get(self.properties, name).or_else(|| ctx.dict_get(self.attrs, name))
    }

    /// Sets an attribute of the isolated operation itself that its row does not declare.
    pub fn set_own_attr(&mut self, ctx: &Context, name: &str, value: Attr) {
        self.attrs = ctx.dict_set(self.attrs, ctx.ident(name), value);
    }
}
