//! Loading a file as a module.

use std::fs;
use std::io::{self, Read};
use std::path::Path;
#[cfg(feature = "onnx")]
use std::path::PathBuf;
use std::sync::Arc;

#[cfg(feature = "onnx")]
use import::onnx::declared::DeclaredSizes;
#[cfg(feature = "onnx")]
use import::onnx::external::OpenFile;
#[cfg(feature = "onnx")]
use import::onnx::{ImportOptions, StrippedWeights};
use indexmap::IndexSet;
#[cfg(feature = "jit")]
use ir::Blob;
#[cfg(feature = "onnx")]
use ir::SharedBytes;
use ir::size::fits_memory;
use ir::text::type_text;
use ir::{AttrData, Body, Context, Diagnostic, Dialect, Location, Module};
#[cfg(feature = "onnx")]
use runtime::MappedFile;

use crate::failure::{Failure, FaultCode};
#[cfg(feature = "onnx")]
use crate::model_files::ModelFiles;
#[cfg(feature = "onnx")]
use crate::sizes;

/// Options for loading files.
#[derive(Clone)]
pub struct LoadOptions {
    /// The replacement of weights that were stripped from a model.
    #[cfg(feature = "onnx")]
    pub stripped: StrippedWeights,
    /// The treatment of operations of unregistered dialects.
    pub unregistered: ir::text::Unregistered,
    /// Declarations about sizes: symbols, numbers and ranges.
    #[cfg(feature = "onnx")]
    pub sizes: DeclaredSizes,
    /// Dialects in addition to the built-in ones.
    pub dialects: Vec<&'static Dialect>,
}

impl Default for LoadOptions {
    fn default() -> Self {
        LoadOptions {
            #[cfg(feature = "onnx")]
            stripped: StrippedWeights::Refuse,
            unregistered: ir::text::Unregistered::Refuse,
            #[cfg(feature = "onnx")]
            sizes: DeclaredSizes::new(),
            dialects: Vec::new(),
        }
    }
}

impl LoadOptions {
    /// A context that knows the dialects.
    pub fn context(&self) -> Arc<Context> {
        context_of(self.dialects.iter().copied())
    }
}

/// A context with dialects besides the built-in ones.
pub(crate) fn context_of(dialects: impl IntoIterator<Item = &'static Dialect>) -> Arc<Context> {
    let ctx = Context::new();
    dialects.into_iter().for_each(|dialect| ctx.register(dialect));
    Arc::new(ctx)
}

/// Loads a program from a file: a model (`.onnx`), the plan of an artifact (with any name), or IR text
/// (anything else). `-` is standard input, with IR text or a model.
///
/// # Errors
/// All errors found in the file.
pub fn load(path: &Path, options: &LoadOptions) -> Result<Module, Failure> {
    if path.extension().is_some_and(|extension| extension == "onnx") {
        return load_model(path, options);
    }
    #[cfg(feature = "jit")]
    if crate::artifact::is_artifact(path) {
        let module = crate::Artifact::open(path)?.with_dialects(&options.dialects).plan()?;
        return with_sizes(module, options);
    }
    let (name, bytes) = read_bytes(path)?;
    if path == Path::new("-") {
        #[cfg(feature = "onnx")]
        if begins_model(&bytes) {
            return load_model_bytes(&name, bytes, options);
        }
        #[cfg(feature = "jit")]
        if crate::artifact::begins_artifact(&bytes) {
            return Err(Failure::input(
                "an artifact can't be read from standard input: give its file's name",
            ));
        }
    }
    let text = text_of(&name, bytes)?;
    let module = with_sizes(parse(&name, text, Some(path), options)?, options)?;
    check_fits_memory(&module)?;
    Ok(module)
}

/// A program with the declarations of its sizes applied.
#[cfg(feature = "onnx")]
fn with_sizes(mut module: Module, options: &LoadOptions) -> Result<Module, Failure> {
    sizes::apply(&mut module, &options.sizes)?;
    Ok(module)
}

