//! That pixels are Pillow's to the bit, and that no damage to a stream makes a decoder panic.
//!
//! `import/tests/data/images.txt` has streams of all formats with Pillow's pixels; `tests/onnx/images` makes
//! it.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use super::*;

/// A stream, and its pixels as RGB and as gray if it is decoded.
struct Sample {
    name: &'static str,
    stream: Vec<u8>,
    pixels: Option<[Vec<u8>; 2]>,
}

fn bytes(text: &str) -> Vec<u8> {
    if text == "-" { Vec::new() } else { BASE64_STANDARD.decode(text).unwrap() }
}

fn samples() -> Vec<Sample> {
    let lines = include_str!("../../../tests/data/images.txt").lines();
    lines
        .map(|line| {
            let mut words = line.split(' ');
            let name = words.next().unwrap();
            let stream = bytes(words.next().unwrap());
            let pixels = words.next().map(|rgb| [bytes(rgb), bytes(words.next().unwrap())]);
            Sample { name, stream, pixels }
        })
        .collect()
}

#[test]
fn pixels_are_those_of_pillow() {
    for Sample { name, stream, pixels } in samples() {
        let Some([rgb, gray]) = pixels else { continue };
        let decoded = || decode(&stream).unwrap_or_else(|fault| panic!("{name}: {fault}"));
        assert_eq!(decoded().shape(PixelFormat::Rgb).iter().product::<u64>(), rgb.len() as u64, "{name}");
        assert!(decoded().into_bytes(PixelFormat::Rgb) == rgb, "{name}");
        assert!(decoded().into_bytes(PixelFormat::Grayscale) == gray, "{name} as gray");
        let bgr = rgb.chunks(3).flat_map(|pixel| [pixel[2], pixel[1], pixel[0]]).collect::<Vec<_>>();
        assert!(decoded().into_bytes(PixelFormat::Bgr) == bgr, "{name} as BGR");
    }
}

#[test]
fn what_is_not_exact_is_refused_and_what_is_damaged_has_no_pixels() {
    for Sample { name, stream, pixels } in samples() {
        match decode(&stream) {
            Ok(_) => assert!(pixels.is_some(), "{name} is decoded"),
            Err(ImageFault::Refused(why)) => assert!(name.contains("refused"), "{name}: {why}"),
            Err(ImageFault::Damaged(why)) => assert!(name.contains("damaged"), "{name}: {why}"),
        }
    }
}

#[test]
fn a_stream_that_is_cut_off_has_no_other_pixels() {
    // In a text, truncation may turn the last number into another one.
    let samples = samples();
    let is_text = |name: &str| name.starts_with("pnm-2") || name.starts_with("pnm-3");
    for Sample { name, stream, .. } in samples.iter().filter(|sample| !is_text(sample.name)) {
        let whole = decode(stream).ok();
        for length in 0..stream.len() {
            let cut = decode(&stream[..length]).ok();
            assert!(cut.is_none() || cut == whole, "{name} of {length} bytes");
        }
    }
}

#[test]
fn a_jpeg_without_its_end_has_no_pixels() {
    for Sample { name, stream, .. } in samples().iter().filter(|sample| sample.name.starts_with("jpeg-")) {
        let cut = decode(&stream[..stream.len() - 1]);
        assert!(matches!(cut, Err(ImageFault::Damaged(_))), "{name}");
    }
}

/// Numbers of a linear congruential generator (Knuth's MMIX).
fn random_numbers(seed: u64) -> impl FnMut() -> usize {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    }
}

#[test]
fn changed_bytes_make_no_decoder_panic() {
    let mut random = random_numbers(5);
    let mut decoded = 0;
    for Sample { stream, .. } in samples().iter().filter(|sample| !sample.stream.is_empty()) {
        for _ in 0..60 {
            let mut changed = stream.clone();
            for _ in 0..=random() % 3 {
                // Half of them are in the header.
                let end = if random().is_multiple_of(2) { changed.len() } else { changed.len().min(60) };
                let at = random() % end;
                changed[at] = [0, 0xFF, changed[at] ^ 1 << (random() % 8), random() as u8][random() % 4];
            }
            let Ok(picture) = decode(&changed) else { continue };
            decoded += 1;
            let [height, width, _] = picture.shape(PixelFormat::Rgb);
            let bytes = picture.into_bytes(PixelFormat::Rgb).len();
            assert_eq!(bytes as u64, height * width * 3);
        }
    }
    assert!(decoded > 100, "only {decoded} are decoded: the changes test nothing");
}

