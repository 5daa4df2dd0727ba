//! The signature of a function: its arguments and results, the ones that the caller passes, and their
//! attributes `optc.donated`, `optc.state` and `optc.open`.
//!
//! ```text
//! func.func @main(%x: tensor<4xf32> {optc.name = "x"}, %s: tensor<f32> {optc.state})
//!     -> (tensor<f32> {optc.state = 1 : i64}, tensor<9xf32> {optc.open = array<i64: 0, 2>},
//!         tensor<i64> {optc.count})
//!
//! argument 0 is input 0, `x`; argument 1 is a state; result 0 is its next value
//! result 1 is output 0, of at most 9 elements; result 2, output 1, is their number
//! ```

use std::collections::BTreeSet;

use crate::attrs::AttrData;
use crate::body::Body;
use crate::context::Context;
use crate::entities::{Attr, Type, Value};
use crate::opdef::Traits;
use crate::plan::attrs;
use crate::states::{StateArgument, states};
use crate::types::TypeData;

/// The signature of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signature {
    /// Its arguments.
    pub args: Vec<Argument>,
    /// Its results.
    pub results: Vec<Returned>,
    /// Its states, which keep their bytes from run to run, in the order of the arguments.
    pub states: Vec<StateArgument>,
}

/// An argument of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// The name from the model (`optc.name`), else the name in the source text or in its location, else
    /// `argN`.
    pub name: String,
    /// The name after the function is printed and parsed again: that from the model, else `argN`.
    /// Pseudo-random inputs are seeded with it, so the printed text gets the same numbers.
    pub printed_name: String,
    /// Its type.
    pub ty: Type,
    /// Its index among the caller's inputs; none for a state.
    pub input: Option<usize>,
    /// Whether the program may overwrite it (`optc.donated`).
    pub is_donated: bool,
}

/// A result of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Returned {
    /// The name from the model, else `resultN`.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Its index among the caller's outputs; none for the next value of a state.
    pub output: Option<usize>,
    /// Its dimension whose size depends on data (`optc.open`); the type has the upper bound.
    pub open: Option<DataDimension>,
    /// Whether it is the size of another result's dimension (`optc.count`), and not an output itself.
    pub is_count: bool,
}

/// A dimension whose size depends on data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataDimension {
    /// The axis, counted from 0.
    pub axis: usize,
    /// The index of the result that holds the size.
    pub count: usize,
}

impl Signature {
    /// The signature of a function.
    ///
    /// # Errors
    /// An error in its states, or in a data-dependent dimension.
    pub fn of(ctx: &Context, body: &Body) -> Result<Signature, String> {
        let states = states(ctx, body)?;
        let args = arguments(ctx, body, &states);
        let results = results(ctx, body, &states)?;
        Ok(Signature { args, results, states })
    }

    /// The arguments that the caller passes, in order.
    pub fn inputs(&self) -> impl Iterator<Item = &Argument> {
        self.args.iter().filter(|arg| arg.input.is_some())
    }

    /// The results that the caller receives, in order.
    pub fn outputs(&self) -> impl Iterator<Item = &Returned> {
        self.results.iter().filter(|result| result.output.is_some())
    }
}

fn arguments(ctx: &Context, body: &Body, states: &[StateArgument]) -> Vec<Argument> {
    let args = body.entry(body.root()).map_or(&[][..], |block| body.args(block));
    let dicts = Dicts::of(ctx, body, "arg_attrs");
    let mut inputs = 0..;
    let mut used: BTreeSet<String> = (0..args.len()).filter_map(|index| dicts.name(index)).collect();
    let argument = |(index, arg): (usize, &Value)| {
        let printed_name = dicts.name(index).unwrap_or_else(|| format!("arg{index}"));
        let own_name = ctx.location_name(body.arg_location(*arg)).filter(|name| !is_numbered(name));
        let own_name = own_name.filter(|_| dicts.name(index).is_none()).map(str::to_owned);
        Argument {
            name: own_name.filter(|name| used.insert(name.clone())).unwrap_or_else(|| printed_name.clone()),
            printed_name,
            ty: body.ty(*arg),
            input: if states.iter().any(|state| state.index == index) { None } else { inputs.next() },
            is_donated: dicts.get(index, attrs::OPTC_DONATED).is_some(),
        }
    };
    args.iter().enumerate().map(argument).collect()
}

