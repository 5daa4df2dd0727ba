//! How a function's algebra is made simpler.
//!
//! Equality saturation: the pure operations of a block go into an e-graph, which holds all programs that are equal to the
//! function's by a table of laws (`laws.rs`); the cheapest of them goes back.
//!
//! ```text
//! %1 = nn.conv2d %x, %w                       %k = scale / sqrt(variance + epsilon)       evaluated
//! %2 = nn.batch_norm %1, scale, ...     =>    %w2 = nn.mul %w, %k                         once, at load
//! %3 = nn.sigmoid %2                          %c = bias - mean * %k
//! %4 = nn.mul %2, %3                          %2 = nn.conv2d %x, %w2, %c
//!                                             %4 = nn.silu %2
//! ```
//!
//! Laws never weigh whether they pay: that is the cost's part. A batch norm goes into its convolution only where nothing
//! else reads the convolution, because else the program would hold two of them.
//!
//! Growth is bounded in rounds and nodes, never in time, and nothing depends on how handles are numbered: the same program
//! always becomes the same program. Sources: egg (Willsey et al. 2021); for the choice of the program see `extract.rs`.

mod cost;
mod extract;
mod fold;
mod graph;
mod laws;
mod matching;
mod rebuild;
mod run;
mod saturate;

#[cfg(test)]
mod tests;

use ir::{Block, Body, Diagnostic, Location, Region};

use crate::dce::remove_dead;
use crate::manager::{Example, OptionDef, OptionKind, PassContext, PassDef, PassRun, Stage, StageRule};
use graph::{Facts, Graph};
use run::{Entries, Run};
use saturate::Limits;

/// The pass `simplify`.
pub static SIMPLIFY: PassDef = PassDef {
    name: "simplify",
    doc: "Replaces the function's arithmetic by the cheapest that is equal by a table of laws: constants folded, batch \
          norms put into convolutions, idioms found, views joined, dead code removed.",
    options: &[
        OptionDef {
            name: "laws",
            kind: OptionKind::Text,
            default: "",
            doc: "Names of the only laws to use, with `+` between them; empty: all.",
        },
        OptionDef {
            name: "rounds",
            kind: OptionKind::Int { min: 0, max: 1000 },
            default: "16",
            doc: "Most rounds of applying all laws.",
        },
        OptionDef {
            name: "nodes",
            kind: OptionKind::Int { min: 0, max: 100_000_000 },
            default: "100000",
            doc: "Most nodes of an e-graph, which holds at most 4096 operations to begin with.",
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
    unknown_laws(&only)?;
    let size = |name: &str| usize::try_from(cx.options.int(name)).expect("the option's least value is 0");
    let limits = Limits { rounds: size("rounds"), nodes: size("nodes") };
    let uses = |law: &str| only.is_empty() || only.contains(&law);
    for root in func.roots().to_vec() {
        simplify_region(cx, func, root, limits, &uses);
    }
    cx.count("removed", remove_dead(cx.ctx, func));
    Ok(())
}

/// The names of all laws: what the option `laws` takes.
pub fn law_names() -> impl Iterator<Item = &'static str> {
    laws::LAWS.iter().map(|law| law.name)
}

/// Refuses names that no law has.
fn unknown_laws(names: &[&str]) -> Result<(), Vec<Diagnostic>> {
    let is_known = |name: &str| law_names().any(|law| law == name);
    let error = |name: &&str| {
        let help = ir::diag::did_you_mean(name, law_names());
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
    limits: Limits,
    uses: &dyn Fn(&str) -> bool,
) {
    for block in body.blocks(region).to_vec() {
        let nested: Vec<Region> = body.ops(block).flat_map(|op| body.regions(op).to_vec()).collect();
        for region in nested {
            simplify_region(cx, body, region, limits, uses);
        }
        simplify_block(cx, body, block, limits, uses);
    }
}

fn simplify_block(
    cx: &PassContext<'_>,
    body: &mut Body,
    block: Block,
    limits: Limits,
    uses: &dyn Fn(&str) -> bool,
) {
    for ops in run::runs(body, block) {
        let mut graph = Graph::new(Facts::new(cx.ctx));
        let entries = Entries::new(&mut graph, body, ops);
        graph.rebuild();
        for (law, count) in saturate::saturate(&mut graph, limits, uses) {
            cx.count(law, count);
        }
        let run = Run::settle(&graph, entries);
        let roots = run.roots(cx.ctx, body);
        let choice = extract::extract(&graph, &roots, &run.places, &run.originals);
        cx.count("made", rebuild::rebuild(&graph, body, &run, &choice));
    }
}
