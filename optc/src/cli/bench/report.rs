//! How the figures of a program are shown to people, and compared with older ones.

use std::fmt::Write;

use serde::Serialize;
use serde_json::Value;

use super::super::summary;
use crate::failure::Failure;

/// Figures are noisier than this share of them, whatever they say.
const LEAST_NOISE: f64 = 0.01;

/// What becomes of a latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum LatencyChange {
    Faster,
    Same,
    Slower,
}

/// The median latency beside an older one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Comparison {
    /// The new median over the old one.
    ratio: f64,
    /// By how large a share of itself the larger of the two medians may be off: its distance from the fastest
    /// run, at least a hundredth.
    noise: f64,
    verdict: LatencyChange,
}

impl Comparison {
    /// Compares the figures of two programs, or of one program on some inputs.
    ///
    /// # Errors
    /// If the older ones are no figures.
    pub(super) fn of(old: &Value, new: &Value) -> Result<Comparison, Failure> {
        let latency = |figures: &Value, key: &str| {
            let found = figures["latency_ms"][key].as_f64().filter(|ms| *ms > 0.0);
            found.ok_or_else(|| {
                Failure::input("the file of `--compare` has no latencies: it is not of `optc bench`")
            })
        };
        let noise = |figures: &Value| {
            let (median, fastest) = (latency(figures, "p50")?, latency(figures, "min")?);
            Ok::<f64, Failure>((median - fastest) / median)
        };
        let ratio = latency(new, "p50")? / latency(old, "p50")?;
        let noise = noise(old)?.max(noise(new)?).max(LEAST_NOISE);
        let verdict = match ratio {
            _ if ratio > 1.0 + noise => LatencyChange::Slower,
            _ if ratio < 1.0 / (1.0 + noise) => LatencyChange::Faster,
            _ => LatencyChange::Same,
        };
        Ok(Comparison { ratio, noise, verdict })
    }

    fn words(&self) -> String {
        let noise = format!("{:.1} % of noise", self.noise * 100.0);
        match self.verdict {
            LatencyChange::Slower => format!("{:.2} x the time of before: slower ({noise})", self.ratio),
            LatencyChange::Faster => format!("{:.2} x the time of before: faster ({noise})", self.ratio),
            LatencyChange::Same => format!("{:.2} x the time of before: no difference ({noise})", self.ratio),
        }
    }
}

/// The figures as a table for people: of the program, and of its runs on each of some inputs.
pub(super) fn table(name: &str, figures: &Value, cases: &[(Value, Option<Comparison>)]) -> String {
    let mut text = String::new();
    let mut line = |what: &str, said: String| {
        writeln!(text, "{what:12} {said}").expect("writing to a string");
    };
    let ms = |figures: &Value, key: &str| figures[key].as_f64().unwrap_or(0.0);
    let bytes = |figures: &Value, key: &str| summary::bytes(figures[key].as_u64().unwrap_or(0));
    let threads = figures["threads"].as_u64().unwrap_or(1) as usize;
    line("program", format!("{name}, {}", summary::counted(threads, "thread")));
    line("load", format!("{:9.2} ms", ms(figures, "load_ms")));
    line("compile", format!("{:9.2} ms", ms(figures, "compile_ms")));
    line("weights", bytes(figures, "weights_bytes"));
    line("process", format!("{} at most", bytes(figures, "peak_rss_bytes")));
    for (case, comparison) in cases {
        if let Some(sizes) = case["sizes"].as_object() {
            let sizes: Vec<String> = sizes.iter().map(|(name, size)| format!("{name}={size}")).collect();
            line("at", format!("{} (found in {} us)", sizes.join(", "), case["specialize_us"]));
        }
        let latency = &case["latency_ms"];
        line("first run", format!("{:9.2} ms", ms(case, "first_run_ms")));
        line(
            "latency",
            format!(
                "{:9.2} ms, the median of {} runs; fastest {:.2}, 9 of 10 below {:.2}",
                ms(latency, "p50"),
                latency["runs"],
                ms(latency, "min"),
                ms(latency, "p90")
            ),
        );
        if let Some(comparison) = comparison {
            line("", comparison.words());
        }
        line("arena", bytes(case, "arena_bytes"));
        line("allocations", format!("{} a run", case["allocations_per_run"]));
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn figures(min: f64, p50: f64) -> Value {
        json!({ "latency_ms": { "min": min, "p50": p50, "p90": p50 * 1.2, "runs": 5 } })
    }

    #[test]
    fn a_difference_counts_if_it_is_larger_than_the_noise_of_both() {
        let verdict = |old: &Value, new: &Value| Comparison::of(old, new).expect("they are figures").verdict;
        assert_eq!(verdict(&figures(9.9, 10.0), &figures(10.4, 10.5)), LatencyChange::Slower);
        assert_eq!(verdict(&figures(10.4, 10.5), &figures(9.9, 10.0)), LatencyChange::Faster);
        assert_eq!(verdict(&figures(9.0, 10.0), &figures(10.4, 10.5)), LatencyChange::Same);
        assert_eq!(verdict(&figures(9.9, 10.0), &figures(9.0, 10.5)), LatencyChange::Same);
        assert_eq!(verdict(&figures(10.0, 10.0), &figures(10.05, 10.05)), LatencyChange::Same);
        assert!(Comparison::of(&json!({}), &figures(1.0, 1.0)).is_err());
    }
}
