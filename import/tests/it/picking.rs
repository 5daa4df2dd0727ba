//! That what picks, writes, sorts and multiplies elements by index does so for each index, along each axis.
//!
//! The oracle is the definition as plain loops over all elements; inputs count 1, 2, 3, ...

use std::collections::BTreeMap;

use import::onnx::StrippedWeights;

use crate::fixture::{import_bytes, refuses};
use crate::values::{check, compute, with_constants};
use crate::walks::{counted, indices, place, sizes};
use crate::writer::{Graph, INT64, Message, floats_tensor, int, ints_tensor, model, raw_tensor, string};

/// Integers in a shape.
fn table(name: &str, shape: &[i64], numbers: &[i64]) -> Message {
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    raw_tensor(name, INT64, shape, &bytes)
}

/// An index counted from the start.
fn wrapped(index: i64, size: i64) -> i64 {
    if index < 0 { index + size } else { index }
}

/// What a `reduction` makes of an old and a new element.
fn reduced(reduction: &str, old: f32, new: f32) -> f32 {
    match reduction {
        "none" => new,
        "add" => old + new,
        "mul" => old * new,
        "max" => old.max(new),
        "min" => old.min(new),
        other => panic!("{other}"),
    }
}

const REDUCTIONS: [&str; 5] = ["none", "add", "mul", "max", "min"];

/// Numbers that are written: above and below those that are there.
fn updates(count: usize) -> Vec<f32> {
    [-1.5, 2.0, 100.0, 0.5, 7.0, -3.0, 4.0].iter().copied().cycle().take(count).collect()
}

const BOX: [i64; 3] = [2, 3, 4];

/// A shape of indices into a box, and indices along an axis of it; of each line they differ if `step` is 1.
fn along(axis: usize, step: i64) -> ([i64; 3], Vec<i64>) {
    let mut shape = [2, 2, 3];
    shape[axis] = 2;
    let size = BOX[axis];
    let index = |at: &Vec<i64>| (at.iter().sum::<i64>() * step + axis as i64) % size;
    let signed = |(number, index): (usize, i64)| if number % 2 == 0 { index } else { index - size };
    let found = indices(&shape).iter().map(index).enumerate().map(signed).collect();
    (shape, found)
}

#[test]
fn elements_are_gathered_at_their_own_place_but_along_each_axis() {
    for (axis, step) in [0, 1, 2].into_iter().flat_map(|axis| [0, 1, 2].map(|step| (axis, step))) {
        let (shape, numbers) = along(axis, step);
        let x = counted(&BOX);
        let element = |(at, number): (&Vec<i64>, &i64)| {
            let mut from = at.clone();
            from[axis] = wrapped(*number, BOX[axis]);
            x[place(&BOX, &from).expect("it is inside")]
        };
        let expected: Vec<f32> = indices(&shape).iter().zip(&numbers).map(element).collect();
        for named in [axis as i64, axis as i64 - 3] {
            let weights = [table("w0", &shape, &numbers)];
            let graph = with_constants("GatherElements", &BOX, &weights, &[int("axis", named)]);
            check(13, graph, &sizes(&shape), &expected);
        }
    }
}

#[test]
fn elements_are_joined_with_all_that_is_written_to_their_place() {
    for (axis, reduction) in [0, 1, 2].into_iter().flat_map(|axis| REDUCTIONS.map(|name| (axis, name))) {
        for step in [0, 1] {
            // Of what is written to one place without being joined, the standard says nothing.
            if step == 0 && reduction == "none" {
                continue;
            }
            let (shape, numbers) = along(axis, step);
            let written = updates(numbers.len());
            let mut expected = counted(&BOX);
            for ((at, number), new) in indices(&shape).iter().zip(&numbers).zip(&written) {
                let mut to = at.clone();
                to[axis] = wrapped(*number, BOX[axis]);
                let to = place(&BOX, &to).expect("it is inside");
                expected[to] = reduced(reduction, expected[to], *new);
            }
            let weights = [table("w0", &shape, &numbers), floats_tensor("w1", &shape, &written)];
            let attributes = [int("axis", axis as i64), string("reduction", reduction)];
            let graph = with_constants("ScatterElements", &BOX, &weights, &attributes);
            check(18, graph, &sizes(&BOX), &expected);
        }
    }
}

