//! What a function keeps from which step to which, at any of its sizes.
//!
//! Steps are those of [`ir::flow`], through branches and loops. Values that share bytes at all sizes are kept as one: results and what
//! they overwrite, parts and their whole, and what is handed on with what gets it, where that has one place at the greatest sizes and takes
//! as many bytes at all. Open views are copies (`arrange`).

use cranelift_entity::{EntityRef, SecondaryMap};
use ir::alias::{AliasSets, is_free};
use ir::dims::{self, Ranges};
use ir::flow::{Act, Event, Move, transfers};
use ir::size::{bytes_expr, tensor_bytes};
use ir::weights::WeightSet;
use ir::{Body, Context, DimExpr, Kind, Op, Target, Value};

use super::arrange::{Arrangement, at_greatest};
use crate::liveness::{Classes, Steps};
use crate::plan::{ALIGN_BYTES, Arena, Content, Shared, separate_outputs};
use crate::symbolic::{are_as_large, open_views, outside};

/// Something that is kept from one step to another.
#[derive(Clone)]
pub(super) struct Kept {
    /// What it is; of a class, one of its values.
    pub(super) content: Content,
    pub(super) first: usize,
    pub(super) last: usize,
    pub(super) size: Size,
}

/// How many bytes something takes.
#[derive(Clone, Copy)]
pub(super) enum Size {
    /// The number of an expression.
    Symbolic(usize),
    Bytes(i128),
}

/// A function that is kept in memory, as far as that is decided for all sizes.
pub(super) struct Asked<'a> {
    pub(super) ctx: &'a Context,
    pub(super) target: &'a dyn Target,
    pub(super) body: &'a Body,
    pub(super) ranges: &'a Ranges,
    pub(super) threads: usize,
    pub(super) arrangement: &'a Arrangement,
}

/// All that a function keeps.
pub(super) struct Keeping {
    pub(super) kept: Vec<Kept>,
    /// The sizes that are expressions, each once.
    pub(super) exprs: Vec<DimExpr>,
    /// The values that share places although they have bytes of their own.
    pub(super) shared: Vec<Shared>,
    /// The number among `kept` of each root that is kept.
    pub(super) roots: SecondaryMap<Value, Option<usize>>,
}

impl Keeping {
    /// What a function keeps.
    ///
    /// # Errors
    /// Why that is not known.
    pub(super) fn of(asked: &Asked<'_>) -> Result<Keeping, String> {
        let (ctx, mut body) = (asked.ctx, asked.body.clone());
        asked.arrangement.link(ctx, &mut body);
        let aliases = separate_outputs(ctx, &mut body);
        let weights = WeightSet::of(ctx, &body);
        let steps = Steps::of(ctx, &body, &weights);
        let mut keeper = Keeper {
            asked,
            body: &body,
            aliases: &aliases,
            owners: SecondaryMap::new(),
            lives: SecondaryMap::new(),
            keeping: Keeping {
                kept: Vec::new(),
                exprs: Vec::new(),
                shared: Vec::new(),
                roots: SecondaryMap::new(),
            },
        };
        keeper.own_parts();
        keeper.share();
        let classes = Classes::of(ctx, &body, &steps, &weights, &aliases);
        keeper.live(&classes);
        keeper.add_roots(classes.roots())?;
        keeper.add_scratch(&steps)?;
        keeper.add_handing(&steps)?;
        Ok(keeper.keeping)
    }
}

type Life = (usize, usize);

struct Keeper<'a> {
    asked: &'a Asked<'a>,
    /// The function with what is arranged for all sizes, and its outputs apart.
    body: &'a Body,
    aliases: &'a AliasSets,
    /// For a root that lies in another's bytes, or at its place: that root.
    owners: SecondaryMap<Value, Option<Value>>,
    /// When each owner is kept.
    lives: SecondaryMap<Value, Option<Life>>,
    keeping: Keeping,
}

