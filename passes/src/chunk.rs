//! How many bytes of arena are enough at all sizes that a function may have, and where its values lie in them at each.
//!
//! ```text
//! %0 of 4 * n * m * max(n - m, 1) bytes, n <= 20, m <= 5   =>   6000 bytes
//! %0 of 4 * N bytes, beside %1 of 2048 - 4 * N             =>   2048 bytes, and not 4096
//! ```
//!
//! Order and ties hold for all sizes (see [`crate::symbolic`]), so buffers and their conflicts are known; sizes are expressions. The planner
//! places them once, each with its greatest size: that says which of two buffers in conflict lies below the other. At
//! any sizes, each buffer then begins where the highest below it ends, and the arena is the longest way up. The joint maximum of that over the
//! ranges of all symbols ([`dims::maximize`]) is enough at every size: where the plan of a size would take more, the values are stacked
//! this way ([`Chunk::place`]).
//!
//! What is decided at each size may turn out both ways here: a view that lies in its operand at some sizes and is a copy at others has
//! bytes of its own, and keeps its operand too. The scratch of a step is the most that the target says
//! ([`ir::target::KernelChoice::most_scratch_bytes`]) of the step with all its sizes at their greatest.
//!
//! Functions with branches or loops have no chunk.

use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap};
use ir::alias::{AliasSets, is_free};
use ir::dims::{self, Bindings, Maximum, Ranges};
use ir::opdef::View;
use ir::size::bytes_expr;
use ir::weights::WeightSet;
use ir::{Block, Body, Context, Diagnostic, DimExpr, Ident, Kind, Location, Op, Target, Traits, Value};

use crate::edit::entry;
use crate::manager::Stage;
use crate::place::{self, Buffer, Placement, Problem, Step};
use crate::plan::{ALIGN_BYTES, Arena, Content, plan_by, separate_outputs};
use crate::select::select;
use crate::symbolic::{allows_ties, at_sizes, outside};

/// Memory that is enough at all sizes.
pub struct Chunk {
    /// The bytes.
    maximum: Maximum,
    /// For each buffer, from the bottom up, those below it that it shares no bytes with.
    below: Vec<Vec<usize>>,
    roots: SecondaryMap<Value, Option<usize>>,
    scratch: SecondaryMap<Op, Option<usize>>,
}

/// Something that is kept from one step to another.
struct Kept {
    content: Content,
    first: usize,
    last: usize,
    size: Size,
}

enum Size {
    /// The number of an expression.
    Symbolic(usize),
    Bytes(i128),
}

impl Chunk {
    /// The chunk of a function whose order and ties are decided.
    ///
    /// # Errors
    /// Why there is none.
    pub fn of(ctx: &Context, target: &dyn Target, body: &Body, threads: usize) -> Result<Chunk, String> {
        let ranges = Ranges::of_function(ctx, body);
        for name in dims::symbols_in(ctx, body) {
            if ranges.of(name).1 == u64::MAX {
                return Err(format!("`{}` has no greatest number", ctx.str(name)));
            }
        }
        let mut body = body.clone();
        let aliases = separate_outputs(ctx, &mut body);
        let mut buffers =
            Buffers { ctx, body: &body, aliases: &aliases, exprs: Vec::new(), kept: Vec::new() };
        buffers.add_roots()?;
        buffers.add_scratch(target, &ranges, threads)?;
        Ok(buffers.stack(&ranges))
    }

    /// Its bytes, and whether they are needed at some size as things are stacked.
    pub fn maximum(&self) -> Maximum {
        self.maximum
    }

    /// Its bytes.
    pub fn size_bytes(&self) -> u64 {
        u64::try_from(self.maximum.value).unwrap_or(u64::MAX)
    }

    /// The function that the chunk was made of, placed in it at some sizes in their ranges.
    ///
    /// # Errors
    /// If the function can't have these sizes, or the target refuses at them what it allowed at others.
    pub fn place(
        &self,
        ctx: &Context,
        target: &dyn Target,
        body: &Body,
        sizes: &Bindings,
        threads: usize,
    ) -> Result<Body, Vec<Diagnostic>> {
        let mut at = at_sizes(ctx, body, sizes)?;
        select(ctx, target, &mut at, threads);
        if !allows_ties(ctx, target, &at) {
            return Err(fault("the target does not overwrite at these sizes what it does at others"));
        }
        plan_by(ctx, &mut at, &|arena| self.placement(arena))?;
        Stage::Plan.mark(ctx, &mut at);
        Ok(at)
    }

