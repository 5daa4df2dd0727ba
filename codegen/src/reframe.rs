//! How the frame of another size is written without a planned function: classes lowered, slots filled in.
//!
//! [`crate::FramedCode::instance`] reads places from the IR, and lowers each step. Where a function's steps
//! and the homes of its values are the same at all sizes, this does less: each class of steps (see
//! [`crate::classes`]) is lowered once, and each step's record is its class's with its own addresses. The
//! frames are the same words.
//!
//! It serves functions that run straight through, and none of whose steps stops the program.

use std::ops::Range;

use ir::opdef::Access;
use ir::sized::SizedBody;
use ir::target::Bands;
use ir::weights::WeightSet;
use ir::{Body, Context, Diagnostic, Op, Value};
use runtime::{Specialization, SpecializationParts, TensorDesc};

use crate::address::{Address, Base};
use crate::arrangement::access;
use crate::call::{Call, Lowered, Pointer};
use crate::classes::Classes;
use crate::flow::{Exit, pieces};
use crate::frame::{Pair, append, pair_of};
use crate::framed::FramedCode;
use crate::program::describe;
use crate::row::Machine;
use crate::trust;
use crate::weights::{Packing, PackingKey, WeightTable};

/// Where a value is at all sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// In the input of this number.
    Input(usize),
    /// In the output of this number.
    Output(usize),
    /// In the buffer of this number.
    Buffer(usize),
    /// Known before the program runs.
    Weight(Value),
}

/// A step, and where what it has to do with is.
#[derive(Clone, Debug)]
pub struct StepSlots {
    /// What runs.
    pub op: Op,
    /// Its operands.
    pub operands: Vec<Slot>,
    /// Its results.
    pub results: Vec<Slot>,
    /// The buffer of its scratch.
    pub scratch: usize,
    /// The operand that result 0 overwrites, if its kernel must allow that.
    pub asked_tie: Option<usize>,
}

/// What all sizes of a function have in common.
pub struct Reframe {
    classes: Classes,
    steps: Vec<StepSlots>,
    machine: Machine,
    /// Of each class whose kernel must allow that result 0 overwrites an operand, an operation and the
    /// operand.
    asked_ties: Vec<(Op, usize)>,
    inputs: Vec<(TensorDesc, Value)>,
    outputs: Vec<(TensorDesc, Value)>,
}

/// What a step's kernel needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelNeeds {
    /// The scratch that it wishes for, in bytes.
    pub scratch_bytes: u64,
    /// The scratch that it can do with.
    pub least_scratch_bytes: u64,
    /// How it may run in bands.
    pub bands: Option<Bands>,
}

/// A function lowered at some sizes, and the addresses of weights that were asked for before.
#[derive(Default)]
pub struct Reframing {
    lowered: Vec<Lowered>,
    /// What the calls of all classes call, one class behind the other.
    functions: Vec<Function>,
    /// Which is the first of each class.
    firsts: Vec<usize>,
    /// Steps that are lowered otherwise than their class.
    own: Vec<(usize, Lowered)>,
    /// The weights of each step.
    known: Vec<Vec<(Key, u64)>>,
    /// How many classes were lowered, at all sizes so far.
    lowerings: usize,
    /// The words of the frame before.
    words: usize,
}

/// The address of a function, and the descriptor that it takes in place of the call's.
type Function = (u64, Option<Vec<u8>>);

/// What an address of a weight was given for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    Plain(Value),
    Packed(Value, PackingKey),
    Repeated(u32, usize),
}

impl Reframe {
    /// What is common to all sizes of the function of `code` whose steps these are, if that is enough.
    pub fn of(code: &FramedCode, ctx: &Context, body: &Body, steps: Vec<StepSlots>) -> Option<Reframe> {
        let [segment] = &code.segments[..] else { return None };
        let is_plain = pieces(segment).count() == 1 && segment.exit == Exit::Return;
        if !is_plain || !code.faults().is_empty() {
            return None;
        }
        let machine = code.options.cpu.machine(code.options.threads);
        let classes = Classes::of(ctx, body, steps.iter().map(|step| step.op));
        let asked_ties = asked_ties(&classes, &steps);
        let block = body.entry(body.root())?;
        let args = body.args(block).iter().copied();
        let returned = body.operands(body.last_op(block)?);
        let is_overwritten = |slot: Slot| steps.iter().any(|step| step.results.contains(&slot));
        let input = |(index, desc): (usize, &TensorDesc)| TensorDesc {
            overwritten: is_overwritten(Slot::Input(index)),
            ..desc.clone()
        };
        let inputs = code.inputs.iter().enumerate().map(input).zip(args).collect();
        let outputs = code.outputs.iter().cloned().zip(returned).collect();
        Some(Reframe { classes, steps, machine, asked_ties, inputs, outputs })
    }

