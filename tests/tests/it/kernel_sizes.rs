//! That the target's answers for all sizes hold at each size: the greatest scratch, and how operands may be
//! overwritten and read.
//!
//! The arena for all sizes (`passes::memory::bound`) relies on both. The target is asked about every row of
//! the registry, by its example with other sizes, and about the groups of functions with named sizes.

use std::collections::BTreeSet;
use std::sync::Arc;

use codegen::Cpu;
use ir::body::OpRef;
use ir::dims::{Bindings, Ranges, greatest_in, substitute_in};
use ir::opdef::{Access, Infer, OpDef};
use ir::target::{GroupPosition, KernelChoice};
use ir::{Body, Context, Dialect, Dim, Module, Op, Target, flow};
use optc::{LoadOptions, parse, run_pipeline};
use passes::manager::RunOptions;
use tests::examples::{program, resized};
use tests::random::Random;

const THREADS: usize = 2;

/// A target's answers for all sizes.
#[derive(Debug, PartialEq, Eq)]
struct Said {
    accesses: Vec<Access>,
    writes_rows: bool,
    writes_strides: bool,
    reads_rows: Vec<bool>,
    reads_strides: Vec<bool>,
    reads_a_copy: Vec<bool>,
}

fn said(target: &dyn Target, ctx: &Context, body: &Body, op: Op) -> Said {
    let at = body.at(ctx, op);
    let operands = || 0..at.operand_count();
    Said {
        accesses: operands().map(|operand| target.access(at, operand)).collect(),
        writes_rows: target.writes_rows(at),
        writes_strides: target.writes_strides(at),
        reads_rows: operands().map(|operand| target.reads_rows(at, operand)).collect(),
        reads_strides: operands().map(|operand| target.reads_strides(at, operand)).collect(),
        reads_a_copy: operands().map(|operand| target.reads_a_copy(at, operand)).collect(),
    }
}

/// The fault of the target's answers for an operation, with the greatest sizes in one body and smaller ones
/// in the other; also its kernel there.
fn fault(
    target: &dyn Target,
    ctx: &Context,
    [more, less]: [&Body; 2],
    op: Op,
) -> Result<Option<String>, String> {
    let name = less.at(ctx, op).name();
    let (large, small) = (said(target, ctx, more, op), said(target, ctx, less, op));
    if large != small {
        return Err(format!("of `{name}` the target says {large:?} at some sizes, and {small:?} at others"));
    }
    let choice = |body: &Body| target.select(body.at(ctx, op), THREADS);
    // An operation without a kernel at the greatest sizes has no bound, so it must not get a kernel.
    let Some((small, large)) = choice(less).zip(choice(more)) else { return Ok(None) };
    let most = [small.scratch_bytes.max(small.most_scratch_bytes), large.most_scratch_bytes];
    let enough = [small.least_scratch_bytes.max(small.enough_scratch_bytes), large.enough_scratch_bytes];
    for (what, [found, said]) in [("takes at most", most), ("needs at least", enough)] {
        if found > said {
            let at = [less, more].map(|body| shapes(ctx, body, op));
            return Err(format!(
                "`{name}` {what} {found} bytes of scratch, and {said} at greater sizes: {at:?}"
            ));
        }
    }
    Ok(Some(small.kernel))
}

fn shapes(ctx: &Context, body: &Body, op: Op) -> Vec<Vec<u64>> {
    let values = body.operands(op).chain(body.results(op));
    values.filter_map(|value| ctx.static_shape(body.ty(value))).collect()
}

/// Entries of a table of bytes.
const BYTES: u64 = 256;

