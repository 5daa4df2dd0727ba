//! The examples of rows as programs.

use ir::builder::infer;
use ir::{Body, Context, Dim, Op, Type, TypeData, Value};

/// A program around an example: a function whose arguments are the values that the example reads.
pub fn program(example: &str) -> String {
    if example.starts_with("module") || example.starts_with("func.func") {
        return example.to_owned();
    }
    if example.starts_with("optc.yield") {
        let group = "%0 = optc.group(%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {";
        return format!("func.func @g(%x: tensor<4xf32>) {{\n  {group}\n  {example}\n  }}\n  return\n}}\n");
    }
    let (head, types) = example.rsplit_once(" : ").unwrap_or((example, ""));
    let (body, types) = match head.split_once(" : (") {
        Some((body, rest)) => (body, format!("({rest} : {types}")),
        None => (head, types.to_owned()),
    };
    let reads = body.split_once(" = ").map_or(body, |(_, right)| right);
    let mut names: Vec<&str> = Vec::new();
    for word in reads.split(|c: char| !(c.is_alphanumeric() || c == '%' || c == '_')) {
        if word.starts_with('%') && !names.contains(&word) {
            names.push(word);
        }
    }
    let listed = operand_types(&types);
    let callee = if body.contains("@f(") { "func.func private @f(f32) -> f32\n" } else { "" };
    if names.contains(&"%a") && body.contains("optc.group") {
        names.retain(|name| *name != "%a");
    }
    let args: Vec<String> = names
        .iter()
        .enumerate()
        .map(|(index, name)| format!("{name}: {}", listed.get(index).unwrap_or(&listed[0])))
        .collect();
    if body.trim_start().starts_with("return") {
        format!("func.func @g({}) -> {types} {{\n  {example}\n}}\n", args.join(", "))
    } else {
        format!("{callee}func.func @g({}) {{\n  {example}\n  return\n}}\n", args.join(", "))
    }
}

/// The operand types in `(a, b) -> c`, or the single type for all operands.
fn operand_types(types: &str) -> Vec<String> {
    let Some(inner) = types.strip_prefix('(').and_then(|rest| rest.split_once(')')) else {
        let cut = [" {", " to "].into_iter().filter_map(|end| types.find(end)).min();
        return vec![types[..cut.unwrap_or(types.len())].to_owned()];
    };
    inner.0.split(", ").map(str::to_owned).collect()
}

/// The function of an example with each size replaced by `of` it.
pub fn resized(ctx: &Context, body: &Body, of: &dyn Fn(u64) -> Dim) -> Option<Body> {
    let mut body = body.clone();
    let block = body.entry(body.root())?;
    for arg in body.args(block).to_vec() {
        let ty = resized_type(ctx, body.ty(arg), of);
        body.set_ty(arg, ty);
    }
    let ops: Vec<Op> = body.ops(block).filter(|op| body.result_count(*op) > 0).collect();
    for op in ops {
        let operands: Vec<Type> = body.operands(op).map(|value| body.ty(value)).collect();
        let types = infer(ctx, body.name(op), &operands, body.properties(op)).ok()?;
        let results: Vec<Value> = body.results(op).collect();
        results.into_iter().zip(types).for_each(|(result, ty)| body.set_ty(result, ty));
    }
    Some(body)
}

fn resized_type(ctx: &Context, ty: Type, of: &dyn Fn(u64) -> Dim) -> Type {
    let TypeData::Tensor { shape, elem, encoding } = ctx.type_data(ty) else { return ty };
    let size = |dim: &Dim| match dim {
        Dim::Known(size) => of(*size),
        other => *other,
    };
    ctx.ty(TypeData::Tensor { shape: shape.iter().map(size).collect(), elem: *elem, encoding: *encoding })
}
