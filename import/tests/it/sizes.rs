//! That shapes which are computed from sizes are known while a model is read, and hold once the sizes are
//! numbers.

use import::onnx::StrippedWeights;
use import::onnx::declared::read_size;
use ir::Context;
use ir::dims::{self, substitute};
use ir::interp::{Tensor, run};

use crate::fixture::{import_bytes, refuses};
use crate::writer::{
    Graph, INT64, Message, floats_tensor, int, ints, ints_tensor, model, raw_tensor, string,
};

/// The first size of the input `x: [open, 4]` is `n`, a number, and `m`, a list of one.
fn graph() -> Graph {
    let graph = Graph::default().input("x", &[-1, 4]).output("y");
    let graph = graph.weight(ints_tensor("zero", &[0])).weight(ints_tensor("one", &[1]));
    let graph = graph.weight(ints_tensor("minus", &[-1])).weight(ints_tensor("two", &[2]));
    let graph = graph.node("Shape", &["x"], &["s"], &[]);
    let graph = graph.node("Gather", &["s", "zero"], &["m"], &[]);
    graph.node("Squeeze", &["m", "zero"], &["n"], &[])
}

/// The type of the result; and its sizes and elements where `x` has 3 rows, which count 1, 2, 3, ...
fn check(graph: Graph, ty: &str, shape: &[u64], elements: &[f32]) {
    check_at(17, graph, ty, shape, elements);
}

/// The same, of an operator set.
fn check_at(version: i64, graph: Graph, ty: &str, shape: &[u64], elements: &[f32]) {
    check_of(3, model(version, graph), ty, shape, elements);
}

/// The same of a model, where `x` has another number of rows.
fn check_of(rows: u64, model: Message, ty: &str, shape: &[u64], elements: &[f32]) {
    let module = import_bytes(&model.0, StrippedWeights::Refuse, &[]);
    let mut module = module.unwrap_or_else(|faults| panic!("{faults:?}"));
    let ctx = module.ctx.clone();
    let body = module.function("main").expect("a model is a function `main`");
    let end = body.last_op(body.entry(body.root()).expect("it has a block")).expect("it returns");
    assert_eq!(ir::text::type_text(&ctx, body.ty(body.operand(end, 0))), ty);
    substitute(&mut module, &[(ctx.ident("x_0"), rows)].into()).expect("every size is one at them");
    ir::verify::verify(&module).unwrap_or_else(|faults| panic!("{}", faults[0].message));
    let x = Tensor::from_f32(&ctx, &[rows, 4], &(1..=4 * rows).map(|x| x as f32).collect::<Vec<_>>());
    let result = run(&module, "main", &[x]).expect("it can be run").remove(0);
    assert_eq!(
        (ctx.static_shape(result.ty).expect("values have known sizes"), result.to_f32()),
        (shape.to_vec(), elements.to_vec())
    );
}

#[test]
fn a_reshape_to_a_computed_shape_is_exact() {
    let counted: Vec<f32> = (1..=12).map(|x| x as f32).collect();
    let shape = graph().node("Concat", &["m", "two", "minus"], &["t"], &[int("axis", 0)]);
    let shape = shape.node("Reshape", &["x", "t"], &["y"], &[]);
    check(shape, "tensor<?x2x2xf32, #optc.dims<x_0>>", &[3, 2, 2], &counted);
    let product = graph().node("Mul", &["m", "two"], &["k"], &[]);
    let product = product.node("Concat", &["minus", "k"], &["t"], &[int("axis", 0)]);
    let product = product.node("Reshape", &["x", "t"], &["y"], &[]);
    check(product, "tensor<2x?xf32, #optc.dims<2 * x_0>>", &[2, 6], &counted);
}

#[test]
fn a_slice_between_computed_bounds_is_exact() {
    let rest = graph().node("Slice", &["x", "one", "m", "zero"], &["y"], &[]);
    let elements = [5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0];
    check(rest, "tensor<?x4xf32, #optc.dims<x_0 - 1>>", &[2, 4], &elements);
    let last = graph().node("Sub", &["m", "one"], &["k"], &[]);
    let last = last.node("Gather", &["x", "k"], &["y"], &[]);
    check(last, "tensor<1x4xf32>", &[1, 4], &elements[4..]);
    let capped = graph().node("Slice", &["x", "zero", "two", "zero"], &["y"], &[]);
    check(
        capped,
        "tensor<?x4xf32, #optc.dims<min(x_0, 2)>>",
        &[2, 4],
        &(1..=8).map(|x| x as f32).collect::<Vec<_>>(),
    );
}

