//! Helpers of the kernel tests: a small generator, buffers with guarded surroundings, and a runner of parts.

use kernels::{Isa, Kernel, PairUnit, QuadUnit};

/// A small deterministic generator (xorshift64*, Vigna 2014).
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Rng {
        Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }

    /// A number in `low..=high`.
    pub(crate) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.next() as usize % (high - low + 1)
    }

    pub(crate) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.between(0, choices.len() - 1)]
    }

    /// A number in -1..1.
    pub(crate) fn float(&mut self) -> f32 {
        self.between(0, 1 << 20) as f32 / (1 << 19) as f32 - 1.0
    }

    pub(crate) fn floats(&mut self, n: usize) -> Vec<f32> {
        (0..n).map(|_| self.float()).collect()
    }
}

/// The content of memory that no kernel may read or write.
pub(crate) const CANARY: u8 = 0xff;

/// Runs all parts of a kernel, the last one first. Each gets scratch full of NaNs with a guarded end.
pub(crate) fn run(kernel: &impl Kernel, operands: &[*mut u8]) {
    let desc: Vec<u64> = aligned(kernel.as_bytes());
    let bytes = kernel.scratch_bytes();
    assert!(bytes <= 4 << 20, "scratch of {bytes} bytes");
    let mut scratch = vec![CANARY; bytes + 192];
    let start = scratch.as_ptr().align_offset(64);
    for part in (0..kernel.parts()).rev() {
        scratch.fill(CANARY);
        // SAFETY: the test passes the operands that the kernel documents; scratch has the requested size and
        // alignment.
        unsafe {
            let at = scratch.as_mut_ptr().add(start);
            (kernel.entry())(desc.as_ptr().cast(), operands.as_ptr(), part, at);
        }
        assert!(scratch[start + bytes..].iter().all(|&byte| byte == CANARY), "wrote past its scratch");
    }
}

fn aligned(bytes: &[u8]) -> Vec<u64> {
    assert_eq!(bytes.len() % 4, 0);
    let word = |chunk: &[u8]| chunk.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    bytes.chunks(8).map(word).collect()
}

/// `usual`, or `few` under Miri, which takes some ten thousand times as long.
pub(crate) fn or_few<T>(usual: T, few: T) -> T {
    if cfg!(miri) { few } else { usual }
}

/// All instruction sets of this machine, with numbers of threads that divide the work differently. Under Miri
/// only the widest, unless `OPTC_MIRI_ALL` is set.
pub(crate) fn ways() -> Vec<(Isa, usize)> {
    if cfg!(miri) && std::env::var_os("OPTC_MIRI_ALL").is_none() {
        return vec![(Isa::detect(), 3)];
    }
    Isa::available().into_iter().flat_map(|isa| [(isa, 1), (isa, 3)]).collect()
}

/// [`ways`] with each unit for pairs, unit by unit.
pub(crate) fn ways_of_pairs() -> Vec<(Isa, usize, PairUnit)> {
    let units = [PairUnit::Widened, PairUnit::Vectors, PairUnit::Tiles];
    let ways_of = |unit: PairUnit| {
        let with_unit = move |(isa, threads)| (isa, threads, unit);
        ways().into_iter().filter(move |(isa, _)| PairUnit::available(*isa).contains(&unit)).map(with_unit)
    };
    units.into_iter().flat_map(ways_of).collect()
}

/// [`ways`] with each unit for quads; without matrix tiles, kernels for them use vectors.
pub(crate) fn ways_of_quads() -> Vec<(Isa, usize, QuadUnit)> {
    let units = [QuadUnit::Vectors, QuadUnit::Tiles];
    ways().into_iter().flat_map(|(isa, threads)| units.map(|unit| (isa, threads, unit))).collect()
}

/// The bits of each value, NaNs made equal.
pub(crate) fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|x| if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() }).collect()
}

/// Panics unless all runs gave the same bits.
#[track_caller]
pub(crate) fn assert_same_bits(first: &[f32], other: &[f32], what: impl std::fmt::Debug) {
    for (index, (a, b)) in bits(first).into_iter().zip(bits(other)).enumerate() {
        assert_eq!(a, b, "element {index}: {} and {} ({what:?})", first[index], other[index]);
    }
}

/// An operand that is only read.
pub(crate) fn input<T>(values: &[T]) -> *mut u8 {
    values.as_ptr().cast::<u8>().cast_mut()
}

/// An operand that is written.
pub(crate) fn output<T>(values: &mut [T]) -> *mut u8 {
    values.as_mut_ptr().cast()
}
