//! The arena for all sizes: it suffices at each of them, and is little larger than the greatest sizes need.
//!
//! At every size the checker accepts the plan, the plan takes at most the bound, and the function computes
//! the results of the function compiled for that size alone. Networks are in the folder named by
//! `OPTC_MODELS`.

use std::path::Path;

use import::onnx::declared::{DeclaredSizes, Symbolized};
use ir::dims::Bindings;
use ir::plan::attrs;
use ir::size::static_extents;
use ir::{Body, Context, Module};
use optc::compile::complete;
use optc::specialize::AllSizes;
use optc::{Array, CompileOptions, Goal, LoadOptions, Model, SizeOptions, StrippedWeights, load};
use passes::memory::bound::Bound;
use runtime::ElementKind;
use tests::given::given;
use tests::random::Random;

const THREADS: usize = 2;

fn decide(module: &Module, ranges: &[(&str, u64)]) -> AllSizes {
    let ranges = ranges.iter().map(|(name, most)| ((*name).to_owned(), (1, *most))).collect();
    let sizes = SizeOptions { ranges, ..SizeOptions::default() };
    let options = CompileOptions { threads: THREADS, sizes, ..CompileOptions::default() };
    AllSizes::decide(&mut module.clone(), &options).unwrap_or_else(|failure| panic!("{failure}"))
}

fn arena_bytes(ctx: &Context, body: &Body) -> u64 {
    attrs::arena_bytes(ctx, body).expect("it is planned")
}

/// The planned function at given sizes; none if they are impossible.
fn place(symbolic: &AllSizes, bound: &Bound, sizes: &[u64]) -> Option<Module> {
    let module = symbolic.at(sizes).ok()?;
    let planned = module.function(symbolic.entry()).expect("it was decided");
    let arena = arena_bytes(&module.ctx, planned);
    let bound = bound.size_bytes();
    assert!(arena <= bound, "{sizes:?}: {arena} bytes are more than {bound}");
    Some(module)
}

/// The module with numbers in place of symbols, compiled for these sizes alone; none if they are impossible.
fn alone(module: &Module, symbolic: &AllSizes, sizes: &[u64]) -> Option<Module> {
    let mut module = module.clone();
    let names = symbolic.symbols().iter().map(|symbol| module.ctx.ident(&symbol.name));
    let bindings: Bindings = names.zip(sizes.iter().copied()).collect();
    ir::dims::substitute(&mut module, &bindings).ok()?;
    ir::verify::verify(&module).ok()?;
    complete(&mut module, symbolic.entry(), THREADS, Goal::default()).ok()?;
    Some(module)
}

/// The results of a planned function for numbers between -1 and 1.
fn compute(mut module: Module, symbolic: &AllSizes) -> Vec<Array> {
    let body = module.function(symbolic.entry()).expect("it was decided");
    let types = body.args(body.entry(body.root()).expect("it has a body")).iter().map(|arg| body.ty(*arg));
    let arrays = types.enumerate().map(|(index, ty)| {
        let shape = static_extents(&module.ctx, ty).expect("its sizes are numbers");
        let count: u64 = shape.iter().product();
        let number = |index: u64| ((index * 7919) % 1009) as f32 / 504.5 - 1.0;
        let name = format!("arg{index}");
        if module.ctx.elem(ty) == module.ctx.f32() {
            let bytes = (0..count).flat_map(|index| number(index).to_le_bytes()).collect();
            return Array { name, element: ElementKind::F32, shape, bytes };
        }
        Array { name, element: ElementKind::Bool, shape, bytes: vec![1; count as usize] }
    });
    let arrays: Vec<Array> = arrays.collect();
    let options = CompileOptions { threads: THREADS, ..CompileOptions::default() };
    let mut model = Model::compile(&mut module, &options).unwrap_or_else(|failure| panic!("{failure}"));
    model.run(&arrays).unwrap_or_else(|failure| panic!("{failure}"))
}

