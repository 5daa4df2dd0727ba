//! Which results overwrite an operand that dies.
//!
//! ```text
//! %2 = nn.add %0, %1    =>    %2 = nn.add %0, %1 {mem.tie = array<i64: 0>}
//! ```
//!
//! Decided before anything is placed, in text order, on alias roots. A result takes the bytes of an operand if the pair is
//! declared (see [`access`]), the operand's root is read by nothing later, no other operand reads the same bytes (unless at
//! the same index), the sizes are proved equal, and the root is neither a weight, nor a caller's input that was not
//! donated. Each refusal of a declared pair is a remark that names what stands in the way.

use cranelift_entity::SecondaryMap;
use ir::alias::AliasSets;
use ir::opdef::Access;
use ir::weights::WeightSet;
use ir::{Block, Body, Context, Diagnostic, Op, Target, Value};

use crate::access::access;
use crate::edit::entry;
use crate::liveness::{Life, Liveness, Steps};
use crate::place::Step;

/// What was tied and what was not.
#[derive(Default)]
pub struct Outcome {
    /// How many operations overwrite an operand.
    pub ties: usize,
    /// A remark for each declared pair that was refused.
    pub remarks: Vec<Diagnostic>,
}

/// Ties the results of a function's operations to dying operands (`mem.tie`).
pub fn inplace(ctx: &Context, target: &dyn Target, body: &mut Body) -> Outcome {
    let Some(block) = entry(body) else { return Outcome::default() };
    let (ties, remarks) = Chooser::choose(ctx, target, body, block);
    for (op, operands) in &ties {
        body.set_attr(ctx, *op, "mem.tie", ctx.ints_attr(operands));
    }
    Outcome { ties: ties.len(), remarks }
}

/// For each result of an operation, the operand that it overwrites, or -1.
type Ties = Vec<(Op, Vec<i64>)>;

struct Chooser<'a> {
    ctx: &'a Context,
    target: &'a dyn Target,
    body: &'a Body,
    weights: WeightSet,
    aliases: &'a AliasSets,
    liveness: Liveness<'a>,
    /// The root that owns the bytes of a root, as ties are chosen.
    owner: SecondaryMap<Value, Option<Value>>,
    /// When the bytes of an owner are kept, with all roots tied to it.
    lives: SecondaryMap<Value, Option<Life>>,
    /// The root tied to an owner last.
    newest: SecondaryMap<Value, Option<Value>>,
    /// Whether a value is an input that the caller keeps.
    kept: SecondaryMap<Value, bool>,
    remarks: Vec<Diagnostic>,
}

impl<'a> Chooser<'a> {
    fn choose(
        ctx: &'a Context,
        target: &'a dyn Target,
        body: &'a Body,
        block: Block,
    ) -> (Ties, Vec<Diagnostic>) {
        let aliases = AliasSets::of(ctx, body);
        let weights = WeightSet::of(ctx, body);
        let steps = Steps::of(ctx, body, block, &weights);
        let liveness = Liveness::of(ctx, body, block, &steps, &aliases);
        let mut lives = SecondaryMap::new();
        liveness.roots().iter().for_each(|root| lives[*root] = liveness.life(*root));
        let kept = kept_inputs(ctx, body, block);
        let mut chooser = Chooser {
            ctx,
            target,
            body,
            weights,
            aliases: &aliases,
            liveness,
            owner: SecondaryMap::new(),
            lives,
            newest: SecondaryMap::new(),
            kept,
            remarks: Vec::new(),
        };
        let ties = steps.iter().filter_map(|(step, op)| chooser.tie(step, op)).collect();
        (ties, chooser.remarks)
    }

