//! Argsort against a stable sort that compares the elements.

use std::fmt::Debug;

use kernels::{ArgSort, Direction, Isa, Kernel, NumberType};

use crate::common::{or_few, run};

/// Sorts one line with each instruction set, in both directions.
fn check<T: PartialOrd + Copy + Debug>(number: NumberType, elements: &[T]) {
    let is_nan = |x: &T| x.partial_cmp(x).is_none();
    let order = |a: &T, b: &T| a.partial_cmp(b).unwrap_or_else(|| is_nan(a).cmp(&is_nan(b)));
    for isa in Isa::available() {
        for direction in [Direction::Forward, Direction::Backward] {
            let kernel = ArgSort::new([1, elements.len(), 1], number, direction, isa, 1);
            assert_eq!(kernel.scratch_bytes(), 8 * elements.len(), "an index for each element");
            let mut found = vec![0_i64; elements.len()];
            let mut given = elements.to_vec();
            run(&kernel, &[found.as_mut_ptr().cast(), given.as_mut_ptr().cast()]);
            let mut expected: Vec<i64> = (0..elements.len() as i64).collect();
            expected.sort_by(|a, b| {
                let order = order(&elements[*a as usize], &elements[*b as usize]);
                if direction == Direction::Forward { order } else { order.reverse() }
            });
            assert_eq!(found, expected, "{number:?} {direction:?} {isa:?} {elements:?}");
        }
    }
}

/// Lines with every pair of elements as neighbours, and with all of them repeated many times.
macro_rules! checked {
    ($($number:ident $ty:ty: $($element:expr),+;)+) => {$({
        let some: &[$ty] = &[$($element),+];
        for a in some.iter().step_by(or_few(1, 4)) {
            some.iter().step_by(or_few(1, 2)).for_each(|b| check(NumberType::$number, &[*a, *b]));
        }
        let many: Vec<$ty> = (0..or_few(300, 30)).map(|at| some[at * at * 7 % 311 % some.len()]).collect();
        check(NumberType::$number, &many);
    })+};
}

#[test]
fn elements_of_each_type_are_sorted_as_they_compare() {
    checked! {
        F32 f32: 0.0, -0.0, 1.0, -1.0, 1e-45, -1e-45, f32::MAX, f32::MIN, f32::INFINITY, f32::NEG_INFINITY,
            f32::NAN, -f32::NAN;
        F64 f64: 0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, f64::MAX, f64::MIN, f64::INFINITY, f64::NEG_INFINITY,
            f64::NAN, -f64::NAN;
        I8 i8: 0, 1, -1, i8::MIN, i8::MAX;
        I16 i16: 0, 1, -1, i16::MIN, i16::MAX, 300;
        I32 i32: 0, 1, -1, i32::MIN, i32::MAX, 70_000;
        I64 i64: 0, 1, -1, i64::MIN, i64::MAX, 1 << 40;
        U8 u8: 0, 1, 127, 128, u8::MAX;
        U16 u16: 0, 1, 300, u16::MAX;
        U32 u32: 0, 1, 70_000, 1 << 31, u32::MAX;
        U64 u64: 0, 1, 1 << 40, 1 << 63, u64::MAX;
    }
}
