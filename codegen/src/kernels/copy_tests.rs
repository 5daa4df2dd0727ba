//! That copied views, paddings and pools give the interpreter's bits.

use std::sync::Arc;

use crate::testing::{Net, check, check_bytes};
use ir::plan::attrs;
use ir::{Context, FloatKind};

fn numbers(count: usize) -> Vec<f32> {
    (0..count as u32).map(|i| (i * 7919 % 2003) as f32 * 0.01 - 10.0).collect()
}

#[test]
fn transposes_slices_and_broadcasts_are_copied() {
    let shape = [2u64, 5, 4, 7];
    let x = numbers(280);
    for permutation in [[0, 2, 3, 1], [0, 3, 1, 2], [3, 2, 1, 0], [1, 0, 3, 2]] {
        let mut net = Net::f32(&[&shape]);
        let attrs = [("permutation", net.ctx.ints_attr(&permutation))];
        let y = net.op("nn.transpose", &[net.arg(0)], &attrs);
        check(net, &[y], &[&x]);
    }
    let mut net = Net::f32(&[&shape]);
    let attrs = [
        ("starts", net.ctx.ints_attr(&[0, 1, 0, 6])),
        ("sizes", net.ctx.ints_attr(&[2, 2, 4, 3])),
        ("strides", net.ctx.ints_attr(&[1, 2, 1, -2])),
    ];
    let window = net.op("nn.slice", &[net.arg(0)], &attrs);
    let wide = [("shape", net.ctx.ints_attr(&[3, 2, 2, 4, 3]))];
    let wide = net.op("nn.broadcast", &[window], &wide);
    check(net, &[window, wide], &[&x]);
}

#[test]
fn parts_of_a_concatenation_are_copied_to_their_places() {
    for axis in 0..3 {
        let mut net = Net::f32(&[&[2, 3, 4], &[2, 3, 4]]);
        let attrs = [("axis", net.ctx.int_attr(axis))];
        let operands = [net.arg(0), net.arg(1), net.arg(0)];
        let y = net.op("nn.concat", &operands, &attrs);
        check(net, &[y], &[&numbers(24), &numbers(24)]);
    }
}

#[test]
fn a_window_is_updated_in_a_copy_or_in_place() {
    let window =
        |net: &Net| [("starts", net.ctx.ints_attr(&[1, 4])), ("strides", net.ctx.ints_attr(&[1, -2]))];
    let mut net = Net::f32(&[&[2, 3], &[4, 5]]);
    let attrs = window(&net);
    let copied = net.op("nn.insert_slice", &[net.arg(0), net.arg(1)], &attrs);
    let negated = net.op("nn.neg", &[net.arg(1)], &[]);
    let tied = [attrs[0], attrs[1], (attrs::MEM_TIE, net.ctx.ints_attr(&[1]))];
    let updated = net.op("nn.insert_slice", &[net.arg(0), negated], &tied);
    check(net, &[copied, updated], &[&numbers(6), &numbers(20)]);
}

#[test]
fn paddings_add_and_cut() {
    for (low, high) in [([1, 2], [0, 3]), ([-1, 0], [2, -2]), ([0, 0], [0, 0])] {
        let mut net = Net::f32(&[&[4, 5]]);
        let attrs = [
            ("low", net.ctx.ints_attr(&low)),
            ("high", net.ctx.ints_attr(&high)),
            ("value", net.ctx.f32_attr(1.25)),
        ];
        let y = net.op("nn.pad", &[net.arg(0)], &attrs);
        check(net, &[y], &[&numbers(20)]);
    }
}

#[test]
fn pools_count_as_the_interpreter_does() {
    for name in ["nn.max_pool2d", "nn.avg_pool2d"] {
        for extra in [None, Some("ceil"), Some("count_include_pad")] {
            let Some(extra) = extra.filter(|extra| name == "nn.avg_pool2d" || *extra == "ceil") else {
                continue;
            };
            let x = numbers(2 * 9 * 8 * 19);
            let halves: Vec<u8> = x.iter().flat_map(|x| kernels::nearest_bf16(*x).to_le_bytes()).collect();
            for kind in [FloatKind::F32, FloatKind::Bf16] {
                let ctx = Arc::new(Context::new());
                let mut net = Net::new(&[(&[2, 9, 8, 19], ctx.float(kind))], ctx.clone());
                let attrs = [
                    ("kernel", ctx.ints_attr(&[3, 2])),
                    ("strides", ctx.ints_attr(&[2, 3])),
                    ("pads", ctx.ints_attr(&[1, 0, 1, 1])),
                    ("layout", ctx.str_attr("NHWC")),
                    (extra, ctx.unit_attr()),
                ];
                let y = net.op(name, &[net.arg(0)], &attrs);
                match kind {
                    FloatKind::F32 => check(net, &[y], &[&x]),
                    _ => check_bytes(net, &[y], &[&halves]),
                }
            }
        }
    }
}

#[test]
fn a_pool_in_bands_of_rows_counts_as_the_whole_one_does() {
    for name in ["nn.max_pool2d", "nn.avg_pool2d"] {
        for extra in ["ceil", "count_include_pad"] {
            if name == "nn.max_pool2d" && extra != "ceil" {
                continue;
            }
            for rows in [1, 2, 3, 9, -1, -2] {
                let mut net = Net::f32(&[&[1, 12, 8, 19]]);
                let attrs = [
                    ("kernel", net.ctx.ints_attr(&[3, 2])),
                    ("strides", net.ctx.ints_attr(&[2, 3])),
                    ("pads", net.ctx.ints_attr(&[1, 0, 1, 1])),
                    ("layout", net.ctx.str_attr("NHWC")),
                    (attrs::MEM_OVERLAP, net.ctx.ints_attr(&[0, rows])),
                    (extra, net.ctx.unit_attr()),
                ];
                let y = net.op(name, &[net.arg(0)], &attrs);
                check(net, &[y], &[&numbers(12 * 8 * 19)]);
            }
        }
    }
}

#[test]
fn a_batch_norm_that_was_not_folded_is_pointwise() {
    let mut net = Net::f32(&[&[2, 3, 3, 5]]);
    let mut operands = vec![net.arg(0)];
    for seed in 1..5 {
        let values: Vec<f32> = (0..5).map(|i| (i * seed) as f32 * 0.1 + 0.3).collect();
        operands.push(net.constant(&[5], &values));
    }
    let attrs = [("axis", net.ctx.int_attr(3))];
    let y = net.op("nn.batch_norm", &operands, &attrs);
    check(net, &[y], &[&numbers(90)]);
}

#[test]
fn a_softmax_along_any_axis_has_the_interpreters_bits() {
    for axis in 0..3 {
        let mut net = Net::f32(&[&[3, 4, 21]]);
        let attrs = [("axis", net.ctx.int_attr(axis))];
        let y = net.op("nn.softmax", &[net.arg(0)], &attrs);
        check(net, &[y], &[&numbers(252)]);
    }
}
