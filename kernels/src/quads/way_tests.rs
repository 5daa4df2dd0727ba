//! Which convolutions of bytes are computed in which way?

use super::*;
use crate::conv::ImageStrides;
use crate::pack::{Panels, WeightStrides};

const SIGNED: QuadNumbers = QuadNumbers {
    image: ByteSign::Signed,
    weights: ByteSign::Signed,
    zero: WeightZero::One,
    output: StoredSum::I32,
};

fn shape(groups: usize, [inputs, outputs]: [usize; 2], kernel: [usize; 2]) -> Conv2dShape {
    Conv2dShape {
        batch: 1,
        input: [20, 20],
        in_channels: groups * inputs,
        out_channels: groups * outputs,
        kernel,
        stride: [1, 1],
        dilation: [1, 1],
        pads: [0; 4],
        groups,
    }
}

fn kernel(shape: &Conv2dShape, strides: &ConvStrides, numbers: &QuadNumbers) -> QuadConv2d {
    QuadConv2d::new(shape, strides, numbers, &[], Isa::Scalar, 2).unwrap()
}

fn path(shape: Conv2dShape) -> (Path, bool) {
    let found = kernel(&shape, &ConvStrides::dense(&shape), &SIGNED);
    (found.conv.path, matches!(found.way(), QuadWay::Groups))
}

#[test]
fn groups_of_whole_quads_share_vectors_if_channels_are_contiguous() {
    for (groups, inputs) in [(2, 4), (3, 8), (2, 16), (1, 16)] {
        let fit = shape(groups, [inputs; 2], [3, 3]);
        assert_eq!(path(fit), (Path::Lanes, true), "{fit:?}");
        let apart =
            ConvStrides { input: ImageStrides::nchw(fit.input, fit.in_channels), ..ConvStrides::dense(&fit) };
        assert_eq!(kernel(&fit, &apart, &SIGNED).conv.path, Path::Gather);
    }
    let others = [
        shape(2, [2, 2], [3, 3]),
        shape(2, [12, 12], [3, 3]),
        shape(2, [32, 32], [3, 3]),
        shape(2, [4, 8], [3, 3]),
        shape(2, [16, 8], [3, 3]),
        shape(1, [8, 8], [3, 3]),
        // What one pixel reads does not fit the first-level cache.
        shape(2, [8, 8], [33, 33]),
    ];
    for other in others {
        assert_eq!(path(other), (Path::Gather, false), "{other:?}");
    }
    // Read in place.
    assert_eq!(path(shape(1, [16, 16], [1, 1])).0, Path::Direct);
    assert_eq!(path(shape(16, [1, 1], [3, 3])), (Path::Lanes, false));
}

#[test]
fn pixels_are_widened_unless_their_quads_are_too_many() {
    for fit in [
        shape(1, [3, 32], [3, 3]),
        shape(1, [3, 64], [7, 7]),
        shape(1, [4, 128], [3, 3]),
        shape(1, [2, 8], [1, 5]),
        shape(1, [3, 48], [1, 1]),
        // 12 quads more for each of 5 vectors.
        shape(1, [3, 80], [7, 7]),
        Conv2dShape { stride: [2, 2], ..shape(1, [4, 32], [1, 1]) },
    ] {
        assert_eq!(path(fit).0, Path::Lines, "{fit:?}");
        let apart =
            ConvStrides { input: ImageStrides::nchw(fit.input, fit.in_channels), ..ConvStrides::dense(&fit) };
        assert_eq!(kernel(&fit, &apart, &SIGNED).conv.path, Path::Lines);
    }
    for other in [
        shape(1, [1, 32], [3, 3]),
        shape(1, [5, 32], [3, 3]),
        shape(1, [4, 129], [3, 3]),
        shape(1, [3, 96], [7, 7]),
        shape(2, [3, 8], [3, 3]),
        Conv2dShape { dilation: [1, 2], ..shape(1, [3, 32], [3, 3]) },
        Conv2dShape { dilation: [2, 1], ..shape(1, [3, 32], [3, 3]) },
        // The lines of a tile do not fit the first-level cache.
        Conv2dShape { stride: [1, 400], ..shape(1, [3, 32], [3, 3]) },
    ] {
        assert_eq!(path(other).0, Path::Gather, "{other:?}");
    }
    assert_eq!(path(shape(1, [4, 32], [1, 1])).0, Path::Direct);
}

