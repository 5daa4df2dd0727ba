//! Round trips of small texts.

use super::*;

mod bad;
mod dims;
mod early;
mod edits;
mod index;
mod lines;
mod recover;
mod syntax;

/// Parses a text and prints it, pretty, in a fresh context.
#[track_caller]
fn check(text: &str, expected: &str) {
    let ctx = Arc::new(Context::new());
    let module = parse(&ctx, "test.mlir", text.to_owned())
        .unwrap_or_else(|errors| panic!("{}", rendered(&ctx, &errors)));
    assert_eq!(print(&module), expected);
    check_round_trip(&module).unwrap();
}

/// Checks that a text is printed as it was parsed.
#[track_caller]
fn check_same(text: &str) {
    check(text, text);
}

/// Parses any text and prints it in generic form.
#[track_caller]
fn check_generic(text: &str, expected: &str) {
    let options = ParseOptions { unregistered: Unregistered::Allow };
    let module = parse_with(&Arc::new(Context::new()), "t", text.to_owned(), &options).unwrap();
    let form = PrintForm::Generic;
    assert_eq!(
        print_with(&module, &PrintOptions { form, locations: Locations::Hidden, ..Default::default() }),
        expected
    );
}

fn rendered(ctx: &Context, errors: &[Diagnostic]) -> String {
    errors.iter().map(|error| error.render(ctx) + "\n").collect()
}

#[track_caller]
fn check_errors(text: &str, expected: &[&str]) {
    let ctx = Arc::new(Context::new());
    let errors = parse(&ctx, "t", text.to_owned()).err().unwrap_or_default();
    let found = errors.iter().map(|error| {
        let place = crate::diag::describe(&ctx, error.location).unwrap_or_default();
        let help = error.help.iter().map(|help| format!(" ({help})")).collect::<String>();
        format!("{place}: {}{help}", error.message)
    });
    assert_eq!(found.collect::<Vec<_>>(), expected);
}

#[test]
fn a_network_reads_as_it_prints() {
    check_same(
        r#"module {
  func.func @main(%arg0: tensor<1x3x8x8xf32> {optc.name = "x"}) -> (tensor<1x4x4x4xf32> {optc.name = "y"}) attributes {optc.stage = "fuse", optc.threads = 2 : i64} {
    %0 = nn.constant dense<0.000000e+00> : tensor<4x3x3x3xf32>
    %1 = nn.constant dense<[1.000000e+00, 2.500000e+00, -3.000000e+00, 1.000000e-01]> : tensor<4xf32>
    %2 = nn.conv2d %arg0, %0, %1 {mem.kernel = "conv2d", pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<1x4x4x4xf32>
    %3 = optc.group(%arg1 = %2, %arg2 = %2) {mem.place = [["arena", 0, 802816], unit]} : (tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32> {
      %4 = nn.add %arg1, %arg2 : tensor<1x4x4x4xf32>
      %5 = nn.relu %4 : tensor<1x4x4x4xf32>
      optc.yield %5 : tensor<1x4x4x4xf32>
    }
    return %3 : tensor<1x4x4x4xf32>
  }
  func.func private @f(i32, f32) -> (i32, f32)
}
"#,
    );
}

#[test]
fn references_are_written_behind_the_module() {
    check_same(
        r#"module {
  func.func @main() -> tensor<2xf32> {
    %0 = nn.constant dense_resource<w.0> : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}

{-#
  external_resources: {
    optc: {
      model: "net.onnx"
    }
  }
#-}
"#,
    );
}

#[test]
fn blobs_are_written_behind_the_module() {
    check_same(
        r#"module {
  func.func @main() -> tensor<2xf32> {
    %0 = nn.constant dense_resource<w> : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      w: "0x040000000000803F00000040"
    }
  }
#-}
"#,
    );
}

#[test]
fn resources_of_other_dialects_are_kept_as_they_are() {
    check_same(
        r#"module {
}

{-#
  dialect_resources: {
    zoo: {
      "a b": "0x04000000\41",
      flag: true
    },
    ark: {
      w: "text"
    }
  }
#-}
"#,
    );
    check(
        "module {\n}\n{-# external_resources: {other: {a: \"b\"}}, dialect_resources: {d: {k: \"v\"}} #-}\n",
        "module {\n}\n\n{-#\n  dialect_resources: {\n    d: {\n      k: \"v\"\n    }\n  }\n#-}\n",
    );
}

#[test]
fn an_operation_of_another_dialect_is_told_with_ours() {
    check_errors(
        "func.func @f(%a: tensor<4x4xf32>) {\n  %0 = linalg.matmul %a, %a : tensor<4x4xf32>\n  return\n}\n",
        &["t:2:8: no operation is called `linalg.matmul` (did you mean `nn.matmul`?)"],
    );
}

#[test]
fn all_errors_are_told_at_once() {
    check_errors(
        "func.func @f(%a: f32) -> f32 {\n  %0 = nn.rellu %a : f32\n  %1 = nn.add %0, %b : f32\n  return %1 : f64\n}\n",
        &[
            "t:2:8: no operation is called `nn.rellu` (did you mean `nn.relu`?)",
            "t:3:19: `%b` is not defined",
            "t:4:10: `%1` is a `f32`, here it is read as a `f64`",
        ],
    );
}

#[test]
fn every_row_has_an_example_that_reads() {
    let ctx = Arc::new(Context::new());
    for def in ctx.dialects().flat_map(|dialect| dialect.ops()) {
        let text = match form::PrettyForm::of(def) {
            form::PrettyForm::Function | form::PrettyForm::Module => def.example.to_owned(),
            _ if def.example.starts_with("func.func") => def.example.to_owned(),
            _ => format!("func.func @f() {{\n  {}\n}}", def.example),
        };
        let errors = parse(&ctx, def.name, text).err().unwrap_or_default();
        let errors: Vec<_> =
            errors.into_iter().filter(|error| !error.message.ends_with("is not defined")).collect();
        assert!(!def.example.is_empty() && errors.is_empty(), "{}: {}", def.name, rendered(&ctx, &errors));
    }
}

/// If the pretty form has no block headers, locations of arguments would be lost. Such an operation is
/// printed in generic form.
#[test]
fn locations_of_the_arguments_of_loops_are_kept() {
    let text = r#""builtin.module"() ({
  "func.func"() <{function_type = (index, f32) -> f32, sym_name = "f"}> ({
  ^bb0(%arg0: index loc("n"), %arg1: f32 loc("x")):
    %0 = "scf.for"(%arg0, %arg0, %arg0, %arg1) ({
    ^bb0(%arg2: index loc("i"), %arg3: f32 loc("carried")):
      "scf.yield"(%arg3) : (f32) -> ()
    }) : (index, index, index, f32) -> f32
    %1 = "scf.while"(%0) ({
    ^bb0(%arg2: f32 loc("before")):
      %2 = "arith.constant"() <{value = true}> : () -> i1
      "scf.condition"(%2, %arg2) : (i1, f32) -> ()
    }, {
    ^bb0(%arg2: f32 loc("after")):
      "scf.yield"(%arg2) : (f32) -> ()
    }) : (f32) -> f32
    "func.return"(%1) : (f32) -> ()
  }) : () -> ()
}) : () -> ()
"#;
    let module = parse(&Arc::new(Context::new()), "t", text.to_owned()).unwrap();
    round_trip::check_round_trip(&module).unwrap();
    let options = PrintOptions { form: PrintForm::Pretty, locations: Locations::Shown, ..Default::default() };
    let shown = print_with(&module, &options);
    ["\"i\"", "\"carried\"", "\"before\"", "\"after\""]
        .iter()
        .for_each(|name| assert!(shown.contains(name), "{shown}"));
}

