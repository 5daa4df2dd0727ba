//! Memoization of lines: operations that are like an earlier one.
//!
//! Most lines of a long text differ from an earlier one only in the names of values:
//!
//! ```text
//! %12 = "arith.addf"(%11, %5) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
//! %13 = nn.add %12, %x : tensor<4x16xf32>
//! ```
//!
//! So the name and all text after the operands are looked up unchanged, byte for byte; if they were parsed
//! before, only the names of values are parsed. Any other line is left to the parser of single tokens, which
//! remembers lines for later look-ups.

use std::rc::Rc;

use memchr::memchr;

use super::memo::OpTypes;
use super::ops::{OperandList, ReadOp};
use super::values::{Mention, OpenBody};
use super::{MAX_DEPTH, TextReader};
use crate::body::OpParts;
use crate::entities::{Attr, Block, OpName, Type, Value};
use crate::text::Unregistered;
use crate::text::lexer;

const SLOTS: usize = 1024;

/// Lines with more bytes after the operands are not remembered.
const LONGEST: usize = 4096;

/// The meaning of the name and the end of a line.
#[derive(Clone)]
pub(super) struct LineMeaning {
    pub name: OpName,
    pub properties: Attr,
    pub attrs: Attr,
    pub signature: Rc<OpTypes>,
}

/// Parsed lines, addressed by their first and last bytes; each address holds the last such line.
#[derive(Default)]
pub(super) struct SeenLines<'c> {
    slots: Vec<Option<SeenLine<'c>>>,
}

struct SeenLine<'c> {
    /// The name, with its quotes in the generic form.
    name: &'c [u8],
    /// The text after the operands.
    tail: &'c [u8],
    ending: LineMeaning,
    /// The nesting depth.
    height: u32,
}

/// A value as written in a line: `%12`, `%12#1`, `%x`.
#[derive(Clone, Copy)]
pub(super) struct ScannedName {
    /// The name, if it is a number, else [`NO_NUMBER`].
    value: usize,
    part: u32,
    /// The start of the name, after the sigil.
    start: usize,
    /// The end of the name.
    end: usize,
}

/// No value has this number.
const NO_NUMBER: usize = usize::MAX;

/// The parts of a line.
struct Scan<'c> {
    result: Option<ScannedName>,
    name_start: usize,
    name: &'c [u8],
    tail: &'c [u8],
    /// The end of the tail.
    end: usize,
}

impl<'c> SeenLines<'c> {
    fn find(&self, name: &[u8], tail: &[u8]) -> Option<&SeenLine<'c>> {
        let line = self.slots.get(slot(name, tail))?.as_ref()?;
        (line.tail == tail && line.name == name).then_some(line)
    }
}

impl<'c> TextReader<'c> {
    /// Parses an operation, to the end of its line, if the line is like one parsed before.
    pub(super) fn line(&mut self, frame: &mut OpenBody<'c>, block: Block) -> bool {
        if self.lines.slots.is_empty() || self.recorder.is_some() {
            return false;
        }
        let mut numbers = std::mem::take(&mut self.numbers);
        numbers.clear();
        let is_known = self.known_line(frame, block, &mut numbers).is_some();
        self.numbers = numbers;
        is_known
    }

    fn known_line(
        &mut self,
        frame: &mut OpenBody<'c>,
        block: Block,
        numbers: &mut Vec<ScannedName>,
    ) -> Option<()> {
        let scan = scan(self.bytes(), self.token.start, numbers)?;
        let SeenLine { ending, height, .. } = self.lines.find(scan.name, scan.tail)?;
        let LineMeaning { name, properties, attrs, ref signature } = *ending;
        let deepest = self.depth + height;
        let is_alike = signature.inputs.len() == numbers.len()
            && (scan.result.is_none() || signature.results.len() == 1)
            && deepest <= MAX_DEPTH;
        if !is_alike {
            return None;
        }
        let signature = signature.clone();
        self.deepest = self.deepest.max(deepest);
        let pairs = numbers.iter().zip(&signature.inputs);
        let operands: OperandList =
            pairs.map(|(number, ty)| self.scanned_value(frame, *number, *ty)).collect();
        let location = self.location(scan.name_start);
        let parts = OpParts { name, properties, attrs, location };
        let op = frame.body.make(parts, &operands, &signature.results);
        frame.body.append(op, block);
        self.resume(scan.end);
        self.make_room(frame);
        if let Some(ScannedName { value, start, end, .. }) = scan.result {
            let result = frame.body.result(op, 0);
            if value >= self.number_limit || !frame.define_next(value, result) {
                self.define(frame, &self.text[start..end], start - 1, result, 1);
            }
        }
        Some(())
    }

    fn scanned_value(&mut self, frame: &mut OpenBody<'c>, name: ScannedName, ty: Type) -> Value {
        let ScannedName { value, part, start, end } = name;
        match frame.single(value, ty) {
            Some(found) if part == 0 => found,
            _ => {
                let mention = Mention { name: &self.text[start..end], number: part, at: start - 1 };
                self.value(frame, mention, ty)
            }
        }
    }

