//! Inlining of a model's own functions.
//!
//! A node whose operator is a function of the file is replaced by the nodes of the function before the
//! conversion. The body's inputs and outputs get the names in the call; all other names of the body get the
//! call's name as a prefix, so two calls never share a name. An attribute that refers to an attribute of the
//! call gets its value, or is omitted if the call omits it.
//!
//! New names are made in a first pass and used in a second one, because a graph borrows its names.

use hashbrown::{HashMap, HashSet};

use super::model::{
    AttributeProto, AttributeValue, FunctionProto, GraphProto, MAX_DEPTH, ModelProto, NodeProto, Opset,
};
use super::tensor::TensorProto;

/// The greatest number of nodes after inlining, for each node of the file.
const MAX_GROWTH: usize = 1000;
/// The greatest number of nodes after inlining if the file has few nodes.
const MAX_NODES: usize = 100_000;
/// The message for a file that has more.
const TOO_MANY: &str = "too many calls of functions";

/// The names that calls need in addition to those of the file, in the order in which [`expand`] asks for
/// them.
///
/// # Errors
/// See [`expand`].
pub(super) fn new_names(model: &ModelProto<'_>) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    Expansion::of(model, &mut |name| {
        names.push(name);
        ""
    })
    .graph(model)?;
    Ok(names)
}

/// The model's graph without calls of functions. `names` are those of [`new_names`].
///
/// # Errors
/// If functions call each other in a cycle, or too many times, or a function uses another version of ONNX's
/// operators than the model.
pub(super) fn expand<'a>(model: &ModelProto<'a>, names: &'a [String]) -> Result<GraphProto<'a>, String> {
    let mut names = names.iter();
    Expansion::of(model, &mut |_| names.next().expect("both walks are the same")).graph(model)
}

/// The meaning of a body's names, and the attributes of its call.
#[derive(Clone, Default)]
struct CallScope<'a> {
    /// The prefix of new names; none in the model's own graph, whose names stay.
    prefix: Option<String>,
    names: HashMap<&'a str, &'a str>,
    attributes: HashMap<&'a str, AttributeValue<'a>>,
}

/// Domain, name and overload.
type FunctionKey<'a> = (&'a str, &'a str, &'a str);

struct Expansion<'e, 'a> {
    functions: HashMap<FunctionKey<'a>, FunctionProto<'a>>,
    version: Option<i64>,
    new_name: &'e mut dyn FnMut(String) -> &'a str,
    /// The number of calls so far.
    calls: usize,
    /// The number of further nodes allowed.
    left: usize,
}

