//! That pointwise steps compute their scalar meaning: shapes, broadcasts, special numbers, groups, threads.

use ir::scalar::{Binary, Unary};

use super::expr::{ExprBuilder, ExprNode, NodeOp};
use super::lanes;
use super::testing::check;
use crate::elem::ElemType;
use crate::testing::Net;

fn ramp(count: usize) -> Vec<f32> {
    (0..count).map(|i| (i as f32 - count as f32 / 2.0) * 0.37).collect()
}

#[test]
fn a_relu_of_every_length_is_right() {
    for count in [1, 2, 3, 4, 5, 15, 16, 17, 31, 63, 64, 65, 1000, 100_000] {
        let x = ramp(count);
        let mut net = Net::f32(&[&[count as u64]]);
        let y = net.op("nn.relu", &[net.arg(0)], &[]);
        let expected: Vec<f32> = x.iter().map(|x| if *x > 0.0 { *x } else { 0.0 }).collect();
        assert_eq!(net.run(&[y], &[&x])[0], expected, "{count} elements");
    }
}

#[test]
fn operands_broadcast_as_in_numpy() {
    for (a, b) in [
        (&[2, 3, 5][..], &[5][..]),
        (&[2, 3, 5], &[3, 1]),
        (&[2, 1, 5], &[3, 1]),
        (&[1, 40, 40, 24], &[24]),
        (&[1, 24, 40, 40], &[24, 1, 1]),
        (&[4], &[]),
        (&[1, 7], &[9, 1]),
    ] {
        let shape = |axis: usize, shape: &[u64], rank: usize| match (axis + shape.len()).checked_sub(rank) {
            Some(axis) => shape[axis],
            None => 1,
        };
        let rank = a.len().max(b.len());
        let space: Vec<u64> = (0..rank).map(|axis| shape(axis, a, rank).max(shape(axis, b, rank))).collect();
        let count = |shape: &[u64]| shape.iter().product::<u64>() as usize;
        let (x, y) = (ramp(count(a)), ramp(count(b)));
        let element = |values: &[f32], from: &[u64], mut index: usize| {
            let (mut at, mut stride) = (0, 1);
            for axis in (0..rank).rev() {
                let i = index % space[axis] as usize;
                index /= space[axis] as usize;
                let size = shape(axis, from, rank) as usize;
                at += if size == 1 { 0 } else { i * stride };
                stride *= size;
            }
            values[at]
        };
        let expected: Vec<f32> = (0..count(&space)).map(|i| element(&x, a, i) - element(&y, b, i)).collect();
        let mut net = Net::f32(&[a, b]);
        let z = net.op("nn.sub", &[net.arg(0), net.arg(1)], &[]);
        assert_eq!(net.run(&[z], &[&x, &y])[0], expected, "{a:?} - {b:?}");
    }
}

#[test]
fn max_and_min_choose_as_their_definition_says() {
    let numbers = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0, 1.0, -1.0, 1e-40];
    let x: Vec<f32> = numbers.iter().flat_map(|x| [*x; 8]).collect();
    let y: Vec<f32> = [numbers; 8].concat();
    let mut net = Net::f32(&[&[64], &[64]]);
    let max = net.op("nn.max", &[net.arg(0), net.arg(1)], &[]);
    let min = net.op("nn.min", &[net.arg(0), net.arg(1)], &[]);
    let results = net.run(&[max, min], &[&x, &y]);
    let bits = |values: &[f32]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    let pairs = || x.iter().zip(&y);
    let expected: Vec<f32> = pairs().map(|(x, y)| if x > y { *x } else { *y }).collect();
    assert_eq!(bits(&results[0]), bits(&expected));
    let expected: Vec<f32> = pairs().map(|(x, y)| if x < y { *x } else { *y }).collect();
    assert_eq!(bits(&results[1]), bits(&expected));
}

#[test]
fn a_group_with_functions_computes_in_stages() {
    for count in [1, 7, 15, 16, 17, 63, 65, 1000, 1023, 1024, 1025, 2500, 10_240, 20_000] {
        let (x, y) = (ramp(count), ramp(count).iter().map(|x| x * 0.1).collect::<Vec<f32>>());
        let mut net = Net::f32(&[&[count as u64], &[count as u64]]);
        let z = net.group(&[net.arg(0), net.arg(1)], |builder, args| {
            let sum = builder.value("nn.add", &[args[0], args[1]], &[]).unwrap();
            let gate = builder.value("nn.sigmoid", &[sum], &[]).unwrap();
            let soft = builder.value("nn.softplus", &[args[1]], &[]).unwrap();
            let product = builder.value("nn.mul", &[sum, gate], &[]).unwrap();
            builder.value("nn.sub", &[product, soft], &[]).unwrap()
        });
        use kernels::scalar::{sigmoid, softplus};
        let expected: Vec<f32> =
            x.iter().zip(&y).map(|(x, y)| (x + y) * sigmoid(x + y) - softplus(*y)).collect();
        assert_eq!(net.run(&[z], &[&x, &y])[0], expected, "{count} elements");
    }
}

