//! That hostile files are refused in a second and in at most ten times their size, without a panic.
//!
//! Three small models with every truncation and every flipped bit; operators with numbers too large for
//! memory and loops, at known and unknown sizes; and files with a costly structure: nested graphs, loops and
//! functions, chains, cycles, many names, many faults.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use optc::{LoadOptions, load_model_bytes};

use crate::writer::{
    FLOAT, Graph, INT64, Message, called, float, floats, floats_tensor, function, graph, int, ints,
    ints_tensor, model, property, raw_tensor, string, tensor, value_info, with_functions,
};
use crate::{ALLOCATOR, cpu_time};

/// An allowance for the memory of an empty context, in bytes.
const FREE_BYTES: u64 = 2 << 20;
/// The greatest CPU time for a file, of one thread.
const MOST_TIME: Duration = Duration::from_secs(1);

/// The numbers of files read and refused.
#[derive(Default)]
struct Told {
    read: usize,
    refused: usize,
    faults: Vec<String>,
}

impl Told {
    /// Imports a file.
    fn import(&mut self, what: &str, bytes: &[u8]) {
        self.import_beside(what, bytes, FREE_BYTES);
    }

    /// The same, but a refusal may take this number of bytes in addition to those for the file.
    fn import_beside(&mut self, what: &str, bytes: &[u8], free_bytes: u64) {
        let length = bytes.len();
        let file = bytes.to_vec();
        let begin = cpu_time();
        let load = || load_model_bytes("m.onnx", file, &LoadOptions::default()).is_ok();
        let (is_read, used) = ALLOCATOR.measure(|| catch_unwind(AssertUnwindSafe(load)));
        let time = cpu_time() - begin;
        if time > MOST_TIME {
            self.faults.push(format!("{what}: {time:?} for a file of {length} bytes"));
        }
        match is_read {
            Err(_) => self.faults.push(format!("{what}: a panic")),
            Ok(true) => self.read += 1,
            Ok(false) => {
                self.refused += 1;
                let peak = used.peak_bytes;
                if peak > 10 * length as u64 + free_bytes {
                    self.faults.push(format!("{what}: {peak} bytes for a file of {length}"));
                }
            }
        }
    }

    fn assert(&self) {
        let faults = &self.faults;
        assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    }
}

fn int64(name: &str, number: i64) -> Message {
    raw_tensor(name, INT64, &[], &number.to_le_bytes())
}

/// A convolution, a pool and a product, with constants and integers.
fn images() -> Message {
    let graph =
        Graph::default().input("x", &[1, 2, 5, 5]).weight(floats_tensor("w", &[2, 2, 3, 3], &[0.5; 36]));
    let graph = graph.weight(floats_tensor("b", &[2], &[1.0; 2])).weight(ints_tensor("flat", &[0, -1]));
    let graph = graph
        .node("Conv", &["x", "w", "b"], &["c"], &[string("auto_pad", "SAME_UPPER")])
        .node("MaxPool", &["c"], &["p"], &[ints("kernel_shape", &[2, 2]), ints("strides", &[2, 2])])
        .node("Reshape", &["p", "flat"], &["f"], &[])
        .node("Gemm", &["f", "m", "b"], &["g"], &[int("transB", 1)])
        .node("Softmax", &["g"], &["y"], &[int("axis", -1)]);
    let mut graph = graph.weight(floats_tensor("m", &[2, 8], &[1.0; 16])).output("y");
    graph.value_infos = vec![value_info("p", FLOAT, &[1, 2, 2, -1])];
    model(17, graph)
}

/// A function of one node.
fn leaky() -> Message {
    function(
        "Leaky",
        &["x"],
        &["y"],
        &[],
        Graph::default().node("LeakyRelu", &["x"], &["y"], &[float("alpha", 0.5)]),
    )
}