/// The version of ONNX's own operators.
fn own_version(opsets: &[Opset<'_>]) -> Option<i64> {
    opsets.iter().find(|opset| matches!(opset.domain, "" | "ai.onnx")).map(|opset| opset.version)
}

impl<'e, 'a> Expansion<'e, 'a> {
    fn of(model: &ModelProto<'a>, new_name: &'e mut dyn FnMut(String) -> &'a str) -> Expansion<'e, 'a> {
        let count = model.graph.nodes.len() + model.functions.iter().map(|f| f.nodes.len()).sum::<usize>();
        let functions = model.functions.iter();
        Expansion {
            functions: functions.map(|f| ((f.domain, f.name, f.overload), f.clone())).collect(),
            version: own_version(&model.opsets),
            new_name,
            calls: 0,
            left: (count * MAX_GROWTH).min(MAX_NODES.max(count)),
        }
    }

    fn graph(mut self, model: &ModelProto<'a>) -> Result<GraphProto<'a>, String> {
        // Before anything is built, since that costs time for each node.
        if self.count(&model.graph.nodes, &mut HashMap::new(), 0) > self.left {
            return Err(TOO_MANY.to_owned());
        }
        let nodes = self.nodes(&model.graph.nodes, &CallScope::default(), 0)?;
        Ok(GraphProto { nodes, ..model.graph.clone() })
    }

    /// The number of nodes after inlining. `counted` has the functions counted so far. A function that calls
    /// itself or nests too deeply has none: inlining refuses it.
    fn count(
        &self,
        nodes: &[NodeProto<'a>],
        counted: &mut HashMap<FunctionKey<'a>, usize>,
        depth: usize,
    ) -> usize {
        if depth > MAX_DEPTH {
            return 0;
        }
        let mut sum = 0usize;
        for node in nodes {
            let key = (node.domain, node.op_type, node.overload);
            let called = match (counted.get(&key), self.functions.get(&key)) {
                (Some(count), _) => *count,
                (None, None) => 0,
                (None, Some(function)) => {
                    counted.insert(key, 0);
                    let count = self.count(&function.nodes, counted, depth + 1);
                    counted.insert(key, count);
                    count
                }
            };
            let graphs = node.attributes.iter().map(|attribute| match &attribute.value {
                AttributeValue::Graph(graph) => self.count(&graph.nodes, counted, depth + 1),
                _ => 0,
            });
            sum = graphs.fold(sum.saturating_add(called).saturating_add(1), usize::saturating_add);
        }
        sum
    }

    /// The nodes of a graph or a body, with calls inlined.
    fn nodes(
        &mut self,
        nodes: &[NodeProto<'a>],
        scope: &CallScope<'a>,
        depth: usize,
    ) -> Result<Vec<NodeProto<'a>>, String> {
        let mut expanded = Vec::with_capacity(nodes.len());
        for (index, node) in nodes.iter().enumerate() {
            self.left = self.left.checked_sub(1).ok_or(TOO_MANY)?;
            let node = self.node(node, index, scope, depth)?;
            match self.functions.get(&(node.domain, node.op_type, node.overload)) {
                Some(function) => {
                    let function = function.clone();
                    expanded.extend(self.call(&node, index, &function, depth + 1)?);
                }
                None => expanded.push(node),
            }
        }
        Ok(expanded)
    }

    /// A node with its names and attributes in a call.
    fn node(
        &mut self,
        node: &NodeProto<'a>,
        index: usize,
        scope: &CallScope<'a>,
        depth: usize,
    ) -> Result<NodeProto<'a>, String> {
        let mut attributes = Vec::new();
        for attribute in &node.attributes {
            let value = match &attribute.value {
                AttributeValue::Reference(name) if scope.prefix.is_some() => {
                    let Some(value) = scope.attributes.get(name) else { continue };
                    value.clone()
                }
                AttributeValue::Graph(graph) => {
                    AttributeValue::Graph(Box::new(self.inner(graph, scope, depth + 1)?))
                }
                value => value.clone(),
            };
            attributes.push(AttributeProto { value, ..attribute.clone() });
        }
        let renamed = |names: &[&'a str]| names.iter().map(|name| scope.name(name)).collect::<Vec<&str>>();
        let name = match &scope.prefix {
            Some(prefix) if node.name.is_empty() => {
                (self.new_name)(format!("{prefix}/{}_{index}", node.op_type))
            }
            Some(prefix) => (self.new_name)(format!("{prefix}/{}", node.name)),
            None => node.name,
        };
        Ok(NodeProto {
            inputs: renamed(&node.inputs),
            outputs: renamed(&node.outputs),
            name,
            attributes,
            ..node.clone()
        })
    }

    /// A graph nested in a node; in a body, its names are new ones too.
    fn inner(
        &mut self,
        graph: &GraphProto<'a>,
        scope: &CallScope<'a>,
        depth: usize,
    ) -> Result<GraphProto<'a>, String> {
        if depth > MAX_DEPTH {
            return Err(format!("functions and graphs nested deeper than {MAX_DEPTH}"));
        }
        let mut scope = scope.clone();
        let inputs = graph.inputs.iter().map(|input| input.name);
        let weights = graph.initializers.iter().map(|tensor| tensor.name);
        let defined = inputs.chain(weights).chain(outputs_of(&graph.nodes));
        self.rename(defined, &mut scope);
        let mut inner = graph.clone();
        inner.nodes = self.nodes(&graph.nodes, &scope, depth)?;
        inner.inputs.iter_mut().for_each(|input| input.name = scope.name(input.name));
        inner.outputs.iter_mut().for_each(|output| output.name = scope.name(output.name));
        inner.value_infos.clear();
        let named = |tensor: TensorProto<'a>| TensorProto { name: scope.name(tensor.name), ..tensor };
        inner.initializers = inner.initializers.into_iter().map(named).collect();
        Ok(inner)
    }

    /// Makes new names for the definitions of a body.
    fn rename(&mut self, defined: impl Iterator<Item = &'a str>, scope: &mut CallScope<'a>) {
        let Some(prefix) = scope.prefix.clone() else { return };
        let mut renamed = HashSet::new();
        for name in defined.filter(|name| !name.is_empty()) {
            if renamed.insert(name) {
                scope.names.insert(name, (self.new_name)(format!("{prefix}/{name}")));
            }
        }
    }

    /// The inlined nodes of a call.
    fn call(
        &mut self,
        call: &NodeProto<'a>,
        index: usize,
        function: &FunctionProto<'a>,
        depth: usize,
    ) -> Result<Vec<NodeProto<'a>>, String> {
        let name = function.name;
        if depth > MAX_DEPTH {
            return Err(format!("calls of functions nested deeper than {MAX_DEPTH}, the last of `{name}`"));
        }
        match (own_version(&function.opsets), self.version) {
            (Some(version), Some(own)) if version != own => {
                return Err(format!(
                    "function `{name}` uses version {version} of the operator set, the model {own}"
                ));
            }
            _ => {}
        }
        let mut scope = CallScope { prefix: Some(self.prefix(call, index)), ..CallScope::default() };
        let given = |name: &&str| call.attributes.iter().find(|attribute| attribute.name == *name);
        let given = function.attributes.iter().filter_map(given).chain(&function.defaults);
        for attribute in given.chain(&call.attributes) {
            scope.attributes.insert(attribute.name, attribute.value.clone());
        }
        self.rename(outputs_of(&function.nodes), &mut scope);
        for (index, input) in function.inputs.iter().enumerate() {
            scope.names.insert(input, call.inputs.get(index).copied().unwrap_or_default());
        }
        let mut handed = Vec::new();
        for (output, outer) in function.outputs.iter().zip(&call.outputs) {
            if outer.is_empty() {
                continue;
            }
            let is_made = outputs_of(&function.nodes).any(|made| made == *output);
            let is_taken = call.outputs.contains(&scope.name(output));
            match is_made && !is_taken && !function.inputs.contains(output) {
                true => drop(scope.names.insert(output, outer)),
                // It is an input, or listed as an output again.
                false => handed.push((*output, *outer)),
            }
        }
        let mut nodes = self.nodes(&function.nodes, &scope, depth)?;
        nodes.extend(handed.into_iter().map(|(output, outer)| NodeProto {
            inputs: vec![scope.name(output)],
            outputs: vec![outer],
            op_type: "Identity",
            ..NodeProto::default()
        }));
        Ok(nodes)
    }

    /// The prefix of names in a call: the call's own name, and a number.
    fn prefix(&mut self, call: &NodeProto<'a>, index: usize) -> String {
        self.calls += 1;
        match call.name {
            "" => format!("{}_{index}.{}", call.op_type, self.calls),
            name => format!("{name}.{}", self.calls),
        }
    }
}

impl<'a> CallScope<'a> {
    /// The name in the model's graph of a name in the body.
    fn name(&self, name: &'a str) -> &'a str {
        self.names.get(name).copied().unwrap_or(name)
    }
}

fn outputs_of<'n, 'a>(nodes: &'n [NodeProto<'a>]) -> impl Iterator<Item = &'a str> + 'n {
    nodes.iter().flat_map(|node| node.outputs.iter().copied())
}
