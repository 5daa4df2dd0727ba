//! The scopes of value names during the parse of an isolated operation.
//!
//! A value may be used before its definition: until then it is represented by an argument of a block outside
//! of any region. Names that are numbers, the usual case, are found by index; all others by hash.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{TextReader, shortened};
use crate::body::Body;
use crate::diag::{Diagnostic, MOST_FAULTS, did_you_mean};
use crate::entities::{Attr, Block, Type, Value};

/// After this number of operations, the density of the text is known.
const FORESEEN_FROM: usize = 4096;

/// An isolated operation being parsed: its tables and the meanings of names in them.
pub(super) struct OpenBody<'c> {
    pub body: Body,
    numbered: Vec<Packed>,
    /// The contents of the slots in `numbered` that are [`Packed::MANY`].
    many: Vec<NamedValues>,
    named: FxHashMap<&'c str, NamedValues>,
    /// Names defined in the open regions except the outermost, innermost last.
    nested: Vec<&'c str>,
    pub region_depth: u32,
    /// The number of operations for which room was reserved.
    pub room: usize,
    /// The start of the first operation's text.
    pub start: usize,
    forward: FxHashMap<(&'c str, u32), Forward>,
    limbo: Option<Block>,
    /// Labels of the open regions, innermost last.
    pub labels: Vec<FxHashMap<&'c str, Label>>,
    pub symbols: DefinedSymbols,
}

/// The symbols that isolated operations of a body define.
#[derive(Default)]
pub(super) struct DefinedSymbols {
    pub known: FxHashSet<Attr>,
    /// Duplicate definitions, each with its first byte.
    pub again: Vec<(Attr, usize)>,
}

/// A name left of `=`, with the number of results that it names.
#[derive(Clone, Copy)]
pub(super) struct ResultName<'c> {
    pub name: &'c str,
    pub at: usize,
    pub count: u32,
}

/// A block's name.
#[derive(Clone, Copy)]
pub(super) struct Label {
    pub block: Block,
    /// First byte of the first mention.
    pub at: usize,
    pub is_defined: bool,
}

/// The meaning of a name: `count` values from `first` on.
#[derive(Clone, Copy, PartialEq, Eq)]
struct NamedValues {
    /// Index of the first value.
    first: u32,
    count: u32,
}

impl NamedValues {
    const FREE: NamedValues = NamedValues { first: 0, count: 0 };
    /// The count of a name with a faulty definition.
    const POISON: u32 = u32::MAX;
}

/// A slot in four bytes: one value, or the index of a slot in a table.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Packed(u32);

impl Packed {
    const FREE: Packed = Packed(u32::MAX);
    const MANY: u32 = 1 << 31;
}

/// A value that is used before its definition.
struct Forward {
    stand_in: Value,
    at: usize,
}

/// A value in the text: `%x`, `%x#1`.
#[derive(Clone, Copy)]
pub(super) struct Mention<'c> {
    /// The name, without `%`.
    pub name: &'c str,
    pub number: u32,
    pub at: usize,
}

