//! How the text of a file becomes one that holds its mutants, and which of them a place belongs to.

use std::ops::Range;

use crate::find::{Change, Mutant};

/// A file's text with its mutants, and where each of them is in it.
pub struct Rewritten {
    /// The text.
    pub text: String,
    /// For each mutant its number and its bytes of the text.
    pub places: Vec<(u32, Range<usize>)>,
}

/// The text with the mutants of these numbers. Their ranges nest, as those of expressions do.
#[must_use]
pub fn rewrite(text: &str, mutants: &[(u32, &Mutant)]) -> Rewritten {
    let mut sorted: Vec<&(u32, &Mutant)> = mutants.iter().collect();
    // Those around others come first.
    sorted.sort_by_key(|(number, mutant)| (mutant.range.start, usize::MAX - mutant.range.end, *number));
    let mut out = Rewritten { text: String::new(), places: Vec::new() };
    let mut rest = &sorted[..];
    span(text, 0..text.len(), &mut rest, &mut out);
    out
}

/// Writes a range of the text, whose mutants are the first of `rest`.
fn span(text: &str, range: Range<usize>, rest: &mut &[&(u32, &Mutant)], out: &mut Rewritten) {
    let mut at = range.start;
    while let Some((number, mutant)) = rest.first().filter(|(_, mutant)| mutant.range.end <= range.end) {
        out.text.push_str(&text[at..mutant.range.start]);
        let start = out.text.len();
        *rest = &rest[1..];
        let (before, after) = match &mutant.change {
            Change::Expression(other) => {
                (format!("(if ::mutant::on({number}) {{ {other} }} else {{ "), " })")
            }
            Change::Leave => (format!("if !::mutant::on({number}) {{ "), " }"),
            Change::Return(value) => (format!(" if ::mutant::on({number}) {{ return {value}; }} "), ""),
        };
        out.text.push_str(&before);
        let index = out.places.len();
        out.places.push((*number, start..start));
        span(text, mutant.range.clone(), rest, out);
        out.text.push_str(after);
        out.places[index].1.end = out.text.len();
        at = mutant.range.end;
    }
    out.text.push_str(&text[at..range.end]);
}

impl Rewritten {
    /// The mutants to leave out for a fault at these bytes: the innermost around it, or else those of the
    /// same few lines.
    #[must_use]
    pub fn at_fault(&self, bytes: &Range<usize>) -> Vec<u32> {
        let around =
            self.places.iter().filter(|(_, place)| place.start <= bytes.start && bytes.end <= place.end);
        if let Some((number, _)) = around.min_by_key(|(_, place)| place.len()) {
            return vec![*number];
        }
        let within = |place: &Range<usize>| bytes.start < place.end && place.start < bytes.end;
        let inner: Vec<u32> =
            self.places.iter().filter(|(_, place)| within(place)).map(|(number, _)| *number).collect();
        if !inner.is_empty() {
            return inner;
        }
        let line = |at: usize| self.text[..at].matches('\n').count();
        let fault = line(bytes.start);
        let distance = |place: &Range<usize>| line(place.start).abs_diff(fault);
        let near = self.places.iter().map(|(number, place)| (distance(place), *number)).min();
        near.map(|(_, number)| number).into_iter().collect()
    }
}
