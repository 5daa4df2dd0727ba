//! Reduction of an ONNX model to the smallest one that still fails.
//!
//! This works like [`passes::reduce`] for IR, with steps for the parts of a model file: nodes, weights,
//! inputs and outputs. The result of a removed node becomes an input of the model, of the same name and type;
//! an output moves up to the node's operand. If the original can be imported, so can every candidate, with
//! inferred types of its outputs. Otherwise a candidate only has to define each name before its use, and
//! steps that need types are skipped.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;

use import::onnx::declared::DeclaredSizes;
use import::onnx::edit::{ModelParts, NodeParts, ValueParts, ValueSize, ValueType};
use ir::{Dim, Module, dims};
use passes::reduce::{ReduceStep, Reducible, Search};

use crate::compile::signature;
use crate::elements::onnx_element;
use crate::failure::Failure;
use crate::load::{LoadOptions, load_changed_model, map_file};
use crate::quiet::quietly;

/// Number of `float` among ONNX's element types.
const FLOAT: i32 = 1;

/// A model that is being reduced.
#[derive(Clone)]
pub struct ModelCandidate {
    parts: ModelParts,
    original: Arc<Original>,
    /// Whether it can be imported.
    is_typed: bool,
}

/// The origin of the model.
struct Original {
    path: PathBuf,
    options: LoadOptions,
}

/// The types of values, by name.
type Types = HashMap<String, ValueType>;

impl ModelCandidate {
    /// The model in a file, with the sizes and symbols of the options.
    ///
    /// # Errors
    /// If it can't be read.
    pub fn open(path: PathBuf, options: LoadOptions) -> Result<ModelCandidate, Failure> {
        let fault = |error: &dyn std::fmt::Display| Failure::input(format!("{}: {error}", path.display()));
        let file = map_file(&path).map_err(|error| fault(&error))?;
        let mut parts = ModelParts::read((*file).as_ref()).map_err(|error| fault(&error))?;
        say_sizes(&mut parts, &options.sizes);
        let options = LoadOptions { sizes: DeclaredSizes::new(), ..options };
        let mut candidate =
            ModelCandidate { parts, original: Arc::new(Original { path, options }), is_typed: true };
        if candidate.module().is_err() {
            candidate.is_typed = false;
        }
        Ok(candidate)
    }

