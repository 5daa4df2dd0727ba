//! Counting of allocations and of peak memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;
use std::ptr;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicI64};
use std::sync::{Mutex, PoisonError};

use crate::large;

/// The system's allocator, with huge pages for blocks of more than 2 MiB. It counts allocations while
/// [`CountingAllocator::measure`] runs; otherwise counting costs one load of a shared flag.
///
/// ```standalone_crate
/// use runtime::CountingAllocator;
/// #[global_allocator]
/// static ALLOCATOR: CountingAllocator = CountingAllocator::new();
///
/// let (numbers, allocations) = ALLOCATOR.measure(|| vec![1u64; 100]);
/// assert_eq!((allocations.count, allocations.remaining_bytes), (1, 800));
/// # drop(numbers);
/// ```
pub struct CountingAllocator {
    counting: AtomicBool,
    count: AtomicU64,
    bytes: AtomicU64,
    live: AtomicI64,
    peak: AtomicI64,
    /// Held by the running measurement.
    measuring: Mutex<()>,
}

thread_local! {
    /// Whether this thread's allocations are part of a measurement. It needs no memory and no destructor, so
    /// an allocator may read it.
    static IS_MEASURED: Cell<bool> = const { Cell::new(false) };
    /// The number of large blocks until one is refused to this thread, that one included; 0 if none is.
    static UNTIL_REFUSAL: Cell<u64> = const { Cell::new(0) };
}

/// Whether the calling thread's allocations are part of a measurement. A thread passes this on to others that
/// work for it.
#[derive(Clone, Copy)]
pub(crate) struct Measured(bool);

impl Measured {
    /// The value of the calling thread.
    pub(crate) fn here() -> Measured {
        Measured(IS_MEASURED.get())
    }

    /// Sets the calling thread's value, and returns the previous one.
    pub(crate) fn replace(self) -> Measured {
        Measured(IS_MEASURED.replace(self.0))
    }
}

/// The allocations of a piece of work, in its thread and in the threads of a [`Pool`](crate::ThreadPool)
/// while they run parts for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allocations {
    /// The number of allocations, including those that grow or shrink a block.
    pub count: u64,
    /// The sum of their sizes.
    pub bytes: u64,
    /// The peak of live bytes, above those live at the beginning.
    pub peak_bytes: u64,
    /// The live bytes at the end, above those at the beginning; negative if more was freed.
    pub remaining_bytes: i64,
}

impl CountingAllocator {
    /// An allocator to install with `#[global_allocator]`.
    #[expect(clippy::new_without_default, reason = "a static needs a const constructor")]
    pub const fn new() -> CountingAllocator {
        CountingAllocator {
            counting: AtomicBool::new(false),
            count: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            live: AtomicI64::new(0),
            peak: AtomicI64::new(0),
            measuring: Mutex::new(()),
        }
    }

    /// Runs `work` and counts its allocations, in the calling thread and in the threads of a
    /// [`Pool`](crate::ThreadPool) while they run parts for it. Other threads are not counted. One
    /// measurement runs at a time; others wait, so `work` must not measure.
    ///
    /// # Panics
    /// If this is not the program's global allocator; so a count of 0 is never a mistake.
    pub fn measure<R>(&self, work: impl FnOnce() -> R) -> (R, Allocations) {
        let _alone = self.measuring.lock().unwrap_or_else(PoisonError::into_inner);
        let counting = Counting::begin(self);
        drop(black_box(Box::new(0u64)));
        assert!(
            self.count.load(Relaxed) > 0,
            "the counting allocator is not this program's global allocator"
        );
        self.reset();
        let result = work();
        drop(counting);
        let allocations = Allocations {
            count: self.count.load(Relaxed),
            bytes: self.bytes.load(Relaxed),
            peak_bytes: self.peak.load(Relaxed).max(0) as u64,
            remaining_bytes: self.live.load(Relaxed),
        };
        (result, allocations)
    }

