//! Programs in the IR: read, transformed by passes, printed.

use std::ffi::c_char;
use std::path::Path;

use optc::ir::Module;
use optc::ir::text::{PrintForm, PrintOptions};
use optc::passes::manager::{RunOptions, Selection};
use optc::{Failure, Fault};

use crate::handle::{OwnedText, borrowed, changed, free, hand_over, listed, text};
use crate::options::Options;
use crate::progress::Followed;
use crate::status::{Diagnostics, Refusal, Status, ended};

/// A program in the IR.
pub struct ModuleHandle {
    pub(crate) module: Module,
}

/// The program that a text of `length` bytes says; messages call it `name`. `options` may be NULL.
///
/// # Safety
/// `source` has `length` bytes; `name` is NULL or ends with 0; `options` is NULL or a handle; `module` and
/// `errors` are NULL or places.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_module_parse(
    source: *const c_char,
    length: usize,
    name: *const c_char,
    options: *const Options,
    module: *mut *mut ModuleHandle,
    errors: *mut *mut Diagnostics,
) -> Status {
    // SAFETY: as the caller vouches.
    unsafe {
        ended(errors, || {
            let options = options.as_ref().cloned().unwrap_or_default();
            let bytes = listed(source.cast::<u8>(), length, "`source`")?;
            let source = std::str::from_utf8(bytes).map_err(|_| Refusal::NotText("`source`"))?;
            let parsed = optc::parse(text(name, "`name`")?, source.to_owned(), None, &options.read)?;
            hand_over(ModuleHandle { module: parsed }, module)
        })
    }
}

/// The program in a file: an ONNX model (`.onnx`), or text. `options` may be NULL.
///
/// # Safety
/// `path` is NULL or ends with 0; `options` is NULL or a handle; `module` and `errors` are NULL or places.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_module_load(
    path: *const c_char,
    options: *const Options,
    module: *mut *mut ModuleHandle,
    errors: *mut *mut Diagnostics,
) -> Status {
    // SAFETY: as the caller vouches.
    unsafe {
        ended(errors, || {
            let options = options.as_ref().cloned().unwrap_or_default();
            let loaded = optc::load(Path::new(text(path, "`path`")?), &options.read)?;
            hand_over(ModuleHandle { module: loaded }, module)
        })
    }
}

/// The program of an ONNX model in memory, which is copied. `options` may be NULL.
///
/// # Safety
/// `model` has `length` bytes; `options` is NULL or a handle; `module` and `errors` are NULL or places.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_module_import(
    model: *const u8,
    length: usize,
    options: *const Options,
    module: *mut *mut ModuleHandle,
    errors: *mut *mut Diagnostics,
) -> Status {
    // SAFETY: as the caller vouches.
    unsafe {
        ended(errors, || {
            let options = options.as_ref().cloned().unwrap_or_default();
            let bytes = listed(model, length, "`model`")?.to_vec();
            let imported = optc::load_model_bytes("<bytes>", bytes, &options.read)?;
            hand_over(ModuleHandle { module: imported }, module)
        })
    }
}

/// Runs passes (`fuse,inplace,plan`) for the threads and processor of `options`, which may be NULL. Unless
/// `remarks` is NULL, `*remarks` is then a list of what the passes remarked. If a pass finds a fault, or
/// the caller ends the work, the module stays as it was.
///
/// # Safety
/// `module` is NULL or a handle, and so is `options`; `pipeline` is NULL or ends with 0; `remarks` and
/// `errors` are NULL or places.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_module_run_pipeline(
    module: *mut ModuleHandle,
    pipeline: *const c_char,
    options: *const Options,
    remarks: *mut *mut Diagnostics,
    errors: *mut *mut Diagnostics,
) -> Status {
    // SAFETY: as the caller vouches.
    unsafe {
        ended(errors, || {
            let handle = changed(module, "`module`")?;
            let options = options.as_ref().cloned().unwrap_or_default();
            let remarked = handle.run(text(pipeline, "`pipeline`")?, &options)?;
            if !remarks.is_null() {
                hand_over(Diagnostics::new(&remarked), remarks)?;
            }
            Ok(())
        })
    }
}

/// The program's text: MLIR's generic form if `generic` is not 0. The caller frees it.
///
/// # Safety
/// `module` is NULL or a handle; `printed` and `errors` are NULL or places.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_module_print(
    module: *const ModuleHandle,
    generic: i32,
    printed: *mut *mut OwnedText,
    errors: *mut *mut Diagnostics,
) -> Status {
    // SAFETY: as the caller vouches.
    unsafe {
        ended(errors, || {
            let form = if generic == 0 { PrintForm::Pretty } else { PrintForm::Generic };
            let options = PrintOptions { form, ..PrintOptions::default() };
            let module = &borrowed(module, "`module`")?.module;
            hand_over(OwnedText::new(&optc::ir::text::print_with(module, &options)), printed)
        })
    }
}

/// Frees a module.
///
/// # Safety
/// `module` is NULL or a handle, which is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_module_free(module: *mut ModuleHandle) {
    // SAFETY: as the caller vouches.
    unsafe { free(module) }
}

impl ModuleHandle {
    fn run(&mut self, pipeline: &str, options: &Options) -> Result<Vec<Fault>, Failure> {
        let followed = Followed::by(options.progress);
        let observer = followed.observer();
        let plain = RunOptions::new(options.compile.target());
        let run_options = RunOptions {
            threads: options.compile.threads,
            remarks: Selection::All,
            observer: observer.as_deref().map_or(plain.observer, |observer| observer),
            ..plain
        };
        let mut trial = self.module.clone();
        let report = optc::run_pipeline(&mut trial, pipeline, &run_options)?;
        self.module = trial;
        let ctx = &self.module.ctx;
        Ok(report.remarks.iter().map(|remark| Fault::of(ctx, &remark.diagnostic)).collect())
    }
}
