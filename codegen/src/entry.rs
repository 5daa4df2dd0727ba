//! How the entry of a program is emitted: one call after the other, with addresses computed from the plan.
//!
//! ```text
//! for each call: operands -> table on the stack; optc_parallel(ctx, function, descriptor, table, parts, scratch, stride)
//! ```
//! A call of a single part goes straight to the function. Kernels and descriptors are symbols, never embedded addresses. Each
//! segment is a block of its own; numbers in slots are Cranelift's variables.

use std::collections::{BTreeMap, HashMap};

use crate::cranelift::{
    Block, Data, Emitter, Function, Inst, InstBuilder, IntCC, Jit, PLAIN, Signature, StackSlotData,
    StackSlotKind, Value, Variable, types,
};
use crate::flow::{Exit, Instr, Segment, Sign, Slot};
use crate::lower::Code;
use crate::place::{Address, Base};
use crate::pointwise::{self, stages::Form};
use crate::reduce;

/// A call whose operands have addresses.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// The function.
    pub(crate) code: Code,
    /// The bytes that tell it sizes.
    pub(crate) descriptor: Vec<u8>,
    /// Parts, at least 1.
    pub(crate) parts: u32,
    /// The table of operands; none stands for null.
    pub(crate) operands: Vec<Option<Address>>,
    /// Where scratch is, if it needs some, and the bytes of each worker.
    pub(crate) scratch: Option<(Address, u64)>,
    /// Memory that is dead after the step, to be poisoned: addresses with bytes.
    pub(crate) dead: Vec<(Address, u64)>,
}

/// All calls of a program, in order.
pub(crate) fn calls(segments: &[Segment]) -> impl Iterator<Item = &Step> {
    segments.iter().flat_map(|segment| &segment.instrs).filter_map(|instr| match instr {
        Instr::Call(step) => Some(step),
        _ => None,
    })
}

/// Emits all functions that the segments need and the entry that runs them.
pub(crate) fn emit(jit: &mut Jit, segments: &[Segment]) -> Function {
    let steps: Vec<&Step> = calls(segments).collect();
    let pointer = jit.pointer();
    let kernel = jit.signature(&[pointer, pointer, types::I32, pointer], &[]);
    let functions = functions(jit, &steps, &kernel);
    let (descriptors, offsets) = descriptors(jit, &steps);
    let widest = steps.iter().map(|step| step.operands.len()).max().unwrap_or(0);
    let signature = jit.signature(&[pointer; 6], &[types::I32]);
    jit.define("optc_main", signature, |e| {
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, 8 * widest as u32, 3);
        let slot = e.ins.create_sized_stack_slot(slot);
        let table = e.ins.ins().stack_addr(types::I64, slot, 0);
        let blocks = segments.iter().map(|_| e.ins.create_block()).collect();
        let calls = functions.into_iter().zip(offsets).collect::<Vec<_>>().into_iter();
        let mut entry = Entry { table, descriptors, calls, blocks, slots: Vec::new() };
        match entry.blocks.first() {
            Some(first) => e.ins.ins().jump(*first, &[]),
            None => entry.return_status(e, 0),
        };
        for (number, segment) in segments.iter().enumerate() {
            e.ins.switch_to_block(entry.blocks[number]);
            segment.instrs.iter().for_each(|instr| entry.instr(e, instr));
            entry.exit(e, &segment.exit);
        }
    })
}

/// The function of each step; steps of one form share one.
fn functions(jit: &mut Jit, steps: &[&Step], kernel: &Signature) -> Vec<Function> {
    let mut forms: HashMap<&Form, Function> = HashMap::new();
    let mut reductions: Vec<(reduce::Form, Function)> = Vec::new();
    let mut functions = Vec::new();
    for step in steps {
        functions.push(match &step.code {
            Code::Kernel { symbol, .. } => jit.import(symbol, kernel),
            Code::Pointwise(form) => {
                let name = format!("optc_pointwise_{}", forms.len());
                *forms.entry(form).or_insert_with(|| pointwise::emit::emit(jit, &name, form))
            }
            Code::Reduce(form) => match reductions.iter().find(|known| known.0 == *form) {
                Some((_, function)) => *function,
                None => {
                    let function = reduce::emit(jit, &format!("optc_reduce_{}", reductions.len()), *form);
                    reductions.push((*form, function));
                    function
                }
            },
        });
    }
    functions
}

