//! Programs that multiply and store `bf16`: a run has the results of the rounded program.
//!
//! Roundings are operations of the planned program, so the interpreter is the oracle. Sums in another order
//! may round to the neighbour, and later steps may amplify this, so results may differ by a few of the last
//! digits of `bf16`. Storage types and overwritten operands change no bit.

use std::fmt::Write;
use std::sync::Arc;

use codegen::{Cpu, Isa, PairUnit};
use ir::plan::attrs;
use ir::{Context, Module};
use optc::{Array, CompileOptions, DeadMemory, Goal, Precision};
use tests::programs::{array, execute, floats, interpret};
use tests::random::Random;

/// Random programs that are run.
const PROGRAMS: u64 = 10;

/// A program of steps over an image, as text.
struct Net {
    text: String,
    shape: [u64; 4],
    value: String,
    steps: usize,
    /// A value to be added later, with its shape.
    kept: (String, [u64; 4]),
}

impl Net {
    fn new(random: &mut Random) -> Net {
        let shape = [1, 7 + random.below(9) as u64, 7 + random.below(9) as u64, 16 + random.below(30) as u64];
        let value = "%x".to_owned();
        Net { text: String::new(), shape, kept: (value.clone(), shape), value, steps: 0 }
    }

    fn ty(shape: [u64; 4]) -> String {
        let [n, h, w, c] = shape;
        format!("tensor<{n}x{h}x{w}x{c}xf32>")
    }

    /// Adds a step: the name of its operation, further operands, attributes, their types, and its shape.
    fn push(&mut self, op: &str, more: &str, attrs: &str, types: &str, shape: [u64; 4]) {
        let value = format!("%v{}", self.steps);
        let from = Net::ty(self.shape);
        let to = Net::ty(shape);
        let operands = format!("{}{more}", self.value);
        writeln!(self.text, "{value} = {op} {operands} {{{attrs}}} : ({from}{types}) -> {to}")
            .expect("a string takes all text");
        (self.value, self.shape) = (value, shape);
        self.steps += 1;
    }

    fn convolve(&mut self, random: &mut Random) {
        let size = 1 + 2 * random.below(2) as u64;
        let [n, h, w, channels] = self.shape;
        let is_depthwise = random.below(5) == 0;
        let out = if is_depthwise { channels } else { 8 + random.below(60) as u64 };
        let (groups, depth) = if is_depthwise { (channels, 1) } else { (1, channels) };
        let weights = format!("tensor<{out}x{depth}x{size}x{size}xf32>");
        let name = format!("%w{}", self.steps);
        let number = 0.3 / (depth * size) as f64;
        writeln!(self.text, "{name} = nn.constant dense<{number}> : {weights}").expect("a string takes text");
        let pad = size / 2;
        let attrs = format!(
            "groups = {groups} : i64, layout = \"NHWC\", pads = array<i64: {pad}, {pad}, {pad}, {pad}>"
        );
        self.push("nn.conv2d", &format!(", {name}"), &attrs, &format!(", {weights}"), [n, h, w, out]);
    }

    fn step(&mut self, random: &mut Random) {
        let [n, h, w, channels] = self.shape;
        match random.below(9) {
            0 => self.push("nn.relu", "", "", "", self.shape),
            1 => self.push("nn.silu", "", "", "", self.shape),
            2 if h > 2 && w > 2 => {
                let attrs = "kernel = array<i64: 2, 2>, layout = \"NHWC\", strides = array<i64: 2, 2>";
                self.push("nn.max_pool2d", "", attrs, "", [n, h / 2, w / 2, channels]);
            }
            3 if self.kept.1 == self.shape => {
                let kept = self.kept.0.clone();
                self.push(
                    "nn.add",
                    &format!(", {kept}"),
                    "",
                    &format!(", {}", Net::ty(self.shape)),
                    self.shape,
                );
            }
            4 => self.push("nn.softmax", "", "axis = 3 : i64", "", self.shape),
            5 => self.kept = (self.value.clone(), self.shape),
            _ => self.convolve(random),
        }
    }

    fn finish(self, input: [u64; 4]) -> String {
        let (from, to) = (Net::ty(input), Net::ty(self.shape));
        let Net { text, value, .. } = self;
        format!("func.func @main(%x: {from}) -> {to} {{\n{text}return {value} : {to}\n}}")
    }
}

fn net(random: &mut Random) -> (String, [u64; 4]) {
    let mut net = Net::new(random);
    let input = net.shape;
    net.convolve(random);
    for _ in 0..3 + random.below(7) {
        net.step(random);
    }
    net.convolve(random);
    (net.finish(input), input)
}

