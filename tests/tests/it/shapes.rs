//! One compiled program at many sizes: right results, no memory used twice, no allocation at sizes that ran
//! before.

use ir::plan::attrs;
use std::collections::HashMap;
use std::sync::Arc;

use ir::{Context, Module};
use optc::specialize::AllSizes;
use optc::{Array, CompileOptions, DeadMemory, LoadOptions, Model, SizeOptions};
use runtime::{AlignedBuffer, Arena, Program, RunContext, RunError, ThreadPool};
use tests::programs::array;

use crate::ALLOCATOR;

/// A program of `x: [N, 8]` and `s: [N, H]` with weights, loops fused depending on sizes, and reductions; the
/// sizes are numbers, or names for 0.
fn text([n, h]: [u64; 2]) -> String {
    let ty = |sizes: [(u64, &str); 2]| {
        let shape = sizes.map(|(size, _)| if size == 0 { "?".to_owned() } else { size.to_string() });
        let names: Vec<&str> = sizes.iter().filter(|(size, _)| *size == 0).map(|(_, name)| *name).collect();
        let dims =
            if names.is_empty() { String::new() } else { format!(", #optc.dims<{}>", names.join(", ")) };
        format!("tensor<{}xf32{dims}>", shape.join("x"))
    };
    let (x, wide, column) = (ty([(n, "N"), (8, "")]), ty([(n, "N"), (16, "")]), ty([(n, "N"), (1, "")]));
    let (result, row) = (ty([(n, "N"), (h, "H")]), ty([(1, ""), (h, "H")]));
    format!(
        "func.func @main(%x: {x} {{optc.name = \"x\"}}, %s: {result} {{optc.name = \"s\"}}) -> {result} {{
  %w = nn.constant dense<0.5> : tensor<8x16xf32>
  %0 = nn.matmul %x, %w : ({x}, tensor<8x16xf32>) -> {wide}
  %1 = nn.tanh %0 : {wide}
  %2 = nn.reduce_sum %1 {{axes = array<i64: 1>, keepdims}} : ({wide}) -> {column}
  %3 = nn.exp %s : {result}
  %4 = nn.mul %3, %2 : ({result}, {column}) -> {result}
  %5 = nn.reduce_mean %4 {{axes = array<i64: 0>, keepdims}} : ({result}) -> {row}
  %6 = nn.sub %4, %5 : ({result}, {row}) -> {result}
  return %6 : {result}
}}"
    )
}

fn parse(ctx: &Arc<Context>, sizes: [u64; 2]) -> Module {
    let module = ir::text::parse(ctx, "shapes.mlir", text(sizes));
    module.unwrap_or_else(|faults| panic!("{}", faults[0].render(ctx)))
}

const THREADS: usize = 2;

/// The program, compiled for `N = 2` and `H = 3`, which are its sizes until others are set.
fn program(cached: usize) -> Arc<Program> {
    program_of(cached, DeadMemory::Kept)
}

fn program_of(cached: usize, dead: DeadMemory) -> Arc<Program> {
    let sample = vec![("N".to_owned(), 2), ("H".to_owned(), 3)];
    let sizes = SizeOptions { sample, ranges: [("N".to_owned(), (1, 512))].into(), cached };
    let options = CompileOptions { threads: THREADS, dead, sizes, ..CompileOptions::default() };
    let program = optc::compile(&mut parse(&Arc::new(Context::new()), [0, 0]), &options);
    Arc::new(program.unwrap_or_else(|failure| panic!("{failure}")))
}

/// Inputs of some sizes, and the results of a program compiled for them alone.
struct Case {
    sizes: [u64; 2],
    inputs: [Array; 2],
    expected: Vec<u8>,
    arena_bytes: usize,
    output: Vec<u8>,
}

fn case(sizes: [u64; 2]) -> Case {
    let [n, h] = sizes;
    let numbers = |count: u64| (0..count).map(|i| (i * 37 % 101) as f32 * 0.01 - 0.5).collect::<Vec<f32>>();
    let inputs = [array("x", &[n, 8], &numbers(8 * n)), array("s", &[n, h], &numbers(n * h))];
    let mut module = parse(&Arc::new(Context::new()), sizes);
    let options = CompileOptions { threads: THREADS, ..CompileOptions::default() };
    let mut model = Model::compile(&mut module, &options).unwrap_or_else(|failure| panic!("{failure}"));
    let expected = model.run(&inputs).unwrap_or_else(|failure| panic!("{failure}")).remove(0).bytes;
    let arena_bytes = model.program().only().expect("its sizes are known").arena_bytes();
    Case { sizes, inputs, output: vec![0; expected.len()], expected, arena_bytes }
}

