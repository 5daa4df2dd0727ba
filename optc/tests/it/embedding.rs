//! What a program that embeds the library is given: own passes on every way to a plan, an end to work that is
//! not wanted any more, faults that say what they are of, types that threads may share.

use std::error::Error;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};

use optc::ir::text::print;
use optc::passes::manager::{PassDef, PassObserver, PassRun, Stage};
use optc::prelude::*;
use optc::runtime::{ParallelFor, RunError, RunObserver};
use optc::{Fault, plan};

const SOFTMAX: &str = "func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = nn.exp %x : tensor<4x8xf32>
  %1 = nn.softmax %0 {axis = 1} : tensor<4x8xf32>
  %2 = nn.cum_sum %1 {axis = 1} : tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}";

fn parse(text: &str) -> Module {
    optc::parse("t", text.to_owned(), None, &LoadOptions::default()).expect("the text is read")
}

fn at_named_sizes() -> Module {
    parse(&SOFTMAX.replace("tensor<4x8xf32>", "tensor<?x8xf32, #optc.dims<N>>"))
}

/// A registry with a pass that counts the functions that it sees, and the count.
fn counting(after: Option<Stage>) -> (Arc<Registry>, Arc<AtomicU64>) {
    let seen = Arc::new(AtomicU64::new(0));
    let count = seen.clone();
    let run = PassRun::on_functions(move |pass, body| {
        body.set_own_attr(pass.ctx, "my.seen", pass.ctx.unit_attr());
        count.fetch_add(1, Relaxed);
        Ok(())
    });
    let mut registry = Registry::new();
    registry.add(PassDef { name: "my-count", run, ..PassDef::BLANK });
    registry.extend_default(after, "my-count");
    (Arc::new(registry), seen)
}

/// What other bytes count as differs between operations, so an array of them is refused before a run.
#[test]
fn a_truth_value_of_an_array_is_0_or_1() {
    let mut module = parse(
        "func.func @main(
        %c: tensor<4xi1> {optc.name = \"c\"}, %x: tensor<4xf32> {optc.name = \"x\"}
    ) -> tensor<4xf32> {
      %0 = nn.not %c : tensor<4xi1>
      %1 = nn.select %0, %x, %x : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      return %1 : tensor<4xf32>
    }",
    );
    let mut model = Model::compile(&mut module, &CompileOptions::default()).unwrap();
    let x = Array::f32("x", &[4], &[1.0, 2.0, 3.0, 4.0]);
    let truths = Array::of("c", &[4], &[true, false, true, false]);
    assert_eq!(model.run(&[truths.clone(), x.clone()]).unwrap()[0].bytes, x.bytes);
    for byte in [2, 128, 255] {
        let mut wrong = truths.clone();
        wrong.bytes[3] = byte;
        let failure = model.run(&[wrong, x.clone()]).unwrap_err().to_string();
        assert!(failure.contains("input `c` has a truth value other than 0 and 1"), "{failure}");
    }
}

#[test]
fn passes_of_an_embedder_run_on_every_way_to_a_plan() {
    for after in [None, Some(Stage::Simplify), Some(Stage::Fuse), Some(Stage::Plan)] {
        let (registry, seen) = counting(after);
        let options = CompileOptions { threads: 1, registry: Some(registry), ..Default::default() };
        let mut module = parse(SOFTMAX);
        Model::compile(&mut module, &options).unwrap();
        assert!(print(&module).contains("my.seen"), "{}", print(&module));
        plan(&mut parse(SOFTMAX), &options).unwrap();
        // Both ways once; a budget tries several.
        assert_eq!(seen.load(Relaxed), 2, "{after:?}");
        plan(&mut parse(SOFTMAX), &CompileOptions { budget_bytes: Some(1 << 20), ..options.clone() })
            .unwrap();
        assert!(seen.load(Relaxed) > 2, "{after:?}");
        let before = seen.load(Relaxed);
        let compiled = Model::compile(&mut at_named_sizes(), &options);
        match after {
            Some(Stage::Plan) => {
                let refused = compiled.map(drop).unwrap_err().to_string();
                let expected =
                    "`my-count` is to run after `plan`, which is not done by a pass at named sizes";
                assert!(refused.contains(expected), "{refused}");
            }
            _ => {
                let x = Array::f32("x", &[2, 8], &[0.5; 16]);
                assert_eq!(compiled.unwrap().run(&[x]).unwrap()[0].shape, [2, 8]);
                assert_eq!(seen.load(Relaxed), before + 1, "{after:?}");
            }
        }
    }
}

