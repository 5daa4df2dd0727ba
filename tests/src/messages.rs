//! The messages of a source, and whether a text quotes one.
//!
//! A message is a string of several words, except those for broken invariants: `format!("`{}` has no block",
//! name)` => "`", "` has no block". A text quotes a message if it contains these fixed parts in their order.

use crate::source::{self, Literal};

/// A message with its first line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The line, from 1.
    pub line: usize,
    /// The string, with its placeholders.
    pub text: String,
}

/// The messages of a source, in order.
pub fn messages(source: &str) -> Vec<Message> {
    let is_trust = |literal: &Literal| literal.callee == "expect" || literal.callee == "unreachable";
    let literals = source::literals(source).into_iter();
    let said = literals.filter(|literal| literal.text.contains(' ') && !is_trust(literal));
    said.map(|Literal { line, text, .. }| Message { line, text }).collect()
}

/// Whether a text contains the fixed parts of a message.
pub fn quotes(text: &str, message: &str) -> bool {
    let mut rest = text;
    fixed_parts(message).into_iter().all(|part| match rest.find(part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}

/// The text outside of `{...}`.
fn fixed_parts(message: &str) -> Vec<&str> {
    let mut parts = message.split('{');
    let first = parts.next().into_iter();
    first.chain(parts.map(|part| part.split_once('}').map_or(part, |(_, fixed)| fixed))).collect()
}

/// The messages announced by the comments of a lit file: `// expected-error@+1 {{this}}`.
pub fn announced(lit: &str) -> Vec<&str> {
    lit.split("expected-")
        .skip(1)
        .filter_map(|rest| Some(rest.split_once("{{")?.1.split_once("}}")?.0))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_several_words_and_are_no_trust() {
        let source = "fn f() {\n  // \"a b\"\n  g(\"one\");\n  h(format!(\"`{x}` has \\\"b\\\"\")).expect(\"never is\");\n}";
        assert_eq!(messages(source), [Message { line: 4, text: "`{x}` has \"b\"".to_owned() }]);
    }

    #[test]
    fn values_stand_between_the_fixed_parts() {
        assert!(quotes("the `nn.add` has 2 operands, found 1", "`{}` has {count} operand{}, found {}"));
        assert!(!quotes("`nn.add` has operands", "`{}` has {count} operand{}, found {}"));
        assert!(!quotes("found 1, has 2", "has {}, found"));
    }

    #[test]
    fn several_errors_may_be_announced_in_a_line() {
        let lit = "// expected-error@+1 {{a `b`}} expected-error {{c}}\nop // expected-";
        assert_eq!(announced(lit), ["a `b`", "c"]);
    }
}
