//! That 8-bit integers, and conversions from 32-bit ones, are vector code with the interpreter's bits.

use std::sync::Arc;

use ir::opdef::Access;
use ir::plan::attrs;
use ir::{Builder, Context, Signedness, Type, TypeData, Value};

use super::testing::{Chance, check, vector_calls};
use crate::elem::ElemType;
use crate::testing::Net;

/// Floats at which conversions tend to be wrong.
const FLOATS: [f32; 32] = [
    f32::NAN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    0.0,
    -0.0,
    0.5,
    -0.5,
    0.999_999_94,
    -0.999_999_94,
    1.0,
    -1.0,
    1e-40,
    -1e-40,
    126.999_99,
    127.0,
    127.5,
    128.0,
    -127.999_99,
    -128.0,
    -128.5,
    -129.0,
    254.999_98,
    255.0,
    255.5,
    256.0,
    -255.0,
    4_194_304.5,
    8_388_607.5,
    2_147_483_600.0,
    -3e9,
    1e20,
    -1e20,
];

/// 32-bit integers, most of them not exact as `f32`.
const WORDS: [i32; 12] = [
    0,
    -1,
    7,
    16_777_216,
    16_777_217,
    -16_777_217,
    16_777_219,
    33_554_431,
    1_234_567_891,
    i32::MAX,
    i32::MIN,
    i32::MIN + 65,
];

pub(super) fn unsigned_byte(ctx: &Context) -> Type {
    ctx.ty(TypeData::Integer { width: 8, signedness: Signedness::Unsigned })
}

fn float_bytes(floats: impl Iterator<Item = f32>) -> Vec<u8> {
    floats.flat_map(f32::to_le_bytes).collect()
}

#[test]
fn floats_are_cut_to_bytes_and_read_again() {
    for count in (1..=40).chain([64, 1000, 5000]) {
        let floats = float_bytes((0..count).map(|i| FLOATS[(i * 7 + count) % FLOATS.len()]));
        let ctx = Arc::new(Context::new());
        for byte in [unsigned_byte(&ctx), ctx.int(8)] {
            let shape = [count as u64];
            let mut net = Net::new(&[(&shape, ctx.f32())], ctx.clone());
            let cut = net.op("nn.cast", &[net.arg(0)], &[("to", ctx.type_attr(byte))]);
            assert_eq!(vector_calls(&net, cut), [1, 1]);
            check(net, cut, std::slice::from_ref(&floats), "cut");
            let mut net = Net::new(&[(&shape, ctx.f32())], ctx.clone());
            let inverse = net.group(&[net.arg(0)], |builder, args| {
                let cut = builder.value("nn.cast", &[args[0]], &[("to", ctx.type_attr(byte))]).unwrap();
                let wide = builder.value("nn.cast", &[cut], &[("to", ctx.type_attr(ctx.f32()))]).unwrap();
                builder.value("nn.reciprocal", &[wide], &[]).unwrap()
            });
            assert_eq!(vector_calls(&net, inverse), [1, 1]);
            check(net, inverse, std::slice::from_ref(&floats), "no zero has a sign");
        }
    }
}

#[test]
fn every_byte_is_the_float_and_the_other_byte_that_it_stands_for() {
    let bytes: Vec<u8> = (0..=255).collect();
    let ctx = Arc::new(Context::new());
    let unsigned = unsigned_byte(&ctx);
    let signed = ctx.int(8);
    for (from, to) in [(unsigned, ctx.f32()), (signed, ctx.f32()), (unsigned, signed), (signed, unsigned)] {
        let mut net = Net::new(&[(&[256], from)], ctx.clone());
        let value = net.op("nn.cast", &[net.arg(0)], &[("to", ctx.type_attr(to))]);
        assert_eq!(vector_calls(&net, value), [1, 1]);
        check(net, value, std::slice::from_ref(&bytes), "every byte");
    }
}

#[test]
fn words_become_the_nearest_floats() {
    let ctx = Arc::new(Context::new());
    for count in [1, 3, 4, 5, 17, 40, 1000] {
        let words = (0..count).flat_map(|i| WORDS[i % WORDS.len()].to_le_bytes()).collect::<Vec<u8>>();
        let mut net = Net::new(&[(&[count as u64], ctx.int(32)), (&[1], ctx.int(32))], ctx.clone());
        let sum = net.group(&[net.arg(0), net.arg(1)], |builder, args| {
            let to_float = [("to", ctx.type_attr(ctx.f32()))];
            let [x, y] = [0, 1].map(|index| builder.value("nn.cast", &[args[index]], &to_float).unwrap());
            builder.value("nn.add", &[x, y], &[]).unwrap()
        });
        assert_eq!(vector_calls(&net, sum), [1, 1]);
        check(net, sum, &[words, 16_777_217i32.to_le_bytes().to_vec()], "words");
    }
}

