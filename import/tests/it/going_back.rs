//! That a model whose nodes are converted again, as more is known of its sizes by then, becomes the program
//! that it would be if all had been known from the start.

use import::onnx::StrippedWeights;
use import::onnx::declared::DeclaredSizes;
use import::onnx::element::Element;
use import::onnx::weights::Weight;
use ir::dims::{substitute, symbols_of};
use ir::interp::{Tensor, run};
use ir::{Blob, Module};

use crate::fixture::{faults, import_bytes, import_sized};
use crate::writer::{Graph, floats_tensor, graph, int, ints_tensor, model, raw_tensor};

const X: &str = "tensor<?x4xf32, #optc.dims<x_0>>";

fn import(whole: Graph) -> Module {
    let module = import_bytes(&model(17, whole).0, StrippedWeights::Refuse, &[]);
    module.unwrap_or_else(|faults| panic!("{faults:?}"))
}

/// The types of a program's arguments.
fn arguments(module: &Module) -> Vec<String> {
    let body = module.function("main").expect("a model is a function `main`");
    let args = body.args(body.entry(body.root()).expect("it has a block"));
    args.iter().map(|arg| ir::text::type_text(&module.ctx, body.ty(*arg))).collect()
}

/// The sizes and elements of the first result, where each named size is this number, and each argument counts
/// 1, 2, 3, ...
fn computed(mut module: Module, number: u64) -> (Vec<u64>, Vec<f32>) {
    let ctx = module.ctx.clone();
    let sizes = symbols_of(&module).into_iter().map(|name| (name, number)).collect();
    substitute(&mut module, &sizes).expect("every size is one at them");
    ir::verify::verify(&module).unwrap_or_else(|faults| panic!("{}", faults[0].message));
    let body = module.function("main").expect("a model is a function `main`");
    let counted = body.args(body.entry(body.root()).expect("it has a block")).iter().map(|arg| {
        let shape = ctx.static_shape(body.ty(*arg)).expect("all sizes are numbers");
        let count: u64 = shape.iter().product();
        Tensor::from_f32(&ctx, &shape, &(1..=count).map(|x| x as f32).collect::<Vec<_>>())
    });
    let counted: Vec<Tensor> = counted.collect();
    let result = run(&module, "main", &counted).expect("it can be run").remove(0);
    (ctx.static_shape(result.ty).expect("values have known sizes"), result.to_f32())
}

/// Inputs `x` and `y` of four columns, whose numbers of rows are one if they stand side by side.
fn two_inputs() -> Graph {
    Graph::default().input("x", &[-1, 4]).input("y", &[-1, 4])
}

#[test]
fn all_nodes_from_the_first_that_reads_one_of_several_sizes_are_converted_again() {
    // What the last node needs says what two names are, which different nodes are the first to read.
    for order in [["y", "z"], ["z", "y"]] {
        let whole = two_inputs().input("z", &[-1, 4]);
        let below = |whole: Graph, name: &&str| whole.node("Neg", &[*name], &[&format!("{name}_n")], &[]);
        let whole = order.iter().fold(whole, below);
        let whole = whole.node("Concat", &["x", "y_n", "z_n"], &["c"], &[int("axis", 1)]);
        let module = import(whole.output("c"));
        assert_eq!(arguments(&module), [X; 3]);
        let row = |first: f32| [first, first + 1.0, first + 2.0, first + 3.0];
        let below = |first: f32| row(first).map(|x| -x);
        let rows = [1.0, 5.0].map(|first| [row(first), below(first), below(first)].concat());
        assert_eq!(computed(module, 2), (vec![2, 12], rows.concat()));
    }
}

#[test]
fn inputs_that_are_weights_or_constants_are_no_arguments_then_either() {
    let whole = || {
        let whole = Graph::default().input("k", &[1]).input("x", &[-1, 4]).input("y", &[-1, 4]);
        let whole = whole.node("Concat", &["x", "y"], &["c"], &[int("axis", 1)]);
        whole.node("Mul", &["c", "k"], &["o"], &[]).output("o")
    };
    let weight = import(whole().weight(floats_tensor("k", &[1], &[3.0])));
    let blob = Blob::from_bytes(3f32.to_le_bytes().to_vec());
    let constants = [("k".to_owned(), Weight { element: Element::Float, dims: vec![1], blob })].into();
    let sizes = DeclaredSizes { constants, ..DeclaredSizes::new() };
    let constant = import_sized(&model(17, whole()).0, StrippedWeights::Refuse, sizes);
    let constant = constant.unwrap_or_else(|faults| panic!("{faults:?}"));
    for module in [weight, constant] {
        assert_eq!(arguments(&module), [X; 2]);
        let elements = vec![3.0, 6.0, 9.0, 12.0, 3.0, 6.0, 9.0, 12.0];
        assert_eq!(computed(module, 1), (vec![1, 8], elements));
    }
}