    /// The file.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.parts.to_bytes()
    }

    /// The same model without functions, nodes, weights, inputs and outputs.
    pub fn emptied(&self) -> ModelCandidate {
        ModelCandidate { parts: self.parts.emptied(), ..self.clone() }
    }

    /// Whether it has data in other files.
    pub fn has_files_beside(&self) -> bool {
        self.parts.weights.iter().any(|weight| weight.location.is_some())
    }

    /// The program.
    ///
    /// # Errors
    /// The errors of the model, or a panic of the import.
    pub fn module(&self) -> Result<Module, Failure> {
        let Original { path, options } = &*self.original;
        let import = || load_changed_model(path, self.parts.to_bytes(), options);
        let panics = || Err(Failure::input(format!("{}: the import panics", path.display())));
        quietly(import).unwrap_or_else(panics)
    }

    /// The inferred types of the outputs; none if the model can't be imported.
    fn output_types(&self) -> Option<Types> {
        let mut untyped = self.clone();
        untyped.parts.outputs.iter_mut().for_each(|output| output.ty = ValueType::unknown());
        let module = untyped.module().ok()?;
        let taken = signature(&module, "main").ok()?;
        let ctx = &module.ctx;
        let size = |dim: &Dim| match dim {
            Dim::Known(size) => ValueSize::Number(size.cast_signed()),
            Dim::Symbolic(size) => ValueSize::Named(dims::print(ctx, *size)),
            Dim::Unknown => ValueSize::Open,
        };
        let mut types = Types::new();
        for output in taken.outputs() {
            let (shape, kind) =
                (ctx.type_data(output.ty).tensor_shape(), codegen::element_kind(ctx, output.ty));
            let (Some(shape), Some(kind)) = (shape, kind) else { continue };
            let mut sizes: Vec<ValueSize> = shape.iter().map(size).collect();
            if let Some(open) = &output.open {
                sizes[open.axis] = ValueSize::Open;
            }
            types.insert(
                output.name.clone(),
                ValueType::Tensor { element: onnx_element(kind).number(), sizes },
            );
        }
        Some(types)
    }

    /// The known types of all values that nodes compute and read.
    fn types(&self) -> Types {
        let ModelParts { inputs, outputs, declared, weights, nodes, .. } = &self.parts;
        let of = |value: &ValueParts| (value.name.clone(), value.ty.clone());
        let mut types: Types = outputs.iter().chain(declared).chain(inputs).map(of).collect();
        types.retain(|_, ty| matches!(ty, ValueType::Tensor { .. }));
        types.extend(weights.iter().map(|weight| (weight.name.clone(), weight.ty.clone())));
        if self.is_typed {
            let mut all = self.clone();
            let results = nodes.iter().flat_map(NodeParts::results);
            all.parts.outputs = results.map(untyped).collect();
            types.extend(all.output_types().into_iter().flatten());
        }
        types
    }

    /// Adds an input of this name to the model; false if no type is known for it.
    fn take_as_input(&mut self, name: &str, types: &Types) -> bool {
        let Some(ty) = types.get(name) else { return false };
        if self.parts.inputs.iter().all(|input| input.name != name) {
            self.parts.inputs.push(ValueParts { name: name.to_owned(), ty: ty.clone() });
        }
        true
    }

    /// The number of readers of each name: nodes, their subgraphs, and outputs of the model.
    fn readers(&self) -> HashMap<String, usize> {
        let read = self.parts.nodes.iter().flat_map(NodeParts::reads);
        let mut readers = HashMap::new();
        for name in read.chain(self.parts.outputs.iter().map(|output| output.name.as_str())) {
            *readers.entry(name.to_owned()).or_default() += 1;
        }
        readers
    }

    /// Removes those nodes that can be removed, the last first, and the weights that only they read.
    fn leave_out(&mut self, keys: &[String], types: &Types) -> bool {
        let keys: HashSet<&str> = keys.iter().map(String::as_str).collect();
        let mut readers = self.readers();
        let read_before: HashSet<String> = readers.keys().cloned().collect();
        let computed: HashSet<String> =
            self.parts.nodes.iter().flat_map(NodeParts::results).map(str::to_owned).collect();
        let count = self.parts.nodes.len();
        let mut kept = Vec::with_capacity(count);
        for node in std::mem::take(&mut self.parts.nodes).into_iter().rev() {
            let is_meant = key(&node).is_some_and(|key| keys.contains(key));
            if !is_meant || !self.replace_results(&node, &mut readers, &computed, types) {
                kept.push(node);
            }
        }
        kept.reverse();
        self.parts.nodes = kept;
        let is_read = |name: &String| readers.get(name).is_some_and(|count| *count > 0);
        self.parts.weights.retain(|weight| is_read(&weight.name) || !read_before.contains(&weight.name));
        self.parts.nodes.len() < count
    }

    /// Replaces the results of a node to be removed; false if that is impossible.
    fn replace_results(
        &mut self,
        node: &NodeParts,
        readers: &mut HashMap<String, usize>,
        computed: &HashSet<String>,
        types: &Types,
    ) -> bool {
        let is_output = |name: &str| self.parts.outputs.iter().any(|output| output.name == name);
        let was_output: Vec<&str> = node.results().filter(|name| is_output(name)).collect();
        let count_of = |name: &str| readers.get(name).copied().unwrap_or(0);
        let is_read = |name: &&str| count_of(name) > usize::from(was_output.contains(name));
        let read: Vec<&str> = node.results().filter(is_read).collect();
        if !read.iter().all(|name| types.contains_key(*name)) {
            return false;
        }
        let moved: Vec<&str> = node.reads().filter(|name| computed.contains(*name)).collect();
        let others = self.parts.outputs.len() - was_output.len();
        if !was_output.is_empty() && moved.is_empty() && others == 0 {
            return false;
        }
        for name in read {
            self.take_as_input(name, types);
        }
        if !was_output.is_empty() {
            self.parts.outputs.retain(|output| !was_output.contains(&output.name.as_str()));
            for name in moved {
                if self.parts.outputs.iter().all(|output| output.name != name) {
                    let ty = types.get(name).cloned().unwrap_or_else(ValueType::unknown);
                    self.parts.outputs.push(ValueParts { name: name.to_owned(), ty });
                    *readers.entry(name.to_owned()).or_default() += 1;
                }
            }
        }
        node.reads().for_each(|name| {
            readers.entry(name.to_owned()).and_modify(|count| *count = count.saturating_sub(1));
        });
        true
    }

    /// Removes a node of one result, if possible; its readers then read its first operand.
    fn pass_by(&mut self, result: &str) {
        let ModelParts { nodes, outputs, .. } = &mut self.parts;
        let Some(index) = nodes.iter().position(|node| key(node) == Some(result)) else { return };
        let Some(first) = nodes[index].inputs.first().filter(|name| !name.is_empty()).cloned() else {
            return;
        };
        let is_needed = nodes.iter().any(|node| node.captures(result))
            || nodes[index].results().count() > 1
            || outputs.iter().any(|output| output.name == result);
        if !is_needed {
            nodes.remove(index);
            let inputs = nodes.iter_mut().flat_map(|node| &mut node.inputs);
            inputs.filter(|name| *name == result).for_each(|name| name.clone_from(&first));
        }
    }

    /// Changes each node with one of these keys; returns whether that had an effect.
    fn change_nodes(
        &mut self,
        sites: &[(String, usize)],
        change: impl Fn(&mut NodeParts, usize) -> bool,
    ) -> bool {
        let mut has_changed = false;
        // The last ones come first, because removing one shifts those after it.
        for (wanted, index) in sites.iter().rev() {
            let node = self.parts.nodes.iter_mut().find(|node| key(node) == Some(wanted));
            has_changed |= node.is_some_and(|node| change(node, *index));
        }
        has_changed
    }

    /// The sizes of all inputs.
    fn sizes(&mut self) -> impl Iterator<Item = &mut ValueSize> {
        self.parts.inputs.iter_mut().flat_map(|input| match &mut input.ty {
            ValueType::Tensor { sizes, .. } => sizes.iter_mut(),
            ValueType::Other(_) => [].iter_mut(),
        })
    }

    /// Copies of the sizes of all inputs.
    fn sizes_now(&self) -> Vec<ValueSize> {
        self.clone().sizes().map(|size| size.clone()).collect()
    }

    /// Replaces a size by another, in all inputs or only in input `only`.
    fn resize(&mut self, old: &ValueSize, new: i64, only: Option<usize>) -> bool {
        // The file's declarations of other values may no longer hold.
        self.parts.declared.clear();
        let mut has_changed = false;
        for (index, size) in self.sizes().enumerate() {
            if size == old && only.is_none_or(|only| only == index) {
                *size = ValueSize::Number(new);
                has_changed = true;
            }
        }
        has_changed
    }
}

