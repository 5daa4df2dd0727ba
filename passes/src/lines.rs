//! Row streaming: chooses chains of operations to run row by row through line buffers, so that the images
//! between them never exist whole.
//!
//! ```text
//! %1 = conv2d %x, %w                 %2 = optc.group(%a = %x, %b = %w, %c = %v) {mem.lines} {
//! %2 = depthwise %1, %v       =>       %1 = conv2d %a, %b
//!                                      %2 = depthwise %1, %c
//!                                      optc.yield %2 }
//! ```
//!
//! The steps of such a group are the operations of the chain; each has the result of the one before as its
//! image. The line buffers between them, a few rows each, are in the group's scratch. So later passes need
//! not know of them, and results stay the same to the bit. (On small devices: Burrello et al., "DORY" (2021),
//! and Lin et al., "MCUNetV2" (2021), which recomputes rows at the seams; here they are kept.)
//!
//! Greedy: among the chains with an image that is live at the peak, it takes the one that lowers the peak
//! most, measured by `inplace` and planning on a copy, until none lowers it. A chain costs time, so no others
//! are made. The peak is that on two threads, whatever their number: chains decide where Winograd's algorithm
//! has room (`plan::faster`), which rounds differently. A function of named sizes streams the chains that are
//! best at its greatest sizes (or nominal ones, if some size has no greatest), if they can stream at all
//! sizes.

use ir::plan::attrs;
use std::cell::OnceCell;
use std::collections::BTreeSet;

use cranelift_entity::{EntityRef, SecondaryMap};
use ir::dims::Ranges;
use ir::weights::WeightSet;
use ir::window::outside;
use ir::{Block, Body, Builder, Context, Kind, Op, OpSpec, Target, Traits, Value};

use crate::copy::Copying;
use crate::edit::{entry, stands_in};
use crate::inplace::in_trial;
use crate::manager::{Changes, Example, PassDef, PassRun, Stage, StageRule};
use crate::memory::structure;
use crate::overlap::reaches_rows;
use crate::select::{select, select_again};
use crate::symbolic::is_symbolic;
use crate::tradeoff;

/// The most operations of a chain.
const MOST_STEPS: usize = 8;
/// The most trials of a function.
const MOST_TRIALS: usize = 1_000;

/// The pass `lines`.
pub static LINES: PassDef = PassDef {
    name: "lines",
    doc: "Streams rows through chains of convolutions and pooling: a few rows at a time, so that only a few \
          rows of the images between them exist at a time, wherever that lowers the peak (of a function of \
          named sizes: at its greatest sizes). Results stay the same to the bit.",
    options: &[],
    example: Example {
        before: r#"func.func @main(%x: tensor<1x32x4x4xf32>) -> tensor<1x16x2x64xf32> attributes {optc.threads = 1 : i64} {
  %w = nn.constant dense<0.5> : tensor<64x4x1x1xf32>
  %0 = nn.conv2d %x, %w {layout = "NHWC"} : (tensor<1x32x4x4xf32>, tensor<64x4x1x1xf32>) -> tensor<1x32x4x64xf32>
  %1 = nn.max_pool2d %0 {kernel = array<i64: 2, 2>, layout = "NHWC", strides = array<i64: 2, 2>} : (tensor<1x32x4x64xf32>) -> tensor<1x16x2x64xf32>
  return %1 : tensor<1x16x2x64xf32>
}"#,
        after: r#"module {
  func.func @main(%arg0: tensor<1x32x4x4xf32>) -> tensor<1x16x2x64xf32> attributes {optc.threads = 1 : i64} {
    %0 = nn.constant dense<5.000000e-01> : tensor<64x4x1x1xf32>
    %1 = optc.group(%arg1 = %arg0, %arg2 = %0) {mem.kernel = "lines", mem.lines, mem.scratch = 32768 : i64} : (tensor<1x32x4x4xf32>, tensor<64x4x1x1xf32>) -> tensor<1x16x2x64xf32> {
      %2 = nn.conv2d %arg1, %arg2 {layout = "NHWC"} : (tensor<1x32x4x4xf32>, tensor<64x4x1x1xf32>) -> tensor<1x32x4x64xf32>
      %3 = nn.max_pool2d %2 {kernel = array<i64: 2, 2>, layout = "NHWC", strides = array<i64: 2, 2>} : (tensor<1x32x4x64xf32>) -> tensor<1x16x2x64xf32>
      optc.yield %3 : tensor<1x16x2x64xf32>
    }
    return %1 : tensor<1x16x2x64xf32>
  }
}"#,
    },
    stage: StageRule::UpTo(Stage::Schedule),
    run: PassRun::Function(|pass, body| {
        pass.count("chains", lines(pass.ctx, pass.target, body, &pass.changes) as u64);
        Ok(())
    }),
};