/// Whether a name has the form that arguments without a name get.
fn is_numbered(name: &str) -> bool {
    name.strip_prefix("arg").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
}

fn results(ctx: &Context, body: &Body, states: &[StateArgument]) -> Result<Vec<Returned>, String> {
    let types = result_types(ctx, body);
    let dicts = Dicts::of(ctx, body, "res_attrs");
    let mut outputs = 0..;
    let result = |(index, ty): (usize, &Type)| {
        let is_next = states.iter().any(|state| state.result == Some(index));
        Ok(Returned {
            name: dicts.name(index).unwrap_or_else(|| format!("result{index}")),
            ty: *ty,
            output: if is_next { None } else { outputs.next() },
            open: data_dimension(ctx, &dicts, index, &types)?,
            is_count: dicts.get(index, attrs::OPTC_COUNT).is_some(),
        })
    };
    types.iter().enumerate().map(result).collect()
}

/// The types of the returned values; of a declaration, those of its function type.
fn result_types(ctx: &Context, body: &Body) -> Vec<Type> {
    let mut ends = body.blocks(body.root()).iter().filter_map(|block| body.last_op(*block));
    if let Some(end) = ends.find(|op| body.at(ctx, *op).has(Traits::RETURN)) {
        return body.operands(end).map(|value| body.ty(value)).collect();
    }
    let ty = body.own_attr(ctx, ctx.ident("function_type")).and_then(|attr| match ctx.attr_data(attr) {
        AttrData::Type(ty) => Some(*ty),
        _ => None,
    });
    match ty.map(|ty| ctx.type_data(ty)) {
        Some(TypeData::Function { results, .. }) => results.to_vec(),
        _ => Vec::new(),
    }
}

fn data_dimension(
    ctx: &Context,
    dicts: &Dicts<'_>,
    index: usize,
    types: &[Type],
) -> Result<Option<DataDimension>, String> {
    let numbers = dicts.get(index, attrs::OPTC_OPEN).and_then(|attr| ctx.ints_value(attr));
    let Some([axis, count]) = numbers.as_deref().and_then(|numbers| numbers.as_array()).copied() else {
        return Ok(None);
    };
    let [axis, count] = [axis, count].map(|number| usize::try_from(number).unwrap_or(usize::MAX));
    let rank = ctx.type_data(types[index]).tensor_shape().map_or(0, <[_]>::len);
    if axis < rank && types.get(count) == Some(&ctx.tensor(&[], ctx.int(64))) {
        return Ok(Some(DataDimension { axis, count }));
    }
    Err(format!(
        "`optc.open` of result {index} is axis {axis} with result {count}, expected an axis below {rank} and a tensor<i64>"
    ))
}

/// Marks an argument as donated (`optc.donated`): the program may overwrite it.
///
/// # Panics
/// If there is no such argument.
pub fn donate(ctx: &Context, body: &mut Body, index: usize) {
    let count = body.entry(body.root()).map_or(0, |block| body.args(block).len());
    let mut dicts = Dicts::of(ctx, body, "arg_attrs").list.to_vec();
    dicts.resize(count, Attr::EMPTY);
    dicts[index] = ctx.dict_set(dicts[index], ctx.ident(attrs::OPTC_DONATED), ctx.unit_attr());
    body.properties = ctx.dict_set(body.properties, ctx.ident("arg_attrs"), ctx.array_attr(&dicts));
}

/// The attributes of each argument, or result, of a function.
struct Dicts<'a> {
    ctx: &'a Context,
    list: &'a [Attr],
}

