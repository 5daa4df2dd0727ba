//! Saturation: growing an e-graph by laws until none adds anything.
//!
//! In each round, matches of all laws are found first, then applied, then congruence is restored. Rounds,
//! nodes and matches are limited, time is not, and matches are ordered by classes and laws, so that the same
//! program always grows the same way. Classes with a known value are not matched: they are represented by
//! their constant.

use egg::{EClass, Id};
use rustc_hash::FxHashMap;

use super::graph::{Fact, LawGraph};
use super::nodes::ENode;
use super::terms::{class, matched};
use crate::manager::Changes;
use crate::rewrite::{Law, LawMatch};

/// The least value of the limit of matches per round.
const LEAST_MATCHES: usize = 4096;
/// The limit of nodes per initial node, besides [`LEAST_NODES`]. Networks grow about threefold; a product
/// with 1 that reads itself would grow forever.
const GROWTH: usize = 64;
const LEAST_NODES: usize = 2048;

/// Limits on the growth of an e-graph.
#[derive(Clone, Copy, Debug)]
pub(super) struct SaturationLimits {
    /// The number of rounds.
    pub(super) rounds: usize,
    /// The number of nodes, and of matches per round; the round that exceeds it is the last, and stops there.
    pub(super) nodes: usize,
}

/// Applies laws until nothing changes or a limit is reached; returns how often each law joined two classes.
pub(super) fn saturate(
    graph: &mut LawGraph<'_>,
    limits: SaturationLimits,
    laws: &[&Law],
    changes: &Changes,
) -> Vec<(&'static str, u64)> {
    let mut joined = vec![0; laws.len()];
    let most_nodes = limits.nodes.min(LEAST_NODES + GROWTH * graph.total_size());
    for _ in 0..limits.rounds {
        let found = find(graph, laws, most_nodes.max(LEAST_MATCHES));
        let before = joined.iter().sum::<u64>();
        for (law, class, found) in found {
            if changes.is_spent() {
                break;
            }
            if apply(graph, laws[law], class, &found) {
                joined[law] += 1;
                changes.allow(|| format!("law `{}`", laws[law].name()));
            }
            if graph.total_size() > most_nodes {
                break;
            }
        }
        graph.rebuild();
        if joined.iter().sum::<u64>() == before || graph.total_size() > most_nodes {
            break;
        }
    }
    laws.iter().map(|law| law.name()).zip(joined).filter(|entry| entry.1 > 0).collect()
}

/// The first `most` matches of a round: the law, the class and the match, in the order of classes.
fn find(graph: &LawGraph<'_>, laws: &[&Law], most: usize) -> Vec<(usize, Id, LawMatch)> {
    let mut by_root: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    for (index, law) in laws.iter().enumerate() {
        by_root.entry(law.root()).or_default().push(index);
    }
    let is_unknown = |class: &&EClass<ENode, Fact>| class.data.constant.is_none();
    let mut classes: Vec<Id> = graph.classes().filter(is_unknown).map(|class| class.id).collect();
    classes.sort_unstable();
    let mut out = Vec::new();
    for class in classes {
        let named = |node: &ENode| by_root.get(graph.analysis.op(node)?.def.name);
        let (nodes, ty) = (&graph[class].nodes, graph[class].data.ty);
        for node in nodes {
            for &law in named(node).into_iter().flatten() {
                if out.len() >= most {
                    return out;
                }
                let Some(op) = matched(graph, node) else { continue };
                out.extend(laws[law].matches(graph, op, ty).into_iter().map(|found| (law, class, found)));
            }
        }
    }
    out
}

/// Builds a law's right side and joins it with the left; returns whether that joined two classes.
fn apply(graph: &mut LawGraph<'_>, law: &Law, left: Id, found: &LawMatch) -> bool {
    law.build(graph, found).is_some_and(|right| graph.union(left, class(right)))
}
