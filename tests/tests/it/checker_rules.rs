//! That each rule of the plan checker refuses some almost correct plan, and which damage shows it.
//!
//! A rule is a message of the checker's sources. Planned programs are damaged in all ways of
//! [`tests::damage`]; every message must occur for one of them, or be quoted by the checker's unit tests.
//! `docs/CHECKER.md` lists the rules with the kinds of damage that break them: `OPTC_BLESS=1` writes it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;

use ir::Module;
use passes::manager::RunOptions;
use tests::damage::damages;
use tests::messages::{messages, quotes};
use tests::random::Random;
use tests::source::literals;
use tests::workspace::{files, root};

use crate::damaged_plans::{PIPELINES, sources};

const PAGE: &str = "docs/CHECKER.md";
const HEAD: &str = "# What the checker of plans refuses

The checker (`passes/src/check`) verifies every plan before code is generated from it. Each row of the table
is the message of one of its rules, with the kinds of damage (`tests/src/damage.rs`) that break the rule in
the test `every_rule_of_the_checker_refuses_some_damaged_plan`; `unit tests` are those in the checker's own
folder. If the checker accepts a damaged plan, the plan must still compute the right numbers while dead memory
is overwritten as early as possible: `tests/tests/it/damaged_plans.rs`.

| rule | broken by |
|---|---|
";
/// The greatest number of damaged plans of each program.
const MOST: usize = 700;

/// The messages of the checker's sources, and the literals of its unit tests.
fn rules() -> (BTreeSet<String>, Vec<String>) {
    let mut rules = BTreeSet::new();
    let mut tested = Vec::new();
    for file in files(&["rs"]) {
        if file.path.starts_with("passes/src/check") {
            if file.path.ends_with("tests.rs") {
                tested.extend(literals(&file.text).into_iter().map(|literal| literal.text));
            } else {
                rules.extend(messages(&file.text).into_iter().map(|message| message.text));
            }
        }
    }
    (rules, tested)
}

/// The messages about damaged plans of a program, with the kind of damage.
fn said(module: &Module, seed: u64, found: &mut BTreeMap<String, BTreeSet<&'static str>>) {
    let pipeline = PIPELINES[seed as usize % 2];
    let mut planned = module.clone();
    if optc::run_pipeline(&mut planned, pipeline, &RunOptions::new(codegen::Cpu::native())).is_err() {
        return;
    }
    let Some(body) = planned.function("main") else { return };
    let mut all = damages(&planned.ctx, body);
    let mut random = Random::new(seed);
    while all.len() > MOST {
        all.swap_remove(random.below(all.len()));
    }
    for damage in all {
        let mut damaged = body.clone();
        damage.apply(&planned.ctx, &mut damaged);
        for fault in passes::check::check(&planned.ctx, &damaged) {
            found.entry(fault.message).or_default().insert(damage.kind);
        }
    }
}

#[test]
fn every_rule_of_the_checker_refuses_some_damaged_plan() {
    let (rules, tested) = rules();
    assert!(rules.len() > 25, "only {} rules were found", rules.len());
    let mut found = BTreeMap::new();
    sources().iter().enumerate().for_each(|(seed, module)| said(module, seed as u64, &mut found));
    let mut page = HEAD.to_owned();
    let mut unseen = Vec::new();
    for rule in &rules {
        let quoting = found.iter().filter(|(message, _)| quotes(message, rule));
        let mut kinds: BTreeSet<&str> = quoting.flat_map(|(_, kinds)| kinds.iter().copied()).collect();
        if kinds.is_empty() && tested.iter().any(|text| quotes(text, rule)) {
            kinds.insert("unit tests");
        }
        if kinds.is_empty() {
            unseen.push(rule);
        }
        let kinds: Vec<&str> = kinds.into_iter().collect();
        writeln!(page, "| {rule} | {} |", kinds.join(", ")).expect("a string takes all");
    }
    assert!(unseen.is_empty(), "no damaged plan and no unit test breaks: {unseen:#?}");
    let path = root().join(PAGE);
    if std::env::var_os("OPTC_BLESS").is_some() {
        fs::write(&path, &page).expect("the page can be written");
    }
    assert_eq!(fs::read_to_string(&path).unwrap_or_default(), page, "{PAGE}: OPTC_BLESS=1 writes it");
}