/// Streams chains of a function's first block row by row, as long as that lowers the peak and changes are
/// allowed. Returns how many chains were made or extended. Does nothing if sizes are known and no kernels are
/// chosen. The peak is that of copies with kernels for two threads, so that the same chains stream on any
/// number of threads.
pub fn lines(ctx: &Context, target: &dyn Target, body: &mut Body, changes: &Changes) -> usize {
    let Some(block) = entry(body) else { return 0 };
    if !is_symbolic(ctx, body) && attrs::threads(ctx, body).is_none() {
        return 0;
    }
    let mut at = SizeProbes::of(ctx, target, body);
    let Some(mut now) = at.peak() else { return 0 };
    let mut made = 0;
    let mut trials = 0;
    loop {
        let Some(op) = now.op else { return made };
        let chains = at.chains(body, block, op);
        trials += chains.len();
        if trials > MOST_TRIALS {
            return made;
        }
        let better = |spot| at.best_of(&chains, spot).filter(|best| best.1.rank() < now.rank());
        let Some((chain, fullness)) = better(GroupSpot::Last).or_else(|| better(GroupSpot::Early)) else {
            return made;
        };
        let last = *chain.ops.last().expect("a chain has operations");
        if !changes.allow(|| format!("{} streams rows with its producer", body.at(ctx, last).describe())) {
            return made;
        }
        chain.apply(ctx, target, body);
        for probe in &mut at.bodies {
            chain.apply(ctx, target, probe);
        }
        made += 1;
        now = fullness;
    }
}

/// The number of threads for which kernels are chosen on copies.
const THREADS: usize = 2;

/// A function at the sizes for which its chains are chosen, and at others at which they have to stream too.
struct SizeProbes<'a> {
    ctx: &'a Context,
    target: &'a dyn Target,
    /// A copy of the function, or one of a function of named sizes at each probe, with the same operations.
    /// Chains are chosen at the first.
    bodies: Vec<Body>,
}

