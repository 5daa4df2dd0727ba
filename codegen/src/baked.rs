//! How calls are emitted for one size: addresses computed from the plan, sizes in descriptors, all of it in
//! the code.
//!
//! ```text
//! for each call: operands -> table on the stack; optc_parallel(ctx, function, descriptor, table, parts, scratch, stride)
//! ```
//! A call of a single part goes straight to the function. Kernels and descriptors are symbols, never embedded
//! addresses.

use std::collections::{BTreeMap, HashMap};

use crate::address::{Address, Base};
use crate::call::Code;
use crate::cranelift::{Data, Emitter, Function, InstBuilder, Jit, PLAIN, Signature, Value, types};
use crate::entry::{self, Source, table};
use crate::flow::{Instr, Segment};
use crate::flow::{Step, calls};
use crate::fold;
use crate::pointwise::{self, stages::Form};

/// Emits all functions that the segments need and the entry that runs them.
pub(crate) fn emit(jit: &mut Jit, segments: &[Segment]) -> Function {
    let steps: Vec<&Step> = calls(segments).collect();
    let pointer = jit.pointer();
    let kernel = jit.signature(&[pointer, pointer, types::I32, pointer], &[]);
    let functions = functions(jit, &steps, &kernel);
    let (descriptors, offsets) = descriptors(jit, &steps);
    let widest = steps.iter().map(|step| step.operands.len()).max().unwrap_or(0);
    let calls = functions.into_iter().zip(offsets).collect::<Vec<_>>().into_iter();
    entry::emit(jit, segments, &mut Baked { table: None, widest, descriptors, calls })
}

/// The function of each step; steps of one form share one.
fn functions(jit: &mut Jit, steps: &[&Step], kernel: &Signature) -> Vec<Function> {
    let mut forms: HashMap<&Form, Function> = HashMap::new();
    let mut reductions: Vec<(fold::Form, Function)> = Vec::new();
    let mut functions = Vec::new();
    for step in steps {
        functions.push(match &step.code {
            Code::Kernel { name, isa, .. } => jit.import(&Code::symbol(name, *isa), kernel),
            Code::Pointwise { form, .. } => {
                let name = format!("optc_pointwise_{}", forms.len());
                *forms.entry(form).or_insert_with(|| pointwise::emit::emit(jit, &name, form))
            }
            Code::Reduce { form, .. } => match reductions.iter().find(|known| known.0 == *form) {
                Some((_, function)) => *function,
                None => {
                    let function = fold::emit(jit, &format!("optc_reduce_{}", reductions.len()), *form);
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

/// Everything is known while the entry is emitted.
struct Baked {
    /// The table of operands.
    table: Option<Value>,
    /// The most operands of a call.
    widest: usize,
    descriptors: Data,
    /// The function and descriptor of each call that is still to be emitted.
    calls: std::vec::IntoIter<(Function, u64)>,
}

impl Source for Baked {
    fn begin(&mut self, e: &mut Emitter<'_>) {
        self.table = Some(table(e, self.widest));
    }

    fn calls(&mut self, e: &mut Emitter<'_>, calls: &[Instr]) {
        for instr in calls {
            let Instr::Call(step) = instr else { unreachable!("only calls are calls") };
            let (function, offset) = self.calls.next().expect("each call has a function");
            self.call(e, step, function, offset);
            for (address, bytes) in &step.dead {
                self.poison(e, *address, *bytes);
            }
        }
    }

    fn address(&mut self, e: &mut Emitter<'_>, address: Address) -> Value {
        let base = match address.base {
            Base::Arena => e.param(1),
            Base::Weights => e.param(2),
            Base::Input(index) => buffer(e, 3, index),
            Base::Output(index) => buffer(e, 4, index),
        };
        match address.offset {
            0 => base,
            offset => e.ins.ins().iadd_imm_s(base, offset as i64),
        }
    }
}

impl Baked {
    fn call(&mut self, e: &mut Emitter<'_>, step: &Step, function: Function, offset: u64) {
        let table = self.table.expect("the entry has begun");
        for (index, operand) in step.operands.iter().enumerate() {
            let address = match operand {
                Some(address) => self.address(e, *address),
                None => e.int(0),
            };
            e.ins.ins().store(PLAIN, address, table, 8 * index as i32);
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
            e.ins.ins().call(callee, &[descriptor, table, part, scratch]);
            return;
        }
        let function = e.ins.ins().func_addr(types::I64, callee);
        let parts = e.ins.ins().iconst(types::I32, i64::from(step.parts));
        let stride = e.int(stride as i64);
        let parallel = entry::parallel(e);
        let context = e.param(0);
        let args = [context, function, descriptor, table, parts, scratch, stride];
        e.ins.ins().call(parallel, &args);
    }

    fn poison(&mut self, e: &mut Emitter<'_>, address: Address, bytes: u64) {
        let poison = e.import("optc_poison", &[types::I64, types::I64], &[]);
        let address = self.address(e, address);
        let bytes = e.int(bytes as i64);
        e.ins.ins().call(poison, &[address, bytes]);
    }
}

/// The caller's buffer `index` of the table that is parameter `param`.
fn buffer(e: &mut Emitter<'_>, param: usize, index: usize) -> Value {
    let buffers = e.param(param);
    e.ins.ins().load(types::I64, PLAIN, buffers, 8 * index as i32)
}
