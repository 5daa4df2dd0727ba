//! What a frame holds, and the code that runs a program from it.
//!
//! A frame is all of a program that sizes decide, as words: which functions are called with which
//! descriptors, parts, operands and scratch, and where branches and loops read. The code is only the ways
//! between segments and one loop over calls, so it is the same for every size.
//!
//! ```text
//! sites    two words each, in the order of the code: a run of calls [first, end], or an address [base, offset]
//! records  one for each call: 8 words, then [base, offset] for each operand, then the descriptor
//! ```
//! `first` and `end` are bytes from the frame's start. A `base` is the place, in bytes, of a pointer in a
//! table that the entry makes: zero, the arena, the inputs, the outputs; weights and null are addresses on
//! zero. All of a record is read once and in order.

use crate::address::{Address, Base};
use crate::cranelift::{Emitter, Function, InstBuilder, IntCC, Jit, PLAIN, Signature, Value, types};
use crate::entry::{self, Source, parallel, table};
use crate::flow::{Instr, Segment};
use crate::flow::{Step, pieces};

/// What a record begins with; bytes from its start.
struct Record;

impl Record {
    const FUNCTION: i32 = 0;
    const PARTS: i32 = 8;
    const SCRATCH: i32 = 16;
    const STRIDE: i32 = 32;
    const OPERANDS: i32 = 40;
    /// Where the descriptor is, in bytes from the record's start.
    const DESCRIPTOR: i32 = 48;
    /// The record's own bytes.
    const SIZE: i32 = 56;
    /// Where the operands begin.
    const TABLE: i32 = 64;
}

/// Bytes of a site, and of an operand.
const PAIR: i32 = 16;

/// How many pointers there are of each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Buffers {
    /// Inputs of the program.
    pub(crate) inputs: usize,
    /// Outputs of the program.
    pub(crate) outputs: usize,
    /// The most operands of a call.
    pub(crate) widest: usize,
}

/// A call as a frame tells it.
pub(crate) struct FrameCall<'s> {
    /// What is called, where, with which parts.
    pub(crate) step: &'s Step,
    /// The address of the function.
    pub(crate) function: u64,
    /// The descriptor, if it is not the step's.
    pub(crate) descriptor: Option<Vec<u8>>,
}

/// Writes the frame of the segments.
pub(crate) struct Writer<'w> {
    /// How many pointers there are.
    pub(crate) buffers: Buffers,
    /// Where a weight is in memory.
    pub(crate) weight: &'w dyn Fn(u64) -> u64,
    /// The address of the function that poisons its operand.
    pub(crate) poison: u64,
}

impl Writer<'_> {
    /// All words; `calls` are those of all segments in order.
    pub(crate) fn write<'s>(
        &self,
        segments: &[Segment],
        calls: impl Iterator<Item = FrameCall<'s>>,
    ) -> Vec<i64> {
        let sites: usize = segments.iter().map(count_sites).sum();
        let mut words = vec![0; 2 * sites];
        let (mut site, mut calls) = (0, calls);
        for (run, instr) in segments.iter().flat_map(pieces) {
            let first = 8 * words.len() as i64;
            for call in calls.by_ref().take(run.len()) {
                self.record(&mut words, &call);
            }
            let end = 8 * words.len() as i64;
            words[site..site + 2].copy_from_slice(&[first, end]);
            site += 2;
            if let Some(address) = instr.and_then(site_of) {
                words[site..site + 2].copy_from_slice(&self.pair(Some(address)));
                site += 2;
            }
        }
        words
    }

    /// Appends the record of a call, and those that poison what is dead behind it.
    fn record(&self, words: &mut Vec<i64>, call: &FrameCall<'_>) {
        let Step { operands, scratch, parts, .. } = call.step;
        let descriptor = call.descriptor.as_deref().unwrap_or(&call.step.descriptor);
        self.append(words, call.function, *parts, operands, *scratch, descriptor);
        for (address, bytes) in &call.step.dead {
            self.append(words, self.poison, 1, &[Some(*address)], None, &bytes.to_le_bytes());
        }
    }

    fn append(
        &self,
        words: &mut Vec<i64>,
        function: u64,
        parts: u32,
        operands: &[Option<Address>],
        scratch: Option<(Address, u64)>,
        descriptor: &[u8],
    ) {
        let scratch = scratch.map(|(address, bytes)| (self.pair(Some(address)), bytes));
        let operands = operands.iter().map(|operand| self.pair(*operand));
        append(words, function, parts, operands, scratch, descriptor);
    }

    /// The base and offset of an address; null is zero on zero.
    fn pair(&self, address: Option<Address>) -> Pair {
        match address {
            None => [0, 0],
            Some(Address { base: Base::Weights, offset }) => [0, (self.weight)(offset) as i64],
            Some(address) => pair_of(self.buffers, address),
        }
    }
}

