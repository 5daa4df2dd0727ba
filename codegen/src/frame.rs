//! The format of a frame, and its writer.
//!
//! A frame is the part of a program that depends on sizes, as words: the functions of all calls with their
//! descriptors, parts, operands and scratch, and the addresses read by branches and loops. The code (see
//! [`crate::entry`]) has only the control flow and one loop over calls, so it is the same for every size.
//!
//! ```text
//! sites    two words each, in the order of the code:
//!          a range of calls [first, end], or an address [base, offset]
//! records  one for each call: 8 words, then [base, offset] for each operand, then the descriptor
//! ```
//! `first` and `end` are byte offsets from the frame's start. A `base` is the byte offset of a pointer in a
//! table made by the entry: zero, the arena, the weights, the inputs, the outputs. Null is base zero with
//! offset zero. Weights are addresses with base zero in a process, and offsets from the weights in an object
//! file. A record is read completely, once and in order.

use cranelift_entity::EntityRef;
use ir::body::OpRef;
use ir::flow::{Move, Transfer, transfers};
use ir::size::tensor_bytes;
use ir::{Body, Context, Diagnostic, Location, Op, Value};

use crate::address::{Address, Base};
use crate::call::{KernelCode, Lowered, LoweredCall, Pointer};
use crate::flow::{CallRange, CodeBlock, Instr, pieces};
use crate::place::Place;
use crate::row::Machine;
use crate::weights::{AddressKey, KnownWeights, Missing, WeightPacking};

/// The header of a record: byte offsets from its start.
pub(crate) struct Record;

impl Record {
    pub(crate) const FUNCTION: i32 = 0;
    pub(crate) const PARTS: i32 = 8;
    pub(crate) const SCRATCH: i32 = 16;
    pub(crate) const STRIDE: i32 = 32;
    pub(crate) const OPERANDS: i32 = 40;
    /// The offset of the descriptor from the record's start.
    pub(crate) const DESCRIPTOR: i32 = 48;
    /// The size of the record.
    pub(crate) const SIZE: i32 = 56;
    /// The start of the operands.
    pub(crate) const TABLE: i32 = 64;
}

/// Bytes of a site, and of an operand.
pub(crate) const PAIR: i32 = 16;

/// The base of the weights passed to the entry.
pub(crate) const WEIGHTS_BASE: i64 = 16;

/// The number of base pointers before those of inputs.
pub(crate) const BASES_BEFORE_INPUTS: usize = 3;

/// The number of pointers of each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PointerCounts {
    /// Inputs of the program.
    pub(crate) inputs: usize,
    /// Outputs of the program.
    pub(crate) outputs: usize,
    /// The most operands of a call.
    pub(crate) widest: usize,
}

/// The function of a call, and a descriptor that replaces the call's own.
pub(crate) type Callee = (u64, Option<Vec<u8>>);

/// A function at known sizes, with an address for each value and the lowering of each operation that runs.
pub(crate) trait PlacedFunction {
    /// Its context.
    fn ctx(&self) -> &Context;
    /// Its body, at these sizes.
    fn body(&self) -> &Body;
    /// The address of a value; none for weights.
    fn address(&self, value: Value) -> Option<Address>;
    /// The place of an operation's scratch.
    fn scratch(&self, op: Op) -> Option<Place>;
    /// The lowering of an operation that runs, and the functions that its calls call.
    fn lowered(&self, op: Op) -> (&Lowered, &[Callee]);
    /// The memory that is dead after an operation and must be poisoned: addresses and sizes in bytes.
    fn dead(&self, op: Op) -> &[(Address, u64)];
}

/// Functions called between steps: numbers of functions, or addresses.
#[derive(Clone, Copy)]
pub(crate) struct DebugCalls<F> {
    /// Poisons its operand.
    pub(crate) poison: F,
    /// Reports a step as done, if steps are timed.
    pub(crate) stamp: Option<F>,
}

impl<F> DebugCalls<F> {
    pub(crate) fn map<G>(self, to: impl Fn(F) -> G) -> DebugCalls<G> {
        DebugCalls { poison: to(self.poison), stamp: self.stamp.map(to) }
    }
}

/// Writes the frame of a function.
pub(crate) struct FrameWriter<'w, P> {
    placed: &'w P,
    buffers: PointerCounts,
    machine: Machine,
    /// The addresses of these functions.
    debug: DebugCalls<u64>,
    known: &'w KnownWeights,
    words: Vec<i64>,
    missing: Vec<Missing>,
    faults: Vec<Diagnostic>,
}

