//! That matrix products compute the results of plain loops, with the same bits on every instruction set and
//! for every division into parts.

use crate::common::{Rng, assert_same_bits, input, or_few, output, run, ways};
use kernels::{Activation, Gemm, GemmShape, Isa};

/// The operands of a product; `c` initially holds the residual.
struct Data {
    a: Vec<f32>,
    b: Vec<f32>,
    bias: Vec<f32>,
    c: Vec<f32>,
}

fn data(rng: &mut Rng, shape: &GemmShape) -> Data {
    let GemmShape { m, n, k, a_stride, c_stride, .. } = *shape;
    Data {
        a: rng.floats(m * a_stride),
        b: rng.floats(k * n),
        bias: rng.floats(n),
        c: rng.floats(m * c_stride),
    }
}

fn kernel_result(
    shape: &GemmShape,
    data: &Data,
    activation: Activation,
    isa: Isa,
    threads: usize,
) -> Vec<f32> {
    let gemm = Gemm::new(shape, activation, isa, threads);
    let mut packed = vec![f32::NAN; gemm.packed_len()];
    gemm.pack(&data.b, shape.n, 1, &mut packed);
    let mut c = data.c.clone();
    let c_data = output(&mut c);
    run(&gemm, &[c_data, input(&data.a), input(&packed), input(&data.bias), c_data]);
    c
}

fn check(shape: &GemmShape, activation: Activation, seed: u64) {
    let data = data(&mut Rng::new(seed), shape);
    let found: Vec<Vec<f32>> = ways()
        .into_iter()
        .map(|(isa, threads)| kernel_result(shape, &data, activation, isa, threads))
        .collect();
    for other in &found {
        assert_same_bits(&found[0], other, shape);
    }
    let GemmShape { n, k, a_stride, c_stride, .. } = *shape;
    for (index, &value) in found[0].iter().enumerate() {
        let (row, column) = (index / c_stride, index % c_stride);
        if column >= n {
            assert_eq!(value.to_bits(), data.c[index].to_bits(), "wrote between the rows");
            continue;
        }
        let products =
            (0..k).map(|k| f64::from(data.a[row * a_stride + k]) * f64::from(data.b[k * n + column]));
        let start = f64::from(data.c[index]) + f64::from(data.bias[column]);
        let (sum, size) = products.fold((start, start.abs()), |(sum, size), x| (sum + x, size + x.abs()));
        let want = activation.apply(sum as f32);
        let bound = (k + 3) as f64 * f64::from(f32::EPSILON) * size + 1e-6;
        assert!(
            (f64::from(value) - f64::from(want)).abs() <= bound,
            "{value} for {want} at {index} of {shape:?}"
        );
    }
}

#[test]
fn random_products_agree() {
    let mut rng = Rng::new(1);
    let [most_m, most_n, most_k] = or_few([40, 100, 90], [15, 36, 4]);
    for seed in 0..or_few(60, 5) {
        let (m, n, k) = (rng.between(1, most_m), rng.between(1, most_n), rng.between(1, most_k));
        let (a_stride, c_stride) = (k + rng.between(0, 3), n + rng.between(0, 3));
        let shape = GemmShape { m, n, k, a_stride, c_stride, residual_stride: c_stride };
        let activation = rng.pick(&[Activation::None, Activation::Relu, Activation::Gelu, Activation::Tanh]);
        check(&shape, activation, seed);
    }
}

#[test]
fn products_of_one_row_agree() {
    for (seed, n) in [1, 15, 33, 300].into_iter().enumerate() {
        check(&GemmShape::dense(1, n, or_few(700, 20)), Activation::None, seed as u64);
    }
}

/// Rows read in place, one and many, and rows that are copied (4096 bytes apart), with several blocks of K;
/// the last columns do not fill a panel.
#[test]
fn a_function_that_is_not_computed_in_tiles_is_applied_once_to_each_of_many_panels() {
    let n = or_few(700, 280);
    for (seed, (m, k)) in [(1, 9), (3, 9), (20, 9), (13, or_few(2048, 1024))].into_iter().enumerate() {
        for activation in [Activation::Gelu, Activation::Silu, Activation::LeakyRelu { alpha: 0.5 }] {
            check(&GemmShape::dense(m, n, k), activation, seed as u64);
        }
    }
}

#[test]
fn a_product_without_depth_is_the_bias_and_the_residual() {
    // Many rows at the same address would be copied.
    for rows in [5, 13, 40] {
        check(&GemmShape::dense(rows, 7, 0), Activation::Relu, 0);
    }
}

#[test]
fn both_orders_of_b_pack_to_the_same_bytes() {
    let (n, k) = (45, 9);
    let gemm = Gemm::new(&GemmShape::dense(3, n, k), Activation::None, Isa::Scalar, 1);
    let b = Rng::new(1).floats(k * n);
    let transposed: Vec<f32> = (0..n * k).map(|index| b[index % k * n + index / k]).collect();
    let (mut by_rows, mut by_columns) = (vec![1.0; gemm.packed_len()], vec![2.0; gemm.packed_len()]);
    gemm.pack(&b, n, 1, &mut by_rows);
    gemm.pack(&transposed, 1, k, &mut by_columns);
    assert_eq!(by_rows, by_columns);
}
