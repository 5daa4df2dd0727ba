//! Which operations nobody needs.
//!
//! An operation is needed if it has an effect, or if something needed reads a result of it. One sweep against the text
//! order finds the rest, since within a block a reader stands behind what it reads; values that are read across blocks
//! (also around a loop of the control flow) are kept alive by whoever reads them. O(operations + operands).

use ir::{Block, Body, Context, Diagnostic, Op, Traits};

use crate::manager::{Example, PassContext, PassDef, PassRun, StageRule};

/// The pass `dce`.
pub static DCE: PassDef = PassDef {
    name: "dce",
    doc: "Removes pure operations whose results nobody reads.",
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
    cx.count("removed", remove_dead(cx.ctx, func));
    Ok(())
}

/// Removes pure operations whose results nobody reads; gives how many there were.
pub fn remove_dead(ctx: &Context, body: &mut Body) -> u64 {
    let roots = body.roots().to_vec();
    let blocks: Vec<Block> = roots.iter().flat_map(|root| body.blocks(*root).to_vec()).collect();
    blocks.into_iter().rev().map(|block| sweep(ctx, body, block)).sum()
}

fn sweep(ctx: &Context, body: &mut Body, block: Block) -> u64 {
    let mut removed = 0;
    let mut next = body.last_op(block);
    while let Some(op) = next {
        next = body.prev_op(op);
        if is_dead(ctx, body, op) {
            body.erase(op);
            removed += 1;
        } else {
            let inner: Vec<Block> =
                body.regions(op).iter().flat_map(|region| body.blocks(*region).to_vec()).collect();
            removed += inner.into_iter().rev().map(|block| sweep(ctx, body, block)).sum::<u64>();
        }
    }
    removed
}

fn is_dead(ctx: &Context, body: &Body, op: Op) -> bool {
    body.at(ctx, op).has(Traits::PURE) && body.results(op).all(|result| !body.is_used(result))
}
