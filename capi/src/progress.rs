//! Who follows a compilation or a run from C, and may end it.
//!
//! Functions of the caller may be called only while a call of its lasts: a program of named sizes keeps the
//! options that it was compiled with, and goes back to them long after. So what follows passes is made for
//! each call, and is closed at its end ([`Followed`]).

use std::ffi::{c_char, c_int, c_void};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use optc::passes::manager::PassObserver;
use optc::runtime::RunObserver;

use crate::context::ContextHandle;
use crate::handle::{c_text, changed};
use crate::options::Options;
use crate::status::{Diagnostics, Status, ended};

/// Is told each step of a compilation before it begins: a pass with its options, or `machine code`. The text
/// lives until it returns. If it returns something else than 0, the work ends there. It does not unwind.
pub type ProgressFn = Option<unsafe extern "C" fn(user: *mut c_void, step: *const c_char) -> c_int>;

/// Is told each step of a run before it begins: how many others have begun. If it returns something else than
/// 0, the run ends there. It does not unwind.
pub type WatchFn = Option<unsafe extern "C" fn(user: *mut c_void, step: u64) -> c_int>;

/// Has `progress` called with `user` before each step of what these options are for, by the thread that
/// called `optc_compile` or `optc_module_run_pipeline`, and not after these have returned. If it ends the
/// work, they return OPTC_CANCELLED. NULL: nobody follows.
///
/// # Safety
/// `options` is NULL or a handle; `progress` is NULL, or does what its type says, for `user`, as long as
/// calls with these options last; `errors` is NULL or a place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_options_set_progress(
    options: *mut Options,
    progress: ProgressFn,
    user: *mut c_void,
    errors: *mut *mut Diagnostics,
) -> Status {
    // SAFETY: as the caller vouches.
    unsafe {
        ended(errors, || {
            let progress = progress.map(|told| Progress { told, user });
            changed(options, "`options`")?.progress = progress;
            Ok(())
        })
    }
}

/// Has `watch` called with `user` before each step of the runs that follow, by the thread that called
/// `optc_context_run`. If it ends a run, that returns OPTC_CANCELLED: its outputs then hold garbage, and the
/// context is as usable as before. NULL: nobody watches.
///
/// # Safety
/// `context` is NULL or a handle; `watch` is NULL, or does what its type says, for `user`, until another one
/// is set or the context is freed; `errors` is NULL or a place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_context_watch(
    context: *mut ContextHandle,
    watch: WatchFn,
    user: *mut c_void,
    errors: *mut *mut Diagnostics,
) -> Status {
    // SAFETY: as the caller vouches.
    unsafe {
        ended(errors, || {
            let watch = watch.map(|told| Arc::new(Watch { told, user }) as Arc<dyn RunObserver>);
            changed(context, "`context`")?.model.watch(watch);
            Ok(())
        })
    }
}

/// Whom a compilation tells its steps.
#[derive(Clone, Copy)]
pub(crate) struct Progress {
    told: unsafe extern "C" fn(*mut c_void, *const c_char) -> c_int,
    user: *mut c_void,
}

/// Tells steps until it is closed.
struct Follower {
    progress: Progress,
    is_closed: AtomicBool,
}

// SAFETY: passes are told from the thread that runs the pipeline, which is the caller's; after its call
// nothing is told any more, whichever thread has it then.
unsafe impl Send for Follower {}
// SAFETY: as above.
unsafe impl Sync for Follower {}

impl PassObserver for Follower {
    fn begins(&self, step: &str) -> ControlFlow<String> {
        if self.is_closed.load(Relaxed) {
            return ControlFlow::Continue(());
        }
        let text = c_text(step);
        // SAFETY: `optc_options_set_progress` asks that the function may be called so, until the call ends
        // that closes this.
        let answer = unsafe { (self.progress.told)(self.progress.user, text.as_ptr()) };
        #[cfg(feature = "panics")]
        assert_ne!(answer, c_int::MIN, "a panic was asked for, before `{step}`");
        if answer == 0 {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break("the caller ended it".to_owned())
        }
    }
}

/// That a call is followed, until its end.
pub(crate) struct Followed {
    follower: Option<Arc<Follower>>,
}

impl Followed {
    pub(crate) fn by(progress: Option<Progress>) -> Followed {
        let follower = progress.map(|progress| Follower { progress, is_closed: AtomicBool::new(false) });
        Followed { follower: follower.map(Arc::new) }
    }

    pub(crate) fn observer(&self) -> Option<Arc<dyn PassObserver + Send + Sync>> {
        self.follower.clone().map(|follower| follower as _)
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        if let Some(follower) = &self.follower {
            follower.is_closed.store(true, Relaxed);
        }
    }
}

/// Whom a run tells its steps.
struct Watch {
    told: unsafe extern "C" fn(*mut c_void, u64) -> c_int,
    user: *mut c_void,
}

// SAFETY: a run is told of by the thread that called it, and a context is used by one thread at a time.
unsafe impl Send for Watch {}
// SAFETY: as above.
unsafe impl Sync for Watch {}

impl RunObserver for Watch {
    fn begins(&self, step: u64) -> ControlFlow<()> {
        // SAFETY: `optc_context_watch` asks that the function may be called so while the context has it.
        let answer = unsafe { (self.told)(self.user, step) };
        if answer == 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}
