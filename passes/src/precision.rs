//! Reduced precision: which operands of contractions, and which values stored between steps, become `bf16`.
//!
//! ```text
//! %1 = optc.group(%a = %x, %b = %w) {        %1 = optc.group(%a = %x, %b = %w) -> tensor<..xbf16> {
//!   %2 = nn.conv2d %a, %b                      %2 = nn.cast %a {to = f32}       (%x is stored as bf16)
//!   optc.yield %2                              %3 = nn.cast %b {to = bf16}      (rounded as it is packed)
//! } : tensor<..xf32>                           %4 = nn.cast %3 {to = f32}
//!                                     =>       %5 = nn.conv2d %2, %4            (sums in f32)
//!                                              %6 = nn.cast %5 {to = bf16}
//!                                              optc.yield %6
//!                                            }
//! ```
//!
//! Each rounding is an operation of the program, so the interpreter computes the same as the machine. Of
//! attention, the results of the softmax are rounded before they are multiplied; its kernel rounds them
//! before it divides them by their sum, with an error of the same size. Everything else is computed in `f32`:
//! sums, biases, activations, normalizations, softmax. Inputs, outputs and values passed by control flow stay
//! `f32`.
//!
//! First, each contraction is tried with both operands rounded; the target selects a kernel for it, or none.
//! Then all values between steps are assumed to be `bf16`. A value becomes `f32` again if a step that
//! computes or reads it has no kernel for that, until all steps have one. In the end each attention is tried
//! with its softmax rounded: there is a kernel for that if all its matrices are stored as `bf16`.

use std::collections::BTreeSet;

use ir::builder::infer;
use ir::dialects::nn::window_of;
use ir::opdef::Reduce;
use ir::plan::attrs;
use ir::size::static_extents;
use ir::weights::WeightSet;
use ir::{
    Block, Body, Builder, Context, Diagnostic, FloatKind, Kind, Location, Op, OpSpec, Scalar, Target, Traits,
    Type, TypeData, Value,
};
use rustc_hash::FxHashMap;

use crate::edit::blocks;
use crate::manager::Changes;
use crate::symbolic::is_symbolic;

/// The number format in which a program multiplies and stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Precision {
    /// `f32`, as in the program.
    #[default]
    F32,
    /// `bf16` with sums in `f32`, wherever there are kernels for that.
    Bf16,
}

impl Precision {
    /// The names of all.
    pub const NAMES: &[&str] = &["f32", "bf16"];

    /// The one of this name.
    pub fn named(name: &str) -> Option<Precision> {
        [Precision::F32, Precision::Bf16].into_iter().find(|precision| precision.name() == name)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Precision::F32 => "f32",
            Precision::Bf16 => "bf16",
        }
    }
}

/// The numbers of changes to `bf16`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rounded {
    /// Contractions that multiply `bf16`.
    pub products: usize,
    /// Contractions that still multiply `f32`.
    pub others: usize,
    /// Values that are stored as `bf16`.
    pub stored: usize,
}

/// Why a function of named sizes is not rounded.
pub const SIZES_ARE_NOT_KNOWN: &str =
    "numbers are rounded to bf16 only where all sizes are known: give `--dim`";

/// The least elements of a value that is worth rounding.
const LEAST_ELEMENTS: u64 = 256;

/// The least number of products in a sum that is worth rounding: with fewer, copies of operands take longer
/// than the products. With 4, a product takes 7 times as long as one of `f32` (38,416 rows and 4 columns, AMD
/// EPYC (Zen 4)).
const LEAST_DEPTH: u64 = 8;

/// The most output channels with which a convolution of an image of one channel multiplies `f32`: its
/// numbers can't be read in pairs, and copies take longer than the products. On an Intel Xeon with AMX, a 3x3
/// kernel takes 6 times as long as one of `f32` to 16 channels (64 x 64 pixels), and 2.3 times to 64 (128 x
/// 128). But then the result is `f32`, too, and the next step reads twice as many bytes.
const FEW_OUTPUTS: u64 = 32;

