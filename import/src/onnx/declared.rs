//! Declared types and sizes: those of the file, and those given by the user.

use std::collections::BTreeMap;

use ir::dims;
use ir::{Context, Diagnostic, Dim, DimExpr, Location, Type, TypeData};

use super::call::Refusal;
use super::element::Element;
use super::facts::SizeFacts;
use super::tensor::{Dimension, TypeProto, ValueInfoProto};
use super::weights::{Weight, element_type};

/// The user's declarations about sizes.
#[derive(Debug, Clone, Default)]
pub struct DeclaredSizes {
    /// Values of symbols, by name.
    pub values: BTreeMap<String, u64>,
    /// The range of a symbol.
    pub ranges: BTreeMap<String, (u64, u64)>,
    /// Sizes of inputs that become symbols, in place of those in the file.
    pub symbolized: Vec<Symbolized>,
    /// Shapes for inputs whose types lack them: for each element of a sequence, for an optional tensor or one
    /// of unknown rank; none for an empty optional.
    pub items: BTreeMap<String, Option<Vec<Vec<u64>>>>,
    /// Inputs that are replaced by constants and are no arguments of the function.
    pub constants: BTreeMap<String, Weight>,
}

/// A size of an input that becomes a symbol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbolized {
    /// The input's name.
    pub input: String,
    /// The axis, from 0.
    pub axis: usize,
    /// The symbol, or an expression.
    pub size: String,
}

impl DeclaredSizes {
    /// No declarations.
    pub fn new() -> DeclaredSizes {
        DeclaredSizes::default()
    }
}

impl From<BTreeMap<String, u64>> for DeclaredSizes {
    fn from(values: BTreeMap<String, u64>) -> DeclaredSizes {
        DeclaredSizes { values, ..DeclaredSizes::default() }
    }
}

/// The arguments of the function for an input of the graph.
pub(super) enum DeclaredInput {
    /// One.
    Tensor(Type),
    /// One for each element of a sequence.
    Sequence(Vec<Type>),
    /// None: an optional that is empty.
    Nothing,
}

/// The arguments for an input of the graph. The number of elements of a sequence, whether an optional is
/// empty, and the shapes of both are known only if the user gives them.
pub(super) fn declared_input(
    ctx: &Context,
    name: &str,
    ty: &TypeProto<'_>,
    facts: &SizeFacts<'_>,
) -> Result<DeclaredInput, Refusal> {
    let given = facts.given.items.get(name);
    let of_shape = |ty: &TypeProto<'_>, shape: &Vec<u64>| given_type(ctx, ty, shape);
    let unknown = |what: &str| Refusal {
        message: format!("{what} whose shape is not known before arrays are given"),
        help: Some("`optc run --inputs` takes it from the arrays".to_owned()),
    };
    match (ty, given.map(Option::as_deref)) {
        (TypeProto::Tensor { shape: None, .. }, None) => Err(unknown("a tensor of unknown rank")),
        (TypeProto::Tensor { shape: None, .. }, Some(Some([shape]))) => {
            of_shape(ty, shape).map(DeclaredInput::Tensor)
        }
        (TypeProto::Sequence(_), None) => Err(unknown("a sequence")),
        (TypeProto::Optional(_), None) => Err(unknown("an optional")),
        (TypeProto::Optional(_), Some(None)) => Ok(DeclaredInput::Nothing),
        (TypeProto::Optional(held), Some(Some(shapes))) => match (&**held, shapes) {
            (TypeProto::Sequence(element), _) => shapes
                .iter()
                .map(|shape| of_shape(element, shape))
                .collect::<Result<_, _>>()
                .map(DeclaredInput::Sequence),
            (held, [shape]) => of_shape(held, shape).map(DeclaredInput::Tensor),
            _ => Err("several arrays, expected a tensor or nothing".into()),
        },
        (TypeProto::Sequence(element), Some(Some(shapes))) => shapes
            .iter()
            .map(|shape| of_shape(element, shape))
            .collect::<Result<_, _>>()
            .map(DeclaredInput::Sequence),
        _ => declared_type(ctx, name, ty, facts).map(DeclaredInput::Tensor),
    }
}

/// The type of a tensor of a given shape, which the file's type must allow.
fn given_type(ctx: &Context, ty: &TypeProto<'_>, given: &[u64]) -> Result<Type, Refusal> {
    let TypeProto::Tensor { element, shape } = ty else {
        return Err("a sequence or an optional in another, expected tensors".into());
    };
    let fits = |(declared, given): (&Dimension<'_>, &u64)| match declared {
        Dimension::Value(size) => u64::try_from(*size) == Ok(*given),
        _ => true,
    };
    if let Some(shape) = shape
        && (shape.len() != given.len() || !shape.iter().zip(given).all(fits))
    {
        let declared = describe_dimensions(shape);
        return Err(format!("an array of shape {given:?}, expected {declared}").into());
    }
    let element =
        Element::from_number(*element).ok_or_else(|| format!("element type {element}, expected numbers"))?;
    element
        .storage_bytes(given)
        .ok_or_else(|| format!("shape {given:?} has more elements than memory holds"))?;
    Ok(ctx.tensor(given, element_type(ctx, element)?))
}

