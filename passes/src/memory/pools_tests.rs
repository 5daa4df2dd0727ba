//! How large must a pool be for all sizes, and where are its buffers at given ones?

use ir::dims::{SizeTable, SizeValues};

use super::*;
use crate::place::{Problem, Step};

/// A pool of buffers of these sizes, each live from a first to a last step, or pinned throughout.
fn pool(ctx: &Context, sizes: &[&str], lives: &[(u32, u32, Option<u64>)]) -> PoolBuffers {
    let expr = |text: &&str| match ir::text::parse_dim(ctx, text) {
        Ok(expr) => expr,
        Err(faults) => panic!("{text}: {}", faults[0].message),
    };
    let buffer = |(first, last, pin): &(u32, u32, Option<u64>)| Buffer {
        first: Step::from_u32(*first),
        last: Step::from_u32(*last),
        size_bytes: 0,
        align: 64,
        pin: *pin,
    };
    let problem = Problem { buffers: lives.iter().map(buffer).collect(), ..Problem::default() };
    let pool = MemoryPool::named("bank").expect("it is a name");
    PoolBuffers { pool, sizes: sizes.iter().map(expr).collect(), problem }
}

fn ranges(ctx: &Context) -> Ranges {
    let mut ranges = Ranges::default();
    ranges.declare(ctx.ident("N"), 1, 31);
    ranges
}

#[test]
fn pinned_buffers_are_enough_up_to_the_highest_end() {
    let ctx = Context::new();
    let bound = |sizes: &[&str], pins: &[Option<u64>]| {
        let lives: Vec<(u32, u32, Option<u64>)> = pins.iter().map(|pin| (0, 9, *pin)).collect();
        PoolBound::of(&ctx, &pool(&ctx, sizes, &lives), &ranges(&ctx)).map(|bound| bound.size_bytes())
    };
    let refused = Err("values lie among the states, in the pool `bank`".to_owned());
    assert_eq!(bound(&["64", "100"], &[Some(128), Some(0)]), Ok(192));
    assert_eq!(bound(&["64", "100"], &[Some(0), Some(128)]), Ok(228));
    assert_eq!(bound(&["64", "100"], &[Some(0), None]), refused);
    assert_eq!(bound(&["64", "4 * N"], &[Some(0), Some(64)]), refused, "its end is not known");
    assert_eq!(bound(&["64 * N", "100"], &[None, None]), Ok(31 * 64 + 100));
    assert_eq!(bound(&[], &[]), Ok(0));
}

#[test]
fn buffers_that_are_never_large_at_once_need_no_more_than_they_have_together() {
    let ctx = Context::new();
    let lives = [(0, 1, None), (1, 2, None), (3, 4, None)];
    let buffers = pool(&ctx, &["64 * N", "2048 - 64 * N", "100"], &lives);
    let bound = PoolBound::of(&ctx, &buffers, &ranges(&ctx)).expect("all are bounded");
    assert_eq!((bound.size_bytes(), bound.is_exact()), (2048, true));
    let mut table = SizeTable::new(vec![ctx.ident("N")]);
    let mut assigner = PoolAssigner::new(&buffers, &mut |expr| table.add(expr));
    assert_eq!(assigner.pool().name, "bank");
    let mut values = SizeValues::default();
    for number in [31, 1, 16, 7] {
        table.evaluate(&ctx, &[number], &mut values).expect("no size is below 0");
        for bound in [Some(&bound), None] {
            let found = assigner.assign(&|id| values.get(id), bound);
            let sizes: Vec<u64> = found.sizes.values().copied().collect();
            assert_eq!(sizes, [64 * number, 2048 - 64 * number, 100]);
            assert_eq!((found.start, found.placed.size_bytes), (0, 2048), "{number}");
        }
        assigner.learn(&|id| values.get(id));
    }
}

#[test]
fn a_buffer_is_at_its_offset_from_the_begin_of_its_pool() {
    let ctx = Context::new();
    let buffers = pool(&ctx, &["64", "100"], &[(0, 9, Some(128)), (0, 9, Some(0))]);
    let mut table = SizeTable::new(Vec::new());
    let assigner = PoolAssigner::new(&buffers, &mut |expr| table.add(expr));
    let mut values = SizeValues::default();
    table.evaluate(&ctx, &[], &mut values).expect("they are numbers");
    let found = assigner.assign(&|id| values.get(id), None);
    let found = PoolAssignment { start: 1000, ..found };
    let places = [0, 1].map(|index| found.place(BufferId::from_u32(index)));
    assert_eq!(places, [1128..1192, 1000..1100], "pins hold");
}

#[test]
fn a_value_takes_at_most_as_many_bytes_as_the_greatest_of_all_sizes_says() {
    use crate::memory::bytes::{are_as_large, is_at_most};
    let ctx = std::sync::Arc::new(Context::new());
    let text = "func.func @f(%a: tensor<?x?xf32, #optc.dims<N, 20 - N>>, %b: tensor<100xf32>,
    %c: tensor<99xf32>, %d: tensor<?xf32, #optc.dims<N>>, %e: tensor<20xf32>, %g: tensor<10x10xf32>)
    -> tensor<99xf32> attributes {optc.dims = {N = [1, 20]}} {
  return %c : tensor<99xf32>
}";
    let module = ir::text::parse(&ctx, "bytes.mlir", text.to_owned());
    let module = module.unwrap_or_else(|faults| panic!("{}", faults[0].render(&ctx)));
    let body = module.function("f").expect("it is there");
    let ranges = Ranges::of_function(&ctx, body);
    let value = |index: u32| ir::Value::from_u32(index);
    let fits = |a: u32, b: u32| is_at_most(&ctx, body, value(a), value(b), &ranges);
    assert!(fits(0, 1), "10 times 10 elements at the most");
    assert!(!fits(0, 2) && !fits(1, 0) && !fits(1, 2));
    assert!(fits(3, 4) && fits(2, 1) && fits(1, 1));
    assert!(!fits(4, 3), "of 20 elements there may be fewer");
    let alike = |a: u32, b: u32| are_as_large(&ctx, body, value(a), value(b), &ranges);
    assert!(alike(1, 5) && alike(0, 0) && !alike(1, 2) && !alike(0, 1) && !alike(3, 4));
}
