//! Reductions, normalisation, views and picks against numpy.

use super::*;
use crate::attrs::{AttrData, DenseData, Splat};
use crate::interp::nn::constant_value;
use crate::types::{Signedness, TypeData};

fn reduce(ctx: &Context, name: &str, x: &Tensor, axes: &[i64]) -> String {
    text(&eval(ctx, name, &[x], &[("axes", ctx.ints_attr(axes))]).unwrap())
}

#[test]
fn reductions_are_numpys() {
    let ctx = Context::new();
    let x = numbers(&ctx, &[2, 3, 4]);
    assert_eq!(reduce(&ctx, "nn.reduce_sum", &x, &[0, 2]), "6 -1 -8");
    assert_eq!(reduce(&ctx, "nn.reduce_mean", &x, &[0]), "-1.5 0 1.5 3 -1 0.5 2 -2 -0.5 1 -3 -1.5");
    assert_eq!(reduce(&ctx, "nn.reduce_prod", &x, &[1]), "20 -18 8 -0 -18 8 -0 -8");
    assert_eq!(reduce(&ctx, "nn.reduce_max", &x, &[2]), "5 4 3 5 4 3");
    assert_eq!(reduce(&ctx, "nn.reduce_min", &x, &[0, 1]), "-5 -3 -5 -5");
    assert_eq!(reduce(&ctx, "nn.reduce_sum_square", &x, &[2]), "58 26 51 34 41 39");
    let attrs = [("axes", ctx.ints_attr(&[1, 2])), ("keepdims", ctx.unit_attr())];
    let kept = eval(&ctx, "nn.reduce_sum", &[&x], &attrs).unwrap();
    assert_eq!((text(&kept).as_str(), ctx.static_shape(kept.ty).unwrap()), ("-5 2", vec![2, 1, 1]));
}

#[test]
fn a_fold_along_the_last_axis_takes_sixteen_accumulators() {
    let ctx = Context::new();
    let values: Vec<f32> =
        (0..50).map(|i| 1.0 / (i * i + 1) as f32 * if i % 3 == 0 { -1e4 } else { 1.0 }).collect();
    let mut sums = [0f32; 16];
    values.iter().enumerate().for_each(|(i, value)| sums[i % 16] += value);
    for half in [8, 4, 2, 1] {
        (0..half).for_each(|i| sums[i] += sums[i + half]);
    }
    let along = Tensor::from_f32(&ctx, &[5, 10], &values);
    assert_eq!(reduce(&ctx, "nn.reduce_sum", &along, &[0, 1]), sums[0].to_string());
    let across = Tensor::from_f32(&ctx, &[50, 1], &values);
    let kept = Tensor::from_f32(&ctx, &[50, 2], &values.iter().flat_map(|x| [*x, 0.0]).collect::<Vec<_>>());
    assert_eq!(reduce(&ctx, "nn.reduce_sum", &across, &[0, 1]), sums[0].to_string());
    let in_order: f32 = values.iter().sum();
    assert_ne!(in_order, sums[0]);
    assert_eq!(reduce(&ctx, "nn.reduce_sum", &kept, &[0]), format!("{in_order} 0"));
}

#[test]
fn nan_is_largest_and_smallest_and_nothing_sums_to_zero() {
    let ctx = Context::new();
    let x = Tensor::from_f32(&ctx, &[3], &[f32::NAN, -2.0, f32::NAN]);
    assert_eq!(reduce(&ctx, "nn.reduce_max", &x, &[0]), "NaN");
    assert_eq!(reduce(&ctx, "nn.reduce_min", &x, &[0]), "NaN");
    assert_eq!(reduce(&ctx, "nn.reduce_sum", &x, &[0]), "NaN");
    let empty = Tensor::from_f32(&ctx, &[2, 0], &[]);
    assert_eq!(reduce(&ctx, "nn.reduce_sum", &empty, &[1]), "0 0");
    assert_eq!(reduce(&ctx, "nn.reduce_max", &empty, &[1]), "-inf -inf");
}

