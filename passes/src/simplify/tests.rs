//! Tests that the cheapest equal program is found.

use ir::interp::{Tensor, eval_op};
use ir::{Attr, Body, Builder, Context, OpSpec, Type, Value};
use rustc_hash::FxHashMap;

use super::SIMPLIFY;
use super::graph::{GraphFacts, LawGraph};
use super::run::GraphEntries;
use super::saturate::{SaturationLimits, saturate};
use crate::constants;
use crate::manager::{Changes, PassContext, PassOptions, PassRun, PlainTarget, Registry};
use crate::rewrite::Law;

/// A function whose only block is being written.
struct Program<'a> {
    ctx: &'a Context,
    body: Body,
    seed: u32,
}

impl<'a> Program<'a> {
    fn new(ctx: &'a Context) -> Program<'a> {
        let mut body = Body::new(1);
        body.add_block(body.root());
        Program { ctx, body, seed: 1 }
    }

    fn block(&self) -> ir::Block {
        self.body.entry(self.body.root()).unwrap()
    }

    fn ty(&self, shape: &[u64]) -> Type {
        self.ctx.tensor(shape, self.ctx.f32())
    }

    fn arg(&mut self, shape: &[u64]) -> Value {
        let block = self.block();
        let ty = self.ty(shape);
        self.body.add_arg(block, ty)
    }

    /// Numbers between 0.5 and 1.5, so that they can be variances.
    fn numbers(&mut self, count: u64) -> Vec<f32> {
        let mut next = || {
            self.seed = self.seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            0.5 + (self.seed >> 8) as f32 / (1 << 24) as f32
        };
        (0..count).map(|_| next()).collect()
    }

    fn weight(&mut self, shape: &[u64]) -> Value {
        let numbers = self.numbers(shape.iter().product());
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let key = format!("w{}", self.seed);
        let ty = self.ty(shape);
        let value = self.ctx.resource_attr(&key, ty, ir::Blob::from_bytes(bytes));
        let block = self.block();
        Builder::at_end(self.ctx, &mut self.body, block).constant(value, ty)
    }

    /// A constant that is part of the program.
    fn number(&mut self, shape: &[u64], number: f64) -> Value {
        let ty = self.ty(shape);
        let value = constants::filled(self.ctx, ty, number).unwrap();
        let block = self.block();
        Builder::at_end(self.ctx, &mut self.body, block).constant(value, ty)
    }

    fn op(&mut self, name: &str, operands: &[Value], attrs: &[(&str, Attr)]) -> Value {
        let block = self.block();
        Builder::at_end(self.ctx, &mut self.body, block).value(name, operands, attrs).unwrap()
    }

    fn ret(&mut self, operands: &[Value]) {
        let block = self.block();
        let spec = OpSpec { operands, ..OpSpec::default() };
        Builder::at_end(self.ctx, &mut self.body, block).build("func.return", spec).unwrap();
    }

    fn batch_norm(&mut self, x: Value, channels: u64) -> Value {
        let parameters: Vec<Value> = (0..4).map(|_| self.weight(&[channels])).collect();
        let operands = [x, parameters[0], parameters[1], parameters[2], parameters[3]];
        self.op("nn.batch_norm", &operands, &[("epsilon", self.ctx.f32_attr(1e-3))])
    }

    fn run(&self, inputs: &[Tensor]) -> Vec<Vec<f32>> {
        let args = self.body.args(self.block()).iter().copied();
        let mut values: FxHashMap<Value, Tensor> = args.zip(inputs.iter().cloned()).collect();
        let last = self.body.last_op(self.block()).unwrap();
        for op in self.body.ops(self.block()).filter(|op| *op != last) {
            let operands: Vec<Tensor> =
                self.body.operands(op).map(|operand| values[&operand].clone()).collect();
            let results = eval_op(self.body.at(self.ctx, op), &operands).unwrap();
            values.extend(self.body.results(op).zip(results));
        }
        self.body.operands(last).map(|value| values[&value].to_f32()).collect()
    }

    /// Simplifies, compares the results with those before, and checks the names of the remaining operations
    /// except constants.
    fn check(&mut self, expected: &str) {
        let args = self.body.args(self.block()).to_vec();
        let mut inputs = Vec::new();
        for arg in args {
            let shape = self.ctx.static_shape(self.body.ty(arg)).unwrap();
            let numbers = self.numbers(shape.iter().product());
            inputs.push(Tensor::from_f32(self.ctx, &shape, &numbers));
        }
        let before = self.run(&inputs);
        let options = PassOptions::defaults(SIMPLIFY.options);
        let PassRun::Function(run) = &SIMPLIFY.run else { panic!("simplify runs on functions") };
        run(&PassContext::new(self.ctx, &PlainTarget, 1, &options, Registry::new().rules()), &mut self.body)
            .unwrap();
        let name = |op| self.ctx.op_name_str(self.body.name(op));
        let names: Vec<&str> = self.body.ops(self.block()).map(name).collect();
        let names: Vec<&str> = names.iter().filter_map(|name| name.strip_prefix("nn.")).collect();
        let names: Vec<&str> = names.into_iter().filter(|name| *name != "constant").collect();
        assert_eq!(names.join(" "), expected);
        for (before, after) in before.iter().flatten().zip(self.run(&inputs).iter().flatten()) {
            assert!((before - after).abs() <= 1e-4 * before.abs().max(1.0), "{before} became {after}");
        }
    }
}

#[test]
fn a_batch_norm_goes_into_its_convolution() {
    let ctx = Context::new();
    let mut program = Program::new(&ctx);
    let x = program.arg(&[1, 3, 5, 5]);
    let w = program.weight(&[4, 3, 3, 3]);
    let conv = program.op("nn.conv2d", &[x, w], &[]);
    let norm = program.batch_norm(conv, 4);
    let gate = program.op("nn.sigmoid", &[norm], &[]);
    let out = program.op("nn.mul", &[norm, gate], &[]);
    program.ret(&[out]);
    program.check("add sqrt div reshape mul mul sub conv2d silu");
}

#[test]
fn a_convolution_with_a_second_reader_keeps_its_batch_norm_apart() {
    let ctx = Context::new();
    let mut program = Program::new(&ctx);
    let x = program.arg(&[1, 8, 9, 9]);
    let w = program.weight(&[8, 8, 3, 3]);
    let conv = program.op("nn.conv2d", &[x, w], &[]);
    let norm = program.batch_norm(conv, 8);
    program.ret(&[conv, norm]);
    program.check("conv2d add sqrt div reshape mul mul sub reshape add");
}

#[test]
fn a_batch_norm_before_a_convolution_is_a_product_and_a_sum() {
    let ctx = Context::new();
    let mut program = Program::new(&ctx);
    let x = program.arg(&[2, 4, 6, 6]);
    let norm = program.batch_norm(x, 4);
    let relu = program.op("nn.relu", &[norm], &[]);
    let w = program.weight(&[4, 4, 1, 1]);
    let conv = program.op("nn.conv2d", &[relu, w], &[]);
    program.ret(&[conv]);
    program.check("add sqrt div reshape mul mul sub reshape add relu conv2d");
}

#[test]
fn what_is_computed_twice_is_computed_once() {
    let ctx = Context::new();
    let mut program = Program::new(&ctx);
    let x = program.arg(&[4]);
    let a = program.op("nn.exp", &[x], &[]);
    let b = program.op("nn.exp", &[x], &[]);
    let sum = program.op("nn.add", &[a, b], &[]);
    let unread = program.op("nn.neg", &[sum], &[]);
    let _ = program.op("nn.abs", &[unread], &[]);
    program.ret(&[sum, b]);
    program.check("exp add");
}

/// The number of nodes in a block's e-graph after all laws.
fn grown(program: &Program<'_>) -> usize {
    let registry = Registry::new();
    let laws: Vec<&Law> = registry.rules().laws().collect();
    let mut graph = LawGraph::new(GraphFacts::new(program.ctx));
    let ops = program.body.ops(program.block()).collect();
    GraphEntries::new(&mut graph, &program.body, ops);
    graph.rebuild();
    saturate(&mut graph, SaturationLimits { rounds: 20, nodes: 100_000 }, &laws, &Changes::unlimited());
    graph.total_size()
}

#[test]
fn what_is_known_is_computed_in_one_way() {
    let ctx = Context::new();
    let mut program = Program::new(&ctx);
    let x = program.number(&[1], 0.375);
    let axes = [("axes", ctx.ints_attr(&[0])), ("keepdims", ctx.unit_attr())];
    let scale = program.number(&[1], 1.25);
    let mean = program.op("nn.reduce_mean", &[x], &axes);
    let centred = program.op("nn.sub", &[x, mean], &[]);
    let square = program.op("nn.square", &[centred], &[]);
    let variance = program.op("nn.reduce_mean", &[square], &axes);
    let epsilon = program.number(&[], f64::from(1e-5f32));
    let sum = program.op("nn.add", &[variance, epsilon], &[]);
    let deviation = program.op("nn.sqrt", &[sum], &[]);
    let factor = program.op("nn.reciprocal", &[deviation], &[]);
    let norm = program.op("nn.mul", &[centred, factor], &[]);
    let scaled = program.op("nn.mul", &[norm, scale], &[]);
    let bias = program.arg(&[1]);
    let out = program.op("nn.add", &[scaled, bias], &[]);
    program.ret(&[out]);
    let nodes = grown(&program);
    assert!(nodes < 100, "{nodes} nodes of 14 operations");
}

#[test]
fn a_product_that_reads_itself_does_not_grow_without_end() {
    let ctx = Context::new();
    let mut program = Program::new(&ctx);
    let ty = ctx.tensor(&[256], ctx.int(8));
    let bytes: Vec<u8> = (0..=u8::MAX).collect();
    let block = program.block();
    let value = constants::dense(&ctx, ty, &bytes);
    let table = Builder::at_end(&ctx, &mut program.body, block).constant(value, ty);
    let half = program.number(&[], 0.5);
    let two = program.number(&[], 2.0);
    let numbers = program.op("nn.cast", &[table], &[("to", ctx.type_attr(ctx.f32()))]);
    let halves = program.op("nn.mul", &[numbers, half], &[]);
    let same = program.op("nn.mul", &[halves, two], &[]);
    program.ret(&[same]);
    let nodes = grown(&program);
    assert!(nodes < 4000, "{nodes} nodes of 6 operations");
}