/// The words of a frame, with zeros for the addresses of weights that are missing.
pub(crate) struct FrameWords {
    pub(crate) words: Vec<i64>,
    pub(crate) missing: Vec<Missing>,
}

/// A base, and an offset from it.
type Pair = [i64; 2];

impl<'w, P: PlacedFunction> FrameWriter<'w, P> {
    /// A writer of frames for code with these pointers, with room for `expected_words`.
    pub(crate) fn new(
        placed: &'w P,
        buffers: PointerCounts,
        machine: Machine,
        debug: DebugCalls<u64>,
        known: &'w KnownWeights,
        expected_words: usize,
    ) -> Self {
        let words = Vec::with_capacity(expected_words);
        FrameWriter { placed, buffers, machine, debug, known, words, missing: Vec::new(), faults: Vec::new() }
    }

    /// All words.
    ///
    /// # Errors
    /// For each operation that passes values on with too little scratch, and each call with too many operands
    /// for the code.
    pub(crate) fn write(mut self, segments: &[CodeBlock]) -> Result<FrameWords, Vec<Diagnostic>> {
        let sites: usize = segments.iter().map(count_sites).sum();
        self.words.resize(2 * sites, 0);
        let mut site = 0;
        for (run, instr) in segments.iter().flat_map(pieces) {
            let first = 8 * self.words.len() as i64;
            run.iter().for_each(|instr| self.calls(instr));
            let end = 8 * self.words.len() as i64;
            self.words[site..site + 2].copy_from_slice(&[first, end]);
            site += 2;
            if let Some(instr) = instr.filter(|instr| has_site(instr)) {
                let pair = self.site(instr, site + 1);
                self.words[site..site + 2].copy_from_slice(&pair);
                site += 2;
            }
        }
        let FrameWriter { words, missing, faults, .. } = self;
        if faults.is_empty() { Ok(FrameWords { words, missing }) } else { Err(faults) }
    }

    /// Appends the records of an instruction that consists of calls.
    fn calls(&mut self, instr: &Instr) {
        match instr {
            Instr::Run(op, calls) => self.run(*op, *calls),
            Instr::Move(op, moves) => self.moves(*op, moves),
            _ => unreachable!("all others stand between calls"),
        }
    }

    fn run(&mut self, op: Op, which: CallRange) {
        let placed = self.placed;
        let (lowered, callees) = placed.lowered(op);
        let count = lowered.calls.len();
        let range = match which {
            CallRange::All => 0..count,
            CallRange::First => 0..count.min(1),
            CallRange::Rest => count.min(1)..count,
        };
        for (call, callee) in lowered.calls[range.clone()].iter().zip(&callees[range]) {
            if call.parts > 0 {
                self.call(op, lowered.shared_bytes, call, callee);
            }
        }
        if which != CallRange::First {
            for (address, bytes) in placed.dead(op) {
                let pair = self.pair(*address);
                self.begin(self.debug.poison, 1, None, 1, 8);
                self.words.extend(pair);
                self.words.push(*bytes as i64);
            }
            if let Some(stamp) = self.debug.stamp {
                self.begin(stamp, 1, None, 0, 8);
                self.words.push(op.index() as i64);
            }
        }
    }

    /// Appends the record of a call; the first `shared` bytes of scratch belong to all calls of the
    /// operation.
    fn call(&mut self, op: Op, shared: u64, call: &LoweredCall, (function, wide): &Callee) {
        if call.operands.len() > self.buffers.widest {
            self.faults.push(self.too_wide(op, call.operands.len()));
            return;
        }
        let scratch = self.placed.scratch(op).filter(|_| call.scratch_bytes > 0);
        let scratch = scratch.map(|place| (place.address.plus(shared), call.scratch_bytes));
        let descriptor = wide.as_deref().unwrap_or(&call.descriptor);
        self.begin(*function, call.parts, scratch, call.operands.len(), descriptor.len());
        for pointer in &call.operands {
            let word = self.words.len() + 1;
            let pair = self.pointer(op, pointer, word);
            self.words.extend(pair);
        }
        self.descriptor(descriptor);
    }

    fn too_wide(&self, op: Op, count: usize) -> Diagnostic {
        let body = self.placed.body();
        let message = format!(
            "`{}` has a call of {count} operands, and the code has room for {}",
            body.at(self.placed.ctx(), op).name(),
            self.buffers.widest
        );
        Diagnostic::error(body.location(op), message)
    }

