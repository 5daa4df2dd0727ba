//! Dead-code elimination.
//!
//! An operation is needed if it has an effect, or if a needed operation reads one of its results. A value
//! passed to a block is needed only if the block's argument is needed. So a value that only circulates in a
//! loop of blocks is dead; such arguments are removed too. O(operations + operands).
//!
//! ```text
//! cf.br ^bb1(%x, %n)                               cf.br ^bb1(%x)
//! ^bb1(%a, %i):                              =>    ^bb1(%a):
//!   %j = arith.addi %i, %one                         cf.cond_br %c, ^bb1(%a), ^bb2
//!   cf.cond_br %c, ^bb1(%a, %j), ^bb2
//! ```
//!
//! Source: the mark phase of Cytron et al. (1991), "Efficiently Computing Static Single Assignment Form",
//! 7.1, without its control dependence: branches are kept.

use cranelift_entity::EntitySet;
use ir::body::ValueDef;
use ir::{Block, Body, Context, Diagnostic, Op, Region, Value};

use crate::branches::{self, Ways};
use crate::effects::is_pure;
use crate::manager::{Changes, Example, PassContext, PassDef, PassRun, StageRule};

/// The pass `dce`.
pub static DCE: PassDef = PassDef {
    name: "dce",
    doc: "Removes pure operations and block arguments that are not read.",
    options: &[],
    example: Example {
        before: r#"func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.exp %x : tensor<4xf32>
  return %x : tensor<4xf32>
}"#,
        after: r#"module {
  func.func @f(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    return %arg0 : tensor<4xf32>
  }
}"#,
    },
    stage: StageRule::Any,
    run: PassRun::Function(run),
};

fn run(cx: &PassContext<'_>, func: &mut Body) -> Result<(), Vec<Diagnostic>> {
    cx.count("removed", remove_dead_within(cx.ctx, func, &cx.changes));
    Ok(())
}

/// Removes unneeded pure operations and block arguments; returns the number of operations removed.
pub fn remove_dead(ctx: &Context, body: &mut Body) -> u64 {
    remove_dead_within(ctx, body, &Changes::unlimited())
}

/// Like [`remove_dead`], within a limit. Each operation is a change, the last one first; all values that only
/// circulate in loops of blocks are one change together.
fn remove_dead_within(ctx: &Context, body: &mut Body, changes: &Changes) -> u64 {
    let roots = body.roots().to_vec();
    let ways = branches::ways(body);
    let mut needs = Needs::new(ctx, body, &ways);
    roots.iter().for_each(|root| needs.effects_of(*root));
    needs.follow();
    let Needs { ops, values, .. } = needs;
    let mut dead_args = dead_args(ctx, body, &ways, &values);
    let mut dead = Vec::new();
    roots.iter().for_each(|root| collect_dead(body, &ops, *root, &mut dead));
    let count = dead.len();
    remove_unread(ctx, body, &mut dead, changes);
    // Blocks inside dead operations were removed with them.
    dead_args.retain(|(block, _)| body.region_of(*block).is_some());
    let is_done = dead.is_empty() && dead_args.is_empty();
    if is_done || !changes.allow(|| "what only goes round loops of blocks is removed".to_owned()) {
        return (count - dead.len()) as u64;
    }
    for op in &dead {
        body.regions(*op).to_vec().into_iter().for_each(|region| body.erase_blocks(region));
        body.set_operands(*op, &[]);
    }
    dead_args.retain(|(block, _)| body.region_of(*block).is_some());
    // Dead arguments may be passed to each other, so all values passed to them are removed first.
    for (block, indices) in &dead_args {
        branches::stop_handing(ctx, body, *block, &ways, indices);
    }
    for (block, indices) in &dead_args {
        indices.iter().rev().for_each(|index| body.remove_arg(*block, *index));
    }
    dead.iter().for_each(|op| body.erase(*op));
    count as u64
}

