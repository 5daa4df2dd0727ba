//! That each rule of the verifier has a lit file that breaks it.
//!
//! A rule is known by its message: every message of the verifier's sources, of the rules of rows, and of type
//! inference must be announced in a file of `lit-tests/verify`.

use tests::messages::{announced, messages, quotes};
use tests::source::{Code, literals};
use tests::workspace::{TextFile, files};

/// Messages that no text can cause, or comments cannot announce; the verifier's unit tests quote them.
const SAID_IN_UNIT_TESTS: [&str; 20] = [
    // In a text, blocks and values are visible only in their regions, and successors are given by attributes.
    "`{name}` goes to a block of another region",
    "is defined in a region that does not surround it",
    "`{}`: successors and attributes divide the operands differently",
    // No row of the built-in dialects has this form.
    "{place} is a `!{}`: {reason}",
    "`{}` has {} results, found {}",
    "`true` or `false`",
    "an `array` of `f32` or `f64`",
    // For builders of operations, rows check this before inference.
    "operand 0 is missing",
    "operand {index} is missing",
    "`value` is missing",
    "`value` has no type",
    "`value` holds no elements",
    "`to` is missing",
    "`to` is not a type",
    "`axis` is missing",
    "`{name}` is not an `array<i64>`",
    // Hints and notes.
    "did you mean `{name}` by `{near}`?",
    "declare it as `private`",
    "pass it as an operand of the group",
    "first defined here",
];

fn is_of_the_verifier(file: &TextFile) -> bool {
    let is_source = file.path == "ir/src/verify.rs" || file.path.starts_with("ir/src/verify/");
    is_source && file.path != TESTS
}

const TESTS: &str = "ir/src/verify/tests.rs";

/// The sources' messages with their places.
fn rules() -> Vec<(String, String)> {
    let mut rules = Vec::new();
    for file in files(&["rs"]) {
        let is_row = file.path.starts_with("ir/src/dialects/") || file.path == "ir/src/infer.rs";
        if !is_row && !is_of_the_verifier(&file) {
            continue;
        }
        let functions = Code::of(&file.text).functions();
        let refuses = |signature: &str| {
            signature.contains("-> Result<(), String>") || signature.contains("InferError>")
        };
        let checks: Vec<_> = functions.iter().filter(|f| refuses(&f.signature)).collect();
        let is_in_check = |line: usize| {
            checks.iter().any(|function| (function.line..function.line + function.lines).contains(&line))
        };
        let said = messages(&file.text).into_iter().filter(|message| !is_row || is_in_check(message.line));
        rules.extend(said.map(|message| (format!("{}:{}", file.path, message.line), message.text)));
    }
    rules
}

#[test]
fn each_rule_has_a_lit_file_that_breaks_it() {
    let lit = files(&["mlir"]);
    let of_verifier = lit.iter().filter(|file| file.path.starts_with("lit-tests/verify/"));
    let announced: Vec<&str> = of_verifier.flat_map(|file| announced(&file.text)).collect();
    let rules = rules();
    assert!(rules.len() > 50, "{} messages were found", rules.len());
    let elsewhere = |rule: &str| SAID_IN_UNIT_TESTS.contains(&rule);
    let unbroken: Vec<_> = rules
        .iter()
        .filter(|(_, rule)| !elsewhere(rule) && !announced.iter().any(|text| quotes(text, rule)))
        .collect();
    assert!(unbroken.is_empty(), "no file of lit-tests/verify announces: {unbroken:#?}");
}

#[test]
fn what_no_file_can_break_is_tested_nevertheless() {
    let tests =
        files(&["rs"]).into_iter().find(|file| file.path == TESTS).expect("the verifier's unit tests");
    let quoted = literals(&tests.text);
    let rules = rules();
    for rule in SAID_IN_UNIT_TESTS {
        assert!(rules.iter().any(|(_, text)| text == rule), "the verifier does not say `{rule}`");
        assert!(quoted.iter().any(|literal| quotes(&literal.text, rule)), "no unit test quotes `{rule}`");
    }
}