/// The same weights may be packed for several convolutions.
#[test]
fn packings_with_other_bytes_have_another_code_or_panels() {
    let wide = [16, 4, 8].map(|inputs| (inputs, [[3, 3], [1, 2], [1, 1]]));
    for (inputs, kernel) in wide.into_iter().flat_map(|(inputs, all)| all.map(|kernel| (inputs, kernel))) {
        let of = |groups: usize| shape(groups, [inputs, 16 / groups], kernel);
        let far = Conv2dShape { dilation: [40, 40], pads: [80; 4], ..of(1) };
        let shapes = [of(1), of(2), of(4), far, Conv2dShape { dilation: [1, 2], ..of(1) }];
        check_packings(&shapes, [16, inputs], kernel);
    }
    for (inputs, kernel) in [(3, [1, 2]), (3, [3, 3]), (2, [1, 2]), (2, [2, 2]), (4, [1, 1])] {
        let of = |groups: usize| shape(groups, [inputs, 32 / groups], kernel);
        let dilated = Conv2dShape { dilation: [1, 2], ..of(1) };
        check_packings(
            &[of(1), of(2), dilated, Conv2dShape { stride: [2, 2], ..of(1) }],
            [32, inputs],
            kernel,
        );
    }
    check_packings(&[shape(16, [1, 1], [3, 3]), shape(1, [1, 16], [3, 3])], [16, 1], [3, 3]);
}

/// Packs weights `[outputs, inputs]` with this kernel for each shape, and images of each sign and order.
#[track_caller]
fn check_packings(shapes: &[Conv2dShape], [outputs, inputs]: [usize; 2], taps: [usize; 2]) {
    let count = outputs * inputs * taps[0] * taps[1];
    let weights: Vec<f32> = (0..count).map(|number| (number * 37 % 251) as f32 - 125.0).collect();
    let order = WeightStrides::oihw(inputs, taps);
    let mut all = Vec::new();
    for shape in shapes {
        let dense = ConvStrides::dense(shape);
        let apart = ConvStrides { input: ImageStrides::nchw(shape.input, shape.in_channels), ..dense };
        let signs = [ByteSign::Signed, ByteSign::Unsigned];
        let units = [QuadUnit::Vectors, QuadUnit::Tiles];
        for (strides, image, unit) in [dense, apart]
            .into_iter()
            .flat_map(|strides| signs.map(|image| (strides, image)))
            .flat_map(|(strides, image)| units.map(|unit| (strides, image, unit)))
        {
            let numbers = QuadNumbers { image, ..SIGNED };
            let found = QuadConv2d::on(unit, shape, &strides, &numbers, &[], (Isa::Scalar, 2)).unwrap();
            let mut packed = vec![0.0; found.packed_len()];
            found.pack(&weights, order, &mut packed);
            let bits: Vec<u32> = packed.into_iter().map(f32::to_bits).collect();
            all.push(((found.panels(), found.packing_code()), bits));
        }
    }
    for ((key, bits), (other, other_bits)) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
        // The first and the last panel tell panels apart, as the codes of packings compare them.
        let ends =
            |panels: &Panels| (panels.depth(), panels.count(), panels.get(0), panels.get(panels.count() - 1));
        let is_same = ends(&key.0) == ends(&other.0) && key.1 == other.1;
        assert!(!is_same || bits == other_bits, "{key:?} and {other:?}");
    }
}

/// Weights of named sizes are packed once for all sizes of the image.
#[test]
fn how_tiles_take_weights_does_not_depend_on_the_image() {
    for (channels, kernel) in [8, 20, 44, 68, 100, 260].into_iter().flat_map(|c| [(c, [3, 3]), (c, [1, 7])]) {
        let wide = shape(1, [channels, 40], kernel);
        let mut found = Vec::new();
        for shape in [
            wide,
            Conv2dShape { input: [7, 9], ..wide },
            Conv2dShape { stride: [4, 4], ..wide },
            Conv2dShape { dilation: [2, 2], pads: [3; 4], ..wide },
        ] {
            let numbers = SIGNED;
            let strides = ConvStrides::dense(&shape);
            let tiled =
                QuadConv2d::on(QuadUnit::Tiles, &shape, &strides, &numbers, &[], (Isa::Scalar, 1)).unwrap();
            found.push((tiled.panels().depth(), tiled.packing_code()));
        }
        assert!(found.iter().all(|packing| *packing == found[0]), "{channels} {kernel:?}: {found:?}");
    }
}

#[test]
fn sizes_that_wrap_fit_no_strip() {
    let most = u32::MAX as usize;
    let far =
        Conv2dShape { dilation: [most; 2], pads: [1 << 31; 4], stride: [4, 4], ..shape(2, [4, 4], [2, 2]) };
    let far = Conv2dShape { input: [1, 1], ..far };
    let found = kernel(&far, &ConvStrides::dense(&far), &SIGNED);
    assert_eq!(found.conv.path, Path::Gather);
    let wide = Conv2dShape { stride: [(1 << 30) - 1; 2], pads: [1 << 29; 4], ..shape(2, [4, 4], [2, 2]) };
    let wide = Conv2dShape { input: [2, 2], ..wide };
    let found = kernel(&wide, &ConvStrides::dense(&wide), &SIGNED);
    assert_eq!(found.conv.path, Path::Lanes);
    assert!(found.scratch_bytes() <= found.most_scratch_bytes());
}
