//! Branches, loops and blocks of random modules.

use ir::opdef::AttrKind;
use ir::{Attr, AttrData, Block, Builder, OpSpec, Successor, Type, Value};

use super::Writer;

impl Writer<'_> {
    /// The types of one to three values in scope.
    fn carried(&mut self) -> (Vec<Value>, Vec<Type>) {
        let values: Vec<Value> = (0..1 + self.random.below(3)).map(|_| self.any()).collect();
        let types = values.iter().map(|value| self.ty(*value)).collect();
        (values, types)
    }

    /// Statements in a block with a scope of its own; the returned values have these types.
    fn region(&mut self, depth: usize, block: Block, types: &[Type]) -> Vec<Value> {
        let around = std::mem::replace(&mut self.block, block);
        let visible = self.values.len();
        let args = self.body.args(block).to_vec();
        self.values.extend(args);
        for _ in 0..1 + self.random.below(3) {
            self.statement(depth);
        }
        let given = types.iter().map(|ty| self.of_type(*ty).expect("one was there before")).collect();
        self.values.truncate(visible);
        self.block = around;
        given
    }

    /// An operation with empty regions, each with a block.
    fn nested(
        &mut self,
        name: &str,
        operands: &[Value],
        results: &[Type],
        regions: usize,
    ) -> (Vec<Block>, Vec<Value>) {
        let spec = OpSpec { operands, results: Some(results), ..OpSpec::default() };
        let op = Builder::at_end(&self.ctx, &mut self.body, self.block).build(name, spec);
        let op = op.expect("the types are given");
        let blocks = (0..regions).map(|_| {
            let region = self.body.add_op_region(op);
            self.body.add_block(region)
        });
        (blocks.collect(), self.body.results(op).collect())
    }

    fn end_block(&mut self, block: Block, name: &str, operands: &[Value]) {
        let around = std::mem::replace(&mut self.block, block);
        self.end(name, operands);
        self.block = around;
    }

    pub(super) fn choice(&mut self, depth: usize) {
        let (_, types) = self.carried();
        let condition = self.get(self.ctx.int(1));
        let (blocks, results) = self.nested("scf.if", &[condition], &types, 2);
        for block in blocks {
            let given = self.region(depth, block, &types);
            self.end_block(block, "scf.yield", &given);
        }
        self.values.extend(results);
    }

    fn number(&mut self, value: i64) -> Value {
        let attrs = [("value", self.ctx.int_attr(value))];
        let ty = self.ctx.int(64);
        let spec = OpSpec { attrs: &attrs, results: Some(&[ty]), ..OpSpec::default() };
        let op = Builder::at_end(&self.ctx, &mut self.body, self.block).build("arith.constant", spec);
        self.body.result(op.expect("its type is given"), 0)
    }

    /// A number of iterations: a constant, or an argument of its own.
    fn turns_of(&mut self) -> Value {
        match self.random.below(2) {
            0 => self.body.add_arg(self.entry, self.ctx.int(64)),
            _ => {
                let turns = self.random.below(4) as i64;
                self.number(turns)
            }
        }
    }

    pub(super) fn count(&mut self, depth: usize) {
        let (initial, types) = self.carried();
        let lower = self.random.below(2) as i64;
        let operands = [vec![self.number(lower), self.turns_of(), self.number(1)], initial].concat();
        let (blocks, results) = self.nested("scf.for", &operands, &types, 1);
        self.body.add_arg(blocks[0], self.ctx.int(64));
        for ty in &types {
            self.body.add_arg(blocks[0], *ty);
        }
        let given = self.region(depth, blocks[0], &types);
        self.end_block(blocks[0], "scf.yield", &given);
        self.values.extend(results);
    }

    /// At the end of a block, whether a number is below a limit, and the number plus one.
    fn step(&mut self, block: Block, number: Value, limit: Value) -> [Value; 2] {
        let around = std::mem::replace(&mut self.block, block);
        let one = self.number(1);
        let next = self.in_block("arith.addi", &[number, one], &[]);
        let row = self.ctx.def(self.ctx.op_name("arith.cmpi")).and_then(|def| def.attr("predicate"));
        let Some(AttrKind::Word(words)) = row.map(|row| row.kind) else { panic!("`predicate` is a word") };
        let less = words.attr(&self.ctx, "slt").expect("it is one of the words");
        let truth = self.in_block("arith.cmpi", &[number, limit], &[("predicate", less)]);
        self.block = around;
        [truth, next]
    }

    fn in_block(&mut self, name: &str, operands: &[Value], attrs: &[(&str, ir::Attr)]) -> Value {
        let made = Builder::at_end(&self.ctx, &mut self.body, self.block).value(name, operands, attrs);
        made.unwrap_or_else(|error| panic!("{name}: {}", error.0))
    }

    /// A loop with a carried counter.
    pub(super) fn repeat(&mut self, depth: usize) {
        let (initial, carried) = self.carried();
        let zero = self.number(0);
        let limit = self.turns_of();
        let types = [carried.clone(), vec![self.ctx.int(64)]].concat();
        let (blocks, results) = self.nested("scf.while", &[initial, vec![zero]].concat(), &types, 2);
        for (index, block) in blocks.into_iter().enumerate() {
            let args: Vec<Value> = types.iter().map(|ty| self.body.add_arg(block, *ty)).collect();
            let number = args[carried.len()];
            let given = self.region(depth, block, &carried);
            let [truth, next] = self.step(block, number, limit);
            if index == 0 {
                let operands = [vec![truth], given, vec![number]].concat();
                self.end_block(block, "scf.condition", &operands);
            } else {
                self.end_block(block, "scf.yield", &[given, vec![next]].concat());
            }
        }
        self.values.extend(results);
    }

    /// Ends a block with a branch (conditional, if there is a flag) to blocks with these values as block
    /// arguments.
    fn branch(&mut self, from: Block, flag: Option<Value>, to: &[(Block, &[Value])]) {
        let mut operands: Vec<Value> = flag.into_iter().collect();
        let mut successors = Vec::new();
        for (block, args) in to {
            let first_operand = operands.len() as u32;
            operands.extend_from_slice(args);
            successors.push(Successor { block: *block, first_operand, operand_count: args.len() as u32 });
        }
        let counts: Vec<i32> = to.iter().map(|(_, args)| args.len() as i32).collect();
        let is_switch = flag.is_some_and(|flag| self.ty(flag) != self.ctx.int(1));
        let mut attrs = Vec::new();
        if flag.is_some() {
            attrs.push(("operandSegmentSizes", self.int32s(&[1, counts[0], counts[1]])));
        }
        if is_switch {
            attrs.push(("case_operand_segments", self.int32s(&counts[1..])));
            let ty = self.ctx.tensor(&[1], self.ctx.int(32));
            let one = ir::Blob::from_bytes(1i32.to_le_bytes().to_vec());
            attrs.push(("case_values", self.ctx.resource_attr(&self.key(), ty, one)));
        }
        let name = match flag {
            None => "cf.br",
            Some(_) if is_switch => "cf.switch",
            Some(_) => "cf.cond_br",
        };
        let spec = OpSpec { operands: &operands, attrs: &attrs, successors, ..OpSpec::default() };
        let built = Builder::at_end(&self.ctx, &mut self.body, from).build(name, spec);
        built.unwrap_or_else(|error| panic!("{name}: {}", error.0));
    }

    fn int32s(&self, numbers: &[i32]) -> Attr {
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        self.ctx.attr(AttrData::DenseArray { elem: self.ctx.int(32), bytes })
    }

    fn block_of(&mut self, types: &[Type]) -> Block {
        let block = self.body.add_block(self.body.root());
        for ty in types {
            self.body.add_arg(block, *ty);
        }
        block
    }

    /// A fork of control flow into two blocks, and the block where they join.
    pub(super) fn fork(&mut self) {
        let (_, types) = self.carried();
        let width = self.random.pick(&[1, 1, 32]);
        let flag = self.get(self.ctx.int(width));
        let around = self.block;
        let [left, right] = [self.block_of(&[]), self.block_of(&[])];
        let given = [left, right].map(|block| self.region(1, block, &types));
        self.branch(around, Some(flag), &[(left, &[]), (right, &[])]);
        let join = self.block_of(&types);
        self.branch(left, None, &[(join, &given[0])]);
        self.branch(right, None, &[(join, &given[1])]);
        self.go_on(join);
    }

    fn go_on(&mut self, block: Block) {
        self.block = block;
        let args = self.body.args(block).to_vec();
        self.values.extend(args);
    }

    /// A loop of blocks: its header, its body, and its exit.
    pub(super) fn turns(&mut self) {
        let (initial, types) = self.carried();
        let zero = self.number(0);
        let limit = self.turns_of();
        let before = self.block;
        let carried = [types.clone(), vec![self.ctx.int(64)]].concat();
        let (head, body, end) = (self.block_of(&carried), self.block_of(&[]), self.block_of(&types));
        self.branch(before, None, &[(head, &[initial, vec![zero]].concat())]);
        let number = self.body.args(head)[types.len()];
        let out = self.region(0, head, &types);
        let [truth, _] = self.step(head, number, limit);
        self.branch(head, Some(truth), &[(body, &[]), (end, &out)]);
        let given = self.region(1, body, &types);
        let [_, next] = self.step(body, number, limit);
        self.branch(body, None, &[(head, &[given, vec![next]].concat())]);
        self.go_on(end);
    }
}
