//! Where the files are that are too large for the repository, and that a variable of the environment names.
//!
//! A test of them says `#[cfg_attr(not(given = "OPTC_MODELS"), ignore = "needs OPTC_MODELS")]`: it is
//! reported as ignored, with the variable's name, if the tests are built where that is not set
//! (`tests/build.rs`), and is built anew and runs if it is.

use std::path::PathBuf;

/// The folder or file that a variable names.
///
/// # Panics
/// If it is not set, so that a test which is run all the same (`--include-ignored`) does not pass.
pub fn given(variable: &str) -> PathBuf {
    std::env::var_os(variable).unwrap_or_else(|| panic!("{variable} is not set")).into()
}
