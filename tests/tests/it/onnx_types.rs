//! That operators support the element types listed in `docs/ONNX.md`, and no others of those that ONNX
//! allows.
//!
//! An operator is tried in a model of one node without attributes, and in its models among ONNX's own tests
//! in the sample, each with other element types in place of its own. It supports a type if one of them
//! compiles with it. The types that ONNX allows are in `tests/data/onnx_types.txt`, which `tests/onnx/types`
//! makes.

use std::collections::BTreeMap;

use crate::protobuf::{content, fields, holding, joined, message, with_int};
use half::{bf16, f16};
use import::onnx::element::Element;
use import::onnx::model::ModelProto;
use import::onnx::rows::{NEWEST, NEWEST_LEARNED, coverage, find};
use import::onnx::tensor::TypeProto;
use optc::protobuf::{HeldArrays, held_in};
use optc::{Array, CompileOptions, LoadOptions, items, load_model_bytes};
use tests::workspace::root;

use crate::conformance::sample;

/// A model, the values of its inputs, and the inputs that get the tested element type.
struct Tried {
    model: Vec<u8>,
    inputs: Vec<HeldArrays>,
    element: i32,
    /// An input that has it.
    index: usize,
}

/// The inputs that get another element type.
#[derive(Clone, Copy, PartialEq)]
enum Changed {
    /// All inputs of the replaced type.
    Alike,
    One,
}

/// The inputs that are constants.
#[derive(Clone, Copy, PartialEq)]
enum Bound {
    Nothing,
    /// The small ones that keep their type.
    Others,
    /// All small ones, for operators that need a constant.
    All,
}

fn number_of(ty: &TypeProto<'_>) -> Option<i32> {
    match ty {
        TypeProto::Tensor { element, .. } => Some(*element),
        TypeProto::Sequence(inner) | TypeProto::Optional(inner) => number_of(inner),
        _ => None,
    }
}

/// A type with another element type.
fn retyped(ty: &[u8], element: Element) -> Vec<u8> {
    let all = fields(ty).into_iter().map(|field| match field.0 {
        1 => {
            let rest = fields(content(&field)).into_iter().filter(|field| field.0 != 1);
            holding(1, &with_int(joined(&rest.collect::<Vec<_>>()), 1, element.number() as u64))
        }
        number => {
            let inner = fields(content(&field)).into_iter();
            let inner = inner.map(|held| match held.0 {
                1 => holding(1, &retyped(content(&held), element)),
                _ => held,
            });
            holding(number as u8, &joined(&inner.collect::<Vec<_>>()))
        }
    });
    joined(&all.collect::<Vec<_>>())
}

/// A number as an element; none for types narrower than a byte, and other types without constants here.
fn encoded(number: f64, element: Element) -> Option<Vec<u8>> {
    Some(match element {
        Element::Float => (number as f32).to_le_bytes().to_vec(),
        Element::Double => number.to_le_bytes().to_vec(),
        Element::Float16 => f16::from_f64(number).to_le_bytes().to_vec(),
        Element::Bfloat16 => bf16::from_f64(number).to_le_bytes().to_vec(),
        Element::Bool | Element::Int8 | Element::Uint8 => vec![number as i64 as u8],
        Element::Int16 | Element::Uint16 => (number as i64 as u16).to_le_bytes().to_vec(),
        Element::Int32 | Element::Uint32 => (number as i64 as u32).to_le_bytes().to_vec(),
        Element::Int64 | Element::Uint64 => (number as i64).to_le_bytes().to_vec(),
        _ => return None,
    })
}

/// The tensor of a file for an array with other elements.
fn weight(name: &str, array: &Array, element: Element) -> Option<Vec<u8>> {
    let numbers = array.to_f64();
    let raw =
        numbers.into_iter().map(|number| encoded(number, element)).collect::<Option<Vec<_>>>()?.concat();
    let mut dims = Vec::new();
    for size in &array.shape {
        dims = with_int(dims, 1, *size);
    }
    Some([with_int(dims, 2, element.number() as u64), message(&[(8, name.as_bytes()), (9, &raw)])].concat())
}

