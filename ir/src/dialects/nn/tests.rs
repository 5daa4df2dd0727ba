//! Types inferred by rows for symbolic sizes.

use crate::attrs::AttrData;
use crate::body::Body;
use crate::builder::{Builder, OpSpec, infer};
use crate::context::Context;
use crate::entities::{Attr, Type};
use crate::opdef::{AttrKind, OpDef, Traits};
use crate::text::{parse_attr, parse_type, type_text};

/// The shape of the result that a row infers, or the error, from operands' shapes (`?x3, N` for
/// `tensor<?x3xf32, #optc.dims<N>>`) and attributes.
fn infer_shape(name: &str, operands: &[&str], attrs: &str) -> String {
    let ctx = Context::new();
    let ty = |shape: &&str| {
        let (shape, names) = shape.split_once(", ").unwrap_or((shape, ""));
        let elem = if shape.is_empty() { "f32" } else { "xf32" };
        let names = if names.is_empty() { String::new() } else { format!(", #optc.dims<{names}>") };
        parse_type(&ctx, &format!("tensor<{shape}{elem}{names}>")).expect("the shape is right")
    };
    let operands: Vec<_> = operands.iter().map(ty).collect();
    let attrs = parse_attr(&ctx, attrs).expect("the attributes are right");
    match infer(&ctx, ctx.op_name(&format!("nn.{name}")), &operands, attrs) {
        Ok(types) => {
            let text = type_text(&ctx, types[0]);
            let text = text.strip_prefix("tensor<").and_then(|text| text.strip_suffix('>'));
            let text = text.expect("rows of `nn` give tensors").replace("xf32", "");
            text.replace("#optc.dims<", "").trim_end_matches('>').to_owned()
        }
        Err(error) => error.0,
    }
}

#[track_caller]
fn check(name: &str, operands: &[&str], attrs: &str, expected: &str) {
    assert_eq!(infer_shape(name, operands, attrs), expected, "{name} {operands:?} {attrs}");
}

#[test]
fn operands_broadcast_where_that_is_proved() {
    check("add", &["?x3, N", "?x3, N"], "{}", "?x3, N");
    check("add", &["?x3, N", "1x3"], "{}", "?x3, N");
    check("add", &["?x3, N", "3"], "{}", "?x3, N");
    check("add", &["?x?, N, M", "?x1, N"], "{}", "?x?, N, M");
    // In a run, the size may be 1 and be broadcast to the other.
    check("add", &["?x3, N", "4x3"], "{}", "4x3");
    check("add", &["?, N", "?, N + 2"], "{}", "?, N + 2");
    check("add", &["?, N ceildiv 2", "?, N - N floordiv 2"], "{}", "?, N ceildiv 2");
    check("add", &["?, N + 2", "?, N + 3"], "{}", "sizes N + 2 and N + 3 of axis 0 do not broadcast");
    check("select", &["?, N", "?, N", "1"], "{}", "the condition's elements are not `i1`");
}

#[test]
fn unknown_is_never_taken_for_equal() {
    check("add", &["?x3x1x1", "?x3x?x?"], "{}", "?x3x?x?");
    check("add", &["?", "?"], "{}", "?");
    check("add", &["?, N", "?"], "{}", "?");
    // Two symbols may be equal in one run and not in the next.
    check("add", &["?, N", "?, M"], "{}", "?");
    // A size of at least 1 may be larger, and one of at most 4 may be smaller.
    check("add", &["?, max(N, 1)", "?, M"], "{}", "?");
    check("add", &["?, min(N, 4)", "?, M"], "{}", "?");
}

#[test]
fn windows_slide_over_images_of_any_size() {
    let image = "?x3x?x?, N, H, W";
    let conv = "{strides = array<i64: 2, 2>, pads = array<i64: 3, 3, 3, 3>}";
    check("conv2d", &[image, "8x3x7x7"], conv, "?x8x?x?, N, H ceildiv 2, W ceildiv 2");
    check("conv2d", &[image, "8x3x7x7"], "{}", "?x8x?x?, N, H - 6, W - 6");
    check("conv2d", &[image, "8x4x1x1"], "{}", "channels of input and filter: 3 and 4 differ");
    let pool = "{kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>}";
    check("max_pool2d", &[image], pool, "?x3x?x?, N, H ceildiv 2 - 1, W ceildiv 2 - 1");
    let ceil = "{kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, ceil}";
    check("max_pool2d", &["1x3x?x7, H"], ceil, "1x3x?x3, H floordiv 2");
    let wide = "{kernel = array<i64: 9, 9>}";
    check(
        "avg_pool2d",
        &["1x3x?x9, min(H, 8)"],
        wide,
        "a window of [9, 9] does not fit an image of size min(H, 8)",
    );
}