#[test]
fn tensors_of_computed_sizes_are_made_at_the_run() {
    let zeros = graph().node("ConstantOfShape", &["m"], &["y"], &[]);
    check(zeros, "tensor<?xf32, #optc.dims<x_0>>", &[3], &[0.0; 3]);
    let graph = graph().weight(crate::writer::raw_tensor("from", 7, &[], &1i64.to_le_bytes()));
    let range = graph.clone().weight(crate::writer::raw_tensor("by", 7, &[], &1i64.to_le_bytes()));
    let range = range.node("Range", &["from", "n", "by"], &["r"], &[]);
    let range = range.node("Cast", &["r"], &["y"], &[int("to", 1)]);
    check(range, "tensor<?xf32, #optc.dims<x_0 - 1>>", &[2], &[1.0, 2.0]);
    let shape = graph.node("Cast", &["s"], &["y"], &[int("to", 1)]);
    check(shape, "tensor<2xf32>", &[2], &[3.0, 4.0]);
}

#[test]
fn what_repeats_or_moves_rows_takes_an_open_number_of_them() {
    let rows = |order: &[usize]| {
        let row = |row: usize| (1..=4).map(move |x| (4 * row + x) as f32);
        order.iter().copied().flat_map(row).collect::<Vec<_>>()
    };
    let tile = graph().weight(ints_tensor("times", &[2, 1])).node("Tile", &["x", "times"], &["y"], &[]);
    check(tile, "tensor<?x4xf32, #optc.dims<2 * x_0>>", &[6, 4], &rows(&[0, 1, 2, 0, 1, 2]));
    let padded = |mode: &str| {
        let graph = graph().weight(ints_tensor("pads", &[2, 0, 1, 0]));
        graph.node("Pad", &["x", "pads"], &["y"], &[string("mode", mode)])
    };
    let ty = "tensor<?x4xf32, #optc.dims<x_0 + 3>>";
    check(padded("edge"), ty, &[6, 4], &rows(&[0, 0, 0, 1, 2, 2]));
    check(padded("reflect"), ty, &[6, 4], &rows(&[2, 1, 0, 1, 2, 1]));
    check(padded("wrap"), ty, &[6, 4], &rows(&[1, 2, 0, 1, 2, 0]));
    let twice = graph().weight(ints_tensor("columns", &[4]));
    let twice = twice.node("Mul", &["m", "two"], &["k"], &[]);
    let twice = twice.node("Concat", &["k", "columns"], &["sizes"], &[int("axis", 0)]);
    let twice = twice.node(
        "Resize",
        &["x", "", "", "sizes"],
        &["y"],
        &[string("coordinate_transformation_mode", "asymmetric"), string("nearest_mode", "floor")],
    );
    check(twice, "tensor<?x4xf32, #optc.dims<2 * x_0>>", &[6, 4], &rows(&[0, 0, 1, 1, 2, 2]));
}

#[test]
fn what_looks_along_axes_takes_open_sizes() {
    let last = graph().node("ArgMax", &["x"], &["a"], &[int("axis", 0)]);
    let last = last.node("Cast", &["a"], &["y"], &[int("to", 1)]);
    check(last, "tensor<1x4xf32>", &[1, 4], &[2.0; 4]);
    let hard = graph().node("Hardmax", &["x"], &["y"], &[int("axis", 0)]);
    let ones = [[0.0; 4], [0.0; 4], [1.0; 4]].concat();
    check(hard, "tensor<?x4xf32, #optc.dims<x_0>>", &[3, 4], &ones);
    let deep = graph().weight(ints_tensor("image", &[4, 1, 1]));
    let deep = deep.node("Concat", &["m", "image"], &["i"], &[int("axis", 0)]);
    let deep = deep.node("Reshape", &["x", "i"], &["r"], &[]);
    let deep = deep.node("DepthToSpace", &["r"], &["y"], &[int("blocksize", 2)]);
    let counted: Vec<f32> = (1..=12).map(|x| x as f32).collect();
    check(deep, "tensor<?x1x2x2xf32, #optc.dims<x_0>>", &[3, 1, 2, 2], &counted);
}

