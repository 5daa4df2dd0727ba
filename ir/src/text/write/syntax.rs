//! Printer of operations whose rows have a syntax.
//!
//! An operation is written in generic form if the syntax cannot express it: values of one place have
//! different types, an attribute is of another kind, or inference does not give the result types.

use std::fmt::Write as _;
use std::ops::Range;

use super::{TextWriter, WrittenBody};
use crate::attrs::AttrData;
use crate::body::OpRef;
use crate::branch;
use crate::builder::infer;
use crate::entities::{Attr, Op, Type, Value};
use crate::opdef::{Arity, AttrDef, AttrKind, OpDef, OperandDef, Presence};
use crate::text::form::{self, FormPiece};

/// An operation whose text is written piece by piece.
struct WrittenOp<'m> {
    scope: WrittenBody<'m>,
    op: OpRef<'m>,
    def: &'static OpDef,
    /// The operands at each place of the row.
    operands: Vec<Range<usize>>,
    /// The results at each place of the row.
    results: Vec<Range<usize>>,
}

/// The syntax cannot express the operation.
struct Unsayable;

type SyntaxResult<T> = Result<T, Unsayable>;

impl<'m> TextWriter<'m> {
    /// Writes an operation without its results. Returns whether the syntax expresses all of it; if not,
    /// nothing is written.
    pub(super) fn by_syntax(
        &mut self,
        scope: WrittenBody<'m>,
        op: Op,
        def: &'static OpDef,
        syntax: &'static str,
    ) -> bool {
        let start = self.buffer.len();
        let is_said = self.try_syntax(scope, op, def, syntax).is_ok();
        if !is_said {
            self.buffer.truncate(start);
        }
        is_said
    }

    fn try_syntax(
        &mut self,
        scope: WrittenBody<'m>,
        op: Op,
        def: &'static OpDef,
        syntax: &'static str,
    ) -> SyntaxResult<()> {
        let op_ref = OpRef::new(self.ctx, scope.body, op);
        let subject = WrittenOp {
            scope,
            op: op_ref,
            def,
            operands: operand_runs(op_ref, def).ok_or(Unsayable)?,
            results: runs(def.results, scope.body.result_count(op)).ok_or(Unsayable)?,
        };
        let says_results = |list| form::names(list).any(|name| form::result_place(def, name).is_some());
        let says_types = form::pieces(syntax).any(|piece| match piece {
            FormPiece::Types(list) => says_results(list),
            FormPiece::CallType(_) => true,
            _ => false,
        });
        if !def.results.is_empty() && !says_types {
            self.check_inferred(&subject)?;
        }
        self.op_word(scope, op, def);
        self.pieces(&subject, syntax, syntax)
    }

    fn check_inferred(&self, subject: &WrittenOp<'m>) -> SyntaxResult<()> {
        let OpRef { body, op, .. } = subject.op;
        let types: Vec<Type> = body.operands(op).map(|value| body.ty(value)).collect();
        let inferred = infer(self.ctx, body.name(op), &types, body.properties(op));
        let found: Vec<Type> = body.results(op).map(|value| body.ty(value)).collect();
        if inferred.is_ok_and(|inferred| inferred == found) { Ok(()) } else { Err(Unsayable) }
    }

