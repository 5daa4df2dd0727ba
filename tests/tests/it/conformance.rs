//! ONNX's own backend tests: the list of those that pass, with ONNX's results.
//!
//! The tests are in the folder named by `OPTC_ONNX_TESTS` (`KIND/NAME/model.onnx`, `test_data_set_N`):
//! `OPTC_ONNX_TESTS=/path/to/tests cargo test -p optc-tests --test it conformance:: -- --nocapture`. The
//! table `tests/data/conformance.txt` lists every test that passes. A wrong result, a panic, and a refused
//! test of the table are faults; `OPTC_BLESS=1` adds other tests that pass. Refused tests are counted by
//! their reason, and printed.
//!
//! A plan needs sizes, and some operators take sizes from inputs. So a test is tried in this order: with all
//! inputs at run time; with the sizes of its inputs in place of names; also with its small integer inputs and
//! its encoded images as constants, as `optc run` does; and with all its small inputs as constants. The table
//! has the first way that passes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use import::onnx::declared::DeclaredSizes;
use import::onnx::external::read_file;
use import::onnx::model::ModelProto;
use import::onnx::tensor::{Dimension, TypeProto};
use import::onnx::wire::Message;
use import::onnx::{ImportOptions, StrippedWeights};
use ir::{Context, Module, SharedBytes};
use optc::expect::elements_agree;
use optc::items;
use optc::protobuf::{HeldArrays, append_bytes, array_of, held_in};
use optc::{Array, CompileOptions, Failure, Model};
use runtime::ElementKind;
use tests::given::given;
use tests::workspace::root;

const KINDS: [&str; 5] = ["light", "node", "pytorch-converted", "pytorch-operator", "simple"];

/// The inputs of a test that become constants of its model.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Bound {
    Nothing,
    /// None, but named sizes are replaced by those of the inputs.
    Sizes,
    Integers,
    Numbers,
}

impl Bound {
    const ALL: [Bound; 4] = [Bound::Nothing, Bound::Sizes, Bound::Integers, Bound::Numbers];
    /// The greatest number of elements of an input that becomes a constant.
    const MOST: u64 = 64;

    /// Whether an input becomes a constant. `streams` are the names of encoded images.
    fn takes(self, name: &str, input: &HeldArrays, streams: &BTreeSet<String>) -> bool {
        let HeldArrays::Tensor(input) = input else { return false };
        let is_small = input.shape.iter().product::<u64>() <= Bound::MOST || streams.contains(name);
        let is_float = matches!(
            input.element,
            ElementKind::F32 | ElementKind::F64 | ElementKind::F16 | ElementKind::BF16
        );
        match self {
            Bound::Nothing | Bound::Sizes => false,
            Bound::Integers => is_small && !is_float,
            Bound::Numbers => is_small,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Bound::Nothing => "inputs",
            Bound::Sizes => "sizes",
            Bound::Integers => "integers",
            Bound::Numbers => "numbers",
        }
    }
}

/// The outcome of a test.
pub(crate) enum Outcome {
    Passed,
    Refused(String),
    Wrong(String),
}

/// A test: the bytes of its model, and its sets of data.
struct Case {
    path: PathBuf,
    model: Vec<u8>,
    /// The names of all inputs, and of those that are encoded images.
    names: Vec<String>,
    streams: BTreeSet<String>,
    sets: Vec<DataSet>,
}

/// Inputs and outputs of a run; each input is its file and the content.
struct DataSet {
    inputs: Vec<(Vec<u8>, HeldArrays)>,
    outputs: Vec<Array>,
}

/// The content of a test's files, by name.
pub(crate) type Files<'a> = &'a dyn Fn(&str) -> Option<Vec<u8>>;

/// The files `PREFIX_0.pb`, `PREFIX_1.pb`, ...
fn arrays(files: Files<'_>, prefix: &str) -> Result<Vec<(Vec<u8>, HeldArrays)>, String> {
    let found = (0..).map_while(|index| files(&format!("{prefix}_{index}.pb")));
    let read = |bytes: Vec<u8>| {
        let held = held_in(bytes.clone()).map_err(|fault| format!("test data: {fault}"))?;
        Ok((bytes, held))
    };
    found.map(read).collect()
}

