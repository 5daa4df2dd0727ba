//! Random graphs on images whose batch, height and width are named sizes.

use std::sync::Arc;

use ir::dims::SizeArithmetic;
use ir::{Attr, Context, Dim, Module, Type, TypeData, Value, dims};

use crate::programs::Program;
use crate::random::Random;

/// The names of the sizes.
pub const NAMES: [&str; 3] = ["N", "H", "W"];

const CHANNELS: [u64; 3] = [1, 4, 6];
/// The greatest number of channels of a value, and the greatest growth factor of a side.
const MOST_CHANNELS: u64 = 16;
const MOST_STRETCHED: i64 = 2048;

/// A graph of two images with two outputs, one of which is often read again or an input.
pub fn sized_graph(seed: u64) -> Module {
    let mut random = Random::new(seed);
    let ctx = Arc::new(Context::new());
    let [n, h, w] = NAMES.map(|name| dims::size(&ctx, dims::symbol(&ctx, name)));
    let elem = ctx.f32();
    let image = |channels| {
        ctx.ty(TypeData::Tensor { shape: [n, Dim::Known(channels), h, w].into(), elem, encoding: None })
    };
    let types: Vec<Type> = (0..2).map(|_| image(random.pick(&CHANNELS))).collect();
    let (program, values) = Program::new(ctx, &types);
    let mut graph = Graph { program, random, values };
    for _ in 0..10 + graph.random.below(8) {
        let made = graph.step();
        graph.values.extend(made.filter(|value| graph.is_small(*value)));
    }
    let last = *graph.values.last().expect("inputs at least");
    let outputs = [last, graph.random.pick(&graph.values)];
    graph.program.finish(&outputs)
}

/// Convolutions and pools one after the other, with wide images between narrow ones, some of which are added
/// to a later one.
pub fn sized_chain(seed: u64) -> Module {
    let mut random = Random::new(seed);
    let ctx = Arc::new(Context::new());
    let [n, h, w] = NAMES.map(|name| dims::size(&ctx, dims::symbol(&ctx, name)));
    let shape = [n, Dim::Known(random.pick(&CHANNELS)), h, w];
    let image = ctx.ty(TypeData::Tensor { shape: shape.into(), elem: ctx.f32(), encoding: None });
    let (program, values) = Program::new(ctx, &[image]);
    let mut graph = Graph { program, random, values };
    let mut last = graph.values[0];
    for _ in 0..3 {
        let wide = graph.random.pick(&[24, 40]);
        let wide = graph.pixels(last, wide);
        let between = graph.window(wide).filter(|image| graph.follows(*image)).unwrap_or(wide);
        let narrow = graph.random.pick(&CHANNELS);
        let narrow = graph.pixels(between, narrow);
        let is_added = graph.are_alike(narrow, last, 4) && graph.random.below(2) == 0;
        last = if is_added { graph.program.op("nn.add", &[narrow, last], &[]) } else { narrow };
    }
    graph.program.finish(&[last])
}

struct Graph {
    program: Program,
    random: Random,
    /// Images: batch, channels, height, width.
    values: Vec<Value>,
}

impl Graph {
    fn shape(&self, value: Value) -> Vec<Dim> {
        self.program.dims(value)
    }

    fn channels(&self, value: Value) -> u64 {
        self.shape(value)[1].known().expect("channels are numbers")
    }

    /// Whether the sizes of an image follow from the named ones.
    fn follows(&self, value: Value) -> bool {
        let sizes = SizeArithmetic(&self.program.ctx);
        self.shape(value).into_iter().all(|dim| sizes.expr(dim).is_some())
    }

    fn is_small(&self, value: Value) -> bool {
        let ctx = &self.program.ctx;
        let shape = self.shape(value);
        let at = |dim: &Dim| {
            let expr = SizeArithmetic(ctx).expr(*dim)?;
            dims::evaluate(ctx, expr, &|_| Some(MOST_STRETCHED / 8))
        };
        shape[1].known().is_some_and(|channels| channels <= MOST_CHANNELS)
            && shape[2..].iter().all(|side| at(side).is_some_and(|size| (1..=MOST_STRETCHED).contains(&size)))
    }

    /// Whether two images have the same sizes except for one axis, at all sizes.
    fn are_alike(&self, x: Value, y: Value, but: usize) -> bool {
        let x = self.shape(x);
        let y = self.shape(y);
        let sizes = SizeArithmetic(&self.program.ctx);
        (0..4).all(|axis| axis == but || sizes.are_equal(x[axis], y[axis]))
    }

    fn sizes(&self, shape: &[Dim]) -> Attr {
        self.program.ctx.dims_attr(shape)
    }

    fn ints(&self, numbers: &[i64]) -> Attr {
        self.program.ctx.ints_attr(numbers)
    }

