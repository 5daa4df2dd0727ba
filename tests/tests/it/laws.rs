//! Laws of every row: machine code = interpreter = scalar meaning, to the bit.

use std::sync::Arc;

use ir::opdef::{AttrKind, Kind, OpDef, Presence, TypeClass};
use ir::scalar::{Binary, Scalar, Unary};
use ir::{Attr, Context, Dialect, Traits};
use kernels::scalar as functions;
use optc::{Array, CompileOptions};
use tests::programs::{Program, array, execute, floats, interpret};
use tests::random::Random;

/// Critical numbers first: NaN, infinities, signed zeros, denormals, the ends of ranges; then ordinary
/// numbers.
fn specimens() -> Vec<f32> {
    let tiny = f32::MIN_POSITIVE;
    let mut values =
        vec![0.0, 1.0, 0.5, 2.0, 3.0, 0.75, 88.7, 89.0, 104.0, 1e-3, 1e-20, 1e20, tiny, tiny / 8.0];
    values.extend([
        f32::MAX,
        f32::INFINITY,
        f32::NAN,
        f32::EPSILON,
        1.5,
        2.5,
        8_388_607.5,
        16_777_216.0,
        9.1,
    ]);
    values.extend(values.clone().into_iter().map(|x: f32| -x));
    let mut random = Random::new(7);
    for scale in [1.0, 10.0, 100.0] {
        values.extend(random.floats(200).into_iter().map(|x| x * scale));
    }
    values
}

/// The scalar function, one element at a time.
fn meaning(scalar: &Scalar, args: &[f32], attr: &dyn Fn(&str) -> f32) -> f32 {
    let eval = |scalar: &Scalar| meaning(scalar, args, attr);
    match scalar {
        Scalar::Arg(index) => args[*index as usize],
        Scalar::Attr(name) => attr(name),
        Scalar::Const(value) => *value as f32,
        Scalar::Unary(op, x) => unary(*op, eval(x)),
        Scalar::Binary(op, a, b) => binary(*op, eval(a), eval(b)),
        Scalar::Fma(a, b, c) => eval(a).mul_add(eval(b), eval(c)),
        Scalar::Select(condition, a, b) => {
            if eval(condition) != 0.0 {
                eval(a)
            } else {
                eval(b)
            }
        }
        Scalar::Convert(x) => eval(x),
        Scalar::Choose(name, all) => eval(&all[attr(name) as usize]),
        Scalar::ConvertUnsigned(_) | Scalar::Resize(_) | Scalar::Signed(_) | Scalar::Unsigned(_) => {
            panic!("no float has lowest bits")
        }
    }
}

fn unary(op: Unary, x: f32) -> f32 {
    match op {
        Unary::Neg => -x,
        Unary::Abs => x.abs(),
        Unary::Sqrt => x.sqrt(),
        Unary::Floor => x.floor(),
        Unary::Ceil => x.ceil(),
        Unary::RoundEven => x.round_ties_even(),
        Unary::Exp => functions::exp(x),
        Unary::Log => functions::log(x),
        Unary::Tanh => functions::tanh(x),
        Unary::Erf => functions::erf(x),
        Unary::Sigmoid => functions::sigmoid(x),
        Unary::Gelu => functions::gelu(x),
        Unary::GeluTanh => functions::gelu_tanh(x),
        Unary::Sin => ir::math::sin(x),
        Unary::Cos => ir::math::cos(x),
        Unary::Tan => ir::math::tan(x),
        Unary::Asin => ir::math::asin(x),
        Unary::Acos => ir::math::acos(x),
        Unary::Atan => ir::math::atan(x),
        Unary::Sinh => ir::math::sinh(x),
        Unary::Cosh => ir::math::cosh(x),
        Unary::Asinh => ir::math::asinh(x),
        Unary::Acosh => ir::math::acosh(x),
        Unary::Atanh => ir::math::atanh(x),
        // Booleans are 0 and 1 here.
        Unary::Not => 1.0 - x,
    }
}

fn binary(op: Binary, a: f32, b: f32) -> f32 {
    let truth = |value: bool| if value { 1.0 } else { 0.0 };
    match op {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Div => a / b,
        Binary::Rem => a % b,
        Binary::Max => functions::max(a, b),
        Binary::Min => functions::min(a, b),
        Binary::Pow => ir::math::pow(a, b),
        Binary::Eq => truth(a == b),
        Binary::Ne => truth(a != b),
        Binary::Lt => truth(a < b),
        Binary::Le => truth(a <= b),
        Binary::Gt => truth(a > b),
        Binary::Ge => truth(a >= b),
        Binary::And => truth(a != 0.0 && b != 0.0),
        Binary::Or => truth(a != 0.0 || b != 0.0),
        Binary::Xor => truth(a != b),
        Binary::Shl | Binary::Shr => panic!("no float has such bits"),
    }
}

/// The elementwise rows from floats to floats.
fn rows(ctx: &Context) -> Vec<(&'static OpDef, &'static Scalar)> {
    let rows = ctx.dialects().flat_map(Dialect::ops).filter_map(|def| match def.kind {
        Kind::Elementwise(scalar) => Some((def, scalar)),
        _ => None,
    });
    rows.filter(|(def, _)| {
        let classes = [TypeClass::Tensor, TypeClass::FloatTensor, TypeClass::FloatLike];
        let takes_floats = def.operands.iter().all(|operand| classes.contains(&operand.types));
        takes_floats && !def.traits.contains(Traits::CAST)
    })
    .collect()
}

