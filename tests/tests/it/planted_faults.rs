//! Faults planted into passes, laws and kernels are found: bisection names the pass, and reduction leaves few
//! operations.
//!
//! A fault is a rule that is not a law, a pass that damages the program after its work, or an operation whose
//! machine code computes something else than its row. None of them is shipped: they are registered here.

use std::panic::{set_hook, take_hook};
use std::sync::Arc;

use ir::interp::{EvalError, Tensor};
use ir::opdef::{Access, AttrDef, AttrKind, Presence, Reuse, TypeClass};
use ir::plan::attrs;
use ir::{
    Attr, Body, Context, Diagnostic, Dialect, Infer, Kind, Module, Op, OpDef, OperandDef, Traits, Value,
    flow, text,
};
use optc::bisect::{BisectOptions, Bisected, Trouble, bisect, trouble};
use optc::compile::{passes_to_plan, signature};
use optc::{Array, CompileOptions};
use passes::manager::{Example, PassContext, PassDef, PassRun, Registry};
use passes::reduce::{ReduceOptions, op_count, reduce};
use passes::rewrite::Rule;
use tests::programs::array;
use tests::random::Random;

/// A planted fault.
struct Fault {
    name: &'static str,
    /// The expected pass; none for a kernel.
    pass: Option<&'static str>,
    /// The searched passes; none for those up to the plan.
    passes: Option<&'static str>,
    registry: fn() -> Registry,
}

/// The rules of a fault in laws.
macro_rules! law {
    ($name:literal, $pass:literal, $passes:expr, $left:literal => $right:literal) => {
        Fault {
            name: $name,
            pass: Some($pass),
            passes: $passes,
            registry: || {
                static RULES: &[Rule] = &[Rule::law($name, $left, $right)];
                let mut registry = Registry::new();
                registry.register_rules(RULES);
                registry
            },
        }
    };
}

/// A pass that damages the program after its work.
macro_rules! damage {
    ($name:literal, $pass:literal, $passes:expr, $change:expr) => {
        Fault {
            name: $name,
            pass: Some($pass),
            passes: $passes,
            registry: || {
                with_pass($pass, |cx, body| {
                    work($pass, cx, body)?;
                    if cx.changes.allow(|| $name.to_owned()) {
                        let change: fn(&Context, &mut Body) = $change;
                        change(cx.ctx, body);
                    }
                    Ok(())
                })
            },
        }
    };
}

