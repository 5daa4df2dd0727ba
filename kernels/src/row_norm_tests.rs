//! Normalization of rows against its definition in `f64`.

use super::*;
use crate::bf16::{nearest_bf16, wide_bf16};
use crate::map::ScalarFunction;

fn run(kernel: &RowNorm, operands: [*mut f32; 4]) {
    let ptrs = operands.map(|operand| operand.cast::<u8>());
    for part in 0..kernel.parts() {
        // SAFETY: the operands have the extents that the test made the descriptor for.
        unsafe {
            kernel.entry()(kernel.as_bytes().as_ptr(), ptrs.as_ptr(), part, std::ptr::null_mut());
        }
    }
}

fn values(count: usize, centre: f32) -> Vec<f32> {
    (0..count).map(|i| ((i * 7919) % 1013) as f32 / 500.0 - 1.0 + centre).collect()
}

fn shapes() -> Vec<RowNormShape> {
    let step = if cfg!(miri) { 23 } else { 1 };
    let counts = (1..=70).step_by(step).chain([128, 200, 768].into_iter().step_by(step));
    let last = counts.map(|channels| RowNormShape { blocks: 3, channels, rows: 1 });
    let sizes = [(1, 3), (4, 16), (5, 17), (7, 33), (96, 49)];
    let middle = sizes.map(|(channels, rows)| RowNormShape { blocks: 2, channels, rows });
    last.chain(middle.into_iter().take(if cfg!(miri) { 3 } else { 5 })).collect()
}

fn expected(shape: &RowNormShape, centre: Centre, [x, scale, bias]: [&[f32]; 3]) -> Vec<f32> {
    let RowNormShape { blocks, channels, rows } = *shape;
    let mut out = vec![0.0; x.len()];
    for (block, row) in (0..blocks).flat_map(|block| (0..rows).map(move |row| (block, row))) {
        let at = |channel: usize| (block * channels + channel) * rows + row;
        let of = |channel: usize| f64::from(x[at(channel)]);
        let count = channels as f64;
        let mean = match centre {
            Centre::Mean => (0..channels).map(of).sum::<f64>() / count,
            Centre::Zero => 0.0,
        };
        let squares: f64 = (0..channels).map(|channel| (of(channel) - mean).powi(2)).sum();
        let deviation = (squares / count + 1e-5).sqrt();
        for channel in 0..channels {
            let y = (of(channel) - mean) / deviation * f64::from(scale[channel]) + f64::from(bias[channel]);
            out[at(channel)] = (y / (1.0 + (-y).exp())) as f32;
        }
    }
    out
}

#[test]
fn rows_are_normalised_alike_on_each_instruction_set_and_at_any_number_of_threads() {
    for (shape, about) in shapes().into_iter().flat_map(|shape| [(shape, 0.0), (shape, 30.0)]) {
        for centre in [Centre::Mean, Centre::Zero] {
            let x = values(shape.blocks * shape.channels * shape.rows, about);
            let [mut scale, mut bias] = [1.0, 0.5].map(|middle| values(shape.channels, middle));
            let wanted = expected(&shape, centre, [&x, &scale, &bias]);
            let mut first: Option<Vec<f32>> = None;
            for (isa, threads) in Isa::available().into_iter().flat_map(|isa| [(isa, 1), (isa, 3)]) {
                let mut y = x.clone();
                let kernel = RowNorm::new(&shape, centre, 1e-5, ScalarFunction::Silu, isa, threads);
                let place = y.as_mut_ptr();
                run(&kernel, [place, place, scale.as_mut_ptr(), bias.as_mut_ptr()]);
                for (index, (y, wanted)) in y.iter().zip(&wanted).enumerate() {
                    let is_near = (y - wanted).abs() < 2e-5 + 2e-6 * about;
                    assert!(is_near, "{shape:?} {isa:?} at {index}: {y}, expected {wanted}");
                }
                let first = first.get_or_insert_with(|| y.clone());
                let is_same = first.iter().zip(&y).all(|(a, b)| a.to_bits() == b.to_bits());
                assert!(is_same, "{shape:?} {isa:?} with {threads} threads");
            }
        }
    }
}

#[test]
fn rows_of_bf16_are_the_same_numbers_normalised_and_rounded() {
    for shape in shapes() {
        let halves: Vec<u16> =
            values(shape.blocks * shape.channels * shape.rows, 3.0).into_iter().map(nearest_bf16).collect();
        let mut x: Vec<f32> = halves.iter().map(|half| wide_bf16(*half)).collect();
        let [mut scale, mut bias] = [1.0, 0.5].map(|middle| values(shape.channels, middle));
        let weights = [scale.as_mut_ptr(), bias.as_mut_ptr()];
        for isa in Isa::available() {
            let kernel = RowNorm::new(&shape, Centre::Mean, 1e-5, ScalarFunction::None, isa, 2);
            let mut whole = vec![f32::NAN; x.len()];
            run(&kernel, [whole.as_mut_ptr(), x.as_mut_ptr(), weights[0], weights[1]]);
            let wanted: Vec<u16> = whole.iter().copied().map(nearest_bf16).collect();
            let mut found = halves.clone();
            let place = found.as_mut_ptr().cast();
            run(&kernel.stored(StoredFloat::Bf16, StoredFloat::Bf16), [place, place, weights[0], weights[1]]);
            assert!(found == wanted, "{shape:?} {isa:?} in place");
            let mut mixed = vec![7u16; x.len()];
            let to = mixed.as_mut_ptr().cast();
            run(
                &kernel.stored(StoredFloat::F32, StoredFloat::Bf16),
                [to, x.as_mut_ptr(), weights[0], weights[1]],
            );
            assert!(mixed == wanted, "{shape:?} {isa:?} from f32");
        }
    }
}

#[test]
fn what_follows_a_normalisation_is_applied_to_rows_wherever_they_lie() {
    let functions = [
        ScalarFunction::Relu,
        ScalarFunction::Clip { lo: -0.25, hi: 0.5 },
        ScalarFunction::Tanh,
        ScalarFunction::LeakyRelu { alpha: 0.5 },
    ];
    for (rows, function) in [1, 5, 17].into_iter().flat_map(|rows| functions.map(|function| (rows, function)))
    {
        let shape = RowNormShape { blocks: 2, channels: 9, rows };
        let x = values(2 * 9 * rows, 0.2);
        let [mut scale, mut bias] = [1.0, 0.0].map(|middle| values(9, middle));
        for isa in Isa::available() {
            let mut normal = |function| {
                let mut y = x.clone();
                let kernel = RowNorm::new(&shape, Centre::Mean, 1e-5, function, isa, 2);
                run(&kernel, [y.as_mut_ptr(), y.as_mut_ptr(), scale.as_mut_ptr(), bias.as_mut_ptr()]);
                y
            };
            let wanted: Vec<f32> =
                normal(ScalarFunction::None).into_iter().map(|y| function.apply(y)).collect();
            assert_eq!(normal(function), wanted, "{function:?} of {rows} rows, {isa:?}");
        }
    }
}
