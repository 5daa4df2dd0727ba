//! A law over all elementwise rows: machine code gives the interpreter's bits, on every supported element
//! type.

use std::sync::Arc;

use ir::builder::OpSpec;
use ir::interp::Tensor;
use ir::opdef::{AttrKind, OperandDef};
use ir::{Builder, Context, Infer, Kind, OpDef, Signedness, Type, TypeData};
use runtime::AlignedBuffer;

use super::testing::{is_nan, levels, run_for, vector_calls};
use super::words::has_lanes;
use crate::elem::ElemType;
use crate::lower::lower;
use crate::testing::{Net, THREADS, aligned};

/// Numbers at which functions tend to be wrong.
const NUMBERS: [f64; 40] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    3.0,
    7.75,
    -90.0,
    89.5,
    127.0,
    -128.0,
    255.0,
    1e-40,
    3e-7,
    5.1e-5,
    65519.0,
    65520.0,
    1e30,
    -1e30,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    4e9,
    2_147_483_520.0,
    2_147_483_648.0,
    -2_147_483_648.0,
    -2_147_483_904.0,
    4_294_967_040.0,
    4_294_967_296.0,
    -32_769.0,
    32_767.5,
    16_777_217.0,
    // Above the middle between two neighbours, by the last digit of an `f32` and of an `f64`.
    1.003_906_369_209_289_6,
    1.003_906_250_000_000_2,
    1.000_488_281_250_000_2,
    -6.103_515_625_000_001e-5,
];

fn types(ctx: &Context) -> Vec<Type> {
    let int = |width, signedness| ctx.ty(TypeData::Integer { width, signedness });
    let floats = [ir::FloatKind::F32, ir::FloatKind::F64, ir::FloatKind::F16, ir::FloatKind::Bf16];
    let mut types: Vec<Type> = floats.into_iter().map(|kind| ctx.float(kind)).collect();
    types.push(ctx.int(1));
    for width in [8, 16, 32, 64] {
        types.extend([int(width, Signedness::Signless), int(width, Signedness::Unsigned)]);
    }
    types
}

/// Elements of a type that hold the numbers, in orders that pair each number with each across operands.
fn elements(elem: ElemType, operand: usize) -> Vec<u8> {
    let count = NUMBERS.len();
    let numbers = (0..count * count).map(|i| NUMBERS[if operand == 1 { i / count } else { i % count }]);
    numbers
        .flat_map(|number| elem.constant_bits(number).to_le_bytes()[..elem.bytes() as usize].to_vec())
        .collect()
}

/// The function that applies a row to operands of `elem`, if the row's rules accept the type.
fn function(
    ctx: &Arc<Context>,
    def: &OpDef,
    elem: Type,
    to: Type,
    word: Option<usize>,
) -> Option<(Net, ir::Value)> {
    let shape = [(NUMBERS.len() * NUMBERS.len()) as u64];
    let operand_types: Vec<Type> =
        def.operands.iter().map(|operand| if is_condition(operand) { ctx.int(1) } else { elem }).collect();
    let args: Vec<(&[u64], Type)> = operand_types.iter().map(|ty| (&shape[..], *ty)).collect();
    let mut net = Net::new(&args, ctx.clone());
    let operands: Vec<ir::Value> = (0..args.len()).map(|index| net.arg(index)).collect();
    let attrs = def.attrs.iter().filter_map(|attr| match (attr.name, attr.kind) {
        (name, AttrKind::Word(words)) => Some((name, words.attr(ctx, words.words[word?])?)),
        (_, AttrKind::Flags(_)) => None,
        ("to", _) => Some(("to", ctx.type_attr(to))),
        ("lo", _) => Some(("lo", ctx.f32_attr(-0.75))),
        ("hi", _) => Some(("hi", ctx.f32_attr(6.0))),
        (name, _) => Some((name, ctx.f32_attr(0.3))),
    });
    let attrs: Vec<(&str, ir::Attr)> = attrs.collect();
    let block = net.body.entry(net.body.root()).unwrap();
    let mut builder = Builder::at_end(ctx, &mut net.body, block);
    let declared = [ctx.tensor(&shape, to)];
    let results = matches!(def.infer, Infer::Declared).then_some(&declared[..]);
    let spec = OpSpec { operands: &operands, attrs: &attrs, results, ..OpSpec::default() };
    let op = builder.build(def.name, spec).ok()?;
    ir::verify::verify_body(ctx, builder.body).err().is_none_or(|errors| is_unended(&errors)).then_some(())?;
    let machine = crate::Cpu::native().machine(THREADS);
    lower(net.body.at(ctx, op), &machine).ok()?;
    let result = net.body.result(op, 0);
    Some((net, result))
}

fn is_condition(operand: &OperandDef) -> bool {
    operand.name.starts_with("cond")
}

/// Whether the missing terminator is the only error of a function.
fn is_unended(errors: &[ir::Diagnostic]) -> bool {
    errors.iter().all(|error| error.message.contains("ends with a terminator"))
}

