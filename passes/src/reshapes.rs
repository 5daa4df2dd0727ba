//! Which reshapes may stand before a transpose, and how.
//!
//! ```text
//! %1 = nn.transpose %0 [0, 2, 1]       : [1, 3136, 256] to [1, 256, 3136]
//! %2 = nn.reshape %1                   : to [1, 256, 56, 56]
//!   =>
//! %1 = nn.reshape %0                   : [1, 3136, 256] to [1, 56, 56, 256]
//! %2 = nn.transpose %1 [0, 3, 1, 2]    : to [1, 256, 56, 56]
//! ```
//!
//! A reshape makes each group of adjacent axes into a group of adjacent axes of equally many elements. It may
//! stand before a transpose if the transpose keeps the axes of each group together and in order; then the
//! transpose moves groups. Axes of one element are in no group: they may stand anywhere.

use std::ops::Range;

use ir::dims::SizeArithmetic;
use ir::{Context, Dim};

/// A shape and a permutation for which `transpose(reshape(x))` equals the reshape to `to` of a transposed `x`
/// of shape `from`; none if the reshape cannot stand before the transpose. Axes of size 1 at the beginning of
/// `to` come first, those at its end after the axis that they follow, and others before the one they precede.
pub(crate) fn raised(
    ctx: &Context,
    from: &[Dim],
    permutation: &[usize],
    to: &[Dim],
) -> Option<(Vec<Dim>, Vec<usize>)> {
    let is_one = |size: &Dim| *size == Dim::Known(1);
    // The transposed axes of other sizes, by their axes of `from`.
    let moved: Vec<usize> = permutation.iter().copied().filter(|axis| !is_one(&from[*axis])).collect();
    let read: Vec<Dim> = moved.iter().map(|axis| from[*axis]).collect();
    let made: Vec<Dim> = to.iter().copied().filter(|size| !is_one(size)).collect();
    // For each axis of `made`, the first axis of `from` in its group.
    let mut first_axes = Vec::new();
    for (read, made) in groups(ctx, &read, &made)? {
        let axes = &moved[read];
        let is_kept =
            axes.windows(2).all(|pair| pair[0] < pair[1] && from[pair[0] + 1..pair[1]].iter().all(is_one));
        first_axes.extend(is_kept.then(|| made.map(|_| axes[0]))?);
    }
    let first = to.iter().position(|size| !is_one(size)).unwrap_or(to.len());
    // For each axis of `to`, from the last one, the axis of `from` at which it stands.
    let mut next = first_axes.last().copied().unwrap_or(from.len());
    let mut places = Vec::new();
    for (axis, size) in to.iter().enumerate().rev() {
        if !is_one(size) {
            next = first_axes.pop().expect("an axis for each of another size");
        }
        places.push((axis >= first, next));
    }
    places.reverse();
    let mut axes: Vec<usize> = (0..to.len()).collect();
    axes.sort_by_key(|axis| places[*axis]);
    Some((axes.iter().map(|axis| to[*axis]).collect(), crate::edit::inverse(&axes)))
}

/// The smallest groups of adjacent axes of two shapes that have equally many elements for all sizes. None if
/// some axes are left over.
fn groups(ctx: &Context, a: &[Dim], b: &[Dim]) -> Option<Vec<(Range<usize>, Range<usize>)>> {
    let sizes = SizeArithmetic(ctx);
    let mut groups = Vec::new();
    let mut at = [0, 0];
    while at != [a.len(), b.len()] {
        let [rest_a, rest_b] = [&a[at[0]..], &b[at[1]..]];
        let is_group = |(i, j): &(usize, usize)| {
            sizes.are_equal(sizes.product(&rest_a[..*i]), sizes.product(&rest_b[..*j]))
        };
        let lengths =
            (2..=rest_a.len() + rest_b.len()).flat_map(|both| (1..both).map(move |i| (i, both - i)));
        let mut lengths = lengths.filter(|(i, j)| *i <= rest_a.len() && *j <= rest_b.len());
        let (i, j) = lengths.find(is_group)?;
        groups.push((at[0]..at[0] + i, at[1]..at[1] + j));
        at = [at[0] + i, at[1] + j];
    }
    Some(groups)
}

#[cfg(test)]
mod tests {
    use ir::{Context, Dim};

    use super::raised;
    use crate::place::random::Random;

    /// The elements of a tensor in row-major order with its axes permuted.
    fn transposed(shape: &[u64], elements: &[u64], permutation: &[usize]) -> Vec<u64> {
        let moved: Vec<u64> = permutation.iter().map(|axis| shape[*axis]).collect();
        (0..elements.len() as u64)
            .map(|place| {
                let mut rest = place;
                let mut index = vec![0; shape.len()];
                for (axis, size) in moved.iter().enumerate().rev() {
                    index[permutation[axis]] = rest % size;
                    rest /= size;
                }
                let place = index.iter().zip(shape).fold(0, |place, (at, size)| place * size + at);
                elements[place as usize]
            })
            .collect()
    }

    fn shape_of(random: &mut Random, elements: u64) -> Vec<u64> {
        let mut shape = vec![elements];
        for _ in 0..random.range(0, 5) {
            let axis = random.range(0, shape.len() as u64 - 1) as usize;
            let by = random.range(1, 4);
            if shape[axis] % by == 0 {
                shape[axis] /= by;
                shape.insert(axis, by);
            }
        }
        shape
    }

    #[test]
    fn a_reshape_before_a_transpose_gives_the_same_elements() {
        let ctx = Context::new();
        let known = |shape: &[u64]| -> Vec<Dim> { shape.iter().map(|size| Dim::Known(*size)).collect() };
        let mut count = 0;
        for seed in 0..20_000 {
            let mut random = Random(seed + 1);
            let from = shape_of(&mut random, 72);
            let to = shape_of(&mut random, 72);
            let mut permutation: Vec<usize> = (0..from.len()).collect();
            for axis in 0..from.len() {
                permutation.swap(axis, random.range(0, axis as u64) as usize);
            }
            let Some((sizes, order)) = raised(&ctx, &known(&from), &permutation, &known(&to)) else {
                continue;
            };
            count += 1;
            let sizes: Vec<u64> = sizes.iter().map(|size| size.known().expect("a number")).collect();
            let elements: Vec<u64> = (0..72).collect();
            let expected = transposed(&from, &elements, &permutation);
            assert_eq!(transposed(&sizes, &elements, &order), expected, "{from:?} {permutation:?} to {to:?}");
            let moved: Vec<u64> = order.iter().map(|axis| sizes[*axis]).collect();
            assert_eq!(moved, to, "{from:?} {permutation:?}");
        }
        assert!(count > 2_000, "{count} of 20,000 reshapes stand before a transpose");
    }
}
