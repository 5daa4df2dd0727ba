//! The transforms of Winograd's algorithms, on vectors of channels.
//!
//! `F(m, r)` computes `m` pixels of an output line with a filter of `r` taps by `n = m + r - 1` products
//! instead of `m r`: `A^T [(G g) * (B^T d)]`, where `g` is the filter, `d` the `n` pixels that are read, and
//! `*` multiplies elements. `F(m x m, r x r)` applies it to the columns, then to the rows. The matrices
//! interpolate polynomials at `n - 1` points and infinity (Winograd, "Arithmetic Complexity of Computations",
//! 1980; Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2016). The points here are 0
//! and pairs `p`, `-p`. For a pair, with `N = 2 p^2 prod (p^2 - q^2)` and `Q(x) = prod (x - q^2)` over the
//! other pairs `q`:
//!
//! - the rows of `B^T` are the coefficients of `x (x + p) Q(x^2)` and `x (x - p) Q(x^2)`; those of 0 and
//!   infinity are `P(x^2)` and `x P(x^2)`, where `P` is the product over all pairs;
//! - the rows of `G` are the powers of `p` and of `-p`, divided by `N`; that of 0 is `1 / P(0)` of the first
//!   tap, and that of infinity the last tap;
//! - the rows of `A^T` are the powers of the points; infinity is added to the last.
//!
//! So both rows of a pair are a sum and a difference of the same two numbers. `F(3, 2)` has the pair 1,
//! `F(4, 3)` and `F(2, 5)` have 1 and 2, as in section 4.3 of Lavin and Gray; `F(4, 7)` has 1/2 and 3/4 too:
//! of seven sets of points that were tried, errors in `f32` were the smallest with 16 and with 192 channels.
//!
//! The order of roundings is fixed here, so that all instruction sets give the same bits.

use crate::simd::Simd;

/// The most pairs of points.
const MOST_PAIRS: usize = 4;
/// The pairs of points, by their positive numbers: an algorithm has the first ones.
const PAIRS: [f64; MOST_PAIRS] = [1.0, 2.0, 0.5, 0.75];
/// The most points along a side.
const MOST_POINTS: usize = 2 * MOST_PAIRS + 2;
/// The most points along a side of a square tile.
const MOST_SQUARE_SIDE: usize = 6;

/// The transforms of one algorithm. Each reads its numbers by `load(index)` and passes all results to
/// `store(index, value)`; square tiles are stored row by row.
pub(crate) trait WinogradTransform {
    /// Taps of a filter.
    const TAPS: usize;
    /// Pixels read along a side, and products.
    const POINTS: usize;
    /// Pixels written.
    const OUTPUTS: usize;

    /// `B^T d`.
    fn read<S: Simd>(s: S, load: impl Fn(usize) -> S::F, store: impl FnMut(usize, S::F));

    /// `G g`.
    fn filter<S: Simd>(s: S, load: impl Fn(usize) -> S::F, store: impl FnMut(usize, S::F));

    /// `A^T m`.
    fn write<S: Simd>(s: S, load: impl Fn(usize) -> S::F, store: impl FnMut(usize, S::F));
}

/// `F(OUTPUTS, TAPS)`, along a line.
pub(crate) struct Line<const OUTPUTS: usize, const TAPS: usize>;

/// `F(m x m, r x r)`, where the line's algorithm is `F(m, r)`.
pub(crate) struct Square<L>(std::marker::PhantomData<L>);

/// The constants of an algorithm with some pairs of points.
struct Constants {
    /// The coefficients of `P`, from that of 1 on.
    all: [f32; MOST_PAIRS + 1],
    /// Of each pair, those of `Q`.
    others: [[f32; MOST_PAIRS + 1]; MOST_PAIRS],
    /// Of each pair, `1 / N`, as `f64`.
    scales: [f64; MOST_PAIRS],
}

impl Constants {
    const fn new(pairs: usize) -> Constants {
        let mut others = [[0.0; MOST_PAIRS + 1]; MOST_PAIRS];
        let mut scales = [0.0; MOST_PAIRS];
        let mut pair = 0;
        while pair < pairs {
            others[pair] = product(pairs, pair);
            let square = PAIRS[pair] * PAIRS[pair];
            scales[pair] = 1.0 / (2.0 * square * value(pairs, pair, square));
            pair += 1;
        }
        Constants { all: product(pairs, pairs), others, scales }
    }
}

