//! The file format of artifacts, and its checks.
//!
//! ```text
//! "optc art"  8 bytes
//! hash        of the header, 8 bytes: it holds the hashes of all else, so it stands for the whole content
//! length      of the header, 8 bytes
//! header      JSON: what the program is for, and where everything is
//! sections    each from a multiple of 4096 on: IR, machine code, packed weights, constants
//! ```
//! Numbers are little-endian. Hashes are XXH3-64: they detect damage, but are no protection against an
//! attacker, as an artifact is machine code. All parts are checked before use: header, plan, code and packed
//! weights when an artifact is opened, the rest when it is read.

use std::io::{self, Write};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use codegen::{PreparedWeight, WeightKey};
use ir::{Blob, ConstantSource, SharedBytes};
use runtime::{CodeImage, ImageFunction, Relocation, RelocationKind, RelocationTarget};
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

/// The first bytes of a file.
pub(super) const MAGIC: &[u8; 8] = b"optc art";

/// The version of the format.
pub(super) const VERSION: u32 = 1;

/// The bytes before the header.
const PREFIX: usize = 24;

/// Sections begin at multiples of a page.
const PAGE: usize = 4096;

/// The header of an artifact.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Header {
    /// [`VERSION`].
    pub version: u32,
    /// The build of the compiler that made it.
    pub build: String,
    /// The architecture of its machine code.
    pub architecture: String,
    /// The processor that it was compiled for, as in `--target-cpu`.
    pub cpu: String,
    /// The name of the entry function.
    pub entry: String,
    /// The maximum number of threads.
    pub threads: usize,
    /// The goal of its plan.
    pub goal: String,
    /// The precision of its products and stored values.
    pub precision: String,
    /// What multiplies pairs of `bf16`: the name of a [`codegen::PairUnit`].
    pub pairs: String,
    /// Its named sizes, each with the sample for which code was made first.
    pub sizes: Vec<(String, u64)>,
    /// The program as read, unless it was left out.
    pub source: Option<FileSection>,
    /// The program as planned.
    pub plan: FileSection,
    /// The machine code of functions.
    pub images: Vec<StoredImage>,
    /// The weights, packed for the kernels.
    pub weights: Vec<StoredWeight>,
    /// The constants of the program; bytes that are equal to a packed weight are stored once.
    pub resources: Vec<StoredResource>,
}

/// A section of the file, counted from the first page after the header.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct FileSection {
    start: u64,
    bytes: u64,
    hash: u64,
}

/// The machine code of a function.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct StoredImage {
    name: String,
    code: FileSection,
    /// The name, start and size of each function.
    functions: Vec<(String, u32, u32)>,
    symbols: Vec<String>,
    /// The offset, kind, target and addend of each.
    relocations: Vec<(u32, u8, StoredTarget, i64)>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum StoredTarget {
    #[serde(rename = "f")]
    Function(u32),
    #[serde(rename = "s")]
    Symbol(u32),
}

/// A packed weight.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct StoredWeight {
    key: u64,
    at: FileSection,
}

/// A constant.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct StoredResource {
    name: String,
    at: FileSection,
}

/// The kinds of relocations, by their numbers in a file.
const KINDS: [RelocationKind; 3] =
    [RelocationKind::Absolute64, RelocationKind::Relative32, RelocationKind::Arm64Call];

/// The contents besides the header.
pub(super) struct Contents {
    /// The program as read, unless it is left out.
    pub source: Option<String>,
    /// The program as planned.
    pub plan: String,
    /// The machine code of functions.
    pub images: Vec<(String, Arc<CodeImage>)>,
    /// The weights, packed for the kernels.
    pub weights: Vec<PreparedWeight>,
    /// The constants of the program.
    pub resources: Vec<(String, Blob)>,
}

/// Assigns positions to sections, one after the other.
struct FilePlaces {
    end: u64,
}

impl FilePlaces {
    fn section(&mut self, alignment: u64, bytes: u64, hash: u64) -> FileSection {
        let start = self.end.next_multiple_of(alignment);
        self.end = start + bytes;
        FileSection { start, bytes, hash }
    }

    fn page(&mut self, bytes: &[u8]) -> FileSection {
        self.section(PAGE as u64, bytes.len() as u64, XxHash3_64::oneshot(bytes))
    }
}

