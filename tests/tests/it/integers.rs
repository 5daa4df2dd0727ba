//! Programs with products of 8-bit integers, as in quantized networks.
//!
//! Quantized contractions are exact to the bit, with any rescaling of the sums: machine code computes the
//! meaning of the planned program, which algebra may round in another way than the written one. Float
//! operations around DequantizeLinear and QuantizeLinear become quantized contractions. Their sums are more
//! exact than those of floats, so bytes may differ by one.

use std::fmt::Write;
use std::sync::Arc;

use codegen::Cpu;
use ir::plan::attrs;
use ir::{Context, Module};
use kernels::Isa;
use optc::{Array, CompileOptions, DeadMemory, Goal};
use tests::programs::{array, execute, floats, interpret};
use tests::random::Random;

/// A program as text.
struct Net {
    text: String,
    steps: usize,
}

/// A value of a program: its name, its sizes, and the type of its elements.
#[derive(Clone)]
struct Named {
    name: String,
    shape: Vec<u64>,
    elem: &'static str,
}

impl Named {
    fn ty(&self) -> String {
        let sizes: String = self.shape.iter().map(|size| format!("{size}x")).collect();
        format!("tensor<{sizes}{}>", self.elem)
    }
}

const BYTES: [&str; 2] = ["ui8", "i8"];

impl Net {
    fn new() -> Net {
        Net { text: String::new(), steps: 0 }
    }

    /// Adds an operation.
    fn op(
        &mut self,
        name: &str,
        operands: &[&Named],
        attrs: &str,
        shape: &[u64],
        elem: &'static str,
    ) -> Named {
        let made = Named { name: format!("%v{}", self.steps), shape: shape.to_vec(), elem };
        self.steps += 1;
        let names: Vec<&str> = operands.iter().map(|operand| operand.name.as_str()).collect();
        let types: Vec<String> = operands.iter().map(|operand| operand.ty()).collect();
        let (names, types) = (names.join(", "), types.join(", "));
        writeln!(self.text, "  {} = {name} {names} {{{attrs}}} : ({types}) -> {}", made.name, made.ty())
            .expect("a string takes all text");
        made
    }

    /// Adds an elementwise operation with the type of the first operand.
    fn like(&mut self, name: &str, operands: &[&Named]) -> Named {
        let first = operands[0].clone();
        self.op(name, operands, "", &first.shape, first.elem)
    }

    /// Adds a constant.
    fn constant(&mut self, shape: &[u64], elem: &'static str, mut number: impl FnMut() -> String) -> Named {
        let count = shape.iter().product::<u64>();
        let mut text: Vec<String> = (0..count).map(|_| number()).collect();
        for size in shape.iter().rev() {
            text = text.chunks((*size).max(1) as usize).map(|row| format!("[{}]", row.join(", "))).collect();
        }
        let made = Named { name: format!("%v{}", self.steps), shape: shape.to_vec(), elem };
        self.steps += 1;
        writeln!(self.text, "  {} = nn.constant dense<{}> : {}", made.name, text[0], made.ty())
            .expect("a string takes all text");
        made
    }

    fn number(&mut self, number: f64) -> Named {
        self.constant(&[], "f32", || format!("{number:.9}"))
    }

    /// A constant of bytes; the ends of the range are frequent.
    fn bytes(&mut self, random: &mut Random, shape: &[u64], elem: &'static str) -> Named {
        let least = if elem == "i8" { -128 } else { 0 };
        let ends = random.below(4) == 0;
        self.constant(shape, elem, || {
            let byte = match random.below(4) {
                0 => [0, 255][random.below(2)],
                _ if ends => 255,
                _ => random.below(256) as i64,
            };
            (byte + least).to_string()
        })
    }

    fn cast(&mut self, value: &Named, elem: &'static str) -> Named {
        self.op("nn.cast", &[value], &format!("to = {elem}"), &value.shape, elem)
    }

