//! Bounds of sizes: intervals, ranges and conditions, against all numbers of small ranges and by hand.

use std::sync::Arc;

use super::range::{extreme, quotient, sum_of_lows, times};
use super::*;
use crate::module::Module;
use crate::text::{parse, parse_dim};
use crate::types::Dim;

const INFINITY: i128 = i128::MAX;
const MINUS_INFINITY: i128 = i128::MIN;

fn read(ctx: &Context, text: &str) -> DimExpr {
    parse_dim(ctx, text).unwrap_or_else(|faults| panic!("{text}: {}", faults[0].message))
}

fn span(low: i128, high: i128) -> Interval {
    Interval { low, high }
}

/// All intervals of numbers from `from` to `to`.
fn spans(from: i128, to: i128) -> Vec<Interval> {
    (from..=to).flat_map(|low| (low..=to).map(move |high| span(low, high))).collect()
}

/// The smallest interval that contains all of some numbers.
fn around(numbers: impl Iterator<Item = i128>) -> Interval {
    let least = span(INFINITY, MINUS_INFINITY);
    numbers.fold(least, |found, number| span(found.low.min(number), found.high.max(number)))
}

#[test]
fn quotients_and_products_of_intervals_are_the_least_that_hold_all() {
    for a in spans(-7, 7) {
        for b in spans(-2, 5) {
            let pairs = || (a.low..=a.high).flat_map(|x| (b.low..=b.high).map(move |y| (x, y)));
            assert_eq!(times(a, b), around(pairs().map(|(x, y)| x * y)), "{a:?} times {b:?}");
            // A quotient is defined only if its divisor is at least 1.
            let defined = pairs().filter(|(_, y)| *y >= 1).map(|(x, y)| x.div_euclid(y));
            if b.high >= 1 {
                assert_eq!(quotient(a, b), around(defined), "{a:?} over {b:?}");
            }
        }
    }
}

#[test]
fn intervals_without_an_end_have_none_after_a_product_or_a_quotient() {
    for (a, b, product) in [
        (span(2, INFINITY), span(-1, 3), span(MINUS_INFINITY, INFINITY)),
        (span(0, INFINITY), span(0, 5), span(0, INFINITY)),
        (span(1, INFINITY), span(2, 2), span(2, INFINITY)),
        (span(-2, -1), span(3, INFINITY), span(MINUS_INFINITY, -3)),
        (span(MINUS_INFINITY, 0), span(MINUS_INFINITY, -1), span(0, INFINITY)),
    ] {
        assert_eq!(times(a, b), product, "{a:?} times {b:?}");
        assert_eq!(times(b, a), product, "{b:?} times {a:?}");
    }
    for (a, b, expected) in [
        (span(3, INFINITY), span(2, 5), span(0, INFINITY)),
        (span(13, INFINITY), span(2, 5), span(2, INFINITY)),
        (span(MINUS_INFINITY, 7), span(2, 5), span(MINUS_INFINITY, 3)),
        (span(MINUS_INFINITY, -7), span(2, INFINITY), span(MINUS_INFINITY, -1)),
        (span(5, 9), span(3, INFINITY), span(0, 3)),
        (span(-9, -5), span(3, INFINITY), span(-3, -1)),
    ] {
        assert_eq!(quotient(a, b), expected, "{a:?} over {b:?}");
    }
}

#[test]
fn sums_and_extremes_of_intervals_are_those_of_their_ends() {
    let pair = || vec![span(1, 5), span(3, 4)];
    assert_eq!((extreme(pair(), i128::min), extreme(pair(), i128::max)), (span(1, 4), span(3, 5)));
    let sum = |all: &[Interval]| sum_of_lows(all.iter().copied());
    assert_eq!((sum(&[]), sum(&pair()), sum(&[span(-5, 9), span(3, 3)])), (0, 4, -2));
    assert_eq!(sum(&[span(1, 2), span(MINUS_INFINITY, 2), span(4, 4)]), MINUS_INFINITY);
}

/// Checks the interval found for an expression, with `N` in 1..=20 and `M` in 1..=5.
fn check_interval(text: &str, low: i128, high: i128) {
    let ctx = Context::new();
    let mut ranges = Ranges::default();
    ranges.declare(ctx.ident("N"), 1, 20);
    ranges.declare(ctx.ident("M"), 1, 5);
    assert_eq!(interval(&ctx, read(&ctx, text), &ranges), span(low, high), "{text}");
}

#[test]
fn what_depends_on_itself_lies_between_the_ends_that_it_reaches() {
    check_interval("N * M - N - M + 1", 0, 76);
    check_interval("2 * (N floordiv 2) - N", -1, 0);
    check_interval("max(N, M) - N", 0, 4);
    check_interval("min(N, 7) - N", -13, 0);
    check_interval("N - min(N, 7)", 0, 13);
    check_interval("3 - N", -17, 2);
    check_interval("0 - 2 * N * M", -200, -2);
}