/// Breaks before the step whose name begins so, and notes all.
struct BreaksAt(&'static str, Mutex<Vec<String>>);

impl PassObserver for BreaksAt {
    fn begins(&self, step: &str) -> ControlFlow<String> {
        self.1.lock().expect("no test panicked").push(step.to_owned());
        match step.starts_with(self.0) {
            true => ControlFlow::Break("the user closed the window".to_owned()),
            false => ControlFlow::Continue(()),
        }
    }
}

#[test]
fn a_compilation_tells_its_steps_and_ends_at_any_of_them() {
    let compile = |mut module: Module, at: &'static str| {
        let observer = Arc::new(BreaksAt(at, Mutex::default()));
        let options = CompileOptions { observer: Some(observer.clone()), ..Default::default() };
        let failure = Model::compile(&mut module, &options).map(drop).err();
        let steps = observer.1.lock().unwrap().clone();
        (failure, steps)
    };
    let (none, steps) = compile(parse(SOFTMAX), "nothing");
    assert!(none.is_none() && steps.len() > 8 && steps.last().unwrap() == "machine code", "{steps:?}");
    for step in &steps {
        let name: &'static str = step.split('{').next().unwrap().to_owned().leak();
        let (failure, seen) = compile(parse(SOFTMAX), name);
        let failure = failure.expect("it was cancelled");
        assert_eq!(failure.code(), FaultCode::Cancelled, "{failure}");
        assert!(failure.to_string().contains("the user closed the window, before "), "{failure}");
        assert!(seen.last().unwrap().starts_with(name), "{seen:?}");
    }
    let (failure, _) = compile(at_named_sizes(), "machine code");
    assert_eq!(failure.unwrap().code(), FaultCode::Cancelled);
}

#[test]
fn a_flag_cancels_a_compilation_and_a_run() {
    let cancelled = Arc::new(AtomicBool::new(false));
    let options = CompileOptions { observer: Some(cancelled.clone()), threads: 1, ..Default::default() };
    let mut model = Model::compile(&mut parse(SOFTMAX), &options).unwrap();
    model.watch(Some(cancelled.clone()));
    let x = Array::f32("x", &[4, 8], &[0.5; 32]);
    let whole = model.run(std::slice::from_ref(&x)).unwrap();
    cancelled.store(true, Relaxed);
    let failure = model.run(std::slice::from_ref(&x)).unwrap_err();
    assert_eq!(
        (failure.code(), failure.to_string().as_str()),
        (FaultCode::Cancelled, "error: the run was cancelled")
    );
    let failure = Model::compile(&mut parse(SOFTMAX), &options).map(drop).unwrap_err();
    assert_eq!(failure.code(), FaultCode::Cancelled);
    // The model is as usable as before.
    model.watch(None);
    assert_eq!(model.run(&[x]).unwrap(), whole);
}

/// Allows a number of steps, and keeps the number of the last one.
struct Allowed {
    most: u64,
    last: AtomicU64,
}

impl RunObserver for Allowed {
    fn begins(&self, step: u64) -> ControlFlow<()> {
        self.last.store(step, Relaxed);
        if step < self.most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

/// Two steps a round, as many rounds as the first argument says.
const LOOP: &str = "func.func @main(%n: tensor<i64>, %x: tensor<64xf32>) -> tensor<64xf32> {
  %from = arith.constant 0 : index
  %step = arith.constant 1 : index
  %to = arith.constant 1000 : index
  %0 = scf.for %i = %from to %to step %step iter_args(%y = %x) -> (tensor<64xf32>) {
    %1 = nn.cum_sum %y {axis = 0} : tensor<64xf32>
    %2 = nn.softmax %1 {axis = 0} : tensor<64xf32>
    scf.yield %2 : tensor<64xf32>
  }
  return %0 : tensor<64xf32>
}";

#[test]
fn a_run_ends_between_two_steps_in_loops_and_at_any_sizes() {
    let x = [0.25f32; 64];
    let loop_text = LOOP.replace("%n: tensor<i64>, ", "");
    for (text, shape, steps) in [(loop_text.as_str(), [64, 1], 2000), (SOFTMAX, [4, 8], 2)] {
        for threads in [1, 2] {
            let options = CompileOptions { threads, ..Default::default() };
            let mut module = if text == SOFTMAX { at_named_sizes() } else { parse(text) };
            let mut model = Model::compile(&mut module, &options).unwrap();
            let shape: Vec<u64> = shape.into_iter().filter(|size| *size > 1).collect();
            let count = shape.iter().product::<u64>() as usize;
            let input = Array::f32("x", &shape, &x[..count]);
            let mut watched = |most: u64| {
                let observer = Arc::new(Allowed { most, last: AtomicU64::new(0) });
                model.watch(Some(observer.clone()));
                let result = model.run(std::slice::from_ref(&input));
                (result, observer.last.load(Relaxed))
            };
            let (whole, last) = watched(u64::MAX);
            whole.expect("it runs to its end");
            assert!(last + 1 >= steps, "{last} steps");
            let (stopped, at) = watched(last / 2);
            assert_eq!(stopped.unwrap_err().code(), FaultCode::Cancelled);
            assert_eq!(at, last / 2);
        }
    }
}

#[test]
fn faults_say_their_stage_place_and_operation() {
    let parsed = |text: &str| optc::parse("t.mlir", text.to_owned(), None, &LoadOptions::default()).map(drop);
    let first = |failure: Failure| -> Fault {
        let Failure::Input(faults) = failure else { panic!("{failure}") };
        faults.into_iter().next().expect("a fault")
    };
    let fault = first(parsed("func.func @f( {").unwrap_err());
    assert_eq!((fault.code, fault.code.name()), (FaultCode::Text, "text"));
    let integers = SOFTMAX.replace("f32", "i32");
    let fault = first(parsed(&integers).unwrap_err());
    assert_eq!((fault.code, fault.op.as_deref()), (FaultCode::Program, Some("nn.exp")));
    let place = fault.place.as_ref().expect("it has a place").to_string();
    assert_eq!(place, "t.mlir:2:8");
    let options = RunOptions::new(Cpu::native());
    let run =
        |text: &str| first(optc::run_pipeline(&mut parse(SOFTMAX), text, &options).map(drop).unwrap_err());
    assert_eq!(run("fues").code, FaultCode::Pipeline);
    assert_eq!(run("lines{budget=1}").code, FaultCode::Pipeline);
    let mut model = Model::compile(&mut parse(SOFTMAX), &CompileOptions::default()).unwrap();
    let failure = model.set_shape("arg0", &[5, 8]).unwrap_err();
    assert_eq!(failure.code(), FaultCode::Run, "{failure}");
    // All of them go through `?` into a box, and their cause is the first fault.
    let cause = failure.source().expect("the fault").to_string();
    assert_eq!(cause, failure.to_string());
    let boxed: Box<dyn Error + Send + Sync> = failure.into();
    assert!(boxed.downcast_ref::<Failure>().is_some());
    assert_eq!(Failure::from(RunError::Stopped).code(), FaultCode::Cancelled);
}

#[test]
fn builders_make_what_operations_by_name_are() {
    let ctx = Arc::new(Context::new());
    let mut module = Module::new(ctx.clone());
    let image = ctx.tensor(&[1, 3, 8, 8], ctx.f32());
    let types =
        [("x", image), ("w", ctx.tensor(&[4, 3, 3, 3], ctx.f32())), ("b", ctx.tensor(&[4], ctx.f32()))];
    let mut main = FunctionBuilder::new(&mut module, "main", &types);
    let [x, w, b] = [0, 1, 2].map(|index| main.input(index));
    let conv = nn::conv2d(&mut main, x, w).bias(b).pads(&[1, 1, 1, 1]).strides(&[2, 2]).build().unwrap();
    let named =
        main.op("nn.conv2d").operands(&[x, w, b]).ints("pads", &[1, 1, 1, 1]).ints("strides", &[2, 2]);
    let named = named.build().unwrap();
    assert_eq!(main.ty(conv), main.ty(named));
    let halves = nn::cast(&mut main, conv, ctx.float(optc::ir::FloatKind::F16)).build().unwrap();
    let joined = nn::concat(&mut main, &[conv, named], 1).build().unwrap();
    let positive = nn::leaky_relu(&mut main, joined).alpha(0.5).build().unwrap();
    let largest =
        nn::arg_max(&mut main, positive, 1).keepdims().attr("my.note", ctx.unit_attr()).build().unwrap();
    let wide = arith::extf(&mut main, halves, ctx.tensor(&[1, 4, 4, 4], ctx.f32())).build().unwrap();
    let less = arith::cmpf(&mut main, conv, wide, "olt").build().unwrap();
    let wrong = nn::reduce_sum(&mut main, joined, &[4]).build().unwrap_err().to_string();
    assert_eq!(wrong, "`nn.reduce_sum`: axis 4 is not one of the operand's 4");
    main.finish(&[("positive", positive), ("largest", largest), ("less", less)]).unwrap();
    optc::ir::verify::verify_touched(&mut module).unwrap();
    let text = print(&module);
    let lines: Vec<&str> = text.lines().filter(|line| line.contains("nn.conv2d")).collect();
    assert_eq!(lines[0].split_once(" = ").map(|line| line.1), lines[1].split_once(" = ").map(|line| line.1));
    assert!(text.contains("arith.cmpf olt") && text.contains("keepdims, my.note"), "{text}");
}

#[test]
fn a_dialect_may_be_made_while_the_program_runs() {
    use optc::ir::opdef::TypeClass::FloatTensor;
    use optc::ir::scalar::{Binary, Scalar};
    use optc::ir::{Dialect, Infer, Kind, OpDef, OperandDef, Traits};

    /// As it may come from a plugin: `name: factor`. What a program registers stays to its end.
    fn dialect(name: &str, rows: &[(&str, f64)]) -> &'static Dialect {
        fn leaked<T>(value: T) -> &'static T {
            Box::leak(Box::new(value))
        }
        let one = |name| &*Box::leak(Box::new([OperandDef::one(name, FloatTensor)]));
        let row = |(op, factor): &(&str, f64)| OpDef {
            name: format!("{name}.{op}").leak(),
            doc: format!("x times {factor}.").leak(),
            operands: one("x"),
            results: one("result"),
            infer: Infer::SameAs(0),
            traits: Traits::PURE,
            kind: Kind::Elementwise(leaked(Scalar::Binary(
                Binary::Mul,
                leaked(Scalar::Arg(0)),
                leaked(Scalar::Const(*factor)),
            ))),
            ..OpDef::BLANK
        };
        let table: &'static [OpDef] = rows.iter().map(row).collect::<Vec<_>>().leak();
        leaked(Dialect { name: name.to_owned().leak(), doc: "Made.", tables: leaked([table]) })
    }
    let made = dialect("units", &[("kilo", 1000.0), ("milli", 0.001)]);
    let options = LoadOptions { dialects: vec![made], ..LoadOptions::default() };
    let text = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = units.kilo %x : tensor<2xf32>
      return %0 : tensor<2xf32>
    }";
    let mut module = optc::parse("t", text.to_owned(), None, &options).unwrap();
    let mut model = Model::compile(&mut module, &CompileOptions::default()).unwrap();
    let outputs = model.run(&[Array::f32("x", &[2], &[0.5, -2.0])]).unwrap();
    assert_eq!(outputs[0].to_f64(), [500.0, -2000.0]);
    // What is compiled and kept is read again with the dialects that it was written with.
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(folder.path(), 1 << 20).unwrap();
    for _ in 0..2 {
        let module = optc::parse("t", text.to_owned(), None, &options).unwrap();
        let (mut module, compile) = cache.program(&module, &CompileOptions::default()).unwrap();
        let mut model = Model::compile(&mut module, &compile).unwrap();
        assert_eq!(model.run(&[Array::f32("x", &[2], &[0.5, -2.0])]).unwrap(), outputs);
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let refused = optc::parse("t", text.to_owned(), None, &LoadOptions::default()).map(drop).unwrap_err();
    assert!(refused.to_string().contains("units.kilo"), "{refused}");
}