    /// Bytes from floats between -1 and 1.
    fn quantized(&mut self, x: &Named, elem: &'static str) -> Named {
        let (scale, zero) = (self.number(140.0), self.number(if elem == "i8" { 0.0 } else { 128.0 }));
        let scaled = self.like("nn.mul", &[x, &scale]);
        let moved = self.like("nn.add", &[&scaled, &zero]);
        let rounded = self.like("nn.round", &[&moved]);
        self.cast(&rounded, elem)
    }

    /// DequantizeLinear of bytes.
    fn dequantized(&mut self, bytes: &Named, zero: Option<&Named>, scale: &Named) -> Named {
        let mut value = self.cast(bytes, "f32");
        if let Some(zero) = zero {
            let zero = self.cast(zero, "f32");
            value = self.like("nn.sub", &[&value, &zero]);
        }
        self.like("nn.mul", &[&value, scale])
    }
}

/// A contraction of a program.
struct Contraction {
    x: Named,
    w: Named,
    attrs: String,
    result: Vec<u64>,
    channels: u64,
    /// Axes after that of the channels.
    after: usize,
    is_product: bool,
}

impl Contraction {
    fn name(&self, prefix: &str) -> String {
        format!("nn.{prefix}{}", if self.is_product { "matmul" } else { "conv2d" })
    }

    /// The shape of a value with one number for each channel.
    fn per_channel(&self) -> Vec<u64> {
        [vec![self.channels], vec![1; self.after]].concat()
    }
}

