//! Views that are in place at some sizes, and copies at others: a decision for all sizes must be right both
//! ways.

use ir::plan::attrs;
use std::sync::Arc;

use ir::dims::Bindings;
use optc::specialize::AllSizes;
use optc::{Array, CompileOptions, LoadOptions, SizeOptions};
use runtime::ElementKind;
use tests::programs::interpret;
use tests::random::Random;

const THREADS: usize = 2;

/// A program of `x: [n, m]` whose broadcast is a copy that is overwritten; if the broadcast changes nothing,
/// it is in place in the caller's input.
const UNCHANGED: &str = "func.func @main(%x: tensor<?x?xf32, #optc.dims<n, m>> {optc.name = \"x\"}) -> tensor<?x?xf32, #optc.dims<n, m>> {
  %0 = nn.broadcast %x {shape = #optc.dims<max(n - m, 1), n, m>} : (tensor<?x?xf32, #optc.dims<n, m>>) -> tensor<?x?x?xf32, #optc.dims<max(n - m, 1), n, m>>
  %1 = nn.cum_sum %0 {axis = 2} : tensor<?x?x?xf32, #optc.dims<max(n - m, 1), n, m>>
  %2 = nn.reduce_sum %1 {axes = array<i64: 0>} : (tensor<?x?x?xf32, #optc.dims<max(n - m, 1), n, m>>) -> tensor<?x?xf32, #optc.dims<n, m>>
  %3 = nn.sub %2, %x : tensor<?x?xf32, #optc.dims<n, m>>
  return %3 : tensor<?x?xf32, #optc.dims<n, m>>
}";

/// A program of `x: [N, 4, 8]` with a slice that is a copy; with one row, it is in place in a value that is
/// overwritten elsewhere.
const SLICED: &str = "func.func @main(%x: tensor<?x4x8xf32, #optc.dims<N>> {optc.name = \"x\"}) -> tensor<?x2x8xf32, #optc.dims<N>> {
  %0 = nn.cum_sum %x {axis = 2} : tensor<?x4x8xf32, #optc.dims<N>>
  %1 = nn.slice %0 {starts = array<i64: 0, 1, 0>, sizes = #optc.dims<N, 2, 8>} : (tensor<?x4x8xf32, #optc.dims<N>>) -> tensor<?x2x8xf32, #optc.dims<N>>
  %2 = nn.cum_sum %0 {axis = 1} : tensor<?x4x8xf32, #optc.dims<N>>
  %3 = nn.reduce_max %2 {axes = array<i64: 1>, keepdims} : (tensor<?x4x8xf32, #optc.dims<N>>) -> tensor<?x1x8xf32, #optc.dims<N>>
  %4 = nn.add %1, %3 : (tensor<?x2x8xf32, #optc.dims<N>>, tensor<?x1x8xf32, #optc.dims<N>>) -> tensor<?x2x8xf32, #optc.dims<N>>
  return %4 : tensor<?x2x8xf32, #optc.dims<N>>
}";

/// Plans a function at given sizes: the checker accepts the plan, which takes at most the bound for all
/// sizes.
#[track_caller]
fn check_bound(symbolic: &AllSizes, sizes: &[u64]) {
    let bound = symbolic.bound().expect("its sizes have ends").size_bytes();
    let planned = symbolic.at(sizes).unwrap_or_else(|failure| panic!("{sizes:?}: {failure}"));
    let body = planned.function(symbolic.entry()).expect("it is there");
    let ctx = &planned.ctx;
    let arena = body.own_attr(ctx, ctx.ident(attrs::OPTC_ARENA)).and_then(|attr| ctx.int_value(attr));
    assert!(arena.expect("it is planned") as u64 <= bound, "{sizes:?}: it does not fit");
}

/// Runs a program of `x` at some shapes, with these ranges of the first and last size, and compares it with
/// the interpreter.
#[track_caller]
fn check(text: &str, sizes: &[(&str, u64)], shapes: &[&[u64]]) {
    let module = optc::parse("views.mlir", text.to_owned(), None, &LoadOptions::default());
    let module = module.unwrap_or_else(|failure| panic!("{failure}"));
    let ranges = sizes.iter().map(|(name, most)| ((*name).to_owned(), (1, *most))).collect();
    let sizes_of_all = SizeOptions { ranges, ..SizeOptions::default() };
    let options = CompileOptions { threads: THREADS, sizes: sizes_of_all, ..CompileOptions::default() };
    let symbolic =
        AllSizes::decide(&mut module.clone(), &options).unwrap_or_else(|failure| panic!("{failure}"));
    let program = optc::compile(&mut module.clone(), &options);
    let program = Arc::new(program.unwrap_or_else(|failure| panic!("{failure}")));
    let mut context = program.context(THREADS).expect("it is planned for them");
    for shape in shapes {
        context.set_shape("x", shape).expect("any sizes will do");
        let mut at = module.clone();
        let open = [shape[0], *shape.last().expect("it has dimensions")];
        let sizes: Bindings = sizes.iter().map(|(name, _)| at.ctx.ident(name)).zip(open).collect();
        let numbers = symbolic.symbols().iter().map(|symbol| sizes[&at.ctx.ident(&symbol.name)]);
        check_bound(&symbolic, &numbers.collect::<Vec<_>>());
        ir::dims::substitute(&mut at, &sizes).unwrap_or_else(|faults| panic!("{}", faults[0].message));
        let count: u64 = shape.iter().product();
        let x: Vec<f32> = (0..count).map(|i| (i * 37 % 11) as f32 - 5.0).collect();
        let bytes = runtime::as_bytes(&x).to_vec();
        let input = Array {
            name: "x".to_owned(),
            element: ElementKind::F32,
            shape: shape.to_vec(),
            bytes: bytes.clone(),
        };
        let expected = interpret(&at, &[input]).swap_remove(0).bytes;
        let mut found = vec![0; expected.len()];
        context.run(&[&bytes], &mut [&mut found]).unwrap_or_else(|error| panic!("{shape:?}: {error}"));
        assert!(found == expected, "{shape:?}: other numbers");
        assert!(bytes == runtime::as_bytes(&x), "{shape:?}: the input was overwritten");
    }
}

#[test]
fn a_view_that_is_overwritten_as_a_copy_may_lie_in_an_input() {
    check(UNCHANGED, &[("n", 20), ("m", 7)], &[&[20, 5], &[6, 5], &[2, 7], &[1, 1], &[9, 3]]);
}

#[test]
fn a_value_that_is_overwritten_may_have_a_view_in_it_that_is_read_later() {
    check(SLICED, &[("N", 9)], &[&[3, 4, 8], &[1, 4, 8], &[2, 4, 8]]);
}

/// A function of slices, concatenations, transposes and sums of `x: [N, 4, M]`, each read at random.
fn random_text(seed: u64) -> String {
    let mut random = Random::new(seed);
    let (whole, half, turned) = (
        "tensor<?x4x?xf32, #optc.dims<N, M>>",
        "tensor<?x2x?xf32, #optc.dims<N, M>>",
        "tensor<4x?x?xf32, #optc.dims<N, M>>",
    );
    let mut values = vec!["x".to_owned()];
    let mut body = String::new();
    for number in 0..9 {
        let read = |random: &mut Random, values: &[String]| {
            let recent = values.len().saturating_sub(3);
            format!("%{}", values[recent + random.below(values.len() - recent)])
        };
        let (a, b) = (read(&mut random, &values), read(&mut random, &values));
        let (start, axis) = (random.below(3), random.below(3));
        body += &match random.below(5) {
            0 => format!("  %v{number} = nn.cum_sum {a} {{axis = {axis}}} : {whole}\n"),
            1 => format!("  %v{number} = nn.neg {a} : {whole}\n"),
            2 => format!("  %v{number} = nn.sub {a}, {b} : {whole}\n"),
            3 => format!(
                "  %s{number} = nn.slice {a} {{starts = array<i64: 0, {start}, 0>, sizes = #optc.dims<N, 2, M>}} : ({whole}) -> {half}
  %t{number} = nn.neg %s{number} : {half}
  %v{number} = nn.concat %s{number}, %t{number} {{axis = 1 : i64}} : ({half}, {half}) -> {whole}\n"
            ),
            _ => format!(
                "  %s{number} = nn.transpose {a} {{permutation = array<i64: 1, 0, 2>}} : ({whole}) -> {turned}
  %t{number} = nn.neg %s{number} : {turned}
  %v{number} = nn.transpose %t{number} {{permutation = array<i64: 1, 0, 2>}} : ({turned}) -> {whole}\n"
            ),
        };
        values.push(format!("v{number}"));
    }
    format!(
        "func.func @main(%x: {whole} {{optc.name = \"x\"}}) -> {whole} {{\n{body}  return %v8 : {whole}\n}}"
    )
}

#[test]
fn random_functions_of_views_compute_the_same_at_all_sizes() {
    for seed in 0..60 {
        let text = random_text(seed);
        check(&text, &[("N", 5), ("M", 9)], &[&[3, 4, 7], &[1, 4, 7], &[1, 4, 1], &[2, 4, 1], &[5, 4, 9]]);
    }
}
