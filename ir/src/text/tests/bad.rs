//! Bad text is rejected with a place, and without a panic.

use super::*;

/// A sample of all that the parser knows.
const SAMPLE: &str = r#"#map = affine_map<(d0, d1)[s0] -> (d0 * 2 + s0, d1 mod 3, -d0, d0 ceildiv 4)>
#set = affine_set<(d0)[s0] : (d0 - s0 >= 0, d0 == 4)>
!t = !d.x<"s", #map, [a, {b -> c}]>
#loc = loc("f":1:2)
module @m attributes {a.b = 1 : i8, a.c = [1, -2.5, "x\0Ay\\", unit, @s::@"t u"], a.d = #d<"z"> : i32} {
  func.func private @h(tensor<?x3x?xf32, #optc.dims<N * 2 - 1, max(H, "a b") ceildiv 2>>)
  func.func private @g(!t, tuple<i1, si8, ui64>) -> complex<f32>
  func.func @f(%arg0: tensor<4x?xf32, {e}> {optc.name = "x"}, %arg1: memref<2x?xbf16, #map, 3>) -> (vector<[4]x2xf8E4M3FN>, none) {
    %0 = nn.constant dense<[[1.0, -2.5e-3], [0x7FC00000, 4.0]]> : tensor<2x2xf32>
    %1 = nn.constant sparse<[[0, 1]], [7]> : tensor<2x2xi64>
    %2 = "t.op"(%3#1, %0) <{p = array<i32: 1, 2>, q = dense_resource<w> : tensor<2xf32>}> ({
    ^bb0(%x: index loc("a"(callsite(#loc at unknown)))):
      "t.go"(%x)[^bb1, ^bb0] : (index) -> ()
    ^bb1:  // pred: ^bb0
      "t.end"() {l = loc(fused<#set>[#loc, "b"]), s = strided<[?, 1], offset: 3>, d = distinct[0]<7 : i300>} : () -> ()
    }, {
    }) : (f32, tensor<2x2xf32>) -> !t loc(#loc1)
    %3:2 = "t.two"() : () -> (f16, f32)
    %4 = optc.group(%b = %0) : (tensor<2x2xf32>) -> tensor<2x2xf32> {
      %5 = nn.relu %b : tensor<2x2xf32>
      optc.yield %5 : tensor<2x2xf32>
    }
    return
  }
}
#loc1 = loc("f":3:4 to 5:6)
{-#
  dialect_resources: { builtin: { w: "0x040000000000803F00000040" } },
  external_resources: { optc: { model: "n.onnx" } }
#-}
"#;

/// Parses a text; if this succeeds, verifies and prints the module, and parses it again.
fn survive(text: &str) {
    let ctx = Arc::new(Context::new());
    let options = ParseOptions { unregistered: Unregistered::Allow };
    match parse_with(&ctx, "t", text.to_owned(), &options) {
        Ok(module) => {
            let _ = crate::verify::verify(&module);
            for form in [PrintForm::Pretty, PrintForm::Generic] {
                let printed = print_with(
                    &module,
                    &PrintOptions { form, locations: Locations::Shown, ..Default::default() },
                );
                let again = parse_with(&ctx, "again", printed.clone(), &options);
                let again = again.unwrap_or_else(|errors| panic!("{}\n{printed}", rendered(&ctx, &errors)));
                assert_eq!(
                    print_with(
                        &again,
                        &PrintOptions { form, locations: Locations::Shown, ..Default::default() }
                    ),
                    printed
                );
            }
        }
        Err(errors) => {
            assert!(!errors.is_empty());
            for error in errors {
                assert!(error.location.source_offset().is_some(), "{}", error.message);
                error.render(&ctx);
            }
        }
    }
}

/// The error of a text, with its place.
#[track_caller]
fn check_first(text: &str, expected: &str) {
    let ctx = Arc::new(Context::new());
    let errors = parse(&ctx, "t", text.to_owned()).err().unwrap_or_default();
    let first = errors.first().map(|error| {
        format!("{}: {}", crate::diag::describe(&ctx, error.location).unwrap_or_default(), error.message)
    });
    assert_eq!(first.as_deref(), Some(expected));
}

#[test]
fn the_sample_is_good() {
    let ctx = Arc::new(Context::new());
    let options = ParseOptions { unregistered: Unregistered::Allow };
    let module = parse_with(&ctx, "t", SAMPLE.to_owned(), &options);
    module.unwrap_or_else(|errors| panic!("{}", rendered(&ctx, &errors)));
    survive(SAMPLE);
}

#[test]
fn a_text_cut_anywhere_is_survived() {
    for end in 0..SAMPLE.len() {
        survive(&SAMPLE[..end]);
    }
}

#[test]
fn a_text_with_any_byte_changed_is_survived() {
    let bytes = b"\0\r\n\"(){}[]<>,:=-+*#!%^@x09 ?/\\";
    // A linear congruential generator (Knuth, MMIX).
    let mut state = 1u64;
    let mut random = |limit: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % limit
    };
    for _ in 0..3000 {
        let mut text = SAMPLE.as_bytes().to_vec();
        for _ in 0..=random(3) {
            let at = random(text.len());
            match random(3) {
                0 => text[at] = bytes[random(bytes.len())],
                1 => text.insert(at, bytes[random(bytes.len())]),
                _ => {
                    text.remove(at);
                }
            }
        }
        if let Ok(text) = String::from_utf8(text) {
            survive(&text);
        }
    }
}

#[test]
fn nesting_is_bounded_in_every_construct() {
    let count = 100_000;
    let deep = |open: &str| open.repeat(count);
    for (start, open) in [
        ("\"t\"() {a = ", "["),
        ("\"t\"() {a = ", "{a = "),
        ("\"t\"() : () -> ", "tensor<4x"),
        ("\"t\"() : () -> ", "tuple<"),
        ("\"t\"() : () -> ", "("),
        ("\"t\"() {a = ", "#d.x<#d.x<"),
        ("\"t\"() {a = dense<", "["),
        ("\"t\"() {a = affine_map<(d0) -> (", "("),
        ("\"t\"() {a = affine_map<(d0) -> (", "-"),
        ("\"t\"() {a = affine_map<(d0) -> (", "d0 + d0 * 2 + "),
        ("\"t\"() {a = loc(", "callsite("),
        ("", "\"t\"() ({"),
        ("", "module {"),
    ] {
        survive(&(start.to_owned() + &deep(open)));
    }
    check_first(&("module attributes {a = ".to_owned() + &deep("[")), "t:1:279: nests deeper than 256");
}

#[test]
fn aliases_nest_no_deeper_than_brackets() {
    let mut text = "#a0 = [1]\n".to_owned();
    for i in 1..1000 {
        text += &format!("#a{i} = [#a{}, #a{}]\n", i - 1, i - 1);
    }
    check_first(&(text + "module { }"), "t:129:10: nests deeper than 256");
}

#[test]
fn not_everything_is_an_element() {
    let check =
        |ty: &str, expected: &str| check_first(&format!("module attributes {{a = {ty}}} {{ }}"), expected);
    check("tensor<2xtuple<i1>>", "t:1:33: a tensor has no elements of type `tuple<i1>`");
    check("tensor<*xtensor<i8>>", "t:1:33: a tensor has no elements of type `tensor<i8>`");
    check("vector<2xcomplex<f32>>", "t:1:33: a vector has no elements of type `complex<f32>`");
    check("memref<2xnone>", "t:1:33: a memref has no elements of type `none`");
    survive("module attributes {a = memref<2xmemref<*xf32>>, b = tensor<2xvector<1xi1>>} { }");
}

#[test]
fn an_alias_cannot_mean_itself() {
    check_first("#a = [#a]\nmodule { }", "t:1:7: nothing is called `#a`");
    check_first("!a = tuple<!a>\nmodule { }", "t:1:12: nothing is called `!a`");
    check_first("#a = 1\n#a = 2\nmodule { }", "t:2:1: `#a` is defined twice");
}

#[test]
fn a_name_that_stands_for_nothing_is_never_given_to_something() {
    survive("\"t.a\"() {a = #d.x<#map, !tuple>, b = affine_map<(d0) -> (d0 + 1)>} : () -> ()");
    check_first("#a = #d.x<#b>\n#b = 1\nmodule { }", "t:2:1: `#b` was mentioned before its definition");
}

#[test]
fn a_first_block_that_is_gone_to_keeps_its_name() {
    survive("\"t.a\"() ({\n^bb0:\n  \"t.go\"()[^bb0] : () -> ()\n}) : () -> ()");
    survive(
        "\"func.func\"() ({\n^a:\n  \"t.go\"()[^b] : () -> ()\n^b:\n  \"t.go\"()[^a] : () -> ()\n}) : () -> ()",
    );
}

#[test]
fn faults_of_the_text_itself_are_located() {
    check_first("module {\0}", "t:1:9: expected an operation, found a NUL byte");
    check_first("module {\r\n  @\r\n}", "t:2:3: expected an operation, found `@`");
    check_first(
        "module attributes {a = \"b} { }",
        "t:1:24: expected an attribute, found a string without its end",
    );
    check_first("module {", "t:1:9: expected an operation, found the end of the text");
    check_first("module { \u{e9} }", "t:1:10: expected an operation, found `\\u{e9}`");
}

#[test]
fn numbers_out_of_range_are_located() {
    check_first("module attributes {a = 256 : i8} { }", "t:1:24: this integer does not fit `i8`");
    check_first("module attributes {a = -1 : ui8} { }", "t:1:24: this integer does not fit `ui8`");
    check_first(
        "module attributes {a = i16777216} { }",
        "t:1:24: integers have at most 16777215 bits, found `i16777216`",
    );
    check_first(
        "module attributes {a = tensor<99999999999999999999xf32>} { }",
        "t:1:31: a size is at most 2^63 - 1",
    );
    check_first(
        "module attributes {a = dense<[]> : tensor<9223372036854775807x9223372036854775807xi8>} { }",
        "t:1:36: a constant has at most 2^64 - 1 elements",
    );
}
