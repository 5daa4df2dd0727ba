//! Fusion: groups with one loop nest, or one contraction with operations before and after it.
//!
//! ```text
//! %1 = nn.conv2d %0, %w, %b         %3 = optc.group(%a = %0, %c = %w, %d = %b, %e = %r) {
//! %2 = nn.add %1, %r                  %1 = nn.conv2d %a, %c, %d
//! %3 = nn.relu %2              =>     %2 = nn.add %1, %e
//!                                     %3 = nn.relu %2
//!                                     optc.yield %3 }
//! ```
//!
//! A group has one result; all other values that its operations compute are read only inside it, and never
//! stored. First come groups around several contractions and other kernels that the target runs as one, such
//! as attention (`chains.rs`). Then each other contraction (or kernel) takes an epilogue that its kernel
//! supports, as the target says: a bias, a residual and an activation, or the rescaling of integer sums.
//! After that it takes a prologue from the remaining operations. Contractions choose in reverse text order,
//! so that of two that are added the later one gets the sum and keeps its position, unless fewer bytes are
//! live if the earlier one gets it (`sums.rs`). Then elementwise operations of one shape, each read only by
//! the next, form groups. Blocks are processed one by one, including those in the regions of branches and
//! loops. A group is inserted at the position of its last operation. Each operation is visited a bounded
//! number of times.

use ir::dequantized::Dequantized;
use ir::opdef::Traits;
use ir::plan::attrs;
use ir::scalar::{Binary, Scalar};
use ir::target::GroupPosition;
use ir::weights::WeightSet;
use ir::{Block, Body, Builder, Context, Kind, Op, OpSpec, Target, Type, Value, size};
use std::collections::{BTreeMap, BTreeSet};

use crate::edit::{blocks, copy_to};
use crate::manager::Changes;

mod chains;
mod sums;

/// Groups the operations of a function; a group has at most `max_ops` of them. Returns the number of groups.
pub fn fuse(ctx: &Context, target: &dyn Target, body: &mut Body, max_ops: usize, changes: &Changes) -> usize {
    let left = sums::sums_for_the_earlier(ctx, target, body, max_ops);
    fuse_with(ctx, target, body, (max_ops, changes), &left)
}

/// Like [`fuse`], but for the sums in `left` of two contractions, the later contraction leaves the sum to the
/// earlier one.
fn fuse_with(
    ctx: &Context,
    target: &dyn Target,
    body: &mut Body,
    (max_ops, changes): (usize, &Changes),
    left: &BTreeSet<Op>,
) -> usize {
    let mut chooser = FusionChooser::new(ctx, target, body, max_ops, left);
    let mut groups: Vec<Group> =
        blocks(ctx, body).into_iter().flat_map(|block| chooser.choose(block)).collect();
    groups.retain(|group| {
        let what =
            || format!("a group of {} around {}", group.ops.len(), body.at(ctx, group.root).describe());
        changes.allow(what)
    });
    groups.iter().for_each(|group| outline(ctx, body, group));
    groups.len()
}

/// Operations to be fused, in text order; the last one computes the result.
struct Group {
    ops: Vec<Op>,
    /// The operation that the group is named after.
    root: Op,
}

struct FusionChooser<'a> {
    ctx: &'a Context,
    target: &'a dyn Target,
    body: &'a Body,
    weights: WeightSet,
    max_ops: usize,
    /// Sums that the later of the two contractions leaves to the earlier.
    left: &'a BTreeSet<Op>,
    /// The current block.
    block: Option<Block>,
    /// Its operations that are not weights, in text order.
    steps: Vec<Op>,
    /// The group of each operation.
    group_of: BTreeMap<Op, usize>,
    groups: Vec<Group>,
}

/// The operations that an epilogue may still take, in order.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum EpilogueStage {
    Bias,
    Residual,
    Activation,
    Done,
}

