//! Variants of functions: specializations to a named size of 1, if that makes a copy unnecessary.
//!
//! ```text
//! func.func @main(%x: tensor<?x?x8xf32, #optc.dims<N, M>>)
//!   %0 = nn.transpose %x [1, 0, 2]                               a copy, but not at N = 1
//! =>
//! func.func @main(...) attributes {optc.variants = [@main_at_N_1]}
//! func.func private @main_at_N_1(%x: tensor<1x?x8xf32, #optc.dims<M>>)
//!     attributes {optc.guard = {N = 1 : i64}}
//! ```
//!
//! A variant is the function with the number 1 substituted for the name. All later passes treat it as a
//! function of its own. Its *guard* gives the sizes at which it runs instead of the function. Whether it is
//! no worse than the function is not decided here, but once both are planned.

use std::collections::BTreeSet;

use ir::alias::is_free_view;
use ir::attrs::AttrData;
use ir::dims::{self, Bindings, Ranges, substitute_in};
use ir::opdef::View;
use ir::plan::attrs;
use ir::weights::WeightSet;
use ir::{Attr, Body, Context, Diagnostic, Dim, Ident, Kind, Module, Op, Traits, flow};

use crate::manager::{Changes, Example, PassContext, PassDef, PassRun, Stage, StageRule};
use crate::memory::structure::probes;

/// The pass `variants`.
pub(crate) static VARIANTS: PassDef = PassDef {
    name: "variants",
    doc: "Gives a public function of named sizes a variant for each size that is 1 at the least and at which, \
          where it is 1, a view needs no copy that needs one elsewhere. `optc.guard` says at which sizes the \
          variant runs in the function's place. A function that has variants already gets no others.",
    options: &[],
    example: Example {
        before: r#"func.func @main(%x: tensor<?x4x8xf32, #optc.dims<N>>) -> tensor<4x?x8xf32, #optc.dims<N>> {
  %0 = nn.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<?x4x8xf32, #optc.dims<N>>) -> tensor<4x?x8xf32, #optc.dims<N>>
  return %0 : tensor<4x?x8xf32, #optc.dims<N>>
}"#,
        after: r#"module {
  func.func private @main_at_N_1(%arg0: tensor<1x4x8xf32>) -> tensor<4x1x8xf32> attributes {optc.guard = {N = 1 : i64}} {
    %0 = nn.transpose %arg0 {permutation = array<i64: 1, 0, 2>} : (tensor<1x4x8xf32>) -> tensor<4x1x8xf32>
    return %0 : tensor<4x1x8xf32>
  }
  func.func @main(%arg0: tensor<?x4x8xf32, #optc.dims<N>>) -> tensor<4x?x8xf32, #optc.dims<N>> attributes {optc.variants = [@main_at_N_1]} {
    %0 = nn.transpose %arg0 {permutation = array<i64: 1, 0, 2>} : (tensor<?x4x8xf32, #optc.dims<N>>) -> tensor<4x?x8xf32, #optc.dims<N>>
    return %0 : tensor<4x?x8xf32, #optc.dims<N>>
  }
}"#,
    },
    stage: StageRule::UpTo(Stage::Simplify),
    run: PassRun::Module(run),
};

fn run(cx: &PassContext<'_>, module: &mut Module) -> Result<(), Vec<Diagnostic>> {
    let ctx = cx.ctx;
    let is_public = |op: Op, body: &Body| {
        let is_private = module.body().at(ctx, op).text("sym_visibility") == Some("private");
        !is_private && body.entry(body.root()).is_some()
    };
    let functions = module.functions().filter(|(op, body)| is_public(*op, body));
    let made: Vec<(Op, Vec<Body>)> =
        functions.map(|(op, body)| (op, variants(ctx, body, &cx.changes))).collect();
    for (op, variants) in made.into_iter().filter(|(_, variants)| !variants.is_empty()) {
        cx.count("made", variants.len() as u64);
        let names = variants.iter().filter_map(|variant| variant.symbol(ctx));
        let references: Vec<Attr> = names.map(|name| reference(ctx, name)).collect();
        let holder = module.body_mut();
        let function = holder.child_mut(op).expect("a function has a body");
        function.set_own_attr(ctx, attrs::OPTC_VARIANTS, ctx.array_attr(&references));
        for variant in variants {
            let new = holder.make_op(holder.name(op), &[], &[], holder.location(op));
            holder.set_properties(new, variant.properties);
            holder.set_attrs(new, variant.attrs);
            holder.set_child(new, variant);
            holder.insert_before(new, op);
        }
    }
    Ok(())
}

/// The guard of a variant: the sizes at which it runs instead of its function, by name. None if the function
/// is no variant.
pub fn guard(ctx: &Context, body: &Body) -> Vec<(Ident, u64)> {
    let guard = body.own_attr(ctx, ctx.ident(attrs::OPTC_GUARD)).map(|guard| ctx.attr_data(guard));
    let Some(AttrData::Dict(entries)) = guard else { return Vec::new() };
    let number = |attr: Attr| ctx.int_value(attr).and_then(|number| u64::try_from(number).ok());
    entries.iter().filter_map(|(name, attr)| Some((*name, number(*attr)?))).collect()
}

