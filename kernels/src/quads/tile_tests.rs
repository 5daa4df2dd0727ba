//! Are the sums of a tile exact, for every tile size and instruction set?

use super::super::steps::SumStep;
use super::*;
use crate::isa::Isa;
use crate::simd::{Avx2, Avx512, Portable};

/// Bytes, many of them at the ends of their range.
fn bytes(count: usize) -> Vec<u8> {
    let byte = |index: usize| match index * 7 % 5 {
        0 => 0xff,
        1 => 0x80,
        2 => 0x7f,
        _ => (index * 97 / 8) as u8,
    };
    (0..count).map(byte).collect()
}

/// A tile's operands.
struct Matrices {
    quads: usize,
    a: Vec<u8>,
    b: Vec<i32>,
    begin: Vec<i32>,
    c: Vec<i32>,
    steps: Vec<StepCode>,
    table: [*mut u8; 16],
    numbers: Vec<f32>,
    sums: Vec<f32>,
}

impl Matrices {
    fn new(quads: usize, steps: &[SumStep]) -> Matrices {
        let b = bytes(quads * PANEL * 4);
        let quad = |chunk: &[u8]| i32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]);
        Matrices {
            quads,
            a: bytes(14 * quads * 4),
            b: b.chunks(4).map(quad).collect(),
            begin: (0..PANEL as i32).map(|lane| lane * lane - 500).collect(),
            c: vec![-1; 14 * PANEL],
            steps: steps.iter().map(|step| (*step).into()).collect(),
            table: [std::ptr::null_mut(); 16],
            numbers: vec![0.5; PANEL],
            sums: vec![0.0; SUMS],
        }
    }

    /// A tile of `cols` columns.
    fn tile(&mut self, cols: usize) -> QuadTile<'_> {
        let numbers = self.numbers.as_ptr().cast_mut().cast();
        self.table = [numbers; 16];
        QuadTile {
            segments: 1,
            quads: self.quads,
            jump: 0,
            a: self.a.as_ptr(),
            a_stride: self.quads * 4,
            b: self.b.as_ptr(),
            b_stride: PANEL,
            begin: self.begin.as_ptr(),
            terms: std::ptr::null(),
            zeros: std::ptr::null(),
            c: self.c.as_mut_ptr().cast(),
            c_stride: PANEL,
            output: if self.steps.is_empty() { StoredSum::I32 } else { StoredSum::U8 },
            rounded: None,
            cols,
            residual: self.numbers.as_ptr().cast(),
            residual_stride: 0,
            steps: &self.steps,
            operands: OperandTable(self.table.as_ptr()),
            channel: 0,
            sums: self.sums.as_mut_ptr(),
            ahead: self.b.as_ptr(),
            ahead_stride: 0,
        }
    }

    /// The sum of row `i` and column `j`.
    fn sum(&self, i: usize, j: usize, image: ByteSign) -> i32 {
        let weights = if image == ByteSign::Signed { ByteSign::Unsigned } else { ByteSign::Signed };
        let product = |k: usize| {
            let weight = self.b[k / 4 * PANEL + j].to_le_bytes()[k % 4];
            image.number(self.a[i * self.quads * 4 + k]) * weights.number(weight)
        };
        self.begin[j] + (0..self.quads * 4).map(product).sum::<i32>()
    }
}

/// Whether all tiles of an instruction set have exact sums.
fn check<S: Simd>(at_once: u32) {
    let widths = if S::LANES < PANEL / 2 { 2..=2 } else { 1..=2 };
    for (rows, vectors) in
        (1..=tile_rows::<S>(at_once)).flat_map(|rows| widths.clone().map(move |v| (rows, v)))
    {
        for image in [ByteSign::Unsigned, ByteSign::Signed] {
            let mut all = Matrices::new(9, &[]);
            let function = tile_function::<S>(rows, vectors, at_once, image);
            // SAFETY: the caller asks for what this machine has; the matrices have these sizes.
            unsafe { function(&all.tile(vectors * S::LANES)) };
            for (index, &found) in all.c.iter().enumerate() {
                let (i, j) = (index / PANEL, index % PANEL);
                let is_inside = i < rows && j < vectors * S::LANES;
                let want = if is_inside { all.sum(i, j, image) } else { -1 };
                assert_eq!(found, want, "at {i}, {j} of {rows} x {vectors} vectors, {image:?}");
            }
        }
    }
}

/// Also without the instruction for quads if this machine has it.
#[test]
fn all_tiles_have_exact_sums() {
    let sets = Isa::available();
    check::<Portable>(0);
    if sets.contains(&Isa::Avx2) {
        check::<Avx2>(0);
    }
    if sets.contains(&Isa::Avx512) {
        check::<Avx512>(0);
        if Avx512::has_quads() {
            check::<Avx512>(1);
        }
    }
}

#[test]
fn sums_of_rows_are_exact() {
    let rows = bytes(5 * 40);
    for (image, quads) in [ByteSign::Unsigned, ByteSign::Signed].into_iter().flat_map(|s| [(s, 9), (s, 10)]) {
        let mut found = [[0; 5]; 3];
        let mut sums = |to: usize| RowSums {
            segments: 1,
            jump: 0,
            a: rows.as_ptr(),
            a_stride: 40,
            quads,
            rows: 5,
            image,
            to: found[to].as_mut_ptr(),
        };
        // SAFETY: each row has ten quads, and there is room for five sums.
        unsafe {
            row_sums::<Portable>(sums(0), 0);
            let sets = Isa::available();
            row_sums::<Portable>(sums(1), 0);
            row_sums::<Portable>(sums(2), 0);
            if sets.contains(&Isa::Avx2) {
                row_sums::<Avx2>(sums(1), 0);
            }
            if sets.contains(&Isa::Avx512) {
                row_sums::<Avx512>(sums(2), u32::from(Avx512::has_quads()));
            }
        }
        let sum = |row: &[u8]| row[..4 * quads].iter().map(|byte| image.number(*byte)).sum::<i32>();
        let want: Vec<i32> = rows.chunks(40).map(sum).collect();
        assert!(found.iter().all(|found| found[..] == want), "{found:?} is not {want:?}");
    }
}
