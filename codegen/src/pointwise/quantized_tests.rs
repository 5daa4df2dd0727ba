//! Which groups run as the kernel between quantizations, and that its bits are the interpreter's.

use std::sync::Arc;

use ir::{Builder, Context, FloatKind, Type, Value};
use kernels::Isa;

use super::testing::{Chance, check, levels};
use crate::Cpu;
use crate::call::KernelCode;
use crate::lower::lower;
use crate::testing::{Net, THREADS};

/// How a group runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Code {
    Kernel,
    Generated,
}

/// The body of a group, while it is built.
struct GroupBody<'a, 'b> {
    ctx: &'a Context,
    builder: &'a mut Builder<'b>,
}

impl GroupBody<'_, '_> {
    fn op(&mut self, name: &str, operands: &[Value]) -> Value {
        self.builder.value(name, operands, &[]).unwrap()
    }

    fn cast(&mut self, value: Value, to: Type) -> Value {
        self.builder.value("nn.cast", &[value], &[("to", self.ctx.type_attr(to))]).unwrap()
    }

    fn clip(&mut self, value: Value, [lo, hi]: [f32; 2]) -> Value {
        let ctx = self.ctx;
        let bounds = [("lo", ctx.f32_attr(lo)), ("hi", ctx.f32_attr(hi))];
        self.builder.value("nn.clip", &[value], &bounds).unwrap()
    }

    /// `(bytes - zero) * scale`.
    fn dequantized(&mut self, bytes: Value, zero: Value, scale: Value) -> Value {
        let float = self.cast(bytes, self.ctx.f32());
        let difference = self.op("nn.sub", &[float, zero]);
        self.op("nn.mul", &[difference, scale])
    }

    /// The nearest byte to `x / scale + zero`, within the bounds.
    fn quantized(&mut self, x: Value, [zero, scale]: [Value; 2], bounds: [f32; 2], to: Type) -> Value {
        let quotient = self.op("nn.div", &[x, scale]);
        let near = self.op("nn.round", &[quotient]);
        let moved = self.op("nn.add", &[near, zero]);
        let clipped = self.clip(moved, bounds);
        self.cast(clipped, to)
    }
}

/// Compares a group of two tensors of 8-bit integers (signless, unsigned), one of floats, a zero point and a
/// scale with the interpreter, and sees how it runs.
fn check_group(code: Code, what: &str, make: impl Fn(&mut GroupBody<'_, '_>, &[Value]) -> Value) {
    for shape in [&[37][..], &[3, 5, 16], &[2, 1, 200]] {
        let ctx = Arc::new(Context::new());
        let types = [ctx.int(8), super::bytes_tests::unsigned_byte(&ctx), ctx.f32()];
        let scalars = [(&[][..], ctx.f32()), (&[][..], ctx.f32())];
        let all: Vec<(&[u64], Type)> = types.iter().map(|ty| (shape, *ty)).chain(scalars).collect();
        let mut net = Net::new(&all, ctx.clone());
        let operands: Vec<Value> = (0..all.len()).map(|index| net.arg(index)).collect();
        let value = net.group(&operands, |builder, args| make(&mut GroupBody { ctx: &ctx, builder }, args));
        let op = net.body.defining_op(value).unwrap();
        for isa in levels() {
            let lowered = lower(net.body.at(&net.ctx, op), &Cpu::of(isa).machine(THREADS)).unwrap();
            let found = match lowered.calls[..] {
                [ref call] if matches!(call.code, KernelCode::Kernel(_)) => Code::Kernel,
                _ => Code::Generated,
            };
            let expected = if isa == Isa::Avx2 { Code::Generated } else { code };
            assert_eq!(found, expected, "{what}, {isa:?}");
        }
        let mut chance = Chance(7);
        let count = shape.iter().product::<u64>() as usize;
        let bytes: Vec<u8> = (0..count).map(|_| chance.below(256) as u8).collect();
        let unusual = [f32::NAN, f32::INFINITY, -0.0, 1e30, -63.5, 0.5];
        let float = |chance: &mut Chance| match chance.below(8) {
            0 => chance.of(&unusual),
            _ => (chance.below(4000) as f32 - 2000.0) / 16.0,
        };
        let floats: Vec<u8> = (0..count).flat_map(|_| float(&mut chance).to_le_bytes()).collect();
        let scalars = [3.0f32, 0.37].map(|number| number.to_le_bytes().to_vec());
        let [zero, scale] = scalars;
        check(net, value, &[bytes.clone(), bytes, floats, zero, scale], what);
    }
}

