//! What of a function's plan is the same at all sizes: whose bytes each value has, and from which step to which they are kept.
//!
//! There is a recipe where a function runs from its beginning to its end in one block, its ties are decided for all sizes, and each value has as
//! many bytes as the value that owns them, by proof. Then a size decides only how many bytes each buffer takes, so that [`Recipe::place`]
//! makes no IR. Other functions are planned anew at each size: such with control flow, states, pools, or parts and views at their
//! place, and all that are to take the least memory, whose steps are run in bands.
//!
//! A recipe is judged when it is made ([`crate::check::check_recipe`]).

use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap};
use ir::alias::{AliasSets, ties};
use ir::dims::SizeId;
use ir::flow::{Act, walk};
use ir::plan::attrs;
use ir::size::bytes_expr;
use ir::sized::{SizedTypes, has_symbols};
use ir::weights::WeightSet;
use ir::{Body, Context, Dim, DimExpr, Kind, Op, Value};

use super::is_as_large;
use crate::access::asks_target;
use crate::check::check_recipe;
use crate::edit::{entry, kept_inputs};
use crate::fit::Goal;
use crate::liveness::{Classes, Steps};
use crate::place::again::Again;
use crate::place::{Buffer, BufferId, Problem, Step};
use crate::plan::{ALIGN_BYTES, separate_outputs};

/// Where a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Home {
    /// In the caller's input of this number.
    Input(usize),
    /// In the caller's output of this number.
    Output(usize),
    /// In a buffer of the arena.
    Buffer(BufferId),
}

/// A step of a recipe.
#[derive(Clone, Copy, Debug)]
pub struct RecipeStep {
    /// What runs.
    pub op: Op,
    /// When.
    pub step: Step,
    /// The buffer of its scratch, which may be empty.
    pub scratch: BufferId,
    /// The operand that result 0 overwrites, if the target must allow it at each size.
    pub asked_tie: Option<usize>,
}

/// The plan of a function but for its sizes.
pub struct Recipe {
    /// The function, with a copy for each output that has no bytes of its own.
    pub body: Body,
    /// What runs, in order.
    pub steps: Vec<RecipeStep>,
    /// The step of each operation.
    pub(super) numbers: SecondaryMap<Op, u32>,
    homes: SecondaryMap<Value, Option<Home>>,
    /// The bytes of the buffers that are not scratch.
    pub(super) bytes: Vec<(BufferId, SizeId)>,
    /// The same as expressions.
    exprs: Vec<DimExpr>,
    /// The bytes of the caller's buffers in which values can lie that are not the caller's.
    pub(super) lent: Vec<SizeId>,
    /// When each buffer is needed.
    pub(super) again: Again,
    pub(super) goal: Goal,
}

impl Recipe {
    /// The recipe of a function whose ties are decided (see [`super::tie`]), if it has one; its sizes are added to `sized`.
    pub fn of(ctx: &Context, body: &Body, sized: &mut SizedTypes, goal: Goal) -> Option<Recipe> {
        if goal == Goal::Memory || !is_plain(ctx, body) {
            return None;
        }
        let mut body = body.clone();
        forget_scratch(ctx, &mut body);
        let aliases = separate_outputs(ctx, &mut body);
        let weights = WeightSet::of(ctx, &body);
        if has_sized_weights(ctx, &body, &weights) {
            return None;
        }
        let steps = Steps::of(ctx, &body, &weights);
        if !steps.events().all(|(_, event)| matches!(event.act, Act::Run | Act::Return)) {
            return None;
        }
        let classes = Classes::of(ctx, &body, &steps, &weights, &aliases);
        let mut maker = Maker { ctx, body: &body, aliases: &aliases, homes: SecondaryMap::new() };
        let returned = maker.pin()?;
        let mut buffers: PrimaryMap<BufferId, Buffer> = PrimaryMap::new();
        let mut push =
            |first, last| buffers.push(Buffer { first, last, size_bytes: 0, align: ALIGN_BYTES, pin: None });
        let (mut bytes, mut exprs) = (Vec::new(), Vec::new());
        for &root in classes.roots().iter().filter(|root| aliases.root(**root) == **root) {
            if maker.homes[root].is_none() {
                let (life, expr) = (classes.life(root)?, bytes_expr(ctx, body.ty(root))?);
                let id = push(life.first, life.last);
                bytes.push((id, sized.size(expr)));
                exprs.push(expr);
                maker.homes[root] = Some(Home::Buffer(id));
            }
        }
        let runs = steps.iter().map(|(step, op)| {
            let ties: Vec<usize> = ties(body.at(ctx, op)).filter(|tie| tie.0 == 0).map(|tie| tie.1).collect();
            let asked_tie = ties.into_iter().find(|operand| asks_target(ctx, &body, op, 0, *operand));
            RecipeStep { op, step, scratch: push(step, step), asked_tie }
        });
        let runs: Vec<RecipeStep> = runs.collect();
        maker.share(&weights)?;
        let (homes, lent) = (std::mem::take(&mut maker.homes), lent(ctx, &body, &returned, sized)?);
        let mut numbers = SecondaryMap::new();
        runs.iter().enumerate().for_each(|(number, step)| numbers[step.op] = number as u32);
        let again = Again::new(Problem { buffers, ..Problem::default() });
        let recipe = Recipe { steps: runs, numbers, homes, bytes, exprs, lent, again, goal, body };
        check_recipe(ctx, &recipe).is_empty().then_some(recipe)
    }