    /// Makes sure that classes are lowered alike at the sizes that a function has.
    pub fn split(&mut self, sized: &SizedBody) -> Option<()> {
        let ops: Vec<Op> = self.steps.iter().map(|step| step.op).collect();
        self.classes.split(sized.ctx(), sized.body(), &ops, &self.machine).ok()
    }

    /// How many classes of steps there are.
    pub fn class_count(&self) -> usize {
        self.classes.members.len()
    }

    /// How many classes are convolutions of which all that sizes do not decide was read once.
    pub fn prepared_count(&self) -> usize {
        self.classes.prepared_count()
    }

    /// Lowers each class at the sizes that a function has. None if a step has no code there, stops the
    /// program, or may not overwrite what it is tied to.
    pub fn lower(&self, code: &FramedCode, sized: &SizedBody, to: &mut Reframing) -> Option<()> {
        to.own.clear();
        to.lowered.clear();
        self.classes.lower(sized.ctx(), sized.body(), &self.machine, &mut to.lowered).ok()?;
        to.lowerings += to.lowered.len();
        if to.lowered.iter().any(|lowered| lowered.condition.is_some()) {
            return None;
        }
        to.functions.clear();
        to.firsts.clear();
        for lowered in &to.lowered {
            to.firsts.push(to.functions.len());
            for call in &lowered.calls {
                to.functions.push(code.call_of(call)?);
            }
        }
        let access = |op: Op, operand| access(sized.body().at(sized.ctx(), op), operand, self.machine.own);
        self.asked_ties.iter().all(|(op, operand)| access(*op, *operand) != Access::Never).then_some(())
    }

    /// What each step needs, once they are lowered.
    pub fn needs<'a>(&'a self, lowered: &'a Reframing) -> impl Iterator<Item = KernelNeeds> + 'a {
        let threads = self.machine.threads;
        self.classes.of_step.iter().map(move |class| {
            let lowered = &lowered.lowered[*class as usize];
            KernelNeeds {
                scratch_bytes: lowered.scratch_bytes(threads),
                least_scratch_bytes: lowered.least_scratch_bytes(threads),
                bands: lowered.bands,
            }
        })
    }

    /// Lowers a step otherwise than its class: with the attributes that `set` gives it, and so many bytes of
    /// scratch. None if that can't be.
    pub fn lower_own(
        &self,
        step: usize,
        scratch_bytes: u64,
        set: impl FnOnce(&Context, &mut Body),
        sized: &mut SizedBody,
        to: &mut Reframing,
    ) -> Option<()> {
        let (op, machine) = (self.steps[step].op, self.machine);
        let own = |ctx: &Context, body: &Body| self.classes.lower_step(step, body.at(ctx, op), &machine).ok();
        let own = sized.with_attrs(op, set, own)?;
        if own.scratch_bytes(machine.threads) > scratch_bytes {
            return None;
        }
        to.own.push((step, own));
        Some(())
    }

