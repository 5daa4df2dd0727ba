//! Whether a function has named sizes, and weights that depend on them.

use ir::flow::walk;
use ir::sized::has_symbols;
use ir::weights::WeightSet;
use ir::{Body, Context, Dim, Kind, Type, Value};

/// Whether sizes of a function's values are symbols.
pub fn is_symbolic(ctx: &Context, body: &Body) -> bool {
    let has_symbols = |ty: Type| {
        let shape = ctx.type_data(ty).tensor_shape().unwrap_or(&[]);
        shape.iter().any(|dim| matches!(dim, Dim::Symbolic(_)))
    };
    // Most values have the type of the one before.
    let mut plain = None;
    let mut is_symbol = |value: &Value| {
        let ty = body.ty(*value);
        let is_known = plain == Some(ty);
        plain = Some(ty);
        !is_known && has_symbols(ty)
    };
    body.all_blocks().any(|block| {
        let mut results = body.ops(block).flat_map(|op| body.results(op));
        body.args(block).iter().any(&mut is_symbol) || results.any(|result| is_symbol(&result))
    })
}

/// Whether something that is known before the program runs is another at each size: a weight, or a source of
/// what follows from sizes, which is a constant once these are numbers.
pub fn has_sized_weights(ctx: &Context, body: &Body, weights: &WeightSet) -> bool {
    let is_open = |sizes: &[Dim]| sizes.iter().any(|size| matches!(size, Dim::Symbolic(_)));
    let mut has_some = false;
    walk(ctx, body, |op| {
        let mut types = body.results(op).map(|value| ctx.type_data(body.ty(value)).tensor_shape());
        let is_source = matches!(body.at(ctx, op).kind(), Kind::Source) && body.operand_count(op) == 0;
        has_some |= (is_source || weights.is_weight_op(body, op))
            && (types.any(|shape| shape.is_some_and(is_open)) || has_symbols(ctx, body.properties(op)));
    });
    has_some
}