impl DataSet {
    /// The only input of a net without data, as in ONNX's runner: `arange(n) / n`.
    fn ascending(model: &[u8], output: Vec<u8>) -> Result<DataSet, String> {
        let proto = ModelProto::read(model).map_err(|error| error.to_string())?;
        let names = input_names(model)?;
        let declared =
            proto.graph.inputs.iter().find(|input| names.first().is_some_and(|name| name == input.name));
        let Some(TypeProto::Tensor { shape: Some(shape), .. }) = declared.map(|input| &input.ty) else {
            return Err("an input without a shape".to_owned());
        };
        let size = |dimension: &Dimension<'_>| match dimension {
            Dimension::Value(size) => *size as u64,
            _ => 1,
        };
        let shape: Vec<u64> = shape.iter().map(size).collect();
        let count = shape.iter().product::<u64>();
        let numbers = (0..count).map(|index| (index as f64 / count as f64) as f32);
        let bytes = numbers.flat_map(f32::to_le_bytes).collect();
        let input = Array { name: names[0].clone(), element: ElementKind::F32, shape, bytes };
        let output = array_of(output).map_err(|fault| format!("test data: {fault}"))?;
        Ok(DataSet { inputs: vec![(Vec::new(), HeldArrays::Tensor(input))], outputs: vec![output] })
    }
}

impl Case {
    fn read(path: &Path, files: Files<'_>) -> Result<Case, String> {
        let model = files("model.onnx").ok_or("there is no model")?;
        let path = path.to_path_buf();
        let proto = ModelProto::read(&model).map_err(|error| error.to_string())?;
        let names = items::inputs(&proto).map(|(name, _)| name.to_owned()).collect();
        let streams = items::streams(&proto).into_iter().map(str::to_owned).collect();
        if let Some(output) = files("output_0.pb") {
            let sets = vec![DataSet::ascending(&model, output)?];
            return Ok(Case { path, model, names, streams, sets });
        }
        let folders = (0..).map(|index| format!("test_data_set_{index}"));
        let folders = folders.take_while(|folder| files(&format!("{folder}/output_0.pb")).is_some());
        let sets = folders.map(|folder| {
            let outputs = arrays(files, &format!("{folder}/output"))?;
            let outputs = outputs.into_iter().flat_map(|(_, held)| held.into_arrays()).collect();
            Ok(DataSet { inputs: arrays(files, &format!("{folder}/input"))?, outputs })
        });
        let sets = sets.collect::<Result<_, String>>()?;
        Ok(Case { path, model, names, streams, sets })
    }

    /// Whether sizes of its inputs have names.
    fn names_sizes(&self) -> bool {
        let Ok(model) = ModelProto::read(&self.model) else { return false };
        let held = |set: &DataSet| set.inputs.iter().map(|(_, held)| held.clone()).collect::<Vec<_>>();
        self.sets.iter().any(|set| !sizes_of(&model, &held(set)).is_empty())
    }

    fn run(&self, bound: Bound) -> Outcome {
        for set in &self.sets {
            match self.run_set(set, bound) {
                Ok(outputs) if self.is_random() => {
                    if let Err(difference) = compare_types(&set.outputs, &outputs) {
                        return Outcome::Wrong(difference);
                    }
                    return Outcome::Refused("random numbers, of which shape and type are right".to_owned());
                }
                Ok(outputs) => {
                    if let Err(difference) = compare(&set.outputs, &outputs) {
                        return Outcome::Wrong(difference);
                    }
                }
                Err(failure) => return Outcome::Refused(reason(&failure.to_string())),
            }
        }
        Outcome::Passed
    }

    /// Whether its results are random numbers of the test's author.
    fn is_random(&self) -> bool {
        const RANDOM: [&str; 3] = ["Bernoulli", "Multinomial", "Random"];
        let Ok(model) = ModelProto::read(&self.model) else { return false };
        let mut operators = model.graph.nodes.iter().map(|node| node.op_type);
        operators.any(|operator| RANDOM.iter().any(|random| operator.starts_with(random)))
    }

    fn run_set(&self, set: &DataSet, bound: Bound) -> Result<Vec<Array>, Failure> {
        let mut module = self.load(set, bound)?;
        let mut model = Model::compile(&mut module, &CompileOptions::default())?;
        let inputs = self.inputs(set).filter(|(name, (_, held))| !self.is_taken(bound, name, held));
        let inputs: Vec<Array> = inputs.flat_map(|(name, (_, held))| named(name, held)).collect();
        model.run(&inputs)
    }

