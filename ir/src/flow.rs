//! The control-flow graph of a function: regions and blocks in one graph of program points.
//!
//! A [`FlowGraph`] numbers the actions at run time: *points*, in text order through all blocks and nested
//! regions. Points that always follow one another form a *basic block*; basic blocks list their successors.
//! Every parallel copy of values (the operands of a region's yield, or of a branch) is a point of its own, at
//! which all its [`Move`]s happen at once:
//!
//! ```text
//! %r = scf.for %i = %a to %b step %c iter_args(%x = %y) {     =>   0 enter  %x <- %y
//!   %z = nn.relu %x                                                1 test            next: 2 or 5
//!   scf.yield %z                                                   2 iterate (writes %i)
//! }                                                                3 run    nn.relu
//!                                                                  4 hand   %x <- %z    next: 1
//!                                                                  5 leave
//! ```
//!
//! Results of loops have the bytes of the loop-carried values (see [`crate::alias`]), so leaving a loop moves
//! nothing. Weights and views that need no copy do not run and have no point, and neither have unreachable
//! blocks. Time is linear in the operations.

use std::ops::Range;

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{PrimaryMap, SecondaryMap, entity_impl};
use smallvec::SmallVec;

use crate::body::{Body, OpRef};
use crate::context::Context;
use crate::dominance::Dominators;
use crate::entities::{Block, Op, Value};
use crate::opdef::{Branch, Kind, RegionFlow, Traits};
use crate::plan::views::{is_free, ties};
use crate::weights::WeightSet;

mod moves;
#[cfg(test)]
mod tests;

pub use crate::walk::walk;
pub use moves::{Transfer, transfers};

/// An action at run time, numbered in text order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Point(u32);
entity_impl!(Point, "point");

/// A run of points that follow one another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BasicBlock(u32);
entity_impl!(BasicBlock, "bb");

/// The points of one branch of an `if`, or of a whole loop except its entry and exit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Zone(u32);
entity_impl!(Zone, "zone");

/// How often control passes through a zone after entering it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turns {
    /// Once.
    One,
    /// Any number of times.
    Many,
}

/// A zone: a contiguous run of points that control enters from one basic block.
#[derive(Clone, Debug)]
pub struct ZoneData {
    /// The basic block from whose end control enters.
    pub from: BasicBlock,
    /// The basic block from whose end control leaves.
    pub exit: BasicBlock,
    /// The points, including those of nested zones.
    pub points: Range<u32>,
    /// The indices of its basic blocks, including those of nested zones.
    pub places: Range<usize>,
    /// How often control passes through it.
    pub turns: Turns,
}

/// The action at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// The operation runs: it reads its operands and writes its results.
    Run,
    /// An `if` or a loop begins: it reads its operands; a loop moves the initial values into the arguments of
    /// its first region.
    Enter,
    /// A counting loop tests whether to run another iteration.
    Test,
    /// A counting loop writes its counter.
    Iterate,
    /// A terminator moves its operands to the arguments or results that receive them.
    Hand,
    /// A terminator reads the operand that selects the next block.
    Choose,
    /// A terminator moves the operands for the chosen successor, which has this number.
    Edge(u32),
    /// A terminator returns its operands.
    Return,
    /// An `if` or a loop ends.
    Leave,
}

/// The operation at a point, and its action there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The operation.
    pub op: Op,
    /// The action.
    pub act: Act,
}

/// A copy of a value to an argument or a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The value that is read.
    pub from: Value,
    /// The argument or result that is written.
    pub to: Value,
}

#[derive(Clone, Debug, Default)]
struct BasicBlockData {
    first: u32,
    end: u32,
    place: u32,
    next: SmallVec<[BasicBlock; 2]>,
    zone: PackedOption<Zone>,
}

/// The points and basic blocks of a function.
#[derive(Debug, Default)]
pub struct FlowGraph {
    events: PrimaryMap<Point, Event>,
    basic_blocks: PrimaryMap<BasicBlock, BasicBlockData>,
    zones: PrimaryMap<Zone, ZoneData>,
    /// Whether one block outside of all zones runs from start to end.
    is_one_block: bool,
    /// Basic blocks in the order of their points.
    order: Vec<BasicBlock>,
}

impl FlowGraph {
    /// The graph of a body's first region.
    pub fn of(ctx: &Context, body: &Body, weights: &WeightSet) -> FlowGraph {
        let mut builder =
            GraphBuilder { ctx, body, weights, graph: FlowGraph::default(), at: None, zone: None };
        builder.root();
        builder.finish();
        builder.graph
    }