#[test]
fn a_short_stream_of_many_pixels_takes_no_memory() {
    let sized = |name: &str, at: usize, sizes: &[u8]| {
        let samples = samples();
        let mut stream = samples.into_iter().find(|sample| sample.name == name).unwrap().stream;
        let at =
            if at > 0 { at } else { 5 + stream.windows(2).position(|pair| pair == [0xFF, 0xC0]).unwrap() };
        stream[at..at + sizes.len()].copy_from_slice(sizes);
        decode(&stream)
    };
    assert!(matches!(sized("jpeg-gray", 0, &[0xFF; 4]), Err(ImageFault::Refused(_))));
    let more_blocks_than_bits = sized("jpeg-gray", 0, &[0x10, 0, 0x10, 0]).unwrap_err();
    assert_eq!(more_blocks_than_bits.to_string(), cut_short().to_string());
    assert!(matches!(sized("bmp-32", 18, &[1, 0, 1, 0, 1, 0, 1, 0]), Err(ImageFault::Refused(_))));
    assert!(matches!(sized("bmp-32", 18, &[0, 0x10, 0, 0, 0, 0x10, 0, 0]), Err(ImageFault::Damaged(_))));
    assert!(sized("png-2-16", 16, &[0, 0, 0x20, 0, 0, 0, 0x20, 0]).is_err());
    let tall = sized("jpeg2000-tiles", 12, &[0, 0, 0x10, 0]);
    assert!(matches!(tall, Err(ImageFault::Damaged(_))), "not as many tiles as their headers take");
    let two_rows_more = sized("jpeg2000-tiles", 12, &[0, 0, 0, 40]);
    assert!(matches!(two_rows_more, Err(ImageFault::Damaged(_))), "tiles are missing");
    assert!(matches!(sized("webp-lossy", 4, &[0xFF, 0xFF, 0, 0]), Err(ImageFault::Damaged(_))));
    assert!(
        matches!(sized("webp-lossy", 22, &[0xFF]), Err(ImageFault::Damaged(_))),
        "a partition is too long"
    );
    let mut whole = samples().into_iter().find(|sample| sample.name == "webp-lossy").unwrap().stream;
    // The length of its first partition, which is that of the chunk.
    let length = u32::from_le_bytes(whole[16..20].try_into().unwrap()) << 5;
    let tag = length.to_le_bytes();
    (whole[20], whole[21], whole[22]) = (whole[20] & 31 | tag[0], tag[1], tag[2]);
    assert_eq!(decode(&whole).unwrap_err().to_string(), cut_short().to_string());
}

#[test]
fn a_jpeg_2000_of_more_samples_than_its_limit_is_refused() {
    let samples = samples();
    let sized = |name: &str, height: u32, width: u32| {
        let mut stream = samples.iter().find(|sample| sample.name == name).unwrap().stream.clone();
        let at = 8 + stream.windows(4).position(|bytes| bytes == b"\xFF\x4F\xFF\x51").unwrap();
        stream[at..at + 4].copy_from_slice(&width.to_be_bytes());
        stream[at + 4..at + 8].copy_from_slice(&height.to_be_bytes());
        decode(&stream).unwrap_err()
    };
    let refusal = refused("a JPEG 2000 of more than 33554432 samples").to_string();
    // A count equal to the limit passes this check; the stream is refused later, since tiles are missing.
    for (name, columns) in [("jpeg2000-RGBA", 4096), ("jpeg2000-L", 16384)] {
        assert_eq!(sized(name, 2048, columns).to_string(), cut_short().to_string(), "{name}");
        assert_eq!(sized(name, 2049, columns).to_string(), refusal, "{name}");
    }
    assert_eq!(sized("jpeg2000-RGB", 4096, 4096).to_string(), refusal);
}

#[test]
fn a_jpeg_of_more_scans_than_its_limit_is_refused() {
    let samples = samples();
    let stream = &samples.iter().find(|sample| sample.name == "jpeg-gray").unwrap().stream;
    let [begin, end] = [stream.windows(2).rposition(|pair| pair == [0xFF, 0xDA]).unwrap(), stream.len() - 2];
    let of_scans = |count: usize| {
        decode(&[&stream[..begin], &stream[begin..end].repeat(count), &stream[end..]].concat())
    };
    assert!(of_scans(1000).is_ok());
    let refusal = of_scans(1001).map(|_| ()).unwrap_err();
    assert_eq!(refusal.to_string(), refused("it has more than 1000 scans").to_string());
}