/// The coefficients of `prod (x - q^2)` over the first pairs `q` without one of them.
const fn product(pairs: usize, without: usize) -> [f32; MOST_PAIRS + 1] {
    let mut exact = [0.0; MOST_PAIRS + 1];
    exact[0] = 1.0;
    let mut pair = 0;
    while pair < pairs {
        if pair != without {
            let square = PAIRS[pair] * PAIRS[pair];
            let mut power = MOST_PAIRS;
            while power > 0 {
                exact[power] = exact[power - 1] - square * exact[power];
                power -= 1;
            }
            exact[0] *= -square;
        }
        pair += 1;
    }
    let mut rounded = [0.0; MOST_PAIRS + 1];
    let mut power = 0;
    while power <= MOST_PAIRS {
        rounded[power] = exact[power] as f32;
        power += 1;
    }
    rounded
}

/// The same product at a number.
const fn value(pairs: usize, without: usize, x: f64) -> f64 {
    let mut value = 1.0;
    let mut pair = 0;
    while pair < pairs {
        if pair != without {
            value *= x - PAIRS[pair] * PAIRS[pair];
        }
        pair += 1;
    }
    value
}

/// A point to a power.
#[inline(always)]
fn power(pair: usize, exponent: usize) -> f64 {
    (0..exponent).fold(1.0, |power, _| power * PAIRS[pair])
}

/// `factor * x + sum`, rounded once.
#[inline(always)]
fn times<S: Simd>(s: S, factor: f32, x: S::F, sum: S::F) -> S::F {
    match factor {
        1.0 => s.add(x, sum),
        -1.0 => s.sub(sum, x),
        _ => s.mul_add(s.splat(factor), x, sum),
    }
}

/// `factor * x`.
#[inline(always)]
fn scaled<S: Simd>(s: S, factor: f32, x: S::F) -> S::F {
    if factor == 1.0 { x } else { s.mul(s.splat(factor), x) }
}

/// The first `count` numbers, before any result is stored.
#[inline(always)]
fn loaded<S: Simd>(s: S, count: usize, load: impl Fn(usize) -> S::F) -> [S::F; MOST_POINTS] {
    let mut numbers = [s.splat(0.0); MOST_POINTS];
    for (index, number) in numbers.iter_mut().enumerate().take(count) {
        *number = load(index);
    }
    numbers
}

/// The sum of `coefficients` times every second number from `first` on. The coefficient of `degree`, the
/// last, is 1.
#[inline(always)]
fn every_second<S: Simd>(
    s: S,
    numbers: &[S::F; MOST_POINTS],
    first: usize,
    coefficients: &[f32; MOST_PAIRS + 1],
    degree: usize,
) -> S::F {
    let mut sum = numbers[first + 2 * degree];
    for power in (0..degree).rev() {
        sum = times(s, coefficients[power], numbers[first + 2 * power], sum);
    }
    sum
}

impl<const OUTPUTS: usize, const TAPS: usize> Line<OUTPUTS, TAPS> {
    const COUNT: usize = (OUTPUTS + TAPS) / 2 - 1;
    const CONSTANTS: Constants = Constants::new(Self::COUNT);

    /// The sum of every second tap times the powers of a pair's positive point, divided by `N`.
    #[inline(always)]
    fn taps<S: Simd>(s: S, taps: &[S::F; MOST_POINTS], pair: usize, first: usize) -> S::F {
        let factor = |tap: usize| (power(pair, tap) * Self::CONSTANTS.scales[pair]) as f32;
        let mut sum = scaled(s, factor(first), taps[first]);
        for tap in (first + 2..TAPS).step_by(2) {
            sum = times(s, factor(tap), taps[tap], sum);
        }
        sum
    }
}

impl<const OUTPUTS: usize, const TAPS: usize> WinogradTransform for Line<OUTPUTS, TAPS> {
    const TAPS: usize = TAPS;
    const POINTS: usize = OUTPUTS + TAPS - 1;
    const OUTPUTS: usize = OUTPUTS;

