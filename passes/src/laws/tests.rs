//! Tests that both sides of every law compute the same, and that each law applies and refuses as it should.
//!
//! The left side of each row is built from its pattern, with operands of many element types and shapes. The
//! interpreter must compute the same results for the right side: for exact laws to the bit, on NaN,
//! infinities, zeros of either sign and the limits of integers; otherwise to a few digits. Laws that depend
//! on attributes get them from [`CASES`].

use ir::builder::infer;
use ir::interp::element::{Elem, LaneKind};
use ir::interp::{Tensor, eval_op};
use ir::{Attr, Block, Body, Builder, Context, Op, OpDef, OpSpec, Type, Value};
use rustc_hash::FxHashMap;

use super::cases::{CASES, LawCase, REFUSED};
use crate::canonicalize::CANONICALIZE;
use crate::constants;
use crate::manager::{PassContext, PassDef, PassOptions, PassRun, PlainTarget, Registry};
use crate::rewrite::pattern::Pattern;
use crate::rewrite::{Law, Rewriter, Rule, RuleSet};
use crate::simplify::SIMPLIFY;

pub(super) const FLOATS: [&str; 4] = ["f32", "f64", "f16", "bf16"];
pub(super) const INTEGERS: [&str; 6] = ["i1", "i8", "i16", "i32", "i64", "index"];
/// The number of inputs per program.
const ROUNDS: u32 = 6;

/// A function that computes the left side of a law and returns it.
#[derive(Clone)]
pub(super) struct Program {
    body: Body,
    root: Op,
}

/// Writes the left side of a law.
struct Writer<'a> {
    ctx: &'a Context,
    body: Body,
    block: Block,
    /// The sizes of the variables; none for a number that is no tensor.
    sizes: &'a [Option<&'a str>],
    /// The sizes of constants.
    constants: Option<&'a str>,
    /// Makes the attributes of an operation, from its number, its row and the types of its operands.
    attrs: &'a mut dyn FnMut(usize, &'static OpDef, &[Type]) -> Attr,
    /// Makes an element of a weight.
    weights: Element,
    vars: FxHashMap<usize, Value>,
    ops: usize,
}

/// Makes an element from a random number.
pub(super) type Element = fn(Elem, u32) -> f64;

/// A tensor type of these sizes; without sizes, the type `elem`.
fn sized(ctx: &Context, sizes: Option<&str>, elem: &str) -> Type {
    let text = match sizes {
        None => elem.to_owned(),
        Some("") => format!("tensor<{elem}>"),
        Some(sizes) => format!("tensor<{sizes}x{elem}>"),
    };
    ir::text::parse_type(ctx, &text).unwrap()
}

