//! How convolutions, alone or with operations fused to them, are lowered to calls of the kernels.

use ir::body::OpRef;
use ir::dialects::nn::{SlidingWindow, window_of};
use ir::opdef::{Contract, Strided};
use ir::plan::attrs;
use ir::target::{Bands, GroupPosition};
use ir::window::Arrangement;
use ir::{Op, Value};
use kernels::{
    Conv2d, Conv2dShape, ConvNumbers, ConvStrides, DepthwiseConv2d, ImageStrides, PairConv2d, Panels,
    StoredFloat, WeightStrides, are_narrow,
};

use crate::bands::{self, Band, RowWork, Rowwise, Slide, band_rows};
use crate::call::{Lowered, LoweredCall, Pointer};
use crate::constant::is_weight;
use crate::group::{self, Fused, PrologueStep, prologue_step};
use crate::kernels::packing::ComputedFilter;
use crate::refusal::CodeRefusal;
use crate::row::{KernelRow, Machine, Runs};
use crate::shape::{check_f32, known_layout};
use crate::weights::{PackingKey, WeightPacking};

pub(crate) mod prepared;
mod winograd;

/// `nn.conv2d`, alone or with fused operations.
pub(crate) const ROW: KernelRow = KernelRow {
    name: "conv2d",
    doc: "Convolutions of NHWC images, with prologue, bias, residual and activation; `depthwise` if each \
          channel has a group of its own.",
    runs: Runs::Contract(Contract::Conv2d),
    reads: |whole, operand| match Fused::of_stored(whole) {
        Ok(fused) if fused.adds(operand) => Arrangement::Rows,
        Ok(fused) if operand == fused.operands[0] && !has_narrow_groups(fused.root) => Arrangement::Strides,
        Ok(fused) if operand == fused.operands[1] && !has_weights(whole, &fused) => Arrangement::Strides,
        Ok(_) => Arrangement::Rows,
        Err(_) => Arrangement::Plain,
    },
    reads_a_copy: |whole, operand| match Fused::of_stored(whole) {
        Ok(fused) => operand == fused.operands[0] && copies_lines(whole, &fused),
        Err(_) => false,
    },
    writes: Arrangement::Rows,
    access: group::added_access,
    joins: Some(|root, op, place| match place {
        GroupPosition::Prologue => takes_prologue(root, op),
        _ => group::follows(op, place),
    }),
    faster: Some(winograd::faster),
    rowwise: Some(rowwise),
    lower,
    ..KernelRow::PLAIN
};

/// Whether its kernel would be slow if the channels of its image were not contiguous. A copy takes less time.
fn has_narrow_groups(root: OpRef<'_>) -> bool {
    let groups = root.int("groups").and_then(|groups| u64::try_from(groups).ok());
    let (Some(groups @ 1..), Some(&[outputs, inputs, ..])) = (groups, root.operand_shape(1).as_deref())
    else {
        return false;
    };
    let [groups, inputs, outputs] = [groups, inputs, outputs / groups].map(|count| count as usize);
    are_narrow(groups, inputs, outputs)
}

/// Whether its kernel copies lines of the image, at any size of that. At a stride of 1, Winograd's algorithm
/// may be faster, and it reads the image in place.
fn copies_lines(whole: OpRef<'_>, fused: &Fused<'_>) -> bool {
    let root = fused.root;
    let Some(shape) = filter_shape(root) else { return false };
    let [image, filter] = [0, 1].map(|index| whole.operand(fused.operands[index]));
    let tensors = [image, filter, whole.body.result(whole.op, 0)];
    let is_f32 = |value: Value| matches!(group::stored(whole, value), Ok(StoredFloat::F32));
    let copies = match fused.multiplies_bf16 {
        true => shape.widens_planes(),
        false => shape.reads_copied_lines() && tensors.into_iter().all(is_f32),
    };
    root.int("groups") == Some(1) && shape.stride != [1, 1] && has_weights(whole, fused) && copies
}