    /// Appends the header of a record; `scratch` is its address, and the bytes of each worker.
    fn begin(
        &mut self,
        function: u64,
        parts: u32,
        scratch: Option<(Address, u64)>,
        operands: usize,
        descriptor_bytes: usize,
    ) {
        let ([base, offset], stride) =
            scratch.map_or(([0, 0], 0), |(address, stride)| (self.pair(address), stride));
        let header = Record::TABLE as usize + PAIR as usize * operands;
        let size = header + descriptor_bytes.next_multiple_of(8);
        self.words.extend([function as i64, i64::from(parts), base, offset, stride as i64]);
        self.words.extend([operands, header, size].map(|count| count as i64));
    }

    fn descriptor(&mut self, descriptor: &[u8]) {
        let (whole, rest) = descriptor.as_chunks::<8>();
        self.words.extend(whole.iter().map(|word| i64::from_le_bytes(*word)));
        if !rest.is_empty() {
            let mut word = [0; 8];
            word[..rest.len()].copy_from_slice(rest);
            self.words.push(i64::from_le_bytes(word));
        }
    }

    /// Appends the copies of values that are passed on, unless source and target are the same.
    fn moves(&mut self, op: Op, moves: &[Move]) {
        let (ctx, body) = (self.placed.ctx(), self.placed.body());
        let sizes: Vec<u64> =
            moves.iter().map(|pair| tensor_bytes(ctx, body.ty(pair.to)).unwrap_or(0)).collect();
        let places: Vec<[Option<Address>; 2]> =
            moves.iter().map(|pair| [pair.from, pair.to].map(|value| self.placed.address(value))).collect();
        let clobbers = |a: usize, b: usize| {
            let (Some(to), Some(from)) = (places[a][1], places[b][0]) else { return false };
            to.base == from.base && to.offset < from.offset + sizes[b] && from.offset < to.offset + sizes[a]
        };
        let (copies, needed) = transfers(&sizes, |index| places[index][0] == places[index][1], clobbers);
        let scratch = self.placed.scratch(op);
        if scratch.map_or(0, |scratch| scratch.bytes) < needed {
            let name = body.at(ctx, op).name();
            let message = format!("`{name}` has less scratch than its copies need, {needed} bytes");
            self.faults.push(Diagnostic::error(body.location(op), message));
            return;
        }
        let saved = |offset: u64| CopyEnd::At(scratch.expect("scratch is large enough").address.plus(offset));
        let from = |index: usize| places[index][0].map_or(CopyEnd::Weight(moves[index].from), CopyEnd::At);
        let to = |index: usize| CopyEnd::At(places[index][1].expect("what gets a value is no weight"));
        for copy in copies {
            let (from, to, index) = match copy {
                Transfer::Direct(index) => (from(index), to(index), index),
                Transfer::Save(index, offset) => (from(index), saved(offset), index),
                Transfer::Restore(index, offset) => (saved(offset), to(index), index),
            };
            if sizes[index] > 0 {
                self.copy(from, to, sizes[index]);
            }
        }
    }

    /// Appends a copy of `bytes` bytes.
    fn copy(&mut self, from: CopyEnd, to: CopyEnd, bytes: u64) {
        let elem = if bytes.is_multiple_of(4) { 4 } else { 1 };
        let sizes = [(bytes / elem) as usize];
        let Machine { isa, threads, .. } = self.machine;
        let kernel = kernels::Copy::new(&sizes, &[1], &[1], elem as usize, isa, threads);
        let call = LoweredCall::kernel(&kernel, Vec::new());
        let KernelCode::Kernel(entry) = call.code else { unreachable!("a copy is a kernel") };
        self.begin(entry as usize as u64, call.parts, None, 2, call.descriptor.len());
        for spot in [to, from] {
            let word = self.words.len() + 1;
            let pair = match spot {
                CopyEnd::At(address) => self.pair(address),
                CopyEnd::Weight(value) => self.weight(None, AddressKey::Plain(value), None, word),
            };
            self.words.extend(pair);
        }
        self.descriptor(&call.descriptor);
    }

    /// The pair at the site of an instruction; `word` is the index of its offset.
    fn site(&mut self, instr: &Instr, word: usize) -> Pair {
        match instr {
            Instr::Read(_, value, _) | Instr::Write(_, value, _) => match self.placed.address(*value) {
                Some(address) => self.pair(address),
                None => self.weight(None, AddressKey::Plain(*value), None, word),
            },
            Instr::Assert(op, _) => {
                let placed = self.placed;
                match &placed.lowered(*op).0.condition {
                    Some(condition) => self.pointer(*op, &condition.truth, word),
                    None => {
                        let name = placed.body().at(placed.ctx(), *op).name();
                        let message =
                            format!("`{name}` has no condition at these sizes, and the code asks for it");
                        self.faults.push(Diagnostic::error(placed.body().location(*op), message));
                        [0, 0]
                    }
                }
            }
            _ => unreachable!("it has no site of its own"),
        }
    }