    /// Runs `work`, and refuses the calling thread its large block `number` during it, as if memory were
    /// exhausted. Large blocks have 2 MiB or more, and are counted from 1. Also returns whether one was
    /// refused.
    pub fn refuse_large<R>(&self, number: u64, work: impl FnOnce() -> R) -> (R, bool) {
        UNTIL_REFUSAL.set(number);
        let result = work();
        (result, UNTIL_REFUSAL.replace(0) == 0)
    }

    fn reset(&self) {
        self.count.store(0, Relaxed);
        self.bytes.store(0, Relaxed);
        self.live.store(0, Relaxed);
        self.peak.store(0, Relaxed);
    }

    /// Whether a measurement runs, and the calling thread is part of it.
    fn is_measured(&self) -> bool {
        self.counting.load(Relaxed) && IS_MEASURED.get()
    }

    fn allocated(&self, bytes: usize) {
        if self.is_measured() {
            self.count.fetch_add(1, Relaxed);
            self.bytes.fetch_add(bytes as u64, Relaxed);
            let live = self.live.fetch_add(bytes as i64, Relaxed) + bytes as i64;
            self.peak.fetch_max(live, Relaxed);
        }
    }

    fn resized(&self, old_bytes: usize, new_bytes: usize) {
        self.freed(old_bytes);
        self.allocated(new_bytes);
    }

    fn freed(&self, bytes: usize) {
        if self.is_measured() {
            self.live.fetch_sub(bytes as i64, Relaxed);
        }
    }
}

/// A large block, or null if it is to be refused.
fn large_block(size: usize) -> *mut u8 {
    if is_refused() { ptr::null_mut() } else { large::allocate(size) }
}

/// Whether the next large block is to be refused.
fn is_refused() -> bool {
    let left = UNTIL_REFUSAL.get();
    UNTIL_REFUSAL.set(left.saturating_sub(1));
    left == 1
}

/// Counts until it is dropped, also by a panic.
struct Counting<'a>(&'a CountingAllocator);

impl<'a> Counting<'a> {
    fn begin(allocator: &'a CountingAllocator) -> Counting<'a> {
        allocator.reset();
        allocator.counting.store(true, Relaxed);
        Measured(true).replace();
        Counting(allocator)
    }
}

impl Drop for Counting<'_> {
    fn drop(&mut self) {
        Measured(false).replace();
        self.0.counting.store(false, Relaxed);
    }
}

// SAFETY: memory comes from and goes to `large` if the layout is large, else `System`, with the caller's
// arguments unchanged; counting does not allocate.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.allocated(layout.size());
        if large::is_large(layout) {
            return large_block(layout.size());
        }
        // SAFETY: the caller's contract is `System`'s.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        self.allocated(layout.size());
        if large::is_large(layout) {
            return large_block(layout.size());
        }
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        self.freed(layout.size());
        if large::is_large(layout) {
            // SAFETY: a block of this layout is from `large`.
            return unsafe { large::free(block, layout.size()) };
        }
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the caller vouches for the new size.
        let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        match (large::is_large(layout), large::is_large(new_layout)) {
            (false, false) => {
                self.resized(layout.size(), new_size);
                // SAFETY: as above.
                unsafe { System.realloc(block, layout, new_size) }
            }
            (true, true) if is_refused() => ptr::null_mut(),
            (true, true) => {
                self.resized(layout.size(), new_size);
                // SAFETY: a block of this layout is from `large`.
                unsafe { large::resize(block, layout.size(), new_size) }
            }
            // SAFETY: both blocks have at least as many bytes as are copied, and are distinct.
            _ => unsafe {
                let new = self.alloc(new_layout);
                if !new.is_null() {
                    new.copy_from_nonoverlapping(block, layout.size().min(new_size));
                    self.dealloc(block, layout);
                }
                new
            },
        }
    }
}
