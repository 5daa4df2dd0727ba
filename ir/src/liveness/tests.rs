//! Live ranges of small functions, and of random ones against the worklist.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::worklist::live_sets;
use super::*;
use crate::alias::AliasSets;
use crate::body::Successor;
use crate::dominance::Dominators;
use crate::entities::{Block, Location, Op, Type};
use crate::text::parse;
use crate::weights::WeightSet;

mod nested;
mod three_ways;

/// The live ranges of roots, as moments: `2p` reads and `2p + 1` writes of point `p`.
#[track_caller]
fn check(text: &str, expected: &[(u32, &[(u32, u32)])]) {
    let ctx = Arc::new(Context::new());
    let module = parse(&ctx, "test.mlir", text.to_owned()).unwrap();
    let (_, body) = module.functions().next().unwrap();
    let weights = WeightSet::of(&ctx, body);
    let graph = FlowGraph::of(&ctx, body, &weights);
    let aliases = AliasSets::of(&ctx, body);
    let root = |value| (!weights.contains(value)).then(|| aliases.root(value));
    let liveness = Liveness::of(&ctx, body, &graph, root);
    let found: Vec<(u32, Vec<(u32, u32)>)> = liveness
        .variables()
        .iter()
        .map(|root| {
            (root.as_u32(), liveness.spans(*root).iter().map(|span| (span.first.0, span.last.0)).collect())
        })
        .collect();
    let expected: Vec<(u32, Vec<(u32, u32)>)> =
        expected.iter().map(|(root, spans)| (*root, spans.to_vec())).collect();
    assert_eq!(found, expected);
    judge(&ctx, body, &graph, &liveness, &root);
}

/// Compares all live ranges with the worklist's, at each moment.
fn judge(
    ctx: &Context,
    body: &Body,
    graph: &FlowGraph,
    liveness: &Liveness,
    variable: &dyn Fn(Value) -> Option<Value>,
) {
    judge_parts(ctx, body, graph, liveness, variable, &|_| false);
}

fn judge_parts(
    ctx: &Context,
    body: &Body,
    graph: &FlowGraph,
    liveness: &Liveness,
    variable: &dyn Fn(Value) -> Option<Value>,
    continues: &dyn Fn(Value) -> bool,
) {
    for (moment, live) in live_sets(ctx, body, graph, variable, continues) {
        let found: std::collections::BTreeSet<Value> = liveness.live_at(moment).collect();
        assert_eq!(found, live, "at {moment:?}");
    }
}

#[test]
fn a_value_from_outside_lives_to_the_end_of_the_loop() {
    check(
        r#"func.func @f(%n: index, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = "scf.for"(%n, %n, %n, %x) ({
  ^bb0(%i: index, %a: tensor<4xf32>):
    %z = nn.add %a, %y : tensor<4xf32>
    "scf.yield"(%z) : (tensor<4xf32>) -> ()
  }) : (index, index, index, tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}"#,
        // %y through point 4, the end of the body; the carried value not between its last read and the next
        // copy.
        &[
            (0, &[(0, 0)]),
            (1, &[(0, 0)]),
            (2, &[(0, 9)]),
            (4, &[(1, 6), (9, 12)]),
            (3, &[(5, 5)]),
            (5, &[(7, 8)]),
        ],
    );
}

#[test]
fn what_one_branch_reads_last_is_dead_in_the_other() {
    check(
        r#"func.func @f(%c: i1, %x: f32, %y: f32) -> f32 {
  %r = "scf.if"(%c) ({
    %a = nn.relu %x : f32
    "scf.yield"(%a) : (f32) -> ()
  }, {
    %b = nn.relu %y : f32
    "scf.yield"(%b) : (f32) -> ()
  }) : (i1) -> f32
  return %r : f32
}"#,
        &[
            (0, &[(0, 0)]),
            (1, &[(0, 2)]),
            (2, &[(0, 1), (6, 6)]),
            (3, &[(3, 4)]),
            (5, &[(5, 5), (9, 12)]),
            (4, &[(7, 8)]),
        ],
    );
}

#[test]
fn a_result_that_nothing_reads_lives_where_it_is_written() {
    check(
        r#"func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = nn.relu %x : tensor<4xf32>
  %b = nn.neg %x : tensor<4xf32>
  return %x : tensor<4xf32>
}"#,
        &[(0, &[(0, 4)]), (1, &[(1, 1)]), (2, &[(3, 3)])],
    );
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % bound as u64) as usize
    }
}

