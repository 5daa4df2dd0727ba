//! Classes of steps: those that are lowered to the same calls at all sizes.
//!
//! Two operations are in the same class if they have the same name, attributes, types and regions, the same
//! pattern of equal operands and of weights, and equal lowerings at the sample sizes. Then nothing that a
//! lowering asks for differs, and one lowering serves both: the 53 convolutions of a ResNet 50 are about 20
//! classes.

use cranelift_entity::{EntityRef, SecondaryMap};
use ir::alias::{AliasSets, is_free_view};
use ir::body::OpRef;
use ir::plan::attrs;
use ir::sized::has_symbols;
use ir::{Body, Context, Op, Value};
use std::collections::{HashMap, HashSet};

use crate::call::{Condition, KernelCode, Lowered, LoweredCall, Pointer};
use crate::constant::is_weight;
use crate::kernels::conv::prepared::{ImageLayout, PreparedConv};
use crate::lower::{faster, lower, lower_plain};
use crate::refusal::CodeRefusal;
use crate::row::{FasterInRoom, Machine};

/// The classes of steps.
pub(crate) struct StepClasses {
    /// An operation of each class.
    pub(crate) members: Vec<Op>,
    /// The class's prepared convolution, if it is one.
    prepared: Vec<Option<PreparedConv>>,
    /// Steps with attributes that depend on sizes: data prepared at one size would be wrong at another.
    sized: HashSet<Op>,
    /// Steps whose operands or results may be rows of wider tensors, or have other gaps.
    spaced: HashSet<Op>,
    /// The class of each step.
    pub(crate) of_step: Vec<u32>,
}

impl StepClasses {
    /// The classes of these steps according to the IR alone.
    pub(crate) fn of(ctx: &Context, body: &Body, steps: impl Iterator<Item = Op>) -> StepClasses {
        let mut known: HashMap<Vec<u64>, u32> = HashMap::new();
        let mut classes = StepClasses {
            members: Vec::new(),
            prepared: Vec::new(),
            sized: HashSet::new(),
            spaced: HashSet::new(),
            of_step: Vec::new(),
        };
        let aliases = AliasSets::of(ctx, body);
        for op in steps {
            let next = classes.members.len() as u32;
            let mut words = key(ctx, body, op);
            let spacing = spacing(ctx, body, &aliases, op);
            classes.spaced.extend(spacing.iter().any(|word| *word > 0).then_some(op));
            words.extend(spacing);
            let class = *known.entry(words).or_insert(next);
            if class == next {
                classes.members.push(op);
            }
            classes.of_step.push(class);
            classes.sized.extend(is_sized(ctx, body, op).then_some(op));
        }
        classes
    }

    /// Splits classes: steps with another lowering than the rest of their class get a new one.
    ///
    /// # Errors
    /// If a step has no lowering at the sizes of `body`: the step, and the reason.
    pub(crate) fn split(
        &mut self,
        ctx: &Context,
        body: &Body,
        steps: &[Op],
        machine: &Machine,
    ) -> Result<(), (Op, CodeRefusal)> {
        let lower = |op: Op| lower(body.at(ctx, op), machine).map_err(|refusal| (op, refusal));
        let mut lowered = self.members.iter().map(|op| lower(*op)).collect::<Result<Vec<_>, _>>()?;
        for (op, class) in steps.iter().zip(&mut self.of_step) {
            let own = lower(*op)?;
            if !is_like(&own, &lowered[*class as usize]) {
                *class = self.members.len() as u32;
                self.members.push(*op);
                lowered.push(own);
            }
        }
        let is_first = self.prepared.is_empty();
        self.prepared.resize_with(self.members.len(), || None);
        for ((member, prepared), expected) in self.members.iter().zip(&mut self.prepared).zip(&lowered) {
            let op = body.at(ctx, *member);
            if is_first && !self.sized.contains(member) {
                let images =
                    if self.spaced.contains(member) { ImageLayout::InRows } else { ImageLayout::Dense };
                *prepared = PreparedConv::of(op, images, machine);
            }
            let is_same =
                |known: &PreparedConv| known.lower(op, machine).is_ok_and(|found| is_like(&found, expected));
            *prepared = prepared.take().filter(is_same);
        }
        Ok(())
    }

    /// The number of classes that are prepared convolutions.
    pub(crate) fn prepared_count(&self) -> usize {
        self.prepared.iter().flatten().count()
    }

    /// The lowering of a step with attributes of its own, at the sizes of `body`.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn lower_step(
        &self,
        step: usize,
        op: OpRef<'_>,
        machine: &Machine,
    ) -> Result<Lowered, CodeRefusal> {
        match self.prepared.get(self.of_step[step] as usize) {
            Some(Some(prepared)) => prepared.lower(op, machine),
            _ => lower(op, machine),
        }
    }

    /// The faster algorithm of a class at the sizes of `body`, if it has one.
    pub(crate) fn faster(
        &self,
        class: usize,
        ctx: &Context,
        body: &Body,
        machine: &Machine,
    ) -> Option<FasterInRoom> {
        let op = body.at(ctx, self.members[class]);
        match self.prepared.get(class) {
            Some(Some(prepared)) => prepared.faster(op, machine),
            _ => faster(op, machine),
        }
    }

    /// Appends the lowering of each class at the sizes of `body`.
    ///
    /// # Errors
    /// If a class has none: an operation of it, and the reason.
    pub(crate) fn lower(
        &self,
        ctx: &Context,
        body: &Body,
        machine: &Machine,
        to: &mut Vec<Lowered>,
    ) -> Result<(), (Op, CodeRefusal)> {
        for (class, op) in self.members.iter().enumerate() {
            let at = body.at(ctx, *op);
            let lowered = match self.prepared.get(class) {
                Some(Some(prepared)) => prepared.lower(at, machine),
                _ if self.spaced.contains(op) => lower(at, machine),
                _ => lower_plain(at, machine),
            };
            to.push(lowered.map_err(|refusal| (*op, refusal))?);
        }
        Ok(())
    }
}