#[test]
fn a_range_is_declared_once_more_to_be_narrower() {
    let ctx = Context::new();
    let [n, m] = ["N", "M"].map(|name| ctx.ident(name));
    let mut ranges = Ranges::default();
    assert_eq!((ranges.of(n), Ranges::LAWS.of(n)), ((1, u64::MAX), (0, u64::MAX)));
    ranges.declare(n, 2, 10);
    ranges.declare(n, 4, 20);
    ranges.declare(m, 0, 3);
    assert_eq!((ranges.of(n), ranges.of(m)), ((4, 10), (0, 3)));
    ranges.declare(n, 1, 6);
    assert_eq!(ranges.of(n), (4, 6));
    assert_eq!(ranges.declared().count(), 2);
}

/// A function of named sizes, some of them declared.
fn function(ctx: &Arc<Context>, dims: &str, shape: &str, sizes: &str) -> Module {
    let ty = format!("tensor<{shape}xf32, #optc.dims<{sizes}>>");
    let text = format!(
        "func.func @f(%x: {ty}) -> {ty} attributes {{optc.dims = {{{dims}}}}} {{\n  return %x : {ty}\n}}"
    );
    parse(ctx, "f", text).unwrap_or_else(|faults| panic!("{}", faults[0].message))
}

#[test]
fn ranges_and_sizes_that_follow_are_read_from_a_function() {
    let ctx = Arc::new(Context::new());
    let largest = i64::MAX;
    let dims = format!("K = \"none\", L = [2, {largest}], M = #optc.dims<2 * N>, N = [3, 512], O = [-1, 4]");
    let module = function(&ctx, &dims, "?x?", "N, L");
    let body = module.function("f").unwrap();
    let ranges = Ranges::of_function(&ctx, body);
    let of = |name: &str| ranges.of(ctx.ident(name));
    assert_eq!((of("N"), of("L")), ((3, 512), (2, u64::MAX)));
    assert_eq!(["K", "M", "O", "P"].map(of), [(1, u64::MAX); 4], "they have no ranges");
    let twice = Dim::Symbolic(read(&ctx, "2 * N"));
    assert_eq!(following(&ctx, body), [(ctx.ident("M"), twice)]);
    assert_eq!(one_size(&ctx, ctx.ints_attr(&[4])), Some(Dim::Known(4)));
    for other in [&[][..], &[4, 5], &[-1]] {
        assert_eq!(one_size(&ctx, ctx.ints_attr(other)), None, "{other:?}");
    }
    assert_eq!(one_size(&ctx, ctx.dims_attr(&[twice])), Some(twice));
    for other in [&[twice, twice][..], &[Dim::Unknown], &[]] {
        assert_eq!(one_size(&ctx, ctx.dims_attr(other)), None, "{other:?}");
    }
}

#[test]
fn a_nominal_size_is_128_or_the_nearest_in_its_range() {
    let ctx = Arc::new(Context::new());
    let dims = "B = [1, 512], H = [1, 64], W = [200, 300], Z = [1, 2]";
    let module = function(&ctx, dims, "?x?x?x?", "N, H + 1, W, B");
    let found = nominal(&ctx, module.function("f").unwrap());
    let mut found: Vec<(&str, u64)> = found.iter().map(|(name, size)| (ctx.str(*name), *size)).collect();
    found.sort_unstable();
    assert_eq!(found, [("B", 128), ("H", 64), ("N", 128), ("W", 200)]);
}

/// The type of the argument of a function.
fn argument(ctx: &Context, module: &Module) -> String {
    let body = module.function("f").unwrap();
    let ty = body.ty(body.args(body.entry(body.root()).unwrap())[0]);
    SizeArithmetic(ctx).list(ctx.type_data(ty).tensor_shape().unwrap())
}

#[test]
fn sizes_become_numbers_or_their_greatest_ones() {
    let ctx = Arc::new(Context::new());
    let dims = "N = [1, 20]";
    let made = || function(&ctx, dims, "?x?x?x7", "2 * N, 20 - N, N + M");
    let mut module = made();
    let bindings = Bindings::from([(ctx.ident("N"), 5)]);
    substitute(&mut module, &bindings).unwrap();
    assert_eq!(argument(&ctx, &module), "[10, 15, M + 5, 7]");
    let mut module = made();
    let bindings = Bindings::from([(ctx.ident("N"), 20), (ctx.ident("M"), 1)]);
    substitute(&mut module, &bindings).unwrap();
    assert_eq!(argument(&ctx, &module), "[40, 0, 21, 7]", "an axis may have no elements");
    let mut module = made();
    let bindings = Bindings::from([(ctx.ident("N"), 21)]);
    let faults = substitute(&mut module, &bindings).expect_err("a size is below 0");
    assert_eq!(faults[0].message, "`-N + 20` is no size where N = 21");
    let greatest = |ranges: &Ranges| {
        let mut module = made();
        let body = module.function_mut("f").unwrap();
        let found = greatest_in(&ctx, body, ranges).map_err(|faults| faults[0].message.clone());
        found.map(|()| argument(&ctx, &module))
    };
    let mut ranges = Ranges::default();
    ranges.declare(ctx.ident("N"), 1, 20);
    assert_eq!(greatest(&ranges), Err("`M + N` has no upper bound".to_owned()));
    ranges.declare(ctx.ident("M"), 2, 3);
    assert_eq!(greatest(&ranges).as_deref(), Ok("[40, 19, 23, 7]"));
}