impl<'c> OpenBody<'c> {
    /// Tables for an isolated operation whose text begins at byte `start`.
    pub(super) fn new(roots: usize, start: usize) -> OpenBody<'c> {
        OpenBody {
            body: Body::new(roots),
            numbered: Vec::new(),
            many: Vec::new(),
            named: FxHashMap::default(),
            nested: Vec::new(),
            region_depth: 0,
            room: FORESEEN_FROM,
            start,
            forward: FxHashMap::default(),
            limbo: None,
            labels: Vec::new(),
            symbols: DefinedSymbols::default(),
        }
    }

    fn slot(&self, index: Option<usize>, name: &str) -> NamedValues {
        match index {
            Some(index) => {
                self.numbered.get(index).map_or(NamedValues::FREE, |packed| self.unpacked(*packed))
            }
            None => self.named.get(name).copied().unwrap_or(NamedValues::FREE),
        }
    }

    fn unpacked(&self, packed: Packed) -> NamedValues {
        match packed {
            Packed::FREE => NamedValues::FREE,
            Packed(first) if first < Packed::MANY => NamedValues { first, count: 1 },
            Packed(many) => self.many[(many & !Packed::MANY) as usize],
        }
    }

    /// The value of this type that a number denotes, if it denotes exactly one.
    pub(super) fn single(&self, index: usize, ty: Type) -> Option<Value> {
        let Packed(first) = *self.numbered.get(index)?;
        let value = (first < Packed::MANY).then(|| Value::from_u32(first))?;
        (self.body.ty(value) == ty).then_some(value)
    }

    /// Defines the next number as a value. Returns whether that was possible by appending a slot.
    pub(super) fn define_next(&mut self, index: usize, value: Value) -> bool {
        let is_plain = self.region_depth <= 1 && self.forward.is_empty() && value.as_u32() < Packed::MANY;
        let is_next = is_plain && self.numbered.len() == index;
        if is_next {
            self.numbered.push(Packed(value.as_u32()));
        }
        is_next
    }

    fn set_slot(&mut self, index: Option<usize>, name: &'c str, slot: NamedValues) {
        match index {
            Some(index) => {
                let packed = match slot {
                    NamedValues::FREE => Packed::FREE,
                    NamedValues { first, count: 1 } if first < Packed::MANY => Packed(first),
                    many => {
                        self.many.push(many);
                        Packed(Packed::MANY | (self.many.len() as u32 - 1))
                    }
                };
                if index >= self.numbered.len() {
                    self.numbered.resize(index + 1, Packed::FREE);
                }
                self.numbered[index] = packed;
            }
            None => {
                self.named.insert(name, slot);
            }
        }
    }

    /// A value of this type that is in no region.
    fn stand_in(&mut self, ty: Type) -> Value {
        let block = match self.limbo {
            Some(block) => block,
            None => *self.limbo.insert(self.body.make_block()),
        };
        self.body.add_arg(block, ty)
    }

    /// The number of names defined in nested regions, for [`TextReader::close_scope`].
    pub(super) fn scope(&self) -> usize {
        self.nested.len()
    }
}

impl<'c> TextReader<'c> {
    /// The index of a name that is a number. Only small numbers count, so that the table stays small compared
    /// to the text.
    fn numbered(&self, name: &str) -> Option<usize> {
        let is_number = match name.as_bytes() {
            [b'0'] => true,
            [b'1'..=b'9', rest @ ..] => rest.len() < 9 && rest.iter().all(u8::is_ascii_digit),
            _ => false,
        };
        let value = || name.bytes().fold(0, |value, digit| value * 10 + usize::from(digit - b'0'));
        is_number.then(value).filter(|value| *value < self.number_limit)
    }

    /// Defines a name as `count` values from `first` on.
    pub(super) fn define(
        &mut self,
        frame: &mut OpenBody<'c>,
        name: &'c str,
        at: usize,
        first: Value,
        count: u32,
    ) {
        let index = self.numbered(name);
        self.note_definition(name, at, Some((first, frame.body.ty(first))), count);
        if frame.slot(index, name).count > 0 {
            self.note(at, format!("`%{}` is defined twice", shortened(name)));
            return;
        }
        frame.set_slot(index, name, NamedValues { first: first.as_u32(), count });
        if frame.region_depth > 1 {
            frame.nested.push(name);
        }
        if frame.forward.is_empty() {
            return;
        }
        for number in 0..count {
            let Some(Forward { stand_in, at }) = frame.forward.remove(&(name, number)) else { continue };
            let value = Value::from_u32(first.as_u32() + number);
            if frame.body.ty(value) != frame.body.ty(stand_in) {
                self.note_types(frame, Mention { name, number, at }, value, frame.body.ty(stand_in));
            }
            frame.body.replace_uses(stand_in, value);
        }
    }

    /// Records that a name's definition is faulty, so that its uses are not reported as errors.
    pub(super) fn poison(&mut self, frame: &mut OpenBody<'c>, result: ResultName<'c>) {
        let ResultName { name, at, .. } = result;
        self.note_definition(name, at, None, 0);
        let index = self.numbered(name);
        frame.set_slot(index, name, NamedValues { count: NamedValues::POISON, ..NamedValues::FREE });
        if frame.region_depth > 1 {
            frame.nested.push(name);
        }
        frame.forward.retain(|key, _| key.0 != name);
    }

