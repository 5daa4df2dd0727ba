//! Conversion of TfIdfVectorizer: the number of occurrences of short sequences of numbers in each row.
//!
//! For all sequences of one length, and each distance between their numbers, all windows of the row are
//! compared with all sequences, and the matches are counted.

use ir::{Dim, Value};

use crate::onnx::call::{NodeConversion, Refusal, Results};

/// Sequences of one length.
struct Grams<'a> {
    length: usize,
    /// The index of the first among all sequences.
    first: usize,
    /// Their numbers, one sequence after the other.
    numbers: &'a [i64],
}

impl Grams<'_> {
    fn count(&self) -> usize {
        self.numbers.len() / self.length
    }

    /// The number of occurrences of each sequence in each row of `[rows, size]`, with its numbers this far
    /// apart, as `[rows, 1, count]`; none if it is longer than a row.
    fn hits(
        &self,
        call: &mut NodeConversion<'_, '_>,
        x: Value,
        size: u64,
        distance: usize,
    ) -> Result<Option<Value>, Refusal> {
        let reach = ((self.length - 1) * distance) as u64;
        let Some(windows) = size.checked_sub(reach).filter(|windows| *windows > 0) else { return Ok(None) };
        let rows = call.dims(x)?[0];
        let mut all = None;
        for place in 0..self.length {
            let start = Dim::Known((place * distance) as u64);
            let numbers = call.part(x, 1, start, Dim::Known(windows))?;
            let numbers = call.reshape_to(numbers, &[rows, Dim::Known(windows), Dim::Known(1)])?;
            let own: Vec<i64> = self.numbers.iter().skip(place).step_by(self.length).copied().collect();
            let own = call.int64_constant(&own, &[1, 1, own.len() as u64])?;
            let is_same = call.two("nn.eq", numbers, own)?;
            all = Some(all.map_or(Ok(is_same), |all| call.two("nn.and", all, is_same))?);
        }
        let all = call.cast(all.ok_or("sequences without numbers")?, call.ctx().f32())?;
        Ok(Some(call.folded("sum", all, &[1])?))
    }
}

/// The sequences of each length from 1 on.
fn by_length<'a>(pool: &'a [i64], starts: &[i64]) -> Result<Vec<Grams<'a>>, Refusal> {
    let mut found = Vec::new();
    let mut first = 0;
    for (index, start) in starts.iter().enumerate() {
        let end = starts.get(index + 1).copied().unwrap_or(pool.len() as i64);
        let numbers = usize::try_from(*start).ok().zip(usize::try_from(end).ok());
        let numbers = numbers.and_then(|(start, end)| pool.get(start..end)).unwrap_or_default();
        let length = index + 1;
        if end < *start || numbers.len() % length != 0 || numbers.len() as i64 != end - start {
            return Err("`ngram_counts` does not say where sequences of each length begin".into());
        }
        found.push(Grams { length, first, numbers });
        first += numbers.len() / length;
    }
    Ok(found)
}

/// The greatest length of a sequence, and the greatest distance between two of its numbers.
const MOST_NUMBERS: usize = 256;