#[track_caller]
fn assert_close(found: &Tensor, expected: &[f32]) {
    for (found, expected) in found.to_f32().iter().zip(expected) {
        assert!((found - expected).abs() <= 2e-7 + 2e-6 * expected.abs(), "{found} is not {expected}");
    }
}

#[test]
fn softmax_is_numpys_along_either_axis() {
    let ctx = Context::new();
    let x = numbers(&ctx, &[2, 3]);
    let along = |axis: i64| eval(&ctx, "nn.softmax", &[&x], &[("axis", ctx.int_attr(axis))]).unwrap();
    let rows = [8.946_795e-4, 0.981_135_2, 0.017_970_12, 0.981_690_4, 0.017_980_287, 3.293_204_4e-4];
    assert_close(&along(1), &rows);
    let columns = [4.539_787e-5, 0.731_058_6, 0.731_058_6, 0.999_954_6, 0.268_941_43, 0.268_941_43];
    assert_close(&along(0), &columns);
    let huge = Tensor::from_f32(&ctx, &[2], &[1e30, -1e30]);
    assert_eq!(text(&eval(&ctx, "nn.softmax", &[&huge], &[("axis", ctx.int_attr(0))]).unwrap()), "1 0");
}

#[test]
fn batch_norm_scales_each_channel() {
    let ctx = Context::new();
    let x = numbers(&ctx, &[1, 2, 3]);
    let pair = |a: f32, b: f32| Tensor::from_f32(&ctx, &[2], &[a, b]);
    let operands = [&x, &pair(2.0, 3.0), &pair(0.5, -1.0), &pair(1.0, -2.0), &pair(3.0, 8.0)];
    let attrs = [("epsilon", ctx.f32_attr(1.0))];
    let result = eval(&ctx, "nn.batch_norm", &operands, &attrs).unwrap();
    assert_eq!(text(&result), "-5.5 1.5 -2.5 6 2 -2");
}

#[test]
fn views_are_numpys() {
    let ctx = Context::new();
    let x = numbers(&ctx, &[2, 3, 4]);
    let moved = eval(&ctx, "nn.transpose", &[&x], &[("permutation", ctx.ints_attr(&[2, 0, 1]))]).unwrap();
    assert_eq!(text(&moved), "-5 1 -4 2 -3 3 2 -3 3 -2 4 -1 -2 4 -1 5 0 -5 5 0 -5 1 -4 2");
    let window = [
        ("starts", ctx.ints_attr(&[1, 2, 1])),
        ("sizes", ctx.ints_attr(&[1, 2, 2])),
        ("strides", ctx.ints_attr(&[1, -2, 2])),
    ];
    assert_eq!(text(&eval(&ctx, "nn.slice", &[&x], &window).unwrap()), "-1 2 -2 1");
    let window = [("starts", ctx.ints_attr(&[1, 2])), ("strides", ctx.ints_attr(&[1, -2]))];
    let updated = eval(&ctx, "nn.insert_slice", &[&numbers(&ctx, &[1, 2]), &numbers(&ctx, &[2, 3])], &window);
    assert_eq!(text(&updated.unwrap()), "-5 2 -2 2 1 -5");
    let stretched =
        eval(&ctx, "nn.broadcast", &[&numbers(&ctx, &[2, 1])], &[("shape", ctx.ints_attr(&[3, 2, 2]))])
            .unwrap();
    assert_eq!(text(&stretched), "-5 -5 2 2 -5 -5 2 2 -5 -5 2 2");
    let parts = [&numbers(&ctx, &[2, 1, 2]), &numbers(&ctx, &[2, 2, 2])];
    let joined = eval(&ctx, "nn.concat", &parts, &[("axis", ctx.int_attr(1))]).unwrap();
    assert_eq!(text(&joined), "-5 2 -5 2 -2 5 -2 5 1 -3 4 0");
    let flat = eval(&ctx, "nn.reshape", &[&x], &[("shape", ctx.ints_attr(&[4, -1]))]).unwrap();
    assert_eq!((ctx.static_shape(flat.ty).unwrap(), text(&flat)), (vec![4, 6], text(&x)));
}

