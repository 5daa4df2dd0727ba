//! Random tests of the kernels' operations: sizes, attributes and operand layouts are random.

use ir::{Attr, FloatKind, Signedness, Type, TypeData, Value};

use crate::layouts::{Anywhere, Content};

/// An operation with random attributes and operand layouts; none if they do not fit.
pub type Family = fn(&mut Anywhere) -> Option<Value>;

/// All of them, by name.
pub const FAMILIES: &[(&str, Family)] = &[
    ("elementwise", elementwise),
    ("of other types", of_other_types),
    ("broadcast", broadcast),
    ("reduce", reduce),
    ("softmax", softmax),
    ("group_norm", group_norm),
    ("batch_norm", batch_norm),
    ("matmul", matmul),
    ("attention", attention),
    ("conv2d", conv2d),
    ("depthwise", depthwise),
    ("pool", pool),
    ("along", along),
    ("gather", gather),
    ("resample", resample),
    ("scatter", scatter),
    ("compress", compress),
    ("arg_sort", arg_sort),
    ("pad", pad),
    ("repeat", repeat),
    ("insert_slice", insert_slice),
    ("concat", concat),
    ("copied view", copied_view),
];

/// The integer type of this width.
pub fn int(this: &Anywhere, width: u32, signedness: Signedness) -> Type {
    this.program.ctx.ty(TypeData::Integer { width, signedness })
}

/// A random element type that kernels can move.
fn elem(this: &mut Anywhere) -> Type {
    let ctx = this.ctx();
    let width = this.random.pick(&[8, 16, 32, 64]);
    match this.random.below(8) {
        0 | 1 => ctx.f32(),
        2 => ctx.float(FloatKind::F64),
        3 => ctx.float(FloatKind::F16),
        4 => ctx.float(FloatKind::Bf16),
        5 => int(this, width, Signedness::Unsigned),
        6 => ctx.int(1),
        _ => ctx.int(width),
    }
}

fn number(this: &Anywhere, number: i64) -> Attr {
    this.program.ctx.int_attr(number)
}

fn flag(this: &mut Anywhere, name: &'static str, attrs: &mut Vec<(&'static str, Attr)>) {
    if this.random.below(2) == 0 {
        attrs.push((name, this.program.ctx.unit_attr()));
    }
}

fn axis_of(this: &mut Anywhere, shape: &[u64]) -> Attr {
    let axis = this.random.below(shape.len());
    number(this, axis as i64)
}

fn elementwise(this: &mut Anywhere) -> Option<Value> {
    let rank = 1 + this.random.below(4);
    let shape = this.shape(rank, if rank < 3 { 33 } else { 9 });
    let (a, b) = (this.floats(&shape), this.floats(&shape));
    let name = this.random.pick(&["nn.add", "nn.sub", "nn.max", "nn.mul", "nn.min"]);
    let c = this.program.op(name, &[a, b], &[]);
    let name = this.random.pick(&["nn.relu", "nn.tanh", "nn.sigmoid", "nn.abs", "nn.floor"]);
    let d = this.program.op(name, &[c], &[]);
    this.program.try_op("nn.sub", &[d, a], &[])
}

fn of_other_types(this: &mut Anywhere) -> Option<Value> {
    let shape = this.shape(2, 33);
    let elem = elem(this);
    let (a, b) = (this.operand(&shape, elem), this.operand(&shape, elem));
    if elem == this.program.ctx.int(1) {
        let name = this.random.pick(&["nn.and", "nn.or", "nn.xor"]);
        return this.program.try_op(name, &[a, b], &[]);
    }
    let name =
        this.random.pick(&["nn.add", "nn.sub", "nn.max", "nn.min", "nn.lt", "nn.eq", "nn.ge", "nn.ne"]);
    let c = this.program.try_op(name, &[a, b], &[])?;
    if this.program.elem(c) == elem { Some(c) } else { this.program.try_op("nn.select", &[c, a, b], &[]) }
}

