//! Columns: numbers that depend on sizes, as a polynomial of the sizes if that is exact, else as a table.

use crate::frames::SizeRange;

/// The encoding of the numbers: fields of `Column` of the crate `standalone`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    /// [`POLYNOMIAL`], or the bytes of an entry of the table.
    pub(crate) kind: u64,
    /// The number added to each entry.
    pub(crate) base: i64,
    /// The factor of each entry.
    pub(crate) scale: i64,
    /// Coefficients, or entries.
    pub(crate) data: Vec<u8>,
}

/// The kind of a polynomial. It has one coefficient for each product of binomials `(x - o)` over 0, 1 or 2,
/// one factor for each size x with its origin o; the last size's degree changes first.
pub(crate) const POLYNOMIAL: u64 = 0;

/// The number of degrees of each size in polynomials: 0, 1 and 2.
const DEGREES: usize = 3;

/// The most sizes of a polynomial: the number of coefficients triples with each.
const MOST_SYMBOLS: usize = 3;

/// The sizes from which the coefficients of polynomials are computed.
pub(crate) struct Grid {
    /// The least sizes.
    pub(crate) origin: Vec<u64>,
    /// The degree of each size, at most 2: one less than the number of its values in the grid.
    degrees: Vec<usize>,
    /// The row of each combination of degrees; combinations of too high degrees have none.
    rows: Vec<Option<usize>>,
}

impl Grid {
    /// The first grid whose sizes all have a row; none if there is none.
    pub(crate) fn of(ranges: &[SizeRange], sizes: &[Vec<u64>]) -> Option<Grid> {
        if ranges.len() > MOST_SYMBOLS {
            return None;
        }
        let degree = |range: &SizeRange| (range.most - range.least).min(DEGREES as u64 - 1) as usize;
        let degrees: Vec<usize> = ranges.iter().map(degree).collect();
        let row_of: std::collections::HashMap<&[u64], usize> =
            sizes.iter().enumerate().map(|(row, sizes)| (&**sizes, row)).collect();
        let found = sizes.iter().find_map(|origin| {
            let mut rows = Vec::new();
            for digits in all_digits(ranges.len()) {
                if digits.iter().zip(&degrees).any(|(digit, degree)| digit > degree) {
                    rows.push(None);
                    continue;
                }
                let at: Vec<u64> =
                    origin.iter().zip(&digits).map(|(size, digit)| size + *digit as u64).collect();
                rows.push(Some(*row_of.get(&*at)?));
            }
            Some((origin.clone(), rows))
        });
        found.map(|(origin, rows)| Grid { origin, degrees, rows })
    }

    /// The coefficients of the polynomial with these numbers on the grid: forward differences.
    fn coefficients(&self, numbers: &[i64]) -> Vec<i64> {
        let mut found: Vec<i64> = self.rows.iter().map(|row| row.map_or(0, |row| numbers[row])).collect();
        let symbols = self.origin.len();
        for symbol in 0..symbols {
            let stride = DEGREES.pow((symbols - 1 - symbol) as u32);
            for round in 0..self.degrees[symbol] {
                for at in (0..found.len()).rev() {
                    if at / stride % DEGREES > round {
                        found[at] = found[at].wrapping_sub(found[at - stride]);
                    }
                }
            }
        }
        // Coefficients beyond the degrees have no number.
        for (coefficient, row) in found.iter_mut().zip(&self.rows) {
            if row.is_none() {
                *coefficient = 0;
            }
        }
        found
    }
}

/// All combinations of degrees; the last one changes first.
fn all_digits(symbols: usize) -> impl Iterator<Item = Vec<usize>> {
    (0..DEGREES.pow(symbols as u32)).map(move |number| {
        (0..symbols).rev().map(|place| number / DEGREES.pow(place as u32) % DEGREES).collect()
    })
}

/// The value of a polynomial, as `standalone` computes it.
fn polynomial(coefficients: &[i64], origin: &[u64], sizes: &[u64]) -> i64 {
    let mut sum = 0i64;
    for (digits, coefficient) in all_digits(sizes.len()).zip(coefficients) {
        let mut product = *coefficient;
        for ((size, origin), digit) in sizes.iter().zip(origin).zip(digits) {
            let x = size.wrapping_sub(*origin) as i64;
            product = product.wrapping_mul(match digit {
                0 => 1,
                1 => x,
                _ => x.wrapping_mul(x.wrapping_sub(1)) / 2,
            });
        }
        sum = sum.wrapping_add(product);
    }
    sum
}

