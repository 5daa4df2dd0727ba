//! Import of a model file as a module.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use hashbrown::HashMap;
use ir::{Context, Diagnostic, Module, SharedBytes};

use super::declared::DeclaredSizes;
use super::external::{ExternalFiles, OpenFile};
use super::functions;
use super::lower::{ModelSource, lower};
use super::model::{AttributeValue, ModelProto};
use super::rows::{NEWEST, OperatorSets};
use super::tensor::TensorProto;
use super::weights::{Keys, WeightFiles};
use crate::synth::{self, Stripped};

/// Options of an import.
pub struct ImportOptions<'a> {
    /// How files are opened: mapped, or read with [`super::external::read_file`].
    pub open_file: OpenFile<'a>,
    /// What replaces weights that were stripped from the file.
    pub stripped: StrippedWeights,
    /// Declarations about sizes.
    pub sizes: DeclaredSizes,
}

/// What replaces the weights of a weight-stripped model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StrippedWeights {
    /// Nothing: such a model is refused.
    Refuse,
    /// The numbers that its rules make (see [`crate::synth`]).
    Synthesize,
}

/// The model at `path` as a module with the function `@main`.
///
/// Weights are shared with the opened file or generated on demand. The context records their origin (`model`,
/// `synthesize`), so [`restore`] can find them again for printed text.
///
/// # Errors
/// Every fault of the stage that failed: the file itself, names and operators, or the conversion.
pub fn import(
    ctx: &Arc<Context>,
    path: &Path,
    options: &ImportOptions<'_>,
) -> Result<Module, Vec<Diagnostic>> {
    let file = Opened::new(ctx, path, options)?;
    let model = file.model()?;
    let sets = operator_sets(&model).map_err(|message| file.fault(message))?;
    let weights = file.weights(&model, options)?;
    let source = ModelSource { graph: &model.graph, sets, sizes: &options.sizes, weights };
    let module = lower(ctx, source)?;
    ctx.set_reference("model", &path.display().to_string());
    if options.stripped == StrippedWeights::Synthesize && model.property(synth::PROPERTY).is_some() {
        ctx.set_reference("synthesize", "true");
    }
    Ok(module)
}

/// Gives the context the bytes of the constants `keys`, for a module that was imported from `path`, printed,
/// and parsed again.
///
/// # Errors
/// The faults of the file, and every key without a tensor of the model.
pub fn restore(
    ctx: &Context,
    path: &Path,
    options: &ImportOptions<'_>,
    keys: &[&str],
) -> Result<(), Vec<Diagnostic>> {
    let file = Opened::new(ctx, path, options)?;
    let model = file.model()?;
    let mut weights = file.weights(&model, options)?;
    let tensors = named_tensors(&model);
    let mut diagnostics = Vec::new();
    for key in keys {
        match restored(&tensors, &mut weights, key) {
            Ok(blob) => ctx.set_blob(ctx.ident(key), blob),
            Err(message) => diagnostics.push(Diagnostic::error(ctx.name_location(key), message)),
        }
    }
    if diagnostics.is_empty() { Ok(()) } else { Err(diagnostics) }
}

/// A tensor of a model, and the prefix of its rule's name.
type NamedTensor<'m, 'a> = (&'m TensorProto<'a>, &'static str);

fn restored(
    tensors: &HashMap<&str, NamedTensor<'_, '_>>,
    weights: &mut WeightFiles<'_>,
    key: &str,
) -> Result<ir::Blob, String> {
    let plain = key.rsplit_once('#').map_or(key, |(plain, _)| plain);
    let found = [key, plain].into_iter().find_map(|name| tensors.get_key_value(name));
    let (name, (tensor, rule)) = found.ok_or_else(|| format!("the model has no tensor `{key}`"))?;
    Ok(weights.read(tensor, &format!("{rule}{name}"))?.blob)
}

/// The weights and the tensors of `Constant` nodes, by name.
fn named_tensors<'m, 'a>(model: &'m ModelProto<'a>) -> HashMap<&'a str, NamedTensor<'m, 'a>> {
    let constants = model.graph.nodes.iter().filter(|node| node.op_type == "Constant");
    let constants = constants.filter_map(|node| match (&node.attributes.first()?.value, &node.outputs[..]) {
        (AttributeValue::Tensor(tensor), [name]) => Some((*name, (&**tensor, "const:"))),
        _ => None,
    });
    let weights = model.graph.initializers.iter().map(|tensor| (tensor.name, (tensor, "")));
    constants.chain(weights).collect()
}

