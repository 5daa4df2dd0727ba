//! Which views are worth reading in place, by what would be live with each choice of them.

use std::cell::Cell;
use std::sync::Arc;

use ir::Module;
use ir::body::OpRef;
use ir::target::{GroupPosition, KernelChoice};

use super::*;
use crate::liveness::{AliasClasses, LiveRange, Steps};
use crate::overlap::{Banding, RowOrder};
use crate::place::Step;

/// A target whose kernels support every layout.
struct ReadsAnything {
    /// The operation whose kernel copies its operands first.
    copying: &'static str,
}

/// No kernel copies its operands.
const IN_PLACE: ReadsAnything = ReadsAnything { copying: "" };

impl Target for ReadsAnything {
    fn name(&self) -> &str {
        "reads-anything"
    }

    fn layout(&self, _op: OpRef<'_>) -> Option<&'static str> {
        None
    }

    fn fuses(&self, _root: OpRef<'_>, _op: OpRef<'_>, _place: GroupPosition) -> bool {
        false
    }

    fn select(&self, _op: OpRef<'_>, _threads: usize) -> Option<KernelChoice> {
        None
    }

    fn reads_rows(&self, _op: OpRef<'_>, _operand: usize) -> bool {
        true
    }

    fn reads_strides(&self, _op: OpRef<'_>, _operand: usize) -> bool {
        true
    }

    fn reads_a_copy(&self, op: OpRef<'_>, _operand: usize) -> bool {
        op.name() == self.copying
    }
}

fn parse(text: &str) -> Module {
    let ctx = Arc::new(Context::new());
    let module = ir::text::parse(&ctx, "views.mlir", text.to_owned());
    module.unwrap_or_else(|faults| panic!("{}", faults[0].render(&ctx)))
}

/// The numbers of the marked views of a function, in text order.
fn marked(ctx: &Context, body: &Body) -> Vec<usize> {
    let mut views = Vec::new();
    flow::walk(ctx, body, |op| {
        let op = body.at(ctx, op);
        views.extend(matches!(op.kind(), Kind::View(_)).then(|| is_marked(op)));
    });
    (0..views.len()).filter(|index| views[*index]).collect()
}

fn is_marked(op: OpRef<'_>) -> bool {
    op.attr(attrs::MEM_VIEW).is_some()
}

/// The views that are read in place, and the reasons for copying the others. `count` gives the peak for each
/// set of marked views, and whether the values asked about are in the arena then.
fn placed(text: &str, count: &dyn Fn(&[usize]) -> (u64, bool)) -> (Vec<usize>, Vec<String>) {
    placed_for(&IN_PLACE, text, count)
}

/// The same for a target.
fn placed_for(
    target: &ReadsAnything,
    text: &str,
    count: &dyn Fn(&[usize]) -> (u64, bool),
) -> (Vec<usize>, Vec<String>) {
    let module = parse(text);
    let ctx = &module.ctx;
    let mut body = module.function("main").expect("it is there").clone();
    let live = |trial: &Body, values: &[Value]| {
        let (bytes, is_at_peak) = count(&marked(ctx, trial));
        Some(Live { bytes, at_peak: vec![is_at_peak; values.len()] })
    };
    let (views, remarks) = place_views(ctx, target, &mut body, &live);
    let found = marked(ctx, &body);
    assert_eq!(views, found.len());
    let why = |remark: &Diagnostic| remark.message.trim_start_matches("this view is copied: ").to_owned();
    (found, remarks.iter().map(why).collect())
}

/// Two columns of each of two values.
const COLUMNS: &str = "
func.func @main(%x: tensor<8x8xf32>) -> tensor<8x2xf32> {
  %0 = nn.exp %x : tensor<8x8xf32>
  %1 = nn.slice %0 {sizes = array<i64: 8, 2>, starts = array<i64: 0, 2>}
    : (tensor<8x8xf32>) -> tensor<8x2xf32>
  %2 = nn.neg %0 : tensor<8x8xf32>
  %3 = nn.slice %2 {sizes = array<i64: 8, 2>, starts = array<i64: 0, 4>}
    : (tensor<8x8xf32>) -> tensor<8x2xf32>
  %4 = nn.add %1, %3 : tensor<8x2xf32>
  return %4 : tensor<8x2xf32>
}";

#[test]
fn rows_are_read_in_place_where_no_more_bytes_are_live() {
    let with_each = |bytes: [u64; 2]| {
        let count = move |marked: &[usize]| {
            let more: u64 = marked.iter().map(|view| bytes[*view]).sum();
            (1000 + more - 10 * marked.len() as u64, false)
        };
        placed(COLUMNS, &count)
    };
    let raises = || RAISES.to_owned();
    assert_eq!(with_each([10, 10]), (vec![0, 1], vec![]), "as many bytes as without");
    assert_eq!(with_each([0, 0]), (vec![0, 1], vec![]));
    assert_eq!(with_each([11, 10]), (vec![1], vec![raises()]));
    assert_eq!(with_each([10, 11]), (vec![0], vec![raises()]));
    assert_eq!(with_each([11, 11]), (vec![], vec![raises(), raises()]));
    assert_eq!(with_each([5, 15]), (vec![0, 1], vec![]), "together they take no more");
}

#[test]
fn views_of_one_value_are_taken_or_left_together() {
    let one = COLUMNS.replace("nn.slice %2", "nn.slice %0");
    let count = |marked: &[usize]| (1000 + u64::from(marked.contains(&1)), false);
    assert_eq!(placed(&one, &count).0, [0; 0]);
    assert_eq!(placed(COLUMNS, &count).0, [0], "they are of two values");
}

/// A transpose of each of two values.
const TURNED: &str = "
func.func @main(%x: tensor<8x4xf32>) -> tensor<4x8xf32> {
  %0 = nn.exp %x : tensor<8x4xf32>
  %1 = nn.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %2 = nn.neg %0 : tensor<8x4xf32>
  %3 = nn.transpose %2 {permutation = array<i64: 1, 0>} : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %4 = nn.add %1, %3 : tensor<4x8xf32>
  return %4 : tensor<4x8xf32>
}";

#[test]
fn another_order_is_read_in_place_only_where_fewer_bytes_are_live() {
    let with_each = |saved: [u64; 2], is_at_peak: &dyn Fn(&[usize]) -> bool| {
        let count = move |marked: &[usize]| {
            let less: u64 = marked.iter().map(|view| saved[*view]).sum();
            (1000 - less, is_at_peak(marked))
        };
        placed(TURNED, &count)
    };
    let saves_nothing = || SAVES_NOTHING.to_owned();
    assert_eq!(with_each([1, 1], &|_| true), (vec![0, 1], vec![]));
    assert_eq!(with_each([1, 0], &|_| true), (vec![0], vec![saves_nothing()]));
    assert_eq!(with_each([0, 1], &|_| true), (vec![1], vec![saves_nothing()]));
    assert_eq!(with_each([0, 0], &|_| true).0, [0; 0]);
    assert_eq!(with_each([9, 9], &|_| false).0, [0; 0], "their copies are not in the way of anything");
}

#[test]
fn another_order_that_is_copied_anyway_is_read_in_place_where_no_more_bytes_are_live() {
    let with_each = |copying: &'static str, more: [i64; 2]| {
        let count = move |marked: &[usize]| {
            let more: i64 = marked.iter().map(|view| more[*view]).sum();
            ((1000 + more) as u64, false)
        };
        placed_for(&ReadsAnything { copying }, TURNED, &count).0
    };
    assert_eq!(with_each("nn.add", [0, 0]), [0, 1]);
    assert_eq!(with_each("nn.add", [1, 0]), [1], "more bytes are live with the first");
    assert_eq!(with_each("nn.neg", [0, 0]), [0; 0], "its readers copy nothing");
    let told = |copying: &'static str| {
        let module = parse(TURNED);
        let body = module.function("main").expect("it is there");
        turned_views(&module.ctx, &ReadsAnything { copying }, body).map(|views| views.len())
    };
    assert_eq!(
        (told("nn.add"), told("nn.neg")),
        (None, Some(2)),
        "they may be read in place wherever they lie"
    );
}

