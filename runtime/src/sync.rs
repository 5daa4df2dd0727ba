//! Synchronization of the pool's threads: the standard library's, or that of `loom`, which tries all orders
//! of their steps (`tests/loom/run`).

#[cfg(loom)]
pub(crate) use loom::sync::atomic::AtomicU64;
#[cfg(loom)]
pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::AtomicU64;
#[cfg(not(loom))]
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};

#[cfg(loom)]
use loom::cell::UnsafeCell;
#[cfg(not(loom))]
use std::cell::UnsafeCell;

/// A cell that one thread writes while no other reads it.
pub(crate) struct SharedCell<T>(UnsafeCell<T>);

impl<T: Copy> SharedCell<T> {
    pub(crate) fn new(value: T) -> SharedCell<T> {
        SharedCell(UnsafeCell::new(value))
    }

    /// Writes it.
    ///
    /// # Safety
    /// No other thread reads or writes it meanwhile.
    #[cfg(not(loom))]
    pub(crate) unsafe fn set(&self, value: T) {
        // SAFETY: the caller's contract.
        unsafe { *self.0.get() = value }
    }

    /// Reads it.
    ///
    /// # Safety
    /// No other thread writes it meanwhile.
    #[cfg(not(loom))]
    pub(crate) unsafe fn get(&self) -> T {
        // SAFETY: the caller's contract.
        unsafe { *self.0.get() }
    }

    /// As above; `loom` fails if the contract is broken.
    #[cfg(loom)]
    pub(crate) unsafe fn set(&self, value: T) {
        // SAFETY: the caller's contract.
        self.0.with_mut(|place| unsafe { *place = value });
    }

    /// As above; `loom` fails if the contract is broken.
    #[cfg(loom)]
    pub(crate) unsafe fn get(&self) -> T {
        // SAFETY: the caller's contract.
        self.0.with(|place| unsafe { *place })
    }
}