static FAULTS: &[Fault] = &[
    law!("exp of neg is exp", "simplify", None, "(nn.exp (nn.neg ?x))" => "(nn.exp ?x)"),
    law!("a square is its root", "simplify", None, "(nn.mul ?x ?x)" => "?x"),
    law!("relu is nothing", "simplify", None, "(nn.relu ?x)" => "?x"),
    law!("a sum is its first part", "simplify", None, "(nn.add ?x ?y)" => "?x"),
    law!("tanh is nothing", "simplify", None, "(nn.tanh ?x)" => "?x"),
    law!("max is the second", "simplify", None, "(nn.max ?x ?y)" => "?y"),
    law!("a difference is its second part", "simplify", None, "(nn.sub ?x ?y)" => "?y"),
    law!("neg is exact nothing", "canonicalize", Some("cse,canonicalize,dce"), "(nn.neg ?x)" => "?x"),
    damage!("clips are alike", "cse", Some("canonicalize,cse,dce"), |ctx, body| {
        if let [first, second, ..] = named(ctx, body, "nn.clip")[..] {
            body.replace_uses(body.result(second, 0), body.result(first, 0));
        }
    }),
    damage!("a result is its operand", "dce", Some("canonicalize,dce,cse"), |ctx, body| {
        let tanh = named(ctx, body, "nn.tanh")[0];
        body.replace_uses(body.result(tanh, 0), body.operand(tanh, 0));
    }),
    damage!("a transpose turns other axes", "layout", None, |ctx, body| {
        // Two faulty transposes may cancel each other.
        let turn = named(ctx, body, "nn.transpose")[0];
        body.set_attr(ctx, turn, "permutation", ctx.ints_attr(&[0, 3, 2, 1]));
    }),
    damage!("a group loses its last operation", "fuse", None, |ctx, body| {
        in_groups(ctx, body, |body, last| {
            let operand = body.operand(last, 0);
            let made = body.result(last, 0);
            if body.ty(operand) == body.ty(made) {
                body.replace_uses(made, operand);
            }
        });
    }),
    damage!("a group turns a difference", "fuse", None, |ctx, body| {
        for op in named(ctx, body, "nn.sub") {
            let [a, b] = [0, 1].map(|index| body.operand(op, index));
            body.set_operands(op, &[b, a]);
        }
    }),
    damage!("an operation runs before its operand", "schedule", None, |_, body| {
        let block = body.entry(body.root()).expect("there is a block");
        let steps: Vec<Op> = body.ops(block).collect();
        let late = steps[steps.len() - 2];
        let maker = body.operands(late).find_map(|operand| body.defining_op(operand));
        if let Some(maker) = maker {
            body.detach(late);
            body.insert_before(late, maker);
        }
    }),
    damage!("a value is overwritten before its last reader", "inplace", None, |ctx, body| {
        overwrite(ctx, body, |uses| uses > 1);
    }),
    damage!("an input is overwritten", "inplace", None, |ctx, body| {
        for op in ops(ctx, body) {
            let reads = body.operands(op).position(|operand| body.defining_op(operand).is_none());
            let is_elementwise = body.at(ctx, op).attr(attrs::MEM_KERNEL).is_some();
            if let (Some(operand), true) = (reads, is_elementwise) {
                body.set_attr(ctx, op, attrs::MEM_TIE, ctx.ints_attr(&[operand as i64]));
                return;
            }
        }
    }),
    damage!("two values lie in one place", "plan", None, |ctx, body| {
        let places: Vec<(Op, Attr)> = in_arena(ctx, body);
        if let Some((_, first)) = places.first() {
            places.iter().for_each(|(op, _)| body.set_attr(ctx, *op, attrs::MEM_PLACE, *first));
        }
    }),
    damage!("the arena ends too early", "plan", None, |ctx, body| {
        body.set_own_attr(ctx, attrs::OPTC_ARENA, ctx.int_attr(64));
    }),
    damage!("a value has no place", "plan", None, |ctx, body| {
        if let Some((op, _)) = in_arena(ctx, body).first() {
            body.remove_attr(ctx, *op, attrs::MEM_PLACE);
        }
    }),
    Fault { name: "a kernel forgets its tail", pass: None, passes: None, registry: Registry::new },
];

