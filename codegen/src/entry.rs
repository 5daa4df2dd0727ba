//! How the entry of a program is emitted: one call after the other, with addresses computed from the plan.
//!
//! ```text
//! for each call: operands -> table on the stack; optc_parallel(ctx, function, descriptor, table, parts, scratch, stride)
//! ```
//! A call of a single part goes straight to the function. Kernels and descriptors are symbols, never embedded addresses.

use std::collections::{BTreeMap, HashMap};

use crate::cranelift::{
    Data, Emitter, Function, InstBuilder, Jit, PLAIN, Signature, StackSlotData, StackSlotKind, Value, types,
};
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

/// Emits all functions that the steps need and the entry that runs them.
pub(crate) fn emit(jit: &mut Jit, steps: &[Step]) -> Function {
    let pointer = jit.pointer();
    let kernel = jit.signature(&[pointer, pointer, types::I32, pointer], &[]);
    let functions = functions(jit, steps, &kernel);
    let (descriptors, offsets) = descriptors(jit, steps);
    let widest = steps.iter().map(|step| step.operands.len()).max().unwrap_or(0);
    let signature = jit.signature(&[pointer; 6], &[types::I32]);
    jit.define("optc_main", signature, |e| {
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, 8 * widest as u32, 3);
        let slot = e.ins.create_sized_stack_slot(slot);
        let table = e.ins.ins().stack_addr(types::I64, slot, 0);
        let mut entry = Entry { table, descriptors, bases: HashMap::new() };
        for ((step, function), offset) in steps.iter().zip(functions).zip(offsets) {
            entry.call(e, step, function, offset);
            for (address, bytes) in &step.dead {
                entry.poison(e, *address, *bytes);
            }
        }
        let status = e.ins.ins().iconst(types::I32, 0);
        e.ins.ins().return_(&[status]);
    })
}

/// The function of each step; steps of one form share one.
fn functions(jit: &mut Jit, steps: &[Step], kernel: &Signature) -> Vec<Function> {
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
fn descriptors(jit: &mut Jit, steps: &[Step]) -> (Data, Vec<u64>) {
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
    /// Addresses of inputs and outputs, once loaded.
    bases: HashMap<Base, Value>,
}

impl Entry {
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
            Base::Input(index) => self.buffer(e, address.base, 3, index),
            Base::Output(index) => self.buffer(e, address.base, 4, index),
        };
        match address.offset {
            0 => base,
            offset => e.ins.ins().iadd_imm_s(base, offset as i64),
        }
    }

    /// The caller's buffer `index` of the table that is parameter `param`.
    fn buffer(&mut self, e: &mut Emitter<'_>, base: Base, param: usize, index: usize) -> Value {
        *self.bases.entry(base).or_insert_with(|| {
            let buffers = e.param(param);
            e.ins.ins().load(types::I64, PLAIN, buffers, 8 * index as i32)
        })
    }
}
