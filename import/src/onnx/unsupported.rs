//! Unsupported nodes, reported once for each operator.

use std::collections::BTreeMap;

use ir::diag::did_you_mean;
use ir::{Context, Diagnostic};

use super::model::GraphProto;
use super::order::GraphFault;
use super::rows::{NEWEST, OperatorRow, ROWS};

/// The number of nodes named in a message.
const MAX_NAMES: usize = 8;

/// A diagnostic for each operator without a row, located at its first node, with the number and names of its
/// nodes.
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

/// Unknown operators, and known chains of operators that compute the same.
const REPLACEMENTS: &[(&str, &str, &[&str])] = &[
    ("ai.onnx.ml", "FeatureVectorizer", &["Concat"]),
    ("ai.onnx.ml", "Imputer", &["IsNaN", "Where"]),
    ("ai.onnx.ml", "LinearRegressor", &["Gemm"]),
    ("ai.onnx.ml", "Normalizer", &["LpNormalization"]),
    ("ai.onnx.ml", "Scaler", &["Sub", "Mul"]),
    ("ai.onnx.ml", "TreeEnsembleRegressor", &["ai.onnx.ml.TreeEnsemble"]),
    ("com.microsoft", "Attention", &["MatMul", "Add", "Attention"]),
    ("com.microsoft", "BiasGelu", &["Add", "Gelu"]),
    ("com.microsoft", "DynamicQuantizeMatMul", &["DynamicQuantizeLinear", "MatMulInteger", "Cast", "Mul"]),
    ("com.microsoft", "EmbedLayerNormalization", &["Gather", "Add", "LayerNormalization"]),
    ("com.microsoft", "FastGelu", &["Add", "Gelu"]),
    ("com.microsoft", "FusedConv", &["Conv", "Relu"]),
    ("com.microsoft", "FusedGemm", &["Gemm", "Relu"]),
    ("com.microsoft", "FusedMatMul", &["Transpose", "MatMul", "Mul"]),
    ("com.microsoft", "Gelu", &["Gelu"]),
    ("com.microsoft", "GroupQueryAttention", &["RotaryEmbedding", "Attention"]),
    ("com.microsoft", "MatMulNBits", &["DequantizeLinear", "MatMul"]),
    ("com.microsoft", "MultiHeadAttention", &["Attention"]),
    ("com.microsoft", "NhwcConv", &["Transpose", "Conv", "Transpose"]),
    ("com.microsoft", "QLinearAdd", &["DequantizeLinear", "Add", "QuantizeLinear"]),
    ("com.microsoft", "QLinearMul", &["DequantizeLinear", "Mul", "QuantizeLinear"]),
    ("com.microsoft", "QuickGelu", &["Swish"]),
    ("com.microsoft", "RotaryEmbedding", &["RotaryEmbedding"]),
    ("com.microsoft", "SkipLayerNormalization", &["Add", "LayerNormalization"]),
    ("com.microsoft", "SkipSimplifiedLayerNormalization", &["Add", "RMSNormalization"]),
];

fn replacement(domain: &str, op: &str) -> Option<String> {
    let (_, _, same) = REPLACEMENTS.iter().find(|(known, name, _)| (*known, *name) == (domain, op))?;
    let same: Vec<String> = same.iter().map(|op| format!("`{op}`")).collect();
    Some(format!("ONNX's own operators compute the same: {}", same.join(", then ")))
}

fn hint(domain: &str, op: &str) -> Option<String> {
    if !matches!(domain, "" | "ai.onnx") {
        return replacement(domain, op);
    }
    let mut versions = ROWS.iter().filter(|row| row.op == op).map(|row| &row.versions).peekable();
    if versions.peek().is_none() {
        return did_you_mean(op, ROWS.iter().map(|row| row.op));
    }
    let first = versions.map(|versions| *versions.start()).min().expect("there is a row");
    Some(format!("it is supported from version {first} to {NEWEST}"))
}

impl GraphFault {
    /// The error at its node.
    pub fn into_diagnostic(self, ctx: &Context, graph: &GraphProto<'_>) -> Diagnostic {
        let place = match self.node {
            Some(index) => graph.node_name(index),
            None => graph.name.to_owned(),
        };
        let diagnostic = Diagnostic::error(ctx.name_location(&place), self.message);
        Diagnostic { help: self.help, ..diagnostic }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_replaces_an_operator_is_known_and_the_operator_is_not() {
        for (domain, op, same) in REPLACEMENTS {
            assert!(!ROWS.iter().any(|row| row.op == format!("{domain}.{op}")), "{op}");
            assert!(same.iter().all(|op| ROWS.iter().any(|row| row.op == *op)), "{op}");
        }
    }
}
