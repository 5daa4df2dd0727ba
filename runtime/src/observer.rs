//! Observers of a run, which may stop it between two steps.
//!
//! ```
//! use std::ops::ControlFlow;
//! use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
//! use runtime::RunObserver;
//!
//! /// Counts steps, of which it allows a hundred.
//! struct Budget(AtomicU64);
//!
//! impl RunObserver for Budget {
//!     fn begins(&self, step: u64) -> ControlFlow<()> {
//!         self.0.store(step, Relaxed);
//!         if step < 100 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
//!     }
//! }
//! ```

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// Follows a run, and may stop it.
pub trait RunObserver: Send + Sync {
    /// Called when a step is about to begin, in the thread that runs the program: a kernel, a fused group, a
    /// copy. `step` is the number of steps that began before it in this run. `Break` ends the run. A panic
    /// ends the process: machine code cannot be unwound.
    fn begins(&self, step: u64) -> ControlFlow<()>;
}

/// Ends the run once it is true.
impl RunObserver for AtomicBool {
    fn begins(&self, _step: u64) -> ControlFlow<()> {
        if self.load(Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
