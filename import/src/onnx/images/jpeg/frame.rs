//! A JPEG frame: its components, and the coefficients read by its scans.

use super::segments::Quantization;
use super::transform;
use super::upsample::Plane;
use crate::onnx::images::{ImageFault, cut_short, damaged, pixel_count, refused};

/// The edge of a block of samples.
pub(super) const EDGE: usize = 8;
/// A block in which all coefficients are 0.
const NO_COEFFICIENTS: CoefficientBlock = [0; 64];

/// The coefficients of a block, by their index in it.
pub(super) type CoefficientBlock = [i16; 64];

/// The order in which scans store coefficients.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Coding {
    /// Block by block.
    Sequential,
    /// Some of all blocks at a time, and the bits of each from the highest.
    Progressive,
}

/// A component: a colour, or inks, or luma, or a difference of colours.
pub(super) struct Component {
    pub(super) name: u8,
    /// The sampling factor along an axis: its samples, in proportion to those of the other components.
    pub(super) across: usize,
    pub(super) down: usize,
    pub(super) quantization_number: u8,
    /// The divisors when its first scan began.
    pub(super) quantization: Option<Quantization>,
    /// Samples that belong to the image.
    width: usize,
    height: usize,
    /// Blocks in a row, including those that complete the last unit; the blocks of all rows are `blocks`.
    pub(super) blocks_across: usize,
    pub(super) blocks: Vec<CoefficientBlock>,
    /// The number of missing low bits of each coefficient, in the order of the stream; none before its first
    /// scan.
    pub(super) missing_bits: [Option<u8>; 64],
}

/// A frame.
pub(super) struct Frame {
    pub(super) coding: Coding,
    pub(super) width: usize,
    pub(super) height: usize,
    /// The greatest factors of its components.
    pub(super) across: usize,
    pub(super) down: usize,
    pub(super) components: Vec<Component>,
    /// Whether its first scan had all components.
    pub(super) is_one_scan: bool,
}

impl Frame {
    /// The frame that a segment describes, in a stream of `stream_bytes`.
    pub(super) fn read(segment: &[u8], coding: Coding, stream_bytes: usize) -> Result<Frame, ImageFault> {
        let (&[precision, h1, h0, w1, w0, count], rest) =
            segment.split_first_chunk().ok_or_else(cut_short)?;
        let height = usize::from(u16::from_be_bytes([h1, h0]));
        let width = usize::from(u16::from_be_bytes([w1, w0]));
        if precision != 8 {
            return Err(refused(format!("samples of JPEG with {precision} bits")));
        }
        pixel_count(width, height)?;
        let (described, []) = rest.as_chunks::<3>() else { return Err(damaged("a frame of odd length")) };
        if described.len() != usize::from(count) || !matches!(count, 1 | 3 | 4) {
            return Err(damaged("a frame has not 1, 3 or 4 components"));
        }
        let factors = described.iter().map(|[_, factors, _]| (factors >> 4, factors & 15));
        if !factors.clone().all(|(across, down)| (1..=4).contains(&across) && (1..=4).contains(&down)) {
            return Err(damaged("a factor of samples is not 1 to 4"));
        }
        let most = factors.fold((1, 1), |most, (across, down)| (most.0.max(across), most.1.max(down)));
        let mut frame = Frame {
            coding,
            width,
            height,
            across: most.0.into(),
            down: most.1.into(),
            components: Vec::new(),
            is_one_scan: false,
        };
        frame.components = described.iter().map(|described| frame.component(*described)).collect();
        frame.allocate(stream_bytes)?;
        Ok(frame)
    }

    fn component(&self, [name, factors, quantization_number]: [u8; 3]) -> Component {
        let across = usize::from(factors >> 4);
        let down = usize::from(factors & 15);
        Component {
            name,
            across,
            down,
            quantization_number,
            quantization: None,
            width: (self.width * across).div_ceil(self.across),
            height: (self.height * down).div_ceil(self.down),
            blocks_across: self.units_across() * across,
            blocks: Vec::new(),
            missing_bits: [None; 64],
        }
    }

    /// The units in a row; a unit has as many blocks of each component as its factors say.
    pub(super) fn units_across(&self) -> usize {
        self.width.div_ceil(EDGE * self.across)
    }

    /// The rows of units.
    pub(super) fn units_down(&self) -> usize {
        self.height.div_ceil(EDGE * self.down)
    }

    /// Makes room for the coefficients. Each block takes a bit of the stream or more.
    fn allocate(&mut self, stream_bytes: usize) -> Result<(), ImageFault> {
        let units_down = self.units_down();
        let counts = self.components.iter().map(|component| component.blocks_across * component.down);
        if counts.sum::<usize>() * units_down > 8 * stream_bytes {
            return Err(cut_short());
        }
        for component in &mut self.components {
            component.blocks = vec![NO_COEFFICIENTS; component.blocks_across * component.down * units_down];
        }
        Ok(())
    }

    /// Whether the first scan contains everything.
    pub(super) fn is_whole(&self) -> bool {
        self.is_one_scan && self.coding == Coding::Sequential
    }

    /// Refuses a frame with missing scans: libjpeg smooths it.
    pub(super) fn check_is_complete(&self) -> Result<(), ImageFault> {
        let bits = self.components.iter().flat_map(|component| &component.missing_bits);
        if bits.into_iter().all(|bits| *bits == Some(0)) {
            return Ok(());
        }
        Err(refused("a JPEG without the scans of all coefficients"))
    }

    /// The samples of each component.
    pub(super) fn planes(&self) -> Result<Vec<Plane>, ImageFault> {
        self.components.iter().map(Component::plane).collect()
    }
}

impl Component {
    /// Blocks of the image's own samples along an axis: what a scan of this component alone has.
    pub(super) fn own_blocks(&self) -> (usize, usize) {
        (self.width.div_ceil(EDGE), self.height.div_ceil(EDGE))
    }

    fn plane(&self) -> Result<Plane, ImageFault> {
        let quantization = self.quantization.ok_or_else(|| damaged("a component has no divisors"))?;
        let stride = self.blocks_across * EDGE;
        let mut samples = vec![0; self.blocks.len() * EDGE * EDGE];
        let strips = samples.chunks_mut(stride * EDGE).zip(self.blocks.chunks(self.blocks_across));
        for (strip, blocks) in strips {
            for (column, block) in blocks.iter().enumerate() {
                let block = transform::samples(block, &quantization)?;
                for (row, samples) in strip.chunks_mut(stride).zip(block.as_chunks::<EDGE>().0) {
                    row[column * EDGE..][..EDGE].copy_from_slice(samples);
                }
            }
        }
        Ok(Plane { width: self.width, height: self.height, stride, samples })
    }
}
