//! Code generation for the entry of a program: its basic blocks (segments) with the edges between them.
//!
//! ```text
//! for each segment: its calls and the other instructions; then a jump, a branch, a loop count or a return
//! ```
//! Each segment is one Cranelift block; numbers in slots are Cranelift variables. The called functions, their
//! arguments and the addresses of numbers are in the [frame](crate::frame) passed to the entry, so the code
//! is the same for every size.

use runtime::CodeContext;

use crate::cranelift::{
    Block, Clif, Emitter, FuncRef, FunctionNumber, ImageBuilder, Inst, InstBuilder, IntCC, PLAIN, Signature,
    StackSlotData, StackSlotKind, Value, Variable, types,
};
use crate::flow::{CodeBlock, CompareSign, Exit, Instr, NumberRegister, pieces};
use crate::frame::{BASES_BEFORE_INPUTS, PAIR, PointerCounts, Record, WEIGHTS_BASE};

/// The name of the entry.
pub const NAME: &str = "optc_main";

/// Whether code can be stopped between two steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopChecks {
    /// If a run has an observer, it is asked before each step.
    Asked,
    /// It runs to its end; its callees need no [`runtime::CodeContext`].
    Never,
}

/// Emits the entry, which runs any frame of a program with these segments.
pub(crate) fn emit(
    image: &mut ImageBuilder,
    segments: &[CodeBlock],
    buffers: PointerCounts,
    stops: StopChecks,
) -> FunctionNumber {
    let pointer = image.pointer();
    let kernel = image.signature(&[pointer, pointer, types::I32, pointer], &[]);
    let run = emit_run(image, kernel, stops);
    let signature = image.signature(&[pointer; 6], &[types::I32]);
    image.define(NAME, signature, |e| {
        let bases = fill_bases(e, buffers);
        let table = table(e, buffers.widest);
        let blocks = segments.iter().map(|_| e.ins.create_block()).collect();
        let mut entry = EntryEmitter { run, stops, bases, table, site: 0, blocks, slots: Vec::new() };
        match entry.blocks.first() {
            Some(first) => e.ins.ins().jump(*first, &[]),
            None => entry.return_status(e, 0),
        };
        for (number, segment) in segments.iter().enumerate() {
            e.ins.switch_to_block(entry.blocks[number]);
            for (_, instr) in pieces(segment) {
                entry.calls(e);
                instr.into_iter().for_each(|instr| entry.instr(e, instr));
            }
            entry.exit(e, &segment.exit);
        }
    })
}

/// Fills the table of base pointers, see [`crate::frame`].
fn fill_bases(e: &mut Emitter<'_>, PointerCounts { inputs, outputs, .. }: PointerCounts) -> Value {
    let bases = table(e, BASES_BEFORE_INPUTS + inputs + outputs);
    let zero = e.int(0);
    e.ins.ins().store(PLAIN, zero, bases, 0);
    let arena = e.param(1);
    e.ins.ins().store(PLAIN, arena, bases, 8);
    let weights = e.param(2);
    e.ins.ins().store(PLAIN, weights, bases, WEIGHTS_BASE as i32);
    let first = BASES_BEFORE_INPUTS;
    for (param, count, first) in [(3, inputs, first), (4, outputs, first + inputs)] {
        let buffers = e.param(param);
        for index in 0..count {
            let buffer = load(e, buffers, 8 * index as i32);
            e.ins.ins().store(PLAIN, buffer, bases, 8 * (first + index) as i32);
        }
    }
    bases
}

/// Reserves room on the stack for `count` pointers.
fn table(e: &mut Emitter<'_>, pointers: usize) -> Value {
    let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, 8 * pointers as u32, 3);
    let slot = e.ins.create_sized_stack_slot(slot);
    e.ins.ins().stack_addr(types::I64, slot, 0)
}

/// The runtime's function that runs the parts of a call:
/// `(context, function, descriptor, table, parts, scratch, stride)`.
fn parallel(e: &mut Emitter<'_>) -> FuncRef {
    let pointers = types::I64;
    let params = [pointers, pointers, pointers, pointers, types::I32, pointers, types::I64];
    e.import("optc_parallel", &params, &[])
}

/// Emits the function, with the kernels' interface, that poisons its operand; its size in bytes is the
/// descriptor.
pub(crate) fn emit_poison(image: &mut ImageBuilder) -> FunctionNumber {
    let pointer = image.pointer();
    let kernel = image.signature(&[pointer, pointer, types::I32, pointer], &[]);
    image.define("optc_poison_step", kernel, |e| {
        let [descriptor, operands] = [e.param(0), e.param(1)];
        let bytes = load(e, descriptor, 0);
        let address = load(e, operands, 0);
        let poison = e.import("optc_poison", &[types::I64, types::I64], &[]);
        e.ins.ins().call(poison, &[address, bytes]);
        e.ins.ins().return_(&[]);
    })
}

