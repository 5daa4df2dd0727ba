//! Tests of the rewrites of a function, each of which is one change, and of the limits of table searches.

use std::fmt::Write;
use std::sync::Arc;

use super::*;

/// A product with a residual, whose sum is divided; a max pool; and a concatenation.
const ALL: &str = "
func.func @main(%x: tensor<2x16xui8>, %r: tensor<2x4xui8>, %i: tensor<1x8x4x4xui8>)
    -> (tensor<2x4xui8>, tensor<1x8x2x2xf32>, tensor<1x16x4x4xui8>) {
  %w = nn.constant dense<3> : tensor<16x4xi8>
  %s = nn.constant dense<0.5> : tensor<f32>
  %q = nn.constant dense<2.0> : tensor<f32>
  %b = nn.constant dense<7> : tensor<i8>
  %0 = nn.cast %x {to = f32} : (tensor<2x16xui8>) -> tensor<2x16xf32>
  %1 = nn.mul %0, %s : (tensor<2x16xf32>, tensor<f32>) -> tensor<2x16xf32>
  %2 = nn.cast %w {to = f32} : (tensor<16x4xi8>) -> tensor<16x4xf32>
  %3 = nn.mul %2, %s : (tensor<16x4xf32>, tensor<f32>) -> tensor<16x4xf32>
  %4 = nn.matmul %1, %3 : (tensor<2x16xf32>, tensor<16x4xf32>) -> tensor<2x4xf32>
  %5 = nn.cast %4 {to = ui8} : (tensor<2x4xf32>) -> tensor<2x4xui8>
  %6 = nn.cast %5 {to = f32} : (tensor<2x4xui8>) -> tensor<2x4xf32>
  %7 = nn.mul %6, %s : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %8 = nn.cast %r {to = f32} : (tensor<2x4xui8>) -> tensor<2x4xf32>
  %9 = nn.mul %8, %s : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %10 = nn.add %7, %9 : tensor<2x4xf32>
  %11 = nn.div %10, %q : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %12 = nn.cast %11 {to = ui8} : (tensor<2x4xf32>) -> tensor<2x4xui8>
  %13 = nn.cast %i {to = f32} : (tensor<1x8x4x4xui8>) -> tensor<1x8x4x4xf32>
  %14 = nn.mul %13, %s : (tensor<1x8x4x4xf32>, tensor<f32>) -> tensor<1x8x4x4xf32>
  %15 = nn.max_pool2d %14 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>}
    : (tensor<1x8x4x4xf32>) -> tensor<1x8x2x2xf32>
  %16 = nn.cast %i {to = f32} : (tensor<1x8x4x4xui8>) -> tensor<1x8x4x4xf32>
  %17 = nn.mul %16, %s : (tensor<1x8x4x4xf32>, tensor<f32>) -> tensor<1x8x4x4xf32>
  %18 = nn.concat %17, %17 {axis = 1 : i64}
    : (tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>) -> tensor<1x16x4x4xf32>
  %19 = nn.cast %18 {to = ui8} : (tensor<1x16x4x4xf32>) -> tensor<1x16x4x4xui8>
  return %12, %15, %19 : tensor<2x4xui8>, tensor<1x8x2x2xf32>, tensor<1x16x4x4xui8>
}";

/// The rewrites of a program within these changes, and the resulting program.
fn rewritten(text: &str, changes: &Changes) -> (Rewritten, String) {
    let ctx = Arc::new(Context::new());
    let module = ir::text::parse(&ctx, "net.mlir", text.to_owned());
    let mut module = module.unwrap_or_else(|faults| panic!("{text}\n{}", faults[0].render(&ctx)));
    let made = multiply_integers(&ctx, module.function_mut("main").expect("it is there"), changes);
    (made, ir::text::print(&module))
}

