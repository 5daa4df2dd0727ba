//! How matrix products are lowered to calls of the kernel. The right matrix is a weight, packed when the
//! program is loaded, or it is computed and packed into scratch right before it is read.
//!
//! Batched products are one call for each matrix, in order, so that they share that scratch.

use ir::body::OpRef;
use ir::opdef::{Contract, Strided};
use ir::window::Arrangement;
use kernels::{ConvNumbers, Copy, Gemm, GemmShape, PairConv2d, StoredFloat, WeightStrides};

use crate::call::{Lowered, LoweredCall, Pointer};
use crate::group::{self, Fused};
use crate::kernels::conv::{ConvKernel, has_weights, pointers};
use crate::kernels::packing::ComputedFilter;
use crate::refusal::CodeRefusal;
use crate::row::{KernelRow, Machine, Runs};
use crate::shape::{check_f32, known_layout, known_shape};

/// `nn.matmul`, alone or with fused operations.
pub(crate) const ROW: KernelRow = KernelRow {
    name: "gemm",
    doc: "Products of matrices, with bias, residual and activation.",
    runs: Runs::Contract(Contract::Matmul),
    reads: |whole, operand| match Fused::of_stored(whole) {
        Ok(fused) if !fused.operands[..2].contains(&operand) || fused.adds(operand) => Arrangement::Plain,
        // There is no transposing copy of `bf16` matrices at run time.
        Ok(fused) if fused.multiplies_bf16 => Arrangement::Rows,
        Ok(_) => Arrangement::Strides,
        Err(_) => Arrangement::Plain,
    },
    writes: Arrangement::Rows,
    access: group::added_access,
    joins: Some(|_, op, place| group::follows(op, place)),
    lower,
    ..KernelRow::PLAIN
};

/// The calls that run a matrix product with its fused operations.
fn lower(whole: OpRef<'_>, machine: &Machine) -> Result<Lowered, CodeRefusal> {
    let fused = &Fused::of_stored(whole)?;
    check_f32(fused.root)?;
    fused.check_no_prologue()?;
    let sizes = MatmulSizes::of(whole, fused.root, [fused.operands[0], fused.operands[1]])?;
    let has_weights = has_weights(whole, fused) && sizes.b.batch.is_empty() && !sizes.a.is_turned();
    if fused.multiplies_bf16 {
        let numbers = fused.numbers(whole)?;
        return match has_weights {
            true => with_weights_of_bf16(fused, &sizes, numbers, machine),
            false => Err(CodeRefusal::new("a matrix of bf16 is not packed while the program runs")),
        };
    }
    Fused::of(whole)?;
    if has_weights {
        let f32 = StoredFloat::F32;
        let numbers = ConvNumbers { input: f32, residual: f32, output: f32 };
        let kernel = sizes.kernel(fused, machine).as_convolution();
        return Ok(with_weights(fused, &sizes, ConvKernel::F32(kernel), numbers));
    }
    let calls = Products { fused, sizes: &sizes, machine }.calls();
    let shared_bytes = sizes.packed_bytes(machine) + sizes.turned_bytes();
    Ok(Lowered { shared_bytes, ..Lowered::new("gemm", calls) })
}

/// The matrices of one operand; strides are in elements.
pub(super) struct OperandMatrices {
    /// Sizes of the axes before the last two.
    pub(super) batch: Vec<u64>,
    /// Strides along these axes.
    apart: Vec<usize>,
    rows: usize,
    columns: usize,
    /// Strides between rows and between columns.
    pub(super) strides: [usize; 2],
}

impl OperandMatrices {
    /// The matrices of operand `number` of the product, which is operand `index` of the whole; `transposed`
    /// is the attribute for matrices given as their transposes.
    fn of(
        (whole, root): (OpRef<'_>, OpRef<'_>),
        index: usize,
        number: usize,
        transposed: &str,
    ) -> Result<OperandMatrices, CodeRefusal> {
        let Strided { shape, strides, .. } = known_layout(whole, whole.operand(index))?;
        let strides: Vec<usize> = strides.iter().map(|stride| *stride as usize).collect();
        let (batch, mut sizes, mut between) = match *shape {
            [] => return Err(CodeRefusal::new("a number is no matrix")),
            [size] if number == 0 => (0, [1, size], [size as usize * strides[0], strides[0]]),
            [size] => (0, [size, 1], [strides[0], 1]),
            [.., rows, columns] => {
                let batch = shape.len() - 2;
                (batch, [rows, columns], [strides[batch], strides[batch + 1]])
            }
        };
        if root.attr(transposed).is_some() && shape.len() > 1 {
            sizes.reverse();
            between.reverse();
        }
        let [rows, columns] = sizes.map(|size| size as usize);
        let (batch, apart) = (shape[..batch].to_vec(), strides[..batch].to_vec());
        Ok(OperandMatrices { batch, apart, rows, columns, strides: between })
    }

