//! The vector operations in plain Rust: arrays of eight, lane by lane.

use super::{Lanewise, Simd, Task};
use crate::scalar;

/// The instruction set that every machine has.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

const LANES: usize = 8;
type F = [f32; LANES];
type I = [i32; LANES];

/// The results of a function for all lanes. It has no loop, with which Miri takes ten times as long.
#[inline(always)]
fn from_fn<T>(lane: impl Fn(usize) -> T) -> [T; LANES] {
    [lane(0), lane(1), lane(2), lane(3), lane(4), lane(5), lane(6), lane(7)]
}

/// On x86 without FMA, `mul_add` is eight calls of a library function; this makes them one call of this
/// function, since the eight calls were a quarter of all kernels' code. Other functions are `inline(never)`
/// for the same reason: in the baseline instruction set of x86 they are long, and every kernel has them.
#[cfg_attr(target_arch = "x86_64", inline(never))]
fn mul_add(a: &F, b: &F, c: &F) -> F {
    from_fn(|lane| a[lane].mul_add(b[lane], c[lane]))
}

macro_rules! lanewise {
    ($($name:ident($($arg:ident: $ty:ty),*) -> $out:ty = $value:expr;)*) => {$(
        #[inline(always)]
        fn $name(self, $($arg: [$ty; LANES]),*) -> $out {
            from_fn(|lane| { $(let $arg = $arg[lane];)* $value })
        }
    )*};
}

impl Lanewise for Portable {
    type F = F;
    type I = I;

    #[inline(always)]
    fn mul_add(self, a: F, b: F, c: F) -> F {
        mul_add(&a, &b, &c)
    }

    lanewise! {
        add(a: f32, b: f32) -> F = a + b;
        sub(a: f32, b: f32) -> F = a - b;
        mul(a: f32, b: f32) -> F = a * b;
        div(a: f32, b: f32) -> F = a / b;
        max(a: f32, b: f32) -> F = scalar::max(a, b);
        min(a: f32, b: f32) -> F = scalar::min(a, b);
        sqrt(a: f32) -> F = a.sqrt();
        abs(a: f32) -> F = a.abs();
        copysign(magnitude: f32, sign: f32) -> F = magnitude.copysign(sign);
        select_gt(a: f32, b: f32, yes: f32, no: f32) -> F = if a > b { yes } else { no };
        select_eq(a: f32, b: f32, yes: f32, no: f32) -> F = if a == b { yes } else { no };
        bits(a: f32) -> I = a.to_bits() as i32;
        float(a: i32) -> F = f32::from_bits(a as u32);
        to_float(a: i32) -> F = a as f32;
        add_int(a: i32, b: i32) -> I = a.wrapping_add(b);
        sub_int(a: i32, b: i32) -> I = a.wrapping_sub(b);
        and_int(a: i32, b: i32) -> I = a & b;
    }

    #[inline(always)]
    fn splat(self, x: f32) -> F {
        [x; LANES]
    }

    #[inline(always)]
    fn splat_int(self, x: i32) -> I {
        [x; LANES]
    }

    #[inline(always)]
    fn shift_right<const N: u32>(self, a: I) -> I {
        from_fn(|lane| a[lane].wrapping_shr(N))
    }

    #[inline(always)]
    fn shift_left<const N: u32>(self, a: I) -> I {
        from_fn(|lane| a[lane].wrapping_shl(N))
    }
}

/// A function of each byte of two words.
#[inline(always)]
fn largest_bytes(a: i32, b: i32, larger: impl Fn(u8, u8) -> u8) -> i32 {
    let [a, b] = [a, b].map(i32::to_ne_bytes);
    i32::from_ne_bytes(std::array::from_fn(|byte| larger(a[byte], b[byte])))
}

impl Simd for Portable {
    const LANES: usize = LANES;
    const CALLS: bool = cfg!(target_arch = "x86_64");
    const TILE_ROWS: usize = 4;
    type Mask = usize;