/// A base, and an offset from it.
pub(crate) type Pair = [i64; 2];

/// Appends a record; `scratch` is where it begins, and the bytes of each worker.
pub(crate) fn append(
    words: &mut Vec<i64>,
    function: u64,
    parts: u32,
    operands: impl ExactSizeIterator<Item = Pair>,
    scratch: Option<(Pair, u64)>,
    descriptor: &[u8],
) {
    let ([base, offset], stride) = scratch.unwrap_or(([0, 0], 0));
    let header = Record::TABLE as usize + PAIR as usize * operands.len();
    let size = header + descriptor.len().next_multiple_of(8);
    words.extend([function as i64, i64::from(parts), base, offset, stride as i64]);
    words.extend([operands.len(), header, size].map(|count| count as i64));
    operands.for_each(|pair| words.extend(pair));
    let (whole, rest) = descriptor.as_chunks::<8>();
    words.extend(whole.iter().map(|word| i64::from_le_bytes(*word)));
    if !rest.is_empty() {
        let mut word = [0; 8];
        word[..rest.len()].copy_from_slice(rest);
        words.push(i64::from_le_bytes(word));
    }
}

/// The base and offset of an address that is no weight's.
pub(crate) fn pair_of(buffers: Buffers, Address { base, offset }: Address) -> Pair {
    let pointer = |index: usize| 8 * (2 + index) as i64;
    match base {
        Base::Weights => unreachable!("where weights are, no frame decides"),
        Base::Arena => [8, offset as i64],
        Base::Input(index) => [pointer(index), offset as i64],
        Base::Output(index) => [pointer(buffers.inputs + index), offset as i64],
    }
}

/// What an instruction that is no call reads or writes.
fn site_of(instr: &Instr) -> Option<Address> {
    match instr {
        Instr::Read(_, address, _) | Instr::Write(_, address, _) | Instr::Assert(address, _) => {
            Some(*address)
        }
        Instr::Call(_) | Instr::Add(..) => None,
    }
}

fn count_sites(segment: &Segment) -> usize {
    pieces(segment).map(|(_, instr)| 1 + usize::from(instr.and_then(site_of).is_some())).sum()
}

/// Whether two programs differ in what frames say only: the same code runs both.
pub(crate) fn is_same_code(a: &[Segment], b: &[Segment]) -> bool {
    let rest = |instr: &Instr| match instr {
        Instr::Read(slot, _, elem) => Some((0, slot.0, Some(*elem), 0)),
        Instr::Write(slot, _, elem) => Some((1, slot.0, Some(*elem), 0)),
        Instr::Add(slot, step) => Some((2, slot.0, None, step.0)),
        Instr::Assert(_, status) => Some((3, *status, None, 0)),
        Instr::Call(_) => None,
    };
    let is_same = |a: &Segment, b: &Segment| {
        a.exit == b.exit && a.instrs.iter().filter_map(rest).eq(b.instrs.iter().filter_map(rest))
    };
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
}

/// Emits the entry, which runs any frame of programs with the segments' code.
pub(crate) fn emit(jit: &mut Jit, segments: &[Segment], buffers: Buffers) -> Function {
    let pointer = jit.pointer();
    let kernel = jit.signature(&[pointer, pointer, types::I32, pointer], &[]);
    let run = emit_run(jit, kernel);
    entry::emit(jit, segments, &mut Framed { buffers, run, bases: None, site: 0 })
}