impl Case {
    fn set(&self, context: &mut RunContext<'_>) {
        self.inputs
            .iter()
            .for_each(|input| context.set_shape(&input.name, &input.shape).expect("it is right"));
    }

    fn try_run(&mut self, context: &mut RunContext<'_>) -> Result<(), RunError> {
        let Case { inputs: [x, s], output, .. } = self;
        context.run(&[&x.bytes, &s.bytes], &mut [output])
    }

    /// Runs at the current shapes, and compares every bit.
    #[track_caller]
    fn run(&mut self, context: &mut RunContext<'_>) {
        self.output.fill(0xff);
        self.try_run(context).unwrap_or_else(|error| panic!("{error}"));
        assert!(
            self.output == self.expected,
            "sizes {:?}: other bits than compiled for them alone",
            self.sizes
        );
    }
}

/// The arena of a program at the sizes of a case. It is as large as that of a program for these sizes alone,
/// except for a few bytes, and the 64 * N bytes of the product. These fit into the output at some sizes only,
/// and only a program for these sizes alone puts them there.
fn arena_bytes(program: &Program, case: &Case) -> usize {
    let bytes = program.at(&case.sizes).expect("it can be run").arena_bytes();
    let most = case.arena_bytes + case.arena_bytes / 20 + 64 * case.sizes[0] as usize;
    assert!(bytes <= most, "{bytes} bytes, {} alone", case.arena_bytes);
    bytes
}

/// The allocation for an arena of `arena_bytes`, including the alignment of its start.
fn padded(arena_bytes: usize) -> u64 {
    let padding = if arena_bytes >= 0x1_0000 { 4096 } else { 64 };
    (arena_bytes + padding) as u64
}

/// Puts the specializations for these sizes into the cache.
fn warm(program: &Arc<Program>, cases: &mut [Case]) {
    let mut context = program.context(THREADS).expect("it is planned for them");
    for case in cases {
        case.set(&mut context);
        case.run(&mut context);
    }
}

#[test]
fn a_shape_that_is_never_set_is_the_default() {
    let program = program(8);
    let mut cases = [case([2, 3])];
    warm(&program, &mut cases);
    let mut context = program.context(THREADS).expect("it is planned for them");
    let ((), first) = ALLOCATOR.measure(|| cases[0].run(&mut context));
    let arena = arena_bytes(&program, &cases[0]);
    assert_eq!((first.count, first.bytes), (1, padded(arena)), "the arena and nothing else");
    let ((), later) = ALLOCATOR.measure(|| cases[0].run(&mut context));
    assert_eq!(later.count, 0);
}

#[test]
fn a_shape_that_is_set_before_the_preparation_allocates_there() {
    let program = program(8);
    let mut cases = [case([7, 33])];
    warm(&program, &mut cases);
    let mut context = program.context(THREADS).expect("it is planned for them");
    cases[0].set(&mut context);
    let (prepared, first) = ALLOCATOR.measure(|| context.prepare().map(|made| made.arena_bytes()));
    let arena = arena_bytes(&program, &cases[0]);
    assert_eq!(prepared, Ok(arena));
    assert_eq!((first.count, first.bytes), (1, padded(arena)));
    let ((), runs) = ALLOCATOR.measure(|| (0..5).for_each(|_| cases[0].run(&mut context)));
    assert_eq!(runs.count, 0);
}

#[test]
fn a_shape_that_is_set_after_the_preparation_serves_many_runs() {
    let program = program(8);
    let mut case = case([300, 40]);
    let mut context = program.context(THREADS).expect("it is planned for them");
    context.prepare().expect("the defaults can be run");
    case.set(&mut context);
    case.run(&mut context);
    assert_eq!(context.arena_bytes(), arena_bytes(&program, &case));
    let ((), runs) = ALLOCATOR.measure(|| (0..5).for_each(|_| case.run(&mut context)));
    assert_eq!((runs.count, program.specialized()), (0, 2), "the defaults and one other size are planned");
}

