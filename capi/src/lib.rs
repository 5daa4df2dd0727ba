//! The C library: what `optc.h` declares, without logic of its own.
//!
//! [`status`] turns faults and panics into statuses and diagnostics, [`handle`] is the way of pointers in and
//! out. The rules for handles, errors and threads stand at the head of the header (`cbindgen.toml`).

pub mod context;
pub mod handle;
pub mod module;
pub mod operations;
pub mod options;
pub mod plan;
pub mod program;
pub mod progress;
pub mod status;

use std::ffi::c_char;

use optc::runtime::CountingAllocator;

/// As the command has it: arenas and weights stand in huge pages.
#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::new();

/// The version of this interface; another one has this function under another name, so that a program that
/// was made for it does not link.
#[unsafe(no_mangle)]
pub extern "C" fn optc_abi_version_1() -> u32 {
    1
}

/// The version of the library.
#[unsafe(no_mangle)]
pub extern "C" fn optc_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}
