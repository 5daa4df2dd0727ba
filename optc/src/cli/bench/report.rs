//! The figures of `optc bench`: printing, and comparison with older ones.

use std::collections::BTreeMap;
use std::fmt::{Display, Write};
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::super::summary;
use crate::failure::Failure;

/// What `--json` writes.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::cli) struct BenchReport {
    pub(super) version: u32,
    pub(super) threads: usize,
    pub(super) load_ms: f64,
    pub(super) compile_ms: f64,
    /// Bytes of weights, packed for the kernels.
    pub(super) weights_bytes: usize,
    /// The peak memory of the process, if the system reports it.
    pub(super) peak_rss_bytes: Option<u64>,
    /// The runs on the inputs, or on the first of several.
    #[serde(flatten)]
    pub(super) first: InputFigures,
    /// The runs on each of several inputs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) inputs: Vec<InputFigures>,
}

/// The runs on some inputs, at their sizes.
#[derive(Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct InputFigures {
    /// The named sizes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) sizes: BTreeMap<String, u64>,
    /// The time to place buffers at these sizes; none if they were used before, or no size has a name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) specialize_us: Option<f64>,
    pub(super) first_run_ms: f64,
    pub(super) latency_ms: Latency,
    pub(super) arena_bytes: usize,
    /// None in a tool that does not count allocations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) allocations_per_run: Option<u64>,
    /// The comparison with the file of `--compare`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) compare: Option<Comparison>,
}

/// Times of runs, in milliseconds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Latency {
    pub(super) min: f64,
    pub(super) p50: f64,
    pub(super) p90: f64,
    /// The number of runs.
    pub(super) runs: u64,
}

/// The part of an older report that is compared.
#[derive(Deserialize)]
pub(super) struct OldReport {
    #[serde(flatten)]
    first: OldFigures,
    #[serde(default)]
    inputs: Vec<OldFigures>,
}

#[derive(Deserialize)]
struct OldFigures {
    latency_ms: Latency,
}

impl OldReport {
    /// Reads the output of `--json`.
    ///
    /// # Errors
    /// If the file can't be read, or is no such report.
    pub(super) fn read(path: &Path) -> Result<OldReport, Failure> {
        let fault = |error: &dyn Display| Failure::input(format!("{}: {error}", path.display()));
        let text = fs::read_to_string(path).map_err(|error| fault(&error))?;
        let report = serde_json::from_str(&text);
        report.map_err(|error| fault(&format!("it is not what `optc bench --json` writes: {error}")))
    }

    /// The latency on the inputs with this index.
    pub(super) fn latency(&self, number: usize) -> Latency {
        self.inputs.get(number).unwrap_or(&self.first).latency_ms
    }
}

/// The noise is at least this share of the latency.
const LEAST_NOISE: f64 = 0.01;

/// The result of a comparison of latencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(super) enum LatencyChange {
    Faster,
    Same,
    Slower,
}

/// The median latency, compared with an older one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Comparison {
    /// The new median over the old one.
    ratio: f64,
    /// The noise, as a share of the larger median: its distance from the fastest run, at least a hundredth.
    noise: f64,
    verdict: LatencyChange,
}

impl Comparison {
    /// Compares the latencies of two programs, or of one program on two occasions.
    pub(super) fn of(old: &Latency, new: &Latency) -> Comparison {
        let noise_of = |latency: &Latency| (latency.p50 - latency.min) / latency.p50;
        let ratio = new.p50 / old.p50;
        let noise = noise_of(old).max(noise_of(new)).max(LEAST_NOISE);
        let verdict = match ratio {
            _ if ratio > 1.0 + noise => LatencyChange::Slower,
            _ if ratio < 1.0 / (1.0 + noise) => LatencyChange::Faster,
            _ => LatencyChange::Same,
        };
        Comparison { ratio, noise, verdict }
    }

    fn words(&self) -> String {
        let noise = format!("{:.1} % of noise", self.noise * 100.0);
        match self.verdict {
            LatencyChange::Slower => format!("{:.2} times the old latency: slower ({noise})", self.ratio),
            LatencyChange::Faster => format!("{:.2} times the old latency: faster ({noise})", self.ratio),
            LatencyChange::Same => {
                format!("{:.2} times the old latency: no difference ({noise})", self.ratio)
            }
        }
    }
}

impl BenchReport {
    /// The figures as a table for people.
    pub(super) fn table(&self, name: &str) -> String {
        let mut text = String::new();
        let mut line = |what: &str, said: String| {
            writeln!(text, "{what:12} {said}").expect("writing to a string");
        };
        line("program", format!("{name}, {}", summary::counted(self.threads, "thread")));
        line("load", format!("{:9.2} ms", self.load_ms));
        line("compile", format!("{:9.2} ms", self.compile_ms));
        line("weights", summary::bytes(self.weights_bytes as u64));
        if let Some(bytes) = self.peak_rss_bytes {
            line("process", format!("{} at most", summary::bytes(bytes)));
        }
        let cases = if self.inputs.is_empty() { std::slice::from_ref(&self.first) } else { &self.inputs };
        for case in cases {
            case.lines(&mut line);
        }
        text
    }
}

impl InputFigures {
    fn lines(&self, line: &mut impl FnMut(&str, String)) {
        if !self.sizes.is_empty() {
            let sizes: Vec<String> = self.sizes.iter().map(|(name, size)| format!("{name}={size}")).collect();
            let cost = self.specialize_us.map_or(String::new(), |cost| format!(" (found in {cost:.0} us)"));
            line("at", sizes.join(", ") + &cost);
        }
        let Latency { min, p50, p90, runs } = self.latency_ms;
        line("first run", format!("{:9.2} ms", self.first_run_ms));
        let spread = format!("fastest {min:.2}, 9 of 10 below {p90:.2}");
        line("latency", format!("{p50:9.2} ms, the median of {runs} runs; {spread}"));
        if let Some(comparison) = &self.compare {
            line("", comparison.words());
        }
        line("arena", summary::bytes(self.arena_bytes as u64));
        if let Some(count) = self.allocations_per_run {
            line("allocations", format!("{count} a run"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(min: f64, p50: f64) -> Latency {
        Latency { min, p50, p90: p50 * 1.2, runs: 5 }
    }

    #[test]
    fn a_difference_counts_if_it_is_larger_than_the_noise_of_both() {
        let verdict = |old: &Latency, new: &Latency| Comparison::of(old, new).verdict;
        assert_eq!(verdict(&figures(9.9, 10.0), &figures(10.4, 10.5)), LatencyChange::Slower);
        assert_eq!(verdict(&figures(10.4, 10.5), &figures(9.9, 10.0)), LatencyChange::Faster);
        assert_eq!(verdict(&figures(9.0, 10.0), &figures(10.4, 10.5)), LatencyChange::Same);
        assert_eq!(verdict(&figures(9.9, 10.0), &figures(9.0, 10.5)), LatencyChange::Same);
        assert_eq!(verdict(&figures(10.0, 10.0), &figures(10.05, 10.05)), LatencyChange::Same);
    }
}
