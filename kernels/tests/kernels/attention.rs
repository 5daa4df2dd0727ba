//! That attention computes the results of plain loops, with the same bits on every instruction set and for
//! every division into parts.

use crate::common::{Rng, assert_same_bits, input, or_few, output, run, ways, ways_of_pairs};
use kernels::{
    Attention, AttentionNumbers, AttentionShape, HEAD_AXES, HeadMatrices, Kernel, PairUnit, StoredFloat,
    nearest_bf16, wide_bf16,
};

/// The inputs; the factors are those of q, k and the scores.
struct Data {
    q: Vec<f32>,
    k: Vec<f32>,
    v: Vec<f32>,
    mask: Option<Vec<f32>>,
    factors: [Option<f32>; 3],
}

/// Whether the rows or the columns of a matrix are contiguous.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    ByRows,
    ByColumns,
}

const BY_ROWS: [Order; 3] = [Order::ByRows; 3];

/// Whether there is a mask.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mask {
    Present,
    Absent,
}

/// The matrices of dense heads.
fn dense(heads: [u64; HEAD_AXES], rows: u64, columns: u64, order: Order) -> HeadMatrices {
    let mut distance = rows * columns;
    let mut apart = [0; HEAD_AXES];
    for axis in (0..HEAD_AXES).rev() {
        apart[axis] = distance;
        distance *= heads[axis];
    }
    let [row, column] = if order == Order::ByColumns { [1, rows] } else { [columns, 1] };
    HeadMatrices { heads: apart, row, column }
}

fn shape(heads: [u64; 2], sizes: [u64; 4], orders: [Order; 3]) -> AttentionShape {
    let [rows, keys, depth, columns] = sizes;
    let heads = [1, heads[0], 1, heads[1]];
    AttentionShape {
        heads,
        rows,
        keys,
        depth,
        columns,
        q: dense(heads, rows, depth, orders[0]),
        k: dense(heads, keys, depth, orders[1]),
        v: dense(heads, keys, columns, orders[2]),
        mask: HeadMatrices { heads: [0, rows * keys, 0, 0], row: keys, column: 1 },
        // The rows of all heads are interleaved, as after a transpose.
        out: HeadMatrices {
            heads: [0, rows * heads[3] * columns, 0, columns],
            row: heads[3] * columns,
            column: 1,
        },
    }
}

fn data(rng: &mut Rng, shape: &AttentionShape, mask: Mask) -> Data {
    let heads = shape.heads.iter().product::<u64>();
    let mut floats = |count: u64| rng.floats(count as usize);
    let [q, k] = [shape.rows, shape.keys].map(|rows| floats(heads * rows * shape.depth));
    let v = floats(heads * shape.keys * shape.columns);
    let mask = (mask == Mask::Present).then(|| floats(shape.heads[1] * shape.rows * shape.keys));
    let factors = [0; 3].map(|_| rng.pick(&[None, Some(1.0), Some(1.5), Some(-2.0)]));
    Data { q, k, v, mask, factors }
}

fn result(shape: &AttentionShape, data: &Data, attention: &Attention) -> Vec<f32> {
    let heads = shape.heads.iter().product::<u64>();
    let mut out = vec![7.0; (heads * shape.rows * shape.columns) as usize];
    let null = std::ptr::null_mut();
    let mut operands = vec![output(&mut out), input(&data.q), input(&data.k), input(&data.v)];
    operands.push(data.mask.as_ref().map_or(null, |mask| input(mask)));
    operands.extend(data.factors.iter().map(|factor| {
        factor.as_ref().map_or(null, |factor| std::ptr::from_ref(factor).cast::<u8>().cast_mut())
    }));
    run(attention, &operands);
    out
}

/// Element `(row, column)` of the matrix of a head.
fn at(values: &[f32], lies: &HeadMatrices, head: [u64; HEAD_AXES], row: u64, column: u64) -> f64 {
    let start: u64 = (0..HEAD_AXES).map(|axis| head[axis] * lies.heads[axis]).sum();
    f64::from(values[(start + row * lies.row + column * lies.column) as usize])
}

fn check(shape: &AttentionShape, data: &Data) {
    let found: Vec<Vec<f32>> = ways()
        .into_iter()
        .map(|(isa, threads)| result(shape, data, &Attention::new(shape, isa, threads)))
        .collect();
    for other in &found {
        assert_same_bits(&found[0], other, shape);
    }
    assert_close(shape, data, &found[0], 2e-5);
}