/// Emits the function, with the kernels' interface, that reports a step as done; the descriptor is its index.
pub(crate) fn emit_stamp(image: &mut ImageBuilder) -> FunctionNumber {
    let pointer = image.pointer();
    let kernel = image.signature(&[pointer, pointer, types::I32, pointer], &[]);
    image.define("optc_stamp_step", kernel, |e| {
        let descriptor = e.param(0);
        let step = load(e, descriptor, 0);
        let stamp = e.import("optc_stamp", &[types::I64], &[]);
        e.ins.ins().call(stamp, &[step]);
        e.ins.ins().return_(&[]);
    })
}

/// Emits `(context, bases, table, first, end)`, which runs the calls of the records from `first` to `end`. If
/// runs may be stopped, it returns 0, or the status for the entry to return at once.
fn emit_run(image: &mut ImageBuilder, kernel: Signature, stops: StopChecks) -> FunctionNumber {
    let pointer = image.pointer();
    let returned: &[Clif] = if stops == StopChecks::Asked { &[types::I32] } else { &[] };
    let signature = image.signature(&[pointer; 5], returned);
    image.define("optc_run", signature, |e| {
        let kernel = e.ins.import_signature(kernel);
        let (header, inside, exit) = (e.ins.create_block(), e.ins.create_block(), e.ins.create_block());
        let record = e.ins.append_block_param(header, types::I64);
        let (first, end) = (e.param(3), e.param(4));
        e.ins.ins().jump(header, &[first.into()]);
        e.ins.switch_to_block(header);
        let goes_on = e.ins.ins().icmp(IntCC::UnsignedLessThan, record, end);
        e.ins.ins().brif(goes_on, inside, &[], exit, &[]);
        e.ins.switch_to_block(inside);
        if stops == StopChecks::Asked {
            emit_stop(e);
        }
        let (bases, operands) = (e.param(1), e.param(2));
        emit_operands(e, record, bases, operands);
        let [function, parts, stride] =
            [Record::FUNCTION, Record::PARTS, Record::STRIDE].map(|at| load(e, record, at));
        let scratch = address(e, bases, record, Record::SCRATCH);
        let descriptor = load(e, record, Record::DESCRIPTOR);
        let descriptor = e.ins.ins().iadd(record, descriptor);
        let parts = e.ins.ins().ireduce(types::I32, parts);
        let (alone, shared, next) = (e.ins.create_block(), e.ins.create_block(), e.ins.create_block());
        let is_alone = e.ins.ins().icmp_imm_u(IntCC::Equal, parts, 1);
        e.ins.ins().brif(is_alone, alone, &[], shared, &[]);
        e.ins.switch_to_block(alone);
        let part = e.ins.ins().iconst(types::I32, 0);
        e.ins.ins().call_indirect(kernel, function, &[descriptor, operands, part, scratch]);
        e.ins.ins().jump(next, &[]);
        e.ins.switch_to_block(shared);
        let (callee, context) = (parallel(e), e.param(0));
        e.ins.ins().call(callee, &[context, function, descriptor, operands, parts, scratch, stride]);
        e.ins.ins().jump(next, &[]);
        e.ins.switch_to_block(next);
        let size = load(e, record, Record::SIZE);
        let following = e.ins.ins().iadd(record, size);
        e.ins.ins().jump(header, &[following.into()]);
        e.ins.switch_to_block(exit);
        match stops {
            StopChecks::Asked => {
                let done = e.ins.ins().iconst(types::I32, 0);
                e.ins.ins().return_(&[done])
            }
            StopChecks::Never => e.ins.ins().return_(&[]),
        };
    })
}

/// Asks the observer of the run, if there is one, and returns its answer unless that is 0.
fn emit_stop(e: &mut Emitter<'_>) {
    let context = e.param(0);
    let watched = load(e, context, CodeContext::WATCHED as i32);
    let (asks, next) = (e.ins.create_block(), e.ins.create_block());
    e.ins.ins().brif(watched, asks, &[], next, &[]);
    e.ins.switch_to_block(asks);
    let step = e.import("optc_step", &[types::I64], &[types::I32]);
    let call = e.ins.ins().call(step, &[context]);
    return_unless_zero(e, call, next);
}

/// Returns the result of a call, or continues in a block if it is 0.
fn return_unless_zero(e: &mut Emitter<'_>, call: Inst, next: Block) {
    let status = e.ins.inst_results(call)[0];
    let stopped = e.ins.create_block();
    e.ins.ins().brif(status, stopped, &[], next, &[]);
    e.ins.switch_to_block(stopped);
    e.ins.ins().return_(&[status]);
    e.ins.switch_to_block(next);
}

