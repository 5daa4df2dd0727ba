//! That pixels are Pillow's to the bit, and that no damage to a stream makes a decoder panic.
//!
//! `import/tests/data/images.txt` has streams of all formats, and the pixels that Pillow finds in them;
//! `tests/onnx/images` makes it.

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
    // Of a text the last number may be cut off to another.
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
                // Half of them in the header.
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
    // Of each of the four channels its number, its kind and its colour, after their count.
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