/// The name of the operation that makes a value from sizes, after `N` was set to a number, and the whole
/// text.
fn settled(source: &str, ty: &str, size: u64) -> (String, String) {
    let ctx = Arc::new(Context::new());
    let body = format!("  %0 = {source} : {ty}\n  return %0 : {ty}\n");
    let text = format!("func.func @f(%x: tensor<?xf32, #optc.dims<N>>) -> {ty} {{\n{body}}}");
    let mut module = parse(&ctx, "f", text).unwrap_or_else(|faults| panic!("{}", faults[0].message));
    substitute(&mut module, &Bindings::from([(ctx.ident("N"), size)])).unwrap();
    let body = module.function("f").unwrap();
    let op = body.first_op(body.entry(body.root()).unwrap()).unwrap();
    (body.at(&ctx, op).name().to_owned(), crate::text::print(&module))
}

#[test]
fn what_sizes_say_is_a_constant_once_all_are_numbers_and_if_it_is_small() {
    let sizes = |size: u64| settled("nn.sizes {value = #optc.dims<N, 3>}", "tensor<2xi64>", size);
    let (name, text) = sizes(5);
    assert!(name == "nn.constant" && text.contains("dense<[5, 3]>"), "{text}");
    let (name, text) = sizes(3);
    assert!(name == "nn.constant" && text.contains("dense<3>"), "{text}");
    let open = settled("nn.sizes {value = #optc.dims<N, M>}", "tensor<2xi64>", 5);
    assert_eq!(open.0, "nn.sizes", "another name has no number");
    let iota = |size: u64| settled("nn.iota {size = #optc.dims<N>}", "tensor<?xi64, #optc.dims<N>>", size).0;
    assert_eq!((iota(131_072), iota(131_073)), ("nn.constant".to_owned(), "nn.iota".to_owned()), "1 MiB");
}

#[test]
fn a_condition_on_one_name_is_as_narrow_as_it_must_be() {
    let ctx = Context::new();
    let condition = |low: &str, high: &str| {
        at_most(&ctx, read(&ctx, low), read(&ctx, high)).map(|found| match found {
            Requirement::Within { symbol, low, high } => (ctx.str(symbol).to_owned(), low, high),
            Requirement::Equal(_) => panic!("an order is no equality"),
        })
    };
    let n = |low: u64, high: u64| Some(("N".to_owned(), low, high));
    for (low, most) in [("3 * N + 1", 2), ("3 * N + 2", 2), ("3 * N + 3", 1), ("N", 8), ("N + 8", 0)] {
        assert_eq!(condition(low, "8"), n(0, most), "{low} is at most 8");
    }
    for (low, least) in [("6", 2), ("7", 2), ("8", 3), ("1", 0), ("0", 0)] {
        assert_eq!(condition(low, "3 * N + 1"), n(least, u64::MAX), "{low} is at most 3 * N + 1");
    }
    assert_eq!(condition("1", "N + 5"), n(0, u64::MAX));
    assert_eq!(condition("N", "2 * N - 3"), n(3, u64::MAX));
    let none = [("N + 5", "3"), ("N", "N"), ("N", "M"), ("N * N", "4"), ("N floordiv 2", "4"), ("3", "4")];
    for (low, high) in none {
        assert_eq!(condition(low, high), None, "{low} is at most {high}");
    }
}

#[test]
fn a_name_that_a_program_does_not_have_is_told_after_sizes_below_0() {
    let ctx = Arc::new(Context::new());
    let made = || function(&ctx, "N = [1, 20]", "?x?", "20 - N, M");
    let faults = |numbers: &[(&str, u64)]| {
        let bindings: Bindings = numbers.iter().map(|(name, size)| (ctx.ident(name), *size)).collect();
        let faults = substitute(&mut made(), &bindings).err().unwrap_or_default();
        faults.into_iter().map(|fault| fault.message).collect::<Vec<String>>()
    };
    let unknown = "the program has no named size `K`";
    assert_eq!(faults(&[("K", 3)]), [unknown]);
    assert_eq!(faults(&[("N", 20), ("M", 1)]), [""; 0]);
    assert_eq!(faults(&[("N", 21), ("K", 3)]), ["`-N + 20` is no size where N = 21", unknown]);
    let mut module = made();
    let names: Vec<&str> = symbols_of(&module).iter().map(|name| ctx.str(*name)).collect();
    assert_eq!(names, ["M", "N"], "in the order of their names");
    let body = module.function_mut("f").unwrap();
    let found = substitute_in(&ctx, body, &Bindings::from([(ctx.ident("K"), 3)]));
    assert!(found.is_ok(), "one function need not have all names");
}
