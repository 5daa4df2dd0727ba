//! How pools become calls of the kernels.

use ir::body::OpRef;
use ir::dialects::nn::window_of;
use kernels::{ImageStrides, Pool2d, Pool2dShape, PoolKind};

use crate::contract::check_f32;
use crate::lower::{Call, Lowered, Machine, Pointer};
use crate::pointwise::known_shape;
use crate::refusal::Refusal;

/// The largest element of each window.
pub(crate) fn lower_max(op: OpRef<'_>, machine: &Machine) -> Result<Lowered, Refusal> {
    pool(op, "max_pool2d", PoolKind::Max, machine)
}

/// The mean of each window.
pub(crate) fn lower_average(op: OpRef<'_>, machine: &Machine) -> Result<Lowered, Refusal> {
    let with_pads = op.attr("count_include_pad").is_some();
    let kind = if with_pads { PoolKind::AverageWithPads } else { PoolKind::Average };
    pool(op, "avg_pool2d", kind, machine)
}

fn pool(op: OpRef<'_>, name: &'static str, kind: PoolKind, machine: &Machine) -> Result<Lowered, Refusal> {
    check_f32(op)?;
    if op.text("layout") != Some("NHWC") {
        return Err(Refusal::new("its layout is not NHWC: run the pass `layout` first"));
    }
    let (image, result) = (known_shape(op, op.operand(0))?, known_shape(op, op.result(0))?);
    let window = window_of(op).ok_or_else(|| Refusal::new("its window is malformed"))?;
    let size = |size: u64| size as usize;
    let (input, output) = ([size(image[1]), size(image[2])], [size(result[1]), size(result[2])]);
    let channels = size(image[3]);
    let shape = Pool2dShape {
        batch: size(image[0]),
        input,
        channels,
        kernel: window.kernel.map(size),
        stride: window.strides.map(size),
        dilation: window.dilations.map(size),
        pads: window.pads.map(size),
        output,
    };
    let (from, to) = (ImageStrides::nhwc(input, channels), ImageStrides::nhwc(output, channels));
    let kernel = Pool2d::new(&shape, from, to, kind, machine.isa, machine.threads);
    let operands = vec![Pointer::Result(0, 0), Pointer::Operand(0, 0)];
    let call = Call::kernel("pool2d", &kernel, machine.isa, operands);
    Ok(Lowered::new(name, vec![call]))
}
