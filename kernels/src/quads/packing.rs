//! How the weights of 8-bit convolutions are packed: in quads, with the sign that products need.

use super::pixel_lines::PIXEL;
use super::{ByteSign, QuadConv2d, QuadWay};
use crate::conv::Path;
use crate::pack::{PANEL, Panel, Panels, WeightStrides};
use std::array::from_fn;

impl QuadConv2d {
    /// How the output channels are cut into panels of packed weights. A row has one quad of each channel; the
    /// last row holds the sum of each channel's weights. The panels of depthwise convolutions are wider than
    /// all others. Their quads are taps of one kernel column, and they have no row of sums. A panel of a
    /// block is as wide as a narrow one of a product.
    pub fn panels(&self) -> Panels {
        match self.way() {
            QuadWay::Channels => self.lane_panels(),
            QuadWay::Groups => self.group_panels(),
            QuadWay::Product => {
                let conv = &self.conv;
                Panels::new(self.quads() + 1, conv.out_group as usize, conv.groups as usize, PANEL)
            }
        }
    }

    /// Elements of the packed weights, of 4 bytes.
    pub fn packed_len(&self) -> usize {
        self.panels().packed_len()
    }

    /// Packs all weights (element (o, i, ky, kx) at the given strides), given as integers before their zero
    /// point is subtracted, into `out` of `packed_len` elements. The bits of an element are a quad, the first
    /// byte lowest, or a sum.
    pub fn pack(&self, weights: &[f32], strides: WeightStrides, out: &mut [f32]) {
        assert_eq!(out.len(), self.packed_len());
        match self.way() {
            QuadWay::Channels => return self.pack_lanes(weights, strides, out),
            QuadWay::Groups => return self.pack_groups(weights, strides, out),
            QuadWay::Product => {}
        }
        let panels = self.panels();
        for panel in (0..panels.count()).map(|index| panels.get(index)) {
            let rows = &mut out[panel.offset..panel.offset + panels.depth() * panel.width];
            let (quads, sums) = rows.split_at_mut(self.quads() * panel.width);
            let mut totals = [0i32; PANEL];
            for (quad, row) in quads.chunks_exact_mut(panel.width).enumerate() {
                self.pack_row(quad, (weights, strides), panel, row, &mut totals);
            }
            for (slot, total) in sums.iter_mut().zip(totals) {
                *slot = f32::from_bits(total as u32);
            }
        }
    }

    /// Packs one quad of each channel of a panel and adds its bytes to the channel's total.
    fn pack_row(
        &self,
        quad: usize,
        (weights, strides): (&[f32], WeightStrides),
        panel: Panel,
        row: &mut [f32],
        totals: &mut [i32; PANEL],
    ) {
        let [kernel_w, in_group] = [self.conv.kernel_w as usize, self.conv.in_group as usize];
        let taps = self.conv.kernel_h as usize * kernel_w;
        let sign = self.packed_sign();
        let flipped = if sign == self.weights { 0 } else { 0x80 };
        let bases: [Option<usize>; 4] = from_fn(|index| {
            let k = 4 * quad + index;
            let (tap, ci) = (k / self.tap_bytes(), k % self.tap_bytes());
            (tap < taps && ci < in_group)
                .then(|| ci * strides.i + tap / kernel_w * strides.h + tap % kernel_w * strides.w)
        });
        for (lane, (slot, total)) in row.iter_mut().zip(totals).enumerate() {
            let bytes = bases.map(|base| match base {
                Some(base) if lane < panel.count => {
                    weights[base + (panel.first + lane) * strides.o] as i32 as u8 ^ flipped
                }
                _ => 0,
            });
            *total += bytes.iter().map(|byte| sign.number(*byte)).sum::<i32>();
            *slot = f32::from_bits(u32::from_le_bytes(bytes));
        }
    }

    /// The sign of packed weights.
    #[inline(always)]
    pub(super) fn packed_sign(&self) -> ByteSign {
        match (self.conv.path, self.image) {
            (Path::Lanes, _) if self.is_depthwise() => self.weights,
            // Images become unsigned as they are copied.
            (Path::Lanes, _) | (_, ByteSign::Unsigned) => ByteSign::Signed,
            _ if self.has_pixel_quads() => ByteSign::Signed,
            (_, ByteSign::Signed) => ByteSign::Unsigned,
        }
    }

    /// What packed bytes depend on beside panels and weights: the way of the computation, the bytes of a tap,
    /// and the sign.
    pub fn packing_code(&self) -> usize {
        let way = match self.way() {
            QuadWay::Channels => 0,
            QuadWay::Groups => 1,
            QuadWay::Product => 2 + self.tap_bytes(),
        };
        2 * way + self.packed_sign() as usize
    }

    /// Bytes of a tap in packed weights of a product.
    #[inline(always)]
    pub(super) fn tap_bytes(&self) -> usize {
        if self.has_pixel_quads() { PIXEL } else { self.conv.in_group as usize }
    }
}
