//! Memoization of the printer: operations that are like an earlier one.
//!
//! Operations of one name, with the same attributes and types, have the same text except for the names of
//! their results and operands. A table, addressed by their common properties, stores the last text of each
//! address.

use smallvec::SmallVec;

use super::buffer::TextBuffer;
use crate::body::Body;
use crate::entities::{Attr, Op, OpName, Type};

const SLOTS: usize = 1024;

/// Longer texts are not stored.
const LONGEST: usize = 512;

/// The most text that is stored, in bytes.
const MOST: usize = 1 << 20;

/// The texts of operations in generic form, without operands and results.
#[derive(Default)]
pub(super) struct Endings {
    slots: Vec<Option<OpEnding>>,
    texts: TextBuffer,
}

/// The text of an operation before its operands, and after them.
struct OpEnding {
    name: OpName,
    properties: Attr,
    attrs: Attr,
    operand_count: usize,
    types: SmallVec<[Type; 6]>,
    head: TextRange,
    tail: TextRange,
}

/// A range of a buffer: from byte `start` to `end`.
#[derive(Clone, Copy)]
pub(super) struct TextRange {
    pub start: usize,
    pub end: usize,
}

impl Endings {
    /// The stored texts before and after the operands of a similar operation.
    pub(super) fn find(&self, body: &Body, op: Op) -> Option<(TextRange, TextRange)> {
        let ending = self.slots.get(slot(body, op))?.as_ref()?;
        let is_alike = ending.name == body.name(op)
            && ending.properties == body.properties(op)
            && ending.attrs == body.attrs(op)
            && ending.operand_count == body.operand_count(op)
            && ending.types.iter().copied().eq(types(body, op));
        is_alike.then_some((ending.head, ending.tail))
    }

    /// Adds a stored text to `buffer`.
    pub(super) fn write(&self, part: TextRange, buffer: &mut TextBuffer) {
        buffer.push_part(&self.texts, part.start, part.end);
    }

    /// Stores the text of an operation, which is in `buffer`.
    pub(super) fn keep(
        &mut self,
        body: &Body,
        op: Op,
        buffer: &TextBuffer,
        head: TextRange,
        tail: TextRange,
    ) {
        if head.end - head.start + tail.end - tail.start > LONGEST {
            return;
        }
        if self.slots.is_empty() || self.texts.len() > MOST {
            self.texts.truncate(0);
            self.slots.clear();
            self.slots.resize_with(SLOTS, || None);
        }
        let mut kept = |part: TextRange| {
            let start = self.texts.len();
            self.texts.push_part(buffer, part.start, part.end);
            TextRange { start, end: self.texts.len() }
        };
        let (head, tail) = (kept(head), kept(tail));
        self.slots[slot(body, op)] = Some(OpEnding {
            name: body.name(op),
            properties: body.properties(op),
            attrs: body.attrs(op),
            operand_count: body.operand_count(op),
            types: types(body, op).collect(),
            head,
            tail,
        });
    }
}

/// Types of the operands, then of the results.
fn types(body: &Body, op: Op) -> impl Iterator<Item = Type> + '_ {
    body.operands(op).chain(body.results(op)).map(|value| body.ty(value))
}

fn slot(body: &Body, op: Op) -> usize {
    let own = [body.name(op).as_u32(), body.properties(op).as_u32(), body.attrs(op).as_u32()];
    let words = own.into_iter().chain(types(body, op).map(|ty| ty.as_u32()));
    // The multiplier of FxHash.
    let hash = words
        .fold(0u64, |hash, word| (hash.rotate_left(5) ^ u64::from(word)).wrapping_mul(0xf135_7aea_2e62_a9c5));
    (hash >> 54) as usize & (SLOTS - 1)
}