    /// The inputs of a set, with their names.
    fn inputs<'s>(
        &'s self,
        set: &'s DataSet,
    ) -> impl Iterator<Item = (&'s String, &'s (Vec<u8>, HeldArrays))> {
        self.names.iter().zip(&set.inputs)
    }

    fn is_taken(&self, bound: Bound, name: &str, held: &HeldArrays) -> bool {
        bound.takes(name, held, &self.streams)
    }

    /// The model with some inputs of a set as weights.
    fn load(&self, set: &DataSet, bound: Bound) -> Result<Module, Failure> {
        let taken = self.inputs(set).filter(|(name, (_, held))| self.is_taken(bound, name, held));
        let weights = taken.map(|(name, (file, _))| {
            let mut weight = file.clone();
            append_bytes(&mut weight, 8, name.as_bytes());
            weight
        });
        let bytes = with_weights(&self.model, &weights.collect::<Vec<_>>());
        let ctx = Arc::new(Context::new());
        let open_file = |path: &Path| -> std::io::Result<SharedBytes> {
            if path.ends_with("model.onnx") { Ok(Arc::new(bytes.clone())) } else { read_file(path) }
        };
        let stripped = StrippedWeights::Refuse;
        let proto = ModelProto::read(&self.model);
        let proto = proto.map_err(|error| Failure::input(error.to_string()))?;
        let held: Vec<HeldArrays> = set.inputs.iter().map(|(_, held)| held.clone()).collect();
        let values = if bound == Bound::Nothing { BTreeMap::new() } else { sizes_of(&proto, &held) };
        let sizes = DeclaredSizes { values, items: items::in_order(&proto, &held), ..DeclaredSizes::new() };
        let options = ImportOptions { open_file: &open_file, stripped, sizes };
        let module = import::onnx::import(&ctx, &self.path.join("model.onnx"), &options);
        module.map_err(|faults| Failure::diagnostics(&ctx, &faults))
    }
}

/// The values of a model's size names, from the shapes of arrays.
fn sizes_of(model: &ModelProto<'_>, held: &[HeldArrays]) -> BTreeMap<String, u64> {
    let mut sizes = BTreeMap::new();
    for ((_, ty), held) in items::inputs(model).zip(held) {
        let (TypeProto::Tensor { shape: Some(shape), .. }, HeldArrays::Tensor(array)) = (ty, held) else {
            continue;
        };
        for (dimension, size) in shape.iter().zip(&array.shape) {
            // Expressions follow from plain names.
            let is_plain = |name: &str| name.chars().all(|c| c.is_alphanumeric() || c == '_');
            if let Dimension::Symbol(name) = dimension
                && is_plain(name)
            {
                sizes.insert((*name).to_owned(), *size);
            }
        }
    }
    sizes
}

/// The content of an input, as the arrays of a program.
fn named(name: &str, held: &HeldArrays) -> Vec<Array> {
    match held {
        HeldArrays::Tensor(array) => vec![Array { name: name.to_owned(), ..array.clone() }],
        HeldArrays::Items(arrays) => {
            let arrays = arrays.iter().enumerate();
            arrays.map(|(at, array)| Array { name: format!("{name}[{at}]"), ..array.clone() }).collect()
        }
        HeldArrays::Nothing => Vec::new(),
    }
}

/// The model with further initializers at the end of its graph.
fn with_weights(model: &[u8], weights: &[Vec<u8>]) -> Vec<u8> {
    let fields = Message::new(model).fields().filter_map(Result::ok);
    let graph = fields.filter(|field| field.number == 7).find_map(|field| field.bytes("graph").ok());
    let Some(graph) = graph else { return model.to_vec() };
    let graph_field = |graph: &[u8]| {
        let mut field = Vec::new();
        append_bytes(&mut field, 7, graph);
        field
    };
    let end = graph.offset + graph.bytes.len();
    let begin = end - graph_field(graph.bytes).len();
    let mut with_weights = graph.bytes.to_vec();
    weights.iter().for_each(|weight| append_bytes(&mut with_weights, 5, weight));
    [&model[..begin], &graph_field(&with_weights), &model[end..]].concat()
}

/// The names of a model's inputs that are not weights, in order.
fn input_names(model: &[u8]) -> Result<Vec<String>, String> {
    let model = ModelProto::read(model).map_err(|error| error.to_string())?;
    Ok(items::inputs(&model).map(|(name, _)| name.to_owned()).collect())
}