#[test]
fn a_size_that_is_lost_is_said_where_it_is_lost() {
    let other = graph().input("z", &[-1]);
    let row = other.node("ReduceSum", &["x", "one"], &["r"], &[int("keepdims", 0)]);
    let sum = row.node("Add", &["z", "r"], &["a"], &[]).node("Neg", &["a"], &["b"], &[]);
    let shape = sum.node("Shape", &["b"], &["s2"], &[]).node("Cast", &["s2"], &["y"], &[int("to", 1)]);
    let faults =
        import_bytes(&model(17, shape).0, StrippedWeights::Refuse, &[]).err().expect("a size is lost");
    let expected = "sizes [?], expected sizes that are known";
    assert!(faults[0].contains(expected), "{faults:?}");
    let help = "`Add_a` has a result of unknown size for operands of sizes [z_0], [x_0]:";
    assert!(faults[0].contains(help), "{faults:?}");
}

#[test]
fn parts_of_an_open_axis_are_all_of_it() {
    let parts = |version: i64, count: usize, sizes: &[&str]| {
        let names = ["y", "b", "c"];
        let mut attributes = vec![int("axis", 0)];
        if version >= 18 && sizes.is_empty() {
            attributes.push(int("num_outputs", count as i64));
        }
        let inputs = [&["x"], sizes].concat();
        (version, graph().node("Split", &inputs, &names[..count], &attributes))
    };
    let first: Vec<f32> = (1..=4).map(|x| x as f32).collect();
    let (version, three) = parts(13, 3, &[]);
    check_at(version, three, "tensor<?x4xf32, #optc.dims<x_0 floordiv 3>>", &[1, 4], &first);
    let (version, two) = parts(18, 2, &[]);
    let rows: Vec<f32> = (1..=8).map(|x| x as f32).collect();
    check_at(version, two, "tensor<?x4xf32, #optc.dims<x_0 ceildiv 2>>", &[2, 4], &rows);
    let (version, sized) = parts(18, 2, &["k"]);
    let sized = |rest: &str| {
        let graph = graph().node("Sub", &["m", "one"], &["l"], &[]);
        let graph = graph.node("Concat", &["one", rest], &["k"], &[int("axis", 0)]);
        Graph { nodes: [graph.nodes, sized.nodes[sized.nodes.len() - 1..].to_vec()].concat(), ..graph }
    };
    check_at(version, sized("l"), "tensor<1x4xf32>", &[1, 4], &first);
    // Parts of 1 and 2 rows are those of 3: the input has 3.
    let module = import_bytes(&model(18, sized("two")).0, StrippedWeights::Refuse, &[]);
    let text = ir::text::print(&module.unwrap_or_else(|faults| panic!("{faults:?}")));
    assert!(text.contains("%arg0: tensor<3x4xf32>"), "{text}");
}

#[test]
fn padding_that_keeps_an_open_size_is_what_follows_from_it() {
    let image = |op: &str, attributes: &[Message]| {
        let graph = graph().weight(ints_tensor("image", &[1, 1, -1, 4]));
        let graph = graph.node("Reshape", &["x", "image"], &["i"], &[]);
        graph.node(op, &["i"], &["y"], &[attributes, &[ints("strides", &[2, 2])]].concat())
    };
    let pool = |kernel: i64, side: &str| {
        image("MaxPool", &[ints("kernel_shape", &[kernel; 2]), string("auto_pad", side)])
    };
    let halved = "tensor<1x1x?x2xf32, #optc.dims<x_0 ceildiv 2>>";
    check(pool(3, "SAME_UPPER"), halved, &[1, 1, 2, 2], &[7.0, 8.0, 11.0, 12.0]);
    check(pool(3, "SAME_LOWER"), halved, &[1, 1, 2, 2], &[6.0, 8.0, 10.0, 12.0]);
    check(pool(1, "SAME_UPPER"), halved, &[1, 1, 2, 2], &[1.0, 3.0, 9.0, 11.0]);
    check(pool(2, "SAME_UPPER"), halved, &[1, 1, 2, 2], &[6.0, 8.0, 10.0, 12.0]);
}

