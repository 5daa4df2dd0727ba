//! In which order a program makes its calls: segments with one way in and one way out, and where each goes
//! on.
//!
//! A segment is a basic block of the function's [`FlowGraph`]. Values lie in memory, where the plan puts
//! them; only what chooses the way is read into a [`Slot`]: truths, flags, and the counters of loops with
//! their bounds. What is handed on is copied, unless the plan has put it where it goes.

use cranelift_entity::SecondaryMap;
use ir::alias::AliasSets;
use ir::branch::case_values;
use ir::flow::{Act, BasicBlock, Event, FlowGraph, Move, Point, Transfer, region_args, transfers};
use ir::opdef::{Branch, Flow};
use ir::{Body, Context, Diagnostic, Kind, Op, Value};

use crate::address::Address;
use crate::call::Code;
use crate::elem::Elem;

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

/// A number that code keeps in a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot(pub(crate) u32);

/// One thing that is done.
#[derive(Clone, Debug)]
pub(crate) enum Instr {
    /// Calls a kernel or a generated function.
    Call(Step),
    /// Reads a number.
    Read(Slot, Address, Elem),
    /// Writes a number.
    Write(Slot, Address, Elem),
    /// Adds the second number to the first.
    Add(Slot, Slot),
    /// Returns the status unless the truth holds.
    Assert(Address, u32),
}

/// Where a segment goes on; segments are named by their number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The program is done.
    Return,
    /// There.
    Jump(usize),
    /// To the first if the number is not 0, else to the second.
    Branch(Slot, usize, usize),
    /// To the first if the first number is less than the second, compared as signed numbers or not, else to
    /// the second.
    Count(Slot, Slot, Sign, [usize; 2]),
    /// To the segment behind the number that the slot has, else to the last one.
    Switch(Slot, Vec<(i64, usize)>, usize),
}

/// How numbers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    Signed,
    Unsigned,
}

/// A run of instructions.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    /// What is done, in order.
    pub(crate) instrs: Vec<Instr>,
    /// What is next.
    pub(crate) exit: Exit,
}

/// All calls of a program, in order.
pub(crate) fn calls(segments: &[Segment]) -> impl Iterator<Item = &Step> {
    segments.iter().flat_map(|segment| &segment.instrs).filter_map(|instr| match instr {
        Instr::Call(step) => Some(step),
        _ => None,
    })
}

/// A segment in pieces: the calls before each instruction that is none, and those behind the last.
pub(crate) fn pieces(segment: &Segment) -> impl Iterator<Item = (&[Instr], Option<&Instr>)> {
    let mut rest = Some(&segment.instrs[..]);
    std::iter::from_fn(move || {
        let instrs = rest?;
        let end = instrs.iter().position(|instr| !matches!(instr, Instr::Call(_)));
        rest = end.map(|end| &instrs[end + 1..]);
        Some((&instrs[..end.unwrap_or(instrs.len())], end.map(|end| &instrs[end])))
    })
}

/// The registers of a counting loop.
#[derive(Clone, Copy)]
struct Counter {
    at: Slot,
    end: Slot,
    step: Slot,
}

/// What the control flow needs of the compiler.
pub(crate) trait Lowering {
    /// The instructions of an operation that runs.
    fn run(&mut self, op: Op) -> Result<Vec<Instr>, Diagnostic>;
    /// Where a value is.
    fn address(&mut self, value: Value) -> Address;
    /// A copy of so many bytes.
    fn copy(&self, from: Address, to: Address, bytes: u64) -> Instr;
    /// Scratch of an operation, with its bytes.
    fn scratch(&self, op: Op) -> Option<(Address, u64)>;
}