    /// Where the buffers of a problem lie in the chunk.
    fn placement(&self, arena: &Arena<'_>) -> Result<Placement, Vec<Diagnostic>> {
        let number = |content: Content| match content {
            Content::Root(value) => self.roots[value],
            Content::Scratch(op) => self.scratch[op],
        };
        let numbers: Option<Vec<usize>> = arena.contents.values().map(|content| number(*content)).collect();
        let numbers = numbers.ok_or_else(|| fault("a value is stored that is stored at no other size"))?;
        let mut sizes = vec![0; self.below.len()];
        for (number, buffer) in numbers.iter().zip(arena.problem.buffers.values()) {
            sizes[*number] = i128::from(buffer.size_bytes);
        }
        let offsets = offsets(&self.below, &sizes);
        let found: PrimaryMap<_, u64> = numbers.iter().map(|number| offsets[*number] as u64).collect();
        let ends = found.iter().map(|(id, offset)| offset + arena.problem.buffers[id].size_bytes);
        Ok(Placement {
            size_bytes: ends.max().unwrap_or(0),
            lower_bound_bytes: place::lower_bound(&arena.problem),
            proved_best: false,
            planner: "chunk",
            offsets: found,
        })
    }
}

fn fault(message: &str) -> Vec<Diagnostic> {
    vec![Diagnostic::error(Location::UNKNOWN, message)]
}

/// Where each buffer begins, if it has all below it that it shares no bytes with.
fn offsets(below: &[Vec<usize>], sizes: &[i128]) -> Vec<i128> {
    let align = i128::from(ALIGN_BYTES);
    let mut offsets: Vec<i128> = Vec::with_capacity(below.len());
    for lower in below {
        let end = |lower: &usize| offsets[*lower].saturating_add(sizes[*lower].max(0));
        let highest = lower.iter().map(end).max().unwrap_or(0);
        offsets.push(highest.saturating_add((align - highest % align) % align));
    }
    offsets
}

/// What a function keeps, as it is collected.
struct Buffers<'a> {
    ctx: &'a Context,
    body: &'a Body,
    aliases: &'a AliasSets,
    /// Each once.
    exprs: Vec<DimExpr>,
    kept: Vec<Kept>,
}

