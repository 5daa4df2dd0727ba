//! Round trips of symbolic sizes.

use super::*;

#[test]
fn sizes_with_expressions_read_as_they_print() {
    check_same(
        r#"module {
  func.func @main(%arg0: tensor<?x3x?xf32, #optc.dims<N, H ceildiv 2>>, %arg1: tensor<?x?xf32, #optc.dims<_, "a b">>) -> tensor<?x?xf32, #optc.dims<3 * N, H ceildiv 2>> {
    %0 = nn.relu %arg0 : tensor<?x3x?xf32, #optc.dims<N, H ceildiv 2>>
    %1 = nn.reshape %0 {shape = #optc.dims<3 * N, _>} : (tensor<?x3x?xf32, #optc.dims<N, H ceildiv 2>>) -> tensor<?x?xf32, #optc.dims<3 * N, H ceildiv 2>>
    return %1 : tensor<?x?xf32, #optc.dims<3 * N, H ceildiv 2>>
  }
}
"#,
    );
}

#[test]
fn expressions_are_printed_in_their_canonical_form() {
    let ctx = Context::new();
    let check = |text: &str, expected: &str| {
        let ty = parse_type(&ctx, text).unwrap();
        assert_eq!(type_text(&ctx, ty), expected);
        assert!(parse_type(&ctx, expected).unwrap() == ty);
    };
    check(
        "tensor<?xf32, #optc.dims<(H + 2 * 1 - 3) floordiv 2 + 1>>",
        "tensor<?xf32, #optc.dims<H ceildiv 2>>",
    );
    check("tensor<?xf32, #optc.dims<_>>", "tensor<?xf32>");
    check("tensor<4xf32, #optc.dims<>>", "tensor<4xf32>");
    check("tensor<?xf32, #other.dims<N>>", "tensor<?xf32, #other.dims<N>>");
    check("tensor<?xf32, #optc.other<N>>", "tensor<?xf32, #optc.other<N>>");
}

#[test]
fn equal_expressions_are_equal_types_and_unknown_sizes_are_equal_to_nothing_else() {
    let ctx = Context::new();
    let ty = |text: &str| parse_type(&ctx, text).unwrap();
    assert!(ty("tensor<?xf32, #optc.dims<N + M>>") == ty("tensor<?xf32, #optc.dims<M + N>>"));
    assert!(ty("tensor<?xf32, #optc.dims<N>>") != ty("tensor<?xf32, #optc.dims<M>>"));
    assert!(ty("tensor<?xf32, #optc.dims<N>>") != ty("tensor<?xf32>"));
}

#[test]
fn bad_sizes_are_refused_where_they_stand() {
    let check = |sizes: &str, expected: &str| {
        let text = format!("func.func private @f(tensor<?x3x?xf32, #optc.dims<{sizes}>>)\n");
        check_errors(&text, &[expected]);
    };
    check("N", "t:1:40: the shape has 2 `?`, found 1 sizes for them");
    check("N, 4", "t:1:40: a `?` that is 4 is written as 4");
    check("N, N - N - 1", "t:1:54: a size is at least 0");
    check(
        "N, H floordiv 0",
        "t:1:56: a size that can't be computed: a divisor below 1, too large a number, or too many terms",
    );
    check(
        "N, floordiv",
        "t:1:54: expected a size: a name, a number, or an expression of them, found `floordiv`",
    );
    check("N, (H", "t:1:56: expected `)`, found `>`");
    check("N, min()", "t:1:54: the least or greatest of nothing");
    check("N H", "t:1:53: expected `,` or `>`, found `H`");
}