/// An If of which both graphs add 10, the weight `w`, to `y`, as a value of this name.
fn with_choice(whole: Graph, condition: &str, name: &str) -> Graph {
    let branch = |of: &str| graph(of, Graph::default().node("Add", &["y", "w"], &[name], &[]).output(name));
    let whole = whole.weight(floats_tensor("w", &[1], &[10.0])).weight(raw_tensor("known", 9, &[], &[1]));
    let whole = whole.input("v", &[8]).weight(floats_tensor("limit", &[], &[0.0]));
    let whole = whole.node("ReduceSum", &["v"], &["s"], &[int("keepdims", 0)]);
    let whole = whole.node("Greater", &["s", "limit"], &["computed"], &[]);
    whole.node("If", &[condition], &["b"], &[branch("then_branch"), branch("else_branch")])
}

#[test]
fn weights_that_graphs_were_the_first_to_read_are_read_again() {
    for condition in ["known", "computed"] {
        let whole = with_choice(two_inputs(), condition, "t");
        let whole = whole.node("Concat", &["x", "b"], &["c"], &[int("axis", 1)]);
        let module = import(whole.node("Add", &["c", "w"], &["o"], &[]).output("o"));
        assert_eq!(arguments(&module)[..2], [X; 2]);
        let elements = vec![11.0, 12.0, 13.0, 14.0, 21.0, 22.0, 23.0, 24.0];
        assert_eq!(computed(module, 1), (vec![1, 8], elements), "{condition}");
    }
}

#[test]
fn names_that_a_graph_hides_are_still_there() {
    for condition in ["known", "computed"] {
        // `k` is made before all that is converted again, and in the graphs it is another value.
        let whole = two_inputs().node("Neg", &["v"], &["k"], &[]);
        let whole = with_choice(whole, condition, "k");
        let whole = whole.node("Concat", &["x", "b"], &["c"], &[int("axis", 1)]);
        let module = import(whole.node("Add", &["c", "k"], &["o"], &[]).output("o"));
        assert_eq!(arguments(&module)[..2], [X; 2]);
        let elements = vec![0.0, 0.0, 0.0, 0.0, 6.0, 6.0, 6.0, 6.0];
        assert_eq!(computed(module, 1), (vec![1, 8], elements), "{condition}");
    }
}

#[test]
fn faults_are_told_once_and_weights_keep_their_names() {
    let beside = |whole: Graph, name: &str| {
        let whole = whole.node("Concat", &["x", name], &["c"], &[int("axis", 1)]);
        whole.output("c")
    };
    let whole = two_inputs().node("Neg", &["y"], &["n"], &[]).node("Relu", &["y", "y"], &["r"], &[]);
    assert_eq!(faults(&model(17, beside(whole, "n"))), ["`Relu_r`: 2 inputs, expected 1"]);
    let whole =
        two_inputs().weight(floats_tensor("w", &[4, 4], &(0..16).map(|x| x as f32).collect::<Vec<_>>()));
    let whole = whole.node("MatMul", &["y", "w"], &["p"], &[]);
    let module = import(beside(whole, "p"));
    assert_eq!(arguments(&module), [X; 2]);
    let text = ir::text::print(&module);
    assert!(text.contains("dense_resource<w>") && !text.contains("w#1"), "{text}");
}

#[test]
fn what_a_graph_reads_of_its_surroundings_is_needed() {
    let if_of = |inner: [Graph; 2]| {
        let [then, otherwise] = inner;
        [graph("then_branch", then), graph("else_branch", otherwise)]
    };
    let reading = |op: &str| Graph::default().node(op, &["c"], &["t"], &[]).output("t");
    let nested = || {
        let whole = Graph::default().node("If", &["known"], &["u"], &if_of(["Neg", "Abs"].map(reading)));
        whole.output("u")
    };
    let branches = [
        if_of(["Neg", "Abs"].map(reading)),
        if_of(["c", "c"].map(|name| Graph::default().output(name))),
        if_of([nested(), nested()]),
    ];
    for branches in branches {
        let whole = two_inputs().weight(raw_tensor("known", 9, &[], &[1]));
        let whole = whole.node("Concat", &["x", "y"], &["c"], &[int("axis", 1)]);
        let module = import(whole.node("If", &["known"], &["b"], &branches).output("b"));
        assert_eq!(arguments(&module), [X; 2]);
    }
}