/// Turns a graph into segments.
///
/// # Errors
/// For each operation that has no machine code.
pub(crate) fn segments(
    ctx: &Context,
    body: &Body,
    graph: &FlowGraph,
    aliases: &AliasSets,
    lowering: &mut dyn Lowering,
) -> Result<Vec<Segment>, Vec<Diagnostic>> {
    let mut number_of = SecondaryMap::new();
    for (number, basic_block) in graph.basic_blocks().iter().enumerate() {
        number_of[*basic_block] = number;
    }
    let counters = SecondaryMap::new();
    let mut maker =
        Maker { ctx, body, graph, aliases, lowering, number_of, counters, slots: 0, faults: Vec::new() };
    let segments = graph.basic_blocks().iter().map(|basic_block| maker.segment(*basic_block)).collect();
    if maker.faults.is_empty() { Ok(segments) } else { Err(maker.faults) }
}

struct Maker<'a> {
    ctx: &'a Context,
    body: &'a Body,
    graph: &'a FlowGraph,
    aliases: &'a AliasSets,
    lowering: &'a mut dyn Lowering,
    number_of: SecondaryMap<BasicBlock, usize>,
    counters: SecondaryMap<Op, Option<Counter>>,
    slots: u32,
    faults: Vec<Diagnostic>,
}

