//! Named sizes: whether a function has any.

use ir::{Body, Context, Dim, Type, Value};

/// Whether sizes of a function's values are symbols.
pub fn is_symbolic(ctx: &Context, body: &Body) -> bool {
    let has_symbols = |ty: Type| {
        let shape = ctx.type_data(ty).tensor_shape().unwrap_or(&[]);
        shape.iter().any(|dim| matches!(dim, Dim::Symbolic(_)))
    };
    // Most values have the type of the previous one.
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