#[test]
fn a_shape_that_is_set_before_each_run_allocates_where_it_is_new() {
    let program = program(8);
    let mut cases = [[3, 4], [9, 50], [1, 1], [64, 64]].map(case);
    let mut context = program.context(THREADS).expect("it is planned for them");
    let mut pass = || {
        for case in &mut cases {
            case.set(&mut context);
            case.run(&mut context);
        }
    };
    pass();
    let ((), again) = ALLOCATOR.measure(pass);
    assert_eq!((again.count, program.specialized()), (0, 5), "four sizes beside the defaults");
}

#[test]
fn a_larger_shape_after_the_preparation_takes_the_place_of_the_chunk() {
    let program = program(8);
    let mut cases = [[100, 100], [300, 300]].map(case);
    warm(&program, &mut cases);
    let [small, large] = &mut cases;
    let mut context = program.context(THREADS).expect("it is planned for them");
    small.set(&mut context);
    context.prepare().expect("it can be run");
    large.set(&mut context);
    let ((), grown) = ALLOCATOR.measure(|| large.run(&mut context));
    let [most, least] = [&*large, &*small].map(|case| arena_bytes(&program, case));
    let more = padded(most) - padded(least);
    assert_eq!((grown.count, grown.peak_bytes), (1, more), "the small chunk goes before the large one comes");
    small.set(&mut context);
    let ((), back) = ALLOCATOR.measure(|| small.run(&mut context));
    assert_eq!((back.count, context.arena_bytes()), (0, most), "what is large enough stays");
}

#[test]
fn default_shapes_come_back_after_others() {
    let program = program(8);
    let mut context = program.context(THREADS).expect("it is planned for them");
    let (mut default, mut other) = (case([2, 3]), case([5, 6]));
    default.run(&mut context);
    other.set(&mut context);
    other.run(&mut context);
    context.reset_shapes();
    default.run(&mut context);
}

#[test]
fn a_thousand_runs_over_fifty_sizes_keep_what_the_first_fifty_took() {
    let program = program(64);
    let mut cases: Vec<Case> = (0..50).map(|i| case([1 + i * 7 % 50, 1 + i * 11 % 47])).collect();
    warm(&program, &mut cases);
    let mut context = program.context(THREADS).expect("it is planned for them");
    let mut pass = || {
        for case in &mut cases {
            case.set(&mut context);
            case.run(&mut context);
        }
    };
    pass();
    let ((), passes) = ALLOCATOR.measure(|| (0..20).for_each(|_| pass()));
    assert_eq!((passes.count, passes.remaining_bytes), (0, 0));
    assert_eq!(program.specialized(), 51, "the defaults and fifty others");
}

#[test]
fn weights_are_packed_before_the_first_request() {
    let program = program(8);
    let packed = program.weights_bytes();
    assert!(packed >= 8 * 16 * 4, "{packed} bytes: the product's weights");
    let mut context = program.context(THREADS).expect("it is planned for them");
    for sizes in [[2, 3], [3, 4]] {
        let mut case = case(sizes);
        case.set(&mut context);
        case.run(&mut context);
        assert_eq!(program.weights_bytes(), packed, "{sizes:?}: the kernels take them as they are");
    }
}

#[test]
fn poisoned_memory_changes_no_bit_at_any_size() {
    let program = program_of(8, DeadMemory::Poisoned);
    let mut context = program.context(THREADS).expect("it is planned for them");
    for sizes in [[3, 4], [1, 1], [64, 64], [300, 40], [3, 4]] {
        let mut case = case(sizes);
        case.set(&mut context);
        case.run(&mut context);
    }
}

#[test]
fn what_is_kept_of_sizes_is_bounded_and_the_least_recently_used_goes() {
    let program = program(2);
    let mut context = program.context(THREADS).expect("it is planned for them");
    let mut cases: HashMap<u64, Case> = [1, 2, 3].map(|n| (n, case([n, 4]))).into();
    // The first were the defaults.
    for (n, expected) in [(1, 2), (2, 3), (1, 3), (3, 4), (1, 4), (2, 5), (1, 5), (3, 6)] {
        let case = cases.get_mut(&n).expect("it is one of three");
        case.set(&mut context);
        case.run(&mut context);
        assert_eq!(program.specialized(), expected, "at N = {n}");
        assert!(program.cached() <= 2);
    }
}

