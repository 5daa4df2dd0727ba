//! Conversion of operators that look into strings: RegexFullMatch, StringConcat, StringNormalizer and
//! StringSplit.
//!
//! A program moves and compares strings, but creates none (see [`ir::strings`]). So the operands of these
//! operators must be known at import, and their results are constants. Behaviour that the standard leaves
//! open follows ONNX's reference implementation: upper and lower case are those of Unicode.

use ir::strings::{digests, is_string};
use ir::{Blob, Value};

use crate::onnx::call::{NodeConversion, Refusal, Results};
use crate::onnx::element::Element;
use crate::onnx::weights::Weight;

/// Known strings, and their shape.
struct KnownStrings {
    shape: Vec<u64>,
    strings: Vec<&'static str>,
}

impl KnownStrings {
    fn of(call: &NodeConversion<'_, '_>, index: usize) -> Result<KnownStrings, Refusal> {
        let value = call.operand(index)?;
        if !is_string(call.ctx(), call.element(value)) {
            return Err(format!("input {index} does not hold strings").into());
        }
        Ok(KnownStrings { shape: call.shape(value)?, strings: call.known_strings(index)? })
    }

    /// The string at an index of another shape, to which this one is broadcast.
    fn stretched(&self, index: &[u64]) -> &'static str {
        let own = &index[index.len() - self.shape.len()..];
        let pairs = own.iter().zip(&self.shape);
        self.strings[pairs.fold(0, |at, (index, size)| at * size + index.min(&(size - 1))) as usize]
    }
}

fn constant(call: &mut NodeConversion<'_, '_>, shape: &[u64], strings: &[String]) -> Result<Value, Refusal> {
    let bytes = digests(strings.iter().map(|string| string.as_bytes()))?;
    let weight = Weight { element: Element::String, dims: shape.to_vec(), blob: Blob::from_bytes(bytes) };
    call.constant(weight, call.node.outputs[0])
}

/// StringConcat: each string of the first operand with that of the second after it.
pub(crate) fn string_concat(call: &mut NodeConversion<'_, '_>) -> Results {
    let (a, b) = (KnownStrings::of(call, 0)?, KnownStrings::of(call, 1)?);
    let rank = a.shape.len().max(b.shape.len());
    let size = |of: &KnownStrings, axis: usize| {
        (axis + of.shape.len()).checked_sub(rank).map_or(1, |axis| of.shape[axis])
    };
    let mut shape = Vec::new();
    for axis in 0..rank {
        shape.push(match (size(&a, axis), size(&b, axis)) {
            (a, b) if a == b || b == 1 => a,
            (1, b) => b,
            _ => return Err(format!("shapes {:?} and {:?} do not broadcast", a.shape, b.shape).into()),
        });
    }
    let mut strings = Vec::new();
    for number in 0..shape.iter().product() {
        let index = index_of(number, &shape);
        strings.push([a.stretched(&index), b.stretched(&index)].concat());
    }
    Ok(vec![constant(call, &shape, &strings)?])
}

/// The index along each axis of the element with this flat index.
fn index_of(mut number: u64, shape: &[u64]) -> Vec<u64> {
    let mut index = vec![0; shape.len()];
    for (axis, size) in shape.iter().enumerate().rev() {
        index[axis] = number % size;
        number /= size;
    }
    index
}

/// StringNormalizer: the strings that are no stop words, in upper or lower case; one empty string if there
/// are none.
pub(crate) fn string_normalizer(call: &mut NodeConversion<'_, '_>) -> Results {
    let given = KnownStrings::of(call, 0)?;
    let batch = match given.shape[..] {
        [_] => &[][..],
        [1, _] => &[1][..],
        _ => return Err(format!("strings of shape {:?}, expected [C] or [1, C]", given.shape).into()),
    };
    if let Some(locale) = call.node.text("locale")?.filter(|locale| !matches!(*locale, "" | "en_US")) {
        return Err(format!("`locale` {locale:?}, expected \"en_US\"").into());
    }
    let heeds_case = call.node.truth("is_case_sensitive")?.unwrap_or(false);
    let compared = |text: &str| if heeds_case { text.to_owned() } else { text.to_lowercase() };
    let stopwords = call.node.strings("stopwords")?.unwrap_or_default();
    let stopwords: Vec<String> = stopwords.into_iter().map(compared).collect();
    let change: fn(&str) -> String = match call.node.text("case_change_action")?.unwrap_or("NONE") {
        "LOWER" => str::to_lowercase,
        "UPPER" => str::to_uppercase,
        "NONE" => str::to_owned,
        other => return Err(format!("`case_change_action` {other:?}").into()),
    };
    let kept = given.strings.iter().filter(|string| !stopwords.contains(&compared(string)));
    let mut strings: Vec<String> = kept.map(|string| change(string)).collect();
    if strings.is_empty() {
        strings.push(String::new());
    }
    let shape = [batch, &[strings.len() as u64]].concat();
    Ok(vec![constant(call, &shape, &strings)?])
}