/// The sizes of a convolution in one group, but for batch and image. The sizes of weights are known even if
/// others are named.
pub(super) fn filter_shape(root: OpRef<'_>) -> Option<Conv2dShape> {
    let filter = root.operand_shape(1)?;
    let &[outputs, channels, height, width] = &filter[..] else { return None };
    let window = window_of(root)?;
    let size = |size: u64| size as usize;
    Some(Conv2dShape {
        batch: 1,
        input: [1, 1],
        in_channels: size(channels),
        out_channels: size(outputs),
        kernel: [height, width].map(size),
        stride: window.strides.map(size),
        dilation: window.dilations.map(size),
        pads: window.pads.map(size),
        groups: 1,
    })
}

/// The sizes of an NHWC convolution.
pub(super) fn conv2d_shape(op: OpRef<'_>) -> Result<Conv2dShape, CodeRefusal> {
    if op.text("layout") != Some("NHWC") {
        return Err(CodeRefusal::new("its layout is not NHWC: run the pass `layout` first"));
    }
    let unknown = || CodeRefusal::new("a size is not known");
    let image = op.operand_shape(0).ok_or_else(unknown)?;
    let filter = op.operand_shape(1).ok_or_else(unknown)?;
    let SlidingWindow { kernel, strides, pads, dilations, .. } =
        window_of(op).ok_or_else(|| CodeRefusal::new("its window is malformed"))?;
    let groups =
        op.int("groups").and_then(|groups| usize::try_from(groups).ok()).filter(|groups| *groups > 0);
    let groups = groups.ok_or_else(|| CodeRefusal::new("`groups` is not at least 1"))?;
    let size = |size: u64| size as usize;
    if size(image[3]) != size(filter[1]) * groups || !size(filter[0]).is_multiple_of(groups) {
        return Err(CodeRefusal::new("its channels are not those of its groups at all sizes"));
    }
    Ok(Conv2dShape {
        batch: size(image[0]),
        input: [size(image[1]), size(image[2])],
        in_channels: size(image[3]),
        out_channels: size(filter[0]),
        kernel: kernel.map(size),
        stride: strides.map(size),
        dilation: dilations.map(size),
        pads: pads.map(size),
        groups,
    })
}

/// Whether a convolution can apply `op`, and everything between the two, while it reads its input.
fn takes_prologue(root: OpRef<'_>, op: OpRef<'_>) -> bool {
    // With a larger window, the prologue would be computed once for each tap.
    let filter = root.operand_shape(1);
    let Some(&[_, channels, 1, 1]) = filter.as_deref() else { return false };
    if root.text("layout") != Some("NHWC") || root.int("groups") != Some(1) {
        return false;
    }
    let mut later: Option<PrologueStep> = None;
    let mut chain = chain(root, op);
    chain.reverse();
    chain.into_iter().all(|op| {
        let op = root.body.at(root.ctx, op);
        let step = prologue_step(op).filter(|step| later.is_none_or(|later| *step < later));
        let fits = step.is_some_and(|step| step == PrologueStep::Relu || reads_channels(op, channels));
        later = step;
        fits
    })
}

/// The operations from `op` to the root's first operand.
fn chain(root: OpRef<'_>, op: OpRef<'_>) -> Vec<Op> {
    let mut ops = vec![op.op];
    let mut value = root.operand(0);
    let mut between = Vec::new();
    while let Some(producer) = root.body.defining_op(value).filter(|producer| *producer != op.op) {
        between.push(producer);
        if root.body.operand_count(producer) == 0 || between.len() > 3 {
            break;
        }
        value = root.body.operand(producer, 0);
    }
    between.reverse();
    ops.append(&mut between);
    ops
}

/// Whether operand 1 has one number for each channel.
fn reads_channels(op: OpRef<'_>, channels: u64) -> bool {
    group::is_per_channel(op, op.operand(1), channels)
}

/// A convolution, alone or with fused operations, as a kernel that runs on any range of rows.
///
/// # Errors
/// If no kernel runs it, or it can't be divided into rows.
fn rowwise(op: OpRef<'_>, machine: &Machine) -> Result<Rowwise, CodeRefusal> {
    let fused = Fused::of_stored(op)?;
    Call2d::new(op, &fused, machine)?.rowwise(*machine)
}

/// The calls that run a convolution with its fused operations.
fn lower(whole: OpRef<'_>, machine: &Machine) -> Result<Lowered, CodeRefusal> {
    let fused = Fused::of_stored(whole)?;
    lower_call(whole, Call2d::new(whole, &fused, machine)?, machine)
}

