//! For random graphs, one program for all sizes has the bits of the program for each size, in hardly more
//! memory.
//!
//! `OPTC_SEEDS=1000..3000 cargo test --release -p optc-tests --test it random_sizes` tries more graphs.

use ir::plan::attrs;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use ir::Module;
use ir::dims::{Bindings, substitute};
use optc::specialize::AllSizes;
use optc::{Array, CompileOptions, DeadMemory, Goal, Model};
use passes::manager::RunOptions;
use passes::memory::bound::Bound;
use runtime::RunContext;
use tests::programs::{array, floats, interpret};
use tests::random::Random;
use tests::sized_graphs::{NAMES, sized_chain, sized_graph};

use crate::memory_pools::Pooled;

/// Batch, height and width.
type Size = [u64; 3];

/// The ends of the ranges for which a third of the graphs is compiled, each least one with each greatest.
const CORNERS: [Size; 5] = [[3, 40, 1], [1, 1, 40], [1, 40, 40], [3, 1, 1], [3, 40, 40]];

const SIZES: [Size; 6] = [[1, 8, 8], [2, 5, 9], [1, 1, 1], [3, 2, 1], [1, 33, 4], [2, 5, 9]];

/// The outcomes for the graphs: the bytes of arena of both, each time that they ran, how often sums were
/// rounded in another way, and how often neither could run.
#[derive(Default)]
struct Count {
    arenas: Vec<[usize; 2]>,
    near: usize,
    refused: usize,
}

/// The ranges of batch, height and width of functions that have a bound.
fn ranges() -> BTreeMap<String, (u64, u64)> {
    NAMES.iter().map(|name| (*name).to_owned()).zip([(1, 3), (1, 40), (1, 40)]).collect()
}

fn options(seed: u64) -> CompileOptions {
    // Poisoned memory reveals late reads.
    let dead = if seed.is_multiple_of(4) { DeadMemory::Poisoned } else { DeadMemory::Kept };
    let threads = 1 + seed as usize % 2;
    let mut options = CompileOptions { threads, dead, ..CompileOptions::default() };
    if seed % 5 == 3 {
        options.target = Some(Arc::new(Pooled));
    }
    options.goal = match seed % 5 {
        1 => Goal::Speed,
        2 => Goal::Memory,
        _ => Goal::Balanced,
    };
    if seed.is_multiple_of(3) {
        options.sizes.ranges = ranges();
    }
    options
}

/// The graph at a size, if that is possible.
fn at(module: &Module, size: Size) -> Option<Module> {
    let mut module = module.clone();
    let bindings: Bindings = NAMES.iter().map(|name| module.ctx.ident(name)).zip(size).collect();
    substitute(&mut module, &bindings).ok()?;
    ir::verify::verify(&module).ok()?;
    Some(module)
}

/// The arena of the plan in the IR at a size.
fn planned_bytes(symbolic: &AllSizes, size: Size) -> Result<usize, optc::Failure> {
    let number = |symbol: &runtime::Symbol| {
        size[NAMES.iter().position(|name| *name == symbol.name).expect("it is one of the names")]
    };
    let sizes: Vec<u64> = symbolic.symbols().iter().map(number).collect();
    let planned = symbolic.at(&sizes)?;
    let ctx = &planned.ctx;
    let body = planned.function(symbolic.entry()).expect("it is there");
    let arena = body.own_attr(ctx, ctx.ident(attrs::OPTC_ARENA)).and_then(|attr| ctx.int_value(attr));
    Ok(arena.expect("it is planned") as usize)
}

/// A graph and how it is compiled; the seed also gives its inputs.
struct Case {
    seed: u64,
    module: Module,
    options: CompileOptions,
    /// How far results may be from those of the program for a size alone, as a share of the largest.
    tolerance: f32,
}

