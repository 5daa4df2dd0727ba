//! How tests run one after the other, in one thread, where what other threads allocate meanwhile would be
//! counted.

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

/// Runs tests, each of which panics if it fails, in the calling thread.
pub fn run(tests: &[(&str, fn())]) -> ExitCode {
    let arguments = Arguments { test_threads: Some(1), ..Arguments::from_args() };
    let trials = tests.iter().map(|&(name, test)| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

/// The `main` of a file of tests that run one after the other; its target says `harness = false`.
#[macro_export]
macro_rules! in_turn {
    ($($name:ident),+ $(,)?) => {
        fn main() -> std::process::ExitCode {
            $crate::in_turn::run(&[$((stringify!($name), $name as fn())),+])
        }
    };
}