    /// The base and offset of a pointer; `word` is the index of the offset.
    fn pointer(&mut self, op: Op, pointer: &Pointer, word: usize) -> Pair {
        let body = self.placed.body();
        match pointer {
            Pointer::Result(index, offset) => {
                let address = self.placed.address(body.result(op, *index));
                self.pair(address.expect("a result is no weight").plus(*offset))
            }
            Pointer::Operand(index, offset) => {
                let value = body.operand(op, *index);
                match self.placed.address(value) {
                    Some(address) => self.pair(address.plus(*offset)),
                    None => {
                        let [base, address] = self.weight(Some(op), AddressKey::Plain(value), None, word);
                        [base, address + *offset as i64]
                    }
                }
            }
            Pointer::Packed(index, packing) => {
                let value = body.operand(op, *index);
                match self.placed.address(value) {
                    Some(address) => self.pair(address),
                    None => {
                        self.weight(Some(op), AddressKey::Packed(value, packing.key()), Some(packing), word)
                    }
                }
            }
            Pointer::Repeated(number, count) => {
                self.weight(Some(op), AddressKey::Repeated(number.to_bits(), *count), None, word)
            }
            // Scratch without bytes has no place.
            Pointer::Shared(offset) => {
                self.placed.scratch(op).map_or([0, 0], |place| self.pair(place.address.plus(*offset)))
            }
            Pointer::Absent => [0, 0],
        }
    }

    /// The address of a weight, or zero if it is not in memory yet; `word` is the index of the address.
    fn weight(
        &mut self,
        op: Option<Op>,
        key: AddressKey,
        packing: Option<&WeightPacking>,
        word: usize,
    ) -> Pair {
        match self.known.find(op, key) {
            Some(address) => [0, address as i64],
            None => {
                self.missing.push(Missing { word, op, key, packing: packing.cloned() });
                [0, 0]
            }
        }
    }

    fn pair(&self, Address { base, offset }: Address) -> Pair {
        let pointer = |index: usize| 8 * (BASES_BEFORE_INPUTS + index) as i64;
        match base {
            Base::Arena => [8, offset as i64],
            Base::Input(index) => [pointer(index), offset as i64],
            Base::Output(index) => [pointer(self.buffers.inputs + index), offset as i64],
        }
    }
}

/// The source or target of a copy.
#[derive(Clone, Copy)]
enum CopyEnd {
    At(Address),
    Weight(Value),
}

/// Whether an instruction other than a call reads or writes memory.
fn has_site(instr: &Instr) -> bool {
    matches!(instr, Instr::Read(..) | Instr::Write(..) | Instr::Assert(..))
}

/// The words of a frame that are addresses of functions, one in each record.
pub(crate) fn function_words(words: &[i64], segments: &[CodeBlock]) -> Vec<usize> {
    let sites: usize = segments.iter().map(count_sites).sum();
    let mut record = 2 * sites;
    let mut found = Vec::new();
    while record < words.len() {
        found.push(record + Record::FUNCTION as usize / 8);
        record += words[record + Record::SIZE as usize / 8] as usize / 8;
    }
    found
}

fn count_sites(segment: &CodeBlock) -> usize {
    pieces(segment).map(|(_, instr)| 1 + usize::from(instr.is_some_and(has_site))).sum()
}

/// A fault without a location in the program.
pub(crate) fn fault(message: String) -> Vec<Diagnostic> {
    vec![Diagnostic::error(Location::UNKNOWN, message)]
}

/// The fault of an operation whose scratch is smaller than its kernel needs.
pub(crate) fn check_scratch(
    op: OpRef<'_>,
    lowered: &Lowered,
    place: Option<Place>,
    threads: usize,
) -> Option<Diagnostic> {
    let needed = lowered.scratch_bytes(threads);
    (place.map_or(0, |place| place.bytes) < needed).then(|| {
        let message = format!("`{}` has less scratch than its kernel needs, {needed} bytes", op.name());
        let help = format!("plan for {threads} threads on this machine");
        Diagnostic::error(op.body.location(op.op), message).with_help(help)
    })
}
