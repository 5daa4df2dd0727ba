//! Passes created at run time, and passes of other crates in `default`.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use ir::{Context, Module, text};

use super::*;

const TWO: &str = "func.func @a(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @b(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}";

fn two() -> Module {
    text::parse(&Arc::new(Context::new()), "two.mlir", TWO.to_owned()).unwrap()
}

#[test]
fn a_pass_that_is_a_closure_keeps_its_state_between_runs() {
    let visits = Arc::new(AtomicU64::new(0));
    let counted = visits.clone();
    let modules = Arc::new(Mutex::new(Vec::new()));
    let seen = modules.clone();
    let mut registry = Registry::new();
    registry.add(PassDef {
        name: "visit",
        run: PassRun::on_functions(move |pass, body| {
            let number = counted.fetch_add(1, Relaxed) as i64;
            body.set_own_attr(pass.ctx, "my.visited", pass.ctx.int_attr(number));
            Ok(())
        }),
        ..PassDef::BLANK
    });
    registry.add(PassDef {
        name: "note",
        run: PassRun::on_module(move |_, module| {
            seen.lock().unwrap().push(module.functions().count());
            Ok(())
        }),
        ..PassDef::BLANK
    });
    let mut module = two();
    let pipeline = Pipeline::parse(&module.ctx, "func(visit),note", &registry).unwrap();
    // A pipeline keeps its passes alive.
    drop(registry);
    for _ in 0..2 {
        pipeline.run(&mut module, &RunOptions::new(&PlainTarget)).unwrap();
    }
    assert_eq!((visits.load(Relaxed), &*modules.lock().unwrap()), (4, &vec![2, 2]));
    assert!(text::print(&module).contains("my.visited = 3 : i64"), "{}", text::print(&module));
    drop(pipeline);
    assert_eq!(Arc::strong_count(&visits), 1, "the pass is gone with what knew it");
}

#[test]
fn a_closure_on_modules_is_no_pass_of_functions() {
    let mut registry = Registry::new();
    registry.add(PassDef { name: "note", run: PassRun::on_module(|_, _| Ok(())), ..PassDef::BLANK });
    let Err(faults) = Pipeline::parse(&Context::new(), "func(note)", &registry) else { panic!("it is") };
    assert!(faults[0].message.contains("works on a module"), "{}", faults[0].message);
}

#[test]
fn passes_are_put_into_default_at_their_places() {
    let mut registry = Registry::new();
    registry.extend_default(Some(Stage::Fuse), "dce");
    registry.extend_default(None, "cse");
    registry.extend_default(Some(Stage::Fuse), "func(dce)");
    registry.extend_default(Some(Stage::Plan), "symbol-dce");
    let ctx = Context::new();
    let text = |text: &str| Pipeline::parse(&ctx, text, &registry).map(|found| found.to_string());
    let stages = |goal: &str| {
        format!(
            "cse,inline{{max-ops=1000000}},symbol-dce,integers,variants,simplify,layout,fuse,dce,func(dce),\
             select,schedule,inplace,plan{{{goal}}},symbol-dce"
        )
    };
    assert_eq!(text("default").ok(), Some(stages("optimize=balanced")));
    // `default` has the options of `plan`, even if `plan` is not the last pass.
    assert_eq!(text("default{planner=exact}").ok(), Some(stages("planner=exact")));
    let rest = default_pipeline(&registry, Some(Stage::Fuse), Default::default(), None, Default::default());
    assert_eq!(rest, "select,schedule,inplace,plan{optimize=balanced},symbol-dce");
    registry.extend_default(Some(Stage::Plan), "fuse,dec");
    let Err(faults) = Pipeline::parse(&ctx, "cse,default", &registry) else { panic!("there is no `dec`") };
    assert_eq!(faults[0].message, "there is no pass `dec`");
    let place = Pipeline::parse(&ctx, "cse,nope", &registry).err().unwrap()[0].location.source_offset();
    assert_eq!(faults[0].location.source_offset().map(|at| at % 4), place.map(|at| at % 4));
}

#[test]
fn a_flag_cancels_what_is_left_of_a_pipeline() {
    let cancelled = Arc::new(AtomicBool::new(false));
    let flag = cancelled.clone();
    let mut registry = Registry::new();
    registry.add(PassDef {
        name: "cancel",
        run: PassRun::on_functions(move |_, _| {
            flag.store(true, Relaxed);
            Ok(())
        }),
        ..PassDef::BLANK
    });
    let mut module = two();
    let options = RunOptions { observer: &*cancelled, ..RunOptions::new(&PlainTarget) };
    let run = |module: &mut Module, text: &str| {
        Pipeline::parse(&module.ctx, text, &registry).unwrap().run(module, &options).map(drop)
    };
    run(&mut module, "dce,cancel").unwrap();
    let faults = run(&mut module, "dce,cancel").unwrap_err();
    assert_eq!(faults[0].message, "cancelled, before the pass `dce`");
}
