//! Memory of a program: aligned buffers, the arena of a context, and the poison for dead memory.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::fmt;
use std::ops::Range;
use std::ptr::NonNull;

/// The value that fills dead memory in a debug run: a quiet NaN when read as f64, f32, bf16, f16 or f8, and a
/// huge number when read as an integer, so that it is out of range as an index.
pub const POISON: [u8; 2] = 0x7ff9u16.to_le_bytes();

/// Fills `bytes` with [`POISON`], repeated from their start.
pub fn poison(bytes: &mut [u8]) {
    for pair in bytes.chunks_mut(POISON.len()) {
        pair.copy_from_slice(&POISON[..pair.len()]);
    }
}

/// The alignment that compiled code may rely on, in bytes: one cache line, one AVX-512 vector.
const ALIGN: usize = 64;

/// Buffers from this size on begin at a page.
const BIG_BYTES: usize = 64 << 10;
const PAGE: usize = 4096;

/// Zeroed memory aligned to 64 bytes, or to a page from 64 KiB on. Its size is fixed; it may be zero.
///
/// Memory comes from the global allocator, zeroed and with its smallest alignment, and is aligned here. So
/// big buffers are fresh pages of the system, which cost nothing until they are written.
pub struct AlignedBuffer {
    /// The allocator's block; dangling if the buffer is empty.
    block: NonNull<u8>,
    layout: Layout,
    start: NonNull<u8>,
    size_bytes: usize,
}

// SAFETY: the buffer owns its memory, like a `Vec<u8>`.
unsafe impl Send for AlignedBuffer {}
// SAFETY: as above; shared access only reads.
unsafe impl Sync for AlignedBuffer {}

/// The error that the system has no memory of this size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutOfMemory {
    /// The requested size.
    pub bytes: usize,
}

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no memory for a buffer of {} bytes", self.bytes)
    }
}

impl std::error::Error for OutOfMemory {}

/// A list of `bytes` zeros. Large ones are fresh pages of the system, which cost nothing until they are
/// written.
///
/// # Errors
/// If the allocator has no such memory.
pub fn zeros(bytes: usize) -> Result<Vec<u8>, OutOfMemory> {
    if bytes == 0 {
        return Ok(Vec::new());
    }
    let layout = Layout::array::<u8>(bytes).map_err(|_| OutOfMemory { bytes })?;
    // SAFETY: the layout's size is not zero.
    let start = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or(OutOfMemory { bytes })?;
    // SAFETY: the global allocator gave this block for that many bytes of alignment 1, all of which are zero.
    Ok(unsafe { Vec::from_raw_parts(start.as_ptr(), bytes, bytes) })
}

impl AlignedBuffer {
    /// A buffer of `bytes` zeros.
    ///
    /// # Errors
    /// If the allocator has no such memory.
    pub fn zeroed(bytes: usize) -> Result<AlignedBuffer, OutOfMemory> {
        if bytes == 0 {
            return Ok(AlignedBuffer::empty());
        }
        let align = if bytes >= BIG_BYTES { PAGE } else { ALIGN };
        let layout = bytes
            .checked_add(align)
            .and_then(|padded| Layout::from_size_align(padded, align_of::<u128>()).ok())
            .ok_or(OutOfMemory { bytes })?;
        // SAFETY: the layout's size is not zero.
        let block = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or(OutOfMemory { bytes })?;
        let padding = block.as_ptr().align_offset(align);
        // SAFETY: `padding` is below `align`, by which the block is larger than `bytes`.
        let start = unsafe { block.add(padding) };
        Ok(AlignedBuffer { block, layout, start, size_bytes: bytes })
    }

    fn empty() -> AlignedBuffer {
        let dangling = NonNull::<CacheLine>::dangling().cast();
        AlignedBuffer { block: dangling, layout: Layout::new::<()>(), start: dangling, size_bytes: 0 }
    }

    /// The contents, for reading.
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: `start` is valid for `size_bytes` bytes, initialised by `alloc_zeroed`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.size_bytes) }
    }

    /// The contents, for writing.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as in `as_slice`, and `self` is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.size_bytes) }
    }
}

