//! Size arithmetic on known, named and unknown sizes.

use super::super::symbol;
use super::*;

/// A number, a name plus a number, or an unknown size.
#[derive(Clone, Copy, Debug)]
enum Of {
    Number(u64),
    Named(i64),
    Other,
    Unknown,
}

use Of::{Named, Number, Other};

fn dim(ctx: &Context, of: Of) -> Dim {
    match of {
        Number(size) => Dim::Known(size),
        Named(more) => SizeArithmetic(ctx).offset(Dim::Symbolic(symbol(ctx, "N")), more),
        Other => Dim::Symbolic(symbol(ctx, "M")),
        Of::Unknown => Dim::Unknown,
    }
}

/// The result of an operation on two sizes, as text.
fn text(of: fn(SizeArithmetic<'_>, Dim, Dim) -> Dim, a: Of, b: Of) -> String {
    let ctx = Context::new();
    let sizes = SizeArithmetic(&ctx);
    sizes.text(of(sizes, dim(&ctx, a), dim(&ctx, b)))
}

#[test]
fn sums_differences_and_quotients_are_sizes_or_unknown() {
    let add = |a, b| text(|sizes, a, b| sizes.add(a, b), a, b);
    assert_eq!([add(Number(2), Number(3)), add(Named(0), Number(2))], ["5", "N + 2"]);
    assert_eq!([add(Of::Unknown, Number(2)), add(Number(2), Of::Unknown)], ["?", "?"]);
    let sub = |a, b| text(|sizes, a, b| sizes.sub(a, b), a, b);
    assert_eq!([sub(Number(3), Number(3)), sub(Number(2), Number(3))], ["0", "?"]);
    assert_eq!([sub(Named(2), Named(0)), sub(Named(0), Named(2))], ["2", "?"]);
    let floor_div = |a, b| text(|sizes, a, b| sizes.floor_div(a, b), a, b);
    assert_eq!([floor_div(Number(7), Number(2)), floor_div(Number(7), Number(0))], ["3", "?"]);
    assert_eq!([floor_div(Named(2), Number(1)), floor_div(Named(3), Named(3))], ["N + 2", "1"]);
    let least = |a, b| text(|sizes, a, b| sizes.min(a, b), a, b);
    assert_eq!([least(Named(2), Named(0)), least(Number(7), Number(3))], ["N", "3"]);
}

#[test]
fn products_of_more_than_63_bits_are_unknown() {
    const LARGE: u64 = 1 << 62;
    let mul = |a, b| text(|sizes, a, b| sizes.mul(a, b), a, b);
    assert_eq!(mul(Number(LARGE), Number(1)), LARGE.to_string());
    assert_eq!(mul(Number(LARGE), Number(2)), "?");
    assert_eq!([mul(Number(u64::MAX), Number(1)), mul(Number(1), Number(u64::MAX))], ["?", "?"]);
    assert_eq!([mul(Named(0), Number(3)), mul(Named(0), Number(0))], ["3 * N", "0"]);
    assert_eq!([mul(Number(0), Of::Unknown), mul(Named(1), Other)], ["?", "M * N + M"]);
    let ctx = Context::new();
    let sizes = SizeArithmetic(&ctx);
    let product = |all: &[Of]| {
        let all: Vec<Dim> = all.iter().map(|of| dim(&ctx, *of)).collect();
        sizes.text(sizes.product(&all))
    };
    assert_eq!(product(&[]), "1");
    assert_eq!(product(&[Named(0), Number(3), Number(2)]), "6 * N");
    assert_eq!(product(&[Named(0), Of::Unknown]), "?");
    let all = [Named(0), Number(3), Of::Unknown].map(|of| dim(&ctx, of));
    assert_eq!(sizes.list(&all), "[N, 3, ?]");
}

#[test]
fn an_offset_or_a_remainder_is_no_size_below_0() {
    let ctx = Context::new();
    let sizes = SizeArithmetic(&ctx);
    assert_eq!(sizes.offset(Dim::Known(3), -3), Dim::Known(0));
    assert_eq!(sizes.offset(Dim::Known(3), -4), Dim::Unknown);
    assert_eq!(sizes.offset(Dim::Unknown, 1), Dim::Unknown);
    assert_eq!([3, 4].map(|by| sizes.modulo(Dim::Known(7), by)), [Dim::Known(1), Dim::Known(3)]);
    assert_eq!(sizes.modulo(Dim::Known(7), 0), Dim::Unknown);
    let four = sizes.offset(sizes.mul(dim(&ctx, Named(0)), Dim::Known(4)), 5);
    assert_eq!(sizes.modulo(four, 4), Dim::Known(1));
    assert_eq!([0, -1].map(|value| size(&ctx, constant(&ctx, value))), [Dim::Known(0), Dim::Unknown]);
}

#[test]
fn sizes_are_equal_different_or_in_order_only_if_they_always_are() {
    let ctx = Context::new();
    let sizes = SizeArithmetic(&ctx);
    for (a, b, equal, different) in [
        (Number(3), Number(3), true, false),
        (Number(3), Number(4), false, true),
        (Named(0), Named(0), true, false),
        (Named(0), Named(1), false, true),
        (Named(0), Other, false, false),
        (Named(0), Number(3), false, false),
        (Named(4), Number(3), false, true),
        (Named(3), Number(3), false, false),
        (Of::Unknown, Of::Unknown, false, false),
        (Of::Unknown, Number(3), false, false),
    ] {
        for (a, b) in [(dim(&ctx, a), dim(&ctx, b)), (dim(&ctx, b), dim(&ctx, a))] {
            assert_eq!((sizes.are_equal(a, b), sizes.are_different(a, b)), (equal, different), "{a:?} {b:?}");
        }
    }
    for (of, most, expected) in
        [(Number(3), 3, true), (Number(4), 3, false), (Named(0), 99, false), (Of::Unknown, 99, false)]
    {
        assert_eq!(sizes.is_at_most(dim(&ctx, of), most), expected, "{of:?}");
    }
    let expr = |of: Of| sizes.expr(dim(&ctx, of)).expect("it is not unknown");
    let are_ordered = |a: Of, b: Of| sizes.are_ordered(expr(a), expr(b));
    assert!(are_ordered(Named(0), Named(1)) && are_ordered(Named(1), Named(1)));
    assert!(!are_ordered(Named(1), Named(0)));
    assert!(are_ordered(Number(0), Named(0)) && !are_ordered(Number(1), Named(0)), "a size may be 0");
}