/// Compares an operation at random sizes with the answers at greater ones; returns how often a kernel was
/// asked.
fn ask(ctx: &Context, body: &Body, rounds: usize, random: &mut Random) -> usize {
    let mut asked = 0;
    for _ in 0..rounds {
        // Equal sizes stay equal. Some sizes are kept, since attributes depend on them, and so are those of
        // tables of bytes.
        let pair = |size: u64, random: &mut Random| match random.below(3) {
            0 => (size, size),
            _ => {
                let most = 1 + random.below(70) as u64;
                (most, 1 + random.below(most as usize) as u64)
            }
        };
        let pairs: Vec<(u64, u64)> = (0..64).map(|size| pair(size, random)).collect();
        let large = resized(ctx, body, &|size| {
            Dim::Known(if size == BYTES { size } else { pairs[size as usize % 64].0 })
        });
        let small = resized(ctx, body, &|size| {
            Dim::Known(if size == BYTES { size } else { pairs[size as usize % 64].1 })
        });
        let (Some(large), Some(small)) = (large, small) else { continue };
        let block = small.entry(small.root()).expect("it has a body");
        for op in small.ops(block) {
            let [less, most] = [&small, &large].map(|body| shapes(ctx, body, op).concat());
            let is_less = less.iter().zip(&most).all(|(less, most)| less <= most);
            if less.len() == most.len() && is_less {
                let kernel = fault(Cpu::native(), ctx, [&large, &small], op);
                asked += usize::from(kernel.unwrap_or_else(|fault| panic!("{fault}")).is_some());
            }
        }
    }
    asked
}

/// Asks about a row's example.
fn ask_row(def: &OpDef, random: &mut Random) -> usize {
    let Ok(module) = parse(def.name, program(def.example), None, &LoadOptions::default()) else { return 0 };
    let (ctx, Some(body)) = (&module.ctx, module.function("g")) else { return 0 };
    let Some(block) = body.entry(body.root()) else { return 0 };
    let asked = ask(ctx, body, 60, random);
    let mut shapes = body.args(block).iter().filter_map(|arg| ctx.static_shape(body.ty(*arg)));
    let has_sizes = shapes.any(|shape| !shape.is_empty());
    let has_kernel = body.ops(block).any(|op| Cpu::native().select(body.at(ctx, op), THREADS).is_some());
    let is_known = matches!(def.infer, Infer::Declared) || !has_sizes || !has_kernel;
    assert!(asked > 0 || is_known, "`{}` was asked at no sizes", def.name);
    asked
}