impl<'a> Dicts<'a> {
    fn of(ctx: &'a Context, body: &Body, list: &str) -> Dicts<'a> {
        let list = body.own_attr(ctx, ctx.ident(list)).and_then(|attr| ctx.array_value(attr));
        Dicts { ctx, list: list.unwrap_or(&[]) }
    }

    fn get(&self, index: usize, name: &str) -> Option<Attr> {
        self.ctx.dict_get(*self.list.get(index)?, self.ctx.ident(name))
    }

    fn name(&self, index: usize) -> Option<String> {
        Some(self.ctx.str_value(self.get(index, attrs::OPTC_NAME)?)?.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::module::Module;
    use crate::text::{Locations, PrintOptions, print_with};

    fn parse(text: &str) -> Module {
        let module = crate::text::parse(&Arc::new(Context::new()), "signature.mlir", text.to_owned());
        module.unwrap_or_else(|faults| panic!("{}", faults[0].message))
    }

    fn signature(module: &Module) -> Result<Signature, String> {
        let (_, body) = module.functions().next().expect("there is a function");
        Signature::of(&module.ctx, body)
    }

    const TEXT: &str = "func.func @main(%x: tensor<9xf32> {optc.donated, optc.name = \"x\"}, %s: tensor<i64> {optc.state}, %y: tensor<9xf32>) -> (tensor<i64> {optc.state = 1 : i64}, tensor<9xf32> {optc.name = \"y\", optc.open = array<i64: 0, 2>}, tensor<i64> {optc.count}) {
  return %s, %x, %s : tensor<i64>, tensor<9xf32>, tensor<i64>
}";

    #[test]
    fn a_signature_says_who_passes_what() {
        let module = parse(TEXT);
        let found = signature(&module).expect("it is well formed");
        let args: Vec<_> = found.args.iter().map(|arg| (&*arg.name, arg.input, arg.is_donated)).collect();
        assert_eq!(args, [("x", Some(0), true), ("s", None, false), ("y", Some(1), false)]);
        let results: Vec<_> =
            found.results.iter().map(|result| (&*result.name, result.output, result.is_count)).collect();
        let expected = [("result0", None, false), ("y", Some(0), false), ("result2", Some(1), true)];
        assert_eq!(results, expected);
        assert_eq!(found.results[1].open, Some(DataDimension { axis: 0, count: 2 }));
        assert_eq!((found.inputs().count(), found.outputs().count(), found.states.len()), (2, 2, 1));
        let types: Vec<Type> = found.args.iter().map(|arg| arg.ty).collect();
        assert_eq!(types[0], module.ctx.tensor(&[9], module.ctx.f32()));
    }

    #[test]
    fn an_argument_has_the_name_of_the_model_or_of_the_text_or_a_number() {
        let text = "func.func @f(%a: f32, %0: f32, %b: f32 {optc.name = \"a\"}, %c: f32 loc(\"d\"), \
                    %x.y-$_0: f32, %arg0: f32, %e: f32 loc(\"d\")) {\n  return\n}";
        let names = |text: &str| {
            let args = signature(&parse(text)).expect("it is well formed").args;
            [
                args.iter().map(|arg| arg.name.clone()).collect::<Vec<String>>(),
                args.iter().map(|arg| arg.printed_name.clone()).collect(),
            ]
        };
        let [found, printed] = names(text);
        assert_eq!(found, ["arg0", "arg1", "a", "d", "x.y-$_0", "arg5", "arg6"]);
        assert_eq!(printed, ["arg0", "arg1", "a", "arg3", "arg4", "arg5", "arg6"]);
        let options = PrintOptions { locations: Locations::Named, ..PrintOptions::default() };
        let again = print_with(&parse(text), &options);
        assert_eq!(names(&again), [found, printed], "{again}");
        assert_eq!(print_with(&parse(&again), &options), again);
    }

    #[test]
    fn a_dimension_that_is_not_there_is_told() {
        for (count, axis) in [("0, 1", 0), ("1, 2", 1)] {
            let module = parse(&TEXT.replace("0, 2", count));
            let said = signature(&module).expect_err("result 1 is no number, and there is one axis");
            assert!(
                said.starts_with(&format!("`optc.open` of result 1 is axis {axis} with result ")),
                "{said}"
            );
        }
    }

    #[test]
    fn an_argument_is_donated_beside_what_is_said_of_it() {
        let mut module = parse(TEXT);
        let ctx = module.ctx.clone();
        let body = module.function_mut("main").expect("there is one");
        donate(&ctx, body, 2);
        let found = Signature::of(&ctx, body).expect("it is well formed");
        let donated: Vec<bool> = found.args.iter().map(|arg| arg.is_donated).collect();
        assert_eq!((donated, &*found.args[0].name), (vec![true, false, true], "x"));
    }
}