/// A loop whose graph reads outer values, and a call of a function.
fn looping() -> Message {
    let infos = vec![value_info("i", INT64, &[]), value_info("c", 9, &[]), value_info("s", FLOAT, &[3])];
    let body = Graph { inputs: infos, ..Graph::default() };
    let body = body.node("Add", &["s", "x"], &["t"], &[]).node("Identity", &["c"], &["d"], &[]);
    let body = body.output("d").output("t").output("t");
    let main = Graph::default().input("x", &[3]).weight(int64("three", 3));
    let main = main.node("Loop", &["three", "", "x"], &["y", "z"], &[graph("body", body)]);
    let main = called(main, "Leaky", &["y"], &["w"], &[]).output("w").output("z");
    with_functions(main, &[leaky()])
}

/// Named sizes, numbers computed from them, and a sequence.
fn moving() -> Message {
    let graph = Graph::default().input("x", &[-1, 3]).weight(ints_tensor("ends", &[2, 1]));
    let graph = graph.weight(int64("zero", 0));
    let graph = graph
        .node("Constant", &[], &["flat"], &[tensor("value", &ints_tensor("", &[-1]))])
        .node("Shape", &["x"], &["s"], &[])
        .node("Gather", &["s", "zero"], &["n"], &[])
        .node("Unsqueeze", &["n", "axes"], &["n1"], &[])
        .node("SplitToSequence", &["x", "ends"], &["q"], &[int("axis", 1)])
        .node("SequenceAt", &["q", "zero"], &["e"], &[])
        .node("Reshape", &["e", "flat"], &["f"], &[])
        .node("Concat", &["n1", "flat"], &["to"], &[int("axis", 0)])
        .node("Reshape", &["f", "to"], &["y"], &[]);
    model(17, graph.weight(ints_tensor("axes", &[0])).output("y"))
}

#[test]
fn every_truncation_and_every_flipped_bit_of_three_models_is_read_or_refused() {
    for (name, model) in [("images", images().0), ("looping", looping().0), ("moving", moving().0)] {
        let mut told = Told::default();
        told.import(name, &model);
        assert_eq!(told.read, 1, "{name} is a model");
        for length in 0..model.len() {
            told.import(&format!("{length} bytes of {name}"), &model[..length]);
        }
        let mut flipped = model.clone();
        for at in 0..model.len() {
            for bit in 0..8 {
                flipped[at] ^= 1 << bit;
                told.import(&format!("{name}, bit {bit} of byte {at} flipped"), &flipped);
                flipped[at] = model[at];
            }
        }
        told.assert();
        assert!(
            told.read > 100 && told.refused > 1000,
            "{name}: {} read, {} refused",
            told.read,
            told.refused
        );
    }
}

/// The placeholder of the hostile number in a probe.
const HOLE: i64 = -9;
const NUMBERS: [i64; 9] = [i64::MIN, -(1 << 40), -3, 0, 1 << 20, 1 << 31, 1 << 40, i64::MAX - 1, i64::MAX];

