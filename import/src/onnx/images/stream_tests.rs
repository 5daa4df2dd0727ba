//! The faults reported for streams with one wrong header field, and the content of small streams written by
//! hand.

use super::*;

const NO_FRAME: &str = "damaged: it has no frame";
const NO_TABLE: &str = "refused: a JPEG without a table of codes";

/// A segment of a JPEG, with its marker and its length.
fn segment(kind: u8, content: &[u8]) -> Vec<u8> {
    let length = (content.len() as u16 + 2).to_be_bytes();
    [&[0xFF, kind][..], &length, content].concat()
}

/// A JPEG of parts between its first marker and its last.
fn jpeg(parts: &[Vec<u8>]) -> Vec<u8> {
    [&b"\xFF\xD8"[..], &parts.concat(), b"\xFF\xD9"].concat()
}

/// A frame of `rows` and `columns`.
fn frame(kind: u8, size: [u16; 2], components: &[[u8; 3]]) -> Vec<u8> {
    let size = size.map(u16::to_be_bytes).concat();
    segment(kind, &[&[8_u8][..], &size, &[components.len() as u8], &components.concat()].concat())
}

/// Divisors that are all 8, so that a DC coefficient of 1 adds 1 to a sample.
fn divisors() -> Vec<u8> {
    segment(0xDB, &[&[0_u8][..], &[8; 64]].concat())
}

/// A table whose only code is a bit of 0.
fn one_code(number: u8, symbol: u8) -> Vec<u8> {
    segment(0xC4, &[&[number, 1][..], &[0; 15], &[symbol]].concat())
}

/// Divisors, and codes for blocks of a 0, four bits of a difference, and a 0.
fn tables() -> Vec<u8> {
    [divisors(), one_code(0, 4), one_code(0x10, 0)].concat()
}

/// A scan of the component 1 with its data.
fn gray_scan(data: &[u8]) -> Vec<u8> {
    [segment(0xDA, &[1, 1, 0, 0, 63, 0]), data.to_vec()].concat()
}

#[test]
fn each_marker_of_a_jpeg_has_its_meaning() {
    for kind in 1..=254_u8 {
        let expected = match kind {
            0x01 | 0xC4 | 0xCC | 0xD0..=0xD7 | 0xD9 | 0xDB | 0xDC | 0xE0..=0xEF | 0xFE => NO_FRAME,
            0xC0..=0xC2 => CUT_SHORT,
            0xC3 | 0xC5..=0xC7 | 0xCD..=0xCF => "refused: a lossless or hierarchical frame of JPEG",
            0xC9..=0xCB => "refused: arithmetic coding of JPEG",
            0xD8 => "damaged: an image begins within another",
            0xDA => "damaged: a scan comes before its frame",
            0xDD => "damaged: an interval of restarts has not two bytes",
            _ => "damaged: a segment of unknown kind",
        };
        assert_eq!(said(&jpeg(&[segment(kind, &[])])), expected, "{kind:x}");
    }
    let too_short = said(b"\xFF\xD8\xFF\xFE\0\x01\xFF\xD9");
    assert_eq!(too_short, "damaged: a segment has less than its length");
    assert_eq!(said(b"\xFF\xD8\xFF\xFE\0\x02\x12\xFF\0\xFF\xFF\xD9"), NO_FRAME);
}

#[test]
fn tables_of_a_jpeg_have_their_numbers_and_lengths() {
    let divisors = |first: u8, count: usize| {
        let content = [vec![first], vec![1; count]].concat();
        said(&jpeg(&[segment(0xDB, &content)]))
    };
    assert_eq!(divisors(3, 64), NO_FRAME);
    assert_eq!(divisors(4, 64), "damaged: a table of divisors has a number above 3");
    assert_eq!([divisors(0, 63), divisors(0x10, 127)], [CUT_SHORT; 2]);
    assert_eq!(divisors(0x13, 128), NO_FRAME);
    let codes = |content: &[u8]| said(&jpeg(&[segment(0xC4, content)]));
    let one = |number: u8, symbol: u8| said(&jpeg(&[one_code(number, symbol)]));
    assert_eq!([one(3, 15), one(0x13, 255)], [NO_FRAME; 2]);
    assert_eq!(one(0, 16), "damaged: a difference has more than 15 bits");
    assert_eq!([one(4, 0), one(0x14, 0)], ["damaged: a table of codes has a number above 3"; 2]);
    assert_eq!(one(0x20, 0), "damaged: a table of codes is neither for DC nor for AC");
    assert_eq!([codes(&[0; 16]), codes(&[&[0_u8, 1][..], &[0; 15]].concat())], [CUT_SHORT; 2]);
    let all_codes = [&[0_u8, 2][..], &[0; 15], &[1, 2]].concat();
    assert_eq!(codes(&all_codes), "damaged: a table has more codes than there are");
}

