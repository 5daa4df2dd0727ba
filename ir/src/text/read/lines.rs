//! Which operations are like one that was read before.
//!
//! Most lines of a long text in generic form differ from an earlier one in the names of values only:
//!
//! ```text
//! %12 = "arith.addf"(%11, %5) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
//! ```
//!
//! So the name, with all that stands after the operands, is looked up as it stands, byte for byte; if it was
//! read before, only the numbers of values are. Whatever is not as plain as that is left to the reader of
//! single tokens, which remembers the lines that this one will know.

use std::rc::Rc;

use memchr::memchr;

use super::memo::OpTypes;
use super::ops::OperandList;
use super::values::{Mention, OpenBody};
use super::{MAX_DEPTH, TextReader};
use crate::body::OpParts;
use crate::entities::{Attr, Block, OpName, Type, Value};
use crate::text::Unregistered;

const SLOTS: usize = 1024;

/// Longer lines are not remembered.
const LONGEST: usize = 4096;

/// What the name and the end of a line mean.
#[derive(Clone)]
pub(super) struct LineMeaning {
    pub name: OpName,
    pub properties: Attr,
    pub attrs: Attr,
    pub signature: Rc<OpTypes>,
}

/// Lines that were read, addressed by their first and last bytes; of each address the last one.
#[derive(Default)]
pub(super) struct SeenLines<'c> {
    slots: Vec<Option<SeenLine<'c>>>,
}

struct SeenLine<'c> {
    /// The name, in its quotes.
    name: &'c [u8],
    /// What stands after the operands.
    tail: &'c [u8],
    ending: LineMeaning,
    /// How deep it nests.
    height: u32,
}

/// A value whose name is a number: `%12`, `%12#1`.
#[derive(Clone, Copy)]
pub(super) struct NumberedName {
    value: usize,
    part: u32,
    /// First digit.
    start: usize,
    /// After the last digit of the name.
    end: usize,
}

/// What stands where in a line.
struct Scan<'c> {
    result: Option<NumberedName>,
    name_start: usize,
    name: &'c [u8],
    tail: &'c [u8],
    /// Where the tail ends.
    end: usize,
}

impl<'c> SeenLines<'c> {
    fn find(&self, name: &[u8], tail: &[u8]) -> Option<&SeenLine<'c>> {
        let line = self.slots.get(slot(name, tail))?.as_ref()?;
        (line.tail == tail && line.name == name).then_some(line)
    }
}

impl<'c> TextReader<'c> {
    /// Reads an operation, to the end of its line, if the line is like one that was read before.
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
        numbers: &mut Vec<NumberedName>,
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
            pairs.map(|(number, ty)| self.numbered_value(frame, *number, *ty)).collect();
        let location = self.location(scan.name_start);
        let parts = OpParts { name, properties, attrs, location };
        let op = frame.body.make(parts, &operands, &signature.results);
        frame.body.append(op, block);
        self.resume(scan.end);
        self.make_room(frame);
        if let Some(NumberedName { value, start, end, .. }) = scan.result {
            let result = frame.body.result(op, 0);
            if value >= self.number_limit || !frame.define_next(value, result) {
                self.define(frame, &self.text[start..end], start - 1, result, 1);
            }
        }
        Some(())
    }

    fn numbered_value(&mut self, frame: &mut OpenBody<'c>, number: NumberedName, ty: Type) -> Value {
        let NumberedName { value, part, start, end } = number;
        match frame.single(value, ty) {
            Some(found) if part == 0 => found,
            _ => {
                let mention = Mention { name: &self.text[start..end], number: part, at: start - 1 };
                self.value(frame, mention, ty)
            }
        }
    }

    /// Remembers the line whose name stands at `name_start` and whose operands end at `tail_start`, if it
    /// ends here.
    pub(super) fn remember_line(
        &mut self,
        name_start: usize,
        tail_start: usize,
        ending: LineMeaning,
        height: u32,
    ) {
        let tail_end = self.passed;
        let bytes = self.bytes();
        let is_known =
            self.ctx.def(ending.name).is_some() || self.options.unregistered == Unregistered::Allow;
        if bytes.get(tail_end) != Some(&b'\n') || tail_end - name_start > LONGEST || !is_known {
            return;
        }
        let Some(name_end) = name_end(bytes, name_start) else { return };
        let (name, tail) = (&bytes[name_start..name_end], &bytes[tail_start..tail_end]);
        if name.contains(&b'\\') || tail.contains(&b'\n') {
            return;
        }
        if self.lines.slots.is_empty() {
            self.lines.slots.resize_with(SLOTS, || None);
        }
        self.lines.slots[slot(name, tail)] = Some(SeenLine { name, tail, ending, height });
    }
}

/// Takes a line apart: `%12 = "name"(%1, %2#1)tail`.
fn scan<'c>(text: &'c [u8], mut at: usize, operands: &mut Vec<NumberedName>) -> Option<Scan<'c>> {
    let mut result = None;
    if text.get(at) == Some(&b'%') {
        let number = digits(text, at + 1)?;
        at = number.end;
        result = Some(number);
        if !text[at..].starts_with(b" = ") {
            return None;
        }
        at += 3;
    }
    let name_start = at;
    let name_end = name_end(text, at)?;
    if text.get(name_end) != Some(&b'(') {
        return None;
    }
    at = name_end + 1;
    if text.get(at) != Some(&b')') {
        loop {
            if text.get(at) != Some(&b'%') {
                return None;
            }
            let mut operand = digits(text, at + 1)?;
            at = operand.end;
            if text.get(at) == Some(&b'#') {
                let part = digits(text, at + 1)?;
                operand.part = part.value as u32;
                at = part.end;
            }
            operands.push(operand);
            match text.get(at..at + 2)? {
                b", " => at += 2,
                [b')', _] => break,
                _ => return None,
            }
        }
    }
    let tail_start = at + 1;
    let end = tail_start + memchr(b'\n', &text[tail_start..])?;
    let (name, tail) = (&text[name_start..name_end], &text[tail_start..end]);
    (tail.len() <= LONGEST).then_some(Scan { result, name_start, name, tail, end })
}

/// The end of the string that begins here, if nothing in it is escaped.
fn name_end(text: &[u8], start: usize) -> Option<usize> {
    if text.get(start) != Some(&b'"') {
        return None;
    }
    let length = text[start + 1..].iter().take(LONGEST).position(|byte| *byte == b'"')?;
    Some(start + length + 2)
}

/// A number of at most nine digits, without zeros before it.
fn digits(text: &[u8], start: usize) -> Option<NumberedName> {
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
    is_canonical.then_some(NumberedName { value, part: 0, start, end })
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
