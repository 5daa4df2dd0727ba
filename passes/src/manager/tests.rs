//! Tests of parsing, printing, completing and running pipelines.

use std::ops::ControlFlow;
use std::sync::Arc;

use ir::{Body, Context, Diagnostic, Location, Module};

use super::*;

const NOTHING: Example = Example { before: "", after: "" };

fn visit(cx: &PassContext<'_>, func: &mut Body) -> Result<(), Vec<Diagnostic>> {
    let name = func.symbol(cx.ctx).unwrap();
    cx.count("visited", 1);
    cx.remark(Location::UNKNOWN, format!("saw {name}"));
    if cx.options.flag("fail") {
        Err(vec![Diagnostic::error(Location::UNKNOWN, format!("no {name}"))])
    } else {
        Ok(())
    }
}

fn visit_module(cx: &PassContext<'_>, _: &mut Module) -> Result<(), Vec<Diagnostic>> {
    cx.count("modules", 1);
    Ok(())
}

const FAIL: OptionDef =
    OptionDef { name: "fail", kind: OptionKind::Flag, default: "false", doc: "Gives errors." };
const MAX_OPS: OptionDef = OptionDef {
    name: "max-ops",
    kind: OptionKind::Int { min: 1, max: 99 },
    default: "8",
    doc: "Most operations of a group.",
};
const KIND: OptionDef =
    OptionDef { name: "kind", kind: OptionKind::OneOf(&["first", "best"]), default: "best", doc: "Fit." };

const fn row(name: &'static str, stage: StageRule) -> PassDef {
    running(name, stage, &[FAIL, MAX_OPS, KIND], PassRun::Function(visit))
}

const fn running(
    name: &'static str,
    stage: StageRule,
    options: &'static [OptionDef],
    run: PassRun,
) -> PassDef {
    PassDef { name, doc: "A test.", options, example: NOTHING, stage, run }
}

fn rename(cx: &PassContext<'_>, func: &mut Body) -> Result<(), Vec<Diagnostic>> {
    assert!(!cx.options.flag("fail"), "asked to");
    func.set_own_attr(cx.ctx, "renamed", cx.ctx.unit_attr());
    Ok(())
}

/// Fails on the function `a`, or with `kind=best` on the function `b`.
fn refuse(cx: &PassContext<'_>, func: &mut Body) -> Result<(), Vec<Diagnostic>> {
    let refused = if cx.options.text("kind") == "first" { "a" } else { "b" };
    match func.symbol(cx.ctx) == Some(refused) {
        true => {
            // A function with errors may violate any law.
            spoil(cx, func)?;
            Err(vec![Diagnostic::error(
                Location::UNKNOWN,
                format!("{} for {refused}", cx.options.text("kind")),
            )])
        }
        false => Ok(()),
    }
}

fn spoil(_: &PassContext<'_>, func: &mut Body) -> Result<(), Vec<Diagnostic>> {
    let block = func.entry(func.root()).unwrap();
    func.erase(func.last_op(block).unwrap());
    Ok(())
}

static ROWS: [PassDef; 11] = [
    running("refuse", StageRule::Any, &[FAIL, MAX_OPS, KIND], PassRun::Function(refuse)),
    running("spoil", StageRule::Any, &[], PassRun::Function(spoil)),
    row("layout", StageRule::Is(Stage::Layout)),
    row("fuse", StageRule::Is(Stage::Fuse)),
    row("select", StageRule::Is(Stage::Select)),
    row("inplace", StageRule::Is(Stage::Inplace)),
    row("plan", StageRule::Is(Stage::Plan)),
    row("fold", StageRule::UpTo(Stage::Fuse)),
    row("visit", StageRule::Any),
    running("rename", StageRule::Any, &[FAIL], PassRun::Function(rename)),
    running("link", StageRule::Any, &[], PassRun::Module(visit_module)),
];

fn registry() -> Registry {
    let mut registry = Registry::empty();
    ROWS.iter().for_each(|def| registry.register(def));
    registry
}

