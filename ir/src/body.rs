//! The body of an isolated operation: its operations, values, blocks and regions, and their links.
//!
//! The tables are struct-of-arrays; those of blocks are created with the first block (`nest`). The operand
//! slots of an operation are contiguous. They are also the entries of the use lists of the values read, so
//! replacing all uses of a value costs time linear in its uses. The results of an operation are contiguous.
//! Blocks hold their operations as a linked list with sequence numbers, so "is before" takes constant time.
//! An isolated operation nested in a body (a function in a module) owns a [`Body`] of its own: see
//! [`Body::child`].

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityList, PrimaryMap};

use crate::entities::{Attr, Block, Child, Location, Op, OpName, Region, Type, Use, Value};

mod blocks;
mod edits;
mod nest;
mod op_ref;
mod ops;
mod uses;

#[cfg(test)]
mod tests;

pub use op_ref::{Decisions, OpRef};
pub use ops::OpParts;
pub use uses::{UseRef, Uses};

/// The tables of an isolated operation.
#[derive(Clone)]
pub struct Body {
    /// Inherent attributes of the isolated operation itself.
    pub properties: Attr,
    /// Other attributes of the isolated operation itself.
    pub attrs: Attr,
    edits: edits::Edits,
    ops: PrimaryMap<Op, OpRecord>,
    uses: PrimaryMap<Use, UseRecord>,
    values: PrimaryMap<Value, ValueRecord>,
    nest: nest::Lazy,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct ExtraIndex(u32);
cranelift_entity::entity_impl!(ExtraIndex, "extra");

#[derive(Clone, Copy, PartialEq, Eq)]
struct ArgIndex(u32);
cranelift_entity::entity_impl!(ArgIndex, "arg");

/// One operation.
#[derive(Clone)]
struct OpRecord {
    name: OpName,
    properties: Attr,
    attrs: Attr,
    location: Location,
    first_use: u32,
    first_result: u32,
    use_count: u16,
    result_count: u16,
    extra: PackedOption<ExtraIndex>,
    block: PackedOption<Block>,
    prev: PackedOption<Op>,
    next: PackedOption<Op>,
    seq: u32,
}

/// The fields that few operations need.
#[derive(Clone, Default)]
struct Extra {
    regions: EntityList<Region>,
    child: PackedOption<Child>,
    successors: Box<[Successor]>,
}

/// A possible target block of a terminator, and the terminator's operands that become its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Successor {
    /// The block.
    pub block: Block,
    /// First operand of the terminator that is an argument of the block.
    pub first_operand: u32,
    /// The number of operands that are arguments of the block.
    pub operand_count: u32,
}

#[derive(Clone)]
struct UseRecord {
    value: PackedOption<Value>,
    owner: Op,
    prev: PackedOption<Use>,
    next: PackedOption<Use>,
}

#[derive(Clone)]
struct ValueRecord {
    ty: Type,
    owner: ValueOwner,
    first_use: PackedOption<Use>,
}

/// The block of an argument, and the argument's index.
#[derive(Clone)]
struct ArgRecord {
    block: Block,
    index: u32,
}

/// The operation that defines a value, or the value's index among the arguments of all blocks, in four bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct ValueOwner(u32);

impl ValueOwner {
    const ARG_TAG: u32 = 1 << 31;

    fn op(op: Op) -> ValueOwner {
        ValueOwner(op.as_u32())
    }

    fn arg(arg: ArgIndex) -> ValueOwner {
        ValueOwner(arg.as_u32() | Self::ARG_TAG)
    }

    fn as_arg(self) -> Option<ArgIndex> {
        (self.0 & Self::ARG_TAG != 0).then(|| ArgIndex::from_u32(self.0 & !Self::ARG_TAG))
    }

    fn as_op(self) -> Option<Op> {
        (self.0 & Self::ARG_TAG == 0).then(|| Op::from_u32(self.0))
    }
}