#[test]
fn sizes_go_through_what_exporters_write() {
    let counted: Vec<f32> = (1..=12).map(|x| x as f32).collect();
    let doubled = [&counted[..], &counted[..]].concat();
    // Repeats that are computed: twice the half of twice the size, over the size.
    let tiled = graph().node("Mul", &["m", "two"], &["k"], &[]).node("Div", &["k", "m"], &["t"], &[]);
    let tiled = tiled.node("Concat", &["t", "one"], &["times"], &[int("axis", 0)]);
    let tiled = tiled.node("Tile", &["x", "times"], &["y"], &[]);
    check(tiled, "tensor<?x4xf32, #optc.dims<2 * x_0>>", &[6, 4], &doubled);
    let many = graph().weight(floats_tensor("w", &[1, 4], &[1.0, 2.0, 3.0, 4.0]));
    let many = many.node("Concat", &["m", "one"], &["times"], &[int("axis", 0)]);
    let many = many.node("Tile", &["w", "times"], &["y"], &[]);
    check(many, "tensor<?x4xf32, #optc.dims<x_0>>", &[3, 4], &[1.0, 2.0, 3.0, 4.0].repeat(3));
    // Pads up to a size: none, one row, as many rows as there are.
    let padded = |computed: Graph| {
        let graph = computed.weight(ints_tensor("three", &[0, 0, 0]));
        let graph = graph.weight(ints_tensor("none", &[0])).node(
            "Concat",
            &["none", "none", "k", "none"],
            &["pads"],
            &[int("axis", 0)],
        );
        graph.node("Pad", &["x", "pads"], &["y"], &[])
    };
    check(
        padded(graph().node("Sub", &["m", "m"], &["k"], &[])),
        "tensor<?x4xf32, #optc.dims<x_0>>",
        &[3, 4],
        &counted,
    );
    let zeros = [0.0; 12];
    let grown = padded(graph().node("Identity", &["m"], &["k"], &[]));
    check(grown, "tensor<?x4xf32, #optc.dims<2 * x_0>>", &[6, 4], &[&counted[..], &zeros].concat());
    // Scaled by a float, as an upsampling is exported.
    let scaled = graph().weight(floats_tensor("scale", &[2], &[2.0, 1.0]));
    let scaled =
        scaled.node("Cast", &["s"], &["f"], &[int("to", 1)]).node("Mul", &["f", "scale"], &["g"], &[]);
    let scaled = scaled.node("Floor", &["g"], &["h"], &[]);
    let nearest = [string("coordinate_transformation_mode", "asymmetric"), string("nearest_mode", "floor")];
    let rows = [0, 0, 1, 1, 2, 2].iter().flat_map(|row| counted[4 * row..4 * row + 4].to_vec());
    let rows: Vec<f32> = rows.collect();
    let sized = scaled.clone().node("Cast", &["h"], &["sizes"], &[int("to", 7)]);
    let sized = sized.node("Resize", &["x", "", "", "sizes"], &["y"], &nearest);
    check(sized, "tensor<?x4xf32, #optc.dims<2 * x_0>>", &[6, 4], &rows);
    let by_scales = scaled.node("Div", &["h", "f"], &["scales"], &[]);
    let by_scales = by_scales.node("Resize", &["x", "", "scales"], &["y"], &nearest);
    check(by_scales, "tensor<?x4xf32, #optc.dims<2 * x_0>>", &[6, 4], &rows);
}