#[test]
fn a_frame_of_a_jpeg_has_sizes_and_components() {
    let no_scans = "refused: a JPEG without the scans of all coefficients";
    let of = |size: [u16; 2], factors: u8| said(&jpeg(&[frame(0xC0, size, &[[1, factors, 0]])]));
    assert_eq!(of([8, 0], 0x11), "damaged: it has no pixels");
    assert_eq!(of([8, 8], 0x44), no_scans);
    for factors in [0x01, 0x10, 0x51, 0x15] {
        assert_eq!(of([8, 8], factors), "damaged: a factor of samples is not 1 to 4", "{factors:x}");
    }
    // The stream has 17 bytes, and so 136 bits: one for each block.
    for (size, factors) in [([8, 1088], 0x11), ([1088, 8], 0x11), ([16, 544], 0x22), ([544, 16], 0x22)] {
        assert_eq!(of(size, factors), no_scans, "{size:?}");
        let [height, width] = size;
        let more = if height < width { [height, width + 1] } else { [height + 1, width] };
        assert_eq!(of(more, factors), CUT_SHORT, "{more:?}");
    }
    let changed = |at: usize, byte: u8| {
        let mut gray = frame(0xC0, [8, 8], &[[1, 0x11, 0]]);
        gray[at] = byte;
        said(&jpeg(&[gray]))
    };
    assert_eq!(changed(4, 12), "refused: samples of JPEG with 12 bits");
    let components = "damaged: a frame has not 1, 3 or 4 components";
    assert_eq!(changed(9, 3), components);
    assert_eq!(said(&jpeg(&[frame(0xC0, [8, 8], &[[1, 0x11, 0]; 2])])), components);
    let odd = segment(0xC0, &[8, 0, 8, 0, 8, 1, 1, 0x11]);
    assert_eq!(said(&jpeg(&[odd])), "damaged: a frame of odd length");
    let twice = [frame(0xC0, [8, 8], &[[1, 0x11, 0]]), frame(0xC1, [8, 8], &[[1, 0x11, 0]])];
    assert_eq!(said(&jpeg(&twice)), "damaged: it has two frames");
}

#[test]
fn a_scan_of_a_jpeg_has_components_and_tables() {
    let gray = || frame(0xC0, [8, 8], &[[1, 0x11, 0]]);
    let scan = |content: &[u8]| said(&jpeg(&[gray(), tables(), segment(0xDA, content)]));
    assert_eq!([scan(&[]), scan(&[1, 1])], [CUT_SHORT; 2]);
    assert_eq!(scan(&[1, 1, 0, 0, 63]), "damaged: a scan's segment of another length");
    assert_eq!(scan(&[1, 2, 0, 0, 63, 0]), "damaged: a scan of a component that is not there");
    assert_eq!(scan(&[2, 1, 0, 1, 0, 0, 63, 0]), "damaged: a scan has a component twice");
    assert_eq!(scan(&[0, 0, 63, 0]), "damaged: a scan has no component");
    assert_eq!(scan(&[1, 1, 0, 0, 63, 0]), "damaged: a scan ends too early");
    let unknown = jpeg(&[gray(), tables(), gray_scan(&[0x80])]);
    assert_eq!(said(&unknown), "damaged: a scan has a code that is in no table");
    assert_eq!(said(&jpeg(&[gray(), divisors(), gray_scan(&[0])])), NO_TABLE);
    let without_divisors = jpeg(&[gray(), one_code(0, 4), one_code(0x10, 0), gray_scan(&[0])]);
    assert_eq!(said(&without_divisors), "damaged: a table of divisors is missing");
    let unit = |first: u8| {
        let components = [[1, first, 0], [2, 0x11, 0], [3, 0x11, 0]];
        let scan = segment(0xDA, &[3, 1, 0, 2, 0, 3, 0, 0, 63, 0]);
        said(&jpeg(&[frame(0xC0, [8, 8], &components), divisors(), scan]))
    };
    assert_eq!([unit(0x42), unit(0x24)], [NO_TABLE; 2]);
    assert_eq!(unit(0x33), "damaged: a unit has too many blocks");
}

