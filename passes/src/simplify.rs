//! Algebraic simplification by equality saturation.
//!
//! The pure operations of a block are added to an e-graph, which represents all programs equal to the
//! function's by the registered laws: ours ([`crate::laws`]) and those of other crates. The cheapest of these
//! programs is written back.
//!
//! ```text
//! %1 = nn.conv2d %x, %w                       %k = scale / sqrt(variance + epsilon)       evaluated
//! %2 = nn.batch_norm %1, scale, ...     =>    %w2 = nn.mul %w, %k                         once, at load
//! %3 = nn.sigmoid %2                          %c = bias - mean * %k
//! %4 = nn.mul %2, %3                          %2 = nn.conv2d %x, %w2, %c
//!                                             %4 = nn.silu %2
//! ```
//!
//! Laws never weigh costs: that is left to the cost model. A batch norm is folded into its convolution only
//! if nothing else reads the convolution, because otherwise the program would need two of them.
//!
//! Growth is limited in rounds and nodes, never in time, and nothing depends on the numbering of handles: the
//! same program always gives the same result. Source: egg (Willsey et al. 2021), of which this uses the
//! e-graph itself (its union-find, congruence and analyses of classes). Patterns and their matcher are those
//! of [`crate::rewrite`], shared with `canonicalize`. Rounds are those of `saturate.rs`, whose order does not
//! depend on hashes. `extract.rs` chooses the program at the cost of a DAG, where egg's own extractor counts
//! a shared node once per reader.

mod cost;
mod extract;
mod fold;
mod graph;
mod nodes;
mod rebuild;
mod run;
mod saturate;
mod terms;

#[cfg(test)]
mod tests;

use ir::{Block, Body, Diagnostic, Location, Region};

use crate::dce::remove_dead;
use crate::manager::{Example, OptionDef, OptionKind, PassContext, PassDef, PassRun, Stage, StageRule};
use crate::rewrite::{Law, RuleSet};
use graph::{GraphFacts, LawGraph};
use run::{BlockRun, GraphEntries};
use saturate::SaturationLimits;

/// The pass `simplify`.
pub static SIMPLIFY: PassDef = PassDef {
    name: "simplify",
    doc: "Replaces the function's arithmetic by the cheapest that is equal by all laws, those that hold to the bit \
          and those that hold for numbers as they round: constants folded, batch norms put into convolutions, \
          idioms found, views joined, dead code removed.",
    options: &[
        OptionDef {
            name: "laws",
            kind: OptionKind::Text,
            default: "",
            doc: "Names of the laws to use, joined by `+`; empty for all.",
        },
        OptionDef {
            name: "rounds",
            kind: OptionKind::Int { min: 0, max: 1000 },
            default: "16",
            doc: "Maximum number of rounds of applying all laws.",
        },
        OptionDef {
            name: "nodes",
            kind: OptionKind::Int { min: 0, max: 100_000_000 },
            default: "100000",
            doc: "Maximum number of nodes of an e-graph, which begins with at most 4096 operations and grows \
                  to 64 times its size at most, and 2048 nodes beside.",
        },
    ],
    example: Example {
        before: r#"func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.sigmoid %x : tensor<4xf32>
  %1 = nn.mul %x, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}"#,
        after: r#"module {
  func.func @f(%arg0: tensor<4xf32>) -> tensor<4xf32> attributes {optc.stage = "simplify"} {
    %0 = nn.silu %arg0 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}"#,
    },
    stage: StageRule::Is(Stage::Simplify),
    run: PassRun::Function(run_pass),
};

fn run_pass(cx: &PassContext<'_>, func: &mut Body) -> Result<(), Vec<Diagnostic>> {
    let only = cx.options.text("laws");
    let only: Vec<&str> = only.split('+').filter(|name| !name.is_empty()).collect();
    unknown_laws(cx.rules, &only)?;
    let laws: Vec<&Law> =
        cx.rules.laws().filter(|law| only.is_empty() || only.contains(&law.name())).collect();
    let size = |name: &str| usize::try_from(cx.options.int(name)).expect("the option's least value is 0");
    let limits = SaturationLimits { rounds: size("rounds"), nodes: size("nodes") };
    for root in func.roots().to_vec() {
        simplify_region(cx, func, root, limits, &laws);
    }
    if cx.changes.allow(|| "what is not read is removed".to_owned()) {
        cx.count("removed", remove_dead(cx.ctx, func));
    }
    Ok(())
}

/// Refuses names that are no laws.
fn unknown_laws(rules: &RuleSet, names: &[&str]) -> Result<(), Vec<Diagnostic>> {
    let known = || rules.laws().map(Law::name);
    let is_known = |name: &str| known().any(|law| law == name);
    let error = |name: &&str| {
        let help = ir::diag::did_you_mean(name, known());
        let message = format!("`simplify` has no law `{name}`");
        Diagnostic { help, ..Diagnostic::error(Location::UNKNOWN, message) }
    };
    let errors: Vec<Diagnostic> = names.iter().filter(|name| !is_known(name)).map(error).collect();
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

fn simplify_region(
    cx: &PassContext<'_>,
    body: &mut Body,
    region: Region,
    limits: SaturationLimits,
    laws: &[&Law],
) {
    for block in body.blocks(region).to_vec() {
        let nested: Vec<Region> = body.ops(block).flat_map(|op| body.regions(op).to_vec()).collect();
        for region in nested {
            simplify_region(cx, body, region, limits, laws);
        }
        simplify_block(cx, body, block, limits, laws);
    }
}

fn simplify_block(
    cx: &PassContext<'_>,
    body: &mut Body,
    block: Block,
    limits: SaturationLimits,
    laws: &[&Law],
) {
    for ops in run::runs(body, block) {
        if !cx
            .changes
            .allow(|| "constants are folded, and what is computed twice is computed once".to_owned())
        {
            return;
        }
        let mut graph = LawGraph::new(GraphFacts::new(cx.ctx));
        let entries = GraphEntries::new(&mut graph, body, ops);
        graph.rebuild();
        for (law, count) in saturate::saturate(&mut graph, limits, laws, &cx.changes) {
            cx.count(law, count);
        }
        let run = BlockRun::settle(&graph, entries);
        let roots = run.roots(cx.ctx, body);
        let choice = extract::extract(&graph, &roots, &run.places, &run.originals);
        cx.count("made", rebuild::rebuild(&graph, body, &run, &choice));
    }
}
