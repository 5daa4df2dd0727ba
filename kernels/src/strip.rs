//! Vector functions on strips of memory, for generated code to call between its own loops.

use std::marker::PhantomData;

use crate::isa::Isa;
use crate::map::{MapBody, ScalarFunction};
use crate::simd::{Portable, Simd, Task};

/// `to[i] = function(from[i])` for `n` elements; a call costs about a nanosecond.
///
/// # Safety
/// `from` is valid for reads and `to` for writes of `n` floats; they are the same or do not overlap.
pub type StripFn = unsafe extern "C" fn(to: *mut f32, from: *const f32, n: u64);

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

unsafe extern "C" fn enter<F: Fixed, S: Simd>(to: *mut f32, from: *const f32, n: u64) {
    // SAFETY: `StripFn`'s contract, and `entry` was asked for an instruction set that exists.
    unsafe { S::vectorize(MapStrip::<F> { to, from, n: n as usize, function: PhantomData }) }
}

fn entry<F: Fixed>(isa: Isa) -> StripFn {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => enter::<F, crate::simd::Avx512>,
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => enter::<F, crate::simd::Avx2>,
        _ => enter::<F, Portable>,
    }
}

macro_rules! strips {
    ($($name:ident)*) => {
        $(struct $name;
        impl Fixed for $name {
            const FUNCTION: ScalarFunction = ScalarFunction::$name;
        })*

        /// The vector form of a function without parameters, for an instruction set that this machine has;
        /// none for functions that take only a few instructions.
        pub fn strip_function(function: ScalarFunction, isa: Isa) -> Option<StripFn> {
            match function {
                $(ScalarFunction::$name => Some(entry::<$name>(isa)),)*
                _ => None,
            }
        }
    };
}

strips! { Exp Log Tanh Erf Sigmoid }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strip_gets_the_functions_bits_and_nothing_behind_it_changes() {
        let x: Vec<f32> = (0..37).map(|i| i as f32 * 0.3 - 5.0).collect();
        for isa in Isa::available() {
            let mut y = vec![7.0; 40];
            let exp = strip_function(ScalarFunction::Exp, isa).unwrap();
            // SAFETY: 37 elements on both sides.
            unsafe { exp(y.as_mut_ptr(), x.as_ptr(), 37) };
            let expected: Vec<f32> = x.iter().map(|x| ScalarFunction::Exp.apply(*x)).collect();
            assert_eq!((&y[..37], &y[37..]), (&expected[..], &[7.0; 3][..]), "{isa:?}");
        }
        assert!(strip_function(ScalarFunction::Relu, Isa::Scalar).is_none());
    }
}