/// Emits the function with a kernel's interface that poisons its operand; the descriptor says how many bytes.
pub(crate) fn emit_poison(jit: &mut Jit) -> Function {
    let pointer = jit.pointer();
    let kernel = jit.signature(&[pointer, pointer, types::I32, pointer], &[]);
    jit.define("optc_poison_step", kernel, |e| {
        let [descriptor, operands] = [e.param(0), e.param(1)];
        let bytes = load(e, descriptor, 0);
        let address = load(e, operands, 0);
        let poison = e.import("optc_poison", &[types::I64, types::I64], &[]);
        e.ins.ins().call(poison, &[address, bytes]);
        e.ins.ins().return_(&[]);
    })
}

/// Emits `(context, bases, table, first, end)`, which runs the calls of the records from `first` to `end`.
fn emit_run(jit: &mut Jit, kernel: Signature) -> Function {
    let pointer = jit.pointer();
    let signature = jit.signature(&[pointer; 5], &[]);
    jit.define("optc_run", signature, |e| {
        let kernel = e.ins.import_signature(kernel);
        let (header, inside, exit) = (e.ins.create_block(), e.ins.create_block(), e.ins.create_block());
        let record = e.ins.append_block_param(header, types::I64);
        let (first, end) = (e.param(3), e.param(4));
        e.ins.ins().jump(header, &[first.into()]);
        e.ins.switch_to_block(header);
        let goes_on = e.ins.ins().icmp(IntCC::UnsignedLessThan, record, end);
        e.ins.ins().brif(goes_on, inside, &[], exit, &[]);
        e.ins.switch_to_block(inside);
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
        e.ins.ins().return_(&[]);
    })
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

/// The address that the pair at `offset` says.
fn address(e: &mut Emitter<'_>, bases: Value, from: Value, offset: i32) -> Value {
    let base = load(e, from, offset);
    let base = e.ins.ins().iadd(bases, base);
    let base = load(e, base, 0);
    let offset = load(e, from, offset + 8);
    e.ins.ins().iadd(base, offset)
}

/// All that sizes decide is read from the frame.
struct Framed {
    buffers: Buffers,
    /// The function that runs calls.
    run: Function,
    /// The table of bases and that of operands.
    bases: Option<[Value; 2]>,
    /// The site of what is emitted next.
    site: i32,
}

impl Framed {
    fn next_site(&mut self) -> i32 {
        self.site += 1;
        PAIR * (self.site - 1)
    }
}

impl Source for Framed {
    fn begin(&mut self, e: &mut Emitter<'_>) {
        let Buffers { inputs, outputs, widest } = self.buffers;
        let bases = table(e, 2 + inputs + outputs);
        let (zero, arena) = (e.int(0), e.param(1));
        e.ins.ins().store(PLAIN, zero, bases, 0);
        e.ins.ins().store(PLAIN, arena, bases, 8);
        for (param, count, first) in [(3, inputs, 2), (4, outputs, 2 + inputs)] {
            let buffers = e.param(param);
            for index in 0..count {
                let buffer = load(e, buffers, 8 * index as i32);
                e.ins.ins().store(PLAIN, buffer, bases, 8 * (first + index) as i32);
            }
        }
        self.bases = Some([bases, table(e, widest)]);
    }

    fn calls(&mut self, e: &mut Emitter<'_>, _: &[Instr]) {
        let (site, frame, context) = (self.next_site(), e.param(5), e.param(0));
        let [first, end] = [site, site + 8].map(|at| {
            let offset = load(e, frame, at);
            e.ins.ins().iadd(frame, offset)
        });
        let [bases, operands] = self.bases.expect("the entry has begun");
        let run = e.callee(self.run);
        e.ins.ins().call(run, &[context, bases, operands, first, end]);
    }

    fn address(&mut self, e: &mut Emitter<'_>, _: Address) -> Value {
        let (site, frame) = (self.next_site(), e.param(5));
        let [bases, _] = self.bases.expect("the entry has begun");
        address(e, bases, frame, site)
    }
}
