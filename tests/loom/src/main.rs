//! The thread pool of `runtime` in every order of its threads' steps: `tests/loom/run`.
//!
//! The files are those of `runtime`; a thread that waits looks once and then sleeps, since each further look
//! would be one more step to put in order.

#[path = "../../../runtime/src/backoff.rs"]
mod backoff;
#[path = "../../../runtime/src/sync.rs"]
mod sync;
#[path = "../../../runtime/src/threads.rs"]
mod threads;

mod abi {
    pub(crate) use crate::threads::models::KernelFn;
}

mod allocations {
    /// Nothing is measured here.
    #[derive(Clone, Copy)]
    pub(crate) struct Measured;

    impl Measured {
        pub(crate) fn here() -> Measured {
            Measured
        }

        pub(crate) fn replace(self) -> Measured {
            Measured
        }
    }
}

mod wait {
    /// Looks once.
    pub(crate) fn spin_for<T>(mut ready: impl FnMut() -> Option<T>) -> Option<T> {
        ready()
    }
}

fn main() {
    // Parts panic on purpose, in each order once more.
    let say = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if panic.payload_as_str() != Some(threads::models::ON_PURPOSE) {
            say(panic);
        }
    }));
    threads::models::run();
}
