//! Liveness in three ways: from paths, from the worklist, and from two passes over the loop forest.

use std::time::Instant;

use super::super::forest::{BlockUses, ValueSets, live_in};
use super::*;
use crate::flow::Act;

/// The values that are live at each moment, from those that are live at the start of basic blocks.
fn moments(ctx: &Context, body: &Body, graph: &FlowGraph) -> BTreeMap<Moment, BTreeSet<Value>> {
    let uses = BlockUses::of(ctx, body, graph);
    let rows = &live_in(&uses);
    let uses = &uses;
    let begin = |place: usize| {
        let numbers = (0..uses.values.len() as u32).filter(move |number| rows.contains(place, *number));
        numbers.map(|number| uses.values[number as usize]).collect::<BTreeSet<Value>>()
    };
    let begins: Vec<BTreeSet<Value>> = (0..graph.basic_blocks().len()).map(begin).collect();
    let mut moments = BTreeMap::new();
    for (place, &basic_block) in graph.basic_blocks().iter().enumerate() {
        let mut live: BTreeSet<Value> =
            uses.next[place].iter().flat_map(|next| &begins[*next]).copied().collect();
        for point in graph.points(basic_block).rev().map(Point::from_u32) {
            let event = graph.event(point);
            let writes = event.writes(ctx, body);
            moments.insert(Moment::write(point), live.iter().chain(&writes).copied().collect());
            if event.act == Act::Run {
                writes.iter().for_each(|value| {
                    live.remove(value);
                });
            }
            live.extend(event.reads(body));
            moments.insert(Moment::read(point), live.clone());
        }
    }
    let args = body.entry(body.root()).map_or(&[][..], |entry| body.args(entry));
    moments.entry(Moment(0)).or_default().extend(args);
    moments
}

#[test]
fn lives_on_any_graph_are_those_of_two_passes() {
    let ctx = Context::new();
    let mut random = Random(11);
    for count in (2..14).cycle().take(500) {
        let body = random_body(&ctx, &mut random, count, 4);
        let graph = FlowGraph::of(&ctx, &body, &WeightSet::of(&ctx, &body));
        let found = moments(&ctx, &body, &graph);
        assert_eq!(found, live_sets(&ctx, &body, &graph, &Some, &|_| false), "the worklist's");
        let liveness = Liveness::of(&ctx, &body, &graph, Some);
        for (moment, live) in &found {
            assert_eq!(liveness.live_at(*moment).collect::<BTreeSet<Value>>(), *live, "at {moment:?}");
        }
        // A root is live where one of its values is, except for values overwritten before they are read.
        let root = |value: Value| Value::from_u32(value.as_u32() / 3 * 3);
        let roots = Liveness::of(&ctx, &body, &graph, |value| Some(root(value)));
        for (moment, live) in &found {
            let live: BTreeSet<Value> = live.iter().map(|value| root(*value)).collect();
            assert!(roots.live_at(*moment).all(|root| live.contains(&root)), "at {moment:?}");
        }
    }
}

/// A chain of blocks, with edges forward and back by up to 20 blocks, also into loops beside their headers.
/// `far` percent of the operations' reads are from a dominating block.
fn large_body(ctx: &Context, far: usize, [ops, blocks]: [usize; 2]) -> Body {
    let mut random = Random(1);
    let mut body = Body::new(1);
    let blocks: Vec<Block> = (0..blocks).map(|_| body.add_block(body.root())).collect();
    let (flag, first) = (body.add_arg(blocks[0], ctx.int(1)), body.add_arg(blocks[0], ctx.f32()));
    let last = blocks.len() - 1;
    for (index, block) in blocks.iter().enumerate() {
        let lowest = index.saturating_sub(20).max(1);
        let other = lowest + random.below((index + 20).min(last + 1) - lowest);
        let (name, operands, ways): (_, &[Value], &[usize]) = if index == last {
            ("func.return", &[], &[])
        } else {
            ("cf.cond_br", &[flag], &[index + 1, other])
        };
        let op = body.make_op(ctx.op_name(name), operands, &[], Location::UNKNOWN);
        body.append(op, *block);
        let way = |way: &usize| Successor { block: blocks[*way], first_operand: 1, operand_count: 0 };
        body.set_successors(op, ways.iter().map(way).collect());
    }
    let dominators = Dominators::of(&body, body.root());
    let mut made: BTreeMap<Block, Vec<Value>> = BTreeMap::from([(blocks[0], vec![first])]);
    for &block in dominators.reachable() {
        let end = body.last_op(block).expect("every block has a terminator");
        for _ in 1..ops / blocks.len() {
            let mut operand = || {
                let mut at = if made.contains_key(&block) { block } else { dominators.above(block).unwrap() };
                while random.below(100) < far {
                    at = dominators.above(at).unwrap_or(at);
                }
                made[&at][random.below(made[&at].len())]
            };
            let operands = [operand(), operand()];
            let op = body.make_op(ctx.op_name("test.mix"), &operands, &[ctx.f32()], Location::UNKNOWN);
            body.insert_before(op, end);
            made.entry(block).or_default().push(body.result(op, 0));
        }
    }
    body
}

/// The solution of the data-flow equations, by iterating over a list of the places whose set may change.
fn iterate(uses: &BlockUses) -> ValueSets {
    let places = uses.next.len();
    let mut before = vec![Vec::new(); places];
    uses.next
        .iter()
        .enumerate()
        .for_each(|(place, next)| next.iter().for_each(|next| before[*next].push(place)));
    let mut live = ValueSets::new(places, uses.values.len());
    let mut open: Vec<usize> = (0..places).collect();
    let mut is_open = vec![true; places];
    while let Some(place) = open.pop() {
        is_open[place] = false;
        let old = live.row(place).to_vec();
        uses.next[place].iter().filter(|next| **next != place).for_each(|next| live.add(place, *next));
        live.pass(place, uses);
        if live.row(place) != old {
            let more = before[place]
                .iter()
                .copied()
                .filter(|before| !std::mem::replace(&mut is_open[*before], true));
            open.extend(more.collect::<Vec<_>>());
        }
    }
    live
}

#[test]
#[ignore = "takes a minute"]
fn three_ways_at_a_million_operations() {
    let ctx = Context::new();
    for far in [1, 10] {
        let body = large_body(&ctx, far, [1_000_000, 10_000]);
        let graph = FlowGraph::of(&ctx, &body, &WeightSet::of(&ctx, &body));
        let time = Instant::now();
        let paths = Liveness::of(&ctx, &body, &graph, Some);
        let paths_ms = time.elapsed().as_millis();
        let time = Instant::now();
        let uses = BlockUses::of(&ctx, &body, &graph);
        let uses_ms = time.elapsed().as_millis();
        let time = Instant::now();
        let live = live_in(&uses);
        let passes_ms = time.elapsed().as_millis();
        let time = Instant::now();
        let iterated = iterate(&uses);
        let list_ms = time.elapsed().as_millis();
        println!(
            "{far} % of reads from other blocks, {} values live across: paths {paths_ms} ms; sets: what is read and written \
             {uses_ms} ms, two passes {passes_ms} ms, worklist {list_ms} ms",
            uses.values.len(),
        );
        for (place, &basic_block) in graph.basic_blocks().iter().enumerate() {
            assert!(live.row(place) == iterated.row(place), "{basic_block}");
            let begin = Moment::read(Point::from_u32(graph.points(basic_block).start));
            for number in (0..uses.values.len() as u32).step_by(97) {
                let is_live = paths.is_live(uses.values[number as usize], begin);
                assert_eq!(live.contains(place, number), is_live && place > 0);
            }
        }
    }
}
