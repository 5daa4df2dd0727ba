//! The lowering of a convolution, split: everything that does not depend on its sizes is prepared once.
//!
//! Batch, height and width of the image decide the kernel. Attributes, channels and fused operations do not
//! depend on them, and are read once. The strides of images that may be rows of wider ones are read at each
//! size. The result is the same as that of [`super::lower`].

use ir::body::OpRef;
use ir::opdef::Contract;
use ir::plan::attrs;
use ir::window::{Arrangement, is_plain, pitch};
use ir::{Body, Context, Kind, Value};
use kernels::{Conv2dShape, ConvStrides, ImageStrides, Winograd};

use super::{
    Call2d, ConvTypes, Convolution, ROW, conv_operands, conv2d_shape, has_weights, image_of, lower_call,
    prologue_of, strides_of, winograd,
};
use crate::arrangement;
use crate::call::{Lowered, Pointer};
use crate::constant::is_weight;
use crate::group::Fused;
use crate::kernels::row_of;
use crate::refusal::CodeRefusal;
use crate::row::{FasterInRoom, Machine};
use crate::shape::known_layout;

/// A convolution, alone or with fused operations.
pub(crate) struct PreparedConv {
    /// The image, and the result.
    values: [Value; 2],
    /// The residual, if there is one.
    residual: Option<Value>,
    images: ImageLayout,
    /// The convolution, with the batch, height and width of one sample.
    conv: Convolution,
    operands: Vec<Pointer>,
    /// The operand that may be read row by row.
    image: Option<usize>,
}

/// The layout of a convolution's images at all sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ImageLayout {
    /// Dense.
    Dense,
    /// Perhaps as rows of wider ones.
    InRows,
}

impl PreparedConv {
    /// Prepares a convolution whose sizes are known now. None if the operation is no convolution, its filter
    /// is computed, or its images have another layout.
    pub(crate) fn of(op: OpRef<'_>, images: ImageLayout, machine: &Machine) -> Option<PreparedConv> {
        if row_of(op, machine.own)?.runs != ROW.runs {
            return None;
        }
        let fused = Fused::of(op).ok()?;
        let is_conv = matches!(fused.root.kind(), Kind::Contract(Contract::Conv2d));
        let is_dense = |value: Value| is_plain(op.ctx, op.body, value);
        let mut values = op.body.operands(op.op).chain(op.body.results(op.op));
        if !is_conv
            || !has_weights(op, &fused)
            || images == ImageLayout::Dense && !values.all(is_dense)
            || op.attr(attrs::MEM_OVERLAP).is_some()
            || op.attr(attrs::MEM_SCRATCH).is_some()
            || op.attr(attrs::MEM_METHOD).is_some()
        {
            return None;
        }
        let shape = conv2d_shape(fused.root).ok()?;
        let values = [op.operand(fused.operands[0]), op.result(0)];
        let strides = ConvStrides::dense(&shape);
        let residual = fused.residual.map(|index| op.operand(index));
        // Weights are dense.
        let is_seen =
            |value: Value| value == values[0] || Some(value) == residual || is_weight(op.ctx, op.body, value);
        if images == ImageLayout::InRows && !op.body.operands(op.op).all(is_seen) {
            return None;
        }
        let prologue = prologue_of(&fused);
        if fused.multiplies_bf16 {
            return None;
        }
        let conv =
            Convolution { shape, strides, prologue, activation: fused.activation, numbers: ConvTypes::F32 };
        let operands = conv_operands(&conv, conv.kernel(None, machine).ok()?, &fused);
        Some(PreparedConv { values, residual, images, conv, operands, image: image_of(&fused) })
    }

    /// The lowering of `op`, which is the prepared convolution or in the same class, at the current sizes of
    /// its function, with the bands and scratch of its attributes.
    ///
    /// # Errors
    /// As for [`crate::lower::lower`].
    pub(crate) fn lower(&self, op: OpRef<'_>, machine: &Machine) -> Result<Lowered, CodeRefusal> {
        let conv = self.at(op, machine)?;
        let operands = self.operands.clone();
        if op.attr(attrs::MEM_METHOD).is_some() {
            return winograd::lower(op, &conv, operands, conv.in_bands(self.image), machine);
        }
        lower_call(op, Call2d::of(conv, conv.kernel(None, machine)?, operands, self.image), machine)
    }

    /// Its faster algorithm, as [`winograd::faster`] finds it.
    pub(crate) fn faster(&self, op: OpRef<'_>, machine: &Machine) -> Option<FasterInRoom> {
        if !Winograd::computes(&self.conv.shape) {
            return None;
        }
        let conv = self.at(op, machine).ok()?;
        winograd::of_convolution(&conv, conv.in_bands(self.image), machine)
    }

    /// The convolution at the current sizes of `op`'s function.
    fn at(&self, op: OpRef<'_>, machine: &Machine) -> Result<Convolution, CodeRefusal> {
        let unknown = || CodeRefusal::new("a size is not known");
        let [image, result] = self.values.map(|value| sizes(op.ctx, op.body, value));
        let image = image.ok_or_else(unknown)?;
        let shape = Conv2dShape { batch: image[0], input: [image[1], image[2]], ..self.conv.shape };
        let result = result.ok_or_else(unknown)?;
        let strides = match self.images {
            ImageLayout::InRows => self.spaced(op, image, result, machine)?,
            ImageLayout::Dense => {
                ConvStrides { input: dense(image), output: dense(result), residual: dense(result) }
            }
        };
        Ok(Convolution { shape, strides, ..self.conv })
    }

