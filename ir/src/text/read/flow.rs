//! Parser of conditions and loops in the pretty form.
//!
//! If the last block of a condition or a counted loop has no terminator in the text, it ends with a `yield`
//! of nothing, of the operation's own dialect.

use std::rc::Rc;

use super::memo::OpTypes;
use super::ops::ReadOp;
use super::pretty::PrettyHead;
use super::regions::EntryArgument;
use super::values::{Mention, OpenBody};
use super::{Read, TextReader};
use crate::body::OpRef;
use crate::entities::{Block, Type};
use crate::opdef::Traits;
use crate::text::lexer::TokenKind;

/// `%a = %x`: an argument of a region, and its initial value.
#[derive(Default)]
struct Carried<'c> {
    names: Vec<(&'c str, usize)>,
    initial: Vec<Mention<'c>>,
}

impl<'c> Carried<'c> {
    fn arguments(&self, types: &[Type]) -> Vec<EntryArgument<'c>> {
        let pairs = self.names.iter().zip(types);
        pairs.map(|((name, at), ty)| EntryArgument { name, at: *at, ty: *ty, location: None }).collect()
    }
}

impl<'c> TextReader<'c> {
    /// `scf.if %c -> (type) { ... } else { ... } {attributes}`.
    pub(super) fn condition(&mut self, frame: &mut OpenBody<'c>, head: PrettyHead) -> Read<ReadOp> {
        let mut mentions = Vec::new();
        self.push_mention(&mut mentions)?;
        let results = self.arrow_types()?;
        let then = self.region(frame, &[])?;
        let then = self.ended(frame, head, then)?;
        let mut otherwise = Vec::new();
        if self.eat_word("else") {
            let blocks = self.region(frame, &[])?;
            otherwise = self.ended(frame, head, blocks)?;
        }
        let entries = self.optional_dict()?;
        let mut parts = self.parts(head, entries)?;
        let inputs = vec![self.ctx.int(1)];
        parts.operands = self.operands(frame, &mentions, &inputs, head.at)?;
        parts.results = Rc::new(OpTypes { inputs, results });
        parts.regions = vec![then, otherwise];
        parts.location = self.trailing_location(head.at)?;
        Ok(parts)
    }

    /// `scf.for unsigned %i = %a to %b step %c iter_args(%y = %x) -> (type) : type { ... } {attributes}`.
    pub(super) fn counted_loop(&mut self, frame: &mut OpenBody<'c>, head: PrettyHead) -> Read<ReadOp> {
        let mut entries = Vec::new();
        if self.eat_word("unsigned") {
            entries.push((self.ctx.ident("unsignedCmp"), self.ctx.unit_attr()));
        }
        let counter_at = self.token.start;
        let counter = &self.expect_kind(TokenKind::Percent, "the loop's counter")?[1..];
        let mut mentions = Vec::new();
        self.expect(b'=')?;
        self.push_mention(&mut mentions)?;
        self.expect_word("to")?;
        self.push_mention(&mut mentions)?;
        self.expect_word("step")?;
        self.push_mention(&mut mentions)?;
        let mut carried = Carried::default();
        let mut results = Vec::new();
        if self.eat_word("iter_args") {
            carried = self.carried()?;
            results = self.arrow_types()?;
        }
        if carried.names.len() != results.len() {
            let message = format!("{} carried values have {} types", carried.names.len(), results.len());
            return Err(self.fault(head.at, message));
        }
        let ty = if self.eat(b':') { self.ty()? } else { self.ctx.index() };
        let mut arguments = vec![EntryArgument { name: counter, at: counter_at, ty, location: None }];
        arguments.extend(carried.arguments(&results));
        let blocks = self.region(frame, &arguments)?;
        let blocks = self.ended(frame, head, blocks)?;
        entries.extend(self.optional_dict()?);
        let mut parts = self.parts(head, entries)?;
        mentions.extend(carried.initial);
        let inputs: Vec<Type> = [ty; 3].into_iter().chain(results.iter().copied()).collect();
        parts.operands = self.operands(frame, &mentions, &inputs, head.at)?;
        parts.results = Rc::new(OpTypes { inputs, results });
        parts.regions = vec![blocks];
        parts.location = self.trailing_location(head.at)?;
        Ok(parts)
    }

    /// `scf.while (%y = %x) : (type) -> type { ... } do { ... } attributes {...}`.
    pub(super) fn conditional_loop(&mut self, frame: &mut OpenBody<'c>, head: PrettyHead) -> Read<ReadOp> {
        let carried = if self.is(b'(') { self.carried()? } else { Carried::default() };
        self.expect(b':')?;
        let signature = self.signature()?;
        let arguments = carried.arguments(&signature.inputs);
        let before = self.region(frame, &arguments)?;
        self.expect_word("do")?;
        let after = self.region(frame, &[])?;
        let entries = self.attributes_clause()?;
        let mut parts = self.parts(head, entries)?;
        parts.operands = self.operands(frame, &carried.initial, &signature.inputs, head.at)?;
        parts.results = signature;
        parts.regions = vec![before, after];
        parts.location = self.trailing_location(head.at)?;
        Ok(parts)
    }

    /// `(%a = %x, ...)`.
    fn carried(&mut self) -> Read<Carried<'c>> {
        let mut carried = Carried::default();
        self.expect(b'(')?;
        self.list(b')', |reader| {
            let at = reader.token.start;
            let name = &reader.expect_kind(TokenKind::Percent, "an argument")?[1..];
            reader.expect(b'=')?;
            carried.names.push((name, at));
            reader.push_mention(&mut carried.initial)
        })?;
        Ok(carried)
    }

    /// `-> type`, `-> (types)`, or nothing.
    fn arrow_types(&mut self) -> Read<Vec<Type>> {
        let mut types = Vec::new();
        if self.token.kind != TokenKind::Arrow {
            return Ok(types);
        }
        self.advance();
        if !self.eat(b'(') {
            return Ok(vec![self.ty()?]);
        }
        self.list(b')', |reader| {
            types.push(reader.ty()?);
            Ok(())
        })?;
        Ok(types)
    }

    /// The blocks of a region, which has at least one; the last ends with a terminator.
    fn ended(
        &mut self,
        frame: &mut OpenBody<'c>,
        head: PrettyHead,
        mut blocks: Vec<Block>,
    ) -> Read<Vec<Block>> {
        let last = match blocks.last() {
            Some(last) => *last,
            None => {
                let block = frame.body.make_block();
                blocks.push(block);
                block
            }
        };
        let end = frame.body.last_op(last).map(|op| OpRef::new(self.ctx, &frame.body, op));
        if end.is_some_and(|end| end.has(Traits::TERMINATOR)) {
            return Ok(blocks);
        }
        let dialect = head.def.name.split('.').next().unwrap_or_default();
        let name = self.ctx.op_name(&format!("{dialect}.yield"));
        if !self.ctx.def(name).is_some_and(|def| def.traits.contains(Traits::YIELD)) {
            return Err(
                self.fault(head.at, format!("a region of `{}` ends with a terminator", head.def.name))
            );
        }
        let op = frame.body.make_op(name, &[], &[], self.location(head.at));
        frame.body.append(op, last);
        Ok(blocks)
    }
}
