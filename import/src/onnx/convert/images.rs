//! Conversion of ImageDecoder.
//!
//! The size of an image is in its stream, and has no bound before that is read. So the stream must be known
//! at import, and the image is a constant. The feature `images` builds the decoders.

#[cfg(feature = "images")]
use ir::Blob;

use crate::onnx::call::{NodeConversion, Refusal, Results};
#[cfg(feature = "images")]
use crate::onnx::element::Element;
#[cfg(feature = "images")]
use crate::onnx::images::{ImageFault, PixelFormat, decode};
#[cfg(feature = "images")]
use crate::onnx::weights::Weight;

/// ImageDecoder: the pixels of an encoded image, or none if the stream is damaged.
#[cfg(feature = "images")]
pub(crate) fn image_decoder(call: &mut NodeConversion<'_, '_>) -> Results {
    let format = match call.node.text("pixel_format")?.unwrap_or("RGB") {
        "RGB" => PixelFormat::Rgb,
        "BGR" => PixelFormat::Bgr,
        "Grayscale" => PixelFormat::Grayscale,
        other => {
            let expected = "\"RGB\", \"BGR\" or \"Grayscale\"";
            return Err(format!("`pixel_format` {other:?}, expected {expected}").into());
        }
    };
    let stream = call.known_stream(0).map_err(|refusal| Refusal {
        message: format!("{}: the sizes of the image are in its stream", refusal.message),
        help: Some("make the stream a constant of the model".to_owned()),
    })?;
    let (dims, bytes) = match decode(&stream) {
        Ok(picture) => (picture.shape(format).to_vec(), picture.into_bytes(format)),
        Err(ImageFault::Damaged(_)) => (vec![0, 0, format.channels()], Vec::new()),
        Err(fault) => return Err(format!("the image is not decoded: {fault}").into()),
    };
    let weight = Weight { element: Element::Uint8, dims, blob: Blob::from_bytes(bytes) };
    Ok(vec![call.constant(weight, call.node.outputs[0])?])
}

/// ImageDecoder, in a build without decoders.
#[cfg(not(feature = "images"))]
pub(crate) fn image_decoder(_: &mut NodeConversion<'_, '_>) -> Results {
    Err(Refusal {
        message: "this build has no decoders of images".to_owned(),
        help: Some("`cargo build --release -p optc --features images` makes one that has".to_owned()),
    })
}
