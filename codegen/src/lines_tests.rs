//! That row streaming of images changes no bit, at any number of rows at a time.

use super::{Band, Slide, capacity, lower, turns};
use crate::Cpu;
use crate::testing::{Net, THREADS, run};
use ir::plan::attrs;
use ir::{Attr, Value};

fn numbers(count: usize, seed: u32) -> Vec<f32> {
    (0..count as u32).map(|i| ((i * 7919 + seed * 104_729) % 2003) as f32 * 0.001 - 1.0).collect()
}

fn weight(net: &mut Net, shape: &[u64], seed: u32) -> Value {
    let values = numbers(shape.iter().product::<u64>() as usize, seed);
    net.constant(shape, &values)
}

fn window(net: &Net, size: i64, stride: i64, pad: i64) -> Vec<(&'static str, Attr)> {
    vec![
        ("kernel", net.ctx.ints_attr(&[size, size])),
        ("strides", net.ctx.ints_attr(&[stride, stride])),
        ("pads", net.ctx.ints_attr(&[pad; 4])),
        ("layout", net.ctx.str_attr("NHWC")),
    ]
}

/// Sizes, strides and pads of the windows of a chain: a dense convolution, a depthwise one, a pool.
type Windows = [(i64, i64, i64); 3];

/// Makes an operation of this name, with these operands and attributes.
type Make<'a> = dyn FnMut(&str, &[Value], &[(&str, Attr)]) -> Value + 'a;