/// The bytes of a blob in memory at once.
const CHUNK: usize = 1 << 20;

/// Passes the bytes of a blob to `each`, piece by piece.
fn for_pieces(blob: &Blob, mut each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    if let Some(bytes) = blob.as_bytes() {
        return each(bytes);
    }
    let mut piece = vec![0; CHUNK.min(blob.len_bytes())];
    let mut start = 0;
    while start < blob.len_bytes() {
        let bytes = CHUNK.min(blob.len_bytes() - start);
        blob.read(start, &mut piece[..bytes]);
        each(&piece[..bytes])?;
        start += bytes;
    }
    Ok(())
}

/// Whether a constant has these bytes.
fn has_bytes(blob: &Blob, mut bytes: &[u8]) -> bool {
    let compared = for_pieces(blob, |piece| {
        let (first, rest) = bytes.split_at_checked(piece.len()).ok_or(io::ErrorKind::InvalidData)?;
        bytes = rest;
        if first == piece { Ok(()) } else { Err(io::ErrorKind::InvalidData.into()) }
    });
    compared.is_ok() && bytes.is_empty()
}

/// The hash of a constant's bytes.
pub(crate) fn blob_hash(blob: &Blob) -> u64 {
    let mut hasher = XxHash3_64::with_seed(0);
    let hashed = for_pieces(blob, |bytes| {
        std::hash::Hasher::write(&mut hasher, bytes);
        Ok(())
    });
    hashed.expect("hashing has no errors");
    std::hash::Hasher::finish(&hasher)
}

impl StoredImage {
    fn of(name: &str, image: &CodeImage, places: &mut FilePlaces) -> StoredImage {
        let functions = image.functions.iter();
        let kind = |kind| KINDS.iter().position(|known| *known == kind).expect("all kinds are listed") as u8;
        let target = |target| match target {
            RelocationTarget::Function(number) => StoredTarget::Function(number),
            RelocationTarget::Symbol(number) => StoredTarget::Symbol(number),
        };
        let relocations = image.relocations.iter();
        StoredImage {
            name: name.to_owned(),
            code: places.page(&image.code),
            functions: functions.map(|known| (known.name.clone(), known.start, known.size)).collect(),
            symbols: image.symbols.clone(),
            relocations: relocations
                .map(|known| (known.offset, kind(known.kind), target(known.target), known.addend))
                .collect(),
        }
    }

    /// The image, with the name of its function.
    fn image(&self, code: &[u8]) -> Option<(String, CodeImage)> {
        let functions = self.functions.iter();
        let functions = functions.map(|(name, start, size)| ImageFunction {
            name: name.clone(),
            start: *start,
            size: *size,
        });
        let relocation = |(offset, kind, target, addend): &(u32, u8, StoredTarget, i64)| {
            let target = match *target {
                StoredTarget::Function(number) => RelocationTarget::Function(number),
                StoredTarget::Symbol(number) => RelocationTarget::Symbol(number),
            };
            let kind = *KINDS.get(usize::from(*kind))?;
            Some(Relocation { offset: *offset, kind, target, addend: *addend })
        };
        let image = CodeImage {
            code: code.to_vec(),
            functions: functions.collect(),
            symbols: self.symbols.clone(),
            relocations: self.relocations.iter().map(relocation).collect::<Option<_>>()?,
        };
        Some((self.name.clone(), image))
    }
}

