//! How region-of-interest alignment is lowered: a check that may stop the program, then the sampling.

use ir::body::OpRef;
use kernels::{CheckBoxes, NumberType, RoiAlign, RoiAlignShape, SampleFold};

use crate::call::{Condition, Lowered, LoweredCall, Pointer};
use crate::elem::ElemType;
use crate::kernels::gather::TRUTH_BYTES;
use crate::refusal::CodeRefusal;
use crate::row::{KernelRow, Machine, Runs};
use crate::shape::known_shape;

/// `nn.roi_align`.
pub(crate) const ROW: KernelRow = KernelRow {
    name: "roi_align",
    doc: "Samples of images in the bins of boxes, which are checked first.",
    runs: Runs::Kernel("roi_align"),
    stops: true,
    lower,
    ..KernelRow::PLAIN
};

fn lower(op: OpRef<'_>, machine: &Machine) -> Result<Lowered, CodeRefusal> {
    let (image, result) = (known_shape(op, op.operand(0))?, known_shape(op, op.result(0))?);
    let (&[batch, height, width, channels], &[count, rows, columns, _]) = (&image[..], &result[..]) else {
        return Err(CodeRefusal::new("its images or its result have not four axes"));
    };
    let number = match ElemType::of(op.ctx, op.operand_type(0)) {
        Some(ElemType::F32) => NumberType::F32,
        Some(ElemType::F64) => NumberType::F64,
        _ => return Err(CodeRefusal::new("its images are not of f32 or f64")),
    };
    let samples = op.int("samples").and_then(|samples| u64::try_from(samples).ok()).unwrap_or(0);
    let (size, bins) = ([height, width], [rows, columns]);
    let shape = RoiAlignShape { batch, size, channels, count, bins, samples };
    let fold = if op.text("mode") == Some("max") { SampleFold::Max } else { SampleFold::Mean };
    let check = CheckBoxes::new(shape, number, machine.isa);
    let read = RoiAlign::new(shape, number, fold, machine.isa, machine.threads);
    let truth = Pointer::Shared(0);
    let operand = |index: usize| Pointer::Operand(index, 0);
    let calls = vec![
        LoweredCall::kernel(&check, vec![truth.clone(), operand(1), operand(2)]),
        LoweredCall::kernel(&read, vec![Pointer::Result(0, 0), operand(0), operand(1), operand(2)]),
    ];
    let place = ir::diag::describe(op.ctx, op.body.location(op.op)).unwrap_or_else(|| op.name().to_owned());
    let message = format!("{place}: a box is of an image that is not there, or has more than 2^20 samples");
    let condition = Some(Condition { truth, message });
    Ok(Lowered { shared_bytes: TRUTH_BYTES, condition, ..Lowered::new("roi_align", calls) })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ir::{Context, FloatKind, TypeData, Value};
    use runtime::{AlignedBuffer, RunError};

    use crate::testing::{Net, THREADS, aligned, check_bytes};
    use crate::{CodegenOptions, compile};

    const IMAGE: [u64; 4] = [2, 5, 7, 3];

    /// A net that samples boxes of images.
    fn regions(kind: FloatKind, count: u64, bins: [i64; 2], samples: i64, mode: &str) -> (Net, Value) {
        let ctx = Arc::new(Context::new());
        let elem = ctx.ty(TypeData::Float(kind));
        let inputs: [(&[u64], _); 3] = [(&IMAGE, elem), (&[count, 4], elem), (&[count], ctx.int(64))];
        let mut net = Net::new(&inputs, ctx.clone());
        let attrs = [
            ("bins", ctx.ints_attr(&bins)),
            ("samples", ctx.int_attr(samples)),
            ("mode", ctx.str_attr(mode)),
        ];
        let operands = [0, 1, 2].map(|index| net.arg(index));
        let result = net.op("nn.roi_align", &operands, &attrs);
        (net, result)
    }

    fn bytes(kind: FloatKind, numbers: impl Iterator<Item = f64>) -> Vec<u8> {
        let each = |number: f64| match kind {
            FloatKind::F64 => number.to_le_bytes().to_vec(),
            _ => (number as f32).to_le_bytes().to_vec(),
        };
        numbers.flat_map(each).collect()
    }

    fn pixels(kind: FloatKind) -> Vec<u8> {
        let count = IMAGE.iter().product::<u64>();
        bytes(kind, (0..count).map(|index| ((index * 37 % 101) as f64 - 50.0) / 7.0))
    }

    #[test]
    fn bins_are_what_the_interpreter_says() {
        let boxes: [[f64; 4]; 7] = [
            [0.3, 0.2, 4.5, 3.1],
            [-2.0, -3.0, 20.0, 30.0],
            [1.0, 2.0, 0.0, 0.0],
            [1.0, 2.0, -3.0, -2.0],
            [6.5, 4.5, 2.0, 2.0],
            [-4000.0, -9.0, 5000.5, 11.0],
            [100.0, 100.0, 3.0, 3.0],
        ];
        let images = [0i64, 1, 1, 0, 0, 1, 0].map(i64::to_le_bytes).concat();
        for kind in [FloatKind::F32, FloatKind::F64] {
            let boxes = bytes(kind, boxes.into_iter().flatten());
            for mode in ["mean", "max"] {
                for (bins, samples) in [([1, 1], 0), ([2, 3], 0), ([4, 1], 0), ([3, 2], 1), ([2, 2], 50)] {
                    let (net, result) = regions(kind, 7, bins, samples, mode);
                    check_bytes(net, &[result], &[&pixels(kind), &boxes, &images]);
                }
            }
        }
    }

    #[test]
    fn a_box_without_an_image_or_of_too_many_samples_stops_the_run_and_the_next_run_is_well() {
        let (net, result) = regions(FloatKind::F32, 2, [1, 1], 0, "mean");
        let module = net.plan(&[result], THREADS);
        let program =
            compile(&module, "main", &CodegenOptions::new(THREADS)).unwrap_or_else(|_| panic!("it compiles"));
        let mut context = Arc::new(program).context(1).unwrap();
        let x = aligned(&pixels(FloatKind::F32));
        let mut run = |image: i64, corner: [f64; 4]| {
            let boxes = [[0.0, 0.0, 2.0, 2.0], corner];
            let boxes = aligned(&bytes(FloatKind::F32, boxes.into_iter().flatten()));
            let images = aligned(&[0, image].map(i64::to_le_bytes).concat());
            let mut out = AlignedBuffer::zeroed(2 * 3 * 4).unwrap();
            context.run(&[x.as_slice(), boxes.as_slice(), images.as_slice()], &mut [out.as_mut_slice()])
        };
        let all = [0.0, 0.0, 5.0, 5.0];
        let long = [0.0, 0.0, 5.0, 2e6];
        for (image, corner) in [(2, all), (-1, all), (1, long), (1, [0.0, 0.0, f64::NAN, 1.0])] {
            let error = run(image, corner).unwrap_err();
            let RunError::Fault { message, .. } = error else { panic!("{error}") };
            assert!(
                message.contains("an image that is not there, or has more than 2^20 samples"),
                "{message}"
            );
            assert_eq!(run(1, all), Ok(()));
        }
    }
}
