//! Topological order of a graph's nodes, and checks of its names.
//!
//! The law: every name is defined once (by an input, a weight or a node), every name that is read is defined,
//! and there is no cycle. ONNX also requires each node to come after the nodes that it reads. Files that
//! break only that are accepted too: the file's own order is kept wherever possible (Kahn 1962, the earliest
//! ready node first). O(n log n).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hashbrown::HashMap;
use ir::diag::did_you_mean;

use super::model::GraphProto;

/// An error in a graph's names or order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphFault {
    /// Index of the faulty node; none for the graph's own inputs and outputs.
    pub node: Option<usize>,
    /// What was found and what was expected.
    pub message: String,
    /// A hint.
    pub help: Option<String>,
}

/// The definer of a name.
#[derive(Clone, Copy)]
enum Definer {
    Outside,
    Node(usize),
}

/// Indices of the nodes in an execution order.
///
/// # Errors
/// All names that are defined twice or never; if there are none, a cycle.
pub fn order(graph: &GraphProto<'_>) -> Result<Vec<usize>, Vec<GraphFault>> {
    let mut faults = Vec::new();
    let definers = definers(graph, &mut faults);
    undefined(graph, &definers, &mut faults);
    if !faults.is_empty() {
        return Err(faults);
    }
    let order = sort(graph, &definers);
    if order.len() == graph.nodes.len() { Ok(order) } else { Err(vec![cycle(graph, &definers, &order)]) }
}

/// The first name that a graph defines twice.
pub(super) fn defined_twice(graph: &GraphProto<'_>) -> Option<GraphFault> {
    let mut faults = Vec::new();
    definers(graph, &mut faults);
    faults.into_iter().next()
}

fn definers<'a>(graph: &GraphProto<'a>, faults: &mut Vec<GraphFault>) -> HashMap<&'a str, Definer> {
    let weights = graph.initializers.iter().map(|tensor| tensor.name);
    let weights = weights.chain(graph.sparse_initializers.iter().copied());
    let mut definers: HashMap<&str, Definer> = HashMap::new();
    for name in weights {
        define(&mut definers, name, Definer::Outside, faults);
    }
    // Up to IR version 3, a weight is also listed as an input: this is one definition.
    let mut inputs = HashMap::new();
    for input in &graph.inputs {
        define(&mut inputs, input.name, Definer::Outside, faults);
    }
    definers.extend(inputs);
    for (index, node) in graph.nodes.iter().enumerate() {
        for name in node.outputs.iter().filter(|name| !name.is_empty()) {
            define(&mut definers, name, Definer::Node(index), faults);
        }
    }
    definers
}

fn define<'a>(
    definers: &mut HashMap<&'a str, Definer>,
    name: &'a str,
    definer: Definer,
    faults: &mut Vec<GraphFault>,
) {
    if definers.insert(name, definer).is_some() {
        let node = match definer {
            Definer::Node(index) => Some(index),
            Definer::Outside => None,
        };
        faults.push(GraphFault { node, message: format!("`{name}` is defined twice"), help: None });
    }
}

/// The greatest number of undefined names with a "did you mean"; each compares all names.
const MAX_HINTS: usize = 10;

fn undefined(graph: &GraphProto<'_>, definers: &HashMap<&str, Definer>, faults: &mut Vec<GraphFault>) {
    let reads = graph.nodes.iter().enumerate();
    let reads = reads.flat_map(|(index, node)| node.inputs.iter().map(move |name| (Some(index), *name)));
    let results = graph.outputs.iter().map(|output| (None, output.name));
    for (node, name) in reads.chain(results) {
        let left_out = name.is_empty() && node.is_some();
        if left_out || definers.contains_key(name) {
            continue;
        }
        let what = if node.is_some() { "input" } else { "the graph's output" };
        let hinted = faults.len() < MAX_HINTS;
        let help = hinted.then(|| did_you_mean(name, definers.keys().copied())).flatten();
        faults.push(GraphFault { node, message: format!("{what} `{name}` is not defined"), help });
    }
}

/// The nodes that each node waits for, once for each name that it reads.
fn waits<'g>(
    graph: &'g GraphProto<'_>,
    definers: &'g HashMap<&str, Definer>,
    index: usize,
) -> impl Iterator<Item = usize> + 'g {
    graph.nodes[index].inputs.iter().filter_map(|name| match definers.get(name) {
        Some(Definer::Node(definer)) => Some(*definer),
        _ => None,
    })
}

