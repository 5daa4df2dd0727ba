//! That a run allocates the plan's bytes exactly, and that the command's options to lower memory do lower it.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ir::memory_pools::MemoryPool;
use ir::{Context, Module};
use optc::plan_report::{PoolReport, plan_report};
use optc::{Array, CompileOptions, LoadOptions, Model, StrippedWeights, load};
use tests::programs::{array, floats};
use tests::workspace::root;

use crate::ALLOCATOR;

/// One test at a time, since another one's allocations would count.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn parse(text: &str) -> Module {
    let module = ir::text::parse(&Arc::new(Context::new()), "memory.mlir", text.to_owned());
    module.unwrap_or_else(|faults| panic!("{} faults: {}", faults.len(), faults[0].message))
}

/// Compiles, runs twice, and returns the outputs of the first run with the bytes of the arena, allocated by
/// the first run.
fn run(module: Module, donated: &[&str], inputs: &mut [Array]) -> (Vec<Array>, u64) {
    let donated = donated.iter().map(|name| (*name).to_owned()).collect();
    run_with(module, CompileOptions { threads: 2, donated, ..CompileOptions::default() }, inputs)
}

fn run_with(mut module: Module, options: CompileOptions, inputs: &mut [Array]) -> (Vec<Array>, u64) {
    let mut model = Model::compile(&mut module, &options).unwrap_or_else(|failure| panic!("{failure}"));
    let body = module.function("main").or_else(|| module.functions().next().map(|(_, body)| body));
    let report = plan_report(&module.ctx, body.expect("a function"), 0).expect("it is planned");
    let mut outputs = model.empty_outputs().unwrap_or_else(|failure| panic!("{failure}"));
    let mut views: Vec<&mut [u8]> = outputs.iter_mut().map(|output| &mut output.bytes[..]).collect();
    let mut buffers = model.bind_donating(inputs).unwrap_or_else(|failure| panic!("{failure}"));
    let (done, first) = ALLOCATOR.measure(|| model.run_buffers(&mut buffers, &mut views));
    done.unwrap_or_else(|failure| panic!("{failure}"));
    let kept: Vec<Vec<u8>> = views.iter().map(|view| view.to_vec()).collect();
    let (_, second) = ALLOCATOR.measure(|| model.run_buffers(&mut buffers, &mut views).is_ok());
    let after = |end: u64, pool: &PoolReport| end.next_multiple_of(pool.align) + pool.size_bytes;
    let arena_bytes = report.pools.iter().fold(0, after);
    assert_eq!(report.pools[0].proved_best, report.pools[0].size_bytes == report.pools[0].lower_bound_bytes);
    let padding = match arena_bytes {
        0 => 0,
        1..0x1_0000 => 64,
        _ => 4096,
    };
    assert_eq!(first.count, arena_bytes.min(1), "the first run allocates the arena and nothing else");
    assert_eq!(first.bytes, arena_bytes + padding, "the arena, and what aligns its beginning");
    assert_eq!(second.count, 0, "a later run allocates nothing");
    outputs.iter_mut().zip(kept).for_each(|(output, bytes)| output.bytes = bytes);
    (outputs, arena_bytes)
}

#[test]
fn a_network_allocates_what_its_plan_says() {
    let _alone = alone();
    let options = LoadOptions { stripped: StrippedWeights::Synthesize, ..LoadOptions::default() };
    let module = load(&root().join(Path::new("examples/squeezenet1_1.onnx")), &options);
    let module = module.unwrap_or_else(|failure| panic!("{failure}"));
    let mut input = [array("x", &[1, 3, 224, 224], &vec![0.5; 3 * 224 * 224])];
    let (_, arena_bytes) = run(module, &[], &mut input);
    assert!(arena_bytes > 1_000_000);
}

#[test]
fn images_in_rows_at_a_pitch_share_the_arena_with_flat_values() {
    let _alone = alone();
    let run = |pools: &str| {
        let options = LoadOptions { stripped: StrippedWeights::Synthesize, ..LoadOptions::default() };
        let module = load(&root().join(Path::new("examples/squeezenet1_1.onnx")), &options);
        let mut input = [array("x", &[1, 3, 224, 224], &vec![0.5; 3 * 224 * 224])];
        let pools = MemoryPool::parse_all(pools).expect("pools");
        let options = CompileOptions { threads: 2, pools, ..CompileOptions::default() };
        let (mut outputs, bytes) =
            run_with(module.unwrap_or_else(|failure| panic!("{failure}")), options, &mut input);
        (outputs.remove(0).bytes, bytes)
    };
    let (flat, flat_bytes) = run("");
    let (pitched, pitched_bytes) = run("arena:pitch=1024");
    assert!(flat == pitched, "the same bits");
    let larger = flat_bytes < pitched_bytes && pitched_bytes < flat_bytes * 5 / 4;
    assert!(larger, "{pitched_bytes} bytes, {flat_bytes} without a pitch");
}

