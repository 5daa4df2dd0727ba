//! Random programs for planners and their checker, with structures that are rare in networks.
//!
//! The same list of operands in several concatenations, and lists with a common prefix; a value twice in a
//! concatenation, a sum, a group; views of views with several readers, early and late; windows with strides;
//! paddings of paddings; values that are returned twice, as a view, or are arguments; states and their next
//! values. Numbers are small integers, or binary fractions of few digits, so that sums are exact.

use std::sync::Arc;

use ir::interp::Tensor;
use ir::plan::attrs;
use ir::{Attr, Context, Module, Value};

use crate::programs::Program;
use crate::random::Random;

/// The greatest number of elements of a value.
const MOST_ELEMENTS: u64 = 4_000;

/// A program with its arguments.
pub struct PlanProgram {
    /// The module; its function is called `main`.
    pub module: Module,
    /// The arguments, states included.
    pub inputs: Vec<Tensor>,
    /// The arguments that are not states.
    pub given: Vec<usize>,
    /// For each state that has a next value, its argument and result.
    pub next: Vec<(usize, usize)>,
}

/// The program of a seed.
pub fn plan_program(seed: u64) -> PlanProgram {
    let mut random = Random::new(seed);
    let ctx = Arc::new(Context::new());
    let sides = [random.pick(&[3, 6, 9, 13]), random.pick(&[4, 5, 8])];
    let batch = random.pick(&[1, 1, 1, 2, 3]);
    let shapes: Vec<[u64; 4]> =
        (0..2 + random.below(2)).map(|_| [batch, sides[0], sides[1], random.pick(&[1, 4, 8])]).collect();
    let types: Vec<ir::Type> = shapes.iter().map(|shape| ctx.tensor(shape, ctx.f32())).collect();
    let (program, values) = Program::new(ctx, &types);
    let mut images = Images { program, random, values, lists: Vec::new(), views: Vec::new() };
    for _ in 0..10 + images.random.below(12) {
        if let Some(value) = images.step()
            && images.elements(value) <= MOST_ELEMENTS
        {
            images.values.push(value);
        }
    }
    images.finish(&shapes)
}

struct Images {
    program: Program,
    random: Random,
    /// Images, channels last.
    values: Vec<Value>,
    /// Operands of concatenations, with their axis.
    lists: Vec<(Vec<Value>, usize)>,
    /// Views to read again.
    views: Vec<Value>,
}

impl Images {
    fn shape(&self, value: Value) -> Vec<u64> {
        self.program.shape(value)
    }

    fn elements(&self, value: Value) -> u64 {
        self.shape(value).iter().product()
    }

    fn ints(&self, numbers: &[i64]) -> Attr {
        self.program.ctx.ints_attr(numbers)
    }

    fn op(&mut self, name: &str, operands: &[Value], attrs: &[(&str, Attr)]) -> Option<Value> {
        self.program.try_op(name, operands, attrs)
    }

    /// A recent value, an old one, or a view that was read before.
    fn any(&mut self) -> Value {
        let recent = self.values.len().saturating_sub(3);
        match self.random.below(6) {
            0 if !self.views.is_empty() => self.random.pick(&self.views),
            1 | 2 => self.random.pick(&self.values),
            _ => self.values[recent + self.random.below(self.values.len() - recent)],
        }
    }

    /// A value of the same shape except for one axis; often the same value.
    fn like(&mut self, value: Value, but: usize) -> Value {
        if self.random.below(5) == 0 {
            return value;
        }
        let shape = self.shape(value);
        let is_like = |other: &Value| {
            let other = self.shape(*other);
            (0..4).all(|axis| axis == but || other[axis] == shape[axis])
        };
        let known = self.values.iter().chain(&self.views).copied();
        let alike: Vec<Value> = known.filter(is_like).collect();
        if alike.is_empty() { value } else { self.random.pick(&alike) }
    }

    fn step(&mut self) -> Option<Value> {
        let x = self.any();
        match self.random.below(22) {
            19..=21 => self.bottleneck(x),
            0 | 1 => self.unary(x),
            2 | 3 => self.binary(x),
            4 | 5 => self.conv(x),
            6 => self.pool(x),
            7 | 8 => self.slice(x),
            9..=12 => self.concat(x),
            13 => self.pad(x),
            14 => self.turned(x),
            15 => self.product(x),
            16 => self.folded(x),
            17 => self.running(x),
            _ => self.inserted(x),
        }
    }