    fn step(&mut self) -> Option<Value> {
        let x = self.random.pick(&self.values);
        let back = self.random.below(self.values.len().min(3));
        let recent = self.values[self.values.len() - 1 - back];
        match self.random.below(16) {
            0 | 1 => self.conv(recent),
            2 => self.unary(recent),
            3 | 4 => {
                let name = self.random.pick(&["nn.add", "nn.mul", "nn.max", "nn.sub"]);
                self.are_alike(recent, x, 1).then(|| self.program.try_op(name, &[recent, x], &[]))?
            }
            5 | 6 => self.concat(recent, x),
            7 => self.pool(recent),
            8 => self.gate(recent),
            9 => self.turned(recent),
            10 => self.attention(recent),
            11 => self.norm(recent),
            12 => self.channel_slice(recent),
            13 => self.shifted(recent),
            14 => self.padded(recent),
            _ => self.stretched(recent),
        }
    }

    /// Clips values, so that nothing grows without bound.
    fn clip(&mut self, x: Value) -> Value {
        let attrs = [("lo", self.program.ctx.f32_attr(-2.0)), ("hi", self.program.ctx.f32_attr(2.0))];
        self.program.op("nn.clip", &[x], &attrs)
    }

    fn unary(&mut self, x: Value) -> Option<Value> {
        let name = self.random.pick(&["nn.relu", "nn.sigmoid", "nn.silu", "nn.tanh", "nn.neg", "nn.exp"]);
        let bounded = self.clip(x);
        self.program.try_op(name, &[bounded], &[])
    }

    fn conv(&mut self, x: Value) -> Option<Value> {
        let from = self.channels(x);
        let kernel = self.random.pick(&[1, 3]);
        let stride = self.random.pick(&[1, 1, 2]);
        let is_depthwise = self.random.below(4) == 0;
        let (to, of_each) = if is_depthwise { (from, 1) } else { (self.random.pick(&CHANNELS), from) };
        let filter = self.random.floats(to * of_each * kernel * kernel);
        let filter = self.program.constant(&[to, of_each, kernel, kernel], &filter);
        let bias = self.random.floats(to);
        let bias = self.program.constant(&[to], &bias);
        let attrs = [
            ("pads", self.ints(&[(kernel / 2) as i64; 4])),
            ("strides", self.ints(&[stride; 2])),
            ("groups", self.program.ctx.int_attr(if is_depthwise { from as i64 } else { 1 })),
        ];
        let conv = self.program.try_op("nn.conv2d", &[x, filter, bias], &attrs)?;
        Some(self.clip(conv))
    }

    /// Other channels of the same pixels.
    fn pixels(&mut self, x: Value, to: u64) -> Value {
        let from = self.channels(x);
        let filter = self.random.floats(to * from);
        let filter = self.program.constant(&[to, from, 1, 1], &filter);
        let conv = self.program.op("nn.conv2d", &[x, filter], &[]);
        self.clip(conv)
    }

