//! The numerical error of a Winograd convolution for a layer's filter and depth, measured on a sample.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use crate::abi::Kernel;
use crate::conv::{Conv2d, Conv2dShape, ConvPrologue, ConvStrides};
use crate::isa::Isa;
use crate::map::Activation;
use crate::pack::WeightStrides;
use crate::winograd::Winograd;
use crate::winograd_filter::WinogradFilter;

/// Output channels of the sample.
const OUTPUTS: usize = 4;

impl Winograd {
    /// The largest error of one tile, relative to the tile's largest number, with as many input channels as a
    /// group has. Weights and pixels are pseudo-random, pixels from 0 to 1 as after a relu. Measured once for
    /// each filter and depth.
    pub fn sample_error(&self) -> f64 {
        static KNOWN: RwLock<BTreeMap<(WinogradFilter, usize), f64>> = RwLock::new(BTreeMap::new());
        let inputs = self.in_group();
        let sample = (self.filter, inputs);
        let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner).get(&sample).copied();
        known.unwrap_or_else(|| {
            let error = error_of(self.filter, inputs);
            KNOWN.write().unwrap_or_else(PoisonError::into_inner).insert(sample, error);
            error
        })
    }
}

fn error_of(filter: WinogradFilter, inputs: usize) -> f64 {
    let shape = Conv2dShape {
        batch: 1,
        input: filter.read(),
        in_channels: inputs,
        out_channels: OUTPUTS,
        kernel: filter.kernel(),
        stride: [1; 2],
        dilation: [1; 2],
        pads: [0; 4],
        groups: 1,
    };
    let taps: usize = filter.kernel().into_iter().product();
    let mut random = numbers();
    let x: Vec<f32> = random.by_ref().take(filter.points() * inputs).collect();
    let weights: Vec<f32> = random.map(|number| 2.0 * number - 1.0).take(OUTPUTS * inputs * taps).collect();
    let found = computed(&shape, &x, &weights);
    let mut error = 0f64;
    let mut largest = 0f64;
    for (index, found) in found.iter().enumerate() {
        let exact = exact(&shape, &x, &weights, index);
        error = error.max((f64::from(*found) - exact).abs());
        largest = largest.max(exact.abs());
    }
    error / largest
}

/// The numbers of a linear congruential generator (Knuth's MMIX), from 0 to 1.
fn numbers() -> impl Iterator<Item = f32> {
    let mut state = 1u64;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 24) as f32
    })
}

/// What the kernel computes; the instruction set changes no bit.
fn computed(shape: &Conv2dShape, x: &[f32], weights: &[f32]) -> Vec<f32> {
    let strides = ConvStrides::dense(shape);
    let isa = Isa::detect();
    let conv = Conv2d::new(shape, &strides, ConvPrologue::None, Activation::None, isa, 1);
    let mut packed = vec![0.0; conv.packed_len()];
    conv.pack(weights, WeightStrides::oihw(shape.in_channels, shape.kernel), &mut packed);
    let winograd = Winograd::new(shape, &strides, Activation::None, isa).expect("the shape is fit for it");
    let mut scratch = vec![[0u64; 8]; winograd.scratch_bytes() / 64 + 2];
    let aligned = scratch.as_ptr().cast::<u8>().align_offset(64);
    let [height, width] = shape.output();
    let mut out = vec![0.0; height * width * OUTPUTS];
    let none = std::ptr::null_mut();
    let operands: [*mut u8; 5] =
        [out.as_mut_ptr().cast(), x.as_ptr().cast_mut().cast(), packed.as_mut_ptr().cast(), none, none];
    for part in 0..winograd.parts() {
        // SAFETY: the operands are dense and of the shape's sizes; scratch has the bytes after its first
        // multiple of 64; the descriptor is aligned as its type is.
        unsafe {
            let scratch = scratch.as_mut_ptr().cast::<u8>().add(aligned);
            winograd.entry()(winograd.as_bytes().as_ptr(), operands.as_ptr(), part, scratch);
        }
    }
    out
}

/// One output, summed in `f64`.
fn exact(shape: &Conv2dShape, x: &[f32], weights: &[f32], index: usize) -> f64 {
    let [_, width] = shape.output();
    let [kernel_h, kernel_w] = shape.kernel;
    let (pixel, output) = (index / OUTPUTS, index % OUTPUTS);
    let taps = kernel_h * kernel_w;
    let inputs = shape.in_channels;
    let mut sum = 0.0;
    for tap in 0..taps {
        let (row, column) = (pixel / width + tap / kernel_w, pixel % width + tap % kernel_w);
        let x = &x[(row * shape.input[1] + column) * inputs..][..inputs];
        for (input, x) in x.iter().enumerate() {
            sum += f64::from(*x) * f64::from(weights[(output * inputs + input) * taps + tap]);
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_is_that_of_the_papers_at_all_depths() {
        let kernels = [[3, 3], [5, 5], [1, 3], [3, 1], [1, 5], [5, 1], [1, 7], [7, 1]];
        let depths = [1, 3, 16, 64, 256, 512];
        for (kernel, inputs) in kernels.into_iter().flat_map(|kernel| depths.map(|inputs| (kernel, inputs))) {
            if cfg!(miri) && inputs > 3 {
                continue;
            }
            let shape = Conv2dShape {
                batch: 1,
                input: [9, 9],
                in_channels: inputs,
                out_channels: 8,
                kernel,
                stride: [1; 2],
                dilation: [1; 2],
                pads: [0; 4],
                groups: 1,
            };
            let strides = ConvStrides::dense(&shape);
            let winograd = Winograd::new(&shape, &strides, Activation::Relu, Isa::detect()).unwrap();
            let error = winograd.sample_error();
            assert!((1e-8..5e-5).contains(&error), "{error} with {inputs} channels by {kernel:?}");
        }
    }
}