#[test]
fn a_jpeg_2000_says_its_channels_in_their_order() {
    let samples = samples();
    let stream = &samples.iter().find(|sample| sample.name == "jpeg2000-RGBA").unwrap().stream;
    // After the count of channels come the number, kind and colour of each of the four channels.
    let channels = 6 + stream.windows(4).position(|kind| kind == b"cdef").unwrap();
    let changed = |channel: usize, word: usize, number: u8| {
        let mut stream = stream.clone();
        stream[channels + channel * 6 + word * 2 + 1] = number;
        decode(&stream).map(|_| ()).map_err(|fault| fault.to_string())
    };
    let refusal = Err(refused("a JPEG 2000 of channels in another order").to_string());
    assert_eq!(changed(3, 1, 2), Ok(()), "colours that are multiplied by alpha already");
    for (channel, word, number) in
        [(0, 0, 1), (3, 0, 2), (1, 1, 1), (3, 1, 0), (3, 1, 3), (1, 2, 3), (3, 2, 1)]
    {
        assert_eq!(changed(channel, word, number), refusal, "word {word} of channel {channel}: {number}");
    }
}

#[test]
fn each_scan_of_a_jpeg_adds_bits() {
    let samples = samples();
    let sample = samples.iter().find(|sample| sample.name == "jpeg-progressive-0").unwrap();
    let scans = sample.stream.windows(2).enumerate().filter(|(_, pair)| **pair == [0xFF, 0xDA]);
    let begins: Vec<usize> = scans.map(|(at, _)| at).collect();
    let last = *begins.last().unwrap();
    let end = sample.stream.len() - 2;
    let without = [&sample.stream[..last], &sample.stream[end..]].concat();
    assert!(matches!(decode(&without), Err(ImageFault::Refused(_))), "libjpeg smooths what has not all bits");
    let twice = [&sample.stream[..end], &sample.stream[last..]].concat();
    assert!(matches!(decode(&twice), Err(ImageFault::Refused(_))));
}

#[test]
fn comments_and_numbers_of_lines_in_a_jpeg_say_nothing() {
    let samples = samples();
    let stream = &samples.iter().find(|sample| sample.name == "jpeg-444").unwrap().stream;
    let scan = stream.windows(2).position(|pair| pair == [0xFF, 0xDA]).unwrap();
    let skipped = b"\xFF\xFE\x00\x04\xFF\xD9\xFF\xDC\x00\x04\x00\x07\xFF\xFF";
    let more = [&stream[..scan], skipped, &stream[scan..]].concat();
    assert_eq!(decode(&more).unwrap(), decode(stream).unwrap());
    let reserved = [&stream[..scan], b"\xFF\x02\x00\x02", &stream[scan..]].concat();
    assert!(matches!(decode(&reserved), Err(ImageFault::Damaged(_))));
}

#[test]
fn luma_and_inks_are_those_of_pillow() {
    assert_eq!(luma(&[255, 255, 255]), 255);
    assert_eq!(luma(&[200, 100, 50]), 124);
    assert_eq!(rgb_of_inks([0, 128, 255, 0]), [255, 127, 0]);
    assert_eq!(rgb_of_inks([10, 20, 30, 55]), [192, 184, 176]);
}

/// The report about a stream: whether it is damaged or refused, and why.
fn said(stream: &[u8]) -> String {
    match decode(stream) {
        Ok(_) => "decoded".to_owned(),
        Err(ImageFault::Damaged(why)) => format!("damaged: {why}"),
        Err(ImageFault::Refused(why)) => format!("refused: {why}"),
    }
}

fn in_format(stream: &[u8], format: PixelFormat) -> Vec<u8> {
    decode(stream).unwrap().into_bytes(format)
}

fn as_gray(stream: &[u8]) -> Vec<u8> {
    in_format(stream, PixelFormat::Grayscale)
}

fn as_rgb(stream: &[u8]) -> Vec<u8> {
    in_format(stream, PixelFormat::Rgb)
}

const CUT_SHORT: &str = "damaged: it ends too early";

