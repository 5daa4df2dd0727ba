//! Vector functions on strips of memory, called by generated code between its own loops.

use std::marker::PhantomData;

use crate::map::{MapBody, ScalarFunction};
use crate::simd::{Avx2, Avx512, Portable, Simd, Task};

/// `to[i] = function(from[i], with[i])` for `n` elements; a call costs about a nanosecond. A function of one
/// number does not read `with`.
///
/// # Safety
/// `from` and `with` are valid for reads and `to` for writes of `n` floats. Each of `from` and `with` is `to`
/// or does not overlap it.
pub type StripFn = unsafe extern "C" fn(to: *mut f32, from: *const f32, with: *const f32, n: u64);

/// A function fixed at compile time.
trait Fixed {
    const FUNCTION: ScalarFunction;
}

/// A strip waiting to be mapped with some instruction set.
struct MapStrip<F> {
    to: *mut f32,
    from: *const f32,
    n: usize,
    function: PhantomData<F>,
}

impl<S: Simd, F: Fixed> Task<S> for MapStrip<F> {
    #[inline(always)]
    unsafe fn run(self, s: S) {
        // SAFETY: passed on from `enter`.
        unsafe { MapBody { code: F::FUNCTION.into(), from: self.from, to: self.to, n: self.n }.run(s) }
    }
}

unsafe extern "C" fn enter<F: Fixed, S: Simd>(to: *mut f32, from: *const f32, _with: *const f32, n: u64) {
    // SAFETY: `StripFn`'s contract, and `entry` was asked for an instruction set that exists.
    unsafe { S::vectorize(MapStrip::<F> { to, from, n: n as usize, function: PhantomData }) }
}

const fn entries<F: Fixed>() -> [StripFn; 3] {
    [enter::<F, Portable>, enter::<F, Avx2>, enter::<F, Avx512>]
}

macro_rules! strips {
    ($($name:ident)*) => {
        $(struct $name;
        impl Fixed for $name {
            const FUNCTION: ScalarFunction = ScalarFunction::$name;
        })*

        /// The vector forms of a function without parameters, for each of [`crate::Isa::PATHS`].
        pub(crate) const fn strip_functions(function: ScalarFunction) -> [StripFn; 3] {
            match function {
                $(ScalarFunction::$name => entries::<$name>(),)*
                _ => panic!("a function that takes only a few instructions has no vector form"),
            }
        }
    };
}

strips! { Exp Log Tanh Erf Sigmoid Gelu GeluTanh }

/// A function of one or two numbers without branches, so that the compiler can vectorize it.
pub(crate) trait Formula {
    /// How many numbers it takes; if one, `y` may be anything.
    const NUMBERS: usize = 1;

    /// The function at `x` and `y`.
    fn value(x: f32, y: f32) -> f32;

    /// The function on its usual range; only this form becomes vector code.
    fn usual(x: f32, y: f32) -> f32 {
        Self::value(x, y)
    }

    /// Whether `usual` equals the function at `x` and `y`.
    fn is_usual(_x: f32, _y: f32) -> bool {
        true
    }
}

/// A strip waiting to be mapped by a formula.
struct FormulaStrip<F> {
    to: *mut f32,
    from: *const f32,
    with: *const f32,
    n: usize,
    formula: PhantomData<F>,
}

/// Elements of a chunk, which is copied to local arrays, since `from`, `with` and `to` may be the same
/// memory.
const CHUNK: usize = 64;

impl<S: Simd, F: Formula> Task<S> for FormulaStrip<F> {
    #[inline(always)]
    unsafe fn run(self, _: S) {
        let mut x = [0.0; CHUNK];
        let mut y = [0.0; CHUNK];
        let mut values = [0.0; CHUNK];
        for first in (0..self.n).step_by(CHUNK) {
            let count = CHUNK.min(self.n - first);
            // SAFETY: passed on from `enter_formula`.
            unsafe { copy(self.from.wrapping_add(first), x.as_mut_ptr(), count) };
            if F::NUMBERS == 2 {
                // SAFETY: passed on from `enter_formula`.
                unsafe { copy(self.with.wrapping_add(first), y.as_mut_ptr(), count) };
            }
            let pairs = || x.iter().zip(&y).map(|(x, y)| (*x, *y));
            if pairs().fold(true, |all, (x, y)| all & F::is_usual(x, y)) {
                values.iter_mut().zip(pairs()).for_each(|(value, (x, y))| *value = F::usual(x, y));
            } else {
                values.iter_mut().zip(pairs()).for_each(|(value, (x, y))| *value = F::value(x, y));
            }
            // SAFETY: passed on from `enter_formula`.
            unsafe { copy(values.as_ptr(), self.to.wrapping_add(first), count) };
        }
    }
}

