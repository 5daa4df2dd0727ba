//! Which files from outside are given to the tests: `cfg(given = "OPTC_MODELS")`, if that variable is set.

use std::path::Path;

/// Variables that name a file or folder, and what may lack there.
const GIVEN: [&str; 10] = [
    "OPTC_AARCH64",
    "OPTC_DATA",
    "OPTC_MLIR_CORPUS",
    "OPTC_MLIR_CORPUS/negative",
    "OPTC_MLIR_CORPUS/negative_manifest.jsonl",
    "OPTC_MLIR_CORPUS/scramble",
    "OPTC_MLIR_DIALECT_ALIASES",
    "OPTC_MODELS",
    "OPTC_ONNX_TESTS",
    "OPTC_ONNX_TESTS/node",
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let values = GIVEN.map(|given| format!("\"{given}\"")).join(", ");
    println!("cargo::rustc-check-cfg=cfg(given, values({values}))");
    for given in GIVEN {
        let (variable, part) = given.split_once('/').unwrap_or((given, ""));
        println!("cargo::rerun-if-env-changed={variable}");
        if std::env::var_os(variable).is_some_and(|path| Path::new(&path).join(part).exists()) {
            println!("cargo::rustc-cfg=given=\"{given}\"");
        }
    }
}