#[test]
fn luma_and_inks_are_rounded_to_the_nearest() {
    let lumas = [[18, 191, 0], [139, 97, 0], [199, 0, 0], [200, 100, 0], [0, 100, 200], [0, 0, 250]];
    assert_eq!(lumas.map(|pixel| luma(&pixel)), [118, 98, 60, 118, 82, 28]);
    assert_eq!(rgb_of_inks([1, 0, 128, 127]), [127, 128, 64]);
    assert_eq!(rgb_of_inks([1, 255, 254, 128]), [127, 0, 0]);
}

#[test]
fn an_image_has_a_pixel_and_at_most_its_bytes() {
    assert_eq!(pixel_count(89_478_485, 1).unwrap(), 89_478_485);
    assert_eq!(pixel_count(5, 7).unwrap(), 35);
    for [width, height] in [[1, 89_478_486], [usize::MAX, usize::MAX]] {
        let refusal = format!("{height} rows of {width} pixels have more than 268435456 bytes");
        assert_eq!(pixel_count(width, height).unwrap_err().to_string(), refusal);
    }
    for [width, height] in [[0, 5], [5, 0]] {
        assert_eq!(pixel_count(width, height).unwrap_err().to_string(), "it has no pixels");
    }
}

#[test]
fn a_pnm_header_has_numbers_between_spaces_and_comments() {
    assert_eq!(as_gray(b"P5\x0B1\x0C1\t255\rA"), [65]);
    assert_eq!(as_gray(b"P5 1 1 0000000255 A"), [65]);
    assert_eq!(as_gray(b"P1 1#ten\r0 1 1010101010"), [0, 255].repeat(5));
    let number = "damaged: a number is missing or has other characters than digits";
    for stream in [&b"P5 1 1 00000000255 A"[..], b"P2 #", b"P5 1 x 255 A", b"P5 -1 1 255 A", b"P2 1 1 9 x"] {
        assert_eq!(said(stream), number, "{stream:?}");
    }
    for stream in [&b"P5"[..], b"P5\x081 1 255 A", b"P5\x0E1 1 255 A", b"P51 1 255 A"] {
        assert_eq!(said(stream), "damaged: after its magic number there is no space", "{stream:?}");
    }
    for stream in [&b"P7 "[..], b"PF ", b"Pf "] {
        assert_eq!(said(stream), "refused: a file of PAM or PFM");
    }
    for stream in [&b"P"[..], b"P0 1 1 1", b"P8 1 1 1"] {
        assert_eq!(said(stream), "damaged: it begins like no format of images");
    }
    assert_eq!(said(b"P5 0 1 255 "), "damaged: it has no pixels");
}

#[test]
fn pnm_samples_are_scaled_from_their_greatest() {
    assert_eq!(as_gray(b"P5 4 1 15 \x00\x07\x0F\x10"), [0, 119, 255, 255]);
    assert_eq!(as_gray(b"P5 2 1 2 \x01\x02"), [128, 255]);
    assert_eq!(as_gray(b"P2 2 1 1 0 1"), [0, 255]);
    assert_eq!(as_gray(b"P2 2 2 1\n0  1\r\n\n 1 0\n"), [0, 255, 255, 0]);
    assert_eq!(as_rgb(b"P6 1 1 256 \x01\x00\x00\x80\x00\x01"), [255, 128, 1]);
    assert_eq!(as_rgb(b"P6 1 1 65535 \xFF\xFF\x80\x00\x00\x80"), [255, 128, 0]);
    assert_eq!(as_rgb(b"P3 1 1 65535 65535 0 32768"), [255, 0, 128]);
    assert_eq!(as_gray(b"P2 1 1 9 0000000009"), [255]);
    for stream in [&b"P3 1 1 65536 1 1 1"[..], b"P2 1 1 0 0"] {
        assert_eq!(said(stream), "damaged: its greatest sample is not 1 to 65535");
    }
    assert_eq!(said(b"P2 1 1 256 0"), "refused: gray samples of more than 8 bits");
    assert_eq!(said(b"P2 2 1 9 9 10"), "damaged: a sample is above the greatest");
    for stream in [&b"P6 1 1 256 \0\0\0\0\0"[..], b"P5 2 1 255 A", b"P2 3 1 9 1 2", b"P3 1 1 9 1 2"] {
        assert_eq!(said(stream), CUT_SHORT, "{stream:?}");
    }
}