#[test]
fn a_size_that_two_nodes_limit_is_within_both_limits() {
    for order in [["five", "seven"], ["seven", "five"]] {
        let whole = Graph::default().input("x", &[-1, 4]).weight(ints_tensor("zero", &[0]));
        let whole = whole.weight(ints_tensor("one", &[1])).node("Shape", &["x"], &["s"], &[]);
        let whole = whole.node("Gather", &["s", "zero"], &["m"], &[]);
        let whole = whole.node("ReduceSum", &["x", "one"], &["r"], &[int("keepdims", 0)]);
        let whole = whole.weight(floats_tensor("five", &[5], &[1.0, 2.0, 3.0, 4.0, 5.0]));
        let whole = whole.weight(floats_tensor("seven", &[7], &[10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0]));
        let [first, second] = order;
        let whole = whole.node("Slice", &[first, "zero", "m", "zero"], &["a"], &[]);
        let whole = whole.node("Add", &["r", "a"], &["b"], &[]);
        let whole = whole.node("Slice", &[second, "zero", "m", "zero"], &["c"], &[]);
        let module = import(whole.node("Add", &["b", "c"], &["o"], &[]).output("o"));
        let text = ir::text::print(&module);
        assert!(text.contains("optc.dims = {x_0 = [1, 5]}"), "{text}");
        // Rows of 1 to 4 and 5 to 8.
        assert_eq!(computed(module, 2), (vec![2], vec![10.0 + 11.0, 26.0 + 22.0]));
    }
}

#[test]
fn what_a_product_sums_over_is_one_size_however_its_sides_are_turned() {
    let check = |op: &str, shapes: [&[i64]; 2], turned: &[&str], types: [&str; 2], rows: &[&[f32]]| {
        let attributes: Vec<_> = turned.iter().map(|side| int(side, 1)).collect();
        let whole = Graph::default().input("x", shapes[0]).input("y", shapes[1]);
        let module = import(whole.node(op, &["x", "y"], &["o"], &attributes).output("o"));
        assert_eq!(arguments(&module), types.map(|ty| format!("tensor<{ty}>")));
        assert_eq!(computed(module, 2).1, rows.concat());
    };
    let sums = [&[5.0, 11.0, 17.0][..], &[11.0, 25.0, 39.0]];
    let types = ["2x?xf32, #optc.dims<x_1>", "3x?xf32, #optc.dims<x_1>"];
    check("Gemm", [&[2, -1], &[3, -1]], &["transB"], types, &sums);
    let sums = [&[13.0, 17.0, 21.0][..], &[18.0, 24.0, 30.0]];
    let types = ["?x2xf32, #optc.dims<x_0>", "?x3xf32, #optc.dims<x_0>"];
    check("Gemm", [&[-1, 2], &[-1, 3]], &["transA"], types, &sums);
    let types = ["2x?xf32, #optc.dims<x_1>", "?xf32, #optc.dims<x_1>"];
    check("MatMul", [&[2, -1], &[-1]], &[], types, &[&[5.0, 11.0]]);
    let types = ["?xf32, #optc.dims<x_0>", "?x3xf32, #optc.dims<x_0>"];
    check("MatMul", [&[-1], &[-1, 3]], &[], types, &[&[9.0, 12.0, 15.0]]);
}

#[test]
fn of_many_faults_the_first_thousand_are_told() {
    let said = |count: usize| {
        let node = |graph: Graph, index: usize| graph.node("Relu", &["x", "x"], &[&format!("a{index}")], &[]);
        let graph = (0..count).fold(Graph::default().input("x", &[2]), node);
        faults(&model(17, graph.output("x")))
    };
    let some = said(1000);
    assert_eq!((some.len(), &*some[999]), (1000, "`Relu_a999`: 2 inputs, expected 1"));
    for count in [1001, 1005] {
        let all = said(count);
        assert_eq!(all[..1000], some);
        assert_eq!(all[1000..], ["`Relu_a1000`: and more than 1000 errors in all"]);
    }
}
