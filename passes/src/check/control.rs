//! How the checker interprets control flow: it follows all edges, and at joins keeps what all of them agree
//! on.

use ir::plan::attrs;
use std::collections::{BTreeMap, VecDeque};

use ir::flow::transfers;
use ir::opdef::RegionFlow;
use ir::{Attr, Block, Kind, Op, Region, Traits, Value};

use super::memory::{CheckedMemory, Home};
use super::{PlanChecker, UNPLACED};

impl PlanChecker<'_> {
    /// Runs the function's blocks until the memory known at each block's entry no longer changes.
    pub(super) fn run(&mut self) {
        let blocks = self.body.blocks(self.body.root()).to_vec();
        let lists = self.body.own_attr(self.ctx, self.ctx.ident(attrs::MEM_ARGS));
        for (index, block) in blocks.iter().enumerate().skip(1) {
            if let (Err(message), Some(op)) =
                (self.place_args(*block, self.list(lists, index)), self.body.first_op(*block))
            {
                self.fault(op, message);
            }
        }
        let mut known: BTreeMap<Block, CheckedMemory> = BTreeMap::new();
        let mut waiting = VecDeque::from([blocks[0]]);
        known.insert(blocks[0], self.memory.clone());
        while let Some(block) = waiting.pop_front() {
            self.memory = known[&block].clone();
            self.ops(block);
            for (next, memory) in self.ways(block) {
                let met = known.get(&next).map_or_else(|| memory.clone(), |before| before.meet(&memory));
                if known.get(&next) != Some(&met) {
                    known.insert(next, met);
                    waiting.push_back(next);
                }
            }
        }
    }

    fn ops(&mut self, block: Block) {
        let body = self.body;
        body.ops(block).for_each(|op| self.step(op));
    }

    /// The successors of a block, each with the contents of memory on that edge.
    fn ways(&mut self, block: Block) -> Vec<(Block, CheckedMemory)> {
        let body = self.body;
        let Some(end) = body.last_op(block) else { return Vec::new() };
        if !body.successors(end).is_empty() && body.operand_count(end) > 0 {
            self.need(end, 0);
        }
        let before = self.memory.clone();
        let mut ways = Vec::new();
        for successor in body.successors(end) {
            let first = successor.first_operand as usize;
            let targets = body.args(successor.block).to_vec();
            self.memory = before.clone();
            self.hand(end, first, &targets);
            ways.push((successor.block, self.memory.clone()));
        }
        ways
    }

    /// Checks an `if` or a loop.
    pub(super) fn control(&mut self, op: Op) {
        let (ctx, body) = (self.ctx, self.body);
        let places = self.parse_places(op, &body.at(ctx, op).decisions());
        let places = places.and_then(|places| places.ok_or_else(|| UNPLACED.to_owned()));
        match places.and_then(|places| self.place_regions(op).map(|()| places)) {
            Ok((homes, _)) => {
                body.results(op).zip(&homes).for_each(|(result, home)| self.homes.set(result, home))
            }
            Err(message) => return self.fault(op, message),
        }
        (0..body.operand_count(op)).for_each(|index| self.need(op, index));
        match body.at(ctx, op).kind() {
            Kind::Region(RegionFlow::For) => self.count(op),
            Kind::Region(RegionFlow::While) => self.repeat(op),
            _ => self.choose(op),
        }
    }

    fn place_regions(&mut self, op: Op) -> Result<(), String> {
        let lists = self.body.attr(self.ctx, op, self.ctx.ident(attrs::MEM_ARGS));
        let blocks: Vec<Block> = self.regions(op).filter_map(|region| self.body.entry(region)).collect();
        for (index, block) in blocks.into_iter().enumerate() {
            self.place_args(block, self.list(lists, index))?;
        }
        Ok(())
    }

    fn regions(&self, op: Op) -> impl Iterator<Item = Region> + use<> {
        self.body.regions(op).to_vec().into_iter()
    }

    fn list(&self, lists: Option<Attr>, index: usize) -> Option<Attr> {
        self.ctx.array_value(lists?)?.get(index).copied()
    }

    /// The block of region `index`, if it has one.
    fn block(&self, op: Op, index: usize) -> Option<Block> {
        self.body.entry(*self.body.regions(op).get(index)?)
    }

    fn choose(&mut self, op: Op) {
        let results: Vec<Value> = self.body.results(op).collect();
        let before = self.memory.clone();
        let mut met: Option<CheckedMemory> = None;
        for index in 0..2 {
            self.memory = before.clone();
            if let Some(block) = self.block(op, index) {
                self.region(block, 0, &results);
            }
            met = Some(met.map_or_else(|| self.memory.clone(), |other| other.meet(&self.memory)));
        }
        self.memory = met.expect("there are two ways");
    }

    /// Runs a block and passes the operands of its terminator, from `first` on, to `targets`.
    fn region(&mut self, block: Block, first: usize, targets: &[Value]) {
        self.ops(block);
        let end = self.body.last_op(block);
        if let Some(end) = end.filter(|end| self.body.at(self.ctx, *end).has(Traits::TERMINATOR)) {
            (0..first).for_each(|index| self.need(end, index));
            self.hand(end, first, targets);
        }
    }

    fn count(&mut self, op: Op) {
        let Some(block) = self.block(op, 0) else { return };
        let args = self.body.args(block).to_vec();
        let Some((counter, carried)) = args.split_first() else { return };
        self.hand(op, self.body.operand_count(op) - carried.len(), carried);
        loop {
            let before = self.memory.clone();
            if let Some(home) = self.homes.get(*counter).cloned() {
                self.memory.write(&home, Some(*counter));
            }
            self.region(block, 0, carried);
            let met = before.meet(&self.memory);
            let is_known = met == before;
            self.memory = met;
            if is_known {
                break;
            }
        }
        self.leave(op, carried);
    }

    fn repeat(&mut self, op: Op) {
        let (Some(first), Some(second)) = (self.block(op, 0), self.block(op, 1)) else { return };
        let (carried, passed) = (self.body.args(first).to_vec(), self.body.args(second).to_vec());
        self.hand(op, 0, &carried);
        let mut entry = self.memory.clone();
        let asked = loop {
            self.region(first, 1, &passed);
            let asked = self.memory.clone();
            self.region(second, 0, &carried);
            let met = entry.meet(&self.memory);
            if met == entry {
                break asked;
            }
            (entry, self.memory) = (met.clone(), met);
        };
        self.memory = asked;
        self.leave(op, &passed);
    }

    /// The results of a loop are the values it carries, in the same bytes.
    fn leave(&mut self, op: Op, carried: &[Value]) {
        for (index, arg) in carried.iter().enumerate() {
            let result = self.body.result(op, index);
            let (Some(from), Some(to)) = (self.homes.get(*arg).cloned(), self.homes.get(result).cloned())
            else {
                continue;
            };
            if from != to {
                self.fault(op, format!("result {index} is not where the loop carries it"));
            }
            if !self.memory.holds(&from, *arg, 0) {
                self.fault(
                    op,
                    format!("the bytes of result {index} are overwritten before the loop is left"),
                );
            }
            self.memory.write(&to, Some(result));
        }
    }

    /// Checks a read of operand `index`: unless it is a weight, its bytes must be there.
    fn need(&mut self, op: Op, index: usize) {
        if !self.weights.contains(self.body.operand(op, index)) {
            self.find(op, index);
        }
    }

    /// Passes operands of `op`, from `first` on, to `targets`, as one parallel move.
    fn hand(&mut self, op: Op, first: usize, targets: &[Value]) {
        let scratch = match self.scratch_of(op) {
            Ok(scratch) => scratch,
            Err(message) => return self.fault(op, message),
        };
        let mut sources: Vec<Option<Home>> = Vec::new();
        for index in first..first + targets.len() {
            let is_weight = self.weights.contains(self.body.operand(op, index));
            let source = if is_weight { None } else { self.find(op, index) };
            if source.as_ref().is_some_and(|home| !home.is_dense() || home.is_turned) {
                self.fault(op, format!("operand {index} is passed on, but has gaps or another order"));
            }
            sources.push(source);
        }
        let homes: Vec<Home> = targets.iter().filter_map(|target| self.homes.get(*target).cloned()).collect();
        for (index, home) in homes.iter().enumerate() {
            if homes[..index].iter().any(|other| other.meets(home)) {
                self.fault(op, format!("value {index} is copied to bytes that another value is copied to"));
            }
        }
        let needed = needed_bytes(&sources, &homes);
        let given = scratch.as_ref().map_or(0, |home| home.bytes.end - home.bytes.start);
        if given < needed {
            let message = format!("the parallel copy needs {needed} bytes of scratch, found {given}");
            self.fault(op, message);
        }
        if let Some(scratch) = scratch {
            if sources.iter().flatten().chain(&homes).any(|home| home.meets(&scratch)) {
                self.fault(op, "scratch shares bytes with a value of the parallel copy".into());
            }
            self.memory.write(&scratch, None);
        }
        for (target, home) in targets.iter().zip(&homes) {
            self.memory.write(home, Some(*target));
        }
    }

    /// The scratch of an operation's parallel move.
    fn scratch_of(&mut self, op: Op) -> Result<Option<Home>, String> {
        let places = self.parse_places(op, &self.body.at(self.ctx, op).decisions())?;
        Ok(places.and_then(|(_, scratch)| scratch))
    }
}

/// The bytes of scratch for a parallel move from `sources` (none for weights) to `targets`.
fn needed_bytes(sources: &[Option<Home>], targets: &[Home]) -> u64 {
    let sizes: Vec<u64> = targets.iter().map(|home| home.bytes.end - home.bytes.start).collect();
    let source = |index: usize| sources.get(index).and_then(Option::as_ref);
    let is_done = |index: usize| source(index) == Some(&targets[index]);
    transfers(&sizes, is_done, |a, b| source(b).is_some_and(|from| targets[a].meets(from))).1
}