#[test]
fn a_progressive_scan_has_coefficients_that_can_be_together() {
    let components = [[1, 0x11, 0], [2, 0x11, 0], [3, 0x11, 0]];
    let scan = |parts: &[u8], band: [u8; 3]| {
        let scan = segment(0xDA, &[&[parts.len() as u8 / 2][..], parts, &band].concat());
        said(&jpeg(&[frame(0xC2, [8, 8], &components), divisors(), scan]))
    };
    for band in [[0, 0, 0], [1, 63, 0], [63, 63, 0], [0, 0, 13], [1, 5, 13]] {
        assert_eq!(scan(&[1, 0], band), NO_TABLE, "{band:?}");
    }
    let apart = "damaged: a scan of coefficients that can't be together";
    for band in [[0, 1, 0], [2, 1, 0], [1, 64, 0], [0, 0, 14], [0, 0, 0x20], [0, 0, 0x12], [0, 0, 0x11]] {
        assert_eq!(scan(&[1, 0], band), apart, "{band:?}");
    }
    assert_eq!(scan(&[1, 0, 2, 0], [0, 0, 0]), NO_TABLE);
    assert_eq!(scan(&[1, 0, 2, 0], [1, 63, 0]), apart);
    for bits in [0x10, 0x21] {
        let repeated = "refused: scans of JPEG that repeat or omit bits of coefficients";
        assert_eq!(scan(&[1, 0], [0, 0, bits]), repeated, "{bits:x}");
    }
}

#[test]
fn blocks_of_a_jpeg_add_up_until_a_restart() {
    let rows = |[[a, b], [c, d]]: [[u8; 2]; 2]| {
        let row = |left: u8, right: u8| [[left; 8], [right; 8]].concat();
        [row(a, b).repeat(8), row(c, d)].concat()
    };
    let gray = || frame(0xC0, [9, 16], &[[1, 0x11, 0]]);
    // Differences of 8, 9, -8 and 10.
    let whole = jpeg(&[gray(), tables(), gray_scan(&[0x41, 0x23, 0x94])]);
    assert_eq!(as_gray(&whole), rows([[136, 145], [137, 147]]));
    let restarted = |marker: u8| {
        let data = gray_scan(&[0x41, 0x2F, 0xFF, marker, 0x39, 0x4F]);
        jpeg(&[gray(), tables(), segment(0xDD, &[0, 2]), data])
    };
    assert_eq!(as_gray(&restarted(0xD0)), rows([[136, 145], [120, 130]]));
    assert_eq!(said(&restarted(0xD1)), "damaged: a restart is missing");
    let blocks = (0..10_u8).map(|block| 8 + block % 8);
    let data = blocks.clone().enumerate().flat_map(|(block, difference)| {
        let restart = if block < 9 { vec![0xFF, 0xD0 | block as u8 & 7] } else { Vec::new() };
        [vec![difference << 3 | 3], restart].concat()
    });
    let wide = frame(0xC0, [1, 80], &[[1, 0x11, 0]]);
    let wide = jpeg(&[wide, tables(), segment(0xDD, &[0, 1]), gray_scan(&data.collect::<Vec<u8>>())]);
    let row: Vec<u8> = blocks.flat_map(|difference| [128 + difference; 8]).collect();
    assert_eq!(as_gray(&wide), row);
}

