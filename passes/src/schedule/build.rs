//! Builds the search's model of a block: its items, their dependences, and the bytes that they read and
//! write.

use cranelift_entity::{PrimaryMap, SecondaryMap};
use ir::alias::AliasSets;
use ir::memory_pools::ALIGN_BYTES;
use ir::opdef::{Access, RegionFlow};
use ir::plan::attrs;
use ir::weights::WeightSet;
use ir::{Block, Body, Context, Kind, Op, Target, Traits, Value, flow};
use smallvec::SmallVec;

use super::model::{ItemId, Root, RootId, RootWrite, ScheduleItem, ScheduleModel};
use crate::access::access;
use crate::edit::stands_in;
use crate::effects::is_pure;

/// The facts about a function for building its blocks' models.
pub(super) struct FunctionFacts<'a> {
    pub(super) ctx: &'a Context,
    pub(super) target: &'a dyn Target,
    pub(super) body: &'a Body,
    pub(super) aliases: AliasSets,
    pub(super) weights: WeightSet,
    /// Whether a value is an input that the caller keeps.
    pub(super) kept: SecondaryMap<Value, bool>,
    /// The roots that are known to be in the caller's memory.
    pub(super) outside: &'a SecondaryMap<Value, bool>,
    /// The peak of the regions of each operation processed so far, in bytes.
    pub(super) inner_bytes: SecondaryMap<Op, u64>,
}

/// A block's model, with the operation of each item.
pub(super) struct BlockModel {
    pub(super) model: ScheduleModel,
    pub(super) ops: PrimaryMap<ItemId, Op>,
}

/// The model of a block; none if a size is not known.
pub(super) fn block_model(facts: &FunctionFacts<'_>, block: Block) -> Option<BlockModel> {
    let mut builder = ModelBuilder {
        facts,
        block,
        model: ScheduleModel::default(),
        ops: PrimaryMap::new(),
        root_of: SecondaryMap::new(),
        makers: SecondaryMap::new(),
        last_effect: None,
    };
    for &arg in facts.body.args(block) {
        let root = builder.add_root(arg)?;
        builder.model.roots[root].lives_on_entry = true;
    }
    for op in facts.body.ops(block) {
        builder.add(op)?;
    }
    Some(BlockModel { model: builder.model, ops: builder.ops })
}

struct ModelBuilder<'a> {
    facts: &'a FunctionFacts<'a>,
    block: Block,
    model: ScheduleModel,
    ops: PrimaryMap<ItemId, Op>,
    /// The model's root for each alias root that belongs to the block.
    root_of: SecondaryMap<Value, Option<RootId>>,
    /// The items that must have run before a value can be read.
    makers: SecondaryMap<Value, SmallVec<[ItemId; 1]>>,
    last_effect: Option<ItemId>,
}