    /// All points in order, with their operations and actions.
    pub fn events(&self) -> impl Iterator<Item = (Point, Event)> + '_ {
        self.events.iter().map(|(point, event)| (point, *event))
    }

    /// The operation and action at a point.
    pub fn event(&self, point: Point) -> Event {
        self.events[point]
    }

    /// The number of points.
    pub fn point_count(&self) -> usize {
        self.events.len()
    }

    /// The basic blocks, in the order of their points; control begins in the first.
    pub fn basic_blocks(&self) -> &[BasicBlock] {
        &self.order
    }

    /// The points of a basic block.
    pub fn points(&self, basic_block: BasicBlock) -> Range<u32> {
        let data = &self.basic_blocks[basic_block];
        data.first..data.end
    }

    /// The index of a basic block in the order of their points.
    pub fn place(&self, basic_block: BasicBlock) -> usize {
        self.basic_blocks[basic_block].place as usize
    }

    /// The successors of a basic block: for a choice the alternatives in order, for a loop its body and then
    /// its exit.
    pub fn next(&self, basic_block: BasicBlock) -> &[BasicBlock] {
        &self.basic_blocks[basic_block].next
    }

    /// The innermost zone that contains a basic block.
    pub fn zone_of(&self, basic_block: BasicBlock) -> Option<Zone> {
        self.basic_blocks[basic_block].zone.expand()
    }

    /// The data of a zone.
    pub fn zone(&self, zone: Zone) -> &ZoneData {
        &self.zones[zone]
    }

    /// The number of zones.
    pub fn zone_count(&self) -> usize {
        self.zones.len()
    }

    /// Whether control passes through the basic blocks outside of all zones in order, each once.
    pub fn is_one_block(&self) -> bool {
        self.is_one_block
    }

    /// The predecessors of each basic block.
    pub fn previous(&self) -> SecondaryMap<BasicBlock, SmallVec<[BasicBlock; 2]>> {
        let mut previous: SecondaryMap<BasicBlock, SmallVec<[BasicBlock; 2]>> = SecondaryMap::new();
        for &basic_block in &self.order {
            for &next in self.next(basic_block) {
                previous[next].push(basic_block);
            }
        }
        previous
    }
}

impl Event {
    /// The values that the event reads.
    pub fn reads<'a>(self, body: &'a Body) -> impl Iterator<Item = Value> + 'a {
        let range = match self.act {
            Act::Run | Act::Enter | Act::Hand | Act::Return => 0..body.operand_count(self.op),
            Act::Choose => 0..1,
            Act::Edge(index) => passed(body, self.op, index as usize),
            Act::Test | Act::Iterate | Act::Leave => 0..0,
        };
        range.map(move |index| body.operand(self.op, index))
    }

    /// The values that the event writes.
    pub fn writes(self, ctx: &Context, body: &Body) -> SmallVec<[Value; 4]> {
        match self.act {
            Act::Run => body.results(self.op).collect(),
            Act::Iterate => region_args(body, self.op, 0).first().copied().into_iter().collect(),
            _ => self.targets(ctx, body).into_iter().collect(),
        }
    }

    /// The parallel copy of the event.
    pub fn moves(self, ctx: &Context, body: &Body) -> Vec<Move> {
        let targets = self.targets(ctx, body);
        let all = body.operand_count(self.op);
        let sources = match (self.act, body.at(ctx, self.op).kind()) {
            (Act::Edge(index), _) => passed(body, self.op, index as usize),
            (Act::Hand, Kind::Branch(_)) => passed(body, self.op, 0),
            // The bounds and the step of a counting loop, and the value of a condition, stay where they are.
            _ => all.saturating_sub(targets.len())..all,
        };
        let sources = sources.map(|index| body.operand(self.op, index));
        sources.zip(targets).map(|(from, to)| Move { from, to }).collect()
    }

    /// The arguments or results that receive values here.
    fn targets(self, ctx: &Context, body: &Body) -> SmallVec<[Value; 4]> {
        let op = body.at(ctx, self.op);
        match (self.act, op.kind()) {
            (Act::Enter, Kind::Region(RegionFlow::For)) => carried(body, self.op),
            (Act::Enter, Kind::Region(RegionFlow::While)) => region_args(body, self.op, 0).into(),
            (Act::Hand, Kind::Branch(_)) => body.args(body.successors(self.op)[0].block).into(),
            (Act::Edge(index), _) => body.args(body.successors(self.op)[index as usize].block).into(),
            (Act::Hand, _) => handed_to(ctx, body, self.op),
            _ => SmallVec::new(),
        }
    }
}

