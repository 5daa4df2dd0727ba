//! The nodes of an e-graph: operations without their operands, or values from outside, over classes.

use egg::Id;
use ir::{Attr, OpDef, OpName, Type, Value};
use smallvec::SmallVec;

/// An operation, or a value from outside.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ENode {
    /// The index of its head in [`super::graph::GraphFacts`].
    pub(super) head: u32,
    /// The operands.
    pub(super) children: SmallVec<[Id; 4]>,
}

impl egg::Language for ENode {
    type Discriminant = u32;

    fn discriminant(&self) -> u32 {
        self.head
    }

    fn matches(&self, other: &ENode) -> bool {
        self.head == other.head && self.children.len() == other.children.len()
    }

    fn children(&self) -> &[Id] {
        &self.children
    }

    fn children_mut(&mut self) -> &mut [Id] {
        &mut self.children
    }
}

/// A node without its children.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum NodeHead {
    /// A value that is not computed in the run, or is computed by an operation with effects or several
    /// results.
    Leaf(Value, Type),
    /// A pure operation of one result.
    Op(OpHead),
}

/// An operation without its operands.
#[derive(Clone, Copy)]
pub(super) struct OpHead {
    pub(super) def: &'static OpDef,
    pub(super) name: OpName,
    pub(super) properties: Attr,
    pub(super) attrs: Attr,
    pub(super) ty: Type,
}

impl OpHead {
    fn key(&self) -> (OpName, Attr, Attr, Type) {
        (self.name, self.properties, self.attrs, self.ty)
    }
}

impl PartialEq for OpHead {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl Eq for OpHead {}
impl std::hash::Hash for OpHead {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl NodeHead {
    pub(super) fn ty(&self) -> Type {
        match self {
            NodeHead::Leaf(_, ty) => *ty,
            NodeHead::Op(op) => op.ty,
        }
    }
}
