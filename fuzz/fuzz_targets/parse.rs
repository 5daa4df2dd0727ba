//! Fuzzing of the parser: any text is read, verified and printed, or refused with a location, without a
//! panic.
//!
//! `fuzz/run parse 600` runs it for ten minutes.

#![no_main]

use std::sync::Arc;

use ir::Context;
use ir::text::{ParseOptions, Unregistered, parse_with, print};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let ctx = Arc::new(Context::new());
    let options = ParseOptions { unregistered: Unregistered::Allow };
    match parse_with(&ctx, "fuzz", text.to_owned(), &options) {
        Ok(module) => {
            for breach in ir::verify::verify(&module).err().unwrap_or_default() {
                breach.render(&ctx);
            }
            print(&module);
        }
        Err(errors) => {
            assert!(!errors.is_empty(), "refused without a reason");
            for error in errors {
                assert!(error.location.source_offset().is_some(), "no place: {}", error.message);
                error.render(&ctx);
            }
        }
    }
});
