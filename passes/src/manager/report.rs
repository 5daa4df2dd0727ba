//! The report of a pipeline's run: times, counts, remarks.

use std::fmt::Write;
use std::time::Duration;

use ir::Diagnostic;
use serde_json::{Value, json};

/// The report of a pipeline's run.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The time of each element.
    pub timing: Timing,
    /// The statistics, in the order of the pipeline.
    pub statistics: Vec<Statistic>,
    /// The remarks, in the order of the pipeline and, within a pass, of the text.
    pub remarks: Vec<Remark>,
    /// The number of changes of each pass, in the order of the pipeline.
    pub changes: Vec<PassChanges>,
}

/// The changes of one run of a pass (see [`Changes`](super::Changes)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassChanges {
    /// The pass.
    pub pass: &'static str,
    /// The number of changes.
    pub count: u64,
    /// The last change, if it reached a limit.
    pub last: Option<String>,
}

/// A number that a pass counted, over all functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statistic {
    /// The pass.
    pub pass: &'static str,
    /// What is counted.
    pub name: &'static str,
    /// The count.
    pub count: u64,
}

/// A remark of a pass: what it did, or why it did not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// The pass.
    pub pass: &'static str,
    /// The remark.
    pub diagnostic: Diagnostic,
}

/// The wall-clock time of an element of a pipeline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// The pass, the nest, `verify`, or `total`.
    pub name: String,
    /// Its time, including its children.
    pub time: Duration,
    /// Its parts.
    pub children: Vec<Timing>,
}

impl Timing {
    /// A tree with one line per element: milliseconds, share of the total, name.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        self.write_lines(&mut out, 0, self.time);
        out
    }

    /// `{"name", "ms", "children"}`.
    pub fn to_json(&self) -> Value {
        let children: Vec<Value> = self.children.iter().map(Timing::to_json).collect();
        json!({ "name": self.name, "ms": self.time.as_secs_f64() * 1e3, "children": children })
    }

    fn write_lines(&self, out: &mut String, depth: usize, whole: Duration) {
        let share = 100.0 * self.time.as_secs_f64() / whole.as_secs_f64().max(f64::MIN_POSITIVE);
        let indent = 2 * depth;
        let ms = self.time.as_secs_f64() * 1e3;
        writeln!(out, "{ms:10.3} ms {share:5.1} % {:indent$}{}", "", self.name).expect("writing to a string");
        for child in &self.children {
            child.write_lines(out, depth + 1, whole);
        }
    }
}

impl Report {
    /// One line per statistic: pass, count, name.
    pub fn statistics_text(&self) -> String {
        let lines = self.statistics.iter();
        lines.map(|line| format!("{:12} {:10} {}\n", line.pass, line.count, line.name)).collect()
    }
}
