//! A dialect, its laws and a pass in a crate of their own.

use optc::ir::opdef::TypeClass::{FloatTensor, Own};
use optc::ir::scalar::{Binary, Scalar, Unary};
use optc::ir::{Body, Diagnostic, Dialect, Infer, Kind, Op, OpDef, OperandDef, Traits, opdef::TypeDef};
use optc::opt::Setup;
use optc::passes::manager::{PassContext, PassDef, PassRun, Registry};
use optc::passes::rewrite::Rule;

/// The dialect. Parsing, printing, verification, interpretation, fusion, in-place updates and machine code
/// are derived from its rows.
pub static MY: Dialect = Dialect { name: "my", doc: "What is ours.", tables: &[&[SOFTSIGN, START]] };
const SOFTSIGN: OpDef = OpDef {
    name: "my.softsign",
    doc: "x / (1 + |x|).",
    operands: &[OperandDef::one("x", FloatTensor)],
    results: &[OperandDef::one("result", FloatTensor)],
    infer: Infer::SameAs(0),
    traits: Traits::PURE,
    kind: Kind::Elementwise(&Scalar::Binary(Binary::Div, &X, &SCALE)),
    ..OpDef::BLANK
};
const X: Scalar = Scalar::Arg(0);
const SCALE: Scalar = Scalar::Binary(Binary::Add, &Scalar::Const(1.0), &Scalar::Unary(Unary::Abs, &X));

/// A type: `!my.clock`.
pub static CLOCK: TypeDef = TypeDef::plain("my.clock", "A running clock.");
const NOW: &[OperandDef] = &[OperandDef::one("clock", Own(&CLOCK))];
const START: OpDef = OpDef { name: "my.start", doc: "Starts a clock.", results: NOW, ..OpDef::BLANK };

/// The laws, which hold to the bit: `canonicalize` applies them from left to right, and `simplify` where the
/// result is cheaper.
pub static LAWS: &[Rule] = &[Rule::law("odd", "(my.softsign (nn.neg ?x))", "(nn.neg (my.softsign ?x))")];

fn count(pass: &PassContext<'_>, body: &mut Body) -> Result<(), Vec<Diagnostic>> {
    let is_elementwise = |op: &Op| matches!(body.at(pass.ctx, *op).kind(), Kind::Elementwise(_));
    let ops = body.blocks(body.root()).iter().flat_map(|block| body.ops(*block));
    let count = ops.filter(is_elementwise).count();
    body.set_own_attr(pass.ctx, "my.count", pass.ctx.int_attr(count as i64));
    Ok(())
}

/// The pass: it looks at the kind, so it also counts operations of other dialects.
pub static COUNT: PassDef = PassDef {
    name: "my-count",
    doc: "Writes on each function how many of its operations are elementwise.",
    run: PassRun::Function(count),
    ..PassDef::BLANK
};

/// The tool: optc, with this dialect and pass.
pub fn setup() -> Setup {
    let mut registry = Registry::new();
    registry.register(&COUNT);
    registry.register_rules(LAWS);
    Setup { name: "my-opt", registry, dialects: vec![&MY], ..Setup::default() }
}