/// A program without declarations of sizes.
#[cfg(not(feature = "onnx"))]
fn with_sizes(module: Module, _: &LoadOptions) -> Result<Module, Failure> {
    Ok(module)
}

/// Refuses a program with tensors of known sizes that no memory can hold.
fn check_fits_memory(module: &Module) -> Result<(), Failure> {
    let ctx = &module.ctx;
    let mut faults = Vec::new();
    for (_, body) in module.functions() {
        let args = body.all_blocks().flat_map(|block| body.args(block)).map(|arg| (*arg, Location::UNKNOWN));
        let ops = body.all_blocks().flat_map(|block| body.ops(block));
        let results = ops.flat_map(|op| body.results(op).map(move |result| (result, body.location(op))));
        let mut values = args.chain(results);
        // One per function is enough: the others usually depend on it.
        faults.extend(values.find(|(value, _)| !fits_memory(ctx, body.ty(*value))).map(|(value, at)| {
            let ty = type_text(ctx, body.ty(value));
            Diagnostic::error(at, format!("`{ty}` has more elements than memory holds"))
        }));
    }
    if faults.is_empty() { Ok(()) } else { Err(Failure::diagnostics(ctx, &faults)) }
}

/// Parses a program from text. Weights from a model are searched beside `path`.
///
/// # Errors
/// All errors found in the text.
pub fn parse(
    name: &str,
    text: String,
    path: Option<&Path>,
    options: &LoadOptions,
) -> Result<Module, Failure> {
    let ctx = options.context();
    let fail = |faults: Vec<Diagnostic>, code: FaultCode| Failure::diagnostics(&ctx, &faults).coded(code);
    let parse_options = ir::text::ParseOptions { unregistered: options.unregistered };
    let module = ir::text::parse_with(&ctx, name, text, &parse_options);
    let mut module = module.map_err(|faults| fail(faults, FaultCode::Text))?;
    ir::verify::verify_touched(&mut module).map_err(|faults| fail(faults, FaultCode::Program))?;
    #[cfg(feature = "onnx")]
    restore_weights(&module, path, options.stripped)?;
    #[cfg(not(feature = "onnx"))]
    refuse_missing(&module, path)?;
    Ok(module)
}

/// Refuses a text with constants from a model.
#[cfg(not(feature = "onnx"))]
fn refuse_missing(module: &Module, _: Option<&Path>) -> Result<(), Failure> {
    match &missing_blobs(module)[..] {
        [] => Ok(()),
        [key, ..] => Err(Failure::input(format!("the text has no bytes for `{key}`; {NO_MODELS}"))),
    }
}

/// The message if a model is needed in a build that can't read it.
#[cfg(not(feature = "onnx"))]
const NO_MODELS: &str = "models are read where optc is built with its feature `onnx`";

/// Refuses a model.
#[cfg(not(feature = "onnx"))]
fn load_model(path: &Path, _: &LoadOptions) -> Result<Module, Failure> {
    Err(Failure::input(format!("{}: {NO_MODELS}", path.display())))
}

/// Loads an ONNX model from memory; messages call it `name`. Data in other files is not found.
///
/// # Errors
/// All errors found in the model.
#[cfg(feature = "onnx")]
pub fn load_model_bytes(name: &str, bytes: Vec<u8>, options: &LoadOptions) -> Result<Module, Failure> {
    let bytes: SharedBytes = Arc::new(bytes);
    let open = |path: &Path| match path == Path::new(name) {
        true => Ok(bytes.clone()),
        false => Err(io::Error::other("a model in memory has no files beside it")),
    };
    import_model(&options.context(), Path::new(name), &open, options)
}

