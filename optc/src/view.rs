//! The interactive view of a plan: one self-contained page with its data and its script, without network
//! access.
//!
//! It shows one plan, one plan at each point of a grid of named sizes, or two plans side by side. The plans
//! of a grid are computed beforehand, by the code that a run uses, so that each is exact at its point. The 36
//! plans of GPT-2 take 1.9 MB. A planner in the page would need passes and IR in WebAssembly, besides the
//! program itself, and its content security policy would have to allow code compiled in the page.
//!
//! Names from a model are data: they are in a JSON text in which every `<` is escaped, and the script inserts
//! them into the page as text.

mod columns;

use ir::{Diagnostic, Op};
use serde::Serialize;

use crate::explain::{Explained, Grid, SizePoints};
use crate::levers::Lever;
use crate::module_diff::{FunctionDiff, ValueMatch};
use crate::plan_report::{OverlapReport, PoolReport, names};
use columns::{StepColumns, ValueColumns};

const PAGE: &str = include_str!("view/plan.html");
const STYLE: &str = include_str!("view/plan.css");

/// The script's parts, in order.
const SCRIPT: [&str; 5] = [
    include_str!("view/data.js"),
    include_str!("view/paint.js"),
    include_str!("view/about.js"),
    include_str!("view/list.js"),
    include_str!("view/page.js"),
];

/// The data of a page.
#[derive(Serialize)]
struct PageData<'a> {
    title: &'a str,
    /// The plans: one, two to compare, or one for each point of a grid, with the last size varying fastest.
    /// None if the program can't have the sizes.
    plans: Vec<Option<PlanData<'a>>>,
    /// The named sizes, if there are plans for several.
    sizes: &'a [SizePoints],
    /// The matching values of two plans.
    matches: Option<Vec<ValueMatch>>,
}

/// The data of a plan: the plan's report, live ranges, and remarks. Its text comes after the script, so that
/// a large plan is drawn before its text is parsed.
#[derive(Serialize)]
struct PlanData<'a> {
    title: &'a str,
    pools: &'a [PoolReport],
    naive_bytes: u64,
    weights_bytes: u64,
    steps: StepColumns<'a>,
    values: ValueColumns<'a>,
    overlaps: &'a [OverlapReport],
    live_bytes: &'a [u64],
    peak: usize,
    levers: &'a [Lever],
    /// The remarks on the operation that computes a value, by the value's name.
    remarks: Vec<(String, String)>,
    #[serde(skip)]
    text: String,
}

impl<'a> PlanData<'a> {
    fn of(title: &'a str, explained: &'a Explained, levers: &'a [Lever]) -> PlanData<'a> {
        let Explained { planned, report, memory, .. } = explained;
        let body = explained.body();
        PlanData {
            title,
            pools: &report.pools,
            naive_bytes: report.naive_bytes,
            weights_bytes: report.weights_bytes,
            steps: StepColumns::of(&report.steps),
            values: ValueColumns::of(&report.values),
            overlaps: &report.overlaps,
            live_bytes: &memory.live_bytes,
            peak: memory.peak,
            levers,
            remarks: remarks_by_value(explained),
            text: ir::text::print_body(&planned.ctx, body),
        }
    }
}

/// The page of a plan, with a title, and options that would lower its arena.
pub fn page(title: &str, explained: &Explained, levers: &[Lever]) -> String {
    let plans = vec![Some(PlanData::of(title, explained, levers))];
    render(&PageData { title, plans, sizes: &[], matches: None })
}

/// The page of a plan for named sizes, with a slider for each.
pub fn page_of_sizes(title: &str, grid: &Grid) -> String {
    let plans = grid.plans.iter().map(|plan| Some(PlanData::of(title, plan.as_ref()?, &[])));
    render(&PageData { title, plans: plans.collect(), sizes: &grid.sizes, matches: None })
}

/// The page of two plans side by side, each with its title.
pub fn page_of_two(titles: [&str; 2], plans: [&Explained; 2]) -> String {
    let [before, after] = plans.map(|plan| (&*plan.planned.ctx, plan.body()));
    let diff = FunctionDiff::of(String::new(), before, after);
    let matches = diff.plan.map(|plan| plan.values).unwrap_or_default();
    let plans = titles.into_iter().zip(plans).map(|(title, plan)| Some(PlanData::of(title, plan, &[])));
    let title = titles.join(" and ");
    render(&PageData { title: &title, plans: plans.collect(), sizes: &[], matches: Some(matches) })
}

/// Inserts the data into the page. Inserted text is not searched for placeholders.
fn render(data: &PageData<'_>) -> String {
    let texts = data.plans.iter().map(|plan| plan.as_ref().map(|plan| &plan.text));
    let mut page = String::new();
    let mut rest = PAGE;
    let parts = [
        ("@STYLE@", STYLE.to_owned()),
        ("@DATA@", script_text(data)),
        ("@SCRIPT@", SCRIPT.concat()),
        ("@TEXTS@", script_text(&texts.collect::<Vec<_>>())),
    ];
    for (place, part) in parts {
        let (before, after) = rest.split_once(place).expect("the page has a place for each part");
        page += before;
        page += &part;
        rest = after;
    }
    page + rest
}

/// JSON data for a script element of the page.
fn script_text(data: &impl Serialize) -> String {
    serde_json::to_string(data).expect("a report is plain JSON").replace('<', "\\u003c")
}

/// The remarks on the operations that compute values, by the name of the first value.
fn remarks_by_value(explained: &Explained) -> Vec<(String, String)> {
    let body = explained.body();
    let Some(block) = body.entry(body.root()) else { return Vec::new() };
    let names = names(body, block);
    let remark = |(op, remark): (Op, &Diagnostic)| {
        let result = body.results(op).next()?;
        Some((names[result].clone(), remark.message.clone()))
    };
    explained.remarks_by_op().into_iter().filter_map(remark).collect()
}