    /// A depthwise convolution, another one or a pool, with any strides, dilations and padding: some windows
    /// may lie wholly in the padding.
    fn window(&mut self, x: Value) -> Option<Value> {
        let channels = self.channels(x);
        let kernel: i64 = self.random.pick(&[1, 2, 3, 3]);
        let dilation: i64 = self.random.pick(&[1, 1, 2]);
        let stride = self.random.pick(&[1, 1, 2, 3]);
        // More padding than that, and a window may lie in it wholly.
        let most = (kernel - 1) * dilation + self.random.pick(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2]);
        let [top, left] = [0; 2].map(|_| self.random.below(most as usize + 1) as i64);
        let [bottom, right] =
            [top, left].map(|before| self.random.below((most - before) as usize + 1) as i64);
        let pads = [top, left, bottom, right];
        let mut attrs = vec![
            ("pads", self.ints(&pads)),
            ("strides", self.ints(&[stride; 2])),
            ("dilations", self.ints(&[dilation; 2])),
        ];
        if self.random.below(4) == 0 {
            attrs.push(("kernel", self.ints(&[kernel; 2])));
            attrs.extend((self.random.below(2) == 0).then(|| ("ceil", self.program.ctx.unit_attr())));
            // The greatest of no elements is no number to multiply.
            return self.program.try_op("nn.max_pool2d", &[x], &attrs).map(|pool| self.clip(pool));
        }
        let groups = self.random.pick(&[1, channels, channels]);
        let shape = [channels, channels / groups, kernel as u64, kernel as u64];
        let filter = self.random.floats(shape.iter().product());
        let filter = self.program.constant(&shape, &filter);
        attrs.push(("groups", self.program.ctx.int_attr(groups as i64)));
        let conv = self.program.try_op("nn.conv2d", &[x, filter], &attrs)?;
        Some(self.clip(conv))
    }

    fn pool(&mut self, x: Value) -> Option<Value> {
        let name = self.random.pick(&["nn.max_pool2d", "nn.avg_pool2d"]);
        let stride = self.random.pick(&[1, 2]);
        let attrs = [
            ("kernel", self.ints(&[3, 3])),
            ("pads", self.ints(&[1; 4])),
            ("strides", self.ints(&[stride; 2])),
        ];
        self.program.try_op(name, &[x], &attrs)
    }

    fn concat(&mut self, x: Value, y: Value) -> Option<Value> {
        let axis = self.random.pick(&[0, 1, 1, 1, 2, 3]);
        let attrs = [("axis", self.program.ctx.int_attr(axis as i64))];
        self.are_alike(x, y, axis).then(|| self.program.try_op("nn.concat", &[x, y], &attrs))?
    }

    /// An image times the mean of each of its channels, or of each of its rows.
    fn gate(&mut self, x: Value) -> Option<Value> {
        let axes = if self.random.below(2) == 0 { self.ints(&[2, 3]) } else { self.ints(&[3]) };
        let attrs = [("axes", axes), ("keepdims", self.program.ctx.unit_attr())];
        let mean = self.program.try_op("nn.reduce_mean", &[x], &attrs)?;
        self.program.try_op("nn.mul", &[x, mean], &[])
    }

    /// Channels last, an operation there, and back.
    fn turned(&mut self, x: Value) -> Option<Value> {
        let (there, back) = (self.ints(&[0, 2, 3, 1]), self.ints(&[0, 3, 1, 2]));
        let turned = self.program.try_op("nn.transpose", &[x], &[("permutation", there)])?;
        let axis = self.program.ctx.int_attr(self.random.pick(&[1, 2, 3]));
        let inside = match self.random.below(3) {
            0 => self.program.try_op("nn.softmax", &[turned], &[("axis", axis)])?,
            1 => self.program.try_op("nn.cum_sum", &[turned], &[("axis", axis)])?,
            _ => self.program.try_op("nn.add", &[turned, turned], &[])?,
        };
        let back = self.program.try_op("nn.transpose", &[inside], &[("permutation", back)])?;
        Some(self.clip(back))
    }

    /// Attention over channels: each channel as a mixture of all, weighted by similarity.
    fn attention(&mut self, x: Value) -> Option<Value> {
        let shape = self.shape(x);
        let n = shape[0];
        let c = shape[1];
        let area = SizeArithmetic(&self.program.ctx).mul(shape[2], shape[3]);
        let flat = self.sizes(&[n, c, area]);
        let flat = self.program.try_op("nn.reshape", &[x], &[("shape", flat)])?;
        let turned = [("permutation", self.ints(&[0, 2, 1]))];
        let turned = self.program.try_op("nn.transpose", &[flat], &turned)?;
        let alike = self.program.try_op("nn.matmul", &[flat, turned], &[])?;
        let axis = [("axis", self.program.ctx.int_attr(2))];
        let shares = self.program.try_op("nn.softmax", &[alike], &axis)?;
        let mixed = self.program.try_op("nn.matmul", &[shares, flat], &[])?;
        let whole = self.sizes(&shape);
        self.program.try_op("nn.reshape", &[mixed], &[("shape", whole)])
    }

    fn norm(&mut self, x: Value) -> Option<Value> {
        let channels = self.channels(x);
        let (scale, bias) = (self.random.floats(channels), self.random.floats(channels));
        let (scale, bias) =
            (self.program.constant(&[channels], &scale), self.program.constant(&[channels], &bias));
        let attrs = [
            ("axes", self.ints(&[2, 3])),
            ("groups", self.program.ctx.int_attr(if channels.is_multiple_of(2) { 2 } else { 1 })),
            ("epsilon", self.program.ctx.f32_attr(0.1)),
        ];
        self.program.try_op("nn.group_norm", &[x, scale, bias], &attrs)
    }

    fn channel_slice(&mut self, x: Value) -> Option<Value> {
        let shape = self.shape(x);
        let channels = self.channels(x);
        let first = self.random.below(channels as usize) as u64;
        let kept = [shape[0], Dim::Known((channels - first).min(4)), shape[2], shape[3]];
        let attrs = [("starts", self.ints(&[0, first as i64, 0, 0])), ("sizes", self.sizes(&kept))];
        self.program.try_op("nn.slice", &[x], &attrs)
    }

    /// An image without its first row next to the image without its last.
    fn shifted(&mut self, x: Value) -> Option<Value> {
        let shape = self.shape(x);
        let axis = self.random.pick(&[2, 3]);
        let mut kept = shape.clone();
        kept[axis] = SizeArithmetic(&self.program.ctx).offset(shape[axis], -1);
        let sizes = self.sizes(&kept);
        let mut starts = [0; 4];
        let head = [("starts", self.ints(&starts)), ("sizes", sizes)];
        let head = self.program.try_op("nn.slice", &[x], &head)?;
        starts[axis] = 1;
        let tail = [("starts", self.ints(&starts)), ("sizes", sizes)];
        let tail = self.program.try_op("nn.slice", &[x], &tail)?;
        self.program.try_op("nn.sub", &[tail, head], &[])
    }

    fn padded(&mut self, x: Value) -> Option<Value> {
        let (low, high) = (self.random.below(2) as i64, self.random.below(3) as i64);
        let attrs = [("low", self.ints(&[0, 0, low, 0])), ("high", self.ints(&[0, 0, high, 1]))];
        self.program.try_op("nn.pad", &[x], &attrs)
    }

    fn stretched(&mut self, x: Value) -> Option<Value> {
        let counts = self.ints(&[1, 1, 2, 1]);
        self.program.try_op("nn.repeat", &[x], &[("counts", counts)])
    }
}
