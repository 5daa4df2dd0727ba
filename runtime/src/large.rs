//! Large blocks from the system: in huge pages, and grown without a copy.
//!
//! The first touch of a page costs a fault, on virtual machines more than a microsecond; a text of 100 MB has
//! 25,000 pages, but 50 huge ones. Only whole huge pages inside a block are requested, so a block holds no
//! more memory than its bytes. A block is a mapping of its own, which the system can move when it grows.

use std::alloc::Layout;
use std::ptr;

/// The smallest size of blocks allocated here, in bytes.
const LARGE: usize = 1 << 21;

/// The size of a huge page, in bytes.
const HUGE: usize = 1 << 21;

/// The size of a page, in bytes.
const PAGE: usize = 1 << 12;

/// Whether a block of this layout is allocated here: it depends only on the layout.
pub(crate) fn is_large(layout: Layout) -> bool {
    layout.size() >= LARGE && layout.align() <= HUGE && layout.size() <= isize::MAX as usize / 2
}

fn pages(size: usize) -> usize {
    size.next_multiple_of(PAGE)
}

/// A block of zeros, or null if there is no memory.
pub(crate) fn allocate(size: usize) -> *mut u8 {
    let block = reserve(size);
    if !block.is_null() {
        // SAFETY: the pages are a mapping that was just made; the advice changes none of their bytes.
        unsafe { libc::madvise(block.cast(), pages(size), libc::MADV_HUGEPAGE) };
    }
    block
}

/// Fresh pages that begin at a huge page boundary, or null.
fn reserve(size: usize) -> *mut u8 {
    let span = pages(size) + HUGE;
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new mapping at a place of the system's choice touches nothing that exists.
    let start = unsafe { libc::mmap(ptr::null_mut(), span, access, kind, -1, 0) };
    if start == libc::MAP_FAILED {
        return ptr::null_mut();
    }
    let before = start.cast::<u8>().align_offset(HUGE);
    let behind = span - before - pages(size);
    let block = start.cast::<u8>().wrapping_add(before);
    // SAFETY: both ends lie in the mapping that was just made, outside of the block; nobody else uses them.
    unsafe {
        if before > 0 {
            libc::munmap(start, before);
        }
        if behind > 0 {
            libc::munmap(block.wrapping_add(pages(size)).cast(), behind);
        }
    }
    block
}

/// Frees a block.
///
/// # Safety
/// `block` is from this module, `size` is its size, and nobody uses it any more.
pub(crate) unsafe fn free(block: *mut u8, size: usize) {
    // SAFETY: the caller's contract; the mapping has exactly these pages.
    unsafe { libc::munmap(block.cast(), pages(size)) };
}

/// Changes the size of a block, which may move. If there is no memory, returns null, and the block stays.
///
/// # Safety
/// `block` is from this module, `old` is its size, and `new` another size that [`is_large`] allows. If the
/// result is not null, nobody uses the old block any more.
pub(crate) unsafe fn resize(block: *mut u8, old: usize, new: usize) -> *mut u8 {
    // SAFETY: the caller's contract; the mapping has exactly these pages, and is resized in place.
    let here = unsafe { libc::mremap(block.cast(), pages(old), pages(new), 0) };
    if here != libc::MAP_FAILED {
        return here.cast();
    }
    let place = reserve(new);
    if place.is_null() {
        return place;
    }
    let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
    // SAFETY: the caller's contract; only the pages at `place`, which were just made, are replaced.
    let moved = unsafe { libc::mremap(block.cast(), pages(old), pages(new), flags, place) };
    if moved == libc::MAP_FAILED {
        // SAFETY: the place was just reserved.
        unsafe { free(place, new) };
        return ptr::null_mut();
    }
    moved.cast()
}

#[cfg(test)]
mod tests {
    use std::alloc::GlobalAlloc;

    use super::*;
    use crate::CountingAllocator;

    /// A block of `sizes[0]` bytes that is resized to each further size keeps the bytes within both sizes.
    fn check_resizing(sizes: &[usize]) {
        let allocator = CountingAllocator::new();
        let layout = |size| Layout::from_size_align(size, 16).unwrap();
        // SAFETY: each block is used within its layout, and freed with it.
        unsafe {
            let mut block = allocator.alloc(layout(sizes[0]));
            let byte = |at: usize| (at / 7 % 251) as u8;
            (0..sizes[0]).for_each(|at| block.add(at).write(byte(at)));
            for pair in sizes.windows(2) {
                block = allocator.realloc(block, layout(pair[0]), pair[1]);
                let both = pair[0].min(pair[1]);
                assert!((0..both).all(|at| block.add(at).read() == byte(at)), "{pair:?}");
                (both..pair[1]).for_each(|at| block.add(at).write(byte(at)));
            }
            allocator.dealloc(block, layout(sizes[sizes.len() - 1]));
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri gives no part of a mapping back")]
    fn a_block_keeps_its_bytes_when_it_grows_and_shrinks() {
        check_resizing(&[LARGE, 3 * LARGE + 5, 40 * LARGE, 2 * LARGE + 1]);
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri gives no part of a mapping back")]
    fn a_block_keeps_its_bytes_on_its_way_between_small_and_large() {
        check_resizing(&[1000, LARGE + 1, 2000, LARGE - 1, LARGE]);
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri gives no part of a mapping back")]
    fn a_large_block_begins_with_a_huge_page_and_is_zero() {
        let block = allocate(LARGE + 1);
        assert_eq!(block.align_offset(HUGE), 0);
        // SAFETY: the block has these bytes, and is freed with its size.
        unsafe {
            assert!((0..=LARGE).all(|at| block.add(at).read() == 0));
            free(block, LARGE + 1);
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri ends where memory is refused")]
    fn more_than_there_is_cannot_be_had() {
        assert!(allocate(1 << 60).is_null());
    }
}
