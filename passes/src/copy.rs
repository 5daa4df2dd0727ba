//! Copies operations of one body into another.

use ir::{Block, Body, Context, Location, LocationData, Op, Region, Type, Value};
use rustc_hash::FxHashMap;

/// Copies operations from one body into another.
///
/// Operations are made first; their operands are set when all operations exist, so blocks may be copied in
/// any order.
pub struct Copying<'b> {
    ctx: &'b Context,
    from: &'b Body,
    /// The caller in the copies' locations, if any.
    caller: Option<Location>,
    /// The copy of each value, or the value given for it.
    pub values: FxHashMap<Value, Value>,
    /// The copy of each block, or the block given for it.
    pub blocks: FxHashMap<Block, Block>,
    made: Vec<(Op, Op)>,
}

impl<'b> Copying<'b> {
    /// A copier whose copies have locations `callsite(original at caller)`.
    pub fn new(ctx: &'b Context, from: &'b Body, caller: Location) -> Copying<'b> {
        let (values, blocks) = (FxHashMap::default(), FxHashMap::default());
        Copying { ctx, from, caller: Some(caller), values, blocks, made: Vec::new() }
    }

    /// A copier whose copies have the locations of their originals.
    pub fn in_place(ctx: &'b Context, from: &'b Body) -> Copying<'b> {
        Copying { caller: None, ..Copying::new(ctx, from, Location::UNKNOWN) }
    }

    /// The body to copy from.
    pub fn from(&self) -> &'b Body {
        self.from
    }

    /// Appends a copy of an operation, with its regions, to a block.
    pub fn append(&mut self, to: &mut Body, op: Op, block: Block) -> Op {
        let new = self.make(to, op);
        to.append(new, block);
        new
    }

    /// Inserts a copy of an operation, with its regions, before another.
    pub fn insert_before(&mut self, to: &mut Body, op: Op, before: Op) -> Op {
        let new = self.make(to, op);
        to.insert_before(new, before);
        new
    }

    /// Appends an empty block with the arguments of another to a region.
    pub fn add_block(&mut self, to: &mut Body, block: Block, region: Region) -> Block {
        let new = to.add_block(region);
        self.blocks.insert(block, new);
        for &arg in self.from.args(block) {
            let copy = to.add_arg(new, self.from.ty(arg));
            to.set_arg_location(copy, self.located(self.from.arg_location(arg)));
            self.values.insert(arg, copy);
        }
        new
    }

    /// Sets the operands and successors of all copies.
    pub fn finish(&mut self, to: &mut Body) {
        for (op, new) in std::mem::take(&mut self.made) {
            let operands: Vec<Value> = self.from.operands(op).map(|value| self.values[&value]).collect();
            to.set_operands(new, &operands);
            if !self.from.successors(op).is_empty() {
                let mut successors = self.from.successors(op).to_vec();
                successors.iter_mut().for_each(|successor| successor.block = self.blocks[&successor.block]);
                to.set_successors(new, successors);
            }
        }
    }

    fn make(&mut self, to: &mut Body, op: Op) -> Op {
        let types: Vec<Type> = self.from.results(op).map(|result| self.from.ty(result)).collect();
        let new = to.make_op(self.from.name(op), &[], &types, self.located(self.from.location(op)));
        to.set_properties(new, self.from.properties(op));
        to.set_attrs(new, self.from.attrs(op));
        if let Some(child) = self.from.child(op) {
            to.set_child(new, child.clone());
        }
        self.values.extend(self.from.results(op).zip(to.results(new)));
        self.made.push((op, new));
        for &region in self.from.regions(op) {
            let inner = to.add_op_region(new);
            let blocks = self.from.blocks(region).iter();
            let blocks: Vec<(Block, Block)> =
                blocks.map(|block| (*block, self.add_block(to, *block, inner))).collect();
            for (block, copy) in blocks {
                for op in self.from.ops(block) {
                    self.append(to, op, copy);
                }
            }
        }
        new
    }

    /// `callsite(location at caller)`.
    fn located(&self, callee: Location) -> Location {
        match self.caller {
            None => callee,
            Some(Location::UNKNOWN) if callee == Location::UNKNOWN => callee,
            Some(caller) => self.ctx.location(LocationData::CallSite { callee, caller }),
        }
    }
}