    /// The instance at the sizes that a function has, whose buffers begin at these bytes of an arena. What is
    /// `dead` after a step is poisoned there.
    ///
    /// # Errors
    /// If a weight can't be evaluated, or there is no memory for it.
    pub fn instance(
        &self,
        code: &FramedCode,
        sized: &SizedBody,
        made: &mut Reframing,
        offsets: &dyn Fn(usize) -> u64,
        arena_bytes: usize,
        dead: &[(usize, Range<u64>)],
    ) -> Result<Option<Specialization>, Vec<Diagnostic>> {
        let mut writer = FrameWriter { reframe: self, code, sized, offsets, dead, missing: Vec::new() };
        let mut frame = writer.write(made);
        if !writer.missing.is_empty() {
            let missing = std::mem::take(&mut writer.missing);
            find_weights(code, sized, missing, &mut made.known)?;
            frame = writer.write(made);
        }
        let Some(frame) = frame else { return Ok(None) };
        let describe = |(desc, value): &(TensorDesc, Value)| {
            let at = describe(sized.ctx(), desc.name.clone(), sized.body().ty(*value))?;
            Some(TensorDesc { overwritten: desc.overwritten, ..at })
        };
        let inputs: Option<Vec<TensorDesc>> = self.inputs.iter().map(describe).collect();
        let outputs: Option<Vec<TensorDesc>> = self.outputs.iter().map(describe).collect();
        Ok(inputs.zip(outputs).map(|(inputs, outputs)| {
            trust::specialization(SpecializationParts {
                frame,
                arena_bytes,
                inputs,
                outputs,
                weights: code.weights.clone(),
            })
        }))
    }
}

impl Reframing {
    /// How many classes were lowered so far, at all sizes.
    pub fn lowerings(&self) -> usize {
        self.lowerings
    }
}

/// What must be in memory before a frame can be written: for a step, as what, and how it is packed.
struct Missing {
    step: usize,
    key: Key,
    packing: Option<Packing>,
}

/// Writes the words of a frame.
struct FrameWriter<'a> {
    reframe: &'a Reframe,
    code: &'a FramedCode,
    sized: &'a SizedBody,
    offsets: &'a dyn Fn(usize) -> u64,
    /// Bytes of the arena that are poisoned after a step.
    dead: &'a [(usize, Range<u64>)],
    missing: Vec<Missing>,
}

impl FrameWriter<'_> {
    /// The frame, with zeros for the addresses of weights that are missing. None if a call has more operands
    /// than the code has room for, or no code.
    fn write(&mut self, made: &mut Reframing) -> Option<Vec<i64>> {
        let Reframing { lowered, functions, firsts, own, known, words: before, .. } = made;
        known.resize_with(self.reframe.steps.len(), Vec::new);
        // Most sizes take as many words as the one before.
        let mut words = Vec::with_capacity(*before);
        words.extend([16, 0]);
        for (number, class) in self.reframe.classes.of_step.iter().enumerate() {
            let class = *class as usize;
            let limited = own.iter().find(|own| own.0 == number);
            let lowered = limited.map_or(&lowered[class], |limited| &limited.1);
            for (index, call) in lowered.calls.iter().enumerate().filter(|(_, call)| call.parts > 0) {
                let own = if limited.is_some() { Some(self.code.call_of(call)?) } else { None };
                let function = own.as_ref().unwrap_or_else(|| &functions[firsts[class] + index]);
                let known = &known[number];
                self.record(&mut words, number, lowered.shared_bytes, call, known, function)?;
            }
            for (_, bytes) in self.dead.iter().filter(|dead| dead.0 == number) {
                let count = bytes.end - bytes.start;
                let operands = [self.arena(bytes.start)].into_iter();
                append(&mut words, self.code.poison, 1, operands, None, &count.to_le_bytes());
            }
        }
        words[1] = 8 * words.len() as i64;
        *before = words.len();
        Some(words)
    }

    fn record(
        &mut self,
        words: &mut Vec<i64>,
        step: usize,
        shared: u64,
        call: &Call,
        known: &[(Key, u64)],
        (function, wide): &Function,
    ) -> Option<()> {
        if call.operands.len() > self.code.buffers.widest {
            return None;
        }
        let start = (self.offsets)(self.reframe.steps[step].scratch);
        let scratch = (call.scratch_bytes > 0).then(|| (self.arena(start + shared), call.scratch_bytes));
        let descriptor = wide.as_deref().unwrap_or(&call.descriptor);
        let operands = call.operands.iter().map(|pointer| self.pointer(step, pointer, known));
        append(words, *function, call.parts, operands, scratch, descriptor);
        Some(())
    }

    fn arena(&self, offset: u64) -> Pair {
        pair_of(self.code.buffers, Address { base: Base::Arena, offset })
    }

    fn pointer(&mut self, step: usize, pointer: &Pointer, known: &[(Key, u64)]) -> Pair {
        let slots = &self.reframe.steps[step];
        let body = self.sized.body();
        match pointer {
            Pointer::Result(index, offset) => {
                let first = self.first_byte(body.result(slots.op, *index));
                self.slot(step, slots.results[*index], first + offset, known)
            }
            Pointer::Operand(index, offset) => {
                let slot = slots.operands[*index];
                let first = match slot {
                    Slot::Weight(_) => 0,
                    _ => self.first_byte(body.operand(slots.op, *index)),
                };
                self.slot(step, slot, first + offset, known)
            }
            Pointer::Packed(index, packing) => match slots.operands[*index] {
                Slot::Weight(value) => {
                    self.weight(step, Key::Packed(value, packing.key()), Some(packing), known)
                }
                other => {
                    let first = self.first_byte(body.operand(slots.op, *index));
                    self.slot(step, other, first, known)
                }
            },
            Pointer::Repeated(number, count) => {
                self.weight(step, Key::Repeated(number.to_bits(), *count), None, known)
            }
            Pointer::Shared(offset) => self.arena((self.offsets)(slots.scratch) + offset),
            Pointer::Absent => [0, 0],
        }
    }

    /// Where in its storage a value begins.
    fn first_byte(&self, value: Value) -> u64 {
        self.sized.first_byte(value).expect("the structure of a plan has known windows")
    }

    fn slot(&mut self, step: usize, slot: Slot, offset: u64, known: &[(Key, u64)]) -> Pair {
        let buffers = self.code.buffers;
        match slot {
            Slot::Input(index) => pair_of(buffers, Address { base: Base::Input(index), offset }),
            Slot::Output(index) => pair_of(buffers, Address { base: Base::Output(index), offset }),
            Slot::Buffer(index) => self.arena((self.offsets)(index) + offset),
            Slot::Weight(value) => {
                let [base, address] = self.weight(step, Key::Plain(value), None, known);
                [base, address + offset as i64]
            }
        }
    }

    fn weight(&mut self, step: usize, key: Key, packing: Option<&Packing>, known: &[(Key, u64)]) -> Pair {
        match known.iter().find(|known| known.0 == key) {
            Some((_, address)) => [0, *address as i64],
            None => {
                self.missing.push(Missing { step, key, packing: packing.cloned() });
                [0, 0]
            }
        }
    }
}

