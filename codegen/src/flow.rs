//! The order of a program's calls: its control flow as basic blocks with terminators, before sizes are known.
//!
//! A block here is a basic block of the function's [`FlowGraph`]. Values are in memory. Only the numbers that
//! terminators depend on are read into a [`NumberRegister`]: truth values, switch flags, and loop counters
//! with their bounds. Nothing here depends on sizes: blocks refer to operations and values, and
//! [`crate::frame`] knows their calls and addresses at some sizes.

use cranelift_entity::SecondaryMap;
use ir::branch::case_values;
use ir::flow::{Act, BasicBlock, Event, FlowGraph, Move, Point, region_args};
use ir::opdef::{Branch, RegionFlow};
use ir::{Body, Context, Diagnostic, Kind, Op, Value};

use crate::elem::ElemType;

/// A number that code keeps in a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NumberRegister(pub(crate) u32);

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Instr {
    /// Makes the calls of an operation.
    Run(Op, CallRange),
    /// Performs an operation's parallel move, without the values that are already in place.
    Move(Op, Vec<Move>),
    /// Reads a number.
    Read(NumberRegister, Value, ElemType),
    /// Writes a number.
    Write(NumberRegister, Value, ElemType),
    /// Adds the second number to the first.
    Add(NumberRegister, NumberRegister),
    /// Returns the status unless the operation's condition holds.
    Assert(Op, u32),
}

/// A range of an operation's calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallRange {
    /// All.
    All,
    /// The first, which computes the condition.
    First,
    /// Those after the first.
    Rest,
}

impl Instr {
    /// Whether it consists of calls only.
    fn is_calls(&self) -> bool {
        matches!(self, Instr::Run(..) | Instr::Move(..))
    }
}

/// The terminator of a block; targets are block numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The program is done.
    Return,
    /// To this block.
    Jump(usize),
    /// To the first block if the number is not 0, otherwise to the second.
    Branch(NumberRegister, usize, usize),
    /// To the first block if the first number is less than the second, as signed or unsigned numbers;
    /// otherwise to the second.
    Count(NumberRegister, NumberRegister, CompareSign, [usize; 2]),
    /// To the block that the table has for the number, otherwise to the last one.
    Switch(NumberRegister, Vec<(i64, usize)>, usize),
}

/// How numbers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CompareSign {
    Signed,
    Unsigned,
}

/// A basic block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CodeBlock {
    /// Its instructions, in order.
    pub(crate) instrs: Vec<Instr>,
    /// Its terminator.
    pub(crate) exit: Exit,
}

/// Splits a block at each instruction that is not a call: the calls before it, then the instruction; last,
/// the calls after all.
pub(crate) fn pieces(segment: &CodeBlock) -> impl Iterator<Item = (&[Instr], Option<&Instr>)> {
    let mut rest = Some(&segment.instrs[..]);
    std::iter::from_fn(move || {
        let instrs = rest?;
        let end = instrs.iter().position(|instr| !instr.is_calls());
        rest = end.map(|end| &instrs[end + 1..]);
        Some((&instrs[..end.unwrap_or(instrs.len())], end.map(|end| &instrs[end])))
    })
}

/// The registers of a counting loop.
#[derive(Clone, Copy)]
struct Counter {
    at: NumberRegister,
    end: NumberRegister,
    step: NumberRegister,
}

/// Translates a graph to basic blocks; `faults` has the message of each operation with a condition.
///
/// # Errors
/// For each operation whose deciding operand has no supported integer type.
pub(crate) fn segments(
    ctx: &Context,
    body: &Body,
    graph: &FlowGraph,
    faults: &[(Op, String)],
) -> Result<Vec<CodeBlock>, Vec<Diagnostic>> {
    let mut number_of = SecondaryMap::new();
    for (number, basic_block) in graph.basic_blocks().iter().enumerate() {
        number_of[*basic_block] = number;
    }
    let mut statuses = SecondaryMap::new();
    for (status, (op, _)) in (1..).zip(faults) {
        statuses[*op] = status;
    }
    let counters = SecondaryMap::new();
    let mut maker =
        BlockMaker { ctx, body, graph, number_of, statuses, counters, slots: 0, faults: Vec::new() };
    let segments = graph.basic_blocks().iter().map(|basic_block| maker.segment(*basic_block)).collect();
    if maker.faults.is_empty() { Ok(segments) } else { Err(maker.faults) }
}

struct BlockMaker<'a> {
    ctx: &'a Context,
    body: &'a Body,
    graph: &'a FlowGraph,
    number_of: SecondaryMap<BasicBlock, usize>,
    /// The status returned if the operation's condition fails; 0 without a condition.
    statuses: SecondaryMap<Op, u32>,
    counters: SecondaryMap<Op, Option<Counter>>,
    slots: u32,
    faults: Vec<Diagnostic>,
}

