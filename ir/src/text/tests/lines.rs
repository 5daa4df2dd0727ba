//! Memoized lines are parsed like single tokens.

use super::*;

/// The generic text of a module's text, or its errors with their lines.
fn meaning(text: &str) -> String {
    let ctx = Arc::new(Context::new());
    let options = ParseOptions { unregistered: Unregistered::Allow };
    match parse_with(&ctx, "t", text.to_owned(), &options) {
        Ok(module) => print_with(
            &module,
            &PrintOptions { form: PrintForm::Generic, locations: Locations::Shown, ..Default::default() },
        ),
        Err(errors) => {
            let line = |error: &Diagnostic| crate::diag::describe(&ctx, error.location).unwrap_or_default();
            errors.iter().map(|error| format!("{}: {}\n", line(error), error.message)).collect()
        }
    }
}

/// Parses operations of a function twice: unchanged, and with a blank at the end of each line, so that no
/// line is found in the table.
#[track_caller]
fn check(ops: &str, expected: &str) {
    let text = format!(
        "\"func.func\"() <{{sym_name = \"f\"}}> ({{\n^bb0(%a: f32, %0: f32):\n{ops}\n}}) : () -> ()\n"
    );
    let found = meaning(&text);
    assert!(found.contains(expected), "{found}");
    assert_eq!(found, meaning(&text.replace('\n', " \n")));
}

const ADD: &str = r#"%1 = "t.add"(%0, %0) <{a = 1 : i8}> : (f32, f32) -> f32"#;

#[test]
fn numbers_of_values_are_read_anew() {
    check(
        &format!("{ADD}\n%2 = \"t.add\"(%1, %0) <{{a = 1 : i8}}> : (f32, f32) -> f32"),
        "\"t.add\"(%0, %arg1)",
    );
}

#[test]
fn another_name_or_attribute_is_another_line() {
    check(&format!("{ADD}\n%2 = \"t.sub\"(%1, %0) <{{a = 1 : i8}}> : (f32, f32) -> f32"), "\"t.sub\"");
    check(&format!("{ADD}\n%2 = \"t.add\"(%1, %0) <{{a = 2 : i8}}> : (f32, f32) -> f32"), "a = 2 : i8");
}

#[test]
fn values_may_be_read_before_their_definition() {
    check(
        &format!(
            "{ADD}\n%3 = \"t.add\"(%2, %1) <{{a = 1 : i8}}> : (f32, f32) -> f32\n%2 = \"t.add\"(%1, %0) <{{a = 1 : i8}}> : (f32, f32) -> f32"
        ),
        "\"t.add\"(%2, %0)",
    );
}

#[test]
fn results_may_be_many_or_none() {
    let two = "%1:2 = \"t.two\"() : () -> (f32, f32)\n\"t.use\"(%0) : (f32) -> ()";
    check(&format!("{two}\n\"t.use\"(%1#1) : (f32) -> ()\n\"t.use\"(%1#0) : (f32) -> ()"), "(%0#1)");
    check(&format!("{two}\n\"t.use\"(%1#2) : (f32) -> ()"), "t:5:9: `%1` stands for 2 values");
    check(&format!("{two}\n%2 = \"t.use\"(%0) : (f32) -> ()"), "t:5:1: `t.use` has 0 results, 1 are named");
    check(&format!("{two}\n%2 = \"t.two\"() : () -> (f32, f32)"), "`t.two` has 2 results, 1 are named");
}

#[test]
fn faults_of_values_are_found() {
    let line = |result: &str, operands: &str| {
        format!("{ADD}\n{result} = \"t.add\"({operands}) <{{a = 1 : i8}}> : (f32, f32) -> f32")
    };
    check(&line("%1", "%0, %0"), "t:4:1: `%1` is defined twice");
    check(&line("%2", "%0, %7"), "t:4:18: `%7` is not defined");
    check(&line("%2", "%0"), "t:4:6: 1 operands have 2 types");
    check(&line("%2", "%0, %0, %0"), "3 operands have 2 types");
    check(&line("%2", "%00, %0"), "`%00` is not defined");
    check(&line("%02", "%0, %0"), "%1 = \"t.add\"");
    check(&line("%123456789012", "%0, %a"), "\"t.add\"(%arg1, %arg0)");
    check(&line("%9999999", "%0, %a"), "%1 = \"t.add\"");
    check(&line("%2", "%0, %0#1"), "`%0` stands for 1 values");
    let int = "%2 = \"t.int\"() : () -> i8\n%3 = \"t.add\"(%2, %0) <{a = 1 : i8}> : (f32, f32) -> f32";
    check(&format!("{ADD}\n{int}"), "`%2` is a `i8`, here it is read as a `f32`");
}

#[test]
fn names_end_with_their_region() {
    let region = "\"t.in\"() ({\n  %5 = \"t.c\"() : () -> f32\n  %6 = \"t.c\"() : () -> f32\n}) : () -> ()";
    check(
        &format!("{region}\n{region}\n\"t.use\"(%0) : (f32) -> ()\n\"t.use\"(%5) : (f32) -> ()"),
        "`%5` is not defined",
    );
    check(&format!("{region}\n{region}\n%5 = \"t.c\"() : () -> f32"), "%4 = \"t.c\"");
}