/// The names of a function's variants.
pub fn variants_of(ctx: &Context, body: &Body) -> Vec<String> {
    let listed = body.own_attr(ctx, ctx.ident(attrs::OPTC_VARIANTS));
    let listed = listed.and_then(|listed| ctx.array_value(listed)).unwrap_or_default();
    let name = |attr: &Attr| match ctx.attr_data(*attr) {
        AttrData::SymbolRef { root, nested } if nested.is_empty() => Some(ctx.str(*root).to_owned()),
        _ => None,
    };
    listed.iter().filter_map(name).collect()
}

/// Removes all variants of a module.
pub fn remove_all(module: &mut Module) {
    let ctx = module.ctx.clone();
    let is_variant = |body: &Body| body.own_attr(&ctx, ctx.ident(attrs::OPTC_GUARD)).is_some();
    let variants: Vec<Op> =
        module.functions().filter(|(_, body)| is_variant(body)).map(|(op, _)| op).collect();
    variants.into_iter().for_each(|op| module.body_mut().erase(op));
}

fn reference(ctx: &Context, name: &str) -> Attr {
    ctx.attr(AttrData::SymbolRef { root: ctx.ident(name), nested: Box::default() })
}

/// The variants of a function, one for each name that is worth one.
fn variants(ctx: &Context, body: &Body, changes: &Changes) -> Vec<Body> {
    let names = dims::symbols_in(ctx, body);
    let has_some = body.own_attr(ctx, ctx.ident(attrs::OPTC_VARIANTS)).is_some();
    if names.is_empty() || has_some || !guard(ctx, body).is_empty() {
        return Vec::new();
    }
    let views = views_that_may_copy(ctx, body);
    let shown = names_in_views(ctx, body, &views);
    if shown.is_empty() {
        return Vec::new();
    }
    let ranges = Ranges::of_function(ctx, body);
    let free = free_views(ctx, body, &views);
    let names = names.into_iter().filter(|name| {
        let (least, most) = ranges.of(*name);
        least <= 1 && most > 1 && shown.contains(name)
    });
    let variants = names.filter_map(|name| {
        let variant = at_one(ctx, body, name)?;
        let gains = free_views(ctx, &variant, &views).into_iter().any(|op| !free.contains(&op));
        let symbol = || variant.symbol(ctx).unwrap_or_default();
        (gains && changes.allow(|| format!("`@{}` is made", symbol()))).then_some(variant)
    });
    variants.collect()
}

/// A function with `name = 1`; none if it can't have this size.
fn at_one(ctx: &Context, body: &Body, name: Ident) -> Option<Body> {
    let mut variant = body.clone();
    substitute_in(ctx, &mut variant, &Bindings::from([(name, 1)])).ok()?;
    ir::verify::verify_body(ctx, &variant).ok()?;
    let symbol = format!("{}_at_{}_1", body.symbol(ctx)?, ctx.str(name));
    let set =
        |properties, key: &str, value: &str| ctx.dict_set(properties, ctx.ident(key), ctx.str_attr(value));
    variant.properties = set(variant.properties, "sym_name", &symbol);
    variant.properties = set(variant.properties, "sym_visibility", "private");
    if let Some(dims) = variant.own_attr(ctx, ctx.ident(attrs::OPTC_DIMS)) {
        let others = ctx.dict_remove(dims, name);
        variant.attrs = match ctx.attr_data(others) {
            AttrData::Dict(entries) if entries.is_empty() => {
                ctx.dict_remove(variant.attrs, ctx.ident(attrs::OPTC_DIMS))
            }
            _ => ctx.dict_set(variant.attrs, ctx.ident(attrs::OPTC_DIMS), others),
        };
    }
    variant.set_own_attr(ctx, attrs::OPTC_GUARD, ctx.dict(vec![(name, ctx.int_attr(1))]));
    Some(variant)
}

/// The views that may need a copy, according to their rows of the registry.
fn views_that_may_copy(ctx: &Context, body: &Body) -> Vec<Op> {
    let weights = WeightSet::of(ctx, body);
    let mut views = Vec::new();
    flow::walk(ctx, body, |op| {
        let at = body.at(ctx, op);
        let is_view = matches!(at.kind(), Kind::View(View::OfOperand(_))) && !at.has(Traits::SAME_ORDER);
        views.extend((is_view && !weights.is_weight_op(body, op)).then_some(op));
    });
    views
}

/// The named sizes in the shapes of these views and their operands: only these can make one of them free.
fn names_in_views(ctx: &Context, body: &Body, views: &[Op]) -> BTreeSet<Ident> {
    let values = views.iter().flat_map(|op| body.operands(*op).chain(body.results(*op)));
    let shapes = values.filter_map(|value| ctx.type_data(body.ty(value)).tensor_shape());
    let exprs = shapes.flatten().filter_map(|dim| match dim {
        Dim::Symbolic(expr) => Some(expr),
        _ => None,
    });
    exprs.flat_map(|expr| dims::symbols(ctx, *expr)).collect()
}

/// The views that need no copy at any size of the body.
fn free_views(ctx: &Context, body: &Body, views: &[Op]) -> Vec<Op> {
    let is_free_in = |at: &Body| views.iter().filter(|op| is_free_view(at.at(ctx, **op))).copied().collect();
    if dims::symbols_in(ctx, body).is_empty() {
        return is_free_in(body);
    }
    let all: Vec<Vec<Op>> = probes(ctx, body).iter().map(|(_, at)| is_free_in(at)).collect();
    let Some((first, rest)) = all.split_first() else { return Vec::new() };
    first.iter().copied().filter(|op| rest.iter().all(|free| free.contains(op))).collect()
}