impl Reducible for ModelCandidate {
    fn is_valid(&mut self) -> bool {
        if !self.parts.is_well_formed() {
            return false;
        }
        if !self.is_typed {
            return true;
        }
        let Some(types) = self.output_types() else { return false };
        for output in &mut self.parts.outputs {
            if let Some(ty) = types.get(&output.name) {
                output.ty = ty.clone();
            }
        }
        true
    }

    fn content_hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.parts.to_bytes().hash(&mut hasher);
        hasher.finish()
    }

    fn op_count(&self) -> usize {
        self.parts.nodes.len()
    }
}

/// The steps of a round; those that remove the most come first.
pub static STEPS: &[(&str, ReduceStep<ModelCandidate>)] = &[
    ("outputs", outputs),
    ("what nobody reads", unread),
    ("nodes", nodes),
    ("nodes", passed_by),
    ("what nobody reads", unread),
    ("weights", weights),
    ("operands", operands),
    ("attributes", attributes),
    ("sizes", sizes),
    ("element types", elements),
];

/// A name of a node that is valid in every copy of the model: its first result.
fn key(node: &NodeParts) -> Option<&str> {
    node.results().next()
}

fn untyped(name: &str) -> ValueParts {
    ValueParts { name: name.to_owned(), ty: ValueType::unknown() }
}

