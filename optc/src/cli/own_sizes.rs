//! The fallback for models that can't be compiled with named sizes: they are compiled for the sizes of their
//! inputs.
//!
//! Some networks are refused with named sizes: a recurrent network with a symbolic number of steps, or a
//! condition that depends on a size. The inputs of a run determine these sizes, so the model is imported
//! again with numbers instead. If that does not suffice, small integer inputs (a rate, a mode, a shape) and
//! encoded images become constants too. Each set of inputs then has a program of its own.

use std::collections::BTreeMap;
use std::path::Path;

use import::onnx::declared::{DeclaredSizes, read_size};
use import::onnx::element::Element;
use import::onnx::model::ModelProto;
use import::onnx::tensor::{Dimension, TypeProto};
use import::onnx::weights::Weight;
use ir::{Blob, Context, dims};
use runtime::ElementKind;

use crate::arrays::{Array, read_npz};
use crate::elements::{of_onnx, onnx_element};
use crate::items::{inputs, streams};
use crate::load::map_file;
use crate::protobuf::{HeldArrays, read_held};

/// The limit of elements of an input that becomes a constant.
const MOST_ELEMENTS: u64 = 64;

/// The information taken from the inputs of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// Their sizes.
    Sizes,
    /// Their sizes, and the contents of small integer inputs and encoded images.
    SizesAndNumbers,
}

impl Taken {
    pub(super) const ALL: [Taken; 2] = [Taken::Sizes, Taken::SizesAndNumbers];

    pub(super) fn words(self) -> &'static str {
        match self {
            Taken::Sizes => "sizes",
            Taken::SizesAndNumbers => "sizes, and the numbers in small inputs of integers,",
        }
    }
}

/// The arrays of a run, by the names of the model's inputs; none unless all are tensors.
pub(super) fn arrays_of(model: &Path, given: Option<&Path>) -> Option<Vec<Array>> {
    let Some(given) = given else { return Some(Vec::new()) };
    let file = map_file(model).ok()?;
    let model = ModelProto::read((*file).as_ref()).ok()?;
    if !given.is_dir() {
        return read_npz(given, &|name| element_of(&model, name)).ok();
    }
    let named = inputs(&model).zip(read_held(given, "input").ok()?);
    let arrays = named.map(|((name, _), held)| match held {
        HeldArrays::Tensor(array) => Some(Array { name: name.to_owned(), ..array }),
        HeldArrays::Items(_) | HeldArrays::Nothing => None,
    });
    arrays.collect()
}

/// The type of an input's elements, which numpy may have no name for.
fn element_of(model: &ModelProto<'_>, name: &str) -> Option<ElementKind> {
    let (_, ty) = inputs(model).find(|(input, _)| *input == name)?;
    let TypeProto::Tensor { element, .. } = ty else { return None };
    of_onnx(Element::from_number(*element)?)
}

/// The sizes, small inputs and encoded images determined by arrays; none if there are none.
pub(super) fn said(model: &Path, arrays: &[Array], taken: Taken) -> Option<DeclaredSizes> {
    let file = map_file(model).ok()?;
    let model = ModelProto::read((*file).as_ref()).ok()?;
    let streams = streams(&model);
    let mut said = DeclaredSizes::new();
    for (name, ty) in inputs(&model) {
        let Some(array) = arrays.iter().find(|array| array.name == name) else { continue };
        let TypeProto::Tensor { element, shape: Some(shape) } = ty else { continue };
        let size_fits = |(declared, size): (&Dimension<'_>, &u64)| match declared {
            Dimension::Value(declared) => u64::try_from(*declared) == Ok(*size),
            _ => true,
        };
        let fits = shape.len() == array.shape.len() && shape.iter().zip(&array.shape).all(size_fits);
        if !fits || Element::from_number(*element) != Some(onnx_element(array.element)) {
            return None;
        }
        said.values.extend(named(name, shape, &array.shape));
        if taken == Taken::SizesAndNumbers && (is_small(array) || streams.contains(name)) {
            let blob = Blob::from_bytes(array.bytes.clone());
            let weight = Weight { element: onnx_element(array.element), dims: array.shape.clone(), blob };
            said.constants.insert(name.to_owned(), weight);
        }
    }
    let is_nothing = said.values.is_empty() && said.constants.is_empty();
    let is_more = taken == Taken::Sizes || !said.constants.is_empty();
    (!is_nothing && is_more).then_some(said)
}

fn is_small(array: &Array) -> bool {
    let is_float =
        matches!(array.element, ElementKind::F16 | ElementKind::BF16 | ElementKind::F32 | ElementKind::F64);
    !is_float && array.shape.iter().product::<u64>() <= MOST_ELEMENTS
}

/// The names of an input's sizes, with their numbers.
fn named(input: &str, shape: &[Dimension<'_>], sizes: &[u64]) -> BTreeMap<String, u64> {
    let ctx = Context::new();
    let name = |(axis, dimension): (usize, &Dimension<'_>)| match dimension {
        // An expression follows from the symbols in it.
        Dimension::Symbol(name) => {
            (read_size(&ctx, name) == dims::symbol(&ctx, name)).then(|| (*name).to_owned())
        }
        Dimension::Unknown => Some(format!("{input}_{axis}")),
        Dimension::Value(_) => None,
    };
    let names = shape.iter().enumerate().map(name);
    names.zip(sizes).filter_map(|(name, size)| Some((name?, *size))).collect()
}
