//! Clean-up of a command that is interrupted (Ctrl-C).
//!
//! The signals are blocked in all threads, and one thread waits for them. So the clean-up may take locks and
//! memory, which a signal handler must not. Afterwards the signal ends the process as usual.

use std::io;
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};
use std::thread;

/// Signals from a terminal or a shell that ask a process to end.
const ENDING: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// Calls `clear` before a signal ends the process. Ignored signals, as in the background of a shell, stay
/// ignored. A command must call this before it starts threads; a library leaves signals to its user.
///
/// # Errors
/// If no thread can be started.
pub fn before_interrupt(clear: fn()) -> io::Result<()> {
    let Some(set) = ending_signals() else { return Ok(()) };
    // SAFETY: the set was initialized; the old mask is not requested.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, null_mut()) };
    let wait = move || {
        let mut signal = 0;
        // SAFETY: the set was initialized, and the number is written to a variable of this frame.
        if unsafe { libc::sigwait(&raw const set, &raw mut signal) } != 0 {
            return;
        }
        clear();
        // SAFETY: the set was initialized. The signal has its default action, which ends the process.
        unsafe {
            libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const set, null_mut());
            libc::raise(signal);
        }
    };
    thread::Builder::new().name("signals".to_owned()).stack_size(STACK_BYTES).spawn(wait).map(drop)
}

const STACK_BYTES: usize = 256 << 10;

/// The signals that would end the process now; none if all are ignored or handled.
fn ending_signals() -> Option<libc::sigset_t> {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: this call initializes the set.
    unsafe { libc::sigemptyset(set.as_mut_ptr()) };
    let mut is_any = false;
    for signal in ENDING {
        let mut action = MaybeUninit::<libc::sigaction>::uninit();
        // SAFETY: no action is given, so the current one is only written to `action`.
        let asked = unsafe { libc::sigaction(signal, null(), action.as_mut_ptr()) };
        // SAFETY: it was written if the call reports success.
        if asked == 0 && unsafe { action.assume_init() }.sa_sigaction == libc::SIG_DFL {
            is_any = true;
            // SAFETY: the set was initialized above.
            unsafe { libc::sigaddset(set.as_mut_ptr(), signal) };
        }
    }
    // SAFETY: the set was initialized above.
    is_any.then(|| unsafe { set.assume_init() })
}
