//! Dominance: whether every value is defined before it is read, on every path through the blocks.
//!
//! A value may be read where its definition dominates: later in its block, in blocks that can only be reached
//! through its block, and in the regions of operations at such places (see [`crate::dominance`]).

use rustc_hash::FxHashMap;

use super::Checker;
use crate::body::{Body, OpRef, ValueDef};
use crate::dominance::Dominators;
use crate::entities::{Block, Op, Region, Value};
use crate::opdef::Traits;

/// The state of the check of a body's blocks.
struct Dominance<'m> {
    body: &'m Body,
    /// The dominators of each region visited so far.
    regions: FxHashMap<Region, Dominators>,
}

/// Why a value cannot be read at a place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DominanceFault {
    /// Its definition is in a region that does not enclose the place.
    Invisible,
    /// Its definition comes after the place, or not on every path to it.
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

    fn note_fault(&mut self, body: &Body, op: Op, index: usize, fault: DominanceFault) {
        let name = self.ctx.op_name_str(body.name(op));
        let why = match fault {
            DominanceFault::Invisible => "is defined in a region that does not surround it",
            DominanceFault::NotBefore => "does not dominate this use",
        };
        self.breach(body, op, format!("operand {index} of `{name}` {why}"));
    }

    /// The reason why `op`, in `block`, may not read `value`, if any.
    fn fault(
        &self,
        dominance: &mut Dominance<'m>,
        op: Op,
        block: Block,
        value: Value,
    ) -> Option<DominanceFault> {
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
            return Some(DominanceFault::Invisible);
        };
        let Some((op, block)) = self.place_in(body, op, block, region) else {
            return Some(DominanceFault::Invisible);
        };
        if self.is_graph(body, region) {
            return None;
        }
        let is_before = match def_op {
            _ if def_block != block => dominance.dominates(def_block, block, region),
            Some(def) => body.is_before(def, op) || !dominance.is_reachable(block, region),
            None => true,
        };
        (!is_before).then_some(DominanceFault::NotBefore)
    }

    /// The operation of `region`, with its block, that is or encloses `op`.
    fn place_in(&self, body: &Body, mut op: Op, mut block: Block, region: Region) -> Option<(Op, Block)> {
        while body.region_of(block)? != region {
            op = body.parent_op(op)?;
            block = body.block_of(op)?;
        }
        Some((op, block))
    }

    /// Whether values of a region may be read in any order: the owner is unregistered, or it needs no
    /// terminator and so does not run its region.
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
    /// Whether `block` is reachable. In an unreachable block, order does not matter.
    fn is_reachable(&mut self, block: Block, region: Region) -> bool {
        let body = self.body;
        self.regions.entry(region).or_insert_with(|| Dominators::of(body, region)).is_reachable(block)
    }

    fn dominates(&mut self, above: Block, block: Block, region: Region) -> bool {
        let body = self.body;
        self.regions.entry(region).or_insert_with(|| Dominators::of(body, region)).dominates(above, block)
    }
}