impl<'a> SizeProbes<'a> {
    fn of(ctx: &'a Context, target: &'a dyn Target, body: &Body) -> SizeProbes<'a> {
        let mut bodies: Vec<Body> = if is_symbolic(ctx, body) {
            structure::probes(ctx, body).into_iter().map(|(_, body)| body).collect()
        } else {
            vec![body.clone()]
        };
        bodies.iter_mut().for_each(|body| drop(select(ctx, target, body, THREADS)));
        SizeProbes { ctx, target, bodies }
    }

    /// The function at the sizes for which chains are chosen.
    fn first(&self) -> &Body {
        &self.bodies[0]
    }

    fn peak(&self) -> Option<ArenaPeak> {
        ArenaPeak::of(self.ctx, self.target, self.first())
    }

    /// All chains of a function with an inner image that is live while `op` runs, and that can stream at all
    /// sizes.
    fn chains(&self, body: &Body, block: Block, op: Op) -> Vec<Vec<Op>> {
        let links = Links::of(self.ctx, self.target, self.first(), block);
        let mut chains = links.chains_at(block, op);
        if is_symbolic(self.ctx, body) {
            let ranges = Ranges::of_function(self.ctx, body);
            let reaches = |op, image| reaches_rows(self.ctx, body, &ranges, op, image);
            let streams = |op: &Op| {
                let streams_already = !inner_steps(self.ctx, body, *op).is_empty();
                streams_already || links.finder.image(*op).is_some_and(|image| reaches(*op, image))
            };
            chains.retain(|chain| chain.iter().all(streams));
        }
        chains
    }

    /// The chain with the lowest peak, and the shortest of equal ones.
    fn best_of(&self, chains: &[Vec<Op>], spot: GroupSpot) -> Option<(StreamedChain, ArenaPeak)> {
        let tried = chains.iter().filter_map(|ops| {
            let mut trial = self.first().clone();
            let chain = StreamedChain { ops: ops.clone(), spot };
            chain.apply(self.ctx, self.target, &mut trial)?;
            let applies = |probe: &Body| chain.apply(self.ctx, self.target, &mut probe.clone()).is_some();
            let at_others = self.bodies.iter().skip(1).all(applies);
            let fullness = ArenaPeak::of(self.ctx, self.target, &trial).filter(|_| at_others)?;
            Some((chain, fullness))
        });
        tried.min_by_key(|(chain, fullness)| (fullness.rank(), chain.ops.len()))
    }
}

/// The peak of a function's arena, with the least scratch and the narrowest bands at each step.
struct ArenaPeak {
    bytes: u64,
    /// How many steps are at the peak.
    steps: usize,
    /// The first step at the peak; none if all such steps are copies added by the trial.
    op: Option<Op>,
}

impl ArenaPeak {
    /// Computes the peak on a copy, with ties and scratch as chosen by later passes.
    fn of(ctx: &Context, target: &dyn Target, body: &Body) -> Option<ArenaPeak> {
        let (bytes, ops) =
            in_trial(ctx, target, body, |trial, arena| tradeoff::at_peak(ctx, target, trial, arena))??;
        let op = ops.iter().copied().find(|op| op.index() < body.op_capacity());
        Some(ArenaPeak { bytes, steps: ops.len(), op })
    }

    /// Lower is better.
    fn rank(&self) -> (u64, usize) {
        (self.bytes, self.steps)
    }
}

/// The links of possible chains: which operation of a block computes another one's image.
struct Links<'a> {
    /// The operations of the block, in order.
    ops: Vec<Op>,
    /// The position of each operation in the block.
    at: SecondaryMap<Op, Option<usize>>,
    /// For each position, the operand that its operation reads row by row, cached.
    images: Vec<OnceCell<Option<Value>>>,
    finder: Finder<'a>,
}