impl Writer<'_> {
    fn value(&mut self, pattern: &Pattern, elem: &str) -> Option<Value> {
        match pattern {
            Pattern::Var(index) | Pattern::Weight(index) if self.vars.contains_key(index) => {
                Some(self.vars[index])
            }
            Pattern::Var(index) => {
                let ty = sized(self.ctx, *self.sizes.get(*index)?, elem);
                let value = self.body.add_arg(self.block, ty);
                self.vars.insert(*index, value);
                Some(value)
            }
            Pattern::Weight(index) => {
                let ty = sized(self.ctx, *self.sizes.get(*index)?, elem);
                let bytes = elements(self.ctx, ty, 7 + *index as u32, self.weights);
                let value = self.constant(constants::attr(self.ctx, ty, &bytes), ty);
                self.vars.insert(*index, value);
                Some(value)
            }
            Pattern::Number(number) => {
                let ty = sized(self.ctx, self.constants, elem);
                Some(self.constant(filled(self.ctx, ty, *number)?, ty))
            }
            Pattern::Op(name, children) => self.op(name, children, elem),
        }
    }

    fn op(&mut self, name: &str, children: &[Pattern], elem: &str) -> Option<Value> {
        let number = self.ops;
        self.ops += 1;
        let mut operands = Vec::new();
        for (index, child) in children.iter().enumerate() {
            let is_condition = name == "arith.select" && index == 0;
            operands.push(self.value(child, if is_condition { "i1" } else { elem })?);
        }
        let types: Vec<Type> = operands.iter().map(|operand| self.body.ty(*operand)).collect();
        let attrs = (self.attrs)(number, self.ctx.def(self.ctx.op_name(name))?, &types);
        infer(self.ctx, self.ctx.op_name(name), &types, attrs).ok()?;
        let attrs: Vec<(&str, Attr)> =
            self.ctx.dict_entries(attrs).iter().map(|(name, attr)| (self.ctx.str(*name), *attr)).collect();
        Builder::at_end(self.ctx, &mut self.body, self.block).value(name, &operands, &attrs).ok()
    }

    fn constant(&mut self, value: Attr, ty: Type) -> Value {
        let is_tensor = self.ctx.type_data(ty).tensor_shape().is_some();
        let name = if is_tensor { "nn.constant" } else { "arith.constant" };
        let spec = OpSpec { attrs: &[("value", value)], results: Some(&[ty]), ..OpSpec::default() };
        let op = Builder::at_end(self.ctx, &mut self.body, self.block).build(name, spec).unwrap();
        self.body.result(op, 0)
    }
}

/// The attributes of an operation in a case.
pub(super) fn written(ctx: &Context, attrs: &[&str], number: usize, elem: &str) -> Attr {
    let text = attrs.get(number).map_or_else(|| "{}".to_owned(), |text| text.replace("ELEM", elem));
    ir::text::parse_attr(ctx, &text).unwrap()
}

impl Program {
    /// The left side with variables of these sizes; none if an `OpDef` or the verifier refuses it.
    fn write(
        ctx: &Context,
        (left, elem): (&Pattern, &str),
        (sizes, constants): (&[Option<&str>], Option<&str>),
        attrs: &[&str],
        weights: Element,
    ) -> Option<Program> {
        let mut attrs = |number: usize, _: &'static OpDef, _: &[Type]| written(ctx, attrs, number, elem);
        Program::write_with(ctx, (left, elem), (sizes, constants), &mut attrs, weights)
    }

