//! Pseudo-random numbers that are the same on every run.

/// A generator: the given numbers first, then splitmix64 (Steele, Lea, Flood 2014).
pub struct Random {
    state: u64,
    /// The given numbers, last one first.
    given: Vec<u64>,
}

impl Random {
    /// The generator of a seed.
    pub fn new(seed: u64) -> Random {
        Random { state: seed, given: Vec::new() }
    }

    /// A generator that returns the pairs of these bytes first, for fuzzers: each byte is a decision.
    pub fn of_bytes(bytes: &[u8]) -> Random {
        let pair = |pair: &[u8]| pair.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        Random { state: bytes.len() as u64, given: bytes.chunks(2).rev().map(pair).collect() }
    }

    /// Any 64 bits.
    pub fn bits(&mut self) -> u64 {
        if let Some(number) = self.given.pop() {
            return number;
        }
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.bits() % bound as u64) as usize
    }

    /// A number in [-1, 1).
    pub fn float(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }

    /// `count` numbers in [-1, 1).
    pub fn floats(&mut self, count: u64) -> Vec<f32> {
        (0..count).map(|_| self.float()).collect()
    }

    /// One of these.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}