#[test]
fn slices_are_gathered_by_indices_after_the_axes_in_common() {
    let cases: [(usize, &[i64]); 6] =
        [(0, &[2, 1]), (0, &[2, 2, 2]), (0, &[5, 3]), (1, &[2, 2, 1]), (1, &[2, 2]), (2, &[2, 3, 1])];
    for (common, shape) in cases {
        let (last, outer) = shape.split_last().expect("indices have axes");
        let depth = *last as usize;
        let picked = &BOX[common..common + depth];
        let number = |(at, size): (usize, &i64)| (at as i64 * 7) % (2 * size) - size;
        let count = shape.iter().product::<i64>() as usize;
        let numbers: Vec<i64> = (0..count).zip(picked.iter().cycle()).map(number).collect();
        let x = counted(&BOX);
        let mut expected = Vec::new();
        for (row, at) in indices(outer).iter().enumerate() {
            let own = numbers[row * depth..][..depth].iter().zip(picked);
            let own: Vec<i64> = own.map(|(index, size)| wrapped(*index, *size)).collect();
            for rest in indices(&BOX[common + depth..]) {
                let from = [&at[..common], &own, &rest].concat();
                expected.push(x[place(&BOX, &from).expect("it is inside")]);
            }
        }
        let result = [outer, &BOX[common + depth..]].concat();
        let attributes = [int("batch_dims", common as i64)];
        let graph = with_constants("GatherND", &BOX, &[table("w0", shape, &numbers)], &attributes);
        check(13, graph, &sizes(&result), &expected);
    }
}

#[test]
fn slices_are_joined_with_all_that_is_written_to_their_place() {
    let places: [(usize, &[i64]); 4] = [
        (1, &[1, -2]),
        (2, &[0, 2, 1, -3, -1, 1]),
        (3, &[0, 0, 0, 1, 2, 3, -1, -1, -2]),
        // The first two are one place.
        (2, &[0, 2, 0, -1, 1, 0]),
    ];
    for (case, (depth, numbers)) in places.into_iter().enumerate() {
        for reduction in REDUCTIONS {
            if case == 3 && reduction == "none" {
                continue;
            }
            let count = numbers.len() / depth;
            let slice = indices(&BOX[depth..]);
            let written = updates(count * slice.len());
            let mut expected = counted(&BOX);
            for (row, own) in numbers.chunks(depth).enumerate() {
                let own: Vec<i64> = own.iter().zip(BOX).map(|(index, size)| wrapped(*index, size)).collect();
                for (at, rest) in slice.iter().enumerate() {
                    let to = place(&BOX, &[&own[..], rest].concat()).expect("it is inside");
                    expected[to] = reduced(reduction, expected[to], written[row * slice.len() + at]);
                }
            }
            let shape = [&[count as i64], &BOX[depth..]].concat();
            let picked = table("w0", &[count as i64, depth as i64], numbers);
            let weights = [picked, floats_tensor("w1", &shape, &written)];
            let graph = with_constants("ScatterND", &BOX, &weights, &[string("reduction", reduction)]);
            check(18, graph, &sizes(&BOX), &expected);
        }
    }
}