/// Checks the completed pipeline of a text, or the first lines of its errors with the columns.
fn check(text: &str, expected: &str) {
    let ctx = Context::new();
    let found = match Pipeline::parse(&ctx, text, &registry()) {
        Ok(pipeline) => {
            let printed = pipeline.to_string();
            let again = Pipeline::parse(&ctx, &printed, &registry()).unwrap();
            assert_eq!(again.to_string(), printed, "what is printed reads back as itself");
            printed
        }
        Err(errors) => {
            let line = |error: &Diagnostic| {
                let column = error.location.source_offset().unwrap();
                let help = error.help.as_ref().map_or(String::new(), |help| format!(" ({help})"));
                format!("{column}: {}{help}", error.message)
            };
            errors.iter().map(line).collect::<Vec<_>>().join("\n")
        }
    };
    assert_eq!(found, expected);
}

#[test]
fn mandatory_stages_are_inserted_where_they_are_missing() {
    check("fuse,inplace,plan", "layout,fuse,select,inplace,plan");
    check("plan", "layout,select,plan");
    check("visit", "visit");
    check("func(fuse{max-ops=64},inplace),plan", "func(layout,fuse{max-ops=64},select,inplace),plan");
}

#[test]
fn options_print_in_the_order_of_the_row() {
    check("visit{ kind = first , max-ops=3 fail}", "visit{fail=true max-ops=3 kind=first}");
    check("visit{}", "visit");
    check(" module ( func.func( visit ) , link ) ", "module(func(visit),link)");
    check("", "");
}

#[test]
fn misspelt_names_are_told_all_at_once() {
    check(
        "fues,visit{max-op=3},plam",
        "0: there is no pass `fues` (did you mean `fuse`?)\n\
         11: pass `visit` has no option `max-op` (did you mean `max-ops`?)\n\
         21: there is no pass `plam` (did you mean `plan`?)",
    );
    check("xyzzy{a=1}", "0: there is no pass `xyzzy` (`optc passes` lists the passes that there are)");
    check("link{deep=1}", "5: pass `link` has no option `deep` (it has none)");
}

#[test]
fn values_of_the_wrong_type_are_told_with_what_is_taken() {
    check(
        "visit{max-ops=0 kind=frist fail=yes},visit{max-ops}",
        "14: option `max-ops` of `visit` takes an integer from 1 to 99, found `0`\n\
         21: option `kind` of `visit` takes one of `first`, `best`, found `frist` (did you mean `first`?)\n\
         32: option `fail` of `visit` takes `true` or `false`, found `yes`\n\
         43: option `max-ops` of `visit` needs a value (write `max-ops=` and an integer from 1 to 99)",
    );
    check("visit{fail,fail}", "11: option `fail` of `visit` is given twice");
}

#[test]
fn syntax_errors_say_what_was_expected() {
    check("visit,", "6: expected a pass, found the end");
    check("visit)", "5: expected `,` or the end, found `)`");
    check("func(visit", "10: expected `)` at the end of `func(`, found the end");
    check("visit{kind=}", "11: expected a value after `=`");
    check("visit{kind=\"x}", "11: expected `\"` at the end of the text");
    check("visit{", "6: expected an option or `}`, found the end");
    check(&"module(".repeat(40), "224: nests are at most 32 deep");
}

#[test]
fn order_and_nesting_are_checked() {
    check("plan,fuse", "5: pass `fuse` can't run after `plan` (name `fuse` before `plan`)");
    check("inplace,fold", "8: pass `fold` can't run after `inplace` (name `fold` before `inplace`)");
    check(
        "func(link)",
        "5: pass `link` works on a module, and can't run inside `func(...)` (name `link` outside of the nest)",
    );
    check("func(func(visit))", "5: `func(...)` can't stand inside `func(...)`");
}