/// Writes an artifact; `header` describes it.
///
/// # Errors
/// If writing to `to` fails.
pub(super) fn write(header: &Header, contents: &Contents, to: &mut dyn Write) -> io::Result<()> {
    let mut places = FilePlaces { end: 0 };
    let source = contents.source.as_ref().map(|source| places.page(source.as_bytes()));
    let plan = places.page(contents.plan.as_bytes());
    let images = contents.images.iter().map(|(name, image)| StoredImage::of(name, image, &mut places));
    let images = images.collect();
    let mut alignment = PAGE as u64;
    let mut weights = Vec::new();
    for weight in &contents.weights {
        let hash = XxHash3_64::oneshot(weight.bytes());
        let at = places.section(alignment, weight.bytes().len() as u64, hash);
        weights.push(StoredWeight { key: weight.key.0, at });
        alignment = 64;
    }
    let mut alignment = PAGE as u64;
    let mut resources = Vec::new();
    let mut own = Vec::new();
    for (name, blob) in &contents.resources {
        let (bytes, hash) = (blob.len_bytes() as u64, blob_hash(blob));
        let name = name.clone();
        let same = weights.iter().zip(&contents.weights).find(|(StoredWeight { at, .. }, weight)| {
            (at.bytes, at.hash) == (bytes, hash) && has_bytes(blob, weight.bytes())
        });
        if let Some((StoredWeight { at, .. }, _)) = same {
            resources.push(StoredResource { name, at: *at });
            continue;
        }
        let at = places.section(alignment, bytes, hash);
        resources.push(StoredResource { name, at });
        own.push((at, blob));
        alignment = 64;
    }
    let header = Header { source, plan, images, weights, resources, ..header.clone() };
    let text = serde_json::to_vec(&header).expect("a header is plain JSON");
    let mut out = PaddedWriter { to, end: 0 };
    out.write(MAGIC)?;
    out.write(&XxHash3_64::oneshot(&text).to_le_bytes())?;
    out.write(&(text.len() as u64).to_le_bytes())?;
    out.write(&text)?;
    let base = out.end.next_multiple_of(PAGE as u64);
    let mut section = |at: &FileSection, bytes: &[u8]| {
        out.pad(base + at.start)?;
        out.write(bytes)
    };
    if let (Some(at), Some(source)) = (&header.source, &contents.source) {
        section(at, source.as_bytes())?;
    }
    section(&header.plan, contents.plan.as_bytes())?;
    for (stored, (_, image)) in header.images.iter().zip(&contents.images) {
        section(&stored.code, &image.code)?;
    }
    for (stored, weight) in header.weights.iter().zip(&contents.weights) {
        section(&stored.at, weight.bytes())?;
    }
    for (at, blob) in own {
        out.pad(base + at.start)?;
        for_pieces(blob, |bytes| out.write(bytes))?;
    }
    out.to.flush()
}

/// A writer that counts its bytes.
struct PaddedWriter<'w> {
    to: &'w mut dyn Write,
    end: u64,
}

impl PaddedWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.end += bytes.len() as u64;
        self.to.write_all(bytes)
    }

    fn pad(&mut self, to: u64) -> io::Result<()> {
        let bytes = (to - self.end) as usize;
        self.write(&[0; PAGE][..bytes])
    }
}

/// The bytes of an artifact, readable by its header.
#[derive(Clone)]
pub(super) struct StoredArtifact {
    bytes: SharedBytes,
    /// The start of the sections.
    base: usize,
}

impl StoredArtifact {
    /// Reads the header of an artifact.
    ///
    /// # Errors
    /// If the bytes are no artifact, or the header is damaged; if another build of the compiler made it, a
    /// message that names the build.
    pub(super) fn open(bytes: SharedBytes) -> Result<(StoredArtifact, Header), String> {
        let all = (*bytes).as_ref();
        let word = |at: usize| {
            let word: [u8; 8] = all.get(at..at + 8)?.try_into().ok()?;
            Some(u64::from_le_bytes(word))
        };
        if all.get(..MAGIC.len()) != Some(MAGIC) {
            return Err("it does not begin as an artifact does".to_owned());
        }
        let text = word(16).and_then(|length| {
            let end = PREFIX.checked_add(usize::try_from(length).ok()?)?;
            all.get(PREFIX..end)
        });
        let text = text.ok_or("it ends within its header")?;
        if word(8) != Some(XxHash3_64::oneshot(text)) {
            return Err("its header is damaged".to_owned());
        }
        let header: Header = serde_json::from_slice(text).map_err(|error| format!("its header: {error}"))?;
        let base = (PREFIX + text.len()).next_multiple_of(PAGE);
        Ok((StoredArtifact { bytes, base }, header))
    }

    /// The bytes of a section, checked against their hash.
    ///
    /// # Errors
    /// If they are damaged, or the file ends before.
    pub(super) fn section(&self, section: &FileSection, what: &str) -> Result<&[u8], String> {
        let range = self.range(section).ok_or_else(|| format!("it ends within {what}"))?;
        let bytes = &(*self.bytes).as_ref()[range];
        if XxHash3_64::oneshot(bytes) == section.hash { Ok(bytes) } else { Err(format!("{what} is damaged")) }
    }

