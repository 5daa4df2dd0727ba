//! Directives in comments of a test, checked against its output: `// CHECK: ...`, as in LLVM's FileCheck.
//!
//! | directive | demands |
//! |---|---|
//! | `CHECK` | a match after the one before |
//! | `CHECK-NEXT` | a match on the line after that of the match before |
//! | `CHECK-SAME` | a match on the same line, after the match before |
//! | `CHECK-DAG` | with the `CHECK-DAG`s beside it, matches in any order, which do not overlap |
//! | `CHECK-NOT` | no match between the match before and the match after |
//! | `CHECK-LABEL` | a match that divides the output: directives between two labels match between them |
//!
//! In a pattern, `{{...}}` is a regular expression, `[[NAME:...]]` is one whose match gets a name, and
//! `[[NAME]]` is the text of that match. Runs of spaces count as one space.

use std::collections::BTreeMap;
use std::ops::Range;

use ir::diag::nearest;
use regex_lite::Regex;

/// The kind of a directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DirectiveKind {
    Check,
    Next,
    Same,
    Not,
    Dag,
    Label,
}

const KINDS: [(&str, DirectiveKind); 6] = [
    ("CHECK", DirectiveKind::Check),
    ("CHECK-NEXT", DirectiveKind::Next),
    ("CHECK-SAME", DirectiveKind::Same),
    ("CHECK-NOT", DirectiveKind::Not),
    ("CHECK-DAG", DirectiveKind::Dag),
    ("CHECK-LABEL", DirectiveKind::Label),
];

/// A directive of a test.
#[derive(Debug)]
struct Directive {
    kind: DirectiveKind,
    /// Its line, from 1.
    line: usize,
    /// Its source text.
    text: String,
    pieces: Vec<PatternPiece>,
}

/// A piece of a pattern.
#[derive(Debug, PartialEq, Eq)]
enum PatternPiece {
    /// Literal text.
    Literal(String),
    /// A regular expression.
    Expression(String),
    /// A regular expression whose match gets a name.
    Definition(String, String),
    /// The text with this name.
    Use(String),
}

/// The directives of a test.
#[derive(Debug)]
pub(super) struct Directives {
    list: Vec<Directive>,
}

impl Directives {
    /// The directives in the comments of a text; none if it has none.
    ///
    /// # Errors
    /// For a misspelt or malformed directive, and if the empty output passes: such a test can't fail.
    pub(super) fn read(text: &str) -> Result<Option<Directives>, String> {
        let mut list = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let fault = |what: String| format!("line {}: {what}", number + 1);
            let Some(comment) = line.trim_start().strip_prefix("//") else { continue };
            let Some((word, pattern)) = directive_word(comment) else {
                let first = comment.split_whitespace().next().unwrap_or_default();
                if KINDS.iter().any(|(name, _)| *name == first) {
                    return Err(fault(format!("`{first}` is not followed by a colon")));
                }
                continue;
            };
            match KINDS.iter().find(|(name, _)| *name == word) {
                Some((_, kind)) => {
                    let pieces = pieces(&spaced(pattern.trim())).map_err(fault)?;
                    let text = format!("{word}: {}", pattern.trim());
                    list.push(Directive { kind: *kind, line: number + 1, text, pieces });
                }
                None => {
                    let near = nearest(word, KINDS.iter().map(|(name, _)| *name));
                    if let Some(near) = near.first().filter(|_| word != "RUN") {
                        return Err(fault(format!("`{word}:` is no directive; did you mean `{near}`?")));
                    }
                    if word.starts_with("CHECK-") {
                        return Err(fault(format!("`{word}:` is no directive")));
                    }
                }
            }
        }
        if list.is_empty() {
            return Ok(None);
        }
        let directives = Directives { list };
        directives.refuse_what_always_holds()?;
        Ok(Some(directives))
    }

    fn refuse_what_always_holds(&self) -> Result<(), String> {
        for directive in &self.list {
            let is_plain = |piece: &PatternPiece| !matches!(piece, PatternPiece::Use(_));
            let always =
                directive.pieces.iter().all(is_plain) && directive.expression(&BTreeMap::new())?.is_match("");
            if always {
                return Err(format!("line {}: `{}` matches everything", directive.line, directive.text));
            }
        }
        if let Some(first) = self.list.iter().find(|directive| directive.kind != DirectiveKind::Not) {
            let needs_one_before = matches!(first.kind, DirectiveKind::Next | DirectiveKind::Same);
            let fault = format!("line {}: `{}` has no match before it", first.line, first.text);
            return if needs_one_before { Err(fault) } else { Ok(()) };
        }
        Err("the test demands only that something is missing, which an empty output fulfils".to_owned())
    }

    /// Checks all directives against an output.
    ///
    /// # Errors
    /// The first directive without a match, with the output there.
    pub(super) fn check(&self, output: &str) -> Result<(), String> {
        let output = output.lines().map(spaced).collect::<Vec<String>>().join("\n") + "\n";
        let mut start = 0;
        let mut begun = 0;
        let mut names = BTreeMap::new();
        for (number, directive) in self.list.iter().enumerate() {
            if directive.kind != DirectiveKind::Label {
                continue;
            }
            let label = directive.find(&output, start..output.len(), &mut BTreeMap::new())?;
            let label = label.ok_or_else(|| directive.not_found(&output, start))?;
            section(&self.list[begun..number], &output, start..label.start, &mut names)?;
            (start, begun) = (label.end, number + 1);
        }
        section(&self.list[begun..], &output, start..output.len(), &mut names)
    }
}

