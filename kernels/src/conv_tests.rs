//! That the chosen division into parts is the cheapest.

use super::parts::{DISTURBANCE, LEAST_PART};
use super::*;

/// The cost of a division, or infinity if it has more parts than allowed.
fn cost_of(conv: &Conv2d, threads: u32, [row_parts, panel_parts]: [u32; 2]) -> f64 {
    let units = match conv.path {
        Path::Lanes => conv.batch * conv.out_h,
        Path::Planes => conv.batch * conv.out_h * conv.plane_blocks(),
        _ => conv.rows() as u32,
    };
    let panels = conv.panels().count() as u32;
    let cost = conv.cost(WorkCosts::OWN);
    let parts = row_parts * panel_parts;
    let most = (cost(units, panels) / LEAST_PART) as u32;
    if parts > most.clamp(1, threads * 8) || row_parts > units || panel_parts > panels {
        return f64::INFINITY;
    }
    let waiting = if threads > 1 { DISTURBANCE } else { 0.0 };
    let rounds = f64::from(parts.div_ceil(threads)) + waiting;
    let rows = units.div_ceil(row_parts);
    let beside = if threads > 1 && panel_parts > 1 { conv.beside() * f64::from(rows) } else { 0.0 };
    (cost(rows, panels.div_ceil(panel_parts)) + beside) * rounds
}

#[test]
#[cfg_attr(miri, ignore = "it compares costs, and runs no kernel")]
fn no_cut_is_cheaper_than_the_one_that_is_chosen() {
    let mut cuts = Vec::new();
    for (number, threads) in (0..600).zip([1, 2, 3, 8].into_iter().cycle()) {
        let [size, kernel, width] = [number * 7 % 61 + 7, [1, 3, 5][number % 3], number * 5 % 23 + 1];
        let groups = [1, 1, 4, 32][number / 3 % 4];
        let shape = Conv2dShape {
            batch: number % 4 + 1,
            input: [size, size + number % 5],
            in_channels: groups * width,
            out_channels: groups * [width, 3 * width][number / 5 % 2],
            kernel: [kernel, kernel],
            stride: [1 + number % 2, 1 + number % 2],
            dilation: [1, 1],
            pads: [kernel / 2; 4],
            groups,
        };
        let strides = ConvStrides::dense(&shape);
        let activation = Activation::None;
        let conv = Conv2d::new(&shape, &strides, ConvPrologue::None, activation, Isa::detect(), threads);
        let threads = threads as u32;
        let chosen = [conv.row_parts, conv.panel_parts];
        let most = threads * 8;
        let all = (1..=most).flat_map(|rows| (1..=most).map(move |panels| [rows, panels]));
        let costs = all.map(|cut| cost_of(&conv, threads, cut));
        let least = costs.fold(f64::INFINITY, f64::min);
        assert_eq!(cost_of(&conv, threads, chosen), least, "{shape:?} in {chosen:?} parts");
        cuts.push(chosen);
    }
    assert!(cuts.contains(&[1, 1]) && cuts.iter().any(|[rows, panels]| *rows > 1 && *panels > 1));
}

#[test]
fn a_vector_holds_pixels_where_there_are_few_outputs_and_room_for_lines() {
    let fit = Conv2dShape {
        batch: 1,
        input: [20, 20],
        in_channels: 8,
        out_channels: 8,
        kernel: [3, 3],
        stride: [2, 1],
        dilation: [1, 2],
        pads: [0; 4],
        groups: 1,
    };
    let of = |shape: Conv2dShape| {
        let strides = ConvStrides::dense(&shape);
        Conv2d::new(&shape, &strides, ConvPrologue::None, Activation::None, Isa::detect(), 2)
    };
    assert_eq!(of(fit).path, Path::Planes);
    // Three lines of eight channels: 16 columns and a reach of 4, in whole vectors.
    assert_eq!(of(fit).within((3 * 8 * 32 + SLAB_TAIL) * 4, 2).path, Path::Planes);
    assert_eq!(of(fit).within((3 * 8 * 32 + SLAB_TAIL) * 4 - 4, 2).path, Path::Gather);
    // An output as wide as a vector has no more columns in scratch.
    assert_eq!(of(fit).scratch_bytes(), (3 * 8 * 32 + SLAB_TAIL) * 4);
    // 32 columns of 240 lines and a reach of 4 in whole vectors; 48 would take more than copied rows may.
    let deep = Conv2dShape { input: [20, 300], in_channels: 80, ..fit };
    assert_eq!((of(deep).path, of(deep).scratch_bytes()), (Path::Planes, (3 * 80 * 48 + SLAB_TAIL) * 4));
    for shape in [fit, deep] {
        assert!(of(shape).scratch_bytes() <= of(shape).most_scratch_bytes(), "{shape:?}");
    }
    for other in [
        Conv2dShape { out_channels: 9, ..fit },
        Conv2dShape { in_channels: 7, ..fit },
        Conv2dShape { input: [20, 19], ..fit },
        Conv2dShape { stride: [1, 2], ..fit },
        Conv2dShape { dilation: [2, 1], ..fit },
        Conv2dShape { groups: 2, in_channels: 32, ..fit },
    ] {
        assert_ne!(of(other).path, Path::Planes, "{other:?}");
    }
}

#[test]
fn images_lie_as_their_order_of_axes_says() {
    // Three rows of five pixels with two channels.
    assert_eq!(ImageStrides::nchw([3, 5], 2), ImageStrides { n: 30, h: 5, w: 1, c: 15 });
    assert_eq!(ImageStrides::nhwc([3, 5], 2), ImageStrides { n: 30, h: 10, w: 2, c: 1 });
}

#[test]
fn few_channels_are_read_from_copied_lines_in_every_order_of_axes() {
    let mut found = [0; 2];
    for number in 0..400_usize {
        let shape = Conv2dShape {
            batch: number % 3 + 1,
            input: [number * 7 % 61 + 7, number * 11 % [40, 2000][number % 2] + 7],
            in_channels: number % 6 + 1,
            out_channels: number * 5 % 70 + 1,
            kernel: [number % 7 + 1, number / 3 % 7 + 1],
            stride: [number / 5 % 3 + 1, number / 7 % 3 + 1],
            dilation: [1 + usize::from(number % 11 == 0), 1 + usize::from(number % 13 == 0)],
            pads: [number % 4; 4],
            groups: 1,
        };
        let dense = ConvStrides::dense(&shape);
        let apart = ImageStrides::nchw(shape.input, shape.in_channels);
        let is_long = shape.output()[0] > 0 && shape.output()[1] >= 14;
        for input in [dense.input, apart] {
            let strides = ConvStrides { input, ..dense };
            let conv = Conv2d::new(&shape, &strides, ConvPrologue::None, Activation::None, Isa::Scalar, 1);
            let says = shape.reads_copied_lines() && is_long;
            assert!(!says || conv.path == Path::Lines, "{shape:?} {input:?}");
            found[usize::from(says)] += 1;
        }
    }
    assert!(found.iter().all(|count| *count > 50), "{found:?}");
}