fn names(values: &[ValueParts]) -> Vec<String> {
    values.iter().map(|value| value.name.clone()).collect()
}

/// Tries to remove outputs.
fn outputs(search: &mut Search<'_, ModelCandidate>) {
    let all = names(&search.program().parts.outputs);
    search.halve(all, |model, gone| {
        let outputs = &mut model.parts.outputs;
        let before = outputs.len();
        outputs.retain(|output| !gone.contains(&output.name));
        outputs.len() < before
    });
}

/// Tries to remove everything that no output needs, and declarations of intermediate values.
fn unread(search: &mut Search<'_, ModelCandidate>) {
    search.attempt(|model| {
        let mut readers = model.readers();
        let is_read =
            |readers: &HashMap<String, usize>, name: &str| readers.get(name).is_some_and(|n| *n > 0);
        let before = model.parts.to_bytes().len();
        let mut kept = Vec::new();
        for node in std::mem::take(&mut model.parts.nodes).into_iter().rev() {
            if node.results().any(|name| is_read(&readers, name)) {
                kept.push(node);
            } else {
                node.reads().for_each(|name| *readers.get_mut(name).expect("it was counted") -= 1);
            }
        }
        kept.reverse();
        model.parts.nodes = kept;
        model.parts.weights.retain(|weight| is_read(&readers, &weight.name));
        model.parts.inputs.retain(|input| is_read(&readers, &input.name));
        model.parts.declared.retain(|value| is_read(&readers, &value.name));
        model.parts.to_bytes().len() < before
    });
    search.attempt(|model| {
        let is_said = model.is_typed && !model.parts.declared.is_empty();
        model.parts.declared.clear();
        is_said
    });
    let functions: Vec<usize> = (0..search.program().parts.functions.len()).collect();
    if search.program().is_typed {
        search.halve(functions, |model, gone| {
            let mut index = 0..;
            model.parts.functions.retain(|_| !index.next().is_some_and(|index| gone.contains(&index)));
            !gone.is_empty()
        });
    }
}

/// Tries to remove nodes.
fn nodes(search: &mut Search<'_, ModelCandidate>) {
    let types = search.program().types();
    let found = search.program().parts.nodes.iter().filter_map(key).map(str::to_owned).collect();
    search.halve(found, |model, found| model.leave_out(found, &types));
}

/// Tries to remove nodes whose results have unknown types, and to replace the results by their first
/// operands.
fn passed_by(search: &mut Search<'_, ModelCandidate>) {
    if search.program().is_typed {
        return;
    }
    let found = search.program().parts.nodes.iter().filter_map(key).map(str::to_owned).collect();
    search.halve(found, |model, found: &[String]| {
        let before = model.parts.nodes.len();
        found.iter().for_each(|key| model.pass_by(key));
        model.parts.nodes.len() < before
    });
}

/// Tries to turn weights into inputs.
fn weights(search: &mut Search<'_, ModelCandidate>) {
    let types = search.program().types();
    let found = search.program().parts.weights.iter().map(|weight| weight.name.clone()).collect();
    search.halve(found, |model, found: &[String]| {
        let before = model.parts.weights.len();
        let taken: HashSet<&String> = found.iter().filter(|name| model.take_as_input(name, &types)).collect();
        model.parts.weights.retain(|weight| !taken.contains(&weight.name));
        model.parts.weights.len() < before
    });
}

/// The nodes with an index for each of their parts of one kind.
fn sites(model: &ModelCandidate, count: impl Fn(&NodeParts) -> usize) -> Vec<(String, usize)> {
    let nodes = model.parts.nodes.iter().filter_map(|node| Some((key(node)?, count(node))));
    nodes.flat_map(|(key, count)| (0..count).map(move |index| (key.to_owned(), index))).collect()
}