/// The type of a graph's input. A size with a name in the file is a symbol, and so is an unknown size: `x_0`
/// is the first size of input `x`. A symbol with a given value is replaced by it.
fn declared_type(
    ctx: &Context,
    name: &str,
    ty: &TypeProto<'_>,
    facts: &SizeFacts<'_>,
) -> Result<Type, Refusal> {
    let sizes = facts.given;
    let (element, shape) = match ty {
        TypeProto::Tensor { element, shape: Some(shape) } => (*element, shape),
        TypeProto::Tensor { .. } => return Err("a tensor of unknown rank, expected a shape".into()),
        TypeProto::Unknown => return Err("an input without a type".into()),
        TypeProto::Other(kind) => return Err(format!("{kind}, expected a tensor").into()),
        TypeProto::Sequence(_) | TypeProto::Optional(_) => {
            return Err("arrays that do not fit its type".into());
        }
    };
    if let Some(entry) =
        sizes.symbolized.iter().find(|entry| entry.input == name && entry.axis >= shape.len())
    {
        return Err(format!("axis {} is not one of its {}", entry.axis, shape.len()).into());
    }
    let dims = shape.iter().enumerate().map(|(axis, dimension)| {
        let symbolized = sizes.symbolized.iter().find(|entry| entry.input == name && entry.axis == axis);
        match (symbolized, *dimension) {
            (Some(entry), _) => named_size(ctx, &entry.size, facts),
            (None, Dimension::Symbol(symbol)) => named_size(ctx, symbol, facts),
            (None, Dimension::Unknown) => named_size(ctx, &format!("{name}_{axis}"), facts),
            (None, Dimension::Value(size)) => match u64::try_from(size) {
                Ok(size) => Ok(Dim::Known(size)),
                Err(_) => Err(format!("size {size} of dimension {axis}, expected 0 or more").into()),
            },
        }
    });
    let dims = dims.collect::<Result<Vec<Dim>, Refusal>>()?;
    let element =
        Element::from_number(element).ok_or_else(|| format!("element type {element}, expected numbers"))?;
    if let Some(known) = dims.iter().map(|dim| dim.known()).collect::<Option<Vec<u64>>>() {
        element
            .storage_bytes(&known)
            .ok_or_else(|| format!("shape {known:?} has more elements than memory holds"))?;
    }
    let elem = element_type(ctx, element)?;
    Ok(ctx.ty(TypeData::Tensor { shape: dims.into(), elem, encoding: None }))
}

/// The size for a name: an expression, if it parses as one, otherwise a symbol of that name.
fn named_size(ctx: &Context, name: &str, facts: &SizeFacts<'_>) -> Result<Dim, Refusal> {
    let value = |symbol| match facts.given.values.get(ctx.str(symbol)) {
        Some(value) => Some(dims::constant(ctx, i64::try_from(*value).ok()?)),
        None => facts.equal(symbol),
    };
    let found =
        dims::replace(ctx, facts.read(ctx, name), &value).map_or(Dim::Unknown, |expr| dims::size(ctx, expr));
    match found {
        // Names of data-dependent sizes begin this way.
        _ if name.starts_with('\0') => Err(format!("{name:?} is no size").into()),
        Dim::Unknown => Err(format!("`{name}` is no size").into()),
        found => Ok(found),
    }
}

/// The expression or symbol in a size's name. Exporters write `/` and `//` before a number for a quotient
/// rounded down.
pub fn read_size(ctx: &Context, name: &str) -> DimExpr {
    let read = |text: &str| ir::text::parse_dim(ctx, text).ok();
    let divided = || {
        let parts: Vec<&str> = name.split('/').filter(|part| !part.is_empty()).collect();
        let is_number = |part: &&str| part.trim_start().starts_with(|first: char| first.is_ascii_digit());
        let all_divide = parts.len() > 1 && parts[1..].iter().all(is_number);
        all_divide.then(|| read(&parts.join(" floordiv "))).flatten()
    };
    // In a text, `//` begins a comment.
    let found = if name.contains('/') { divided() } else { read(name) };
    found.unwrap_or_else(|| dims::symbol(ctx, name))
}

