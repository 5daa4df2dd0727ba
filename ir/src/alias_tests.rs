//! Alias analysis: operands in place, rows with gaps, loops, and other sizes.

use std::sync::Arc;

use super::*;
use crate::module::Module;
use crate::text::parse;

fn read(ctx: &Arc<Context>, text: &str) -> Module {
    parse(ctx, "alias", text.to_owned()).unwrap_or_else(|faults| panic!("{}", faults[0].message))
}

fn value(index: u32) -> Value {
    Value::from_u32(index)
}

/// Values 1 to 5: two operands in place in a concatenation, which is itself in place in another and is read.
const NESTED: &str = "func.func @f(%x: tensor<2x2xf32>) -> tensor<2x8xf32> {
  %0 = nn.neg %x : tensor<2x2xf32>
  %1 = nn.abs %x : tensor<2x2xf32>
  %2 = nn.concat %0, %1 {axis = 1 : i64, mem.parts = array<i64: 0, 1>}
    : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x4xf32>
  %3 = nn.add %0, %1 : tensor<2x2xf32>
  %4 = nn.concat %2, %3, %x {axis = 1 : i64, mem.parts = array<i64: 0, 1>}
    : (tensor<2x4xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x8xf32>
  return %4 : tensor<2x8xf32>
}";

#[test]
fn operands_of_operands_in_place_are_rows_of_the_outermost_whole() {
    let ctx = Arc::new(Context::new());
    let module = read(&ctx, NESTED);
    let body = module.function("f").unwrap();
    let sets = AliasSets::of(&ctx, body);
    let rows = |first, row| ByteWindow::of_rows(first, 2, row, 32);
    let windows = [rows(0, 8), rows(8, 8), rows(0, 16), rows(16, 8), ByteWindow::dense(0, 64)];
    for (index, window) in (1..).zip(windows) {
        let value = value(index);
        assert_eq!((sets.root(value), sets.window(value)), (self::value(5), Some(window)), "{value}");
        assert_eq!(sets.whole(value), (index < 5).then_some(self::value(5)), "{value}");
        assert_eq!(sets.is_later_part(value), index > 1, "{value}: the first write begins the live range");
    }
    assert_eq!((sets.root(value(0)), sets.whole(value(0))), (value(0), None), "an operand that is copied");
    assert_eq!((sets.extent_bytes(value(5)), sets.rows(value(5))), (Some(64), None));
    let makers = makers_in_place(&ctx, body, &sets);
    let made: Vec<Value> = makers.iter().map(|op| body.result(*op, 0)).collect();
    assert_eq!(made, [1, 2, 3, 4].map(value));
    let pitches: Vec<_> = makers.iter().map(|op| pitch_in_whole(&ctx, body, &sets, *op)).collect();
    assert_eq!(pitches, [Some([8, 32]), Some([8, 32]), Some([16, 32]), Some([8, 32])]);
    let last = body.defining_op(value(5)).unwrap();
    assert_eq!(pitch_in_whole(&ctx, body, &sets, last), None);
}

#[test]
fn operands_along_the_outermost_axis_have_no_gaps() {
    let ctx = Arc::new(Context::new());
    let module = read(
        &ctx,
        "func.func @f(%x: tensor<2x4xf32>, %y: tensor<1x4xf32>) -> tensor<3x4xf32> {
  %0 = nn.neg %x : tensor<2x4xf32>
  %1 = nn.neg %y : tensor<1x4xf32>
  %2 = nn.concat %0, %1 {axis = 0 : i64, mem.parts = array<i64: 1>}
    : (tensor<2x4xf32>, tensor<1x4xf32>) -> tensor<3x4xf32>
  return %2 : tensor<3x4xf32>
}",
    );
    let body = module.function("f").unwrap();
    let sets = AliasSets::of(&ctx, body);
    assert_eq!(sets.root(value(2)), value(2), "it is copied to its place");
    assert_eq!((sets.root(value(3)), sets.window(value(3))), (value(4), Some(ByteWindow::dense(32, 16))));
    let makers = makers_in_place(&ctx, body, &sets);
    assert_eq!(makers.len(), 1);
    assert_eq!(pitch_in_whole(&ctx, body, &sets, makers[0]), None);
    assert!(!sets.is_later_part(value(2)) && !sets.is_later_part(value(3)) && sets.is_later_part(value(4)));
}

