//! Terms: the interface between laws and a program, either a body of operations or an e-graph.
//!
//! A value of a body is a term that one operation computes; a class of an e-graph is a term that several
//! operations compute, all with the same result. Both implement [`Terms`], so that matching and building of
//! laws have one implementation. Only operations with one result compute terms.

use ir::opdef::InferInput;
use ir::{Attr, Context, Dim, OpDef, OpName, Type, words};
use smallvec::SmallVec;

/// A value of a body, or a class of equal values of an e-graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term(pub(crate) u32);

/// Several terms, in order.
pub type TermList = SmallVec<[Term; 4]>;

/// An operation matched by a pattern, as it was when it matched.
#[derive(Clone)]
pub struct Matched {
    /// Its row.
    pub def: &'static OpDef,
    /// Its name.
    pub name: OpName,
    /// Its inherent attributes.
    pub properties: Attr,
    /// Its operands.
    pub operands: TermList,
}

/// The match of a law's left side.
#[derive(Clone)]
pub struct LawMatch {
    /// The operations of the pattern, in the order in which they are written.
    pub ops: SmallVec<[Matched; 4]>,
    /// The terms of its variables, in the order of their first appearance.
    pub vars: TermList,
    /// The type of the left side, which the right side must have.
    pub ty: Type,
}

/// A program in which laws are matched and applied.
pub trait Terms<'c> {
    /// The context of all handles.
    fn ctx(&self) -> &'c Context;

    /// The type of a term.
    fn ty(&self, term: Term) -> Type;

    /// The elements of a term, if they are few and part of the program.
    fn constant(&self, term: Term) -> Option<Attr>;

    /// Whether a term is known before the program runs.
    fn is_weight(&self, term: Term) -> bool;

    /// The operations of this name that compute a term.
    fn ops(&self, term: Term, name: &str) -> SmallVec<[Matched; 1]>;

    /// Builds a constant; none if its operation has no `OpDef`.
    fn make_constant(&mut self, value: Attr, ty: Type) -> Option<Term>;

    /// Builds an operation with these inherent attributes; none if its `OpDef` refuses the operands.
    fn make_op(&mut self, name: OpName, operands: &[Term], properties: Attr) -> Option<Term>;

    /// Builds an operation with these attributes; none if its `OpDef` refuses the operands.
    fn make(&mut self, name: &str, operands: &[Term], attrs: &[(&str, Attr)]) -> Option<Term> {
        let ctx = self.ctx();
        let properties = ctx.dict(attrs.iter().map(|(key, attr)| (ctx.ident(key), *attr)).collect());
        let name = ctx.op_name(name);
        let properties = ctx.def(name).map_or(properties, |def| words::fill(ctx, def, properties));
        self.make_op(name, operands, properties)
    }

    /// Builds an operation like another, with other operands.
    fn make_like(&mut self, op: &Matched, operands: &[Term]) -> Option<Term> {
        self.make_op(op.name, operands, op.properties)
    }

    /// The sizes of a tensor.
    fn dims(&self, term: Term) -> Option<&'c [Dim]> {
        self.ctx().type_data(self.ty(term)).tensor_shape()
    }

    /// The sizes of a tensor, if all are known.
    fn shape(&self, term: Term) -> Option<Vec<u64>> {
        self.ctx().static_shape(self.ty(term))
    }

    /// The attributes of an operation with their defaults; the operands' types are missing.
    fn input(&self, op: &Matched) -> InferInput<'c> {
        InferInput { ctx: self.ctx(), def: op.def, operands: &[], properties: op.properties }
    }
}
