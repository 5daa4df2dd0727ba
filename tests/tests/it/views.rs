//! Views, paddings and residuals in place: the same bits as with copies, poisoned or not, and a smaller
//! arena.

use ir::plan::attrs;
use std::sync::Arc;

use ir::{Context, Module};
use optc::{Array, CompileOptions, DeadMemory};
use passes::manager::RunOptions;
use tests::programs::{array, execute, floats};

/// Queries, keys and values are slices of one product, and heads are transposed; a sigmoid replaces the
/// softmax of attention, so that the two products are two operations.
const HEADS: &str = "func.func @main(%x: tensor<16x96xf32>) -> tensor<16x96xf32> {
  %w = nn.constant dense<0.03> : tensor<96x288xf32>
  %o = nn.constant dense<0.5> : tensor<96x96xf32>
  %e = nn.exp %x : tensor<16x96xf32>
  %0 = nn.matmul %e, %w : (tensor<16x96xf32>, tensor<96x288xf32>) -> tensor<16x288xf32>
  %q = nn.slice %0 {starts = array<i64: 0, 0>, sizes = array<i64: 16, 96>} : (tensor<16x288xf32>) -> tensor<16x96xf32>
  %k = nn.slice %0 {starts = array<i64: 0, 96>, sizes = array<i64: 16, 96>} : (tensor<16x288xf32>) -> tensor<16x96xf32>
  %v = nn.slice %0 {starts = array<i64: 0, 192>, sizes = array<i64: 16, 96>} : (tensor<16x288xf32>) -> tensor<16x96xf32>
  %q1 = nn.reshape %q {shape = array<i64: 16, 3, 32>} : (tensor<16x96xf32>) -> tensor<16x3x32xf32>
  %k1 = nn.reshape %k {shape = array<i64: 16, 3, 32>} : (tensor<16x96xf32>) -> tensor<16x3x32xf32>
  %v1 = nn.reshape %v {shape = array<i64: 16, 3, 32>} : (tensor<16x96xf32>) -> tensor<16x3x32xf32>
  %q2 = nn.transpose %q1 {permutation = array<i64: 1, 0, 2>} : (tensor<16x3x32xf32>) -> tensor<3x16x32xf32>
  %k2 = nn.transpose %k1 {permutation = array<i64: 1, 2, 0>} : (tensor<16x3x32xf32>) -> tensor<3x32x16xf32>
  %v2 = nn.transpose %v1 {permutation = array<i64: 1, 0, 2>} : (tensor<16x3x32xf32>) -> tensor<3x16x32xf32>
  %s = nn.matmul %q2, %k2 : (tensor<3x16x32xf32>, tensor<3x32x16xf32>) -> tensor<3x16x16xf32>
  %p = nn.sigmoid %s : tensor<3x16x16xf32>
  %y = nn.matmul %p, %v2 : (tensor<3x16x16xf32>, tensor<3x16x32xf32>) -> tensor<3x16x32xf32>
  %y1 = nn.transpose %y {permutation = array<i64: 1, 0, 2>} : (tensor<3x16x32xf32>) -> tensor<16x3x32xf32>
  %y2 = nn.reshape %y1 {shape = array<i64: 16, 96>} : (tensor<16x3x32xf32>) -> tensor<16x96xf32>
  %z = nn.matmul %y2, %o : (tensor<16x96xf32>, tensor<96x96xf32>) -> tensor<16x96xf32>
  return %z : tensor<16x96xf32>
}";