/// Panics unless results differ from those of plain loops by at most `tolerance`.
fn assert_close(shape: &AttentionShape, data: &Data, found: &[f32], tolerance: f64) {
    let [q_factor, k_factor, factor] = data.factors.map(|factor| f64::from(factor.unwrap_or(1.0)));
    for outer in 0..shape.heads[1] {
        for inner in 0..shape.heads[3] {
            let head = [0, outer, 0, inner];
            for row in 0..shape.rows {
                let score = |key| {
                    let terms = (0..shape.depth)
                        .map(|c| at(&data.q, &shape.q, head, row, c) * at(&data.k, &shape.k, head, key, c));
                    let mask = data.mask.as_ref().map_or(0.0, |mask| at(mask, &shape.mask, head, row, key));
                    terms.sum::<f64>() * q_factor * k_factor * factor + mask
                };
                let scores: Vec<f64> = (0..shape.keys).map(score).collect();
                let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let powers: Vec<f64> = scores.iter().map(|score| (score - most).exp()).collect();
                let sum: f64 = powers.iter().sum();
                for column in 0..shape.columns {
                    let v = |key| at(&data.v, &shape.v, head, key, column);
                    let want: f64 = (0..shape.keys).map(|key| powers[key as usize] / sum * v(key)).sum();
                    let got = at(found, &shape.out, head, row, column);
                    let is_close = (got - want).abs() <= tolerance || got.is_nan() && want.is_nan();
                    assert!(is_close, "{got} for {want} at {head:?}, {row}, {column} of {shape:?}");
                }
            }
        }
    }
}

#[test]
fn random_attention_agrees_with_plain_loops() {
    let mut rng = Rng::new(1);
    for _ in 0..or_few(60, 4) {
        let mut up_to = |most: usize| rng.between(1, most) as u64;
        let heads = [up_to(2), up_to(3)];
        let sizes = or_few([70; 4], [9, 20, 9, 9]).map(&mut up_to);
        let orders = [0; 3].map(|_| if up_to(2) == 1 { Order::ByRows } else { Order::ByColumns });
        let shape = shape(heads, sizes, orders);
        let mask = if up_to(2) == 1 { Mask::Present } else { Mask::Absent };
        check(&shape, &data(&mut rng, &shape, mask));
    }
}

#[test]
fn keys_of_several_blocks_agree() {
    let mut rng = Rng::new(2);
    let usual = [
        ([3, 700, 8, 5], Mask::Absent),
        ([60, 257, 40, 130], Mask::Present),
        ([2, 40, 600, 700], Mask::Absent),
    ];
    for (sizes, mask) in or_few(&usual[..], &[([1, 259, 1, 2], Mask::Present)]).iter().copied() {
        let shape = shape([1, or_few(2, 1)], sizes, BY_ROWS);
        check(&shape, &data(&mut rng, &shape, mask));
    }
}

#[test]
#[cfg_attr(miri, ignore = "a thousand rows take minutes")]
fn more_rows_than_one_part_has_agree() {
    let shape = shape([1, 1], [1100, 20, 4, 3], BY_ROWS);
    check(&shape, &data(&mut Rng::new(3), &shape, Mask::Present));
}

#[test]
fn a_row_without_keys_is_zero_and_a_row_without_depth_is_the_mean() {
    for sizes in [[5, 0, 4, 6], [5, 8, 0, 6]] {
        let shape = shape([1, 2], sizes, BY_ROWS);
        check(&shape, &data(&mut Rng::new(4), &shape, Mask::Absent));
    }
}

#[test]
#[cfg_attr(miri, ignore = "600 keys take minutes")]
fn masked_keys_do_not_count_and_a_row_of_them_alone_is_not_a_number() {
    let shape = shape([1, 2], [3, 600, 4, 5], BY_ROWS);
    let mut data = data(&mut Rng::new(5), &shape, Mask::Present);
    let mask = data.mask.as_mut().unwrap();
    // Row 0 attends only to the last key, row 1 to none, and row 2 to all except the second block.
    (0..599).for_each(|key| mask[key] = f32::NEG_INFINITY);
    (600..1200).for_each(|key| mask[key] = f32::NEG_INFINITY);
    (1456..1712).for_each(|key| mask[key] = f32::NEG_INFINITY);
    check(&shape, &data);
}

#[test]
fn a_mask_of_one_column_or_row_is_read_for_all() {
    let mut shape = shape([1, 2], or_few([9, 30, 4, 5], [5, 6, 2, 3]), BY_ROWS);
    let data = data(&mut Rng::new(6), &shape, Mask::Present);
    for [row, column] in [[1, 0], [0, 1], [2, 3]] {
        shape.mask = HeadMatrices { heads: [0; HEAD_AXES], row, column };
        check(&shape, &data);
    }
}

