//! Selection of faster convolution algorithms: the same on any number of threads, for known sizes and for
//! named ones, and only if their scratch fits below the peak.

use std::sync::Arc;

use ir::plan::attrs;
use ir::{Context, Module};
use optc::specialize::AllSizes;
use optc::{Array, CompileOptions, DeadMemory, Goal, Model, SizeOptions};
use tests::programs::array;

/// Two convolutions of an image, the second of which is at the peak, and two of a quarter of it; the image's
/// sizes are numbers, or names for `None`.
fn text(image: Option<[u64; 2]>) -> String {
    let ty = |channels: u64, side: u64| match image {
        Some([h, w]) => format!("tensor<1x{}x{}x{channels}xf32>", h / side, w / side),
        None => {
            let dims = ["H", "W"].map(|name| match side {
                1 => name.to_owned(),
                _ => format!("{name} floordiv {side}"),
            });
            format!("tensor<1x?x?x{channels}xf32, #optc.dims<{}, {}>>", dims[0], dims[1])
        }
    };
    let (x, wide, small) = (ty(16, 1), ty(64, 1), ty(64, 4));
    let conv = "{pads = array<i64: 1, 1, 1, 1>, layout = \"NHWC\"}";
    let pool = "{kernel = array<i64: 4, 4>, strides = array<i64: 4, 4>, layout = \"NHWC\"}";
    let first = "tensor<64x16x3x3xf32>";
    let filter = "tensor<64x64x3x3xf32>";
    format!(
        "func.func @main(%x: {x} {{optc.name = \"x\"}}) -> {small} {{
  %a = nn.constant dense<0.03125> : {first}
  %b = nn.constant dense<-0.015625> : {filter}
  %0 = nn.conv2d %x, %a {conv} : ({x}, {first}) -> {wide}
  %1 = nn.conv2d %0, %b {conv} : ({wide}, {filter}) -> {wide}
  %2 = nn.max_pool2d %1 {pool} : ({wide}) -> {small}
  %3 = nn.conv2d %2, %b {conv} : ({small}, {filter}) -> {small}
  %4 = nn.conv2d %3, %b {conv} : ({small}, {filter}) -> {small}
  return %4 : {small}
}}"
    )
}

fn parse(image: Option<[u64; 2]>) -> Module {
    let ctx = Arc::new(Context::new());
    let module = ir::text::parse(&ctx, "faster.mlir", text(image));
    module.unwrap_or_else(|faults| panic!("{}", faults[0].render(&ctx)))
}

fn options(threads: usize, goal: Goal) -> CompileOptions {
    let sample = vec![("H".to_owned(), 96), ("W".to_owned(), 96)];
    let ranges = ["H", "W"].map(|name| (name.to_owned(), (4, 160))).into();
    let sizes = SizeOptions { sample, ranges, ..SizeOptions::default() };
    CompileOptions { threads, goal, sizes, dead: DeadMemory::Poisoned, ..CompileOptions::default() }
}

fn image(sizes: [u64; 2]) -> Array {
    image_of(16, sizes)
}

fn image_of(channels: u64, [h, w]: [u64; 2]) -> Array {
    let numbers: Vec<f32> =
        (0..h * w * channels).map(|index| (index * 37 % 101) as f32 * 0.01 - 0.5).collect();
    array("x", &[1, h, w, channels], &numbers)
}

/// For each convolution of a planned module, whether it is computed by a faster algorithm.
pub(crate) fn chosen(module: &Module) -> Vec<bool> {
    let body = module.function("main").expect("it is there");
    let mut chosen = Vec::new();
    ir::flow::walk(&module.ctx, body, |op| {
        let op = body.at(&module.ctx, op);
        if op.text(attrs::MEM_KERNEL).is_some_and(|kernel| ["conv2d", "winograd"].contains(&kernel)) {
            chosen.push(op.attr(attrs::MEM_METHOD).is_some());
        }
    });
    chosen
}

fn planned(sizes: [u64; 2], options: &CompileOptions) -> (Vec<bool>, u64, Vec<Array>) {
    let mut module = parse(Some(sizes));
    let mut model = Model::compile(&mut module, options).unwrap_or_else(|failure| panic!("{failure}"));
    let found = model.run(&[image(sizes)]).unwrap_or_else(|failure| panic!("{failure}"));
    let arena = model.program().only().expect("its sizes are known").arena_bytes() as u64;
    (chosen(&module), arena, found)
}