#[test]
fn a_donated_input_lowers_the_arena_and_changes_no_result() {
    let _alone = alone();
    let input = || [array("x", &[64], &[-4.0; 64])];
    let (kept, kept_bytes) = run(parse(BUSY), &[], &mut input());
    let (donated, donated_bytes) = run(parse(BUSY), &["x"], &mut input());
    assert_eq!(floats(&kept[0]), [512.0]);
    assert_eq!(floats(&donated[0]), [512.0]);
    assert!(donated_bytes < kept_bytes, "{donated_bytes} bytes, {kept_bytes} without donation");
}

#[test]
fn all_pools_are_one_allocation() {
    let _alone = alone();
    let text = BUSY.replacen("%x :", "%x {mem.pool = [\"vtcm\"]} :", 1);
    let pools = vec![MemoryPool::parse("vtcm:align=256,capacity=256").expect("a pool")];
    let options = CompileOptions { threads: 1, pools, ..CompileOptions::default() };
    let mut inputs = [array("x", &[64], &[-4.0; 64])];
    let (found, bytes) = run_with(parse(&text), options, &mut inputs);
    assert_eq!(floats(&found[0]), [512.0]);
    assert_eq!(bytes, 2 * 256, "one value in each pool");
}

#[test]
fn a_pool_that_is_too_small_is_named_with_what_it_needs() {
    let _alone = alone();
    let text = BUSY.replacen("%x :", "%x {mem.pool = [\"vtcm\"]} :", 1);
    let compile = |pools: &str| {
        let pools = MemoryPool::parse_all(pools).expect("pools");
        let options = CompileOptions { threads: 1, pools, ..CompileOptions::default() };
        Model::compile(&mut parse(&text), &options).err().map(|failure| failure.to_string())
    };
    assert_eq!(compile("vtcm:capacity=256"), None);
    let failure = compile("vtcm:capacity=255B").expect("255 bytes are too few");
    assert!(failure.contains("the pool `vtcm` holds 255 bytes, but 256 are needed"), "{failure}");
    assert!(failure.contains("256 bytes: `nn.neg`"), "{failure}");
    let failure = compile("").expect("there is no such pool");
    assert!(failure.contains("there is no pool `vtcm`"), "{failure}");
}

#[test]
fn a_pool_that_is_just_full_at_the_largest_size_holds_all() {
    let _alone = alone();
    let text = BUSY.replacen("%x :", "%x {mem.pool = [\"vtcm\"]} :", 1);
    let text = text.replace("tensor<64xf32>", "tensor<?xf32, #optc.dims<N>>");
    let pools = MemoryPool::parse_all("vtcm:capacity=256").expect("a pool");
    let mut options = CompileOptions { threads: 1, pools, ..CompileOptions::default() };
    options.sizes.ranges = [("N".to_owned(), (1, 64))].into();
    let mut model = Model::compile(&mut parse(&text), &options).unwrap_or_else(|failure| panic!("{failure}"));
    for size in [64u16, 48, 1, 64] {
        let input = array("x", &[size.into()], &vec![-4.0; size.into()]);
        let found = model.run(&[input]).unwrap_or_else(|failure| panic!("{failure}"));
        assert_eq!(floats(&found[0]), [8.0 * f32::from(size)]);
    }
    options.sizes.ranges = [("N".to_owned(), (1, 65))].into();
    let failure = Model::compile(&mut parse(&text), &options).err().map(|failure| failure.to_string());
    let failure = failure.expect("65 numbers do not fit");
    assert!(failure.contains("the pool `vtcm` holds 256 bytes, but"), "{failure}");
}

#[test]
fn a_pool_holds_a_sample_and_the_sizes_of_a_run_if_none_is_the_largest() {
    let _alone = alone();
    for (pool, capacity, fits) in [("vtcm", 256, [64u16, 48]), ("arena", 1024, [100, 60])] {
        let text = BUSY.replacen("%x :", &format!("%x {{mem.pool = [\"{pool}\"]}} :"), 1);
        let text = text.replace("tensor<64xf32>", "tensor<?xf32, #optc.dims<N>>");
        let pools = MemoryPool::parse_all(&format!("{pool}:capacity={capacity}")).expect("a pool");
        let mut options = CompileOptions { threads: 1, pools, ..CompileOptions::default() };
        options.sizes.sample = vec![("N".to_owned(), fits[0].into())];
        let mut model =
            Model::compile(&mut parse(&text), &options).unwrap_or_else(|failure| panic!("{failure}"));
        for size in [fits[0], 1000, fits[1]] {
            let found = model.run(&[array("x", &[size.into()], &vec![-4.0; size.into()])]);
            match found {
                Ok(found) if size < 1000 => assert_eq!(floats(&found[0]), [8.0 * f32::from(size)]),
                Ok(_) => panic!("{size} numbers do not fit into `{pool}`"),
                Err(failure) => {
                    let failure = failure.to_string();
                    let expected = format!("the pool `{pool}` holds {capacity} bytes, but");
                    assert!(size == 1000 && failure.contains(&expected), "{failure}");
                }
            }
        }
    }
}