/// Refuses a value whose declared type contradicts the inferred one. Unknown parts of the declared type match
/// anything, and so does the size of a data-dependent axis.
pub fn check_declared(
    ctx: &Context,
    inferred: Type,
    info: &ValueInfoProto<'_>,
    sizes: &DeclaredSizes,
    open: Option<usize>,
) -> Result<(), Refusal> {
    let TypeProto::Tensor { element, shape } = &info.ty else { return Ok(()) };
    let declared_element = Element::from_number(*element).and_then(|element| element_type(ctx, element).ok());
    let inferred_element = ctx.elem(inferred);
    let inferred_dims = ctx.type_data(inferred).tensor_shape().unwrap_or_default();
    let element_fits = declared_element.is_none_or(|element| element == inferred_element);
    let fits = |(axis, (declared, inferred)): (usize, (&Dimension<'_>, &Dim))| match (declared, inferred) {
        _ if open == Some(axis) => true,
        (Dimension::Value(size), Dim::Known(inferred)) => u64::try_from(*size) == Ok(*inferred),
        (Dimension::Symbol(name), Dim::Known(inferred)) => {
            sizes.values.get(*name).is_none_or(|size| size == inferred)
        }
        _ => true,
    };
    let shape_fits = shape.as_ref().is_none_or(|shape| {
        shape.len() == inferred_dims.len() && shape.iter().zip(inferred_dims).enumerate().all(fits)
    });
    if element_fits && shape_fits {
        return Ok(());
    }
    let declared = shape.as_ref().map_or("of unknown rank".to_owned(), |shape| describe_dimensions(shape));
    let element = Element::from_number(*element).map_or("?", Element::name);
    let found = describe_type(ctx, inferred);
    Err(format!("`{}` is {found}, but the file says {element} {declared}", info.name).into())
}

/// Symbolized inputs that do not exist, and values for symbols that no input has.
pub(super) fn misnamed(
    ctx: &Context,
    sizes: &DeclaredSizes,
    inputs: &[ValueInfoProto<'_>],
) -> Vec<Diagnostic> {
    let mut symbols: Vec<String> = sizes.symbolized.iter().map(|entry| entry.size.clone()).collect();
    for input in inputs {
        let TypeProto::Tensor { shape: Some(shape), .. } = &input.ty else { continue };
        symbols.extend(shape.iter().enumerate().filter_map(|(axis, dimension)| match dimension {
            Dimension::Symbol(name) => Some((*name).to_owned()),
            Dimension::Unknown => Some(format!("{}_{axis}", input.name)),
            Dimension::Value(_) => None,
        }));
    }
    let in_expressions = symbols.iter().flat_map(|size| dims::symbols(ctx, read_size(ctx, size)));
    let names: Vec<String> =
        in_expressions.map(|name| ctx.str(name).to_owned()).chain(symbols.iter().cloned()).collect();
    let fault = |what: String, name: &str, known: Vec<&str>| {
        let fault = Diagnostic::error(Location::UNKNOWN, what);
        match ir::diag::did_you_mean_or_all(name, known) {
            Some(help) => fault.with_help(help),
            None => fault,
        }
    };
    let given = sizes.values.keys().chain(sizes.ranges.keys());
    let mut faults: Vec<Diagnostic> = given
        .filter(|name| !names.contains(name))
        .map(|name| {
            let what = format!("no input has a named size `{name}`");
            fault(what, name, names.iter().map(String::as_str).collect())
        })
        .collect();
    for entry in &sizes.symbolized {
        if inputs.iter().all(|input| input.name != entry.input) {
            let what = format!("the model has no input `{}`", entry.input);
            faults.push(fault(what, &entry.input, inputs.iter().map(|input| input.name).collect()));
        }
    }
    faults
}

fn describe_type(ctx: &Context, ty: Type) -> String {
    let named = |element: &&Element| element_type(ctx, **element) == Ok(ctx.elem(ty));
    let element = Element::ALL.iter().find(named).map_or("?", |element| element.name());
    let shape = match ctx.type_data(ty) {
        TypeData::Tensor { shape, .. } => {
            shape.iter().map(|dim| dims::SizeArithmetic(ctx).text(*dim)).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_reads_as_an_expression_is_one() {
        let check = |name: &str, expected: &str| {
            let ctx = Context::new();
            assert_eq!(dims::print(&ctx, read_size(&ctx, name)), expected);
        };
        check("N*M", "M * N");
        check("past + seq", "past + seq");
        check("seq/2", "seq floordiv 2");
        check("(seq + 1)//2", "seq ceildiv 2");
        check("H/2/2", "H floordiv 4");
        check("decoder/seq", "\"decoder/seq\"");
        check("/x/0", "\"/x/0\"");
    }
}
