//! The colours of the components of a JPEG frame, and their conversion to red, green and blue.
//!
//! The equations are those of JFIF (ITU-R BT.601 over the full range), with factors of 16 bits as in libjpeg.
//! Four components are inks, stored inverted by libjpeg's convention, which is Adobe's.

use super::frame::{Component, Frame};
use super::segments::ColourMarks;
use super::upsample::Plane;
use crate::onnx::images::{ImageFault, Picture, Pixels, rgb_of_inks};

/// The meaning of the components.
#[derive(Clone, Copy, PartialEq, Eq)]
enum JpegColours {
    Gray,
    Rgb,
    /// Luma and two differences.
    YCbCr,
    Cmyk,
    /// The inverse of the first three inks as luma and differences, and black.
    Ycck,
}

/// The colours, given by Adobe's segment, by JFIF's, or by the names of the components.
fn colours(components: &[Component], marks: ColourMarks) -> JpegColours {
    let names: Vec<u8> = components.iter().map(|component| component.name).collect();
    match (&names[..], marks.adobe) {
        ([_], _) => JpegColours::Gray,
        ([_, _, _], _) if marks.has_jfif => JpegColours::YCbCr,
        ([_, _, _], Some(0)) => JpegColours::Rgb,
        ([_, _, _], Some(_)) => JpegColours::YCbCr,
        (b"RGB", None) => JpegColours::Rgb,
        ([_, _, _], None) => JpegColours::YCbCr,
        (_, Some(0) | None) => JpegColours::Cmyk,
        (_, Some(_)) => JpegColours::Ycck,
    }
}

/// The image with these samples of its components.
pub(super) fn picture(frame: &Frame, planes: Vec<Plane>, marks: ColourMarks) -> Result<Picture, ImageFault> {
    let size = (frame.width, frame.height);
    let most = (frame.across, frame.down);
    let mut channels = Vec::new();
    for (component, plane) in frame.components.iter().zip(planes) {
        channels.push(plane.at_pixels(size, (component.across, component.down), most)?);
    }
    let samples = match colours(&frame.components, marks) {
        JpegColours::Gray => Pixels::Gray(channels.swap_remove(0)),
        JpegColours::Rgb => Pixels::Rgb(pixels(&channels, |rgb| rgb)),
        JpegColours::YCbCr => Pixels::Rgb(pixels(&channels, rgb_of_luma)),
        JpegColours::Cmyk => Pixels::Rgb(pixels(&channels, |inks| rgb_of_inks(inks.map(|ink| 255 - ink)))),
        JpegColours::Ycck => Pixels::Rgb(pixels(&channels, |[y, cb, cr, black]| {
            let [cyan, magenta, yellow] = rgb_of_luma([y, cb, cr]);
            rgb_of_inks([cyan, magenta, yellow, 255 - black])
        })),
    };
    Ok(Picture { width: frame.width, height: frame.height, samples })
}

fn pixels<const N: usize>(channels: &[Vec<u8>], rgb: impl Fn([u8; N]) -> [u8; 3]) -> Vec<u8> {
    let count = channels[0].len();
    (0..count).flat_map(|at| rgb(std::array::from_fn(|channel| channels[channel][at]))).collect()
}

/// A factor in fixed point, of 16 bits.
const fn factor(number: f64) -> i32 {
    (number * 65536.0 + 0.5) as i32
}

fn rgb_of_luma([y, cb, cr]: [u8; 3]) -> [u8; 3] {
    const HALF: i32 = 1 << 15;
    let y = i32::from(y);
    let cb = i32::from(cb) - 128;
    let cr = i32::from(cr) - 128;
    let red = y + ((factor(1.402) * cr + HALF) >> 16);
    let green = y + ((-factor(0.344_14) * cb - factor(0.714_14) * cr + HALF) >> 16);
    let blue = y + ((factor(1.772) * cb + HALF) >> 16);
    [red, green, blue].map(|channel| channel.clamp(0, 255) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn luma_and_differences_are_colours() {
        assert_eq!(rgb_of_luma([77, 128, 128]), [77; 3]);
        assert_eq!(rgb_of_luma([76, 85, 255]), [254, 0, 0]);
        assert_eq!(rgb_of_luma([255, 0, 0]), [76, 255, 28]);
    }
}
