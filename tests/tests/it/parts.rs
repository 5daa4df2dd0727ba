//! In-place operands of concatenations and paddings, and views read in place: the interpreter's results, on
//! one thread and two, poisoned or not.
//!
//! Numbers are small integers, so that every sum is exact.

use ir::plan::attrs;
use std::sync::Arc;

use ir::{Context, Value};
use optc::{Array, CompileOptions, DeadMemory, Goal};
use tests::programs::{Program, array, execute, floats, interpret};
use tests::random::Random;

/// Random programs that are run.
const PROGRAMS: u64 = 40;
/// Operations of each program.
const OPS: usize = 14;

/// A program of images of one height and width, with the number of convolutions before each value.
struct Images {
    program: Program,
    values: Vec<(Value, u32)>,
}

impl Images {
    fn channels(&self, value: Value) -> u64 {
        self.program.shape(value)[3]
    }

    fn push(&mut self, random: &mut Random) {
        let (value, depth) = random.pick(&self.values);
        let made = match random.below(10) {
            0 => self.program.op(random.pick(&["nn.neg", "nn.abs"]), &[value], &[]),
            1 | 2 if depth < 2 => return self.convolve(random, value, depth),
            3 => self.pool(value),
            4 => self.slice(random, value),
            5 => self.pad(value),
            6 => self.turn(value),
            7 => {
                let alike =
                    self.values.iter().filter(|(other, _)| self.channels(*other) == self.channels(value));
                let alike: Vec<(Value, u32)> = alike.copied().collect();
                let (other, more) = random.pick(&alike);
                let sum = self.program.op("nn.add", &[value, other], &[]);
                return self.values.push((sum, depth.max(more)));
            }
            _ => return self.concatenate(random),
        };
        self.values.push((made, depth));
    }

    fn convolve(&mut self, random: &mut Random, value: Value, depth: u32) {
        let (kernel, channels) = (random.pick(&[1, 3]), random.pick(&[4, 16, 33]));
        let shape = [channels, self.channels(value), kernel, kernel];
        let count = shape.iter().product();
        let weights: Vec<f32> = (0..count).map(|_| random.pick(&[-1.0, 0.0, 1.0])).collect();
        let weights = self.program.constant(&shape, &weights);
        let ctx = self.program.ctx.clone();
        let pad = (kernel / 2) as i64;
        let attrs = [("layout", ctx.str_attr("NHWC")), ("pads", ctx.ints_attr(&[pad; 4]))];
        let mut made = self.program.op("nn.conv2d", &[value, weights], &attrs);
        if random.below(2) == 0 {
            made = self.program.op("nn.relu", &[made], &[]);
        }
        self.values.push((made, depth + 1));
    }

    fn pool(&mut self, value: Value) -> Value {
        let ctx = self.program.ctx.clone();
        let attrs = [
            ("kernel", ctx.ints_attr(&[3, 3])),
            ("layout", ctx.str_attr("NHWC")),
            ("pads", ctx.ints_attr(&[1; 4])),
        ];
        self.program.op("nn.max_pool2d", &[value], &attrs)
    }

    /// A border, and a pool that needs it.
    fn pad(&mut self, value: Value) -> Value {
        let ctx = self.program.ctx.clone();
        let around = ctx.ints_attr(&[0, 1, 1, 0]);
        let attrs = [("low", around), ("high", around), ("value", ctx.f32_attr(-1.0))];
        let padded = self.program.op("nn.pad", &[value], &attrs);
        let attrs = [("kernel", ctx.ints_attr(&[3, 3])), ("layout", ctx.str_attr("NHWC"))];
        self.program.op("nn.max_pool2d", &[padded], &attrs)
    }

    /// An operation with permuted axes.
    fn turn(&mut self, value: Value) -> Value {
        let turn = [("permutation", self.program.ctx.ints_attr(&[0, 3, 2, 1]))];
        let turned = self.program.op("nn.transpose", &[value], &turn);
        let changed = self.program.op("nn.neg", &[turned], &[]);
        self.program.op("nn.transpose", &[changed], &turn)
    }

