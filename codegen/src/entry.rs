//! How the entry of a program is emitted: one segment after the other, with the ways between them.
//!
//! ```text
//! for each segment: its calls and what stands between them; then a jump, a branch, a count or a return
//! ```
//! Each segment is a block of its own; numbers in slots are Cranelift's variables. Where calls and addresses
//! come from is for a [`Source`] to say: from the plan of one size ([`crate::baked`]), or from a frame
//! ([`crate::frame`]).

use crate::address::Address;
use crate::cranelift::{
    Block, Emitter, FuncRef, Function, Inst, InstBuilder, IntCC, Jit, PLAIN, StackSlotData, StackSlotKind,
    Value, Variable, types,
};
use crate::flow::{Exit, Instr, Segment, Sign, Slot, pieces};

/// Where the entry's calls and addresses come from. It is asked in the order of [`pieces`].
pub(crate) trait Source {
    /// Emits what must be done once, in the entry's first block.
    fn begin(&mut self, e: &mut Emitter<'_>);
    /// Emits a run of calls.
    fn calls(&mut self, e: &mut Emitter<'_>, calls: &[Instr]);
    /// The address that an instruction which is no call reads or writes.
    fn address(&mut self, e: &mut Emitter<'_>, address: Address) -> Value;
}

/// Emits the entry.
pub(crate) fn emit(jit: &mut Jit, segments: &[Segment], source: &mut dyn Source) -> Function {
    let pointer = jit.pointer();
    let signature = jit.signature(&[pointer; 6], &[types::I32]);
    jit.define("optc_main", signature, |e| {
        source.begin(e);
        let blocks = segments.iter().map(|_| e.ins.create_block()).collect();
        let mut entry = Entry { source, blocks, slots: Vec::new() };
        match entry.blocks.first() {
            Some(first) => e.ins.ins().jump(*first, &[]),
            None => entry.return_status(e, 0),
        };
        for (number, segment) in segments.iter().enumerate() {
            e.ins.switch_to_block(entry.blocks[number]);
            for (calls, instr) in pieces(segment) {
                entry.source.calls(e, calls);
                instr.into_iter().for_each(|instr| entry.instr(e, instr));
            }
            entry.exit(e, &segment.exit);
        }
    })
}

/// Room on the stack for so many pointers.
pub(crate) fn table(e: &mut Emitter<'_>, pointers: usize) -> Value {
    let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, 8 * pointers as u32, 3);
    let slot = e.ins.create_sized_stack_slot(slot);
    e.ins.ins().stack_addr(types::I64, slot, 0)
}

/// The runtime's function that runs the parts of a call:
/// `(context, function, descriptor, table, parts, scratch, stride)`.
pub(crate) fn parallel(e: &mut Emitter<'_>) -> FuncRef {
    let pointers = types::I64;
    let params = [pointers, pointers, pointers, pointers, types::I32, pointers, types::I64];
    e.import("optc_parallel", &params, &[])
}

/// The entry while it is emitted.
struct Entry<'s> {
    source: &'s mut dyn Source,
    /// The block of each segment.
    blocks: Vec<Block>,
    /// The variable of each slot.
    slots: Vec<Variable>,
}

impl Entry<'_> {
    fn instr(&mut self, e: &mut Emitter<'_>, instr: &Instr) {
        match instr {
            Instr::Call(_) => unreachable!("calls stand between the others"),
            Instr::Read(slot, address, elem) => {
                let address = self.source.address(e, *address);
                let number = e.ins.ins().load(elem.clif(), PLAIN, address, 0);
                let number = match elem.clif() {
                    types::I64 => number,
                    _ if elem.is_signed() => e.ins.ins().sextend(types::I64, number),
                    _ => e.ins.ins().uextend(types::I64, number),
                };
                let variable = self.variable(e, *slot);
                e.ins.def_var(variable, number);
            }
            Instr::Write(slot, address, elem) => {
                let number = self.number(e, *slot);
                let number = match elem.clif() {
                    types::I64 => number,
                    narrow => e.ins.ins().ireduce(narrow, number),
                };
                let address = self.source.address(e, *address);
                e.ins.ins().store(PLAIN, number, address, 0);
            }
            Instr::Add(slot, step) => {
                let (number, step) = (self.number(e, *slot), self.number(e, *step));
                let sum = e.ins.ins().iadd(number, step);
                let variable = self.variable(e, *slot);
                e.ins.def_var(variable, sum);
            }
            Instr::Assert(address, status) => self.assert(e, *address, *status),
        }
    }

    fn assert(&mut self, e: &mut Emitter<'_>, address: Address, status: u32) {
        let address = self.source.address(e, address);
        let truth = e.ins.ins().load(types::I8, PLAIN, address, 0);
        let (holds, fails) = (e.ins.create_block(), e.ins.create_block());
        e.ins.ins().brif(truth, holds, &[], fails, &[]);
        e.ins.switch_to_block(fails);
        self.return_status(e, status);
        e.ins.switch_to_block(holds);
    }

    fn return_status(&self, e: &mut Emitter<'_>, status: u32) -> Inst {
        let status = e.ins.ins().iconst(types::I32, i64::from(status));
        e.ins.ins().return_(&[status])
    }

    fn exit(&mut self, e: &mut Emitter<'_>, exit: &Exit) {
        match exit {
            Exit::Return => {
                self.return_status(e, 0);
            }
            Exit::Jump(next) => {
                e.ins.ins().jump(self.blocks[*next], &[]);
            }
            Exit::Branch(slot, then, otherwise) => {
                let truth = self.number(e, *slot);
                e.ins.ins().brif(truth, self.blocks[*then], &[], self.blocks[*otherwise], &[]);
            }
            Exit::Count(at, end, sign, [round, leave]) => {
                let (at, end) = (self.number(e, *at), self.number(e, *end));
                let less = match sign {
                    Sign::Signed => IntCC::SignedLessThan,
                    Sign::Unsigned => IntCC::UnsignedLessThan,
                };
                let goes_on = e.ins.ins().icmp(less, at, end);
                e.ins.ins().brif(goes_on, self.blocks[*round], &[], self.blocks[*leave], &[]);
            }
            Exit::Switch(slot, cases, default) => {
                let number = self.number(e, *slot);
                for (case, next) in cases {
                    let case = e.int(*case);
                    let is_case = e.ins.ins().icmp(IntCC::Equal, number, case);
                    let other = e.ins.create_block();
                    e.ins.ins().brif(is_case, self.blocks[*next], &[], other, &[]);
                    e.ins.switch_to_block(other);
                }
                e.ins.ins().jump(self.blocks[*default], &[]);
            }
        }
    }

    fn number(&mut self, e: &mut Emitter<'_>, slot: Slot) -> Value {
        let variable = self.variable(e, slot);
        e.ins.use_var(variable)
    }

    fn variable(&mut self, e: &mut Emitter<'_>, slot: Slot) -> Variable {
        while self.slots.len() <= slot.0 as usize {
            self.slots.push(e.ins.declare_var(types::I64));
        }
        self.slots[slot.0 as usize]
    }
}
