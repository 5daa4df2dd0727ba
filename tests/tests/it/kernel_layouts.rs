//! That each kernel computes the interpreter's results in any layout: operands in wider tensors, with gaps
//! between rows and batches, backwards, transposed and with strides, and results in concatenations and
//! paddings; with sizes around vectors and blocks, every element and index type, on 1 to 4 threads.
//!
//! `OPTC_SEEDS=40..400 cargo test -p optc-tests --test it kernel_layouts` looks at more programs.

use std::panic::{AssertUnwindSafe, catch_unwind};

use codegen::Cpu;
use ir::interp::{self, Tensor};
use ir::opdef::View;
use ir::plan::attrs;
use ir::{Context, Kind, Module, Op, Signedness, Type};
use optc::expect::elements_agree;
use optc::{Array, CompileOptions, DeadMemory, Goal, Model};
use passes::manager::RunOptions;
use tests::families::{FAMILIES, Family, int};
use tests::layouts::{Anywhere, Content, bytes};
use tests::random::Random;

/// The views of a function that are copies so far.
fn views(module: &Module) -> Vec<Op> {
    let body = module.function("main").expect("it is called so");
    let block = body.entry(body.root()).expect("it has a body");
    let is_view = |op: &Op| {
        let op = body.at(&module.ctx, *op);
        matches!(op.kind(), Kind::View(View::OfOperand(_))) && !ir::alias::is_free_view(op)
    };
    body.ops(block).filter(is_view).collect()
}

/// The program with some views read in place; none if a reader does not support that.
fn viewed(module: &Module, views: &[Op], threads: usize) -> Option<Module> {
    let mut module = module.clone();
    let ctx = module.ctx.clone();
    let body = module.function_mut("main").expect("it is called so");
    views.iter().for_each(|op| body.set_attr(&ctx, *op, attrs::MEM_VIEW, ctx.unit_attr()));
    let options = RunOptions { threads, ..RunOptions::new(Cpu::native()) };
    // Kernels are chosen again, since they may now read in place.
    optc::run_pipeline(&mut module, "plan", &options).ok()?;
    codegen::compile(&module, "main", &codegen::CodegenOptions::new(threads)).is_ok().then_some(module)
}

/// The bytes of each argument.
pub(crate) fn inputs(module: &Module, contents: &[Content], seed: u64) -> Vec<Tensor> {
    let ctx = &module.ctx;
    let body = module.function("main").expect("it is called so");
    let args = body.args(body.entry(body.root()).expect("it has a body")).iter().zip(contents);
    let mut random = Random::new(seed);
    let tensor = |ty: Type, content: Content, random: &mut Random| {
        Tensor::new(ctx, ty, bytes(ctx, ty, content, random))
    };
    args.map(|(arg, content)| tensor(body.ty(*arg), *content, &mut random)).collect()
}

/// The results of a module in machine code; it is planned as far as it was not yet.
pub(crate) fn execute(
    module: &Module,
    inputs: &[Tensor],
    options: &CompileOptions,
) -> Result<Vec<Array>, String> {
    let mut module = module.clone();
    let mut model = Model::compile(&mut module, options).map_err(|failure| failure.to_string())?;
    let only = model.program().only().ok_or("its sizes are known")?;
    let arrays = only.inputs().iter().zip(inputs).map(|(desc, input)| Array {
        name: desc.name.clone(),
        element: desc.element,
        shape: desc.shape.clone(),
        bytes: input.bytes.to_vec(),
    });
    let arrays: Vec<Array> = arrays.collect();
    model.run(&arrays).map_err(|failure| failure.to_string())
}

pub(crate) fn compare(found: &[Array], expected: &[Tensor], ctx: &Context) -> Result<(), String> {
    for (found, expected) in found.iter().zip(expected) {
        // A scalar has no shape.
        let shape = ctx.static_shape(expected.ty).unwrap_or_default();
        let expected =
            Array { name: found.name.clone(), element: found.element, shape, bytes: expected.bytes.to_vec() };
        elements_agree(&expected, found)?;
    }
    Ok(())
}

/// The numbers of trials: compiled programs, views in them, and views read in place.
#[derive(Clone, Copy, Default)]
struct Tried {
    compiled: usize,
    views: usize,
    read: usize,
}

impl Tried {
    fn and(self, other: Tried) -> Tried {
        Tried {
            compiled: self.compiled + other.compiled,
            views: self.views + other.views,
            read: self.read + other.read,
        }
    }
}