impl<'a> FusionChooser<'a> {
    fn new(
        ctx: &'a Context,
        target: &'a dyn Target,
        body: &'a Body,
        max_ops: usize,
        left: &'a BTreeSet<Op>,
    ) -> Self {
        let weights = WeightSet::of(ctx, body);
        let steps = Vec::new();
        let group_of = BTreeMap::new();
        let groups = Vec::new();
        FusionChooser { ctx, target, body, weights, max_ops, left, block: None, steps, group_of, groups }
    }

    /// All groups of at least two operations in a block, in the text order of their results.
    fn choose(&mut self, block: Block) -> Vec<Group> {
        self.block = Some(block);
        self.group_of.clear();
        self.steps = self.body.ops(block).filter(|op| !self.weights.is_weight_op(self.body, *op)).collect();
        self.find_chains();
        let chains = self.groups.len();
        for op in self.steps.clone().into_iter().rev() {
            let is_kernel = matches!(self.body.at(self.ctx, op).kind(), Kind::Contract(_) | Kind::Kernel(_));
            if is_kernel && self.body.result_count(op) == 1 && !self.group_of.contains_key(&op) {
                match self.is_quantized(op) {
                    true => self.grow_rescaling(op),
                    false => self.grow_epilogue(op),
                }
            }
        }
        for group in chains..self.groups.len() {
            if !self.is_quantized(self.groups[group].root) {
                self.grow_prologue(group);
            }
        }
        for op in self.steps.clone() {
            if self.is_free_elementwise(op) {
                self.join_producers(op);
            }
        }
        let position: BTreeMap<Op, usize> = self.steps.iter().enumerate().map(|(at, op)| (*op, at)).collect();
        let mut groups = std::mem::take(&mut self.groups);
        groups.retain(|group| group.ops.len() > 1);
        for group in &mut groups {
            group.ops.sort_by_key(|op| position[op]);
        }
        groups.sort_by_key(|group| group.ops.last().map(|op| position[op]));
        groups
    }

    fn is_free_elementwise(&self, op: Op) -> bool {
        self.body.block_of(op) == self.block
            && matches!(self.body.at(self.ctx, op).kind(), Kind::Elementwise(_))
            && !self.group_of.contains_key(&op)
    }

    fn add_group(&mut self, ops: Vec<Op>, root: Op) {
        self.group_of.extend(ops.iter().map(|op| (*op, self.groups.len())));
        self.groups.push(Group { ops, root });
    }

    /// Starts a group with a contraction and its epilogue.
    fn grow_epilogue(&mut self, root: Op) {
        let mut ops = vec![root];
        let mut stage =
            if self.body.operand_count(root) > 2 { EpilogueStage::Residual } else { EpilogueStage::Bias };
        while let Some(user) = self.only_user(self.body.result(*ops.last().expect("the root"), 0)) {
            if ops.len() >= self.max_ops || !self.is_free_elementwise(user) {
                break;
            }
            let last = self.body.result(*ops.last().expect("the root"), 0);
            if self.left.contains(&user) && sums::is_of_the_later(self.body, user, last) {
                break;
            }
            match self.epilogue_place(root, user, last, stage) {
                Some(next) => stage = next,
                None => break,
            }
            ops.push(user);
        }
        self.add_group(ops, root);
    }

    /// Whether an operation multiplies 8-bit integers.
    fn is_quantized(&self, op: Op) -> bool {
        matches!(self.body.at(self.ctx, op).kind(), Kind::Contract(contract) if contract.is_quantized())
    }