#[test]
fn colours_of_a_jpeg_are_those_of_its_marks_or_names() {
    let jfif = b"JFIF\0\x01\x01\0\0\x01\0\x01\0\0";
    let adobe = |transform: u8| segment(0xEE, &[&b"Adobe\0\x64\0\0\0\0"[..], &[transform]].concat());
    let check = |names: &[u8; 3], marks: &[Vec<u8>], expected: [u8; 3]| {
        let components = names.map(|name| [name, 0x11, 0]);
        let [red, green, blue] = *names;
        let scan = segment(0xDA, &[3, red, 0, green, 0, blue, 0, 0, 63, 0]);
        // Differences of 8, 9 and 10.
        let data = vec![0x41, 0x25, 0x3F];
        let stream = jpeg(&[marks.concat(), tables(), frame(0xC0, [2, 5], &components), scan, data]);
        assert_eq!(as_rgb(&stream), expected.repeat(10), "{names:?} {marks:x?}");
    };
    let own = [136, 137, 138];
    let converted = [150, 126, 152];
    check(&[1, 2, 3], &[], converted);
    check(b"RGB", &[], own);
    check(b"RGX", &[], converted);
    check(b"RGB", &[segment(0xE0, jfif)], converted);
    check(b"RGB", &[segment(0xE0, &jfif[..13])], own);
    check(b"RGB", &[segment(0xE0, b"JFXX\0\x01\x01\0\0\x01\0\x01\0\0")], own);
    check(&[1, 2, 3], &[adobe(0)], own);
    check(b"RGB", &[adobe(1)], converted);
    check(&[1, 2, 3], &[adobe(0), segment(0xE0, jfif)], converted);
    check(&[1, 2, 3], &[segment(0xE0, jfif), segment(0xE0, b"")], converted);
    check(b"RGB", &[segment(0xEE, b"Adobe\0\x64\0\0\0\0")], own);
    check(b"RGB", &[segment(0xEE, b"Other\0\x64\0\0\0\0\x01")], own);
}

/// A box of a JPEG 2000 file.
fn file_box(kind: &[u8; 4], content: &[u8]) -> Vec<u8> {
    [&(content.len() as u32 + 8).to_be_bytes()[..], kind, content].concat()
}

/// The fault of a file of these boxes after its signature.
fn said_of_file(boxes: &[Vec<u8>]) -> String {
    said(&[&b"\0\0\0\x0CjP  \r\n\x87\n"[..], &boxes.concat()].concat())
}

/// The header of a file of one pixel, with another box.
fn file_header(other: &[u8]) -> Vec<u8> {
    let size = file_box(b"ihdr", &[0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 7, 7, 0, 0]);
    file_box(b"jp2h", &[&size, other].concat())
}

#[test]
fn a_jpeg_2000_file_has_a_header_and_then_a_codestream() {
    let none = "damaged: it has no codestream";
    let codestream = |content: &[u8]| file_box(b"jp2c", content);
    assert_eq!([said_of_file(&[]), said_of_file(&[file_header(&[])])], [none; 2]);
    let late = said_of_file(&[codestream(&[]), file_header(&[])]);
    assert_eq!(late, "damaged: its header comes after its codestream");
    let empty = said_of_file(&[file_box(b"jp2h", &[])]);
    assert_eq!(empty, "damaged: its header does not say its size");
    assert_eq!(said_of_file(&[file_header(&[]), codestream(&[0; 3])]), CUT_SHORT);
    let other = said_of_file(&[file_header(&[]), codestream(&[0; 4])]);
    assert_eq!(other, "damaged: a codestream without its beginning");
    let with = |kind: &[u8; 4], content: &[u8]| said_of_file(&[file_header(&file_box(kind, content))]);
    for (method, colours) in [(1, 16), (1, 17)] {
        assert_eq!(with(b"colr", &[method, 0, 0, 0, 0, 0, colours]), none);
    }
    for (method, colours) in [(1, 15), (1, 18), (2, 16)] {
        let refusal = "refused: a JPEG 2000 of other colours than gray and sRGB";
        assert_eq!(with(b"colr", &[method, 0, 0, 0, 0, 0, colours]), refusal);
    }
    assert_eq!([with(b"bpcc", &[]), with(b"res ", &[])], [none; 2]);
    assert_eq!(with(b"pclr", &[]), "refused: a JPEG 2000 with a palette or unknown boxes");
    // A length of 1 is followed by a length of eight bytes after the kind; a length of 0 extends to the end.
    let raw = |bytes: &[u8]| said_of_file(&[bytes.to_vec()]);
    assert_eq!([raw(b"\0\0\0\x08free"), raw(b"\0\0\0\0free123")], [none; 2]);
    assert_eq!(raw(b"\0\0\0\x07free"), "damaged: a box without its header");
    assert_eq!(raw(b"\0\0\0\x01free\0\0\0\0\0\0\0\x10"), none);
    assert_eq!(raw(b"\0\0\0\x01free\0\0\0\0\0\0\0\x11a"), none);
    assert_eq!(raw(b"\0\0\0\x01free\0\0\0\0\0\0\0\x11"), CUT_SHORT);
    assert_eq!([raw(b"\0\0\0\x09free"), raw(b"\0\0\0")], [CUT_SHORT; 2]);
}