#[test]
fn a_balanced_plan_computes_faster_what_fits_beneath_the_peak() {
    // The second one of the large image is at the peak; for the first one the arena grows by a tenth.
    let expected = [true, false, true, true];
    let (found, arena, bits) = planned([128, 128], &options(1, Goal::Balanced));
    assert_eq!(found, expected);
    // The second convolution overwrites its operand: there is one large image, and some rows.
    let image = 128 * 128 * 64 * 4;
    assert!(arena <= image + image / 7, "{arena} bytes beside an image of {image}");
    assert_eq!(planned([128, 128], &options(1, Goal::Speed)).0, [true; 4]);
    for threads in [2, 3, 5] {
        let (again, _, others) = planned([128, 128], &options(threads, Goal::Balanced));
        assert_eq!(again, expected, "on {threads} threads");
        assert!(others == bits, "other bits on {threads} threads");
    }
}

/// Channels of a large image: with these, Winograd's algorithm is faster on all machines.
const CHANNELS: u64 = 48;

/// A large image that is read at the end, where two are the peak, and two convolutions of a small one before.
fn beside_a_large_image(image: Option<[u64; 2]>) -> String {
    let ty = |channels: u64, side: u64| match image {
        Some([h, w]) => format!("tensor<1x{}x{}x{channels}xf32>", h / side, w / side),
        None if side == 1 => format!("tensor<1x?x?x{channels}xf32, #optc.dims<H, W>>"),
        None => format!("tensor<1x?x?x{channels}xf32, #optc.dims<H floordiv {side}, W floordiv {side}>>"),
    };
    let (x, small) = (ty(CHANNELS, 1), ty(CHANNELS, 4));
    let pixel = format!("tensor<1x1x1x{CHANNELS}xf32>");
    let filter = format!("tensor<{CHANNELS}x{CHANNELS}x3x3xf32>");
    let conv = "{pads = array<i64: 1, 1, 1, 1>, layout = \"NHWC\"}";
    let pool = "{kernel = array<i64: 4, 4>, strides = array<i64: 4, 4>, layout = \"NHWC\"}";
    format!(
        "func.func @main(%x: {x} {{optc.name = \"x\"}}) -> {small} {{
  %a = nn.constant dense<0.01> : {filter}
  %0 = nn.exp %x : {x}
  %1 = nn.max_pool2d %0 {pool} : ({x}) -> {small}
  %2 = nn.conv2d %1, %a {conv} : ({small}, {filter}) -> {small}
  %3 = nn.conv2d %2, %a {conv} : ({small}, {filter}) -> {small}
  %4 = nn.reduce_mean %3 {{axes = array<i64: 1, 2>, keepdims}} : ({small}) -> {pixel}
  %5 = nn.div %4, %0 : ({pixel}, {x}) -> {x}
  %6 = nn.softmax %5 {{axis = 1 : i64}} : {x}
  %7 = nn.mul %6, %5 : {x}
  %8 = nn.max_pool2d %7 {pool} : ({x}) -> {small}
  return %8 : {small}
}}"
    )
}

#[test]
fn the_smallest_arena_does_not_grow_for_faster_algorithms() {
    let parse = |image| {
        let module = ir::text::parse(&Arc::new(Context::new()), "large.mlir", beside_a_large_image(image));
        module.unwrap_or_else(|faults| panic!("{}", faults[0].message))
    };
    let mut named = Model::compile(&mut parse(None), &options(2, Goal::Memory))
        .unwrap_or_else(|failure| panic!("{failure}"));
    for (sizes, is_faster) in [([128, 128], true), ([96, 160], true), ([16, 16], false)] {
        let mut bits = None;
        for threads in [2, 1, 3, 5, 16, 48] {
            let mut module = parse(Some(sizes));
            let mut model = Model::compile(&mut module, &options(threads, Goal::Memory))
                .unwrap_or_else(|failure| panic!("{failure}"));
            assert_eq!(chosen(&module), [is_faster; 2], "{sizes:?} on {threads} threads");
            let found = model.run(&[image_of(CHANNELS, sizes)]).unwrap_or_else(|failure| panic!("{failure}"));
            assert!(*bits.get_or_insert_with(|| found.clone()) == found, "{sizes:?} on {threads} threads");
            let large = sizes[0] * sizes[1] * CHANNELS * 4;
            let arena = model.program().only().expect("its sizes are known").arena_bytes() as u64;
            let usual = if is_faster { 0 } else { 64 * 1024 * threads as u64 };
            assert!(
                arena <= 2 * large + large / 64 + usual,
                "{arena} bytes at {sizes:?} on {threads} threads"
            );
        }
        let found = named.run(&[image_of(CHANNELS, sizes)]).unwrap_or_else(|failure| panic!("{failure}"));
        assert!(bits == Some(found), "other bits at {sizes:?} with names");
    }
}