impl Tried {
    /// Whether the model with another element type compiles.
    fn compiles(&self, element: Element, changed: Changed, bound: Bound) -> bool {
        let proto = ModelProto::read(&self.model).expect("the model is well-formed");
        let is_changed = |index: usize| match changed {
            Changed::Alike => number_of(&proto.graph.inputs[index].ty) == Some(self.element),
            Changed::One => index == self.index,
        };
        let mut weights = Vec::new();
        for (index, (input, held)) in proto.graph.inputs.iter().zip(&self.inputs).enumerate() {
            let HeldArrays::Tensor(array) = held else { continue };
            let own = number_of(&input.ty).and_then(Element::from_number);
            let element = if is_changed(index) { Some(element) } else { own };
            let is_bound = bound == Bound::All || (bound == Bound::Others && !is_changed(index));
            if is_bound && array.shape.iter().product::<u64>() <= 64 {
                let Some(weight) = element.and_then(|element| weight(input.name, array, element)) else {
                    return false;
                };
                weights.push(weight);
            }
        }
        let items = items::in_order(&proto, &self.inputs);
        let model = self.with(element, &is_changed, &weights);
        let mut options = LoadOptions::default();
        options.sizes.items = items;
        let Ok(mut module) = load_model_bytes("m.onnx", model, &options) else { return false };
        optc::compile(&mut module, &CompileOptions::default()).is_ok()
    }

    /// The model with another element type and further weights. Its declared types of other values are
    /// removed.
    fn with(&self, element: Element, is_changed: &dyn Fn(usize) -> bool, weights: &[Vec<u8>]) -> Vec<u8> {
        let all = fields(&self.model).into_iter().map(|field| {
            if field.0 != 7 {
                return field;
            }
            let mut index = 0;
            let graph = fields(content(&field)).into_iter().filter(|held| held.0 != 13);
            let graph = graph.map(|held| match held.0 {
                11 => {
                    index += 1;
                    let info = fields(content(&held)).into_iter().map(|part| match part.0 {
                        2 if is_changed(index - 1) => holding(2, &retyped(content(&part), element)),
                        _ => part,
                    });
                    holding(11, &joined(&info.collect::<Vec<_>>()))
                }
                12 => {
                    let info = fields(content(&held)).into_iter().filter(|part| part.0 == 1);
                    holding(12, &joined(&info.collect::<Vec<_>>()))
                }
                _ => held,
            });
            let weights = weights.iter().map(|weight| holding(5, weight));
            let graph: Vec<_> = graph.chain(weights).collect();
            holding(7, &joined(&graph))
        });
        joined(&all.collect::<Vec<_>>())
    }

    fn takes(&self, element: Element, bounds: &[Bound]) -> bool {
        [Changed::Alike, Changed::One]
            .into_iter()
            .any(|changed| bounds.iter().any(|bound| self.compiles(element, changed, *bound)))
    }
}

/// A model of the sample, with the type of input `index` to be tested.
fn of_sample(name: &str, files: &BTreeMap<&str, &[u8]>, index: usize) -> Option<Tried> {
    let model = files.get(&*format!("{name}/model.onnx"))?.to_vec();
    let held = (0..).map_while(|at| files.get(&*format!("{name}/test_data_set_0/input_{at}.pb")));
    let inputs = held.map(|bytes| held_in(bytes.to_vec())).collect::<Result<Vec<_>, _>>().ok()?;
    let proto = ModelProto::read(&model).ok()?;
    let input = proto.graph.inputs.get(index)?;
    // An optional without a value is accepted with any type.
    inputs.get(index).filter(|held| !matches!(held, HeldArrays::Nothing))?;
    let element = number_of(&input.ty)?;
    Some(Tried { model, inputs, element, index })
}