/// A module of functions with these names; those at odd positions are in a nested module.
fn module_of(names: &[&str]) -> Module {
    let ctx = Arc::new(Context::new());
    let mut module = Module::new(ctx.clone());
    let block = module.block();
    let nested = module.body_mut().make_op(ctx.op_name("builtin.module"), &[], &[], Location::UNKNOWN);
    let mut inner = Body::new(1);
    let inner_block = inner.add_block(inner.root());
    for (index, name) in names.iter().enumerate() {
        let (body, block) =
            if index % 2 == 0 { (module.body_mut(), block) } else { (&mut inner, inner_block) };
        let func = body.make_op(ctx.op_name("func.func"), &[], &[], Location::UNKNOWN);
        body.append(func, block);
        body.set_attr(&ctx, func, "sym_name", ctx.str_attr(name));
        let mut child = Body::new(1);
        child.add_block(child.root());
        body.set_child(func, child);
    }
    module.body_mut().set_child(nested, inner);
    module.body_mut().append(nested, block);
    module
}

fn run(module: &mut Module, text: &str, threads: usize) -> Result<Report, Vec<Diagnostic>> {
    let pipeline = Pipeline::parse(&module.ctx, text, &registry())?;
    let remarks = Selection::All;
    let debug = PassDebug { verify: Verify::Never, ..PassDebug::default() };
    let options = RunOptions { threads, remarks, debug, ..RunOptions::new(&PlainTarget) };
    pipeline.run(module, &options)
}

#[test]
fn functions_are_told_of_in_text_order_at_any_number_of_threads() {
    for threads in [1, 2, 5] {
        let mut module = module_of(&["a", "x", "b", "y", "c"]);
        let report = run(&mut module, "visit,link", threads).unwrap();
        let seen: Vec<&str> = report.remarks.iter().map(|r| r.diagnostic.message.as_str()).collect();
        assert_eq!(seen, ["saw a", "saw b", "saw c", "saw x", "saw y"]);
        let counts: Vec<_> = report.statistics.iter().map(|s| (s.pass, s.name, s.count)).collect();
        assert_eq!(counts, [("visit", "visited", 5), ("link", "modules", 1)]);
        let errors = run(&mut module, "visit{fail}", threads).unwrap_err();
        let told: Vec<&str> = errors.iter().map(|e| e.message.as_str()).collect();
        assert_eq!(told, ["no a", "no b", "no c", "no x", "no y"]);
    }
}

#[test]
fn breaches_are_told_in_text_order_at_any_number_of_threads() {
    for threads in [1, 2, 5] {
        let ctx = Arc::new(Context::new());
        let functions = (0..100).map(|index| format!("func.func @f{index}() {{\n  return\n}}\n"));
        let mut module = ir::text::parse(&ctx, "test", functions.collect::<String>()).unwrap();
        let options = RunOptions { threads, ..RunOptions::new(&PlainTarget) };
        let parsed = Pipeline::parse(&ctx, "spoil", &registry()).unwrap();
        let errors = parsed.run(&mut module, &options).unwrap_err();
        let told: Vec<String> = errors.iter().map(|error| error.render(&ctx)).collect();
        assert_eq!(told.len(), 100);
        for (index, text) in told.iter().enumerate() {
            let place = format!("test:{}:1", 3 * index + 1);
            assert!(text.contains(&place), "{place} in {text}");
        }
    }
}

#[test]
fn the_errors_of_all_functions_are_found_though_they_come_from_several_passes() {
    let both = "refuse{kind=first},refuse{kind=best}";
    let later = format!("{both},visit{{fail}}");
    let nested = format!("func({both}),visit");
    for threads in [1, 2] {
        for (pipeline, expected) in [
            (&*later, &["first for a", "best for b", "no c"][..]),
            (&*nested, &["first for a", "best for b"]),
            ("refuse{kind=first},link,refuse{kind=best}", &["first for a"]),
        ] {
            let ctx = Arc::new(Context::new());
            let text = ["a", "b", "c"].map(|name| format!("func.func @{name}() {{\n  return\n}}\n")).concat();
            let mut module = ir::text::parse(&ctx, "test", text).unwrap();
            let options = RunOptions { threads, ..RunOptions::new(&PlainTarget) };
            let parsed = Pipeline::parse(&ctx, pipeline, &registry()).unwrap();
            let errors = parsed.run(&mut module, &options).unwrap_err();
            let told: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
            assert_eq!(told, expected, "{pipeline}");
        }
    }
}