/// Parses any text, and checks that it survives every form, also with locations.
#[track_caller]
fn check_comes_back(text: &str) {
    let options = ParseOptions { unregistered: Unregistered::Allow };
    let ctx = Arc::new(Context::new());
    let module = parse_with(&ctx, "t", text.to_owned(), &options)
        .unwrap_or_else(|errors| panic!("{}", rendered(&ctx, &errors)));
    check_round_trip(&module).unwrap();
}

/// `#loc2` is only free if it occurs in no printed text.
#[test]
fn names_are_kept_from_things_only_if_the_printed_text_mentions_them() {
    let op = |attr: &str| {
        format!(
            "#gone = #d.x<\"s\" #loc2 Full>\n\"t.a\"() {{b = {attr}}} : () -> () loc(\"f\":1:2)\n\"t.b\"() : () -> () loc(\"f\":1:3)\n"
        )
    };
    check_comes_back(&op("#d.x<\"#loc2\">"));
    check_comes_back(&op("#d.x<kind =#loc1 Full>"));
    check_comes_back(&op("!d.x<kind =#loc1 Full>"));
    check_comes_back(&op("#gone"));
    let text = "\"t.a\"() {a = #d.x<a #map>, b = affine_map<(d0) -> (d0)>} : () -> ()\n";
    check_generic(
        text,
        "#map1 = affine_map<(d0) -> (d0)>\n\"t.a\"() {a = #d.x<a #map>, b = #map1} : () -> ()\n",
    );
}

#[test]
fn what_follows_a_name_in_opaque_text_does_not_run_into_it() {
    check_comes_back(
        "#a = 1\n\"t.a\"() {b = #d.x<#a affine_map<(d0) -> (d0)>4>, c = #d.x<affine_map<(d0) -> (d0)><1>>} : () -> ()",
    );
    let text = "\"t.a\"() {a = #d.x<affine_map<(d0) -> (d0)>affine_map<(d0) -> (d0)>->4>} : () -> ()\n";
    check_generic(text, "#map = affine_map<(d0) -> (d0)>\n\"t.a\"() {a = #d.x<#map #map ->4>} : () -> ()\n");
}
