//! That attention gives the results of its operations, and that other groups are refused.

use ir::Value;

use crate::testing::{Net, close};

fn numbers(shape: &[u64], seed: u32) -> Vec<f32> {
    let count = shape.iter().product::<u64>() as u32;
    (0..count).map(|i| ((i * 7919 + seed * 104_729) % 2003) as f32 * 0.001 - 1.0).collect()
}

/// Attention of `[batch, row, head, column]` operands as PyTorch exports it; `heads` of them for q, for k and
/// v. The last operand is one number.
fn check(sizes: [u64; 4], heads: [u64; 2], mask: Option<usize>) {
    let [rows, keys, depth, columns] = sizes;
    let shapes = [
        vec![2, rows, heads[0], depth],
        vec![2, keys, heads[1], depth],
        vec![2, keys, heads[1], columns],
        vec![2, 1, 1, keys],
    ];
    let mut net = Net::f32(&shapes.each_ref().map(Vec::as_slice));
    let factor = net.constant(&[1], &[0.25]);
    let mut operands: Vec<Value> = (0..4).map(|index| net.arg(index)).collect();
    operands.push(factor);
    let ctx = net.ctx.clone();
    let permutation = |axes: [i64; 4]| [("permutation", ctx.ints_attr(&axes))];
    let y = net.group(&operands, |builder, args| {
        let mut op =
            |name: &str, operands: &[Value], attrs: &[_]| builder.value(name, operands, attrs).unwrap();
        let q = op("nn.transpose", &[args[0]], &permutation([0, 2, 1, 3]));
        let q = op("nn.mul", &[q, args[4]], &[]);
        let k = op("nn.transpose", &[args[1]], &permutation([0, 2, 3, 1]));
        let k = op("nn.mul", &[k, args[4]], &[]);
        let v = op("nn.transpose", &[args[2]], &permutation([0, 2, 1, 3]));
        let scores = op("nn.matmul", &[q, k], &[]);
        let scores = op("nn.mul", &[scores, args[4]], &[]);
        let scores = mask.map_or(scores, |mask| op("nn.add", &[scores, args[mask]], &[]));
        let weights = op("nn.softmax", &[scores], &[("axis", ctx.int_attr(3))]);
        let y = op("nn.matmul", &[weights, v], &[]);
        op("nn.transpose", &[y], &permutation([0, 2, 1, 3]))
    });
    let data: Vec<Vec<f32>> = (0..).zip(&shapes).map(|(seed, shape)| numbers(shape, seed)).collect();
    let data: Vec<&[f32]> = data.iter().map(Vec::as_slice).collect();
    close(net, &[y], &data, 1e-5);
}

#[test]
fn heads_beside_each_other_are_read_and_written_where_they_lie() {
    for (sizes, heads) in [([1, 1, 1, 1], 1), ([5, 9, 7, 3], 3), ([64, 64, 64, 64], 2), ([3, 300, 40, 33], 2)]
    {
        check(sizes, [heads; 2], None);
        check(sizes, [heads; 2], Some(3));
    }
}

#[test]
fn heads_may_share_keys_and_values() {
    check([5, 9, 7, 3], [4, 1], Some(3));
}

/// The refusal of a group of three operands, each `[2, 6, 6]`.
fn refusal(fill: impl FnOnce(&mut ir::Builder<'_>, &[Value]) -> Value) -> String {
    let mut net = Net::f32(&[&[2u64, 6, 6] as &[u64]; 3]);
    let operands: Vec<Value> = (0..3).map(|index| net.arg(index)).collect();
    let y = net.group(&operands, fill);
    let op = net.body.defining_op(y).unwrap();
    let machine = crate::Cpu::native().machine(2);
    format!("{:?}", crate::lower::lower(net.body.at(&net.ctx, op), &machine).err())
}

#[test]
fn a_group_around_two_products_that_is_not_attention_is_refused() {
    let along = |axis: i64| {
        refusal(move |builder, args| {
            let axis = [("axis", builder.ctx.int_attr(axis))];
            let scores = builder.value("nn.matmul", &[args[0], args[1]], &[]).unwrap();
            let weights = builder.value("nn.softmax", &[scores], &axis).unwrap();
            builder.value("nn.matmul", &[weights, args[2]], &[]).unwrap()
        })
    };
    assert_eq!(along(2), "None");
    assert!(along(1).contains("not attention"));
    let masked_twice = refusal(|builder, args| {
        let axis = [("axis", builder.ctx.int_attr(2))];
        let mut value = builder.value("nn.matmul", &[args[0], args[1]], &[]).unwrap();
        for mask in [args[2], args[0]] {
            value = builder.value("nn.add", &[value, mask], &[]).unwrap();
        }
        let weights = builder.value("nn.softmax", &[value], &axis).unwrap();
        builder.value("nn.matmul", &[weights, args[2]], &[]).unwrap()
    });
    assert!(masked_twice.contains("not attention"));
}