fn compare(expected: &[Array], found: &[Array]) -> Result<(), String> {
    if expected.len() != found.len() {
        return Err(format!("{} outputs, expected {}", found.len(), expected.len()));
    }
    for (index, (expected, found)) in expected.iter().zip(found).enumerate() {
        elements_agree(expected, found).map_err(|difference| format!("output {index}: {difference}"))?;
    }
    Ok(())
}

fn compare_types(expected: &[Array], found: &[Array]) -> Result<(), String> {
    let types = |arrays: &[Array]| -> Vec<(ElementKind, Vec<u64>)> {
        arrays.iter().map(|array| (array.element, array.shape.clone())).collect()
    };
    let (expected, found) = (types(expected), types(found));
    if expected == found { Ok(()) } else { Err(format!("{found:?}, expected {expected:?}")) }
}

/// The first error of a message, without numbers.
fn reason(text: &str) -> String {
    let line = text.lines().find(|line| line.contains("error")).unwrap_or(text);
    let line = line.split_once("error: ").map_or(line, |(_, line)| line);
    let line = line.split_once(", in ").map_or(line, |(line, _)| line);
    line.chars().map(|c| if c.is_ascii_digit() { '#' } else { c }).collect()
}

/// The outcome of a test in the first way that is not refused, or in the last, and the reason for a refusal
/// at run time.
pub(crate) struct Tried {
    bound: Bound,
    pub(crate) outcome: Outcome,
    refusal: Option<String>,
}

/// A test run that catches panics.
pub(crate) fn outcome(path: &Path, files: Files<'_>) -> Tried {
    let case = match Case::read(path, files) {
        Ok(case) => case,
        Err(fault) => {
            return Tried { bound: Bound::Nothing, outcome: Outcome::Refused(fault), refusal: None };
        }
    };
    let mut refusal = None;
    let mut last = String::new();
    for bound in Bound::ALL {
        let mut inputs = case.sets.iter().flat_map(|set| case.inputs(set));
        let takes = inputs.any(|(name, (_, held))| case.is_taken(bound, name, held));
        let is_tried = match bound {
            Bound::Nothing => true,
            Bound::Sizes => case.names_sizes(),
            Bound::Integers | Bound::Numbers => takes,
        };
        if !is_tried {
            continue;
        }
        match catch_unwind(AssertUnwindSafe(|| case.run(bound))) {
            Ok(Outcome::Refused(reason)) => {
                refusal.get_or_insert(reason.clone());
                last = reason;
            }
            Ok(outcome) => return Tried { bound, outcome, refusal },
            Err(_) => return Tried { bound, outcome: Outcome::Wrong("a panic".to_owned()), refusal },
        }
    }
    Tried { bound: Bound::Nothing, outcome: Outcome::Refused(last), refusal }
}

/// A file of a test. A net without data has no folder of its own.
fn read_file_of(folder: &Path, name: &str, file: &str) -> Option<Vec<u8>> {
    if !name.starts_with("light/") {
        return std::fs::read(folder.join(name).join(file)).ok();
    }
    let beside = if file == "model.onnx" { ".onnx".to_owned() } else { format!("_{file}") };
    std::fs::read(folder.join(name.to_owned() + &beside)).ok()
}

/// The outcomes of all tests, by name.
fn outcomes(folder: &Path) -> BTreeMap<String, Tried> {
    let only = std::env::var("OPTC_ONNX_ONLY").unwrap_or_default();
    let mut names: Vec<String> = Vec::new();
    for kind in KINDS {
        let Ok(entries) = std::fs::read_dir(folder.join(kind)) else { continue };
        let entries = entries.map(|entry| entry.expect("it is read").file_name());
        names.extend(entries.map(|name| format!("{kind}/{}", name.display())));
    }
    let name_of_net = |name: String| name.strip_suffix(".onnx").map(str::to_owned).unwrap_or(name);
    let mut names: Vec<String> = names.into_iter().map(name_of_net).collect();
    names.retain(|name| name.contains(&only) && read_file_of(folder, name, "model.onnx").is_some());
    let left = Mutex::new(names.into_iter());
    let found = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let Some(name) = left.lock().expect("none panicked").next() else { return };
                    let path = folder.join(&name);
                    let outcome = outcome(&path, &|file| read_file_of(folder, &name, file));
                    found.lock().expect("none panicked").insert(name, outcome);
                }
            });
        }
    });
    found.into_inner().expect("none panicked")
}

