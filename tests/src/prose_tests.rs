//! That each rule of prose finds its violations and nothing else.

use super::*;

/// The number of faults that `rule` finds in a text.
fn faults(rule: impl Fn(&TextFile) -> Vec<Fault>, text: &str) -> usize {
    rule(&TextFile { path: "a".to_owned(), text: text.to_owned() }).len()
}

#[test]
fn a_comment_ends_at_the_last_column() {
    let comment = |columns: usize| format!("    /// {}", "é".repeat(columns - 8));
    assert_eq!(faults(comment_width, &comment(MOST_COLUMNS)), 0);
    assert_eq!(faults(comment_width, &comment(MOST_COLUMNS + 1)), 1);
    let code = format!("let a = \"{}\"; // as long as it is", "x".repeat(MOST_COLUMNS));
    assert_eq!(faults(comment_width, &code), 0);
    assert_eq!(faults(document_width, &code), 1);
}

#[test]
fn a_lit_file_says_in_a_sentence_why_it_exists() {
    let run = "// RUN: optc --passes=fuse";
    for sentence in [
        "// A value that is read stays.",
        "// %0 is a view, so it\n// takes no bytes.",
        "// `a` is read in b.",
    ] {
        assert_eq!(faults(reason, &format!("{run}\n{sentence}\n\nmodule {{}}\n")), 0, "{sentence}");
    }
    let lacking = [
        "",
        "\n// A sentence after a gap.",
        "// no sentence at all",
        "// Too short.",
        "module {}",
        "// ----- output",
        "// RUN: a b c d.",
    ];
    for text in lacking {
        assert_eq!(faults(reason, &format!("{run}\n{text}\n")), 1, "{text}");
    }
}

#[test]
fn a_tuple_binds_values_of_one_form() {
    let related = [
        "let (a, b) = (0, 0);",
        "let (low, high) = (shape[axis], shape[axis + 2]);",
        "let (a, b) = (op.ints(\"low\")?, op.ints(\"high\")?);",
        "let (ctx, body) = (self.ctx, &*body);",
        "let (words, bits) = ((count / 32) as usize, (count % 32) as u32);",
        "let (a, b) = pair();",
        "// let (a, b) = (0, Vec::new());",
    ];
    for text in related {
        assert_eq!(faults(tuples_of_unrelated_values, text), 0, "{text}");
    }
    let unrelated = [
        "let (mut found, mut at) = (Vec::new(), 0);",
        "let (first, count) = (points.start, blocks.len());",
        "let (ctx, names, rank) = (self.ctx(), Names::default(), shape.len());",
    ];
    for text in unrelated {
        assert_eq!(faults(tuples_of_unrelated_values, &format!("fn f() {{\n    {text}\n}}")), 1, "{text}");
    }
}
