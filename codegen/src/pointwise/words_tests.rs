//! That groups of mixed element types are vector code, with the interpreter's bits.

use std::sync::Arc;

use ir::{Builder, Context, FloatKind, Signedness, Type, TypeData, Value};

use super::testing::{Chance, check, vector_calls};
use crate::elem::ElemType;
use crate::testing::Net;

/// Numbers around the ends of types, and those at which conversions tend to be wrong.
const NUMBERS: [f64; 44] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    0.0,
    -0.0,
    0.5,
    -0.5,
    1.0,
    -1.0,
    1.5,
    2.5,
    -2.5,
    3.999_999_8,
    -90.0,
    88.5,
    1e-40,
    -1e-40,
    1.4e-45,
    5.9e-8,
    6.1e-5,
    127.0,
    127.5,
    128.0,
    -128.5,
    -129.0,
    255.5,
    256.0,
    32_767.5,
    32_768.0,
    -32_769.0,
    65_519.0,
    65_520.0,
    65_536.0,
    16_777_217.0,
    2_147_483_520.0,
    2_147_483_647.0,
    2_147_483_648.0,
    -2_147_483_648.0,
    -2_147_483_904.0,
    4_294_967_040.0,
    4_294_967_296.0,
    -4e9,
    1e20,
    -1e30,
];

fn unsigned(ctx: &Context, width: u32) -> Type {
    ctx.ty(TypeData::Integer { width, signedness: Signedness::Unsigned })
}

/// The element types that fit 32-bit lanes.
fn narrow_types(ctx: &Context) -> Vec<Type> {
    let mut types: Vec<Type> =
        [FloatKind::F32, FloatKind::F16, FloatKind::Bf16].map(|kind| ctx.float(kind)).to_vec();
    types.push(ctx.int(1));
    types.extend([8, 16, 32].into_iter().flat_map(|width| [ctx.int(width), unsigned(ctx, width)]));
    types
}

/// The element types of 64 bits, which do not fit them.
fn wide_types(ctx: &Context) -> Vec<Type> {
    vec![ctx.float(FloatKind::F64), ctx.int(64), unsigned(ctx, 64)]
}

fn elements(ctx: &Context, chance: &mut Chance, ty: Type, count: u64) -> Vec<u8> {
    let elem = ElemType::stored(ctx, ty).expect("it is a type of elements");
    let mut bytes = Vec::new();
    for _ in 0..count {
        let bits = elem.constant_bits(chance.of(&NUMBERS));
        bytes.extend_from_slice(&bits.to_le_bytes()[..elem.bytes() as usize]);
    }
    bytes
}

/// Random groups of mixed types.
struct MixedGroup<'b, 'c> {
    ctx: &'c Context,
    builder: &'c mut Builder<'b>,
    chance: &'c mut Chance,
    types: &'c [Type],
    values: Vec<(Value, Type)>,
}

