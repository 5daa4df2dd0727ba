//! Fuzzing of the importer: any file becomes a valid module or is refused with a reason, without a panic.
//!
//! `fuzz/run import 600` runs it for ten minutes.

#![no_main]

use std::io;
use std::path::Path;
use std::sync::Arc;

use import::onnx::{ImportOptions, StrippedWeights, import};
use ir::{Context, SharedBytes};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let shared = bytes.to_vec();
    let open_file = move |_: &Path| -> io::Result<SharedBytes> { Ok(Arc::new(shared.clone())) };
    let ctx = Arc::new(Context::new());
    let stripped = StrippedWeights::Refuse;
    let options = ImportOptions { open_file: &open_file, stripped, sizes: Default::default() };
    match import(&ctx, Path::new("m.onnx"), &options) {
        Ok(module) => {
            if let Err(breaches) = ir::verify::verify(&module) {
                panic!("{}", breaches[0].render(&ctx));
            }
        }
        Err(faults) => {
            assert!(!faults.is_empty(), "refused without a reason");
            for fault in faults {
                fault.render(&ctx);
            }
        }
    }
});