#[test]
fn a_jpeg_2000_file_has_the_sizes_of_its_codestream() {
    let samples = samples();
    let stream = &samples.iter().find(|sample| sample.name == "jpeg2000-L").unwrap().stream;
    let header = 4 + stream.windows(4).position(|kind| kind == b"ihdr").unwrap();
    for at in [3, 7, 9] {
        let mut changed = stream.clone();
        changed[header + at] += 1;
        assert_eq!(said(&changed), "damaged: a file of other sizes than its codestream", "byte {at}");
    }
}

const TILE_IS_MISSING: &str = "damaged: a tile is missing";

/// The start of a codestream: right, bottom, left and top of the image, width, height, left and top of tiles.
fn sizes(numbers: [u32; 8], components: &[[u8; 3]]) -> Vec<u8> {
    let count = components.len() as u16;
    let numbers = numbers.map(u32::to_be_bytes).concat();
    let length = (38 + 3 * count).to_be_bytes();
    let begin = [&b"\xFF\x4F\xFF\x51"[..], &length, &[0, 0], &numbers, &count.to_be_bytes()].concat();
    [begin, components.concat()].concat()
}

/// The fault of a codestream of these parts and its end.
fn said_of_codestream(parts: &[&[u8]]) -> String {
    said(&[&parts.concat()[..], b"\xFF\xD9"].concat())
}

#[test]
fn a_codestream_begins_with_its_sizes() {
    let one = [7, 1, 1];
    let of = |numbers: [u32; 8], components: &[[u8; 3]]| said_of_codestream(&[&sizes(numbers, components)]);
    let square = [8, 8, 0, 0, 8, 8, 0, 0];
    let with = |at: usize, number: u32| {
        let mut numbers = square;
        numbers[at] = number;
        of(numbers, &[one])
    };
    assert_eq!([of(square, &[one]), of(square, &[one; 4])], [TILE_IS_MISSING; 2]);
    let components = "damaged: it has not 1 to 4 components";
    assert_eq!([of(square, &[]), of(square, &[one; 5])], [components; 2]);
    let mut long = sizes(square, &[one]);
    long[5] += 1;
    assert_eq!(said_of_codestream(&[&long]), components);
    for (at, number) in [(0, 0), (1, 0), (2, 8), (3, 9)] {
        assert_eq!(with(at, number), "damaged: it has no pixels", "number {at}");
    }
    for at in [2, 3, 6, 7] {
        let refusal = "refused: a JPEG 2000 whose image or tiles do not begin at 0";
        assert_eq!(with(at, 1), refusal, "number {at}");
    }
    assert_eq!([with(4, 0), with(5, 0)], ["damaged: it has tiles without pixels"; 2]);
    for sample in [[8, 1, 1], [7, 2, 1], [7, 1, 2]] {
        let refusal = "refused: a JPEG 2000 of other samples than one of 8 bits for each pixel";
        assert_eq!([of(square, &[sample]), of(square, &[one, sample])], [refusal; 2]);
    }
    // Each of four tiles takes 14 bytes; all others are 51.
    for numbers in [[13, 2, 0, 0, 4, 2, 0, 0], [2, 16, 0, 0, 9, 4, 0, 0], [5, 3, 0, 0, 3, 2, 0, 0]] {
        let sizes = sizes(numbers, &[one]);
        let commented = |comment: &[u8]| said_of_codestream(&[&sizes, &segment(0x64, comment)]);
        assert_eq!([commented(&[0; 5]), commented(&[0; 4])], [TILE_IS_MISSING, CUT_SHORT], "{numbers:?}");
    }
}

