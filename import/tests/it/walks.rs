//! How a test walks over all elements of a tensor.

/// All indices of a shape, the last axis fastest.
pub(crate) fn indices(shape: &[i64]) -> Vec<Vec<i64>> {
    shape.iter().fold(vec![Vec::new()], |all: Vec<Vec<i64>>, size| {
        let longer = |index: &Vec<i64>| (0..*size).map(|at| [&index[..], &[at]].concat()).collect::<Vec<_>>();
        all.iter().flat_map(longer).collect()
    })
}

/// The place of an index among all elements; none if it lies outside.
pub(crate) fn place(shape: &[i64], index: &[i64]) -> Option<usize> {
    let is_inside = index.iter().zip(shape).all(|(at, size)| (0..*size).contains(at));
    is_inside.then(|| index.iter().zip(shape).fold(0, |place, (at, size)| place * size + at) as usize)
}

/// 1, 2, 3, ...: what [`crate::values::compute`] gives an input of this shape.
pub(crate) fn counted(shape: &[i64]) -> Vec<f32> {
    (1..=shape.iter().product::<i64>()).map(|x| x as f32).collect()
}

/// The sizes of a shape, as a program has them.
pub(crate) fn sizes(shape: &[i64]) -> Vec<u64> {
    shape.iter().map(|size| size.unsigned_abs()).collect()
}

/// Numbers between -0.5 and 0.5, no two of up to 41 alike.
pub(crate) fn numbers(seed: usize, count: usize) -> Vec<f64> {
    (0..count).map(|at| ((seed * 17 + at * 37) % 41) as f64 / 40.0 - 0.5).collect()
}
