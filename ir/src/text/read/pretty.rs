//! Parser of operations in the pretty form, derived from their rows.
//!
//! See [`crate::text`] for the forms.

use std::rc::Rc;

use super::memo::OpTypes;
use super::ops::{OperandList, ReadOp};
use super::regions::{EntryArgument, RegionArity};
use super::values::OpenBody;
use super::{Failed, Read, TextReader, shortened};
use crate::attrs::AttrData;
use crate::body::{Body, Successor};
use crate::diag::{Diagnostic, suggestion};
use crate::entities::{Attr, Block, Ident, OpName, Type};
use crate::opdef::{OpDef, Traits};
use crate::text::Unregistered;
use crate::text::form::{self, PrettyForm};
use crate::text::lexer::{self, TokenKind};
use crate::types::TypeData;

/// The operation being parsed in pretty form.
#[derive(Clone, Copy)]
pub(super) struct PrettyHead {
    pub name: OpName,
    pub def: &'static OpDef,
    pub at: usize,
}

/// Attributes in the order of the text.
pub(super) type AttrEntries = Vec<(Ident, Attr)>;

impl<'c> TextReader<'c> {
    /// Parses an operation in pretty form; none if its name is unknown, and then the rest of its line is
    /// skipped.
    pub(super) fn pretty_op(&mut self, frame: &mut OpenBody<'c>) -> Read<Option<ReadOp>> {
        let at = self.token.start;
        let word = self.spelling();
        let Some((name, def)) = form::op_of_word(self.ctx, word) else {
            self.note_unregistered(at, word);
            self.skip_op()?;
            return Ok(None);
        };
        self.advance();
        let head = PrettyHead { name, def, at };
        let outside = std::mem::replace(&mut self.deepest, self.depth);
        let parts = match PrettyForm::of(def) {
            PrettyForm::Function => self.function(head)?,
            PrettyForm::Module => self.module(head)?,
            PrettyForm::Constant => self.constant(head)?,
            PrettyForm::Call => self.call(frame, head)?,
            PrettyForm::Group => self.group(frame, head)?,
            PrettyForm::If => self.condition(frame, head)?,
            PrettyForm::For => self.counted_loop(frame, head)?,
            PrettyForm::While => self.conditional_loop(frame, head)?,
            PrettyForm::Syntax(syntax) => self.by_syntax(frame, head, syntax)?,
            PrettyForm::Plain => self.plain(frame, head)?,
        };
        self.remember_line(at, &parts, self.deepest - self.depth);
        self.deepest = self.deepest.max(outside);
        Ok(Some(parts))
    }

    /// Records that no operation is called `name`.
    pub(super) fn note_unregistered(&mut self, at: usize, name: &str) {
        let message = format!("no operation is called `{}`", shortened(name));
        let dialect = name.split_once('.').map(|(dialect, _)| dialect);
        let is_foreign =
            dialect.is_some_and(|dialect| self.ctx.dialects().all(|known| known.name != dialect));
        let help = match self.options.unregistered {
            Unregistered::Allow if is_foreign => Some(format!(
                "an operation that no dialect registered is read in generic form only: `\"{}\"(...) : ...`",
                shortened(name)
            )),
            _ => self.ctx.similar_op(name).map(suggestion),
        };
        self.note_fault(Diagnostic { help, ..Diagnostic::error(self.location(at), message) });
    }

    /// Skips an operation that can't be parsed: to the first token on a line of its own, with brackets
    /// closed.
    fn skip_op(&mut self) -> Read<()> {
        let mut open = 0u32;
        loop {
            self.advance();
            match self.token.kind {
                TokenKind::End => return Err(Failed),
                TokenKind::Byte(b'(' | b'[' | b'{') => open += 1,
                TokenKind::Byte(b')' | b']' | b'}') if open > 0 => open -= 1,
                TokenKind::Byte(b'}') => return Ok(()),
                _ if open == 0 && self.bytes()[self.passed..self.token.start].contains(&b'\n') => {
                    return Ok(());
                }
                _ => {}
            }
        }
    }

    /// `{attributes}`, if present.
    pub(super) fn optional_dict(&mut self) -> Read<AttrEntries> {
        if !self.is(b'{') {
            return Ok(Vec::new());
        }
        let attr = self.dict()?;
        Ok(self.ctx.dict_entries(attr).to_vec())
    }

