//! That what moves, picks, writes and repeats elements does so at the edges of what its text allows, and that
//! what is beyond them is refused with what was expected.
//!
//! The oracle is the operator's text at onnx.ai/onnx/operators; every input counts 1, 2, 3, ...

use import::onnx::StrippedWeights;
use ir::interp::{Tensor, run};

use crate::fixture::{import_bytes, refuses};
use crate::values::{check, one_node, w, with_constants};
use crate::writer::{
    FLOAT, Graph, INT64, Message, float, floats_tensor, int, ints, ints_tensor, model, raw_tensor, string,
};

/// Integers in a shape.
fn table(name: &str, shape: &[i64], numbers: &[i64]) -> Message {
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    raw_tensor(name, INT64, shape, &bytes)
}

/// The result `name` as floats, which is the only one of the model.
fn as_floats(graph: Graph, name: &str) -> Graph {
    Graph { outputs: vec![], ..graph }.node("Cast", &[name], &["f"], &[int("to", FLOAT.into())]).output("f")
}

/// A model with an input `x` of ones that is read, but whose run fails.
#[track_caller]
fn fails(version: i64, graph: Graph, shape: &[u64]) {
    let module = import_bytes(&model(version, graph).0, StrippedWeights::Refuse, &[]).expect("it is read");
    let ones = vec![1.0; shape.iter().product::<u64>() as usize];
    let x = Tensor::from_f32(&module.ctx, shape, &ones);
    assert!(run(&module, "main", &[x]).is_err());
}

#[test]
fn a_slice_in_steps_ends_at_the_first_or_last_element() {
    let slice = |start: i64, end: i64, step: i64, elements: &[f32]| {
        let bounds = [w(0, &[start]), w(1, &[end]), w(2, &[0]), w(3, &[step])];
        check(13, with_constants("Slice", &[5], &bounds, &[]), &[elements.len() as u64], elements);
    };
    slice(99, -99, -3, &[5.0, 2.0]);
    slice(-99, -99, -1, &[1.0]);
    slice(4, 0, -2, &[5.0, 3.0]);
    slice(3, 0, -2, &[4.0, 2.0]);
    slice(3, 1, -1, &[4.0, 3.0]);
    slice(-1, -3, -1, &[5.0, 4.0]);
    slice(0, 5, 2, &[1.0, 3.0, 5.0]);
    slice(1, 4, 2, &[2.0, 4.0]);
    slice(0, 5, 5, &[1.0]);
    slice(0, 5, 4, &[1.0, 5.0]);
    slice(-2, -1, 1, &[4.0]);
    slice(-99, 1, 1, &[1.0]);
    slice(4, 99, 1, &[5.0]);
}

#[test]
fn slices_begin_at_the_first_axes_unless_others_are_said() {
    let both = [w(0, &[1, -2]), w(1, &[9, 9])];
    check(10, with_constants("Slice", &[2, 3], &both, &[]), &[1, 2], &[5.0, 6.0]);
    let turned = [w(0, &[1, 0]), w(1, &[3, 1]), w(2, &[1, 0])];
    check(10, with_constants("Slice", &[2, 3], &turned, &[]), &[1, 2], &[2.0, 3.0]);
    let old = [ints("starts", &[0, 1]), ints("ends", &[1, 3])];
    check(9, one_node("Slice", &[2, 3], &["x"], &old), &[1, 2], &[2.0, 3.0]);
    let first = [ints("starts", &[1]), ints("ends", &[2])];
    check(1, one_node("Slice", &[2, 3], &["x"], &first), &[1, 3], &[4.0, 5.0, 6.0]);
}

#[test]
fn bounds_of_a_slice_are_as_many_as_its_axes() {
    let lengths = "starts, ends, axes and steps of different lengths";
    let slice = |bounds: &[Message]| with_constants("Slice", &[2, 3], bounds, &[]);
    refuses(13, slice(&[w(0, &[0, 1]), w(1, &[1])]), lengths);
    refuses(13, slice(&[w(0, &[0]), w(1, &[1]), w(2, &[0, 1])]), lengths);
    refuses(13, slice(&[w(0, &[0]), w(1, &[1]), w(2, &[0]), w(3, &[1, 1])]), lengths);
    refuses(13, slice(&[w(0, &[0]), w(1, &[1]), w(2, &[0]), w(3, &[0])]), "a step of 0");
    refuses(13, slice(&[w(0, &[0]), w(1, &[1]), w(2, &[2])]), "axis 2, expected -2 to 1");
    refuses(13, slice(&[w(0, &[0]), w(1, &[1]), w(2, &[-3])]), "axis -3, expected -2 to 1");
    let old = |attributes: &[Message]| one_node("Slice", &[2, 3], &["x"], attributes);
    refuses(9, old(&[ints("ends", &[1])]), "the starts are left out");
    refuses(9, old(&[ints("starts", &[1])]), "the ends are left out");
    let named = Graph::default().input("x", &[-1, 4]).weight(w(0, &[-1])).weight(w(1, &[0]));
    let named = named.weight(w(2, &[0])).weight(w(3, &[-1]));
    let named = named.node("Slice", &["x", "w0", "w1", "w2", "w3"], &["y"], &[]).output("y");
    refuses(13, named, "a step of -1 along a size `x_0`, expected 1 or more");
}