/// Operations with weights, with a letter for each size; `$G` and `$V` are `$H` and `$W` less 2.
const WEIGHTED: &[&str] = &[
    "  %w = nn.constant dense<0.5> : tensor<$Kx$Cx3x3xf32>
  %r = nn.conv2d %x, %w {layout = \"NHWC\", pads = array<i64: 1, 1, 1, 1>} : (tensor<$Nx$Hx$Wx$Cxf32>, tensor<$Kx$Cx3x3xf32>) -> tensor<$Nx$Hx$Wx$Kxf32>",
    "  %w = nn.constant dense<0.5> : tensor<$Kx$Cx3x3xf32>
  %r = nn.conv2d %x, %w {layout = \"NHWC\"} : (tensor<$Nx$Hx$Wx$Cxf32>, tensor<$Kx$Cx3x3xf32>) -> tensor<$Nx$Gx$Vx$Kxf32>",
    "  %w = nn.constant dense<0.5> : tensor<$Kx$Cx1x1xf32>
  %r = nn.conv2d %x, %w {layout = \"NHWC\"} : (tensor<$Nx$Hx$Wx$Cxf32>, tensor<$Kx$Cx1x1xf32>) -> tensor<$Nx$Hx$Wx$Kxf32>",
    "  %w = nn.constant dense<0.5> : tensor<$Cx1x3x3xf32>
  %r = nn.conv2d %x, %w {groups = $C : i64, layout = \"NHWC\", pads = array<i64: 1, 1, 1, 1>} : (tensor<$Nx$Hx$Wx$Cxf32>, tensor<$Cx1x3x3xf32>) -> tensor<$Nx$Hx$Wx$Cxf32>",
    "  %w = nn.constant dense<0.5> : tensor<$Cx$Kxf32>
  %r = nn.matmul %x, %w : (tensor<$Nx$Hx$Wx$Cxf32>, tensor<$Cx$Kxf32>) -> tensor<$Nx$Hx$Wx$Kxf32>",
    "  %w = nn.constant dense<5> : tensor<$Kx$Cx3x3xui8>
  %z = nn.constant dense<7> : tensor<ui8>
  %b = nn.cast %x {to = ui8} : (tensor<$Nx$Hx$Wx$Cxf32>) -> tensor<$Nx$Hx$Wx$Cxui8>
  %r = nn.quantized_conv2d %b, %w, %z, %z {layout = \"NHWC\", pads = array<i64: 1, 1, 1, 1>} : (tensor<$Nx$Hx$Wx$Cxui8>, tensor<$Kx$Cx3x3xui8>, tensor<ui8>, tensor<ui8>) -> tensor<$Nx$Hx$Wx$Kxi32>",
    "  %w = nn.constant dense<5> : tensor<$Cx$Kxi8>
  %z = nn.constant dense<7> : tensor<ui8>
  %v = nn.constant dense<0> : tensor<i8>
  %b = nn.cast %x {to = ui8} : (tensor<$Nx$Hx$Wx$Cxf32>) -> tensor<$Nx$Hx$Wx$Cxui8>
  %r = nn.quantized_matmul %b, %w, %z, %v : (tensor<$Nx$Hx$Wx$Cxui8>, tensor<$Cx$Kxi8>, tensor<ui8>, tensor<i8>) -> tensor<$Nx$Hx$Wx$Kxi32>",
];

/// Sizes of [`WEIGHTED`]: batch, height, width, channels of the operand and of the result.
type Weighted = [u64; 5];

fn weighted(ctx: &Arc<Context>, text: &str, [n, h, w, c, k]: Weighted) -> Module {
    let result = text.rsplit_once("-> ").expect("its type is written").1;
    let text = format!(
        "func.func @main(%x: tensor<$Nx$Hx$Wx$Cxf32>) -> {result} {{\n{text}\n  return %r : {result}\n}}"
    );
    // Whether lines are copied where there are up to four channels is asked at the greatest sizes; the answer
    // matters only to the time that others take.
    let c = c + 2;
    let sizes = [("$N", n), ("$H", h), ("$W", w), ("$G", h - 2), ("$V", w - 2), ("$C", c), ("$K", k)];
    let text = sizes.iter().fold(text, |text, (name, size)| text.replace(name, &size.to_string()));
    let module = ir::text::parse(ctx, "weighted.mlir", text);
    module.unwrap_or_else(|faults| panic!("{}", faults[0].render(ctx)))
}

/// Compares the groups of a function of named sizes at random sizes with the answers at the greatest ones;
/// the groups must have these kernels.
#[track_caller]
fn check_groups(ops: &str, kernels: &[&str]) {
    let module = groups(ops);
    let ctx = &module.ctx;
    let body = module.function("main").expect("it is there");
    let mut ranges = Ranges::default();
    let mut random = Random::new(5);
    ENDS.iter().for_each(|(name, most)| ranges.declare(ctx.ident(name), 1, *most));
    let mut most = body.clone();
    greatest_in(ctx, &mut most, &ranges).unwrap_or_else(|faults| panic!("{}", faults[0].message));
    let mut rounds = 0;
    let mut met = BTreeSet::new();
    for _ in 0..200 {
        let sizes = ENDS.map(|(name, most)| (ctx.ident(name), 1 + random.below(most as usize) as u64));
        let mut less = body.clone();
        let bound = substitute_in(ctx, &mut less, &Bindings::from(sizes));
        if bound.is_err() || ir::verify::verify_body(ctx, &less).is_err() {
            continue;
        }
        rounds += 1;
        let mut ops = Vec::new();
        flow::walk(ctx, &less, |op| ops.push(op));
        for op in ops {
            met.extend(
                fault(Cpu::native(), ctx, [&most, &less], op).unwrap_or_else(|fault| panic!("{fault}")),
            );
        }
    }
    assert!(rounds > 20, "{rounds} sizes were tried of\n{ops}");
    assert!(kernels.iter().all(|kernel| met.contains(*kernel)), "{met:?} are all kernels");
}

/// Batch, height, width, length.
const ENDS: [(&str, u64); 4] = [("N", 5), ("H", 60), ("W", 70), ("L", 300)];

/// The function of some operations, with groups.
fn groups(ops: &str) -> Module {
    let types = [
        ("IMAGE", "tensor<?x?x?x16xf32, #optc.dims<N, H, W>>"),
        ("SQUARE", "tensor<?x?x?xf32, #optc.dims<N, L, L>>"),
        ("ROWS", "tensor<?x?x32xf32, #optc.dims<N, L>>"),
    ];
    let (_, result) = ops.rsplit_once("-> ").expect("the last line says what is returned");
    let text =
        format!("func.func @main(%x: IMAGE, %y: ROWS) -> {result} {{\n{ops}\n  return %r : {result}\n}}");
    let text = types.iter().fold(text, |text, (name, ty)| text.replace(name, ty));
    let module = parse("groups.mlir", text, None, &LoadOptions::default());
    let mut module = module.unwrap_or_else(|failure| panic!("{failure}"));
    let done = run_pipeline(&mut module, "simplify,layout,fuse", &RunOptions::new(Cpu::native()));
    done.unwrap_or_else(|failure| panic!("{failure}"));
    module
}

/// A convolution with a residual and a Relu, one in groups, one with a normalization as prologue, and pools.
/// reads, and pools.
const IMAGES: &str = "  %w = nn.constant dense<0.5> : tensor<16x16x3x3xf32>
  %b = nn.constant dense<0.5> : tensor<16xf32>
  %g = nn.constant dense<0.5> : tensor<16x1x3x3xf32>
  %p = nn.constant dense<0.5> : tensor<16x16x1x1xf32>
  %0 = nn.conv2d %x, %w {layout = \"NHWC\", pads = array<i64: 1, 1, 1, 1>} : (IMAGE, tensor<16x16x3x3xf32>) -> IMAGE
  %1 = nn.add %0, %b : (IMAGE, tensor<16xf32>) -> IMAGE
  %2 = nn.add %1, %x : IMAGE
  %3 = nn.relu %2 : IMAGE
  %4 = nn.conv2d %3, %g {groups = 16 : i64, layout = \"NHWC\", pads = array<i64: 1, 1, 1, 1>} : (IMAGE, tensor<16x1x3x3xf32>) -> IMAGE
  %5 = nn.mul %4, %b : (IMAGE, tensor<16xf32>) -> IMAGE
  %6 = nn.relu %5 : IMAGE
  %7 = nn.conv2d %6, %p {layout = \"NHWC\"} : (IMAGE, tensor<16x16x1x1xf32>) -> IMAGE
  %8 = nn.max_pool2d %7 {kernel = array<i64: 3, 3>, layout = \"NHWC\", pads = array<i64: 1, 1, 1, 1>} : IMAGE
  %9 = nn.avg_pool2d %8 {kernel = array<i64: 3, 3>, layout = \"NHWC\", pads = array<i64: 1, 1, 1, 1>} : IMAGE
  %r = nn.concat %8, %9 {axis = 0 : i64} : (IMAGE, IMAGE) -> tensor<?x?x?x16xf32, #optc.dims<2 * N, H, W>>";

/// Products with weights, products of two values, and surrounding operations of a transformer.
const LENGTHS: &str = "  %w = nn.constant dense<0.5> : tensor<32x32xf32>
  %b = nn.constant dense<0.5> : tensor<32xf32>
  %0 = nn.matmul %y, %w : (ROWS, tensor<32x32xf32>) -> ROWS
  %1 = nn.add %0, %b : (ROWS, tensor<32xf32>) -> ROWS
  %2 = nn.transpose %1 {permutation = array<i64: 0, 2, 1>} : (ROWS) -> tensor<?x32x?xf32, #optc.dims<N, L>>
  %3 = nn.matmul %y, %2 : (ROWS, tensor<?x32x?xf32, #optc.dims<N, L>>) -> SQUARE
  %4 = nn.softmax %3 {axis = 2 : i64} : SQUARE
  %5 = nn.matmul %4, %1 : (SQUARE, ROWS) -> ROWS
  %6 = nn.add %5, %y : ROWS
  %7 = nn.reduce_mean %6 {axes = array<i64: 2>, keepdims} : (ROWS) -> tensor<?x?x1xf32, #optc.dims<N, L>>
  %8 = nn.sub %6, %7 : (ROWS, tensor<?x?x1xf32, #optc.dims<N, L>>) -> ROWS
  %9 = nn.mul %8, %8 : ROWS
  %10 = nn.reduce_mean %9 {axes = array<i64: 1>, keepdims} : (ROWS) -> tensor<?x1x32xf32, #optc.dims<N>>
  %11 = nn.softmax %8 {axis = 2 : i64} : ROWS
  %r = nn.add %11, %10 : (ROWS, tensor<?x1x32xf32, #optc.dims<N>>) -> ROWS";

#[test]
fn what_the_target_says_of_each_row_for_all_sizes_holds_at_each() {
    let ctx = Context::new();
    let mut random = Random::new(3);
    let rows = ctx.dialects().flat_map(Dialect::ops).map(|def| ask_row(def, &mut random));
    let rows: Vec<usize> = rows.collect();
    let asked = rows.iter().filter(|rounds| **rounds > 0).count();
    assert!(asked > 100, "{asked} rows were asked");
}

#[test]
fn what_the_target_says_of_weighted_operations_for_all_sizes_holds_at_each() {
    let ctx = Arc::new(Context::new());
    let mut random = Random::new(11);
    for text in WEIGHTED {
        for _ in 0..1000 {
            let most = [4, 120, 150, 300, 40].map(|end| 3 + random.below(end) as u64);
            let less = most.map(|most| 3 + random.below(most as usize - 2) as u64);
            let [large, small] = [most, less].map(|sizes| weighted(&ctx, text, sizes));
            let [large, small] = [&large, &small].map(|module| module.function("main").expect("it is there"));
            let block = small.entry(small.root()).expect("it has a body");
            let asked =
                small.ops(block).filter_map(|op| fault(Cpu::native(), &ctx, [large, small], op).transpose());
            let asked: Result<Vec<String>, String> = asked.collect();
            let asked = asked.unwrap_or_else(|fault| panic!("{fault}"));
            assert!(!asked.is_empty(), "no kernel for {text}");
        }
    }
}

#[test]
fn what_the_target_says_of_groups_for_all_sizes_holds_at_each() {
    check_groups(IMAGES, &["conv2d", "depthwise", "max_pool2d", "avg_pool2d"]);
    check_groups(LENGTHS, &["gemm", "attention", "softmax", "pointwise", "reduce"]);
}

/// A target with the processor's answers, except for one question.
struct Fickle {
    access: fn(OpRef<'_>) -> Access,
    choice: fn(KernelChoice) -> KernelChoice,
}

impl Target for Fickle {
    fn name(&self) -> &str {
        Cpu::native().name()
    }

    fn layout(&self, op: OpRef<'_>) -> Option<&'static str> {
        Cpu::native().layout(op)
    }

    fn fuses(&self, root: OpRef<'_>, op: OpRef<'_>, place: GroupPosition) -> bool {
        Cpu::native().fuses(root, op, place)
    }

    fn select(&self, op: OpRef<'_>, threads: usize) -> Option<KernelChoice> {
        Cpu::native().select(op, threads).map(self.choice)
    }

    fn access(&self, op: OpRef<'_>, _: usize) -> Access {
        (self.access)(op)
    }
}

#[test]
fn an_answer_that_depends_on_sizes_is_seen() {
    let module = parse(
        "exp.mlir",
        program("%1 = nn.softmax %0 {axis = 1 : i64} : tensor<2x3xf64>"),
        None,
        &LoadOptions::default(),
    );
    let module = module.unwrap_or_else(|failure| panic!("{failure}"));
    let ctx = &module.ctx;
    let body = module.function("g").expect("it is there");
    let large = resized(ctx, body, &|size| Dim::Known(size * 4000)).expect("a softmax has any size");
    let op = body.entry(body.root()).and_then(|block| body.first_op(block)).expect("it is there");
    let found = |target: &Fickle| fault(target, ctx, [&large, body], op).err().unwrap_or_default();
    let same = |choice: KernelChoice| choice;
    let never = |_: OpRef<'_>| Access::Never;
    assert_eq!(found(&Fickle { access: never, choice: same }), "");
    let of_small: fn(OpRef<'_>) -> Access =
        |op| if op.result_shape(0) == Some(vec![2, 3]) { Access::Whole } else { Access::Never };
    let said = found(&Fickle { access: of_small, choice: same });
    assert!(said.starts_with("of `nn.softmax` the target says"), "{said}");
    let choice = |choice: KernelChoice| KernelChoice { most_scratch_bytes: 0, ..choice };
    let said = found(&Fickle { access: never, choice });
    assert!(said.contains("takes at most") && said.contains("and 0 at greater sizes"), "{said}");
    let choice = |choice: KernelChoice| KernelChoice { enough_scratch_bytes: 0, ..choice };
    let said = found(&Fickle { access: never, choice });
    assert!(said.contains("needs at least") && said.contains("and 0 at greater sizes"), "{said}");
}