#[test]
fn what_lies_between_quantizations_runs_as_one_kernel() {
    let signed = [-128.0, 127.0];
    check_group(Code::Kernel, "floats to bytes and back", |body, args| {
        let bytes = body.quantized(args[2], [args[3], args[4]], signed, body.ctx.int(8));
        body.dequantized(bytes, args[3], args[4])
    });
    check_group(Code::Kernel, "the sum of dequantized bytes", |body, args| {
        let [first, second] = [args[0], args[1]].map(|bytes| body.dequantized(bytes, args[3], args[4]));
        let sum = body.op("nn.add", &[first, second]);
        body.quantized(sum, [args[3], args[4]], signed, body.ctx.int(8))
    });
    check_group(Code::Kernel, "a difference and a quotient of what is set aside", |body, args| {
        let [first, second] = [args[0], args[1]].map(|bytes| body.dequantized(bytes, args[3], args[4]));
        let difference = body.op("nn.sub", &[first, second]);
        let product = body.op("nn.mul", &[args[2], args[4]]);
        body.op("nn.div", &[difference, product])
    });
    check_group(Code::Kernel, "numbers before the value", |body, args| {
        let first = body.dequantized(args[0], args[3], args[4]);
        let difference = body.op("nn.sub", &[args[2], first]);
        let quotient = body.op("nn.div", &[args[3], difference]);
        let larger = body.op("nn.max", &[args[2], quotient]);
        body.op("nn.min", &[args[3], larger])
    });
}

#[test]
fn a_clip_that_is_narrower_than_bytes_stays() {
    let bounds = [[-100.0, 127.0], [-128.0, 90.0], [0.0, 6.0], [-300.0, 300.0], [5.0, -5.0]];
    let infinite = [[0.0, f32::INFINITY], [7.0, f32::INFINITY], [f32::NEG_INFINITY, 9.0]];
    for bounds in bounds.into_iter().chain(infinite) {
        for to in [|ctx: &Context| ctx.int(8), super::bytes_tests::unsigned_byte] {
            check_group(Code::Kernel, "a clip", |body, args| {
                let first = body.dequantized(args[0], args[3], args[4]);
                body.quantized(first, [args[3], args[4]], bounds, to(body.ctx))
            });
        }
    }
}

#[test]
fn what_the_kernel_does_not_compute_is_generated() {
    check_group(Code::Generated, "no bytes", |body, args| {
        let sum = body.op("nn.add", &[args[2], args[3]]);
        let product = body.op("nn.mul", &[sum, args[4]]);
        body.op("nn.round", &[product])
    });
    check_group(Code::Generated, "a conversion alone", |body, args| body.cast(args[0], body.ctx.f32()));
    check_group(Code::Generated, "words", |body, args| {
        let first = body.dequantized(args[0], args[3], args[4]);
        body.cast(first, body.ctx.int(32))
    });
    check_group(Code::Generated, "a value that is used twice", |body, args| {
        let first = body.dequantized(args[0], args[3], args[4]);
        body.op("nn.mul", &[first, first])
    });
    check_group(Code::Generated, "two values that are set aside", |body, args| {
        let [first, second] = [args[0], args[1]].map(|bytes| body.dequantized(bytes, args[3], args[4]));
        let [sum, product] = ["nn.add", "nn.mul"].map(|name| body.op(name, &[first, second]));
        let [third, fourth] = [sum, product].map(|value| body.op("nn.round", &[value]));
        let inner = body.op("nn.mul", &[third, fourth]);
        let outer = body.op("nn.round", &[second]);
        body.op("nn.sub", &[outer, inner])
    });
    check_group(Code::Generated, "the value before a number's maximum", |body, args| {
        let first = body.dequantized(args[0], args[3], args[4]);
        body.op("nn.max", &[first, args[2]])
    });
    check_group(Code::Generated, "another function", |body, args| {
        let first = body.dequantized(args[0], args[3], args[4]);
        body.op("nn.exp", &[first])
    });
}

/// Numbers of a kernel's steps are floats: what goes through another type is computed with that type.
#[test]
fn conversions_by_way_of_any_type_have_the_interpreters_bits() {
    let of_kind = |ctx: &Context| {
        let floats =
            [FloatKind::Bf16, FloatKind::F16, FloatKind::F32, FloatKind::F64].map(|kind| ctx.float(kind));
        let integers = [1, 8, 16, 32, 64].map(|width| ctx.int(width));
        [&floats[..], &integers, &[super::bytes_tests::unsigned_byte(ctx)]].concat()
    };
    let count = of_kind(&Context::new()).len();
    for (first, second, last) in (0..count).flat_map(|first| {
        (0..count).flat_map(move |second| (0..count).map(move |last| (first, second, last)))
    }) {
        let ctx = Arc::new(Context::new());
        let types = of_kind(&ctx);
        let mut net = Net::new(&[(&[37], ctx.f32()), (&[1], ctx.f32())], ctx.clone());
        let operands = [net.arg(0), net.arg(1)];
        let value = net.group(&operands, |builder, args| {
            let mut body = GroupBody { ctx: &ctx, builder };
            let sum = body.op("nn.add", &[args[0], args[1]]);
            let product = body.op("nn.mul", &[sum, args[1]]);
            let first = body.cast(product, types[first]);
            let second = body.cast(first, types[second]);
            body.cast(second, types[last])
        });
        let floats = (0..37).flat_map(|at| (at as f32 * 13.25 - 240.0).to_le_bytes()).collect();
        let inputs = [floats, 1.5f32.to_le_bytes().to_vec()];
        check(net, value, &inputs, &format!("by way of types {first} and {second} to {last}"));
    }
}
