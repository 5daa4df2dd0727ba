//! Convolutions, products and pools against ONNX Runtime 1.31 on whole numbers, where every order of sums is
//! exact.

use super::*;

#[test]
fn a_grouped_dilated_strided_padded_convolution_is_onnx_runtimes() {
    let ctx = Context::new();
    let (input, filter, bias) =
        (numbers(&ctx, &[1, 4, 5, 4]), numbers(&ctx, &[6, 2, 3, 2]), numbers(&ctx, &[6]));
    let attrs = [
        ("groups", ctx.int_attr(2)),
        ("dilations", ctx.ints_attr(&[1, 2])),
        ("strides", ctx.ints_attr(&[2, 1])),
        ("pads", ctx.ints_attr(&[1, 0, 2, 1])),
    ];
    let result = eval(&ctx, "nn.conv2d", &[&input, &filter, &bias], &attrs).unwrap();
    let expected = "-46 33 22 -57 18 0 -32 -33 -10 14 -10 -40 10 46 -32 -9 19 3 19 -20 19 44 -36 13 36 16 -17 9 \
        -23 6 -7 28 -29 23 43 -37 19 5 -4 51 -41 6 18 -10 28 -4 -33 -14 -23 0 19 -31 -30 16";
    assert_eq!(text(&result), expected);
    assert_eq!(ctx.static_shape(result.ty).unwrap(), [1, 6, 3, 3]);
}

#[test]
fn a_convolution_without_bias_and_a_depthwise_one_are_onnx_runtimes() {
    let ctx = Context::new();
    let (input, filter) = (numbers(&ctx, &[2, 3, 2, 2]), numbers(&ctx, &[2, 3, 1, 1]));
    let result = eval(&ctx, "nn.conv2d", &[&input, &filter], &[]).unwrap();
    assert_eq!(text(&result), "35 -22 20 -15 -12 -2 -3 40 -22 20 -15 -17 -2 -3 40 -5");
    let (input, filter) = (numbers(&ctx, &[1, 3, 4, 4]), numbers(&ctx, &[3, 1, 3, 3]));
    let attrs = [
        ("groups", ctx.int_attr(3)),
        ("strides", ctx.ints_attr(&[2, 2])),
        ("pads", ctx.ints_attr(&[1, 1, 1, 1])),
    ];
    let result = eval(&ctx, "nn.conv2d", &[&input, &filter], &attrs).unwrap();
    assert_eq!(text(&result), "1 -19 3 40 13 10 19 9 21 -22 -48 2");
}

#[test]
fn channels_last_gives_the_transposed_result() {
    let ctx = Context::new();
    let (input, filter) = (numbers(&ctx, &[2, 6, 7, 5]), numbers(&ctx, &[4, 3, 3, 3]));
    let window = [("pads", ctx.ints_attr(&[1, 0, 1, 1])), ("groups", ctx.int_attr(2))];
    let to_last = [("permutation", ctx.ints_attr(&[0, 2, 3, 1]))];
    let first = eval(&ctx, "nn.conv2d", &[&input, &filter], &window).unwrap();
    let first = eval(&ctx, "nn.transpose", &[&first], &to_last).unwrap();
    let input = eval(&ctx, "nn.transpose", &[&input], &to_last).unwrap();
    let attrs = [window[0], window[1], ("layout", ctx.str_attr("NHWC"))];
    assert_eq!(eval(&ctx, "nn.conv2d", &[&input, &filter], &attrs).unwrap(), first);
}

