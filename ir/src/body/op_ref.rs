//! A reference to one operation together with its body and context.

use super::Body;
use crate::context::{Context, DECISIONS, decision_number};
use crate::diag::describe_op;
use crate::entities::{Attr, Op, Type, Value};
use crate::opdef::{Kind, OpDef, Presence, Traits};
use crate::scalar::Scalar;

/// An operation, its body and its context: the input of rewrite rules and of functions in registry rows.
#[derive(Clone, Copy)]
pub struct OpRef<'a> {
    /// The context of all handles.
    pub ctx: &'a Context,
    /// The tables that hold the operation.
    pub body: &'a Body,
    /// The operation.
    pub op: Op,
}

/// The decisions of passes about an operation: its attributes `mem.*`, found in one walk.
#[derive(Clone, Copy, Debug, Default)]
pub struct Decisions {
    /// `mem.args`: the places of the arguments of its blocks.
    pub args: Option<Attr>,
    /// `mem.kernel`: the kernel that computes it.
    pub kernel: Option<Attr>,
    /// `mem.lines`: how a chain of operations streams a few rows at a time.
    pub lines: Option<Attr>,
    /// `mem.overlap`: the operand whose rows it overwrites, and the rows of a band.
    pub overlap: Option<Attr>,
    /// `mem.parts`: the operands that are written in place into its result.
    pub parts: Option<Attr>,
    /// `mem.pitch`: the bytes of a row of result 0, and the distance between rows.
    pub pitch: Option<Attr>,
    /// `mem.place`: where its results and its scratch are.
    pub place: Option<Attr>,
    /// `mem.pool`: the pool requested for each result.
    pub pool: Option<Attr>,
    /// `mem.scratch`: bytes of scratch.
    pub scratch: Option<Attr>,
    /// `mem.tie`: the operand that each result overwrites.
    pub tie: Option<Attr>,
    /// `mem.view`: the result is a view, with gaps or in another order, that is read where the operand is.
    pub view: Option<Attr>,
}

impl<'a> OpRef<'a> {
    /// The operation `op` of `body`.
    pub fn new(ctx: &'a Context, body: &'a Body, op: Op) -> OpRef<'a> {
        OpRef { ctx, body, op }
    }

    /// The name's text.
    pub fn name(&self) -> &'a str {
        self.ctx.op_name_str(self.body.name(self.op))
    }

    /// The operation for messages (see [`describe_op`]).
    pub fn describe(&self) -> String {
        describe_op(self.ctx, self.body.name(self.op), self.body.location(self.op))
    }

    /// The registry row, if the operation is registered.
    pub fn def(&self) -> Option<&'static OpDef> {
        self.ctx.def(self.body.name(self.op))
    }

    /// The kind. Unregistered operations count as [`Kind::Structure`].
    pub fn kind(&self) -> Kind {
        self.def().map_or(Kind::Structure, |def| def.kind)
    }

    /// Whether the operation has all these traits.
    pub fn has(&self, traits: Traits) -> bool {
        self.def().is_some_and(|def| def.traits.contains(traits))
    }

    /// Operand `index`.
    pub fn operand(&self, index: usize) -> Value {
        self.body.operand(self.op, index)
    }

    /// The number of operands.
    pub fn operand_count(&self) -> usize {
        self.body.operand_count(self.op)
    }

    /// Type of operand `index`.
    pub fn operand_type(&self, index: usize) -> Type {
        self.body.ty(self.operand(index))
    }

    /// Result `index`.
    pub fn result(&self, index: usize) -> Value {
        self.body.result(self.op, index)
    }

    /// Type of result `index`.
    pub fn result_type(&self, index: usize) -> Type {
        self.body.ty(self.result(index))
    }

    /// Known sizes of operand `index`.
    pub fn operand_shape(&self, index: usize) -> Option<Vec<u64>> {
        self.ctx.static_shape(self.operand_type(index))
    }

    /// Known sizes of result `index`.
    pub fn result_shape(&self, index: usize) -> Option<Vec<u64>> {
        self.ctx.static_shape(self.result_type(index))
    }

    /// An attribute, inherent or not.
    #[inline(always)]
    pub fn attr(&self, name: &str) -> Option<Attr> {
        // Passes ask every operation for their decisions; the index of the decision is found at compile time.
        match decision_number(name) {
            Some(number) => self.decision(number),
            None => self.named(name),
        }
    }

    /// Decision number `number`. No row has a decision among its inherent attributes.
    #[inline(never)]
    fn decision(&self, number: usize) -> Option<Attr> {
        let entries = self.ctx.dict_entries(self.body.attrs(self.op));
        let entry = entries.iter().find(|(name, _)| self.ctx.decision_index(*name) == Some(number));
        entry.map(|(_, attr)| *attr)
    }

    #[inline(never)]
    fn named(&self, name: &str) -> Option<Attr> {
        let find = |dict| self.ctx.dict_find(dict, name);
        find(self.body.properties(self.op)).or_else(|| find(self.body.attrs(self.op)))
    }

    /// The decisions of passes about the operation.
    pub fn decisions(&self) -> Decisions {
        let mut found = [None; DECISIONS.len()];
        for (name, attr) in self.ctx.dict_entries(self.body.attrs(self.op)) {
            if let Some(index) = self.ctx.decision_index(*name) {
                found[index] = Some(*attr);
            }
        }
        let [args, kernel, lines, overlap, parts, pitch, place, pool, scratch, tie, view] = found;
        Decisions { args, kernel, lines, overlap, parts, pitch, place, pool, scratch, tie, view }
    }

    /// An integer attribute, or the row's default for it.
    pub fn int(&self, name: &str) -> Option<i64> {
        let given = self.attr(name).and_then(|attr| self.ctx.int_value(attr));
        given.or_else(|| match self.presence(name)? {
            Presence::DefaultInt(value) => Some(value),
            _ => None,
        })
    }

    /// A float attribute, or the row's default for it.
    pub fn float(&self, name: &str) -> Option<f64> {
        let given = self.attr(name).and_then(|attr| self.ctx.float_value(attr));
        given.or_else(|| match self.presence(name)? {
            Presence::DefaultFloat(value) => Some(value),
            _ => None,
        })
    }

    /// An `array<i64>` attribute, or the row's default if it is absent; none if it depends on named sizes.
    pub fn ints(&self, name: &str) -> Option<Vec<i64>> {
        match self.attr(name) {
            Some(given) => self.ctx.ints_value(given),
            None => match self.presence(name)? {
                Presence::DefaultInts(values) => Some(values.to_vec()),
                _ => None,
            },
        }
    }

    /// A string attribute, or the row's default for it.
    pub fn text(&self, name: &str) -> Option<&'a str> {
        let given = self.attr(name).and_then(|attr| self.ctx.str_value(attr));
        given.or_else(|| match self.presence(name)? {
            Presence::DefaultText(text) => Some(text),
            _ => None,
        })
    }

    /// The function in `all` selected by the integer attribute `name`.
    pub fn chosen(&self, name: &str, all: &'static [Scalar]) -> Option<&'static Scalar> {
        let number = match self.attr(name) {
            Some(attr) => usize::try_from(self.ctx.int_value(attr)?).ok()?,
            None => 0,
        };
        all.get(number)
    }

    fn presence(&self, name: &str) -> Option<Presence> {
        Some(self.def()?.attr(name)?.presence)
    }
}