/// The calls of a convolution with the algorithm, bands and scratch of its attributes.
fn lower_call(whole: OpRef<'_>, call: Call2d, machine: &Machine) -> Result<Lowered, CodeRefusal> {
    if whole.attr(attrs::MEM_METHOD).is_some() {
        if !call.packs.is_empty() {
            return Err(CodeRefusal::new("Winograd's algorithm packs no filter while the program runs"));
        }
        let image = call.conv.in_bands(call.image);
        return winograd::lower(whole, &call.conv, call.operands, image, machine);
    }
    // Each worker's scratch is a multiple of 64 bytes.
    let shared_bytes = call.shared_bytes();
    let scratch = attrs::scratch_bytes(whole).map(|bytes| bytes.saturating_sub(shared_bytes) as usize);
    let limit = scratch.map(|bytes| bytes / machine.threads / 64 * 64);
    let kernel = limit.map_or(call.kernel, |bytes| call.kernel.within(bytes, machine.threads));
    let bands = call.bands(machine);
    let mut calls = call.packs.clone();
    match band_rows(whole, bands)? {
        None => {
            calls.reserve_exact(1);
            calls.push(kernel.call(call.operands));
        }
        Some(rows) => {
            let bands = call.conv.slide().bands(rows)?;
            let of_band = |band: &Band| call.band(*band, limit, machine);
            calls.extend(bands::calls(
                &bands,
                |band| call.conv.part_operands(&call.operands, band),
                of_band,
            )?);
        }
    }
    let shape = call.conv.shape;
    let name = match kernel {
        ConvKernel::Bf16(_) => "conv2d_bf16",
        ConvKernel::Depthwise(_) => "depthwise_bf16",
        ConvKernel::F32(_) if shape.groups > 1 && shape.groups == shape.in_channels => "depthwise",
        ConvKernel::F32(_) => "conv2d",
    };
    let least = (kernel.least_scratch_bytes() as u64).next_multiple_of(64);
    Ok(Lowered {
        shared_bytes,
        least_scratch_bytes: Some(shared_bytes + least * machine.threads as u64),
        bands,
        ..Lowered::new(name, calls)
    })
}

fn prologue_of(fused: &Fused<'_>) -> kernels::ConvPrologue {
    match fused.prologue {
        None => kernels::ConvPrologue::None,
        Some(prologue) if prologue.relu.is_some() => kernels::ConvPrologue::ScaleShiftRelu,
        Some(_) => kernels::ConvPrologue::ScaleShift,
    }
}

/// A convolution, its kernel and its operands.
struct Call2d {
    conv: Convolution,
    /// The kernel with all the scratch that it prefers.
    kernel: ConvKernel,
    /// The calls that pack the filter, if that is computed.
    packs: Vec<LoweredCall>,
    /// The operands of the call for all rows.
    operands: Vec<Pointer>,
    /// The operand that may be read row by row, if there is one.
    image: Option<usize>,
    weight_bytes: usize,
}

impl Call2d {
    fn new(whole: OpRef<'_>, fused: &Fused<'_>, machine: &Machine) -> Result<Call2d, CodeRefusal> {
        check_f32(fused.root)?;
        let numbers = ConvTypes { multiplies_bf16: fused.multiplies_bf16, stored: fused.numbers(whole)? };
        let shape = conv2d_shape(fused.root)?;
        if fused.prologue.is_some() && (shape.kernel != [1; 2] || shape.groups != 1) {
            return Err(CodeRefusal::new("its prologue would be computed once for each tap"));
        }
        let output = image_strides(whole, whole.result(0))?;
        let strides = ConvStrides {
            input: image_strides(whole, whole.operand(fused.operands[0]))?,
            output,
            residual: fused
                .residual
                .map_or(Ok(output), |index| image_strides(whole, whole.operand(index)))?,
        };
        let (prologue, activation) = (prologue_of(fused), fused.activation);
        let conv = Convolution { shape, strides, prologue, activation, numbers };
        let kernel = conv.kernel(None, machine)?;
        let operands = conv_operands(&conv, kernel, fused);
        if has_weights(whole, fused) {
            return Ok(Call2d::of(conv, kernel, operands, image_of(fused)));
        }
        if numbers.multiplies_bf16 {
            return Err(CodeRefusal::new("a filter of bf16 is not packed while the program runs"));
        }
        let mut call = Call2d::of(conv, kernel, operands, None);
        call.operands[2] = Pointer::Shared(0);
        call.packs = computed_filter(whole, fused, &shape)?.pack(&kernel.panels(), machine);
        Ok(call)
    }

