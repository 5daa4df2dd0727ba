//! Which value a name stands for while an isolated operation is read.
//!
//! A value may be read before its definition: until then an argument of a block that stands nowhere takes its place.
//! Names that are numbers, the usual case, are found by index; all others by hash.

use rustc_hash::FxHashMap;

use super::{Reader, shortened};
use crate::body::Body;
use crate::diag::{Diagnostic, did_you_mean};
use crate::entities::{Block, Type, Value};

/// An isolated operation while it is read: its tables and what names mean in them.
pub(super) struct Frame<'c> {
    pub body: Body,
    numbered: Vec<Slot>,
    named: FxHashMap<&'c str, Slot>,
    /// Names defined in the regions that are open, but for the outermost, innermost last.
    nested: Vec<&'c str>,
    pub region_depth: u32,
    forward: FxHashMap<(&'c str, u32), Forward>,
    limbo: Option<Block>,
    /// Labels of the open regions, innermost last.
    pub labels: Vec<FxHashMap<&'c str, Label>>,
}

/// A block's name.
#[derive(Clone, Copy)]
pub(super) struct Label {
    pub block: Block,
    /// First byte of the first mention.
    pub at: usize,
    pub is_defined: bool,
}

/// What a name stands for: that many values from `first` on.
#[derive(Clone, Copy)]
struct Slot {
    /// Index of the first value.
    first: u32,
    count: u32,
}

impl Slot {
    const FREE: Slot = Slot { first: 0, count: 0 };
    /// The count of a name whose definition is at fault.
    const POISON: u32 = u32::MAX;
}

/// A value that is read before its definition.
struct Forward {
    stand_in: Value,
    at: usize,
}

/// A value as it is read: `%x`, `%x#1`.
#[derive(Clone, Copy)]
pub(super) struct Mention<'c> {
    /// The name, without `%`.
    pub name: &'c str,
    pub number: u32,
    pub at: usize,
}

impl<'c> Frame<'c> {
    pub(super) fn new(roots: usize) -> Frame<'c> {
        Frame {
            body: Body::new(roots),
            numbered: Vec::new(),
            named: FxHashMap::default(),
            nested: Vec::new(),
            region_depth: 0,
            forward: FxHashMap::default(),
            limbo: None,
            labels: Vec::new(),
        }
    }

    fn slot(&self, index: Option<usize>, name: &str) -> Slot {
        match index {
            Some(index) => self.numbered.get(index).copied().unwrap_or(Slot::FREE),
            None => self.named.get(name).copied().unwrap_or(Slot::FREE),
        }
    }

    fn set_slot(&mut self, index: Option<usize>, name: &'c str, slot: Slot) {
        match index {
            Some(index) => {
                if index >= self.numbered.len() {
                    self.numbered.resize(index + 1, Slot::FREE);
                }
                self.numbered[index] = slot;
            }
            None => {
                self.named.insert(name, slot);
            }
        }
    }

    /// A value of this type that stands nowhere.
    fn stand_in(&mut self, ty: Type) -> Value {
        let block = match self.limbo {
            Some(block) => block,
            None => *self.limbo.insert(self.body.make_block()),
        };
        self.body.add_arg(block, ty)
    }

    /// How many names were defined in nested regions: what [`Reader::close_scope`] goes back to.
    pub(super) fn scope(&self) -> usize {
        self.nested.len()
    }
}

impl<'c> Reader<'c> {
    /// The index of a name that is a number; small ones only, so that the table stays small beside the text.
    fn numbered(&self, name: &str) -> Option<usize> {
        let is_number = match name.as_bytes() {
            [b'0'] => true,
            [b'1'..=b'9', rest @ ..] => rest.len() < 9 && rest.iter().all(u8::is_ascii_digit),
            _ => false,
        };
        let value = || name.bytes().fold(0, |value, digit| value * 10 + usize::from(digit - b'0'));
        is_number.then(value).filter(|value| *value < self.text.len() / 8 + 16)
    }

    /// Says that a name stands for `count` values from `first` on.
    pub(super) fn define(
        &mut self,
        frame: &mut Frame<'c>,
        name: &'c str,
        at: usize,
        first: Value,
        count: u32,
    ) {
        let index = self.numbered(name);
        if frame.slot(index, name).count > 0 {
            self.note(at, format!("`%{}` is defined twice", shortened(name)));
            return;
        }
        frame.set_slot(index, name, Slot { first: first.as_u32(), count });
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

    /// Says that a name's definition is at fault, so that its readers are not.
    pub(super) fn poison(&mut self, frame: &mut Frame<'c>, name: &'c str) {
        let index = self.numbered(name);
        frame.set_slot(index, name, Slot { count: Slot::POISON, ..Slot::FREE });
        frame.forward.retain(|key, _| key.0 != name);
    }

    /// The value that is mentioned, which must be of type `ty`.
    pub(super) fn value(&mut self, frame: &mut Frame<'c>, mention: Mention<'c>, ty: Type) -> Value {
        let Mention { name, number, at } = mention;
        let slot = frame.slot(self.numbered(name), name);
        if number < slot.count && slot.count != Slot::POISON {
            let value = Value::from_u32(slot.first + number);
            if frame.body.ty(value) != ty {
                self.note_types(frame, mention, value, ty);
            }
            return value;
        }
        if slot.count > 0 {
            if slot.count != Slot::POISON {
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

    fn note_types(&mut self, frame: &Frame<'c>, mention: Mention<'c>, value: Value, expected: Type) {
        let found = crate::text::short_type(self.ctx, frame.body.ty(value));
        let expected = crate::text::short_type(self.ctx, expected);
        let name = shortened(mention.name);
        self.note(mention.at, format!("`%{name}` is a `{found}`, here it is read as a `{expected}`"));
    }

    /// Forgets the names that were defined since `scope`.
    pub(super) fn close_scope(&mut self, frame: &mut Frame<'c>, scope: usize) {
        while frame.nested.len() > scope {
            let name = frame.nested.pop().expect("the scope is shorter");
            let index = self.numbered(name);
            frame.set_slot(index, name, Slot::FREE);
        }
    }

    /// Notes every value that was read and never defined; the frame is read to its end.
    pub(super) fn finish(&mut self, mut frame: Frame<'c>) -> Body {
        if frame.forward.is_empty() {
            return frame.body;
        }
        let mut missing: Vec<((&str, u32), Forward)> =
            std::mem::take(&mut frame.forward).into_iter().collect();
        missing.sort_by_key(|(_, forward)| forward.at);
        let mut known: Vec<&str> = frame.named.keys().copied().collect();
        known.sort_unstable();
        known.truncate(1000);
        for ((name, _), forward) in missing {
            let message = format!("`%{}` is not defined", shortened(name));
            // Any two names of a letter or two are near to each other.
            let help = did_you_mean(name, known.iter().copied().filter(|_| name.len() > 2));
            let help = help.map(|help| help.replacen('`', "`%", 1));
            let diagnostic = Diagnostic::error(self.location(forward.at), message);
            self.diagnostics.push(Diagnostic { help, ..diagnostic });
        }
        frame.body
    }
}
