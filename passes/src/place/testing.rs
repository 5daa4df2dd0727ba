//! Helpers of this folder's tests: short constructors and a source of random problems.

use super::random::Random;
use super::{Buffer, BufferId, Overlap, Problem, Step};

/// A buffer without alignment and pin; both steps are included.
pub(super) fn buffer(first: u32, last: u32, size_bytes: u64) -> Buffer {
    aligned(first, last, size_bytes, 1)
}

pub(super) fn aligned(first: u32, last: u32, size_bytes: u64, align: u64) -> Buffer {
    Buffer { first: Step::from_u32(first), last: Step::from_u32(last), size_bytes, align, pin: None }
}

pub(super) fn problem(buffers: &[Buffer]) -> Problem {
    Problem { buffers: buffers.iter().copied().collect(), ..Problem::default() }
}

/// Ways to draw a random problem; together they reach every feature of a [`Problem`].
#[derive(Clone, Copy, Debug)]
pub(super) enum Family {
    /// Independent live ranges and small sizes.
    Uniform,
    /// A chain: each buffer lives into its successor's first step.
    Chain,
    /// A chain with some long live ranges across it, as in residual networks.
    Residual,
    /// Few large and many small buffers.
    Skewed,
    /// Lives that nest like brackets.
    Nested,
    /// Sizes of a few powers of two.
    Powers,
    /// A packing of a rectangle without a hole, cut at random: the bound can be met.
    Guillotine,
    /// Uniform with alignments, some of them no powers of two, and empty buffers.
    Aligned,
    /// Uniform with pins that do not collide.
    Pinned,
    /// A chain in which neighbours may overlap at a distance.
    Overlapping,
}

impl Family {
    pub(super) const ALL: [Self; 10] = [
        Self::Uniform,
        Self::Chain,
        Self::Residual,
        Self::Skewed,
        Self::Nested,
        Self::Powers,
        Self::Guillotine,
        Self::Aligned,
        Self::Pinned,
        Self::Overlapping,
    ];

    /// A problem of about `n` buffers; the same for the same seed.
    pub(super) fn draw(self, n: u32, seed: u64) -> Problem {
        let random = &mut Random(seed.wrapping_mul(31).wrapping_add(self as u64));
        match self {
            Self::Uniform => uniform(random, n, |random| random.range(1, 20)),
            Self::Skewed => uniform(random, n, |random| 1 << random.range(0, 10)),
            Self::Powers => uniform(random, n, |random| 16 << random.range(0, 2)),
            Self::Chain => problem(&chain(random, n, 1)),
            Self::Residual => problem(&chain(random, n, 6)),
            Self::Nested => problem(&nested(random, n)),
            Self::Guillotine => problem(&guillotine(random, n)),
            Self::Aligned => {
                let mut problem = uniform(random, n, |random| random.range(0, 40));
                problem
                    .buffers
                    .values_mut()
                    .for_each(|b| b.align = [1, 4, 6, 8][random.range(0, 3) as usize]);
                problem
            }
            Self::Pinned => pinned(random, n),
            Self::Overlapping => overlapping(random, n),
        }
    }
}

fn uniform(random: &mut Random, n: u32, size: impl Fn(&mut Random) -> u64) -> Problem {
    let horizon = u64::from(n.max(2));
    let mut buffers = Vec::new();
    for _ in 0..n {
        let (a, b) = (random.range(0, horizon) as u32, random.range(0, horizon) as u32);
        let reach = if random.range(0, 3) == 0 { a.max(b) } else { a.min(b) + a.max(b) % 4 };
        buffers.push(buffer(a.min(b), reach, size(random)));
    }
    problem(&buffers)
}

fn chain(random: &mut Random, n: u32, longest: u64) -> Vec<Buffer> {
    (0..n).map(|i| buffer(i, i + random.range(1, longest) as u32, random.range(1, 64))).collect()
}

fn nested(random: &mut Random, n: u32) -> Vec<Buffer> {
    let middle = n + 4;
    let life = |i: u32, random: &mut Random| {
        let (low, high) =
            (random.range(0, u64::from(i) + 1) as u32, random.range(0, u64::from(i) + 1) as u32);
        (middle - low, middle + high)
    };
    (0..n)
        .map(|i| {
            let (first, last) = life(i, random);
            buffer(first, last, random.range(1, 30))
        })
        .collect()
}

/// Cuts a rectangle of steps and bytes by full cuts until there are `n` parts or nothing can be cut.
fn guillotine(random: &mut Random, n: u32) -> Vec<Buffer> {
    let mut parts = vec![(0u64, u64::from(n) * 4 + 3, u64::from(n) * 8 + 8)];
    for _ in 0..8 * n {
        if parts.len() >= n as usize {
            break;
        }
        let index = random.range(0, parts.len() as u64 - 1) as usize;
        let (first, last, size) = parts[index];
        if random.range(0, 1) == 0 && last > first {
            let cut = random.range(first, last - 1);
            parts[index] = (first, cut, size);
            parts.push((cut + 1, last, size));
        } else if size > 1 {
            let cut = random.range(1, size - 1);
            parts[index] = (first, last, cut);
            parts.push((first, last, size - cut));
        }
    }
    parts.iter().map(|&(first, last, size)| buffer(first as u32, last as u32, size)).collect()
}

/// Pins every third buffer where a stack of all buffers would put it, so that pins never collide.
fn pinned(random: &mut Random, n: u32) -> Problem {
    let mut problem = uniform(random, n, |random| random.range(1, 20));
    let mut top = 0;
    for (i, buffer) in problem.buffers.values_mut().enumerate() {
        if i % 3 == 0 {
            buffer.pin = Some(top);
            top += buffer.size_bytes;
        }
    }
    problem
}

fn overlapping(random: &mut Random, n: u32) -> Problem {
    let mut problem = problem(&chain(random, n, 3));
    let ids: Vec<BufferId> = problem.buffers.keys().collect();
    for pair in ids.windows(2) {
        if random.range(0, 2) == 0 {
            continue;
        }
        let min_distance_bytes = random.range(0, 60) as i64 - 20;
        problem.overlaps.push(Overlap { input: pair[0], output: pair[1], min_distance_bytes });
    }
    problem
}