    /// A convolution's call with these operands; `image` is the operand read row by row, if the convolution
    /// can run in bands.
    fn of(conv: Convolution, kernel: ConvKernel, operands: Vec<Pointer>, image: Option<usize>) -> Call2d {
        let image = image.filter(|_| conv.slide().has_windows_inside());
        Call2d {
            conv,
            kernel,
            packs: Vec::new(),
            operands,
            image,
            weight_bytes: kernel.panels().packed_len() * 4,
        }
    }

    /// The bytes of shared scratch for a computed filter.
    fn shared_bytes(&self) -> u64 {
        if self.packs.is_empty() { 0 } else { (self.weight_bytes as u64).next_multiple_of(64) }
    }

    fn bands(&self, machine: &Machine) -> Option<Bands> {
        let free_rows = self.conv.work(self.weight_bytes).free_rows(machine.threads);
        let operand = self.conv.in_bands(self.image)?;
        Some(Bands { operand, free_rows, multiple: 1 })
    }

    /// The call for a band, with at most `limit` bytes of scratch for each worker if there is a limit.
    fn band(&self, band: Band, limit: Option<usize>, machine: &Machine) -> Result<LoweredCall, CodeRefusal> {
        Ok(self.conv.part(&band).kernel(limit, machine)?.call(self.conv.part_operands(&self.operands, &band)))
    }

    fn rowwise(self, machine: Machine) -> Result<Rowwise, CodeRefusal> {
        let image = self.image.ok_or_else(|| CodeRefusal::new("it does not read its image row by row"))?;
        let ConvStrides { input, output, .. } = self.conv.strides;
        let ConvNumbers { input: x, output: out, .. } = self.conv.numbers.stored;
        Ok(Rowwise {
            slide: self.conv.slide(),
            image,
            row_bytes: [input.h * x.bytes() as u64, output.h * out.bytes() as u64],
            image_bytes: [input.n * x.bytes() as u64, output.n * out.bytes() as u64],
            work: self.conv.work(self.weight_bytes),
            call: Box::new(move |band, limit| {
                self.band(band, limit, &machine).expect("a band's groups are those of the whole")
            }),
        })
    }
}

/// A convolution with its prologue and epilogue.
#[derive(Clone, Copy)]
struct Convolution {
    shape: Conv2dShape,
    strides: ConvStrides,
    prologue: kernels::ConvPrologue,
    activation: kernels::Activation,
    numbers: ConvTypes,
}

/// The element types of a convolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ConvTypes {
    /// Whether it multiplies only `bf16`; otherwise `f32`.
    multiplies_bf16: bool,
    /// Those of its images.
    stored: ConvNumbers,
}

impl ConvTypes {
    /// `f32` everywhere.
    const F32: ConvTypes = ConvTypes {
        multiplies_bf16: false,
        stored: ConvNumbers { input: StoredFloat::F32, residual: StoredFloat::F32, output: StoredFloat::F32 },
    };
}

/// The kernel of a convolution or of a product.
#[derive(Clone, Copy)]
pub(crate) enum ConvKernel {
    /// Of `f32`.
    F32(Conv2d),
    /// Of `bf16`, with sums in `f32`.
    Bf16(PairConv2d),
    /// Of `f32`, with images stored as `bf16`, each channel in a group of its own.
    Depthwise(DepthwiseConv2d),
}

impl ConvKernel {
    /// A call of the kernel.
    pub(crate) fn call(&self, operands: Vec<Pointer>) -> LoweredCall {
        match self {
            ConvKernel::F32(kernel) => LoweredCall::kernel(kernel, operands),
            ConvKernel::Bf16(kernel) => LoweredCall::kernel(kernel, operands),
            ConvKernel::Depthwise(kernel) => LoweredCall::kernel(kernel, operands),
        }
    }

    fn within(self, bytes: usize, threads: usize) -> ConvKernel {
        match self {
            ConvKernel::F32(kernel) => ConvKernel::F32(kernel.within(bytes, threads)),
            ConvKernel::Bf16(kernel) => ConvKernel::Bf16(kernel.within(bytes, threads)),
            ConvKernel::Depthwise(_) => self,
        }
    }