impl Buffers<'_> {
    /// The only block, if nothing in it holds others that run.
    fn block(&self) -> Result<Block, String> {
        let body = self.body;
        let block = entry(body).filter(|_| body.blocks(body.root()).len() == 1);
        let is_straight = |block: &Block| !body.ops(*block).any(|op| body.at(self.ctx, op).is_structured());
        block.filter(is_straight).ok_or_else(|| "it has branches or loops".to_owned())
    }

    /// The operations that run, with their numbers.
    fn steps(&self) -> Result<Vec<(usize, Op)>, String> {
        let weights = WeightSet::of(self.ctx, self.body);
        let ops = self.body.ops(self.block()?).enumerate();
        Ok(ops.filter(|(_, op)| !weights.is_weight_op(self.body, *op)).collect())
    }

    fn add_roots(&mut self) -> Result<(), String> {
        let (ctx, body, aliases) = (self.ctx, self.body, self.aliases);
        let steps = self.steps()?;
        let mut last: SecondaryMap<Value, usize> = SecondaryMap::new();
        for (step, op) in steps.iter().rev() {
            for operand in body.operands(*op) {
                let root = aliases.root(operand);
                last[root] = last[root].max(*step);
            }
            // At some sizes the result may lie in the operand.
            if let Some((operand, result)) = self.view(*op) {
                last[operand] = last[operand].max(last[result]);
            }
        }
        let outside = outside(ctx, body, aliases);
        for (first, op) in steps {
            for root in body.results(op).filter(|value| aliases.root(*value) == *value) {
                if outside.contains(&root) || body.at(ctx, op).has(Traits::TERMINATOR) {
                    continue;
                }
                let bytes = bytes_expr(ctx, body.ty(root));
                let bytes = bytes
                    .ok_or_else(|| format!("the size of a result of `{}` is not known", self.name(op)))?;
                let number = self.exprs.iter().position(|known| *known == bytes);
                let number = number.unwrap_or_else(|| {
                    self.exprs.push(bytes);
                    self.exprs.len() - 1
                });
                let (content, last) = (Content::Root(root), last[root].max(first));
                self.kept.push(Kept { content, first, last, size: Size::Symbolic(number) });
            }
        }
        Ok(())
    }

    /// The roots of operand and result of a view that is none at all sizes.
    fn view(&self, op: Op) -> Option<(Value, Value)> {
        let at = self.body.at(self.ctx, op);
        let is_open = matches!(at.kind(), Kind::View(View::OfOperand(_))) && !is_free(at);
        is_open.then(|| (self.aliases.root(at.operand(0)), self.aliases.root(at.result(0))))
    }

    fn add_scratch(&mut self, target: &dyn Target, ranges: &Ranges, threads: usize) -> Result<(), String> {
        let ctx = self.ctx;
        let mut greatest = self.body.clone();
        dims::greatest_in(ctx, &mut greatest, ranges).map_err(|faults| faults[0].message.clone())?;
        for (step, op) in self.steps()? {
            let at = self.body.at(ctx, op);
            let has_none = matches!(at.kind(), Kind::View(_) | Kind::Structure | Kind::Source);
            if has_none || is_free(at) {
                continue;
            }
            let choice = target.select(greatest.at(ctx, op), threads);
            let choice = choice.ok_or_else(|| format!("the scratch of `{}` has no bound", self.name(op)))?;
            if choice.most_scratch_bytes > 0 {
                let size = Size::Bytes(choice.most_scratch_bytes.into());
                self.kept.push(Kept { content: Content::Scratch(op), first: step, last: step, size });
            }
        }
        Ok(())
    }

    fn name(&self, op: Op) -> String {
        self.body.at(self.ctx, op).name().to_owned()
    }

    /// Decides which buffers lie below which, and how high they reach at the most.
    fn stack(self, ranges: &Ranges) -> Chunk {
        let Buffers { ctx, exprs, kept, .. } = self;
        let size = |kept: &Kept, sizes: &[i128]| match kept.size {
            Size::Symbolic(number) => sizes[number],
            Size::Bytes(bytes) => bytes,
        };
        let each: Vec<i128> = exprs.iter().map(|expr| greatest(ctx, *expr, ranges)).collect();
        let problem = problem(&kept, |kept| size(kept, &each));
        let placed = place::place(&problem, &place::Options::default()).offsets;
        let mut ranked: Vec<(u64, Kept)> = placed.values().copied().zip(kept).collect();
        ranked.sort_by_key(|(offset, _)| *offset);
        let kept: Vec<Kept> = ranked.into_iter().map(|(_, kept)| kept).collect();
        let meet = |a: &Kept, b: &Kept| a.first <= b.last && b.first <= a.last;
        let lower = |index: usize| (0..index).filter(|lower| meet(&kept[*lower], &kept[index])).collect();
        let below: Vec<Vec<usize>> = (0..kept.len()).map(lower).collect();
        let maximum = joint_maximum(ctx, ranges, &exprs, &|sizes| {
            let sizes: Vec<i128> = kept.iter().map(|kept| size(kept, sizes)).collect();
            let offsets = offsets(&below, &sizes);
            offsets.iter().zip(&sizes).map(|(offset, size)| offset.saturating_add(*size)).max().unwrap_or(0)
        });
        let (mut roots, mut scratch) = (SecondaryMap::new(), SecondaryMap::new());
        for (number, kept) in kept.iter().enumerate() {
            match kept.content {
                Content::Root(value) => roots[value] = Some(number),
                Content::Scratch(op) => scratch[op] = Some(number),
            }
        }
        Chunk { maximum, below, roots, scratch }
    }
}

/// The placement problem of what is kept.
fn problem(kept: &[Kept], size: impl Fn(&Kept) -> i128) -> Problem {
    let buffers = kept.iter().map(|kept| Buffer {
        first: Step::new(kept.first),
        last: Step::new(kept.last),
        size_bytes: u64::try_from(size(kept)).unwrap_or(0),
        align: ALIGN_BYTES,
        pin: None,
    });
    Problem { buffers: buffers.collect(), ..Problem::default() }
}

fn greatest(ctx: &Context, expr: DimExpr, ranges: &Ranges) -> i128 {
    dims::maximum(ctx, expr, ranges).map_or(0, |found| found.value.max(0))
}

/// The maximum over the ranges of all symbols of what `of` makes of the sizes of expressions, and never makes smaller for larger ones.
fn joint_maximum(ctx: &Context, ranges: &Ranges, exprs: &[DimExpr], of: &dyn Fn(&[i128]) -> i128) -> Maximum {
    let mut names: Vec<Ident> = exprs.iter().flat_map(|expr| dims::symbols(ctx, *expr)).collect();
    names.sort_by(|a, b| ctx.str(*a).cmp(ctx.str(*b)));
    names.dedup();
    let sides: Vec<(u64, u64)> = names.iter().map(|name| ranges.of(*name)).collect();
    let upper = |part: &[(u64, u64)]| {
        let sizes = exprs.iter().map(|expr| dims::bounds(ctx, *expr, &names, part).high.max(0));
        of(&sizes.collect::<Vec<_>>())
    };
    dims::maximize(&sides, &upper).expect("each symbol has a greatest number")
}