fn parse(text: &str) -> Module {
    let ctx = Arc::new(Context::new());
    let module = ir::text::parse(&ctx, "net.mlir", text.to_owned());
    module.unwrap_or_else(|faults| panic!("{text}\n{}", faults[0].render(&ctx)))
}

fn run(text: &str, input: &Array, options: &CompileOptions) -> (Module, Array) {
    let mut module = parse(text);
    let outputs = execute(&mut module, std::slice::from_ref(input), options);
    let mut outputs = outputs.unwrap_or_else(|failure| panic!("{text}\n{failure}"));
    (module, outputs.remove(0))
}

fn printed(module: &Module) -> String {
    ir::text::print(module)
}

/// The largest difference relative to the largest number; all must be finite.
fn difference(found: &Array, expected: &Array) -> f32 {
    assert!(
        floats(found).into_iter().chain(floats(expected)).all(f32::is_finite),
        "some number is not finite"
    );
    let pairs = floats(found).into_iter().zip(floats(expected));
    let most = pairs.map(|(found, expected)| (found - expected).abs()).fold(0.0, f32::max);
    most / floats(expected).into_iter().map(f32::abs).fold(f32::MIN_POSITIVE, f32::max)
}

#[test]
fn random_nets_compute_what_their_rounded_programs_mean() {
    let mut products = 0;
    for seed in 0..PROGRAMS {
        let random = &mut Random::new(seed);
        let (text, shape) = net(random);
        let input = array("x", &shape, &random.floats(shape.iter().product()));
        for goal in [Goal::Balanced, Goal::Memory, Goal::Speed] {
            let precision = Precision::Bf16;
            let options = CompileOptions { precision, goal, threads: 1, ..CompileOptions::default() };
            let (module, expected) = run(&text, &input, &options);
            let planned = printed(&module);
            products += planned.matches("\"conv2d_bf16\"").count();
            let meant = &interpret(&module, std::slice::from_ref(&input))[0];
            let apart = difference(&expected, meant);
            assert!(apart < 0.02, "{apart} apart for {goal:?}: {planned}");
            for threads in [2, 3] {
                let options = CompileOptions { threads, dead: DeadMemory::Poisoned, ..options.clone() };
                let (module, found) = run(&text, &input, &options);
                assert!(found.bytes == expected.bytes, "{goal:?} on {threads} threads: {}", printed(&module));
            }
        }
    }
    assert!(products > 6 * PROGRAMS as usize, "{products} convolutions multiply bf16");
}

#[test]
fn winograds_algorithm_computes_what_the_rounded_program_means() {
    let ty = Net::ty([1, 44, 41, 96]);
    let mut text = format!("func.func @main(%x: {ty}) -> {ty} {{\n");
    let weights = "tensor<96x96x3x3xf32>";
    text += &format!("%w = nn.constant dense<0.0015> : {weights}\n");
    let attrs = "{layout = \"NHWC\", pads = array<i64: 1, 1, 1, 1>}";
    for (step, (to, from)) in [("%0", "%x"), ("%2", "%1"), ("%3", "%2")].into_iter().enumerate() {
        text += &format!("{to} = nn.conv2d {from}, %w {attrs} : ({ty}, {weights}) -> {ty}\n");
        if step == 0 {
            text += &format!("%1 = nn.silu %0 : {ty}\n");
        }
    }
    text += &format!("return %3 : {ty}\n}}");
    let count = 44 * 41 * 96;
    let input = array("x", &[1, 44, 41, 96], &Random::new(3).floats(count));
    let precision = Precision::Bf16;
    let mut options =
        CompileOptions { precision, goal: Goal::Speed, threads: 1, ..CompileOptions::default() };
    // Matrix tiles are faster.
    if PairUnit::available(Isa::detect()).contains(&PairUnit::Tiles) {
        options.cpu = Cpu::of(Isa::Avx2);
    }
    let (module, found) = run(&text, &input, &options);
    let planned = printed(&module);
    assert_eq!(planned.matches("mem.kernel = \"winograd\"").count(), 3, "{planned}");
    let apart = difference(&found, &interpret(&module, std::slice::from_ref(&input))[0]);
    assert!(apart < 0.01, "{apart} apart: {planned}");
    let options = CompileOptions { threads: 3, dead: DeadMemory::Poisoned, ..options };
    assert!(run(&text, &input, &options).1.bytes == found.bytes, "other bits on 3 threads");
}

