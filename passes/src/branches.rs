//! Branches between blocks: reading and changing them.
//!
//! The arguments that a branch passes to each block are operands of the branch; attributes say which, and the
//! successors record it. The functions here keep all three consistent.

use ir::attrs::AttrData;
use ir::opdef::Branch;
use ir::{Attr, Block, Body, Context, Kind, Op, Successor, Value};
use rustc_hash::FxHashMap;

/// The incoming edges of each block: terminators with the number of their successor, in the order of the
/// blocks.
pub type Ways = FxHashMap<Block, Vec<(Op, usize)>>;

/// All edges between the blocks of a body.
pub fn ways(body: &Body) -> Ways {
    let mut ways = Ways::default();
    for op in body.all_blocks().filter_map(|block| body.last_op(block)) {
        for (number, successor) in body.successors(op).iter().enumerate() {
            ways.entry(successor.block).or_default().push((op, number));
        }
    }
    ways
}

/// The kind of branch that an operation is, if it is one.
pub fn branch(ctx: &Context, body: &Body, op: Op) -> Option<Branch> {
    match body.at(ctx, op).kind() {
        Kind::Branch(branch) => Some(branch),
        _ => None,
    }
}

/// Whether operand `index` of a branch is passed to a block.
pub fn is_handed_on(body: &Body, op: Op, index: usize) -> bool {
    let takes = |successor: &Successor| {
        let first = successor.first_operand as usize;
        (first..first + successor.operand_count as usize).contains(&index)
    };
    body.successors(op).iter().any(takes)
}

/// The values that a branch passes to successor `number`.
pub fn handed(body: &Body, op: Op, number: usize) -> Vec<Value> {
    let Successor { first_operand, operand_count, .. } = body.successors(op)[number];
    (first_operand..first_operand + operand_count).map(|index| body.operand(op, index as usize)).collect()
}

/// The block and the arguments of each successor of a branch.
pub fn targets(body: &Body, op: Op) -> Vec<(Block, Vec<Value>)> {
    let successors = body.successors(op).iter().enumerate();
    successors.map(|(number, successor)| (successor.block, handed(body, op, number))).collect()
}

/// Whether the arguments of a block can be changed: only branches enter it.
pub fn owns_its_args(ctx: &Context, body: &Body, block: Block, ways: &Ways) -> bool {
    let is_entry = body.region_of(block).is_none_or(|region| body.entry(region) == Some(block));
    let mut into = ways.get(&block).into_iter().flatten();
    !is_entry && into.all(|(op, _)| branch(ctx, body, *op).is_some())
}

/// Removes the values that branches pass for these arguments of a block. `indices` are ascending; the block's
/// arguments are not removed.
pub fn stop_handing(ctx: &Context, body: &mut Body, block: Block, ways: &Ways, indices: &[usize]) {
    for &(op, number) in ways.get(&block).into_iter().flatten() {
        let mut targets = targets(body, op);
        let mut index = 0;
        targets[number].1.retain(|_| {
            index += 1;
            !indices.contains(&(index - 1))
        });
        retarget(ctx, body, op, &targets);
    }
}

/// Sets the successors of a branch and the values passed to them; the number of successors stays.
pub fn retarget(ctx: &Context, body: &mut Body, op: Op, targets: &[(Block, Vec<Value>)]) {
    let own = body.successors(op)[0].first_operand as usize;
    let mut operands: Vec<Value> = body.operands(op).take(own).collect();
    let mut successors = Vec::with_capacity(targets.len());
    for (block, args) in targets {
        let (first_operand, operand_count) = (operands.len() as u32, args.len() as u32);
        successors.push(Successor { block: *block, first_operand, operand_count });
        operands.extend(args);
    }
    body.set_operands(op, &operands);
    body.set_successors(op, successors);
    let counts: Vec<usize> = targets.iter().map(|target| target.1.len()).collect();
    match branch(ctx, body, op) {
        Some(Branch::Condition) => {
            let sizes = sizes(ctx, &[own, counts[0], counts[1]]);
            body.set_attr(ctx, op, "operandSegmentSizes", sizes);
        }
        Some(Branch::Switch) => {
            let all = sizes(ctx, &[own, counts[0], counts[1..].iter().sum()]);
            body.set_attr(ctx, op, "operandSegmentSizes", all);
            body.set_attr(ctx, op, "case_operand_segments", sizes(ctx, &counts[1..]));
        }
        Some(Branch::Always) | None => {}
    }
}

/// `array<i32: ...>`.
pub fn sizes(ctx: &Context, sizes: &[usize]) -> Attr {
    let bytes = sizes.iter().flat_map(|size| (*size as i32).to_le_bytes()).collect();
    ctx.attr(AttrData::DenseArray { elem: ctx.int(32), bytes })
}

/// Replaces a branch by an unconditional one.
pub fn go_to(ctx: &Context, body: &mut Body, op: Op, block: Block, args: &[Value]) {
    body.set_name(op, ctx.op_name("cf.br"));
    body.set_properties(op, Attr::EMPTY);
    body.set_operands(op, args);
    body.set_successors(op, vec![Successor { block, first_operand: 0, operand_count: args.len() as u32 }]);
}
