//! What the command does when it is told to end (Ctrl-C).

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::progress;
use crate::whole_file::remove_unfinished;

type Rescue = Box<dyn FnOnce() + Send>;

/// What is done first.
static RESCUE: Mutex<Option<Rescue>> = Mutex::new(None);

fn rescue() -> MutexGuard<'static, Option<Rescue>> {
    RESCUE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Clears away when the command is told to end. To be called before all else. Where the system has no thread
/// for that, the command ends without.
pub(super) fn handle() {
    let _ = runtime::before_interrupt(|| {
        let mut rescue = rescue();
        if let Some(work) = rescue.take() {
            work();
        }
        // Who would say that the work is no longer to be done waits until the process ends.
        std::mem::forget(rescue);
        remove_unfinished();
        progress::clear_if_idle();
    });
}

/// Work that saves what was reached, if the command is told to end before this goes.
pub(super) struct OnInterrupt;

impl OnInterrupt {
    /// Other work that was to be done then no longer is.
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
