//! Parser of operations whose rows have a syntax.
//!
//! The pieces of the syntax are parsed in order, each into its place. In the end the operands are put
//! together, and result types missing in the text are inferred.

use std::rc::Rc;

use super::memo::OpTypes;
use super::ops::ReadOp;
use super::pretty::{AttrEntries, PrettyHead};
use super::values::{Mention, OpenBody};
use super::{Read, TextReader};
use crate::attrs::AttrData;
use crate::body::Successor;
use crate::builder::infer;
use crate::context::Context;
use crate::entities::{Attr, Type};
use crate::opdef::{Arity, AttrDef, AttrKind, OperandDef, Presence, TypeClass};
use crate::text::form::{self, FormPiece};
use crate::text::index::NameRole;
use crate::text::lexer::TokenKind;
use crate::types::{TypeData, VectorDim};
use crate::words::{Flags, Words};

/// The parts parsed so far.
struct Filling<'c> {
    mentions: Vec<Vec<Mention<'c>>>,
    operand_types: Vec<Vec<Type>>,
    result_types: Vec<Option<Vec<Type>>>,
    entries: AttrEntries,
    successors: Vec<Successor>,
    /// A type that was parsed before its use.
    pending: Option<Type>,
}

impl<'c> TextReader<'c> {
    /// An operation after its name.
    pub(super) fn by_syntax(
        &mut self,
        frame: &mut OpenBody<'c>,
        head: PrettyHead,
        syntax: &'static str,
    ) -> Read<ReadOp> {
        let mut filling = Filling {
            mentions: vec![Vec::new(); head.def.operands.len()],
            operand_types: head.def.operands.iter().map(|def| self.only_type(def)).collect(),
            result_types: vec![None; head.def.results.len()],
            entries: Vec::new(),
            successors: Vec::new(),
            pending: None,
        };
        self.pieces(frame, head, syntax, &mut filling)?;
        if head.def.attr(form::SEGMENTS).is_some() {
            let counts: Vec<i32> = filling.mentions.iter().map(|run| run.len() as i32).collect();
            filling.entries.push((self.ctx.ident(form::SEGMENTS), int32s(self.ctx, &counts)));
        }
        let Filling { mentions, operand_types, result_types, entries, successors, .. } = filling;
        let mut parts = self.parts(head, entries)?;
        parts.properties = crate::words::fill(self.ctx, head.def, parts.properties);
        let types = operand_types.concat();
        parts.operands = self.operands(frame, &mentions.concat(), &types, head.at)?;
        parts.results = Rc::new(OpTypes {
            results: self.result_types(head, result_types, &types, parts.properties)?,
            inputs: types,
        });
        parts.successors = successors;
        parts.location = self.trailing_location(head.at)?;
        Ok(parts)
    }

    /// The type of an operand that has only one possible type; nothing for all others.
    fn only_type(&self, def: &OperandDef) -> Vec<Type> {
        match (def.types, def.arity) {
            (TypeClass::Bool, Arity::One) => vec![self.ctx.int(1)],
            (TypeClass::Index, Arity::One) => vec![self.ctx.index()],
            _ => Vec::new(),
        }
    }

    fn result_types(
        &mut self,
        head: PrettyHead,
        said: Vec<Option<Vec<Type>>>,
        operands: &[Type],
        properties: Attr,
    ) -> Read<Vec<Type>> {
        let names = head.def.results.iter();
        let is_run = |result: &OperandDef| result.arity != Arity::One;
        let complete: Option<Vec<Vec<Type>>> =
            said.into_iter().zip(names).map(|(types, def)| types.or(is_run(def).then(Vec::new))).collect();
        match complete {
            Some(types) => Ok(types.concat()),
            None => infer(self.ctx, head.name, operands, properties)
                .map_err(|error| self.fault(head.at, format!("`{}`: {}", head.def.name, error.0))),
        }
    }