#[test]
fn the_builder_refuses_what_it_is_not_meant_for() {
    let ctx = Arc::new(Context::new());
    let mut module = Module::new(ctx.clone());
    let vector = ctx.tensor(&[4, 2], ctx.f32());
    let mut main = FunctionBuilder::new(&mut module, "main", &[("x", vector)]);
    let x = main.input(0);
    let said = |result: Result<Value, optc::ir::InferError>| result.unwrap_err().to_string();
    let twice = main.op("nn.softmax").operands(&[x]).int("axis", 0).int("axis", 1).build();
    assert!(said(twice).contains("axis"));
    let none = main.op("func.return").operands(&[x]).build();
    assert!(said(none).contains("has no result"));
}

#[test]
fn threads_may_share_and_send_what_the_library_gives() {
    fn shared<T: Send + Sync>() {}
    fn sent<T: Send>() {}
    shared::<(Context, Module, Body, Registry, Pipeline, Program, CompileOptions, LoadOptions)>();
    shared::<(Failure, Fault, Array, Artifact, Cache, ThreadPool, AlignedBuffer, RunError)>();
    shared::<(Cpu, Diagnostic, optc::ir::InferError, optc::codegen::ReadPlan, Box<dyn ParallelFor>)>();
    sent::<(Model, RunContext<'static>, Arena<'static>, FunctionBuilder<'static>)>();
}
