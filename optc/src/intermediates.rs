//! Intermediate values: shows what a run computes on the way to its outputs.
//!
//! Requested values become further outputs of the program before it is planned; then a real run shows them,
//! with its own kernels, groups and memory. That changes the plan: such a value is in the caller's memory for
//! its whole live range, so that nothing overwrites it, and no group computes it without storing it. A fault
//! that disappears with that is one of fusion or of shared memory. The fewer values are requested, the closer
//! is the plan to the program's own.
//!
//! A value has the name of the model's node that it comes from (its location), if the node's last operation
//! computes it. Otherwise, or if the node has no name, it has its name in the printed text (`%12`).

use std::collections::BTreeMap;

use ir::plan::attrs;
use ir::weights::WeightSet;
use ir::{Attr, Body, Context, Module, Op, Traits, Value};
use passes::edit::{entry, write_function_type};
use passes::manager::Stage;

use crate::failure::Failure;
use crate::plan_report::names;

/// An intermediate value that a run shows as a further output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intermediate {
    /// Its name as an output.
    pub name: String,
    /// The operation that makes it, for messages.
    pub op: String,
}

/// Makes values of a function further outputs, after its own, in text order: those with these names, or all.
///
/// # Errors
/// If a name is unknown, the function has several blocks, or its operations are already scheduled.
pub fn show(
    module: &mut Module,
    entry: &str,
    wanted: Option<&[String]>,
) -> Result<Vec<Intermediate>, Failure> {
    let ctx = module.ctx.clone();
    let body = module.function_mut(entry).expect("the entry was just found");
    if Stage::of(&ctx, body).is_some() {
        return Err(Failure::input(
            "only a program that no pass has planned can show its intermediate values",
        ));
    }
    if body.blocks(body.root()).len() != 1 {
        return Err(Failure::input("a function of several blocks can't show its intermediate values"));
    }
    let mut found = values(&ctx, body);
    if let Some(wanted) = wanted {
        let known = || found.iter().map(|(_, value)| value.name.as_str());
        let unknown = wanted.iter().filter(|name| known().all(|known| known != **name));
        let faults = unknown.map(|name| {
            let hint = ir::diag::did_you_mean_or_all(name, known());
            let hint = hint.map_or(String::new(), |hint| format!(" ({hint})"));
            format!("no intermediate value is called `{name}`{hint}")
        });
        Failure::unless_none(faults.collect::<Vec<_>>())?;
        found.retain(|(_, value)| wanted.contains(&value.name));
    }
    add_outputs(&ctx, body, &found);
    Ok(found.into_iter().map(|(_, value)| value).collect())
}

/// The values that operations of a function's block compute, with their names, in text order.
fn values(ctx: &Context, body: &Body) -> Vec<(Value, Intermediate)> {
    let Some(block) = entry(body) else { return Vec::new() };
    let printed = names(body, block);
    let weights = WeightSet::of(ctx, body);
    let returned: Vec<Value> = body.last_op(block).into_iter().flat_map(|end| body.operands(end)).collect();
    let node = |op: Op| ctx.location_name(body.location(op));
    let mut last: BTreeMap<&str, Op> = BTreeMap::new();
    body.ops(block).for_each(|op| last.extend(node(op).map(|name| (name, op))));
    let mut found = Vec::new();
    for op in body.ops(block).filter(|op| !weights.is_weight_op(body, *op)) {
        let at = body.at(ctx, op);
        if at.has(Traits::CONSTANT) {
            continue;
        }
        for (index, result) in body.results(op).enumerate() {
            let has_elements = codegen::element_kind(ctx, body.ty(result)).is_some();
            let is_tensor = ctx.type_data(body.ty(result)).tensor_shape().is_some();
            if !has_elements || !is_tensor || returned.contains(&result) {
                continue;
            }
            let named = node(op).filter(|name| index == 0 && last.get(name) == Some(&op));
            let name = named.map_or_else(|| printed[result].clone(), str::to_owned);
            found.push((result, Intermediate { name, op: at.describe() }));
        }
    }
    found
}

fn add_outputs(ctx: &Context, body: &mut Body, added: &[(Value, Intermediate)]) {
    let Some(end) = entry(body).and_then(|block| body.last_op(block)) else { return };
    let before = body.operand_count(end);
    let operands: Vec<Value> = body.operands(end).chain(added.iter().map(|(value, _)| *value)).collect();
    body.set_operands(end, &operands);
    let key = ctx.ident("res_attrs");
    let dicts = ctx.dict_get(body.properties, key).and_then(|attr| ctx.array_value(attr));
    let mut dicts = dicts.map_or_else(Vec::new, <[Attr]>::to_vec);
    dicts.resize(before, Attr::EMPTY);
    let name = ctx.ident(attrs::OPTC_NAME);
    dicts.extend(added.iter().map(|(_, value)| ctx.dict(vec![(name, ctx.str_attr(&value.name))])));
    body.properties = ctx.dict_set(body.properties, key, ctx.array_attr(&dicts));
    write_function_type(ctx, body);
}