#[test]
fn products_of_matrices_broadcast_and_transpose_as_onnx_runtimes() {
    let ctx = Context::new();
    let product = |a: &[u64], b: &[u64]| {
        text(&eval(&ctx, "nn.matmul", &[&numbers(&ctx, a), &numbers(&ctx, b)], &[]).unwrap())
    };
    let batches = "19 6 -30 24 -26 16 19 18 6 4 24 -21 -24 20 -18 16 20 20 21 22 20 -24 16 -27";
    assert_eq!(product(&[2, 1, 2, 3], &[3, 3, 2]), batches);
    assert_eq!(product(&[2, 2, 3], &[3]), "33 -17 -12 -7");
    assert_eq!(product(&[3], &[2, 3, 2]), "19 6 -26 16");
    let attrs = [("transpose_a", ctx.unit_attr()), ("transpose_b", ctx.unit_attr())];
    let operands = [&numbers(&ctx, &[3, 2]), &numbers(&ctx, &[4, 3]), &numbers(&ctx, &[4])];
    let gemm = eval(&ctx, "nn.matmul", &operands, &attrs).unwrap();
    assert_eq!(text(&gemm), "14 -28 -26 -13 1 26 18 21");
}

#[test]
fn products_larger_than_a_tile_are_sums_of_products() {
    let ctx = Context::new();
    let (rows, depth, columns) = (11, 13, 301);
    let (a, b) = (numbers(&ctx, &[rows, depth]), numbers(&ctx, &[depth, columns]));
    let found = eval(&ctx, "nn.matmul", &[&a, &b], &[]).unwrap().to_f32();
    let (a, b) = (a.to_f32(), b.to_f32());
    let [rows, depth, columns] = [rows, depth, columns].map(|size| size as usize);
    for row in 0..rows {
        for column in 0..columns {
            let sum: f32 = (0..depth).map(|k| a[row * depth + k] * b[k * columns + column]).sum();
            assert_eq!(found[row * columns + column], sum, "row {row}, column {column}");
        }
    }
}

#[test]
fn a_pool_that_rounds_up_is_onnx_runtimes() {
    let ctx = Context::new();
    let attrs = [
        ("kernel", ctx.ints_attr(&[3, 2])),
        ("strides", ctx.ints_attr(&[2, 2])),
        ("pads", ctx.ints_attr(&[1, 0, 0, 1])),
        ("dilations", ctx.ints_attr(&[1, 2])),
        ("ceil", ctx.unit_attr()),
    ];
    let result = eval(&ctx, "nn.max_pool2d", &[&numbers(&ctx, &[1, 2, 5, 5])], &attrs).unwrap();
    assert_eq!(text(&result), "0 3 3 4 5 5 4 4 -2 5 2 2 3 4 4 5 5 -3");
    let attrs = [
        ("kernel", ctx.ints_attr(&[2, 3])),
        ("strides", ctx.ints_attr(&[2, 2])),
        ("pads", ctx.ints_attr(&[0, 1, 0, 1])),
        ("ceil", ctx.unit_attr()),
    ];
    let result = eval(&ctx, "nn.avg_pool2d", &[&numbers(&ctx, &[1, 1, 5, 5])], &attrs).unwrap();
    assert_eq!(text(&result), "-0.5 0.8333333 1.25 -2 -0.6666667 -0.25 1 -1.3333334 0");
}

#[test]
fn a_mean_counts_padding_where_it_is_told_to_but_not_what_rounding_up_adds() {
    let ctx = Context::new();
    let attrs = [
        ("kernel", ctx.ints_attr(&[3, 3])),
        ("strides", ctx.ints_attr(&[2, 2])),
        ("pads", ctx.ints_attr(&[1, 1, 0, 0])),
        ("ceil", ctx.unit_attr()),
        ("count_include_pad", ctx.unit_attr()),
    ];
    let result = eval(&ctx, "nn.avg_pool2d", &[&numbers(&ctx, &[1, 1, 4, 4])], &attrs).unwrap();
    assert_eq!(text(&result), "-0.5555556 0.6666667 -0.33333334 0.22222222");
}

#[test]
fn the_largest_element_is_never_padding_and_nan_if_one_is() {
    let ctx = Context::new();
    let input = Tensor::from_f32(&ctx, &[1, 1, 2, 2], &[-4.0, -3.0, -2.0, f32::NAN]);
    let attrs = [("kernel", ctx.ints_attr(&[2, 2])), ("pads", ctx.ints_attr(&[1, 1, 0, 0]))];
    let result = eval(&ctx, "nn.max_pool2d", &[&input], &attrs).unwrap();
    assert_eq!(text(&result), "-4 -3 -2 NaN");
}