/// StringSplit: the pieces of each string along a new last axis, with empty strings after them, and how many
/// pieces there are.
pub(crate) fn string_split(call: &mut NodeConversion<'_, '_>) -> Results {
    let given = KnownStrings::of(call, 0)?;
    let delimiter = call.node.text("delimiter")?.unwrap_or_default();
    let most = match call.node.int("maxsplit")? {
        Some(most) if most >= 0 => most as usize,
        _ => usize::MAX,
    };
    let pieces: Vec<Vec<&str>> =
        given.strings.iter().map(|string| pieces_of(string, delimiter, most)).collect();
    let width = pieces.iter().map(Vec::len).max().unwrap_or(0);
    let counts: Vec<i64> = pieces.iter().map(|pieces| pieces.len() as i64).collect();
    let padded = pieces.iter().flat_map(|pieces| {
        let empty = std::iter::repeat_n("", width - pieces.len());
        pieces.iter().copied().chain(empty).map(str::to_owned)
    });
    let padded: Vec<String> = padded.collect();
    let strings = constant(call, &[&given.shape[..], &[width as u64]].concat(), &padded)?;
    Ok(vec![strings, call.int64_constant(&counts, &given.shape)?])
}

/// RegexFullMatch: whether an expression matches the whole of each string. ONNX's expressions are those of
/// RE2. Syntax that `regex-lite` lacks is refused, and so are options such as `(?i)` together with non-ASCII
/// characters.
pub(crate) fn regex_full_match(call: &mut NodeConversion<'_, '_>) -> Results {
    let given = KnownStrings::of(call, 0)?;
    let pattern = call.node.text("pattern")?.ok_or("`pattern` is left out")?;
    let is_ascii = pattern.is_ascii() && given.strings.iter().all(|string| string.is_ascii());
    if pattern.contains("(?") && !is_ascii {
        return Err("an expression with options, of more than letters of ASCII".into());
    }
    let whole = regex_lite::Regex::new(&format!(r"\A(?:{pattern})\z"));
    let whole = whole.map_err(|fault| format!("`pattern` {pattern:?}: {fault}"))?;
    let matches: Vec<i64> = given.strings.iter().map(|string| whole.is_match(string).into()).collect();
    let matches = call.int64_constant(&matches, &given.shape)?;
    let truth = call.ctx().int(1);
    Ok(vec![call.cast(matches, truth)?])
}

/// The text between the first `most` delimiters, and after these. Without a delimiter, pieces are separated
/// by any white space, and leading white space is skipped.
fn pieces_of<'t>(text: &'t str, delimiter: &str, most: usize) -> Vec<&'t str> {
    if !delimiter.is_empty() {
        return text.splitn(most.saturating_add(1), delimiter).collect();
    }
    let mut pieces = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let end = rest.find(char::is_whitespace).filter(|_| pieces.len() < most).unwrap_or(rest.len());
        pieces.push(&rest[..end]);
        rest = rest[end..].trim_start();
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_those_of_python() {
        let check = |text: &str, delimiter: &str, most: usize, expected: &[&str]| {
            assert_eq!(pieces_of(text, delimiter, most), expected, "{text:?} at {delimiter:?}");
        };
        check("a.b.c", ".", usize::MAX, &["a", "b", "c"]);
        check("a..c", ".", usize::MAX, &["a", "", "c"]);
        check("a.b.c", ".", 1, &["a", "b.c"]);
        check("a.b.c", ".", 0, &["a.b.c"]);
        check("", ".", usize::MAX, &[""]);
        check("  a \t b  ", "", usize::MAX, &["a", "b"]);
        check("  a  b  c ", "", 1, &["a", "b  c "]);
        check(" a b", "", 0, &["a b"]);
        check("  ", "", usize::MAX, &[]);
    }
}
