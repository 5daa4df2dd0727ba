//! Requirements on named sizes: each run checks them, and fails by input, dimension and constraint; allowed
//! sizes give right results.

use std::sync::Arc;

use ir::dims::{Bindings, substitute};
use optc::{CompileOptions, Failure, LoadOptions, Model};
use runtime::{ElementKind, Program, RunContext, TensorDesc, as_bytes, as_bytes_mut};

const THREADS: usize = 2;

fn compile_options() -> CompileOptions {
    CompileOptions { threads: THREADS, ..CompileOptions::default() }
}

fn parse(text: &str) -> ir::Module {
    let module = optc::parse("required.mlir", text.to_owned(), None, &LoadOptions::default());
    module.unwrap_or_else(|failure| panic!("{failure}"))
}

fn compile(text: &str) -> Result<Arc<Program>, Failure> {
    optc::compile(&mut parse(text), &compile_options()).map(Arc::new)
}

/// Floats below 1; zeros for integers.
fn numbers(desc: &TensorDesc) -> Vec<f32> {
    let number = |index: usize| match desc.element {
        ElementKind::F32 => (index * 7919 % 1009) as f32 / 1009.0 - 0.5,
        _ => 0.0,
    };
    (0..desc.size_bytes / 4).map(number).collect()
}

/// Runs the program and the one for these numbers of the symbols: the same bits.
fn check_at(text: &str, context: &mut RunContext<'_>, sizes: &[(&str, u64)]) {
    let mut module = parse(text);
    let bindings: Bindings = sizes.iter().map(|(name, size)| (module.ctx.ident(name), *size)).collect();
    substitute(&mut module, &bindings).unwrap_or_else(|faults| panic!("{}", faults[0].message));
    let fixed = Model::compile(&mut module, &compile_options()).unwrap_or_else(|failure| panic!("{failure}"));
    let fixed = fixed.program().clone();
    let only = fixed.only().expect("its sizes are known");
    for desc in only.inputs() {
        context.set_shape(&desc.name, &desc.shape).unwrap_or_else(|error| panic!("{sizes:?}: {error}"));
    }
    let inputs: Vec<Vec<f32>> = only.inputs().iter().map(numbers).collect();
    let inputs: Vec<&[u8]> = inputs.iter().map(|input| as_bytes(&input[..])).collect();
    let count = only.outputs()[0].size_bytes / 4;
    let (mut expected, mut found) = (vec![0.0f32; count], vec![1.0f32; count]);
    let mut alone = fixed.context(THREADS).expect("it is planned for them");
    alone.run(&inputs, &mut [as_bytes_mut(&mut expected)]).unwrap_or_else(|error| panic!("{error}"));
    context.run(&inputs, &mut [as_bytes_mut(&mut found)]).unwrap_or_else(|error| panic!("{error}"));
    assert!(found == expected, "{sizes:?}: other bits");
}

/// Padding for `ceil(H / 2)` rows and `ceil(W / 2)` columns, the odd one after; and a pool of it.
const PADDED: &str = "func.func @main(%x: tensor<1x?x?x4xf32, #optc.dims<H, W>> {optc.name = \"x\"}) -> tensor<1x?x?x8xf32, #optc.dims<H ceildiv 2, W ceildiv 2>> {
  %w = nn.constant dense<0.25> : tensor<8x4x3x3xf32>
  %0 = nn.conv2d %x, %w {layout = \"NHWC\", pads = #optc.dims<(2 * (H ceildiv 2) - H + 1) floordiv 2, (2 * (W ceildiv 2) - W + 1) floordiv 2, 2 * (H ceildiv 2) - H + 1 - (2 * (H ceildiv 2) - H + 1) floordiv 2, 2 * (W ceildiv 2) - W + 1 - (2 * (W ceildiv 2) - W + 1) floordiv 2>, strides = array<i64: 2, 2>} : (tensor<1x?x?x4xf32, #optc.dims<H, W>>, tensor<8x4x3x3xf32>) -> tensor<1x?x?x8xf32, #optc.dims<H ceildiv 2, W ceildiv 2>>
  %1 = nn.tanh %0 : tensor<1x?x?x8xf32, #optc.dims<H ceildiv 2, W ceildiv 2>>
  return %1 : tensor<1x?x?x8xf32, #optc.dims<H ceildiv 2, W ceildiv 2>>
}";

#[test]
fn padding_follows_from_the_sizes_of_a_run() {
    let program = compile(PADDED).unwrap_or_else(|failure| panic!("{failure}"));
    let mut context = program.context(THREADS).expect("it is planned for them");
    for [h, w] in [[8, 8], [9, 8], [8, 9], [13, 7], [1, 1], [40, 33], [8, 8]] {
        check_at(PADDED, &mut context, &[("H", h), ("W", w)]);
    }
}