    /// Writes the pieces of `syntax`, which is `whole` or an optional part of it.
    fn pieces(
        &mut self,
        subject: &WrittenOp<'m>,
        syntax: &'static str,
        whole: &'static str,
    ) -> SyntaxResult<()> {
        let def = subject.def;
        for piece in form::pieces(syntax) {
            match piece {
                FormPiece::Name(name) => self.called(subject, name)?,
                FormPiece::Dict => {
                    let hidden = hidden_attrs(def, whole);
                    let attrs = self.visible_attrs(subject.op.body, subject.op.op, &hidden);
                    self.optional_dict(" ", &attrs);
                }
                FormPiece::Types(list) => self.types_of(subject, list)?,
                FormPiece::TypeUnlessBool(name) => {
                    let ty = subject.types(name).and_then(|types| types.first().copied()).ok_or(Unsayable)?;
                    if ty != self.ctx.int(1) {
                        self.gap();
                        self.ty(ty);
                        self.buffer.push(',');
                    }
                }
                FormPiece::CallType(name) => self.call_type(subject, name)?,
                FormPiece::Block(index) => {
                    self.gap();
                    self.successor(subject, index)?;
                }
                FormPiece::Cases => self.cases(subject)?,
                FormPiece::Word(word) => {
                    self.gap();
                    self.buffer.push_str(word);
                }
                FormPiece::Byte(byte) => {
                    if byte == b':' {
                        self.gap();
                    }
                    self.buffer.push(byte.into());
                }
                FormPiece::Optional(inner) => {
                    if form::pieces(inner).any(|piece| subject.has(piece)) {
                        self.pieces(subject, inner, whole)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// A blank, unless a parenthesis was just opened.
    fn gap(&mut self) {
        if !self.buffer.ends_with(b'(') {
            self.buffer.push(' ');
        }
    }

    fn called(&mut self, subject: &WrittenOp<'m>, name: &'static str) -> SyntaxResult<()> {
        if let Some(place) = form::operand_place(subject.def, name) {
            let range = subject.operands[place].clone();
            if !range.is_empty() {
                self.gap();
                self.values(subject, range);
            }
            return Ok(());
        }
        let attr = subject.def.attr(name).ok_or(Unsayable)?;
        match subject.op.attr(name) {
            Some(value) => self.attr_by_row(attr, value),
            None if attr.presence == Presence::Optional => Ok(()),
            None => Err(Unsayable),
        }
    }

    fn values(&mut self, subject: &WrittenOp<'m>, range: Range<usize>) {
        self.list(range, |writer, index| writer.value(subject.scope, subject.op.operand(index)));
    }

    /// An attribute in the notation of its kind; empty flags may be omitted.
    fn attr_by_row(&mut self, attr: &AttrDef, value: Attr) -> SyntaxResult<()> {
        match (attr.kind, self.ctx.attr_data(value)) {
            (AttrKind::Word(words), _) => {
                let word = words.get(self.ctx, value).ok_or(Unsayable)?;
                self.gap();
                self.buffer.push_str(word);
            }
            (AttrKind::Flags(flags), _) => {
                let text = flags.get(self.ctx, value).ok_or(Unsayable)?;
                if attr.presence != Presence::NoFlags || value != flags.none(self.ctx) {
                    self.gap();
                    self.buffer.push_str(text);
                }
            }
            (AttrKind::Int32s, AttrData::DenseArray { elem, bytes }) if *elem == self.ctx.int(32) => {
                let words = bytes.chunks_exact(4);
                self.gap();
                self.buffer.push('[');
                self.list(words, |writer, word| {
                    let number = i32::from_le_bytes(word.try_into().expect("four bytes"));
                    writer.put(format_args!("{number}"));
                });
                self.buffer.push(']');
            }
            (AttrKind::Symbol, AttrData::SymbolRef { .. })
            | (AttrKind::Text, AttrData::String { ty: None, .. }) => {
                self.gap();
                self.attr(value);
            }
            _ => return Err(Unsayable),
        }
        Ok(())
    }

    fn types_of(&mut self, subject: &WrittenOp<'m>, list: &'static str) -> SyntaxResult<()> {
        let mut all = form::names(list).map(|name| subject.types(name));
        let first = all.next().flatten().filter(|types| !types.is_empty()).ok_or(Unsayable)?;
        if !all.all(|types| types.as_ref() == Some(&first)) {
            return Err(Unsayable);
        }
        self.gap();
        self.list(first, |writer, ty| writer.ty(ty));
        Ok(())
    }

    fn call_type(&mut self, subject: &WrittenOp<'m>, name: &'static str) -> SyntaxResult<()> {
        use crate::types::TypeData;
        let OpRef { body, op, .. } = subject.op;
        let ty = subject.types(name).and_then(|types| types.first().copied()).ok_or(Unsayable)?;
        let TypeData::Function { inputs, results } = self.ctx.type_data(ty) else { return Err(Unsayable) };
        let operands = body.operands(op).skip(1).map(|value| body.ty(value));
        let fits = operands.eq(inputs.iter().copied())
            && body.results(op).map(|value| body.ty(value)).eq(results.iter().copied());
        if !fits {
            return Err(Unsayable);
        }
        self.gap();
        self.ty(ty);
        Ok(())
    }

    /// `^bb1(%x : type)`.
    fn successor(&mut self, subject: &WrittenOp<'m>, index: usize) -> SyntaxResult<()> {
        let OpRef { body, op, .. } = subject.op;
        let ranges = branch::forwarded(subject.op).ok_or(Unsayable)?;
        let (Some(successor), Some(range)) = (body.successors(op).get(index), ranges.get(index)) else {
            return Err(Unsayable);
        };
        self.block_name(subject.scope, successor.block);
        if !range.is_empty() {
            self.buffer.push('(');
            self.values(subject, range.clone());
            self.buffer.push_str(" : ");
            self.list(range.clone(), |writer, index| writer.ty(subject.op.operand_type(index)));
            self.buffer.push(')');
        }
        Ok(())
    }

    /// `[default: ^bb1, 42: ^bb2(%x : type)]`.
    fn cases(&mut self, subject: &WrittenOp<'m>) -> SyntaxResult<()> {
        let values = branch::case_values(subject.op).map_err(|_| Unsayable)?;
        if values.len() + 1 != subject.op.body.successors(subject.op.op).len() {
            return Err(Unsayable);
        }
        self.buffer.push_str(" [default: ");
        self.successor(subject, 0)?;
        for (index, value) in values.into_iter().enumerate() {
            write!(self.buffer, ", {value}: ").expect("a string takes all text");
            self.successor(subject, index + 1)?;
        }
        self.buffer.push(']');
        Ok(())
    }
}

impl WrittenOp<'_> {
    /// The types of the values at the place called `name`.
    fn types(&self, name: &str) -> Option<Vec<Type>> {
        let ty = |value: Value| self.op.body.ty(value);
        match form::operand_place(self.def, name) {
            Some(place) => Some(self.operands[place].clone().map(|at| ty(self.op.operand(at))).collect()),
            None => {
                let range = self.results[form::result_place(self.def, name)?].clone();
                Some(range.map(|at| ty(self.op.result(at))).collect())
            }
        }
    }

    /// Whether the subject of a piece is present.
    fn has(&self, piece: FormPiece) -> bool {
        let FormPiece::Name(name) = piece else { return false };
        match form::operand_place(self.def, name) {
            Some(place) => !self.operands[place].is_empty(),
            None => self.op.attr(name).is_some(),
        }
    }
}

/// The attributes that a row's syntax shows outside of the braces.
fn hidden_attrs(def: &OpDef, syntax: &'static str) -> Vec<&'static str> {
    let mut hidden = vec![form::SEGMENTS];
    for piece in form::pieces(syntax) {
        match piece {
            FormPiece::Name(name) if def.attr(name).is_some() => hidden.push(name),
            FormPiece::Cases => hidden.extend(["case_values", "case_operand_segments"]),
            FormPiece::Optional(inner) => hidden.extend(hidden_attrs(def, inner)),
            _ => {}
        }
    }
    hidden
}

/// The operands at each place of the row.
fn operand_runs(op: OpRef<'_>, def: &OpDef) -> Option<Vec<Range<usize>>> {
    if def.attr(form::SEGMENTS).is_none() {
        return runs(def.operands, op.operand_count());
    }
    let sizes = branch::sizes(op.ctx, op.attr(form::SEGMENTS)?)?;
    let fits = sizes.len() == def.operands.len() && sizes.iter().sum::<usize>() == op.operand_count();
    fits.then(|| in_a_row(sizes.into_iter()))
}

/// The values at each place, of `count` values, if all places but at most one have exactly one.
fn runs(defs: &[OperandDef], count: usize) -> Option<Vec<Range<usize>>> {
    let ones = defs.iter().filter(|def| def.arity == Arity::One).count();
    let rest = count.checked_sub(ones)?;
    let fits = match defs.len() - ones {
        0 => rest == 0,
        1 => true,
        _ => false,
    };
    fits.then(|| in_a_row(defs.iter().map(|def| if def.arity == Arity::One { 1 } else { rest })))
}

fn in_a_row(sizes: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let mut at = 0;
    let ranges = sizes.map(|size| {
        at += size;
        at - size..at
    });
    ranges.collect()
}