#[test]
fn each_group_of_views_is_tried_once_and_none_is_taken_where_sizes_are_not_known() {
    let tried = Cell::new(0);
    let count = |_: &[usize]| {
        tried.set(tried.get() + 1);
        (1000, true)
    };
    assert_eq!(placed(TURNED, &count).0, [0; 0]);
    assert_eq!(tried.get(), 3, "without any, and with each");
    let module = parse(TURNED);
    let mut body = module.function("main").expect("it is there").clone();
    let (views, _) = place_views(&module.ctx, &IN_PLACE, &mut body, &|_, _| None);
    assert_eq!((views, marked(&module.ctx, &body)), (0, vec![]), "a size is not known");
}

#[test]
fn only_views_in_another_order_are_told_before_anything_is_placed() {
    let told = |text: &str| {
        let module = parse(text);
        let body = module.function("main").expect("it is there");
        turned_views(&module.ctx, &IN_PLACE, body).map(|views| views.len())
    };
    assert_eq!(told(TURNED), Some(2));
    assert_eq!(told(COLUMNS), None, "rows may be read in place wherever they lie");
    let none = "func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = nn.exp %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}";
    assert_eq!(told(none), Some(0));
}

/// Values 1 to 4, each read by the step that makes the next.
const CHAIN: &str = "
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = nn.exp %x : tensor<8xf32>
  %1 = nn.neg %0 : tensor<8xf32>
  %2 = nn.abs %1 : tensor<8xf32>
  %3 = nn.exp %2 : tensor<8xf32>
  return %3 : tensor<8xf32>
}";

