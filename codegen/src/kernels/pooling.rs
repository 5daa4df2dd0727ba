//! How pools are lowered to calls of the kernels.

use ir::body::OpRef;
use ir::dialects::nn::window_of;
use ir::target::Bands;
use ir::window::Arrangement;
use kernels::{ImageStrides, Pool2d, Pool2dShape, PoolKind, PooledNumber};

use crate::bands::{Band, RowWork, Rowwise, Slide, band_rows};
use crate::call::{Lowered, LoweredCall, Pointer};
use crate::group::stored;
use crate::kernels::conv::image_strides;
use crate::kernels::quantized::byte_sign;
use crate::refusal::CodeRefusal;
use crate::row::{KernelRow, Machine, Runs};
use crate::shape::known_shape;

/// `nn.max_pool2d`.
pub(crate) const MAX: KernelRow = KernelRow {
    name: "max_pool2d",
    doc: "The largest element of each window of an image.",
    runs: Runs::Kernel("max_pool2d"),
    reads: |_, _| Arrangement::Rows,
    writes: Arrangement::Rows,
    rowwise: Some(|op, machine| rowwise(op, PoolKind::Max, machine)),
    lower: |op, machine| pool(op, "max_pool2d", PoolKind::Max, machine),
    ..KernelRow::PLAIN
};

/// `nn.avg_pool2d`.
pub(crate) const AVERAGE: KernelRow = KernelRow {
    name: "avg_pool2d",
    doc: "The mean of each window of an image.",
    runs: Runs::Kernel("avg_pool2d"),
    reads: |_, _| Arrangement::Rows,
    writes: Arrangement::Rows,
    rowwise: Some(|op, machine| rowwise(op, average(op), machine)),
    lower: |op, machine| pool(op, "avg_pool2d", average(op), machine),
    ..KernelRow::PLAIN
};

/// A pool, as a kernel that runs on any range of rows.
///
/// # Errors
/// If no kernel runs it, or it can't be divided into rows.
fn rowwise(op: OpRef<'_>, kind: PoolKind, machine: &Machine) -> Result<Rowwise, CodeRefusal> {
    let pool = PoolKernel::new(op, kind)?;
    if !pool.slide().has_windows_inside() {
        return Err(CodeRefusal::new("it does not read its image row by row"));
    }
    let (machine, [input, output]) = (*machine, pool.strides);
    Ok(Rowwise {
        slide: pool.slide(),
        image: 0,
        row_bytes: [input.h * pool.bytes(), output.h * pool.bytes()],
        image_bytes: [input.n * pool.bytes(), output.n * pool.bytes()],
        work: pool.work(),
        call: Box::new(move |band, _| pool.band(band, &machine)),
    })
}

fn average(op: OpRef<'_>) -> PoolKind {
    let with_pads = op.attr("count_include_pad").is_some();
    if with_pads { PoolKind::AverageWithPads } else { PoolKind::Average }
}

fn pool(
    op: OpRef<'_>,
    name: &'static str,
    kind: PoolKind,
    machine: &Machine,
) -> Result<Lowered, CodeRefusal> {
    let pool = PoolKernel::new(op, kind)?;
    let slide = pool.slide();
    let free_rows = pool.work().free_rows(machine.threads);
    let bands = slide.is_divisible().then_some(Bands { operand: 0, free_rows, multiple: 1 });
    let calls = match band_rows(op, bands)? {
        None => vec![pool.call(pool.shape, [0, 0], machine)],
        Some(rows) => slide.bands(rows)?.into_iter().map(|band| pool.band(band, machine)).collect(),
    };
    Ok(Lowered { bands, ..Lowered::new(name, calls) })
}

/// The element type of a pool's operand and result.
///
/// # Errors
/// If no kernel supports it.
fn numbers(op: OpRef<'_>) -> Result<PooledNumber, CodeRefusal> {
    match byte_sign(op.ctx, op.ctx.elem(op.operand_type(0))) {
        Some(sign) => Ok(sign.into()),
        None => stored(op, op.operand(0))
            .map(PooledNumber::from)
            .map_err(|_| CodeRefusal::new("its kernel takes f32, bf16 and integers of 8 bits")),
    }
}

/// A pool of some images, one after the other.
struct PoolKernel {
    shape: Pool2dShape,
    kind: PoolKind,
    /// The strides of the operand and of the result.
    strides: [ImageStrides; 2],
    /// The element type of both.
    numbers: PooledNumber,
}

impl PoolKernel {
    fn new(op: OpRef<'_>, kind: PoolKind) -> Result<PoolKernel, CodeRefusal> {
        let numbers = numbers(op)?;
        if kind != PoolKind::Max && !matches!(numbers, PooledNumber::F32 | PooledNumber::Bf16) {
            return Err(CodeRefusal::new("its kernel takes f32 and bf16"));
        }
        if op.text("layout") != Some("NHWC") {
            return Err(CodeRefusal::new("its layout is not NHWC: run the pass `layout` first"));
        }
        let (image, result) = (known_shape(op, op.operand(0))?, known_shape(op, op.result(0))?);
        let window = window_of(op).ok_or_else(|| CodeRefusal::new("its window is malformed"))?;
        let size = |size: u64| size as usize;
        let shape = Pool2dShape {
            batch: size(image[0]),
            input: [size(image[1]), size(image[2])],
            channels: size(image[3]),
            kernel: window.kernel.map(size),
            stride: window.strides.map(size),
            dilation: window.dilations.map(size),
            pads: window.pads.map(size),
            output: [size(result[1]), size(result[2])],
        };
        let strides = [image_strides(op, op.operand(0))?, image_strides(op, op.result(0))?];
        Ok(PoolKernel { shape, kind, strides, numbers })
    }

    /// Bytes of a number.
    fn bytes(&self) -> u64 {
        self.numbers.bytes() as u64
    }

    fn slide(&self) -> Slide {
        let Pool2dShape { batch, input, output, kernel, dilation, stride, pads, .. } = self.shape;
        Slide {
            images: batch,
            input: input[0],
            output: output[0],
            kernel: kernel[0],
            dilation: dilation[0],
            stride: stride[0],
            pad_top: pads[0],
        }
    }

    fn work(&self) -> RowWork {
        let Pool2dShape { input, output, kernel, stride, channels, .. } = self.shape;
        RowWork {
            products: output[1] * channels * kernel[0] * kernel[1],
            bytes: (input[1] * stride[0] + output[1]) * channels * self.numbers.bytes(),
            weight_bytes: 0,
        }
    }

    /// The call for some of the rows, from these bytes of result and operand on.
    fn call(&self, shape: Pool2dShape, [to, from]: [u64; 2], machine: &Machine) -> LoweredCall {
        let [input, output] = self.strides;
        let kernel = Pool2d::new(&shape, input, output, self.kind, machine.isa, machine.threads);
        let kernel = kernel.stored(self.numbers);
        let operands = vec![Pointer::Result(0, to), Pointer::Operand(0, from)];
        LoweredCall::kernel(&kernel, operands)
    }

    /// The call for a band. Its image reaches down to the last row, so that elements below the band count as
    /// image or padding just as for the whole.
    fn band(&self, band: Band, machine: &Machine) -> LoweredCall {
        let [input, output] = self.strides;
        let mut shape = self.shape;
        shape.batch = 1;
        shape.input[0] -= band.first_input;
        shape.output[0] = band.rows;
        shape.pads[0] = band.pads[0];
        let [to, from] = [band.written_from(output), band.read_from(input)];
        self.call(shape, [to * self.bytes(), from * self.bytes()], machine)
    }
}
