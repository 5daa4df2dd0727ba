//! A network of symbolic sizes: for each size, the passes' result equals their result for the network of that
//! size.

use import::onnx::declared::{DeclaredSizes, Symbolized};
use ir::Module;
use ir::dims::{Bindings, substitute, symbols_of};
use ir::plan::attrs;
use optc::specialize::AllSizes;
use optc::{CompileOptions, LoadOptions, StrippedWeights, load, run_pipeline};
use passes::manager::RunOptions;
use tests::workspace::root;

/// Batch, height and width of the network's input, named as in the file.
const SIZES: [(&str, usize, u64); 3] = [("N", 0, 1), ("H", 2, 224), ("W", 3, 224)];

fn squeezenet(symbolized: Vec<Symbolized>) -> Module {
    squeezenet_of(DeclaredSizes { symbolized, ..DeclaredSizes::new() })
}

fn squeezenet_of(sizes: DeclaredSizes) -> Module {
    let options = LoadOptions { stripped: StrippedWeights::Synthesize, sizes, ..LoadOptions::default() };
    load(&root().join("examples/squeezenet1_1.onnx"), &options).unwrap_or_else(|failure| panic!("{failure}"))
}

fn symbolized() -> Vec<Symbolized> {
    let symbolized = SIZES.iter().map(|(name, axis, _)| Symbolized {
        input: "input".to_owned(),
        axis: *axis,
        size: (*name).to_owned(),
    });
    symbolized.collect()
}

fn symbolic() -> Module {
    squeezenet(symbolized())
}

fn bind(module: &mut Module, sizes: &[(&str, u64)]) {
    let bindings: Bindings = sizes.iter().map(|(name, size)| (module.ctx.ident(name), *size)).collect();
    substitute(module, &bindings).unwrap_or_else(|faults| panic!("{}", faults[0].message));
    ir::verify::verify(module).unwrap_or_else(|faults| panic!("{}", faults[0].message));
}

fn run(module: &mut Module, pipeline: &str) {
    let done = run_pipeline(module, pipeline, &RunOptions::new(codegen::Cpu::native()));
    done.unwrap_or_else(|failure| panic!("{pipeline}: {failure}"));
}

#[test]
fn numbers_for_symbols_give_the_network_of_those_numbers() {
    let mut symbolic = symbolic();
    let known = squeezenet(Vec::new());
    let names: Vec<&str> = symbols_of(&symbolic).iter().map(|name| symbolic.ctx.str(*name)).collect();
    assert_eq!(names, ["H", "N", "W"]);
    bind(&mut symbolic, &SIZES.map(|(name, _, size)| (name, size)));
    assert!(ir::text::print(&symbolic) == ir::text::print(&known), "the texts differ");
}

/// Compares a pipeline's result for the symbolic network, with numbers in place of symbols, with its result
/// for the known one.
fn check_same(pipeline: &str) {
    let mut symbolic = symbolic();
    let mut known = squeezenet(Vec::new());
    run(&mut symbolic, pipeline);
    run(&mut known, pipeline);
    ir::text::check_round_trip(&symbolic).expect("sizes come back as they were");
    bind(&mut symbolic, &SIZES.map(|(name, _, size)| (name, size)));
    let (found, expected) = (ir::text::print(&symbolic), ir::text::print(&known));
    let differing = found.lines().zip(expected.lines()).find(|(found, expected)| found != expected);
    assert!(differing.is_none() && found.len() == expected.len(), "{pipeline}: {differing:?}");
}

#[test]
fn passes_decide_for_symbols_what_they_decide_for_numbers() {
    check_same("simplify");
    check_same("simplify,layout");
    check_same("simplify,layout,fuse");
}

#[test]
fn a_size_that_a_window_does_not_fit_is_refused() {
    let mut module = symbolic();
    let bindings: Bindings =
        [("N", 1), ("H", 2), ("W", 224)].map(|(name, size)| (module.ctx.ident(name), size)).into();
    let done = substitute(&mut module, &bindings).and_then(|()| ir::verify::verify(&module));
    let faults = done.expect_err("a window of 3 rows fits no image of 2");
    assert!(faults[0].message.contains("does not fit an image of size 2"), "{}", faults[0].message);
}

#[test]
fn a_source_becomes_a_constant_only_where_it_is_small() {
    let text = "func.func @main(%x: tensor<?xf32, #optc.dims<N>>) -> tensor<?xi64, #optc.dims<N>> {\n\
        %0 = nn.iota {size = #optc.dims<N>} : tensor<?xi64, #optc.dims<N>>\n\
        return %0 : tensor<?xi64, #optc.dims<N>>\n}";
    for (size, op) in [(8, "nn.constant"), (1 << 20, "nn.iota")] {
        let ctx = std::sync::Arc::new(ir::Context::new());
        let mut module = ir::text::parse(&ctx, "iota", text.to_owned())
            .unwrap_or_else(|faults| panic!("{}", faults[0].message));
        bind(&mut module, &[("N", size)]);
        let printed = ir::text::print(&module);
        assert!(printed.contains(op), "{size} elements: {printed:.200}");
    }
}

#[test]
fn a_misspelt_symbol_is_told_with_the_one_that_was_meant() {
    let mut module = symbolic();
    let bindings: Bindings = [(module.ctx.ident("Hh"), 4)].into();
    let faults = substitute(&mut module, &bindings).expect_err("no symbol is called `Hh`");
    assert_eq!(faults[0].message, "the program has no named size `Hh`");
    assert_eq!(faults[0].help.as_deref(), Some("did you mean `H`?"));
}

#[test]
fn the_arena_for_all_sizes_of_a_network_is_little_more_than_that_of_its_greatest() {
    let ranges = SIZES.iter().map(|(name, _, most)| ((*name).to_owned(), (1.max(most / 2), *most))).collect();
    let mut module =
        squeezenet_of(DeclaredSizes { symbolized: symbolized(), ranges, ..DeclaredSizes::new() });
    let options = CompileOptions { threads: 2, ..CompileOptions::default() };
    let symbolic = AllSizes::decide(&mut module, &options).unwrap_or_else(|failure| panic!("{failure}"));
    let bound = symbolic.bound().expect("the file says where sizes end");
    let most: Vec<u64> = symbolic.symbols().iter().map(|symbol| symbol.most).collect();
    let at = symbolic.at(&most).unwrap_or_else(|failure| panic!("{failure}"));
    let body = at.function(symbolic.entry()).expect("the entry was decided");
    let arena = attrs::arena_bytes(&at.ctx, body).expect("it is planned") as f64;
    // No rows that were read are overwritten, though the plan for known sizes allows it.
    assert!((1.0..1.15).contains(&(bound.size_bytes() as f64 / arena)), "{} of {arena}", bound.size_bytes());
}