/// Padding of 0 at the sizes for which code is compiled.
const LATE: &str = "func.func @main(%x: tensor<1x?x9x4xf32, #optc.dims<H>> {optc.name = \"x\"}) -> tensor<1x?x7x8xf32, #optc.dims<H + max(H - 200, 0) - 2>> {
  %w = nn.constant dense<0.25> : tensor<8x4x3x3xf32>
  %0 = nn.conv2d %x, %w {layout = \"NHWC\", pads = #optc.dims<0, 0, max(H - 200, 0), 0>} : (tensor<1x?x9x4xf32, #optc.dims<H>>, tensor<8x4x3x3xf32>) -> tensor<1x?x7x8xf32, #optc.dims<H + max(H - 200, 0) - 2>>
  %1 = nn.tanh %0 : tensor<1x?x7x8xf32, #optc.dims<H + max(H - 200, 0) - 2>>
  return %1 : tensor<1x?x7x8xf32, #optc.dims<H + max(H - 200, 0) - 2>>
}";

/// All selected rows except the first: none, if only one is selected.
const PICKED: &str = "func.func @main(%x: tensor<?x4xf32, #optc.dims<N>> {optc.name = \"x\"}, %i: tensor<?xi64, #optc.dims<M>> {optc.name = \"i\"}) -> tensor<?x4xf32, #optc.dims<M - 1>> {
  %0 = nn.slice %i {starts = array<i64: 1>, sizes = #optc.dims<M - 1>} : (tensor<?xi64, #optc.dims<M>>) -> tensor<?xi64, #optc.dims<M - 1>>
  %1 = nn.gather %x, %0 : (tensor<?x4xf32, #optc.dims<N>>, tensor<?xi64, #optc.dims<M - 1>>) -> tensor<?x4xf32, #optc.dims<M - 1>>
  return %1 : tensor<?x4xf32, #optc.dims<M - 1>>
}";

#[test]
fn what_no_size_had_for_which_code_was_made_is_right() {
    let program = compile(LATE).unwrap_or_else(|failure| panic!("{failure}"));
    let mut context = program.context(THREADS).expect("it is planned for them");
    [100, 300, 201, 3].iter().for_each(|h| check_at(LATE, &mut context, &[("H", *h)]));
    let program = compile(PICKED).unwrap_or_else(|failure| panic!("{failure}"));
    let mut context = program.context(THREADS).expect("it is planned for them");
    [5, 1, 2].iter().for_each(|m| check_at(PICKED, &mut context, &[("N", 3), ("M", *m)]));
}

/// `y: [N * M]` as the rows of `x: [N, M]`; `K` follows from the others, and there are at most 6 rows.
const PRODUCT: &str = "func.func @main(%x: tensor<?x?xf32, #optc.dims<N, M>> {optc.name = \"x\"}, %y: tensor<?xf32, #optc.dims<N * M>> {optc.name = \"y\"}) -> tensor<?x?xf32, #optc.dims<N, M>> attributes {optc.dims = {K = #optc.dims<N>, N = [1, 6]}} {
  %0 = nn.reshape %y {shape = #optc.dims<N, M>} : (tensor<?xf32, #optc.dims<N * M>>) -> tensor<?x?xf32, #optc.dims<N, M>>
  %1 = nn.sub %x, %0 : tensor<?x?xf32, #optc.dims<N, M>>
  return %1 : tensor<?x?xf32, #optc.dims<N, M>>
}";

#[test]
fn a_size_that_breaks_what_is_required_is_an_error_of_that_run_only() {
    let program = compile(PRODUCT).unwrap_or_else(|failure| panic!("{failure}"));
    let mut context = program.context(THREADS).expect("it is planned for them");
    check_at(PRODUCT, &mut context, &[("N", 2), ("M", 5)]);
    let error = context.set_shape("x", &[7, 5]).expect_err("there are at most 6 rows");
    let range = "axis 0 of input `x` is 7, expected 1 <= N <= 6";
    assert_eq!(error.to_string(), range);
    context.set_shape("x", &[3, 4]).expect("it may be right");
    context.set_shape("y", &[11]).expect("it may be right");
    let error = context.prepare().map(drop).expect_err("11 is not 3 times 4").to_string();
    let product = "axis 0 of input `y` is 11, expected M * N = 12, which follows from axis 0 of input `x`";
    assert!(error.ends_with(product), "{error}");
    check_at(PRODUCT, &mut context, &[("N", 2), ("M", 5)]);
    check_at(PRODUCT, &mut context, &[("N", 6), ("M", 1)]);
}

#[test]
fn a_size_that_no_shape_says_is_refused() {
    let text = "func.func @main(%x: tensor<?xf32, #optc.dims<N floordiv 2>>) -> tensor<?xf32, #optc.dims<N floordiv 2>> {
  %0 = nn.neg %x : tensor<?xf32, #optc.dims<N floordiv 2>>
  return %0 : tensor<?xf32, #optc.dims<N floordiv 2>>
}";
    let failure = compile(text).map(drop).expect_err("one of two sizes is meant").to_string();
    let expected = "the shapes of the inputs do not say what `N` is, expected an input of that size";
    assert!(failure.contains(expected), "{failure}");
}