#[test]
fn a_name_that_is_no_input_is_not_donated() {
    let _alone = alone();
    let mut module = parse("func.func @main(%x: tensor<f32>) -> tensor<f32> {\n  return %x : tensor<f32>\n}");
    let options = CompileOptions { donated: vec!["y".to_owned()], ..CompileOptions::default() };
    let failure = Model::compile(&mut module, &options).err().expect("there is no such input");
    assert!(failure.to_string().contains("no input `y` to donate (did you mean `x`?)"), "{failure}");
}

#[test]
fn one_arena_serves_a_tree_of_calls() {
    let _alone = alone();
    let text = "func.func @main(%x: tensor<64xf32>) -> tensor<f32> {
  %0 = call @twice(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %1 = call @twice(%0) : (tensor<64xf32>) -> tensor<64xf32>
  %2 = nn.reduce_sum %1 {axes = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
  return %2 : tensor<f32>
}
func.func private @twice(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = call @double(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %1 = call @double(%0) : (tensor<64xf32>) -> tensor<64xf32>
  return %1 : tensor<64xf32>
}
func.func private @double(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = nn.floor %x : tensor<64xf32>
  %1 = nn.add %0, %0 : tensor<64xf32>
  return %1 : tensor<64xf32>
}";
    let (found, arena_bytes) = run(parse(text), &[], &mut [array("x", &[64], &[1.5; 64])]);
    assert_eq!(floats(&found[0]), [1024.0]);
    assert!(arena_bytes <= 2 * 256 + 2 * 4096, "{arena_bytes}: what one call needs is free for the next");
}

/// The negated value waits for its second reader while two others are live.
const IDLE: &str = "func.func @main(%x: tensor<64xf32>) -> tensor<f32> {
  %0 = nn.neg %x : tensor<64xf32>
  %1 = nn.sqrt %0 : tensor<64xf32>
  %2 = nn.floor %1 : tensor<64xf32>
  %3 = nn.mul %2, %1 : tensor<64xf32>
  %4 = nn.reduce_sum %3 {axes = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
  %5 = nn.mul %0, %4 : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %6 = nn.reduce_sum %5 {axes = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
  return %6 : tensor<f32>
}";

/// Each value is read immediately.
const BUSY: &str = "func.func @main(%x: tensor<64xf32>) -> tensor<f32> {
  %0 = nn.neg %x : tensor<64xf32>
  %1 = nn.sqrt %0 : tensor<64xf32>
  %2 = nn.mul %1, %0 : tensor<64xf32>
  %3 = nn.reduce_sum %2 {axes = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
  return %3 : tensor<f32>
}";

/// Compiles without fusion for a budget, and runs.
fn run_within(text: &str, budget_bytes: Option<u64>) -> Result<(Vec<f32>, u64), String> {
    let mut module = parse(text);
    let run = passes::manager::RunOptions {
        threads: 1,
        ..passes::manager::RunOptions::new(codegen::Cpu::native())
    };
    let done = optc::run_pipeline(&mut module, "select", &run);
    done.unwrap_or_else(|failure| panic!("{failure}"));
    let options = CompileOptions { threads: 1, budget_bytes, ..CompileOptions::default() };
    let mut model = Model::compile(&mut module, &options).map_err(|failure| failure.to_string())?;
    let found = model.run(&[array("x", &[64], &[-4.0; 64])]).map_err(|failure| failure.to_string())?;
    let only = model.program().only().expect("its sizes are known");
    Ok((floats(&found[0]), only.arena_bytes() as u64))
}

#[test]
fn values_are_computed_again_where_the_budget_asks_for_it() {
    let _alone = alone();
    let (free, free_bytes) = run_within(IDLE, None).expect("nothing limits it");
    let (tight, tight_bytes) = run_within(IDLE, Some(free_bytes - 1)).expect("a value can be computed again");
    assert_eq!((&free, free_bytes), (&vec![65536.0], 768));
    assert_eq!((tight, tight_bytes), (free, 512));
}

#[test]
fn a_budget_that_cannot_be_met_says_what_is_in_the_way() {
    let _alone = alone();
    let said = run_within(BUSY, Some(100)).expect_err("two values are live at some step");
    for part in [
        "the budget of 100 bytes: the smallest that was found has 512",
        "512 bytes are live at the peak",
        "256 bytes: `nn.",
        "help: --donate=x saves 256 bytes",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}