/// Before AVX, most instructions cannot load four floats from an address that is no multiple of 16.
#[test]
fn four_floats_are_compared_wherever_they_lie() {
    let floats = float_bytes((0..93).map(|i| FLOATS[i * 5 % FLOATS.len()]));
    for name in ["nn.eq", "nn.lt", "nn.ge", "nn.gt"] {
        let mut net = Net::f32(&[&[3, 31], &[1]]);
        let value = net.group(&[net.arg(1), net.arg(0)], |builder, args| {
            let attrs =
                [("starts", builder.ctx.ints_attr(&[0, 1])), ("sizes", builder.ctx.ints_attr(&[3, 29]))];
            let window = builder.value("nn.slice", &[args[1]], &attrs).unwrap();
            let other = builder.value("nn.neg", &[args[0]], &[]).unwrap();
            let holds = builder.value(name, &[args[0], window], &[]).unwrap();
            builder.value("nn.select", &[holds, args[0], other], &[]).unwrap()
        });
        assert_eq!(vector_calls(&net, value), [1, 1]);
        check(net, value, &[floats.clone(), 1f32.to_le_bytes().to_vec()], name);
    }
}

/// Random groups over some operands.
struct GroupMaker<'b, 'c> {
    ctx: &'c Context,
    builder: &'c mut Builder<'b>,
    chance: &'c mut Chance,
    floats: Vec<Value>,
    bytes: Vec<(Value, Type)>,
}

impl GroupMaker<'_, '_> {
    fn cast(&mut self, value: Value, to: Type) -> Value {
        self.builder.value("nn.cast", &[value], &[("to", self.ctx.type_attr(to))]).unwrap()
    }

    fn float(&mut self, name: &str, operands: &[Value]) {
        let value = self.builder.value(name, operands, &[]).unwrap();
        self.floats.push(value);
    }

    fn cut(&mut self, value: Value) {
        let byte = self.chance.of(&[unsigned_byte(self.ctx), self.ctx.int(8)]);
        let cut = self.cast(value, byte);
        self.bytes.push((cut, byte));
    }

    fn step(&mut self) {
        let [x, y, z] = [0; 3].map(|_| self.chance.of(&self.floats));
        match self.chance.below(7) {
            0 => self.cut(x),
            1 if !self.bytes.is_empty() => {
                let (byte, _) = self.chance.of(&self.bytes);
                let float = self.cast(byte, self.ctx.f32());
                self.floats.push(float);
            }
            2 if !self.bytes.is_empty() => {
                let (byte, elem) = self.chance.of(&self.bytes);
                let other = [unsigned_byte(self.ctx), self.ctx.int(8)].into_iter().find(|ty| *ty != elem);
                let other = other.expect("there are two types");
                let changed = self.cast(byte, other);
                self.bytes.push((changed, other));
            }
            3 => {
                let name = self.chance.of(&["nn.neg", "nn.abs", "nn.round", "nn.sqrt", "nn.sigmoid"]);
                self.float(name, &[x]);
            }
            4 => {
                let is_less = self.builder.value("nn.lt", &[x, y], &[]).unwrap();
                self.float("nn.select", &[is_less, z, x]);
            }
            _ => {
                let name = self.chance.of(&["nn.add", "nn.sub", "nn.mul", "nn.div", "nn.max", "nn.min"]);
                self.float(name, &[x, y]);
            }
        }
    }
}

/// Random elements of one of the operands' types.
fn elements(chance: &mut Chance, elem: ElemType, count: usize) -> Vec<u8> {
    let mut element = || match elem {
        ElemType::F32 => chance.of(&FLOATS).to_le_bytes().to_vec(),
        ElemType::Int { bits: 32, .. } => chance.of(&WORDS).to_le_bytes().to_vec(),
        _ => vec![chance.below(256) as u8],
    };
    (0..count).flat_map(|_| element()).collect()
}

/// An argument with its shape, type and random elements.
type RandomArg = (Vec<u64>, Type, Vec<u8>);

/// Arguments of a random group over `rows` rows of `inner` elements: the first is dense, the second has
/// longer rows, the others are broadcast along columns, rows or both.
fn random_args(ctx: &Context, chance: &mut Chance, rows: u64, inner: u64) -> Vec<RandomArg> {
    let types = [ctx.f32(), unsigned_byte(ctx), ctx.int(8), ctx.int(32)];
    let shapes = [vec![rows, inner], vec![rows, inner + 3], vec![inner], vec![rows, 1], vec![1]];
    let arg = |shape: Vec<u64>| {
        let ty = chance.of(&types);
        let count = shape.iter().product::<u64>() as usize;
        let bytes = elements(chance, ElemType::of(ctx, ty).unwrap(), count);
        (shape, ty, bytes)
    };
    shapes.into_iter().map(arg).collect()
}