#[test]
fn segments_of_a_codestream_say_that_it_is_reversible() {
    let one_tile = sizes([8, 8, 0, 0, 8, 8, 0, 0], &[[7, 1, 1]]);
    let with = |kind: u8, content: &[u8]| said_of_codestream(&[&one_tile, &segment(kind, content)]);
    for kind in [0x55, 0x57, 0x58, 0x63, 0x64] {
        assert_eq!(with(kind, &[]), TILE_IS_MISSING, "{kind:x}");
    }
    for kind in [0x50, 0x5E, 0x5F, 0x60, 0x61] {
        let refusal = "refused: a JPEG 2000 with regions, packed headers, or changes of the progression";
        assert_eq!(with(kind, &[]), refusal, "{kind:x}");
    }
    for kind in [0x51, 0x54, 0x56, 0x59, 0x62, 0x65] {
        assert_eq!(with(kind, &[]), "damaged: a segment of unknown kind", "{kind:x}");
    }
    let without_length = said_of_codestream(&[&one_tile, b"\xFF\x64\0\x01"]);
    assert_eq!(without_length, "damaged: a segment without its length");
    let code_blocks = "damaged: code blocks of a size that there is not";
    for (style, expected) in [
        ([32, 4, 4, 0, 1], TILE_IS_MISSING),
        ([0, 8, 0, 0, 1], TILE_IS_MISSING),
        ([0, 0, 8, 0, 1], TILE_IS_MISSING),
        ([33, 4, 4, 0, 1], code_blocks),
        ([0, 9, 0, 0, 1], code_blocks),
        ([0, 0, 9, 0, 1], code_blocks),
        ([0, 4, 5, 0, 1], code_blocks),
        ([0, 4, 4, 0, 0], "refused: a lossy JPEG 2000: decoders differ in what they compute"),
        ([0, 4, 4, 1, 1], "refused: a JPEG 2000 of an unusual style of code blocks"),
    ] {
        assert_eq!(with(0x52, &[&[0_u8, 0, 0, 1, 0][..], &style].concat()), expected, "{style:?}");
        assert_eq!(with(0x53, &[&[0_u8, 0][..], &style].concat()), expected, "{style:?} of a component");
    }
    assert_eq!([with(0x52, &[0, 0, 0, 1, 0, 0, 4, 4, 0]), with(0x5C, &[])], [CUT_SHORT; 2]);
    let quantized = "refused: a quantized JPEG 2000";
    for (style, expected) in
        [(0x20, TILE_IS_MISSING), (0xE0, TILE_IS_MISSING), (1, quantized), (0x30, quantized)]
    {
        assert_eq!(with(0x5C, &[style]), expected, "{style:x}");
        assert_eq!(with(0x5D, &[1, style]), expected, "{style:x} of a component");
    }
}