#[test]
fn a_reshape_keeps_the_number_of_elements() {
    check("reshape", &["?x3x4, N"], "{shape = array<i64: -1, 12>}", "?x12, N");
    check("reshape", &["?x3x?, N, S"], "{shape = #optc.dims<N, 3 * S>}", "?x?, N, 3 * S");
    check("reshape", &["?x?x64, B, S"], "{shape = #optc.dims<B, _, 8, 8>}", "?x?x8x8, B, S");
    check("reshape", &["?x4, N"], "{shape = array<i64: 2, -1>}", "2x?, 2 * N");
    check("reshape", &["?x3, N"], "{shape = array<i64: 2, -1>}", "2x?, N + N floordiv 2");
    check(
        "reshape",
        &["?, 2 * N + 1"],
        "{shape = array<i64: 2, -1>}",
        "2 * N + 1 elements do not fit the shape [2, -1]",
    );
    check("reshape", &["?, N"], "{shape = #optc.dims<N + 1>}", "N elements do not fit the shape [N + 1]");
    // It may be right for some sizes.
    check("reshape", &["?, N"], "{shape = #optc.dims<M>}", "?, M");
    check("reshape", &["?x4"], "{shape = array<i64: -1>}", "?");
    check("reshape", &["2x3"], "{shape = #optc.dims<_, _>}", "at most one size of `shape` is not given");
}

#[test]
fn parts_are_joined() {
    check("concat", &["?x?, N, C", "?x4, N"], "{axis = 1 : i64}", "?x?, N, C + 4");
    check("concat", &["?x2, N", "?x4, M"], "{axis = 1 : i64}", "?x6, N");
    check("concat", &["?x2, N", "3x4"], "{axis = 1 : i64}", "3x6");
    check("concat", &["?x2, N", "?x4"], "{axis = 1 : i64}", "?x6, N");
    check("concat", &["?x2, N", "?x4, N + 1"], "{axis = 1 : i64}", "sizes N and N + 1 of axis 0 differ");
}

#[test]
fn windows_lie_in_their_operands() {
    let window = "{starts = array<i64: 0, 1>, sizes = #optc.dims<N, 2>}";
    check("slice", &["?x4, N"], window, "?x2, N");
    let last = "{starts = #optc.dims<N - 1>, sizes = array<i64: 1>}";
    check("slice", &["?, N"], last, "1");
    let beyond = "{starts = #optc.dims<N>, sizes = array<i64: 1>}";
    check("slice", &["?, N"], beyond, "the window along axis 0 leaves the operand");
    let longer = "{starts = array<i64: 0>, sizes = #optc.dims<N + 1>}";
    check("slice", &["?, N"], longer, "the window along axis 0 leaves the operand");
    check("slice", &["?, M"], longer, "?, N + 1");
    let none = "{starts = array<i64: 0>, sizes = #optc.dims<_>}";
    check("slice", &["?, M"], none, "a size of the window is not given");
    check("insert_slice", &["?, N", "?, N"], "{starts = array<i64: 0>}", "?, N");
    check(
        "insert_slice",
        &["?, N + 1", "?, N"],
        "{starts = array<i64: 0>}",
        "the window along axis 0 leaves the operand",
    );
}

