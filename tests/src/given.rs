//! Paths of test files that are too large for the repository, given by environment variables.
//!
//! Such a test has `#[cfg_attr(not(given = "OPTC_MODELS"), ignore = "needs OPTC_MODELS")]`. If the tests are
//! built without the variable (`tests/build.rs`), it is reported as ignored, with the variable's name. If the
//! variable is set, the tests are built anew and it runs.

use std::path::PathBuf;

/// The path in a variable.
///
/// # Panics
/// If it is not set, so that a forced run (`--include-ignored`) does not pass.
pub fn given(variable: &str) -> PathBuf {
    std::env::var_os(variable).unwrap_or_else(|| panic!("{variable} is not set")).into()
}