/// Random steps over the operands of a group. They end in a value of as many bytes as the first operand,
/// which it may overwrite.
fn random_steps(mut maker: GroupMaker<'_, '_>, read: &[Value], args: &[RandomArg]) -> Value {
    let ctx = maker.ctx;
    for (value, (_, ty, _)) in read.iter().zip(args) {
        let float = if *ty == ctx.f32() { *value } else { maker.cast(*value, ctx.f32()) };
        maker.floats.push(float);
        if ElemType::of(ctx, *ty).unwrap().bytes() == 1 {
            maker.bytes.push((*value, *ty));
        }
    }
    let first = maker.floats[0];
    (0..8).for_each(|_| maker.step());
    let last = maker.floats[maker.floats.len() - 1];
    let difference = maker.builder.value("nn.sub", &[last, first], &[]).unwrap();
    if ElemType::of(ctx, args[0].1).unwrap().bytes() == 4 {
        return difference;
    }
    maker.cut(difference);
    maker.bytes[maker.bytes.len() - 1].0
}

/// Compares a random group with the interpreter; half of the results overwrite the first operand.
fn check_random_group(seed: u64, rows: u64, inner: u64) {
    let mut chance = Chance(seed);
    let ctx = Arc::new(Context::new());
    let args = random_args(&ctx, &mut chance, rows, inner);
    let typed: Vec<(&[u64], Type)> = args.iter().map(|(shape, ty, _)| (&shape[..], *ty)).collect();
    let mut net = Net::new(&typed, ctx.clone());
    let mut operands: Vec<Value> = (0..args.len()).map(|index| net.arg(index)).collect();
    // A copy of the argument that may be overwritten.
    let wide = [("to", ctx.type_attr(ctx.float(ir::FloatKind::F64)))];
    let wide = net.op("nn.cast", &operands[..1], &wide);
    operands[0] = net.op("nn.cast", &[wide], &[("to", ctx.type_attr(args[0].1))]);
    let value = net.group(&operands, |builder, block_args| {
        let sizes = ctx.ints_attr(&[rows as i64, inner as i64]);
        let window = [("starts", ctx.ints_attr(&[0, 1])), ("sizes", sizes)];
        let mut read = block_args.to_vec();
        read[1] = builder.value("nn.slice", &[read[1]], &window).unwrap();
        let maker = GroupMaker { ctx: &ctx, builder, chance: &mut chance, floats: vec![], bytes: vec![] };
        random_steps(maker, &read, &args)
    });
    let what = format!("group {seed} of {rows} times {inner}");
    if inner > 1 {
        assert_eq!(vector_calls(&net, value), [1, 1], "{what}");
    }
    let group = net.body.defining_op(value).unwrap();
    if chance.below(2) == 0 {
        let access = super::group_access(net.body.at(&ctx, group), 0).unwrap();
        assert_eq!(access, Access::SameIndex, "{what}");
        net.body.set_attr(&ctx, group, attrs::MEM_TIE, ctx.ints_attr(&[0]));
    }
    let inputs: Vec<Vec<u8>> = args.into_iter().map(|(_, _, bytes)| bytes).collect();
    check(net, value, &inputs, &what);
}

/// A result of bytes may not overwrite operands of wider elements.
#[test]
fn bytes_overwrite_bytes_alone() {
    let ctx = Arc::new(Context::new());
    for (elem, expected) in [(ctx.f32(), Access::Never), (ctx.int(8), Access::SameIndex)] {
        let byte = unsigned_byte(&ctx);
        let mut net = Net::new(&[(&[40], elem)], ctx.clone());
        let value = net.group(&[net.arg(0)], |builder, args| {
            builder.value("nn.cast", &[args[0]], &[("to", ctx.type_attr(byte))]).unwrap()
        });
        let group = net.body.defining_op(value).unwrap();
        assert_eq!(super::group_access(net.body.at(&ctx, group), 0).unwrap(), expected);
    }
}

#[test]
fn random_groups_of_bytes_words_and_floats_have_the_interpreters_bits() {
    for seed in 0..120 {
        check_random_group(seed, 1 + seed % 3, 1 + seed % 40);
    }
    check_random_group(1000, 700, 37);
    check_random_group(1001, 1, 5003);
}