impl MixedGroup<'_, '_> {
    /// Adds one of these operations.
    fn one_of(&mut self, names: &[&'static str], operands: &[Value]) -> Value {
        let name = self.chance.of(names);
        self.builder.value(name, operands, &[]).unwrap()
    }

    fn cast(&mut self, (value, from): (Value, Type), to: Type) -> Value {
        match from == to {
            true => value,
            false => self.builder.value("nn.cast", &[value], &[("to", self.ctx.type_attr(to))]).unwrap(),
        }
    }

    /// Some value, converted to this type.
    fn any(&mut self, ty: Type) -> Value {
        let value = self.chance.of(&self.values);
        self.cast(value, ty)
    }

    fn step(&mut self) {
        let ty = self.chance.of(self.types);
        let [x, y] = [0; 2].map(|_| self.any(ty));
        let elem = ElemType::stored(self.ctx, ty).unwrap();
        let of_floats = elem.computed().is_float();
        let value = match self.chance.below(8) {
            0 | 1 => x,
            2 => {
                let truth = self.one_of(&["nn.eq", "nn.ne", "nn.lt", "nn.le", "nn.gt", "nn.ge"], &[x, y]);
                return self.values.push((truth, self.ctx.int(1)));
            }
            3 => {
                let truth = self.ctx.int(1);
                let condition = self.any(truth);
                self.one_of(&["nn.select"], &[condition, x, y])
            }
            _ if elem == ElemType::Bool => self.one_of(&["nn.and", "nn.or", "nn.xor"], &[x, y]),
            4 if of_floats => self.one_of(&["nn.neg", "nn.abs", "nn.round", "nn.sigmoid", "nn.silu"], &[x]),
            4 => self.one_of(&["nn.neg", "nn.abs", "nn.not"], &[x]),
            5 if of_floats => self.one_of(&["nn.pow", "nn.rem", "nn.div"], &[x, y]),
            5 => self.one_of(&["nn.div", "nn.rem", "nn.shl", "nn.shr", "nn.xor"], &[x, y]),
            _ => self.one_of(&["nn.add", "nn.sub", "nn.mul", "nn.max", "nn.min"], &[x, y]),
        };
        self.values.push((value, ty));
    }
}

/// Compares a random group over `rows` rows of `inner` elements with the interpreter. Its second operand is
/// unaligned (not at a multiple of 16 bytes), the third is column-major, and the others are broadcast.
fn check_mixed_group(seed: u64, types: &[Type], ctx: &Arc<Context>, rows: u64, inner: u64) -> [usize; 2] {
    let mut chance = Chance(seed);
    let mut shapes = vec![vec![rows, inner], vec![rows, inner + 3], vec![inner], vec![rows, 1], vec![1]];
    if seed.is_multiple_of(3) {
        shapes.push(vec![inner, rows]);
    }
    let operand_types: Vec<Type> = shapes.iter().map(|_| chance.of(types)).collect();
    let typed: Vec<(&[u64], Type)> =
        shapes.iter().zip(&operand_types).map(|(shape, ty)| (&shape[..], *ty)).collect();
    let mut net = Net::new(&typed, ctx.clone());
    let operands: Vec<Value> = (0..shapes.len()).map(|index| net.arg(index)).collect();
    let value = net.group(&operands, |builder, args| {
        let sizes = ctx.ints_attr(&[rows as i64, inner as i64]);
        let window = [("starts", ctx.ints_attr(&[0, 1])), ("sizes", sizes)];
        let mut read = args.to_vec();
        read[1] = builder.value("nn.slice", &[read[1]], &window).unwrap();
        if read.len() == 6 {
            let columns = [("permutation", ctx.ints_attr(&[1, 0]))];
            read[5] = builder.value("nn.transpose", &[read[5]], &columns).unwrap();
        }
        let values = read.into_iter().zip(operand_types.iter().copied()).collect();
        let mut group = MixedGroup { ctx, builder, chance: &mut chance, types, values };
        (0..9).for_each(|_| group.step());
        let (last, ty) = group.values[group.values.len() - 1];
        // The result has the full shape.
        let whole = group.cast(group.values[1], ty);
        let name = if ElemType::of(ctx, ty) == Some(ElemType::Bool) { "nn.xor" } else { "nn.add" };
        group.one_of(&[name], &[last, whole])
    });
    let vectors = vector_calls(&net, value);
    let inputs: Vec<Vec<u8>> =
        typed.iter().map(|(shape, ty)| elements(ctx, &mut chance, *ty, shape.iter().product())).collect();
    check(net, value, &inputs, &format!("group {seed} of {rows} times {inner}"));
    vectors
}

#[test]
fn random_groups_of_mixed_types_have_the_interpreters_bits() {
    let ctx = Arc::new(Context::new());
    let types = [narrow_types(&ctx), wide_types(&ctx)];
    let all = types.concat();
    let mut vectors = [0, 0];
    for seed in 0..160 {
        let index = usize::from(seed % 2 == 1);
        let types = [&types[0], &all][index];
        vectors[index] += check_mixed_group(seed, types, &ctx, 1 + seed % 3, 1 + seed / 2 % 40)[0];
    }
    assert!(vectors[0] > 60 && vectors[1] > 20, "{vectors:?} of 80 each ran on vectors");
    check_mixed_group(1000, &types[0], &ctx, 300, 37);
    check_mixed_group(1001, &all, &ctx, 1, 2503);
}

/// Whether a group over two operands of these types is vector code; also checks the interpreter's bits.
fn runs_on_vectors(
    ctx: &Arc<Context>,
    types: [Type; 2],
    fill: impl Fn(&mut Builder<'_>, &[Value]) -> Value + Copy,
) -> bool {
    let mut vectors = 0;
    for count in (1..=40).chain([1500]) {
        let shape = [count];
        let mut net = Net::new(&types.map(|ty| (&shape[..], ty)), ctx.clone());
        let value = net.group(&[net.arg(0), net.arg(1)], fill);
        vectors += vector_calls(&net, value)[0];
        let mut chance = Chance(count);
        let inputs = types.map(|ty| elements(ctx, &mut chance, ty, count));
        check(net, value, &inputs, &format!("{count} elements"));
    }
    assert!(vectors == 0 || vectors == 41);
    vectors > 0
}

fn cast(builder: &mut Builder<'_>, value: Value, to: Type) -> Value {
    let to = builder.ctx.type_attr(to);
    builder.value("nn.cast", &[value], &[("to", to)]).unwrap()
}

/// Dynamic quantization of a depthwise convolution: its sums are integers computed as floats.
#[test]
fn floats_that_were_cut_to_any_type_are_scaled_and_gated_on_vectors() {
    let ctx = Arc::new(Context::new());
    let f32 = ctx.f32();
    for through in narrow_types(&ctx).into_iter().chain(wide_types(&ctx)) {
        let vectors = runs_on_vectors(&ctx, [f32; 2], |builder, args| {
            let cut = cast(builder, args[0], through);
            let sums = if through == f32 { cut } else { cast(builder, cut, f32) };
            let scaled = builder.value("nn.mul", &[sums, args[1]], &[]).unwrap();
            let moved = builder.value("nn.add", &[scaled, args[1]], &[]).unwrap();
            builder.value("nn.silu", &[moved], &[]).unwrap()
        });
        assert!(vectors, "{:?}", ElemType::stored(&ctx, through));
    }
}

/// Powers and remainders are calls on strips, wherever their arguments come from: operands, one value twice,
/// other calls, or nodes computed before and needed again later.
#[test]
fn functions_of_two_read_their_arguments_from_anywhere() {
    let ctx = Arc::new(Context::new());
    for name in ["nn.pow", "nn.rem"] {
        for form in 0..8 {
            let vectors = runs_on_vectors(&ctx, [ctx.f32(); 2], |builder, args| {
                let mut apply = |name: &str, operands: &[Value]| builder.value(name, operands, &[]).unwrap();
                let (x, y) = (args[0], args[1]);
                match form {
                    0 => apply(name, &[x, y]),
                    1 => apply(name, &[y, x]),
                    2 => apply(name, &[x, x]),
                    3 => {
                        let sum = apply("nn.add", &[x, y]);
                        apply(name, &[sum, x])
                    }
                    4 => {
                        let sum = apply("nn.add", &[x, y]);
                        let value = apply(name, &[x, sum]);
                        apply("nn.sub", &[value, sum])
                    }
                    5 => {
                        let sum = apply("nn.add", &[x, y]);
                        apply(name, &[sum, sum])
                    }
                    6 => {
                        let gate = apply("nn.sigmoid", &[x]);
                        let value = apply(name, &[gate, y]);
                        apply("nn.tanh", &[value])
                    }
                    _ => {
                        let root = apply("nn.sqrt", &[x]);
                        let gate = apply("nn.exp", &[y]);
                        let value = apply(name, &[root, gate]);
                        let again = apply(name, &[value, root]);
                        apply("nn.mul", &[again, gate])
                    }
                }
            });
            assert!(vectors, "{name}, form {form}");
        }
    }
}

/// Arguments of every layout: broadcast along the loop, column-major, of 16 bits.
#[test]
fn functions_of_two_take_arguments_of_any_layout() {
    let ctx = Arc::new(Context::new());
    let bf16 = ctx.float(FloatKind::Bf16);
    for name in ["nn.pow", "nn.rem"] {
        let operands: [(&[u64], Type); 4] =
            [(&[37, 3], ctx.f32()), (&[3, 37], ctx.f32()), (&[3, 1], ctx.f32()), (&[3, 37], bf16)];
        let mut net = Net::new(&operands, ctx.clone());
        let args: Vec<Value> = (0..4).map(|index| net.arg(index)).collect();
        let value = net.group(&[args[1], args[0], args[2], args[3]], |builder, args| {
            let columns = [("permutation", ctx.ints_attr(&[1, 0]))];
            let turned = builder.value("nn.transpose", &[args[1]], &columns).unwrap();
            let first = builder.value(name, &[args[0], turned], &[]).unwrap();
            let second = builder.value(name, &[turned, args[2]], &[]).unwrap();
            let half = builder.value(name, &[args[3], args[3]], &[]).unwrap();
            let half = cast(builder, half, ctx.f32());
            let sum = builder.value("nn.add", &[first, second], &[]).unwrap();
            builder.value("nn.add", &[sum, half], &[]).unwrap()
        });
        assert_eq!(vector_calls(&net, value), [1, 1]);
        let mut chance = Chance(11);
        let inputs = operands.map(|(shape, ty)| elements(&ctx, &mut chance, ty, shape.iter().product()));
        check(net, value, &inputs, name);
    }
}

/// Column-major operands are read element by element and computed on vectors.
#[test]
fn functions_of_columns_are_computed_on_vectors() {
    let ctx = Arc::new(Context::new());
    for ty in [ctx.f32(), ctx.int(8), ctx.int(64)] {
        let mut net = Net::new(&[(&[37, 3], ty), (&[3, 37], ctx.f32())], ctx.clone());
        let value = net.group(&[net.arg(0), net.arg(1)], |builder, args| {
            let columns = [("permutation", ctx.ints_attr(&[1, 0]))];
            let turned = builder.value("nn.transpose", &[args[0]], &columns).unwrap();
            let turned = if ty == ctx.f32() { turned } else { cast(builder, turned, ctx.f32()) };
            let sum = builder.value("nn.add", &[turned, args[1]], &[]).unwrap();
            builder.value("nn.silu", &[sum], &[]).unwrap()
        });
        assert_eq!(vector_calls(&net, value), [1, 1]);
        let mut chance = Chance(7);
        let inputs = [ty, ctx.f32()].map(|ty| elements(&ctx, &mut chance, ty, 111));
        check(net, value, &inputs, "columns");
    }
}

#[test]
fn integers_of_64_bits_alone_are_computed_one_by_one() {
    let ctx = Arc::new(Context::new());
    for ty in wide_types(&ctx) {
        let vectors = runs_on_vectors(&ctx, [ty; 2], |builder, args| {
            let sum = builder.value("nn.add", &[args[0], args[1]], &[]).unwrap();
            builder.value("nn.mul", &[sum, args[1]], &[]).unwrap()
        });
        assert!(!vectors);
    }
}
