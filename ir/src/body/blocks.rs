//! Blocks: their operations in order, and the blocks of each region.

use cranelift_entity::{EntityList, EntitySet};

use super::{ArgRecord, Block, BlockRecord, Body, RegionRecord, ValueOwner, ValueRecord};
use crate::entities::{Location, Op, Region, Type, Value};

/// The distance between the sequence numbers of operations that are appended.
const STRIDE: u32 = 64;
/// How many times as many operations a range of sequence numbers may have as one of half its length.
const GROWTH: f64 = 5.0 / 3.0;

impl Body {
    /// Adds an empty block at the end of a region.
    pub fn add_block(&mut self, region: Region) -> Block {
        let block = self.make_block();
        self.attach_block(region, block);
        block
    }

    /// Makes an empty block outside of any region (for a forward reference during parsing).
    pub fn make_block(&mut self) -> Block {
        let record = BlockRecord {
            args: EntityList::new(),
            region: None.into(),
            first: None.into(),
            last: None.into(),
        };
        self.nest.blocks.push(record)
    }

    /// Appends a block that is in no region to a region.
    pub fn attach_block(&mut self, region: Region, block: Block) {
        assert!(self.nest.blocks[block].region.is_none(), "{block} stands in a region already");
        self.touch();
        self.nest.blocks[block].region = region.into();
        let nest = &mut *self.nest;
        nest.regions[region].blocks.push(block, &mut nest.block_lists);
    }

    /// Takes a block, with its operations, out of its region.
    pub fn detach_block(&mut self, block: Block) {
        self.touch();
        let region = self.nest.blocks[block].region.take().expect("a block in a region");
        let kept: Vec<Block> = self.blocks(region).iter().copied().filter(|other| *other != block).collect();
        self.nest.set_blocks(region, &kept);
    }

    /// Erases blocks of a region with their operations. These may read each other's values, but no other
    /// operation may read them.
    pub fn remove_blocks(&mut self, region: Region, blocks: &[Block]) {
        let mut gone = EntitySet::new();
        gone.extend(blocks.iter().copied());
        let kept: Vec<Block> =
            self.blocks(region).iter().copied().filter(|block| !gone.contains(*block)).collect();
        self.nest.set_blocks(region, blocks);
        self.erase_blocks(region);
        self.nest.set_blocks(region, &kept);
    }

    /// Adds an argument of type `ty` at the end of a block's arguments.
    pub fn add_arg(&mut self, block: Block, ty: Type) -> Value {
        self.touch();
        let nest = &mut *self.nest;
        let index = nest.blocks[block].args.len(&nest.value_lists) as u32;
        let arg = nest.args.push(ArgRecord { block, index });
        let record = ValueRecord { ty, owner: ValueOwner::arg(arg), first_use: None.into() };
        let value = self.values.push(record);
        nest.blocks[block].args.push(value, &mut nest.value_lists);
        value
    }

    /// The arguments of a block.
    pub fn args(&self, block: Block) -> &[Value] {
        self.nest.blocks[block].args.as_slice(&self.nest.value_lists)
    }

    /// Removes an unused argument of a block.
    pub fn remove_arg(&mut self, block: Block, index: usize) {
        let value = self.args(block)[index];
        assert!(!self.is_used(value), "argument {index} of {block} is read");
        self.touch();
        let nest = &mut *self.nest;
        nest.blocks[block].args.remove(index, &mut nest.value_lists);
        for later in index..self.args(block).len() {
            let value = self.args(block)[later];
            let arg = self.values[value].owner.as_arg().expect("arguments of blocks are arguments");
            self.nest.args[arg].index = later as u32;
        }
    }

    /// The blocks of a region, entry first.
    pub fn blocks(&self, region: Region) -> &[Block] {
        self.nest.get().map_or(&[], |nest| nest.blocks(region))
    }