    fn pieces(
        &mut self,
        frame: &mut OpenBody<'c>,
        head: PrettyHead,
        syntax: &'static str,
        filling: &mut Filling<'c>,
    ) -> Read<()> {
        for piece in form::pieces(syntax) {
            match piece {
                FormPiece::Name(name) => self.named(head, name, filling)?,
                FormPiece::Dict => filling.entries.extend(self.optional_dict()?),
                FormPiece::Types(names) => self.types_of(head, names, filling)?,
                FormPiece::TypeUnlessBool(name) => {
                    let ty = self.ty()?;
                    let is_said = self.eat(b',');
                    let (said, pending) = if is_said { (ty, None) } else { (self.ctx.int(1), Some(ty)) };
                    filling.pending = pending;
                    self.set_types(head, name, vec![said], filling);
                }
                FormPiece::CallType(name) => self.call_type(head, name, filling)?,
                FormPiece::Block(index) => {
                    let place = form::block_place(head.def, index);
                    self.successor(frame, place, filling)?;
                }
                FormPiece::Cases => self.cases(frame, head, filling)?,
                FormPiece::Word(word) => self.expect_word(word)?,
                FormPiece::Byte(byte) => self.expect(byte)?,
                FormPiece::Optional(inner) => {
                    if self.begins(form::pieces(inner).next()) {
                        self.pieces(frame, head, inner, filling)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether an optional part that begins with `first` is present.
    fn begins(&self, first: Option<FormPiece>) -> bool {
        match first {
            Some(FormPiece::Word(word)) => self.is_word(word),
            Some(FormPiece::Byte(byte)) => self.is(byte),
            Some(FormPiece::Name(_)) => self.token.kind == TokenKind::Percent && !self.is_next_op(),
            _ => false,
        }
    }

    /// The operands, or the attribute, called `name`.
    fn named(&mut self, head: PrettyHead, name: &'static str, filling: &mut Filling<'c>) -> Read<()> {
        if let Some(place) = form::operand_place(head.def, name) {
            let mentions = &mut filling.mentions[place];
            if head.def.operands[place].arity == Arity::One {
                return self.push_mention(mentions);
            }
            if self.token.kind == TokenKind::Percent && !self.is_next_op() {
                self.push_mention(mentions)?;
                while self.eat(b',') {
                    self.push_mention(mentions)?;
                }
            }
            return Ok(());
        }
        let attr = head.def.attr(name).expect("a syntax names operands and attributes of its row");
        if let Some(value) = self.attr_by_row(attr)? {
            filling.entries.push((self.ctx.ident(name), value));
        }
        Ok(())
    }

    /// An attribute in the notation of its kind; none if it is optional and absent.
    fn attr_by_row(&mut self, attr: &AttrDef) -> Read<Option<Attr>> {
        let is_required = attr.presence == Presence::Required;
        match attr.kind {
            AttrKind::Word(words) if self.is_one_of(words) || is_required => self.word(words).map(Some),
            AttrKind::Flags(flags) if self.is_word(flags.mnemonic) || is_required => {
                self.flags(flags).map(Some)
            }
            AttrKind::Word(_) | AttrKind::Flags(_) => Ok(None),
            AttrKind::Int32s => self.int32s().map(Some),
            AttrKind::Symbol if self.token.kind != TokenKind::At => Err(self.expected("a symbol")),
            AttrKind::Text if self.token.kind != TokenKind::Text => Err(self.expected("a string")),
            _ => self.attr().map(Some),
        }
    }

    fn is_one_of(&self, words: &Words) -> bool {
        self.token.kind == TokenKind::Word && words.words.contains(&self.spelling())
    }

    fn word(&mut self, words: &Words) -> Read<Attr> {
        match words.attr(self.ctx, self.spelling()) {
            Some(attr) => {
                self.advance();
                Ok(attr)
            }
            None => Err(self.expected(format_args!("one of {}", words.words.join(", ")))),
        }
    }

    /// `fastmath<nnan,ninf>`.
    fn flags(&mut self, flags: &Flags) -> Read<Attr> {
        self.expect_word(flags.mnemonic)?;
        self.expect(b'<')?;
        let at = self.token.start;
        let mut words = Vec::new();
        self.list(b'>', |reader| {
            words.push(reader.expect_kind(TokenKind::Word, "a word")?);
            Ok(())
        })?;
        let message = || format!("expected some of {}", flags.words.join(", "));
        flags.attr(self.ctx, &words).ok_or_else(|| self.fault(at, message()))
    }

    /// `[1, 2]`.
    fn int32s(&mut self) -> Read<Attr> {
        let mut bytes = Vec::new();
        self.expect(b'[')?;
        let elem = self.ctx.int(32);
        self.list(b']', |reader| reader.element(elem, &mut bytes))?;
        Ok(self.ctx.attr(AttrData::DenseArray { elem, bytes: bytes.into() }))
    }

    /// The type of all values at these places, or the types of a run of values.
    fn types_of(&mut self, head: PrettyHead, list: &'static str, filling: &mut Filling<'c>) -> Read<()> {
        let first = form::names(list).next().expect("`type` names values");
        let arity = match form::operand_place(head.def, first) {
            Some(place) => head.def.operands[place].arity,
            None => form::result_place(head.def, first).map_or(Arity::One, |at| head.def.results[at].arity),
        };
        let mut types = vec![match filling.pending.take() {
            Some(ty) => ty,
            None => self.ty()?,
        }];
        while arity != Arity::One && self.eat(b',') {
            types.push(self.ty()?);
        }
        for name in form::names(list) {
            self.set_types(head, name, types.clone(), filling);
        }
        Ok(())
    }

    fn set_types(&self, head: PrettyHead, name: &str, types: Vec<Type>, filling: &mut Filling<'c>) {
        if let Some(place) = form::operand_place(head.def, name) {
            filling.operand_types[place] = types;
        } else if let Some(place) = form::result_place(head.def, name) {
            filling.result_types[place] = Some(types);
        }
    }

    fn call_type(&mut self, head: PrettyHead, name: &'static str, filling: &mut Filling<'c>) -> Read<()> {
        let at = self.token.start;
        let ty = self.ty()?;
        let TypeData::Function { inputs, results } = self.ctx.type_data(ty) else {
            return Err(self.fault(at, "expected the type of a function"));
        };
        for (place, operand) in head.def.operands.iter().enumerate() {
            filling.operand_types[place] = if operand.name == name { vec![ty] } else { inputs.to_vec() };
        }
        filling.result_types[0] = Some(results.to_vec());
        Ok(())
    }

    /// `^bb1(%x : type)`: a block, and its operands, which belong to `place`.
    fn successor(&mut self, frame: &mut OpenBody<'c>, place: usize, filling: &mut Filling<'c>) -> Read<()> {
        let at = self.token.start;
        if frame.labels.is_empty() {
            return Err(self.expected("no block, for no region is around"));
        }
        let name = &self.expect_kind(TokenKind::Caret, "a block")?[1..];
        let block = self.label(frame, name, at, NameRole::Mention);
        filling.successors.push(Successor { block, first_operand: 0, operand_count: 0 });
        if !self.eat(b'(') {
            return Ok(());
        }
        let (mentions, types) = (&mut filling.mentions[place], &mut filling.operand_types[place]);
        self.push_mention(mentions)?;
        while self.eat(b',') {
            self.push_mention(mentions)?;
        }
        self.expect(b':')?;
        self.list(b')', |reader| {
            types.push(reader.ty()?);
            Ok(())
        })
    }

    /// `[default: ^bb1, 42: ^bb2(%x : type)]`, of a switch on operand 0.
    fn cases(&mut self, frame: &mut OpenBody<'c>, head: PrettyHead, filling: &mut Filling<'c>) -> Read<()> {
        let elem = filling.operand_types[0].first().copied();
        let is_integer =
            |ty: &Type| matches!(self.ctx.type_data(*ty), TypeData::Integer { .. } | TypeData::Index);
        let elem = elem.filter(is_integer);
        let elem = elem.ok_or_else(|| self.fault(head.at, "the flag of a switch is an integer"))?;
        let (mut bytes, mut counts) = (Vec::new(), Vec::new());
        self.expect(b'[')?;
        self.expect_word("default")?;
        self.expect(b':')?;
        self.successor(frame, 1, filling)?;
        while self.eat(b',') {
            self.element(elem, &mut bytes)?;
            self.expect(b':')?;
            let before = filling.mentions[2].len();
            self.successor(frame, 2, filling)?;
            counts.push((filling.mentions[2].len() - before) as i32);
        }
        self.expect(b']')?;
        filling.entries.push((self.ctx.ident("case_operand_segments"), int32s(self.ctx, &counts)));
        if !counts.is_empty() {
            let shape = Box::new([VectorDim { size: counts.len() as u64, scalable: false }]);
            let ty = self.ctx.ty(TypeData::Vector { shape, elem });
            let width = bytes.len() / counts.len();
            let data = super::dense::compact(bytes, width, counts.len() as u64);
            filling
                .entries
                .push((self.ctx.ident("case_values"), self.ctx.attr(AttrData::Dense { ty, data })));
        }
        Ok(())
    }
}

/// `array<i32: ...>`.
fn int32s(ctx: &Context, values: &[i32]) -> Attr {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    ctx.attr(AttrData::DenseArray { elem: ctx.int(32), bytes: bytes.into() })
}
