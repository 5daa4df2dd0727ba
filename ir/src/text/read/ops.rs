//! Parser of operations in the generic form.

use std::rc::Rc;

use smallvec::SmallVec;

use super::memo::OpTypes;
use super::regions::RegionArity;
use super::values::{Mention, OpenBody, ResultName};
use super::{AfterFault, Failed, Read, TextReader, shortened};
use crate::body::{Body, OpParts, Successor};
use crate::branch;
use crate::entities::{Attr, Block, Location, Op, OpName, Type, Value};
use crate::opdef::{OpDef, Traits};
use crate::text::lexer::TokenKind;

/// The names left of `=`.
type ResultNames<'c> = SmallVec<[ResultName<'c>; 1]>;

/// Operands of an operation; seldom more than a few.
pub(super) type OperandList = SmallVec<[Value; 4]>;

/// All parts of an operation.
pub(super) struct ReadOp {
    pub name: OpName,
    pub properties: Attr,
    pub attrs: Attr,
    pub operands: OperandList,
    pub results: Rc<OpTypes>,
    pub successors: Vec<Successor>,
    pub regions: Vec<Vec<Block>>,
    pub child: Option<Body>,
    pub location: Location,
}

/// Operations have at most this many operands, and results.
const MAX_VALUES: usize = u16::MAX as usize;

impl<'c> TextReader<'c> {
    /// An operation, with the names of its results, at the end of `block`.
    pub(super) fn op(&mut self, frame: &mut OpenBody<'c>, block: Block) -> Read<()> {
        if self.line(frame, block) {
            return Ok(());
        }
        self.stop_at_most_faults()?;
        let start = self.token.start;
        if let Some(op) = self.take_over(frame, block) {
            self.look_early(frame, op, start)?;
            self.note_sound(frame, block);
            return Ok(());
        }
        let before = self.state();
        let faults = self.diagnostics.len();
        self.open_op_site();
        let done = self.named_op(frame, block);
        self.close_op_site();
        match done {
            Err(Failed) if self.goes_on() => self.skip_to_next_op(frame, start),
            Ok(()) if self.after_fault == AfterFault::GoOn && self.diagnostics.len() == faults => {
                self.note_sound(frame, block);
                self.note_kept(frame, block, start, before);
                Ok(())
            }
            done => done,
        }
    }

    fn named_op(&mut self, frame: &mut OpenBody<'c>, block: Block) -> Read<()> {
        let mut results = ResultNames::new();
        let start = self.token.start;
        if self.token.kind == TokenKind::Percent {
            self.result_names(&mut results)?;
        }
        let at = self.token.start;
        self.note_op_name();
        let op = match self.token.kind {
            TokenKind::Text => self.generic_op(frame)?,
            TokenKind::Word => match self.pretty_op(frame)? {
                Some(parts) => parts,
                None => {
                    results.iter().for_each(|result| self.poison(frame, *result));
                    return Ok(());
                }
            },
            _ => return Err(self.expected("an operation")),
        };
        self.make(frame, block, op, &results, if results.is_empty() { at } else { start })
    }

    /// `%a, %b:2 =`.
    fn result_names(&mut self, results: &mut ResultNames<'c>) -> Read<()> {
        loop {
            let at = self.token.start;
            let name = &self.expect_kind(TokenKind::Percent, "a result")?[1..];
            let mut count = 1;
            if self.eat(b':') {
                let at = self.token.start;
                let digits = self.expect_kind(TokenKind::Integer, "a number of results")?;
                count =
                    digits.parse().ok().filter(|count| (1..=MAX_VALUES as u32).contains(count)).unwrap_or(0);
                if count == 0 {
                    return Err(self.fault(at, format!("a name stands for 1 to {MAX_VALUES} results")));
                }
            }
            results.push(ResultName { name, at, count });
            if !self.eat(b',') {
                return self.expect(b'=');
            }
        }
    }