impl BlockMaker<'_> {
    fn segment(&mut self, basic_block: BasicBlock) -> CodeBlock {
        let mut segment = CodeBlock { instrs: Vec::new(), exit: Exit::Return };
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

    fn event(&mut self, event: Event, next: &[usize], segment: &mut CodeBlock) -> Result<(), Diagnostic> {
        let op = event.op;
        match (event.act, self.body.at(self.ctx, op).kind()) {
            (Act::Run, _) => match self.statuses[op] {
                0 => segment.instrs.push(Instr::Run(op, CallRange::All)),
                status => segment.instrs.extend([
                    Instr::Run(op, CallRange::First),
                    Instr::Assert(op, status),
                    Instr::Run(op, CallRange::Rest),
                ]),
            },
            (Act::Enter, Kind::Region(RegionFlow::If)) => self.decide(op, next, segment)?,
            (Act::Choose, Kind::Branch(Branch::Switch)) => self.switch(op, next, segment)?,
            (Act::Choose, _) => self.decide(op, next, segment)?,
            (Act::Enter, Kind::Region(RegionFlow::For)) => {
                self.enter_count(op, segment)?;
                self.pass_on(event, segment);
            }
            (Act::Test, _) => self.test(op, next, segment),
            (Act::Iterate, _) => self.iterate(op, segment)?,
            (Act::Hand, _) if next.len() == 2 => {
                self.decide(op, next, segment)?;
                self.pass_on(event, segment);
            }
            (Act::Hand, _) => {
                self.pass_on(event, segment);
                self.advance(op, segment);
            }
            (Act::Enter | Act::Edge(_), _) => self.pass_on(event, segment),
            (Act::Return | Act::Leave, _) => {}
        }
        Ok(())
    }

    fn slot(&mut self) -> NumberRegister {
        self.slots += 1;
        NumberRegister(self.slots - 1)
    }

    /// Reads an operand into a new register.
    fn read(
        &mut self,
        op: Op,
        operand: usize,
        segment: &mut CodeBlock,
    ) -> Result<NumberRegister, Diagnostic> {
        let value = self.body.operand(op, operand);
        let elem = self.elem(op, value)?;
        let slot = self.slot();
        segment.instrs.push(Instr::Read(slot, value, elem));
        Ok(slot)
    }

    fn elem(&self, op: Op, value: Value) -> Result<ElemType, Diagnostic> {
        let elem = ElemType::of(self.ctx, self.body.ty(value)).filter(|elem| !elem.is_float());
        elem.ok_or_else(|| {
            let name = self.body.at(self.ctx, op).name();
            Diagnostic::error(
                self.body.location(op),
                format!("no machine code for `{name}`: it decides by a number that is no integer of 8, 16, 32 or 64 bits"),
            )
        })
    }

    /// Branches by operand 0.
    fn decide(&mut self, op: Op, next: &[usize], segment: &mut CodeBlock) -> Result<(), Diagnostic> {
        let slot = self.read(op, 0, segment)?;
        segment.exit = Exit::Branch(slot, next[0], next[1]);
        Ok(())
    }

    fn switch(&mut self, op: Op, next: &[usize], segment: &mut CodeBlock) -> Result<(), Diagnostic> {
        let slot = self.read(op, 0, segment)?;
        let elem = self.elem(op, self.body.operand(op, 0))?;
        let cases = case_values(self.body.at(self.ctx, op));
        let cases = cases.map_err(|error| Diagnostic::error(self.body.location(op), error.0))?;
        // Registers hold numbers extended as by `Read`.
        let cases = cases.into_iter().map(|case| if elem == ElemType::Bool { case & 1 } else { case });
        segment.exit = Exit::Switch(slot, cases.zip(next[1..].iter().copied()).collect(), next[0]);
        Ok(())
    }

    fn enter_count(&mut self, op: Op, segment: &mut CodeBlock) -> Result<(), Diagnostic> {
        let at = self.read(op, 0, segment)?;
        let end = self.read(op, 1, segment)?;
        let step = self.read(op, 2, segment)?;
        self.counters[op] = Some(Counter { at, end, step });
        Ok(())
    }

    fn counter(&self, op: Op) -> Option<Counter> {
        self.counters[op]
    }

    fn test(&mut self, op: Op, next: &[usize], segment: &mut CodeBlock) {
        let Some(counter) = self.counter(op) else { return };
        let is_unsigned = self.body.at(self.ctx, op).attr("unsignedCmp").is_some();
        let sign = if is_unsigned { CompareSign::Unsigned } else { CompareSign::Signed };
        segment.exit = Exit::Count(counter.at, counter.end, sign, [next[0], next[1]]);
    }

    fn iterate(&mut self, op: Op, segment: &mut CodeBlock) -> Result<(), Diagnostic> {
        let (Some(counter), Some(&arg)) = (self.counter(op), region_args(self.body, op, 0).first()) else {
            return Ok(());
        };
        let elem = self.elem(op, arg)?;
        if self.body.is_used(arg) {
            segment.instrs.push(Instr::Write(counter.at, arg, elem));
        }
        Ok(())
    }

    /// Increments the counter of a counting loop, after the parallel move at the end of its body.
    fn advance(&mut self, terminator: Op, segment: &mut CodeBlock) {
        let parent = self.body.parent_op(terminator);
        if let Some(counter) = parent.and_then(|parent| self.counter(parent)) {
            segment.instrs.push(Instr::Add(counter.at, counter.step));
        }
    }

    fn pass_on(&self, event: Event, segment: &mut CodeBlock) {
        let moves = event.moves(self.ctx, self.body);
        if !moves.is_empty() {
            segment.instrs.push(Instr::Move(event.op, moves));
        }
    }
}