#[test]
fn sizes_that_are_compared_or_cut_are_known_where_that_is_proved() {
    let counted: Vec<f32> = (1..=12).map(|x| x as f32).collect();
    // A shape in which a comparison decides what is stretched.
    let chosen = graph().weight(ints_tensor("ones", &[1, 1])).weight(ints_tensor("all", &[-1, -1]));
    let chosen =
        chosen.node("Equal", &["s", "all"], &["e"], &[]).node("Where", &["e", "ones", "s"], &["t"], &[]);
    let chosen = chosen.node("Expand", &["x", "t"], &["y"], &[]);
    check(chosen, "tensor<?x4xf32, #optc.dims<x_0>>", &[3, 4], &counted);
    let clipped = graph().node("Min", &["m", "two"], &["k"], &[]).node("Max", &["k", "one"], &["e"], &[]);
    let clipped = clipped.node("Slice", &["x", "zero", "e", "zero"], &["y"], &[]);
    check(clipped, "tensor<?x4xf32, #optc.dims<max(min(x_0, 2), 1)>>", &[2, 4], &counted[..8]);
    // The 0 of a relu is a number, too.
    let above = graph().node("Relu", &["m"], &["e"], &[]).node("Slice", &["x", "zero", "e"], &["y"], &[]);
    check(above, "tensor<?x4xf32, #optc.dims<x_0>>", &[3, 4], &counted);
    let rest = graph().node("Mod", &["m", "two"], &["k"], &[]).node("Sub", &["m", "k"], &["e"], &[]);
    let rest = rest.node("Slice", &["x", "zero", "e", "zero"], &["y"], &[]);
    check(rest, "tensor<?x4xf32, #optc.dims<2 * (x_0 floordiv 2)>>", &[2, 4], &counted[..8]);
    let all = graph().node("Size", &["x"], &["k"], &[]).node("Reshape", &["k", "minus"], &["l"], &[]);
    let all = all.node("Reshape", &["x", "l"], &["y"], &[]);
    check(all, "tensor<?xf32, #optc.dims<4 * x_0>>", &[12], &counted);
    let last = graph().node("Shape", &["x"], &["k"], &[int("start", -2), int("end", -1)]);
    let last = last.node("Concat", &["k", "two", "two"], &["t"], &[int("axis", 0)]);
    let last = last.node("Reshape", &["x", "t"], &["y"], &[]);
    check(last, "tensor<?x2x2xf32, #optc.dims<x_0>>", &[3, 2, 2], &counted);
}

#[test]
fn the_rows_of_a_turned_matrix_meet_those_of_the_other() {
    let graph = Graph::default().input("x", &[-1, 4]).weight(floats_tensor("w", &[6, 2], &[1.0; 12]));
    let graph = graph.node("Gemm", &["x", "w"], &["y"], &[int("transA", 1)]).output("y");
    let module = import_bytes(&model(17, graph).0, StrippedWeights::Refuse, &[]);
    let text = ir::text::print(&module.unwrap_or_else(|faults| panic!("{faults:?}")));
    assert!(text.contains("tensor<6x4xf32> {optc.name = \"x\"}"), "{text}");
}

#[test]
fn pixels_are_repeated_a_whole_number_of_times_if_their_number_is_open() {
    let sizes = |columns: i64| {
        let sizes = graph().weight(ints_tensor("columns", &[columns]));
        let sizes = sizes.node("Concat", &["m", "columns"], &["t"], &[int("axis", 0)]);
        let corners = string("coordinate_transformation_mode", "asymmetric");
        sizes.node("Resize", &["x", "", "", "t"], &["y"], &[corners, string("nearest_mode", "floor")])
    };
    let rows =
        |times: usize| -> Vec<f32> { (1..=12).flat_map(|x| std::iter::repeat_n(x as f32, times)).collect() };
    check(sizes(8), "tensor<?x8xf32, #optc.dims<x_0>>", &[3, 8], &rows(2));
    let said = crate::fixture::faults(&model(17, sizes(0))).join("\n");
    assert!(said.contains("0 elements along axis 1"), "{said}");
}