fn sort(graph: &GraphProto<'_>, definers: &HashMap<&str, Definer>) -> Vec<usize> {
    let count = graph.nodes.len();
    let mut missing = vec![0usize; count];
    let mut readers = vec![Vec::new(); count];
    for (index, missing) in missing.iter_mut().enumerate() {
        for definer in waits(graph, definers, index) {
            *missing += 1;
            readers[definer].push(index);
        }
    }
    let ready = (0..count).filter(|&index| missing[index] == 0).map(Reverse);
    let mut ready: BinaryHeap<Reverse<usize>> = ready.collect();
    let mut order = Vec::with_capacity(count);
    while let Some(Reverse(index)) = ready.pop() {
        order.push(index);
        for &reader in &readers[index] {
            missing[reader] -= 1;
            if missing[reader] == 0 {
                ready.push(Reverse(reader));
            }
        }
    }
    order
}

/// A cycle among the nodes that never became ready: each of them waits for another such node, so following
/// these edges must lead to a cycle.
fn cycle(graph: &GraphProto<'_>, definers: &HashMap<&str, Definer>, order: &[usize]) -> GraphFault {
    let mut stuck = vec![true; graph.nodes.len()];
    for &index in order {
        stuck[index] = false;
    }
    let mut step_of = vec![None; graph.nodes.len()];
    let mut walk = Vec::new();
    let mut at = stuck.iter().position(|&stuck| stuck).expect("a node is left out of the order");
    while step_of[at].is_none() {
        step_of[at] = Some(walk.len());
        walk.push(at);
        at =
            waits(graph, definers, at).find(|&node| stuck[node]).expect("a stuck node waits for a stuck one");
    }
    let mut cycle = walk.split_off(step_of[at].expect("the walk met itself here"));
    cycle.reverse();
    let first = cycle.iter().position(|index| Some(index) == cycle.iter().min()).expect("a cycle has nodes");
    cycle.rotate_left(first);
    let names: Vec<String> = cycle.iter().map(|&index| format!("`{}`", graph.node_name(index))).collect();
    let node = Some(cycle[0]);
    GraphFault { node, message: format!("a cycle: {} -> {}", names.join(" -> "), names[0]), help: None }
}

#[cfg(test)]
mod tests {
    use super::super::model::NodeProto;
    use super::super::tensor::ValueInfoProto;
    use super::*;

    /// A graph from lines such as `y = x, w`, with the input `x` and the output `y`.
    fn graph<'a>(lines: &[&'a str]) -> GraphProto<'a> {
        let info = |name| ValueInfoProto { name, ..ValueInfoProto::default() };
        let node = |line: &&'a str| {
            let (output, inputs) = line.split_once(" = ").unwrap();
            NodeProto {
                inputs: inputs.split(", ").collect(),
                outputs: vec![output],
                op_type: "Add",
                ..NodeProto::default()
            }
        };
        let nodes = lines.iter().map(node).collect();
        GraphProto { nodes, inputs: vec![info("x")], outputs: vec![info("y")], ..GraphProto::default() }
    }

    fn faults(lines: &[&str]) -> Vec<(Option<usize>, String)> {
        order(&graph(lines)).unwrap_err().into_iter().map(|fault| (fault.node, fault.message)).collect()
    }

    #[test]
    fn an_order_that_works_is_kept() {
        assert_eq!(order(&graph(&["a = x", "b = x", "y = b, a"])).unwrap(), [0, 1, 2]);
    }

    #[test]
    fn a_node_waits_for_those_it_reads() {
        assert_eq!(order(&graph(&["y = b, b", "b = a", "a = x"])).unwrap(), [2, 1, 0]);
    }

    #[test]
    fn a_cycle_is_named_in_the_direction_of_the_data() {
        let found = faults(&["a = x", "y = c", "b = a, y", "c = b, x"]);
        assert_eq!(found, [(Some(1), "a cycle: `Add_1` -> `Add_2` -> `Add_3` -> `Add_1`".to_owned())]);
        assert_eq!(faults(&["y = y, x"]), [(Some(0), "a cycle: `Add_0` -> `Add_0`".to_owned())]);
    }

    #[test]
    fn all_names_defined_twice_or_never_are_told_at_once() {
        let found = faults(&["x = x", "a = nothing, ", "a = x"]);
        let expected = [
            (Some(0), "`x` is defined twice"),
            (Some(2), "`a` is defined twice"),
            (Some(1), "input `nothing` is not defined"),
            (None, "the graph's output `y` is not defined"),
        ];
        assert_eq!(found, expected.map(|(node, message)| (node, message.to_owned())));
    }

    #[test]
    fn a_misspelt_name_gets_a_hint() {
        let faults = order(&graph(&["hidden = x", "y = hiden"])).unwrap_err();
        assert_eq!(faults[0].help.as_deref(), Some("did you mean `hidden`?"));
    }
}