    /// Parts with these attributes and no operands, results or regions.
    pub(super) fn parts(&mut self, head: PrettyHead, entries: AttrEntries) -> Read<ReadOp> {
        let mut sorted = entries;
        sorted.sort_by_key(|entry| entry.0);
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let name = self.ctx.str(pair[0].0);
            return Err(self.fault(head.at, format!("attribute `{}` is given twice", shortened(name))));
        }
        let (inherent, other) =
            sorted.into_iter().partition(|(name, _)| head.def.attr(self.ctx.str(*name)).is_some());
        Ok(ReadOp {
            name: head.name,
            properties: self.ctx.dict(inherent),
            attrs: self.ctx.dict(other),
            operands: OperandList::new(),
            results: Rc::default(),
            successors: Vec::new(),
            regions: Vec::new(),
            child: None,
            location: self.location(head.at),
        })
    }

    fn text_entry(&self, key: &str, value: Ident) -> (Ident, Attr) {
        (self.ctx.ident(key), self.ctx.str_attr(self.ctx.str(value)))
    }

    /// `attributes {...}`, if present.
    pub(super) fn attributes_clause(&mut self) -> Read<AttrEntries> {
        if self.eat_word("attributes") { self.optional_dict() } else { Ok(Vec::new()) }
    }

    /// `module @name attributes {...} { ... }`.
    fn module(&mut self, head: PrettyHead) -> Read<ReadOp> {
        let mut entries = Vec::new();
        if self.token.kind == TokenKind::At {
            self.note_symbol_definition();
            let symbol = self.symbol()?;
            entries.push(self.text_entry("sym_name", symbol));
        }
        entries.extend(self.attributes_clause()?);
        let mut parts = self.parts(head, entries)?;
        let mut child = self.isolated(RegionArity::One, &[])?;
        if child.entry(child.root()).is_none() {
            child.add_block(child.root());
        }
        parts.child = Some(child);
        parts.location = self.trailing_location(head.at)?;
        Ok(parts)
    }

    /// `func.func private @f(%a: type {attributes}) -> (type {attributes}) attributes {...} { ... }`.
    fn function(&mut self, head: PrettyHead) -> Read<ReadOp> {
        let mut entries = Vec::new();
        if let Some(visibility) = ["private", "public", "nested"].into_iter().find(|word| self.is_word(word))
        {
            self.advance();
            entries.push(self.text_entry("sym_visibility", self.ctx.ident(visibility)));
        }
        self.note_symbol_definition();
        let symbol = self.symbol()?;
        entries.push(self.text_entry("sym_name", symbol));
        let (mut arguments, mut inputs, mut arg_attrs) = (Vec::new(), Vec::new(), Vec::new());
        self.expect(b'(')?;
        self.list(b')', |reader| {
            let at = reader.token.start;
            if reader.token.kind == TokenKind::Percent {
                let name = &reader.advance()[1..];
                reader.expect(b':')?;
                let ty = reader.ty()?;
                arguments.push(EntryArgument { name, at, ty, location: Some(reader.location(at)) });
                inputs.push(ty);
            } else {
                inputs.push(reader.ty()?);
            }
            arg_attrs.push(if reader.is(b'{') { reader.dict()? } else { Attr::EMPTY });
            if reader.is_word("loc") {
                let location = reader.trailing_location(at)?;
                if let Some(argument) = arguments.last_mut() {
                    argument.location = Some(location);
                }
            }
            Ok(())
        })?;
        if !arguments.is_empty() && arguments.len() != inputs.len() {
            return Err(self.fault(head.at, "either all arguments have names or none"));
        }
        let (results, res_attrs) = self.function_results()?;
        let ty = TypeData::Function { inputs: inputs.into(), results: results.into() };
        entries.push((self.ctx.ident("function_type"), self.ctx.type_attr(self.ctx.ty(ty))));
        for (key, dicts) in [("arg_attrs", arg_attrs), ("res_attrs", res_attrs)] {
            if dicts.iter().any(|dict| *dict != Attr::EMPTY) {
                entries.push((self.ctx.ident(key), self.ctx.array_attr(&dicts)));
            }
        }
        entries.extend(self.attributes_clause()?);
        let mut parts = self.parts(head, entries)?;
        parts.child =
            Some(if self.is(b'{') { self.isolated(RegionArity::One, &arguments)? } else { Body::new(1) });
        parts.location = self.trailing_location(head.at)?;
        Ok(parts)
    }

    /// `-> type`, `-> (type {attributes}, ...)` or nothing.
    fn function_results(&mut self) -> Read<(Vec<Type>, Vec<Attr>)> {
        let (mut types, mut attrs) = (Vec::new(), Vec::new());
        if self.token.kind != TokenKind::Arrow {
            return Ok((types, attrs));
        }
        self.advance();
        if !self.eat(b'(') {
            return Ok((vec![self.ty()?], vec![Attr::EMPTY]));
        }
        self.list(b')', |reader| {
            types.push(reader.ty()?);
            attrs.push(if reader.is(b'{') { reader.dict()? } else { Attr::EMPTY });
            Ok(())
        })?;
        Ok((types, attrs))
    }

    /// `nn.constant {attributes} value`.
    fn constant(&mut self, head: PrettyHead) -> Read<ReadOp> {
        let mut entries = self.optional_dict()?;
        let at = self.token.start;
        let value = self.attr()?;
        let Some(ty) = self.ctx.attr_type(value) else {
            return Err(self.fault(at, "the value of a constant has a type"));
        };
        entries.push((self.ctx.ident("value"), value));
        let mut parts = self.parts(head, entries)?;
        parts.results = Rc::new(OpTypes { inputs: Vec::new(), results: vec![ty] });
        parts.location = self.trailing_location(head.at)?;
        Ok(parts)
    }

    /// `call @f(%a) {attributes} : (type) -> type`.
    fn call(&mut self, frame: &mut OpenBody<'c>, head: PrettyHead) -> Read<ReadOp> {
        let at = self.token.start;
        let callee = self.attr()?;
        if !matches!(self.ctx.attr_data(callee), AttrData::SymbolRef { .. }) {
            return Err(self.fault(at, "expected a symbol"));
        }
        let mut mentions = Vec::new();
        self.expect(b'(')?;
        self.list(b')', |reader| reader.push_mention(&mut mentions))?;
        let mut entries = self.optional_dict()?;
        let key = form::symbol_attr(head.def).expect("the form asks for a symbol");
        entries.push((self.ctx.ident(key), callee));
        let mut parts = self.parts(head, entries)?;
        self.expect(b':')?;
        parts.results = self.signature()?;
        parts.operands = self.operands(frame, &mentions, &parts.results.inputs, head.at)?;
        parts.location = self.trailing_location(head.at)?;
        Ok(parts)
    }

    /// `optc.group(%a = %x) {attributes} : (type) -> type { ... }`.
    fn group(&mut self, frame: &mut OpenBody<'c>, head: PrettyHead) -> Read<ReadOp> {
        let (mut names, mut mentions) = (Vec::new(), Vec::new());
        self.expect(b'(')?;
        self.list(b')', |reader| {
            let at = reader.token.start;
            let name = &reader.expect_kind(TokenKind::Percent, "an argument")?[1..];
            reader.expect(b'=')?;
            names.push((name, at));
            reader.push_mention(&mut mentions)
        })?;
        let entries = self.optional_dict()?;
        let mut parts = self.parts(head, entries)?;
        self.expect(b':')?;
        parts.results = self.signature()?;
        parts.operands = self.operands(frame, &mentions, &parts.results.inputs, head.at)?;
        let types = parts.results.inputs.iter();
        let arguments = names.iter().zip(types).map(|((name, at), ty)| EntryArgument {
            name,
            at: *at,
            ty: *ty,
            location: None,
        });
        let arguments: Vec<EntryArgument<'c>> = arguments.collect();
        parts.regions.push(self.region(frame, &arguments)?);
        parts.location = self.trailing_location(head.at)?;
        Ok(parts)
    }

    /// `nn.add %a, %b {attributes} : types ({ regions })`.
    fn plain(&mut self, frame: &mut OpenBody<'c>, head: PrettyHead) -> Read<ReadOp> {
        let mut mentions = Vec::new();
        if self.token.kind == TokenKind::Percent && !self.is_next_op() {
            self.push_mention(&mut mentions)?;
            while self.eat(b',') {
                self.push_mention(&mut mentions)?;
            }
        }
        let successors: Vec<Successor> = self.successors(frame)?;
        let entries = self.optional_dict()?;
        let mut parts = self.parts(head, entries)?;
        parts.successors = successors;
        parts.results = self.plain_types(head, mentions.len())?;
        parts.operands = self.operands(frame, &mentions, &parts.results.inputs, head.at)?;
        if self.is(b'(') && lexer::next(self.bytes(), self.token.end).kind == TokenKind::Byte(b'{') {
            self.advance();
            if head.def.traits.contains(Traits::ISOLATED) {
                parts.child = Some(self.isolated(RegionArity::Listed, &[])?);
                self.expect(b')')?;
            } else {
                let mut regions: Vec<Vec<Block>> = Vec::new();
                self.list(b')', |reader| {
                    regions.push(reader.region(frame, &[])?);
                    Ok(())
                })?;
                parts.regions = regions;
            }
        }
        parts.location = self.trailing_location(head.at)?;
        Ok(parts)
    }

    /// Whether the value at the current place, on a line of its own, is a result of the next operation.
    pub(super) fn is_next_op(&self) -> bool {
        let bytes = self.bytes();
        if !bytes[self.passed..self.token.start].contains(&b'\n') {
            return false;
        }
        let mut token = self.token;
        while matches!(token.kind, TokenKind::Percent | TokenKind::Integer | TokenKind::Byte(b',' | b':')) {
            token = lexer::next(bytes, token.end);
        }
        token.kind == TokenKind::Byte(b'=')
    }

    /// The types after the colon: a signature, one type for all, a list for a terminator, `from to into` for
    /// a cast.
    fn plain_types(&mut self, head: PrettyHead, operand_count: usize) -> Read<Rc<OpTypes>> {
        let result_count = head.def.results.len();
        if !self.eat(b':') {
            return match operand_count + result_count {
                0 => Ok(Rc::default()),
                _ => Err(self.expected("`:` and types")),
            };
        }
        if form::lists_types(head.def) {
            let mut inputs = vec![self.ty()?];
            while self.eat(b',') {
                inputs.push(self.ty()?);
            }
            return Ok(Rc::new(OpTypes { inputs, results: Vec::new() }));
        }
        if self.is(b'(') {
            return self.signature();
        }
        let ty = self.ty()?;
        let result = if self.eat_word("to") { self.ty()? } else { ty };
        Ok(Rc::new(OpTypes { inputs: vec![ty; operand_count], results: vec![result; result_count] }))
    }
}