#[test]
fn an_inserted_stage_is_skipped_by_functions_that_have_reached_it() {
    let mut module = module_of(&["a"]);
    run(&mut module, "fuse", 1).unwrap();
    let report = run(&mut module, "inplace", 1).unwrap();
    let passes: Vec<&str> = report.remarks.iter().map(|remark| remark.pass).collect();
    assert_eq!(passes, ["select", "inplace"]);
    assert_eq!(Stage::of(&module.ctx, module.function("a").unwrap()), Some(Stage::Inplace));
    let errors = run(&mut module, "fuse", 1).unwrap_err();
    assert_eq!(errors[0].message, "pass `fuse` can't run on `@a`, which is at stage `inplace`");
}

#[test]
fn default_stands_for_the_passes_that_lead_to_a_plan() {
    let ctx = Context::new();
    let text = |pipeline: &str| match Pipeline::parse(&ctx, pipeline, &Registry::new()) {
        Ok(pipeline) => pipeline.to_string(),
        Err(faults) => faults.iter().map(|fault| fault.message.as_str()).collect(),
    };
    let stages = "inline{max-ops=1000000},symbol-dce,integers,variants,simplify,layout,fuse,select,schedule";
    assert_eq!(text("default"), format!("{stages},inplace,plan{{optimize=balanced}}"));
    assert_eq!(
        text("cse,default{planner=exact optimize=memory}"),
        format!("cse,{stages},lines,inplace,plan{{planner=exact optimize=memory}}")
    );
    assert_eq!(text("func(default)"), "`default` works on a module, and can't stand inside `func(...)`");
    assert_eq!(text("default{planer=exact}"), "pass `plan` has no option `planer`");
    assert!(text("plan,default").starts_with("pass `inline` can't run after `plan`"));
}

#[test]
fn the_canonical_pipeline_does_only_what_is_missing() {
    let mut module = module_of(&["a"]);
    run(&mut module, "fuse", 1).unwrap();
    let canonical = Pipeline::canonical(&registry());
    assert_eq!(canonical.to_string(), "layout,fuse,select,inplace,plan");
    let debug = PassDebug { verify: Verify::Never, ..PassDebug::default() };
    let options = RunOptions { debug, ..RunOptions::new(&PlainTarget) };
    let report = canonical.run(&mut module, &options).unwrap();
    let ran: Vec<&str> = report.statistics.iter().map(|s| s.pass).collect();
    assert_eq!(ran, ["select", "inplace", "plan"]);
}

#[test]
fn timing_is_a_tree_of_the_pipeline() {
    let mut module = module_of(&["a"]);
    let timing = run(&mut module, "visit,func(visit{fail=false})", 1).unwrap().timing;
    let names: Vec<&str> = timing.children.iter().map(|child| child.name.as_str()).collect();
    assert_eq!(names, ["visit", "func"]);
    assert_eq!(timing.children[1].children[0].name, "visit{fail=false}");
    assert_eq!(timing.to_text().lines().count(), 4);
    assert_eq!(timing.to_json()["children"][1]["children"][0]["name"], "visit{fail=false}");
}

#[test]
fn every_default_is_one_of_its_option_s_values() {
    for def in Registry::new().iter() {
        for option in def.options {
            assert!(option.kind.parse(option.default).is_ok(), "{}: {}", def.name, option.name);
        }
    }
}

const TEXT: &str = "module {\n  func.func @f() {\n    return\n  }\n}\n";