#[test]
fn what_is_gathered_has_the_shape_of_the_indices_in_the_place_of_an_axis() {
    let gather = |indices: Message, attributes: &[Message]| {
        with_constants("Gather", &[2, 4], std::slice::from_ref(&indices), attributes)
    };
    let last = [int("axis", -1)];
    check(13, gather(table("w0", &[1, 2], &[1, 2]), &last), &[2, 1, 2], &[2.0, 3.0, 6.0, 7.0]);
    check(13, gather(table("w0", &[2, 1], &[1, 2]), &last), &[2, 2, 1], &[2.0, 3.0, 6.0, 7.0]);
    check(13, gather(w(0, &[2, 1]), &last), &[2, 2], &[3.0, 2.0, 7.0, 6.0]);
    check(13, gather(w(0, &[2, 3]), &last), &[2, 2], &[3.0, 4.0, 7.0, 8.0]);
    check(13, gather(w(0, &[0, 2]), &last), &[2, 2], &[1.0, 3.0, 5.0, 7.0]);
    check(13, gather(w(0, &[1, 1]), &last), &[2, 2], &[2.0, 2.0, 6.0, 6.0]);
    check(13, gather(w(0, &[-4]), &last), &[2, 1], &[1.0, 5.0]);
    check(13, gather(table("w0", &[], &[1]), &[]), &[4], &[5.0, 6.0, 7.0, 8.0]);
    let counted: Vec<f32> = (1..=8).map(|x| x as f32).collect();
    check(13, gather(w(0, &[0, 1, 2, 3]), &[int("axis", 1)]), &[2, 4], &counted);
    fails(13, gather(w(0, &[3, 4]), &last), &[2, 4]);
    fails(13, gather(w(0, &[-5]), &last), &[2, 4]);
    fails(13, gather(w(0, &[2]), &[]), &[2, 4]);
    refuses(13, gather(w(0, &[0]), &[int("axis", 2)]), "axis 2, expected -2 to 1");
    refuses(13, gather(w(0, &[0]), &[int("axis", -3)]), "axis -3, expected -2 to 1");
}

#[test]
fn an_expansion_meets_axes_from_the_last_one_on() {
    let expand = |from: &[i64], to: &[i64]| with_constants("Expand", from, &[w(0, to)], &[]);
    check(13, expand(&[2, 1], &[1, 3]), &[2, 3], &[1.0, 1.0, 1.0, 2.0, 2.0, 2.0]);
    check(13, expand(&[3], &[1]), &[3], &[1.0, 2.0, 3.0]);
    check(13, expand(&[3], &[2, 1]), &[2, 3], &[1.0, 2.0, 3.0, 1.0, 2.0, 3.0]);
    check(
        13,
        expand(&[2, 1, 2], &[3, 1]),
        &[2, 3, 2],
        &[1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 3.0, 4.0, 3.0, 4.0, 3.0, 4.0],
    );
}

#[test]
fn a_tile_repeats_each_axis_by_itself() {
    let tile = |times: &[i64]| with_constants("Tile", &[2, 2], &[w(0, times)], &[]);
    check(13, tile(&[1, 3]), &[2, 6], &[1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 3.0, 4.0, 3.0, 4.0, 3.0, 4.0]);
    check(13, tile(&[2, 1]), &[4, 2], &[1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 3.0, 4.0]);
    check(13, tile(&[1, 1]), &[2, 2], &[1.0, 2.0, 3.0, 4.0]);
    refuses(13, tile(&[2]), "repeats that are not one for each axis");
    refuses(13, tile(&[1, 1, 2]), "repeats that are not one for each axis");
}