/// Equal steps have equal ties, so one of each class is asked for.
fn asked_ties(classes: &Classes, steps: &[StepSlots]) -> Vec<(Op, usize)> {
    let tie_of = |op: &Op| Some((*op, steps.iter().find(|step| step.op == *op)?.asked_tie?));
    classes.members.iter().filter_map(tie_of).collect()
}

/// Gets weights into memory, and notes where they are.
fn find_weights(
    code: &FramedCode,
    sized: &SizedBody,
    missing: Vec<Missing>,
    known: &mut [Vec<(Key, u64)>],
) -> Result<(), Vec<Diagnostic>> {
    let (ctx, body) = (sized.ctx(), sized.body());
    let mut table = WeightTable::default();
    let offsets: Vec<u64> = missing
        .iter()
        .map(|Missing { key, packing, .. }| {
            let address = match (*key, packing) {
                (Key::Packed(value, _), Some(packing)) => table.packed(value, packing),
                (Key::Plain(value) | Key::Packed(value, _), _) => {
                    let bytes = ir::size::tensor_bytes(ctx, body.ty(value));
                    table.plain(value, bytes.expect("weights are of known sizes"))
                }
                (Key::Repeated(bits, count), _) => table.repeated(f32::from_bits(bits), count),
            };
            address.offset
        })
        .collect();
    let addresses = code.weights.addresses(ctx, body, &WeightSet::of(ctx, body), &table)?;
    for (Missing { step, key, .. }, offset) in missing.into_iter().zip(offsets) {
        let (piece, within) = table.find(offset);
        known[step].push((key, addresses[piece] + within));
    }
    Ok(())
}

impl FramedCode {
    fn call_of(&self, call: &Call) -> Option<(u64, Option<Vec<u8>>)> {
        self.forms.function(&call.code, &call.descriptor)
    }
}
