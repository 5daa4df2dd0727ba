//! Which nodes nobody can convert, told once for each operator.

use std::collections::BTreeMap;

use ir::diag::did_you_mean;
use ir::{Context, Diagnostic};

use super::model::GraphProto;
use super::order::GraphFault;
use super::rows::{NEWEST, OperatorRow, ROWS};

/// How many nodes a message names.
const MAX_NAMES: usize = 8;

/// A diagnostic for each operator that has no row, with the number and names of its nodes, at the first of
/// them.
pub(super) fn unsupported(
    ctx: &Context,
    graph: &GraphProto<'_>,
    version: i64,
    rows: &[Option<&'static OperatorRow>],
) -> Vec<Diagnostic> {
    let mut nodes_of: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for index in (0..graph.nodes.len()).filter(|&index| rows[index].is_none()) {
        let node = &graph.nodes[index];
        nodes_of.entry((node.domain, node.op_type)).or_default().push(index);
    }
    let mut diagnostics: Vec<(usize, Diagnostic)> = Vec::new();
    for ((domain, op), nodes) in nodes_of {
        let location = ctx.name_location(&graph.node_name(nodes[0]));
        let message = format!("{}, in {}", what_is_unknown(domain, op, version), names(graph, &nodes));
        let diagnostic = Diagnostic::error(location, message);
        diagnostics.push((nodes[0], Diagnostic { help: hint(domain, op), ..diagnostic }));
    }
    diagnostics.sort_by_key(|(first, _)| *first);
    diagnostics.into_iter().map(|(_, diagnostic)| diagnostic).collect()
}

fn what_is_unknown(domain: &str, op: &str, version: i64) -> String {
    match domain {
        "" | "ai.onnx" => {
            format!("operator `{op}` is not supported in version {version} of the operator set")
        }
        domain => format!("operator `{op}` of `{domain}` is not supported"),
    }
}

fn names(graph: &GraphProto<'_>, nodes: &[usize]) -> String {
    let named: Vec<String> =
        nodes.iter().take(MAX_NAMES).map(|&index| format!("`{}`", graph.node_name(index))).collect();
    let count = nodes.len();
    let more = count - named.len();
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    let noun = if count == 1 { "node" } else { "nodes" };
    format!("{count} {noun}: {}{rest}", named.join(", "))
}

fn hint(domain: &str, op: &str) -> Option<String> {
    if !matches!(domain, "" | "ai.onnx") {
        return None;
    }
    let mut versions = ROWS.iter().filter(|row| row.op == op).map(|row| &row.versions).peekable();
    if versions.peek().is_none() {
        return did_you_mean(op, ROWS.iter().map(|row| row.op));
    }
    let first = versions.map(|versions| *versions.start()).min().expect("there is a row");
    Some(format!("it is known from version {first} to {NEWEST}"))
}

impl GraphFault {
    /// The fault at its node.
    pub fn into_diagnostic(self, ctx: &Context, graph: &GraphProto<'_>) -> Diagnostic {
        let place = match self.node {
            Some(index) => graph.node_name(index),
            None => graph.name.to_owned(),
        };
        let diagnostic = Diagnostic::error(ctx.name_location(&place), self.message);
        Diagnostic { help: self.help, ..diagnostic }
    }
}