#[test]
fn a_size_that_fails_is_an_error_of_its_run_only() {
    let program = program(8);
    let mut context = program.context(THREADS).expect("it is planned for them");
    let mut good = case([4, 6]);
    good.set(&mut context);
    good.run(&mut context);
    let said = |context: &mut RunContext<'_>, shape: &[u64]| {
        context.set_shape("x", shape).expect_err("it can't be so").to_string()
    };
    assert_eq!(said(&mut context, &[513, 8]), "axis 0 of input `x` is 513, expected 1 <= N <= 512");
    assert_eq!(said(&mut context, &[4]), "input `x` has 2 dimensions, and 1 were given");
    good.run(&mut context);
    context.set_shape("s", &[5, 6]).expect("as a shape of its own it is right");
    let error = good.try_run(&mut context).expect_err("`x` and `s` have one N");
    let expected = "axis 0 of input `s` is 5, expected N = 4, which follows from axis 0 of input `x`";
    assert_eq!(error.to_string(), expected);
    let mut next = case([5, 6]);
    next.set(&mut context);
    next.run(&mut context);
    let error = good.try_run(&mut context).expect_err("the buffers are of other sizes");
    assert!(matches!(error, RunError::Size { .. }), "{error}");
    next.run(&mut context);
    // More than the available memory.
    context.set_shape("s", &[5, 1 << 50]).expect("nothing bounds H");
    let error = context.prepare().expect_err("there is no such memory").to_string();
    assert!(error.contains("no memory for a buffer of"), "{error}");
    next.set(&mut context);
    next.run(&mut context);
}

#[test]
fn contexts_share_one_program_on_their_own_threads() {
    let program = program(8);
    let all = [[3, 4], [9, 50], [1, 1], [64, 64]];
    std::thread::scope(|scope| {
        for first in 0..4 {
            let program = &program;
            scope.spawn(move || {
                let mut context = program.context(1 + first % 2).expect("it is planned for them");
                let mut cases = all.map(case);
                for round in 0..8 {
                    let case = &mut cases[(first + round) % 4];
                    case.set(&mut context);
                    case.run(&mut context);
                }
            });
        }
    });
    assert_eq!(program.cached(), 5);
    assert!((5..=17).contains(&program.specialized()));
}

#[test]
fn a_given_arena_serves_what_fits_and_says_what_is_missing() {
    let program = program(8);
    let (mut small, mut large) = (case([10, 10]), case([200, 200]));
    let [most, least] = [&large, &small].map(|case| arena_bytes(&program, case));
    let mut memory = AlignedBuffer::zeroed(least).expect("there is memory");
    let arena = Arena::given(memory.as_mut_slice());
    let mut context = program.context_in(Arc::new(ThreadPool::new(1)), arena).expect("it is aligned");
    small.set(&mut context);
    small.run(&mut context);
    large.set(&mut context);
    let expected = format!("the arena given has {least} bytes, and the program needs {most}");
    assert_eq!(context.prepare().expect_err("it is too small").to_string(), expected);
    assert_eq!(large.try_run(&mut context).expect_err("it is too small").to_string(), expected);
    small.set(&mut context);
    small.run(&mut context);
}

