//! Canonicalization: brings a function into the form that other passes expect.
//!
//! All registered rules are applied until none applies ([`crate::rewrite`]). Unreachable blocks and blocks
//! that only continue another one are removed:
//!
//! ```text
//! %0 = arith.constant 1 : i32             %0 = arith.constant 3 : i32
//! %1 = arith.constant 2 : i32       =>    %1 = arith.addi %x, %0 : i32
//! %2 = arith.addi %0, %1 : i32
//! %3 = arith.addi %2, %x : i32
//! ```
//!
//! The rules are the exact laws of one table ([`crate::laws`]), and code for transformations that no pattern
//! expresses: of blocks, branches and loops. A replacement computes the same to the bit, including rounding,
//! NaN and the sign of zero. Laws that hold only up to rounding are left to `simplify`, which applies all.

mod blocks;
mod branches;
mod flow;
mod general;

pub(crate) use blocks::simplify as simplify_blocks;
use ir::{Body, Diagnostic, Region};

use crate::dce::remove_dead;
use crate::manager::{Example, OptionDef, OptionKind, PassContext, PassDef, PassRun, Stage, StageRule};
use crate::rewrite::{Driver, RewriteLimits, RewriteOutcome, Rule};

/// The built-in rules written in code: general ones, and those for control flow.
pub static RULES: &[&[Rule]] = &[general::RULES, flow::RULES, branches::RULES];

/// The pass `canonicalize`.
pub static CANONICALIZE: PassDef = PassDef {
    name: "canonicalize",
    doc: "Applies the rules of all operations and the laws that hold to the bit until none applies: constants folded \
          and put last, identities, conditions and loops whose way is known; then removes what nobody reads and \
          blocks that nothing reaches.",
    options: &[OptionDef {
        name: "rewrites",
        kind: OptionKind::Int { min: 1, max: 1_000_000 },
        default: "16",
        doc: "How often rules may apply for each operation of the function, and 1024 times more.",
    }],
    example: Example {
        before: r#"func.func @f(%x: i32) -> i32 {
  %0 = arith.constant 1 : i32
  %1 = arith.constant 2 : i32
  %2 = arith.addi %0, %1 : i32
  %3 = arith.addi %2, %x : i32
  return %3 : i32
}"#,
        after: r#"module {
  func.func @f(%arg0: i32) -> i32 {
    %0 = arith.constant 3 : i32
    %1 = arith.addi %arg0, %0 : i32
    return %1 : i32
  }
}"#,
    },
    stage: StageRule::UpTo(Stage::Simplify),
    run: PassRun::Function(run),
};

fn run(cx: &PassContext<'_>, func: &mut Body) -> Result<(), Vec<Diagnostic>> {
    let per_op = usize::try_from(cx.options.int("rewrites")).expect("the option's least value is 1");
    let ops = func.roots().iter().map(|root| count(func, *root)).sum();
    let mut driver = Driver::new(cx.rules, RewriteLimits { per_op }, ops);
    loop {
        driver.run(cx.ctx, func, &cx.changes).map_err(|error| vec![error])?;
        let may_join = cx.changes.allow(|| "blocks are left out and put together".to_owned());
        if !may_join || simplify_blocks(cx.ctx, func) == RewriteOutcome::Unchanged {
            break;
        }
    }
    driver.counts().for_each(|(rule, count)| cx.count(rule, count));
    if cx.changes.allow(|| "what is not read is removed".to_owned()) {
        cx.count("removed", remove_dead(cx.ctx, func));
    }
    Ok(())
}

/// The number of operations in a region.
fn count(body: &Body, region: Region) -> usize {
    let ops = body.blocks(region).iter().flat_map(|block| body.ops(*block));
    ops.map(|op| 1 + body.regions(op).iter().map(|inner| count(body, *inner)).sum::<usize>()).sum()
}
