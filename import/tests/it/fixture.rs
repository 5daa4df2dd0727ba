//! How a test imports a model that it has just written.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use import::onnx::declared::DeclaredSizes;
use import::onnx::{ImportOptions, StrippedWeights, import};
use ir::SharedBytes;
use ir::{Context, Diagnostic, Module};

use crate::writer::{Graph, Message, model};

/// The module that a model becomes, or the text of each fault.
pub(crate) fn import_bytes(
    bytes: &[u8],
    stripped: StrippedWeights,
    sizes: &[(&str, u64)],
) -> Result<Module, Vec<String>> {
    let sizes = sizes.iter().map(|(name, size)| ((*name).to_owned(), *size)).collect::<BTreeMap<_, _>>();
    import_sized(bytes, stripped, sizes.into())
}

/// The same, where more is said of sizes than numbers.
pub(crate) fn import_sized(
    bytes: &[u8],
    stripped: StrippedWeights,
    sizes: DeclaredSizes,
) -> Result<Module, Vec<String>> {
    let shared = bytes.to_vec();
    let open_file = move |_: &Path| -> io::Result<SharedBytes> { Ok(Arc::new(shared.clone())) };
    let ctx = Arc::new(Context::new());
    let options = ImportOptions { open_file: &open_file, stripped, sizes };
    let texts = |diagnostics: Vec<Diagnostic>| diagnostics.iter().map(|fault| text(&ctx, fault)).collect();
    import(&ctx, Path::new("m.onnx"), &options).map_err(texts)
}

/// `place: message (help)`.
fn text(ctx: &Context, diagnostic: &Diagnostic) -> String {
    let place = ir::diag::describe(ctx, diagnostic.location).unwrap_or_default();
    let help = diagnostic.help.as_ref().map_or(String::new(), |help| format!(" ({help})"));
    format!("{place}: {}{help}", diagnostic.message)
}

/// The faults of a model, which must have some.
pub(crate) fn faults(model: &Message) -> Vec<String> {
    match import_bytes(&model.0, StrippedWeights::Refuse, &[]) {
        Ok(_) => panic!("the model imports"),
        Err(faults) => faults,
    }
}

/// Checks that a model of a graph, with a version of ONNX's own operators, is refused, and why.
#[track_caller]
pub(crate) fn refuses(version: i64, graph: Graph, reason: &str) {
    refuses_model(&model(version, graph), reason);
}

/// The same of a model.
#[track_caller]
pub(crate) fn refuses_model(model: &Message, reason: &str) {
    let said = faults(model).join("\n");
    assert!(said.contains(reason), "no `{reason}` in: {said}");
}