    fn tie(&mut self, step: Step, op: Op) -> Option<(Op, Vec<i64>)> {
        let mut ties = vec![-1; self.body.result_count(op)];
        for (result, tie) in ties.iter_mut().enumerate() {
            let mut candidates = 0..self.body.operand_count(op);
            let Some(operand) = candidates.find(|operand| self.may_tie(step, op, result, *operand)) else {
                continue;
            };
            *tie = operand as i64;
            let owner = self.owner_of(self.body.operand(op, operand));
            let value = self.body.result(op, result);
            self.owner[value] = Some(owner);
            self.newest[owner] = Some(value);
            if let (Some(life), Some(new)) = (&mut self.lives[owner], self.liveness.life(value)) {
                life.last = new.last;
            }
        }
        ties.iter().any(|tie| *tie >= 0).then_some((op, ties))
    }

    fn may_tie(&mut self, step: Step, op: Op, result: usize, operand: usize) -> bool {
        let access = access(self.ctx, self.target, self.body, op, result, operand);
        if access == Access::Never {
            return false;
        }
        match self.obstacle(step, op, result, operand) {
            None => true,
            Some(obstacle) => {
                let message =
                    format!("result {result} does not overwrite operand {operand}: {}", obstacle.reason);
                let mut remark = Diagnostic::remark(self.body.location(op), message);
                if let Some(user) = obstacle.user {
                    remark = remark.with_note(self.body.location(user), "it is read here");
                }
                self.remarks.push(remark);
                false
            }
        }
    }

    /// What stands in the way of `result` overwriting `operand`, a declared pair.
    fn obstacle(&self, step: Step, op: Op, result: usize, operand: usize) -> Option<Obstacle> {
        let value = self.body.operand(op, operand);
        if self.weights.contains(value) {
            return Some(Obstacle::new("it is a weight"));
        }
        let owner = self.owner_of(value);
        if self.kept[owner] {
            return Some(Obstacle::new("it is an input that the caller keeps"));
        }
        if self.lives[owner].is_none_or(|life| life.last != step) {
            let reason = "its bytes are read later";
            return Some(Obstacle { reason, user: self.later_reader(owner) });
        }
        let sizes = [self.body.result(op, result), value, owner].map(|value| self.aliases.size_bytes(value));
        if sizes[0].is_none() || sizes[0] != sizes[1] || sizes[1] != sizes[2] {
            return Some(Obstacle::new("its bytes are not proved to be as many as the result's"));
        }
        let mut others = (0..self.body.operand_count(op)).filter(|other| *other != operand);
        let clashes = |other: &usize| {
            let shares = self.owner_of(self.body.operand(op, *other)) == owner;
            shares && access(self.ctx, self.target, self.body, op, result, *other) != Access::SameIndex
        };
        others.find(clashes).map(|_| Obstacle::new("another operand reads the same bytes in another order"))
    }

    /// The root that owns the bytes of a value, with the ties chosen so far.
    fn owner_of(&self, value: Value) -> Value {
        let root = self.aliases.root(value);
        self.owner[root].unwrap_or(root)
    }

    /// The operation that reads the bytes of an owner last: what is tied to it begins where what was tied before ends.
    fn later_reader(&self, owner: Value) -> Option<Op> {
        self.liveness.last_reader(self.newest[owner].unwrap_or(owner))
    }
}

/// Why a declared pair is refused.
struct Obstacle {
    reason: &'static str,
    user: Option<Op>,
}

impl Obstacle {
    fn new(reason: &'static str) -> Obstacle {
        Obstacle { reason, user: None }
    }
}

/// The arguments whose bytes stay the caller's: those without `optc.donated` among their attributes.
fn kept_inputs(ctx: &Context, body: &Body, block: Block) -> SecondaryMap<Value, bool> {
    let attrs = body.own_attr(ctx, ctx.ident("arg_attrs")).and_then(|attrs| ctx.array_value(attrs));
    let donated = ctx.ident("optc.donated");
    let mut kept = SecondaryMap::new();
    for (index, arg) in body.args(block).iter().enumerate() {
        let dict = attrs.and_then(|attrs| attrs.get(index));
        kept[*arg] = dict.is_none_or(|dict| ctx.dict_get(*dict, donated).is_none());
    }
    kept
}