/// An operand of a probe.
enum Slot {
    X,
    /// A weight of zeros.
    Weight(&'static [i64]),
    /// A constant of integers.
    Ints(&'static [i64]),
    /// The hostile number, of rank 0.
    Int,
    /// The number as floats, in a list.
    Floats(&'static [i64]),
    LeftOut,
}

/// An attribute of a probe.
enum Given {
    Int(&'static str, i64),
    Ints(&'static str, &'static [i64]),
    Text(&'static str, &'static str),
}

use Given::Text;
use Slot::{Floats, Int, Ints, LeftOut, Weight, X};

/// An operator, the shape of its input `x`, its operands and its attributes.
type Probe = (&'static str, &'static [i64], &'static [Slot], &'static [Given]);

const fn at(name: &'static str) -> Given {
    Given::Int(name, HOLE)
}

const fn all(name: &'static str, numbers: &'static [i64]) -> Given {
    Given::Ints(name, numbers)
}

const IMAGE: &[i64] = &[1, 2, 4, 4];
const FILTER: Slot = Weight(&[2, 2, 3, 3]);

#[rustfmt::skip]
const PROBES: &[Probe] = &[
    ("Reshape", &[2, 3], &[X, Ints(&[HOLE, 2])], &[]),
    ("Expand", &[2, 3], &[X, Ints(&[HOLE, 2, 3])], &[]),
    ("Tile", &[2, 3], &[X, Ints(&[HOLE, HOLE])], &[]),
    ("ConstantOfShape", &[2], &[Ints(&[HOLE, 2])], &[]),
    ("Pad", &[2, 3], &[X, Ints(&[HOLE, 0, HOLE, 1])], &[]),
    ("Pad", &[2, 3], &[X, Ints(&[HOLE, 0, 1, 1])], &[Text("mode", "reflect")]),
    ("Slice", &[2, 3], &[X, Ints(&[HOLE]), Ints(&[HOLE]), Ints(&[0]), Ints(&[HOLE])], &[]),
    ("Slice", &[2, 3], &[X, Ints(&[0]), Ints(&[HOLE]), Ints(&[HOLE]), Ints(&[1])], &[]),
    ("Range", &[2], &[Int, Int, Int], &[]),
    ("Split", &[2, 3], &[X, Ints(&[HOLE, HOLE])], &[]),
    ("Split", &[2, 3], &[X], &[at("num_outputs")]),
    ("SplitToSequence", &[2, 3], &[X, Int], &[]),
    ("TopK", &[2, 3], &[X, Ints(&[HOLE])], &[]),
    ("TopK", &[2, 3], &[X, Ints(&[1])], &[at("axis")]),
    ("Unsqueeze", &[2, 3], &[X, Ints(&[HOLE, 0])], &[]),
    ("Squeeze", &[1, 3], &[X, Ints(&[HOLE])], &[]),
    ("Transpose", &[2, 3], &[X], &[all("perm", &[HOLE, 0])]),
    ("Flatten", &[2, 3], &[X], &[at("axis")]),
    ("ReduceSum", &[2, 3], &[X, Ints(&[HOLE])], &[]),
    ("ReduceMax", &[2, 3], &[X, Ints(&[0, HOLE])], &[]),
    ("CumSum", &[2, 3], &[X, Int], &[]),
    ("Gather", &[2, 3], &[X, Ints(&[HOLE])], &[]),
    ("Gather", &[2, 3], &[X, Ints(&[0])], &[at("axis")]),
    ("GatherND", &[2, 3], &[X, Ints(&[HOLE])], &[at("batch_dims")]),
    ("GatherElements", &[3], &[X, Ints(&[HOLE])], &[]),
    ("ScatterND", &[3], &[X, Ints(&[HOLE]), Weight(&[1])], &[]),
    ("ScatterElements", &[3], &[X, Ints(&[HOLE]), Weight(&[1])], &[at("axis")]),
    ("OneHot", &[2], &[Ints(&[HOLE, 1]), Int, Weight(&[2])], &[]),
    ("EyeLike", &[2, 3], &[X], &[at("k")]),
    ("Trilu", &[2, 3], &[X, Int], &[]),
    ("RandomNormal", &[2], &[], &[all("shape", &[HOLE, HOLE])]),
    ("RandomUniformLike", &[2], &[X], &[at("dtype")]),
    ("Multinomial", &[2, 3], &[X], &[at("sample_size")]),
    ("Conv", IMAGE, &[X, FILTER], &[at("group")]),
    ("Conv", IMAGE, &[X, FILTER], &[all("pads", &[HOLE, 0, HOLE, 0])]),
    ("Conv", IMAGE, &[X, FILTER], &[all("pads", &[HOLE, 0, HOLE, 0]), all("strides", &[HOLE, 1])]),
    ("Conv", IMAGE, &[X, FILTER], &[all("dilations", &[HOLE, 1])]),
    ("Conv", IMAGE, &[X, FILTER], &[all("kernel_shape", &[HOLE, 3])]),
    ("ConvTranspose", IMAGE, &[X, FILTER], &[all("strides", &[HOLE, 1])]),
    ("ConvTranspose", IMAGE, &[X, FILTER], &[all("output_padding", &[HOLE, 0]), all("strides", &[2, 2])]),
    ("ConvTranspose", IMAGE, &[X, FILTER], &[all("output_shape", &[HOLE, 9])]),
    ("ConvTranspose", IMAGE, &[X, FILTER], &[all("dilations", &[HOLE, HOLE])]),
    ("MaxPool", IMAGE, &[X], &[all("kernel_shape", &[HOLE, 2])]),
    ("MaxPool", IMAGE, &[X], &[all("kernel_shape", &[2, 2]), all("pads", &[HOLE, 0, 0, 0])]),
    ("AveragePool", IMAGE, &[X],
        &[all("kernel_shape", &[2, 2]), all("dilations", &[HOLE, 1]), Given::Int("ceil_mode", 1)]),
    ("LpPool", IMAGE, &[X], &[all("kernel_shape", &[2, 2]), at("p")]),
    ("Resize", IMAGE, &[X, LeftOut, LeftOut, Ints(&[1, 2, HOLE, HOLE])], &[]),
    ("Resize", IMAGE, &[X, LeftOut, Floats(&[1, 1, HOLE, HOLE])], &[Text("mode", "cubic")]),
    ("Upsample", IMAGE, &[X, Floats(&[1, 1, HOLE, 1])], &[]),
    ("DepthToSpace", IMAGE, &[X], &[at("blocksize")]),
    ("SpaceToDepth", IMAGE, &[X], &[at("blocksize")]),
    ("LRN", IMAGE, &[X], &[at("size")]),
    ("GroupNormalization", IMAGE, &[X, Weight(&[2]), Weight(&[2])], &[at("num_groups")]),
    ("Col2Im", &[1, 8, 4], &[X, Ints(&[HOLE, 4]), Ints(&[2, HOLE])], &[]),
    ("CenterCropPad", &[2, 3], &[X, Ints(&[HOLE, 3])], &[]),
    ("AffineGrid", &[1, 2, 3], &[X, Ints(&[1, 2, HOLE, HOLE])], &[]),
    ("HannWindow", &[2], &[Int], &[]),
    ("MelWeightMatrix", &[2], &[Int, Int, Ints(&[16_000]), Floats(&[0]), Floats(&[HOLE])], &[]),
    ("DFT", &[1, 4, 1], &[X, Int], &[]),
    ("STFT", &[1, 8, 1], &[X, Int, LeftOut, Int], &[]),
    ("Softmax", &[2, 3], &[X], &[at("axis")]),
    ("LayerNormalization", &[2, 3], &[X, Weight(&[3])], &[at("axis")]),
    ("Concat", &[2, 3], &[X, X], &[at("axis")]),
    ("Cast", &[2, 3], &[X], &[at("to")]),
    ("Shape", &[2, 3], &[X], &[at("start"), at("end")]),
    ("ArgMax", &[2, 3], &[X], &[at("axis")]),
    ("ReverseSequence", &[2, 3], &[X, Ints(&[HOLE, HOLE, 1])], &[at("time_axis")]),
    ("Attention", &[1, 2, 4], &[X, X, X], &[at("q_num_heads"), at("kv_num_heads")]),
    ("RotaryEmbedding", &[1, 2, 4],
        &[X, Weight(&[4, 2]), Weight(&[4, 2]), Ints(&[HOLE])], &[at("num_heads")]),
    ("LSTM", &[2, 1, 3], &[X, Weight(&[1, 8, 3]), Weight(&[1, 8, 2])], &[at("hidden_size")]),
    ("GRU", &[2, 1, 3],
        &[X, Weight(&[1, 6, 3]), Weight(&[1, 6, 2]), LeftOut, Ints(&[HOLE])], &[at("layout")]),
    ("NonMaxSuppression", &[1, 2, 4], &[X, Weight(&[1, 1, 2]), Int], &[]),
    ("RoiAlign", IMAGE, &[X, Weight(&[1, 4]), Ints(&[HOLE])], &[at("sampling_ratio")]),
    ("RoiAlign", IMAGE, &[X, Weight(&[1, 4]), Ints(&[0])], &[at("output_height"), at("output_width")]),
    ("MaxUnpool", IMAGE, &[X, Ints(&[HOLE])], &[all("kernel_shape", &[HOLE, HOLE])]),
    ("QuantizeLinear", &[2, 3], &[X, Weight(&[2])], &[at("axis"), at("block_size")]),
    ("SequenceAt", &[2, 3], &[X, Int], &[]),
    ("TfIdfVectorizer", &[2], &[Ints(&[HOLE])], &[all("ngram_counts", &[HOLE]), all("ngram_indexes", &[HOLE]),
        all("pool_int64s", &[HOLE]), at("max_gram_length"), at("max_skip_count"),
        at("min_gram_length"), Text("mode", "TF")]),
    ("CausalConvWithState", &[1, 2, 4], &[X, Weight(&[2, 1, 3])], &[]),
    ("TensorScatter", &[1, 2, 3], &[X, Weight(&[1, 1, 3]), Ints(&[HOLE])], &[at("axis")]),
    ("Compress", &[3], &[X, Ints(&[HOLE])], &[at("axis")]),
    ("BitShift", &[2], &[Ints(&[HOLE, 1]), Ints(&[HOLE, 1])], &[Text("direction", "LEFT")]),
    ("Div", &[2], &[Ints(&[i64::MIN, 1]), Ints(&[-1, HOLE])], &[]),
    ("Mod", &[2], &[Ints(&[i64::MIN, 1]), Ints(&[-1, HOLE])], &[]),
    ("Pow", &[2], &[Ints(&[HOLE, 3]), Ints(&[HOLE, HOLE])], &[]),
    ("Einsum", &[2, 3], &[X, X], &[Text("equation", "abcdefghijklmnopqrstuvwxyzab...,...zyx->...")]),
];

/// The model of a probe for a number; `first` is the first size of its input.
fn probe((op, shape, slots, given): &Probe, number: i64, first: i64) -> Message {
    let put = |numbers: &[i64]| -> Vec<i64> {
        numbers.iter().map(|held| if *held == HOLE { number } else { *held }).collect()
    };
    let mut graph = Graph::default().input("x", &[&[first], &shape[1..]].concat());
    let mut names = Vec::new();
    for (index, slot) in slots.iter().enumerate() {
        let name = format!("w{index}");
        let tensor = match slot {
            X => Ok("x"),
            LeftOut => Ok(""),
            Weight(shape) => {
                Err(floats_tensor(&name, shape, &vec![0.0; shape.iter().product::<i64>() as usize]))
            }
            Ints(numbers) => Err(ints_tensor(&name, &put(numbers))),
            Int => Err(int64(&name, number)),
            Floats(numbers) => {
                let floats: Vec<f32> = put(numbers).into_iter().map(|number| number as f32).collect();
                Err(floats_tensor(&name, &[floats.len() as i64], &floats))
            }
        };
        names.push(tensor.as_ref().map_or(name, |name| (*name).to_owned()));
        graph = tensor.err().into_iter().fold(graph, Graph::weight);
    }
    let attributes: Vec<Message> = given
        .iter()
        .map(|given| match given {
            Given::Int(name, held) => int(name, put(&[*held])[0]),
            Given::Ints(name, numbers) => ints(name, &put(numbers)),
            Text(name, text) => string(name, text),
        })
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let version = if *op == "Upsample" {
        9
    } else if *op == "CausalConvWithState" {
        27
    } else {
        24
    };
    model(version, graph.node(op, &names, &["y"], &attributes).output("y"))
}

#[test]
fn operators_with_hostile_numbers_are_read_or_refused() {
    let mut told = Told::default();
    for entry in PROBES {
        let (op, shape, ..) = entry;
        for number in NUMBERS {
            told.import(&format!("{op} with {number}"), &probe(entry, number, shape[0]).0);
            told.import(&format!("{op} with {number}, of any size"), &probe(entry, number, -1).0);
        }
        // A size of an input that is too large for memory.
        for number in [1, 1 << 31, i64::MAX] {
            told.import(&format!("{op} of a large input with {number}"), &probe(entry, number, 1 << 40).0);
        }
    }
    told.assert();
    assert!(told.read > 200 && told.refused > 500, "{} read, {} refused", told.read, told.refused);
}

/// A graph with an input `x` of shape [3].
fn plain() -> Graph {
    Graph::default().input("x", &[3])
}

/// A loop over a graph with one state, with a constant number of iterations.
fn around(inner: Graph, turns: i64, depth: usize) -> Graph {
    let (i, c, s) = (format!("i{depth}"), format!("c{depth}"), format!("s{depth}"));
    let infos = vec![value_info(&i, INT64, &[]), value_info(&c, 9, &[]), value_info(&s, FLOAT, &[3])];
    let body = Graph { inputs: infos, ..inner };
    let (most, t, d) = (format!("most{depth}"), format!("t{depth}"), format!("d{depth}"));
    let body = body.node("Neg", &[&s], &[&t], &[]).node("Identity", &[&c], &[&d], &[]).output(&d).output(&t);
    let y = format!("y{depth}");
    Graph::default().weight(int64(&most, turns)).node(
        "Loop",
        &[&most, "", "x"],
        &[&y],
        &[graph("body", body)],
    )
}

/// Functions that each call the next one twice, and the requested number of nodes.
fn doubling(levels: usize, nodes: usize) -> Message {
    let mut functions = vec![leaky()];
    for level in 0..levels {
        let below = if level == 0 { "Leaky".to_owned() } else { format!("F{}", level - 1) };
        let body = called(Graph::default(), &below, &["a"], &["b"], &[]);
        let body = called(body, &below, &["b"], &["c"], &[]);
        functions.push(function(&format!("F{level}"), &["a"], &["c"], &[], body));
    }
    let graph = called(plain(), &format!("F{}", levels - 1), &["x"], &["y0"], &[]);
    let graph = (0..nodes)
        .fold(graph, |graph, at| graph.node("Neg", &[&format!("y{at}")], &[&format!("y{}", at + 1)], &[]));
    with_functions(graph.output(&format!("y{nodes}")), &functions)
}

/// A chain whose last node reads an undefined name.
fn chain(op: &str, count: usize, last: &str) -> Message {
    let graph = (0..count).fold(plain().input("y0", &[3]), |graph, at| {
        graph.node(op, &[&format!("y{at}")], &[&format!("y{}", at + 1)], &[])
    });
    model(17, graph.node("Add", &[&format!("y{count}"), last], &["y"], &[]).output("y"))
}

/// Files with a costly structure, by name; `size` is the approximate number of their parts.
fn structures(size: usize) -> Vec<(String, Message)> {
    let relu = |name: &str| plain().node("Relu", &["x"], &["y"], &[]).output(name);
    let long = "n".repeat(size);
    let mut files = vec![
        ("a chain to nothing", chain("Relu", size, "nothing")),
        ("a chain that breaks a law at its end", chain("Relu", size, "five")),
        ("a chain of refused nodes", chain("Rellu", size, "x")),
        ("a long name", model(17, relu(&long))),
        ("functions that double", doubling(40, 10)),
        ("functions that double, of many nodes", doubling(30, size)),
    ];
    let mut graph = plain();
    for at in 0..size {
        graph = graph.node("Softmax", &["x", "x"], &[&format!("a{at}")], &[]);
    }
    files.push(("many faults", model(17, graph.output("a0"))));
    let mut graph = plain();
    for at in 0..size {
        graph = graph.node("Add", &[&format!("a{}", (at + 1) % size), "x"], &[&format!("a{at}")], &[]);
    }
    files.push(("a long cycle", model(17, graph.output("a0"))));
    let graph = (0..size).fold(plain(), |graph, _| graph.node("Relu", &["x"], &["y"], &[]));
    files.push(("one name for many values", model(17, graph.output("y"))));
    let names = vec!["x"; size];
    files.push((
        "a node of many inputs",
        model(17, plain().node("Concat", &names, &["y"], &[int("axis", 7)])),
    ));
    let graph = (0..size).fold(relu("y"), |graph, at| graph.output(&format!("x{at}")));
    files.push(("outputs that nothing makes", model(17, graph)));
    let graph = (0..size).fold(relu("y"), |graph, at| graph.input(&format!("i{at}"), &[1 << 40, 1 << 40]));
    files.push(("inputs that nothing holds", model(17, graph)));
    let weight = |at| raw_tensor(&format!("w{at}"), FLOAT, &[1 << 40], &[]);
    let graph = (0..size).fold(relu("y"), |graph, at| graph.weight(weight(at)));
    let graph = (0..size)
        .fold(graph, |graph, at| graph.node("Add", &["x", &format!("w{at}")], &[&format!("s{at}")], &[]));
    files.push(("weights that nothing holds", model(17, graph)));
    let deep = (0..size).fold(Message::default(), |inner, _| Message::default().message(1, &inner));
    files.push(("a type in types", Message::default().message(7, &Message::default().message(11, &deep))));
    files.into_iter().map(|(name, file)| (format!("{name}, {size}"), file)).collect()
}

/// Nested loops of 1000 iterations.
fn nested_loops(depth: usize) -> Message {
    let inner = (0..depth).fold(Graph::default(), |inner, at| around(inner, 1000, at));
    model(17, Graph { inputs: plain().inputs, ..inner.output(&format!("y{}", depth - 1)) })
}

/// Sizes of inputs with hostile names.
fn named_sizes() -> Vec<(String, Message)> {
    let long = format!("N{}", " * N".repeat(200));
    let nested = format!("{}N{}", "(".repeat(5000), ")".repeat(5000));
    let names =
        ["N/0", "N - M", "9223372036854775807 * N", "-1", "", "\0", "N*", "((", &long, &nested, "N/-1"];
    let file = |name: &&str| {
        let dim = Message::default().bytes(2, *name);
        let shape = Message::default().message(1, &dim).message(1, &dim);
        let tensor = Message::default().int(1, 1).message(2, &shape);
        let input = Message::default().bytes(1, "x").message(2, &Message::default().message(1, &tensor));
        let graph = Graph { inputs: vec![input], ..Graph::default() };
        let graph =
            graph.node("Flatten", &["x"], &["y"], &[int("axis", 0)]).node("Add", &["y", "y"], &["z"], &[]);
        (format!("a size called {:.20}", name), model(17, graph.output("z")))
    };
    names.iter().map(file).collect()
}

/// Weights whose data is missing, or not as declared.
fn weights() -> Vec<(String, Message)> {
    let mut files = Vec::new();
    for (key, value) in [
        ("location", "../../etc/passwd"),
        ("location", "/etc/passwd"),
        ("location", "/dev/zero"),
        ("location", ""),
        ("location", "a/../../b"),
        ("offset", "18446744073709551615"),
        ("offset", "-1"),
        ("length", "18446744073709551615"),
        ("length", "1e9"),
    ] {
        let weight = Message::default().packed(1, &[1 << 20]).int(2, 1).bytes(8, "w").int(14, 1);
        let weight =
            if key == "location" { weight } else { weight.message(13, &property("location", "m.onnx")) };
        let graph = plain().weight(weight.message(13, &property(key, value)));
        files.push((
            format!("{key} {value}"),
            model(17, graph.node("Add", &["x", "w"], &["y"], &[]).output("y")),
        ));
    }
    for (dims, element) in [
        (&[i64::MAX, i64::MAX][..], 1),
        (&[-1], 1),
        (&[1 << 62, 4], 10),
        (&[3], 99),
        (&[3], 8),
        (&[0, 1 << 60], 1),
    ] {
        let graph = plain().weight(raw_tensor("w", element, dims, &[0; 12]));
        let graph = graph.node("Add", &["x", "w"], &["y"], &[]).output("y");
        files.push((format!("{dims:?} of type {element}"), model(17, graph)));
    }
    let sparse = plain().sparse_weight(floats_tensor("w", &[2], &[1.0, 2.0]));
    let floats = [floats("value_floats", &[1.0, 2.0]), float("value_float", 1.0)];
    let constant = plain().node("Constant", &[], &["w"], &floats);
    for (name, graph) in [("a sparse weight", sparse), ("two values of a constant", constant)] {
        let graph = graph.node("Add", &["x", "w"], &["y"], &[]).output("y");
        files.push((name.to_owned(), model(17, graph)));
    }
    files
}

#[test]
fn files_whose_structure_costs_much_are_refused() {
    let mut told = Told::default();
    let files = [10, 3000].into_iter().flat_map(structures).chain(named_sizes()).chain(weights());
    for (name, file) in files {
        told.import(&name, &file.0);
    }
    for depth in 1..8 {
        // Loops are unrolled until there are too many nodes; loops of many iterations stay loops.
        told.import_beside(&format!("{depth} loops in each other"), &nested_loops(depth).0, 32 << 20);
    }
    told.assert();
    assert!(told.refused > 40, "{} read, {} refused", told.read, told.refused);
}
