//! Inlining of calls.
//!
//! ```text
//! func.func private @f(%a) { %0 = nn.exp %a; return %0 }
//! %1 = call @f(%x)                                          =>   %1 = nn.exp %x
//! ```
//!
//! Functions are processed bottom up, so that calls in the inlined code are already inlined. A call is kept
//! if the callee is recursive, is marked `no_inline`, or is large (otherwise a chain of functions that each
//! call the next one twice would grow exponentially); if the callee is in another module; and if it has
//! several blocks but the call is in a region that allows only one. Copied operations have the location
//! `callsite(callee at caller)`.

use ir::{Body, Context, Diagnostic, Module, Op, Region, Traits, Type, Value};

use crate::branches::go_to;
use crate::call_graph::{CallGraph, CallNode};
use crate::copy::Copying;
use crate::manager::{Example, OptionDef, OptionKind, PassContext, PassDef, PassRun, Stage, StageRule};
use crate::symbols::{BodyIndex, ModuleSymbols};

/// The pass `inline`.
pub static INLINE: PassDef = PassDef {
    name: "inline",
    doc: "Replaces calls by the body of the called function, unless it is recursive, marked `no_inline`, or large.",
    options: &[OptionDef {
        name: "max-ops",
        kind: OptionKind::Int { min: 0, max: 1_000_000 },
        default: "1000",
        doc: "Maximum number of operations of a function to inline.",
    }],
    example: Example {
        before: r#"module {
  func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = nn.exp %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}"#,
        after: r#"module {
  func.func private @f(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = nn.exp %arg0 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = nn.exp %arg0 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}"#,
    },
    stage: StageRule::UpTo(Stage::Simplify),
    run: PassRun::Module(run),
};

fn run(cx: &PassContext<'_>, module: &mut Module) -> Result<(), Vec<Diagnostic>> {
    let max_ops = usize::try_from(cx.options.int("max-ops")).expect("the option's least value is 0");
    let symbols = ModuleSymbols::of(cx.ctx, &module.top);
    let graph = CallGraph::of(cx.ctx, &symbols);
    let paths: Vec<Vec<Op>> = graph.nodes.iter().map(|node| path(&symbols, node.scope)).collect();
    drop(symbols);
    let mut inlined = 0;
    for &caller in &graph.callees_first {
        let mut body = std::mem::replace(at_mut(&mut module.top, &paths[caller]), Body::new(1));
        for &(call, callee) in &graph.nodes[caller].calls {
            let chosen = if callee == caller {
                Err(RECURSIVE)
            } else {
                let (caller, callee_node) = (&graph.nodes[caller], &graph.nodes[callee]);
                let callee_body = at(&module.top, &paths[callee]);
                refusal(cx.ctx, &body, call, callee_body, (caller, callee_node), max_ops)
                    .map_or(Ok(callee_body), Err)
            };
            match chosen {
                Ok(callee) => {
                    let what = || format!("{} is inlined", body.at(cx.ctx, call).describe());
                    if !cx.changes.allow(what) {
                        continue;
                    }
                    inline(cx.ctx, &mut body, call, callee);
                    inlined += 1;
                }
                Err(why) => cx.remark(body.location(call), format!("the call is kept: {why}")),
            }
        }
        *at_mut(&mut module.top, &paths[caller]) = body;
    }
    cx.count("inlined", inlined);
    Ok(())
}

const RECURSIVE: &str = "the function calls itself, or is called by what it calls";

/// The operations that contain a body, outermost first.
fn path(symbols: &ModuleSymbols<'_>, scope: BodyIndex) -> Vec<Op> {
    let around = std::iter::successors(symbols.around(scope), |(scope, _)| symbols.around(*scope));
    let mut path: Vec<Op> = around.map(|(_, op)| op).collect();
    path.reverse();
    path
}

fn at<'b>(top: &'b Body, path: &[Op]) -> &'b Body {
    path.iter().fold(top, |body, op| body.child(*op).expect("the path leads through bodies"))
}

fn at_mut<'b>(top: &'b mut Body, path: &[Op]) -> &'b mut Body {
    path.iter().fold(top, |body, op| body.child_mut(*op).expect("the path leads through bodies"))
}