/// Gives dangling pointers their alignment.
#[repr(align(64))]
struct CacheLine;

impl AsRef<[u8]> for AlignedBuffer {
    fn as_ref(&self) -> &[u8] {
        self.as_slice()
    }
}

impl Drop for AlignedBuffer {
    fn drop(&mut self) {
        if self.layout.size() > 0 {
            // SAFETY: `block` came from the allocator with this layout.
            unsafe { dealloc(self.block.as_ptr(), self.layout) };
        }
    }
}

impl fmt::Debug for AlignedBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AlignedBuffer({} bytes)", self.size_bytes)
    }
}

/// The memory for a run's intermediate values and scratch: the context's own, allocated at the first run and
/// again when a run needs more, or memory that the embedder provides.
pub struct Arena<'a>(ArenaMemory<'a>);

enum ArenaMemory<'a> {
    Unallocated,
    Owned(AlignedBuffer),
    Given(&'a mut [u8]),
}

impl<'a> Arena<'a> {
    /// An arena that allocates its memory when it is first needed.
    pub fn owned() -> Arena<'a> {
        Arena(ArenaMemory::Unallocated)
    }

    /// An arena in the embedder's memory, which a run overwrites. It must be aligned to 64 bytes and large
    /// enough for the program; making a context checks both.
    pub fn given(memory: &'a mut [u8]) -> Arena<'a> {
        Arena(ArenaMemory::Given(memory))
    }

    /// The first `bytes` bytes, allocated if necessary: an owned arena that is too small is freed first.
    ///
    /// # Errors
    /// If the allocator has no such memory, or the memory given is smaller than that or not aligned to 64.
    pub fn reserve(&mut self, bytes: usize) -> Result<&mut [u8], ArenaError> {
        let held = self.size_bytes();
        if matches!(self.0, ArenaMemory::Unallocated)
            || matches!(self.0, ArenaMemory::Owned(_)) && held < bytes
        {
            // The old memory is freed first, so that both are never allocated at once.
            self.0 = ArenaMemory::Unallocated;
            self.0 = ArenaMemory::Owned(AlignedBuffer::zeroed(bytes)?);
        }
        let memory = self.contents();
        if memory.as_ptr().align_offset(ALIGN) != 0 {
            return Err(ArenaError::Misaligned);
        }
        let found = memory.len();
        memory.get_mut(..bytes).ok_or(ArenaError::TooSmall { needed: bytes, found })
    }

    /// Grows an owned arena to this number of bytes; memory from the embedder is unchanged.
    ///
    /// # Errors
    /// If the allocator has no such memory.
    pub fn hold(&mut self, bytes: usize) -> Result<(), ArenaError> {
        match self.0 {
            ArenaMemory::Unallocated | ArenaMemory::Owned(_) => self.reserve(bytes).map(drop),
            ArenaMemory::Given(_) => Ok(()),
        }
    }

    /// Checks memory from the embedder, without allocating.
    ///
    /// # Errors
    /// Like [`Arena::reserve`].
    pub fn check(&mut self, bytes: usize) -> Result<(), ArenaError> {
        match self.0 {
            ArenaMemory::Unallocated => Ok(()),
            ArenaMemory::Owned(_) => Ok(()),
            ArenaMemory::Given(_) => self.reserve(bytes).map(drop),
        }
    }

    /// The current size in bytes: 0 before the first run of an owned arena.
    pub fn size_bytes(&self) -> usize {
        match &self.0 {
            ArenaMemory::Unallocated => 0,
            ArenaMemory::Owned(buffer) => buffer.size_bytes,
            ArenaMemory::Given(memory) => memory.len(),
        }
    }

    /// Fills a range of bytes with [`POISON`].
    ///
    /// # Panics
    /// If the range is not within the bytes held now.
    pub fn poison(&mut self, range: Range<usize>) {
        poison(&mut self.contents()[range]);
    }

    pub(crate) fn contents(&mut self) -> &mut [u8] {
        match &mut self.0 {
            ArenaMemory::Unallocated => &mut [],
            ArenaMemory::Owned(buffer) => buffer.as_mut_slice(),
            ArenaMemory::Given(memory) => memory,
        }
    }
}