#[test]
fn of_equal_elements_the_first_are_the_largest_and_the_smallest() {
    let x: Vec<f32> = (0..24).map(|at| (at * 5 % 3) as f32).collect();
    for (axis, largest) in [0, 1, 2].into_iter().flat_map(|axis| [0, 1].map(|largest| (axis, largest))) {
        for count in 1..=BOX[axis] {
            let mut shape = BOX;
            shape[axis] = count;
            let mut expected = [vec![0.0; 24], vec![0.0; 24]];
            let mut lines = BOX;
            lines[axis] = 1;
            for line in indices(&lines) {
                let at = |index: i64| {
                    let mut at = line.clone();
                    at[axis] = index;
                    at
                };
                let element = |index: i64| x[place(&BOX, &at(index)).expect("it is inside")];
                let mut order: Vec<i64> = (0..BOX[axis]).collect();
                order.sort_by(|a, b| element(*a).total_cmp(&element(*b)));
                if largest == 1 {
                    order = (0..BOX[axis]).collect();
                    order.sort_by(|a, b| element(*b).total_cmp(&element(*a)));
                }
                for (rank, index) in (0..count).zip(order) {
                    let to = place(&shape, &at(rank)).expect("it is inside");
                    expected[0][to] = element(index);
                    expected[1][to] = index as f32;
                }
            }
            for (result, expected) in ["v", "i"].into_iter().zip(expected) {
                let graph = Graph::default().weight(floats_tensor("x", &BOX, &x));
                let attributes = [int("axis", axis as i64), int("largest", largest)];
                let graph = graph.weight(ints_tensor("k", &[count]));
                let graph = graph.node("TopK", &["x", "k"], &["v", "i"], &attributes);
                let graph = graph.node("Cast", &[result], &["y"], &[int("to", 1)]).output("y");
                let count = shape.iter().product::<i64>() as usize;
                check(11, graph, &sizes(&shape), &expected[..count]);
            }
        }
    }
}

#[test]
fn a_slice_is_cut_as_the_standard_says_from_any_start_to_any_end() {
    for size in [1i64, 4] {
        for (start, end) in (-6..=6).flat_map(|start| (-6..=6).map(move |end| (start, end))) {
            for step in [1i64, 2, 5, -1, -3] {
                let [first, last] = [start, end].map(|bound| wrapped(bound, size));
                let [first, last] = match step {
                    1.. => [first.clamp(0, size), last.clamp(0, size)],
                    _ => [first.clamp(0, size - 1), last.clamp(-1, size - 1)],
                };
                let is_left = |at: &i64| if step > 0 { *at < last } else { *at > last };
                let places = (0..).map(|number| first + number * step).take_while(is_left);
                let expected: Vec<f32> = places.map(|at| (at + 1) as f32).collect();
                let bounds = [start, end, 0, step].into_iter().enumerate();
                let bounds: Vec<Message> =
                    bounds.map(|(index, bound)| ints_tensor(&format!("w{index}"), &[bound])).collect();
                let found = compute(13, with_constants("Slice", &[size], &bounds, &[]));
                let shape = vec![expected.len() as u64];
                assert_eq!(found, (shape, expected), "[{start}:{end}:{step}] of {size}");
            }
        }
    }
}

/// What an equation without `...` says of operands that count 1, 2, 3, ..., the others from -3 on.
fn summed(equation: &str, shapes: &[&[i64]], elements: &[Vec<f32>]) -> (Vec<u64>, Vec<f32>) {
    let (inputs, output) = equation.split_once("->").expect("it says its result");
    let inputs: Vec<&str> = inputs.split(',').collect();
    let mut size_of = BTreeMap::new();
    for (label, size) in inputs.iter().zip(shapes).flat_map(|(labels, shape)| labels.chars().zip(*shape)) {
        let known = size_of.entry(label).or_insert(*size);
        *known = (*known).max(*size);
    }
    let result: Vec<i64> = output.chars().map(|label| size_of[&label]).collect();
    let mut sums = vec![0.0; result.iter().product::<i64>() as usize];
    let inner: Vec<char> = size_of.keys().copied().filter(|label| !output.contains(*label)).collect();
    let inner_sizes: Vec<i64> = inner.iter().map(|label| size_of[label]).collect();
    for (at, outer) in indices(&result).iter().enumerate() {
        for rest in indices(&inner_sizes) {
            let named = output.chars().zip(outer).chain(inner.iter().copied().zip(&rest));
            let index_of: BTreeMap<char, i64> = named.map(|(label, index)| (label, *index)).collect();
            let factor = |(operand, labels): (usize, &&str)| {
                let own = labels.chars().zip(shapes[operand]);
                // A size of 1 is stretched.
                let index: Vec<i64> =
                    own.map(|(label, size)| if *size == 1 { 0 } else { index_of[&label] }).collect();
                elements[operand][place(shapes[operand], &index).expect("it is inside")]
            };
            sums[at] += inputs.iter().enumerate().map(factor).product::<f32>();
        }
    }
    (sizes(&result), sums)
}

