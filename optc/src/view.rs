//! The picture of a plan: one page that needs no network, with its data, its script and nothing else.
//!
//! Names of a model are data: they stand in a JSON text in which no `<` is left, and the script puts them on
//! the page as text.

use std::collections::HashMap;

use ir::{Body, Location};
use passes::manager::Remark;
use serde::Serialize;

use crate::explain::Explained;
use crate::levers::Lever;
use crate::plan_report::{PlanReport, names};

const PAGE: &str = include_str!("view/plan.html");
const SCRIPT: &str = include_str!("view/plan.js");

/// The data of a page, beside those of [`PlanReport`].
#[derive(Serialize)]
struct PageData<'a> {
    title: &'a str,
    #[serde(flatten)]
    report: &'a PlanReport,
    live_bytes: &'a [u64],
    peak: usize,
    levers: &'a [Lever],
    /// What was remarked on the operation that makes a value.
    remarks: Vec<(String, String)>,
    /// The function's text.
    text: String,
}

/// The page of a plan, under a title of a few words, with what would lower its arena.
pub fn page(title: &str, explained: &Explained, levers: &[Lever]) -> String {
    let Explained { planned, report, memory, remarks, .. } = explained;
    let body = explained.body();
    let data = PageData {
        title,
        report,
        live_bytes: &memory.live_bytes,
        peak: memory.peak,
        levers,
        remarks: remarks_by_value(body, remarks),
        text: ir::text::print_body(&planned.ctx, body),
    };
    let data = serde_json::to_string(&data).expect("a report is plain JSON").replace('<', "\\u003c");
    let (before, rest) = PAGE.split_once("@DATA@").expect("the page has a place for data");
    let (between, after) = rest.split_once("@SCRIPT@").expect("the page has a place for its script");
    [before, &data, between, SCRIPT, after].concat()
}

/// The remarks on the operations that make values, each by the name of the first value.
fn remarks_by_value(body: &Body, remarks: &[Remark]) -> Vec<(String, String)> {
    let Some(block) = body.entry(body.root()) else { return Vec::new() };
    let names = names(body, block);
    let mut at: HashMap<Location, Vec<&str>> = HashMap::new();
    for Remark { diagnostic, .. } in
        remarks.iter().filter(|remark| remark.diagnostic.location != Location::UNKNOWN)
    {
        at.entry(diagnostic.location).or_default().push(&diagnostic.message);
    }
    let mut found = Vec::new();
    for op in body.ops(block) {
        let Some(result) = body.results(op).next() else { continue };
        for message in at.get(&body.location(op)).into_iter().flatten() {
            found.push((names[result].clone(), (*message).to_owned()));
        }
    }
    found
}
