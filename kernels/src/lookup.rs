//! Functions of single bytes by table lookup.

use crate::abi::{Kernel, KernelBody, KernelFn, OperandTable, entry_of, piece, row_start};
use crate::isa::Isa;
use crate::simd::Simd;

/// Axes at most.
const MAX_RANK: usize = 8;
/// The last axis, along which bytes are contiguous.
const LAST: usize = MAX_RANK - 1;
/// A part is at least this many bytes, so that its work exceeds the cost of handing it out.
const MIN_PART: usize = 65_536;

/// `out[i] = table[x[i]]` for bytes, with a table of 256. Operands: `[out, x, table]`. `out` and `x` are the
/// same memory with the same strides, or disjoint; the table overlaps neither.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Lookup {
    sizes: [u64; MAX_RANK],
    from_strides: [i64; MAX_RANK],
    to_strides: [i64; MAX_RANK],
    parts: u32,
    isa: Isa,
}

impl Lookup {
    /// The kernel for a box of bytes; strides of `x` and of `out` count bytes, outermost axis first.
    ///
    /// # Panics
    /// If there are more than 8 axes, an axis lacks a stride, or bytes along the last axis are not
    /// contiguous.
    pub fn new(sizes: &[usize], [from, to]: [&[i64]; 2], isa: Isa, threads: usize) -> Lookup {
        assert!(sizes.len() <= MAX_RANK, "at most {MAX_RANK} axes");
        assert!(sizes.len() == from.len() && sizes.len() == to.len(), "a stride for each axis");
        let is_apart = |strides: &[i64]| strides.last().is_some_and(|stride| *stride != 1);
        let has_rows = sizes.last().is_some_and(|size| *size > 1);
        assert!(!has_rows || !is_apart(from) && !is_apart(to), "bytes along the last axis lie side by side");
        let parts = sizes.iter().product::<usize>().div_ceil(MIN_PART).min(4 * threads) as u32;
        let (axes, strides) = ([1; MAX_RANK], [0; MAX_RANK]);
        let mut lookup = Lookup { sizes: axes, from_strides: strides, to_strides: strides, parts, isa };
        let first = MAX_RANK - sizes.len();
        for (axis, size) in sizes.iter().enumerate() {
            lookup.sizes[first + axis] = *size as u64;
        }
        lookup.from_strides[first..].copy_from_slice(from);
        lookup.to_strides[first..].copy_from_slice(to);
        lookup
    }
}

// SAFETY: 24 eight-byte integers and two `u32`, without padding; `entry` reads this type.
unsafe impl Kernel for Lookup {
    fn parts(&self) -> u32 {
        self.parts
    }

    fn scratch_bytes(&self) -> usize {
        0
    }

    fn entry(&self) -> KernelFn {
        entry_of::<Lookup>(self.isa)
    }
}