/// Checks directives without labels against a section of an output.
fn section(
    directives: &[Directive],
    output: &str,
    part: Range<usize>,
    names: &mut BTreeMap<String, String>,
) -> Result<(), String> {
    let mut at = part.start;
    let mut forbidden: Vec<&Directive> = Vec::new();
    let mut rest = directives;
    while let Some((directive, after)) = rest.split_first() {
        rest = after;
        let found = match directive.kind {
            DirectiveKind::Not => {
                forbidden.push(directive);
                continue;
            }
            DirectiveKind::Dag => {
                let more = after.iter().take_while(|other| other.kind == DirectiveKind::Dag).count();
                rest = &after[more..];
                let group = &directives[directives.len() - after.len() - 1..directives.len() - rest.len()];
                any_order(group, output, at..part.end, names)?
            }
            _ => {
                let range = directive.range(output, at, part.end);
                let found = directive.find(output, range.clone(), names)?;
                found.ok_or_else(|| directive.not_found(output, range.start))?
            }
        };
        refuse(&mut forbidden, output, at..found.start, names)?;
        at = found.end;
    }
    refuse(&mut forbidden, output, at..part.end, names)
}

/// Checks that nothing forbidden is in a section of an output.
fn refuse(
    forbidden: &mut Vec<&Directive>,
    output: &str,
    part: Range<usize>,
    names: &mut BTreeMap<String, String>,
) -> Result<(), String> {
    for directive in forbidden.drain(..) {
        if let Some(found) = directive.find(output, part.clone(), names)? {
            let line = output[..found.start].matches('\n').count();
            let said = output.lines().nth(line).unwrap_or_default();
            return Err(format!("line {}: `{}` is in the output:\n  {said}", directive.line, directive.text));
        }
    }
    Ok(())
}

/// Matches directives in any order; returns the range of their matches.
fn any_order(
    group: &[Directive],
    output: &str,
    part: Range<usize>,
    names: &mut BTreeMap<String, String>,
) -> Result<Range<usize>, String> {
    let mut taken: Vec<Range<usize>> = Vec::new();
    for directive in group {
        let mut from = part.start;
        let found = loop {
            let found = directive.find(output, from..part.end, names)?;
            let found = found.ok_or_else(|| directive.not_found(output, part.start))?;
            match taken.iter().find(|other| other.start < found.end && found.start < other.end) {
                Some(other) => from = other.end,
                None => break found,
            }
        };
        taken.push(found);
    }
    let start = taken.iter().map(|range| range.start).min().unwrap_or(part.start);
    Ok(start..taken.iter().map(|range| range.end).max().unwrap_or(start))
}

impl Directive {
    /// The range in which its match must begin, if the previous match ends at byte `at`.
    fn range(&self, output: &str, at: usize, end: usize) -> Range<usize> {
        let line_end = |at: usize| output[at..end].find('\n').map_or(end, |length| at + length);
        match self.kind {
            DirectiveKind::Same => at..line_end(at),
            DirectiveKind::Next => {
                let start = (line_end(at) + 1).min(end);
                start..line_end(start)
            }
            _ => at..end,
        }
    }

    fn expression(&self, names: &BTreeMap<String, String>) -> Result<Regex, String> {
        let mut text = String::from("(?m)");
        for piece in &self.pieces {
            text += &match piece {
                PatternPiece::Literal(literal) => regex_lite::escape(literal),
                PatternPiece::Expression(expression) => format!("(?:{expression})"),
                PatternPiece::Definition(name, expression) => format!("(?P<{name}>{expression})"),
                PatternPiece::Use(name) => match names.get(name) {
                    Some(known) => regex_lite::escape(known),
                    None => return Err(format!("line {}: nothing is called `{name}`", self.line)),
                },
            };
        }
        Regex::new(&text).map_err(|error| format!("line {}: `{}`: {error}", self.line, self.text))
    }