#[test]
fn an_equation_is_the_sum_over_all_labels_that_the_result_has_not() {
    let check = |equation: &str, named: &str, shapes: &[&[i64]]| {
        let others = (0..).map(|at| (at % 7 - 3) as f32);
        let count = |shape: &[i64]| shape.iter().product::<i64>() as usize;
        let mut elements = vec![counted(shapes[0])];
        elements.extend(shapes[1..].iter().map(|shape| others.clone().take(count(shape)).collect()));
        let weights = shapes.iter().zip(&elements).enumerate().skip(1);
        let weights: Vec<Message> = weights
            .map(|(index, (shape, elements))| floats_tensor(&format!("w{}", index - 1), shape, elements))
            .collect();
        let graph = with_constants("Einsum", shapes[0], &weights, &[string("equation", equation)]);
        assert_eq!(compute(12, graph), summed(named, shapes, &elements), "{equation}");
    };
    check("ij,jk,kl->il", "ij,jk,kl->il", &[&[2, 3], &[3, 2], &[2, 4]]);
    check("bij,bkj->bik", "bij,bkj->bik", &[&[2, 2, 3], &[2, 4, 3]]);
    check("ij,kl->likj", "ij,kl->likj", &[&[2, 3], &[2, 2]]);
    check("ij,ij->", "ij,ij->", &[&[2, 3], &[2, 3]]);
    check("i,i,i->i", "i,i,i->i", &[&[3], &[3], &[3]]);
    check("ijk,k->ji", "ijk,k->ji", &[&[2, 3, 4], &[4]]);
    check("iii->", "iii->", &[&[3, 3, 3]]);
    check("iiji->ji", "iiji->ji", &[&[2, 2, 3, 2]]);
    // Without a result, it has the labels that are there once, in the order of the alphabet.
    check("cb,ba", "cb,ba->ac", &[&[2, 3], &[3, 4]]);
    check("bij,bjk", "bij,bjk->ik", &[&[2, 2, 3], &[2, 3, 2]]);
    // Axes without names are aligned at the last one, and stand first unless the result says where.
    check("...i,...i->...", "abi,bi->ab", &[&[2, 3, 2], &[3, 2]]);
    check("...ij,jk", "abij,jk->abik", &[&[2, 1, 2, 3], &[3, 2]]);
    check("i...,j...->...ij", "iab,jb->abij", &[&[2, 3, 2], &[2, 2]]);
    check("...i,...i->i...", "abi,abi->iab", &[&[2, 1, 2], &[1, 3, 2]]);
    check("...,...->...", "ab,b->ab", &[&[2, 3], &[3]]);
    check("...->...", "abcdefgh->abcdefgh", &[&[1, 2, 1, 2, 1, 1, 1, 2]]);
    let nine = with_constants("Einsum", &[1; 9], &[], &[string("equation", "...->...")]);
    refuses(12, nine, "\"...\" in `equation`");
    let twice = with_constants("Einsum", &[1, 2], &[], &[string("equation", "......->i")]);
    refuses(12, twice, "\"......\" in `equation`");
}

/// A row of integers of which those are left whose flag is 1, as `some`: zeros stand after them.
fn some_of(numbers: &[i64], flags: &[i64]) -> Graph {
    let row = table("n", &[1, numbers.len() as i64], numbers);
    let graph = Graph::default().weight(row).weight(ints_tensor("c", flags));
    let graph = graph.node("Cast", &["c"], &["b"], &[int("to", 9)]);
    graph.node("Compress", &["n", "b"], &["some"], &[int("axis", 1)])
}

fn as_floats(graph: Graph, name: &str) -> Graph {
    graph.node("Cast", &[name], &["y"], &[int("to", 1)]).output("y")
}