#[test]
fn pnm_bits_are_black_where_they_are_1() {
    assert_eq!(as_gray(b"P1 3 1 101"), [0, 255, 0]);
    assert_eq!(as_gray(b"P1 2 1 0 1 1 0"), [255, 0]);
    assert_eq!(said(b"P1 3 1 10"), CUT_SHORT);
    assert_eq!(said(b"P1 1 1 2"), "damaged: a sample is neither 0 nor 1");
    let rows = [[255, 255, 255, 255, 0, 0, 0, 0], [0, 255, 0, 255, 0, 255, 0, 255]];
    assert_eq!(as_gray(b"P4 8 2 \x0F\xAA"), rows.concat());
    assert_eq!(said(b"P4 9 2 \0\0\0"), CUT_SHORT);
    // A comment includes the end of its line.
    assert_eq!(as_gray(b"P2 2 1 9 9 # x # y\n0"), [255, 0]);
    assert_eq!(as_gray(b"P2 1 1 99 1#x\n2"), [31]);
}

/// A bitmap with a header of 40 bytes; its pixels follow the header or the palette.
fn bitmap(size: [i32; 2], bits: u32, compression: u32, colours: u32, rest: &[u8]) -> Vec<u8> {
    let [width, height] = size.map(i32::cast_unsigned);
    let header = [40, width, height, 1 | bits << 16, compression, 0, 0, 0, colours, 0];
    let header = header.map(u32::to_le_bytes).concat();
    [&b"BM\0\0\0\0\0\0\0\0\x36\0\0\0"[..], &header, rest].concat()
}

#[test]
fn rows_of_a_bitmap_are_multiples_of_four_bytes_from_the_last_one_up() {
    let rows = [1, 2, 3, 0, 4, 5, 6, 0];
    assert_eq!(as_rgb(&bitmap([1, 2], 24, 0, 0, &rows)), [6, 5, 4, 3, 2, 1]);
    assert_eq!(as_rgb(&bitmap([1, -2], 24, 0, 0, &rows)), [3, 2, 1, 6, 5, 4]);
    assert_eq!(as_rgb(&bitmap([2, 1], 32, 0, 0, &rows)), [3, 2, 1, 6, 5, 4]);
    let halves = [0x1F, 0x7C, 0xE0, 0x83, 0x10, 0x42, 0, 0];
    assert_eq!(as_rgb(&bitmap([3, 1], 16, 0, 0, &halves)), [255, 0, 255, 0, 255, 0, 131, 131, 131]);
}

#[test]
fn a_bitmap_of_another_kind_is_damaged_or_refused() {
    let of = |bits: u32, compression: u32| said(&bitmap([1, 1], bits, compression, 0, &[1; 12]));
    assert_eq!(of(2, 0), "damaged: a bitmap of another number of bits");
    assert_eq!(of(8, 3), "damaged: a bitmap of masks with a palette");
    assert_eq!(of(32, 3), "refused: a bitmap with unusual masks");
    assert_eq!(of(8, 1), "refused: a compressed bitmap");
    assert_eq!(said(&bitmap([0, 1], 24, 0, 0, &[0; 4])), "damaged: it has no pixels");
    let changed = |at: usize, byte: u8| {
        let mut stream = bitmap([1, 1], 24, 0, 0, &[0; 4]);
        stream[at] = byte;
        said(&stream)
    };
    assert_eq!(changed(14, 41), "damaged: a bitmap with a header of unknown length");
    assert_eq!(changed(14, 124), CUT_SHORT);
    assert_eq!(changed(10, 0), "refused: a bitmap that does not say where its pixels begin");
}