#[test]
fn rows_of_a_root_begin_at_multiples_of_its_pitch() {
    let at = |pitch: &str| {
        let ctx = Arc::new(Context::new());
        let module = read(
            &ctx,
            &format!(
                "func.func @f(%x: tensor<1x2x3x5xf32>) -> tensor<1x2x3x5xf32> {{
  %0 = nn.neg %x {{mem.pitch = array<i64: {pitch}>}} : tensor<1x2x3x5xf32>
  %1 = nn.abs %0 {{mem.tie = array<i64: 0>}} : tensor<1x2x3x5xf32>
  return %1 : tensor<1x2x3x5xf32>
}}"
            ),
        );
        let sets = AliasSets::of(&ctx, module.function("f").unwrap());
        assert_eq!((sets.root(value(2)), sets.whole(value(1))), (value(1), None));
        assert_eq!(sets.window(value(1)), sets.window(value(2)), "what overwrites it has its rows");
        (sets.rows(value(1)), sets.extent_bytes(value(1)), sets.window(value(1)))
    };
    let rows = ByteWindow::of_rows(0, 2, 60, 64);
    assert_eq!(at("60, 64"), (Some(rows), Some(128), Some(rows)));
    let rows = ByteWindow::of_rows(0, 6, 20, 32);
    assert_eq!(at("20, 32"), (Some(rows), Some(192), Some(rows)));
    let dense = ByteWindow::dense(0, 120);
    assert_eq!(at("50, 64"), (None, Some(120), Some(dense)), "that divides no row");
    assert_eq!(at("0, 64"), (None, Some(120), Some(dense)));
}

#[test]
fn the_result_of_a_loop_has_the_bytes_that_it_carries() {
    let ctx = Arc::new(Context::new());
    let text = r#"func.func @f(%n: index, %c: f32, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = scf.for %i = %n to %n step %n iter_args(%a = %x) -> (tensor<4xf32>) {
    %z = nn.neg %a : tensor<4xf32>
    scf.yield %z : tensor<4xf32>
  }
  %s:2 = scf.while (%p = %r, %q = %c) : (tensor<4xf32>, f32) -> (tensor<4xf32>, f32) {
    %t = arith.cmpf olt, %q, %c : f32
    scf.condition(%t) %p, %q : tensor<4xf32>, f32
  } do {
  ^bb0(%u: tensor<4xf32>, %v: f32):
    scf.yield %u, %v : tensor<4xf32>, f32
  }
  %o = nn.abs %s#0 : tensor<4xf32>
  return %o : tensor<4xf32>
}"#;
    let module = read(&ctx, text);
    let body = module.function("f").unwrap();
    let sets = AliasSets::of(&ctx, body);
    let block = body.entry(body.root()).unwrap();
    let loops: Vec<Op> = body.ops(block).filter(|op| body.at(&ctx, *op).is_structured()).collect();
    let carried = flow::region_args(body, loops[0], 0)[1];
    assert_eq!(sets.root(body.result(loops[0], 0)), carried);
    let passed = flow::region_args(body, loops[1], 1);
    let results: Vec<Value> = body.results(loops[1]).map(|result| sets.root(result)).collect();
    assert_eq!(results, passed);
    for arg in [carried].iter().chain(passed).chain(flow::region_args(body, loops[1], 0)) {
        assert_eq!(sets.root(*arg), *arg, "each has bytes of its own until it is planned");
        assert!(sets.size_bytes(*arg).is_some_and(|bytes| bytes == 16 || bytes == 4));
    }
}