/// The models of the sample with a single node, by operator.
fn samples<'f>(files: &BTreeMap<&'f str, &[u8]>) -> BTreeMap<String, Vec<&'f str>> {
    let mut found: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (path, bytes) in files {
        let Some(name) = path.strip_suffix("/model.onnx") else { continue };
        let proto = ModelProto::read(bytes).expect("the model is well-formed");
        if let [node] = &proto.graph.nodes[..] {
            let domain = if node.domain.is_empty() { String::new() } else { format!("{}.", node.domain) };
            found.entry(domain + node.op_type).or_default().push(name);
        }
    }
    found
}

/// A node of the main domain, or of `ai.onnx.ml`.
fn node(op: &str, inputs: &[&str], output: &str, attributes: &[Vec<u8>]) -> Vec<u8> {
    let (domain, op) = op.rsplit_once('.').unwrap_or(("", op));
    let mut node: Vec<(u8, &[u8])> = inputs.iter().map(|name| (1, name.as_bytes())).collect();
    node.extend([(2, output.as_bytes()), (4, op.as_bytes()), (7, domain.as_bytes())]);
    node.extend(attributes.iter().map(|attribute| (5, &attribute[..])));
    message(&node)
}

fn attribute(name: &str, number: i64) -> Vec<u8> {
    with_int(with_int(message(&[(1, name.as_bytes())]), 3, number.cast_unsigned()), 20, 2)
}

/// A model of these nodes; its inputs `x0`, `x1`, ... are f32 of shape `[2, 3]`, and its output is `y`.
fn plain(nodes: &[Vec<u8>], inputs: usize) -> Tried {
    let sizes = [2, 3].map(|size| with_int(Vec::new(), 1, size));
    let shape = message(&[(1, &sizes[0]), (1, &sizes[1])]);
    let tensor = [with_int(Vec::new(), 1, 1), message(&[(2, &shape)])].concat();
    let mut graph = Vec::new();
    nodes.iter().for_each(|node| graph.extend(message(&[(1, node)])));
    for index in 0..inputs {
        let name = format!("x{index}");
        let info = message(&[(1, name.as_bytes()), (2, &message(&[(1, &tensor)]))]);
        graph.extend(message(&[(11, &info)]));
    }
    graph.extend(message(&[(12, &message(&[(1, b"y")]))]));
    let set =
        |domain: &str, version: i64| with_int(message(&[(1, domain.as_bytes())]), 2, version.cast_unsigned());
    let sets = [set("", NEWEST), set("ai.onnx.ml", NEWEST_LEARNED)];
    let model = message(&[(7, &graph), (8, &sets[0]), (8, &sets[1])]);
    Tried { model, inputs: Vec::new(), element: 1, index: 0 }
}

/// Models of several nodes, or with an attribute, for operators that no plain model covers.
fn composed(op: &str, element: Element) -> Option<Tried> {
    let one = |of: &str, attributes: &[Vec<u8>]| node(op, &[of], "y", attributes);
    let sequence = || node("SequenceConstruct", &["x0", "x0"], "s", &[]);
    let zero = || node("Constant", &[], "zero", &[attribute("value_int", 0)]);
    let at = |of: &str| node("SequenceAt", &[of, "zero"], "y", &[]);
    let optional = || node("Optional", &["x0"], "s", &[]);
    let nodes = match op {
        "BitCast" => vec![one("x0", &[attribute("to", element.number().into())])],
        "ConcatFromSequence" => vec![sequence(), one("s", &[attribute("axis", 0)])],
        "Optional" => vec![optional(), node("OptionalGetElement", &["s"], "y", &[])],
        "OptionalGetElement" | "OptionalHasElement" => vec![optional(), one("s", &[])],
        "SequenceConstruct" | "SequenceAt" => vec![sequence(), zero(), at("s")],
        "SequenceErase" => vec![sequence(), node(op, &["s"], "t", &[]), zero(), at("t")],
        "SequenceLength" => vec![sequence(), one("s", &[])],
        _ => return None,
    };
    Some(plain(&nodes, 1))
}

