//! What does liveness cost on a million operations, as blocks and as regions?
//!
//! ```text
//! cargo run --release -p optc-ir --example liveness_speed [blocks|regions]
//! ```

use ir::alias::AliasSets;
use ir::body::Successor;
use ir::dominance::Dominators;
use ir::flow::FlowGraph;
use ir::liveness::Liveness;
use ir::weights::WeightSet;
use ir::{Block, Body, Context, Location, Op, Value};

const OPS: usize = 1_000_000;
const BLOCKS: usize = 10_000;

fn main() {
    let ctx = Context::new();
    let only = std::env::args().nth(1).unwrap_or_default();
    let fars: &[usize] = if only == "regions" { &[] } else { &[0, 1, 10, 50] };
    let depths: &[usize] = if only == "blocks" { &[] } else { &[1, 2, 4, 8] };
    for &far in fars {
        measure(&ctx, &format!("blocks, {far} % of reads from other blocks"), &blocks(&ctx, far));
    }
    for &depth in depths {
        measure(&ctx, &format!("regions, nested {depth} deep"), &regions(&ctx, depth));
    }
}

fn measure(ctx: &Context, what: &str, body: &Body) {
    let weights = WeightSet::of(ctx, body);
    let aliases = AliasSets::of(ctx, body);
    let start = cpu_seconds();
    let graph = FlowGraph::of(ctx, body, &weights);
    let built = cpu_seconds() - start;
    let liveness = Liveness::of(ctx, body, &graph, |value| Some(aliases.root(value)));
    let all = cpu_seconds() - start;
    let spans: usize = liveness.variables().iter().map(|value| liveness.spans(*value).len()).sum();
    println!(
        "{what}: {} points, {} basic blocks, {} values, {spans} spans: graph {:.0} ms, lives {:.0} ms",
        graph.point_count(),
        graph.basic_blocks().len(),
        liveness.variables().len(),
        built * 1e3,
        (all - built) * 1e3,
    );
}

/// Seconds that this thread has run: other processes do not count.
fn cpu_seconds() -> f64 {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux counts them");
    let nanoseconds = times.split(' ').next().and_then(|first| first.parse::<u64>().ok());
    nanoseconds.expect("the first number") as f64 * 1e-9
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % bound as u64) as usize
    }
}

fn append(
    ctx: &Context,
    body: &mut Body,
    block: Block,
    name: &str,
    operands: &[Value],
    results: usize,
) -> Op {
    let op = body.make_op(ctx.op_name(name), operands, &vec![ctx.f32(); results], Location::UNKNOWN);
    body.append(op, block);
    op
}

/// Blocks in a chain with branches forward and back, irreducible ones among them; `far` percent of the
/// operands come from blocks that dominate.
fn blocks(ctx: &Context, far: usize) -> Body {
    let mut random = Random(1);
    let mut body = Body::new(1);
    let blocks: Vec<Block> = (0..BLOCKS).map(|_| body.add_block(body.root())).collect();
    let flag = body.add_arg(blocks[0], ctx.int(1));
    let first = body.add_arg(blocks[0], ctx.f32());
    for (index, block) in blocks.iter().enumerate() {
        let near = index + 1;
        let op = if near == BLOCKS {
            append(ctx, &mut body, *block, "func.return", &[], 0)
        } else {
            append(ctx, &mut body, *block, "cf.cond_br", &[flag], 0)
        };
        let lowest = index.saturating_sub(20).max(1);
        let other = lowest + random.below((index + 20).min(BLOCKS) - lowest);
        let way = |way: usize| Successor { block: blocks[way], first_operand: 1, operand_count: 0 };
        if near < BLOCKS {
            body.set_successors(op, vec![way(near), way(other)]);
        }
    }
    let dominators = Dominators::of(&body, body.root());
    let mut made: Vec<Vec<Value>> = vec![vec![first]; BLOCKS];
    let number = |block: Block| blocks.iter().position(|other| *other == block);
    let numbers: std::collections::HashMap<Block, usize> =
        blocks.iter().enumerate().map(|(index, block)| (*block, index)).collect();
    assert_eq!(number(blocks[0]), Some(0));
    for &block in dominators.reachable() {
        let end = body.last_op(block).expect("every block has a terminator");
        let index = numbers[&block];
        for _ in 0..OPS / BLOCKS - 1 {
            let mut operand = || {
                let mut at = block;
                while random.below(100) < far {
                    at = dominators.above(at).unwrap_or(at);
                    if random.below(4) == 0 {
                        break;
                    }
                }
                let values = &made[numbers[&at]];
                values[random.below(values.len())]
            };
            let operands = [operand(), operand()];
            let op = body.make_op(ctx.op_name("test.mix"), &operands, &[ctx.f32()], Location::UNKNOWN);
            body.insert_before(op, end);
            made[index].push(body.result(op, 0));
        }
    }
    body
}

/// Loops nested so deep, one nest after the other, with the operations spread over all levels.
fn regions(ctx: &Context, depth: usize) -> Body {
    let mut random = Random(1);
    let mut body = Body::new(1);
    let block = body.add_block(body.root());
    let bound = body.add_arg(block, ctx.index());
    let start = body.add_arg(block, ctx.f32());
    let mut seen = vec![start];
    let nests = OPS / (100 * depth);
    for _ in 0..nests {
        let first = seen[seen.len() - 1];
        let value = nest(ctx, &mut body, &mut random, (block, bound, depth), first, &mut seen);
        seen.push(value);
    }
    append(ctx, &mut body, block, "func.return", &[], 0);
    body
}

fn nest(
    ctx: &Context,
    body: &mut Body,
    random: &mut Random,
    (block, bound, depth): (Block, Value, usize),
    initial: Value,
    seen: &mut Vec<Value>,
) -> Value {
    let level = seen.len();
    let op = append(ctx, body, block, "scf.for", &[bound, bound, bound, initial], 1);
    let region = body.add_op_region(op);
    let inside = body.add_block(region);
    body.add_arg(inside, ctx.index());
    let mut value = body.add_arg(inside, ctx.f32());
    seen.push(value);
    for _ in 0..98 {
        let other = seen[seen.len() - 1 - random.below(seen.len().min(150))];
        let mix = append(ctx, body, inside, "test.mix", &[value, other], 1);
        value = body.result(mix, 0);
        seen.push(value);
    }
    if depth > 1 {
        value = nest(ctx, body, random, (inside, bound, depth - 1), value, seen);
    }
    append(ctx, body, inside, "scf.yield", &[value], 0);
    seen.truncate(level);
    body.result(op, 0)
}
