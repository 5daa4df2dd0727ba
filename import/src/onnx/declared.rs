//! Which types a file gives its values, and whether they are the ones that follow from the nodes.

use std::collections::BTreeMap;

use ir::{Context, Dim, Type, TypeData};

use super::call::Refusal;
use super::element::Element;
use super::tensor::{Dimension, ValueInfo, ValueType};
use super::weights::element_type;

/// Values of symbolic sizes, by name.
pub type Sizes = BTreeMap<String, u64>;

/// The type of a graph's input. Every size must be known, or stand among `sizes`.
pub fn declared_type(ctx: &Context, ty: &ValueType<'_>, sizes: &Sizes) -> Result<Type, Refusal> {
    let (element, shape) = match ty {
        ValueType::Tensor { element, shape: Some(shape) } => (*element, shape),
        ValueType::Tensor { .. } => return Err("a tensor of unknown rank, expected a shape".into()),
        ValueType::Unknown => return Err("an input without a type".into()),
        ValueType::Other(kind) => return Err(format!("{kind}, expected a tensor").into()),
    };
    let dims = shape.iter().enumerate().map(|(i, dimension)| known_size(i, dimension, sizes));
    let dims = dims.collect::<Result<Vec<u64>, Refusal>>()?;
    let element =
        Element::from_number(element).ok_or_else(|| format!("element type {element}, expected numbers"))?;
    element
        .storage_bytes(&dims)
        .ok_or_else(|| format!("shape {dims:?} has more elements than memory holds"))?;
    Ok(ctx.tensor(&dims, element_type(ctx, element)?))
}

fn known_size(index: usize, dimension: &Dimension<'_>, sizes: &Sizes) -> Result<u64, Refusal> {
    match *dimension {
        Dimension::Value(size) => u64::try_from(size)
            .map_err(|_| format!("size {size} of dimension {index}, expected 0 or more").into()),
        Dimension::Symbol(name) => sizes.get(name).copied().ok_or_else(|| Refusal {
            message: format!("size `{name}` of dimension {index} is symbolic, expected a number"),
            help: Some(format!("give it with `--dim {name}=N`")),
        }),
        Dimension::Unknown => Err(format!("the size of dimension {index} is not given").into()),
    }
}

/// Refuses if the file's type of a value contradicts the one that was inferred. What the file leaves open fits.
pub fn check_declared(
    ctx: &Context,
    inferred: Type,
    info: &ValueInfo<'_>,
    sizes: &Sizes,
) -> Result<(), Refusal> {
    let ValueType::Tensor { element, shape } = &info.ty else { return Ok(()) };
    let declared_element = Element::from_number(*element).and_then(|element| element_type(ctx, element).ok());
    let inferred_element = ctx.elem(inferred);
    let inferred_dims = ctx.type_data(inferred).tensor_shape().unwrap_or_default();
    let element_fits = declared_element.is_none_or(|element| element == inferred_element);
    let fits = |(declared, inferred): (&Dimension<'_>, &Dim)| match (declared, inferred) {
        (Dimension::Value(size), Dim::Known(inferred)) => u64::try_from(*size) == Ok(*inferred),
        (Dimension::Symbol(name), Dim::Known(inferred)) => {
            sizes.get(*name).is_none_or(|size| size == inferred)
        }
        _ => true,
    };
    let shape_fits = shape
        .as_ref()
        .is_none_or(|shape| shape.len() == inferred_dims.len() && shape.iter().zip(inferred_dims).all(fits));
    if element_fits && shape_fits {
        return Ok(());
    }
    let declared = shape.as_ref().map_or("of unknown rank".to_owned(), |shape| describe_dimensions(shape));
    let element = Element::from_number(*element).map_or("?", Element::name);
    let found = describe_type(ctx, inferred);
    Err(format!("`{}` is {found}, but the file says {element} {declared}", info.name).into())
}

fn describe_type(ctx: &Context, ty: Type) -> String {
    let named = |element: &&Element| element_type(ctx, **element) == Ok(ctx.elem(ty));
    let element = Element::ALL.iter().find(named).map_or("?", |element| element.name());
    let shape = match ctx.type_data(ty) {
        TypeData::Tensor { shape, .. } => {
            shape.iter().map(|dim| dim.known().map_or("?".to_owned(), |d| d.to_string())).collect()
        }
        _ => Vec::new(),
    };
    format!("{element} [{}]", shape.join(", "))
}

fn describe_dimensions(shape: &[Dimension<'_>]) -> String {
    let text = |dimension: &Dimension<'_>| match dimension {
        Dimension::Unknown => "?".to_owned(),
        Dimension::Value(size) => size.to_string(),
        Dimension::Symbol(name) => (*name).to_owned(),
    };
    format!("[{}]", shape.iter().map(text).collect::<Vec<_>>().join(", "))
}