    fn range(&self, section: &FileSection) -> Option<Range<usize>> {
        let start = self.base.checked_add(usize::try_from(section.start).ok()?)?;
        let end = start.checked_add(usize::try_from(section.bytes).ok()?)?;
        (end <= (*self.bytes).as_ref().len()).then_some(start..end)
    }

    /// The machine code of functions, by name.
    ///
    /// # Errors
    /// If some of it is damaged.
    pub(super) fn images(&self, header: &Header) -> Result<Vec<(String, Arc<CodeImage>)>, String> {
        let image = |stored: &StoredImage| {
            let code = self.section(&stored.code, "its machine code")?;
            let (name, image) = stored.image(code).ok_or("its machine code is of no known form")?;
            image.check().map_err(|error| error.to_string())?;
            Ok((name, Arc::new(image)))
        };
        header.images.iter().map(image).collect()
    }

    /// The packed weights, read through once, in two threads.
    ///
    /// # Errors
    /// If one is damaged.
    pub(super) fn weights(&self, header: &Header) -> Result<Vec<PreparedWeight>, String> {
        let weight = |StoredWeight { key, at }: &StoredWeight| {
            self.section(at, "a weight")?;
            let range = self.range(at).expect("the section is there");
            Ok(PreparedWeight::new(WeightKey(*key), self.bytes.clone(), range))
        };
        let all: u64 = header.weights.iter().map(|weight| weight.at.bytes).sum();
        let mut half = 0;
        let first = header.weights.iter().take_while(|weight| {
            half += weight.at.bytes;
            half <= all / 2
        });
        let (first, second) = header.weights.split_at(first.count());
        std::thread::scope(|scope| {
            let other = scope.spawn(move || second.iter().map(weight).collect::<Result<Vec<_>, String>>());
            let mut weights = first.iter().map(weight).collect::<Result<Vec<_>, String>>()?;
            weights.extend(other.join().expect("comparing hashes does not panic")?);
            Ok(weights)
        })
    }

    /// The constants, each of which is checked at its first use.
    ///
    /// # Errors
    /// If the file ends before one.
    pub(super) fn resources(&self, header: &Header) -> Result<Vec<(String, Blob)>, String> {
        let resource = |StoredResource { name, at }: &StoredResource| {
            let range = self.range(at).ok_or_else(|| format!("it ends within `{name}`"))?;
            let source = CheckedConstant { stored: self.clone(), at: *at, range, checked: OnceLock::new() };
            Ok((name.clone(), Blob::Lazy(Arc::new(source))))
        };
        header.resources.iter().map(resource).collect()
    }
}

/// A constant that records whether it was read.
#[derive(Debug)]
pub(super) struct WatchedConstant {
    pub(super) blob: Blob,
    pub(super) was_read: AtomicBool,
}

impl ConstantSource for WatchedConstant {
    fn len_bytes(&self) -> usize {
        self.blob.len_bytes()
    }

    fn check(&self) -> Result<(), String> {
        self.was_read.store(true, Ordering::Relaxed);
        self.blob.check()
    }

    fn read(&self, start_byte: usize, out: &mut [u8]) {
        self.was_read.store(true, Ordering::Relaxed);
        self.blob.read(start_byte, out);
    }
}

/// A constant whose bytes are checked against their hash at the first use.
struct CheckedConstant {
    stored: StoredArtifact,
    at: FileSection,
    range: Range<usize>,
    checked: OnceLock<Result<(), String>>,
}

impl std::fmt::Debug for CheckedConstant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes of an artifact", self.range.len())
    }
}

impl ConstantSource for CheckedConstant {
    fn len_bytes(&self) -> usize {
        self.range.len()
    }

    fn check(&self) -> Result<(), String> {
        let check = || self.stored.section(&self.at, "the constant").map(|_| ());
        self.checked.get_or_init(check).clone()
    }

    fn read(&self, start_byte: usize, out: &mut [u8]) {
        let bytes = &(*self.stored.bytes).as_ref()[self.range.clone()];
        out.copy_from_slice(&bytes[start_byte..start_byte + out.len()]);
    }
}
