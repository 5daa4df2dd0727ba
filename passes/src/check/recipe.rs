//! Is a recipe right at all sizes? As the judge of plans, on buffers instead of bytes.
//!
//! It walks the function and remembers which value each home holds: each step first finds every operand in its home, in the life of the
//! home's buffer, then writes scratch and results. Whoever places the buffers sees to it that those whose lives have a step in common share no byte
//! ([`crate::place::again`] judges that at each size); so nobody else writes there. It shares nothing with the maker of recipes but the
//! proofs of sizes. What a result may overwrite while it is computed is a question of sizes, and asked at each.

use ir::size::bytes_expr;
use ir::weights::WeightSet;
use ir::{Body, Context, Diagnostic, Kind, Op, Traits, Value, alias, dims};
use rustc_hash::FxHashMap;

use crate::edit::kept_inputs;
use crate::symbolic::recipe::{Home, Recipe, RecipeStep};

/// Judges a recipe; empty means right.
pub fn check_recipe(ctx: &Context, recipe: &Recipe) -> Vec<Diagnostic> {
    let body = &recipe.body;
    let weights = WeightSet::of(ctx, body);
    let mut judge = Judge { ctx, body, recipe, weights, held: FxHashMap::default(), faults: Vec::new() };
    let Some(block) = body.entry(body.root()) else { return Vec::new() };
    for (index, arg) in body.args(block).iter().enumerate() {
        judge.held.insert(Home::Input(index), *arg);
        let home = recipe.home(*arg);
        if home != Some(Home::Input(index)) {
            judge.fault(None, "an argument is not where its caller has it");
        }
    }
    let mut steps = recipe.steps.iter();
    for op in body.ops(block) {
        if judge.weights.is_weight_op(body, op) {
            continue;
        }
        match body.at(ctx, op) {
            end if end.has(Traits::RETURN) => judge.hand_over(op),
            _ if steps.as_slice().first().is_some_and(|step| step.op == op) => {
                judge.step(steps.next().expect("it is the next"));
            }
            _ if judge.source_op(op).is_none() => judge.fault(Some(op), "it runs, but is no step"),
            _ => {}
        }
    }
    if steps.len() > 0 {
        judge.fault(None, "a step is no operation of the function, or stands out of order");
    }
    judge.faults
}

struct Judge<'a> {
    ctx: &'a Context,
    body: &'a Body,
    recipe: &'a Recipe,
    weights: WeightSet,
    /// What was written to each home last.
    held: FxHashMap<Home, Value>,
    faults: Vec<Diagnostic>,
}

impl Judge<'_> {
    fn fault(&mut self, op: Option<Op>, message: &str) {
        let location = op.map_or(ir::Location::UNKNOWN, |op| self.body.location(op));
        self.faults.push(Diagnostic::error(location, message));
    }

    fn step(&mut self, step: &RecipeStep) {
        let op = step.op;
        let operands: Vec<Value> =
            self.body.operands(op).filter(|operand| !self.weights.contains(*operand)).collect();
        for operand in &operands {
            let is_there = self.is_there(*operand, Some(step));
            if !is_there {
                self.fault(Some(op), "an operand is not where the recipe says it is");
            }
        }
        let is_own = self.recipe.life(step.scratch) == (step.step, step.step);
        if !is_own {
            self.fault(Some(op), "its scratch is not its own");
        }
        let ties: Vec<(usize, usize)> = alias::ties(self.body.at(self.ctx, op)).collect();
        for (index, result) in self.body.results(op).enumerate() {
            let Some(home) = self.recipe.home(result) else {
                self.fault(Some(op), "a result has no home");
                continue;
            };
            let tied = ties.iter().find(|tie| tie.0 == index).map(|tie| self.body.operand(op, tie.1));
            let may_write = operands.iter().all(|operand| {
                let is_elsewhere = self.recipe.home(*operand) != Some(home);
                is_elsewhere || tied.is_some_and(|tied| self.body.ty(tied) == self.body.ty(*operand))
            });
            if !may_write {
                self.fault(Some(op), "a result overwrites an operand that it is not tied to");
            }
            let (lives, fits) = (self.lives(home, step), self.fits(home, result));
            if !lives {
                self.fault(Some(op), "a result is written where nothing keeps it");
            }
            if !fits {
                self.fault(Some(op), "a result may have other bytes than its home");
            }
            self.held.insert(home, result);
        }
    }

    fn hand_over(&mut self, end: Op) {
        for (index, value) in self.body.operands(end).enumerate() {
            let is_there = self.recipe.home(value) == Some(Home::Output(index)) && self.is_there(value, None);
            if !is_there {
                self.fault(Some(end), "a returned value is not where the caller gets it");
            }
        }
    }

    /// Whether a value is in its home, at a step or at the end.
    fn is_there(&self, value: Value, step: Option<&RecipeStep>) -> bool {
        let source = self.source(value);
        let Some(home) = self.recipe.home(value) else { return false };
        self.recipe.home(source) == Some(home)
            && self.held.get(&home) == Some(&source)
            && self.fits(home, value)
            && step.is_none_or(|step| self.lives(home, step))
    }

    /// Whether a home is kept at a step, and may be written then.
    fn lives(&self, home: Home, step: &RecipeStep) -> bool {
        match home {
            Home::Buffer(id) => {
                let (first, last) = self.recipe.life(id);
                first <= step.step && step.step <= last
            }
            Home::Input(_) | Home::Output(_) => true,
        }
    }

    /// Whether a value has as many bytes as a home, whatever the sizes are; nothing but an argument is in an input that the caller keeps.
    fn fits(&self, home: Home, value: Value) -> bool {
        let block = self.body.entry(self.body.root()).expect("the function has a body");
        let whole = match home {
            Home::Buffer(id) => self.recipe.bytes_of(id),
            Home::Input(index) => {
                let arg = self.body.args(block)[index];
                if self.source(value) != arg && kept_inputs(self.ctx, self.body)[arg] {
                    return false;
                }
                bytes_expr(self.ctx, self.body.ty(arg))
            }
            Home::Output(index) => {
                let end = self.body.last_op(block).expect("the function returns");
                bytes_expr(self.ctx, self.body.ty(self.body.operand(end, index)))
            }
        };
        let bytes = whole.zip(bytes_expr(self.ctx, self.body.ty(value)));
        bytes.is_some_and(|(a, b)| dims::provably_equal(self.ctx, a, b, &dims::Ranges::LAWS))
    }

    /// The value that was written where a value is: itself, or what it is a view of.
    fn source(&self, value: Value) -> Value {
        let mut source = value;
        while let Some(operand) = self.body.defining_op(source).and_then(|op| self.source_op(op)) {
            source = operand;
        }
        source
    }

    /// What an operation that does not run is a view of: it has the same elements in the same order.
    fn source_op(&self, op: Op) -> Option<Value> {
        let view = self.body.at(self.ctx, op);
        let is_view = matches!(view.kind(), Kind::View(_))
            && (view.has(Traits::SAME_ORDER) || alias::view_offset_bytes(view) == Some(0));
        (is_view && self.recipe.number(op).is_none()).then(|| view.operand(0))
    }
}
