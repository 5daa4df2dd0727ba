//! Elementwise operations: broadcasting, chunks, NaN, signed zeros, wrapping, conversions.

use super::*;
use crate::interp::element::{Elem, Extension, IntElem};
use crate::interp::lanes;
use crate::interp::registers::{CHUNK, LaneValues};
use crate::scalar::Binary;
use crate::text::parse_type;
use crate::types::{FloatKind, Signedness, TypeData};

fn row(ctx: &Context, values: &[f32]) -> Tensor {
    Tensor::from_f32(ctx, &[values.len() as u64], values)
}

fn bytes(ctx: &Context, elem: Type, values: &[u8]) -> Tensor {
    Tensor::new(ctx, ctx.tensor(&[values.len() as u64], elem), values.to_vec())
}

#[test]
fn sizes_of_one_stretch_as_in_numpy() {
    let ctx = Context::new();
    let sum = eval(&ctx, "nn.add", &[&numbers(&ctx, &[2, 1, 3]), &numbers(&ctx, &[4, 1])], &[]).unwrap();
    assert_eq!(ctx.static_shape(sum.ty).unwrap(), [2, 4, 3]);
    let expected = "-10 -3 -7 -3 4 0 -7 0 -4 0 7 3 0 -4 -8 7 3 -1 3 -1 -5 10 6 2";
    assert_eq!(text(&sum), expected);
}

#[test]
fn chunks_and_runs_of_a_stretched_operand_meet() {
    let ctx = Context::new();
    let channels = 3;
    let pixels = CHUNK + 7;
    let image = numbers(&ctx, &[2, channels as u64, pixels as u64]);
    let scale = numbers(&ctx, &[channels as u64, 1]);
    let found = eval(&ctx, "nn.mul", &[&image, &scale], &[]).unwrap().to_f32();
    let (image, scale) = (image.to_f32(), scale.to_f32());
    for (i, found) in found.iter().enumerate() {
        assert_eq!(*found, image[i] * scale[i / pixels % channels], "element {i}");
    }
}

#[test]
fn the_second_operand_wins_on_nan_and_among_zeros_and_clips_keep_nan() {
    let ctx = Context::new();
    let a = row(&ctx, &[f32::NAN, 1.0, -0.0, 0.0, 2.0]);
    let b = row(&ctx, &[1.0, f32::NAN, 0.0, -0.0, 1.0]);
    assert_eq!(text(&eval(&ctx, "nn.max", &[&a, &b], &[]).unwrap()), "1 NaN 0 -0 2");
    assert_eq!(text(&eval(&ctx, "nn.min", &[&a, &b], &[]).unwrap()), "1 NaN 0 -0 1");
    assert_eq!(text(&eval(&ctx, "nn.relu", &[&a], &[]).unwrap()), "NaN 1 -0 0 2");
    let clip = [("lo", ctx.f32_attr(-1.0)), ("hi", ctx.f32_attr(1.5))];
    assert_eq!(text(&eval(&ctx, "nn.clip", &[&a], &clip).unwrap()), "NaN 1 -0 0 1.5");
}

#[test]
fn comparisons_with_nan_are_false_but_for_ne() {
    let ctx = Context::new();
    let (a, b) = (row(&ctx, &[f32::NAN, 1.0, 2.0]), row(&ctx, &[f32::NAN, 1.0, 1.0]));
    let compare = |name: &str| eval(&ctx, name, &[&a, &b], &[]).unwrap().bytes.to_vec();
    assert_eq!(compare("nn.eq"), [0, 1, 0]);
    assert_eq!(compare("nn.ne"), [1, 0, 1]);
    assert_eq!(compare("nn.le"), [0, 1, 0]);
    assert_eq!(compare("nn.gt"), [0, 0, 1]);
    let condition = eval(&ctx, "nn.ge", &[&a, &b], &[]).unwrap();
    let picked = eval(&ctx, "nn.select", &[&condition, &a, &row(&ctx, &[7.0])], &[]).unwrap();
    assert_eq!(text(&picked), "7 1 2");
}