/// The scratch of the last operation of a function on two threads, and the upper bound for sizes up to these.
fn scratch_bytes(shape: &[u64], make: impl FnOnce(&mut Net) -> ir::Value) -> [u64; 2] {
    let mut net = Net::f32(&[shape]);
    let value = make(&mut net);
    let op = net.body.defining_op(value).expect("it was just made");
    let machine = crate::Cpu::native().machine(2);
    let lowered = crate::lower::lower(net.body.at(&net.ctx, op), &machine).expect("it has a kernel");
    [lowered.scratch_bytes(2), lowered.most_scratch_bytes(2)]
}

#[test]
fn scratch_has_the_size_of_what_is_computed() {
    let exp = |shape: &[u64]| scratch_bytes(shape, |net| net.op("nn.exp", &[net.arg(0)], &[]));
    assert_eq!([exp(&[4]), exp(&[100_000])], [[0; 2]; 2], "the function writes the result itself");
    let gated = |shape: &[u64]| {
        scratch_bytes(shape, |net| {
            net.group(&[net.arg(0)], |builder, args| {
                let gate = builder.value("nn.sigmoid", &[args[0]], &[]).unwrap();
                builder.value("nn.mul", &[args[0], gate], &[]).unwrap()
            })
        })
    };
    assert_eq!(gated(&[4]), [64, 128], "a vector of 16, by one worker");
    assert_eq!(gated(&[10, 10]), [448, 896]);
    assert_eq!(gated(&[100_000]), [8192; 2], "a strip of 1024 for each of two workers");
    let softmax = |shape: &[u64]| {
        scratch_bytes(shape, |net| net.op("nn.softmax", &[net.arg(0)], &[("axis", net.ctx.int_attr(0))]))
    };
    assert_eq!(softmax(&[8, 1]), [64; 2], "the greatest elements, and the sums");
    assert_eq!(softmax(&[64]), [0; 2], "a row");
}

#[test]
fn a_comparison_of_integers_selects() {
    let ctx = std::sync::Arc::new(ir::Context::new());
    let (i64, f32) = (ctx.int(64), ctx.f32());
    let mut net = Net::new(&[(&[3], f32), (&[3], f32)], ctx.clone());
    let to_i64 = [("to", ctx.type_attr(i64))];
    let (a, b) = (net.op("nn.cast", &[net.arg(0)], &to_i64), net.op("nn.cast", &[net.arg(1)], &to_i64));
    let less = net.op("nn.lt", &[a, b], &[]);
    let quotient = net.op("nn.div", &[a, b], &[]);
    let quotient = net.op("nn.cast", &[quotient], &[("to", ctx.type_attr(f32))]);
    let chosen = net.op("nn.select", &[less, net.arg(0), quotient], &[]);
    assert_eq!(net.run(&[chosen], &[&[-7.5, 9.9, 5.0], &[2.0, 2.0, 0.0]])[0], [-7.5, 4.0, 0.0]);
}

#[test]
fn the_bits_of_an_input_are_read_as_the_view_says() {
    let ctx = std::sync::Arc::new(ir::Context::new());
    let mut net = Net::new(&[(&[4], ctx.f32())], ctx.clone());
    let to = |elem| [("to", ctx.type_attr(elem))];
    let exponent = net.group(&[net.arg(0)], |builder, args| {
        let bits = builder.value("nn.bitcast", &[args[0]], &to(ctx.int(32))).unwrap();
        let doubled = builder.value("nn.add", &[bits, bits], &[]).unwrap();
        builder.value("nn.cast", &[doubled], &to(ctx.f32())).unwrap()
    });
    let x = [1.0f32, -2.0, 0.0, 1e-45];
    let expected = x.map(|x| x.to_bits().cast_signed().wrapping_mul(2) as f32);
    assert_eq!(net.run(&[exponent], &[&x])[0], expected);
}