    /// The matrices of the result of a product of these; its operands have `a_axes` and `b_axes`. A vector on
    /// the left is one row, and one on the right is one column.
    fn of_result(
        whole: OpRef<'_>,
        [a, b]: [&OperandMatrices; 2],
        [a_axes, b_axes]: [usize; 2],
    ) -> Result<OperandMatrices, CodeRefusal> {
        let Strided { mut shape, mut strides, .. } = known_layout(whole, whole.result(0))?;
        if a_axes == 1 {
            let axis = shape.len() - usize::from(b_axes > 1);
            shape.insert(axis, 1);
            strides.insert(axis, b.columns as i64);
        }
        if b_axes == 1 {
            shape.push(1);
            strides.push(1);
        }
        let apart: Vec<usize> = strides.iter().map(|stride| *stride as usize).collect();
        let batch = shape.len() - 2;
        Ok(OperandMatrices {
            batch: shape[..batch].to_vec(),
            rows: a.rows,
            columns: b.columns,
            strides: [apart[batch], 1],
            apart: apart[..batch].to_vec(),
        })
    }

    /// Elements of one matrix.
    fn elements(&self) -> usize {
        self.rows * self.columns
    }

    /// Whether rows are not contiguous.
    pub(super) fn is_turned(&self) -> bool {
        self.columns > 1 && self.strides[1] != 1
    }

    /// The start of the matrix at an index of the result's batch, which broadcasts as in numpy.
    fn at(&self, index: &[u64]) -> usize {
        let own = &index[index.len() - self.batch.len()..];
        let axes = own.iter().zip(&self.batch).zip(&self.apart).filter(|((_, size), _)| **size != 1);
        axes.map(|((index, _), apart)| *index as usize * apart).sum()
    }

    /// All matrices as one, if their rows have a common stride: its rows, and the stride.
    fn stacked(&self) -> Option<(usize, usize)> {
        let (mut rows, mut between) = (self.rows, self.strides[0]);
        for (size, apart) in self.batch.iter().zip(&self.apart).rev().filter(|(size, _)| **size != 1) {
            match rows {
                1 => between = *apart,
                _ if *apart == rows * between => {}
                _ => return None,
            }
            rows *= *size as usize;
        }
        Some((rows, between))
    }

    /// Makes all matrices one.
    fn stack(&mut self, (rows, between): (usize, usize)) {
        (self.rows, self.strides[0]) = (rows, between);
        self.batch.clear();
        self.apart.clear();
    }
}

pub(super) struct MatmulSizes {
    pub(super) a: OperandMatrices,
    pub(super) b: OperandMatrices,
    /// The result's matrices, whose rows are contiguous.
    result: OperandMatrices,
}

impl MatmulSizes {
    /// The sizes of a product whose first two operands are these of the whole.
    pub(super) fn of(
        whole: OpRef<'_>,
        root: OpRef<'_>,
        operands: [usize; 2],
    ) -> Result<MatmulSizes, CodeRefusal> {
        let of =
            |number, transposed| OperandMatrices::of((whole, root), operands[number], number, transposed);
        let (mut a, b) = (of(0, "transpose_a")?, of(1, "transpose_b")?);
        let axes = |number| known_shape(whole, whole.operand(operands[number])).map(|shape| shape.len());
        let mut result = OperandMatrices::of_result(whole, [&a, &b], [axes(0)?, axes(1)?])?;
        if b.batch.is_empty()
            && !a.is_turned()
            && let (Some(rows), Some(result_rows)) = (a.stacked(), result.stacked())
        {
            // All left matrices have the same right one, so they are rows of one matrix.
            a.stack(rows);
            result.stack(result_rows);
        }
        Ok(MatmulSizes { a, b, result })
    }

    fn kernel(&self, fused: &Fused<'_>, machine: &Machine) -> Gemm {
        Gemm::new(&self.shape(), fused.activation, machine.isa, machine.threads)
    }

    pub(super) fn shape(&self) -> GemmShape {
        let dense = GemmShape::dense(self.a.rows, self.b.columns, self.a.columns);
        let shape = GemmShape { c_stride: self.result.strides[0], ..dense };
        if self.a.is_turned() || self.a.rows == 1 {
            shape
        } else {
            GemmShape { a_stride: self.a.strides[0], ..shape }
        }
    }

    /// Bytes of scratch for one packed matrix.
    fn packed_bytes(&self, machine: &Machine) -> u64 {
        let kernel = Gemm::new(&self.shape(), kernels::Activation::None, machine.isa, machine.threads);
        (kernel.packed_len() as u64 * 4).next_multiple_of(64)
    }

    /// Where matrix `number` of the result begins in it and in a residual, which has no gaps, in elements.
    fn result_at(&self, number: u64) -> [u64; 2] {
        let elements = (self.a.rows * self.b.columns) as u64;
        [self.result.at(&unravel(number, &self.result.batch)) as u64, number * elements]
    }

    /// Bytes of scratch for a contiguous copy of one left matrix, if that is needed.
    fn turned_bytes(&self) -> u64 {
        if self.a.is_turned() { (self.a.elements() as u64 * 4).next_multiple_of(64) } else { 0 }
    }
}

