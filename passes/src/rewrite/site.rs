//! The body as laws see it: each value is a term, computed by the operation that defines it.

use cranelift_entity::EntityRef;
use ir::{Attr, Context, Op, OpName, Type, Value};
use smallvec::SmallVec;

use super::terms::{Matched, Term, Terms};
use super::{Applied, Law, Rewriter};
use crate::constants;

/// An operation of a body to match laws at; new operations are inserted before it.
struct Site<'s, 'r> {
    rewriter: &'s mut Rewriter<'r>,
    op: Op,
}

impl Law {
    /// Applies the law, exact or not, at an operation: uses the first match of its left side whose right side
    /// can be built. None if there is no such match.
    pub fn apply(&self, rewriter: &mut Rewriter<'_>, op: Op) -> Option<Applied> {
        let mut site = Site { rewriter, op };
        let root = site.matched(op)?;
        let ty = site.rewriter.body().ty(site.rewriter.body().result(op, 0));
        for found in self.matches(&site, root, ty) {
            if let Some(right) = self.build(&mut site, &found) {
                return Some(site.rewriter.replace(op, &[value(right)]));
            }
        }
        None
    }
}

fn term(value: Value) -> Term {
    Term(value.as_u32())
}

fn value(term: Term) -> Value {
    Value::new(term.0 as usize)
}

impl Site<'_, '_> {
    fn matched(&self, op: Op) -> Option<Matched> {
        let body = self.rewriter.body();
        let def = self.rewriter.at(op).def()?;
        (body.result_count(op) == 1).then(|| Matched {
            def,
            name: body.name(op),
            properties: body.properties(op),
            operands: body.operands(op).map(term).collect(),
        })
    }
}

impl<'r> Terms<'r> for Site<'_, 'r> {
    fn ctx(&self) -> &'r Context {
        self.rewriter.ctx()
    }

    fn ty(&self, term: Term) -> Type {
        self.rewriter.body().ty(value(term))
    }

    fn constant(&self, term: Term) -> Option<Attr> {
        constants::of_value(self.ctx(), self.rewriter.body(), value(term))
    }

    fn is_weight(&self, term: Term) -> bool {
        self.constant(term).is_some()
    }

    fn ops(&self, term: Term, name: &str) -> SmallVec<[Matched; 1]> {
        let op = self.rewriter.body().defining_op(value(term));
        let op = op.filter(|op| self.rewriter.at(*op).name() == name);
        op.and_then(|op| self.matched(op)).into_iter().collect()
    }

    fn make_constant(&mut self, value: Attr, ty: Type) -> Option<Term> {
        self.rewriter.constant_before(self.op, value, ty).map(term)
    }

    fn make_op(&mut self, name: OpName, operands: &[Term], properties: Attr) -> Option<Term> {
        let operands: SmallVec<[Value; 4]> = operands.iter().map(|term| value(*term)).collect();
        self.rewriter.value_before(self.op, name, &operands, properties).map(term)
    }
}