/// The values carried by a counting loop: all arguments of its body except the counter.
pub fn carried(body: &Body, op: Op) -> SmallVec<[Value; 4]> {
    region_args(body, op, 0).iter().copied().skip(1).collect()
}

/// The arguments of an operation's region `index`.
pub fn region_args(body: &Body, op: Op, index: usize) -> &[Value] {
    let entry = body.regions(op).get(index).and_then(|region| body.entry(*region));
    entry.map_or(&[], |block| body.args(block))
}

/// The arguments or results that receive the operands of a region's terminator.
fn handed_to(ctx: &Context, body: &Body, terminator: Op) -> SmallVec<[Value; 4]> {
    let Some(parent) = body.parent_op(terminator) else { return SmallVec::new() };
    let is_in = |index: usize| {
        body.block_of(terminator).and_then(|block| body.region_of(block))
            == body.regions(parent).get(index).copied()
    };
    match body.at(ctx, parent).kind() {
        Kind::Region(RegionFlow::If) => body.results(parent).collect(),
        Kind::Region(RegionFlow::For) => carried(body, parent),
        Kind::Region(RegionFlow::While) if is_in(0) => region_args(body, parent, 1).into(),
        Kind::Region(RegionFlow::While) => region_args(body, parent, 0).into(),
        _ => SmallVec::new(),
    }
}

/// The operands that a terminator passes to successor `index`.
fn passed(body: &Body, op: Op, index: usize) -> Range<usize> {
    let successor = &body.successors(op)[index];
    let first = successor.first_operand as usize;
    first..first + successor.operand_count as usize
}

/// Whether an operation is a step at run time: it is neither a weight, nor a view or concatenation that needs
/// no copy and has no tie.
pub fn runs(ctx: &Context, body: &Body, op: Op, weights: &WeightSet) -> bool {
    let op_ref = body.at(ctx, op);
    !weights.is_weight_op(body, op) && (!is_free(op_ref) || ties(op_ref).next().is_some())
}

struct GraphBuilder<'a> {
    ctx: &'a Context,
    body: &'a Body,
    weights: &'a WeightSet,
    graph: FlowGraph,
    /// The basic block that gets the next point.
    at: Option<BasicBlock>,
    zone: Option<Zone>,
}