/// Tries to remove operands, and to replace operands by the first one of the same type.
fn operands(search: &mut Search<'_, ModelCandidate>) {
    if !search.program().is_typed {
        return;
    }
    let found = sites(search.program(), |node| node.inputs.len());
    search.halve(found.clone(), |model, found| {
        model.change_nodes(found, |node, index| {
            let is_read = node.inputs.get(index).is_some_and(|name| !name.is_empty());
            if is_read {
                node.inputs[index].clear();
                let last = node.inputs.iter().rposition(|name| !name.is_empty());
                node.inputs.truncate(last.map_or(0, |last| last + 1));
            }
            is_read
        })
    });
    let types = search.program().types();
    search.halve(found, |model, found| {
        model.change_nodes(found, |node, index| {
            let Some(ty) = node.inputs.get(index).and_then(|name| types.get(name)) else { return false };
            let first = node.inputs[..index].iter().find(|name| types.get(*name) == Some(ty)).cloned();
            let first = first.filter(|name| *name != node.inputs[index]);
            first.is_some_and(|name| {
                node.inputs[index] = name;
                true
            })
        })
    });
}

/// Tries to remove attributes.
fn attributes(search: &mut Search<'_, ModelCandidate>) {
    if !search.program().is_typed {
        return;
    }
    let found = sites(search.program(), |node| node.attributes.len());
    search.halve(found, |model, found| {
        model.change_nodes(found, |node, index| {
            let is_there = index < node.attributes.len();
            if is_there {
                node.attributes.remove(index);
            }
            is_there
        })
    });
}

/// Tries to replace named sizes by numbers, and sizes of inputs by smaller ones: everywhere, then one by one.
fn sizes(search: &mut Search<'_, ModelCandidate>) {
    if !search.program().is_typed {
        return;
    }
    let mut all: Vec<ValueSize> = search.program().sizes_now();
    let count = all.len();
    let mut seen = HashSet::new();
    all.retain(|size| seen.insert(size.clone()));
    for size in all {
        let mut old = size;
        while let Some(new) = smaller(&old).find(|new| search.attempt(|model| model.resize(&old, *new, None)))
        {
            old = ValueSize::Number(new);
        }
    }
    for index in 0..count {
        while let Some(old) = search.program().sizes_now().get(index).cloned() {
            if !smaller(&old).any(|new| search.attempt(|model| model.resize(&old, new, Some(index)))) {
                break;
            }
        }
    }
}

/// The sizes to try instead of this one, the smallest first.
fn smaller(size: &ValueSize) -> impl Iterator<Item = i64> + use<> {
    let mut smaller = match size {
        ValueSize::Number(size) => vec![1, 2, 4, size / 2, size - 1],
        ValueSize::Named(_) | ValueSize::Open => vec![1, 2, 4],
    };
    if let ValueSize::Number(size) = size {
        smaller.retain(|smaller| (1..*size).contains(smaller));
        smaller.dedup();
    }
    smaller.into_iter()
}

/// Tries to change inputs of other element types to `float`.
fn elements(search: &mut Search<'_, ModelCandidate>) {
    let inputs = &search.program().parts.inputs;
    let of = |ty: &ValueType| match ty {
        ValueType::Tensor { element, .. } if *element != FLOAT => Some(*element),
        _ => None,
    };
    let mut found: Vec<i32> = inputs.iter().filter_map(|input| of(&input.ty)).collect();
    found.sort_unstable();
    found.dedup();
    if !search.program().is_typed {
        return;
    }
    for old in found {
        search.attempt(|model| {
            model.parts.declared.clear();
            for input in &mut model.parts.inputs {
                match &mut input.ty {
                    ValueType::Tensor { element, .. } if *element == old => *element = FLOAT,
                    _ => {}
                }
            }
            true
        });
    }
}

/// Applies sizes given on the command line to inputs.
fn say_sizes(parts: &mut ModelParts, said: &DeclaredSizes) {
    for input in &mut parts.inputs {
        let ValueType::Tensor { sizes, .. } = &mut input.ty else { continue };
        for (axis, size) in sizes.iter_mut().enumerate() {
            let named = said.symbolized.iter().find(|named| named.input == input.name && named.axis == axis);
            if let Some(named) = named {
                *size = ValueSize::Named(named.size.clone());
            }
            let number = match size {
                ValueSize::Named(name) => said.values.get(name),
                _ => None,
            };
            if let Some(number) = number {
                *size = ValueSize::Number(number.cast_signed());
            }
        }
    }
}