impl Keeper<'_> {
    /// The root in whose place a value is at all sizes.
    fn owner(&self, value: Value) -> Value {
        let mut owner = self.aliases.root(value);
        while let Some(next) = self.owners[owner] {
            owner = next;
        }
        owner
    }

    fn give(&mut self, value: Value, owner: Value) {
        let (value, owner) = (self.owner(value), self.owner(owner));
        if value != owner {
            self.owners[value] = Some(owner);
        }
    }

    fn own_parts(&mut self) {
        for (op, operands) in self.asked.arrangement.parts() {
            for operand in operands {
                self.give(self.body.operand(*op, *operand), self.body.result(*op, 0));
            }
        }
    }

    /// Lets values share places that do at the greatest sizes, where that is right at all.
    fn share(&mut self) {
        let Asked { ctx, target, body, ranges, threads, arrangement } = *self.asked;
        let Some(mut at) = at_greatest(ctx, body, ranges) else { return };
        let copies = arrangement.apply(ctx, target, &mut at, &open_views(ctx, body), threads);
        let view_of = |value: Value| {
            let copy = copies.iter().find(|(_, copy)| *copy == value);
            copy.map_or(value, |(view, _)| *view)
        };
        let aliases = separate_outputs(ctx, &mut at);
        let Ok(arena) = Arena::of(ctx, &at, &aliases) else { return };
        let outside = outside(ctx, self.body, self.aliases);
        for (value, other) in arena.shared().iter().map(|(a, b)| (view_of(*a), view_of(*b))) {
            let is_known = [value, other].iter().all(|value| value.index() < body.value_capacity());
            if !is_known {
                continue;
            }
            let is_lent = outside.contains(&self.owner(other));
            let is_right = are_as_large(ctx, body, value, other, ranges)
                || is_lent && is_at_most(ctx, body, self.owner(value), self.owner(other), ranges);
            if is_right {
                self.give(value, other);
                self.keeping.shared.push((value, other));
            }
        }
    }

    /// Finds when each owner is kept.
    fn live(&mut self, classes: &Classes<'_>) {
        for root in classes.roots() {
            let Some(life) = classes.life(*root) else { continue };
            let (owner, (first, last)) = (self.owner(*root), (life.first.index(), life.last.index()));
            self.lives[owner] = match self.lives[owner] {
                Some(known) => Some((known.0.min(first), known.1.max(last))),
                None => Some((first, last)),
            };
        }
    }

    fn add_roots(&mut self, roots: &[Value]) -> Result<(), String> {
        let (ctx, body) = (self.asked.ctx, self.body);
        let outside = outside(ctx, body, self.aliases);
        let mut is_outside: SecondaryMap<Value, bool> = SecondaryMap::new();
        outside.iter().for_each(|value| is_outside[self.owner(*value)] = true);
        for &root in roots {
            let owner = self.owner(root);
            let (Some((first, last)), false) = (self.lives[owner], is_outside[owner]) else { continue };
            let number = match self.keeping.roots[owner] {
                Some(number) => number,
                None => {
                    let size = self.size(owner)?;
                    self.keeping.kept.push(Kept { content: Content::Root(owner), first, last, size });
                    self.keeping.kept.len() - 1
                }
            };
            self.keeping.roots[owner] = Some(number);
            self.keeping.roots[root] = Some(number);
        }
        Ok(())
    }

    fn size(&mut self, value: Value) -> Result<Size, String> {
        let (ctx, ty) = (self.asked.ctx, self.body.ty(value));
        if let Some(bytes) = tensor_bytes(ctx, ty) {
            return Ok(Size::Bytes(bytes.into()));
        }
        let bytes = bytes_expr(ctx, ty).ok_or_else(|| match self.body.defining_op(value) {
            Some(op) => format!("the size of a result of `{}` is not known", self.name(op)),
            None => "the size of an argument of a block is not known".to_owned(),
        })?;
        let exprs = &mut self.keeping.exprs;
        let known = exprs.iter().position(|known| *known == bytes);
        Ok(Size::Symbolic(known.unwrap_or_else(|| {
            exprs.push(bytes);
            exprs.len() - 1
        })))
    }

    /// The most scratch of each kernel, with its operands whole and where they are arranged to lie.
    fn add_scratch(&mut self, steps: &Steps) -> Result<(), String> {
        let Asked { ctx, target, ranges, threads, arrangement, .. } = *self.asked;
        let mut whole = self.body.clone();
        dims::greatest_in(ctx, &mut whole, ranges).map_err(|faults| faults[0].message.clone())?;
        let mut arranged = whole.clone();
        arrangement.assemble(ctx, &mut arranged);
        for (step, op) in steps.iter() {
            let at = self.body.at(ctx, op);
            let has_none = matches!(at.kind(), Kind::View(_) | Kind::Structure | Kind::Source);
            if has_none || is_free(at) {
                continue;
            }
            let bytes =
                |body: &Body| target.select(body.at(ctx, op), threads).map(|it| it.most_scratch_bytes);
            let bytes = bytes(&whole).map(|bytes_whole| bytes_whole.max(bytes(&arranged).unwrap_or(0)));
            let bytes = bytes.ok_or_else(|| format!("the scratch of `{}` has no bound", self.name(op)))?;
            self.add_scratch_of(op, step.index(), bytes);
        }
        Ok(())
    }

    /// The scratch of hand-overs whose copies may go in a circle: each value at its greatest.
    fn add_handing(&mut self, steps: &Steps) -> Result<(), String> {
        let (ctx, body) = (self.asked.ctx, self.body);
        let events: Vec<(usize, Event)> = steps
            .events()
            .map(|(step, event)| (step.index(), event))
            .filter(|(_, event)| event.act != Act::Run)
            .collect();
        for (step, event) in events {
            let moves = event.moves(ctx, body);
            let is_done = |index: usize| self.owner(moves[index].from) == self.owner(moves[index].to);
            let clobbers = |a: usize, b: usize| self.owner(moves[a].to) == self.owner(moves[b].from);
            let ones = vec![1; moves.len()];
            if transfers(&ones, is_done, clobbers).1 == 0 {
                continue;
            }
            let bytes = moves.iter().map(|Move { to, .. }| self.greatest(*to));
            let all: Option<Vec<u64>> = bytes.collect();
            let bytes = all.ok_or("the size of an argument of a block is not known")?;
            self.add_scratch_of(
                event.op,
                step,
                bytes.iter().map(|bytes| bytes.next_multiple_of(ALIGN_BYTES)).sum(),
            );
        }
        Ok(())
    }

    fn greatest(&self, value: Value) -> Option<u64> {
        let (ctx, ty) = (self.asked.ctx, self.body.ty(value));
        let most =
            || u64::try_from(dims::maximum(ctx, bytes_expr(ctx, ty)?, self.asked.ranges)?.value.max(0)).ok();
        tensor_bytes(ctx, ty).or_else(most)
    }

    /// Scratch at a step; ways out of one block are taken one at a time, and share theirs.
    fn add_scratch_of(&mut self, op: Op, step: usize, bytes: u64) {
        if bytes == 0 {
            return;
        }
        let content = Content::Scratch(op);
        match self.keeping.kept.iter_mut().rev().find(|kept| kept.content == content) {
            Some(kept) => {
                kept.last = step;
                if let Size::Bytes(known) = &mut kept.size {
                    *known = (*known).max(bytes.into());
                }
            }
            None => self.keeping.kept.push(Kept {
                content,
                first: step,
                last: step,
                size: Size::Bytes(bytes.into()),
            }),
        }
    }

    fn name(&self, op: Op) -> String {
        self.body.at(self.asked.ctx, op).name().to_owned()
    }
}

/// Whether a value takes at most as many bytes as another, at all sizes in their ranges.
fn is_at_most(ctx: &Context, body: &Body, value: Value, other: Value, ranges: &Ranges) -> bool {
    let bytes = |value: Value| bytes_expr(ctx, body.ty(value));
    let excess = bytes(value).zip(bytes(other)).and_then(|(value, other)| dims::sub(ctx, value, other));
    excess.and_then(|excess| dims::maximum(ctx, excess, ranges)).is_some_and(|most| most.value <= 0)
}