    /// Where a value is; none for weights.
    pub fn home(&self, value: Value) -> Option<Home> {
        self.homes[value]
    }

    /// Which step an operation is, if it is one.
    pub fn number(&self, op: Op) -> Option<usize> {
        let number = self.numbers[op] as usize;
        self.steps.get(number).filter(|step| step.op == op).map(|_| number)
    }

    /// The bytes of a buffer that is not scratch.
    pub fn bytes_of(&self, buffer: BufferId) -> Option<DimExpr> {
        self.exprs.get(buffer.index()).copied()
    }

    /// From which step to which a buffer is kept, both included.
    pub fn life(&self, buffer: BufferId) -> (Step, Step) {
        let Buffer { first, last, .. } = self.again.problem().buffers[buffer];
        (first, last)
    }
}

/// Gives values their homes.
struct Maker<'a> {
    ctx: &'a Context,
    body: &'a Body,
    aliases: &'a AliasSets,
    homes: SecondaryMap<Value, Option<Home>>,
}

impl Maker<'_> {
    /// Inputs and outputs are where the caller says; gives the returned values.
    fn pin(&mut self) -> Option<Vec<Value>> {
        let block = entry(self.body)?;
        for (index, arg) in self.body.args(block).iter().enumerate() {
            self.homes[*arg] = Some(Home::Input(index));
        }
        let returned: Vec<Value> = self.body.operands(self.body.last_op(block)?).collect();
        for (index, value) in returned.iter().enumerate() {
            self.homes[self.aliases.root(*value)] = Some(Home::Output(index));
        }
        Some(returned)
    }

    /// Values are where their roots are; none if one may have other bytes than its root.
    fn share(&mut self, weights: &WeightSet) -> Option<()> {
        let (mut values, ctx, body) = (Vec::new(), self.ctx, self.body);
        walk(ctx, body, |op| values.extend(body.results(op)));
        for value in values.into_iter().filter(|value| !weights.contains(*value)) {
            let root = self.aliases.root(value);
            if value != root && !is_as_large(ctx, body, value, root) {
                return None;
            }
            self.homes[value] = Some(self.homes[root]?);
        }
        Some(())
    }
}

/// Whether nothing is said of a function that only a size can decide.
fn is_plain(ctx: &Context, body: &Body) -> bool {
    let of_function = [attrs::OPTC_TIES_PER_SIZE, attrs::OPTC_POOLS];
    let of_steps = [attrs::MEM_PARTS, attrs::MEM_VIEW, attrs::MEM_PITCH, attrs::MEM_LINES, attrs::MEM_POOL];
    let mut is_plain = !of_function.iter().any(|name| body.own_attr(ctx, ctx.ident(name)).is_some())
        && ir::states::states(ctx, body).is_ok_and(|states| states.is_empty())
        && body.blocks(body.root()).len() == 1;
    walk(ctx, body, |op| {
        is_plain &= !of_steps.iter().any(|name| body.at(ctx, op).attr(name).is_some());
    });
    is_plain
}

/// Whether something that is known before the program runs is another at each size: a weight, or a source of what follows from sizes,
/// which is a constant once these are numbers.
pub fn has_sized_weights(ctx: &Context, body: &Body, weights: &WeightSet) -> bool {
    let is_open = |sizes: &[Dim]| sizes.iter().any(|size| matches!(size, Dim::Symbolic(_)));
    let mut has_some = false;
    walk(ctx, body, |op| {
        let mut types = body.results(op).map(|value| ctx.type_data(body.ty(value)).tensor_shape());
        let is_source = matches!(body.at(ctx, op).kind(), Kind::Source) && body.operand_count(op) == 0;
        has_some |= (is_source || weights.is_weight_op(body, op))
            && (types.any(|shape| shape.is_some_and(is_open)) || has_symbols(ctx, body.properties(op)));
    });
    has_some
}

/// Scratch that was said before is no limit for what kernels wish for at a size.
fn forget_scratch(ctx: &Context, body: &mut Body) {
    let mut said = Vec::new();
    walk(ctx, body, |op| said.extend(body.at(ctx, op).attr(attrs::MEM_SCRATCH).map(|_| op)));
    said.into_iter().for_each(|op| body.remove_attr(ctx, op, attrs::MEM_SCRATCH));
}

/// The bytes of outputs and of donated inputs.
fn lent(ctx: &Context, body: &Body, returned: &[Value], sized: &mut SizedTypes) -> Option<Vec<SizeId>> {
    let kept = kept_inputs(ctx, body);
    let args = entry(body).map_or(&[][..], |block| body.args(block));
    let lenders = args.iter().filter(|arg| !kept[**arg]).chain(returned);
    lenders.map(|value| Some(sized.size(bytes_expr(ctx, body.ty(*value))?))).collect()
}

#[cfg(test)]
#[path = "recipe_tests.rs"]
mod tests;