impl KernelBody for Lookup {
    #[inline(always)]
    unsafe fn run<S: Simd>(&self, s: S, operands: OperandTable, part: u32, _scratch: *mut u8) {
        let count: u64 = self.sizes.iter().product();
        let columns = self.sizes[LAST] as usize;
        let range = piece(count as usize, self.parts as usize, part as usize);
        let mut at = range.start;
        while at < range.end {
            let column = at % columns;
            let run = (columns - column).min(range.end - at);
            let [from, to] = [&self.from_strides, &self.to_strides]
                .map(|strides| row_start(&self.sizes, strides, at / columns));
            // SAFETY: the operands have the extents that the descriptor was made for, and parts write
            // disjoint bytes.
            unsafe {
                let out = operands.get::<u8>(0).offset(to).add(column);
                let x = operands.get::<u8>(1).offset(from).add(column);
                s.look_up(operands.get::<u8>(2), x, out, run);
            }
            at += run;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(kernel: &Lookup, operands: [*mut u8; 3]) {
        // The last part first, so that writes past a part's end are seen.
        for part in (0..kernel.parts()).rev() {
            // SAFETY: the operands have the extents that the test made the descriptor for; no scratch is
            // used.
            unsafe {
                kernel.entry()(kernel.as_bytes().as_ptr(), operands.as_ptr(), part, std::ptr::null_mut());
            }
        }
    }

    /// A permutation in which no byte maps to itself.
    fn table() -> Vec<u8> {
        (0..=255u8).map(|byte| byte.wrapping_mul(167) ^ 0x5a).collect()
    }

    /// Bytes that take every value early.
    fn bytes(count: usize) -> Vec<u8> {
        (0..count).map(|at| (at * 89 + at / 256) as u8).collect()
    }

    const POISON: u8 = 0xa5;

    /// Checks a row of `count` bytes that begins `start` bytes into its memory, out of place and in place.
    #[track_caller]
    fn check_row(count: usize, start: usize, isa: Isa, threads: usize) {
        let table = table();
        let x = bytes(start + count + 70);
        let kernel = Lookup::new(&[count], [&[1], &[1]], isa, threads);
        let wanted = |beside: &[u8]| -> Vec<u8> {
            let inside = x[start..start + count].iter().map(|byte| table[usize::from(*byte)]);
            beside[..start].iter().copied().chain(inside).chain(beside[start + count..].to_vec()).collect()
        };
        let table_at = table.as_ptr().cast_mut();
        let poison = vec![POISON; x.len()];
        let mut out = poison.clone();
        let from = x.as_ptr().wrapping_add(start).cast_mut();
        run(&kernel, [out.as_mut_ptr().wrapping_add(start), from, table_at]);
        assert_eq!(out, wanted(&poison), "{count} from {start}, {isa:?}");
        let mut tied = x.clone();
        let tied_at = tied.as_mut_ptr().wrapping_add(start);
        run(&kernel, [tied_at, tied_at, table_at]);
        assert_eq!(tied, wanted(&x), "{count} from {start}, in place, {isa:?}");
    }

    #[test]
    fn rows_of_every_length_are_looked_up_from_every_start() {
        for isa in Isa::available() {
            for count in if cfg!(miri) { 60..70 } else { 0..301 } {
                check_row(count, count * 7 % 67, isa, 1);
            }
            for start in if cfg!(miri) { 0..1 } else { 0..65 } {
                check_row(256, start, isa, 1);
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "it takes too long")]
    fn parts_are_looked_up_one_by_one() {
        for isa in Isa::available() {
            for count in [65_536, 65_537, 300_001] {
                assert_eq!(Lookup::new(&[count], [&[1], &[1]], isa, 2).parts() > 1, count > 65_536);
                check_row(count, 3, isa, 2);
            }
        }
    }

    #[test]
    fn rows_with_gaps_are_looked_up_and_nothing_beside() {
        let wide = if cfg!(miri) { 3 } else { 700 };
        for (sizes, from, to) in [
            ([3, 5, 7], [60, 12, 1], [35, 7, 1]),
            ([3, 5, 7], [35, 7, 1], [60, 9, 1]),
            ([2, wide, 101], [wide * 101, 101, 1], [wide * 128, 128, 1]),
            ([4, 6, 1], [24, 4, 9], [6, 1, 1]),
            ([0, 6, 2], [24, 4, 1], [12, 2, 1]),
        ] {
            let end =
                |strides: [usize; 3]| (0..3).map(|axis| sizes[axis].max(1) * strides[axis]).sum::<usize>();
            let table = table();
            let x = bytes(end(from));
            let mut expected = vec![POISON; end(to)];
            for index in 0..sizes.iter().product() {
                let at = [index / sizes[2] / sizes[1], index / sizes[2] % sizes[1], index % sizes[2]];
                let place = |strides: [usize; 3]| (0..3).map(|axis| at[axis] * strides[axis]).sum::<usize>();
                expected[place(to)] = table[usize::from(x[place(from)])];
            }
            for isa in Isa::available() {
                let [reads, writes] = [from, to].map(|strides| strides.map(|stride| stride as i64));
                let kernel = Lookup::new(&sizes, [&reads, &writes], isa, 3);
                let mut out = vec![POISON; end(to)];
                run(&kernel, [out.as_mut_ptr(), x.as_ptr().cast_mut(), table.as_ptr().cast_mut()]);
                assert_eq!(out, expected, "{sizes:?} {from:?} {to:?}, {isa:?}");
            }
        }
    }
}