/// The models for an operator, for any element type.
fn tried(op: &str, index: usize, names: &[&str], files: &BTreeMap<&str, &[u8]>) -> Vec<Tried> {
    let version = coverage().iter().find(|known| known.op == op).map_or(0, |known| *known.versions.end());
    let is_newest = version >= NEWEST || op.contains('.');
    let least = find(op, version).map_or(0, |row| *row.inputs.start());
    let inputs = (0..least).map(|at| format!("x{at}")).collect::<Vec<_>>();
    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
    let one =
        (is_newest && least > 0).then(|| Tried { index, ..plain(&[node(op, &inputs, "y", &[])], least) });
    let of_samples = names.iter().filter_map(|name| of_sample(name, files, index));
    one.into_iter().chain(of_samples).collect()
}

/// The element types that ONNX allows for an operator, and the input with that type.
fn allowed() -> BTreeMap<String, (usize, Vec<Element>)> {
    let text = std::fs::read_to_string(root().join("tests/data/onnx_types.txt")).expect("it is read");
    let lines = text.lines().map(|line| {
        let mut words = line.split(' ');
        let op = words.next().expect("a line has an operator").to_owned();
        let index = words.next().and_then(|word| word.parse().ok()).expect("a line has an input");
        let known = |name: &str| Element::ALL.iter().copied().find(|element| element.name() == name);
        (op, (index, words.filter_map(known).collect()))
    });
    lines.collect()
}

/// Operators whose element types are those of attributes or constants, and operators with graphs, which pass
/// any value through.
const NOT_TRIED: [&str; 15] = [
    "Constant",
    "If",
    "ImageDecoder",
    "Loop",
    "RandomNormal",
    "RandomUniform",
    "RegexFullMatch",
    "Scan",
    "SequenceEmpty",
    "SequenceMap",
    "StringConcat",
    "StringNormalizer",
    "StringSplit",
    "ai.onnx.ml.LabelEncoder",
    "ai.onnx.preview.FlexAttention",
];

/// Operators whose tested input must be a constant. For others, a constant input proves nothing about machine
/// code, since its readers are evaluated at import.
const OF_CONSTANTS: [&str; 6] =
    ["BlackmanWindow", "ConstantOfShape", "HammingWindow", "HannWindow", "MelWeightMatrix", "Range"];

#[test]
fn operators_take_the_element_types_that_the_document_says_and_no_others() {
    let arrays = sample();
    let files: BTreeMap<&str, &[u8]> = arrays.iter().map(|file| (&file.name[..], &file.bytes[..])).collect();
    let samples = samples(&files);
    let allowed = allowed();
    let mut faults = Vec::new();
    for known in coverage() {
        if NOT_TRIED.contains(&known.op) {
            continue;
        }
        let Some((index, standard)) = allowed.get(known.op) else {
            faults.push(format!("{}: tests/onnx/types was not run for it", known.op));
            continue;
        };
        let says = known.elements();
        let names = samples.get(known.op).map_or(&[][..], |names| names);
        let models = tried(known.op, *index, names, &files);
        for element in Element::ALL {
            let is_said = says.contains(element);
            if !is_said && !standard.contains(element) {
                continue;
            }
            let bounds: &[Bound] = match OF_CONSTANTS.contains(&known.op) {
                true => &[Bound::All],
                false => &[Bound::Nothing, Bound::Others],
            };
            let composed = composed(known.op, *element);
            let is_taken = composed.iter().chain(&models).any(|model| model.takes(*element, bounds));
            if is_said != is_taken {
                let what = if is_taken { "takes" } else { "does not take" };
                faults.push(format!("{} {what} {}", known.op, element.name()));
            }
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}