    fn unary(&mut self, x: Value) -> Option<Value> {
        let name = self.random.pick(&["nn.neg", "nn.abs", "nn.relu"]);
        self.op(name, &[x], &[])
    }

    /// Clips values, so that numbers stay exact.
    fn clip(&mut self, x: Value) -> Option<Value> {
        let ctx = self.program.ctx.clone();
        self.op("nn.clip", &[x], &[("lo", ctx.f32_attr(-8.0)), ("hi", ctx.f32_attr(8.0))])
    }

    fn binary(&mut self, x: Value) -> Option<Value> {
        let y = self.like(x, 4);
        let name = self.random.pick(&["nn.add", "nn.sub", "nn.max"]);
        let made = self.op(name, &[x, y], &[])?;
        if self.random.below(3) == 0 {
            let z = self.like(x, 4);
            let sum = self.op("nn.add", &[made, z], &[])?;
            return self.clip(sum);
        }
        self.clip(made)
    }

    fn weights(&mut self, shape: &[u64]) -> Value {
        let count = shape.iter().product::<u64>();
        let numbers: Vec<f32> = (0..count).map(|_| self.random.pick(&[-1.0, 0.0, 0.0, 1.0])).collect();
        self.program.constant(shape, &numbers)
    }

    fn conv(&mut self, x: Value) -> Option<Value> {
        let channels = self.shape(x)[3];
        let kernel = self.random.pick(&[1, 1, 3]);
        let dilation = if kernel == 3 { self.random.pick(&[1, 1, 2]) } else { 1 };
        let stride = self.random.pick(&[1, 1, 1, 2]);
        let is_depthwise = self.random.below(3) == 0;
        let outputs = if is_depthwise { channels } else { self.random.pick(&[1, 4, 8, 12]) };
        let shape = [outputs, if is_depthwise { 1 } else { channels }, kernel, kernel];
        let mut operands = vec![x, self.weights(&shape)];
        if self.random.below(2) == 0 {
            operands.push(self.weights(&[outputs]));
        }
        let pad = (kernel / 2) as i64 * dilation;
        let ctx = self.program.ctx.clone();
        let attrs = [
            ("pads", self.ints(&[pad; 4])),
            ("strides", self.ints(&[stride; 2])),
            ("dilations", self.ints(&[dilation; 2])),
            ("groups", ctx.int_attr(if is_depthwise { channels as i64 } else { 1 })),
            ("layout", ctx.str_attr("NHWC")),
        ];
        let made = self.op("nn.conv2d", &operands, &attrs)?;
        let made = self.clip(made)?;
        if self.random.below(3) == 0 {
            let like = self.like(made, 4);
            let sum = self.op("nn.add", &[made, like], &[])?;
            return self.clip(sum);
        }
        Some(made)
    }

    /// Wide images between narrow ones.
    fn bottleneck(&mut self, x: Value) -> Option<Value> {
        let channels = self.shape(x)[3];
        let wide = self.random.pick(&[16, 24]);
        let ctx = self.program.ctx.clone();
        let layout = ctx.str_attr("NHWC");
        let pads = self.ints(&[1; 4]);
        let filters = [[wide, channels, 1, 1], [wide, 1, 3, 3], [4, wide, 1, 1]];
        let [first, second, third] = filters.map(|shape| self.weights(&shape));
        let made = self.op("nn.conv2d", &[x, first], &[("layout", layout)])?;
        let made = self.clip(made)?;
        let stride = self.random.pick(&[1, 1, 2]);
        let attrs = [
            ("layout", layout),
            ("pads", pads),
            ("strides", self.ints(&[stride; 2])),
            ("groups", ctx.int_attr(wide as i64)),
        ];
        let made = self.op("nn.conv2d", &[made, second], &attrs)?;
        let made = self.clip(made)?;
        let made = self.op("nn.conv2d", &[made, third], &[("layout", layout)])?;
        self.clip(made)
    }

