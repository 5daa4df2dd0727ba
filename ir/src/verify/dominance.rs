//! Whether every value is defined before it is read, on every way through the blocks.
//!
//! A value may be read where its definition dominates: later in its block, in blocks that can only be reached through its
//! block, and in the regions of operations that stand at such places. Dominators: Cooper, Harvey, Kennedy, "A Simple, Fast
//! Dominance Algorithm" (2001), for each region with more than one block; quadratic at worst, linear in practice.

use rustc_hash::FxHashMap;

use super::Checker;
use crate::body::{Body, OpRef, ValueDef};
use crate::entities::{Block, Op, Region, Value};
use crate::opdef::Traits;

/// What is known of a body's blocks while it is checked.
struct Dominance<'m> {
    body: &'m Body,
    /// For each region that was asked for, the immediate dominator of each block that can be reached.
    regions: FxHashMap<Region, FxHashMap<Block, Idom>>,
}

/// The immediate dominator of a block and the block's place in reverse postorder.
#[derive(Clone, Copy)]
struct Idom {
    block: Block,
    order: u32,
}

/// Why a value cannot be read at a place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// Its definition stands in a region that does not surround the place.
    Invisible,
    /// Its definition stands behind the place, or not on every way to it.
    NotBefore,
}

impl<'m> Checker<'m> {
    /// Checks every operand of a body.
    pub(super) fn dominance(&mut self, body: &'m Body) {
        let mut dominance = Dominance { body, regions: FxHashMap::default() };
        self.dominance_in(&mut dominance, body.roots());
    }

    fn dominance_in(&mut self, dominance: &mut Dominance<'m>, regions: &[Region]) {
        let body = dominance.body;
        for &block in regions.iter().flat_map(|region| body.blocks(*region)) {
            for op in body.ops(block) {
                for (index, value) in body.operands(op).enumerate() {
                    if let Some(fault) = self.fault(dominance, op, block, value) {
                        self.note_fault(body, op, index, fault);
                    }
                }
                if !body.regions(op).is_empty() {
                    self.dominance_in(dominance, body.regions(op));
                }
            }
        }
    }

    fn note_fault(&mut self, body: &Body, op: Op, index: usize, fault: Fault) {
        let name = self.ctx.op_name_str(body.name(op));
        let why = match fault {
            Fault::Invisible => "is defined in a region that does not surround it",
            Fault::NotBefore => "is not defined before it on every way",
        };
        self.breach(body, op, format!("operand {index} of `{name}` {why}"));
    }

    /// Why `op`, in `block`, may not read `value`.
    fn fault(&self, dominance: &mut Dominance<'m>, op: Op, block: Block, value: Value) -> Option<Fault> {
        let body = dominance.body;
        let (def_op, def_block) = match body.def(value) {
            ValueDef::Result(def, _) => (Some(def), body.block_of(def)),
            ValueDef::Arg(def_block, _) => (None, Some(def_block)),
        };
        if let (Some(def), Some(def_block)) = (def_op, def_block) {
            if def_block == block && body.is_before(def, op) {
                return None;
            }
        } else if def_block == Some(block) {
            return None;
        }
        let Some((def_block, region)) = def_block.and_then(|block| Some((block, body.region_of(block)?)))
        else {
            return Some(Fault::Invisible);
        };
        let Some((op, block)) = self.place_in(body, op, block, region) else { return Some(Fault::Invisible) };
        if self.is_graph(body, region) {
            return None;
        }
        let is_before = match def_op {
            _ if def_block != block => dominance.dominates(def_block, block, region),
            Some(def) => body.is_before(def, op),
            None => true,
        };
        (!is_before).then_some(Fault::NotBefore)
    }

    /// The operation of `region`, with its block, that is `op` or surrounds it.
    fn place_in(&self, body: &Body, mut op: Op, mut block: Block, region: Region) -> Option<(Op, Block)> {
        while body.region_of(block)? != region {
            op = body.parent_op(op)?;
            block = body.block_of(op)?;
        }
        Some((op, block))
    }

    /// Whether values of a region may be read in any order: nothing is known of what nobody registered, and what needs no
    /// terminator does not run.
    fn is_graph(&self, body: &Body, region: Region) -> bool {
        match body.owner_of(region) {
            Some(owner) => OpRef::new(self.ctx, body, owner)
                .def()
                .is_none_or(|def| def.traits.contains(Traits::NO_TERMINATOR)),
            None => body.own_attr(self.ctx, self.ctx.ident("function_type")).is_none(),
        }
    }
}

impl Dominance<'_> {
    /// Whether every way to `block` leads through `above`. A block that cannot be reached is dominated by all.
    fn dominates(&mut self, above: Block, block: Block, region: Region) -> bool {
        let body = self.body;
        let idoms = self.regions.entry(region).or_insert_with(|| immediate_dominators(body, region));
        let Some(mut at) = idoms.get(&block).copied() else { return true };
        let Some(target) = idoms.get(&above) else { return false };
        let mut current = block;
        while current != above && at.order > target.order {
            current = at.block;
            at = idoms[&current];
        }
        current == above
    }
}

/// The immediate dominators of a region's blocks, as far as they can be reached.
fn immediate_dominators(body: &Body, region: Region) -> FxHashMap<Block, Idom> {
    let Some(entry) = body.entry(region) else { return FxHashMap::default() };
    let order = reverse_postorder(body, entry);
    let numbers: FxHashMap<Block, usize> = order.iter().enumerate().map(|(i, block)| (*block, i)).collect();
    let mut predecessors = vec![Vec::new(); order.len()];
    for (number, block) in order.iter().enumerate() {
        for next in successors(body, *block) {
            predecessors[numbers[&next]].push(number);
        }
    }
    let mut idoms: Vec<Option<usize>> = vec![None; order.len()];
    idoms[0] = Some(0);
    let mut has_changed = true;
    while has_changed {
        has_changed = false;
        for number in 1..order.len() {
            let known = predecessors[number].iter().copied().filter(|above| idoms[*above].is_some());
            let idom = known.reduce(|a, b| meet(&idoms, a, b));
            if idoms[number] != idom {
                idoms[number] = idom;
                has_changed = true;
            }
        }
    }
    let pairs = order.iter().enumerate().map(|(number, block)| {
        let idom = order[idoms[number].expect("every block in the order can be reached")];
        (*block, Idom { block: idom, order: number as u32 })
    });
    pairs.collect()
}

/// The lowest block that dominates both.
fn meet(idoms: &[Option<usize>], mut a: usize, mut b: usize) -> usize {
    let up = |block: usize| idoms[block].expect("a dominator was found");
    while a != b {
        while a > b {
            a = up(a);
        }
        while b > a {
            b = up(b);
        }
    }
    a
}

/// The blocks of the same region that a block may go to.
fn successors(body: &Body, block: Block) -> impl Iterator<Item = Block> + '_ {
    let last = body.last_op(block);
    let all = last.into_iter().flat_map(|last| body.successors(last)).map(|successor| successor.block);
    all.filter(move |next| body.region_of(*next) == body.region_of(block))
}

/// The blocks that can be reached from `entry`, each before those that it leads to, loops apart.
fn reverse_postorder(body: &Body, entry: Block) -> Vec<Block> {
    let mut seen = rustc_hash::FxHashSet::default();
    let mut order = Vec::new();
    let mut stack = vec![(entry, successors(body, entry).collect::<Vec<_>>())];
    seen.insert(entry);
    while let Some((block, next)) = stack.last_mut() {
        match next.pop() {
            Some(below) if seen.insert(below) => stack.push((below, successors(body, below).collect())),
            Some(_) => {}
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}
