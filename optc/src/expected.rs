//! Expected diagnostics: checks that a program gives exactly those that its comments announce.
//!
//! ```text
//! %1 = nn.neg %0 : tensor<4xf32>   // expected-error {{part of the message}}
//! // expected-remark@-1 {{of the line above}}
//! // expected-error@unknown {{of no line}}
//! ```
//!
//! Every error, warning and remark must be announced, and every announcement must be met; notes are checked
//! only if some are announced.

use ir::{Context, Diagnostic, Location, LocationData, Severity};

/// One announcement.
pub(crate) struct Expectation {
    /// Its own line, for messages.
    at: usize,
    kind: &'static str,
    /// The line of the diagnostic; none for one without a line.
    line: Option<usize>,
    part: String,
}

const KINDS: [&str; 4] = ["error", "warning", "remark", "note"];

/// Reads the announcements of the text called `name`.
///
/// # Errors
/// If one is not of the form above.
pub(crate) fn read(name: &str, text: &str) -> Result<Vec<Expectation>, String> {
    let mut out = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let Some((_, comment)) = line.split_once("//") else { continue };
        for announced in comment.split("expected-").skip(1) {
            let at = number + 1;
            out.push(announcement(announced, at).ok_or_else(|| {
                format!("{name}:{at}: `expected-` is not followed by `error@+1 {{{{part of the message}}}}` or the like")
            })?);
        }
    }
    Ok(out)
}

fn announcement(text: &str, at: usize) -> Option<Expectation> {
    let kind = KINDS.into_iter().find(|kind| text.starts_with(kind))?;
    let (place, rest) = text[kind.len()..].split_once("{{")?;
    let (part, _) = rest.split_once("}}")?;
    let line = match place.trim().strip_prefix('@') {
        None if place.trim().is_empty() => Some(at),
        None => return None,
        Some("unknown") => None,
        Some(line) => Some(match line.chars().next()? {
            '+' => at.checked_add(line[1..].parse().ok()?)?,
            '-' => at.checked_sub(line[1..].parse().ok()?)?,
            _ => line.parse().ok()?,
        }),
    };
    Some(Expectation { at, kind, line, part: part.to_owned() })
}

/// Compares diagnostics with announcements.
///
/// # Errors
/// A line for each announcement that was not met, and for each diagnostic that was not announced.
pub(crate) fn compare(
    ctx: &Context,
    name: &str,
    expectations: &[Expectation],
    told: &[Diagnostic],
) -> Result<(), Vec<String>> {
    let mut open: Vec<&Expectation> = expectations.iter().collect();
    let mut faults = Vec::new();
    for diagnostic in told {
        let kind = match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Remark => "remark",
        };
        if !meet(&mut open, kind, line_of(ctx, name, diagnostic.location), &diagnostic.message) {
            faults.push(format!("not announced: {}", diagnostic.render(ctx)));
        }
        for (location, note) in &diagnostic.notes {
            meet(&mut open, "note", line_of(ctx, name, *location), note);
        }
    }
    faults.extend(
        open.iter().map(|open| {
            format!("{name}:{}: expected, but not emitted: {} `{}`", open.at, open.kind, open.part)
        }),
    );
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

/// Removes the first announcement that matches.
fn meet(open: &mut Vec<&Expectation>, kind: &str, line: Option<usize>, message: &str) -> bool {
    let fits = |open: &&Expectation| open.kind == kind && open.line == line && message.contains(&open.part);
    let found = open.iter().position(fits);
    found.map(|found| open.remove(found)).is_some()
}

/// The line of a location in the text called `name`.
fn line_of(ctx: &Context, name: &str, location: Location) -> Option<usize> {
    if let Some(offset) = location.source_offset() {
        let source = ctx.source_at(offset).filter(|source| source.name == name)?;
        return Some(source.place((offset - source.start) as usize).line as usize);
    }
    match ctx.location_data(location) {
        LocationData::FileLineCol { file, line, .. } if ctx.str(*file) == name => Some(*line as usize),
        LocationData::Fused { parts, .. } => parts.iter().find_map(|part| line_of(ctx, name, *part)),
        LocationData::Name { child, .. } => line_of(ctx, name, *child),
        LocationData::CallSite { callee, .. } => line_of(ctx, name, *callee),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, told: &[(u32, &str)], expected: &str) {
        let ctx = Context::new();
        let start = ctx.add_source("t", text.to_owned()).start;
        let offset =
            |line: u32| text.lines().take(line as usize - 1).map(|line| line.len() as u32 + 1).sum::<u32>();
        let place =
            |line| if line == 0 { Location::UNKNOWN } else { Location::at_source(start + offset(line)) };
        let told: Vec<_> =
            told.iter().map(|(line, message)| Diagnostic::error(place(*line), *message)).collect();
        let found = read("t", text).map_err(|fault| vec![fault]);
        let found = found.and_then(|expected| compare(&ctx, "t", &expected, &told));
        assert_eq!(found.err().unwrap_or_default().join("\n"), expected);
    }

    #[test]
    fn announcements_are_met_by_line_and_part() {
        check(
            "a // expected-error {{bad}}\n// expected-error@-1 {{worse}}",
            &[(1, "a bad b"), (1, "worse")],
            "",
        );
        check("// expected-error@+1 {{x}}\nb\n// expected-error@unknown {{y}}", &[(0, "y"), (2, "x")], "");
    }

    #[test]
    fn what_is_not_met_or_not_announced_is_told() {
        check("// expected-error@2 {{x}}\nb", &[], "t:1: expected, but not emitted: error `x`");
        check("// expected-error@2 {{x}}\nb", &[(2, "yx"), (0, "z")], "not announced: error: z");
    }

    #[test]
    fn a_malformed_announcement_is_an_error() {
        check(
            "// expected-eror {{x}}",
            &[],
            "t:1: `expected-` is not followed by `error@+1 {{part of the message}}` or the like",
        );
    }
}
