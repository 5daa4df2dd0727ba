//! The layout of packed weights: panels of 32 output channels. A panel has all of K; each of its rows has one
//! weight of each channel.
//!
//! `packed[panel][k][lane]` is the weight of product k and output channel `panel.first + lane`; lanes past
//! the panel's channels are zero. A group's last panel is 16 wide if 16 suffice. The layout depends only on
//! shapes, not on the instruction set.

/// Output channels of a full panel.
pub(crate) const PANEL: usize = 32;

/// Distances in elements between a convolution's weights along each axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeightStrides {
    /// Between output channels.
    pub o: usize,
    /// Between the input channels of a group.
    pub i: usize,
    /// Between kernel rows.
    pub h: usize,
    /// Between taps of a kernel row.
    pub w: usize,
}

impl WeightStrides {
    /// Dense `[o, i, h, w]`, as ONNX has it; `in_group` is the number of input channels of a group.
    pub fn oihw(in_group: usize, kernel: [usize; 2]) -> WeightStrides {
        let plane = kernel[0] * kernel[1];
        WeightStrides { o: in_group * plane, i: plane, h: kernel[1], w: 1 }
    }
}

/// The panels of a contraction's packed weights; each can be packed on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Panels {
    depth: usize,
    group_channels: usize,
    groups: usize,
    widest: usize,
}

/// One panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Panel {
    /// The group that its channels belong to.
    pub group: usize,
    /// Its first output channel.
    pub first: usize,
    /// Its number of output channels, at most `width`.
    pub count: usize,
    /// Floats of one row.
    pub width: usize,
    /// Its first float in the packed weights.
    pub offset: usize,
}

impl Panels {
    pub(crate) fn new(depth: usize, group_channels: usize, groups: usize, widest: usize) -> Panels {
        Panels { depth, group_channels, groups, widest }
    }

    /// Rows of every panel: the products of one output.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The number of panels.
    pub fn count(&self) -> usize {
        self.groups * self.of_group()
    }

    /// Panels of one group.
    #[inline(always)]
    pub fn of_group(&self) -> usize {
        self.group_channels.div_ceil(self.widest)
    }

    /// Floats of all panels.
    pub fn packed_len(&self) -> usize {
        self.depth * self.group_width() * self.groups
    }

    #[inline(always)]
    fn group_width(&self) -> usize {
        let half = self.widest / 2;
        let rest = self.group_channels % self.widest;
        let narrow = rest > 0 && rest <= half && self.widest == PANEL;
        self.of_group() * self.widest - if narrow { half } else { 0 }
    }

    /// Panel `index`.
    #[inline(always)]
    pub fn get(&self, index: usize) -> Panel {
        let (group, within) = (index / self.of_group(), index % self.of_group());
        let start = within * self.widest;
        let width = self.widest.min(self.group_width() - start);
        Panel {
            group,
            first: group * self.group_channels + start,
            count: width.min(self.group_channels - start),
            width,
            offset: self.depth * (group * self.group_width() + start),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panels_cover_every_channel_once_and_follow_each_other() {
        for (channels, groups, widest) in
            [(1, 1, 32), (16, 1, 32), (17, 3, 32), (33, 2, 32), (96, 1, 32), (40, 1, 16)]
        {
            let panels = Panels::new(5, channels, groups, widest);
            let (mut channel, mut offset) = (0, 0);
            for panel in (0..panels.count()).map(|index| panels.get(index)) {
                assert_eq!((panel.first, panel.offset, panel.group), (channel, offset, channel / channels));
                assert!(panel.count <= panel.width && panel.width < panel.count + 16);
                channel += panel.count;
                offset += panel.width * 5;
            }
            assert_eq!((channel, offset), (channels * groups, panels.packed_len()));
        }
    }
}
