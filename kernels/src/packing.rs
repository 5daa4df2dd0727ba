//! Packing of `f32` weights into panels.

use std::ops::Range;

use crate::conv::Conv2d;
use crate::pack::{PANEL, Panels, WeightStrides};

/// Elements of a row that are packed before those of the next: a cache line.
const LINE: usize = 16;

impl Conv2d {
    /// Packs all weights (element (o, i, ky, kx) at the given strides) into `out`, which has `packed_len`
    /// elements and should be aligned to 64 bytes. Panels are independent: see [`Conv2d::pack_panel`].
    pub fn pack(&self, weights: &[f32], strides: WeightStrides, out: &mut [f32]) {
        assert_eq!(out.len(), self.packed_len());
        let panels = self.panels();
        if let Some(matrix) = self.row_packing(strides) {
            out[panels.get(panels.count() - 1).offset..].fill(0.0);
            return matrix.pack(0..matrix.rows, weights, out);
        }
        for index in 0..panels.count() {
            let panel = panels.get(index);
            let range = panel.offset..panel.offset + panels.depth() * panel.width;
            self.pack_panel(index, weights, strides, &mut out[range]);
        }
    }

    /// Packs panel `index` into its part of the packed weights: `panels().get(index)` tells the offset, and
    /// its length is width times depth.
    pub fn pack_panel(&self, index: usize, weights: &[f32], strides: WeightStrides, out: &mut [f32]) {
        let panel = self.panels().get(index);
        let (kernel_w, in_group) = (self.kernel_w as usize, self.in_group as usize);
        assert_eq!(out.len(), self.depth() * panel.width);
        for (k, row) in out.chunks_exact_mut(panel.width).enumerate() {
            let (tap, ci) = (k / in_group, k % in_group);
            let base = ci * strides.i + tap / kernel_w * strides.h + tap % kernel_w * strides.w;
            for (lane, slot) in row.iter_mut().enumerate() {
                let channel = panel.first + lane;
                *slot = if lane < panel.count { weights[base + channel * strides.o] } else { 0.0 };
            }
        }
    }

    /// How weights at these strides are packed row by row, if they are a matrix of rows that follow each
    /// other.
    pub fn row_packing(&self, strides: WeightStrides) -> Option<RowPacking> {
        let [inputs, outputs] = [self.in_group, self.out_group].map(|count| count as usize);
        if self.groups * self.kernel_h * self.kernel_w != 1 || inputs * outputs == 0 {
            return None;
        }
        let (axis, rows, row_len) = match (strides.o, strides.i) {
            (1, step) if step == outputs => (RowAxis::Inputs, inputs, outputs),
            (step, 1) if step == inputs => (RowAxis::Outputs, outputs, inputs),
            _ => return None,
        };
        Some(RowPacking { panels: self.panels(), axis, rows, row_len })
    }
}

/// What the rows of a matrix of weights are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowAxis {
    /// The weights of one input.
    Inputs,
    /// The weights of one output.
    Outputs,
}

/// The packing of a matrix of weights, of which some rows may be given at a time.
#[derive(Clone, Copy, Debug)]
pub struct RowPacking {
    panels: Panels,
    axis: RowAxis,
    rows: usize,
    row_len: usize,
}

impl RowPacking {
    /// Rows that are packed together in the least time, and any multiple of them.
    pub const TOGETHER: usize = PANEL;

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Elements of a row.
    pub fn row_len(&self) -> usize {
        self.row_len
    }

    /// Packs some rows of the matrix, with their elements in `part`, into their places in the packed weights,
    /// which stay as they are elsewhere. (Places of a panel beyond the last output hold zeros.)
    ///
    /// # Panics
    /// If there are fewer elements or rows.
    pub fn pack(&self, rows: Range<usize>, part: &[f32], out: &mut [f32]) {
        assert!(rows.end <= self.rows && rows.len() * self.row_len <= part.len());
        match self.axis {
            RowAxis::Inputs => self.pack_inputs(rows, part, out),
            RowAxis::Outputs => self.pack_outputs(rows, part, out),
        }
    }

    fn pack_inputs(&self, rows: Range<usize>, part: &[f32], out: &mut [f32]) {
        for panel in (0..self.panels.count()).map(|index| self.panels.get(index)) {
            for (row, elements) in rows.clone().zip(part.chunks_exact(self.row_len)) {
                let to = panel.offset + row * panel.width;
                out[to..to + panel.count].copy_from_slice(&elements[panel.first..panel.first + panel.count]);
            }
        }
    }

    fn pack_outputs(&self, rows: Range<usize>, part: &[f32], out: &mut [f32]) {
        let mut first = rows.start;
        while first < rows.end {
            let panel = self.panels.get(first / PANEL);
            let end = rows.end.min(panel.first + panel.count);
            for k in (0..self.row_len).step_by(LINE) {
                let line = k..self.row_len.min(k + LINE);
                for output in first..end {
                    let row = &part[(output - rows.start) * self.row_len..];
                    let to = &mut out[panel.offset + line.start * panel.width + output - panel.first..];
                    for (slot, element) in to.iter_mut().step_by(panel.width).zip(&row[line.clone()]) {
                        *slot = *element;
                    }
                }
            }
            first = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Isa;
    use crate::{Activation, Gemm, GemmShape};

    #[test]
    fn rows_are_packed_as_panels_are_however_they_are_cut() {
        for (k, n) in [(1, 1), (1, 40), (5, 16), (7, 33), (40, 1), (33, 97), (17, 64)] {
            let shape = GemmShape::dense(3, n, k);
            let product = Gemm::new(&shape, Activation::None, Isa::detect(), 1).as_convolution();
            let matrix: Vec<f32> = (0..k * n).map(|at| at as f32 + 1.0).collect();
            for (o, i) in [(1, n), (k, 1)] {
                let strides = WeightStrides { o, i, h: 0, w: 0 };
                let mut expected = vec![f32::NAN; product.packed_len()];
                for panel in 0..product.panels().count() {
                    let at = product.panels().get(panel);
                    let range = at.offset..at.offset + k * at.width;
                    product.pack_panel(panel, &matrix, strides, &mut expected[range]);
                }
                let mut whole = vec![f32::NAN; product.packed_len()];
                product.pack(&matrix, strides, &mut whole);
                assert_eq!(whole, expected, "{k} x {n}, {strides:?}");
                let packing = product.row_packing(strides).expect("it is a matrix");
                for step in [1, 3, 32, 64] {
                    let mut found = vec![0.0; product.packed_len()];
                    for first in (0..packing.rows()).step_by(step) {
                        let rows = first..packing.rows().min(first + step);
                        packing.pack(rows, &matrix[first * packing.row_len()..], &mut found);
                    }
                    assert_eq!(found, expected, "{k} x {n}, {strides:?}, {step} at once");
                }
            }
        }
    }

    #[test]
    fn what_is_no_matrix_of_rows_is_not_packed_by_rows() {
        let shape = GemmShape::dense(3, 6, 4);
        let product = Gemm::new(&shape, Activation::None, Isa::detect(), 1).as_convolution();
        for (o, i) in [(1, 7), (2, 12), (5, 1), (0, 1)] {
            assert!(product.row_packing(WeightStrides { o, i, h: 0, w: 0 }).is_none(), "{o}, {i}");
        }
    }
}