/// The program of a model with changed bytes; its data in other files is searched beside the original file.
///
/// # Errors
/// All errors found in the model.
#[cfg(all(feature = "jit", feature = "onnx"))]
pub(crate) fn load_changed_model(
    path: &Path,
    bytes: Vec<u8>,
    options: &LoadOptions,
) -> Result<Module, Failure> {
    let bytes: SharedBytes = Arc::new(bytes);
    let ctx = options.context();
    from_files(&ctx, |open_file| {
        let open = |asked: &Path| if asked == path { Ok(bytes.clone()) } else { open_file(asked) };
        import_model(&ctx, path, &open, options)
    })
}

#[cfg(feature = "onnx")]
fn load_model(path: &Path, options: &LoadOptions) -> Result<Module, Failure> {
    let ctx = options.context();
    from_files(&ctx, |open_file| import_model(&ctx, path, open_file, options))
}

/// Which resources of a stored text are available.
#[cfg(feature = "jit")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Given {
    /// All that it names.
    All,
    /// Some; the others can't be evaluated.
    Some,
}

/// Parses the module of a text without resources, which are given here by their names.
///
/// # Errors
/// All errors found in the text; if `given` is all, also a named resource that is missing.
#[cfg(feature = "jit")]
pub(crate) fn parse_stored(
    name: &str,
    text: String,
    resources: impl Iterator<Item = (String, Blob)>,
    given: Given,
    dialects: impl IntoIterator<Item = &'static Dialect>,
) -> Result<Module, Failure> {
    let ctx = context_of(dialects);
    for (key, blob) in resources {
        ctx.set_blob(ctx.ident(&key), blob);
    }
    let module = ir::text::parse(&ctx, name, text);
    let mut module = module.map_err(|faults| Failure::diagnostics(&ctx, &faults))?;
    ir::verify::verify_touched(&mut module).map_err(|faults| Failure::diagnostics(&ctx, &faults))?;
    match &missing_blobs(&module)[..] {
        [key, ..] if given == Given::All => Err(Failure::input(format!("{name} has no bytes for `{key}`"))),
        _ => Ok(module),
    }
}

/// Named sizes of the model become numbers before any conversion. Symbolized sizes are symbols during the
/// import and numbers after it, so that the result is the symbolic program at these numbers.
#[cfg(feature = "onnx")]
fn import_model(
    ctx: &Arc<Context>,
    path: &Path,
    open_file: OpenFile<'_>,
    options: &LoadOptions,
) -> Result<Module, Failure> {
    let mut sizes = options.sizes.clone();
    let later = sizes::take_symbolized(ctx, &mut sizes);
    let import_options = ImportOptions { open_file, stripped: options.stripped, sizes };
    let module = import::onnx::import(ctx, path, &import_options);
    let mut module = module.map_err(|faults| Failure::diagnostics(ctx, &faults).coded(FaultCode::Model))?;
    sizes::bind(&mut module, &later)?;
    Ok(module)
}

/// Imports with files that are mapped; the weights are read from the files.
#[cfg(feature = "onnx")]
fn from_files<T>(ctx: &Context, import: impl FnOnce(OpenFile<'_>) -> T) -> T {
    let files = ModelFiles::default();
    let result = import(&|path| files.open(path));
    files.unmap_weights(ctx);
    result
}

/// The bytes of a file, mapped.
#[cfg(feature = "onnx")]
pub(crate) fn map_file(path: &Path) -> io::Result<SharedBytes> {
    Ok(MappedFile::open(path)?.into_shared())
}

/// Whether these are the first bytes of a model: its first field is its version.
fn begins_model(bytes: &[u8]) -> bool {
    bytes.first() == Some(&8)
}

/// The name and the text of a file, or of standard input (`-`).
#[cfg(feature = "cli")]
pub(crate) fn read_text(path: &Path) -> Result<(String, String), Failure> {
    let (name, bytes) = read_bytes(path)?;
    let text = text_of(&name, bytes)?;
    Ok((name, text))
}

fn read_bytes(path: &Path) -> Result<(String, Vec<u8>), Failure> {
    let mut bytes = Vec::new();
    let name = if path == Path::new("-") { "<stdin>".to_owned() } else { path.display().to_string() };
    let read = match path == Path::new("-") {
        true => io::stdin().lock().read_to_end(&mut bytes).map(|_| ()),
        false => fs::read(path).map(|content| bytes = content),
    };
    read.map_err(|error| Failure::input(format!("{name}: {error}")))?;
    Ok((name, bytes))
}

fn text_of(name: &str, bytes: Vec<u8>) -> Result<String, Failure> {
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) => {
            let good = error.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(&error.as_bytes()[..good]).into_owned();
            let (line, column) = ir::diag::line_column(&text, good);
            let hint = if begins_model(text.as_bytes()) {
                " (an ONNX model is a file whose name ends in `.onnx`)"
            } else {
                ""
            };
            Err(Failure::input(format!("{name}:{line}:{column}: the text is not UTF-8{hint}")))
        }
    }
}