impl GraphBuilder<'_> {
    fn root(&mut self) {
        let body = self.body;
        let root = body.root();
        let reachable: Vec<Block> = match body.blocks(root) {
            [] => return,
            [block] => vec![*block],
            blocks => {
                let dominators = Dominators::of(body, root);
                blocks.iter().copied().filter(|block| dominators.is_reachable(*block)).collect()
            }
        };
        self.graph.is_one_block = body.blocks(root).len() == 1;
        let mut basic_block_of: SecondaryMap<Block, Option<BasicBlock>> = SecondaryMap::new();
        for &block in &reachable {
            basic_block_of[block] = Some(self.make());
        }
        for &block in &reachable {
            self.start(basic_block_of[block].expect("a reachable block has a basic block"));
            self.ops(block, &[]);
            let Some(last) = body.last_op(block) else { continue };
            if let Kind::Branch(branch) = body.at(self.ctx, last).kind() {
                self.branch(last, branch, &basic_block_of);
            }
        }
    }

    fn make(&mut self) -> BasicBlock {
        self.graph.basic_blocks.push(BasicBlockData::default())
    }

    fn start(&mut self, basic_block: BasicBlock) {
        self.finish();
        let data = &mut self.graph.basic_blocks[basic_block];
        data.first = self.graph.events.len() as u32;
        data.place = self.graph.order.len() as u32;
        data.zone = self.zone.into();
        self.graph.order.push(basic_block);
        self.at = Some(basic_block);
    }

    fn finish(&mut self) {
        if let Some(at) = self.at.take() {
            self.graph.basic_blocks[at].end = self.graph.events.len() as u32;
        }
    }

    fn push(&mut self, op: Op, act: Act) {
        self.graph.events.push(Event { op, act });
    }

    /// Adds successors of the current basic block.
    fn link(&mut self, next: &[BasicBlock]) {
        let at = self.now();
        self.graph.basic_blocks[at].next.extend_from_slice(next);
    }

    /// Walks a zone that is entered from the end of `from`; `walk` returns the basic block from whose end
    /// control leaves.
    fn zone(&mut self, from: BasicBlock, turns: Turns, walk: impl FnOnce(&mut Self) -> BasicBlock) {
        let (first, place) = (self.graph.events.len() as u32, self.graph.order.len());
        let data = ZoneData { from, exit: from, points: first..first, places: place..place, turns };
        let zone = self.graph.zones.push(data);
        let around = self.zone.replace(zone);
        let exit = walk(self);
        self.zone = around;
        let data = &mut self.graph.zones[zone];
        data.exit = exit;
        data.points.end = self.graph.events.len() as u32;
        data.places.end = self.graph.order.len();
    }

    /// Adds an operation's entry point, and returns the basic block that ends with it.
    fn enter(&mut self, op: Op, next: &[BasicBlock]) -> BasicBlock {
        self.push(op, Act::Enter);
        self.link(next);
        self.now()
    }

    fn now(&self) -> BasicBlock {
        self.at.expect("a basic_block was started")
    }

    /// Walks a block; its terminator, if it passes on operands, leads to `next`.
    fn ops(&mut self, block: Block, next: &[BasicBlock]) {
        let body = self.body;
        for op in body.ops(block) {
            let op_ref = body.at(self.ctx, op);
            match op_ref.kind() {
                Kind::Region(RegionFlow::If) => self.choice(op),
                Kind::Region(RegionFlow::For) => self.count(op),
                Kind::Region(RegionFlow::While) => self.repeat(op),
                Kind::Branch(_) => {}
                _ if op_ref.has(Traits::TERMINATOR) && next.is_empty() => self.push(op, Act::Return),
                _ if op_ref.has(Traits::TERMINATOR) => {
                    self.push(op, Act::Hand);
                    self.link(next);
                }
                _ if runs(self.ctx, body, op, self.weights) => self.push(op, Act::Run),
                _ => {}
            }
        }
    }

    fn region(&mut self, op: Op, index: usize, next: &[BasicBlock]) {
        let block = self.body.regions(op).get(index).and_then(|region| self.body.entry(*region));
        self.ops(block.expect("a verified loop or `if` has a block in each region"), next);
    }

    fn choice(&mut self, op: Op) {
        let (then, leave) = (self.make(), self.make());
        let has_else = self.body.regions(op).get(1).is_some_and(|region| self.body.entry(*region).is_some());
        let otherwise = if has_else { self.make() } else { leave };
        let from = self.enter(op, &[then, otherwise]);
        self.zone(from, Turns::One, |builder| {
            builder.start(then);
            builder.region(op, 0, &[leave]);
            builder.now()
        });
        if has_else {
            self.zone(from, Turns::One, |builder| {
                builder.start(otherwise);
                builder.region(op, 1, &[leave]);
                builder.now()
            });
        }
        self.start(leave);
        self.push(op, Act::Leave);
    }

    fn count(&mut self, op: Op) {
        let (test, round, leave) = (self.make(), self.make(), self.make());
        let from = self.enter(op, &[test]);
        self.zone(from, Turns::Many, |builder| {
            builder.start(test);
            builder.push(op, Act::Test);
            builder.link(&[round, leave]);
            builder.start(round);
            builder.push(op, Act::Iterate);
            builder.region(op, 0, &[test]);
            test
        });
        self.start(leave);
        self.push(op, Act::Leave);
    }

    fn repeat(&mut self, op: Op) {
        let (before, after, leave) = (self.make(), self.make(), self.make());
        let from = self.enter(op, &[before]);
        self.zone(from, Turns::Many, |builder| {
            builder.start(before);
            builder.region(op, 0, &[after, leave]);
            let exit = builder.now();
            builder.start(after);
            builder.region(op, 1, &[before]);
            exit
        });
        self.start(leave);
        self.push(op, Act::Leave);
    }

    /// The terminator of a block of the first region.
    fn branch(&mut self, op: Op, branch: Branch, basic_block_of: &SecondaryMap<Block, Option<BasicBlock>>) {
        let body = self.body;
        let target =
            |index: usize| basic_block_of[body.successors(op)[index].block].expect("it can be reached");
        if branch == Branch::Always {
            self.push(op, Act::Hand);
            return self.link(&[target(0)]);
        }
        self.push(op, Act::Choose);
        let mut edges = Vec::new();
        for (index, successor) in body.successors(op).iter().enumerate() {
            let next = match successor.operand_count {
                0 => target(index),
                _ => self.make(),
            };
            self.link(&[next]);
            if successor.operand_count > 0 {
                edges.push((index, next));
            }
        }
        for (index, edge) in edges {
            self.start(edge);
            self.push(op, Act::Edge(index as u32));
            self.link(&[target(index)]);
        }
    }
}

impl OpRef<'_> {
    /// Whether control passes through the operation's regions, as in an `if` or a loop.
    pub fn is_structured(&self) -> bool {
        matches!(self.kind(), Kind::Region(RegionFlow::If | RegionFlow::For | RegionFlow::While))
    }
}
