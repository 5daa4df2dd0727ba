//! How reductions are lowered to calls of generated loops (see [`crate::fold`]).

use ir::Kind;
use ir::body::OpRef;
use ir::opdef::Reduce;
use ir::window::Arrangement;
use kernels::{GlobalAveragePool, StoredFloat};

use crate::call::{KernelCode, Lowered, LoweredCall, Pointer};
use crate::elem::ElemType;
use crate::fold::{FoldForm, Innermost, UNSIGNED};
use crate::group;
use crate::pointwise::nest::{LoopNest, dense_strides};
use crate::pointwise::rows::{self, PartSplit};
use crate::refusal::CodeRefusal;
use crate::row::{KernelRow, Machine, Runs};
use crate::shape::{known_layout, known_shape};

/// Reductions.
pub(crate) const ROW: KernelRow = KernelRow {
    name: "reduce",
    doc: "Generated loops that fold axes.",
    runs: Runs::Reduce,
    reads: |op, _| match group::stored(op, op.operand(0)) {
        Ok(StoredFloat::Bf16) => Arrangement::Plain,
        _ => Arrangement::Rows,
    },
    lower: |op, machine| match op.kind() {
        Kind::Reduce(reduce) => lower(op, reduce, machine),
        _ => Err(CodeRefusal::new("it is no reduction")),
    },
    ..KernelRow::PLAIN
};

/// A reduction.
pub(crate) struct Folding<'a> {
    /// The function.
    pub(crate) reduce: Reduce,
    /// The type of the elements.
    pub(crate) elem: ElemType,
    /// The shape of the operand.
    pub(crate) shape: &'a [u64],
    /// The strides of its elements: contiguous along the last axis.
    pub(crate) strides: &'a [i64],
    /// The reduced axes.
    pub(crate) axes: &'a [i64],
}

/// The call that runs a reduction.
fn lower(op: OpRef<'_>, reduce: Reduce, machine: &Machine) -> Result<Lowered, CodeRefusal> {
    if matches!(group::stored(op, op.operand(0)), Ok(StoredFloat::Bf16)) {
        return Ok(Lowered::new("reduce", vec![mean_of_bf16(op, reduce, machine)?]));
    }
    let elem = ElemType::of(op.ctx, op.operand_type(0));
    let elem = elem.ok_or_else(|| CodeRefusal::new("generated code does not fold elements of this type"))?;
    if reduce == Reduce::Mean && elem == UNSIGNED {
        return Err(CodeRefusal::new("means of 64-bit unsigned integers are not defined"));
    }
    let shape = known_shape(op, op.operand(0))?;
    let axes = op.ints("axes").ok_or_else(|| CodeRefusal::new("`axes` are missing"))?;
    let strides = known_layout(op, op.operand(0))?.strides;
    let folding = Folding { reduce, elem, shape: &shape, strides: &strides, axes: &axes };
    let call = folding.call(Pointer::Result(0, 0), Pointer::Operand(0, 0), machine);
    Ok(Lowered::new("reduce", vec![call]))
}

/// The call that computes means of `bf16` over pixels of channels-last images, with sums in `f32`.
fn mean_of_bf16(op: OpRef<'_>, reduce: Reduce, machine: &Machine) -> Result<LoweredCall, CodeRefusal> {
    let refusal =
        || CodeRefusal::new("of bf16, generated code computes means over all pixels of images only");
    let axes = op.ints("axes").unwrap_or_default();
    let layout = known_layout(op, op.operand(0))?;
    let (&[batch, height, width, channels], &[image, row, pixel, 1]) =
        (&layout.shape[..], &layout.strides[..])
    else {
        return Err(refusal());
    };
    if reduce != Reduce::Mean || axes[..] != [1, 2] || row != pixel * width as i64 && height > 1 {
        return Err(refusal());
    }
    let [batch, pixels, channels] = [batch, height * width, channels].map(|count| count as usize);
    let [image, pixel] = [image, pixel].map(i64::unsigned_abs).map(|stride| stride as usize);
    let Machine { isa, threads, .. } = *machine;
    let means = GlobalAveragePool::new(batch, pixels, channels, pixel, image, isa, threads);
    let operands = vec![Pointer::Result(0, 0), Pointer::Operand(0, 0)];
    Ok(LoweredCall::kernel(&means.stored(StoredFloat::Bf16), operands))
}