    /// Starts a group with a quantized contraction and the rescaling of its sums, up to 8-bit integers if
    /// they are reached, since these take the least memory.
    fn grow_rescaling(&mut self, root: Op) {
        let mut ops = vec![root];
        let mut last = root;
        let mut stored = None;
        while let Some(user) = self.only_user(self.body.result(last, 0)) {
            let at = self.body.at(self.ctx, user);
            let root = self.body.at(self.ctx, root);
            let made = self.residual(user, last);
            let fits = ops.len() + made.len() < self.max_ops
                && self.is_free_elementwise(user)
                && self.target.fuses(root, at, GroupPosition::Rescaling);
            if !fits {
                break;
            }
            ops.extend(made);
            ops.push(user);
            last = user;
            if size::storage_bits(self.ctx, self.ctx.elem(at.result_type(0))) == Some(8) {
                stored = Some(ops.len());
            }
        }
        ops.truncate(stored.unwrap_or(ops.len()));
        self.add_group(ops, root);
    }

    /// The operations that compute the other operand of a sum of 8-bit integers, if only the sum reads them.
    fn residual(&self, user: Op, last: Op) -> Vec<Op> {
        let last = self.body.result(last, 0);
        let others = self.body.operands(user).filter(|operand| *operand != last);
        let at = self.body.at(self.ctx, user);
        let mut made = others.filter_map(|other| Dequantized::of_addend(at, other));
        let is_step = |op: &Op| self.is_free_elementwise(*op) && !self.weights.is_weight_op(self.body, *op);
        match made.next() {
            Some(made) if made.ops.iter().all(is_step) => made.ops,
            _ => Vec::new(),
        }
    }

    /// Adds a prologue that the kernel of a group's contraction supports, from operations that no epilogue
    /// took.
    fn grow_prologue(&mut self, group: usize) {
        let root = self.groups[group].root;
        let mut first = root;
        while let Some(op) =
            self.prologue(root, first).filter(|_| self.groups[group].ops.len() < self.max_ops)
        {
            self.groups[group].ops.push(op);
            self.group_of.insert(op, group);
            first = op;
        }
    }

    /// The only operation that reads a value, if it reads it once and is no terminator.
    fn only_user(&self, value: Value) -> Option<Op> {
        let mut uses = self.body.uses(value);
        let only = uses.next()?;
        (uses.next().is_none() && !self.body.at(self.ctx, only.op).has(Traits::TERMINATOR)).then_some(only.op)
    }

    /// The next stage of the epilogue after `user`, which reads `last`; none if it can't take `user`.
    fn epilogue_place(&self, root: Op, user: Op, last: Value, stage: EpilogueStage) -> Option<EpilogueStage> {
        let op = self.body.at(self.ctx, user);
        let Kind::Elementwise(scalar) = op.kind() else { return None };
        if self.body.ty(last) != op.result_type(0) {
            return None;
        }
        let (place, next) = if op.operand_count() == 1 {
            (GroupPosition::Activation, EpilogueStage::Done)
        } else if matches!(scalar, Scalar::Binary(Binary::Add, Scalar::Arg(0), Scalar::Arg(1))) {
            let other = self.body.operands(user).find(|operand| *operand != last)?;
            if self.is_per_channel(other) {
                (GroupPosition::Bias, EpilogueStage::Residual)
            } else if self.body.ty(other) == self.body.ty(last) {
                (GroupPosition::Residual, EpilogueStage::Activation)
            } else {
                return None;
            }
        } else {
            return None;
        };
        let is_in_order = match place {
            GroupPosition::Bias => stage <= EpilogueStage::Bias,
            GroupPosition::Residual => stage <= EpilogueStage::Residual,
            _ => stage <= EpilogueStage::Activation,
        };
        let root = self.body.at(self.ctx, root);
        (is_in_order && self.target.fuses(root, op, place)).then_some(next)
    }

    /// Whether a value is a weight with one number for each index of the last axis.
    fn is_per_channel(&self, value: Value) -> bool {
        let shape = self.ctx.static_shape(self.body.ty(value));
        let is_flat = shape.is_some_and(|shape| match shape.split_last() {
            Some((_, outer)) => outer.iter().all(|size| *size == 1),
            None => false,
        });
        is_flat && self.weights.contains(value)
    }