/// Places and runs a function at random sizes, and at the least and the greatest. The bound is at most
/// `hundredths` percent of the plan for the greatest sizes.
#[track_caller]
fn check(text: &str, ranges: &[(&str, u64)], hundredths: u64) {
    let module = optc::parse("bound.mlir", text.to_owned(), None, &LoadOptions::default());
    let module = module.unwrap_or_else(|failure| panic!("{failure}"));
    let symbolic = decide(&module, ranges);
    let bound = symbolic.bound().unwrap_or_else(|why| panic!("{why}"));
    let most: Vec<u64> = symbolic.symbols().iter().map(|symbol| symbol.most).collect();
    let greatest = alone(&module, &symbolic, &most).expect("it has its greatest sizes");
    let best = arena_bytes(&greatest.ctx, greatest.function(symbolic.entry()).expect("it was decided"));
    assert!(bound.size_bytes() * 100 <= best * hundredths, "{} of {best}", bound.size_bytes());
    let mut random = Random::new(7);
    for round in 0..60 {
        let sizes: Vec<u64> = match round {
            0 => most.clone(),
            1 => vec![1; most.len()],
            _ => most.iter().map(|most| 1 + random.below(*most as usize) as u64).collect(),
        };
        let Some(placed) = place(&symbolic, bound, &sizes) else { continue };
        let alone = alone(&module, &symbolic, &sizes).expect("it has these sizes");
        let same = compute(placed, &symbolic) == compute(alone, &symbolic);
        assert!(same, "{sizes:?}: other results than alone");
    }
}