impl Folding<'_> {
    /// The call that reduces the elements at `from` to results at `to`.
    pub(crate) fn call(&self, to: Pointer, from: Pointer, machine: &Machine) -> LoweredCall {
        let is_folded = |axis: &usize| self.axes.contains(&(*axis as i64));
        let (folded, kept): (Vec<usize>, Vec<usize>) = (0..self.shape.len()).partition(is_folded);
        let last = (0..self.shape.len()).rev().find(|axis| self.shape[*axis] != 1);
        // Otherwise rows have one element each, that of the last axis.
        let is_side_by_side = last.is_none_or(|axis| self.strides[axis] == 1);
        let last = if is_side_by_side { last } else { self.shape.len().checked_sub(1) };
        let innermost =
            if last.as_ref().is_some_and(is_folded) { Innermost::Folded } else { Innermost::Kept };
        let pick = |axes: &[usize]| -> (Vec<u64>, Vec<i64>) {
            axes.iter().map(|axis| (self.shape[*axis], self.strides[*axis])).unzip()
        };
        let ((kept_shape, kept_strides), (folded_shape, folded_strides)) = (pick(&kept), pick(&folded));
        let mut nest = LoopNest::collapse(&kept_shape, &[dense_strides(&kept_shape), kept_strides]);
        let mut folds = LoopNest::collapse(&folded_shape, &[folded_strides]);
        match innermost {
            Innermost::Kept => nest.end_side_by_side(1),
            Innermost::Folded => {
                nest.push_one();
                folds.end_side_by_side(0);
            }
        }
        let (outer, folded_outer) = (nest.outer(), folds.outer());
        let form = FoldForm { reduce: self.reduce, elem: self.elem, outer, folded_outer, innermost };
        let count = folds.rows() * folds.inner_size();
        let parts = PartSplit::choose(&nest, count.max(4), machine.threads);
        LoweredCall {
            code: KernelCode::Reduce { form, axes: [kept.len(), folded.len()] },
            descriptor: descriptor(&nest, &folds, self.elem, parts),
            parts: parts.count(),
            scratch_bytes: 0,
            most_scratch_bytes: 0,
            enough_scratch_bytes: 0,
            operands: vec![to, from],
        }
    }
}

/// The words of the reduction, after those of the loops over kept axes: the runs of the innermost loop, then
/// size and stride of each loop, outermost first.
fn descriptor(nest: &LoopNest, folds: &LoopNest, elem: ElemType, parts: PartSplit) -> Vec<u8> {
    let mut bytes = rows::descriptor(nest, &[elem.bytes(); 2], parts);
    let mut words = vec![folds.rows() as i64];
    for (size, stride) in folds.sizes.iter().zip(&folds.strides[0]) {
        words.extend([*size as i64, stride * i64::from(elem.bytes())]);
    }
    bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    bytes
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ir::{Context, FloatKind, Signedness, TypeData};

    use crate::testing::{Net, check, check_bytes};

    #[test]
    fn reductions_fold_in_the_interpreters_order() {
        let shape = [2u64, 3, 37, 5];
        let x: Vec<f32> = (0..2 * 3 * 37 * 5).map(|i| ((i * 7919 % 1013) as f32 - 500.0) * 0.01).collect();
        for axes in [&[0][..], &[1], &[3], &[2], &[2, 3], &[1, 2], &[0, 3], &[0, 2, 3], &[0, 1, 2, 3], &[]] {
            for name in ["sum", "mean", "prod", "max", "min", "sum_square"] {
                let mut net = Net::f32(&[&shape]);
                let axes = net.ctx.ints_attr(axes);
                let y = net.op(&format!("nn.reduce_{name}"), &[net.arg(0)], &[("axes", axes)]);
                check(net, &[y], &[&x]);
            }
        }
    }

    #[test]
    fn means_of_rounded_images_are_the_interpreters() {
        for shape in [[2u64, 7, 5, 300], [1, 1, 1, 3], [1, 9, 1, 17], [3, 1, 4, 32]] {
            let ctx = Arc::new(Context::new());
            let mut net = Net::new(&[(&shape, ctx.float(FloatKind::Bf16))], ctx.clone());
            let count = shape.iter().product::<u64>() as usize;
            let numbers = (0..count).map(|i| kernels::nearest_bf16((i * 7919 % 1013) as f32 * 0.01 - 5.0));
            let bytes: Vec<u8> = numbers.flat_map(u16::to_le_bytes).collect();
            let mean = net.op("nn.reduce_mean", &[net.arg(0)], &[("axes", ctx.ints_attr(&[1, 2]))]);
            check_bytes(net, &[mean], &[&bytes]);
        }
    }

    #[test]
    fn integers_and_truth_values_fold_as_the_interpreter_says() {
        let signs = [Signedness::Signless, Signedness::Unsigned];
        let types = [8, 16, 32, 64].into_iter().flat_map(|width| signs.map(|sign| (width, sign)));
        for (width, signedness) in types.chain([(1, Signedness::Signless)]) {
            for shape in [[3u64, 5, 7], [3, 0, 7]] {
                let count = shape.iter().product::<u64>() as usize * usize::max(width as usize / 8, 1);
                let most = if width == 1 { 2 } else { 256 };
                let bytes: Vec<u8> = (0..count).map(|i| (i * 7919 % 1013 % most) as u8).collect();
                for (axes, name) in [[0, 1], [1, 2]].iter().flat_map(|axes| {
                    ["sum", "mean", "prod", "max", "min", "sum_square"].map(|name| (axes, name))
                }) {
                    if name == "mean" && (width, signedness) == (64, Signedness::Unsigned) {
                        continue;
                    }
                    let ctx = Arc::new(Context::new());
                    let elem = ctx.ty(TypeData::Integer { width, signedness });
                    let mut net = Net::new(&[(&shape, elem)], ctx.clone());
                    let y =
                        net.op(&format!("nn.reduce_{name}"), &[net.arg(0)], &[("axes", ctx.ints_attr(axes))]);
                    check_bytes(net, &[y], &[&bytes]);
                }
            }
        }
    }
}