#[test]
fn depth_is_counted_in_known_lines_too() {
    let deep = "[".repeat(250) + &"]".repeat(250);
    let line = format!("\"t.a\"() {{a = {deep}}} : () -> ()");
    check(&format!("{line}\n{line}"), "t.a");
    let inside = (0..8).fold(line.clone(), |inside, _| format!("\"t.r\"() ({{\n{inside}\n}}) : () -> ()"));
    check(&format!("{line}\n{inside}"), "nests deeper than 256");
}

#[test]
fn an_unregistered_operation_is_refused_each_time() {
    let ctx = Arc::new(Context::new());
    let text = "module {\n  \"t.a\"() : () -> ()\n  \"t.a\"() : () -> ()\n}";
    assert_eq!(parse(&ctx, "t", text.to_owned()).err().map_or(0, |errors| errors.len()), 2);
}

#[test]
fn a_location_may_stand_on_the_next_line() {
    check(
        &format!("{ADD}\n%2 = \"t.add\"(%1, %0) <{{a = 1 : i8}}> : (f32, f32) -> f32\n  loc(\"here\")"),
        "loc(\"here\")",
    );
}

#[test]
fn a_line_that_says_its_location_keeps_it() {
    let add = |result: u8| {
        format!("%{result} = \"t.add\"(%0, %0) <{{a = 1 : i8}}> : (f32, f32) -> f32 loc(\"here\")\n")
    };
    check(&(1..4).map(add).collect::<String>(), "t.add");
    let relu = |result: u8| format!("%{result} = nn.relu %0 : {TYPE} loc(\"here\")\n");
    check_pretty(&(1..4).map(relu).collect::<String>(), "nn.relu");
}

/// The same check for operations in pretty form.
#[track_caller]
fn check_pretty(ops: &str, expected: &str) {
    let text = format!("func.func @f(%x: tensor<4xf32>, %0: tensor<4xf32>) {{\n{ops}\n  return\n}}\n");
    let found = meaning(&text);
    assert!(found.contains(expected), "{found}");
    assert_eq!(found, meaning(&text.replace('\n', " \n")));
}

const TYPE: &str = "tensor<4xf32>";

#[test]
fn pretty_lines_differ_in_their_values() {
    check_pretty(
        &format!("%1 = nn.add %0, %0 : {TYPE}\n%y = nn.add %1, %x : {TYPE}\n%2 = nn.add %y, %1 : {TYPE}"),
        "%2 = \"nn.add\"(%1, %0)",
    );
    check_pretty(
        &format!("%1 = nn.relu %0 {{a = 1 : i8}} : {TYPE}\n%2 = nn.relu %x {{a = 2 : i8}} : {TYPE}"),
        "a = 2 : i8",
    );
    check_pretty(&format!("%1 = nn.add %0, %0 : {TYPE}\n%2 = nn.add %1 : {TYPE}"), "\"nn.add\"(%0) :");
    check_pretty(&format!("%1 = nn.add %0, %0 : {TYPE}\nnn.add %1, %0 : {TYPE}"), "\"nn.add\"(%0, %arg1)");
}

#[test]
fn a_pretty_operation_may_go_on_in_the_next_line() {
    let cast = format!("%1 = nn.cast %0 : {TYPE}\n%2 = nn.cast %1 : {TYPE}");
    check_pretty(&format!("{cast}\n  to tensor<4xi32>"), "(tensor<4xf32>) -> tensor<4xi32>");
    check_pretty(&format!("{cast} loc(\"here\")"), "loc(\"here\")");
    check_pretty(&format!("{cast}\n // why\n loc(\"here\")"), "loc(\"here\")");
    check_pretty(&format!("%1 = nn.add %0, %0 : {TYPE}\n%2 = nn.add %1,\n  %0 : {TYPE}"), "(%0, %arg1)");
    check_pretty(&format!("%1 = nn.add %0, %0 : {TYPE}\n%2 = nn.add %1, %0\n  : {TYPE}"), "(%0, %arg1)");
}

#[test]
fn faults_of_pretty_lines_are_where_they_stand() {
    let add = format!("%1 = nn.add %0, %0 : {TYPE}");
    check_pretty(&format!("{add}\n%2 = nn.add %1, %3 : {TYPE}"), "`%3`");
    check_pretty(
        &format!("{add}\n%y = nn.add %x, %0 : {TYPE}\n%y = nn.add %1, %0 : {TYPE}"),
        "defined twice",
    );
    check_pretty(&format!("{add}\n%01 = nn.add %1, %0 : {TYPE}"), "");
    check_pretty(
        &format!(
            "{add}\n%i = arith.cmpi eq, %a, %a : i32\n%2 = nn.relu %1 : {TYPE}\n%3 = nn.relu %i : {TYPE}"
        ),
        "`%a`",
    );
}