    fn least_scratch_bytes(&self) -> usize {
        match self {
            ConvKernel::F32(kernel) => kernel.least_scratch_bytes(),
            ConvKernel::Bf16(kernel) => kernel.least_scratch_bytes(),
            ConvKernel::Depthwise(_) => 0,
        }
    }

    /// The panels of packed weights.
    pub(crate) fn panels(&self) -> Panels {
        match self {
            ConvKernel::F32(kernel) => kernel.panels(),
            ConvKernel::Bf16(kernel) => kernel.panels(),
            ConvKernel::Depthwise(kernel) => kernel.panels(),
        }
    }

    /// The packing of weights at these strides.
    pub(crate) fn packing(self, strides: WeightStrides) -> WeightPacking {
        let WeightStrides { o, i, h, w } = strides;
        let key = PackingKey::new(&self.panels(), [o, i, h, w]);
        match self {
            ConvKernel::F32(kernel) => {
                let rows = kernel.row_packing(strides);
                WeightPacking::new(key, kernel.packed_len(), rows, move |from, to| {
                    kernel.pack(from, strides, to)
                })
            }
            ConvKernel::Bf16(kernel) => {
                WeightPacking::new(key.of_pairs(), kernel.packed_len(), None, move |from, to| {
                    kernel.pack(from, strides, to);
                })
            }
            ConvKernel::Depthwise(kernel) => {
                WeightPacking::new(key, kernel.packed_len(), None, move |from, to| {
                    kernel.pack(from, strides, to);
                })
            }
        }
    }
}

impl Convolution {
    /// The convolution of a band's rows.
    fn part(&self, band: &Band) -> Convolution {
        let mut part = *self;
        part.shape.batch = 1;
        part.shape.input[0] = band.inputs;
        [part.shape.pads[0], part.shape.pads[2]] = band.pads;
        part
    }

    /// The operands of a band's call, from those of the whole.
    fn part_operands(&self, operands: &[Pointer], band: &Band) -> Vec<Pointer> {
        let ConvStrides { input, output, residual } = self.strides;
        let mut operands = operands.to_vec();
        let ConvNumbers { input: x, residual: added, output: out } = self.numbers.stored;
        operands[0].advance(band.written_from(output) * out.bytes() as u64);
        operands[1].advance(band.read_from(input) * x.bytes() as u64);
        operands[4].advance(band.written_from(residual) * added.bytes() as u64);
        operands
    }

    /// The kernel, with at most `limit` bytes of scratch for each worker if there is a limit.
    ///
    /// # Errors
    /// If there is none for these groups and element types.
    fn kernel(&self, limit: Option<usize>, machine: &Machine) -> Result<ConvKernel, CodeRefusal> {
        let Convolution { shape, strides, prologue, activation, numbers } = self;
        let Machine { isa, threads, .. } = *machine;
        let numbers = numbers.stored;
        let kernel = if self.numbers.multiplies_bf16 {
            PairConv2d::new(shape, strides, numbers, *prologue, *activation, isa, threads)
                .map(ConvKernel::Bf16)
                .ok_or_else(|| CodeRefusal::new("no kernel multiplies bf16 in groups of so few channels"))?
        } else if self.numbers == ConvTypes::F32 {
            ConvKernel::F32(Conv2d::new(shape, strides, *prologue, *activation, isa, threads))
        } else {
            // Prologues are computed by kernels for one group only.
            DepthwiseConv2d::new(shape, strides, numbers, *activation, isa, threads)
                .filter(|_| *prologue == kernels::ConvPrologue::None)
                .map(ConvKernel::Depthwise)
                .ok_or_else(|| CodeRefusal::new("no kernel multiplies f32 and stores bf16 here"))?
        };
        Ok(limit.map_or(kernel, |bytes| kernel.within(bytes, threads)))
    }

    /// The image that it reads row by row, if it can be read in several bands.
    fn in_bands(&self, image: Option<usize>) -> Option<usize> {
        image.filter(|_| self.slide().is_divisible())
    }

    fn slide(&self) -> Slide {
        let Conv2dShape { batch, input, kernel, stride, dilation, pads, .. } = self.shape;
        Slide {
            images: batch,
            input: input[0],
            output: self.shape.output()[0],
            kernel: kernel[0],
            dilation: dilation[0],
            stride: stride[0],
            pad_top: pads[0],
        }
    }