#[test]
fn operands_of_bf16_are_the_same_numbers_and_results_are_rounded() {
    let mut rng = Rng::new(21);
    let orders = [BY_ROWS, [Order::ByColumns; 3]];
    let sizes = or_few(
        [[3, 5, 8, 7], [70, 300, 40, 33], [130, 65, 64, 64]],
        [[3, 5, 8, 7], [2, 40, 3, 2], [9, 3, 9, 9]],
    );
    let heads = or_few([2, 3], [1, 2]);
    for (number, sizes) in sizes.into_iter().enumerate() {
        let shape = shape(heads, sizes, orders[number % 2]);
        let mut data = data(&mut rng, &shape, Mask::Present);
        let stored = [halves(&data.q), halves(&data.k), halves(&data.v)];
        let [q, k, v] = [&stored[0], &stored[1], &stored[2]]
            .map(|halves| halves.iter().copied().map(wide_bf16).collect::<Vec<f32>>());
        data.q = q;
        data.k = k;
        data.v = v;
        for (isa, threads) in ways() {
            let attention = Attention::new(&shape, isa, threads);
            let wanted: Vec<u16> = halves(&result(&shape, &data, &attention));
            for whole in 0..3 {
                let kind = |index| if index == whole { StoredFloat::F32 } else { StoredFloat::Bf16 };
                let out = StoredFloat::Bf16;
                let powers = StoredFloat::F32;
                let numbers = AttentionNumbers { q: kind(0), k: kind(1), v: kind(2), out, powers };
                let mut found = vec![0u16; wanted.len()];
                let floats = [&data.q, &data.k, &data.v];
                let of =
                    |index: usize| if index == whole { input(floats[index]) } else { input(&stored[index]) };
                let mut operands = vec![output(&mut found), of(0), of(1), of(2)];
                operands.extend(data.mask.as_ref().map(|mask| input(mask)));
                operands.extend(data.factors.iter().map(|factor| {
                    let null = std::ptr::null_mut();
                    factor.as_ref().map_or(null, |factor| std::ptr::from_ref(factor).cast::<u8>().cast_mut())
                }));
                run(&attention.stored(numbers), &operands);
                assert!(found == wanted, "{sizes:?} on {isa:?} x {threads}, operand {whole} of f32");
            }
        }
    }
}

#[test]
fn no_smaller_attention_takes_more_scratch() {
    let bf16 = StoredFloat::Bf16;
    let numbers = AttentionNumbers { q: bf16, k: bf16, v: bf16, out: bf16, powers: bf16 };
    for (isa, threads, unit) in ways_of_pairs() {
        let of = |depth: u64| {
            let shape = shape([1, 2], [40, 300, depth, 70], BY_ROWS);
            Attention::new(&shape, isa, threads).stored(numbers).on(unit)
        };
        for most in [36, 64, 72, 100] {
            let bound = of(most).most_scratch_bytes();
            for depth in 0..=most {
                let found = of(depth).scratch_bytes();
                assert!(found <= bound, "{found} bytes at {depth}, {bound} at {most}: {isa:?}, {unit:?}");
            }
        }
    }
}

/// Each number rounded to `bf16`.
fn halves(values: &[f32]) -> Vec<u16> {
    values.iter().copied().map(nearest_bf16).collect()
}

#[test]
fn powers_of_bf16_agree_with_plain_loops_up_to_their_rounding() {
    let mut rng = Rng::new(22);
    let bf16 = StoredFloat::Bf16;
    let numbers = AttentionNumbers { q: bf16, k: bf16, v: bf16, out: StoredFloat::F32, powers: bf16 };
    for number in 0..or_few(60, 3) {
        let mut up_to = |most: usize| rng.between(1, most) as u64;
        let heads = [up_to(2), up_to(3)];
        let mut sizes = or_few([70; 4], [9, 20, 9, 9]).map(&mut up_to);
        if number % 8 == 0 {
            sizes[1] += or_few(255, 2);
        }
        let orders = [0; 3].map(|_| if up_to(2) == 1 { Order::ByRows } else { Order::ByColumns });
        let shape = shape(heads, sizes, orders);
        let mask = if up_to(2) == 1 { Mask::Present } else { Mask::Absent };
        let mut data = data(&mut rng, &shape, mask);
        let stored = [halves(&data.q), halves(&data.k), halves(&data.v)];
        let [q, k, v] = [&stored[0], &stored[1], &stored[2]]
            .map(|halves| halves.iter().copied().map(wide_bf16).collect::<Vec<f32>>());
        (data.q, data.k, data.v) = (q, k, v);
        let mut former: Option<(PairUnit, Vec<f32>)> = None;
        for (isa, threads, unit) in ways_of_pairs() {
            let mut found = vec![7.0; (heads[0] * heads[1] * shape.rows * shape.columns) as usize];
            let mut operands = vec![output(&mut found)];
            operands.extend(stored.iter().map(|halves| input(halves)));
            operands.push(data.mask.as_ref().map_or(std::ptr::null_mut(), |mask| input(mask)));
            operands.extend(data.factors.iter().map(|factor| {
                let null = std::ptr::null_mut();
                factor.as_ref().map_or(null, |factor| std::ptr::from_ref(factor).cast::<u8>().cast_mut())
            }));
            run(&Attention::new(&shape, isa, threads).stored(numbers).on(unit), &operands);
            // A power, at most 1, is rounded by at most 1/512, and numbers of v are at most 1.
            assert_close(&shape, &data, &found, 1.0 / 500.0);
            if let Some((_, wanted)) = former.as_ref().filter(|(other, _)| *other == unit) {
                assert_same_bits(wanted, &found, shape);
            }
            former = Some((unit, found));
        }
    }
}