/// A body of `count` random blocks, some of them in loops with several entries. Each has fewer than
/// `most_ops` operations, which read values that dominate them.
fn random_body(ctx: &Context, random: &mut Random, count: usize, most_ops: usize) -> Body {
    let mut body = Body::new(1);
    let blocks: Vec<Block> = (0..count).map(|_| body.add_block(body.root())).collect();
    let truth = ctx.int(1);
    let number = ctx.f32();
    let flag = body.add_arg(blocks[0], truth);
    for (index, block) in blocks.iter().enumerate() {
        for _ in 0..random.below(3) {
            body.add_arg(*block, number);
        }
        let next = 1 + random.below(count - 1);
        let near = (index + 1).min(count - 1);
        let (name, ways, operands): (_, &[usize], &[Value]) = match random.below(5) {
            0 => ("cf.br", &[near], &[]),
            1 if index > 0 => ("func.return", &[], &[]),
            _ => ("cf.cond_br", &[near, next], &[flag]),
        };
        let op = body.make_op(ctx.op_name(name), operands, &[], Location::UNKNOWN);
        body.append(op, *block);
        let way = |way: &usize| Successor { block: blocks[*way], first_operand: 0, operand_count: 0 };
        body.set_successors(op, ways.iter().map(way).collect());
    }
    let dominators = Dominators::of(&body, body.root());
    for &block in dominators.reachable() {
        fill(ctx, &mut body, random, &dominators, (block, most_ops));
    }
    body
}

/// Puts operations into a block, fewer than a number, and gives its terminator operands.
fn fill(
    ctx: &Context,
    body: &mut Body,
    random: &mut Random,
    dominators: &Dominators,
    (block, most_ops): (Block, usize),
) {
    let mut seen: Vec<Value> = Vec::new();
    let mut above = Some(block);
    while let Some(at) = above {
        seen.extend(body.args(at));
        seen.extend(body.ops(at).flat_map(|op| body.results(op).collect::<Vec<_>>()));
        above = dominators.above(at);
    }
    let end = body.last_op(block).unwrap();
    for _ in 0..random.below(most_ops) {
        let operands: Vec<Value> = (0..2).map(|_| seen[random.below(seen.len())]).collect();
        let op = body.make_op(ctx.op_name("test.mix"), &operands, &[ctx.f32()], Location::UNKNOWN);
        body.insert_before(op, end);
        seen.push(body.result(op, 0));
    }
    let mut operands: Vec<Value> = body.operands(end).collect();
    let mut ways = body.successors(end).to_vec();
    for way in &mut ways {
        way.first_operand = operands.len() as u32;
        way.operand_count = body.args(way.block).len() as u32;
        operands.extend((0..way.operand_count).map(|_| seen[random.below(seen.len())]));
    }
    body.set_operands(end, &operands);
    body.set_successors(end, ways);
}

#[test]
fn lives_on_any_graph_are_those_of_the_worklist() {
    let ctx = Context::new();
    let mut random = Random(7);
    let small = (2..14).cycle().take(1500).map(|count| (count, 4));
    // More values than a word has bits.
    let crowded = (2..7).cycle().take(60).map(|count| (count, 120));
    for (count, most_ops) in small.chain(crowded) {
        let body = random_body(&ctx, &mut random, count, most_ops);
        let graph = FlowGraph::of(&ctx, &body, &WeightSet::of(&ctx, &body));
        // Some values share a variable, like roots that are overwritten.
        for share in [1, 3] {
            let variable = |value: Value| Some(Value::from_u32(value.as_u32() / share * share));
            let liveness = Liveness::of(&ctx, &body, &graph, variable);
            judge(&ctx, &body, &graph, &liveness, &variable);
        }
    }
}

#[test]
fn touching_spans_are_joined() {
    let span = |first, last| LiveSpan { first: Moment(first), last: Moment(last) };
    let mut spans = vec![span(7, 9), span(0, 2), span(3, 4), span(1, 1)];
    normalise(&mut spans);
    assert_eq!(spans, [span(0, 4), span(7, 9)]);
}