impl<'a> Links<'a> {
    fn of(ctx: &'a Context, target: &'a dyn Target, body: &'a Body, block: Block) -> Links<'a> {
        let ops: Vec<Op> = body.ops(block).collect();
        let mut at: SecondaryMap<Op, Option<usize>> = SecondaryMap::new();
        ops.iter().enumerate().for_each(|(place, op)| at[*op] = Some(place));
        let finder = Finder { ctx, target, body, weights: WeightSet::of(ctx, body) };
        Links { images: vec![OnceCell::new(); ops.len()], ops, at, finder }
    }

    fn image(&self, place: usize) -> Option<Value> {
        *self.images[place].get_or_init(|| self.finder.image(self.ops[place]))
    }

    /// The position of the only reader of an operation's result, if it reads that as its image.
    fn reader(&self, place: usize) -> Option<usize> {
        let result = self.finder.body.results(self.ops[place]).next()?;
        let reader = self.only_reader(result)?;
        (self.image(reader) == Some(result) && self.image(place).is_some()).then_some(reader)
    }

    /// The position of the operation that computes an image, if nothing else reads it.
    fn maker(&self, place: usize) -> Option<usize> {
        let image = self.image(place).filter(|image| self.finder.body.has_one_use(*image))?;
        let maker = self.finder.body.defining_op(image).and_then(|op| self.at[op])?;
        self.image(maker).map(|_| maker)
    }

    fn only_reader(&self, value: Value) -> Option<usize> {
        let used = self.finder.body.uses(value).next().filter(|_| self.finder.body.has_one_use(value))?;
        self.at[used.op]
    }

    /// The number of steps of an operation.
    fn steps(&self, place: usize) -> usize {
        inner_steps(self.finder.ctx, self.finder.body, self.ops[place]).len().max(1)
    }

    /// All chains with an inner image that is live while `op` runs.
    fn chains_at(&self, block: Block, op: Op) -> Vec<Vec<Op>> {
        let here = stands_in(self.finder.body, op, block).and_then(|op| self.at[op]);
        let Some(here) = here else { return Vec::new() };
        let mut chains = Vec::new();
        for start in self.starts(here) {
            let mut chain = vec![self.ops[start]];
            let mut steps = self.steps(start);
            let mut is_live = false;
            let mut last = start;
            while let Some((next, more)) = self.reader(last).map(|next| (next, self.steps(next))) {
                if steps + more > MOST_STEPS {
                    break;
                }
                is_live |= last <= here && here <= next;
                chain.push(self.ops[next]);
                steps += more;
                last = next;
                chains.extend(is_live.then(|| chain.clone()));
            }
        }
        chains
    }

    /// The first operations of chains that lead to an image that is live at a position.
    fn starts(&self, here: usize) -> BTreeSet<usize> {
        let is_live = |place: &usize| {
            let mut results = self.finder.body.results(self.ops[*place]);
            results.any(|result| self.only_reader(result).is_some_and(|reader| here <= reader))
        };
        let mut starts = BTreeSet::new();
        for place in (0..=here).filter(is_live).filter(|place| self.reader(*place).is_some()) {
            let before = std::iter::successors(Some(place), |place| self.maker(*place));
            starts.extend(before.take(MOST_STEPS));
        }
        starts
    }
}

struct Finder<'a> {
    ctx: &'a Context,
    target: &'a dyn Target,
    body: &'a Body,
    weights: WeightSet,
}

impl Finder<'_> {
    /// The operand that an operation with one result reads row by row.
    fn image(&self, op: Op) -> Option<Value> {
        let op_ref = self.body.at(self.ctx, op);
        let has_window = matches!(op_ref.kind(), Kind::Contract(_) | Kind::Kernel(_) | Kind::Group);
        // A request for a memory pool has to stay on its operation.
        let is_free = op_ref.attr(attrs::MEM_POOL).is_none() && !self.weights.is_weight_op(self.body, op);
        if !has_window || self.body.result_count(op) != 1 || !is_free {
            return None;
        }
        if let Some(first) = inner_steps(self.ctx, self.body, op).first() {
            return self.image(*first).map(|image| outside(self.ctx, self.body, image));
        }
        let bands = self.target.select(op_ref, 1)?.bands?;
        Some(self.body.operand(op, bands.operand))
    }
}

/// The steps of a group that streams rows, without its terminator; none for any other operation.
fn inner_steps(ctx: &Context, body: &Body, op: Op) -> Vec<Op> {
    let is_lines = body.at(ctx, op).attr(attrs::MEM_LINES).is_some();
    let region = body.regions(op).first().filter(|_| is_lines);
    let block = region.and_then(|region| body.entry(*region));
    let ops = block.into_iter().flat_map(|block| body.ops(block));
    ops.filter(|op| !body.at(ctx, *op).has(Traits::YIELD)).collect()
}

/// The position of a chain's group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GroupSpot {
    /// The position of the last operation.
    Last,
    /// As early as its operands allow, so that their other readers may then overwrite them.
    Early,
}

/// A chain: each operation computes the image of the next.
struct StreamedChain {
    ops: Vec<Op>,
    spot: GroupSpot,
}