/// A product or a convolution of bytes quantized from the argument `%x`; returns that argument's sizes.
fn contraction(net: &mut Net, random: &mut Random) -> (Contraction, Vec<u64>) {
    let [x_elem, w_elem] = [BYTES[random.below(2)], BYTES[random.below(2)]];
    let mut size = |most: usize| 1 + random.below(most) as u64;
    let is_product = size(2) == 1;
    let [shape, weights, result];
    let channels;
    let mut attrs = String::new();
    if is_product {
        let [rows, depth, columns, batch] = [size(40), size(90), size(50), size(3)];
        shape = if batch > 1 { vec![batch, rows, depth] } else { vec![rows, depth] };
        result = [&shape[..shape.len() - 1], &[columns]].concat();
        let is_turned = size(2) == 1;
        weights = if is_turned { vec![columns, depth] } else { vec![depth, columns] };
        attrs += if is_turned { "transpose_b" } else { "" };
        channels = columns;
    } else {
        let [n, h, w, groups] = [size(2), 4 + size(9), 4 + size(9), size(2)];
        // A group of depth one is often depthwise: the number of groups equals the number of channels, in and
        // out.
        let is_depthwise = size(4) == 1;
        let groups = if is_depthwise { 1 + size(40) } else { groups };
        let [depth, out] = if is_depthwise { [1, groups] } else { [size(20), groups * size(20)] };
        let [kh, kw, pad, stride, dilation] = [size(3), size(3), size(3) - 1, size(2), size(2)];
        let count = |size: u64, kernel: u64| (size + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1;
        shape = vec![n, groups * depth, h, w];
        weights = vec![out, depth, kh, kw];
        result = vec![n, out, count(h, kh), count(w, kw)];
        attrs += &format!(
            "groups = {groups} : i64, pads = array<i64: {pad}, {pad}, {pad}, {pad}>, \
             strides = array<i64: {stride}, {stride}>, dilations = array<i64: {dilation}, {dilation}>"
        );
        channels = out;
    }
    let argument = Named { name: "%x".to_owned(), shape: shape.clone(), elem: "f32" };
    let x = net.quantized(&argument, x_elem);
    let w = net.bytes(random, &weights, w_elem);
    let after = if is_product { 0 } else { 2 };
    (Contraction { x, w, attrs, result, channels, after, is_product }, shape)
}

/// A step on a sum, and its position after a residual was added.
fn step(
    net: &mut Net,
    random: &mut Random,
    made: &Contraction,
    value: &Named,
    residual: &mut Option<Named>,
) -> Named {
    let shape = if random.below(2) == 0 { vec![] } else { made.per_channel() };
    let which = random.below(9);
    let choice = random.below(4);
    let mut numbers = |net: &mut Net, scale: f32| {
        net.constant(&shape, "f32", || format!("{:.9}", (random.float() + 1.5) * scale))
    };
    match which {
        0 | 1 => {
            let factor = numbers(net, 0.01);
            net.like("nn.mul", &[value, &factor])
        }
        2 => {
            let added = numbers(net, 9.0);
            net.like("nn.add", &[value, &added])
        }
        3 => {
            let divisor = numbers(net, 3.0);
            net.like("nn.div", &[value, &divisor])
        }
        4 => {
            let less = numbers(net, 9.0);
            net.like("nn.sub", &[value, &less])
        }
        5 => net.like(["nn.relu", "nn.gelu", "nn.sigmoid", "nn.round"][choice], &[value]),
        6 => {
            let bytes = net.cast(value, BYTES[choice % 2]);
            net.cast(&bytes, "f32")
        }
        7 if residual.is_some() => {
            let residual = residual.take().expect("it is there");
            net.like("nn.add", &[value, &residual])
        }
        _ => net.op("nn.clip", &[value], "lo = -7.0 : f32, hi = 90.0 : f32", &value.shape, "f32"),
    }
}

/// A program with a quantized contraction, and the sizes of its argument.
fn quantized_program(random: &mut Random) -> (String, Vec<u64>) {
    let net = &mut Net::new();
    let (made, shape) = contraction(net, random);
    let x_zero = net.bytes(random, &[], made.x.elem);
    let zeros = if random.below(2) == 0 { vec![] } else { vec![made.channels] };
    let w_zero = net.bytes(random, &zeros, made.w.elem);
    let operands = [&made.x, &made.w, &x_zero, &w_zero];
    let mut value = net.op(&made.name("quantized_"), &operands, &made.attrs, &made.result, "i32");
    if random.below(8) > 0 {
        value = net.cast(&value, "f32");
        let scale = net.number(0.0005);
        value = net.like("nn.mul", &[&value, &scale]);
        let mut residual = residual(net, random, &made);
        for _ in 0..random.below(9) {
            value = step(net, random, &made, &value, &mut residual);
        }
        if random.below(2) == 0 {
            value = net.cast(&value, BYTES[random.below(2)]);
        }
    }
    (finished(net, &shape, &value), shape)
}

/// The value added to the sums: floats, or dequantized bytes.
fn residual(net: &mut Net, random: &mut Random, made: &Contraction) -> Option<Named> {
    let count = made.result.iter().product::<u64>();
    if count > 3000 {
        return None;
    }
    if random.below(3) == 0 {
        return Some(net.constant(&made.result, "f32", || format!("{:.9}", random.float())));
    }
    // Bytes that are not weights.
    let number = net.number(0.0);
    let argument = Named { name: "%y".to_owned(), shape: made.result.clone(), elem: "f32" };
    let moved = net.like("nn.add", &[&argument, &number]);
    let bytes = net.quantized(&moved, BYTES[random.below(2)]);
    let zero = net.bytes(random, &[], bytes.elem);
    let scale = net.number(0.03);
    let zero = (random.below(2) == 0).then_some(zero);
    Some(net.dequantized(&bytes, zero.as_ref(), &scale))
}

/// The whole text; a second argument has the size of the result.
fn finished(net: &Net, shape: &[u64], value: &Named) -> String {
    let x = Named { name: String::new(), shape: shape.to_vec(), elem: "f32" };
    let y = Named { name: String::new(), shape: value.shape.clone(), elem: "f32" };
    let (x, y, to) = (x.ty(), y.ty(), value.ty());
    format!("func.func @main(%x: {x}, %y: {y}) -> {to} {{\n{}  return {} : {to}\n}}", net.text, value.name)
}

fn parse(text: &str) -> Module {
    let ctx = Arc::new(Context::new());
    let module = ir::text::parse(&ctx, "net.mlir", text.to_owned());
    module.unwrap_or_else(|faults| panic!("{text}\n{}", faults[0].render(&ctx)))
}

/// The arguments of a program: floats for its own, and for the residual.
fn arguments(module: &Module, random: &mut Random) -> Vec<Array> {
    let body = module.function("main").expect("it is called so");
    let block = body.entry(body.root()).expect("it has a body");
    let shapes = body.args(block).iter().map(|arg| module.ctx.static_shape(body.ty(*arg)));
    let shapes: Vec<Vec<u64>> = shapes.map(|shape| shape.expect("sizes are known")).collect();
    shapes.iter().map(|shape| array("x", shape, &random.floats(shape.iter().product()))).collect()
}

/// The planned program, and its results in machine code.
fn run(text: &str, inputs: &[Array], options: &CompileOptions) -> (Module, Array) {
    let mut module = parse(text);
    let outputs = execute(&mut module, inputs, options);
    let mut outputs = outputs.unwrap_or_else(|failure| panic!("{text}\n{failure}"));
    (module, outputs.remove(0))
}

/// Whether two results differ only by rounding: bytes by one at most.
fn is_near(found: &Array, expected: &Array) -> bool {
    if found.element != runtime::ElementKind::F32 {
        let pairs = found.bytes.iter().zip(&expected.bytes);
        let most = pairs.map(|(found, expected)| found.abs_diff(*expected)).max().unwrap_or(0);
        // Signed bytes of different signs, and words, must be equal.
        return most <= 1 || found.bytes == expected.bytes;
    }
    let pairs = floats(found).into_iter().zip(floats(expected));
    let largest =
        floats(expected).into_iter().filter(|x| x.is_finite()).fold(1.0, |most, x| x.abs().max(most));
    // A number next to a tie may be rounded to either side.
    pairs.into_iter().all(|(found, expected)| {
        found.to_bits() == expected.to_bits() || (found - expected).abs() <= 1.01f32.max(1e-5 * largest)
    })
}

#[test]
fn quantized_contractions_are_computed_to_the_bit() {
    let (mut groups, mut rounds) = (0, 0);
    for seed in 0..60 {
        let random = &mut Random::new(seed);
        let (text, _) = quantized_program(random);
        let module = parse(&text);
        let inputs = arguments(&module, random);
        let expected = &interpret(&module, &inputs)[0];
        for (isa, threads) in Isa::available().into_iter().flat_map(|isa| [(isa, 1), (isa, 3)]) {
            let goal = [Goal::Balanced, Goal::Memory][seed as usize % 2];
            let options = CompileOptions {
                cpu: *Cpu::level(isa),
                threads,
                goal,
                dead: DeadMemory::Poisoned,
                ..CompileOptions::default()
            };
            let (module, found) = run(&text, &inputs, &options);
            let planned = ir::text::print(&module);
            let meant = &interpret(&module, &inputs)[0];
            assert!(found.bytes == meant.bytes, "seed {seed} on {isa:?} x {threads}: {text}\n{planned}");
            assert!(is_near(&found, expected), "seed {seed}: the passes changed it: {text}\n{planned}");
            groups += planned.matches("{mem.kernel = \"quantized_").count();
            rounds += 1;
        }
    }
    assert!(groups * 2 > rounds, "{groups} groups around a quantized contraction in {rounds} programs");
}

/// A layer in exporters' form: DequantizeLinear, a contraction with bias, an activation, QuantizeLinear, and
/// perhaps a residual.
fn exported_program(random: &mut Random) -> String {
    let net = &mut Net::new();
    let (made, shape) = contraction(net, random);
    let x_zero = net.bytes(random, &[], made.x.elem);
    let x_scale = net.number(0.01);
    let x = net.dequantized(&made.x, Some(&x_zero), &x_scale);
    let is_of_channels = random.below(2) == 0;
    let along = match made.is_product {
        true if made.attrs.is_empty() => vec![1, made.channels],
        true => vec![made.channels, 1],
        false => vec![made.channels, 1, 1, 1],
    };
    let scale_shape = if is_of_channels { along } else { vec![] };
    let w_scale = net.constant(&scale_shape, "f32", || format!("{:.9}", (random.float() + 1.5) * 0.004));
    let w = net.dequantized(&made.w, None, &w_scale);
    let bias = net.constant(&[made.channels], "f32", || format!("{:.9}", random.float()));
    let mut operands = vec![&x, &w];
    operands.extend((random.below(2) == 0).then_some(&bias));
    let mut value = net.op(&made.name(""), &operands, &made.attrs, &made.result, "f32");
    if random.below(2) == 0 {
        value = net.like("nn.relu", &[&value]);
    }
    value = quantize(net, &value, 30.0);
    if let Some(residual) = residual(net, random, &made) {
        let zero = net.constant(&[], "ui8", || "30".to_owned());
        let scale = net.number(0.05);
        let back = net.dequantized(&value, Some(&zero), &scale);
        value = net.like("nn.add", &[&back, &residual]);
        value = quantize(net, &value, 90.0);
    }
    finished(net, &shape, &value)
}

/// x * sigmoid(x) of bytes in exporters' form: the sigmoid is quantized before the product.
fn quantized_silu(net: &mut Net, random: &mut Random, bytes: &Named) -> Named {
    let scale = net.number(0.04);
    let zero = net.bytes(random, &[], "ui8");
    let x = net.dequantized(bytes, Some(&zero), &scale);
    let sigmoid = net.like("nn.sigmoid", &[&x]);
    let sigmoid = quantize(net, &sigmoid, 3.0);
    let factor = net.dequantized(&sigmoid, None, &scale);
    let product = net.like("nn.mul", &[&x, &factor]);
    quantize(net, &product, 20.0)
}

/// QuantizeLinear to `ui8`.
fn quantize(net: &mut Net, value: &Named, zero: f64) -> Named {
    let (scale, zero) = (net.number(0.05), net.number(zero));
    let quotient = net.like("nn.div", &[value, &scale]);
    let rounded = net.like("nn.round", &[&quotient]);
    let moved = net.like("nn.add", &[&rounded, &zero]);
    let cut = net.op("nn.clip", &[&moved], "lo = 0.0 : f32, hi = 255.0 : f32", &value.shape, "f32");
    net.cast(&cut, "ui8")
}

#[test]
fn layers_of_dequantized_numbers_multiply_integers_and_differ_by_one_at_most() {
    let (mut products, mut apart, mut bytes) = (0, 0, 0);
    for seed in 0..60 {
        let random = &mut Random::new(seed);
        let text = exported_program(random);
        let module = parse(&text);
        let inputs = arguments(&module, random);
        let expected = &interpret(&module, &inputs)[0];
        let options = CompileOptions { threads: 2, dead: DeadMemory::Poisoned, ..CompileOptions::default() };
        let (module, found) = run(&text, &inputs, &options);
        let planned = ir::text::print(&module);
        products += planned.matches("nn.quantized_").count();
        let pairs = found.bytes.iter().zip(&expected.bytes);
        let most = pairs.clone().map(|(found, expected)| found.abs_diff(*expected)).max();
        assert!(most <= Some(1), "seed {seed}: {most:?} apart: {text}\n{planned}");
        apart += pairs.filter(|(found, expected)| found != expected).count();
        bytes += expected.bytes.len();
    }
    assert!(products > 40, "{products} contractions of 60 multiply integers");
    assert!(apart * 500 < bytes, "{apart} of {bytes} bytes differ");
}

/// Images of bytes that are dequantized; elements are selected from them, perhaps concatenated, and quantized
/// again.
fn moved_program(random: &mut Random) -> String {
    let net = &mut Net::new();
    let mut size = |most: usize| 1 + random.below(most) as u64;
    let shape = [size(2), size(30), 3 + size(9), 3 + size(9)];
    let argument = Named { name: "%x".to_owned(), shape: shape.to_vec(), elem: "f32" };
    let mut parts = Vec::new();
    let selection = random.below(3);
    let [kernel, stride, pad, dilation] = [3, 2, 3, 2].map(|most| 1 + random.below(most) as u64);
    let pad = pad - 1;
    for _ in 0..1 + random.below(3) {
        let bytes = net.quantized(&argument, BYTES[random.below(2)]);
        let zero = net.bytes(random, &[], bytes.elem);
        let scale = net.number(if random.below(6) == 0 { -0.02 } else { 0.02 });
        let zero = (random.below(3) > 0).then_some(&zero);
        let part = net.dequantized(&bytes, zero, &scale);
        parts.push(match selection {
            0 => {
                let index = net.constant(&[], "i64", || random.below(shape[1] as usize).to_string());
                net.op(
                    "nn.gather",
                    &[&part, &index],
                    "axis = 1 : i64",
                    &[shape[0], shape[2], shape[3]],
                    "f32",
                )
            }
            1 => {
                let count = |size: u64| (size + 2 * pad).checked_sub(dilation * (kernel - 1) + 1);
                let [Some(rows), Some(columns)] = [count(shape[2]), count(shape[3])] else {
                    parts.push(part);
                    continue;
                };
                let sizes = [shape[0], shape[1], rows / stride + 1, columns / stride + 1];
                let attrs = format!(
                    "kernel = array<i64: {kernel}, {kernel}>, pads = array<i64: {pad}, {pad}, {pad}, {pad}>, \
                     strides = array<i64: {stride}, {stride}>, dilations = array<i64: {dilation}, {dilation}>"
                );
                net.op("nn.max_pool2d", &[&part], &attrs, &sizes, "f32")
            }
            _ => part,
        });
    }
    let mut whole = parts[0].clone();
    if parts.len() > 1 {
        let axis = 1.min(whole.shape.len() - 1);
        let mut sizes = whole.shape.clone();
        sizes[axis] = parts.iter().map(|part| part.shape[axis]).sum();
        let operands: Vec<&Named> = parts.iter().collect();
        whole = net.op("nn.concat", &operands, &format!("axis = {axis} : i64"), &sizes, "f32");
    }
    let mut value = if random.below(4) > 0 { quantize(net, &whole, 30.0) } else { whole };
    if value.elem == "ui8" && random.below(2) == 0 {
        value = quantized_silu(net, random, &value);
    }
    finished(net, &shape, &value)
}

#[test]
fn what_is_selected_and_concatenated_as_bytes_is_the_same_to_the_bit() {
    let (mut pools, mut gathers, mut concatenations) = (0, 0, 0);
    for seed in 0..150 {
        let random = &mut Random::new(seed);
        let text = moved_program(random);
        let module = parse(&text);
        let inputs = arguments(&module, random);
        let expected = &interpret(&module, &inputs)[0];
        for (isa, threads) in Isa::available().into_iter().flat_map(|isa| [(isa, 1), (isa, 3)]) {
            let cpu = *Cpu::level(isa);
            let options =
                CompileOptions { cpu, threads, dead: DeadMemory::Poisoned, ..CompileOptions::default() };
            let (module, found) = run(&text, &inputs, &options);
            let planned = ir::text::print(&module);
            assert!(found.bytes == expected.bytes, "seed {seed} on {isa:?} x {threads}: {text}\n{planned}");
            let of_bytes = |name: &str| {
                let lines = planned.lines().filter(|line| line.contains(name));
                lines.filter(|line| line.ends_with("i8>") || line.contains("i8>) -> ")).count()
            };
            pools += of_bytes("nn.max_pool2d");
            gathers += of_bytes("nn.gather");
            concatenations += of_bytes("nn.concat");
        }
    }
    let counts = [pools, gathers, concatenations];
    assert!(counts.iter().all(|count| *count > 60), "{counts:?} of bytes");
}

/// The sum of two products with biases: with one row, each addend looks like a number for each column.
const NAMED: &str =
    "func.func @main(%a: tensor<?x16xf32, #optc.dims<N>>) -> tensor<?x16xf32, #optc.dims<N>> {
  %w = nn.constant dense<3> : tensor<16x16xi8>
  %u = nn.constant dense<5> : tensor<16x16xi8>
  %s = nn.constant dense<0.1> : tensor<f32>
  %h = nn.constant dense<100.0> : tensor<f32>
  %b = nn.constant dense<0.5> : tensor<1x16xf32>
  %y = nn.mul %a, %h : (tensor<?x16xf32, #optc.dims<N>>, tensor<f32>) -> tensor<?x16xf32, #optc.dims<N>>
  %x = nn.cast %y {to = i8} : (tensor<?x16xf32, #optc.dims<N>>) -> tensor<?x16xi8, #optc.dims<N>>
  %0 = nn.cast %x {to = f32} : (tensor<?x16xi8, #optc.dims<N>>) -> tensor<?x16xf32, #optc.dims<N>>
  %1 = nn.mul %0, %s : (tensor<?x16xf32, #optc.dims<N>>, tensor<f32>) -> tensor<?x16xf32, #optc.dims<N>>
  %2 = nn.cast %w {to = f32} : (tensor<16x16xi8>) -> tensor<16x16xf32>
  %3 = nn.mul %2, %s : (tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
  %4 = nn.cast %u {to = f32} : (tensor<16x16xi8>) -> tensor<16x16xf32>
  %5 = nn.mul %4, %s : (tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
  %6 = nn.matmul %1, %3 :
    (tensor<?x16xf32, #optc.dims<N>>, tensor<16x16xf32>) -> tensor<?x16xf32, #optc.dims<N>>
  %7 = nn.add %6, %b : (tensor<?x16xf32, #optc.dims<N>>, tensor<1x16xf32>) -> tensor<?x16xf32, #optc.dims<N>>
  %8 = nn.matmul %1, %5 :
    (tensor<?x16xf32, #optc.dims<N>>, tensor<16x16xf32>) -> tensor<?x16xf32, #optc.dims<N>>
  %9 = nn.add %8, %b : (tensor<?x16xf32, #optc.dims<N>>, tensor<1x16xf32>) -> tensor<?x16xf32, #optc.dims<N>>
  %10 = nn.add %7, %9 : tensor<?x16xf32, #optc.dims<N>>
  return %10 : tensor<?x16xf32, #optc.dims<N>>
}";

#[test]
fn what_is_fused_at_named_sizes_runs_at_each() {
    let options = CompileOptions { threads: 2, dead: DeadMemory::Poisoned, ..CompileOptions::default() };
    let mut module = parse(NAMED);
    let mut model = optc::Model::compile(&mut module, &options).unwrap_or_else(|failure| panic!("{failure}"));
    let planned = ir::text::print(&module);
    assert_eq!(planned.matches("nn.quantized_matmul").count(), 2, "{planned}");
    // The bytes are computed, and both biases and the sum are in the groups of the products.
    assert_eq!(planned.matches("\n    %").count(), planned.matches("nn.constant").count() + 3, "{planned}");
    assert!(planned.contains(attrs::MEM_TIE), "the sum overwrites what it adds: {planned}");
    for rows in [1, 2, 1, 7, 30] {
        let input = array("a", &[rows, 16], &Random::new(rows).floats(rows * 16));
        let found = model.run(std::slice::from_ref(&input)).unwrap_or_else(|failure| panic!("{failure}"));
        let sized = parse(&NAMED.replace(", #optc.dims<N>", "").replace('?', &rows.to_string()));
        let expected = &interpret(&sized, std::slice::from_ref(&input))[0];
        let pairs = floats(&found[0]).into_iter().zip(floats(expected));
        assert!(pairs.into_iter().all(|(found, expected)| (found - expected).abs() < 1e-3), "{rows} rows");
    }
}

#[test]
fn a_long_chain_that_ends_with_bytes_is_not_followed_to_its_beginning() {
    let mut text = "func.func @main(%v0: tensor<8xf32>) -> tensor<8xui8> {\n".to_owned();
    let steps = 20_000;
    for step in 1..=steps {
        writeln!(text, "  %v{step} = nn.sinh %v{} : tensor<8xf32>", step - 1)
            .expect("a string takes all text");
    }
    text += &format!("  %b = nn.cast %v{steps} {{to = ui8}} : (tensor<8xf32>) -> tensor<8xui8>\n");
    text += "  return %b : tensor<8xui8>\n}";
    let mut module = parse(&text);
    let function = module.functions().next().expect("there is one").0;
    let ctx = module.ctx.clone();
    let body = module.body_mut().child_mut(function).expect("it has a body");
    let made = passes::integers::multiply_integers(&ctx, body, &passes::manager::Changes::unlimited());
    assert_eq!(made, passes::integers::Rewritten::default());
}
