//! Tests that every law needs each of its conditions, and holds whenever they hold.
//!
//! Left sides are drawn at random from the cases of a law, or from common sizes, with other attributes,
//! sizes, constants and element types. If the law applies, both sides must compute the same. Without one of
//! its conditions, there must be a left side for which they differ.

use ir::{Context, OpDef, Type};

use super::cases::{CASES, LawCase};
use super::random::{attributes, sizes};
use super::tests::{FLOATS, INTEGERS, Program, difference, laws, moderate, other_numbers, special, written};
use crate::place::random::Random;
use crate::rewrite::Law;
use crate::rewrite::pattern::Pattern;

/// The number of left sides drawn per law to test that it holds.
const TRIALS: u64 = 400;
/// The limit of left sides drawn to find that a condition is needed.
const MOST_TRIALS: u64 = 3_000;
/// The sizes of the variables of laws that have no cases.
const SIZES: [&str; 8] = ["2x3", "3", "3x3", "1x1", "", "0x3", "2x1", "1x3"];

/// A left side of a law, or a slight variation of one; none if some `OpDef` refuses it.
fn left_side(ctx: &Context, law: &Law, seed: u64) -> Option<Program> {
    let mut random = Random(seed);
    let cases: Vec<&LawCase> = CASES.iter().filter(|case| case.0 == law.name()).collect();
    let is_scalar = law.root().starts_with("arith.");
    let case = (!cases.is_empty()).then(|| cases[random.range(0, cases.len() as u64 - 1) as usize]);
    let given: Vec<String> = match case {
        Some(case) => case.1.iter().map(|text| sizes(text, &mut random)).collect(),
        None => {
            let first = SIZES[random.range(0, 7) as usize].to_owned();
            let other = SIZES[random.range(0, 7) as usize].to_owned();
            let same = is_scalar || random.range(0, 1) == 0;
            vec![first.clone(), if same { first.clone() } else { other }, first]
        }
    };
    let is_number = is_scalar && random.range(0, 2) == 0;
    let vars: Vec<Option<&str>> = given.iter().map(|text| (!is_number).then_some(text.as_str())).collect();
    let constants = match (is_scalar, random.range(0, 1)) {
        (true, _) => vars[0],
        (false, 0) => Some(""),
        (false, _) => vars[0],
    };
    let others = other_numbers(law.left());
    let pattern: &Pattern = match random.range(0, 3) {
        0 if !others.is_empty() => &others[random.range(0, others.len() as u64 - 1) as usize],
        _ => law.left(),
    };
    let elems: Vec<&str> = FLOATS.into_iter().chain(INTEGERS).collect();
    let elem = match random.range(0, 1) {
        0 if !is_scalar => "f32",
        _ => elems[random.range(0, elems.len() as u64 - 1) as usize],
    };
    let case_attrs = case.map_or(&[][..], |case| case.2);
    let mut attrs = |number: usize, def: &'static OpDef, types: &[Type]| {
        attributes(ctx, def, types, written(ctx, case_attrs, number, elem), &mut random)
    };
    let weights = if law.is_exact() { special } else { moderate };
    Program::write_with(ctx, (pattern, elem), (&vars, constants), &mut attrs, weights)
}

#[test]
fn laws_hold_of_all_attributes_sizes_and_types() {
    let mut faults = Vec::new();
    for law in laws() {
        let ctx = Context::new();
        for program in (0..TRIALS).filter_map(|seed| left_side(&ctx, &law, seed)) {
            if let Some(rewritten) = program.rewritten(&ctx, &law) {
                faults.extend(difference(&ctx, &law, &program, &[&rewritten]));
            }
        }
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults[..faults.len().min(10)].join("\n"));
}

#[test]
fn every_condition_of_a_law_is_needed() {
    let mut faults = Vec::new();
    for law in laws() {
        let ctx = Context::new();
        for (index, condition) in law.conditions().iter().enumerate() {
            let without = law.without(index);
            let is_seen = (0..MOST_TRIALS).filter_map(|seed| left_side(&ctx, &law, seed)).any(|program| {
                let refused = program.rewritten(&ctx, &law).is_none();
                let rewritten = program.rewritten(&ctx, &without).filter(|_| refused);
                rewritten.is_some_and(|other| difference(&ctx, &law, &program, &[&other]).is_some())
            });
            if !is_seen {
                faults.push(format!("{}: applies as well where not: {}", law.name(), condition.doc));
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}