    fn work(&self, weight_bytes: usize) -> RowWork {
        let shape = &self.shape;
        let inputs = shape.input[1] * shape.in_channels;
        let outputs = shape.output()[1] * shape.out_channels;
        RowWork {
            products: outputs * shape.in_channels / shape.groups * shape.kernel[0] * shape.kernel[1],
            bytes: inputs * shape.stride[0] * self.numbers.stored.input.bytes()
                + outputs * self.numbers.stored.output.bytes(),
            weight_bytes,
        }
    }
}

/// The operands of the call for all rows. The packing of weights does not depend on batch, height and width.
fn conv_operands(conv: &Convolution, kernel: ConvKernel, fused: &Fused<'_>) -> Vec<Pointer> {
    let shape = conv.shape;
    let order = WeightStrides::oihw(shape.in_channels / shape.groups, shape.kernel);
    let mut operands = pointers(fused, kernel.packing(order));
    if let Some(prologue) = fused.prologue {
        // Without a shift, -0 is added: it changes no product, not even the sign of zero.
        operands.push(numbers(prologue.scale, 1.0, shape.in_channels));
        operands.push(numbers(prologue.shift, -0.0, shape.in_channels));
    }
    operands
}

/// The operand that is the convolution's image and nothing else.
fn image_of(fused: &Fused<'_>) -> Option<usize> {
    Some(fused.operands[0]).filter(|image| fused.residual != Some(*image))
}

/// The strides of an NHWC image: dense, or a part of a wider one.
pub(crate) fn image_strides(op: OpRef<'_>, image: Value) -> Result<ImageStrides, CodeRefusal> {
    strides_of(&known_layout(op, image)?)
}

/// The strides of an NHWC image.
fn strides_of(layout: &Strided) -> Result<ImageStrides, CodeRefusal> {
    match layout.strides[..] {
        [n, h, w, c] => {
            let [n, h, w, c] = [n, h, w, c].map(|stride| stride as u64);
            // The stride of a single channel is arbitrary; with 1, kernels may treat channels as contiguous.
            let c = if layout.shape[3] == 1 { 1 } else { c };
            Ok(ImageStrides { n, h, w, c })
        }
        _ => Err(CodeRefusal::new("its image has not four axes")),
    }
}

/// Whether the second operand is a weight.
pub(crate) fn has_weights(whole: OpRef<'_>, fused: &Fused<'_>) -> bool {
    is_weight(whole.ctx, whole.body, whole.operand(fused.operands[1]))
}

/// The layout of a filter that is computed.
fn computed_filter(
    whole: OpRef<'_>,
    fused: &Fused<'_>,
    shape: &Conv2dShape,
) -> Result<ComputedFilter, CodeRefusal> {
    let operand = fused.operands[1];
    let layout = known_layout(whole, whole.operand(operand))?;
    let [o, i, h, w] = layout.strides[..] else {
        return Err(CodeRefusal::new("its filter has not four axes"));
    };
    let [o, i, h, w] = [o, i, h, w].map(|stride| stride as usize);
    let [height, width] = shape.kernel;
    let taps = [height, width, shape.in_channels / shape.groups];
    Ok(ComputedFilter { operand, first_byte: 0, strides: WeightStrides { o, i, h, w }, taps })
}

/// `[out, x, packed weights, bias, residual]`.
pub(crate) fn pointers(fused: &Fused<'_>, packing: WeightPacking) -> Vec<Pointer> {
    let optional = |operand: Option<usize>| match operand {
        Some(index) => Pointer::Operand(index, 0),
        None => Pointer::Absent,
    };
    vec![
        Pointer::Result(0, 0),
        Pointer::Operand(fused.operands[0], 0),
        Pointer::Packed(fused.operands[1], packing),
        optional(fused.bias),
        optional(fused.residual),
    ]
}

fn numbers(operand: Option<usize>, otherwise: f32, count: usize) -> Pointer {
    match operand {
        Some(index) => Pointer::Operand(index, 0),
        None => Pointer::Repeated(otherwise, count),
    }
}

#[cfg(test)]
#[path = "conv_tests.rs"]
mod tests;