/// Two layers of a perceptron, with a residual.
const LAYERS: &str = r#"func.func @main(%x: tensor<160x96xf32>) -> tensor<160x96xf32> {
  %w0 = nn.constant dense<0.011> : tensor<96x256xf32>
  %b0 = nn.constant dense<0.03> : tensor<256xf32>
  %w1 = nn.constant dense<0.007> : tensor<256x96xf32>
  %0 = nn.neg %x : tensor<160x96xf32>
  %1 = nn.matmul %0, %w0, %b0
      : (tensor<160x96xf32>, tensor<96x256xf32>, tensor<256xf32>) -> tensor<160x256xf32>
  %2 = nn.gelu %1 : tensor<160x256xf32>
  %3 = nn.matmul %2, %w1 : (tensor<160x256xf32>, tensor<256x96xf32>) -> tensor<160x96xf32>
  %4 = nn.add %3, %0 : tensor<160x96xf32>
  return %4 : tensor<160x96xf32>
}"#;

#[test]
fn values_between_products_take_less_of_the_arena() {
    let input = array("x", &[160, 96], &Random::new(1).floats(160 * 96));
    let arena = |module: &Module| {
        let body = module.function("main").expect("it is called so");
        attrs::arena_bytes(&module.ctx, body).expect("it is planned")
    };
    let of = |precision| {
        let options = CompileOptions { precision, threads: 1, ..CompileOptions::default() };
        run(LAYERS, &input, &options)
    };
    let ((whole, expected), (half, found)) = (of(Precision::F32), of(Precision::Bf16));
    assert!(printed(&half).contains("mem.kernel = \"gemm_bf16\""), "{}", printed(&half));
    assert!(arena(&half) * 4 < arena(&whole) * 3, "{} and {} bytes", arena(&half), arena(&whole));
    let apart = difference(&found, &expected);
    assert!(apart < 0.01 && apart > 0.0, "{apart} apart");
    assert!(difference(&found, &interpret(&half, std::slice::from_ref(&input))[0]) < 0.005);
}

/// Programs that compute a kernel's operands with one number for each channel: a bias, a scale and a shift
/// before a convolution, the factors of normalizations. They are large enough to be stored as `bf16`.
const PER_CHANNEL: [(&str, &str); 5] = [
    (
        "the bias of a product",
        r#"%1 = nn.reshape %x {shape = array<i64: 48, 256>} : (tensor<1x6x8x256xf32>) -> tensor<48x256xf32>
  %2 = nn.matmul %1, %square, %c
      : (tensor<48x256xf32>, tensor<256x256xf32>, tensor<256xf32>) -> tensor<48x256xf32>
  %y = nn.reshape %2 {shape = array<i64: 1, 6, 8, 256>} : (tensor<48x256xf32>) -> tensor<1x6x8x256xf32>"#,
    ),
    (
        "the bias of a convolution",
        r#"%1 = nn.conv2d %x, %w {layout = "NHWC"}
      : (tensor<1x6x8x256xf32>, tensor<256x256x1x1xf32>) -> tensor<1x6x8x256xf32>
  %y = nn.add %1, %c : (tensor<1x6x8x256xf32>, tensor<256xf32>) -> tensor<1x6x8x256xf32>"#,
    ),
    (
        "what a convolution scales and shifts by",
        r#"%1 = nn.mul %x, %c : (tensor<1x6x8x256xf32>, tensor<256xf32>) -> tensor<1x6x8x256xf32>
  %2 = nn.add %1, %c : (tensor<1x6x8x256xf32>, tensor<256xf32>) -> tensor<1x6x8x256xf32>
  %3 = nn.relu %2 : tensor<1x6x8x256xf32>
  %y = nn.conv2d %3, %w {layout = "NHWC"}
      : (tensor<1x6x8x256xf32>, tensor<256x256x1x1xf32>) -> tensor<1x6x8x256xf32>"#,
    ),
    (
        "the factors of rows that are normalised",
        r#"%1 = nn.group_norm %x, %c, %c {axis = 3 : i64, axes = array<i64>, groups = 1 : i64}
      : (tensor<1x6x8x256xf32>, tensor<256xf32>, tensor<256xf32>) -> tensor<1x6x8x256xf32>
  %y = nn.conv2d %1, %w {layout = "NHWC"}
      : (tensor<1x6x8x256xf32>, tensor<256x256x1x1xf32>) -> tensor<1x6x8x256xf32>"#,
    ),
    (
        "the factors of groups that are normalised",
        r#"%1 = nn.group_norm %x, %c, %c {axis = 3 : i64, axes = array<i64: 1, 2>, groups = 32 : i64}
      : (tensor<1x6x8x256xf32>, tensor<256xf32>, tensor<256xf32>) -> tensor<1x6x8x256xf32>
  %y = nn.conv2d %1, %w {layout = "NHWC"}
      : (tensor<1x6x8x256xf32>, tensor<256x256x1x1xf32>) -> tensor<1x6x8x256xf32>"#,
    ),
];