    /// Its first match within a section of an output; records the names it defines.
    fn find(
        &self,
        output: &str,
        part: Range<usize>,
        names: &mut BTreeMap<String, String>,
    ) -> Result<Option<Range<usize>>, String> {
        let expression = self.expression(names)?;
        let Some(captures) = expression.captures(&output[part.clone()]) else { return Ok(None) };
        for piece in &self.pieces {
            if let PatternPiece::Definition(name, _) = piece {
                let said = captures.name(name).map_or("", |found| found.as_str());
                names.insert(name.clone(), said.to_owned());
            }
        }
        Ok(captures.get(0).map(|found| part.start + found.start()..part.start + found.end()))
    }

    /// A message that it was not found, with the lines that were searched.
    fn not_found(&self, output: &str, from: usize) -> String {
        const SHOWN: usize = 8;
        let line = output[..from].matches('\n').count();
        let shown: Vec<String> =
            output.lines().skip(line).take(SHOWN).map(|line| format!("\n  {line}")).collect();
        format!(
            "line {}: `{}` is not in the output from its line {} on:{}",
            self.line,
            self.text,
            line + 1,
            shown.concat()
        )
    }
}

/// The word before a colon at the beginning of a comment, if it is spelt like a directive, and the rest.
fn directive_word(comment: &str) -> Option<(&str, &str)> {
    let (word, rest) = comment.trim_start().split_once(':')?;
    let is_written_so = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-';
    let begins_so = word.len() > 2 && word.starts_with(|c: char| c.is_ascii_uppercase());
    (begins_so && word.chars().all(is_written_so)).then_some((word, rest))
}

/// A text with runs of spaces replaced by one space.
fn spaced(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len());
    for c in text.chars() {
        let c = if c == '\t' { ' ' } else { c };
        if c != ' ' || !spaced.ends_with(' ') {
            spaced.push(c);
        }
    }
    spaced
}

/// Splits a pattern into pieces.
fn pieces(pattern: &str) -> Result<Vec<PatternPiece>, String> {
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        let (piece, length) = if let Some(inside) = rest.strip_prefix("{{") {
            let end = inside.find("}}").ok_or_else(|| format!("`{rest}` has no `}}}}`"))?;
            (PatternPiece::Expression(inside[..end].to_owned()), end + 4)
        } else if let Some((name, expression, length)) = name_of(rest) {
            let piece = match expression {
                Some(expression) => PatternPiece::Definition(name.to_owned(), expression.to_owned()),
                None => PatternPiece::Use(name.to_owned()),
            };
            (piece, length)
        } else {
            literal.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        };
        if !literal.is_empty() {
            pieces.push(PatternPiece::Literal(std::mem::take(&mut literal)));
        }
        pieces.push(piece);
        rest = &rest[length..];
    }
    if !literal.is_empty() {
        pieces.push(PatternPiece::Literal(literal));
    }
    Ok(pieces)
}