#[test]
fn padding_and_picking_are_numpys() {
    let ctx = Context::new();
    let x = numbers(&ctx, &[2, 2]);
    let pad = |low: &[i64], high: &[i64]| {
        let attrs =
            [("low", ctx.ints_attr(low)), ("high", ctx.ints_attr(high)), ("value", ctx.f32_attr(9.0))];
        text(&eval(&ctx, "nn.pad", &[&x], &attrs).unwrap())
    };
    assert_eq!(pad(&[1, 0], &[0, 2]), "9 9 9 9 -5 2 9 9 -2 5 9 9");
    assert_eq!(pad(&[-1, 1], &[0, 0]), "9 -2 5");
    assert_eq!(pad(&[0, 0], &[1, -1]), "-5 -2 9");
    let indices = |values: [i64; 4]| {
        Tensor::new(&ctx, ctx.tensor(&[2, 2], ctx.int(64)), values.map(i64::to_le_bytes).concat())
    };
    let pick = |values: [i64; 4]| {
        let x = numbers(&ctx, &[2, 3, 2]);
        eval(&ctx, "nn.gather", &[&x, &indices(values)], &[("axis", ctx.int_attr(1))])
    };
    assert_eq!(text(&pick([-1, 0, 1, 1]).unwrap()), "1 -3 -5 2 -2 5 -2 5 -1 -5 4 0 -4 3 -4 3");
    assert_eq!(pick([0, 0, 0, 3]).unwrap_err().0, "index 3 is outside 0..3");
    assert_eq!(pick([0, 0, 0, -4]).unwrap_err().0, "index -1 is outside 0..3");
}

#[test]
fn bytes_are_looked_up_by_their_bits() {
    let ctx = Context::new();
    let byte = |signedness| ctx.ty(TypeData::Integer { width: 8, signedness });
    let entries: Vec<u8> = (0..=255u8).map(|at| at.wrapping_mul(3).wrapping_add(7)).collect();
    for (of_x, of_table) in
        [(Signedness::Signless, Signedness::Unsigned), (Signedness::Unsigned, Signedness::Signless)]
    {
        let x = Tensor::new(&ctx, ctx.tensor(&[2, 2], byte(of_x)), vec![0, 1, 255, 128]);
        let table = Tensor::new(&ctx, ctx.tensor(&[256], byte(of_table)), entries.clone());
        let found = eval(&ctx, "nn.lookup", &[&x, &table], &[]).unwrap();
        assert_eq!(found.ty, ctx.tensor(&[2, 2], byte(of_table)));
        assert_eq!(found.bytes[..], [7, 10, 4, 135]);
    }
}

#[test]
fn constants_are_read_from_every_kind_of_attribute() {
    let ctx = Context::new();
    let ty = ctx.tensor(&[2, 2], ctx.f32());
    let dense = |ty: Type, splat: Splat, bytes: Vec<u8>| {
        ctx.attr(AttrData::Dense { ty, data: DenseData::Bytes { splat, bytes: bytes.into() } })
    };
    let read = |attr: Attr| constant_value(&ctx, attr, ty).map(|value| text(&value));
    let splat = dense(ty, Splat::One, 2.5f32.to_le_bytes().to_vec());
    assert_eq!(read(splat).unwrap(), "2.5 2.5 2.5 2.5");
    let all = [1f32, 2.0, 3.0, 4.0].map(f32::to_le_bytes).concat();
    assert_eq!(read(dense(ty, Splat::All, all.clone())).unwrap(), "1 2 3 4");
    assert_eq!(read(ctx.resource_attr("w", ty, crate::Blob::from_bytes(all))).unwrap(), "1 2 3 4");
    let indices = [1i64, 0, 0, 1].map(i64::to_le_bytes).concat();
    let indices = dense(ctx.tensor(&[2, 2], ctx.int(64)), Splat::All, indices);
    let values = dense(ctx.tensor(&[2], ctx.f32()), Splat::All, [7f32, 8.0].map(f32::to_le_bytes).concat());
    assert_eq!(read(ctx.attr(AttrData::Sparse { ty, indices, values })).unwrap(), "0 8 7 0");
    let lost = ctx.attr(AttrData::Resource { ty, key: ctx.ident("lost") });
    assert_eq!(read(lost).unwrap_err().0, "no data for resource `lost`");
}