impl ModelBuilder<'_> {
    fn add_root(&mut self, value: Value) -> Option<RootId> {
        let root = self.facts.aliases.root(value);
        if let Some(id) = self.root_of[root] {
            return Some(id);
        }
        let size_bytes = if self.facts.outside[root] {
            0
        } else {
            self.facts.aliases.size_bytes(root)?.next_multiple_of(ALIGN_BYTES)
        };
        let id = self.model.roots.push(Root { size_bytes, ..Root::default() });
        self.root_of[root] = Some(id);
        Some(id)
    }

    fn add(&mut self, op: Op) -> Option<()> {
        let FunctionFacts { ctx, body, weights, .. } = self.facts;
        if weights.is_weight_op(body, op) {
            return Some(());
        }
        let op_ref = body.at(ctx, op);
        let reads = self.reads(op);
        if op_ref.has(Traits::TERMINATOR) {
            reads.iter().for_each(|value| self.keep(*value));
            return Some(());
        }
        if op_ref.is_structured() || flow::runs(ctx, body, op, weights) {
            self.add_item(op, &reads)?;
        } else {
            let makers: SmallVec<[ItemId; 1]> =
                reads.iter().flat_map(|value| self.makers[*value].iter().copied()).collect();
            body.results(op).for_each(|result| self.makers[result].clone_from(&makers));
        }
        for result in body.results(op) {
            if self.is_read_outside(result) {
                self.keep(result);
            }
        }
        Some(())
    }

    /// The values that an operation reads, including those read in its regions.
    fn reads(&self, op: Op) -> Vec<Value> {
        let body = self.facts.body;
        let mut values: Vec<Value> = body.operands(op).collect();
        if body.at(self.facts.ctx, op).is_structured() {
            let mut open: Vec<Block> =
                body.regions(op).iter().flat_map(|region| body.blocks(*region)).copied().collect();
            while let Some(block) = open.pop() {
                for inner in body.ops(block) {
                    values.extend(body.operands(inner));
                    open.extend(body.regions(inner).iter().flat_map(|region| body.blocks(*region)));
                }
            }
        }
        values
    }

    /// The model's root of a value that belongs to this block.
    fn root(&self, value: Value) -> Option<RootId> {
        if self.facts.weights.contains(value) { None } else { self.root_of[self.facts.aliases.root(value)] }
    }

    fn keep(&mut self, value: Value) {
        if let Some(root) = self.root(value) {
            self.model.roots[root].lives_on = true;
        }
    }

    /// Whether an operation outside this block, and outside the regions in it, reads a value.
    fn is_read_outside(&self, value: Value) -> bool {
        let body = self.facts.body;
        body.uses(value).any(|used| stands_in(body, used.op, self.block).is_none())
    }

    fn add_item(&mut self, op: Op, reads: &[Value]) -> Option<()> {
        let FunctionFacts { ctx, body, .. } = self.facts;
        let has_effect = !is_pure(ctx, body, op);
        let makers = reads.iter().flat_map(|value| self.makers[*value].iter().copied());
        let mut before: Vec<ItemId> = makers.chain(self.last_effect.filter(|_| has_effect)).collect();
        before.sort_unstable();
        before.dedup();
        let mut roots: Vec<RootId> = reads.iter().filter_map(|value| self.root(*value)).collect();
        roots.sort_unstable();
        roots.dedup();
        let scratch = attrs::scratch_bytes(body.at(ctx, op));
        let scratch_bytes = scratch.unwrap_or(0).next_multiple_of(ALIGN_BYTES) + self.facts.inner_bytes[op];
        let mut item = ScheduleItem { before, reads: roots, writes: Vec::new(), scratch_bytes };
        for result in 0..body.result_count(op) {
            let root = self.add_root(body.result(op, result))?;
            let overwrites = self.overwrites(op, result);
            if item.writes.iter().all(|write| write.root != root) {
                item.writes.push(RootWrite { root, overwrites });
            }
        }
        let id = self.model.push(item);
        self.ops.push(op);
        if has_effect {
            self.last_effect = Some(id);
        }
        for result in body.results(op) {
            self.makers[result] = SmallVec::from_elem(id, 1);
        }
        Some(())
    }

    /// The roots that a result may overwrite if they die, by the conditions that hold in every order.
    fn overwrites(&self, op: Op, result: usize) -> Vec<RootId> {
        let FunctionFacts { ctx, target, body, aliases, kept, .. } = self.facts;
        let new = body.result(op, result);
        let same_size = |operand: &usize| {
            let value = body.operand(op, *operand);
            let owner = aliases.root(value);
            let sizes = [new, value, owner].map(|value| aliases.size_bytes(value));
            self.root(value).is_some() && !kept[owner] && sizes.iter().all(|size| *size == sizes[0])
        };
        if body.at(ctx, op).is_structured() {
            // A loop's carried value may be in the bytes of its initial value.
            let carried = (body.operand_count(op) + result).checked_sub(body.result_count(op));
            let is_loop =
                matches!(body.at(ctx, op).kind(), Kind::Region(RegionFlow::For | RegionFlow::While));
            let initial = carried.filter(|operand| is_loop && same_size(operand));
            return initial.and_then(|operand| self.root(body.operand(op, operand))).into_iter().collect();
        }
        let how = |operand: usize| access(ctx, *target, body, op, result, operand);
        let is_alone = |operand: &usize| {
            let owner = aliases.root(body.operand(op, *operand));
            let mut others = (0..body.operand_count(op)).filter(|other| other != operand);
            others.all(|other| {
                aliases.root(body.operand(op, other)) != owner || how(other) == Access::SameIndex
            })
        };
        let operands = (0..body.operand_count(op)).filter(same_size);
        let declared = operands.filter(|operand| how(*operand) != Access::Never).filter(is_alone);
        declared.filter_map(|operand| self.root(body.operand(op, operand))).collect()
    }
}