#[test]
fn other_rows_compute_with_sizes_too() {
    check("pad", &["?x4, N"], "{low = array<i64: 1, 0>, high = array<i64: 2, 0>}", "?x4, N + 3");
    check("repeat", &["?x4, N"], "{counts = array<i64: 2, 1>}", "?x4, 2 * N");
    check("transpose", &["?x4x?, N, M"], "{permutation = array<i64: 2, 0, 1>}", "?x?x4, M, N");
    check("reduce_sum", &["?x4x?, N, M"], "{axes = array<i64: 1>}", "?x?, N, M");
    check("broadcast", &["?x1, N"], "{shape = #optc.dims<2, N, M>}", "2x?x?, N, M");
    check("broadcast", &["?, N + 2"], "{shape = #optc.dims<N + 3>}", "a size that is not 1 does not stretch");
    check("broadcast", &["1"], "{shape = #optc.dims<_>}", "an operand of 1 axes does not stretch to [?]");
    check("matmul", &["?x?x8, B, S", "8x4"], "{}", "?x?x4, B, S");
    check("matmul", &["?x?x?x8, B, H, S", "?x?x8x?, B, H, T"], "{}", "?x?x?x?, B, H, S, T");
    check(
        "matmul",
        &["?x?, S, K", "?x4, K + 1"],
        "{}",
        "columns of the left matrix and rows of the right: K and K + 1 differ",
    );
    check("softmax", &["?x?, S, T"], "{axis = 1 : i64}", "?x?, S, T");
}

#[test]
fn a_table_has_an_element_for_each_byte() {
    let ctx = Context::new();
    for (x, table, expected) in [
        ("?x3xui8, #optc.dims<N>", "256xi8", Ok("?x3xi8, #optc.dims<N>")),
        ("i8", "256xui8", Ok("ui8")),
        ("?xi8", "256xi8", Ok("?xi8")),
        ("4xi16", "256xi8", Err("operand 0 is not of bytes")),
        ("4xi8", "256xf32", Err("operand 1 is not of bytes")),
        ("4xi8", "255xi8", Err("the table is not of one axis of 256 elements")),
        ("4xi8", "2x128xi8", Err("the table is not of one axis of 256 elements")),
        ("4xi8", "?xi8, #optc.dims<N>", Err("the table is not of one axis of 256 elements")),
    ] {
        let ty = |text: &str| parse_type(&ctx, &format!("tensor<{text}>")).expect("the type is right");
        let none = parse_attr(&ctx, "{}").expect("the attributes are right");
        let found = infer(&ctx, ctx.op_name("nn.lookup"), &[ty(x), ty(table)], none);
        let found = found.map(|types| types[0]).map_err(|error| error.0);
        assert_eq!(found, expected.map(ty).map_err(str::to_owned), "{x} {table}");
    }
}

/// Passes that permute axes also permute attributes with axes: a list of plain numbers would stay unchanged.
#[test]
fn rows_whose_axes_may_be_permuted_say_what_their_lists_speak_of() {
    let ctx = Context::new();
    let rows = ctx.dialects().flat_map(|dialect| dialect.ops());
    let rows: Vec<_> = rows.filter(|row| row.traits.contains(Traits::PERMUTABLE)).collect();
    assert!(rows.len() > 5, "{} rows", rows.len());
    for attr in rows.iter().flat_map(|row| row.attrs.iter().map(move |attr| (row.name, attr))) {
        let is_told = !matches!(attr.1.kind, AttrKind::Ints | AttrKind::Sizes | AttrKind::Array);
        assert!(is_told, "`{}` of `{}` speaks of axes, or of nothing", attr.1.name, attr.0);
    }
}