#[test]
fn parts_of_tiles_have_their_numbers_and_lengths() {
    let two_tiles = sizes([8, 8, 0, 0, 4, 8, 0, 0], &[[7, 1, 1]]);
    let part = |tile: u8, length: u8, data: &[u8]| {
        [&[0xFF, 0x90, 0, 10, 0, tile, 0, 0, 0, length, 0, 1, 0xFF, 0x93][..], data].concat()
    };
    let with =
        |tile: u8, length: u8, data: &[u8]| said_of_codestream(&[&two_tiles, &part(tile, length, data)]);
    for (length, data) in [(14, &b""[..]), (15, b"a"), (0, b""), (0, b"abc")] {
        assert_eq!(with(0, length, data), TILE_IS_MISSING, "{length} {data:?}");
        assert_eq!(with(1, length, data), TILE_IS_MISSING, "{length} {data:?}");
        assert_eq!(with(2, length, data), "damaged: it has more tiles than there are", "{length} {data:?}");
    }
    assert_eq!(with(0, 13, b""), "damaged: a part of a tile without its header");
    assert_eq!([with(0, 15, b""), with(0, 17, b"")], [CUT_SHORT; 2]);
    let both = said_of_codestream(&[&two_tiles, &part(1, 14, b""), &part(0, 14, b"")]);
    assert_ne!(both, TILE_IS_MISSING, "in any order");
}

/// The fault of a TIFF with two tags, of a byte order, in the old format or in BigTIFF.
fn said_of_tags(order: u8, version: u64, tags: [u64; 2]) -> String {
    let of = |number: u64, width: usize| {
        let bytes = number.to_le_bytes()[..width].to_vec();
        if order == b'M' { bytes.into_iter().rev().collect::<Vec<u8>>() } else { bytes }
    };
    let is_big = version == 43;
    let place = if is_big {
        [of(8, 2), of(0, 2), of(24, 8), vec![0; 8], of(2, 8)].concat()
    } else {
        [of(12, 4), vec![0; 4], of(2, 2)].concat()
    };
    let rest = if is_big { 18 } else { 10 };
    let entries = tags.map(|tag| [of(tag, 2), vec![0; rest]].concat()).concat();
    said(&[vec![order; 2], of(version, 2), place, entries].concat())
}

#[test]
fn a_tiff_with_a_tag_twice_is_refused() {
    for (order, version) in [(b'I', 42), (b'I', 43), (b'M', 42), (b'M', 43)] {
        let twice = said_of_tags(order, version, [0x102, 0x102]);
        assert_eq!(twice, "refused: a TIFF with the tag 258 twice", "{order} {version}");
        let once = said_of_tags(order, version, [0x102, 0x201]);
        assert!(!once.contains("twice"), "{order} {version}: {once}");
    }
}

/// The stream of a sample, with the two-byte number of a tag replaced.
fn tiff_with(name: &str, tag: u16, number: u16) -> Vec<u8> {
    let sample = samples().into_iter().find(|sample| sample.name == name).unwrap();
    let mut stream = sample.stream;
    let entry = [&tag.to_le_bytes()[..], &[3, 0, 1, 0, 0, 0]].concat();
    let at = 8 + stream.windows(8).position(|bytes| bytes == entry).unwrap();
    stream[at..at + 2].copy_from_slice(&number.to_le_bytes());
    stream
}

#[test]
fn a_tiff_of_another_kind_is_refused() {
    let changed = |name: &str, tag: u16, number: u16| said(&tiff_with(name, tag, number));
    assert_eq!(changed("tiff-L", 259, 7), "refused: a TIFF whose compression is [7]");
    let planes = changed("tiff-L", 284, 2);
    assert_eq!(planes, "refused: a TIFF whose arrangement of samples in planes is [2]");
    assert_eq!(changed("tiff-LA", 338, 1), "refused: a TIFF whose alpha is [1]");
    assert_eq!(changed("tiff-LA", 338, 0), "decoded");
    assert_eq!(changed("tiff-tiff_lzw", 317, 3), "refused: a TIFF whose predictor is [3]");
    let predictor = "refused: a TIFF with a predictor, but without a compression that has one";
    assert_eq!(changed("tiff-tiff_lzw", 259, 1), predictor);
}

#[test]
fn white_may_be_the_zero_of_a_tiff() {
    for name in ["tiff-L", "tiff-1"] {
        let inverse: Vec<u8> = as_gray(&tiff_with(name, 262, 1)).iter().map(|gray| 255 - gray).collect();
        assert_eq!(as_gray(&tiff_with(name, 262, 0)), inverse, "{name}");
    }
}