    /// All blocks of the regions of this body, region by region in the order of creation.
    pub fn all_blocks(&self) -> impl Iterator<Item = Block> + '_ {
        let regions = self.nest.get().map(|nest| nest.regions.keys());
        regions.into_iter().flatten().flat_map(|region| self.blocks(region).iter().copied())
    }

    /// The entry block of a region, if it has blocks.
    pub fn entry(&self, region: Region) -> Option<Block> {
        self.blocks(region).first().copied()
    }

    /// The region of a block.
    pub fn region_of(&self, block: Block) -> Option<Region> {
        self.nest.blocks[block].region.expand()
    }

    /// The operation that owns a region; none for a root region.
    pub fn owner_of(&self, region: Region) -> Option<Op> {
        self.nest.get()?.regions[region].owner.expand()
    }

    /// The operation whose region contains an operation; none at the top of the isolated operation.
    pub fn parent_op(&self, op: Op) -> Option<Op> {
        self.owner_of(self.region_of(self.block_of(op)?)?)
    }

    pub(super) fn add_region(&mut self, owner: Op) -> Region {
        self.nest.regions.push(RegionRecord { owner: owner.into(), blocks: EntityList::new() })
    }

    /// The block that contains an operation.
    pub fn block_of(&self, op: Op) -> Option<Block> {
        self.ops[op].block.expand()
    }

    /// The operations of a block, in order.
    pub fn ops(&self, block: Block) -> impl Iterator<Item = Op> + '_ {
        let first = self.nest.blocks[block].first.expand();
        std::iter::successors(first, |op| self.ops[*op].next.expand())
    }

    /// The first operation of a block.
    pub fn first_op(&self, block: Block) -> Option<Op> {
        self.nest.blocks[block].first.expand()
    }

    /// The last operation of a block: its terminator, if it is complete.
    pub fn last_op(&self, block: Block) -> Option<Op> {
        self.nest.blocks[block].last.expand()
    }

    /// The operation after another in its block.
    pub fn next_op(&self, op: Op) -> Option<Op> {
        self.ops[op].next.expand()
    }

    /// The operation before another in its block.
    pub fn prev_op(&self, op: Op) -> Option<Op> {
        self.ops[op].prev.expand()
    }

    /// Whether `a` comes before `b`; both must be in one block.
    pub fn is_before(&self, a: Op, b: Op) -> bool {
        assert_eq!(self.block_of(a), self.block_of(b), "{a} and {b} stand in different blocks");
        self.ops[a].seq < self.ops[b].seq
    }

    /// Appends a detached operation to a block.
    pub fn append(&mut self, op: Op, block: Block) {
        let last = self.nest.blocks[block].last.expand();
        let seq = last.map_or(0, |last| self.ops[last].seq).saturating_add(STRIDE);
        self.insert_between(op, block, last, None);
        self.ops[op].seq = seq;
        if seq == u32::MAX {
            self.renumber(block);
        }
    }

    /// Inserts a detached operation before another.
    pub fn insert_before(&mut self, op: Op, before: Op) {
        let block = self.block_of(before).expect("an operation in a block");
        let prev = self.prev_op(before);
        self.insert_between(op, block, prev, Some(before));
        let low = prev.map_or(0, |prev| self.ops[prev].seq);
        let high = self.ops[before].seq;
        self.ops[op].seq = low + (high - low) / 2;
        if high - low < 2 {
            self.spread(op, block);
        }
    }

    /// Inserts a detached operation after another.
    pub fn insert_after(&mut self, op: Op, after: Op) {
        match self.next_op(after) {
            Some(next) => self.insert_before(op, next),
            None => self.append(op, self.block_of(after).expect("an operation in a block")),
        }
    }

    /// Removes an operation from its block; it keeps its operands and results.
    pub fn detach(&mut self, op: Op) {
        let Some(block) = self.ops[op].block.take() else {
            return;
        };
        self.touch();
        let (prev, next) = (self.ops[op].prev.take(), self.ops[op].next.take());
        match prev {
            Some(prev) => self.ops[prev].next = next.into(),
            None => self.nest.blocks[block].first = next.into(),
        }
        match next {
            Some(next) => self.ops[next].prev = prev.into(),
            None => self.nest.blocks[block].last = prev.into(),
        }
    }

    fn insert_between(&mut self, op: Op, block: Block, prev: Option<Op>, next: Option<Op>) {
        assert!(self.ops[op].block.is_none(), "{op} stands in a block already");
        self.touch();
        let record = &mut self.ops[op];
        record.block = block.into();
        record.prev = prev.into();
        record.next = next.into();
        match prev {
            Some(prev) => self.ops[prev].next = op.into(),
            None => self.nest.blocks[block].first = op.into(),
        }
        match next {
            Some(next) => self.ops[next].prev = op.into(),
            None => self.nest.blocks[block].last = op.into(),
        }
    }

    /// Spreads the sequence numbers around an operation that has the number of a neighbour, over the smallest
    /// aligned range around it that has few operations. So n insertions at one place of a block with at most
    /// seven million operations take n log² n steps, as in Bender et al., "Two Simplified Algorithms for
    /// Maintaining Order in a List", 2002.
    fn spread(&mut self, op: Op, block: Block) {
        let seq = self.ops[op].seq;
        let (mut first, mut last) = (op, op);
        let mut count = 1;
        let mut most = 1.0;
        for bits in 1..u32::BITS {
            let begin = seq >> bits << bits;
            let end = begin | ((1 << bits) - 1);
            while let Some(prev) = self.prev_op(first).filter(|prev| self.ops[*prev].seq >= begin) {
                first = prev;
                count += 1;
            }
            while let Some(next) = self.next_op(last).filter(|next| self.ops[*next].seq <= end) {
                last = next;
                count += 1;
            }
            most *= GROWTH;
            if f64::from(count) <= most {
                return self.number_evenly(first, count, begin, (1 << bits) / count);
            }
        }
        self.renumber(block);
    }

    /// Numbers all operations of a block evenly. The upper half of the numbers is left to those that are
    /// appended.
    fn renumber(&mut self, block: Block) {
        let count = self.ops(block).count() as u32;
        if let Some(first) = self.first_op(block) {
            let stride = (u32::MAX / 2 / (count + 1)).max(1);
            self.number_evenly(first, count, stride, stride);
        }
    }

    /// Gives `count` operations numbers at a distance of `stride`.
    fn number_evenly(&mut self, first: Op, count: u32, begin: u32, stride: u32) {
        let mut op = Some(first);
        for position in 0..count {
            let at = op.expect("a block has the operations that were counted");
            self.ops[at].seq = begin + position * stride;
            op = self.next_op(at);
        }
    }

    /// The location of a block argument, unknown if none was set.
    pub fn arg_location(&self, arg: Value) -> Location {
        self.nest.arg_locations.get(&arg).copied().unwrap_or(Location::UNKNOWN)
    }

    /// Sets the location of a block argument.
    pub fn set_arg_location(&mut self, arg: Value, location: Location) {
        self.nest.arg_locations.insert(arg, location);
    }

    /// The locations of all arguments that have one, so that they can be changed.
    pub fn arg_locations_mut(&mut self) -> impl Iterator<Item = &mut Location> {
        self.nest.get_mut().into_iter().flat_map(|nest| nest.arg_locations.values_mut())
    }
}