/// The indices of the words that one of the row's attributes may be; one `None` without such an attribute.
fn words(def: &OpDef) -> Vec<Option<usize>> {
    let words = def.attrs.iter().find_map(|attr| match attr.kind {
        AttrKind::Word(words) => Some(words),
        _ => None,
    });
    words.map_or(vec![None], |words| (0..words.words.len()).map(Some).collect())
}

/// Compares machine code with the interpreter; returns whether both have the function for these types.
fn agrees(ctx: &Arc<Context>, def: &OpDef, elem: Type, to: Type, word: Option<usize>) -> bool {
    let Some((net, result)) = function(ctx, def, elem, to, word) else { return false };
    let module = net.plan(&[result], THREADS);
    let body = module.function("main").unwrap();
    let args = body.args(body.entry(body.root()).unwrap()).iter().enumerate();
    let inputs: Vec<Tensor> = args
        .map(|(index, arg)| {
            let elem = ElemType::stored(ctx, body.ty(*arg)).unwrap();
            Tensor::new(ctx, body.ty(*arg), elements(elem, index))
        })
        .collect();
    let Ok(expected) = ir::interp::run(&module, "main", &inputs) else { return false };
    let aligned: Vec<AlignedBuffer> = inputs.iter().map(|input| aligned(&input.bytes)).collect();
    let bytes: Vec<&[u8]> = aligned.iter().map(AlignedBuffer::as_slice).collect();
    let result = ElemType::stored(ctx, expected[0].ty).unwrap();
    let width = result.bytes() as usize;
    for isa in levels() {
        let found = run_for(&module, isa, THREADS, &bytes);
        let pairs = found[0].chunks_exact(width).zip(expected[0].bytes.chunks_exact(width));
        for (at, (found, expected)) in pairs.enumerate() {
            let same = found == expected || is_nan(result, found) && is_nan(result, expected);
            let (x, y) = (NUMBERS[at % NUMBERS.len()], NUMBERS[at / NUMBERS.len()]);
            let from = ElemType::stored(ctx, elem).unwrap();
            let what = format!("{} of {from:?} to {result:?} on {isa:?}, at {x:e}, {y:e}", def.name);
            assert!(same, "{what}: {found:?}, expected {expected:?}");
        }
    }
    true
}

#[test]
fn every_elementwise_row_has_the_interpreters_bits() {
    let ctx = Arc::new(Context::new());
    let types = types(&ctx);
    let rows = ctx.dialects().flat_map(|dialect| dialect.ops()).collect::<Vec<_>>();
    let mut count = 0;
    for def in rows.into_iter().filter(|def| matches!(def.kind, Kind::Elementwise(_))) {
        let has_targets = def.attr("to").is_some() || matches!(def.infer, Infer::Declared);
        let targets = if has_targets { &types[..] } else { &types[..1] };
        let mut float = false;
        for elem in &types {
            for (to, word) in targets.iter().flat_map(|to| words(def).into_iter().map(move |word| (to, word)))
            {
                let agrees = agrees(&ctx, def, *elem, *to, word);
                float |= agrees && *elem == ctx.f32();
                count += usize::from(agrees);
            }
        }
        let of_bits = ["nn.not", "nn.and", "nn.or", "nn.xor", "nn.shl", "nn.shr"].contains(&def.name);
        assert!(float || of_bits || !def.name.starts_with("nn."), "{} has no code for f32", def.name);
    }
    assert!(count > 900, "{count} combinations were compared");
}

/// Whether a row's function has no vector form: there is no instruction for four integers.
fn is_apart(name: &str, elem: ElemType) -> bool {
    let function = name.split('.').next_back().expect("a row has a name");
    match elem {
        ElemType::Int { .. } => {
            ["div", "rem", "pow", "shl", "shr", "divsi", "remsi", "shrsi"].contains(&function)
        }
        _ => false,
    }
}

/// The law: elements of at most 32 bits are computed on vectors, except as [`is_apart`] lists.
#[test]
fn every_elementwise_row_of_at_most_32_bits_is_computed_on_vectors() {
    let ctx = Arc::new(Context::new());
    let mut types = types(&ctx);
    types.retain(|ty| ElemType::stored(&ctx, *ty).is_some_and(has_lanes));
    let rows = ctx.dialects().flat_map(|dialect| dialect.ops()).collect::<Vec<_>>();
    let mut count = 0;
    for def in rows.into_iter().filter(|def| matches!(def.kind, Kind::Elementwise(_))) {
        let pairs = types.iter().flat_map(|elem| types.iter().map(move |to| (*elem, *to)));
        for ((ty, to), word) in pairs.flat_map(|pair| words(def).into_iter().map(move |word| (pair, word))) {
            let Some((net, result)) = function(&ctx, def, ty, to, word) else { continue };
            let elem = ElemType::stored(&ctx, ty).unwrap();
            let expected = [usize::from(!is_apart(def.name, elem)), 1];
            assert_eq!(vector_calls(&net, result), expected, "{} of {elem:?}", def.name);
            count += 1;
        }
    }
    assert!(count > 900, "{count} combinations were asked for");
}