/// All descriptors in one piece of data, and where in it each step's begins; equal ones are one.
fn descriptors(jit: &mut Jit, steps: &[&Step]) -> (Data, Vec<u64>) {
    let mut bytes: Vec<u8> = Vec::new();
    let mut known: BTreeMap<&[u8], u64> = BTreeMap::new();
    let mut offsets = Vec::new();
    for step in steps {
        let offset = *known.entry(&step.descriptor).or_insert_with(|| {
            let offset = bytes.len() as u64;
            bytes.extend(&step.descriptor);
            bytes.resize(bytes.len().next_multiple_of(8), 0);
            offset
        });
        offsets.push(offset);
    }
    bytes.resize(bytes.len().max(8), 0);
    (jit.data("optc_descriptors", bytes), offsets)
}

/// The entry while it is emitted.
struct Entry {
    /// The table of operands.
    table: Value,
    descriptors: Data,
    /// The function and descriptor of each call that is still to be emitted.
    calls: std::vec::IntoIter<(Function, u64)>,
    /// The block of each segment.
    blocks: Vec<Block>,
    /// The variable of each slot.
    slots: Vec<Variable>,
}

impl Entry {
    fn instr(&mut self, e: &mut Emitter<'_>, instr: &Instr) {
        match instr {
            Instr::Call(step) => {
                let (function, offset) = self.calls.next().expect("each call has a function");
                self.call(e, step, function, offset);
                for (address, bytes) in &step.dead {
                    self.poison(e, *address, *bytes);
                }
            }
            Instr::Read(slot, address, elem) => {
                let address = self.address(e, *address);
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
                let address = self.address(e, *address);
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
        let address = self.address(e, address);
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

    fn call(&mut self, e: &mut Emitter<'_>, step: &Step, function: Function, offset: u64) {
        for (index, operand) in step.operands.iter().enumerate() {
            let address = match operand {
                Some(address) => self.address(e, *address),
                None => e.int(0),
            };
            e.ins.ins().store(PLAIN, address, self.table, 8 * index as i32);
        }
        let descriptors = e.address(self.descriptors);
        let descriptor = e.ins.ins().iadd_imm_s(descriptors, offset as i64);
        let (scratch, stride) = match step.scratch {
            Some((address, stride)) => (self.address(e, address), stride),
            None => (e.int(0), 0),
        };
        let callee = e.callee(function);
        if step.parts == 1 {
            let part = e.ins.ins().iconst(types::I32, 0);
            e.ins.ins().call(callee, &[descriptor, self.table, part, scratch]);
            return;
        }
        let function = e.ins.ins().func_addr(types::I64, callee);
        let parts = e.ins.ins().iconst(types::I32, i64::from(step.parts));
        let stride = e.int(stride as i64);
        let pointers = types::I64;
        let parallel = [pointers, pointers, pointers, pointers, types::I32, pointers, types::I64];
        let parallel = e.import("optc_parallel", &parallel, &[]);
        let context = e.param(0);
        let args = [context, function, descriptor, self.table, parts, scratch, stride];
        e.ins.ins().call(parallel, &args);
    }

    fn poison(&mut self, e: &mut Emitter<'_>, address: Address, bytes: u64) {
        let poison = e.import("optc_poison", &[types::I64, types::I64], &[]);
        let address = self.address(e, address);
        let bytes = e.int(bytes as i64);
        e.ins.ins().call(poison, &[address, bytes]);
    }

    fn address(&mut self, e: &mut Emitter<'_>, address: Address) -> Value {
        let base = match address.base {
            Base::Arena => e.param(1),
            Base::Weights => e.param(2),
            Base::Input(index) => self.buffer(e, 3, index),
            Base::Output(index) => self.buffer(e, 4, index),
        };
        match address.offset {
            0 => base,
            offset => e.ins.ins().iadd_imm_s(base, offset as i64),
        }
    }

    /// The caller's buffer `index` of the table that is parameter `param`.
    fn buffer(&self, e: &mut Emitter<'_>, param: usize, index: usize) -> Value {
        let buffers = e.param(param);
        e.ins.ins().load(types::I64, PLAIN, buffers, 8 * index as i32)
    }
}