/// The second convolution is below the peak. The scratch of Winograd's algorithm fits only if its result
/// overwrites its operand.
fn beside_a_peak(image: Option<[u64; 2]>) -> String {
    let ty = |channels: u64| match image {
        Some([h, w]) => format!("tensor<1x{h}x{w}x{channels}xf32>"),
        None => format!("tensor<1x?x?x{channels}xf32, #optc.dims<H, W>>"),
    };
    let (x, wide, wider) = (ty(16), ty(64), ty(128));
    let conv = "{pads = array<i64: 1, 1, 1, 1>, layout = \"NHWC\"}";
    let (first, filter) = ("tensor<64x16x3x3xf32>", "tensor<64x64x3x3xf32>");
    let (point, last) = ("tensor<128x64x1x1xf32>", "tensor<16x128x1x1xf32>");
    format!(
        "func.func @main(%x: {x} {{optc.name = \"x\"}}) -> {x} {{
  %a = nn.constant dense<0.03125> : {first}
  %b = nn.constant dense<-0.015625> : {filter}
  %c = nn.constant dense<0.0625> : {point}
  %d = nn.constant dense<0.125> : {last}
  %0 = nn.conv2d %x, %a {conv} : ({x}, {first}) -> {wide}
  %1 = nn.conv2d %0, %b {conv} : ({wide}, {filter}) -> {wide}
  %2 = nn.conv2d %1, %c {{layout = \"NHWC\"}} : ({wide}, {point}) -> {wider}
  %3 = nn.conv2d %2, %d {{layout = \"NHWC\"}} : ({wider}, {last}) -> {x}
  return %3 : {x}
}}"
    )
}

#[test]
fn what_has_no_room_for_its_scratch_is_written_over_what_it_reads() {
    let parse = |image| {
        let module = ir::text::parse(&Arc::new(Context::new()), "beside.mlir", beside_a_peak(image));
        module.unwrap_or_else(|faults| panic!("{}", faults[0].message))
    };
    // For each convolution: whether a faster algorithm computes it, and the rows of its bands.
    let chosen = |module: &Module| {
        let body = module.function("main").expect("it is there");
        let mut chosen = Vec::new();
        ir::flow::walk(&module.ctx, body, |op| {
            let op = body.at(&module.ctx, op);
            if op.text(attrs::MEM_KERNEL).is_some_and(|kernel| ["conv2d", "winograd"].contains(&kernel)) {
                let rows = op.ints(attrs::MEM_OVERLAP).map(|list| list[1]);
                chosen.push((op.attr(attrs::MEM_METHOD).is_some(), rows));
            }
        });
        chosen
    };
    let wide = |[h, w]: [u64; 2]| h * w * 64 * 4;
    let mut model = Model::compile(&mut parse(None), &options(2, Goal::Balanced))
        .unwrap_or_else(|failure| panic!("{failure}"));
    let all = AllSizes::decide(&mut parse(None), &options(2, Goal::Balanced))
        .unwrap_or_else(|failure| panic!("{failure}"));
    let mut in_bands = 0;
    for sizes in [[112, 112], [160, 96]] {
        let mut bits = None;
        let mut fixed_arenas = Vec::new();
        for threads in [1, 2, 3] {
            let mut module = parse(Some(sizes));
            let options = options(threads, Goal::Balanced);
            let mut fixed =
                Model::compile(&mut module, &options).unwrap_or_else(|failure| panic!("{failure}"));
            let [_, second, ..] = chosen(&module)[..] else { panic!("there are four convolutions") };
            let (is_faster, rows) = second;
            assert!(is_faster, "{sizes:?} on {threads} threads");
            assert!(rows.is_none_or(|rows| rows % 4 == 0), "{rows:?} at {sizes:?} on {threads} threads");
            in_bands += usize::from(rows.is_some());
            let arena = fixed.program().only().expect("its sizes are known").arena_bytes() as u64;
            assert!(
                arena <= 2 * wide(sizes) + wide(sizes) / 4,
                "{arena} bytes at {sizes:?} on {threads} threads"
            );
            fixed_arenas.push(arena);
            let found = fixed.run(&[image(sizes)]).unwrap_or_else(|failure| panic!("{failure}"));
            assert!(*bits.get_or_insert_with(|| found.clone()) == found, "{sizes:?} on {threads} threads");
        }
        let number = |symbol: &runtime::Symbol| sizes[usize::from(symbol.name == "W")];
        let at: Vec<u64> = all.symbols().iter().map(number).collect();
        let printed = all.at(&at).unwrap_or_else(|failure| panic!("{failure}"));
        let (is_faster, rows) = chosen(&printed)[1];
        assert!(is_faster && rows.is_none_or(|rows| rows % 4 == 0), "{rows:?} at {sizes:?}");
        in_bands += usize::from(rows.is_some());
        let found = model.run(&[image(sizes)]).unwrap_or_else(|failure| panic!("{failure}"));
        assert!(bits == Some(found), "other bits at {sizes:?} with names");
        let arena = model.prepare().unwrap_or_else(|failure| panic!("{failure}")).arena_bytes() as u64;
        let fixed = fixed_arenas[1];
        assert!(arena <= fixed + fixed / 50, "{arena} bytes at {sizes:?} with names, {fixed} without");
    }
    assert!(in_bands > 4, "{in_bands} of 8 run in bands");
}

#[test]
fn named_sizes_choose_at_each_size_what_known_ones_do() {
    let mut seen = Vec::new();
    for goal in [Goal::Balanced, Goal::Speed, Goal::Memory] {
        let options = options(2, goal);
        let all = AllSizes::decide(&mut parse(None), &options).unwrap_or_else(|failure| panic!("{failure}"));
        let bound = all.bound().expect("the sizes have greatest numbers").size_bytes();
        let mut model =
            Model::compile(&mut parse(None), &options).unwrap_or_else(|failure| panic!("{failure}"));
        for sizes in [[128, 128], [16, 24], [96, 160], [160, 160], [128, 128]] {
            let (expected, _, bits) = planned(sizes, &options);
            let number = |symbol: &runtime::Symbol| sizes[usize::from(symbol.name == "W")];
            let at: Vec<u64> = all.symbols().iter().map(number).collect();
            let printed = all.at(&at).unwrap_or_else(|failure| panic!("{failure}"));
            assert_eq!(chosen(&printed), expected, "{sizes:?} for {goal:?}");
            let found = model.run(&[image(sizes)]).unwrap_or_else(|failure| panic!("{failure}"));
            assert!(found == bits, "other bits at {sizes:?} for {goal:?}");
            let arena = model.prepare().unwrap_or_else(|failure| panic!("{failure}")).arena_bytes() as u64;
            assert!(arena <= bound, "{arena} bytes at {sizes:?} for {goal:?}, above the bound of {bound}");
            let body = printed.function("main").expect("it is there");
            let planned = body.own_attr(&printed.ctx, printed.ctx.ident(attrs::OPTC_ARENA));
            let planned = planned.and_then(|bytes| printed.ctx.int_value(bytes));
            assert_eq!(Some(arena as i64), planned, "what is printed at {sizes:?} for {goal:?} is what runs");
            seen.push(expected);
        }
    }
    seen.sort();
    seen.dedup();
    assert!(seen.len() > 2, "sizes and goals decide: {seen:?}");
}

/// A large image of fixed size is the peak at all sizes. On 32 threads, the scratch of a convolution at a
/// small size is then larger than the arena for all sizes, in which the largest convolution is not computed
/// faster.
#[test]
fn steps_for_which_all_sizes_have_no_room_are_counted() {
    let (fixed, wide) = ("tensor<1x64x64x16xf32>", "tensor<1x64x64x256xf32>");
    let sized = |channels: u64| format!("tensor<1x?x?x{channels}xf32, #optc.dims<H, W>>");
    let (y, own) = (sized(16), sized(256));
    let conv = "{pads = array<i64: 1, 1, 1, 1>, layout = \"NHWC\"}";
    let point = "{layout = \"NHWC\"}";
    let first = "tensor<256x16x1x1xf32>";
    let (second, filter) = ("tensor<256x256x1x1xf32>", "tensor<256x256x3x3xf32>");
    let text = format!(
        "func.func @main(%x: {fixed} {{optc.name = \"fixed\"}}, %y: {y} {{optc.name = \"x\"}})
    -> ({wide}, {own}) {{
  %a = nn.constant dense<0.03125> : {first}
  %b = nn.constant dense<-0.015625> : {second}
  %c = nn.constant dense<-0.015625> : {filter}
  %0 = nn.conv2d %x, %a {point} : ({fixed}, {first}) -> {wide}
  %1 = nn.conv2d %0, %b {point} : ({wide}, {second}) -> {wide}
  %2 = nn.conv2d %y, %a {point} : ({y}, {first}) -> {own}
  %3 = nn.conv2d %2, %c {conv} : ({own}, {filter}) -> {own}
  return %1, %3 : {wide}, {own}
}}"
    );
    let given_up = |threads: usize| {
        let module = ir::text::parse(&Arc::new(Context::new()), "faster.mlir", text.clone());
        let mut options = options(threads, Goal::Balanced);
        options.sizes.sample = vec![("H".to_owned(), 32), ("W".to_owned(), 32)];
        options.sizes.ranges = ["H", "W"].map(|name| (name.to_owned(), (4, 64))).into();
        let mut model = Model::compile(&mut module.expect("it is read"), &options).expect("it is compiled");
        let bound = model.program().bound_bytes().expect("the sizes have greatest numbers");
        let prepared = model.prepare_for(&[image([32, 32])]).expect("the sizes are allowed");
        assert!(prepared.arena_bytes() <= bound as usize, "{} of {bound} bytes", prepared.arena_bytes());
        prepared.given_up()
    };
    assert_eq!(given_up(4), 0);
    assert!(given_up(32) > 0, "its scratch is larger than the arena");
}