    /// Remembers the line of an operation whose name is at byte `at`, if the operation ends here, at the end
    /// of the line, with a nesting depth of `height`.
    pub(super) fn remember_line(&mut self, at: usize, op: &ReadOp, height: u32) {
        let ReadOp { name, properties, attrs, .. } = *op;
        let has_blocks = !op.successors.is_empty() || !op.regions.is_empty() || op.child.is_some();
        let is_known = self.ctx.def(name).is_some() || self.options.unregistered == Unregistered::Allow;
        // An operation with its own location is not remembered.
        if has_blocks || !is_known || op.location != self.location(at) {
            return;
        }
        let mut operands = std::mem::take(&mut self.numbers);
        operands.clear();
        let scan = scan(self.bytes(), at, &mut operands);
        self.numbers = operands;
        let Some(Scan { name: word, tail, end, .. }) = scan else { return };
        if end != self.passed || word.contains(&b'\\') {
            return;
        }
        if self.lines.slots.is_empty() {
            self.lines.slots.resize_with(SLOTS, || None);
        }
        let ending = LineMeaning { name, properties, attrs, signature: op.results.clone() };
        self.lines.slots[slot(word, tail)] = Some(SeenLine { name: word, tail, ending, height });
    }
}

/// Splits a line: `%12 = "name"(%1, %2#1)tail`, or `%12 = name %1, %2tail`.
fn scan<'c>(text: &'c [u8], mut at: usize, operands: &mut Vec<ScannedName>) -> Option<Scan<'c>> {
    let mut result = None;
    if text.get(at) == Some(&b'%') {
        let name = value_name(text, at + 1)?;
        at = name.end;
        result = Some(name);
        if !text[at..].starts_with(b" = ") {
            return None;
        }
        at += 3;
    }
    let name_start = at;
    let is_generic = text.get(at) == Some(&b'"');
    let name_end = if is_generic { name_end(text, at)? } else { word_end(text, at) };
    if text.get(name_end) != Some(if is_generic { &b'(' } else { &b' ' }) {
        return None;
    }
    at = name_end + 1;
    if !(is_generic && text.get(at) == Some(&b')')) {
        at = values(text, at, operands)?;
    }
    if is_generic && text.get(at) != Some(&b')') {
        return None;
    }
    let tail_start = at + usize::from(is_generic);
    // Not to the end of the line: there may be many operations on a long one.
    let rest = &text[tail_start..text.len().min(tail_start + LONGEST + 1)];
    let end = tail_start + memchr(b'\n', rest)?;
    let (name, tail) = (&text[name_start..name_end], &text[tail_start..end]);
    ends_op(text, end).then_some(Scan { result, name_start, name, tail, end })
}

/// Parses a list of values that begins here, at least one. Returns the list's end.
fn values(text: &[u8], mut at: usize, operands: &mut Vec<ScannedName>) -> Option<usize> {
    loop {
        if text.get(at) != Some(&b'%') {
            return None;
        }
        let mut operand = value_name(text, at + 1)?;
        at = operand.end;
        if text.get(at) == Some(&b'#') {
            let part = digits(text, at + 1)?;
            operand.part = part.value as u32;
            at = part.end;
        }
        operands.push(operand);
        if !text[at..].starts_with(b", ") {
            return Some(at);
        }
        at += 2;
    }
}

/// Whether an operation ends with its line, because the next line can't continue it with types, regions, or a
/// location.
fn ends_op(text: &[u8], line_end: usize) -> bool {
    let next = lexer::skip_space(text, line_end);
    match text.get(next) {
        Some(b'%' | b'}' | b'^' | b'"') => true,
        _ => !matches!(&text[next..word_end(text, next)], b"" | b"to" | b"loc"),
    }
}

/// The end of the word that begins here.
fn word_end(text: &[u8], start: usize) -> usize {
    start + text[start..].iter().take_while(|byte| lexer::is_word_byte(**byte)).count()
}

/// The end of the string that begins here, if it has no escapes.
fn name_end(text: &[u8], start: usize) -> Option<usize> {
    if text.get(start) != Some(&b'"') {
        return None;
    }
    let length = text[start + 1..].iter().take(LONGEST).position(|byte| *byte == b'"')?;
    Some(start + length + 2)
}

/// The name of a value that begins here, after its sigil.
fn value_name(text: &[u8], start: usize) -> Option<ScannedName> {
    let length = text[start..].iter().take_while(|byte| lexer::is_name_byte(**byte)).count();
    match text.get(start)? {
        b'0'..=b'9' => digits(text, start),
        _ if length == 0 => None,
        _ => Some(ScannedName { value: NO_NUMBER, part: 0, start, end: start + length }),
    }
}

/// A number of at most nine digits, without zeros before it.
fn digits(text: &[u8], start: usize) -> Option<ScannedName> {
    let mut value = 0;
    let mut end = start;
    while let Some(byte @ b'0'..=b'9') = text.get(end) {
        value = value * 10 + usize::from(byte - b'0');
        end += 1;
        if end > start + 9 {
            return None;
        }
    }
    let is_canonical = end == start + 1 || end > start && text[start] != b'0';
    is_canonical.then_some(ScannedName { value, part: 0, start, end })
}

fn slot(name: &[u8], tail: &[u8]) -> usize {
    let words = [first_word(tail), last_word(tail), last_word(name), (name.len() << 32 | tail.len()) as u64];
    // The multiplier of FxHash.
    let hash = words
        .iter()
        .fold(0u64, |hash, word| (hash.rotate_left(5) ^ word).wrapping_mul(0xf135_7aea_2e62_a9c5));
    (hash >> 54) as usize & (SLOTS - 1)
}

/// At most the first eight bytes.
fn first_word(bytes: &[u8]) -> u64 {
    match bytes.first_chunk() {
        Some(word) => u64::from_le_bytes(*word),
        None => bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    }
}

/// At most the last eight bytes.
fn last_word(bytes: &[u8]) -> u64 {
    bytes.last_chunk().map_or_else(|| first_word(bytes), |word| u64::from_le_bytes(*word))
}