    /// Makes an operation from its parts and names its results.
    fn make(
        &mut self,
        frame: &mut OpenBody<'c>,
        block: Block,
        parts: ReadOp,
        names: &[ResultName<'c>],
        at: usize,
    ) -> Read<()> {
        let types = &parts.results.results;
        if parts.operands.len() > MAX_VALUES || types.len() > MAX_VALUES {
            return Err(self.fault(at, format!("operations have at most {MAX_VALUES} operands and results")));
        }
        let ReadOp { name, properties, attrs, location, .. } = parts;
        let op = frame.body.make(OpParts { name, properties, attrs, location }, &parts.operands, types);
        if let Some(child) = parts.child {
            frame.body.set_child(op, child);
        }
        if !parts.successors.is_empty() {
            frame.body.set_successors(op, parts.successors);
            branch::settle(self.ctx, &mut frame.body, op);
        }
        for blocks in parts.regions {
            let region = frame.body.add_op_region(op);
            blocks.into_iter().for_each(|block| frame.body.attach_block(region, block));
        }
        frame.body.append(op, block);
        self.make_room(frame);
        self.note_op(frame, op);
        self.name_results(frame, op, names, at);
        if frame.body.child(op).is_some() { self.look_early(frame, op, at) } else { Ok(()) }
    }

    fn name_results(&mut self, frame: &mut OpenBody<'c>, op: Op, names: &[ResultName<'c>], at: usize) {
        let count = frame.body.result_count(op) as u64;
        let named: u64 = names.iter().map(|name| u64::from(name.count)).sum();
        if named != count && !names.is_empty() {
            let op = self.ctx.op_name_str(frame.body.name(op));
            self.note(at, format!("`{}` has {count} results, {named} are named", shortened(op)));
            names.iter().for_each(|name| self.poison(frame, *name));
            return;
        }
        let mut index = 0;
        for name in names {
            let first = frame.body.result(op, index);
            self.define(frame, name.name, name.at, first, name.count);
            index += name.count as usize;
        }
    }

    /// `"name"(operands)[successors] <{properties}> (regions) {attributes} : (types) -> types`.
    fn generic_op(&mut self, frame: &mut OpenBody<'c>) -> Read<ReadOp> {
        let at = self.token.start;
        let (name, def) = self.quoted_name()?;
        let mut mentions = std::mem::take(&mut self.mentions);
        mentions.clear();
        self.expect(b'(')?;
        self.list(b')', |reader| reader.push_mention(&mut mentions))?;
        let outside = std::mem::replace(&mut self.deepest, self.depth);
        let successors = self.successors(frame)?;
        let mut properties = Attr::EMPTY;
        if self.eat(b'<') {
            properties = self.dict()?;
            self.expect(b'>')?;
        }
        let mut regions = Vec::new();
        let mut child = None;
        let is_isolated = def.is_some_and(|def| def.traits.contains(Traits::ISOLATED));
        if self.eat(b'(') {
            if is_isolated {
                child = Some(self.isolated(RegionArity::Listed, &[])?);
                self.expect(b')')?;
            } else {
                self.list(b')', |reader| {
                    regions.push(reader.region(frame, &[])?);
                    Ok(())
                })?;
            }
        }
        let mut attrs = if self.is(b'{') { self.dict()? } else { Attr::EMPTY };
        if let Some(def) = def {
            (properties, attrs) = self.split_attrs(def, properties, attrs);
            properties = crate::words::fill(self.ctx, def, properties);
        }
        self.expect(b':')?;
        let signature = self.signature()?;
        let operands = self.operands(frame, &mentions, &signature.inputs, at)?;
        self.mentions = mentions;
        let height = self.deepest - self.depth;
        self.deepest = self.deepest.max(outside);
        let location = self.trailing_location(at)?;
        let op = ReadOp {
            name,
            properties,
            attrs,
            operands,
            results: signature,
            successors,
            regions,
            child,
            location,
        };
        self.remember_line(at, &op, height);
        Ok(op)
    }