/// Copies `count` floats at any alignment.
///
/// # Safety
/// `from` is valid for reads and `to` for writes of them, and they do not overlap.
#[inline(always)]
unsafe fn copy(from: *const f32, to: *mut f32, count: usize) {
    // SAFETY: the caller's promise.
    unsafe { std::ptr::copy_nonoverlapping(from.cast::<u8>(), to.cast::<u8>(), count * size_of::<f32>()) }
}

unsafe extern "C" fn enter_formula<F: Formula, S: Simd>(
    to: *mut f32,
    from: *const f32,
    with: *const f32,
    n: u64,
) {
    // SAFETY: `StripFn`'s contract, and `formula_function` was asked for an instruction set that exists.
    unsafe { S::vectorize(FormulaStrip::<F> { to, from, with, n: n as usize, formula: PhantomData }) }
}

/// A formula on strips, for each of [`crate::Isa::PATHS`].
pub(crate) const fn formula_functions<F: Formula>() -> [StripFn; 3] {
    [enter_formula::<F, Portable>, enter_formula::<F, Avx2>, enter_formula::<F, Avx512>]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Isa;

    #[test]
    fn a_strip_gets_the_functions_bits_and_nothing_behind_it_changes() {
        let x: Vec<f32> = (0..37).map(|i| i as f32 * 0.3 - 5.0).collect();
        for isa in Isa::available() {
            let mut y = vec![7.0; 40];
            let exp = strip_functions(ScalarFunction::Exp)[isa.path()];
            // SAFETY: 37 elements on both sides.
            unsafe { exp(y.as_mut_ptr(), x.as_ptr(), x.as_ptr(), 37) };
            let expected: Vec<f32> = x.iter().map(|x| ScalarFunction::Exp.apply(*x)).collect();
            assert_eq!((&y[..37], &y[37..]), (&expected[..], &[7.0; 3][..]), "{isa:?}");
        }
    }

    /// A root, with a formula that is wrong below zero.
    struct Root;

    impl Formula for Root {
        fn value(x: f32, _: f32) -> f32 {
            if x < 0.0 { -(-x).sqrt() } else { x.sqrt() }
        }

        fn usual(x: f32, _: f32) -> f32 {
            x.sqrt()
        }

        fn is_usual(x: f32, _: f32) -> bool {
            x >= 0.0
        }
    }

    /// A quotient, with a formula that is wrong for divisors that are not above zero.
    struct Quotient;

    impl Formula for Quotient {
        const NUMBERS: usize = 2;

        fn value(x: f32, y: f32) -> f32 {
            if y > 0.0 { x / y } else { 7.0 }
        }

        fn usual(x: f32, y: f32) -> f32 {
            x / y
        }

        fn is_usual(_: f32, y: f32) -> bool {
            y > 0.0
        }
    }

    /// Lengths of strips and their first numbers, inside the usual range and outside.
    const STRIPS: [(usize, f32); 6] =
        [(1, 0.0), (64, 0.0), (65, 0.0), (200, 0.0), (200, -70.0), (130, -129.0)];

    #[test]
    fn a_strip_gets_a_formulas_values_in_place_too_usual_or_not() {
        for (count, first) in STRIPS {
            let x: Vec<f32> = (0..count).map(|i| i as f32 + first).collect();
            let expected: Vec<f32> = x.iter().map(|x| Root::value(*x, 0.0)).collect();
            for isa in Isa::available() {
                let mut y = vec![7.0; count + 3];
                y[..count].copy_from_slice(&x);
                let place = y.as_mut_ptr();
                let root = formula_functions::<Root>()[isa.path()];
                // SAFETY: `y` has `count` elements and three more.
                unsafe { root(place, place, place, count as u64) };
                assert_eq!((&y[..count], &y[count..]), (&expected[..], &[7.0; 3][..]), "{isa:?}");
            }
        }
    }

    #[test]
    fn a_strip_gets_a_formulas_values_of_two_in_place_of_either() {
        for (count, first) in STRIPS {
            let x: Vec<f32> = (0..count).map(|i| (i as f32).cos()).collect();
            let y: Vec<f32> = (0..count).map(|i| i as f32 + first + 1.0).collect();
            let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| Quotient::value(*x, *y)).collect();
            for isa in Isa::available() {
                let quotient = formula_functions::<Quotient>()[isa.path()];
                let mut places = [x.clone(), y.clone()];
                let [place_x, place_y] = places.each_mut().map(|place| place.as_mut_ptr());
                // SAFETY: both have `count` elements, and the result is one of them.
                unsafe { quotient(place_x, place_x, place_y, count as u64) };
                assert_eq!((&places[0], &places[1]), (&expected, &y), "{isa:?}");
                places[0].copy_from_slice(&x);
                // SAFETY: as above.
                unsafe { quotient(place_y, place_x, place_y, count as u64) };
                assert_eq!((&places[0], &places[1]), (&x, &expected), "{isa:?}");
            }
        }
    }
}
