//! Convolutions of byte images for matrix tiles: the channels of a group are whole quads.
//!
//! Lines of the image are copied to scratch ([`crate::wide_lines`]) as they are, with the zero point in the
//! padding. Tiles multiply so fast that copies of rows would be a large part of the time.

use super::gather::copy_bytes;
use super::pixel_lines::PIXEL;
use super::{QuadConv2d, QuadOperands, SLAB_OF_TILES, SLAB_TAIL, TILE};
use crate::conv::Conv2dShape;
use crate::pixels::Pixel;
use crate::simd::Simd;
use crate::wide_lines::{LineRun, WideLines, WidenedImage};

impl QuadConv2d {
    /// Whether lines of a group's channels are copied. Batch and size do not matter.
    pub(super) fn has_group_lines(&self, shape: &Conv2dShape) -> bool {
        let Conv2dShape { kernel, stride, dilation, .. } = *shape;
        let in_group = self.conv.in_group as usize;
        let touches = kernel[0] >= stride[0] && kernel[1] >= stride[1] && kernel[0] * kernel[1] > 1;
        let is_quads = in_group.is_multiple_of(4) && in_group > PIXEL && self.conv.strides.input.c == 1;
        let columns = (TILE - 1).saturating_mul(stride[1]).saturating_add(kernel[1]);
        let bytes = columns.saturating_mul(in_group).saturating_add(2 * SLAB_TAIL);
        dilation == [1, 1] && touches && is_quads && bytes.saturating_mul(kernel[0]) <= SLAB_OF_TILES
    }
}

/// The channels of a group.
pub(super) struct ByteGroupImage<'c> {
    pub(super) this: &'c QuadConv2d,
    pub(super) images: &'c QuadOperands,
    pub(super) group: usize,
}

impl WidenedImage for ByteGroupImage<'_> {
    #[inline(always)]
    fn lines(&self) -> WideLines<'_> {
        self.this.wide_lines()
    }

    #[inline(always)]
    fn line_bytes(&self) -> usize {
        self.this.line_bytes as usize
    }

    #[inline(always)]
    fn group(&self) -> usize {
        self.group
    }

    #[inline(always)]
    unsafe fn copy_line<S: Simd>(&self, s: S, first: Pixel, count: usize, y: usize, to: *mut u8) {
        let ByteGroupImage { this, images, group } = *self;
        let input = &this.conv.strides.input;
        let pixel = this.conv.in_group as usize;
        let LineRun { before, inside, after, first } = self.lines().run(first, count, y);
        // SAFETY: the caller's promise; pixels inside are of the image. What a copy writes beyond is written
        // after.
        unsafe {
            to.write_bytes(images.zero_byte, before * pixel);
            let to = to.add(before * pixel);
            let from = images.x.wrapping_add(input.offset(first) + group * pixel);
            let step = input.w as usize;
            if step == pixel {
                copy_bytes(s, from, to, inside * pixel);
            } else {
                for index in 0..inside {
                    copy_bytes(s, from.add(index * step), to.add(index * pixel), pixel);
                }
            }
            to.add(inside * pixel).write_bytes(images.zero_byte, after * pixel);
        }
    }
}