#[test]
fn blocks_of_several_channels_change_places_in_both_orders() {
    let blocks = |op: &str, shape: &[i64], mode: &str| {
        one_node(op, shape, &["x"], &[int("blocksize", 2), string("mode", mode)])
    };
    let counted: Vec<f32> = (1..=8).map(|x| x as f32).collect();
    let apart = [1.0, 3.0, 5.0, 7.0, 2.0, 4.0, 6.0, 8.0];
    check(13, blocks("DepthToSpace", &[1, 8, 1, 1], "DCR"), &[1, 2, 2, 2], &apart);
    check(13, blocks("DepthToSpace", &[1, 8, 1, 1], "CRD"), &[1, 2, 2, 2], &counted);
    let one = one_node("DepthToSpace", &[1, 2, 1, 4], &["x"], &[int("blocksize", 1)]);
    check(13, one, &[1, 2, 1, 4], &counted);
    let three = one_node("SpaceToDepth", &[1, 1, 3, 3], &["x"], &[int("blocksize", 3)]);
    check(13, three, &[1, 9, 1, 1], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
}

#[test]
fn blocks_that_do_not_fill_an_image_are_refused() {
    let blocks = |op: &str, shape: &[i64], attributes: &[Message]| one_node(op, shape, &["x"], attributes);
    let by_two = [int("blocksize", 2)];
    let channels = "`3` channels, expected a multiple of 4";
    refuses(13, blocks("DepthToSpace", &[1, 3, 2, 2], &by_two), channels);
    let pixels = "`1` x `4` pixels, expected multiples of 2";
    refuses(13, blocks("SpaceToDepth", &[1, 1, 1, 4], &by_two), pixels);
    refuses(13, blocks("SpaceToDepth", &[1, 1, 4, 3], &by_two), "`4` x `3` pixels");
    for op in ["DepthToSpace", "SpaceToDepth"] {
        refuses(13, blocks(op, &[4, 2, 2], &by_two), "an input of 3 axes, expected 4");
        let modes = "`mode` \"RCD\", expected \"DCR\" or \"CRD\"";
        refuses(13, blocks(op, &[1, 4, 2, 2], &[int("blocksize", 2), string("mode", "RCD")]), modes);
        let no_size = "`blocksize` is left out or not a size";
        refuses(13, blocks(op, &[1, 4, 2, 2], &[]), no_size);
        for size in [0, -2, 1 << 16] {
            refuses(13, blocks(op, &[1, 4, 2, 2], &[int("blocksize", size)]), no_size);
        }
    }
}

#[test]
fn a_range_ends_before_its_limit() {
    let whole = |start: i64, limit: i64, step: i64| {
        let bounds = [("a", start), ("b", limit), ("c", step)];
        let graph = bounds
            .iter()
            .fold(Graph::default(), |graph, (name, number)| graph.weight(table(name, &[], &[*number])));
        as_floats(graph.node("Range", &["a", "b", "c"], &["r"], &[]), "r")
    };
    check(13, whole(5, -2, -3), &[3], &[5.0, 2.0, -1.0]);
    check(13, whole(5, -1, -3), &[2], &[5.0, 2.0]);
    check(13, whole(0, 6, 3), &[2], &[0.0, 3.0]);
    check(13, whole(0, 7, 3), &[3], &[0.0, 3.0, 6.0]);
    check(13, whole(0, 6, -1), &[0], &[]);
    check(13, whole(6, 0, 1), &[0], &[]);
    let part = |start: f32, limit: f32, step: f32| {
        let bounds = [("a", start), ("b", limit), ("c", step)];
        let graph = bounds.iter().fold(Graph::default(), |graph, (name, number)| {
            graph.weight(floats_tensor(name, &[], &[*number]))
        });
        graph.node("Range", &["a", "b", "c"], &["y"], &[]).output("y")
    };
    check(13, part(1.0, 2.0, 0.5), &[2], &[1.0, 1.5]);
    check(13, part(2.0, -1.0, -1.5), &[2], &[2.0, 0.5]);
    check(13, part(2.0, 1.0, 0.5), &[0], &[]);
    let list = Graph::default().weight(ints_tensor("a", &[1, 2])).weight(table("b", &[], &[3]));
    let list = list.node("Range", &["a", "b", "b"], &["y"], &[]).output("y");
    refuses(13, list, "a start, limit or step that is not one number");
    let computed = Graph::default().input("x", &[]).weight(floats_tensor("b", &[], &[3.0]));
    let computed = computed.node("Range", &["x", "b", "b"], &["y"], &[]).output("y");
    refuses(13, computed, "a start, limit or step that is computed, expected constants");
}

#[test]
fn elements_are_counted_or_made_from_sizes() {
    let size = Graph::default().input("x", &[2, 3]).node("Size", &["x"], &["s"], &[]);
    check(13, as_floats(size, "s"), &[], &[6.0]);
    let filled = |sizes: &[i64]| {
        let graph = Graph::default().weight(ints_tensor("s", sizes));
        graph.node("ConstantOfShape", &["s"], &["y"], &[]).output("y")
    };
    check(13, filled(&[1, 3]), &[1, 3], &[0.0; 3]);
    check(13, filled(&[]), &[], &[0.0]);
}

#[test]
fn elements_are_gathered_at_their_own_place_but_along_one_axis() {
    let gather = |shape: &[i64], indices: Message, attributes: &[Message]| {
        with_constants("GatherElements", shape, std::slice::from_ref(&indices), attributes)
    };
    let rows = table("w0", &[1, 2], &[1, 0]);
    check(13, gather(&[2, 3], rows, &[]), &[1, 2], &[4.0, 2.0]);
    let columns = table("w0", &[1, 2], &[2, -3]);
    check(13, gather(&[2, 3], columns, &[int("axis", -1)]), &[1, 2], &[3.0, 1.0]);
    let more = table("w0", &[2, 4], &[0, 0, 1, 2, 2, 2, 1, 0]);
    let elements = [1.0, 1.0, 2.0, 3.0, 6.0, 6.0, 5.0, 4.0];
    check(13, gather(&[2, 3], more, &[int("axis", 1)]), &[2, 4], &elements);
    check(13, gather(&[3], w(0, &[2, 1, 0, -1]), &[]), &[4], &[3.0, 2.0, 1.0, 3.0]);
    let inner = table("w0", &[2, 1, 2], &[1, 0, 0, 1]);
    check(13, gather(&[2, 2, 2], inner, &[int("axis", 1)]), &[2, 1, 2], &[3.0, 2.0, 5.0, 8.0]);
    refuses(13, gather(&[2, 3], w(0, &[0]), &[]), "indices of 1 axes for 2");
    let high = table("w0", &[3, 1], &[0, 0, 0]);
    let most = "size 3 of axis 0 of the indices, expected 2 at most";
    refuses(13, gather(&[2, 3], high, &[int("axis", 1)]), most);
    // Outside of its own axis, though not of all elements.
    for index in [2, -3] {
        fails(13, gather(&[2, 3], table("w0", &[1, 1], &[index]), &[]), &[2, 3]);
    }
    for index in [3, -4] {
        fails(13, gather(&[2, 3], table("w0", &[1, 1], &[index]), &[int("axis", 1)]), &[2, 3]);
    }
}

#[test]
fn indices_name_the_axes_after_those_in_common() {
    let gather = |shape: &[i64], indices: Message, batches: i64| {
        let attributes = [int("batch_dims", batches)];
        with_constants("GatherND", shape, std::slice::from_ref(&indices), &attributes)
    };
    let cube = [2, 2, 2];
    let slices = with_constants("GatherND", &cube, &[table("w0", &[2, 1], &[1, -2])], &[]);
    check(13, slices, &[2, 2, 2], &[5.0, 6.0, 7.0, 8.0, 1.0, 2.0, 3.0, 4.0]);
    check(13, gather(&cube, table("w0", &[2, 2], &[1, 0, 0, -1]), 0), &[2, 2], &[5.0, 6.0, 3.0, 4.0]);
    check(13, gather(&cube, table("w0", &[2, 1], &[1, 0]), 1), &[2, 2], &[3.0, 4.0, 5.0, 6.0]);
    check(13, gather(&cube, table("w0", &[2, 1, 2], &[1, 0, 0, 1]), 1), &[2, 1], &[3.0, 6.0]);
    check(13, gather(&cube, table("w0", &[2, 2, 1], &[1, 0, 0, 1]), 2), &[2, 2], &[2.0, 3.0, 5.0, 8.0]);
    check(13, gather(&[2, 3], table("w0", &[2], &[1, 2]), 0), &[], &[6.0]);
    refuses(13, gather(&cube, table("w0", &[2, 1], &[0, 0]), -1), "`batch_dims` -1, expected 0 or more");
    let far = "indices [2, 3] after 0 common axes do not fit [2, 2]";
    refuses(13, gather(&[2, 2], table("w0", &[2, 3], &[0; 6]), 0), far);
    let deep = "indices [2, 1] after 2 common axes do not fit [2, 2, 2]";
    refuses(13, gather(&cube, table("w0", &[2, 1], &[0, 0]), 2), deep);
    let beyond = "indices [2, 2] after 1 common axes do not fit [2, 2]";
    refuses(13, gather(&[2, 2], table("w0", &[2, 2], &[0; 4]), 1), beyond);
    let others = "sizes 2 and 3 of axis 0, expected the same size";
    refuses(13, gather(&[2, 3], table("w0", &[3, 1], &[0; 3]), 1), others);
    for index in [2i64, -3] {
        fails(13, gather(&[2, 3], table("w0", &[1, 2], &[0, index + index.signum()]), 0), &[2, 3]);
        fails(13, gather(&[2, 3], table("w0", &[1, 2], &[index, 0]), 0), &[2, 3]);
    }
}

#[test]
fn elements_are_written_at_their_own_place_but_along_one_axis() {
    let scatter = |indices: Message, updates: Message, attributes: &[Message]| {
        with_constants("ScatterElements", &[2, 3], &[indices, updates], attributes)
    };
    let two = || floats_tensor("w1", &[1, 2], &[10.0, 20.0]);
    let last = scatter(table("w0", &[1, 2], &[2, 0]), two(), &[int("axis", -1)]);
    check(18, last, &[2, 3], &[20.0, 2.0, 10.0, 4.0, 5.0, 6.0]);
    let first = scatter(table("w0", &[1, 2], &[-1, 0]), two(), &[]);
    check(18, first, &[2, 3], &[1.0, 20.0, 3.0, 10.0, 5.0, 6.0]);
    let added = [int("axis", 1), string("reduction", "add")];
    let added = scatter(table("w0", &[1, 2], &[1, 1]), two(), &added);
    check(18, added, &[2, 3], &[1.0, 32.0, 3.0, 4.0, 5.0, 6.0]);
    let none = [string("reduction", "none")];
    let none = scatter(table("w0", &[1, 2], &[1, 1]), two(), &none);
    check(18, none, &[2, 3], &[1.0, 2.0, 3.0, 10.0, 20.0, 6.0]);
    let sum = [string("reduction", "sum")];
    let sum = scatter(table("w0", &[1, 2], &[1, 1]), two(), &sum);
    refuses(18, sum, "`reduction` \"sum\", expected add, max, min, mul or none");
    refuses(18, scatter(w(0, &[1]), floats_tensor("w1", &[1], &[1.0]), &[]), "indices of 1 axes, expected 2");
    for index in [3, -4] {
        let one = floats_tensor("w1", &[1, 1], &[1.0]);
        fails(18, scatter(table("w0", &[1, 1], &[index]), one, &[int("axis", 1)]), &[2, 3]);
    }
}

#[test]
fn slices_are_written_where_indices_say() {
    let scatter =
        |indices: Message, updates: Message| with_constants("ScatterND", &[3, 2], &[indices, updates], &[]);
    let rows = floats_tensor("w1", &[2, 2], &[10.0, 20.0, 30.0, 40.0]);
    let whole = scatter(table("w0", &[2, 1], &[2, -3]), rows);
    check(16, whole, &[3, 2], &[30.0, 40.0, 3.0, 4.0, 10.0, 20.0]);
    let one = scatter(table("w0", &[1, 2], &[1, -1]), floats_tensor("w1", &[1], &[9.0]));
    check(16, one, &[3, 2], &[1.0, 2.0, 3.0, 9.0, 5.0, 6.0]);
    let deep = scatter(table("w0", &[1, 3], &[0, 0, 0]), floats_tensor("w1", &[1], &[9.0]));
    refuses(16, deep, "indices of no axes");
    let outside = scatter(table("w0", &[1, 2], &[0, 2]), floats_tensor("w1", &[1], &[9.0]));
    fails(16, outside, &[3, 2]);
}

#[test]
fn a_cache_is_written_from_an_index_on() {
    let cache = |shape: &[i64], updates: Message, first: &[i64], attributes: &[Message]| {
        with_constants("TensorScatter", shape, &[updates, w(1, first)], attributes)
    };
    let row = || floats_tensor("w0", &[1, 1, 2], &[10.0, 20.0]);
    let from_start = with_constants("TensorScatter", &[1, 3, 2], &[row()], &[]);
    check(24, from_start, &[1, 3, 2], &[10.0, 20.0, 3.0, 4.0, 5.0, 6.0]);
    check(24, cache(&[1, 3, 2], row(), &[2], &[]), &[1, 3, 2], &[1.0, 2.0, 3.0, 4.0, 10.0, 20.0]);
    let by_batch = || floats_tensor("w0", &[2, 1], &[10.0, 20.0]);
    let columns = cache(&[2, 3], by_batch(), &[0, 2], &[int("axis", 1)]);
    check(24, columns, &[2, 3], &[10.0, 2.0, 3.0, 4.0, 5.0, 20.0]);
    let round = || floats_tensor("w0", &[1, 2, 2], &[10.0, 20.0, 30.0, 40.0]);
    let circular = cache(&[1, 3, 2], round(), &[2], &[string("mode", "circular")]);
    check(24, circular, &[1, 3, 2], &[30.0, 40.0, 3.0, 4.0, 10.0, 20.0]);
    fails(24, cache(&[1, 3, 2], round(), &[2], &[]), &[1, 3, 2]);
    let modes = "`mode` \"round\", expected \"linear\" or \"circular\"";
    refuses(24, cache(&[1, 3, 2], row(), &[0], &[string("mode", "round")]), modes);
    refuses(24, cache(&[2, 3], by_batch(), &[0, 0], &[]), "the axis of batches");
    refuses(24, cache(&[1, 3, 2], by_batch(), &[0], &[]), "updates of 2 axes for a value of 3");
}

#[test]
fn what_a_pool_has_found_is_put_back() {
    let unpool = |places: &[i64], attributes: &[Message]| {
        with_constants("MaxUnpool", &[1, 1, 2], &[table("w0", &[1, 1, 2], places)], attributes)
    };
    let kernel = || ints("kernel_shape", &[2]);
    let strides = || ints("strides", &[2]);
    check(11, unpool(&[1, 2], &[kernel(), strides()]), &[1, 1, 4], &[0.0, 1.0, 2.0, 0.0]);
    check(11, unpool(&[0, 2], &[kernel()]), &[1, 1, 3], &[1.0, 0.0, 2.0]);
    let padded = [kernel(), strides(), ints("pads", &[1, 0])];
    check(11, unpool(&[0, 2], &padded), &[1, 1, 3], &[1.0, 0.0, 2.0]);
    let padded = [kernel(), strides(), ints("pads", &[0, 1])];
    check(11, unpool(&[0, 2], &padded), &[1, 1, 3], &[1.0, 0.0, 2.0]);
    let wide = |shape: &[i64]| {
        let weights = [table("w0", &[1, 1, 2], &[1, 2]), w(1, shape)];
        with_constants("MaxUnpool", &[1, 1, 2], &weights, &[kernel(), strides()])
    };
    check(11, wide(&[1, 1, 5]), &[1, 1, 5], &[0.0, 1.0, 2.0, 0.0, 0.0]);
    refuses(11, wide(&[1, 5]), "an output shape of another rank");
    refuses(11, unpool(&[0, 1], &[]), "`kernel_shape` has not 1 numbers");
    refuses(11, unpool(&[0, 1], &[ints("kernel_shape", &[2, 2])]), "`kernel_shape` has not 1 numbers");
    refuses(11, unpool(&[0, 1], &[kernel(), ints("strides", &[1, 1])]), "`strides` has not 1 numbers");
    refuses(11, unpool(&[0, 1], &[kernel(), ints("pads", &[1])]), "`pads` has not 2 numbers");
    refuses(11, unpool(&[0, 1], &[kernel(), ints("pads", &[2, 2])]), "a size of no image");
}

#[test]
fn as_many_largest_elements_as_there_are_may_be_taken() {
    let top = |count: &[i64], attributes: &[Message], output: &str| {
        let graph = Graph::default().input("x", &[2, 3]).weight(ints_tensor("k", count));
        as_floats(graph.node("TopK", &["x", "k"], &["v", "i"], attributes), output)
    };
    check(11, top(&[1], &[], "v"), &[2, 1], &[3.0, 6.0]);
    check(11, top(&[1], &[], "i"), &[2, 1], &[2.0, 2.0]);
    check(11, top(&[1], &[int("largest", 0)], "v"), &[2, 1], &[1.0, 4.0]);
    check(11, top(&[3], &[int("largest", 1)], "v"), &[2, 3], &[3.0, 2.0, 1.0, 6.0, 5.0, 4.0]);
    check(11, top(&[2], &[int("axis", 0)], "v"), &[2, 3], &[4.0, 5.0, 6.0, 1.0, 2.0, 3.0]);
    check(11, top(&[2], &[int("axis", -2)], "i"), &[2, 3], &[1.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
    refuses(11, top(&[3], &[int("axis", 0)], "v"), "3 of fewer elements");
    refuses(11, top(&[-1], &[], "v"), "a number of elements that is no size");
    refuses(11, top(&[1, 1], &[], "v"), "a number of elements that is no size");
    let old = |attributes: &[Message]| {
        as_floats(Graph::default().input("x", &[2, 3]).node("TopK", &["x"], &["v", "i"], attributes), "v")
    };
    check(9, old(&[int("k", 2)]), &[2, 2], &[3.0, 2.0, 6.0, 5.0]);
    refuses(9, old(&[]), "a number of elements that is no size");
}

#[test]
fn parts_are_as_many_as_results() {
    let split = |version: i64, size: i64, inputs: &[&str], count: usize, attributes: &[Message]| {
        let names = &["a", "b", "c", "d"][..count];
        let graph = Graph::default().input("x", &[1, size]).weight(ints_tensor("s", &[1, 1, 1]));
        let last = names[count - 1];
        (version, graph.node("Split", inputs, names, attributes).output(last))
    };
    let check = |(version, graph): (i64, Graph), shape: &[u64], elements: &[f32]| {
        check(version, graph, shape, elements);
    };
    let last = || int("axis", -1);
    check(split(18, 7, &["x"], 4, &[last(), int("num_outputs", 4)]), &[1, 1], &[7.0]);
    check(split(18, 6, &["x"], 4, &[last(), int("num_outputs", 4)]), &[1, 0], &[]);
    check(split(18, 5, &["x"], 3, &[last(), int("num_outputs", 3)]), &[1, 1], &[5.0]);
    check(split(18, 4, &["x"], 2, &[last(), int("num_outputs", 2)]), &[1, 2], &[3.0, 4.0]);
    check(split(17, 6, &["x"], 3, &[last()]), &[1, 2], &[5.0, 6.0]);
    check(split(2, 6, &["x"], 2, &[last()]), &[1, 3], &[4.0, 5.0, 6.0]);
    let refuses = |(version, graph): (i64, Graph), reason: &str| refuses(version, graph, reason);
    refuses(split(17, 5, &["x"], 3, &[last()]), "3 equal parts of an axis of 5");
    refuses(split(13, 3, &["x", "s"], 2, &[last()]), "3 sizes of 2 parts");
    refuses(split(13, 4, &["x", "s"], 3, &[last()]), "parts of [1, 1, 1] of an axis of 4");
    refuses(split(12, 3, &["x"], 2, &[last(), ints("split", &[1, 1])]), "parts of [1, 1] of an axis of 3");
    refuses(split(13, 4, &["x"], 2, &[int("axis", 2)]), "axis 2, expected -2 to 1");
}

#[test]
fn shapes_that_have_no_meaning_are_refused() {
    let flat = |axis: i64| one_node("Flatten", &[2, 3], &["x"], &[int("axis", axis)]);
    check(13, flat(2), &[6, 1], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    check(13, flat(-2), &[1, 6], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    refuses(13, flat(3), "axis 3, expected -2 to 1");
    refuses(13, flat(-3), "axis -3, expected -2 to 1");
    let shaped = |shape: &[i64]| with_constants("Reshape", &[2, 3], &[w(0, shape)], &[]);
    let said =
        |shape: &str| format!("the new shape {shape} does not have as many elements as the input's [2, 3]");
    refuses(13, shaped(&[-1, -1]), &said("[-1, -1]"));
    refuses(13, shaped(&[2, 3, 0]), &said("[2, 3, 0]"));
    refuses(13, shaped(&[2, 2]), &said("[2, 2]"));
    refuses(13, shaped(&[4, -1]), &said("[4, -1]"));
    refuses(1, one_node("Reshape", &[2, 3], &["x"], &[]), "the new shape is left out");
    let joined = one_node("Concat", &[2, 3], &["x", "x"], &[int("axis", 2)]);
    refuses(13, joined, "axis 2, expected -2 to 1");
    let squeezed = |axes: &[i64]| with_constants("Squeeze", &[2, 1], &[w(0, axes)], &[]);
    refuses(13, squeezed(&[0]), "axis 0 has size 2, expected 1");
    refuses(13, squeezed(&[1, -1]), "axis 1 occurs twice in [1, -1]");
    let wide = |axes: &[i64]| with_constants("Unsqueeze", &[3], &[w(0, axes)], &[]);
    check(13, wide(&[2, 0]), &[1, 3, 1], &[1.0, 2.0, 3.0]);
    check(13, wide(&[-1, -2]), &[3, 1, 1], &[1.0, 2.0, 3.0]);
    refuses(13, wide(&[0, -3]), "axis 0 occurs twice in [0, -3]");
    refuses(13, wide(&[3, 0]), "axis 3, expected -3 to 2");
    refuses(11, one_node("Unsqueeze", &[3], &["x"], &[]), "the axes are left out");
}

#[test]
fn pads_are_said_in_three_ways() {
    let old = |name: &str| {
        let attributes = [ints(name, &[1, 0, 0, 1]), float("value", 9.0)];
        one_node("Pad", &[1, 2], &["x"], &attributes)
    };
    let around = [9.0, 9.0, 9.0, 1.0, 2.0, 9.0];
    check(1, old("paddings"), &[2, 3], &around);
    check(2, old("pads"), &[2, 3], &around);
    refuses(1, old("pads"), "the pads are left out");
    refuses(2, old("paddings"), "the pads are left out");
    let axes = Graph::default().input("x", &[2, 2]).weight(ints_tensor("p", &[1, 2]));
    let axes = axes.weight(ints_tensor("a", &[-1])).node("Pad", &["x", "p", "", "a"], &["y"], &[]);
    check(18, axes.output("y"), &[2, 5], &[0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 3.0, 4.0, 0.0, 0.0]);
    let pads = |shape: &[i64], pads: &[i64], mode: &str| {
        with_constants("Pad", shape, &[w(0, pads)], &[string("mode", mode)])
    };
    check(13, pads(&[4], &[-1, 2], "constant"), &[5], &[2.0, 3.0, 4.0, 0.0, 0.0]);
    check(13, pads(&[4], &[1, -2], "constant"), &[3], &[0.0, 1.0, 2.0]);
    check(13, pads(&[4], &[-1, 1], "edge"), &[4], &[2.0, 3.0, 4.0, 4.0]);
    check(19, pads(&[2], &[3, 0], "wrap"), &[5], &[2.0, 1.0, 2.0, 1.0, 2.0]);
    check(13, pads(&[1, 1], &[1, 0, 0, 2], "edge"), &[2, 3], &[1.0; 6]);
}

#[test]
fn pads_without_a_meaning_are_refused() {
    let pads = |shape: &[i64], pads: &[i64], mode: &str| {
        with_constants("Pad", shape, &[w(0, pads)], &[string("mode", mode)])
    };
    refuses(13, pads(&[2, 2], &[1, 0, 0], "constant"), "3 pads, expected two for each of 2 axes");
    refuses(13, pads(&[2, 2], &[1, 0], "edge"), "2 pads, expected two for each of 2 axes");
    let modes = "`mode` \"mirror\", expected constant, edge, reflect or wrap";
    refuses(13, pads(&[2], &[1, 0], "mirror"), modes);
    for mode in ["edge", "reflect", "wrap"] {
        let none = "an axis without elements, expected some to pick from";
        refuses(19, pads(&[0, 2], &[1, 0, 0, 0], mode), none);
        let many = "an axis padded to more than 16777216 elements";
        refuses(19, pads(&[1], &[1 << 24, 0], mode), many);
        refuses(19, pads(&[1], &[0, 1 << 24], mode), many);
    }
    let named = Graph::default().input("x", &[-1, 4]).node("Shape", &["x"], &["s"], &[]);
    let named = named.node("Concat", &["s", "s"], &["p"], &[int("axis", 0)]);
    let named = named.node("Pad", &["x", "p"], &["y"], &[string("mode", "edge")]).output("y");
    refuses(13, named, "pads of named sizes in mode \"edge\", expected numbers");
    let axes = Graph::default().input("x", &[2]).weight(ints_tensor("p", &[1, 2]));
    let axes = axes.weight(ints_tensor("a", &[1])).node("Pad", &["x", "p", "", "a"], &["y"], &[]);
    refuses(18, axes.output("y"), "axis 1, expected -1 to 0");
}

#[test]
fn a_slice_of_nothing_is_nothing() {
    for [start, end, step] in [[0, 9, 1], [-1, 9, 1], [3, 9, 2], [5, -9, -1], [-1, -9, -2]] {
        let bounds = [w(0, &[start]), w(1, &[end]), w(2, &[0]), w(3, &[step])];
        check(13, with_constants("Slice", &[0, 2], &bounds, &[]), &[0, 2], &[]);
    }
}

#[test]
fn a_part_of_a_shape_is_cut_to_the_axes_that_there_are() {
    let part = |bounds: &[(&str, i64)]| {
        let attributes: Vec<Message> = bounds.iter().map(|(name, axis)| int(name, *axis)).collect();
        as_floats(Graph::default().input("x", &[2, 3, 4]).node("Shape", &["x"], &["s"], &attributes), "s")
    };
    check(15, part(&[]), &[3], &[2.0, 3.0, 4.0]);
    check(15, part(&[("start", 1)]), &[2], &[3.0, 4.0]);
    check(15, part(&[("start", -9), ("end", -1)]), &[2], &[2.0, 3.0]);
    check(15, part(&[("end", 99)]), &[3], &[2.0, 3.0, 4.0]);
    for bounds in [[("start", 2), ("end", 1)], [("start", -1), ("end", -2)], [("start", 3), ("end", 3)]] {
        check(15, part(&bounds), &[0], &[]);
    }
}

#[test]
fn repeats_are_sizes_whose_product_can_be_counted() {
    let tile = |shape: &[i64], times: &[i64]| with_constants("Tile", shape, &[w(0, times)], &[]);
    refuses(13, tile(&[2, 2], &[-1, 1]), "repeats that are not one for each axis");
    refuses(13, tile(&[2, 2], &[1, i64::MIN]), "repeats that are not one for each axis");
    refuses(13, tile(&[4, 1], &[i64::MAX, 1]), "more elements than can be counted");
}

#[test]
fn a_range_of_more_numbers_than_are_written_down_is_refused_one_by_one() {
    let many = "a range of more than 16777216 elements";
    let most = 1i64 << 24;
    for (start, limit, step) in [(0, most + 1, 1), (1, most + 2, 1), (0, -most - 1, -1), (0, 2 * most + 1, 2)]
    {
        let bounds = [("a", start), ("b", limit), ("c", step)];
        let graph = bounds
            .iter()
            .fold(Graph::default(), |graph, (name, number)| graph.weight(table(name, &[], &[*number])));
        refuses(13, graph.node("Range", &["a", "b", "c"], &["y"], &[]).output("y"), many);
    }
    for (limit, step) in [((most + 2) as f32, 1.0), (f32::INFINITY, 1.0), (-f32::INFINITY, -1.0)] {
        let bounds = [("a", 0.0), ("b", limit), ("c", step)];
        let graph = bounds.iter().fold(Graph::default(), |graph, (name, number)| {
            graph.weight(floats_tensor(name, &[], &[*number]))
        });
        refuses(13, graph.node("Range", &["a", "b", "c"], &["y"], &[]).output("y"), many);
    }
}