    fn pool(&mut self, x: Value) -> Option<Value> {
        let kernel = self.random.pick(&[[2, 2], [3, 3], [3, 1]]);
        let pads: Vec<i64> = kernel.iter().chain(&kernel).map(|size| (size - 1) / 2).collect();
        let stride = self.random.pick(&[1, 1, 2]);
        let ctx = self.program.ctx.clone();
        let attrs = [
            ("kernel", self.ints(&kernel)),
            ("pads", self.ints(&pads)),
            ("strides", self.ints(&[stride; 2])),
            ("layout", ctx.str_attr("NHWC")),
        ];
        self.op("nn.max_pool2d", &[x], &attrs)
    }

    /// A window along any axis, sometimes with strides; it is read again later.
    fn slice(&mut self, x: Value) -> Option<Value> {
        let shape = self.shape(x);
        let axis = 1 + self.random.below(3);
        let stride = self.random.pick(&[1, 1, 1, 2]);
        let mut starts = [0; 4];
        let mut sizes: Vec<i64> = shape.iter().map(|size| *size as i64).collect();
        let all = shape[axis] as i64;
        starts[axis] = self.random.below(all as usize) as i64;
        let most = (all - starts[axis] + stride - 1) / stride;
        sizes[axis] = 1 + self.random.below(most as usize) as i64;
        let mut strides = [1; 4];
        strides[axis] = stride;
        let attrs =
            [("starts", self.ints(&starts)), ("sizes", self.ints(&sizes)), ("strides", self.ints(&strides))];
        let view = self.op("nn.slice", &[x], &attrs)?;
        self.views.push(view);
        self.unary(view)
    }

    /// Operands of an earlier concatenation, alone or with more, or other operands.
    fn concat(&mut self, x: Value) -> Option<Value> {
        let (mut list, axis) = match self.random.below(3) {
            0 if !self.lists.is_empty() => {
                let index = self.random.below(self.lists.len());
                self.lists[index].clone()
            }
            _ => {
                let axis = self.random.pick(&[1, 2, 3, 3, 3]);
                let other = self.like(x, axis);
                (vec![x, other], axis)
            }
        };
        if self.random.below(2) == 0 {
            let more = self.like(list[0], axis);
            list.push(more);
        }
        if self.random.below(8) == 0 {
            list.swap(0, 1);
        }
        let axis_attr = self.program.ctx.int_attr(axis as i64);
        let made = self.op("nn.concat", &list, &[("axis", axis_attr)])?;
        self.lists.push((list, axis));
        (self.elements(made) <= MOST_ELEMENTS).then_some(made)
    }

    fn pad(&mut self, x: Value) -> Option<Value> {
        let mut counts =
            || [0, self.random.below(2) as i64, self.random.below(3) as i64, self.random.below(2) as i64];
        let (low, high) = (counts(), counts());
        let value = self.program.ctx.f32_attr(-1.0);
        let attrs = [("low", self.ints(&low)), ("high", self.ints(&high)), ("value", value)];
        self.op("nn.pad", &[x], &attrs)
    }

    /// An operation with permuted axes.
    fn turned(&mut self, x: Value) -> Option<Value> {
        let order = self.random.pick(&[[0, 2, 1, 3], [0, 3, 2, 1], [0, 1, 3, 2]]);
        let attrs = [("permutation", self.ints(&order))];
        let turned = self.op("nn.transpose", &[x], &attrs)?;
        let changed = if self.random.below(2) == 0 {
            self.unary(turned)?
        } else {
            self.op("nn.add", &[turned, turned], &[])?
        };
        let back = self.op("nn.transpose", &[changed], &attrs)?;
        self.clip(back)
    }

    /// A product of the pixels as rows.
    fn product(&mut self, x: Value) -> Option<Value> {
        let shape = self.shape(x);
        let rows = [(shape[0] * shape[1] * shape[2]) as i64, shape[3] as i64];
        let attrs = [("shape", self.ints(&rows))];
        let flat = self.op("nn.reshape", &[x], &attrs)?;
        let outputs = self.random.pick(&[4, 8]);
        let filter = self.weights(&[shape[3], outputs]);
        let made = self.op("nn.matmul", &[flat, filter], &[])?;
        let made = self.clip(made)?;
        let whole = [shape[0] as i64, shape[1] as i64, shape[2] as i64, outputs as i64];
        let attrs = [("shape", self.ints(&whole))];
        self.op("nn.reshape", &[made], &attrs)
    }

