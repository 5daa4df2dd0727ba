//! Known failures of other memory planners, and the test for each that ours does not have it.
//!
//! Most are files in `lit-tests/known-failures`; failures that show only in machine code are tested here, in
//! runs that fill dead memory with NaN.

use std::path::Path;
use std::sync::Arc;

use ir::interp::{self, Tensor};
use ir::{Context, Module};
use optc::{CompileOptions, DeadMemory};
use tests::programs::{array, execute, floats};
use tests::random::Random;

/// Each failure with the file in `lit-tests/known-failures`, or the test below, that shows it.
const KNOWN: [(&str, &str); 12] = [
    ("an addend that is a weight", "an_addend_that_is_a_weight_is_kept.mlir"),
    (
        "an addend that is a loop's carried input",
        "an_addend_that_a_loop_carries_is_kept_while_it_is_needed.mlir",
    ),
    ("a producer read later through another view", "what_is_read_later_through_another_view_is_kept.mlir"),
    ("the same operand twice in a matmul", "what_a_product_reads_twice_is_kept.mlir"),
    (
        "a broadcast operand smaller than the result",
        "a_broadcast_operand_smaller_than_the_result_is_kept.mlir",
    ),
    ("unknown dimensions treated as equal to 1", "an_unknown_size_is_not_taken_for_the_results.mlir"),
    (
        "two views of one tensor multiplied while one is still needed",
        "two_views_are_not_multiplied_into_their_value_while_one_is_needed.mlir",
    ),
    ("a fetched intermediate", "a_fetched_intermediate_is_kept.mlir"),
    ("an output that is also an input", "an_output_that_is_an_input_is_copied.mlir"),
    (
        "an operation whose first of two results is unused",
        "an_unused_first_of_two_results_has_bytes_of_its_own.mlir",
    ),
    ("recycled memory that a kernel assumed zero", "recycled_memory_is_not_taken_for_zero"),
    (
        "overlapping buffers given distinct alias regions in code generation",
        "what_overlaps_is_read_after_it_is_written",
    ),
];

#[test]
fn each_known_failure_has_its_test() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lit-tests/known-failures");
    for (failure, test) in KNOWN {
        let is_there = if test.ends_with(".mlir") {
            folder.join(test).exists()
        } else {
            include_str!("known_failures.rs").contains(&format!("\nfn {test}()"))
        };
        assert!(is_there, "{failure}: no {test}");
    }
    let files = std::fs::read_dir(folder).expect("the folder is there").count();
    assert_eq!(files, KNOWN.iter().filter(|(_, test)| test.ends_with(".mlir")).count());
}

/// Runs a function of one image on machine code with NaN in dead memory, and compares with the interpreter.
#[track_caller]
fn check(shape: &[u64], text: &str) {
    let ctx = Arc::new(Context::new());
    let module = ir::text::parse(&ctx, "known.mlir", text.to_owned());
    let module: Module = module.unwrap_or_else(|faults| panic!("{}\n{text}", faults[0].render(&ctx)));
    let values = Random::new(7).floats(shape.iter().product());
    let expected = interp::run(&module, "main", &[Tensor::from_f32(&ctx, shape, &values)]);
    let expected = expected.unwrap_or_else(|fault| panic!("{}", fault.render(&ctx)));
    for threads in [1, 2] {
        let options = CompileOptions { threads, dead: DeadMemory::Poisoned, ..CompileOptions::default() };
        let mut planned = module.clone();
        let found = execute(&mut planned, &[array("x", shape, &values)], &options);
        let found = found.unwrap_or_else(|failure| panic!("{failure}"));
        for (found, expected) in found.iter().map(floats).zip(&expected) {
            let pairs = found.iter().zip(expected.to_f32());
            let is_near = |(a, b): (&f32, f32)| (a - b).abs() <= 1e-4 * b.abs().max(1.0);
            assert!(pairs.clone().all(is_near), "{}", ir::text::print(&planned));
        }
    }
}

