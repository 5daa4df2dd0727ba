//! Tests of the choice between Winograd's algorithm and the usual kernel.

use super::*;

const SHAPE: Conv2dShape = Conv2dShape {
    batch: 2,
    input: [40, 50],
    in_channels: 64,
    out_channels: 3,
    kernel: [3, 3],
    stride: [1; 2],
    dilation: [1; 2],
    pads: [1; 4],
    groups: 1,
};

fn winograd(shape: &Conv2dShape) -> Winograd {
    Winograd::new(shape, &ConvStrides::dense(shape), Activation::None, Isa::detect()).unwrap()
}

#[test]
fn it_computes_the_shape_that_it_was_made_for() {
    for shape in [
        SHAPE,
        Conv2dShape { dilation: [3, 2], pads: [4, 3, 2, 1], ..SHAPE },
        Conv2dShape { kernel: [1, 7], dilation: [1, 2], pads: [0, 5, 2, 0], ..SHAPE },
        Conv2dShape { kernel: [2, 1], dilation: [4, 1], pads: [0, 1, 7, 0], ..SHAPE },
        Conv2dShape { groups: 4, out_channels: 12, pads: [0; 4], ..SHAPE },
    ] {
        assert_eq!(winograd(&shape).shape(), shape);
    }
}

#[test]
fn it_is_compared_with_vectors_of_pixels_where_these_are_used() {
    let speedup = |shape: Conv2dShape| winograd(&shape).speedup();
    // Three outputs fill no vector, but pixels do.
    assert!(speedup(SHAPE) < 0.8, "{}", speedup(SHAPE));
    assert!(speedup(Conv2dShape { out_channels: 64, ..SHAPE }) > 2.0);
    // Here lines are not transposed: nine outputs, and a line that is shorter than a vector.
    assert!(speedup(Conv2dShape { out_channels: 9, ..SHAPE }) > 1.5);
    assert!(speedup(Conv2dShape { input: [100, 15], ..SHAPE }) > 1.5);
}