#[test]
fn a_slice_from_the_end_is_cut_at_the_start() {
    let part = |bounds: [&str; 2]| {
        let graph = graph().weight(ints_tensor("end", &[i64::MAX])).weight(ints_tensor("from", &[-2]));
        model(17, graph.node("Slice", &["x", bounds[0], bounds[1], "zero"], &["y"], &[]))
    };
    let counted = |rows: std::ops::Range<u64>| (4 * rows.start + 1..=4 * rows.end).map(|x| x as f32);
    for rows in 1u64..=4 {
        let elements: Vec<f32> = counted(rows.saturating_sub(2)..rows).collect();
        let ty = "tensor<?x4xf32, #optc.dims<x_0 - max(x_0, 2) + 2>>";
        check_of(rows, part(["from", "end"]), ty, &[rows.min(2), 4], &elements);
        let elements: Vec<f32> = counted(0..rows.saturating_sub(2)).collect();
        let ty = "tensor<?x4xf32, #optc.dims<max(x_0, 2) - 2>>";
        check_of(rows, part(["zero", "from"]), ty, &[rows.saturating_sub(2), 4], &elements);
    }
}

#[test]
fn a_named_size_stretches_to_a_number_that_is_not_1() {
    let wide = |sizes: &[i64]| {
        let graph = graph().weight(ints_tensor("sizes", sizes));
        model(17, graph.node("Expand", &["x", "sizes"], &["y"], &[]))
    };
    let counted: Vec<f32> = (1..=12).map(|x| x as f32).collect();
    check_of(1, wide(&[3, 1]), "tensor<3x4xf32>", &[3, 4], &counted[..4].repeat(3));
    check_of(3, wide(&[3, 1]), "tensor<3x4xf32>", &[3, 4], &counted);
    check_of(3, wide(&[1, 4]), "tensor<?x4xf32, #optc.dims<x_0>>", &[3, 4], &counted);
    let twice = "tensor<2x?x4xf32, #optc.dims<x_0>>";
    check_of(3, wide(&[2, 1, 1]), twice, &[2, 3, 4], &counted.repeat(2));
}

/// The same graph, with two less than its number of rows as `less`, which may be below 0.
fn two_less() -> Graph {
    graph().node("Sub", &["m", "two"], &["less"], &[])
}

#[test]
fn what_may_be_below_0_is_neither_a_bound_nor_a_pad() {
    let until = two_less().node("Slice", &["x", "zero", "less", "zero"], &["y"], &[]);
    refuses(17, until, "a bound `x_0 - 2` that may be below 0 or not, expected one of the two");
    let from = two_less().node("Slice", &["x", "less", "m", "zero"], &["y"], &[]);
    refuses(17, from, "a bound `x_0 - 2` that may be below 0 or not, expected one of the two");
    for sides in [["less", "none", "none", "none"], ["none", "none", "less", "none"]] {
        let pads = two_less().weight(ints_tensor("none", &[0]));
        let pads = pads.node("Concat", &sides, &["pads"], &[int("axis", 0)]);
        let padded = pads.node("Pad", &["x", "pads"], &["y"], &[]);
        refuses(17, padded, "a pad of `x_0 - 2`, which may be below 0, expected 0 or more");
    }
}

#[test]
fn sides_without_a_pad_get_no_elements() {
    for sides in [["m", "none", "none", "none"], ["none", "none", "m", "none"]] {
        let pads = graph().weight(ints_tensor("none", &[0]));
        let pads = pads.node("Concat", &sides, &["pads"], &[int("axis", 0)]);
        let padded = model(17, pads.node("Pad", &["x", "pads"], &["y"], &[]));
        let module = import_bytes(&padded.0, StrippedWeights::Refuse, &[]).unwrap();
        let text = ir::text::print(&module);
        assert_eq!(text.matches("nn.broadcast").count(), 1, "{text}");
    }
}

#[test]
fn a_name_that_begins_or_ends_with_a_stroke_is_no_quotient() {
    let ctx = Context::new();
    for name in ["n/", "/n", "/5", "5/", "//", "n/m"] {
        assert_eq!(read_size(&ctx, name), dims::symbol(&ctx, name), "{name}");
    }
    for name in ["n/4", "n//4"] {
        assert_eq!(dims::print(&ctx, read_size(&ctx, name)), "n floordiv 4");
    }
}

#[test]
fn the_last_of_a_named_number_of_rows_is_a_slice() {
    let last = graph().node("Gather", &["x", "minus"], &["y"], &[]);
    let module = import_bytes(&model(17, last.clone()).0, StrippedWeights::Refuse, &[]);
    let text = ir::text::print(&module.unwrap_or_else(|faults| panic!("{faults:?}")));
    assert!(!text.contains("nn.gather"), "{text}");
    check(last, "tensor<1x4xf32>", &[1, 4], &[9.0, 10.0, 11.0, 12.0]);
}