    /// The operation that computes operand 0 of `first`, if the root's kernel can do it while reading.
    fn prologue(&self, root: Op, first: Op) -> Option<Op> {
        let value = self.body.operands(first).next()?;
        let op = self.body.defining_op(value)?;
        let is_private = self.only_user(value) == Some(first) && self.is_free_elementwise(op);
        let others_are_weights = self.body.operands(op).skip(1).all(|other| self.weights.contains(other));
        let op_ref = self.body.at(self.ctx, op);
        let keeps_type = self.body.operand_count(op) > 0 && op_ref.operand_type(0) == op_ref.result_type(0);
        let fits = is_private && others_are_weights && keeps_type;
        (fits && self.target.fuses(self.body.at(self.ctx, root), op_ref, GroupPosition::Prologue))
            .then_some(op)
    }

    /// Puts `op` into a group with the elementwise operations of its shape whose results only it reads.
    fn join_producers(&mut self, op: Op) {
        let mut ops = vec![op];
        let ty = self.body.at(self.ctx, op).result_type(0);
        for operand in self.body.operands(op) {
            let Some(producer) = self.body.defining_op(operand) else { continue };
            let Some(&group) = self.group_of.get(&producer) else { continue };
            let is_elementwise =
                matches!(self.body.at(self.ctx, self.groups[group].root).kind(), Kind::Elementwise(_));
            let made = self.body.at(self.ctx, producer).result_type(0);
            let same_shape = size::have_equal_sizes(self.ctx, made, ty);
            let is_private = self.only_user(operand) == Some(op);
            if is_elementwise
                && same_shape
                && is_private
                && ops.len() + self.groups[group].ops.len() <= self.max_ops
            {
                ops.append(&mut self.groups[group].ops);
            }
        }
        self.add_group(ops, op);
    }
}

/// Moves the operations of a group into the body of an `optc.group` at the position of the last one.
fn outline(ctx: &Context, body: &mut Body, group: &Group) {
    let last = *group.ops.last().expect("groups are not empty");
    let made: Vec<Value> = group.ops.iter().flat_map(|op| body.results(*op)).collect();
    let mut inputs: Vec<Value> = Vec::new();
    for operand in group.ops.iter().flat_map(|op| body.operands(*op)) {
        if !made.contains(&operand) && !inputs.contains(&operand) {
            inputs.push(operand);
        }
    }
    let results: Vec<Type> = body.results(last).map(|result| body.ty(result)).collect();
    let location = body.location(group.root);
    let mut builder = Builder::before(ctx, body, last);
    builder.location = location;
    let spec = OpSpec { operands: &inputs, results: Some(&results), ..OpSpec::default() };
    let outer = builder.build("optc.group", spec).expect("the types are given");
    // Only the result is stored, so the group takes over its pool request.
    if let Some(pools) = body.at(ctx, last).attr(attrs::MEM_POOL) {
        body.set_attr(ctx, outer, attrs::MEM_POOL, pools);
    }
    let region = body.add_op_region(outer);
    let block = body.add_block(region);
    let mut inner: BTreeMap<Value, Value> = BTreeMap::new();
    for input in inputs {
        let arg = body.add_arg(block, body.ty(input));
        inner.insert(input, arg);
    }
    for &op in &group.ops {
        let operands: Vec<Value> = body.operands(op).map(|operand| inner[&operand]).collect();
        let copy = copy_to(body, op, &operands, block);
        body.remove_attr(ctx, copy, attrs::MEM_POOL);
        inner.extend(body.results(op).zip(body.results(copy)));
    }
    let yielded: Vec<Value> = body.results(last).map(|result| inner[&result]).collect();
    let mut builder = Builder::at_end(ctx, body, block);
    builder.location = location;
    let spec = OpSpec { operands: &yielded, ..OpSpec::default() };
    builder.build("optc.yield", spec).expect("a terminator has no results");
    for (old, new) in body.results(last).zip(body.results(outer)) {
        body.replace_uses(old, new);
    }
    for &op in group.ops.iter().rev() {
        body.erase(op);
    }
}