/// Each kernel writes to the memory of two dead values.
#[test]
fn recycled_memory_is_not_taken_for_zero() {
    let image = "tensor<1x6x6x8xf32>";
    let kernels = [
        format!(
            "%w = nn.constant dense<0.25> : tensor<8x8x3x3xf32>
             %k = nn.conv2d %b, %w {{layout = \"NHWC\", pads = array<i64: 1, 1, 1, 1>}} : ({image}, tensor<8x8x3x3xf32>) -> {image}"
        ),
        format!(
            "%w = nn.constant dense<0.25> : tensor<8x1x3x3xf32>
             %k = nn.conv2d %b, %w {{groups = 8 : i64, layout = \"NHWC\", pads = array<i64: 1, 1, 1, 1>}} : ({image}, tensor<8x1x3x3xf32>) -> {image}"
        ),
        format!(
            "%w = nn.constant dense<0.25> : tensor<8x8xf32>
             %k = nn.matmul %b, %w : ({image}, tensor<8x8xf32>) -> {image}"
        ),
        format!(
            "%k = nn.avg_pool2d %b {{kernel = array<i64: 3, 3>, layout = \"NHWC\", pads = array<i64: 1, 1, 1, 1>}} : {image}"
        ),
        format!(
            "%m = nn.reduce_mean %b {{axes = array<i64: 1, 2>, keepdims}} : ({image}) -> tensor<1x1x1x8xf32>
             %k = nn.sub %b, %m : ({image}, tensor<1x1x1x8xf32>) -> {image}"
        ),
        format!(
            "%s = nn.slice %b {{sizes = array<i64: 1, 4, 4, 8>, starts = array<i64: 0, 1, 1, 0>}} : ({image}) -> tensor<1x4x4x8xf32>
             %k = nn.pad %s {{high = array<i64: 0, 1, 1, 0>, low = array<i64: 0, 1, 1, 0>}} : (tensor<1x4x4x8xf32>) -> {image}"
        ),
        format!(
            "%s = nn.slice %b {{sizes = array<i64: 1, 6, 6, 4>, starts = array<i64: 0, 0, 0, 2>}} : ({image}) -> tensor<1x6x6x4xf32>
             %k = nn.concat %s, %s {{axis = 3 : i64}} : (tensor<1x6x6x4xf32>, tensor<1x6x6x4xf32>) -> {image}"
        ),
    ];
    for kernel in kernels {
        check(
            &[1, 6, 6, 8],
            &format!(
                "func.func @main(%x: {image}) -> {image} {{
                   %a = nn.max_pool2d %x {{kernel = array<i64: 2, 2>, layout = \"NHWC\", pads = array<i64: 1, 1, 0, 0>}} : {image}
                   %b = nn.max_pool2d %a {{kernel = array<i64: 2, 2>, layout = \"NHWC\", pads = array<i64: 1, 1, 0, 0>}} : {image}
                   {kernel}
                   %y = nn.max_pool2d %k {{kernel = array<i64: 2, 2>, layout = \"NHWC\", pads = array<i64: 1, 1, 0, 0>}} : {image}
                   return %y : {image}
                 }}"
            ),
        );
    }
}

/// A value is overwritten in place, and right after that the same bytes are read by another name and through
/// a view.
#[test]
fn what_overlaps_is_read_after_it_is_written() {
    check(
        &[4, 16],
        "func.func @main(%x: tensor<4x16xf32>) -> (tensor<16x4xf32>, tensor<4x16xf32>) {
           %0 = nn.exp %x : tensor<4x16xf32>
           %1 = nn.neg %0 : tensor<4x16xf32>
           %2 = nn.reshape %1 {shape = array<i64: 16, 4>} : (tensor<4x16xf32>) -> tensor<16x4xf32>
           %3 = nn.reduce_max %2 {axes = array<i64: 1>, keepdims} : (tensor<16x4xf32>) -> tensor<16x1xf32>
           %4 = nn.sub %2, %3 : (tensor<16x4xf32>, tensor<16x1xf32>) -> tensor<16x4xf32>
           %5 = nn.reshape %4 {shape = array<i64: 4, 16>} : (tensor<16x4xf32>) -> tensor<4x16xf32>
           %6 = nn.mul %5, %x : tensor<4x16xf32>
           %7 = nn.reduce_max %6 {axes = array<i64: 1>, keepdims} : (tensor<4x16xf32>) -> tensor<4x1xf32>
           %8 = nn.add %6, %7 : (tensor<4x16xf32>, tensor<4x1xf32>) -> tensor<4x16xf32>
           %9 = nn.reshape %8 {shape = array<i64: 16, 4>} : (tensor<4x16xf32>) -> tensor<16x4xf32>
           return %9, %x : tensor<16x4xf32>, tensor<4x16xf32>
         }",
    );
}
