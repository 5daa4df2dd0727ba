//! Fuzzing of the printer: printed modules parse to the same module, in generic form for any module, and in
//! every form for valid ones.
//!
//! `fuzz/run parse_print_parse 600` runs it for ten minutes.

#![no_main]

use std::sync::Arc;

use ir::text::{
    Locations, ParseOptions, PrintForm, PrintOptions, ResourceText, Unregistered, check_round_trip,
    parse_with,
    print_with,
};
use ir::{Context, Module};
use libfuzzer_sys::fuzz_target;

const ANYTHING: ParseOptions = ParseOptions { unregistered: Unregistered::Allow };
const GENERIC: PrintOptions = PrintOptions {
    form: PrintForm::Generic,
    locations: Locations::Shown,
    resources: ResourceText::Kept,
};

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let ctx = Arc::new(Context::new());
    let Ok(module) = parse_with(&ctx, "fuzz", text.to_owned(), &ANYTHING) else { return };
    let checked = match ir::verify::verify(&module) {
        Ok(()) => check_round_trip(&module),
        Err(_) => check_generic(&module),
    };
    if let Err(difference) = checked {
        panic!("{difference}");
    }
});

fn check_generic(module: &Module) -> Result<(), String> {
    let printed = print_with(module, &GENERIC);
    let ctx = Arc::new(Context::new());
    let again = parse_with(&ctx, "printed", printed.clone(), &ANYTHING).map_err(|errors| {
        let errors: Vec<String> = errors.iter().map(|error| error.render(&ctx)).collect();
        format!("does not read back:\n{}\n{printed}", errors.join("\n"))
    })?;
    let reprinted = print_with(&again, &GENERIC);
    if reprinted == printed { Ok(()) } else { Err(format!("differs:\n{printed}\n{reprinted}")) }
}