    #[inline(always)]
    unsafe fn vectorize<T: Task<Self>>(task: T) {
        // SAFETY: the caller's promise.
        unsafe { task.run(Portable) }
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    fn permute(self, a: F, lanes: I) -> F {
        from_fn(|lane| a[lanes[lane] as usize % LANES])
    }

    #[inline(always)]
    fn mask(self, count: usize) -> usize {
        count.min(LANES)
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    unsafe fn load_upper(self, from: *const u16, count: usize) -> I {
        let mut value = [0; LANES];
        for (lane, value) in value.iter_mut().enumerate().take(count) {
            // SAFETY: only the first `count` words are read, which the caller promised valid.
            *value = i32::from(unsafe { *from.add(lane) }) << 16;
        }
        value
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    unsafe fn store_upper(self, to: *mut u16, count: usize, a: I) {
        for (lane, value) in a.into_iter().enumerate().take(count) {
            // SAFETY: only the first `count` words are written, which the caller promised valid.
            unsafe { *to.add(lane) = (value as u32 >> 16) as u16 }
        }
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    fn add_quads(self, unsigned: I, signed: I, sum: I) -> I {
        from_fn(|lane| {
            let products =
                |shift: u32| (unsigned[lane] >> shift & 0xff) * (signed[lane] << (24 - shift) >> 24);
            sum[lane].wrapping_add(products(0) + products(8) + products(16) + products(24))
        })
    }

    #[inline(always)]
    unsafe fn load_repeated(self, from: *const u8) -> I {
        // SAFETY: the caller's promise.
        let quads = unsafe { from.cast::<[i32; 4]>().read_unaligned() };
        from_fn(|lane| i32::from_le(quads[lane % 4]))
    }

    #[inline(always)]
    fn add_neighbours(self, a: I, b: I) -> I {
        from_fn(|lane| {
            let from = if lane % 4 < 2 { a } else { b };
            let first = lane / 4 * 4 + lane % 2 * 2;
            from[first].wrapping_add(from[first + 1])
        })
    }

    lanewise! {
        mul_int(a: i32, b: i32) -> I = a.wrapping_mul(b);
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    fn round(self, a: F) -> F {
        from_fn(|lane| nearest_integer(a[lane]))
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    fn max_unsigned(self, a: I, b: I) -> I {
        from_fn(|lane| largest_bytes(a[lane], b[lane], u8::max))
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    fn max_signed(self, a: I, b: I) -> I {
        from_fn(|lane| largest_bytes(a[lane], b[lane], |a, b| (a as i8).max(b as i8) as u8))
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    fn trunc(self, a: F) -> F {
        from_fn(|lane| a[lane].trunc())
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    unsafe fn load_unsigned(self, from: *const u8, count: usize) -> I {
        // SAFETY: only the first `count` bytes are read, which the caller promised valid.
        std::array::from_fn(|lane| if lane < count { unsafe { i32::from(*from.add(lane)) } } else { 0 })
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    unsafe fn load_signed(self, from: *const u8, count: usize) -> I {
        // SAFETY: only the first `count` bytes are read, which the caller promised valid.
        let byte = |lane: usize| unsafe { (*from.add(lane)).cast_signed() };
        std::array::from_fn(|lane| if lane < count { i32::from(byte(lane)) } else { 0 })
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    unsafe fn store_unsigned(self, to: *mut u8, count: usize, a: F) {
        for (lane, value) in a.into_iter().enumerate().take(count) {
            // SAFETY: only the first `count` bytes are written, which the caller promised valid.
            unsafe { *to.add(lane) = value as u8 }
        }
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    unsafe fn store_signed(self, to: *mut u8, count: usize, a: F) {
        for (lane, value) in a.into_iter().enumerate().take(count) {
            // SAFETY: only the first `count` bytes are written, which the caller promised valid.
            unsafe { *to.add(lane) = value as i8 as u8 }
        }
    }

    #[inline(always)]
    unsafe fn load(self, from: *const f32) -> F {
        // SAFETY: the caller's promise.
        unsafe { from.cast::<F>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn load_int(self, from: *const i32) -> I {
        // SAFETY: the caller's promise.
        unsafe { from.cast::<I>().read_unaligned() }
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    unsafe fn load_masked(self, from: *const f32, mask: usize) -> F {
        let mut value = [0.0; LANES];
        for (lane, value) in value.iter_mut().enumerate().take(mask) {
            // SAFETY: only the first `mask` lanes are read, which the caller promised valid.
            *value = unsafe { from.add(lane).read_unaligned() };
        }
        value
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32, a: F) {
        // SAFETY: the caller's promise.
        unsafe { to.cast::<F>().write_unaligned(a) }
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    unsafe fn store_masked(self, to: *mut f32, mask: usize, a: F) {
        for (lane, value) in a.into_iter().enumerate().take(mask) {
            // SAFETY: only the first `mask` lanes are written, which the caller promised valid.
            unsafe { to.add(lane).write_unaligned(value) }
        }
    }
}

/// The nearest integer, ties to even: object files cannot call the C library's function for it.
#[inline(always)]
fn nearest_integer(a: f32) -> f32 {
    // From here on all floats are integers, so adding this number rounds to an integer.
    const INTEGERS: f32 = 8_388_608.0;
    let size = a.abs();
    if size < INTEGERS { ((size + INTEGERS) - INTEGERS).copysign(a) } else { a }
}

#[cfg(test)]
mod tests {
    use super::nearest_integer;

    #[test]
    fn integers_nearest_to_numbers_are_those_of_the_language() {
        let special = [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 8_388_607.5, 8_388_608.0, 1e30, f32::INFINITY];
        let many = (0..u32::MAX).step_by(65_521).map(f32::from_bits);
        for x in special.into_iter().chain(many).flat_map(|x| [x, -x]) {
            let [found, expected] = [nearest_integer(x), x.round_ties_even()];
            assert!(found.to_bits() == expected.to_bits() || expected.is_nan() && found.is_nan(), "{x}");
        }
    }
}