/// Builds the chain with `make`, from an image and three weights.
fn layers(
    windows: &[Vec<(&'static str, Attr)>; 3],
    groups: Attr,
    args: &[Value],
    make: &mut Make<'_>,
) -> Value {
    let [dense, deep, pool] = windows;
    let deep = [&deep[1..], &[("groups", groups)]].concat();
    let x = make("nn.conv2d", &[args[0], args[1]], &dense[1..]);
    let x = make("nn.conv2d", &[x, args[2], args[3]], &deep);
    make("nn.max_pool2d", &[x], pool)
}

/// The bits of a chain over 21 rows; with a scratch limit, the chain is one group, and 0 means its preferred
/// scratch.
fn chain(windows: Windows, scratch: Option<i64>) -> Vec<u32> {
    bits(net_of(windows, [21, 9], scratch), [21, 9])
}

fn bits((net, y): (Net, Value), [rows, columns]: [usize; 2]) -> Vec<u32> {
    let found = run(&net.plan(&[y], THREADS), &[&numbers(rows * columns * 3, 6)]);
    found[0].iter().map(|x| x.to_bits()).collect()
}

/// A chain over an image of these rows and columns, and its result.
fn net_of(windows: Windows, [rows, columns]: [usize; 2], scratch: Option<i64>) -> (Net, Value) {
    let mut net = Net::f32(&[&[1, rows as u64, columns as u64, 3]]);
    let [size, deep, _] = windows.map(|window| window.0 as u64);
    let (w1, w2) = (weight(&mut net, &[16, 3, size, size], 1), weight(&mut net, &[16, 1, deep, deep], 2));
    let args = [net.arg(0), w1, w2, weight(&mut net, &[16], 3)];
    let ctx = net.ctx.clone();
    let groups = net.ctx.int_attr(16);
    let windows = windows.map(|(size, stride, pad)| window(&net, size, stride, pad));
    let y = match scratch {
        None => layers(&windows, groups, &args, &mut |name, operands, attrs| net.op(name, operands, attrs)),
        Some(bytes) => {
            let y = net.group(&args, |builder, args| {
                let make = &mut |name: &str, operands: &[Value], attrs: &[(&str, Attr)]| {
                    builder.value(name, operands, attrs).unwrap()
                };
                layers(&windows, groups, args, make)
            });
            let group = net.body.defining_op(y).unwrap();
            net.body.set_attr(&ctx, group, attrs::MEM_LINES, ctx.unit_attr());
            if bytes > 0 {
                net.body.set_attr(&ctx, group, attrs::MEM_SCRATCH, ctx.int_attr(bytes));
            }
            y
        }
    };
    (net, y)
}

/// Windows, some rows of which are read by no window of the next ones.
const CHAINS: [Windows; 5] = [
    [(1, 1, 0), (3, 1, 1), (3, 2, 1)],
    [(3, 2, 1), (3, 1, 1), (2, 2, 0)],
    [(1, 1, 0), (5, 2, 2), (3, 1, 1)],
    [(3, 1, 0), (3, 1, 0), (1, 1, 0)],
    [(3, 1, 1), (3, 1, 1), (1, 3, 0)],
];

#[test]
fn images_that_never_exist_whole_change_no_bit() {
    for windows in CHAINS {
        let whole = chain(windows, None);
        for scratch in [0, 1, 20_000, 40_000] {
            assert_eq!(chain(windows, Some(scratch)), whole, "{windows:?} in {scratch} bytes of scratch");
        }
    }
}

#[test]
fn an_image_of_a_single_row_streams() {
    for windows in [CHAINS[0], CHAINS[2], CHAINS[4]] {
        let of = |scratch: Option<i64>| bits(net_of(windows, [1, 9], scratch), [1, 9]);
        assert_eq!(of(Some(0)), of(None), "{windows:?}");
    }
}

#[test]
fn scratch_that_is_promised_for_the_greatest_sizes_is_enough_at_all() {
    let machine = Cpu::native().machine(THREADS);
    let lowered_at = |windows: Windows, sizes: [usize; 2], scratch: i64| {
        let (net, y) = net_of(windows, sizes, Some(scratch));
        lower(net.body.at(&net.ctx, net.body.defining_op(y).unwrap()), &machine).unwrap()
    };
    for windows in CHAINS {
        let greatest = lowered_at(windows, [200, 33], 0);
        let [enough, most] = [greatest.enough_scratch_bytes(THREADS), greatest.most_scratch_bytes(THREADS)];
        assert!(enough < greatest.scratch_bytes(THREADS), "{windows:?}: {enough} bytes");
        // In tall images, turns have at least some rows, unless there is too little scratch for that.
        let rows = (5..=40).chain([100, 150, 200]);
        for sizes in rows.flat_map(|rows| (5..=33).step_by(4).map(move |columns| [rows, columns])) {
            let preferred = lowered_at(windows, sizes, 0).scratch_bytes(THREADS);
            assert!(preferred <= most, "{windows:?} at {sizes:?}: {preferred} of {most} bytes");
            let used = lowered_at(windows, sizes, enough as i64).scratch_bytes(THREADS);
            assert!(used <= enough, "{windows:?} at {sizes:?}: {used} of {enough} bytes");
        }
    }
}

#[test]
fn a_turn_makes_the_rows_that_are_lacking() {
    let slide = |input, output, kernel, stride, pad_top| Slide {
        images: 1,
        input,
        output,
        kernel,
        dilation: 1,
        stride,
        pad_top,
    };
    let slides = [slide(9, 9, 1, 1, 0), slide(9, 9, 3, 1, 1), slide(9, 4, 3, 2, 0)];
    let turns = turns(&slides, 2).unwrap();
    let made = |step: usize| {
        turns.iter().map(move |turn: &Vec<Band>| turn[step].first..turn[step].first + turn[step].rows)
    };
    assert_eq!(made(2).collect::<Vec<_>>(), [0..2, 2..4]);
    assert_eq!(made(1).collect::<Vec<_>>(), [0..5, 5..9]);
    assert_eq!(made(0).collect::<Vec<_>>(), [0..6, 6..9]);
    assert_eq!(capacity(&turns, 1), 5 + 1, "five rows are read, and one stays");
    assert_eq!(capacity(&turns, 0), 6 + 2, "six rows are read, and two stay");
}

#[test]
fn a_step_that_reads_another_than_the_one_before_is_refused() {
    let mut net = Net::f32(&[&[1, 8, 8, 4]]);
    let w = weight(&mut net, &[4, 4, 1, 1], 1);
    let attrs = window(&net, 1, 1, 0);
    let y = net.group(&[net.arg(0), w], |builder, args| {
        let x = builder.value("nn.conv2d", &[args[0], args[1]], &attrs[1..]).unwrap();
        let y = builder.value("nn.max_pool2d", &[x], &attrs).unwrap();
        let pair = [builder.value("nn.conv2d", &[x, args[1]], &attrs[1..]).unwrap(), y];
        builder.value("nn.max_pool2d", &pair[..1], &attrs).unwrap()
    });
    let ctx = net.ctx.clone();
    let group = net.body.defining_op(y).unwrap();
    net.body.set_attr(&ctx, group, attrs::MEM_LINES, ctx.unit_attr());
    let module = net.plan(&[y], 2);
    let faults = crate::compile(&module, "main", &crate::CodegenOptions::new(2)).err().unwrap();
    assert!(faults[0].message.contains("does not read the one before"), "{}", faults[0].message);
}