#[test]
fn masks_of_a_bitmap_say_where_its_channels_are() {
    // The masks follow a header of 40 bytes, and are part of other headers.
    let masked = |header_bytes: u8, bits: u32, masks: &[u32], pixel: &[u8]| {
        let masks: Vec<u8> = masks.iter().flat_map(|mask| mask.to_le_bytes()).collect();
        let mut stream = bitmap([1, 1], bits, 3, 0, &[&masks[..], pixel].concat());
        stream[14] = header_bytes;
        stream[10] = 54 + masks.len() as u8;
        stream
    };
    let bgr = [0xFF_0000, 0xFF00, 0xFF];
    let pixel = [1, 2, 3, 9];
    let with_alpha = |masks: [u32; 3], alpha: u32| {
        let [first, second, third] = masks;
        masked(56, 32, &[first, second, third, alpha], &pixel)
    };
    assert_eq!(as_rgb(&masked(40, 16, &[0xF800, 0x7E0, 0x1F], &[0x10, 0x84])), [131, 129, 131]);
    assert_eq!(as_rgb(&masked(40, 24, &bgr, &pixel)), [3, 2, 1]);
    assert_eq!(as_rgb(&masked(52, 32, &bgr, &pixel)), [3, 2, 1], "there is no mask of alpha");
    for (masks, alpha, rgb) in [
        (bgr, 0, [3, 2, 1]),
        (bgr, 0xFF00_0000, [3, 2, 1]),
        ([0; 3], 0, [3, 2, 1]),
        ([0xFF00_0000, 0xFF_0000, 0xFF00], 0, [9, 3, 2]),
        ([0xFF00_0000, 0xFF_0000, 0xFF00], 0xFF, [9, 3, 2]),
        ([0xFF, 0xFF00, 0xFF_0000], 0xFF00_0000, [1, 2, 3]),
    ] {
        assert_eq!(as_rgb(&with_alpha(masks, alpha)), rgb, "{masks:x?} {alpha:x}");
    }
    for (masks, alpha) in [(bgr, 0xFF), ([0; 3], 0xFF00_0000), ([0xFF, 0xFF00, 0xFF_0000], 0)] {
        let found = said(&with_alpha(masks, alpha));
        assert_eq!(found, "refused: a bitmap with unusual masks", "{masks:x?} {alpha:x}");
    }
}

#[test]
fn a_palette_has_the_colours_of_a_bitmap() {
    let with = |bits: u32, colours: &[[u8; 4]], row: [u8; 4]| {
        bitmap([2, 1], bits, 0, colours.len() as u32, &[&colours.concat()[..], &row].concat())
    };
    let two = [[1, 2, 3, 0], [4, 5, 6, 0]];
    assert_eq!(as_rgb(&with(8, &two, [0, 1, 0, 0])), [3, 2, 1, 6, 5, 4]);
    assert_eq!(as_rgb(&with(4, &two, [0x10, 0, 0, 0])), [6, 5, 4, 3, 2, 1]);
    assert_eq!(said(&with(8, &two, [0, 2, 0, 0])), "refused: a pixel that is not in its palette");
    let grays: Vec<[u8; 4]> = (0..=255).map(|gray| [gray, gray, gray, 0]).collect();
    let ends = [grays[0], grays[255]];
    assert_eq!(as_rgb(&with(1, &ends, [0x40, 0, 0, 0])), [0, 0, 0, 255, 255, 255]);
    assert_eq!(as_rgb(&with(4, &grays[..2], [1, 0, 0, 0])), [0, 0, 0, 1, 1, 1]);
    assert_eq!(as_rgb(&with(8, &grays[..3], [2, 1, 0, 0])), [2, 2, 2, 1, 1, 1]);
    let as_many_as_bits_say = bitmap([2, 1], 8, 0, 0, &[&grays.concat()[..], &[200, 7, 0, 0]].concat());
    assert_eq!(as_rgb(&as_many_as_bits_say), [200, 200, 200, 7, 7, 7]);
    for stream in [with(4, &ends, [0; 4]), with(8, &ends, [0; 4]), with(4, &grays[..3], [0; 4])] {
        assert_eq!(said(&stream), "refused: a palette of grays that are not samples");
    }
    assert_eq!(said(&bitmap([2, 1], 8, 0, 3, &[0; 11])), CUT_SHORT);
    let mut most = vec![[0; 4]; 65536];
    most[5] = [1, 2, 3, 0];
    assert_eq!(as_rgb(&with(8, &most, [5, 0, 0, 0])), [3, 2, 1, 0, 0, 0]);
    let too_many = said(&bitmap([2, 1], 8, 0, 65537, &[0; 4]));
    assert_eq!(too_many, "damaged: a palette without colours, or with too many");
}

/// A chunk of a PNG, with its check sum.
fn png_chunk(kind: &[u8; 4], content: &[u8]) -> Vec<u8> {
    let checked = [&kind[..], content].concat();
    let shifted = |sum: u32| if sum & 1 == 1 { sum >> 1 ^ 0xEDB8_8320 } else { sum >> 1 };
    let add = |sum: u32, byte: &u8| (0..8).fold(sum ^ u32::from(*byte), |sum, _| shifted(sum));
    let sum = !checked.iter().fold(u32::MAX, add);
    [&(content.len() as u32).to_be_bytes()[..], &checked, &sum.to_be_bytes()].concat()
}