/// Finds the constants that the text only names, in the model that it refers to.
#[cfg(feature = "onnx")]
pub(crate) fn restore_weights(
    module: &Module,
    path: Option<&Path>,
    stripped: StrippedWeights,
) -> Result<(), Failure> {
    let ctx = &module.ctx;
    let missing = missing_blobs(module);
    if missing.is_empty() {
        return Ok(());
    }
    let references = ctx.references();
    let reference = |key: &str| references.iter().find(|entry| entry.0 == key).map(|entry| entry.1.as_str());
    let Some(model) = reference("model") else {
        let keys = missing.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
        return Err(Failure::input(format!(
            "the text has no bytes for {keys}, and refers to no model that has them"
        )));
    };
    let is_synthetic = reference("synthesize") == Some("true");
    let stripped = if is_synthetic { StrippedWeights::Synthesize } else { stripped };
    let keys: Vec<&str> = missing.iter().map(String::as_str).collect();
    let restored = from_files(ctx, |open_file| {
        let options = ImportOptions { open_file, stripped, sizes: Default::default() };
        import::onnx::restore(ctx, &model_path(model, path), &options, &keys)
    });
    restored.map_err(|faults| Failure::diagnostics(ctx, &faults))
}

/// The path of the model that a text names: as given, or relative to the text.
#[cfg(feature = "onnx")]
fn model_path(model: &str, text_path: Option<&Path>) -> PathBuf {
    let plain = PathBuf::from(model);
    let beside = text_path.and_then(Path::parent).map(|folder| folder.join(&plain));
    match beside.filter(|beside| !plain.exists() && beside.exists()) {
        Some(beside) => beside,
        None => plain,
    }
}

fn missing_blobs(module: &Module) -> Vec<String> {
    if module.ctx.resources().all(|key| module.ctx.blob(key).is_some()) {
        return Vec::new();
    }
    let mut keys = named_resources(module);
    keys.retain(|key| module.ctx.blob(module.ctx.ident(key)).is_none());
    keys.into_iter().collect()
}

/// The resources that operations of a module name, in the order of first use.
pub(crate) fn named_resources(module: &Module) -> IndexSet<String> {
    let mut keys = IndexSet::new();
    collect_resources(&module.ctx, &module.top, &mut keys);
    keys
}

fn collect_resources(ctx: &Context, body: &Body, keys: &mut IndexSet<String>) {
    for op in body.all_blocks().flat_map(|block| body.ops(block)) {
        for (_, attr) in ctx.dict_entries(body.properties(op)).iter().chain(ctx.dict_entries(body.attrs(op)))
        {
            if let AttrData::Resource { key, .. } = ctx.attr_data(*attr) {
                keys.insert(ctx.str(*key).to_owned());
            }
        }
        if let Some(child) = body.child(op) {
            collect_resources(ctx, child, keys);
        }
    }
}
