//! Shapes of model inputs whose types do not have them: sequences, optionals and tensors of unknown rank.
//!
//! A program has an argument for each element of a sequence (`x[0]`, `x[1]`, ...), so their number must be
//! known when the model is read, and so must whether an optional is empty. Both are taken from the arrays
//! that the program is to run on, and passed to [`import::onnx::declared::DeclaredSizes::items`].

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use import::onnx::model::ModelProto;
use import::onnx::tensor::TypeProto;

use crate::arrays::Array;
use crate::protobuf::HeldArrays;

/// The shapes given for an input, by its name; none for an empty optional.
pub type Items = BTreeMap<String, Option<Vec<Vec<u64>>>>;

/// The inputs of a model that are no weights, with their types.
pub fn inputs<'m, 'a>(model: &'m ModelProto<'a>) -> impl Iterator<Item = (&'a str, &'m TypeProto<'a>)> {
    let weights = &model.graph.initializers;
    let inputs = model.graph.inputs.iter();
    let inputs = inputs.filter(|input| weights.iter().all(|weight| weight.name != input.name));
    inputs.map(|input| (input.name, &input.ty))
}

/// The inputs of a model that are encoded images: these must be known when the model is read.
pub fn streams<'a>(model: &ModelProto<'a>) -> BTreeSet<&'a str> {
    let decoders = model.graph.nodes.iter().filter(|node| node.op_type == "ImageDecoder");
    let decoded: BTreeSet<&str> = decoders.flat_map(|node| &node.inputs).copied().collect();
    inputs(model).map(|(name, _)| name).filter(|name| decoded.contains(name)).collect()
}

/// Whether an input's type leaves the number of arrays or their rank open.
fn is_open(ty: &TypeProto<'_>) -> bool {
    matches!(ty, TypeProto::Sequence(_) | TypeProto::Optional(_) | TypeProto::Tensor { shape: None, .. })
}

/// Whether a model has inputs whose shapes must be given.
pub fn has_open_inputs(model: &ModelProto<'_>) -> bool {
    inputs(model).any(|(_, ty)| is_open(ty))
}

/// The given shapes in the order of a model's inputs.
pub fn in_order(model: &ModelProto<'_>, given: &[HeldArrays]) -> Items {
    let open = inputs(model).zip(given).filter(|((_, ty), _)| is_open(ty));
    open.map(|((name, _), held)| (name.to_owned(), held.shapes())).collect()
}

/// The shapes of arrays for the inputs that they name. An element of a sequence is called `x[0]`; a
/// sequence or an optional without arrays is empty.
pub fn by_name(model: &ModelProto<'_>, arrays: &[Array]) -> Items {
    let shape = |name: &str| arrays.iter().find(|array| array.name == name).map(|array| array.shape.clone());
    let elements = |name: &str| (0..).map_while(|at| shape(&format!("{name}[{at}]"))).collect::<Vec<_>>();
    let open = inputs(model).filter(|(_, ty)| is_open(ty));
    let items = open.map(|(name, ty)| {
        let given = match shape(name) {
            Some(shape) => vec![shape],
            None => elements(name),
        };
        let is_sequence = matches!(ty, TypeProto::Sequence(_));
        (name.to_owned(), Some(given).filter(|given| is_sequence || !given.is_empty()))
    });
    items.collect()
}

/// The result of `make` for a model's file; empty for an unreadable file, since its import reports the
/// reason.
pub fn of_file(path: &Path, make: impl Fn(&ModelProto<'_>) -> Items) -> Items {
    let Ok(file) = crate::load::map_file(path) else { return Items::new() };
    match ModelProto::read((*file).as_ref()) {
        Ok(model) if has_open_inputs(&model) => make(&model),
        _ => Items::new(),
    }
}