/// `[[NAME]]` or `[[NAME:expression]]` at the beginning of a text: the name, the expression, the length.
fn name_of(text: &str) -> Option<(&str, Option<&str>, usize)> {
    let inside = text.strip_prefix("[[")?;
    let length = inside.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
    let (name, rest) = inside.split_at(length);
    if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        return None;
    }
    if rest.starts_with("]]") {
        return Some((name, None, length + 4));
    }
    let expression = rest.strip_prefix(':')?;
    let end = expression.find("]]")?;
    // A bracket of the expression may come directly before the closing two: `[[X:%[a-z]]]`.
    let end = if expression[end + 1..].starts_with("]]") { end + 1 } else { end };
    Some((name, Some(&expression[..end]), length + 1 + end + 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "module {
  func.func @f(%arg0: tensor<4xf32>) {
    %0 = nn.exp %arg0   : tensor<4xf32>
    %1 = nn.relu %0 : tensor<4xf32>
    %2 = nn.abs %1 : tensor<4xf32>
  }
  func.func @g() {
    %0 = nn.tanh %arg0 {a = dense<[[1, 2]]>} : tensor<4xf32>
  }
}
";

    /// The result of checking directives against the output.
    fn check(directives: &[&str]) -> Result<(), String> {
        let text: String = directives.iter().map(|line| format!("  // {line}\n")).collect();
        Directives::read(&text)?.expect("there are directives").check(OUTPUT)
    }

    #[test]
    fn what_is_there_in_order_is_found() {
        assert_eq!(check(&["CHECK: nn.exp", "CHECK: nn.abs"]), Ok(()));
        assert_eq!(check(&["CHECK: nn.exp %arg0 : tensor"]), Ok(()), "runs of spaces are alike");
        assert!(check(&["CHECK: nn.abs", "CHECK: nn.exp"]).is_err());
        assert_eq!(check(&["CHECK: dense<[[1, 2]]>"]), Ok(()));
    }

    #[test]
    fn next_and_same_are_lines() {
        assert_eq!(check(&["CHECK: nn.exp", "CHECK-SAME: tensor<4xf32>", "CHECK-NEXT: nn.relu"]), Ok(()));
        assert!(check(&["CHECK: nn.exp", "CHECK-NEXT: nn.abs"]).is_err());
        assert!(check(&["CHECK: nn.exp", "CHECK-SAME: nn.relu"]).is_err());
        assert!(check(&["CHECK: nn.exp", "CHECK-SAME: %0 ="]).is_err());
    }

    #[test]
    fn what_is_forbidden_is_so_between_two_matches() {
        assert_eq!(check(&["CHECK: nn.exp", "CHECK-NOT: nn.abs", "CHECK: nn.relu"]), Ok(()));
        assert!(check(&["CHECK: nn.exp", "CHECK-NOT: nn.relu", "CHECK: nn.abs"]).is_err());
        assert!(check(&["CHECK: nn.exp", "CHECK-NOT: nn.tanh"]).is_err());
        assert_eq!(check(&["CHECK-LABEL: @f", "CHECK-NOT: nn.tanh", "CHECK-LABEL: @g"]), Ok(()));
    }

    #[test]
    fn labels_divide_the_output() {
        assert_eq!(check(&["CHECK-LABEL: @f", "CHECK: nn.abs", "CHECK-LABEL: @g", "CHECK: nn.tanh"]), Ok(()));
        assert!(check(&["CHECK-LABEL: @f", "CHECK: nn.tanh", "CHECK-LABEL: @g"]).is_err());
    }

    #[test]
    fn matches_in_any_order_do_not_overlap() {
        assert_eq!(
            check(&["CHECK-DAG: nn.abs", "CHECK-DAG: nn.exp", "CHECK-NOT: nn.exp", "CHECK: @g"]),
            Ok(())
        );
        assert_eq!(check(&["CHECK-DAG: @{{.}}(", "CHECK-DAG: @{{.}}("]), Ok(()));
        assert!(check(&["CHECK-DAG: @{{.}}(", "CHECK-DAG: @{{.}}(", "CHECK-DAG: @{{.}}("]).is_err());
    }

    #[test]
    fn names_stand_for_what_they_matched() {
        assert_eq!(check(&["CHECK: [[E:%[0-9]+]] = nn.exp", "CHECK: nn.relu [[E]] :"]), Ok(()));
        assert_eq!(check(&["CHECK: [[E:%[0-9]]] = nn.exp"]), Ok(()));
        assert!(check(&["CHECK: [[E:%[0-9]+]] = nn.exp", "CHECK: nn.abs [[E]] :"]).is_err());
        assert_eq!(check(&["CHECK: [[E]]"]), Err("line 1: nothing is called `E`".to_owned()));
    }

    #[test]
    fn what_can_not_fail_or_is_misspelt_is_refused() {
        let refused = |line: &str| Directives::read(&format!("// {line}\n")).map(|_| ()).expect_err(line);
        assert!(refused("CHEKC: a").ends_with("did you mean `CHECK`?"));
        assert!(refused("CHECK-NXT: a").ends_with("did you mean `CHECK-NEXT`?"));
        assert!(refused("CHECK-COUNT-2: a").contains("is no directive"));
        assert!(refused("CHECK: {{.*}}").ends_with("matches everything"));
        assert!(refused("CHECK:").ends_with("matches everything"));
        assert!(refused("CHECK-NOT: a").contains("an empty output"));
        assert!(refused("CHECK-NEXT: a").ends_with("has no match before it"));
        assert!(refused("CHECK a").ends_with("`CHECK` is not followed by a colon"));
        assert!(refused("CHECK-NOT : a").ends_with("`CHECK-NOT` is not followed by a colon"));
        assert!(refused("CHECK: {{a").contains("has no `}}`"));
        assert!(Directives::read("// RUN: a\n// NOTE: b\n// Check: c\n").is_ok_and(|found| found.is_none()));
    }
}