fn check_at(
    case: &Case,
    symbolic: &AllSizes,
    context: &mut RunContext<'_>,
    size: Size,
    count: &mut Count,
) -> Result<(), String> {
    let images = context.program().inputs().to_vec();
    let mut random = Random::new(case.seed);
    let fixed = at(&case.module, size);
    let mut inputs: Vec<Array> = Vec::new();
    for (index, image) in images.iter().enumerate() {
        let channels = match image.extents[1] {
            runtime::Extent::Known(channels) => channels,
            _ => return Err("channels are numbers".to_owned()),
        };
        let shape = [size[0], channels, size[1], size[2]];
        context.set_shape(&image.name, &shape).map_err(|error| error.to_string())?;
        inputs.push(array(&format!("arg{index}"), &shape, &random.floats(shape.iter().product())));
    }
    let Some(fixed) = fixed else {
        return match context.prepare() {
            Ok(_) => Err("it is prepared for a size that the graph can't have".to_owned()),
            Err(_) => {
                count.refused += 1;
                Ok(())
            }
        };
    };
    let mut alone = fixed.clone();
    let model = Model::compile(&mut alone, &case.options);
    let mut model = model.map_err(|failure| format!("alone: {failure}"))?;
    let expected = model.run(&inputs).map_err(|failure| format!("alone: {failure}"))?;
    compare(&expected, &interpret(&fixed, &inputs), 1e-3)
        .map_err(|why| format!("alone it is {why} is interpreted"))?;
    let arena = context.prepare().map_err(|error| error.to_string())?.arena_bytes();
    let planned = planned_bytes(symbolic, size).map_err(|failure| failure.to_string())?;
    if arena != planned {
        return Err(format!("{arena} bytes of arena, but {planned} in the plan that is printed"));
    }
    let bound = symbolic.bound().map_or(u64::MAX, Bound::size_bytes);
    if arena as u64 > bound {
        return Err(format!("{arena} bytes of arena, but {bound} are said to be enough at all sizes"));
    }
    let best = model.prepare().map_err(|failure| failure.to_string())?.arena_bytes();
    count.arenas.push([arena, best]);
    let mut found: Vec<Vec<u8>> = expected.iter().map(|output| vec![0; output.bytes.len()]).collect();
    let bytes: Vec<&[u8]> = inputs.iter().map(|input| &input.bytes[..]).collect();
    let mut views: Vec<&mut [u8]> = found.iter_mut().map(|output| &mut output[..]).collect();
    context.run(&bytes, &mut views).map_err(|error| error.to_string())?;
    let found = found.into_iter().zip(&expected).map(|(bytes, like)| Array { bytes, ..like.clone() });
    let found: Vec<Array> = found.collect();
    // A tiny image may have another layout in its own program, and then sums have another order.
    count.near += usize::from(found != expected);
    compare(&found, &expected, case.tolerance).map_err(|why| format!("it is {why} that it is alone"))
}

/// Whether all numbers are as expected, up to a fraction of the largest.
fn compare(found: &[Array], expected: &[Array], tolerance: f32) -> Result<(), String> {
    for (found, expected) in found.iter().map(floats).zip(expected.iter().map(floats)) {
        let scale = expected.iter().fold(1e-3f32, |most, x| most.max(x.abs()));
        let mut off = found.iter().zip(&expected).map(|(a, b)| (a - b).abs());
        if let Some(off) = off.find(|off| off.is_nan() || *off > tolerance * scale) {
            return Err(format!("off by {off:e} of {scale} from what"));
        }
    }
    Ok(())
}

/// Checks a graph at these sizes; returns the function with its structure for all sizes.
fn check(mut case: Case, sizes: &[Size], count: &mut Count) -> Result<AllSizes, String> {
    // Unread values may have impossible sizes.
    optc::run_pipeline(&mut case.module, "dce", &RunOptions::new(codegen::Cpu::native()))
        .map_err(|failure| failure.to_string())?;
    let symbolic = AllSizes::decide(&mut case.module.clone(), &case.options);
    let symbolic = symbolic.map_err(|failure| failure.to_string())?;
    let program = optc::compile(&mut case.module.clone(), &case.options);
    let program = Arc::new(program.map_err(|failure| failure.to_string())?);
    let mut context = program.context(case.options.threads).map_err(|error| error.to_string())?;
    for size in sizes {
        check_at(&case, &symbolic, &mut context, *size, count).map_err(|why| format!("{size:?}: {why}"))?;
    }
    Ok(symbolic)
}

fn graph_case(seed: u64) -> Case {
    Case { seed, module: sized_graph(seed), options: options(seed), tolerance: 1e-6 }
}

/// Graphs with rare structures: views of operands after their concatenation, tensors without elements, rows
/// that split the last axis, views that are copies at some sizes only, views of a value that is overwritten
/// in a concatenation, rows of one element, an operand in place that another one overwrites and that is read
/// after that.
const RARE: [u64; 22] = [
    240, 1006, 1014, 1021, 1121, 1170, 1195, 1258, 1262, 1264, 1304, 1344, 1369, 1388, 1397, 1810, 2020,
    2130, 2264, 3126, 3248, 3490,
];

fn seeds() -> Vec<u64> {
    let said = std::env::var("OPTC_SEEDS").unwrap_or_default();
    let ends = said.split_once("..").and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
    ends.map_or_else(|| (0..40).chain(RARE).collect(), Iterator::collect)
}