    /// The strides of images at the current sizes of `op`'s function.
    fn spaced(
        &self,
        op: OpRef<'_>,
        image: [usize; 4],
        result: [usize; 4],
        machine: &Machine,
    ) -> Result<ConvStrides, CodeRefusal> {
        let strides = |value: Value, sizes: [usize; 4], widest: Arrangement| {
            if let Some(strides) = strides_of_pixels(op, value, sizes) {
                return Ok(strides);
            }
            if is_plain(op.ctx, op.body, value) {
                return Ok(dense(sizes));
            }
            let layout = known_layout(op, value)?;
            if Arrangement::of(&layout) > widest {
                arrangement::check(op, machine.own)?;
            }
            strides_of(&layout)
        };
        let output = strides(self.values[1], result, ROW.writes)?;
        let residual = self.residual.map_or(Ok(output), |value| strides(value, result, Arrangement::Rows))?;
        Ok(ConvStrides { input: strides(self.values[0], image, Arrangement::Strides)?, output, residual })
    }
}

fn sizes(ctx: &Context, body: &Body, value: Value) -> Option<[usize; 4]> {
    let shape = ctx.type_data(body.ty(value)).tensor_shape()?;
    let mut sizes = [0; 4];
    for (size, dim) in sizes.iter_mut().zip(shape) {
        *size = usize::try_from(dim.known()?).ok()?;
    }
    (shape.len() == 4).then_some(sizes)
}

/// The strides of an image whose pixels are the rows of a wider one; none for another layout.
fn strides_of_pixels(op: OpRef<'_>, value: Value, [_, h, w, c]: [usize; 4]) -> Option<ImageStrides> {
    let (row, pitch) = pitch(op.ctx, op.body, value)?;
    let [h, w, c] = [h, w, c].map(|size| size as u64);
    // A single column belongs to its row: see `ByteWindow::strides`.
    let is_pixel = row == 4 * c && c > 0 && pitch.is_multiple_of(4) && w > 1;
    let from_pixel = pitch / 4;
    is_pixel.then_some(ImageStrides { n: h * w * from_pixel, h: w * from_pixel, w: from_pixel, c: 1 })
}

fn dense([_, h, w, c]: [usize; 4]) -> ImageStrides {
    let [h, w, c] = [h, w, c].map(|size| size as u64);
    ImageStrides { n: h * w * c, h: w * c, w: c, c: 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classes::is_like;
    use crate::lower::lower;
    use crate::testing::Net;

    #[test]
    fn what_is_prepared_becomes_what_its_operation_does_in_bands_and_with_little_scratch_too() {
        let mut net = Net::f32(&[&[1, 20, 10, 16]]);
        let ctx = net.ctx.clone();
        let x = net.arg(0);
        let weights = net.constant(&[24, 16, 3, 3], &[0.5; 24 * 16 * 9]);
        let attrs = [("pads", ctx.ints_attr(&[1; 4])), ("layout", ctx.str_attr("NHWC"))];
        let y = net.op("nn.conv2d", &[x, weights], &attrs);
        let op = net.body.defining_op(y).unwrap();
        let machine = crate::Cpu::native().machine(2);
        let prepared = PreparedConv::of(net.body.at(&ctx, op), ImageLayout::Dense, &machine)
            .expect("its image is dense");
        let whole = lower(net.body.at(&ctx, op), &machine).unwrap();
        assert!(is_like(&prepared.lower(net.body.at(&ctx, op), &machine).unwrap(), &whole));
        let bands = |rows| (attrs::MEM_OVERLAP, ctx.ints_attr(&[0, rows]));
        for (name, attr) in [bands(3), bands(-4), (attrs::MEM_SCRATCH, ctx.int_attr(1 << 15))] {
            net.body.set_attr(&ctx, op, name, attr);
            let expected = lower(net.body.at(&ctx, op), &machine).unwrap();
            let found = prepared.lower(net.body.at(&ctx, op), &machine).unwrap();
            assert!(is_like(&found, &expected), "{name}");
            assert!(!is_like(&found, &whole), "{name} says something");
            net.body.remove_attr(&ctx, op, name);
        }
    }

    #[test]
    fn what_is_prepared_writes_into_rows_of_wider_images_as_its_operation_does() {
        for [height, width] in [[20, 10], [20, 1], [1, 10], [1, 1]] {
            let mut net = Net::f32(&[&[2, height, width, 16]]);
            let ctx = net.ctx.clone();
            let x = net.arg(0);
            let weights = net.constant(&[24, 16, 3, 3], &[0.5; 24 * 16 * 9]);
            let attrs = [("pads", ctx.ints_attr(&[1; 4])), ("layout", ctx.str_attr("NHWC"))];
            let y = net.op("nn.conv2d", &[x, weights], &attrs);
            let op = net.body.defining_op(y).unwrap();
            let machine = crate::Cpu::native().machine(2);
            let dense = lower(net.body.at(&ctx, op), &machine).unwrap();
            let prepared = PreparedConv::of(net.body.at(&ctx, op), ImageLayout::InRows, &machine)
                .expect("only its images lie in rows");
            net.body.set_attr(&ctx, op, attrs::MEM_PITCH, ctx.ints_attr(&[24 * 4, 40 * 4]));
            let expected = lower(net.body.at(&ctx, op), &machine).unwrap();
            let found = prepared.lower(net.body.at(&ctx, op), &machine).unwrap();
            assert!(is_like(&found, &expected), "{height} x {width}");
            assert!(!is_like(&found, &dense), "{height} x {width}: the rows are further apart");
        }
    }
}