/// Whether attributes of an operation, or of operations in its regions, depend on sizes.
fn is_sized(ctx: &Context, body: &Body, op: Op) -> bool {
    let blocks = body.regions(op).iter().flat_map(|region| body.blocks(*region));
    let mut inner = blocks.flat_map(|block| body.ops(*block));
    has_symbols(ctx, body.properties(op)) || inner.any(|inner| is_sized(ctx, body, inner))
}

/// A key for the layouts of a step's operands and results: 0 for each value that is dense and has its own
/// bytes.
fn spacing(ctx: &Context, body: &Body, aliases: &AliasSets, op: Op) -> Vec<u64> {
    let word = |value: Value| {
        let mut at = value;
        // Free views are looked through, unless they leave gaps: such a view gets a key of its own.
        while let Some(view) = body.defining_op(at).filter(|op| is_free_view(body.at(ctx, *op))) {
            if body.at(ctx, view).attr(attrs::MEM_VIEW).is_some() {
                return 1 + 2 * view.index() as u64;
            }
            at = body.operand(view, 0);
        }
        aliases.whole(at).map_or(0, |whole| 2 + 2 * whole.index() as u64)
    };
    body.operands(op).chain(body.results(op)).map(word).collect()
}

/// A key of everything about an operation that a lowering may ask for, except the contents of weights.
fn key(ctx: &Context, body: &Body, op: Op) -> Vec<u64> {
    let mut writer = ClassWriter { body, words: Vec::new(), numbers: SecondaryMap::new(), count: 0 };
    for operand in body.operands(op) {
        writer.words.push(u64::from(is_weight(ctx, body, operand)));
    }
    writer.op(op);
    writer.words
}

struct ClassWriter<'a> {
    body: &'a Body,
    words: Vec<u64>,
    /// Values numbered in the order of their first occurrence, from 1 on.
    numbers: SecondaryMap<Value, u64>,
    count: u64,
}

impl ClassWriter<'_> {
    fn op(&mut self, op: Op) {
        let body = self.body;
        let handles = [body.name(op).index(), body.properties(op).index(), body.attrs(op).index()];
        self.words.extend(handles.map(|handle| handle as u64));
        self.values(body.operands(op));
        self.values(body.results(op));
        for region in body.regions(op) {
            for block in body.blocks(*region) {
                self.values(body.args(*block).iter().copied());
                let ops: Vec<Op> = body.ops(*block).collect();
                self.words.push(ops.len() as u64);
                ops.into_iter().for_each(|op| self.op(op));
            }
        }
    }

    fn values(&mut self, values: impl Iterator<Item = Value>) {
        let start = self.words.len();
        self.words.push(0);
        for value in values {
            if self.numbers[value] == 0 {
                self.count += 1;
                self.numbers[value] = self.count;
            }
            self.words.extend([self.numbers[value], self.body.ty(value).index() as u64]);
        }
        self.words[start] = (self.words.len() - start) as u64;
    }
}

/// Whether two lowerings are the same calls.
pub(crate) fn is_like(a: &Lowered, b: &Lowered) -> bool {
    let calls = || a.calls.iter().zip(&b.calls);
    a.kernel == b.kernel
        && (a.shared_bytes, a.least_scratch_bytes, a.bands)
            == (b.shared_bytes, b.least_scratch_bytes, b.bands)
        && is_same_condition(a.condition.as_ref(), b.condition.as_ref())
        && a.calls.len() == b.calls.len()
        && calls().all(|(a, b)| is_same_call(a, b))
}

fn is_same_condition(a: Option<&Condition>, b: Option<&Condition>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.message == b.message && is_same_pointer(&a.truth, &b.truth),
        (a, b) => a.is_none() && b.is_none(),
    }
}

fn is_same_call(a: &LoweredCall, b: &LoweredCall) -> bool {
    let code = match (&a.code, &b.code) {
        (KernelCode::Kernel(a), KernelCode::Kernel(b)) => *a as usize == *b as usize,
        (KernelCode::Pointwise { form: a, axes: x }, KernelCode::Pointwise { form: b, axes: y }) => {
            a == b && x == y
        }
        (KernelCode::Reduce { form: a, axes: x }, KernelCode::Reduce { form: b, axes: y }) => {
            a == b && x == y
        }
        _ => false,
    };
    let pointers = || a.operands.iter().zip(&b.operands);
    code && a.descriptor == b.descriptor
        && (a.parts, a.scratch_bytes) == (b.parts, b.scratch_bytes)
        && a.operands.len() == b.operands.len()
        && pointers().all(|(a, b)| is_same_pointer(a, b))
}

fn is_same_pointer(a: &Pointer, b: &Pointer) -> bool {
    match (a, b) {
        (Pointer::Result(a, x), Pointer::Result(b, y)) => a == b && x == y,
        (Pointer::Operand(a, x), Pointer::Operand(b, y)) => a == b && x == y,
        (Pointer::Packed(a, x), Pointer::Packed(b, y)) => a == b && x.key() == y.key(),
        (Pointer::Repeated(a, x), Pointer::Repeated(b, y)) => a.to_bits() == b.to_bits() && x == y,
        (Pointer::Shared(a), Pointer::Shared(b)) => a == b,
        (Pointer::Absent, Pointer::Absent) => true,
        _ => false,
    }
}