fn broadcast(this: &mut Anywhere) -> Option<Value> {
    let rank = 2 + this.random.below(3);
    let shape = this.shape(rank, 9);
    let mut small: Vec<u64> =
        shape.iter().map(|size| if this.random.below(2) == 0 { 1 } else { *size }).collect();
    small.drain(..this.random.below(rank));
    let (a, b) = (this.floats(&shape), this.floats(&small));
    let operands = if this.random.below(2) == 0 { [a, b] } else { [b, a] };
    this.program.try_op("nn.sub", &operands, &[])
}

fn some_axes(this: &mut Anywhere, rank: usize) -> Vec<i64> {
    let mut axes: Vec<i64> = (0..rank as i64).filter(|_| this.random.below(2) == 0).collect();
    if axes.is_empty() {
        axes.push(this.random.below(rank) as i64);
    }
    axes
}

fn reduce(this: &mut Anywhere) -> Option<Value> {
    let rank = 1 + this.random.below(4);
    let shape = this.shape(rank, if rank < 3 { 33 } else { 9 });
    let x = this.floats(&shape);
    let axes = some_axes(this, rank);
    let mut attrs = vec![("axes", this.ints(&axes))];
    flag(this, "keepdims", &mut attrs);
    let name =
        this.random.pick(&["sum", "mean", "max", "min", "sum_square"].map(|name| ("nn.reduce_", name)));
    this.program.try_op(&format!("{}{}", name.0, name.1), &[x], &attrs)
}

fn softmax(this: &mut Anywhere) -> Option<Value> {
    let rank = 1 + this.random.below(3);
    let shape = this.shape(rank, 33);
    let x = this.floats(&shape);
    let attrs = [("axis", axis_of(this, &shape))];
    this.program.try_op("nn.softmax", &[x], &attrs)
}

fn group_norm(this: &mut Anywhere) -> Option<Value> {
    let groups = this.random.pick(&[0, 1, 2, 3]);
    let channels = groups.max(1) * this.size(9);
    let rank = 2 + this.random.below(3);
    let axis = this.random.below(rank);
    let mut shape = this.shape(rank, 9);
    shape[axis] = channels;
    let mut axes: Vec<i64> = (0..rank as i64).filter(|other| *other != axis as i64).collect();
    axes.retain(|_| this.random.below(3) > 0);
    let operands = [this.floats(&shape), this.floats(&[channels]), this.floats(&[channels])];
    let mut attrs = vec![
        ("axis", number(this, axis as i64)),
        ("axes", this.ints(&axes)),
        ("groups", number(this, groups as i64)),
        ("epsilon", this.program.ctx.f32_attr(0.5)),
    ];
    flag(this, "about_zero", &mut attrs);
    this.program.try_op("nn.group_norm", &operands, &attrs)
}

fn batch_norm(this: &mut Anywhere) -> Option<Value> {
    let shape = this.shape(3, 17);
    let axis = this.random.below(3);
    let mut operands = vec![this.floats(&shape)];
    operands.extend((0..3).map(|_| this.floats(&[shape[axis]])));
    let variance = this.floats(&[shape[axis]]);
    operands.push(this.program.op("nn.abs", &[variance], &[]));
    let attrs = [("axis", number(this, axis as i64)), ("epsilon", this.program.ctx.f32_attr(0.5))];
    this.program.try_op("nn.batch_norm", &operands, &attrs)
}

fn matmul(this: &mut Anywhere) -> Option<Value> {
    let [m, k, n] = [33, 33, 33].map(|most| this.size(most));
    let batch: Vec<u64> = (0..this.random.below(3)).map(|_| this.size(3)).collect();
    let mut attrs = Vec::new();
    let mut side = |this: &mut Anywhere, name: &'static str, rows: u64, columns: u64| {
        let mut shape: Vec<u64> =
            batch.iter().map(|size| if this.random.below(3) == 0 { 1 } else { *size }).collect();
        let is_turned = this.random.below(2) == 0;
        shape.extend(if is_turned { [columns, rows] } else { [rows, columns] });
        if is_turned {
            attrs.push((name, this.program.ctx.unit_attr()));
        }
        this.floats(&shape)
    };
    let mut operands = vec![side(this, "transpose_a", m, k), side(this, "transpose_b", k, n)];
    if this.random.below(2) == 0 {
        operands.push(this.floats(&[n]));
    }
    this.program.try_op("nn.matmul", &operands, &attrs)
}