    /// The mentioned value, which must be of type `ty`.
    pub(super) fn value(&mut self, frame: &mut OpenBody<'c>, mention: Mention<'c>, ty: Type) -> Value {
        let Mention { name, number, at } = mention;
        self.note_mention(mention, ty);
        let slot = frame.slot(self.numbered(name), name);
        if number < slot.count && slot.count != NamedValues::POISON {
            let value = Value::from_u32(slot.first + number);
            if frame.body.ty(value) != ty {
                self.note_types(frame, mention, value, ty);
            }
            return value;
        }
        if slot.count > 0 {
            if slot.count != NamedValues::POISON {
                self.note(at, format!("`%{}` stands for {} values", shortened(name), slot.count));
            }
            return frame.stand_in(ty);
        }
        if let Some(forward) = frame.forward.get(&(name, number)) {
            let stand_in = forward.stand_in;
            if frame.body.ty(stand_in) != ty {
                self.note_types(frame, mention, stand_in, ty);
            }
            return stand_in;
        }
        let stand_in = frame.stand_in(ty);
        frame.forward.insert((name, number), Forward { stand_in, at });
        stand_in
    }

    fn note_types(&mut self, frame: &OpenBody<'c>, mention: Mention<'c>, value: Value, expected: Type) {
        let found = crate::text::short_type(self.ctx, frame.body.ty(value));
        let expected = crate::text::short_type(self.ctx, expected);
        let name = shortened(mention.name);
        self.note(mention.at, format!("`%{name}` is a `{found}`, here it is read as a `{expected}`"));
    }

    /// Removes the names defined since `scope`.
    pub(super) fn close_scope(&mut self, frame: &mut OpenBody<'c>, scope: usize) {
        while frame.nested.len() > scope {
            let name = frame.nested.pop().expect("the scope is shorter");
            let index = self.numbered(name);
            frame.set_slot(index, name, NamedValues::FREE);
            self.note_end_of_name(name);
        }
    }

    /// Once there are many operations, estimates the number of further ones and reserves room for them.
    pub(super) fn make_room(&self, frame: &mut OpenBody<'c>) {
        let ops = frame.body.op_capacity();
        if ops < frame.room {
            return;
        }
        let done = self.passed - frame.start;
        let left = self.text.len() - self.passed;
        let foreseen = |count: usize| (count as u128 * left as u128 / done.max(1) as u128) as usize;
        let more = |count: usize| foreseen(count) + foreseen(count) / 64 + FORESEEN_FROM;
        let OpenBody { body, numbered, room, .. } = frame;
        *room = ops + more(ops);
        body.reserve(more(ops), more(body.operand_capacity()), more(body.value_capacity()));
        numbered.reserve_exact(more(numbered.len()));
    }

    /// Reports every value that was used and never defined; the frame is parsed to its end.
    pub(super) fn finish(&mut self, mut frame: OpenBody<'c>) -> Body {
        frame.body.shrink_to_fit();
        if frame.forward.is_empty() {
            return frame.body;
        }
        let mut missing: Vec<((&str, u32), Forward)> =
            std::mem::take(&mut frame.forward).into_iter().collect();
        missing.sort_by_key(|(_, forward)| forward.at);
        let mut known: Vec<&str> = frame.named.keys().copied().collect();
        known.sort_unstable();
        known.truncate(1000);
        for ((name, _), forward) in missing.into_iter().take(MOST_FAULTS) {
            let message = format!("`%{}` is not defined", shortened(name));
            // Any two names of a letter or two are near to each other.
            let help = did_you_mean(name, known.iter().copied().filter(|_| name.len() > 2));
            let help = help.map(|help| help.replacen('`', "`%", 1));
            let diagnostic = Diagnostic::error(self.location(forward.at), message);
            self.note_fault(Diagnostic { help, ..diagnostic });
        }
        frame.body
    }
}