#[test]
fn windows_at_other_sizes_are_those_of_the_function_at_these_sizes() {
    let text = |size: u64| {
        let double = 2 * size;
        let rows = size - 1;
        format!(
            "func.func @f(%x: tensor<2x{size}xf32>, %y: tensor<{size}x4xf32>) -> tensor<2x{double}xf32> {{
  %0 = nn.neg %x : tensor<2x{size}xf32>
  %1 = nn.abs %x : tensor<2x{size}xf32>
  %2 = nn.concat %0, %1 {{axis = 1 : i64, mem.parts = array<i64: 0, 1>}}
    : (tensor<2x{size}xf32>, tensor<2x{size}xf32>) -> tensor<2x{double}xf32>
  %3 = nn.neg %y : tensor<{size}x4xf32>
  %4 = nn.slice %3 {{sizes = array<i64: {rows}, 4>, starts = array<i64: 1, 0>}}
    : (tensor<{size}x4xf32>) -> tensor<{rows}x4xf32>
  %5 = nn.slice %4 {{mem.view, sizes = array<i64: {rows}, 2>, starts = array<i64: 0, 2>}}
    : (tensor<{rows}x4xf32>) -> tensor<{rows}x2xf32>
  %6 = nn.abs %5 : tensor<{rows}x2xf32>
  %7 = nn.neg %6 {{mem.tie = array<i64: 0>}} : tensor<{rows}x2xf32>
  return %2 : tensor<2x{double}xf32>
}}"
        )
    };
    let ctx = Arc::new(Context::new());
    let [small, large] = [3, 8].map(|size| read(&ctx, &text(size)));
    let [small, large] = [&small, &large].map(|module| module.function("f").unwrap());
    let mut sets = AliasSets::of(&ctx, small);
    for at in [large, small, large] {
        let values = || (0..at.value_capacity() as u32).map(value);
        let bytes = values().map(|value| (value, tensor_bytes(&ctx, at.ty(value))));
        sets.resize(&ctx, at, bytes);
        let fresh = AliasSets::of(&ctx, at);
        for value in values() {
            assert_eq!(sets.root(value), fresh.root(value), "{value}");
            assert_eq!(sets.window(value), fresh.window(value), "{value}");
            assert_eq!(sets.extent_bytes(value), fresh.extent_bytes(value), "{value}");
            assert_eq!(sets.is_in_order(value), fresh.is_in_order(value), "{value}");
        }
    }
    let rows = ByteWindow::of_rows(16 + 8, 7, 8, 16);
    assert_eq!((sets.root(value(7)), sets.window(value(7))), (value(5), Some(rows)), "of the last sizes");
}

#[test]
fn windows_on_windows_add_up_and_what_covers_more_than_its_elements_is_not_in_order() {
    let ctx = Arc::new(Context::new());
    let text = "func.func @f(%x: tensor<64x4x6xf32>) -> tensor<2x4x6xf32> {
  %0 = nn.slice %x {sizes = array<i64: 20, 4, 6>, starts = array<i64: 30, 0, 0>}
    : (tensor<64x4x6xf32>) -> tensor<20x4x6xf32>
  %1 = nn.slice %0 {sizes = array<i64: 2, 4, 6>, starts = array<i64: 5, 0, 0>}
    : (tensor<20x4x6xf32>) -> tensor<2x4x6xf32>
  %2 = nn.slice %0 {mem.view, sizes = array<i64: 2, 4, 3>, starts = array<i64: 5, 0, 2>}
    : (tensor<20x4x6xf32>) -> tensor<2x4x3xf32>
  %3 = nn.slice %0 {mem.view, sizes = array<i64: 2, 3, 3>, starts = array<i64: 5, 1, 2>}
    : (tensor<20x4x6xf32>) -> tensor<2x3x3xf32>
  return %1 : tensor<2x4x6xf32>
}";
    let module = read(&ctx, text);
    let sets = AliasSets::of(&ctx, module.function("f").unwrap());
    // One index of the outermost axis has 24 elements, 96 bytes.
    let columns = ByteWindow::of_rows(35 * 96 + 8, 8, 12, 24);
    let crop = ByteWindow::dense(35 * 96 + 24 + 8, 4 * (24 + 2 * 6 + 2 + 1));
    let dense = |first: u64, count: u64| ByteWindow::dense(first * 96, count * 96);
    let expected = [(dense(30, 20), true), (dense(35, 2), true), (columns, true), (crop, false)];
    for (index, (window, is_in_order)) in (1..).zip(expected) {
        let value = value(index);
        assert_eq!((sets.root(value), sets.window(value)), (self::value(0), Some(window)), "{value}");
        assert_eq!(sets.is_in_order(value), is_in_order, "{value}");
    }
}

/// Values 1 to 6: a tie, and an operand in place in a concatenation, reshaped and reshaped back.
const RESHAPED: &str = "func.func @f(%x: tensor<2x2xf32>) -> tensor<2x4xf32> {
  %0 = nn.neg %x : tensor<2x2xf32>
  %1 = nn.abs %0 {mem.tie = array<i64: 0>} : tensor<2x2xf32>
  %2 = nn.exp %1 : tensor<2x2xf32>
  %3 = nn.reshape %2 {shape = array<i64: 4>} : (tensor<2x2xf32>) -> tensor<4xf32>
  %4 = nn.reshape %3 {shape = array<i64: 2, 2>} : (tensor<4xf32>) -> tensor<2x2xf32>
  %5 = nn.concat %4, %1 {axis = 1 : i64, mem.parts = array<i64: 0>}
    : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x4xf32>
  return %5 : tensor<2x4xf32>
}";