#[test]
fn quantized_contractions_take_bytes_and_their_zero_points() {
    let ctx = Context::new();
    let result = |name: &str, operands: &[&str]| {
        let operands: Vec<_> = operands.iter().map(|ty| parse_type(&ctx, &format!("tensor<{ty}>"))).collect();
        let operands: Vec<_> = operands.into_iter().map(|ty| ty.expect("the type is right")).collect();
        match infer(&ctx, ctx.op_name(name), &operands, parse_attr(&ctx, "{}").expect("it is right")) {
            Ok(types) => type_text(&ctx, types[0]),
            Err(error) => error.0,
        }
    };
    let product = |operands: &[&str]| result("nn.quantized_matmul", operands);
    assert_eq!(product(&["2x3xui8", "3x4xi8", "ui8", "i8"]), "tensor<2x4xi32>");
    assert_eq!(product(&["5x2x3xi8", "3x4xui8", "i8", "4xui8"]), "tensor<5x2x4xi32>");
    let wide = "an operand is not of integers of 8 bits";
    assert_eq!(product(&["2x3xi16", "3x4xi8", "i16", "i8"]), wide);
    assert_eq!(product(&["2x3xi8", "3x4xf32", "i8", "f32"]), wide);
    let other = "a zero point has another type than what it is of";
    assert_eq!(product(&["2x3xui8", "3x4xi8", "i8", "i8"]), other);
    assert_eq!(product(&["2x3xui8", "3x4xi8", "ui8", "ui8"]), other);
    let one = "the first operand has not one zero point";
    assert_eq!(product(&["2x3xui8", "3x4xi8", "1xui8", "i8"]), one);
    let count = "zero points and channels of the second operand: 3 and 4 differ";
    assert_eq!(product(&["2x3xui8", "3x4xi8", "ui8", "3xi8"]), count);
    let axes = "the zero points of the second operand are not a tensor of at most one axis";
    assert_eq!(product(&["2x3xui8", "3x4xi8", "ui8", "1x4xi8"]), axes);
    let depth = "columns of the left matrix and rows of the right: 3 and 2 differ";
    assert_eq!(product(&["2x3xui8", "2x4xi8", "ui8", "i8"]), depth);
    let convolution = |operands: &[&str]| result("nn.quantized_conv2d", operands);
    let sums = "tensor<1x4x6x6xi32>";
    assert_eq!(convolution(&["1x3x8x8xui8", "4x3x3x3xi8", "ui8", "4xi8"]), sums);
    let count = "zero points and channels of the second operand: 3 and 4 differ";
    assert_eq!(convolution(&["1x3x8x8xui8", "4x3x3x3xi8", "ui8", "3xi8"]), count);
}

/// Whether an operation of a row is valid with these operands and attributes.
fn is_right(ctx: &Context, def: &OpDef, operands: &[Type], attrs: &[(&str, Attr)]) -> bool {
    let mut body = Body::new(1);
    let block = body.add_block(body.root());
    let args: Vec<_> = operands.iter().map(|ty| body.add_arg(block, *ty)).collect();
    let spec = OpSpec { operands: &args, attrs, ..OpSpec::default() };
    let built = Builder::at_end(ctx, &mut body, block).build(def.name, spec);
    built.is_ok_and(|op| def.verify.is_none_or(|verify| verify(body.at(ctx, op)).is_ok()))
}

#[test]
fn every_bias_has_the_elements_of_what_it_is_added_to() {
    let ctx = Context::new();
    let ty = |text: &str| parse_type(&ctx, text).expect("the type is right");
    let mut seen = Vec::new();
    for def in super::DIALECT.ops() {
        let Some(bias) = def.operands.iter().position(|operand| operand.name == "bias") else { continue };
        let (before, types) = def.example.split_once(" : (").expect("an example says its operands' types");
        let (operands, result) = types.split_once(") -> ").expect("and that of its result");
        let operands: Vec<Type> =
            operands.split(">, ").map(|operand| ty(&format!("{}>", operand.trim_end_matches('>')))).collect();
        let attrs = before.find('{').map_or("{}", |at| &before[at..]);
        let AttrData::Dict(attrs) = ctx.attr_data(parse_attr(&ctx, attrs).expect("it is right")) else {
            panic!("attributes are a dictionary");
        };
        let attrs: Vec<(&str, Attr)> = attrs.iter().map(|(name, value)| (ctx.str(*name), *value)).collect();
        let with = |size: u64, elem: &str| {
            let bias_type = ty(&format!("tensor<{size}x{elem}>"));
            let mut all = operands.clone();
            if all.len() == bias {
                all.push(bias_type)
            } else {
                all[bias] = bias_type
            }
            is_right(&ctx, def, &all, &attrs)
        };
        let sizes = ctx.static_shape(ty(result)).expect("its sizes are known");
        let channels = sizes.into_iter().find(|size| with(*size, "f32"));
        let channels = channels.unwrap_or_else(|| panic!("{} takes no bias", def.name));
        for other in ["f16", "bf16", "f64", "i1", "i8", "i32", "i64", "ui8", "f8E4M3FN"] {
            assert!(!with(channels, other), "{}: a bias of {other}", def.name);
        }
        seen.push(def.name);
    }
    assert_eq!(seen, ["nn.conv2d", "nn.matmul", "nn.batch_norm", "nn.group_norm"]);
}