/// Attributes that make a row's operation, with their values as numbers.
type Attributes = Vec<(&'static str, Attr, f32)>;

/// Values for the row's attributes: each default, or a number for required ones; every word in turn.
fn attributes(ctx: &Context, def: &'static OpDef) -> Vec<Attributes> {
    let value = |attr: &ir::AttrDef| match (attr.name, attr.presence) {
        ("lo", _) => -0.5,
        ("hi", _) => 0.75,
        (_, Presence::DefaultFloat(value)) => value as f32,
        _ => 0.3,
    };
    let floats = def.attrs.iter().filter(|attr| attr.kind == AttrKind::Float);
    let floats: Attributes = floats.map(|attr| (attr.name, ctx.f32_attr(value(attr)), value(attr))).collect();
    let words = def.attrs.iter().find_map(|attr| match attr.kind {
        AttrKind::Word(words) => Some((attr.name, words)),
        _ => None,
    });
    let Some((name, words)) = words else { return vec![floats] };
    let each = words.words.iter().enumerate().map(|(number, word)| {
        let attr = words.attr(ctx, word).expect("one of the row's words");
        floats.iter().copied().chain([(name, attr, number as f32)]).collect()
    });
    each.collect()
}

/// The inputs of a row: for two operands, every pair of the first specimens and some others.
fn operands(count: usize) -> Vec<Vec<f32>> {
    let values = specimens();
    match count {
        1 => vec![values],
        _ => {
            let firsts = values.iter().take(46);
            let pairs: Vec<(f32, f32)> = firsts.flat_map(|a| values.iter().map(move |b| (*a, *b))).collect();
            (0..count)
                .map(|index| pairs.iter().map(|(a, b)| if index % 2 == 0 { *a } else { *b }).collect())
                .collect()
        }
    }
}

fn same_bits(a: f32, b: f32) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

#[test]
fn every_elementwise_row_means_its_scalar_function_to_the_bit() {
    let ctx = Arc::new(Context::new());
    for (def, scalar) in rows(&ctx) {
        for attributes in attributes(&ctx, def) {
            check_row(&ctx, def, scalar, &attributes);
        }
    }
}

fn check_row(ctx: &Arc<Context>, def: &'static OpDef, scalar: &Scalar, attributes: &Attributes) {
    let inputs = operands(def.operands.len());
    let shape = [inputs[0].len() as u64];
    let types = vec![ctx.tensor(&shape, ctx.f32()); inputs.len()];
    let (mut program, args) = Program::new(ctx.clone(), &types);
    let attrs: Vec<(&str, Attr)> = attributes.iter().map(|(name, attr, _)| (*name, *attr)).collect();
    let result = program.op(def.name, &args, &attrs);
    let mut module = program.finish(&[result]);
    let arrays: Vec<Array> = inputs
        .iter()
        .enumerate()
        .map(|(index, values)| array(&format!("arg{index}"), &shape, values))
        .collect();
    let interpreted = numbers(&interpret(&module, &arrays)[0]);
    let options = CompileOptions { threads: 2, ..CompileOptions::default() };
    let executed = execute(&mut module, &arrays, &options);
    let executed = executed.unwrap_or_else(|failure| panic!("{}: {failure}", def.name));
    let executed = numbers(&executed[0]);
    let number =
        |name: &str| attributes.iter().find(|attr| attr.0 == name).expect("every attribute is given").2;
    for index in 0..shape[0] as usize {
        let args: Vec<f32> = inputs.iter().map(|values| values[index]).collect();
        let expected = meaning(scalar, &args, &number);
        let found = (interpreted[index], executed[index]);
        let is_right = same_bits(found.0, expected) && same_bits(found.1, expected);
        assert!(
            is_right,
            "{} {attributes:?} {args:?} = {expected}, interpreted {}, executed {}",
            def.name, found.0, found.1
        );
    }
}

fn numbers(array: &Array) -> Vec<f32> {
    if array.element == runtime::ElementKind::Bool {
        array.bytes.iter().map(|byte| f32::from(*byte)).collect()
    } else {
        floats(array)
    }
}

/// The bound of a sum of products of depth `depth`: c * K * eps * sum|a*b|.
fn bound(depth: u64, magnitude: f64) -> f64 {
    2.0 * depth as f64 * f64::from(f32::EPSILON) * magnitude + 1e-30
}

#[test]
fn contractions_are_within_the_bound_of_their_sums() {
    let mut random = Random::new(11);
    for (rows, depth, columns) in [(1, 7, 5), (3, 64, 33), (17, 130, 64), (49, 513, 96), (5, 1, 1)] {
        let ctx = Arc::new(Context::new());
        let (a, b) = (random.floats(rows * depth), random.floats(depth * columns));
        let (mut program, args) = Program::new(ctx.clone(), &[ctx.tensor(&[rows, depth], ctx.f32())]);
        let weight = program.constant(&[depth, columns], &b);
        let product = program.op("nn.matmul", &[args[0], weight], &[]);
        let mut module = program.finish(&[product]);
        let input = [array("arg0", &[rows, depth], &a)];
        let options = CompileOptions { threads: 2, ..CompileOptions::default() };
        let found = execute(&mut module, &input, &options).expect("a matrix product compiles");
        let found = floats(&found[0]);
        for (index, found) in found.into_iter().enumerate() {
            let (row, column) = (index as u64 / columns, index as u64 % columns);
            let terms = (0..depth).map(|k| {
                f64::from(a[(row * depth + k) as usize]) * f64::from(b[(k * columns + column) as usize])
            });
            let (exact, magnitude) =
                terms.fold((0.0, 0.0), |sum: (f64, f64), term| (sum.0 + term, sum.1 + term.abs()));
            let off = (f64::from(found) - exact).abs();
            assert!(
                off <= bound(depth, magnitude),
                "[{row}, {column}] of {rows}x{depth}x{columns}: off by {off:e}"
            );
        }
    }
}