/// A model file's bytes, and its name for messages.
struct Opened<'c> {
    ctx: &'c Context,
    path: &'c Path,
    bytes: SharedBytes,
    /// Names that are not in the file: those of values in inlined functions.
    names: OnceLock<Vec<String>>,
}

impl<'c> Opened<'c> {
    fn new(
        ctx: &'c Context,
        path: &'c Path,
        options: &ImportOptions<'_>,
    ) -> Result<Opened<'c>, Vec<Diagnostic>> {
        let bytes = (options.open_file)(path).map_err(|error| fault(ctx, path, error.to_string()))?;
        Ok(Opened { ctx, path, bytes, names: OnceLock::new() })
    }

    fn fault(&self, message: String) -> Vec<Diagnostic> {
        fault(self.ctx, self.path, message)
    }

    /// The model, with calls of functions inlined.
    fn model(&self) -> Result<ModelProto<'_>, Vec<Diagnostic>> {
        let model =
            ModelProto::read((*self.bytes).as_ref()).map_err(|error| self.fault(error.to_string()))?;
        if model.functions.is_empty() {
            return Ok(model);
        }
        let names = functions::new_names(&model).map_err(|message| self.fault(message))?;
        let graph = functions::expand(&model, self.names.get_or_init(|| names));
        Ok(ModelProto { graph: graph.map_err(|message| self.fault(message))?, ..model })
    }

    fn weights<'a>(
        &self,
        model: &ModelProto<'_>,
        options: &ImportOptions<'a>,
    ) -> Result<WeightFiles<'a>, Vec<Diagnostic>> {
        let stripped = rules(model, options.stripped).map_err(|refused| match refused {
            Rules::Malformed(message) => self.fault(message),
            Rules::Unwanted(count) => {
                let message = format!("the data of {count} tensors was stripped from this model");
                let help = "`--synthesize-weights` generates numbers in their place";
                vec![self.fault(message).remove(0).with_help(help)]
            }
        })?;
        let external = ExternalFiles::beside(self.path, options.open_file);
        Ok(WeightFiles { model_bytes: Arc::clone(&self.bytes), external, stripped, keys: Keys::default() })
    }
}

fn fault(ctx: &Context, path: &Path, message: String) -> Vec<Diagnostic> {
    vec![Diagnostic::error(ctx.name_location(&path.display().to_string()), message)]
}

/// Why a model's rules are not used.
enum Rules {
    Malformed(String),
    Unwanted(usize),
}

fn rules(model: &ModelProto<'_>, stripped: StrippedWeights) -> Result<Stripped, Rules> {
    let Some(json) = model.property(synth::PROPERTY) else { return Ok(Stripped::default()) };
    let rules = Stripped::parse(json).map_err(Rules::Malformed)?;
    match stripped {
        StrippedWeights::Refuse if !rules.is_empty() => Err(Rules::Unwanted(rules.len())),
        _ => Ok(rules),
    }
}

/// The versions of the operator sets. Files of the first two formats do not give the version of ONNX's own:
/// it is 1.
fn operator_sets(model: &ModelProto<'_>) -> Result<OperatorSets, String> {
    let of = |domains: &[&str]| {
        let mut sets = model.opsets.iter().filter(|opset| domains.contains(&opset.domain));
        sets.next().map(|opset| opset.version)
    };
    let mut domains = model.graph.nodes.iter().map(|node| node.domain);
    let own = match of(&["", "ai.onnx"]) {
        Some(version) if (1..=NEWEST).contains(&version) => version,
        Some(version) => {
            return Err(format!("version {version} of the operator set, expected 1 to {NEWEST}"));
        }
        None if model.ir_version < 3 => 1,
        None if domains.all(|domain| !matches!(domain, "" | "ai.onnx")) => NEWEST,
        None => return Err("the model does not say which version of the operator set it uses".to_owned()),
    };
    Ok(OperatorSets { own, learned: of(&["ai.onnx.ml"]), preview: of(&["ai.onnx.preview"]) })
}