/// The number of passing tests of a kind.
#[derive(Default)]
struct Count {
    tests: usize,
    passed: [usize; 4],
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [inputs, sizes, integers, numbers] = self.passed;
        let passed = inputs + sizes + integers;
        write!(f, "{passed} of {} passed, {inputs} of them with all inputs at run time", self.tests)?;
        write!(f, "; {numbers} more with small inputs of floats as constants")
    }
}

/// The sample is an npz archive with the files of some tests as bytes; `tests/onnx/sample` makes it.
pub(crate) fn sample() -> Vec<Array> {
    let arrays = optc::arrays::read_npz(&root().join("tests/data/conformance.npz"), &|_| None);
    arrays.unwrap_or_else(|failure| panic!("{failure}"))
}

#[test]
fn a_sample_of_onnx_s_own_tests_is_passed() {
    let arrays = sample();
    let files: BTreeMap<&str, &[u8]> = arrays.iter().map(|file| (&file.name[..], &file.bytes[..])).collect();
    let names: BTreeSet<&str> = files.keys().filter_map(|name| name.strip_suffix("/model.onnx")).collect();
    assert!(names.len() > 200, "only {} tests are in the sample", names.len());
    for name in names {
        let read = |file: &str| files.get(&format!("{name}/{file}")[..]).map(|bytes| bytes.to_vec());
        match outcome(Path::new(name), &read).outcome {
            Outcome::Passed => {}
            Outcome::Refused(reason) => panic!("{name} is refused: {reason}"),
            Outcome::Wrong(difference) => panic!("{name} is wrong: {difference}"),
        }
    }
}

#[test]
#[cfg_attr(not(given = "OPTC_ONNX_TESTS"), ignore = "needs OPTC_ONNX_TESTS")]
fn what_is_computed_of_onnx_s_own_tests_is_right_and_never_less() {
    let table_path = root().join("tests/data/conformance.txt");
    let table = std::fs::read_to_string(&table_path).unwrap_or_default();
    let mut passed: BTreeSet<String> = table.lines().map(str::to_owned).collect();
    let (mut faults, mut more) = (Vec::new(), Vec::new());
    let mut counts: BTreeMap<&str, Count> = BTreeMap::new();
    let mut refusals: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, Tried { bound, outcome, refusal }) in outcomes(&given("OPTC_ONNX_TESTS")) {
        let kind = KINDS.into_iter().find(|kind| name.starts_with(kind)).expect("it is of a kind");
        let count = counts.entry(kind).or_default();
        count.tests += 1;
        let known = Bound::ALL.into_iter().find(|bound| passed.contains(&format!("{name} {}", bound.word())));
        if let Some(reason) = refusal {
            refusals.entry(format!("at run time, {reason}")).or_default().push(name.clone());
        }
        match outcome {
            Outcome::Passed => {
                count.passed[bound as usize] += 1;
                match known {
                    Some(known) if known < bound => faults.push(format!("{name}: only with constants")),
                    Some(known) if known == bound => {}
                    _ => more.push((name, known, bound)),
                }
            }
            Outcome::Wrong(difference) => faults.push(format!("{name} ({}): {difference}", bound.word())),
            Outcome::Refused(reason) => {
                if known.is_some() {
                    faults.push(format!("{name}: {reason}"));
                }
                refusals.entry(reason).or_default().push(name);
            }
        }
    }
    let mut refusals: Vec<_> = refusals.into_iter().collect();
    refusals.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
    for (reason, names) in &refusals {
        println!("refused {}: {reason}: {}", names.len(), names[..names.len().min(3)].join(", "));
    }
    for (kind, count) in &counts {
        println!("{kind}: {count}");
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    if std::env::var_os("OPTC_BLESS").is_some() {
        for (name, known, bound) in more {
            known.map(|known| passed.remove(&format!("{name} {}", known.word())));
            passed.insert(format!("{name} {}", bound.word()));
        }
        let lines: String = passed.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(table_path, lines).expect("the table is written");
    } else if !more.is_empty() {
        println!("{} are passed beyond the table; OPTC_BLESS=1 adds them", more.len());
    }
}
