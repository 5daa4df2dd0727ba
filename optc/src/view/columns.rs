//! The tables of a page, stored by column: a browser reads 100,000 values in a tenth of a second.
//!
//! Sequences of similar numbers are stored as differences, and repeated words by index.

use std::collections::HashMap;

use serde::Serialize;

use crate::plan_report::{StepReport, ValueReport};

/// The values of a plan.
#[derive(Serialize)]
pub(super) struct ValueColumns<'a> {
    name: Vec<&'a str>,
    /// The step minus that of the previous value.
    step: Vec<i64>,
    pool: WordColumn<'a>,
    offset: Vec<u64>,
    size_bytes: Vec<u64>,
    /// The first step minus `step`.
    first: Vec<i64>,
    /// The last step minus `first`.
    last: Vec<i64>,
    /// The row of its root minus its own.
    root: Vec<i64>,
    kind: WordColumn<'a>,
    /// Empty for scratch.
    #[serde(rename = "type")]
    ty: WordColumn<'a>,
}

impl<'a> ValueColumns<'a> {
    pub(super) fn of(values: &'a [ValueReport]) -> ValueColumns<'a> {
        let numbers = |number: &dyn Fn(&ValueReport) -> i64| values.iter().map(number).collect::<Vec<i64>>();
        ValueColumns {
            name: values.iter().map(|value| &*value.name).collect(),
            step: differences(values.iter().map(|value| value.step)),
            pool: WordColumn::of(values.iter().map(|value| &*value.pool)),
            offset: values.iter().map(|value| value.offset).collect(),
            size_bytes: values.iter().map(|value| value.size_bytes).collect(),
            first: numbers(&|value| value.first as i64 - value.step as i64),
            last: numbers(&|value| value.last as i64 - value.first as i64),
            root: roots(values),
            kind: WordColumn::of(values.iter().map(|value| value.kind)),
            ty: WordColumn::of(values.iter().map(|value| value.ty.as_deref().unwrap_or(""))),
        }
    }
}

/// The steps of a plan.
#[derive(Serialize)]
pub(super) struct StepColumns<'a> {
    /// The index minus that of the previous step.
    index: Vec<i64>,
    op: WordColumn<'a>,
    name: Vec<&'a str>,
}

impl<'a> StepColumns<'a> {
    pub(super) fn of(steps: &'a [StepReport]) -> StepColumns<'a> {
        StepColumns {
            index: differences(steps.iter().map(|step| step.index)),
            op: WordColumn::of(steps.iter().map(|step| &*step.op)),
            name: steps.iter().map(|step| &*step.name).collect(),
        }
    }
}

/// A column with few different words.
#[derive(Serialize)]
struct WordColumn<'a> {
    /// The words, without duplicates.
    words: Vec<&'a str>,
    /// For each row, the index of its word.
    at: Vec<usize>,
}

impl<'a> WordColumn<'a> {
    fn of(column: impl Iterator<Item = &'a str>) -> WordColumn<'a> {
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        let mut words = Vec::new();
        let number = |word: &'a str| {
            *numbers.entry(word).or_insert_with(|| {
                words.push(word);
                words.len() - 1
            })
        };
        let at = column.map(number).collect();
        WordColumn { words, at }
    }
}

/// The differences of consecutive numbers; the first number is kept.
fn differences(numbers: impl Iterator<Item = usize>) -> Vec<i64> {
    let mut before = 0;
    let difference = |number: usize| {
        let difference = number as i64 - before;
        before = number as i64;
        difference
    };
    numbers.map(difference).collect()
}

/// For each value, the row of its root minus its own. If the root is in a nested block and has no row, the
/// first value that shares its bytes is used.
fn roots(values: &[ValueReport]) -> Vec<i64> {
    let mut rows: HashMap<&str, usize> = HashMap::new();
    for (row, value) in values.iter().enumerate().rev() {
        rows.insert(&value.root, row);
    }
    rows.extend(values.iter().enumerate().map(|(row, value)| (&*value.name, row)));
    values.iter().enumerate().map(|(row, value)| rows[&*value.root] as i64 - row as i64).collect()
}