/// A PNG of these columns, rows, bits and colour type, with another chunk before its rows.
fn png_of(size: [u32; 2], bits_and_colours: [u8; 2], chunk: &[u8], rows: &[u8]) -> Vec<u8> {
    let header = [&size.map(u32::to_be_bytes).concat()[..], &bits_and_colours, &[0; 3]].concat();
    let rows = png_chunk(b"IDAT", &miniz_oxide::deflate::compress_to_vec_zlib(rows, 6));
    let header = png_chunk(b"IHDR", &header);
    [&b"\x89PNG\r\n\x1A\n"[..], &header, chunk, &rows, &png_chunk(b"IEND", &[])].concat()
}

#[test]
fn png_samples_become_bytes() {
    let rows = [0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 9, 10, 11, 12, 13, 14, 15, 16];
    assert_eq!(as_rgb(&png_of([1, 2], [16, 6], &[], &rows)), [1, 3, 5, 9, 11, 13]);
    assert_eq!(as_rgb(&png_of([2, 1], [8, 2], &[], &rows[..7])), [1, 2, 3, 4, 5, 6]);
    let palette = png_chunk(b"PLTE", &[10, 20, 30, 40, 50, 60]);
    let indexed = |bits: u8, byte: u8| png_of([2, 1], [bits, 3], &palette, &[0, byte]);
    assert_eq!(as_rgb(&indexed(1, 0x80)), [40, 50, 60, 10, 20, 30]);
    assert_eq!(as_rgb(&indexed(4, 0x01)), [10, 20, 30, 40, 50, 60]);
    assert_eq!(said(&indexed(2, 0x80)), "refused: a pixel that is not in its palette");
    let animation = png_chunk(b"acTL", &[0, 0, 0, 1, 0, 0, 0, 0]);
    assert_eq!(said(&png_of([1, 1], [8, 0], &animation, &[0, 7])), "refused: an animated PNG");
    assert_eq!(said(&png_of([1, 1], [16, 0], &[], &[0, 7, 7])), "refused: gray samples of 16 bits");
    // The stream has the same length for any number of columns.
    let columns = |count: usize| png_of([count as u32, 1], [8, 0], &[], &[0, 0]);
    let most = 1040 * columns(1).len() + 1039;
    let too_short = "damaged: it is too short for its pixels";
    assert_eq!(said(&columns(most + 1)), too_short);
    assert_ne!(said(&columns(most)), too_short);
}

/// The stream of a sample.
fn stream_of(name: &str) -> Vec<u8> {
    samples().into_iter().find(|sample| sample.name == name).unwrap().stream
}

#[test]
fn a_bitmap_of_the_oldest_header_has_colours_of_three_bytes() {
    let oldest = |[width, height]: [u8; 2], bits: u8, begin: u8, rest: &[u8]| {
        let header = [12, 0, 0, 0, width, 0, height, 0, 1, 0, bits, 0];
        [&b"BM\0\0\0\0\0\0\0\0"[..], &[begin, 0, 0, 0], &header, rest].concat()
    };
    assert_eq!(as_rgb(&oldest([1, 2], 24, 26, &[1, 2, 3, 0, 4, 5, 6, 0])), [6, 5, 4, 3, 2, 1]);
    // Two colours, and then the pixels, at any declared offset.
    for begin in [26, 32] {
        let bits = oldest([2, 1], 1, begin, &[1, 2, 3, 4, 5, 6, 0x40, 0, 0, 0]);
        assert_eq!(as_rgb(&bits), [3, 2, 1, 6, 5, 4], "{begin}");
    }
    let sixteen: Vec<u8> = (0..48).chain([0x1F, 0, 0, 0]).collect();
    assert_eq!(as_rgb(&oldest([2, 1], 4, 74, &sixteen)), [5, 4, 3, 47, 46, 45]);
    assert_eq!(said(&oldest([2, 1], 1, 26, &[1, 2, 3, 4, 5])), CUT_SHORT);
    assert_eq!(said(&oldest([2, 1], 2, 26, &sixteen)), "damaged: a bitmap of another number of bits");
    let of_one_colour = bitmap([2, 1], 8, 0, 1, &[1, 2, 3, 0, 0, 0, 0, 0]);
    assert_eq!(as_rgb(&of_one_colour), [3, 2, 1, 3, 2, 1]);
}

