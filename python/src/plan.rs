//! A plan, as numbers and as a page.

use optc::Explained;
use pyo3::prelude::*;
use serde_json::json;

use crate::module::ParsedModule;

/// A program's plan, as it is read by `optc.Plan`.
#[pyclass(frozen, module = "optc._native", name = "Plan")]
pub(crate) struct ExplainedPlan {
    pub(crate) explained: Explained,
    /// Bytes of arena that are enough at all sizes, where that is known.
    pub(crate) bound_bytes: Option<usize>,
}

#[pymethods]
impl ExplainedPlan {
    /// The report of `optc plan --json`, with what is live at each step.
    fn to_json(&self, py: Python<'_>) -> String {
        py.detach(|| {
            let Explained { sizes, memory, report, .. } = &self.explained;
            let sizes: serde_json::Map<String, serde_json::Value> =
                sizes.iter().map(|(name, size)| (name.clone(), json!(size))).collect();
            let data = json!({
                "sizes": sizes,
                "arena_bytes": memory.arena_bytes,
                "bound_bytes": self.bound_bytes,
                "peak": memory.peak,
                "live_bytes": memory.live_bytes,
                "report": report,
            });
            data.to_string()
        })
    }

    fn to_html(&self, py: Python<'_>, title: &str) -> String {
        py.detach(|| optc::view::page(title, &self.explained, &[]))
    }

    /// The planned program.
    fn module(&self) -> ParsedModule {
        ParsedModule::new(self.explained.planned.clone())
    }
}