/// The reason why an arena can't be used for a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArenaError {
    /// The given memory does not begin at a multiple of 64.
    Misaligned,
    /// The given memory has too few bytes.
    TooSmall {
        /// The bytes that the program needs.
        needed: usize,
        /// The given bytes.
        found: usize,
    },
    /// The allocator has no such memory.
    OutOfMemory(OutOfMemory),
}

impl From<OutOfMemory> for ArenaError {
    fn from(error: OutOfMemory) -> ArenaError {
        ArenaError::OutOfMemory(error)
    }
}

impl fmt::Display for ArenaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArenaError::Misaligned => write!(f, "the arena given must begin at a multiple of {ALIGN} bytes"),
            ArenaError::TooSmall { needed, found } => {
                write!(f, "the arena given has {found} bytes, and the program needs {needed}")
            }
            ArenaError::OutOfMemory(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ArenaError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_zero_and_aligned_by_size() {
        for (bytes, align) in
            [(0, 64), (1, 64), (64, 64), (BIG_BYTES - 1, 64), (BIG_BYTES, PAGE), (1 << 20, PAGE)]
        {
            let mut buffer = AlignedBuffer::zeroed(bytes).unwrap();
            assert_eq!(buffer.as_slice().as_ptr() as usize % align, 0, "{bytes}");
            assert!(*buffer.as_slice() == vec![0; bytes][..]);
            buffer.as_mut_slice().fill(1);
            assert_eq!(buffer.as_slice().len(), bytes);
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri ends where memory is refused")]
    fn impossible_sizes_are_errors() {
        for bytes in [usize::MAX, isize::MAX as usize, 1 << 60] {
            assert_eq!(AlignedBuffer::zeroed(bytes).unwrap_err(), OutOfMemory { bytes });
        }
    }

    #[test]
    fn poison_is_nan_at_every_float_width() {
        let mut bytes = [0u8; 11];
        poison(&mut bytes);
        assert_eq!(bytes[..2], bytes[8..10]);
        assert_eq!(bytes[10], POISON[0]);
        assert!(f64::from_le_bytes(bytes[..8].try_into().unwrap()).is_nan());
        assert!(f32::from_le_bytes(bytes[..4].try_into().unwrap()).is_nan());
        let half = u16::from_le_bytes(POISON);
        assert!(half & 0x7c00 == 0x7c00 && half & 0x3ff != 0, "f16");
        assert!(half & 0x7f80 == 0x7f80 && half & 0x7f != 0, "bf16");
    }

    #[test]
    fn an_owned_arena_allocates_once_and_late() {
        let mut arena = Arena::owned();
        assert_eq!(arena.size_bytes(), 0);
        arena.check(1 << 60).unwrap();
        let first = arena.reserve(100).unwrap().as_ptr();
        assert_eq!(arena.reserve(100).unwrap().as_ptr(), first);
        assert_eq!(arena.size_bytes(), 100);
        arena.poison(4..8);
        let words = arena.reserve(100).unwrap();
        assert!(words[..4] == [0; 4] && words[4..6] == POISON && words[8] == 0);
    }

    #[test]
    fn a_given_arena_is_checked() {
        let mut buffer = AlignedBuffer::zeroed(200).unwrap();
        let start = buffer.as_slice().as_ptr();
        assert_eq!(Arena::given(buffer.as_mut_slice()).reserve(200).unwrap().as_ptr(), start);
        let too_small = ArenaError::TooSmall { needed: 201, found: 200 };
        assert_eq!(Arena::given(buffer.as_mut_slice()).check(201), Err(too_small));
        assert_eq!(Arena::given(&mut buffer.as_mut_slice()[1..]).check(10), Err(ArenaError::Misaligned));
    }
}
