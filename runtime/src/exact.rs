//! Data-dependent outputs: their size along an axis is known only after a run.
//!
//! The buffer of such an output has room for the greatest size. After a run its elements come first, without
//! gaps; the rest of the buffer is arbitrary. The number of slices is another output of the program, a 64-bit
//! integer.
//!
//! ```text
//! bound [2, 3], 2 slices along axis 1:   a b . c d .   =>   a b c d | garbage,   shape [2, 2]
//! ```

use crate::tensor::TensorDesc;

/// An output whose size along one axis is only known after a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenOutput {
    /// The output's number.
    pub output: usize,
    /// The number of axes.
    pub rank: usize,
    /// The axis.
    pub axis: usize,
    /// The number of the output that holds the size.
    pub count: usize,
}

impl OpenOutput {
    /// The number of slices, from the bytes of the output with the size.
    pub fn slices(count: &[u8]) -> u64 {
        let count = count.first_chunk().map_or(0, |bytes| i64::from_le_bytes(*bytes));
        u64::try_from(count).unwrap_or(0)
    }
}

/// The shapes of such outputs in a context's last run.
#[derive(Debug)]
pub(crate) struct Exact {
    /// In the order of the program's open outputs: of full rank after a run, empty before it.
    shapes: Vec<Vec<u64>>,
}

impl Exact {
    /// Storage for the shapes of these outputs.
    pub(crate) fn new(open: &[OpenOutput]) -> Exact {
        Exact { shapes: open.iter().map(|open| Vec::with_capacity(open.rank)).collect() }
    }

    /// Clears the shapes of the last run.
    pub(crate) fn forget(&mut self) {
        self.shapes.iter_mut().for_each(Vec::clear);
    }

    /// Compacts the outputs of a run; every output of the program has a descriptor and a buffer of its size.
    /// Allocates nothing.
    pub(crate) fn cut(&mut self, open: &[OpenOutput], descs: &[TensorDesc], outputs: &mut [&mut [u8]]) {
        for (OpenOutput { output, axis, count, .. }, shape) in open.iter().zip(&mut self.shapes) {
            let count = OpenOutput::slices(&*outputs[*count]);
            shape.clear();
            shape.extend_from_slice(&descs[*output].shape);
            cut(outputs[*output], shape, *axis, count);
        }
    }

    /// The shape of such an output in the last run; none for other outputs, or before a run.
    pub(crate) fn shape(&self, open: &[OpenOutput], output: usize) -> Option<&[u64]> {
        let index = open.iter().position(|open| open.output == output)?;
        Some(&self.shapes[index][..]).filter(|shape| shape.len() == open[index].rank)
    }
}

/// Moves the first `count` slices of a tensor along an axis together, and sets this size in its shape.
/// Returns the number of bytes of the result.
///
/// # Panics
/// If there is no such axis.
pub fn cut(bytes: &mut [u8], shape: &mut [u64], axis: usize, count: u64) -> usize {
    let size = shape[axis] as usize;
    let outer: usize = shape[..axis].iter().map(|size| *size as usize).product();
    let slice = bytes.len().checked_div(outer * size).unwrap_or(0);
    let count = (count as usize).min(size);
    for number in 0..if count == size { 0 } else { outer } {
        let from = number * size * slice;
        bytes.copy_within(from..from + count * slice, number * count * slice);
    }
    shape[axis] = count as u64;
    outer * count * slice
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_behind_the_count_is_no_element() {
        for (count, expected) in
            [(0, &[][..]), (2, &[1, 2, 4, 5]), (3, &[1, 2, 3, 4, 5, 6]), (9, &[1, 2, 3, 4, 5, 6])]
        {
            let (mut bytes, mut shape) = ([1, 2, 3, 4, 5, 6], [2, 3, 1]);
            let left = cut(&mut bytes, &mut shape, 1, count);
            assert_eq!((&bytes[..left], shape), (expected, [2, count.min(3), 1]));
        }
        assert_eq!(cut(&mut [], &mut [0, 3], 1, 2), 0);
    }

    #[test]
    fn shapes_are_known_behind_a_run_only() {
        let open = [OpenOutput { output: 1, rank: 2, axis: 0, count: 0 }];
        let mut exact = Exact::new(&open);
        assert_eq!(exact.shape(&open, 1), None);
        let desc = |shape: &[u64]| TensorDesc::new("y", crate::ElementKind::U8, shape.to_vec(), 0);
        let (mut count, mut bytes) = (2i64.to_le_bytes(), [1, 2, 3]);
        exact.cut(&open, &[desc(&[]), desc(&[3, 1])], &mut [&mut count, &mut bytes]);
        assert_eq!((exact.shape(&open, 1), exact.shape(&open, 0)), (Some(&[2, 1][..]), None));
        exact.forget();
        assert_eq!(exact.shape(&open, 1), None);
    }
}