/// An empty folder for a test.
fn folder(name: &str) -> std::path::PathBuf {
    let path = std::env::temp_dir().join(format!("optc-manager-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn traced(text: &str, debug: PassDebug) -> String {
    let ctx = Arc::new(Context::new());
    let mut module = ir::text::parse(&ctx, "test", TEXT.to_owned()).unwrap();
    let out = std::cell::RefCell::new(String::new());
    let trace = |text: &str| out.borrow_mut().push_str(text);
    let pipeline = Pipeline::parse(&ctx, text, &registry()).unwrap();
    let options = RunOptions { debug, observer: &trace, threads: 3, ..RunOptions::new(&PlainTarget) };
    pipeline.run(&mut module, &options).unwrap();
    out.into_inner()
}

#[test]
fn a_pass_that_breaks_a_law_is_named() {
    let ctx = Arc::new(Context::new());
    let mut module = ir::text::parse(&ctx, "test", TEXT.to_owned()).unwrap();
    let pipeline = Pipeline::parse(&ctx, "visit,spoil,visit", &registry()).unwrap();
    let errors = pipeline.run(&mut module, &RunOptions::new(&PlainTarget)).unwrap_err();
    assert_eq!(errors[0].notes[0].1, "found after the pass `spoil`, which caused it");
}

#[test]
fn only_what_a_pass_changed_is_verified_again() {
    let text = "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
        %0 = nn.exp %x : tensor<4xf32>
        %1 = nn.exp %x : tensor<4xf32>
        %2 = nn.add %0, %1 : tensor<4xf32>
        return %2 : tensor<4xf32>
      }
      func.func @g(%x: tensor<4xf32>) -> tensor<4xf32> {
        %0 = nn.exp %x : tensor<4xf32>
        return %x : tensor<4xf32>
      }";
    let ctx = Arc::new(Context::new());
    let mut module = ir::text::parse(&ctx, "test", text.to_owned()).unwrap();
    let pipeline = Pipeline::parse(&ctx, "cse,cse,dce,dce", &Registry::new()).unwrap();
    let mut verified = || {
        let report = pipeline.run(&mut module, &RunOptions::new(&PlainTarget)).unwrap();
        report.statistics.iter().find(|line| line.pass == "verify").map(|line| line.count)
    };
    // After the first pass: the outermost body, the module and both functions; then `g`, which `dce` changes.
    assert_eq!(verified(), Some(4 + 1));
    assert_eq!(verified(), Some(0));
}

#[test]
fn the_module_is_printed_before_and_after_what_is_selected() {
    let after = TEXT.replace("@f()", "@f() attributes {renamed}");
    let before = Selection::Named(vec!["rename".into()]);
    let shown = PassDebug { print_before: before, print_after: Selection::All, ..PassDebug::default() };
    let expected =
        format!("// ----- after visit\n{TEXT}// ----- before rename\n{TEXT}// ----- after rename\n{after}");
    assert_eq!(traced("visit,rename", shown), expected);
    let shown = PassDebug { print_after_change: Selection::All, ..PassDebug::default() };
    assert_eq!(traced("visit,rename,rename", shown), format!("// ----- after rename\n{after}"));
}

/// Records the steps, and ends the work at the step with this name.
struct EndsAt(&'static str, std::cell::RefCell<Vec<String>>);

impl PassObserver for EndsAt {
    fn begins(&self, step: &str) -> ControlFlow<String> {
        self.1.borrow_mut().push(step.to_owned());
        if step == self.0 { ControlFlow::Break("it is late".to_owned()) } else { ControlFlow::Continue(()) }
    }

    fn ends(&self, _: &Context, report: &Report) {
        self.1.borrow_mut().push(format!("{} passes", report.timing.children.len()));
    }
}

#[test]
fn an_observer_follows_the_passes_and_ends_the_work() {
    let ctx = Arc::new(Context::new());
    let pipeline = Pipeline::parse(&ctx, "visit,rename,visit{fail=false}", &registry()).unwrap();
    for (last, expected) in [
        ("none", &["visit", "rename", "visit{fail=false}", "3 passes"][..]),
        ("rename", &["visit", "rename"]),
    ] {
        let mut module = ir::text::parse(&ctx, "test", TEXT.to_owned()).unwrap();
        let observer = EndsAt(last, Default::default());
        let options = RunOptions { observer: &observer, ..RunOptions::new(&PlainTarget) };
        let done = pipeline.run(&mut module, &options);
        assert_eq!(*observer.1.borrow(), expected);
        let fault = done.err().map(|faults| faults[0].message.clone());
        let told = (last == "rename").then(|| "it is late, before the pass `rename`".to_owned());
        assert_eq!(fault, told);
    }
}

#[test]
fn a_dump_has_files_of_the_passes_that_changed_something() {
    let dir = folder("dump");
    for (name, stays) in [("0009_old.mlir", false), ("0009.mlir", true), ("notes_0001.diff", true)] {
        std::fs::write(dir.join(name), "").unwrap();
        traced("visit,rename,visit", PassDebug { dump_dir: Some(dir.clone()), ..PassDebug::default() });
        assert_eq!(dir.join(name).exists(), stays, "{name}");
        let _ = std::fs::remove_file(dir.join(name));
    }
    let mut names: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|file| file.unwrap().file_name()).collect();
    names.sort_unstable();
    assert_eq!(names, ["0002_rename.diff", "0002_rename.mlir"]);
    let diff = std::fs::read_to_string(dir.join("0002_rename.diff")).unwrap();
    assert!(diff.contains("\n-  func.func @f() {\n+  func.func @f() attributes {renamed} {\n"), "{diff}");
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_panic_leaves_what_it_happened_on() {
    let dir = folder("crash");
    let path = dir.join("crash.mlir");
    let debug = PassDebug { reproducer: Some(path.clone()), ..PassDebug::default() };
    let panic =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| traced("visit,rename{fail}", debug)));
    assert!(panic.is_err());
    let text = std::fs::read_to_string(&path).unwrap();
    let expected = Reproducer { pipeline: "rename{fail=true}".into(), threads: 3 };
    assert_eq!(Reproducer::of(&text), Some(expected));
    assert!(text.ends_with(TEXT), "{text}");
    std::fs::remove_dir_all(dir).unwrap();
}