/// Also of types that generated code does not compute with.
#[test]
fn a_group_may_be_a_lone_view_of_bits_of_any_type() {
    let ctx = std::sync::Arc::new(ir::Context::new());
    let ty = |text: &str| ir::text::parse_type(&ctx, text).unwrap();
    let widths: [(usize, &[&str]); 4] = [
        (1, &["i8", "ui8", "f8E4M3FN", "f8E5M2", "f8E8M0FNU"]),
        (2, &["i16", "ui16", "f16", "bf16"]),
        (4, &["i32", "f32"]),
        (8, &["i64", "f64"]),
    ];
    for (width, types) in widths {
        for (from, to) in types.iter().flat_map(|from| types.iter().map(move |to| (*from, *to))) {
            let mut net = Net::new(&[(&[5], ty(from))], ctx.clone());
            let bits = net.group(&[net.arg(0)], |builder, args| {
                builder.value("nn.bitcast", &[args[0]], &[("to", ctx.type_attr(ty(to)))]).unwrap()
            });
            let bytes = (0..5 * width).map(|at| (at * 37 + 11) as u8).collect();
            check(net, bits, &[bytes], &format!("{from} to {to}"));
        }
    }
}

#[test]
fn what_a_group_may_only_move_it_does_not_compute_with() {
    let ctx = std::sync::Arc::new(ir::Context::new());
    let narrow = ir::text::parse_type(&ctx, "f8E4M3FN").unwrap();
    let mut net = Net::new(&[(&[4], narrow)], ctx.clone());
    net.group(&[net.arg(0)], |builder, args| {
        builder.value("nn.cast", &[args[0]], &[("to", ctx.type_attr(ctx.f32()))]).unwrap()
    });
    let op = net.body.ops(net.body.entry(net.body.root()).unwrap()).next().unwrap();
    let machine = crate::Cpu::native().machine(1);
    assert!(crate::lower::lower(net.body.at(&ctx, op), &machine).is_err());
}

/// Whether a group is refused of one operation on the root of a matrix.
fn is_refused(name: &str, attrs: impl FnOnce(&ir::Context) -> (&'static str, ir::Attr)) -> bool {
    let mut net = Net::f32(&[&[4, 4]]);
    let attrs = [attrs(&net.ctx)];
    net.group(&[net.arg(0)], |builder, args| {
        let root = builder.value("nn.sqrt", &[args[0]], &[]).unwrap();
        builder.value(name, &[root], &attrs).unwrap()
    });
    let op = net.body.ops(net.body.entry(net.body.root()).unwrap()).next().unwrap();
    let machine = crate::Cpu::native().machine(1);
    crate::lower::lower(net.body.at(&net.ctx, op), &machine).is_err()
}

#[test]
fn a_computed_value_has_no_other_bits_and_order_in_a_group() {
    assert!(is_refused("nn.bitcast", |ctx| ("to", ctx.type_attr(ctx.int(32)))));
    assert!(is_refused("nn.transpose", |ctx| ("permutation", ctx.ints_attr(&[1, 0]))));
    assert!(is_refused("nn.reshape", |ctx| ("shape", ctx.ints_attr(&[16]))));
    assert!(!is_refused("nn.reshape", |ctx| ("shape", ctx.ints_attr(&[4, 4]))));
}

#[test]
fn what_elements_have_no_function_for_is_refused() {
    let [int, float, bool] = [ElemType::Int { bits: 32, signed: true }, ElemType::F32, ElemType::Bool];
    let is_possible = |elem, result, make: fn([ExprNode; 3]) -> NodeOp| {
        let mut builder = ExprBuilder::default();
        let args = [0, 1, 2].map(|index| builder.add(elem, NodeOp::Input(index)));
        let node = builder.add(result, make(args));
        let expr = builder.finish();
        lanes::check(&expr, expr.node(node)).is_ok()
    };
    for (possible, make) in [
        ([true, false, true], (|[a, ..]| NodeOp::Unary(Unary::Not, a)) as fn([ExprNode; 3]) -> NodeOp),
        ([true, true, false], |[a, ..]| NodeOp::Unary(Unary::Neg, a)),
        ([true, true, false], |[a, ..]| NodeOp::Unary(Unary::Abs, a)),
        ([false, true, false], |[a, ..]| NodeOp::Unary(Unary::Sqrt, a)),
        ([false, true, false], |[a, ..]| NodeOp::Unary(Unary::Exp, a)),
        ([true, true, false], |[a, b, _]| NodeOp::Binary(Binary::Add, a, b)),
        ([true, false, true], |[a, b, _]| NodeOp::Binary(Binary::And, a, b)),
        ([true, false, false], |[a, b, _]| NodeOp::Binary(Binary::Shl, a, b)),
        ([false, true, false], |[a, b, c]| NodeOp::Fma(a, b, c)),
        ([false, false, true], |[a, b, c]| NodeOp::Select(a, b, c)),
        ([true, true, true], |[a, ..]| NodeOp::Convert(a)),
    ] {
        assert_eq!([int, float, bool].map(|elem| is_possible(elem, elem, make)), possible);
    }
    // Truth values are compared.
    assert!(is_possible(bool, bool, |[a, b, _]| NodeOp::Binary(Binary::Lt, a, b)));
}