/// Changes a function to multiply and store `bf16`, where the target has kernels for that.
///
/// # Errors
/// If its sizes are not known.
pub fn round_to_bf16(
    ctx: &Context,
    target: &dyn Target,
    body: &mut Body,
    threads: usize,
    changes: &Changes,
) -> Result<Rounded, Vec<Diagnostic>> {
    if is_symbolic(ctx, body) {
        let first = blocks(ctx, body).first().and_then(|block| body.first_op(*block));
        let location = first.map_or(Location::UNKNOWN, |op| body.location(op));
        return Err(vec![Diagnostic::error(location, SIZES_ARE_NOT_KNOWN)]);
    }
    let weights = WeightSet::of(ctx, body);
    let ops = blocks(ctx, body).into_iter().flat_map(|block| body.ops(block));
    let ops: Vec<Op> = ops.filter(|op| !weights.is_weight_op(body, *op)).collect();
    let mut rounding = PrecisionChooser {
        ctx,
        target,
        body,
        threads,
        bf16: ctx.float(FloatKind::Bf16),
        products: BTreeSet::new(),
        stored: BTreeSet::new(),
    };
    let is_attention = |product: RoundedProduct| product.operands == 1;
    let mut others = rounding.round_products(&ops, changes, |product| !is_attention(product));
    rounding.store(&ops, changes);
    others += rounding.round_products(&ops, changes, is_attention);
    for op in ops {
        rounding.rewrite(op);
    }
    Ok(Rounded { products: rounding.products.len(), others, stored: rounding.stored.len() })
}

struct PrecisionChooser<'a> {
    ctx: &'a Context,
    target: &'a dyn Target,
    body: &'a mut Body,
    threads: usize,
    bf16: Type,
    /// Steps whose contraction multiplies `bf16`.
    products: BTreeSet<Op>,
    /// Values that are stored as `bf16`; their type is changed, too.
    stored: BTreeSet<Value>,
}

/// The contraction of a step, and what is rounded for it.
#[derive(Clone, Copy)]
struct RoundedProduct {
    root: Op,
    /// How many of its first operands are rounded.
    operands: usize,
}

/// How a step handles operands and results of `bf16`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Unchanged: none of its operands and results is `bf16`, or all are.
    AsItIs,
    /// In a group that converts operands and results.
    Converted,
}

