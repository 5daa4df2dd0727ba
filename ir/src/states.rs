//! States: arguments that keep their bytes from run to run, and their places.
//!
//! An argument with `optc.state` is not an input. It is in the pool `state`, and on entry it holds the value
//! that the last run left there (zeros before the first run). A result with `optc.state = 1 : i64` is not an
//! output, but the value of argument 1 after the run:
//!
//! ```text
//! func.func @main(%x: tensor<4xf32>, %sum: tensor<4xf32> {optc.state})
//!     -> (tensor<4xf32> {optc.state = 1 : i64}) {
//!   %0 = nn.add %sum, %x : tensor<4xf32>
//!   return %0 : tensor<4xf32>
//! }
//! ```
//!
//! States are placed one after the other in the order of the arguments, each at a multiple of the pool's
//! alignment. So their places follow from the signature alone, and are the same in every plan of the
//! function.

use crate::body::Body;
use crate::context::Context;
use crate::entities::{Attr, Value};
use crate::memory_pools::{ALIGN_BYTES, MemoryPool, pools};
use crate::plan::attrs;
use crate::size::tensor_bytes;

/// The name of the pool of states.
pub const STATE: &str = "state";

/// An argument that keeps its bytes from run to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateArgument {
    /// The argument's number.
    pub index: usize,
    /// The argument.
    pub value: Value,
    /// Its offset in the pool `state`.
    pub offset: u64,
    /// Its bytes.
    pub size_bytes: u64,
    /// The number of the result that is its next value; none if the state does not change.
    pub result: Option<usize>,
}

/// The states of a function, in the order of its arguments.
///
/// # Errors
/// If a size is not known, or the argument of a next state is not a state, or has another type.
pub fn states(ctx: &Context, body: &Body) -> Result<Vec<StateArgument>, String> {
    let args = body.entry(body.root()).map_or(&[][..], |block| body.args(block));
    let results = of_results(ctx, body)?;
    let align = own_pool(ctx, body)?.map_or(ALIGN_BYTES, |pool| pool.align);
    let mut found: Vec<StateArgument> = Vec::new();
    let mut end = 0u64;
    for (index, &value) in args.iter().enumerate() {
        let result = results.iter().position(|state| *state == Some(index));
        match (attr(ctx, body, "arg_attrs", index), result) {
            (Some(_), _) => {}
            (None, None) => continue,
            (None, Some(result)) => {
                return Err(format!(
                    "result {result} is the next state of argument {index}, which is no state"
                ));
            }
        }
        let size_bytes = tensor_bytes(ctx, body.ty(value));
        let size_bytes = size_bytes.ok_or_else(|| format!("the size of the state {index} is not known"))?;
        let offset = end.next_multiple_of(align);
        end = offset + size_bytes;
        found.push(StateArgument { index, value, offset, size_bytes, result });
    }
    match results.iter().flatten().find(|state| **state >= args.len()) {
        Some(state) => Err(format!("a result is the next state of argument {state}, which does not exist")),
        None => Ok(found),
    }
}

/// The pool of these states, as large as they are, with the properties that the function declares.
///
/// # Errors
/// What is wrong with `optc.pools`.
pub fn state_pool(ctx: &Context, body: &Body, states: &[StateArgument]) -> Result<MemoryPool, String> {
    let size_bytes = states.last().map_or(0, |state| state.offset + state.size_bytes);
    Ok(MemoryPool { size_bytes, ..own_pool(ctx, body)?.map_or_else(|| MemoryPool::named(STATE), Ok)? })
}

fn own_pool(ctx: &Context, body: &Body) -> Result<Option<MemoryPool>, String> {
    Ok(pools(ctx, body)?.into_iter().find(|pool| pool.name == STATE))
}

/// For each result, the argument whose next state it is.
fn of_results(ctx: &Context, body: &Body) -> Result<Vec<Option<usize>>, String> {
    let dicts = body.own_attr(ctx, ctx.ident("res_attrs")).and_then(|attrs| ctx.array_value(attrs));
    let mut found: Vec<Option<usize>> = Vec::new();
    for index in 0..dicts.map_or(0, <[Attr]>::len) {
        let Some(state) = attr(ctx, body, "res_attrs", index) else {
            found.push(None);
            continue;
        };
        let number = ctx.int_value(state).and_then(|number| usize::try_from(number).ok());
        let number =
            number.ok_or_else(|| format!("`optc.state` of result {index} is no number of an argument"))?;
        if found.contains(&Some(number)) {
            return Err(format!("two results are the next state of argument {number}"));
        }
        found.push(Some(number));
    }
    Ok(found)
}

/// `optc.state` of an argument or a result.
fn attr(ctx: &Context, body: &Body, list: &str, index: usize) -> Option<Attr> {
    let dicts = body.own_attr(ctx, ctx.ident(list)).and_then(|attrs| ctx.array_value(attrs))?;
    ctx.dict_get(*dicts.get(index)?, ctx.ident(attrs::OPTC_STATE))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// The numbers, offsets and results of the states.
    type Found<'a> = Result<&'a [(usize, u64, Option<usize>)], &'a str>;

    fn check(args: &str, results: &str, expected: Found<'_>) {
        let ctx = Arc::new(Context::new());
        let text =
            format!("func.func private @main({args}) -> ({results}) {{\n  \"test.end\"() : () -> ()\n}}");
        let options = crate::text::ParseOptions { unregistered: crate::text::Unregistered::Allow };
        let module = crate::text::parse_with(&ctx, "states.mlir", text, &options);
        let module = module.unwrap_or_else(|faults| panic!("{}", faults[0].render(&ctx)));
        let (_, body) = module.functions().next().expect("a function");
        let found = states(&ctx, body);
        let found = found.map(|states| -> Vec<_> {
            states.iter().map(|state| (state.index, state.offset, state.result)).collect()
        });
        assert_eq!(found, expected.map(<[_]>::to_vec).map_err(str::to_owned));
    }

    #[test]
    fn states_lie_one_behind_the_other() {
        let args = "%x: tensor<3xf32>, %a: tensor<3xf32> {optc.state}, %b: tensor<40xf32> {optc.state}, %c: tensor<f32> {optc.state}";
        let results =
            "tensor<40xf32> {optc.state = 2 : i64}, tensor<3xf32>, tensor<3xf32> {optc.state = 1 : i64}";
        check(args, results, Ok(&[(1, 0, Some(2)), (2, 64, Some(0)), (3, 256, None)]));
        check("%x: tensor<3xf32>", "tensor<3xf32>", Ok(&[]));
    }

    #[test]
    fn the_next_state_is_one_of_an_argument_that_is_a_state() {
        let next = "tensor<f32> {optc.state = 0 : i64}";
        check("%x: tensor<f32>", next, Err("result 0 is the next state of argument 0, which is no state"));
        check("", next, Err("a result is the next state of argument 0, which does not exist"));
        let both = format!("{next}, {next}");
        check("%x: tensor<f32> {optc.state}", &both, Err("two results are the next state of argument 0"));
    }
}