#[test]
fn integers_wrap_and_no_division_traps() {
    let ctx = Context::new();
    let i8s = |values: &[i8]| bytes(&ctx, ctx.int(8), &values.iter().map(|v| *v as u8).collect::<Vec<_>>());
    let binary = |name: &str, a: &[i8], b: &[i8]| {
        let result = eval(&ctx, name, &[&i8s(a), &i8s(b)], &[]).unwrap();
        result.bytes.iter().map(|byte| *byte as i8).collect::<Vec<_>>()
    };
    assert_eq!(binary("nn.add", &[127, -128], &[1, -1]), [-128, 127]);
    assert_eq!(binary("nn.mul", &[100, -128], &[3, -1]), [44, -128]);
    assert_eq!(binary("nn.div", &[-7, 5, -128], &[2, 0, -1]), [-3, 0, -128]);
    assert_eq!(binary("nn.rem", &[-7, 5, -128], &[2, 0, -1]), [-1, 0, 0]);
    assert_eq!(binary("nn.pow", &[3, 2, -1, 2], &[4, 8, -3, -1]), [81, 0, -1, 0]);
    let u8s = ctx.ty(TypeData::Integer { width: 8, signedness: Signedness::Unsigned });
    let (a, b) = (bytes(&ctx, u8s, &[200, 200]), bytes(&ctx, u8s, &[100, 3]));
    assert_eq!(*eval(&ctx, "nn.add", &[&a, &b], &[]).unwrap().bytes, [44, 203]);
    assert_eq!(*eval(&ctx, "nn.div", &[&a, &b], &[]).unwrap().bytes, [2, 66]);
    assert_eq!(*eval(&ctx, "nn.max", &[&a, &b], &[]).unwrap().bytes, [200, 200]);
}

#[test]
fn shifts_from_the_width_on_leave_zero_or_the_sign() {
    let shifted = |binary: Binary, int: IntElem, a: i64, by: i64| {
        let mut target = LaneValues::new(Elem::Int(int));
        let operands = [&LaneValues::Int(vec![a]), &LaneValues::Int(vec![by])];
        lanes::binary(binary, Elem::Int(int), &mut target, operands, 1);
        let LaneValues::Int(lanes) = target else { unreachable!("integers are in integer lanes") };
        lanes[0]
    };
    let signed = IntElem { width: 8, extension: Extension::Sign };
    let unsigned = IntElem { width: 8, extension: Extension::Zero };
    assert_eq!(shifted(Binary::Shl, signed, 65, 1), -126);
    assert_eq!(shifted(Binary::Shl, signed, 1, 8), 0);
    assert_eq!(shifted(Binary::Shr, signed, -128, 3), -16);
    assert_eq!(shifted(Binary::Shr, signed, -128, 8), -1);
    assert_eq!(shifted(Binary::Shr, signed, -128, -1), -1);
    assert_eq!(shifted(Binary::Shr, unsigned, 128, 3), 16);
    assert_eq!(shifted(Binary::Shr, unsigned, 128, 200), 0);
    let long = IntElem { width: 64, extension: Extension::Zero };
    assert_eq!(shifted(Binary::Shr, long, -1, 64), 0);
    assert_eq!(shifted(Binary::Shr, long, -1, 63), 1);
}

#[test]
fn casts_saturate_wrap_and_round() {
    let ctx = Context::new();
    let cast =
        |from: &Tensor, to: Type| eval(&ctx, "nn.cast", &[from], &[("to", ctx.type_attr(to))]).unwrap();
    let floats = row(&ctx, &[f32::NAN, 300.0, -1.9, -1e30, 0.5, f32::INFINITY]);
    assert_eq!(*cast(&floats, ctx.int(8)).bytes, [0, 127, 255, 128, 0, 127]);
    assert_eq!(*cast(&floats, ctx.int(1)).bytes, [1, 1, 1, 1, 1, 1]);
    let words = Tensor::new(&ctx, ctx.tensor(&[2], ctx.int(32)), [300i32, -2].map(i32::to_le_bytes).concat());
    assert_eq!(*cast(&words, ctx.int(8)).bytes, [44, 254]);
    assert_eq!(text(&cast(&words, ctx.f32())), "300 -2");
    let half = ctx.float(FloatKind::F16);
    let rounded = cast(&row(&ctx, &[1.000_5, 65_519.0, 65_520.0, 1e-8]), half);
    assert_eq!(text(&cast(&rounded, ctx.f32())), "1.0009766 65504 inf 0");
    let double = cast(&row(&ctx, &[0.1]), ctx.float(FloatKind::F64));
    assert_eq!(*double.bytes, f64::from(0.1f32).to_le_bytes());
}