impl PrecisionChooser<'_> {
    /// Finds the steps that can multiply `bf16`, among those whose contraction is `wanted`; returns how many
    /// of these remain.
    fn round_products(
        &mut self,
        ops: &[Op],
        changes: &Changes,
        wanted: impl Fn(RoundedProduct) -> bool,
    ) -> usize {
        let mut others = 0;
        for &op in ops {
            let Some(product) = self.contraction(op).filter(|product| wanted(*product)) else { continue };
            let root = product.root;
            let may = || format!("{} multiplies bf16", self.body.at(self.ctx, op).describe());
            let is_worth =
                self.is_f32(self.body.result(root, 0)) && self.is_deep(root) && !self.reads_few(root);
            if !is_worth || !changes.allow(may) {
                others += 1;
                continue;
            }
            self.products.insert(op);
            if self.has_converted(op).is_none() {
                self.products.remove(&op);
                others += 1;
            }
        }
        others
    }

    /// Whether each of a contraction's sums has many products. The last axis of the result is the second
    /// operand's, too, unless that is a vector.
    fn is_deep(&self, root: Op) -> bool {
        let sizes = |value: Value| static_extents(self.ctx, self.body.ty(value));
        let (Some(weights), Some(result)) =
            (sizes(self.body.operand(root, 1)), sizes(self.body.result(root, 0)))
        else {
            return true;
        };
        let columns = if weights.len() == 1 { 1 } else { result.last().copied().unwrap_or(1) };
        weights.iter().product::<u64>() >= columns * LEAST_DEPTH
    }

    /// Whether it is a convolution of one channel to few.
    fn reads_few(&self, root: Op) -> bool {
        let op = self.body.at(self.ctx, root);
        let channels = op.operand_shape(1).and_then(|weights| Some([*weights.first()?, *weights.get(1)?]));
        let is_small = channels.is_some_and(|[outputs, inputs]| inputs == 1 && outputs <= FEW_OUTPUTS);
        is_small && window_of(op).is_some() && op.int("groups").unwrap_or(1) == 1
    }

    /// The contraction of a step, if it has one. Of attention's two it is the second: what the first one
    /// multiplies is rounded where it is stored.
    fn contraction(&self, op: Op) -> Option<RoundedProduct> {
        let is_contraction = |op: &Op| matches!(self.body.at(self.ctx, *op).kind(), Kind::Contract(_));
        match self.body.at(self.ctx, op).kind() {
            Kind::Contract(_) => Some(RoundedProduct { root: op, operands: 2 }),
            Kind::Group => {
                let block = self.body.entry(*self.body.regions(op).first()?)?;
                match self.body.ops(block).filter(is_contraction).collect::<Vec<Op>>()[..] {
                    [root] => Some(RoundedProduct { root, operands: 2 }),
                    [_, root] if self.is_softmax(self.body.operand(root, 0)) => {
                        Some(RoundedProduct { root, operands: 1 })
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Whether a softmax computes a value.
    fn is_softmax(&self, value: Value) -> bool {
        let producer = self.body.defining_op(value);
        producer.is_some_and(|op| matches!(self.body.at(self.ctx, op).kind(), Kind::Kernel("softmax")))
    }

    /// Finds the values that can be stored as `bf16`.
    fn store(&mut self, ops: &[Op], changes: &Changes) {
        for &op in ops {
            for value in self.body.results(op).collect::<Vec<Value>>() {
                let what = || format!("{} is stored as bf16", self.body.at(self.ctx, op).describe());
                if self.is_between_steps(op, value) && changes.allow(what) {
                    self.stored.insert(value);
                }
            }
        }
        for value in self.stored.clone() {
            self.body.set_ty(value, self.ctx.with_elem(self.body.ty(value), self.bf16));
        }
        let mut waiting: Vec<Op> = ops.iter().rev().copied().collect();
        while let Some(op) = waiting.pop() {
            if self.way(op).is_some() {
                continue;
            }
            let values: Vec<Value> = self.body.operands(op).chain(self.body.results(op)).collect();
            for value in values.into_iter().filter(|value| self.stored.remove(value)) {
                self.body.set_ty(value, self.ctx.with_elem(self.body.ty(value), self.ctx.f32()));
                waiting.extend(self.body.defining_op(value));
                waiting.extend(self.body.uses(value).map(|used| used.op));
            }
        }
    }

    /// Whether a result is a large tensor of `f32` that is only read by steps of its block.
    fn is_between_steps(&self, op: Op, value: Value) -> bool {
        let block = self.body.block_of(op);
        // Small means of large tensors, too: else these would have to be read as `f32`. But not those that
        // normalizations subtract: their rounding would move all elements.
        let is_mean = matches!(self.body.at(self.ctx, op).kind(), Kind::Reduce(Reduce::Mean));
        if is_mean && !self.is_only_multiplied(value) {
            return false;
        }
        let sized = if is_mean { self.body.operands(op).next().unwrap_or(value) } else { value };
        let is_large = static_extents(self.ctx, self.body.ty(sized));
        let is_large = is_large.is_some_and(|sizes| sizes.iter().product::<u64>() >= LEAST_ELEMENTS);
        let is_read_here = |user: Op| {
            let user = self.body.at(self.ctx, user);
            !user.has(Traits::TERMINATOR) && self.body.block_of(user.op) == block
        };
        self.is_f32(value)
            && !self.body.uses(value).any(|used| self.makes_integers(used.op))
            && is_large
            && !matches!(self.body.at(self.ctx, op).kind(), Kind::Region(_) | Kind::Branch(_))
            && self.body.uses(value).all(|used| is_read_here(used.op))
    }

    /// Whether all readers of a value, and of its views, multiply `bf16`.
    fn is_only_multiplied(&self, value: Value) -> bool {
        self.body.uses(value).all(|used| match self.body.at(self.ctx, used.op).kind() {
            Kind::View(_) => self.body.results(used.op).all(|view| self.is_only_multiplied(view)),
            _ => self.products.contains(&used.op),
        })
    }

    /// Whether an operation, or one inside it, converts floats to integers. Sums of small integers are exact
    /// in `f32`, and must stay so if they become integers again.
    fn makes_integers(&self, op: Op) -> bool {
        let at = self.body.at(self.ctx, op);
        let is_integer = |value: Value| {
            matches!(self.ctx.type_data(self.ctx.elem(self.body.ty(value))), TypeData::Integer { .. })
        };
        let blocks = self.body.regions(op).iter().flat_map(|region| self.body.blocks(*region));
        let mut inner = blocks.flat_map(|block| self.body.ops(*block));
        matches!(at.kind(), Kind::Elementwise(Scalar::Convert(_) | Scalar::ConvertUnsigned(_)))
            && is_integer(self.body.result(op, 0))
            || inner.any(|inner| self.makes_integers(inner))
    }

    fn is_f32(&self, value: Value) -> bool {
        self.ctx.elem(self.body.ty(value)) == self.ctx.f32()
    }

    fn is_bf16(&self, value: Value) -> bool {
        self.ctx.elem(self.body.ty(value)) == self.bf16
    }

    /// How a step runs with the values that are stored as `bf16` now; none if it has no kernel for that.
    fn way(&mut self, op: Op) -> Option<Way> {
        let is_stored = |value: Value| self.stored.contains(&value);
        let touches = self.body.operands(op).any(is_stored) || self.body.results(op).any(is_stored);
        if !touches {
            return Some(if self.products.contains(&op) { Way::Converted } else { Way::AsItIs });
        }
        self.has_converted(op).or_else(|| self.is_of_one_type(op).then_some(Way::AsItIs))
    }

    /// Whether all operands and results of a step are `bf16`, and it has a kernel for that.
    fn is_of_one_type(&self, op: Op) -> bool {
        let at = self.body.at(self.ctx, op);
        if !self.body.regions(op).is_empty() || self.products.contains(&op) {
            return false;
        }
        let operands: Vec<Type> = self.body.operands(op).map(|value| self.body.ty(value)).collect();
        let results: Vec<Type> = self.body.results(op).map(|value| self.body.ty(value)).collect();
        let inferred = infer(self.ctx, self.body.name(op), &operands, self.body.properties(op));
        let is_mixed = self.body.operands(op).chain(self.body.results(op)).any(|value| self.is_f32(value));
        !is_mixed
            && inferred.is_ok_and(|inferred| inferred[..] == results[..])
            && self.target.select(at, self.threads).is_some()
    }

    /// Whether there is a kernel for a step that converts its operands and results.
    fn has_converted(&mut self, op: Op) -> Option<Way> {
        let kind = self.body.at(self.ctx, op).kind();
        if !matches!(kind, Kind::Elementwise(_) | Kind::Group | Kind::Contract(_) | Kind::Kernel(_)) {
            return None;
        }
        let group = self.converted(op);
        let has_kernel = self.target.select(self.body.at(self.ctx, group), self.threads).is_some();
        self.body.erase(group);
        has_kernel.then_some(Way::Converted)
    }

    /// Replaces a step that has to convert by a group that does.
    fn rewrite(&mut self, op: Op) {
        if self.way(op) != Some(Way::Converted) {
            return;
        }
        let group = self.converted(op);
        for (old, new) in self.body.results(op).zip(self.body.results(group)).collect::<Vec<_>>() {
            self.body.replace_uses(old, new);
            if self.stored.remove(&old) {
                self.stored.insert(new);
            }
        }
        self.body.erase(op);
    }

    /// Builds a group like a step, before it, that converts `bf16` operands and results.
    fn converted(&mut self, op: Op) -> Op {
        let rounded = self.contraction(op).filter(|_| self.products.contains(&op));
        let mut inputs: Vec<Value> = Vec::new();
        for operand in self.body.operands(op) {
            if !inputs.contains(&operand) {
                inputs.push(operand);
            }
        }
        let results: Vec<Type> = self.body.results(op).map(|result| self.body.ty(result)).collect();
        let location = self.body.location(op);
        let mut builder = Builder::before(self.ctx, self.body, op);
        builder.location = location;
        let spec = OpSpec { operands: &inputs, results: Some(&results), ..OpSpec::default() };
        let group = builder.build("optc.group", spec).expect("the types are given");
        if let Some(pools) = self.body.at(self.ctx, op).attr(attrs::MEM_POOL) {
            self.body.set_attr(self.ctx, group, attrs::MEM_POOL, pools);
        }
        let region = self.body.add_op_region(group);
        let block = self.body.add_block(region);
        let args: Vec<Value> =
            inputs.iter().map(|input| self.body.add_arg(block, self.body.ty(*input))).collect();
        let mut inner: FxHashMap<Value, Value> = FxHashMap::default();
        for (input, arg) in inputs.iter().zip(args) {
            let read = if self.stored.contains(input) { self.cast(block, arg, self.ctx.f32()) } else { arg };
            inner.insert(*input, read);
        }
        let yielded = self.copy_steps(op, rounded, block, inner);
        let mut builder = Builder::at_end(self.ctx, self.body, block);
        builder.location = location;
        let spec = OpSpec { operands: &yielded, ..OpSpec::default() };
        builder.build("optc.yield", spec).expect("a terminator has no results");
        group
    }

    /// Copies the operations of a step into a block, with `inner` as operands; returns the values that it
    /// yields.
    fn copy_steps(
        &mut self,
        op: Op,
        rounded: Option<RoundedProduct>,
        block: Block,
        mut inner: FxHashMap<Value, Value>,
    ) -> Vec<Value> {
        let old = match self.body.at(self.ctx, op).kind() {
            Kind::Group => self.body.regions(op).first().and_then(|region| self.body.entry(*region)),
            _ => None,
        };
        let steps: Vec<Op> = match old {
            Some(old) => {
                let outer: Vec<Value> = self.body.operands(op).map(|operand| inner[&operand]).collect();
                inner.extend(self.body.args(old).iter().copied().zip(outer));
                self.body.ops(old).collect()
            }
            None => vec![op],
        };
        let mut made: Vec<Value> = self.body.results(op).collect();
        for step in steps {
            let mut operands: Vec<Value> = self.body.operands(step).map(|operand| inner[&operand]).collect();
            if self.body.at(self.ctx, step).has(Traits::YIELD) {
                made = self.body.operands(step).collect();
                break;
            }
            let count = rounded.filter(|product| product.root == step).map_or(0, |product| product.operands);
            for operand in operands.iter_mut().take(count) {
                *operand = self.rounded(block, *operand);
            }
            let types: Vec<Type> = self.body.results(step).map(|result| self.computed_type(result)).collect();
            let copy = self.body.make_op(self.body.name(step), &operands, &types, self.body.location(step));
            self.body.set_properties(copy, self.body.properties(step));
            self.body.set_attrs(copy, self.body.attrs(step));
            self.body.remove_attr(self.ctx, copy, attrs::MEM_POOL);
            self.body.append(copy, block);
            inner.extend(self.body.results(step).zip(self.body.results(copy)).collect::<Vec<_>>());
        }
        let results: Vec<Value> = self.body.results(op).collect();
        let yielded = made.into_iter().zip(results);
        yielded
            .map(|(value, result)| match self.stored.contains(&result) {
                true => self.cast(block, inner[&value], self.bf16),
                false => inner[&value],
            })
            .collect()
    }

    /// The type in which a step computes a value.
    fn computed_type(&self, value: Value) -> Type {
        let ty = self.body.ty(value);
        if self.stored.contains(&value) { self.ctx.with_elem(ty, self.ctx.f32()) } else { ty }
    }

    /// A value rounded to `bf16`, as `f32`; itself if it was `bf16`.
    fn rounded(&mut self, block: Block, value: Value) -> Value {
        let producer = self.body.defining_op(value).map(|op| self.body.at(self.ctx, op));
        let was_bf16 = producer.is_some_and(|op| op.has(Traits::CAST) && self.is_bf16(op.operand(0)));
        if was_bf16 {
            return value;
        }
        let half = self.cast(block, value, self.bf16);
        self.cast(block, half, self.ctx.f32())
    }

    /// A value converted at the end of a block.
    fn cast(&mut self, block: Block, value: Value, elem: Type) -> Value {
        let attrs = [("to", self.ctx.type_attr(elem))];
        let spec = OpSpec { operands: &[value], attrs: &attrs, ..OpSpec::default() };
        let op = Builder::at_end(self.ctx, self.body, block).build(CAST, spec);
        self.body.result(op.expect("floats are converted"), 0)
    }
}

/// The operation that converts elements.
const CAST: &str = "nn.cast";

#[cfg(test)]
#[path = "precision_tests.rs"]
mod tests;