#[test]
fn what_a_kernel_reads_for_each_channel_may_be_computed() {
    let ty = Net::ty([1, 6, 8, 256]);
    let input = array("x", &[1, 6, 8, 256], &Random::new(5).floats(6 * 8 * 256));
    for (what, steps) in PER_CHANNEL {
        let text = format!(
            r#"func.func @main(%arg: {ty}) -> {ty} {{
  %w = nn.constant dense<0.004> : tensor<256x256x1x1xf32>
  %square = nn.constant dense<0.004> : tensor<256x256xf32>
  %most = nn.reduce_max %arg {{axes = array<i64: 0, 1, 2>}} : ({ty}) -> tensor<256xf32>
  %c = nn.tanh %most : tensor<256xf32>
  %0 = nn.conv2d %arg, %w {{layout = "NHWC"}} : ({ty}, tensor<256x256x1x1xf32>) -> {ty}
  %x = nn.silu %0 : {ty}
  {steps}
  %z = nn.silu %y : {ty}
  %last = nn.conv2d %z, %w {{layout = "NHWC"}} : ({ty}, tensor<256x256x1x1xf32>) -> {ty}
  return %last : {ty}
}}"#
        );
        let options = CompileOptions { precision: Precision::Bf16, threads: 1, ..CompileOptions::default() };
        let (module, found) = run(&text, &input, &options);
        let apart = difference(&found, &interpret(&module, std::slice::from_ref(&input))[0]);
        assert!(apart < 0.02, "{what}: {apart} apart: {}", printed(&module));
        assert!(printed(&module).contains("xbf16"), "{what}: nothing is stored as bf16");
    }
}

#[test]
fn a_normalisation_of_groups_reads_and_stores_bf16() {
    let ty = Net::ty([1, 20, 18, 64]);
    let text = format!(
        r#"func.func @main(%arg: {ty}) -> {ty} {{
  %w = nn.constant dense<0.02> : tensor<64x64x1x1xf32>
  %scale = nn.constant dense<0.8> : tensor<64xf32>
  %bias = nn.constant dense<0.1> : tensor<64xf32>
  %0 = nn.conv2d %arg, %w {{layout = "NHWC"}} : ({ty}, tensor<64x64x1x1xf32>) -> {ty}
  %x = nn.add %0, %arg : {ty}
  %1 = nn.group_norm %x, %scale, %bias {{axis = 3 : i64, axes = array<i64: 1, 2>, groups = 8 : i64}}
      : ({ty}, tensor<64xf32>, tensor<64xf32>) -> {ty}
  %2 = nn.silu %1 : {ty}
  %3 = nn.conv2d %2, %w {{layout = "NHWC"}} : ({ty}, tensor<64x64x1x1xf32>) -> {ty}
  return %3 : {ty}
}}"#
    );
    let input = array("x", &[1, 20, 18, 64], &Random::new(9).floats(20 * 18 * 64));
    let options = CompileOptions { precision: Precision::Bf16, threads: 1, ..CompileOptions::default() };
    let (module, found) = run(&text, &input, &options);
    let planned = printed(&module);
    let norm = planned.lines().find(|line| line.contains("\"group_norm\""));
    assert!(norm.is_some_and(|line| line.contains("1x20x18x64xbf16")), "{planned}");
    let apart = difference(&found, &interpret(&module, std::slice::from_ref(&input))[0]);
    assert!(apart < 0.01, "{apart} apart: {planned}");
    for threads in [2, 3] {
        let options = CompileOptions { threads, dead: DeadMemory::Poisoned, ..options.clone() };
        assert!(run(&text, &input, &options).1.bytes == found.bytes, "other bits on {threads} threads");
    }
}

/// Numbers as the elements of a constant.
fn dense(numbers: &[f32]) -> String {
    let bytes = numbers.iter().flat_map(|number| number.to_le_bytes());
    let digits: String = bytes.map(|byte| format!("{byte:02X}")).collect();
    format!("dense<\"0x{digits}\">")
}