#[test]
fn no_zero_after_the_elements_is_their_extreme_nor_adds_to_them() {
    let found = |op: &str, [first, second]: [i64; 2], last: i64| {
        let graph = some_of(&[first, 9, second, 9], &[1, 0, 1, 0]);
        let attributes = [int("axis", 1), int("select_last_index", last)];
        compute(13, as_floats(graph.node(op, &["some"], &["at"], &attributes), "at"))
    };
    let at = |index: f32| (vec![1, 1], vec![index]);
    assert_eq!(found("ArgMax", [-3, -5], 0), at(0.0));
    assert_eq!(found("ArgMax", [-5, -3], 0), at(1.0));
    assert_eq!(found("ArgMin", [3, 5], 0), at(0.0));
    assert_eq!(found("ArgMin", [5, 3], 0), at(1.0));
    for (op, extreme) in [("ArgMax", i64::MIN), ("ArgMin", i64::MAX)] {
        assert_eq!([found(op, [extreme; 2], 0), found(op, [extreme; 2], 1)], [at(0.0), at(1.0)]);
    }
    let sums = some_of(&[1, 9, 2, 9], &[1, 0, 1, 0]).weight(ints_tensor("axis", &[1]));
    let sums = sums.node("CumSum", &["some", "axis"], &["sums"], &[int("reverse", 1)]);
    assert_eq!(compute(14, as_floats(sums, "sums")).1[..2], [3.0, 2.0]);
}

#[test]
fn slices_that_are_picked_keep_a_size_that_depends_on_data() {
    let graph = Graph::default().input("x", &[2, 3]).weight(ints_tensor("c", &[1, 0, 1]));
    let graph = graph.node("Cast", &["c"], &["b"], &[int("to", 9)]);
    let graph = graph.node("Compress", &["x", "b"], &["some"], &[int("axis", 1)]);
    let graph = graph.weight(table("i", &[1, 1], &[1])).node("GatherND", &["some", "i"], &["y"], &[]);
    let graph = graph.output("y");
    check(13, graph.clone(), &[1, 3], &[4.0, 6.0, 0.0]);
    let module = import_bytes(&model(13, graph).0, StrippedWeights::Refuse, &[]).expect("it is read");
    let text = ir::text::print(&module);
    let result = "tensor<1x3xf32> {optc.name = \"y\", optc.open = array<i64: 1, 1>}";
    assert!(text.contains(result), "no {result} in:\n{text}");
    let none = with_constants("GatherND", &[2, 2], &[table("w0", &[2, 0], &[])], &[]);
    refuses(13, none, "indices [2, 0] after 0 common axes do not fit [2, 2]");
}

#[test]
fn a_range_to_a_size_that_depends_on_data_is_that_of_all_indices() {
    let range = |start: &str, step: &str| {
        let graph = Graph::default().input("x", &[2, 3]).node("NonZero", &["x"], &["i"], &[]);
        let graph = graph.weight(ints_tensor("zero", &[0])).weight(ints_tensor("one", &[1]));
        let graph = graph.weight(ints_tensor("two", &[2])).node("Shape", &["i"], &["s"], &[]);
        let graph = graph.node("Gather", &["s", "one"], &["n"], &[]);
        as_floats(graph.node("Range", &[start, "n", step], &["r"], &[]), "r")
    };
    check(13, range("zero", "one"), &[6], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    let said = "a range to a size that depends on data, but not from 0 in steps of 1";
    refuses(13, range("one", "one"), said);
    refuses(13, range("zero", "two"), said);
    refuses(13, range("zero", "zero"), said);
}

#[test]
fn a_label_of_an_equation_may_have_a_size_that_is_a_number_and_one_that_is_named() {
    for (operands, equation) in
        [(["x", "w"], "ij,j->i"), (["w", "x"], "j,ij->i"), (["x", "z"], "ij,j->i"), (["z", "x"], "j,ij->i")]
    {
        let graph = Graph::default().input("x", &[-1, -1]).input("z", &[-1]);
        let graph = graph.weight(floats_tensor("w", &[3], &[1.0, 10.0, 100.0]));
        let graph = graph.node("Einsum", &operands, &["y"], &[string("equation", equation)]).output("y");
        let module = import_bytes(&model(12, graph).0, StrippedWeights::Refuse, &[]);
        assert!(module.is_ok(), "{operands:?} {equation}: {:?}", module.err());
    }
}
