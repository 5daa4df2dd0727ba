//! Random graphs on images.

use std::sync::Arc;

use ir::{Attr, Context, Module, Value};
use optc::Array;

use crate::programs::{Program, array};
use crate::random::Random;

const SIZE: u64 = 6;
const CHANNELS: [u64; 3] = [1, 4, 6];

/// A graph on batches of images of one size, with several outputs; some are inputs, some are read again
/// later.
pub fn graph(seed: u64) -> (Module, Vec<Array>) {
    let mut random = Random::new(seed);
    let ctx = Arc::new(Context::new());
    let batch = random.pick(&[1, 1, 1, 2, 3]);
    let shapes: Vec<[u64; 4]> = (0..2).map(|_| [batch, random.pick(&CHANNELS), SIZE, SIZE]).collect();
    let types: Vec<ir::Type> = shapes.iter().map(|shape| ctx.tensor(shape, ctx.f32())).collect();
    let (mut program, mut values) = Program::new(ctx, &types);
    let inputs = shapes.iter().enumerate().map(|(index, shape)| {
        let values = random.floats(shape.iter().product());
        array(&format!("arg{index}"), shape, &values)
    });
    let inputs = inputs.collect();
    for _ in 0..12 + random.below(8) {
        if let Some(value) = step(&mut program, &mut random, &values) {
            values.push(value);
        }
    }
    let mut outputs = vec![*values.last().expect("inputs at least")];
    outputs.push(random.pick(&values));
    (program.finish(&outputs), inputs)
}

fn step(program: &mut Program, random: &mut Random, values: &[Value]) -> Option<Value> {
    let x = random.pick(values);
    let recent = values[values.len() - 1 - random.below(values.len().min(3))];
    match random.below(12) {
        0 => Some(conv(program, random, recent)),
        1 => {
            let name = random.pick(&["nn.relu", "nn.sigmoid", "nn.silu", "nn.tanh", "nn.neg", "nn.exp"]);
            let bounded = program.op("nn.clip", &[recent], &clip(program));
            Some(program.op(name, &[bounded], &[]))
        }
        2 | 3 => program.try_op(random.pick(&["nn.add", "nn.mul", "nn.max", "nn.sub"]), &[recent, x], &[]),
        4 => {
            let axis = program.ctx.int_attr(1);
            program
                .try_op("nn.concat", &[recent, x], &[("axis", axis)])
                .filter(|v| program.shape(*v)[1] <= 16)
        }
        5 => Some(pool(program, random, recent)),
        6 => {
            let axes = program.ctx.ints_attr(&[2, 3]);
            let keep = program.ctx.unit_attr();
            let mean = program.op("nn.reduce_mean", &[recent], &[("axes", axes), ("keepdims", keep)]);
            Some(program.op("nn.mul", &[recent, mean], &[]))
        }
        7 => Some(there_and_back(program, recent)),
        8 => Some(depthwise(program, random, recent)),
        9 => Some(group_norm(program, random, recent)),
        10 => {
            let counts = program.ctx.ints_attr(&[1, 1, 2, 2]);
            let wide = program.op("nn.repeat", &[recent], &[("counts", counts)]);
            let halves =
                [("kernel", program.ctx.ints_attr(&[2, 2])), ("strides", program.ctx.ints_attr(&[2, 2]))];
            Some(program.op("nn.max_pool2d", &[wide], &halves))
        }
        _ => Some(batch_norm(program, random, recent)),
    }
}

fn clip(program: &Program) -> [(&'static str, Attr); 2] {
    [("lo", program.ctx.f32_attr(-2.0)), ("hi", program.ctx.f32_attr(2.0))]
}

fn conv(program: &mut Program, random: &mut Random, x: Value) -> Value {
    let channels = program.shape(x)[1];
    let (out, kernel) = (random.pick(&CHANNELS), random.pick(&[1, 3]));
    let pad = (kernel as i64) / 2;
    let filter = random.floats(out * channels * kernel * kernel);
    let filter = program.constant(&[out, channels, kernel, kernel], &filter);
    let bias = random.floats(out);
    let bias = program.constant(&[out], &bias);
    let pads = program.ctx.ints_attr(&[pad; 4]);
    let conv = program.op("nn.conv2d", &[x, filter, bias], &[("pads", pads)]);
    program.op("nn.clip", &[conv], &clip(program))
}

fn depthwise(program: &mut Program, random: &mut Random, x: Value) -> Value {
    let channels = program.shape(x)[1];
    let filter = random.floats(channels * 9);
    let filter = program.constant(&[channels, 1, 3, 3], &filter);
    let attrs = [("pads", program.ctx.ints_attr(&[1; 4])), ("groups", program.ctx.int_attr(channels as i64))];
    program.op("nn.conv2d", &[x, filter], &attrs)
}

fn pool(program: &mut Program, random: &mut Random, x: Value) -> Value {
    let name = random.pick(&["nn.max_pool2d", "nn.avg_pool2d"]);
    let attrs = [("kernel", program.ctx.ints_attr(&[3, 3])), ("pads", program.ctx.ints_attr(&[1; 4]))];
    program.op(name, &[x], &attrs)
}

/// A reshape to a matrix, an operation there, and the reshape back.
fn there_and_back(program: &mut Program, x: Value) -> Value {
    let shape = program.shape(x);
    let rows = (shape[0] * shape[1]) as i64;
    let columns = (SIZE * SIZE) as i64;
    let flat = program.ctx.ints_attr(&[rows, columns]);
    let matrix = program.op("nn.reshape", &[x], &[("shape", flat)]);
    let swap = program.ctx.ints_attr(&[1, 0]);
    let turned = program.op("nn.transpose", &[matrix], &[("permutation", swap)]);
    let doubled = program.op("nn.add", &[turned, turned], &[]);
    let back = program.op("nn.transpose", &[doubled], &[("permutation", swap)]);
    let whole: Vec<i64> = shape.iter().map(|size| *size as i64).collect();
    let whole = program.ctx.ints_attr(&whole);
    program.op("nn.reshape", &[back], &[("shape", whole)])
}

fn group_norm(program: &mut Program, random: &mut Random, x: Value) -> Value {
    let channels = program.shape(x)[1];
    let (scale, bias) = (random.floats(channels), random.floats(channels));
    let (scale, bias) = (program.constant(&[channels], &scale), program.constant(&[channels], &bias));
    let groups = if channels.is_multiple_of(2) { 2 } else { 1 };
    let attrs = [
        ("axes", program.ctx.ints_attr(&[2, 3])),
        ("groups", program.ctx.int_attr(groups)),
        ("epsilon", program.ctx.f32_attr(0.1)),
    ];
    let norm = program.op("nn.group_norm", &[x, scale, bias], &attrs);
    if random.below(2) == 0 { norm } else { program.op("nn.silu", &[norm], &[]) }
}

fn batch_norm(program: &mut Program, random: &mut Random, x: Value) -> Value {
    let channels = program.shape(x)[1];
    let mut vector = |program: &mut Program, shift: f32| {
        let values: Vec<f32> = (0..channels).map(|_| random.float() * 0.5 + shift).collect();
        program.constant(&[channels], &values)
    };
    let operands =
        [x, vector(program, 1.0), vector(program, 0.0), vector(program, 0.0), vector(program, 1.0)];
    program.op("nn.batch_norm", &operands, &[])
}