/// A block in which each layer reads all earlier values, as in DenseNet; the last layer adds to the first
/// one's result.
const DENSE: &str = "func.func @main(%x: tensor<?x?x?x8xf32, #optc.dims<N, H, W>>) -> tensor<?x?x?x32xf32, #optc.dims<N, H, W>> {
  %w1 = nn.constant dense<0.01> : tensor<8x8x3x3xf32>
  %w2 = nn.constant dense<0.02> : tensor<8x16x3x3xf32>
  %w3 = nn.constant dense<0.03> : tensor<8x24x3x3xf32>
  %w4 = nn.constant dense<0.04> : tensor<32x32x1x1xf32>
  %0 = nn.conv2d %x, %w1 {layout = \"NHWC\", pads = array<i64: 1, 1, 1, 1>} : (A8, tensor<8x8x3x3xf32>) -> A8
  %1 = nn.conv2d %0, %w1 {layout = \"NHWC\", pads = array<i64: 1, 1, 1, 1>} : (A8, tensor<8x8x3x3xf32>) -> A8
  %2 = nn.concat %0, %1 {axis = 3 : i64} : (A8, A8) -> A16
  %3 = nn.conv2d %2, %w2 {layout = \"NHWC\", pads = array<i64: 1, 1, 1, 1>} : (A16, tensor<8x16x3x3xf32>) -> A8
  %4 = nn.concat %0, %1, %3 {axis = 3 : i64} : (A8, A8, A8) -> A24
  %5 = nn.conv2d %4, %w3 {layout = \"NHWC\", pads = array<i64: 1, 1, 1, 1>} : (A24, tensor<8x24x3x3xf32>) -> A8
  %6 = nn.add %5, %0 : A8
  %7 = nn.concat %0, %1, %3, %6 {axis = 3 : i64} : (A8, A8, A8, A8) -> A32
  %8 = nn.relu %7 : A32
  %9 = nn.conv2d %8, %w4 {layout = \"NHWC\"} : (A32, tensor<32x32x1x1xf32>) -> A32
  %10 = nn.softmax %9 {axis = 3 : i64} : A32
  return %10 : A32
}";

#[test]
fn parts_of_concatenations_stand_in_their_whole_at_all_sizes() {
    let mut text = DENSE.to_owned();
    for channels in [8, 16, 24, 32] {
        let ty = format!("tensor<?x?x?x{channels}xf32, #optc.dims<N, H, W>>");
        text = text.replace(&format!("A{channels}"), &ty);
    }
    // The scratch of convolutions counts with its maximum over all sizes.
    check(&text, &[("N", 3), ("H", 50), ("W", 60)], 108);
}

/// Slices of inner axes: contiguous for one image, and copies for several. At some sizes a result cannot
/// overwrite one, or its source.
#[test]
fn a_view_may_lie_in_its_operand_or_be_a_copy() {
    let text =
        "func.func @main(%x: tensor<?x6x?xf32, #optc.dims<N, W>>) -> tensor<?x2x?xf32, #optc.dims<N, W>> {
  %0 = nn.exp %x : A6
  %1 = nn.slice %0 {starts = array<i64: 0, 1, 0>, sizes = #optc.dims<N, 2, W>} : (A6) -> A2
  %2 = nn.cum_sum %1 {axis = 2} : A2
  %3 = nn.neg %1 : A2
  %4 = nn.cum_sum %0 {axis = 2} : A6
  %5 = nn.slice %4 {starts = array<i64: 0, 2, 0>, sizes = #optc.dims<N, 2, W>} : (A6) -> A2
  %6 = nn.cum_sum %4 {axis = 1} : A6
  %7 = nn.slice %6 {starts = array<i64: 0, 4, 0>, sizes = #optc.dims<N, 2, W>} : (A6) -> A2
  %8 = nn.add %5, %7 : A2
  %9 = nn.cum_sum %8 {axis = 1} : A2
  %10 = nn.mul %9, %3 : A2
  %11 = nn.add %10, %2 : A2
  return %11 : A2
}";
    let text = text
        .replace("A6", "tensor<?x6x?xf32, #optc.dims<N, W>>")
        .replace("A2", "tensor<?x2x?xf32, #optc.dims<N, W>>");
    check(&text, &[("N", 3), ("W", 200)], 300);
}

/// At N = 4 a row of the reshaped value is one row of the concatenation, at N = 1 four rows, with gaps there.
#[test]
fn what_is_read_by_a_view_is_no_part() {
    let text = "func.func @main(%x: tensor<?x1x8xf32, #optc.dims<N>>) -> tensor<?xf32, #optc.dims<N>> {
  %0 = nn.broadcast %x {shape = #optc.dims<N, max(-N + 5, 1), 8>} : (tensor<?x1x8xf32, #optc.dims<N>>) -> A8
  %1 = nn.exp %0 : A8
  %2 = nn.cum_sum %1 {axis = 2} : A8
  %3 = nn.neg %1 : A8
  %4 = nn.reshape %3 {shape = #optc.dims<N, 8 * max(-N + 5, 1)>} : (A8) -> B
  %5 = nn.reduce_max %4 {axes = array<i64: 1>} : (B) -> tensor<?xf32, #optc.dims<N>>
  %6 = nn.concat %3, %2 {axis = 2 : i64} : (A8, A8) -> A16
  %7 = nn.exp %6 : A16
  %8 = nn.reduce_sum %7 {axes = array<i64: 1, 2>} : (A16) -> tensor<?xf32, #optc.dims<N>>
  %9 = nn.add %8, %5 : tensor<?xf32, #optc.dims<N>>
  return %9 : tensor<?xf32, #optc.dims<N>>
}";
    let of = |channels: u64| format!("tensor<?x?x{channels}xf32, #optc.dims<N, max(-N + 5, 1)>>");
    let text = text.replace("A8", &of(8)).replace("A16", &of(16));
    check(
        &text
            .replace("(B)", "(tensor<?x?xf32, #optc.dims<N, 8 * max(-N + 5, 1)>>)")
            .replace("-> B", "-> tensor<?x?xf32, #optc.dims<N, 8 * max(-N + 5, 1)>>"),
        &[("N", 4)],
        300,
    );
}

/// At N = 4 the sum is as large as its first operand, at N = 1 four times as large.
#[test]
fn what_is_as_large_at_the_greatest_sizes_only_is_not_overwritten() {
    let text = "func.func @main(%x: tensor<?x1x64xf32, #optc.dims<N>>) -> tensor<?xf32, #optc.dims<N>> {
  %0 = nn.broadcast %x {shape = #optc.dims<N, max(-N + 5, 1), 64>} : (tensor<?x1x64xf32, #optc.dims<N>>) -> A
  %1 = nn.cum_sum %0 {axis = 1} : A
  %2 = nn.cum_sum %x {axis = 0} : tensor<?x1x64xf32, #optc.dims<N>>
  %3 = nn.mul %2, %1 : (tensor<?x1x64xf32, #optc.dims<N>>, A) -> A
  %4 = nn.cum_sum %3 {axis = 0} : A
  %5 = nn.mul %4, %1 : A
  %6 = nn.reduce_max %5 {axes = array<i64: 1, 2>} : (A) -> tensor<?xf32, #optc.dims<N>>
  return %6 : tensor<?xf32, #optc.dims<N>>
}";
    check(&text.replace('A', "tensor<?x?x64xf32, #optc.dims<N, max(-N + 5, 1)>>"), &[("N", 4)], 300);
}

/// The slice is in the output before that is written; if it is contiguous in the input, a copy of it is.
#[test]
fn a_copy_lies_in_an_output_where_it_could_lie_in_its_operand() {
    let text = "func.func @main(%x: A6) -> A6 {
  %0 = nn.slice %x {starts = array<i64: 0, 1, 0>, sizes = #optc.dims<N, 2, W>} : (A6) -> A2
  %1 = nn.reduce_sum %0 {axes = array<i64: 1, 2>, keepdims} : (A2) -> tensor<?x1x1xf32, #optc.dims<N>>
  %2 = nn.add %x, %1 : (A6, tensor<?x1x1xf32, #optc.dims<N>>) -> A6
  return %2 : A6
}";
    let of = |rows: u64| format!("tensor<?x{rows}x?xf32, #optc.dims<N, W>>");
    check(&text.replace("A6", &of(6)).replace("A2", &of(2)), &[("N", 3), ("W", 200)], 200);
}

#[test]
fn a_function_with_branches_has_a_bound() {
    let text = "func.func @main(%c: i1, %x: T) -> T {
  %0 = nn.exp %x : T
  %1 = scf.if %c -> (T) {
    %2 = nn.cum_sum %0 {axis = 0} : T
    %3 = nn.cum_sum %2 {axis = 1} : T
    scf.yield %3 : T
  } else {
    %4 = nn.neg %0 : T
    scf.yield %4 : T
  }
  %5 = nn.cum_sum %1 {axis = 0} : T
  %6 = nn.mul %5, %0 : T
  return %6 : T
}";
    check_flow(text, 105);
}

#[test]
fn a_function_with_loops_has_a_bound() {
    let text = "func.func @main(%x: T) -> T {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %y = nn.exp %x : T
  %r:2 = scf.for %i = %zero to %three step %one iter_args(%a = %x, %b = %y) -> (T, T) {
    %0 = nn.cum_sum %a {axis = 0} : T
    %1 = nn.add %0, %b : T
    scf.yield %b, %1 : T, T
  }
  %z = nn.cum_sum %r#0 {axis = 1} : T
  %2 = nn.sub %z, %r#1 : T
  %3 = nn.mul %2, %y : T
  return %3 : T
}";
    // Four values of equal size for all sizes, three at the greatest ones.
    check_flow(text, 134);
}

#[test]
fn a_function_of_several_blocks_has_a_bound() {
    let text = "func.func @main(%c: i1, %x: T) -> T {
  %0 = nn.exp %x : T
  %1 = nn.cum_sum %0 {axis = 0} : T
  cf.cond_br %c, ^bb1(%0, %1 : T, T), ^bb2(%1 : T)
^bb1(%a: T, %b: T):
  %2 = nn.cum_sum %a {axis = 1} : T
  %3 = nn.mul %2, %b : T
  cf.br ^bb2(%3 : T)
^bb2(%d: T):
  %4 = nn.cum_sum %d {axis = 0} : T
  %5 = nn.sub %4, %0 : T
  return %5 : T
}";
    check_flow(text, 105);
}

#[test]
fn a_function_with_calls_has_a_bound() {
    let text = "func.func @main(%x: T) -> T {
  %0 = nn.exp %x : T
  %1 = call @twice(%0) : (T) -> T
  %2 = call @twice(%1) : (T) -> T
  %3 = nn.mul %2, %0 : T
  return %3 : T
}
func.func private @twice(%x: T) -> T {
  %0 = nn.cum_sum %x {axis = 0} : T
  %1 = nn.cum_sum %0 {axis = 1} : T
  return %1 : T
}";
    check_flow(text, 105);
}

/// Checks a function of values of `N` times `M` numbers.
#[track_caller]
fn check_flow(text: &str, hundredths: u64) {
    check(&text.replace("T", "tensor<?x?xf32, #optc.dims<N, M>>"), &[("N", 9), ("M", 40)], hundredths);
}

/// Most networks have no values that fit in the output; here the output is the largest value of all.
#[test]
fn what_fits_an_output_at_all_sizes_lies_there() {
    let text = "func.func @main(%x: tensor<?x8xf32, #optc.dims<N>>) -> tensor<?x64xf32, #optc.dims<N>> {
  %w = nn.constant dense<0.01> : tensor<8x64xf32>
  %0 = nn.cum_sum %x {axis = 0} : tensor<?x8xf32, #optc.dims<N>>
  %1 = nn.cum_sum %0 {axis = 1} : tensor<?x8xf32, #optc.dims<N>>
  %2 = nn.cum_sum %1 {axis = 0} : tensor<?x8xf32, #optc.dims<N>>
  %3 = nn.matmul %2, %w : (tensor<?x8xf32, #optc.dims<N>>, tensor<8x64xf32>) -> tensor<?x64xf32, #optc.dims<N>>
  return %3 : tensor<?x64xf32, #optc.dims<N>>
}";
    check(text, &[("N", 300)], 105);
}

/// The first sum takes min(L, 300) rows, the output 400. The output is larger at each size, although the
/// sum's greatest size exceeds the output's least.
#[test]
fn what_is_never_larger_than_an_output_lies_there() {
    let text = "func.func @main(%x: tensor<?x?xf32, #optc.dims<N, L>>) -> tensor<400x?x?xf32, #optc.dims<N, L>> {
  %0 = nn.broadcast %x {shape = #optc.dims<min(L, 300), N, L>} : (tensor<?x?xf32, #optc.dims<N, L>>) -> A
  %1 = nn.cum_sum %0 {axis = 0} : A
  %2 = nn.reduce_sum %1 {axes = array<i64: 0>} : (A) -> tensor<?x?xf32, #optc.dims<N, L>>
  %3 = nn.broadcast %2 {shape = #optc.dims<400, N, L>} : (tensor<?x?xf32, #optc.dims<N, L>>) -> tensor<400x?x?xf32, #optc.dims<N, L>>
  %4 = nn.cum_sum %3 {axis = 0} : tensor<400x?x?xf32, #optc.dims<N, L>>
  return %4 : tensor<400x?x?xf32, #optc.dims<N, L>>
}";
    check(
        &text.replace('A', "tensor<?x?x?xf32, #optc.dims<min(L, 300), N, L>>"),
        &[("N", 3), ("L", 60)],
        105,
    );
}

/// Each convolution overwrites the rows of its image that were read, at all sizes except the smallest.
#[test]
fn what_is_written_over_rows_is_counted_once_at_all_sizes() {
    let text = "func.func @main(%x: A) -> tensor<1x1x1x32xf32> {
  %w = nn.constant dense<0.01> : tensor<32x32x3x3xf32>
  %0 = nn.conv2d %x, %w {layout = \"NHWC\", pads = array<i64: 1, 1, 1, 1>} : (A, tensor<32x32x3x3xf32>) -> A
  %1 = nn.conv2d %0, %w {layout = \"NHWC\", pads = array<i64: 1, 1, 1, 1>} : (A, tensor<32x32x3x3xf32>) -> A
  %2 = nn.conv2d %1, %w {layout = \"NHWC\", pads = array<i64: 1, 1, 1, 1>} : (A, tensor<32x32x3x3xf32>) -> A
  %3 = nn.reduce_max %2 {axes = array<i64: 1, 2>, keepdims} : (A) -> tensor<1x1x1x32xf32>
  return %3 : tensor<1x1x1x32xf32>
}";
    let text = text.replace("A", "tensor<1x?x?x32xf32, #optc.dims<H, W>>");
    check(&text, &[("H", 90), ("W", 60)], 102);
}

/// Wider rows, narrower ones, and fewer, in batches of every size.
#[test]
fn what_is_written_over_rows_of_batches_is_counted_once_at_all_sizes() {
    let pads = "layout = \"NHWC\", pads = array<i64: 1, 1, 1, 1>";
    let text = format!(
        "func.func @main(%x: A16) -> C16 {{
  %a = nn.constant dense<0.01> : tensor<16x16x3x3xf32>
  %b = nn.constant dense<0.02> : tensor<32x16x3x3xf32>
  %c = nn.constant dense<0.03> : tensor<16x32x1x1xf32>
  %0 = nn.conv2d %x, %a {{{pads}}} : (A16, tensor<16x16x3x3xf32>) -> A16
  %1 = nn.conv2d %0, %b {{{pads}}} : (A16, tensor<32x16x3x3xf32>) -> A32
  %2 = nn.max_pool2d %1 {{kernel = array<i64: 3, 3>, {pads}, strides = array<i64: 2, 2>}} : (A32) -> B32
  %3 = nn.conv2d %2, %c {{layout = \"NHWC\"}} : (B32, tensor<16x32x1x1xf32>) -> B16
  %4 = nn.reduce_max %3 {{axes = array<i64: 1, 2>, keepdims}} : (B16) -> C16
  return %4 : C16
}}"
    );
    let whole = |channels: u64| format!("tensor<?x?x?x{channels}xf32, #optc.dims<N, 2 * H, 2 * W>>");
    let half = |channels: u64| format!("tensor<?x?x?x{channels}xf32, #optc.dims<N, H, W>>");
    let text = text.replace("A16", &whole(16)).replace("A32", &whole(32));
    let text = text.replace("B16", &half(16)).replace("B32", &half(32));
    let text = text.replace("C16", "tensor<?x1x1x16xf32, #optc.dims<N>>");
    check(&text, &[("N", 4), ("H", 30), ("W", 20)], 102);
}

/// At the greatest sizes, convolutions prefer more scratch than there is room for beside the images that are
/// live with them: the plan for these sizes saves it, and so does the bound.
#[test]
fn scratch_that_is_saved_at_the_greatest_sizes_is_saved_in_the_bound() {
    let conv = "{layout = \"NHWC\", pads = array<i64: 1, 1, 1, 1>}";
    let text = format!(
        "func.func @main(%x: A16) -> tensor<1x1x1x32xf32> {{
  %a = nn.constant dense<0.01> : tensor<32x16x3x3xf32>
  %b = nn.constant dense<0.02> : tensor<32x32x3x3xf32>
  %c = nn.constant dense<0.03> : tensor<64x32x3x3xf32>
  %d = nn.constant dense<0.04> : tensor<32x64x3x3xf32>
  %0 = nn.conv2d %x, %a {conv} : (A16, tensor<32x16x3x3xf32>) -> A32
  %1 = nn.conv2d %0, %b {conv} : (A32, tensor<32x32x3x3xf32>) -> A32
  %2 = nn.conv2d %1, %c {conv} : (A32, tensor<64x32x3x3xf32>) -> A64
  %3 = nn.conv2d %2, %d {conv} : (A64, tensor<32x64x3x3xf32>) -> A32
  %4 = nn.reduce_max %3 {{axes = array<i64: 1, 2>, keepdims}} : (A32) -> tensor<1x1x1x32xf32>
  return %4 : tensor<1x1x1x32xf32>
}}"
    );
    let image = |channels: u64| format!("tensor<1x?x?x{channels}xf32, #optc.dims<H, W>>");
    let text = text.replace("A16", &image(16)).replace("A32", &image(32)).replace("A64", &image(64));
    check(&text, &[("H", 90), ("W", 60)], 102);
}

/// Products of a depth of 9 * 32 are computed in two blocks of 144, and those of 9 * 28 in one, whose rows of
/// the image take more scratch: fewer channels need more of it than the most.
#[test]
fn the_bound_has_scratch_for_sizes_that_need_more_of_it_than_the_greatest() {
    let text = "func.func @main(%x: IMAGE, %f: FILTER) -> tensor<1x1x1x32xf32> {
  %0 = nn.conv2d %x, %f {layout = \"NHWC\", pads = array<i64: 1, 1, 1, 1>} : (IMAGE, FILTER) -> RESULT
  %1 = nn.reduce_max %0 {axes = array<i64: 1, 2>, keepdims} : (RESULT) -> tensor<1x1x1x32xf32>
  return %1 : tensor<1x1x1x32xf32>
}";
    let text = text.replace("IMAGE", "tensor<1x?x?x?xf32, #optc.dims<H, W, C>>");
    let text = text.replace("FILTER", "tensor<32x?x3x3xf32, #optc.dims<C>>");
    let text = text.replace("RESULT", "tensor<1x?x?x32xf32, #optc.dims<H, W>>");
    let module = optc::parse("bound.mlir", text.clone(), None, &LoadOptions::default());
    let module = module.unwrap_or_else(|failure| panic!("{failure}"));
    let ranges = [("H", 90), ("W", 60), ("C", 32)];
    let symbolic = decide(&module, &ranges);
    let bound = symbolic.bound().unwrap_or_else(|why| panic!("{why}"));
    let arena = |channels: u64| {
        let number = |symbol: &runtime::Symbol| if symbol.name == "C" { channels } else { symbol.most };
        let sizes: Vec<u64> = symbolic.symbols().iter().map(number).collect();
        let placed = place(&symbolic, bound, &sizes).expect("it has these sizes");
        arena_bytes(&placed.ctx, placed.function(symbolic.entry()).expect("it was decided"))
    };
    assert!(arena(28) > arena(32), "{} and {} bytes", arena(28), arena(32));
    check(&text, &ranges, 102);
}

fn network(path: &Path, images: u64) -> Module {
    let axes = [("N", 0, images), ("H", 2, 224), ("W", 3, 224)];
    let symbolized =
        axes.map(|(name, axis, _)| Symbolized { input: "input".to_owned(), axis, size: name.to_owned() });
    let ranges = axes.map(|(name, _, most)| (name.to_owned(), (1, most)));
    let sizes =
        DeclaredSizes { symbolized: symbolized.into(), ranges: ranges.into(), ..DeclaredSizes::new() };
    let options = LoadOptions { stripped: StrippedWeights::Synthesize, sizes, ..LoadOptions::default() };
    load(path, &options).unwrap_or_else(|failure| panic!("{}: {failure}", path.display()))
}

#[test]
#[cfg_attr(not(given = "OPTC_MODELS"), ignore = "needs OPTC_MODELS")]
fn networks_stay_below_their_bounds_which_are_little_more_than_their_greatest_sizes_need() {
    let folder = given("OPTC_MODELS");
    let names = [
        "resnet50",
        "mobilenet_v2",
        "efficientnet_b0",
        "squeezenet1_1",
        "densenet121",
        "inception_v3",
        "se_resnext152_bn",
    ];
    for (name, images) in names.into_iter().flat_map(|name| [(name, 1), (name, 4)]) {
        let module = network(&folder.join(format!("{name}.onnx")), images);
        let symbolic = decide(&module, &[]);
        let bound = symbolic.bound().unwrap_or_else(|why| panic!("{name}: {why}"));
        let mut random = Random::new(3);
        let most: Vec<u64> = symbolic.symbols().iter().map(|symbol| symbol.most).collect();
        let mut fitted = 0;
        for round in 0..40 {
            let sizes: Vec<u64> = match round {
                0 => most.clone(),
                _ => most.iter().map(|most| 1 + random.below(*most as usize) as u64).collect(),
            };
            let Some(_) = place(&symbolic, bound, &sizes) else { continue };
            fitted += 1;
            if round == 0 {
                let best = alone(&module, &symbolic, &sizes).expect("it has its greatest sizes");
                let best = arena_bytes(&best.ctx, best.function(symbolic.entry()).expect("it was decided"));
                println!(
                    "{name}, {images}: {} bytes for all sizes, {best} for the greatest",
                    bound.size_bytes()
                );
                assert!(bound.size_bytes() * 100 <= best * 102, "{name}, {images} images");
            }
        }
        assert!(fitted > 5, "{name}: {fitted} sizes were tried");
    }
}