/// Functions that differ in length and in what can be done to them.
fn functions_text(count: usize) -> String {
    let mut text = String::new();
    for number in 0..count {
        let head = "(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {\n";
        text += &format!("func.func @f{number}{head}  %0 = nn.exp %x : tensor<4xf32>\n");
        for line in 1..=number % 7 + 1 {
            let name = ["nn.add", "nn.mul", "nn.max"][(line + number) % 3];
            text += &format!("  %{line} = {name} %{}, %{} : tensor<4xf32>\n", line - 1, line / 2);
        }
        let last = number % 7 + 1;
        text += &format!(
            "  %a = nn.sigmoid %{last} : tensor<4xf32>\n  %b = nn.mul %{last}, %a : tensor<4xf32>\n"
        );
        text += &format!(
            "  %c = call @f{}(%b, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>\n",
            number / 2
        );
        text += "  return %c : tensor<4xf32>\n}\n";
    }
    text
}

#[test]
fn every_pass_gives_the_same_bytes_at_any_number_of_threads() {
    let text = functions_text(40);
    let told = |name: &str, threads: usize| {
        let ctx = Arc::new(Context::new());
        let mut module = ir::text::parse(&ctx, "test", text.clone()).unwrap();
        let pipeline = Pipeline::parse(&ctx, name, &Registry::new()).unwrap();
        let options = RunOptions { threads, remarks: Selection::All, ..RunOptions::new(&PlainTarget) };
        let outcome = pipeline.run(&mut module, &options);
        let render = |errors: Vec<Diagnostic>| errors.iter().map(|e| e.render(&ctx)).collect::<String>();
        let report = match outcome {
            Ok(report) => report,
            Err(errors) => return render(errors),
        };
        let remarks: Vec<String> = report.remarks.iter().map(|r| r.diagnostic.render(&ctx)).collect();
        let threads_attr = format!("optc.threads = {threads}");
        let printed = ir::text::print(&module).replace(&threads_attr, "optc.threads = 1");
        format!("{printed}{}{}", remarks.join("\n"), report.statistics_text())
    };
    for def in Registry::new().iter() {
        let one = told(def.name, 1);
        for threads in [2, 5] {
            assert!(one == told(def.name, threads), "`{}` on {threads} threads", def.name);
        }
    }
    assert!(
        told("canonicalize,cse,inline,simplify", 1).contains("nn.silu"),
        "the passes have something to do"
    );
}