/// Compares one program in several plans.
fn check(family: Family, seed: u64) -> Result<Tried, String> {
    let mut anywhere = Anywhere::new(seed);
    let Some(result) = family(&mut anywhere) else { return Ok(Tried::default()) };
    let (module, contents) = anywhere.finish(result);
    let inputs = inputs(&module, &contents, seed);
    let expected = interp::run(&module, "main", &inputs).map_err(|fault| fault.message)?;
    let dead = DeadMemory::Poisoned;
    let goal = [Goal::Balanced, Goal::Memory, Goal::Speed][seed as usize % 3];
    let options = CompileOptions { threads: 1 + seed as usize % 4, dead, goal, ..CompileOptions::default() };
    let run = |module: &Module, what: &str| {
        let found = execute(module, &inputs, &options);
        let faulty = |why: String| format!("{what}: {why}\n{}", ir::text::print(module));
        compare(&found.map_err(faulty)?, &expected, &module.ctx).map_err(faulty)
    };
    match run(&module, "compiled") {
        Err(why) if why.contains("no machine code for") => return Ok(Tried::default()),
        done => done?,
    }
    let mut selected = module.clone();
    let passes = RunOptions { threads: options.threads, ..RunOptions::new(Cpu::native()) };
    optc::run_pipeline(&mut selected, "select", &passes).map_err(|failure| failure.to_string())?;
    let views = views(&selected);
    let mut read = Vec::new();
    let mut planned = None;
    for view in &views {
        read.push(*view);
        match viewed(&selected, &read, options.threads) {
            Some(module) => planned = Some(module),
            None => drop(read.pop()),
        }
    }
    if let Some(planned) = planned {
        run(&planned, "with views where they lie")?;
    }
    Ok(Tried { compiled: 1, views: views.len(), read: read.len() })
}

fn seeds() -> std::ops::Range<u64> {
    let said = std::env::var("OPTC_SEEDS").unwrap_or_default();
    let ends = said.split_once("..").and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
    ends.unwrap_or(0..14)
}

#[test]
fn kernels_compute_the_same_wherever_operands_and_results_lie() {
    let mut faults = Vec::new();
    let mut all = Tried::default();
    for (name, family) in FAMILIES {
        let mut tried = Tried::default();
        for seed in seeds() {
            match catch_unwind(AssertUnwindSafe(|| check(*family, seed))) {
                Ok(Ok(found)) => tried = tried.and(found),
                Ok(Err(why)) => faults.push(format!("{name}, seed {seed}, {why}")),
                Err(_) => faults.push(format!("{name}, seed {seed}: it panics")),
            }
        }
        let Tried { compiled, views, read } = tried;
        println!("{name}: {compiled} programs, {read} of {views} views are read where they lie");
        all = all.and(tried);
        if 2 * compiled < seeds().count() {
            faults.push(format!("{name}: only {compiled} programs are compiled"));
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    assert!(3 * all.read > all.views, "only {} of {} views are read where they lie", all.read, all.views);
}

#[test]
fn an_index_outside_stops_a_run_whatever_its_type() {
    for (width, signedness) in [
        (32, Signedness::Signless),
        (64, Signedness::Signless),
        (8, Signedness::Unsigned),
        (16, Signedness::Unsigned),
    ] {
        let is_unsigned = signedness == Signedness::Unsigned;
        let outside: &[i64] = if is_unsigned { &[5, 255] } else { &[5, -6, i32::MIN as i64] };
        for op in ["nn.gather", "nn.scatter"] {
            let mut this = Anywhere::new(0);
            let elem = int(&this, width, signedness);
            let f32 = this.program.ctx.f32();
            let x = this.given(&[5, 3], f32, Content::Numbers);
            let at = this.given(&[4], elem, Content::Indices(5));
            let mut operands = vec![x, at];
            if op == "nn.scatter" {
                operands.push(this.given(&[4, 3], f32, Content::Numbers));
            }
            let result = this.program.op(op, &operands, &[]);
            let contents = this.contents.clone();
            let module = this.program.finish(&[result]);
            let mut inputs = inputs(&module, &contents, 7);
            let at = inputs.iter().position(|input| module.ctx.elem(input.ty) == elem).expect("it is there");
            let ty = inputs[at].ty;
            let bytes = width as usize / 8;
            let mut run = |numbers: [i64; 4]| {
                let numbers = numbers.iter().flat_map(|number| number.to_le_bytes()[..bytes].to_vec());
                inputs[at] = Tensor::new(&module.ctx, ty, numbers.collect::<Vec<u8>>());
                let found = execute(&module, &inputs, &CompileOptions::default());
                (interp::run(&module, "main", &inputs).is_ok(), found.is_ok())
            };
            let ends = if is_unsigned { [0, 1, 2, 4] } else { [0, -5, 4, -1] };
            assert_eq!(run(ends), (true, true), "{op}, {width} bits");
            for (place, index) in outside.iter().enumerate() {
                let mut numbers = ends;
                numbers[place] = *index;
                assert_eq!(run(numbers), (false, false), "{op}, {width} bits, index {index}");
            }
        }
    }
}
