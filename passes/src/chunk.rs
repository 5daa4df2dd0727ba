//! How many bytes of arena are enough at all sizes that a function may have, and where its values lie in them at each.
//!
//! ```text
//! %0 of 4 * n * m * max(n - m, 1) bytes, n <= 20, m <= 5   =>   6000 bytes
//! %0 of 4 * N bytes, beside %1 of 2048 - 4 * N             =>   2048 bytes, and not 4096
//! ```
//!
//! Order, ties and parts of concatenations hold for all sizes (`arrange`), so buffers and their conflicts are known (`keep`); sizes are expressions. The planner
//! places them once, each with its greatest size: that says which of two buffers in conflict lies below the other. At
//! any sizes, each buffer then begins where the highest below it ends, and the arena is the longest way up. The joint maximum of that over the
//! ranges of all symbols ([`dims::maximize`]) is enough at every size: where the plan of a size would take more, the values are stacked
//! this way ([`Chunk::place`]).
//!
//! The ties that the function has, and what is best at the greatest sizes, are both tried. The scratch of a step is the most that the target says
//! ([`ir::target::KernelChoice::most_scratch_bytes`]) of the step with all its sizes at their greatest. Nothing is written over rows of an
//! operand, and no scratch is saved. Functions with pools or states have no chunk.

use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap};
use ir::dims::{self, Bindings, Maximum, Ranges};
use ir::plan::attrs;
use ir::{Body, Context, Diagnostic, DimExpr, Ident, Location, Op, Target, Value};

use crate::manager::Stage;
use crate::place::{self, Buffer, Placement, Problem, Step};
use crate::plan::{ALIGN_BYTES, Arena, Content, Shared, plan_by};
use crate::symbolic::{allows_ties, at_sizes, open_views};

mod arrange;
mod keep;

use arrange::Arrangement;
use keep::{Asked, Keeping, Kept, Size};

/// Memory that is enough at all sizes.
pub struct Chunk {
    /// The bytes.
    maximum: Maximum,
    arrangement: Arrangement,
    /// What is copied even where it lies in its operand.
    views: Vec<Op>,
    shared: Vec<Shared>,
    /// For each buffer, from the bottom up, those below it that it shares no bytes with.
    below: Vec<Vec<usize>>,
    roots: SecondaryMap<Value, Option<usize>>,
    scratch: SecondaryMap<Op, Option<usize>>,
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
        let has_states = ir::states::states(ctx, body).is_ok_and(|states| !states.is_empty());
        if has_states || body.own_attr(ctx, ctx.ident(attrs::OPTC_POOLS)).is_some() {
            return Err("it has pools beside the arena".to_owned());
        }
        let chunk = |arrangement: Arrangement| -> Result<Chunk, String> {
            let asked = Asked { ctx, target, body, ranges: &ranges, threads, arrangement: &arrangement };
            let keeping = Keeping::of(&asked)?;
            Ok(Chunk::stack(ctx, keeping, arrangement, &ranges))
        };
        let given = chunk(Arrangement::given(ctx, body, &ranges))?;
        let greatest = Arrangement::at_greatest(ctx, target, body, &ranges, threads);
        let greatest = greatest.and_then(|arrangement| chunk(arrangement).ok());
        let best = greatest.filter(|chunk| chunk.maximum.value < given.maximum.value).unwrap_or(given);
        Ok(Chunk { views: open_views(ctx, body), ..best })
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
        let copies = self.arrangement.apply(ctx, target, &mut at, &self.views, threads);
        let (mut copy_of, mut roots) = (SecondaryMap::new(), self.roots.clone());
        for (view, copy) in copies {
            (copy_of[view], roots[copy]) = (Some(copy), self.roots[view]);
        }
        if !allows_ties(ctx, target, &at) {
            return Err(fault("the target does not overwrite at these sizes what it does at others"));
        }
        let value = |value: Value| copy_of[value].unwrap_or(value);
        let shared: Vec<Shared> = self.shared.iter().map(|(a, b)| (value(*a), value(*b))).collect();
        plan_by(ctx, &mut at, &shared, &|arena| self.placement(arena, &roots))?;
        Stage::Plan.mark(ctx, &mut at);
        Ok(at)
    }

    /// Where the buffers of a problem lie in the chunk, with the number of each root.
    fn placement(
        &self,
        arena: &Arena<'_>,
        roots: &SecondaryMap<Value, Option<usize>>,
    ) -> Result<Placement, Vec<Diagnostic>> {
        let number = |content: Content| match content {
            Content::Root(value) => roots[value],
            Content::Scratch(op) => self.scratch[op],
        };
        let numbers: Option<Vec<usize>> = arena.contents.values().map(|content| number(*content)).collect();
        let numbers = numbers.ok_or_else(|| fault("a value is stored that is stored at no other size"))?;
        let (mut sizes, mut is_taken) = (vec![0; self.below.len()], vec![false; self.below.len()]);
        for (number, buffer) in numbers.iter().zip(arena.problem.buffers.values()) {
            if std::mem::replace(&mut is_taken[*number], true) {
                return Err(fault("values that share a place at other sizes have one each"));
            }
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

    /// Decides which buffers lie below which, and how high they reach at the most.
    fn stack(ctx: &Context, keeping: Keeping, arrangement: Arrangement, ranges: &Ranges) -> Chunk {
        let Keeping { kept, exprs, shared, roots: numbers } = keeping;
        let size = |kept: &Kept, sizes: &[i128]| match kept.size {
            Size::Symbolic(number) => sizes[number],
            Size::Bytes(bytes) => bytes,
        };
        let each: Vec<i128> = exprs.iter().map(|expr| greatest(ctx, *expr, ranges)).collect();
        let problem = problem(&kept, |kept| size(kept, &each));
        let placed = place::place(&problem, &place::Options::default()).offsets;
        let mut ranked: Vec<(u64, usize)> = placed.values().copied().zip(0..).collect();
        ranked.sort_by_key(|(offset, _)| *offset);
        let kept: Vec<Kept> = ranked.iter().map(|(_, number)| kept[*number].clone()).collect();
        let meet = |a: &Kept, b: &Kept| a.first <= b.last && b.first <= a.last;
        let lower = |index: usize| (0..index).filter(|lower| meet(&kept[*lower], &kept[index])).collect();
        let below: Vec<Vec<usize>> = (0..kept.len()).map(lower).collect();
        let maximum = joint_maximum(ctx, ranges, &exprs, &|sizes| {
            let sizes: Vec<i128> = kept.iter().map(|kept| size(kept, sizes)).collect();
            let offsets = offsets(&below, &sizes);
            offsets.iter().zip(&sizes).map(|(offset, size)| offset.saturating_add(*size)).max().unwrap_or(0)
        });
        let (mut roots, mut scratch) = (SecondaryMap::new(), SecondaryMap::new());
        let mut ranks = vec![0; kept.len()];
        for (rank, (_, number)) in ranked.iter().enumerate() {
            ranks[*number] = rank;
        }
        for (root, number) in numbers.iter() {
            roots[root] = number.map(|number| ranks[number]);
        }
        for (number, kept) in kept.iter().enumerate() {
            if let Content::Scratch(op) = kept.content {
                scratch[op] = Some(number);
            }
        }
        Chunk { maximum, arrangement, views: Vec::new(), shared, below, roots, scratch }
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
