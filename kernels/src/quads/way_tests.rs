//! Which convolutions of bytes are computed in which way?

use super::*;
use crate::conv::ImageStrides;

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
    ] {
        assert_eq!(path(other).0, Path::Gather, "{other:?}");
    }
    assert_eq!(path(shape(1, [4, 32], [1, 1])).0, Path::Direct);
}

/// The same weights may be packed for several convolutions.
#[test]
fn packings_with_other_bytes_have_another_sign_taps_or_panels() {
    let plain = shape(1, [3, 32], [1, 2]);
    let dilated = Conv2dShape { dilation: [1, 2], ..plain };
    let weights: Vec<f32> = (0..192).map(|number| number as f32 - 96.0).collect();
    let order = WeightStrides::oihw(3, [1, 2]);
    let packed = |shape: &Conv2dShape, image: ByteSign| {
        let found = kernel(shape, &ConvStrides::dense(shape), &QuadNumbers { image, ..SIGNED });
        let mut packed = vec![0.0; found.packed_len()];
        found.pack(&weights, order, &mut packed);
        let bits: Vec<u32> = packed.into_iter().map(f32::to_bits).collect();
        ((found.panels(), found.packed_sign(), found.tap_bytes()), bits)
    };
    let all: Vec<_> = [plain, dilated]
        .iter()
        .flat_map(|shape| [ByteSign::Signed, ByteSign::Unsigned].map(|image| packed(shape, image)))
        .collect();
    for ((key, bits), (other_key, other_bits)) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
        assert_eq!(key == other_key, bits == other_bits, "{key:?} and {other_key:?}");
    }
    assert_eq!(all[0].0.0, all[2].0.0, "panels alone do not tell them apart");
}