#[derive(Clone)]
struct BlockRecord {
    args: EntityList<Value>,
    region: PackedOption<Region>,
    first: PackedOption<Op>,
    last: PackedOption<Op>,
}

#[derive(Clone)]
struct RegionRecord {
    owner: PackedOption<Op>,
    blocks: EntityList<Block>,
}

/// The definition of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueDef {
    /// The result of an operation, with its index.
    Result(Op, usize),
    /// The argument of a block, with its index.
    Arg(Block, usize),
}

impl Body {
    /// A body with `roots` empty regions.
    pub fn new(roots: usize) -> Body {
        Body {
            properties: Attr::EMPTY,
            attrs: Attr::EMPTY,
            edits: edits::Edits::new(),
            ops: PrimaryMap::new(),
            uses: PrimaryMap::new(),
            values: PrimaryMap::new(),
            nest: nest::Lazy::new(roots),
        }
    }

    /// The regions of the isolated operation itself.
    pub fn roots(&self) -> &[Region] {
        self.nest.roots()
    }

    /// The first root region: the body of a function or module.
    pub fn root(&self) -> Region {
        self.roots()[0]
    }

    /// Adds a root region, for an isolated operation whose number of regions is only found during parsing.
    pub fn add_root(&mut self) -> Region {
        self.touch();
        self.nest.add_root()
    }

    /// The number of operations ever made; an upper bound of the indices of [`Op`].
    pub fn op_capacity(&self) -> usize {
        self.ops.len()
    }

    /// The number of values ever made; an upper bound of the indices of [`Value`].
    pub fn value_capacity(&self) -> usize {
        self.values.len()
    }

    /// The number of blocks ever made; an upper bound of the indices of [`Block`].
    pub fn block_capacity(&self) -> usize {
        self.nest.get().map_or(0, |nest| nest.blocks.len())
    }

    /// The number of operands that all operations ever had together.
    pub fn operand_capacity(&self) -> usize {
        self.uses.len()
    }

    /// Makes room for exactly this number of further operations, operands and results. Assumes that the share
    /// of operations with regions, successors or a body of their own stays the same.
    pub fn reserve(&mut self, ops: usize, operands: usize, values: usize) {
        if let Some(nest) = self.nest.get_mut() {
            let share = |count: usize| (count as u128 * ops as u128 / self.ops.len().max(1) as u128) as usize;
            nest.extras.reserve_exact(share(nest.extras.len()));
            nest.children.reserve_exact(share(nest.children.len()));
        }
        self.ops.reserve_exact(ops);
        self.uses.reserve_exact(operands);
        self.values.reserve_exact(values);
    }

    /// Releases unused capacity.
    pub fn shrink_to_fit(&mut self) {
        self.ops.shrink_to_fit();
        self.uses.shrink_to_fit();
        self.values.shrink_to_fit();
        if let Some(nest) = self.nest.get_mut() {
            nest.shrink_to_fit();
        }
    }

    /// The type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.values[value].ty
    }

    /// Changes the type of a value.
    pub fn set_ty(&mut self, value: Value, ty: Type) {
        self.touch();
        self.values[value].ty = ty;
    }

    /// The definition of a value.
    pub fn def(&self, value: Value) -> ValueDef {
        let owner = self.values[value].owner;
        match (owner.as_op(), owner.as_arg()) {
            (Some(op), _) => ValueDef::Result(op, (value.as_u32() - self.ops[op].first_result) as usize),
            (None, Some(arg)) => {
                let arg = &self.nest.args[arg];
                ValueDef::Arg(arg.block, arg.index as usize)
            }
            (None, None) => unreachable!("a value is a result or an argument"),
        }
    }

    /// The operation that defines a value; none for a block argument.
    pub fn defining_op(&self, value: Value) -> Option<Op> {
        self.values[value].owner.as_op()
    }

    /// The block in which a value is defined.
    pub fn def_block(&self, value: Value) -> Option<Block> {
        match self.def(value) {
            ValueDef::Result(op, _) => self.block_of(op),
            ValueDef::Arg(block, _) => Some(block),
        }
    }
}