impl Maker<'_> {
    fn segment(&mut self, basic_block: BasicBlock) -> Segment {
        let mut segment = Segment { instrs: Vec::new(), exit: Exit::Return };
        let next: Vec<usize> =
            self.graph.next(basic_block).iter().map(|next| self.number_of[*next]).collect();
        if let [next] = next[..] {
            segment.exit = Exit::Jump(next);
        }
        for point in self.graph.points(basic_block).map(Point::from_u32) {
            if let Err(fault) = self.event(self.graph.event(point), &next, &mut segment) {
                self.faults.push(fault);
            }
        }
        segment
    }

    fn event(&mut self, event: Event, next: &[usize], segment: &mut Segment) -> Result<(), Diagnostic> {
        let op = event.op;
        match (event.act, self.body.at(self.ctx, op).kind()) {
            (Act::Run, _) => segment.instrs.extend(self.lowering.run(op)?),
            (Act::Enter, Kind::Region(Flow::If)) => self.decide(op, next, segment)?,
            (Act::Choose, Kind::Branch(Branch::Switch)) => self.switch(op, next, segment)?,
            (Act::Choose, _) => self.decide(op, next, segment)?,
            (Act::Enter, Kind::Region(Flow::For)) => {
                self.enter_count(op, segment)?;
                self.hand(event, segment)?;
            }
            (Act::Test, _) => self.test(op, next, segment),
            (Act::Iterate, _) => self.iterate(op, segment)?,
            (Act::Hand, _) if next.len() == 2 => {
                self.decide(op, next, segment)?;
                self.hand(event, segment)?;
            }
            (Act::Hand, _) => {
                self.hand(event, segment)?;
                self.advance(op, segment);
            }
            (Act::Enter | Act::Edge(_), _) => self.hand(event, segment)?,
            (Act::Return | Act::Leave, _) => {}
        }
        Ok(())
    }

    fn slot(&mut self) -> Slot {
        self.slots += 1;
        Slot(self.slots - 1)
    }

    /// Reads an operand into a new slot.
    fn read(&mut self, op: Op, operand: usize, segment: &mut Segment) -> Result<Slot, Diagnostic> {
        let value = self.body.operand(op, operand);
        let elem = self.elem(op, value)?;
        let slot = self.slot();
        segment.instrs.push(Instr::Read(slot, self.lowering.address(value), elem));
        Ok(slot)
    }

    fn elem(&self, op: Op, value: Value) -> Result<Elem, Diagnostic> {
        let elem = Elem::of(self.ctx, self.body.ty(value)).filter(|elem| !elem.is_float());
        elem.ok_or_else(|| {
            let name = self.body.at(self.ctx, op).name();
            Diagnostic::error(
                self.body.location(op),
                format!("no machine code for `{name}`: it decides by a number that is no integer of 8, 16, 32 or 64 bits"),
            )
        })
    }

    /// Branches by operand 0.
    fn decide(&mut self, op: Op, next: &[usize], segment: &mut Segment) -> Result<(), Diagnostic> {
        let slot = self.read(op, 0, segment)?;
        segment.exit = Exit::Branch(slot, next[0], next[1]);
        Ok(())
    }

    fn switch(&mut self, op: Op, next: &[usize], segment: &mut Segment) -> Result<(), Diagnostic> {
        let slot = self.read(op, 0, segment)?;
        let elem = self.elem(op, self.body.operand(op, 0))?;
        let cases = case_values(self.body.at(self.ctx, op));
        let cases = cases.map_err(|error| Diagnostic::error(self.body.location(op), error.0))?;
        // Slots hold numbers widened as `Read` does.
        let cases = cases.into_iter().map(|case| if elem == Elem::Bool { case & 1 } else { case });
        segment.exit = Exit::Switch(slot, cases.zip(next[1..].iter().copied()).collect(), next[0]);
        Ok(())
    }

    fn enter_count(&mut self, op: Op, segment: &mut Segment) -> Result<(), Diagnostic> {
        let at = self.read(op, 0, segment)?;
        let end = self.read(op, 1, segment)?;
        let step = self.read(op, 2, segment)?;
        self.counters[op] = Some(Counter { at, end, step });
        Ok(())
    }

    fn counter(&self, op: Op) -> Option<Counter> {
        self.counters[op]
    }

    fn test(&mut self, op: Op, next: &[usize], segment: &mut Segment) {
        let Some(counter) = self.counter(op) else { return };
        let is_unsigned = self.body.at(self.ctx, op).attr("unsignedCmp").is_some();
        let sign = if is_unsigned { Sign::Unsigned } else { Sign::Signed };
        segment.exit = Exit::Count(counter.at, counter.end, sign, [next[0], next[1]]);
    }

    fn iterate(&mut self, op: Op, segment: &mut Segment) -> Result<(), Diagnostic> {
        let (Some(counter), Some(&arg)) = (self.counter(op), region_args(self.body, op, 0).first()) else {
            return Ok(());
        };
        let elem = self.elem(op, arg)?;
        if self.body.is_used(arg) {
            segment.instrs.push(Instr::Write(counter.at, self.lowering.address(arg), elem));
        }
        Ok(())
    }

    /// Behind the hand-over at the end of a counting loop's body, counts on.
    fn advance(&mut self, terminator: Op, segment: &mut Segment) {
        let parent = self.body.parent_op(terminator);
        if let Some(counter) = parent.and_then(|parent| self.counter(parent)) {
            segment.instrs.push(Instr::Add(counter.at, counter.step));
        }
    }

    /// Copies what is handed on to where it goes.
    fn hand(&mut self, event: Event, segment: &mut Segment) -> Result<(), Diagnostic> {
        let moves = event.moves(self.ctx, self.body);
        let sizes =
            moves.iter().map(|pair| self.aliases.size_bytes(pair.to).unwrap_or(0)).collect::<Vec<_>>();
        let places =
            moves.iter().map(|Move { from, to }| (self.lowering.address(*from), self.lowering.address(*to)));
        let places: Vec<(Address, Address)> = places.collect();
        let clobbers = |a: usize, b: usize| {
            let (to, from) = (places[a].1, places[b].0);
            to.base == from.base && to.offset < from.offset + sizes[b] && from.offset < to.offset + sizes[a]
        };
        let (copies, needed) = transfers(&sizes, |index| places[index].0 == places[index].1, clobbers);
        let scratch = self.lowering.scratch(event.op);
        if scratch.map_or(0, |scratch| scratch.1) < needed {
            let name = self.body.at(self.ctx, event.op).name();
            let message = format!("`{name}` has less scratch than its copies need, {needed} bytes");
            return Err(Diagnostic::error(self.body.location(event.op), message));
        }
        let saved = |offset: u64| scratch.expect("scratch is large enough").0.plus(offset);
        for copy in copies {
            let (from, to, index) = match copy {
                Transfer::Direct(index) => (places[index].0, places[index].1, index),
                Transfer::Save(index, offset) => (places[index].0, saved(offset), index),
                Transfer::Restore(index, offset) => (saved(offset), places[index].1, index),
            };
            if sizes[index] > 0 {
                segment.instrs.push(self.lowering.copy(from, to, sizes[index]));
            }
        }
        Ok(())
    }
}
