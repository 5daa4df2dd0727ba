//! Convolutions, products and pools against ONNX Runtime 1.31 on whole numbers: sums are exact in any order.

use super::*;
use crate::interp::element::{Elem, read_all};
use crate::types::{Signedness, TypeData};

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

/// `ui8`.
fn unsigned(ctx: &Context) -> Type {
    ctx.ty(TypeData::Integer { width: 8, signedness: Signedness::Unsigned })
}

/// Bytes of a shape, of any sign; `step` varies them.
fn bytes(ctx: &Context, shape: &[u64], elem: Type, step: u64) -> Tensor {
    let count: u64 = shape.iter().product();
    let bytes: Vec<u8> = (0..count).map(|i| (i * step + 101) as u8).collect();
    Tensor { ty: ctx.tensor(shape, elem), bytes: bytes.into() }
}

/// The numeric values of bytes.
fn numbers_of(ctx: &Context, tensor: &Tensor) -> Vec<f32> {
    let elem = Elem::of(ctx, tensor.ty).unwrap();
    read_all::<i64>(elem, &tensor.bytes).into_iter().map(|number| number as f32).collect()
}

/// The numeric values of bytes minus zero points, which repeat along the innermost of the `inner` last
/// elements.
fn distances(ctx: &Context, numbers: &Tensor, zeros: &Tensor, inner: usize) -> Tensor {
    let shape = ctx.static_shape(numbers.ty).unwrap();
    let zeros = numbers_of(ctx, zeros);
    let less = |(i, number): (usize, f32)| number - zeros[i / inner % zeros.len()];
    let values: Vec<f32> = numbers_of(ctx, numbers).into_iter().enumerate().map(less).collect();
    Tensor::from_f32(ctx, &shape, &values)
}

#[test]
fn quantized_contractions_are_those_of_the_distances_from_zero_points() {
    let ctx = Context::new();
    let signs = [ctx.int(8), unsigned(&ctx)];
    for (first, second) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let (first, second) = (signs[first], signs[second]);
        let x_zero = bytes(&ctx, &[], first, 1);
        let (a, b) = (bytes(&ctx, &[2, 3, 5], first, 37), bytes(&ctx, &[5, 4], second, 91));
        let turned = bytes(&ctx, &[4, 5], second, 91);
        let to_turn = [("transpose_b", ctx.unit_attr())];
        let (x, w) = (bytes(&ctx, &[1, 4, 5, 4], first, 59), bytes(&ctx, &[4, 2, 3, 2], second, 83));
        let window = [
            ("groups", ctx.int_attr(2)),
            ("dilations", ctx.ints_attr(&[1, 2])),
            ("strides", ctx.ints_attr(&[2, 1])),
            ("pads", ctx.ints_attr(&[1, 0, 2, 1])),
        ];
        for zeros in [&[][..], &[4]] {
            let zero = bytes(&ctx, zeros, second, 67);
            let check = |quantized: &str, floats: &str, x: &Tensor, w: &Tensor, inner: usize, attrs: &[_]| {
                let found = eval(&ctx, quantized, &[x, w, &x_zero, &zero], attrs).unwrap();
                let (x, w) = (distances(&ctx, x, &x_zero, 1), distances(&ctx, w, &zero, inner));
                let expected = eval(&ctx, floats, &[&x, &w], attrs).unwrap();
                assert_eq!(numbers_of(&ctx, &found), expected.to_f32(), "{quantized} {zeros:?} {attrs:?}");
                assert_eq!(ctx.elem(found.ty), ctx.int(32));
            };
            check("nn.quantized_matmul", "nn.matmul", &a, &b, 1, &[]);
            check("nn.quantized_matmul", "nn.matmul", &a, &turned, 5, &to_turn);
            check("nn.quantized_conv2d", "nn.conv2d", &x, &w, 12, &window);
        }
    }
}

#[test]
fn quantized_sums_wrap() {
    let ctx = Context::new();
    let filled = |shape: &[u64], elem: Type, byte: u8| {
        let count: u64 = shape.iter().product();
        Tensor { ty: ctx.tensor(shape, elem), bytes: vec![byte; count as usize].into() }
    };
    let depth = 40_000;
    let (a, b) = (filled(&[1, depth], unsigned(&ctx), 255), filled(&[depth, 1], unsigned(&ctx), 255));
    let zero = filled(&[], unsigned(&ctx), 0);
    let sum = eval(&ctx, "nn.quantized_matmul", &[&a, &b, &zero, &zero], &[]).unwrap();
    assert_eq!(sum.bytes[..], (40_000i64 * 255 * 255).to_le_bytes()[..4]);
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
