//! The loop nest of a pointwise step, and each operand's strides in it.
//!
//! Axes are collapsed if every operand advances along them as along a single one: `[2, 3, 4]` with dense
//! operands is one loop of 24; with a bias of shape `[4]`, the loops are `[6, 4]`. The innermost loop is
//! vectorized.

/// A loop nest over operands; `strides[operand][axis]` in elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LoopNest {
    /// Iterations of each loop, outermost first; at least one loop.
    pub(crate) sizes: Vec<u64>,
    /// For each operand, the distance between successive iterations of each loop, in elements.
    pub(crate) strides: Vec<Vec<i64>>,
}

/// How an operand advances along the innermost loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Inner {
    /// One element each time.
    Contiguous,
    /// Not at all.
    Splat,
    /// By a stride in the descriptor.
    Strided,
}

impl LoopNest {
    /// The fewest loops over `shape` that visit the same elements in the same order.
    ///
    /// `strides[operand]` has an entry for each axis of `shape`, 0 where the operand is broadcast.
    pub(crate) fn collapse(shape: &[u64], strides: &[Vec<i64>]) -> LoopNest {
        let mut nest = LoopNest { sizes: vec![], strides: vec![vec![]; strides.len()] };
        for (axis, &size) in shape.iter().enumerate() {
            if size == 1 {
                continue;
            }
            let merges = nest.sizes.last().is_some()
                && strides
                    .iter()
                    .zip(&nest.strides)
                    .all(|(strides, outer)| outer.last().copied() == strides[axis].checked_mul(size as i64));
            match nest.sizes.last_mut() {
                Some(last) if merges => *last *= size,
                _ => nest.sizes.push(size),
            }
            for (strides, outer) in strides.iter().zip(&mut nest.strides) {
                if merges {
                    outer.pop();
                }
                outer.push(strides[axis]);
            }
        }
        if nest.sizes.is_empty() {
            nest.push_one();
        }
        nest
    }

    /// Adds an innermost loop that runs once.
    pub(crate) fn push_one(&mut self) {
        self.sizes.push(1);
        self.strides.iter_mut().for_each(|strides| strides.push(1));
    }

    /// Adds such a loop unless an operand is contiguous along the innermost one.
    pub(crate) fn end_side_by_side(&mut self, operand: usize) {
        if self.inner(operand) != Inner::Contiguous {
            self.push_one();
        }
    }

    /// Loops around the innermost.
    pub(crate) fn outer(&self) -> usize {
        self.sizes.len() - 1
    }

    /// Iterations of the innermost loop.
    pub(crate) fn inner_size(&self) -> u64 {
        self.sizes[self.outer()]
    }

    /// How often the innermost loop is run.
    pub(crate) fn rows(&self) -> u64 {
        self.sizes[..self.outer()].iter().product()
    }

    /// How an operand advances along the innermost loop.
    pub(crate) fn inner(&self, operand: usize) -> Inner {
        match self.strides[operand][self.outer()] {
            1 => Inner::Contiguous,
            0 => Inner::Splat,
            _ => Inner::Strided,
        }
    }
}

/// The strides of a dense tensor.
pub(crate) fn dense_strides(shape: &[u64]) -> Vec<i64> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis].max(1) as i64;
    }
    strides
}

/// The strides, for each axis of `to`, of a tensor of shape `from` that is broadcast to it as in numpy.
pub(crate) fn broadcast_strides(from: &[u64], strides: &[i64], to: &[u64]) -> Option<Vec<i64>> {
    let missing = to.len().checked_sub(from.len())?;
    let mut result = vec![0; missing];
    for (axis, (&size, &stride)) in from.iter().zip(strides).enumerate() {
        match (size, to[missing + axis]) {
            (1, _) => result.push(0),
            (size, wanted) if size == wanted => result.push(stride),
            _ => return None,
        }
    }
    Some(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(shape: &[u64], operands: &[&[u64]], expected_sizes: &[u64], expected_strides: &[&[i64]]) {
        let strides: Vec<Vec<i64>> = operands
            .iter()
            .map(|from| broadcast_strides(from, &dense_strides(from), shape).unwrap())
            .collect();
        let nest = LoopNest::collapse(shape, &strides);
        assert_eq!(
            (&nest.sizes[..], nest.strides.iter().map(|s| &s[..]).collect::<Vec<_>>()),
            (expected_sizes, expected_strides.to_vec())
        );
    }

    #[test]
    fn dense_operands_make_one_loop() {
        check(&[2, 3, 4], &[&[2, 3, 4], &[2, 3, 4]], &[24], &[&[1], &[1]]);
    }

    #[test]
    fn a_bias_of_channels_last_makes_two() {
        check(&[1, 7, 5, 8], &[&[1, 7, 5, 8], &[8]], &[35, 8], &[&[8, 1], &[0, 1]]);
    }

    #[test]
    fn a_bias_of_channels_first_is_repeated_along_the_inner_loop() {
        check(&[1, 8, 7, 5], &[&[1, 8, 7, 5], &[8, 1, 1]], &[8, 35], &[&[35, 1], &[1, 0]]);
    }

    #[test]
    fn one_element_is_one_iteration() {
        check(&[1, 1], &[&[1, 1], &[]], &[1], &[&[1], &[1]]);
    }

    #[test]
    fn sizes_that_differ_do_not_broadcast() {
        assert_eq!(broadcast_strides(&[3], &[1], &[4]), None);
        assert_eq!(broadcast_strides(&[2, 3], &[3, 1], &[3]), None);
    }
}
