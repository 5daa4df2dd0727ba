//! Uses: the readers of a value, and changes of operands.

use cranelift_entity::EntityRef;
use cranelift_entity::packed_option::PackedOption;

use super::{Body, UseRecord};
use crate::entities::{Op, Use, Value};

/// One read of a value: operand `index` of `op`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UseRef {
    /// The slot.
    pub slot: Use,
    /// The reading operation.
    pub op: Op,
    /// The index of the operand.
    pub index: usize,
}

/// The uses of a value, the latest first.
pub struct Uses<'a> {
    body: &'a Body,
    next: PackedOption<Use>,
}

impl Iterator for Uses<'_> {
    type Item = UseRef;

    fn next(&mut self) -> Option<UseRef> {
        let slot = self.next.expand()?;
        let record = &self.body.uses[slot];
        self.next = record.next;
        let index = slot.index() - self.body.ops[record.owner].first_use as usize;
        Some(UseRef { slot, op: record.owner, index })
    }
}

impl Body {
    /// The number of operands of an operation.
    pub fn operand_count(&self, op: Op) -> usize {
        self.ops[op].use_count.into()
    }

    /// Operand `index` of an operation.
    pub fn operand(&self, op: Op, index: usize) -> Value {
        assert!(index < self.operand_count(op), "operand {index} of {op} does not exist");
        let slot = Use::new(self.ops[op].first_use as usize + index);
        self.uses[slot].value.expect("operands of a live operation are set")
    }

    /// All operands of an operation.
    pub fn operands(
        &self,
        op: Op,
    ) -> impl DoubleEndedIterator<Item = Value> + ExactSizeIterator + Clone + '_ {
        let record = &self.ops[op];
        let first = record.first_use as usize;
        let slots = first..first + usize::from(record.use_count);
        slots.map(|slot| self.uses[Use::new(slot)].value.expect("operands of a live operation are set"))
    }

    /// The uses of a value, the latest first.
    pub fn uses(&self, value: Value) -> Uses<'_> {
        Uses { body: self, next: self.values[value].first_use }
    }

    /// Whether a value has uses.
    pub fn is_used(&self, value: Value) -> bool {
        self.values[value].first_use.is_some()
    }

    /// Whether a value is read exactly once.
    pub fn has_one_use(&self, value: Value) -> bool {
        self.uses(value).take(2).count() == 1
    }

    /// Replaces operand `index` of an operation by another value.
    pub fn set_operand(&mut self, op: Op, index: usize, value: Value) {
        assert!(index < self.operand_count(op), "operand {index} of {op} does not exist");
        let slot = Use::new(self.ops[op].first_use as usize + index);
        self.unlink(slot);
        self.link(slot, value);
    }

    /// Replaces all operands of an operation; their number may change. Afterwards the successors' arguments
    /// must be set again.
    pub fn set_operands(&mut self, op: Op, values: &[Value]) {
        self.clear_operands(op);
        let record = &self.ops[op];
        if values.len() > record.use_count as usize {
            let first = self.push_slots(op, values);
            self.ops[op].first_use = first;
        } else {
            let first = record.first_use as usize;
            for (index, value) in values.iter().enumerate() {
                self.link(Use::new(first + index), *value);
            }
        }
        self.ops[op].use_count = u16::try_from(values.len()).expect("at most 65535 operands");
    }

    /// Makes every reader of `old` read `new`.
    pub fn replace_uses(&mut self, old: Value, new: Value) {
        if old == new {
            return;
        }
        while let Some(slot) = self.values[old].first_use.expand() {
            self.unlink(slot);
            self.link(slot, new);
        }
    }

    /// Makes slots for the operands of `op`, each at the head of its value's use list. Returns the first
    /// slot.
    pub(super) fn push_slots(&mut self, op: Op, values: &[Value]) -> u32 {
        let first = self.uses.len() as u32;
        for &value in values {
            let head = self.values[value].first_use;
            let slot =
                self.uses.push(UseRecord { value: value.into(), owner: op, prev: None.into(), next: head });
            if let Some(head) = head.expand() {
                self.uses[head].prev = slot.into();
            }
            self.values[value].first_use = slot.into();
        }
        first
    }

    pub(super) fn clear_operands(&mut self, op: Op) {
        let first = self.ops[op].first_use as usize;
        for slot in first..first + self.operand_count(op) {
            self.unlink(Use::new(slot));
        }
    }

    fn link(&mut self, slot: Use, value: Value) {
        self.touch();
        let head = self.values[value].first_use;
        if let Some(head) = head.expand() {
            self.uses[head].prev = slot.into();
        }
        let record = &mut self.uses[slot];
        record.value = value.into();
        record.next = head;
        record.prev = None.into();
        self.values[value].first_use = slot.into();
    }

    fn unlink(&mut self, slot: Use) {
        let UseRecord { value, prev, next, .. } = self.uses[slot].clone();
        let Some(value) = value.expand() else { return };
        self.touch();
        match prev.expand() {
            Some(prev) => self.uses[prev].next = next,
            None => self.values[value].first_use = next,
        }
        if let Some(next) = next.expand() {
            self.uses[next].prev = prev;
        }
        self.uses[slot].value = None.into();
    }
}
