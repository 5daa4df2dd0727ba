//! Handling of interrupts (Ctrl-C).

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::progress;
use crate::whole_file::remove_unfinished;

type Rescue = Box<dyn FnOnce() + Send>;

/// The work to do first.
static RESCUE: Mutex<Option<Rescue>> = Mutex::new(None);

fn rescue() -> MutexGuard<'static, Option<Rescue>> {
    RESCUE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Cleans up when the command is told to end. To be called before anything else. If the system has no thread
/// for that, the command ends without cleaning up.
pub(super) fn handle() {
    let _ = runtime::before_interrupt(|| {
        let mut rescue = rescue();
        if let Some(work) = rescue.take() {
            work();
        }
        // Keeps the lock, so that a thread that would withdraw the work waits until the process ends.
        std::mem::forget(rescue);
        remove_unfinished();
        progress::clear_if_idle();
    });
}

/// Work that saves the result so far, if the command is told to end before this is dropped.
pub(super) struct OnInterrupt;

impl OnInterrupt {
    /// Replaces earlier work of this kind.
    pub(super) fn run(work: impl FnOnce() + Send + 'static) -> OnInterrupt {
        *rescue() = Some(Box::new(work));
        OnInterrupt
    }
}

impl Drop for OnInterrupt {
    fn drop(&mut self) {
        *rescue() = None;
    }
}
