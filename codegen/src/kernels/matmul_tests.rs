//! That matrix products of computed operands agree with the interpreter.

use crate::testing::{Net, close};

fn numbers(shape: &[u64], seed: u32) -> Vec<f32> {
    let count = shape.iter().product::<u64>() as u32;
    (0..count).map(|i| ((i * 7919 + seed * 104_729) % 2003) as f32 * 0.001 - 1.0).collect()
}

/// Checks a product of both arguments; `transposed` has the attributes for transposed operands.
fn check(a: &[u64], b: &[u64], transposed: &[&'static str]) {
    let mut net = Net::f32(&[a, b]);
    let attrs: Vec<_> = transposed.iter().map(|name| (*name, net.ctx.unit_attr())).collect();
    let y = net.op("nn.matmul", &[net.arg(0), net.arg(1)], &attrs);
    close(net, &[y], &[&numbers(a, 1), &numbers(b, 2)], 1e-4);
}

#[test]
fn matrices_that_are_computed_are_packed_before_they_are_read() {
    for (m, n, k) in [(1, 1, 1), (7, 32, 5), (20, 31, 33), (5, 70, 64), (64, 48, 3)] {
        check(&[m, k], &[k, n], &[]);
        check(&[m, k], &[n, k], &["transpose_b"]);
        check(&[k, m], &[k, n], &["transpose_a"]);
        check(&[k, m], &[n, k], &["transpose_a", "transpose_b"]);
    }
}

#[test]
fn every_pair_of_matrices_is_multiplied_as_numpy_broadcasts() {
    check(&[2, 3, 4, 5], &[2, 3, 5, 40], &[]);
    check(&[2, 1, 4, 5], &[3, 5, 6], &[]);
    check(&[4, 5], &[2, 3, 5, 6], &[]);
    check(&[2, 3, 4, 5], &[5, 33], &[]);
    check(&[3, 5, 4], &[3, 6, 5], &["transpose_a", "transpose_b"]);
    check(&[3, 5, 4], &[5, 6], &["transpose_a"]);
}

#[test]
fn a_vector_is_a_row_on_the_left_and_a_column_on_the_right() {
    check(&[5], &[5, 6], &[]);
    check(&[4, 5], &[5], &[]);
    check(&[2, 4, 5], &[5], &[]);
    check(&[5], &[3, 5, 6], &[]);
}

#[test]
fn what_is_fused_to_products_of_several_matrices_reads_each_its_own_part() {
    let (a, b, sum) = ([2, 3, 4, 5], [2, 3, 5, 6], [2, 3, 4, 6]);
    let mut net = Net::f32(&[&a, &b, &sum]);
    let bias = net.constant(&[6], &numbers(&[6], 3));
    let operands = [net.arg(0), net.arg(1), net.arg(2), bias];
    let y = net.group(&operands, |builder, args| {
        let product = builder.value("nn.matmul", &[args[0], args[1]], &[]).unwrap();
        let biased = builder.value("nn.add", &[product, args[3]], &[]).unwrap();
        let sum = builder.value("nn.add", &[biased, args[2]], &[]).unwrap();
        builder.value("nn.relu", &[sum], &[]).unwrap()
    });
    close(net, &[y], &[&numbers(&a, 1), &numbers(&b, 2), &numbers(&sum, 4)], 1e-4);
}

#[test]
fn weights_of_several_matrices_are_multiplied_too() {
    let mut net = Net::f32(&[&[2, 3, 4]]);
    let weights = net.constant(&[2, 4, 5], &numbers(&[2, 4, 5], 2));
    let y = net.op("nn.matmul", &[net.arg(0), weights], &[]);
    close(net, &[y], &[&numbers(&[2, 3, 4], 1)], 1e-4);
}