#[test]
fn narrow_floats_compute_in_single_precision_and_round_once() {
    let ctx = Context::new();
    let narrow = ctx.float(FloatKind::Bf16);
    let cast =
        |from: &Tensor, to: Type| eval(&ctx, "nn.cast", &[from], &[("to", ctx.type_attr(to))]).unwrap();
    let x = cast(&row(&ctx, &[256.0, 3.0]), narrow);
    let y = cast(&row(&ctx, &[1.0, 0.011]), narrow);
    let sum = cast(&eval(&ctx, "nn.add", &[&x, &y], &[]).unwrap(), ctx.f32());
    assert_eq!(text(&sum), "256 3.015625");
}

#[test]
fn doubles_compute_in_double_precision() {
    let ctx = Context::new();
    let ty = ctx.tensor(&[2], ctx.float(FloatKind::F64));
    let x = Tensor::new(&ctx, ty, [0.3f64, -2.0].map(f64::to_le_bytes).concat());
    let erf = eval(&ctx, "nn.erf", &[&x], &[]).unwrap();
    assert_eq!(*erf.bytes, [libm::erf(0.3), libm::erf(-2.0)].map(f64::to_le_bytes).concat());
    let gelu = eval(&ctx, "nn.gelu", &[&x], &[]).unwrap();
    let last = f64::from_le_bytes(gelu.bytes[8..].try_into().unwrap());
    assert!((last - -0.045_500_263_896_358_42).abs() < 1e-8, "{last}");
}

#[test]
fn attributes_have_their_rows_defaults_and_round_to_the_elements() {
    let ctx = Context::new();
    let x = row(&ctx, &[-1.0, 2.0]);
    assert_eq!(text(&eval(&ctx, "nn.leaky_relu", &[&x], &[]).unwrap()), "-0.01 2");
    let alpha = [("alpha", ctx.f32_attr(0.25))];
    assert_eq!(text(&eval(&ctx, "nn.leaky_relu", &[&x], &alpha).unwrap()), "-0.25 2");
    assert_eq!(text(&eval(&ctx, "nn.hard_sigmoid", &[&x], &[]).unwrap()), "0.3 0.9");
}

#[test]
fn values_that_are_no_tensors_are_one_element() {
    let ctx = Context::new();
    let x = Tensor::new(&ctx, ctx.f32(), 3f32.to_le_bytes().to_vec());
    let sum = eval_as(&ctx, "nn.add", &[&x, &x], &[], Some(ctx.f32())).unwrap();
    assert_eq!((sum.ty, sum.to_f32()), (ctx.f32(), vec![6.0]));
}

#[test]
fn what_does_not_fit_is_an_error() {
    let ctx = Context::new();
    let (x, y) = (row(&ctx, &[1.0, 2.0]), row(&ctx, &[1.0, 2.0, 3.0]));
    let error = eval_as(&ctx, "nn.add", &[&x, &y], &[], Some(x.ty)).unwrap_err();
    assert_eq!(error.0, "sizes 2 and 3 do not broadcast");
    let error = eval_as(&ctx, "nn.and", &[&x, &x], &[], Some(x.ty)).unwrap_err();
    assert_eq!(error.0, "And is not defined on `f32`");
    let error = eval_as(&ctx, "nn.add", &[&x, &x], &[], Some(y.ty)).unwrap_err();
    assert!(error.0.starts_with("the result has sizes [2]"), "{}", error.0);
}

/// Every element type has one name in error messages: the one that the IR prints.
#[test]
fn a_refusal_names_types_as_the_ir_prints_them() {
    let ctx = Context::new();
    let ty = |text: &str| parse_type(&ctx, text).unwrap();
    let floats = ["f4E2M1FN", "f8E4M3FN", "f8E4M3FNUZ", "f8E5M2", "f8E5M2FNUZ", "f8E8M0FNU"];
    let others = ["i4", "ui4", "i2", "ui2", "i128", "complex<f32>", "!optc.string"];
    for elem in floats.into_iter().chain(others) {
        for of in [elem.to_owned(), format!("tensor<1x1x4x4x{elem}>")] {
            let error = Elem::of(&ctx, ty(&of)).unwrap_err().0;
            assert_eq!(error, format!("elements of type `{elem}` are not computed with"));
        }
    }
    for elem in ["f16", "bf16", "f32", "f64", "i1", "i8", "ui8", "i16", "ui16", "i32", "ui32", "i64", "ui64"]
    {
        assert_eq!(Elem::of(&ctx, ty(elem)).unwrap().to_string(), elem);
    }
}