    /// An image minus the maximum of each row, column or channel.
    fn folded(&mut self, x: Value) -> Option<Value> {
        let axis = 1 + self.random.below(3) as i64;
        let attrs = [("axes", self.ints(&[axis])), ("keepdims", self.program.ctx.unit_attr())];
        let most = self.op("nn.reduce_max", &[x], &attrs)?;
        let less = self.op("nn.sub", &[x, most], &[])?;
        self.clip(less)
    }

    fn running(&mut self, x: Value) -> Option<Value> {
        let axis = self.program.ctx.int_attr(1 + self.random.below(3) as i64);
        let sums = self.op("nn.cum_sum", &[x], &[("axis", axis)])?;
        self.clip(sums)
    }

    /// A part of one image in place of the same part of another.
    fn inserted(&mut self, x: Value) -> Option<Value> {
        let y = self.like(x, 4);
        let shape = self.shape(x);
        let axis = 1 + self.random.below(3);
        let mut sizes: Vec<i64> = shape.iter().map(|size| *size as i64).collect();
        sizes[axis] = (sizes[axis] / 2).max(1);
        let attrs = [("starts", self.ints(&[0; 4])), ("sizes", self.ints(&sizes))];
        let part = self.op("nn.slice", &[x], &attrs)?;
        let mut starts = [0; 4];
        starts[axis] = shape[axis] as i64 - sizes[axis];
        let attrs = [("starts", self.ints(&starts))];
        self.op("nn.insert_slice", &[part, y], &attrs)
    }

    fn outputs(&mut self) -> Vec<Value> {
        let last = *self.values.last().expect("there are arguments");
        let mut outputs = vec![last];
        for _ in 0..self.random.below(4) {
            let again = match self.random.below(5) {
                0 => last,
                1 if !self.views.is_empty() => self.random.pick(&self.views),
                _ => self.random.pick(&self.values),
            };
            outputs.push(again);
        }
        outputs
    }

    fn finish(mut self, shapes: &[[u64; 4]]) -> PlanProgram {
        let outputs = self.outputs();
        let ctx = self.program.ctx.clone();
        let inputs = shapes.iter().map(|shape| {
            let count = shape.iter().product::<u64>();
            let numbers: Vec<f32> =
                (0..count).map(|_| self.random.pick(&[-2.0, -1.0, 0.0, 1.0, 2.0])).collect();
            Tensor::from_f32(&ctx, shape, &numbers)
        });
        let inputs: Vec<Tensor> = inputs.collect();
        let has_states = self.random.below(4) == 0;
        let result_shapes: Vec<Vec<u64>> = outputs.iter().map(|value| self.shape(*value)).collect();
        let module = self.program.finish(&outputs);
        let given = (0..shapes.len()).collect();
        let mut program = PlanProgram { module, inputs, given, next: Vec::new() };
        if has_states {
            program.keep_states(shapes, &result_shapes);
        }
        program
    }
}

impl PlanProgram {
    /// Turns all arguments except the first into states; the first results of their shape are the next
    /// values.
    fn keep_states(&mut self, shapes: &[[u64; 4]], results: &[Vec<u64>]) {
        let mut result_of: Vec<Option<usize>> = vec![None; shapes.len()];
        let mut state_of: Vec<Option<usize>> = vec![None; results.len()];
        for index in 1..shapes.len() {
            let is_next = |result: &usize| state_of[*result].is_none() && results[*result] == shapes[index];
            if let Some(result) = (0..results.len()).find(is_next) {
                result_of[index] = Some(result);
                state_of[result] = Some(index);
                self.next.push((index, result));
            }
        }
        let ctx = self.module.ctx.clone();
        let mark = |state: Option<Attr>| {
            let entries = state.map(|state| (ctx.ident(attrs::OPTC_STATE), state));
            ctx.dict(entries.into_iter().collect())
        };
        let args: Vec<Attr> =
            (0..shapes.len()).map(|index| mark((index > 0).then(|| ctx.unit_attr()))).collect();
        let results: Vec<Attr> =
            state_of.iter().map(|state| mark(state.map(|index| ctx.int_attr(index as i64)))).collect();
        let body = self.module.function_mut("main").expect("it is called so");
        for (name, list) in [("arg_attrs", &args), ("res_attrs", &results)] {
            body.properties = ctx.dict_set(body.properties, ctx.ident(name), ctx.array_attr(list));
        }
        self.given.truncate(1);
    }
}