/// Checks a property of the steps and alias classes of [`CHAIN`].
fn on_chain(check: impl Fn(&Steps, AliasClasses<'_>)) {
    let module = parse(CHAIN);
    let ctx = &module.ctx;
    let body = module.function("main").expect("it is there");
    let weights = WeightSet::of(ctx, body);
    let aliases = AliasSets::of(ctx, body);
    let steps = Steps::of(ctx, body, &weights);
    check(&steps, AliasClasses::of(ctx, body, &steps, &weights, &aliases));
}

#[test]
fn an_operand_and_the_result_of_a_step_are_needed_by_one_step_but_not_at_one_moment() {
    on_chain(|steps, classes| {
        let value = |index: u32| Value::from_u32(index);
        let cases = [(1, 1, [true; 2]), (1, 2, [false, true]), (1, 3, [false; 2]), (2, 4, [false; 2])];
        for (a, b, meets) in cases {
            for (a, b) in [(value(a), value(b)), (value(b), value(a))] {
                let found = [classes.conflict(a, b), classes.conflict_in_steps(steps, a, b)];
                assert_eq!(found, meets, "{a} and {b}");
            }
        }
    });
}

#[test]
fn what_is_joined_is_live_from_the_first_step_to_the_last_of_both() {
    let value = |index: u32| Value::from_u32(index);
    for [to, joined] in [[1, 2], [2, 1]] {
        on_chain(|steps, mut classes| {
            let run: Vec<(Step, Op)> = steps.iter().collect();
            assert_eq!(classes.last_reader(value(1)), Some(run[1]));
            let whole =
                |first: usize, last: usize| Some(LiveRange { first: run[first].0, last: run[last].0 });
            assert_eq!(classes.live_range(value(1)), whole(0, 1));
            classes.join(value(to), value(joined));
            assert_eq!([1, 2, 3].map(|index| classes.class(value(index))), [to, to, 3].map(value));
            assert_eq!(classes.live_range(value(to)), whole(0, 2));
            assert_eq!(classes.last_reader(value(to)), Some(run[2]), "the later one");
            assert!(!classes.conflict(value(to), value(3)));
            assert!(!classes.conflict_in_steps(steps, value(to), value(4)));
            assert!(classes.conflict_in_steps(steps, value(to), value(3)));
        });
    }
}

/// The banding that `mem.overlap` with this text means.
fn banding(said: &str) -> Option<Banding> {
    let ty = "tensor<4xf32>";
    let module = parse(&format!(
        "func.func @main(%x: {ty}) -> {ty} {{
  %0 = nn.neg %x {{mem.overlap = array<i64: {said}>}} : {ty}
  return %0 : {ty}
}}"
    ));
    let body = module.function("main").expect("it is there");
    let op = body.defining_op(Value::from_u32(1)).expect("it is made");
    Banding::of(body.at(&module.ctx, op))
}

#[test]
fn the_sign_of_the_rows_of_a_band_says_in_which_order_they_are_written() {
    let of = |operand: usize, rows: u64, order: RowOrder| Some(Banding { operand, rows, order });
    assert_eq!(banding("0, 3"), of(0, 3, RowOrder::Down));
    assert_eq!(banding("2, -3"), of(2, 3, RowOrder::Up));
    assert_eq!(banding("1, 1"), of(1, 1, RowOrder::Down));
    for said in ["0, 0", "-1, 3", "3", "0, 3, 1"] {
        assert_eq!(banding(said), None, "{said}");
    }
    let module = parse(CHAIN);
    let mut body = module.function("main").expect("it is there").clone();
    let op = body.defining_op(Value::from_u32(1)).expect("it is made");
    for written in [of(0, 5, RowOrder::Down), of(1, 5, RowOrder::Up)] {
        written.expect("it is one").write(&module.ctx, &mut body, op);
        assert_eq!(Banding::of(body.at(&module.ctx, op)), written);
    }
}

#[test]
fn a_function_is_of_any_sizes_if_a_value_has_a_name_for_one() {
    let is_symbolic = |types: [&str; 3]| {
        let [x, y, z] = types;
        let module = parse(&format!(
            "func.func @main(%x: {x}, %y: {y}, %z: {z}) -> {x} {{
  return %x : {x}
}}"
        ));
        crate::symbolic::is_symbolic(&module.ctx, module.function("main").expect("it is there"))
    };
    let plain = "tensor<4xf32>";
    let named = "tensor<4x?xf32, #optc.dims<N>>";
    let unknown = "tensor<?xf32>";
    assert!(!is_symbolic([plain; 3]) && !is_symbolic([plain, unknown, plain]));
    assert!(is_symbolic([named; 3]) && is_symbolic([plain, plain, named]));
    assert!(is_symbolic([named, plain, unknown]) && is_symbolic([plain, named, plain]));
}
