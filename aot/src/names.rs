//! C names of tensors and programs: identifiers made from any names.

/// The keywords of C and C++.
const WORDS: [&str; 66] = [
    "alignas",
    "alignof",
    "and",
    "asm",
    "auto",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "class",
    "const",
    "continue",
    "default",
    "delete",
    "do",
    "double",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "not",
    "operator",
    "or",
    "private",
    "protected",
    "public",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "template",
    "this",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "while",
    "xor",
    "errno",
];

/// An identifier that resembles a name: other characters become `_`.
///
/// `input.1` => `input_1`, `1x` => `_1x`, `float` => `float_`
pub(crate) fn identifier(name: &str) -> String {
    let is_kept = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
    let mut text: String = name.chars().map(|c| if is_kept(&c) { c } else { '_' }).collect();
    if !text.starts_with(|c: char| c.is_ascii_alphabetic()) {
        text.insert_str(0, if text.starts_with('_') { "x" } else { "_" });
    }
    if WORDS.contains(&&*text) {
        text.push('_');
    }
    text
}

/// Distinct identifiers that resemble the names.
pub(crate) fn identifiers<'n>(names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for name in names {
        let plain = identifier(name);
        let numbered = (2..).map(|number| format!("{plain}_{number}"));
        let mut candidates = std::iter::once(plain.clone()).chain(numbered);
        all.push(candidates.find(|name| !all.contains(name)).expect("there are enough numbers"));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_names_become_distinct_identifiers() {
        let found = identifiers(["x", "input.1", "input/1", "1x", "float", "", "_p", "é"].into_iter());
        assert_eq!(found, ["x", "input_1", "input_1_2", "_1x", "float_", "_", "x_p", "x_"]);
    }
}