/// A program of `x: [N, M]`, both at most 40, whose arena has one size for all of them.
const BOUNDED: &str = "func.func @main(%x: tensor<?x?xf32, #optc.dims<N, M>> {optc.name = \"x\"}) -> tensor<?xf32, #optc.dims<N>> {
  %0 = nn.exp %x : tensor<?x?xf32, #optc.dims<N, M>>
  %1 = nn.reduce_sum %0 {axes = array<i64: 1>, keepdims} : (tensor<?x?xf32, #optc.dims<N, M>>) -> tensor<?x1xf32, #optc.dims<N>>
  %2 = nn.div %0, %1 : (tensor<?x?xf32, #optc.dims<N, M>>, tensor<?x1xf32, #optc.dims<N>>) -> tensor<?x?xf32, #optc.dims<N, M>>
  %3 = nn.tanh %2 : tensor<?x?xf32, #optc.dims<N, M>>
  %4 = nn.mul %3, %0 : tensor<?x?xf32, #optc.dims<N, M>>
  %5 = nn.reduce_max %4 {axes = array<i64: 1>} : (tensor<?x?xf32, #optc.dims<N, M>>) -> tensor<?xf32, #optc.dims<N>>
  return %5 : tensor<?xf32, #optc.dims<N>>
}";

fn bounded() -> Arc<Program> {
    let module = optc::parse("bounded.mlir", BOUNDED.to_owned(), None, &LoadOptions::default());
    let mut module = module.unwrap_or_else(|failure| panic!("{failure}"));
    let ranges = [("N".to_owned(), (1, 40)), ("M".to_owned(), (1, 40))].into();
    let sizes = SizeOptions { ranges, ..SizeOptions::default() };
    let options = CompileOptions { threads: THREADS, sizes, ..CompileOptions::default() };
    Arc::new(optc::compile(&mut module, &options).unwrap_or_else(|failure| panic!("{failure}")))
}

#[test]
fn a_chunk_for_all_sizes_is_allocated_once_and_is_enough_at_each() {
    let program = bounded();
    let chunk = program.bound_bytes().expect("both sizes have an end");
    let x: Vec<f32> = (0..1600).map(|i| (i * 37 % 101) as f32 * 0.02 - 1.0).collect();
    let mut y = [0.0f32; 40];
    let mut run = |context: &mut RunContext<'_>, [n, m]: [usize; 2]| {
        context.set_shape("x", &[n as u64, m as u64]).expect("they are in their ranges");
        let needed = context.prepare().expect("it is enough").arena_bytes();
        let x = runtime::as_bytes(&x[..n * m]);
        let y = runtime::as_bytes_mut(&mut y[..n]);
        context.run(&[x], &mut [y]).expect("it is enough");
        needed
    };
    // Another context makes the specializations, so that only the arena is counted below.
    let mut other = program.context(THREADS).expect("it is planned for them");
    let sizes = [[1, 1], [3, 40], [40, 1], [40, 40], [17, 23]];
    let most = sizes.into_iter().map(|sizes| run(&mut other, sizes)).max();
    assert!(most <= Some(chunk), "{most:?} of {chunk} bytes");
    let mut context = program.context(THREADS).expect("it is planned for them");
    let (_, first) = ALLOCATOR.measure(|| run(&mut context, sizes[0]));
    assert_eq!((first.count, first.bytes, context.arena_bytes()), (1, padded(chunk), chunk));
    let ((), later) = ALLOCATOR.measure(|| {
        for sizes in sizes.into_iter().chain(sizes) {
            run(&mut context, sizes);
        }
    });
    assert_eq!((later.count, context.arena_bytes()), (0, chunk), "it never grows");
    let error = context.set_shape("x", &[41, 1]).expect_err("N is at most 40").to_string();
    assert!(error.contains("41") && error.contains("N <= 40"), "{error}");
    run(&mut context, [2, 2]);
}

#[test]
fn every_size_fits_the_bound() {
    let module = optc::parse("bounded.mlir", BOUNDED.to_owned(), None, &LoadOptions::default());
    let mut module = module.unwrap_or_else(|failure| panic!("{failure}"));
    let ranges = [("N".to_owned(), (1, 40)), ("M".to_owned(), (1, 40))].into();
    let sizes = SizeOptions { ranges, ..SizeOptions::default() };
    let options = CompileOptions { threads: THREADS, sizes, ..CompileOptions::default() };
    let symbolic = AllSizes::decide(&mut module, &options).unwrap_or_else(|failure| panic!("{failure}"));
    let bound = symbolic.bound().expect("both sizes have an end").size_bytes();
    for (n, m) in (1..=40).flat_map(|n| (1..=40).step_by(3).map(move |m| (n, m))) {
        let numbers = symbolic.symbols().iter().map(|symbol| if symbol.name == "N" { n } else { m });
        let planned = symbolic.at(&numbers.collect::<Vec<_>>());
        let planned = planned.unwrap_or_else(|failure| panic!("{n} x {m}: {failure}"));
        let ctx = &planned.ctx;
        let body = planned.function(symbolic.entry()).expect("it is there");
        let arena = body.own_attr(ctx, ctx.ident(attrs::OPTC_ARENA)).and_then(|attr| ctx.int_value(attr));
        assert!(arena.expect("it is planned") as u64 <= bound, "{n} x {m}: {arena:?}");
    }
}
