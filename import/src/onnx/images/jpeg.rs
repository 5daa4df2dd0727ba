//! Decoder of JPEG streams, with the bits of libjpeg-turbo.
//!
//! The standard (ITU-T T.81) leaves rounding to the decoder. ONNX and Pillow use libjpeg-turbo: the accurate
//! integer transform, interpolation of halved colour differences, and conversion in fixed point. This decoder
//! supports baseline, extended and progressive frames of 8 bits in Huffman coding, of one component (gray),
//! three (YCbCr or RGB) or four (inks). Arithmetic coding, lossless and hierarchical frames, and samples of
//! 12 bits are refused. So are progressive frames with missing bits, which libjpeg smooths.
//!
//! A stream is split into segments ([`segments`]), its scans into Huffman codes ([`huffman`]) and these into
//! coefficients ([`scan`]). Blocks of coefficients become samples ([`transform`]), which are upsampled to the
//! image's size ([`upsample`]) and converted ([`colour`]). All coefficients are kept in memory: 2 bytes for
//! each sample.

mod colour;
mod frame;
mod huffman;
mod scan;
mod segments;
mod transform;
mod upsample;

use super::{ImageFault, Picture, damaged, refused};
use frame::Frame;
use segments::{Marker, SegmentReader};

/// The greatest number of scans of a stream: each visits all blocks.
const MOST_SCANS: usize = 1000;

/// The image in a stream.
pub(super) fn decode(stream: &[u8]) -> Result<Picture, ImageFault> {
    let mut decoder = SegmentReader::new(stream);
    let mut frame: Option<Frame> = None;
    let mut scans = 0;
    loop {
        match decoder.marker()? {
            Marker::StartOfFrame(coding) if frame.is_none() => {
                frame = Some(Frame::read(decoder.segment()?, coding, stream.len())?);
            }
            Marker::StartOfFrame(_) => return Err(damaged("it has two frames")),
            Marker::StartOfScan => {
                let segment = decoder.segment()?;
                let frame = frame.as_mut().ok_or_else(|| damaged("a scan comes before its frame"))?;
                scans += 1;
                if scans > MOST_SCANS {
                    return Err(refused(format!("it has more than {MOST_SCANS} scans")));
                }
                // libjpeg ignores data after the only scan of a sequential frame.
                if !frame.is_whole() || scans == 1 {
                    scan::read(&mut decoder, frame, segment)?;
                }
            }
            Marker::EndOfImage => break,
            Marker::Restart => {}
            Marker::Segment(kind) => decoder.read_segment(kind)?,
        }
    }
    let frame = frame.ok_or_else(|| damaged("it has no frame"))?;
    frame.check_is_complete()?;
    let planes = frame.planes()?;
    colour::picture(&frame, planes, decoder.colours())
}