    /// Like `write`, with attributes computed by a function.
    pub(super) fn write_with(
        ctx: &Context,
        (left, elem): (&Pattern, &str),
        (sizes, constants): (&[Option<&str>], Option<&str>),
        attrs: &mut dyn FnMut(usize, &'static OpDef, &[Type]) -> Attr,
        weights: Element,
    ) -> Option<Program> {
        let mut body = Body::new(1);
        let block = body.add_block(body.root());
        let vars = FxHashMap::default();
        let mut writer = Writer { ctx, body, block, sizes, constants, attrs, weights, vars, ops: 0 };
        let result = writer.value(left, elem)?;
        let mut body = writer.body;
        let root = body.defining_op(result)?;
        ir::verify::verify_body(ctx, &body).ok()?;
        let spec = OpSpec { operands: &[result], ..OpSpec::default() };
        Builder::at_end(ctx, &mut body, block).build("func.return", spec).unwrap();
        Some(Program { body, root })
    }

    /// The same program, but returning the result of each operation.
    pub(super) fn with_readers(&self) -> Program {
        let mut body = self.body.clone();
        let last = body.last_op(self.block()).unwrap();
        let ops = body.ops(self.block()).filter(|op| *op != last);
        let results: Vec<Value> = ops.map(|op| body.result(op, 0)).collect();
        body.set_operands(last, &results);
        Program { body, root: self.root }
    }

    fn block(&self) -> Block {
        self.body.entry(self.body.root()).unwrap()
    }

    /// The results on some inputs.
    fn run(&self, ctx: &Context, inputs: &[Tensor]) -> Vec<Tensor> {
        let args = self.body.args(self.block()).iter().copied();
        let mut values: FxHashMap<Value, Tensor> = args.zip(inputs.iter().cloned()).collect();
        let last = self.body.last_op(self.block()).unwrap();
        for op in self.body.ops(self.block()).filter(|op| *op != last) {
            let operands: Vec<Tensor> =
                self.body.operands(op).map(|operand| values[&operand].clone()).collect();
            let results = eval_op(self.body.at(ctx, op), &operands).unwrap();
            values.extend(self.body.results(op).zip(results));
        }
        self.body.operands(last).map(|result| values[&result].clone()).collect()
    }

    fn inputs(&self, ctx: &Context, seed: u32, law: &Law) -> Vec<Tensor> {
        let args = self.body.args(self.block()).iter().enumerate();
        let input = |(index, arg): (usize, &Value)| {
            let ty = self.body.ty(*arg);
            // Scaling or dividing by NaN and infinities gives other results in another order.
            let is_special = law.is_exact() || index == 0;
            let make = if is_special { special } else { moderate };
            Tensor::new(ctx, ty, elements(ctx, ty, seed * 31 + index as u32, make))
        };
        args.map(input).collect()
    }

    /// The program with the right side instead of the left one, if the law applies.
    pub(super) fn rewritten(&self, ctx: &Context, law: &Law) -> Option<Program> {
        let mut body = self.body.clone();
        law.apply(&mut Rewriter::new(ctx, &mut body), self.root)?;
        Some(Program { body, root: self.root })
    }

    /// The program after `canonicalize` or `simplify` with this law alone.
    fn after(&self, ctx: &Context, law: &Law, pass: &'static PassDef) -> Program {
        let mut rules = RuleSet::default();
        rules.add(law.rule);
        let mut body = self.body.clone();
        let PassRun::Function(run) = &pass.run else { panic!("it runs on functions") };
        run(&PassContext::new(ctx, &PlainTarget, 1, &PassOptions::defaults(pass.options), &rules), &mut body)
            .unwrap();
        Program { body, root: self.root }
    }

    /// Programs that violate one requirement of the pattern: an operation or a constant becomes an argument,
    /// or an argument that is read twice becomes two.
    fn spoilt(&self) -> Vec<Program> {
        let mut found = Vec::new();
        let last = self.body.last_op(self.block()).unwrap();
        for op in self.body.ops(self.block()).filter(|op| *op != self.root && *op != last) {
            let mut body = self.body.clone();
            let result = body.result(op, 0);
            let arg = body.add_arg(self.block(), body.ty(result));
            body.replace_uses(result, arg);
            found.push(Program { body, root: self.root });
        }
        for arg in self.body.args(self.block()) {
            if let Some(read) = self.body.uses(*arg).nth(1) {
                let mut body = self.body.clone();
                let other = body.add_arg(self.block(), body.ty(*arg));
                body.set_operand(read.op, read.index, other);
                found.push(Program { body, root: self.root });
            }
        }
        found
    }
}

/// A constant filled with a number, rounded to a float; none if an integer type can't represent it.
fn filled(ctx: &Context, ty: Type, number: f64) -> Option<Attr> {
    let elem = Elem::of(ctx, ty).unwrap();
    let element = match elem.lane() {
        LaneKind::F32 => constants::written_lane(elem, number as f32),
        LaneKind::F64 => constants::written_lane(elem, number),
        LaneKind::Int => return constants::filled(ctx, ty, number),
    };
    let count = constants::elements(ctx, ty).filter(|count| *count > 0)?;
    Some(constants::attr(ctx, ty, &element.repeat(count as usize)))
}

/// The packed elements of a value, each computed from a random number.
fn elements(ctx: &Context, ty: Type, seed: u32, make: Element) -> Vec<u8> {
    let elem = Elem::of(ctx, ty).unwrap();
    let mut state = seed.wrapping_mul(0x9E37_79B9) | 1;
    let mut bytes = Vec::new();
    for _ in 0..constants::elements(ctx, ty).unwrap() {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let number = make(elem, state >> 8);
        bytes.extend(match elem.lane() {
            LaneKind::F32 => constants::written_lane(elem, number as f32),
            LaneKind::F64 => constants::written_lane(elem, number),
            LaneKind::Int => constants::written_lane(elem, number as i64),
        });
    }
    bytes
}

/// A number between 0.5 and 2, or a small integer.
pub(super) fn moderate(elem: Elem, random: u32) -> f64 {
    match elem.lane() {
        LaneKind::Int => f64::from(random % 5),
        _ => 0.5 + f64::from(random % 97) / 64.0,
    }
}

/// NaN, infinities, zeros, limits of integers, or a number in between.
pub(super) fn special(elem: Elem, random: u32) -> f64 {
    let between = f64::from(random / 16 % 401) / 50.0 - 4.0;
    match (elem, random % 16) {
        (Elem::Int(int), 0) => int.range().0 as f64,
        (Elem::Int(int), 1) => int.range().1 as f64,
        (Elem::Int(_), 2) => -1.0,
        (Elem::Int(_), _) => f64::from(random / 16 % 256) - 128.0,
        (_, 0) => f64::NAN,
        (_, 1) => f64::INFINITY,
        (_, 2) => f64::NEG_INFINITY,
        (_, 3) => 0.0,
        (_, 4) => -0.0,
        (_, 5) => 1e-40,
        _ => between,
    }
}

/// The floats of a value.
fn numbers(ctx: &Context, value: &Tensor) -> Vec<f64> {
    let elem = Elem::of(ctx, value.ty).unwrap();
    match elem.lane() {
        LaneKind::F32 => constants::lanes::<f32>(elem, &value.bytes).into_iter().map(f64::from).collect(),
        LaneKind::F64 => constants::lanes::<f64>(elem, &value.bytes),
        LaneKind::Int => unreachable!("integers are compared by their bits"),
    }
}

/// Whether two results agree: to the bit for an exact law, otherwise to a few digits.
fn agree(ctx: &Context, law: &Law, a: &Tensor, b: &Tensor) -> bool {
    let elem = Elem::of(ctx, a.ty).unwrap();
    if a.ty != b.ty || matches!(elem.lane(), LaneKind::Int) {
        return a == b;
    }
    let tolerance = match elem {
        Elem::F16 => 4e-3,
        Elem::Bf16 => 4e-2,
        _ => 1e-5,
    };
    let is_same = |(a, b): (f64, f64)| match law.is_exact() {
        true => a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(),
        false => a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= tolerance * a.abs().max(1.0),
    };
    numbers(ctx, a).into_iter().zip(numbers(ctx, b)).all(is_same)
}

/// All valid left sides of a law: from its cases, or with all shapes.
fn programs(ctx: &Context, law: &Law) -> Vec<Program> {
    programs_of(ctx, law, law.left())
}

/// Like `programs`, for another pattern.
fn programs_of(ctx: &Context, law: &Law, left: &Pattern) -> Vec<Program> {
    let is_scalar = law.root().starts_with("arith.");
    let weights = if law.is_exact() { special } else { moderate };
    let write =
        |left: &Pattern, elem: &str, sizes: &[Option<&str>], constants: Option<&str>, attrs: &[&str]| {
            Program::write(ctx, (left, elem), (sizes, constants), attrs, weights)
        };
    let cases: Vec<&LawCase> = CASES.iter().filter(|case| case.0 == law.name()).collect();
    let mut found = Vec::new();
    for elem in FLOATS.into_iter().chain(INTEGERS) {
        for (_, sizes, attrs) in &cases {
            let is_number = |sizes: &str| is_scalar && sizes.is_empty();
            let sizes: Vec<_> = sizes.iter().map(|sizes| (!is_number(sizes)).then_some(*sizes)).collect();
            found.extend(write(left, elem, &sizes, Some(""), attrs));
        }
        if !cases.is_empty() {
            continue;
        }
        let sizes = if is_scalar { [Some("2x3"), None] } else { [Some("2x3"), Some("3")] };
        // Mixed shapes are tested with only one element type of each kind.
        if !["f32", "i32"].contains(&elem) {
            found.extend(write(left, elem, &[sizes[0]; 3], sizes[0], &[]));
            continue;
        }
        for mixture in 0..1 << (1 + variables(left)) {
            let of = |place: usize| sizes[mixture >> place & 1];
            found.extend(write(left, elem, &[of(1), of(2), of(3)], of(0), &[]));
        }
        for all in ["0x3", "1x1", ""] {
            let constants = if is_scalar { Some(all) } else { Some("") };
            found.extend(write(left, elem, &[Some(all); 3], constants, &[]));
        }
        for other in other_numbers(left) {
            found.extend(write(&other, elem, &[sizes[0]; 3], sizes[0], &[]));
        }
    }
    found
}

/// A pattern with each of its numbers changed slightly, or replaced.
pub(super) fn other_numbers(pattern: &Pattern) -> Vec<Pattern> {
    match pattern {
        Pattern::Var(_) | Pattern::Weight(_) => Vec::new(),
        Pattern::Number(number) => {
            let off = [1e-7, 1e-6, 1e-4].map(|part| number + part * number.abs().max(1.0));
            let others = [-number, 0.0, -0.0, 1.0, 2.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
            off.into_iter().chain(others).map(Pattern::Number).collect()
        }
        Pattern::Op(name, children) => {
            let with = |index: usize, child: Pattern| {
                let mut children = children.clone();
                children[index] = child;
                Pattern::Op(name, children)
            };
            let others = children.iter().map(other_numbers).enumerate();
            others
                .flat_map(|(index, others)| others.into_iter().map(move |child| (index, child)))
                .map(|(index, child)| with(index, child))
                .collect()
        }
    }
}

/// The number of variables of a pattern.
fn variables(pattern: &Pattern) -> usize {
    match pattern {
        Pattern::Var(index) | Pattern::Weight(index) => index + 1,
        Pattern::Number(_) => 0,
        Pattern::Op(_, children) => children.iter().map(variables).max().unwrap_or(0),
    }
}

pub(super) fn laws() -> Vec<Law> {
    Registry::new().rules().laws().cloned().collect()
}

#[test]
fn both_sides_of_every_law_compute_the_same() {
    let mut faults = Vec::new();
    for law in laws() {
        let ctx = Context::new();
        let mut applied = 0;
        for program in programs(&ctx, &law) {
            for program in [program.with_readers(), program] {
                let Some(rewritten) = program.rewritten(&ctx, &law) else { continue };
                applied += 1;
                // A few e-graphs suffice: their right sides come from the same code.
                let simplified = (applied <= 4).then(|| program.after(&ctx, &law, &SIMPLIFY));
                let others: Vec<&Program> = [&rewritten].into_iter().chain(&simplified).collect();
                faults.extend(difference(&ctx, &law, &program, &others));
            }
        }
        if applied == 0 {
            faults.push(format!("{}: applies to no left side", law.name()));
        }
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults[..faults.len().min(40)].join("\n"));
}

/// A description of the first difference from other programs' results.
pub(super) fn difference(ctx: &Context, law: &Law, program: &Program, others: &[&Program]) -> Option<String> {
    for seed in 1..=ROUNDS {
        let inputs = program.inputs(ctx, seed, law);
        let expected = program.run(ctx, &inputs);
        for other in others {
            let got = other.run(ctx, &inputs);
            if !expected.iter().zip(&got).all(|(a, b)| agree(ctx, law, a, b)) {
                let [before, after] =
                    [&program.body, &other.body].map(|body| ir::text::print_body(ctx, body));
                let name = law.name();
                return Some(format!("{name}: {expected:?} became {got:?}\n{before}\nbecame\n{after}"));
            }
        }
    }
    None
}

#[test]
fn every_law_refuses_what_is_not_its_left_side() {
    for law in laws() {
        let ctx = Context::new();
        let applies = |program: &Program| program.rewritten(&ctx, &law).is_some();
        let (right, mut wrong): (Vec<Program>, Vec<Program>) =
            programs(&ctx, &law).into_iter().partition(&applies);
        let Pattern::Op(root, operands) = law.left() else { panic!("a left side is an operation") };
        let one_more = Pattern::Op(root, operands.iter().chain(&operands[..1]).cloned().collect());
        let spoilt = right.iter().take(3).flat_map(Program::spoilt);
        for program in spoilt.chain(programs_of(&ctx, &law, &one_more)) {
            let text = || ir::text::print_body(&ctx, &program.body);
            assert!(!applies(&program), "{}: applies to\n{}", law.name(), text());
            wrong.push(program);
        }
        for (_, sizes, attrs) in REFUSED.iter().filter(|case| case.0 == law.name()) {
            let sizes: Vec<Option<&str>> = sizes.iter().map(|sizes| Some(*sizes)).collect();
            let program = Program::write(&ctx, (law.left(), "f32"), (&sizes, Some("")), attrs, moderate);
            let program = program.unwrap_or_else(|| panic!("{}: {attrs:?} is wrong", law.name()));
            assert!(!applies(&program), "{}: applies with {attrs:?}", law.name());
            wrong.push(program);
        }
        assert!(!wrong.is_empty(), "{}: nothing shows where it refuses", law.name());
    }
}

#[test]
fn numbers_of_exact_laws_are_exact() {
    let ctx = Context::new();
    let law = |name: &str| laws().into_iter().find(|law| law.name() == name).unwrap();
    let apply = |name: &str, left: &'static str, number: f64| {
        let pattern = Pattern::Op(left, vec![Pattern::Var(0), Pattern::Number(number)]);
        let (sizes, weights) = ((&[Some("3")][..], Some("3")), moderate);
        Program::write(&ctx, (&pattern, "f32"), sizes, &[], weights)
            .unwrap()
            .rewritten(&ctx, &law(name))
            .is_some()
    };
    assert!(apply("sub-zero", "nn.sub", 0.0) && !apply("sub-zero", "nn.sub", -0.0));
    assert!(apply("mul-one", "nn.mul", 1.0) && !apply("mul-one", "nn.mul", f64::from(1.0 + f32::EPSILON)));
    assert!(apply("pow-two", "nn.pow", 2.0) && !apply("pow-two", "nn.pow", 2.000_000_5));
    assert!(apply("add-zero", "nn.add", 0.0) && apply("add-zero", "nn.add", -0.0));
}

#[test]
fn canonicalize_applies_the_exact_laws_and_simplify_all() {
    static RULES: [Rule; 2] = [
        Rule::law("to-square", "(nn.mul ?x ?x)", "(nn.square ?x)"),
        Rule::law("to-silu", "(nn.mul ?x (nn.sigmoid ?x))", "(nn.silu ?x)").near(),
    ];
    let ctx = Context::new();
    let mut rules = RuleSet::default();
    RULES.iter().for_each(|rule| rules.add(rule));
    let names = |law: &Law, pass| {
        let program = &programs(&ctx, law)[0];
        let after = program.after(&ctx, law, pass);
        let ops = after.body.ops(after.block()).map(|op| after.body.at(&ctx, op).name());
        ops.collect::<Vec<_>>().join(" ")
    };
    let laws: Vec<&Law> = rules.laws().collect();
    assert_eq!(names(laws[0], &CANONICALIZE), "nn.square func.return");
    assert_eq!(names(laws[0], &SIMPLIFY), "nn.square func.return");
    assert_eq!(names(laws[1], &CANONICALIZE), "nn.sigmoid nn.mul func.return");
    assert_eq!(names(laws[1], &SIMPLIFY), "nn.silu func.return");
}