/// Products of `bf16` with sums in `f32`.
fn with_weights_of_bf16(
    fused: &Fused<'_>,
    sizes: &MatmulSizes,
    numbers: ConvNumbers,
    machine: &Machine,
) -> Result<Lowered, CodeRefusal> {
    let shape = sizes.shape();
    let kernel = PairConv2d::product(&shape, numbers, fused.activation, machine.isa, machine.threads);
    let kernel = kernel.ok_or_else(|| CodeRefusal::new("no kernel multiplies bf16 here"))?;
    let lowered = with_weights(fused, sizes, ConvKernel::Bf16(kernel), numbers);
    Ok(Lowered { kernel: "gemm_bf16", ..lowered })
}

fn with_weights(fused: &Fused<'_>, sizes: &MatmulSizes, kernel: ConvKernel, numbers: ConvNumbers) -> Lowered {
    let [k_stride, n_stride] = sizes.b.strides;
    let packing = kernel.packing(WeightStrides { o: n_stride, i: k_stride, h: 0, w: 0 });
    let operands = pointers(fused, packing);
    let calls = (0..sizes.result.batch.iter().product::<u64>()).map(|number| {
        let mut operands = operands.clone();
        let [result, residual] = sizes.result_at(number);
        operands[0].advance(result * numbers.output.bytes() as u64);
        operands[1]
            .advance((sizes.a.at(&unravel(number, &sizes.result.batch)) * numbers.input.bytes()) as u64);
        operands[4].advance(residual * numbers.residual.bytes() as u64);
        kernel.call(operands)
    });
    Lowered::new("gemm", calls.collect())
}

/// Batched products.
struct Products<'a> {
    fused: &'a Fused<'a>,
    sizes: &'a MatmulSizes,
    machine: &'a Machine,
}

impl Products<'_> {
    /// For each matrix of the result: packs the right matrix, unless it was packed for the one before, and
    /// computes the product.
    fn calls(&self) -> Vec<LoweredCall> {
        let MatmulSizes { a, b, result: OperandMatrices { batch, .. } } = self.sizes;
        let kernel = self.sizes.kernel(self.fused, self.machine);
        let mut calls = Vec::new();
        let (mut packed, mut turned) = (None, None);
        for number in 0..batch.iter().product::<u64>() {
            let index = unravel(number, batch);
            let (left, right) = (a.at(&index), b.at(&index));
            if packed.replace(right) != Some(right) {
                calls.extend(self.pack(&kernel, right as u64 * 4));
            }
            if a.is_turned() && turned.replace(left) != Some(left) {
                calls.push(self.turn(left as u64 * 4));
            }
            let [result, residual] = self.sizes.result_at(number);
            let operand = |index: Option<usize>, offset| {
                index.map_or(Pointer::Absent, |index| Pointer::Operand(index, offset))
            };
            let left = if a.is_turned() {
                Pointer::Shared(self.sizes.packed_bytes(self.machine))
            } else {
                Pointer::Operand(self.fused.operands[0], left as u64 * 4)
            };
            let operands = vec![
                Pointer::Result(0, result * 4),
                left,
                Pointer::Shared(0),
                operand(self.fused.bias, 0),
                operand(self.fused.residual, residual * 4),
            ];
            calls.push(LoweredCall::kernel(&kernel, operands));
        }
        calls
    }

    /// Copies a right matrix into the kernel's panels.
    fn pack(&self, kernel: &Gemm, first_byte: u64) -> Vec<LoweredCall> {
        let [down, along] = self.sizes.b.strides;
        let filter = ComputedFilter {
            operand: self.fused.operands[1],
            first_byte,
            strides: WeightStrides { o: along, i: down, h: 0, w: 0 },
            taps: [1, 1, self.sizes.b.rows],
        };
        filter.pack(&kernel.as_convolution().panels(), self.machine)
    }

    /// Copies a left matrix so that its rows are contiguous.
    fn turn(&self, from_bytes: u64) -> LoweredCall {
        let a = &self.sizes.a;
        let reads = a.strides.map(|stride| stride as i64);
        let writes = [a.columns as i64, 1];
        let kernel =
            Copy::new(&[a.rows, a.columns], &reads, &writes, 4, self.machine.isa, self.machine.threads);
        let to = Pointer::Shared(self.sizes.packed_bytes(self.machine));
        let operands = vec![to, Pointer::Operand(self.fused.operands[0], from_bytes)];
        LoweredCall::kernel(&kernel, operands)
    }
}

/// The index of element `number` of a shape, in row-major order.
fn unravel(number: u64, shape: &[u64]) -> Vec<u64> {
    let mut rest = number;
    let mut index: Vec<u64> = shape
        .iter()
        .rev()
        .map(|size| {
            let at = rest % size;
            rest /= size;
            at
        })
        .collect();
    index.reverse();
    index
}

#[cfg(test)]
#[path = "matmul_tests.rs"]
mod tests;