fn attention(this: &mut Anywhere) -> Option<Value> {
    let [queries, keys, size, width] = [33, 33, 17, 17].map(|most| this.size(most));
    let batch: Vec<u64> = (0..this.random.below(3)).map(|_| this.size(3)).collect();
    let of = |rows: u64, columns: u64| [&batch[..], &[rows, columns]].concat();
    let (q, k, v) =
        (this.floats(&of(queries, size)), this.floats(&of(size, keys)), this.floats(&of(keys, width)));
    let mut scores = this.program.op("nn.matmul", &[q, k], &[]);
    if this.random.below(2) == 0 {
        let mask = this.floats(&[queries, keys]);
        scores = this.program.op("nn.add", &[scores, mask], &[]);
    }
    let axis = number(this, batch.len() as i64 + 1);
    let shares = this.program.op("nn.softmax", &[scores], &[("axis", axis)]);
    this.program.try_op("nn.matmul", &[shares, v], &[])
}

/// Strides, dilations, and pads that may exceed the window.
fn window(this: &mut Anywhere, kernel: [u64; 2]) -> Vec<(&'static str, Attr)> {
    let pads: Vec<i64> = (0..4).map(|side| this.random.below(kernel[side % 2] as usize + 3) as i64).collect();
    let strides: Vec<i64> = (0..2).map(|_| this.random.pick(&[1, 1, 2, 3])).collect();
    vec![
        ("pads", this.ints(&pads)),
        ("strides", this.ints(&strides)),
        ("layout", this.program.ctx.str_attr("NHWC")),
    ]
}