#[test]
fn each_rewrite_is_one_change_that_a_limit_stops() {
    let changes = Changes::unlimited();
    let (all, _) = rewritten(ALL, &changes);
    assert_eq!(all, Rewritten { products: 1, tables: 2, selections: 1, concatenations: 1 });
    assert_eq!(changes.made(), 6, "the division of the sum is a change too");
    let mut texts = Vec::new();
    for limit in 0..=6 {
        let (made, text) = rewritten(ALL, &Changes::at_most(limit));
        let Rewritten { products, tables, selections, concatenations } = made;
        let division = usize::from(limit > 1);
        let count = products + tables + selections + concatenations + division;
        assert_eq!(count as u64, limit, "{made:?}\n{text}");
        assert!(!texts.contains(&text), "change {limit} changes something:\n{text}");
        texts.push(text);
    }
    assert!(!texts[0].contains("quantized") && !texts[0].contains("lookup"), "{}", texts[0]);
}

/// A conversion of bytes to floats, `between` operations, and a conversion back to bytes.
fn chain(between: usize) -> String {
    let mut text = "func.func @main(%x: tensor<8xui8>) -> tensor<8xui8> {\n  \
                    %v0 = nn.cast %x {to = f32} : (tensor<8xui8>) -> tensor<8xf32>\n"
        .to_owned();
    for index in 1..=between {
        writeln!(text, "  %v{index} = nn.sin %v{} : tensor<8xf32>", index - 1)
            .expect("a string takes all text");
    }
    text + &format!(
        "  %y = nn.cast %v{between} {{to = ui8}} : (tensor<8xf32>) -> tensor<8xui8>\n  \
         return %y : tensor<8xui8>\n}}"
    )
}

#[test]
fn a_table_is_of_three_operations_at_least_and_of_64_at_most() {
    for (between, tables) in [(0, 0), (1, 1), (62, 1), (63, 0)] {
        let (made, text) = rewritten(&chain(between), &Changes::unlimited());
        assert_eq!(made, Rewritten { tables, ..Rewritten::default() }, "{between} between:\n{text}");
    }
}

#[test]
fn numbers_that_a_rewrite_makes_are_weights_for_tables() {
    // The division of the sum makes three new numbers; the product of two of them is added.
    let text = "
func.func @main(%x: tensor<2x16xui8>) -> tensor<2x4xui8> {
  %w = nn.constant dense<3> : tensor<16x4xi8>
  %s = nn.constant dense<0.5> : tensor<f32>
  %q = nn.constant dense<2.0> : tensor<f32>
  %b = nn.constant dense<7> : tensor<i8>
  %0 = nn.cast %x {to = f32} : (tensor<2x16xui8>) -> tensor<2x16xf32>
  %1 = nn.mul %0, %s : (tensor<2x16xf32>, tensor<f32>) -> tensor<2x16xf32>
  %2 = nn.cast %w {to = f32} : (tensor<16x4xi8>) -> tensor<16x4xf32>
  %3 = nn.mul %2, %s : (tensor<16x4xf32>, tensor<f32>) -> tensor<16x4xf32>
  %4 = nn.matmul %1, %3 : (tensor<2x16xf32>, tensor<16x4xf32>) -> tensor<2x4xf32>
  %5 = nn.cast %4 {to = ui8} : (tensor<2x4xf32>) -> tensor<2x4xui8>
  %6 = nn.cast %5 {to = f32} : (tensor<2x4xui8>) -> tensor<2x4xf32>
  %7 = nn.mul %6, %s : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %8 = nn.cast %b {to = f32} : (tensor<i8>) -> tensor<f32>
  %9 = nn.mul %8, %s : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %10 = nn.add %7, %9 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %11 = nn.div %10, %q : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %12 = nn.cast %11 {to = ui8} : (tensor<2x4xf32>) -> tensor<2x4xui8>
  return %12 : tensor<2x4xui8>
}";
    let (made, text) = rewritten(text, &Changes::unlimited());
    assert_eq!(made, Rewritten { products: 1, tables: 1, ..Rewritten::default() }, "{text}");
}