#[test]
fn rows_of_an_odd_number_of_elements_are_moved_whole() {
    // Rows of 7 x 33 = 231 numbers; each iteration keeps one of them.
    let random = &mut Random::new(2);
    let wide = dense(&random.floats(33 * 17 * 9));
    let narrow = dense(&random.floats(4 * 33 * 4));
    let text = format!(
        r#"func.func @main(%x: tensor<1x64x7x17xf32>) -> tensor<1x63x6x4xf32> {{
  %a = nn.constant {wide} : tensor<33x17x3x3xf32>
  %b = nn.constant {narrow} : tensor<4x33x2x2xf32>
  %0 = nn.conv2d %x, %a {{layout = "NHWC", pads = array<i64: 1, 1, 1, 1>}}
      : (tensor<1x64x7x17xf32>, tensor<33x17x3x3xf32>) -> tensor<1x64x7x33xf32>
  %1 = nn.conv2d %0, %b {{layout = "NHWC"}}
      : (tensor<1x64x7x33xf32>, tensor<4x33x2x2xf32>) -> tensor<1x63x6x4xf32>
  return %1 : tensor<1x63x6x4xf32>
}}"#
    );
    let input = array("x", &[1, 64, 7, 17], &random.floats(64 * 7 * 17));
    for threads in [1, 2] {
        let precision = Precision::Bf16;
        let options = CompileOptions { precision, goal: Goal::Memory, threads, ..CompileOptions::default() };
        let (module, found) = run(&text, &input, &options);
        assert!(printed(&module).contains(attrs::MEM_LINES), "rows are not streamed: {}", printed(&module));
        let apart = difference(&found, &interpret(&module, std::slice::from_ref(&input))[0]);
        assert!(apart < 0.01, "{apart} apart on {threads} threads");
    }
}

#[test]
fn a_matrix_that_is_turned_between_steps_is_multiplied_for_each_goal() {
    let text = format!(
        r#"func.func @main(%x: tensor<1x54x8xf32>) -> tensor<1x8x5xf32> {{
  %m = nn.constant {} : tensor<54x5xf32>
  %t = nn.transpose %x {{permutation = array<i64: 0, 2, 1>}} : (tensor<1x54x8xf32>) -> tensor<1x8x54xf32>
  %z = nn.hard_swish %t : tensor<1x8x54xf32>
  %y = nn.matmul %z, %m : (tensor<1x8x54xf32>, tensor<54x5xf32>) -> tensor<1x8x5xf32>
  return %y : tensor<1x8x5xf32>
}}"#,
        dense(&Random::new(4).floats(54 * 5))
    );
    let input = array("x", &[1, 54, 8], &Random::new(6).floats(54 * 8));
    for goal in [Goal::Balanced, Goal::Memory, Goal::Speed] {
        for threads in [1, 2] {
            let precision = Precision::Bf16;
            let options = CompileOptions { precision, goal, threads, ..CompileOptions::default() };
            let (module, found) = run(&text, &input, &options);
            let apart = difference(&found, &interpret(&module, std::slice::from_ref(&input))[0]);
            assert!(apart < 0.01, "{apart} apart for {goal:?} on {threads} threads");
        }
    }
}

#[test]
fn sums_of_small_integers_that_become_integers_again_are_exact() {
    let text = r#"func.func @main(%x: tensor<40x100xf32>) -> tensor<40x40xf32> {
  %w = nn.constant dense<37.0> : tensor<100x40xf32>
  %0 = nn.cast %x {to = i8} : (tensor<40x100xf32>) -> tensor<40x100xi8>
  %1 = nn.cast %0 {to = f32} : (tensor<40x100xi8>) -> tensor<40x100xf32>
  %2 = nn.matmul %1, %w : (tensor<40x100xf32>, tensor<100x40xf32>) -> tensor<40x40xf32>
  %3 = nn.cast %2 {to = i32} : (tensor<40x40xf32>) -> tensor<40x40xi32>
  %4 = nn.cast %3 {to = f32} : (tensor<40x40xi32>) -> tensor<40x40xf32>
  return %4 : tensor<40x40xf32>
}"#;
    let numbers: Vec<f32> = (0..4000).map(|index| (index * 37 % 251 - 125) as f32).collect();
    let input = array("x", &[40, 100], &numbers);
    let of = |precision| run(text, &input, &CompileOptions { precision, ..CompileOptions::default() }).1;
    assert!(of(Precision::Bf16).bytes == of(Precision::F32).bytes, "sums are rounded");
}