    #[inline(always)]
    fn read<S: Simd>(s: S, load: impl Fn(usize) -> S::F, mut store: impl FnMut(usize, S::F)) {
        let Constants { all, others, .. } = &Self::CONSTANTS;
        let pixels = loaded(s, Self::POINTS, load);
        store(0, every_second(s, &pixels, 0, all, Self::COUNT));
        for pair in 0..Self::COUNT {
            let even = every_second(s, &pixels, 2, &others[pair], Self::COUNT - 1);
            let odd = every_second(s, &pixels, 1, &others[pair], Self::COUNT - 1);
            let odd = scaled(s, PAIRS[pair] as f32, odd);
            store(1 + 2 * pair, s.add(even, odd));
            store(2 + 2 * pair, s.sub(even, odd));
        }
        store(Self::POINTS - 1, every_second(s, &pixels, 1, all, Self::COUNT));
    }

    #[inline(always)]
    fn filter<S: Simd>(s: S, load: impl Fn(usize) -> S::F, mut store: impl FnMut(usize, S::F)) {
        let at_zero = Self::CONSTANTS.all[0];
        let taps = loaded(s, TAPS, load);
        store(0, scaled(s, 1.0 / at_zero, taps[0]));
        for pair in 0..Self::COUNT {
            let even = Self::taps(s, &taps, pair, 0);
            let odd = Self::taps(s, &taps, pair, 1);
            store(1 + 2 * pair, s.add(even, odd));
            store(2 + 2 * pair, s.sub(even, odd));
        }
        store(Self::POINTS - 1, taps[TAPS - 1]);
    }

    #[inline(always)]
    fn write<S: Simd>(s: S, load: impl Fn(usize) -> S::F, mut store: impl FnMut(usize, S::F)) {
        let sums = loaded(s, Self::POINTS, load);
        let mut even = [s.splat(0.0); MOST_PAIRS];
        let mut odd = even;
        for pair in 0..Self::COUNT {
            let [plus, minus] = [sums[1 + 2 * pair], sums[2 + 2 * pair]];
            even[pair] = s.add(plus, minus);
            odd[pair] = s.sub(plus, minus);
        }
        for output in 0..OUTPUTS {
            let of_pairs = if output % 2 == 0 { &even } else { &odd };
            let last = Self::COUNT - 1;
            let mut sum = scaled(s, power(last, output) as f32, of_pairs[last]);
            for pair in (0..last).rev() {
                sum = times(s, power(pair, output) as f32, of_pairs[pair], sum);
            }
            if output == 0 {
                sum = s.add(sums[0], sum);
            }
            if output == OUTPUTS - 1 {
                sum = s.add(sum, sums[Self::POINTS - 1]);
            }
            store(output, sum);
        }
    }
}

/// Applies a line's transform of `FROM` numbers into `TO` to the columns, then to the rows.
macro_rules! both_sides {
    ($s:ident, $load:ident, $store:ident, $line:ident :: $transform:ident, $from:expr, $to:expr) => {
        let mut columns = [[$s.splat(0.0); MOST_SQUARE_SIDE]; MOST_SQUARE_SIDE];
        for column in 0..$from {
            let from = |row: usize| $load(row * $from + column);
            $line::$transform($s, from, |row, value| columns[row][column] = value);
        }
        for row in 0..$to {
            let from = |column: usize| columns[row][column];
            $line::$transform($s, from, |column, value| $store(row * $to + column, value));
        }
    };
}

impl<L: WinogradTransform> WinogradTransform for Square<L> {
    const TAPS: usize = L::TAPS * L::TAPS;
    const POINTS: usize = L::POINTS * L::POINTS;
    const OUTPUTS: usize = L::OUTPUTS * L::OUTPUTS;

    #[inline(always)]
    fn read<S: Simd>(s: S, load: impl Fn(usize) -> S::F, mut store: impl FnMut(usize, S::F)) {
        both_sides!(s, load, store, L::read, L::POINTS, L::POINTS);
    }

    #[inline(always)]
    fn filter<S: Simd>(s: S, load: impl Fn(usize) -> S::F, mut store: impl FnMut(usize, S::F)) {
        both_sides!(s, load, store, L::filter, L::TAPS, L::POINTS);
    }

    #[inline(always)]
    fn write<S: Simd>(s: S, load: impl Fn(usize) -> S::F, mut store: impl FnMut(usize, S::F)) {
        both_sides!(s, load, store, L::write, L::POINTS, L::OUTPUTS);
    }
}