#[test]
fn the_greatest_number_of_32_bits_is_the_end_of_a_named_size() {
    let counted: Vec<f32> = (1..=12).map(|x| x as f32).collect();
    let until = |end: i64| {
        let graph = graph().weight(ints_tensor("end", &[end]));
        graph.node("Slice", &["x", "zero", "end", "zero"], &["y"], &[])
    };
    let most = i64::from(i32::MAX);
    check(until(most), "tensor<?x4xf32, #optc.dims<x_0>>", &[3, 4], &counted);
    check(until(most - 1), "tensor<?x4xf32, #optc.dims<min(x_0, 2147483646)>>", &[3, 4], &counted);
}

#[test]
fn a_range_to_a_named_size_has_steps_and_may_have_no_numbers() {
    let range = |names: [&str; 3]| {
        let number = |name: &str, number: i64| raw_tensor(name, INT64, &[], &number.to_le_bytes());
        let graph = graph().weight(number("n0", 0)).weight(number("n1", 1)).weight(number("n2", 2));
        let graph = graph.weight(number("down", -1)).node("Range", &names, &["r"], &[]);
        model(17, graph.node("Cast", &["r"], &["y"], &[int("to", 1)]))
    };
    let halves = "tensor<?xf32, #optc.dims<x_0 ceildiv 2>>";
    check_of(3, range(["n0", "n", "n2"]), halves, &[2], &[0.0, 2.0]);
    check_of(4, range(["n0", "n", "n2"]), halves, &[2], &[0.0, 2.0]);
    let after_two = "tensor<?xf32, #optc.dims<max(x_0, 2) - 2>>";
    check_of(1, range(["n2", "n", "n1"]), after_two, &[0], &[]);
    check_of(4, range(["n2", "n", "n1"]), after_two, &[2], &[2.0, 3.0]);
    let down = import_bytes(&range(["n", "n0", "down"]).0, StrippedWeights::Refuse, &[]);
    let said = down.err().expect("it is refused").join(" ");
    assert!(said.contains("a start, limit or step that is computed, expected constants"), "{said}");
}

#[test]
fn as_many_rows_as_there_are_stand_before_and_after_them() {
    let pads = graph().weight(ints_tensor("none", &[0])).weight(floats_tensor("nine", &[], &[9.0]));
    let around = |sides: [&str; 4]| {
        let graph = pads.clone().node("Concat", &sides, &["pads"], &[int("axis", 0)]);
        graph.node("Pad", &["x", "pads", "nine"], &["y"], &[])
    };
    let counted: Vec<f32> = (1..=12).map(|x| x as f32).collect();
    let before = around(["m", "none", "none", "none"]);
    let rows = [&[9.0; 12][..], &counted].concat();
    check(before, "tensor<?x4xf32, #optc.dims<2 * x_0>>", &[6, 4], &rows);
    let both = around(["m", "none", "m", "none"]);
    let rows = [&[9.0; 12][..], &counted, &[9.0; 12]].concat();
    check(both, "tensor<?x4xf32, #optc.dims<3 * x_0>>", &[9, 4], &rows);
}

#[test]
fn rows_of_a_named_number_are_cut_off_and_repeated_even_where_there_is_one() {
    let padded = |mode: &str, pads: &[i64]| {
        let graph = graph().weight(ints_tensor("pads", pads));
        model(17, graph.node("Pad", &["x", "pads"], &["y"], &[string("mode", mode)]))
    };
    let rows = [5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 9.0, 10.0, 11.0, 12.0];
    let cut = padded("edge", &[-1, 0, 1, 0]);
    check_of(3, cut, "tensor<?x4xf32, #optc.dims<x_0>>", &[3, 4], &rows);
    let alone = [1.0, 2.0, 3.0, 4.0].repeat(4);
    for mode in ["edge", "reflect"] {
        let graph = padded(mode, &[2, 0, 1, 0]);
        check_of(1, graph, "tensor<?x4xf32, #optc.dims<x_0 + 3>>", &[4, 4], &alone);
    }
}
