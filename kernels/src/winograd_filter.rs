//! The filters for which there is an algorithm of Winograd's.

use crate::conv::Conv2dShape;

/// A filter for which there is an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub(crate) enum WinogradFilter {
    Square2,
    Square3,
    Square5,
    Row2,
    Row3,
    Row5,
    Row7,
    Column2,
    Column3,
    Column5,
    Column7,
}

impl WinogradFilter {
    const ALL: [WinogradFilter; 11] = [
        WinogradFilter::Square2,
        WinogradFilter::Square3,
        WinogradFilter::Square5,
        WinogradFilter::Row2,
        WinogradFilter::Row3,
        WinogradFilter::Row5,
        WinogradFilter::Row7,
        WinogradFilter::Column2,
        WinogradFilter::Column3,
        WinogradFilter::Column5,
        WinogradFilter::Column7,
    ];

    /// The filter of a convolution, if there is an algorithm for it.
    pub(crate) fn of(shape: &Conv2dShape) -> Option<WinogradFilter> {
        let Conv2dShape { kernel, stride, groups, in_channels, .. } = *shape;
        let is_fit = groups == 1 || groups > 0 && in_channels.is_multiple_of(16 * groups);
        let filter = WinogradFilter::ALL.into_iter().find(|filter| filter.kernel() == kernel);
        filter.filter(|_| stride == [1; 2] && is_fit)
    }

    /// Its height and width.
    pub(crate) fn kernel(self) -> [usize; 2] {
        match self {
            WinogradFilter::Square2 => [2, 2],
            WinogradFilter::Square3 => [3, 3],
            WinogradFilter::Square5 => [5, 5],
            WinogradFilter::Row2 => [1, 2],
            WinogradFilter::Row3 => [1, 3],
            WinogradFilter::Row5 => [1, 5],
            WinogradFilter::Row7 => [1, 7],
            WinogradFilter::Column2 => [2, 1],
            WinogradFilter::Column3 => [3, 1],
            WinogradFilter::Column5 => [5, 1],
            WinogradFilter::Column7 => [7, 1],
        }
    }

    /// Its taps.
    pub(crate) fn taps(self) -> usize {
        self.kernel().into_iter().product()
    }

    /// The height and width of a tile.
    pub(crate) fn tile(self) -> [usize; 2] {
        self.kernel().map(|taps| match taps {
            1 => 1,
            2 => 3,
            5 => 2,
            _ => 4,
        })
    }

    /// The distances between taps: 1 along a side with one tap.
    pub(crate) fn dilation(self, shape: &Conv2dShape) -> [usize; 2] {
        let kernel = self.kernel();
        [0, 1].map(|side| if kernel[side] == 1 { 1 } else { shape.dilation[side] })
    }

    /// The height and width of the pixels that a tile reads.
    pub(crate) fn read(self) -> [usize; 2] {
        let [kernel, tile] = [self.kernel(), self.tile()];
        [0, 1].map(|side| kernel[side] + tile[side] - 1)
    }

    /// The products of a tile for each pair of input and output channels.
    pub(crate) fn points(self) -> usize {
        self.read().into_iter().product()
    }

    /// The cycles of its transforms.
    pub(crate) fn costs(self) -> TransformCosts {
        match self {
            WinogradFilter::Square2 => TransformCosts { filter: 90.0, read: 130.0, write: 180.0 },
            WinogradFilter::Square3 => TransformCosts { filter: 200.0, read: 300.0, write: 400.0 },
            WinogradFilter::Square5 => TransformCosts { filter: 400.0, read: 300.0, write: 400.0 },
            WinogradFilter::Row2 | WinogradFilter::Column2 => {
                TransformCosts { filter: 25.0, read: 40.0, write: 70.0 }
            }
            WinogradFilter::Row3 | WinogradFilter::Column3 => {
                TransformCosts { filter: 40.0, read: 60.0, write: 100.0 }
            }
            WinogradFilter::Row5 | WinogradFilter::Column5 => {
                TransformCosts { filter: 50.0, read: 60.0, write: 60.0 }
            }
            WinogradFilter::Row7 | WinogradFilter::Column7 => {
                TransformCosts { filter: 80.0, read: 120.0, write: 150.0 }
            }
        }
    }
}

/// Approximate cycles of the transforms: fitted like the costs of `winograd.rs` for 3x3, estimated from
/// operation counts for the others.
pub(crate) struct TransformCosts {
    /// Of 16 filters.
    pub(crate) filter: f64,
    /// Of reading 16 channels of a tile.
    pub(crate) read: f64,
    /// Of writing 16 channels of a tile.
    pub(crate) write: f64,
}