    /// The name of an operation in quotes, and its row.
    fn quoted_name(&mut self) -> Read<(OpName, Option<&'static OpDef>)> {
        let at = self.token.start;
        let spelling = self.spelling();
        let plain = &spelling[1..spelling.len() - 1];
        let name = if plain.contains('\\') {
            let ident = self.text_ident()?;
            self.ctx.op_name(self.ctx.str(ident))
        } else {
            self.advance();
            match self.memo.names.get(plain) {
                Some(name) => *name,
                None => {
                    let name = self.ctx.op_name(plain);
                    self.memo.names.insert(plain, name);
                    name
                }
            }
        };
        let def = self.ctx.def(name);
        if def.is_none() && self.options.unregistered == crate::text::Unregistered::Refuse {
            self.note_unregistered(at, self.ctx.op_name_str(name));
        }
        Ok((name, def))
    }

    /// Adds the value at the current place to an operation's operands.
    pub(super) fn push_mention(&mut self, mentions: &mut Vec<Mention<'c>>) -> Read<()> {
        if mentions.len() == MAX_VALUES {
            let at = self.token.start;
            return Err(self.fault(at, format!("operations have at most {MAX_VALUES} operands and results")));
        }
        mentions.push(self.mention()?);
        Ok(())
    }

    /// `%x`, `%x#1`.
    fn mention(&mut self) -> Read<Mention<'c>> {
        let at = self.token.start;
        let name = &self.expect_kind(TokenKind::Percent, "a value")?[1..];
        let mut number = 0;
        if self.token.kind == TokenKind::Hash && self.token.start == self.passed {
            let digits = self.advance();
            number = match digits[1..].parse() {
                Ok(number) => number,
                Err(_) => return Err(self.fault(at, "expected the number of a result after `#`")),
            };
        }
        Ok(Mention { name, number, at })
    }

    /// `(types) -> types`; the same text is not parsed twice.
    pub(super) fn signature(&mut self) -> Read<Rc<OpTypes>> {
        let start = self.token.start;
        let rest = &self.text[start..];
        if let Some((length, signature, height)) = self.memo.signatures.find(rest) {
            let next = self.bytes().get(start + length);
            if matches!(next, None | Some(b'\n' | b' ' | b'\r')) {
                self.reach(height)?;
                self.resume(start + length);
                return Ok(signature);
            }
        }
        let outside = std::mem::replace(&mut self.deepest, self.depth);
        if !self.is(b'(') {
            return Err(self.expected("`(`"));
        }
        let (inputs, results) = self.function_type()?;
        let signature = Rc::new(OpTypes { inputs, results });
        let height = self.deepest - self.depth;
        self.memo.signatures.remember(rest, self.passed - start, signature.clone(), height);
        self.deepest = self.deepest.max(outside);
        Ok(signature)
    }

    /// The mentioned values, with these types.
    pub(super) fn operands(
        &mut self,
        frame: &mut OpenBody<'c>,
        mentions: &[Mention<'c>],
        types: &[Type],
        at: usize,
    ) -> Read<OperandList> {
        if mentions.len() != types.len() {
            let message = format!("{} operands have {} types", mentions.len(), types.len());
            return Err(self.fault(at, message));
        }
        Ok(mentions.iter().zip(types).map(|(mention, ty)| self.value(frame, *mention, *ty)).collect())
    }

    /// Moves the inherent attributes of the row to the properties.
    pub(super) fn split_attrs(&mut self, def: &OpDef, properties: Attr, attrs: Attr) -> (Attr, Attr) {
        let is_inherent = |name| def.attr(self.ctx.str(name)).is_some();
        let entries = self.ctx.dict_entries(attrs);
        if !entries.iter().any(|(name, _)| is_inherent(*name)) {
            return (properties, attrs);
        }
        let (inherent, other): (Vec<_>, Vec<_>) =
            entries.iter().copied().partition(|(name, _)| is_inherent(*name));
        let properties =
            inherent.into_iter().fold(properties, |all, (name, value)| self.ctx.dict_set(all, name, value));
        (properties, self.ctx.dict(other))
    }
}