/// TfIdfVectorizer.
pub(crate) fn tf_idf_vectorizer(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    if call.node.strings("pool_strings")?.is_some() {
        return Err("a pool of strings, expected numbers".into());
    }
    let int = |name: &str| -> Result<usize, Refusal> {
        let number = call.node.int(name)?.and_then(|number| usize::try_from(number).ok());
        number.filter(|number| *number < MOST_NUMBERS).ok_or_else(|| format!("`{name}` is no size").into())
    };
    let (least, most, skips) = (int("min_gram_length")?, int("max_gram_length")?, int("max_skip_count")?);
    let pool = call.node.ints("pool_int64s")?.ok_or("`pool_int64s` is left out")?;
    let starts = call.node.ints("ngram_counts")?.ok_or("`ngram_counts` is left out")?;
    let grams = by_length(pool, starts)?;
    let outputs = Outputs::of(call, grams.iter().map(Grams::count).sum())?;
    let shape = call.dims(x)?;
    let (rows, size) = match shape[..] {
        [size] => (Dim::Known(1), size),
        [rows, size] => (rows, size),
        _ => return Err("an input of other than one or two axes".into()),
    };
    let size = size.known().ok_or("rows of a length that is not known")?;
    let x = call.reshape_to(x, &[rows, Dim::Known(size)])?;
    let int64 = call.ctx().int(64);
    let x = call.cast(x, int64)?;
    // Columns of zeros are used for sequences that are not counted, and for results without a sequence.
    let zeros = call.numbers(&[0.0], &[])?;
    let mut columns = vec![super::pick::broadcast(call, zeros, &[rows, Dim::Known(1)])?];
    let mut column_of = vec![0; outputs.places.len()];
    let mut next = 1;
    for grams in &grams {
        let is_counted = (least..=most).contains(&grams.length) && grams.count() > 0;
        if !is_counted {
            continue;
        }
        // A single number has no distances.
        let distances = if grams.length == 1 { 1 } else { skips + 1 };
        let mut sum = None;
        for distance in 1..=distances {
            let Some(hits) = grams.hits(call, x, size, distance)? else { break };
            sum = Some(sum.map_or(Ok(hits), |sum| call.two("nn.add", sum, hits))?);
        }
        let Some(sum) = sum else { continue };
        columns.push(call.reshape_to(sum, &[rows, Dim::Known(grams.count() as u64)])?);
        for index in 0..grams.count() {
            column_of[grams.first + index] = next;
            next += 1;
        }
    }
    let all = call.concatenated(&columns, 1)?;
    let mut wanted = vec![0; outputs.count];
    for (place, column) in outputs.places.iter().zip(column_of) {
        wanted[*place] = column;
    }
    let wanted = call.int64_constant(&wanted, &[outputs.count as u64])?;
    let counts = call.emit("nn.gather", &[all, wanted], &[("axis", call.ctx().int_attr(1))])?;
    let y = outputs.weighted(call, counts)?;
    let y_shape = [&shape[..shape.len() - 1], &[Dim::Known(outputs.count as u64)]].concat();
    Ok(vec![call.reshape_to(y, &y_shape)?])
}

/// The positions of the sequences' counts in the result, and their mapping.
struct Outputs {
    count: usize,
    places: Vec<usize>,
    weights: Option<Vec<f64>>,
    weighing: Weighing,
}

/// The mapping of counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Weighing {
    Counts,
    Weights,
    WeightedCounts,
}

/// The greatest number of results of a row.
const MOST_RESULTS: usize = 1 << 24;

impl Outputs {
    fn of(call: &NodeConversion<'_, '_>, grams: usize) -> Result<Outputs, Refusal> {
        let weighing = match call.node.text("mode")?.unwrap_or_default() {
            "TF" => Weighing::Counts,
            "IDF" => Weighing::Weights,
            "TFIDF" => Weighing::WeightedCounts,
            other => return Err(format!("`mode` {other:?}, expected TF, IDF or TFIDF").into()),
        };
        let places = call.node.ints("ngram_indexes")?.ok_or("`ngram_indexes` is left out")?;
        let places: Option<Vec<usize>> = places
            .iter()
            .map(|place| usize::try_from(*place).ok().filter(|place| *place < MOST_RESULTS))
            .collect();
        let places = places.filter(|places| places.len() == grams);
        let places = places.ok_or("`ngram_indexes` is not a place for each sequence")?;
        let distinct: std::collections::BTreeSet<usize> = places.iter().copied().collect();
        if distinct.len() < places.len() {
            return Err("`ngram_indexes` has a place twice".into());
        }
        let count = distinct.last().map_or(0, |last| last + 1);
        let weights = call.node.floats("weights")?.filter(|weights| !weights.is_empty());
        let weights = weights.filter(|_| weighing != Weighing::Counts);
        if weights.is_some_and(|weights| weights.len() != grams || !places.iter().copied().eq(0..grams)) {
            // The standard's text indexes weights by sequence, its implementations by position.
            return Err("`weights` of sequences whose places are not in their order".into());
        }
        let weights = weights.map(|weights| weights.iter().map(|weight| f64::from(*weight)).collect());
        Ok(Outputs { count, places, weights, weighing })
    }

    fn weighted(&self, call: &mut NodeConversion<'_, '_>, counts: Value) -> Result<Value, Refusal> {
        let mut y = counts;
        if self.weighing == Weighing::Weights {
            let is_there = call.with_number("nn.gt", counts, 0.0)?;
            y = call.cast(is_there, call.ctx().f32())?;
        }
        let Some(weights) = &self.weights else { return Ok(y) };
        let weights = call.numbers(weights, &[1, weights.len() as u64])?;
        call.two("nn.mul", y, weights)
    }
}