/// The reason for keeping a call, if any.
fn refusal(
    ctx: &Context,
    body: &Body,
    call: Op,
    callee: &Body,
    (caller_node, callee_node): (&CallNode, &CallNode),
    max_ops: usize,
) -> Option<&'static str> {
    if caller_node.group == callee_node.group {
        return Some(RECURSIVE);
    }
    if caller_node.around != callee_node.around {
        return Some("the function stands in another module, where symbols may name something else");
    }
    let no_inline = ctx.ident("no_inline");
    if callee.own_attr(ctx, no_inline).is_some() || body.attr(ctx, call, no_inline).is_some() {
        return Some("`no_inline` says so");
    }
    if count(callee, callee.root()) > max_ops {
        return Some("the function holds too many operations");
    }
    let blocks = callee.blocks(callee.root());
    if blocks.len() > 1 && !takes_blocks(ctx, body, call) {
        return Some("the function has several blocks, and the operation around the call takes only one");
    }
    let entry = blocks[0];
    let fits = |types: &[Type], values: &mut dyn Iterator<Item = Value>, of: &Body| {
        types.iter().copied().eq(values.map(|value| of.ty(value)))
    };
    let args: Vec<Type> = callee.args(entry).iter().map(|arg| callee.ty(*arg)).collect();
    let results: Vec<Type> = body.results(call).map(|result| body.ty(result)).collect();
    let returns = |op: Op| fits(&results, &mut callee.operands(op), callee);
    let ends = blocks.iter().filter_map(|block| callee.last_op(*block));
    let mut returning = ends.filter(|end| callee.at(ctx, *end).has(Traits::RETURN)).peekable();
    let is_closed = blocks.len() > 1 || returning.peek().is_some();
    if is_closed && fits(&args, &mut body.operands(call), body) && returning.all(returns) {
        None
    } else {
        Some("types of the call and of the function differ")
    }
}

/// The number of operations in a region.
fn count(body: &Body, region: Region) -> usize {
    let ops = body.blocks(region).iter().flat_map(|block| body.ops(*block));
    ops.map(|op| 1 + body.regions(op).iter().map(|inner| count(body, *inner)).sum::<usize>()).sum()
}

/// Whether the region around an operation may have several blocks.
fn takes_blocks(ctx: &Context, body: &Body, op: Op) -> bool {
    match body.parent_op(op) {
        Some(parent) => !body.at(ctx, parent).has(Traits::SINGLE_BLOCK),
        None => true,
    }
}

/// Replaces a call by the body of the called function.
fn inline(ctx: &Context, body: &mut Body, call: Op, callee: &Body) {
    let mut copying = Copying::new(ctx, callee, body.location(call));
    let blocks = callee.blocks(callee.root());
    copying.values.extend(callee.args(blocks[0]).iter().copied().zip(body.operands(call)));
    match blocks {
        &[block] => {
            let end = callee.last_op(block).expect("a block has a terminator");
            for op in callee.ops(block).filter(|op| *op != end) {
                copying.insert_before(body, op, call);
            }
            copying.finish(body);
            let results: Vec<Value> = body.results(call).collect();
            for (result, returned) in results.into_iter().zip(callee.operands(end)) {
                body.replace_uses(result, copying.values[&returned]);
            }
            body.erase(call);
        }
        _ => inline_blocks(ctx, body, call, copying, callee),
    }
}

/// Inlines a function of several blocks: its first block is appended to the call's block, and the operations
/// after the call become a block of their own, the target of every return.
fn inline_blocks(ctx: &Context, body: &mut Body, call: Op, mut copying: Copying<'_>, callee: &Body) {
    let before = body.block_of(call).expect("a call stands in a block");
    let region = body.region_of(before).expect("a block stands in a region");
    let (first, others) = callee.blocks(callee.root()).split_first().expect("the function has blocks");
    copying.blocks.insert(*first, before);
    others.iter().for_each(|block| {
        copying.add_block(body, *block, region);
    });
    let rest = body.add_block(region);
    let results: Vec<Value> = body.results(call).collect();
    for result in results {
        let arg = body.add_arg(rest, body.ty(result));
        body.set_arg_location(arg, body.location(call));
        body.replace_uses(result, arg);
    }
    while let Some(op) = body.next_op(call) {
        body.detach(op);
        body.append(op, rest);
    }
    body.erase(call);
    let mut returns = Vec::new();
    for block in callee.blocks(callee.root()) {
        for op in callee.ops(*block) {
            let copy = copying.append(body, op, copying.blocks[block]);
            if callee.at(ctx, op).has(Traits::RETURN) {
                returns.push(copy);
            }
        }
    }
    copying.finish(body);
    for op in returns {
        let args: Vec<Value> = body.operands(op).collect();
        go_to(ctx, body, op, rest, &args);
    }
}