#[test]
fn a_program_for_all_sizes_computes_what_the_program_for_each_does() {
    let mut count = Count::default();
    let mut faults = Vec::new();
    for seed in seeds() {
        match catch_unwind(AssertUnwindSafe(|| check(graph_case(seed), &SIZES, &mut count))) {
            Ok(Ok(_)) => {}
            Ok(Err(why)) => faults.push(format!("seed {seed}: {why}")),
            Err(_) => faults.push(format!("seed {seed}: it panics")),
        }
    }
    let Count { near, refused, .. } = count;
    let ran = count.arenas.len();
    let [arena, best] = [0, 1].map(|of| count.arenas.iter().map(|arenas| arenas[of]).sum::<usize>());
    println!(
        "{ran} runs, {near} rounded otherwise, {refused} sizes refused; {arena} bytes of arena, {best} alone"
    );
    assert!(faults.is_empty(), "{} graphs:\n{}", faults.len(), faults.join("\n"));
    assert!(ran > 100 && refused > 0, "{ran} runs, {refused} refused");
    assert!(100 * near < ran, "{near} of {ran} runs have other bits");
    assert!(50 * arena <= 51 * best, "{arena} bytes of arena, {best} alone");
}

#[test]
fn a_program_with_a_bound_is_right_at_each_corner_of_its_sizes() {
    let mut count = Count::default();
    for seed in (0..24).filter(|seed| seed % 3 == 0) {
        check(graph_case(seed), &CORNERS, &mut count)
            .map(drop)
            .unwrap_or_else(|why| panic!("seed {seed}: {why}"));
    }
    assert!(count.arenas.len() > 25, "{} runs, {} refused", count.arenas.len(), count.refused);
}

/// The greatest sizes of chains with a bound, least ones, and rows that are few, narrow or odd.
const CHAIN_SIZES: [Size; 8] =
    [[3, 40, 40], [1, 8, 8], [2, 5, 9], [1, 1, 1], [3, 2, 1], [1, 33, 4], [1, 4, 40], [2, 40, 1]];

fn chain_case(seed: u64) -> Case {
    let dead = if seed.is_multiple_of(2) { DeadMemory::Poisoned } else { DeadMemory::Kept };
    let threads = 1 + seed as usize % 3;
    let mut options = CompileOptions { threads, dead, goal: Goal::Memory, ..CompileOptions::default() };
    if !seed.is_multiple_of(4) {
        options.sizes.ranges = ranges();
    }
    // The chains of the greatest sizes leave room for Winograd's algorithm at other steps than those of a
    // size alone.
    Case { seed, module: sized_chain(seed), options, tolerance: 1e-3 }
}

#[test]
fn the_same_chains_stream_on_any_number_of_threads() {
    let mut streamed = 0;
    for seed in 0..24 {
        let module = at(&sized_chain(seed), CHAIN_SIZES[0]).expect("the chain has these sizes");
        let mut first = None;
        for threads in [2, 1, 3, 16, 256] {
            let mut options = chain_case(seed).options;
            options.threads = threads;
            let mut planned = module.clone();
            optc::compile(&mut planned, &options).unwrap_or_else(|failure| panic!("seed {seed}: {failure}"));
            let ctx = &planned.ctx;
            let body = planned.function("main").expect("it is there");
            let mut groups = 0;
            ir::flow::walk(ctx, body, |op| {
                groups += usize::from(body.at(ctx, op).attr(attrs::MEM_LINES).is_some());
            });
            let expected = *first.get_or_insert(groups);
            assert_eq!(groups, expected, "seed {seed} on {threads} threads");
        }
        streamed += first.unwrap_or(0);
    }
    assert!(streamed > 15, "{streamed} chains");
}

#[test]
fn chains_stream_rows_at_all_sizes() {
    let mut count = Count::default();
    let mut streamed = 0;
    let mut held_back = 0;
    let mut bounds = [0, 0];
    for seed in 0..24 {
        let first = count.arenas.len();
        let symbolic = check(chain_case(seed), &CHAIN_SIZES, &mut count);
        let symbolic = symbolic.unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        let [greatest, alone] = count.arenas[first];
        let (ctx, decided) = symbolic.decided();
        let mut ops = decided.all_blocks().flat_map(|block| decided.ops(block));
        streamed += usize::from(ops.any(|op| decided.at(ctx, op).attr(attrs::MEM_LINES).is_some()));
        // Where a window may lie wholly in the padding, a chain streams at some sizes only, so at none.
        match symbolic.bound() {
            Ok(_) if 4 * greatest > 5 * alone => held_back += 1,
            Ok(bound) => bounds = [bounds[0] + bound.size_bytes(), bounds[1] + alone as u64],
            Err(_) => {}
        }
    }
    let Count { near, refused, .. } = count;
    let ran = count.arenas.len();
    println!("{streamed} chains stream, {held_back} do not; {ran} runs, {refused} sizes refused");
    println!("{bounds:?} bytes at all sizes, and alone at the greatest");
    assert!(streamed > 15 && held_back < 4 && ran > 100, "{streamed} stream, {held_back} not, {ran} runs");
    assert!(100 * near < ran, "{near} of {ran} runs have other bits");
    assert!(100 * bounds[0] <= 103 * bounds[1], "{bounds:?}");
}