#[test]
fn who_makes_an_operand_in_place_is_no_view_of_it() {
    let ctx = Arc::new(Context::new());
    let module = read(&ctx, RESHAPED);
    let body = module.function("f").unwrap();
    let sets = AliasSets::of(&ctx, body);
    let rows = ByteWindow::of_rows(0, 2, 8, 16);
    assert_eq!((sets.root(value(3)), sets.window(value(3))), (value(6), Some(rows)));
    let makers = makers_in_place(&ctx, body, &sets);
    assert_eq!(makers.iter().map(|op| body.result(*op, 0)).collect::<Vec<_>>(), [value(3)]);
    let pitch = |index: u32| pitch_in_whole(&ctx, body, &sets, body.defining_op(value(index)).unwrap());
    assert_eq!([1, 2, 3, 4, 5, 6].map(pitch), [None, None, Some([8, 16]), None, None, None]);
}

#[test]
fn what_overwrites_an_operand_that_is_no_whole_begins_anew() {
    let ctx = Arc::new(Context::new());
    let module = read(&ctx, RESHAPED);
    let sets = AliasSets::of(&ctx, module.function("f").unwrap());
    assert_eq!(sets.root(value(2)), value(1));
    assert!(!sets.is_later_part(value(1)) && !sets.is_later_part(value(2)));
    assert!(!sets.is_later_part(value(3)), "the first that is written into the whole");
    assert!(sets.is_later_part(value(6)), "the copy of the other operand keeps the first");
}

#[test]
fn only_operands_of_what_puts_them_together_are_in_place() {
    let ctx = Arc::new(Context::new());
    let types = "(tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x4xf32>";
    let text = format!(
        "func.func @f(%x: tensor<2x2xf32>) -> tensor<2x4xf32> {{
  %0 = nn.neg %x {{mem.parts = array<i64: 0>}} : tensor<2x2xf32>
  %1 = nn.concat %0, %x {{axis = 1 : i64, mem.parts = array<i64: 0, 2, -1>}} : {types}
  %2 = nn.concat %0, %x {{axis = 1 : i64, mem.parts = array<i64: 1, 0>}} : {types}
  return %1 : tensor<2x4xf32>
}}"
    );
    let module = read(&ctx, &text);
    let body = module.function("f").unwrap();
    let op = |index: u32| body.at(&ctx, body.defining_op(value(index)).unwrap());
    assert_eq!([1, 2, 3].map(|index| parts(op(index))), [vec![], vec![0], vec![1, 0]]);
    assert_eq!([1, 2, 3].map(|index| has_parts(op(index))), [false, true, true]);
    assert_eq!([1, 2, 3].map(|index| is_free(op(index))), [false, false, true]);
}

#[test]
fn a_window_without_elements_has_no_bytes_wherever_it_begins() {
    let ctx = Arc::new(Context::new());
    let text = "func.func @f(%x: tensor<8x4xf32>) -> tensor<3x0xf32> {
  %0 = nn.slice %x {sizes = array<i64: 3, 0>, starts = array<i64: 5, 4>}
    : (tensor<8x4xf32>) -> tensor<3x0xf32>
  return %0 : tensor<3x0xf32>
}";
    let module = read(&ctx, text);
    let body = module.function("f").unwrap();
    assert_eq!(view_offset_bytes(body.at(&ctx, body.defining_op(value(1)).unwrap())), Some(0));
    let sets = AliasSets::of(&ctx, body);
    let nothing = ByteWindow::dense(0, 0);
    assert_eq!((sets.root(value(1)), sets.window(value(1))), (value(0), Some(nothing)));
}

#[test]
fn rows_whose_distance_is_no_number_of_elements_have_no_strides() {
    let strides = |pitch: u64| ByteWindow::of_rows(0, 3, 8, pitch).strides(&[3, 2], 32);
    assert_eq!([12, 16].map(strides), [Some(vec![3, 1]), Some(vec![4, 1])]);
    assert_eq!([10, 13].map(strides), [None, None]);
}

#[test]
fn rows_that_reach_into_the_next_group_of_rows_are_none() {
    let arrangement = |outermost: i64| {
        Arrangement::of(&Strided { offset: 0, shape: vec![2, 4, 3], strides: vec![outermost, 6, 1] })
    };
    assert_eq!([24, 25].map(arrangement), [Arrangement::Rows; 2]);
    assert_eq!([14, 23].map(arrangement), [Arrangement::Strides; 2]);
}