/// Our passes and rules, but with this pass replaced.
fn with_pass(name: &str, run: fn(&PassContext<'_>, &mut Body) -> Result<(), Vec<Diagnostic>>) -> Registry {
    let mut registry = Registry::empty();
    for def in passes::PASSES {
        if def.name != name {
            registry.register(def);
            continue;
        }
        let damaged = PassDef {
            name: def.name,
            doc: def.doc,
            options: def.options,
            example: Example { before: "", after: "" },
            stage: def.stage,
            run: PassRun::Function(run),
        };
        registry.add(damaged);
    }
    passes::canonicalize::RULES
        .iter()
        .chain(passes::laws::LAWS)
        .for_each(|rules| registry.register_rules(rules));
    registry
}

/// The work of the pass with this name.
fn work(name: &str, cx: &PassContext<'_>, body: &mut Body) -> Result<(), Vec<Diagnostic>> {
    let registry = Registry::new();
    let run = registry.get(name).expect("it is ours").run.function();
    run.unwrap_or_else(|| panic!("`{name}` works on a module"))(cx, body)
}

/// All operations of a function, in text order.
fn ops(ctx: &Context, body: &Body) -> Vec<Op> {
    let mut found = Vec::new();
    flow::walk(ctx, body, |op| found.push(op));
    found
}

/// The operations of this name, including those in groups.
fn named(ctx: &Context, body: &Body, name: &str) -> Vec<Op> {
    let all = body.all_blocks().flat_map(|block| body.ops(block));
    all.filter(|op| ctx.op_name_str(body.name(*op)) == name).collect()
}

/// Edits the last operation of each group, before its yield.
fn in_groups(ctx: &Context, body: &mut Body, change: fn(&mut Body, Op)) {
    for group in named(ctx, body, "optc.group") {
        let block = body.entry(body.regions(group)[0]).expect("a group has a block");
        let end = body.last_op(block).expect("a group yields");
        let last = body.prev_op(end).expect("a group computes something");
        change(body, last);
    }
}

/// Ties a result to an operand of its size with this number of readers.
fn overwrite(ctx: &Context, body: &mut Body, wanted: fn(usize) -> bool) {
    for op in ops(ctx, body) {
        let Some(result) = body.results(op).next() else { continue };
        let is_step = body.at(ctx, op).attr(attrs::MEM_KERNEL).is_some();
        let fits = |operand: &Value| {
            let uses = body.uses(*operand);
            let later = uses.filter(|used| used.op != op && is_after(body, used.op, op)).count();
            body.ty(*operand) == body.ty(result) && body.defining_op(*operand).is_some() && wanted(later + 1)
        };
        let found = body.operands(op).position(|operand| fits(&operand));
        if let (true, Some(index)) = (is_step, found) {
            body.set_attr(ctx, op, attrs::MEM_TIE, ctx.ints_attr(&[index as i64]));
            return;
        }
    }
}

fn is_after(body: &Body, op: Op, other: Op) -> bool {
    body.block_of(op) == body.block_of(other) && body.is_before(other, op)
}

/// The steps with a result in the arena, with their places.
fn in_arena(ctx: &Context, body: &Body) -> Vec<(Op, Attr)> {
    let mut found = Vec::new();
    flow::walk(ctx, body, |op| {
        let place = body.at(ctx, op).attr(attrs::MEM_PLACE);
        found.extend(
            place.filter(|place| text::attr_text(ctx, *place).starts_with("[[\"arena\"")).map(|p| (op, p)),
        );
    });
    found
}

/// An operation run by the softmax kernel, although its row differs in the last element.
static TAIL: Dialect = Dialect { name: "planted", doc: "A wrong row.", tables: &[&[SOFTMAX]] };
const SOFTMAX: OpDef = OpDef {
    name: "planted.softmax",
    doc: "Softmax, but for the last element.",
    operands: &[OperandDef::one("x", TypeClass::FloatTensor)],
    results: &[OperandDef::one("result", TypeClass::FloatTensor)],
    attrs: &[AttrDef { name: "axis", kind: AttrKind::Axis, presence: Presence::Required, doc: "The axis." }],
    infer: Infer::SameAs(0),
    traits: Traits::PURE,
    kind: Kind::Kernel("softmax"),
    reuse: &[Reuse { result: 0, operand: 0, access: Access::RowWise }],
    eval: Some(|op, operands| {
        let results = ir::interp::nn::softmax(op, operands)?;
        let [result] = &results[..] else { return Err(EvalError("one result".to_owned())) };
        let mut bytes = result.bytes.to_vec();
        bytes.truncate(bytes.len() - 4);
        bytes.extend(9f32.to_le_bytes());
        Ok(vec![Tensor::new(op.ctx, result.ty, bytes)])
    }),
    ..OpDef::BLANK
};

const PROGRAM: &str = r#"
func.func @main(%x: tensor<1x4x4x4xf32>, %y: tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32> {
  %w = nn.constant dense<0.25> : tensor<4x4x1x1xf32>
  %0 = nn.conv2d %x, %w : (tensor<1x4x4x4xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x4x4xf32>
  %1 = nn.add %0, %x : tensor<1x4x4x4xf32>
  %2 = nn.relu %1 : tensor<1x4x4x4xf32>
  %3 = nn.neg %2 : tensor<1x4x4x4xf32>
  %4 = nn.exp %3 : tensor<1x4x4x4xf32>
  %5 = nn.softmax %4 {axis = 3 : i64} : tensor<1x4x4x4xf32>
  %6 = nn.mul %5, %5 : tensor<1x4x4x4xf32>
  %7 = nn.max %6, %y : tensor<1x4x4x4xf32>
  %8 = nn.softmax %7 {axis = 2 : i64} : tensor<1x4x4x4xf32>
  %9 = nn.sub %8, %2 : tensor<1x4x4x4xf32>
  %10 = nn.clip %9 {lo = -1.0 : f32, hi = 1.0 : f32} : tensor<1x4x4x4xf32>
  %11 = nn.clip %9 {lo = -0.1 : f32, hi = 0.1 : f32} : tensor<1x4x4x4xf32>
  %12 = nn.add %10, %11 : tensor<1x4x4x4xf32>
  %13 = KERNEL %12 {axis = 3 : i64} : tensor<1x4x4x4xf32>
  %14 = nn.max_pool2d %13 {kernel = array<i64: 1, 1>} : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %15 = nn.tanh %14 : tensor<1x4x4x4xf32>
  %16 = nn.add %15, %5 : tensor<1x4x4x4xf32>
  %17 = nn.softmax %16 {axis = 1 : i64} : tensor<1x4x4x4xf32>
  %18 = nn.add %17, %12 : tensor<1x4x4x4xf32>
  return %18 : tensor<1x4x4x4xf32>
}"#;

fn program(fault: &Fault) -> Module {
    let kernel = if fault.pass.is_none() { "planted.softmax" } else { "nn.softmax" };
    let ctx = Context::new();
    ctx.register(&TAIL);
    let ctx = Arc::new(ctx);
    let module = text::parse(&ctx, "planted.mlir", PROGRAM.replace("KERNEL", kernel));
    module.unwrap_or_else(|faults| panic!("{}", faults[0].render(&ctx)))
}

/// Numbers for the inputs of a program, which are tensors of `f32`.
fn inputs(module: &Module) -> Option<Vec<Array>> {
    let mut random = Random::new(7);
    module.function("main")?;
    let signature = signature(module, "main").ok()?;
    let arrays = signature.args.iter().map(|arg| {
        let shape = module.ctx.static_shape(arg.ty)?;
        let is_f32 = module.ctx.elem(arg.ty) == module.ctx.f32();
        is_f32.then(|| array(&arg.name, &shape, &random.floats(shape.iter().product())))
    });
    arrays.collect()
}

fn options<'a>(registry: &'a Registry, passes: &'a str) -> BisectOptions<'a> {
    let compile = CompileOptions { threads: 1, ..CompileOptions::default() };
    BisectOptions { registry, passes, compile, tolerance: 1e-4 }
}

/// The fault of a program, in one word.
fn kind(trouble: &Trouble) -> &'static str {
    match trouble {
        Trouble::Differs(_) => "differs",
        Trouble::Fails(_) => "fails",
    }
}

/// Finds a fault and reduces the program that shows it; returns the deviation from what is expected.
fn check(fault: &Fault) -> Result<(), String> {
    let registry = (fault.registry)();
    let module = program(fault);
    let passes = fault
        .passes
        .map_or_else(|| passes_to_plan(&module, "main", &CompileOptions::default()), str::to_owned);
    let options = options(&registry, &passes);
    let arrays = inputs(&module).expect("its inputs are tensors");
    let found = bisect(&module, "main", &arrays, None, &options).map_err(|failure| failure.to_string())?;
    let Some(Bisected { pass, trouble: seen, .. }) = &found else {
        return Err("nothing was found".to_owned());
    };
    if pass.as_deref() != fault.pass {
        return Err(format!("{found:?}"));
    }
    let mut fails = |candidate: &Module| {
        let Some(arrays) = inputs(candidate) else { return false };
        let now = trouble(candidate, "main", &arrays, &options);
        matches!(now, Ok(Some(now)) if kind(&now) == kind(seen))
    };
    let reduced = reduce(module, &ReduceOptions::default(), &mut fails);
    let left = op_count(&reduced.program);
    if left > 10 {
        Err(format!("{left} operations are left:\n{}", text::print(&reduced.program)))
    } else {
        Ok(())
    }
}

#[test]
fn bisection_names_the_pass_and_reduction_leaves_few_operations() {
    assert_eq!(FAULTS.len(), 20);
    let hook = take_hook();
    set_hook(Box::new(|_| {}));
    let told: Vec<String> =
        FAULTS.iter().filter_map(|fault| Some(format!("{}: {}", fault.name, check(fault).err()?))).collect();
    set_hook(hook);
    assert!(told.is_empty(), "{}", told.join("\n"));
}

#[test]
fn without_a_fault_nothing_is_found() {
    let fault = &FAULTS[0];
    let module = program(fault);
    let passes = passes_to_plan(&module, "main", &CompileOptions::default());
    let registry = Registry::new();
    let arrays = inputs(&module).expect("its inputs are tensors");
    let found = bisect(&module, "main", &arrays, None, &options(&registry, &passes));
    assert_eq!(found.expect("the program can be run"), None);
}