impl Column {
    /// The column of these numbers, one for each of `sizes`.
    pub(crate) fn of(numbers: &[i64], sizes: &[Vec<u64>], grid: Option<&Grid>) -> Column {
        if let Some(grid) = grid {
            let coefficients = grid.coefficients(numbers);
            let is_it = |(number, sizes): (&i64, &Vec<u64>)| {
                polynomial(&coefficients, &grid.origin, sizes) == *number
            };
            if numbers.iter().zip(sizes).all(is_it) {
                let data = coefficients.iter().flat_map(|number| number.to_le_bytes()).collect();
                return Column { kind: POLYNOMIAL, base: 0, scale: 1, data };
            }
        }
        Column::table(numbers)
    }

    /// A table with entries of the fewest sufficient bytes.
    fn table(numbers: &[i64]) -> Column {
        let base = numbers.iter().copied().min().unwrap_or(0);
        let above: Vec<u64> = numbers.iter().map(|number| number.wrapping_sub(base) as u64).collect();
        let scale = above.iter().copied().fold(0, common_divisor).max(1);
        let entries = above.iter().map(|above| above / scale);
        let most = entries.clone().max().unwrap_or(0);
        let kind = [1, 2, 4, 8].into_iter().find(|bytes| *bytes == 8 || most >> (8 * bytes) == 0);
        let kind = kind.expect("8 bytes are enough");
        let data = entries.flat_map(|entry| entry.to_le_bytes().into_iter().take(kind)).collect();
        Column { kind: kind as u64, base, scale: scale as i64, data }
    }
}

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges() -> Vec<SizeRange> {
        let range = |name: &str, least, most| SizeRange { name: name.to_owned(), least, most };
        vec![range("a", 1, 4), range("b", 7, 8)]
    }

    fn all_sizes() -> Vec<Vec<u64>> {
        (1..5).flat_map(|a| [vec![a, 7], vec![a, 8]]).collect()
    }

    fn column(number: impl Fn(i64, i64) -> i64) -> (Column, Vec<i64>) {
        let sizes = all_sizes();
        let numbers: Vec<i64> = sizes.iter().map(|sizes| number(sizes[0] as i64, sizes[1] as i64)).collect();
        (Column::of(&numbers, &sizes, Grid::of(&ranges(), &sizes).as_ref()), numbers)
    }

    #[test]
    fn products_and_squares_are_polynomials() {
        let (found, _) = column(|a, b| 4 * a * a * b - 3 * a + 768 * b + 5);
        assert_eq!(found.kind, POLYNOMIAL);
        assert_eq!(found.data.len(), 72);
    }

    #[test]
    fn what_is_no_polynomial_is_a_table_of_small_entries() {
        let (found, numbers) = column(|a, b| 1000 + 64 * (a * b % 5));
        assert_eq!((found.kind, found.scale, found.data.len()), (1, 64, 8));
        let again: Vec<i64> =
            found.data.iter().map(|entry| found.base + found.scale * i64::from(*entry)).collect();
        assert_eq!(again, numbers);
        let (found, _) = column(|a, b| if a == 3 && b == 8 { -1 << 40 } else { a });
        assert_eq!(found.kind, 8);
    }

    #[test]
    fn a_grid_begins_where_all_of_it_is_there() {
        let sizes: Vec<Vec<u64>> = all_sizes().into_iter().filter(|sizes| sizes != &[1, 8]).collect();
        let grid = Grid::of(&ranges(), &sizes).expect("there is one from 2 on");
        assert_eq!(grid.origin, [2, 7]);
        let numbers: Vec<i64> = sizes.iter().map(|sizes| (sizes[0] * sizes[1]) as i64).collect();
        // Also at a size below the origin.
        assert_eq!(Column::of(&numbers, &sizes, Some(&grid)).kind, POLYNOMIAL);
        let few: Vec<Vec<u64>> = sizes.into_iter().take(3).collect();
        assert!(Grid::of(&ranges(), &few).is_none());
    }
}
