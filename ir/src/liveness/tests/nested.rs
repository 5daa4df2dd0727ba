//! Live ranges in random nests of `if`s and loops, against the worklist.

use super::*;

/// Makes a body of nested operations; each block sees the values of those around it.
struct Nester<'a> {
    ctx: &'a Context,
    body: Body,
    random: Random,
    /// The values that may be read.
    seen: Vec<Value>,
    flag: Value,
    bound: Value,
}

impl Nester<'_> {
    fn append(&mut self, block: Block, name: &str, operands: &[Value], results: usize) -> Op {
        let types = vec![self.ctx.f32(); results];
        let op = self.body.make_op(self.ctx.op_name(name), operands, &types, Location::UNKNOWN);
        self.body.append(op, block);
        self.seen.extend(self.body.results(op));
        op
    }

    fn some(&mut self, count: usize) -> Vec<Value> {
        (0..count).map(|_| self.seen[self.random.below(self.seen.len())]).collect()
    }

    fn ops(&mut self, block: Block, depth: usize) {
        for _ in 0..self.random.below(5) {
            match self.random.below(if depth > 0 { 7 } else { 2 }) {
                0 | 1 => {
                    let operands = self.some(2);
                    self.append(block, "test.mix", &operands, 1);
                }
                2 => self.choice(block, depth),
                3 | 4 => self.count(block, depth),
                _ => self.repeat(block, depth),
            }
        }
    }

    /// A region with a counter, if it has one, and `numbers` further arguments. Its terminator passes on
    /// `handed` values after its own.
    fn region(
        &mut self,
        op: Op,
        counter: &[Type],
        numbers: usize,
        end: (&str, &[Value], usize),
        depth: usize,
    ) {
        let region = self.body.add_op_region(op);
        let block = self.body.add_block(region);
        let level = self.seen.len();
        counter.iter().for_each(|ty| {
            self.body.add_arg(block, *ty);
        });
        for _ in 0..numbers {
            let arg = self.body.add_arg(block, self.ctx.f32());
            self.seen.push(arg);
        }
        self.ops(block, depth - 1);
        let (name, own, count) = end;
        let handed = self.some(count);
        self.append(block, name, &[own, &handed].concat(), 0);
        self.seen.truncate(level);
    }

    fn choice(&mut self, block: Block, depth: usize) {
        let (results, has_else) = match self.random.below(3) {
            0 => (0, false),
            1 => (0, true),
            _ => (1 + self.random.below(2), true),
        };
        let level = self.seen.len();
        let op = self.append(block, "scf.if", &[self.flag], results);
        let made = self.seen.split_off(level);
        self.region(op, &[], 0, ("scf.yield", &[], results), depth);
        if has_else {
            self.region(op, &[], 0, ("scf.yield", &[], results), depth);
        }
        self.seen.extend(made);
    }

    fn count(&mut self, block: Block, depth: usize) {
        let carried = self.random.below(3);
        let operands = [vec![self.bound; 3], self.some(carried)].concat();
        let level = self.seen.len();
        let op = self.append(block, "scf.for", &operands, carried);
        let made = self.seen.split_off(level);
        self.region(op, &[self.ctx.index()], carried, ("scf.yield", &[], carried), depth);
        self.seen.extend(made);
    }

    fn repeat(&mut self, block: Block, depth: usize) {
        let (before, after) = (self.random.below(3), self.random.below(3));
        let operands = self.some(before);
        let level = self.seen.len();
        let op = self.append(block, "scf.while", &operands, after);
        let made = self.seen.split_off(level);
        let flag = self.flag;
        self.region(op, &[], before, ("scf.condition", &[flag], after), depth);
        self.region(op, &[], after, ("scf.yield", &[], before), depth);
        self.seen.extend(made);
    }
}

/// A function whose blocks contain nests: one block, or several in sequence.
fn random_nests(ctx: &Context, random: Random, blocks: usize) -> Nester<'_> {
    let mut body = Body::new(1);
    let all: Vec<Block> = (0..blocks).map(|_| body.add_block(body.root())).collect();
    let flag = body.add_arg(all[0], ctx.int(1));
    let bound = body.add_arg(all[0], ctx.index());
    let seen = vec![body.add_arg(all[0], ctx.f32()), body.add_arg(all[0], ctx.f32())];
    let mut nester = Nester { ctx, body, random, seen, flag, bound };
    for (index, block) in all.iter().enumerate() {
        nester.ops(*block, 3);
        if index + 1 == blocks {
            let returned = nester.some(2);
            nester.append(*block, "func.return", &returned, 0);
            continue;
        }
        let jump = nester.append(*block, "cf.cond_br", &[flag], 0);
        let way = |block| Successor { block, first_operand: 1, operand_count: 0 };
        // Forward, or back to a block that reads nothing new.
        nester
            .body
            .set_successors(jump, vec![way(all[index + 1]), way(all[index])][..1 + index.min(1)].to_vec());
    }
    nester
}

#[test]
fn lives_in_nests_are_those_of_the_worklist() {
    let ctx = Context::new();
    let mut random = Random(3);
    for blocks in [1, 1, 1, 3].into_iter().cycle().take(400) {
        let nester = random_nests(&ctx, random, blocks);
        let body = &nester.body;
        let graph = FlowGraph::of(&ctx, body, &WeightSet::of(&ctx, body));
        let aliases = AliasSets::of(&ctx, body);
        let root = |value: Value| Some(aliases.root(value));
        judge(&ctx, body, &graph, &Liveness::of(&ctx, body, &graph, root), &root);
        for share in [1, 2, 5] {
            let variable = |value: Value| Some(Value::from_u32(value.as_u32() / share * share));
            let liveness = Liveness::of(&ctx, body, &graph, variable);
            judge(&ctx, body, &graph, &liveness, &variable);
            let is_part = |value: Value| value.as_u32() % 3 == 2;
            let liveness = Liveness::of_parts(&ctx, body, &graph, variable, is_part);
            judge_parts(&ctx, body, &graph, &liveness, &variable, &is_part);
        }
        random = nester.random;
    }
}