    fn slice(&mut self, random: &mut Random, value: Value) -> Value {
        let ctx = self.program.ctx.clone();
        let mut sizes: Vec<i64> = self.program.shape(value).iter().map(|size| *size as i64).collect();
        let all = sizes[3];
        sizes[3] = (all / 2).max(1);
        let first = random.pick(&[0, all - sizes[3]]);
        let attrs = [("starts", ctx.ints_attr(&[0, 0, 0, first])), ("sizes", ctx.ints_attr(&sizes))];
        self.program.op("nn.slice", &[value], &attrs)
    }

    /// One of the newest values, as in a block in which each layer reads all earlier values, or any value.
    fn concatenate(&mut self, random: &mut Random) {
        let count = 2 + random.below(2);
        let parts: Vec<(Value, u32)> = match random.below(2) {
            0 => self.values.iter().rev().take(count).copied().collect(),
            _ => (0..count).map(|_| random.pick(&self.values)).collect(),
        };
        let depth = parts.iter().map(|part| part.1).max().unwrap_or(0);
        let parts: Vec<Value> = parts.into_iter().map(|part| part.0).collect();
        if parts.iter().map(|part| self.channels(*part)).sum::<u64>() <= 96 {
            let axis = [("axis", self.program.ctx.int_attr(3))];
            let whole = self.program.op("nn.concat", &parts, &axis);
            self.values.push((whole, depth));
        }
    }
}

#[test]
fn parts_in_place_change_no_result() {
    let mut in_place = [0; 3];
    for seed in 0..PROGRAMS {
        let random = &mut Random::new(seed);
        let ctx = Arc::new(Context::new());
        let shape = [1, 6, 5, random.pick(&[3, 8, 16])];
        let (program, args) = Program::new(ctx.clone(), &[ctx.tensor(&shape, ctx.f32())]);
        let mut images = Images { program, values: vec![(args[0], 0)] };
        (0..OPS).for_each(|_| images.push(random));
        let returned = [images.values[images.values.len() - 1].0, random.pick(&images.values).0];
        let module = images.program.finish(&returned);
        let count = shape.iter().product();
        let numbers: Vec<f32> = (0..count).map(|_| random.pick(&[-2.0, -1.0, 0.0, 1.0, 2.0])).collect();
        let input = array("x", &shape, &numbers);
        let expected: Vec<Vec<f32>> =
            interpret(&module, std::slice::from_ref(&input)).iter().map(floats).collect();
        for (threads, goal, dead) in [
            (1, Goal::Balanced, DeadMemory::Poisoned),
            (2, Goal::Memory, DeadMemory::Poisoned),
            (2, Goal::Speed, DeadMemory::Kept),
        ] {
            let mut planned = module.clone();
            let options = CompileOptions { threads, goal, dead, ..CompileOptions::default() };
            let found = execute(&mut planned, std::slice::from_ref(&input), &options);
            let found: Vec<Array> = found.unwrap_or_else(|failure| panic!("seed {seed}: {failure}"));
            let found: Vec<Vec<f32>> = found.iter().map(floats).collect();
            assert!(found == expected, "seed {seed}, {goal:?} on {threads} threads");
            let body = planned.function("main").expect("it is called so");
            let block = body.entry(body.root()).expect("it has a body");
            for op in body.ops(block).map(|op| body.at(&planned.ctx, op)) {
                let is_pad = op.attr("low").is_some();
                let said = [op.attr(attrs::MEM_VIEW).is_some(), op.attr(attrs::MEM_PARTS).is_some(), is_pad];
                in_place[0] += u64::from(said[0]);
                in_place[1] += u64::from(said[1] && !is_pad);
                in_place[2] += u64::from(said[1] && is_pad);
            }
        }
    }
    assert!(in_place.iter().all(|count| *count > 10), "{in_place:?} views, concatenations, paddings");
}