#[test]
fn factors_of_a_jpeg_are_those_to_other_components() {
    let frame_of = |stream: &[u8]| stream.windows(2).position(|pair| pair == [0xFF, 0xC0]).unwrap();
    let gray = stream_of("jpeg-gray");
    let frame = frame_of(&gray);
    for factors in [0x44, 0x24, 0x41] {
        let mut changed = gray.clone();
        changed[frame + 11] = factors;
        assert_eq!(decode(&changed).unwrap(), decode(&gray).unwrap(), "{factors:x}");
    }
    // Factors of 3, 2 and 3 along one axis, and then along the other.
    let mut stream = stream_of("jpeg-damaged-factors");
    let factors = "damaged: factors of samples of which one is no multiple of the other";
    assert_eq!(said(&stream), factors);
    let frame = frame_of(&stream);
    stream.swap(frame + 6, frame + 8);
    for component in 0..3 {
        let at = frame + 11 + 3 * component;
        stream[at] = stream[at].rotate_left(4);
    }
    assert_eq!(said(&stream), factors);
}

#[test]
fn a_lossy_webp_is_a_shown_frame_that_needs_no_other() {
    let changed = |bits: u8| {
        let mut stream = stream_of("webp-lossy");
        stream[20] ^= bits;
        said(&stream)
    };
    let others = "damaged: a frame that is not shown, or needs others";
    // The version is in the bits 1 to 3.
    assert_eq!(changed(0), "decoded");
    assert_ne!(changed(6), others);
    assert_eq!([changed(1), changed(8), changed(0xE), changed(0x10)], [others; 4]);
}

#[test]
fn chunks_of_a_webp_have_even_lengths() {
    let stream = stream_of("webp-lossy");
    let with = |chunks: &[u8]| {
        let mut longer = [&stream[..], chunks].concat();
        let length = (longer.len() as u32 - 8).to_le_bytes();
        longer[4..8].copy_from_slice(&length);
        longer
    };
    let more = with(b"ABCD\x01\0\0\0a\0EFGH\x02\0\0\0bbIJKL\x04\0\0\0cccc");
    assert_eq!(decode(&more).unwrap(), decode(&stream).unwrap());
    assert_eq!(said(&with(b"ABCD\x01\0\0\0a\0EFGH\x03\0\0\0bb")), CUT_SHORT);
    // Another frame is checked, too.
    assert_eq!(said(&with(b"ABCD\x01\0\0\0a\0VP8 \x02\0\0\0bb")), CUT_SHORT);
}

#[test]
fn code_blocks_of_a_jpeg_2000_have_two_sizes() {
    let stream = stream_of("jpeg2000-L");
    let style = 9 + stream.windows(2).position(|pair| pair == [0xFF, 0x52]).unwrap();
    for sizes in [[255, 1], [1, 255], [9, 0], [0, 9]] {
        let mut changed = stream.clone();
        changed[style + 1..style + 3].copy_from_slice(&sizes);
        assert_eq!(said(&changed), "damaged: code blocks of a size that there is not", "{sizes:?}");
    }
}

#[test]
fn a_tiff_has_a_sample_of_a_bit_unless_it_says_more() {
    // The tags are followed by the samples instead of another image.
    let tiff = |tags: &[[u16; 2]], samples: &[u8]| {
        let entry = |[tag, number]: &[u16; 2]| [*tag, 3, 1, 0, *number, 0].map(u16::to_le_bytes).concat();
        let entries: Vec<u8> = tags.iter().flat_map(entry).collect();
        let count = (tags.len() as u16).to_le_bytes();
        [&b"II\x2A\0\x08\0\0\0"[..], &count, &entries, &[0; 4], samples].concat()
    };
    let bits = tiff(&[[256, 8], [257, 2], [262, 1], [273, 74], [279, 2]], &[0xA5, 0x0F]);
    let rows = [[255, 0, 255, 0, 0, 255, 0, 255], [0, 0, 0, 0, 255, 255, 255, 255]];
    assert_eq!(as_gray(&bits), rows.concat());
    let bytes = tiff(&[[256, 2], [257, 1], [258, 8], [262, 1], [273, 86], [279, 2]], &[7, 200]);
    assert_eq!(as_gray(&bytes), [7, 200]);
}

#[path = "stream_tests.rs"]
mod stream_tests;