/// Halves of the channels are reduced, normalized and convolved in place.
const HALVES: &str = "func.func @main(%x: tensor<1x28x26x16xf32>) -> tensor<1x28x26x2xf32> {
  %w = nn.constant dense<0.25> : tensor<16x16x1x1xf32>
  %v = nn.constant dense<0.125> : tensor<2x8x1x1xf32>
  %0 = nn.conv2d %x, %w {layout = \"NHWC\"} : (tensor<1x28x26x16xf32>, tensor<16x16x1x1xf32>) -> tensor<1x28x26x16xf32>
  %a = nn.slice %0 {starts = array<i64: 0, 0, 0, 0>, sizes = array<i64: 1, 28, 26, 8>} : (tensor<1x28x26x16xf32>) -> tensor<1x28x26x8xf32>
  %b = nn.slice %0 {starts = array<i64: 0, 0, 0, 8>, sizes = array<i64: 1, 28, 26, 8>} : (tensor<1x28x26x16xf32>) -> tensor<1x28x26x8xf32>
  %m = nn.reduce_mean %a {axes = array<i64: 1, 2>, keepdims} : (tensor<1x28x26x8xf32>) -> tensor<1x1x1x8xf32>
  %n = nn.reduce_max %b {axes = array<i64: 3>, keepdims} : (tensor<1x28x26x8xf32>) -> tensor<1x28x26x1xf32>
  %p = nn.softmax %b {axis = 3 : i64} : tensor<1x28x26x8xf32>
  %r = nn.reduce_max %p {axes = array<i64: 3>, keepdims} : (tensor<1x28x26x8xf32>) -> tensor<1x28x26x1xf32>
  %1 = nn.conv2d %a, %v {layout = \"NHWC\"} : (tensor<1x28x26x8xf32>, tensor<2x8x1x1xf32>) -> tensor<1x28x26x2xf32>
  %2 = nn.reduce_sum %m {axes = array<i64: 3>, keepdims} : (tensor<1x1x1x8xf32>) -> tensor<1x1x1x1xf32>
  %3 = nn.mul %1, %2 : (tensor<1x28x26x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x28x26x2xf32>
  %4 = nn.sub %3, %n : (tensor<1x28x26x2xf32>, tensor<1x28x26x1xf32>) -> tensor<1x28x26x2xf32>
  %5 = nn.add %4, %r : (tensor<1x28x26x2xf32>, tensor<1x28x26x1xf32>) -> tensor<1x28x26x2xf32>
  return %5 : tensor<1x28x26x2xf32>
}";

/// An image is written in the middle of a larger one with a nonzero border.
const PADDED: &str = "func.func @main(%x: tensor<1x24x24x4xf32>) -> tensor<1x13x13x8xf32> {
  %w = nn.constant dense<0.25> : tensor<8x4x1x1xf32>
  %v = nn.constant dense<0.5> : tensor<8x8x3x3xf32>
  %0 = nn.conv2d %x, %w {layout = \"NHWC\"} : (tensor<1x24x24x4xf32>, tensor<8x4x1x1xf32>) -> tensor<1x24x24x8xf32>
  %1 = nn.pad %0 {low = array<i64: 0, 1, 2, 0>, high = array<i64: 0, 2, 1, 0>, value = -3.0 : f32} : (tensor<1x24x24x8xf32>) -> tensor<1x27x27x8xf32>
  %2 = nn.conv2d %1, %v {layout = \"NHWC\", strides = array<i64: 2, 2>} : (tensor<1x27x27x8xf32>, tensor<8x8x3x3xf32>) -> tensor<1x13x13x8xf32>
  return %2 : tensor<1x13x13x8xf32>
}";

/// A convolution accumulates into its residual at its place in a concatenation.
const RESIDUAL: &str = "func.func @main(%x: tensor<1x48x48x8xf32>) -> tensor<1x48x48x4xf32> {
  %w = nn.constant dense<0.0625> : tensor<8x8x3x3xf32>
  %v = nn.constant dense<0.5> : tensor<4x16x1x1xf32>
  %0 = nn.conv2d %x, %w {layout = \"NHWC\", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x48x48x8xf32>, tensor<8x8x3x3xf32>) -> tensor<1x48x48x8xf32>
  %1 = nn.conv2d %0, %w {layout = \"NHWC\", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x48x48x8xf32>, tensor<8x8x3x3xf32>) -> tensor<1x48x48x8xf32>
  %2 = nn.conv2d %1, %w {layout = \"NHWC\", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x48x48x8xf32>, tensor<8x8x3x3xf32>) -> tensor<1x48x48x8xf32>
  %3 = nn.add %2, %0 : tensor<1x48x48x8xf32>
  %4 = nn.exp %x : tensor<1x48x48x8xf32>
  %5 = nn.concat %3, %4 {axis = 3 : i64} : (tensor<1x48x48x8xf32>, tensor<1x48x48x8xf32>) -> tensor<1x48x48x16xf32>
  %6 = nn.conv2d %5, %v {layout = \"NHWC\"} : (tensor<1x48x48x16xf32>, tensor<4x16x1x1xf32>) -> tensor<1x48x48x4xf32>
  return %6 : tensor<1x48x48x4xf32>
}";

/// Plans a program with these passes; returns how many operations have each of these attributes, and the
/// bytes of its arena.
fn plan(text: &str, pipeline: &str, threads: usize) -> (Module, [usize; 2], u64) {
    let mut module = ir::text::parse(&Arc::new(Context::new()), "views.mlir", text.to_owned())
        .unwrap_or_else(|faults| panic!("{}", faults[0].message));
    let options = RunOptions { threads, ..RunOptions::new(codegen::Cpu::native()) };
    optc::run_pipeline(&mut module, pipeline, &options).unwrap_or_else(|failure| panic!("{failure}"));
    let ctx = module.ctx.clone();
    let body = module.function("main").expect("it is called so");
    let block = body.entry(body.root()).expect("it has a body");
    let count = |name| body.ops(block).filter(|op| body.at(&ctx, *op).attr(name).is_some()).count();
    let counts = [count(attrs::MEM_VIEW), count(attrs::MEM_PARTS)];
    let arena = attrs::arena_bytes(&ctx, body);
    (module, counts, arena.expect("it is planned"))
}

/// Runs a program with copies, and in place: equal bits, `expected` views and concatenations with in-place
/// operands, and fewer bytes on one thread (on two, scratch may outweigh that).
fn check(text: &str, shape: &[u64], expected: [usize; 2]) {
    let count = shape.iter().product::<u64>();
    let numbers: Vec<f32> = (0..count).map(|index| ((index * 37 % 101) as f32 - 50.0) / 64.0).collect();
    let input = [array("x", shape, &numbers)];
    let run = |module: &mut Module, threads, dead| -> Vec<Vec<u32>> {
        let options = CompileOptions { threads, dead, ..CompileOptions::default() };
        let found: Vec<Array> =
            execute(module, &input, &options).unwrap_or_else(|failure| panic!("{failure}"));
        found.iter().map(|array| floats(array).into_iter().map(f32::to_bits).collect()).collect()
    };
    for threads in [1, 2] {
        let (mut copied, none, more) = plan(text, "fuse,plan", threads);
        assert_eq!(none, [0, 0]);
        let wanted = run(&mut copied, threads, DeadMemory::Kept);
        let (mut in_place, counts, fewer) = plan(text, "fuse,inplace,plan", threads);
        assert!(fewer <= more, "{fewer} bytes in place, {more} with copies");
        if threads == 1 {
            assert_eq!(counts, expected);
            assert!(fewer < more, "{fewer} bytes in place, {more} with copies");
        }
        for dead in [DeadMemory::Kept, DeadMemory::Poisoned] {
            assert!(run(&mut in_place, threads, dead) == wanted, "{dead:?} on {threads} threads");
        }
    }
}

#[test]
fn products_read_slices_and_turned_heads_where_they_lie() {
    check(HEADS, &[16, 96], [6, 0]);
}

#[test]
fn halves_of_channels_are_read_in_rows() {
    check(HALVES, &[1, 28, 26, 16], [2, 0]);
}

#[test]
fn a_padded_image_is_made_in_the_middle() {
    check(PADDED, &[1, 24, 24, 4], [0, 1]);
}

#[test]
fn a_residual_is_overwritten_at_its_place() {
    check(RESIDUAL, &[1, 48, 48, 8], [0, 1]);
}