impl StreamedChain {
    /// Moves the operations into one group; none if the target has no kernel for that.
    fn apply(&self, ctx: &Context, target: &dyn Target, body: &mut Body) -> Option<()> {
        let given = body.clone();
        let last = *self.ops.last()?;
        let result = given.result(last, 0);
        let inputs = self.inputs(&given);
        let mut builder = Builder::before(ctx, body, self.stands_before(&given, &inputs)?);
        builder.location = given.location(last);
        let types = [given.ty(result)];
        let spec = OpSpec { operands: &inputs, results: Some(&types), ..OpSpec::default() };
        let group = builder.build("optc.group", spec).expect("the types are given");
        let region = body.add_op_region(group);
        let block = body.add_block(region);
        let mut copying = Copying::in_place(ctx, &given);
        for input in inputs {
            let arg = body.add_arg(block, body.ty(input));
            copying.values.insert(input, arg);
        }
        self.ops.iter().for_each(|op| append(ctx, body, &mut copying, *op, block));
        copying.finish(body);
        let yielded = copying.values[&result];
        let mut builder = Builder::at_end(ctx, body, block);
        builder.location = given.location(last);
        let spec = OpSpec { operands: &[yielded], ..OpSpec::default() };
        builder.build("optc.yield", spec).expect("a terminator has no results");
        body.replace_uses(result, body.result(group, 0));
        self.ops.iter().rev().for_each(|op| body.erase(*op));
        body.set_attr(ctx, group, attrs::MEM_LINES, ctx.unit_attr());
        select_again(ctx, target, body, group);
        body.at(ctx, group).attr(attrs::MEM_KERNEL).map(drop)
    }

    /// The operands of the chain from outside, without duplicates.
    fn inputs(&self, body: &Body) -> Vec<Value> {
        let made: Vec<Value> = self.ops.iter().map(|op| body.result(*op, 0)).collect();
        let mut inputs: Vec<Value> = Vec::new();
        for operand in self.ops.iter().flat_map(|op| body.operands(*op)) {
            if !made.contains(&operand) && !inputs.contains(&operand) {
                inputs.push(operand);
            }
        }
        inputs
    }

    /// The operation that the group is inserted before.
    fn stands_before(&self, body: &Body, inputs: &[Value]) -> Option<Op> {
        let last = *self.ops.last()?;
        if self.spot == GroupSpot::Last {
            return Some(last);
        }
        let block = body.block_of(last)?;
        let here = |op: &Op| body.block_of(*op) == Some(block);
        let made = inputs.iter().filter_map(|input| body.defining_op(*input)).filter(here);
        match made.reduce(|a, b| if body.is_before(a, b) { b } else { a }) {
            Some(op) => body.next_op(op),
            None => body.first_op(block),
        }
    }
}

/// Appends an operation, or the steps of a group that already streams rows.
fn append(ctx: &Context, body: &mut Body, copying: &mut Copying<'_>, op: Op, block: Block) {
    let steps = inner_steps(ctx, copying.from(), op);
    let copies = match steps.first().and_then(|first| copying.from().block_of(*first)) {
        None => vec![copying.append(body, op, block)],
        Some(inner) => {
            let from = copying.from();
            let args = from.args(inner).iter().copied().zip(from.operands(op));
            let args: Vec<(Value, Value)> =
                args.map(|(arg, operand)| (arg, copying.values[&operand])).collect();
            copying.values.extend(args);
            let copies = steps.iter().map(|step| copying.append(body, *step, block)).collect();
            let result = copying.values[&from.result(*steps.last().expect("there is a first"), 0)];
            copying.values.insert(from.result(op, 0), result);
            copies
        }
    };
    for copy in copies {
        // The group has the kernel and the scratch.
        [attrs::MEM_KERNEL, attrs::MEM_SCRATCH]
            .into_iter()
            .for_each(|name| body.remove_attr(ctx, copy, name));
    }
}
