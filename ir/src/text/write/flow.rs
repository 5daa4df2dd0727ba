//! Printer of conditions and loops in the pretty form.

use std::fmt::{self, Write};

use super::{BlockHeader, TextWriter, WrittenBody};
use crate::body::{Body, OpRef};
use crate::entities::{Block, Op, Region, Type, Value};
use crate::opdef::{OpDef, Traits};
use crate::text::Locations;

impl<'m> TextWriter<'m> {
    /// `scf.if %c -> (type) { ... } else { ... } {attributes}`.
    pub(super) fn condition(
        &mut self,
        scope: WrittenBody<'m>,
        op: Op,
        def: &OpDef,
        out: &mut dyn Write,
    ) -> Result<bool, fmt::Error> {
        let body = scope.body;
        let &[then, otherwise] = body.regions(op) else { return Ok(false) };
        let has_no_else = body.blocks(otherwise).is_empty();
        let is_plain =
            |region: Region| self.plain_block(body, region).is_some_and(|block| body.args(block).is_empty());
        let types = types(body, body.results(op));
        let conditions = body.operands(op).map(|value| body.ty(value));
        let is_sayable = is_plain(then)
            && (has_no_else || is_plain(otherwise))
            && conditions.eq([self.ctx.int(1)])
            && (types.is_empty() || !has_no_else);
        if !is_sayable {
            return Ok(false);
        }
        self.op_word(scope, op, def);
        self.buffer.push(' ');
        self.operands(scope, op);
        self.arrow_types(&types);
        let header = if types.is_empty() { BlockHeader::Bare } else { BlockHeader::Never };
        self.buffer.push(' ');
        self.region(scope, then, header, out)?;
        if !has_no_else {
            self.buffer.push_str(" else ");
            self.region(scope, otherwise, header, out)?;
        }
        let attrs = self.visible_attrs(body, op, &[]);
        self.optional_dict(" ", &attrs);
        Ok(true)
    }

    /// `scf.for unsigned %i = %a to %b step %c iter_args(%y = %x) -> (type) : type { ... } {attributes}`.
    pub(super) fn counted_loop(
        &mut self,
        scope: WrittenBody<'m>,
        op: Op,
        def: &OpDef,
        out: &mut dyn Write,
    ) -> Result<bool, fmt::Error> {
        let body = scope.body;
        let &[region] = body.regions(op) else { return Ok(false) };
        let Some(block) = self.plain_block(body, region) else { return Ok(false) };
        let operands: Vec<Value> = body.operands(op).collect();
        let (Some((bounds, initial)), Some((counter, carried))) =
            (operands.split_at_checked(3), body.args(block).split_first())
        else {
            return Ok(false);
        };
        let ty = body.ty(*counter);
        let results = types(body, body.results(op));
        let is_sayable = bounds.iter().all(|bound| body.ty(*bound) == ty)
            && types(body, initial.iter().copied()) == results
            && types(body, carried.iter().copied()) == results;
        if !is_sayable {
            return Ok(false);
        }
        self.op_word(scope, op, def);
        let is_unsigned = self.own(body, op, "unsignedCmp").is_some();
        self.buffer.push_str(if is_unsigned { " unsigned " } else { " " });
        self.value(scope, *counter);
        for (word, bound) in [" = ", " to ", " step "].into_iter().zip(bounds) {
            self.buffer.push_str(word);
            self.value(scope, *bound);
        }
        if !results.is_empty() {
            self.buffer.push_str(" iter_args");
            self.carried(scope, carried, initial);
            self.arrow_types(&results);
        }
        if ty != self.ctx.index() {
            self.buffer.push_str(" : ");
            self.ty(ty);
        }
        self.buffer.push(' ');
        self.region(
            scope,
            region,
            if results.is_empty() { BlockHeader::Bare } else { BlockHeader::Never },
            out,
        )?;
        let attrs = self.visible_attrs(body, op, &["unsignedCmp"]);
        self.optional_dict(" ", &attrs);
        Ok(true)
    }

    /// `scf.while (%y = %x) : (type) -> type { ... } do { ... } attributes {...}`.
    pub(super) fn conditional_loop(
        &mut self,
        scope: WrittenBody<'m>,
        op: Op,
        def: &OpDef,
        out: &mut dyn Write,
    ) -> Result<bool, fmt::Error> {
        let body = scope.body;
        let &[before, after] = body.regions(op) else { return Ok(false) };
        let (Some(first), Some(_)) = (self.plain_block(body, before), self.plain_block(body, after)) else {
            return Ok(false);
        };
        let initial: Vec<Value> = body.operands(op).collect();
        let carried = body.args(first);
        if types(body, carried.iter().copied()) != types(body, initial.iter().copied()) {
            return Ok(false);
        }
        self.op_word(scope, op, def);
        if !initial.is_empty() {
            self.buffer.push(' ');
            self.carried(scope, carried, &initial);
        }
        self.buffer.push_str(" : ");
        self.signature(body, op);
        self.buffer.push(' ');
        self.region(scope, before, BlockHeader::Never, out)?;
        self.buffer.push_str(" do ");
        self.region(scope, after, BlockHeader::Arguments, out)?;
        let attrs = self.visible_attrs(body, op, &[]);
        self.optional_dict(" attributes ", &attrs);
        Ok(true)
    }

    /// `(%a = %x, ...)`.
    fn carried(&mut self, scope: WrittenBody<'m>, args: &[Value], initial: &[Value]) {
        self.buffer.push('(');
        self.list(args.iter().zip(initial), |writer, (arg, value)| {
            writer.value(scope, *arg);
            writer.buffer.push_str(" = ");
            writer.value(scope, *value);
        });
        self.buffer.push(')');
    }

    /// ` -> (types)`, if there are any.
    fn arrow_types(&mut self, types: &[Type]) {
        if !types.is_empty() {
            self.buffer.push_str(" -> (");
            self.list(types.iter().copied(), |writer, ty| writer.ty(ty));
            self.buffer.push(')');
        }
    }

    /// The one block of a region, if it ends with a terminator without successors.
    fn plain_block(&self, body: &'m Body, region: Region) -> Option<Block> {
        let &[block] = body.blocks(region) else { return None };
        let last = body.last_op(block)?;
        let is_end = OpRef::new(self.ctx, body, last).has(Traits::TERMINATOR);
        (is_end && body.successors(last).is_empty()).then_some(block)
    }

    /// Whether the text may omit the terminator of a block: it has no operands, no attributes, and no
    /// location to print.
    pub(super) fn is_bare_end(&self, op: OpRef<'_>) -> bool {
        let says_nothing = |attrs| self.ctx.dict_entries(attrs).is_empty();
        self.options.locations == Locations::Hidden
            && op.has(Traits::TERMINATOR.union(Traits::YIELD))
            && op.operand_count() == 0
            && says_nothing(op.body.properties(op.op))
            && says_nothing(op.body.attrs(op.op))
    }
}

fn types(body: &Body, values: impl Iterator<Item = Value>) -> Vec<Type> {
    values.map(|value| body.ty(value)).collect()
}