fn dilated(this: &mut Anywhere, attrs: &mut Vec<(&'static str, Attr)>) {
    let dilations: Vec<i64> = (0..2).map(|_| this.random.pick(&[1, 1, 2, 3])).collect();
    attrs.push(("dilations", this.ints(&dilations)));
}

fn weights(this: &mut Anywhere, shape: &[u64]) -> Value {
    let count = shape.iter().product::<u64>();
    let numbers: Vec<f32> = (0..count).map(|_| this.random.below(9) as f32 / 4.0 - 1.0).collect();
    this.program.constant(shape, &numbers)
}

fn convolution(this: &mut Anywhere, groups: u64, inputs: u64, outputs: u64) -> Option<Value> {
    let kernel = [1, 2].map(|_| this.random.pick(&[1, 1, 2, 3, 5]));
    let image = [this.size(2), this.size(9), this.size(17), groups * inputs];
    let mut attrs = window(this, kernel);
    dilated(this, &mut attrs);
    attrs.push(("groups", number(this, groups as i64)));
    let x = this.floats(&image);
    let shape = [groups * outputs, inputs, kernel[0], kernel[1]];
    let filter = if this.random.below(4) == 0 { this.floats(&shape) } else { weights(this, &shape) };
    let mut operands = vec![x, filter];
    if this.random.below(2) == 0 {
        operands.push(weights(this, &[groups * outputs]));
    }
    let y = this.program.try_op("nn.conv2d", &operands, &attrs)?;
    if this.random.below(2) == 0 { Some(y) } else { this.program.try_op("nn.relu", &[y], &[]) }
}

fn conv2d(this: &mut Anywhere) -> Option<Value> {
    let groups = this.random.pick(&[1, 1, 2, 3]);
    let inputs = this.size(17);
    let outputs = this.size(33);
    convolution(this, groups, inputs, outputs)
}

fn depthwise(this: &mut Anywhere) -> Option<Value> {
    let channels = this.size(33);
    let each = this.random.pick(&[1, 1, 2, 3]);
    convolution(this, channels, 1, each)
}

fn pool(this: &mut Anywhere) -> Option<Value> {
    let kernel = [1, 2].map(|_| this.random.pick(&[1, 2, 3]));
    let image = [this.size(2), this.size(9), this.size(17), this.size(33)];
    let mut attrs = window(this, kernel);
    attrs.push(("kernel", this.ints(&kernel.map(|size| size as i64))));
    flag(this, "ceil", &mut attrs);
    let x = this.floats(&image);
    if this.random.below(2) == 0 {
        dilated(this, &mut attrs);
        return this.program.try_op("nn.max_pool2d", &[x], &attrs);
    }
    // A mean over padding alone has no elements.
    attrs.push(("count_include_pad", this.program.ctx.unit_attr()));
    this.program.try_op("nn.avg_pool2d", &[x], &attrs)
}

fn along(this: &mut Anywhere) -> Option<Value> {
    let rank = 1 + this.random.below(3);
    let shape = this.shape(rank, 17);
    let x = this.floats(&shape);
    let mut attrs = vec![("axis", axis_of(this, &shape))];
    if this.random.below(2) == 0 {
        flag(this, "keepdims", &mut attrs);
        flag(this, "last", &mut attrs);
        let name = this.random.pick(&["nn.arg_max", "nn.arg_min"]);
        return this.program.try_op(name, &[x], &attrs);
    }
    flag(this, "exclusive", &mut attrs);
    flag(this, "reverse", &mut attrs);
    let name = this.random.pick(&["nn.cum_sum", "nn.cum_sum", "nn.cum_prod"]);
    this.program.try_op(name, &[x], &attrs)
}

/// Indices of a random type; some sizes need its highest bit.
fn indices(this: &mut Anywhere, shape: &[u64], size: u64) -> Value {
    let width = this.random.pick(&[32, 64, 64]);
    let signedness = this.random.pick(&[Signedness::Signless, Signedness::Signless, Signedness::Unsigned]);
    let elem = if signedness == Signedness::Signless {
        this.program.ctx.int(width)
    } else {
        int(this, if size > 128 { 8 } else { 16 }, signedness)
    };
    this.operand_of(shape, elem, Content::Indices(size))
}

fn gather(this: &mut Anywhere) -> Option<Value> {
    let rank = 1 + this.random.below(3);
    let mut shape = this.shape(rank, 9);
    let axis = this.random.below(rank);
    if this.random.below(3) == 0 {
        shape[axis] = this.random.pick(&[129, 200, 256]);
    }
    let elem = elem(this);
    let x = this.operand(&shape, elem);
    let picked = this.random.below(3);
    let picked = this.shape(picked, 9);
    let at = indices(this, &picked, shape[axis]);
    this.program.try_op("nn.gather", &[x, at], &[("axis", number(this, axis as i64))])
}

fn scatter(this: &mut Anywhere) -> Option<Value> {
    let rank = 1 + this.random.below(3);
    let shape = this.shape(rank, 9);
    let x = this.floats(&shape);
    let picked = this.size(9);
    let at = indices(this, &[picked], shape[0]);
    let mut updates = shape.clone();
    updates[0] = picked;
    let updates = this.floats(&updates);
    let join = this.random.pick(&["none", "add", "mul", "max", "min"]);
    let join = this.program.ctx.str_attr(join);
    this.program.try_op("nn.scatter", &[x, at, updates], &[("join", join)])
}

fn resample(this: &mut Anywhere) -> Option<Value> {
    let rank = 1 + this.random.below(3);
    let shape = this.shape(rank, 33);
    let x = this.floats(&shape);
    let axis = this.random.below(rank);
    let table = [1 + this.random.below(4) as u64, this.size(40)];
    let int64 = this.program.ctx.int(64);
    // Some places are outside.
    let places = this.operand_of(&table, int64, Content::Indices(shape[axis] + 2));
    let weights = weights(this, &table);
    this.program.try_op("nn.resample", &[x, places, weights], &[("axis", number(this, axis as i64))])
}

fn compress(this: &mut Anywhere) -> Option<Value> {
    let rank = 1 + this.random.below(3);
    let shape = this.shape(rank, 9);
    let elem = elem(this);
    let x = this.operand(&shape, elem);
    let axis = this.random.below(rank);
    let count = 1 + this.random.below(shape[axis] as usize) as u64;
    let truth = this.program.ctx.int(1);
    let condition = this.operand(&[count], truth);
    this.program.try_op("nn.compress", &[x, condition], &[("axis", number(this, axis as i64))])
}

fn arg_sort(this: &mut Anywhere) -> Option<Value> {
    let rank = 1 + this.random.below(3);
    let shape = this.shape(rank, 17);
    let elem = if this.random.below(2) == 0 { this.program.ctx.f32() } else { elem(this) };
    let x = this.operand(&shape, elem);
    let mut attrs = vec![("axis", axis_of(this, &shape))];
    flag(this, "descending", &mut attrs);
    this.program.try_op("nn.arg_sort", &[x], &attrs)
}

fn pad(this: &mut Anywhere) -> Option<Value> {
    let rank = 1 + this.random.below(4);
    let shape = this.shape(rank, 9);
    let elem = elem(this);
    let x = this.operand(&shape, elem);
    let counts = |this: &mut Anywhere| {
        let counts = shape.iter().map(|_| this.random.below(5) as i64 - 1).collect::<Vec<_>>();
        this.ints(&counts)
    };
    let (low, high) = (counts(this), counts(this));
    let attrs = [("low", low), ("high", high), ("value", this.program.ctx.f32_attr(1.0))];
    this.program.try_op("nn.pad", &[x], &attrs)
}

fn repeat(this: &mut Anywhere) -> Option<Value> {
    let rank = 1 + this.random.below(3);
    let shape = this.shape(rank, 9);
    let elem = elem(this);
    let x = this.operand(&shape, elem);
    let counts: Vec<i64> = (0..rank).map(|_| this.random.pick(&[1, 1, 2, 3])).collect();
    let attrs = [("counts", this.ints(&counts))];
    this.program.try_op("nn.repeat", &[x], &attrs)
}

fn insert_slice(this: &mut Anywhere) -> Option<Value> {
    let rank = 1 + this.random.below(3);
    let shape = this.shape(rank, 9);
    let (mut starts, mut strides, mut whole) = (Vec::new(), Vec::new(), Vec::new());
    for size in &shape {
        let stride: i64 = this.random.pick(&[1, 1, 2, -1, -2]);
        let (before, after) = (this.random.below(3) as u64, this.random.below(3) as u64);
        let reach = (size - 1) * stride.unsigned_abs();
        whole.push(before + reach + 1 + after);
        starts.push((before + if stride < 0 { reach } else { 0 }) as i64);
        strides.push(stride);
    }
    let elem = elem(this);
    let operands = [this.operand(&shape, elem), this.operand(&whole, elem)];
    let attrs = [("starts", this.ints(&starts)), ("strides", this.ints(&strides))];
    this.program.try_op("nn.insert_slice", &operands, &attrs)
}

fn concat(this: &mut Anywhere) -> Option<Value> {
    let rank = 1 + this.random.below(4);
    let mut shape = this.shape(rank, 9);
    let axis = this.random.below(rank);
    let elem = elem(this);
    let mut parts = Vec::new();
    for _ in 0..1 + this.random.below(4) {
        shape[axis] = this.size(9);
        parts.push(this.operand(&shape, elem));
    }
    this.program.try_op("nn.concat", &parts, &[("axis", number(this, axis as i64))])
}

fn copied_view(this: &mut Anywhere) -> Option<Value> {
    let rank = 1 + this.random.below(4);
    let shape = this.shape(rank, 9);
    let elem = elem(this);
    Some(this.operand(&shape, elem))
}