/// Removes those dead operations whose results have no reader, readers before their operands; keeps the
/// others in `dead`.
fn remove_unread(ctx: &Context, body: &mut Body, dead: &mut Vec<Op>, changes: &Changes) {
    dead.reverse();
    loop {
        let before = dead.len();
        dead.retain(|op| {
            let is_read = body.results(*op).any(|result| body.is_used(result));
            let what = || format!("{} is removed", body.at(ctx, *op).describe());
            if is_read || !changes.allow(what) {
                return true;
            }
            body.regions(*op).to_vec().into_iter().for_each(|region| body.erase_blocks(region));
            body.erase(*op);
            false
        });
        if dead.len() == before || dead.is_empty() {
            return;
        }
    }
}

/// The needed operations and values known so far.
struct Needs<'b> {
    ctx: &'b Context,
    body: &'b Body,
    ops: EntitySet<Op>,
    values: EntitySet<Value>,
    /// Needed operations whose operands and regions are not processed yet.
    open: Vec<Op>,
    /// Needed block arguments whose incoming values are not processed yet.
    open_args: Vec<(Block, usize)>,
    ways: &'b Ways,
}

impl<'b> Needs<'b> {
    fn new(ctx: &'b Context, body: &'b Body, ways: &'b Ways) -> Needs<'b> {
        Needs {
            ctx,
            body,
            ops: EntitySet::with_capacity(body.op_capacity()),
            values: EntitySet::with_capacity(body.value_capacity()),
            open: Vec::new(),
            open_args: Vec::new(),
            ways,
        }
    }

    /// Operations in a region are needed if they have an effect or end a block.
    fn effects_of(&mut self, region: Region) {
        let body = self.body;
        for op in body.blocks(region).iter().flat_map(|block| body.ops(*block)) {
            if !is_pure(self.ctx, body, op) {
                self.op(op);
            }
        }
    }

    fn op(&mut self, op: Op) {
        if self.ops.insert(op) {
            self.open.push(op);
        }
    }

    fn value(&mut self, value: Value) {
        if self.values.insert(value) {
            match self.body.def(value) {
                ValueDef::Result(op, _) => self.op(op),
                ValueDef::Arg(block, index) => self.open_args.push((block, index)),
            }
        }
    }

    /// Marks everything that needed operations and arguments depend on.
    fn follow(&mut self) {
        loop {
            if let Some(op) = self.open.pop() {
                self.operands_of(op);
            } else if let Some((block, index)) = self.open_args.pop() {
                for &(op, number) in self.ways.get(&block).into_iter().flatten() {
                    let handed = branches::handed(self.body, op, number);
                    handed.get(index).into_iter().for_each(|value| self.value(*value));
                }
            } else {
                return;
            }
        }
    }

    fn operands_of(&mut self, op: Op) {
        let body = self.body;
        let is_branch = branches::branch(self.ctx, body, op).is_some();
        for (index, value) in body.operands(op).enumerate() {
            if !(is_branch && branches::is_handed_on(body, op, index)) {
                self.value(value);
            }
        }
        body.regions(op).iter().for_each(|region| self.effects_of(*region));
    }
}

/// The unneeded arguments of each block that only branches enter.
fn dead_args(ctx: &Context, body: &Body, ways: &Ways, values: &EntitySet<Value>) -> Vec<(Block, Vec<usize>)> {
    let mut out = Vec::new();
    for block in body.all_blocks() {
        let args = body.args(block).iter().enumerate();
        let dead: Vec<usize> = args.filter(|(_, arg)| !values.contains(**arg)).map(|(i, _)| i).collect();
        if !dead.is_empty() && branches::owns_its_args(ctx, body, block, ways) {
            out.push((block, dead));
        }
    }
    out
}

/// The unneeded operations; only the outermost of each nest.
fn collect_dead(body: &Body, needed: &EntitySet<Op>, region: Region, dead: &mut Vec<Op>) {
    for op in body.blocks(region).iter().flat_map(|block| body.ops(*block)) {
        if needed.contains(op) {
            body.regions(op).iter().for_each(|inner| collect_dead(body, needed, *inner, dead))
        } else {
            dead.push(op)
        }
    }
}