/// Fills the table of operands.
fn emit_operands(e: &mut Emitter<'_>, record: Value, bases: Value, table: Value) {
    let (zero, count) = (e.int(0), load(e, record, Record::OPERANDS));
    e.count(zero, count, 1, |e, index| {
        let pair = e.ins.ins().imul_imm_s(index, i64::from(PAIR));
        let pair = e.ins.ins().iadd(record, pair);
        let operand = address(e, bases, pair, Record::TABLE);
        let slot = e.ins.ins().ishl_imm_u(index, 3);
        let slot = e.ins.ins().iadd(table, slot);
        e.ins.ins().store(PLAIN, operand, slot, 0);
    });
}

fn load(e: &mut Emitter<'_>, from: Value, offset: i32) -> Value {
    e.ins.ins().load(types::I64, PLAIN, from, offset)
}

/// The address given by the pair at `offset`.
fn address(e: &mut Emitter<'_>, bases: Value, from: Value, offset: i32) -> Value {
    let place = load(e, from, offset);
    let pointer = e.ins.ins().iadd(bases, place);
    let base = load(e, pointer, 0);
    let distance = load(e, from, offset + 8);
    e.ins.ins().iadd(base, distance)
}

/// The entry while it is emitted.
struct EntryEmitter {
    /// The function that runs calls.
    run: FunctionNumber,
    /// Whether that function can end the run.
    stops: StopChecks,
    /// The table of base pointers.
    bases: Value,
    /// The table of operands.
    table: Value,
    /// The index of the frame's next site.
    site: i32,
    /// The block of each segment.
    blocks: Vec<Block>,
    /// The variable of each slot.
    slots: Vec<Variable>,
}

impl EntryEmitter {
    fn next_site(&mut self) -> i32 {
        self.site += 1;
        PAIR * (self.site - 1)
    }

    /// Runs the calls of the next site.
    fn calls(&mut self, e: &mut Emitter<'_>) {
        let site = self.next_site();
        let frame = e.param(5);
        let [first, end] = [site, site + 8].map(|at| {
            let offset = load(e, frame, at);
            e.ins.ins().iadd(frame, offset)
        });
        let context = e.param(0);
        let run = e.callee(self.run);
        let call = e.ins.ins().call(run, &[context, self.bases, self.table, first, end]);
        if self.stops == StopChecks::Asked {
            let next = e.ins.create_block();
            return_unless_zero(e, call, next);
        }
    }

    /// The address of the next site.
    fn address(&mut self, e: &mut Emitter<'_>) -> Value {
        let site = self.next_site();
        let frame = e.param(5);
        address(e, self.bases, frame, site)
    }

    fn instr(&mut self, e: &mut Emitter<'_>, instr: &Instr) {
        match instr {
            Instr::Run(..) | Instr::Move(..) => unreachable!("calls stand between the others"),
            Instr::Read(slot, _, elem) => {
                let address = self.address(e);
                let number = e.ins.ins().load(elem.clif(), PLAIN, address, 0);
                let number = match elem.clif() {
                    types::I64 => number,
                    _ if elem.is_signed() => e.ins.ins().sextend(types::I64, number),
                    _ => e.ins.ins().uextend(types::I64, number),
                };
                let variable = self.variable(e, *slot);
                e.ins.def_var(variable, number);
            }
            Instr::Write(slot, _, elem) => {
                let number = self.number(e, *slot);
                let number = match elem.clif() {
                    types::I64 => number,
                    narrow => e.ins.ins().ireduce(narrow, number),
                };
                let address = self.address(e);
                e.ins.ins().store(PLAIN, number, address, 0);
            }
            Instr::Add(slot, step) => {
                let (number, step) = (self.number(e, *slot), self.number(e, *step));
                let sum = e.ins.ins().iadd(number, step);
                let variable = self.variable(e, *slot);
                e.ins.def_var(variable, sum);
            }
            Instr::Assert(_, status) => self.assert(e, *status),
        }
    }

    fn assert(&mut self, e: &mut Emitter<'_>, status: u32) {
        let address = self.address(e);
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
                    CompareSign::Signed => IntCC::SignedLessThan,
                    CompareSign::Unsigned => IntCC::UnsignedLessThan,
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

    fn number(&mut self, e: &mut Emitter<'_>, slot: NumberRegister) -> Value {
        let variable = self.variable(e, slot);
        e.ins.use_var(variable)
    }

    fn variable(&mut self, e: &mut Emitter<'_>, slot: NumberRegister) -> Variable {
        while self.slots.len() <= slot.0 as usize {
            self.slots.push(e.ins.declare_var(types::I64));
        }
        self.slots[slot.0 as usize]
    }
}
